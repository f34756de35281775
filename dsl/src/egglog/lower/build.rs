//! Right sides: terms to be made.

use super::super::{Atom, Expr, PrimitiveKind, TYPE_MASK};
use super::{Lower, NotLowered, is_closed};
use rewright_typeprop::{Term, Ty, TypeExpr};

impl Lower<'_, '_> {
    /// A term to be made.
    pub(super) fn build(&mut self, term: &Term) -> Result<Expr, NotLowered> {
        match term {
            Term::Var(var) => match self.bound_vars.get(*var as usize) {
                Some(Some(_)) => Ok(Expr::Var(self.var_name(*var))),
                _ => Err("a variable of the right side is not bound on the left".into()),
            },
            Term::Lit(lit, ty) => {
                let value = self.literal(lit, ty)?;
                Ok(Expr::Call("Const".into(), vec![self.column_build(ty)?, Expr::Int(value)]))
            }
            Term::Eval(inner) => {
                let value = self.computed(inner)?;
                let ty = self.type_of(inner).ok_or("an evaluated term has no type")?;
                let name = Expr::Var(self.fresh("r"));
                self.body.push(Atom::Equal(name.clone(), value));
                Ok(Expr::Call("Const".into(), vec![self.column_build(&ty)?, name]))
            }
            Term::Call { op, targs, args, state } => {
                let table = self.shared.op_name(*op)?;
                let mut columns = Vec::new();
                for targ in targs {
                    columns.push(self.column_build(targ)?);
                }
                if targs.is_empty() {
                    columns.push(self.column_of(Ty::ANY)?);
                }
                for arg in args {
                    columns.push(self.build(arg)?);
                }
                if let Some(state) = state {
                    columns.push(self.build(state)?);
                }
                Ok(Expr::Call(table, columns))
            }
        }
    }

    pub(super) fn column_build(&mut self, ty: &TypeExpr) -> Result<Expr, NotLowered> {
        match ty {
            TypeExpr::Param(i) => match self.bound_types.get(*i as usize) {
                Some(Some(_)) => Ok(Expr::Var(self.type_name(*i))),
                _ => Err("no pattern binds a type parameter".into()),
            },
            TypeExpr::App(decl, args) if !is_closed(ty) => {
                let parts = args.iter().map(|arg| self.column_build(arg)).collect::<Result<Vec<_>, _>>()?;
                let make = self.shared.primitive(PrimitiveKind::TypeApp(*decl), parts.len());
                let name = Expr::Var(self.fresh("t"));
                self.body.push(Atom::Equal(name.clone(), Expr::Call(make, parts)));
                Ok(name)
            }
            _ => {
                let ty = self.shared.closed_type(ty)?;
                self.column_of(ty)
            }
        }
    }

    /// A column for a closed type in this match's unit.
    fn column_of(&mut self, ty: Ty) -> Result<Expr, NotLowered> {
        if let Some((_, name)) = self.closed.iter().find(|(t, _)| *t == ty) {
            return Ok(Expr::Var(name.clone()));
        }
        let unit = self.unit.clone().ok_or("no pattern binds the unit")?;
        let call = |name: &str, a, b| Expr::Call(name.into(), vec![a, b]);
        Ok(call("|", call("&", Expr::Var(unit), Expr::Int(!TYPE_MASK)), Expr::Int(ty.0.into())))
    }

    /// Arguments of a concluded fact are classes that the body has matched.
    pub(super) fn conclusion_arg(&mut self, term: &Term) -> Result<Expr, NotLowered> {
        match term {
            Term::Var(_) => self.build(term),
            Term::Eval(_) => Err("a fact is concluded of a computed term".into()),
            _ => match self.rule.left.iter().position(|left| left == term) {
                Some(0) => Ok(Expr::Var("?root".into())),
                // Numbered like the fresh names of the further left sides.
                Some(_) => Err("a fact is concluded of a second left side".into()),
                None => Ok(Expr::Var(self.conclusion_var(term))),
            },
        }
    }
}
