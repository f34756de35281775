//! Regions of memory: accesses of different ones reach nothing in common, unless no code writes there.
//!
//! An access reaches the object that its address was computed from. Objects of their own are stack slots, what a
//! `noalias` parameter or result points to, `byval` parameters, and global variables that the module defines. All other
//! pointers reach one more object, *the rest*. So do slots and `noalias` pointers that are captured, which others may have
//! come to know, and all global variables, as soon as anything of the rest is accessed. Objects that one address may be
//! computed from are one region; what an operation of a pack accesses is of the rest, and so is what it is given.
//!
//! What is not modelled accesses all regions: see [`super::super::effects`]. Without two regions that are accessed there is one, 0.
//! What differs in type only (`!tbaa`) is one region: see [`super::aliases`].

use super::Imported;
use crate::body::{Instruction, Operand, Shape};
use crate::captures::{captured, holes};
use crate::effects;
use crate::module::{Definition, File};
use rewright_cfg_skeleton::ir::objects::{ObjectId, Place};
use rewright_cfg_skeleton::ir::{self, InstKind, PayloadId, RegionId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// An object, or a pointer that was computed from others. Objects come first, and the rest before all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Pointer<'a> {
    Rest,
    Object(&'a str),
    Computed(&'a str),
}

impl<'a> Pointer<'a> {
    fn name(self) -> &'a str {
        match self {
            Pointer::Rest => "rest",
            Pointer::Object(name) | Pointer::Computed(name) => name,
        }
    }
}

/// Regions of a function, at most: a state of each is known at each place. Those behind it are of the rest.
const MOST: usize = 64;

/// Gives each access its region.
pub(super) fn assign(file: &File, definition: &Definition, imported: &mut Imported) {
    let body = &imported.body;
    let instructions = || body.blocks.iter().flat_map(|block| &block.instructions);
    let accesses: Vec<(usize, &Instruction)> = imported
        .function
        .insts
        .iter()
        .enumerate()
        .filter(|(_, inst)| matches!(inst.kind, InstKind::Op { access: Some(_), .. }))
        .filter_map(|(n, _)| Some((n, imported.payloads.sources[n].position()?)))
        .map(|(n, (block, at))| (n, &body.blocks[block].instructions[at]))
        .collect();
    if accesses.len() < 2 {
        return;
    }
    let made = instructions().filter_map(|i| Some((i.result.as_deref()?, i))).collect();
    let objects = Objects { file, definition, made };
    let mut classes = Classes::default();
    let (mut reached, mut pointers): (Vec<(usize, Pointer<'_>)>, Vec<Pointer<'_>>) = (vec![], vec![]);
    for (n, instruction) in &accesses {
        let (addresses, first): (Vec<&Operand>, _) = match &instruction.shape {
            Shape::Load(address, _) | Shape::Store(_, address, _) => (vec![address], objects.of(&address.text)),
            Shape::Call { args, .. } => (args.iter().collect(), Pointer::Rest),
            _ => (vec![], Pointer::Rest),
        };
        for address in addresses {
            let pointer = objects.of(&address.text);
            classes.join(first, pointer);
            pointers.push(pointer);
        }
        reached.push((*n, first));
    }
    let globals = objects.join_computed(&mut classes, pointers);
    let passed = |i| passed(file, i);
    for name in captured(&body.blocks, passed) {
        if objects.is_own(name) {
            classes.join(Pointer::Rest, Pointer::Object(name));
        }
    }
    let rest = classes.of(Pointer::Rest);
    if reached.iter().any(|(_, pointer)| classes.of(*pointer) == rest) {
        globals.into_iter().for_each(|global| classes.join(Pointer::Rest, global));
    }
    let found = number(&reached, &mut classes);
    for (name, accesses) in found {
        let region = RegionId(imported.function.regions.len() as u32);
        imported.function.regions.push(name);
        for n in accesses {
            if let InstKind::Op { access: Some(access), .. } = &mut imported.function.insts[n].kind {
                access.region = region;
            }
        }
    }
}

/// Names of regions with their accesses, where there are several: first the rest, then the others in order.
fn number<'a>(reached: &[(usize, Pointer<'a>)], classes: &mut Classes<'a>) -> Vec<(String, Vec<usize>)> {
    let rest = classes.of(Pointer::Rest);
    let mut regions: Vec<(Pointer<'a>, Vec<usize>)> = vec![(rest, vec![])];
    for (n, pointer) in reached {
        let class = classes.of(*pointer);
        match regions.iter().position(|(other, _)| *other == class) {
            Some(at) => regions[at].1.push(*n),
            None if regions.len() < MOST => regions.push((class, vec![*n])),
            None => regions[0].1.push(*n),
        }
    }
    regions.retain(|(_, accesses)| !accesses.is_empty());
    if regions.len() < 2 {
        return vec![];
    }
    regions.into_iter().map(|(class, accesses)| (class.name().to_string(), accesses)).collect()
}

/// Pointers that a call or a return lets others know. Nothing is executed behind a return.
fn passed<'b>(file: &File, i: &'b Instruction) -> Vec<&'b str> {
    let Shape::Call { callee, args, promises, bundles: false, .. } = &i.shape else {
        return if matches!(i.shape, Shape::Return(_)) { vec![] } else { holes(i).collect() };
    };
    let declared = callee.as_ref().and_then(|callee| file.declarations.get(callee));
    let keeps_none = |n: usize| {
        let at_call = promises.get(n).map_or(&[][..], Vec::as_slice);
        let declared = declared.and_then(|d| d.parameters.get(n)).map_or(&[][..], |p| &p.attributes);
        at_call.iter().chain(declared).any(|word| word == "nocapture" || word == "captures(none)")
    };
    let told: BTreeSet<&str> =
        args.iter().enumerate().filter(|(n, _)| keeps_none(*n)).map(|(_, arg)| arg.text.as_str()).collect();
    let kept = args.iter().enumerate().filter(|(n, _)| !keeps_none(*n)).map(|(_, arg)| arg.text.as_str());
    // The pointer that is called, say.
    let others = holes(i).filter(|hole| !told.contains(hole));
    kept.chain(others).collect()
}

fn is_noalias(attributes: &[String]) -> bool {
    attributes.iter().any(|word| word == "noalias")
}

/// Notes what an opaque instruction has to do with objects that begin in the function.
pub(super) fn note_object(
    file: &File,
    instruction: &Instruction,
    payload: PayloadId,
    objects: &mut ir::objects::Objects,
) {
    if begins_object(file, instruction) {
        let object = ObjectId::Numbered(payload.0);
        objects.set_place(payload, Place { object, offset: 0, size: None });
    }
    if matches!(instruction.shape, Shape::Offset { .. }) {
        objects.set_step(payload);
    }
    if bounds_object(file, instruction) {
        objects.set_bound(payload);
    }
}

/// Does an instruction give the address of an object that begins with it?
fn begins_object(file: &File, instruction: &Instruction) -> bool {
    match &instruction.shape {
        Shape::Alloca(_) => true,
        Shape::Call { callee, .. } => {
            let declared = callee.as_ref().and_then(|callee| file.declarations.get(callee));
            is_noalias(&instruction.flags) || declared.is_some_and(|declared| is_noalias(&declared.before))
        }
        _ => false,
    }
}

/// Does an instruction only begin or end the lifetime of objects that it is given?
fn bounds_object(file: &File, instruction: &Instruction) -> bool {
    let Shape::Call { callee: Some(callee), args, attributes, bundles: false, .. } = &instruction.shape else {
        return false;
    };
    let frees = |word: &String| word == "allockind(\"free\")";
    callee.starts_with("@llvm.lifetime.")
        || args.len() == 1 && effects::attributes(file, Some(callee), attributes).iter().flatten().any(frees)
}

/// Where pointers come from.
struct Objects<'a> {
    file: &'a File,
    definition: &'a Definition,
    made: FxHashMap<&'a str, &'a Instruction>,
}

impl<'a> Objects<'a> {
    /// The pointer that an operand is.
    fn of(&self, text: &'a str) -> Pointer<'a> {
        match self.made.get(text) {
            _ if self.is_own(text) => Pointer::Object(text),
            Some(i) if self.operands(i).is_some() => Pointer::Computed(text),
            Some(_) => Pointer::Rest,
            None => self.global(text).map_or(Pointer::Rest, Pointer::Object),
        }
    }

    /// The pointers that one is computed from; `None` where it may lead anywhere.
    fn operands(&self, i: &'a Instruction) -> Option<Vec<&'a str>> {
        match &i.shape {
            Shape::Offset { base, .. } => Some(vec![&base.text]),
            Shape::Phi(values) => Some(values.iter().map(|(value, _)| value.text.as_str()).collect()),
            Shape::Plain(operands) if i.opcode == "select" => {
                Some(operands.iter().skip(1).map(|operand| operand.text.as_str()).collect())
            }
            Shape::Plain(operands) if i.opcode == "bitcast" => {
                Some(operands.iter().map(|operand| operand.text.as_str()).collect())
            }
            _ => None,
        }
    }

    /// Joins pointers with those that they are computed from. Gives the global variables among them all.
    fn join_computed(&self, classes: &mut Classes<'a>, pointers: Vec<Pointer<'a>>) -> BTreeSet<Pointer<'a>> {
        let (mut globals, mut seen, mut todo) = (BTreeSet::new(), FxHashSet::default(), pointers);
        while let Some(pointer) = todo.pop() {
            if !seen.insert(pointer) {
                continue;
            }
            match pointer {
                Pointer::Object(name) if name.starts_with('@') => drop(globals.insert(pointer)),
                Pointer::Computed(name) => {
                    for operand in self.operands(self.made[name]).into_iter().flatten() {
                        let from = self.of(operand);
                        classes.join(pointer, from);
                        todo.push(from);
                    }
                }
                Pointer::Object(_) | Pointer::Rest => {}
            }
        }
        globals
    }

    /// Is it a pointer to an object of its own?
    fn is_own(&self, name: &str) -> bool {
        if let Some(made) = self.made.get(name) {
            return begins_object(self.file, made);
        }
        let parameter = self.definition.parameters.iter().find(|parameter| parameter.name == name);
        parameter
            .is_some_and(|p| is_noalias(&p.attributes) || p.attributes.iter().any(|word| word.starts_with("byval(")))
    }

    /// The global variable that a constant points into, if it points into one.
    fn global(&self, text: &'a str) -> Option<&'a str> {
        let name = match text.strip_prefix("getelementptr") {
            Some(_) => {
                text.split(", ").find_map(|part| part.strip_prefix("ptr ").filter(|name| name.starts_with('@')))?
            }
            None => text,
        };
        let is_one = text.matches('@').count() == 1 && self.file.variables.contains(name);
        is_one.then_some(name)
    }
}

/// Sets of pointers that are accessed as one region.
#[derive(Default)]
struct Classes<'a> {
    parents: FxHashMap<Pointer<'a>, Pointer<'a>>,
}

impl<'a> Classes<'a> {
    fn of(&mut self, pointer: Pointer<'a>) -> Pointer<'a> {
        let mut class = pointer;
        while let Some(parent) = self.parents.get(&class) {
            class = *parent;
        }
        let mut here = pointer;
        while here != class {
            here = self.parents.insert(here, class).unwrap_or(class);
        }
        class
    }

    /// The first of all stands for a set.
    fn join(&mut self, one: Pointer<'a>, other: Pointer<'a>) {
        let (one, other) = (self.of(one), self.of(other));
        if one != other {
            self.parents.insert(one.max(other), one.min(other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Types, import};
    use super::*;
    use crate::module::read;
    use crate::names::Names;
    use crate::sample;

    /// Names of the regions of all accesses of `@f`, in order.
    fn regions(parameters: &str, body: &str) -> Vec<String> {
        let mut universe = sample::universe();
        let names = Names::new(&mut universe);
        let file = read(format!(
            "target datalayout = \"e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
             @a = internal global [100 x i64] zeroinitializer\n@b = global i64 0, align 8\n\
             @other = external global i64\n@same = alias i64, ptr @b\n@weak = weak global i64 0\n\
             declare noalias ptr @fresh(i64)\ndeclare void @look(ptr nocapture)\ndeclare void @keep(ptr)\n\
             define void @f({parameters}) {{\n{body}  ret void\n}}\n"
        ))
        .unwrap();
        let imported = import(&file, &file.functions[0], &names, &mut Types::new(&names, &universe)).unwrap();
        let accesses = imported.function.insts.iter().filter_map(|inst| match inst.kind {
            InstKind::Op { access, .. } => access,
            _ => None,
        });
        accesses.map(|access| imported.function.regions[access.region.index()].clone()).collect()
    }

    /// A store to each of some pointers.
    fn stores(pointers: &[&str]) -> String {
        pointers.iter().map(|p| format!("  store i64 1, ptr {p}, align 8\n")).collect()
    }

    #[test]
    fn objects_that_nobody_else_knows_are_regions() {
        let two = stores(&["%p", "%q"]);
        assert_eq!(regions("ptr noalias %p, ptr %q", &two), ["%p", "rest"]);
        assert_eq!(regions("ptr byval(i64) %p, ptr %q", &two), ["%p", "rest"]);
        assert_eq!(regions("ptr %q", &format!("  %p = alloca i64\n{two}")), ["%p", "rest"]);
        assert_eq!(regions("ptr %q", &format!("  %p = call ptr @fresh(i64 8)\n{two}")), ["%p", "rest"]);
        assert_eq!(regions("ptr noalias %p, ptr noalias %q", &two), ["%p", "%q"]);
        let looked = format!("  %p = alloca i64\n{two}  call void @look(ptr %p)\n");
        assert_eq!(regions("ptr %q", &looked), ["%p", "rest"]);
    }

    #[test]
    fn one_region_has_no_name() {
        assert_eq!(regions("ptr %p, ptr %q", &stores(&["%p", "%q"])), ["any", "any"]);
        let whole = "  %s = getelementptr i64, ptr %p, i64 %i\n";
        assert_eq!(regions("ptr noalias %p, i64 %i", &format!("{whole}{}", stores(&["%p", "%s"]))), ["any", "any"]);
    }

    #[test]
    fn what_is_captured_is_of_the_rest() {
        let two = stores(&["%p", "%q"]);
        for captures in [
            "  store ptr %p, ptr %q\n",
            "  %s = getelementptr i64, ptr %p, i64 1\n  store ptr %s, ptr %q\n",
            "  %s = select i1 %c, ptr %p, ptr %q\n  store ptr %s, ptr %q\n",
            "  %n = ptrtoint ptr %p to i64\n",
            "  call void @keep(ptr %p)\n",
            "  %s = freeze ptr %p\n",
            "  call void %p()\n",
            "  call void @look(ptr %p) [ \"bundle\"(i64 0) ]\n",
        ] {
            let found = regions("ptr noalias %p, ptr %q, i1 %c", &format!("{captures}{two}"));
            assert!(found.iter().all(|region| region == "any"), "{captures}: {found:?}");
        }
    }

    #[test]
    fn one_address_is_one_region() {
        let either = "  %s = select i1 %c, ptr %p, ptr %q\n";
        let found = regions(
            "ptr noalias %p, ptr noalias %q, ptr noalias %r, i1 %c",
            &format!("{either}{}", stores(&["%p", "%q", "%s", "%r"])),
        );
        assert_eq!(found, ["%p", "%p", "%p", "%r"]);
        // Pointers that a loop carries.
        let around = "  br label %l\nl:\n  %s = phi ptr [ %p, %0 ], [ %t, %l ]\n  store i64 1, ptr %s, align 8\n\
                      \x20 store i64 1, ptr %q, align 8\n  %t = getelementptr i64, ptr %s, i64 1\n\
                      \x20 br i1 %c, label %l, label %e\ne:\n";
        assert_eq!(regions("ptr noalias %p, ptr %q, i1 %c", around), ["%p", "rest"]);
    }

    #[test]
    fn global_variables_are_regions_while_no_other_pointer_is_accessed() {
        let element = "  %s = getelementptr [100 x i64], ptr @a, i64 0, i64 %i\n";
        assert_eq!(regions("i64 %i", &format!("{element}{}", stores(&["%s", "@b"]))), ["@a", "@b"]);
        let further = "getelementptr inbounds (i8, ptr @a, i64 8)";
        assert_eq!(regions("", &stores(&["@b", further])), ["@b", "@a"]);
        for other in ["%q", "@other", "@same", "@weak", "inttoptr (i64 64 to ptr)"] {
            let found = regions("ptr %q", &stores(&["@a", "@b", other]));
            assert!(found.iter().all(|region| region == "any"), "{other}: {found:?}");
        }
        let found = regions("ptr noalias %p, ptr %q", &stores(&["@a", "%p", "@b", "%q"]));
        assert_eq!(found, ["rest", "%p", "rest", "rest"]);
    }

    #[test]
    fn regions_are_bounded() {
        let names: Vec<String> = (0..MOST + 24).map(|n| format!("%p{n}")).collect();
        let parameters: Vec<String> = names.iter().map(|name| format!("ptr noalias {name}")).collect();
        let pointers: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = regions(&parameters.join(", "), &stores(&pointers));
        assert_eq!(found.iter().filter(|region| *region == "rest").count(), 25);
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), MOST);
    }
}
