//! C++ and Objective-C through `rewright cc` and `rewright wrap`: rules apply, and programs do what they did.

use super::{PACK, cc, files, rewright, run, sources};
use std::fs;
use std::process::Command;

/// Exceptions through a function that rules change, templates, virtual calls, and constructors before `main`.
const PROGRAM: &str = "#include <cstdio>\n#include <memory>\n#include <stdexcept>\n#include <string>\n#include <vector>\n\
    static std::vector<int> table{3, 1, 4, 1, 5};\n\
    struct Shape { virtual ~Shape() = default; virtual int area(int x) const = 0; };\n\
    template <int N> struct Box : Shape { \
    int area(int x) const override { return x * N + (int)table.size(); } };\n\
    int sum(int x, int y) { return (x ^ y) + ((x & y) << 1); }\n\
    int checked(int x, int y) { if (x > 40) throw std::out_of_range(\"too large\"); \
    return sum(x, y); }\n\
    int main() {\n  std::unique_ptr<Shape> shape = std::make_unique<Box<7>>();\n  std::string said;\n\
      for (int x : {1, 20, 60}) {\n    try { said += std::to_string(checked(x, shape->area(x))) + \" \"; }\n\
        catch (const std::out_of_range &e) { said += e.what(); }\n  }\n\
      std::puts(said.c_str());\n  return 0;\n}\n";

#[test]
fn a_program_of_cpp_does_what_it_did() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("program.cc"), PROGRAM).unwrap();
    assert!(PACK.contains("rule carries"));
    let build = "$CXX -O2 -MMD -c program.cc && $CXX -O2 program.o plus.cc -o program && ./program";
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--stats", "--format", "json", "--", "sh", "-c", build]);
    let ran = run(command, dir.path(), &[], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "13 165 too large\n"), "{ran:?}");
    let facts: serde_json::Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(facts["files"], 2, "{facts}");
    assert!(facts["optimised"].as_u64() >= Some(1) && facts["fell_back"] == 0 && facts["failed"] == 0, "{facts}");
    assert!(fs::read_to_string(dir.path().join("program.d")).unwrap().starts_with("program.o: program.cc"));
}

/// Without rules that match, objects are those that clang makes.
#[test]
fn objects_that_no_rule_changes_are_the_compilers_own() {
    for (name, text) in [
        ("p.cpp", PROGRAM),
        ("q.mm", "#include <string>\nstd::string f(int x) { return std::to_string(x); }\n"),
        (
            "o.m",
            "@interface Root { int count; } - (int)twice; @end\n@implementation Root - (int)twice { return count * 2; } @end\n",
        ),
    ] {
        let (plain, ours, own) = (sources(), sources(), tempfile::tempdir().unwrap());
        for dir in [&plain, &ours] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let args = ["-O2", "-w", "-Wno-objc-root-class", "-c", name];
        let expected = run(Command::new("clang-19"), plain.path(), &args, "");
        let mut command = rewright(&own);
        command.args(["cc", "--strict", "--rules", "none.rw"]);
        let got = run(command, ours.path(), &args, "");
        assert_eq!((got.code, &got.stderr), (Some(0), &expected.stderr), "{name}: {got:?}");
        assert_eq!(files(ours.path()), files(plain.path()), "{name}");
    }
}

#[test]
fn a_mistake_in_cpp_is_the_compilers_to_tell() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("wrong.cc"), "int f() { return nothing; }\n").unwrap();
    let args = ["-O2", "-c", "wrong.cc"];
    let (expected, got) = (run(Command::new("clang-19"), dir.path(), &args, ""), run(cc(&own), dir.path(), &args, ""));
    assert_eq!((got.code, got.stderr), (expected.code, expected.stderr));
}
