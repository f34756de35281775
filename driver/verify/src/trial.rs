//! Rules on values alone, without a solver: quick evidence for tests, and for users without a solver.
//!
//! Exhaustive where the variables are one or two bytes; on edges and random values elsewhere.

use super::prove;
use super::report::Counterexample;
use super::sample::{Effort, Tried};
use rewright_dsl::instances::TypeInstances;
use rewright_dsl::program::{Program, RuleId};

/// Assignments per rule, spread over its type instances, and the least for each of these.
const ASSIGNMENTS: (usize, usize) = (8_000, 100);

/// What trying values of a rule gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// The rule.
    pub rule: RuleId,
    /// Type instances that its declaration admits.
    pub instances: usize,
    /// Assignments at which it matched, over all instances; the sides were equal there, except at a counterexample.
    pub agreed: usize,
    /// Instances of which nothing can be evaluated, with their types.
    pub untried: Vec<String>,
    /// By instance, where the sides differ.
    pub wrong: Vec<(String, Counterexample)>,
}

/// Tries one rule at every type instance. The same seed tries the same values.
pub fn try_rule(program: &Program, id: RuleId, seed: u64) -> Trial {
    let cases = prove::cases(program, &TypeInstances::new(program), program.rule(id));
    let samples = (ASSIGNMENTS.0 / cases.len().max(1)).max(ASSIGNMENTS.1);
    let effort = Effort { samples, exhaustive: 1 << 16, seed };
    let mut trial = Trial { rule: id, instances: cases.len(), agreed: 0, untried: vec![], wrong: vec![] };
    for case in &cases {
        let types = case.shown().join(", ");
        match case.tried(effort) {
            Tried::Agree(count) => trial.agreed += count,
            Tried::CannotTry => trial.untried.push(types),
            Tried::Differ(values, sides) => {
                trial.wrong.push((types, super::print::counterexample(case, &values, sides)));
            }
        }
    }
    trial
}
