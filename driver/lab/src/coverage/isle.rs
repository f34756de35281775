//! ISLE, as far as left sides of rules need it: expressions in parentheses, and which of them are rules.

use thiserror::Error;

/// A term of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// A variable, a number, `_`, or a type (`$I32`).
    Atom(String),
    /// A term and its arguments.
    Term(String, Vec<Pattern>),
    /// `name @ pattern`.
    Bind(String, Box<Pattern>),
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Counted from 1.
    pub line: usize,
    /// What it defines: `simplify`, `simplify_skeleton`, or one of their helpers.
    pub of: String,
    /// The argument of what it defines, where there is one.
    pub pattern: Option<Pattern>,
}

/// Why a text is not ISLE.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ReadError {
    /// A parenthesis without its partner.
    #[error("line {0}: this parenthesis has no partner")]
    Unbalanced(usize),
    /// Terms within terms without end.
    #[error("line {0}: terms are nested too deeply")]
    TooDeep(usize),
}

/// Cranelift's patterns are a dozen terms deep at most.
const MAX_DEPTH: usize = 100;

enum Sexp {
    Atom(String),
    List(usize, Vec<Sexp>),
}

/// The rules of a file, in order.
pub fn read(text: &str) -> Result<Vec<Rule>, ReadError> {
    let rules = lists(text)?.into_iter().filter_map(|item| match item {
        Sexp::List(line, items) if matches!(items.first(), Some(Sexp::Atom(word)) if word == "rule") => {
            // A name and a priority may come before the left side.
            let left = items.into_iter().find_map(|item| match item {
                Sexp::List(_, left) => Some(left),
                Sexp::Atom(_) => None,
            })?;
            let mut left = patterns(left).into_iter();
            let Some(Pattern::Atom(of)) = left.next() else { return None };
            Some(Rule { line, of, pattern: left.next() })
        }
        Sexp::List(..) | Sexp::Atom(_) => None,
    });
    Ok(rules.collect())
}

fn lists(text: &str) -> Result<Vec<Sexp>, ReadError> {
    let mut open: Vec<(usize, Vec<Sexp>)> = vec![(0, vec![])];
    for (i, line) in text.lines().enumerate() {
        let code = line.split(';').next().unwrap_or_default();
        // A binding may be written without spaces.
        let code = code.replace('(', " ( ").replace(')', " ) ").replace('@', " @ ");
        for word in code.split_whitespace() {
            match word {
                "(" if open.len() > MAX_DEPTH => return Err(ReadError::TooDeep(i + 1)),
                "(" => open.push((i + 1, vec![])),
                ")" => {
                    let (line, items) = open.pop().ok_or(ReadError::Unbalanced(i + 1))?;
                    open.last_mut().ok_or(ReadError::Unbalanced(i + 1))?.1.push(Sexp::List(line, items));
                }
                word => open.last_mut().ok_or(ReadError::Unbalanced(i + 1))?.1.push(Sexp::Atom(word.to_string())),
            }
        }
    }
    match (open.pop(), open.len()) {
        (Some((_, items)), 0) => Ok(items),
        (Some((line, _)), _) => Err(ReadError::Unbalanced(line)),
        (None, _) => Ok(vec![]),
    }
}

fn patterns(items: Vec<Sexp>) -> Vec<Pattern> {
    let mut out: Vec<Pattern> = vec![];
    let mut bind: Option<String> = None;
    for item in items {
        let pattern = match item {
            Sexp::Atom(word) if word == "@" => {
                if let Some(Pattern::Atom(name)) = out.pop() {
                    bind = Some(name);
                }
                continue;
            }
            Sexp::Atom(word) => Pattern::Atom(word),
            Sexp::List(_, inner) => {
                let mut inner = patterns(inner);
                match (inner.is_empty(), inner.first()) {
                    (false, Some(Pattern::Atom(head))) => {
                        let head = head.clone();
                        Pattern::Term(head, inner.split_off(1))
                    }
                    _ => Pattern::Term(String::new(), inner),
                }
            }
        };
        out.push(match bind.take() {
            Some(name) => Pattern::Bind(name, Box::new(pattern)),
            None => pattern,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(name: &str) -> Pattern {
        Pattern::Atom(name.into())
    }

    fn term(head: &str, args: Vec<Pattern>) -> Pattern {
        Pattern::Term(head.into(), args)
    }

    #[test]
    fn rules_are_found_with_their_left_sides() {
        let text = "(decl rec all_zero (Type) Value) ; not (a rule\n\n\
                    (rule named 2 (simplify (imul ty _ zero @ (iconst_u ty 0)))\n (subsume zero))\n\
                    (rule (simplify_skeleton (brif c _ _)) (if-let x (truthy c)) (replace_branch_cond x))";
        let rules = read(text).unwrap();
        assert_eq!(rules.len(), 2);
        assert_eq!((rules[0].line, rules[0].of.as_str()), (3, "simplify"));
        let zero = Pattern::Bind("zero".into(), Box::new(term("iconst_u", vec![atom("ty"), atom("0")])));
        assert_eq!(rules[0].pattern, Some(term("imul", vec![atom("ty"), atom("_"), zero])));
        assert_eq!(rules[1].pattern, Some(term("brif", vec![atom("c"), atom("_"), atom("_")])));
    }

    #[test]
    fn what_is_no_isle_is_refused() {
        assert_eq!(read("(rule\n(a b)").unwrap_err(), ReadError::Unbalanced(1));
        assert_eq!(read("a\n)").unwrap_err(), ReadError::Unbalanced(2));
        assert_eq!(read(&"(".repeat(1_000_000)).unwrap_err(), ReadError::TooDeep(1));
    }
}
