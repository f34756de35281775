//! The statements of a nest in their loops: what has effects, with the loads and the bindings that it depends on.
//!
//! The coordinates of a statement are the variables of its loops, outermost first, and then those of the bindings that
//! it can see. A binding is a coordinate without bounds: its value is data.

use super::access::{Access, Kind, Loop};
use super::value::{Pool, Value, ValueId};
use super::{ArrayId, Event, Item, LoadId, Nest, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What a statement does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Writes a value to the statement's cell.
    Store(ValueId),
    /// Makes all cells undefined.
    Alloc(ArrayId),
    /// Does what only its name says.
    Event(Event),
    /// Executes what may be undefined behaviour.
    Trap(ValueId),
    /// Gives back values, after everything else.
    Return(Vec<ValueId>),
}

/// A statement, executed for each point of its loops at which its guards hold.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Where it is, and the cell that it writes. Bindings are further loops, at the end.
    pub(super) access: Access,
    pub(super) action: Action,
    /// The conditions of the branches around, outermost first, and which arm.
    pub(super) guards: Vec<(ValueId, bool)>,
}

/// A load in its loops.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) access: Access,
    /// How many of its coordinates are loops.
    pub(super) depth: usize,
}

/// A nest as its statements.
#[derive(Debug)]
pub(super) struct Statements<'a> {
    pub(super) nest: &'a Nest,
    pub(super) all: Vec<Statement>,
    pub(super) loads: FxHashMap<LoadId, Read>,
    /// The statement that an event is.
    pub(super) events: FxHashMap<LoadId, usize>,
    pub(super) binds: FxHashMap<Var, ValueId>,
    /// How many loops are around a binding.
    pub(super) bind_depths: FxHashMap<Var, usize>,
    /// Variables of bindings on which bounds of loops depend.
    pub(super) bounding: Vec<Var>,
    /// A branch that contains no statement: its condition may be undefined.
    pub(super) empty_branch: bool,
}

impl Statement {
    /// How many of the coordinates are loops.
    pub(super) fn depth(&self) -> usize {
        self.access.path.len() - 1
    }
}

impl<'a> Statements<'a> {
    /// `None` where a loop has a step.
    pub(super) fn new(nest: &'a Nest) -> Option<Self> {
        let mut statements = Statements {
            nest,
            all: vec![],
            loads: FxHashMap::default(),
            events: FxHashMap::default(),
            binds: FxHashMap::default(),
            bind_depths: FxHashMap::default(),
            bounding: vec![],
            empty_branch: false,
        };
        let mut place = Place::default();
        statements.collect(&nest.items, 0, &mut place)?;
        place.path.push(u32::MAX);
        statements.push(&place, (ArrayId(0), None, 0), Action::Return(nest.results.clone()));
        statements.bounding.retain(|var| statements.binds.contains_key(var));
        Some(statements)
    }

    fn push(&mut self, place: &Place, at: Cell<'_>, action: Action) {
        let access = place.access(at, Kind::Alloc);
        self.all.push(Statement { access, action, guards: place.guards.clone() });
    }

    fn collect(&mut self, items: &[Item], first: u32, place: &mut Place) -> Option<()> {
        let visible = place.binds.len();
        for (position, item) in items.iter().enumerate() {
            place.path.push(first + position as u32);
            match item {
                Item::Load(x) => {
                    let access = place.access((x.array, Some(&x.subscripts), x.line), Kind::Load(x.id));
                    self.loads.insert(x.id, Read { access, depth: place.loops.len() });
                }
                Item::Store(x) => {
                    self.push(place, (x.array, Some(&x.subscripts), x.line), Action::Store(x.value));
                }
                Item::Alloc(array, line) => self.push(place, (*array, None, *line), Action::Alloc(*array)),
                Item::Event(x) => {
                    self.events.insert(x.id, self.all.len());
                    self.push(place, (ArrayId(0), None, x.line), Action::Event(x.clone()));
                }
                Item::Trap(value, line) => self.push(place, (ArrayId(0), None, *line), Action::Trap(*value)),
                Item::Bind(x) => {
                    self.binds.insert(x.var, x.value);
                    self.bind_depths.insert(x.var, place.loops.len());
                    place.binds.push(Rc::new(Loop { var: x.var, lower: vec![], upper: vec![] }));
                }
                Item::For(x) => {
                    if x.step != 1 {
                        return None;
                    }
                    let bounds = x.lower.iter().chain(&x.upper);
                    self.bounding.extend(bounds.flat_map(super::Affine::vars));
                    place.loops.push(Rc::new(Loop { var: x.var, lower: x.lower.clone(), upper: x.upper.clone() }));
                    self.collect(&x.body, 0, place)?;
                    place.loops.pop();
                }
                Item::If(x) => self.branch(x, place)?,
            }
            place.path.pop();
        }
        place.binds.truncate(visible);
        Some(())
    }

    /// The arms are in one loop that runs once, so that positions stay at the depth of loops; the second one is later.
    fn branch(&mut self, x: &super::If, place: &mut Place) -> Option<()> {
        let before = self.all.len();
        let zero = super::Affine::default();
        let once = Loop { var: place.branch(), lower: vec![zero.clone()], upper: vec![zero.offset(1)] };
        place.loops.push(Rc::new(once));
        for (arm, taken, first) in [(&x.then, true, 0), (&x.otherwise, false, SECOND_ARM)] {
            place.guards.push((x.condition, taken));
            self.collect(arm, first, place)?;
            place.guards.pop();
        }
        place.loops.pop();
        self.empty_branch |= self.all.len() == before;
        Some(())
    }

    /// All loads that the values are made from, those of bindings in subscripts too.
    pub(super) fn reads(&self, pool: &Pool, values: &[ValueId]) -> Vec<LoadId> {
        let (mut found, mut rest) = (vec![], values.to_vec());
        let mut seen: FxHashSet<LoadId> = FxHashSet::default();
        let mut bound: FxHashSet<Var> = FxHashSet::default();
        while let Some(value) = rest.pop() {
            let mut vars = vec![];
            for value in pool.reachable([value]) {
                match pool.get(value) {
                    Value::Index(affine) => vars.extend(affine.vars()),
                    Value::Load(load) if seen.insert(*load) => {
                        let cell = self.loads.get(load).and_then(|read| read.access.cell.as_ref());
                        vars.extend(cell.into_iter().flatten().flat_map(super::Affine::vars));
                        found.push(*load);
                    }
                    _ => {}
                }
            }
            rest.extend(vars.into_iter().filter(|var| bound.insert(*var)).filter_map(|var| self.binds.get(&var)));
        }
        found.sort_unstable();
        found
    }
}

/// Variables from here on are loops that branches are.
const FIRST_BRANCH_VAR: u32 = 1 << 30;

/// The variable of the loop that a branch is, by its number from 1.
pub(super) fn branch_var(number: u32) -> Var {
    Var(FIRST_BRANCH_VAR + number)
}

/// Positions in the second arm of a branch begin here.
pub(super) const SECOND_ARM: u32 = 1 << 24;

type Cell<'a> = (ArrayId, Option<&'a Vec<super::Affine>>, super::Line);

/// Where in the nest the walk is.
#[derive(Default)]
struct Place {
    loops: Vec<Rc<Loop>>,
    binds: Vec<Rc<Loop>>,
    path: Vec<u32>,
    guards: Vec<(ValueId, bool)>,
    branches: u32,
}

impl Place {
    fn access(&self, (array, cell, line): Cell<'_>, kind: Kind) -> Access {
        Access {
            array,
            cell: cell.cloned(),
            loops: self.loops.iter().chain(&self.binds).cloned().collect(),
            path: self.path.clone(),
            kind,
            guarded: !self.guards.is_empty(),
            line,
        }
    }

    /// A variable for the loop that a branch is; no polynomial mentions it.
    fn branch(&mut self) -> Var {
        self.branches += 1;
        branch_var(self.branches)
    }
}
