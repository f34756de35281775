//! Both programs are walked in order, and each value that is equal to an earlier one is replaced by that.
//!
//! The operands of a value are replaced before the value, so two values that are computed in other ways differ in a
//! small part, however long the programs are. A value that is not made like an earlier one, and gives the same on all
//! samples, is taken to be equal to it, and that is asked; what is made of it is walked as if the answer were yes, and
//! many such questions are asked at once. At the first no, the walk goes back to that value, and asks a larger part, or
//! another value. One that is the same on all samples is first compared with that constant. The values before it are
//! known by then, so the walk never goes back further; what was asked behind it and is no is not asked again.
//!
//! **Invariant**: an answer is about nodes whatever programs read, so it holds however it was come by.

use super::super::value::{Pool, ValueId};
use super::super::{Line, Nest};
use super::graph::{Graph, Node, NodeId, Renaming};
use super::window::{MAX_OPERATIONS, Part, question};
use super::{Asked, Question};
use rustc_hash::FxHashMap;

/// Two values that are to be equal, and the lines of the statements that want it.
pub(super) type Root = (ValueId, ValueId, (Line, Line));

/// By value of the second program: what it is to be equal to.
type Wanted = FxHashMap<ValueId, Vec<(ValueId, (Line, Line))>>;

/// Which values are not known to be equal: the lines of two statements, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    pub(crate) lines: (Line, Line),
    pub(crate) reason: String,
    /// Whether the oracle was asked in vain.
    pub(crate) is_asked: bool,
    /// The first values below that differ, or are not known not to.
    pub(crate) values: (Option<ValueId>, Option<ValueId>),
}

impl Difference {
    pub(super) fn of(lines: (Line, Line), reason: impl Into<String>) -> Difference {
        Difference { lines, reason: reason.into(), is_asked: false, values: (None, None) }
    }
}

/// How many questions are asked at once: at least, with which a walk begins, and at most. All steps behind a no are walked
/// again, so fewer are asked where answers are often no.
const BATCH: std::ops::RangeInclusive<usize> = 60..=2_000;

/// How often what stops a walk is asked at length, and the walk goes on from there.
const AGAIN: usize = 100;

/// After this many negative answers, and one more for each value, values are only compared where statements need it.
const MAX_REFUSED: usize = 400;

/// Where no statement needs it, values are guessed to be equal. Of values that end in few, 0 say, many are alike by chance,
/// and most of these differ on random values of a small part's cut. Values of one program are seldom equal.
const FIRST: Guess = Guess { candidates: 16, operations: 6 };
const SECOND: Guess = Guess { candidates: 12, operations: 12 };

/// The same where that is not enough.
const FIRST_AGAIN: Guess = Guess { operations: 12, ..FIRST };
const SECOND_AGAIN: Guess = Guess { operations: MAX_OPERATIONS, ..SECOND };

/// Where operands are not known to be equal, parts of no more operations may show that what is made of them is.
const SMALL: usize = 8;

/// Which earlier values are taken to be equal to one.
#[derive(Clone, Copy)]
struct Guess {
    /// How many are tried.
    candidates: usize,
    /// Parts of no more operations are asked.
    operations: usize,
}

/// A value of one of the programs.
#[derive(Clone, Copy)]
struct Step {
    left: bool,
    value: ValueId,
}

/// Why a node is not taken for another one.
#[derive(Clone)]
struct Refusal {
    /// The answer to that question; `None` if no part is worth a question.
    reason: Option<String>,
    /// The first two nodes below, of which it is not known.
    culprit: (NodeId, NodeId),
    /// Parts of more operations were not tried.
    most: usize,
}

/// A question that is to be asked.
struct Pending {
    /// The step that needs it.
    step: usize,
    question: Question,
}

/// Two nodes that are not known to be equal, and the statements that need it.
struct Stop {
    pair: (NodeId, NodeId),
    lines: (Line, Line),
}

/// How far a walk had come.
#[derive(Clone, Copy)]
struct Mark {
    /// How many nodes there were.
    length: usize,
    last: NodeId,
    furthest: NodeId,
}

pub(super) struct Sweep<'a> {
    graph: Graph<'a>,
    renaming: &'a Renaming,
    steps: Vec<Step>,
    /// What statements want values of the second program to be.
    roots: Wanted,
    left: FxHashMap<ValueId, NodeId>,
    right: FxHashMap<ValueId, NodeId>,
    /// How many nodes the first program has.
    lefts: usize,
    /// The node of the first program that the value before was taken for; of the second program, the last that was.
    last: NodeId,
    /// The largest of these numbers of the second program: what is often computed may have been so long before.
    furthest: NodeId,
    /// Questions that were asked in vain, and what was answered: also of what is walked again, which mostly asks the same.
    noes: FxHashMap<Question, String>,
    refused: FxHashMap<(NodeId, NodeId), Refusal>,
    /// For values of the first program, and of the second.
    guesses: (Guess, Guess),
    pending: Vec<Pending>,
    /// How many are asked at once.
    batch: usize,
    /// Before each step.
    marks: Vec<Mark>,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(pool: &'a Pool, first: &Nest, renaming: &'a Renaming, roots: Vec<Root>) -> Self {
        let steps = |left: bool, values: Vec<ValueId>| values.into_iter().map(move |value| Step { left, value });
        let mut all: Vec<Step> = steps(true, pool.reachable(roots.iter().map(|(l, ..)| *l))).collect();
        all.extend(steps(false, pool.reachable(roots.iter().map(|(_, r, _)| *r))));
        let mut wanted = Wanted::default();
        for (l, r, lines) in roots {
            let of = wanted.entry(r).or_default();
            if of.iter().all(|(other, _)| *other != l) {
                of.push((l, lines));
            }
        }
        Sweep {
            graph: Graph::new(pool, first),
            renaming,
            steps: all,
            roots: wanted,
            left: FxHashMap::default(),
            right: FxHashMap::default(),
            last: 0,
            furthest: 0,
            noes: FxHashMap::default(),
            refused: FxHashMap::default(),
            guesses: (FIRST, SECOND),
            lefts: 0,
            pending: vec![],
            batch: *BATCH.start(),
            marks: vec![],
        }
    }

    /// Whether all pairs are made in the same way.
    pub(super) fn is_same(&mut self) -> bool {
        for step in &self.steps {
            if step.left {
                let id = self.graph.add_left(step.value, &self.left);
                self.left.insert(step.value, id);
            } else {
                let id = self.graph.add_right(step.value, self.renaming, &self.right);
                self.right.insert(step.value, id);
            }
        }
        let mut wanted = self.roots.iter().flat_map(|(r, of)| of.iter().map(move |(l, _)| (l, r)));
        let same = wanted.all(|(l, r)| self.left.get(l) == self.right.get(r));
        self.graph.truncate(0);
        same
    }

    /// Whether a value of the first program is certainly no poison, as it was walked.
    pub(super) fn is_defined(&self, value: ValueId) -> bool {
        self.left.get(&value).is_some_and(|id| self.graph.is_defined(*id))
    }

    /// Shows that all pairs are equal.
    ///
    /// Where small parts do not show it, larger ones are tried. Much work is done only for what stops a walk.
    pub(super) fn run(&mut self, asked: &mut Asked<'_>) -> Result<(), Difference> {
        asked.expect(self.steps.len());
        let mut found = self.walk(0, asked);
        if found.as_ref().is_err_and(|stop| self.graph.may_stand_for(stop.pair.0, stop.pair.1)) {
            self.guesses = (FIRST_AGAIN, SECOND_AGAIN);
            self.noes.clear();
            self.go_back(0);
            found = self.walk(0, asked);
        }
        let mut said = None;
        for _ in 0..AGAIN {
            let Err(stop) = &found else { break };
            match self.at_length(stop, asked) {
                Ok(step) => {
                    self.go_back(step);
                    found = self.walk(step, asked);
                }
                Err(reason) => {
                    said = Some(reason);
                    break;
                }
            }
        }
        found.map_err(|stop| self.difference(&stop, said.unwrap_or_default()))
    }

    /// Walks both programs from a step on.
    fn walk(&mut self, mut next: usize, asked: &mut Asked<'_>) -> Result<(), Stop> {
        loop {
            let mut stop = None;
            while next < self.steps.len() && self.pending.len() < self.batch && stop.is_none() {
                stop = self.step(next).err();
                next += 1;
            }
            asked.compared(next, self.steps.len());
            let again = self.ask(asked);
            let batch = if again.is_some() { self.batch / 2 } else { self.batch * 2 };
            self.batch = batch.clamp(*BATCH.start(), *BATCH.end());
            if let Some(again) = again {
                self.go_back(again);
                next = again;
                continue;
            }
            match stop {
                Some(stop) => return Err(stop),
                None if next == self.steps.len() => return Ok(()),
                None => {}
            }
        }
    }

    /// Forgets what was found from a step on.
    fn go_back(&mut self, step: usize) {
        let Some(&Mark { length, last, furthest }) = self.marks.get(step) else { return };
        self.marks.truncate(step);
        self.graph.truncate(length);
        // Numbers from here on will be those of other nodes.
        self.refused.retain(|pair, _| (pair.0.max(pair.1) as usize) < length);
        (self.last, self.furthest) = (last, furthest);
    }

    /// Asks at length about what stops a walk. The step that it concerns, if that is shown to be equal, else why not.
    fn at_length(&mut self, stop: &Stop, asked: &mut Asked<'_>) -> Result<usize, String> {
        let pair = self.refused.get(&stop.pair).map_or(stop.pair, |refusal| refusal.culprit);
        let mut said = String::new();
        if !self.graph.may_stand_for(pair.0, pair.1) {
            return Err(said);
        }
        let mut part = Part::default();
        while let Some((question, found)) = question(&self.graph, pair, part, usize::MAX) {
            let question = [question];
            if asked.open(&question).is_empty() {
                self.noes.remove(&question[0]);
                let made = pair.0.max(pair.1) as usize;
                return Ok(self.marks.partition_point(|mark| mark.length <= made) - 1);
            }
            said = asked.reason(&question[0]);
            part = found.larger();
        }
        Err(said)
    }

    /// Asks what is to be asked; the step to go back to, where an answer is not yes.
    fn ask(&mut self, asked: &mut Asked<'_>) -> Option<usize> {
        let pending = std::mem::take(&mut self.pending);
        let questions: Vec<Question> = pending.iter().map(|p| p.question.clone()).collect();
        let open = asked.open_quickly(&questions);
        asked.used(&questions[..open.first().copied().unwrap_or(questions.len())]);
        for n in &open {
            let question = &pending[*n].question;
            self.noes.insert(question.clone(), asked.reason(question));
        }
        open.first().map(|n| pending[*n].step)
    }

    fn step(&mut self, number: usize) -> Result<(), Stop> {
        let Step { left, value } = self.steps[number];
        let length = self.graph.len();
        self.marks.push(Mark { length, last: self.last, furthest: self.furthest });
        let mut id = self.add(number);
        let mut is_new = self.graph.len() > length;
        if let Some(constant) = self.graph.as_constant(id).filter(|_| is_new) {
            // A node that stands for another one has a smaller number.
            self.graph.truncate(length);
            self.graph.add_constant(constant, value);
            let length = self.graph.len();
            id = self.add(number);
            is_new = self.graph.len() > length;
        }
        if is_new {
            let is_compared = matches!(self.graph.get(id), Node::Op(..));
            let found = is_compared.then(|| self.equal(number, id)).flatten();
            match found {
                Some(other) => self.graph.replace(id, other, left || self.graph.is_defined(other)),
                None => self.graph.publish(id),
            }
        }
        let node = self.graph.standing(id);
        // Where the first program has computed this: a node that stands for it may be from long before.
        let place = if is_new { node } else { id };
        if left {
            self.left.insert(value, node);
            self.lefts = self.graph.len();
            self.last = place;
            return Ok(());
        }
        // One that is not equal to any of the first program says nothing of where the next one is.
        if (place as usize) < self.lefts && matches!(self.graph.get(place), Node::Op(..)) {
            self.last = place;
            self.furthest = self.furthest.max(place);
        }
        self.right.insert(value, node);
        self.needed(number, value, node)
    }

    /// Numbers the value of a step, whose operands have numbers.
    fn add(&mut self, number: usize) -> NodeId {
        let Step { left, value } = self.steps[number];
        let id = match left {
            true => self.graph.add_left(value, &self.left),
            false => self.graph.add_right(value, self.renaming, &self.right),
        };
        self.graph.sample();
        id
    }

    /// An earlier node that is taken for this one; what is to be asked for that is pending.
    fn equal(&mut self, number: usize, id: NodeId) -> Option<NodeId> {
        let Step { left, value } = self.steps[number];
        let wanted = self.roots.get(&value).filter(|_| !left).into_iter().flatten();
        let mut candidates: Vec<NodeId> = wanted.filter_map(|(l, _)| self.left.get(l).copied()).collect();
        let needed = candidates.len();
        candidates.extend(self.graph.constant_like(id));
        let Guess { candidates: most, operations } = if left { self.guesses.0 } else { self.guesses.1 };
        if self.noes.len() < MAX_REFUSED + self.steps.len() {
            candidates.extend(self.near(id, self.last, most));
            if !left && self.furthest > self.last {
                candidates.extend(self.near(id, self.furthest, most));
            }
        }
        candidates.into_iter().enumerate().find_map(|(n, other)| {
            let most = if n < needed { usize::MAX } else { operations };
            self.take(number, other, id, most).then_some(other)
        })
    }

    /// Nodes that may be equal to this one, nearest to a last one first. Programs do the same in much the same order: what
    /// comes next is nearer than what came before.
    fn near(&self, id: NodeId, last: NodeId, most: usize) -> Vec<NodeId> {
        let alike = self.graph.alike(id);
        let (earlier, later) = alike.split_at(alike.partition_point(|node| *node <= last));
        let later = later.iter().take(most).map(|node| (node - last, *node));
        let earlier = earlier.iter().rev().take(most).map(|node| (2 * (last - node), *node));
        let mut near: Vec<(NodeId, NodeId)> = later.chain(earlier).collect();
        near.sort_unstable();
        near.into_iter().take(most).map(|(_, node)| node).collect()
    }

    /// Takes an earlier node for a new one, if that may be.
    fn take(&mut self, number: usize, other: NodeId, id: NodeId, most: usize) -> bool {
        let mut pairs = vec![];
        if self.steps[number].left {
            pairs.push((id, other));
        }
        // Nodes of the first program are nodes of the second one, too: both are to be poison at the same time, and the same
        // NaNs.
        if !self.steps[number].left || !self.graph.is_defined(id) || !self.graph.have_like_nans(id, other) {
            pairs.push((other, id));
        }
        let length = self.pending.len();
        for pair in pairs {
            if !self.graph.may_stand_for(pair.0, pair.1) || !self.want(number, pair, most) {
                self.pending.truncate(length);
                return false;
            }
        }
        true
    }

    /// Notes a question to be asked; `false` where there is none that may have the answer yes.
    fn want(&mut self, step: usize, pair: (NodeId, NodeId), most: usize) -> bool {
        if self.refused.get(&pair).is_some_and(|refusal| refusal.most >= most) {
            return false;
        }
        let refusal = self.below(pair);
        let size = if refusal.is_some() { SMALL.min(most) } else { most };
        let (mut first, mut reason) = (Part::default(), None);
        while let Some((question, part)) = question(&self.graph, pair, first, size) {
            let Some(said) = self.noes.get(&question) else {
                self.pending.push(Pending { step, question });
                return true;
            };
            reason = Some(said.clone());
            first = part.larger();
        }
        let refusal = refusal.unwrap_or(Refusal { reason, culprit: pair, most });
        self.refused.insert(pair, Refusal { most, ..refusal });
        false
    }

    /// Why operands of two like operations, which would have to be equal, are not taken to be, where that was asked: many
    /// that never were are alike by chance, and say nothing of what is made of them.
    fn below(&self, (left, right): (NodeId, NodeId)) -> Option<Refusal> {
        let (Node::Op(a, of_left), Node::Op(b, of_right)) = (self.graph.get(left), self.graph.get(right)) else {
            return None;
        };
        if a != b || of_left.len() != of_right.len() {
            return None;
        }
        let found = |pair| self.refused.get(&pair).filter(|refusal| refusal.reason.is_some());
        let refused = |l: &NodeId, r: &NodeId| found((*l, *r)).or_else(|| found((*r, *l)));
        let straight = of_left.iter().zip(of_right);
        let crossed = of_left.iter().zip(of_right.iter().rev());
        let is_commuted = of_left.len() == 2 && self.graph.commutes(*a);
        let all = |pairs: &[(&NodeId, &NodeId)]| {
            let open: Vec<_> = pairs.iter().filter(|(l, r)| l != r).collect();
            let found = open.iter().map(|(l, r)| refused(l, r)).collect::<Option<Vec<_>>>()?;
            found.first().map(|refusal| (*refusal).clone())
        };
        all(&straight.collect::<Vec<_>>())
            .or_else(|| if is_commuted { all(&crossed.collect::<Vec<_>>()) } else { None })
    }

    /// Notes what statements need of a value of the second program.
    fn needed(&mut self, number: usize, value: ValueId, node: NodeId) -> Result<(), Stop> {
        for (l, lines) in self.roots.get(&value).cloned().unwrap_or_default() {
            let left = self.left[&l];
            if left == node {
                continue;
            }
            let pair = (left, node);
            if !self.graph.may_stand_for(left, node) || !self.want(number, pair, usize::MAX) {
                return Err(Stop { pair, lines });
            }
        }
        Ok(())
    }

    /// What is said of two nodes that are not known to be equal; what was said of them last, if anything was.
    fn difference(&self, stop: &Stop, last: String) -> Difference {
        let refusal = self.refused.get(&stop.pair);
        let (left, right) = refusal.map_or_else(|| self.first_difference(stop.pair), |refusal| refusal.culprit);
        let said = refusal.and_then(|refusal| refusal.reason.clone());
        let said = if last.is_empty() { said } else { Some(last) };
        let is_asked = said.is_some();
        let reason = said.unwrap_or_else(|| match refusal {
            Some(_) => format!("no {MAX_OPERATIONS} operations that they end in show that two values are equal"),
            None => "two values differ on inputs that were tried".to_string(),
        });
        let values = (Some(self.graph.origin(left)), Some(self.graph.origin(right)));
        Difference { lines: stop.lines, reason, is_asked, values }
    }

    /// The nodes at which two values begin to differ on samples: all else that they are made from is the same.
    fn first_difference(&self, mut pair: (NodeId, NodeId)) -> (NodeId, NodeId) {
        let differs = |(l, r): &(NodeId, NodeId)| !self.graph.may_stand_for(*l, *r);
        loop {
            let (Node::Op(a, left), Node::Op(b, right)) = (self.graph.get(pair.0), self.graph.get(pair.1)) else {
                return pair;
            };
            if a != b || left.len() != right.len() {
                return pair;
            }
            let mut orders = vec![right.to_vec()];
            if right.len() == 2 && self.graph.commutes(*a) {
                orders.push(vec![right[1], right[0]]);
            }
            let differing = orders.into_iter().map(|right| {
                left.iter().copied().zip(right).filter(|pair| differs(pair)).collect::<Vec<(NodeId, NodeId)>>()
            });
            match differing.min_by_key(Vec::len).as_deref() {
                Some([one]) => pair = *one,
                _ => return pair,
            }
        }
    }
}
