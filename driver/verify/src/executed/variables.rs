//! The variables of a rule, made as its pack says.

use super::experiment::Experiment;
use super::inputs::{Given, Input, literals_beside, spelled};
use crate::code::{Built, Operand};
use rewright_cfg_skeleton::ir::{InstKind, Value};
use rewright_dsl::program::{Sample, VarKind};
use rewright_typeprop::types::{TypeData, TypeDeclId};
use rewright_typeprop::{Model, Repr, Term, Ty};
use smallvec::SmallVec;

impl Experiment<'_, '_> {
    /// Makes the rule's variables.
    pub(super) fn make_variables(&mut self) -> Built<()> {
        let rule = self.case.rule;
        for (n, var) in rule.vars.iter().enumerate() {
            let (how, value) = match &var.kind {
                VarKind::State => (Given::Nothing, None),
                VarKind::Value { ty, .. } => {
                    let ty = self.code.ty(ty, &self.targs)?;
                    let (how, value) = self.variable(n as u32, ty)?;
                    (how, Some(value))
                }
            };
            self.vars.push(value);
            self.given.push((var.name.clone(), how));
        }
        self.inputs[0] = Input::Size { any: self.all_change };
        for (var, sample) in rule.approximate.iter().flat_map(|a| &a.samples) {
            let value = self.code.term(sample, &self.targs, &self.vars)?;
            let Given::Scalar(_, _, own) = &mut self.given[*var as usize].1 else {
                return Err("its own `@sample` is of a value that a library makes".into());
            };
            *own = Some(sample.clone());
            self.vars[*var as usize] = Some(value);
        }
        Ok(())
    }

    fn variable(&mut self, n: u32, ty: Ty) -> Built<(Given, Operand)> {
        let types = &self.code.universe.types;
        if types.repr(ty) == Some(Repr::Pointer) {
            let (input, offset) = self.input(Input::Offset, self.number);
            return Ok((Given::Place(input), (self.place(offset, ty)?, ty)));
        }
        if let Some(scalar) = types.scalar(ty) {
            let literals = literals_beside(&self.case.rule.guards, n);
            let (input, value) = self.input(Input::Number(scalar, literals), ty);
            return Ok((Given::Scalar(input, scalar, None), (value, ty)));
        }
        let alike = |(_, (value, how)): &(usize, (&Option<Operand>, &(String, Given)))| {
            matches!(how.1, Given::Made(..)) && value.is_some_and(|(_, made)| types.is_subtype(made, ty))
        };
        let earlier: Vec<(usize, Operand)> = (self.vars.iter().zip(&self.given).enumerate().filter(alike))
            .filter_map(|(n, (value, _))| Some((n, (*value)?)))
            .collect();
        if let Some(chosen) = self.plan.maybe(earlier.len()) {
            let (other, value) = earlier[chosen];
            self.tried.insert("one value for two variables".into());
            return Ok((Given::Same(other), value));
        }
        let samples = self.samples(ty)?;
        let chosen = self.plan.one_of(samples.len()).ok_or_else(|| self.unmade(ty))?;
        let (make, changes) = samples[chosen].clone();
        self.all_change &= !changes.is_empty();
        let (seed, value) = self.seed();
        let start = [Some((self.size, self.number)), Some((value, self.number))];
        let mut it = self.code.made(&make, &[], &start)?.ok_or_else(|| self.unmade(ty))?;
        self.tried.insert(spelled(self.code.universe, &make, &|_| "..".into()));
        let mut changed = vec![];
        for kind in self.plan.changes(changes.len()) {
            let (seed, result) = self.change(&changes[kind], it)?;
            it = result.filter(|(_, ty)| self.code.universe.types.is_subtype(*ty, it.1)).unwrap_or(it);
            changed.push((changes[kind].clone(), seed));
        }
        Ok((Given::Made(make, seed, changed), it))
    }

    /// Changes a value: the seed's input, and what the change gives.
    pub(super) fn change(&mut self, change: &Term, it: Operand) -> Built<(usize, Option<Operand>)> {
        let (seed, value) = self.seed();
        let vars = [Some((self.size, self.number)), Some((value, self.number)), Some(it)];
        let targs = self.own_arguments(it.1);
        self.tried.insert(spelled(self.code.universe, change, &|n| if n == 2 { "it" } else { ".." }.into()));
        Ok((seed, self.code.made(change, &targs, &vars)?))
    }

    /// The type arguments of a value's own type, over which its pack's expressions are.
    fn own_arguments(&self, ty: Ty) -> Vec<Ty> {
        match self.code.universe.types.data(ty) {
            TypeData::App(_, args) => args.to_vec(),
            TypeData::Int(_) | TypeData::Open => vec![],
        }
    }

    fn seed(&mut self) -> (usize, Value) {
        self.input(Input::Seed, self.number)
    }

    /// How values of a type are made and changed: its own samples first, then those of types below it.
    fn samples(&mut self, ty: Ty) -> Built<Vec<(Term, Vec<Term>)>> {
        let own = match self.code.universe.types.data(ty) {
            TypeData::App(decl, _) => Some(*decl),
            TypeData::Int(_) | TypeData::Open => None,
        };
        let mut all: Vec<(&TypeDeclId, &Sample)> = self.case.program.samples.iter().collect();
        all.sort_by_key(|(decl, _)| Some(**decl) != own);
        let mut found = vec![];
        for (decl, sample) in all {
            let Some(make) = &sample.make else { continue };
            let Term::Call { op, targs, .. } = make else {
                // A constant is of the type that it is written at.
                if Some(*decl) == own {
                    found.push((make.clone(), sample.changes.clone()));
                }
                continue;
            };
            let targs = targs.iter().map(|ty| self.code.ty(ty, &[])).collect::<Built<Vec<Ty>>>()?;
            let Some(result) = self.code.universe.ops.get(*op).results.first().cloned() else { continue };
            let made = self.code.ty(&result, &targs)?;
            if self.code.universe.types.is_subtype(made, ty) {
                found.push((make.clone(), sample.changes.clone()));
            }
        }
        Ok(found)
    }

    fn unmade(&self, ty: Ty) -> crate::code::NoCode {
        format!("no `@sample` makes a `{}`", self.code.universe.types.display(ty)).into()
    }

    /// So far into the call's memory.
    fn place(&mut self, offset: Value, ty: Ty) -> Built<Value> {
        let add = self.code.universe.ops.iter().find(|(_, op)| op.model == Some(Model::Add) && op.tparams.len() == 1);
        let (op, _) = add.ok_or("no operation adds to an address")?;
        let kind = InstKind::Op { op, targs: SmallVec::from_slice(&[self.number]), access: None };
        Ok(self.code.push(kind, &[self.memory, offset], ty))
    }
}
