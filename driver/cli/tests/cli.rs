//! The command line on good and bad input: exit codes, messages, and never a panic.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod budgets;
mod conventions;
mod evidence;
mod flags;
mod lists;
mod mlir;
mod mlir_arrays;
mod packs;
mod said;
mod shards;
mod specialised;
mod validate;
mod values_of_writes;

use crate::ran::rewright;
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
    let files: [(&str, &[u8]); 19] = [
        ("empty.clif", b""),
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
        ("one.rw", b"pack one\nimport std.core\nrule same(x: i32): x + 0 => x\n"),
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
const COMPLAINTS: [(&str, i32, &str); 56] = [
    ("nosuch", 2, "unrecognized subcommand"),
    ("opt", 2, "required arguments"),
    ("opt none.clif", 2, "cannot read none.clif"),
    ("opt good.clif --fn nope", 2, "has no function nope; it has %f"),
    ("opt good.clif --rules nope", 2, "cannot read nope"),
    ("opt good.clif --rules std.arit", 2, "packs that ship: std, std.arith,"),
    ("opt good.clif --rules misssing.rw", 2, "did you mean `missing.rw`?"),
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
    ("run good.clif --fn f", 2, "%f takes 1 argument (i32), 0 given"),
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
    ("run empty.clif --fn f", 2, "has no function f; it has none"),
    ("opt ten.rw", 2, "ten.rw is a pack: name it with `--rules`"),
    ("bench truncated.clif --repeat 1", 1, "truncated.clif: 3:"),
    ("explain identities.add_zer", 2, "or rule is called `identities.add_zer`; did you mean identities.add_zero?"),
    ("verify one.rw --filter other", 2, "no rule of these packs has `other` in its name"),
    ("why-not nothing good.clif", 2, "`rewright doc` lists their rules"),
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

fn own_clif(name: &str) -> String {
    format!("{}/../../tests/clif/{name}.clif", env!("CARGO_MANIFEST_DIR"))
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
fn counts_of_blocks_alone_change_no_function() {
    let dir = tempfile::tempdir().unwrap();
    let text = "func %h(%a: i64, %c: i8) -> i64 {\n  br %c, t, e\nt:\n  %x = imul %a, %a\n  jump o(%x)\ne:\n  jump o(%a)\n\
                o(%z: i64):\n  return %z\n}\n";
    fs::write(dir.path().join("h.ir"), text).unwrap();
    fs::write(dir.path().join("counts.json"), r#"{ "h": { "b0": 1000, "b1": 1, "b2": 999, "b3": 1000 } }"#).unwrap();
    let ran = rewright(dir.path(), "opt h.ir --stats --block-counts counts.json");
    assert!(ran.code == Some(0) && ran.stderr.contains("%h: unchanged, cost 1 -> 1"), "{}", ran.stderr);
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

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let dir = inputs();
    let ran = |args: &[&str]| {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        command.current_dir(dir.path()).args(args).stdout(full).output().unwrap()
    };
    for args in [&["opt", "good.clif", "--rules", "std.arith"][..], &["explain", "RW0301"]] {
        let ran = ran(args);
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(said.contains("cannot write to standard output: No space left"), "{args:?}: {said}");
    }
}
