//! What a run may choose, and what it does where it cannot try all of it.
//!
//! A run of the first version has to cover everything that this version may do: where there are too many choices it
//! loses track of a value ([`Lane::Unknown`]), and what may be undefined is. A run of the second version need only do
//! what this version really may do: where there are too many choices it tries some. So what no run of the first version
//! allows to any run of the second one is a difference, whatever was not tried.
//!
//! Choices are explored by running again: [`Chooser::next`] goes to the next sequence of choices.

use super::layout::LayoutError;
use super::value::{Atom, Doubt, Lane, deposit, ones};
use crate::not_modelled::NotModelled;

/// Which version runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RefinementSide {
    /// The first one: a run covers all that it may do.
    Before,
    /// The second one: a run does something that it may do.
    After,
}

/// Why a run goes no further.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// Its behaviour is undefined; on the first side, it may be.
    Undefined(String),
    /// It needs what is not modelled.
    Unsupported(String),
    /// It computes with a pointer as with a number, which is not modelled.
    PointerAsNumber,
    /// It does not return: a call does not, which others notice, or a loop goes on for ever.
    Ends,
}

impl From<NotModelled> for Stop {
    fn from(what: NotModelled) -> Stop {
        Stop::Unsupported(what.to_string())
    }
}

impl From<LayoutError> for Stop {
    fn from(error: LayoutError) -> Stop {
        Stop::Unsupported(error.to_string())
    }
}

/// The behaviour is undefined, for this reason.
pub(super) fn undefined<T>(reason: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Undefined(reason.into()))
}

/// Something is not modelled.
pub(super) fn unsupported<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Unsupported(what.into()))
}

/// What an operation gives for some values of its operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum OpResult {
    Is(Atom),
    /// Some NaN.
    Nan,
    /// This value is a right one, and others may be as well.
    Loose(Atom),
    /// It is not modelled which.
    Unclear(&'static str),
    /// An operand is a pointer where a number is needed.
    PointerAsNumber,
    /// The operation is undefined.
    Undefined(&'static str),
}

/// How many paths of the first version are covered, and of the second one tried.
const PATHS: [usize; 2] = [4096, 256];
/// How many values a choice may have to be made in all ways.
const CHOICES: [usize; 2] = [256, 16];
/// How many values a lane may have.
const VALUES: [usize; 2] = [1024, 64];
/// For how many values of its operands an operation is computed.
const COMBINATIONS: usize = 1 << 16;
/// How many instructions all runs of a version may take.
const STEPS: usize = 100_000;

/// Makes choices, and knows which were made.
pub(super) struct Chooser {
    pub(super) side: RefinementSide,
    /// What was chosen, of how many.
    path: Vec<(usize, usize)>,
    at: usize,
    paths: usize,
    steps: usize,
}

impl Chooser {
    pub(super) fn new(side: RefinementSide) -> Chooser {
        Chooser { side, path: vec![], at: 0, paths: 1, steps: 0 }
    }

    fn limit(&self, limits: [usize; 2]) -> usize {
        limits[usize::from(self.side == RefinementSide::After)]
    }

    /// One of `n` ways.
    pub(super) fn choose(&mut self, n: usize) -> usize {
        if self.at == self.path.len() {
            self.path.push((0, n));
        }
        let (chosen, _) = self.path[self.at];
        self.at += 1;
        chosen
    }

    /// How many choices this run has made.
    pub(super) fn choices(&self) -> usize {
        self.at
    }

    /// Goes to the next path; none is left, or too many are.
    pub(super) fn next(&mut self) -> Result<bool, NotModelled> {
        self.at = 0;
        while let Some((chosen, of)) = self.path.pop() {
            if chosen + 1 < of {
                self.path.push((chosen + 1, of));
                self.paths += 1;
                return match (self.paths > self.limit(PATHS), self.side) {
                    (true, RefinementSide::Before) => {
                        Err("the first version may choose among too many behaviours".into())
                    }
                    (over, _) => Ok(!over),
                };
            }
        }
        Ok(false)
    }

    /// How many instructions have run.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Counts an instruction.
    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > STEPS { unsupported("it takes too many steps") } else { Ok(()) }
    }

    /// Something that may be undefined, but need not be: the first version is, then; the second one goes on.
    pub(super) fn perhaps_undefined(&self, reason: &str) -> Result<(), Stop> {
        if self.side == RefinementSide::Before { undefined(reason) } else { Ok(()) }
    }

    /// Something is not modelled: the first version's value is lost, the second version cannot go on.
    pub(super) fn unclear(&self, what: &str, doubt: Doubt) -> Result<Lane, Stop> {
        if self.side == RefinementSide::Before { Ok(Lane::Unknown(doubt)) } else { unsupported(what) }
    }

    /// One fixed value of a lane. `width` is that of its bits, 0 for a pointer.
    pub(super) fn freeze(&mut self, lane: &Lane, width: u32) -> Result<Lane, Stop> {
        match lane {
            Lane::One(Atom::Poison) => self.any(width),
            Lane::One(_) | Lane::Nan => Ok(lane.clone()),
            Lane::Unknown(_) => Ok(Lane::Unknown(Doubt::Fixed)),
            Lane::Undef { .. } if width == 0 => self.any(width),
            Lane::Undef { bits, mask } => self.masked(*bits, *mask),
            Lane::Few(atoms) if atoms.contains(&Atom::Poison) => self.any(width),
            Lane::Few(atoms) => Ok(Lane::One(atoms[self.choose(atoms.len())])),
        }
    }

    /// Any value of a width, then fixed.
    fn any(&mut self, width: u32) -> Result<Lane, Stop> {
        match (width, self.side) {
            (0, RefinementSide::Before) => Ok(Lane::Unknown(Doubt::Fixed)),
            (0, RefinementSide::After) => Ok(Lane::pointer(super::value::Pointer::NULL)),
            _ => self.masked(0, ones(width)),
        }
    }

    fn masked(&mut self, bits: u128, mask: u128) -> Result<Lane, Stop> {
        let values = self.some(bits, mask, self.limit(CHOICES));
        Ok(match values {
            Some(values) => Lane::One(values[self.choose(values.len())]),
            None => Lane::Unknown(Doubt::Fixed),
        })
    }

    /// All values by a mask if they are at most `most`; else some on the second side, and none on the first.
    fn some(&self, bits: u128, mask: u128, most: usize) -> Option<Vec<Atom>> {
        Lane::Undef { bits, mask }.values(most).or_else(|| {
            let top = mask.checked_ilog2().map_or(0, |n| 1 << n);
            let low = [0, 1, 2, 5].map(|n| deposit(n, mask));
            let own = bits & mask;
            let others = [mask, top, mask & !top, mask & 0x5555_5555_5555_5555_5555_5555_5555_5555, own];
            let mut chosen: Vec<u128> = low.into_iter().chain(others).collect();
            chosen.sort_unstable();
            chosen.dedup();
            (self.side == RefinementSide::After)
                .then(|| chosen.into_iter().map(|c| Atom::Int(bits & !mask | c)).collect())
        })
    }

    /// Values of a lane, as [`Self::some`] gives them; pointers that are `undef` have none.
    fn values(&self, lane: &Lane, floats: bool) -> Option<Vec<Atom>> {
        match lane {
            Lane::One(atom) => Some(vec![*atom]),
            Lane::Undef { bits, mask } => self.some(*bits, *mask, self.limit(VALUES)),
            Lane::Few(atoms) => Some(atoms.clone()),
            // An operation that looks at floats as numbers sees no difference between NaNs.
            Lane::Nan if floats => Some(vec![Atom::Int(QUIET)]),
            Lane::Nan | Lane::Unknown(_) => None,
        }
    }

    /// An operation on scalars, for all values that its operands may have.
    pub(super) fn lift(
        &mut self,
        kind: Kind,
        operands: &[&Lane],
        f: &dyn Fn(&[Atom]) -> OpResult,
    ) -> Result<Lane, Stop> {
        let mut combinations = vec![vec![]];
        for lane in operands {
            let values = self.values(lane, kind.floats);
            let Some(values) = values.filter(|v| v.len() * combinations.len() <= COMBINATIONS) else {
                return self.lost(kind, operands, f);
            };
            combinations = combinations
                .iter()
                .flat_map(|others: &Vec<Atom>| {
                    values.iter().map(|value| others.iter().copied().chain([*value]).collect::<Vec<_>>())
                })
                .collect();
        }
        self.steps += combinations.len() / 4;
        self.step()?;
        let (mut found, mut lost) = (vec![], None);
        for atoms in &combinations {
            match f(atoms) {
                OpResult::Is(atom) => found.push(atom),
                OpResult::Undefined(reason) => return undefined(reason),
                OpResult::Loose(atom) if self.side == RefinementSide::After => found.push(atom),
                OpResult::Loose(_) => lost = Some(Doubt::Poison),
                OpResult::Nan if self.side == RefinementSide::After => found.push(Atom::Int(kind.nan)),
                OpResult::Nan if combinations.len() == 1 => return Ok(Lane::Nan),
                OpResult::Nan => lost = lost.max(Some(Doubt::Undef)),
                OpResult::Unclear(what) if self.side == RefinementSide::After => return unsupported(what),
                OpResult::PointerAsNumber if self.side == RefinementSide::After => return Err(Stop::PointerAsNumber),
                OpResult::Unclear(_) | OpResult::PointerAsNumber => lost = Some(Doubt::Poison),
            }
        }
        if let Some(doubt) = lost {
            return Ok(Lane::Unknown(doubt));
        }
        let lane = Lane::of(found, kind.width);
        match lane {
            Lane::Few(mut atoms) if atoms.len() > self.limit(VALUES) => {
                if self.side == RefinementSide::Before {
                    let poison = atoms.contains(&Atom::Poison);
                    return Ok(Lane::Unknown(if poison { Doubt::Poison } else { Doubt::Undef }));
                }
                atoms.truncate(self.limit(VALUES));
                Ok(Lane::Few(atoms))
            }
            lane => Ok(lane),
        }
    }

    /// The result of operands that cannot be enumerated.
    fn lost(&self, kind: Kind, operands: &[&Lane], f: &dyn Fn(&[Atom]) -> OpResult) -> Result<Lane, Stop> {
        if self.side == RefinementSide::After {
            return unsupported("an operation on too many values that are `undef`");
        }
        // Facts that do not depend on the operand that is lost may still be known: they are asked for by an operation that
        // is undefined for some values only.
        if kind.may_be_undefined {
            let known = |lane: &&Lane| matches!(lane, Lane::One(_));
            match operands {
                [_, divisor] if known(divisor) && is_safe_divisor(divisor, kind.width, f) => {}
                _ => return undefined("an operation that is undefined for some operands"),
            }
        }
        let doubt = operands.iter().map(|lane| lane.doubt()).max().unwrap_or(Doubt::Poison);
        Ok(Lane::Unknown(if kind.total { doubt } else { Doubt::Poison }))
    }
}

/// Is a division by this value defined for the dividends for which any is not?
fn is_safe_divisor(divisor: &Lane, width: u32, f: &dyn Fn(&[Atom]) -> OpResult) -> bool {
    let Lane::One(divisor) = divisor else { return false };
    [0, 1u128 << (width - 1)].iter().all(|n| !matches!(f(&[Atom::Int(*n), *divisor]), OpResult::Undefined(_)))
}

/// A quiet NaN of each width at once: only whether it is one is asked.
const QUIET: u128 = u128::MAX;

/// What kind of result an operation has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// Bits of the result; 0 for a pointer.
    pub(super) width: u32,
    /// It looks at its operands as floats.
    pub(super) floats: bool,
    /// Its result is never poison if no operand is.
    pub(super) total: bool,
    /// It is undefined for some operands: a division.
    pub(super) may_be_undefined: bool,
    /// The NaN that the second version chooses.
    pub(super) nan: u128,
}

impl Kind {
    /// Of an operation on integers or pointers that may give poison.
    pub(super) fn of_width(width: u32) -> Kind {
        Kind { width, floats: false, total: false, may_be_undefined: false, nan: 0 }
    }

    /// The same that gives no poison.
    pub(super) fn total(width: u32) -> Kind {
        Kind { total: true, ..Kind::of_width(width) }
    }
}
