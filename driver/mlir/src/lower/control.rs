//! Loops, branches and blocks.

use super::{Lowered, Lowering, Meaning, scalar};
use crate::map;
use crate::syntax::{Op, Region};

impl Lowering<'_> {
    pub(super) fn for_(&mut self, op: &Op) -> Lowered<()> {
        let region = op.regions.first().ok_or_else(|| op.unsupported("its body is missing"))?;
        let (lower, upper, step, first) = self.bounds(op)?;
        let Some(((name, ty), carried)) = region.arguments.split_first() else {
            return Err(op.unsupported("its body has no variable"));
        };
        if ty != "index" {
            return Err(op.unsupported(format!("a variable of type `{ty}`")));
        }
        let inits = self.values(op, &op.operands[first.min(op.operands.len())..])?;
        if inits.len() != carried.len() || op.results.len() != carried.len() {
            return Err(op.unsupported("as many results and first values as carried values are expected"));
        }
        let [head, body, exit] = [self.label(), self.label(), self.label()];
        self.end(&format!("jump {head}({})", [vec![lower], inits].concat().join(", ")));
        let counter = self.fresh();
        let (values, typed) = self.typed(op, carried)?;
        self.begin(&head, &[vec![format!("{counter}: i64")], typed].concat());
        let goes_on = self.compute("i8", &format!("icmp_slt{{i64}} {counter}, {upper}"));
        self.end(&format!("br {goes_on}, {body}, {exit}"));
        self.begin(&body, &[]);
        let names = [(name.clone(), Meaning::Value(counter.clone(), ty.clone()))].into_iter();
        let names = names
            .chain(carried.iter().zip(&values).map(|((n, t), v)| (n.clone(), Meaning::Value(v.clone(), t.clone()))));
        self.enter(names.collect());
        let yielded = self.body(op, region)?;
        self.leave();
        let step = self.constant("i64", step);
        let next = self.compute("i64", &format!("iadd{{i64}} {counter}, {step}"));
        self.end(&format!("jump {head}({})", [vec![next], yielded].concat().join(", ")));
        self.begin(&exit, &[]);
        for ((result, value), (_, ty)) in op.results.iter().zip(values).zip(carried) {
            self.define(result, Meaning::Value(value, ty.clone()));
        }
        Ok(())
    }

    /// Lower and upper bound, step, and the number of the first operand that is a first value.
    fn bounds(&mut self, op: &Op) -> Lowered<(String, String, i128, usize)> {
        if op.name == "scf.for" {
            let names = op.operands.get(..3).ok_or_else(|| op.unsupported("operands are missing"))?;
            let values = self.values(op, names)?;
            let step = self.numbers.get(&values[2]).copied().filter(|step| *step > 0);
            let step = step.ok_or_else(|| op.unsupported("the step is no positive constant"))?;
            return Ok((values[0].clone(), values[1].clone(), step, 3));
        }
        let sizes = op.integers("operandSegmentSizes")?;
        let [lower, upper, _] = sizes.as_slice() else { return Err(op.unsupported("the form of the bounds")) };
        let (lower, upper) = (*lower as usize, *upper as usize);
        if lower + upper > op.operands.len() {
            return Err(op.unsupported("operands are missing"));
        }
        let least = self.mapped(op, "lowerBoundMap", &op.operands[..lower])?;
        let most = self.mapped(op, "upperBoundMap", &op.operands[lower..lower + upper])?;
        let step = op.integers("step")?.first().copied().unwrap_or(1);
        if least.is_empty() || most.is_empty() || step <= 0 {
            return Err(op.unsupported("the step is not positive, or there are no bounds"));
        }
        Ok((self.extremum(least, "smax"), self.extremum(most, "smin"), step, lower + upper))
    }

    /// New values for parameters of a block, and these with their types.
    fn typed(&mut self, op: &Op, parameters: &[(String, String)]) -> Lowered<(Vec<String>, Vec<String>)> {
        let (mut values, mut typed) = (vec![], vec![]);
        for (_, ty) in parameters {
            let own = scalar(ty).ok_or_else(|| op.unsupported(format!("a value of type `{ty}` is carried")))?;
            let value = self.fresh();
            typed.push(format!("{value}: {own}"));
            values.push(value);
        }
        Ok((values, typed))
    }

    /// The operations of a region of one block; gives what it yields.
    fn body(&mut self, op: &Op, region: &Region) -> Lowered<Vec<String>> {
        if !region.more.is_empty() {
            return Err(op.unsupported("several blocks in a region"));
        }
        let yields = |op: &Op| matches!(op.name.as_str(), "affine.yield" | "scf.yield");
        let (rest, yielded) = match region.ops.split_last() {
            Some((last, rest)) if yields(last) => (rest, last.operands.as_slice()),
            _ => (region.ops.as_slice(), [].as_slice()),
        };
        self.ops(rest)?;
        self.passed(op, yielded)
    }

    pub(super) fn if_(&mut self, op: &Op) -> Lowered<()> {
        let condition = if op.name == "scf.if" {
            let name = op.operands.first().ok_or_else(|| op.unsupported("the condition is missing"))?;
            self.value(op, name)?.0
        } else {
            self.set(op)?
        };
        let [then, otherwise, join] = [self.label(), self.label(), self.label()];
        self.end(&format!("br {condition}, {then}, {otherwise}"));
        for (label, region) in [(then, op.regions.first()), (otherwise, op.regions.get(1))] {
            self.begin(&label, &[]);
            self.enter(Default::default());
            let yielded = region.map_or(Ok(vec![]), |region| self.body(op, region))?;
            self.leave();
            if yielded.len() != op.results.len() {
                return Err(op.unsupported("as many yielded values as results are expected"));
            }
            self.end(&format!("jump {join}{}", list(&yielded)));
        }
        self.joined(op, &join)
    }

    /// Begins the block behind, whose parameters are the results.
    fn joined(&mut self, op: &Op, label: &str) -> Lowered<()> {
        let results: Vec<_> = op.results.iter().cloned().zip(op.result_types.iter().cloned()).collect();
        if results.len() != op.results.len() {
            return Err(op.unsupported("the types of its results are not known"));
        }
        let (values, typed) = self.typed(op, &results)?;
        self.begin(label, &typed);
        for ((name, ty), value) in results.into_iter().zip(values) {
            self.define(&name, Meaning::Value(value, ty));
        }
        Ok(())
    }

    /// Whether all constraints of a set hold.
    fn set(&mut self, op: &Op) -> Lowered<String> {
        let text = op.attribute("condition").ok_or_else(|| op.unsupported("the condition is missing"))?;
        let known = self.values(op, &op.operands)?;
        let vars: Vec<_> = (0..known.len() as u32)
            .map(|n| rewright_cfg_skeleton::nest::Affine::var(rewright_cfg_skeleton::nest::affine::Var(n)))
            .collect();
        let constraints = map::constraints(text, &vars, &mut vec![]).map_err(|what| op.unsupported(what))?;
        let mut all = self.constant("i8", 1);
        for (equality, expr) in constraints {
            let value = self.affine(&expr, &known);
            let zero = self.constant("i64", 0);
            let name = if equality { "icmp_eq" } else { "icmp_sge" };
            let holds = self.compute("i8", &format!("{name}{{i64}} {value}, {zero}"));
            all = self.compute("i8", &format!("band{{i8}} {all}, {holds}"));
        }
        Ok(all)
    }

    /// `scf.while`: the first region decides, and gives what the second one, or what follows, gets.
    pub(super) fn while_(&mut self, op: &Op) -> Lowered<()> {
        let [before, after] = op.regions.as_slice() else { return Err(op.unsupported("two regions are expected")) };
        let Some((decision, ops)) = before.ops.split_last() else { return Err(op.unsupported("it has no condition")) };
        if decision.name != "scf.condition" || !before.more.is_empty() {
            return Err(op.unsupported("its first region has to end with `scf.condition`"));
        }
        let [head, body, exit] = [self.label(), self.label(), self.label()];
        let inits = self.passed(op, &op.operands)?;
        if inits.len() != before.arguments.len() {
            return Err(op.unsupported("as many first values as arguments are expected"));
        }
        self.end(&format!("jump {head}{}", list(&inits)));
        let (values, typed) = self.typed(op, &before.arguments)?;
        self.begin(&head, &typed);
        self.enter(named(&before.arguments, values));
        self.ops(ops)?;
        let passed = self.passed(decision, &decision.operands)?;
        self.leave();
        let Some((condition, passed)) = passed.split_first() else { return Err(decision.unsupported("no condition")) };
        self.end(&format!("br {condition}, {body}{}, {exit}{}", list(passed), list(passed)));
        let (values, typed) = self.typed(op, &after.arguments)?;
        self.begin(&body, &typed);
        self.enter(named(&after.arguments, values));
        let yielded = self.body(op, after)?;
        self.leave();
        self.end(&format!("jump {head}{}", list(&yielded)));
        self.joined(op, &exit)
    }

    /// `cf.br`, `cf.cond_br` and `cf.switch`.
    pub(super) fn branch(&mut self, op: &Op) -> Lowered<()> {
        let mut edges = vec![];
        for (label, operands) in &op.successors {
            let target = self.labels.get(label).cloned();
            let target = target.ok_or_else(|| op.unsupported(format!("`{label}` is no block that it can reach")))?;
            edges.push(format!("{target}{}", list(&self.passed(op, operands)?)));
        }
        match (op.name.as_str(), edges.as_slice()) {
            ("cf.br", [to]) => self.end(&format!("jump {to}")),
            ("cf.cond_br", [then, otherwise]) => {
                let name = op.operands.first().ok_or_else(|| op.unsupported("the condition is missing"))?;
                let condition = self.value(op, name)?.0;
                self.end(&format!("br {condition}, {then}, {otherwise}"));
            }
            ("cf.switch", [default, cases @ ..]) => return self.switch(op, default, cases),
            _ => return Err(op.unsupported("the number of its successors")),
        }
        Ok(())
    }

    /// One comparison after the other.
    fn switch(&mut self, op: &Op, default: &str, cases: &[String]) -> Lowered<()> {
        let name = op.operands.first().ok_or_else(|| op.unsupported("what decides is missing"))?;
        let (value, ty) = self.value(op, name)?;
        let own = scalar(&ty).ok_or_else(|| op.unsupported(format!("a value of type `{ty}` decides")))?;
        let numbers = op.integers("case_values")?;
        if numbers.len() != cases.len() {
            return Err(op.unsupported("as many numbers as blocks for them are expected"));
        }
        for (number, to) in numbers.into_iter().zip(cases) {
            let number = self.constant(&own, number);
            let is = self.compute("i8", &format!("icmp_eq{{{own}}} {value}, {number}"));
            let next = self.label();
            self.end(&format!("br {is}, {to}, {next}"));
            self.begin(&next, &[]);
        }
        self.end(&format!("jump {default}"));
        Ok(())
    }
}

fn named(parameters: &[(String, String)], values: Vec<String>) -> rustc_hash::FxHashMap<String, Meaning> {
    parameters.iter().zip(values).map(|((name, ty), value)| (name.clone(), Meaning::Value(value, ty.clone()))).collect()
}

fn list(values: &[String]) -> String {
    if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) }
}
