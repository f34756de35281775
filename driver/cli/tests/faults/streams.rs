//! Standard output that takes nothing, or nothing more.

use super::{inputs, ran, rewright};
use std::fs::File;
use std::process::Stdio;

/// Command lines that print a result.
const PRINTERS: [&str; 19] = [
    "opt f.clif",
    "opt f.clif --emit ir",
    "opt f.ll",
    "check mine.rw",
    "test mine.rw",
    "verify mine.rw --no-cache --threads 1 --samples 50",
    "corpus f.ll",
    "explain RW0301",
    "fmt --check packs",
    "run f.clif --fn f 1",
    "difftest f.clif",
    "fuzz --seed 1 --count 1",
    "bench f.clif --repeat 1",
    "coverage rules.isle",
    "extract graph.json",
    "validate f.ll ir/g.ll",
    "why-not carries f.clif --rules mine.rw",
    "--help",
    "--version",
];

#[test]
fn a_result_that_is_cut_short_is_an_error() {
    let (dir, own) = (inputs(), tempfile::tempdir().unwrap());
    for arguments in PRINTERS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (reader, closed) = std::io::pipe().unwrap();
        drop(reader);
        for (stdout, why) in [(Stdio::from(full), "No space left on device"), (Stdio::from(closed), "Broken pipe")] {
            let ran = ran(rewright(dir.path(), &own, arguments).stdout(stdout).output().unwrap());
            assert_eq!(ran.code, Some(2), "{arguments}: {ran:?}");
            assert!(
                ran.stderr.contains("cannot write to standard output") && ran.stderr.contains(why),
                "{arguments}: {ran:?}"
            );
        }
    }
}

/// Nothing can be written to standard error, and the work is done nevertheless.
#[test]
fn standard_error_that_is_closed_changes_nothing() {
    let (dir, own) = (inputs(), tempfile::tempdir().unwrap());
    for (arguments, code) in [("opt f.clif --stats", 0), ("check slips.rw", 1), ("check none.rw", 2)] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = ran(rewright(dir.path(), &own, arguments).stderr(full).output().unwrap());
        assert_eq!(ran.code, Some(code), "{arguments}: {ran:?}");
    }
}
