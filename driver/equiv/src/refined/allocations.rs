//! Allocations that are not observable: memory whose address stays in a function is a stack slot of it.
//!
//! The first version may choose whether an allocation succeeds, and where, so one that does not escape may be taken to
//! succeed: that is one of the things that the first version may do. This does not hold of the second version.

use super::super::annotations::parts;
use super::super::modules::Version;
use super::super::promises::Promises;
use super::symexec::{allocated, block};
use rewright_llvm::body::{Body, Instruction, Operand, Shape, Slot};
use rewright_llvm::captures::{captured, holes};
use rewright_llvm::effects;
use rewright_llvm::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// The alignment of what an allocator gives, in bytes.
const ALIGNMENT: u64 = 16;

/// What a call does with memory as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allocation {
    /// It gives this many bytes, if their number is a constant; their content is unknown.
    Gives(Option<u64>),
    Frees,
}

/// The first version's body, with slots instead of allocations that are not observable, where the second one has fewer
/// allocations.
pub(super) fn without_unseen(versions: [Version<'_>; 2], bodies: &[Body; 2]) -> Option<Body> {
    let [first, second] = [0, 1].map(|n| {
        let all = bodies[n].blocks.iter().flat_map(|block| &block.instructions);
        all.filter(|i| matches!(allocation(versions[n], i), Some(Allocation::Gives(_)))).count()
    });
    if second >= first {
        return None;
    }
    let (version, body) = (versions[0], &bodies[0]);
    let unseen = unseen(version, body);
    if unseen.is_empty() {
        return None;
    }
    let mut body = body.clone();
    let mut slots = vec![];
    for block in &mut body.blocks {
        block.instructions.retain(|i| {
            let bytes = i.result.as_ref().and_then(|name| unseen.get(name.as_str()));
            slots.extend(bytes.map(|bytes| slot(i, *bytes)));
            let frees = allocation(version, i) == Some(Allocation::Frees)
                && freed(i).is_some_and(|pointer| unseen.contains_key(pointer));
            bytes.is_none() && !frees
        });
    }
    body.blocks.first_mut()?.instructions.splice(0..0, slots);
    Some(body)
}

/// Names of what is allocated once, and that only this function reads, writes and frees, with how many bytes that are.
fn unseen<'b>(version: Version<'_>, body: &'b Body) -> BTreeMap<&'b str, u64> {
    let others = captured(&body.blocks, |i| match &i.shape {
        Shape::Call { .. } if allocation(version, i) == Some(Allocation::Frees) => vec![],
        Shape::Call { callee: Some(callee), .. } if callee.starts_with("@llvm.lifetime.") => vec![],
        Shape::Call { .. } if block(i).is_some() => vec![],
        _ => holes(i).collect(),
    });
    let mut found = BTreeMap::new();
    for (n, block) in body.blocks.iter().enumerate() {
        for i in &block.instructions {
            if let (Some(name), Some(Allocation::Gives(Some(bytes)))) = (i.result.as_deref(), allocation(version, i))
                && !others.contains(name)
                && !is_repeated(body, n)
            {
                found.insert(name, bytes);
            }
        }
    }
    // A freed object must be one of these as a whole, or certainly another one.
    let promises = Promises::new(version, body);
    let frees = body.blocks.iter().flat_map(|block| &block.instructions);
    for pointer in frees.filter(|i| allocation(version, i) == Some(Allocation::Frees)).filter_map(freed) {
        if !found.contains_key(pointer) {
            let roots: BTreeSet<&str> = promises.roots(pointer).into_iter().collect();
            found.retain(|name, _| !roots.contains(name));
        }
    }
    found
}

fn allocation(version: Version<'_>, i: &Instruction) -> Option<Allocation> {
    let Shape::Call { callee: Some(callee), attributes, bundles: false, .. } = &i.shape else { return None };
    let said = effects::attributes(version.file(), Some(callee), attributes).concat();
    let (_, kind) = said.iter().map(|a| parts(a)).find(|(name, _)| *name == "allockind")?;
    let says = |word: &str| kind.trim_matches('"').split(',').any(|other| other.trim() == word);
    if says("free") {
        return Some(Allocation::Frees);
    }
    if !says("alloc") {
        return None;
    }
    Some(Allocation::Gives(allocated(i, &said).filter(|_| says("uninitialized") && !says("aligned"))))
}

/// The pointer that a call frees.
fn freed(i: &Instruction) -> Option<&str> {
    match &i.shape {
        Shape::Call { args, .. } => args.first().map(|pointer| pointer.text.as_str()),
        _ => None,
    }
}

/// Does control come to a block twice?
fn is_repeated(body: &Body, block: usize) -> bool {
    let targets = |n: usize| body.blocks[n].targets();
    let position = |label: &String| body.blocks.iter().position(|b| b.label == *label);
    let mut seen: Vec<usize> = targets(block).into_iter().filter_map(position).collect();
    let mut at = 0;
    while let Some(n) = seen.get(at).copied() {
        at += 1;
        for next in targets(n).into_iter().filter_map(position) {
            if !seen.contains(&next) {
                seen.push(next);
            }
        }
    }
    seen.contains(&block)
}

fn slot(call: &Instruction, bytes: u64) -> Instruction {
    let ty = Type::Array(bytes, Box::new(Type::Int(8)));
    Instruction {
        opcode: "alloca".into(),
        flags: vec![],
        shape: Shape::Alloca(Slot { ty, count: None::<Operand>, align: ALIGNMENT }),
        metadata: vec![],
        ..call.clone()
    }
}
