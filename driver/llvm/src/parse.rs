//! One instruction, from tokens.
//!
//! Reads what the instruction's form tells to read and takes everything else as it is: attributes and flags are an
//! open list. Where a form's text goes on in a way that is not expected, the instruction is not understood.

mod call;

use super::cursor::Cursor;
use super::error::NotUnderstood;
use super::grammar::{self, Form};
use super::instruction::{Instruction, MemoryAccess, Operand, Shape, Slot, Template};
use super::lex::{Kind, Token};
use super::module::skip_to_type;
use super::types::{self, Named, Type};

/// Reads the instruction that a line of tokens is.
pub fn instruction(text: &str, line: &[Token], named: &Named) -> Result<Instruction, NotUnderstood> {
    let (line, metadata) = attachments(text, line);
    let mut cursor = Cursor::new(text, line);
    let mut result = None;
    if cursor.kind() == Some(Kind::Local) && cursor.next_text() == "=" {
        result = Some(cursor.text().to_string());
        cursor.skip();
        cursor.skip();
    }
    let start = cursor.at();
    if grammar::TAILS.contains(&cursor.text()) {
        if cursor.text() == "musttail" {
            return Err("a call that must be a tail call".into());
        }
        cursor.skip();
    }
    let opcode = cursor.text();
    let form = grammar::form(opcode).ok_or_else(|| format!("instruction `{opcode}`"))?;
    cursor.skip();
    let mut reader = Reader { cursor, named, holes: vec![], flags: vec![], flag_tokens: (0, 0), indices: vec![] };
    let mut opcode = opcode.to_string();
    let (ty, shape) = reader.form(form, &mut opcode).map_err(|e| format!("`{opcode}`: {e}"))?;
    if !reader.cursor.is_done() {
        return Err(format!("`{opcode}`: unexpected `{}`", reader.cursor.text()).into());
    }
    let template = template(text, line, start, &reader.holes, None);
    let bare = (matches!(form, Form::Offset) && !reader.flags.is_empty())
        .then(|| self::template(text, line, start, &reader.holes, Some(reader.flag_tokens)));
    Ok(Instruction {
        result,
        ty,
        opcode,
        flags: reader.flags,
        indices: reader.indices,
        shape,
        template,
        bare,
        metadata,
    })
}

/// Calls that say where variables are: `llvm.dbg.value` of LLVM before 19.
pub fn is_debug_intrinsic(instruction: &Instruction) -> bool {
    matches!(&instruction.shape, Shape::Call { callee: Some(name), .. } if name.starts_with("@llvm.dbg."))
}

/// Cuts off `, !dbg !5, !tbaa !7, !noundef !{}`.
fn attachments<'t>(text: &str, line: &'t [Token]) -> (&'t [Token], Vec<(String, String)>) {
    let word = |i: usize| &text[line[i].start..line[i].end];
    let mut end = line.len();
    let mut found = vec![];
    while let Some(node) = node_before(text, &line[..end])
        && node >= 2
        && line[node - 1].kind == Kind::Metadata
        && word(node - 2) == ","
    {
        found.push((word(node - 1).to_string(), text[line[node].start..line[end - 1].end].to_string()));
        end = node - 2;
    }
    found.reverse();
    (&line[..end], found)
}

/// Where the metadata node starts that a line ends with: `!5`, `!{i8 0, i8 2}`.
fn node_before(text: &str, line: &[Token]) -> Option<usize> {
    let word = |i: usize| &text[line[i].start..line[i].end];
    let last = line.len().checked_sub(1)?;
    let mut start = last;
    if word(last) == "}" {
        let mut depth = 0;
        loop {
            match word(start) {
                "}" => depth += 1,
                "{" => depth -= 1,
                _ => {}
            }
            start = start.checked_sub(1)?;
            if depth == 0 {
                break;
            }
        }
    }
    (line[start].kind == Kind::Metadata).then_some(start)
}

fn template(text: &str, line: &[Token], start: usize, holes: &[usize], without: Option<(usize, usize)>) -> Template {
    let mut out = Template::default();
    let mut piece = String::new();
    let mut last_end = line.get(start).map_or(0, |t| t.start);
    for (i, token) in line.iter().enumerate().skip(start) {
        if without.is_some_and(|(from, to)| (from..to).contains(&i)) {
            last_end = token.end;
            continue;
        }
        // Line breaks within brackets become spaces.
        let gap = &text[last_end..token.start];
        piece.push_str(if gap.contains(['\n', ';']) { " " } else { gap });
        if holes.contains(&i) {
            out.pieces.push(std::mem::take(&mut piece));
            out.holes.push(text[token.start..token.end].to_string());
        } else {
            piece.push_str(&text[token.start..token.end]);
        }
        last_end = token.end;
    }
    out.pieces.push(piece);
    out
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    named: &'a Named,
    /// Tokens that are values of the function.
    holes: Vec<usize>,
    flags: Vec<String>,
    /// Where the flags are.
    flag_tokens: (usize, usize),
    /// Which part of an aggregate.
    indices: Vec<u64>,
}

type Read<T> = Result<T, NotUnderstood>;

impl Reader<'_> {
    fn flags(&mut self) {
        let start = self.cursor.at();
        self.flags = skip_to_type(&mut self.cursor);
        self.flag_tokens = (start, self.cursor.at());
    }

    fn ty(&mut self) -> Read<Type> {
        types::parse(&mut self.cursor)
    }

    /// A value or constant, as text.
    fn value(&mut self) -> Read<String> {
        let start = self.cursor.at();
        match (self.cursor.kind(), self.cursor.text()) {
            (Some(Kind::Local), _) => {
                self.holes.push(start);
                self.cursor.skip();
            }
            (Some(Kind::Global | Kind::Number | Kind::Text), _) => self.cursor.skip(),
            (Some(Kind::Metadata), _) => {
                self.cursor.skip();
                match self.cursor.kind() {
                    Some(Kind::Text) => self.cursor.skip(),
                    _ if matches!(self.cursor.text(), "(" | "{") => self.cursor.skip_group(),
                    _ => {}
                }
            }
            (Some(Kind::Word), "asm") => return Err("inline assembly as an operand".into()),
            (Some(Kind::Word), word) if grammar::is_constant(word) => {
                self.cursor.skip();
                if self.cursor.text() == "(" {
                    self.cursor.skip_group();
                }
            }
            (Some(Kind::Word), word) if grammar::is_expression(word) => {
                self.cursor.skip();
                while self.cursor.kind() == Some(Kind::Word) {
                    self.cursor.skip();
                    // `inrange(0, 16)`
                    if self.cursor.text() == "(" && self.cursor.next_text().parse::<i64>().is_ok() {
                        self.cursor.skip_group();
                    }
                }
                if self.cursor.kind() == Some(Kind::Global) {
                    self.cursor.skip();
                } else if self.cursor.text() == "(" {
                    self.cursor.skip_group();
                } else {
                    return Err(format!("no constant expression at `{word}`").into());
                }
            }
            (Some(Kind::Punctuation), "{" | "[" | "<") => self.cursor.skip_group(),
            (_, other) => return Err(format!("no operand at `{other}`").into()),
        }
        Ok(self.cursor.since(start).to_string())
    }

    fn operand(&mut self) -> Read<Operand> {
        let ty = self.ty()?;
        Ok(Operand { ty, text: self.value()? })
    }

    fn more(&mut self) -> Read<Operand> {
        self.cursor.expect(",")?;
        self.operand()
    }

    fn label(&mut self) -> Read<String> {
        self.cursor.expect("label")?;
        let label = self.cursor.text().to_string();
        if self.cursor.kind() != Some(Kind::Local) {
            return Err(format!("no label at `{label}`").into());
        }
        self.cursor.skip();
        Ok(label)
    }

    fn form(&mut self, form: Form, opcode: &mut String) -> Read<(Type, Shape)> {
        match form {
            Form::Binary(_) => {
                self.flags();
                let (first, second) = self.pair()?;
                Ok((first.ty.clone(), Shape::Plain(vec![first, second])))
            }
            Form::Unary | Form::Freeze => {
                self.flags();
                let operand = self.operand()?;
                Ok((operand.ty.clone(), Shape::Plain(vec![operand])))
            }
            Form::Compare => {
                self.flags();
                let condition = self.flags.pop().ok_or("no condition")?;
                *opcode = format!("{opcode} {condition}");
                let (first, second) = self.pair()?;
                let ty = match &first.ty {
                    Type::Vector(n, _) => Type::Vector(*n, Box::new(Type::Int(1))),
                    Type::Other(_) | Type::Named(_) => return Err(format!("on {}", first.ty).into()),
                    _ => Type::Int(1),
                };
                Ok((ty, Shape::Plain(vec![first, second])))
            }
            Form::Cast => {
                self.flags();
                let operand = self.operand()?;
                self.cursor.expect("to")?;
                Ok((self.ty()?, Shape::Plain(vec![operand])))
            }
            Form::Select => {
                self.flags();
                let operands = vec![self.operand()?, self.more()?, self.more()?];
                Ok((operands[1].ty.clone(), Shape::Plain(operands)))
            }
            Form::Offset => self.offset(),
            Form::Load => self.load(),
            Form::Store => self.store(),
            Form::Call => self.call(),
            Form::Phi => self.phi(),
            Form::Alloca => self.alloca(),
            Form::ExtractValue => {
                let operand = self.operand()?;
                let mut ty = operand.ty.clone();
                self.indices = self.indices()?;
                for index in self.indices.clone() {
                    ty = ty.element(index, self.named).ok_or("a part that is not there")?.0;
                }
                Ok((ty, Shape::Plain(vec![operand])))
            }
            Form::InsertValue => {
                let operands = vec![self.operand()?, self.more()?];
                self.indices = self.indices()?;
                Ok((operands[0].ty.clone(), Shape::Plain(operands)))
            }
            Form::ExtractElement => {
                let operands = vec![self.operand()?, self.more()?];
                let Type::Vector(_, element) = &operands[0].ty else {
                    return Err(format!("on {}", operands[0].ty).into());
                };
                Ok(((**element).clone(), Shape::Plain(operands)))
            }
            Form::InsertElement => {
                let operands = vec![self.operand()?, self.more()?, self.more()?];
                Ok((operands[0].ty.clone(), Shape::Plain(operands)))
            }
            Form::Shuffle => {
                let operands = vec![self.operand()?, self.more()?, self.more()?];
                match (&operands[0].ty, &operands[2].ty) {
                    (Type::Vector(_, element), Type::Vector(n, _)) => {
                        Ok((Type::Vector(*n, element.clone()), Shape::Plain(operands)))
                    }
                    (ty, _) => Err(format!("on {ty}").into()),
                }
            }
            Form::AtomicUpdate => {
                // `volatile`, and which operation.
                self.flags();
                let operands = vec![self.operand()?, self.more()?];
                let access = self.access();
                Ok((operands[1].ty.clone(), Shape::Atomic(operands, access)))
            }
            Form::CompareExchange => {
                self.flags();
                let operands = vec![self.operand()?, self.more()?, self.more()?];
                let access = self.access();
                let ty = Type::Struct(false, vec![operands[2].ty.clone(), Type::Int(1)]);
                Ok((ty, Shape::Atomic(operands, access)))
            }
            Form::Fence => {
                let access = self.access();
                Ok((Type::Void, Shape::Atomic(vec![], access)))
            }
            Form::VariableArgument => {
                self.operand()?;
                self.cursor.expect(",")?;
                Ok((self.ty()?, Shape::Other))
            }
            Form::Jump | Form::Switch | Form::Return | Form::Unreachable => Ok((Type::Void, self.terminator(form)?)),
        }
    }

    /// `i32 %a, %b`
    fn pair(&mut self) -> Read<(Operand, Operand)> {
        let first = self.operand()?;
        self.cursor.expect(",")?;
        let text = self.value()?;
        let ty = first.ty.clone();
        Ok((first, Operand { ty, text }))
    }

    fn indices(&mut self) -> Read<Vec<u64>> {
        let mut found = vec![];
        while self.cursor.eat(",") {
            found.push(self.cursor.text().parse().map_err(|_| format!("no index at `{}`", self.cursor.text()))?);
            self.cursor.skip();
        }
        Ok(found)
    }

    fn offset(&mut self) -> Read<(Type, Shape)> {
        self.flags();
        let source = self.ty()?;
        let base = self.more()?;
        let mut indices = vec![];
        while self.cursor.eat(",") {
            indices.push(self.operand()?);
        }
        let lanes = [&base].into_iter().chain(&indices).find_map(|o| match o.ty {
            Type::Vector(n, _) => Some(n),
            _ => None,
        });
        let ty = match (lanes, &base.ty) {
            (Some(n), Type::Vector(_, element)) => Type::Vector(n, element.clone()),
            (Some(n), ty) => Type::Vector(n, Box::new(ty.clone())),
            (None, ty) => ty.clone(),
        };
        Ok((ty, Shape::Offset { base, source, indices }))
    }

    fn load(&mut self) -> Read<(Type, Shape)> {
        self.flags();
        let ty = self.ty()?;
        let address = self.more()?;
        let access = self.access_at(&address);
        Ok((ty, Shape::Load(address, access)))
    }

    fn store(&mut self) -> Read<(Type, Shape)> {
        self.flags();
        let value = self.operand()?;
        let address = self.more()?;
        let access = self.access_at(&address);
        Ok((Type::Void, Shape::Store(value, address, access)))
    }

    fn access_at(&mut self, address: &Operand) -> MemoryAccess {
        let access = self.access();
        MemoryAccess { plain: access.plain && address.ty == Type::Ptr, ..access }
    }

    /// `seq_cst, align 8`: an ordering is a flag, too.
    fn access(&mut self) -> MemoryAccess {
        let mut align = 0;
        while !self.cursor.is_done() {
            match self.cursor.text() {
                "align" => {
                    align = self.cursor.next_text().parse().unwrap_or(0);
                    self.cursor.skip();
                }
                "," => {}
                // An ordering, or something that is not known.
                other => self.flags.push(other.to_string()),
            }
            self.cursor.skip();
        }
        MemoryAccess { align, plain: self.flags.is_empty() }
    }

    fn alloca(&mut self) -> Read<(Type, Shape)> {
        self.flags();
        let mut slot = Slot { ty: self.ty()?, count: None, align: 0 };
        let mut ty = Type::Ptr;
        while self.cursor.eat(",") {
            if types::starts(&self.cursor) {
                slot.count = Some(self.operand()?);
            } else if self.cursor.eat("addrspace") {
                ty = Type::Other(format!("ptr addrspace({})", self.cursor.next_text()));
                self.cursor.skip_group();
            } else {
                if self.cursor.text() == "align" {
                    slot.align = self.cursor.next_text().parse().unwrap_or(0);
                }
                self.cursor.skip();
                self.cursor.skip();
            }
        }
        Ok((ty, Shape::Alloca(slot)))
    }

    fn phi(&mut self) -> Read<(Type, Shape)> {
        self.flags();
        let ty = self.ty()?;
        let mut incoming = vec![];
        while incoming.is_empty() || self.cursor.eat(",") {
            self.cursor.expect("[")?;
            let text = self.value()?;
            self.cursor.expect(",")?;
            incoming.push((Operand { ty: ty.clone(), text }, self.cursor.text().to_string()));
            self.cursor.skip();
            self.cursor.expect("]")?;
        }
        Ok((ty, Shape::Phi(incoming)))
    }

    fn terminator(&mut self, form: Form) -> Read<Shape> {
        Ok(match form {
            Form::Jump if self.cursor.text() == "label" => Shape::Jump(self.label()?),
            Form::Jump => {
                let condition = self.operand()?;
                self.cursor.expect(",")?;
                let then = self.label()?;
                self.cursor.expect(",")?;
                Shape::Branch(condition, [then, self.label()?])
            }
            Form::Switch => {
                let value = self.operand()?;
                self.cursor.expect(",")?;
                let default = self.label()?;
                self.cursor.expect("[")?;
                let mut cases = vec![];
                while !self.cursor.is_done() && !self.cursor.eat("]") {
                    let case = self.operand()?;
                    self.cursor.expect(",")?;
                    cases.push((case.text, self.label()?));
                }
                Shape::Switch(value, default, cases)
            }
            Form::Return if self.cursor.eat("void") => Shape::Return(None),
            Form::Return => Shape::Return(Some(self.operand()?)),
            _ => Shape::Unreachable,
        })
    }
}
