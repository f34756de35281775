//! `opt --remarks`: the rules behind each changed value, under the names of each front end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const PACK: &str = "\
pack own
import std.core

ruleset r {
  rule add_zero{T <: Int}(x: T): x + 0 => x
  rule self{T <: Int}(x: T): x - x => 0
  rule twice{T <: Int}(x: T): x + x => ishl{T, T}(bnot(bnot(x)), 1)
}
schedule default {
  saturate r
}
";

const CLIF: &str = "function %f(i32, i32) -> i32, i32, i32 {
block0(v0: i32, v1: i32):
    v2 = iconst.i32 0
    v3 = iadd v1, v2
    v4 = isub v0, v0
    v5 = iadd v0, v0
    v6 = imul v5, v1
    return v3, v4, v6
}
";

const IR: &str = "func %f(%x: i32) -> i32 {
  %z: i32 = const 0
  %a = iadd %x, %z
  %m = imul %a, %a
  return %m
}
";

const LLVM: &str =
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-pc-linux-gnu\"

define i32 @f(i32 %x, i32 %y) {
  %s = sub i32 %x, %x
  %m = mul i32 %x, %y
  %r = add i32 %m, %s
  ret i32 %r
}
";

/// The lines on stderr that speak of values, the report as JSON, and what goes out.
fn remarks(name: &str, text: &str, price: &str) -> (Vec<String>, serde_json::Value, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.rw"), format!("{PACK}{price}")).unwrap();
    fs::write(dir.path().join(name), text).unwrap();
    let said = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        command.current_dir(dir.path()).args(["opt", name, "--rules", "own.rw", "--remarks"]).args(more);
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        (stderr, String::from_utf8(output.stdout).unwrap())
    };
    let json: serde_json::Value = serde_json::from_str(&said(&["--format", "json"]).0).unwrap();
    let (text, out) = said(&[]);
    let of_values = text.lines().filter(|line| line.starts_with("  ") && line.contains(": "));
    (of_values.map(|line| line.trim().to_string()).collect(), json["functions"][0]["changed"].clone(), out)
}

#[test]
fn values_have_the_names_that_go_out() {
    // A price at which two shifts of a node that a rule makes are cheaper than the sum.
    let (lines, json, out) = remarks("f.clif", CLIF, "override iadd cost 500\n");
    let twice = "own.r.twice (own.rw:7)";
    assert_eq!(
        lines,
        [
            format!("v4 = bnot(v0): {twice}"),
            format!("v5 = bnot(v4): {twice}"),
            format!("v6 = ishl(v5, 1), was v5: {twice}"),
            "v1, was v3: own.r.add_zero (own.rw:5)".to_string(),
            "0, was v4: own.r.self (own.rw:6)".to_string(),
        ]
    );
    assert_eq!(
        json[2],
        serde_json::json!({ "value": "v6", "now": "v6 = ishl(v5, 1)", "was": ["v5"], "rules": ["own.r.twice"] })
    );
    assert!(["v4 = bnot v0", "v5 = bnot v4", "v6 = ishl v5, "].iter().all(|inst| out.contains(inst)), "{out}");
    assert_eq!(json[4]["value"], serde_json::Value::Null);
}

#[test]
fn own_text_has_lines_and_llvm_its_names() {
    let (lines, ..) = remarks("f.ir", IR, "");
    assert_eq!(lines, ["v0, was line 3: own.r.add_zero (own.rw:5)"]);
    let (mut lines, _, out) = remarks("f.ll", LLVM, "");
    lines.sort();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let (name, rest) = lines[0].split_once(" = ").unwrap();
    assert_eq!(rest, "imul(%x, %y), was %r: own.r.add_zero (own.rw:5)");
    assert!(out.contains(&format!("{name} = mul i32 %x, %y")), "{out}");
    assert_eq!(lines[1], "0, was %s: own.r.self (own.rw:6)");
}

const WITH_LINES: &str = "
define i32 @g(i32 %x) !dbg !3 {
  %s = add i32 %x, 0, !dbg !5
  ret i32 %s, !dbg !6
}

!1 = !DIFile(filename: \"<b>.c\", directory: \"/tmp\")
!3 = distinct !DISubprogram(name: \"g\", scope: !1, file: !1, line: 7)
!5 = !DILocation(line: 9, column: 3, scope: !3)
!6 = !DILocation(line: 10, scope: !3)
";

#[test]
fn llvm_has_lines_of_the_source() {
    let head = LLVM.split_once("define").unwrap().0;
    let (lines, json, _) = remarks("f.ll", &format!("{head}{WITH_LINES}"), "");
    assert_eq!(lines, ["<b>.c:9:3: %x, was %s: own.r.add_zero (own.rw:5)"]);
    assert_eq!(json[0]["place"], serde_json::json!({ "file": "<b>.c", "line": 9, "column": 3 }));
}

/// The rule behind a write that goes is the one about such a write, of all that speak of the state after it.
#[test]
fn a_write_that_goes_has_its_rule() {
    let head = LLVM.split_once("define").unwrap().0;
    let text = format!(
        "{head}declare void @clear(ptr)\ndeclare void @fit(ptr)\ndefine void @f(ptr %b) {{\n  call void @clear(ptr %b)\n  \
         call void @clear(ptr %b)\n  call void @fit(ptr %b)\n  ret void\n}}\n"
    );
    let writers = "@llvm(\"@clear\")\nfn clear(b: ptr) -> ()  effects writes(memory)  cost 200\n\
                   @llvm(\"@fit\")\nfn fit(b: ptr) -> ()  effects writes(memory)  cost 100\n\
                   ruleset w {\n  rule once(b: ptr, s: State): clear(b) after (clear(b) after s) => clear(b) after s\n  \
                   rule fits(b: ptr, s: State): fit(b) after (clear(b) after s) => clear(b) after s\n}\n\
                   schedule default { saturate w }\n";
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.rw"), format!("pack own\nimport std.core\n{writers}")).unwrap();
    fs::write(dir.path().join("f.ll"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    command.current_dir(dir.path()).args(["opt", "f.ll", "--rules", "own.rw", "--remarks"]);
    let remarks = String::from_utf8(command.output().unwrap().stderr).unwrap();
    for line in ["`clear` is not executed: own.w.once (own.rw:8)", "`fit` is not executed: own.w.fits (own.rw:9)"] {
        assert!(remarks.contains(line), "{line} is not in\n{remarks}");
    }
}

/// The operation that is executed in place of a statement is chosen.
#[test]
fn a_statement_in_place_of_another_is_a_change() {
    let head = LLVM.split_once("define").unwrap().0;
    let text = format!(
        "{head}declare i64 @push(ptr, i32)\ndefine i64 @f(ptr %b) {{\n  %n = call i64 @push(ptr %b, i32 0)\n  ret i64 %n\n}}\n"
    );
    let writers = "@llvm(\"@push\")\nfn push(b: ptr, c: i32) -> i64  effects reads(memory), writes(memory)  cost 200\n\
                   @llvm(\"@push_zero\")\nfn push_zero(b: ptr) -> i64  effects reads(memory), writes(memory)  cost 100\n\
                   ruleset w {\n  rule zero(b: ptr): push(b, 0) => push_zero(b)\n}\n\
                   schedule own at after_inlining { saturate w }\n";
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("own.rw"),
        format!("pack own\nimport std.core\n{writers}").replace("own at after_inlining", "default"),
    )
    .unwrap();
    fs::write(dir.path().join("f.ll"), text).unwrap();
    let said = |command: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_rewright"));
        program.current_dir(dir.path()).args(command.split(' ')).args(["--rules", "own.rw"]);
        let output = program.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let [out, remarks] = said("opt f.ll --remarks");
    assert!(out.contains("@push_zero(ptr"), "{out}");
    assert!(remarks.contains("push_zero(%b), was %n: own.w.zero (own.rw:"), "{remarks}");
    let [answer, _] = said("why-not zero f.ll");
    assert!(answer.contains("took part and was chosen: it is behind 1 change"), "{answer}");
}

#[test]
fn a_page_tells_what_became_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.rw"), PACK).unwrap();
    fs::write(dir.path().join("verify.expected"), "own.r.self: 4 equal\n").unwrap();
    fs::write(dir.path().join("f.ll"), LLVM).unwrap();
    fs::write(dir.path().join("f.clif"), CLIF).unwrap();
    fs::write(dir.path().join("f.ir"), IR).unwrap();
    let made = |name: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        command.current_dir(dir.path()).args(["opt", name, "--rules", "own.rw"]).args(more);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    for (name, parts) in [
        ("f.ll", vec!["<code class=\"before\">  %r = add i32 %m, %s</code>", "own.r.self", "instances: 4 equal."]),
        (
            "f.clif",
            vec![
                "own.r.add_zero",
                "none is recorded",
                "<code class=\"before\">    v3 = iadd v1, v2  ; v2 = 0</code>",
                "<code class=\"after\">    return v1, v2, v6  ; v2 = 0</code>",
                "<code class=\"after\">    v6 = imul v5, v1</code>",
            ],
        ),
        (
            "f.ir",
            vec![
                "<code class=\"before\">  v3: i32 = imul{i32} v2, v2</code>",
                "<code class=\"after\">  v3: i32 = imul{i32} v0, v0</code>",
                "<code class=\"before\">  v2: i32 = iadd{i32} v0, v1</code>",
            ],
        ),
    ] {
        assert_eq!(made(name, &[]), made(name, &["--report", "page.html"]), "{name}");
        let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
        for part in parts {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        made(name, &["--report", "page.html", "--threads", "3"]);
        assert_eq!(fs::read_to_string(dir.path().join("page.html")).unwrap(), page);
    }
}

#[test]
fn a_picture_shows_what_is_chosen() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.rw"), PACK).unwrap();
    fs::write(dir.path().join("f.ll"), LLVM).unwrap();
    let ran = |emit: &str, path: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        command.current_dir(dir.path()).args(["opt", "f.ll", "--rules", "own.rw", "--emit", emit]);
        command.envs(path.map(|path| ("PATH", path)));
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, picture, _) = ran("dot", None);
    assert_eq!(code, Some(0));
    let filled: Vec<&str> = picture.lines().filter(|line| line.contains("filled,bold")).collect();
    // The product alone: the sum is the product, and the difference is 0.
    assert!(filled.len() == 1 && filled[0].contains("imul{i32}\\ncost "), "{picture}");
    assert!(picture.contains("0{i32}\", style = rounded, tooltip = \"by own.r.self\""), "{picture}");
    // No program of Graphviz is there.
    let (code, _, said) = ran("svg", Some(dir.path().to_str().unwrap()));
    assert!(code == Some(2) && said.contains("install graphviz"), "{said}");
    fs::write(dir.path().join("dot"), "#!/bin/sh\n/bin/cat\n").unwrap();
    fs::set_permissions(dir.path().join("dot"), fs::Permissions::from_mode(0o755)).unwrap();
    let (code, drawn, said) = ran("svg", Some(dir.path().to_str().unwrap()));
    assert_eq!((code, drawn), (Some(0), picture), "{said}");
}

/// With `-g`, the place of what changed, of what is nearest, and of a call that is not the declared one.
#[test]
fn why_not_names_lines() {
    let dir = tempfile::tempdir().unwrap();
    let head = LLVM.split_once("define").unwrap().0;
    let called =
        "declare i32 @g2(i64)\ndefine i32 @h() !dbg !3 {\n  %c = call i32 @g2(i64 1), !dbg !6\n  ret i32 %c\n}\n";
    let pack = format!(
        "{PACK}@llvm(\"@g2\")\nfn called(x: i32) -> i32  pure  cost 50\nruleset c {{\n  rule gone(x: i32): called(x) => x\n}}\n"
    );
    fs::write(dir.path().join("own.rw"), pack).unwrap();
    fs::write(dir.path().join("f.ll"), format!("{head}{called}{WITH_LINES}")).unwrap();
    let said = |rule: &str, function: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        command
            .current_dir(dir.path())
            .args(["why-not", rule, "f.ll", "--rules", "own.rw", "--fn", function])
            .args(more);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let text = said("add_zero", "g", &[]);
    assert_eq!(text, "own.r.add_zero (own.rw:5) in @g, <b>.c:9:3: took part and was chosen: it is behind 1 change\n");
    let text = said("twice", "g", &[]);
    assert!(text.contains("in @g, <b>.c:9:3: at iadd(v0, 0): "), "{text}");
    let text = said("c.gone", "h", &[]);
    assert!(text.contains("\n  <b>.c:10: a call of @g2 is there, and is not the declared one: "), "{text}");
    let json: serde_json::Value = serde_json::from_str(&said("add_zero", "g", &["--format", "json"])).unwrap();
    assert_eq!(json[0]["places"][0], serde_json::json!({ "file": "<b>.c", "line": 9, "column": 3 }));
}

#[test]
fn why_not_says_what_is_chosen() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), CLIF).unwrap();
    let said = |price: &str, rule: &str| {
        fs::write(dir.path().join("own.rw"), format!("{PACK}{price}")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        command.current_dir(dir.path()).args(["why-not", rule, "f.clif", "--rules", "own.rw", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        (report[0]["chosen"].as_bool().unwrap(), report[0]["nearest"].as_str().unwrap().to_string())
    };
    let (chosen, text) = said("override iadd cost 500\n", "own.r.twice");
    assert!(chosen && text == "took part and was chosen: it is behind 3 changes", "{text}");
    let (chosen, text) = said("", "own.r.add_zero");
    assert!(chosen && text == "took part and was chosen: it is behind 1 change", "{text}");
    let (chosen, text) = said("", "own.r.twice");
    assert!(!chosen && text.starts_with("took part, and what it makes is dearer by "), "{text}");
}

/// Calls that rules make and no call of the file tells how to write: the function goes without those, and it is said.
#[test]
fn what_cannot_be_written_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack own\nimport std.core\ntype V\n\
                @llvm(\"@make\")\nfn make(a: f64, b: f64) -> V  pure  cost 5\n\
                @llvm(\"@norm\")\nfn norm(v: V) -> f64  pure  cost 5\n\
                @llvm(\"@norm_of\")\nfn norm_of(a: f64, b: f64) -> f64  pure  cost 100\n\
                @llvm(\"@twice\")\nfn twice(a: f64) -> f64  pure  cost 50\n\
                @llvm(\"@four\")\nfn four(a: f64) -> f64  pure  cost 50\n\
                @llvm(\"@small\")\nfn small(a: f64) -> i8  pure  cost 5\n\
                @llvm(\"@of_small\")\nfn of_small(a: i8) -> f64  pure  cost 5\n\
                rule n(a: f64, b: f64): norm_of(a, b) => norm(make(a, b))\n\
                rule t(a: f64): twice(twice(a)) => four(a)\n\
                rule u(a: f64): four(a) => of_small(small(a))\n";
    let head = LLVM.split_once("define").unwrap().0;
    let text = "declare double @norm_of(double, double)\ndeclare double @twice(double)\n\
                define double @f(double %x, double %y) {\n  %n = call double @norm_of(double %x, double %y)\n  \
                %a = call double @twice(double %x)\n  %b = call double @twice(double %a)\n  \
                %r = fadd double %n, %b\n  ret double %r\n}\n";
    fs::write(dir.path().join("own.rw"), pack).unwrap();
    fs::write(dir.path().join("f.ll"), format!("{head}{text}")).unwrap();
    let said = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        let output = command.current_dir(dir.path()).args(args).args(["--rules", "own.rw"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [out, remarks] = said(&["opt", "f.ll", "--remarks"]);
    assert!(out.contains("call double @four(") && out.contains("call double @norm_of("), "{out}");
    assert!(remarks.contains("@f: optimised"), "{remarks}");
    assert!(remarks.contains("`make` cannot be used: @make takes or gives a structure"), "{remarks}");
    assert!(remarks.contains("`small` cannot be used: @small takes or gives integers below 32 bits"), "{remarks}");
    let [why, _] = said(&["why-not", "own.rules.n", "f.ll"]);
    assert!(why.contains("what it makes was chosen, and is left out: `make` cannot be used here"), "{why}");
}

/// Changes of branches, edges and memory before values are chosen are reported, and counted.
#[test]
fn what_is_restructured_is_said() {
    let text = "\
function %decided(i32) -> i32 {
block0(v0: i32):
    v1 = isub v0, v0
    brif v1, block1, block2
block1:
    v2 = imul v0, v0
    return v2
block2:
    return v0
}
function %threaded(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    v2 = iconst.i32 0
    brif v0, block1, block3(v2)
block1:
    v3 = imul v0, v1
    jump block3(v3)
block3(v4: i32):
    brif v4, block4, block5
block4:
    return v1
block5:
    return v0
}
function %promoted(i64, i32, i32) -> i32 {
block0(v0: i64, v1: i32, v2: i32):
    brif v1, block1, block2
block1:
    store notrap aligned v1, v0
    jump block3
block2:
    store notrap aligned v2, v0
    jump block3
block3:
    v3 = load.i32 notrap aligned v0
    return v3
}
function %stored(i64, i32) {
block0(v0: i64, v1: i32):
    v2 = iconst.i32 0
    v3 = iconst.i32 1
    store notrap aligned v2, v0
    jump block1(v2)
block1(v4: i32):
    v5 = load.i32 notrap aligned v0
    v6 = iadd v5, v4
    store notrap aligned v6, v0
    v7 = iadd v4, v3
    v8 = icmp ult v7, v1
    brif v8, block1(v7), block2
block2:
    return
}
function %overwritten(i64, i32, i32) {
block0(v0: i64, v1: i32, v2: i32):
    store notrap aligned v1, v0
    brif v2, block1, block2
block1:
    store notrap aligned v1, v0+8
    jump block2
block2:
    store notrap aligned v2, v0
    return
}
function %in_one_arm(i64, i32, i32) {
block0(v0: i64, v1: i32, v2: i32):
    store notrap aligned v1, v0
    brif v2, block1, block2
block1:
    store notrap aligned v2, v0
    return
block2:
    return
}
";
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), text).unwrap();
    let said = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        let output = command.current_dir(dir.path()).args(["opt", "f.clif", "--remarks"]).args(more).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        stderr
    };
    let json: serde_json::Value = serde_json::from_str(&said(&["--format", "json"])).unwrap();
    let counted = [
        "branches_decided",
        "edges_threaded",
        "loads_promoted",
        "stores_behind_loops",
        "stores_overwritten",
        "stores_delayed",
    ];
    let wanted = [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0],
        [0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 1],
    ];
    for (function, wanted) in json["functions"].as_array().unwrap().iter().zip(wanted) {
        let found = counted.map(|name| function["restructured"][name].as_u64().unwrap());
        assert_eq!(found, wanted, "{function:#}");
    }
    let text = said(&[]);
    for line in [
        "1 branch always goes one way",
        "1 edge goes past a block that it decides",
        "1 load becomes a parameter of a block",
        "1 store is executed once, behind its loop",
        "1 store is needed on no path",
        "1 store is executed only where it is needed",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}
