//! `rewright.toml`: what commands take from it, in the folders of a user.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::ran::{Ran, rewright};
use std::fs;
use std::path::Path;

const LINEAR: &str = "pack acme.linear\nimport std.core\n\nrule twice{T <: Int}(x: T): x + x => x * 2\n\n\
                      example \"twice\" (x: i32) fires twice: x + x becomes x * 2\n";

const OWN: &str = "pack own\nimport std.core\nimport acme.linear\n\nrule gone{T <: Int}(x: T): x - x => 0\n\n\
                   example \"gone\" (x: i32) fires gone: x - x becomes 0\n";

const FUNCTION: &str =
    "function %f(i64) -> i64 {\nblock0(v0: i64):\n    v1 = iconst.i64 7\n    v2 = udiv v0, v1\n    return v2\n}\n";

const SAME: &str = "function %f(i64) -> i64 {\nblock0(v0: i64):\n    v1 = isub v0, v0\n    return v1\n}\n";

/// A project with a pack of its own that imports one of a dependency beside it.
fn folder(file: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("acme/linear.rw", LINEAR),
        ("mine/packs/own.rw", OWN),
        ("mine/src/f.clif", FUNCTION),
        ("mine/src/same.clif", SAME),
        ("mine/rewright.toml", file),
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

const PROJECT: &str = "[project]\npacks = [\"packs\"]\nrules = [\"own\"]\npath = [\"packs\"]\n\n[dependencies]\n\
                       acme = { path = \"../acme\" }\n";

fn passes(dir: &Path, args: &str) -> Ran {
    let ran = rewright(dir, args);
    assert_eq!(ran.code, Some(0), "{args}: {ran:?}");
    ran
}

#[test]
fn commands_work_on_the_packs_of_the_project() {
    let dir = folder(PROJECT);
    for place in ["mine", "mine/src"] {
        let place = dir.path().join(place);
        assert!(passes(&place, "check").stdout.contains("1 rule, 1 example: 1 passed"), "{}", place.display());
        passes(&place, "test");
        passes(&place, "fmt --check");
        assert!(passes(&place, "verify --no-cache --samples 10").stdout.contains("1 rule"));
    }
    passes(&dir.path().join("mine"), "doc -o pages");
    assert!(dir.path().join("mine/pages/own.md").is_file());
}

#[test]
fn without_a_project_packs_must_be_named() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["check", "test", "verify", "fmt", "doc -o pages"] {
        let ran = rewright(dir.path(), command);
        assert!(ran.code == Some(2) && ran.stderr.contains("rewright.toml"), "{command}: {ran:?}");
    }
}

#[test]
fn the_project_says_which_rules_and_costs_count() {
    let dir = folder(PROJECT);
    let place = dir.path().join("mine/src");
    // Its own rules, and not those that ship.
    assert!(!passes(&place, "opt same.clif").stdout.contains("isub"));
    assert!(passes(&place, "opt f.clif").stdout.contains("udiv"));
    assert!(!passes(&place, "opt f.clif --rules std").stdout.contains("udiv"));
    // A pack of the project by its name.
    assert!(!passes(&place, "opt same.clif --rules own").stdout.contains("isub"));
    let with_costs = format!("{}\n[costs]\nprofile = \"size\"\n", PROJECT.replace("\"own\"", "\"std\""));
    fs::write(dir.path().join("mine/rewright.toml"), with_costs).unwrap();
    assert!(passes(&place, "opt f.clif").stdout.contains("udiv"));
    assert!(!passes(&place, "opt f.clif --profile latency").stdout.contains("udiv"));
    // Which file that is, is said also where rules are named.
    let said = passes(&place, "opt f.clif --rules std -v").stderr;
    assert!(said.contains("configuration: ") && said.contains("rewright.toml\n"), "{said}");
}

#[test]
fn a_missing_dependency_is_told_at_the_import() {
    let dir = folder(&PROJECT.replace("../acme", "../gone"));
    let ran = rewright(&dir.path().join("mine"), "check");
    assert!(ran.code == Some(1) && ran.stderr.contains("RW0207"), "{ran:?}");
    assert!(ran.stderr.contains("the dependency `acme` of rewright.toml is not there"), "{ran:?}");
    let asks = PROJECT.replace("{ path = \"../acme\" }", "{ git = \"https://example.org/a.git\", rev = \"v1\" }");
    fs::write(dir.path().join("mine/rewright.toml"), asks).unwrap();
    let ran = rewright(&dir.path().join("mine"), "check");
    assert!(ran.code == Some(1) && ran.stderr.contains("rewright fetch"), "{ran:?}");
}

#[test]
fn one_file_by_two_paths_is_one_pack() {
    let dir = folder(PROJECT);
    // The root is named by a path that leaves the folder and comes back; the import finds it by the search path.
    fs::write(dir.path().join("mine/src/more.rw"), "pack more\nimport std.core\nimport own\n").unwrap();
    let ran = passes(&dir.path().join("mine/src"), "check ../packs/own.rw ../src/more.rw");
    assert!(ran.stdout.contains("1 rule"), "{ran:?}");
}

#[test]
fn mistakes_in_the_file_end_with_code_2_and_say_where() {
    for (text, says) in [
        ("[project]\nrules = \"std\"\n", "2 | rules = \"std\""),
        ("[projct]\n", "unknown field `projct`"),
        ("[verify]\nsolver = \"sh -c true\"\n", "unknown field `solver`"),
        ("[project]\nallow_link = [\"./lib.so\"]\n", "unknown field `allow_link`"),
    ] {
        let dir = folder(text);
        for command in ["check", "opt src/f.clif", "fetch"] {
            let ran = rewright(&dir.path().join("mine"), command);
            let said = ran.stderr.contains(says) && ran.stderr.contains("rewright.toml");
            assert!(ran.code == Some(2) && said, "{command}: {ran:?}");
        }
    }
}

#[test]
fn a_former_configuration_is_read_with_its_translation() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), FUNCTION).unwrap();
    fs::write(dir.path().join("rewright.json"), r#"{ "costs": { "profile": "size" } }"#).unwrap();
    let ran = passes(dir.path(), "opt f.clif");
    assert!(ran.stdout.contains("udiv") && ran.stderr.contains("[costs]\n    profile = \"size\""), "{ran:?}");
    fs::write(dir.path().join("rewright.toml"), "[costs]\nprofile = \"size\"\n").unwrap();
    let ran = rewright(dir.path(), "opt f.clif");
    assert!(ran.code == Some(2) && ran.stderr.contains("has both"), "{ran:?}");
    fs::remove_file(dir.path().join("rewright.json")).unwrap();
    assert!(passes(dir.path(), "opt f.clif").stderr.is_empty());
}

#[test]
fn nothing_to_fetch_is_said() {
    let dir = folder(PROJECT);
    assert!(passes(&dir.path().join("mine"), "fetch").stdout.contains("nothing to fetch"));
    assert_eq!(passes(&dir.path().join("mine"), "fetch --format json").stdout, "[]\n");
    let ran = rewright(dir.path(), "fetch");
    assert!(ran.code == Some(2) && ran.stderr.contains("no rewright.toml here or above"), "{ran:?}");
}

#[test]
fn verify_takes_its_settings_from_the_project() {
    let dir = folder(&format!("{PROJECT}\n[verify]\nstrict = true\nsamples = 0\nsteps = 1\n"));
    // No samples and no steps: nothing is decided, and that is a finding where the project is strict.
    let ran = rewright(&dir.path().join("mine"), "verify --no-cache --solver false");
    assert_ne!(ran.code, Some(0), "{ran:?}");
    passes(&dir.path().join("mine"), "verify --no-cache --samples 500 --steps 0");
}

/// What the file names and is not there.
#[test]
fn what_is_not_there_is_said() {
    let dir = folder("[project]\npacks = [\"packs\"]\nrules = [\"packs/nope.rw\"]\n");
    let mine = dir.path().join("mine");
    let ran = rewright(&mine, "check");
    assert!(ran.code == Some(2) && ran.stderr.contains("in `rules` of rewright.toml"), "{}", ran.stderr);
    let file = "[project]\npacks = [\"packs\"]\n[dependencies]\nacme = { path = \"../nowhere\" }\n";
    fs::write(mine.join("rewright.toml"), file).unwrap();
    let ran = rewright(&mine, "fetch");
    assert!(ran.code == Some(2) && ran.stderr.contains("nowhere"), "{}", ran.stderr);
}
