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
use super::said::{Found, Loops, Said};
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
            let of_inputs = input_rows(batch.units[unit], rows)?;
            let classes = Classes::new(source, rows);
            let class = |input: InputId| classes.of_rows[of_inputs[input.index()]];
            let loops = &batch.units[unit].loops;
            let constants: Vec<usize> = loops.iter().map(|l| class(l.constant)).collect();
            for first in (0..loops.len()).step_by(LOOPS) {
                let some = &loops[first..loops.len().min(first + LOOPS)];
                found.extend(self.loops(&classes, batch.units[unit], (first, some), &constants, class, said));
            }
        }
        said.say(batch, found)
    }

    /// The new facts about some loops of a unit, the first of which has the number `first`. `class`: of an input node.
    fn loops(
        &self,
        classes: &Classes<'_>,
        input: &EGraphInput,
        (first, loops): (usize, &[LoopInput]),
        constants: &[usize],
        class: impl Fn(InputId) -> usize,
        said: &mut Said,
    ) -> Vec<Found> {
        let mut found = vec![];
        let own = &constants[first..];
        let enters = classes.enters(loops, constants, &class);
        let plain = classes.plain(&enters, own);
        let mut new = |fact, holds: &[Loops]| -> Vec<Loops> {
            let value = |class: usize| classes.is_value[class] && !constants.contains(&class);
            let holds = holds.iter().enumerate();
            holds
                .map(|(n, loops)| if value(n) { said.newly(fact, classes.number[n], first, *loops) } else { 0 })
                .collect()
        };
        let (enters, plain) = (new(LoopFact::Enters, &enters), new(LoopFact::Plain, &plain));
        for (n, (l, constant)) in loops.iter().zip(own).enumerate() {
            let holding = |loops: &[Loops]| (0..loops.len()).filter(|class| loops[*class] >> n & 1 == 1).collect();
            for (id, fact) in self.of_type(classes.source, input.nodes[l.constant.index()].types.first().copied()) {
                let holding: Vec<usize> = match fact {
                    LoopFact::Enters => holding(&enters),
                    LoopFact::Plain => holding(&plain),
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
        found
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

/// How many are looked at together.
const LOOPS: usize = Loops::BITS as usize;

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
    /// The rows that have a class as a child, class by class.
    users: Vec<usize>,
    /// By class: where those begin; and where the last ones end.
    first_user: Vec<usize>,
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
        let mut is_value = vec![true; number.len()];
        let mut constants = FxHashSet::default();
        for (n, row) in rows.iter().enumerate() {
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
        let (users, first_user) = users(&children, number.len());
        Classes { source, number, rows, of_rows, children, roles, users, first_user, is_value, constants }
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

    /// By class: which loops is it known before they are entered? What they say is (`class`: of an input node), and what those
    /// loops carry or are left with that they say so of. `constants` stand for all loops of the unit.
    fn enters(&self, loops: &[LoopInput], constants: &[usize], class: impl Fn(InputId) -> usize) -> Vec<Loops> {
        let mut start = vec![0; self.number.len()];
        for (n, l) in loops.iter().enumerate() {
            l.enters.iter().for_each(|input| start[class(*input)] |= 1 << n);
        }
        // By another loop's constant: which say so of what that one is left with, and which of what it carries.
        let mut say_so: FxHashMap<usize, (Loops, Loops)> = FxHashMap::default();
        for (other, constant) in constants.iter().enumerate() {
            let say = |holds: fn(&LoopInput) -> &[bool]| {
                let loops = loops.iter().enumerate().filter(|(_, l)| holds(l).get(other).is_some_and(|holds| *holds));
                loops.fold(0, |loops, (n, _)| loops | 1 << n)
            };
            let (left, carried) = say_so.entry(*constant).or_default();
            *left |= say(|l| &l.left);
            *carried |= say(|l| &l.carried);
        }
        for row in 0..self.rows.len() {
            start[self.of_rows[row]] |= match self.roles[row] {
                Some(role) => {
                    let of = self.children[row].first().and_then(|l| say_so.get(l)).copied();
                    let (left, carried) = of.unwrap_or_default();
                    match role {
                        LoopRole::Leave | LoopRole::Left | LoopRole::LeftLast => left,
                        LoopRole::Theta | LoopRole::Recurrence(_) | LoopRole::Around => carried,
                    }
                }
                None if !self.children[row].is_empty() => 0,
                None if matches!(self.rows[row].head, Head::Leaf(_) | Head::Token(_)) => 0,
                None => Loops::MAX >> (LOOPS - loops.len()),
            };
        }
        self.close(start, |row, known| match self.roles[row] {
            Some(_) => 0,
            None => self.children[row].iter().fold(Loops::MAX, |loops, child| loops & known[*child]),
        })
    }

    /// By class: which loops does it enter, or is it a recurrence of them that begins with what enters and has a plain step?
    /// `constants` stand for the loops.
    fn plain(&self, enters: &[Loops], constants: &[usize]) -> Vec<Loops> {
        let of = |l: usize| constants.iter().take(LOOPS).position(|constant| *constant == l).map_or(0, |n| 1 << n);
        self.close(enters.to_vec(), |row, known| match (self.roles[row], &self.children[row][..]) {
            (Some(LoopRole::Recurrence(_)), [l, first, step]) => of(*l) & enters[*first] & known[*step],
            _ => 0,
        })
    }

    /// The least sets of loops that hold `start` and what follows from rows.
    fn close(&self, start: Vec<Loops>, follows: impl Fn(usize, &[Loops]) -> Loops) -> Vec<Loops> {
        let mut known = start;
        let mut work: Vec<usize> = (0..known.len()).filter(|class| known[*class] != 0).collect();
        while let Some(class) = work.pop() {
            for row in &self.users[self.first_user[class]..self.first_user[class + 1]] {
                let own = self.of_rows[*row];
                let more = known[own] | follows(*row, &known);
                if more != known[own] {
                    known[own] = more;
                    work.push(own);
                }
            }
        }
        known
    }
}

/// The rows that have a class as a child, class by class, and where those of each begin.
fn users(children: &[SmallVec<[usize; 3]>], classes: usize) -> (Vec<usize>, Vec<usize>) {
    let mut first = vec![0; classes + 1];
    children.iter().flatten().for_each(|child| first[child + 1] += 1);
    for class in 0..classes {
        first[class + 1] += first[class];
    }
    let (mut users, mut next) = (vec![0; first[classes]], first.clone());
    for (row, children) in children.iter().enumerate() {
        for child in children {
            users[next[*child]] = row;
            next[*child] += 1;
        }
    }
    (users, first)
}
