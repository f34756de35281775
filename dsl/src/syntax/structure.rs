//! Between lexer and grammar: where items begin, which words are keywords, which doc comments document something,
//! and nothing nested so deeply that a recursive walk over the tree could overflow the stack.
//!
//! **Invariant**: after [`prepare`] the sum of open brackets and of operators in the expressions they stand in is at
//! most [`MAX_DEPTH`] at every token; the tree is at most a small multiple of that deep.

use super::ast::Span;
use super::lexer::Lexed;
use super::token::{
    BLOCK_STATEMENT_WORDS, Comment, ITEM_WORDS, Kind, MAX_DEPTH, MODIFIERS, OPERATOR_WORDS, RULE_STATEMENT_WORDS,
    STEP_WORDS, Token, is_keyword,
};
use crate::diagnostic::{Applicability, Diagnostic, Fix, Label, Severity};

/// Make the lexer's tokens ready for the grammar.
pub(crate) fn prepare(file: u32, lexed: &mut Lexed<'_>, diagnostics: &mut Vec<Diagnostic>) {
    super::renamed::update(file, &mut lexed.tokens, diagnostics);
    reserve_words(&mut lexed.tokens);
    sort_out_docs(file, lexed, diagnostics);
    mark_items(&mut lexed.tokens);
    for i in 0..lexed.tokens.len() {
        let bound = i > 0 && lexed.tokens[i - 1].starts_statement && !lexed.tokens[i].first_on_line;
        lexed.tokens[i].starts_statement = !bound && starts_statement(&lexed.tokens[i..]);
    }
    limit_depth(file, &mut lexed.tokens, diagnostics);
}

/// A keyword that an operand follows directly is not a name: operands never stand side by side. This is what lets a
/// parameter be called `cost` or `at`, and still stops an unfinished expression at the next clause or item.
fn reserve_words(tokens: &mut [Token<'_>]) {
    for i in 0..tokens.len() {
        let token = &tokens[i];
        if token.kind != Kind::Word || !is_keyword(token.text) {
            continue;
        }
        tokens[i].reserved = token.is_word_of(OPERATOR_WORDS)
            || tokens.get(i + 1).is_some_and(|next| {
                let same_line = !next.first_on_line;
                match next.kind {
                    Kind::Word => same_line && (!is_keyword(next.text) || next.is_word("const")),
                    Kind::Int | Kind::Float | Kind::Str => same_line,
                    // `rewrite (a + b) => c` after an unfinished line; a call is written without the space.
                    Kind::Symbol => next.text == "(" && same_line && token.first_on_line && next.start > token.end,
                    _ => false,
                }
            });
    }
}

/// Doc comments stay tokens only where something can carry them; elsewhere they are comments, with a warning.
fn sort_out_docs(file: u32, lexed: &mut Lexed<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !lexed.tokens.iter().any(|token| matches!(token.kind, Kind::Doc | Kind::PackDoc)) {
        return;
    }
    let mut demoted = Vec::new();
    let mut kept = Vec::with_capacity(lexed.tokens.len());
    let mut tokens = std::mem::take(&mut lexed.tokens).into_iter().peekable();
    let mut only_docs_so_far = true;
    while let Some(token) = tokens.next() {
        if !matches!(token.kind, Kind::Doc | Kind::PackDoc) {
            only_docs_so_far = false;
            kept.push(token);
            continue;
        }
        let kind = token.kind;
        let mut run = vec![token];
        while let Some(next) = tokens.next_if(|next| next.kind == kind) {
            run.push(next);
        }
        let carried = match kind {
            Kind::PackDoc => only_docs_so_far,
            _ => tokens.peek().is_some_and(|next| {
                next.is_symbol("@")
                    || next.is_word_of(ITEM_WORDS)
                    || next.is_word_of(MODIFIERS)
                    || next.kind == Kind::Bad
            }),
        };
        if carried {
            only_docs_so_far &= kind == Kind::PackDoc;
            kept.append(&mut run);
            continue;
        }
        let (first, last) = (&run[0], &run[run.len() - 1]);
        let of_pack = kept.is_empty() && tokens.peek().is_some_and(|next| next.text == "pack");
        let (message, label, help) = match kind {
            Kind::Doc if of_pack => (
                "`///` documents the item below it, and a pack is none",
                "before `pack`",
                "a pack is documented by `//!` at the top of its file",
            ),
            Kind::PackDoc => (
                "`//!` documents the pack only at the top of the file",
                "not at the top",
                "write `///` before an item, or `//`",
            ),
            _ => (
                "this doc comment documents nothing",
                "no item follows it",
                "`///` stands before an item; write `//` for other comments",
            ),
        };
        // A comment on one line: a fix changes one place, and `//!` may also be meant for the next item.
        let fix = (kind == Kind::Doc && run.len() == 1).then(|| Fix {
            span: Span { file, start: first.start, end: first.start + "///".len() as u32 },
            replacement: if of_pack { "//!" } else { "//" }.into(),
            applicability: Applicability::Safe,
        });
        diagnostics.push(Diagnostic {
            code: "RW0107",
            severity: Severity::Warning,
            message: message.into(),
            primary: Label { span: Span { file, start: first.start, end: last.end }, text: label.into() },
            secondary: Vec::new(),
            help: Some(help.into()),
            fix,
        });
        demoted.extend(run.into_iter().map(|token| Comment {
            text: token.text,
            start: token.start,
            end: token.end,
            first_on_line: token.first_on_line,
        }));
    }
    lexed.tokens = kept;
    lexed.comments.append(&mut demoted);
    lexed.comments.sort_by_key(|comment| comment.start);
}

/// Mark the first token of each item: of its doc comments, attributes, modifiers, keyword, whichever comes first.
fn mark_items(tokens: &mut [Token<'_>]) {
    let mut i = 0;
    while i < tokens.len() {
        let start = i;
        while i < tokens.len() {
            let token = &tokens[i];
            let follows = |kind: Kind| tokens.get(i + 1).is_some_and(|next| next.kind == kind);
            if token.kind == Kind::Doc {
                i += 1;
            } else if token.is_symbol("@") && follows(Kind::Word) {
                i = after_attribute(tokens, i);
            } else if token.is_word_of(MODIFIERS)
                && tokens.get(i + 1).is_some_and(|next| next.is_word_of(MODIFIERS) || next.is_word_of(ITEM_WORDS))
            {
                i += 1;
            } else {
                break;
            }
        }
        let begins = i > start
            || tokens[i].is_word_of(ITEM_WORDS)
                && tokens.get(i + 1).is_some_and(|next| match next.kind {
                    Kind::Word => !next.first_on_line,
                    Kind::Str => !next.first_on_line,
                    Kind::Symbol => tokens[i].first_on_line && matches!(next.text, "(" | "{" | "<:"),
                    _ => false,
                });
        tokens[start].starts_item = begins;
        i = i.max(start) + 1;
    }
}

fn after_attribute(tokens: &[Token<'_>], at: usize) -> usize {
    let mut i = at + 2;
    if !tokens.get(i).is_some_and(|token| token.is_symbol("(")) {
        return i;
    }
    let mut open = 0usize;
    while let Some(token) = tokens.get(i) {
        if token.is_symbol("(") {
            open += 1;
        } else if token.is_symbol(")") {
            open -= 1;
        } else if token.first_on_line && (token.is_word_of(ITEM_WORDS) || token.is_word_of(MODIFIERS)) {
            return i;
        }
        i += 1;
        if open == 0 {
            return i;
        }
    }
    i
}

/// Replace items that are nested too deeply by one bad token, with one diagnostic per run of them.
fn limit_depth(file: u32, tokens: &mut Vec<Token<'_>>, diagnostics: &mut Vec<Diagnostic>) {
    let mut kept: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut depth = Depth::default();
    // Where in `kept`, and at which depth, the item at hand began.
    let mut item = (0, Depth::default());
    let mut skipping = false;
    let mut operand = false;
    for token in tokens.drain(..) {
        if token.starts_item {
            skipping = false;
            item = (kept.len(), depth.clone());
        } else if skipping {
            if token.first_on_line && token.is_symbol("}") {
                skipping = false;
            } else {
                if let Some(bad) = kept.last_mut() {
                    bad.end = token.end;
                }
                continue;
            }
        }
        depth.step(&token, operand);
        operand = ends_operand(&token);
        if depth.total <= MAX_DEPTH {
            kept.push(token);
            continue;
        }
        skipping = true;
        operand = false;
        depth = item.1.clone();
        let dropped = kept.len() > item.0;
        let first = if dropped { kept.swap_remove(item.0) } else { token.clone() };
        kept.truncate(item.0);
        if let Some(last) = kept.last_mut().filter(|last| last.kind == Kind::Bad && last.starts_item) {
            last.end = token.end;
            continue;
        }
        diagnostics.push(Diagnostic {
            code: "RW0104",
            severity: Severity::Error,
            message: "nested too deeply".into(),
            primary: Label {
                span: Span { file, start: token.start, end: token.end },
                text: format!("more than {MAX_DEPTH} brackets and operators are open here"),
            },
            secondary: Vec::new(),
            help: Some("split the expression, or name its parts with `let`".into()),
            fix: None,
        });
        kept.push(Token { kind: Kind::Bad, end: token.end, starts_item: true, reserved: false, ..first });
    }
    *tokens = kept;
}

/// How deep the tree may be at a token.
#[derive(Clone, Default)]
struct Depth {
    total: usize,
    /// Operators so far in the expression at hand, per open bracket.
    open: Vec<usize>,
    /// The same, outside the innermost bracket.
    here: usize,
}

impl Depth {
    fn step(&mut self, token: &Token<'_>, after_operand: bool) {
        match (token.kind, token.text) {
            (Kind::Symbol, "(" | "{" | "[") => {
                self.open.push(self.here);
                self.here = 0;
                self.total += 1;
            }
            (Kind::Symbol, ")" | "}" | "]") => {
                if let Some(outside) = self.open.pop() {
                    self.total -= 1 + self.here;
                    self.here = outside;
                }
            }
            (Kind::Symbol, "," | ":" | "=" | "=>" | "<=>" | "." | "->" | "..." | "@" | "<:") => {
                self.restart(token.text)
            }
            (Kind::Symbol, _) => self.count(),
            (Kind::Word, "or" | "and" | "not" | "is") => self.count(),
            (Kind::Word, "for" | "in") => {}
            (Kind::Word | Kind::Int | Kind::Float | Kind::Str, _) if after_operand => self.restart(""),
            _ => {}
        }
    }

    fn count(&mut self) {
        self.here += 1;
        self.total += 1;
    }

    fn restart(&mut self, symbol: &str) {
        if symbol != "." {
            self.total -= self.here;
            self.here = 0;
        }
    }
}

fn ends_operand(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Word => !token.is_word_of(OPERATOR_WORDS),
        Kind::Symbol => matches!(token.text, ")" | "}" | "]" | "'" | "..."),
        _ => true,
    }
}

/// May a broken statement of any kind of block end before this token? Keywords and assignments, and at the beginning
/// of a line two words side by side, which are likely a misspelt keyword and a name.
fn starts_statement(tokens: &[Token<'_>]) -> bool {
    let [token, next, rest @ ..] = tokens else { return false };
    if token.kind != Kind::Word {
        return false;
    }
    // Words are looked up last: most are in the middle of a line.
    let keyword =
        || [RULE_STATEMENT_WORDS, BLOCK_STATEMENT_WORDS, STEP_WORDS].iter().any(|words| token.is_word_of(words));
    let side_by_side = || next.kind == Kind::Word && !next.first_on_line && !is_keyword(next.text);
    let starts = next.is_symbol("=")
        || (token.first_on_line || token.reserved) && keyword()
        || token.first_on_line && !rest.first().is_some_and(|after| after.is_symbol("=")) && side_by_side();
    starts && !token.is_word_of(OPERATOR_WORDS)
}
