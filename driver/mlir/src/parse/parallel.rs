//! Pretty forms of parallel loops.

use super::Parsed;
use super::cursor::Cursor;
use super::pretty::map;
use crate::syntax::{Op, Region};

impl Cursor<'_> {
    /// `affine.parallel (%i, %j) = (0, max(%a, 1)) to (%n, min(%m, 32)) step (1, 4) { .. }`.
    pub(super) fn affine_parallel(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        let region = self.variables()?;
        self.expect("=")?;
        self.bounds(&mut op, "lowerBounds")?;
        self.expect("to")?;
        self.bounds(&mut op, "upperBounds")?;
        let steps = if self.accept("step") { self.list()? } else { vec!["1".to_string(); region.arguments.len()] };
        op.attributes.push(("steps".into(), steps.join(", ")));
        if self.accept("reduce") {
            op.attributes.push(("reductions".into(), self.list()?.join(", ")));
            self.skip(1);
            op.result_types = self.types()?;
        }
        self.body(op, region, depth)
    }

    /// `(%i, %j)`.
    fn variables(&mut self) -> Parsed<Region> {
        self.expect("(")?;
        let names = self.operands();
        self.expect(")")?;
        let arguments = names.into_iter().map(|name| (name, "index".to_string())).collect();
        Ok(Region { arguments, ..Region::default() })
    }

    /// Bounds of each loop: one expression, or several of which the smallest or largest is taken.
    fn bounds(&mut self, op: &mut Op, name: &str) -> Parsed<()> {
        let (mut names, mut all, mut groups) = (vec![], vec![], vec![]);
        self.expect("(")?;
        while !self.accept(")") {
            let several = matches!(self.peek().text, "min" | "max");
            self.skip(usize::from(several));
            let found = if several && self.accept("(") {
                self.expressions(")", &mut names)?
            } else {
                vec![self.expression(&mut names)?]
            };
            groups.push(found.len().to_string());
            all.extend(found);
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        op.attributes.push((format!("{name}Map"), map(&names, &all)));
        op.attributes.push((format!("{name}Groups"), format!("dense<[{}]>", groups.join(", "))));
        op.operands.extend(names);
        Ok(())
    }

    /// `(1, %a, 3)`: the texts.
    fn list(&mut self) -> Parsed<Vec<String>> {
        self.listed("(", ")")
    }

    /// The texts between commas, in brackets.
    pub(super) fn listed(&mut self, open: &str, close: &str) -> Parsed<Vec<String>> {
        let mut found = vec![];
        self.expect(open)?;
        while !self.accept(close) {
            let minus = if self.accept("-") { "-" } else { "" };
            found.push(format!("{minus}{}", self.next().text));
            if !self.accept(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(found)
    }

    /// `scf.parallel (%i) = (%a) to (%b) step (%c) init (%z) -> t { .. }`.
    pub(super) fn scf_parallel(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        let region = self.variables()?;
        let mut sizes = vec![];
        for before in ["=", "to", "step"] {
            self.expect(before)?;
            let operands = self.list()?;
            sizes.push(operands.len().to_string());
            op.operands.extend(operands);
        }
        let inits = if self.accept("init") { self.list()? } else { vec![] };
        sizes.push(inits.len().to_string());
        op.operands.extend(inits);
        op.attributes.push(("operandSegmentSizes".into(), sizes.join(", ")));
        if self.peek().kind == crate::lex::Kind::Arrow {
            self.skip(1);
            op.result_types = self.types()?;
        }
        self.body(op, region, depth)
    }

    /// `scf.forall (%i, %j) in (%n, 8) { .. }`, or `scf.forall (%i) = (0) to (%n) step (4) { .. }`.
    pub(super) fn scf_forall(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        let region = self.variables()?;
        let loops = region.arguments.len();
        let constant = |number: &str| vec![number.to_string(); loops];
        let (lower, upper, step) = if self.accept("in") {
            (constant("0"), self.list()?, constant("1"))
        } else {
            self.expect("=")?;
            let lower = self.list()?;
            self.expect("to")?;
            let upper = self.list()?;
            self.expect("step")?;
            (lower, upper, self.list()?)
        };
        let mut sizes = vec![];
        for (name, bounds) in [("staticLowerBound", lower), ("staticUpperBound", upper), ("staticStep", step)] {
            sizes.push(self.mixed(&mut op, name, bounds).to_string());
        }
        if self.accept("shared_outs") {
            return self.error("`scf.forall`: tensors are not understood");
        }
        sizes.push("0".into());
        op.attributes.push(("operandSegmentSizes".into(), sizes.join(", ")));
        self.body(op, region, depth)
    }

    /// `scf.reduce`, or `scf.reduce(%a : t) { .. }`.
    pub(super) fn reduce(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        if self.accept("(") {
            op.operands = self.operands();
            while !self.accept(")") {
                self.skip(1);
                if self.peek().kind == crate::lex::Kind::End {
                    return self.error("expected `)`");
                }
            }
            while self.peek().text == "{" {
                op.regions.push(self.region(depth)?);
                self.accept(",");
            }
        }
        Ok(op)
    }
}
