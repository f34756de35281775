//! The accesses of a nest without branches: where they are, when they are executed and which cells they touch.

use super::affine::{Affine, Var};
use super::constraint::Constraint;
use super::flatten::{Flat, NotPlain};
use super::predicate::Conjunction;
use super::value::ValueId;
use super::{ArrayId, Item, Line, LoadId, Nest};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A loop around an access.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) var: Var,
    pub(crate) lower: Vec<Affine>,
    pub(crate) upper: Vec<Affine>,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Load(LoadId),
    Store(ValueId),
    /// All cells become undefined.
    Alloc,
}

/// An access: one for each point of its loops.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) array: ArrayId,
    /// The cell; `None` for all cells.
    pub(crate) cell: Option<Vec<Affine>>,
    pub(crate) loops: Vec<Rc<Loop>>,
    /// The position among its siblings, at each depth.
    pub(crate) path: Vec<u32>,
    pub(crate) kind: Kind,
    /// Whether the access is not certain to be executed.
    pub(crate) guarded: bool,
    pub(crate) line: Line,
}

/// Where in the execution something is: in its loops, or after everything.
#[derive(Clone, Copy)]
pub(crate) enum ExecutionPoint<'a> {
    At(&'a Access, &'a [Affine]),
    End,
}

/// A nest as its accesses.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) nest: Nest,
    pub(crate) accesses: Vec<Access>,
    /// The accesses that are stores, in the order of the nest.
    pub(crate) stores: Vec<usize>,
    /// The access of each load.
    pub(crate) loads: FxHashMap<LoadId, usize>,
    /// Whether accesses may be taken to be in bounds.
    pub(crate) in_bounds: bool,
}

impl Program {
    /// The accesses of a nest; an error where a loop has no bounds that can be reasoned about.
    pub(crate) fn new(flat: &Flat, in_bounds: bool) -> Result<Self, NotPlain> {
        let nest = flat.nest.clone();
        let mut program = Program { nest, accesses: vec![], stores: vec![], loads: FxHashMap::default(), in_bounds };
        let items = program.nest.items.clone();
        program.collect(flat, &items, &mut vec![], &mut vec![])?;
        Ok(program)
    }

    /// A program without accesses that claims no bounds.
    pub(crate) fn empty(nest: &Nest) -> Self {
        let nest = Nest { items: vec![], ..nest.clone() };
        Program { nest, accesses: vec![], stores: vec![], loads: FxHashMap::default(), in_bounds: false }
    }

    fn collect(
        &mut self,
        flat: &Flat,
        items: &[Item],
        loops: &mut Vec<Rc<Loop>>,
        path: &mut Vec<u32>,
    ) -> Result<(), NotPlain> {
        // A guarded store follows the load of the cell that was made for it.
        let mut guard = false;
        for (position, item) in items.iter().enumerate() {
            path.push(position as u32);
            let mut access = Access {
                array: ArrayId(0),
                cell: None,
                loops: loops.clone(),
                path: path.clone(),
                kind: Kind::Alloc,
                guarded: false,
                line: item.line(),
            };
            match item {
                Item::Load(x) => {
                    (access.array, access.cell) = (x.array, Some(x.subscripts.clone()));
                    access.kind = Kind::Load(x.id);
                    access.guarded = flat.guarded_loads.contains(&x.id);
                    self.loads.insert(x.id, self.accesses.len());
                    self.accesses.push(access);
                }
                Item::Store(x) => {
                    (access.array, access.cell) = (x.array, Some(x.subscripts.clone()));
                    access.kind = Kind::Store(x.value);
                    access.guarded = guard;
                    self.stores.push(self.accesses.len());
                    self.accesses.push(access);
                }
                Item::Alloc(array, _) => {
                    access.array = *array;
                    self.accesses.push(access);
                }
                Item::For(x) => {
                    if x.step != 1 {
                        return Err(NotPlain::Step(x.line));
                    }
                    loops.push(Rc::new(Loop { var: x.var, lower: x.lower.clone(), upper: x.upper.clone() }));
                    self.collect(flat, &x.body, loops, path)?;
                    loops.pop();
                }
                Item::If(_) | Item::Event(_) | Item::Trap(..) | Item::Bind(_) => {
                    return Err(NotPlain::NoAccess(item.line()));
                }
            }
            guard = matches!(item, Item::Load(x) if flat.guarded_stores.contains(&x.id));
            path.pop();
        }
        Ok(())
    }

    /// What holds where an access is executed with these values of its loops' variables.
    pub(crate) fn domain(&self, access: &Access, at: &[Affine]) -> Conjunction {
        let of = |var: Var| coordinate(access, at, var);
        let mut result = vec![];
        for (l, value) in access.loops.iter().zip(at) {
            result.extend(l.lower.iter().map(|lower| Constraint::at_least(value, &lower.replace(&of))));
            result.extend(l.upper.iter().map(|upper| Constraint::less(value, &upper.replace(&of))));
        }
        if self.in_bounds && !access.guarded {
            result.extend(self.bounds(access, at));
        }
        result
    }

    /// That the cell exists, as far as the array's type says which do.
    pub(crate) fn bounds(&self, access: &Access, at: &[Affine]) -> Conjunction {
        let shape = &self.nest.array(access.array).shape;
        let mut result = vec![];
        for (subscript, extent) in cell(access, at).iter().flatten().zip(shape) {
            result.push(Constraint::at_least(subscript, &Affine::default()));
            result.extend(extent.as_ref().map(|extent| Constraint::less(subscript, extent)));
        }
        result.retain(|constraint| !constraint.is_trivial());
        result
    }

    /// The cases in which the first place comes before the second one.
    pub(crate) fn before(&self, access: &Access, at: &[Affine], place: ExecutionPoint<'_>) -> Vec<Conjunction> {
        let ExecutionPoint::At(other, other_at) = place else { return vec![vec![]] };
        let (mut cases, mut equal) = (vec![], vec![]);
        for depth in 0.. {
            let (Some(a), Some(b)) = (access.path.get(depth), other.path.get(depth)) else { break };
            if a < b {
                cases.push(equal.clone());
            }
            if a != b {
                break;
            }
            let (Some(x), Some(y)) = (at.get(depth), other_at.get(depth)) else { break };
            let mut earlier = equal.clone();
            earlier.push(Constraint::less(x, y));
            cases.push(earlier);
            equal.push(Constraint::equal(x, y));
        }
        cases
    }

    /// How many loops two accesses share.
    pub(crate) fn shared(a: &Access, b: &Access) -> usize {
        a.loops.iter().zip(&b.loops).take_while(|(x, y)| x.var == y.var).count()
    }
}

/// The value of a loop's variable at a point.
pub(crate) fn coordinate(access: &Access, at: &[Affine], var: Var) -> Option<Affine> {
    let position = access.loops.iter().position(|l| l.var == var)?;
    at.get(position).cloned()
}

/// The cell of an access at a point.
pub(crate) fn cell(access: &Access, at: &[Affine]) -> Option<Vec<Affine>> {
    let subscripts = access.cell.as_ref()?;
    Some(subscripts.iter().map(|s| s.replace(&|var| coordinate(access, at, var))).collect())
}

/// The point at which all loops have their own variables' values.
pub(crate) fn own_point(access: &Access) -> Vec<Affine> {
    access.loops.iter().map(|l| Affine::var(l.var)).collect()
}

/// Variables for points of unknown accesses; `bank` keeps several apart.
pub(crate) fn unknown_point(access: &Access, bank: u32) -> Vec<Affine> {
    (0..access.loops.len() as u32).map(|n| Affine::var(unknown(bank, n))).collect()
}

/// A variable that no nest has.
pub(crate) fn unknown(bank: u32, n: u32) -> Var {
    Var(u32::MAX - (bank << 8) - n)
}
