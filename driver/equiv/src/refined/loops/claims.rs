//! What a step of the induction claims, each claim with a variable that says whether an answer breaks it.

use super::super::refines::{Without, memories_refine};
use super::super::symexec::{Behaviour, Samples};
use super::NotModelled;
use super::invariants::Candidate;
use rewright_smt::{Expr, Script, Sort};

pub(super) struct Claims<'s> {
    pub(super) s: &'s mut Script,
    /// What says that variables are what they say.
    pub(super) flags: Vec<Expr>,
    pub(super) all: Vec<Expr>,
    /// The variables.
    pub(super) wanted: Vec<String>,
}

impl<'s> Claims<'s> {
    pub(super) fn new(s: &'s mut Script) -> Claims<'s> {
        Claims { s, flags: vec![], all: vec![], wanted: vec![] }
    }

    /// Claims something; the number of the variable that is set if it does not hold.
    pub(super) fn flagged(&mut self, holds: Expr) -> Option<usize> {
        if holds == Expr::TRUE {
            return None;
        }
        self.all.push(holds);
        let n = self.wanted.len();
        let flag = self.s.variable(&format!("claim {n} is broken"), Sort::Bool);
        let broken = self.s.not(holds);
        let equation = self.s.equal(flag, broken);
        self.flags.push(equation);
        self.wanted.push(self.s.name(flag).to_string());
        Some(n)
    }

    /// Something that is to hold only then.
    pub(super) fn when(&mut self, when: Expr, holds: Expr) -> Expr {
        let never = self.s.not(when);
        self.s.or(&[never, holds])
    }

    /// Both return, or both come to some cut.
    pub(super) fn both_end(&mut self, old: &Behaviour, new: &Behaviour) -> Expr {
        let [was, is] = [old, new].map(|one| {
            let reached: Vec<Expr> = one.arrived.iter().map(|arrived| arrived.reached).collect();
            self.s.or(&reached)
        });
        let (go_on, return_) = (self.s.equal(was, is), self.s.equal(old.returns, new.returns));
        self.s.and(&[go_on, return_])
    }

    /// Memory where a cut is reached, stack slots among it.
    pub(super) fn memory(&mut self, old: &Behaviour, new: &Behaviour) -> Expr {
        let reached: Vec<Expr> = new.arrived.iter().map(|arrived| arrived.reached).collect();
        let reached = self.s.or(&reached);
        let same = memories_refine(self.s, &old.memory, &new.memory, &Without::default());
        self.when(reached, same)
    }

    /// When a candidate holds of values that arrive: of the first version's, of the second one's.
    pub(super) fn holds(
        &mut self,
        candidate: &Candidate,
        values: [&[(usize, Samples)]; 2],
        number: usize,
    ) -> Result<Expr, NotModelled> {
        let get = |side: usize, number: usize| asked_for(values[side], number).ok_or("a value that is not there");
        let mut all = vec![];
        match candidate {
            Candidate::Fixed { side, .. } => {
                // Two uses of a value that is made of other choices hardly ever see the same.
                let [x, y] = get(*side, number)?;
                let same = (x.bits, x.poison, x.origin) == (y.bits, y.poison, y.origin);
                all.push(if same { Expr::TRUE } else { Expr::FALSE });
            }
            Candidate::Related { how, .. } => {
                for (was, is) in get(0, number)?.into_iter().zip(get(1, number)?) {
                    let (defined, holds) = (self.s.not(is.poison), how.holds(self.s, was, is));
                    let kept = self.s.and(&[defined, holds]);
                    all.push(self.s.or(&[was.poison, kept]));
                }
            }
            Candidate::Fact { side, relation, .. } => {
                for (left, right) in get(*side, number)?.into_iter().zip(get(*side, number + 1)?) {
                    let holds = self.s.apply(relation, &[left.bits, right.bits], Sort::Bool);
                    all.push(self.s.or(&[left.poison, right.poison, holds]));
                }
            }
        }
        Ok(self.s.and(&all))
    }
}

fn asked_for(values: &[(usize, Samples)], number: usize) -> Option<Samples> {
    values.iter().find(|(n, _)| *n == number).map(|(_, samples)| *samples)
}
