//! Branches that only choose between values: `scf.if` with arms that compute is `arith.select`, and a selection by
//! comparisons of indices is a branch on them.

use super::{Imported, Importer, Meaning};
use crate::syntax::{Op, Region};
use rewright_cfg_skeleton::nest::value::{Value, may_be_poison, may_trap};
use rewright_cfg_skeleton::nest::{Affine, Item, ValueId, Var};
use rustc_hash::FxHashSet;

/// Whether executing an operation where it was not executed changes nothing.
fn is_pure(op: &Op) -> bool {
    match op.name.as_str() {
        "affine.apply" | "scf.yield" => true,
        "scf.if" => op.regions.len() == 2 && op.regions.iter().all(only_computes),
        name => (name.starts_with("arith.") || name.starts_with("math.")) && !may_trap(name),
    }
}

fn only_computes(region: &Region) -> bool {
    region.more.is_empty() && region.ops.iter().all(is_pure)
}

/// Whether memory or a carried value may hold what has no value: an array of the function's own before it is written, a
/// result with promises, and what other functions do.
pub(super) fn may_hold_poison(region: &Region) -> bool {
    let makes = |op: &Op| match op.name.as_str() {
        "memref.alloc" | "memref.alloca" | "arith.fptosi" | "arith.fptoui" => true,
        "arith.shli" | "arith.shrsi" | "arith.shrui" => true,
        "arith.constant" | "arith.cmpi" => false,
        name if name.starts_with("arith.") || name.starts_with("math.") => {
            op.attributes.iter().any(|(name, text)| name != "predicate" && !text.contains("none"))
        }
        name => {
            !["affine.", "scf.", "memref.", "cf."].iter().any(|dialect| name.starts_with(dialect))
                && name != "func.return"
        }
    };
    let inside = |op: &Op| makes(op) || op.regions.iter().any(may_hold_poison);
    region.ops.iter().any(inside) || region.more.iter().any(|block| block.ops.iter().any(inside))
}

impl Importer<'_> {
    /// The results of a branch as selections, where its arms only compute and the condition has a value: to branch on
    /// a condition without a value is undefined, to select by it is not.
    pub(super) fn chosen(&mut self, op: &Op, condition: ValueId, items: &mut Vec<Item>) -> Imported<bool> {
        if op.results.is_empty() || !is_pure(op) || self.may_be_undefined(condition) {
            return Ok(false);
        }
        let mut arms = vec![];
        for region in &op.regions {
            arms.push(self.scoped(|this| this.yielded(op, region, items))?);
        }
        let [then, otherwise] = &arms[..] else { return Ok(false) };
        if [then, otherwise].iter().any(|arm| arm.len() != op.results.len())
            || op.result_types.len() != op.results.len()
        {
            return Err(op.unsupported("as many yielded values as results are expected"));
        }
        for (n, (result, ty)) in op.results.iter().zip(&op.result_types).enumerate() {
            // No name of a program has a blank.
            let names = ["then", "else"].map(|arm| format!("{result} {arm}"));
            for (name, arm) in names.iter().zip([then, otherwise]) {
                self.define(name, arm[n].clone());
            }
            let select = Op {
                name: "arith.select".into(),
                results: vec![result.clone()],
                operands: [&op.operands[..1], &names].concat(),
                operand_types: vec!["i1".into(), ty.clone(), ty.clone()],
                result_types: vec![ty.clone()],
                line: op.line,
                ..Op::default()
            };
            self.arithmetic(&select, items)?;
        }
        Ok(true)
    }

    /// A selection by comparisons of indices as a branch on them; `None` where it is none of these.
    pub(super) fn branching(&mut self, op: &Op) -> Imported<Option<Op>> {
        let ("arith.select", [condition, then, otherwise]) = (op.name.as_str(), &op.operands[..]) else {
            return Ok(None);
        };
        let ty = op.operand_types.last().or(op.result_types.first()).cloned().unwrap_or_default();
        let condition = self.value(op, condition)?;
        if ty == "index" || self.affine_condition(condition).is_none() || self.may_be_undefined(condition) {
            return Ok(None);
        }
        let arm = |name: &String| {
            let operands = vec![name.clone()];
            let last = Op { name: "scf.yield".into(), operands, line: op.line, ..Op::default() };
            Region { ops: vec![last], ..Region::default() }
        };
        let (name, result_types) = ("scf.if".to_string(), vec![ty]);
        let regions = vec![arm(then), arm(otherwise)];
        Ok(Some(Op {
            name,
            result_types,
            regions,
            operands: op.operands[..1].to_vec(),
            attributes: vec![],
            ..op.clone()
        }))
    }

    /// What an arm gives.
    fn yielded(&mut self, op: &Op, region: &Region, items: &mut Vec<Item>) -> Imported<Vec<Meaning>> {
        let Some((last, rest)) = region.ops.split_last().filter(|(last, _)| last.name == "scf.yield") else {
            return Err(op.unsupported("an arm gives nothing"));
        };
        rest.iter().try_for_each(|inner| self.op(inner, items))?;
        last.operands.iter().map(|name| self.meaning(op, name)).collect()
    }

    /// Whether indices from which others are made may be poison, and these no longer show it: what cancels is still
    /// poison.
    pub(super) fn loses_poison<'x>(
        &self,
        from: impl IntoIterator<Item = &'x Affine>,
        made: impl IntoIterator<Item = &'x Affine>,
    ) -> bool {
        let vars = |all: &mut dyn Iterator<Item = &'x Affine>| all.flat_map(Affine::vars).collect::<FxHashSet<Var>>();
        let (from, made) = (vars(&mut from.into_iter()), vars(&mut made.into_iter()));
        let lost = from.difference(&made).filter_map(|var| self.binds.get(var));
        lost.into_iter().any(|value| self.may_be_undefined(*value))
    }

    pub(super) fn may_be_undefined(&self, condition: ValueId) -> bool {
        let (mut rest, mut seen) = (vec![condition], FxHashSet::default());
        while let Some(value) = rest.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.pool.get(value) {
                Value::Op(op) if may_be_poison(self.pool, op) => return true,
                Value::Load(_) | Value::Result(..) if self.may_hold_poison => return true,
                Value::Op(op) => rest.extend(&op.operands),
                Value::Index(index) => rest.extend(index.vars().iter().filter_map(|var| self.binds.get(var))),
                _ => {}
            }
        }
        false
    }
}
