//! What a call, or an instruction that no pack declares, may do: from LLVM's attributes.
//!
//! Attributes of the call and of the declaration both hold, so each may only narrow what the other says. An
//! attribute that is not known here says nothing.

use super::body::{Instruction, Shape};
use super::grammar::{self, Form};
use super::module::{File, resolve};
use super::types::Type;
use rewright_cfg_skeleton::ir::OpaqueEffects;

/// Attributes of a call, groups resolved: its own, and those of the function that it names.
pub fn attributes<'a>(file: &'a File, callee: Option<&str>, own: &[String]) -> [Vec<String>; 2] {
    let mut own = own.to_vec();
    resolve(&mut own, &file.groups);
    let declared: &'a [String] = callee.and_then(|name| file.attributes.get(name)).map_or(&[], Vec::as_slice);
    [own, declared.to_vec()]
}

/// What an opaque instruction may do.
pub fn of(file: &File, instruction: &Instruction) -> OpaqueEffects {
    match &instruction.shape {
        Shape::Call { callee, attributes: own, bundles, .. } => {
            if *bundles {
                return OpaqueEffects::Writes;
            }
            let attributes = attributes(file, callee.as_deref(), own);
            of_call(&attributes, instruction.ty != Type::Void)
        }
        // A read that nobody else can disturb still wants its place: what it reads may not be there elsewhere.
        Shape::Load(_, access) if access.plain => OpaqueEffects::Observes,
        Shape::Load(..) | Shape::Store(..) | Shape::Other => OpaqueEffects::Writes,
        Shape::Alloca(_) => OpaqueEffects::Pinned,
        Shape::Plain(_) => match grammar::form(instruction.opcode.split(' ').next().unwrap_or("")) {
            // Which value an undefined one is frozen to is decided once.
            Some(Form::Freeze) => OpaqueEffects::Pinned,
            Some(Form::Binary(true)) => OpaqueEffects::Observes,
            _ => OpaqueEffects::Pure,
        },
        Shape::Offset { .. } => OpaqueEffects::Pure,
        _ => OpaqueEffects::Writes,
    }
}

fn of_call(attributes: &[Vec<String>; 2], has_result: bool) -> OpaqueEffects {
    let says = |word: &str| attributes.iter().flatten().any(|a| a == word);
    let memory: Vec<Memory> = attributes.iter().map(|list| Memory::of(list)).collect();
    if memory.iter().all(|m| m.writes) {
        return OpaqueEffects::Writes;
    }
    let returns = says("willreturn") && says("nounwind");
    let quiet = memory.iter().any(|m| m.nothing);
    match (returns && quiet, says("speculatable") && has_result) {
        (true, true) => OpaqueEffects::Pure,
        (true, false) => OpaqueEffects::Pinned,
        _ => OpaqueEffects::Observes,
    }
}

/// What a `memory(...)` attribute says.
struct Memory {
    /// It may change memory that the function can see.
    writes: bool,
    /// It touches no memory at all.
    nothing: bool,
}

impl Memory {
    fn of(attributes: &[String]) -> Memory {
        let Some(inside) =
            attributes.iter().find_map(|a| a.strip_prefix("memory(").and_then(|rest| rest.strip_suffix(')')))
        else {
            // LLVM before 16.
            let says = |word: &str| attributes.iter().any(|a| a == word);
            return Memory { writes: !says("readnone") && !says("readonly"), nothing: says("readnone") };
        };
        let parts: Vec<(&str, &str)> = inside
            .split(',')
            .map(|part| match part.split_once(':') {
                Some((place, access)) => (place.trim(), access.trim()),
                None => ("", part.trim()),
            })
            .collect();
        Memory {
            // Memory that only others can see: an allocator's lists.
            writes: parts.iter().any(|(place, access)| *place != "inaccessiblemem" && access.contains("write")),
            nothing: parts.iter().all(|(_, access)| *access == "none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(own: &str, declared: &str) -> OpaqueEffects {
        let list = |text: &str| text.split(';').map(|a| a.trim().to_string()).collect::<Vec<_>>();
        of_call(&[list(own), list(declared)], true)
    }

    #[test]
    fn effects_follow_from_attributes() {
        use OpaqueEffects::{Observes, Pinned, Pure, Writes};
        for (own, declared, effects) in [
            ("", "", Writes),
            ("nounwind; willreturn", "", Writes),
            ("", "memory(argmem: readwrite); willreturn; nounwind", Writes),
            ("", "memory(read); willreturn; nounwind", Observes),
            ("memory(none)", "", Observes),
            ("memory(none)", "willreturn; nounwind", Pinned),
            ("", "memory(none); willreturn; nounwind; speculatable", Pure),
            ("", "memory(inaccessiblemem: readwrite); willreturn; nounwind", Observes),
            ("", "memory(argmem: write, inaccessiblemem: none)", Writes),
            ("memory(read)", "memory(readwrite)", Observes),
            ("", "readnone; nounwind; willreturn", Pinned),
        ] {
            assert_eq!(call(own, declared), effects, "{own} / {declared}");
        }
    }
}
