//! Guards, and what they compute of constants: primitives of the body.

use super::super::{Atom, Expr, PrimitiveKind};
use super::{Lower, NotLowered};
use crate::program::{Guard, VarKind};
use rewright_typeprop::{Term, TypeExpr};

impl Lower<'_, '_> {
    pub(super) fn guard(&mut self, guard: &Guard) -> Result<(), NotLowered> {
        match guard {
            Guard::Fact(fact, terms) => {
                let args = terms.iter().map(|term| self.pattern(term)).collect::<Result<_, _>>()?;
                self.body.push(Atom::Holds(Expr::Call(self.shared.fact(*fact), args)));
            }
            Guard::Class { same, left, right } => {
                let (left, right) = (self.pattern(left)?, self.pattern(right)?);
                self.body.push(compared(*same, left, right));
            }
            Guard::Is(term, ty) => {
                if let Term::Var(var) = term
                    && let Some(VarKind::Value { ty: TypeExpr::Param(i), .. }) =
                        self.rule.vars.get(*var as usize).map(|v| &v.kind)
                    && self.bound_types[*i as usize].is_some()
                {
                    let name = self.type_name(*i);
                    self.subtype(&name, ty)?;
                } else if let Term::Var(var) = term {
                    self.isa(*var, ty)?;
                } else {
                    return Err("`is` is asked of a term that is no variable".into());
                }
            }
            Guard::Holds(term) => {
                let value = self.computed(term)?;
                self.body.push(compared(false, value, Expr::Int(0)));
            }
            Guard::Compare { equal, left, right } => {
                let (left, right) = (self.computed(left)?, self.computed(right)?);
                self.body.push(compared(*equal, left, right));
            }
            Guard::Not(_) | Guard::Or(..) => {
                let truth = self.truth(guard)?;
                self.body.push(Atom::Equal(Expr::True, truth));
            }
        }
        Ok(())
    }

    /// A condition over constants as a truth value, where `not` and `or` need one.
    fn truth(&mut self, guard: &Guard) -> Result<Expr, NotLowered> {
        let call = |name: &str, args| Expr::Call(name.into(), args);
        Ok(match guard {
            Guard::Holds(term) => {
                let zero = call("bool-=", vec![self.computed(term)?, Expr::Int(0)]);
                call("not", vec![zero])
            }
            Guard::Compare { equal, left, right } => {
                let same = call("bool-=", vec![self.computed(left)?, self.computed(right)?]);
                if *equal { same } else { call("not", vec![same]) }
            }
            Guard::Not(inner) => call("not", vec![self.truth(inner)?]),
            Guard::Or(a, b) => call("or", vec![self.truth(a)?, self.truth(b)?]),
            Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..) => {
                return Err("`not` and `or` need conditions over constants".into());
            }
        })
    }

    /// A term over constants, computed.
    pub(super) fn computed(&mut self, term: &Term) -> Result<Expr, NotLowered> {
        match term {
            Term::Var(var) => match self.rule.vars.get(*var as usize).map(|v| &v.kind) {
                Some(VarKind::Value { constant: true, .. }) if self.bound_vars[*var as usize].is_some() => {
                    Ok(Expr::Var(self.value_name(*var)))
                }
                _ => Err(format!("`{}` is no constant", self.rule.vars[*var as usize].name).into()),
            },
            Term::Lit(lit, ty) => Ok(Expr::Int(self.literal(lit, ty)?)),
            Term::Eval(inner) => self.computed(inner),
            Term::Call { op, targs, args, .. } => {
                let decl = self.shared.program.universe.ops.get(*op);
                if !decl.has_meaning() {
                    return Err(format!("`{}` has no meaning on constants", decl.name).into());
                }
                let mut values = Vec::new();
                for targ in targs {
                    values.push(self.column_build(targ)?);
                }
                for arg in args {
                    values.push(self.computed(arg)?);
                }
                let name = self.shared.primitive(PrimitiveKind::Eval(*op), values.len());
                Ok(Expr::Call(name, values))
            }
        }
    }
}

/// That two are the same, or that they are not.
fn compared(equal: bool, left: Expr, right: Expr) -> Atom {
    match equal {
        true => Atom::Equal(left, right),
        false => Atom::Holds(Expr::Call("!=".into(), vec![left, right])),
    }
}
