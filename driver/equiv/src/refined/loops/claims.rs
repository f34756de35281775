//! What a step of the induction claims, each claim with a variable that says whether an answer breaks it.

use super::super::refines::{Without, memories_refine};
use super::super::symexec::{Arrived, Behaviour};
use super::NotModelled;
use super::candidate::{Candidate, fact, folded, multiple, within};
use rewright_smt::{Expr, Script, Sort};

pub(super) struct Claims<'s> {
    pub(super) s: &'s mut Script,
    /// What says that variables are what they say.
    pub(super) flags: Vec<Expr>,
    pub(super) all: Vec<Expr>,
    /// The variables.
    pub(super) wanted: Vec<String>,
    /// Is a value asked for to be one for all its uses, where the version may be undefined otherwise?
    settles: bool,
}

impl<'s> Claims<'s> {
    pub(super) fn new(s: &'s mut Script, settles: bool) -> Claims<'s> {
        Claims { s, flags: vec![], all: vec![], wanted: vec![], settles }
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
    pub(super) fn memory(&mut self, old: &Behaviour, new: &Behaviour) -> Result<Expr, NotModelled> {
        let reached: Vec<Expr> = new.arrived.iter().map(|arrived| arrived.reached).collect();
        let reached = self.s.or(&reached);
        let same = memories_refine(self.s, &old.memory, &new.memory, &Without::default())?;
        Ok(self.when(reached, same))
    }

    /// When a candidate holds of values that arrive: of the first version's, of the second one's.
    pub(super) fn holds(
        &mut self,
        candidate: &Candidate,
        arrived: [&Arrived; 2],
        who: usize,
    ) -> Result<Expr, NotModelled> {
        let get = |side: usize, part: usize| {
            let asked = arrived[side].values.iter().find(|(by, _)| *by == (who, part));
            asked.map(|(_, samples)| *samples).ok_or("a value that is not there")
        };
        if let Candidate::Read { side, reading } = candidate {
            let holds = arrived[*side].readings.iter().find(|(n, _)| n == reading);
            return Ok(holds.ok_or("a reading that is not there")?.1);
        }
        let (s, settles) = (&mut *self.s, self.settles);
        let mut all = vec![];
        for n in 0..2 {
            all.push(match candidate {
                Candidate::Fixed { side, .. } => {
                    let [x, y] = get(*side, 0)?;
                    let same = (x.bits, x.poison, x.origin) == (y.bits, y.poison, y.origin);
                    match same {
                        true => Expr::TRUE,
                        false if settles && arrived[*side].settled.contains(&(who, 0)) => {
                            let mut all = vec![s.equal(x.bits, y.bits), s.equal(x.poison, y.poison)];
                            all.extend(x.origin.zip(y.origin).map(|(x, y)| s.equal(x, y)));
                            s.and(&all)
                        }
                        // Two uses of a value that is made of other choices hardly ever see the same.
                        false => Expr::FALSE,
                    }
                }
                Candidate::Defined { .. } => s.not(get(0, 0)?[n].poison),
                Candidate::Related { how, more, .. } => {
                    let (was, is) = (get(0, 0)?[n], get(1, 0)?[n]);
                    let (defined, holds) = (s.not(is.poison), how.holds(s, was, is, *more));
                    let kept = s.and(&[defined, holds]);
                    s.or(&[was.poison, kept])
                }
                Candidate::Alike { .. } => s.equal(get(0, 0)?[n].poison, get(1, 0)?[n].poison),
                Candidate::Within { bounds, .. } => within(s, get(1, 0)?[n], *bounds),
                // It is asked where control arrives.
                Candidate::Read { .. } => Expr::FALSE,
                Candidate::Multiple { of, .. } => multiple(s, get(1, 0)?[n], *of),
                Candidate::Folded { by, new, .. } => {
                    let lanes = (0..new.len()).map(|part| Ok(get(1, part)?[n])).collect::<Result<Vec<_>, &str>>()?;
                    folded(s, by, get(0, 0)?[n], &lanes)
                }
                Candidate::Fact { .. } | Candidate::Distance { .. } => {
                    let value = |side: usize, part: usize| get(side, part).ok().map(|samples| samples[n]);
                    fact(s, candidate, value).ok_or("a value that is not there")?
                }
            });
        }
        Ok(s.and(&all))
    }
}
