//! The generic form: `"name"(operands) <{properties}> ({regions}) {attributes} : types -> types`.

use super::Parsed;
use super::cursor::Cursor;
use crate::syntax::Op;

impl Cursor<'_> {
    pub(super) fn generic(&mut self, depth: usize) -> Parsed<Op> {
        let mut op = Op { name: self.next().text.trim_matches('"').to_string(), ..Op::default() };
        self.expect("(")?;
        op.operands = self.operands();
        self.expect(")")?;
        if self.peek().text == "[" {
            return self.error(format!("`{}` has successors: unstructured control flow is not understood", op.name));
        }
        if self.peek().text == "<" {
            op.attributes = self.attributes()?;
        }
        if self.peek().text == "(" {
            self.skip(1);
            while self.peek().text == "{" {
                op.regions.push(self.region(depth)?);
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        op.attributes.extend(self.attributes()?);
        self.expect(":")?;
        op.operand_types = self.types()?;
        if self.peek().kind != crate::lex::Kind::Arrow {
            return self.error("expected `->` and the types of results");
        }
        self.skip(1);
        op.result_types = self.types()?;
        Ok(op)
    }
}
