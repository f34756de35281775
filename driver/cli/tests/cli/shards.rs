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
