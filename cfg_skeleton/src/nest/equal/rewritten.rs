//! Values of two statements that compute in other ways: what they read is paired by proofs, and an oracle is asked the
//! rest.

use super::super::access::Program;
use super::super::affine::Affine;
use super::super::datapath::{Question, Term as Asked, TermKind};
use super::super::predicate::Conjunction;
use super::super::value::{Operation, Value, ValueId, is_never_poison};
use super::super::{ArrayKind, LoadId};
use super::{Point, Proof, Side, Term};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;

/// A tree at a point of an access.
pub(super) type Tree = (ValueId, Option<usize>, Point);

/// More operations are not asked about at once.
const MAX_TERMS: usize = 400;

/// More loads on one side are not paired.
const MAX_LOADS: usize = 24;

/// What is asked, as it is built.
#[derive(Default)]
struct Builder {
    terms: IndexSet<(Asked, u32)>,
    /// Classes of leaves are told apart by this.
    leaves: u32,
    left_loads: Vec<(LoadId, String, u32)>,
    left_indices: Vec<(Affine, u32)>,
    arguments: FxHashMap<u32, u32>,
}

impl Builder {
    fn leaf(&mut self, ty: &str, defined: bool) -> u32 {
        self.leaves += 1;
        self.add(Asked { ty: ty.to_string(), kind: TermKind::Leaf { defined } }, self.leaves)
    }

    fn add(&mut self, term: Asked, leaf: u32) -> u32 {
        self.terms.insert_full((term, leaf)).0 as u32
    }
}

impl Proof<'_, '_> {
    /// Whether the oracle says that the second tree may stand for the first one.
    pub(super) fn rewritten(&mut self, left: &Tree, right: &Tree, given: &Conjunction) -> bool {
        if self.asked.is_none() {
            return false;
        }
        let outer = self.left_of_question.replace(left.clone());
        let question = self.question(left, right, given);
        self.left_of_question = outer;
        let Some(question) = question else { return false };
        let question = [question];
        let open = self.asked.open(&question);
        self.asked.used(&question);
        if !open.is_empty() {
            let reason = self.asked.reason(&question[0]);
            if !reason.is_empty() {
                self.failure = None;
                self.fail(reason);
            }
        }
        open.is_empty()
    }

    fn question(&mut self, left: &Tree, right: &Tree, given: &Conjunction) -> Option<Question> {
        let mut builder = Builder::default();
        let mut known = FxHashMap::default();
        let l = self.asked_of(Side::Before, left, given, &mut builder, &mut known)?;
        let mut known = FxHashMap::default();
        let r = self.asked_of(Side::After, right, given, &mut builder, &mut known)?;
        let terms = builder.terms.into_iter().map(|(term, _)| term).collect();
        Some(Question { terms, left: l, right: r, nans: self.pool.sees_nans() })
    }

    fn asked_of(
        &mut self,
        side: Side,
        tree: &Tree,
        given: &Conjunction,
        builder: &mut Builder,
        known: &mut FxHashMap<ValueId, u32>,
    ) -> Option<u32> {
        let (value, access, point) = tree;
        if let Some(&term) = known.get(value) {
            return Some(term);
        }
        if builder.terms.len() > MAX_TERMS {
            return None;
        }
        let term = match self.pool.get(*value) {
            Value::Op(Operation { name, flags, from, ty, operands }) => {
                let operands = operands
                    .iter()
                    .map(|o| self.asked_of(side, &(*o, *access, point.clone()), given, builder, known))
                    .collect::<Option<Vec<u32>>>()?;
                let kind = TermKind::Op { name: name.clone(), flags: flags.clone(), from: from.clone(), operands };
                builder.add(Asked { ty: ty.clone(), kind }, 0)
            }
            Value::Constant(constant) => {
                let kind = TermKind::Constant(constant.number.clone());
                builder.add(Asked { ty: constant.ty.clone(), kind }, 0)
            }
            Value::Argument(position) => match builder.arguments.get(position) {
                Some(&term) => term,
                None => {
                    let ty = self.before.nest.arguments.get(*position as usize)?.clone();
                    let term = builder.leaf(&ty, true);
                    builder.arguments.insert(*position, term);
                    term
                }
            },
            Value::Index(affine) => {
                let affine = self.at(side, affine, *access, point);
                let same = builder.left_indices.iter().find(|(other, _)| self.decider.equal(given, other, &affine));
                match same {
                    Some((_, term)) => *term,
                    None => {
                        let term = builder.leaf("index", true);
                        builder.left_indices.push((affine, term));
                        term
                    }
                }
            }
            Value::Load(load) => self.asked_load(side, (*load, tree), given, builder)?,
            Value::Result(..) | Value::Array(_) => return None,
        };
        known.insert(*value, term);
        Some(term)
    }

    fn asked_load(
        &mut self,
        side: Side,
        (load, tree): (LoadId, &Tree),
        given: &Conjunction,
        builder: &mut Builder,
    ) -> Option<u32> {
        let program = self.program(side);
        let array = program.accesses[*program.loads.get(&load)?].array;
        let element = program.nest.array(array).element.clone();
        if side == Side::Before {
            // Those that are paired are stored or given values, and no others matter.
            let term = builder.leaf(&element, self.makes_no_poison());
            builder.left_loads.push((load, element, term));
            return (builder.left_loads.len() <= MAX_LOADS).then_some(term);
        }
        let candidates = builder.left_loads.clone();
        let (_, left_access, left_point) = self.left_of_question.clone()?;
        for (other, _, term) in candidates.into_iter().filter(|(_, ty, _)| *ty == element) {
            let value = self.left_value(other)?;
            let left = Term::Tree(value, left_access, left_point.clone());
            let right = Term::Tree(tree.0, tree.1, tree.2.clone());
            if self.silently(|proof| proof.goal(left, right, given, 1)) {
                return Some(term);
            }
        }
        let given = matches!(program.nest.array(array).kind, ArrayKind::Argument(_));
        let is_stored = program.stores.iter().any(|store| program.accesses[*store].array == array);
        Some(builder.leaf(&element, given && !is_stored))
    }

    /// Tries what may fail; a failure leaves nothing behind.
    pub(super) fn silently(&mut self, attempt: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = (self.used.clone(), self.open.clone(), self.failure.clone());
        let holds = attempt(self);
        if !holds {
            (self.used, self.open, self.failure) = before;
        }
        holds
    }

    fn left_value(&self, load: LoadId) -> Option<ValueId> {
        self.pool.find(&Value::Load(load))
    }

    /// Whether nothing that the first program stores is poison.
    fn makes_no_poison(&self) -> bool {
        no_poison(self, self.before)
    }
}

fn no_poison(proof: &Proof<'_, '_>, program: &Program) -> bool {
    let stored = program.stores.iter().filter_map(|n| super::stored_value(program, *n));
    proof.pool.reachable(stored).into_iter().all(|value| match proof.pool.get(value) {
        Value::Op(op) => {
            let amount = op.operands.last().and_then(|last| proof.pool.bits(*last));
            op.flags.is_empty() && is_never_poison(&op.name, &op.from, amount)
        }
        _ => true,
    })
}
