//! Libraries are called only where the user allows it: in every command, with and without.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::ran::{Ran, rewright};
use rewright_embed::Embedding;
use rewright_pipeline::optimiser::Options;
use rewright_typeprop::{Constant, Scalar};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Its initialiser leaves a trace where one may be left: beside the library.
const LIBRARY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void) { fprintf(stderr, "LOADED\n"); }
int more(int x) { fprintf(stderr, "CALLED\n"); return x + 100; }
"#;

const PACK: &str = r#"
pack asks
import std.core
@link("./lib.so", "more")
fn more(x: i32) -> i32  pure  cost 500
ruleset computed {
  dynamic rule sum(const x: i32): more(x) => eval(more(x))
}
ruleset stated {
  rule adds(x: i32): more(x) => x + 100
}
ruleset free {
  rule zero{T <: Int}(x: T): x + 0 => x
}
schedule default {
  saturate computed
  saturate free
}
example "computed" () fires computed.sum: more(1) becomes 101
example "it takes no part" (x: i32) fires free.zero: x + 0 becomes x
"#;

const MODULE: &str =
    "func %main(%x: i32) -> i32 {\n  %one: i32 = const 1\n  %y = more %one\n  %z = iadd %x, %y\n  return %z\n}\n";

/// The library, the pack and the module, in a folder with a folder of its own for the user's configuration.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("lib.c", LIBRARY), ("asks.rw", PACK), ("main.ir", MODULE)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let mut cc = Command::new("cc");
    cc.current_dir(dir.path()).args(["-shared", "-fPIC", "-o", "lib.so", "lib.c"]);
    assert!(cc.status().unwrap().success());
    dir
}

/// The same with a user's configuration in `config`.
fn as_user(dir: &Path, args: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    command.current_dir(dir).args(args.split_whitespace()).env("XDG_CONFIG_HOME", dir.join("config"));
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The commands, with the exit code of each where the library may not be called, and where it may.
const COMMANDS: [(&str, i32, i32); 6] = [
    ("check asks.rw", 1, 0),
    ("test asks.rw", 1, 0),
    ("verify asks.rw --no-cache --samples 10 --filter stated", 1, 0),
    ("opt main.ir --rules asks.rw", 0, 0),
    ("run main.ir --rules asks.rw --fn main 5", 2, 0),
    ("bench --sharing main.ir --rules asks.rw --iterations 1 --repeat 1", 2, 0),
];

#[test]
fn without_permission_a_library_is_not_even_opened() {
    let dir = folder();
    for (command, code, _) in COMMANDS {
        let ran = as_user(dir.path(), command);
        assert_eq!(ran.code, Some(code), "{command}: {ran:?}");
        assert!(ran.stderr.contains("not run: needs --allow-link ./lib.so"), "{command}: {ran:?}");
        assert!(!ran.stderr.contains("LOADED") && !ran.stderr.contains("CALLED"), "{command}: {ran:?}");
    }
    let tested = as_user(dir.path(), "test asks.rw");
    assert!(tested.stdout.starts_with("2 examples: 1 passed, 0 failed, 1 not run"), "{tested:?}");
    let checked = as_user(dir.path(), "check asks.rw");
    assert!(checked.stdout.contains("2 examples: 1 passed, 0 failed, 1 not run"), "{checked:?}");
    let verified = as_user(dir.path(), "verify asks.rw --no-cache --samples 10");
    assert!(verified.stdout.contains("1 not run"), "{verified:?}");
    let optimised = as_user(dir.path(), "opt main.ir --rules asks.rw");
    assert!(optimised.stdout.contains(" = more "), "{optimised:?}");
    assert_eq!(optimised.stderr.matches("not run").count(), 1, "{optimised:?}");
    // An example that was not run is not updated.
    let before = fs::read_to_string(dir.path().join("asks.rw")).unwrap();
    as_user(dir.path(), "test asks.rw --update");
    assert_eq!(fs::read_to_string(dir.path().join("asks.rw")).unwrap(), before);
}

#[test]
fn with_permission_it_is_called() {
    let dir = folder();
    for (command, _, code) in COMMANDS {
        let ran = as_user(
            dir.path(),
            &format!("{command} --allow-link ./lib.so").replace(" 5 --allow-link ./lib.so", " --allow-link ./lib.so 5"),
        );
        assert_eq!(ran.code, Some(code), "{command}: {ran:?}");
        assert!(ran.stderr.contains("CALLED") && !ran.stderr.contains("not run"), "{command}: {ran:?}");
    }
}

/// Builds call no library at all, and say so where rules would have.
#[test]
fn builds_call_nothing() {
    let dir = folder();
    fs::write(dir.path().join("main.c"), "int more(int);\nint f(void) { return more(1); }\n").unwrap();
    let compile = "--rules asks.rw --no-cache";
    let wrap = format!("wrap {compile} -- sh build.sh");
    fs::write(dir.path().join("build.sh"), "$CC -O2 -c main.c -o a.o && $CC -O2 -c main.c -o b.o\n").unwrap();
    for command in [format!("cc {compile} -O2 -c main.c -o main.o"), wrap] {
        let ran = as_user(dir.path(), &command);
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
        assert_eq!(ran.stderr.matches("lib.so do not match").count(), 1, "{command}: {ran:?}");
        assert!(!ran.stderr.contains("LOADED"), "{command}: {ran:?}");
    }
}

/// A file by any path, a link to it, and nothing by another name or by one that is not there.
#[test]
fn a_path_is_allowed_by_the_file_that_it_leads_to() {
    let dir = folder();
    std::os::unix::fs::symlink("lib.so", dir.path().join("other.so")).unwrap();
    fs::copy(dir.path().join("lib.so"), dir.path().join("copy.so")).unwrap();
    let absolute = dir.path().join("lib.so").display().to_string();
    for (library, code) in
        [(absolute.as_str(), 0), ("./other.so", 0), ("./copy.so", 1), ("lib.so", 1), ("./none.so", 2)]
    {
        let ran = as_user(dir.path(), &format!("test asks.rw --allow-link {library}"));
        assert_eq!(ran.code, Some(code), "{library}: {ran:?}");
    }
    let ran = as_user(dir.path(), "test asks.rw --allow-link ./none.so");
    assert!(ran.stderr.contains("cannot find the library ./none.so"), "{ran:?}");
}

#[test]
fn a_project_cannot_allow_anything_and_a_user_can() {
    let dir = folder();
    // No such word, in a configuration that a project brings along.
    fs::write(dir.path().join("rewright.json"), r#"{"allow_link": ["./lib.so"]}"#).unwrap();
    let ran = as_user(dir.path(), "opt main.ir --rules asks.rw");
    assert!(ran.code == Some(2) && ran.stderr.contains("unknown field"), "{ran:?}");
    fs::remove_file(dir.path().join("rewright.json")).unwrap();
    // Only the user allows what a project asks for, and only what it lists.
    fs::write(dir.path().join("rewright.toml"), "[project]\nlinks = [\"./lib.so\"]\n").unwrap();
    assert_eq!(as_user(dir.path(), "check asks.rw").code, Some(1));
    let given = as_user(dir.path(), "allow --project");
    assert!(given.code == Some(0) && given.stdout.contains("lib.so"), "{given:?}");
    assert_eq!(as_user(dir.path(), "check").code, Some(0));
    assert_eq!(as_user(dir.path(), "allow --project --revoke").code, Some(0));
    assert_eq!(as_user(dir.path(), "check").code, Some(1));
    fs::write(dir.path().join("rewright.toml"), "[project]\n").unwrap();
    let refused = as_user(dir.path(), "allow --project");
    assert!(refused.code == Some(2) && refused.stderr.contains("does not list in `links`"), "{refused:?}");
    assert_eq!(as_user(dir.path(), "check").code, Some(1));
    fs::remove_file(dir.path().join("rewright.toml")).unwrap();

    let given = as_user(dir.path(), "allow asks.rw");
    assert!(given.code == Some(0) && given.stdout.contains("lib.so"), "{given:?}");
    assert!(dir.path().join("config/rewright/allow.json").is_file());
    for (command, _, code) in COMMANDS {
        let ran = as_user(dir.path(), command);
        assert!(ran.code == Some(code) && ran.stderr.contains("CALLED"), "{command}: {ran:?}");
    }
    assert!(as_user(dir.path(), "allow").stdout.contains("asks.rw: may call functions of "));

    // Another pack that reaches the library has no permission by that.
    fs::write(
        dir.path().join("guest.rw"),
        "pack guest\nimport asks\nruleset g { rule r(x: i32): more(x) => x + 100 }\n",
    )
    .unwrap();
    let ran = as_user(dir.path(), "verify guest.rw --no-cache --samples 10");
    assert!(ran.code == Some(1) && ran.stderr.contains("needs --allow-link"), "{ran:?}");
    let ran = as_user(dir.path(), "opt main.ir --rules asks.rw --rules guest.rw");
    assert!(!ran.stderr.contains("CALLED"), "{ran:?}");

    // A pack that changes loses it, and is told so.
    fs::write(dir.path().join("asks.rw"), format!("{PACK}\n// changed\n")).unwrap();
    let ran = as_user(dir.path(), "test asks.rw");
    assert!(ran.code == Some(1) && ran.stderr.contains("has changed") && !ran.stderr.contains("LOADED"), "{ran:?}");
    as_user(dir.path(), "allow asks.rw");
    assert_eq!(as_user(dir.path(), "test asks.rw").code, Some(0));
    assert_eq!(as_user(dir.path(), "allow --revoke asks.rw").code, Some(0));
    assert_eq!(as_user(dir.path(), "test asks.rw").code, Some(1));

    fs::write(dir.path().join("config/rewright/allow.json"), "{").unwrap();
    let ran = as_user(dir.path(), "test asks.rw");
    assert!(ran.code == Some(2) && ran.stderr.contains("allow.json is no file of permissions"), "{ran:?}");
}

/// Standard packs call what they name, and that only: not what else is in the same libraries, and not for a pack that
/// takes the name of one of them.
#[test]
fn standard_packs_call_what_they_name() {
    let dir = tempfile::tempdir().unwrap();
    let uses = "pack uses\nimport std.core\nimport std.libm\n\
        ruleset r { rule one(x: f64): fsub(sin(x), sin(x)) => fsub(sin(x), sin(x)) }\n";
    let kills = "pack kills\nimport std.core\n@link(\"libc.so.6\", \"kill\")\n\
        fn kill(p: i32, s: i32) -> i32  pure  cost 9\n\
        ruleset r { dynamic rule k(const p: i32, const s: i32): kill(p, s) => eval(kill(p, s)) }\n\
        example \"k\" (): kill(1, 0) becomes 0\n";
    // Its text is not that of the pack whose name it takes.
    let shadows = "pack std.libm\nimport std.core\n@link(\"libm.so.6\", \"sin\")\nfn sin(x: f64) -> f64  pure  cost 9\n\
        ruleset r { dynamic rule s(const x: f64): sin(x) => eval(sin(x)) }\n\
        example \"s\" (): sin(0.0) becomes 0.0\n";
    fs::create_dir(dir.path().join("std")).unwrap();
    for (name, text) in [("uses.rw", uses), ("kills.rw", kills), ("shadows.rw", shadows), ("std/libm.rw", shadows)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let ran = rewright(dir.path(), "verify uses.rw --no-cache --samples 10");
    assert!(!ran.stderr.contains("--allow-link"), "{ran:?}");
    let ran = rewright(dir.path(), "test kills.rw");
    assert!(ran.code == Some(1) && ran.stderr.contains("needs --allow-link libc.so.6"), "{ran:?}");
    for pack in ["shadows.rw", "std/libm.rw"] {
        let ran = rewright(dir.path(), &format!("test {pack}"));
        assert!(ran.code == Some(1) && ran.stderr.contains("needs --allow-link libm.so.6"), "{pack}: {ran:?}");
    }
}

/// Signals reach no process outside, even from a library that is allowed.
#[test]
fn a_process_of_ours_survives_an_allowed_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let id = sleeper.id();
    let pack = format!(
        "pack kills\nimport std.core\n@link(\"libc.so.6\", \"kill\")\nfn kill(p: i32, s: i32) -> i32  pure  cost 9\n\
         ruleset r {{ dynamic rule k(const p: i32, const s: i32): kill(p, s) => eval(kill(p, s)) }}\n\
         example \"k\" (): kill({id}, 9) becomes -1\n"
    );
    fs::write(dir.path().join("kills.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "test kills.rw --allow-link libc.so.6");
    let alive = sleeper.try_wait().unwrap().is_none();
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert!(ran.code == Some(0) && alive, "{ran:?}");
}

/// An embedding program gets what it allows, in its own process and in the worker.
#[test]
fn an_embedding_program_says_so_itself() {
    let dir = folder();
    let library = dir.path().join("lib.so").display().to_string();
    let pack = PACK.replace("./lib.so", &library);
    for allowed in [false, true] {
        let mut embedding = Embedding::new();
        embedding.pack("asks.rw", &pack).worker(env!("CARGO_BIN_EXE_rewright"));
        if allowed {
            embedding.allow_link(&library).unwrap();
        }
        let module = embedding
            .module(
                "func %f(%x: i32) -> i32 {\n  %y = more %x\n  return %y\n}\nfunc %c -> (i32) {\n\
            entry:\n  %one: i32 = const 1\n  %y = more %one\n  return %y\n}\n",
            )
            .unwrap();
        let outcome = module.optimise(&Options::default(), |_| true);
        assert_eq!(outcome.print().contains("const 101"), allowed);
        match embedding.code(&module, &outcome) {
            Ok(code) => assert!(allowed && code.call("f", &[Constant::Scalar(Scalar::I32, 5)]).is_ok()),
            Err(error) => assert!(!allowed && error.to_string().contains("needs --allow-link"), "{error}"),
        }
    }
    assert!(Embedding::new().allow_link("./nowhere.so").is_err());
}

/// A function of the process itself: `validate` makes up what it gives, and calls it only with permission. Even then it
/// is refused what it asks of the system, and gives -1.
#[test]
fn validate_calls_what_is_allowed_and_confines_it() {
    let dir = tempfile::tempdir().unwrap();
    let pack = "pack parents\nimport std.core\n@link(\"libc.so.6\", \"getppid\")\nfn getppid() -> i32\n\
                ruleset r {\n  rule zero(x: i32): iadd(x, 0) => x\n}\nschedule default { run r }\n";
    let module = "target datalayout = \"e-m:e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
                  declare i32 @getppid()\ndefine i32 @f() {\n  %r = call i32 @getppid()\n  ret i32 %r\n}\n";
    let files = [("parents.rw", pack), ("old.ll", module), ("new.ll", &module.replace("ret i32 %r", "ret i32 77"))];
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let line = "validate old.ll new.ll --rules parents.rw --method compiled --runs 4";
    for (more, refused) in [("", false), (" --allow-link libc.so.6", true)] {
        let ran = as_user(dir.path(), &format!("{line}{more}"));
        assert!(ran.stdout.contains("it gives [4d], and gave ["), "{more}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout.contains("gave [ffffffff]"), refused, "{more}: {}", ran.stdout);
    }
}
