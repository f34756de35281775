//! Calls of functions that write and give a value: of which part of one a rule speaks.
//!
//! Behind `after` such a call is the state after it. Where its own state is written, as a call or as a state in which
//! another call stands too, the root of a rule is the whole call, state and value, and an operand the value that it gives
//! in that state. Where one side gives no value, the other one is the state after it. A right side that is a value alone is about the value that the root gives, and the call stays. Everywhere
//! else it is a statement at a place of its own.

use super::elab::Elab;
use super::nodes::{ExprContext, NodeId, NodeKind};
use super::report::Diag;
use super::rewritings::Shape;
use super::solve::IType;
use rewright_typeprop::OpId;
use rewright_typeprop::ops::Parts;
use std::rc::Rc;

impl Elab<'_> {
    /// A rule one of whose sides is a state is about the state after the other one, if that is a call.
    pub(super) fn root_as_state(&mut self, shape: &Shape) {
        if shape.patterns.len() > 1 {
            return;
        }
        for (side, other) in [(shape.patterns[0], shape.right), (shape.right, shape.patterns[0])] {
            if self.solver.shallow(&self.node(other).ty) != IType::State {
                continue;
            }
            self.resolve_waiting();
            if let Some((_, parts)) = self.divisible(side) {
                self.take_part(side, parts.state);
                self.nodes[side.0 as usize].ty = IType::State;
            }
        }
    }

    /// Says of each call which part it is. All calls are resolved. A rule that is plain leaves statements where they are.
    pub(super) fn divide(&mut self, shape: &Shape, is_plain: bool) {
        if self.failed || shape.patterns.len() > 1 {
            return;
        }
        let (root, right) = (shape.patterns[0], shape.right);
        let is_about_value = is_plain && self.is_about_value(shape);
        for id in self.calls() {
            let is_part = id == root && is_about_value || self.has_written_state(id);
            let Some((_, parts)) = self.divisible(id).filter(|_| is_part) else { continue };
            if id != root || is_about_value {
                self.take_part(id, parts.value);
            } else if let Some((other, theirs)) = self.divisible(right).filter(|_| self.own_state(right).is_some()) {
                self.same_region(shape, self.universe.ops.whole(parts.state), other);
                self.take_part(root, parts.state);
                self.take_part(right, theirs.state);
            } else {
                self.no_whole_call(shape);
            }
        }
        // A call that is written again on the right is the same as on the left.
        let lefts: Vec<NodeId> = self.calls().into_iter().filter(|id| self.stands_on(*id, ExprContext::Left)).collect();
        for id in self.calls() {
            let Some((whole, parts)) = self.divisible(id).filter(|_| id != right) else { continue };
            if !self.stands_on(id, ExprContext::Left) && lefts.iter().any(|left| self.is_value_of(*left, whole, id)) {
                self.take_part(id, parts.value);
            }
        }
    }

    /// Is a rule about the value of its root, a call in a state that it names, and not about the state after it? Then the
    /// right side is a value, and no call at a place of its own.
    fn is_about_value(&self, shape: &Shape) -> bool {
        let gives_statement = || match &self.node(shape.right).kind {
            NodeKind::Call(call) => call.chosen.as_ref().is_none_or(|(op, _)| self.universe.ops.get(*op).is_sited()),
            _ => false,
        };
        self.own_state(shape.patterns[0]).is_some() && !shape.both_ways && !gives_statement()
    }

    fn same_region(&mut self, shape: &Shape, left: OpId, right: OpId) {
        let [left, right] = [left, right].map(|op| self.universe.ops.get(op));
        let (ours, theirs) = (&left.effects.writes, &right.effects.writes);
        if ours != theirs {
            let message = format!("`{}` writes `{}`, its replacement `{}`", left.name, ours.join(""), theirs.join(""));
            let report = Diag::error("RW0309", shape.right_at, message, "another effect");
            self.report(report.also(shape.left_at, "the whole call, in a state that is written"));
        }
    }

    fn no_whole_call(&mut self, shape: &Shape) {
        let NodeKind::Call(call) = &self.node(shape.patterns[0]).kind else { return };
        let (name, op) = (call.name.clone(), self.called(shape.patterns[0]));
        let message = format!("`{name}` writes and gives a value, and this right side is only one of both");
        let report = Diag::error("RW0310", shape.right_at, message, "the value, or a call whose state is not written")
            .also(shape.left_at, "the whole call, in a state that is written")
            .help(format!(
                "write another such call with its state, `{name}(..) after s`; or a state alone, `s`, if the rule is not \
                 about the value; or a value alone, if it is not about the state"
            ));
        self.report(match op {
            Some(op) => report.also(self.op_spans[op.0 as usize], "declared here, with both"),
            None => report,
        });
    }

    /// The operation of a call at a site that has parts.
    fn divisible(&self, id: NodeId) -> Option<(OpId, Parts)> {
        let NodeKind::Call(call) = &self.node(id).kind else { return None };
        let (op, _) = call.chosen.as_ref()?;
        self.universe.ops.get(*op).parts.map(|parts| (*op, parts))
    }

    fn take_part(&mut self, id: NodeId, part: OpId) {
        if let NodeKind::Call(call) = &mut self.nodes[id.0 as usize].kind
            && let Some((op, _)) = &mut Rc::make_mut(call).chosen
        {
            *op = part;
        }
    }

    fn stands_on(&self, id: NodeId, side: ExprContext) -> bool {
        matches!(&self.node(id).kind, NodeKind::Call(call) if call.around.place == side)
    }

    /// The state that is written of this very call.
    fn own_state(&self, id: NodeId) -> Option<NodeId> {
        let NodeKind::Call(call) = &self.node(id).kind else { return None };
        call.around.state.filter(|state| !self.is_inherited(id, *state))
    }

    /// Does a call on the left stand in a state that is a call's, or that another one stands in?
    fn has_written_state(&self, id: NodeId) -> bool {
        let Some(state) = self.own_state(id).filter(|_| self.stands_on(id, ExprContext::Left)) else { return false };
        let is_shared = || {
            let others = self.calls().into_iter().filter(|other| *other != id && !self.same(id, *other));
            others.into_iter().any(|other| self.stands_in(other, |s| self.same(s, state)))
        };
        matches!(self.node(state).kind, NodeKind::Call(_)) || is_shared()
    }

    /// Is a call on the left the value of the same call in the same state?
    fn is_value_of(&self, left: NodeId, whole: OpId, id: NodeId) -> bool {
        let (NodeKind::Call(ours), NodeKind::Call(theirs)) = (&self.node(left).kind, &self.node(id).kind) else {
            return false;
        };
        let is_value = |op: OpId| self.universe.ops.get(whole).parts.is_some_and(|parts| parts.value == op);
        let same_state = || match (ours.around.state, theirs.around.state) {
            (Some(a), Some(b)) => self.same(a, b),
            _ => false,
        };
        ours.chosen.as_ref().is_some_and(|(op, _)| is_value(*op))
            && ours.args.len() == theirs.args.len()
            && ours.args.iter().zip(&theirs.args).all(|(a, b)| self.same(*a, *b))
            && same_state()
    }
}
