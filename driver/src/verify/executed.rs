//! Rules over values that only a library can make: both sides compiled and run.
//!
//! The pack says how values of a type are made (`@sample`) and what there is to see of them (`@observe`). For an instance
//! of a rule one function is compiled: it makes the rule's variables, computes the left side and then the right one, and
//! gives back what is seen of either. It runs as often as values are wanted, in a process of its own, as all code of
//! libraries does ([`crate::isolate`]); a call that ends that process is no evidence.
//!
//! Shapes have one size per call, so that they fit; whole numbers of a rule are below it, so that they may be indices.
//! Pointers lead into memory that is there for the call: a few small bytes, and zeros behind them.
//!
//! It does not look at conditions, at memory that a rule changes, or at functions that talk to the outside: rules with
//! those are out of scope, and it says so.

use super::approximate::{are_close, ordinary};
use super::code::{Built, Code, Operand};
use super::prove::Case;
use crate::clif::names::Names;
use crate::isolate::{Call, Engine, Job, Worker};
use crate::module::compile;
use crate::runtest::{Outcome, Returned};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::{Function, InstKind, Module, Value};
use rewright_dsl::program::{Conclusion, Program, VarKind};
use rewright_typeprop::term::Literal;
use rewright_typeprop::types::{TypeData, TypeDeclId};
use rewright_typeprop::{Model, Repr, Scalar, Term, Ty, TypeExpr, Universe};
use smallvec::SmallVec;
use std::io;
use std::path::Path;

/// Sizes of what is made.
const SIZES: std::ops::RangeInclusive<i64> = 1..=5;

/// Bytes of a call's memory. Zeros follow.
const MEMORY: usize = 16;

/// Seconds that a call may take.
const SECONDS: u64 = 5;

/// So many calls at a time; where none of the first ones comes back, there are no others.
const AT_ONCE: usize = 20;

/// What running a rule gave.
pub(super) enum Executed {
    /// So many, of how many that came back, agree.
    Agree(usize, usize),
    /// Values with their names, and what is seen of the sides.
    Differ(Vec<(String, String)>, [String; 2]),
    /// It cannot be run, and why.
    CannotRun(String),
}

/// How a variable of the rule is given to the function.
enum Given {
    /// As it is, or as what the rule's own sample makes of it.
    Scalar(Scalar, Option<Term>),
    /// Made there, of the call's size and a seed.
    Made(Term),
    /// So many bytes into the call's memory.
    Place,
    /// Not at all: a state.
    Nothing,
}

/// Runs a rule on values, `tolerance` apart at most where it is no equality.
///
/// # Errors
/// When no process can be started.
pub(super) fn run(
    case: &Case<'_>,
    program: &Path,
    samples: usize,
    seed: u64,
    tolerance: Option<f64>,
) -> io::Result<Executed> {
    let function = match Compiled::new(case) {
        Ok(function) => function,
        Err(why) => return Ok(Executed::CannotRun(why)),
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let calls: Vec<Values> = (0..samples).map(|_| function.values(&mut rng)).collect();
    let mut worker = Worker::new(program.to_path_buf());
    let mut outcomes = vec![];
    for calls in calls.chunks(AT_ONCE) {
        outcomes.extend(worker.run(&function.job(calls))?);
        if !outcomes.iter().any(|outcome| matches!(outcome, Outcome::Returned { .. })) {
            break;
        }
    }
    let (mut agreed, mut tried, mut differing) = (0, 0, None);
    for (call, outcome) in calls.iter().zip(outcomes) {
        let values = match outcome {
            Outcome::Returned { values, .. } => values,
            Outcome::Failed(why) => return Ok(Executed::CannotRun(why)),
            Outcome::Trapped(_) | Outcome::TimedOut => continue,
        };
        let returned: Returned = serde_json::from_str(&values)?;
        tried += 1;
        let Some((left, right)) = returned.results.split_at_checked(function.seen.len()) else { continue };
        let seen = function.seen.iter().zip(left.iter().zip(right));
        match seen.into_iter().find(|((scalar, _), (l, r))| !same(*scalar, **l, **r, tolerance)) {
            None => agreed += 1,
            Some(((scalar, what), (l, r))) => {
                differing = Some((call, [l, r].map(|n| format!("{what}{}", shown(*scalar, *n)))));
            }
        }
    }
    // Cancellation may cost an approximation any number of digits: see `approximate`.
    let excused = if tolerance.is_some() { 10 * agreed >= 9 * tried } else { agreed == tried };
    Ok(match differing {
        Some((call, sides)) if !excused => Executed::Differ(function.named(call), sides),
        _ if tried == 0 => Executed::CannotRun("no call of it came back".into()),
        _ => Executed::Agree(agreed, tried),
    })
}

fn same(scalar: Scalar, left: i64, right: i64, tolerance: Option<f64>) -> bool {
    let both_nan = scalar.is_nan(left) && scalar.is_nan(right);
    left == right || both_nan || tolerance.is_some_and(|t| are_close(scalar, left, right, t))
}

fn shown(scalar: Scalar, n: i64) -> String {
    match scalar {
        Scalar::F32 => format!("{:?}", f32::from_bits(n as u32)),
        Scalar::F64 => format!("{:?}", f64::from_bits(n as u64)),
        _ => n.to_string(),
    }
}

/// What a call is made of.
struct Values {
    /// Its size, then a number per variable that is given.
    args: Vec<i64>,
    /// What pointers lead into.
    memory: Vec<u8>,
}

/// A rule's instance, compiled.
struct Compiled {
    text: String,
    imports: crate::jit::Imports,
    /// The rule's variables by name, in the order of arguments.
    given: Vec<(String, Given)>,
    seen: Seen,
    universe: Universe,
}

impl Compiled {
    fn new(case: &Case<'_>) -> Built<Self> {
        let mut universe = case.program.universe.clone();
        let (function, given, seen) = Experiment::new(case, &mut universe)?.written()?;
        let module = Module { functions: vec![function], ..Module::default() };
        let names = Names::new(&mut universe);
        let clif = compile::compile(&module, &universe, &names).map_err(|e| e.to_string())?;
        Ok(Compiled { text: clif.text, imports: clif.imports, given, seen, universe })
    }

    fn job(&self, calls: &[Values]) -> Job {
        let calls = calls.iter();
        let calls = calls.map(|Values { args, memory }| Call::OnMemory {
            function: 0,
            args: args.clone(),
            memory: memory.clone(),
        });
        Job {
            text: self.text.clone(),
            engine: Engine::Jit,
            target: 0,
            calls: calls.collect(),
            seconds: SECONDS,
            imports: self.imports.clone(),
        }
    }

    fn values(&self, rng: &mut ChaCha8Rng) -> Values {
        let size = rng.random_range(SIZES);
        let mut args = vec![size];
        for (_, given) in &self.given {
            match given {
                Given::Scalar(scalar, _) if scalar.is_int() => args.push(rng.random_range(0..size)),
                Given::Scalar(scalar, _) => args.push(ordinary(Repr::Scalar(*scalar), rng) as i64),
                Given::Made(_) => args.push(rng.random_range(0..1000)),
                Given::Place => args.push(rng.random_range(0..MEMORY as i64)),
                Given::Nothing => {}
            }
        }
        // Few values, so that parts of it are alike.
        let memory = (0..MEMORY).map(|_| rng.random_range(0..3)).collect();
        Values { args, memory }
    }

    /// The values of a call, as the pack would write them.
    fn named(&self, Values { args, memory }: &Values) -> Vec<(String, String)> {
        let mut numbers = args.iter().skip(1);
        let mut named = vec![];
        for (name, given) in &self.given {
            let value = match given {
                Given::Nothing => continue,
                Given::Scalar(scalar, sample) => numbers.next().map(|n| match sample {
                    Some(sample) => spelled(&self.universe, sample, &|_| shown(*scalar, *n)),
                    None => shown(*scalar, *n),
                }),
                Given::Place => numbers.next().map(|at| format!("{:?}, 0, ..", &memory[*at as usize..])),
                Given::Made(term) => numbers.next().map(|seed| {
                    let number = |n| if n == 0 { args[0] } else { *seed };
                    spelled(&self.universe, term, &|n| number(n).to_string())
                }),
            };
            named.push((name.clone(), value.unwrap_or_default()));
        }
        named
    }
}

/// An expression with names or numbers for its variables.
fn spelled(universe: &Universe, term: &Term, variable: &dyn Fn(u32) -> String) -> String {
    match term {
        Term::Var(n) => variable(*n),
        Term::Lit(Literal::Int(n), _) => n.to_string(),
        Term::Lit(Literal::Float(x), _) => format!("{x:?}"),
        Term::Lit(Literal::Str(text), _) => format!("{text:?}"),
        Term::Eval(inner) => spelled(universe, inner, variable),
        Term::Call { op, args, .. } => {
            let args: Vec<String> = args.iter().map(|arg| spelled(universe, arg, variable)).collect();
            format!("{}({})", universe.ops.get(*op).name, args.join(", "))
        }
    }
}

/// The function that makes a rule's variables, computes both sides and looks at them.
struct Experiment<'c, 'u> {
    case: &'c Case<'c>,
    code: Code<'u>,
    /// The address of the call's memory.
    memory: Value,
}

/// What is seen of a side: what each observation is, and how to call it.
type Seen = Vec<(Scalar, String)>;

/// The experiment as a function, with the rule's variables by name in the order of its arguments.
type Written = (Function, Vec<(String, Given)>, Seen);

impl<'c, 'u> Experiment<'c, 'u> {
    fn new(case: &'c Case<'c>, universe: &'u mut Universe) -> Built<Self> {
        if !case.rule.guards.is_empty() {
            return Err("its conditions are not looked at where a library makes the values".into());
        }
        let mut code = Code::new(universe, "%rule");
        // What runs a function on memory passes the memory's address first.
        let memory = code.parameter(Ty::ANY);
        Ok(Experiment { case, code, memory })
    }

    fn program(&self) -> &'c Program {
        self.case.program
    }

    fn written(mut self) -> Built<Written> {
        let Conclusion::Equal(right) = &self.case.rule.right else { return Err("it concludes a fact".into()) };
        let targs = self.type_arguments()?;
        let number = self.code.universe.types.all().find(|ty| {
            // Any type of the machine's own words will do for sizes and seeds.
            self.code.universe.types.repr(*ty) == Some(Repr::Scalar(Scalar::I64))
        });
        let number = number.ok_or("no type stands for 64 bits")?;
        let size = self.code.parameter(number);
        let (mut vars, mut given) = (vec![], vec![]);
        for var in &self.case.rule.vars {
            let (how, value) = match &var.kind {
                VarKind::State => (Given::Nothing, None),
                VarKind::Value { ty, .. } => {
                    let ty = self.code.ty(ty, &targs)?;
                    match self.code.universe.types.scalar(ty) {
                        _ if self.code.universe.types.repr(ty) == Some(Repr::Pointer) => {
                            let offset = self.code.parameter(number);
                            (Given::Place, Some((self.place(offset, number, ty)?, ty)))
                        }
                        Some(scalar) => (Given::Scalar(scalar, None), Some((self.code.parameter(ty), ty))),
                        None => {
                            let make = self.sample(ty)?;
                            let seed = self.code.parameter(number);
                            let made = self.code.term(&make, &[], &[Some((size, number)), Some((seed, number))])?;
                            if !self.code.universe.types.is_subtype(made.1, ty) {
                                let shown = |ty| self.code.universe.types.display(ty);
                                return Err(format!("`@sample` makes a `{}`, no `{}`", shown(made.1), shown(ty)));
                            }
                            (Given::Made(make), Some(made))
                        }
                    }
                }
            };
            vars.push(value);
            given.push((var.name.clone(), how));
        }
        for (var, sample) in self.case.rule.approximate.iter().flat_map(|a| &a.samples) {
            let value = self.code.term(sample, &targs, &vars)?;
            let Given::Scalar(_, own) = &mut given[*var as usize].1 else {
                return Err("its own `@sample` is of a value that a library makes".into());
            };
            *own = Some(sample.clone());
            vars[*var as usize] = Some(value);
        }
        let left = self.code.term(&self.case.rule.left[0], &targs, &vars)?;
        let (mut results, seen) = self.observed(left)?;
        let right = self.code.term(right, &targs, &vars)?;
        let (others, seen_of_right) = self.observed(right)?;
        if seen != seen_of_right {
            return Err("its sides are not looked at in the same way".into());
        }
        results.extend(others);
        Ok((self.code.returning(results), given, seen))
    }

    /// So far into the call's memory.
    fn place(&mut self, offset: Value, number: Ty, ty: Ty) -> Built<Value> {
        let add = self.code.universe.ops.iter().find(|(_, op)| op.model == Some(Model::Add) && op.tparams.len() == 1);
        let (op, _) = add.ok_or("no operation adds to an address")?;
        let kind = InstKind::Op { op, targs: SmallVec::from_slice(&[number]), access: None };
        Ok(self.code.push(kind, &[self.memory, offset], ty))
    }

    /// What stands for the rule's type parameters: the instance, or else what the variables' samples are.
    fn type_arguments(&mut self) -> Built<Vec<Ty>> {
        let rule = self.case.rule;
        if self.case.types.len() == rule.tparams.len() {
            return Ok(self.case.types.clone());
        }
        let mut found: Vec<Option<Ty>> = vec![None; rule.tparams.len()];
        for var in &rule.vars {
            let VarKind::Value { ty: TypeExpr::App(decl, args), .. } = &var.kind else { continue };
            let Some(Term::Call { op, targs, .. }) =
                self.program().samples.get(decl).and_then(|sample| sample.make.as_ref())
            else {
                continue;
            };
            let targs = targs.iter().map(|ty| self.code.ty(ty, &[])).collect::<Built<Vec<Ty>>>()?;
            let Some(result) = self.code.universe.ops.get(*op).results.first().cloned() else { continue };
            let made = self.code.ty(&result, &targs)?;
            let known = self.code.universe.types.ancestor(made, *decl).unwrap_or_default();
            for (arg, known) in args.iter().zip(known) {
                if let TypeExpr::Param(i) = arg {
                    let slot = &mut found[*i as usize];
                    *slot = slot.or(known);
                }
            }
        }
        found.into_iter().collect::<Option<_>>().ok_or_else(|| "no `@sample` says what its type parameters are".into())
    }

    fn sample(&self, ty: Ty) -> Built<Term> {
        let own = match self.code.universe.types.data(ty) {
            TypeData::App(decl, _) => self.program().samples.get(decl).and_then(|sample| sample.make.clone()),
            _ => None,
        };
        own.ok_or_else(|| format!("no `@sample` makes a `{}`", self.code.universe.types.display(ty)))
    }

    /// What is seen of a value: of one without machine representation what its type says, or the nearest one above.
    fn observed(&mut self, (value, ty): Operand) -> Built<(Vec<Value>, Seen)> {
        if let Some(scalar) = self.code.universe.types.scalar(ty) {
            return Ok((vec![value], vec![(scalar, String::new())]));
        }
        let (decl, observations) = self.observations(ty)?;
        let targs = self.code.universe.types.ancestor(ty, decl).unwrap_or_default();
        let targs: Vec<Ty> = targs.into_iter().map(|ty| ty.unwrap_or(Ty::ANY)).collect();
        let (mut values, mut seen) = (vec![], vec![]);
        for observation in &observations {
            let (value, ty) = self.code.term(observation, &targs, &[Some((value, ty))])?;
            let scalar = self.code.universe.types.scalar(ty).ok_or("an observation is no machine value")?;
            values.push(value);
            seen.push((scalar, format!("{} = ", spelled(self.code.universe, observation, &|_| "it".into()))));
        }
        Ok((values, seen))
    }

    fn observations(&mut self, ty: Ty) -> Built<(TypeDeclId, Vec<Term>)> {
        let mut at = Some(ty);
        while let Some(here) = at {
            if let TypeData::App(decl, _) = self.code.universe.types.data(here)
                && let Some(sample) = self.case.program.samples.get(decl).filter(|s| !s.observe.is_empty())
            {
                return Ok((*decl, sample.observe.clone()));
            }
            at = self.code.universe.types.supertype(here);
        }
        Err(format!("no `@observe` says what is seen of a `{}`", self.code.universe.types.display(ty)))
    }
}
