//! Loops and branches: `affine` and `scf`.
//!
//! A carried value is a cell of its own: written before the loop, read at the head of each iteration, written at its
//! end, and read after the loop. A branch on sizes and loop variables is a loop that runs at most once.

use super::{Imported, Importer, Meaning};
use crate::map::{self, Constraints};
use crate::parallel::{self, InOrder};
use crate::syntax::{Op, Region};
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{
    Affine, Array, ArrayId, ArrayKind, Constraint, For, If, Item, Parallel, Reduction, Store, ValueId,
};

/// Bounds of a loop: lower ones, upper ones, step.
struct Bounds {
    lower: Vec<Affine>,
    upper: Vec<Affine>,
    step: i128,
}

impl Importer<'_> {
    pub(super) fn affine_for(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let sizes = op.integers("operandSegmentSizes")?;
        let [lower, upper, _] = sizes.as_slice() else { return Err(op.unsupported("the form of the bounds")) };
        let (lower, upper) = (*lower as usize, *upper as usize);
        if lower + upper > op.operands.len() {
            return Err(op.unsupported("operands are missing"));
        }
        let bounds = Bounds {
            lower: self.mapped(op, "lowerBoundMap", &op.operands[..lower], items)?,
            upper: self.mapped(op, "upperBoundMap", &op.operands[lower..lower + upper], items)?,
            step: op.integers("step")?.first().copied().unwrap_or(1),
        };
        self.loop_(op, bounds, lower + upper, items)
    }

    pub(super) fn scf_for(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let lower = match self.operand(op, 0)? {
            Meaning::Index(affine) => self.greatest(&affine),
            Meaning::Greatest(all) => all,
            _ => return Err(op.unsupported("the lower bound is computed from data")),
        };
        let upper = match self.operand(op, 1)? {
            Meaning::Index(affine) => self.least(&affine),
            Meaning::Least(all) => all,
            _ => return Err(op.unsupported("the upper bound is computed from data")),
        };
        let step = match self.operand(op, 2)? {
            Meaning::Index(affine) => affine.as_constant(),
            _ => None,
        };
        let step = step.ok_or_else(|| op.unsupported("the step is no constant"))?;
        self.loop_(op, Bounds { lower, upper, step }, 3, items)
    }

    /// Loops in one order, of which it is known that there are others.
    pub(super) fn parallel(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let InOrder { before, loops, reductions } = parallel::in_order(op)?;
        before.iter().try_for_each(|op| self.op(op, items))?;
        let first = self.nest.arrays.len() as u32;
        self.op(&loops, items)?;
        let mut vars = vec![];
        let mut body = &*items;
        for (name, _) in &self.region(op, 0)?.arguments {
            let mut found = body.iter().rev().filter_map(|item| if let Item::For(x) = item { Some(x) } else { None });
            let x = found.next().ok_or_else(|| op.unsupported("its loops are not nested"))?;
            vars.push((x.var, name.clone()));
            body = &x.body;
        }
        // Each of the loops first makes a cell for each reduction.
        let (depth, count) = (vars.len() as u32, reductions.len() as u32);
        let reductions = (0..).zip(reductions).map(|(n, reduction)| Reduction {
            cells: (0..depth).map(|level| ArrayId(first + level * count + n)).collect(),
            by: reduction.by,
            line: reduction.line,
        });
        let reductions = reductions.collect();
        let own = (first + depth * count..self.nest.arrays.len() as u32).map(ArrayId).collect();
        self.nest.parallel.push(Parallel { vars, own, reductions, line: op.line });
        Ok(())
    }

    fn loop_(&mut self, op: &Op, bounds: Bounds, first: usize, items: &mut Vec<Item>) -> Imported<()> {
        let Bounds { lower, upper, step } = bounds;
        if step <= 0 || lower.is_empty() || upper.is_empty() {
            return Err(op.unsupported("the step is not positive, or there are no bounds"));
        }
        let region = self.region(op, 0)?.clone();
        let Some(((name, ty), carried)) = region.arguments.split_first() else {
            return Err(op.unsupported("the body has no variable"));
        };
        if ty != "index" {
            return Err(op.unsupported(format!("the variable is a `{ty}`")));
        }
        let inits = &op.operands[first..];
        if inits.len() != carried.len() || op.results.len() != carried.len() {
            return Err(op.unsupported("as many results as carried values are expected"));
        }
        let cells = self.cells(op, carried)?;
        for (cell, init) in cells.iter().zip(inits) {
            let value = self.value(op, init)?;
            self.set(*cell, value, op.line, items);
        }
        let var = self.names.var();
        let length = self.given.len();
        self.given.extend(lower.iter().map(|bound| Constraint::at_least(&Affine::var(var), bound)));
        self.given.extend(upper.iter().map(|bound| Constraint::less(&Affine::var(var), bound)));
        let body = self.scoped(|this| {
            let mut body = vec![];
            this.define(name, Meaning::Index(Affine::var(var)));
            for (cell, (name, ty)) in cells.iter().zip(carried) {
                let value = this.load_cell(*cell, vec![], op.line, &mut body);
                let meaning = this.computed(value, ty.clone(), op.line, &mut body);
                this.define(name, meaning);
            }
            this.body(op, &region, &cells, &mut body)?;
            Ok(body)
        })?;
        self.given.truncate(length);
        items.push(Item::For(For { var, lower, upper, step, body, line: op.line }));
        self.results(op, &cells, items);
        Ok(())
    }

    fn region<'o>(&self, op: &'o Op, n: usize) -> Imported<&'o Region> {
        let region = op.regions.get(n).ok_or_else(|| op.unsupported("a region is missing"))?;
        super::one_block(region)?;
        Ok(region)
    }

    fn cells(&mut self, op: &Op, carried: &[(String, String)]) -> Imported<Vec<ArrayId>> {
        let cell = |(name, ty): &(String, String)| {
            if ty.starts_with("memref") {
                return Err(op.unsupported(format!("a value of type `{ty}` is carried")));
            }
            let (name, element) = (name.clone(), ty.clone());
            Ok(Array { name, kind: ArrayKind::Cell, element, shape: vec![], automatic: false, alignment: 1 })
        };
        let arrays = carried.iter().map(cell).collect::<Imported<Vec<_>>>()?;
        Ok(arrays.into_iter().map(|array| self.add_array(array)).collect())
    }

    fn set(&mut self, cell: ArrayId, value: ValueId, line: u32, items: &mut Vec<Item>) {
        items.push(Item::Store(Store { array: cell, subscripts: vec![], value, line }));
    }

    /// The body of a loop or branch; what it yields goes to the cells.
    fn body(&mut self, op: &Op, region: &Region, cells: &[ArrayId], items: &mut Vec<Item>) -> Imported<()> {
        let yields = |op: &Op| matches!(op.name.as_str(), "affine.yield" | "scf.yield");
        let (rest, yielded) = match region.ops.split_last() {
            Some((last, rest)) if yields(last) => (rest, last.operands.as_slice()),
            _ => (region.ops.as_slice(), [].as_slice()),
        };
        for inner in rest {
            self.op(inner, items)?;
        }
        if yielded.len() != cells.len() {
            return Err(op.unsupported("as many yielded values as results are expected"));
        }
        // All are read before any is written.
        let values = yielded.iter().map(|name| self.value(op, name)).collect::<Imported<Vec<_>>>()?;
        for (cell, value) in cells.iter().zip(values) {
            self.set(*cell, value, op.line, items);
        }
        Ok(())
    }

    fn results(&mut self, op: &Op, cells: &[ArrayId], items: &mut Vec<Item>) {
        for (cell, name) in cells.iter().zip(&op.results) {
            let ty = self.nest.array(*cell).element.clone();
            let value = self.load_cell(*cell, vec![], op.line, items);
            let meaning = self.computed(value, ty, op.line, items);
            self.define(name, meaning);
        }
    }

    pub(super) fn affine_if(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let text = op.attribute("condition").ok_or_else(|| op.unsupported("the condition is missing"))?;
        let operands = self.affines(op, &op.operands)?;
        let mut checked = vec![];
        let constraints = map::constraints(text, &operands, &mut checked).map_err(|what| op.unsupported(what))?;
        if self.loses_poison(&operands, constraints.iter().map(|(_, expr)| expr)) {
            return Err(op.unsupported("an index that may be poison is gone from the condition"));
        }
        self.check(&checked, op.line, items);
        self.affine_branch(op, &constraints, items)
    }

    pub(super) fn scf_if(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let name = op.operands.first().ok_or_else(|| op.unsupported("the condition is missing"))?;
        let condition = self.value(op, name)?;
        if let Some(constraints) = self.affine_condition(condition) {
            return self.affine_branch(op, &constraints, items);
        }
        if self.chosen(op, condition, items)? {
            return Ok(());
        }
        let cells = self.branch_cells(op)?;
        let (mut then, mut otherwise) = (vec![], vec![]);
        self.arm(op, 0, &cells, &mut then)?;
        self.arm(op, 1, &cells, &mut otherwise)?;
        items.push(Item::If(If { condition, then, otherwise, line: op.line }));
        self.results(op, &cells, items);
        Ok(())
    }

    fn branch_cells(&mut self, op: &Op) -> Imported<Vec<ArrayId>> {
        if op.results.len() != op.result_types.len() || (op.regions.len() < 2 && !op.results.is_empty()) {
            return Err(op.unsupported("results need two arms and types"));
        }
        let carried: Vec<_> = op.results.iter().cloned().zip(op.result_types.iter().cloned()).collect();
        self.cells(op, &carried)
    }

    fn arm(&mut self, op: &Op, n: usize, cells: &[ArrayId], items: &mut Vec<Item>) -> Imported<()> {
        let Some(region) = op.regions.get(n) else { return Ok(()) };
        super::one_block(region)?;
        self.scoped(|this| this.body(op, region, cells, items))
    }

    /// Comparisons of indices that all hold, as constraints.
    pub(super) fn affine_condition(&self, condition: ValueId) -> Option<Constraints> {
        let Value::Op(op) = self.pool.get(condition) else { return None };
        if op.name == "arith.andi" {
            let all = op.operands.iter().map(|&operand| self.affine_condition(operand)).collect::<Option<Vec<_>>>()?;
            return Some(all.concat());
        }
        let predicate = op.name.strip_prefix("arith.cmpi.")?;
        let [a, b] = op.operands.as_slice() else { return None };
        let (Value::Index(a), Value::Index(b)) = (self.pool.get(*a), self.pool.get(*b)) else { return None };
        let difference = a.plus(-1, b);
        if self.loses_poison([a, b], [&difference]) {
            return None;
        }
        Some(match predicate {
            "eq" => vec![(true, difference)],
            "sge" => vec![(false, difference)],
            "sgt" => vec![(false, difference.offset(-1))],
            "sle" => vec![(false, difference.times(-1))],
            "slt" => vec![(false, difference.times(-1).offset(-1))],
            _ => return None,
        })
    }

    /// `for g = 0 to min(1, e + 1, ..)` runs its body once where every `e` is at least 0.
    fn affine_branch(&mut self, op: &Op, constraints: &Constraints, items: &mut Vec<Item>) -> Imported<()> {
        let cells = self.branch_cells(op)?;
        let mut facts = vec![];
        for (equality, expr) in constraints {
            facts.push(expr.clone());
            if *equality {
                facts.push(expr.times(-1));
            }
        }
        self.guarded(op, 0, &cells, facts.clone(), items)?;
        for (n, fact) in facts.iter().enumerate() {
            // The first fact that does not hold is this one.
            let mut here = facts[..n].to_vec();
            here.push(fact.times(-1).offset(-1));
            self.guarded(op, 1, &cells, here, items)?;
        }
        self.results(op, &cells, items);
        Ok(())
    }

    fn guarded(
        &mut self,
        op: &Op,
        n: usize,
        cells: &[ArrayId],
        facts: Vec<Affine>,
        items: &mut Vec<Item>,
    ) -> Imported<()> {
        let mut body = vec![];
        let length = self.given.len();
        self.given.extend(facts.iter().map(|fact| Constraint::at_least(fact, &Affine::default())));
        self.arm(op, n, cells, &mut body)?;
        self.given.truncate(length);
        let mut upper = vec![Affine::constant(1)];
        upper.extend(facts.iter().map(|fact| fact.offset(1)));
        // The values that decide it may be undefined, whatever it guards.
        let is_data = facts.iter().any(|fact| fact.vars().iter().any(|var| self.binds.contains_key(var)));
        if !body.is_empty() || is_data {
            let (var, lower) = (self.names.var(), vec![Affine::default()]);
            items.push(Item::For(For { var, lower, upper, step: 1, body, line: op.line }));
        }
        Ok(())
    }
}
