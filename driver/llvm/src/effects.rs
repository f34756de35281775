//! What a call, or an instruction that no pack declares, may do: from LLVM's attributes.
//!
//! Attributes of the call and of the declaration both hold, so each may only narrow what the other says. An
//! attribute that is not known here says nothing.

use super::body::{Instruction, Shape};
use super::grammar::{self, Form};
use super::module::{File, resolve};
use super::types::Type;
use rewright_cfg_skeleton::ir::OpaqueEffects;
use std::fmt;

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
        // A read that no other code can disturb still needs its place: what it reads may not be there elsewhere.
        Shape::Load(_, access) if access.plain => OpaqueEffects::Observes,
        Shape::Load(..) | Shape::Store(..) | Shape::Atomic(..) | Shape::Other => OpaqueEffects::Writes,
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
    let memory = MemoryEffects::of(attributes.iter().flatten().map(String::as_str)).unwrap_or(MemoryEffects::ALL);
    // Memory that only others can see may change: an allocator's lists.
    if memory.arguments.writes || memory.others.writes {
        return OpaqueEffects::Writes;
    }
    let returns = says("willreturn") && says("nounwind");
    match (returns && memory == MemoryEffects::NONE, says("speculatable") && has_result) {
        (true, true) => OpaqueEffects::Pure,
        (true, false) => OpaqueEffects::Pinned,
        _ => OpaqueEffects::Observes,
    }
}

/// What may happen to some memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Accesses {
    /// It may be read.
    pub reads: bool,
    /// It may be written.
    pub writes: bool,
}

impl Accesses {
    const ALL: Accesses = Accesses { reads: true, writes: true };
    const NONE: Accesses = Accesses { reads: false, writes: false };

    fn of(word: &str) -> Accesses {
        match word.trim() {
            "none" => Accesses::NONE,
            "read" => Accesses { reads: true, writes: false },
            "write" => Accesses { reads: false, writes: true },
            _ => Accesses::ALL,
        }
    }

    /// Are these no more than those?
    pub fn within(self, most: Accesses) -> bool {
        (!self.reads || most.reads) && (!self.writes || most.writes)
    }

    /// What both allow.
    pub fn and(self, other: Accesses) -> Accesses {
        Accesses { reads: self.reads && other.reads, writes: self.writes && other.writes }
    }

    /// What either does.
    pub fn or(self, other: Accesses) -> Accesses {
        Accesses { reads: self.reads || other.reads, writes: self.writes || other.writes }
    }

    fn word(self) -> &'static str {
        match (self.reads, self.writes) {
            (false, false) => "none",
            (true, false) => "read",
            (false, true) => "write",
            (true, true) => "readwrite",
        }
    }
}

/// Which memory a function accesses: what `memory(..)` says, or the attributes that stood for it before LLVM 16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryEffects {
    /// What its arguments point to.
    pub arguments: Accesses,
    /// What no other function of the module sees.
    pub inaccessible: Accesses,
    /// All else.
    pub others: Accesses,
}

impl MemoryEffects {
    /// Nothing is said.
    pub const ALL: MemoryEffects = MemoryEffects::everywhere(Accesses::ALL);
    /// It accesses no memory.
    pub const NONE: MemoryEffects = MemoryEffects::everywhere(Accesses::NONE);

    const fn everywhere(accesses: Accesses) -> MemoryEffects {
        MemoryEffects { arguments: accesses, inaccessible: accesses, others: accesses }
    }

    /// What stands in the parentheses of `memory(..)`, and whether all places in it are known: one that is not counts
    /// as memory of others.
    pub fn parse(inside: &str) -> (MemoryEffects, bool) {
        let parts = || inside.split(',').map(|part| part.split_once(':').unwrap_or(("", part)));
        let default =
            parts().find(|(place, _)| place.is_empty()).map_or(Accesses::NONE, |(_, word)| Accesses::of(word));
        let (mut effects, mut known) = (MemoryEffects::everywhere(default), true);
        for (place, word) in parts() {
            match place.trim() {
                "" => {}
                "argmem" => effects.arguments = Accesses::of(word),
                "inaccessiblemem" => effects.inaccessible = Accesses::of(word),
                _ => (effects.others, known) = (effects.others.or(Accesses::of(word)), false),
            }
        }
        (effects, known)
    }

    /// What all attributes of a function together allow, if any of them is about memory.
    pub fn of<'t>(attributes: impl IntoIterator<Item = &'t str>) -> Option<MemoryEffects> {
        let all = attributes.into_iter().filter_map(|attribute| {
            let inside = match attribute {
                "readnone" => "none",
                "readonly" => "read",
                "writeonly" => "write",
                "argmemonly" => "argmem: readwrite",
                "inaccessiblememonly" => "inaccessiblemem: readwrite",
                "inaccessiblemem_or_argmemonly" => "argmem: readwrite, inaccessiblemem: readwrite",
                _ => attribute.strip_prefix("memory(")?.strip_suffix(')')?,
            };
            Some(MemoryEffects::parse(inside).0)
        });
        all.reduce(MemoryEffects::and)
    }

    /// What both allow.
    pub fn and(self, other: MemoryEffects) -> MemoryEffects {
        MemoryEffects {
            arguments: self.arguments.and(other.arguments),
            inaccessible: self.inaccessible.and(other.inaccessible),
            others: self.others.and(other.others),
        }
    }

    /// Is any memory written?
    pub fn writes(self) -> bool {
        [self.arguments, self.inaccessible, self.others].iter().any(|accesses| accesses.writes)
    }

    /// Are these no more than those?
    pub fn within(self, most: MemoryEffects) -> bool {
        self.arguments.within(most.arguments)
            && self.inaccessible.within(most.inaccessible)
            && self.others.within(most.others)
    }
}

/// The attribute, as LLVM writes it.
impl fmt::Display for MemoryEffects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = vec![];
        let places = [("argmem", self.arguments), ("inaccessiblemem", self.inaccessible)];
        if self.others != Accesses::NONE || places.iter().all(|(_, accesses)| *accesses == Accesses::NONE) {
            parts.push(self.others.word().to_string());
        }
        let differing = places.iter().filter(|(_, accesses)| *accesses != self.others);
        parts.extend(differing.map(|(place, accesses)| format!("{place}: {}", accesses.word())));
        write!(f, "memory({})", parts.join(", "))
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

    #[test]
    fn memory_is_said_by_place() {
        for (said, written) in [
            ("memory(none)", "memory(none)"),
            ("memory(argmem: read)", "memory(argmem: read)"),
            (
                "memory(write, argmem: none, inaccessiblemem: readwrite)",
                "memory(write, argmem: none, inaccessiblemem: readwrite)",
            ),
            ("memory(read);memory(argmem: readwrite)", "memory(argmem: read)"),
            ("readonly;argmemonly", "memory(argmem: read)"),
            ("memory(inaccessiblemem: readwrite);nounwind", "memory(inaccessiblemem: readwrite)"),
            // A place of a later LLVM.
            ("memory(none, errnomem: write)", "memory(write, argmem: none, inaccessiblemem: none)"),
        ] {
            let effects = MemoryEffects::of(said.split(';')).unwrap();
            assert_eq!(effects.to_string(), written, "{said}");
            assert!(effects.within(MemoryEffects::ALL) && MemoryEffects::NONE.within(effects), "{said}");
        }
        assert_eq!(MemoryEffects::of(["nounwind", "memory"]), None);
        let [read, arguments] = ["memory(read)", "memory(argmem: read)"].map(|said| MemoryEffects::of([said]).unwrap());
        assert!(arguments.within(read) && !read.within(arguments));
    }
}
