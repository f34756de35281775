//! When the calls of a rule's sides are executed: in the order of the states that they stand in.
//!
//! A rule says nothing of how its states are related, unless one is what a write leaves of another. So states come in the
//! order in which the sides need them, operands first, as statements of a program would; and between two of them
//! anything may happen to memory, which the experiment does.

use crate::code::Built;
use rewright_dsl::program::{Rule, VarKind};
use rewright_typeprop::ops::OpTable;
use rewright_typeprop::{OpId, Term};

/// The states of a rule, in order.
pub(super) struct Timeline<'p> {
    ops: &'p OpTable,
    states: Vec<u32>,
}

/// When a call is executed, earliest first: in which state, after how many writes to it, and reads before the write.
type Time = (usize, usize, bool);

impl<'p> Timeline<'p> {
    /// Of the sides of a rule.
    pub(super) fn of<'t>(rule: &Rule, ops: &'p OpTable, sides: impl IntoIterator<Item = &'t Term>) -> Self {
        let mut timeline = Timeline { ops, states: vec![] };
        for part in sides.into_iter().flat_map(operands_first) {
            if let Term::Var(n) = part
                && matches!(rule.vars[*n as usize].kind, VarKind::State)
                && !timeline.states.contains(n)
            {
                timeline.states.push(*n);
            }
        }
        timeline
    }

    /// How many states there are.
    pub(super) fn states(&self) -> usize {
        self.states.len()
    }

    /// Its first state is the one in which the rule's variables are made.
    pub(super) fn is_first(&self, state: u32) -> bool {
        self.states.first().is_none_or(|first| *first == state)
    }

    /// The calls of terms that stand in a state, in the order in which they are executed, by state.
    pub(super) fn calls<'t>(&self, terms: &[&'t Term]) -> Built<Vec<Vec<&'t Term>>> {
        let mut placed: Vec<(Time, &Term)> = vec![];
        for part in terms.iter().flat_map(|term| operands_first(term)) {
            let Term::Call { op, state: Some(state), .. } = part else { continue };
            if placed.iter().any(|(_, earlier)| is_one_call(self.ops, earlier, part)) {
                continue;
            }
            let (position, writes) = self.position(state).ok_or("it speaks of a state that nothing stands in")?;
            placed.push(((position, writes, writes_memory(self.ops, *op)), part));
        }
        placed.sort_by_key(|(time, _)| *time);
        if let Some([(_, first), (_, second)]) =
            placed.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[0].0.2).map(|p| [p[0], p[1]])
        {
            let name = |term: &Term| match term {
                Term::Call { op, .. } => self.ops.get(*op).name.clone(),
                _ => String::new(),
            };
            return Err(format!("`{}` and `{}` change the same state", name(first), name(second)).into());
        }
        let mut calls = vec![vec![]; self.states.len()];
        placed.into_iter().for_each(|((position, ..), call)| calls[position].push(call));
        Ok(calls)
    }

    /// The state that a term is: which one of the rule's, and how many writes later.
    fn position(&self, state: &Term) -> Option<(usize, usize)> {
        match state {
            Term::Var(n) => Some((self.states.iter().position(|s| s == n)?, 0)),
            Term::Call { state: Some(before), .. } => {
                self.position(before).map(|(position, writes)| (position, writes + 1))
            }
            _ => None,
        }
    }
}

/// Does executing it change memory?
pub(super) fn writes_memory(ops: &OpTable, op: OpId) -> bool {
    !ops.get(ops.whole(op)).effects.writes.is_empty()
}

/// Are two terms what one call gives and leaves behind?
fn is_one_call(ops: &OpTable, one: &Term, other: &Term) -> bool {
    let (
        Term::Call { op: first, targs: first_types, args: first_args, state: first_state },
        Term::Call { op: second, targs, args, state },
    ) = (one, other)
    else {
        return false;
    };
    (ops.whole(*first), first_types, first_args, first_state) == (ops.whole(*second), targs, args, state)
}

/// A term and all below it, its parts before it.
fn operands_first(term: &Term) -> Vec<&Term> {
    let mut parts: Vec<&Term> = term.parts().flat_map(operands_first).collect();
    parts.push(term);
    parts
}
