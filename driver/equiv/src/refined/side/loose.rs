//! Values that may be `undef`: each use chooses its bits anew.

use super::{Choosing, Leaf, Local, Samples, Side, Terms, Value};
use rewright_llvm::body::Operand;
use rewright_smt::{Expr, Sort};

impl Side<'_> {
    /// Is it computed anew at each use?
    pub(super) fn is_loose(&self, operand: &Operand) -> bool {
        operand.text == "undef" || matches!(self.locals.get(operand.text.as_str()), Some(Local::Loose | Local::Leaf(_)))
    }

    /// What leaves in some way: the same twice, or two uses of what may be another value each time.
    pub(super) fn samples(&mut self, operand: &Operand, way: &'static str) -> Terms<Samples> {
        if !self.is_loose(operand) {
            return self.operand(operand).map(|value| [value; 2]);
        }
        let n = self.ways.entry(way).or_default();
        *n += 1;
        let n = *n;
        let outer = self.within.clone();
        let mut samples = vec![];
        for sample in 1..=2 {
            self.within = format!("{way} {n} sample {sample}");
            samples.push(self.operand(operand)?);
        }
        self.within = outer;
        Ok([samples[0], samples[1]])
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
        let doubt = match self.locals.get(operand.text.as_str()) {
            Some(Local::Leaf(Leaf { mask: Some(mask), .. })) => {
                let mask = *mask;
                self.s.nonzero(mask)
            }
            _ => {
                let samples = self.samples(operand, "decided")?;
                self.differ(&samples)
            }
        };
        self.undefined(at, doubt);
        self.solid = true;
        let value = self.operand(operand);
        self.solid = false;
        value
    }

    /// A use of what comes from outside.
    pub(super) fn use_of(&mut self, leaf: Leaf) -> Value {
        let Leaf { value, mask: Some(mask), key } = leaf else { return leaf.value };
        if self.solid || mask == Expr::FALSE {
            return value;
        }
        let (width, key) = (value.bits.width(), self.s.name(key).to_string());
        let chosen = self.choice(&key, width);
        // The bits of the mask are those of the choice.
        let sort = Sort::Bits(width);
        let other = self.s.apply("bvxor", &[value.bits, chosen], sort);
        let other = self.s.apply("bvand", &[other, mask], sort);
        Value { bits: self.s.apply("bvxor", &[value.bits, other], sort), ..value }
    }

    /// Bits that may be chosen at a use of something.
    pub(super) fn choice(&mut self, what: &str, width: u32) -> Expr {
        let key = format!("{} with {width} bits in {}", what.replace('|', ""), self.within);
        let uses = self.uses.entry(key.clone()).or_default();
        *uses += 1;
        let n = if self.choosing == Choosing::Together { 1 } else { *uses };
        let name = format!("use {n} of {key}");
        if self.choosing == Choosing::Freely {
            let choice = self.s.variable(&format!("{name} before"), Sort::Bits(width));
            self.choices.push(choice);
            return choice;
        }
        self.s.unknown(&name, &[], Sort::Bits(width))
    }
}
