//! A rule's nearest partial match.
//!
//! A rule's left side is matched as the engine matches it, but without stopping at the first operand that does not
//! fit: each attempt is remembered with the number of its operations and operands that did fit. The best attempt is
//! what the author wants to see.
//!
//! Not here: facts, which a view does not hold. One is taken to be missing where all else fits and the rule would say
//! something new.

mod conditions;

use super::{At, MatchContext, MatchStart};
use rewright_cfg_skeleton::egraph::{ClassId, EGraphView, Head};
use rewright_dsl::program::{Program, Rule, VarKind};
use rewright_typeprop::eval::constant;
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Term, Ty, TypeExpr, Universe};
use smallvec::SmallVec;

/// Attempts to match one rule in one function: patterns share little, and graphs are bounded.
const MAX_STEPS: u32 = 1_000_000;

/// The nearest partial match.
pub(super) struct Near {
    /// Operations and operands that fit.
    pub(super) matched: u32,
    /// The value at which the left side's root was tried.
    pub(super) at: At,
    /// What does not fit; `None` where everything does.
    pub(super) miss: Option<String>,
    /// Everything fits, and what the rule would say is known.
    pub(super) is_known: bool,
}

/// The nearest match of a rule, anywhere or at a place. `None` where there is no operation like the root of its left
/// side.
pub(super) fn near(
    program: &Program,
    universe: &Universe,
    rule: &Rule,
    context: &MatchContext,
    place: Option<&MatchStart>,
) -> Option<Near> {
    let view = &context.view;
    let mut search = Search { program, universe, rule, context, view, steps: 0, root: ClassId(0), best: None };
    let (first, others) = rule.left.split_first()?;
    let mut vars = vec![None; rule.vars.len()];
    for (var, class) in place.into_iter().flat_map(|place| &place.vars) {
        vars[*var as usize] = Some(*class);
    }
    let roots = place.map_or(0..view.classes.len() as u32, |place| place.root.0..place.root.0 + 1);
    for root in roots {
        search.root = ClassId(root);
        let mut tasks: Vec<Task<'_>> =
            others.iter().rev().map(|term| Task { term, place: None, operand: None }).collect();
        tasks.push(Task { term: first, place: Some(search.root), operand: None });
        let found = PartialMatch { vars: vars.clone(), types: vec![None; rule.tparams.len()], matched: 0 };
        if search.matches(tasks, found) {
            break;
        }
    }
    // Nothing at all fits everywhere; what is worth telling begins with the root.
    search.best.filter(|near| near.matched > 0 || near.miss.is_none())
}

/// A pattern that is still to be matched: in a class, or in any one.
#[derive(Clone, Copy)]
struct Task<'p> {
    term: &'p Term,
    place: Option<ClassId>,
    /// Of which operation it is which operand, from 1.
    operand: Option<(&'p str, usize)>,
}

#[derive(Clone)]
struct PartialMatch {
    vars: Vec<Option<ClassId>>,
    types: Vec<Option<Ty>>,
    matched: u32,
}

struct Search<'a> {
    program: &'a Program,
    universe: &'a Universe,
    rule: &'a Rule,
    context: &'a MatchContext,
    view: &'a EGraphView,
    steps: u32,
    root: ClassId,
    best: Option<Near>,
}

impl<'a> Search<'a> {
    /// Matches all that is left to match; remembers how far it came.
    fn matches(&mut self, mut tasks: Vec<Task<'a>>, mut found: PartialMatch) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        let Some(task) = tasks.pop() else { return self.conditions(&found) };
        let Some(class) = task.place else {
            return (0..self.view.classes.len() as u32).any(|class| {
                let mut tasks = tasks.clone();
                tasks.push(Task { place: Some(ClassId(class)), ..task });
                self.matches(tasks, found.clone())
            });
        };
        let miss = match task.term {
            Term::Var(i) => self.variable(*i, class, &mut found),
            Term::Lit(literal, ty) => {
                let scalar = self.types_of(class).first().and_then(|ty| self.universe.types.lane(*ty));
                let wanted = constant(literal, scalar);
                match self.view.class(class).constant {
                    _ if !self.has_type(ty, class, &mut found) => Some(self.type_miss(ty, class)),
                    Some(n) if Some(n) == wanted => None,
                    _ => Some(format!("is not the literal {literal}, it is {}", self.show(class))),
                }
            }
            Term::Eval(_) => None,
            Term::Call { op, targs, args, state } => {
                let name = self.universe.ops.get(*op).name.as_str();
                let mut any = false;
                for id in self.view.class(class).nodes.clone() {
                    let node = self.view.node(id);
                    if node.head != Head::Op(*op) {
                        continue;
                    }
                    any = true;
                    let mut found = found.clone();
                    if !targs.iter().zip(&node.types).all(|(expr, ty)| self.learn(expr, *ty, &mut found)) {
                        let types: Vec<String> = node.types.iter().map(|ty| self.universe.types.display(*ty)).collect();
                        let miss = format!("is `{name}` over {}, which the rule does not admit", types.join(", "));
                        self.remember(&found, &task, miss);
                        continue;
                    }
                    found.matched += 1;
                    let mut tasks = tasks.clone();
                    let operands = args.iter().chain(state.as_deref()).zip(&node.children).enumerate();
                    let mut own: Vec<Task<'a>> = operands
                        .map(|(i, (term, class))| Task { term, place: Some(*class), operand: Some((name, i + 1)) })
                        .collect();
                    own.reverse();
                    tasks.extend(own);
                    if self.matches(tasks, found) {
                        return true;
                    }
                }
                if any {
                    return false;
                }
                Some(format!("is no `{name}`, it is {}", self.show(class)))
            }
        };
        match miss {
            None => {
                found.matched += 1;
                self.matches(tasks, found)
            }
            Some(miss) => {
                self.remember(&found, &task, miss);
                false
            }
        }
    }

    fn remember(&mut self, found: &PartialMatch, task: &Task<'_>, miss: String) {
        if self.best.as_ref().is_none_or(|best| best.miss.is_some() && best.matched < found.matched) {
            let place = match task.operand {
                Some((of, position)) => format!("operand {position} of `{of}` {miss}"),
                None => format!("it {miss}"),
            };
            let at = self.context.at(self.universe, self.root);
            self.best = Some(Near { matched: found.matched, at, miss: Some(place), is_known: false });
        }
    }

    /// Binds a variable to a class; why it does not stand for that one, if so.
    fn variable(&self, i: u32, class: ClassId, found: &mut PartialMatch) -> Option<String> {
        let var = &self.rule.vars[i as usize];
        match found.vars[i as usize] {
            Some(known) if known == class => return None,
            Some(known) => {
                let (here, there) = (self.show(class), self.show(known));
                return Some(format!(
                    "would have to be `{}` again, and {here} is not known to equal {there}",
                    var.name
                ));
            }
            None => {}
        }
        if let VarKind::Value { ty, constant } = &var.kind {
            if !self.has_type(ty, class, found) {
                return Some(self.type_miss(ty, class));
            }
            if *constant && self.view.class(class).constant.is_none() {
                return Some(format!("must be a constant for `{}`, it is {}", var.name, self.show(class)));
            }
        }
        found.vars[i as usize] = Some(class);
        None
    }

    /// Are all conditions met, and would the rule say something new? Remembers what is not so.
    fn conditions(&mut self, found: &PartialMatch) -> bool {
        let (miss, is_known) = match self.unmet(found) {
            Ok(met) => (None, self.says_nothing_new(&met)),
            // A fact that is missing is no reason where the rule would say what is known.
            Err(unmet) if unmet.is_fact && self.says_nothing_new(found) => (None, true),
            Err(unmet) => (Some(unmet.why), false),
        };
        let is_new = miss.is_none() && !is_known;
        let is_better = |best: &Near| match (&best.miss, &miss) {
            (Some(_), Some(_)) => best.matched <= found.matched,
            (Some(_), None) => true,
            (None, _) => best.is_known && is_new,
        };
        if self.best.as_ref().is_none_or(is_better) {
            let at = self.context.at(self.universe, self.root);
            self.best = Some(Near { matched: found.matched, at, miss, is_known });
        }
        is_new
    }

    /// Types of the nodes of a class, distinct.
    fn types_of(&self, class: ClassId) -> SmallVec<[Ty; 2]> {
        let mut types: SmallVec<[Ty; 2]> = SmallVec::new();
        for ty in self.view.class(class).nodes.iter().filter_map(|id| self.view.node(*id).ty(self.universe)) {
            if !types.contains(&ty) {
                types.push(ty);
            }
        }
        types
    }

    fn has_type(&self, expr: &TypeExpr, class: ClassId, found: &mut PartialMatch) -> bool {
        let types = self.types_of(class);
        types.is_empty() || types.into_iter().any(|ty| self.learn(expr, ty, found))
    }

    fn type_miss(&self, expr: &TypeExpr, class: ClassId) -> String {
        let has: Vec<String> = self.types_of(class).into_iter().map(|ty| self.universe.types.display(ty)).collect();
        let bound = match expr {
            TypeExpr::Param(i) => self.rule.tparams.get(*i as usize),
            TypeExpr::App(..) | TypeExpr::Int(_) => None,
        };
        let wanted = bound.map_or("another type".to_string(), |param| format!("what `{}` stands for", param.name));
        format!("is {} of type {}, the rule wants {wanted}", self.show(class), has.join(" and "))
    }

    /// Does a type fit an expression, with what is known of the rule's type parameters?
    fn learn(&self, expr: &TypeExpr, ty: Ty, found: &mut PartialMatch) -> bool {
        let types = &self.universe.types;
        match expr {
            TypeExpr::Param(i) => {
                let slot = &mut found.types[*i as usize];
                match *slot {
                    Some(known) => types.is_subtype(ty, known),
                    None => {
                        *slot = Some(ty);
                        let bound = self.rule.tparams[*i as usize].bound.clone();
                        bound.is_none_or(|bound| self.below(ty, &bound, found))
                    }
                }
            }
            TypeExpr::Int(n) => matches!(types.data(ty), TypeData::Int(m) if m == n),
            TypeExpr::App(..) => self.below(ty, expr, found),
        }
    }

    fn below(&self, ty: Ty, expr: &TypeExpr, found: &mut PartialMatch) -> bool {
        let TypeExpr::App(decl, exprs) = expr else { return self.learn(expr, ty, found) };
        let Some(args) = self.universe.types.ancestor(ty, *decl) else { return false };
        exprs.iter().zip(args).all(|(expr, arg)| arg.is_none_or(|arg| self.learn(expr, arg, found)))
    }

    fn show(&self, class: ClassId) -> String {
        self.context.show(self.universe, class, 0)
    }
}
