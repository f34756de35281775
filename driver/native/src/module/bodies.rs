//! Functions of a module as what rules may compute while matching: `eval(f(..))` of an operation whose pack says
//! `@body("f")` runs the function `%f` of the module on constants, in the interpreter.
//!
//! A run has fuel; one that ends in anything but its results (a trap, no fuel, an operation without a meaning) is no
//! value, hence no match. Runs are remembered: the same constants are met again in every round.

use rewright_cfg_skeleton::ir::Module;
use rewright_cfg_skeleton::ir::interp::{Callees, Memory, NoHost, Outcome, run};
use rewright_clif::optimise::trap_code;
use rewright_typeprop::{Constant, Universe};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Instructions of a run, with those of its callees as many again: about a millisecond.
const FUEL: u64 = 100_000;

/// Registers the bodies of pure operations.
pub(super) fn register(universe: &mut Universe, module: &Module) {
    let pure = |(op, _): &(_, _)| {
        let decl = universe.ops.get(*op);
        !decl.pack.is_empty() && decl.effects.is_pure() && decl.results.len() == 1 && decl.spec.is_none()
    };
    let bodies: Vec<_> = module.bodies.iter().map(|(op, body)| (*op, *body)).filter(pure).collect();
    if bodies.is_empty() {
        return;
    }
    let shared = Arc::new((universe.clone(), module.clone()));
    for (op, body) in bodies {
        let decl = universe.ops.get(op);
        let result = decl.results.first().and_then(|expr| universe.types.find_instance(expr, &[]));
        let scalar = result.and_then(|ty| universe.types.scalar(ty));
        let (shared, known) = (shared.clone(), Mutex::new(BTreeMap::<Vec<i64>, Option<i64>>::new()));
        let name = decl.unique.clone();
        universe.hosts.register(name, move |args: &[Constant]| {
            let (universe, module) = &*shared;
            let words: Vec<i64> = args
                .iter()
                .map(|arg| match arg {
                    Constant::Scalar(_, n) | Constant::Handle(n) => *n,
                    Constant::Data(data) => universe.data.intern_shared(data.clone()),
                })
                .collect();
            let remembered = known.lock().unwrap_or_else(PoisonError::into_inner).get(&words).copied();
            let value = remembered.unwrap_or_else(|| {
                let mut outside = NoHost(trap_code);
                let mut host = Callees::new(universe, module, &mut outside, FUEL);
                let f = &module.functions[body];
                let value = match run(f, universe, &words, &mut Memory::default(), &mut host, FUEL) {
                    Outcome::Return(results) => results.first().copied(),
                    Outcome::Trap(_) | Outcome::OutOfFuel | Outcome::Unsupported(_) => None,
                };
                known.lock().unwrap_or_else(PoisonError::into_inner).insert(words, value);
                value
            })?;
            Some(match scalar {
                Some(scalar) => Constant::Scalar(scalar, value),
                None => Constant::Data(universe.data.get(value)?),
            })
        });
    }
}
