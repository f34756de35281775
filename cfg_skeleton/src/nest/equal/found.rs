//! What a proof found, as a certificate has it.

use super::super::access::{Program, own_point};
use super::super::certificate::{Cells, Fact, Flow, Piece, Relation, polynomials};
use super::super::predicate::Conjunction;
use super::super::writers::{self, Source};
use super::Proof;

/// What the cells of an argument hold at the end.
pub(super) struct Last {
    pub(super) position: u32,
    /// What holds of any cell.
    pub(super) given: Conjunction,
    pub(super) left: Vec<writers::Piece>,
    pub(super) right: Vec<writers::Piece>,
}

impl Proof<'_, '_> {
    pub(super) fn found(&self) -> Cells {
        let (before, after) = (self.flow(true, self.before), self.flow(false, self.after));
        Cells { before, after, relations: self.used.iter().map(|pair| self.relation(*pair)).collect(), touched: vec![] }
    }

    fn relation(&self, (a, b): (u32, u32)) -> Relation {
        let number = |program: &Program, store: u32| program.stores[store as usize] as u32;
        let relation = &self.relations[&(a, b)];
        let (at, only) = (polynomials(&relation.before), polynomials(&relation.only));
        Relation { before: number(self.before, a), after: number(self.after, b), at, only }
    }

    fn flow(&self, left: bool, program: &Program) -> Flow {
        let mut loads: Vec<(u32, Vec<Piece>)> = vec![];
        for (number, access) in program.accesses.iter().enumerate() {
            let super::super::access::Kind::Load(load) = access.kind else { continue };
            let Some(Some(pieces)) = self.known.get(&(left, load)) else { continue };
            let mut given = self.context.clone();
            given.extend(program.domain(access, &own_point(access)));
            loads.push((number as u32, pieces.iter().map(|p| piece(p, &given)).collect()));
        }
        let last = self.last.iter().map(|last| {
            let pieces = if left { &last.left } else { &last.right };
            (last.position, pieces.iter().map(|p| piece(p, &last.given)).collect())
        });
        Flow { loads, last: last.collect() }
    }
}

/// Without the facts that are given.
fn piece(piece: &writers::Piece, given: &Conjunction) -> Piece {
    let guard = piece.guard.iter().filter(|fact| !given.contains(fact)).map(Fact::from).collect();
    let source = match &piece.source {
        Source::Access(number, at) => Some((*number as u32, polynomials(at))),
        Source::Initial => None,
    };
    Piece { guard, source }
}
