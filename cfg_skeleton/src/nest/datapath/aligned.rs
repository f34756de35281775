//! Values of statements that correspond one to one: equal, if some questions have the answer yes.
//!
//! The second program's values are numbered operands first. One that the first program does not compute in the same way
//! is taken to be the one that gives the same on all samples, and that is asked; what is made of it is compared as if
//! the answer were yes. So a long chain of statements is many small questions, all asked at once. Where an answer is no,
//! the pair is taken to differ, and all is numbered again.

use super::super::value::{Pool, Value, ValueId};
use super::super::{Line, Nest};
use super::Asked;
use super::graph::{Graph, Node, NodeId, Renaming, reachable};
use super::question::{Cut, question};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is to be equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) left: ValueId,
    pub(crate) right: ValueId,
    /// The operations are to be the same, and only their operands are values.
    pub(crate) by_operands: bool,
    /// The statements' lines.
    pub(crate) lines: (Line, Line),
}

/// Two values that are to be equal, and the lines of the statements that want it.
type Root = (ValueId, ValueId, (Line, Line));

/// How often values are numbered.
const ROUNDS: usize = 12;

/// Nodes of the first program that are tried for one of the second.
const CANDIDATES: usize = 4;

/// Which values are not known to be equal: the lines of two statements, and what the oracle says, if it was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    pub(crate) lines: (Line, Line),
    pub(crate) reason: String,
}

/// Whether all pairs are equal.
pub(crate) fn equal(
    pool: &Pool,
    left: &Nest,
    pairs: &[Pair],
    renaming: &Renaming,
    asked: &mut Asked<'_>,
) -> Result<(), Difference> {
    let mut roots: Vec<Root> = vec![];
    for pair in pairs {
        match by_operands(pool, pair) {
            Some(operands) => roots.extend(operands),
            None => return Err(Difference { lines: pair.lines, reason: String::new() }),
        }
    }
    let graph = Graph::new(pool, left, roots.iter().map(|(l, ..)| *l));
    let order = reachable(pool, roots.iter().map(|(_, r, _)| *r));
    let partners = roots.iter().filter_map(|(l, r, _)| Some((*r, graph.left(*l)?))).collect();
    let (refused, cuts) = (FxHashSet::default(), FxHashMap::default());
    let mut search = Search { graph, renaming, order, roots, partners, refused, cuts };
    if search.run(asked)? == Shown::AsItIs {
        return Ok(());
    }
    // An operand that is poison on the left may be any number on the right, and some are undefined to divide.
    let traps = pairs.iter().filter(|pair| pair.by_operands);
    for (pair, operands) in traps.map(|pair| (pair, by_operands(pool, pair))) {
        let defined = |(l, ..): &Root| search.graph.left(*l).is_some_and(|l| search.graph.is_defined(l));
        if !operands.iter().flatten().all(defined) {
            return Err(Difference { lines: pair.lines, reason: String::new() });
        }
    }
    Ok(())
}

/// How values are known to be equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    /// They are the same.
    AsItIs,
    /// By answers.
    Asked,
}

/// The pairs of values that a pair stands for; `None` where it cannot hold.
fn by_operands(pool: &Pool, pair: &Pair) -> Option<Vec<Root>> {
    if !pair.by_operands {
        return Some(vec![(pair.left, pair.right, pair.lines)]);
    }
    let (Value::Op(a), Value::Op(b)) = (pool.get(pair.left), pool.get(pair.right)) else { return None };
    let same = a.name == b.name && a.from == b.from && a.ty == b.ty && a.operands.len() == b.operands.len();
    same.then(|| a.operands.iter().zip(&b.operands).map(|(l, r)| (*l, *r, pair.lines)).collect())
}

struct Search<'a> {
    graph: Graph<'a>,
    renaming: &'a Renaming,
    /// Values of the second program, operands first.
    order: Vec<ValueId>,
    roots: Vec<Root>,
    /// What statements want values of the second program to be.
    partners: FxHashMap<ValueId, NodeId>,
    /// Pairs that are not known to be equal.
    refused: FxHashSet<(NodeId, ValueId)>,
    /// Pairs that are asked in another way than usually.
    cuts: FxHashMap<(NodeId, ValueId), Cut>,
}

/// A question, and the values that it is about.
struct Wanted {
    pair: (NodeId, ValueId),
    right: NodeId,
    /// The statements, where a statement needs it.
    lines: Option<(Line, Line)>,
}

impl Search<'_> {
    fn run(&mut self, asked: &mut Asked<'_>) -> Result<Shown, Difference> {
        let mut last = Difference { lines: (0, 0), reason: String::new() };
        let mut signatures = None;
        for _ in 0..ROUNDS {
            self.graph.reset();
            if signatures.is_none() && self.is_same() {
                return Ok(Shown::AsItIs);
            }
            if asked.is_none() {
                break;
            }
            if signatures.is_none() {
                self.graph.reset();
                self.graph.sample();
                signatures = Some(self.graph.by_signature());
            }
            let wanted = self.number(signatures.as_ref().unwrap_or(&FxHashMap::default()))?;
            let cut = |wanted: &Wanted| self.cuts.get(&wanted.pair).copied().unwrap_or(Cut::Shared);
            let questions: Vec<_> = wanted.iter().map(|w| question(&self.graph, w.pair.0, w.right, cut(w))).collect();
            let open = asked.open(&questions);
            if open.is_empty() {
                return Ok(Shown::Asked);
            }
            let mut refused = false;
            let again: Vec<usize> =
                open.into_iter().filter(|n| self.cuts.insert(wanted[*n].pair, Cut::Inputs).is_some()).collect();
            for &position in &again {
                if wanted[position].lines.is_none() {
                    refused |= self.refused.insert(wanted[position].pair);
                }
            }
            // Where a value was taken for a wrong one, that is what is wrong with the statement.
            let needed = again.into_iter().find_map(|n| Some((n, wanted[n].lines?)));
            if let Some((position, lines)) = needed {
                last = Difference { lines, reason: asked.reason(&questions[position]) };
                if !refused {
                    return Err(last);
                }
            }
        }
        Err(last)
    }

    /// Whether all pairs are equal without any question.
    fn is_same(&mut self) -> bool {
        let mut number: FxHashMap<ValueId, NodeId> = FxHashMap::default();
        for &value in &self.order {
            let id = self.graph.add_right(value, self.renaming, &number);
            number.insert(value, id);
        }
        self.roots
            .iter()
            .all(|(l, r, _)| self.graph.left(*l).is_some() && self.graph.left(*l) == number.get(r).copied())
    }

    /// Numbers the second program's values; what is to be asked for that.
    fn number(&mut self, signatures: &FxHashMap<(String, u64), Vec<NodeId>>) -> Result<Vec<Wanted>, Difference> {
        let mut number: FxHashMap<ValueId, NodeId> = FxHashMap::default();
        let (mut wanted, mut last): (Vec<Wanted>, NodeId) = (vec![], 0);
        for &value in &self.order {
            let id = self.graph.add_right(value, self.renaming, &number);
            self.graph.sample();
            let is_op = matches!(self.graph.get(id), Node::Op(..));
            let is_new = is_op && !self.graph.is_own(id);
            let found = if is_new { self.candidate(id, value, last, signatures) } else { None };
            if let Some(left) = found {
                wanted.push(Wanted { pair: (left, value), right: id, lines: None });
            }
            let node = found.unwrap_or(id);
            if is_op && self.graph.is_own(node) {
                last = node;
            }
            number.insert(value, node);
        }
        let mut forced = FxHashSet::default();
        for &(l, r, lines) in &self.roots {
            let differ = Err(Difference { lines, reason: String::new() });
            let (Some(left), Some(right)) = (self.graph.left(l), number.get(&r).copied()) else {
                return differ;
            };
            if left == right || !forced.insert((left, r)) {
                continue;
            }
            if !self.graph.may_stand_for(left, right) {
                return differ;
            }
            wanted.push(Wanted { pair: (left, r), right, lines: Some(lines) });
        }
        Ok(wanted)
    }

    /// A node of the first program that may be equal to one of the second; `last` is the one of the value before.
    fn candidate(
        &self,
        id: NodeId,
        value: ValueId,
        last: NodeId,
        signatures: &FxHashMap<(String, u64), Vec<NodeId>>,
    ) -> Option<NodeId> {
        let key = (self.graph.type_of(id)?.to_string(), self.graph.signature(id));
        let partner = self.partners.get(&value).copied();
        // Programs do the same in much the same order: what comes next is the first to be tried.
        let alike = signatures.get(&key).map_or(&[][..], Vec::as_slice);
        let (earlier, later) = alike.split_at(alike.partition_point(|node| *node <= last));
        let found = later.iter().take(CANDIDATES).chain(earlier.iter().rev().take(CANDIDATES));
        partner
            .into_iter()
            .chain(found.copied())
            .find(|left| !self.refused.contains(&(*left, value)) && self.graph.may_stand_for(*left, id))
    }
}
