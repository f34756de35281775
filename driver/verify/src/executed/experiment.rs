//! The function that makes a rule's variables as its pack says, computes both sides and looks at them.

use super::conditions::{Condition, Context};
use super::{Given, spelled};
use crate::case::Case;
use crate::code::{Built, Code, Operand};
use rewright_cfg_skeleton::ir::{Function, InstKind, Value};
use rewright_dsl::program::{Conclusion, Program, VarKind};
use rewright_typeprop::types::{TypeData, TypeDeclId};
use rewright_typeprop::{Model, Repr, Scalar, Term, Ty, TypeExpr, Universe};
use smallvec::SmallVec;

/// A rule's experiment, while it is written.
pub(super) struct Experiment<'c, 'u> {
    case: &'c Case<'c>,
    code: Code<'u>,
    /// The address of the call's memory.
    memory: Value,
}

/// Which sides an experiment computes, and looks at.
#[derive(Clone, Copy)]
pub(super) enum Sides {
    /// The left one, then the right one.
    Both,
    /// One alone.
    Left,
    /// One alone.
    Right,
}

/// What is seen of a side: what each observation is, and how to call it.
pub(super) type Seen = Vec<(Scalar, String)>;

/// The experiment as a function. Its results are what the conditions look at, then what is seen of its sides, in order.
pub(super) struct ExperimentFunction {
    pub(super) function: Function,
    /// Does it call Rust functions of this program?
    pub(super) is_called_here: bool,
    /// The rule's variables by name, in the order of arguments.
    pub(super) given: Vec<(String, Given)>,
    pub(super) conditions: Vec<Condition>,
    pub(super) seen: Seen,
}

impl<'c, 'u> Experiment<'c, 'u> {
    pub(super) fn new(case: &'c Case<'c>, universe: &'u mut Universe) -> Self {
        let mut code = Code::new(universe, "%rule");
        // What runs a function on memory passes the memory's address first.
        let memory = code.parameter(Ty::ANY);
        Experiment { case, code, memory }
    }

    fn program(&self) -> &'c Program {
        self.case.program
    }

    pub(super) fn written(mut self, sides: Sides) -> Built<ExperimentFunction> {
        let Conclusion::Equal(right) = &self.case.rule.right else { return Err("it concludes a fact".into()) };
        let targs = self.type_arguments()?;
        let number = self.code.universe.types.all().find(|ty| {
            // Any type of the machine's own words will do for sizes and seeds.
            self.code.universe.types.repr(*ty) == Some(Repr::Scalar(Scalar::I64))
        });
        let number = number.ok_or("no type stands for 64 bits")?;
        let size = self.code.parameter(number);
        let (mut vars, mut given) = (vec![], vec![]);
        for var in &self.case.rule.vars {
            let (how, value) = match &var.kind {
                VarKind::State => (Given::Nothing, None),
                VarKind::Value { ty, .. } => {
                    let ty = self.code.ty(ty, &targs)?;
                    match self.code.universe.types.scalar(ty) {
                        _ if self.code.universe.types.repr(ty) == Some(Repr::Pointer) => {
                            let offset = self.code.parameter(number);
                            (Given::Place, Some((self.place(offset, number, ty)?, ty)))
                        }
                        Some(scalar) => (Given::Scalar(scalar, None), Some((self.code.parameter(ty), ty))),
                        None => {
                            let make = self.sample(ty)?;
                            let seed = self.code.parameter(number);
                            let made = self.code.term(&make, &[], &[Some((size, number)), Some((seed, number))])?;
                            if !self.code.universe.types.is_subtype(made.1, ty) {
                                let shown = |ty| self.code.universe.types.display(ty);
                                return Err(format!("`@sample` makes a `{}`, no `{}`", shown(made.1), shown(ty)).into());
                            }
                            (Given::Made(make), Some(made))
                        }
                    }
                }
            };
            vars.push(value);
            given.push((var.name.clone(), how));
        }
        for (var, sample) in self.case.rule.approximate.iter().flat_map(|a| &a.samples) {
            let value = self.code.term(sample, &targs, &vars)?;
            let Given::Scalar(_, own) = &mut given[*var as usize].1 else {
                return Err("its own `@sample` is of a value that a library makes".into());
            };
            *own = Some(sample.clone());
            vars[*var as usize] = Some(value);
        }
        let mut results = vec![];
        let mut conditions = vec![];
        for guard in &self.case.rule.guards {
            let context = Context { program: self.case.program, targs: &targs, vars: &vars };
            conditions.push(Condition::write(&mut self.code, context, guard, &mut results)?);
        }
        let left = &self.case.rule.left[0];
        let sides: &[&Term] = match sides {
            Sides::Both => &[left, right],
            Sides::Left => &[left],
            Sides::Right => &[right],
        };
        let mut seen: Option<Seen> = None;
        for side in sides {
            let value = self.code.term(side, &targs, &vars)?;
            let (values, own) = self.observed(value)?;
            if *seen.get_or_insert_with(|| own.clone()) != own {
                return Err("its sides are not looked at in the same way".into());
            }
            results.extend(values);
        }
        let seen = seen.unwrap_or_default();
        let is_called_here = self.code.is_called_here();
        Ok(ExperimentFunction { function: self.code.returning(results), is_called_here, given, conditions, seen })
    }

    /// So far into the call's memory.
    fn place(&mut self, offset: Value, number: Ty, ty: Ty) -> Built<Value> {
        let add = self.code.universe.ops.iter().find(|(_, op)| op.model == Some(Model::Add) && op.tparams.len() == 1);
        let (op, _) = add.ok_or("no operation adds to an address")?;
        let kind = InstKind::Op { op, targs: SmallVec::from_slice(&[number]), access: None };
        Ok(self.code.push(kind, &[self.memory, offset], ty))
    }

    /// What stands for the rule's type parameters: the instance, or else what the variables' samples are.
    fn type_arguments(&mut self) -> Built<Vec<Ty>> {
        let rule = self.case.rule;
        if self.case.types.len() == rule.tparams.len() {
            return Ok(self.case.types.clone());
        }
        let mut found: Vec<Option<Ty>> = vec![None; rule.tparams.len()];
        for var in &rule.vars {
            let VarKind::Value { ty: TypeExpr::App(decl, args), .. } = &var.kind else { continue };
            let Some(Term::Call { op, targs, .. }) =
                self.program().samples.get(decl).and_then(|sample| sample.make.as_ref())
            else {
                continue;
            };
            let targs = targs.iter().map(|ty| self.code.ty(ty, &[])).collect::<Built<Vec<Ty>>>()?;
            let Some(result) = self.code.universe.ops.get(*op).results.first().cloned() else { continue };
            let made = self.code.ty(&result, &targs)?;
            let known = self.code.universe.types.ancestor(made, *decl).unwrap_or_default();
            for (arg, known) in args.iter().zip(known) {
                if let TypeExpr::Param(i) = arg {
                    let slot = &mut found[*i as usize];
                    *slot = slot.or(known);
                }
            }
        }
        // One that ranges over the types below another one may be that one itself.
        for (slot, param) in found.iter_mut().zip(&rule.tparams) {
            if let (None, Some(bound)) = (*slot, &param.bound) {
                *slot = self.code.ty(bound, &[]).ok();
            }
        }
        found.into_iter().collect::<Option<_>>().ok_or_else(|| "no `@sample` says what its type parameters are".into())
    }

    fn sample(&self, ty: Ty) -> Built<Term> {
        let own = match self.code.universe.types.data(ty) {
            TypeData::App(decl, _) => self.program().samples.get(decl).and_then(|sample| sample.make.clone()),
            _ => None,
        };
        own.ok_or_else(|| format!("no `@sample` makes a `{}`", self.code.universe.types.display(ty)).into())
    }

    /// What is seen of a value: of one without machine representation what its type says, or the nearest one above.
    fn observed(&mut self, (value, ty): Operand) -> Built<(Vec<Value>, Seen)> {
        if let Some(scalar) = self.code.universe.types.scalar(ty) {
            return Ok((vec![value], vec![(scalar, String::new())]));
        }
        let (decl, observations) = self.observations(ty)?;
        let targs = self.code.universe.types.ancestor(ty, decl).unwrap_or_default();
        let targs: Vec<Ty> = targs.into_iter().map(|ty| ty.unwrap_or(Ty::ANY)).collect();
        let (mut values, mut seen) = (vec![], vec![]);
        for observation in &observations {
            let (value, ty) = self.code.term(observation, &targs, &[Some((value, ty))])?;
            let scalar = self.code.universe.types.scalar(ty).ok_or("an observation is no machine value")?;
            values.push(value);
            seen.push((scalar, format!("{} = ", spelled(self.code.universe, observation, &|_| "it".into()))));
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
