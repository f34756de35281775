//! Every word of the rule language with its meaning: what `rewright explain removes` prints.
//!
//! Keywords, attributes and concepts. A test parses every example and compares the list with the keywords of the
//! grammar, so that none is missing and none is made up.

mod concepts;
mod items;
mod parts;

use concepts::CONCEPTS;
use items::ITEMS;
use parts::{ATTRIBUTES, CLAUSES, EXPRESSIONS};

/// A word and what it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    /// `removes`, `@sample`, `state`
    pub word: &'static str,
    /// Where it stands: `clause of a rule`.
    pub kind: &'static str,
    /// One paragraph: what it says, and when it is needed.
    pub text: &'static str,
    /// Items of a pack in which it stands; empty where there is nothing to show.
    pub example: &'static str,
}

/// All words by subject: items and their modifiers, clauses and steps, attributes, expressions, concepts.
pub const TABLES: &[&[Word]] = &[ITEMS, CLAUSES, ATTRIBUTES, EXPRESSIONS, CONCEPTS];

/// All words in this order.
pub fn all() -> impl Iterator<Item = &'static Word> {
    TABLES.iter().copied().flatten()
}

/// The entries of a word; an attribute also without its `@`. A word may have several meanings.
pub fn find(word: &str) -> Vec<&'static Word> {
    let known = |entry: &&Word| entry.word == word || entry.word.strip_prefix('@') == Some(word);
    all().filter(known).collect()
}

const fn word(word: &'static str, kind: &'static str, text: &'static str, example: &'static str) -> Word {
    Word { word, kind, text, example }
}

#[cfg(test)]
mod tests {
    use super::{CONCEPTS, all, find};
    use crate::syntax::token::keywords;
    use std::collections::BTreeSet;

    #[test]
    fn every_keyword_has_a_meaning_and_no_other_word_is_called_one() {
        let keywords: BTreeSet<&str> = keywords().collect();
        let concepts: BTreeSet<&str> = CONCEPTS.iter().map(|concept| concept.word).collect();
        let known: BTreeSet<&str> = all().map(|entry| entry.word).filter(|word| !word.starts_with('@')).collect();
        let words: BTreeSet<&str> = known.difference(&concepts).copied().collect();
        let literals = BTreeSet::from(["_", "eval", "false", "true"]);
        assert_eq!(words, keywords.union(&literals).copied().collect());
        assert!(keywords.is_disjoint(&concepts));
    }

    #[test]
    fn examples_are_packs() {
        for entry in all() {
            assert!(entry.text.ends_with('.') && entry.text.contains(' '), "{}", entry.word);
            let (_, diagnostics) = crate::syntax::parse(0, entry.example);
            assert!(diagnostics.is_empty(), "{}: {diagnostics:?}", entry.word);
            assert!(entry.example.is_empty() || entry.example.contains(entry.word) || CONCEPTS.contains(entry));
        }
    }

    #[test]
    fn attributes_are_found_with_and_without_their_sign() {
        assert_eq!(find("@sample"), find("sample"));
        assert!(find("sampel").is_empty());
    }
}
