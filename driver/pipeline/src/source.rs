//! Places in sources, and functions as text before and after, for reports.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A place in a source file, as debug information gives it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct SourcePlace {
    /// As the compiler was given it. Without control characters: it is printed.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The call in whose place it is, where it was inlined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inlined_at: Option<Box<SourcePlace>>,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        match &self.inlined_at {
            Some(call) => write!(f, " (inlined at {call})"),
            None => Ok(()),
        }
    }
}

/// The text of a function before and after. Values that stay have one name in both.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sides {
    /// As it came in.
    pub before: Vec<TextLine>,
    /// As it goes out.
    pub after: Vec<TextLine>,
    /// By value that goes out: its name there, where that is not the one in the file.
    pub renamed: BTreeMap<String, String>,
}

/// A line of a function's text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TextLine {
    /// Without line end, and without what only compilers read.
    pub text: String,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<SourcePlace>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_as_compilers_write_them() {
        let place = |line, column, inlined_at| SourcePlace { file: "a.c".into(), line, column, inlined_at };
        assert_eq!(place(9, None, None).to_string(), "a.c:9");
        let call = Box::new(place(3, Some(7), None));
        assert_eq!(place(9, Some(2), Some(call)).to_string(), "a.c:9:2 (inlined at a.c:3:7)");
    }
}
