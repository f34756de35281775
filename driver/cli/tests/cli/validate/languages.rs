//! `validate` of CLIF and of Rewright's own text.

use super::report;
use crate::ran::rewright;
use std::fs;
use std::path::Path;

const CLIF: &str = "\
function %double(i32) -> i32 {
block0(v0: i32):
    v1 = iconst.i32 2
    v2 = imul v0, v1
    return v2
}

function %divide(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    v2 = udiv v0, v1
    return v2
}

function %slot() -> i64 {
    ss0 = explicit_slot 8
block0:
    v0 = stack_addr.i64 ss0
    return v0
}

function %nan(f32, f32) -> i32 {
block0(v0: f32, v1: f32):
    v2 = fadd v0, v1
    v3 = bitcast.i32 v2
    return v3
}

function %memory(i64, i64) -> i32 {
block0(v0: i64, v1: i64):
    v2 = iconst.i32 1
    store notrap v2, v0
    v3 = load.i32 notrap v1
    return v3
}
";

/// `function: verdict` for each function of two versions.
fn verdicts(dir: &Path, name: &str, before: &str, after: &str) -> Vec<String> {
    fs::write(dir.join(format!("a.{name}")), before).unwrap();
    fs::write(dir.join(format!("b.{name}")), after).unwrap();
    let ran = rewright(dir, &format!("validate a.{name} b.{name} --format json"));
    let found = report(&ran);
    let refuted = found["counts"]["refuted"].as_u64().unwrap() > 0;
    assert_eq!(ran.code, Some(i32::from(refuted)), "{ran:?}");
    let all = found["functions"].as_array().unwrap();
    all.iter().map(|f| format!("{}: {}", f["function"].as_str().unwrap(), f["verdict"].as_str().unwrap())).collect()
}

/// The verdict of the one function that a change is about.
fn changed(function: &str, from: &str, to: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    assert!(CLIF.contains(from), "{from}");
    let all = verdicts(dir.path(), "clif", CLIF, &CLIF.replace(from, to));
    let name = format!("%{function}: ");
    let (this, others): (Vec<&String>, Vec<&String>) = all.iter().partition(|line| line.starts_with(&name));
    assert!(others.iter().all(|line| line.ends_with(": proved")), "{all:?}");
    this[0].strip_prefix(&name).unwrap().to_string()
}

#[test]
fn versions_of_clif_are_compared() {
    let times = "v1 = iconst.i32 2\n    v2 = imul v0, v1";
    assert_eq!(changed("double", "v2", "v7"), "proved", "names say nothing");
    assert_eq!(changed("double", times, "v2 = iadd v0, v0"), "proved");
    assert_eq!(changed("double", times, "v1 = iconst.i32 3\n    v2 = iadd v0, v1"), "refuted");
    assert_eq!(changed("divide", "udiv v0, v1", "sdiv v0, v1"), "refuted");
    let total = "v3 = iconst.i32 1\n    v4 = bor v1, v3\n    v2 = udiv v0, v4";
    assert_eq!(changed("divide", "v2 = udiv v0, v1", total), "refuted", "it traps no more");
}

#[test]
fn what_is_open_is_not_refuted() {
    // The address of a slot is not specified.
    assert_ne!(changed("slot", "ss0 = explicit_slot 8", "ss0 = explicit_slot 8, align = 4096"), "refuted");
    // Nor is the NaN.
    let other = "v2 = fadd v0, v1\n    v4 = fneg v2\n    v5 = fneg v4\n    v3 = bitcast.i32 v5";
    assert_ne!(changed("nan", "v2 = fadd v0, v1\n    v3 = bitcast.i32 v2", other), "refuted");
}

#[test]
fn a_difference_in_memory_is_refuted() {
    let store = "v2 = iconst.i32 1\n    store notrap v2, v0";
    let other = "v2 = iconst.i32 2\n    store notrap v2, v0";
    assert_eq!(changed("memory", store, other), "refuted");
    // A run says nothing where an access is given what breaks its promise, and much where it is not.
    let both = format!("{store}\n    v3 = load.i32 notrap v1");
    let forwarded =
        |address: &str| format!("v2 = iconst.i32 1\n    store notrap aligned v2, {address}\n    v3 = iconst.i32 1");
    assert_eq!(changed("memory", &both, &forwarded("v0")), "refuted");
    assert_eq!(changed("memory", &both, &forwarded("v0+1")), "unknown");
    let fixed = "v2 = iconst.i32 1\n    store notrap v2, v0\n    v3 = load.i32 notrap readonly can_move v0";
    assert_eq!(changed("memory", &both, fixed), "unknown");
}

#[test]
fn versions_of_our_own_text_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let before = "func %f(%x: i64) -> i64 {\n  %y = imul %x, %x\n  return %y\n}\n";
    let own = |text: &str| verdicts(dir.path(), "ir", before, text);
    assert_eq!(own(before), ["%f: proved"]);
    assert_eq!(own(&before.replace("imul %x", "iadd %x")), ["%f: refuted"]);
    assert_eq!(own(&before.replace("%f", "%g")), ["%f: unknown", "%g: unknown"]);
}

/// What refutes a function is an input that refutes it again.
#[test]
fn a_refutation_is_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let own = "func %f(%x: i64) -> i64 {\n  %y = imul %x, %x\n  return %y\n}\n".to_string();
    let store = "v2 = iconst.i32 1\n    store notrap v2, v0";
    let other = "v2 = iconst.i32 2\n    store notrap v2, v0";
    for (name, function, before, after) in [
        ("ir", "f", own.clone(), own.replace("imul %x", "iadd %x")),
        ("clif", "divide", CLIF.to_string(), CLIF.replace("udiv v0, v1", "sdiv v0, v1")),
        ("clif", "memory", CLIF.to_string(), CLIF.replace(store, other)),
    ] {
        let (a, b) = (format!("a.{name}"), format!("b.{name}"));
        fs::write(dir.path().join(&a), &before).unwrap();
        fs::write(dir.path().join(&b), &after).unwrap();
        let found = report(&rewright(dir.path(), &format!("validate {a} {b} --format json --fn {function}")));
        let one = &found["functions"][0];
        fs::write(dir.path().join("input.json"), one["input"].to_string()).unwrap();
        let again = rewright(dir.path(), &format!("validate {a} {b} --format json --fn {function} --input input.json"));
        let said = &report(&again)["functions"][0];
        assert_eq!((again.code, &said["before"], &said["after"]), (Some(1), &one["before"], &one["after"]), "{found}");
        // One version is what it is.
        let same = rewright(dir.path(), &format!("validate {a} {a} --fn {function} --input input.json"));
        assert_eq!(same.code, Some(0), "{same:?}");
    }
    fs::write(dir.path().join("input.json"), r#"{"arguments":["one"]}"#).unwrap();
    let wrong = rewright(dir.path(), "validate a.ir b.ir --fn f --input input.json");
    assert!(wrong.stdout.contains("`one` is no argument"), "{wrong:?}");
}

/// CLIF may define several functions of one name, as files of tests do.
#[test]
fn functions_of_one_name_are_paired_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let function = |n: &str| {
        format!(
            "function %f(i32) -> i32 {{\nblock0(v0: i32):\n    v1 = iconst.i32 {n}\n    v2 = imul v0, v1\n    return v2\n}}\n"
        )
    };
    let doubled = "function %f(i32) -> i32 {\nblock0(v0: i32):\n    v2 = iadd v0, v0\n    return v2\n}\n";
    let before = [function("1"), function("2"), function("3")].concat();
    let both = |after: &str| verdicts(dir.path(), "clif", &before, after);
    assert_eq!(both(&before), ["%f#1: proved", "%f#2: proved", "%f#3: proved"]);
    let second = [function("1"), doubled.to_string(), function("4")].concat();
    assert_eq!(both(&second), ["%f#1: proved", "%f#2: proved", "%f#3: refuted"]);
    for (name, code) in [("%f#2", 0), ("f#3", 1), ("%f", 1)] {
        let ran = rewright(dir.path(), &format!("validate a.clif b.clif --fn {name}"));
        assert_eq!(ran.code, Some(code), "{name}: {ran:?}");
    }
    // It is unknown which one is gone: none is compared.
    let fewer = [function("2"), function("3")].concat();
    assert_eq!(both(&fewer), ["%f#1: unknown", "%f#2: unknown", "%f#3: unknown", "%f#1: unknown", "%f#2: unknown"]);
    let ran = rewright(dir.path(), "validate a.clif b.clif");
    let said = "the first file defines 3 functions of this name, and the second one 2";
    assert!(ran.stdout.contains(said) && ran.stdout.contains("5 unknown (5 of them in one version only)"), "{ran:?}");
    // A call of that name is of any of them.
    let caller = "function %g(i32) -> i32 {\n    fn0 = %f(i32) -> i32\nblock0(v0: i32):\n    v1 = call fn0(v0)\n    v2 = iadd v1, v0\n    \
                  return v2\n}\n";
    let other = caller.replace("iadd v1, v0", "iadd v0, v1");
    let [was, is] = [format!("{before}{caller}"), format!("{second}{other}")];
    assert_eq!(verdicts(dir.path(), "clif", &was, &is)[3], "%g: proved");
}

/// LLVM IR cannot.
#[test]
fn a_function_of_llvm_is_defined_once() {
    let dir = tempfile::tempdir().unwrap();
    let f = "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n";
    fs::write(dir.path().join("a.ll"), f).unwrap();
    fs::write(dir.path().join("b.ll"), format!("{f}\n{f}")).unwrap();
    for files in ["a.ll b.ll", "b.ll a.ll"] {
        let ran = rewright(dir.path(), &format!("validate {files}"));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("b.ll: 5:1: @f is defined a second time; first in line 1"), "{ran:?}");
    }
}

#[test]
fn what_is_in_a_file_tells_its_language_where_its_name_does_not() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("llvm", "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n"),
        ("clif.txt", "function %f(i32) -> i32 {\nblock0(v0: i32):\n    return v0\n}\n"),
        ("mlir.out", "func.func @f(%x: f32) -> f32 {\n  return %x : f32\n}\n"),
        ("own", "func %f(%x: i64) -> i64 {\n  return %x\n}\n"),
        ("text", "some words\n"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    for name in ["llvm", "clif.txt", "mlir.out", "own"] {
        let ran = rewright(dir.path(), &format!("validate {name} {name} --require proved"));
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    }
    let ran = rewright(dir.path(), "validate text text");
    assert!(ran.code == Some(2) && ran.stderr.contains("say it with --language"), "{ran:?}");
    let ran = rewright(dir.path(), "validate text text --language clif");
    assert!(ran.code == Some(2) && ran.stderr.contains("text: 1:1: expected 'function'"), "{ran:?}");
    let ran = rewright(dir.path(), "validate llvm own");
    assert!(ran.code == Some(2) && ran.stderr.contains("two versions are in one language"), "{ran:?}");
    let ran = rewright(dir.path(), "validate missing missing");
    assert!(ran.code == Some(2) && ran.stderr.contains("missing"), "{ran:?}");
}

#[test]
fn mistakes_and_signatures_are_said() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.clif"), CLIF).unwrap();
    fs::write(dir.path().join("bad.clif"), "function %f( {").unwrap();
    fs::write(
        dir.path().join("wide.clif"),
        CLIF.replace("%double(i32)", "%double(i32, i32)").replacen("v0: i32)", "v0: i32, v9: i32)", 1),
    )
    .unwrap();
    let ran = rewright(dir.path(), "validate a.clif bad.clif");
    assert!(ran.code == Some(2) && ran.stderr.contains("bad.clif: 1:"), "{ran:?}");
    let ran = rewright(dir.path(), "validate a.clif wide.clif");
    assert!(ran.code == Some(0) && ran.stdout.contains("%double: unknown: its signature was (i32) -> i32"), "{ran:?}");
    // By rules.
    let ran = rewright(dir.path(), "validate a.clif");
    assert!(ran.code == Some(0) && ran.stdout.contains("1 file, 0 functions unchanged, 5 others"), "{ran:?}");
}

/// Versions of one function: what it takes and gives, its blocks in both versions, and whether the second one does
/// nothing else.
const PAIRS: [(&str, &str, &str, bool); 22] = [
    (
        "(i64) -> i64",
        "v1 = iconst.i64 8\n v2 = imul v0, v1\n return v2",
        "v1 = iconst.i64 3\n v2 = ishl v0, v1\n return v2",
        true,
    ),
    ("(i128) -> i128", "v1 = iadd v0, v0\n return v1", "v1 = iconst.i32 1\n v2 = ishl v0, v1\n return v2", true),
    ("(i32x4) -> i32x4", "v1 = iadd v0, v0\n return v1", "v1 = iconst.i32 1\n v2 = ishl v0, v1\n return v2", true),
    ("(i32x4) -> i32x4", "v1 = iadd v0, v0\n return v1", "v1 = iconst.i32 2\n v2 = ishl v0, v1\n return v2", false),
    // One lane is equal where another one is not.
    (
        "(i8x16, i8x16, i8x16) -> i8x16",
        "v3 = icmp eq v0, v1\n v4 = swizzle v0, v2\n v5 = swizzle v1, v2\n v6 = bitselect v3, v4, v5\n return v6",
        "v5 = swizzle v1, v2\n return v5",
        false,
    ),
    ("(i8x16, i8x16) -> i8x16", "v3 = swizzle v0, v1\n return v3", "v7 = swizzle v0, v1\n return v7", true),
    // Traps.
    ("(i32, i32) -> i32", "v2 = udiv v0, v1\n return v0", "return v0", false),
    (
        "(i32) -> i32",
        "v1 = iconst.i32 4\n v2 = udiv v0, v1\n return v2",
        "v1 = iconst.i32 2\n v2 = ushr v0, v1\n return v2",
        true,
    ),
    (
        "(i32, i32) -> i32",
        "brif v1, block1, block2\nblock1:\n v2 = udiv v0, v1\n return v2\nblock2:\n return v0",
        "v2 = udiv v0, v1\n brif v1, block1, block2\nblock1:\n return v2\nblock2:\n return v0",
        false,
    ),
    ("(i32)", "trapz v0, user1\n trapz v0, user2\n return", "trapz v0, user1\n return", true),
    ("(i32)", "trapz v0, user1\n trapz v0, user2\n return", "trapz v0, user2\n return", false),
    ("(i32)", "trapz v0, user1\n return", "trapnz v0, user1\n return", false),
    // Memory.
    ("(i64, i32)", "store v1, v0\n store v1, v0\n return", "store v1, v0\n return", true),
    ("(i64, i32, i32)", "store v1, v0\n store v2, v0\n return", "store v2, v0\n return", true),
    ("(i64, i64, i32)", "store v2, v0\n v3 = load.i32 v1\n store v3, v1\n return", "store v2, v0\n return", false),
    ("(i64, i32) -> i32", "store v1, v0\n v2 = load.i32 v0\n return v2", "store v1, v0\n return v1", true),
    (
        "(i64, i64, i32) -> i32",
        "v3 = load.i32 v1\n store v2, v0\n return v3",
        "store v2, v0\n v3 = load.i32 v1\n return v3",
        false,
    ),
    ("(i64)", "v1 = load.i32 v0\n v2 = load.i32 v0\n return", "v1 = load.i32 v0\n return", true),
    ("(i64)", "v1 = load.i32 v0\n store v1, v0\n return", "v1 = load.i32 v0\n return", false),
    // A load that promises not to trap, moved to where nothing says so.
    (
        "(i64, i32) -> i32",
        "brif v1, block1, block2\nblock1:\n v2 = load.i32 notrap v0\n return v2\nblock2:\n return v1",
        "v2 = load.i32 notrap v0\n brif v1, block1, block2\nblock1:\n return v2\nblock2:\n return v1",
        false,
    ),
    ("(f64) -> f64", "v1 = fneg v0\n v2 = fneg v1\n return v2", "return v0", true),
    ("(f64) -> f64", "v1 = f64const 0.0\n v2 = fadd v0, v1\n return v2", "return v0", false),
];

#[test]
fn the_solver_proves_what_holds_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let text = |side: usize| -> String {
        let one = |(n, pair): (usize, &(&str, &str, &str, bool))| {
            let types = pair.0.split(')').next().unwrap().trim_start_matches('(');
            let params =
                types.split(", ").enumerate().map(|(v, ty)| format!("v{v}: {ty}")).collect::<Vec<_>>().join(", ");
            let body = if side == 0 { pair.1 } else { pair.2 };
            format!("function %f{n}{} {{\nblock0({params}):\n {body}\n}}\n\n", pair.0)
        };
        PAIRS.iter().enumerate().map(one).collect()
    };
    let verdicts = verdicts(dir.path(), "clif", &text(0), &text(1));
    assert_eq!(verdicts.len(), PAIRS.len());
    for (verdict, (signature, before, after, holds)) in verdicts.iter().zip(&PAIRS) {
        assert_eq!(verdict.ends_with(": proved"), *holds, "{verdict}: {signature}: {before} / {after}");
        assert!(!holds || !verdict.ends_with(": refuted"));
    }
}

/// Calls in another order, or on another memory.
#[test]
fn calls_stay_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let file = |body: &str| {
        format!(
            "function %f(i64, i32) {{\n    fn0 = colocated %g(i32)\n    fn1 = colocated %h(i32)\nblock0(v0: i64, v1: i32):\n{body}\n}}\n"
        )
    };
    let both = file("    call fn0(v1)\n    call fn1(v1)\n    return");
    let verdict = |after: &str| verdicts(dir.path(), "clif", &both, after).remove(0);
    assert_eq!(verdict(&both.replace("v1", "v9")), "%f: proved");
    let same = "    v2 = iconst.i32 0\n    v3 = iadd v1, v2\n    call fn0(v3)\n    call fn1(v1)\n    return";
    assert_eq!(verdict(&file(same)), "%f: proved");
    for other in [
        "    call fn1(v1)\n    call fn0(v1)\n    return",
        "    call fn0(v1)\n    return",
        "    call fn0(v1)\n    call fn0(v1)\n    call fn1(v1)\n    return",
        "    call fn0(v1)\n    store v1, v0\n    call fn1(v1)\n    return",
    ] {
        assert_ne!(verdict(&file(other)), "%f: proved", "{other}");
    }
}
