//! A place in the tokens of a file.

use super::{MAX_DEPTH, Parsed};
use crate::lex::{Kind, Token};
use crate::syntax::{Block, Op, Region, Unsupported};

pub(super) struct Cursor<'a> {
    source: &'a str,
    tokens: &'a [Token<'a>],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// `tokens` end with [`Kind::End`].
    pub(super) fn new(source: &'a str, tokens: &'a [Token<'a>]) -> Self {
        Cursor { source, tokens, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, n: usize) -> Token<'a> {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub(super) fn skip(&mut self, n: usize) {
        self.at += n;
    }

    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found = self.peek().text == text;
        self.at += usize::from(found);
        found
    }

    pub(super) fn error<T>(&self, what: impl Into<String>) -> Parsed<T> {
        Err(Unsupported { line: self.peek().line, what: what.into() })
    }

    pub(super) fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.accept(text) {
            return Ok(());
        }
        let found = self.peek();
        let found = if found.kind == Kind::End { "the end" } else { found.text };
        self.error(format!("expected `{text}`, found `{found}`"))
    }

    /// The source between a position and here.
    pub(super) fn text_since(&self, position: usize) -> String {
        let (first, last) = (self.tokens[position.min(self.tokens.len() - 1)], self.at.saturating_sub(1));
        if last < position {
            return String::new();
        }
        self.source[first.start..self.tokens[last.min(self.tokens.len() - 1)].end()].to_string()
    }

    /// Skips a bracket with everything up to the one that closes it.
    pub(super) fn skip_balanced(&mut self) {
        let mut depth = 0;
        while self.peek().kind != Kind::End {
            match self.next().text {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return;
            }
        }
    }

    /// Skips a function whose first token is here: its signature, and its body where it has one.
    pub(super) fn skip_function(&mut self) {
        self.skip(1);
        while !matches!(self.peek().text, "func.func" | "\"func.func\"") && self.peek().kind != Kind::End {
            match self.peek().text {
                "(" => self.skip_balanced(),
                "attributes" => {
                    self.skip(1);
                    self.skip_balanced();
                }
                "{" => {
                    self.skip_braces();
                    return;
                }
                _ => self.skip(1),
            }
        }
    }

    /// Skips to the brace that closes the one here. Other brackets may be anything.
    fn skip_braces(&mut self) {
        let mut depth = 0;
        while self.peek().kind != Kind::End {
            match self.next().text {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// A type as its text.
    pub(super) fn type_text(&mut self) -> Parsed<String> {
        let start = self.at;
        match self.peek() {
            Token { kind: Kind::Word | Kind::Bang, .. } => {
                self.skip(1);
                if self.peek().text == "<" {
                    self.skip_balanced();
                }
            }
            Token { text: "(", .. } => {
                self.skip_balanced();
                if self.peek().kind == Kind::Arrow {
                    self.skip(1);
                    self.type_text()?;
                }
            }
            other => return self.error(format!("expected a type, found `{}`", other.text)),
        }
        Ok(self.text_since(start))
    }

    /// Types in parentheses, or one.
    pub(super) fn types(&mut self) -> Parsed<Vec<String>> {
        if !self.accept("(") {
            return Ok(vec![self.type_text()?]);
        }
        let mut types = vec![];
        while !self.accept(")") {
            types.push(self.type_text()?);
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(types)
    }

    /// An attribute as its text: everything up to what separates attributes.
    fn attribute_text(&mut self) -> String {
        let start = self.at;
        while self.peek().kind != Kind::End {
            match self.peek().text {
                "," | "}" | ")" | "]" | ">" => break,
                "(" | "[" | "{" | "<" => self.skip_balanced(),
                _ => self.skip(1),
            }
        }
        self.text_since(start)
    }

    /// `{a = 1, b}`, or `<{..}>`, where there is one.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<(String, String)>> {
        let mut attributes = vec![];
        let properties = self.peek().text == "<" && self.ahead(1).text == "{";
        self.skip(usize::from(properties));
        if !self.accept("{") {
            return Ok(attributes);
        }
        while !self.accept("}") {
            let name = self.next().name();
            let text = if self.accept("=") { self.attribute_text() } else { String::new() };
            attributes.push((name, text));
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        if properties {
            self.expect(">")?;
        }
        Ok(attributes)
    }

    /// `%a, %b`.
    pub(super) fn operands(&mut self) -> Vec<String> {
        let mut operands = vec![];
        while self.peek().kind == Kind::Value {
            operands.push(self.next().text.to_string());
            if self.ahead(1).kind != Kind::Value || !self.accept(",") {
                break;
            }
        }
        operands
    }

    /// `{ .. }`, a list of blocks.
    pub(super) fn region(&mut self, depth: usize) -> Parsed<Region> {
        if depth > MAX_DEPTH {
            return self.error("regions are nested too deeply");
        }
        let mut region = Region::default();
        self.expect("{")?;
        if self.peek().kind == Kind::Label {
            self.skip(1);
            region.arguments = self.block_arguments()?;
        }
        while !self.accept("}") {
            if self.peek().kind == Kind::Label {
                let (line, label) = (self.peek().line, self.next().text.to_string());
                let arguments = self.block_arguments()?;
                region.more.push(Block { label, arguments, ops: vec![], line });
                continue;
            }
            let op = self.op(depth + 1)?;
            region.more.last_mut().map_or(&mut region.ops, |block| &mut block.ops).push(op);
        }
        Ok(region)
    }

    /// `(%a: t, %b: u):`, or `:`.
    fn block_arguments(&mut self) -> Parsed<Vec<(String, String)>> {
        let mut arguments = vec![];
        if self.accept("(") {
            while !self.accept(")") {
                let name = self.next().text.to_string();
                self.expect(":")?;
                arguments.push((name, self.type_text()?));
                if !self.accept(",") {
                    self.expect(")")?;
                    break;
                }
            }
        }
        self.expect(":")?;
        Ok(arguments)
    }

    /// `^bb1(%a, %b : t, u)`, or `^bb1`.
    pub(super) fn successor(&mut self) -> Parsed<(String, Vec<String>)> {
        if self.peek().kind != Kind::Label {
            return self.error(format!("expected a block, found `{}`", self.peek().text));
        }
        let label = self.next().text.to_string();
        let mut operands = vec![];
        if self.accept("(") {
            operands = self.operands();
            if self.accept(":") {
                self.type_text()?;
                while self.accept(",") {
                    self.type_text()?;
                }
            }
            self.expect(")")?;
        }
        Ok((label, operands))
    }

    /// The name that a generic function will have.
    pub(super) fn symbol_name_ahead(&self) -> String {
        let rest = &self.tokens[self.at..];
        let at = rest.iter().position(|t| t.text == "sym_name").unwrap_or(rest.len());
        rest.get(at + 2).map_or_else(String::new, Token::name)
    }

    /// The next name of a symbol: `@f`, or that of an attribute `sym_name`.
    pub(super) fn symbol_ahead(&self) -> String {
        let named = |t: &&Token<'_>| t.text.starts_with('@') || t.text == "sym_name";
        match self.tokens[self.at..].iter().find(named) {
            Some(token) if token.text.starts_with('@') => token.name(),
            _ => self.symbol_name_ahead(),
        }
    }

    /// An operation with its results.
    pub(super) fn op(&mut self, depth: usize) -> Parsed<Op> {
        let line = self.peek().line;
        let mut results = vec![];
        while self.peek().kind == Kind::Value {
            let name = self.next().text;
            if self.accept(":") {
                let count: usize = self.next().text.parse().unwrap_or(0);
                results.extend((0..count.min(64)).map(|n| format!("{name}#{n}")));
            } else {
                results.push(name.to_string());
            }
            if !self.accept(",") {
                self.expect("=")?;
                break;
            }
        }
        let mut op = match self.peek().kind {
            Kind::Text => self.generic(depth)?,
            Kind::Word => self.pretty(depth)?,
            _ => return self.error(format!("expected an operation, found `{}`", self.peek().text)),
        };
        (op.results, op.line) = (results, line);
        Ok(op)
    }
}
