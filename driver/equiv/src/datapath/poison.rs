//! Where the second value of a question may be poison, the first one is.

use rewright_cfg_skeleton::nest::datapath::{Question, TermKind};
use rewright_cfg_skeleton::nest::value::{Number, is_choice, is_never_poison};

/// Whether the second value is certainly not poison where the first one is not.
pub(super) fn is_kept(question: &Question) -> bool {
    let strict = strict(question);
    let second = reached(question, question.right, |_| true);
    (0..question.terms.len()).filter(|n| second[*n]).all(|n| {
        strict[n]
            || match &question.terms[n].kind {
                TermKind::Leaf { defined } => *defined,
                TermKind::Constant(_) => true,
                TermKind::Op { name, flags, from, operands } => {
                    let amount = operands.last().and_then(|last| constant(question, *last));
                    // A shift by an amount by which the first version shifts, too, is not poison there.
                    let shifts_alike = |m: usize| match &question.terms[m].kind {
                        TermKind::Op { name: other, from: of, operands: own, .. } => {
                            strict[m]
                                && is_shift(name)
                                && is_shift(other)
                                && of == from
                                && own.last() == operands.last()
                        }
                        _ => false,
                    };
                    flags.is_empty()
                        && (is_never_poison(name, from, amount) || (0..question.terms.len()).any(shifts_alike))
                }
            }
    })
}

/// Terms that make the first value poison if they are poison.
fn strict(question: &Question) -> Vec<bool> {
    reached(question, question.left, |name| !is_choice(name))
}

/// Terms that a value is made from; of operations that `whole` does not hold of, only the first operand.
fn reached(question: &Question, root: u32, whole: impl Fn(&str) -> bool) -> Vec<bool> {
    let mut reached = vec![false; question.terms.len()];
    reached[root as usize] = true;
    for n in (0..question.terms.len()).rev() {
        if let (true, TermKind::Op { name, operands, .. }) = (reached[n], &question.terms[n].kind) {
            let all = if whole(name) { operands.len() } else { 1 };
            operands.iter().take(all).for_each(|operand| reached[*operand as usize] = true);
        }
    }
    reached
}

/// The bits of a constant.
pub(super) fn constant(question: &Question, term: u32) -> Option<u128> {
    match &question.terms[term as usize].kind {
        TermKind::Constant(Number::Bits(bits)) => Some(*bits),
        _ => None,
    }
}

/// Whether the operation is poison exactly where its last operand is no amount below the width.
fn is_shift(name: &str) -> bool {
    is_never_poison(name, "i8", Some(0)) && !is_never_poison(name, "i8", Some(8))
}
