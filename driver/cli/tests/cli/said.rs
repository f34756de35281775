//! What commands must say, or must not take for a mistake.

use super::rewright;
use std::fs;

const LAYOUT: &str = "target datalayout = \"e-m:e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n";

const TWO: &str =
    "define i32 @f(i32 %x) {\n  %y = mul i32 %x, 1\n  ret i32 %y\n}\n\ndefine i32 @g(i32 %x) {\n  ret i32 %x\n}\n";

#[test]
fn costs_that_say_nothing_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let node = |cost: &str| format!(r#"{{ "op": "f", "cost": {cost}, "eclass": "a", "children": [] }}"#);
    let graph = |nodes: &str| format!(r#"{{ "nodes": {{ {nodes} }}, "root_eclasses": ["a"] }}"#);
    let small = node("1");
    for (text, says) in [
        (graph(&format!(r#""a": {}, "b": {}"#, node("1e308"), node("1e308"))), "too large for a number of 64 bits"),
        (graph(&format!(r#""a": {small}, "a": {}"#, node("7"))), "`a` is there twice"),
        (graph(&format!(r#""a": {}"#, node(r#"1, "cost": 2"#))), "duplicate field `cost`"),
        (graph(&format!(r#""a": {}"#, node("1e999"))), "number out of range"),
        (graph(&format!(r#""a": {}"#, node("-1"))), "must be finite and not negative"),
        (graph(&format!(r#""a": {}"#, node("NaN"))), "not an e-graph"),
        (graph(&format!(r#""a": {}"#, node("Infinity"))), "not an e-graph"),
        (
            format!(
                r#"{{ "nodes": {{ "a": {} }}, "root_eclasses": ["a"], "block_tree": {{ "blocks": [{{ "id": "b", "frequency": 1e10 }}] }} }}"#,
                node("1e300")
            ),
            "too large for a number of 64 bits",
        ),
        (
            format!(
                r#"{{ "nodes": {{ "a": {small} }}, "root_eclasses": ["a"], "block_tree": {{ "blocks": [{{ "id": "b" }}], "pinned": {{ "a": "b", "a": "b" }} }} }}"#
            ),
            "`a` is there twice",
        ),
    ] {
        fs::write(dir.path().join("g.json"), &text).unwrap();
        for method in ["tree", "greedy", "ilp", "auto"] {
            let ran = rewright(dir.path(), &format!("extract g.json --extract {method}"));
            assert!(ran.code == Some(1) && ran.stderr.contains(says), "{text}: {ran:?}");
            assert_eq!(ran.stdout, "", "{text}");
        }
    }
}

#[test]
fn functions_are_printed_where_there_are_no_rules() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("none.rw"), "pack none\nimport std.core\n").unwrap();
    fs::write(dir.path().join("f.ll"), format!("{LAYOUT}{TWO}")).unwrap();
    let ran = rewright(dir.path(), "-q opt f.ll --rules none.rw --emit ir");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("func \"@f\"") && ran.stdout.contains("func \"@g\""), "{}", ran.stdout);
    let text = rewright(dir.path(), "opt f.ll --rules none.rw").stdout;
    assert_eq!(text, format!("{LAYOUT}{TWO}"));
}

#[test]
fn a_file_without_a_layout_is_said_to_have_none() {
    let dir = tempfile::tempdir().unwrap();
    for (head, said) in [
        ("", true),
        ("target datalayout = \"e-m:e-i64:64\"\n", true),
        ("target datalayout = \"E-m:e-i64:64\"\ntarget triple = \"powerpc64-unknown-linux\"\n", true),
        (LAYOUT, false),
    ] {
        fs::write(dir.path().join("f.ll"), format!("{head}{TWO}")).unwrap();
        let ran = rewright(dir.path(), "opt f.ll");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(
            ran.stderr.contains("f.ll: no function is optimised: the target's layout is not known"),
            said,
            "{ran:?}"
        );
    }
    // Where there is no function, nothing is lost.
    fs::write(dir.path().join("f.ll"), "@x = global i32 0\n").unwrap();
    assert_eq!(rewright(dir.path(), "opt f.ll").stderr, "");
}

#[test]
fn comments_of_files_that_run_nothing_are_comments() {
    let dir = tempfile::tempdir().unwrap();
    let function = "function %f(i32) -> i32 {\nblock0(v0: i32):\n    return v0\n}\n";
    for (head, comment, code) in [
        ("test compile\n", "; run: nothing of this is a call\n", 0),
        ("test compile\n", "; run: %f(1) == 2\n", 0),
        ("test optimize precise-output\n", "; print: (\n", 0),
        ("test run\n", "; run: nothing of this is a call\n", 1),
        ("test compile\ntest run\n", "; run: nothing of this is a call\n", 1),
        ("", "; run: nothing of this is a call\n", 1),
    ] {
        fs::write(dir.path().join("f.clif"), format!("{head}{function}{comment}")).unwrap();
        let ran = rewright(dir.path(), "difftest f.clif");
        assert_eq!(ran.code, Some(code), "{head}{comment}: {ran:?}");
    }
}

/// The page that leads to all others has the name that a pack may have, too.
#[test]
fn a_pack_of_the_index_s_name_has_a_page() {
    let dir = tempfile::tempdir().unwrap();
    for pack in ["README", "Readme", "other"] {
        let text = format!("//! About {pack}.\npack {pack}\nimport std.core\nrule zero(x: i32): iadd(x, 0) => x\n");
        fs::write(dir.path().join(format!("{pack}.rw")), text).unwrap();
    }
    let ran = rewright(dir.path(), "doc README.rw Readme.rw other.rw -o pages");
    assert!(ran.code == Some(0) && ran.stdout.contains("3 pages"), "{ran:?}");
    let page = |name: &str| fs::read_to_string(dir.path().join("pages").join(name)).unwrap();
    let index = page("README.md");
    for (pack, file) in [("README", "README-pack.md"), ("Readme", "Readme-pack.md"), ("other", "other.md")] {
        assert!(page(file).contains(&format!("About {pack}.")), "{pack}");
        assert!(index.contains(&format!("[{pack}]({file})")), "{index}");
    }
}

/// Of what is not verified, how much and why is said.
#[test]
fn types_at_which_a_rule_has_no_instance_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack some\nimport std.core\nruleset r {\n  rule large{T <: Int}(x: T): band(x, 1000) => band(1000, x)\n  \
                rule wide{T <: Int}(x: T): iadd(x, 0) => x when bits{T}(0) == 64\n}\n";
    fs::write(dir.path().join("some.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "verify some.rw --no-cache --threads 1 --samples 20");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let says = "4 more combinations of types left out: 1 at which a literal does not fit, 3 at which a condition does \
        not hold";
    assert!(ran.stdout.contains(&format!("4 type instances, {says};")), "{ran:?}");
    let ran = rewright(dir.path(), "verify some.rw --no-cache --threads 1 --samples 20 --format json");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["rules"][0]["left_out"]["at which a literal does not fit"], 1, "{report}");
}

#[test]
fn a_rule_is_explained_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack mine\nimport std.core\n\nruleset r {\n  /// Twice the same.\n  rule same(x: i32): band(x, x) => x\n}\n\n\
                example \"one\" (x: i32) fires r.same: band(x, x) becomes x\n";
    fs::write(dir.path().join("mine.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "explain r.same --rules mine.rw --format json");
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let expected = serde_json::json!({
        "name": "mine.r.same", "file": "mine.rw", "line": 6, "doc": ["Twice the same."],
        "rule": "rule same(x: i32): band(x, x) => x", "law": false, "rules": ["mine.r.same"], "gives_up": null,
        "because": null,
        "examples": [{
            "file": "mine.rw", "line": 9, "text": "example \"one\" (x: i32) fires r.same: band(x, x) becomes x",
        }],
    });
    assert_eq!(said, expected);
}

#[test]
fn functions_and_types_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack mine\nimport std.core\n\n/// A list of C.\ntype List <: ptr\n\n/// How many.\n@llvm(\"@size\")\n\
                fn size(l: List) -> i64  effects reads(memory)  cost 9\n\nrule size(l: List): size(l) * 0 => 0\n";
    fs::write(dir.path().join("mine.rw"), pack).unwrap();
    let said = |what: &str| rewright(dir.path(), &format!("explain {what} --rules mine.rw"));
    assert!(said("List").stdout.starts_with("List (type, mine.rw:5)\n\n    /// A list of C.\n    type List <: ptr\n"));
    let of_function =
        "size (function, mine.rw:9)\n\n    /// How many.\n    @llvm(\"@size\")\n    fn size(l: List) -> i64  effects";
    for name in ["size", "mine.size"] {
        assert!(said(name).stdout.starts_with(of_function), "{}", said(name).stdout);
    }
    // The rule of that name as well.
    assert!(said("size").stdout.contains("\nmine.rules.size (mine.rw:11)\n"), "{}", said("size").stdout);
    let said = |what: &str| rewright(dir.path(), &format!("explain {what} --rules mine.rw --format json")).stdout;
    let json: serde_json::Value = serde_json::from_str(&said("size")).unwrap();
    assert_eq!((&json["declarations"][0]["line"], &json["line"]), (&9.into(), &11.into()));
    let json: serde_json::Value = serde_json::from_str(&said("iadd")).unwrap();
    assert_eq!((&json["declarations"][0]["name"], &json["name"]), (&"iadd".into(), &serde_json::Value::Null));
    assert!(rewright(dir.path(), "explain Lst --rules mine.rw").stderr.contains("did you mean List?"));
}

#[test]
fn a_trap_is_a_document_too() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "function %f(i32) -> i32 {\nblock0(v0: i32):\n    v1 = iconst.i32 7\n    v2 = udiv v1, v0\n    return v2\n}\n";
    fs::write(dir.path().join("f.clif"), text).unwrap();
    let ran = rewright(dir.path(), "run f.clif --fn f --format json 0");
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &said["function"]), (Some(1), &serde_json::json!("%f")), "{ran:?}");
    assert!(ran.stderr.contains(said["trapped"].as_str().unwrap()), "{ran:?}");
}

/// A function costs what its declarations say.
#[test]
fn costs_are_in_the_unit_of_declarations() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack mine\nimport std.core\nfn slow(x: i64) -> i64  pure  cost 40\nfn fast(x: i64) -> i64  pure  cost 7\n\
                rule better(x: i64): slow(x) => fast(x)\nexample \"no\" (x: i64): slow(x) becomes x\n";
    fs::write(dir.path().join("mine.rw"), pack).unwrap();
    fs::write(dir.path().join("f.ir"), "func %f(%x: i64) -> i64 {\n  %y: i64 = slow %x\n  return %y\n}\n").unwrap();
    let ran = rewright(dir.path(), "opt f.ir --rules mine.rw --remarks");
    assert!(ran.stderr.contains("cost 40 -> 7 (optimal)"), "{ran:?}");
    let ran = rewright(dir.path(), "opt f.ir --rules mine.rw --stats --format json");
    let said = ran.stderr.contains("\"cost_before\":40.0") && ran.stderr.contains("\"cost_after\":7.0");
    assert!(said, "{ran:?}");
    let ran = rewright(dir.path(), "check mine.rw");
    assert!(ran.stderr.contains("at cost 7; what is expected costs 0"), "{ran:?}");
}
