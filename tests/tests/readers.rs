//! Whatever a file holds, its reader gives an answer: it never panics, and ends in bounded time and memory.
//!
//! Inputs are texts of this tree with pieces cut out, doubled, moved, taken from another text, or in place of others a
//! word that means something; and soups of such words. `scripts/fuzz.sh` tries others for as long as one likes.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says why")]

use proptest::collection::vec;
use proptest::prelude::*;
use rewright_cfg_skeleton::ir::parse::parse as parse_module;
use rewright_clif as clif;
use rewright_dsl::load::{Origin, Root};
use rewright_dsl::program::Program;
use rewright_extract::serialized;
use rewright_llvm as llvm;
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_packs as packs;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{LazyLock, Once};
use std::time::Duration;

/// How long one text may take, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that a process may map. A reader needs a small part of it, and more where it grows without bound.
const MEMORY: u64 = 6 << 30;

/// Texts of the tree that are longer are left out, so that there are many cases rather than long ones.
const LONGEST: usize = 20_000;

/// Words that readers know, and those that they may stumble over.
const WORDS: [&str; 78] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "=",
    "=>",
    "<=>",
    "->",
    "|",
    "\"",
    "'",
    "\\",
    "//",
    "/*",
    "%",
    "@",
    "!",
    "#",
    "*",
    "-",
    "0",
    "-1",
    "1.5",
    "1e999",
    "0x",
    "0xffffffffffffffff",
    "9223372036854775808",
    "99999999999999999999999999",
    "i8",
    "i32",
    "i64",
    "i128",
    "f32",
    "f64",
    "i8x16",
    "ptr",
    "i0",
    "i8388608",
    "v4294967295",
    "block4294967295",
    "%0",
    "@f",
    "\u{0}",
    "\u{feff}",
    "\u{e9}",
    "\u{1f600}",
    "\n",
    "\r\n",
    "\t",
    "function",
    "func",
    "define",
    "declare",
    "rule",
    "pack",
    "import",
    "fn",
    "type",
    "when",
    "fires",
    "becomes",
    "match",
    "null",
    "true",
    "[[[[[[[[",
    "((((((((",
    "{{{{{{{{",
    "<{<{<{",
    "target datalayout",
    "x",
    "...",
];

/// A change of a text. Places are shares of its length, so that they stay where they are while a case shrinks.
#[derive(Clone, Debug)]
enum Edit {
    /// From here, this many characters.
    Cut(u16, u8),
    /// The same once more, there.
    Double(u16, u8, u16),
    /// A word in front of this place.
    Word(u16, usize),
    /// A word in place of this many characters.
    Replace(u16, u8, usize),
    /// A part of another text.
    Splice(u16, u16, u16, u8),
    /// Everything from here on is gone.
    End(u16),
    /// The same again and again, this many times.
    Repeat(u16, u8, u16),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<u16>(), any::<u8>()).prop_map(|(at, n)| Edit::Cut(at, n)),
        (any::<u16>(), any::<u8>(), any::<u16>()).prop_map(|(at, n, to)| Edit::Double(at, n, to)),
        (any::<u16>(), 0..WORDS.len()).prop_map(|(at, word)| Edit::Word(at, word)),
        (any::<u16>(), 0..12u8, 0..WORDS.len()).prop_map(|(at, n, word)| Edit::Replace(at, n, word)),
        (any::<u16>(), any::<u16>(), any::<u16>(), any::<u8>())
            .prop_map(|(at, text, from, n)| Edit::Splice(at, text, from, n)),
        any::<u16>().prop_map(Edit::End),
        (any::<u16>(), 0..6u8, 0..3000u16).prop_map(|(at, n, times)| Edit::Repeat(at, n, times)),
    ]
}

/// A text to read, as bytes: some of them are no text.
#[derive(Clone, Debug)]
enum Input {
    Edited(u16, Vec<Edit>),
    Soup(Vec<usize>),
    Bytes(u16, Vec<(u16, u8)>),
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        6 => (any::<u16>(), vec(edit(), 0..6)).prop_map(|(text, edits)| Input::Edited(text, edits)),
        2 => vec(0..WORDS.len(), 0..200).prop_map(Input::Soup),
        1 => (any::<u16>(), vec((any::<u16>(), any::<u8>()), 0..8)).prop_map(|(text, bytes)| Input::Bytes(text, bytes)),
    ]
}

impl Input {
    fn bytes(&self, texts: &[String]) -> Vec<u8> {
        let text = |n: u16| &texts[usize::from(n) % texts.len()];
        match self {
            Input::Soup(words) => words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ").into_bytes(),
            Input::Bytes(n, changes) => {
                let mut bytes = text(*n).clone().into_bytes();
                for (at, byte) in changes {
                    let at = share(*at, bytes.len());
                    bytes.splice(at..at, [*byte]);
                }
                bytes
            }
            Input::Edited(n, edits) => {
                let mut chars: Vec<char> = text(*n).chars().collect();
                edits.iter().for_each(|edit| edit.make(&mut chars, texts));
                chars.into_iter().collect::<String>().into_bytes()
            }
        }
    }
}

/// A place among `length` and its end.
fn share(at: u16, length: usize) -> usize {
    usize::from(at) * (length + 1) / (usize::from(u16::MAX) + 1)
}

impl Edit {
    fn make(&self, text: &mut Vec<char>, texts: &[String]) {
        let part = |at: u16, n: u8| share(at, text.len())..(share(at, text.len()) + usize::from(n)).min(text.len());
        match *self {
            Edit::Cut(at, n) => drop(text.drain(part(at, n))),
            Edit::Double(at, n, to) => {
                let piece = text[part(at, n)].to_vec();
                let to = share(to, text.len());
                text.splice(to..to, piece);
            }
            Edit::Word(at, word) => {
                let at = share(at, text.len());
                text.splice(at..at, format!(" {} ", WORDS[word]).chars());
            }
            Edit::Replace(at, n, word) => drop(text.splice(part(at, n), WORDS[word].chars())),
            Edit::Splice(at, other, from, n) => {
                let other: Vec<char> = texts[usize::from(other) % texts.len()].chars().collect();
                let from = share(from, other.len());
                let piece = other[from..(from + usize::from(n)).min(other.len())].to_vec();
                let at = share(at, text.len());
                text.splice(at..at, piece);
            }
            Edit::End(at) => text.truncate(share(at, text.len())),
            Edit::Repeat(at, n, times) => {
                let part = part(at, n);
                let piece = text[part.clone()].repeat(usize::from(times));
                text.splice(part, piece);
            }
        }
    }
}

/// The texts of this tree with an extension, in the order of their names.
fn texts(extension: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<PathBuf> =
        ["tests", "examples", "stdlib_rules", "dsl/tests"].map(|folder| root.join(folder)).into();
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some(OsStr::new(extension)) {
                found.push(path);
            }
        }
    }
    found.sort();
    let short = |text: &String| text.len() <= LONGEST;
    let texts: Vec<String> = found.iter().filter_map(|path| fs::read_to_string(path).ok()).filter(short).collect();
    assert!(!texts.is_empty(), "there is no .{extension} in this tree");
    texts
}

/// This many cases, times `REWRIGHT_FUZZ` where that is set.
fn cases(count: u32) -> ProptestConfig {
    let times = std::env::var("REWRIGHT_FUZZ").map_or(1, |times| times.parse().expect("REWRIGHT_FUZZ is a number"));
    ProptestConfig { cases: count * times, failure_persistence: None, ..ProptestConfig::default() }
}

/// Reads a text, and ends the process where that takes too long: nothing else can end a thread.
fn bounded(input: &[u8], read: impl FnOnce(&[u8])) {
    static LIMITED: Once = Once::new();
    LIMITED.call_once(|| {
        let maximum = getrlimit(Resource::As).maximum;
        setrlimit(Resource::As, Rlimit { current: Some(MEMORY), maximum }).unwrap();
    });
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                eprintln!("no end after {PATIENCE:?}: {}", String::from_utf8_lossy(input));
                std::process::abort();
            }
        });
        read(input);
        drop(done);
    });
}

static PROGRAM: LazyLock<Program> = LazyLock::new(|| packs::load(vec![packs::root(Path::new("std")).unwrap()]).program);

static LLVM: LazyLock<LlvmOptimiser> = LazyLock::new(|| LlvmOptimiser::new(PROGRAM.clone()));

macro_rules! texts {
    ($name:ident, $extension:literal) => {
        static $name: LazyLock<Vec<String>> = LazyLock::new(|| texts($extension));
    };
}
texts!(PACKS, "rw");
texts!(CLIF, "clif");
texts!(LL, "ll");
texts!(OWN, "ir");

/// There are few in the tree: e-graphs are what other programs write.
static EGRAPHS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let node = |id: u32, class: u32, children: &str| {
        format!(r#""n{id}": {{ "op": "f{id}", "eclass": "c{class}", "cost": {id}.5, "children": [{children}] }}"#)
    };
    let nodes = [node(0, 0, ""), node(1, 1, r#""n0", "n0""#), node(2, 1, r#""n1""#), node(3, 2, r#""n1", "n0", "n3""#)];
    let plain = format!(r#"{{ "nodes": {{ {} }}, "root_eclasses": ["c2", "c1"]"#, nodes.join(", "));
    let tree = r#""block_tree": { "blocks": [{ "id": "a" }, { "id": "b", "parent": "a", "frequency": 10 }],
        "roots": [{ "eclass": "c2", "block": "b" }], "pinned": { "n1": "a" } }"#;
    vec![format!("{plain} }}"), format!("{plain}, {tree} }}"), format!("{plain}, \"class_data\": {{}} }}")]
});

#[test]
fn packs_are_read() {
    proptest!(cases(1500), |(input in input())| bounded(&input.bytes(&PACKS), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = rewright_dsl::syntax::parse(0, &text);
        let _ = rewright_dsl::fmt::format(&text);
    }));
}

#[test]
fn packs_are_checked() {
    proptest!(cases(60), |(input in input())| bounded(&input.bytes(&PACKS), |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let loaded = packs::load(vec![Root { origin: Origin::Disk("pack.rw".into()), text, library: false }]);
        let _ = rewright_dsl::diagnostic::render(&loaded.diagnostics, &loaded.sources, false);
    }));
}

#[test]
fn clif_is_read() {
    proptest!(cases(1500), |(input in input())| bounded(&input.bytes(&CLIF), |bytes| {
        if let Ok(file) = clif::read::read_bytes(bytes) {
            let _ = rewright_native::runtest::directives(&file);
            let _ = clif::read::write(&file, &vec![None; file.functions.len()]);
        }
    }));
}

#[test]
fn llvm_ir_is_read() {
    proptest!(cases(1500), |(input in input())| bounded(&input.bytes(&LL), |bytes| {
        if let Ok(file) = llvm::module::read_bytes(bytes.to_vec()) {
            // A function that nothing replaces goes out byte for byte.
            let same = llvm::module::write(&file, &vec![None; file.functions.len()], &[]);
            assert_eq!(same.as_bytes(), bytes);
            let _ = LLVM.import(&file, |_| true);
        }
    }));
}

#[test]
fn own_text_is_read() {
    proptest!(cases(1500), |(input in input())| bounded(&input.bytes(&OWN), |bytes| {
        let _ = parse_module(&String::from_utf8_lossy(bytes), &mut PROGRAM.universe.clone());
    }));
}

#[test]
fn e_graphs_are_read() {
    proptest!(cases(6000), |(input in input())| bounded(&input.bytes(&EGRAPHS), |bytes| {
        if let Ok(read) = serialized::read(&String::from_utf8_lossy(bytes), None) {
            // What extraction promises of costs.
            assert!(read.graph.classes.iter().flatten().all(|node| node.cost.is_finite() && node.cost >= 0.0));
        }
    }));
}
