//! Integers that arrive at parameters of blocks.
//!
//! What arrives at a parameter is one of its arguments. Round a loop that is no reason by itself, so what a loop carries
//! is taken to be as little as possible at first: only what enters it, and only edges count that can be taken then.
//! Values that its latches hand on under this assumption, behind the branches and checks that have led there, are added until
//! nothing more comes (Wegman, Zadeck, "Constant Propagation with Conditional Branches", TOPLAS 1991, over bits and
//! bounds instead of constants). After two additions bounds that move are given up, and after that the assumption.
//!
//! **Invariant**: what is known at the end follows from what is known then, so by induction over the steps of an execution it
//! is true. Members of a class are equal where both have a value, and a parameter has one only where its block is executed:
//! what it is, is known of the others no earlier. So which edges are taken, which branches have led there, and what loops are
//! taken to carry counts only for parameters that nothing else is equal to, except for what loops carry and what is
//! computed from it. Of others it is known what follows without any assumption.

use super::integers::{Integers, Nodes};
use super::{Decider, Scope, behind};
use crate::Saturated;
use crate::egraph::known::{Computes, IntTerm, terms};
use crate::egraph::{ClassId, Head, NodeId};
use crate::ir::{BlockId, EdgeId, Terminator};
use crate::skeleton::SkeletonArg;
use rewright_typeprop::Known;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How often assumptions are extended before they are given up altogether.
const MAX_STEPS: usize = 16;

/// How often the edges that are taken are narrowed before anything is added.
const MAX_NARROWINGS: usize = 4;

/// How often what a parameter carries is extended exactly, and how often at all.
const EXACT: u8 = 2;
const AT_ALL: u8 = 6;

/// How deep what is computed from a parameter is looked at.
const MAX_DEPTH: usize = 3;

/// How many nodes of a class are.
const MAX_NODES: usize = 16;

/// A parameter that is an integer, with what arrives there.
struct Param {
    block: BlockId,
    index: u32,
    class: usize,
    bits: u32,
    /// Nothing is equal to it but what loops carry.
    is_alone: bool,
    /// The edges, and the classes of their arguments.
    entering: SmallVec<[(EdgeId, usize); 2]>,
    /// The same for edges back to the block or to one before it.
    returning: SmallVec<[(EdgeId, usize); 1]>,
}

/// What a loop is taken to carry into a parameter.
#[derive(Clone, Copy)]
enum Carried {
    Nothing,
    /// What was extended this many times.
    Within(Known, u8),
    /// Whatever its arguments are.
    Arguments,
}

/// The integers of a function that is taken apart.
pub(super) struct Arriving<'a> {
    given: Saturated<'a>,
    nodes: Rc<Nodes>,
    params: Vec<Param>,
}

impl<'a> Arriving<'a> {
    pub(super) fn new(given: Saturated<'a>) -> Self {
        let Saturated { function: f, cfg, universe, skeleton: s, view } = given;
        let mut edges: FxHashMap<BlockId, Vec<(EdgeId, &[SkeletonArg])>> = FxHashMap::default();
        for block in &s.layout {
            for (slot, edge) in (0u32..).zip(&s.blocks[block.index()].edges) {
                edges.entry(edge.target).or_default().push((EdgeId { from: *block, slot }, &edge.args));
            }
        }
        let mut params = vec![];
        for block in s.layout.iter().filter(|block| **block != f.entry()) {
            let Some(edges) = edges.get(block) else { continue };
            for (index, value) in f.block(*block).params.iter().enumerate() {
                let Some(scalar) = universe.types.scalar(f.ty(*value)).filter(|scalar| scalar.is_int()) else {
                    continue;
                };
                let class = view.class_of(s.blocks[block.index()].params[index]);
                let mut param = Param {
                    block: *block,
                    index: index as u32,
                    class: class.index(),
                    bits: scalar.bits(),
                    is_alone: is_alone(given, class),
                    entering: SmallVec::new(),
                    returning: SmallVec::new(),
                };
                let all = edges.iter().all(|(key, args)| {
                    let SkeletonArg::Node(input) = args[index] else { return false };
                    let returns = cfg.position(*block) <= cfg.position(key.from);
                    let arriving = (*key, view.class_of(input).index());
                    if returns {
                        param.returning.push(arriving)
                    } else {
                        param.entering.push(arriving)
                    }
                    true
                });
                if all {
                    params.push(param);
                }
            }
        }
        let nodes = Rc::new(Nodes::new(view.classes.len(), terms(view, universe)));
        Arriving { given, nodes, params }
    }

    /// What is known of integers everywhere. `decider`: for what holds at the ends of blocks, as far as that is known.
    pub(super) fn settled(&self, decider: impl Fn(Rc<Integers>) -> Decider<'a>) -> Rc<Integers> {
        let start = |param: &Param| match param.is_alone && !param.returning.is_empty() {
            true => Carried::Nothing,
            false => Carried::Arguments,
        };
        let mut carried: Vec<Carried> = self.params.iter().map(start).collect();
        let unassumed = self.unassumed();
        if carried.iter().all(|carried| matches!(carried, Carried::Arguments)) {
            return Rc::new(unassumed);
        }
        let mut taken = self.taken(&self.integers(&carried, &unassumed, None));
        for _ in 0..MAX_NARROWINGS {
            let fewer = self.taken(&self.integers(&carried, &unassumed, Some(&taken)));
            if fewer.len() == taken.len() {
                break;
            }
            taken = fewer;
        }
        let latches = self.params.iter().flat_map(|param| param.returning.iter().map(|(edge, _)| edge.from));
        let latches: BTreeSet<BlockId> = latches.collect();
        for _ in 0..MAX_STEPS {
            let integers = Rc::new(self.integers(&carried, &unassumed, Some(&taken)));
            let more = self.taken(&integers);
            let before = taken.len();
            taken.extend(more);
            let mut decider = decider(integers.clone());
            decider.ends_of(&latches);
            let mut is_settled = taken.len() == before;
            for (param, carried) in self.params.iter().zip(&mut carried) {
                is_settled &= !self.extend(param, carried, &taken, &decider.ends);
            }
            if is_settled {
                return integers;
            }
        }
        Rc::new(unassumed)
    }

    /// Parameters that are constant.
    pub(super) fn constants(&self, integers: &Integers) -> FxHashMap<(BlockId, u32), i64> {
        let constant = |param: &Param| Some(((param.block, param.index), integers.everywhere[param.class]?.single()?));
        self.params.iter().filter_map(constant).collect()
    }

    /// The integers, whatever loops carry and whichever edges are taken.
    fn unassumed(&self) -> Integers {
        let of = |param: &Param| {
            let children = param.entering.iter().chain(&param.returning).map(|(_, class)| *class).collect();
            IntTerm { class: param.class, bits: param.bits, computes: Computes::OneOf, children }
        };
        Integers::new(self.nodes.clone(), self.given.view.classes.len(), self.params.iter().map(of).collect())
    }

    /// The integers under assumptions. `taken`: the edges that can be; without it, all.
    fn integers(&self, carried: &[Carried], unassumed: &Integers, taken: Option<&FxHashSet<EdgeId>>) -> Integers {
        let mut terms = vec![];
        // A carried value is a class of its own.
        let mut classes = self.given.view.classes.len();
        for (param, carried) in self.params.iter().zip(carried) {
            if !param.is_alone {
                let known = unassumed.everywhere[param.class].filter(|known| known.bits() == param.bits);
                terms.extend(known.map(|known| IntTerm {
                    class: param.class,
                    bits: param.bits,
                    computes: Computes::Within(known),
                    children: SmallVec::new(),
                }));
                continue;
            }
            let counts = |key: &EdgeId| taken.is_none_or(|taken| taken.contains(key));
            let of = |arguments: &[(EdgeId, usize)]| -> SmallVec<[usize; 3]> {
                arguments.iter().filter(|(key, _)| counts(key)).map(|(_, class)| *class).collect()
            };
            let mut children = of(&param.entering);
            match carried {
                Carried::Nothing => {}
                Carried::Arguments => children.extend(of(&param.returning)),
                Carried::Within(known, _) => {
                    let computes = Computes::Within(*known);
                    terms.push(IntTerm { class: classes, bits: param.bits, computes, children: SmallVec::new() });
                    children.push(classes);
                    classes += 1;
                }
            }
            // A block that no edge reaches has no values.
            if !children.is_empty() {
                terms.push(IntTerm { class: param.class, bits: param.bits, computes: Computes::OneOf, children });
            }
        }
        Integers::new(self.nodes.clone(), classes, terms)
    }

    /// The edges that can be taken.
    fn taken(&self, integers: &Integers) -> FxHashSet<EdgeId> {
        let Saturated { function: f, universe, skeleton: s, view, .. } = self.given;
        let mut taken = FxHashSet::default();
        let mut reached = FxHashSet::default();
        let mut work = vec![f.entry()];
        while let Some(block) = work.pop() {
            if !reached.insert(block) {
                continue;
            }
            let known = |input| integers.everywhere[view.class_of(input).index()];
            let data = &s.blocks[block.index()];
            let only = match &f.block(block).term {
                Terminator::Branch { cond, .. } => {
                    let known = s.value_input[cond.index()].and_then(known);
                    known.and_then(|known| match (known.allows(0), known.single()) {
                        (false, _) => Some(0),
                        (true, single) => single.map(|_| 1),
                    })
                }
                Terminator::Switch { index, targets, .. } => {
                    let single = known(data.operands[0]).and_then(Known::single);
                    let scalar = universe.types.scalar(f.ty(*index));
                    single.zip(scalar).map(|(n, scalar)| scalar.zero_extended(n).min(targets.len() as u64) as u32)
                }
                _ => None,
            };
            for (slot, edge) in (0u32..).zip(&data.edges) {
                if only.is_none_or(|only| only == slot) {
                    taken.insert(EdgeId { from: block, slot });
                    work.push(edge.target);
                }
            }
        }
        taken
    }

    /// Adds what latches hand on to what a parameter carries. Was that more?
    fn extend(
        &self,
        param: &Param,
        carried: &mut Carried,
        taken: &FxHashSet<EdgeId>,
        ends: &FxHashMap<BlockId, Scope>,
    ) -> bool {
        if matches!(carried, Carried::Arguments) {
            return false;
        }
        let returning = param.returning.iter().filter(|(edge, _)| taken.contains(edge));
        let handed =
            returning.map(|(edge, class)| behind(self.given, *edge, &ends[&edge.from]).known(ClassId(*class as u32)));
        let Some(handed) = handed.reduce(|x, y| x.zip(y).map(|(x, y)| x.join(y))) else { return false };
        let extended = match (&*carried, handed.filter(|known| known.bits() == param.bits)) {
            (_, None) | (Carried::Arguments, _) => Carried::Arguments,
            (Carried::Nothing, Some(handed)) => Carried::Within(handed, 1),
            (Carried::Within(known, _), Some(handed)) if known.join(handed) == *known => return false,
            (Carried::Within(_, AT_ALL..), _) => Carried::Arguments,
            (Carried::Within(known, times), Some(handed)) => {
                let more = if *times < EXACT { known.join(handed) } else { known.widened(handed) };
                Carried::Within(more, times + 1)
            }
        };
        *carried = extended;
        true
    }
}

/// Is a class of a parameter nothing but that, what loops carry, and what is computed from it?
fn is_alone(given: Saturated, class: ClassId) -> bool {
    let mut leaves = 0;
    let nodes = &given.view.class(class).nodes;
    nodes.iter().all(|id| {
        let node = given.view.node(*id);
        match node.head {
            Head::Leaf(_) => {
                leaves += 1;
                leaves == 1
            }
            Head::Op(op) if given.universe.ops.get(op).in_loop.is_some() => true,
            _ => node.children.iter().any(|child| needs(given, *child, class, MAX_DEPTH)),
        }
    })
}

/// Has a class a value only where another one has?
fn needs(given: Saturated, class: ClassId, other: ClassId, depth: usize) -> bool {
    let through = |node: &NodeId| {
        let children = &given.view.node(*node).children;
        children.iter().any(|child| needs(given, *child, other, depth - 1))
    };
    let nodes = &given.view.class(class).nodes;
    class == other || depth > 0 && (1..=MAX_NODES).contains(&nodes.len()) && nodes.iter().all(through)
}
