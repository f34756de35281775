//! Objects in memory that begin in a function: stack slots, and what it allocates.
//!
//! An object is *private* as long as its address stays with accesses of it: other code cannot know it then, and an access
//! through an address that was computed from anything else does not reach it. So nobody sees what is in it behind the
//! function.

use super::{Cfg, EdgeArg, Function, Inst, InstKind, OpaqueEffects, PayloadId, Terminator, Value};
use rewright_typeprop::{Model, Universe};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions about objects that a front end knows, by their payloads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Objects {
    /// Of most functions nothing is.
    known: Option<Box<Known>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Known {
    addresses: BTreeMap<PayloadId, Place>,
    bounds: BTreeSet<PayloadId>,
}

/// Where an address points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The object.
    pub object: ObjectId,
    /// How far behind its beginning, in bytes.
    pub offset: i64,
    /// How many bytes it has, where an access behind its end may do anything else than be undefined.
    pub size: Option<u64>,
}

/// An object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ObjectId {
    /// By the front end's number.
    Numbered(u32),
    /// What an operation allocates.
    Allocated(Value),
}

impl Objects {
    /// Notes that an opaque instruction gives an address in an object that begins in the function.
    pub fn set_place(&mut self, payload: PayloadId, place: Place) {
        self.known.get_or_insert_default().addresses.insert(payload, place);
    }

    /// Notes that an opaque instruction only begins or ends objects that it is given.
    pub fn set_bound(&mut self, payload: PayloadId) {
        self.known.get_or_insert_default().bounds.insert(payload);
    }

    fn place_of(&self, payload: PayloadId) -> Option<Place> {
        self.known.as_ref()?.addresses.get(&payload).copied()
    }

    fn is_bound(&self, payload: PayloadId) -> bool {
        self.known.as_ref().is_some_and(|known| known.bounds.contains(&payload))
    }

    /// Where what an instruction gives points, if that is in an object.
    pub fn place(&self, inst: &Inst) -> Option<Place> {
        match &inst.kind {
            InstKind::Opaque { payload, .. } => self.place_of(*payload),
            _ => None,
        }
    }
}

/// Into which objects values may point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Reach {
    /// Into none that begins here and is private.
    #[default]
    Nothing,
    One(ObjectId),
    /// Into several, of which none is private then.
    Several,
}

/// The private objects of a function.
pub struct PrivateObjects {
    reach: Vec<Reach>,
    constants: BTreeSet<Value>,
    escaped: BTreeSet<ObjectId>,
}

impl PrivateObjects {
    /// Follows the addresses of all objects that begin in the function.
    pub fn new(f: &Function, cfg: &Cfg, universe: &Universe) -> Self {
        let constants = f.insts.iter().filter(|inst| matches!(inst.kind, InstKind::Const(_)));
        let mut objects = PrivateObjects {
            reach: vec![Reach::Nothing; f.values.len()],
            constants: constants.flat_map(|inst| inst.results.iter().copied()).collect(),
            escaped: BTreeSet::new(),
        };
        while objects.follow(f, cfg, universe) {}
        objects
    }

    /// The private object that an address points into, if it is one.
    pub fn of(&self, address: Value) -> Option<ObjectId> {
        match self.reach[address.index()] {
            Reach::One(object) => Some(object).filter(|object| !self.escaped.contains(object)),
            Reach::Nothing | Reach::Several => None,
        }
    }

    /// Follows them once; says whether anything new was found.
    fn follow(&mut self, f: &Function, cfg: &Cfg, universe: &Universe) -> bool {
        let mut is_new = false;
        for block in cfg.reverse_post_order().iter().map(|id| f.block(*id)) {
            for inst in &block.insts {
                is_new |= self.inst(f, f.inst(*inst), universe);
            }
            is_new |= match &block.term {
                Terminator::Return(values) | Terminator::Opaque { args: values, .. } => self.escape(values),
                Terminator::Jump(_)
                | Terminator::Branch { .. }
                | Terminator::Switch { .. }
                | Terminator::Trap { .. } => false,
            };
            for edge in block.term.edges() {
                for (param, arg) in f.block(edge.target).params.iter().zip(&edge.args) {
                    if let EdgeArg::Value(value) = arg {
                        is_new |= self.flow(&[*value], &[*param]);
                    }
                }
            }
        }
        is_new
    }

    fn inst(&mut self, f: &Function, inst: &Inst, universe: &Universe) -> bool {
        match &inst.kind {
            InstKind::Const(_) | InstKind::Check { .. } => false,
            InstKind::Opaque { payload, effects } => {
                let begins = f.objects.place_of(*payload).map(|place| Reach::One(place.object));
                let mut is_new = begins.is_some_and(|reach| self.point(&inst.results, reach));
                if *effects == OpaqueEffects::Pure {
                    is_new |= self.flow(&inst.args, &inst.results);
                } else if !f.objects.is_bound(*payload) {
                    is_new |= self.escape(&inst.args);
                }
                is_new
            }
            InstKind::Op { op, access, .. } => {
                let op = universe.ops.get(*op);
                if let ([result], false) = (&inst.results[..], op.effects.allocates.is_empty()) {
                    let begins = self.point(&[*result], Reach::One(ObjectId::Allocated(*result)));
                    return begins | self.escape(&inst.args);
                }
                let memory = op.model.and_then(|model| model.memory());
                match (access, memory, &inst.args[..]) {
                    (Some(_), Some(model), [_, _]) if !model.store => false,
                    (Some(_), Some(model), [_, value, _]) if model.store => self.escape(&[*value]),
                    (None, ..) if op.model.is_some_and(Model::is_comparison) => self.compare(&inst.args),
                    (None, ..) if op.effects.is_value() => self.flow(&inst.args, &inst.results),
                    _ => self.escape(&inst.args),
                }
            }
        }
    }

    /// Where addresses are compared with others, those may take their places. With constants, they may not.
    fn compare(&mut self, args: &[Value]) -> bool {
        let [x, y] = args else { return self.escape(args) };
        let (one, other) = (self.reach[x.index()], self.reach[y.index()]);
        let is_harmless = one == other || self.constants.contains(x) || self.constants.contains(y);
        !is_harmless && self.escape(args)
    }

    /// Results may point wherever operands do.
    fn flow(&mut self, from: &[Value], to: &[Value]) -> bool {
        let mut is_new = false;
        for value in from {
            is_new |= self.point(to, self.reach[value.index()]);
        }
        is_new
    }

    fn point(&mut self, values: &[Value], to: Reach) -> bool {
        let mut is_new = false;
        for value in values {
            let now = self.reach[value.index()];
            let joined = match (now, to) {
                (Reach::Nothing, other) | (other, Reach::Nothing) => other,
                (one, other) if one == other => one,
                _ => Reach::Several,
            };
            if joined == Reach::Several {
                is_new |= self.give_up(now) | self.give_up(to);
            }
            is_new |= joined != now;
            self.reach[value.index()] = joined;
        }
        is_new
    }

    fn escape(&mut self, values: &[Value]) -> bool {
        values.iter().fold(false, |is_new, value| is_new | self.give_up(self.reach[value.index()]))
    }

    fn give_up(&mut self, reach: Reach) -> bool {
        matches!(reach, Reach::One(object) if self.escaped.insert(object))
    }
}

#[cfg(test)]
mod tests;
