//! What can be seen of a body without running it: which promises of its function it keeps.

use super::annotations::{has, parts};
use super::modules::Version;
use rewright_llvm::body::{Body, Instruction, Operand, Shape};
use rewright_llvm::effects;
use rustc_hash::FxHashMap;

/// A version whose body is looked at.
pub(super) struct Promises<'a> {
    version: Version<'a>,
    body: &'a Body,
    made: FxHashMap<&'a str, &'a Instruction>,
}

/// Memory that an access may be to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessedMemory {
    /// A stack slot of its own.
    Slot,
    /// What an argument points to.
    Argument,
    /// A constant: nobody can tell when it is read.
    Constant,
    Anywhere,
}

impl<'a> Promises<'a> {
    pub(super) fn new(version: Version<'a>, body: &'a Body) -> Self {
        let all = body.blocks.iter().flat_map(|b| &b.instructions);
        Promises { version, body, made: all.filter_map(|i| Some((i.result.as_deref()?, i))).collect() }
    }

    /// Does it keep a promise? What is not seen is no.
    pub(super) fn hold(&self, annotation: &str) -> bool {
        let mut all = self.body.blocks.iter().flat_map(|b| &b.instructions);
        let (name, argument) = parts(annotation);
        match name {
            "nofree" | "nosync" | "nounwind" | "norecurse" | "nocallback" => {
                all.all(|i| is_local(i) || self.keeps(i, name))
            }
            "willreturn" | "mustprogress" => self.ends() && all.all(|i| is_local(i) || self.keeps(i, "willreturn")),
            "memory" => {
                Allowed::new(argument).is_some_and(|allowed| all.all(|i| is_local(i) || self.stays_in(i, allowed)))
            }
            _ => false,
        }
    }

    /// Does it do no more with what a parameter points to than it promises? What else is done with the pointer, or with
    /// one that is computed from it, is no.
    pub(super) fn hold_of_parameter(&self, parameter: &str, annotation: &str) -> bool {
        let (reads, writes) = match annotation {
            "nocapture" | "captures(none)" => (true, true),
            "readonly" => (true, false),
            "writeonly" => (false, true),
            "readnone" => (false, false),
            _ => return false,
        };
        let mut pointers = vec![parameter];
        let mut at = 0;
        while let Some(pointer) = pointers.get(at).copied() {
            at += 1;
            for i in self.body.blocks.iter().flat_map(|b| &b.instructions) {
                if !i.template.holes.iter().any(|hole| hole == pointer) {
                    continue;
                }
                let is = |operand: &Operand| operand.text == pointer;
                match &i.shape {
                    Shape::Load(_, access) if reads && access.plain => {}
                    Shape::Store(value, _, access) if writes && access.plain && !is(value) => {}
                    Shape::Offset { indices, .. } if !indices.iter().any(is) => {
                        pointers.extend(i.result.as_deref().filter(|name| !pointers.contains(name)));
                    }
                    Shape::Phi(_) => pointers.extend(i.result.as_deref().filter(|name| !pointers.contains(name))),
                    _ => return false,
                }
            }
        }
        true
    }

    /// Does a call keep a promise that its function makes? A load or store does, unless others see it happen.
    fn keeps(&self, i: &Instruction, name: &str) -> bool {
        match &i.shape {
            Shape::Call { callee: Some(callee), attributes, bundles: false, .. } => {
                let said = effects::attributes(self.version.file(), Some(callee), attributes);
                let intrinsic = callee.starts_with("@llvm.");
                said.iter().any(|list| has(list, name) || (name == "norecurse" && intrinsic && has(list, "nocallback")))
            }
            Shape::Load(_, access) | Shape::Store(_, _, access) => access.plain,
            _ => false,
        }
    }

    /// Does it access what it is allowed to?
    fn stays_in(&self, i: &Instruction, allowed: Allowed) -> bool {
        match &i.shape {
            Shape::Load(from, access) => access.plain && allowed.at(self.place(from)).0,
            Shape::Store(_, to, access) => access.plain && allowed.at(self.place(to)).1,
            Shape::Call { callee: Some(callee), attributes, bundles: false, .. } => {
                let said = effects::attributes(self.version.file(), Some(callee), attributes).concat();
                let says = |wanted: &str| said.iter().any(|a| a == wanted);
                says("memory(none)") || (says("memory(read)") && allowed.reads_all())
            }
            _ => false,
        }
    }

    /// Where a pointer points, as far as sums show.
    fn place(&self, pointer: &Operand) -> AccessedMemory {
        let mut name = pointer.text.as_str();
        // Code that nothing reaches may have sums of each other.
        for _ in 0..self.made.len() + 1 {
            if self.version.definition.parameters.iter().any(|p| p.name == name) {
                return AccessedMemory::Argument;
            }
            if self.version.module.variable(name).is_some_and(|(global, _)| global.constant) {
                return AccessedMemory::Constant;
            }
            match self.made.get(name).map(|i| &i.shape) {
                Some(Shape::Offset { base, .. }) => name = &base.text,
                Some(Shape::Alloca(_)) => return AccessedMemory::Slot,
                _ => return AccessedMemory::Anywhere,
            }
        }
        AccessedMemory::Anywhere
    }

    /// No block leads back to an earlier one in the text: LLVM prints what it can that way, and so nothing runs for
    /// ever.
    fn ends(&self) -> bool {
        let blocks = &self.body.blocks;
        let position = |label: &String| blocks.iter().position(|b| b.label == *label);
        let mut edges = blocks.iter().enumerate().flat_map(|(at, b)| b.targets().into_iter().map(move |to| (at, to)));
        edges.all(|(at, to)| position(to).is_some_and(|to| to > at))
    }
}

/// What `memory(...)` allows: reads and writes, of what arguments point to and of all else.
#[derive(Clone, Copy)]
struct Allowed {
    argument: (bool, bool),
    elsewhere: (bool, bool),
}

impl Allowed {
    fn new(text: &str) -> Option<Allowed> {
        let access = |word: &str| match word {
            "none" => Some((false, false)),
            "read" => Some((true, false)),
            "write" => Some((false, true)),
            "readwrite" => Some((true, true)),
            _ => None,
        };
        let mut allowed = Allowed { argument: (false, false), elsewhere: (false, false) };
        for part in text.split(',').map(str::trim) {
            match part.split_once(':') {
                None => allowed = Allowed { argument: access(part)?, elsewhere: access(part)? },
                Some(("argmem", word)) => allowed.argument = access(word.trim())?,
                // A function that can be seen accesses nothing that cannot.
                Some(_) => {}
            }
        }
        Some(allowed)
    }

    fn at(self, place: AccessedMemory) -> (bool, bool) {
        match place {
            AccessedMemory::Slot => (true, true),
            AccessedMemory::Constant => (true, false),
            AccessedMemory::Argument => self.argument,
            AccessedMemory::Anywhere => (self.argument.0 && self.elsewhere.0, self.argument.1 && self.elsewhere.1),
        }
    }

    fn reads_all(self) -> bool {
        self.argument.0 && self.elsewhere.0
    }
}

/// Does it concern nobody but the function?
fn is_local(i: &Instruction) -> bool {
    !matches!(i.shape, Shape::Load(..) | Shape::Store(..) | Shape::Call { .. } | Shape::Other)
}

#[cfg(test)]
mod tests {
    use super::super::modules::Module;
    use super::*;
    use rewright_llvm::body;
    use rewright_llvm::module::read;

    #[test]
    fn a_body_keeps_what_it_promises_of_a_parameter() {
        let step = "%q = getelementptr i8, ptr %p, i64 4";
        for (code, kept) in [
            ("%v = load i32, ptr %p", vec!["nocapture", "captures(none)", "readonly"]),
            ("store i32 7, ptr %p", vec!["nocapture", "captures(none)", "writeonly"]),
            ("", vec!["nocapture", "captures(none)", "readonly", "writeonly", "readnone"]),
            (&format!("{step}\nstore i32 7, ptr %q"), vec!["nocapture", "captures(none)", "writeonly"]),
            // It gets out.
            ("store ptr %p, ptr %o", vec![]),
            (&format!("{step}\nstore ptr %q, ptr %o"), vec![]),
            ("%n = ptrtoint ptr %p to i64", vec![]),
            ("%c = icmp eq ptr %p, %o", vec![]),
            ("call void @h(ptr %p)", vec![]),
            ("%v = load volatile i32, ptr %p", vec![]),
        ] {
            let text = format!("declare void @h(ptr)\ndefine void @f(ptr %p, ptr %o) {{\n{code}\nret void\n}}\n");
            let file = read(text).unwrap();
            let module = Module::new(&file);
            let version = Version { module: &module, definition: &file.functions[0] };
            let body = body::read(&file, version.definition).unwrap();
            let promises = Promises::new(version, &body);
            for annotation in ["nocapture", "captures(none)", "readonly", "writeonly", "readnone", "noalias"] {
                let is_kept = kept.contains(&annotation);
                assert_eq!(promises.hold_of_parameter("%p", annotation), is_kept, "{code}: {annotation}");
            }
        }
    }
}
