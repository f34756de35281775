//! Loops that decide themselves when they end, as loops that count.
//!
//! `{ T; if c { B; again } }` where `c` compares what is counted with a bound is `for { T; B }` followed by `T`.

use super::{Structured, yields};
use crate::import::arithmetic::{INTEGER, constant_text, flags, is_exact_where_flags_hold, predicate};
use crate::map::LARGEST;
use crate::syntax::{Op, Region};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop as it is read.
pub(super) struct Loop {
    /// What each iteration is given: names and types.
    pub(super) arguments: Vec<(String, String)>,
    /// Of the first one.
    pub(super) first: Vec<String>,
    /// What is executed before it is decided whether there is another iteration.
    pub(super) test: Vec<Op>,
    pub(super) condition: String,
    pub(super) goes_on_where_it_holds: bool,
    pub(super) body: Vec<Op>,
    /// What the next iteration is given.
    pub(super) next: Vec<String>,
    pub(super) line: u32,
}

/// A loop that counts. The operations that are executed before its end is decided are to be executed behind it once
/// more.
pub(super) struct Counted {
    /// Numbers that it names.
    pub(super) before: Vec<Op>,
    pub(super) op: Op,
}

/// Indices that are numbers, by name.
pub(super) type Constants = FxHashMap<String, i128>;

/// The number that a constant is, where it is an index.
pub(super) fn number(op: &Op) -> Option<i128> {
    let (text, ty) = constant_text(op).ok().filter(|_| op.name == "arith.constant")?;
    text.replace(' ', "").parse().ok().filter(|n: &i128| ty == "index" && n.abs() < LARGEST)
}

impl Loop {
    /// The loop as one that counts, and names of what its arguments are in the end.
    pub(super) fn counted(self, constants: &Constants) -> Structured<(Counted, Vec<String>)> {
        let at = Op { name: "the loop".into(), line: self.line, ..Op::default() };
        let comparison = self.test.iter().find(|op| op.results.as_slice() == std::slice::from_ref(&self.condition));
        let comparison = comparison.filter(|op| op.name == "arith.cmpi" && op.operands.len() == 2);
        let comparison = comparison.ok_or_else(|| at.unsupported("how often it runs is data"))?;
        let position = |name: &String| self.arguments.iter().position(|(argument, _)| argument == name);
        let own: FxHashSet<&String> = self.test.iter().chain(&self.body).flat_map(|op| &op.results).collect();
        let [left, right] = [&comparison.operands[0], &comparison.operands[1]];
        let (counter, bound, is_left) = match (position(left), position(right)) {
            (Some(counter), None) => (counter, right, true),
            (None, Some(counter)) => (counter, left, false),
            _ => return Err(at.unsupported("it does not compare what it counts with a bound")),
        };
        let (name, ty) = &self.arguments[counter];
        if ty != "index" {
            return Err(at.unsupported(format!("it counts in `{ty}`")));
        }
        if own.contains(bound) && !constants.contains_key(bound) {
            return Err(at.unsupported("its bound is computed in it"));
        }
        let extra = match (predicate(comparison, &INTEGER)?, is_left, self.goes_on_where_it_holds) {
            ("slt", true, true) | ("sgt", false, true) | ("sge", true, false) | ("sle", false, false) => 0,
            ("sle", true, true) | ("sge", false, true) | ("sgt", true, false) | ("slt", false, false) => 1,
            (other, ..) => return Err(at.unsupported(format!("it ends by the comparison `{other}`"))),
        };
        let next = &self.next[counter];
        let counting = self.test.iter().chain(&self.body).find(|op| op.results.first() == Some(next));
        let counting = counting.filter(|op| op.name == "arith.addi");
        let counting = counting.ok_or_else(|| at.unsupported("it does not count up by a number"))?;
        let step = match counting.operands.as_slice() {
            [a, b] if a == name => constants.get(b),
            [a, b] if b == name => constants.get(a),
            _ => None,
        };
        let step = step.copied().filter(|step| *step > 0);
        if !is_exact_where_flags_hold(&flags(counting)?) {
            return Err(at.unsupported("what it adds promises more than that signed numbers do not overflow"));
        }
        let step = step.ok_or_else(|| at.unsupported("it does not count up by a number"))?;
        let line = self.line;
        let index = |name: &str, number: i128| constant(name, number, line);
        // The counter is also carried: its last value may be looked at.
        let inner = |(name, ty): &(String, String)| (format!("{name} carried"), ty.clone());
        let carried = |n: usize| if n == counter { inner(&self.arguments[n]) } else { self.arguments[n].clone() };
        let mut arguments = vec![self.arguments[counter].clone()];
        arguments.extend((0..self.arguments.len()).map(carried));
        let mut before = vec![index("%step of the loop", step)];
        let mut upper = bound.clone();
        if let Some(&number) = constants.get(bound) {
            upper = "%bound of the loop".into();
            before.push(index(&upper, number + extra));
        } else if extra != 0 {
            before.push(index("%one of the loop", extra));
            let operands = vec![bound.clone(), "%one of the loop".into()];
            upper = "%bound of the loop".into();
            before.push(Op {
                name: "arith.addi".into(),
                results: vec![upper.clone()],
                operands,
                operand_types: vec!["index".into()],
                result_types: vec!["index".into()],
                line,
                ..Op::default()
            });
        }
        let mut body = self.test;
        body.extend(self.body);
        body.push(yields(self.next, line));
        let results: Vec<String> = self.arguments.iter().map(|(name, _)| format!("{name} behind")).collect();
        let mut operands = vec![self.first[counter].clone(), upper, "%step of the loop".into()];
        operands.extend(self.first);
        let op = Op {
            name: "scf.for".into(),
            results: results.clone(),
            operands,
            regions: vec![Region { arguments, ops: body, more: vec![] }],
            result_types: self.arguments.iter().map(|(_, ty)| ty.clone()).collect(),
            line,
            ..Op::default()
        };
        Ok((Counted { before, op }, results))
    }
}

fn constant(name: &str, number: i128, line: u32) -> Op {
    Op {
        name: "arith.constant".into(),
        results: vec![name.to_string()],
        attributes: vec![("value".into(), number.to_string())],
        result_types: vec!["index".into()],
        line,
        ..Op::default()
    }
}
