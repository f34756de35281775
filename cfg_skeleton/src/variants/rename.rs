//! Uses of values that several blocks define: each takes the latest definition, from a parameter where several meet
//! (minimal SSA form, with parameters only where a use asks for one). Constants are defined anew where they are used.

use crate::ir::frontier::Frontiers;
use crate::ir::uses::{Use, uses};
use crate::ir::{BlockId, Cfg, EdgeArg, Function, Inst, InstId, InstKind, Terminator, Value};
use smallvec::smallvec;
use std::collections::BTreeMap;

/// Definitions of what is one value in the original.
#[derive(Default)]
struct Variable {
    /// By block: the value there.
    definitions: BTreeMap<BlockId, Value>,
    constant: Option<i64>,
    uses: Vec<Use>,
}

/// Has each use take the latest copy of its value. Gives new parameters, and what they stand for; none where an edge of
/// an opaque terminator would have to carry more.
pub(super) fn rename(function: &mut Function, cfg: &Cfg, copy_of: &[Value]) -> Option<BTreeMap<Value, Value>> {
    let mut variables = variables(function, cfg, copy_of);
    if function.promises.iter().flat_map(|promise| &promise.args).any(|arg| variables.contains_key(arg)) {
        return None;
    }
    for block in cfg.reverse_post_order() {
        uses(function, *block, |value, at| {
            if let Some(variable) = variables.get_mut(&value) {
                variable.uses.push(at);
            }
        });
    }
    let frontiers = Frontiers::new(function, cfg);
    let mut new = BTreeMap::new();
    for (value, variable) in variables {
        match variable.constant {
            Some(n) => define_again(function, value, n, variable),
            None => new.extend(bring(function, cfg, &frontiers, value, &variable)?),
        }
    }
    Some(new)
}

/// By value of the original: its definitions, where it has others than its own.
fn variables(function: &Function, cfg: &Cfg, copy_of: &[Value]) -> BTreeMap<Value, Variable> {
    let mut found: BTreeMap<Value, Variable> = BTreeMap::new();
    for b in cfg.reverse_post_order() {
        let block = function.block(*b);
        let mut define = |value: Value, constant| {
            let variable = found.entry(copy_of[value.index()]).or_default();
            variable.definitions.insert(*b, value);
            variable.constant = constant;
        };
        block.params.iter().for_each(|param| define(*param, None));
        for inst in block.insts.iter().map(|id| function.inst(*id)) {
            let constant = if let InstKind::Const(n) = inst.kind { Some(n) } else { None };
            inst.results.iter().for_each(|result| define(*result, constant));
        }
    }
    found.retain(|value, variable| variable.definitions.values().any(|definition| definition != value));
    found
}

/// Defines a constant in each block that uses it.
fn define_again(function: &mut Function, value: Value, constant: i64, variable: Variable) {
    let mut known = variable.definitions;
    for at in variable.uses {
        let by = *known.entry(at.block()).or_insert_with(|| {
            let result = function.add_value(function.ty(value));
            let id = InstId(function.insts.len() as u32);
            let kind = InstKind::Const(constant);
            function.insts.push(Inst { kind, args: smallvec![], results: smallvec![result], origin: None });
            function.blocks[at.block().index()].insts.insert(0, id);
            result
        });
        at.replace(function, by);
    }
}

/// What is the latest at the end of a block.
enum Latest {
    Definition(Value),
    /// A parameter of this block, which it is to get.
    Param(BlockId),
}

/// Has the uses of a value take the latest definition. Gives new parameters, which stand for the value.
fn bring(
    function: &mut Function,
    cfg: &Cfg,
    frontiers: &Frontiers,
    value: Value,
    variable: &Variable,
) -> Option<Vec<(Value, Value)>> {
    let Variable { definitions, uses, .. } = variable;
    let joins = frontiers.joins(definitions.keys().copied());
    let latest = |mut at: BlockId| loop {
        if let Some(definition) = definitions.get(&at) {
            return Some(Latest::Definition(*definition));
        }
        if joins[at.index()] {
            return Some(Latest::Param(at));
        }
        at = cfg.idom(at)?;
    };
    let mut params: BTreeMap<BlockId, Value> = BTreeMap::new();
    let mut work: Vec<BlockId> = uses.iter().map(|at| at.block()).collect();
    while let Some(at) = work.pop() {
        let Latest::Param(block) = latest(at)? else { continue };
        if params.contains_key(&block) {
            continue;
        }
        let param = function.add_value(function.ty(value));
        function.blocks[block.index()].params.push(param);
        params.insert(block, param);
        for edge in cfg.predecessors(block) {
            if matches!(function.block(edge.from).term, Terminator::Opaque { .. }) {
                return None;
            }
            work.push(edge.from);
        }
    }
    let resolve = |at: BlockId| match latest(at)? {
        Latest::Definition(definition) => Some(definition),
        Latest::Param(block) => params.get(&block).copied(),
    };
    for block in params.keys() {
        for edge in cfg.predecessors(*block) {
            let arg = EdgeArg::Value(resolve(edge.from)?);
            function.blocks[edge.from.index()].term.edges_mut()[edge.slot as usize].args.push(arg);
        }
    }
    for at in uses {
        at.replace(function, resolve(at.block())?);
    }
    Some(params.into_values().map(|param| (param, value)).collect())
}
