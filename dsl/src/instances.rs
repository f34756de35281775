//! At which machine types a rule makes sense: its *instances*.
//!
//! A rule with type parameters stands for its instances. An instance exists if its literals fit, each call on the
//! left has a meaning at those types (no extension to a narrower type), and no condition that depends on types
//! alone fails. A rule without any instance can never fire; one whose right side has no meaning at an instance
//! would build nonsense there. Lints and the verifier go by the same instances.

use crate::computable::{computable_ops, needs};
use crate::program::{Guard, Program, Rule};
use rewright_typeprop::eval::{evaluate_term, has_meaning, literal, repr_of};
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Evaluation, Repr, Term, Ty, TypeExpr, TypeStore, Universe};
use std::borrow::Cow;

/// More combinations than this are not looked at.
const LIMIT: usize = 2000;

/// What a term says at an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sense {
    /// It has a value, for some operands at least.
    Good,
    /// A literal does not fit its type.
    LiteralTooLarge,
    /// A call has no value, whatever its operands.
    Meaningless,
}

/// Why a rule has no instance at some types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Obstacle {
    /// A literal does not fit its type.
    Literal,
    /// A call on the left has no value, whatever its operands.
    Meaningless,
    /// A condition that depends on types alone does not hold.
    Condition,
}

/// Finds the instances of rules.
pub struct TypeInstances<'p> {
    universe: &'p Universe,
    /// By operation: which arguments must be known to compute it.
    computable: Cow<'p, [Option<Vec<bool>>]>,
}

impl<'p> TypeInstances<'p> {
    /// Over a checked program.
    pub fn new(program: &'p Program) -> Self {
        TypeInstances { universe: &program.universe, computable: computable_ops(&program.universe).into() }
    }

    pub(crate) fn with(universe: &'p Universe, computable: &'p [Option<Vec<bool>>]) -> Self {
        TypeInstances { universe, computable: computable.into() }
    }

    /// Interns the types without parameters: bounds, and what stands for type parameters. The checker does so.
    pub(crate) fn intern(types: &mut TypeStore) {
        let plain: Vec<_> = types.decls().filter(|(_, d)| d.params.is_empty()).map(|(id, _)| id).collect();
        for id in plain {
            types.intern(TypeData::App(id, Default::default()));
        }
    }

    /// All combinations of machine types below the bounds of a rule's type parameters; `None` where a parameter
    /// stands for no machine type, or where there are too many.
    pub fn combinations(&self, rule: &Rule) -> Option<Vec<Vec<Ty>>> {
        let choices: Vec<Vec<Ty>> = (0..rule.tparams.len()).map(|p| self.machine_types(rule, p)).collect();
        let count = choices.iter().map(Vec::len).try_fold(1usize, usize::checked_mul);
        if choices.iter().any(Vec::is_empty) || count.is_none_or(|n| n > LIMIT) {
            return None;
        }
        let mut all = vec![vec![]];
        // The first parameter varies fastest.
        for types in choices.iter().rev() {
            all = all.iter().flat_map(|rest: &Vec<Ty>| types.iter().map(|ty| [&[*ty], &rest[..]].concat())).collect();
        }
        Some(all)
    }

    /// Does the left side have a meaning there, and does no condition on types fail?
    pub fn admits(&self, rule: &Rule, targs: &[Ty]) -> bool {
        self.obstacle(rule, targs).is_none()
    }

    /// What keeps a rule from having an instance there.
    pub fn obstacle(&self, rule: &Rule, targs: &[Ty]) -> Option<Obstacle> {
        let senses = || rule.left.iter().map(|term| self.sense(term, targs));
        if senses().any(|sense| sense == Sense::LiteralTooLarge) {
            Some(Obstacle::Literal)
        } else if senses().any(|sense| sense == Sense::Meaningless) {
            Some(Obstacle::Meaningless)
        } else if rule.guards.iter().any(|guard| self.truth(guard, targs) == Some(false)) {
            Some(Obstacle::Condition)
        } else {
            None
        }
    }

    /// Declared machine types below the bound of a type parameter.
    pub fn machine_types(&self, rule: &Rule, param: usize) -> Vec<Ty> {
        let types = &self.universe.types;
        let bound = match &rule.tparams[param].bound {
            None => Some(Ty::ANY),
            Some(bound) => types.find_instance(bound, &[]),
        };
        let Some(bound) = bound else { return Vec::new() };
        types
            .decls()
            .filter(|(_, d)| d.model.is_some() && d.params.is_empty() && !d.opaque)
            .filter_map(|(id, _)| types.find_data(&TypeData::App(id, Default::default())))
            .filter(|ty| types.is_subtype(*ty, bound))
            .collect()
    }

    /// What a term of a rule says at an instance.
    pub fn sense(&self, term: &Term, targs: &[Ty]) -> Sense {
        match term {
            Term::Var(_) => Sense::Good,
            Term::Lit(lit, ty) => match self.repr(ty, targs) {
                Some(repr) if repr.lane().and_then(|scalar| literal(lit, scalar)).is_none() => Sense::LiteralTooLarge,
                _ => Sense::Good,
            },
            Term::Eval(inner) => self.sense(inner, targs),
            Term::Call { op, targs: inner, args, state } => {
                let below = args.iter().chain(state.as_deref()).map(|t| self.sense(t, targs));
                if let Some(bad) = below.into_iter().find(|s| *s != Sense::Good) {
                    return bad;
                }
                let decl = self.universe.ops.get(*op);
                let computed = match decl.model {
                    Some(model) => model.memory().is_none(),
                    None => decl.spec.is_some() && !decl.takes_state(),
                };
                if !computed {
                    return Sense::Good;
                }
                let reprs: Vec<Option<Repr>> = inner.iter().map(|t| self.repr(t, targs)).collect();
                if has_meaning(self.universe, *op, &reprs) { Sense::Good } else { Sense::Meaningless }
            }
        }
    }

    fn repr(&self, ty: &TypeExpr, targs: &[Ty]) -> Option<Repr> {
        let types = &self.universe.types;
        let inherited = |ty: &Ty| match types.data(*ty) {
            TypeData::App(decl, _) => types.repr_of(*decl),
            TypeData::Int(_) | TypeData::Open => None,
        };
        let targs: Vec<Option<Repr>> = targs.iter().map(inherited).collect();
        // A pointer to something that a pack names is a pointer.
        repr_of(types, ty, &targs).or_else(|| match ty {
            TypeExpr::App(decl, _) => types.repr_of(*decl),
            TypeExpr::Param(_) | TypeExpr::Int(_) => None,
        })
    }

    /// What a condition is at an instance, if types alone decide it.
    fn truth(&self, guard: &Guard, targs: &[Ty]) -> Option<bool> {
        match guard {
            Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..) => None,
            Guard::Holds(term) => self.value(term, targs).map(|v| v != 0),
            Guard::Compare { equal, left, right } => {
                Some((self.value(left, targs)? == self.value(right, targs)?) == *equal)
            }
            Guard::Not(inner) => self.truth(inner, targs).map(|t| !t),
            Guard::Or(a, b) => match (self.truth(a, targs), self.truth(b, targs)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    fn value(&self, term: &Term, targs: &[Ty]) -> Option<i64> {
        let mut needed = vec![false; 64];
        if !needs(term, &self.computable, &mut needed) || needed.contains(&true) {
            return None;
        }
        match evaluate_term(self.universe, term, targs, &[0; 64]) {
            Evaluation::Value(value) => Some(value),
            Evaluation::Nan | Evaluation::Undefined => None,
        }
    }
}
