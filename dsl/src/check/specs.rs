//! A `spec` must not lead back to itself.

use super::Checker;
use super::report::Diag;
use rewright_typeprop::{OpId, Term};

impl Checker<'_> {
    /// A meaning must not lead back to itself.
    pub(super) fn reject_cyclic_specs(&mut self) {
        let called = |part: &Term| if let Term::Call { op, .. } = part { Some(*op) } else { None };
        let ops = self.program.universe.ops.iter();
        let callees: Vec<Vec<OpId>> =
            ops.map(|(_, op)| op.spec.iter().flat_map(Term::subterms).filter_map(called).collect()).collect();
        for start in 0..callees.len() {
            let mut seen = vec![false; callees.len()];
            let mut todo = callees[start].clone();
            while let Some(op) = todo.pop() {
                if !std::mem::replace(&mut seen[op.0 as usize], true) {
                    todo.extend(&callees[op.0 as usize]);
                }
            }
            if seen[start] {
                let op = self.program.universe.ops.get_mut(OpId(start as u32));
                op.spec = None;
                let name = op.name.clone();
                let at = self.op_spans[start];
                self.report(
                    Diag::error("RW0314", at, format!("the `spec` of `{name}` leads back to itself"), "means itself")
                        .help("state its meaning in terms of simpler operations"),
                );
            }
        }
    }
}
