//! Bytes of a text and positions of the protocol: lines, and columns in the units that client and server agreed on.
//!
//! **Invariant**: every position leads to a character boundary of the text, and every byte to a position: what lies
//! outside of a line or of the text is its end.

use lsp_types::{Position, PositionEncodingKind, Range};

/// What columns are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// What the protocol uses unless both sides know better.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The best of those that a client offers.
    pub fn agreed(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        let has = |kind| offered.is_some_and(|offered| offered.contains(&kind));
        if has(PositionEncodingKind::UTF8) {
            Encoding::Utf8
        } else if has(PositionEncodingKind::UTF32) && !has(PositionEncodingKind::UTF16) {
            Encoding::Utf32
        } else {
            Encoding::Utf16
        }
    }

    /// Its name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn units(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }

    /// How many units a text has.
    pub fn length(self, text: &str) -> u32 {
        text.chars().map(|c| self.units(c)).sum::<usize>() as u32
    }
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<u32>,
    encoding: Encoding,
}

impl Lines {
    /// The lines of a text; `\n`, `\r\n` and `\r` end one.
    pub fn new(text: &str, encoding: Encoding) -> Lines {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        Lines { starts: std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect(), encoding }
    }

    /// A line's text without its end.
    fn line<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let start = self.starts[line] as usize;
        let end = self.starts.get(line + 1).map_or(text.len(), |next| *next as usize);
        text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The position of a byte.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = text.floor_char_boundary(offset as usize);
        let line = self.starts.partition_point(|start| *start as usize <= offset).saturating_sub(1);
        let whole = self.line(text, line);
        let inside = whole.floor_char_boundary(offset - self.starts[line] as usize);
        Position { line: line as u32, character: self.encoding.length(&whole[..inside]) }
    }

    /// The byte at a position.
    pub fn offset(&self, text: &str, position: Position) -> u32 {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return text.len() as u32;
        }
        let mut left = position.character as usize;
        let mut at = self.starts[line] as usize;
        for c in self.line(text, line).chars() {
            let units = self.encoding.units(c);
            if left < units {
                break;
            }
            left -= units;
            at += c.len_utf8();
        }
        at as u32
    }

    /// The range of bytes `start..end`.
    pub fn range(&self, text: &str, start: u32, end: u32) -> Range {
        Range { start: self.position(text, start), end: self.position(text, end.max(start)) }
    }

    /// What columns are counted in.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    #[test]
    fn columns_are_counted_in_the_units_that_were_agreed() {
        let text = "é∀𝄞x\r\ny";
        let at = text.find('x').expect("there") as u32;
        let column = |encoding| Lines::new(text, encoding).position(text, at).character;
        assert_eq!(ALL.map(column), [9, 4, 3]);
        for encoding in ALL {
            let lines = Lines::new(text, encoding);
            assert_eq!(lines.position(text, at + 3), Position { line: 1, character: 0 });
            // Between the units of one character, behind the line, behind the text.
            assert_eq!(lines.offset(text, Position { line: 0, character: 99 }), at + 1);
            assert_eq!(lines.offset(text, Position { line: 7, character: 1 }), text.len() as u32);
        }
        let lines = Lines::new(text, Encoding::Utf16);
        assert_eq!(lines.offset(text, Position { line: 0, character: 3 }), "é∀".len() as u32);
    }

    #[test]
    fn the_shortest_way_to_count_is_chosen() {
        let [utf8, utf16, utf32] = ALL.map(Encoding::kind);
        assert_eq!(Encoding::agreed(None), Encoding::Utf16);
        assert_eq!(Encoding::agreed(Some(&[utf16.clone(), utf8])), Encoding::Utf8);
        assert_eq!(Encoding::agreed(Some(std::slice::from_ref(&utf32))), Encoding::Utf32);
        assert_eq!(Encoding::agreed(Some(&[utf32, utf16])), Encoding::Utf16);
    }

    proptest! {
        #[test]
        fn bytes_and_positions_lead_to_each_other(text in "[a\u{e9}\u{2200}\u{1d11e}\r\n \t]{0,40}") {
            for encoding in ALL {
                let lines = Lines::new(&text, encoding);
                for offset in 0..=text.len() as u32 + 2 {
                    let position = lines.position(&text, offset);
                    let back = lines.offset(&text, position);
                    prop_assert!(text.is_char_boundary(back as usize));
                    prop_assert_eq!(lines.position(&text, back), position);
                    let inside_end = text[..text.floor_char_boundary(offset as usize)].ends_with('\r');
                    if text.is_char_boundary(offset as usize) && !inside_end {
                        prop_assert_eq!(back, offset.min(text.len() as u32));
                    }
                }
                for line in 0..6 {
                    for character in 0..12 {
                        let offset = lines.offset(&text, Position { line, character });
                        prop_assert!(text.is_char_boundary(offset as usize));
                    }
                }
            }
        }
    }
}
