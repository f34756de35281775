//! Tokens: what the lexer gives and the grammar reads. A token borrows its text from the source.

use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Brackets and operators that may be open at one place. Hand-written packs stay below 20.
pub(crate) const MAX_DEPTH: usize = 256;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A name or a keyword; which of them depends on the place.
    Word,
    /// An integer, well-formed and within `i128`.
    Int,
    /// A float, well-formed.
    Float,
    /// A string with its quotes, well-formed.
    Str,
    /// Punctuation or an operator.
    Symbol,
    /// `/// text` that stands before an item.
    Doc,
    /// `//! text` that stands before everything else.
    PackDoc,
    /// Text that a diagnostic already speaks about. The grammar takes it for whatever it needs there.
    Bad,
}

/// A token and what its surroundings say about it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Token<'s> {
    /// What it is.
    pub(crate) kind: Kind,
    /// As written.
    pub(crate) text: &'s str,
    /// First byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
    /// Nothing but white space stands before it on its line.
    pub(crate) first_on_line: bool,
    /// An item (with its doc comments, attributes and modifiers) begins here.
    pub(crate) starts_item: bool,
    /// A statement of some block may begin here; recovery stops before it.
    pub(crate) starts_statement: bool,
    /// A word that is a keyword here, by what follows it; it cannot be a name.
    pub(crate) reserved: bool,
}

/// A comment that is not documentation. The grammar does not see it, the formatter does.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Comment<'s> {
    /// From `//` to the end of the line, without trailing white space.
    pub(crate) text: &'s str,
    /// First byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
    /// Nothing but white space stands before it on its line.
    pub(crate) first_on_line: bool,
}

impl Token<'_> {
    /// Is it this word?
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// Is it this symbol?
    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }

    /// Is it one of these words?
    pub(crate) fn is_word_of(&self, words: &[&str]) -> bool {
        self.kind == Kind::Word && words.contains(&self.text)
    }
}

/// Words that begin an item.
pub(crate) const ITEM_WORDS: &[&str] =
    &["import", "type", "effect", "fact", "fn", "override", "rule", "infer", "ruleset", "schedule", "example"];
/// Words that may stand before an item's word.
pub(crate) const MODIFIERS: &[&str] = &["unsafe", "dynamic", "host", "todo"];
/// Words that begin a statement of a rule's block.
pub(crate) const RULE_STATEMENT_WORDS: &[&str] = &["match", "let", "rewrite", "when", "removes", "because"];
/// Words that begin a step of a schedule.
pub(crate) const STEP_WORDS: &[&str] = &["run", "saturate", "repeat"];
/// Words that begin a statement of an example's block, assignments aside.
pub(crate) const BLOCK_STATEMENT_WORDS: &[&str] = &["do", "return", "if"];
/// Words that begin a function's clause.
pub(crate) const FN_CLAUSE_WORDS: &[&str] = &[
    "as",
    "pure",
    "effects",
    "cost",
    "requires",
    "spec",
    "commutative",
    "associative",
    "idempotent",
    "identity",
    "recurrence",
    "lazy",
];
/// The remaining keywords. None of them is reserved: see [`Token::reserved`].
pub(crate) const OTHER_WORDS: &[&str] = &[
    "pack", "model", "at", "limit", "becomes", "equals", "differs", "stays", "fires", "using", "before", "else",
    "const",
];
/// Words that are operators of expressions; never names there.
pub(crate) const OPERATOR_WORDS: &[&str] = &["or", "and", "not", "is", "for", "in", "after"];

/// All keywords, group by group.
pub(crate) fn keywords() -> impl Iterator<Item = &'static str> {
    let groups = [
        ITEM_WORDS,
        MODIFIERS,
        RULE_STATEMENT_WORDS,
        STEP_WORDS,
        BLOCK_STATEMENT_WORDS,
        FN_CLAUSE_WORDS,
        OTHER_WORDS,
        OPERATOR_WORDS,
    ];
    groups.into_iter().flatten().copied()
}

/// May it be a keyword somewhere?
pub(crate) fn is_keyword(word: &str) -> bool {
    static KEYWORDS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| keywords().collect());
    KEYWORDS.contains(word)
}
