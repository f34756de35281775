//! Whatever is wrong with a pack, checking it ends in diagnostics, and the fixes that they carry can be made.

use super::check;
use crate::diagnostic::{fixed, render, safe, to_json};
use crate::load::{Origin, Root, load};
use crate::testing::{cut, packs};
use proptest::prelude::*;
use std::error::Error;

fn shipped(origin: &Origin) -> Result<String, Box<dyn Error>> {
    match origin {
        Origin::Std(path) => std::fs::read_to_string(format!("{}/../stdlib_rules/{path}", env!("CARGO_MANIFEST_DIR"))),
        Origin::Disk(path) => return Err(format!("no {path}").into()),
    }
    .map_err(Into::into)
}

proptest! {
    // Each case checks all of `std.core`.
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: ProptestConfig::default().cases / 8,
        ..ProptestConfig::default()
    })]

    #[test]
    fn checking_never_panics_on_broken_packs(
        which in any::<prop::sample::Index>(),
        cuts in proptest::collection::vec((any::<u16>(), any::<u16>(), any::<u8>()), 1..8),
    ) {
        let mut text = which.get(packs()).clone();
        cut(&mut text, &cuts);
        for _ in 0..3 {
            let root = Root { origin: Origin::Disk("t.rw".into()), text: text.clone(), library: false };
            let loaded = load(vec![root], &mut shipped);
            let (_, found) = check(&loaded.files);
            let found: Vec<_> = loaded.diagnostics.into_iter().chain(found).collect();
            render(&found, &loaded.sources, false);
            to_json(&found, &loaded.sources);
            let own = loaded.sources.files.iter().position(|(name, _)| name == "t.rw");
            let changed = fixed(safe(&found), &loaded.sources);
            match changed.into_iter().find(|(file, ..)| Some(*file) == own) {
                Some((_, after, _)) => text = after,
                None => break,
            }
        }
    }
}
