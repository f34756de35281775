//! Functions that differ: is each thing that the second version may do one that the first one may, or better defined?
//!
//! An SMT solver is asked for parameters, memory, and choices of the second version, for which no choice of the first one
//! does the same. Both are terms by LLVM's semantics ([`meaning`], [`side`]), with poison, with what is undefined, with
//! `freeze` and `undef`. First parameters are values or poison, then also `undef`, where each use of one may see another
//! value; the solver decides the second question less often. (A pointer that is `undef` can be given away only.)
//!
//! In scope: functions without loops on integers to 128 bits, floats and pointers, with plain loads and stores. A version may
//! access what the first one accesses. Bytes of memory are values or poison. What is called may do anything that its
//! attributes allow, and does the same for both versions where they tell it the same. Not looked at: provenance, alignment, and attributes and metadata that make poison of values in a range
//! (`range`, `nonnull`): they mean nothing in the first version, and are taken to hold in the second one.
//!
//! **Invariant**: what rests on something that is not modelled in all its parts (the end of an object, the bits of a NaN, a call) is
//! no refutation, but unknown.

mod meaning;
mod side;
#[cfg(test)]
mod tests;

use super::{Config, Files, Seen};
use crate::llvm::body::{self, Body};
use crate::llvm::module::Definition;
use crate::llvm::types::Type;
use crate::verify::smt::solver::{self, Answer, Solver};
use crate::verify::smt::{self, Asserted, Expr, Script, Sort};
use meaning::{Value, format, is_float};
use side::{Access, Behaviour, Given, behaviour};
use std::io;
use std::time::Duration;

/// Solver steps per question, and time for a solver that does not count them.
const STEPS: u64 = 20_000_000;
const TIMEOUT: Duration = Duration::from_secs(30);

/// Asks about the pairs of two files.
///
/// # Errors
/// When the solver cannot be started.
pub(super) fn compare(files: &Files<'_>, config: &Config) -> io::Result<Vec<Seen>> {
    let settings = solver::Config { command: config.solver.clone(), steps: STEPS, timeout: TIMEOUT };
    let mut solver = Solver::start(settings)
        .map_err(|e| io::Error::new(e.kind(), format!("cannot start {}: {e}", config.solver.join(" "))))?;
    let mut seen = vec![];
    for pair in 0..files.pairs.len() {
        let [old, new] = files.definitions(pair);
        let bodies = body::read(files.before, old).and_then(|b| Ok([b, body::read(files.after, new)?]));
        let mut one = Seen::default();
        match bodies {
            Err(reason) => one.not_compared(reason),
            Ok(bodies) => {
                for undefined in [false, true] {
                    if !ask(files, [old, new], &bodies, undefined, &mut solver, &mut one)? {
                        break;
                    }
                }
            }
        }
        solver.forget();
        seen.push(one);
    }
    Ok(seen)
}

/// Asks one question; is another one to be asked?
fn ask(
    files: &Files<'_>,
    definitions: [&Definition; 2],
    bodies: &[Body; 2],
    undefined: bool,
    solver: &mut Solver,
    seen: &mut Seen,
) -> io::Result<bool> {
    let suffix = if undefined { ", with parameters that may be `undef`" } else { "" };
    let open = |seen: &mut Seen, reason: &str| {
        seen.not_compared(format!("{reason}{suffix}"));
        Ok(false)
    };
    let question = match Question::new(files, definitions, bodies, undefined) {
        Ok(question) => question,
        Err(reason) => return open(seen, &reason),
    };
    let wanted: Vec<&str> = question.asserted.declared.iter().map(String::as_str).collect();
    match solver.ask(&question.asserted.text, &wanted, 1)? {
        Answer::Unsat => {
            seen.runs += 1;
            Ok(!undefined && question.undefined_matters)
        }
        Answer::Unknown(reason) => open(seen, &reason),
        Answer::Sat(_) if !question.assumed.is_empty() => {
            open(seen, &format!("it depends on {}", question.assumed.join(" and ")))
        }
        Answer::Sat(values) => {
            seen.runs += 1;
            let value = |name: Expr| {
                let at = wanted.iter().position(|w| *w == question.script.name(name))?;
                values.get(at).copied().flatten()
            };
            let shown = |(value_of, undef): &(Value, Expr)| match (value(value_of.poison), value(*undef)) {
                (Some(1), _) => "poison".to_string(),
                (_, Some(1)) => "undef".to_string(),
                _ => value(value_of.bits).map_or("any".into(), |bits| format!("{bits:#x}")),
            };
            let arguments = question.given.parameters.iter().map(shown).collect();
            seen.differs = Some((arguments, "it may do what it could not do before".into()));
            Ok(false)
        }
    }
}

/// Two versions as one question.
struct Question {
    script: Script,
    given: Given,
    asserted: Asserted,
    /// What an answer may rest on that is not modelled.
    assumed: Vec<&'static str>,
    /// A parameter may be `undef`.
    undefined_matters: bool,
}

impl Question {
    fn new(
        files: &Files<'_>,
        definitions: [&Definition; 2],
        bodies: &[Body; 2],
        undefined: bool,
    ) -> Result<Question, String> {
        let mut script = Script::new();
        let s = &mut script;
        let given = Given::new(s, definitions[0], undefined)?;
        let old = behaviour(s, "before", files.before, definitions[0], &bodies[0], &given)?;
        // Parameters go by their names, and the first version's are those that there are.
        let new = behaviour(s, "after", files.after, definitions[0], &bodies[1], &given)?;
        if old.reads_undef() || new.reads_undef() {
            return Err("it reads what may be `undef`".into());
        }
        let (refines, uncovered) = refines(s, &old, &new, definitions[0]);
        let mut assumed: Vec<&str> = old.assumed.union(&new.assumed).copied().collect();
        if uncovered {
            assumed.push("what memory is there");
        }
        let claim = s.not(refines);
        let asserted = s.asserting_for_all(&old.choices, claim).ok_or("what it chooses decides what is read")?;
        let may_be = |(value, ty): (&(Value, Expr), &Type)| value.0.poison != Expr::FALSE && *ty != Type::Ptr;
        let types = definitions[0].parameters.iter().map(|p| &p.ty);
        let undefined_matters = given.parameters.iter().zip(types).any(may_be);
        Ok(Question { script, given, asserted, assumed, undefined_matters })
    }
}

/// When the second version does what the first one may do, and whether it accesses anything that may not be there.
fn refines(s: &mut Script, old: &Behaviour, new: &Behaviour, definition: &Definition) -> (Expr, bool) {
    let mut undefined = vec![new.undefined];
    let mut uncovered = false;
    for access in &new.accesses {
        let there = covered(s, access, &old.accesses);
        uncovered |= there != access.reached;
        let missing = s.not(there);
        undefined.push(s.and(&[access.reached, missing]));
    }
    let undefined = s.or(&undefined);
    let defined = s.not(undefined);
    let mut same = vec![];
    if let (Some(was), Some(is)) = (old.returned, new.returned) {
        let mut equal = vec![s.equal(was.bits, is.bits)];
        if let (true, Some(format)) = (is_float(&definition.result), format(&definition.result)) {
            let nans = [was.bits, is.bits].map(|bits| {
                let float = s.float(bits, format);
                s.apply("fp.isNaN", &[float], Sort::Bool)
            });
            equal.push(s.and(&nans));
        }
        let equal = s.or(&equal);
        same.push(value_refines(s, was.poison, is.poison, equal));
    }
    same.push(memory_refines(s, (old.memory, old.doubt), (new.memory, new.doubt)));
    // A callee may keep it all to itself.
    let (left, returned) = (s.not(old.returns), s.and(&same));
    let mut same = vec![defined, s.equal(old.trace, new.trace), s.or(&[left, returned])];
    for was in &old.events {
        for is in &new.events {
            let seen = memory_refines(s, (was.memory, was.doubt), (is.memory, is.doubt));
            let equal = s.equal(was.trace, is.trace);
            let both = s.and(&[was.reached, is.reached, equal]);
            let others = s.not(both);
            same.push(s.or(&[others, seen]));
        }
    }
    let same = s.and(&same);
    (s.or(&[old.undefined, same]), uncovered)
}

/// A memory and what is poison in it, against another one's.
fn memory_refines(s: &mut Script, old: (Expr, Expr), new: (Expr, Expr)) -> Expr {
    let mut addresses = smt::written(s, old.0).0;
    for address in smt::written(s, new.0).0 {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    let mut same = vec![];
    for address in &addresses {
        let [was, is] = [old, new].map(|(memory, doubt)| {
            let doubt = smt::read(s, doubt, address);
            (smt::read(s, memory, address), s.nonzero(doubt))
        });
        let equal = s.equal(was.0, is.0);
        same.push(value_refines(s, was.1, is.1, equal));
    }
    s.and(&same)
}

/// What was poison may be anything.
fn value_refines(s: &mut Script, was_poison: Expr, is_poison: Expr, equal: Expr) -> Expr {
    let defined = s.not(is_poison);
    let kept = s.and(&[defined, equal]);
    s.or(&[was_poison, kept])
}

/// When an access lies within one of the first version's that is made, too; for the same condition as the access's own if
/// it always does.
fn covered(s: &mut Script, access: &Access, others: &[Access]) -> Expr {
    let enough = |other: &&Access| other.bytes >= access.bytes && (other.writes || !access.writes);
    let others: Vec<&Access> = others.iter().filter(enough).collect();
    if others.iter().any(|o| o.address == access.address && (o.reached == access.reached || o.reached == Expr::TRUE)) {
        return access.reached;
    }
    let mut within = vec![];
    for other in others {
        let distance = s.apply("bvsub", &[access.address, other.address], Sort::Bits(64));
        let most = s.bits(64, (other.bytes - access.bytes).into());
        let inside = s.apply("bvule", &[distance, most], Sort::Bool);
        within.push(s.and(&[other.reached, inside]));
    }
    s.or(&within)
}
