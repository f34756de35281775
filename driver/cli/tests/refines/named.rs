//! The cases that every export must get right, a test each: what goes out refines what came in on all inputs, and what
//! an export that is wrong in this case would write does not. An interpreter says so that tries all inputs, and an SMT
//! solver.
//!
//! Wrong exports are made from right ones: a flag kept, a `freeze` or a mask forgotten.

use super::inputs::{Inputs, difference};
use super::{body_text, by_name, folder, optimised, solved};
use rewright_llvm::module;

/// Sums keep the flags of one original.
fn flagged(text: &str) -> String {
    text.replace("= add i8", "= add nsw i8")
}

/// What freezes was forgotten.
fn thawed(text: &str) -> String {
    forgotten(text, |what| what.strip_prefix("freeze ")?.split_once(' ').map(|(_, value)| value))
}

/// Amounts of shifts are taken as they are.
fn unmasked(text: &str) -> String {
    forgotten(text, |what| what.strip_prefix("and i8 ")?.strip_suffix(", 7"))
}

/// A choice of a value or 0 is written as its mask.
fn masked(text: &str) -> String {
    let line = |line: &str| {
        let (result, what) = line.split_once(" = select i1 ")?;
        let (condition, value) = what.strip_suffix(", i8 0")?.split_once(", i8 ")?;
        Some(format!("{result}.m = sext i1 {condition} to i8\n{result} = and i8 {}.m, {value}", result.trim()))
    };
    text.lines().map(|l| line(l).unwrap_or_else(|| l.to_string()) + "\n").collect()
}

/// Without the instructions that `operand` recognises: uses of one see its operand.
fn forgotten(text: &str, operand: impl Fn(&str) -> Option<&str>) -> String {
    let parts = |line: &'_ str| {
        let (result, what) = line.trim().split_once(" = ")?;
        Some((result.to_string(), operand(what)?.to_string()))
    };
    let (gone, kept): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| parts(line).is_some());
    gone.iter().filter_map(|line| parts(line)).fold(kept.join("\n"), |text, (result, value)| {
        let uses = [",", "\n", " "].map(|end| (format!("{result}{end}"), format!("{value}{end}")));
        uses.iter().fold(text, |text, (from, to)| text.replace(from, to))
    })
}

/// Exports `function` with the rules of a pack; each of `wrong` must be found.
fn case(function: &str, pack: &str, wrong: &[fn(&str) -> String]) {
    let function = &format!("@{function}");
    let (old, new, said) = optimised(&folder().join("named.ll"), &["--rules", pack]);
    assert!(said.contains(&format!("{function}: optimised")), "{said}");
    let found = |new: &module::File| difference(by_name(&old, function), by_name(new, function), Inputs::All);
    let text = body_text(&new.text, function);
    assert_eq!(found(&new), None, "{text}");
    let head = new.text[..new.text.find(text).unwrap()].rsplit_once("define ").unwrap().1;
    let target: String = old.text.lines().filter(|l| l.starts_with("target ")).map(|l| format!("{l}\n")).collect();
    let whole = |text: &str| format!("{target}define {head}{text}\n}}\n");
    let (proved, _) = solved(&folder().join("named.ll"), function, &whole(text));
    assert!(proved, "this is right, and the solver does not say so:\n{text}");
    for wrong in wrong {
        let wrong = wrong(text);
        assert_ne!(wrong.trim(), text.trim(), "there is nothing to get wrong");
        let file = module::read(whole(&wrong)).unwrap();
        assert!(found(&file).is_some(), "this is wrong, and not found:\n{wrong}");
        assert!(
            solved(&folder().join("named.ll"), function, &file.text).1,
            "this is wrong, and the solver says it is not:\n{wrong}"
        );
    }
}

#[test]
fn sums_of_one_class() {
    case("sums", "equal.rw", &[flagged]);
}

#[test]
fn a_choice_stays_one() {
    case("choice", "equal.rw", &[masked]);
}

#[test]
fn a_choice_becomes_a_mask() {
    case("choice", "masks.rw", &[thawed]);
}

#[test]
fn a_choice_for_a_mask() {
    case("choice_and_mask", "equal.rw", &[|text| thawed(&masked(text))]);
}

#[test]
fn a_mask_for_a_choice() {
    case("choice_and_mask", "masks.rw", &[thawed]);
}

#[test]
fn shifts_by_the_width_and_more() {
    case("shift", "equal.rw", &[unmasked]);
}

#[test]
fn a_choice_of_truths() {
    case("both", "equal.rw", &[thawed]);
}

#[test]
fn poison_is_stored() {
    case("stored", "equal.rw", &[flagged]);
    case("stored_choice", "equal.rw", &[masked]);
    case("stored_choice", "masks.rw", &[thawed]);
}

#[test]
fn a_branch_on_poison() {
    case("branch", "equal.rw", &[thawed]);
}

#[test]
fn a_flagged_sum_computed_before() {
    case("hoisted", "equal.rw", &[flagged]);
}
