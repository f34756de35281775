//! Reads the text form of the IR (see [`super::text`] for the grammar).
//!
//! Beside what is printed it reads what people write: names for values and labels for blocks, parameters after the
//! function's name, calls of operations and of functions of the same text without types ([`super::infer`] finds
//! them), and array constants.
//!
//! **Invariant**: any input gives a module or a [`ParseError`] with its place; no panic, no deep recursion, and no
//! memory beyond a small multiple of the input's size. A module that parses need not verify.

mod body;
mod constant;
mod lex;
mod module;
mod names;
mod specialisation;

pub(crate) use constant::element;
pub use module::read;
pub use specialisation::Request;

use super::text::{is_numbered, is_word};
use super::{Block, BlockId, Counts, Function, Inst, InstId, Module, Terminator, Value};
use lex::{Token, lex};
use names::Names;
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Ty, Universe};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
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

/// Reads a module. Types that packs declare may be interned anew, and functions of the text that it calls become
/// operations; unknown names are errors.
///
/// # Errors
/// The first mistake. A well-formed module need not verify; see [`read`].
pub fn parse(text: &str, universe: &mut Universe) -> Result<Module, ParseError> {
    let drafts = drafts(text, universe)?;
    module::complete(text, drafts, universe).map(|(module, _)| module).map_err(|mut errors| errors.remove(0))
}

/// Functions as written, with their calls still open.
fn drafts(text: &str, universe: &mut Universe) -> Result<Vec<Draft>, ParseError> {
    let tokens = lex(text)?;
    let functions = names::functions(&tokens);
    let mut parser = Parser { text, tokens, at: 0, universe, functions };
    let mut drafts = vec![];
    while !parser.at_end() {
        drafts.push(parser.function()?);
    }
    Ok(drafts)
}

/// A function as written.
struct Draft {
    function: Function,
    /// By value: the type that is written.
    stated: Vec<Option<Ty>>,
    /// Calls without all of their types.
    calls: BTreeMap<InstId, NamedCall>,
    places: Places,
}

/// A call by name.
struct NamedCall {
    name: String,
    explicit: SmallVec<[Ty; 2]>,
}

/// Where things are written, as offsets.
#[derive(Default)]
struct Places {
    function: usize,
    /// By `InstId`.
    insts: Vec<usize>,
    /// By `BlockId`: the label, and the terminator.
    blocks: Vec<(usize, usize)>,
}

fn error_at(text: &str, offset: usize, message: String) -> ParseError {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = before.matches('\n').count() as u32 + 1;
    ParseError { line, column: before[line_start..].chars().count() as u32 + 1, message }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    at: usize,
    universe: &'a mut Universe,
    /// Names of the functions of the text, without `%`.
    functions: BTreeSet<String>,
}

/// The function so far.
struct Open {
    f: Function,
    names: Names,
    stated: Vec<Option<Ty>>,
    calls: BTreeMap<InstId, NamedCall>,
    places: Places,
    defined: Vec<bool>,
    placed: Vec<bool>,
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

    fn offset(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |(o, _)| *o)
    }

    /// `v12` or `%x`.
    fn value(&mut self, o: &mut Open) -> Parse<Value> {
        let id = match self.peek() {
            Some(Token::Word(w)) if is_value(w) => o.names.value(w, self.offset()),
            _ => return self.fail("expected a value (`%x`, `v1`)"),
        };
        self.id(id).map(Value)
    }

    /// `b3` or any other word.
    fn label(&mut self, o: &mut Open) -> Parse<BlockId> {
        let id = match self.peek() {
            Some(Token::Word(w)) if is_word(w) && !is_value(w) => o.names.block(w, self.offset()),
            _ => return self.fail("expected a block"),
        };
        self.id(id).map(BlockId)
    }

    fn id(&mut self, number: Option<u32>) -> Parse<u32> {
        match number {
            Some(n) if (n as usize) < MAX_ID.max(self.text.len()) => {
                self.at += 1;
                Ok(n)
            }
            _ => self.fail("this number is too large for a text of this size"),
        }
    }

    fn value_at(&self, at: usize) -> bool {
        matches!(self.tokens.get(at), Some((_, Token::Word(w))) if is_value(w))
    }

    fn punct_at(&self, at: usize, c: char) -> bool {
        matches!(self.tokens.get(at), Some((_, Token::Punct(p))) if *p == c)
    }

    /// Do values stand here that an instruction defines: `v1: i32 =`, `%x, %y =`?
    fn at_results(&self) -> bool {
        let mut at = self.at;
        while self.value_at(at) && self.punct_at(at + 1, ',') {
            at += 2;
        }
        self.value_at(at) && (self.punct_at(at + 1, ':') || self.punct_at(at + 1, '='))
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
        let types = &self.universe.types;
        let decl = match types.alike(&name)[..] {
            [one] => one,
            [] => return self.fail(format!("no type is called `{name}`")),
            ref several => {
                let packs: Vec<String> = several.iter().map(|id| format!("`{}`", types.decl(*id).name)).collect();
                return self.fail(format!("`{name}` is {}: say which", packs.join(" or ")));
            }
        };
        // Arguments follow without a space: in `-> f64 {` the brace begins the body.
        let end = self.offset() + name.len();
        self.at += 1;
        let mut args = SmallVec::new();
        if self.offset() == end && self.eat('{') {
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

    fn function(&mut self) -> Parse<Draft> {
        let place = self.offset();
        if !self.eat_word("func") {
            return self.fail("expected `func`");
        }
        let names = Names::of(&self.tokens[self.at..]);
        let mut o = Open {
            f: Function::new(self.name("a function's name")?),
            names,
            stated: vec![],
            calls: BTreeMap::new(),
            places: Places { function: place, ..Places::default() },
            defined: vec![],
            placed: vec![],
        };
        let params = if self.eat('(') { Some(self.params(&mut o)?) } else { None };
        if self.peek() == Some(&Token::Arrow) {
            self.at += 1;
            if !self.eat('(') {
                o.f.results.push(self.ty(0)?);
            } else {
                o.f.results = self.types(')')?;
            }
        }
        self.expect('{')?;
        if self.eat_word("regions") {
            loop {
                o.f.regions.push(self.name("a region's name")?);
                if !self.eat(',') {
                    break;
                }
            }
        }
        if let Some(params) = params {
            let entry = BlockId(o.names.fresh_block());
            let place = self.offset();
            self.place(&mut o, entry, place);
            self.body(&mut o, entry, params, false)?;
        }
        while !self.eat('}') {
            self.block(&mut o)?;
        }
        let is = |known: &[bool], n: usize| known.get(n).copied().unwrap_or(false);
        if let Some((at, message)) = o.names.undefined(|n| is(&o.defined, n), |n| is(&o.placed, n)) {
            return Err(error_at(self.text, at, message));
        }
        let Open { mut f, mut stated, calls, places, .. } = o;
        f.values.resize(f.values.len().max(stated.len()), Ty::ANY);
        stated.resize(f.values.len(), None);
        Ok(Draft { function: f, stated, calls, places })
    }

    fn types(&mut self, end: char) -> Parse<Vec<Ty>> {
        let mut types = vec![];
        loop {
            types.push(self.ty(0)?);
            if !self.eat(',') {
                break;
            }
        }
        self.expect(end)?;
        Ok(types)
    }

    /// `v1: i32` or, where the type is to be found, `%x`.
    fn define(&mut self, o: &mut Open) -> Parse<Value> {
        let value = self.value(o)?;
        if value.index() >= o.f.values.len() {
            o.f.values.resize(value.index() + 1, Ty::ANY);
            o.stated.resize(value.index() + 1, None);
            o.defined.resize(value.index() + 1, false);
        }
        if std::mem::replace(&mut o.defined[value.index()], true) {
            let name = o.names.value_name(value);
            return self.fail_before(format!("{name} is already defined"));
        }
        if self.eat(':') {
            let ty = self.ty(0)?;
            o.f.values[value.index()] = ty;
            o.stated[value.index()] = Some(ty);
        }
        Ok(value)
    }

    /// Parameters up to the closing parenthesis.
    fn params(&mut self, o: &mut Open) -> Parse<Vec<Value>> {
        let mut params = vec![];
        while !self.eat(')') {
            params.push(self.define(o)?);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(params)
    }

    /// Notes that a block stands here.
    fn place(&mut self, o: &mut Open, id: BlockId, place: usize) -> bool {
        while id.index() >= o.f.blocks.len() {
            o.f.blocks.push(Block {
                params: vec![],
                insts: vec![],
                term: Terminator::Trap { code: 0 },
                cold: false,
                counts: Counts::default(),
                must_progress: false,
            });
            o.placed.push(false);
            o.places.blocks.push((place, place));
        }
        o.places.blocks[id.index()].0 = place;
        let repeated = std::mem::replace(&mut o.placed[id.index()], true);
        if !repeated {
            o.f.layout.push(id);
        }
        !repeated
    }

    fn block(&mut self, o: &mut Open) -> Parse<()> {
        let place = self.offset();
        let id = self.label(o)?;
        if !self.place(o, id, place) {
            let name = o.names.block_name(id);
            return self.fail_before(format!("{name} is already defined"));
        }
        let params = if self.eat('(') { self.params(o)? } else { vec![] };
        let cold = self.eat_word("cold");
        self.expect(':')?;
        self.body(o, id, params, cold)
    }

    /// Instructions and a terminator.
    fn body(&mut self, o: &mut Open, id: BlockId, params: Vec<Value>, cold: bool) -> Parse<()> {
        let mut insts = vec![];
        let term = loop {
            let place = self.offset();
            if let Some(term) = self.terminator(o)? {
                o.places.blocks[id.index()].1 = place;
                break term;
            }
            let inst = InstId(o.f.insts.len() as u32);
            let data = self.inst(o, inst)?;
            insts.push(inst);
            o.f.insts.push(data);
            o.places.insts.push(place);
        };
        o.f.blocks[id.index()] = Block { params, insts, term, cold, counts: Counts::default(), must_progress: false };
        Ok(())
    }

    fn values(&mut self, o: &mut Open) -> Parse<SmallVec<[Value; 3]>> {
        let mut values = SmallVec::new();
        if !self.value_at(self.at) || self.at_results() {
            return Ok(values);
        }
        loop {
            values.push(self.value(o)?);
            if !self.eat(',') {
                return Ok(values);
            }
        }
    }

    fn inst(&mut self, o: &mut Open, id: InstId) -> Parse<Inst> {
        let mut results = SmallVec::new();
        if self.value_at(self.at) {
            loop {
                results.push(self.define(o)?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect('=')?;
        }
        let (kind, args) = self.kind(o, id, &results)?;
        let origin = if self.eat('!') { Some(self.unsigned("a number")?) } else { None };
        Ok(Inst { kind, args, results, origin })
    }
}

/// `v12`, `%x`.
fn is_value(word: &str) -> bool {
    is_numbered(word, 'v') || word.starts_with('%')
}

#[cfg(test)]
mod tests;
