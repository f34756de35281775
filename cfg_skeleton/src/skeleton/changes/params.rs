//! Block parameters that equal something else.
//!
//! Optimistic, in two steps. First, parameters of one block are taken to be equal until their arguments differ along
//! some edge, where arguments are compared under that very assumption, up to congruence and the order of operands that
//! commute: partition refinement (Alpern, Wegman, Zadeck, "Detecting Equality of Variables in Programs", POPL 1988),
//! restarted after each split. Then a parameter is taken to be a copy of the one thing that arrives on all its edges,
//! itself aside: a fixed point from above, so that cycles of parameters collapse, too. Which ones are constants because
//! of what loops carry, [`crate::skeleton::scoped_facts`] says.
//!
//! Two parameters of one block belong to the same iteration of all loops around it, and so do their arguments; that
//! is why equal classes mean equal values here. Where rules have found already that a parameter equals what arrives on an
//! edge from before it, nothing is assumed of it: that it arrives there is no reason then, as it would be its own. Where
//! all that arrives is of the parameter's class, it is replaced by a value of that class which dominates the block and is of
//! the same iteration of all loops around it. Of several parameters in one class the first is looked at. A value that
//! varies in a loop ([`Variance`]) does not replace a parameter outside that loop: parameters at loop exits are what stands
//! for a value's last iteration. One that does not vary is the same in the last iteration as in any.

use super::{Change, Reader, Taken};
use crate::egraph::{ClassId, Head, Node, NodeId};
use crate::ir::{BlockId, Cfg, InstKind, Value};
use crate::skeleton::SkeletonArg;
use crate::skeleton::variance::Variance;
use indexmap::IndexMap;
use rewright_typeprop::Ty;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Splits before the search for equal parameters is given up.
const MAX_ROUNDS: usize = 32;

/// Sweeps over the parameters in which copies may still change.
const MAX_SWEEPS: usize = 8;

/// A parameter and what arrives there; `None` for what a terminator makes.
struct Param {
    block: BlockId,
    index: u32,
    ty: Ty,
    class: ClassId,
    args: SmallVec<[Option<ClassId>; 2]>,
    /// Where its edges leave from, in the order of `args`.
    sources: SmallVec<[BlockId; 2]>,
    /// Something of its own class arrives, and not from an iteration before.
    is_known: bool,
}

pub(super) fn replacements(reader: &Reader<'_>, cfg: &Cfg) -> Vec<Change> {
    let params = params(reader);
    if params.is_empty() {
        return vec![];
    }
    let mut found = vec![];
    let constant = |class: ClassId| reader.view.class(class).constant;
    let decided = |p: &Param| reader.decisions.params.get(&(p.block, p.index)).copied();
    let open: Vec<&Param> = params
        .iter()
        .filter(|p| match constant(p.class).or_else(|| decided(p)) {
            Some(constant) => {
                found.push(Change::Constant { block: p.block, index: p.index, constant });
                false
            }
            None => true,
        })
        .collect();
    let mut colors = equal_params(reader, &open);
    let mut leaders: IndexMap<ClassId, &Param> = IndexMap::new();
    let mut known = vec![];
    for p in &open {
        let color = colors.find(p.class);
        let leader = *leaders.entry(color).or_insert(*p);
        if leader.block == p.block && leader.index != p.index {
            let by = reader.f.block(p.block).params[leader.index as usize];
            found.push(Change::Replace { block: p.block, index: p.index, by });
        } else if p.args.iter().all(|arg| *arg == Some(p.class)) {
            // Only parameters of one block are grouped; others may share a class by a rule.
            known.push(*p);
        }
    }
    let copies = copies(cfg, &leaders, &mut colors);
    if copies.is_empty() && known.is_empty() {
        return found;
    }
    let definitions = definitions(reader, cfg, &mut colors);
    let places: FxHashMap<Value, BlockId> =
        definitions.values().flatten().map(|(block, value)| (*value, *block)).collect();
    let variance = (cfg.loop_count() > 0).then(|| Variance::new(cfg, reader.s, reader.view));
    // Does the value mean the same outside the loops around it that do not go on here?
    let same_outside = |from: BlockId, value: Value, to: BlockId| {
        let mut left = cfg.loops_around(from).take_while(|l| !cfg.loop_contains(*l, to));
        let class = reader.s.value_input[value.index()].map(|input| reader.view.class_of(input));
        let varies = |l| variance.as_ref().zip(class).is_none_or(|(v, class)| v.varies_in(class, l));
        !left.any(varies)
    };
    let usable = |p: &Param, (block, value): &(BlockId, Value)| {
        *block != p.block
            && cfg.dominates(*block, p.block)
            && reader.f.ty(*value) == p.ty
            && same_outside(*block, *value, p.block)
    };
    for p in known {
        let class = |value: Value| reader.s.value_input[value.index()].map(|input| reader.view.class_of(input));
        let leaves = |from: BlockId| cfg.loops_around(from).any(|l| !cfg.loop_contains(l, p.block));
        let is_same = |of: &&(BlockId, Value)| class(of.1) == Some(p.class) && usable(p, of) && !leaves(of.0);
        let by = definitions.get(&colors.find(p.class)).and_then(|list| list.iter().rev().find(is_same));
        found.extend(by.map(|(_, by)| Change::Replace { block: p.block, index: p.index, by: *by }));
    }
    for (color, source) in copies {
        let p = leaders[&color];
        if let Some(constant) = constant(source) {
            found.push(Change::Constant { block: p.block, index: p.index, constant });
            continue;
        }
        let nearest = definitions.get(&source).and_then(|list| list.iter().rev().find(|of| usable(p, of)));
        if let Some((_, by)) = nearest {
            found.push(Change::Replace { block: p.block, index: p.index, by: *by });
            continue;
        }
        // None of the values that arrive is there, but what one of them is computed from may be.
        let available = |value: &Value| {
            let defined = places.get(value).copied();
            defined.is_some_and(|at| at != p.block && cfg.dominates(at, p.block) && same_outside(at, *value, p.block))
        };
        let again = definitions.get(&source).into_iter().flatten().find_map(|(at, value)| {
            let insts = &reader.f.block(*at).insts;
            insts.iter().copied().find(|inst| {
                let inst = reader.f.inst(*inst);
                let is_pure = |op| reader.universe.ops.get(op).effects.is_pure();
                let pure = matches!(inst.kind, InstKind::Op { op, access: None, .. } if is_pure(op));
                pure && inst.results[..] == [*value] && reader.f.ty(*value) == p.ty && inst.args.iter().all(available)
            })
        });
        if let Some(inst) = again {
            found.push(Change::Recompute { block: p.block, index: p.index, inst });
        }
    }
    found
}

/// Parameters of reached blocks but the entry, with the arguments of edges that can be taken.
fn params(reader: &Reader<'_>) -> Vec<Param> {
    let Reader { f, s, view, .. } = reader;
    let mut first: Vec<Option<usize>> = vec![None; s.blocks.len()];
    let mut params = vec![];
    for block in s.layout.iter().filter(|b| **b != f.entry()) {
        first[block.index()] = Some(params.len());
        for (i, input) in s.blocks[block.index()].params.iter().enumerate() {
            let ty = f.ty(f.block(*block).params[i]);
            let class = view.class_of(*input);
            let (args, sources) = (SmallVec::new(), SmallVec::new());
            params.push(Param { block: *block, index: i as u32, ty, class, args, sources, is_known: false });
        }
    }
    for block in &s.layout {
        for (slot, edge) in s.blocks[block.index()].edges.iter().enumerate() {
            let taken = reader.taken[block.index()];
            if taken != Taken::All && taken != Taken::One(slot as u32) {
                continue;
            }
            let Some(first) = first[edge.target.index()] else { continue };
            let is_back = reader.cfg.dominates(edge.target, *block);
            for (param, arg) in params[first..].iter_mut().zip(&edge.args) {
                let arrives = match arg {
                    SkeletonArg::Node(input) => Some(view.class_of(*input)),
                    SkeletonArg::Terminator(_) => None,
                };
                param.is_known |= !is_back && arrives == Some(param.class);
                param.args.push(arrives);
                param.sources.push(*block);
            }
        }
    }
    // A block that no edge reaches any more goes anyway.
    params.retain(|p| !p.args.is_empty());
    params
}

/// Finds parameters of one block that are always equal, and unites their classes.
fn equal_params(reader: &Reader<'_>, params: &[&Param]) -> Congruence {
    let mut groups: IndexMap<(BlockId, Ty), Vec<&Param>> = IndexMap::new();
    let mut first: FxHashMap<ClassId, &Param> = FxHashMap::default();
    for p in params {
        let of_class = first.entry(p.class).or_insert(p);
        if reader.cfg.position(p.block) < reader.cfg.position(of_class.block) {
            *of_class = p;
        }
    }
    for p in params.iter().filter(|p| !p.is_known && first[&p.class].block == p.block) {
        groups.entry((p.block, p.ty)).or_default().push(*p);
    }
    let mut groups: Vec<Vec<&Param>> = groups.into_values().collect();
    // Parameters that cannot be equal under any assumption are parted before the graph is looked at.
    groups = split(groups, |p, q| p.args.iter().zip(&q.args).all(|(a, b)| may_be_equal(reader, *a, *b)));
    for _ in 0..MAX_ROUNDS {
        if groups.is_empty() {
            break;
        }
        let mut colors = Congruence::new(reader);
        colors.prepare(reader);
        for group in &groups {
            for p in &group[1..] {
                colors.unite(reader, group[0].class, p.class);
            }
        }
        let before: usize = groups.iter().map(Vec::len).sum();
        let count = groups.len();
        groups = split(groups, |p, q| {
            p.args.iter().zip(&q.args).all(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => colors.find(*a) == colors.find(*b),
                _ => false,
            })
        });
        if groups.len() == count && groups.iter().map(Vec::len).sum::<usize>() == before {
            return colors;
        }
    }
    Congruence::new(reader)
}

/// Parts groups into those that agree with their first member; groups of one are left out.
fn split(groups: Vec<Vec<&Param>>, mut agree: impl FnMut(&Param, &Param) -> bool) -> Vec<Vec<&Param>> {
    let mut parts = vec![];
    for group in groups {
        let mut own: Vec<Vec<&Param>> = vec![];
        for p in group {
            match own.iter_mut().find(|part| agree(part[0], p)) {
                Some(part) => part.push(p),
                None => own.push(vec![p]),
            }
        }
        parts.extend(own.into_iter().filter(|part| part.len() > 1));
    }
    parts
}

/// Could congruence ever make these classes one?
fn may_be_equal(reader: &Reader<'_>, a: Option<ClassId>, b: Option<ClassId>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    let (x, y) = (reader.view.class(a), reader.view.class(b));
    if a == b || x.constant.is_some() || y.constant.is_some() {
        return a == b;
    }
    let head = |n: &NodeId| {
        let node = reader.view.node(*n);
        // Leaves may be parameters that are taken to be equal.
        (if let Head::Leaf(_) = node.head { None } else { Some(node.head) }, node.types.clone())
    };
    let heads: Vec<_> = x.nodes.iter().map(head).collect();
    y.nodes.iter().map(head).any(|h| heads.contains(&h))
}

/// By color of a parameter: the color of what it is a copy of.
///
/// An arriving value is what a parameter of its class is a copy of only where the parameter has a value: elsewhere the
/// class has another member, and the parameter (behind a loop, say) may rest on the very one that is looked at.
fn copies(cfg: &Cfg, leaders: &IndexMap<ClassId, &Param>, colors: &mut Congruence) -> Vec<(ClassId, ClassId)> {
    // `None`: not known yet, equal to anything. Once a parameter stands for itself it always will; so will, after
    // some sweeps, one that has not settled.
    let mut value: FxHashMap<ClassId, Option<ClassId>> = leaders.keys().map(|c| (*c, None)).collect();
    let mut changed = true;
    let mut sweeps = 0;
    while changed {
        changed = false;
        sweeps += 1;
        for (color, p) in leaders {
            let old = value[color];
            if old == Some(*color) {
                continue;
            }
            let mut new = p.is_known.then_some(*color);
            for (arg, source) in p.args.iter().zip(&p.sources) {
                let arrives = match arg {
                    None => Some(*color),
                    Some(class) => {
                        let class = colors.find(*class);
                        let is_there = |leader: &&Param| cfg.dominates(leader.block, *source);
                        match leaders.get(&class).filter(|leader| is_there(leader)) {
                            Some(_) => value[&class],
                            None => Some(class),
                        }
                    }
                };
                match (new, arrives) {
                    (_, None) => {}
                    (None, some) => new = some,
                    (Some(a), Some(b)) if a == b => {}
                    _ => new = Some(*color),
                }
            }
            if new != old {
                let give_up = old.is_some() && sweeps > MAX_SWEEPS;
                value.insert(*color, if give_up { Some(*color) } else { new });
                changed = true;
            }
        }
    }
    leaders.keys().filter_map(|c| value[c].filter(|v| v != c).map(|v| (*c, v))).collect()
}

/// By color: original values in reverse post-order, with the blocks that define them.
fn definitions(reader: &Reader<'_>, cfg: &Cfg, colors: &mut Congruence) -> FxHashMap<ClassId, Vec<(BlockId, Value)>> {
    let Reader { f, s, view, .. } = reader;
    let mut definitions: FxHashMap<ClassId, Vec<(BlockId, Value)>> = FxHashMap::default();
    for block in cfg.reverse_post_order() {
        let results = f.block(*block).insts.iter().flat_map(|i| &f.inst(*i).results);
        for value in f.block(*block).params.iter().chain(results) {
            if let Some(input) = s.value_input[value.index()] {
                definitions.entry(colors.find(view.class_of(input))).or_default().push((*block, *value));
            }
        }
    }
    definitions
}

/// Classes up to assumed equalities and congruence (Downey, Sethi, Tarjan, "Variations on the Common Subexpression
/// Problem", JACM 1980).
struct Congruence {
    up: Vec<ClassId>,
    /// By class: the nodes that have it, or what was united with it, as a child.
    parents: Vec<Vec<NodeId>>,
    known: FxHashMap<Node<ClassId>, ClassId>,
}

impl Congruence {
    fn new(reader: &Reader<'_>) -> Self {
        let classes = (0..reader.view.classes.len() as u32).map(ClassId);
        Congruence { up: classes.collect(), parents: vec![], known: FxHashMap::default() }
    }

    /// Needed before anything is united.
    fn prepare(&mut self, reader: &Reader<'_>) {
        let view = reader.view;
        self.parents = vec![vec![]; view.classes.len()];
        for (i, node) in view.nodes.iter().enumerate() {
            for child in &node.children {
                self.parents[child.index()].push(NodeId(i as u32));
            }
            self.known.entry(node.clone().in_order(reader.universe)).or_insert(view.node_class[i]);
        }
    }

    fn find(&mut self, mut class: ClassId) -> ClassId {
        while self.up[class.index()] != class {
            self.up[class.index()] = self.up[self.up[class.index()].index()];
            class = self.up[class.index()];
        }
        class
    }

    fn unite(&mut self, reader: &Reader<'_>, a: ClassId, b: ClassId) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (mut a, mut b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            if self.parents[a.index()].len() < self.parents[b.index()].len() {
                std::mem::swap(&mut a, &mut b);
            }
            self.up[b.index()] = a;
            let moved = std::mem::take(&mut self.parents[b.index()]);
            for id in &moved {
                let mut node = reader.view.node(*id).clone();
                for child in &mut node.children {
                    *child = self.find(*child);
                }
                let class = reader.view.node_class[id.index()];
                if let Some(other) = self.known.insert(node.in_order(reader.universe), class) {
                    work.push((class, other));
                }
            }
            self.parents[a.index()].extend(moved);
        }
    }
}
