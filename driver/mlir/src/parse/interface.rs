//! What others see of a function: its types and attributes.

use super::Parsed;
use super::cursor::Cursor;
use crate::lex::{Kind, tokens};
use crate::syntax::{Interface, Op};

/// Attributes of the generic form that say what the pretty form says otherwise.
const PARTS: [&str; 5] = ["sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"];

/// `(%a: t {..}, %b: u) -> (v {..}) attributes {..}`: also the names and types of the arguments. A declaration names none.
pub(super) fn pretty(cursor: &mut Cursor<'_>) -> Parsed<(Vec<(String, String)>, Interface)> {
    let (mut names, mut interface) = (vec![], Interface::default());
    cursor.expect("(")?;
    while !cursor.accept(")") {
        let is_named = cursor.peek().kind == Kind::Value;
        if is_named {
            names.push(cursor.next().text.to_string());
            cursor.expect(":")?;
        }
        interface.arguments.push(cursor.type_text()?);
        let place = format!("argument {}", interface.arguments.len() - 1);
        interface.add(&place, cursor.attributes()?);
        if !cursor.accept(",") {
            cursor.expect(")")?;
            break;
        }
    }
    if cursor.peek().kind == Kind::Arrow {
        cursor.skip(1);
        let has_several = cursor.accept("(");
        while !has_several || !cursor.accept(")") {
            interface.results.push(cursor.type_text()?);
            if !has_several {
                break;
            }
            let place = format!("result {}", interface.results.len() - 1);
            interface.add(&place, cursor.attributes()?);
            if !cursor.accept(",") {
                cursor.expect(")")?;
                break;
            }
        }
    }
    if cursor.accept("attributes") {
        interface.add("the function", cursor.attributes()?);
    }
    Ok((names.into_iter().zip(interface.arguments.iter().cloned()).collect(), interface))
}

/// The same of the generic form.
pub(super) fn generic(op: &Op) -> Parsed<Interface> {
    let text = |name: &str| op.attribute(name).unwrap_or_default();
    let mut interface = Interface::new(text("sym_visibility").trim_matches('"') == "private");
    let ty = tokens(text("function_type"));
    let mut cursor = Cursor::new(text("function_type"), &ty);
    interface.arguments = cursor.types().map_err(|_| op.unsupported("the form of `function_type`"))?;
    cursor.skip(1);
    interface.results = cursor.types().map_err(|_| op.unsupported("the form of `function_type`"))?;
    for (name, place) in [("arg_attrs", "argument"), ("res_attrs", "result")] {
        let all = tokens(text(name));
        let mut cursor = Cursor::new(text(name), &all);
        let mut number = 0;
        while cursor.accept(if number == 0 { "[" } else { "," }) {
            let found = cursor.attributes().map_err(|_| op.unsupported(format!("the form of `{name}`")))?;
            interface.add(&format!("{place} {number}"), found);
            number += 1;
        }
    }
    interface.add("the function", op.attributes.iter().filter(|(name, _)| !PARTS.contains(&name.as_str())).cloned());
    Ok(interface)
}
