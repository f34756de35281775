//! Programs with one rule made wrong: what the denotational harness must find.
//!
//! A mutant differs in one place of one right side: a literal, a variable, an operation, or the order of operands.
//! Types are kept, so that the engine accepts it.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_dsl::program::{Conclusion, Program, RuleId, VarKind};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{OpId, Term};

/// A program with one wrong rule.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The rule.
    pub rule: RuleId,
    /// What was done to it.
    pub change: String,
    /// All of it.
    pub program: Program,
}

/// Makes a rule wrong; `None` where the draw finds nothing to change.
pub fn mutant(program: &Program, rule: RuleId, seed: u64) -> Option<Mutant> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let Conclusion::Equal(right) = &program.rule(rule).right else { return None };
    let mut places = vec![];
    collect(right, &mut vec![], &mut places);
    let place = places.choose(&mut rng)?.clone();
    let mut changed = right.clone();
    let change = change(program, rule, at(&mut changed, &place), &mut rng)?;
    if changed == *right {
        return None;
    }
    let mut program = program.clone();
    program.rules[rule.0 as usize].right = Conclusion::Equal(changed);
    Some(Mutant { rule, change, program })
}

/// Paths to all subterms that are not states.
fn collect(term: &Term, path: &mut Vec<usize>, places: &mut Vec<Vec<usize>>) {
    places.push(path.clone());
    let children: &[Term] = match term {
        Term::Call { args, .. } => args,
        Term::Eval(inner) => std::slice::from_ref(&**inner),
        Term::Var(_) | Term::Lit(..) => &[],
    };
    for (i, child) in children.iter().enumerate() {
        path.push(i);
        collect(child, path, places);
        path.pop();
    }
}

fn at<'t>(mut term: &'t mut Term, path: &[usize]) -> &'t mut Term {
    for i in path {
        term = match term {
            Term::Call { args, .. } => &mut args[*i],
            Term::Eval(inner) => inner,
            Term::Var(_) | Term::Lit(..) => unreachable!("paths lead through calls"),
        };
    }
    term
}

fn change(program: &Program, rule: RuleId, term: &mut Term, rng: &mut ChaCha8Rng) -> Option<String> {
    let ops = &program.universe.ops;
    match term {
        Term::Lit(Literal::Int(n), _) => {
            let before = *n;
            *n = if before == 0 { 1 } else { before - 1 };
            Some(format!("literal {before} is {n}"))
        }
        Term::Lit(..) | Term::Eval(_) => None,
        Term::Var(v) => {
            let vars = &program.rule(rule).vars;
            let mine = &vars[*v as usize];
            let others: Vec<u32> =
                (0..vars.len() as u32).filter(|o| o != v && same_kind(&vars[*o as usize].kind, &mine.kind)).collect();
            let other = *others.choose(rng)?;
            let text = format!("variable {} is {}", mine.name, vars[other as usize].name);
            *v = other;
            Some(text)
        }
        Term::Call { op, args, .. } => {
            let own = ops.get(*op);
            if args.len() == 2 && !own.laws.commutative && own.params[0].ty == own.params[1].ty && rng.random_bool(0.5)
            {
                args.swap(0, 1);
                return Some(format!("operands of {} change places", own.name));
            }
            let shape = |id: OpId| {
                let o = ops.get(id);
                let params: Vec<_> = o.params.iter().map(|p| (p.ty.clone(), p.constant)).collect();
                (
                    o.tparams.iter().map(|t| t.bound.clone()).collect::<Vec<_>>(),
                    params,
                    o.results.clone(),
                    o.effects.clone(),
                )
            };
            let alike: Vec<OpId> =
                ops.iter().map(|(id, _)| id).filter(|id| id != op && shape(*id) == shape(*op)).collect();
            let other = *alike.choose(rng)?;
            let text = format!("{} is {}", own.name, ops.get(other).name);
            *op = other;
            Some(text)
        }
    }
}

fn same_kind(a: &VarKind, b: &VarKind) -> bool {
    match (a, b) {
        (VarKind::Value { ty: x, constant: c }, VarKind::Value { ty: y, constant: d }) => x == y && (*c || !*d),
        _ => false,
    }
}
