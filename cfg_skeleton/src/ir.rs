//! The SSA IR: functions of blocks with parameters; arguments belong to edges.
//!
//! The IR knows no opcodes: an [`InstKind::Op`] names an entry of the operation table, and what no pack declares
//! is [`InstKind::Opaque`], whose payload only its front end can read. Values have interned types.
//!
//! **Invariant**: `BlockId`s are stable; removing a block takes it out of `Function::layout` and leaves its
//! data behind. The first block of the layout is the entry; its parameters are the function's.

pub mod alias;
pub mod calls;
pub mod cfg;
pub mod cleanup;
mod definitions;
pub mod dominance;
pub mod frequencies;
pub(crate) mod frontier;
pub mod heads;
pub mod infer;
pub mod inline;
pub mod interp;
pub mod layout;
mod loops;
pub mod normalise;
pub mod objects;
pub(crate) mod operations;
pub mod parse;
pub(crate) mod relation;
pub mod shares;
pub mod specialise;
pub mod tail_calls;
pub mod text;
pub mod trip_count;
pub(crate) mod uses;
pub mod verify;
pub mod versions;

pub use cfg::{Cfg, Loop, LoopId};
pub use definitions::{Definition, definitions};

use alias::Aliases;
use objects::Objects;
use rewright_typeprop::{OpId, Ty, Universe};
use smallvec::SmallVec;
use std::collections::BTreeMap;

macro_rules! id {
    ($(#[$doc:meta] $name:ident),* $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use id;

id! {
    /// An SSA value of one function.
    Value,
    /// A basic block of one function.
    BlockId,
    /// An instruction of one function.
    InstId,
    /// A memory region of one function.
    RegionId,
    /// What a front end kept of something that is not modelled. Equal payloads are the same operation.
    PayloadId,
}

/// Several functions, and what they share.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// In the order of the input.
    pub functions: Vec<Function>,
    /// Operations that functions of the module are the bodies of, by index.
    pub bodies: BTreeMap<OpId, usize>,
    /// By function and `InstId`: the line of the text that it stands in, from 1. Empty where no text was read.
    pub lines: Vec<Vec<u32>>,
    /// Functions that are another one's versions for more specific types ([`versions`]), and which one's.
    pub versions: BTreeMap<usize, usize>,
}

/// One function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name as the front end writes it.
    pub name: String,
    /// Result types.
    pub results: Vec<Ty>,
    /// Block data by id, including blocks that are no longer in the layout.
    pub blocks: Vec<Block>,
    /// Blocks in order; the first is the entry.
    pub layout: Vec<BlockId>,
    /// Instruction data by id.
    pub insts: Vec<Inst>,
    /// Types of all values, by id.
    pub values: Vec<Ty>,
    /// Names of memory regions; region 0 is the one of accesses that name none, and it may alias every other.
    pub regions: Vec<String>,
    /// Facts that hold in every execution of the function. The text form does not show them.
    pub promises: Vec<Promise>,
    /// Which stores loads do not see. The text form does not show it.
    pub aliases: Aliases,
    /// Which objects in memory begin here. The text form does not show it.
    pub objects: Objects,
}

/// An operation on values of a function that has a known value whenever the function is executed: the original has no
/// meaning otherwise. Each value has its meaning where it is defined, once per call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Promise {
    /// The operation.
    pub op: OpId,
    /// Its type arguments.
    pub targs: SmallVec<[Ty; 2]>,
    /// Its operands.
    pub args: SmallVec<[Value; 3]>,
    /// Of its result.
    pub ty: Ty,
    /// Its result.
    pub value: i64,
}

/// A basic block.
#[derive(Clone, Hash, Debug)]
pub struct Block {
    /// Parameters.
    pub params: Vec<Value>,
    /// Instructions in order.
    pub insts: Vec<InstId>,
    /// How it ends.
    pub term: Terminator,
    /// Rarely executed.
    pub cold: bool,
    /// How often it is executed, as far as that is known.
    pub counts: Counts,
    /// Of a loop's header: the original has no meaning if the loop goes on for ever without an effect. The text form does
    /// not show it.
    pub must_progress: bool,
}

/// What is known of how often a block is executed. It changes what is cheap, never what is right; the text form does
/// not show it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counts {
    /// Of a loop's header: the loop's iterations each time that it is entered ([`trip_count`]).
    pub trips: Option<u64>,
    /// Executions per call of the function, in units of [`cfg::FREQUENCY_ONE`], as a profile says.
    pub executions: Option<u64>,
    /// The part of the calls of the function in which control comes there, as arms of branches share what these are
    /// executed ([`shares`]), in units of 1 / [`cfg::SHARE_ONE`]; loops multiply it.
    pub share: Option<u32>,
}

/// A control-flow edge, named by where it leaves from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EdgeId {
    /// The block it leaves.
    pub from: BlockId,
    /// Position among the block's successors.
    pub slot: u32,
}

/// Where an edge goes and what it carries.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Edge {
    /// The block it enters.
    pub target: BlockId,
    /// One per parameter of the target.
    pub args: SmallVec<[EdgeArg; 2]>,
}

/// What an edge carries to one parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EdgeArg {
    /// A value that is available at the end of the block that the edge leaves.
    Value(Value),
    /// A value that the opaque terminator itself makes on this edge (a call's result, an exception), by the
    /// front end's own number. Such an edge is never redirected.
    Terminator(u32),
}

/// How a block ends.
#[derive(Clone, PartialEq, Hash, Debug)]
pub enum Terminator {
    /// Goes on in one block.
    Jump(Edge),
    /// `then` iff `cond` is not zero.
    Branch {
        /// Any integer.
        cond: Value,
        /// Successor 0.
        then: Edge,
        /// Successor 1.
        els: Edge,
    },
    /// By index, or `default` beyond the last.
    Switch {
        /// Unsigned.
        index: Value,
        /// Successors 0 and up.
        targets: Vec<Edge>,
        /// The last successor.
        default: Edge,
    },
    /// Leaves the function.
    Return(SmallVec<[Value; 2]>),
    /// Traps, always.
    Trap {
        /// The front end's number for the trap code.
        code: u32,
    },
    /// Anything else: reads and writes every region, and uses `args`.
    Opaque {
        /// The front end's handle.
        payload: PayloadId,
        /// Operands.
        args: SmallVec<[Value; 2]>,
        /// Successors.
        targets: Vec<Edge>,
    },
}

impl Terminator {
    /// All edges in order of their slots.
    pub fn edges(&self) -> SmallVec<[&Edge; 2]> {
        match self {
            Terminator::Jump(e) => SmallVec::from_slice(&[e]),
            Terminator::Branch { then, els, .. } => SmallVec::from_slice(&[then, els]),
            Terminator::Switch { targets, default, .. } => targets.iter().chain([default]).collect(),
            Terminator::Return(_) | Terminator::Trap { .. } => SmallVec::new(),
            Terminator::Opaque { targets, .. } => targets.iter().collect(),
        }
    }

    /// All edges in order of their slots, to change.
    pub fn edges_mut(&mut self) -> SmallVec<[&mut Edge; 2]> {
        match self {
            Terminator::Jump(e) => {
                let mut v = SmallVec::new();
                v.push(e);
                v
            }
            Terminator::Branch { then, els, .. } => {
                let mut v = SmallVec::new();
                v.push(then);
                v.push(els);
                v
            }
            Terminator::Switch { targets, default, .. } => targets.iter_mut().chain([default]).collect(),
            Terminator::Return(_) | Terminator::Trap { .. } => SmallVec::new(),
            Terminator::Opaque { targets, .. } => targets.iter_mut().collect(),
        }
    }

    /// The values that it uses itself, not counting what its edges carry.
    pub fn operands(&self) -> &[Value] {
        match self {
            Terminator::Jump(_) | Terminator::Trap { .. } => &[],
            Terminator::Branch { cond, .. } => std::slice::from_ref(cond),
            Terminator::Switch { index, .. } => std::slice::from_ref(index),
            Terminator::Return(values) => values,
            Terminator::Opaque { args, .. } => args,
        }
    }

    /// The same, to change.
    pub fn operands_mut(&mut self) -> &mut [Value] {
        match self {
            Terminator::Jump(_) | Terminator::Trap { .. } => &mut [],
            Terminator::Branch { cond, .. } => std::slice::from_mut(cond),
            Terminator::Switch { index, .. } => std::slice::from_mut(index),
            Terminator::Return(values) => values,
            Terminator::Opaque { args, .. } => args,
        }
    }
}

/// An instruction.
#[derive(Clone, Hash, Debug)]
pub struct Inst {
    /// What it does.
    pub kind: InstKind,
    /// Operands, constants (`const` parameters of the operation) among them.
    pub args: SmallVec<[Value; 3]>,
    /// Results.
    pub results: SmallVec<[Value; 1]>,
    /// The front end's number of the instruction that this one came from, for flags and source locations.
    pub origin: Option<u32>,
}

impl Inst {
    /// Has it no effect, and does it give the same wherever its operands are the same?
    pub(crate) fn is_silent(&self, universe: &Universe) -> bool {
        match &self.kind {
            InstKind::Const(_) => true,
            InstKind::Op { op, access: None, .. } => {
                let effects = &universe.ops.get(*op).effects;
                effects.is_value() && !effects.traps && !effects.accesses_memory()
            }
            InstKind::Op { .. } | InstKind::Check { .. } | InstKind::Opaque { .. } => false,
        }
    }
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum InstKind {
    /// A declared operation at given type arguments.
    Op {
        /// The operation.
        op: OpId,
        /// One per type parameter.
        targs: SmallVec<[Ty; 2]>,
        /// Present iff the operation reads or writes memory.
        access: Option<Access>,
    },
    /// A constant of the result's type, in canonical form (`Scalar::canonical`).
    Const(i64),
    /// Traps with `code` iff its one operand is not zero (`when == true`) or is zero (`when == false`).
    Check {
        /// The front end's number for the trap code.
        code: u32,
        /// Which truth value traps.
        when: bool,
    },
    /// Something that is not modelled.
    Opaque {
        /// The front end's handle. Two pure opaque instructions with equal payloads, operands and types are equal.
        payload: PayloadId,
        /// What it may do.
        effects: OpaqueEffects,
    },
}

impl InstKind {
    /// The constant, if it is one.
    pub fn constant(&self) -> Option<i64> {
        if let InstKind::Const(n) = self { Some(*n) } else { None }
    }
}

/// What is known of a memory access beside its operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Where it may reach. Region 0 may alias all.
    pub region: RegionId,
    /// The front end's number for the trap code, if it may trap.
    pub trap: Option<u32>,
    /// May be executed anywhere its address is available, not only where the program did.
    pub movable: bool,
    /// Nothing in the function changes what it reads.
    pub readonly: bool,
    /// The address is known to be aligned.
    pub aligned: bool,
}

/// What an instruction that is not modelled may do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum OpaqueEffects {
    /// A function of its operands: an e-node, may be shared, moved and dropped.
    Pure,
    /// Pinned and kept; observes no memory and cannot trap (`nop`, `get_frame_pointer`).
    Pinned,
    /// Pinned and kept; may trap or read memory, so it observes every region, but writes none.
    Observes,
    /// Pinned and kept; may read and write every region.
    Writes,
}

impl Function {
    /// One without blocks or results, with the region of accesses that name none.
    pub fn new(name: impl Into<String>) -> Self {
        Function {
            name: name.into(),
            results: vec![],
            blocks: vec![],
            layout: vec![],
            insts: vec![],
            values: vec![],
            regions: vec![String::new()],
            promises: vec![],
            aliases: Aliases::default(),
            objects: Objects::default(),
        }
    }

    /// The entry block.
    pub fn entry(&self) -> BlockId {
        self.layout[0]
    }

    /// Block data.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// Instruction data.
    pub fn inst(&self, id: InstId) -> &Inst {
        &self.insts[id.index()]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Ty {
        self.values[value.index()]
    }

    /// A new value.
    pub fn add_value(&mut self, ty: Ty) -> Value {
        self.values.push(ty);
        Value(self.values.len() as u32 - 1)
    }

    /// A new block at the end of the layout, ending in `Trap` until it is given its terminator.
    pub fn add_block(&mut self) -> BlockId {
        let id = BlockId(self.blocks.len() as u32);
        self.blocks.push(Block {
            params: vec![],
            insts: vec![],
            term: Terminator::Trap { code: 0 },
            cold: false,
            counts: Counts::default(),
            must_progress: false,
        });
        self.layout.push(id);
        id
    }

    /// Appends an instruction to a block; results get the given types.
    pub fn append(&mut self, block: BlockId, kind: InstKind, args: &[Value], results: &[Ty]) -> InstId {
        let results = results.iter().map(|ty| self.add_value(*ty)).collect();
        let id = InstId(self.insts.len() as u32);
        self.insts.push(Inst { kind, args: SmallVec::from_slice(args), results, origin: None });
        self.blocks[block.index()].insts.push(id);
        id
    }
}
