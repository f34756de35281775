//! The text form of the IR. [`super::parse`] reads what [`Printer`] writes, and gives the same function.
//!
//! ```text
//! func %f -> (i32) {
//!   regions heap
//! b0(v0: i64, v1: i32):
//!   v2: i64 = const 8
//!   v3: i32 = load{i32} v0, v2 @region1 trap=1 movable aligned
//!   v4: i32 = iadd{i32} v1, v3
//!   store{i32} v0, v4, v2 @region1
//!   check.trapnz v1, 3
//!   v5: i32, v6: i8x16 = opaque 7 writes (v1) !12
//!   br v1, b1(v4), b2
//! b1(v7: i32) cold:
//!   return v7
//! b2:
//!   switch v1, [b1(v4), b2], b1(v5)
//! }
//! ```
//!
//! Operations go by their unique name (`f.0` for the first of several overloads), followed by their type arguments.
//! A function of the same text is an operation where it is called. `@regionN` is the access, `!N` the front
//! end's number of the instruction. `opaque N` is followed by what it may do: `pure`, `pinned`, `observes`, `writes`.
//! An opaque terminator is `opaque.end N (operands), [edges]`, and `#N` is the terminator's own result on an edge.
//! Integer constants are decimal, float constants are their bits in hexadecimal; an array is
//! `[[1.0, 2.0], [3.0, 4.0]]`, or a text in quotes. `;` begins a comment.
//!
//! People may write less, and other names:
//!
//! ```text
//! func %norm(%p: Point, %scale: f64) -> f64 {
//!   %x = x %p                     ; the overload of `x` that takes a Point
//!   %half: f64 = const 0.5
//!   %small = fcmp_lt %x, %half
//!   br %small, low, high(%x)
//! low:
//!   return %half
//! high(%y):                       ; the join of what edges bring
//!   %z = scaled %y, %scale        ; a function of this text, or an operation
//!   return %z
//! }
//! ```
//!
//! **Invariant**: printing never fails: ids that point nowhere print as numbers.

use super::{Access, BlockId, Edge, EdgeArg, Function, Inst, InstKind, Module, OpaqueEffects, Terminator, Value};
use rewright_typeprop::{Data, Scalar, Ty, Universe};
use std::fmt::{self, Display, Formatter, Write as _};

/// Words that cannot be the bare name of an operation.
const KEYWORDS: &[&str] = &[
    "const",
    "opaque",
    "opaque.end",
    "check.trapnz",
    "check.trapz",
    "jump",
    "br",
    "switch",
    "return",
    "trap",
    "movable",
    "readonly",
    "aligned",
];

/// Prints as text: `Printer(&function, &universe)`.
pub struct Printer<'a, T>(pub &'a T, pub &'a Universe);

/// A function as text.
pub fn print(function: &Function, universe: &Universe) -> String {
    Printer(function, universe).to_string()
}

impl Display for Printer<'_, Module> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, function) in self.0.functions.iter().enumerate() {
            let gap = if i == 0 { "" } else { "\n" };
            write!(f, "{gap}{}", Printer(function, self.1))?;
        }
        Ok(())
    }
}

impl Display for Printer<'_, Function> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Printer(function, universe) = self;
        write!(f, "func {}", Name(&function.name, is_function_name))?;
        for (i, ty) in function.results.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { " -> (" } else { ", " }, show_type(universe, *ty))?;
        }
        writeln!(f, "{} {{", if function.results.is_empty() { "" } else { ")" })?;
        for (i, region) in function.regions.iter().enumerate().skip(1) {
            write!(f, "{}{}", if i == 1 { "  regions " } else { ", " }, Name(region, is_word))?;
        }
        if function.regions.len() > 1 {
            writeln!(f)?;
        }
        for b in &function.layout {
            self.block(f, *b)?;
        }
        writeln!(f, "}}")
    }
}

impl Printer<'_, Function> {
    fn block(&self, f: &mut Formatter<'_>, b: BlockId) -> fmt::Result {
        write!(f, "b{}", b.0)?;
        let Some(block) = self.0.blocks.get(b.index()) else { return writeln!(f, ":") };
        if !block.params.is_empty() {
            f.write_char('(')?;
            self.typed(f, &block.params)?;
            f.write_char(')')?;
        }
        writeln!(f, "{}:", if block.cold { " cold" } else { "" })?;
        for id in &block.insts {
            f.write_str("  ")?;
            match self.0.insts.get(id.index()) {
                Some(inst) => self.inst(f, inst)?,
                None => write!(f, "; no instruction {}", id.0)?,
            }
            f.write_char('\n')?;
        }
        f.write_str("  ")?;
        terminator(f, &block.term)?;
        f.write_char('\n')
    }

    fn typed(&self, f: &mut Formatter<'_>, values: &[Value]) -> fmt::Result {
        for (i, v) in values.iter().enumerate() {
            let ty = self.0.values.get(v.index()).copied();
            let ty = ty.map_or_else(|| "?".into(), |ty| show_type(self.1, ty));
            write!(f, "{}v{}: {ty}", if i == 0 { "" } else { ", " }, v.0)?;
        }
        Ok(())
    }

    fn inst(&self, f: &mut Formatter<'_>, inst: &Inst) -> fmt::Result {
        if !inst.results.is_empty() {
            self.typed(f, &inst.results)?;
            f.write_str(" = ")?;
        }
        match &inst.kind {
            InstKind::Const(n) => {
                let ty = inst.results.first().and_then(|r| self.0.values.get(r.index()));
                let scalar = ty.filter(|t| self.1.types.contains(**t)).and_then(|t| self.1.types.lane(*t));
                match scalar {
                    Some(s) if !s.is_int() => write!(f, "const {n:#x}")?,
                    Some(_) => write!(f, "const {n}")?,
                    None => match self.1.data.get(*n) {
                        Some(data) => write!(f, "const {}", Array(&data))?,
                        None => write!(f, "const {n}")?,
                    },
                }
            }
            InstKind::Check { code, when } => {
                write!(f, "check.{}", if *when { "trapnz" } else { "trapz" })?;
                values(f, " ", &inst.args)?;
                write!(f, ", {code}")?;
            }
            InstKind::Opaque { payload, effects } => {
                write!(f, "opaque {} {} (", payload.0, effects_name(*effects))?;
                values(f, "", &inst.args)?;
                f.write_char(')')?;
            }
            InstKind::Op { op, targs, access } => {
                if (op.0 as usize) < self.1.ops.len() {
                    let op = self.1.ops.get(*op);
                    let first = op.name == op.unique && self.1.ops.overloads(&op.name).len() > 1;
                    write!(f, "{}{}", Name(&op.unique, is_op_name), if first { ".0" } else { "" })?;
                } else {
                    write!(f, "?{}", op.0)?;
                }
                for (i, ty) in targs.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "{" } else { ", " }, show_type(self.1, *ty))?;
                }
                f.write_str(if targs.is_empty() { "" } else { "}" })?;
                values(f, " ", &inst.args)?;
                if let Some(access) = access {
                    show_access(f, access)?;
                }
            }
        }
        match inst.origin {
            Some(n) => write!(f, " !{n}"),
            None => Ok(()),
        }
    }
}

pub(super) fn effects_name(effects: OpaqueEffects) -> &'static str {
    match effects {
        OpaqueEffects::Pure => "pure",
        OpaqueEffects::Pinned => "pinned",
        OpaqueEffects::Observes => "observes",
        OpaqueEffects::Writes => "writes",
    }
}

fn show_access(f: &mut Formatter<'_>, access: &Access) -> fmt::Result {
    write!(f, " @region{}", access.region.0)?;
    if let Some(code) = access.trap {
        write!(f, " trap={code}")?;
    }
    for (flag, word) in [(access.movable, "movable"), (access.readonly, "readonly"), (access.aligned, "aligned")] {
        if flag {
            write!(f, " {word}")?;
        }
    }
    Ok(())
}

fn show_type(universe: &Universe, ty: Ty) -> String {
    if universe.types.contains(ty) { universe.types.display(ty) } else { format!("?{}", ty.0) }
}

fn values(f: &mut Formatter<'_>, before: &str, values: &[Value]) -> fmt::Result {
    for (i, v) in values.iter().enumerate() {
        write!(f, "{}v{}", if i == 0 { before } else { ", " }, v.0)?;
    }
    Ok(())
}

fn terminator(f: &mut Formatter<'_>, term: &Terminator) -> fmt::Result {
    match term {
        Terminator::Jump(edge) => write!(f, "jump {}", Target(edge)),
        Terminator::Branch { cond, then, els } => write!(f, "br v{}, {}, {}", cond.0, Target(then), Target(els)),
        Terminator::Switch { index, targets, default } => {
            write!(f, "switch v{}, {}, {}", index.0, Targets(targets), Target(default))
        }
        Terminator::Return(results) => {
            f.write_str("return")?;
            values(f, " ", results)
        }
        Terminator::Trap { code } => write!(f, "trap {code}"),
        Terminator::Opaque { payload, args, targets } => {
            write!(f, "opaque.end {} (", payload.0)?;
            values(f, "", args)?;
            write!(f, "), {}", Targets(targets))
        }
    }
}

/// An array constant, row by row.
struct Array<'a>(&'a Data);

impl Array<'_> {
    fn rows(&self, f: &mut Formatter<'_>, shape: &[u64], elements: &[i64]) -> fmt::Result {
        f.write_char('[')?;
        let step = elements.len() / shape.first().map_or(1, |n| *n as usize).max(1);
        for i in 0..shape.first().map_or(0, |n| *n as usize) {
            f.write_str(if i == 0 { "" } else { ", " })?;
            match &shape[1..] {
                [] => self.element(f, elements[i])?,
                inner => self.rows(f, inner, &elements[i * step..(i + 1) * step])?,
            }
        }
        f.write_char(']')
    }

    fn element(&self, f: &mut Formatter<'_>, n: i64) -> fmt::Result {
        let scalar = self.0.element();
        let x = match scalar {
            Scalar::F32 => f64::from(f32::from_bits(n as u32)),
            Scalar::F64 => f64::from_bits(n as u64),
            _ => return write!(f, "{n}"),
        };
        if x.is_finite() { write!(f, "{x:?}") } else { write!(f, "#{:#x}", scalar.zero_extended(n)) }
    }
}

impl Display for Array<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.text() {
            Some(text) if !text.contains(char::is_control) => Name(&text, |_| false).fmt(f),
            _ => self.rows(f, self.0.shape(), self.0.elements()),
        }
    }
}

struct Target<'a>(&'a Edge);

impl Display for Target<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0.target.0)?;
        for (i, arg) in self.0.args.iter().enumerate() {
            f.write_str(if i == 0 { "(" } else { ", " })?;
            match arg {
                EdgeArg::Value(v) => write!(f, "v{}", v.0)?,
                EdgeArg::Terminator(n) => write!(f, "#{n}")?,
            }
        }
        f.write_str(if self.0.args.is_empty() { "" } else { ")" })
    }
}

struct Targets<'a>(&'a [Edge]);

impl Display for Targets<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        for (i, edge) in self.0.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, Target(edge))?;
        }
        f.write_char(']')
    }
}

/// A name, quoted unless it may stand bare.
struct Name<'a>(&'a str, fn(&str) -> bool);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if (self.1)(self.0) {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

pub(super) fn is_word(s: &str) -> bool {
    s.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && s.chars().all(is_word_char)
}

/// `%name`, or a word.
fn is_function_name(s: &str) -> bool {
    is_word(s.strip_prefix('%').unwrap_or(s))
        || s.strip_prefix('%').is_some_and(|s| s.starts_with(is_word_char) && s.chars().all(is_word_char))
}

/// A word that is neither a keyword nor looks like a value, whatever stands before a `=`.
fn is_op_name(s: &str) -> bool {
    is_word(s) && !KEYWORDS.contains(&s) && !is_numbered(s, 'v') && !is_numbered(s, 'b')
}

/// `v12`, `b0`.
pub(super) fn is_numbered(s: &str, prefix: char) -> bool {
    s.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()))
}
