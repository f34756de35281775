//! A part of a version that has no loops as terms: what it gives, what it leaves in memory, how it traps, where it comes
//! to a cut, and what it does that is not modelled, by what it begins with.
//!
//! Blocks are taken in an order in which all predecessors of a block come before it ([`executor`]). A vector is any one
//! lane of it: what mixes lanes is not modelled, and depends on what it is given as a text, not as a value. An
//! instruction that is not modelled and may write is an event; events are a chain, which tells their order. When a
//! trapping access traps is unknown, but alike in both versions.

mod executor;
mod operations;

use super::FunctionVersion;
use super::cuts::Cuts;
use super::region::Region;
use crate::not_modelled::NotModelled;
use executor::Executor;
use rewright_cfg_skeleton::ir::Value;
use rewright_smt::{self as smt, Expr, Script, Sort};
use rewright_typeprop::Ty;
use rewright_typeprop::model::Repr;
use rustc_hash::FxHashMap;

pub(super) type Terms<T> = Result<T, NotModelled>;

/// More instructions than a solver could decide.
const MOST: usize = 4_000;

/// A value: its bits, and whether they are those of a NaN that arithmetic gave, which may be any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbolic {
    pub(super) bits: Expr,
    pub(super) nan: Expr,
}

/// What both versions are given.
pub(super) struct Given {
    pub(super) arguments: Vec<Expr>,
    pub(super) memory: Expr,
    pub(super) trace: Expr,
}

/// An access, and what it promises.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Promise {
    store: bool,
    bytes: u32,
    address: Expr,
    flags: (String, bool, bool, bool, bool),
}

/// What a version does.
pub(super) struct Behaviour {
    /// It traps, and with which code.
    trapped: Expr,
    code: Expr,
    returned: Expr,
    results: Vec<Symbolic>,
    pub(super) memory: Expr,
    pub(super) trace: Expr,
    /// Accesses that promise something, and when they are executed.
    promises: Vec<(Promise, Expr)>,
    /// Arithmetic may have given a NaN.
    pub(super) has_nan: bool,
    /// Cuts that it may come to.
    pub(super) arrivals: Vec<Arrival>,
}

/// A cut that is reached.
pub(super) struct Arrival {
    pub(super) cut: usize,
    pub(super) reached: Expr,
    /// What its bases are then.
    pub(super) bases: Vec<Symbolic>,
}

/// What is known where a version begins at a cut.
pub(super) struct State {
    /// What it begins with.
    pub(super) bases: Vec<Expr>,
    /// What has been computed.
    pub(super) values: FxHashMap<Value, Symbolic>,
    /// What holds since it has come there: checks did not trap, branches went this way.
    pub(super) facts: Expr,
    /// What would be computed from these values.
    pub(super) ahead: FxHashMap<Value, Symbolic>,
    /// What loads would give that have been executed before, and whether they would not trap, in the cut's order.
    pub(super) again: Vec<(Symbolic, Expr)>,
}

impl State {
    /// A value that has been or would be computed.
    pub(super) fn value(&self, value: Value) -> Option<Symbolic> {
        self.values.get(&value).or_else(|| self.ahead.get(&value)).copied()
    }
}

impl Given {
    /// Arguments by the types of the first version's parameters.
    pub(super) fn new(s: &mut Script, version: FunctionVersion<'_>) -> Terms<Given> {
        let function = version.function;
        let mut arguments = vec![];
        for (n, value) in function.block(function.entry()).params.iter().enumerate() {
            let repr = representation(version, function.ty(*value))?;
            arguments.push(s.variable(&format!("argument {n}"), Sort::Bits(repr.bits())));
        }
        let memory = s.variable("memory", Sort::Memory);
        let trace = s.variable("trace", Sort::Bits(64));
        Ok(Given { arguments, memory, trace })
    }
}

/// How many bits a value has; of a vector a lane.
pub(super) fn representation(version: FunctionVersion<'_>, ty: Ty) -> Terms<Repr> {
    let types = &version.universe.types;
    types.repr(ty).ok_or_else(|| format!("values of the type {}", types.display(ty)).into())
}

/// What both do is alike: claims, with what each is about. Results of the first version that are some NaN may be any.
pub(super) fn alike(s: &mut Script, before: &Behaviour, after: &Behaviour) -> Vec<(Expr, &'static str)> {
    let code = s.equal(before.code, after.code);
    let (untrapped, unreturned) = (s.not(before.trapped), s.not(before.returned));
    let trapped = s.equal(before.trapped, after.trapped);
    let code = s.or(&[untrapped, code]);
    let traps = s.and(&[trapped, code]);
    let returned = s.equal(before.returned, after.returned);
    let mut same = vec![];
    for (was, is) in before.results.iter().zip(&after.results) {
        let mut allowed = vec![unreturned, s.equal(was.bits, is.bits)];
        if let Some(format) = smt::Format::of_width(is.bits.width()).filter(|_| was.nan != Expr::FALSE) {
            let float = s.float(is.bits, format);
            let nan = s.apply("fp.isNaN", &[float], Sort::Bool);
            allowed.push(s.and(&[was.nan, nan]));
        }
        same.push(s.or(&allowed));
    }
    let results = s.and(&same);
    let memory = smt::same(s, before.memory, after.memory);
    let trace = s.equal(before.trace, after.trace);
    // The first version makes the second one's promises as well, wherever that matters.
    let mut promised = vec![];
    for (promise, when) in &after.promises {
        let covering = before.promises.iter().filter(|(other, _)| other == promise).map(|(_, when)| *when);
        let covered = s.or(&covering.collect::<Vec<_>>());
        let not_executed = s.not(*when);
        promised.push(s.or(&[not_executed, covered]));
    }
    let promised = s.and(&promised);
    vec![
        (traps, "whether it traps"),
        (returned, "whether it ends"),
        (results, "what it gives"),
        (memory, "what is in memory"),
        (trace, "what it does that is not modelled"),
        (promised, "what accesses promise"),
    ]
}

/// What a version does from its entry or from a cut, at which some values are given.
///
/// # Errors
/// What is not modelled.
pub(super) fn behaviour(
    s: &mut Script,
    cuts: &Cuts<'_>,
    region: &Region,
    begun: Option<&State>,
    given: &Given,
) -> Terms<Behaviour> {
    if cuts.version.function.layout.iter().map(|b| cuts.version.function.block(*b).insts.len()).sum::<usize>() > MOST {
        return Err(format!("more than {MOST} instructions").into());
    }
    let mut executor = Executor::new(s, cuts, given)?;
    executor.run(region, begun)?;
    Ok(executor.done)
}

/// What is known at a cut where its bases are these.
///
/// # Errors
/// What is not modelled.
pub(super) fn state(s: &mut Script, cuts: &Cuts<'_>, cut: usize, bases: &[Symbolic], given: &Given) -> Terms<State> {
    Executor::new(s, cuts, given)?.state(&cuts.all[cut], bases)
}
