//! Which rules are behind the values of a function that goes out.
//!
//! A value is changed if the node that was chosen for it is no instruction of the original. Behind it are the rules
//! that matched in its class and whose right side may be that node; where none is, those that united the class with
//! another. A part of some rule's right side has a class of its own in which nothing matched: behind it are the rules
//! behind the nodes that use it.
//!
//! A statement without a result is changed if another operation is executed in its place, and a write if it is gone:
//! behind that are the rules that matched where the state after it was wanted.
//!
//! Not here: changes of branches and of what they lead to (rules of an earlier round decide those), what rules did
//! before something was inlined, and statements that `unsafe` rules leave out ([`super::Relaxed`]).

use super::causes::Causes;
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::egraph::{ClassId, Head, InputId};
use rewright_cfg_skeleton::elaborate::Made;
use rewright_cfg_skeleton::ir::{Function, Inst, InstId, InstKind, Value};
use rewright_cfg_skeleton::skeleton::{Statement, StatementKind};
use rewright_dsl::program::{Conclusion, Program, RuleId};
use rewright_typeprop::{OpId, Term};
use std::collections::{BTreeMap, BTreeSet};

/// A value of the original that something else has the place of, or a value that is new.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// What there is now.
    pub now: Now,
    /// The front end's numbers of the instructions that computed it and are gone.
    pub was: Vec<u32>,
    /// The lines of the input that they stand in, where our own text was read and they were not inlined.
    pub lines: Vec<u32>,
    /// The rules behind it.
    pub rules: Vec<RuleId>,
}

/// What has the place of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Now {
    /// A value of the function that goes out.
    Value(Value),
    /// A constant, in canonical form.
    Constant(i64),
    /// Another statement of the function that goes out, in place of this operation.
    Statement(InstId, OpId),
    /// Nothing: this write is not executed.
    Nothing(OpId),
}

/// What the changes of one function are told from.
pub(super) struct Change<'a> {
    pub(super) program: &'a Program,
    /// What was selected from: the function before the last selection, classes split by type if they were.
    pub(super) given: Saturated<'a>,
    /// By value of the new function.
    pub(super) made: &'a [Option<Made>],
    pub(super) function: &'a Function,
}

impl Change<'_> {
    /// All changed values: those of the new function in order, then what has become a constant or a parameter.
    pub(super) fn all(&self) -> Vec<Changed> {
        let causes = Causes::new(self.program, self.given.view);
        let insts = || self.function.layout.iter().flat_map(|b| &self.function.block(*b).insts);
        let values: Vec<(Value, Made)> = insts().filter_map(|id| self.told(self.function.inst(*id))).collect();
        // Instructions that compute the same have one input.
        let input = |value: Value| self.given.skeleton.value_input[value.index()];
        let kept: BTreeSet<InputId> = values.iter().filter_map(|(_, made)| input(made.original?)).collect();
        let mut gone: BTreeMap<ClassId, Vec<u32>> = BTreeMap::new();
        for inst in self.given.function.layout.iter().flat_map(|b| &self.given.function.block(*b).insts) {
            let inst = self.given.function.inst(*inst);
            let (InstKind::Op { .. }, [result, ..]) = (&inst.kind, &inst.results[..]) else { continue };
            if let Some(input) = input(*result).filter(|input| !kept.contains(input)) {
                gone.entry(self.given.view.whole(self.given.view.class_of(input))).or_default().extend(inst.origin);
            }
        }
        let mut found: BTreeMap<Value, Changed> = BTreeMap::new();
        for (value, made) in values.iter().filter(|(_, made)| made.original.is_none()) {
            let class = self.class_of(*made);
            let was = gone.remove(&class).unwrap_or_default();
            let rules = made.node.map_or(vec![], |node| causes.of(class, Some(node)));
            found.insert(*value, Changed { now: Now::Value(*value), was, lines: vec![], rules });
        }
        self.inherit(&causes, &mut found);
        let mut all: Vec<Changed> = values.iter().filter_map(|(value, _)| found.remove(value)).collect();
        let entry = &self.function.block(self.function.entry()).params;
        let stays = entry.iter().filter_map(|value| Some((*value, self.made.get(value.index()).copied()??)));
        let by_class: BTreeMap<ClassId, Value> =
            values.iter().copied().chain(stays).map(|(value, made)| (self.class_of(made), value)).collect();
        for (class, was) in gone.into_iter().filter(|(_, was)| !was.is_empty()) {
            let constant = self.given.view.class(class).constant.map(Now::Constant);
            if let Some(now) = constant.or_else(|| by_class.get(&class).copied().map(Now::Value)) {
                all.push(Changed { now, was, lines: vec![], rules: causes.of(class, None) });
            }
        }
        all.extend(self.statements(&causes));
        all.retain(|changed| !changed.rules.is_empty());
        all
    }

    /// Statements without results that others have the place of, and writes that are gone.
    fn statements(&self, causes: &Causes<'_>) -> Vec<Changed> {
        let laid_out = self.function.layout.iter().flat_map(|block| &self.function.block(*block).insts);
        let by_origin: BTreeMap<u32, InstId> =
            laid_out.filter_map(|id| Some((self.function.inst(*id).origin?, *id))).collect();
        let Saturated { function, skeleton, view, .. } = self.given;
        let is_licensed = |site: &InputId| view.removable.iter().any(|row| row.site == view.class_of(*site));
        let one = |statement: &Statement| {
            let original = function.inst(statement.inst);
            let (InstKind::Op { op, .. }, Some(origin)) = (&original.kind, original.origin) else { return None };
            let (now, rules) = match (&statement.kind, by_origin.get(&origin)) {
                (StatementKind::Call { after: Some(after), site, .. }, None) if !is_licensed(site) => {
                    (Now::Nothing(*op), self.behind_unwanted(causes, *op, view.class_of(after.out)))
                }
                // Changes of results have been reported.
                _ if !original.results.is_empty() => return None,
                (StatementKind::Call { node, .. } | StatementKind::Write { out: node, .. }, Some(id)) => {
                    let InstKind::Op { op: executed, .. } = &self.function.inst(*id).kind else { return None };
                    let class = view.whole(view.class_of(*node));
                    (executed != op).then(|| (Now::Statement(*id, *op), causes.made(class, Head::Op(*executed))))?
                }
                (StatementKind::Write { out, .. }, None) => {
                    (Now::Nothing(*op), self.behind_unwanted(causes, *op, view.class_of(*out)))
                }
                _ => return None,
            };
            Some(Changed { now, was: vec![origin], lines: vec![], rules })
        };
        skeleton.statements.iter().filter_map(one).collect()
    }

    /// The rules behind a write that is not executed: those about such a write that say of the state after it that it is
    /// another one, or is left by something that is executed; where there are none, those that matched where that state is
    /// an operand.
    fn behind_unwanted(&self, causes: &Causes<'_>, written: OpId, state: ClassId) -> Vec<RuleId> {
        let view = self.given.view;
        let ops = &self.program.universe.ops;
        let insts = || self.function.layout.iter().flat_map(|block| &self.function.block(*block).insts);
        let is_executed = |wanted: OpId| {
            let mut executed = insts().map(|id| &self.function.inst(*id).kind);
            executed.any(|kind| matches!(kind, InstKind::Op { op, .. } if ops.whole(*op) == ops.whole(wanted)))
        };
        let about_it = |rule: &RuleId| {
            let rule = self.program.rule(*rule);
            let leaves = match &rule.right {
                Conclusion::Equal(Term::Call { op, .. }) => is_executed(*op),
                _ => true,
            };
            let left = rule.left.first();
            leaves && matches!(left, Some(Term::Call { op, .. }) if ops.whole(*op) == ops.whole(written))
        };
        let same: Vec<RuleId> = causes.all(state).iter().copied().filter(about_it).collect();
        if !same.is_empty() {
            return same;
        }
        let wanted = view.nodes.iter().zip(&view.node_class).filter(|(node, _)| node.children.contains(&state));
        let mut rules: Vec<RuleId> = wanted.flat_map(|(_, class)| causes.of(*class, None)).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// Values of the new function that the old one has, too: parameters of blocks, and what the same node computes.
    pub(super) fn originals(&self) -> BTreeMap<Value, Value> {
        let numbered = self.made.iter().enumerate();
        numbered.filter_map(|(value, made)| Some((Value(value as u32), (*made)?.original?))).collect()
    }

    /// The class of a value. An operation that is executed at a site has one of its own, in which nothing matches:
    /// rules match in that of the chosen node.
    fn class_of(&self, made: Made) -> ClassId {
        let view = self.given.view;
        let is_of_view = made.class.index() < view.classes.len();
        let class = made.node.filter(|_| !is_of_view).map_or(made.class, |node| view.node_class[node.index()]);
        view.whole(class)
    }

    /// A value that an operation computes, with what it is.
    fn told(&self, inst: &Inst) -> Option<(Value, Made)> {
        let (InstKind::Op { .. }, Some(value)) = (&inst.kind, inst.results.first()) else { return None };
        Some((*value, self.made.get(value.index()).copied()??))
    }

    /// A value without rules of its own has those of its users, which come after it.
    fn inherit(&self, causes: &Causes<'_>, found: &mut BTreeMap<Value, Changed>) {
        for block in self.function.layout.iter().rev() {
            for inst in self.function.block(*block).insts.iter().rev().map(|id| self.function.inst(*id)) {
                let Some(rules) = inst.results.first().and_then(|v| found.get(v)).map(|user| user.rules.clone()) else {
                    continue;
                };
                for arg in &inst.args {
                    if let Some(part) = found.get_mut(arg).filter(|part| self.is_part(causes, part)) {
                        part.rules.extend(&rules);
                        part.rules.sort_unstable();
                        part.rules.dedup();
                    }
                }
            }
        }
    }

    /// Has nothing matched in the class of a value?
    fn is_part(&self, causes: &Causes<'_>, changed: &Changed) -> bool {
        let Now::Value(value) = changed.now else { return false };
        self.made[value.index()].is_none_or(|made| causes.are_none(self.class_of(made)))
    }
}
