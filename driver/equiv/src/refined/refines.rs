//! When one behaviour refines another: the claim that a solver is asked to break.

use super::fits;
use super::meaning::{Value, format, is_float};
use super::symexec::{Access, AccessKind, Behaviour, Kind, Memory, Object, apart, within};
use super::type_tags::follows;
use crate::not_modelled::NotModelled;
use rewright_llvm::types::Type;
use rewright_smt::{self as smt, Expr, Script, Sort};
use rustc_hash::FxHashSet;

/// When the second version does what the first one may do, and whether it accesses anything that may not be there.
pub(super) fn refines(s: &mut Script, old: &Behaviour, new: &Behaviour) -> Result<(Expr, bool), NotModelled> {
    // Where a condition makes both undefined, there is nothing to show.
    let shared: FxHashSet<Expr> = old.undefined_when.iter().copied().collect();
    let mut undefined: Vec<Expr> = new.undefined_when.iter().filter(|when| !shared.contains(when)).copied().collect();
    let mut uncovered = false;
    for access in &new.accesses {
        fits(s)?;
        let there = covered(s, access, old, new);
        uncovered |= there != access.reached;
        let missing = s.not(there);
        undefined.push(s.and(&[access.reached, missing]));
    }
    let undefined = s.or(&undefined);
    let defined = s.not(undefined);
    let mut same = vec![];
    if let (Some(was), Some(is)) = (&old.returned, &new.returned) {
        let lanes: Vec<Lane> = was.iter().flatten().copied().zip(is.iter().flatten().copied()).collect();
        for (lane, ty) in lanes.iter().zip(old.result.iter().cycle()) {
            same.push(returned_refines(s, *lane, ty, |s| may_be_another(s, old, *lane, &lanes)));
        }
    }
    let slots: Vec<Expr> = old.slots.iter().chain(&new.slots).copied().collect();
    let without =
        Without { slots: &slots, objects: old.objects.iter().chain(&new.objects).filter(|o| o.is_slot()).collect() };
    same.push(memories_refine(s, &old.memory, &new.memory, &without)?);
    // If a call does not return in the first version, results and memory are not compared.
    let (left, returned) = (s.not(old.returns), s.and(&same));
    let mut same = vec![defined, s.equal(old.trace, new.trace), s.or(&[left, returned])];
    // Callees cannot observe slots that do not escape.
    let kept = |object: &&Object| object.kind == Kind::Slot { escapes: false };
    let kept: Vec<&Object> = old.objects.iter().chain(&new.objects).filter(kept).collect();
    let slots: Vec<Expr> = kept.iter().map(|object| object.address).collect();
    let without = Without { slots: &slots, objects: kept };
    for was in &old.events {
        for is in new.events.iter().filter(|is| is.name == was.name) {
            let in_turn = s.equal(was.before, is.before);
            if in_turn == Expr::FALSE {
                continue;
            }
            let seen = memories_refine(s, &was.memory, &is.memory, &without)?;
            let equal = s.equal(was.trace, is.trace);
            let both = s.and(&[was.reached, is.reached, in_turn, equal]);
            let others = s.not(both);
            same.push(s.or(&[others, seen]));
        }
    }
    let same = s.and(&same);
    Ok((s.or(&[old.undefined, same]), uncovered))
}

/// A lane of what both versions return.
type Lane = (Value, Value);

/// When the first version may choose the NaN in a lane as another one: nothing else that it does tells which one it has
/// chosen, but lanes that hold the same bits, which then change as this one does.
fn may_be_another(s: &mut Script, old: &Behaviour, (was, is): Lane, lanes: &[Lane]) -> Expr {
    let choices = s.choices_of_nan(was.bits);
    let (alike, others): (Vec<Lane>, Vec<Lane>) = lanes.iter().partition(|(other, _)| other.bits == was.bits);
    let mut seen = old.terms();
    seen.extend(others.iter().map(|(other, _)| other.bits));
    seen.extend(lanes.iter().flat_map(|(other, _)| [Some(other.poison), other.origin]).flatten());
    if s.see_choices(&seen, &choices) {
        return Expr::FALSE;
    }
    let all: Vec<Expr> = alike.iter().map(|(_, other)| s.equal(other.bits, is.bits)).collect();
    s.and(&all)
}

fn returned_refines(
    s: &mut Script,
    (was, is): Lane,
    ty: &Type,
    may_be_another: impl FnOnce(&mut Script) -> Expr,
) -> Expr {
    let mut equal = vec![s.equal(was.bits, is.bits)];
    // Of a NaN that is not computed, all bits stay.
    if let (true, Some(format)) = (is_float(ty), format(ty)) {
        let freedom = s.freedom_of_nan(was.bits);
        if freedom.payload != Expr::FALSE {
            let [first, second] = [was.bits, is.bits].map(|bits| {
                let float = s.float(bits, format);
                s.apply("fp.isNaN", &[float], Sort::Bool)
            });
            let top = was.bits.width() - 1;
            let signs = [was.bits, is.bits].map(|bits| s.extract(bits, top, top));
            let same = s.equal(signs[0], signs[1]);
            let sign = s.or(&[freedom.sign, same]);
            let other = may_be_another(s);
            equal.push(s.and(&[first, second, freedom.payload, sign, other]));
        }
    }
    let mut equal = s.or(&equal);
    if let (Some(was), Some(is), bits) = (was.origin, is.origin, is.bits) {
        // A null that is computed may stand for one that is written.
        let nowhere = s.bits(64, 0);
        let (one, none, some) = (s.equal(was, is), s.equal(was, nowhere), s.nonzero(bits));
        let null = s.not(some);
        let written = s.and(&[none, null]);
        let one = s.or(&[one, written]);
        equal = s.and(&[equal, one]);
    }
    value_refines(s, was.poison, is.poison, equal)
}

/// Stack slots whose memory is not compared.
#[derive(Default)]
pub(super) struct Without<'a> {
    slots: &'a [Expr],
    /// Those of which more is known.
    objects: Vec<&'a Object>,
}

/// When the second version's slots lie where nothing is that the first one accesses.
pub(super) fn placed(s: &mut Script, old: &Behaviour, new: &Behaviour) -> Expr {
    let mut all = vec![old.facts, new.facts];
    let slots =
        |behaviour: &'_ Behaviour| behaviour.objects.iter().filter(|o| o.is_slot()).cloned().collect::<Vec<_>>();
    let own = slots(old);
    for slot in slots(new) {
        for access in &old.accesses {
            let of_slot: Vec<Expr> = own.iter().map(|own| s.equal(access.origin, own.origin)).collect();
            let apart = apart(s, &slot, access.address, access.bytes);
            let never = s.not(access.reached);
            all.push(s.or(&[of_slot, vec![never, apart]].concat()));
        }
    }
    s.and(&all)
}

/// Both samples of what is in memory, except for what lies in some stack slots.
pub(super) fn memories_refine(
    s: &mut Script,
    old: &[Memory; 2],
    new: &[Memory; 2],
    without: &Without<'_>,
) -> Result<Expr, NotModelled> {
    let same = old.iter().zip(new).map(|(was, is)| memory_refines(s, *was, *is, without));
    let same = same.collect::<Result<Vec<Expr>, NotModelled>>()?;
    Ok(s.and(&same))
}

/// A memory and what is poison in it, against another one's.
fn memory_refines(s: &mut Script, old: Memory, new: Memory, without: &Without<'_>) -> Result<Expr, NotModelled> {
    let mut addresses = smt::written(s, old.bits).0;
    for address in smt::written(s, new.bits).0 {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    let chains = [[old.bits, new.bits], [old.poison_memory, new.poison_memory], [old.origins, new.origins]];
    let differ = chains.map(|[was, is]| smt::may_differ(s, was, is)).concat();
    addresses.retain(|address| differ.contains(address));
    addresses.retain(|address| !without.slots.iter().any(|slot| address.is_from(*slot)));
    let mut same = vec![];
    for address in &addresses {
        fits(s)?;
        let [was, is] = [old, new].map(|memory| {
            let poison_memory = smt::read(s, memory.poison_memory, address);
            let [bits, origin] = [memory.bits, memory.origins].map(|chain| smt::read(s, chain, address));
            (bits, s.nonzero(poison_memory), origin)
        });
        let (equal, one) = (s.equal(was.0, is.0), s.equal(was.2, is.2));
        let equal = s.and(&[equal, one]);
        let mut kept = vec![value_refines(s, was.1, is.1, equal)];
        for slot in &without.objects {
            let at = address.term(s);
            kept.push(within(s, slot, at, 1));
        }
        same.push(s.or(&kept));
    }
    Ok(s.and(&same))
}

/// A value that was poison may be anything.
fn value_refines(s: &mut Script, was_poison: Expr, is_poison: Expr, equal: Expr) -> Expr {
    if equal == Expr::TRUE && was_poison == is_poison {
        return Expr::TRUE;
    }
    let defined = s.not(is_poison);
    let kept = s.and(&[defined, equal]);
    s.or(&[was_poison, kept])
}

/// When an access lies within those of the first version that are made, too, of the same object, while nothing has been
/// freed between them, or within an object of its own; for the same condition as the access's own if it always does.
/// Where the second version is not seen to allow the access itself, it lies within an access that the first one makes
/// in the same way.
fn covered(s: &mut Script, access: &Access, old: &Behaviour, new: &Behaviour) -> Expr {
    if access.bytes == 0 {
        return access.reached;
    }
    let others: Vec<&Access> = old.accesses.iter().filter(|other| allows(other, access)).collect();
    let start = s.bits(64, 0);
    let mut inside_of = vec![];
    // Its own slots are there, and what is global.
    let is_there = |object: &&Object| match object.kind {
        Kind::Slot { .. } => true,
        Kind::Global { constant } => access.kind != AccessKind::Write && (access.allowed || constant),
    };
    for object in new.objects.iter().filter(is_there) {
        let one = s.equal(access.origin, object.origin);
        let inside = within(s, object, access.address, access.bytes);
        let there = s.and(&[access.reached, one, inside]);
        if access.promises.is_empty() {
            inside_of.push(there);
        }
    }
    for other in others.iter().filter(|other| other.bytes >= access.bytes) {
        let lives = if access.epoch == start { Expr::TRUE } else { s.equal(access.epoch, other.epoch) };
        let one = s.equal(access.origin, other.origin);
        if other.address == access.address
            && (other.reached == access.reached || other.reached == Expr::TRUE)
            && (lives, one) == (Expr::TRUE, Expr::TRUE)
        {
            return access.reached;
        }
        inside_of.push(part_covered(s, access, 0, access.bytes, other));
    }
    inside_of.extend(covered_in_parts(s, access, &others));
    s.or(&inside_of)
}

/// Does an access show that another one of the same place is allowed, too?
fn allows(other: &Access, access: &Access) -> bool {
    let in_kind = match access.allowed {
        true => other.kind == AccessKind::Write || access.kind != AccessKind::Write,
        // Memory that one pointer may access in this way may not be accessible by another one to the same place.
        false => other.kind == access.kind && other.origin == access.origin,
    };
    in_kind && access.promises.iter().all(|promise| other.promises.iter().any(|known| follows(promise, known)))
}

/// When bytes of an access lie within another one.
fn part_covered(s: &mut Script, access: &Access, from: u64, bytes: u64, other: &Access) -> Expr {
    let start = s.bits(64, 0);
    let lives = if access.epoch == start { Expr::TRUE } else { s.equal(access.epoch, other.epoch) };
    let one = s.equal(access.origin, other.origin);
    let further = s.bits(64, from.into());
    let at = s.apply("bvadd", &[access.address, further], Sort::Bits(64));
    let distance = s.apply("bvsub", &[at, other.address], Sort::Bits(64));
    let most = s.bits(64, (other.bytes - bytes).into());
    let inside = s.apply("bvule", &[distance, most], Sort::Bool);
    s.and(&[other.reached, inside, lives, one])
}

/// Parts of an access, at most.
const MOST_PARTS: u64 = 64;

/// When an access, which is perhaps one of a vector, lies within several: each of its parts, which are as large as the
/// smallest of those, within one. They are of one object, and so is what lies between them.
fn covered_in_parts(s: &mut Script, access: &Access, others: &[&Access]) -> Option<Expr> {
    let smaller = others.iter().map(|other| other.bytes).filter(|bytes| (1..access.bytes).contains(bytes));
    let bytes =
        smaller.min().filter(|bytes| access.bytes.is_multiple_of(*bytes) && access.bytes / bytes <= MOST_PARTS)?;
    let parts = (0..access.bytes / bytes).map(|n| {
        let covers = others.iter().filter(|other| other.bytes >= bytes);
        let all: Vec<Expr> = covers.map(|other| part_covered(s, access, n * bytes, bytes, other)).collect();
        s.or(&all)
    });
    let all: Vec<Expr> = parts.collect();
    Some(s.and(&all))
}
