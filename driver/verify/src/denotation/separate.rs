//! Does a mutant change anything? A function that its rule matches and on which both right sides differ.
//!
//! Types and constants of the rule's left side are drawn at random; both programs (the left side, and the changed
//! right side) are run by the interpreter on the same inputs. No e-graph takes part, so what the harness finds and
//! what is to be found are known independently of each other.

use super::inputs::{random_constant, random_inputs};
use super::{Input, Mutant};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::interp::{self, Memory, NoHost, Outcome, equal_up_to_nan};
use rewright_dsl::program::{Claim, Example, Program, Rule, VarKind, Verdict};
use rewright_dsl::syntax::ast::Span;
use rewright_pipeline::examples;
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Scalar, Term, Ty, TypeExpr, Universe};

/// Instances of a rule that are drawn.
const DRAWS: usize = 200;
/// Inputs on which both sides of one instance are run.
const INPUTS: usize = 24;
/// One-block programs take a step per instruction.
const FUEL: u64 = 10_000;

/// A function that the rule's left side is, and an input on which the changed right side gives something else.
pub struct Separation {
    /// The program's types, and those that the function needs.
    pub universe: Universe,
    /// The left side.
    pub function: Function,
    /// Where they differ.
    pub input: Input,
}

/// Separations of a mutant from the rule that it changes, all different, in an order that the seed decides. They
/// disregard the rule's guards: the caller sees whether the rule matches.
pub fn separations<'p>(
    program: &'p Program,
    mutant: &'p Mutant,
    trap_code: fn(&str) -> u32,
    seed: u64,
) -> impl Iterator<Item = Separation> + 'p {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rule = program.rule(mutant.rule);
    (0..DRAWS).filter_map(move |_| {
        let mut universe = program.universe.clone();
        let instance = Instance::draw(rule, &mut universe, &mut rng)?;
        let function = instance.function(&mut universe, rule.left.first()?)?;
        let changed = instance.function(&mut universe, &mutant.right)?;
        let inputs = random_inputs(&function, &universe, rng.random(), INPUTS);
        let input = inputs.into_iter().find(|input| {
            let run = |f| run(f, &universe, input, trap_code);
            match (run(&function), run(&changed)) {
                (Some((a, x)), Some((b, y))) => {
                    let scalar = |n: usize| universe.types.scalar(function.results[n]);
                    x != y || a.iter().zip(&b).enumerate().any(|(n, (a, b))| !equal_up_to_nan(scalar(n), *a, *b))
                }
                _ => false,
            }
        })?;
        Some(Separation { universe, function, input })
    })
}

/// Results and memory; nothing where the program traps or has no meaning.
fn run(f: &Function, universe: &Universe, input: &Input, trap_code: fn(&str) -> u32) -> Option<(Vec<i64>, Memory)> {
    let mut memory = input.memory.clone();
    match interp::run(f, universe, &input.args, &mut memory, &mut NoHost(trap_code), FUEL) {
        Outcome::Return(results) => Some((results, memory)),
        _ => None,
    }
}

/// Closed types for the type parameters of a rule, and constants for its `const` variables.
struct Instance {
    types: Vec<Ty>,
    /// By variable; its type, `None` for a state.
    params: Vec<Option<Ty>>,
    /// By variable: the literal that stands for it.
    constants: Vec<Option<Term>>,
}

impl Instance {
    fn draw(rule: &Rule, universe: &mut Universe, rng: &mut ChaCha8Rng) -> Option<Instance> {
        let scalars: Vec<Ty> = universe.types.all().filter(|t| universe.types.scalar(*t).is_some()).collect();
        let mut types = vec![];
        for param in &rule.tparams {
            let bound = match &param.bound {
                Some(bound) => Some(universe.types.instantiate(bound, &types)?),
                None => None,
            };
            let fits = |t: &&Ty| bound.is_none_or(|bound| universe.types.is_subtype(**t, bound));
            let fitting: Vec<Ty> = scalars.iter().filter(fits).copied().collect();
            types.push(*fitting.choose(rng)?);
        }
        let (mut params, mut constants) = (vec![], vec![]);
        for var in &rule.vars {
            let VarKind::Value { ty, constant } = &var.kind else {
                params.push(None);
                constants.push(None);
                continue;
            };
            let closed = universe.types.instantiate(ty, &types)?;
            params.push(Some(closed));
            constants.push(constant.then(|| {
                let scalar = universe.types.scalar(closed);
                Term::Lit(number(random_constant(scalar, rng), scalar), expression(universe, closed))
            }));
        }
        Some(Instance { types, params, constants })
    }

    /// The term at this instance, as a program.
    fn function(&self, universe: &mut Universe, term: &Term) -> Option<Function> {
        let subject = self.close(universe, term);
        let example = Example {
            pack: String::new(),
            title: "%separation".into(),
            span: Span::default(),
            expected: Span::default(),
            todo: false,
            params: self.params.clone(),
            names: vec![],
            fires: vec![],
            using: None,
            claim: Claim::Term { subject, verdict: Verdict::Stays },
        };
        examples::subject(universe, &example).ok()
    }

    fn close(&self, universe: &Universe, term: &Term) -> Term {
        let mut constant = |i: u32| self.constants[i as usize].clone().unwrap_or(Term::Var(i));
        term.substitute(&mut constant, &mut |i| expression(universe, self.types[i as usize]))
    }
}

/// A scalar type as an expression.
fn expression(universe: &Universe, ty: Ty) -> TypeExpr {
    let name = universe.types.display(ty).to_string();
    let decl = universe.types.lookup(&name).expect("a scalar type is declared by its name");
    TypeExpr::App(decl, vec![])
}

fn number(canonical: i64, scalar: Option<Scalar>) -> Literal {
    match scalar {
        Some(Scalar::F32) => Literal::Float(f32::from_bits(canonical as u32).into()),
        Some(Scalar::F64) => Literal::Float(f64::from_bits(canonical as u64)),
        _ => Literal::Int(canonical.into()),
    }
}
