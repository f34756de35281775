//! Names, types and signatures as messages write them.

use super::solve::{Solver, rigid};
use rewright_typeprop::{Op, TypeExpr, Universe};

/// A type in quotes, words as they are.
pub(crate) fn quoted(shown: &str) -> String {
    if shown.contains(' ') && !shown.contains('{') { shown.to_string() } else { format!("`{shown}`") }
}

/// The last part of a qualified name.
pub(crate) fn short(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

/// A function's head as a pack would write it: `iadd{T <: Int}(x: T, y: T) -> T`.
pub fn signature(op: &Op, universe: &Universe) -> String {
    let none: [bool; 0] = [];
    let solver = Solver::new(&universe.types, &none);
    let ty = |t: &TypeExpr| solver.display(&rigid(t), &op.tparams);
    let tparams: Vec<String> = op
        .tparams
        .iter()
        .map(|p| match &p.bound {
            Some(bound) => format!("{} <: {}", p.name, ty(bound)),
            None => p.name.clone(),
        })
        .collect();
    let tparams = if tparams.is_empty() { String::new() } else { format!("{{{}}}", tparams.join(", ")) };
    // Those of a list are numbered: `xs.1`, `xs.2`.
    let mut params: Vec<String> = op
        .params
        .iter()
        .map(|p| match p.name.split_once('.') {
            Some((list, _)) => format!("{list}...: {}", ty(&p.ty)),
            None => format!("{}: {}", p.name, ty(&p.ty)),
        })
        .collect();
    params.dedup();
    let results: Vec<String> = op.results.iter().map(ty).collect();
    let results = match &results[..] {
        [] => String::new(),
        [one] => format!(" -> {one}"),
        more => format!(" -> ({})", more.join(", ")),
    };
    format!("{}{tparams}({}){results}", op.name, params.join(", "))
}

/// What `std.core` has for an operator of C or Rust that no pack declares.
pub(super) fn operator_of_another_language(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "/" => "`sdiv` for signed numbers, `udiv` for unsigned ones, `fdiv` for floats",
        "^" => "`bxor`",
        ">>" => "`sshr` for signed numbers, `ushr` for unsigned ones",
        "==" => "`icmp_eq`, `fcmp_eq` for floats",
        "!=" => "`icmp_ne`, `fcmp_ne` for floats",
        _ => return None,
    })
}

/// How a machine represents the values of a number's type, which is easily written instead: `bv64` for `i64`.
pub(super) fn model_of(ty: &str) -> Option<&'static str> {
    Some(match of_another_language(ty).unwrap_or(ty) {
        "i8" => "bv8",
        "i16" => "bv16",
        "i32" => "bv32",
        "i64" => "bv64",
        "f32" => "fp32",
        "f64" => "fp64",
        "ptr" => "ptr64",
        _ => return None,
    })
}

/// What a number's type in C or Rust is called here. Near names mislead: `int` is near `Int`, a bound.
pub(super) fn of_another_language(name: &str) -> Option<&'static str> {
    Some(match name {
        "char" | "u8" | "bool" | "_Bool" => "i8",
        "short" | "u16" => "i16",
        "int" | "unsigned" | "u32" => "i32",
        "long" | "u64" | "size_t" | "usize" | "isize" => "i64",
        "u128" => "i128",
        "float" => "f32",
        "double" => "f64",
        _ => return None,
    })
}
