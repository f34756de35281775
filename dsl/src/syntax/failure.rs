//! What the grammar reports where it cannot go on: a place, and what could have stood there.
//!
//! Chumsky merges failures at the furthest place all the time, so this is two words to copy: expectations are a bit
//! set over [`Expected`], whose order is the order in which a message lists them.

use super::token::Token;
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::span::SimpleSpan;
use chumsky::util::MaybeRef;

/// Input of the grammar.
pub(crate) type Tokens<'t> = &'t [Token<'t>];

/// Where parsing failed and what would have been fine there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    /// Index of the token found; the number of tokens at the end of the file.
    pub(crate) at: usize,
    /// Bit set over [`Expected`].
    pub(crate) expected: u64,
    /// What is wrong there, when it is not a matter of expectations.
    pub(crate) mistake: Option<Mistake>,
}

/// A mistake in text that the grammar could read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mistake {
    /// `a == b == c`, up to the token before `end`.
    Chained { end: usize },
    /// A second `using`.
    SecondUsing,
    /// An integer that does not fit its place.
    TooLarge,
}

macro_rules! expected {
    ($($name:ident = $text:literal,)*) => {
        /// Something that could have stood where parsing failed.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub(crate) enum Expected {
            $($name,)*
        }

        impl Expected {
            /// All, in the order of messages.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            /// As a message names it.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

expected! {
    Expression = "an expression",
    Name = "a name",
    Type = "a type",
    Parameter = "a parameter",
    Integer = "an integer",
    String = "a string",
    Effect = "an effect",
    Operator = "an operator",
    Arrow = "`=>`",
    ThinArrow = "`->`",
    Equals = "`=`",
    OpenParen = "`(`",
    CloseParen = "`)`",
    OpenBrace = "`{`",
    CloseBrace = "`}`",
    Comma = "`,`",
    Colon = "`:`",
    Dots = "`...`",
    Dot = "`.`",
    Subtype = "`<:`",
    Bar = "`|`",
    At = "`at`",
    As = "`as`",
    Model = "`model`",
    For = "`for`",
    In = "`in`",
    Limit = "`limit`",
    After = "`after`",
    Before = "`before`",
    Else = "`else`",
    Fires = "`fires`",
    Using = "`using`",
    Verdict = "a verdict",
    Clause = "a clause",
    Statement = "a statement",
    Step = "a step",
    Item = "an item",
    Pack = "`pack`",
    EndOfFile = "the end of the file",
}

impl Expected {
    /// As a bit set.
    pub(crate) fn bit(self) -> u64 {
        1 << self as u8
    }
}

impl Failure {
    /// Found at a token, something else expected.
    pub(crate) fn expected(at: usize, expected: u64) -> Self {
        Self { at, expected, mistake: None }
    }

    /// Was this expected?
    pub(crate) fn expects(&self, expected: Expected) -> bool {
        self.expected & expected.bit() != 0
    }
}

impl<'t> Error<'t, Tokens<'t>> for Failure {
    fn merge(self, other: Self) -> Self {
        Self { expected: self.expected | other.expected, ..self }
    }
}

impl<'t> LabelError<'t, Tokens<'t>, DefaultExpected<'t, Token<'t>>> for Failure {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'t, Token<'t>>>>(
        expected: E,
        _found: Option<MaybeRef<'t, Token<'t>>>,
        span: SimpleSpan,
    ) -> Self {
        let end = expected.into_iter().any(|expected| matches!(expected, DefaultExpected::EndOfInput));
        Self::expected(span.start, if end { Expected::EndOfFile.bit() } else { 0 })
    }
}

impl<'t> LabelError<'t, Tokens<'t>, Expected> for Failure {
    fn expected_found<E: IntoIterator<Item = Expected>>(
        expected: E,
        _found: Option<MaybeRef<'t, Token<'t>>>,
        span: SimpleSpan,
    ) -> Self {
        Self::expected(span.start, expected.into_iter().fold(0, |bits, expected| bits | expected.bit()))
    }

    fn label_with(&mut self, label: Expected) {
        self.expected = label.bit();
    }
}
