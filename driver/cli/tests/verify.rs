//! `rewright verify` on rules that are known to be wrong, and on packs of all verdicts. Needs z3, which
//! `scripts/setup.sh` installs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compiled;
mod libraries;
mod states;
mod trials;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Standard output, standard error and exit code.
fn rewright(args: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_rewright")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// The reports of one pack.
fn verify(path: &Path, more: &[&str]) -> (Vec<Value>, Option<i32>) {
    let mut args = vec!["verify", path.to_str().unwrap(), "--no-cache", "--threads", "2", "--format", "json"];
    args.extend(more);
    let (stdout, stderr, code) = rewright(&args);
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{}: {e}: {stderr}", path.display()));
    (document["rules"].as_array().unwrap().clone(), code)
}

fn wrong(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/verify/wrong").join(name)
}

/// `Set`, `Array`, `Seq` and `String` are sorts of the solver, too.
#[test]
fn types_have_whatever_names_their_authors_like() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("names.rw");
    for name in ["Set", "Array", "Seq", "String", "Thing"] {
        let pack = format!(
            "pack names\nimport std.core\ntype {name}\nfn single(x: i64) -> {name}  pure\n\
             fn count(a: {name}) -> i64  pure\n\
             rule one(x: i64): count(single(x)) => 1\n"
        );
        fs::write(&path, pack).unwrap();
        let (_, said, code) = rewright(&["verify", path.to_str().unwrap(), "--no-cache"]);
        assert_eq!(code, Some(0), "{name}: {said}");
        assert!(said.contains("`single` has neither model nor `spec`"), "{name}: {said}");
    }
}

const REFUTED: [&str; 10] = [
    "division.rw",
    "integers.rw",
    "floats.rw",
    "memory.rw",
    "facts.rw",
    "larger.rw",
    "loops.rw",
    "pointers.rw",
    "strings.rw",
    "trackers.rw",
];

#[test]
fn the_solver_is_there() {
    let version = Command::new("z3").arg("--version").output().expect("z3 is installed: run scripts/setup.sh");
    assert!(version.status.success());
}

#[test]
fn known_wrong_rules_have_counterexamples() {
    let mut count = 0;
    for name in REFUTED {
        let (rules, code) = verify(&wrong(name), &[]);
        assert_eq!(code, Some(1), "{name}");
        for rule in &rules {
            assert_eq!(rule["verdict"], "counterexample", "{}", rule["name"]);
            assert!(!rule["counterexample"]["values"].as_array().unwrap().is_empty(), "{}", rule["name"]);
        }
        count += rules.len();
    }
    assert!(count >= 95, "{count}");
}

/// The solver alone finds them, too: no value is tried first.
#[test]
fn the_solver_alone_refutes_wrong_rules() {
    for name in ["integers.rw", "memory.rw", "facts.rw", "larger.rw", "pointers.rw"] {
        let (rules, _) = verify(&wrong(name), &["--samples", "0"]);
        for rule in &rules {
            assert_eq!(rule["verdict"], "counterexample", "{}", rule["name"]);
        }
    }
}

#[test]
fn one_way_rules_say_which_side_is_defined() {
    let (rules, code) = verify(&wrong("one_way.rw"), &[]);
    assert_eq!(code, Some(1));
    let says = |name: &str, what: &str| {
        let rule = rules.iter().find(|r| r["name"].as_str().unwrap().ends_with(name)).unwrap();
        assert_eq!(rule["verdict"], "one_way");
        let reason = rule["instances"][0]["reason"].as_str().unwrap();
        assert!(reason.contains(what), "{reason}");
    };
    says("mul_one", "the right side is more defined");
    says("mul_minus_one", "the right side is more defined");
    says("bits_of_product", "the right side is more defined");
    says("adds_a_trap", "the left side is more defined");
}

/// A counterexample is an example: pasted into the pack it fails.
#[test]
fn counterexamples_can_be_pasted_and_fail() {
    let folder = tempfile::tempdir().unwrap();
    // No example concludes a fact, has a loop, or says what is in memory.
    for name in REFUTED.into_iter().filter(|name| !["facts.rw", "loops.rw", "strings.rw"].contains(name)) {
        let (rules, _) = verify(&wrong(name), &[]);
        let examples: Vec<&str> = rules.iter().filter_map(|r| r["counterexample"]["example"].as_str()).collect();
        let mut text = fs::read_to_string(wrong(name)).unwrap();
        for example in &examples {
            text += &format!("{example}\n");
        }
        let path = folder.path().join(name);
        fs::write(&path, &text).unwrap();
        let (stdout, stderr, code) = rewright(&["check", path.to_str().unwrap(), "--format", "json"]);
        assert_eq!(code, Some(1), "{name}: {stderr}");
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(report["examples"]["run"], examples.len(), "{name}: {stdout}");
        assert_eq!(report["examples"]["failed"], examples.len(), "{name}: {stdout}");
    }
}

/// The same, with nothing but the wrong rule in the pack.
#[test]
fn a_counterexample_fails_because_of_its_rule() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lone.rw");
    let pack =
        "pack lone\nimport std.core\n\nruleset r {\n  rule half{T <: Int}(x: T): sdiv(x, 2) => sshr{T, T}(x, 1)\n}\n";
    fs::write(&path, pack).unwrap();
    let (rules, _) = verify(&path, &[]);
    let example = rules[0]["counterexample"]["example"].as_str().unwrap();
    fs::write(&path, format!("{pack}{example}\n")).unwrap();
    let (stdout, _, code) = rewright(&["check", path.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{stdout}");
    // Without the rule it holds.
    let right = pack.replace("sshr{T, T}(x, 1)", "sdiv(x, 2)").replace("rule half", "rule whole");
    let right = right.replace("=> sdiv(x, 2)", "=> sdiv(iadd(x, 0), 2)");
    fs::write(&path, format!("{right}{example}\n")).unwrap();
    let (stdout, stderr, code) = rewright(&["check", path.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
}

#[test]
fn verdicts_are_kept_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.rw");
    let pack =
        "pack kept\nimport std.core\n\nruleset r {\n  rule twice{T <: Int}(x: T): iadd(x, x) => ishl{T, T}(x, 1)\n}\n";
    fs::write(&path, pack).unwrap();
    let cache = folder.path().join("cache");
    let run = || {
        let (stdout, stderr, code) =
            rewright(&["verify", path.to_str().unwrap(), "--cache", cache.to_str().unwrap(), "--threads", "1"]);
        assert_eq!(code, Some(0), "{stderr}");
        stdout
    };
    assert!(run().contains("1 equal"));
    assert!(run().contains("1 rule from the cache"));
    // A changed rule is asked about anew.
    fs::write(&path, pack.replace("(x, 1)", "(iadd(x, 0), 1)")).unwrap();
    assert!(run().contains("0 rules from the cache"));
}

#[test]
fn formats_for_programs() {
    let path = wrong("facts.rw");
    let run = |format: &str| {
        let args = ["verify", path.to_str().unwrap(), "--no-cache", "--threads", "1", "--format", format];
        let (stdout, stderr, code) = rewright(&args);
        assert_eq!(code, Some(1), "{stderr}");
        (stdout, stderr)
    };
    let sarif: Value = serde_json::from_str(&run("sarif").0).unwrap();
    let _: serde_sarif::sarif::Sarif = serde_json::from_value(sarif.clone()).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "RW0701");
    assert!(run("github").0.starts_with("::error file="));
    let junit = run("junit").0;
    let junit = quick_junit::Report::deserialize_from_str(&junit).unwrap();
    assert_eq!((junit.tests, junit.failures), (3, 3));
    let (summary, lines) = run("concise");
    assert!(summary.contains("3 counterexample"), "{summary}");
    assert_eq!(lines.lines().filter(|l| l.contains("error[RW0701]")).count(), 3, "{lines}");
}

#[test]
fn a_solver_that_never_answers_is_said() {
    let path = wrong("facts.rw");
    let args = ["verify", path.to_str().unwrap(), "--no-cache", "--timeout", "1", "--solver", "sleep 1000"];
    let (_, stderr, code) = rewright(&args);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("`sleep 1000` did not say its name within 2 s"), "{stderr}");
}

#[test]
fn a_missing_solver_is_said() {
    let path = wrong("facts.rw");
    let args = ["verify", path.to_str().unwrap(), "--no-cache", "--solver", "no-such-solver -in"];
    let (_, stderr, code) = rewright(&args);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("cannot run the solver `no-such-solver -in`"), "{stderr}");
    assert!(stderr.contains("install z3"), "{stderr}");
}

/// Memory, 128-bit integers and vectors are proved, not only tried.
#[test]
fn memory_and_larger_values_are_proved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proved.rw");
    let pack = "pack proved\nimport std.core\nimport std.wide_types\n\nruleset r {\n\
        rule absorbed{T <: Wide}(x: T, y: T): band(x, bor(x, y)) => x\n\
        rule high(low: i64, high: i64): ireduce{i64}(ushr{i128, i8}(iconcat128(low, high), 64)) => high\n\
        rule truth{T <: IntLanes}(x: T): icmp_eq(x, x) => -1\n\
        rule twice(p: i64, q: i64, v: i32, s: State):\n\
        store(p, v, 0) after store(q, v, 0) after s => store(q, v, 0) after store(p, v, 0) after s\n}\n";
    fs::write(&path, pack).unwrap();
    let (rules, code) = verify(&path, &["--strict"]);
    let verdicts: Vec<(&str, &str)> =
        rules.iter().map(|r| (r["name"].as_str().unwrap(), r["verdict"].as_str().unwrap())).collect();
    let expected = ["absorbed", "high", "truth"].map(|name| (format!("proved.r.{name}"), "equal"));
    for (name, verdict) in expected {
        assert!(verdicts.contains(&(name.as_str(), verdict)), "{verdicts:?}");
    }
    // Equal values, but where the ranges overlap by a part the order shows.
    assert!(verdicts.contains(&("proved.r.twice", "counterexample")), "{verdicts:?}");
    assert_eq!(code, Some(1));
    let absorbed = rules.iter().find(|r| r["name"] == "proved.r.absorbed").unwrap();
    assert_eq!(absorbed["instances"].as_array().unwrap().len(), 8);
    assert!(absorbed["instances"].as_array().unwrap().iter().all(|i| i["method"] == "solver"));
}

/// A rule over several expressions, a domain's function with a `spec`, and a fact without a definition.
#[test]
fn domains_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("domain.rw");
    let pack = "pack domain\nimport std.core\n\ntype M\nfact symmetric(a: M)\n\
        fn eig(a: M) -> M  pure  cost 900\nfn syev(a: M) -> M  pure  cost 300  spec eig(a)\n\
        fn other(a: M) -> M  pure  cost 1\n\nruleset r {\n\
        rule by_spec(a: M): eig(a) => syev(a)\n\
        rule no_spec(a: M): eig(a) => other(a) when symmetric(a)\n\
        rule both(x: i32, y: i32) {\n    match p = iadd(x, y)\n    match q = isub(x, y)\n    rewrite p => isub(x, ineg(y))\n\
        rewrite q => iadd(x, ineg(y))\n  }\n}\n";
    fs::write(&path, pack).unwrap();
    let (rules, _) = verify(&path, &[]);
    let verdict = |name: &str| {
        let rule = rules.iter().find(|r| r["name"].as_str().unwrap().ends_with(name));
        rule.unwrap_or_else(|| panic!("{name}"))["verdict"].as_str().unwrap().to_string()
    };
    assert_eq!(verdict("by_spec"), "equal");
    assert_eq!(verdict("no_spec"), "unknown");
    assert_eq!((verdict("both"), verdict("both.2")), ("equal".into(), "equal".into()));
}

/// A directory says what it expects; another result is a finding, and `--update` writes what was found.
#[test]
fn expectations_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let pack = |right: &str| {
        let text =
            format!("pack kept\nimport std.core\n\nruleset r {{\n  rule twice(x: i32): iadd(x, x) => {right}\n}}\n");
        fs::write(folder.path().join("kept.rw"), text).unwrap();
    };
    pack("ishl{i32, i32}(x, 1)");
    let run = |more: &[&str]| rewright(&[&["verify", path, "--no-cache", "--threads", "1"], more].concat());
    assert_eq!(run(&["-U"]).2, Some(0));
    let written = fs::read_to_string(folder.path().join("verify.expected")).unwrap();
    assert!(written.ends_with("\nkept.r.twice: 1 equal\n"), "{written}");
    assert_eq!(run(&[]).2, Some(0));
    fs::write(folder.path().join("verify.expected"), "kept.r.twice: 2 equal\nkept.r.gone: 1 equal\n").unwrap();
    let (_, stderr, code) = run(&[]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("kept.r.twice: expected 2 equal; found 1 equal"), "{stderr}");
    assert!(stderr.contains("kept.r.gone: expected 1 equal; there is no such rule"), "{stderr}");
    // A part of the rules says nothing about the others.
    let (_, stderr, _) = run(&["--filter", "twice"]);
    assert!(!stderr.contains("gone"), "{stderr}");
    let (_, stderr, code) = rewright(&["verify", &format!("{path}/kept.rw"), "--no-cache", "-U"]);
    assert_eq!((code, stderr.contains("name one directory")), (Some(2), true), "{stderr}");
}

/// The standard packs, made wrong: the part that every run of the tests looks at.
#[test]
fn mutants_are_refuted() {
    let packs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stdlib_rules");
    let packs = packs.to_str().unwrap();
    let run = |slice: &str, jobs: &str| {
        let args =
            ["verify", packs, "--mutate", "--shard", slice, "--mutants", "5", "--threads", jobs, "--format", "json"];
        let (stdout, stderr, code) = rewright(&args);
        assert_eq!(code, Some(0), "{stderr}");
        stdout
    };
    assert_eq!(run("2/700", "1"), run("2/700", "2"), "the same seed, the same mutants and fates");
    let text = run("7/200", "2");
    let document: Value = serde_json::from_str(&text).unwrap();
    let mutants = document["mutants"].as_array().unwrap();
    let count = |fate: &str| mutants.iter().filter(|m| m["fate"] == fate).count();
    assert_eq!(count("escaped"), 0);
    assert!(count("refuted") >= 15, "{}", count("refuted"));
    let (_, stderr, code) = rewright(&["verify", packs, "--mutate", "--shard", "5/4"]);
    assert_eq!((code, stderr.contains("is not K/N")), (Some(2), true), "{stderr}");
}

/// A solver that calls everything proved does not get away with it.
#[cfg(unix)]
#[test]
fn a_wrong_solver_is_found() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let solver = folder.path().join("liar");
    let script = "#!/bin/sh\nwhile read -r line; do\n  case \"$line\" in\n    *check-sat*) echo unsat ;;\n\
        *'(echo '*) echo 'end of answer' ;;\n    *get-info*) echo '(:name \"liar\")' ;;\n  esac\ndone\n";
    fs::write(&solver, script).unwrap();
    fs::set_permissions(&solver, fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("right.rw");
    let pack = "pack right\nimport std.core\n\nruleset r {\n  rule sum{T <: Int}(x: T, y: T): isub(x, ineg(y)) => iadd(x, y)\n}\n";
    fs::write(&path, pack).unwrap();
    let args = ["verify", path.to_str().unwrap(), "--mutate", "--mutants", "3", "--solver", solver.to_str().unwrap()];
    let (stdout, stderr, code) = rewright(&args);
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stderr.contains("escaped: right.r.sum"), "{stderr}");
}

/// A pack with these rules in a folder of its own.
fn pack(name: &str, rules: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{name}.rw"));
    let text = format!("pack {name}\nimport std.core\nimport std.wide_types\n\nruleset r {{\n{rules}}}\n");
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// A question that is too hard as a whole is asked once for each exponent, or for each amount. (Two rotations of 64
/// bits by unknown amounts take a minute: `verify stdlib_rules` has them.)
#[test]
fn hard_questions_are_divided() {
    let rules = "  rule exact(x: f32): fcvt_to_sint_sat{f64, i64}(fpromote{f32, f64}(x)) => \
        fcvt_to_sint_sat{f32, i64}(x)\n\
                 \x20 rule wrong(x: i64, y: i8, z: i8): rotl(rotl(x, y), z) => rotl(x, bor(y, z))\n";
    let (_folder, path) = pack("divided", rules);
    let (rules, _) = verify(&path, &["--samples", "40"]);
    let verdicts: Vec<&str> = rules.iter().map(|rule| rule["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["equal", "counterexample"]);
}

/// A rule that says that it gives something up is close, or wrong nevertheless. A library's results are tested.
#[test]
fn rules_that_are_no_equalities_are_tested() {
    let rules = "  @approximate(\"rounding\")\n  rule close(x: f64, y: f64, z: f64): fadd(fadd(x, y), z) => fadd(x, \
        fadd(y, z))\n\
                 \x20 @approximate(\"much\")\n  rule far(x: f64, y: f64): fmul(x, y) => fadd(x, y)\n\
                 \x20 rule odd(x: f64): sine(fneg(x)) => fneg(sine(x))\n\
                 \x20 rule even(x: f64): sine(fneg(x)) => sine(x)\n\
                 }\n@link(\"libm.so.6\", \"sin\")\nfn sine(x: f64) -> f64  pure  cost 100\nruleset none {\n";
    let (_folder, path) = pack("tested", rules);
    let (rules, code) = verify(&path, &["--allow-link", "libm.so.6"]);
    let found: Vec<(&str, &str)> =
        rules.iter().map(|rule| (rule["name"].as_str().unwrap(), rule["verdict"].as_str().unwrap())).collect();
    let expected = [
        ("tested.r.close", "tested"),
        ("tested.r.far", "counterexample"),
        ("tested.r.odd", "tested"),
        ("tested.r.even", "counterexample"),
    ];
    assert_eq!((found.as_slice(), code), (expected.as_slice(), Some(1)));
    assert_eq!(rules[0]["instances"][0]["reason"], "gives up rounding");
}

/// Which mutants survive is written down and compared, as verdicts are.
#[test]
fn survivors_are_compared() {
    let (folder, _path) = pack("kept", "  rule zero{T <: Int}(x: T): bxor(x, 0) => x\n");
    let run = |more: &[&str]| {
        let args = ["verify", folder.path().to_str().unwrap(), "--mutate", "--no-cache", "--threads", "1"];
        rewright(&[&args, more].concat())
    };
    assert_eq!(run(&["-U"]).2, Some(0));
    let file = folder.path().join("mutants.expected");
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.contains("kept.r.zero: proved equal: on the left, bxor became umax\n"), "{written}");
    assert_eq!(run(&[]).2, Some(0));
    fs::write(&file, written.replace("bxor became umax\n", "bxor became band\n")).unwrap();
    let (_, stderr, code) = run(&[]);
    assert_eq!((code, stderr.contains("unexpected: kept.r.zero: expected")), (Some(1), true), "{stderr}");
    // The file does not apply to other mutants.
    assert_eq!(run(&["--mutants", "2"]).2, Some(0));
}

/// Every undecided mutant of the standard packs has its reason in `mutants.reasons`, no other one has, and none has
/// escaped.
#[test]
fn mutants_that_nobody_decides_are_explained() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stdlib_rules").join(name);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let expected = read("mutants.expected");
    let undecided: Vec<(&str, &str)> = expected.lines().filter_map(|line| line.split_once(": undecided: ")).collect();
    let reasons = read("mutants.reasons");
    let explained: Vec<(&str, &str)> = reasons
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| match line.split(" | ").collect::<Vec<_>>()[..] {
            [rule, change, reason] if !reason.is_empty() => (rule, change),
            _ => panic!("no `rule | change | reason`: {line}"),
        })
        .collect();
    assert_eq!(undecided, explained);
    assert!(!expected.contains(": escaped: "));
    let refuted = expected.lines().filter_map(|line| line.rsplit_once(": ")?.1.strip_suffix(" refuted"));
    let refuted: usize = refuted.map(|count| count.parse::<usize>().unwrap()).sum();
    assert!(refuted > 10_000, "{refuted}");
}
