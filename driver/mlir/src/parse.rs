//! MLIR text to trees of operations.
//!
//! The generic form of any operation is read, and the pretty forms of `affine`, `scf`, `arith`, `math`, `memref` and
//! `func` that lower to nests. A function with anything else is reported with the line; other functions go on.

mod cursor;
mod generic;
mod parallel;
mod pretty;
mod views;

use crate::lex::{Kind, Token, tokens};
use crate::syntax::{Function, Module, Op, Region, Unsupported};
use cursor::Cursor;

type Parsed<T> = Result<T, Unsupported>;

/// Regions within regions; more are not read.
const MAX_DEPTH: usize = 200;

/// Reads a file.
pub(crate) fn parse(source: &str) -> Module {
    let tokens = without_locations(tokens(source));
    let mut cursor = Cursor::new(source, &tokens);
    let lines = source.lines().map(String::from).collect();
    let mut module = Module { lines, ..Module::default() };
    while cursor.peek().kind != Kind::End {
        let token = cursor.peek();
        match (token.kind, token.text) {
            (Kind::Hash, name) if cursor.ahead(1).text == "=" => {
                cursor.skip(2);
                let text = cursor.attribute_text();
                module.aliases.push((name.to_string(), text));
            }
            (Kind::Bang, _) if cursor.ahead(1).text == "=" => cursor.type_alias(),
            (Kind::Word, "func.func") | (Kind::Text, "\"func.func\"") => {
                let start = cursor.position();
                match function(&mut cursor) {
                    Ok(found) => module.functions.extend(found),
                    Err((name, reason)) => {
                        module.functions.push(Function { name, line: token.line, body: Err(reason) });
                        cursor.go_to(start);
                        cursor.skip_function();
                    }
                }
            }
            (Kind::Word | Kind::Text, name) if name.trim_matches('"').ends_with(".func") => {
                let (what, line) = (format!("functions of `{}` are not known", name.trim_matches('"')), token.line);
                let name = cursor.symbol_ahead();
                cursor.skip_function();
                module.functions.push(Function { name, line, body: Err(Unsupported { line, what }) });
            }
            _ => cursor.skip(1),
        }
    }
    module
}

/// Without `loc(..)`, which may stand behind operations and arguments; those that are the value of an attribute stay.
fn without_locations(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut kept: Vec<Token<'_>> = vec![];
    // Of the location, and brackets in it that are open.
    let (mut is_inside, mut depth) = (false, 0);
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map_or("", |next| next.text);
        let is_value = kept.last().is_some_and(|before| before.text == "=");
        is_inside |= token.text == "loc" && next == "(" && !is_value;
        if !is_inside || token.kind == Kind::End {
            kept.push(*token);
            continue;
        }
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        is_inside = depth > 0 || token.text == "loc";
    }
    kept
}

/// A function; nothing where it has no body.
fn function(cursor: &mut Cursor<'_>) -> Result<Option<Function>, (String, Unsupported)> {
    if cursor.peek().kind == Kind::Text {
        return generic_function(cursor);
    }
    let line = cursor.peek().line;
    cursor.skip(1);
    while cursor.peek().kind == Kind::Word {
        cursor.skip(1);
    }
    let name = cursor.peek().text.trim_start_matches('@').trim_matches('"').to_string();
    cursor.skip(1);
    let body = signature(cursor).and_then(|arguments| {
        if cursor.peek().text != "{" {
            return Ok(None);
        }
        let mut region = cursor.region(0)?;
        region.arguments = arguments;
        Ok(Some(region))
    });
    match body {
        Ok(body) => Ok(body.map(|region| Function { name, line, body: Ok(region) })),
        Err(reason) => Err((name, reason)),
    }
}

fn generic_function(cursor: &mut Cursor<'_>) -> Result<Option<Function>, (String, Unsupported)> {
    let line = cursor.peek().line;
    let name = cursor.symbol_name_ahead();
    let op: Op = cursor.op(0).map_err(|reason| (name.clone(), reason))?;
    let region: Option<Region> = op.regions.into_iter().next().filter(|r| !r.ops.is_empty());
    Ok(region.map(|region| Function { name, line, body: Ok(region) }))
}

/// Arguments, results and attributes of a function.
fn signature(cursor: &mut Cursor<'_>) -> Parsed<Vec<(String, String)>> {
    let mut arguments = vec![];
    cursor.expect("(")?;
    while cursor.peek().text != ")" {
        if cursor.peek().kind == Kind::Value {
            let name = cursor.next().text.to_string();
            cursor.expect(":")?;
            arguments.push((name, cursor.type_text()?));
        } else {
            // A declaration names no arguments.
            cursor.type_text()?;
        }
        if cursor.peek().text == "{" {
            cursor.skip_balanced();
        }
        if !cursor.accept(",") {
            break;
        }
    }
    cursor.expect(")")?;
    if cursor.peek().kind == Kind::Arrow {
        cursor.skip(1);
        if cursor.peek().text == "(" {
            cursor.skip_balanced();
        } else {
            cursor.type_text()?;
        }
    }
    if cursor.accept("attributes") {
        cursor.skip_balanced();
    }
    Ok(arguments)
}
