//! Which functions of a module call which, and what follows for their effects and costs.
//!
//! A function of a module that others call is an operation of the universe, whose body it is
//! ([`Module::bodies`]). Its effects are those of what it executes: a function that only computes is pure. A recursion
//! may not end, nor may a loop that is not proved to ([`CountedLoops`]), unless the pack that declares the operation
//! promises otherwise. Of a result that is an integer, what is known of all that is returned is known.

mod result;

use super::cfg::FREQUENCY_ONE;
use super::trip_count::CountedLoops;
use super::{BlockId, Cfg, Function, InstKind, Module, OpaqueEffects, Terminator};
use crate::select::cost::function_cost;
use crate::select::{COST_SCALE, CostModel};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rewright_typeprop::ops::{Cost, TrapCheck};
use rewright_typeprop::{Effects, OpId, Universe};

/// Functions of a module by index, callees before callers.
#[derive(Clone, Debug)]
pub struct CallGraph {
    /// Strongly connected components, callees first; functions of one component call each other.
    components: Vec<Vec<usize>>,
    /// By function: the functions that it calls, without repetition.
    callees: Vec<Vec<usize>>,
    /// By function: does it call itself, perhaps through others?
    recursive: Vec<bool>,
}

impl CallGraph {
    /// Looks at all calls.
    pub fn new(module: &Module) -> CallGraph {
        let callees: Vec<Vec<usize>> = module
            .functions
            .iter()
            .map(|f| {
                let mut found: Vec<usize> = ops(f).filter_map(|op| module.bodies.get(&op).copied()).collect();
                // A call may become one of a version.
                let versions = module.versions.iter().filter(|(_, of)| found.contains(of));
                let versions: Vec<usize> = versions.map(|(version, _)| *version).collect();
                found.extend(versions);
                found.sort_unstable();
                found.dedup();
                found
            })
            .collect();
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = callees.iter().map(|_| graph.add_node(())).collect();
        for (caller, callees) in callees.iter().enumerate() {
            for callee in callees {
                graph.add_edge(nodes[caller], nodes[*callee], ());
            }
        }
        // Tarjan's order is that of callees first.
        let mut components: Vec<Vec<usize>> =
            tarjan_scc(&graph).into_iter().map(|c| c.into_iter().map(NodeIndex::index).collect()).collect();
        components.iter_mut().for_each(|c| c.sort_unstable());
        let mut recursive = vec![false; callees.len()];
        for component in &components {
            for f in component {
                recursive[*f] = component.len() > 1 || callees[*f].contains(f);
            }
        }
        CallGraph { components, callees, recursive }
    }

    /// Functions in groups, such that those that a group calls are in earlier ones, or (where they call it back) in
    /// the same.
    pub fn levels(&self) -> Vec<Vec<usize>> {
        let mut level = vec![0; self.callees.len()];
        let mut groups: Vec<Vec<usize>> = vec![];
        for component in &self.components {
            let callees = component.iter().flat_map(|f| &self.callees[*f]).filter(|c| !component.contains(c));
            let own = callees.map(|c| level[*c] + 1).max().unwrap_or(0);
            groups.resize(groups.len().max(own + 1), vec![]);
            for f in component {
                level[*f] = own;
                groups[own].push(*f);
            }
        }
        groups.iter_mut().for_each(|g| g.sort_unstable());
        groups
    }

    /// Functions, callees first. Those that call each other come together.
    pub fn components(&self) -> &[Vec<usize>] {
        &self.components
    }

    /// All functions, callees first.
    pub fn order(&self) -> impl Iterator<Item = usize> {
        self.components.iter().flatten().copied()
    }

    /// What a function calls.
    pub fn callees(&self, function: usize) -> &[usize] {
        &self.callees[function]
    }

    /// Does a function call itself, perhaps through others?
    pub fn is_recursive(&self, function: usize) -> bool {
        self.recursive[function]
    }
}

/// Functions that call a function as they are now, versions that calls may become apart.
pub fn callers(module: &Module, callee: usize) -> Vec<usize> {
    let calls = |f: &Function| ops(f).any(|op| module.bodies.get(&op) == Some(&callee));
    (0..module.functions.len()).filter(|caller| calls(&module.functions[*caller])).collect()
}

/// Operations of a function in order of layout.
fn ops(f: &Function) -> impl Iterator<Item = OpId> {
    f.layout.iter().flat_map(|b| &f.block(*b).insts).filter_map(|i| match &f.inst(*i).kind {
        InstKind::Op { op, .. } => Some(*op),
        _ => None,
    })
}

/// What a body may do that the operation's declaration denies: an effect in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denied {
    /// The function.
    pub function: usize,
    /// The operation that a pack declares.
    pub op: OpId,
    /// What its body does.
    pub does: String,
}

/// Gives operations of the module their effects, and those that no pack declares (`own`) their costs.
pub fn summarise(module: &Module, graph: &CallGraph, own: &[OpId], universe: &mut Universe) -> Vec<Denied> {
    let mut denied = vec![];
    for component in graph.components() {
        // A recursion's effects are those of its bodies: two rounds reach the fixed point, since sets only grow
        // from the empty one and every body sees every other's within the second.
        for _ in 0..component.len() + 1 {
            for index in component {
                let f = &module.functions[*index];
                let mut effects = effects_of(f, universe);
                effects.diverges |= graph.is_recursive(*index);
                let cost = function_cost(&CostModel::default(), f, universe) / (COST_SCALE * FREQUENCY_ONE);
                let result = result::known(f, universe);
                for (op, _) in module.bodies.iter().filter(|(_, body)| *body == index) {
                    let decl = universe.ops.get_mut(*op);
                    decl.result = result;
                    if !own.contains(op) {
                        continue;
                    }
                    if effects.traps {
                        decl.checks = vec![TrapCheck { code: CALL_TRAP.into(), condition: None }];
                    }
                    decl.effects = effects.clone();
                    decl.cost = Cost::Fixed(u32::try_from(cost).unwrap_or(u32::MAX).max(1));
                }
            }
        }
        for index in component {
            let effects = effects_of(&module.functions[*index], universe);
            for (op, _) in module.bodies.iter().filter(|(op, body)| *body == index && !own.contains(op)) {
                let declared = &universe.ops.get(*op).effects;
                if let Some(does) = beyond(&effects, declared) {
                    denied.push(Denied { function: *index, op: *op, does });
                }
            }
        }
    }
    denied
}

/// The trap code that a call has whose body traps: which one it is, the body decides.
pub const CALL_TRAP: &str = "user1";

/// What executing a function may do.
pub fn effects_of(f: &Function, universe: &Universe) -> Effects {
    let mut all = Effects::default();
    let union = |into: &mut Vec<String>, from: &[String]| {
        for name in from {
            if !into.contains(name) {
                into.push(name.clone());
            }
        }
        into.sort();
    };
    let unknown = |all: &mut Effects| {
        all.io = true;
        all.traps = true;
        all.diverges = true;
    };
    let cfg = Cfg::new(f);
    for b in f.layout.iter().filter(|b| cfg.is_reachable(**b)) {
        let block = f.block(*b);
        for inst in block.insts.iter().map(|i| f.inst(*i)) {
            match &inst.kind {
                InstKind::Const(_) | InstKind::Opaque { effects: OpaqueEffects::Pure, .. } => {}
                InstKind::Check { .. } => all.traps = true,
                InstKind::Opaque { .. } => unknown(&mut all),
                InstKind::Op { op, .. } => {
                    let effects = &universe.ops.get(*op).effects;
                    union(&mut all.reads, &effects.reads);
                    union(&mut all.writes, &effects.writes);
                    union(&mut all.allocates, &effects.allocates);
                    all.io |= effects.io;
                    all.traps |= effects.traps;
                    all.diverges |= effects.diverges;
                }
            }
        }
        match block.term {
            Terminator::Trap { .. } => all.traps = true,
            Terminator::Opaque { .. } => unknown(&mut all),
            _ => {}
        }
    }
    let counted = CountedLoops::new(f, &cfg, universe);
    let is_endless = |b: &BlockId| cfg.is_reachable(*b) && cfg.is_irreducible(*b);
    all.diverges |= f.layout.iter().any(is_endless) || cfg.loops().any(|(id, l)| !counted.ends(id, l));
    all
}

/// What a body does that a declaration does not allow. That it ends is the declaration's promise.
fn beyond(body: &Effects, declared: &Effects) -> Option<String> {
    let missing = |what: &str, body: &[String], declared: &[&[String]]| {
        let name = body.iter().find(|name| !declared.iter().any(|d| d.contains(name)))?;
        Some(format!("{what} {name}"))
    };
    missing("reads", &body.reads, &[&declared.reads, &declared.writes])
        .or_else(|| missing("writes", &body.writes, &[&declared.writes]))
        .or_else(|| missing("allocates in", &body.allocates, &[&declared.allocates]))
        .or_else(|| (body.io && !declared.io).then(|| "does io".to_string()))
        .or_else(|| (body.traps && !declared.traps).then(|| "may trap".to_string()))
}

#[cfg(test)]
mod tests;
