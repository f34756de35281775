//! What attributes and metadata promise, and what becomes of a run that breaks a promise.
//!
//! A broken promise makes a value poison or the run undefined. One that is not modelled may do either: the first
//! version is not judged where it has one, and in the second version it means nothing, as what is less defined differs
//! all the more.

use super::choice::{Kind, OpResult, RefinementSide, Stop, undefined, unsupported};
use super::machine::Machine;
use super::memory::Memory;
use super::value::{Atom, Lane, Object, Pointer, Value};
use crate::annotations::table::{AnnotationTarget, Runs, runs};
use crate::annotations::{numbers, parts};
use crate::not_modelled::NotModelled;
use rewright_llvm::body::Instruction;
use rewright_llvm::cursor::Cursor;
use rewright_llvm::effects::MemoryEffects;
use rewright_llvm::lex::tokens;
use rewright_llvm::module::Definition;
use rewright_llvm::types::{self, Type};
use std::collections::BTreeSet;

/// A function that has been entered.
pub(super) struct Entered {
    pub(super) arguments: Vec<Value>,
    /// Objects that a parameter points to.
    objects: BTreeSet<Object>,
    /// What was accessed before.
    accesses: usize,
}

impl<'a> Machine<'a> {
    /// Applies what the parameters and attributes of a function say.
    pub(super) fn enter(&mut self, definition: &Definition, arguments: Vec<Value>) -> Result<Entered, Stop> {
        if self.chooser.side == RefinementSide::Before {
            for attribute in &definition.attributes {
                if runs(AnnotationTarget::Function, attribute) == Runs::Doubt {
                    return unsupported(format!("the attribute `{attribute}` of {}", definition.name));
                }
                if attribute == "norecurse" && self.stack.contains(&definition.name.as_str()) {
                    return undefined(format!("{} calls itself", definition.name));
                }
            }
        }
        let mut entered = Entered { arguments: vec![], objects: BTreeSet::new(), accesses: self.accesses.len() };
        for (parameter, value) in definition.parameters.iter().zip(arguments) {
            let list: Vec<&str> = parameter.attributes.iter().map(String::as_str).collect();
            entered.objects.extend(object(&value));
            entered.arguments.push(self.promised(&parameter.ty, value, &list, AnnotationTarget::Parameter)?);
        }
        Ok(entered)
    }

    /// Applies what a function says of its result and of what it has done.
    pub(super) fn leave(
        &mut self,
        definition: &Definition,
        entered: &Entered,
        result: Option<Value>,
    ) -> Result<Option<Value>, Stop> {
        if definition.attributes.iter().any(|attribute| attribute == "noreturn") {
            return undefined(format!("{} returns", definition.name));
        }
        self.kept(definition, entered, result.as_ref())?;
        let list: Vec<&str> = definition.before.iter().map(String::as_str).collect();
        result.map(|value| self.promised(&definition.result, value, &list, AnnotationTarget::Result)).transpose()
    }

    /// How a run of a function ends that does not return: what it promised of memory counts all the same.
    pub(super) fn stays(&mut self, definition: &Definition, entered: &Entered) -> Stop {
        if let Err(stop) = self.kept(definition, entered, None) {
            return stop;
        }
        let returns = definition.attributes.iter().any(|attribute| attribute == "willreturn");
        match (returns, self.chooser.side) {
            (false, _) => Stop::Ends,
            (true, RefinementSide::Before) => Stop::Undefined(format!("{} does not return", definition.name)),
            (true, RefinementSide::After) => Stop::Unsupported("a `willreturn` function that does not return".into()),
        }
    }

    /// Has a function kept what it promised of memory? It is undefined if the first version may not have, or the second
    /// one certainly has not.
    fn kept(&mut self, definition: &Definition, entered: &Entered, result: Option<&Value>) -> Result<(), Stop> {
        let said = definition.attributes.iter().map(String::as_str);
        let effects = MemoryEffects::of(said).unwrap_or(MemoryEffects::ALL);
        let done: BTreeSet<(Object, bool)> = self.accesses[entered.accesses..].iter().copied().collect();
        for (accessed, writes) in &done {
            let mut allowed = if entered.objects.contains(accessed) { effects.arguments } else { effects.others };
            if self.chooser.side == RefinementSide::After {
                allowed = effects.arguments.or(effects.others);
            }
            let constant = self.memory.objects.get(accessed).is_some_and(|cells| cells.constant);
            let is_allowed = if *writes { allowed.writes } else { allowed.reads };
            if !is_allowed && !constant {
                return undefined(format!("{} accesses memory that it says it does not", definition.name));
            }
        }
        for (n, parameter) in definition.parameters.iter().enumerate() {
            let Some(pointed) = object(&entered.arguments[n]) else { continue };
            let says = |name: &str| parameter.attributes.iter().any(|attribute| parts(attribute).0 == name);
            let was = |writes: bool| done.contains(&(pointed, writes));
            let shared = || {
                let others = entered.arguments.iter().enumerate().filter(|(other, _)| *other != n);
                let mut others = others.filter_map(|(_, value)| object(value));
                let named = !matches!(pointed, Object::Block(_));
                let known = self.memory.escaped.contains(&pointed) || self.world.points_to(pointed);
                named || others.any(|other| other == pointed) || self.depth > 1 || known
            };
            if self.chooser.side == RefinementSide::After && shared() {
                continue;
            }
            if says("readnone") && (was(true) || was(false))
                || says("readonly") && was(true)
                || says("writeonly") && was(false)
            {
                return undefined(format!("the memory of {} is accessed as it must not be", parameter.name));
            }
            if self.chooser.side == RefinementSide::After {
                continue;
            }
            if says("noalias") && was(true) && shared() {
                return unsupported(format!("memory that only {} may lead to", parameter.name));
            }
            let leaves = self.memory.escaped.contains(&pointed) || result.and_then(object) == Some(pointed);
            if (says("nocapture") || says("captures")) && leaves {
                return undefined(format!("{} is captured", parameter.name));
            }
            if says("returned") && result != Some(&entered.arguments[n]) {
                return undefined(format!("{} is not returned", parameter.name));
            }
        }
        Ok(())
    }

    /// A value of which a list of attributes is said, as parameter, argument or result.
    pub(super) fn promised(
        &mut self,
        ty: &Type,
        mut value: Value,
        attributes: &[&str],
        place: AnnotationTarget,
    ) -> Result<Value, Stop> {
        // Attributes that make poison come before those that require a value that is not poison: memory that must be
        // there is not at poison.
        let needs_value = |attribute: &&str| {
            matches!(parts(attribute).0, "noundef" | "dereferenceable" | "dereferenceable_or_null" | "sret")
        };
        let (last, first): (Vec<&str>, Vec<&str>) = attributes.iter().partition(|attribute| needs_value(attribute));
        for attribute in first.into_iter().chain(last) {
            let runs = runs(place, attribute);
            value = match parts(attribute).0 {
                name if runs == Runs::Refuse => return unsupported(format!("an argument that is `{name}`")),
                "noundef" => {
                    self.defined(&value)?;
                    value
                }
                "nonnull" => self.checked_lanes(value, &|_, pointer| Some(pointer != Pointer::NULL))?,
                "align" if *super::instruction::element(ty) == Type::Ptr => {
                    let align = number(attribute);
                    self.checked_lanes(value, &|memory, pointer| memory.is_aligned(pointer, align))?
                }
                "range" => {
                    let inside = attribute.trim_start_matches("range(").trim_end_matches(')');
                    let ranges = ranges(inside);
                    self.in_range(super::instruction::element(ty), &value, &ranges)?
                }
                name @ ("dereferenceable" | "dereferenceable_or_null") => {
                    self.dereferenceable(&value, number(attribute), name.ends_with("null"))?;
                    value
                }
                "sret" if self.chooser.side == RefinementSide::Before => {
                    let inside = attribute.trim_start_matches("sret(").trim_end_matches(')');
                    let line = tokens(inside);
                    let ty = types::parse(&mut Cursor::new(inside, &line)).map_err(NotModelled::from)?;
                    let size = self.program.layout.size(&ty)?;
                    self.dereferenceable(&value, size, false)?;
                    value
                }
                _ if runs != Runs::Doubt || self.chooser.side == RefinementSide::After => value,
                _ => return unsupported(format!("the attribute `{attribute}`")),
            };
        }
        Ok(value)
    }

    /// `noundef`
    fn defined(&self, value: &Value) -> Result<(), Stop> {
        for lane in value.lanes() {
            match lane {
                Lane::One(Atom::Poison) => return undefined("a value is poison that must not be"),
                Lane::Undef { .. } => return undefined("a value is `undef` that must not be"),
                lane if lane.is_loose() => {
                    self.chooser.perhaps_undefined("a value may be `undef` that must not be")?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Pointers for which `holds` does not are poison.
    fn checked_lanes(&mut self, value: Value, holds: &dyn Fn(&Memory, Pointer) -> Option<bool>) -> Result<Value, Stop> {
        let (memory, chooser) = (&self.memory, &mut self.chooser);
        let side = chooser.side;
        value.try_map(&mut |lane| {
            chooser.lift(Kind::of_width(0), &[lane], &|atoms| match atoms[0] {
                Atom::Pointer(pointer) => match (holds(memory, pointer), side) {
                    (Some(false), _) => OpResult::Is(Atom::Poison),
                    (None, RefinementSide::Before) => OpResult::Unclear("where a stack slot is"),
                    _ => OpResult::Is(atoms[0]),
                },
                Atom::Int(_) if side == RefinementSide::Before => OpResult::Unclear("an address that is a number"),
                atom => OpResult::Is(atom),
            })
        })
    }

    /// Integers outside of all ranges, each from its first number up to its second one, are poison.
    fn in_range(&mut self, ty: &Type, value: &Value, ranges: &[(u128, u128)]) -> Result<Value, Stop> {
        let width = self.width(ty)?;
        if ranges.is_empty() {
            return match self.chooser.side {
                RefinementSide::Before => unsupported("a range that cannot be read"),
                RefinementSide::After => Ok(value.clone()),
            };
        }
        let all = super::value::ones(width);
        value.try_map(&mut |lane| {
            self.chooser.lift(Kind::of_width(width), &[lane], &|atoms| match atoms[0] {
                Atom::Int(bits) => {
                    let within = |(low, high): &(u128, u128)| {
                        let length = high.wrapping_sub(*low) & all;
                        length == 0 || bits.wrapping_sub(*low) & all < length
                    };
                    OpResult::Is(if ranges.iter().any(within) { atoms[0] } else { Atom::Poison })
                }
                atom => OpResult::Is(atom),
            })
        })
    }

    fn dereferenceable(&mut self, value: &Value, size: u64, or_null: bool) -> Result<(), Stop> {
        for lane in value.lanes() {
            match lane {
                Lane::One(Atom::Pointer(Pointer::NULL)) if or_null => {}
                Lane::One(Atom::Pointer(pointer)) => {
                    let all = self.memory.size(*pointer).unwrap_or(0);
                    if pointer.offset.checked_add(size).is_none_or(|end| end > all) {
                        if pointer.object != Object::None && self.memory.size(*pointer).is_none() {
                            return unsupported("memory at what is no object");
                        }
                        return undefined(format!("there are not {size} bytes at {pointer}"));
                    }
                }
                _ => self.chooser.perhaps_undefined("there may be no memory where there must be")?,
            }
        }
        Ok(())
    }

    /// Stops the first version at metadata that may make it less defined.
    pub(super) fn metadata_is_harmless(&self, instruction: &Instruction) -> Result<(), Stop> {
        let open = instruction.metadata.iter().find(|(kind, _)| runs(AnnotationTarget::Metadata, kind) != Runs::Ignore);
        match (open, self.chooser.side) {
            (Some((kind, _)), RefinementSide::Before) => unsupported(format!("`{kind}` at `{}`", instruction.opcode)),
            _ => Ok(()),
        }
    }

    /// A loaded value, with what metadata says of it.
    pub(super) fn annotated(&mut self, instruction: &Instruction, mut value: Value) -> Result<Value, Stop> {
        let mut defined = false;
        for (kind, node) in &instruction.metadata {
            value = match kind.as_str() {
                "!range" => {
                    let node = if node.starts_with("!{") { node } else { self.program.node(node).unwrap_or("") };
                    let inside = node.trim_start_matches("!{").trim_end_matches('}');
                    let ranges = ranges(inside);
                    self.in_range(super::instruction::element(&instruction.ty), &value, &ranges)?
                }
                "!nonnull" => self.checked_lanes(value, &|_, pointer| Some(pointer != Pointer::NULL))?,
                "!noundef" => {
                    defined = true;
                    value
                }
                kind if runs(AnnotationTarget::Metadata, kind) == Runs::Ignore
                    || self.chooser.side == RefinementSide::After =>
                {
                    value
                }
                kind => return unsupported(format!("`{kind}` at a load")),
            };
        }
        if defined {
            self.defined(&value)?;
        }
        Ok(value)
    }

    /// The node of type-based alias analysis of an access.
    pub(super) fn tag(&self, instruction: &Instruction) -> Result<Option<String>, Stop> {
        Ok(instruction.metadata.iter().find(|(kind, _)| kind == "!tbaa").map(|(_, node)| node.clone()))
    }
}

/// The object that a value points to, if it is one pointer.
fn object(value: &Value) -> Option<Object> {
    match value {
        Value::Scalar(Lane::One(Atom::Pointer(pointer))) if pointer.object != Object::None => Some(pointer.object),
        _ => None,
    }
}

/// The number in `align 8`, `align(8)`, `dereferenceable(8)`.
pub(super) fn number(attribute: &str) -> u64 {
    parts(attribute).1.parse().unwrap_or(1)
}

/// Pairs of numbers: `i8 0, i8 2` or `i8 0, 2`; none where they cannot be read.
fn ranges(text: &str) -> Vec<(u128, u128)> {
    let ends = numbers(text).filter(|ends| ends.len().is_multiple_of(2)).unwrap_or_default();
    ends.chunks(2).map(|pair| (pair[0] as u128, pair[1] as u128)).collect()
}
