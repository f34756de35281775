//! Annotations: what attributes and metadata promise, and when the second version may have one.
//!
//! An annotation adds undefined behaviour or poison to a function that is without it the same. So there is a direction:
//! the first version's may be ignored in a proof (never in a refutation); one of the second version must be in the
//! first one at the matching place, or be proved, or nothing is known. [`table`] says what each one is; what it lacks
//! counts as the strongest: nothing is known of either version.

pub(super) mod table;

use rewright_llvm::effects::MemoryEffects;
use rewright_llvm::lex::{Kind, tokens};
use table::{AnnotationTarget, Says, says};

/// An attribute's or metadata's name and what stands in its parentheses: `align 8` and `align(8)` are the same.
pub(super) fn parts(annotation: &str) -> (&str, &str) {
    let name_ends = |c: char| c == '(' || c == ' ' || c == '=';
    // A text in quotes is a name of its own, up to its `=`.
    let quoted = annotation.strip_prefix('"').and_then(|rest| rest.find('"'));
    let from = quoted.map_or(0, |at| at + 2);
    match annotation[from..].find(name_ends) {
        Some(at) => {
            let (name, rest) = annotation.split_at(from + at);
            let rest = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')')).unwrap_or(&rest[1..]);
            (name, rest.trim())
        }
        None => (annotation, ""),
    }
}

/// The number that an annotation of this name has: `align 8`.
pub(super) fn number(annotations: &[String], name: &str) -> Option<u64> {
    let of = |a: &String| (parts(a).0 == name).then(|| parts(a).1.parse().ok()).flatten();
    annotations.iter().filter_map(of).max()
}

/// The numbers in a text, those of `i8 0, 5` and of `!{i8 0, i8 5}`; `None` where one is too large.
pub(super) fn numbers(text: &str) -> Option<Vec<i128>> {
    let numbers = tokens(text).into_iter().filter(|token| token.kind == Kind::Number);
    let number = |digits: &str| digits.parse::<i128>().or_else(|_| digits.parse::<u128>().map(|n| n as i128)).ok();
    numbers.map(|token| number(&text[token.start..token.end])).collect()
}

/// Is there an annotation of this name?
pub(super) fn has(annotations: &[String], name: &str) -> bool {
    annotations.iter().any(|a| parts(a).0 == name)
}

/// Is an annotation implied by some others?
pub(super) fn implied(annotation: &str, by: &[String]) -> bool {
    let (name, argument) = parts(annotation);
    by.iter().any(|other| {
        let (other_name, other_argument) = parts(other);
        match (name, other_name) {
            ("dereferenceable_or_null", "dereferenceable") => at_most(argument, other_argument),
            ("nocapture", "captures") => other_argument == "none",
            ("captures", "nocapture") => true,
            ("readonly" | "writeonly", "readnone") => true,
            ("memory", "readnone" | "memory") => within(argument, other),
            // To free memory is to write.
            ("nofree", "readnone" | "readonly") => true,
            ("nofree", "memory") => ["none", "read"].contains(&other_argument),
            // A function that accesses no memory tells other threads nothing; a convergent function is not modelled.
            ("nosync", "memory") => other_argument == "none",
            ("nosync", "readnone") => true,
            // A function that returns makes progress.
            ("mustprogress", "willreturn") => true,
            _ if name != other_name => false,
            ("align" | "dereferenceable" | "dereferenceable_or_null" | "dead_on_return", _) => {
                at_most(argument, other_argument)
            }
            ("captures", _) => argument == other_argument || other_argument == "none",
            _ => normal(argument) == normal(other_argument),
        }
    })
}

/// Does an attribute limit memory to what is in the parentheses of `memory(..)`, or more?
fn within(inside: &str, limited: &str) -> bool {
    let (most, known) = MemoryEffects::parse(inside);
    known && MemoryEffects::of([limited]).is_some_and(|effects| effects.within(most))
}

/// Is a number at most another one? Of what is no number, no.
fn at_most(argument: &str, most: &str) -> bool {
    matches!((argument.parse::<u64>(), most.parse::<u64>()), (Ok(n), Ok(most)) if n <= most)
}

fn normal(argument: &str) -> String {
    argument.split_whitespace().collect()
}

/// Why an annotation leaves a proof without ground.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum AnnotationError {
    #[error("what `{0}` means is not modelled")]
    Unmodelled(String),
    #[error("only the first version is `{0}`")]
    OnlyFirst(String),
    #[error("only the second version is `{0}`")]
    OnlySecond(String),
}

/// The first reason why annotations at one place of both versions leave a proof without ground. `proved` says which
/// promises of the second version hold by themselves.
pub(super) fn check(
    place: AnnotationTarget,
    first: &[String],
    second: &[String],
    proved: impl Fn(&str) -> bool,
) -> Result<(), AnnotationError> {
    for annotation in first {
        match says(place, annotation) {
            Says::Unmodelled => return Err(AnnotationError::Unmodelled(annotation.clone())),
            Says::Meaning if !implied(annotation, second) => {
                return Err(AnnotationError::OnlyFirst(annotation.clone()));
            }
            _ => {}
        }
    }
    for annotation in second {
        match says(place, annotation) {
            Says::Unmodelled => return Err(AnnotationError::Unmodelled(annotation.clone())),
            Says::Meaning | Says::Promise if !implied(annotation, first) && !proved(annotation) => {
                return Err(AnnotationError::OnlySecond(annotation.clone()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Does an attribute of a function promise something of all floats that are computed in it: `"no-nans-fp-math"="true"`?
pub(super) fn is_of_floats(annotation: &str) -> bool {
    parts(annotation).0.ends_with("-fp-math\"")
        && says(AnnotationTarget::Function, annotation) == Says::Promise
        && !annotation.contains("false")
}

/// Those that promise or mean something, each in one spelling and in order: what two places must agree on.
pub(super) fn essence(place: AnnotationTarget, annotations: &[String]) -> Vec<String> {
    let matters = |a: &&String| says(place, a) != Says::Nothing;
    let mut kept: Vec<String> = annotations.iter().filter(matters).map(|a| spelled(a)).collect();
    kept.sort();
    kept.dedup();
    kept
}

fn spelled(annotation: &str) -> String {
    match parts(annotation) {
        (name, "") => name.to_string(),
        (name, argument) => format!("{name}({argument})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split(';').map(|a| a.trim().to_string()).filter(|a| !a.is_empty()).collect()
    }

    #[test]
    fn annotations_have_a_direction() {
        for (place, first, second, holds) in [
            (AnnotationTarget::Parameter, "nonnull", "", true),
            (AnnotationTarget::Parameter, "", "nonnull", false),
            (AnnotationTarget::Parameter, "align 8", "align(4)", true),
            (AnnotationTarget::Parameter, "align 4", "align 8", false),
            (AnnotationTarget::Parameter, "dereferenceable(8)", "dereferenceable_or_null(4)", true),
            (AnnotationTarget::Parameter, "dereferenceable_or_null(8)", "dereferenceable(8)", false),
            (AnnotationTarget::Parameter, "range(i8 0, 5)", "range(i8 0,5)", true),
            (AnnotationTarget::Parameter, "range(i8 0, 5)", "range(i8 0, 4)", false),
            (AnnotationTarget::Parameter, "readnone", "readonly", true),
            (AnnotationTarget::Parameter, "byval(i32)", "", false),
            (AnnotationTarget::Parameter, "", "nobody_knows_this", false),
            (AnnotationTarget::Parameter, "nobody_knows_this", "nobody_knows_this", false),
            (AnnotationTarget::Function, "null_pointer_is_valid", "", false),
            (AnnotationTarget::Function, "", "noreturn", false),
            (AnnotationTarget::Function, "willreturn", "mustprogress", true),
            (AnnotationTarget::Function, "mustprogress", "willreturn", false),
            (AnnotationTarget::Function, "noreturn", "", true),
            (AnnotationTarget::Function, "", "\"frame-pointer\"=\"all\"; noinline; align 16", true),
            (AnnotationTarget::Function, "\"nobody-knows-this\"=\"1\"", "\"nobody-knows-this\"=\"1\"", true),
            (AnnotationTarget::Function, "", "memory(none)", false),
            (AnnotationTarget::Function, "memory(none)", "memory(read)", true),
            (AnnotationTarget::Function, "memory(argmem: read)", "memory(read, argmem: readwrite)", true),
            (AnnotationTarget::Function, "memory(read)", "memory(argmem: read)", false),
            (AnnotationTarget::Function, "memory(write)", "memory(write, errnomem: none)", false),
            (AnnotationTarget::Function, "memory(read)", "nofree", true),
            (AnnotationTarget::Function, "memory(argmem: read)", "nofree", false),
            (AnnotationTarget::Function, "memory(write)", "nofree", false),
            (AnnotationTarget::Function, "memory(none)", "nosync", true),
            (AnnotationTarget::Function, "memory(read)", "nosync", false),
            (AnnotationTarget::Metadata, "", "!dbg !1; !prof !2", true),
            (AnnotationTarget::Metadata, "", "!nobody.knows !1", false),
        ] {
            let found = check(place, &list(first), &list(second), |_| false);
            assert_eq!(found.is_ok(), holds, "{first} / {second}: {found:?}");
        }
    }

    #[test]
    fn names_and_arguments_are_read() {
        assert_eq!(parts("align 8"), ("align", "8"));
        assert_eq!(parts("range(i8 0, (5))"), ("range", "i8 0, (5)"));
        assert_eq!(parts("\"a(b\"=\"c\""), ("\"a(b\"", "\"c\""));
        assert_eq!(parts("noundef"), ("noundef", ""));
    }
}
