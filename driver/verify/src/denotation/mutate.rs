//! Wrong rules on purpose: programs with one rule changed, to show that the harness finds wrong rules.
//!
//! A mutant changes the right side of one rule at one place: another literal, operands exchanged where the operation
//! is not commutative, another operation of the same signature, another variable of the same type. Some mutants are
//! right by chance (`x * 2` and `x + x`): [`separations`](super::separations) tells them apart.

use crate::mutation;
use rewright_dsl::program::{Conclusion, Program, RuleId, VarKind};
use rewright_typeprop::Term;

/// A change of one rule.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The rule.
    pub rule: RuleId,
    /// What was changed, for people.
    pub change: String,
    /// The new right side.
    pub right: Term,
}

impl Mutant {
    /// The program with the changed rule.
    pub fn apply(&self, program: &Program) -> Program {
        let mut program = program.clone();
        program.rules[self.rule.0 as usize].right = Conclusion::Equal(self.right.clone());
        program
    }
}

/// All mutants of a rule, in a fixed order.
pub fn mutants(program: &Program, id: RuleId) -> Vec<Mutant> {
    let rule = program.rule(id);
    let Conclusion::Equal(right) = &rule.right else { return vec![] };
    let universe = &program.universe;
    let vars: Vec<&VarKind> = rule.vars.iter().map(|v| &v.kind).collect();
    let change = |node: &Term| {
        let mut all = mutation::other_literal(node);
        all.extend(mutation::other_variables(&vars, node));
        all.extend(mutation::other_operations(universe, node));
        all.extend(mutation::exchanged_operands(universe, node));
        all
    };
    let mut mutants = vec![];
    mutation::for_each_change(right, &change, &mut |change, right| mutants.push(Mutant { rule: id, change, right }));
    mutants
}
