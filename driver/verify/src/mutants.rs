//! Mutants of a rule: the same rule with one operator, operand, constant, width or condition changed.
//!
//! Types stay right, so that every mutant is a rule that a user might have written. Many are wrong, some never match,
//! and a few are right: a condition that asks for too much, operators that agree on the rule's operands.

use crate::mutation;
use rewright_dsl::program::{Conclusion, Guard, Program, Rule, VarKind};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Model, Term, TypeExpr, TypeParam, Universe};

/// What was changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// An operation.
    Operator,
    /// Which operands an operation has, and in which order.
    Operand,
    /// A literal.
    Constant,
    /// The types at which the rule holds, or a width that it asks for.
    Width,
    /// A condition.
    Guard,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Operator, Kind::Operand, Kind::Constant, Kind::Width, Kind::Guard];

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Operator => "operator",
            Kind::Operand => "operand",
            Kind::Constant => "constant",
            Kind::Width => "width",
            Kind::Guard => "condition",
        }
    }
}

/// A changed rule.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    pub(super) kind: Kind,
    /// What was changed, for people.
    pub(super) change: String,
    pub(super) rule: Rule,
}

/// All mutants of a rule, in a fixed order.
pub(super) fn mutants(program: &Program, rule: &Rule) -> Vec<Mutant> {
    let universe = &program.universe;
    let vars: Vec<&VarKind> = rule.vars.iter().map(|v| &v.kind).collect();
    let change = |node: &Term| changes(universe, &vars, node);
    let mut all = vec![];
    let mut add = |(kind, change): (Kind, String), edit: &dyn Fn(&mut Rule)| {
        let mut rule = rule.clone();
        edit(&mut rule);
        all.push(Mutant { kind, change, rule });
    };
    for (i, left) in rule.left.iter().enumerate() {
        mutation::for_each_change(left, &change, &mut |(kind, what), term| {
            // A pattern that is a variable alone matches everything.
            if matches!(term, Term::Call { .. }) {
                add((kind, format!("on the left, {what}")), &|rule| rule.left[i] = term.clone());
            }
        });
    }
    match &rule.right {
        Conclusion::Equal(right) => mutation::for_each_change(right, &change, &mut |(kind, what), term| {
            add((kind, format!("on the right, {what}")), &|rule| rule.right = Conclusion::Equal(term.clone()));
        }),
        Conclusion::Fact(fact, args) => {
            for (i, arg) in args.iter().enumerate() {
                mutation::for_each_change(arg, &change, &mut |(kind, what), term| {
                    let mut args = args.clone();
                    args[i] = term;
                    let right = Conclusion::Fact(*fact, args);
                    add((kind, format!("on the right, {what}")), &|rule| rule.right = right.clone());
                });
            }
        }
    }
    for (i, guard) in rule.guards.iter().enumerate() {
        let n = i + 1;
        add((Kind::Guard, format!("condition {n} is gone")), &|rule| {
            rule.guards.remove(i);
        });
        if !matches!(guard, Guard::Class { .. } | Guard::Is(..)) {
            let not = Guard::Not(Box::new(guard.clone()));
            add((Kind::Guard, format!("condition {n} is negated")), &|rule| rule.guards[i] = not.clone());
        }
        in_guard(guard, &change, &mut |(kind, what), guard| {
            add((kind, format!("in condition {n}, {what}")), &|rule| rule.guards[i] = guard.clone());
        });
    }
    for (i, param) in rule.tparams.iter().enumerate() {
        if let Some((name, bound)) = wider_bound(universe, param) {
            let what = format!("type parameter {} may be any {name}", param.name);
            add((Kind::Width, what), &|rule| rule.tparams[i].bound = Some(bound.clone()));
        }
    }
    all
}

/// What may become of one node.
fn changes(universe: &Universe, vars: &[&VarKind], node: &Term) -> Vec<((Kind, String), Term)> {
    let mut all = vec![];
    let mut add = |kind, found: Vec<(String, Term)>| all.extend(found.into_iter().map(|(what, t)| ((kind, what), t)));
    add(Kind::Operator, mutation::other_operations(universe, node));
    add(Kind::Operand, mutation::exchanged_operands(universe, node));
    add(Kind::Operand, mutation::other_variables(vars, node));
    add(Kind::Constant, mutation::other_literal(node));
    add(Kind::Constant, negated_literal(node));
    add(Kind::Width, assumed_width(universe, node));
    all
}

fn negated_literal(node: &Term) -> Vec<(String, Term)> {
    match node {
        // What is 0 or 1 less is another literal's neighbour already.
        Term::Lit(Literal::Int(n), ty) if !(-1..=1).contains(n) => {
            vec![(format!("{n} became {}", -n), Term::Lit(Literal::Int(-n), ty.clone()))]
        }
        Term::Lit(Literal::Float(x), ty) => {
            vec![(format!("{x:?} became {:?}", -x), Term::Lit(Literal::Float(-x), ty.clone()))]
        }
        _ => vec![],
    }
}

/// A width that should come from the type, as a number.
fn assumed_width(universe: &Universe, node: &Term) -> Vec<(String, Term)> {
    let Term::Call { op, .. } = node else { return vec![] };
    let decl = universe.ops.get(*op);
    match decl.results.first() {
        Some(ty @ TypeExpr::App(..)) if decl.model == Some(Model::Width) => {
            let width = |n: i128| (format!("{} became {n}", decl.unique), Term::Lit(Literal::Int(n), ty.clone()));
            [8, 32].map(width).to_vec()
        }
        _ => vec![],
    }
}

/// The types above a bound.
fn wider_bound(universe: &Universe, param: &TypeParam) -> Option<(String, TypeExpr)> {
    let TypeExpr::App(decl, _) = param.bound.as_ref()? else { return None };
    let above = universe.types.decl(*decl).supertype.clone()?;
    let TypeExpr::App(decl, _) = &above else { return None };
    let name = universe.types.decl(*decl).name.clone();
    Some((name, above))
}

type Changes<'c> = &'c dyn Fn(&Term) -> Vec<((Kind, String), Term)>;

/// Calls `found` with every condition that differs by one change in a term, or by one side of an `or` that is gone.
fn in_guard(guard: &Guard, change: Changes<'_>, found: &mut dyn FnMut((Kind, String), Guard)) {
    match guard {
        Guard::Holds(term) => mutation::for_each_change(term, change, &mut |what, t| found(what, Guard::Holds(t))),
        Guard::Is(..) => {}
        Guard::Compare { equal, left, right } => {
            let compare = |left: Term, right: Term| Guard::Compare { equal: *equal, left, right };
            mutation::for_each_change(left, change, &mut |what, t| found(what, compare(t, right.clone())));
            mutation::for_each_change(right, change, &mut |what, t| found(what, compare(left.clone(), t)));
        }
        Guard::Class { same, left, right } => {
            let class = |left: Term, right: Term| Guard::Class { same: *same, left, right };
            mutation::for_each_change(left, change, &mut |what, t| found(what, class(t, right.clone())));
            mutation::for_each_change(right, change, &mut |what, t| found(what, class(left.clone(), t)));
        }
        Guard::Fact(fact, args) => {
            for (i, arg) in args.iter().enumerate() {
                mutation::for_each_change(arg, change, &mut |what, t| {
                    let mut args = args.clone();
                    args[i] = t;
                    found(what, Guard::Fact(*fact, args));
                });
            }
        }
        Guard::Not(inner) => in_guard(inner, change, &mut |what, g| found(what, Guard::Not(Box::new(g)))),
        Guard::Or(a, b) => {
            found((Kind::Guard, "the second way is gone".into()), Guard::clone(a));
            found((Kind::Guard, "the first way is gone".into()), Guard::clone(b));
            in_guard(a, change, &mut |what, a| found(what, Guard::Or(Box::new(a), b.clone())));
            in_guard(b, change, &mut |what, b| found(what, Guard::Or(a.clone(), Box::new(b))));
        }
    }
}
