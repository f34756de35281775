//! Nominal, parametric types with one supertype each, interned as [`Ty`].
//!
//! A type is a declared name applied to arguments: `i32`, `Matrix{Real}`, `Array{Real, 2}`. Declarations form a
//! tree by `<:` whose root is `Any`. Arguments are invariant: `Matrix{Real} <: Matrix{Num}` does *not* hold, but
//! `Matrix{Real} <: Matrix` does, where `Matrix` without arguments stands for every instance.
//!
//! A join may leave some arguments open and know others: `Array{Real, 2}` and `Array{Real, 3}` join to
//! `Array{Real, _}`, which no source can write. Without it two types could have two least upper bounds, and the
//! join would not be associative. With all arguments open a type is its bare name.
//!
//! **Invariant**: a `Ty` is an index into the store that interned it, or into a store extended from that one
//! (a front end clones the packs' store and adds the types that only its input names, say `i8x16`).

use crate::model::{Repr, Scalar};
use crate::stored;
use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::sync::Arc;

/// An interned type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Ty(pub u32);

impl Ty {
    /// The top of the lattice, present in every store.
    pub const ANY: Ty = Ty(0);
}

/// A declared type name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TypeDeclId(pub u32);

/// `T <: bound` in a parameter list.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct TypeParam {
    /// The name as written; inferred parameters have names that no source can write (`?0`).
    pub name: String,
    /// Upper bound; `Any` when absent.
    pub bound: Option<TypeExpr>,
}

/// A type that may mention the parameters of the declaration or rule that it stands in.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum TypeExpr {
    /// The n-th type parameter of the enclosing declaration.
    Param(u32),
    /// A declared type, applied. No arguments on a parametric type: any instance.
    App(TypeDeclId, Vec<TypeExpr>),
    /// An integer argument, as in `Array{Real, 2}`.
    Int(i64),
}

impl TypeExpr {
    /// The same type with something in the place of its parameters.
    pub fn substitute(&self, param: &mut impl FnMut(u32) -> TypeExpr) -> TypeExpr {
        match self {
            TypeExpr::Param(i) => param(*i),
            TypeExpr::Int(n) => TypeExpr::Int(*n),
            TypeExpr::App(decl, args) => TypeExpr::App(*decl, args.iter().map(|a| a.substitute(param)).collect()),
        }
    }
}

/// `type Name{params} <: supertype model scalar`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TypeDecl {
    /// Name, unique in the universe: `Matrix`, or `pack.Matrix` where several packs declare a `Matrix`.
    pub name: String,
    /// Parameters with their bounds.
    pub params: Vec<TypeParam>,
    /// The parent in the lattice; `None` only for `Any`.
    pub supertype: Option<TypeExpr>,
    /// The representation, where the type has one.
    pub model: Option<Repr>,
    /// True where a front end, not a pack, named it: nothing is known of its values.
    pub opaque: bool,
}

impl TypeDecl {
    /// The machine representation, where the type has one of one word.
    pub fn scalar(&self) -> Option<Scalar> {
        self.model?.scalar()
    }

    /// The representation of a constant of the type: the word, or what all lanes of the vector hold.
    pub fn lane(&self) -> Option<Scalar> {
        self.model?.lane()
    }
}

/// What an interned type is made of.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum TypeData {
    /// A declared name and its arguments.
    App(TypeDeclId, #[serde(with = "stored::list")] SmallVec<[Ty; 2]>),
    /// An integer argument.
    Int(i64),
    /// An argument that is not known; stands only as a direct argument, beside one that is known.
    Open,
}

/// All declared type names and all interned types. Clones share what neither has changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TypeStore {
    #[serde(with = "stored::shared_map")]
    decls: Arc<IndexMap<String, TypeDecl>>,
    /// By the names that declarations had before they were renamed.
    #[serde(with = "stored::shared_map")]
    full: Arc<IndexMap<String, TypeDeclId>>,
    #[serde(with = "stored::shared_set")]
    interned: Arc<IndexSet<TypeData>>,
}

impl Default for TypeStore {
    fn default() -> Self {
        Self::new()
    }
}

impl TypeStore {
    /// A store that holds `Any` alone.
    pub fn new() -> Self {
        let mut store = TypeStore { decls: Arc::default(), full: Arc::default(), interned: Arc::default() };
        let any =
            store.declare(TypeDecl { name: "Any".into(), params: vec![], supertype: None, model: None, opaque: false });
        let interned = store.intern(TypeData::App(any, SmallVec::new()));
        debug_assert_eq!(interned, Ty::ANY);
        store
    }

    /// Adds or replaces a declaration; duplicates are the caller's diagnostic.
    pub fn declare(&mut self, decl: TypeDecl) -> TypeDeclId {
        TypeDeclId(Arc::make_mut(&mut self.decls).insert_full(decl.name.clone(), decl).0 as u32)
    }

    /// The declaration called `name`.
    pub fn lookup(&self, name: &str) -> Option<TypeDeclId> {
        self.decls.get_index_of(name).map(|i| TypeDeclId(i as u32))
    }

    /// All declarations that a name may mean: the one called so, now or in full (`pack.name`), else those of packs that
    /// share it.
    pub fn alike(&self, name: &str) -> Vec<TypeDeclId> {
        match self.lookup(name).or_else(|| self.full.get(name).copied()) {
            Some(id) => vec![id],
            None => self.decls().filter(|(_, d)| crate::names::plain(&d.name) == name).map(|(id, _)| id).collect(),
        }
    }

    /// Gives declarations other names; ids stay. Names must stay distinct.
    pub fn rename(&mut self, name_of: impl Fn(&TypeDecl) -> String) {
        let decls = std::mem::take(&mut self.decls);
        for mut decl in Arc::unwrap_or_clone(decls).into_values() {
            let name = name_of(&decl);
            let full = std::mem::replace(&mut decl.name, name);
            let id = self.declare(decl);
            Arc::make_mut(&mut self.full).insert(full, id);
        }
    }

    /// The declaration behind an id.
    pub fn decl(&self, id: TypeDeclId) -> &TypeDecl {
        &self.decls[id.0 as usize]
    }

    /// All declarations in order.
    pub fn decls(&self) -> impl Iterator<Item = (TypeDeclId, &TypeDecl)> {
        self.decls.values().enumerate().map(|(i, d)| (TypeDeclId(i as u32), d))
    }

    /// Interns a type.
    pub fn intern(&mut self, data: TypeData) -> Ty {
        match self.interned.get_index_of(&data) {
            Some(known) => Ty(known as u32),
            None => Ty(Arc::make_mut(&mut self.interned).insert_full(data).0 as u32),
        }
    }

    /// Has neither of two stores changed since one was a clone of the other? Otherwise they may still be equal.
    pub fn is_clone_of(&self, other: &TypeStore) -> bool {
        Arc::ptr_eq(&self.decls, &other.decls) && Arc::ptr_eq(&self.interned, &other.interned)
    }

    /// The type `name` without arguments, if it is declared and already interned or internable.
    pub fn named(&mut self, name: &str) -> Option<Ty> {
        let decl = self.lookup(name)?;
        Some(self.intern(TypeData::App(decl, SmallVec::new())))
    }

    /// The type `name` without arguments, if some stage has interned it.
    pub fn find(&self, name: &str) -> Option<Ty> {
        let decl = self.lookup(name)?;
        self.interned.get_index_of(&TypeData::App(decl, SmallVec::new())).map(|i| Ty(i as u32))
    }

    /// The type `name`; where no pack declares it, a new opaque one.
    pub fn named_or_opaque(&mut self, name: &str) -> Ty {
        if let Some(ty) = self.named(name) {
            return ty;
        }
        self.declare(TypeDecl {
            name: name.into(),
            params: vec![],
            supertype: Some(TypeExpr::App(TypeDeclId(0), vec![])),
            model: None,
            opaque: true,
        });
        self.named(name).unwrap_or(Ty::ANY)
    }

    /// What a type is made of.
    pub fn data(&self, ty: Ty) -> &TypeData {
        &self.interned[ty.0 as usize]
    }

    /// Is it a type of this store?
    pub fn contains(&self, ty: Ty) -> bool {
        (ty.0 as usize) < self.interned.len()
    }

    /// The type made of this, if some stage has interned it.
    pub fn find_data(&self, data: &TypeData) -> Option<Ty> {
        self.interned.get_index_of(data).map(|i| Ty(i as u32))
    }

    /// How many types are interned: those of a store extended from this one start here.
    pub fn interned_len(&self) -> usize {
        self.interned.len()
    }

    /// All interned types in order.
    pub fn all(&self) -> impl Iterator<Item = Ty> + use<> {
        (0..self.interned.len() as u32).map(Ty)
    }

    /// The machine representation, where the type has one of one word.
    pub fn scalar(&self, ty: Ty) -> Option<Scalar> {
        self.repr(ty)?.scalar()
    }

    /// The representation of a declared type, or else of the nearest type above it that has one.
    pub fn repr_of(&self, decl: TypeDeclId) -> Option<Repr> {
        let declared = self.decl(decl);
        match (declared.model, &declared.supertype) {
            (Some(model), _) => Some(model),
            (None, Some(TypeExpr::App(above, _))) => self.repr_of(*above),
            (None, _) => None,
        }
    }

    /// The representation of a constant of a declared type, or else of the nearest type above it that has one.
    pub fn lane_of(&self, decl: TypeDeclId) -> Option<Scalar> {
        self.repr_of(decl)?.lane()
    }

    /// The representation of a constant of the type: the word, or what all lanes of the vector hold.
    pub fn lane(&self, ty: Ty) -> Option<Scalar> {
        self.repr(ty)?.lane()
    }

    /// The representation, where the type has one.
    pub fn repr(&self, ty: Ty) -> Option<Repr> {
        match self.data(ty) {
            TypeData::App(decl, _) => self.decl(*decl).model,
            TypeData::Int(_) | TypeData::Open => None,
        }
    }

    /// The declared supertype, with this instance's arguments put in; `None` for `Any` and for integers.
    pub fn supertype(&mut self, ty: Ty) -> Option<Ty> {
        let TypeData::App(decl, args) = self.data(ty).clone() else { return None };
        let TypeExpr::App(parent, exprs) = self.decl(decl).supertype.clone()? else { return None };
        let args = self.arguments(decl, &args);
        let mut inner: SmallVec<[Option<Ty>; 2]> = SmallVec::new();
        for expr in &exprs {
            inner.push(match is_open(expr, &args) {
                true => None,
                false => {
                    let args: SmallVec<[Ty; 2]> = args.iter().map(|a| a.unwrap_or(Ty::ANY)).collect();
                    Some(self.instantiate(expr, &args)?)
                }
            });
        }
        Some(self.apply(parent, &inner))
    }

    /// The arguments of an instance, `None` for each that is open: all of them where a bare name stands for every
    /// instance.
    fn arguments(&self, decl: TypeDeclId, args: &[Ty]) -> SmallVec<[Option<Ty>; 2]> {
        if args.is_empty() {
            return SmallVec::from_elem(None, self.decl(decl).params.len());
        }
        args.iter().map(|a| (self.data(*a) != &TypeData::Open).then_some(*a)).collect()
    }

    /// The instance with these arguments, some of them open.
    fn apply(&mut self, decl: TypeDeclId, args: &[Option<Ty>]) -> Ty {
        if args.iter().all(Option::is_none) {
            return self.intern(TypeData::App(decl, SmallVec::new()));
        }
        let args = args.iter().map(|a| a.unwrap_or_else(|| self.intern(TypeData::Open))).collect();
        self.intern(TypeData::App(decl, args))
    }

    /// Puts `args` in for the parameters of `expr`; `None` when a parameter has no argument.
    pub fn instantiate(&mut self, expr: &TypeExpr, args: &[Ty]) -> Option<Ty> {
        match expr {
            TypeExpr::Param(i) => args.get(*i as usize).copied(),
            TypeExpr::Int(n) => Some(self.intern(TypeData::Int(*n))),
            TypeExpr::App(decl, exprs) => {
                let inner = exprs.iter().map(|e| self.instantiate(e, args)).collect::<Option<SmallVec<_>>>()?;
                Some(self.intern(TypeData::App(*decl, inner)))
            }
        }
    }

    /// `sub <: sup`: reflexive, transitive, arguments invariant, an open argument above every one.
    pub fn is_subtype(&self, sub: Ty, sup: Ty) -> bool {
        if sub == sup || sup == Ty::ANY {
            return true;
        }
        let TypeData::App(wanted, wanted_args) = self.data(sup) else { return false };
        let wanted_args = self.arguments(*wanted, wanted_args);
        let holds = |args: &[Option<Ty>]| wanted_args.iter().zip(args).all(|(w, a)| w.is_none() || w == a);
        self.ancestor(sub, *wanted).is_some_and(|args| holds(&args))
    }

    /// The arguments of the ancestor (or the type itself) that is an instance of `wanted`, `None` for open ones.
    pub fn ancestor(&self, ty: Ty, wanted: TypeDeclId) -> Option<SmallVec<[Option<Ty>; 2]>> {
        /// Stands for an argument that no stage has interned, hence equal to none that has been.
        const UNKNOWN: Ty = Ty(u32::MAX);
        let TypeData::App(decl, args) = self.data(ty) else { return None };
        let (mut decl, mut args) = (*decl, self.arguments(*decl, args));
        // A declaration's ancestors are distinct, unless a pack is cyclic, which is its author's diagnostic.
        for _ in 0..self.decls.len() {
            if decl == wanted {
                return Some(args);
            }
            let Some(TypeExpr::App(parent, exprs)) = &self.decl(decl).supertype else { return None };
            let known: SmallVec<[Ty; 2]> = args.iter().map(|a| a.unwrap_or(UNKNOWN)).collect();
            let inner = exprs.iter().map(|e| match is_open(e, &args) {
                true => None,
                false => Some(self.find_instance(e, &known).unwrap_or(UNKNOWN)),
            });
            args = match exprs.is_empty() {
                // A bare parent stands for every instance.
                true => SmallVec::from_elem(None, self.decl(*parent).params.len()),
                false => inner.collect(),
            };
            decl = *parent;
        }
        None
    }

    /// The least upper bound: the most specific common ancestor, with those arguments open that differ.
    ///
    /// It commutes, is associative and idempotent: the arguments of an ancestor are made from those of the
    /// descendant, so that opening arguments and going up can be done in either order.
    pub fn join(&mut self, a: Ty, b: Ty) -> Ty {
        let mut at = Some(a);
        while let Some(ty) = at {
            if self.is_subtype(b, ty) {
                return ty;
            }
            if let TypeData::App(decl, args) = self.data(ty).clone()
                && let Some(theirs) = self.ancestor(b, decl)
            {
                let own = self.arguments(decl, &args);
                let common: SmallVec<[Option<Ty>; 2]> =
                    own.iter().zip(&theirs).map(|(x, y)| x.filter(|_| x == y)).collect();
                return self.apply(decl, &common);
            }
            at = self.supertype(ty);
        }
        Ty::ANY
    }

    /// [`TypeStore::instantiate`] without interning: `None` too where no stage has interned the type yet.
    pub fn find_instance(&self, expr: &TypeExpr, args: &[Ty]) -> Option<Ty> {
        let data = match expr {
            TypeExpr::Param(i) => return args.get(*i as usize).copied(),
            TypeExpr::Int(n) => TypeData::Int(*n),
            TypeExpr::App(decl, exprs) => {
                TypeData::App(*decl, exprs.iter().map(|e| self.find_instance(e, args)).collect::<Option<_>>()?)
            }
        };
        self.interned.get_index_of(&data).map(|i| Ty(i as u32))
    }

    /// The type as a pack would write it.
    pub fn display(&self, ty: Ty) -> String {
        match self.data(ty) {
            TypeData::Int(n) => n.to_string(),
            TypeData::Open => "_".into(),
            TypeData::App(decl, args) => {
                let name = &self.decl(*decl).name;
                if args.is_empty() {
                    return name.clone();
                }
                let args: Vec<_> = args.iter().map(|a| self.display(*a)).collect();
                format!("{name}{{{}}}", args.join(", "))
            }
        }
    }
}

/// Does an expression mention a parameter that is open here?
fn is_open(expr: &TypeExpr, args: &[Option<Ty>]) -> bool {
    match expr {
        TypeExpr::Param(i) => args.get(*i as usize).is_none_or(Option::is_none),
        TypeExpr::Int(_) => false,
        TypeExpr::App(_, exprs) => exprs.iter().any(|e| is_open(e, args)),
    }
}

#[cfg(test)]
mod tests;
