//! What counts, and what that is compared with: candidates for what holds of a version by itself, or of how far both have
//! to go.

use super::super::super::modules::Version;
use super::super::region::State;
use super::CutVersion;
use super::candidate::Candidate;
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;

/// Candidates about the operands of comparisons, for each version.
const MOST_FACTS: usize = 64;

/// Candidates about how far both have to go.
const MOST_DISTANCES: usize = 64;

/// Sums of sums are followed so far.
const MOST_SUMS: usize = 64;

/// What a version knows at a cut.
pub(super) struct Bounds<'a> {
    pub(super) cut: &'a CutVersion<'a>,
    pub(super) state: &'a State,
    pub(super) version: Version<'a>,
}

impl Bounds<'_> {
    fn is_base(&self, operand: &Operand) -> bool {
        self.state.bases.iter().any(|base| base.text == operand.text)
    }

    fn is_there(&self, operand: &Operand) -> bool {
        let is_computed = || self.state.computed.iter().any(|i| i.result.as_ref() == Some(&operand.text));
        let is_number = || operand.text.parse::<i128>().is_ok();
        let is_parameter = || self.version.definition.parameters.iter().any(|p| p.name == operand.text);
        self.is_base(operand) || is_computed() || is_number() || is_parameter()
    }

    /// What counts, in steps that do not change: others have no bounds that are worth asking for.
    pub(super) fn counts(&self, operand: &Operand) -> bool {
        let flow = &self.cut.flow;
        let Some((header, i @ Instruction { shape: Shape::Phi(values), .. })) = self.counter(&operand.text) else {
            return false;
        };
        let counter = i.result.as_deref().unwrap_or_default();
        let is_above = |term: &Operand| {
            flow.definition(&term.text).is_none_or(|(at, _)| at != header && flow.dominates(at, header))
        };
        let by_term = |value: &Operand| match flow.definition(&value.text) {
            Some((_, Instruction { opcode, shape: Shape::Plain(terms), .. })) => {
                ["add", "sub"].contains(&opcode.as_str())
                    && terms.iter().any(|term| term.text == counter)
                    && terms.iter().all(|term| term.text == counter || is_above(term))
            }
            _ => false,
        };
        let by_number = |value: &Operand| flow.sum(&value.text, counter).is_some_and(|step| step != 0);
        self.is_base(operand) && values.iter().any(|(value, _)| by_term(value) || by_number(value))
    }

    /// The phi that a value is, or that it will be in the next iteration.
    fn counter(&self, name: &str) -> Option<(usize, &Instruction)> {
        let flow = &self.cut.flow;
        let (at, i) = flow.definition(name)?;
        let next = |term: &String| {
            let (at, phi) = flow.definition(term)?;
            let Shape::Phi(values) = &phi.shape else { return None };
            values.iter().any(|(value, _)| value.text == name).then_some((at, phi))
        };
        match &i.shape {
            Shape::Phi(_) => Some((at, i)),
            _ => i.template.holes.iter().find_map(next),
        }
    }

    /// Of a phi that is not there any more, because it has been computed what it will be in the next iteration, that.
    fn next(&self, operand: &Operand) -> Option<Operand> {
        let (_, Instruction { shape: Shape::Phi(values), .. }) = self.cut.flow.definition(&operand.text)? else {
            return None;
        };
        values.iter().map(|(value, _)| value).find(|value| self.is_base(value)).cloned()
    }

    /// Of what is not there yet, because the iteration computes it from something that is, that.
    fn known(&self, operand: &Operand) -> Operand {
        let (mut known, mut left) = (operand.clone(), MOST_SUMS);
        // Code that nothing reaches may have sums of each other.
        while left > 0
            && !self.is_there(&known)
            && let Some((_, Instruction { opcode, shape: Shape::Plain(terms), .. })) =
                self.cut.flow.definition(&known.text)
            && opcode == "add"
        {
            let is_number = |term: &&Operand| term.text.parse::<i128>().is_ok();
            let next = terms.iter().find(|term| self.is_base(term)).or_else(|| {
                // It may be several steps further.
                terms.iter().any(|term| is_number(&term)).then(|| terms.iter().find(|term| !is_number(term)))?
            });
            match next {
                Some(next) => (known, left) = (next.clone(), left - 1),
                None => return operand.clone(),
            }
        }
        match self.is_there(&known) {
            true => known,
            false => self.next(&known).unwrap_or_else(|| operand.clone()),
        }
    }

    /// What is compared, one of them what counts.
    fn compared(&self) -> Vec<[Operand; 2]> {
        let mut found: Vec<[Operand; 2]> = vec![];
        for i in self.cut.flow.body.blocks.iter().flat_map(|block| &block.instructions) {
            let Shape::Plain(operands) = &i.shape else { continue };
            let ([left, right], true) = (operands.as_slice(), i.opcode.starts_with("icmp ")) else { continue };
            let pair = [left, right].map(|operand| self.known(operand));
            let [left, right] = &pair;
            if matches!(left.ty, Type::Int(2..))
                && self.is_there(left)
                && self.is_there(right)
                && (self.counts(left) || self.counts(right))
                && !found.contains(&pair)
            {
                found.push(pair);
            }
        }
        found
    }

    /// How values that the function compares may be related where it begins again.
    pub(super) fn facts(&self, side: usize) -> Vec<Candidate> {
        let counters = self.state.bases.iter().filter(|base| matches!(base.ty, Type::Int(2..)) && self.counts(base));
        let zero = |base: &Operand| Operand { ty: base.ty.clone(), text: "0".into() };
        let from_zero = counters.map(|base| ("bvsge", [base.clone(), zero(base)]));
        let relations = ["bvsle", "bvsge", "bvule", "bvuge", "bvslt", "bvsgt", "bvult", "bvugt"];
        let compared = self.compared().into_iter().flat_map(|pair| relations.map(|relation| (relation, pair.clone())));
        let mut found: Vec<Candidate> = vec![];
        for (relation, [left, right]) in from_zero.chain(compared) {
            let fact = Candidate::Fact { side, relation, left, right };
            if !found.contains(&fact) && found.len() < MOST_FACTS {
                found.push(fact);
            }
        }
        found
    }
}

/// How far both versions may have to go, by what they compare.
pub(super) fn distances(bounds: &[Bounds<'_>; 2]) -> Vec<Candidate> {
    let [was, is] = bounds.each_ref().map(Bounds::compared);
    let mut found = vec![];
    for old in &was {
        for new in is.iter().filter(|new| new[0].ty == old[0].ty) {
            let distance = |turned| Candidate::Distance { old: old.clone(), new: new.clone(), turned };
            found.extend([distance(false), distance(true)]);
        }
    }
    found.truncate(MOST_DISTANCES);
    found
}
