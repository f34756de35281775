//! `llvm.assume`: a condition, and in bundles what is said of values: `[ "align"(ptr %p, i64 8) ]`.

use super::super::facts;
use super::{AccessKind, SymbolicExecutor, Terms, Value};
use crate::literals;
use rewright_llvm::body::{Instruction, Operand};
use rewright_llvm::types::Type;

impl SymbolicExecutor<'_> {
    /// It is undefined where something that is assumed does not hold.
    pub(super) fn assume(&mut self, i: &Instruction, args: &[Operand], bundles: bool, at: usize) -> Terms<()> {
        let [condition] = args else { return Err("`llvm.assume`".into()) };
        let holds = self.decides(condition, at)?;
        let some = self.s.nonzero(holds);
        let fails = self.s.not(some);
        self.undefined(at, fails);
        if !bundles {
            return Ok(());
        }
        let text = i.template.fill(&i.template.holes);
        let Some((_, list)) = text.split_once('[') else { return Err("operand bundles".into()) };
        for bundle in literals::separated(list.trim_end().trim_end_matches(']')) {
            let said = self.bundle(bundle, at)?;
            // Assumptions of the first version may be left out.
            if !said && !self.choosing.is_first() {
                return Err(format!("the assumption {bundle}").into());
            }
        }
        Ok(())
    }

    /// What is said of values by `"align"(ptr %p, i64 8)`; is that known?
    fn bundle(&mut self, text: &str, at: usize) -> Terms<bool> {
        let Some((name, operands)) = text.trim_end_matches(')').split_once('(') else { return Ok(false) };
        let mut all = vec![];
        for operand in literals::separated(operands) {
            let (ty, text) = literals::typed(operand)?;
            all.push(Operand { ty, text: text.to_string() });
        }
        let number = |n: usize| all.get(n).and_then(|operand| operand.text.parse::<u64>().ok());
        let Some(of) = all.first() else { return Ok(name.trim_matches('"') == "ignore") };
        match (name.trim().trim_matches('"'), all.len()) {
            ("ignore" | "cold", _) => Ok(true),
            ("noundef", 1) if self.scalars(&of.ty)?.len() == 1 => {
                let Value { poison, .. } = self.settled(of, at)?;
                self.undefined(at, poison);
                Ok(true)
            }
            ("nonnull", 1) if of.ty == Type::Ptr => {
                let Value { bits, poison, .. } = self.settled(of, at)?;
                let broken = facts::broken(self.s, &["nonnull".to_string()], bits);
                let bad = self.s.or(&[poison, broken]);
                self.undefined(at, bad);
                Ok(true)
            }
            ("align", 2) if of.ty == Type::Ptr && number(1).is_some_and(u64::is_power_of_two) => {
                let Value { bits, poison, .. } = self.settled(of, at)?;
                let broken = facts::misaligned(self.s, bits, number(1).unwrap_or(1));
                let bad = self.s.or(&[poison, broken]);
                self.undefined(at, bad);
                Ok(true)
            }
            ("dereferenceable", 2) if of.ty == Type::Ptr && number(1).is_some() => {
                let pointer = self.settled(of, at)?;
                self.accessed(pointer, (number(1).unwrap_or(0), 1), at, AccessKind::Promised, vec![])?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
