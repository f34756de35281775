//! Pretty forms, read into what the generic form would say.

use super::Parsed;
use super::cursor::Cursor;
use crate::lex::Kind;
use crate::syntax::{Op, Region};

impl Cursor<'_> {
    pub(super) fn pretty(&mut self, depth: usize) -> Parsed<Op> {
        let name = self.peek().text.to_string();
        let mut op = Op { name: name.clone(), line: self.peek().line, ..Op::default() };
        let unknown = || format!("the form of `{name}` is not known");
        let Some((dialect, rest)) = name.split_once('.') else {
            self.skip(1);
            return match name.as_str() {
                "return" => self.yielded(Op { name: "func.return".into(), ..op }),
                "call" => self.call(Op { name: "func.call".into(), ..op }),
                _ => self.error(unknown()),
            };
        };
        self.skip(1);
        match (dialect, rest) {
            ("affine", "for") => self.affine_for(op, depth),
            ("affine", "if") => self.affine_if(op, depth),
            ("affine", "load") | ("memref", "load") => self.load(op),
            ("affine", "store") | ("memref", "store") => self.store(op),
            ("affine", "apply" | "min" | "max") => self.apply(op),
            ("affine" | "scf", "yield") | ("func", "return") | ("scf", "reduce.return") => self.yielded(op),
            ("affine", "parallel") => self.affine_parallel(op, depth),
            ("scf", "parallel") => self.scf_parallel(op, depth),
            ("scf", "forall") => self.scf_forall(op, depth),
            ("scf", "reduce") => self.reduce(op, depth),
            ("scf", "forall.in_parallel") => self.body(op, Region::default(), depth),
            ("scf", "for") => self.scf_for(op, depth),
            ("scf", "if") => self.scf_if(op, depth),
            ("scf", "while") => self.scf_while(op, depth),
            ("scf", "condition") => self.scf_condition(op),
            ("cf", "br") => {
                op.successors = vec![self.successor()?];
                Ok(op)
            }
            ("cf", "cond_br") => self.cond_br(op),
            ("cf", "switch") => self.switch(op),
            ("memref", "alloc" | "alloca") => self.alloc(op),
            ("memref", "dealloc") => self.yielded(op),
            ("memref", "dim") => self.yielded(op),
            ("memref", "subview" | "reinterpret_cast" | "cast" | "copy") => self.view(op),
            ("func", "call") => self.call(op),
            ("arith", "constant") => {
                op.attributes = self.attributes()?;
                let start = self.position();
                let value = self.constant_text();
                let ty = if self.accept(":") { self.type_text()? } else { "i1".to_string() };
                if start == self.position() {
                    return self.error("expected a value");
                }
                op.attributes.push(("value".into(), value));
                op.result_types = vec![ty];
                Ok(op)
            }
            ("arith" | "math", _) => self.arithmetic(op),
            _ => {
                let line = op.line;
                self.error::<Op>(unknown()).map_err(|e| crate::Unsupported { line, ..e })
            }
        }
    }

    pub(super) fn constant_text(&mut self) -> String {
        let start = self.position();
        self.accept("-");
        self.skip(1);
        if self.peek().text == "<" {
            self.skip_balanced();
        }
        self.text_since(start)
    }

    /// Operands with their types: `%a, %b : t, u`.
    fn yielded(&mut self, mut op: Op) -> Parsed<Op> {
        op.attributes = self.attributes()?;
        op.operands = self.operands();
        if op.attributes.is_empty() {
            op.attributes = self.attributes()?;
        }
        if self.accept(":") {
            op.operand_types.push(self.type_text()?);
            while self.accept(",") {
                op.operand_types.push(self.type_text()?);
            }
        }
        Ok(op)
    }

    fn call(&mut self, mut op: Op) -> Parsed<Op> {
        if self.peek().kind != Kind::Symbol {
            return self.error("expected the name of a function");
        }
        op.attributes.push(("callee".into(), self.next().text.to_string()));
        self.expect("(")?;
        op.operands = self.operands();
        self.expect(")")?;
        op.attributes.extend(self.attributes()?);
        self.expect(":")?;
        op.operand_types = self.types()?;
        self.skip(1);
        op.result_types = self.types()?;
        Ok(op)
    }

    fn alloc(&mut self, mut op: Op) -> Parsed<Op> {
        self.expect("(")?;
        op.operands = self.operands();
        self.expect(")")?;
        op.attributes = self.attributes()?;
        self.expect(":")?;
        op.result_types = vec![self.type_text()?];
        Ok(op)
    }

    /// `[%i + 1, symbol(%n)]` as the map and operands that the generic form has.
    fn subscripts(&mut self, op: &mut Op) -> Parsed<()> {
        let mut names = vec![];
        self.expect("[")?;
        let expressions = self.expressions("]", &mut names)?;
        op.attributes.push(("map".into(), map(&names, &expressions)));
        op.operands.extend(names);
        Ok(())
    }

    /// Expressions of a map up to what closes their list, over the dimensions that names have.
    pub(super) fn expressions(&mut self, end: &str, names: &mut Vec<String>) -> Parsed<Vec<String>> {
        let mut found = vec![];
        while !self.accept(end) {
            found.push(self.expression(names)?);
            if !self.accept(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(found)
    }

    /// One expression of a map.
    pub(super) fn expression(&mut self, names: &mut Vec<String>) -> Parsed<String> {
        let mut text = String::new();
        let mut depth = 0;
        while depth > 0 || !matches!(self.peek().text, "," | ")" | "]") {
            let token = self.next();
            match (token.kind, token.text) {
                (Kind::End, _) => return self.error("an expression does not end"),
                (Kind::Value, name) => {
                    let at = names.iter().position(|n| n == name).unwrap_or_else(|| {
                        names.push(name.to_string());
                        names.len() - 1
                    });
                    text += &format!(" d{at}");
                }
                (_, "symbol") => {}
                (_, other) => {
                    depth += i32::from(other == "(") - i32::from(other == ")");
                    text += &format!(" {other}");
                }
            }
        }
        Ok(text)
    }

    fn load(&mut self, mut op: Op) -> Parsed<Op> {
        op.operands = self.operands();
        self.subscripts(&mut op)?;
        op.attributes.extend(self.attributes()?);
        self.expect(":")?;
        op.operand_types = vec![self.type_text()?];
        Ok(op)
    }

    fn store(&mut self, mut op: Op) -> Parsed<Op> {
        let value = self.operands();
        // The array follows a comma that `operands` has taken.
        op.operands = value;
        self.subscripts(&mut op)?;
        op.attributes.extend(self.attributes()?);
        self.expect(":")?;
        op.operand_types = vec![self.type_text()?];
        Ok(op)
    }

    /// `#map(%a)[%b]`: the map's text; operands are added.
    fn applied(&mut self, operands: &mut Vec<String>) -> Parsed<String> {
        let start = self.position();
        if !matches!(self.peek().kind, Kind::Hash | Kind::Word) {
            return self.error(format!("expected a map, found `{}`", self.peek().text));
        }
        self.skip(1);
        if self.peek().text == "<" {
            self.skip_balanced();
        }
        let map = self.text_since(start);
        self.expect("(")?;
        operands.extend(self.operands());
        self.expect(")")?;
        if self.accept("[") {
            operands.extend(self.operands());
            self.expect("]")?;
        }
        Ok(map)
    }

    fn apply(&mut self, mut op: Op) -> Parsed<Op> {
        let map = self.applied(&mut op.operands)?;
        op.attributes.push(("map".into(), map));
        op.attributes.extend(self.attributes()?);
        Ok(op)
    }

    fn bound(&mut self, operands: &mut Vec<String>) -> Parsed<String> {
        if self.peek().text == "min" || self.peek().text == "max" {
            self.skip(1);
        }
        let token = self.peek();
        match token.kind {
            Kind::Value => {
                self.skip(1);
                operands.push(token.text.to_string());
                Ok("affine_map<(d0) -> (d0)>".into())
            }
            Kind::Integer | Kind::Mark => {
                let minus = if self.accept("-") { "-" } else { "" };
                Ok(format!("affine_map<() -> ({minus}{})>", self.next().text))
            }
            _ => self.applied(operands),
        }
    }

    fn affine_for(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        let mut region = Region::default();
        let var = self.next().text.to_string();
        region.arguments.push((var, "index".into()));
        self.expect("=")?;
        let mut sizes = vec![];
        for name in ["lowerBoundMap", "upperBoundMap"] {
            let before = op.operands.len();
            let map = self.bound(&mut op.operands)?;
            op.attributes.push((name.into(), map));
            sizes.push((op.operands.len() - before).to_string());
            if name == "lowerBoundMap" {
                self.expect("to")?;
            }
        }
        let step = if self.accept("step") { self.next().text.to_string() } else { "1".into() };
        op.attributes.push(("step".into(), step));
        let before = op.operands.len();
        self.carried(&mut op, &mut region)?;
        sizes.push((op.operands.len() - before).to_string());
        op.attributes.push(("operandSegmentSizes".into(), sizes.join(", ")));
        self.body(op, region, depth)
    }

    /// `iter_args(%a = %b) -> (t)`.
    fn carried(&mut self, op: &mut Op, region: &mut Region) -> Parsed<()> {
        if !self.accept("iter_args") {
            return Ok(());
        }
        let mut names = vec![];
        self.expect("(")?;
        while !self.accept(")") {
            names.push(self.next().text.to_string());
            self.expect("=")?;
            op.operands.push(self.next().text.to_string());
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        self.skip(1);
        op.result_types = self.types()?;
        if names.len() != op.result_types.len() {
            return self.error("as many types as carried values are expected");
        }
        region.arguments.extend(names.into_iter().zip(op.result_types.clone()));
        Ok(())
    }

    pub(super) fn body(&mut self, mut op: Op, region: Region, depth: usize) -> Parsed<Op> {
        let Region { ops, more, .. } = self.region(depth)?;
        op.regions.push(Region { ops, more, ..region });
        op.attributes.extend(self.attributes()?);
        Ok(op)
    }

    fn scf_for(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        let mut region = Region::default();
        let var = self.next().text.to_string();
        region.arguments.push((var, "index".into()));
        self.expect("=")?;
        op.operands.push(self.next().text.to_string());
        self.expect("to")?;
        op.operands.push(self.next().text.to_string());
        self.expect("step")?;
        op.operands.push(self.next().text.to_string());
        self.carried(&mut op, &mut region)?;
        if self.accept(":") {
            region.arguments[0].1 = self.type_text()?;
        }
        self.body(op, region, depth)
    }

    fn scf_if(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        op.operands = self.operands();
        self.arms(op, depth)
    }

    /// `scf.while (%a = %b) : (t) -> u { .. } do { .. }`.
    fn scf_while(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        let mut names = vec![];
        if self.accept("(") {
            while !self.accept(")") {
                names.push(self.next().text.to_string());
                self.expect("=")?;
                op.operands.push(self.next().text.to_string());
                if !self.accept(",") {
                    self.expect(")")?;
                    break;
                }
            }
        }
        self.expect(":")?;
        op.operand_types = self.types()?;
        self.skip(1);
        op.result_types = self.types()?;
        if names.len() != op.operand_types.len() {
            return self.error("as many types as carried values are expected");
        }
        let Region { ops, more, .. } = self.region(depth)?;
        let arguments = names.into_iter().zip(op.operand_types.clone()).collect();
        op.regions.push(Region { arguments, ops, more });
        self.expect("do")?;
        op.regions.push(self.region(depth)?);
        if self.accept("attributes") {
            self.attributes()?;
        }
        Ok(op)
    }

    /// `scf.condition(%c) %a, %b : t, u`.
    fn scf_condition(&mut self, mut op: Op) -> Parsed<Op> {
        self.expect("(")?;
        op.operands = self.operands();
        self.expect(")")?;
        op.operands.extend(self.operands());
        if self.accept(":") {
            op.operand_types.push(self.type_text()?);
            while self.accept(",") {
                op.operand_types.push(self.type_text()?);
            }
        }
        Ok(op)
    }

    /// `cf.cond_br %c, ^bb1(%a : t), ^bb2`.
    fn cond_br(&mut self, mut op: Op) -> Parsed<Op> {
        op.operands = vec![self.next().text.to_string()];
        op.attributes = self.attributes()?;
        self.expect(",")?;
        op.successors.push(self.successor()?);
        self.expect(",")?;
        op.successors.push(self.successor()?);
        Ok(op)
    }

    /// `cf.switch %a : i32, [default: ^bb1(%b : t), 4: ^bb2]`.
    fn switch(&mut self, mut op: Op) -> Parsed<Op> {
        op.operands = vec![self.next().text.to_string()];
        self.expect(":")?;
        op.operand_types = vec![self.type_text()?];
        self.expect(",")?;
        self.expect("[")?;
        self.expect("default")?;
        self.expect(":")?;
        op.successors.push(self.successor()?);
        let mut cases = vec![];
        while self.accept(",") {
            let start = self.position();
            while !matches!(self.peek().text, ":" | "]" | "") {
                self.skip(1);
            }
            cases.push(self.text_since(start));
            self.expect(":")?;
            op.successors.push(self.successor()?);
        }
        self.expect("]")?;
        op.attributes = self.attributes()?;
        op.attributes.push(("case_values".into(), cases.join(", ")));
        Ok(op)
    }

    fn affine_if(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        let set = self.applied(&mut op.operands)?;
        op.attributes.push(("condition".into(), set));
        self.arms(op, depth)
    }

    fn arms(&mut self, mut op: Op, depth: usize) -> Parsed<Op> {
        if self.peek().kind == Kind::Arrow {
            self.skip(1);
            op.result_types = self.types()?;
        }
        op.regions.push(self.region(depth)?);
        if self.accept("else") {
            op.regions.push(self.region(depth)?);
        }
        op.attributes.extend(self.attributes()?);
        Ok(op)
    }

    /// `arith.cmpi slt, %a, %b : i32`, `arith.addi %a, %b overflow<nsw> : i32`, `arith.extsi %a : i8 to i32`.
    fn arithmetic(&mut self, mut op: Op) -> Parsed<Op> {
        if op.name.starts_with("arith.cmp") {
            op.attributes.push(("predicate".into(), self.next().text.to_string()));
            self.expect(",")?;
        }
        op.operands = self.operands();
        while matches!(self.peek().text, "overflow" | "fastmath") {
            let name = self.next().text.to_string();
            let start = self.position();
            self.skip_balanced();
            op.attributes.push((name, self.text_since(start)));
        }
        op.attributes.extend(self.attributes()?);
        self.expect(":")?;
        op.operand_types = vec![self.type_text()?];
        while self.accept(",") {
            op.operand_types.push(self.type_text()?);
        }
        let result = if self.accept("to") { self.type_text()? } else { op.operand_types[0].clone() };
        op.result_types = vec![if op.name.starts_with("arith.cmp") { "i1".into() } else { result }];
        Ok(op)
    }
}

/// The text of a map from as many dimensions as there are names.
pub(super) fn map(names: &[String], expressions: &[String]) -> String {
    let dims: Vec<String> = (0..names.len()).map(|n| format!("d{n}")).collect();
    format!("affine_map<({}) -> ({})>", dims.join(", "), expressions.join(","))
}
