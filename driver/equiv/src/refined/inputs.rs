//! What both versions are given: parameters and memory.

use super::super::annotations::{has, number};
use super::super::modules::Version;
use super::facts;
use super::lanes::scalars;
use super::meaning::{Value, width};
use crate::not_modelled::NotModelled;
use rewright_llvm::body::{Body, Shape};
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Script, Sort};
use std::collections::BTreeSet;

/// What both versions are given.
pub(super) struct Inputs {
    /// By parameter and lane: its value, and which of its bits are `undef`.
    pub(super) parameters: Vec<Vec<Leaf>>,
    /// When the parameters are as the first version says they are; a caller that gives others has undefined behaviour,
    /// or gives poison, which is a case of its own.
    pub(super) promised: Expr,
    /// What the first version says of each.
    pub(super) said: Vec<Vec<String>>,
    /// Bytes that the first version says it may read: parameter and size.
    pub(super) readable: Vec<(usize, u64)>,
    pub(super) memory: Expr,
    /// Which bits of memory are poison.
    pub(super) poison_memory: Expr,
    /// Which bits of memory are `undef`.
    pub(super) mask: Expr,
    /// Which objects the pointers in memory belong to: 8 bytes behind the address of each.
    pub(super) origins: Expr,
    /// Parameters, memory and what calls give may be `undef`.
    pub(super) undefined: bool,
}

/// A value that comes from outside: some of its bits may be `undef`.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    pub(super) value: Value,
    /// `None` where no bit is.
    pub(super) mask: Option<Expr>,
    /// What both versions may know it by: a parameter, an address, a call.
    pub(super) key: Expr,
    /// If bits are `undef`, a use may also see poison: it has been computed from what is `undef`.
    pub(super) computed: bool,
    /// The key is an address in this memory: all loads from it at an equal address read the same.
    pub(super) place: Option<Expr>,
}

impl Inputs {
    /// Variables for the parameters of a function, whose bits may be `undef` where that is asked for and matters.
    pub(super) fn new(
        s: &mut Script,
        versions: [Version<'_>; 2],
        bodies: &[Body; 2],
        undefined: bool,
    ) -> Result<Inputs, NotModelled> {
        let definition = versions[0].definition;
        let layout = versions[0].module.sizes.clone()?;
        let only_accessed = only_accessed(versions, bodies);
        let (mut parameters, mut promised, mut readable) = (vec![], vec![], vec![]);
        for (n, parameter) in definition.parameters.iter().enumerate() {
            let defined = has(&parameter.attributes, "noundef");
            // That the second version says so may be wrong.
            let said_after = has(&versions[1].definition.parameters[n].attributes, "noundef");
            let may = undefined && !defined && (said_after || !only_accessed.contains(&n));
            let types = scalars(&layout, &parameter.ty)?;
            let mut leaves = vec![];
            for (k, ty) in types.iter().enumerate() {
                let name = if types.len() == 1 { format!("parameter {n}") } else { format!("parameter {n} lane {k}") };
                let leaf = of_parameter(s, &name, ty, defined, may, 1 + n + LANES * k)?;
                let broken = facts::broken(s, &parameter.attributes, leaf.value.bits);
                let kept = s.not(broken);
                promised.push(s.or(&[leaf.value.poison, kept]));
                leaves.push(leaf);
            }
            parameters.push(leaves);
            readable.extend(number(&parameter.attributes, "dereferenceable").map(|bytes| (n, bytes)));
        }
        let promised = s.and(&promised);
        let [memory, poison_memory, mask, origins] =
            ["memory", "poison in memory", "undef in memory", "pointers in memory"]
                .map(|name| s.variable(name, Sort::Memory));
        let said = definition.parameters.iter().map(|p| p.attributes.clone()).collect();
        Ok(Inputs { parameters, promised, said, readable, memory, poison_memory, mask, origins, undefined })
    }
}

impl Inputs {
    /// What is known of memory that has been read: no pointer in it is one to a slot, whose object is a number that no
    /// byte is of that is there.
    pub(super) fn facts(&self, s: &mut Script) -> Expr {
        let read: Vec<Expr> =
            s.reads().iter().filter(|read| read.memory == self.origins).map(|read| read.byte).collect();
        let slots = s.bits(8, 0xff);
        let all: Vec<Expr> = read
            .into_iter()
            .map(|byte| {
                let same = s.equal(byte, slots);
                s.not(same)
            })
            .collect();
        s.and(&all)
    }
}

/// Parameters, at most, whose objects are told apart.
const LANES: usize = 1 << 20;

/// A lane of a parameter; `may` some of its bits be `undef`?
fn of_parameter(
    s: &mut Script,
    name: &str,
    ty: &Type,
    defined: bool,
    may: bool,
    object: usize,
) -> Result<Leaf, NotModelled> {
    let wide = width(ty)?;
    let bits = s.variable(name, Sort::Bits(wide));
    let poison = match defined {
        true => Expr::FALSE,
        false => s.variable(&format!("{name} is poison"), Sort::Bool),
    };
    let mask = may.then(|| s.variable(&format!("undef bits of {name}"), Sort::Bits(wide)));
    let origin = (*ty == Type::Ptr).then(|| s.bits(64, object as u128));
    Ok(Leaf { value: Value { bits, poison, origin }, mask, key: bits, computed: false, place: None })
}

/// Parameters that are pointers of which both versions do nothing but access what they point to, or a constant further:
/// a version that reaches such an access is undefined where the pointer is `undef`.
fn only_accessed(versions: [Version<'_>; 2], bodies: &[Body; 2]) -> BTreeSet<usize> {
    let is_pointer = |n: &usize| versions[0].definition.parameters[*n].ty == Type::Ptr;
    let mut found: BTreeSet<usize> = (0..versions[0].definition.parameters.len()).filter(is_pointer).collect();
    for (version, body) in versions.iter().zip(bodies) {
        // Uses by anything else than an access, found backward through sums.
        let mut used: Vec<&str> = vec![];
        let all = || body.blocks.iter().flat_map(|b| &b.instructions);
        for i in all() {
            match &i.shape {
                // A volatile one may be of anything.
                Shape::Load(_, access) if access.plain => {}
                Shape::Store(value, _, access) if access.plain => used.push(&value.text),
                Shape::Offset { indices, .. } => used.extend(indices.iter().map(|o| o.text.as_str())),
                _ => used.extend(i.template.holes.iter().map(String::as_str)),
            }
        }
        let mut at = 0;
        while let Some(name) = used.get(at).copied() {
            at += 1;
            for i in all().filter(|i| i.result.as_deref() == Some(name)) {
                if let Shape::Offset { base, .. } = &i.shape {
                    used.push(&base.text);
                }
            }
        }
        let parameters = &version.definition.parameters;
        found.retain(|n| !used.contains(&parameters[*n].name.as_str()));
    }
    found
}
