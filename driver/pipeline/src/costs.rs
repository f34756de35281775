//! The costs of a run: profiles that ship, and what a user says otherwise.
//!
//! A profile (`stdlib_rules/profiles/*.json`) says what the `[costs]` of a project say: `latency` and `size` for x86-64,
//! and `llvm` for what LLVM's own passes are to make more of, which LLVM IR has if none is named. Without one,
//! operations cost what their packs declare. The cost that a pack gives another's function (`override`) comes before
//! the profile, and a user's own costs before both.
//!
//! A key of `operations` names operations as packs do, with all overloads, from any pack or from one
//! (`std.core.imul`), and may name the types of one instance (`udiv{i64}`, `uextend{i8, i32}`) or of several
//! (`select{_, i8}`); what names more types comes before what names less. Costs are in the packs' unit, in steps of a
//! quarter.

use rewright_cfg_skeleton::ir::cfg::Weighing;
use rewright_cfg_skeleton::select::{COST_SCALE, CostModel, Execution, Prices};
use rewright_dsl::nearest::nearest;
use rewright_packs as packs;
use rewright_project::costs::{CostFile, Costs, Weigh};
use rewright_typeprop::{OpId, Universe};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why costs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// No such profile ships.
    #[error("no profile `{name}` ships; those that do: {known}", name = .0, known = profiles().join(", "))]
    NoProfile(String),
    /// A profile that ships is broken.
    #[error("{0} is no profile: {1}")]
    Profile(String, serde_json::Error),
    /// A key names no operation.
    #[error("no pack of this run declares the operation `{name}`{}", advice(.nearest))]
    NoOperation {
        /// The key's name.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// A key names types that the operation does not have.
    #[error("`{key}` names {given} types; `{name}` has {wanted}")]
    Types {
        /// The key.
        key: String,
        /// The operation.
        name: String,
        /// How many it names.
        given: usize,
        /// How many type parameters there are, by overload.
        wanted: String,
    },
    /// A type that is not declared.
    #[error("`{key}` names the type `{name}`, which no pack of this run declares")]
    NoType {
        /// The key.
        key: String,
        /// The type.
        name: String,
    },
    /// A number that is no cost.
    #[error("`{0}` costs {1}: costs are 0 or more, in steps of 0.25, and at most {MOST}")]
    NoCost(String, f64),
    /// Loops that make what is in them rarer.
    #[error("`per_loop` is at least 1")]
    NoLoop,
}

fn advice(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

/// Costs are at most this, so that sums have room.
const MOST: f64 = 1e9;

/// Names of the profiles that ship.
pub fn profiles() -> Vec<String> {
    let files = packs::shipped("profiles");
    files.into_iter().filter_map(|path| Some(path.strip_suffix(".json")?.to_string())).collect()
}

/// The cost model of a run: a file's costs over those of a profile, which a command line may name.
///
/// # Errors
/// Mistakes in the file, or no such profile.
pub fn model(costs: &Costs, profile: Option<&str>, universe: &Universe) -> Result<CostModel, CostError> {
    let mut model = CostModel::default();
    if let Some(name) = profile.or(costs.profile.as_deref()) {
        let path = format!("profiles/{name}.json");
        let text = packs::embedded(&path).ok_or_else(|| CostError::NoProfile(name.to_string()))?;
        let file: CostFile = serde_json::from_str(text).map_err(|e| CostError::Profile(path, e))?;
        apply(&file.costs, &mut model, universe, |op| !universe.ops.get(op).overridden)?;
    }
    apply(costs, &mut model, universe, |_| true)?;
    Ok(model)
}

/// The same for functions of LLVM IR: by its own profile where none is named. LLVM's own passes choose how addresses are
/// computed.
///
/// # Errors
/// As [`model`].
pub fn model_for_llvm(costs: &Costs, profile: Option<&str>, universe: &Universe) -> Result<CostModel, CostError> {
    let model = model(costs, profile.or(costs.profile.as_deref()).or(Some("llvm")), universe)?;
    Ok(CostModel { address: costs.address.and(model.address), ..model })
}

/// Puts costs before those that the model has; those of operations only where `wanted`.
fn apply(
    costs: &Costs,
    model: &mut CostModel,
    universe: &Universe,
    wanted: impl Fn(OpId) -> bool,
) -> Result<(), CostError> {
    let own = [
        ("constant", costs.constant, &mut model.constant),
        ("parameter", costs.parameter, &mut model.parameter),
        ("check", costs.check, &mut model.check),
        ("opaque", costs.opaque, &mut model.opaque),
    ];
    for (name, value, place) in own {
        if let Some(value) = value {
            *place = quarters(name, value)?;
        }
    }
    if let Some(address) = costs.address {
        model.address = Some(quarters("address", address)?);
    }
    if let Some(assumed) = costs.assumed {
        model.assumed = assumed.into();
    }
    match (costs.weigh, costs.per_loop) {
        (_, Some(0)) => return Err(CostError::NoLoop),
        (Some(Weigh::Occurrences), _) => model.weighing = Weighing::Occurrences,
        (_, Some(per_loop)) => model.weighing = Weighing::Executions { per_loop: per_loop.into() },
        (Some(Weigh::Executions), None) => model.weighing = Weighing::default(),
        (None, None) => {}
    }
    if !costs.operations.is_empty() {
        let mut table = Table::default();
        for (key, cost) in &costs.operations {
            table.add(key, quarters(key, *cost)?, universe)?;
        }
        table.general.retain(|op, _| wanted(*op));
        table.instances.retain(|op, _| wanted(*op));
        model.prices.insert(0, Arc::new(table));
    }
    Ok(())
}

/// A cost in quarters of the packs' unit.
fn quarters(key: &str, cost: f64) -> Result<u64, CostError> {
    let scaled = cost * COST_SCALE as f64;
    if !(0.0..=MOST).contains(&cost) || scaled.fract() != 0.0 {
        return Err(CostError::NoCost(key.to_string(), cost));
    }
    Ok(scaled as u64)
}

/// Any type, in a key.
const ANY: &str = "_";

/// Prices by operation, and by instance.
#[derive(Debug, Default)]
struct Table {
    general: BTreeMap<OpId, u64>,
    /// By the types as packs write them: front ends intern types of their own. [`ANY`] is any; those with fewer of it
    /// come first.
    instances: BTreeMap<OpId, Vec<(Vec<String>, u64)>>,
}

impl Table {
    fn add(&mut self, key: &str, cost: u64, universe: &Universe) -> Result<(), CostError> {
        let (name, types) = match key.split_once('{').and_then(|(name, rest)| Some((name, rest.strip_suffix('}')?))) {
            Some((name, types)) => (name, Some(split(types))),
            None => (key, None),
        };
        let ops: Vec<OpId> = universe
            .ops
            .iter()
            .filter(|(_, op)| {
                op.name == name || name.strip_suffix(&op.name).and_then(|p| p.strip_suffix('.')) == Some(&op.pack)
            })
            .map(|(id, _)| id)
            .collect();
        if ops.is_empty() {
            // Costs of packs that take no part in this run wait for one in which they do.
            let packs: BTreeSet<&str> = universe.ops.iter().map(|(_, op)| op.pack.as_str()).collect();
            if name.rsplit_once('.').is_some_and(|(pack, _)| !packs.contains(pack)) {
                return Ok(());
            }
            let names: Vec<&str> = universe.ops.iter().map(|(_, op)| op.name.as_str()).collect();
            let nearest = nearest(name, names).map(str::to_string);
            return Err(CostError::NoOperation { name: name.to_string(), nearest });
        }
        let Some(types) = types else {
            self.general.extend(ops.into_iter().map(|op| (op, cost)));
            return Ok(());
        };
        for ty in &types {
            let plain = ty.split('{').next().unwrap_or(ty);
            if plain != ANY && universe.types.lookup(plain).is_none() && plain.parse::<i64>().is_err() {
                return Err(CostError::NoType { key: key.to_string(), name: ty.clone() });
            }
        }
        let arity = |op: &OpId| universe.ops.get(*op).tparams.len();
        let fit: Vec<OpId> = ops.iter().copied().filter(|op| arity(op) == types.len()).collect();
        if fit.is_empty() {
            let wanted: BTreeSet<usize> = ops.iter().map(arity).collect();
            let wanted = wanted.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
            return Err(CostError::Types { key: key.to_string(), name: name.to_string(), given: types.len(), wanted });
        }
        for op in fit {
            let list = self.instances.entry(op).or_default();
            list.push((types.clone(), cost));
            list.sort_by_key(|(types, _)| types.iter().filter(|ty| *ty == ANY).count());
        }
        Ok(())
    }
}

/// Cuts a list of types at its outer commas.
fn split(list: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in list.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}

/// Are these the types that a key names?
fn fits(wanted: &[String], shown: &[String]) -> bool {
    wanted.len() == shown.len() && wanted.iter().zip(shown).all(|(wanted, ty)| wanted == ANY || wanted == ty)
}

impl Prices for Table {
    fn price(&self, execution: &Execution) -> Option<u64> {
        if let Some(list) = self.instances.get(&execution.op) {
            let types = &execution.universe.types;
            let shown: Vec<String> = execution.types.iter().map(|ty| types.display(*ty).replace(' ', "")).collect();
            if let Some((_, cost)) = list.iter().find(|(wanted, _)| fits(wanted, &shown)) {
                return Some(*cost);
            }
        }
        self.general.get(&execution.op).copied()
    }
}

#[cfg(test)]
mod tests;
