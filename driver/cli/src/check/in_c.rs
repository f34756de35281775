//! Examples over C functions that hold among operations and not for calls in C: `RW0603`.

use crate::examples::Ran;
use crate::out;
use rewright_dsl::diagnostic::{Diagnostic, Label, Severity, count};
use rewright_dsl::program::Example;
use rewright_engine::Budget;
use rewright_llvm::examples::{Difference, Tried};

/// How many reasons for trying none are listed.
const SHOWN: usize = 3;

/// Tries the examples that hold as calls in C, as far as they are about C functions.
pub(super) fn findings(ran: &Ran, budget: &Budget) -> Vec<Diagnostic> {
    let program = ran.clif.optimiser.program();
    let in_c = rewright_packs::for_c(program.clone());
    let Tried { tried, differences, left_out } = rewright_llvm::examples::run(&in_c, &ran.held, budget);
    if !left_out.is_empty() {
        let left: usize = left_out.values().sum();
        let mut reasons: Vec<(&String, &usize)> = left_out.iter().collect();
        reasons.sort_by_key(|(_, examples)| std::cmp::Reverse(**examples));
        let mut shown: Vec<String> = reasons.iter().take(SHOWN).map(|(reason, n)| format!("{n}: {reason}")).collect();
        shown.extend((reasons.len() > SHOWN).then(|| "..".to_string()));
        let all = count(tried + left, "example");
        out::note(&format!("note: of {all} with C functions {left} not tried as calls in C ({})", shown.join("; ")));
    }
    differences.into_iter().map(|difference| finding(&program.examples[difference.example], difference)).collect()
}

fn finding(example: &Example, Difference { found, why, .. }: Difference) -> Diagnostic {
    Diagnostic {
        code: "RW0603",
        severity: Severity::Warning,
        message: format!("example {:?} of {} does not hold for calls in C", example.title, example.pack),
        primary: Label { span: example.expected, text: found },
        secondary: vec![],
        help: (!why.is_empty()).then(|| why.join("\n")),
        fix: None,
    }
}
