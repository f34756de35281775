//! What is known of counters and sizes where the walk is, and which integers that shows to be in range.

use rewright_cfg_skeleton::nest::affine::Atom;
use rewright_cfg_skeleton::nest::{Affine, Confirmation, Conjunction, Constraint, Decider, Var};

/// Steps of the decision procedure for a function.
const BUDGET: u64 = 4_000_000;

/// Of 64 bits a part is shown by constants: larger ones are no coefficients.
const WIDE: u32 = 60;

/// Facts along the way, and what decides with them.
#[derive(Debug)]
pub(super) struct Facts {
    known: Conjunction,
    /// What is in the range of 64 bits, whatever that is.
    in_range: Vec<Affine>,
    decider: Decider,
}

/// How many facts there were.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize, usize);

impl Facts {
    /// None; what is shown is confirmed.
    pub(super) fn new(confirmation: Confirmation) -> Self {
        Facts { known: vec![], in_range: vec![], decider: Decider::confirmed(BUDGET, confirmation) }
    }

    /// A size of this many bits.
    pub(super) fn size(&mut self, var: Var, bits: u32) {
        let value = Affine::var(var);
        if bits <= WIDE {
            let half = 1i128 << (bits - 1);
            self.known.push(Constraint::at_least(&value, &Affine::constant(-half)));
            self.known.push(Constraint::less(&value, &Affine::constant(half)));
        } else {
            self.in_range.push(value);
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.known.len(), self.in_range.len())
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.known.truncate(mark.0);
        self.in_range.truncate(mark.1);
    }

    pub(super) fn assume(&mut self, facts: &[Constraint]) {
        self.known.extend(facts.iter().cloned());
    }

    /// It is the value of an integer of 64 bits.
    pub(super) fn is_in_range(&mut self, affine: &Affine) {
        self.in_range.push(affine.clone());
    }

    pub(super) fn show(&mut self, fact: &Constraint) -> bool {
        self.decider.implies(&self.known, fact)
    }

    /// Whether all of it holds here.
    pub(super) fn show_all(&mut self, facts: &[Constraint]) -> bool {
        facts.iter().all(|fact| self.show(fact))
    }

    /// Whether the polynomial is shown not to be negative.
    pub(super) fn not_negative(&mut self, affine: &Affine) -> bool {
        self.show(&Constraint::at_least(affine, &Affine::default()))
    }

    /// The polynomial without floors that are shown to be zero.
    pub(super) fn simplified(&mut self, affine: &Affine) -> Affine {
        let mut zero = vec![];
        affine.each_atom(&mut |atom| {
            if let Atom::Floor(inner, divisor) = atom {
                zero.push(((**inner).clone(), *divisor));
            }
        });
        zero.retain(|(inner, divisor)| {
            self.not_negative(inner) && self.show(&Constraint::less(inner, &Affine::constant(*divisor)))
        });
        if zero.is_empty() {
            return affine.clone();
        }
        let floor = |inner: Affine, divisor: i128| match zero.contains(&(inner.clone(), divisor)) {
            true => Affine::default(),
            false => inner.floor_div(divisor),
        };
        affine.rebuild(&Affine::var, &floor)
    }

    /// Whether the polynomial is shown to be a signed integer of this many bits.
    pub(super) fn fits(&mut self, affine: &Affine, bits: u32) -> bool {
        if affine.is_broken() {
            return false;
        }
        let half = 1i128 << (bits.min(WIDE) - 1);
        let (low, high) = (Affine::constant(-half), Affine::constant(half - 1));
        self.is_between(affine, (&low, &high), bits > WIDE)
    }

    /// Whether it is between these, or, of 64 bits, between what is in range.
    fn is_between(&mut self, affine: &Affine, (low, high): (&Affine, &Affine), is_wide: bool) -> bool {
        let others = if is_wide { self.in_range.clone() } else { vec![] };
        let above = |facts: &mut Facts, least: &Affine| facts.show(&Constraint::at_least(affine, least));
        let below = |facts: &mut Facts, most: &Affine| facts.show(&Constraint::at_least(most, affine));
        (above(self, low) || others.iter().any(|other| above(self, other)))
            && (below(self, high) || others.iter().any(|other| below(self, other)))
    }
}
