//! Failures of the environment: a full disk, a limit, a child that is killed, a damaged cache, a program that is
//! missing. Each command says what happened, exits with 1 or 2 where it could not do its work, and leaves no file half
//! written.
//!
//! Wants clang 19, opt 19 and z3 (`scripts/setup.sh`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod children;
mod disk;
mod full;
mod killed;
mod streams;
mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A pack of which each command has something to write.
fn pack() -> String {
    let mut text = String::from("pack large\nimport std.core\nruleset r {\n");
    for n in 0..60 {
        // Formatted, each line is longer.
        text += &format!("rule a{n}(x:i32):iadd(x,{n})=>isub(x,-{n})\n");
    }
    text += "}\nschedule default {run r}\nexample \"e\" (x: i32) fires r.a1:iadd(x,1) becomes x\n";
    text
}

const FUNCTION: &str = "function %f(i32) -> i32 {\nblock0(v0: i32):\n    v1 = iconst.i32 0\n    v2 = iadd v0, v1\n    return v2\n}\n; run: %f(7) == 7\n";

/// It never ends.
const ENDLESS: &str = "test run\ntarget x86_64\n\nfunction %endless(i32) -> i32 {\nblock0(v0: i32):\n    jump block1\n\
    \nblock1:\n    jump block1\n}\n\
                       ; run: %endless(7) == 7\n";

const GRAPH: &str =
    r#"{"nodes": {"a": {"op": "a", "eclass": "0", "cost": 1, "children": []}}, "root_eclasses": ["0"]}"#;

const SUM: &str = "int sum(int x, int y) { return (x ^ y) + ((x & y) << 1); }\n";

const PACK: &str = "pack mine\nimport std.core\n\nruleset sums {\n  rule carries(x: i32, y: i32): \
                    iadd(bxor(x, y), ishl{i32, i32}(band(x, y), 1)) => iadd(x, y)\n}\n\
                    schedule default { saturate sums }\n";

const MODULE: &str = "target datalayout = \"e-m:e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
                      define i32 @f(i32 %x) {\n  %y = add i32 %x, 0\n  ret i32 %y\n}\n";

/// A folder with something for each command.
fn inputs() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["packs", "pages", "ir"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    let large = pack();
    let slips = large.replace("iadd(x,7)", "iad(x,7)");
    let files = [
        ("packs/large.rw", large.as_str()),
        ("packs/verify.expected", "# old\nlarge.r.a0: 9 equal\n"),
        ("slips.rw", slips.as_str()),
        ("mine.rw", PACK),
        ("sum.c", SUM),
        ("sum.o", "an old object"),
        ("sum.d", "old dependencies"),
        ("f.clif", FUNCTION),
        ("out.clif", "what was there"),
        ("endless.clif", ENDLESS),
        ("graph.json", GRAPH),
        ("rules.isle", "(rule (simplify (iadd ty x (iconst_u ty 0))) x)\n"),
        ("f.ll", MODULE),
        ("ir/g.ll", MODULE),
        ("ir/f.ll", "what was there"),
        ("pages/README.md", "Made by `rewright doc`, long ago"),
    ];
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// Files below a folder, by their names.
struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    /// Names of files that are not the same here and there.
    fn changed(&self, other: &Files) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        names.into_iter().filter(|name| self.0.get(*name) != other.0.get(*name)).cloned().collect()
    }
}

fn files(dir: &Path) -> Files {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(dir).unwrap().display().to_string();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    Files(found)
}

/// What a command said, and how it ended. It never panics.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn ran(output: Output) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ran = Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) };
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    ran
}

/// `rewright` with a home of its own; `arguments` have no spaces.
fn rewright(dir: &Path, own: &TempDir, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    command.current_dir(dir).args(arguments.split_whitespace());
    home(&mut command, own);
    command
}

/// Nothing of the user who runs the tests is used or left.
fn home(command: &mut Command, own: &TempDir) {
    command.env("HOME", own.path()).env("TMPDIR", own.path());
    for variable in ["XDG_CACHE_HOME", "REWRIGHT_CACHE", "REWRIGHT_LOG", "REWRIGHT_SERVER", "REWRIGHT_STARTED"] {
        command.env_remove(variable);
    }
}
