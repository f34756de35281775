//! The functions and arrays of a module.
//!
//! A file is a module, or what is in one. Calls mean functions of the module that they are in, so functions of modules within
//! that are named by their path, and not read.

use super::cursor::Cursor;
use super::{Parsed, function, without_locations};
use crate::lex::{Kind, Token, tokens};
use crate::syntax::{Declared, Function, Global, Interface, Module, Unsupported};

/// What of a file is inside of what.
#[derive(Default)]
struct Places {
    /// Names of the modules around, and of other regions.
    path: Vec<String>,
    /// The region that begins next is that of a module of this name.
    next: Option<String>,
    /// Modules that are in no other.
    outermost: usize,
}

/// Reads the text of a file.
pub(super) fn read(source: &str) -> Module {
    let tokens = without_locations(tokens(source));
    let mut cursor = Cursor::new(source, &tokens);
    let (mut module, mut places) = (Module::default(), Places::default());
    let (mut paths, mut declared): (Vec<usize>, Vec<(usize, Declared)>) = (vec![], vec![]);
    let mut globals = vec![];
    while cursor.peek().kind != Kind::End {
        let token = cursor.peek();
        let functions = module.functions.len();
        match (token.kind, token.text) {
            (Kind::Word, "func.func") | (Kind::Text, "\"func.func\"") => {
                let start = cursor.position();
                match function(&mut cursor) {
                    Ok((name, interface, Some(region))) => {
                        module.functions.push(Function { name, line: token.line, interface, body: Ok(region) });
                    }
                    Ok((name, interface, None)) => declared.push((places.path.len(), (name, interface))),
                    Err((name, reason)) => {
                        module.functions.push(unread(name, token.line, reason));
                        cursor.go_to(start);
                        cursor.skip_function();
                    }
                }
            }
            (Kind::Word | Kind::Text, _) if token.name().ends_with(".func") => {
                let (what, line) = (format!("functions of `{}` are not known", token.name()), token.line);
                let name = cursor.symbol_ahead();
                cursor.skip_function();
                module.functions.push(unread(name, line, Unsupported { line, what }));
            }
            (Kind::Word | Kind::Text, _) if ["module", "builtin.module"].contains(&token.name().as_str()) => {
                places.outermost += usize::from(places.path.is_empty());
                let attributes = places.module(&mut cursor);
                let layouts = attributes.into_iter().filter(|(name, _)| name.starts_with("dlti."));
                module.data_layout.extend(layouts.map(|(name, text)| format!("{name} = {text}; ")));
            }
            (Kind::Word | Kind::Text, _) if token.name() == "memref.global" => {
                let start = cursor.position();
                match global(&mut cursor, token) {
                    Ok((name, global)) => globals.push((places.path.join("::"), name, global)),
                    Err(_) => cursor.go_to(start + 1),
                }
            }
            (Kind::Mark, "{") => {
                let name = places.next.take().unwrap_or_else(|| "?".into());
                places.path.push(name);
                cursor.skip(1);
            }
            (Kind::Mark, "}") => {
                places.path.pop();
                cursor.skip(1);
            }
            _ => cursor.skip(1),
        }
        for function in &mut module.functions[functions..] {
            function.name = [places.path.clone(), vec![std::mem::take(&mut function.name)]].concat().join("::");
            paths.push(places.path.len());
        }
    }
    // One module around all is the file.
    let is_outside = |depth: usize| paths.contains(&depth) || declared.iter().any(|(d, _)| *d == depth);
    let own = usize::from(places.outermost == 1 && !is_outside(0));
    for (function, depth) in module.functions.iter_mut().zip(&paths) {
        function.name = function.name.splitn(own + 1, "::").last().unwrap_or_default().to_string();
        if *depth > own {
            let what = "functions of a module within another one are not compared".into();
            function.body = Err(Unsupported { line: function.line, what });
        }
    }
    module.declared = declared.into_iter().filter(|(depth, _)| *depth == own).map(|(_, found)| found).collect();
    let named = globals.into_iter().map(|(path, name, global)| (format!("{path}@{name}"), global));
    module.globals = named.collect();
    module
}

fn unread(name: String, line: u32, reason: Unsupported) -> Function {
    Function { name, line, interface: Interface::default(), body: Err(reason) }
}

impl Places {
    /// `module @m attributes {..}`, or `"builtin.module"() <{..}> (`: the attributes.
    fn module(&mut self, cursor: &mut Cursor<'_>) -> Vec<(String, String)> {
        let is_generic = cursor.next().kind == Kind::Text;
        let mut name = "?".to_string();
        if is_generic {
            let _ = cursor.accept("(") && cursor.accept(")");
        } else if cursor.peek().kind == Kind::Symbol {
            name = cursor.next().name();
        }
        let mut attributes = vec![];
        if (is_generic && cursor.peek().text == "<") || cursor.accept("attributes") {
            attributes = cursor.attributes().unwrap_or_default();
        }
        if let Some((_, found)) = attributes.iter().find(|(name, _)| name == "sym_name") {
            name = found.trim_matches('"').to_string();
        }
        self.next = Some(name);
        attributes
    }
}

/// `memref.global "private" constant @g : t = dense<..> {..}`, with its name.
fn global(cursor: &mut Cursor<'_>, first: Token<'_>) -> Parsed<(String, Global)> {
    if first.kind == Kind::Text {
        let op = cursor.op(0)?;
        let text = |name: &str| op.attribute(name).unwrap_or_default().trim_matches('"').to_string();
        let is_constant = op.attribute("constant").is_some();
        let definition = described(is_constant, &text("type"), &text("initial_value"));
        return Ok((text("sym_name"), Global { is_private: text("sym_visibility") == "private", definition }));
    }
    cursor.skip(1);
    let visibility = if cursor.peek().kind == Kind::Text { cursor.next().name() } else { String::new() };
    let is_constant = cursor.accept("constant");
    if cursor.peek().kind != Kind::Symbol {
        return cursor.error("expected the name of an array");
    }
    let name = cursor.next().name();
    cursor.expect(":")?;
    let ty = cursor.type_text()?;
    let value = if cursor.accept("=") { cursor.constant_text() } else { String::new() };
    cursor.attributes()?;
    Ok((name, Global { is_private: visibility == "private", definition: described(is_constant, &ty, &value) }))
}

fn described(is_constant: bool, ty: &str, value: &str) -> String {
    // The generic form says the type of the contents, too, and `unit` of contents that there are none.
    let value = value.split(" : ").next().unwrap_or_default();
    let value = if value == "uninitialized" { "unit" } else { value };
    format!("{is_constant} {ty} {value}")
}
