//! Facts about values and loops that no rule concludes: which values are known before a loop is entered, which are
//! polynomials in the number of its iterations, which is that number and does not wrap, and what decides whether a loop goes
//! on.
//!
//! They are least fixed points over the nodes that there are, or said of single nodes, so they only grow as classes do. They
//! are found anew when a step asks for them and something has changed since.

use super::EngineError;
use super::batch::Batch;
use super::order::RawNode;
use super::read_back::{input_rows, rows};
use super::said::{Found, Said};
use egglog::Value;
use rewright_cfg_skeleton::egraph::{EGraphInput, Head, InputId, LoopInput};
use rewright_dsl::egglog::EgglogProgram;
use rewright_dsl::program::{FactId, LoopFact, Program};
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::{Model, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The facts of a program that are filled here, and their relations.
pub(super) struct LoopFacts {
    facts: Vec<(FactId, LoopFact)>,
}

impl LoopFacts {
    pub(super) fn new(source: &Program) -> Self {
        let facts = (0u32..).map(FactId).zip(&source.facts);
        LoopFacts { facts: facts.filter_map(|(id, fact)| Some((id, fact.filled?))).collect() }
    }

    /// The names of the relations.
    pub(super) fn relations<'p>(&self, program: &'p EgglogProgram) -> impl Iterator<Item = &'p str> {
        self.facts.iter().map(|(id, _)| program.fact(*id).name.as_str()).collect::<Vec<_>>().into_iter()
    }

    /// Says where the facts hold now; was something not said before?
    pub(super) fn fill(&self, batch: &mut Batch<'_>, said: &mut Said) -> Result<bool, EngineError> {
        let source = batch.shared.source();
        let mut found: Vec<Found> = vec![];
        for (unit, rows) in rows(batch)?.iter().enumerate().filter(|(unit, _)| !batch.units[*unit].loops.is_empty()) {
            let of_inputs = input_rows(batch, unit, rows)?;
            let classes = Classes::new(source, rows);
            let class = |input: InputId| classes.of_rows[of_inputs[input.index()]];
            self.unit(&classes, batch.units[unit], class, &mut found);
        }
        said.say(batch, found)
    }

    /// What holds in one unit. `class`: of an input node.
    fn unit(
        &self,
        classes: &Classes<'_>,
        input: &EGraphInput,
        class: impl Fn(InputId) -> usize,
        found: &mut Vec<Found>,
    ) {
        let constants: Vec<usize> = input.loops.iter().map(|l| class(l.constant)).collect();
        for (l, constant) in input.loops.iter().zip(&constants) {
            let own = self.of_type(classes.source, input.nodes[l.constant.index()].types.first().copied());
            if own.is_empty() {
                continue;
            }
            let enters = classes.enters(l.enters.iter().map(|input| class(*input)), l, &constants);
            let plain = classes.plain(&enters, *constant);
            for (id, fact) in own {
                let holding = match fact {
                    LoopFact::Enters => classes.values(&enters, &constants).collect(),
                    LoopFact::Plain => classes.values(&plain, &constants).collect(),
                    LoopFact::Stays => l.stays.map(|stays| class(stays.test)).into_iter().collect(),
                    LoopFact::Trips => l.stays.and_then(|stays| stays.trips).map(&class).into_iter().collect(),
                    LoopFact::Counts => {
                        l.stays.map_or_else(Vec::new, |stays| classes.counters(*constant, stays.bits).collect())
                    }
                };
                let value = |class: usize| classes.number[class];
                found.extend(holding.into_iter().map(|class| (id, value(class), Some(value(*constant)))));
            }
        }
    }

    /// The facts about loops of a type.
    fn of_type(&self, source: &Program, of_loops: Option<Ty>) -> Vec<(FactId, LoopFact)> {
        let ty = |id: FactId| {
            let ty = source.facts[id.0 as usize].params.get(1);
            ty.and_then(|ty| source.universe.types.find_instance(ty, &[]))
        };
        self.facts.iter().copied().filter(|(id, _)| ty(*id) == of_loops).collect()
    }
}

/// The classes of one unit, numbered.
struct Classes<'r> {
    source: &'r Program,
    /// By number: the class.
    number: Vec<Value>,
    rows: &'r [RawNode],
    /// By row: its class.
    of_rows: Vec<usize>,
    /// By row: the classes of its children.
    children: Vec<SmallVec<[usize; 3]>>,
    /// By row: its part in a loop.
    roles: Vec<Option<LoopRole>>,
    /// By class: the rows that have it as a child.
    users: Vec<Vec<usize>>,
    /// By class: it is the class of a value, not of a state.
    is_value: Vec<bool>,
    /// Classes with the constants in them.
    constants: FxHashSet<(usize, i64)>,
}

impl<'r> Classes<'r> {
    fn new(source: &'r Program, rows: &'r [RawNode]) -> Self {
        let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
        let mut number: Vec<Value> = vec![];
        let mut numbered = |class: &Value| {
            *numbers.entry(*class).or_insert_with(|| {
                number.push(*class);
                number.len() - 1
            })
        };
        let of_rows: Vec<usize> = rows.iter().map(|row| numbered(&row.class)).collect();
        let children: Vec<SmallVec<[usize; 3]>> =
            rows.iter().map(|row| row.children.iter().map(&mut numbered).collect()).collect();
        let mut users = vec![vec![]; number.len()];
        let mut is_value = vec![true; number.len()];
        let mut constants = FxHashSet::default();
        for (n, row) in rows.iter().enumerate() {
            children[n].iter().for_each(|child| users[*child].push(n));
            is_value[of_rows[n]] &= match row.head {
                Head::Token(_) => false,
                Head::Op(op) => !source.universe.ops.get(op).gives_state(),
                _ => true,
            };
            if let Head::Const(constant) = row.head {
                constants.insert((of_rows[n], constant));
            }
        }
        let role = |row: &RawNode| match row.head {
            Head::Op(op) => source.universe.ops.get(op).in_loop,
            _ => None,
        };
        let roles = rows.iter().map(role).collect();
        Classes { source, number, rows, of_rows, children, roles, users, is_value, constants }
    }

    /// Those classes of values of which something holds, but for the constants that stand for loops.
    fn values<'a>(&'a self, holds: &'a [bool], constants: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
        (0..holds.len()).filter(|class| holds[*class] && self.is_value[*class] && !constants.contains(class))
    }

    /// Classes that count the iterations of a loop which are over, in at least this many bits.
    fn counters(&self, of: usize, bits: u32) -> impl Iterator<Item = usize> + '_ {
        let universe = &self.source.universe;
        let counts = move |row: &usize| match (self.roles[*row], &self.children[*row][..]) {
            (Some(LoopRole::Recurrence(step)), [l, first, by]) if *l == of => {
                let ty = self.rows[*row].types.first().and_then(|ty| universe.types.scalar(*ty));
                universe.ops.get(step).model == Some(Model::Add)
                    && ty.is_some_and(|ty| ty.is_int() && ty.bits() >= bits)
                    && self.constants.contains(&(*first, 0))
                    && self.constants.contains(&(*by, 1))
            }
            _ => false,
        };
        (0..self.rows.len()).filter(counts).map(|row| self.of_rows[row])
    }

    /// By class: is it known before a loop is entered? `sources` are, and what those loops carry or are left with that
    /// the loop says so of. `constants` stand for the loops of the unit.
    fn enters(&self, sources: impl Iterator<Item = usize>, l: &LoopInput, constants: &[usize]) -> Vec<bool> {
        let says_so = |role: LoopRole, of: usize| {
            let holds = match role {
                LoopRole::Leave | LoopRole::Left | LoopRole::LeftLast => &l.left,
                LoopRole::Theta | LoopRole::Recurrence(_) | LoopRole::Around => &l.carried,
            };
            constants.iter().zip(holds).any(|(constant, holds)| *holds && *constant == of)
        };
        let is_source = |row: &usize| match self.roles[*row] {
            Some(role) => self.children[*row].first().is_some_and(|l| says_so(role, *l)),
            None => self.children[*row].is_empty() && !matches!(self.rows[*row].head, Head::Leaf(_) | Head::Token(_)),
        };
        let start = (0..self.rows.len()).filter(is_source).map(|row| self.of_rows[row]).chain(sources).collect();
        self.close(start, |row, known| {
            self.roles[row].is_none() && self.children[row].iter().all(|child| known[*child])
        })
    }

    /// By class: does it enter a loop, or is it a recurrence of it that begins with what enters and has a plain step?
    fn plain(&self, enters: &[bool], of: usize) -> Vec<bool> {
        let start = (0..enters.len()).filter(|class| enters[*class]).collect();
        self.close(start, |row, known| match (self.roles[row], &self.children[row][..]) {
            (Some(LoopRole::Recurrence(_)), [l, first, step]) => *l == of && enters[*first] && known[*step],
            _ => false,
        })
    }

    /// The least set of classes that holds `start` and the classes of rows that follow from it.
    fn close(&self, start: Vec<usize>, follows: impl Fn(usize, &[bool]) -> bool) -> Vec<bool> {
        let mut known = vec![false; self.number.len()];
        start.iter().for_each(|class| known[*class] = true);
        let mut work = start;
        while let Some(class) = work.pop() {
            for row in &self.users[class] {
                let own = self.of_rows[*row];
                if !known[own] && follows(*row, &known) {
                    known[own] = true;
                    work.push(own);
                }
            }
        }
        known
    }
}
