//! Files of a crate do not import each other in circles: what two of them need is below both.
//!
//! A file and the files of its own folder (`a.rs` and `a/b.rs`) are one subject, so imports between the two do not
//! count. A name that a file re-exports belongs to the file that it is from.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module's place in its crate.
type Module = Vec<String>;

/// What a file says to other files.
#[derive(Default)]
struct Imports {
    /// Paths that it names.
    paths: Vec<Vec<String>>,
    /// Names that it re-exports, and where they are from.
    exports: BTreeMap<String, Vec<String>>,
}

/// Words, `::`, and single characters, without comments, texts and what is compiled for tests.
fn tokens(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let mut found: Vec<String> = vec![];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            quoted(rest)
        } else if let Some(end) = raw(rest) {
            end
        } else if first == '\'' {
            character(rest)
        } else if word > 0 {
            found.push(rest[..word].to_string());
            word
        } else {
            let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            if !first.is_whitespace() {
                found.push(rest[..length].to_string());
            }
            length
        };
        rest = &rest[length..];
    }
    found
}

/// The length of a text in quotes.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The length of a raw text.
fn raw(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('r')?;
    let marks = inside.find(|c| c != '#')?;
    inside[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    let start = marks + 2;
    Some(text[start..].find(&end).map_or(text.len(), |at| start + at + end.len()))
}

/// The length of a character in quotes, or of the mark of a lifetime.
fn character(text: &str) -> usize {
    let rest = &text[1..];
    if let Some(escape) = rest.strip_prefix('\\') {
        return escape.chars().next().and_then(|c| escape[c.len_utf8()..].find('\'')).map_or(1, |at| at + 4);
    }
    let first = rest.chars().next().map_or(0, char::len_utf8);
    if rest[first..].starts_with('\'') { first + 2 } else { 1 }
}

/// The paths of a tree of imports, and what each is called.
fn tree(tokens: &[String], prefix: &[String]) -> Vec<(Vec<String>, String)> {
    let mut path = prefix.to_vec();
    for (i, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "::" => {}
            "as" => {
                let name = tokens.get(i + 1).cloned().unwrap_or_default();
                return vec![(path, name)];
            }
            "{" => {
                let (mut depth, mut start, mut found) = (0, i + 1, vec![]);
                for (n, token) in tokens.iter().enumerate().skip(i) {
                    depth += i32::from(token == "{") - i32::from(token == "}");
                    if depth == 0 || (depth == 1 && token == ",") {
                        found.extend(tree(&tokens[start..n], &path));
                        start = n + 1;
                    }
                }
                return found;
            }
            _ => path.push(token.clone()),
        }
    }
    let name = path.last().cloned().unwrap_or_default();
    if path.len() == prefix.len() { vec![] } else { vec![(path, name)] }
}

fn imports(text: &str) -> Imports {
    let tokens = tokens(text);
    let mut found = Imports::default();
    let mut at = 0;
    while at < tokens.len() {
        let is_path = |n: usize| tokens.get(n + 1).is_some_and(|next| next == "::") && tokens[n] != ":";
        if tokens[at] == "use" && (at == 0 || matches!(tokens[at - 1].as_str(), ";" | "}" | "{" | "]" | "pub" | ")")) {
            let end = tokens[at..].iter().position(|token| token == ";").map_or(tokens.len(), |n| at + n);
            let public = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
            for (path, name) in tree(&tokens[at + 1..end], &[]) {
                if public {
                    found.exports.insert(name, path);
                } else {
                    found.paths.push(path);
                }
            }
            at = end;
        } else if is_path(at) && (at == 0 || tokens[at - 1] != "::") {
            let mut path = vec![tokens[at].clone()];
            while tokens.get(at + 1).is_some_and(|next| next == "::") && at + 2 < tokens.len() {
                path.push(tokens[at + 2].clone());
                at += 2;
            }
            found.paths.push(path);
        }
        at += 1;
    }
    found
}

/// A crate's modules that have files, without those for tests.
fn modules(source: &Path) -> BTreeMap<Module, Imports> {
    let (mut folders, mut found) = (vec![source.to_path_buf()], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let relative = path.strip_prefix(source).expect("a file of the crate").with_extension("");
            let mut module: Module = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            let last = module.last().cloned().unwrap_or_default();
            if last == "tests" || last == "testing" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                if matches!(last.as_str(), "mod" | "lib" | "main") {
                    module.pop();
                }
                found.insert(module, imports(&fs::read_to_string(&path).expect("a text")));
            }
        }
    }
    found
}

/// A path from the top of the crate; `None` where it is another crate's or a name of the file itself.
fn absolute(modules: &BTreeMap<Module, Imports>, at: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut base = at.to_vec();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &path[1..];
        }
        "self" => rest = &path[1..],
        "super" => {
            while let Some(("super", tail)) = rest.split_first().map(|(first, tail)| (first.as_str(), tail)) {
                base.pop();
                rest = tail;
            }
        }
        first => {
            let child: Module = at.iter().cloned().chain([first.to_string()]).collect();
            modules.get(&child)?;
        }
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// The module that has what a path names. Re-exports are followed, which end: each leads to another file.
fn owner(modules: &BTreeMap<Module, Imports>, path: &[String], depth: usize) -> Module {
    let mut module: Module = vec![];
    for (i, part) in path.iter().enumerate() {
        let child: Module = module.iter().cloned().chain([part.clone()]).collect();
        if modules.contains_key(&child) {
            module = child;
            continue;
        }
        let export = modules.get(&module).and_then(|file| file.exports.get(part));
        if let Some(mut target) = export.and_then(|export| absolute(modules, &module, export))
            && depth > 0
        {
            target.extend(path[i + 1..].iter().cloned());
            return owner(modules, &target, depth - 1);
        }
        break;
    }
    module
}

/// By file: the files that it imports from, without those of the same subject.
fn edges(modules: &BTreeMap<Module, Imports>) -> BTreeMap<Module, BTreeSet<Module>> {
    let target = |module: &Module, path: &Vec<String>| {
        let target = owner(modules, &absolute(modules, module, path)?, 8);
        (!target.starts_with(module) && !module.starts_with(&target)).then_some(target)
    };
    let all = modules.iter();
    all.map(|(module, file)| (module.clone(), file.paths.iter().filter_map(|p| target(module, p)).collect())).collect()
}

/// Files that import themselves in the end.
fn in_circles(edges: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Module> {
    let comes_back = |module: &&Module| {
        let mut work: Vec<&Module> = edges[*module].iter().collect();
        let mut seen: BTreeSet<&Module> = BTreeSet::new();
        while let Some(next) = work.pop() {
            if next == *module {
                return true;
            }
            if seen.insert(next) {
                work.extend(edges.get(next).into_iter().flatten());
            }
        }
        false
    };
    edges.keys().filter(comes_back).cloned().collect()
}

/// All folders `src` of the workspace, with the names of their crates' folders.
fn sources() -> Vec<(String, PathBuf)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut folders, mut found) = (vec![top], vec![]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let name = path.file_name().expect("a name").to_string_lossy();
            if !path.is_dir() || name.starts_with('.') || name == "target" {
                continue;
            }
            if name == "src" && folder.join("Cargo.toml").exists() {
                let of = folder.file_name().expect("a name").to_string_lossy().into_owned();
                found.push((of, path));
            } else {
                folders.push(path);
            }
        }
    }
    found
}

#[test]
fn files_do_not_import_each_other_in_circles() {
    let sources = sources();
    assert!(sources.len() > 15, "{sources:?}");
    let mut wrong = vec![];
    for (name, source) in sources {
        let edges = edges(&modules(&source));
        for file in in_circles(&edges) {
            let to: Vec<String> = edges[&file].iter().map(|to| to.join("::")).collect();
            wrong.push(format!("{name}: {} imports {}", file.join("::"), to.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "files that import each other in circles:\n{}", wrong.join("\n"));
}

#[test]
fn circles_are_found() {
    let file = |text: &str| imports(text);
    let module = |name: &str| -> Module { name.split("::").map(str::to_string).collect() };
    let circles = |files: &[(&str, &str)]| -> Vec<String> {
        let modules = files.iter().map(|(name, text)| (module(name), file(text))).collect();
        in_circles(&edges(&modules)).iter().map(|module| module.join("::")).collect()
    };
    let twice = [("a", "use super::b::{self, Other as Name};"), ("b", "fn f() { crate::a::g(); }")];
    assert_eq!(circles(&twice), ["a", "b"]);
    // Through a third one, by a name that its folder re-exports.
    let around = [
        ("a", "use super::b::C;"),
        ("b", "mod c;\npub use c::C;"),
        ("b::c", "use crate::d::{D, e::{f, g}};"),
        ("d", "use crate::{a::A};"),
    ];
    assert_eq!(circles(&around), ["a", "b::c", "d"]);
    // Paths in comments and strings, in tests, or between a file and its own folder are not imports.
    let none = [
        ("a", "// use super::b::B;\nconst T: &str = \"use crate::b::B;\"; const C: char = '\"';"),
        ("b", "use super::a::A;\n#[cfg(test)]\nmod tests { use crate::c::C; }"),
        ("c", "use super::b::B; use c_d::E; mod d;"),
        ("c::d", "use super::F; fn f<'t>(x: &'t str) {}"),
    ];
    assert_eq!(circles(&none), [""; 0]);
}
