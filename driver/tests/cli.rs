//! The command line on good and bad input: exit codes, messages, and never a panic.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ran;

use ran::rewright;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

fn inputs() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut ten = String::from("pack ten\nimport std.core\n\nruleset r {\n");
    for i in 0..10 {
        ten.push_str(&format!("  rule r{i}(x: i32): nothing{i}(x, 0) => x\n"));
    }
    ten.push_str("}\n");
    let deep = "(".repeat(5_000_000);
    let head = "function %f(i32) -> i32 {\nblock0(v0: i32):\n";
    let good = format!("{head}    v1 = iconst.i32 0\n    v2 = iadd v0, v1\n    return v2\n}}\n");
    let unknown = format!("{head}    v1 = frobnicate v0\n    return v1\n}}\n");
    let truncated = format!("{head}    v1 = iadd v0,");
    let cycle = r#"{"nodes": {"a": {"op": "f", "eclass": "a", "children": ["a"]}}, "root_eclasses": ["a"]}"#;
    let deep_json = "[".repeat(100_000);
    let files: [(&str, &[u8]); 17] = [
        ("cycle.json", cycle.as_bytes()),
        ("deep.json", deep_json.as_bytes()),
        ("good.clif", good.as_bytes()),
        ("unknown.clif", unknown.as_bytes()),
        ("truncated.clif", truncated.as_bytes()),
        ("deep.clif", deep.as_bytes()),
        ("deep.rw", deep.as_bytes()),
        ("bytes.clif", b"\xff\xfe\0"),
        ("bytes.rw", b"\xff\xfe\0"),
        ("ten.rw", ten.as_bytes()),
        ("missing.rw", b"pack m\nimport no.such\n"),
        ("good.ir", b"func %f(%x: i32) -> i32 {\n  %z: i32 = const 0\n  %y = iadd %x, %z\n  return %y\n}\n"),
        ("bad.ir", b"func %f(%x: i32) -> i32 {\n  %y = frob %x\n  return %y\n}\n"),
        ("cut.ll", b"define i32 @f(i32 %x) {\n  %y = add i32 %x,"),
        ("old.ll", b"define i32* @f(i32* %p) {\n  ret i32* %p\n}\n"),
        ("code.bc", b"BC\xc0\xde\x35\x14"),
        ("mixed.ir", b"func %f(%x: i32, %y: i64) -> i32 {\n  %z = iadd %x, %y\n  return %z\n}\n"),
    ];
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// Command line, exit code, and what stderr must say.
const COMPLAINTS: [(&str, i32, &str); 49] = [
    ("nosuch", 2, "unrecognized subcommand"),
    ("opt", 2, "required arguments"),
    ("opt none.clif", 2, "cannot read none.clif"),
    ("opt good.clif --fn nope", 2, "has no function nope; it has %f"),
    ("opt good.clif --rules nope", 2, "cannot read nope"),
    ("opt good.clif --rules std.arit", 2, "packs that ship: std, std.arith,"),
    ("opt good.clif -o nowhere/x", 2, "cannot write nowhere/x"),
    ("opt good.clif --profile fast", 2, "no profile `fast` ships; those that do: latency, llvm, size"),
    ("opt good.clif --config none.json", 2, "cannot read none.json"),
    ("opt good.clif --config cycle.json", 2, "cycle.json is no configuration: unknown field `nodes`"),
    ("opt truncated.clif", 1, "truncated.clif: 3:"),
    ("opt unknown.clif", 1, "Unknown opcode: 'frobnicate'"),
    ("opt unknown.clif", 1, "note: this reads CLIF as Cranelift "),
    ("opt deep.clif", 1, "deep.clif: 1:1"),
    ("opt bytes.clif", 1, "not UTF-8"),
    ("opt good.clif --rules deep.rw", 1, "RW0104"),
    ("run good.clif --fn nope 1", 2, "has no function nope"),
    ("bench --stories .", 2, "holds no story: a folder with pack.rw and input.ir or input.clif"),
    ("run good.clif --fn f", 2, "%f takes 1 arguments (i32), 0 given"),
    ("run good.clif --fn f x", 2, "expected an i32"),
    ("run good.ir --fn f 1 --compare", 2, "2 given; options such as --compare stand before the arguments"),
    ("run deep.clif --fn f", 1, "deep.clif: 1:1"),
    ("check none.rw", 2, "cannot read none.rw"),
    ("check deep.rw", 1, "RW0104"),
    ("check bytes.rw", 2, "not UTF-8"),
    ("check missing.rw", 1, "RW0207"),
    ("fmt deep.rw", 1, "RW0104"),
    ("fmt bytes.rw", 2, "not UTF-8"),
    ("explain RW9999", 2, "no diagnostic RW9999"),
    ("difftest none", 2, "no such file"),
    ("harness truncated.clif", 1, "truncated.clif: 3:"),
    ("extract none.json", 2, "cannot read none.json"),
    ("extract good.clif", 1, "good.clif: not an e-graph"),
    ("extract bytes.clif", 2, "not UTF-8"),
    ("extract deep.json", 1, "deep.json: not an e-graph"),
    ("extract cycle.json", 1, "a root cannot be made"),
    ("extract cycle.json --roots b", 1, "neither a class nor a node"),
    ("extract cycle.json --time-limit 0", 2, "more than no seconds"),
    ("opt truncated.clif --emit egglog", 1, "truncated.clif: 3:"),
    ("opt good.clif --rules missing.rw", 1, "RW0207"),
    ("opt good.clif --rules ten.rw", 1, "unknown function `nothing9`"),
    ("fuzz --count 1 --rules deep.rw", 1, "RW0104"),
    ("opt bad.ir", 1, "bad.ir:2:8: no operation is called `frob`"),
    ("opt cut.ll", 1, "cut.ll: 1:1: the body of @f has no closing brace: the file is cut off"),
    ("opt old.ll", 1, "typed pointers, of LLVM 14 and older"),
    ("opt code.bc", 1, "this is LLVM bitcode: print it as text first"),
    ("opt mixed.ir", 1, "mixed.ir:2:3: no `iadd` takes (i32, i64); there is iadd{T <: Int}(T, T)"),
    ("opt good.ir --fn nope", 2, "has no function nope; it has %f"),
    ("run none.ir --fn f", 2, "cannot read none.ir"),
];

#[test]
fn bad_input_is_named() {
    let dir = inputs();
    for (args, code, says) in COMPLAINTS {
        let ran = rewright(dir.path(), args);
        assert_eq!(ran.code, Some(code), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args}: {}", ran.stderr);
    }
}

#[test]
fn every_mistake_is_reported() {
    let dir = inputs();
    let ran = rewright(dir.path(), "check ten.rw");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for i in 0..10 {
        assert!(ran.stderr.contains(&format!("unknown function `nothing{i}`")), "{}", ran.stderr);
    }
    assert!(ran.stdout.contains("10 errors"), "{}", ran.stdout);
}

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
    assert!(text.starts_with("1 functions from seed 7"), "{text}");
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
        let ran = rewright(dir.path(), &format!("extract one.json --method {method} --time-limit 5 --format json"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let row: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&row["cost"], &row["bound"], &row["status"]), (&6.0.into(), &6.0.into(), &"optimal".into()));
        assert_eq!(row["presolve"], serde_json::json!({ "nodes_before": 4, "nodes_after": 0 }));
        assert!(row["seconds"].as_f64().unwrap() < 5.0);
    }
    let greedy = rewright(dir.path(), "extract one.json --method greedy --format json").stdout;
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

#[test]
fn a_name_that_clif_does_not_know_is_a_warning() {
    let dir = inputs();
    let pack = "pack names\nimport std.core\n\n@clif(\"iaddd\")\nfn iaddd(x: i32, y: i32) -> i32\n  pure  cost 1  spec iadd(x, y)\n";
    fs::write(dir.path().join("names.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "check names.rw");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("no CLIF instruction is spelled \"iaddd\""), "{}", ran.stderr);
    assert!(ran.stdout.contains("1 warnings"), "{}", ran.stdout);
    assert_eq!(rewright(dir.path(), "check --strict names.rw").code, Some(1));
    let ran = rewright(dir.path(), "check --format json names.rw");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["unknown_clif_names"].as_object().unwrap().len(), 1);
}

fn own_clif(name: &str) -> String {
    format!("{}/../tests/clif/{name}.clif", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn output_depends_on_the_input_only() {
    let dir = inputs();
    for name in ["control", "memory", "irreducible", "exceptions"] {
        let file = own_clif(name);
        for emit in ["clif", "ir", "egglog", "dot"] {
            let first = rewright(dir.path(), &format!("opt {file} --emit {emit} --remarks --threads 1"));
            assert!(first.code == Some(0) && !first.stdout.is_empty(), "{name} {emit}: {}", first.stderr);
            let again = rewright(dir.path(), &format!("opt {file} --emit {emit} --remarks --threads 2"));
            assert!(first.stdout == again.stdout && first.stderr == again.stderr, "{name} {emit}");
        }
    }
    let json = "opt good.clif --emit json";
    let first = rewright(dir.path(), json).stdout;
    assert!(first.starts_with('{') && rewright(dir.path(), &format!("{json} --threads 2")).stdout == first);
}

/// The subtraction chain that has more forms than any memory holds. The limit is one of address space, which is more
/// than the memory that is used.
#[test]
#[cfg(target_os = "linux")]
fn a_gibibyte_is_enough() {
    for (command, says) in [("difftest", "0 failed"), ("bench --repeat 1", "peak memory of this process")] {
        let limited = format!("ulimit -v 1048576 && exec \"$0\" {command} \"$1\"");
        let chain = own_clif("subtraction_chain");
        let output =
            Command::new("sh").args(["-c", &limited, env!("CARGO_BIN_EXE_rewright"), &chain]).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && stdout.contains(says), "{command}: {stdout}");
    }
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

#[test]
fn rules_are_explained_and_so_is_why_they_do_not_match() {
    let dir = tempfile::tempdir().unwrap();
    let clif = "function %f(i32, i32) -> i32 {\nblock0(v0: i32, v1: i32):\n    v2 = iconst.i32 5\n    v3 = iadd v0, v2\n    \
                v4 = isub v3, v1\n    v5 = iconst.i32 0\n    v6 = bor v4, v5\n    return v6\n}\n";
    fs::write(dir.path().join("f.clif"), clif).unwrap();
    let why = |rule: &str| {
        let ran = rewright(dir.path(), &format!("why-not {rule} f.clif --fn f"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    assert!(why("arith.identities.add_zero").contains("operand 2 of `iadd` is not the literal 0, it is 5"));
    let neg = why("identities.sub_neg");
    assert!(neg.contains("operand 2 of `isub` is no `ineg`, it is v1"), "{neg}");
    assert!(why("identities.abs_abs").contains("no operation like the root"));
    assert!(why("bits.identities.or_zero").contains("took part"));
    assert_eq!(rewright(dir.path(), "why-not nothing f.clif").code, Some(2));
    let explained = rewright(dir.path(), "explain identities.add_zero").stdout;
    assert!(explained.contains("(x: T): iadd(x, 0) => x") && explained.contains("example"));
    assert!(rewright(dir.path(), "explain RW0301").stdout.len() > 20);
    assert_eq!(rewright(dir.path(), "explain RW9999").code, Some(2));
}

#[test]
fn good_input_is_clean() {
    let dir = inputs();
    assert!(rewright(dir.path(), "--help").stdout.contains("Usage:"));
    assert_eq!(rewright(dir.path(), "run good.clif --fn f 7").stdout, "7\n");
    assert_eq!(rewright(dir.path(), "run good.ir --fn f 7").stdout, "7\n");
    for file in ["good.clif", "good.ir"] {
        let compared = rewright(dir.path(), &format!("run {file} --compare=3 --fn f 7"));
        let lines: Vec<&str> = compared.stdout.lines().collect();
        assert_eq!((compared.code, lines.len()), (Some(0), 3), "{}{}", compared.stdout, compared.stderr);
        assert!(lines[0].starts_with("before") && lines[0].ends_with("ms  7"), "{}", lines[0]);
        assert!(lines[1].starts_with("after") && lines[1].ends_with("ms  7"), "{}", lines[1]);
        assert!(lines[2].starts_with("ratio") && lines[2].ends_with("3 pairs)"), "{}", lines[2]);
    }
    let own = rewright(dir.path(), "opt good.ir");
    assert_eq!(own.code, Some(0), "{}", own.stderr);
    assert!(own.stdout.contains("func %f") && !own.stdout.contains("iadd"), "{}", own.stdout);
    assert!(rewright(dir.path(), "opt good.ir --emit clif").stdout.contains("function %f(i32) -> i32"));
    let first = rewright(dir.path(), "opt good.clif");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(!first.stdout.contains("iadd"), "{}", first.stdout);
    for args in ["opt good.clif", "opt good.clif --threads 2"] {
        assert_eq!(rewright(dir.path(), args).stdout, first.stdout, "{args}");
    }
}

#[test]
fn the_nearest_configuration_counts() {
    let dir = tempfile::tempdir().unwrap();
    let below = dir.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let text =
        "function %f(i64) -> i64 {\nblock0(v0: i64):\n    v1 = iconst.i64 7\n    v2 = udiv v0, v1\n    return v2\n}\n";
    fs::write(below.join("f.clif"), text).unwrap();
    let divides = |args: &str| {
        let ran = rewright(&below, args);
        assert_eq!(ran.code, Some(0), "{args}: {}", ran.stderr);
        ran.stdout.contains("udiv")
    };
    assert!(!divides("opt f.clif") && divides("opt f.clif --profile size"));
    fs::write(dir.path().join("rewright.json"), r#"{ "costs": { "profile": "size" } }"#).unwrap();
    assert!(divides("opt f.clif") && !divides("opt f.clif --profile latency"));
    fs::write(below.join("mine.json"), r#"{ "costs": { "operations": { "udiv{i64}": 1 } } }"#).unwrap();
    assert!(divides("opt f.clif --config mine.json"));
    fs::write(below.join("rewright.json"), r#"{ "costs": { "operations": { "udivv": 1 } } }"#).unwrap();
    let ran = rewright(&below, "opt f.clif");
    assert!(ran.code == Some(2) && ran.stderr.contains("did you mean `udiv`?"), "{}", ran.stderr);
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

/// A pack with two slips of the hand.
const SLIPS: &str = "pack slips\nimport std.core\n\nruleset r {\n  rule plus{T <: Int}(x: T): iad(x, 0) => x\n  \
                     rule flip{T <: Int}(x: T): bxro(x, 0) => x\n}\nexample \"plus\" (x: i32) fires r.plus: iadd(x, 0) \
                     becomes x\nexample \"flip\" (x: i32) fires r.flip: bxor(x, 0) becomes x\n";

#[test]
fn misspelt_names_are_fixed_where_only_one_is_near() {
    let dir = inputs();
    let path = dir.path().join("slips.rw");
    fs::write(&path, SLIPS).unwrap();
    let told = rewright(dir.path(), "check slips.rw --format json");
    let report: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    let fixes: Vec<_> = report["diagnostics"].as_array().unwrap().iter().map(|d| d["fix"].clone()).collect();
    assert_eq!(fixes.len(), 2, "{fixes:?}");
    assert!(fixes.iter().all(|fix| fix["applicability"] == "safe"), "{fixes:?}");
    let told = rewright(dir.path(), "check slips.rw --format sarif");
    let report: serde_sarif::sarif::Sarif = serde_json::from_str(&told.stdout).unwrap();
    let results = report.runs[0].results.as_ref().unwrap();
    assert!(
        results.len() == 2 && results.iter().all(|r| r.fixes.as_ref().is_some_and(|f| f.len() == 1)),
        "{results:?}"
    );
    let told = rewright(dir.path(), "check slips.rw --format github");
    assert!(told.stdout.starts_with("::error file=slips.rw,line=5,col="), "{}", told.stdout);
    assert_eq!(fs::read_to_string(&path).unwrap(), SLIPS, "nobody asked for a change");
    let fixed = rewright(dir.path(), "check slips.rw --fix");
    assert_eq!(fixed.code, Some(0), "{}", fixed.stderr);
    assert!(fixed.stderr.contains("slips.rw: 2 fixed"), "{}", fixed.stderr);
    let right = SLIPS.replace("iad(", "iadd(").replace("bxro(", "bxor(");
    assert_eq!(fs::read_to_string(&path).unwrap(), right);
}

#[test]
fn examples_are_filtered_and_tell_how_near_a_rule_came() {
    let dir = inputs();
    let pack = "pack near\nimport std.core\n\nruleset r {\n  rule twice{T <: Int}(x: T): iadd(x, x) => imul(x, 2)\n}\n\
                example \"other\" (x: i32, y: i32) fires r.twice: iadd(x, y) becomes imul(x, 2)\n\
                example \"holds\" (x: i32): bnot(x) stays\n";
    fs::write(dir.path().join("near.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "check near.rw");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("2 examples: 1 passed, 1 failed"), "{}", ran.stdout);
    assert!(ran.stderr.contains("near.r.twice: at iadd("), "{}", ran.stderr);
    assert!(ran.stderr.contains("would have to be `x` again"), "{}", ran.stderr);
    let ran = rewright(dir.path(), "check near.rw --filter holds");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("1 examples: 1 passed, 0 failed"), "{}", ran.stdout);
}

#[test]
fn a_watched_pack_is_checked_again() {
    use std::io::{BufRead, BufReader};
    let dir = inputs();
    let path = dir.path().join("slips.rw");
    fs::write(&path, SLIPS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let command = command.current_dir(dir.path()).args(["check", "slips.rw", "--watch"]);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("2 errors"), "{first}");
    fs::write(&path, SLIPS.replace("iad(", "iadd(").replace("bxro(", "bxor(")).unwrap();
    let second = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(second.contains("2 passed, 0 failed; 0 errors"), "{second}");
}

#[test]
fn a_page_says_what_a_rule_means_where_and_on_what_evidence() {
    let dir = inputs();
    let folder = dir.path().join("packs");
    fs::create_dir(&folder).unwrap();
    let pack = "//! Doubling.\npack pages\nimport std.core\n\nruleset r {\n  /// Twice is a sum.\n  \
                rule twice{T <: Int}(x: T): imul(x, 2) => iadd(x, x)\n  \
                example \"twice\" (x: i32) fires r.twice: imul(x, 2) becomes iadd(x, x)\n}\n";
    fs::write(folder.join("pages.rw"), pack).unwrap();
    fs::write(folder.join("verify.expected"), "# made\npages.r.twice: 4 equal\n").unwrap();
    let ran = rewright(dir.path(), "doc packs -o out");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "1 pages in out\n"), "{}", ran.stderr);
    let page = fs::read_to_string(dir.path().join("out/pages.md")).unwrap();
    let parts = [
        "# pages",
        "Doubling.",
        "## r",
        "### twice",
        "Twice is a sum.",
        "rule twice{T <: Int}(x: T): imul(x, 2) => iadd(x, x)",
        "Types: `T` = i8, i16, i32, i64.",
        "Evidence, in type instances: 4 equal.",
        "example \"twice\" (x: i32) fires r.twice: imul(x, 2) becomes iadd(x, x)",
    ];
    let mut rest = page.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing or too early in\n{page}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn counts_of_blocks_decide_where_something_is_computed() {
    let dir = tempfile::tempdir().unwrap();
    let clif = "function %f(i64, i64, i64) -> i64 {\nblock0(v0: i64, v1: i64, v2: i64):\n    v3 = imul v0, v0\n    \
                brif v1, block1, block2\n\nblock1:\n    return v3\n\nblock2:\n    brif v2, block3, block4\n\n\
                block3:\n    return v3\n\nblock4:\n    return v0\n}\n";
    let own = "func f -> (i64) {\nb0(v0: i64, v1: i64, v2: i64):\n    v3: i64 = imul{i64} v0, v0\n    \
               br v1, b1, b2\nb1:\n    return v3\nb2:\n    br v2, b3, b4\nb3:\n    return v3\nb4:\n    return v0\n}\n";
    fs::write(dir.path().join("f.clif"), clif).unwrap();
    fs::write(dir.path().join("f.ir"), own).unwrap();
    fs::write(dir.path().join("f.ll"), "define i32 @f() {\n  ret i32 0\n}\n").unwrap();
    let opt = |file: &str, counts: &str| {
        fs::write(dir.path().join("counts.json"), counts).unwrap();
        rewright(dir.path(), &format!("opt {file} --block-counts counts.json"))
    };
    for (file, b) in [("f.clif", "block"), ("f.ir", "b")] {
        let products = |first: u32, second: u32| {
            let ran = opt(file, &format!(r#"{{ "f": {{ "{b}0": 1000, "{b}1": {first}, "{b}3": {second} }} }}"#));
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.stdout.matches("imul").count()
        };
        assert_eq!([products(100, 100), products(800, 100), products(900, 300)], [2, 2, 1], "{file}");
        for (counts, said) in [
            (r#"{ "g": { "BLOCK0": 1 } }"#, "counts in `g`, which the input does not have; it has"),
            (
                r#"{ "f": { "BLOCK0": 1, "BLOCK9": 1 } }"#,
                "BLOCK9` of `f`, which has no such block; it has BLOCK0, BLOCK1",
            ),
            (r#"{ "f": { "BLOCK1": 1 } }"#, "does not count `BLOCK0`, the entry of `f`"),
            (r#"{ "f": 3 }"#, "counts.json is no profile"),
        ] {
            let ran = opt(file, &counts.replace("BLOCK", b));
            let said = said.replace("BLOCK", b);
            assert!(ran.code == Some(2) && ran.stderr.contains(&said), "{file}: {said}: {}", ran.stderr);
        }
    }
    let ran = opt("f.ll", "{}");
    assert!(ran.code == Some(2) && ran.stderr.contains("f.ll is LLVM IR"), "{}", ran.stderr);
}
