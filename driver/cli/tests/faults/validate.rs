//! `validate` on full disks, with tools that are missing or fail, and with inputs that cannot be read.

use super::children::{faulty, script};
use super::disk::disks;
use super::{Ran, files, inputs, ran, rewright};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const BEFORE: &str = "define i32 @f(i32 %x) {\n  %y = mul i32 %x, 2\n  ret i32 %y\n}\n";

/// Two files with one function that is another text in each.
fn versions() -> TempDir {
    let dir = inputs();
    fs::write(dir.path().join("old.ll"), BEFORE).unwrap();
    fs::write(dir.path().join("new.ll"), BEFORE.replace("mul i32 %x, 2", "shl i32 %x, 1")).unwrap();
    dir
}

fn validate(dir: &Path, own: &TempDir, more: &str) -> Ran {
    let before = files(dir);
    let ran = ran(rewright(dir, own, &format!("validate old.ll new.ll {more}")).output().unwrap());
    assert_eq!(files(dir).changed(&before), [""; 0], "{more}");
    assert_eq!(left(own), [""; 0], "{more}: temporary files are left");
    ran
}

/// Temporary files of ours.
fn left(own: &TempDir) -> Vec<String> {
    let names = fs::read_dir(own.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("validate-")).collect()
}

#[test]
fn solvers_that_fail_leave_it_unknown() {
    let (dir, own) = (versions(), tempfile::tempdir().unwrap());
    for (fault, solver) in faulty(&own) {
        let ran = validate(dir.path(), &own, &format!("--method refined --solver {}", solver.display()));
        if fault == "missing" {
            assert!(ran.code == Some(2) && ran.stderr.contains("cannot start"), "{ran:?}");
        } else {
            assert!(ran.code == Some(0) && ran.stdout.contains("@f: unknown: the solver ended"), "{fault}: {ran:?}");
        }
    }
}

#[test]
fn compilers_that_fail_leave_it_unknown() {
    let (dir, own) = (versions(), tempfile::tempdir().unwrap());
    for (fault, clang) in faulty(&own) {
        let ran = validate(dir.path(), &own, &format!("--method compiled --clang {}", clang.display()));
        let said = match fault {
            "missing" => {
                assert!(ran.code == Some(2) && ran.stderr.contains("cannot start"), "{ran:?}");
                continue;
            }
            "killed" => "it says nothing, and ended with signal: 9",
            "failing" => "it says nothing, and ended with exit status: 3",
            _ => "it has written no program",
        };
        assert!(ran.code == Some(0) && ran.stdout.contains("@f: unknown: compiled: clang"), "{fault}: {ran:?}");
        assert!(ran.stdout.contains(said), "{fault}: {ran:?}");
    }
}

/// What runs functions dies, cannot be started, or says too little.
#[test]
fn programs_that_die_while_they_run_functions_are_said() {
    let (dir, own) = (versions(), tempfile::tempdir().unwrap());
    for (program, code, says) in [
        ("#!/bin/sh\\nkill -9 $$", 0, "@f: unknown: compiled: the process that runs it has ended"),
        ("#!/bin/sh\\nprintf too-little", 0, "@f: unknown: compiled: the process that runs it has ended"),
        ("no program at all", 2, "cannot run"),
    ] {
        let text = format!("for out; do :; done\nprintf '{program}\\n' >\"$out\"\nchmod +x \"$out\"");
        let clang = script(&own, "clang", &text);
        let ran = validate(dir.path(), &own, &format!("--method compiled --clang {}", clang.display()));
        assert!(ran.code == Some(code) && format!("{}{}", ran.stdout, ran.stderr).contains(says), "{program}: {ran:?}");
    }
}

#[test]
fn temporary_files_without_room_are_said() {
    let (dir, own) = (versions(), tempfile::tempdir().unwrap());
    let line = "validate old.ll new.ll --method compiled";
    for disk in disks() {
        let (ran, after) = disk.run_with(dir.path(), &own, true, line);
        assert!(ran.code == Some(2) && ran.stderr.contains("cannot "), "{disk:?}: {ran:?}");
        assert_eq!(files(after.path()).changed(&files(dir.path())), [""; 0], "{disk:?}");
    }
    let nowhere = ran(rewright(dir.path(), &own, line).env("TMPDIR", "/proc/self/none").output().unwrap());
    assert!(
        nowhere.code == Some(2) && nowhere.stderr.contains("cannot make a folder in /proc/self/none"),
        "{nowhere:?}"
    );
}

#[test]
fn inputs_that_cannot_be_read_are_said() {
    let (dir, own) = (versions(), tempfile::tempdir().unwrap());
    fs::create_dir(dir.path().join("folder.ll")).unwrap();
    fs::write(dir.path().join("bytes.ll"), b"define i32 @f() {\n\xff\xfe\n}\n").unwrap();
    fs::write(dir.path().join("cut.ll"), &BEFORE[..BEFORE.len() / 2]).unwrap();
    for (line, says) in [
        ("validate none.ll", "none.ll"),
        ("validate old.ll none.ll", "cannot read none.ll"),
        ("validate old.ll folder.ll", "folder.ll"),
        ("validate old.ll bytes.ll", "bytes.ll"),
        ("validate bytes.ll old.ll", "bytes.ll"),
        ("validate old.ll cut.ll", "cut.ll"),
        ("validate cut.ll old.ll", "cut.ll"),
    ] {
        let ran = ran(rewright(dir.path(), &own, line).output().unwrap());
        assert!(matches!(ran.code, Some(1 | 2)) && ran.stderr.contains(says), "{line}: {ran:?}");
    }
}
