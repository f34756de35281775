//! Left sides: terms to be matched, and their type columns.

use super::super::names::symbol;
use super::super::{Atom, Expr, PrimitiveKind, Sort};
use super::{Lower, NotLowered, has_type, is_closed, substitute};
use crate::program::VarKind;
use rewright_typeprop::{Term, Ty, TypeExpr};

impl Lower<'_, '_> {
    /// A term to be matched; variables are their classes.
    pub(super) fn pattern(&mut self, term: &Term) -> Result<Expr, NotLowered> {
        match term {
            Term::Var(var) => {
                self.bind(*var);
                Ok(Expr::Var(self.var_name(*var)))
            }
            Term::Lit(lit, ty) => {
                let value = self.literal(lit, ty)?;
                let column = self.column_pattern(ty, None)?;
                Ok(Expr::Call("Const".into(), vec![column, Expr::Int(value)]))
            }
            Term::Call { op, targs, args, state } => {
                let table = self.shared.op_name(*op)?;
                let decl = self.shared.program.universe.ops.get(*op);
                let mut columns = Vec::new();
                for (param, targ) in decl.tparams.iter().zip(targs) {
                    let kept = param.bound.as_ref().map(|bound| substitute(bound, targs));
                    columns.push(self.column_pattern(targ, Some(kept))?);
                }
                if decl.tparams.is_empty() {
                    let column = Expr::Var(self.unit_column());
                    columns.push(column);
                }
                for (param, arg) in decl.params.iter().zip(args) {
                    if let Term::Var(var) = arg {
                        self.told.push((*var, substitute(&param.ty, targs)));
                    }
                    columns.push(self.pattern(arg)?);
                }
                if let Some(state) = state {
                    columns.push(self.pattern(state)?);
                }
                Ok(Expr::Call(table, columns))
            }
            Term::Eval(_) => Err("`eval` stands on its left side".into()),
        }
    }

    /// The column of an operation without type parameters holds the unit alone.
    fn unit_column(&mut self) -> String {
        match self.closed.iter().find(|(ty, _)| *ty == Ty::ANY) {
            Some((_, name)) => name.clone(),
            None => {
                let name = "?unit".to_owned();
                self.closed.push((Ty::ANY, name.clone()));
                self.unit.get_or_insert_with(|| name.clone());
                name
            }
        }
    }

    /// A type column in a pattern. `guaranteed` is the bound that the code that fills this column keeps, if it is
    /// known to keep one.
    pub(super) fn column_pattern(
        &mut self,
        ty: &TypeExpr,
        guaranteed: Option<Option<TypeExpr>>,
    ) -> Result<Expr, NotLowered> {
        match ty {
            TypeExpr::Param(i) => {
                let name = self.type_name(*i);
                let first = self.bound_types.get(*i as usize).ok_or("a type parameter is out of range")?.is_none();
                if first {
                    self.bound_types[*i as usize] = Some(guaranteed.flatten());
                    self.unit.get_or_insert_with(|| name.clone());
                    if let Some(fixed) = self.instance.fixed[*i as usize] {
                        self.body.push(has_type(&name, fixed));
                    }
                }
                Ok(Expr::Var(name))
            }
            _ if self.shared.is_bare(ty) => {
                let name = self.fresh("t");
                self.unit.get_or_insert_with(|| name.clone());
                self.subtype(&name, ty)?;
                Ok(Expr::Var(name))
            }
            TypeExpr::App(decl, args) if !is_closed(ty) => {
                let name = self.fresh("t");
                self.unit.get_or_insert_with(|| name.clone());
                for (i, arg) in args.iter().enumerate() {
                    let part = self.column_pattern(arg, None)?;
                    let get = self.shared.primitive(PrimitiveKind::TypeArg(*decl, i as u32), 1);
                    self.body.push(Atom::Equal(part, Expr::Call(get, vec![Expr::Var(name.clone())])));
                }
                Ok(Expr::Var(name))
            }
            _ => {
                let ty = self.shared.closed_type(ty)?;
                if let Some((_, name)) = self.closed.iter().find(|(t, _)| *t == ty) {
                    return Ok(Expr::Var(name.clone()));
                }
                let mut name = format!("?ty:{}", symbol(&self.shared.types.display(ty)));
                if self.closed.iter().any(|(_, other)| *other == name) {
                    name += &format!("_{}", ty.0);
                }
                self.closed.push((ty, name.clone()));
                self.unit.get_or_insert_with(|| name.clone());
                self.body.push(has_type(&name, ty));
                Ok(Expr::Var(name))
            }
        }
    }

    fn bind(&mut self, var: u32) {
        let Some(slot) = self.bound_vars.get_mut(var as usize) else { return };
        if slot.is_some() {
            return;
        }
        let sort = match self.rule.vars[var as usize].kind {
            VarKind::State => Sort::State,
            VarKind::Value { .. } => Sort::Value,
        };
        *slot = Some(sort);
    }
}
