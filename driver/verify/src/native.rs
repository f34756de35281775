//! Both sides of a rule as compiled code, at values at which the evaluator says what they are.
//!
//! The meaning of an operation is given by its model, which the evaluator runs and the solver's table repeats; what it
//! is once it is emitted, by the instruction whose name it has. Here the two are compared: every type instance of a
//! rule is a function that gives both sides, exported and compiled as all our functions are, and run in a process of
//! its own ([`rewright_native::isolate`]). Each side must be what the evaluator makes of it: bit by bit, in every lane,
//! or any NaN where the NaN is open.
//!
//! **Invariant**: what is found here is no verdict. The evaluator and the solver judge the rule; where compiled code
//! gives something else, the mistake is ours, or Cranelift's.
//!
//! Values at which an operation traps are left out. It does not run what looks at memory or concludes a fact, nor
//! operations without code, and says so.

use super::case::Case;
use super::code::{Built, Code, Operand};
use super::concrete::{Comparison, Evaluated, Stop, Value};
use super::report::Compiled;
use super::sample::{Effort, assignments};
use super::{mentioned, print};
use rewright_cfg_skeleton::ir::{Function, Module};
use rewright_clif::names::Names;
use rewright_dsl::program::{Conclusion, Program, VarKind};
use rewright_native::isolate::{Call, Engine, Job, Worker};
use rewright_native::module::compile::{Clif, compile};
use rewright_native::runtest::CallOutcome;
use rewright_typeprop::{Model, Repr, Term, Ty, Universe};
use std::io;
use std::path::Path;

/// Seconds that one call may take.
const SECONDS: u64 = 5;

/// Much of what CLIF can say no back end of Cranelift compiles: vectors of 64 bits, say.
const REFUSED: &str = "Cranelift does not compile it for this host";

/// Types and names of a program, and a process to run its rules in.
pub(super) struct Machine {
    /// With the types that CLIF can write.
    universe: Universe,
    names: Names,
    worker: Worker,
}

/// An instance of a rule as a function, and what it is to give.
struct Prepared {
    function: Function,
    sides: [Side; 2],
    rows: Vec<Row>,
}

/// What is looked at of a side.
#[derive(Clone, Copy)]
struct Side {
    repr: Repr,
    /// Only whether it is 0 or not.
    truth: bool,
}

/// One assignment.
struct Row {
    vars: Vec<Value>,
    /// The arguments that stand for it, in their low bits.
    words: Vec<u128>,
    sides: [Evaluated; 2],
}

/// What became of a function.
enum Ran {
    /// Results by row.
    Rows(Vec<Vec<u128>>),
    /// The process died of it, or it took too long.
    Ended(String),
    /// It cannot be compiled.
    NotRun(String),
}

impl Machine {
    /// `own` is our own binary.
    pub(super) fn new(program: &Program, own: &Path) -> Self {
        let mut universe = program.universe.clone();
        let names = Names::new(&mut universe);
        Machine { universe, names, worker: Worker::new(own.to_path_buf()) }
    }

    /// Runs the instances of a rule; one answer each, in order.
    ///
    /// # Errors
    /// When no process can be started.
    pub(super) fn run(&mut self, cases: &[Case<'_>], effort: Effort) -> io::Result<Vec<Compiled>> {
        let prepared = cases.iter().enumerate().map(|(n, case)| self.prepare(n, case, effort));
        let prepared: Vec<Built<Prepared>> = prepared.collect();
        let ready: Vec<&Prepared> = prepared.iter().flatten().collect();
        let mut ran = self.functions(&ready)?.into_iter();
        let judged = cases.iter().zip(&prepared).map(|(case, prepared)| match prepared {
            Err(why) => Compiled::NotRun(why.to_string()),
            Ok(prepared) => match ran.next() {
                Some(Ran::Rows(rows)) => judge(case, prepared, &rows),
                Some(Ran::Ended(how)) => Compiled::Other(format!("compiled code does not return: {how}")),
                Some(Ran::NotRun(why)) => Compiled::NotRun(why),
                None => Compiled::NotRun("it was not run".into()),
            },
        });
        Ok(judged.collect())
    }

    /// What functions give. Where one of them cannot be compiled, the others are compiled without it.
    fn functions(&mut self, prepared: &[&Prepared]) -> io::Result<Vec<Ran>> {
        if prepared.is_empty() {
            return Ok(vec![]);
        }
        let module = Module { functions: prepared.iter().map(|p| p.function.clone()).collect(), ..Module::default() };
        let why = match compile(&module, &self.universe, &self.names) {
            Err(error) => format!("CLIF cannot say it: {error}"),
            Ok(clif) => {
                let refused = |why: &str| format!("{REFUSED}: {}", why.lines().next().unwrap_or_default());
                let outcomes = self.worker.run(&job(clif, prepared))?;
                match outcomes.iter().find_map(|o| if let CallOutcome::Failed(why) = o { Some(why) } else { None }) {
                    None => return outcomes.into_iter().map(ran).collect(),
                    Some(why) => refused(why),
                }
            }
        };
        if prepared.len() == 1 {
            return Ok(vec![Ran::NotRun(why)]);
        }
        let (first, second) = prepared.split_at(prepared.len() / 2);
        let mut all = self.functions(first)?;
        all.extend(self.functions(second)?);
        Ok(all)
    }

    fn prepare(&mut self, number: usize, case: &Case<'_>, effort: Effort) -> Built<Prepared> {
        let rule = case.rule;
        let Conclusion::Equal(right) = &rule.right else { return Err("it concludes a fact".into()) };
        if case.types.len() != rule.tparams.len() {
            return Err("its type parameters stand for no machine types".into());
        }
        let mut code = Code::new(&mut self.universe, &format!("%instance_{number}"));
        let targs = &case.types;
        let (mut vars, mut reprs): (Vec<Option<Operand>>, Vec<Repr>) = (vec![], vec![]);
        for var in &rule.vars {
            let VarKind::Value { ty, .. } = &var.kind else { return Err("it is about memory".into()) };
            let ty = code.ty(ty, targs)?;
            reprs.push(repr(code.universe, ty)?);
            vars.push(Some((code.parameter(ty), ty)));
        }
        // Values that are computed while matching are given, where no instruction computes them.
        let terms = [&rule.left[0], right];
        let mut computed: Vec<(Term, Repr)> = vec![];
        for term in terms.into_iter().flat_map(evaluated) {
            if !code.is_expressible(term) && computed.iter().all(|(known, _)| known != term) {
                let ty = code.give(term, targs)?;
                computed.push((term.clone(), repr(code.universe, ty)?));
            }
        }
        let (mut sides, mut results) = (vec![], vec![]);
        for term in terms {
            let (term, truth) = looked_at(code.universe, term);
            let (value, ty) = code.term(term, targs, &vars)?;
            sides.push(Side { repr: repr(code.universe, ty)?, truth });
            results.push(value);
        }
        if code.is_called_here() {
            return Err("it calls functions of this program".into());
        }
        let function = code.returning(results);
        let sides = <[Side; 2]>::try_from(sides).map_err(|_| "it has other than two sides")?;
        let concrete = case.concrete();
        let assignments = assignments(concrete, effort).ok_or("the values of a type cannot be listed")?;
        let ops = &case.program.universe.ops;
        let may_trap = mentioned(case.program, rule).into_iter().any(|op| !ops.get(op).checks.is_empty());
        let row = |vars: Vec<Value>| {
            if may_trap && concrete.sides_trap(&vars) {
                return None;
            }
            let sides = concrete.sides(&vars).filter(|sides| !sides.contains(&Err(Stop::Meaningless)))?;
            let given = computed.iter().map(|(term, repr)| Some((concrete.computed(term, &vars)?, *repr)));
            let values = vars.iter().cloned().zip(reprs.iter().copied()).map(Some).chain(given);
            let words =
                values.map(|value| value.and_then(|(value, repr)| word(&value, repr))).collect::<Option<_>>()?;
            Some(Row { vars, words, sides })
        };
        let rows: Vec<Row> = assignments.filter_map(row).collect();
        if rows.is_empty() {
            return Err("it matches at none of the values, or its sides trap there".into());
        }
        Ok(Prepared { function, sides, rows })
    }
}

fn job(clif: Clif, prepared: &[&Prepared]) -> Job {
    let rows = prepared.iter().map(|p| p.rows.iter().map(|row| row.words.clone()).collect());
    let calls = rows.enumerate().map(|(function, rows)| Call::OnWords { function, rows });
    Job {
        text: clif.text,
        engine: Engine::Jit,
        target: 0,
        calls: calls.collect(),
        seconds: SECONDS,
        imports: clif.imports,
    }
}

fn ran(outcome: CallOutcome) -> io::Result<Ran> {
    Ok(match outcome {
        CallOutcome::Returned { values, .. } => Ran::Rows(serde_json::from_str(&values)?),
        CallOutcome::Trapped(signal) => Ran::Ended(signal),
        CallOutcome::TimedOut => Ran::Ended("it takes too long".into()),
        CallOutcome::Failed(why) => Ran::NotRun(why),
    })
}

fn repr(universe: &Universe, ty: Ty) -> Built<Repr> {
    universe.types.repr(ty).ok_or_else(|| {
        format!("no value of `{}` can be made up: it is no machine type", universe.types.display(ty)).into()
    })
}

/// What a term computes while matching.
fn evaluated(term: &Term) -> Vec<&Term> {
    match term {
        Term::Eval(inner) => vec![inner],
        _ => term.parts().flat_map(evaluated).collect(),
    }
}

/// The operand of a truth, of which only that is seen: no instruction makes truths.
fn looked_at<'t>(universe: &Universe, term: &'t Term) -> (&'t Term, bool) {
    match term {
        Term::Call { op, args, .. } if universe.ops.get(*op).model == Some(Model::Truth) => (&args[0], true),
        other => (other, false),
    }
}

/// A value as the bits of an argument: in every lane.
fn word(value: &Value, repr: Repr) -> Option<u128> {
    let bits = match value {
        Value::Bits(bits) | Value::Pointer { address: bits, .. } => repr.zero_extended(*bits),
        Value::Nan | Value::State(_) => return None,
    };
    Some((0..repr.lanes().unwrap_or(1)).fold(0, |word, lane| word | bits << (lane * repr.bits())))
}

/// Compares what compiled code gave with what the evaluator says.
fn judge(case: &Case<'_>, prepared: &Prepared, results: &[Vec<u128>]) -> Compiled {
    let concrete = case.concrete();
    let mut differing = 0;
    for (row, results) in prepared.rows.iter().zip(results) {
        let looks = prepared.sides.iter().zip(row.sides.iter().zip(results)).zip(["left", "right"]);
        for ((side, (expected, given)), name) in looks {
            if !side.is(expected, *given) {
                let vars = print::assignment(case, &row.vars);
                let vars: Vec<String> = vars.into_iter().map(|(name, value)| format!("{name} = {value}")).collect();
                let expected = match expected {
                    Ok(Value::Bits(bits) | Value::Pointer { address: bits, .. }) => {
                        format!("{:#x}", side.repr.zero_extended(*bits))
                    }
                    _ => "a NaN".into(),
                };
                let vars = vars.join(", ");
                return Compiled::Other(format!("the {name} side is {expected}, compiled {given:#x}, where {vars}"));
            }
        }
        let [left, right] = &row.sides;
        differing += usize::from(matches!(concrete.judge(left, right), Comparison::Different(..)));
    }
    Compiled::Same { values: prepared.rows.len(), differing }
}

impl Side {
    /// Are these bits what the evaluator says?
    fn is(self, expected: &Evaluated, given: u128) -> bool {
        match expected {
            Ok(Value::Bits(truth)) if self.truth => (given != 0) == (*truth != 0),
            Ok(value @ (Value::Bits(_) | Value::Pointer { .. })) => word(value, self.repr) == Some(given),
            Ok(Value::Nan) => (0..self.repr.lanes().unwrap_or(1)).all(|lane| {
                let lane = given >> (lane * self.repr.bits());
                self.repr.is_nan(self.repr.canonical(lane))
            }),
            Ok(Value::State(_)) => false,
            // Its value is unknown.
            Err(_) => true,
        }
    }
}
