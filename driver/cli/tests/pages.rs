//! `rewright doc` of the packs that ship: an entry per rule, the evidence that is recorded, links that lead somewhere.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_packs as packs;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Headings of what is no ruleset; a function has an entry for each overload.
const OTHERS: [&str; 7] =
    ["Types", "Effects", "Facts", "Functions", "Costs of other packs' functions", "Schedules", "Examples"];

/// The headings of a page as `ruleset.rule`, with the text below each.
fn entries(page: &str) -> BTreeMap<String, String> {
    let (mut set, mut found, mut entry) = ("", BTreeMap::new(), None);
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            (set, entry) = (name, None);
        } else if let Some(name) = line.strip_prefix("### ").filter(|_| !OTHERS.contains(&set)) {
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
    // Other declarations of packs have entries, too, one for each overload.
    let core = &pages["std.core.md"];
    for (kind, name) in
        loaded.program.universe.ops.iter().map(|(_, op)| ("###", op)).filter(|(_, op)| op.pack == "std.core")
    {
        let own = name.name.strip_prefix("std.core.").unwrap_or(&name.name);
        assert!(core.contains(&format!("\n{kind} {own}\n")), "{own}");
    }
    for part in ["\n## Types\n", "\n### ptr\n", "\n## Functions\n", "fn iadd{T <: Int}(x: T, y: T) -> T"] {
        assert!(core.contains(part), "{part}");
    }
    links_lead_somewhere(&pages);
}

fn links_lead_somewhere(pages: &BTreeMap<String, String>) {
    let mut links = 0;
    for (name, page) in pages {
        let headings =
            page.lines().filter_map(|line| line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' '));
        let anchors: Vec<String> =
            headings.map(|text| text.to_lowercase().replace(' ', "-").replace('\'', "")).collect();
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
                        let has = |wanted: &str| anchors.iter().any(|anchor| anchor == wanted);
                        assert!(has(text) || has(anchor), "{name}: {target}");
                    }
                    None => assert!(pages.contains_key(target), "{name}: {target}"),
                }
            }
        }
    }
    assert!(links > 2 * pages.len(), "{links}");
}

/// The articles of a page by their anchors.
fn articles(page: &str) -> BTreeMap<&str, &str> {
    let parts = page.split("<article class=\"entry\" id=\"").skip(1);
    parts
        .map(|part| {
            let (anchor, rest) = part.split_once('"').unwrap();
            (anchor, rest.split_once("</article>").unwrap().0)
        })
        .collect()
}

fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let begin = format!(" {name}=\"");
    page.split(begin.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The pages of HTML that the packs at a path make.
fn site(path: &Path) -> BTreeMap<String, String> {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command.arg("doc").arg(path).args(["--format", "html", "-o"]).arg(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn the_site_has_all_declarations_and_links_them_both_ways() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stdlib_rules");
    let files = site(&shipped);
    let is_html = |name: &&String| name.ends_with(".html");
    let pages: BTreeMap<&str, &str> =
        files.iter().filter(|(name, _)| is_html(name)).map(|(name, page)| (name.as_str(), page.as_str())).collect();
    let ids: BTreeMap<&str, BTreeSet<&str>> =
        pages.iter().map(|(name, page)| (*name, attributes(page, "id").into_iter().collect())).collect();
    for (name, page) in &pages {
        assert_eq!(attributes(page, "id").len(), ids[name].len(), "{name}: an anchor twice");
        for link in attributes(page, "href") {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { name } else { file };
            assert!(files.contains_key(file), "{name}: {link}");
            assert!(anchor.is_empty() || ids[file].contains(anchor), "{name}: {link}");
        }
        for script in attributes(page, "src") {
            assert!(files.contains_key(script), "{name}: {script}");
        }
    }
    let entries: BTreeMap<&str, BTreeMap<&str, &str>> =
        pages.iter().map(|(name, page)| (*name, articles(page))).collect();
    let (mut both_ways, mut rules) = (0, 0);
    for (page, articles) in &entries {
        for (anchor, article) in articles.iter().filter(|(anchor, _)| anchor.starts_with("rule.")) {
            rules += 1;
            let text = article.split("<pre>").nth(1).unwrap().split("</pre>").next().unwrap();
            let targets = attributes(text, "href");
            assert!(!targets.is_empty(), "{page}#{anchor} names nothing");
            for (file, target) in targets.iter().map(|link| link.split_once('#').unwrap()) {
                assert!(
                    entries[file][target].contains(&format!("\"{page}#{anchor}\"")),
                    "{file}#{target}: no {anchor}"
                );
                both_ways += 1;
            }
        }
    }
    assert!(rules > 1_000 && both_ways > 5_000, "{rules} rules, {both_ways} links");
    let core = &entries["std.core.html"];
    for part in ["fn.iadd", "fn.load", "type.i8", "type.ptr"] {
        assert!(core.contains_key(part), "{part}");
    }
    assert!(core["fn.iadd"].contains("<a href=\"#fn.iadd\">iadd</a>") && core["fn.iadd"].contains("@clif"));
    // Everything with a place of its own is found.
    let index = &files["search-index.js"];
    for (page, articles) in &entries {
        for anchor in articles.keys().filter(|anchor| !anchor.starts_with("example")) {
            assert!(index.contains(&format!("\"{page}#{anchor}\"")), "{page}#{anchor} is not in the index");
        }
    }
    let recorded = fs::read_to_string(shipped.join("verify.expected")).unwrap();
    let recorded = recorded.lines().filter(|line| !line.starts_with('#'));
    let verdicts: Vec<(&str, &str)> = recorded.filter_map(|line| line.split_once(": ")).collect();
    let shown = |(rule, verdicts): &(&str, &str)| {
        let Some((pack, _)) = rule.match_indices('.').nth(1).map(|(at, _)| rule.split_at(at)) else { return false };
        pages.get(format!("{pack}.html").as_str()).is_some_and(|page| page.contains(verdicts))
    };
    assert!(verdicts.iter().all(shown), "{:?}", verdicts.iter().find(|verdict| !shown(verdict)));
}

/// The contents of packs are text on pages; the packs that one imports have pages, too.
#[test]
fn a_site_of_a_pack_holds_what_it_imports_and_no_foreign_tags() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("index.rw"),
        "//! About <script>alert(1)</script>.\npack index\nimport std.core\n/// A <img src=x> `<b>`.\ntype Box\n\
         fn size(b: Box) -> i32\nruleset r {\n  rule zero(b: Box): iadd(size(b), 0) => size(b)\n\
         \x20 example \"</script><i>\" (b: Box) fires zero: size(b) + 0 becomes size(b)\n}\n",
    )
    .unwrap();
    let files = site(&dir.path().join("index.rw"));
    let page = &files["index-pack.html"];
    for tag in ["<script>", "<img", "<i>", "<b>"] {
        assert!(!page.contains(tag), "{tag}: {page}");
    }
    let entries = articles(page);
    let rule = entries["rule.r.zero"];
    // An operator leads to its function, and the example stands with its rule.
    assert_eq!(rule.matches("href=\"std.core.html#fn.iadd\"").count(), 2, "{rule}");
    assert!(rule.contains("href=\"index-pack.html#type.Box\"") && rule.contains("none is recorded"), "{rule}");
    assert!(entries["type.Box"].contains("index-pack.html#fn.size"), "{page}");
    assert!(articles(&files["std.core.html"])["fn.iadd"].contains("index-pack.html#rule.r.zero"));
    assert!(files["index.html"].contains("Imported by them"));
}
