//! What verification has found of the rules of a folder of packs, as a file beside them keeps it.

use std::collections::BTreeMap;

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
