//! Every diagnostic code with its explanation: what `rewright explain RW0105` prints.
//!
//! The first two digits name the stage: `RW01` syntax, `RW02` names, `RW03` types and effects, `RW04` what a rule must
//! be like, and from `RW0451` unsafe rules, lists, blocks and what this version does not do yet, `RW05` lints, `RW06`
//! examples, `RW07` what `verify` finds. A code never changes its meaning and is never used again.

mod declarations;
mod evidence;
mod rules;

use declarations::{NAMES, SYNTAX, TYPES};
use evidence::{EVIDENCE, EXAMPLES, LINTS};
use rules::RULES;

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
pub const TABLES: &[&[Code]] = &[SYNTAX, NAMES, TYPES, RULES, LINTS, EXAMPLES, EVIDENCE];

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
