//! Loop nests as values: what two programs with loops and arrays are compared as.
//!
//! A [`Nest`] is a tree of loops, loads and stores. Bounds and subscripts are quasi-affine ([`Affine`]); what is stored
//! is a value of a [`Pool`], a graph over loads. Front ends build nests; [`mod@compare`] says whether two do the same:
//!
//! ```text
//! two nests --normal--> two nests --same--> proved, where side conditions hold
//!              │                     └no──> run: two runs that differ refute
//!              ├──> accesses --writers, lockstep--> candidates --equal--> proved by induction on time
//!              └──> statements --matching--> instances --order--> proved where conflicts keep their order
//! ```
//!
//! * `normal` turns a nest into another that executes the same sequence of accesses, one that unrolled, tiled and
//!   peeled versions share.
//! * `omega` decides whether integer constraints have a solution. All proofs end there; what proposes them (which
//!   store writes what a load reads, which instances of two programs belong together) is not trusted.
//! * `run` executes a nest on concrete sizes.
//! * `parallel` shows that the order makes no difference in which iterations of parallel loops are executed.
//! * [`certificate`] holds what a proof found, for its checker.
//! * [`datapath`] asks whether values that are computed in other ways are equal; nests do not know what operations mean.
//!
//! A value is never compared with an undefined one: what no store has written is equal to nothing.

mod access;
pub mod affine;
pub mod arguments;
mod assumption;
mod bindings;
pub mod certificate;
pub mod compare;
mod constraint;
mod contained;
pub mod datapath;
pub mod difference;
mod equal;
mod eval;
mod fit;
mod flatten;
mod input;
mod lockstep;
mod matching;
pub mod nan;
mod normal;
mod omega;
mod order;
pub mod overflow;
mod parallel;
mod predicate;
mod run;
mod same;
mod sizes;
mod stack;
mod statements;
mod substitute;
mod trace;
mod undefined;
mod updates;
pub mod value;
mod writers;

pub use affine::{Affine, Var};
pub use assumption::{Assumption, AssumptionError};
pub use constraint::Constraint;
pub use contained::touches_no_more;
pub use predicate::{Confirm, Confirmation, Conjunction, Decider};
use rustc_hash::FxHashMap;
pub use stack::with_stack;
pub use undefined::{Undefined, guard_loops};
pub use value::{Pool, Value, ValueId};

/// An array of a nest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArrayId(pub u32);

/// A load of a nest; unique within a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoadId(pub u32);

/// A function as a nest.
#[derive(Clone, Debug)]
pub struct Nest {
    /// Its name.
    pub name: String,
    /// The types of its arguments.
    pub arguments: Vec<String>,
    /// Sizes: variables that have one value during a call.
    pub sizes: Vec<Size>,
    /// All arrays, by number.
    pub arrays: Vec<Array>,
    /// What is executed.
    pub items: Vec<Item>,
    /// What is returned.
    pub results: Vec<ValueId>,
    /// Which loops are parallel.
    pub parallel: Vec<Parallel>,
    /// Where values are computed first, for messages.
    pub lines: FxHashMap<ValueId, Line>,
    /// Whether it accesses arrays by views: that an access is within its view is not looked at.
    pub has_views: bool,
    /// The items with what is divided or compared that the result does not show, as values of variables that nothing uses:
    /// that must not overflow, either. `None` where there is no such thing.
    pub checked: Option<Vec<Item>>,
}

/// Loops whose iterations are executed in any order, or at the same time. A nest has one of the orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parallel {
    /// Their variables with names in the source, outermost first: an iteration is a value of each.
    pub vars: Vec<(Var, String)>,
    /// Arrays and cells that each iteration has of its own.
    pub own: Vec<ArrayId>,
    /// Reductions over its iterations.
    pub reductions: Vec<Reduction>,
    /// Where they are in the source.
    pub line: Line,
}

/// Values that iterations of parallel loops give, combined in the order in which iterations are executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduction {
    /// The cells, one for each of the loops, that hold what is combined so far. Nothing else accesses them.
    pub cells: Vec<ArrayId>,
    /// The operation that combines two values, where it is one without flags.
    pub by: Option<String>,
    /// Where it is in the source.
    pub line: Line,
}

/// Operations on integers that give the same in each order. Sums and products of floats do not.
const IN_ANY_ORDER: [&str; 9] = [
    "arith.addi",
    "arith.muli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.minsi",
    "arith.maxsi",
    "arith.minui",
    "arith.maxui",
];

impl Reduction {
    /// Whether it gives the same in each order.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.by.as_ref().is_some_and(|by| IN_ANY_ORDER.contains(&by.as_str()))
    }
}

impl value::Operation {
    /// By which operation, one that gives the same in each order, it combines one of its two operands with the other one: a
    /// difference adds to the first. There is none with flags, some of which the partial results of one order may break.
    #[must_use]
    pub fn combines(&self, operand: usize) -> Option<&str> {
        let is_plain = self.flags.is_empty() && self.operands.len() == 2;
        match self.name.as_str() {
            _ if !is_plain => None,
            "arith.subi" => (operand == 0).then_some("arith.addi"),
            name => IN_ANY_ORDER.contains(&name).then_some(name),
        }
    }
}

/// A size and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Size {
    /// The variable that stands for it.
    pub var: Var,
    /// Its name in the source.
    pub name: String,
    /// What it is.
    pub origin: Origin,
}

/// Where a size comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// An argument; how many bits it has where it is no `index`.
    Argument(u32, Option<u32>),
    /// The extent of an argument's array in a dimension.
    Extent(u32, u32),
}

/// An array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Its name in the source.
    pub name: String,
    /// Where it comes from.
    pub kind: ArrayKind,
    /// The type of its elements.
    pub element: String,
    /// Extents; `None` where the source does not say.
    pub shape: Vec<Option<Affine>>,
    /// Whether it ends with the function, or with a region of it, so that a caller may not keep it.
    pub automatic: bool,
    /// The alignment of its address, in bytes; 1 where the source does not say.
    pub alignment: u64,
}

impl Array {
    /// Whether it may be passed on in place of the other one: it lives as long, and is aligned as the other one is.
    #[must_use]
    pub fn serves_as(&self, other: &Array) -> bool {
        (other.automatic || !self.automatic) && self.alignment.is_multiple_of(other.alignment)
    }
}

/// Where an array comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayKind {
    /// The argument with this position.
    Argument(u32),
    /// Allocated in the function.
    Local,
    /// A value that loops carry; no other code sees it.
    Cell,
}

/// A line of the source, from 1.
pub type Line = u32;

/// What is executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// Reads a cell.
    Load(Load),
    /// Writes a cell.
    Store(Store),
    /// Executes its body for each value of its variable.
    For(For),
    /// Executes one of two bodies.
    If(If),
    /// Gives a variable the value of data.
    Bind(Bind),
    /// Executes what only its name describes.
    Event(Event),
    /// Executes a pure operation that may be undefined for its operands.
    Trap(ValueId, Line),
    /// Makes an array whose contents are undefined.
    Alloc(ArrayId, Line),
}

/// A load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Load {
    /// Its number.
    pub id: LoadId,
    /// The array it reads.
    pub array: ArrayId,
    /// The cell.
    pub subscripts: Vec<Affine>,
    /// Where it is in the source.
    pub line: Line,
}

/// A store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    /// The array it writes.
    pub array: ArrayId,
    /// The cell.
    pub subscripts: Vec<Affine>,
    /// What it writes.
    pub value: ValueId,
    /// Where it is in the source.
    pub line: Line,
}

/// A loop: `var` goes from the largest of `lower` up to, but not including, the smallest of `upper`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct For {
    /// Its variable.
    pub var: Var,
    /// Lower bounds, at least one.
    pub lower: Vec<Affine>,
    /// Upper bounds, at least one.
    pub upper: Vec<Affine>,
    /// The distance from one value to the next, at least 1.
    pub step: i128,
    /// What is executed.
    pub body: Vec<Item>,
    /// Where it is in the source.
    pub line: Line,
}

/// A branch on data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct If {
    /// What is tested.
    pub condition: ValueId,
    /// Executed if it is true.
    pub then: Vec<Item>,
    /// Executed if it is false.
    pub otherwise: Vec<Item>,
    /// Where it is in the source.
    pub line: Line,
}

/// An index that is computed from data: from here on, to the end of the body around, the variable is this number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bind {
    /// The variable.
    pub var: Var,
    /// Its value, a signed number.
    pub value: ValueId,
    /// Where it is in the source.
    pub line: Line,
}

/// An operation of which nothing is known but its name: it may do anything, in the order in which it is executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its number; results refer to it.
    pub id: LoadId,
    /// Its name with attributes and types.
    pub name: String,
    /// The types of its results.
    pub results: Vec<String>,
    /// Is it a call of a function that neither version defines? Those are seen from outside, one by one.
    pub external: bool,
    /// What it is given.
    pub operands: Vec<ValueId>,
    /// Where it is in the source.
    pub line: Line,
}

/// Counts variables and loads, so that those of two nests differ.
#[derive(Clone, Debug, Default)]
pub struct Names {
    vars: u32,
    loads: u32,
}

/// Variables below this are sizes; both nests of a comparison use the same for the same size.
pub const FIRST_LOOP_VAR: u32 = 1 << 16;

impl Names {
    /// A variable that nothing else has.
    pub fn var(&mut self) -> Var {
        self.vars += 1;
        Var(FIRST_LOOP_VAR + self.vars)
    }

    /// A number for a load or an event that nothing else has.
    pub fn load(&mut self) -> LoadId {
        self.loads += 1;
        LoadId(self.loads)
    }
}

impl Nest {
    /// Whether the argument's array may be written.
    #[must_use]
    pub fn may_write(&self, position: u32) -> bool {
        self.writes(&self.items, position)
    }

    fn writes(&self, items: &[Item], position: u32) -> bool {
        items.iter().any(|item| match item {
            Item::Store(x) => self.array(x.array).kind == ArrayKind::Argument(position),
            Item::Event(_) => true,
            Item::For(x) => self.writes(&x.body, position),
            Item::If(x) => self.writes(&x.then, position) || self.writes(&x.otherwise, position),
            _ => false,
        })
    }

    /// The position of the argument whose array has this name; the `%` may be left out.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<u32> {
        let bare = |name: &str| name.trim_start_matches('%').to_string();
        self.arrays.iter().find(|array| bare(&array.name) == bare(name)).and_then(|array| match array.kind {
            ArrayKind::Argument(position) => Some(position),
            ArrayKind::Local | ArrayKind::Cell => None,
        })
    }

    /// Arrays of the function's own that it gives back: their cells are seen from outside.
    #[must_use]
    pub fn given_back(&self, pool: &Pool) -> Vec<ArrayId> {
        let own = |value| match pool.get(value) {
            Value::Array(array) if self.array(*array).kind == ArrayKind::Local => Some(*array),
            _ => None,
        };
        pool.reachable(self.results.iter().copied()).into_iter().filter_map(own).collect()
    }

    /// Conditions under which this second version of a nest is defined, and which are assumed.
    #[must_use]
    pub fn assumptions(&self, first: &Nest) -> Vec<String> {
        let has_extents = |array: &&Array| array.shape.iter().flatten().any(|extent| extent.as_constant().is_none());
        let is_own = |array: &&Array| array.kind == ArrayKind::Local;
        let is_known = |array: &Array| first.arrays.iter().filter(is_own).any(|other| other.shape == array.shape);
        let views = "accesses of the second version are within their views, and these within their arrays";
        let extents = "arrays that the second version allocates have no negative extents";
        let mut found = vec![];
        found.extend(self.has_views.then(|| views.to_string()));
        let allocates = self.arrays.iter().filter(is_own).filter(has_extents).any(|array| !is_known(array));
        found.extend(allocates.then(|| extents.to_string()));
        found
    }

    /// The array's description.
    #[must_use]
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.0 as usize]
    }
}
