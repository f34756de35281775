//! One instance of one variant of a rule, as an egglog rule.
//!
//! Left sides and looked-up guard terms become patterns, right sides become actions, conditions and `eval`
//! become primitives in the body: a primitive that fails there is no match, while one that fails in an action
//! would end the whole step.

mod bounds;
mod build;
mod guard;
mod pattern;

use super::block_guard::{Generations, mark};
use super::context::{NotLowered, Shared, is_closed, substitute};
use super::divided;
use super::instances::RuleInstance;
use super::names::symbol;
use super::{Action, Atom, EgglogRule, Expr, REMOVABLE, Sort, TYPE_MASK};
use crate::program::{Conclusion, Guard, Rule, RuleId, VarKind};
use rewright_typeprop::{OpId, Term, Ty, TypeExpr};

/// Lowers a rule; `name`, `source` and `ruleset` are the caller's.
pub(super) fn lower<'p>(
    shared: &mut Shared<'p>,
    generations: &Generations<'p>,
    id: RuleId,
    rule: &Rule,
    instance: &RuleInstance,
) -> Result<EgglogRule, NotLowered> {
    let lower = Lower {
        shared,
        generations,
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
    generations: &'a Generations<'p>,
    rule: &'a Rule,
    instance: &'a RuleInstance,
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
    fn run(mut self, id: RuleId) -> Result<EgglogRule, NotLowered> {
        let rule = self.rule;
        let mut root = None;
        let mut subsumed = None;
        for (i, term) in rule.left.iter().enumerate() {
            let Term::Call { op, args, .. } = term else { return Err("its left side is no operation".into()) };
            let pattern = self.pattern(term)?;
            let var = if i == 0 { "?root".to_owned() } else { self.fresh("m") };
            if i == 0 {
                root = Some((var.clone(), self.shared.output(*op)));
                if self.settles(args) {
                    subsumed = Some(pattern.clone());
                }
            }
            let asks = self.generations.asks(self.shared.program, rule, *op, &var);
            self.body.push(Atom::Equal(Expr::Var(var), pattern));
            self.body.extend(asks);
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
                if let Some([ours, theirs]) = divided::values(&self.shared.program.universe.ops, rule) {
                    actions.push(Action::Union(self.build(&ours)?, self.build(&theirs)?));
                }
                for (term, block) in self.generations.marked(self.shared.program, rule) {
                    actions.push(Action::Set(mark(self.build(term)?, block), 1));
                }
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
                actions.push(Action::Insert(Expr::Call(REMOVABLE.into(), columns)));
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

    /// Is nothing left to say of a node with these operands, which is the whole left side, once the rule has matched? So it
    /// is where the value is computed, and where it is an operand beside constants: rules about rotations of rotations would
    /// find `rotl(x, 64)`, which is `x`, under itself again and again.
    fn settles(&self, operands: &[Term]) -> bool {
        let is_constant = |operand: &Term| match operand {
            Term::Var(var) => matches!(self.rule.vars[*var as usize].kind, VarKind::Value { constant: true, .. }),
            _ => false,
        };
        let says_all = match &self.rule.right {
            Conclusion::Equal(Term::Eval(_)) => true,
            Conclusion::Equal(value @ Term::Var(_)) => {
                let (own, others): (Vec<&Term>, Vec<&Term>) = operands.iter().partition(|operand| *operand == value);
                own.len() == 1 && !others.is_empty() && others.into_iter().all(is_constant)
            }
            _ => false,
        };
        says_all && self.rule.left.len() == 1 && operands.iter().all(|operand| matches!(operand, Term::Var(_)))
    }

    fn fresh(&mut self, label: &str) -> String {
        self.fresh += 1;
        format!("?{label}.{}", self.fresh)
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

    fn literal(&self, lit: &rewright_typeprop::term::Literal, ty: &TypeExpr) -> Result<i64, NotLowered> {
        self.instance.literal(&self.shared.types, lit, ty).ok_or_else(|| "a literal does not fit its type".into())
    }

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
