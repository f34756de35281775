//! Commands that look for wrong rules, compare with Cranelift's, or measure extraction.

use super::inputs;
use crate::ran::rewright;
use std::collections::BTreeMap;
use std::fs;

/// A wrong rule.
const WRONG: &str =
    "pack wrong\nimport std.core\n\nruleset wrong {\n  rule forgets{T <: Int}(x: T): popcnt(x) => x\n}\n";

#[test]
fn random_functions_find_a_wrong_rule_at_once() {
    let dir = inputs();
    fs::write(dir.path().join("wrong.rw"), WRONG).unwrap();
    let ran = rewright(dir.path(), "fuzz --rules wrong.rw --count 20 --size 6 --seed 20 --format json");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    // Each of them was told on the way, before the report.
    assert_eq!(ran.stderr.lines().filter(|l| l.starts_with("seed ")).count(), findings.len());
    for finding in findings {
        assert!((20..40).contains(&finding["seed"].as_u64().unwrap()), "{finding}");
        assert!(finding["rules"].to_string().contains("forgets"), "{finding}");
    }
}

#[test]
fn random_functions_are_reported() {
    let dir = inputs();
    let ran = rewright(dir.path(), "fuzz --count 40 --size 12 --seed 7 --format json");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let number = |key: &str| report[key].as_u64().unwrap();
    assert_eq!((number("seed"), number("functions"), number("interpreted")), (7, 40, 160));
    assert!(number("compiled") > 80 && number("trapped") > 0, "{report}");
    assert_eq!(report["findings"].as_array().unwrap().len(), 0);
    assert!(report["nan_dependent"].is_u64() && report["not_compiled"].is_object());
    let text = rewright(dir.path(), "fuzz --count 1 --size 12 --seed 7 --interpret").stdout;
    assert!(text.starts_with("1 function from seed 7"), "{text}");
}

#[test]
fn halving_the_matches_finds_the_wrong_rule() {
    let dir = inputs();
    let pack = "pack bisect\nimport std.core\n\nruleset r {\n  rule plus{T <: Int}(x: T): iadd(x, 0) => x\n  \
                rule wrong{T <: Int}(x: T): ineg(x) => x\n  rule flip{T <: Int}(x: T): bxor(x, 0) => x\n}\n";
    fs::write(dir.path().join("bisect.rw"), pack).unwrap();
    let clif = "function %f(i32) -> i32 {\nblock0(v0: i32):\n    v1 = iconst.i32 0\n    v2 = iadd v0, v1\n    \
                v3 = ineg v2\n    v4 = bxor v3, v1\n    v5 = iadd v4, v1\n    return v5\n}\n";
    fs::write(dir.path().join("bisect.clif"), clif).unwrap();
    let limited =
        |n: u64| rewright(dir.path(), &format!("opt bisect.clif --rules bisect.rw --fn f --bisect-limit {n}"));
    let (mut right, mut wrong) = (0, 100);
    assert!(limited(right).stdout.contains("ineg") && !limited(wrong).stdout.contains("ineg"));
    while right + 1 < wrong {
        let middle = right.midpoint(wrong);
        *(if limited(middle).stdout.contains("ineg") { &mut right } else { &mut wrong }) = middle;
    }
    let ran = limited(wrong);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("match {wrong} is of bisect.r.wrong (bisect.rw:6)")), "{}", ran.stderr);
    let ran = limited(100);
    assert!(ran.stderr.contains("there is no match 100"), "{}", ran.stderr);
    assert!(rewright(dir.path(), "opt bisect.clif --bisect-limit 1").stderr.contains("--fn"));
}

/// A class with two nodes, of which the dearer tree is the cheaper program: `s` is needed twice and paid once.
const EGRAPH: &str = r#"{ "nodes": {
    "a": { "op": "f", "eclass": "a", "cost": 1, "children": ["s", "t"] },
    "t": { "op": "g", "eclass": "t", "cost": 1, "children": ["s"] },
    "u": { "op": "h", "eclass": "t", "cost": 3 },
    "s": { "op": "s", "eclass": "s", "cost": 4 } }, "root_eclasses": ["a"] }"#;

#[test]
fn e_graphs_are_extracted_one_by_one_or_by_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("more/deep")).unwrap();
    for name in ["one.json", "more/two.json", "more/deep/three.json"] {
        fs::write(dir.path().join(name), EGRAPH).unwrap();
    }
    for method in ["ilp", "auto"] {
        let ran = rewright(dir.path(), &format!("extract one.json --extract {method} --time-limit 5 --format json"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let row: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&row["cost"], &row["bound"], &row["status"]), (&6.0.into(), &6.0.into(), &"optimal".into()));
        assert_eq!(row["presolve"], serde_json::json!({ "nodes_before": 4, "nodes_after": 0 }));
        assert!(row["seconds"].as_f64().unwrap() < 5.0);
    }
    let greedy = rewright(dir.path(), "extract one.json --extract greedy --format json").stdout;
    let row: serde_json::Value = serde_json::from_str(&greedy).unwrap();
    assert_eq!((&row["status"], &row["bound"]), (&"greedy".into(), &serde_json::Value::Null));
    let ran = rewright(dir.path(), "extract one.json --roots t,s --choices");
    assert!(ran.stdout.contains("cost 5, optimal") && ran.stdout.contains("  t = t\n"), "{}", ran.stdout);

    let ran = rewright(dir.path(), "extract more --format json");
    let rows: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let files: Vec<_> = rows.as_array().unwrap().iter().map(|row| row["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["more/deep/three.json", "more/two.json"]);
    // A bad file is a row of its own, and the others are extracted.
    fs::write(dir.path().join("more/bad.json"), "{}").unwrap();
    let ran = rewright(dir.path(), "extract more --format json");
    assert_eq!(ran.code, Some(1));
    let rows: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(rows.as_array().unwrap().iter().filter(|row| row["cost"] == 6.0).count(), 2);
    assert!(rows[0]["error"].as_str().unwrap().contains("missing field `nodes`"), "{rows}");
    assert!(rewright(dir.path(), "extract more").stdout.ends_with("3 files, 2 proved optimal\n"));
}

/// Two rules that Cranelift has, one of its helpers, and one that gains nothing.
#[test]
fn rules_of_cranelift_are_instantiated_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let rules = "(rule (simplify (iadd ty x (iconst_u ty 0))) (subsume x))
        (rule (simplify_skeleton (udiv x (iconst_u ty 1))) x)
        (rule (truthy (bmask _ x)) x)
        (rule (simplify (bxor (fits_in_64 ty) x y)) (bxor ty y x))";
    fs::write(dir.path().join("own.isle"), rules).unwrap();
    fs::write(dir.path().join("broken.isle"), "(rule (simplify x)").unwrap();
    let ran = rewright(dir.path(), "coverage own.isle --samples 100 --format json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let verdicts: Vec<&str> = ran.stdout.lines().filter(|l| l.contains("verdict")).map(str::trim).collect();
    let [covered, helper, none] = ["covered", "helper", "no gain"].map(|v| format!("\"verdict\": \"{v}\""));
    assert_eq!(verdicts, [&covered, &covered, &helper, &none]);
    let broken = rewright(dir.path(), "coverage broken.isle");
    assert_eq!(broken.code, Some(2));
    assert!(broken.stderr.contains("line 1: this parenthesis has no partner"), "{}", broken.stderr);
}

/// Graphviz draws none from a cluster to itself as one that ends at the cluster, and says so at each.
#[test]
fn arrows_of_a_picture_end_at_other_clusters() {
    let dir = inputs();
    let ran = rewright(dir.path(), "opt good.clif --rules std.arith --emit dot");
    let (mut cluster, mut homes) = ("", BTreeMap::new());
    let (mut within, mut between) = (0, 0);
    for line in ran.stdout.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("subgraph ") {
            cluster = rest.split(' ').next().unwrap();
        } else if let Some((from, to)) = line.split_once(" -> ") {
            match to.split_once("lhead = ").map(|(_, head)| head.split(',').next().unwrap()) {
                Some(head) => {
                    assert_ne!(homes.get(from), Some(&head), "{line}");
                    between += 1;
                }
                None => within += 1,
            }
        } else if let Some((node, _)) = line.split_once(" [") {
            homes.insert(node, cluster);
        }
    }
    // `x + 0` is in the class of its operand.
    assert_eq!((within, between > 1), (1, true), "{}", ran.stdout);
}
