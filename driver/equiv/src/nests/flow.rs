//! Which stores write what is read: what a certificate says of it, shown by the solver.
//!
//! The claims of a piece: where its facts hold, the access exists at that point, has the cell that is read, and comes
//! before the reading; and nothing writes the cell in between. The pieces of a reading cover all cases.

use super::accesses::{Access, Accesses, Place};
use super::claims::{Formula, Prover};
use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::certificate::{self, Fact, Instance, Polynomial};
use rewright_cfg_skeleton::nest::{Affine, ArrayId, Var};

/// Where contents come from while all facts hold.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) guard: Vec<Formula>,
    /// The number of an access, and its point; `None` for contents from before the call.
    pub(super) source: Option<(usize, Vec<Affine>)>,
}

/// What is read, and where.
pub(super) struct Reading<'a> {
    pub(super) array: ArrayId,
    pub(super) cell: &'a [Affine],
    pub(super) place: Place<'a>,
    /// What holds where it is read.
    pub(super) given: Vec<Formula>,
    /// The variables of which pieces speak.
    pub(super) vars: &'a [Var],
}

/// The variables of the access that may come between. No certificate may speak of them.
fn between(access: &Access) -> Vec<Affine> {
    (0..access.loops.len() as u32).map(|n| Affine::var(Var(u32::MAX - 0x1_0000 - n))).collect()
}

/// A polynomial over these variables.
pub(super) fn read(polynomial: &Polynomial, vars: &[Var]) -> Checked<Affine> {
    let affine = polynomial.read().filter(|affine| affine.vars().iter().all(|var| vars.contains(var)));
    affine.ok_or_else(|| Rejected::Step("a polynomial is none, or speaks of what is unknown there".into()))
}

/// A point of an access, over these variables.
pub(super) fn point((number, at): &Instance, of: &Accesses<'_>, vars: &[Var]) -> Checked<(usize, Vec<Affine>)> {
    if of.get(*number)?.loops.len() != at.len() {
        return Err(Rejected::Step(format!("access {number} is not in so many loops")));
    }
    Ok((*number as usize, at.iter().map(|p| read(p, vars)).collect::<Checked<_>>()?))
}

fn fact(fact: &Fact, vars: &[Var]) -> Checked<Formula> {
    Ok(match fact {
        Fact::Zero(p) => Formula::equal(&read(p, vars)?, &Affine::default()),
        Fact::NotNegative(p) => Formula::NotNegative(read(p, vars)?),
    })
}

/// The pieces of a reading, each of them shown.
pub(super) fn pieces(
    prover: &mut Prover,
    program: &Accesses<'_>,
    reading: &Reading<'_>,
    said: &[certificate::Piece],
) -> Checked<Vec<Piece>> {
    let read = |piece: &certificate::Piece| {
        let guard = piece.guard.iter().map(|f| fact(f, reading.vars)).collect::<Checked<_>>()?;
        let source = piece.source.as_ref().map(|source| point(source, program, reading.vars)).transpose()?;
        Ok(Piece { guard, source })
    };
    let pieces = said.iter().map(read).collect::<Checked<Vec<Piece>>>()?;
    let cases = pieces.iter().map(|piece| Formula::All(piece.guard.clone())).collect();
    prover.show("that what is said of a reading covers all cases", &reading.given, &Formula::Any(cases))?;
    for piece in &pieces {
        let given = [reading.given.clone(), piece.guard.clone()].concat();
        let source = match &piece.source {
            Some((number, at)) => Some((writes(prover, program, reading, (*number, at), &given)?, at.as_slice())),
            None => None,
        };
        for other in program.writers(reading.array) {
            let at = between(other);
            let mut facts = [given.clone(), program.executed(other, &at)].concat();
            if let Some(cell) = other.cell_at(&at) {
                facts.push(Formula::known_equal(&cell, reading.cell));
            }
            facts.extend(source.map(|(access, point)| access.precedes(point, Some((other, &at)))));
            facts.push(other.precedes(&at, reading.place));
            let what = format!("that line {} does not write in between", other.line);
            prover.show(&what, &facts, &Formula::FALSE)?;
        }
    }
    Ok(pieces)
}

/// The access, which is shown to write the cell before it is read.
fn writes<'a>(
    prover: &mut Prover,
    program: &'a Accesses<'_>,
    reading: &Reading<'_>,
    (number, at): (usize, &[Affine]),
    given: &[Formula],
) -> Checked<&'a Access> {
    let access = program.writers(reading.array).find(|access| std::ptr::eq(*access, &raw const program.all[number]));
    let access = access.ok_or_else(|| Rejected::Step(format!("access {number} does not write that array")))?;
    let mut claims = access.reached(at);
    if let Some(cell) = access.cell_at(at) {
        claims.push(Formula::all_equal(&cell, reading.cell));
    }
    claims.push(access.precedes(at, reading.place));
    let what = format!("that line {} writes what is read", access.line);
    prover.show(&what, given, &Formula::All(claims))?;
    Ok(access)
}
