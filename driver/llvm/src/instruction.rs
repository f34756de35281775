//! An instruction as data: what it is and takes, as far as any code uses that, and its text as a template for the way
//! back.

use super::types::Type;

/// A value or constant, with its type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// Its type.
    pub ty: Type,
    /// `%x`, or the text of a constant.
    pub text: String,
}

impl Operand {
    /// Is it a value of the function?
    pub fn is_local(&self) -> bool {
        self.text.starts_with('%')
    }
}

/// The text of an instruction after its `=`, cut at the values of the function that it uses.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Template {
    /// One more than there are holes.
    pub pieces: Vec<String>,
    /// The values that stood in between.
    pub holes: Vec<String>,
}

impl Template {
    /// The text with other values.
    pub fn fill(&self, values: &[String]) -> String {
        let mut out = String::new();
        for (i, piece) in self.pieces.iter().enumerate() {
            out.push_str(piece);
            if let (true, Some(value)) = (i + 1 < self.pieces.len(), values.get(i)) {
                out.push_str(value);
            }
        }
        out
    }
}

/// What is known of a memory access beside its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryAccess {
    /// In bytes; 0 where the text does not say.
    pub align: u64,
    /// Neither volatile nor atomic, and not in an address space of its own.
    pub plain: bool,
}

/// How an argument is passed in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// `byval`: a copy of what is there.
    Copy,
    /// `sret`: the result goes there.
    Result,
}

/// An argument whose address stands for a structure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InMemory {
    /// Which one.
    pub argument: usize,
    /// What for.
    pub role: Role,
    /// The type of what is there.
    pub ty: Type,
    /// In bytes; 0 where the text does not say.
    pub align: u64,
}

/// What a stack slot is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The type of what it holds.
    pub ty: Type,
    /// How many of these, where it is an array.
    pub count: Option<Operand>,
    /// In bytes; 0 where the text does not say.
    pub align: u64,
}

/// What an instruction is, as far as any code uses that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Operands in order.
    Plain(Vec<Operand>),
    /// Reads memory.
    Load(Operand, MemoryAccess),
    /// Writes memory: value, address.
    Store(Operand, Operand, MemoryAccess),
    /// An address within an object.
    Offset {
        /// From here.
        base: Operand,
        /// What the first index counts.
        source: Type,
        /// Into it.
        indices: Vec<Operand>,
    },
    /// A call.
    Call {
        /// `@f`, where it is direct.
        callee: Option<String>,
        /// In order.
        args: Vec<Operand>,
        /// Attributes of each argument at this call.
        promises: Vec<Vec<String>>,
        /// Those that are passed in memory.
        in_memory: Vec<InMemory>,
        /// Of the call, groups not resolved.
        attributes: Vec<String>,
        /// It has operand bundles.
        bundles: bool,
    },
    /// Values with the labels that they come from.
    Phi(Vec<(Operand, String)>),
    /// Makes a stack slot.
    Alloca(Slot),
    /// `atomicrmw` and `cmpxchg`, with the address first, and `fence`, which takes nothing.
    Atomic(Vec<Operand>, MemoryAccess),
    /// Anything else that is no terminator.
    Other,
    /// `br label %a`
    Jump(String),
    /// `br i1 %c, label %a, label %b`
    Branch(Operand, [String; 2]),
    /// Value, default, cases.
    Switch(Operand, String, Vec<(String, String)>),
    /// With its operand, if it has one.
    Return(Option<Operand>),
    /// Cannot be reached.
    Unreachable,
}

impl Shape {
    /// Does it end a block?
    pub fn is_terminator(&self) -> bool {
        matches!(self, Shape::Jump(_) | Shape::Branch(..) | Shape::Switch(..) | Shape::Return(_) | Shape::Unreachable)
    }
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// `%x`
    pub result: Option<String>,
    /// Of the result; `void` where there is none.
    pub ty: Type,
    /// As packs spell it: `add`, `icmp slt`.
    pub opcode: String,
    /// Words between the opcode and the first type: `nsw`, `inbounds`; of accesses, those behind, too: `seq_cst`.
    pub flags: Vec<String>,
    /// Which part `extractvalue` takes and `insertvalue` replaces.
    pub indices: Vec<u64>,
    /// What it is.
    pub shape: Shape,
    /// Its text without attached metadata.
    pub template: Template,
    /// The same without flags, where it differs and the form allows it.
    pub bare: Option<Template>,
    /// Attached metadata: kind and node.
    pub metadata: Vec<(String, String)>,
}

impl Instruction {
    /// Replaces values of the function that it takes, labels apart: those for which there is another one.
    pub fn replace(&mut self, other: impl Fn(&str) -> Option<String>) {
        let replace = |text: &mut String| {
            if let Some(other) = other(text) {
                *text = other;
            }
        };
        match &mut self.shape {
            Shape::Plain(operands) | Shape::Atomic(operands, _) => {
                operands.iter_mut().for_each(|operand| replace(&mut operand.text));
            }
            Shape::Load(operand, _) | Shape::Branch(operand, _) | Shape::Switch(operand, ..) => {
                replace(&mut operand.text);
            }
            Shape::Store(value, address, _) => {
                replace(&mut value.text);
                replace(&mut address.text);
            }
            Shape::Offset { base, indices, .. } => {
                replace(&mut base.text);
                indices.iter_mut().for_each(|operand| replace(&mut operand.text));
            }
            Shape::Call { args, .. } => args.iter_mut().for_each(|operand| replace(&mut operand.text)),
            Shape::Phi(values) => values.iter_mut().for_each(|(operand, _)| replace(&mut operand.text)),
            Shape::Return(value) => value.iter_mut().for_each(|operand| replace(&mut operand.text)),
            Shape::Alloca(slot) => slot.count.iter_mut().for_each(|operand| replace(&mut operand.text)),
            Shape::Other | Shape::Jump(_) | Shape::Unreachable => {}
        }
        let bare = self.bare.iter_mut().flat_map(|bare| &mut bare.holes);
        self.template.holes.iter_mut().chain(bare).for_each(replace);
    }
}
