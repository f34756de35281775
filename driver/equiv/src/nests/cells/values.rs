//! Values that are computed in other ways: what both versions read is paired, and an oracle is asked the rest.

use super::super::accesses::Does;
use super::super::claims::Formula;
use super::super::{Checked, Rejected};
use super::{Side, Term, Walk};
use rewright_cfg_skeleton::nest::datapath::{self, Answer, Question, TermKind};
use rewright_cfg_skeleton::nest::value::{Operation, Value, is_never_poison};
use rewright_cfg_skeleton::nest::{Affine, ArrayKind, LoadId, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// Questions have no more terms.
const MAX_TERMS: usize = 400;

/// A value at a point of an access.
type Tree<'t> = (ValueId, Option<usize>, &'t [Affine]);

/// A question as it is built.
struct Builder<'t> {
    left: Tree<'t>,
    /// Loads that were followed up to here.
    depth: usize,
    terms: Vec<datapath::Term>,
    loads: Vec<(LoadId, String, u32)>,
    indices: Vec<(Affine, u32)>,
    arguments: BTreeMap<u32, u32>,
    known: BTreeMap<(Side, ValueId), u32>,
}

impl Builder<'_> {
    fn add(&mut self, ty: &str, kind: TermKind) -> Option<u32> {
        self.terms.push(datapath::Term { ty: ty.to_string(), kind });
        (self.terms.len() <= MAX_TERMS).then_some(self.terms.len() as u32 - 1)
    }
}

impl Walk<'_, '_> {
    /// Whether the oracle says that the second value may stand for the first one.
    pub(super) fn asked(&mut self, left: Tree<'_>, right: Tree<'_>, given: &[Formula], depth: usize) -> Checked<bool> {
        let mut builder = Builder {
            left,
            depth,
            terms: vec![],
            loads: vec![],
            indices: vec![],
            arguments: BTreeMap::new(),
            known: BTreeMap::new(),
        };
        let Some(l) = self.term(Side::Before, left, given, &mut builder)? else { return Ok(false) };
        let Some(r) = self.term(Side::After, right, given, &mut builder)? else { return Ok(false) };
        let question = Question { terms: builder.terms, left: l, right: r, nans: self.cells.pool.sees_nans() };
        Ok(matches!(self.cells.oracle.answer(&[question]).as_slice(), [Answer::Equal(_)]))
    }

    fn term(
        &mut self,
        side: Side,
        tree: Tree<'_>,
        given: &[Formula],
        builder: &mut Builder<'_>,
    ) -> Checked<Option<u32>> {
        let (value, access, point) = tree;
        if let Some(known) = builder.known.get(&(side, value)) {
            return Ok(Some(*known));
        }
        let term = match self.cells.pool.get(value) {
            Value::Op(Operation { name, flags, from, ty, operands }) => {
                let mut terms = vec![];
                for operand in operands {
                    let Some(term) = self.term(side, (*operand, access, point), given, builder)? else {
                        return Ok(None);
                    };
                    terms.push(term);
                }
                let (name, flags, from) = (name.clone(), flags.clone(), from.clone());
                builder.add(ty, TermKind::Op { name, flags, from, operands: terms })
            }
            Value::Constant(constant) => builder.add(&constant.ty, TermKind::Constant(constant.number.clone())),
            Value::Argument(position) => match builder.arguments.get(position) {
                Some(known) => Some(*known),
                None => {
                    let ty = self.cells.before.nest.arguments.get(*position as usize).cloned().unwrap_or_default();
                    let term = builder.add(&ty, TermKind::Leaf { defined: true });
                    builder.arguments.extend(term.map(|term| (*position, term)));
                    term
                }
            },
            Value::Index(affine) => self.index(&self.at(side, affine, access, point), given, builder)?,
            Value::Load(load) if side == Side::Before => {
                let ty = self.element(side, *load)?;
                let term = builder.add(&ty, TermKind::Leaf { defined: self.is_never_poison(side, *load) });
                builder.loads.extend(term.map(|term| (*load, ty, term)));
                term
            }
            Value::Load(load) => self.paired(*load, tree, given, builder)?,
            Value::Result(..) | Value::Array(_) => None,
        };
        builder.known.extend(term.map(|term| ((side, value), term)));
        Ok(term)
    }

    /// A number; one of the first version that is the same where there is one.
    fn index(&mut self, affine: &Affine, given: &[Formula], builder: &mut Builder<'_>) -> Checked<Option<u32>> {
        for (other, term) in &builder.indices {
            if self.cells.prover.holds(given, &Formula::equal(other, affine))? {
                return Ok(Some(*term));
            }
        }
        let term = builder.add("index", TermKind::Leaf { defined: true });
        builder.indices.extend(term.map(|term| (affine.clone(), term)));
        Ok(term)
    }

    /// A load of the second version; one of the first that reads the same where there is one.
    fn paired(
        &mut self,
        load: LoadId,
        (value, access, point): Tree<'_>,
        given: &[Formula],
        builder: &mut Builder<'_>,
    ) -> Checked<Option<u32>> {
        let ty = self.element(Side::After, load)?;
        let (_, left_access, left_point) = builder.left;
        let right = Term::Tree(value, access, point.to_vec());
        for (other, other_ty, term) in builder.loads.clone() {
            let Some(other) = self.cells.pool.find(&Value::Load(other)).filter(|_| other_ty == ty) else { continue };
            let left = Term::Tree(other, left_access, left_point.to_vec());
            if self.attempt(|walk| walk.goal(&left, &right, given, builder.depth + 1))? {
                return Ok(Some(term));
            }
        }
        Ok(builder.add(&ty, TermKind::Leaf { defined: self.is_never_poison(Side::After, load) }))
    }

    /// The type of what a load reads.
    fn element(&self, side: Side, load: LoadId) -> Checked<String> {
        let program = self.program(side);
        let number = program.loads.get(&load).ok_or_else(|| Rejected::Step("a load is not there".into()))?;
        Ok(program.nest.array(program.all[*number].array).element.clone())
    }

    /// Whether the value that a load reads is not poison: an argument's contents from before the call are not, and
    /// neither is what the program stores if none of its operations makes any.
    fn is_never_poison(&self, side: Side, load: LoadId) -> bool {
        let program = self.program(side);
        let Some(number) = program.loads.get(&load) else { return false };
        let array = program.all[*number].array;
        let is_given = matches!(program.nest.array(array).kind, ArrayKind::Argument(_));
        is_given && (program.writers(array).next().is_none() || self.stores_no_poison(side))
    }

    fn stores_no_poison(&self, side: Side) -> bool {
        let value = |does: Does| if let Does::Store(value) = does { Some(value) } else { None };
        let mut rest: Vec<ValueId> = self.program(side).all.iter().filter_map(|access| value(access.does)).collect();
        let mut seen = BTreeSet::new();
        while let Some(value) = rest.pop() {
            if let (true, Value::Op(op)) = (seen.insert(value), self.cells.pool.get(value)) {
                let amount = op.operands.last().and_then(|last| self.cells.pool.bits(*last));
                if !op.flags.is_empty() || !is_never_poison(&op.name, &op.from, amount) {
                    return false;
                }
                rest.extend(&op.operands);
            }
        }
        true
    }
}
