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
use egglog::api::RawValues;
use egglog::{Value, Write};
use rewright_cfg_skeleton::egraph::Head;
use rewright_dsl::egglog::EgglogProgram;
use rewright_dsl::program::{FactId, LoopFact, Program};
use rewright_typeprop::Model;
use rewright_typeprop::ops::LoopRole;
use rustc_hash::FxHashMap;

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

    /// Says where the facts hold now.
    pub(super) fn fill(&self, batch: &mut Batch<'_>) -> Result<(), EngineError> {
        let source = batch.shared.source();
        let mut found: Vec<(FactId, Value, Value)> = vec![];
        for (unit, rows) in rows(batch)?.iter().enumerate() {
            let input = batch.units[unit];
            if input.loops.is_empty() {
                continue;
            }
            let known = Classes::new(source, rows);
            let of_inputs = input_rows(batch, unit, rows)?;
            let class = |input: rewright_cfg_skeleton::egraph::InputId| rows[of_inputs[input.index()]].class;
            let constants: Vec<Value> = input.loops.iter().map(|l| class(l.constant)).collect();
            for (l, constant) in input.loops.iter().zip(&constants) {
                let of_loops = input.nodes[l.constant.index()].types.first().copied();
                let own: Vec<&(FactId, LoopFact)> = self
                    .facts
                    .iter()
                    .filter(|(id, _)| {
                        let ty = source.facts[id.0 as usize].params.get(1);
                        ty.and_then(|ty| source.universe.types.find_instance(ty, &[])) == of_loops
                    })
                    .collect();
                if own.is_empty() {
                    continue;
                }
                let carried = |role: LoopRole, of: Value| {
                    let holds = match role {
                        LoopRole::Leave | LoopRole::Left | LoopRole::LeftLast => &l.left,
                        LoopRole::Theta | LoopRole::Recurrence(_) | LoopRole::Around => &l.carried,
                    };
                    constants.iter().zip(holds).any(|(constant, holds)| *holds && *constant == of)
                };
                let enters = known.enters(l.enters.iter().map(|input| class(*input)), carried);
                let plain = known.plain(&enters, *constant);
                for (id, fact) in own {
                    let holds = match fact {
                        LoopFact::Enters => &enters,
                        LoopFact::Plain => &plain,
                        LoopFact::Stays => {
                            found.extend(l.stays.map(|stays| (*id, class(stays.test), *constant)));
                            continue;
                        }
                        LoopFact::Trips => {
                            let trips = l.stays.and_then(|stays| stays.trips);
                            found.extend(trips.map(|trips| (*id, class(trips), *constant)));
                            continue;
                        }
                        LoopFact::Counts => {
                            let counters = l.stays.map(|stays| known.counters(*constant, stays.bits));
                            found.extend(counters.into_iter().flatten().map(|class| (*id, class, *constant)));
                            continue;
                        }
                    };
                    let values = known.values().filter(|(n, class)| holds[*n] && !constants.contains(class));
                    found.extend(values.map(|(_, class)| (*id, class, *constant)));
                }
            }
        }
        let program = batch.program;
        let inserted = batch.egraph.update(|mut state| {
            for (fact, value, l) in &found {
                state.add(&program.fact(*fact).name, RawValues(vec![*value, *l]))?;
            }
            Ok(())
        });
        inserted.map_err(|error| EngineError::Run(error.to_string()))
    }
}

/// The classes of one unit, numbered.
struct Classes<'r> {
    source: &'r Program,
    rows: &'r [RawNode],
    number: FxHashMap<Value, usize>,
    /// By class: its rows, and those that have it as a child.
    users: Vec<Vec<usize>>,
    /// By class: it is the class of a value, not of a state.
    is_value: Vec<bool>,
}

impl<'r> Classes<'r> {
    fn new(source: &'r Program, rows: &'r [RawNode]) -> Self {
        let mut number: FxHashMap<Value, usize> = FxHashMap::default();
        for row in rows {
            let next = number.len();
            number.entry(row.class).or_insert(next);
        }
        let mut users = vec![vec![]; number.len()];
        let mut is_value = vec![true; number.len()];
        for (n, row) in rows.iter().enumerate() {
            row.children.iter().filter_map(|child| number.get(child)).for_each(|child| users[*child].push(n));
            is_value[number[&row.class]] &= match row.head {
                Head::Token(_) => false,
                Head::Op(op) => !source.universe.ops.get(op).gives_state(),
                _ => true,
            };
        }
        Classes { source, rows, number, users, is_value }
    }

    /// The classes of values, by number.
    fn values(&self) -> impl Iterator<Item = (usize, Value)> + '_ {
        let mut classes: Vec<(usize, Value)> = self.number.iter().map(|(class, n)| (*n, *class)).collect();
        classes.sort_unstable_by_key(|(n, _)| *n);
        classes.into_iter().filter(|(n, _)| self.is_value[*n])
    }

    fn role(&self, row: &RawNode) -> Option<LoopRole> {
        match row.head {
            Head::Op(op) => self.source.universe.ops.get(op).in_loop,
            _ => None,
        }
    }

    /// Classes that count the iterations of a loop which are over, in at least this many bits.
    fn counters(&self, of: Value, bits: u32) -> impl Iterator<Item = Value> + '_ {
        let is = |class: &Value, n: i64| {
            let rows = self.rows.iter().filter(|row| row.class == *class);
            rows.into_iter().any(|row| row.head == Head::Const(n))
        };
        let universe = &self.source.universe;
        let counts = move |row: &RawNode| match (self.role(row), &row.children[..]) {
            (Some(LoopRole::Recurrence(step)), [l, first, by]) if *l == of => {
                let ty = row.types.first().and_then(|ty| universe.types.scalar(*ty));
                universe.ops.get(step).model == Some(Model::Add)
                    && ty.is_some_and(|ty| ty.is_int() && ty.bits() >= bits)
                    && is(first, 0)
                    && is(by, 1)
            }
            _ => false,
        };
        self.rows.iter().filter(move |row| counts(row)).map(|row| row.class)
    }

    /// By class: is it known before a loop is entered? `sources` are, and what other loops carry or are left with that
    /// `carried` says so of.
    fn enters(&self, sources: impl Iterator<Item = Value>, carried: impl Fn(LoopRole, Value) -> bool) -> Vec<bool> {
        let start = self.rows.iter().filter(|row| match self.role(row) {
            Some(role) => row.children.first().is_some_and(|l| carried(role, *l)),
            None => row.children.is_empty() && !matches!(row.head, Head::Leaf(_) | Head::Token(_)),
        });
        let start = start.map(|row| row.class).chain(sources).collect();
        self.close(start, |row, known| self.role(row).is_none() && row.children.iter().all(known))
    }

    /// By class: does it enter a loop, or is it a recurrence of it that begins with what enters and has a plain step?
    fn plain(&self, enters: &[bool], of: Value) -> Vec<bool> {
        let start = self.number.iter().filter(|(_, n)| enters[**n]).map(|(class, _)| *class).collect();
        self.close(start, |row, known| match (self.role(row), &row.children[..]) {
            (Some(LoopRole::Recurrence(_)), [l, first, step]) => {
                *l == of && self.number.get(first).is_some_and(|n| enters[*n]) && known(step)
            }
            _ => false,
        })
    }

    /// The least set of classes that holds `start` and the classes of rows that follow from it.
    fn close(&self, start: Vec<Value>, follows: impl Fn(&RawNode, &dyn Fn(&Value) -> bool) -> bool) -> Vec<bool> {
        let mut known = vec![false; self.number.len()];
        let mut work: Vec<usize> = start.iter().filter_map(|class| self.number.get(class).copied()).collect();
        work.iter().for_each(|n| known[*n] = true);
        while let Some(class) = work.pop() {
            for user in &self.users[class] {
                let row = &self.rows[*user];
                let own = self.number[&row.class];
                if !known[own] && follows(row, &|child| self.number.get(child).is_some_and(|n| known[*n])) {
                    known[own] = true;
                    work.push(own);
                }
            }
        }
        known
    }
}
