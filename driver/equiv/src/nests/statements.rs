//! The statements of a nest: what has effects, with the loads and bindings that it depends on.
//!
//! The coordinates of a statement are the variables of its loops, outermost first, and then those of the bindings that it
//! can see. A branch is a loop that runs once; its second arm comes after the first.

use super::claims::Formula;
use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::certificate::branch_var;
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, Event, For, If, Item, LoadId, Nest, Pool, ValueId, Var};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Positions in the second arm of a branch begin here.
const SECOND_ARM: u32 = 1 << 24;

/// What a statement does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Store(ValueId),
    Alloc,
    Event(Event),
    Trap(ValueId),
    Return(Vec<ValueId>),
}

/// Where something is executed.
#[derive(Clone, Debug)]
pub(super) struct Position {
    pub(super) loops: Vec<Rc<For>>,
    pub(super) binds: Vec<Var>,
    path: Vec<u32>,
    pub(super) line: u32,
}

/// A statement, executed for each point of its loops at which its guards hold.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) position: Position,
    /// The array that it writes or makes.
    pub(super) array: Option<ArrayId>,
    pub(super) cell: Option<Vec<Affine>>,
    pub(super) action: Action,
    pub(super) guards: Vec<(ValueId, bool)>,
}

/// A load.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) position: Position,
    pub(super) array: ArrayId,
    pub(super) cell: Vec<Affine>,
}

/// A binding: its value, and the loops around.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) value: ValueId,
    pub(super) depth: usize,
}

/// A nest as its statements.
pub(super) struct Statements<'a> {
    pub(super) nest: &'a Nest,
    pub(super) all: Vec<Statement>,
    pub(super) loads: BTreeMap<LoadId, Read>,
    pub(super) binds: BTreeMap<Var, Bound>,
    /// The statement that an event is.
    pub(super) events: BTreeMap<LoadId, usize>,
    /// The line of a branch in which nothing is done.
    pub(super) empty_branch: Option<u32>,
    /// Variables in bounds of loops.
    bounding: BTreeSet<Var>,
}

impl Position {
    /// The value of a coordinate at a point.
    pub(super) fn coordinate(&self, at: &[Affine], var: Var) -> Option<Affine> {
        let vars = self.loops.iter().map(|l| l.var).chain(self.binds.iter().copied());
        at.get(vars.into_iter().position(|v| v == var)?).cloned()
    }

    pub(super) fn value_at(&self, affine: &Affine, at: &[Affine]) -> Affine {
        affine.replace(&|var| self.coordinate(at, var))
    }

    pub(super) fn values_at(&self, affines: &[Affine], at: &[Affine]) -> Vec<Affine> {
        affines.iter().map(|affine| self.value_at(affine, at)).collect()
    }

    pub(super) fn coordinates(&self) -> usize {
        self.loops.len() + self.binds.len()
    }

    pub(super) fn own_point(&self) -> Vec<Affine> {
        self.loops.iter().map(|l| l.var).chain(self.binds.iter().copied()).map(Affine::var).collect()
    }

    /// A point with variables that no certificate may speak of.
    pub(super) fn any_point(&self, bank: u32) -> Vec<Affine> {
        (0..self.coordinates() as u32).map(|n| Affine::var(Var(u32::MAX - 0x1_0000 * (bank + 1) - n))).collect()
    }

    /// Whether something is executed once in each iteration of this position's loops that it is in, and before it.
    pub(super) fn is_after(&self, other: &Position) -> bool {
        let loops = self.loops.iter().zip(&other.loops).all(|(a, b)| a.var == b.var);
        let Some((last, around)) = other.path.split_last() else { return false };
        loops
            && self.loops.len() >= other.loops.len()
            && self.path.starts_with(around)
            && self.path.get(around.len()).is_some_and(|position| position > last)
    }

    /// The position in its list of items, and where that list is.
    pub(super) fn place(&self) -> (u32, &[u32]) {
        self.path.split_last().map_or((0, &[]), |(last, around)| (*last, around))
    }

    /// The item of a list that it is in, or is.
    pub(super) fn item_of(&self, list: &[u32]) -> Option<u32> {
        self.path.strip_prefix(list)?.first().copied()
    }

    pub(super) fn is_in_second_arm(&self) -> bool {
        self.place().0 >= SECOND_ARM
    }

    /// That the first loops reach a point.
    pub(super) fn reached(&self, at: &[Affine], depth: usize) -> Vec<Formula> {
        let mut facts = vec![];
        for (l, value) in self.loops[..depth].iter().zip(at) {
            facts.extend(l.lower.iter().map(|lower| Formula::at_least(value, &self.value_at(lower, at))));
            facts.extend(l.upper.iter().map(|upper| Formula::less(value, &self.value_at(upper, at))));
        }
        facts
    }

    /// The cases in which it comes first at one point, and the other one after it; and the iterations of how many loops
    /// they share.
    pub(super) fn precedes(&self, at: &[Affine], other: &Position, other_at: &[Affine]) -> Vec<(usize, Formula)> {
        let (mut cases, mut equal) = (vec![], vec![]);
        for (depth, (a, b)) in self.path.iter().zip(&other.path).enumerate() {
            if a < b {
                cases.push((depth, Formula::All(equal.clone())));
            }
            if a != b || depth >= self.loops.len() || depth >= other.loops.len() {
                break;
            }
            let (x, y) = (&at[depth], &other_at[depth]);
            cases.push((depth, Formula::All([equal.clone(), vec![Formula::less(x, y)]].concat())));
            equal.push(Formula::equal(x, y));
        }
        cases
    }
}

impl<'a> Statements<'a> {
    pub(super) fn new(nest: &'a Nest) -> Checked<Self> {
        let (loads, binds, events) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (empty_branch, bounding) = (None, BTreeSet::new());
        let statements = Statements { nest, all: vec![], loads, binds, events, empty_branch, bounding };
        let mut walk = Walk { statements, place: Place::default(), vars: BTreeSet::new(), branches: 0 };
        walk.items(&nest.items, 0)?;
        walk.place.path.push(u32::MAX);
        walk.push(0, (None, None), Action::Return(nest.results.clone()));
        Ok(walk.statements)
    }

    /// All loads that values are made from, those in subscripts and bindings too.
    pub(super) fn reads(&self, pool: &Pool, values: &[ValueId]) -> BTreeSet<LoadId> {
        let (mut found, mut seen, mut rest) = (BTreeSet::new(), BTreeSet::new(), values.to_vec());
        while let Some(value) = rest.pop() {
            if !seen.insert(value) {
                continue;
            }
            let vars = match pool.get(value) {
                Value::Op(op) => {
                    rest.extend(&op.operands);
                    continue;
                }
                Value::Index(affine) => affine.vars(),
                Value::Load(load) => {
                    found.insert(*load);
                    self.loads.get(load).into_iter().flat_map(|read| &read.cell).flat_map(Affine::vars).collect()
                }
                _ => vec![],
            };
            rest.extend(vars.iter().filter_map(|var| self.binds.get(var)).map(|bound| bound.value));
        }
        found
    }

    /// The values of bindings on which bounds of loops depend.
    pub(super) fn bounding(&self) -> Vec<ValueId> {
        self.bounding.iter().filter_map(|var| self.binds.get(var)).map(|bound| bound.value).collect()
    }
}

#[derive(Default)]
struct Place {
    loops: Vec<Rc<For>>,
    binds: Vec<Var>,
    path: Vec<u32>,
    guards: Vec<(ValueId, bool)>,
}

struct Walk<'a> {
    statements: Statements<'a>,
    place: Place,
    vars: BTreeSet<Var>,
    branches: u32,
}

impl Walk<'_> {
    fn position(&self, line: u32) -> Position {
        let Place { loops, binds, path, .. } = &self.place;
        Position { loops: loops.clone(), binds: binds.clone(), path: path.clone(), line }
    }

    fn push(&mut self, line: u32, (array, cell): (Option<ArrayId>, Option<&Vec<Affine>>), action: Action) {
        let (position, guards) = (self.position(line), self.place.guards.clone());
        self.statements.all.push(Statement { position, array, cell: cell.cloned(), action, guards });
    }

    fn items(&mut self, items: &[Item], first: u32) -> Checked<()> {
        let visible = self.place.binds.len();
        for (n, item) in items.iter().enumerate() {
            self.place.path.push(first + n as u32);
            self.item(item)?;
            self.place.path.pop();
        }
        self.place.binds.truncate(visible);
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Checked<()> {
        match item {
            Item::Load(x) => {
                let read = Read { position: self.position(x.line), array: x.array, cell: x.subscripts.clone() };
                self.statements.loads.insert(x.id, read);
            }
            Item::Store(x) => self.push(x.line, (Some(x.array), Some(&x.subscripts)), Action::Store(x.value)),
            Item::Alloc(array, line) => self.push(*line, (Some(*array), None), Action::Alloc),
            Item::Event(x) => {
                self.statements.events.insert(x.id, self.statements.all.len());
                self.push(x.line, (None, None), Action::Event(x.clone()));
            }
            Item::Trap(value, line) => self.push(*line, (None, None), Action::Trap(*value)),
            Item::Bind(x) => {
                self.fresh(x.var, x.line)?;
                self.statements.binds.insert(x.var, Bound { value: x.value, depth: self.place.loops.len() });
                self.place.binds.push(x.var);
            }
            Item::For(x) => {
                self.fresh(x.var, x.line)?;
                if x.step != 1 {
                    return Err(Rejected::Step(format!("the loop of line {} has steps", x.line)));
                }
                self.statements.bounding.extend(x.lower.iter().chain(&x.upper).flat_map(Affine::vars));
                let bounds = For { body: vec![], lower: x.lower.clone(), upper: x.upper.clone(), ..*x };
                self.place.loops.push(Rc::new(bounds));
                self.items(&x.body, 0)?;
                self.place.loops.pop();
            }
            Item::If(x) => return self.branch(x),
        }
        Ok(())
    }

    fn branch(&mut self, x: &If) -> Checked<()> {
        self.branches += 1;
        let (before, zero) = (self.statements.all.len(), Affine::default());
        let (lower, upper) = (vec![zero.clone()], vec![zero.offset(1)]);
        let once = For { var: branch_var(self.branches), lower, upper, step: 1, body: vec![], line: x.line };
        self.place.loops.push(Rc::new(once));
        for (arm, taken, first) in [(&x.then, true, 0), (&x.otherwise, false, SECOND_ARM)] {
            self.place.guards.push((x.condition, taken));
            self.items(arm, first)?;
            self.place.guards.pop();
        }
        self.place.loops.pop();
        if self.statements.all.len() == before {
            self.statements.empty_branch.get_or_insert(x.line);
        }
        Ok(())
    }

    fn fresh(&mut self, var: Var, line: u32) -> Checked<()> {
        if self.vars.insert(var) {
            return Ok(());
        }
        Err(Rejected::Step(format!("line {line} has another one's variable")))
    }
}
