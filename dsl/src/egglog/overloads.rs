//! Overloads of one name are one function: a call of the general one equals a call of the more specific one wherever
//! the operands have the types that it takes. One rule per pair; they run beside every ruleset, as types are found.
//!
//! `norm(a: Symmetric)` beside `norm(a: Matrix)` gives
//!
//! ```text
//! (rule ((= ?root (Norm ?:T ?a)) (Isa ?a ?t) (= ?:T (type-arg-Symmetric-0 ?t))) ((union ?root (Norm.1 ?:T ?a))))
//! ```
//!
//! That some node of the operand's class is a `Symmetric` is enough to match. The new call demands such a node:
//! selection may choose the one only with the other.
//!
//! What the more specific one `requires` is a condition of the rule.
//!
//! Not here: overloads with other effects, or with conditions that cannot be looked up (`check::lints` says so).

use super::context::{implies, substitute};
use crate::program::{Conclusion, Program, Rule, Var, VarKind};
use rewright_typeprop::overload::is_below;
use rewright_typeprop::{Op, OpId, Term, TypeExpr, TypeParam, TypeStore};

/// The rules, each with the two operations that it relates, the more specific one first.
pub(super) fn overload_rules(program: &Program) -> Vec<(OpId, OpId, Rule)> {
    let ops = &program.universe.ops;
    let mut rules = vec![];
    for (general, op) in ops.iter().filter(|(_, op)| op.part_of.is_none()) {
        for specific in ops.overloads(&op.name).iter().copied().filter(|id| *id != general) {
            let other = ops.get(specific);
            let one_value = |op: &Op| op.results.len() == 1;
            if one_value(op)
                && one_value(other)
                && op.effects == other.effects
                && is_below(&program.universe.types, other, op)
            {
                let rule = rule(&program.universe.types, (specific, other), (general, op));
                let guards = program.requires.get(&specific).cloned().unwrap_or_default();
                rules.extend(rule.map(|rule| (specific, general, Rule { guards, ..rule })));
            }
        }
    }
    rules
}

/// The call of the general one equals that of the specific one, over the type parameters of the latter; `None` where
/// they never give values of one type.
fn rule(types: &TypeStore, (specific, other): (OpId, &Op), (general, op): (OpId, &Op)) -> Option<Rule> {
    let mut tparams = other.tparams.clone();
    let mut told: Vec<Option<TypeExpr>> = vec![None; op.tparams.len()];
    for (param, own) in op.params.iter().zip(&other.params) {
        learn(types, &param.ty, &own.ty, &mut told);
    }
    if let (TypeExpr::Param(i), [own]) = (&op.results[0], &other.results[..]) {
        told[*i as usize].get_or_insert_with(|| own.clone());
    }
    let mut targs = vec![];
    for (known, param) in told.into_iter().zip(&op.tparams) {
        // A type argument that nothing tells is whatever it is.
        let open = TypeExpr::Param(tparams.len() as u32);
        if known.is_none() {
            tparams.push(TypeParam { name: format!("?{}", tparams.len()), bound: param.bound.clone() });
        }
        targs.push(known.unwrap_or(open));
    }
    for (targ, param) in targs.iter().zip(&op.tparams) {
        let bound = param.bound.as_ref().map(|bound| substitute(bound, &targs));
        if bound.is_some_and(|bound| !implies(types, &tparams, targ, &bound)) {
            return None;
        }
    }
    if !implies(types, &tparams, &other.results[0], &substitute(&op.results[0], &targs)) {
        return None;
    }
    let own: Vec<TypeExpr> = (0..other.tparams.len() as u32).map(TypeExpr::Param).collect();
    let mut vars: Vec<Var> = other
        .params
        .iter()
        .map(|p| Var { name: p.name.clone(), kind: VarKind::Value { ty: p.ty.clone(), constant: p.constant } })
        .collect();
    let args: Vec<Term> = (0..vars.len() as u32).map(Term::Var).collect();
    let state = op.takes_state().then(|| {
        vars.push(Var { name: "state".into(), kind: VarKind::State });
        Box::new(Term::Var(vars.len() as u32 - 1))
    });
    let call = |op, targs| Term::Call { op, targs, args: args.clone(), state: state.clone() };
    Some(Rule {
        tparams,
        law: true,
        ..Rule::new(
            format!("overload.{}", other.unique),
            vars,
            vec![call(general, targs)],
            Conclusion::Equal(call(specific, own)),
        )
    })
}

/// What a parameter's type tells of the type parameters that it mentions, if operands have the type `given`.
/// Arguments of types are invariant, so they tell; a parameter of its own tells nothing: its operand may be larger.
fn learn(types: &TypeStore, wanted: &TypeExpr, given: &TypeExpr, targs: &mut [Option<TypeExpr>]) {
    let (TypeExpr::App(decl, exprs), mut at) = (wanted, given.clone()) else { return };
    // The lattice is a tree of declared types; a cyclic one ends here.
    for _ in 0..=types.decls().count() {
        let TypeExpr::App(own, args) = &at else { return };
        if own == decl {
            exprs.iter().zip(args).for_each(|(expr, arg)| equate(expr, arg, targs));
            return;
        }
        let Some(supertype) = &types.decl(*own).supertype else { return };
        at = substitute(supertype, args);
    }
}

fn equate(wanted: &TypeExpr, given: &TypeExpr, targs: &mut [Option<TypeExpr>]) {
    match (wanted, given) {
        (TypeExpr::Param(i), _) => {
            if let Some(slot @ None) = targs.get_mut(*i as usize) {
                *slot = Some(given.clone());
            }
        }
        (TypeExpr::App(a, exprs), TypeExpr::App(b, args)) if a == b => {
            exprs.iter().zip(args).for_each(|(expr, arg)| equate(expr, arg, targs));
        }
        _ => {}
    }
}
