//! Values that may be `undef`: each use chooses its bits anew.

use super::{Choosing, Chosen, Context, Leaf, Likeness, Local, Samples, SymbolicExecutor, Terms, Value, Whole};
use rewright_llvm::body::Operand;
use rewright_smt::{Expr, Sort};
use std::collections::BTreeMap;

/// Ways to choose that are tried to see that a version is undefined.
const MOST_CONTEXTS: usize = 12;

/// Values that are looked at to see what a value is made of.
const MOST_SETTLED: usize = 32;

/// What computes what is decided.
const DECIDED: &str = "what is decided";

/// Which bits of what is `undef` a use sees.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UndefBits {
    /// Those that it chooses.
    Chosen,
    /// Those that are there: where others would matter, it is undefined.
    Plain,
    /// No bit that is there.
    Other,
}

impl SymbolicExecutor<'_> {
    /// Is it computed anew at each use?
    pub(super) fn is_loose(&self, operand: &Operand) -> bool {
        (!operand.is_local() && operand.text.contains("undef"))
            || matches!(self.locals.get(operand.text.as_str()), Some(Local::PerUse | Local::Leaf(_)))
    }

    /// Is it a value from outside of which each use may see another one, where the version may be undefined by that?
    pub(super) fn is_settled(&self, operand: &Operand) -> bool {
        match self.locals.get(operand.text.as_str()) {
            Some(Local::Leaf(lanes)) => {
                lanes.iter().filter_map(|leaf| leaf.mask).all(|mask| self.settled.contains(&mask))
            }
            _ => false,
        }
    }

    /// Notes by what the version may be undefined where uses of a value differ: the values from outside that make it.
    fn settle(&mut self, operand: &Operand) {
        let mut todo = vec![operand.text.as_str()];
        for _ in 0..MOST_SETTLED {
            let Some(name) = todo.pop() else { return };
            match self.locals.get(name) {
                Some(Local::Leaf(lanes)) => self.settled.extend(lanes.iter().filter_map(|leaf| leaf.mask)),
                Some(Local::PerUse) => {
                    let made = self.made.get(name).into_iter().flat_map(|(i, _)| &i.template.holes);
                    todo.extend(made.map(String::as_str));
                }
                _ => {}
            }
        }
    }

    /// What leaves in some way: the same twice, or two uses of what may be another value each time.
    pub(super) fn samples(&mut self, operand: &Operand, way: &'static str) -> Terms<Whole> {
        if !self.is_loose(operand) {
            return self.lanes(operand).map(|lanes| [lanes.clone(), lanes]);
        }
        let n = self.another(way);
        Ok([self.sample(operand, way, n, 1)?, self.sample(operand, way, n, 2)?])
    }

    /// Counts what leaves in some way.
    fn another(&mut self, way: &'static str) -> usize {
        let n = self.ways.entry(way).or_default();
        *n += 1;
        *n
    }

    /// A value with choices of its own.
    fn sample(&mut self, operand: &Operand, way: &str, n: usize, sample: usize) -> Terms<Vec<Value>> {
        let outer = std::mem::replace(&mut self.within, format!("{way} {n} sample {sample}"));
        let lanes = self.lanes(operand);
        self.within = outer;
        lanes
    }

    /// The operands of an instruction. A choice between two of them sees one.
    pub(super) fn values(&mut self, opcode: &str, operands: &[Operand]) -> Terms<Vec<Vec<Value>>> {
        match operands {
            [condition, one, other] if opcode == "select" => {
                let condition = self.lanes(condition)?;
                let before = self.uses.clone();
                Ok(vec![condition, self.alternative(&before, one)?, self.alternative(&before, other)?])
            }
            all => all.iter().map(|operand| self.lanes(operand)).collect(),
        }
    }

    /// An operand of which nothing is seen where another one is: it may choose as that does. `before` counts uses
    /// before all of them.
    pub(super) fn alternative(&mut self, before: &BTreeMap<String, usize>, operand: &Operand) -> Terms<Vec<Value>> {
        let others = std::mem::replace(&mut self.uses, before.clone());
        let value = self.lanes(operand);
        for (what, n) in others {
            let most = self.uses.entry(what).or_default();
            *most = n.max(*most);
        }
        value
    }

    /// When two uses of one thing see other values.
    pub(super) fn differ(&mut self, [x, y]: &Samples) -> Expr {
        let same = self.s.equal(x.bits, y.bits);
        self.s.not(same)
    }

    /// What a branch looks at: it is undefined where that is poison, and where two uses may differ.
    pub(super) fn decides(&mut self, operand: &Operand, at: usize) -> Terms<Expr> {
        let Value { bits, poison, .. } = self.settled(operand, at)?;
        self.undefined(at, poison);
        Ok(bits)
    }

    /// A value of which two uses must not differ, where it is undefined otherwise.
    pub(super) fn settled(&mut self, operand: &Operand, at: usize) -> Terms<Value> {
        if !self.is_loose(operand) {
            return self.operand(operand);
        }
        self.settle(operand);
        let poison_memory = match self.locals.get(operand.text.as_str()) {
            Some(Local::Leaf(lanes)) => {
                let masks: Vec<Expr> = lanes.iter().filter_map(|leaf| leaf.mask).collect();
                let some: Vec<Expr> = masks.into_iter().map(|mask| self.s.nonzero(mask)).collect();
                self.s.or(&some)
            }
            _ => {
                // Two uses may differ if one may differ from the plain bits. One that is poison is worse.
                let plain = self.by_bits(operand, UndefBits::Plain)?;
                let mut others = vec![self.decided(operand)?];
                if self.choosing.is_first() {
                    others.push(self.by_bits(operand, UndefBits::Other)?);
                    let contexts = self.contexts;
                    for context in contexts.iter().take(MOST_CONTEXTS) {
                        others.push(self.as_in(operand, context)?);
                    }
                }
                let mut bad = vec![];
                for other in others {
                    bad.extend([self.differ(&[plain, other]), other.poison]);
                }
                self.s.or(&bad)
            }
        };
        self.undefined(at, poison_memory);
        self.by_bits(operand, UndefBits::Plain)
    }

    /// A value with choices that are the same wherever something is decided: that one decision may come out in another
    /// way is shown by some choices, and the other decisions need none of their own.
    fn decided(&mut self, operand: &Operand) -> Terms<Value> {
        self.uses.retain(|key, _| !is_within(key, DECIDED));
        let outer = std::mem::replace(&mut self.within, DECIDED.into());
        let value = self.operand(operand);
        self.within = outer;
        value
    }

    /// A value with choices that the other version makes in computing something.
    fn as_in(&mut self, operand: &Operand, context: &Context) -> Terms<Value> {
        let uses = self.uses.clone();
        self.uses.retain(|key, _| !is_within(key, &context.within));
        let met = self.met.clone();
        let outer = std::mem::replace(&mut self.within, context.within.clone());
        self.skipped = context.skipped;
        let value = self.operand(operand);
        (self.within, self.uses, self.met, self.skipped) = (outer, uses, met, 0);
        value
    }

    /// What this version has chosen: first of all in computing each thing, then what comes behind that.
    pub(super) fn contexts(&self) -> Vec<Context> {
        let uses = |within: &String| {
            self.uses.iter().filter(|(key, _)| is_within(key, within)).map(|(_, uses)| *uses).max().unwrap_or(0)
        };
        let of = |within: &String| {
            let within = within.clone();
            (0..uses(&within).max(1)).map(move |skipped| Context { within: within.clone(), skipped })
        };
        let mut all: Vec<Context> = self.computing.iter().flat_map(of).collect();
        all.sort_by_key(|context| context.skipped);
        all
    }

    /// A value with these bits of all that is `undef` in it.
    fn by_bits(&mut self, operand: &Operand, bits: UndefBits) -> Terms<Value> {
        let outer = std::mem::replace(&mut self.undef_bits, bits);
        let value = self.operand(operand);
        self.undef_bits = outer;
        value
    }

    /// A use of what comes from outside.
    pub(super) fn use_of(&mut self, leaf: Leaf) -> Value {
        let Leaf { value, mask: Some(mask), key, computed, place } = leaf else { return leaf.value };
        if self.undef_bits == UndefBits::Plain || mask == Expr::FALSE {
            return value;
        }
        let width = value.bits.width();
        if self.undef_bits == UndefBits::Other {
            return Value { bits: self.other_bits(value.bits, mask), ..value };
        }
        if !self.choosing.is_first() && !self.computing.contains(&self.within) {
            self.computing.push(self.within.clone());
        }
        let mut name = self.s.name(key).to_string();
        name += &place.map_or(String::new(), |memory| format!(" in {}", self.s.name(memory)));
        let place = place.map(|memory| (key, memory));
        let chosen = self.choice_at(place, &name, "", width);
        let mut poison = value.poison;
        if computed {
            let (some, is_poison) = (self.s.nonzero(mask), self.choice_at(place, &name, " is poison", 1));
            let is_poison = self.s.nonzero(is_poison);
            let is_poison = self.s.and(&[some, is_poison]);
            poison = self.s.or(&[poison, is_poison]);
        }
        let bits = self.chosen_bits(value.bits, mask, chosen);
        // Only what is there at a cut has bounds: a load may be known by an address that is such a value.
        if computed && place.is_none() {
            self.limit(key, bits, poison);
        }
        Value { bits, poison, ..value }
    }

    /// Notes that a use sees nothing beyond bounds, where none does. (The first version may choose as it likes, so long as
    /// there is a choice: the plain bits are within them, too.)
    fn limit(&mut self, key: Expr, bits: Expr, poison: Expr) {
        let Some((_, bounds)) = self.limits.iter().find(|(known, _)| *known == key) else { return };
        let within = bounds.holds(self.s, bits);
        let fact = self.s.or(&[poison, within]);
        self.facts.push(fact);
    }

    /// Bits of which those of the mask are those of the choice.
    fn chosen_bits(&mut self, bits: Expr, mask: Expr, chosen: Expr) -> Expr {
        let sort = Sort::Bits(bits.width());
        if let Some(hidden) = self.s.hidden(&format!("chosen of {}", bits.width()), &[bits, mask, chosen], sort) {
            let some = self.s.nonzero(mask);
            return self.s.choose(some, hidden, bits);
        }
        let other = self.s.apply("bvxor", &[bits, chosen], sort);
        let other = self.s.apply("bvand", &[other, mask], sort);
        self.s.apply("bvxor", &[bits, other], sort)
    }

    /// Bits of which those of the mask are others.
    fn other_bits(&mut self, bits: Expr, mask: Expr) -> Expr {
        let sort = Sort::Bits(bits.width());
        let Some(hidden) = self.s.hidden(&format!("other than {}", bits.width()), &[bits, mask], sort) else {
            return self.s.apply("bvxor", &[bits, mask], sort);
        };
        let [some, same] = [self.s.nonzero(mask), self.s.equal(hidden, bits)];
        let [none, other] = [some, same].map(|is| self.s.not(is));
        let fact = self.s.or(&[none, other]);
        self.facts.push(fact);
        self.s.choose(some, hidden, bits)
    }

    /// Bits that may be chosen at a use of what has been read at a place: those that the other version has chosen at an
    /// equal use of what is there.
    fn choice_at(&mut self, place: Option<(Expr, Expr)>, name: &str, aspect: &str, width: u32) -> Expr {
        let what = format!("{name}{aspect}");
        let mut choice = self.choice(&what, width);
        let Some((address, memory)) = place else { return choice };
        let within = self.within.clone();
        let nth = self.uses.get(&use_key(&what, width, &within)).copied().unwrap_or_default();
        let which = format!("use {nth}{aspect} with {width} bits in {within}");
        if self.choosing.is_first() {
            let met = self.met.entry((which.clone(), memory)).or_default();
            let nth = met.iter().position(|other| *other == address).unwrap_or(met.len());
            met.extend((nth == met.len()).then_some(address));
            let like = |other: &&Chosen| (&other.which, other.memory) == (&which, memory);
            let mut others: Vec<&Chosen> = self.like.iter().filter(like).collect();
            if others.iter().any(|other| other.address == address) {
                return choice;
            }
            // Where several are equal, what has been read as the same one counts.
            if nth < others.len() {
                let counterpart = others.remove(nth);
                others.push(counterpart);
            }
            for other in others {
                let here = self.s.equal(address, other.address);
                choice = self.s.choose(here, other.choice, choice);
            }
        } else if !self.chosen.iter().any(|c| (c.address, c.memory, &c.which) == (address, memory, &which)) {
            self.chosen.push(Chosen { address, memory, which, choice });
        }
        choice
    }

    /// Bits that may be chosen at a use of something.
    pub(super) fn choice(&mut self, what: &str, width: u32) -> Expr {
        let uses = self.uses.entry(use_key(what, width, &self.within)).or_insert(self.skipped);
        *uses += 1;
        self.chooses = true;
        let uses = *uses;
        let name = |n: usize, within: &str| format!("use {n} of {}", use_key(what, width, within));
        let name = match self.choosing {
            Choosing::Freely => return self.free(&format!("{} before", name(uses, &self.within)), width),
            Choosing::Anything => name(uses, &self.within),
            Choosing::Like(Likeness { nth, sampled }) => {
                name(if nth { uses } else { 1 }, if sampled { &self.within } else { "" })
            }
        };
        self.s.unknown(&name, &[], Sort::Bits(width))
    }

    /// A variable whose value the caller may choose. Alternatives share some.
    fn free(&mut self, name: &str, width: u32) -> Expr {
        let known = self.choices.iter().find(|choice| self.s.name(**choice).trim_matches('|') == name);
        if let Some(known) = known {
            return *known;
        }
        let choice = self.s.variable(name, Sort::Bits(width));
        self.choices.push(choice);
        choice
    }
}

/// Are uses counted by this key in computing something?
fn is_within(key: &str, within: &str) -> bool {
    key.strip_suffix(within).is_some_and(|rest| rest.ends_with(" in "))
}

/// What uses of something are counted by.
fn use_key(what: &str, width: u32, within: &str) -> String {
    format!("{} with {width} bits in {within}", what.replace('|', ""))
}
