//! C functions that packs declare and that no call is of, which is said at the end of a build.
//!
//! What a file calls, LLVM IR tells. Of a macro there is nothing in it, so the preprocessor is asked, where the source
//! names a function that LLVM IR does not.

use super::statistics::Facts;
use rewright_dsl::diagnostic::count;
use rewright_llvm::declared_calls::DeclaredCalls;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// How much of a macro is shown.
const SHOWN: usize = 60;

/// How many reasons are given for one function.
const REASONS: usize = 3;

/// Those of these functions (`@f`) that a source text names.
pub(super) fn named(functions: Vec<String>, source: &str) -> Vec<String> {
    if functions.is_empty() {
        return vec![];
    }
    let words: BTreeSet<&str> = source.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    functions.into_iter().filter(|function| words.contains(bare(function))).collect()
}

/// Those of these functions that are macros, with why their calls are no calls of the function, given what `-dM` lists.
pub(super) fn macros(functions: &[String], definitions: &str) -> BTreeMap<String, DeclaredCalls> {
    let mut found = BTreeMap::new();
    for definition in definitions.lines() {
        let Some(text) = definition.strip_prefix("#define ") else { continue };
        let name = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
        let body = text.rsplit_once(' ').map_or("", |(_, last)| last);
        // `#define f f` says that there is one.
        if let Some(function) = functions.iter().find(|function| bare(function) == name && body != name) {
            let shown: String = definition.chars().take(SHOWN).collect();
            let dots = if shown.len() < definition.len() { ".." } else { "" };
            let because = format!("it is a macro (`{shown}{dots}`): declare what that calls");
            let refused = BTreeMap::from([(because, 1)]);
            found.insert(function.clone(), DeclaredCalls { taken: 0, refused });
        }
    }
    found
}

/// Of functions that a file does not name, those that are spelled nearly as one that it does and that no pack declares, with
/// that one. Two functions of a family may differ in one letter (`_si`, `_ui`): a letter more, a letter less, or two that are
/// exchanged make a slip.
pub(super) fn near<'n>(
    unnamed: &[String],
    declared: &BTreeSet<String>,
    named: impl Iterator<Item = &'n str>,
) -> BTreeMap<String, String> {
    let mut others: Vec<&str> = named.filter(|name| !declared.contains(*name)).collect();
    others.sort_unstable();
    let found = unnamed.iter().filter_map(|name| {
        let meant = others.iter().find(|other| is_slip(name.as_bytes(), other.as_bytes()))?;
        Some((name.clone(), meant.to_string()))
    });
    found.collect()
}

/// Has one name a letter more than the other, or are two letters beside each other exchanged?
fn is_slip(name: &[u8], other: &[u8]) -> bool {
    let (short, long) = if name.len() < other.len() { (name, other) } else { (other, name) };
    let Some(at) = short.iter().zip(long).position(|(a, b)| a != b) else { return long.len() == short.len() + 1 };
    match long.len() - short.len() {
        0 => short[at..]
            .first_chunk()
            .is_some_and(|[a, b]| long[at..].starts_with(&[*b, *a]) && short[at + 2..] == long[at + 2..]),
        1 => short[at..] == long[at + 1..],
        _ => false,
    }
}

/// Where functions (`@f`) are declared: `mine.rw:4`.
pub type Places = BTreeMap<String, String>;

/// A note about a function, at its declaration: `mine.rw:4: note: ..`.
fn note(function: &str, declared: &Places, text: &str) -> String {
    let place = declared.get(function).map_or(String::new(), |place| format!("{place}: "));
    format!("{place}note: {text}")
}

/// Notes on functions that packs declare, that no file of a build calls, and that may be misspelt.
pub fn misspelt(
    near: &BTreeMap<String, String>,
    calls: &BTreeMap<String, DeclaredCalls>,
    declared: &Places,
) -> Vec<String> {
    let never = near.iter().filter(|(function, _)| !calls.contains_key(*function));
    let text = |(function, meant): (&String, &String)| {
        let (name, meant) = (bare(function), bare(meant));
        let text = format!("no file calls `{name}`, which a pack declares: did you mean `{meant}`, which is called?");
        note(function, declared, &text)
    };
    never.map(text).collect()
}

/// A note on a build that calls none of the functions for which its packs were written.
pub fn uncalled(facts: &Facts, declared: &Places) -> Option<String> {
    let ((first, _), files) = (declared.first_key_value()?, facts.files as usize);
    (files > 0 && facts.calls.is_empty()).then(|| {
        let text = format!(
            "no function that the packs declare is called in the {} that {} compiled (they declare `{first}`{}); \
             `--keep DIR` shows what is",
            count(files, "file"),
            if files == 1 { "was" } else { "were" },
            if declared.len() > 1 { ", .." } else { "" }
        );
        note(first, declared, &text)
    })
}

/// Notes on functions that packs declare, where calls of that name are not taken for them.
pub fn unmatched(calls: &BTreeMap<String, DeclaredCalls>, declared: &Places) -> Vec<String> {
    let unmatched = calls.iter().filter(|(_, calls)| !calls.refused.is_empty());
    let text = |(function, DeclaredCalls { taken, refused }): (&String, &DeclaredCalls)| {
        let mut why: Vec<(&str, u64)> = refused.iter().map(|(because, calls)| (because.as_str(), *calls)).collect();
        why.sort_by_key(|(because, calls)| (Reverse(*calls), *because));
        let left: u64 = why.iter().skip(REASONS).map(|(_, calls)| calls).sum();
        let mut shown: Vec<String> = why.iter().take(REASONS).map(|(because, _)| because.to_string()).collect();
        if left > 0 {
            shown.push(format!("other reasons, for {}", count(left as usize, "call")));
        }
        let all: u64 = taken + why.iter().map(|(_, calls)| calls).sum::<u64>();
        let which = match taken {
            0 => "no call".to_string(),
            _ => format!("{} of {}", all - taken, count(all as usize, "call")),
        };
        let verb = match (taken, all - taken) {
            (0, _) => "is",
            (_, 1) => "is not",
            _ => "are not",
        };
        let why = shown.join("; or ");
        let text = format!("{which} of `{}` {verb} the function that a pack declares: {why}", bare(function));
        note(function, declared, &text)
    };
    unmatched.map(text).collect()
}

fn bare(function: &str) -> &str {
    function.trim_start_matches('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_found_by_their_definitions() {
        let names = |names: &[&str]| names.iter().map(|name| format!("@{name}")).collect::<Vec<_>>();
        let source = "int main(void) { return max(1, mi) + same(2) + f(3); } // other";
        let asked = named(names(&["f", "in", "max", "min", "same"]), source);
        assert_eq!(asked, names(&["f", "max", "same"]));
        let found = macros(&asked, "#define max(a,b) max_of(a, b)\n#define same same\n#define ff 1\n#define f\n");
        let said = unmatched(&found, &Places::from([("@max".into(), "mine.rw:4".into())]));
        assert_eq!(
            said,
            [
                "note: no call of `f` is the function that a pack declares: it is a macro (`#define f`): declare what that calls",
                "mine.rw:4: note: no call of `max` is the function that a pack declares: it is a macro (`#define max(a,b) \
                 max_of(a, b)`): declare what that calls",
            ]
        );
    }

    #[test]
    fn a_slip_is_told_from_another_function_of_the_family() {
        let set = |names: &[&str]| names.iter().map(|name| format!("@__gmpz_{name}")).collect::<Vec<_>>();
        let declared = set(&["compabs", "mul_si", "addd", "inti", "nothing_like_it"]);
        let named = set(&["cmpabs", "mul_ui", "add", "sub", "init"]);
        let known = declared.iter().cloned().collect();
        let found = near(&declared, &known, named.iter().map(String::as_str));
        let expected =
            [("@__gmpz_addd", "@__gmpz_add"), ("@__gmpz_compabs", "@__gmpz_cmpabs"), ("@__gmpz_inti", "@__gmpz_init")];
        assert_eq!(found, expected.map(|(a, b)| (a.to_string(), b.to_string())).into());
        // Another file calls it.
        let calls = BTreeMap::from([("@__gmpz_addd".to_string(), DeclaredCalls::default())]);
        let said = "note: no file calls `__gmpz_compabs`, which a pack declares: did you mean `__gmpz_cmpabs`, which is called?";
        assert_eq!(misspelt(&found, &calls, &Places::new())[..1], [said]);
        assert_eq!(misspelt(&found, &calls, &Places::new()).len(), 2);
    }

    #[test]
    fn calls_that_are_not_taken_are_counted() {
        let calls = |taken, why: &[(&str, u64)]| {
            let refused = why.iter().map(|(because, calls)| (because.to_string(), *calls)).collect();
            DeclaredCalls { taken, refused }
        };
        let all = [
            ("@a", calls(1, &[("x", 1)])),
            ("@b", calls(0, &[("x", 1), ("y", 2)])),
            ("@c", calls(4, &[])),
            ("@d", calls(3, &[("u", 1), ("v", 2), ("w", 3), ("x", 4)])),
        ];
        let all = all.into_iter().map(|(name, calls)| (name.to_string(), calls)).collect();
        assert_eq!(
            unmatched(&all, &Places::new()),
            [
                "note: 1 of 2 calls of `a` is not the function that a pack declares: x",
                "note: no call of `b` is the function that a pack declares: y; or x",
                "note: 10 of 13 calls of `d` are not the function that a pack declares: x; or w; or v; or other reasons, for 1 call",
            ]
        );
    }
}
