//! A file of textual LLVM IR: kept as it is, with the bodies of its functions cut out and what its top level says
//! about them.
//!
//! Only what other parts ask for is read: definitions with their parameters, attributes of functions, named types,
//! the data layout. Attributes are texts in an open list.
//!
//! **Invariant**: [`write()`] with nothing replaced gives back the same bytes, whatever the text is.

use super::alias_metadata;
use super::cursor::Cursor;
use super::error::NotUnderstood;
use super::lex::{Kind, tokens};
use super::loop_metadata;
use super::top_level::{self, Mistake};
use super::types::{self, Named, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Why a text is no file of LLVM IR.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The bytes are LLVM's binary format.
    #[error("this is LLVM bitcode: print it as text first (`llvm-dis`, or `clang -S -emit-llvm`)")]
    Bitcode,
    /// The bytes are no text.
    #[error("not UTF-8 text at byte {0}")]
    Encoding(usize),
    /// A function has no end.
    #[error("{line}:1: the body of {name} has no closing brace: the file is cut off")]
    Truncated {
        /// Counted from 1.
        line: usize,
        /// With its sigil.
        name: String,
    },
    /// A function's head cannot be read.
    #[error("{line}:1: {reason}")]
    Head {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: NotUnderstood,
    },
    /// A line outside of functions is nothing that a file can say there.
    #[error(
        "{line}:1: `{begin}` is nothing that LLVM IR has outside of functions (`define`, `declare`, `@name =`, ..): is this a \
         file of LLVM IR?"
    )]
    TopLevel {
        /// Counted from 1.
        line: usize,
        /// The first characters of the line.
        begin: String,
    },
    /// A line outside of functions is not one whole entity.
    #[error("{line}:1: `{begin}` is not on a line of its own: write each entity on one line, as `opt -S` does")]
    NotWhole {
        /// Counted from 1.
        line: usize,
        /// The first characters of the line.
        begin: String,
    },
}

/// This many characters of a line that is not read are shown.
const SHOWN: usize = 40;

/// Why no function of a file is understood whose [`File::known_layout`] does not hold.
pub const UNKNOWN_LAYOUT: &str = "the target's layout is not known: it must be 64-bit, little-endian, and stated \
                                  (`target datalayout`, `target triple`)";

/// Linkages of functions that other files cannot call, or have a definition of their own for.
const INLINE: [&str; 5] = ["internal", "private", "available_externally", "linkonce", "linkonce_odr"];

/// A parameter of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name, `%0` where the text leaves it out.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// `noundef`, `sret(%struct.V)`, ...
    pub attributes: Vec<String>,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Definition {
    /// With its sigil: `@f`.
    pub name: String,
    /// The line of its `define`, counted from 1.
    pub line: usize,
    /// Where its body is: after the line of the opening brace, up to the closing one.
    pub body: Range<usize>,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Words before that: linkage, calling convention, attributes of the result.
    pub before: Vec<String>,
    /// The type of its result.
    pub result: Type,
    /// It takes further arguments.
    pub variadic: bool,
    /// Attributes, groups resolved.
    pub attributes: Vec<String>,
}

impl Definition {
    /// The line with its `define`.
    pub fn head<'f>(&self, file: &'f File) -> &'f str {
        file.text[..self.body.start].trim_end().rsplit('\n').next().unwrap_or_default()
    }

    /// Is it a `static` or `inline` function, which files bring a definition of their own for?
    pub fn is_inline(&self) -> bool {
        self.before.iter().any(|word| INLINE.contains(&word.as_str()))
    }
}

/// A file.
#[derive(Clone, Debug)]
pub struct File {
    /// All of it.
    pub text: String,
    /// Functions with bodies, in order.
    pub functions: Vec<Definition>,
    /// Functions without bodies, by name.
    pub declarations: FxHashMap<String, Definition>,
    /// Attributes of declared and defined functions, groups resolved.
    pub attributes: FxHashMap<String, Vec<String>>,
    /// Attribute groups: `#3`.
    pub groups: FxHashMap<String, Vec<String>>,
    /// Named types that are not opaque.
    pub named: Named,
    /// Metadata of loops that make progress: `!7`.
    pub progressing_loops: FxHashSet<String>,
    /// Metadata nodes that say what accesses alias, with those that they are made of: `!7`.
    pub alias_nodes: FxHashMap<String, String>,
    /// Functions with a block whose address is taken.
    pub block_addresses: FxHashSet<String>,
    /// Global variables that are defined here, no two of which have memory in common.
    pub variables: FxHashSet<String>,
    /// The text of `target datalayout`, empty where there is none.
    pub data_layout: String,
    /// Pointers have 64 bits, bytes are in little-endian order, scalars are aligned to their size.
    pub known_layout: bool,
}

/// Reads a file from bytes.
pub fn read_bytes(bytes: Vec<u8>) -> Result<File, ReadError> {
    text(bytes).and_then(read)
}

/// The text of a file.
pub fn text(bytes: Vec<u8>) -> Result<String, ReadError> {
    if is_bitcode(&bytes) {
        return Err(ReadError::Bitcode);
    }
    String::from_utf8(bytes).map_err(|error| ReadError::Encoding(error.utf8_error().valid_up_to()))
}

/// Is a file bitcode, perhaps in a wrapper?
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(&[0xde, 0xc0, 0x17, 0x0b])
}

/// Reads a file.
pub fn read(text: String) -> Result<File, ReadError> {
    let mut file = File {
        text: String::new(),
        functions: vec![],
        declarations: FxHashMap::default(),
        attributes: FxHashMap::default(),
        groups: FxHashMap::default(),
        named: Named::default(),
        progressing_loops: loop_metadata::progressing(&text),
        alias_nodes: alias_metadata::nodes(&text),
        block_addresses: block_addresses(&text),
        variables: FxHashSet::default(),
        data_layout: String::new(),
        known_layout: false,
    };
    let mut triple = String::new();
    let mut declared = vec![];
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let bare = line.trim();
        if let Some((head, body)) = open {
            if ends_body(bare) {
                let head_text = &text[head..body];
                let number = text[..head].matches('\n').count() + 1;
                let mut function = definition(head_text).map_err(|reason| ReadError::Head { line: number, reason })?;
                function.line = number;
                function.body = body..start;
                file.functions.push(function);
                open = None;
            } else if bare.starts_with('}') {
                return Err(not_whole(number, bare));
            }
            continue;
        }
        if !bare.starts_with("define ") {
            top_level::check(bare).map_err(|mistake| match mistake {
                Mistake::Foreign => ReadError::TopLevel { line: number + 1, begin: begin(bare) },
                Mistake::NotWhole => not_whole(number, bare),
            })?;
        }
        if bare.starts_with("define ") && bare.ends_with('{') {
            open = Some((start, at));
        } else if bare.starts_with("define ") {
            let reason = NotUnderstood::from("the head of a definition does not end in `{` on its line");
            return Err(ReadError::Head { line: number + 1, reason });
        } else if bare.starts_with("declare ") {
            if let Ok(function) = definition(bare) {
                declared.push((function.name.clone(), function.attributes.clone()));
                file.declarations.insert(function.name.clone(), function);
            }
        } else if bare.starts_with("attributes") {
            let tokens = tokens(bare);
            let mut cursor = Cursor::new(bare, &tokens);
            cursor.skip();
            let name = cursor.text().to_string();
            while !cursor.is_done() && !cursor.eat("{") {
                cursor.skip();
            }
            // A group that is written twice has the attributes of both.
            file.groups.entry(name).or_default().extend(attributes(&mut cursor));
        } else if bare.starts_with('@') {
            file.variables.extend(variable(bare));
        } else if bare.starts_with('%') {
            named_type(bare, &mut file.named);
        } else if let Some(value) = target(bare, "datalayout") {
            file.data_layout = value;
        } else if let Some(value) = target(bare, "triple") {
            triple = value;
        }
    }
    if let Some((head, body)) = open {
        let name = definition(&text[head..body]).map_or_else(|_| "a function".into(), |d| d.name);
        return Err(ReadError::Truncated { line: text[..head].matches('\n').count() + 1, name });
    }
    let wide = ["x86_64-", "aarch64-", "arm64-", "riscv64-"].iter().any(|arch| triple.starts_with(arch));
    let layout = &file.data_layout;
    file.known_layout = wide && layout.starts_with("e-") && !layout.contains("-p:32");
    for function in &mut file.functions {
        resolve(&mut function.attributes, &file.groups);
        declared.push((function.name.clone(), function.attributes.clone()));
    }
    for (name, mut list) in declared {
        resolve(&mut list, &file.groups);
        file.attributes.insert(name, list);
    }
    file.text = text;
    Ok(file)
}

/// The file again, with the bodies of some functions replaced, and declarations added at its end.
pub fn write(file: &File, replaced: &[Option<&str>], declarations: &[String]) -> String {
    let mut out = String::with_capacity(file.text.len());
    let mut at = 0;
    for (function, new) in file.functions.iter().zip(replaced) {
        if let Some(new) = new {
            out.push_str(&file.text[at..function.body.start]);
            out.push_str(new);
            at = function.body.end;
        }
    }
    out.push_str(&file.text[at..]);
    for declaration in declarations {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(declaration);
        out.push('\n');
    }
    out
}

/// Puts the attributes of groups in their place.
pub fn resolve(attributes: &mut Vec<String>, groups: &FxHashMap<String, Vec<String>>) {
    let (mentioned, mut own): (Vec<String>, Vec<String>) =
        std::mem::take(attributes).into_iter().partition(|a| a.starts_with('#'));
    own.extend(mentioned.iter().filter_map(|name| groups.get(name)).flatten().cloned());
    *attributes = own;
}

/// Attributes up to something that is no attribute: words with what stands in parentheses behind them, texts, groups.
pub fn attributes(cursor: &mut Cursor<'_>) -> Vec<String> {
    let mut found = vec![];
    loop {
        let start = cursor.at();
        match cursor.kind() {
            Some(Kind::Word) => {
                cursor.skip();
                if cursor.text() == "(" {
                    cursor.skip_group();
                } else if cursor.kind() == Some(Kind::Number) {
                    // `align 8`
                    cursor.skip();
                }
            }
            Some(Kind::Text) => {
                cursor.skip();
                if cursor.eat("=") {
                    cursor.skip();
                }
            }
            Some(Kind::Hash) => cursor.skip(),
            _ => return found,
        }
        found.push(cursor.since(start).to_string());
    }
}

/// Words and what belongs to them, up to where a type starts: linkage, calling convention, attributes.
pub fn skip_to_type(cursor: &mut Cursor<'_>) -> Vec<String> {
    let mut found = vec![];
    while cursor.kind() == Some(Kind::Word) && !types::starts(cursor) {
        let start = cursor.at();
        cursor.skip();
        if cursor.text() == "(" {
            cursor.skip_group();
        } else if cursor.kind() == Some(Kind::Number) {
            cursor.skip();
        }
        found.push(cursor.since(start).to_string());
    }
    found
}

/// Words of globals that are, or may become, what another name stands for, too.
const SHARED: [&str; 11] = [
    "alias",
    "available_externally",
    "common",
    "extern_weak",
    "external",
    "ifunc",
    "linkonce",
    "linkonce_odr",
    "weak",
    "weak_odr",
    "appending",
];

/// The name in `@a = global ..`, where nothing else may be in its place.
fn variable(line: &str) -> Option<String> {
    let tokens = tokens(line);
    let mut cursor = Cursor::new(line, &tokens);
    let name = cursor.text().to_string();
    cursor.skip();
    cursor.expect("=").ok()?;
    while cursor.kind() == Some(Kind::Word) {
        match cursor.text() {
            "global" | "constant" => return Some(name),
            word if SHARED.contains(&word) => return None,
            _ => cursor.skip(),
        }
        if cursor.text() == "(" {
            cursor.skip_group();
        }
    }
    None
}

/// The head of a definition or declaration.
fn definition(head: &str) -> Result<Definition, NotUnderstood> {
    let tokens = tokens(head);
    let mut cursor = Cursor::new(head, &tokens);
    cursor.skip();
    // `declare !dbg !5 i32 @f()`
    while cursor.kind() == Some(Kind::Metadata) {
        cursor.skip();
    }
    let before = skip_to_type(&mut cursor);
    let result = types::parse(&mut cursor)?;
    if cursor.kind() != Some(Kind::Global) {
        return Err(format!("no name of a function at `{}`", cursor.text()).into());
    }
    let name = cursor.text().to_string();
    cursor.skip();
    cursor.expect("(")?;
    let mut parameters: Vec<Parameter> = vec![];
    let (mut unnamed, mut variadic) = (0, false);
    while !cursor.is_done() && cursor.text() != ")" {
        if cursor.eat("...") {
            variadic = true;
            continue;
        }
        if cursor.eat(",") {
            continue;
        }
        let ty = types::parse(&mut cursor)?;
        let attributes = attributes(&mut cursor);
        let name = if cursor.kind() == Some(Kind::Local) {
            let name = cursor.text().to_string();
            cursor.skip();
            name
        } else {
            format!("%{unnamed}")
        };
        if name[1..].bytes().all(|b| b.is_ascii_digit()) {
            unnamed += 1;
        }
        parameters.push(Parameter { name, ty, attributes });
    }
    cursor.expect(")")?;
    let mut list = vec![];
    while !cursor.is_done() && cursor.text() != "{" {
        let before = cursor.at();
        list.extend(attributes(&mut cursor));
        if cursor.at() == before {
            cursor.skip();
        }
    }
    Ok(Definition { name, line: 0, body: 0..0, parameters, before, result, variadic, attributes: list })
}

fn named_type(line: &str, named: &mut Named) {
    let tokens = tokens(line);
    let mut cursor = Cursor::new(line, &tokens);
    let name = cursor.text().to_string();
    cursor.skip();
    if cursor.eat("=")
        && cursor.eat("type")
        && let Ok(ty) = types::parse(&mut cursor)
    {
        named.insert(name, ty);
    }
}

/// Does a line of a body end it: a brace, perhaps with a comment behind it?
fn ends_body(line: &str) -> bool {
    line.strip_prefix('}').is_some_and(|rest| rest.is_empty() || rest.trim_start().starts_with(';'))
}

/// The first characters of a line.
fn begin(line: &str) -> String {
    line.chars().take(SHOWN).collect()
}

fn not_whole(number: usize, line: &str) -> ReadError {
    ReadError::NotWhole { line: number + 1, begin: begin(line) }
}

/// The text in quotes of `target datalayout = "e"`.
fn target(line: &str, what: &str) -> Option<String> {
    let rest = line.strip_prefix("target")?.trim_start().strip_prefix(what)?;
    let quoted = rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    quoted.find('"').map(|end| quoted[..end].to_string())
}

fn block_addresses(text: &str) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for (at, _) in text.match_indices("blockaddress(") {
        let rest = &text[at + "blockaddress(".len()..];
        let line = rest.lines().next().unwrap_or("");
        if let Some(first) = tokens(line).first() {
            found.insert(line[first.start..first.end].to_string());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "; ModuleID = 'a'\ntarget datalayout = \"e-m:e-i64:64\"\n\
        target triple = \"x86_64-pc-linux-gnu\"\n%struct.V = type { double, i32 }\n%o = type opaque\n\n\
        define internal noundef i32 @f(ptr noundef sret(%struct.V) align 8 %0, i32, ...) local_unnamed_addr #0 \
        section \"a b\" !dbg !3 {\n  ret i32 0\n}\ndeclare !dbg !4 void @g(ptr nocapture) #1\n\
        define void @\"a b\"() {\nx:\n  br label %x\n}\n@t = global ptr blockaddress(@f, %x)\n\
        attributes #0 = { nounwind memory(argmem: read) \"k\"=\"v\" }\nattributes #1 = { noreturn }\n";

    #[test]
    fn unchanged_files_are_written_byte_for_byte() {
        for end in (0..FILE.len()).chain([FILE.len()]) {
            if let Ok(file) = read(FILE[..end].to_string()) {
                assert_eq!(write(&file, &vec![None; file.functions.len()], &[]), FILE[..end]);
            }
        }
    }

    #[test]
    fn what_the_top_level_says() {
        let file = read(FILE.to_string()).unwrap();
        let names: Vec<_> = file.functions.iter().map(|f| (f.name.as_str(), f.line)).collect();
        assert_eq!(names, [("@f", 7), ("@\"a b\"", 11)]);
        assert_eq!(
            file.attributes["@f"],
            ["local_unnamed_addr", "section", "\"a b\"", "nounwind", "memory(argmem: read)", "\"k\"=\"v\""]
        );
        assert_eq!(file.attributes["@g"], ["noreturn"]);
        let parameters: Vec<_> = file.functions[0].parameters.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(parameters, ["%0", "%1"]);
        assert_eq!(file.functions[0].parameters[0].attributes, ["noundef", "sret(%struct.V)", "align 8"]);
        assert!(file.block_addresses.contains("@f") && file.known_layout);
        assert_eq!(file.named.len(), 1);
        assert_eq!(&FILE[file.functions[1].body.clone()], "x:\n  br label %x\n");
        let text = write(&file, &[None, Some("NEW\n")], &["declare void @h()".into()]);
        assert_eq!(text, FILE.replace("x:\n  br label %x\n", "NEW\n") + "declare void @h()\n");
    }

    #[test]
    fn bad_files_are_messages() {
        assert_eq!(read_bytes(b"BC\xc0\xde1".to_vec()).err(), Some(ReadError::Bitcode));
        assert_eq!(read_bytes(b"a\xff".to_vec()).err(), Some(ReadError::Encoding(1)));
        let cut = read("\ndefine void @f() {\n  ret".into()).err();
        assert_eq!(cut, Some(ReadError::Truncated { line: 2, name: "@f".into() }));
        assert!(matches!(read("define void ( {\n}\n".into()), Err(ReadError::Head { line: 1, .. })));
        let foreign = read("; text\n\nhello world\n".into()).err();
        assert_eq!(foreign, Some(ReadError::TopLevel { line: 3, begin: "hello world".into() }));
        let indented = "  define void @f() {\n  ret void\n  } ; f\n";
        assert_eq!(read(indented.into()).map(|file| file.functions.len()), Ok(1));
        for parts in
            ["@t = global [1 x i32] [\n  i32 1]\n", "define void @f() {\n  ret void\n} define void @g() {\n}\n"]
        {
            assert!(matches!(read(parts.into()), Err(ReadError::NotWhole { .. })), "{parts}");
        }
        assert!(read("define i32* @f() {\n}\n".into()).err().is_some_and(|e| e.to_string().contains("typed pointers")));
    }
}
