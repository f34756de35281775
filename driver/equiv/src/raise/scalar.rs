//! What a value of a function is in its nest.

use super::Source;
use rewright_cfg_skeleton::ir::{BlockId, Definition, Function, InstKind, Terminator, Value};
use rewright_cfg_skeleton::nest::{Affine, Constraint, ValueId};
use rewright_typeprop::{Model, Universe};
use rustc_hash::FxHashMap;

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Val {
    /// An integer of this many bits: this number, read with a sign.
    Int(Affine, u32),
    /// An integer of this many bits: this number if its needs are met, which is to be shown where it is used.
    Provided(Vec<Need>, Affine, u32),
    /// The least of several integers of this many bits.
    Least(Vec<Affine>, u32),
    /// An integer of 64 bits that is congruent to this number modulo 2^64.
    Modular(Affine),
    /// An address.
    Pointer(Pointer),
    /// A comparison of integers.
    Test(Test),
    /// What only the pool knows.
    Data(ValueId),
}

/// What a promise of the second version needs, or that of something it is computed from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// A fact.
    Fact(Constraint),
    /// A number that is a signed integer of this many bits.
    Fits(Affine, u32),
}

impl Need {
    fn map(&self, of: &dyn Fn(&Affine) -> Affine) -> Need {
        match self {
            Need::Fact(fact) => Need::Fact(Constraint { expr: of(&fact.expr), equality: fact.equality }),
            Need::Fits(e, bits) => Need::Fits(of(e), *bits),
        }
    }

    fn polynomial(&self) -> &Affine {
        match self {
            Need::Fact(fact) => &fact.expr,
            Need::Fits(e, _) => e,
        }
    }
}

/// A parameter and a number of bytes modulo 2^64.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pointer {
    pub(super) parameter: u32,
    pub(super) offset: Affine,
    /// Offsets that are promised to be within the object, those before and behind a step of which this is said.
    pub(super) promised: Vec<Affine>,
    /// All steps promise it.
    pub(super) is_promised: bool,
}

/// What holds if the value is not zero, and what if it is; `None` where that is no conjunction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Test {
    pub(super) holds: Option<Vec<Constraint>>,
    pub(super) fails: Option<Vec<Constraint>>,
}

impl Val {
    /// What a parameter points to.
    pub(super) fn pointer(parameter: u32) -> Val {
        Val::Pointer(Pointer { parameter, offset: Affine::default(), promised: vec![], is_promised: true })
    }

    /// With each polynomial changed.
    pub(super) fn map(&self, of: &dyn Fn(&Affine) -> Affine) -> Val {
        let all = |constraints: &Option<Vec<Constraint>>| {
            let each = |c: &Constraint| Constraint { expr: of(&c.expr), equality: c.equality };
            constraints.as_ref().map(|list| list.iter().map(each).collect())
        };
        match self {
            Val::Int(e, bits) => Val::Int(of(e), *bits),
            Val::Provided(needs, e, bits) => {
                Val::Provided(needs.iter().map(|need| need.map(of)).collect(), of(e), *bits)
            }
            Val::Least(list, bits) => Val::Least(list.iter().map(of).collect(), *bits),
            Val::Modular(e) => Val::Modular(of(e)),
            Val::Pointer(p) => {
                let promised = p.promised.iter().map(of).collect();
                Val::Pointer(Pointer { offset: of(&p.offset), promised, ..p.clone() })
            }
            Val::Test(test) => Val::Test(Test { holds: all(&test.holds), fails: all(&test.fails) }),
            Val::Data(value) => Val::Data(*value),
        }
    }

    /// All its polynomials.
    pub(super) fn polynomials(&self) -> Vec<&Affine> {
        match self {
            Val::Int(e, _) | Val::Modular(e) => vec![e],
            Val::Provided(needs, e, _) => needs.iter().map(Need::polynomial).chain([e]).collect(),
            Val::Least(list, _) => list.iter().collect(),
            Val::Pointer(p) => p.promised.iter().chain([&p.offset]).collect(),
            Val::Test(test) => {
                test.holds.iter().chain(&test.fails).flatten().map(|constraint| &constraint.expr).collect()
            }
            Val::Data(_) => vec![],
        }
    }
}

/// Values on which branches between integers and addresses depend.
pub(super) fn counted(
    function: &Function,
    universe: &Universe,
    source: &dyn Source,
    definition: &[Option<Definition>],
) -> Vec<bool> {
    let mut incoming: FxHashMap<BlockId, Vec<Vec<Value>>> = FxHashMap::default();
    let mut rest = vec![];
    for block in &function.layout {
        let data = function.block(*block);
        for edge in data.term.edges() {
            let args = edge.args.iter().filter_map(|arg| match arg {
                rewright_cfg_skeleton::ir::EdgeArg::Value(value) => Some(*value),
                rewright_cfg_skeleton::ir::EdgeArg::Terminator(_) => None,
            });
            incoming.entry(edge.target).or_default().push(args.collect());
        }
        if let Terminator::Branch { cond, .. } = &data.term {
            rest.push(*cond);
        }
        for id in &data.insts {
            let inst = function.inst(*id);
            if let Some(Ok(block)) = source.block(*id) {
                rest.extend(block.counted());
            }
            let InstKind::Op { op, access, .. } = &inst.kind else { continue };
            if access.is_some() {
                rest.extend(inst.args.first());
            } else if inst.results.iter().any(|v| source.is_address(*v)) && universe.ops.get(*op).effects.is_pure() {
                rest.extend(&inst.args);
            }
        }
    }
    let mut is_counted = vec![false; function.values.len()];
    while let Some(value) = rest.pop() {
        let is_float = universe.types.scalar(function.ty(value)).is_some_and(|scalar| !scalar.is_int());
        if is_float || std::mem::replace(&mut is_counted[value.index()], true) {
            continue;
        }
        match definition[value.index()] {
            Some(Definition::Result(_, inst, _)) => {
                let inst = function.inst(inst);
                if let InstKind::Op { access: None, op, .. } = &inst.kind
                    && universe.ops.get(*op).model.is_none_or(|model| !is_of_floats(model))
                {
                    rest.extend(&inst.args);
                }
            }
            Some(Definition::Param(block, index)) => {
                rest.extend(incoming.get(&block).into_iter().flatten().filter_map(|args| args.get(index)));
            }
            None => {}
        }
    }
    is_counted
}

fn is_of_floats(model: Model) -> bool {
    model.name().starts_with("fc")
}
