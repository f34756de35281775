//! Every diagnostic code with its explanation: what `rewright explain RW0105` prints.
//!
//! The first two digits name the stage: `RW01` syntax, `RW02` names, `RW03` types and effects, `RW04` what a rule must
//! be like, and from `RW0451` unsafe rules, lists, blocks and what this version does not do yet, `RW05` lints, `RW06`
//! examples, `RW07` what `verify` finds. A code never changes its meaning and is never used again.

macro_rules! code {
    ($code:literal, $title:literal, $message:literal, $text:literal $(,)?) => {
        Code {
            code: $code,
            title: $title,
            message: $message,
            text: $text,
            example: include_str!(concat!("examples/", $code, ".rw")),
        }
    };
}

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
    /// How its messages read, or one of them where it has several; `..` stands for what the text at hand brings.
    pub message: &'static str,
    /// One paragraph: what is wrong, why that is an error, and what to do.
    pub text: &'static str,
    /// A small pack of which `rewright check` says this, or `rewright verify`.
    pub example: &'static str,
}

impl Code {
    /// Is it for `rewright verify` to find? `check` finds all others.
    pub fn is_verdict(&self) -> bool {
        EVIDENCE.iter().any(|verdict| verdict.code == self.code)
    }

    /// Does a message read like those of this code?
    pub fn reads(&self, message: &str) -> bool {
        let parts: Vec<&str> = self.message.split("..").collect();
        let [first, between @ .., last] = &parts[..] else { return message == self.message };
        let Some(mut rest) = message.strip_prefix(first) else { return false };
        for part in between {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}

/// Codes of one stage.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// What they are about.
    pub title: &'static str,
    /// In ascending order.
    pub codes: &'static [Code],
}

/// All codes.
pub const STAGES: &[Stage] = &[
    Stage { title: "Text", codes: SYNTAX },
    Stage { title: "Names", codes: NAMES },
    Stage { title: "Types and effects", codes: TYPES },
    Stage { title: "Rules", codes: RULES },
    Stage { title: "Lints", codes: LINTS },
    Stage { title: "Examples", codes: EXAMPLES },
    Stage { title: "Verification", codes: EVIDENCE },
];

/// All codes in ascending order.
pub fn all() -> impl Iterator<Item = &'static Code> {
    STAGES.iter().flat_map(|stage| stage.codes)
}

/// A code's entry. Upper or lower case.
pub fn find(code: &str) -> Option<&'static Code> {
    all().find(|known| known.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::{STAGES, all, find};

    #[test]
    fn tables_are_in_order_and_explain() {
        for (stage, table) in STAGES.iter().enumerate() {
            assert!(table.codes.windows(2).all(|pair| pair[0].code < pair[1].code));
            for code in table.codes {
                assert!(code.code.starts_with(&format!("RW0{}", stage + 1)) && code.code.len() == 6, "{}", code.code);
                assert!(code.text.len() > 60 && code.text.ends_with('.'), "{}", code.code);
                let said = code.message.replace("..", "");
                assert!(said.len() > 8 && !said.ends_with('.'), "{}: {}", code.code, code.message);
            }
        }
        assert!(find("rw0105").is_some() && find("RW9999").is_none());
        assert!(all().filter(|code| code.is_verdict()).all(|code| code.code.starts_with("RW07")));
    }

    #[test]
    fn messages_read_as_their_codes_say() {
        let code = find("RW0105").unwrap();
        assert!(code.reads("expected `(`, found `<`") && !code.reads("unexpected `(`, found `<`"), "{}", code.message);
        let code = find("RW0104").unwrap();
        assert!(code.reads("nested too deeply") && !code.reads("nested too deeply here"), "{}", code.message);
    }
}
