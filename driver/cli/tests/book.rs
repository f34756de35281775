//! The pages in `docs/` are true: each file that they show is written, each command run, each output compared.
//!
//! In a page, a block of a language and a file's name is that file, a block `sh` is run in the folder of the page's
//! files, and a block `text` after it is what it prints, in this order and among other things; `[..]` stands for anything
//! in a line. A block `toml` alone is a `rewright.toml`. A block `LANGUAGE,listing` is for reading: commands
//! for files that are not there, settings of other programs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_project::manifest::Manifest;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A block of code.
struct Block {
    /// What stands behind its fence.
    info: String,
    text: String,
    line: usize,
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut open): (Vec<Block>, bool) = (vec![], false);
    for (line, text) in page.lines().enumerate() {
        match (text.strip_prefix("```"), open) {
            (Some(info), false) => {
                blocks.push(Block { info: info.to_string(), text: String::new(), line: line + 1 });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let block = blocks.last_mut().unwrap();
                block.text += text;
                block.text.push('\n');
            }
            (None, false) => {}
        }
    }
    blocks
}

/// Runs a block as a shell does, with this build's `rewright`; gives what it prints.
fn run(folder: &Path, text: &str, place: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_rewright")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(binary.to_path_buf()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", &format!("exec 2>&1\n{text}")]).current_dir(folder);
    // Cargo sets it for HiGHS.
    shell.env_remove("CMAKE_TOOLCHAIN_FILE");
    shell.env("PATH", path.unwrap()).env("REWRIGHT_CACHE", folder.join(".cache"));
    let output = shell.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{place}: {}\n{text}\n{said}", output.status);
    said
}

/// Does a line of an output hold what a page shows?
fn holds(line: &str, shown: &str) -> bool {
    let mut rest = line;
    shown.trim().split("[..]").all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

fn follow(page: &str) {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(docs().join(page)).unwrap();
    let mut said = String::new();
    for Block { info, text, line } in blocks(&text) {
        let place = format!("docs/{page}:{line}");
        match info.split_once(' ').map_or((info.as_str(), None), |(language, file)| (language, Some(file))) {
            (_, Some(file)) => fs::write(folder.path().join(file), text).unwrap(),
            ("sh", None) => said = run(folder.path(), &text, &place),
            ("text", None) => {
                let mut lines = said.lines();
                for shown in text.lines() {
                    let found = lines.any(|line| holds(line, shown));
                    assert!(found, "{place}: nothing printed `{shown}`, in this order:\n{said}");
                }
            }
            ("toml", None) => drop(Manifest::parse(&text).unwrap_or_else(|e| panic!("{place}: {e}"))),
            ("rw", None) => {
                fs::write(folder.path().join("block.rw"), &text).unwrap();
                run(folder.path(), "rewright check --strict block.rw", &place);
            }
            (listing, None) if listing.ends_with(",listing") => {}
            (other, None) => panic!("{place}: nothing is known of a block `{other}`"),
        }
    }
}

#[test]
fn the_tutorial_is_true() {
    follow("tutorial.md");
}

#[test]
fn recipes_of_builds_are_true() {
    follow("wrapping.md");
}

/// Bazel brings a Java with it, so it is not installed everywhere.
#[test]
#[ignore = "wants Debian's bazel-bootstrap: scripts/bazel.sh"]
fn the_recipe_of_bazel_is_true() {
    follow("bazel.md");
}

#[test]
fn the_other_pages_are_true() {
    let pages = fs::read_dir(docs()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = pages.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect();
    pages.sort();
    assert!(pages.len() > 5, "{pages:?}");
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    for page in &pages {
        assert!(summary.contains(&format!("({page})")), "SUMMARY.md does not lead to {page}");
    }
    for page in pages.iter().filter(|page| !["tutorial.md", "wrapping.md", "bazel.md"].contains(&page.as_str())) {
        follow(page);
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    for entry in fs::read_dir(docs()).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(text) = fs::read_to_string(&entry) else { continue };
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            let is_file = !link.contains("://") && !target.is_empty();
            assert!(!is_file || docs().join(target).exists(), "{}: {link} leads nowhere", entry.display());
            assert!(!target.starts_with(".."), "{}: {link} leads out of the book", entry.display());
        }
    }
}

/// A block's file is named in the text above it: readers do not see what stands behind the fence.
#[test]
fn files_of_blocks_are_named_to_readers() {
    for entry in fs::read_dir(docs()).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(text) = fs::read_to_string(&entry) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        for Block { info, line, .. } in blocks(&text) {
            let Some((_, file)) = info.split_once(' ') else { continue };
            let above: Vec<&str> = lines[..line - 1].iter().rev().skip_while(|l| l.is_empty()).copied().collect();
            let above = above.iter().take_while(|l| !l.is_empty());
            let is_named = above.into_iter().any(|l| l.contains(&format!("`{file}`")));
            assert!(is_named, "{}:{line}: name `{file}` above its block", entry.display());
        }
    }
}

/// Every word that the language has, mdBook shows as one.
#[test]
fn words_have_colours() {
    let script = fs::read_to_string(docs().join("rw.js")).unwrap();
    let shown: Vec<&str> = script.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let words = rewright_dsl::words::all().filter(|word| word.kind != "concept" && word.word != "_");
    let missing: Vec<&str> =
        words.map(|word| word.word).filter(|word| !word.starts_with('@') && !shown.contains(word)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
