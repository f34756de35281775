//! What may hold of the values of both versions at a pair of cuts: candidates.

use crate::conversion::How;
use crate::functions::FunctionVersion;
use crate::functions::cuts::{Cut, Cuts};
use crate::functions::terms::{State, Symbolic, representation};
use rewright_cfg_skeleton::ir::{EdgeArg, Inst, InstKind, Value};
use rewright_smt::{Expr, Script, Sort};
use rewright_typeprop::Model;
use rewright_typeprop::model::Repr;

/// Candidates at a pair of cuts.
const MOST: usize = 3_000;

/// Candidates about the operands of comparisons, for each version.
const MOST_FACTS: usize = 96;

/// Orders of integers.
const ORDERS: [&str; 4] = ["bvsle", "bvslt", "bvule", "bvult"];

/// Something that may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Candidate {
    /// A value of the second version is what comes from one of the first version.
    Related { old: Value, new: Value, how: How },
    /// Two values of one version are in this order.
    Ordered { side: usize, order: &'static str, left: Value, right: Value },
    /// A value of one version is not negative.
    NotNegative { side: usize, value: Value },
    /// The load of this number would give the same value again.
    Again { side: usize, load: usize },
    /// Nor would that trap.
    Safe { side: usize, load: usize },
}

impl Candidate {
    /// Does it hold of what is known of both versions?
    pub(super) fn holds(&self, s: &mut Script, cuts: [&Cut; 2], states: [&State; 2]) -> Option<Expr> {
        Some(match self {
            Candidate::Related { old, new, how } => {
                let (was, is) = (states[0].value(*old)?.bits, states[1].value(*new)?.bits);
                let made = how.made(s, was, is.width());
                s.equal(made, is)
            }
            Candidate::Ordered { side, order, left, right } => {
                let (left, right) = (states[*side].value(*left)?.bits, states[*side].value(*right)?.bits);
                s.apply(order, &[left, right], Sort::Bool)
            }
            Candidate::NotNegative { side, value } => {
                let value = states[*side].value(*value)?.bits;
                let zero = s.bits(value.width(), 0);
                s.apply("bvsle", &[zero, value], Sort::Bool)
            }
            Candidate::Again { side, load } => {
                let (Symbolic { bits, .. }, _) = states[*side].again.get(*load)?;
                let value = cuts[*side].loads.get(*load)?.1;
                let was = states[*side].value(value)?.bits;
                s.equal(was, *bits)
            }
            Candidate::Safe { side, load } => states[*side].again.get(*load)?.1,
        })
    }
}

/// Candidates that have not failed.
pub(super) struct Invariant {
    /// By number; `None` where it has failed.
    all: Vec<Option<Candidate>>,
}

impl Invariant {
    /// All that is worth trying at a pair of cuts.
    pub(super) fn candidates(versions: [&Cuts<'_>; 2], at: (usize, usize)) -> Invariant {
        let cuts = [&versions[0].all[at.0], &versions[1].all[at.1]];
        let [old, new] = [0, 1].map(|side| Values::new(versions[side], cuts[side]));
        let mut all = related(&old, &new);
        for (side, values) in [&old, &new].into_iter().enumerate() {
            for load in 0..cuts[side].loads.len() {
                all.extend([Candidate::Again { side, load }, Candidate::Safe { side, load }]);
            }
            all.extend(facts(side, values));
        }
        all.truncate(MOST);
        Invariant { all: all.into_iter().map(Some).collect() }
    }

    /// Those that are left, with their numbers.
    pub(super) fn left(&self) -> impl Iterator<Item = (usize, &Candidate)> {
        self.all.iter().enumerate().filter_map(|(n, candidate)| Some((n, candidate.as_ref()?)))
    }

    /// What a base of the second version comes from: the last of several candidates, because what is computed says more
    /// than what is only there.
    pub(super) fn origin(&self, base: Value) -> Option<(Value, How)> {
        let origins = self.left().filter_map(|(_, candidate)| match candidate {
            Candidate::Related { old, new, how } if *new == base => Some((*old, *how)),
            _ => None,
        });
        origins.last()
    }

    /// Is one about the order of values?
    pub(super) fn is_order(&self, n: usize) -> bool {
        matches!(self.all[n], Some(Candidate::Ordered { .. } | Candidate::NotNegative { .. }))
    }

    /// Leaves one out.
    pub(super) fn drop(&mut self, n: usize) {
        self.all[n] = None;
    }
}

/// Values of one version at a cut.
struct Values<'a> {
    version: FunctionVersion<'a>,
    bases: Vec<(Value, Repr)>,
    /// What is computed from these, constants aside.
    others: Vec<(Value, Repr)>,
    /// Operands of comparisons.
    compared: Vec<[Value; 2]>,
    /// All that has a value.
    there: Vec<Value>,
}

impl<'a> Values<'a> {
    fn new(cuts: &Cuts<'a>, cut: &Cut) -> Values<'a> {
        let version = cuts.version;
        let function = version.function;
        let typed = |value: &Value| Some((*value, representation(version, function.ty(*value)).ok()?));
        let parameters = &function.block(function.entry()).params;
        let computed: Vec<&Inst> = cut.known.iter().chain(&cut.ahead).map(|id| function.inst(*id)).collect();
        let is_const = |inst: &&&Inst| matches!(inst.kind, InstKind::Const(_));
        let plain = computed.iter().filter(|inst| !is_const(inst)).flat_map(|inst| &inst.results);
        let others = plain.chain(parameters.iter().filter(|value| !cut.bases.contains(value)));
        let mut there: Vec<Value> = cut.bases.iter().chain(parameters).copied().collect();
        there.extend(computed.iter().flat_map(|inst| inst.results.iter().copied()));
        let all = function.layout.iter().flat_map(|block| &function.block(*block).insts).map(|id| function.inst(*id));
        let compared = all.filter_map(|inst| compared(version, inst)).collect();
        Values {
            version,
            bases: cut.bases.iter().filter_map(typed).collect(),
            others: others.filter_map(typed).collect(),
            compared,
            there,
        }
    }
}

/// Values of the second version as they may come from values of the first one: the likeliest first.
fn related(old: &Values<'_>, new: &Values<'_>) -> Vec<Candidate> {
    let mut all = vec![];
    let mut relate = |was: &(Value, Repr), is: &(Value, Repr), how| {
        all.push(Candidate::Related { old: was.0, new: is.0, how });
    };
    for is in &new.bases {
        // Bases that stand at the same place are tried first.
        for was in old.bases.iter().chain(&old.others).filter(|was| was.1 == is.1) {
            relate(was, is, How::Same);
        }
    }
    for was in &old.bases {
        new.others.iter().filter(|is| is.1 == was.1).for_each(|is| relate(was, is, How::Same));
    }
    for is in &new.bases {
        for was in &old.bases {
            let is_integer = |repr: Repr| repr.lanes().is_none() && repr.is_int();
            if !is_integer(was.1) || !is_integer(is.1) {
                continue;
            }
            if was.1.bits() < is.1.bits() {
                relate(was, is, How::SignExtended);
                relate(was, is, How::ZeroExtended);
            } else if was.1.bits() > is.1.bits() {
                relate(was, is, How::Truncated);
            }
        }
    }
    all
}

/// Is a parameter the sum or difference of itself and a constant where its block is entered again? Others have no bounds
/// that are worth asking for.
fn counts(version: FunctionVersion<'_>, param: Value) -> bool {
    let function = version.function;
    let insts = || function.layout.iter().flat_map(|block| &function.block(*block).insts).map(|id| function.inst(*id));
    let constants = insts().filter(|inst| matches!(inst.kind, InstKind::Const(_)));
    let constants: Vec<Value> = constants.flat_map(|inst| inst.results.iter().copied()).collect();
    let steps = insts().filter(|inst| match inst.kind {
        InstKind::Op { op, .. } => {
            let model = version.universe.ops.get(op).model;
            let mut others = inst.args.iter().filter(|arg| **arg != param);
            let is_sum = matches!(model, Some(Model::Add | Model::Sub)) && inst.args.contains(&param);
            is_sum && others.all(|arg| constants.contains(arg))
        }
        _ => false,
    });
    let stepped: Vec<Value> = steps.flat_map(|inst| inst.results.iter().copied()).collect();
    function.layout.iter().any(|block| {
        function.block(*block).term.edges().iter().any(|edge| {
            let at = function.block(edge.target).params.iter().position(|own| *own == param);
            let arg = at.and_then(|at| edge.args.get(at));
            matches!(arg, Some(EdgeArg::Value(value)) if stepped.contains(value))
        })
    })
}

/// How values that the function compares may be ordered.
fn facts(side: usize, values: &Values<'_>) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = vec![];
    let integers = values.bases.iter().filter(|(_, repr)| repr.is_int() && repr.lanes().is_none() && repr.bits() > 1);
    let counters: Vec<Value> = integers.map(|(base, _)| *base).filter(|base| counts(values.version, *base)).collect();
    all.extend(counters.iter().map(|value| Candidate::NotNegative { side, value: *value }));
    let is_base = |value: Value| counters.contains(&value);
    // Of what an iteration computes from a base, that is taken, too.
    let from_base = |value: Value| {
        let function = values.version.function;
        let mut insts = function.layout.iter().flat_map(|block| &function.block(*block).insts);
        let defined = insts.find(|id| function.inst(**id).results.contains(&value));
        let args = defined.map(|id| function.inst(*id).args.as_slice()).unwrap_or_default();
        args.iter().copied().find(|arg| is_base(*arg))
    };
    let mut ordered = vec![];
    for pair in &values.compared {
        let [left, right] = pair.map(|value| [Some(value), from_base(value)]);
        for (left, right) in left.iter().flatten().flat_map(|l| right.iter().flatten().map(move |r| (*l, *r))) {
            let known = [left, right].iter().all(|value| values.there.contains(value));
            if known && left != right && (is_base(left) || is_base(right)) {
                ordered.extend([(left, right), (right, left)]);
            }
        }
    }
    for (left, right) in ordered {
        for order in ORDERS {
            let fact = Candidate::Ordered { side, order, left, right };
            if all.len() < MOST_FACTS && !all.contains(&fact) {
                all.push(fact);
            }
        }
    }
    all
}

/// The operands of a comparison of integers.
fn compared(version: FunctionVersion<'_>, inst: &Inst) -> Option<[Value; 2]> {
    use Model::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    let InstKind::Op { op, .. } = inst.kind else { return None };
    let model = version.universe.ops.get(op).model?;
    let [left, right] = inst.args[..] else { return None };
    let is_order = [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge].contains(&model);
    let types = [left, right].map(|value| representation(version, version.function.ty(value)).ok());
    (is_order && types.iter().all(|repr| repr.is_some_and(|r| r.is_int() && r.lanes().is_none())))
        .then_some([left, right])
}
