//! A module as a run needs it: its layout, the bodies of functions that may run, its globals, its metadata.

use super::ReplayError;
use super::layout::Layout;
use crate::not_modelled::NotModelled;
use rewright_llvm::body::{self, Body};
use rewright_llvm::cursor::Cursor;
use rewright_llvm::lex::{Kind, tokens};
use rewright_llvm::module::{Definition, File};
use rewright_llvm::types::{self, Type};
use std::collections::{BTreeMap, BTreeSet};

/// That the address of a global is a number of the linker's: it may be null, and nothing need be there.
pub(crate) const ABSOLUTE: &str = "!absolute_symbol";

/// A global variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Global {
    pub(crate) ty: Type,
    /// The text of its initialiser, if this module has it.
    pub(crate) initial: Option<String>,
    /// It is never written.
    pub(crate) constant: bool,
    /// Other modules see it.
    pub(crate) visible: bool,
    /// In bytes; 0 where the text does not say.
    pub(crate) align: u64,
    /// Why it is not modelled.
    pub(crate) open: Option<String>,
}

/// A module, with what one function of it reaches.
pub(super) struct Program<'a> {
    pub(super) file: &'a File,
    pub(super) layout: Layout<'a>,
    /// Functions that are defined and reached.
    pub(super) functions: BTreeMap<&'a str, (&'a Definition, Result<Body, NotModelled>)>,
    /// Why floats of these functions do not behave as the standard says.
    pub(super) floats: Result<(), NotModelled>,
    /// Variables that are reached.
    pub(super) globals: BTreeMap<&'a str, Global>,
}

impl<'a> Program<'a> {
    /// What `definition` reaches in `file`, and the globals `also`; the reason where its module is not modelled.
    pub(super) fn new(file: &'a File, definition: &'a Definition, also: &[String]) -> Result<Program<'a>, ReplayError> {
        let layout = Layout::new(&file.data_layout, &file.named)?;
        let lines: BTreeMap<&str, &str> = file.text.lines().filter_map(global_line).collect();
        let bodies: BTreeMap<&str, &Definition> = file.functions.iter().map(|f| (f.name.as_str(), f)).collect();
        let mut program =
            Program { file, layout, functions: BTreeMap::new(), floats: Ok(()), globals: BTreeMap::new() };
        let mut work: BTreeSet<&str> = lines.keys().copied().filter(|name| also.iter().any(|n| n == name)).collect();
        work.insert(&definition.name);
        let mut seen = BTreeSet::new();
        while let Some(name) = work.pop_first() {
            if !seen.insert(name) {
                continue;
            }
            let text = if let Some(definition) = bodies.get(name) {
                program.functions.insert(name, (definition, body::read(file, definition).map_err(NotModelled::from)));
                &file.text[definition.body.clone()]
            } else if let Some(line) = lines.get(name) {
                program.globals.insert(name, global(line));
                line
            } else {
                continue;
            };
            let mentioned = tokens(text).into_iter().filter(|token| token.kind == Kind::Global);
            work.extend(mentioned.map(|token| &text[token.start..token.end]));
        }
        for (definition, _) in program.functions.values() {
            for attribute in &definition.attributes {
                match attribute.as_str() {
                    "null_pointer_is_valid" | "naked" | "presplitcoroutine" | "returns_twice" => {
                        let (function, attribute) = (definition.name.clone(), attribute.clone());
                        return Err(ReplayError::Attribute { function, attribute });
                    }
                    _ if changes_floats(attribute) => {
                        program.floats = Err(format!("floats where {} is `{attribute}`", definition.name).into());
                    }
                    _ => {}
                }
            }
        }
        Ok(program)
    }

    /// The operands of a metadata node of numbers: `!{i8 0, i8 2}`.
    pub(super) fn node(&self, name: &str) -> Option<&'a str> {
        let prefix = format!("{name} = ");
        self.file.text.lines().find_map(|line| line.strip_prefix(prefix.as_str()))
    }
}

/// Does an attribute of a function change what floats do?
fn changes_floats(attribute: &str) -> bool {
    let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
    match name.trim_matches('"') {
        "strictfp" => true,
        name if name.starts_with("denormal") => !matches!(value.trim_matches('"'), "ieee" | "ieee,ieee"),
        name if name.ends_with("-fp-math") => name != "no-trapping-math" && value.contains("true"),
        _ => false,
    }
}

/// The name that a line of the top level defines as a variable, and the rest of the line.
fn global_line(line: &str) -> Option<(&str, &str)> {
    line.starts_with('@').then_some(())?;
    let end = if line[1..].starts_with('"') { line[2..].find('"')? + 3 } else { line.find([' ', '='])? };
    Some((&line[..end], line[end..].trim_start().strip_prefix('=')?))
}

/// Words before `global` that change nothing for one thread in one module.
const HARMLESS: [&str; 13] = [
    "available_externally",
    "linkonce_odr",
    "weak_odr",
    "dso_local",
    "dso_preemptable",
    "hidden",
    "protected",
    "default",
    "unnamed_addr",
    "local_unnamed_addr",
    "dllexport",
    "dllimport",
    "=",
];

/// Reads what stands behind a name: `= internal constant i32 7, align 4`.
pub(crate) fn global(text: &str) -> Global {
    let line = tokens(text);
    let mut cursor = Cursor::new(text, &line);
    let mut global = Global { ty: Type::Void, initial: None, constant: false, visible: true, align: 0, open: None };
    let (mut declared, mut replaceable) = (false, false);
    loop {
        let word = cursor.text();
        cursor.skip();
        match word {
            "global" => break,
            "constant" => {
                global.constant = true;
                break;
            }
            "private" | "internal" => global.visible = false,
            "external" => declared = true,
            "weak" | "linkonce" | "common" | "externally_initialized" => replaceable = true,
            _ if HARMLESS.contains(&word) => {}
            _ => {
                global.open = Some(format!("a global that is `{word}`"));
                return global;
            }
        }
    }
    match types::parse(&mut cursor) {
        Ok(ty) => global.ty = ty,
        Err(reason) => {
            global.open = Some(reason.to_string());
            return global;
        }
    }
    let start = cursor.at();
    while !cursor.is_done() && cursor.text() != "," {
        if matches!(cursor.text(), "(" | "{" | "[" | "<") {
            cursor.skip_group();
        } else {
            cursor.skip();
        }
    }
    let initial = cursor.since(start).to_string();
    // Another module may say what is in it.
    let known = !(declared || initial.is_empty() || replaceable && global.constant);
    global.initial = known.then_some(initial);
    while !cursor.is_done() {
        match cursor.text() {
            "align" => global.align = cursor.next_text().parse().unwrap_or(0),
            ABSOLUTE => global.open = Some(format!("a global with `{ABSOLUTE}`")),
            _ => {}
        }
        cursor.skip();
    }
    global
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewright_llvm::module::read;

    #[test]
    fn what_a_function_reaches() {
        let text = "@a = constant [2 x ptr] [ptr @b, ptr null], align 16 ; two\n@b = external global i32\n\
            @\"c d\" = internal unnamed_addr global { i8, i32 } { i8 1, i32 2 }\n@e = global i8 0\n\
            @t = thread_local global i8 0\n@w = external global i8, !absolute_symbol !0\ndefine void @f() {\n  store ptr @a, ptr @\"c d\"\n  call void @g()\n  ret void\n}\n\
            define void @g() {\n  store i8 1, ptr @t\n  store i8 1, ptr @w\n  ret void\n}\ndefine void @h() {\n  ret void\n}\n";
        let file = read(text.into()).unwrap();
        let program = Program::new(&file, &file.functions[0], &[]).unwrap();
        assert_eq!(program.functions.keys().copied().collect::<Vec<_>>(), ["@f", "@g"]);
        assert_eq!(program.globals.keys().copied().collect::<Vec<_>>(), ["@\"c d\"", "@a", "@b", "@t", "@w"]);
        let a = &program.globals["@a"];
        assert_eq!((a.constant, a.align, a.initial.as_deref()), (true, 16, Some("[ptr @b, ptr null]")));
        assert!(!program.globals["@\"c d\""].visible && program.globals["@b"].initial.is_none());
        assert!(program.globals["@t"].open.is_some() && program.globals["@w"].open.is_some());
    }
}
