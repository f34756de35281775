//! Which variants of a rule match and conclude the same: those with equal keys.
//!
//! A key is the rule as a row of numbers. Variables have numbers by order of appearance; operands of commutative
//! operations on the right are in a fixed order.

use crate::program::{Conclusion, Guard, Rule, VarKind};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{OpTable, Term, TypeExpr};

/// Types, literals and kinds of variables of one rule, numbered as its variants show them.
#[derive(Default)]
pub(super) struct Numbers {
    types: Vec<TypeExpr>,
    literals: Vec<Literal>,
    kinds: Vec<Option<VarKind>>,
}

/// What stands at a place of a key, before the numbers that say which. It tells how many numbers follow, so rows are equal
/// only where what they stand for is.
#[derive(Clone, Copy)]
enum Mark {
    Var,
    Literal,
    Eval,
    Call,
    Fact,
    Holds,
    Compare,
    Class,
    Is,
    Not,
    Or,
    Equal,
    Kinds,
}

impl Numbers {
    /// Equal for variants of the rule that match and conclude the same.
    pub(super) fn key(&mut self, ops: &OpTable, rule: &Rule) -> Vec<u32> {
        let mut writer = Writer { numbers: self, ops, order: Vec::new(), row: Vec::new() };
        rule.left.iter().for_each(|term| writer.term(term, false));
        rule.guards.iter().for_each(|guard| writer.guard(guard));
        match &rule.right {
            Conclusion::Equal(term) => {
                writer.mark(Mark::Equal);
                writer.term(term, true);
            }
            Conclusion::Fact(fact, terms) => {
                writer.mark(Mark::Fact);
                writer.row.push(fact.0);
                terms.iter().for_each(|term| writer.term(term, true));
            }
        }
        writer.mark(Mark::Kinds);
        for var in std::mem::take(&mut writer.order) {
            // Variables that are renamed to each other must be of one kind.
            let kind = rule.vars.get(var as usize).map(|var| &var.kind);
            let kinds = &mut writer.numbers.kinds;
            let number = number(kinds, |own| own.as_ref() == kind, || kind.cloned());
            writer.row.push(number);
        }
        writer.row
    }
}

/// The place of what `is` finds, or of what `new` makes behind all others.
fn number<T>(known: &mut Vec<T>, is: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> u32 {
    let place = known.iter().position(is).unwrap_or_else(|| {
        known.push(new());
        known.len() - 1
    });
    place as u32
}

fn same(a: &Literal, b: &Literal) -> bool {
    match (a, b) {
        (Literal::Float(a), Literal::Float(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

struct Writer<'n> {
    numbers: &'n mut Numbers,
    ops: &'n OpTable,
    /// Variables by order of appearance.
    order: Vec<u32>,
    row: Vec<u32>,
}

impl Writer<'_> {
    fn mark(&mut self, mark: Mark) {
        self.row.push(mark as u32);
    }

    fn ty(&mut self, ty: &TypeExpr) {
        let number = number(&mut self.numbers.types, |own| own == ty, || ty.clone());
        self.row.push(number);
    }

    fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::Fact(fact, args) => {
                self.mark(Mark::Fact);
                self.row.push(fact.0);
                args.iter().for_each(|term| self.term(term, false));
            }
            Guard::Holds(term) => {
                self.mark(Mark::Holds);
                self.term(term, false);
            }
            Guard::Compare { equal: is, left, right } | Guard::Class { same: is, left, right } => {
                self.mark(if matches!(guard, Guard::Compare { .. }) { Mark::Compare } else { Mark::Class });
                self.row.push((*is).into());
                self.term(left, false);
                self.term(right, false);
            }
            Guard::Is(term, ty) => {
                self.mark(Mark::Is);
                self.ty(ty);
                self.term(term, false);
            }
            Guard::Not(inner) => {
                self.mark(Mark::Not);
                self.guard(inner);
            }
            Guard::Or(a, b) => {
                self.mark(Mark::Or);
                self.guard(a);
                self.guard(b);
            }
        }
    }

    /// With `sort`, operands of commutative operations are in a fixed order.
    fn term(&mut self, term: &Term, sort: bool) {
        match term {
            Term::Var(var) => {
                let position = number(&mut self.order, |own| own == var, || *var);
                self.mark(Mark::Var);
                self.row.push(position);
            }
            Term::Lit(literal, ty) => {
                let number = number(&mut self.numbers.literals, |own| same(own, literal), || literal.clone());
                self.mark(Mark::Literal);
                self.row.push(number);
                self.ty(ty);
            }
            Term::Eval(inner) => {
                self.mark(Mark::Eval);
                self.term(inner, sort);
            }
            Term::Call { op, targs, args, state } => {
                self.mark(Mark::Call);
                self.row.push(op.0);
                targs.iter().for_each(|ty| self.ty(ty));
                match &args[..] {
                    [a, b, rest @ ..] if sort && self.ops.get(*op).laws.commutative => {
                        let start = self.row.len();
                        self.term(a, sort);
                        let middle = self.row.len();
                        self.term(b, sort);
                        if self.row[middle..] < self.row[start..middle] {
                            self.row[start..].rotate_left(middle - start);
                        }
                        rest.iter().for_each(|arg| self.term(arg, sort));
                    }
                    _ => args.iter().for_each(|arg| self.term(arg, sort)),
                }
                state.iter().for_each(|state| self.term(state, sort));
            }
        }
    }
}
