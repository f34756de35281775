//! Calls: of functions of the module, which run, and of others, which the input answers.
//!
//! Functions outside do what the input says, as far as their attributes allow. Where that may be noticed, the call is
//! an event, with its arguments and, if nothing limits what is accessed, the memory that the callee may look at.
//! LLVM may use what it knows of functions of the C library, so calls of these are not modelled.

use super::behaviour::Event;
use super::choice::{RefinementSide, Stop, unsupported};
use super::effects::is_harmless_of_function;
use super::float::Format;
use super::input::Answer;
use super::machine::{Frame, Machine};
use super::memory::Byte;
use super::value::{Atom, Doubt, Lane, Object, Pointer, Value, ones};
use crate::annotations::parts;
use crate::annotations::table::{AnnotationTarget, Runs, runs};
use crate::inputs::hash;
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::effects::{self, MemoryEffects};
use rewright_llvm::module::Definition;
use rewright_llvm::types::Type;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Functions of libraries of which LLVM knows what they do.
static LIBRARY: LazyLock<FxHashSet<&str>> = LazyLock::new(|| include_str!("library.txt").lines().collect());

/// How many calls a run may make that others notice.
const MOST_EVENTS: usize = 256;

/// Does LLVM know a function of this name?
pub(super) fn is_of_library(name: &str) -> bool {
    name.strip_prefix('@').is_some_and(|name| LIBRARY.contains(name))
}

/// A call whose arguments are there.
pub(super) struct Called<'t> {
    pub(super) callee: &'t str,
    pub(super) arguments: Vec<(Type, Value)>,
    /// Attributes of each argument at this call.
    pub(super) promises: &'t [Vec<String>],
    /// Attributes of the call, groups resolved.
    pub(super) attributes: Vec<String>,
}

impl<'a> Machine<'a> {
    pub(super) fn call(&mut self, frame: &Frame<'a>, instruction: &Instruction) -> Result<Option<Value>, Stop> {
        let Shape::Call { callee, args, promises, in_memory, attributes, bundles } = &instruction.shape else {
            return unsupported("a call");
        };
        let Some(callee) = callee else { return unsupported("a call of inline assembly or by a pointer") };
        if !in_memory.is_empty() && in_memory.iter().any(|m| m.role == rewright_llvm::body::Role::Copy) {
            return unsupported("an argument that is `byval`");
        }
        let assumes = callee == "@llvm.assume";
        if *bundles && !(assumes && self.chooser.side == RefinementSide::After) {
            return unsupported("a call with operand bundles");
        }
        // Attributes before the result's type are about the result.
        let own = attributes.get(instruction.flags.len()..).unwrap_or_default();
        let [attributes, _] = effects::attributes(self.program.file, Some(callee), own);
        let mut called = Called { callee, arguments: self.arguments(frame, args)?, promises, attributes };
        self.pass(&mut called)?;
        let result = if callee.starts_with("@llvm.") {
            self.intrinsic(instruction, &called)?
        } else if self.world.differs(callee) {
            return unsupported(format!("{callee}, which the modules, or calls of it, say different things of"));
        } else if let Some((definition, _)) = self.program.functions.get(callee.as_str()) {
            self.of_module(definition, called)?
        } else {
            self.outside(instruction, called)?
        };
        let Some(value) = result else { return self.metadata_is_harmless(instruction).map(|()| None) };
        let value = self.annotated(instruction, value)?;
        let said: Vec<&str> = instruction.flags.iter().map(String::as_str).collect();
        let value = self.promised(&instruction.ty, value, &said, AnnotationTarget::Result)?;
        self.passed_on(instruction, &instruction.ty, value).map(Some)
    }

    fn arguments(&mut self, frame: &Frame<'a>, args: &[Operand]) -> Result<Vec<(Type, Value)>, Stop> {
        let metadata = Type::Word("metadata".into());
        let mut arguments = vec![];
        for arg in args.iter().filter(|arg| arg.ty != metadata) {
            arguments.push((arg.ty.clone(), self.operand(frame, arg)?));
        }
        Ok(arguments)
    }

    /// Applies what a call says of its arguments.
    fn pass(&mut self, called: &mut Called<'_>) -> Result<(), Stop> {
        for (said, (ty, value)) in called.promises.iter().zip(&mut called.arguments) {
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            *value = self.promised(ty, value.clone(), &said, AnnotationTarget::Parameter)?;
            if !said.iter().any(|attribute| matches!(parts(attribute).0, "nocapture" | "captures")) {
                let pointers = value.lanes().into_iter().flat_map(|lane| lane.values(64).unwrap_or_default());
                for atom in pointers {
                    if let Atom::Pointer(pointer) = atom
                        && !called.callee.starts_with("@llvm.")
                    {
                        self.memory.escaped.insert(pointer.object);
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs a function of the module.
    fn of_module(&mut self, definition: &'a Definition, called: Called<'_>) -> Result<Option<Value>, Stop> {
        if self.chooser.side == RefinementSide::Before
            && let Some(open) = called.attributes.iter().find(|a| !is_harmless_of_function(a))
        {
            return unsupported(format!("the attribute `{open}` of a call"));
        }
        let types = called.arguments.iter().map(|(ty, _)| ty);
        let fits = definition.parameters.len() == called.arguments.len()
            && definition.parameters.iter().zip(types).all(|(parameter, ty)| parameter.ty == *ty);
        if !fits || definition.variadic {
            return unsupported(format!("a call of {} with other arguments than it takes", definition.name));
        }
        self.function(definition, called.arguments.into_iter().map(|(_, value)| value).collect())
    }

    /// Calls a function that is somewhere else.
    fn outside(&mut self, instruction: &Instruction, mut called: Called<'_>) -> Result<Option<Value>, Stop> {
        if is_of_library(called.callee) {
            return unsupported(format!("{}, of which LLVM knows what it does", called.callee));
        }
        let declared = self.program.file.declarations.get(called.callee);
        if self.program.file.functions.iter().any(|f| f.name == called.callee) || declared.is_none() {
            return unsupported(format!("{}, which is not declared", called.callee));
        }
        let declared_attributes = self.program.file.attributes.get(called.callee).map_or(&[][..], Vec::as_slice);
        let attributes: Vec<&str> = called.attributes.iter().chain(declared_attributes).map(String::as_str).collect();
        let unknown = |attribute: &&&str| runs(AnnotationTarget::Function, attribute) == Runs::Doubt;
        if let Some(open) = attributes.iter().find(unknown) {
            return unsupported(format!("{}, which is `{open}`", called.callee));
        }
        let limits = MemoryEffects::of(attributes.iter().copied());
        for (n, (ty, value)) in called.arguments.iter_mut().enumerate() {
            let parameter = declared.and_then(|declared| declared.parameters.get(n));
            let said: Vec<&str> = parameter.iter().flat_map(|p| &p.attributes).map(String::as_str).collect();
            *value = self.promised(ty, value.clone(), &said, AnnotationTarget::Parameter)?;
            let here = called.promises.get(n).is_some_and(|said| said.iter().any(|a| a == "returned"));
            if here || said.contains(&"returned") {
                return unsupported(format!("{}, which returns an argument", called.callee));
            }
        }
        let said: Vec<&str> =
            declared.iter().flat_map(|d| &d.before).chain(&instruction.flags).map(String::as_str).collect();
        let result = match limits {
            None => self.noticed(instruction, &called, &said)?,
            // In which order calls may be that change different things is not modelled.
            Some(limits) if limits.others.writes || limits.inaccessible.writes => {
                return unsupported(format!("{}, which changes only some memory", called.callee));
            }
            Some(_) => self.silent(instruction, &called, &said)?,
        };
        if attributes.contains(&"noreturn") {
            let always = declared_attributes.iter().any(|attribute| attribute == "noreturn");
            return match self.world.never_returns(called.callee) && always && limits.is_none() {
                true => Err(Stop::Ends),
                false => unsupported(format!("{}, which does not always return", called.callee)),
            };
        }
        let Some(value) = result else { return Ok(None) };
        self.keeps_promises(&instruction.ty, &value, &said)?;
        Ok(Some(value))
    }

    /// The results that the input gives a called function must satisfy its attributes.
    fn keeps_promises(&mut self, ty: &Type, value: &Value, said: &[&str]) -> Result<(), Stop> {
        let broken = || Stop::Unsupported("an answer of the input that breaks what is said of the result".into());
        let known = |attribute: &&&str| {
            matches!(
                parts(attribute).0,
                "noundef" | "nonnull" | "range" | "align" | "dereferenceable" | "dereferenceable_or_null" | "noalias"
            )
        };
        let open = said
            .iter()
            .find(|attribute| !known(attribute) && runs(AnnotationTarget::Result, attribute) != Runs::Ignore);
        if let Some(open) = open {
            return unsupported(format!("the attribute `{open}` of the result of a call"));
        }
        let null = value.lanes().iter().all(|lane| **lane == Lane::pointer(Pointer::NULL));
        if said.contains(&"noalias") && !null {
            return Err(broken());
        }
        let said: Vec<&str> = said.iter().copied().filter(|attribute| *attribute != "noalias").collect();
        match self.promised(ty, value.clone(), &said, AnnotationTarget::Result) {
            Ok(same) if same == *value => Ok(()),
            Err(stop @ (Stop::Unsupported(_) | Stop::PointerAsNumber)) => Err(stop),
            _ => Err(broken()),
        }
    }

    /// A call that does nothing but give a result, always the same for the same arguments.
    fn silent(&mut self, instruction: &Instruction, called: &Called<'_>, said: &[&str]) -> Result<Option<Value>, Stop> {
        if instruction.ty == Type::Void {
            return Ok(None);
        }
        let mut arguments = vec![];
        for (ty, value) in &called.arguments {
            let loose = value.lanes().iter().any(|lane| !matches!(lane, Lane::One(atom) if *atom != Atom::Poison));
            if value.lanes().iter().any(|lane| lane.may_be_poison()) {
                // It is not asked what becomes of poison: anything may.
                return match self.chooser.side {
                    RefinementSide::Before => {
                        self.everywhere_lane(&instruction.ty, &Lane::Unknown(Doubt::Poison)).map(Some)
                    }
                    RefinementSide::After => self.everywhere(&instruction.ty, "poison").map(Some),
                };
            }
            if loose && self.chooser.side == RefinementSide::Before {
                return self.everywhere_lane(&instruction.ty, &Lane::Unknown(Doubt::Undef)).map(Some);
            }
            let value = if loose { self.freeze(ty, value)? } else { value.clone() };
            arguments.push((ty.clone(), value));
        }
        if let Some(answer) = self.answer(called.callee, &arguments, None) {
            return self.answered(instruction, answer);
        }
        let values: Vec<&Value> = arguments.iter().map(|(_, value)| value).collect();
        let key = hash(&(self.world.input.seed, called.callee, values));
        self.made_up(&instruction.ty, key, said).map(Some)
    }

    /// A call that others may notice.
    fn noticed(
        &mut self,
        instruction: &Instruction,
        called: &Called<'_>,
        said: &[&str],
    ) -> Result<Option<Value>, Stop> {
        if self.events.len() >= MOST_EVENTS {
            return unsupported(format!("it makes more than {MOST_EVENTS} calls"));
        }
        let number = self.calls.entry(called.callee.to_string()).or_default();
        let nth = *number;
        *number += 1;
        self.events.push(Event {
            callee: called.callee.to_string(),
            arguments: called.arguments.clone(),
            memory: self.shown(),
        });
        let Some(answer) = self.answer(called.callee, &called.arguments, Some(nth)) else {
            if instruction.ty == Type::Void {
                return Ok(None);
            }
            let key = hash(&(self.world.input.seed, called.callee, nth));
            return self.made_up(&instruction.ty, key, said).map(Some);
        };
        for write in &answer.writes {
            let pointer = self.world.pointer(&write.to)?;
            let bytes = self.world.bytes(&write.bytes)?;
            let shown = self.shown().contains_key(&pointer.object);
            let cells = self.memory.objects.get_mut(&pointer.object).filter(|_| shown);
            let start = usize::try_from(pointer.offset).unwrap_or(usize::MAX);
            let place = cells.and_then(|cells| cells.bytes.get_mut(start..start.checked_add(bytes.len())?));
            let Some(place) = place else {
                return unsupported(format!("{} cannot write to {}, as the input says", called.callee, write.to));
            };
            place.copy_from_slice(&bytes);
        }
        if instruction.ty == Type::Void {
            return Ok(None);
        }
        self.answered(instruction, answer)
    }

    /// Memory that a function outside may look at.
    fn shown(&self) -> BTreeMap<Object, Vec<Byte>> {
        let own = |object: &Object| self.world.is_private(*object);
        let objects =
            self.memory.objects.iter().filter(|(object, cells)| cells.visible && !cells.constant && !own(object));
        objects.map(|(object, cells)| (*object, cells.bytes.clone())).collect()
    }

    /// What the input says that a call answers.
    fn answer(&self, callee: &str, arguments: &[(Type, Value)], nth: Option<u32>) -> Option<&'a Answer> {
        let input = self.world.input;
        input.answers.iter().find(|answer| {
            let fits = |given: &Vec<super::input::Datum>| {
                given.len() == arguments.len()
                    && given.iter().zip(arguments).all(|(datum, (ty, value))| {
                        self.world.value(&self.program.layout, ty, datum).as_ref() == Ok(value)
                    })
            };
            answer.callee == callee
                && (nth.is_none() || answer.call.is_none_or(|call| Some(call) == nth))
                && answer.arguments.as_ref().is_none_or(fits)
        })
    }

    fn answered(&mut self, instruction: &Instruction, answer: &Answer) -> Result<Option<Value>, Stop> {
        let Some(datum) = &answer.result else {
            return unsupported(format!("the input does not say what {} gives", answer.callee));
        };
        let value = self.world.value(&self.program.layout, &instruction.ty, datum)?;
        Ok(Some(value))
    }

    /// A result that depends on a number only.
    fn made_up(&mut self, ty: &Type, key: u64, said: &[&str]) -> Result<Value, Stop> {
        if let Some(types) = self.program.layout.parts(ty)? {
            let parts = types.iter().zip(0u64..).map(|(ty, n)| self.made_up(ty, hash(&(key, n)), said));
            return Ok(Value::Parts(parts.collect::<Result<_, _>>()?));
        }
        if *ty == Type::Ptr {
            return Ok(Value::Scalar(Lane::pointer(self.made_up_pointer(key, said))));
        }
        let width = self.width(ty)?;
        let bits = match (key % 8, Format::of(ty)) {
            (0, _) => 0,
            (1, None) => 1,
            (2, None) => u128::MAX,
            (3, None) => 1 << (width - 1),
            (_, None) => u128::from(key >> 8) | u128::from(hash(&key)) << 64,
            (n, Some(Format::Single)) => {
                [1.0f32, -1.5, 0.1, 1e30, -0.0, f32::INFINITY, 2.0][n as usize - 1].to_bits().into()
            }
            (n, Some(Format::Double)) => {
                [1.0f64, -1.5, 0.1, 1e300, -0.0, f64::INFINITY, 2.0][n as usize - 1].to_bits().into()
            }
        };
        Ok(Value::Scalar(Lane::int(bits & ones(width))))
    }

    /// `null`, or a pointer to the last block that functions outside may know.
    fn made_up_pointer(&self, key: u64, said: &[&str]) -> Pointer {
        let mut blocks = (0..self.world.input.memory.len() as u32).map(Object::Block);
        let known = blocks.rfind(|object| !self.world.is_private(*object));
        let says = |word: &str| said.iter().any(|attribute| parts(attribute).0 == word);
        match known {
            Some(object)
                if !says("noalias") && (says("nonnull") || says("dereferenceable") || key.is_multiple_of(2)) =>
            {
                Pointer { object, offset: 0 }
            }
            _ => Pointer::NULL,
        }
    }

    /// The same lane in all parts of a type.
    fn everywhere_lane(&mut self, ty: &Type, lane: &Lane) -> Result<Value, Stop> {
        self.everywhere(ty, "poison")?.try_map(&mut |_| Ok(lane.clone()))
    }
}
