//! Values at the end of a block: those that are defined there, or what is computed again from such.

use crate::Saturated;
use crate::egraph::ClassId;
use crate::ir::{BlockId, Definition, Function, Inst, InstId, InstKind, OpaqueEffects, Value, definitions};
use rewright_typeprop::{Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// How deep operands are computed anew.
const MAX_DEPTH: usize = 4;

/// An instruction that is to be executed at another place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Copied {
    pub(super) kind: InstKind,
    pub(super) operands: SmallVec<[Operand; 3]>,
    /// Of its results.
    pub(super) types: SmallVec<[Ty; 1]>,
}

/// An operand of such an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    Value(Value),
    /// The result of an earlier one in the same list.
    Copied(usize),
}

/// The values of a function, with what they are equal to.
pub(super) struct Values<'a> {
    given: Saturated<'a>,
    pub(super) definitions: Vec<Option<Definition>>,
    /// By class: the values that are it, in order.
    by_class: FxHashMap<ClassId, Vec<Value>>,
}

impl<'a> Values<'a> {
    pub(super) fn new(given: Saturated<'a>) -> Self {
        let mut by_class: FxHashMap<ClassId, Vec<Value>> = FxHashMap::default();
        for (number, input) in (0u32..).zip(&given.skeleton.value_input) {
            if let Some(input) = input {
                by_class.entry(given.view.class_of(*input)).or_default().push(Value(number));
            }
        }
        Values { given, definitions: definitions(given.function), by_class }
    }

    /// The values of a class that have a type.
    pub(super) fn of_class(&self, class: ClassId, ty: Ty) -> impl Iterator<Item = Value> {
        let values = self.by_class.get(&class).into_iter().flatten().copied();
        values.filter(move |value| self.given.function.ty(*value) == ty)
    }

    /// Is a value defined whenever the end of a block is reached?
    pub(super) fn is_available(&self, value: Value, at: BlockId) -> bool {
        self.definitions[value.index()].is_some_and(|definition| self.given.cfg.dominates(definition.block(), at))
    }

    /// The constant that a class is, if it is one that an instruction can give.
    pub(super) fn constant(&self, class: ClassId, ty: Ty) -> Option<i64> {
        let Saturated { universe, view, .. } = self.given;
        view.class(class).constant.filter(|_| universe.types.scalar(ty).is_some())
    }

    /// How an instruction is executed at the end of a block.
    pub(super) fn copy(&self, inst: InstId, at: BlockId) -> Option<Vec<Copied>> {
        let mut copies = vec![];
        self.copy_at(inst, at, 0, &mut copies)?;
        Some(copies)
    }

    /// A value, or one that is equal, at the end of a block, with what has to be computed for it.
    pub(super) fn operand(&self, value: Value, at: BlockId, copies: &mut Vec<Copied>) -> Option<Operand> {
        self.operand_at(value, at, 0, copies)
    }

    fn copy_at(&self, id: InstId, at: BlockId, depth: usize, copies: &mut Vec<Copied>) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        let f = self.given.function;
        let inst = f.inst(id);
        let operands = inst.args.iter().map(|value| self.operand_at(*value, at, depth, copies));
        let operands = operands.collect::<Option<SmallVec<[Operand; 3]>>>()?;
        let types = inst.results.iter().map(|v| f.ty(*v)).collect();
        let mut kind = inst.kind.clone();
        // It is promised where the original stands.
        if let InstKind::Op { access: Some(access), .. } = &mut kind {
            access.aligned = false;
        }
        copies.push(Copied { kind, operands, types });
        Some(copies.len() - 1)
    }

    fn operand_at(&self, value: Value, at: BlockId, depth: usize, copies: &mut Vec<Copied>) -> Option<Operand> {
        let Saturated { function: f, universe, skeleton, view, .. } = self.given;
        if self.is_available(value, at) {
            return Some(Operand::Value(value));
        }
        let ty = f.ty(value);
        if let Some(input) = skeleton.value_input[value.index()] {
            let class = view.class_of(input);
            if let Some(other) = self.of_class(class, ty).find(|other| self.is_available(*other, at)) {
                return Some(Operand::Value(other));
            }
            if let Some(number) = self.constant(class, ty) {
                copies.push(Copied::constant(ty, number));
                return Some(Operand::Copied(copies.len() - 1));
            }
        }
        let inst = self.definitions[value.index()].and_then(Definition::inst)?;
        let is_alone = f.inst(inst).results.len() == 1;
        (is_alone && is_computed_anywhere(&f.inst(inst).kind, universe))
            .then(|| self.copy_at(inst, at, depth + 1, copies).map(Operand::Copied))?
    }
}

impl Copied {
    pub(super) fn constant(ty: Ty, number: i64) -> Copied {
        Copied { kind: InstKind::Const(number), operands: smallvec![], types: smallvec![ty] }
    }
}

/// Adds instructions to a function; in order, and yet in no block. Gives their first results, too.
pub(super) fn add(out: &mut Function, copies: &[Copied]) -> (Vec<InstId>, Vec<Option<Value>>) {
    let (mut insts, mut made): (Vec<InstId>, Vec<Option<Value>>) = (vec![], vec![]);
    for Copied { kind, operands, types } in copies {
        let args = operands.iter().map(|operand| match operand {
            Operand::Value(value) => *value,
            Operand::Copied(number) => made[*number].expect("an operand has a result"),
        });
        let args = args.collect();
        let results: SmallVec<[Value; 1]> = types.iter().map(|ty| out.add_value(*ty)).collect();
        made.push(results.first().copied());
        insts.push(InstId(out.insts.len() as u32));
        out.insts.push(Inst { kind: kind.clone(), args, results, origin: None });
    }
    (insts, made)
}

/// May an instruction be executed anywhere, and not at all?
pub(super) fn is_computed_anywhere(kind: &InstKind, universe: &Universe) -> bool {
    match kind {
        InstKind::Const(_) => true,
        InstKind::Op { op, access: None, .. } => {
            let op = universe.ops.get(*op);
            op.effects.is_pure() && !op.is_sited()
        }
        InstKind::Op { .. } | InstKind::Check { .. } => false,
        InstKind::Opaque { effects, .. } => *effects == OpaqueEffects::Pure,
    }
}
