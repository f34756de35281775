//! Types of values, and which overload each call means: a fixed point over a function.
//!
//! Parameters of the function, constants and opaque results have the types that they are given; a call's results
//! have the types of the most specific overload that its operands fit ([`rewright_typeprop::overload`]); a block
//! parameter has the join of what its edges carry, or the type that is stated. Types only go up, so the fixed point
//! is the least one, and it does not depend on the order of blocks. When a type goes up, every call that uses it is
//! resolved again.
//!
//! [`reinfer`] does the same for a function whose types are known, after its operands' types have moved (say, since
//! a call was inlined).

use super::{BlockId, EdgeArg, Function, InstId, InstKind, Value};
use rewright_typeprop::overload::{CallTypes, Unresolved, resolve};
use rewright_typeprop::{OpId, Ty, Universe};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// A call whose overload is to be found.
#[derive(Clone, Debug)]
pub struct OpenCall {
    /// As written.
    pub name: String,
    /// Operations of that name.
    pub candidates: Vec<OpId>,
    /// Type arguments that are stated; none, or all.
    pub explicit: SmallVec<[Ty; 2]>,
}

/// Why a function has no types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeFault {
    /// A call that means no operation.
    Call {
        /// The instruction.
        inst: InstId,
        /// Why, in one line.
        message: String,
    },
    /// A value without a type.
    Value {
        /// The value.
        value: Value,
        /// Why, in one line.
        message: String,
    },
}

/// Finds the types of all values and the operations of open calls. `stated` says which types are written.
///
/// # Errors
/// All faults, in order of layout. The function is unchanged then.
pub fn infer(
    f: &mut Function,
    universe: &mut Universe,
    stated: &[Option<Ty>],
    calls: &BTreeMap<InstId, OpenCall>,
) -> Result<(), Vec<TypeFault>> {
    let mut inference = Inference { f, universe, stated, calls, types: vec![None; f.values.len()] };
    inference.seed();
    while inference.round() {}
    let solved = inference.solution()?;
    for (value, ty) in f.values.iter_mut().zip(solved.types) {
        *value = ty.unwrap_or(*value);
    }
    for (id, (op, targs)) in solved.calls {
        if let InstKind::Op { op: slot, targs: types, .. } = &mut f.insts[id.index()].kind {
            *slot = op;
            *types = targs;
        }
    }
    Ok(())
}

/// Infers again all types but those of the function's parameters, and resolves every call of an overloaded
/// operation again. True if anything changed. A function whose types cannot be found stays as it is.
pub fn reinfer(f: &mut Function, universe: &mut Universe) -> bool {
    let mut calls = BTreeMap::new();
    for b in &f.layout {
        for id in &f.block(*b).insts {
            let InstKind::Op { op, .. } = &f.inst(*id).kind else { continue };
            let name = universe.ops.get(*op).name.clone();
            // A rule that knew that its conditions hold has moved the call there.
            let settled = universe.ops.get(*op).conditional;
            let candidates = if settled { vec![*op] } else { universe.ops.overloads(&name).to_vec() };
            calls.insert(*id, OpenCall { name, candidates, explicit: SmallVec::new() });
        }
    }
    // Results tell the type arguments that operands do not.
    let mut stated: Vec<Option<Ty>> = vec![None; f.values.len()];
    for id in calls.keys() {
        for result in &f.inst(*id).results {
            stated[result.index()] = Some(f.ty(*result));
        }
    }
    let before = (f.values.clone(), kinds(f));
    let mut changed = f.clone();
    if infer(&mut changed, universe, &stated, &calls).is_err() {
        return false;
    }
    let moved = (changed.values.clone(), kinds(&changed)) != before;
    if moved {
        *f = changed;
    }
    moved
}

fn kinds(f: &Function) -> Vec<InstKind> {
    f.insts.iter().map(|i| i.kind.clone()).collect()
}

struct Inference<'a> {
    f: &'a Function,
    universe: &'a mut Universe,
    stated: &'a [Option<Ty>],
    calls: &'a BTreeMap<InstId, OpenCall>,
    /// `None`: nothing has arrived yet.
    types: Vec<Option<Ty>>,
}

type Resolved = Result<(OpId, SmallVec<[Ty; 2]>), Unresolved>;

struct Solution {
    types: Vec<Option<Ty>>,
    calls: BTreeMap<InstId, (OpId, SmallVec<[Ty; 2]>)>,
}

impl Inference<'_> {
    /// What needs no finding.
    fn seed(&mut self) {
        let f = self.f;
        let stated = |v: &Value| self.stated.get(v.index()).copied().flatten();
        let mut types = std::mem::take(&mut self.types);
        for b in &f.layout {
            for param in &f.block(*b).params {
                types[param.index()] = stated(param);
            }
            for id in &f.block(*b).insts {
                if !self.calls.contains_key(id) {
                    for result in &f.inst(*id).results {
                        types[result.index()] = stated(result).or(Some(f.ty(*result)));
                    }
                }
            }
        }
        if let Some(entry) = f.layout.first() {
            for param in &f.block(*entry).params {
                types[param.index()] = Some(f.ty(*param));
            }
        }
        self.types = types;
    }

    /// One pass over the function; true if a type went up.
    fn round(&mut self) -> bool {
        let f = self.f;
        let mut changed = false;
        for b in &f.layout {
            for id in &f.block(*b).insts {
                let Some(Ok((op, targs))) = self.resolved(*id) else { continue };
                let results = self.universe.ops.get(op).results.clone();
                for (value, expr) in f.inst(*id).results.iter().zip(results) {
                    if let Some(ty) = self.universe.types.instantiate(&expr, &targs) {
                        changed |= self.raise(*value, ty);
                    }
                }
            }
            for edge in f.block(*b).term.edges() {
                let params = f.blocks.get(edge.target.index()).map_or(&[][..], |b| &b.params);
                for (param, arg) in params.iter().zip(&edge.args) {
                    if let EdgeArg::Value(v) = arg
                        && !self.is_fixed(edge.target, *param)
                        && let Some(ty) = self.known(*v)
                    {
                        changed |= self.raise(*param, ty);
                    }
                }
            }
        }
        changed
    }

    fn is_fixed(&self, block: BlockId, param: Value) -> bool {
        self.f.layout.first() == Some(&block) || self.stated.get(param.index()).copied().flatten().is_some()
    }

    fn known(&self, value: Value) -> Option<Ty> {
        self.types.get(value.index()).copied().flatten()
    }

    fn raise(&mut self, value: Value, ty: Ty) -> bool {
        let joined = match self.known(value) {
            None => ty,
            Some(old) => self.universe.types.join(old, ty),
        };
        self.types[value.index()].replace(joined) != Some(joined)
    }

    /// What an open call means now; `None` while an operand has no type, or if it is not open.
    fn resolved(&mut self, id: InstId) -> Option<Resolved> {
        let call = self.calls.get(&id)?;
        let inst = self.f.inst(id);
        let args: Option<SmallVec<[Ty; 4]>> = inst.args.iter().map(|v| self.known(*v)).collect();
        let results: SmallVec<[Option<Ty>; 2]> =
            inst.results.iter().map(|v| self.stated.get(v.index()).copied().flatten()).collect();
        let call_types = CallTypes { args: &args?, explicit: &call.explicit, results: &results };
        Some(resolve(self.universe, &call.candidates, call_types))
    }

    /// The fixed point, or what is wrong with it.
    fn solution(mut self) -> Result<Solution, Vec<TypeFault>> {
        let f = self.f;
        let mut faults = vec![];
        let mut calls = BTreeMap::new();
        for b in &f.layout {
            for param in &f.block(*b).params {
                if self.known(*param).is_none() {
                    let message = "no type is stated for it, and no edge brings one".to_string();
                    faults.push(TypeFault::Value { value: *param, message });
                }
            }
            for id in &f.block(*b).insts {
                match self.resolved(*id) {
                    None if self.calls.contains_key(id) => {
                        let open = f.inst(*id).args.iter().find(|v| self.known(**v).is_none());
                        faults.extend(open.map(|value| TypeFault::Value {
                            value: *value,
                            message: "its type cannot be found: nothing that has a type leads here".into(),
                        }));
                    }
                    None => {}
                    Some(Ok((op, targs))) => {
                        if let Some(message) = self.disagreement(*id, op) {
                            faults.push(TypeFault::Call { inst: *id, message });
                        }
                        calls.insert(*id, (op, targs));
                    }
                    Some(Err(why)) => {
                        let message = self.explain(*id, &why);
                        faults.push(TypeFault::Call { inst: *id, message });
                    }
                }
            }
        }
        faults.dedup();
        if faults.is_empty() { Ok(Solution { types: self.types, calls }) } else { Err(faults) }
    }

    /// What is stated of a call's results and is not so.
    fn disagreement(&self, id: InstId, op: OpId) -> Option<String> {
        let (inst, decl) = (self.f.inst(id), self.universe.ops.get(op));
        if inst.results.len() != decl.results.len() {
            let (name, gives) = (&decl.name, decl.results.len());
            return Some(format!("`{name}` gives {gives} results, not {}", inst.results.len()));
        }
        inst.results.iter().find_map(|v| {
            let (stated, found) = (self.stated.get(v.index()).copied().flatten()?, self.known(*v)?);
            let types = &self.universe.types;
            (!types.is_subtype(found, stated))
                .then(|| format!("`{}` gives {}, not {}", decl.name, types.display(found), types.display(stated)))
        })
    }

    fn explain(&self, id: InstId, why: &Unresolved) -> String {
        let call = &self.calls[&id];
        let shown: Vec<String> = self
            .f
            .inst(id)
            .args
            .iter()
            .map(|v| self.known(*v).map_or("?".into(), |ty| self.universe.types.display(ty)))
            .collect();
        let (name, shown) = (&call.name, shown.join(", "));
        let listed = |ops: &[OpId]| {
            let list: Vec<String> = ops.iter().take(4).map(|op| signature(self.universe, *op)).collect();
            list.join(", ")
        };
        match why {
            Unresolved::NoneFits => format!("no `{name}` takes ({shown}); there is {}", listed(&call.candidates)),
            Unresolved::Ambiguous(several) => {
                let packs = several.iter().map(|op| self.universe.ops.get(*op).name.as_str()).collect::<BTreeSet<_>>();
                if packs.len() > 1 {
                    let packs: Vec<String> = packs.into_iter().map(|function| format!("`{function}`")).collect();
                    return format!("`{name}` of ({shown}) is {}: say which", packs.join(" or "));
                }
                format!("`{name}` of ({shown}) is ambiguous: none is the most specific of {}", listed(several))
            }
        }
    }
}

/// An operation as a pack declares it.
fn signature(universe: &Universe, op: OpId) -> String {
    use rewright_typeprop::TypeExpr;
    let op = universe.ops.get(op);
    fn show(universe: &Universe, op: &rewright_typeprop::Op, expr: &TypeExpr) -> String {
        match expr {
            TypeExpr::Param(i) => op.tparams.get(*i as usize).map_or("?".into(), |p| p.name.clone()),
            TypeExpr::Int(n) => n.to_string(),
            TypeExpr::App(decl, args) => {
                let name = universe.types.decl(*decl).name.clone();
                if args.is_empty() {
                    return name;
                }
                let args: Vec<_> = args.iter().map(|a| show(universe, op, a)).collect();
                format!("{name}{{{}}}", args.join(", "))
            }
        }
    }
    let bounds: Vec<String> = op
        .tparams
        .iter()
        .map(|p| match &p.bound {
            Some(bound) => format!("{} <: {}", p.name, show(universe, op, bound)),
            None => p.name.clone(),
        })
        .collect();
    let bounds = if bounds.is_empty() { String::new() } else { format!("{{{}}}", bounds.join(", ")) };
    let params: Vec<String> = op.params.iter().map(|p| show(universe, op, &p.ty)).collect();
    format!("{}{bounds}({})", op.name, params.join(", "))
}

#[cfg(test)]
mod tests;
