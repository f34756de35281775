//! Types of terms at a type instance of a rule: their representations, which both the evaluator and the encoding go by,
//! and whether they fit.

use rewright_dsl::program::{Fact, Program, Rule, VarKind};
use rewright_typeprop::eval::repr_of;
use rewright_typeprop::{Model, Repr, Term, Ty, TypeExpr};

/// What stands for the type parameters of a rule or an operation; `None` for a type without representation.
pub(super) type Types<'a> = &'a [Option<Repr>];

/// The representation of a term's value; `None` for states and for types without one.
pub(super) fn type_of(program: &Program, term: &Term, rule: &Rule, targs: Types<'_>) -> Option<Repr> {
    let types = &program.universe.types;
    match term {
        Term::Var(n) => match &rule.vars.get(*n as usize)?.kind {
            VarKind::Value { ty, .. } => repr_of(types, ty, targs),
            VarKind::State => None,
        },
        Term::Lit(_, ty) => repr_of(types, ty, targs),
        Term::Eval(inner) => type_of(program, inner, rule, targs),
        Term::Call { op, targs: own, .. } => {
            let own: Vec<_> = own.iter().map(|ty| repr_of(types, ty, targs)).collect();
            repr_of(types, program.universe.ops.get(*op).results.first()?, &own)
        }
    }
}

/// What stands for the type parameters of a fact that is said of arguments of these types.
pub(super) fn fact_types<T: Copy>(fact: &Fact, args: impl Iterator<Item = Option<T>>) -> Vec<Option<T>> {
    let mut own = vec![None; fact.tparams.len()];
    for (param, arg) in fact.params.iter().zip(args) {
        if let TypeExpr::Param(i) = param {
            own[*i as usize] = arg;
        }
    }
    own
}

/// Do all operations of a rule take the operands that they get at these types? A mutant's type parameter may stand for
/// types that they do not take, whatever the evaluator makes of the words.
pub(super) fn is_well_typed(program: &Program, rule: &Rule, targs: &[Ty]) -> bool {
    let types = &program.universe.types;
    let fits = |found: Option<Ty>, wanted: Option<Ty>| {
        found.zip(wanted).is_none_or(|(found, wanted)| types.is_subtype(found, wanted))
    };
    let mut well_typed = true;
    for term in rule.terms().flat_map(Term::subterms) {
        let Term::Call { op, targs: own, args, .. } = term else { continue };
        let decl = program.universe.ops.get(*op);
        let own: Vec<Option<Ty>> = own.iter().map(|ty| types.find_instance(ty, targs)).collect();
        for (ty, param) in own.iter().zip(&decl.tparams) {
            well_typed &= fits(*ty, param.bound.as_ref().and_then(|bound| types.find_instance(bound, &[])));
        }
        let Some(own) = own.into_iter().collect::<Option<Vec<Ty>>>() else { continue };
        for (arg, param) in args.iter().zip(&decl.params) {
            well_typed &= fits(declared_type(program, arg, rule, targs), types.find_instance(&param.ty, &own));
        }
    }
    well_typed
}

/// The type of a term as it is declared; `None` where it has none, or no stage has met it.
fn declared_type(program: &Program, term: &Term, rule: &Rule, targs: &[Ty]) -> Option<Ty> {
    let types = &program.universe.types;
    match term {
        Term::Var(n) => match &rule.vars.get(*n as usize)?.kind {
            VarKind::Value { ty, .. } => types.find_instance(ty, targs),
            VarKind::State => None,
        },
        Term::Lit(_, ty) => types.find_instance(ty, targs),
        Term::Eval(inner) => declared_type(program, inner, rule, targs),
        Term::Call { op, targs: own, .. } => {
            let own = own.iter().map(|ty| types.find_instance(ty, targs)).collect::<Option<Vec<Ty>>>()?;
            types.find_instance(program.universe.ops.get(*op).results.first()?, &own)
        }
    }
}

/// Which provenance the pointer has that an operation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// None: it is made of integers.
    Nowhere,
    /// That of an operand.
    Operand(usize),
    /// That of the second or the third operand, by the first.
    Chosen,
    /// That of one of several pointers; it is unknown which one.
    Unclear,
}

/// Where the provenance of an operation's result comes from, if that is a pointer.
pub(super) fn origin(model: Model, params: &[Repr]) -> Origin {
    let mut pointers = params.iter().enumerate().filter(|(_, repr)| **repr == Repr::Pointer);
    match (pointers.next(), pointers.next()) {
        _ if model == Model::Select => Origin::Chosen,
        (None, _) => Origin::Nowhere,
        (Some((at, _)), None) => Origin::Operand(at),
        (Some(_), Some(_)) => Origin::Unclear,
    }
}
