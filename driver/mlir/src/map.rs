//! Affine maps and sets.

use crate::lex::{Kind, Token, tokens};
use rewright_cfg_skeleton::nest::Affine;
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Numbers in the source are smaller than this.
pub(crate) const LARGEST: i128 = 1 << 40;

/// Constraints of a set: `true` for equalities, and what is 0 or at least 0.
pub(crate) type Constraints = Vec<(bool, Affine)>;

/// Why a map or set is not understood.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum MapError {
    /// No arrow follows the operands.
    #[error("`{0}` is no map")]
    NoMap(String),
    /// Another token has to stand there.
    #[error("expected `{expected}`, found `{found}`")]
    Expected {
        /// What has to.
        expected: String,
        /// What does.
        found: String,
    },
    /// Neither equality nor order.
    #[error("expected a relation, found `{0}`")]
    Relation(String),
    /// Nothing that an expression begins with.
    #[error("expected an expression, found `{0}`")]
    Expression(String),
    /// The text ends within brackets that this closes.
    #[error("expected `{0}`")]
    Unclosed(&'static str),
    /// It takes more operands than there are.
    #[error("too few operands")]
    TooFewOperands,
    /// It takes fewer operands than there are.
    #[error("too many operands")]
    TooManyOperands,
    /// A division whose divisor is unknown or not positive.
    #[error("`{0}` by what is no positive constant")]
    Divisor(String),
    /// More than [`MAX_DEPTH`] parentheses.
    #[error("parentheses are nested too deeply")]
    Depth,
    /// A literal that is not below [`LARGEST`].
    #[error("`{0}` is too large")]
    TooLarge(String),
    /// A name that its head does not introduce.
    #[error("`{0}` is not known here")]
    Unknown(String),
    /// A result that is not computed exactly.
    #[error("numbers are too large, or the expression is")]
    Broken,
}

/// Divides by what is no constant.
pub(crate) type Divide<'a> = dyn FnMut(&Affine, &Affine) -> Affine + 'a;

/// The values of a map, applied to operands: first dimensions, then symbols. Dividends are added to `checked`.
pub(crate) fn apply(
    text: &str,
    operands: &[Affine],
    divide: &mut Divide<'_>,
    checked: &mut Vec<Affine>,
) -> Result<Vec<Affine>, MapError> {
    let tokens = tokens(text);
    let mut reader = Reader { tokens: &tokens, at: 0, names: FxHashMap::default(), divide: Some(divide), checked };
    reader.head("affine_map", operands)?;
    if reader.next().kind != Kind::Arrow {
        return Err(MapError::NoMap(text.to_string()));
    }
    reader.expect("(")?;
    let mut results = vec![];
    while !reader.accept(")") {
        results.push(reader.sum()?);
        if !reader.accept(",") {
            reader.expect(")")?;
            break;
        }
    }
    results.iter().all(|r| !r.is_broken()).then_some(results).ok_or(MapError::Broken)
}

/// The constraints of a set, applied to operands. Dividends and operands of comparisons are added to `checked`.
pub(crate) fn constraints(text: &str, operands: &[Affine], checked: &mut Vec<Affine>) -> Result<Constraints, MapError> {
    let tokens = tokens(text);
    let mut reader = Reader { tokens: &tokens, at: 0, names: FxHashMap::default(), divide: None, checked };
    reader.head("affine_set", operands)?;
    reader.expect(":")?;
    reader.expect("(")?;
    let mut result = vec![];
    while !reader.accept(")") {
        let left = reader.sum()?;
        let relation = reader.next().text;
        let right = reader.sum()?;
        reader.checked.extend([left.clone(), right.clone()]);
        result.push(match relation {
            "==" => (true, left.plus(-1, &right)),
            ">=" => (false, left.plus(-1, &right)),
            "<=" => (false, right.plus(-1, &left)),
            other => return Err(MapError::Relation(other.to_string())),
        });
        if !reader.accept(",") {
            reader.expect(")")?;
            break;
        }
    }
    Ok(result)
}

struct Reader<'a, 'd> {
    tokens: &'a [Token<'a>],
    at: usize,
    names: FxHashMap<String, Affine>,
    divide: Option<&'d mut Divide<'d>>,
    /// What is divided or compared.
    checked: &'d mut Vec<Affine>,
}

/// Parentheses within parentheses; more are not read.
const MAX_DEPTH: usize = 200;

impl<'a> Reader<'a, '_> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token<'a> {
        self.at += 1;
        self.tokens[(self.at - 1).min(self.tokens.len() - 1)]
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.peek().text == text;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), MapError> {
        let found = self.peek().text.to_string();
        if self.accept(text) { Ok(()) } else { Err(MapError::Expected { expected: text.to_string(), found }) }
    }

    /// `affine_map<(d0, d1)[s0]`.
    fn head(&mut self, word: &str, operands: &[Affine]) -> Result<(), MapError> {
        self.expect(word)?;
        self.expect("<")?;
        let mut values = operands.iter();
        for (open, close) in [("(", ")"), ("[", "]")] {
            if !self.accept(open) {
                continue;
            }
            while !self.accept(close) {
                let name = self.next().text.to_string();
                let value = values.next().ok_or(MapError::TooFewOperands)?;
                self.names.insert(name, value.clone());
                self.accept(",");
                if self.peek().kind == Kind::End {
                    return Err(MapError::Unclosed(close));
                }
            }
        }
        if values.next().is_some() {
            return Err(MapError::TooManyOperands);
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<Affine, MapError> {
        self.sum_at(0)
    }

    fn sum_at(&mut self, depth: usize) -> Result<Affine, MapError> {
        let mut result = self.product(depth)?;
        loop {
            if self.accept("+") {
                result = result.plus(1, &self.product(depth)?);
            } else if self.accept("-") {
                result = result.plus(-1, &self.product(depth)?);
            } else {
                return Ok(result);
            }
        }
    }

    fn product(&mut self, depth: usize) -> Result<Affine, MapError> {
        let mut result = self.factor(depth)?;
        loop {
            let operator = self.peek().text.to_string();
            if !matches!(operator.as_str(), "*" | "floordiv" | "ceildiv" | "mod") {
                return Ok(result);
            }
            self.at += 1;
            let right = self.factor(depth)?;
            if operator == "*" {
                result = result.product(&right);
                continue;
            }
            self.checked.push(result.clone());
            let divisor = right.as_constant().filter(|d| *d > 0);
            if let (None, None, Some(divide)) = (right.as_constant(), divisor, &mut self.divide) {
                result = match operator.as_str() {
                    "floordiv" => divide(&result, &right),
                    "ceildiv" => divide(&result.times(-1), &right).times(-1),
                    _ => result.plus(-1, &divide(&result, &right).product(&right)),
                };
                continue;
            }
            let divisor = divisor.ok_or_else(|| MapError::Divisor(operator.clone()))?;
            result = match operator.as_str() {
                "floordiv" => result.floor_div(divisor),
                "ceildiv" => result.ceil_div(divisor),
                _ => result.modulo(divisor),
            };
        }
    }

    fn factor(&mut self, depth: usize) -> Result<Affine, MapError> {
        if depth > MAX_DEPTH {
            return Err(MapError::Depth);
        }
        let (kind, text) = (self.peek().kind, self.peek().text.to_string());
        self.at += 1;
        match (kind, text.as_str()) {
            (_, "-") => Ok(self.factor(depth + 1)?.times(-1)),
            (_, "(") => {
                let result = self.sum_at(depth + 1)?;
                self.expect(")")?;
                Ok(result)
            }
            (Kind::Integer, digits) => {
                let number = digits.parse::<i128>().ok().filter(|n| *n < LARGEST);
                number.map(Affine::constant).ok_or_else(|| MapError::TooLarge(digits.to_string()))
            }
            (Kind::Word, name) => self.names.get(name).cloned().ok_or_else(|| MapError::Unknown(name.to_string())),
            (_, other) => Err(MapError::Expression(other.to_string())),
        }
    }
}
