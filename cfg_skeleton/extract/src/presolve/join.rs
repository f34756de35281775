//! P11: a class that joins what it needs as cheaply as that can be joined keeps only one way to do so.
//!
//! Under associative and commutative laws `a + b + c + d` has a class for each subset of its terms, and a node for each
//! way to halve one. No other reduction sees through that, a linear program pays next to nothing for it, and branch and
//! bound goes through all of it. But four terms take three additions, in whatever order.
//!
//! Let `C` be a class, `Q` what it [requires] before itself, and its *region* the classes that it leads to, up to `Q`.
//! Where only the region leads to the region (except to `C`), choices in it concern no other class. Let `T` be the part
//! of `Q` that every choice of the region refers to: the greatest solution of
//!
//! ```text
//! T(D) = intersection over nodes n of D of the union over children c of n of ({c} if c is in Q, else T(c))
//! ```
//!
//! The classes that a choice has in the region form, with `T` below them, a graph in which `C` leads to all others. So
//! it has at least as many edges as classes other than `C`, and its nodes have that many children. With `e(n)` the
//! children of a node in the region or in `T`, summing up over the nodes gives
//!
//! ```text
//! sum of (e(n) - 1) >= |T| - 1,  hence  sum of cost(n) >= (|T| - 1) * least cost(n) / (e(n) - 1) over e(n) > 1
//! ```
//!
//! If some choice in the region costs no more than that, it is as good as any: what else it needs is in `Q`, which is
//! had anyway, and before `C`. Its nodes stay, and all others of its classes go.
//!
//! This must come before costs are moved and before edges to what is forced are cut, since it lives on both. It is
//! tried only where the other reductions leave much.
//!
//! [requires]: super::required

use super::Work;
use super::required::Required;
use crate::graph::{Class, Graph, Node};
use crate::meter::Meter;
use crate::tree::trees;
use crate::{check, reachable, tolerance};
use rustc_hash::FxHashMap;

/// Edges that are looked at, over all regions, in multiples of the graph's.
const WORK: u64 = 32;

/// Units of work per edge that is looked at.
const STEP: u64 = 8;

/// Passes after which the equations for `T` must have their solution.
const PASSES: usize = 32;

/// Keeps one way to have each class of which this shows that none is cheaper.
pub(super) fn decide(work: &mut Work, meter: &Meter) -> bool {
    let required = Required::of(work, meter);
    let users = users(work);
    let edges: usize = work.all().map(|(_, left)| left.node.children.len() + 1).sum();
    let allowed = Meter::new(meter.left().min(WORK * STEP * edges as u64));
    let mut settled = vec![false; work.nodes.len()];
    let mut changed = false;
    let mut order = work.children_first();
    order.reverse();
    for class in order {
        if allowed.used_up() {
            break;
        }
        if settled[class.index()] || work.nodes[class.index()].len() < 2 {
            continue;
        }
        let Some(region) = Region::of(work, &users, required.ordered(class), class, &allowed) else { continue };
        let Some(way) = region.cheapest_way(&allowed) else { continue };
        region.members.iter().for_each(|member| settled[member.index()] = true);
        way.into_iter().for_each(|(member, at)| keep(work, member, at));
        changed = true;
    }
    meter.settle(&allowed);
    changed
}

/// By class, the classes with a node that has it as a child.
fn users(work: &Work) -> Vec<Vec<Class>> {
    let mut users: Vec<Vec<Class>> = vec![vec![]; work.nodes.len()];
    for (class, left) in work.all() {
        for child in left.node.needs() {
            let users = &mut users[child.index()];
            if users.last() != Some(&class) {
                users.push(class);
            }
        }
    }
    users
}

/// Drops all nodes of a class but the one at a position.
fn keep(work: &mut Work, class: Class, at: usize) {
    let list = &mut work.nodes[class.index()];
    let kept = list.swap_remove(at);
    for left in list.drain(..) {
        work.replaced.insert((class, left.number), kept.number);
    }
    list.push(kept);
}

/// A node of a region.
struct Inner {
    /// Its position in its class.
    at: usize,
    cost: f64,
    /// Children in the region, as positions among its members.
    inside: Vec<usize>,
    /// Children that are required, as positions among those.
    outside: Vec<usize>,
}

/// A class, and what it leads to before what it requires.
struct Region {
    /// The class itself first.
    members: Vec<Class>,
    /// By member.
    nodes: Vec<Vec<Inner>>,
    /// How many required classes it leads to.
    outside: usize,
}

impl Region {
    /// The region of a class; `None` where others lead to it, or something may wait.
    fn of(work: &Work, users: &[Vec<Class>], required: &[Class], class: Class, meter: &Meter) -> Option<Region> {
        let mut place: FxHashMap<Class, usize> = FxHashMap::from_iter([(class, 0)]);
        let mut outer: FxHashMap<Class, usize> = FxHashMap::default();
        let (mut members, mut nodes) = (vec![class], vec![]);
        while let Some(member) = members.get(nodes.len()).copied() {
            let mut list = vec![];
            for (at, left) in work.nodes[member.index()].iter().enumerate() {
                let node = &left.node;
                meter.spend(STEP * (node.children.len() as u64 + 1));
                if !node.deferred.is_empty() || meter.used_up() {
                    return None;
                }
                // All that comes to this member comes from the class, so this would close a cycle.
                if node.children.contains(&class) {
                    continue;
                }
                let mut inner = Inner { at, cost: node.cost, inside: vec![], outside: vec![] };
                for child in &node.children {
                    if required.binary_search(child).is_ok() {
                        let next = outer.len();
                        inner.outside.push(*outer.entry(*child).or_insert(next));
                        continue;
                    }
                    if work.forced[child.index()] {
                        return None;
                    }
                    inner.inside.push(*place.entry(*child).or_insert_with(|| {
                        members.push(*child);
                        members.len() - 1
                    }));
                }
                list.push(inner);
            }
            nodes.push(list);
        }
        let own = |member: &Class| users[member.index()].iter().all(|user| place.contains_key(user));
        members[1..].iter().all(own).then_some(Region { members, nodes, outside: outer.len() })
    }

    /// A choice in the region, as positions of nodes in their classes, if none is cheaper.
    fn cheapest_way(&self, meter: &Meter) -> Option<Vec<(Class, usize)>> {
        let joined = self.joined(meter)?;
        let count = joined.iter().filter(|joined| **joined).count();
        let share = |node: &Inner| {
            let children = node.inside.len() + node.outside.iter().filter(|place| joined[**place]).count();
            (children > 1).then(|| node.cost / (children - 1) as f64)
        };
        let least = self.nodes.iter().flatten().filter_map(share).fold(f64::INFINITY, f64::min);
        let bound = if count > 1 { (count - 1) as f64 * least } else { 0.0 };
        let inside = |node: &Inner| Node::new(node.cost, node.inside.iter().map(|place| Class(*place as u32)), []);
        let classes = self.nodes.iter().map(|list| list.iter().map(inside).collect()).collect();
        let graph = Graph { classes, roots: vec![Class(0)] };
        let trees = trees(&graph.classes, |class, n| graph.classes[class.index()][n].cost, |_| false);
        let picks: Vec<Option<u32>> = trees.iter().map(|tree| tree.map(|tree| tree.node as u32)).collect();
        let picks = reachable(&graph, &picks);
        let cost = check(&graph, &picks).ok()?;
        let way = self.members.iter().zip(&self.nodes).zip(&picks);
        let way = way.filter_map(|((member, list), pick)| Some((*member, list[(*pick)? as usize].at)));
        (cost <= bound + tolerance(bound)).then(|| way.collect())
    }

    /// By required class, is it in `T`? `None` where that would take long to find out.
    fn joined(&self, meter: &Meter) -> Option<Vec<bool>> {
        let words = self.outside.div_ceil(64);
        let edges: usize = self.nodes.iter().flatten().map(|node| node.inside.len() + node.outside.len() + 1).sum();
        let mut sets = vec![vec![u64::MAX; words]; self.members.len()];
        for _ in 0..PASSES {
            meter.spend((edges * (words + 1)) as u64);
            if meter.used_up() {
                return None;
            }
            let mut changed = false;
            // Children come later, as a rule.
            for (place, list) in self.nodes.iter().enumerate().rev() {
                for node in list {
                    let mut union = vec![0u64; words];
                    node.outside.iter().for_each(|bit| union[bit / 64] |= 1 << (bit % 64));
                    for child in &node.inside {
                        union.iter_mut().zip(&sets[*child]).for_each(|(word, more)| *word |= more);
                    }
                    for (word, only) in sets[place].iter_mut().zip(&union) {
                        changed |= *word & !only != 0;
                        *word &= only;
                    }
                }
            }
            if !changed {
                return Some((0..self.outside).map(|bit| sets[0][bit / 64] >> (bit % 64) & 1 == 1).collect());
            }
        }
        None
    }
}
