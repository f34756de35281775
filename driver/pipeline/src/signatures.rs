//! Finding the declared operation that an instruction of a front end is.
//!
//! A front end has spellings of its own; several declared operations may share one. Which one fits is decided by the
//! types of operands and results, all of which must have a representation.

use indexmap::IndexMap;
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Op, OpId, Repr, Ty, TypeExpr, TypeStore};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::Hash;

/// A type in a declared signature, as far as matching needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slot {
    /// The n-th type parameter.
    Param(u32),
    /// Exactly this type.
    Fixed(Ty),
    /// Nothing that a front end can write.
    Never,
}

/// A declared operation's signature.
#[derive(Clone, Debug)]
struct Signature {
    op: OpId,
    /// Per type parameter: the types within its bound.
    tparams: Vec<Vec<Ty>>,
    params: Vec<Slot>,
    results: Vec<Slot>,
    /// Which parameters are `const`.
    constant: Vec<bool>,
    memory: bool,
}

/// Declared operations by a front end's spelling `K`.
#[derive(Clone, Debug)]
pub struct Signatures<K> {
    reprs: IndexMap<Ty, Repr>,
    by_spelling: FxHashMap<K, Vec<Signature>>,
}

impl<K: Eq + Hash> Signatures<K> {
    /// No operations yet, over the types with a representation that the front end can write.
    pub fn new(reprs: impl IntoIterator<Item = (Ty, Repr)>) -> Self {
        Signatures { reprs: reprs.into_iter().collect(), by_spelling: FxHashMap::default() }
    }

    /// The representation of a type.
    pub fn repr(&self, ty: Ty) -> Option<Repr> {
        self.reprs.get(&ty).copied()
    }

    /// From now on, the operation is what instructions of this spelling may be.
    pub fn declare(&mut self, spelling: K, id: OpId, op: &Op, types: &mut TypeStore) {
        let all = || self.reprs.keys().copied();
        let tparams = op
            .tparams
            .iter()
            .map(|param| match &param.bound {
                None => all().collect(),
                Some(bound) => all().filter(|ty| within(types, *ty, bound)).collect(),
            })
            .collect();
        let signature = Signature {
            op: id,
            tparams,
            params: op.params.iter().map(|p| slot(types, &p.ty)).collect(),
            results: op.results.iter().map(|r| slot(types, r)).collect(),
            constant: op.params.iter().map(|p| p.constant).collect(),
            memory: op.effects.accesses_memory(),
        };
        self.by_spelling.entry(spelling).or_default().push(signature);
    }

    /// The operation and type arguments that fit an instruction with these operand and result types.
    /// `constant[i]` says that operand `i` is an immediate: it must meet a `const` parameter, and only it may.
    pub fn instance(
        &self,
        spelling: &K,
        params: &[Ty],
        constant: &[bool],
        results: &[Ty],
        memory: bool,
    ) -> Option<(OpId, SmallVec<[Ty; 2]>)> {
        let candidates = self.by_spelling.get(spelling)?;
        candidates.iter().find_map(|sig| {
            if sig.params.len() != params.len()
                || sig.results.len() != results.len()
                || sig.constant != constant
                || sig.memory != memory
            {
                return None;
            }
            let mut targs: SmallVec<[Option<Ty>; 2]> = SmallVec::from_elem(None, sig.tparams.len());
            let slots = sig.params.iter().chain(&sig.results);
            for (slot, ty) in slots.zip(params.iter().chain(results)) {
                self.repr(*ty)?;
                match slot {
                    Slot::Never => return None,
                    Slot::Fixed(fixed) if fixed != ty => return None,
                    Slot::Fixed(_) => {}
                    Slot::Param(n) => match targs.get_mut(*n as usize)? {
                        Some(bound) if bound != ty => return None,
                        Some(_) => {}
                        free => *free = Some(*ty),
                    },
                }
            }
            let targs: SmallVec<[Ty; 2]> = targs.into_iter().collect::<Option<_>>()?;
            targs.iter().zip(&sig.tparams).all(|(ty, allowed)| allowed.contains(ty)).then_some((sig.op, targs))
        })
    }
}

/// A signature's type, resolved.
fn slot(types: &mut TypeStore, expr: &TypeExpr) -> Slot {
    match expr {
        TypeExpr::Param(n) => Slot::Param(*n),
        TypeExpr::App(decl, args) if args.is_empty() => {
            Slot::Fixed(types.intern(TypeData::App(*decl, SmallVec::new())))
        }
        _ => Slot::Never,
    }
}

/// Is `ty` within a closed bound? A bound over other parameters is left to the front end's own verifier.
fn within(types: &mut TypeStore, ty: Ty, bound: &TypeExpr) -> bool {
    match types.instantiate(bound, &[]) {
        Some(bound) => types.is_subtype(ty, bound),
        None => true,
    }
}
