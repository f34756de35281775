//! Which stores loads do not see, by `!tbaa`, and by `!alias.scope` and `!noalias` ([`crate::alias_metadata`]).
//!
//! Types hold of all executions of a store: what it wrote is of another type than what is loaded. Scopes are those of one
//! execution of what was inlined: a loop begins new ones in each iteration, where `llvm.experimental.noalias.scope.decl`
//! stands. So they hold only of the last execution of the store before the load, and only if no scope of that domain is
//! declared in between.
//!
//! Nothing is said of calls (`!tbaa.struct`, `!noalias` of what was inlined), nor that what metadata call constant is never
//! stored to.

use super::Imported;
use crate::alias_metadata::{Access, AliasMetadata, KINDS, NoAlias, NodeId};
use crate::body::{Instruction, Shape};
use crate::module::File;
use rewright_cfg_skeleton::ir::alias::{AliasClass, Aliases, Unseen};
use rewright_cfg_skeleton::ir::{BlockId, Cfg, Function, InstId, InstKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Different kinds of accesses of a function, at most: of further ones nothing is said.
const MOST: usize = 128;

/// Pairs of a load and a store that are compared with each declaration of a scope.
const MOST_PAIRS: usize = 1 << 16;

/// What declares scopes.
const DECLARES: &str = "@llvm.experimental.noalias.scope.decl";

/// Notes what accesses do not alias.
pub(super) fn note(file: &File, imported: &mut Imported) {
    if file.alias_nodes.is_empty() {
        return;
    }
    let mut metadata = AliasMetadata::new(&file.alias_nodes);
    let found = Found::new(&mut metadata, imported);
    let mut aliases = Aliases::default();
    let mut by_scopes: BTreeMap<Pair, Vec<NodeId>> = BTreeMap::new();
    for (load, of_load) in found.classes.iter().enumerate().filter(|(_, class)| !class.loads.is_empty()) {
        for (store, of_store) in found.classes.iter().enumerate().filter(|(_, class)| !class.stores.is_empty()) {
            match metadata.no_alias(&of_load.access, &of_store.access) {
                Some(NoAlias::Types) => aliases.set_unseen(class(load), class(store), Unseen::All),
                Some(NoAlias::Scopes(domains)) => drop(by_scopes.insert((load, store), domains)),
                None => {}
            }
        }
    }
    if !by_scopes.is_empty() {
        found.keep_in_one_scope(&mut metadata, imported, &mut by_scopes);
    }
    for ((load, store), domains) in by_scopes {
        if !domains.is_empty() {
            aliases.set_unseen(class(load), class(store), Unseen::Last);
        }
    }
    if aliases.is_empty() {
        return;
    }
    for (number, of) in found.classes.iter().enumerate() {
        of.loads.iter().chain(&of.stores).for_each(|place| aliases.set_class(place.inst, class(number)));
    }
    imported.function.aliases = aliases;
}

fn class(number: usize) -> AliasClass {
    AliasClass(number as u32)
}

/// The numbers of the classes of a load and of a store.
type Pair = (usize, usize);

/// An instruction, and where it is.
#[derive(Clone, Copy, Debug)]
struct Place {
    inst: InstId,
    block: BlockId,
    position: usize,
}

/// Accesses with the same metadata.
struct Class {
    access: Access,
    loads: Vec<Place>,
    stores: Vec<Place>,
}

/// The accesses of a function that metadata speak of.
struct Found {
    classes: Vec<Class>,
    /// What declares scopes.
    declarations: Vec<Place>,
}

impl Found {
    fn new(metadata: &mut AliasMetadata<'_>, imported: &Imported) -> Self {
        let Imported { function: f, body, payloads } = imported;
        let mut found = Found { classes: vec![], declarations: vec![] };
        let mut numbers: FxHashMap<Vec<&(String, String)>, usize> = FxHashMap::default();
        for block in &f.layout {
            for (position, inst) in f.block(*block).insts.iter().enumerate() {
                let place = Place { inst: *inst, block: *block, position };
                let super::Source::Instruction((b, i)) = payloads.sources[inst.index()] else { continue };
                let instruction = &body.blocks[b].instructions[i];
                if declares(instruction) {
                    found.declarations.push(place);
                }
                let is_access = matches!(f.inst(*inst).kind, InstKind::Op { access: Some(_), .. });
                let is_load = match &instruction.shape {
                    Shape::Load(..) if is_access => true,
                    Shape::Store(..) if is_access => false,
                    _ => continue,
                };
                let own = instruction.metadata.iter().filter(|(kind, _)| KINDS.contains(&kind.as_str())).collect();
                let next = found.classes.len();
                let number = *numbers.entry(own).or_insert(next);
                if number == next {
                    let access = metadata.access(&instruction.metadata);
                    found.classes.push(Class { access, loads: vec![], stores: vec![] });
                }
                let class = &mut found.classes[number];
                if is_load { class.loads.push(place) } else { class.stores.push(place) }
            }
        }
        found.classes.truncate(MOST);
        found
    }

    /// Leaves out domains of which a scope may be declared between a store and a load.
    fn keep_in_one_scope(
        &self,
        metadata: &mut AliasMetadata<'_>,
        imported: &Imported,
        pairs: &mut BTreeMap<Pair, Vec<NodeId>>,
    ) {
        let compared = |(load, store): &Pair| self.classes[*load].loads.len() * self.classes[*store].stores.len();
        let all: usize = pairs.keys().map(compared).sum();
        if all * self.declarations.len() > MOST_PAIRS {
            pairs.clear();
            return;
        }
        let cfg = Cfg::new(&imported.function);
        for declaration in &self.declarations {
            let domain = declared(imported, *declaration).and_then(|list| metadata.domain(list));
            let way = Way::new(&imported.function, &cfg, *declaration);
            for ((load, store), domains) in pairs.iter_mut() {
                let (loads, stores) = (&self.classes[*load].loads, &self.classes[*store].stores);
                let is_between = stores.iter().any(|store| loads.iter().any(|load| way.leads(*store, *load)));
                if is_between {
                    // One that is not understood may be of any.
                    domains.retain(|other| domain.is_some_and(|domain| domain != *other));
                }
            }
        }
    }
}

/// Does an instruction declare a scope?
fn declares(instruction: &Instruction) -> bool {
    matches!(&instruction.shape, Shape::Call { callee: Some(callee), .. } if callee == DECLARES)
}

/// The list of scopes that an instruction declares.
fn declared(imported: &Imported, place: Place) -> Option<&str> {
    let (b, i) = imported.payloads.sources[place.inst.index()].position()?;
    let text = imported.body.blocks[b].instructions[i].template.pieces.first()?;
    Some(text.split_once("(metadata ")?.1.split_once(')')?.0)
}

/// The ways through an instruction.
struct Way<'a> {
    cfg: &'a Cfg,
    through: Place,
    /// Blocks that an edge, or several, lead to from its block.
    behind: FxHashSet<BlockId>,
    /// Blocks from which they lead there.
    before: FxHashSet<BlockId>,
}

impl<'a> Way<'a> {
    fn new(f: &Function, cfg: &'a Cfg, through: Place) -> Self {
        let next = |block: BlockId| f.block(block).term.edges().iter().map(|edge| edge.target).collect();
        let back = |block: BlockId| cfg.predecessors(block).iter().map(|edge| edge.from).collect();
        Way { cfg, through, behind: reached(through.block, next), before: reached(through.block, back) }
    }

    /// May it be executed after the last execution of a store, and before a load?
    fn leads(&self, store: Place, load: Place) -> bool {
        let through = self.through;
        let before = store.block == through.block && store.position < through.position;
        let behind = load.block == through.block && load.position > through.position;
        let is_on_way = (before || self.before.contains(&store.block)) && (behind || self.behind.contains(&load.block));
        // Every path from here to the load passes the store once more.
        is_on_way && !(self.precedes(through, store) && self.precedes(store, load))
    }

    /// Is one instruction executed before another one whenever that is?
    fn precedes(&self, first: Place, second: Place) -> bool {
        match first.block == second.block {
            true => first.position < second.position,
            false => self.cfg.dominates(first.block, second.block),
        }
    }
}

fn reached(from: BlockId, step: impl Fn(BlockId) -> Vec<BlockId>) -> FxHashSet<BlockId> {
    let (mut found, mut work) = (FxHashSet::default(), vec![from]);
    while let Some(block) = work.pop() {
        work.extend(step(block).into_iter().filter(|other| found.insert(*other)));
    }
    found
}

#[cfg(test)]
mod tests;
