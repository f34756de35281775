//! Runs that are divided with `--shard`, and `rewright merge`.

use super::inputs;
use crate::ran::rewright;
use serde_json::Value;
use std::fs;
use std::path::Path;

const PACK: &str = "pack some\nimport std.core\n\nruleset some {
  rule right{T <: Int}(x: T): x + x - x => x
  rule other{T <: Int}(x: T): bnot(bnot(x)) => x
  rule forgets{T <: Int}(x: T): popcnt(x) => x
}\n";

const CLIF: &str = "function %f(i32) -> i32 {\nblock0(v0: i32):\n    v1 = iadd v0, v0\n    return v1\n}\n\n\
    function %g(f32) -> f32 {\nblock0(v0: f32):\n    v1 = fadd v0, v0\n    return v1\n}\n\n\
    function %h(f32) -> f32 {\nblock0(v0: f32):\n    v1 = fadd v0, v0\n    return v1\n}\n";

/// The report without times.
fn report(text: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("seconds");
                fields.values_mut().for_each(strip);
            }
            Value::Array(entries) => entries.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut report = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    strip(&mut report);
    report
}

/// Writes the reports of all parts of a run to `1.json` and so on.
fn divide(dir: &Path, command: &str, n: usize) {
    for k in 1..=n {
        let ran = rewright(dir, &format!("{command} --format json --shard {k}/{n}"));
        assert!(ran.stderr.contains(&format!("note: part {k}/{n}: ")), "{}", ran.stderr);
        fs::write(dir.join(format!("{k}.json")), ran.stdout).unwrap();
    }
}

#[test]
fn parts_make_the_report_of_the_whole() {
    let dir = inputs();
    fs::write(dir.path().join("some.rw"), PACK).unwrap();
    fs::create_dir(dir.path().join("ir")).unwrap();
    for name in ["a", "b", "c"] {
        let call = "  %r = call i32 asm \"nop\", \"=r\"()\n  ret i32 %r";
        let text = format!("define i32 @{name}() {{\n{call}\n}}\ndefine i32 @g() {{\n  ret i32 1\n}}\n");
        fs::write(dir.path().join(format!("ir/{name}.ll")), text).unwrap();
        let text = "test run\nfunction %f(i32) -> i32 {\nblock0(v0: i32):\n    return v0\n}\n; run: %f(1) == 2\n";
        fs::write(dir.path().join(format!("ir/{name}.clif")), text).unwrap();
    }
    let commands = [
        ("verify some.rw --no-cache --samples 20", 1),
        ("fuzz --rules some.rw --count 150 --seed 20 --size 6", 1),
        ("corpus --rules some.rw ir", 0),
        ("difftest --rules some.rw ir", 0),
    ];
    for (command, code) in commands {
        let whole = rewright(dir.path(), &format!("{command} --format json"));
        assert_eq!(whole.code, Some(code), "{command}: {}", whole.stderr);
        divide(dir.path(), command, 2);
        // In whatever order they are named.
        let merged = rewright(dir.path(), "merge 2.json 1.json --format json");
        assert_eq!((merged.code, merged.stderr.as_str()), (Some(code), ""), "{command}");
        assert_eq!(report(&merged.stdout), report(&whole.stdout), "{command}");
    }
}

/// Checks that parts make the report and the exit code of the whole, and returns that report.
fn agree(dir: &Path, command: &str, n: usize, code: i32) -> Value {
    let whole = rewright(dir, &format!("{command} --format json"));
    assert_eq!(whole.code, Some(code), "{command}: {}", whole.stderr);
    divide(dir, command, n);
    let parts: Vec<String> = (1..=n).rev().map(|k| format!("{k}.json")).collect();
    let merged = rewright(dir, &format!("merge {} --format json", parts.join(" ")));
    assert_eq!(merged.code, Some(code), "{command}: {}", merged.stderr);
    let whole = report(&whole.stdout);
    assert_eq!(report(&merged.stdout), whole, "{command}");
    whole
}

/// Functions `@f0` to `@f7`, of which the last three are one, two and three times `%x`, and one that only this file
/// has.
fn module(own: &str, twice: &str, thrice: &str) -> String {
    let function = |name: &str, body: &str| format!("define i32 @{name}(i32 %x) {{\n{body}  ret i32 %y\n}}\n");
    let mut text: String = (0..5).map(|i| function(&format!("f{i}"), &format!("  %y = add i32 %x, {i}\n"))).collect();
    text += &function(own, "  %y = mul i32 %x, 7\n");
    text += &function("f5", "  %y = call i32 @g(i32 %x)\n");
    text += &function("f6", &format!("  %y = {twice}\n"));
    text += &function("f7", &format!("  %y = {thrice}\n"));
    text + "declare i32 @g(i32)\n"
}

#[test]
fn two_versions_are_divided_by_file_or_by_function() {
    let dir = inputs();
    let path = dir.path();
    let second = module("new", "shl i32 %x, 1", "mul i32 %x, 4").replace("add i32 %x, 3", "sub i32 %x, -3");
    let texts = [
        ("old/a.ll", module("gone", "mul i32 %x, 2", "mul i32 %x, 3")),
        ("new/a.ll", format!("@k = global i32 1\n{second}")),
        ("old/b.ll", module("gone", "mul i32 %x, 2", "mul i32 %x, 3")),
        ("new/b.ll", module("gone", "shl i32 %x, 1", "mul i32 %x, 3")),
        ("old/only.ll", module("gone", "mul i32 %x, 2", "mul i32 %x, 3")),
        ("old/m.mlir", "func.func @m(%x: f32) -> f32 {\n  return %x : f32\n}\n".into()),
        ("new/m.mlir", "func.func @m(%x: f32) -> f32 {\n  return %x : f32\n}\n".into()),
        ("old/c.clif", CLIF.into()),
        (
            "new/c.clif",
            CLIF.replace("iadd v0, v0", "isub v0, v0").replace("fadd v0, v0", "fadd v0, v0\n    v2 = fneg v0"),
        ),
        ("broken/a.ll", "define i32 @f(i32 %x) {".into()),
        ("broken/b.ll", module("gone", "shl i32 %x, 1", "mul i32 %x, 3")),
    ];
    for (name, text) in texts {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), text).unwrap();
    }
    let how = "--method replayed,refined";
    let whole = agree(path, &format!("validate old new {how}"), 3, 1);
    assert_eq!(whole["files"]["only_first"], serde_json::json!(["only.ll"]));
    let whole = agree(path, &format!("validate old/a.ll new/a.ll {how}"), 4, 1);
    let counts = |key: &str| whole["counts"][key].as_u64();
    assert_eq!((counts("refuted"), counts("only_first"), counts("only_second")), (Some(1), Some(1), Some(1)));
    assert_eq!((whole["unchanged"].as_u64(), whole["files"]["compared"].as_u64()), (Some(5), Some(1)), "{whole}");
    assert!(!whole["modules"].as_array().unwrap().is_empty(), "{whole}");
    let whole = agree(path, "validate old/c.clif new/c.clif", 3, 1);
    assert_eq!(whole["assumptions"].as_array().unwrap().len(), 1, "of two functions: {whole}");
    agree(path, "validate old/m.mlir new/m.mlir", 2, 0);
    agree(path, &format!("validate old {how} --rules std"), 2, 0);
    agree(path, &format!("validate old/a.ll {how} --rules std"), 2, 0);
    agree(path, &format!("validate old/b.ll new/b.ll {how} --require proved"), 2, 0);
    // A file that cannot be read: of a folder one part says so, of a file each.
    agree(path, &format!("validate old broken {how}"), 3, 2);
    agree(path, &format!("validate old/a.ll broken/a.ll {how}"), 2, 2);
    let ran = rewright(path, "merge 1.json 2.json");
    assert!(ran.stderr.contains("part 1/2: 1 file was not compared"), "{}", ran.stderr);
    let ran = rewright(path, "validate old new --fn f1 --shard 1/2");
    assert!(ran.code == Some(2) && ran.stderr.contains("cannot be used with"), "{ran:?}");
}

#[test]
fn other_contents_are_another_run() {
    let dir = inputs();
    let path = dir.path();
    for (name, content) in [("a.clif", CLIF.to_string()), ("b.clif", CLIF.replace("iadd v0, v0", "isub v0, v0"))] {
        fs::write(path.join(name), content).unwrap();
    }
    let first = rewright(path, "validate a.clif a.clif --shard 1/2 --format json").stdout;
    fs::copy(path.join("b.clif"), path.join("a.clif")).unwrap();
    let second = rewright(path, "validate a.clif a.clif --shard 2/2 --format json").stdout;
    fs::write(path.join("1.json"), first).unwrap();
    fs::write(path.join("2.json"), second).unwrap();
    let ran = rewright(path, "merge 1.json 2.json");
    assert!(ran.code == Some(2) && ran.stderr.contains("are of different runs"), "{ran:?}");
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let dir = inputs();
    fs::write(dir.path().join("some.rw"), PACK).unwrap();
    divide(dir.path(), "fuzz --rules some.rw --count 1 --size 2 --interpret", 3);
    fs::copy(dir.path().join("1.json"), dir.path().join("again.json")).unwrap();
    let other = rewright(dir.path(), "fuzz --rules std.core --count 1 --size 2 --interpret --format json --shard 2/3");
    fs::write(dir.path().join("other.json"), other.stdout).unwrap();
    fs::write(dir.path().join("plain.json"), "{}").unwrap();
    let changed = fs::read_to_string(dir.path().join("2.json")).unwrap();
    let changed = changed.replacen("\"findings\": []", "\"findings\": [1]", 1);
    fs::write(dir.path().join("changed.json"), changed).unwrap();
    let refusals = [
        ("1.json 3.json", "parts are missing: 2/3"),
        ("1.json again.json 2.json 3.json", "1.json and again.json are the same part: 1/3"),
        ("1.json other.json 3.json", "are of different runs"),
        ("1.json plain.json", "plain.json is no report of a part of a run"),
        ("1.json some.rw", "some.rw is no report of a part of a run"),
        ("1.json changed.json 3.json", "`findings` has been changed"),
    ];
    for (files, message) in refusals {
        let ran = rewright(dir.path(), &format!("merge {files}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{files}");
        assert!(ran.stderr.contains(message), "{files}: {}", ran.stderr);
    }
    let ran = rewright(dir.path(), "merge 1.json 2.json 3.json");
    assert!(ran.stdout.contains("functions: 1\n"), "{}", ran.stdout);
}

#[test]
fn verdicts_are_shared_by_machines_with_the_same_store() {
    let dir = inputs();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    for folder in [&one, &two] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("some.rw"), PACK).unwrap();
    }
    let verified = |folder: &Path| {
        let store = dir.path().join("store");
        let store = store.display();
        let ran = rewright(folder, &format!("verify some.rw --samples 20 --cache kept --cache-store {store}"));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        ran.stdout
    };
    assert!(verified(&one).contains("; 0 rules from the cache, "));
    let said = verified(&two);
    assert!(said.contains("; 3 rules from the cache, "), "{said}");
}
