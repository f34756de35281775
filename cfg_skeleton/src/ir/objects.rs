//! Objects in memory that begin in a function: stack slots, and what it allocates.
//!
//! An object is *private* as long as its address stays with accesses of it: other code cannot know it then, and an access
//! through an address that was computed from anything else does not reach it. So its contents end with the function.

use super::{Cfg, EdgeArg, Function, Inst, InstKind, OpaqueEffects, PayloadId, Value};
use rewright_typeprop::{Model, Op, Repr, Universe};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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
    steps: BTreeSet<PayloadId>,
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
    /// The result of an operation that allocates.
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

    /// Notes that an opaque instruction gives an address in the object that one of its operands points into.
    pub fn set_step(&mut self, payload: PayloadId) {
        self.known.get_or_insert_default().steps.insert(payload);
    }

    fn is_step(&self, payload: PayloadId) -> bool {
        self.known.as_ref().is_some_and(|known| known.steps.contains(&payload))
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

/// How a value depends on objects that begin in the function: a lattice, joined where values meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Reach {
    /// Nothing is known to arrive yet.
    #[default]
    None,
    /// Not computed from an address in any.
    Foreign,
    /// The address of this one and something that is foreign: no other code knows which number leads from there to where it
    /// has access.
    Address(ObjectId),
    /// Computed from such an address, but it may be another address, or a number.
    Derived(ObjectId),
    /// Computed from addresses in several, of which none is private then.
    Several,
}

impl Reach {
    fn object(self) -> Option<ObjectId> {
        match self {
            Reach::Address(object) | Reach::Derived(object) => Some(object),
            Reach::None | Reach::Foreign | Reach::Several => None,
        }
    }

    fn join(self, other: Reach) -> Reach {
        match (self, other) {
            (Reach::None, reach) | (reach, Reach::None) => reach,
            (one, other) if one == other => one,
            (Reach::Several, _) | (_, Reach::Several) => Reach::Several,
            (one, other) => match (one.object(), other.object()) {
                (Some(a), Some(b)) if a != b => Reach::Several,
                (Some(object), _) | (None, Some(object)) => Reach::Derived(object),
                (None, None) => Reach::Foreign,
            },
        }
    }
}

/// The private objects of a function.
pub struct PrivateObjects {
    reach: Vec<Reach>,
    constants: BTreeMap<Value, i64>,
    escaped: BTreeSet<ObjectId>,
}

impl PrivateObjects {
    /// Follows the addresses of all objects that begin in the function.
    pub fn new(f: &Function, cfg: &Cfg, universe: &Universe) -> Self {
        let constants = f.insts.iter().filter_map(|inst| match inst.kind {
            InstKind::Const(n) => Some((*inst.results.first()?, n)),
            _ => None,
        });
        let mut objects = PrivateObjects {
            reach: vec![Reach::None; f.values.len()],
            constants: constants.collect(),
            escaped: BTreeSet::new(),
        };
        // In most functions no object begins, and there is nothing to follow.
        if f.insts.iter().any(|inst| begins_object(f, inst, universe)) {
            objects.point(&f.block(f.entry()).params, Reach::Foreign);
            while objects.follow(f, cfg, universe) {}
        }
        objects
    }

    /// The private object that an address points into, if it is one.
    pub fn of(&self, address: Value) -> Option<ObjectId> {
        match self.reach[address.index()] {
            Reach::Address(object) => Some(object).filter(|object| !self.escaped.contains(object)),
            Reach::None | Reach::Foreign | Reach::Derived(_) | Reach::Several => None,
        }
    }

    /// Follows them once; says whether anything new was found.
    fn follow(&mut self, f: &Function, cfg: &Cfg, universe: &Universe) -> bool {
        let mut is_new = false;
        for block in cfg.reverse_post_order().iter().map(|id| f.block(*id)) {
            for inst in &block.insts {
                is_new |= self.inst(f, f.inst(*inst), universe);
            }
            // Where control goes tells others of the address, too.
            is_new |= self.escape(block.term.operands());
            for edge in block.term.edges() {
                for (param, arg) in f.block(edge.target).params.iter().zip(&edge.args) {
                    let reach = match arg {
                        EdgeArg::Value(value) => self.reach[value.index()],
                        EdgeArg::Terminator(_) => Reach::Foreign,
                    };
                    is_new |= self.point(&[*param], reach);
                }
            }
        }
        is_new
    }

    fn inst(&mut self, f: &Function, inst: &Inst, universe: &Universe) -> bool {
        match &inst.kind {
            InstKind::Const(_) => self.point(&inst.results, Reach::Foreign),
            InstKind::Check { .. } => self.escape(&inst.args),
            InstKind::Opaque { payload, effects } => {
                if let Some(place) = f.objects.place_of(*payload) {
                    return self.escape(&inst.args) | self.point(&inst.results, Reach::Address(place.object));
                }
                match effects {
                    OpaqueEffects::Pure if f.objects.is_step(*payload) => self.compute(inst, Some(0..inst.args.len())),
                    OpaqueEffects::Pure => self.compute(inst, None),
                    _ if f.objects.is_bound(*payload) => self.point(&inst.results, Reach::Foreign),
                    _ => self.escape(&inst.args) | self.point(&inst.results, Reach::Foreign),
                }
            }
            InstKind::Op { op, access, .. } => {
                let is_pointer = |value: &Value| universe.types.repr(f.ty(*value)) == Some(Repr::Pointer);
                self.op(inst, universe.ops.get(*op), access.is_some(), &is_pointer)
            }
        }
    }

    fn op(&mut self, inst: &Inst, op: &Op, accesses: bool, is_pointer: &dyn Fn(&Value) -> bool) -> bool {
        if let ([result], false) = (&inst.results[..], op.effects.allocates.is_empty()) {
            let object = Reach::Address(ObjectId::Allocated(*result));
            return self.point(&[*result], object) | self.escape(&inst.args);
        }
        let memory = op.model.and_then(Model::memory);
        if accesses && memory.is_some() {
            // An address that may be in an object, or not, is one that others may have.
            let is_apart = |value: &Value| !matches!(self.reach[value.index()], Reach::Derived(_));
            let shown = match &inst.args[..] {
                [address, rest @ ..] if is_apart(address) => rest,
                all => all,
            };
            return self.escape(shown) | self.point(&inst.results, Reach::Foreign);
        }
        if accesses || !op.effects.is_value() {
            return self.escape(&inst.args) | self.point(&inst.results, Reach::Foreign);
        }
        match op.model {
            Some(Model::Eq | Model::Ne) if self.tells_nothing(&inst.args) => self.point(&inst.results, Reach::Foreign),
            Some(Model::Add) => self.compute(inst, Some(0..inst.args.len())),
            Some(Model::Sub | Model::Bitcast) => self.compute(inst, Some(0..1)),
            // Of two addresses in one object, either is one.
            Some(Model::Select) => match inst.args[..] {
                [c, x, y]
                    if self.reach[c.index()] == Reach::Foreign && self.reach[x.index()] == self.reach[y.index()] =>
                {
                    self.point(&inst.results, self.reach[x.index()])
                }
                _ => self.compute(inst, None),
            },
            // An element of an array, say: no operation makes a pointer of a number.
            None if inst.results.iter().all(is_pointer) => {
                let is_step = op.spec.is_some() && inst.args.iter().filter(|value| is_pointer(value)).count() == 1;
                let base = inst.args.iter().position(is_pointer).filter(|_| is_step);
                self.compute(inst, base.map(|n| n..n + 1))
            }
            _ => self.compute(inst, None),
        }
    }

    /// Is it whether an address is null, or equal to another one in the same object?
    fn tells_nothing(&self, args: &[Value]) -> bool {
        let [x, y] = args else { return false };
        let (one, other) = (self.reach[x.index()], self.reach[y.index()]);
        let is_null = |value: &Value| self.constants.get(value) == Some(&0);
        let is_address = |reach| matches!(reach, Reach::Address(_));
        is_address(one) && (one == other || is_null(y)) || is_address(other) && is_null(x)
    }

    /// The result is derived from the objects of its operands; it is an address in one if that is an operand among `bases`
    /// and all others are foreign.
    fn compute(&mut self, inst: &Inst, bases: Option<Range<usize>>) -> bool {
        let reaches = || inst.args.iter().map(|value| self.reach[value.index()]);
        if reaches().any(|reach| reach == Reach::None) {
            return false;
        }
        let joined = reaches().fold(Reach::Foreign, Reach::join);
        let addresses = || reaches().enumerate().filter(|(_, reach)| *reach != Reach::Foreign);
        let mut derived = joined.object().map_or(joined, Reach::Derived);
        if let (Some(bases), Some((n, Reach::Address(object)))) = (bases, addresses().next())
            && addresses().count() == 1
            && bases.contains(&n)
        {
            derived = Reach::Address(object);
        }
        let gone = if joined == Reach::Several { self.escape(&inst.args) } else { false };
        gone | self.point(&inst.results, derived)
    }

    fn point(&mut self, values: &[Value], to: Reach) -> bool {
        let mut is_new = false;
        for value in values {
            let now = self.reach[value.index()];
            let joined = now.join(to);
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
        reach.object().is_some_and(|object| self.escaped.insert(object))
    }
}

fn begins_object(f: &Function, inst: &Inst, universe: &Universe) -> bool {
    match &inst.kind {
        InstKind::Op { op, .. } => !universe.ops.get(*op).effects.allocates.is_empty(),
        _ => f.objects.place(inst).is_some(),
    }
}

#[cfg(test)]
mod tests;
