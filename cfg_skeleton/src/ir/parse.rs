//! Reads the text form of the IR (see [`super::text`] for the grammar).
//!
//! **Invariant**: any input gives a module or a [`ParseError`] with its place; no panic, no deep recursion, and no
//! memory beyond a small multiple of the input's size. A module that parses need not verify.

use super::text::{effects_name, is_numbered, is_word};
use super::{
    Access, Block, BlockId, Edge, EdgeArg, Function, Inst, InstId, InstKind, Module, OpaqueEffects, PayloadId,
    RegionId, Terminator, Value,
};
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Ty, Universe};
use smallvec::SmallVec;
use thiserror::Error;

/// Types may nest this deep.
const MAX_TYPE_DEPTH: u32 = 32;

/// Ids of values and blocks may be this large in any text (and as large as the text is long in longer ones), so
/// that `v4000000000` does not ask for the tables to match.
const MAX_ID: usize = 1 << 16;

/// What a text should have held.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

/// Reads a module. Types that packs declare may be interned anew; unknown names are errors.
pub fn parse(text: &str, universe: &mut Universe) -> Result<Module, ParseError> {
    let mut parser = Parser { text, tokens: lex(text)?, at: 0, universe };
    let mut module = Module::default();
    while !parser.at_end() {
        module.functions.push(parser.function()?);
    }
    Ok(module)
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    /// Letters, digits, `_`, `.`, with an optional leading `%`.
    Word(String),
    /// What stood between quotes.
    Quoted(String),
    /// A number, in canonical 64 bits.
    Number(i64),
    Punct(char),
    Arrow,
}

fn error_at(text: &str, offset: usize, message: String) -> ParseError {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = before.matches('\n').count() as u32 + 1;
    ParseError { line, column: before[line_start..].chars().count() as u32 + 1, message }
}

fn lex(text: &str) -> Result<Vec<(usize, Token)>, ParseError> {
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        let mut take = |accept: fn(char) -> bool| {
            let mut end = start + c.len_utf8();
            while let Some((at, next)) = rest.next_if(|(_, n)| accept(*n)) {
                end = at + next.len_utf8();
            }
            &text[start..end]
        };
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let token = match c {
            _ if c.is_whitespace() => continue,
            ';' => {
                take(|c| c != '\n');
                continue;
            }
            '"' => Token::Quoted(quoted(text, start, &mut rest)?),
            '0'..='9' | '-' => {
                let digits = take(|c| c.is_ascii_alphanumeric() || c == '>');
                match (digits, number(digits)) {
                    ("->", _) => Token::Arrow,
                    (_, Some(n)) => Token::Number(n),
                    (_, None) => return Err(error_at(text, start, format!("`{digits}` is not a 64-bit number"))),
                }
            }
            _ if word(c) || c == '%' => Token::Word(take(word).to_string()),
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ':' | '=' | '@' | '!' | '#' => Token::Punct(c),
            _ => return Err(error_at(text, start, format!("unexpected character {c:?}"))),
        };
        tokens.push((start, token));
    }
    Ok(tokens)
}

fn quoted(
    text: &str,
    start: usize,
    rest: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
) -> Result<String, ParseError> {
    let mut out = String::new();
    while let Some((_, c)) = rest.next() {
        match c {
            '"' => return Ok(out),
            '\\' => match rest.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, c)) => out.push(c),
                None => break,
            },
            c => out.push(c),
        }
    }
    Err(error_at(text, start, "this string has no end".into()))
}

fn number(s: &str) -> Option<i64> {
    let (negative, digits) = s.strip_prefix('-').map_or((false, s), |d| (true, d));
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => i128::from(u64::from_str_radix(hex, 16).ok()? as i64),
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse::<i128>().ok()?,
        None => return None,
    };
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    at: usize,
    universe: &'a mut Universe,
}

/// What the function so far defines, by id.
#[derive(Default)]
struct Defined {
    values: Vec<bool>,
    blocks: Vec<bool>,
}

type Parse<T> = Result<T, ParseError>;

impl Parser<'_> {
    fn at_end(&self) -> bool {
        self.at == self.tokens.len()
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, t)| t)
    }

    fn fail<T>(&self, message: impl Into<String>) -> Parse<T> {
        let offset = self.tokens.get(self.at).map_or(self.text.len(), |(o, _)| *o);
        Err(error_at(self.text, offset, message.into()))
    }

    fn fail_before<T>(&mut self, message: impl Into<String>) -> Parse<T> {
        self.at -= 1;
        self.fail(message)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(&Token::Punct(c));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, c: char) -> Parse<()> {
        if self.eat(c) { Ok(()) } else { self.fail(format!("expected `{c}`")) }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.at += usize::from(found);
        found
    }

    /// A bare or quoted name.
    fn name(&mut self, what: &str) -> Parse<String> {
        match self.peek() {
            Some(Token::Word(s) | Token::Quoted(s)) => {
                let name = s.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.fail(format!("expected {what}")),
        }
    }

    fn unsigned(&mut self, what: &str) -> Parse<u32> {
        match self.peek() {
            Some(Token::Number(n)) if u32::try_from(*n).is_ok() => {
                let n = *n as u32;
                self.at += 1;
                Ok(n)
            }
            _ => self.fail(format!("expected {what}")),
        }
    }

    /// `v12` or `b3`.
    fn id(&mut self, prefix: char) -> Parse<u32> {
        let number = match self.peek() {
            Some(Token::Word(w)) if is_numbered(w, prefix) => w[1..].parse::<u32>().ok(),
            _ => return self.fail(format!("expected `{prefix}` and a number")),
        };
        match number {
            Some(n) if (n as usize) < MAX_ID.max(self.text.len()) => {
                self.at += 1;
                Ok(n)
            }
            _ => self.fail("this number is too large for a text of this size"),
        }
    }

    fn at_id(&self, prefix: char) -> bool {
        matches!(self.peek(), Some(Token::Word(w)) if is_numbered(w, prefix))
    }

    fn value(&mut self) -> Parse<Value> {
        self.id('v').map(Value)
    }

    fn ty(&mut self, depth: u32) -> Parse<Ty> {
        if let Some(Token::Number(n)) = self.peek() {
            let n = *n;
            self.at += 1;
            return Ok(self.universe.types.intern(TypeData::Int(n)));
        }
        let name = match self.peek() {
            Some(Token::Word(w)) if is_word(w) => w.clone(),
            _ => return self.fail("expected a type"),
        };
        let Some(decl) = self.universe.types.lookup(&name) else {
            return self.fail(format!("no type is called `{name}`"));
        };
        self.at += 1;
        let mut args = SmallVec::new();
        if self.eat('{') {
            if depth == MAX_TYPE_DEPTH {
                return self.fail("types are nested too deep here");
            }
            loop {
                args.push(self.ty(depth + 1)?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect('}')?;
            let wanted = self.universe.types.decl(decl).params.len();
            if wanted != args.len() {
                return self.fail_before(format!("`{name}` takes {wanted} arguments"));
            }
        }
        Ok(self.universe.types.intern(TypeData::App(decl, args)))
    }

    fn function(&mut self) -> Parse<Function> {
        if !self.eat_word("func") {
            return self.fail("expected `func`");
        }
        let mut f = Function {
            name: self.name("a function's name")?,
            results: vec![],
            blocks: vec![],
            layout: vec![],
            insts: vec![],
            values: vec![],
            regions: vec![String::new()],
        };
        if self.peek() == Some(&Token::Arrow) {
            self.at += 1;
            self.expect('(')?;
            loop {
                f.results.push(self.ty(0)?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        self.expect('{')?;
        if self.eat_word("regions") {
            loop {
                f.regions.push(self.name("a region's name")?);
                if !self.eat(',') {
                    break;
                }
            }
        }
        let mut defined = Defined::default();
        while !self.eat('}') {
            self.block(&mut f, &mut defined)?;
        }
        Ok(f)
    }

    fn define(&mut self, f: &mut Function, defined: &mut Defined) -> Parse<Value> {
        let value = self.value()?;
        if value.index() >= f.values.len() {
            f.values.resize(value.index() + 1, Ty::ANY);
            defined.values.resize(value.index() + 1, false);
        }
        if std::mem::replace(&mut defined.values[value.index()], true) {
            return self.fail_before(format!("v{} is already defined", value.0));
        }
        self.expect(':')?;
        f.values[value.index()] = self.ty(0)?;
        Ok(value)
    }

    fn block(&mut self, f: &mut Function, defined: &mut Defined) -> Parse<()> {
        let id = BlockId(self.id('b')?);
        while id.index() >= f.blocks.len() {
            f.blocks.push(Block { params: vec![], insts: vec![], term: Terminator::Trap { code: 0 }, cold: false });
            defined.blocks.push(false);
        }
        if std::mem::replace(&mut defined.blocks[id.index()], true) {
            return self.fail_before(format!("b{} is already defined", id.0));
        }
        f.layout.push(id);
        let mut params = vec![];
        if self.eat('(') {
            loop {
                params.push(self.define(f, defined)?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        let cold = self.eat_word("cold");
        self.expect(':')?;
        let mut insts = vec![];
        let term = loop {
            if let Some(term) = self.terminator()? {
                break term;
            }
            let inst = self.inst(f, defined)?;
            insts.push(InstId(f.insts.len() as u32));
            f.insts.push(inst);
        };
        f.blocks[id.index()] = Block { params, insts, term, cold };
        Ok(())
    }

    fn values(&mut self) -> Parse<SmallVec<[Value; 3]>> {
        let mut values = SmallVec::new();
        // `v1:` begins the next instruction.
        while self.at_id('v') && self.tokens.get(self.at + 1).is_none_or(|(_, t)| *t != Token::Punct(':')) {
            values.push(self.value()?);
            if !self.eat(',') {
                break;
            }
        }
        Ok(values)
    }

    fn inst(&mut self, f: &mut Function, defined: &mut Defined) -> Parse<Inst> {
        let mut results = SmallVec::new();
        if self.at_id('v') {
            loop {
                results.push(self.define(f, defined)?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect('=')?;
        }
        let (kind, args) = self.kind()?;
        let origin = if self.eat('!') { Some(self.unsigned("a number")?) } else { None };
        Ok(Inst { kind, args, results, origin })
    }

    fn kind(&mut self) -> Parse<(InstKind, SmallVec<[Value; 3]>)> {
        if self.eat_word("const") {
            let Some(Token::Number(n)) = self.peek() else { return self.fail("expected a number") };
            let n = *n;
            self.at += 1;
            return Ok((InstKind::Const(n), SmallVec::new()));
        }
        for (word, when) in [("check.trapnz", true), ("check.trapz", false)] {
            if self.eat_word(word) {
                let value = self.value()?;
                self.expect(',')?;
                let code = self.unsigned("a trap code")?;
                return Ok((InstKind::Check { code, when }, SmallVec::from_slice(&[value])));
            }
        }
        if self.eat_word("opaque") {
            let payload = PayloadId(self.unsigned("a payload")?);
            let effects = self.effects()?;
            self.expect('(')?;
            let args = self.values()?;
            self.expect(')')?;
            return Ok((InstKind::Opaque { payload, effects }, args));
        }
        let name = self.name("an instruction or a terminator")?;
        let Some(op) = self.universe.ops.by_unique(&name) else {
            return self.fail_before(format!("no operation is called `{name}`"));
        };
        let mut targs = SmallVec::new();
        if self.eat('{') {
            loop {
                targs.push(self.ty(0)?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect('}')?;
        }
        let args = self.values()?;
        let access = self.access()?;
        Ok((InstKind::Op { op, targs, access }, args))
    }

    fn effects(&mut self) -> Parse<OpaqueEffects> {
        use OpaqueEffects::{Observes, Pinned, Pure, Writes};
        for effects in [Pure, Pinned, Observes, Writes] {
            if self.eat_word(effects_name(effects)) {
                return Ok(effects);
            }
        }
        self.fail("expected `pure`, `pinned`, `observes` or `writes`")
    }

    fn access(&mut self) -> Parse<Option<Access>> {
        if !self.eat('@') {
            return Ok(None);
        }
        let region = match self.peek() {
            Some(Token::Word(w)) => w.strip_prefix("region").and_then(|n| n.parse().ok()),
            _ => None,
        };
        let Some(region) = region else { return self.fail("expected `region` and a number") };
        self.at += 1;
        let mut access =
            Access { region: RegionId(region), trap: None, movable: false, readonly: false, aligned: false };
        loop {
            if self.eat_word("trap") {
                // `trap=1`; the terminator is `trap 1`.
                if !self.eat('=') {
                    self.at -= 1;
                    return Ok(Some(access));
                }
                access.trap = Some(self.unsigned("a trap code")?);
            } else if self.eat_word("movable") {
                access.movable = true;
            } else if self.eat_word("readonly") {
                access.readonly = true;
            } else if self.eat_word("aligned") {
                access.aligned = true;
            } else {
                return Ok(Some(access));
            }
        }
    }

    fn edge(&mut self) -> Parse<Edge> {
        let target = BlockId(self.id('b')?);
        let mut args = SmallVec::new();
        if self.eat('(') {
            loop {
                args.push(if self.eat('#') {
                    EdgeArg::Terminator(self.unsigned("a number")?)
                } else {
                    EdgeArg::Value(self.value()?)
                });
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        Ok(Edge { target, args })
    }

    fn edges(&mut self) -> Parse<Vec<Edge>> {
        let mut edges = vec![];
        self.expect('[')?;
        while !self.eat(']') {
            edges.push(self.edge()?);
            if !self.eat(',') {
                self.expect(']')?;
                break;
            }
        }
        Ok(edges)
    }

    fn terminator(&mut self) -> Parse<Option<Terminator>> {
        if self.eat_word("jump") {
            return Ok(Some(Terminator::Jump(self.edge()?)));
        }
        if self.eat_word("br") {
            let cond = self.value()?;
            self.expect(',')?;
            let then = self.edge()?;
            self.expect(',')?;
            return Ok(Some(Terminator::Branch { cond, then, els: self.edge()? }));
        }
        if self.eat_word("switch") {
            let index = self.value()?;
            self.expect(',')?;
            let targets = self.edges()?;
            self.expect(',')?;
            return Ok(Some(Terminator::Switch { index, targets, default: self.edge()? }));
        }
        if self.eat_word("return") {
            return Ok(Some(Terminator::Return(self.values()?.into_iter().collect())));
        }
        if self.eat_word("trap") {
            return Ok(Some(Terminator::Trap { code: self.unsigned("a trap code")? }));
        }
        if self.eat_word("opaque.end") {
            let payload = PayloadId(self.unsigned("a payload")?);
            self.expect('(')?;
            let args = self.values()?.into_iter().collect();
            self.expect(')')?;
            self.expect(',')?;
            return Ok(Some(Terminator::Opaque { payload, args, targets: self.edges()? }));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
