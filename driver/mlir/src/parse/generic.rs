//! The generic form: `"name"(operands) <{properties}> ({regions}) {attributes} : types -> types`.

use super::Parsed;
use super::cursor::Cursor;
use crate::syntax::Op;

impl Cursor<'_> {
    pub(super) fn generic(&mut self, depth: usize) -> Parsed<Op> {
        let mut op = Op { name: self.next().name(), ..Op::default() };
        self.expect("(")?;
        op.operands = self.operands();
        self.expect(")")?;
        if self.accept("[") {
            while !self.accept("]") {
                op.successors.push(self.successor()?);
                if !self.accept(",") {
                    self.expect("]")?;
                    break;
                }
            }
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
        hand_to_successors(&mut op)?;
        Ok(op)
    }
}

/// Operands behind the condition of a branch are what its successors are given.
fn hand_to_successors(op: &mut Op) -> Parsed<()> {
    let sizes: Vec<usize> = match (op.name.as_str(), op.successors.len()) {
        ("cf.br", 1) => vec![0, op.operands.len()],
        ("cf.cond_br", 2) => op.integers("operandSegmentSizes")?.iter().map(|n| *n as usize).collect(),
        ("cf.switch", 1..) => {
            let own = op.integers("operandSegmentSizes")?;
            let cases = op.integers("case_operand_segments")?;
            own.iter().take(2).chain(&cases).map(|n| *n as usize).collect()
        }
        _ => return Ok(()),
    };
    let Some((own, given)) = sizes.split_first() else { return Ok(()) };
    if sizes.iter().sum::<usize>() != op.operands.len() {
        return Err(op.unsupported("as many operands as its successors are given are expected"));
    }
    let mut rest = op.operands.split_off(*own);
    for ((_, operands), size) in op.successors.iter_mut().zip(given) {
        let later = rest.split_off(*size);
        *operands = std::mem::replace(&mut rest, later);
    }
    Ok(())
}
