//! Conditions of a rule, asked where its left side matches; and whether what it would say is known.
//!
//! A condition on whether two values are one looks for both in the e-graph, as the engine does: what is not computed
//! anywhere equals nothing.

use super::{PartialMatch, Search};
use rewright_cfg_skeleton::egraph::{ClassId, Head};
use rewright_dsl::program::{Conclusion, Guard};
use rewright_typeprop::eval::{constant, evaluate_term};
use rewright_typeprop::{Evaluation, Term, Ty};

/// A condition that is not met.
pub(super) struct Unmet {
    /// Why not.
    pub(super) why: String,
    /// It is on a fact.
    pub(super) is_fact: bool,
}

impl Unmet {
    fn because(why: String) -> Self {
        Unmet { why, is_fact: false }
    }
}

impl Search<'_> {
    /// The match with what conditions bind, or the condition that is not met. Those on facts come last.
    pub(super) fn unmet(&self, found: &PartialMatch) -> Result<PartialMatch, Unmet> {
        let (facts, mut guards): (Vec<&Guard>, Vec<&Guard>) =
            self.rule.guards.iter().partition(|guard| matches!(guard, Guard::Fact(..)));
        guards.sort_by_key(|guard| !matches!(guard, Guard::Class { .. }));
        guards.extend(facts);
        self.all_met(&guards, found)
    }

    fn all_met(&self, guards: &[&Guard], found: &PartialMatch) -> Result<PartialMatch, Unmet> {
        let Some((guard, rest)) = guards.split_first() else { return Ok(found.clone()) };
        if let Guard::Class { same, left, right } = guard {
            let mut unmet = None;
            for way in self.compared(*same, left, right, found).map_err(Unmet::because)? {
                match self.all_met(rest, &way) {
                    Err(why) => unmet = unmet.or(Some(why)),
                    met => return met,
                }
            }
            return Err(unmet.unwrap_or_else(|| Unmet::because("its condition on two values does not hold".into())));
        }
        match self.fails(guard, found) {
            Some(why) => Err(Unmet { why, is_fact: matches!(guard, Guard::Fact(..)) }),
            None => self.all_met(rest, found),
        }
    }

    /// The ways in which two terms are in one class, or in two; why there is none.
    fn compared(
        &self,
        same: bool,
        left: &Term,
        right: &Term,
        found: &PartialMatch,
    ) -> Result<Vec<PartialMatch>, String> {
        let nowhere = |term: &Term| {
            let term = self.written(term, found);
            format!("its condition is about {term}, which nothing computes here")
        };
        let is_call = |term: &Term| matches!(term, Term::Call { .. });
        let lefts = self.places(left, found);
        if lefts.is_empty() && is_call(left) {
            return Err(nowhere(left));
        }
        let (mut ways, mut is_there) = (vec![], false);
        for (class, found) in &lefts {
            for (other, way) in self.places(right, found) {
                is_there = true;
                if (other == *class) == same {
                    ways.push(way);
                }
            }
        }
        match (ways.is_empty(), is_there) {
            (false, _) => Ok(ways),
            (true, false) if is_call(right) => Err(nowhere(right)),
            (true, _) => {
                let (left, right) = (self.written(left, found), self.written(right, found));
                let is = if same { "is not known to equal" } else { "equals" };
                Err(format!("its condition does not hold: {left} {is} {right}, with {}", self.values(found)))
            }
        }
    }

    /// The classes that a term is in, with what it binds.
    fn places(&self, term: &Term, found: &PartialMatch) -> Vec<(ClassId, PartialMatch)> {
        let bound = match term {
            Term::Var(i) => found.vars[*i as usize],
            _ => None,
        };
        let classes = match bound {
            Some(class) => class.0..class.0 + 1,
            None => 0..self.view.classes.len() as u32,
        };
        let of = |class| self.bindings(term, class, found).into_iter().map(move |found| (class, found));
        classes.map(ClassId).flat_map(of).collect()
    }

    /// What a term binds where it is in a class, for each node of which it may be.
    fn bindings(&self, term: &Term, class: ClassId, found: &PartialMatch) -> Vec<PartialMatch> {
        let mut found = found.clone();
        let fits = match term {
            Term::Var(i) => self.variable(*i, class, &mut found).is_none(),
            Term::Lit(literal, ty) => {
                let scalar = self.types_of(class).first().and_then(|ty| self.universe.types.lane(*ty));
                let is_it = self.view.class(class).constant.is_some_and(|n| Some(n) == constant(literal, scalar));
                is_it && self.has_type(ty, class, &mut found)
            }
            Term::Eval(inner) => self.view.class(class).constant.is_some_and(|n| self.value(inner, &found) == Some(n)),
            Term::Call { op, targs, args, state } => {
                let nodes = self.view.class(class).nodes.iter().map(|id| self.view.node(*id));
                let same = nodes.filter(|node| node.head == Head::Op(*op));
                return same
                    .flat_map(|node| {
                        let mut found = found.clone();
                        let typed = targs.iter().zip(&node.types).all(|(expr, ty)| self.learn(expr, *ty, &mut found));
                        let ways = if typed { vec![found] } else { vec![] };
                        args.iter().chain(state.as_deref()).zip(&node.children).fold(ways, |ways, (term, child)| {
                            ways.iter().flat_map(|found| self.bindings(term, *child, found)).collect()
                        })
                    })
                    .collect();
            }
        };
        if fits { vec![found] } else { vec![] }
    }

    /// Is what the rule would say where it matches known? Of facts, nobody knows here.
    pub(super) fn says_nothing_new(&self, found: &PartialMatch) -> bool {
        match &self.rule.right {
            Conclusion::Equal(right) => !self.bindings(right, self.root, found).is_empty(),
            Conclusion::Fact(..) => true,
        }
    }

    /// Why a condition that binds nothing is not met.
    fn fails(&self, guard: &Guard, found: &PartialMatch) -> Option<String> {
        let no_constants =
            || format!("its condition is over constants, and not all of these are: {}", self.values(found));
        match guard {
            Guard::Holds(term) => match self.value(term, found) {
                Some(n) if n != 0 => None,
                Some(_) => Some(format!("its condition does not hold, with {}", self.values(found))),
                None => Some(no_constants()),
            },
            Guard::Compare { equal, left, right } => match (self.value(left, found), self.value(right, found)) {
                (Some(a), Some(b)) if (a == b) == *equal => None,
                (Some(a), Some(b)) => Some(format!("its condition compares {a} with {b}, with {}", self.values(found))),
                _ => Some(no_constants()),
            },
            Guard::Class { same, left, right } => self.compared(*same, left, right, found).err(),
            Guard::Is(Term::Var(i), ty) => {
                let class = found.vars[*i as usize]?;
                let mut found = found.clone();
                (!self.has_type(ty, class, &mut found)).then(|| self.type_miss(ty, class))
            }
            Guard::Fact(fact, _) => {
                let name = &self.program.facts[fact.0 as usize].name;
                Some(format!("all else fits; nothing says that `{name}` holds, with {}", self.values(found)))
            }
            Guard::Or(a, b) => self.fails(a, found).and(self.fails(b, found)),
            Guard::Not(inner) => match self.fails(inner, found) {
                Some(_) => None,
                None => Some(format!("a condition that must not hold does, with {}", self.values(found))),
            },
            // `check` takes `is` of variables only.
            Guard::Is(..) => None,
        }
    }

    /// What the variables of a match are.
    fn values(&self, found: &PartialMatch) -> String {
        let vars = self.rule.vars.iter().zip(&found.vars);
        let shown = vars.filter_map(|(var, class)| Some(format!("{} = {}", var.name, self.show((*class)?))));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// A term, with what its variables are.
    fn written(&self, term: &Term, found: &PartialMatch) -> String {
        match term {
            Term::Var(i) => {
                let class = found.vars[*i as usize];
                class.map_or_else(|| self.rule.vars[*i as usize].name.clone(), |class| self.show(class))
            }
            Term::Lit(literal, _) => literal.to_string(),
            Term::Eval(inner) => self.written(inner, found),
            Term::Call { op, args, state, .. } => {
                let args: Vec<String> = args.iter().map(|arg| self.written(arg, found)).collect();
                let after = if state.is_some() { ", in the state that it means" } else { "" };
                format!("{}({}){after}", self.universe.ops.get(*op).name, args.join(", "))
            }
        }
    }

    /// A term over constants.
    fn value(&self, term: &Term, found: &PartialMatch) -> Option<i64> {
        let types: Vec<Ty> = found.types.iter().map(|ty| ty.unwrap_or(Ty::ANY)).collect();
        let vars = found.vars.iter().map(|class| class.and_then(|class| self.view.class(class).constant));
        let vars: Vec<Option<i64>> = vars.collect();
        if term.variables().any(|i| vars.get(i as usize).copied().flatten().is_none()) {
            return None;
        }
        let vars: Vec<i64> = vars.into_iter().map(Option::unwrap_or_default).collect();
        match evaluate_term(self.universe, term, &types, &vars) {
            Evaluation::Value(n) => Some(n),
            Evaluation::Nan | Evaluation::Undefined => None,
        }
    }
}
