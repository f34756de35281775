//! Rules over values that only somebody's code can make, a library's or an embedding program's: both sides run.
//!
//! The pack says how values of a type are made (`@sample`) and what there is to see of them (`@observe`). For an
//! instance of a rule one function is written ([`experiment`]): it makes the rule's variables, looks at its
//! [`conditions`], computes the left side and then the right one, and gives back what is seen of either. It runs as
//! often as values are wanted: compiled, in a process of its own, as all code of libraries does
//! ([`rewright_native::isolate`]), or, where it calls Rust functions of this program, here in the interpreter. A call
//! that traps is no evidence, unless it is the right side alone that does: such a rule makes programs trap.
//!
//! Shapes have one size per call, so that they fit; whole numbers of a rule are below it, so that they may be indices.
//! Pointers lead into memory that is there for the call: a few small bytes, and zeros behind them.
//!
//! It does not look at memory that a rule changes, or at what functions say to the outside: to compare that, either
//! side would have to be run in a world of its own. Rules with those are out of scope, and it says so.

mod conditions;
mod experiment;

use super::approximate::{are_close, ordinary};
use super::case::Case;
use super::code::Built;
use conditions::Condition;
use experiment::{Experiment, ExperimentFunction, Seen, Sides};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::{Function, Module, interp};
use rewright_clif::names::Names;
use rewright_native::isolate::{Call, Engine, Job, Worker};
use rewright_native::module::compile::{Clif, compile};
use rewright_native::runtest::{CallOutcome, Returned};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Repr, Scalar, Term, Universe};
use std::io;
use std::path::{Path, PathBuf};

/// Sizes of what is made.
const SIZES: std::ops::RangeInclusive<i64> = 1..=5;

/// Bytes of a call's memory. Zeros follow.
const MEMORY: usize = 16;

/// Seconds that a call may take.
const SECONDS: u64 = 5;

/// Calls at a time.
const AT_ONCE: usize = 20;

/// Steps of the interpreter that a call may take: it has no loops.
const FUEL: u64 = 100_000;

/// What running a rule gave.
pub(super) enum Executed {
    /// So many, of how many that came back, agree.
    Agree(usize, usize),
    /// Values with their names, and what is seen of the sides.
    Differ(Vec<(String, String)>, [String; 2]),
    /// It would call a library that is not allowed.
    NotAllowed(String),
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
    program: Option<&Path>,
    samples: usize,
    seed: u64,
    tolerance: Option<f64>,
) -> io::Result<Executed> {
    let function = match Prepared::new(case, program, Sides::Both) {
        Ok(function) => function,
        Err(why) => return Ok(Executed::CannotRun(why.to_string())),
    };
    if let Some(library) = function.refused() {
        return Ok(Executed::NotAllowed(library.to_string()));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let calls: Vec<Values> = (0..samples).map(|_| function.values(&mut rng)).collect();
    let calls: Vec<&Values> = calls.iter().collect();
    let ends = function.ends(&calls)?;
    let (mut agreed, mut tried, mut differing, mut silent) = (0, 0, None, 0);
    let (mut why_not, mut trapped) = (None, vec![]);
    for (call, end) in calls.into_iter().zip(ends) {
        let results = match end {
            End::Results(results) => results,
            End::Failed(why) => return Ok(Executed::CannotRun(why.to_string())),
            End::Nothing(why) => {
                why_not = Some(why);
                continue;
            }
            End::Trapped(why) => {
                why_not = Some(why);
                trapped.push(call);
                continue;
            }
        };
        if !function.matches(&results) {
            silent += 1;
            continue;
        }
        tried += 1;
        let count = function.seen.len();
        let Some(seen) = results.len().checked_sub(2 * count) else { continue };
        let (left, right) = results[seen..].split_at(count);
        let seen = function.seen.iter().zip(left.iter().zip(right));
        match seen.into_iter().find(|((scalar, _), (l, r))| !same(*scalar, **l, **r, tolerance)) {
            None => agreed += 1,
            Some(((scalar, what), (l, r))) => {
                differing = Some((call, [l, r].map(|n| format!("{what}{}", shown(*scalar, *n)))));
            }
        }
    }
    for (call, sides) in only_right_traps(case, program, &trapped)? {
        tried += 1;
        differing = differing.or(Some((call, sides)));
    }
    // Cancellation may cost an approximation any number of digits: see `approximate`.
    let excused = if tolerance.is_some() { 10 * agreed >= 9 * tried } else { agreed == tried };
    Ok(match differing {
        Some((call, sides)) if !excused => Executed::Differ(function.named(call), sides),
        _ if silent > 0 && tried == 0 => Executed::CannotRun("its conditions hold at none of the values".into()),
        _ if tried == 0 => Executed::CannotRun(format!("no call of it came back: {}", why_not.unwrap_or_default())),
        _ => Executed::Agree(agreed, tried),
    })
}

/// Those of the calls that trap in which the left side alone comes back and the right one traps, with what there is to
/// see.
fn only_right_traps<'v>(
    case: &Case<'_>,
    program: Option<&Path>,
    calls: &[&'v Values],
) -> io::Result<Vec<(&'v Values, [String; 2])>> {
    if calls.is_empty() {
        return Ok(vec![]);
    }
    let side = |sides| Prepared::new(case, program, sides);
    let (Ok(left), Ok(right)) = (side(Sides::Left), side(Sides::Right)) else { return Ok(vec![]) };
    let ends = left.ends(calls)?.into_iter().zip(right.ends(calls)?);
    let found = calls.iter().zip(ends).filter_map(|(call, ends)| {
        let (End::Results(results), End::Trapped(why)) = ends else { return None };
        let (scalar, what) = left.seen.first()?;
        let shown = shown(*scalar, *results.get(results.len().checked_sub(left.seen.len())?)?);
        left.matches(&results).then(|| (*call, [format!("{what}{shown}"), format!("a trap ({why})")]))
    });
    Ok(found.collect())
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

/// How a call ended.
enum End {
    /// With results.
    Results(Vec<i64>),
    /// In a trap, and which one.
    Trapped(String),
    /// Without either: it takes too long, or wants what the interpreter does not know.
    Nothing(String),
    /// It cannot be run at all.
    Failed(String),
}

/// What runs a function.
enum Runs {
    /// A process of its own, of this program: the function as CLIF.
    Apart(Box<Clif>, PathBuf),
    /// The interpreter.
    Here(Function),
}

/// A rule's instance, ready to run.
struct Prepared {
    engine: Runs,
    /// The rule's variables by name, in the order of arguments.
    given: Vec<(String, Given)>,
    conditions: Vec<Condition>,
    seen: Seen,
    universe: Universe,
}

impl Prepared {
    fn new(case: &Case<'_>, program: Option<&Path>, sides: Sides) -> Built<Self> {
        let mut universe = case.program.universe.clone();
        let ExperimentFunction { function, is_called_here, given, conditions, seen } =
            Experiment::new(case, &mut universe).written(sides)?;
        let engine = if is_called_here {
            if given.iter().any(|(_, given)| matches!(given, Given::Place)) {
                return Err("no made-up pointer may be given to a program's own functions".into());
            }
            Runs::Here(function)
        } else {
            let module = Module { functions: vec![function], ..Module::default() };
            let names = Names::new(&mut universe);
            let clif = compile(&module, &universe, &names).map_err(|e| e.to_string())?;
            Runs::Apart(Box::new(clif), program.ok_or("libraries are not run here")?.to_path_buf())
        };
        Ok(Prepared { engine, given, conditions, seen, universe })
    }

    /// A library that it would call and may not.
    fn refused(&self) -> Option<&str> {
        match &self.engine {
            Runs::Apart(clif, _) => clif.imports.refused(),
            Runs::Here(_) => None,
        }
    }

    /// Does the rule match where a call had these results?
    fn matches(&self, results: &[i64]) -> bool {
        self.conditions.iter().all(|condition| condition.holds(results))
    }

    /// How calls end, in order.
    fn ends(&self, calls: &[&Values]) -> io::Result<Vec<End>> {
        match &self.engine {
            Runs::Here(code) => Ok(calls.iter().map(|call| self.interpreted(code, call)).collect()),
            Runs::Apart(clif, program) => self.isolated(clif, program, calls),
        }
    }

    /// Calls in a process of their own, a few at a time. If none of the first ones comes back, there are no others.
    fn isolated(&self, clif: &Clif, program: &Path, calls: &[&Values]) -> io::Result<Vec<End>> {
        let mut worker = Worker::new(program.to_path_buf());
        let mut ends = vec![];
        for calls in calls.chunks(AT_ONCE) {
            for outcome in worker.run(&job(clif, calls))? {
                ends.push(match outcome {
                    CallOutcome::Returned { values, .. } => {
                        End::Results(serde_json::from_str::<Returned>(&values)?.results)
                    }
                    CallOutcome::Failed(why) => End::Failed(why),
                    CallOutcome::Trapped(signal) => End::Trapped(signal),
                    CallOutcome::TimedOut => End::Nothing("it takes too long".into()),
                });
            }
            if !ends.iter().any(|end| matches!(end, End::Results(_))) {
                break;
            }
        }
        Ok(ends)
    }

    fn interpreted(&self, function: &Function, call: &Values) -> End {
        // It has no pointers: nobody looks at the memory's address.
        let args: Vec<i64> = std::iter::once(0).chain(call.args.iter().copied()).collect();
        let mut outside = interp::NoHost(|_: &str| 0);
        match interp::run(function, &self.universe, &args, &mut interp::Memory::default(), &mut outside, FUEL) {
            interp::Outcome::Return(results) => End::Results(results),
            interp::Outcome::Trap(_) => End::Trapped("it traps".into()),
            interp::Outcome::OutOfFuel => End::Nothing("it takes too long".into()),
            interp::Outcome::Unsupported(why) => End::Nothing(why),
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

fn job(clif: &Clif, calls: &[&Values]) -> Job {
    let calls = calls.iter().map(|Values { args, memory }| Call::OnMemory {
        function: 0,
        args: args.clone(),
        memory: memory.clone(),
    });
    Job {
        text: clif.text.clone(),
        engine: Engine::Jit,
        target: 0,
        calls: calls.collect(),
        seconds: SECONDS,
        imports: clif.imports.clone(),
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
