//! What verification has found of the rules of a folder of packs, as a file beside them keeps it.

use super::embedded;
use std::collections::BTreeMap;
use std::path::{Path, absolute};

/// The file's name.
pub const EVIDENCE: &str = "verify.expected";

/// By rule: what was found of it, line by line.
pub type Evidence = BTreeMap<String, Vec<String>>;

/// Reads such a file: `rule: what was found` in each line, and comments that begin with `#`.
pub fn evidence(text: &str) -> Evidence {
    let mut found = Evidence::new();
    for (rule, what) in text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": ")) {
        found.entry(rule.into()).or_default().push(what.into());
    }
    found
}

/// What verification has found of the rules of a pack's file, by the file beside it or in a folder around it.
pub fn evidence_of(name: &str) -> Evidence {
    let text = match embedded(name) {
        Some(_) => embedded(EVIDENCE).map(str::to_string),
        None => absolute(Path::new(name)).ok().filter(|path| path.is_file()).and_then(|path| {
            let mut folders = path.ancestors().skip(1);
            folders.find_map(|folder| std::fs::read_to_string(folder.join(EVIDENCE)).ok())
        }),
    };
    text.map(|text| evidence(&text)).unwrap_or_default()
}
