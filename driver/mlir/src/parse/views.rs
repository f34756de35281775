//! Pretty forms of views of arrays.

use super::Parsed;
use super::cursor::Cursor;
use crate::syntax::Op;

impl Cursor<'_> {
    /// `memref.subview %a[%i, 4] [8, 8] [1, 1] : t to u`, `memref.cast %a : t to u`, `memref.copy %a, %b : t to u`,
    /// `memref.reinterpret_cast %a to offset: [0], sizes: [%n], strides: [1] : t to u`.
    pub(super) fn view(&mut self, mut op: Op) -> Parsed<Op> {
        op.operands = self.operands();
        let mut segments = vec![op.operands.len().to_string()];
        let is_cast = self.accept("to");
        for (label, name) in [("offset", "static_offsets"), ("sizes", "static_sizes"), ("strides", "static_strides")] {
            if is_cast {
                self.accept(",");
                self.expect(label)?;
                self.expect(":")?;
            }
            if self.peek().text != "[" {
                break;
            }
            let mixed = self.listed("[", "]")?;
            segments.push(self.mixed(&mut op, name, mixed).to_string());
        }
        if segments.len() > 1 {
            op.attributes.push(("operandSegmentSizes".into(), segments.join(", ")));
        }
        op.attributes.extend(self.attributes()?);
        self.expect(":")?;
        op.operand_types = vec![self.type_text()?];
        self.expect("to")?;
        let ty = self.type_text()?;
        if op.name == "memref.copy" {
            op.operand_types.push(ty)
        } else {
            op.result_types = vec![ty]
        }
        Ok(op)
    }

    /// Numbers and operands as the generic form has them; gives how many operands there are.
    pub(super) fn mixed(&self, op: &mut Op, name: &str, all: Vec<String>) -> usize {
        let before = op.operands.len();
        op.operands.extend(all.iter().filter(|one| one.starts_with('%')).cloned());
        // `i64::MIN` stands for an operand.
        let numbers = all.into_iter().map(|one| if one.starts_with('%') { i64::MIN.to_string() } else { one });
        op.attributes.push((name.into(), numbers.collect::<Vec<_>>().join(", ")));
        op.operands.len() - before
    }
}
