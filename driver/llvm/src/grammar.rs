//! How instructions are written: which opcode has which form.
//!
//! With [`super::names`], the only place that names opcodes.

/// The form of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `add nsw i32 %a, %b`. The flag says that it may be undefined for some operands (division).
    Binary(bool),
    /// `fneg double %a`
    Unary,
    /// `icmp slt i32 %a, %b`
    Compare,
    /// `zext nneg i8 %a to i32`
    Cast,
    /// `select i1 %c, i32 %a, i32 %b`
    Select,
    /// `freeze i32 %a`
    Freeze,
    /// `getelementptr inbounds %struct.V, ptr %p, i64 0, i32 1`
    Offset,
    /// `load i32, ptr %p, align 4`
    Load,
    /// `store i32 %a, ptr %p, align 4`
    Store,
    /// `call i32 @f(i32 noundef %a)`
    Call,
    /// `phi i32 [ %a, %b ], [ 0, %c ]`
    Phi,
    /// `alloca [4 x i32], align 16`
    Alloca,
    /// `extractvalue { i32, i1 } %a, 0`
    ExtractValue,
    /// `insertvalue { i32, i1 } %a, i32 %b, 0`
    InsertValue,
    /// `extractelement <4 x i32> %a, i64 0`
    ExtractElement,
    /// `insertelement <4 x i32> %a, i32 %b, i64 0`
    InsertElement,
    /// `shufflevector <4 x i32> %a, <4 x i32> %b, <2 x i32> <i32 0, i32 1>`
    Shuffle,
    /// `atomicrmw add ptr %p, i32 1 seq_cst, align 4`
    AtomicUpdate,
    /// `cmpxchg ptr %p, i32 0, i32 1 seq_cst seq_cst, align 4`
    CompareExchange,
    /// `fence seq_cst`
    Fence,
    /// `va_arg ptr %p, i32`
    VariableArgument,
    /// `br label %a`, `br i1 %c, label %a, label %b`
    Jump,
    /// `switch i32 %a, label %d [ i32 1, label %b ]`
    Switch,
    /// `ret i32 %a`
    Return,
    /// `unreachable`
    Unreachable,
}

const FORMS: [(&str, Form); 56] = [
    ("add", Form::Binary(false)),
    ("sub", Form::Binary(false)),
    ("mul", Form::Binary(false)),
    ("udiv", Form::Binary(true)),
    ("sdiv", Form::Binary(true)),
    ("urem", Form::Binary(true)),
    ("srem", Form::Binary(true)),
    ("shl", Form::Binary(false)),
    ("lshr", Form::Binary(false)),
    ("ashr", Form::Binary(false)),
    ("and", Form::Binary(false)),
    ("or", Form::Binary(false)),
    ("xor", Form::Binary(false)),
    ("fadd", Form::Binary(false)),
    ("fsub", Form::Binary(false)),
    ("fmul", Form::Binary(false)),
    ("fdiv", Form::Binary(false)),
    ("frem", Form::Binary(false)),
    ("fneg", Form::Unary),
    ("icmp", Form::Compare),
    ("fcmp", Form::Compare),
    ("trunc", Form::Cast),
    ("zext", Form::Cast),
    ("sext", Form::Cast),
    ("fptrunc", Form::Cast),
    ("fpext", Form::Cast),
    ("fptoui", Form::Cast),
    ("fptosi", Form::Cast),
    ("uitofp", Form::Cast),
    ("sitofp", Form::Cast),
    ("ptrtoint", Form::Cast),
    ("ptrtoaddr", Form::Cast),
    ("inttoptr", Form::Cast),
    ("bitcast", Form::Cast),
    ("addrspacecast", Form::Cast),
    ("select", Form::Select),
    ("freeze", Form::Freeze),
    ("getelementptr", Form::Offset),
    ("load", Form::Load),
    ("store", Form::Store),
    ("call", Form::Call),
    ("phi", Form::Phi),
    ("alloca", Form::Alloca),
    ("extractvalue", Form::ExtractValue),
    ("insertvalue", Form::InsertValue),
    ("extractelement", Form::ExtractElement),
    ("insertelement", Form::InsertElement),
    ("shufflevector", Form::Shuffle),
    ("atomicrmw", Form::AtomicUpdate),
    ("cmpxchg", Form::CompareExchange),
    ("fence", Form::Fence),
    ("va_arg", Form::VariableArgument),
    ("br", Form::Jump),
    ("switch", Form::Switch),
    ("ret", Form::Return),
    ("unreachable", Form::Unreachable),
];

/// Words that may stand before `call`.
pub const TAILS: [&str; 3] = ["tail", "notail", "musttail"];

/// Words that constants start with.
const CONSTANTS: [&str; 8] = ["true", "false", "null", "undef", "poison", "zeroinitializer", "none", "splat"];

/// Words that constant expressions, or constants of their own kind, start with.
const EXPRESSIONS: [&str; 16] = [
    "getelementptr",
    "ptrtoint",
    "ptrtoaddr",
    "inttoptr",
    "bitcast",
    "addrspacecast",
    "trunc",
    "add",
    "sub",
    "mul",
    "shl",
    "xor",
    "blockaddress",
    "dso_local_equivalent",
    "no_cfi",
    "ptrauth",
];

/// The form of an opcode.
pub fn form(opcode: &str) -> Option<Form> {
    FORMS.iter().find(|(name, _)| *name == opcode).map(|(_, form)| *form)
}

/// Is it a word that is a constant?
pub fn is_constant(word: &str) -> bool {
    CONSTANTS.contains(&word)
}

/// Is it a word that a constant expression starts with?
pub fn is_expression(word: &str) -> bool {
    EXPRESSIONS.contains(&word)
}
