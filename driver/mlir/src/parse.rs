//! MLIR text to trees of operations.
//!
//! The generic form of any operation is read, and the pretty forms of `affine`, `scf`, `arith`, `math`, `memref` and
//! `func` that lower to nests. A function with anything else is reported with the line; other functions go on.

mod aliases;
mod cursor;
mod generic;
mod interface;
mod module;
mod parallel;
mod pretty;
mod views;

use crate::lex::{Kind, Token};
use crate::syntax::{Interface, Module, Op, Region, Unsupported};
use cursor::Cursor;

type Parsed<T> = Result<T, Unsupported>;

/// Regions within regions; more are not read.
const MAX_DEPTH: usize = 200;

/// Reads a file.
pub(crate) fn parse(source: &str) -> Module {
    let lines = source.lines().map(String::from).collect();
    let mut module = match aliases::expanded(source) {
        Ok(text) => module::read(&text),
        Err(reason) => {
            let mut module = module::read(source);
            module.functions.iter_mut().for_each(|function| function.body = Err(reason.clone()));
            module
        }
    };
    module.lines = lines;
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

/// A function with its name: no region where it has no body.
fn function(cursor: &mut Cursor<'_>) -> Result<(String, Interface, Option<Region>), (String, Unsupported)> {
    if cursor.peek().kind == Kind::Text {
        return generic_function(cursor);
    }
    cursor.skip(1);
    let is_private = cursor.peek().text == "private";
    while cursor.peek().kind == Kind::Word {
        cursor.skip(1);
    }
    let name = cursor.next().name();
    let rest = |cursor: &mut Cursor<'_>| {
        let (arguments, mut interface) = interface::pretty(cursor)?;
        interface.is_private = is_private;
        if cursor.peek().text != "{" {
            return Ok((interface, None));
        }
        let region = cursor.region(0)?;
        Ok((interface, Some(Region { arguments, ..region })))
    };
    match rest(cursor) {
        Ok((interface, body)) => Ok((name, interface, body)),
        Err(reason) => Err((name, reason)),
    }
}

fn generic_function(cursor: &mut Cursor<'_>) -> Result<(String, Interface, Option<Region>), (String, Unsupported)> {
    let name = cursor.symbol_name_ahead();
    let read = |cursor: &mut Cursor<'_>| {
        let op: Op = cursor.op(0)?;
        let interface = interface::generic(&op)?;
        Ok((interface, op.regions.into_iter().next().filter(|region| !region.ops.is_empty())))
    };
    match read(cursor) {
        Ok((interface, body)) => Ok((name, interface, body)),
        Err(reason) => Err((name, reason)),
    }
}
