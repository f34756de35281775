//! How runs end, and when an end of the second version is one that the first version may have.

use super::choice::Stop;
use super::float::Format;
use super::layout::Layout;
use super::memory::Byte;
use super::value::{Object, Value};
use super::world::World;
use crate::not_modelled::NotModelled;
use rewright_llvm::types::Type;
use std::collections::BTreeMap;

/// Objects of at most this many bytes are shown whole.
const SHORT: usize = 64;

/// This many bytes are shown where longer ones differ.
const WORD: usize = 8;

/// A call that others notice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Event {
    pub(super) callee: String,
    pub(super) arguments: Vec<(Type, Value)>,
    /// What the callee may look at.
    pub(super) memory: BTreeMap<Object, Vec<Byte>>,
}

/// What a run has done that is defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ending {
    pub(super) result: Option<(Type, Value)>,
    /// Objects that the caller can see.
    pub(super) memory: BTreeMap<Object, Vec<Byte>>,
    pub(super) events: Vec<Event>,
    /// It does not return: the last call does not, or a loop goes on for ever.
    pub(super) stays: bool,
}

/// How a run ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Behaviour {
    Undefined(String),
    Ends(Ending),
}

impl Behaviour {
    /// The behaviour of a run, or what it needs that is not modelled.
    pub(super) fn of(run: Result<Ending, Stop>) -> Result<Behaviour, NotModelled> {
        match run {
            Ok(ending) => Ok(Behaviour::Ends(ending)),
            Err(Stop::Undefined(reason)) => Ok(Behaviour::Undefined(reason)),
            Err(Stop::Unsupported(reason)) => Err(reason.into()),
            Err(Stop::PointerAsNumber) => Err("an operation on a pointer as a number".into()),
            Err(Stop::Ends) => Err("a run that does not return".into()),
        }
    }

    /// May the second version do this where the first one does `before`?
    pub(super) fn refines(&self, before: &Behaviour, layout: &Layout<'_>) -> bool {
        match (self, before) {
            (_, Behaviour::Undefined(_)) => true,
            (Behaviour::Undefined(_), _) => false,
            (Behaviour::Ends(after), Behaviour::Ends(before)) => ending_refines(after, before, layout),
        }
    }

    /// As a person would say it, beside another one: of long memory, from where the two differ.
    pub(super) fn show(&self, beside: &Behaviour, world: &World<'_>) -> String {
        let ending = match self {
            Behaviour::Undefined(reason) => return format!("undefined behaviour: {reason}"),
            Behaviour::Ends(ending) => ending,
        };
        let mut parts: Vec<String> = vec![];
        for event in &ending.events {
            let arguments: Vec<_> = event.arguments.iter().map(|(ty, value)| format!("{ty} {value}")).collect();
            parts.push(format!("calls {}({})", event.callee, arguments.join(", ")));
        }
        parts.push(match &ending.result {
            _ if ending.stays => "does not return".into(),
            Some((ty, value)) => format!("returns {ty} {value}"),
            None => "returns".into(),
        });
        let named = |object: &Object| match object {
            Object::Global(n) => world.name(*n).to_string(),
            object => object.to_string(),
        };
        for (object, bytes) in &ending.memory {
            let shown = |bytes: &[Byte]| bytes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            if bytes.len() <= SHORT {
                parts.push(format!("leaves {} = [{}]", named(object), shown(bytes)));
            } else if let Some(at) = beside.differs_at(object, bytes) {
                let end = bytes.len().min(at + WORD);
                let rest = if end < bytes.len() { " .." } else { "" };
                parts.push(format!("leaves {}+{at} = [{}{rest}]", named(object), shown(&bytes[at..end])));
            }
        }
        parts.join(", ")
    }

    /// The first byte of an object that it leaves in another way.
    fn differs_at(&self, object: &Object, bytes: &[Byte]) -> Option<usize> {
        let Behaviour::Ends(ending) = self else { return None };
        let other = ending.memory.get(object)?;
        bytes.iter().zip(other).position(|(byte, other)| byte != other)
    }
}

fn ending_refines(after: &Ending, before: &Ending, layout: &Layout<'_>) -> bool {
    let results = match (&after.result, &before.result) {
        (Some((ty, after)), Some((_, before))) => value_refines(ty, after, before, layout),
        (after, before) => after.is_none() == before.is_none(),
    };
    let event = |(after, before): (&Event, &Event)| {
        after.callee == before.callee
            && after.arguments.len() == before.arguments.len()
            && after
                .arguments
                .iter()
                .zip(&before.arguments)
                .all(|((ty, after), (other, before))| ty == other && value_refines(ty, after, before, layout))
            && memory_refines(&after.memory, &before.memory)
    };
    results
        && after.stays == before.stays
        && after.events.len() == before.events.len()
        && after.events.iter().zip(&before.events).all(event)
        && memory_refines(&after.memory, &before.memory)
}

/// Objects that only one side has are not compared.
fn memory_refines(after: &BTreeMap<Object, Vec<Byte>>, before: &BTreeMap<Object, Vec<Byte>>) -> bool {
    after.iter().all(|(object, bytes)| match before.get(object) {
        Some(others) => bytes.iter().zip(others).all(|(byte, other)| byte.refines(*other)),
        None => true,
    })
}

fn value_refines(ty: &Type, after: &Value, before: &Value, layout: &Layout<'_>) -> bool {
    match (after, before) {
        (Value::Scalar(after), Value::Scalar(before)) => {
            let format = Format::of(ty);
            after.refines(before, &|bits| format.is_some_and(|format| format.is_nan(bits)))
        }
        (Value::Parts(after), Value::Parts(before)) => {
            let Ok(Some(types)) = layout.parts(ty) else { return true };
            let parts = after.iter().zip(before);
            types.iter().zip(parts).all(|(ty, (after, before))| value_refines(ty, after, before, layout))
        }
        _ => true,
    }
}
