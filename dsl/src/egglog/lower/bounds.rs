//! Types of variables and bounds of type parameters, where the places that bind them do not tell them.

use super::super::{Atom, Expr, PrimitiveKind};
use super::{Lower, NotLowered, has_type, is_closed};
use crate::program::VarKind;
use rewright_typeprop::{Ty, TypeExpr};

impl Lower<'_, '_> {
    /// Constants get their value; types narrower than what a variable's place tells are asked for.
    pub(super) fn variable_types(&mut self) -> Result<(), NotLowered> {
        for var in 0..self.rule.vars.len() as u32 {
            let VarKind::Value { ty, constant } = &self.rule.vars[var as usize].kind else { continue };
            if self.bound_vars[var as usize].is_none() {
                continue;
            }
            let told: Vec<TypeExpr> = self.told.iter().filter(|(v, _)| *v == var).map(|(_, ty)| ty.clone()).collect();
            let known = told.iter().any(|place| self.shared.implies(&self.rule.tparams, place, ty));
            if *constant {
                let column = match ty {
                    TypeExpr::Param(_) => self.column_pattern(ty, None)?,
                    _ => {
                        let name = format!("{}.t", self.var_name(var));
                        self.unit.get_or_insert_with(|| name.clone());
                        if !known {
                            self.subtype(&name, ty)?;
                        }
                        Expr::Var(name)
                    }
                };
                let value = Expr::Var(self.value_name(var));
                let pattern = Expr::Call("Const".into(), vec![column, value]);
                self.body.push(Atom::Equal(Expr::Var(self.var_name(var)), pattern));
            } else if !known {
                self.isa(var, ty)?;
            }
        }
        Ok(())
    }

    pub(super) fn isa(&mut self, var: u32, ty: &TypeExpr) -> Result<(), NotLowered> {
        if matches!(ty, TypeExpr::App(..)) && self.shared.closed_type(ty).is_ok_and(|ty| ty == Ty::ANY) {
            return Ok(());
        }
        self.shared.needs_isa = true;
        // `Isa` rows are closed upwards, so a bare name has a row of its own.
        let column = if self.shared.is_bare(ty) {
            let ty = self.shared.closed_type(ty)?;
            let name = self.fresh("t");
            self.body.push(has_type(&name, ty));
            Expr::Var(name)
        } else {
            self.column_pattern(ty, None)?
        };
        self.body.push(Atom::Holds(Expr::Call("Isa".into(), vec![Expr::Var(self.var_name(var)), column])));
        Ok(())
    }

    /// Bounds that are narrower than what the place that binds a type parameter keeps.
    pub(super) fn type_bounds(&mut self) -> Result<(), NotLowered> {
        for i in 0..self.rule.tparams.len() {
            let own = self.rule.tparams[i].bound.as_ref();
            let Some(bound) = self.instance.within[i].as_ref().or(own) else { continue };
            let Some(guaranteed) = self.bound_types[i].clone() else { continue };
            if self.instance.fixed[i].is_some()
                || guaranteed.is_some_and(|place| self.shared.implies(&self.rule.tparams, &place, bound))
            {
                continue;
            }
            let name = self.type_name(i as u32);
            self.subtype(&name, bound)?;
        }
        Ok(())
    }

    pub(super) fn subtype(&mut self, column: &str, bound: &TypeExpr) -> Result<(), NotLowered> {
        if let TypeExpr::App(decl, args) = bound
            && !is_closed(bound)
        {
            for (i, arg) in args.iter().enumerate() {
                let part = self.column_pattern(arg, None)?;
                let get = self.shared.primitive(PrimitiveKind::SuperArg(*decl, i as u32), 1);
                self.body.push(Atom::Equal(part, Expr::Call(get, vec![Expr::Var(column.into())])));
            }
            return Ok(());
        }
        if let TypeExpr::Param(_) = bound {
            return Err("a type parameter is bounded by another one".into());
        }
        let ty = self.shared.closed_type(bound)?;
        if ty != Ty::ANY {
            let name = self.shared.primitive(PrimitiveKind::Subtype(ty), 1);
            self.body.push(Atom::Equal(Expr::Int(1), Expr::Call(name, vec![Expr::Var(column.into())])));
        }
        Ok(())
    }
}
