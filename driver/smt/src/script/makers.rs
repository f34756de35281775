//! Which NaN an instruction gives: each run of each instruction chooses one of its own, even where instructions compute the
//! same.
//!
//! In a question about two versions the second one's choices are anything. Two of its instructions may give other NaNs of
//! one term if one run executes both. The first version chooses as the second one does: its n-th instruction that gives
//! a term chooses what the n-th of the second version does, and the last one's where that has fewer.

use super::{Expr, Format, Script, Sort};
use rustc_hash::{FxHashMap, FxHashSet};

/// What gives a float.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Maker {
    /// The instruction, and which lane of it.
    pub name: String,
    /// The block that it stands in.
    pub block: usize,
}

/// Makers of the floats of two versions.
#[derive(Default)]
pub(super) struct Makers {
    /// The version at hand: 0 or 1.
    version: Option<usize>,
    maker: Option<Maker>,
    /// Of each two blocks of the version at hand, whether one run may execute both.
    together: Vec<Vec<bool>>,
    /// By float and version, which maker has made it with which choice.
    made: FxHashMap<(Expr, usize), Vec<(Maker, usize)>>,
    /// By version, term and choice: the number of a way.
    ways: [FxHashMap<(Expr, usize), usize>; 2],
}

impl Makers {
    fn may_meet(&self, one: usize, other: usize) -> bool {
        let known = |x: usize, y: usize| self.together.get(x).and_then(|of| of.get(y)).copied().unwrap_or(true);
        known(one, other) || known(other, one)
    }

    /// The number of the NaN that the maker at hand chooses for a float; 0 where there is no maker.
    fn choice(&mut self, float: Expr) -> usize {
        let (Some(version), Some(maker)) = (self.version, &self.maker) else { return 0 };
        let made = self.made.get(&(float, version)).map_or(&[][..], Vec::as_slice);
        let known = made.iter().find(|(other, _)| other == maker).map(|(_, choice)| *choice);
        let taken: FxHashSet<usize> = made
            .iter()
            .filter(|(other, _)| self.may_meet(other.block, maker.block))
            .map(|(_, choice)| *choice)
            .collect();
        let choice = known.or_else(|| (0..).find(|choice| !taken.contains(choice))).unwrap_or(0);
        if known.is_none() {
            let maker = maker.clone();
            self.made.entry((float, version)).or_default().push((maker, choice));
        }
        let of_second = self.made.get(&(float, 1)).into_iter().flatten().map(|(_, choice)| *choice).max();
        if version == 0 { of_second.map_or(choice, |last| choice.min(last)) } else { choice }
    }

    /// The way in which the maker at hand computes what this term stands for.
    fn way(&mut self, term: Expr) -> usize {
        let Some(version) = self.version else { return 0 };
        let key = (term, self.choice(term));
        let last = self.ways[1].len().saturating_sub(1);
        let next = match version {
            0 => self.ways[1].get(&key).copied().unwrap_or(self.ways[0].len().min(last)),
            _ => self.ways[1].len(),
        };
        *self.ways[version].entry(key).or_insert(next)
    }
}

impl Script {
    /// What follows is of the first version, or of the second one; `together` says of each two of its blocks, by number,
    /// whether one run may execute both.
    pub fn begin_version(&mut self, is_first: bool, together: Vec<Vec<bool>>) {
        let version = usize::from(!is_first);
        self.makers.version = Some(version);
        self.makers.maker = None;
        self.makers.together = together;
        self.makers.made.retain(|(_, other), _| *other != version);
        self.makers.ways[version].clear();
    }

    /// Says which instruction gives the floats that follow.
    pub fn made_by(&mut self, maker: Option<Maker>) {
        self.makers.maker = maker;
    }

    /// The number of the way in which the instruction at hand computes what a term stands for, where each instruction
    /// chooses one: those of the second version are all different, wherever one run may execute both instructions. The
    /// first version computes a term as the second one does, and others in any way.
    pub fn way_of(&mut self, term: Expr) -> usize {
        self.makers.way(term)
    }

    /// Bits that read as a float that an instruction gives; those of a NaN are its own choice.
    pub(in super::super) fn bits_of_result(&mut self, float: Expr, format: Format) -> Expr {
        let choice = self.makers.choice(float);
        let mut bits = self.bits_of(float, format);
        if choice > 0 {
            bits = self.bits_of_other(float, format, (choice, bits));
        }
        if self.makers.version.is_some() {
            self.floats.insert(bits, float);
        }
        bits
    }

    /// The same bits, except for those of a NaN.
    fn bits_of_other(&mut self, float: Expr, format: Format, (choice, bits): (usize, Expr)) -> Expr {
        let key = format!("bits of {}, {choice}", self.name(float));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let nan = self.variable(&format!("b{}", self.nodes.len()), bits.sort());
        let read = self.float(nan, format);
        let equation = self.apply("fp.isNaN", &[read], Sort::Bool);
        self.assume(nan, equation);
        let is_nan = self.apply("fp.isNaN", &[float], Sort::Bool);
        let chosen = self.choose(is_nan, nan, bits);
        self.known.insert(key, chosen);
        self.computed.insert(chosen.id);
        chosen
    }
}
