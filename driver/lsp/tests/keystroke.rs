//! How long it takes from a key to the answer.

use crate::support::edited;
use rewright_lsp::completion::completions;
use rewright_lsp::{findings, hints, tokens};
use std::time::{Duration, Instant};

/// What a user may wait, where the machine is idle and the build is optimised; here neither is sure.
const PATIENCE: Duration = Duration::from_secs(4);

/// All that an editor asks for after a key in `std.arith`: the best of a few, which other work on the machine cannot
/// make better. The number is printed.
#[test]
fn a_key_in_std_arith_is_answered_while_its_author_waits() {
    let text = rewright_packs::embedded("std/arith.rw").expect("it ships");
    let at = text.find("iadd(x, 0) => x").expect("the first rule") + "iadd(x".len();
    let typed = format!("{}.{}", &text[..at], &text[at..]);
    let best = (0..3)
        .map(|_| {
            let begun = Instant::now();
            let snapshot = edited("std/arith.rw", &typed);
            let file = (0..).find(|file| snapshot.text(*file) == typed).expect("it is analysed");
            let found = &snapshot.packs().diagnostics;
            let shown: Vec<_> = found.iter().map(|found| findings::diagnostic(&snapshot, found, &|_| None)).collect();
            assert!(!shown.is_empty());
            assert!(!tokens::tokens(&snapshot, file).is_empty());
            hints::hints(&snapshot, file, (0, typed.len() as u32));
            completions(&snapshot, file, at as u32 + 1, &Vec::new);
            begun.elapsed()
        })
        .min()
        .expect("three were measured");
    println!("{} ms", best.as_millis());
    assert!(best < PATIENCE, "{best:?}");
}
