//! Which stack slots may be values, in which parts, and what instructions do with them.

use super::super::super::annotations::{number, parts as parts_of};
use super::super::super::memory_blocks::{BlockOperation, MemoryBlock};
use super::super::super::modules::Version;
use super::super::flow::Flow;
use super::super::strides::{Stride, stride};
use super::super::symexec::{MODELLED, promises, slots_last};
use super::Side;
use crate::replay::Layout;
use rewright_llvm::body::{Instruction, MemoryAccess, Operand, Shape, Slot};
use rewright_llvm::types::Type;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Parts of a slot, at most.
const MOST_PARTS: usize = 64;

/// A part of a slot that is accessed as a whole.
pub(super) struct Part {
    /// No other value is called so.
    pub(super) name: String,
    pub(super) ty: Type,
}

/// What an instruction does with slots that are values.
pub(super) enum Effect {
    /// It makes a slot or an address in one, or says that a lifetime ends.
    Nothing,
    Reads(usize),
    /// Parts, and their values: names or constants.
    Writes(Vec<(usize, String)>),
}

/// Slots that are values.
pub(super) struct Slots {
    pub(super) parts: Vec<Part>,
    /// By block and instruction.
    effects: FxHashMap<(usize, usize), Effect>,
}

/// A value of a part where nothing has been written to it.
pub(super) const UNWRITTEN: &str = "undef";

/// Is something promised of a value that is read?
pub(super) fn is_promised(i: &Instruction) -> bool {
    i.metadata.iter().any(|(kind, _)| MODELLED.contains(&kind.as_str()))
}

impl Slots {
    /// Those of a body; `None` where there are none.
    pub(super) fn find(version: Version<'_>, side: Side, flow: &Flow<'_>) -> Option<Slots> {
        let layout = version.module.sizes.as_ref().ok()?;
        if !slots_last(&flow.body.blocks) {
            return None;
        }
        let mut search = Search { version, side, flow, layout, found: BTreeMap::new(), pointers: FxHashMap::default() };
        search.slots();
        search.look();
        let found = &mut search.found;
        found.retain(|_, one| one.is_value());
        if side == Side::Second {
            found.retain(|_, one| one.is_alive(flow));
        }
        (!found.is_empty()).then(|| search.effects())
    }

    /// What an instruction does with slots, if anything.
    pub(super) fn effect(&self, block: usize, instruction: usize) -> Option<&Effect> {
        self.effects.get(&(block, instruction))
    }
}

/// What an instruction does with one slot.
enum Use<'a> {
    Makes,
    Reads(u64),
    Writes(u64, &'a str),
    /// From here to there with zeros.
    Clears(u64, u64),
    Begins,
    Ends,
}

/// A slot that may be one.
struct Candidate<'a> {
    size: u64,
    align: u64,
    /// By offset: type, size, and what its accesses promise beside values.
    parts: BTreeMap<u64, (&'a Type, u64, Option<Vec<String>>)>,
    uses: Vec<((usize, usize), Use<'a>)>,
    /// Something else is done with its address.
    is_memory: bool,
}

struct Search<'a> {
    version: Version<'a>,
    side: Side,
    flow: &'a Flow<'a>,
    layout: &'a Layout<'a>,
    found: BTreeMap<&'a str, Candidate<'a>>,
    /// Slots, and how many bytes further.
    pointers: FxHashMap<&'a str, (&'a str, u64)>,
}

impl<'a> Search<'a> {
    /// Slots of known sizes that are made once.
    fn slots(&mut self) {
        let Some(entry) = self.flow.body.blocks.first().filter(|_| self.flow.predecessors(0).next().is_none()) else {
            return;
        };
        for i in &entry.instructions {
            let (Shape::Alloca(slot), Some(name), Type::Ptr, true) = (&i.shape, &i.result, &i.ty, i.flags.is_empty())
            else {
                continue;
            };
            let Some((size, align)) = self.sizes(slot) else { continue };
            let one = Candidate { size, align, parts: BTreeMap::new(), uses: vec![], is_memory: false };
            self.found.insert(name, one);
            self.pointers.insert(name, (name, 0));
        }
    }

    fn sizes(&self, slot: &Slot) -> Option<(u64, u64)> {
        let count = slot.count.as_ref().map_or(Some(1), |count| count.text.parse().ok())?;
        let size = self.layout.size(&slot.ty).ok()?.checked_mul(count)?;
        let align = if slot.align == 0 { self.layout.alignment(&slot.ty).ok()? } else { slot.align };
        Some((size, align))
    }

    /// Looks at all uses of slots.
    fn look(&mut self) {
        let flow = self.flow;
        for at in flow.order() {
            for (n, i) in flow.body.blocks[*at].instructions.iter().enumerate() {
                self.instruction(i, (*at, n));
            }
        }
        // A phi may take what comes behind it.
        for i in flow.body.blocks.iter().flat_map(|block| &block.instructions) {
            if let Shape::Phi(values) = &i.shape {
                values.iter().for_each(|(value, _)| self.is_memory(&value.text));
            }
        }
    }

    fn instruction(&mut self, i: &'a Instruction, at: (usize, usize)) {
        let used = match &i.shape {
            Shape::Alloca(_) => i.result.as_deref().map(|name| (name, Use::Makes)),
            Shape::Load(from, said) => {
                self.accessed(i, from, &i.ty, said).map(|at| (from.text.as_str(), Use::Reads(at)))
            }
            Shape::Store(value, to, said) => {
                self.is_memory(&value.text);
                let place = self.accessed(i, to, &value.ty, said);
                place.map(|at| (to.text.as_str(), Use::Writes(at, &value.text)))
            }
            Shape::Offset { base, source, indices } => {
                let further = self.further(i, base, source, indices);
                if let (Some(further), Some(name)) = (further, &i.result) {
                    self.pointers.insert(name, further);
                }
                further.map(|_| (base.text.as_str(), Use::Makes))
            }
            Shape::Call { callee: Some(callee), args, bundles: false, .. } => match callee.as_str() {
                "@llvm.lifetime.start.p0" => self.lifetime(args).map(|slot| (slot, Use::Begins)),
                "@llvm.lifetime.end.p0" => self.lifetime(args).map(|slot| (slot, Use::Ends)),
                _ => self.cleared(i),
            },
            _ => None,
        };
        match used {
            Some((pointer, used)) => {
                if let Some(one) = self.pointers.get(pointer).and_then(|(slot, _)| self.found.get_mut(slot)) {
                    one.uses.push((at, used));
                }
            }
            None => i.template.holes.iter().for_each(|name| self.is_memory(name)),
        }
    }

    /// Something is done with a pointer that only memory has.
    fn is_memory(&mut self, name: &str) {
        if let Some(one) = self.pointers.get(name).and_then(|(slot, _)| self.found.get_mut(slot)) {
            one.is_memory = true;
        }
    }

    /// Where in a slot an access is, if it is a part of it and always defined.
    fn accessed(&mut self, i: &Instruction, pointer: &Operand, ty: &'a Type, said: &MemoryAccess) -> Option<u64> {
        let (slot, offset) = *self.pointers.get(pointer.text.as_str())?;
        let bytes = self.layout.store_size(ty).ok()?;
        let align = if said.align == 0 { self.layout.alignment(ty).ok()? } else { said.align };
        let promises = if self.side == Side::Second { promises(self.version, i) } else { vec![] };
        let is_scalar = matches!(self.layout.parts(ty), Ok(None));
        let one = self.found.get_mut(slot)?;
        let fits = bytes > 0 && offset.checked_add(bytes)? <= one.size && one.is_aligned(offset, align);
        // Only of types of accesses it is known that they are kept where all accesses say the same.
        let is_kept = promises.iter().all(|promise| parts_of(promise).0 == "!tbaa");
        if !said.plain || !fits || !is_kept || (is_promised(i) && !is_scalar) || one.parts.len() == MOST_PARTS {
            return None;
        }
        let (known, size, others) = one.parts.entry(offset).or_insert((ty, bytes, None));
        let said = (!promises.is_empty()).then_some(promises);
        let agrees = others.is_none() || said.is_none() || *others == said;
        *others = others.take().or(said);
        (*known == ty && *size == bytes && agrees).then_some(offset)
    }

    /// A slot, and how many bytes further in it something points, by constants that lead forward and not out of it.
    fn further(&self, i: &Instruction, base: &Operand, source: &Type, indices: &[Operand]) -> Option<(&'a str, u64)> {
        let (slot, mut offset) = *self.pointers.get(base.text.as_str())?;
        let size = self.found.get(slot)?.size;
        if i.ty != Type::Ptr || i.flags.iter().any(|flag| !["inbounds", "nusw", "nuw"].contains(&flag.as_str())) {
            return None;
        }
        let mut ty = source.clone();
        for (n, index) in indices.iter().enumerate() {
            let number = index.text.parse::<i64>().ok()?;
            let (next, by) = stride(self.layout, &ty, n == 0, Some(number))?;
            let more = match by {
                Stride::Field(bytes) => bytes,
                Stride::Each(bytes) => u64::try_from(number).ok()?.checked_mul(bytes)?,
            };
            offset = offset.checked_add(more).filter(|offset| *offset <= size)?;
            ty = next;
        }
        Some((slot, offset))
    }

    /// The slot of which all has a lifetime.
    fn lifetime(&self, args: &'a [Operand]) -> Option<&'a str> {
        let [size, pointer] = args else { return None };
        let (slot, 0) = *self.pointers.get(pointer.text.as_str())? else { return None };
        let all = self.found.get(slot)?.size.to_string();
        (size.text == "-1" || size.text == all).then_some(slot)
    }

    /// A slot in which bytes are set to zeros.
    fn cleared(&self, i: &'a Instruction) -> Option<(&'a str, Use<'a>)> {
        let block =
            MemoryBlock::of(i).filter(|block| block.operation == BlockOperation::Set && block.from.text == "0")?;
        let (slot, offset) = *self.pointers.get(block.to.text.as_str())?;
        let one = self.found.get(slot)?;
        let align = block.promises.first().and_then(|said| number(said, "align")).unwrap_or(1);
        let promises = self.side == Side::Second && !promises(self.version, i).is_empty();
        let end = offset.checked_add(block.bytes()?).filter(|end| *end <= one.size)?;
        (!promises && one.is_aligned(offset, align)).then_some((slot, Use::Clears(offset, end)))
    }

    /// What instructions do with the slots that are left.
    fn effects(self) -> Slots {
        let (mut parts, mut effects) = (vec![], FxHashMap::default());
        for (name, one) in &self.found {
            let first = parts.len();
            for (offset, (ty, ..)) in &one.parts {
                parts.push(Part { name: format!("{name}+{offset}"), ty: (*ty).clone() });
            }
            let number = |at: &u64| first + one.parts.range(..at).count();
            for (at, used) in &one.uses {
                let all = |from: u64, to: u64, value: &dyn Fn(&Type) -> &'static str| {
                    let parts = one.parts.range(from..to);
                    Effect::Writes(parts.map(|(at, (ty, ..))| (number(at), value(ty).to_string())).collect())
                };
                let effect = match used {
                    Use::Makes | Use::Ends => Effect::Nothing,
                    Use::Reads(at) => Effect::Reads(number(at)),
                    Use::Writes(at, value) => Effect::Writes(vec![(number(at), value.to_string())]),
                    Use::Clears(from, to) => all(*from, *to, &zero),
                    Use::Begins => all(0, one.size, &|_| UNWRITTEN),
                };
                effects.insert(*at, effect);
            }
        }
        Slots { parts, effects }
    }
}

impl Candidate<'_> {
    fn is_aligned(&self, offset: u64, align: u64) -> bool {
        align.is_power_of_two() && self.align.is_multiple_of(align) && offset.is_multiple_of(align)
    }

    /// Is it accessed in parts that have nothing in common?
    fn is_value(&self) -> bool {
        let ends = self.parts.iter().map(|(at, (_, bytes, _))| at + bytes);
        let apart = ends.zip(self.parts.keys().skip(1)).all(|(end, next)| end <= *next);
        let whole = |from: u64, to: u64| {
            let inside = |at: u64, bytes: u64| (from <= at && at + bytes <= to) || at + bytes <= from || to <= at;
            self.parts.iter().all(|(at, (_, bytes, _))| inside(*at, *bytes))
        };
        let cleared = self.uses.iter().all(|(_, used)| match used {
            Use::Clears(from, to) => whole(*from, *to),
            _ => true,
        });
        !self.is_memory && apart && cleared
    }

    /// Is it accessed within its lifetime only?
    fn is_alive(&self, flow: &Flow<'_>) -> bool {
        let begins = self.uses.iter().any(|(_, used)| matches!(used, Use::Begins));
        let ends = self.uses.iter().any(|(_, used)| matches!(used, Use::Ends));
        if !begins && !ends {
            return true;
        }
        // Blocks at whose beginning it may be dead.
        let mut dead: BTreeSet<usize> = BTreeSet::new();
        dead.extend(begins.then_some(0));
        let mut todo: Vec<usize> = flow.order().to_vec();
        while let Some(at) = todo.pop() {
            let mut is_dead = dead.contains(&at);
            let mut here: Vec<_> = self.uses.iter().filter(|((block, _), _)| *block == at).collect();
            here.sort_by_key(|(at, _)| *at);
            for (_, used) in here {
                match used {
                    Use::Begins => is_dead = false,
                    Use::Ends => is_dead = true,
                    Use::Reads(_) | Use::Writes(..) | Use::Clears(..) if is_dead => return false,
                    _ => {}
                }
            }
            if is_dead {
                todo.extend(flow.successors(at).filter(|to| dead.insert(*to)));
            }
        }
        true
    }
}

/// What a value of a type is whose bytes are zeros.
fn zero(ty: &Type) -> &'static str {
    match ty {
        Type::Int(1) => "false",
        Type::Int(_) => "0",
        Type::Ptr => "null",
        _ => "zeroinitializer",
    }
}
