//! `rewright doc` of the packs that ship: an entry per rule, the evidence that is recorded, links that lead somewhere.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_packs as packs;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The headings of a page as `ruleset.rule`, with the text below each.
fn entries(page: &str) -> BTreeMap<String, String> {
    let (mut set, mut found, mut entry) = ("", BTreeMap::new(), None);
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            (set, entry) = (name, None);
        } else if let Some(name) = line.strip_prefix("### ") {
            let name = format!("{set}.{name}");
            assert!(found.insert(name.clone(), String::new()).is_none(), "{name} twice");
            entry = Some(name);
        } else if let Some(text) = entry.as_ref().and_then(|name| found.get_mut(name)) {
            *text += &format!("{line}\n");
        }
    }
    found
}

/// A project has a `README.md` of its own.
#[test]
fn what_is_no_page_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (pack, own) = (dir.path().join("mine.rw"), dir.path().join("README.md"));
    fs::write(&pack, "pack mine\nimport std.core\nrule zero(x: i32): iadd(x, 0) => x\n").unwrap();
    let doc = |folder: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        command.current_dir(dir.path()).args(["doc", "mine.rw", "-o", folder]).output().unwrap()
    };
    fs::write(&own, "# Mine\n").unwrap();
    let ran = doc(".");
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("README.md is there already"), "{ran:?}");
    assert_eq!(fs::read_to_string(&own).unwrap(), "# Mine\n");
    assert!(!dir.path().join("mine.md").exists());
    // Pages of an earlier run make room.
    assert_eq!((doc("pages").status.code(), doc("pages").status.code()), (Some(0), Some(0)));
}

#[test]
fn every_rule_that_ships_has_an_entry_with_its_evidence() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stdlib_rules");
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command.arg("doc").arg(&shipped).arg("-o").arg(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let mut files: Vec<_> = fs::read_dir(shipped.join("std")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push(shipped.join("std.rw"));
    files.sort();
    let loaded = packs::load(files.iter().map(|file| packs::root(file).unwrap()).collect());
    let expected = fs::read_to_string(shipped.join("verify.expected")).unwrap();
    let recorded: BTreeMap<&str, &str> = expected.lines().filter_map(|line| line.split_once(": ")).collect();
    let pages: BTreeMap<String, String> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), fs::read_to_string(path).unwrap()))
        .collect();

    let mut wanted = BTreeSet::new();
    for rule in loaded.program.rules.iter().filter(|rule| !rule.law) {
        // A way back is told of where the way there is.
        let family = &loaded.program.rule(rule.family).name;
        let name = family.strip_suffix(".back").unwrap_or(family);
        let mut parts = name.rsplitn(3, '.');
        let (short, set, pack) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let page = pages.get(&format!("{pack}.md")).unwrap_or_else(|| panic!("no page of {pack}"));
        let entries = entries(page);
        let entry = entries.get(&format!("{set}.{short}")).unwrap_or_else(|| panic!("{name} has no entry"));
        assert!(entry.contains(short) && entry.contains("```"), "{name}: {entry}");
        if let Some(verdicts) = recorded.get(rule.name.as_str()) {
            assert!(entry.contains(verdicts), "{}: {verdicts} is not in {entry}", rule.name);
        }
        wanted.insert(name.to_string());
    }
    assert!(wanted.len() > 1_000, "{}", wanted.len());
    links_lead_somewhere(&pages);
}

fn links_lead_somewhere(pages: &BTreeMap<String, String>) {
    let mut links = 0;
    for (name, page) in pages {
        let headings: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')).collect();
        // Code has brackets, too.
        let mut code = false;
        for line in page.lines() {
            code ^= line.starts_with("```");
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
            for target in targets.filter(|_| !code) {
                links += 1;
                match target.strip_prefix('#') {
                    Some(anchor) => {
                        let text = anchor
                            .rsplit_once('-')
                            .filter(|(_, n)| n.parse::<u32>().is_ok())
                            .map_or(anchor, |(text, _)| text);
                        assert!(headings.contains(&text) || headings.contains(&anchor), "{name}: {target}");
                    }
                    None => assert!(pages.contains_key(target), "{name}: {target}"),
                }
            }
        }
    }
    assert!(links > 2 * pages.len(), "{links}");
}
