//! Changes of terms at one place: what makes wrong rules out of right ones, to test what should find these.
//!
//! A changed term has the types of the original. Some changes happen to keep the meaning (`x * 2` and `x + x`): the
//! caller tells those apart. The order of changes is that of the term.

use rewright_dsl::program::VarKind;
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Op, OpId, Term, Universe};

/// Calls `found` with every term that differs from `term` by what `change` makes of one of its nodes, and with what
/// `change` says of that.
pub(crate) fn for_each_change<K>(
    term: &Term,
    change: &dyn Fn(&Term) -> Vec<(K, Term)>,
    found: &mut dyn FnMut(K, Term),
) {
    for (what, changed) in change(term) {
        found(what, changed);
    }
    match term {
        Term::Var(_) | Term::Lit(..) => {}
        Term::Eval(inner) => for_each_change(inner, change, &mut |what, t| found(what, Term::Eval(Box::new(t)))),
        Term::Call { op, targs, args, state } => {
            let call = |args: Vec<Term>, state| Term::Call { op: *op, targs: targs.clone(), args, state };
            for (i, arg) in args.iter().enumerate() {
                for_each_change(arg, change, &mut |what, arg| {
                    let mut args = args.clone();
                    args[i] = arg;
                    found(what, call(args, state.clone()));
                });
            }
            if let Some(before) = state {
                for_each_change(before, change, &mut |what, before| {
                    found(what, call(args.clone(), Some(Box::new(before))));
                });
            }
        }
    }
}

/// Another literal: it stays in every range that held the one before.
pub(crate) fn other_literal(node: &Term) -> Vec<(String, Term)> {
    match node {
        Term::Lit(Literal::Int(n), ty) => {
            let other = if *n > 0 { n - 1 } else { n + 1 };
            vec![(format!("{n} became {other}"), Term::Lit(Literal::Int(other), ty.clone()))]
        }
        Term::Lit(Literal::Float(x), ty) => {
            vec![(format!("{x} became {}", x + 1.0), Term::Lit(Literal::Float(x + 1.0), ty.clone()))]
        }
        _ => vec![],
    }
}

/// Other variables of the same type and kind.
pub(crate) fn other_variables(vars: &[&VarKind], node: &Term) -> Vec<(String, Term)> {
    let Term::Var(i) = node else { return vec![] };
    let kind = vars.get(*i as usize);
    let other = |(j, k): &(usize, &&VarKind)| *j as u32 != *i && Some(*k) == kind;
    let others = vars.iter().enumerate().filter(other);
    others.map(|(j, _)| (format!("variable {i} became {j}"), Term::Var(j as u32))).collect()
}

/// Other operations of the same signature.
pub(crate) fn other_operations(universe: &Universe, node: &Term) -> Vec<(String, Term)> {
    let Term::Call { op, targs, args, state } = node else { return vec![] };
    let here = universe.ops.get(*op);
    let call = |op: OpId| Term::Call { op, targs: targs.clone(), args: args.clone(), state: state.clone() };
    let others = universe.ops.iter().filter(|(other, candidate)| {
        let is_kind = here.part_of.is_some() == candidate.part_of.is_some();
        other != op && is_kind && same_signature(here, candidate)
    });
    others.map(|(other, candidate)| (format!("{} became {}", here.unique, candidate.unique), call(other))).collect()
}

/// The first two operands exchanged, where that is another term of the same type.
pub(crate) fn exchanged_operands(universe: &Universe, node: &Term) -> Vec<(String, Term)> {
    let Term::Call { op, targs, args, state } = node else { return vec![] };
    let here = universe.ops.get(*op);
    let [x, y, ..] = args.as_slice() else { return vec![] };
    let alike = here.params[0].ty == here.params[1].ty && here.params[0].constant == here.params[1].constant;
    if x == y || !alike || here.laws.commutative {
        return vec![];
    }
    let mut args = args.clone();
    args.swap(0, 1);
    let call = Term::Call { op: *op, targs: targs.clone(), args, state: state.clone() };
    vec![(format!("operands of {} exchanged", here.unique), call)]
}

/// Primitive, or both of libraries, with the same effects, and with the same types throughout.
fn same_signature(a: &Op, b: &Op) -> bool {
    let params = |op: &Op| op.params.iter().map(|p| (p.ty.clone(), p.constant)).collect::<Vec<_>>();
    (a.model.is_some() && b.model.is_some() || a.link.is_some() && b.link.is_some())
        && a.effects == b.effects
        && a.tparams.iter().map(|t| &t.bound).eq(b.tparams.iter().map(|t| &t.bound))
        && params(a) == params(b)
        && a.results == b.results
}
