//! A text that is open in the editor.

use crate::position::{Encoding, Lines};
use lsp_types::TextDocumentContentChangeEvent;

/// An open document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its text.
    pub text: String,
    /// What the client calls this state of it.
    pub version: i32,
    /// Its lines.
    pub lines: Lines,
}

impl Document {
    /// A document as it is opened.
    pub fn new(text: String, version: i32, encoding: Encoding) -> Document {
        let lines = Lines::new(&text, encoding);
        Document { text, version, lines }
    }

    /// Makes changes, one after the other.
    pub fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        for change in changes {
            match change.range {
                Some(range) => {
                    let start = self.lines.offset(&self.text, range.start) as usize;
                    let end = (self.lines.offset(&self.text, range.end) as usize).max(start);
                    self.text.replace_range(start..end, &change.text);
                }
                None => self.text = change.text,
            }
            self.lines = Lines::new(&self.text, self.lines.encoding());
        }
        self.version = version;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::{Position, Range};

    #[test]
    fn changes_follow_each_other() {
        let mut document = Document::new("a∀\nb".into(), 1, Encoding::Utf16);
        let at =
            |line, from, to| Range { start: Position { line, character: from }, end: Position { line, character: to } };
        let change = |range, text: &str| TextDocumentContentChangeEvent {
            range: Some(range),
            range_length: None,
            text: text.into(),
        };
        document.change(vec![change(at(0, 1, 2), "𝄞\nc"), change(at(1, 0, 1), "d"), change(at(9, 9, 9), "!")], 2);
        assert_eq!((document.text.as_str(), document.version), ("a𝄞\nd\nb!", 2));
    }
}
