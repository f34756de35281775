//! When two checks are the same check, and what an operation needs to be computed without its own.
//!
//! Checks with equal [`CheckIdentity`]s trap on the same inputs. A node of an operation that may trap needs, for each
//! of its declared conditions, the key of that condition; a memory access needs its address' key. Condition classes are
//! *found* in the view, never made: a condition that no node states, and that does not evaluate, licenses nothing.

use super::terms::{Classes, TermValue, find};
use crate::addresses::base;
use crate::egraph::{ClassId, EGraphView, Head, InputId, Node, NodeId};
use crate::skeleton::{CheckKey, Skeleton, Statement, StatementKind};
use indexmap::IndexSet;
use rewright_typeprop::{OpId, Repr, Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What a check checks, up to the view's equalities.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CheckIdentity {
    /// Traps iff the class is not zero; the class of its truth where there is one.
    Condition(ClassId),
    /// Traps iff this many bits at an address and an offset from it cannot be accessed; the address is no sum with a
    /// constant.
    Access(ClassId, i64, u32),
    /// Traps iff the operation does, on these operands.
    Operation(OpId, SmallVec<[Ty; 2]>, SmallVec<[ClassId; 3]>),
}

/// A [`CheckIdentity`], interned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct CheckIdentityId(pub(crate) u32);

/// What a node needs to be computed where the program did not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Speculation {
    /// Nothing.
    Always,
    /// All of these keys are known not to trap there.
    IfChecked(SmallVec<[CheckIdentityId; 2]>),
    /// It is never computed but as a statement.
    Never,
}

/// All keys of one unit.
pub(crate) struct CheckIdentities<'a> {
    view: &'a EGraphView,
    universe: &'a Universe,
    keys: IndexSet<CheckIdentity>,
    classes: Classes<'a>,
    /// By class of integers: the class of its truth, where some node says it.
    truths: FxHashMap<ClassId, ClassId>,
    movable: Vec<bool>,
}

impl<'a> CheckIdentities<'a> {
    pub(crate) fn new(skeleton: &Skeleton, view: &'a EGraphView, universe: &'a Universe) -> Self {
        let truths = crate::skeleton::truths(view, universe);
        let classes = Classes::new(view);
        let mut keys = CheckIdentities { view, universe, keys: IndexSet::new(), classes, truths, movable: vec![] };
        for input in &skeleton.movable {
            let node = keys.in_view(skeleton, *input);
            if let Some(key) = keys.operation(&node) {
                let id = keys.intern(key);
                keys.movable.resize(keys.keys.len(), false);
                keys.movable[id.0 as usize] = true;
            }
        }
        keys
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// All keys.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&CheckIdentity, CheckIdentityId)> {
        self.keys.iter().zip((0..).map(CheckIdentityId))
    }

    /// By key: is it about an access?
    pub(crate) fn accesses(&self) -> Vec<bool> {
        let is_access = |key: &CheckIdentity| match key {
            CheckIdentity::Condition(_) => false,
            CheckIdentity::Access(..) => true,
            CheckIdentity::Operation(op, ..) => self.universe.ops.get(*op).is_access(),
        };
        self.keys.iter().map(is_access).collect()
    }

    fn intern(&mut self, key: CheckIdentity) -> CheckIdentityId {
        CheckIdentityId(self.keys.insert_full(key).0 as u32)
    }

    /// An original node with its operands' classes.
    pub(crate) fn in_view(&self, skeleton: &Skeleton, input: InputId) -> Node<ClassId> {
        let node = &skeleton.input.nodes[input.index()];
        let children = node.children.iter().map(|c| self.view.class_of(*c)).collect();
        Node { head: node.head, types: node.types.clone(), children }
    }

    /// The key and trap code of a statement's check, if it makes one.
    pub(crate) fn of_statement(
        &mut self,
        skeleton: &Skeleton,
        statement: &Statement,
    ) -> Option<(CheckIdentityId, Option<u32>)> {
        match &statement.kind {
            StatementKind::Opaque { .. } | StatementKind::Call { .. } => None,
            StatementKind::Check { key: CheckKey::Condition { condition, code, .. }, .. } => {
                let key = self.condition(self.view.class_of(*condition));
                Some((self.intern(key), Some(*code)))
            }
            StatementKind::Check { key: CheckKey::Operation { code }, value, .. } => {
                let node = self.in_view(skeleton, (*value)?);
                let key = self.operation(&node)?;
                Some((self.intern(key), *code))
            }
            StatementKind::Write { out, trap, key, .. } => {
                let node = self.in_view(skeleton, *out);
                let key = self.operation(&node).unwrap_or_else(|| {
                    let Head::Op(op) = node.head else { return CheckIdentity::Condition(self.view.class_of(*out)) };
                    CheckIdentity::Operation(
                        op,
                        node.types.clone(),
                        key.iter().map(|k| self.view.class_of(*k)).collect(),
                    )
                });
                Some((self.intern(key), *trap))
            }
        }
    }

    /// The key of "it is not zero". Classes with one truth have one key.
    fn condition(&self, class: ClassId) -> CheckIdentity {
        CheckIdentity::Condition(self.truths.get(&class).copied().unwrap_or(class))
    }

    /// The key under which executing a node tells whether it traps.
    pub(crate) fn operation(&self, node: &Node<ClassId>) -> Option<CheckIdentity> {
        let Head::Op(id) = node.head else { return None };
        let op = self.universe.ops.get(id);
        let operands = &node.children[..node.children.len().saturating_sub(usize::from(op.takes_state()))];
        if let Some(access) = op.model.and_then(|m| m.memory()) {
            let bits = match access.bits {
                Some(bits) => Some(bits),
                None => node.types.first().and_then(|ty| self.universe.types.repr(*ty)).map(Repr::total_bits),
            };
            match (access.store, operands, bits) {
                (true, [address, _, offset], Some(bits)) | (false, [address, offset], Some(bits)) => {
                    let offset = self.view.class(*offset).constant?;
                    let (base, offset) = base(self.view, self.universe, *address, offset);
                    return Some(CheckIdentity::Access(base, offset, bits));
                }
                _ => {}
            }
        }
        Some(CheckIdentity::Operation(id, node.types.clone(), SmallVec::from_slice(operands)))
    }

    /// What a node needs.
    pub(crate) fn speculation(&mut self, id: NodeId) -> Speculation {
        let view = self.view;
        let node = view.node(id);
        let Head::Op(op) = node.head else { return Speculation::Always };
        let universe = self.universe;
        let op = universe.ops.get(op);
        if !op.effects.traps {
            return Speculation::Always;
        }
        let Some(own) = self.operation(node) else { return Speculation::Never };
        let own = self.intern(own);
        if self.movable.get(own.0 as usize) == Some(&true) {
            return Speculation::Always;
        }
        let operands = &node.children[..node.children.len().saturating_sub(usize::from(op.takes_state()))];
        let mut needed: SmallVec<[CheckIdentityId; 2]> = SmallVec::new();
        for check in &op.checks {
            let found = check.condition.as_ref().map(|c| find(universe, &self.classes, c, &node.types, operands));
            let key = match found {
                None | Some(None) => own,
                Some(Some(TermValue::Constant(0))) => continue,
                Some(Some(TermValue::Constant(_))) => return Speculation::Never,
                Some(Some(TermValue::Value(class))) => {
                    let key = self.condition(class);
                    self.intern(key)
                }
            };
            if !needed.contains(&key) {
                needed.push(key);
            }
        }
        if needed.is_empty() && op.checks.is_empty() {
            needed.push(own);
        }
        if needed.is_empty() { Speculation::Always } else { Speculation::IfChecked(needed) }
    }
}
