//! Functions of libraries that do what they should not while they are called: print, flood, forge, fork, exit, close.
//! The values that rules compute with them are right, or there is no match; they are never those of another call.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// C functions of one `int`: a name, and what they do before they give `x` and a number of their own.
const FUNCTIONS: [(&str, &str); 12] = [
    ("quiet", ""),
    ("prints", r#"printf("it prints %d\n", x); fflush(stdout);"#),
    ("keeps", r#"printf("it keeps %d\n", x);"#),
    ("complains", r#"fprintf(stderr, "it complains\n");"#),
    ("binary", r#"write(1, "\xff\xfe\n", 3); write(2, "\xc3(", 2);"#),
    (
        "forges",
        r#"const char *s = "{\"job\":1,\"step\":{\"Called\":[0,{\"Returned\":{\"values\":\"{}\"}}]}}\n"; write(1, s, strlen(s));"#,
    ),
    ("floods", r"for (int i = 0; i < 12000; i++) { write(1, line, 64); write(2, line, 64); }"),
    ("everywhere", r"for (int fd = 0; fd < 1024; fd++) { write(fd, line, 8); write(fd, line, 8); }"),
    ("forks", r"if (fork() == 0) for (;;) { write(1, line, 8); usleep(1000); }"),
    ("exits", "exit(0);"),
    ("leaves", "_exit(0);"),
    ("closes", "for (int fd = 0; fd < 1024; fd++) close(fd);"),
];

/// How many of them, from the first, must give their value: the others may end their process.
const SURE: usize = 7;

/// A program that prints.
const LOUD: &str = "func %loud(%x: i32) -> i32 {\n  %y = keeps %x\n  return %y\n}\n";

/// What the function of an index adds to its argument.
fn own_number(index: usize) -> usize {
    1000 * (index + 1)
}

/// The functions as a library, a pack that computes each while matching, and a module that calls each with 1 and with
/// 2.
fn folder() -> tempfile::TempDir {
    let mut library = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
        static const char line[64] = \"flooded\\n\";\n\
        __attribute__((constructor)) static void loaded(void) { printf(\"it is loaded\\n\"); fflush(stdout); }\n"
        .to_string();
    let mut pack = "pack odd\nimport std.core\n".to_string();
    let mut rules = "ruleset computed {\n".to_string();
    let mut calls = String::new();
    for (n, (name, body)) in FUNCTIONS.iter().enumerate() {
        writeln!(library, "int {name}(int x) {{ {body} return x + {}; }}", own_number(n)).unwrap();
        write!(pack, "@link(\"./odd.so\", \"{name}\")\nfn {name}(x: i32) -> i32  pure  cost 200\n").unwrap();
        writeln!(rules, "  dynamic rule of_{name}(const x: i32): {name}(x) => eval({name}(x))").unwrap();
        writeln!(calls, "  %{name}1 = {name} %one\n  %{name}2 = {name} %two").unwrap();
    }
    let each = |text: &dyn Fn(&str) -> String| -> String {
        FUNCTIONS.iter().map(|(name, _)| text(name)).collect::<Vec<_>>().join(", ")
    };
    let module = format!(
        "func %main -> ({}) {{\nentry:\n  %one: i32 = const 1\n  %two: i32 = const 2\n{calls}  return {}\n}}\n",
        each(&|_| "i32, i32".to_string()),
        each(&|name| format!("%{name}1, %{name}2")),
    );
    let dir = tempfile::tempdir().unwrap();
    let pack = format!("{pack}{rules}}}\nschedule default {{ saturate computed }}\n");
    for (name, text) in [("odd.c", library), ("odd.rw", pack), ("calls.ir", module), ("loud.ir", LOUD.into())] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let mut cc = Command::new("cc");
    cc.current_dir(dir.path()).args(["-shared", "-fPIC", "-w", "-o", "odd.so", "odd.c"]);
    assert!(cc.status().unwrap().success());
    dir
}

/// Output need not be UTF-8 here.
fn rewright(dir: &Path, args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command.current_dir(dir).args(args.split_whitespace()).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{args}: {output:?}");
    output
}

#[test]
fn every_value_is_of_its_own_call() {
    let dir = folder();
    let begun = Instant::now();
    let output = rewright(dir.path(), "opt calls.ir --rules odd.rw --allow-link ./odd.so");
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    // As many as there are calls at most take a second each, and all flooding is read.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let constants: Vec<usize> = text.lines().filter_map(|line| line.split_once("= const ")?.1.parse().ok()).collect();
    let right: Vec<usize> = (0..FUNCTIONS.len()).flat_map(|n| [own_number(n) + 1, own_number(n) + 2]).collect();
    for constant in constants.iter().filter(|n| **n > 2) {
        assert!(right.contains(constant), "{constant} is of no call: {text}");
    }
    for (n, (name, _)) in FUNCTIONS.iter().enumerate() {
        let remain = text.matches(&format!(" = {name} ")).count();
        let values = [1, 2].map(|x| constants.contains(&(own_number(n) + x)));
        assert_eq!(remain, values.iter().filter(|known| !**known).count(), "{name}: {text}");
        assert!(n >= SURE || remain == 0, "{name} has values: {text}");
    }
    for ends in ["exits", "leaves", "closes"] {
        assert_eq!(text.matches(&format!(" = {ends} ")).count(), 2, "{ends} has no value: {text}");
    }
}

#[test]
fn what_is_printed_is_shown_up_to_a_limit() {
    let dir = folder();
    let said = rewright(dir.path(), "opt calls.ir --rules odd.rw --allow-link ./odd.so --fn main").stderr;
    let has = |wanted: &[u8]| said.windows(wanted.len()).any(|window| window == wanted);
    for wanted in
        [&b"it is loaded\n"[..], b"it prints 2\n", b"it keeps 1\n", b"it complains\n", b"\xff\xfe\n", b"flooded\n"]
    {
        assert!(has(wanted), "{wanted:?}");
    }
    assert!(has(b"what else they print is not shown"));
    assert!(said.len() < 2 << 20, "{} bytes", said.len());
}

/// The program that `run` runs prints where a program prints, before its result is shown.
#[test]
fn a_function_that_prints_runs() {
    let dir = folder();
    let output = rewright(dir.path(), "run loud.ir --rules odd.rw --allow-link ./odd.so --fn loud 5");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text, "it is loaded\nit keeps 5\n3005\n");
}

/// Rules and examples whose functions print, flood or end the process are checked and verified, in bounded time.
#[test]
fn check_and_verify_end() {
    let dir = folder();
    let mut pack = fs::read_to_string(dir.path().join("odd.rw")).unwrap();
    pack.push_str("ruleset stated {\n");
    for (n, (name, _)) in FUNCTIONS.iter().enumerate() {
        writeln!(pack, "  rule is_{name}(x: i32): {name}(x) => x + {}", own_number(n)).unwrap();
    }
    pack.push_str("}\n");
    for name in ["prints", "binary", "floods"] {
        let n = FUNCTIONS.iter().position(|(known, _)| *known == name).unwrap();
        writeln!(pack, "example \"{name}\" (): {name}(5) becomes {}", own_number(n) + 5).unwrap();
    }
    fs::write(dir.path().join("odd.rw"), pack).unwrap();
    let output = rewright(dir.path(), "test odd.rw --allow-link ./odd.so");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("3 examples: 3 passed"), "{text}");
    let begun = Instant::now();
    let output = rewright(
        dir.path(),
        "verify odd.rw --allow-link ./odd.so --no-cache --samples 6 --filter stated --format json",
    );
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (n, (name, _)) in FUNCTIONS.iter().enumerate().take(SURE) {
        let rules = report["rules"].as_array().unwrap();
        let rule = rules.iter().find(|rule| rule["name"] == format!("odd.stated.is_{name}")).unwrap();
        assert_eq!(rule["verdict"], "tested", "{n}: {rule}");
    }
}
