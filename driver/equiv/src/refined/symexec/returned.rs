//! What a version gives, and what is said of results.

use super::super::super::annotations::has;
use super::super::facts;
use super::{SymbolicExecutor, Terms, Whole, pairs};
use rewright_llvm::body::{Instruction, Operand};
use rewright_smt::Expr;

impl SymbolicExecutor<'_> {
    /// It is undefined where a result is poison or `undef` that is said to be neither.
    pub(super) fn gives_no_undef(&mut self, i: &Instruction, at: usize) -> Terms<()> {
        match (self.scalars(&i.ty)?.len(), &i.result) {
            (1, Some(name)) => {
                let result = Operand { ty: i.ty.clone(), text: name.clone() };
                self.decides(&result, at).map(drop)
            }
            // Of what has several lanes the first version may say so in vain.
            _ if self.choosing.is_first() => Ok(()),
            _ => Err(format!("`{}` that gives `noundef` lanes", i.opcode).into()),
        }
    }

    pub(super) fn returns(&mut self, value: Option<&Operand>, at: usize) -> Terms<()> {
        self.returns.push(self.reached[at]);
        if has(&self.version.definition.attributes, "noreturn") {
            self.undefined(at, Expr::TRUE);
        }
        let Some(value) = value else { return Ok(()) };
        let mut samples = self.samples(value, "returned")?;
        let said = &self.version.definition.before;
        for lane in samples.iter_mut().flatten() {
            let broken = facts::broken(self.s, said, lane.bits);
            lane.poison = self.s.or(&[lane.poison, broken]);
        }
        if said.iter().any(|word| word == "noundef") {
            for lane in pairs(&samples) {
                let differ = self.differ(&lane);
                let bad = self.s.or(&[lane[0].poison, lane[1].poison, differ]);
                self.undefined(at, bad);
            }
        }
        self.returned_parameter(&samples, at);
        let here = self.reached[at];
        self.returned = Some(match self.returned.take() {
            None => samples,
            Some([first, second]) => {
                [self.choose_lanes(here, &samples[0], &first), self.choose_lanes(here, &samples[1], &second)]
            }
        });
        Ok(())
    }

    /// The second version may say that it gives what it was given.
    fn returned_parameter(&mut self, samples: &Whole, at: usize) {
        let (definition, given) = (self.version.definition, self.given);
        for (parameter, leaves) in definition.parameters.iter().zip(&given.parameters) {
            if self.choosing.is_first() || !has(&parameter.attributes, "returned") {
                continue;
            }
            for (lane, leaf) in samples.iter().flat_map(|sample| sample.iter().zip(leaves)) {
                let (same, defined) = (self.s.equal(lane.bits, leaf.value.bits), self.s.not(lane.poison));
                let other = self.s.not(same);
                let broken = self.s.and(&[defined, other]);
                self.undefined(at, broken);
            }
        }
    }
}
