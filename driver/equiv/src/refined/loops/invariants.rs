//! What may hold of the values of both versions at a pair of cuts: candidates.

use super::super::super::modules::Version;
use super::super::meaning::Value;
use super::super::region::State;
use super::CutVersion;
use crate::conversion::How;
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Script};

/// Candidates at a pair of cuts.
pub(super) const MOST_CANDIDATES: usize = 5_000;

/// Candidates about the operands of comparisons, for each version.
const MOST_FACTS: usize = 64;

impl How {
    /// When a value of the second version is what comes from one of the first version.
    pub(super) fn holds(self, s: &mut Script, was: Value, is: Value) -> Expr {
        let made = self.made(s, was.bits, is.bits.width());
        let mut same = vec![s.equal(made, is.bits)];
        if let (Some(was), Some(is)) = (was.origin, is.origin) {
            same.push(s.equal(was, is));
        }
        s.and(&same)
    }
}

/// Something that may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Candidate {
    /// A base of one version is one value, not one for each use.
    Fixed { side: usize, base: usize },
    /// A base of the second version refines what comes from one of the first version.
    Related { old: usize, new: usize, how: How },
    /// Two values of one version are related in this way, if neither is poison.
    Fact { side: usize, relation: &'static str, left: Operand, right: Operand },
}

/// Candidates that have not failed.
pub(super) struct Invariant {
    /// By number; `None` where it has failed.
    all: Vec<Option<Candidate>>,
}

impl Invariant {
    /// All that is worth trying at a pair of cuts.
    pub(super) fn candidates(cut: [&CutVersion<'_>; 2], versions: [Version<'_>; 2], at: (usize, usize)) -> Invariant {
        let cuts = [at.0, at.1];
        let states = [0, 1].map(|side| &cut[side].cuts[cuts[side]].state);
        let bases = states.map(|state| &state.bases);
        let mut all = vec![];
        for (side, bases) in bases.iter().enumerate() {
            all.extend((0..bases.len()).map(|base| Candidate::Fixed { side, base }));
        }
        let looks =
            [0, 1].map(|side| bases[side].iter().map(|base| look(cut[side], &base.text, LOOK)).collect::<Vec<_>>());
        for (old, was) in bases[0].iter().enumerate() {
            // The likeliest first: what is like it, then what has its name.
            let mut likely: Vec<(usize, &Operand)> = bases[1].iter().enumerate().collect();
            likely.sort_by_key(|(new, is)| (looks[1][*new] != looks[0][old], is.text != was.text));
            for (new, is) in likely {
                let related = |how| Candidate::Related { old, new, how };
                match (&was.ty, &is.ty) {
                    (x, y) if x == y => all.push(related(How::Same)),
                    (Type::Int(x), Type::Int(y)) if x < y => {
                        all.extend([related(How::SignExtended), related(How::ZeroExtended)]);
                    }
                    (Type::Int(_), Type::Int(_)) => all.push(related(How::Truncated)),
                    _ => {}
                }
            }
        }
        for side in 0..2 {
            all.extend(facts(side, cut[side], states[side], versions[side]));
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
            Candidate::Related { old, new, how: How::Same } if *old == base => Some(*new),
            _ => None,
        })
    }

    /// Leaves some out, and what rests on them.
    pub(super) fn drop(&mut self, failed: &[usize], undefined: bool) {
        for n in failed {
            self.all[*n] = None;
        }
        if !undefined {
            return;
        }
        let rests_on_loose = |candidate: &Candidate, this: &Invariant| match candidate {
            Candidate::Related { old, new, how } => {
                let is_partner = *how == How::Same && this.partner(*old) == Some(*new);
                !is_partner && !this.is_fixed(0, *old)
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

/// How deep values are looked at to see which may be the same.
const LOOK: u32 = 4;

/// What a value looks like: what computes it, without names.
fn look(cut: &CutVersion<'_>, name: &str, depth: u32) -> String {
    let Some((_, i)) = cut.flow.definition(name) else {
        return if name.starts_with('%') { "parameter".into() } else { name.into() };
    };
    let taken: Vec<&str> = match &i.shape {
        _ if depth == 0 => vec![],
        Shape::Phi(values) => values.iter().map(|(operand, _)| operand.text.as_str()).collect(),
        Shape::Plain(operands) => operands.iter().map(|operand| operand.text.as_str()).collect(),
        _ => i.template.holes.iter().map(String::as_str).collect(),
    };
    let mut taken: Vec<String> = taken.into_iter().map(|name| look(cut, name, depth - 1)).collect();
    taken.sort_unstable();
    format!("{}({})", i.opcode, taken.join(" "))
}

/// How values that the function compares may be related where it begins again. Of what is not there yet, because the
/// iteration computes it from something that is, that is taken.
fn facts(side: usize, cut: &CutVersion<'_>, state: &State, version: Version<'_>) -> Vec<Candidate> {
    let is_base = |operand: &Operand| state.bases.iter().any(|base| base.text == operand.text);
    let is_computed = |operand: &Operand| state.computed.iter().any(|i| i.result.as_ref() == Some(&operand.text));
    let parameters = &version.definition.parameters;
    let is_there = |operand: &Operand| {
        let is_number = || operand.text.parse::<i128>().is_ok();
        is_base(operand)
            || is_computed(operand)
            || is_number()
            || parameters.iter().any(|parameter| parameter.name == operand.text)
    };
    let known = |operand: Operand| match cut.flow.definition(&operand.text).map(|(_, i)| (&i.opcode, &i.shape)) {
        Some((opcode, Shape::Plain(terms))) if opcode == "add" && !is_there(&operand) => {
            terms.iter().find(|term| is_base(term)).cloned().unwrap_or(operand)
        }
        _ => operand,
    };
    let mut found: Vec<Candidate> = vec![];
    let mut add = |relation, left: &Operand, right: &Operand| {
        let fact = Candidate::Fact { side, relation, left: left.clone(), right: right.clone() };
        if !found.contains(&fact) && found.len() < MOST_FACTS {
            found.push(fact);
        }
    };
    // What counts: others have no bounds that are worth asking for.
    let counts = |operand: &Operand| {
        let Some(Shape::Phi(values)) = cut.flow.definition(&operand.text).map(|(_, i)| &i.shape) else { return false };
        let next = values.iter().filter_map(|(value, _)| cut.flow.definition(&value.text));
        is_base(operand)
            && next.map(|(_, i)| i).any(|i| match &i.shape {
                Shape::Plain(terms) => {
                    ["add", "sub"].contains(&i.opcode.as_str()) && terms.iter().any(|term| term.text == operand.text)
                }
                _ => false,
            })
    };
    for base in state.bases.iter().filter(|base| matches!(base.ty, Type::Int(2..)) && counts(base)) {
        add("bvsge", base, &Operand { ty: base.ty.clone(), text: "0".into() });
    }
    let compared = |i: &Instruction| match &i.shape {
        Shape::Plain(operands) if i.opcode.starts_with("icmp ") => {
            <&[Operand; 2]>::try_from(operands.as_slice()).ok().cloned()
        }
        _ => None,
    };
    let all = cut.flow.body.blocks.iter().flat_map(|block| &block.instructions);
    for operands in all.filter_map(compared) {
        let [left, right] = operands.map(known);
        let number = matches!(left.ty, Type::Int(2..));
        if number && is_there(&left) && is_there(&right) && (counts(&left) || counts(&right)) {
            for relation in ["bvsle", "bvsge", "bvule", "bvuge", "bvslt", "bvsgt", "bvult", "bvugt"] {
                add(relation, &left, &right);
            }
        }
    }
    found
}
