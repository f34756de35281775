//! What may hold of the values of both versions at a pair of cuts: candidates.

use super::super::super::modules::Version;
use super::super::flow::Flow;
use super::CutVersion;
use super::bounds::{Bounds, distances};
use super::candidate::Candidate;
use super::lockstep::Pairs;
use super::scalarised;
use crate::conversion::How;
use crate::literals::{self, Literal};
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;

/// Candidates at a pair of cuts.
pub(super) const MOST_CANDIDATES: usize = 5_000;

/// Candidates that have not failed.
#[derive(Clone)]
pub(super) struct Invariant {
    /// By number; `None` where it has failed.
    all: Vec<Option<Candidate>>,
}

impl Invariant {
    /// What is worth trying where versions go in lockstep: that bases are the same which are paired, and within bounds that
    /// what computes them says.
    pub(super) fn paired(cut: [&CutVersion<'_>; 2], at: (usize, usize), pairs: &Pairs) -> Invariant {
        let [old, new] = [(0, at.0), (1, at.1)].map(|(side, n)| &cut[side].cuts[n].state.bases);
        let mut all = fixed([old, new]);
        for (old, new) in partners([old, new], pairs) {
            all.push(Candidate::Related { old, new, how: How::Same, more: 0 });
            all.push(Candidate::Alike { old, new });
        }
        let within =
            |(new, base): (usize, &Operand)| Some(Candidate::Within { new, bounds: cut[1].bounds(&base.text)? });
        all.extend(new.iter().enumerate().filter_map(within));
        all.extend(read(cut, at));
        all.truncate(MOST_CANDIDATES);
        Invariant { all: all.into_iter().map(Some).collect() }
    }

    /// What else is worth trying there: how bases without a partner may come from each other, and counters compare with
    /// what they are compared with.
    pub(super) fn counted(
        cut: [&CutVersion<'_>; 2],
        versions: [Version<'_>; 2],
        at: (usize, usize),
        pairs: &Pairs,
    ) -> Vec<Candidate> {
        let states = [(0, at.0), (1, at.1)].map(|(side, n)| &cut[side].cuts[n].state);
        let bases = states.map(|state| &state.bases);
        let partners = partners(bases, pairs);
        let is_open = |(old, _): &(usize, &Operand)| partners.iter().all(|pair| pair.0 != *old);
        let is_new_open = |(new, _): &(usize, &Operand)| partners.iter().all(|pair| pair.1 != *new);
        let mut all = vec![];
        for (old, was) in bases[0].iter().enumerate().filter(is_open) {
            if matches!(was.ty, Type::Int(2..)) {
                all.push(Candidate::Defined { old });
            }
            let others = bases[1].iter().enumerate().filter(is_new_open);
            all.extend(others.flat_map(|new| related(cut, (old, was), new)));
        }
        let bounds = [0, 1].map(|side| Bounds { cut: cut[side], state: states[side], version: versions[side] });
        all.extend(bounds.iter().enumerate().flat_map(|(side, bounds)| bounds.facts(side)));
        all.extend(distances(&bounds));
        all
    }

    /// Adds candidates, as far as there is room.
    pub(super) fn add(&mut self, more: Vec<Candidate>) {
        self.all.extend(more.into_iter().map(Some));
        self.all.truncate(MOST_CANDIDATES);
    }

    /// All that is worth trying at a pair of cuts.
    pub(super) fn candidates(
        cut: [&CutVersion<'_>; 2],
        versions: [Version<'_>; 2],
        at: (usize, usize),
        iterations: usize,
    ) -> Invariant {
        let cuts = [at.0, at.1];
        let states = [0, 1].map(|side| &cut[side].cuts[cuts[side]].state);
        let bases = states.map(|state| &state.bases);
        let mut all = fixed(bases);
        let is_number = |(_, base): &(usize, &Operand)| matches!(base.ty, Type::Int(2..));
        all.extend(bases[0].iter().enumerate().filter(is_number).map(|(old, _)| Candidate::Defined { old }));
        let looks =
            [0, 1].map(|side| bases[side].iter().map(|base| look(&cut[side].flow, &base.text)).collect::<Vec<_>>());
        for (old, was) in bases[0].iter().enumerate() {
            // The likeliest first: what is like it, then what has its name.
            let mut likely: Vec<(usize, &Operand)> = bases[1].iter().enumerate().collect();
            likely.sort_by_key(|(new, is)| (looks[1][*new] != looks[0][old], is.text != was.text));
            for (new, is) in likely {
                all.extend(related(cut, (old, was), (new, is)));
            }
        }
        let bounds = [0, 1].map(|side| Bounds { cut: cut[side], state: states[side], version: versions[side] });
        for (side, bounds) in bounds.iter().enumerate() {
            all.extend(bounds.facts(side));
        }
        all.extend(distances(&bounds));
        all.extend(read(cut, at));
        if iterations > 1 {
            let counts = |(_, base): &(usize, &Operand)| bounds[1].counts(base);
            let counters = bases[1].iter().enumerate().filter(counts);
            all.extend(counters.map(|(new, _)| Candidate::Multiple { new, of: iterations }));
            all.extend(folds(cut[0], bases));
        }
        all.truncate(MOST_CANDIDATES);
        Invariant { all: all.into_iter().map(Some).collect() }
    }

    /// Those that are left, with their numbers.
    pub(super) fn left(&self) -> impl Iterator<Item = (usize, &Candidate)> {
        self.all.iter().enumerate().filter_map(|(n, candidate)| Some((n, candidate.as_ref()?)))
    }

    /// Is a base one value for all its uses?
    pub(super) fn is_fixed(&self, side: usize, base: usize) -> bool {
        self.left().any(|(_, candidate)| *candidate == Candidate::Fixed { side, base })
    }

    /// The base of the second version that refines one of the first version as it is.
    pub(super) fn partner(&self, base: usize) -> Option<usize> {
        self.left().find_map(|(_, candidate)| match candidate {
            Candidate::Related { old, new, how: How::Same, more: 0 } if *old == base => Some(*new),
            _ => None,
        })
    }

    /// Is a base of the first version poison where its partner is?
    pub(super) fn is_alike(&self, old: usize, new: usize) -> bool {
        self.left().any(|(_, candidate)| *candidate == Candidate::Alike { old, new })
    }

    /// The base of the first version that one of the second version is in more bits, and how.
    pub(super) fn narrower(&self, base: usize) -> Option<(usize, How)> {
        let mut relations = self.left().filter_map(|(_, candidate)| match candidate {
            Candidate::Related { old, new, how: how @ (How::SignExtended | How::ZeroExtended), more: 0 } => {
                (*new == base).then_some((*old, *how))
            }
            _ => None,
        });
        relations
            .find(|(old, _)| self.is_fixed(0, *old) && self.left().any(|(_, c)| *c == Candidate::Defined { old: *old }))
    }

    /// What a base of the first version is by those of the second one, where it is not one of them alone.
    pub(super) fn fold(&self, base: usize) -> Option<(&'static str, &[usize])> {
        if self.partner(base).is_some() {
            return None;
        }
        self.left().find_map(|(_, candidate)| match candidate {
            Candidate::Folded { old, by, new } if *old == base => Some((*by, new.as_slice())),
            _ => None,
        })
    }

    /// Removes some candidates, and those that depend on them.
    pub(super) fn drop(&mut self, failed: &[usize], undefined: bool) {
        for n in failed {
            self.all[*n] = None;
        }
        // Which of the values that may be `undef` are poison alike is said of partners only.
        let strange = |candidate: &Candidate| match candidate {
            Candidate::Alike { old, new } => self.partner(*old) != Some(*new),
            _ => false,
        };
        let strange: Vec<usize> = self.left().filter(|(_, candidate)| strange(candidate)).map(|(n, _)| n).collect();
        for n in strange {
            self.all[n] = None;
        }
        if !undefined {
            return;
        }
        let rests_on_loose = |candidate: &Candidate, this: &Invariant| match candidate {
            Candidate::Related { old, new, how, more } => {
                let is_partner = (*how, *more) == (How::Same, 0) && this.partner(*old) == Some(*new);
                !is_partner && !this.is_fixed(0, *old)
            }
            Candidate::Folded { old, by, new } => {
                let is_fixed = || this.is_fixed(0, *old) && new.iter().all(|base| this.is_fixed(1, *base));
                this.fold(*old) != Some((*by, new.as_slice())) && !is_fixed()
            }
            _ => false,
        };
        let fallen: Vec<usize> =
            self.left().filter(|(_, candidate)| rests_on_loose(candidate, self)).map(|(n, _)| n).collect();
        for n in fallen {
            self.all[n] = None;
        }
    }
}

/// Bases, by version, that may be the same where versions go in lockstep.
fn partners(bases: [&Vec<Operand>; 2], pairs: &Pairs) -> Vec<(usize, usize)> {
    let of = |(old, was): (usize, &Operand)| {
        let was = was.clone();
        let may_be = move |(new, is): (usize, &Operand)| {
            (is.ty == was.ty && pairs.may_be_same(&was.text, &is.text)).then_some((old, new))
        };
        bases[1].iter().enumerate().filter_map(may_be).collect::<Vec<_>>()
    };
    bases[0].iter().enumerate().flat_map(of).collect()
}

/// How a base of the second version may come from one of the first.
fn related(cut: [&CutVersion<'_>; 2], (old, was): (usize, &Operand), (new, is): (usize, &Operand)) -> Vec<Candidate> {
    let ways = match (&was.ty, &is.ty) {
        // A lane is a scalar where it counts.
        _ if scalarised::vector(&is.text).is_some() && !counts_by_lane(cut[1], &is.text) => vec![],
        (x, y) if x == y => vec![How::Same],
        (Type::Int(x), Type::Int(y)) if x < y => vec![How::SignExtended, How::ZeroExtended],
        (Type::Int(_), Type::Int(_)) => vec![How::Truncated],
        _ => vec![],
    };
    let more = match [(0, was), (1, is)].map(|(side, base)| begins(cut[side], &base.text)) {
        [Some(was), Some(is)] => is.checked_sub(was).filter(|more| *more != 0),
        _ => None,
    };
    let by = |how| [Some(0), more].into_iter().flatten().map(move |more| Candidate::Related { old, new, how, more });
    ways.into_iter().flat_map(by).collect()
}

/// That bases are one value each, not one for each use.
fn fixed(bases: [&Vec<Operand>; 2]) -> Vec<Candidate> {
    let of = |(side, bases): (usize, &&Vec<Operand>)| (0..bases.len()).map(move |base| Candidate::Fixed { side, base });
    bases.iter().enumerate().flat_map(of).collect()
}

/// That bases are in memory.
fn read(cut: [&CutVersion<'_>; 2], at: (usize, usize)) -> Vec<Candidate> {
    let of = |side: usize| {
        let readings = cut[side].cuts[[at.0, at.1][side]].state.readings.len();
        (0..readings).map(move |reading| Candidate::Read { side, reading })
    };
    of(0).chain(of(1)).collect()
}

/// Does a lane of a vector become another one by a sum with a constant?
fn counts_by_lane(cut: &CutVersion<'_>, lane: &str) -> bool {
    let Some((_, Instruction { shape: Shape::Phi(values), .. })) = cut.flow.definition(lane) else { return false };
    values.iter().any(|(value, _)| {
        let whole = match cut.flow.definition(&value.text) {
            Some((_, Instruction { shape: Shape::Plain(operands), .. })) => &operands[0].text,
            _ => return false,
        };
        let Some((_, Instruction { opcode, shape: Shape::Plain(terms), .. })) = cut.flow.definition(whole) else {
            return false;
        };
        ["add", "sub"].contains(&opcode.as_str()) && terms.iter().any(|term| !term.is_local())
    })
}

/// The number that a value has in a loop at first, where it is one number.
fn begins(cut: &CutVersion<'_>, name: &str) -> Option<i128> {
    let (_, Instruction { shape: Shape::Phi(values), .. }) = cut.flow.definition(name)? else { return None };
    let mut numbers = values.iter().filter_map(|(value, _)| number(cut, value));
    let first = numbers.next()?;
    numbers.all(|n| n == first).then_some(first)
}

/// A number, or one that is a lane of a constant.
fn number(cut: &CutVersion<'_>, value: &Operand) -> Option<i128> {
    if !value.is_local() {
        return value.text.parse().ok();
    }
    match cut.flow.definition(&value.text) {
        Some((_, Instruction { opcode, shape: Shape::Plain(operands), .. })) if opcode == "extractelement" => {
            let [whole, at] = operands.as_slice() else { return None };
            match literals::aggregate(&whole.text) {
                Literal::Parts(parts) => {
                    parts.get(at.text.parse::<usize>().ok()?)?.split_once(' ')?.1.trim().parse().ok()
                }
                Literal::Everywhere(text) => text.parse().ok(),
                _ => (whole.text == "zeroinitializer").then_some(0),
            }
        }
        _ => None,
    }
}

/// How deep values are looked at to see which may be the same.
const LOOK: u32 = 4;

/// What a value looks like: what computes it, without names.
pub(super) fn look(flow: &Flow<'_>, name: &str) -> String {
    look_within(flow, name, LOOK)
}

fn look_within(flow: &Flow<'_>, name: &str, depth: u32) -> String {
    let Some((_, i)) = flow.definition(name) else {
        return if name.starts_with('%') { "parameter".into() } else { name.into() };
    };
    let taken: Vec<&str> = match &i.shape {
        _ if depth == 0 => vec![],
        Shape::Phi(values) => values.iter().map(|(operand, _)| operand.text.as_str()).collect(),
        Shape::Plain(operands) => operands.iter().map(|operand| operand.text.as_str()).collect(),
        _ => i.template.holes.iter().map(String::as_str).collect(),
    };
    let mut taken: Vec<String> = taken.into_iter().map(|name| look_within(flow, name, depth - 1)).collect();
    taken.sort_unstable();
    format!("{}({})", i.opcode, taken.join(" "))
}

/// Operations by which lanes are taken together.
const FOLDS: [&str; 5] = ["add", "mul", "and", "or", "xor"];

/// Vectors that are taken together, at most.
const MOST_VECTORS: usize = 4;

/// Bases of the first version that lanes of vectors of the second one may be, taken together: those of one vector, and of
/// several that follow each other.
fn folds(cut: &CutVersion<'_>, bases: [&Vec<Operand>; 2]) -> Vec<Candidate> {
    let mut vectors: Vec<(&str, Vec<usize>)> = vec![];
    for (n, base) in bases[1].iter().enumerate() {
        let Some(vector) = scalarised::vector(&base.text) else { continue };
        match vectors.iter_mut().find(|(name, _)| *name == vector) {
            Some((_, lanes)) => lanes.push(n),
            None => vectors.push((vector, vec![n])),
        }
    }
    let mut found = vec![];
    for (old, base) in bases[0].iter().enumerate().filter(|(_, base)| matches!(base.ty, Type::Int(_))) {
        let uses = |i: &&Instruction| i.template.holes.contains(&base.text);
        let users: Vec<&str> =
            cut.flow.body.blocks.iter().flat_map(|b| &b.instructions).filter(uses).map(|i| i.opcode.as_str()).collect();
        for by in FOLDS.into_iter().filter(|by| users.contains(by)) {
            for first in 0..vectors.len() {
                let mut new = vec![];
                for (_, lanes) in vectors[first..].iter().take(MOST_VECTORS) {
                    if lanes.iter().any(|lane| bases[1][*lane].ty != base.ty) {
                        break;
                    }
                    new.extend(lanes);
                    found.push(Candidate::Folded { old, by, new: new.clone() });
                }
            }
        }
    }
    found
}
