//! What can be asked about an encoded rule, and what an answer says of its variables.
//!
//! Every question has the rule's conditions in it. A claim that is plainly false is not asked.

use rewright_smt::{Asserted, Expr, Script, Sort};

/// Sides, conditions and what is to be shown of them.
pub(crate) struct Question {
    pub(super) script: Script,
    /// One per variable of the rule: its value, and its provenance if it has one.
    pub(super) vars: Vec<(Expr, Option<Expr>)>,
    /// The rule matches.
    pub(super) fires: Expr,
    /// The claim does not hold, for values that are not open.
    pub(super) wrong: Expr,
    /// The claim does not hold, if open bits are compared as they come.
    pub(super) differs: Expr,
    /// By side: it is open there.
    pub(super) open: [Expr; 2],
    /// By side: computing it traps.
    pub(super) traps: [Expr; 2],
    /// Something has no meaning, so that a counterexample does not count.
    pub(crate) uninterpreted: Option<String>,
    /// Lanes are told apart: a value that is run is the same in all.
    pub(crate) tells_lanes: bool,
}

/// What to ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    /// Is there a counterexample?
    Wrong,
    /// Can the rule match at all?
    Fires,
    /// Do the sides differ where open bits are compared as they come?
    Differs,
    /// So, although this side is not open.
    DiffersDespite(usize),
    /// Does the right side trap where the left does not?
    TrapsMore,
}

impl Question {
    /// The script that is satisfiable iff the answer is yes; `None` where it is plainly no.
    pub(crate) fn script(&mut self, ask: Ask) -> Option<Asserted> {
        let claim = self.claim(ask)?;
        Some(self.script.asserting(claim))
    }

    /// A few bits of the variables that a script declares, by whose values its question may be divided.
    pub(crate) fn part(&self, declared: &[String]) -> Option<Expr> {
        self.script.part(declared)
    }

    /// The script of those assignments at which a part has this value; `None` where the answer is plainly no.
    pub(crate) fn script_where(&mut self, ask: Ask, part: Expr, value: u128) -> Option<Asserted> {
        let claim = self.claim(ask)?;
        let s = &mut self.script;
        let value = s.bits(part.width(), value);
        let here = s.equal(part, value);
        let claim = s.and(&[here, claim]);
        Some(s.asserting(claim))
    }

    fn claim(&mut self, ask: Ask) -> Option<Expr> {
        let s = &mut self.script;
        let claim = match ask {
            Ask::Wrong => self.wrong,
            Ask::Fires => Expr::TRUE,
            Ask::Differs => self.differs,
            Ask::DiffersDespite(side) => {
                let closed = s.not(self.open[side]);
                s.and(&[self.differs, closed])
            }
            Ask::TrapsMore => {
                let not_left = s.not(self.traps[0]);
                s.and(&[self.traps[1], not_left])
            }
        };
        let claim = s.and(&[self.fires, claim]);
        (claim != Expr::FALSE).then_some(claim)
    }

    /// Can anything about the sides be open?
    pub(crate) fn may_be_open(&self) -> bool {
        self.open != [Expr::FALSE; 2]
    }

    /// The rule's variables, with their provenance, under an assignment to what a script declares: bits where it
    /// depends on them, and the bytes of a memory that it reads, by address.
    pub(crate) fn assignment(&self, declared: &[String], values: &[Option<u128>]) -> Vec<(Assigned, Option<Assigned>)> {
        let value = |name: &str| values[declared.iter().position(|d| d == name)?];
        let of = |var: Expr| {
            if var.sort() == Sort::Memory {
                let reads = self.script.reads().iter().filter(|read| read.memory == var);
                let byte = |e: Expr| value(self.script.name(e));
                return Assigned::Bytes(
                    reads.filter_map(|r| Some((byte(r.at)? as u64, byte(r.byte)? as u8))).collect(),
                );
            }
            let own = value(self.script.name(var));
            Assigned::Bits(own.or_else(|| self.script.lows_of(var).find_map(value)).unwrap_or(0))
        };
        self.vars.iter().map(|(var, provenance)| (of(*var), provenance.map(of))).collect()
    }
}

/// What a solver chose for a variable of a rule.
pub(crate) enum Assigned {
    /// A word, or what stands for one; 0 where any would do.
    Bits(u128),
    /// What memory holds.
    Bytes(Vec<(u64, u8)>),
}
