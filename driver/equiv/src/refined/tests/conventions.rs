//! How functions are called that only their module calls.

use super::super::super::own_changes;
use super::TARGET;
use rewright_llvm::module::read;
use std::collections::BTreeSet;

fn proved(before: &str, after: &str) -> Vec<bool> {
    let [before, after] = [before, after].map(|text| format!("{TARGET}@t = global ptr null\n{text}"));
    let report = own_changes(&read(before).unwrap(), &after, BTreeSet::new()).unwrap();
    report.functions.iter().map(|verdict| verdict.is_proved()).collect()
}

#[test]
fn a_module_may_call_its_own_functions_in_its_own_way() {
    let own = |linkage: &str, convention: &str, call: &str, more: &str| {
        format!(
            "define {linkage} {convention} i32 @own(i32 %x) {{\n%r = add i32 %x, 1\nret i32 %r\n}}\n\
             define i32 @f(i32 %x) {{\n{more}%r = call {call} i32 @own(i32 %x)\nret i32 %r\n}}\n"
        )
    };
    let store = "store ptr @own, ptr @t\n";
    let before =
        |linkage: &str, more: &str| own(linkage, "", "", more).replace("%r = add i32 %x, 1", "%r = add i32 1, %x");
    for (linkage, convention, call, more, expected) in [
        ("internal", "fastcc", "fastcc", "", [true, true]),
        ("internal", "coldcc", "coldcc", "", [true, true]),
        // The call is another one than the function's.
        ("internal", "fastcc", "", "", [false, false]),
        ("internal", "", "fastcc", "", [true, false]),
        // Others may call it.
        ("", "fastcc", "fastcc", "", [false, false]),
        ("internal", "fastcc", "fastcc", store, [false, false]),
    ] {
        let found = proved(&before(linkage, more), &own(linkage, convention, call, more));
        assert_eq!(found, expected, "{linkage} {convention} {call} {more}");
    }
}
