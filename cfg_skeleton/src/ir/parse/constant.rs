//! Constants: scalars, and arrays and strings, which are interned in the universe.

use super::lex::Token;
use super::{Parse, Parser};
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Data, Scalar, Ty, TypeStore};

/// Arrays may have this many dimensions.
const MAX_RANK: usize = 8;

impl Parser<'_> {
    /// The number that a constant of a type is.
    pub(super) fn constant(&mut self, ty: Option<Ty>) -> Parse<i64> {
        let scalar = ty.and_then(|ty| self.universe.types.scalar(ty));
        match self.peek().cloned() {
            // A whole number is the constant itself; for a float, its bits.
            Some(Token::Number(n)) => {
                self.at += 1;
                Ok(n)
            }
            Some(Token::Float(x)) => match scalar {
                Some(scalar) if !scalar.is_int() => {
                    self.at += 1;
                    Ok(float(scalar, x))
                }
                _ => self.fail(
                    "a number with a point is a constant of a float type, which stands before it: \
                     `%x: f64 = const 1.5`",
                ),
            },
            Some(Token::Quoted(text)) => {
                let Some(ty) = ty.filter(|_| scalar.is_none()) else { return self.stateless() };
                if element(&self.universe.types, ty).is_some_and(|e| e != Scalar::I8) {
                    return self.fail("text is an array of bytes");
                }
                self.at += 1;
                Ok(self.universe.data.intern(Data::of_text(&text)))
            }
            Some(Token::Punct('[')) => {
                let Some(ty) = ty.filter(|_| scalar.is_none()) else { return self.stateless() };
                let Some(element) = element(&self.universe.types, ty) else {
                    let shown = self.universe.types.display(ty);
                    return self.fail(format!(
                        "`{shown}` does not say what its elements are: none of its arguments is a type with a machine \
                         representation"
                    ));
                };
                let start = self.at;
                let (mut shape, mut elements) = (vec![], vec![]);
                self.array(element, 0, &mut shape, &mut elements)?;
                match Data::new(element, shape, elements) {
                    Some(data) => Ok(self.universe.data.intern(data)),
                    None => {
                        self.at = start;
                        self.fail("its rows are not equally long")
                    }
                }
            }
            _ => self.fail("expected a number, an array or a text"),
        }
    }

    fn stateless<T>(&mut self) -> Parse<T> {
        self.fail("state the array's type before it: `%w: Vector{f64} = const [1.0, 2.0]`")
    }

    /// One dimension: elements, or rows of equal shape.
    fn array(&mut self, element: Scalar, depth: usize, shape: &mut Vec<u64>, into: &mut Vec<i64>) -> Parse<()> {
        if depth == MAX_RANK {
            return self.fail("an array has at most 8 dimensions");
        }
        self.expect('[')?;
        let first = shape.len() == depth;
        if first {
            shape.push(0);
        }
        let mut count = 0;
        while !self.eat(']') {
            match self.peek().cloned() {
                Some(Token::Punct('[')) => {
                    if count > 0 && shape.len() == depth + 1 {
                        return self.fail("an array holds elements or rows, not both");
                    }
                    self.array(element, depth + 1, shape, into)?;
                }
                Some(token @ (Token::Number(_) | Token::Float(_))) => {
                    if shape.len() > depth + 1 {
                        return self.fail("an array holds elements or rows, not both");
                    }
                    match number(element, &token) {
                        Some(n) => into.push(n),
                        None => return self.fail("this number does not fit the array's elements"),
                    }
                    self.at += 1;
                }
                // The bits of an element that no number writes.
                Some(Token::Punct('#')) => {
                    self.at += 1;
                    match self.peek() {
                        Some(Token::Number(n)) => into.push(element.canonical(*n as u64)),
                        _ => return self.fail("expected the bits of an element"),
                    }
                    self.at += 1;
                }
                _ => return self.fail("expected an element or `]`"),
            }
            count += 1;
            if !self.eat(',') {
                self.expect(']')?;
                break;
            }
        }
        if first {
            shape[depth] = count;
        } else if shape[depth] != count {
            return self.fail_before("its rows are not equally long");
        }
        Ok(())
    }
}

/// The representation of an array's elements: the first of its type's arguments that has one.
pub(crate) fn element(types: &TypeStore, ty: Ty) -> Option<Scalar> {
    match types.data(ty) {
        TypeData::App(_, args) => args.iter().find_map(|arg| types.scalar(*arg)),
        TypeData::Int(_) | TypeData::Open => None,
    }
}

/// An element: whole numbers are also floats here.
fn number(element: Scalar, token: &Token) -> Option<i64> {
    match token {
        Token::Number(n) if !element.is_int() => Some(float(element, *n as f64)),
        Token::Number(n) => {
            let canonical = element.canonical(*n as u64);
            (canonical == *n || element.zero_extended(canonical) == *n as u64).then_some(canonical)
        }
        Token::Float(x) if !element.is_int() => Some(float(element, *x)),
        _ => None,
    }
}

fn float(scalar: Scalar, x: f64) -> i64 {
    match scalar {
        Scalar::F32 => scalar.canonical((x as f32).to_bits().into()),
        _ => scalar.canonical(x.to_bits()),
    }
}
