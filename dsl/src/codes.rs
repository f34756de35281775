//! Every diagnostic code with its explanation: what `rewright explain RW0105` prints.
//!
//! The first two digits name the stage: `RW01` syntax, `RW02` names, `RW03` types and effects, `RW04` what the language
//! has but this version does not do yet, `RW05` lints. A code never changes its meaning and is never used again.

/// A code and what it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// `RW0105`
    pub code: &'static str,
    /// A few words.
    pub title: &'static str,
    /// One paragraph: what is wrong, why that is an error, and what to do.
    pub text: &'static str,
}

/// All codes, by stage, each in ascending order.
pub const TABLES: &[&[Code]] = &[SYNTAX, NAMES, TYPES, NOT_YET, LINTS];

/// The explanation of a code. Upper or lower case.
pub fn explain(code: &str) -> Option<&'static str> {
    find(code).map(|code| code.text)
}

/// A code's entry. Upper or lower case.
pub fn find(code: &str) -> Option<&'static Code> {
    TABLES.iter().copied().flatten().find(|known| known.code.eq_ignore_ascii_case(code))
}

const fn code(code: &'static str, title: &'static str, text: &'static str) -> Code {
    Code { code, title, text }
}

/// `RW01xx`: text that is not a pack.
const SYNTAX: &[Code] = &[
    code(
        "RW0100",
        "too much",
        "A file has more than 200 mistakes, or is larger than 2 GiB. Only the first mistakes are shown. Most often the \
         file is not a rule pack at all.",
    ),
    code(
        "RW0101",
        "unexpected character",
        "The text holds a character that begins nothing in the language. Names consist of ASCII letters, digits and `_`; \
         any other text belongs in a string or a comment.",
    ),
    code(
        "RW0102",
        "string does not end",
        "A string ends on the line on which it begins, with `\"`. A quote inside a string is written `\\\"`, a new line \
         `\\n`.",
    ),
    code(
        "RW0103",
        "malformed literal",
        "A number or a string is not well-formed, or a number does not fit its place. Integers are written 255, -1, 0xff \
         or 0b1111, with `_` between digits where it helps; floats 1.5, 1e9 or 2.5e-3. Escapes in strings are \\\" \\\\ \
         \\n \\t \\r and \\u{hex}. Literals fit 128 bits; counts and integers among type arguments fit 64. Whether a \
         literal fits the type of the place it stands in is checked later.",
    ),
    code(
        "RW0104",
        "nested too deeply",
        "More than 256 brackets and operators are open at one place. The limit keeps every later stage from running out \
         of stack. Name the parts of a large expression with `let`; a list with commas is not nested and may be long.",
    ),
    code(
        "RW0105",
        "unexpected token",
        "The text does not follow the grammar here. The message names what was found and all that could have stood in its \
         place. Only the item that the token belongs to is lost: everything else in the file is still read and checked.",
    ),
    code(
        "RW0106",
        "comparisons do not chain",
        "`a == b == c` could mean two things, so it means neither. Write `a == b and b == c`, or put one comparison in \
         brackets to compare its truth value. `is` counts as a comparison.",
    ),
    code(
        "RW0107",
        "doc comment without an item",
        "`///` documents the item that follows it, `//!` at the top of a file documents the pack. Elsewhere they document \
         nothing and are treated as plain comments. Write `//` there.",
    ),
    code(
        "RW0108",
        "bracket is never closed",
        "A bracket is open where an item or statement begins, where another kind of bracket closes, or at the end of the \
         file. The label shows the bracket; the closing one is missing somewhere behind it.",
    ),
    code(
        "RW0109",
        "clause given twice",
        "A clause that can be given once is given again, and it is not clear which one is meant. Keep one of them.",
    ),
    code(
        "RW0110",
        "closing bracket without an opening one",
        "A `)`, `}` or `]` stands where no bracket is open. Remove it, or look before it for a bracket that closes too \
         early.",
    ),
];

/// `RW02xx`: names.
const NAMES: &[Code] = &[];

/// `RW03xx`: types and effects.
const TYPES: &[Code] = &[];

/// `RW04xx`: not yet.
const NOT_YET: &[Code] = &[];

/// `RW05xx`: lints.
const LINTS: &[Code] = &[];

#[cfg(test)]
mod tests {
    use super::{TABLES, explain};

    #[test]
    fn tables_are_in_order_and_explain() {
        for (stage, table) in TABLES.iter().enumerate() {
            assert!(table.windows(2).all(|pair| pair[0].code < pair[1].code));
            for code in *table {
                assert!(code.code.starts_with(&format!("RW0{}", stage + 1)) && code.code.len() == 6, "{}", code.code);
                assert!(code.text.len() > 60 && code.text.ends_with('.'), "{}", code.code);
            }
        }
        assert!(explain("rw0105").is_some() && explain("RW9999").is_none());
    }
}
