//! Two bodies that are one text, up to the names of values and blocks, the order of blocks, and metadata that says
//! nothing.
//!
//! This works on tokens, so it knows functions that nothing else understands. Values and blocks are numbered by where
//! they are first named, in an order of blocks that follows the branches.

use super::annotations::essence;
use super::annotations::table::{AnnotationTarget, Says, says};
use super::modules::Version;
use super::structure::structure;
use rewright_llvm::body::lines;
use rewright_llvm::cursor::Cursor;
use rewright_llvm::lex::{Kind, Token, tokens};
use rewright_llvm::types;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Are the bodies of two versions one text?
pub(super) fn same(before: Version<'_>, after: Version<'_>) -> bool {
    let (Some(was), Some(is)) = (written(before), written(after)) else { return false };
    // Which value has a number that the text leaves out depends on the order of the text.
    let is_one = || before.text() == after.text() && names(before) == names(after);
    was.text == is.text && (!was.leaves_out && !is.leaves_out || is_one())
}

/// The names of parameters.
fn names(version: Version<'_>) -> Vec<&str> {
    version.definition.parameters.iter().map(|parameter| parameter.name.as_str()).collect()
}

/// A body in the form that is compared.
struct Written {
    text: String,
    /// It uses a value whose number the text leaves out where the value is made.
    leaves_out: bool,
}

/// A line of a body.
type Line<'a> = &'a [Token];

/// The text of a body in the form that is compared; `None` where it has none.
fn written(version: Version<'_>) -> Option<Written> {
    let text = version.text();
    let tokens = tokens(text);
    if tokens.iter().any(|t| t.kind == Kind::Unknown) {
        return None;
    }
    let lines = lines(text, &tokens);
    let word = |t: &Token| &text[t.start..t.end];
    let is_of_debugger = |line: &Line<'_>| {
        line.first().is_some_and(|t| word(t).starts_with("#dbg_"))
            || line.iter().any(|t| word(t).starts_with("@llvm.dbg."))
    };
    let kept: Vec<Line<'_>> = lines.into_iter().filter(|line| !is_of_debugger(line)).collect();
    let parameters = &version.definition.parameters;
    let entry = format!("%{}", parameters.iter().filter(|p| is_number(&p.name)).count());
    let blocks = Blocks::new(text, &kept, entry);
    let mut writer =
        Writer { version, text, locals: FxHashMap::default(), defined: FxHashSet::default(), leaves_out: false };
    writer.define(&blocks)?;
    let mut out = String::new();
    for block in blocks.in_order() {
        out.push_str(&format!("block {}\n", writer.number(&block.label)));
        for line in &block.lines {
            writer.line(line, &mut out);
        }
    }
    Some(Written { text: out, leaves_out: writer.leaves_out })
}

/// A block: its label and its lines.
struct Block<'a> {
    label: String,
    lines: Vec<Line<'a>>,
    /// Labels in its last line.
    targets: Vec<String>,
}

struct Blocks<'a>(Vec<Block<'a>>);

impl<'a> Blocks<'a> {
    fn new(text: &str, lines: &[Line<'a>], entry: String) -> Self {
        let word = |t: &Token| &text[t.start..t.end];
        let mut blocks: Vec<Block<'a>> = vec![];
        for line in lines {
            match line {
                [name, colon] if word(colon) == ":" => {
                    blocks.push(Block { label: format!("%{}", word(name)), lines: vec![], targets: vec![] });
                }
                _ => match blocks.last_mut() {
                    Some(block) => block.lines.push(line),
                    None => blocks.push(Block { label: entry.clone(), lines: vec![line], targets: vec![] }),
                },
            }
        }
        for block in &mut blocks {
            let last = block.lines.last().copied().unwrap_or(&[]);
            let labels = last.windows(2).filter(|pair| word(&pair[0]) == "label");
            block.targets = labels.map(|pair| word(&pair[1]).to_string()).collect();
        }
        Blocks(blocks)
    }

    /// The first block, then each when a branch first names it; what no branch names comes last.
    fn in_order(&self) -> Vec<&Block<'a>> {
        let mut order: Vec<usize> = vec![];
        let mut todo: VecDeque<usize> = (0..self.0.len()).collect();
        while let Some(at) = todo.pop_front() {
            if order.contains(&at) {
                continue;
            }
            order.push(at);
            for target in self.0[at].targets.iter().rev() {
                if let Some(next) = self.0.iter().position(|b| b.label == *target) {
                    todo.push_front(next);
                }
            }
        }
        order.into_iter().map(|at| &self.0[at]).collect()
    }
}

struct Writer<'a> {
    version: Version<'a>,
    text: &'a str,
    /// Numbers of values and blocks.
    locals: FxHashMap<String, usize>,
    /// Names that are values and blocks; others are types.
    defined: FxHashSet<String>,
    /// As in [`Written`].
    leaves_out: bool,
}

impl<'a> Writer<'a> {
    fn word(&self, t: &Token) -> &'a str {
        &self.text[t.start..t.end]
    }

    /// Notes what is a value or a block; `None` where a type has the same name.
    fn define(&mut self, blocks: &Blocks<'_>) -> Option<()> {
        for parameter in &self.version.definition.parameters {
            self.defined.insert(parameter.name.clone());
            self.number(&parameter.name);
        }
        self.defined.extend(blocks.0.iter().map(|b| b.label.clone()));
        for line in blocks.0.iter().flat_map(|b| &b.lines) {
            if let [name, equals, ..] = line
                && name.kind == Kind::Local
                && self.word(equals) == "="
            {
                self.defined.insert(self.word(name).to_string());
            }
        }
        self.defined.iter().all(|name| !self.version.file().named.contains_key(name)).then_some(())
    }

    fn number(&mut self, name: &str) -> usize {
        let next = self.locals.len();
        *self.locals.entry(name.to_string()).or_insert(next)
    }

    /// A line, with names replaced, groups written out and metadata that says nothing left out.
    fn line(&mut self, line: Line<'_>, out: &mut String) {
        let (line, attached) = self.attachments(line);
        let mut at = 0;
        while let Some(token) = line.get(at) {
            let word = self.word(token);
            match token.kind {
                Kind::Local if self.defined.contains(word) => out.push_str(&format!("%{}", self.number(word))),
                Kind::Local if is_number(word) && !self.version.file().named.contains_key(word) => {
                    self.leaves_out = true
                }
                Kind::Local => out.push_str(&self.ty(&line[at..at + 1])),
                Kind::Hash => {
                    let group = self.version.file().groups.get(word).map_or(&[][..], Vec::as_slice);
                    out.push_str(&essence(AnnotationTarget::Function, group).join(" "));
                }
                Kind::Metadata if word.len() > 1 => out.push_str(&self.version.module.nodes.whole(word)),
                _ => out.push_str(word),
            }
            out.push(' ');
            at += 1;
        }
        for said in attached {
            out.push_str(&said);
            out.push(' ');
        }
        out.push('\n');
    }

    /// Cuts off `, !tbaa !5`; what they say is given back.
    fn attachments<'l>(&self, mut line: Line<'l>) -> (Line<'l>, Vec<String>) {
        let (mut found, nodes) = (vec![], &self.version.module.nodes);
        while let [rest @ .., comma, kind, node] = line
            && self.word(comma) == ","
            && kind.kind == Kind::Metadata
            && node.kind == Kind::Metadata
        {
            let (kind, node) = (self.word(kind), self.word(node));
            if kind == "!llvm.loop" {
                found.extend(nodes.loop_promises(node));
            } else if says(AnnotationTarget::Metadata, kind) != Says::Nothing {
                found.push(format!("{kind} {}", nodes.whole(node)));
            }
            line = rest;
        }
        found.sort_unstable();
        (line, found)
    }

    /// A named type by its structure.
    fn ty(&self, token: Line<'_>) -> String {
        let ty = types::parse(&mut Cursor::new(self.text, token));
        ty.map_or_else(|_| self.word(&token[0]).to_string(), |ty| structure(&ty, &self.version.file().named))
    }
}

/// Values without names have numbers, which the text may leave out where they are made.
fn is_number(name: &str) -> bool {
    name[1..].bytes().all(|b| b.is_ascii_digit())
}
