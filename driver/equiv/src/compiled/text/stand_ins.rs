//! What takes the place of what functions call: one function for each signature, which is told the callee, says what it
//! was given, and gives what is made up.

use super::{COPY, SLOT, Writer, Written};
use crate::compiled::leaves::{Leaf, leaves};
use rewright_cfg_skeleton::ir::OpaqueEffects;
use rewright_llvm::body::{InMemory, Instruction, Operand, Role, Shape, Template};
use rewright_llvm::effects;
use rewright_llvm::lex::tokens;
use rewright_llvm::module::File;
use rewright_llvm::types::{Named, Type};
use std::fmt::Write;

impl Writer<'_> {
    /// The call of a stand-in.
    pub(super) fn call(
        &mut self,
        callee: &str,
        ty: &Type,
        args: &[Operand],
        in_memory: &[InMemory],
        kind: u64,
    ) -> Written<String> {
        let copied = |n: usize| in_memory.iter().find(|m| m.argument == n && m.role == Role::Copy);
        let mut parts = vec![];
        for (n, arg) in args.iter().enumerate() {
            let what = copied(n).map(|m| format!(" {}", m.ty)).unwrap_or_default();
            parts.push(format!("{}{what}", arg.ty));
        }
        let signature = format!("{ty} ({})", parts.join(", "));
        let number = match self.stand_ins.get(&signature) {
            Some(number) => *number,
            None => {
                let number = self.stand_ins.len();
                let copied: Vec<Option<&Type>> = (0..args.len()).map(|n| copied(n).map(|m| &m.ty)).collect();
                let types: Vec<&Type> = args.iter().map(|arg| &arg.ty).collect();
                let text = stand_in(number, ty, &types, &copied, &self.file.named)?;
                self.text += &text;
                self.stand_ins.insert(signature, number);
                number
            }
        };
        let values: String = args.iter().map(|arg| format!(", {} {}", arg.ty, arg.text)).collect();
        Ok(format!("call {ty} @outside.{number}(ptr {callee}, i64 {kind}{values})"))
    }
}

/// What is called, as a value.
pub(super) fn called(callee: Option<&str>, template: &Template) -> Written<String> {
    let is_assembly = || {
        let words = |piece: &String| tokens(piece).iter().any(|t| &piece[t.start..t.end] == "asm");
        template.pieces.iter().any(words)
    };
    match (callee, template.pieces.get(1), template.holes.first()) {
        (Some(callee), _, _) => Ok(callee.into()),
        _ if is_assembly() => Err("inline assembly".into()),
        (None, Some(behind), Some(callee)) if behind.starts_with('(') => Ok(callee.clone()),
        _ => Err("a call of what is no value".into()),
    }
}

/// What `harness.c` is told of a call: it may write, it sees what others have written, it does not return.
pub(super) fn kind(file: &File, instruction: &Instruction) -> u64 {
    let Shape::Call { callee, attributes: own, .. } = &instruction.shape else { return 0 };
    let seen = match effects::of(file, instruction) {
        OpaqueEffects::Writes => 1,
        OpaqueEffects::Observes => 2,
        OpaqueEffects::Pure | OpaqueEffects::Pinned => 0,
    };
    let attributes = effects::attributes(file, callee.as_deref(), own);
    let ends = attributes.iter().flatten().any(|a| a == "noreturn");
    seen | if ends { 4 } else { 0 }
}

/// What takes the place of functions with a signature: it says what it was given, and gives what is made up.
fn stand_in(number: usize, ty: &Type, types: &[&Type], copied: &[Option<&Type>], named: &Named) -> Written<String> {
    let parameters: String = types.iter().enumerate().map(|(n, ty)| format!(", {ty} %a{n}")).collect();
    let mut text = format!("define internal {ty} @outside.{number}(ptr %callee, i64 %kind{parameters}) {{\n");
    text += "  %f = ptrtoint ptr %callee to i64\n  call void @outside_begin(i64 %f, i64 %kind)\n";
    for (n, ty) in types.iter().enumerate() {
        let (at, parts) = match copied[n] {
            Some(ty) => (format!("%a{n}"), leaves(ty, named, COPY)?),
            None => {
                let _ = writeln!(text, "  %s{n} = alloca {ty}, align 16\n  store {ty} %a{n}, ptr %s{n}, align 16");
                (format!("%s{n}"), leaves(ty, named, SLOT)?)
            }
        };
        each(&mut text, "argument", &at, &parts);
    }
    text += "  call void @outside_called()\n";
    if *ty == Type::Void {
        text += "  ret void\n}\n";
        return Ok(text);
    }
    let _ = writeln!(text, "  %r = alloca {ty}, align 16");
    each(&mut text, "result", "%r", &leaves(ty, named, SLOT)?);
    let _ = writeln!(text, "  %v = load {ty}, ptr %r, align 16\n  ret {ty} %v\n}}");
    Ok(text)
}

fn each(text: &mut String, what: &str, at: &str, leaves: &[Leaf]) {
    for Leaf { offset, size, class, .. } in leaves {
        let part = format!("{at}.{what}.{offset}");
        let _ = writeln!(text, "  {part} = getelementptr i8, ptr {at}, i64 {offset}");
        let _ = writeln!(text, "  call void @outside_{what}(ptr {part}, i64 {size}, i64 {})", *class as u64);
    }
}
