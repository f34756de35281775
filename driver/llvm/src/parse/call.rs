//! Calls: the callee, the arguments, how each one is passed, and in which bundles.

use super::{Read, Reader};
use crate::body::{InMemory, Operand, Role, Shape};
use crate::cursor::Cursor;
use crate::grammar;
use crate::lex::{Kind, tokens};
use crate::module::attributes;
use crate::types::{self, Type};

impl Reader<'_> {
    pub(super) fn call(&mut self) -> Read<(Type, Shape)> {
        self.flags();
        let mut attributes_here = self.flags.clone();
        let ty = match self.ty()? {
            Type::Other(function) => result_type(&function)?,
            ty => ty,
        };
        let callee = match (self.cursor.kind(), self.cursor.text()) {
            (Some(Kind::Word), "asm") => {
                while !self.cursor.is_done() && self.cursor.text() != "(" {
                    self.cursor.skip();
                }
                None
            }
            (Some(Kind::Global), name) => {
                self.cursor.skip();
                Some(name.to_string())
            }
            _ => {
                self.value()?;
                None
            }
        };
        self.cursor.expect("(")?;
        let (mut args, mut promises, mut in_memory) = (vec![], vec![], vec![]);
        while self.cursor.text() != ")" {
            if !args.is_empty() {
                self.cursor.expect(",")?;
            }
            let ty = self.ty()?;
            let (said, passed) = self.argument_attributes(args.len())?;
            promises.push(said);
            in_memory.extend(passed);
            let text = if ty == Type::Word("metadata".into()) { self.metadata()? } else { self.value()? };
            args.push(Operand { ty, text });
        }
        self.cursor.expect(")")?;
        attributes_here.extend(attributes(&mut self.cursor));
        let bundles = self.cursor.text() == "[";
        if bundles {
            self.bundles()?;
        }
        Ok((ty, Shape::Call { callee, args, promises, in_memory, attributes: attributes_here, bundles }))
    }

    /// Attributes of an argument: words up to its value; and how it is passed where that is in memory.
    fn argument_attributes(&mut self, argument: usize) -> Read<(Vec<String>, Option<InMemory>)> {
        let (mut said, mut passed, mut align) = (vec![], None, 0);
        while self.cursor.kind() == Some(Kind::Word) || self.cursor.kind() == Some(Kind::Text) {
            let word = self.cursor.text();
            // A character array is a value, a text in quotes an attribute.
            if grammar::is_constant(word) || grammar::is_expression(word) || word == "asm" || word.starts_with("c\"") {
                break;
            }
            let start = self.cursor.at();
            self.cursor.skip();
            let role = match word {
                "byval" => Some(Role::Copy),
                "sret" => Some(Role::Result),
                _ => None,
            };
            if self.cursor.eat("=") {
                self.cursor.skip();
            } else if let Some(role) = role {
                self.cursor.expect("(")?;
                passed = Some((role, self.ty()?));
                self.cursor.expect(")")?;
            } else if self.cursor.text() == "(" {
                self.cursor.skip_group();
            } else if word == "align" && self.cursor.kind() == Some(Kind::Number) {
                align = self.cursor.text().parse().unwrap_or(0);
                self.cursor.skip();
            }
            said.push(self.cursor.since(start).to_string());
        }
        Ok((said, passed.map(|(role, ty)| InMemory { argument, role, ty, align })))
    }

    /// An operand that is metadata, or a value as metadata.
    fn metadata(&mut self) -> Read<String> {
        if types::starts(&self.cursor) {
            let start = self.cursor.at();
            self.operand()?;
            return Ok(self.cursor.since(start).to_string());
        }
        self.value()
    }

    /// `[ "align"(ptr %p, i64 16) ]`
    fn bundles(&mut self) -> Read<()> {
        self.cursor.expect("[")?;
        while !self.cursor.is_done() && !self.cursor.eat("]") {
            if self.cursor.eat(",") {
                continue;
            }
            // Its tag.
            self.cursor.skip();
            self.cursor.expect("(")?;
            while !self.cursor.is_done() && !self.cursor.eat(")") {
                if !self.cursor.eat(",") {
                    self.operand()?;
                }
            }
        }
        Ok(())
    }
}

/// What a function of this type gives: in `i32 (ptr, ...)` that comes first.
fn result_type(function: &str) -> Read<Type> {
    let read = |text: &str| {
        let line = tokens(text);
        let mut cursor = Cursor::new(text, &line);
        types::starts(&cursor).then(|| types::parse(&mut cursor))
    };
    let (result, _) = function.split_once(" (").ok_or_else(|| format!("calls {function}"))?;
    read(result).unwrap_or_else(|| Err(format!("calls {function}").into()))
}
