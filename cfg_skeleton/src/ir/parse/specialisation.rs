//! Which constants stand for which parameters of a function: `f(_, 3)`, `narrow = f([1.0, 2.0], _)`.

use super::lex::{Token, lex};
use super::{Parse, ParseError, Parser, error_at};
use rewright_typeprop::{Ty, Universe};
use std::collections::BTreeSet;

/// A function with constants for some of its parameters, as people ask for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The name of the new function.
    pub name: Option<String>,
    /// The general function.
    pub function: String,
    text: String,
    /// Where its arguments begin in `text`.
    open: usize,
}

impl Request {
    /// Reads `name = function(argument, ..)` up to the arguments, whose types the function says.
    ///
    /// # Errors
    /// There is no function, or no parenthesis.
    pub fn read(text: &str) -> Result<Request, ParseError> {
        let Some(open) = text.find('(') else {
            let message = "expected a function and its arguments: `f(_, 3)`, `name = f(_, 3)`";
            return Err(error_at(text, text.len(), message.into()));
        };
        let (name, function) = match text[..open].split_once('=') {
            Some((name, function)) => (Some(name.trim()), function.trim()),
            None => (None, text[..open].trim()),
        };
        for (what, said) in [("the new function", name), ("the function", Some(function))] {
            if said.is_some_and(|said| said.is_empty() || said.contains(char::is_whitespace)) {
                return Err(error_at(text, 0, format!("expected the name of {what}")));
            }
        }
        Ok(Request { name: name.map(str::to_string), function: function.to_string(), text: text.to_string(), open })
    }

    /// A constant, or `None` for `_`, by argument. Types of parameters that are given may be fewer or more than there
    /// are arguments.
    ///
    /// # Errors
    /// Something is no constant of its parameter's type.
    pub fn arguments(&self, params: &[Ty], universe: &Universe) -> Result<Vec<Option<i64>>, ParseError> {
        let tokens =
            lex(&self.text[self.open..]).map_err(|e| ParseError { column: e.column + self.open as u32, ..e })?;
        let tokens = tokens.into_iter().map(|(at, token)| (at + self.open, token)).collect();
        let mut universe = universe.clone();
        let functions = BTreeSet::new();
        let mut parser = Parser { text: &self.text, tokens, at: 0, universe: &mut universe, functions };
        parser.expect('(')?;
        let mut found = vec![];
        while !parser.eat(')') {
            found.push(parser.argument(params.get(found.len()).copied())?);
            if !parser.eat(',') {
                parser.expect(')')?;
                break;
            }
        }
        if parser.at_end() { Ok(found) } else { parser.fail("expected nothing behind the arguments") }
    }
}

impl Parser<'_> {
    /// `_`, or a constant of a parameter's type.
    fn argument(&mut self, ty: Option<Ty>) -> Parse<Option<i64>> {
        if self.eat_word("_") {
            return Ok(None);
        }
        let scalar = ty.and_then(|ty| self.universe.types.scalar(ty));
        if scalar.is_some_and(|scalar| !scalar.is_int()) && matches!(self.peek(), Some(Token::Number(_))) {
            return self.fail("this parameter is a float: write its constant with a point, `2.0`");
        }
        if scalar.is_some_and(|scalar| scalar.is_int()) && matches!(self.peek(), Some(Token::Float(_))) {
            return self.fail("this parameter is an integer: write its constant without a point");
        }
        let shown = ty.map(|ty| self.universe.types.display(ty));
        match (scalar, self.peek()) {
            (Some(_), Some(Token::Punct('['))) => {
                self.fail(format!("an array is no constant of type `{}`", shown.unwrap_or_default()))
            }
            // An array's number is a key, which nothing but its elements tells.
            (None, Some(Token::Number(_) | Token::Float(_))) if ty.is_some() => {
                self.fail(format!("a number is no constant of type `{}`", shown.unwrap_or_default()))
            }
            _ => self.constant(ty).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::universe;

    fn arguments(text: &str, types: &[&str]) -> Result<Vec<Option<i64>>, String> {
        let universe = universe();
        let ty = |name: &&str| {
            universe.types.find_instance(&rewright_typeprop::TypeExpr::App(universe.types.alike(name)[0], vec![]), &[])
        };
        let types: Vec<Ty> = types.iter().map(|name| ty(name).expect("it is declared")).collect();
        Request::read(text).and_then(|r| r.arguments(&types, &universe)).map_err(|e| e.to_string())
    }

    #[test]
    fn arguments_are_constants_of_their_types_or_open() {
        assert_eq!(arguments("f(_, -3)", &["i64", "i32"]), Ok(vec![None, Some(-3)]));
        assert_eq!(arguments(" g = %f( 1.5 ,)", &["f64"]), Ok(vec![Some(1.5f64.to_bits() as i64)]));
        assert_eq!(arguments("f()", &[]), Ok(vec![]));
        let request = Request::read("u0:4 = u0:3(_)").expect("names of CLIF are names");
        assert_eq!((request.name.as_deref(), &*request.function), (Some("u0:4"), "u0:3"));
    }

    #[test]
    fn mistakes_have_their_place() {
        for (text, place) in [
            ("", "1:1"),
            ("f", "1:2"),
            ("(3)", "1:1"),
            (" = f(3)", "1:1"),
            ("f g(3)", "1:1"),
            ("f(3", "1:4"),
            ("f(3) x", "1:6"),
            ("f(3 4)", "1:5"),
            ("f(%x)", "1:3"),
            ("f(1.5)", "1:3"),
            ("f(\"", "1:3"),
            ("f(99999999999999999999)", "1:3"),
            ("f([1])", "1:3"),
        ] {
            let error = arguments(text, &["i64"]).expect_err(text);
            assert!(error.starts_with(&format!("{place}: ")), "{text}: {error}");
        }
        assert!(arguments("f([1])", &["i64"]).expect_err("it is no array").contains("no constant of type `i64`"));
        assert!(arguments("f(2)", &["f64"]).expect_err("it is no float").contains("`2.0`"));
        assert!(arguments("f(2.0)", &["i64"]).expect_err("it is no integer").contains("without a point"));
    }
}
