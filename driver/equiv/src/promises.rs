//! What can be seen of a body without running it: which promises of its function it keeps.

use super::annotations::{has, parts};
use super::literals;
use super::memory_blocks::{BlockOperation, MemoryBlock};
use super::modules::Version;
use rewright_llvm::body::{Body, Instruction, Operand, Shape};
use rewright_llvm::captures::captured;
use rewright_llvm::effects::{self, Accesses, MemoryEffects};
use rewright_llvm::types::Type;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A version whose body is looked at.
pub(super) struct Promises<'a> {
    version: Version<'a>,
    body: &'a Body,
    made: FxHashMap<&'a str, &'a Instruction>,
    /// Functions that are known to return, beside those that are said to.
    returning: Option<&'a BTreeSet<String>>,
}

/// Memory that an access may be to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessedMemory {
    /// A stack slot of its own.
    Slot,
    /// What an argument points to.
    Argument,
    /// A constant: a read of it is not observable.
    Constant,
    /// A global variable, or what a call has allocated.
    Object,
    Anywhere,
}

impl<'a> Promises<'a> {
    pub(super) fn new(version: Version<'a>, body: &'a Body) -> Self {
        let all = body.blocks.iter().flat_map(|b| &b.instructions);
        let made = all.filter_map(|i| Some((i.result.as_deref()?, i))).collect();
        Promises { version, body, made, returning: None }
    }

    /// The same, where some functions are known to return.
    pub(super) fn knowing(self, returning: &'a BTreeSet<String>) -> Self {
        Promises { returning: Some(returning), ..self }
    }

    /// Does it keep a promise? If it is not seen to, the answer is no.
    pub(super) fn hold(&self, annotation: &str) -> bool {
        let mut all = self.body.blocks.iter().flat_map(|b| &b.instructions);
        let (name, argument) = parts(annotation);
        match name {
            "nofree" | "nosync" | "nounwind" | "nocallback" => all.all(|i| is_local(i) || self.keeps(i, name)),
            "norecurse" => !self.version.module.may_recur(&self.version.definition.name),
            "willreturn" | "mustprogress" => self.ends() && all.all(|i| is_local(i) || self.keeps(i, "willreturn")),
            "memory" => {
                let (allowed, known) = MemoryEffects::parse(argument);
                known && all.all(|i| is_local(i) || self.stays_in(i, allowed))
            }
            _ => false,
        }
    }

    /// Does it do no more with what a parameter points to than it promises? If anything else is done with the pointer,
    /// or with one that is computed from it, the answer is no. To compare or return a pointer is no access.
    pub(super) fn hold_of_parameter(&self, parameter: &str, annotation: &str) -> bool {
        if annotation == "returned" {
            return self.returned().all(|value| value.text == parameter);
        }
        let (reads, writes, stays) = match annotation {
            "nocapture" | "captures(none)" => (true, true, true),
            "readonly" => (true, false, false),
            "writeonly" => (false, true, false),
            "readnone" => (false, false, false),
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
                    Shape::Plain(_) if ["select", "freeze"].contains(&i.opcode.as_str()) => {
                        pointers.extend(i.result.as_deref().filter(|name| !pointers.contains(name)));
                    }
                    Shape::Plain(_) if !stays && i.opcode.starts_with("icmp") => {}
                    Shape::Return(_) if !stays => {}
                    Shape::Call { args, .. }
                        if is_only_passed(i, args, pointer)
                            && args.iter().enumerate().all(|(n, arg)| !is(arg) || self.takes(i, n, reads, writes)) => {}
                    _ => return false,
                }
            }
        }
        true
    }

    /// Are all accesses of the body seen to be ones that the function and its parameters allow? Calls apart, and what others
    /// may notice: both versions make the same ones.
    pub(super) fn accesses_are_allowed(&self) -> bool {
        let definition = self.version.definition;
        let allowed = MemoryEffects::of(definition.attributes.iter().map(String::as_str));
        let restricted: Vec<(&str, Accesses)> = definition
            .parameters
            .iter()
            .filter_map(|parameter| Some((parameter.name.as_str(), allowed_at(&parameter.attributes)?)))
            .collect();
        if allowed.is_none() && restricted.is_empty() {
            return true;
        }
        let allowed = allowed.unwrap_or(MemoryEffects::ALL);
        let captured = captured(&self.body.blocks, |i| self.passed(i));
        let is_allowed = |pointer: &Operand, accesses: Accesses| {
            let forbids = |root: &str| {
                let is_unknown = self.place(root) == AccessedMemory::Anywhere;
                restricted.iter().any(|(name, of_parameter)| {
                    !accesses.within(*of_parameter) && (root == *name || is_unknown && captured.contains(name))
                })
            };
            self.is_allowed(pointer, accesses, allowed) && !self.roots(&pointer.text).into_iter().any(forbids)
        };
        self.body.blocks.iter().flat_map(|block| &block.instructions).all(|i| match (&i.shape, MemoryBlock::of(i)) {
            (Shape::Load(from, access), _) => !access.plain || is_allowed(from, READS),
            (Shape::Store(_, to, access), _) => !access.plain || is_allowed(to, WRITES),
            (_, Some(block)) => {
                is_allowed(block.to, WRITES)
                    && (block.operation == BlockOperation::Set || is_allowed(block.from, READS))
            }
            _ => true,
        })
    }

    /// Arguments of a call that others may come to know by it.
    fn passed(&self, i: &'a Instruction) -> Vec<&'a str> {
        let Shape::Call { args, .. } = &i.shape else { return vec![] };
        let captures = args.iter().enumerate().filter(|(n, _)| !self.is_said_of_argument(i, *n, is_no_capture));
        captures.map(|(_, arg)| arg.text.as_str()).collect()
    }

    /// Does a call keep a promise that its function makes? A load or store does, unless others see it happen.
    fn keeps(&self, i: &Instruction, name: &str) -> bool {
        match &i.shape {
            // Facts about values in bundles are no effect.
            Shape::Call { callee: Some(callee), .. } if callee == "@llvm.assume" => true,
            Shape::Call { callee: Some(callee), attributes, bundles: false, .. } => {
                let said = effects::attributes(self.version.file(), Some(callee), attributes);
                let also = match name {
                    // One that is not volatile; its declaration is that of all.
                    "nosync" => MemoryBlock::of(i).is_some(),
                    "willreturn" => self.returning.is_some_and(|returning| returning.contains(callee)),
                    // A function with a body somewhere is perhaps of the module that called this function.
                    "nocallback" if !callee.starts_with("@llvm.") => return false,
                    _ => false,
                };
                also || said.iter().any(|list| has(list, name))
            }
            Shape::Load(_, access) | Shape::Store(_, _, access) => access.plain,
            _ => false,
        }
    }

    /// Does what is given point to nothing that other code knows? It is null, or what a call has allocated.
    pub(super) fn hold_of_result(&self, annotation: &str) -> bool {
        if annotation != "noalias" {
            return false;
        }
        let captured = captured(&self.body.blocks, |i| self.passed(i));
        self.returned().all(|value| {
            let fresh = |name: &str| self.made.get(name).is_some_and(|i| self.allocates(i)) && !captured.contains(name);
            self.roots(&value.text).into_iter().all(|name| name == "null" || fresh(name))
        })
    }

    /// The values that it gives.
    fn returned(&self) -> impl Iterator<Item = &'a Operand> {
        let all = self.body.blocks.iter().flat_map(|block| &block.instructions);
        all.filter_map(|i| match &i.shape {
            Shape::Return(value) => value.as_ref(),
            _ => None,
        })
    }

    /// Does a call give memory that nothing else points to?
    fn allocates(&self, i: &Instruction) -> bool {
        let Shape::Call { callee: Some(callee), .. } = &i.shape else { return false };
        let declared = self.version.module.function(callee).map_or(&[][..], |declared| &declared.before);
        i.flags.iter().chain(declared).any(|attribute| attribute == "noalias")
    }

    /// Does a call do no more with what an argument points to than read or write it, if that is allowed?
    fn takes(&self, i: &Instruction, n: usize, reads: bool, writes: bool) -> bool {
        let Shape::Call { callee: Some(callee), attributes, in_memory, bundles: false, .. } = &i.shape else {
            return false;
        };
        let said = effects::attributes(self.version.file(), Some(callee), attributes).concat();
        let done = MemoryEffects::of(said.iter().map(String::as_str)).unwrap_or(MemoryEffects::ALL).arguments;
        let says = |word: &str| self.is_said_of_argument(i, n, |attribute| attribute == word);
        let is_read = done.reads && !says("writeonly") && !says("readnone");
        let is_written = done.writes && !says("readonly") && !says("readnone");
        in_memory.is_empty()
            && self.is_said_of_argument(i, n, is_no_capture)
            && (reads || !is_read)
            && (writes || !is_written)
    }

    /// Is something said of an argument, by the call or by its function?
    fn is_said_of_argument(&self, i: &Instruction, n: usize, said: impl Fn(&str) -> bool) -> bool {
        let Shape::Call { callee, promises, .. } = &i.shape else { return false };
        let declared = callee.as_ref().and_then(|callee| self.version.module.function(callee));
        let declared = declared.and_then(|declared| declared.parameters.get(n)).map(|parameter| &parameter.attributes);
        promises.get(n).into_iter().chain(declared).flatten().any(|attribute| said(attribute))
    }

    /// Does it access what it is allowed to?
    fn stays_in(&self, i: &Instruction, allowed: MemoryEffects) -> bool {
        match &i.shape {
            Shape::Load(from, access) => access.plain && self.is_allowed(from, READS, allowed),
            Shape::Store(_, to, access) => access.plain && self.is_allowed(to, WRITES, allowed),
            Shape::Call { callee: Some(callee), attributes, args, in_memory, bundles: false, .. }
                if in_memory.is_empty() =>
            {
                let said = effects::attributes(self.version.file(), Some(callee), attributes).concat();
                let Some(done) = MemoryEffects::of(said.iter().map(String::as_str)) else { return false };
                let pointers = || args.iter().filter(|arg| matches!(arg.ty, Type::Ptr));
                let others = args.iter().all(|arg| matches!(arg.ty, Type::Ptr | Type::Int(_) | Type::Word(_)));
                done.inaccessible.within(allowed.inaccessible)
                    && done.others.within(allowed.others.and(allowed.arguments))
                    && (done.arguments == NOTHING
                        || others && pointers().all(|pointer| self.is_allowed(pointer, done.arguments, allowed)))
            }
            _ => false,
        }
    }

    /// May what a pointer points to be accessed like this?
    fn is_allowed(&self, pointer: &Operand, accesses: Accesses, allowed: MemoryEffects) -> bool {
        self.roots(&pointer.text).into_iter().all(|name| match self.place(name) {
            AccessedMemory::Slot => true,
            AccessedMemory::Constant => !accesses.writes,
            AccessedMemory::Argument => accesses.within(allowed.arguments),
            AccessedMemory::Object => accesses.within(allowed.others),
            AccessedMemory::Anywhere => accesses.within(allowed.arguments.and(allowed.others)),
        })
    }

    /// What a pointer is computed from by sums and choices.
    pub(super) fn roots<'n>(&'n self, pointer: &'n str) -> Vec<&'n str> {
        let (mut found, mut seen) = (vec![], vec![pointer]);
        let mut at = 0;
        while let Some(name) = seen.get(at).copied() {
            at += 1;
            let from: Vec<&str> = match self.made.get(name) {
                Some(i) => match &i.shape {
                    Shape::Offset { base, .. } => vec![&base.text],
                    Shape::Phi(values) => values.iter().map(|(value, _)| value.text.as_str()).collect(),
                    Shape::Plain(operands) if i.opcode == "select" => {
                        operands.iter().skip(1).map(|value| value.text.as_str()).collect()
                    }
                    _ => vec![],
                },
                None => literals::base(name, &self.version.file().named).into_iter().collect(),
            };
            if from.is_empty() {
                found.push(name);
            }
            for name in from {
                if !seen.contains(&name) {
                    seen.push(name);
                }
            }
        }
        found
    }

    /// What a pointer that is not computed from others points to.
    fn place(&self, name: &str) -> AccessedMemory {
        if self.version.definition.parameters.iter().any(|p| p.name == name) {
            return AccessedMemory::Argument;
        }
        if let Some((global, _)) = self.version.module.variable(name) {
            return if global.constant { AccessedMemory::Constant } else { AccessedMemory::Object };
        }
        match self.made.get(name) {
            Some(i) if matches!(i.shape, Shape::Alloca(_)) => AccessedMemory::Slot,
            Some(i) if self.allocates(i) => AccessedMemory::Object,
            _ => AccessedMemory::Anywhere,
        }
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

const NOTHING: Accesses = Accesses { reads: false, writes: false };
const READS: Accesses = Accesses { reads: true, writes: false };
const WRITES: Accesses = Accesses { reads: false, writes: true };

/// The accesses through a parameter that its attributes allow, where they restrict them.
fn allowed_at(attributes: &[String]) -> Option<Accesses> {
    let said = attributes.iter().filter_map(|attribute| match attribute.as_str() {
        "readonly" => Some(READS),
        "writeonly" => Some(WRITES),
        "readnone" => Some(NOTHING),
        _ => None,
    });
    said.reduce(Accesses::and)
}

fn is_no_capture(attribute: &str) -> bool {
    matches!(attribute, "nocapture" | "captures(none)")
}

/// Is a value nothing but an argument of a call: not what is called, and in no bundle?
fn is_only_passed(i: &Instruction, args: &[Operand], value: &str) -> bool {
    let uses = i.template.holes.iter().filter(|hole| *hole == value).count();
    uses == args.iter().filter(|arg| arg.text == value).count()
}

/// Is it certain that it accesses no memory and calls no function?
fn is_local(i: &Instruction) -> bool {
    !matches!(i.shape, Shape::Load(..) | Shape::Store(..) | Shape::Call { .. } | Shape::Atomic(..) | Shape::Other)
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
            (
                "%s = select i1 true, ptr %p, ptr %o\nstore i32 7, ptr %s",
                vec!["nocapture", "captures(none)", "writeonly"],
            ),
            // The address is captured, and nothing is accessed.
            ("%c = icmp eq ptr %p, %o", vec!["readonly", "writeonly", "readnone"]),
            // It gets out.
            ("store ptr %p, ptr %o", vec![]),
            (&format!("{step}\nstore ptr %q, ptr %o"), vec![]),
            ("%n = ptrtoint ptr %p to i64", vec![]),
            ("call void @h(ptr %p)", vec![]),
            ("call void %p()", vec![]),
            ("call void @n() [ \"deopt\"(ptr %p) ]", vec![]),
            ("%v = load volatile i32, ptr %p", vec![]),
        ] {
            let text = format!(
                "declare void @h(ptr)\ndeclare void @n()\ndefine void @f(ptr %p, ptr %o) {{\n{code}\nret void\n}}\n"
            );
            let file = read(text).unwrap();
            let module = Module::new(&file, &file);
            let version = Version { module: &module, definition: &file.functions[0] };
            let body = body::read(&file, version.definition).unwrap();
            let promises = Promises::new(version, &body);
            for annotation in ["nocapture", "captures(none)", "readonly", "writeonly", "readnone", "noalias"] {
                let is_kept = kept.contains(&annotation);
                assert_eq!(promises.hold_of_parameter("%p", annotation), is_kept, "{code}: {annotation}");
            }
        }
    }

    #[test]
    fn accesses_are_held_against_what_is_promised() {
        let reads = "%x = load i32, ptr %p";
        for (attributes, parameters, code, expected) in [
            ("", "ptr %p", reads, true),
            ("memory(argmem: read)", "ptr %p", reads, true),
            ("memory(none)", "ptr %p", reads, false),
            ("readnone", "ptr %p", reads, false),
            ("memory(write)", "ptr %p", reads, false),
            ("memory(argmem: read)", "ptr %p", "%x = load i32, ptr @g", false),
            ("memory(argmem: read)", "ptr %p", "%x = load i32, ptr @c", true),
            ("memory(none)", "ptr %p", "%s = alloca i32\nstore i32 1, ptr %s", true),
            (
                "memory(write, argmem: none)",
                "ptr %p",
                "store i32 1, ptr getelementptr inbounds (i8, ptr @g, i64 4)",
                true,
            ),
            ("memory(argmem: write)", "ptr %p", "store i32 1, ptr getelementptr inbounds (i8, ptr @g, i64 4)", false),
            ("memory(read)", "ptr %p", "%q = load ptr, ptr %p\n%x = load i32, ptr %q", true),
            ("memory(argmem: read)", "ptr %p", "%q = load ptr, ptr %p\n%x = load i32, ptr %q", false),
            // Calls, and accesses that other code may notice, are not looked at.
            ("memory(none)", "ptr %p", "call void @h(ptr %p)\n%x = load volatile i32, ptr %p", true),
            ("", "ptr readonly %p", "%q = getelementptr i8, ptr %p, i64 4\nstore i32 1, ptr %q", false),
            ("", "ptr writeonly %p", reads, false),
            ("", "ptr writeonly %p, ptr %q", "%x = load i32, ptr %q", true),
            ("", "ptr readonly %p, ptr %q", "%r = load ptr, ptr %q\nstore i32 1, ptr %r", true),
            ("", "ptr readonly %p", "call void @h(ptr %p)\n%r = load ptr, ptr @g\nstore i32 1, ptr %r", false),
            (
                "",
                "ptr readonly %p, ptr writeonly %q",
                "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 4, i1 false)",
                false,
            ),
        ] {
            let text = format!(
                "@g = global ptr null\n@c = constant i32 5\ndeclare void @h(ptr)\n\
                 define void @f({parameters}) {attributes} {{\n{code}\nret void\n}}\n"
            );
            let file = read(text).unwrap();
            let module = Module::new(&file, &file);
            let version = Version { module: &module, definition: &file.functions[0] };
            let body = body::read(&file, version.definition).unwrap();
            let found = Promises::new(version, &body).accesses_are_allowed();
            assert_eq!(found, expected, "{attributes} ({parameters}): {code}");
        }
    }
}
