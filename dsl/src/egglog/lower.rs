//! One instance of one variant of a rule, as an egglog rule.
//!
//! Left sides and looked-up guard terms become patterns, right sides become actions, conditions and `eval`
//! become primitives in the body: a primitive that fails there is no match, while one that fails in an action
//! would end the whole step.

use super::compile::Shared;
use super::instances::Instance;
use super::names::symbol;
use super::{Action, Atom, EgglogRule, Expr, LICENCE, PrimitiveKind, Sort, TYPE_MASK};
use crate::program::{Conclusion, Guard, Rule, RuleId, VarKind};
use rewright_typeprop::{OpId, Term, Ty, TypeExpr};

/// Why a rule cannot be lowered.
pub(super) type Reason = String;

/// Lowers a rule; `name`, `source` and `ruleset` are the caller's.
pub(super) fn lower(
    shared: &mut Shared<'_>,
    id: RuleId,
    rule: &Rule,
    instance: &Instance,
) -> Result<EgglogRule, Reason> {
    let lower = Lower {
        shared,
        rule,
        instance,
        body: Vec::new(),
        bound_types: vec![None; rule.tparams.len()],
        bound_vars: vec![None; rule.vars.len()],
        told: Vec::new(),
        closed: Vec::new(),
        unit: None,
        fresh: 0,
    };
    lower.run(id)
}

struct Lower<'a, 'p> {
    shared: &'a mut Shared<'p>,
    rule: &'a Rule,
    instance: &'a Instance,
    body: Vec<Atom>,
    /// By type parameter: bound, and to the bound that the binding place itself guarantees.
    bound_types: Vec<Option<Option<TypeExpr>>>,
    /// By variable: where it occurred first, whether as a state.
    bound_vars: Vec<Option<Sort>>,
    /// What the place of a variable tells of its type.
    told: Vec<(u32, TypeExpr)>,
    /// Columns of closed types.
    closed: Vec<(Ty, String)>,
    /// Some type column.
    unit: Option<String>,
    fresh: u32,
}

impl Lower<'_, '_> {
    fn run(mut self, id: RuleId) -> Result<EgglogRule, Reason> {
        let rule = self.rule;
        let mut root = None;
        let mut subsumed = None;
        for (i, term) in rule.left.iter().enumerate() {
            let Term::Call { op, args, .. } = term else { return Err("its left side is no operation".into()) };
            let pattern = self.pattern(term)?;
            let var = if i == 0 { "?root".to_owned() } else { self.fresh("m") };
            if i == 0 {
                root = Some((var.clone(), self.shared.output(*op)));
                if matches!(rule.right, Conclusion::Equal(Term::Eval(_)))
                    && rule.left.len() == 1
                    && args.iter().all(|arg| matches!(arg, Term::Var(_)))
                {
                    subsumed = Some(pattern.clone());
                }
            }
            self.body.push(Atom::Equal(Expr::Var(var), pattern));
        }
        // Facts bind variables, so they come before conditions.
        for guard in &rule.guards {
            match guard {
                Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..) => self.guard(guard)?,
                _ => {}
            }
        }
        if let Conclusion::Fact(_, terms) = &rule.right {
            for term in terms {
                if matches!(term, Term::Call { .. } | Term::Lit(..)) && !rule.left.contains(term) {
                    let pattern = self.pattern(term)?;
                    let name = self.conclusion_var(term);
                    self.body.push(Atom::Equal(Expr::Var(name), pattern));
                }
            }
        }
        self.variable_types()?;
        self.type_bounds()?;
        for guard in &rule.guards {
            match guard {
                Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..) => {}
                _ => self.guard(guard)?,
            }
        }
        let mut actions = Vec::new();
        match &rule.right {
            Conclusion::Equal(term) => {
                let Some((var, _)) = &root else { return Err("it has no left side".into()) };
                let var = Expr::Var(var.clone());
                actions.push(Action::Union(var, self.build(term)?));
            }
            Conclusion::Fact(fact, terms) => {
                let args = terms.iter().map(|term| self.conclusion_arg(term)).collect::<Result<_, _>>()?;
                actions.push(Action::Insert(Expr::Call(self.shared.fact(*fact), args)));
            }
        }
        if let Some(relaxation) = &rule.relaxation {
            for site in &relaxation.dropped {
                let state = |var: u32| Expr::Var(self.var_name(var));
                let columns = vec![state(*site), state(relaxation.root.unwrap_or(*site)), Expr::Int(id.0.into())];
                actions.push(Action::Insert(Expr::Call(LICENCE.into(), columns)));
            }
        }
        actions.extend(subsumed.map(Action::Subsume));
        Ok(EgglogRule {
            name: String::new(),
            source: None,
            ruleset: 0,
            body: self.body,
            unit: self.unit,
            root,
            actions,
        })
    }

    fn fresh(&mut self, label: &str) -> String {
        self.fresh += 1;
        format!("?{label}.{}", self.fresh)
    }

    // ---- patterns ----

    /// A term to be matched; variables are their classes.
    fn pattern(&mut self, term: &Term) -> Result<Expr, Reason> {
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

    /// A type column in a pattern. `guaranteed` is the bound that whoever fills this column keeps, if it is
    /// known to keep one.
    fn column_pattern(&mut self, ty: &TypeExpr, guaranteed: Option<Option<TypeExpr>>) -> Result<Expr, Reason> {
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

    // ---- types of variables ----

    /// Constants get their value; types narrower than what a variable's place tells are asked for.
    fn variable_types(&mut self) -> Result<(), Reason> {
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

    fn isa(&mut self, var: u32, ty: &TypeExpr) -> Result<(), Reason> {
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
    fn type_bounds(&mut self) -> Result<(), Reason> {
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

    fn subtype(&mut self, column: &str, bound: &TypeExpr) -> Result<(), Reason> {
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

    // ---- guards ----

    fn guard(&mut self, guard: &Guard) -> Result<(), Reason> {
        match guard {
            Guard::Fact(fact, terms) => {
                let args = terms.iter().map(|term| self.pattern(term)).collect::<Result<_, _>>()?;
                self.body.push(Atom::Holds(Expr::Call(self.shared.fact(*fact), args)));
            }
            Guard::Class { same, left, right } => {
                let (left, right) = (self.pattern(left)?, self.pattern(right)?);
                self.body.push(if *same {
                    Atom::Equal(left, right)
                } else {
                    Atom::Holds(Expr::Call("!=".into(), vec![left, right]))
                });
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
                self.body.push(Atom::Holds(Expr::Call("!=".into(), vec![value, Expr::Int(0)])));
            }
            Guard::Compare { equal, left, right } => {
                let (left, right) = (self.computed(left)?, self.computed(right)?);
                self.body.push(if *equal {
                    Atom::Equal(left, right)
                } else {
                    Atom::Holds(Expr::Call("!=".into(), vec![left, right]))
                });
            }
            Guard::Not(_) | Guard::Or(..) => {
                let truth = self.truth(guard)?;
                self.body.push(Atom::Equal(Expr::True, truth));
            }
        }
        Ok(())
    }

    /// A condition over constants as a truth value, where `not` and `or` need one.
    fn truth(&mut self, guard: &Guard) -> Result<Expr, Reason> {
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
    fn computed(&mut self, term: &Term) -> Result<Expr, Reason> {
        match term {
            Term::Var(var) => match self.rule.vars.get(*var as usize).map(|v| &v.kind) {
                Some(VarKind::Value { constant: true, .. }) if self.bound_vars[*var as usize].is_some() => {
                    Ok(Expr::Var(self.value_name(*var)))
                }
                _ => Err(format!("`{}` is no constant", self.rule.vars[*var as usize].name)),
            },
            Term::Lit(lit, ty) => Ok(Expr::Int(self.literal(lit, ty)?)),
            Term::Eval(inner) => self.computed(inner),
            Term::Call { op, targs, args, .. } => {
                let decl = self.shared.program.universe.ops.get(*op);
                if !decl.has_meaning() {
                    return Err(format!("`{}` has no meaning on constants", decl.name));
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

    // ---- right sides ----

    /// A term to be made.
    fn build(&mut self, term: &Term) -> Result<Expr, Reason> {
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

    fn column_build(&mut self, ty: &TypeExpr) -> Result<Expr, Reason> {
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
    fn column_of(&mut self, ty: Ty) -> Result<Expr, Reason> {
        if let Some((_, name)) = self.closed.iter().find(|(t, _)| *t == ty) {
            return Ok(Expr::Var(name.clone()));
        }
        let unit = self.unit.clone().ok_or("no pattern binds the unit")?;
        let call = |name: &str, a, b| Expr::Call(name.into(), vec![a, b]);
        Ok(call("|", call("&", Expr::Var(unit), Expr::Int(!TYPE_MASK)), Expr::Int(ty.0.into())))
    }

    /// Arguments of a concluded fact are classes that the body has matched.
    fn conclusion_arg(&mut self, term: &Term) -> Result<Expr, Reason> {
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

    fn conclusion_var(&self, term: &Term) -> String {
        let terms: &[Term] = match &self.rule.right {
            Conclusion::Fact(_, terms) => terms,
            Conclusion::Equal(_) => &[],
        };
        format!("?fact.{}", terms.iter().position(|t| t == term).unwrap_or(0))
    }

    fn type_of(&self, term: &Term) -> Option<TypeExpr> {
        match term {
            Term::Var(var) => match &self.rule.vars.get(*var as usize)?.kind {
                VarKind::Value { ty, .. } => Some(ty.clone()),
                VarKind::State => None,
            },
            Term::Lit(_, ty) => Some(ty.clone()),
            Term::Call { op, targs, .. } => Some(substitute(self.result_type(*op)?, targs)),
            Term::Eval(inner) => self.type_of(inner),
        }
    }

    fn result_type(&self, op: OpId) -> Option<&TypeExpr> {
        self.shared.program.universe.ops.get(op).results.first()
    }

    fn literal(&self, lit: &rewright_typeprop::term::Literal, ty: &TypeExpr) -> Result<i64, Reason> {
        self.instance.literal(&self.shared.types, lit, ty).ok_or_else(|| "a literal does not fit its type".into())
    }

    // ---- names ----

    fn var_name(&self, var: u32) -> String {
        match self.rule.vars.get(var as usize) {
            Some(v) if self.rule.vars[..var as usize].iter().all(|w| w.name != v.name) => {
                format!("?{}", symbol(&v.name))
            }
            _ => format!("?x.{var}"),
        }
    }

    fn value_name(&self, var: u32) -> String {
        format!("{}.n", self.var_name(var))
    }

    fn type_name(&self, param: u32) -> String {
        match self.rule.tparams.get(param as usize) {
            Some(p) if p.name.starts_with(|c: char| c.is_ascii_alphabetic()) => format!("?:{}", symbol(&p.name)),
            _ => format!("?:{param}"),
        }
    }
}

/// `(= (& column 1048575) ty)`
fn has_type(column: &str, ty: Ty) -> Atom {
    let masked = Expr::Call("&".into(), vec![Expr::Var(column.into()), Expr::Int(TYPE_MASK)]);
    Atom::Equal(masked, Expr::Int(ty.0.into()))
}

/// Mentions no type parameter?
pub(super) fn is_closed(ty: &TypeExpr) -> bool {
    match ty {
        TypeExpr::Param(_) => false,
        TypeExpr::Int(_) => true,
        TypeExpr::App(_, args) => args.iter().all(is_closed),
    }
}

/// Puts `args` in for the type parameters.
pub(super) fn substitute(ty: &TypeExpr, args: &[TypeExpr]) -> TypeExpr {
    match ty {
        TypeExpr::Param(i) => args.get(*i as usize).cloned().unwrap_or_else(|| ty.clone()),
        TypeExpr::Int(_) => ty.clone(),
        TypeExpr::App(decl, inner) => TypeExpr::App(*decl, inner.iter().map(|t| substitute(t, args)).collect()),
    }
}
