//! The function that makes a rule's variables as its pack says, computes sides and looks at them.

use super::conditions::{Condition, Context};
use super::inputs::{Given, Happening, Input, spelled};
use super::plan::Plan;
use super::timeline::{Timeline, writes_memory};
use crate::case::Case;
use crate::code::{Built, Code, Operand};
use rewright_cfg_skeleton::ir::{Function, Value};
use rewright_dsl::program::{Conclusion, VarKind};
use rewright_typeprop::types::{TypeData, TypeDeclId};
use rewright_typeprop::{Op, Part, Repr, Scalar, Term, Ty, TypeExpr, Universe};
use std::collections::BTreeSet;

/// A rule's experiment, while it is written.
pub(super) struct Experiment<'c, 'u> {
    pub(super) case: &'c Case<'c>,
    pub(super) code: Code<'u>,
    pub(super) plan: Plan,
    /// The address of the call's memory.
    pub(super) memory: Value,
    /// The type of sizes and seeds.
    pub(super) number: Ty,
    /// The size of what is made.
    pub(super) size: Value,
    pub(super) targs: Vec<Ty>,
    pub(super) inputs: Vec<Input>,
    pub(super) vars: Vec<Option<Operand>>,
    /// The rule's variables by name.
    pub(super) given: Vec<(String, Given)>,
    /// What values are made and changed by.
    pub(super) tried: BTreeSet<String>,
    /// The pack says of all types that it makes values of how they change.
    pub(super) all_change: bool,
}

/// Which sides an experiment computes, and looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sides {
    /// The left one, then the right one, of the same variables: nothing changes them.
    Both,
    /// The left one twice: is it the same?
    LeftTwice,
    /// One alone.
    Left,
    /// One alone.
    Right,
}

/// What is seen of a side: what each observation is, and how to call it.
pub(super) type Seen = Vec<(Scalar, String)>;

/// What an experiment's function takes and gives. Its results are what the conditions look at, then what is seen of its sides, in order,
/// then the words of [`Interface::named`], and those of [`Interface::kept`].
pub(super) struct Interface {
    /// Does it call Rust functions of this program?
    pub(super) is_called_here: bool,
    pub(super) inputs: Vec<Input>,
    /// The rule's variables by name.
    pub(super) given: Vec<(String, Given)>,
    pub(super) conditions: Vec<Condition>,
    pub(super) seen: Seen,
    /// Where the side gives a pointer or a handle that it may have been given: the names of those, whose words follow its
    /// own and the memory's.
    pub(super) named: Option<Vec<String>>,
    /// Nothing but its word is to be seen of what the side gives.
    pub(super) is_bare: bool,
    /// What changes variables between states.
    pub(super) between: Vec<Happening>,
    /// Pairs of words at the end, equal unless such a change has moved a value.
    pub(super) kept: usize,
    /// The memory after it counts.
    pub(super) leaves_memory: bool,
    pub(super) tried: BTreeSet<String>,
    pub(super) had_choices: bool,
    /// There are several states, and nothing that could tell them apart.
    pub(super) states_alike: bool,
}

/// What a side gives and leaves.
struct Side {
    values: Vec<Value>,
    seen: Seen,
    named: Option<(Vec<Value>, Vec<String>)>,
    is_bare: bool,
    between: Vec<Happening>,
    kept: Vec<Value>,
}

impl<'c, 'u> Experiment<'c, 'u> {
    pub(super) fn new(case: &'c Case<'c>, universe: &'u mut Universe, plan: Plan) -> Built<Self> {
        let mut code = Code::new(universe, "%rule");
        // The caller of a function on memory passes the memory's address first.
        let memory = code.parameter(Ty::ANY);
        let number = code.universe.types.all().find(|ty| {
            // Any type of the machine's own words will do for sizes and seeds.
            code.universe.types.repr(*ty) == Some(Repr::Scalar(Scalar::I64))
        });
        let number = number.ok_or("no type stands for 64 bits")?;
        let size = code.parameter(number);
        let targs = case.types.clone();
        if targs.len() != case.rule.tparams.len() {
            return Err("no `@sample` says what its type parameters are".into());
        }
        let (vars, given) = (vec![], vec![]);
        let inputs = vec![Input::Size { any: false }];
        let tried = BTreeSet::new();
        let all_change = true;
        Ok(Experiment { case, code, plan, memory, number, size, targs, inputs, vars, given, tried, all_change })
    }

    /// A further parameter.
    pub(super) fn input(&mut self, input: Input, ty: Ty) -> (usize, Value) {
        self.inputs.push(input);
        (self.inputs.len() - 1, self.code.parameter(ty))
    }

    pub(super) fn written(mut self, sides: Sides) -> Built<(Function, Interface)> {
        let Conclusion::Equal(right) = &self.case.rule.right else { return Err("it concludes a fact".into()) };
        let left = &self.case.rule.left[0];
        let timeline = Timeline::of(self.case.rule, &self.case.program.universe.ops, [left, right]);
        self.make_variables()?;
        let changes = self.changes_between(timeline.states());
        let (mut results, mut conditions) = (vec![], vec![]);
        for guard in &self.case.rule.guards {
            let context = Context { program: self.case.program, targs: &self.targs, vars: &self.vars };
            let is_later =
                |n: u32| matches!(self.case.rule.vars[n as usize].kind, VarKind::State) && !timeline.is_first(n);
            if guard.terms().into_iter().flat_map(Term::variables).any(is_later) {
                return Err("a condition of it is about a state that is not the first".into());
            }
            conditions.push(Condition::write(&mut self.code, context, guard, &mut results)?);
        }
        let sides: &[&Term] = match sides {
            Sides::Both => &[left, right],
            Sides::LeftTwice => &[left, left],
            Sides::Left => &[left],
            Sides::Right => &[right],
        };
        let mut first: Option<Side> = None;
        for side in sides {
            let side = self.side(side, &timeline, &changes, sides.len() == 1)?;
            results.extend(&side.values);
            match &first {
                None => first = Some(side),
                Some(first) if first.seen == side.seen => {}
                Some(_) => return Err("its sides are not looked at in the same way".into()),
            }
        }
        let side = first.ok_or("it has no side")?;
        let named = side.named.map(|(words, names)| {
            results.extend(words);
            names
        });
        let kept = side.kept.len() / 2;
        results.extend(side.kept);
        let is_called_here = self.code.is_called_here();
        let interface = Interface {
            is_called_here,
            leaves_memory: sides.len() == 1 && leaves_memory(self.case),
            states_alike: timeline.states() > 1 && changes.iter().all(Option::is_none),
            inputs: self.inputs,
            given: self.given,
            conditions,
            seen: side.seen,
            named,
            is_bare: side.is_bare,
            between: side.between,
            kept,
            tried: self.tried,
            had_choices: self.plan.had_choices,
        };
        Ok((self.code.returning(results), interface))
    }

    /// What changes which variable before each state but the first.
    fn changes_between(&mut self, states: usize) -> Vec<Option<(usize, Term)>> {
        let mut possible = vec![];
        for (variable, (_, how)) in self.given.iter().enumerate() {
            let Given::Made(make, ..) = how else { continue };
            let samples = self.case.program.samples.values().filter(|sample| sample.make.as_ref() == Some(make));
            possible.extend(samples.flat_map(|s| &s.changes).map(|change| (variable, change.clone())));
        }
        (0..states)
            .map(|state| self.plan.between(possible.len()).filter(|_| state > 0))
            .map(|chosen| Some(possible[chosen?].clone()))
            .collect()
    }

    /// Computes a side. `alone`: in a world of its own, its calls in the order of their states.
    fn side(
        &mut self,
        term: &Term,
        timeline: &Timeline<'_>,
        changes: &[Option<(usize, Term)>],
        alone: bool,
    ) -> Built<Side> {
        let (mut between, mut kept) = (vec![], vec![]);
        if alone {
            // The call whose value a rule is about stays where it is.
            let stays = Some(&self.case.rule.left[0]).filter(|_| is_about_value_alone(self.case));
            let executed: Vec<&Term> = stays.into_iter().chain([term]).collect();
            for (calls, change) in timeline.calls(&executed)?.into_iter().zip(changes) {
                if let Some((variable, change)) = change {
                    let it = self.vars[*variable].ok_or("a state is changed")?;
                    let (seed, result) = self.change(change, it)?;
                    kept.extend(result.filter(|(_, ty)| *ty == it.1).into_iter().flat_map(|(moved, _)| [it.0, moved]));
                    between.push(Happening { variable: *variable, change: change.clone(), seed });
                }
                for call in calls {
                    self.code.execute(call, &self.targs, &self.vars)?;
                }
            }
        }
        let value = match term {
            Term::Var(n) if matches!(self.case.rule.vars[*n as usize].kind, VarKind::State) => None,
            _ if is_about_state_alone(self.case) => None,
            term => self.code.value(term, &self.targs, &self.vars)?,
        };
        let (mut values, mut seen) = (vec![], vec![]);
        let (mut named, mut is_bare) = (None, false);
        if let Some((value, ty)) = value {
            is_bare = alone && self.code.universe.types.repr(ty) == Some(Repr::Pointer);
            if !is_bare {
                (values, seen) = self.observed((value, ty), "")?;
            }
            named = (alone && self.is_word(ty)).then(|| self.names(value));
        }
        if alone && leaves_memory(self.case) {
            for n in 0..self.given.len() {
                let (Given::Made(..), Some(operand)) = (&self.given[n].1, self.vars[n]) else { continue };
                if self.observations(operand.1).is_err() && !self.is_written(operand.1) {
                    continue;
                }
                let (value, what) = self.observed(operand, &self.given[n].0.clone())?;
                values.extend(value);
                seen.extend(what);
            }
        }
        Ok(Side { values, seen, named, is_bare, between, kept })
    }

    /// May a function write to a value of this type?
    fn is_written(&self, ty: Ty) -> bool {
        let is_below = |decl: &TypeDeclId| self.code.universe.types.ancestor(ty, *decl).is_some();
        let takes = |op: &Op, ty: &TypeExpr| match ty {
            TypeExpr::App(decl, _) => is_below(decl),
            TypeExpr::Param(n) => match &op.tparams[*n as usize].bound {
                Some(TypeExpr::App(decl, _)) => is_below(decl),
                _ => true,
            },
            TypeExpr::Int(_) => false,
        };
        let mut writers = self.code.universe.ops.iter().map(|(_, op)| op).filter(|op| !op.effects.writes.is_empty());
        writers.any(|op| op.params.iter().any(|param| takes(op, &param.ty)))
    }

    fn is_word(&self, ty: Ty) -> bool {
        let types = &self.code.universe.types;
        types.repr(ty) == Some(Repr::Pointer) || types.scalar(ty).is_none()
    }

    /// The words of a value, of the call's memory, and of the variables that it may be.
    fn names(&self, value: Value) -> (Vec<Value>, Vec<String>) {
        let words = self.vars.iter().zip(&self.given).filter_map(|(operand, (name, _))| {
            let (value, ty) = (*operand)?;
            self.is_word(ty).then(|| (value, name.clone()))
        });
        let (words, names): (Vec<Value>, Vec<String>) = words.unzip();
        ([vec![value, self.memory], words].concat(), names)
    }

    /// What is seen of a value: of one without machine representation what its type says, or the nearest one above.
    /// `name`: of that variable, afterwards.
    fn observed(&mut self, (value, ty): Operand, name: &str) -> Built<(Vec<Value>, Seen)> {
        if let Some(scalar) = self.code.universe.types.scalar(ty) {
            return Ok((vec![value], vec![(scalar, String::new())]));
        }
        let (decl, observations) = self.observations(ty)?;
        let targs = self.code.universe.types.ancestor(ty, decl).unwrap_or_default();
        let targs: Vec<Ty> = targs.into_iter().map(|ty| ty.unwrap_or(Ty::ANY)).collect();
        let (it, when) = if name.is_empty() { ("it", "") } else { (name, "then ") };
        let (mut values, mut seen) = (vec![], vec![]);
        for observation in &observations {
            let (value, ty) = self.code.term(observation, &targs, &[Some((value, ty))])?;
            let scalar = self.code.universe.types.scalar(ty).ok_or("an observation is no machine value")?;
            values.push(value);
            seen.push((scalar, format!("{when}{} = ", spelled(self.code.universe, observation, &|_| it.into()))));
        }
        Ok((values, seen))
    }

    fn observations(&mut self, ty: Ty) -> Built<(TypeDeclId, Vec<Term>)> {
        let mut at = Some(ty);
        while let Some(here) = at {
            if let TypeData::App(decl, _) = self.code.universe.types.data(here)
                && let Some(sample) = self.case.program.samples.get(decl).filter(|s| !s.observe.is_empty())
            {
                return Ok((*decl, sample.observe.clone()));
            }
            at = self.code.universe.types.supertype(here);
        }
        Err(format!("no `@observe` says what is seen of a `{}`", self.code.universe.types.display(ty)).into())
    }
}

/// Does a rule change memory, or speak of several states of it? Then either of its sides needs a world of its own.
pub(super) fn needs_worlds(case: &Case<'_>) -> bool {
    let ops = &case.program.universe.ops;
    let writes = |term: &Term| matches!(term, Term::Call { op, .. } if writes_memory(ops, *op));
    let states = Timeline::of(case.rule, ops, case.rule.left.iter().chain(case.rule.right.terms())).states();
    states > 1 || case.rule.terms().flat_map(Term::subterms).any(writes)
}

/// Is the rule about what a call leaves behind, and not about the value that it gives? So it is where only one side is a
/// call that gives one.
fn is_about_state_alone(case: &Case<'_>) -> bool {
    let ops = &case.program.universe.ops;
    let is_state =
        |term: &Term| matches!(term, Term::Call { op, .. } if matches!(ops.get(*op).part_of, Some(Part::State(_))));
    is_state(&case.rule.left[0]) != case.rule.right.terms().iter().all(is_state)
}

/// Is the rule about the value that a call gives, and not about what it leaves behind?
fn is_about_value_alone(case: &Case<'_>) -> bool {
    let ops = &case.program.universe.ops;
    matches!(&case.rule.left[0], Term::Call { op, .. } if matches!(ops.get(*op).part_of, Some(Part::Value(_))))
}

/// Does the rule claim that its sides leave the same memory? Not of a value that is read or given, nor where it says that a
/// change goes.
fn leaves_memory(case: &Case<'_>) -> bool {
    let ops = &case.program.universe.ops;
    let writes = |term: &Term| matches!(term, Term::Call { op, .. } if writes_memory(ops, *op));
    let root = &case.rule.left[0];
    let right: Vec<&Term> = case.rule.right.terms().iter().flat_map(Term::subterms).collect();
    let goes = |term: &&Term| writes(term) && *term != root && !right.contains(term);
    writes(root)
        && !is_about_value_alone(case)
        && !(case.rule.relaxation.is_some() && root.subterms().any(|term| goes(&term)))
}
