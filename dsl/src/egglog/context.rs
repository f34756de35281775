//! What all rules of one compilation share, and questions about types that several parts of it ask.

use super::names::{Names, path};
use super::{EgglogProgram, Primitive, PrimitiveKind, Sort};
use crate::program::{FactId, Program, Rule};
use indexmap::IndexMap;
use rewright_typeprop::types::TypeParam;
use rewright_typeprop::{Op, OpId, Term, Ty, TypeExpr, TypeStore};

/// Why a rule cannot be lowered, in words about the rule. No code tells cases apart: the user is shown them.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotLowered(String);

impl From<String> for NotLowered {
    fn from(reason: String) -> Self {
        NotLowered(reason)
    }
}

impl From<&str> for NotLowered {
    fn from(reason: &str) -> Self {
        NotLowered(reason.to_string())
    }
}

/// What all rules of one compilation share.
pub(super) struct Shared<'p> {
    pub(super) program: &'p Program,
    /// A copy to ask in: asking interns.
    pub(super) types: TypeStore,
    /// Types from here on are not in the program's store.
    base: usize,
    pub(super) op_names: Vec<Option<String>>,
    fact_names: Vec<String>,
    pub(super) names: Names,
    pub(super) primitives: IndexMap<String, Primitive>,
    pub(super) needs_isa: bool,
}

impl<'p> Shared<'p> {
    /// `result` has the tables and facts already.
    pub(super) fn new(program: &'p Program, names: Names, result: &EgglogProgram) -> Self {
        Shared {
            program,
            types: program.universe.types.clone(),
            base: program.universe.types.interned_len(),
            op_names: result.op_tables.iter().map(|t| t.map(|t| result.tables[t].name.clone())).collect(),
            fact_names: result.facts.iter().map(|f| f.name.clone()).collect(),
            names,
            primitives: IndexMap::new(),
            needs_isa: false,
        }
    }

    pub(super) fn op_name(&self, op: OpId) -> Result<String, NotLowered> {
        self.op_names.get(op.0 as usize).cloned().flatten().ok_or_else(|| "it names an unknown operation".into())
    }

    /// Is there a table for each operation that a rule's terms name?
    pub(super) fn has_tables(&self, rule: &Rule) -> bool {
        let has_table = |term: &Term| !matches!(term, Term::Call { op, .. } if self.op_name(*op).is_err());
        rule.left.iter().chain(rule.right.terms()).flat_map(Term::subterms).all(has_table)
    }

    pub(super) fn output(&self, op: OpId) -> Sort {
        output(self.program.universe.ops.get(op))
    }

    pub(super) fn fact(&self, fact: FactId) -> String {
        self.fact_names[fact.0 as usize].clone()
    }

    /// The name of a primitive, declared at its first use.
    pub(super) fn primitive(&mut self, kind: PrimitiveKind, arity: usize) -> String {
        let types = &self.types;
        let name = match &kind {
            PrimitiveKind::Eval(op) => format!("eval-{}", path(&self.program.universe.ops.get(*op).unique)),
            PrimitiveKind::Subtype(ty) => format!("subtype-{}-{}", path(&types.display(*ty)), ty.0),
            PrimitiveKind::TypeArg(decl, i) => format!("type-arg-{}-{i}", path(&types.decl(*decl).name)),
            PrimitiveKind::SuperArg(decl, i) => format!("super-arg-{}-{i}", path(&types.decl(*decl).name)),
            PrimitiveKind::TypeApp(decl) => format!("type-app-{}", path(&types.decl(*decl).name)),
            PrimitiveKind::Supertype => "supertype".into(),
            PrimitiveKind::Bare => "bare-type".into(),
        };
        self.primitives.entry(name.clone()).or_insert(Primitive { name: name.clone(), kind, arity });
        name
    }

    /// `Matrix` for any instance of a parametric type.
    pub(super) fn is_bare(&self, ty: &TypeExpr) -> bool {
        matches!(ty, TypeExpr::App(decl, args) if args.is_empty() && !self.types.decl(*decl).params.is_empty())
    }

    pub(super) fn closed_type(&mut self, ty: &TypeExpr) -> Result<Ty, NotLowered> {
        match self.types.instantiate(ty, &[]) {
            Some(ty) if (ty.0 as usize) < self.base => Ok(ty),
            _ => Err("it names a type that the program has not interned".into()),
        }
    }

    /// Is every value of type `place` also of type `wanted`? Both over the rule's type parameters.
    pub(super) fn implies(&self, tparams: &[TypeParam], place: &TypeExpr, wanted: &TypeExpr) -> bool {
        implies(&self.types, tparams, place, wanted)
    }
}

/// Is every value of type `place` also of type `wanted`? Both over these type parameters.
pub(super) fn implies(types: &TypeStore, tparams: &[TypeParam], place: &TypeExpr, wanted: &TypeExpr) -> bool {
    let mut at = Some(place.clone());
    // The lattice is a tree of declared types, so a chain is short; a cyclic one ends here.
    for _ in 0..64 {
        let Some(ty) = at else { return false };
        if ty == *wanted {
            return true;
        }
        if let (TypeExpr::App(a, _), TypeExpr::App(b, args)) = (&ty, wanted)
            && (a == b || b.0 == Ty::ANY.0)
            && args.is_empty()
        {
            return true;
        }
        at = match &ty {
            TypeExpr::Param(i) => tparams.get(*i as usize).and_then(|p| p.bound.clone()),
            TypeExpr::App(decl, args) => types.decl(*decl).supertype.as_ref().map(|sup| substitute(sup, args)),
            TypeExpr::Int(_) => None,
        };
    }
    false
}

/// What an operation gives.
pub(super) fn output(op: &Op) -> Sort {
    if op.gives_state() { Sort::State } else { Sort::Value }
}

/// Mentions no type parameter?
pub(super) fn is_closed(ty: &TypeExpr) -> bool {
    match ty {
        TypeExpr::Param(_) => false,
        TypeExpr::Int(_) => true,
        TypeExpr::App(_, args) => args.iter().all(is_closed),
    }
}

/// Puts `args` in for the type parameters.
pub(super) fn substitute(ty: &TypeExpr, args: &[TypeExpr]) -> TypeExpr {
    ty.substitute(&mut |i| args.get(i as usize).cloned().unwrap_or(TypeExpr::Param(i)))
}
