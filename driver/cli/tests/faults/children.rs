//! Programs that we start and that are missing, die, or say nothing; and results of earlier runs that are damaged.

use super::{files, inputs, ran, rewright};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;

/// A program in the place of another.
pub(super) fn script(own: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = own.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Programs that fail in one way each.
pub(super) fn faulty(own: &TempDir) -> [(&'static str, PathBuf); 4] {
    [
        ("missing", own.path().join("nowhere/program")),
        ("killed", script(own, "killed", "kill -9 $$")),
        ("failing", script(own, "failing", "exit 3")),
        ("silent", script(own, "silent", "exit 0")),
    ]
}

#[test]
fn solvers_that_fail_are_said() {
    let (dir, own) = (inputs(), tempfile::tempdir().unwrap());
    let before = files(dir.path());
    for (fault, solver) in faulty(&own) {
        for more in ["", "--mutate --mutants 1", "--update"] {
            // The file of what is expected is a folder's; what a solver was not asked about is not written there.
            let paths = if more == "--update" { "packs" } else { "packs/large.rw" };
            let line =
                format!("verify {paths} --filter r.a1 --threads 1 --samples 50 {more} --solver {}", solver.display());
            let ran = ran(rewright(dir.path(), &own, &line).output().unwrap());
            assert!(ran.code == Some(2) && ran.stderr.contains("the solver"), "{fault} {more}: {ran:?}");
            assert_eq!(files(dir.path()).changed(&before), [""; 0], "{fault} {more}");
        }
    }
}

#[test]
fn compilers_that_fail_leave_nothing_half_made() {
    let (dir, own) = (inputs(), tempfile::tempdir().unwrap());
    let before = files(dir.path());
    for (fault, clang) in faulty(&own) {
        let mut command = rewright(dir.path(), &own, "cc --rules mine.rw -O2 -MMD -c sum.c");
        let ran = ran(command.env("REWRIGHT_CLANG", &clang).output().unwrap());
        let code = match fault {
            "missing" => Some(2),
            "killed" => Some(137),
            "failing" => Some(3),
            // It says that it has done its work, and it is its word against none.
            _ => Some(0),
        };
        assert_eq!(ran.code, code, "{fault}: {ran:?}");
        assert!(!ran.stderr.is_empty() || fault == "failing", "{fault}: {ran:?}");
        assert_eq!(files(dir.path()).changed(&before), [""; 0], "{fault}");
    }
}

#[test]
fn an_opt_that_fails_is_said_and_refused_on_demand() {
    let (dir, own) = (inputs(), tempfile::tempdir().unwrap());
    for (fault, opt) in faulty(&own) {
        fs::write(dir.path().join("sum.o"), "an old object").unwrap();
        let before = files(dir.path());
        let mut command = rewright(dir.path(), &own, "cc --rules mine.rw --strict -O2 -c sum.c");
        let strict = ran(command.env("REWRIGHT_OPT", &opt).output().unwrap());
        assert!(strict.code == Some(2) && !strict.stderr.is_empty(), "{fault}: {strict:?}");
        assert_eq!(files(dir.path()).changed(&before), [""; 0], "{fault}");
        let mut command = rewright(dir.path(), &own, "cc --rules mine.rw -O2 -c sum.c");
        let ran = ran(command.env("REWRIGHT_OPT", &opt).output().unwrap());
        assert!(ran.code == Some(0) && ran.stderr.contains("sum.c: compiled without rules"), "{fault}: {ran:?}");
        assert_ne!(files(dir.path()).changed(&before), [""; 0], "{fault}");
    }
}

#[test]
fn verdicts_that_are_damaged_are_made_again() {
    let (dir, own) = (inputs(), tempfile::tempdir().unwrap());
    let cache = own.path().join("cache");
    let line = format!("verify packs/large.rw --filter r.a1 --threads 1 --samples 50 --cache {}", cache.display());
    let verify = || {
        let ran = ran(rewright(dir.path(), &own, &line).output().unwrap());
        assert!(ran.code == Some(0) && ran.stdout.contains("11 equal"), "{ran:?}");
        let cached = ran.stdout.split("type instances; ").nth(1).unwrap().split(' ').next().unwrap().to_string();
        (cached.parse::<usize>().unwrap(), ran.stderr)
    };
    assert_eq!((verify().0, verify()), (0, (11, String::new())));
    let kept = files(&cache);
    assert_eq!(kept.0.len(), 11);
    let (name, content) = kept.0.first_key_value().unwrap();
    let mut flipped = content.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [flipped, vec![], content[..content.len() / 2].to_vec()] {
        fs::write(cache.join(name), damaged).unwrap();
        let (cached, said) = verify();
        assert!(cached == 10 && said.contains(&format!("{name} was damaged")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!((verify(), files(&cache).0.len()), ((11, String::new()), 11));
    }
}
