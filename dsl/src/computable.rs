//! Which operations can be computed while matching, and from which arguments: those with a `@model` or a `spec`, a
//! `host fn`, one with a body in the input (`@body`), and a function of a shared library (`@link`) that gives a scalar.

use rewright_typeprop::eval::scalar_of;
use rewright_typeprop::ops::BODY;
use rewright_typeprop::{Model, Term, Universe};

/// By operation: which arguments must be known to compute it.
pub(crate) fn computable_ops(universe: &Universe) -> Vec<Option<Vec<bool>>> {
    let ops = &universe.ops;
    // Other results of a library belong to one process.
    let scalar = |result| scalar_of(&universe.types, result, &[]).is_some();
    let mut out: Vec<Option<Vec<bool>>> = vec![None; ops.len()];
    for (id, op) in ops.iter() {
        let known = match op.model {
            Some(Model::Width) => Some(false),
            Some(model) if model.memory().is_some() => None,
            Some(_) => Some(true),
            None if (op.host || op.names.contains_key(BODY)) && op.effects.is_pure() => Some(true),
            None if op.is_linked_value() && op.results.iter().all(scalar) => Some(true),
            None => None,
        };
        out[id.0 as usize] = known.map(|needed| vec![needed; op.params.len()]);
    }
    // Specs build on each other without cycles: as many rounds as the longest chain.
    loop {
        let mut changed = false;
        for (id, op) in ops.iter() {
            if out[id.0 as usize].is_some() {
                continue;
            }
            let Some(spec) = &op.spec else { continue };
            let mut needed = vec![false; op.params.len()];
            if needs(spec, &out, &mut needed) {
                out[id.0 as usize] = Some(needed);
                changed = true;
            }
        }
        if !changed {
            return out;
        }
    }
}

/// Marks the variables that must be known to compute a term; false if it cannot be computed.
pub(crate) fn needs(term: &Term, ops: &[Option<Vec<bool>>], out: &mut [bool]) -> bool {
    match term {
        Term::Lit(..) => true,
        Term::Eval(inner) => needs(inner, ops, out),
        Term::Var(v) => match out.get_mut(*v as usize) {
            Some(needed) => {
                *needed = true;
                true
            }
            None => false,
        },
        Term::Call { op, args, .. } => match &ops[op.0 as usize] {
            Some(wanted) => args.iter().zip(wanted).all(|(a, needed)| !needed || needs(a, ops, out)),
            None => false,
        },
    }
}
