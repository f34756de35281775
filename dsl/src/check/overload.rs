//! Which of several functions of one name a call means.
//!
//! Those whose parameters the arguments fit; among them the most specific one: its parameter types are below the
//! others'. While an argument is still open and several fit, the call waits.

use super::elab::Elab;
use super::nodes::{Call, Misfit, Node, NodeId, NodeKind};
use super::report::Diag;
use super::solve::{IType, Solver, rigid, substitute};
use super::wording::signature;
use crate::syntax::ast::{Span, Spanned};
use indexmap::IndexMap;
use rewright_typeprop::{Op, OpId, Universe};
use std::rc::Rc;

/// Constrains a call by one candidate; gives its type arguments.
fn fit(
    universe: &Universe,
    nodes: &[Node],
    solver: &mut Solver<'_>,
    id: NodeId,
    call: &Call,
    op: OpId,
) -> Result<Vec<IType>, Misfit> {
    let ty = |id: NodeId| &nodes[id.0 as usize].ty;
    let decl = universe.ops.get(op);
    if decl.params.len() != call.args.len() {
        return Err(Misfit::Arity);
    }
    if !call.explicit.is_empty() && call.explicit.len() != decl.tparams.len() {
        return Err(Misfit::TypeArity);
    }
    let targs = solver.instantiate(&decl.tparams);
    for (index, (ty, hole)) in call.explicit.iter().zip(&targs).enumerate() {
        solver.unify(hole, ty).map_err(|clash| Misfit::TypeArg(index, clash))?;
    }
    // What is known first, so that literals and open calls take the type of their place.
    let open = |solver: &Solver<'_>, arg: NodeId| matches!(solver.shallow(ty(arg)), IType::Var(_));
    let order = (0..call.args.len()).filter(|i| !open(solver, call.args[*i])).collect::<Vec<_>>();
    let rest = (0..call.args.len()).filter(|i| !order.contains(i));
    for index in order.iter().copied().chain(rest) {
        let want = substitute(&decl.params[index].ty, &targs);
        solver.subtype(ty(call.args[index]), &want).map_err(|clash| Misfit::Arg(index, solver.deep(&want), clash))?;
    }
    let gives = if call.wants_state && decl.parts.is_some() { IType::State } else { result(decl, &targs) };
    let met = match solver.shallow(ty(id)) {
        IType::Var(_) | IType::Rigid(_) | IType::State | IType::Error => solver.unify(&gives, ty(id)),
        _ => solver.subtype(&gives, ty(id)),
    };
    met.map_err(|clash| Misfit::Result(solver.deep(&gives), clash))?;
    Ok(targs)
}

impl Elab<'_> {
    /// Resolves a call if that is possible now; `force` decides also while arguments are open. True when done.
    pub(crate) fn try_choose(&mut self, id: NodeId, force: bool) -> bool {
        let NodeKind::Call(call) = self.node(id).kind.clone() else { return true };
        let Elab { universe, nodes, solver, .. } = self;
        if let [only] = call.candidates[..] {
            match fit(universe, nodes, solver, id, &call, only) {
                Ok(targs) => self.choose(id, only, targs),
                // The reasons speak of what fitting found out.
                Err(misfit) => self.report_misfit(id, only, misfit),
            }
            return true;
        }
        let fits = |op: &OpId| solver.trial(|solver| fit(universe, nodes, solver, id, &call, *op).is_ok());
        let fitting: Vec<OpId> = call.candidates.iter().copied().filter(fits).collect();
        let chosen = match fitting[..] {
            [] => {
                self.report_none_fits(id, &call);
                return true;
            }
            [only] => only,
            _ if self.of_several_packs(id, &call, &fitting, force) => return true,
            _ => {
                let open = call.args.iter().any(|a| !self.solver.is_closed(&self.node(*a).ty));
                if open && !force {
                    return false;
                }
                let Elab { universe, nodes, solver, .. } = self;
                let whole = |op: &OpId| solver.trial(|solver| takes_all(universe, nodes, solver, &call, *op));
                let whole: Vec<OpId> = fitting.iter().copied().filter(whole).collect();
                let candidates = if whole.is_empty() { &fitting } else { &whole };
                match most_specific(candidates, self.universe, self.solver.subtypes()) {
                    Some(op) => op,
                    None if !force => return false,
                    None => {
                        self.report_ambiguous(id, &call, &fitting);
                        return true;
                    }
                }
            }
        };
        let Elab { universe, nodes, solver, .. } = self;
        if let Ok(targs) = fit(universe, nodes, solver, id, &call, chosen) {
            self.choose(id, chosen, targs);
        }
        true
    }

    /// Reports a call that functions of several packs fit: they have nothing to do with each other but their name.
    fn of_several_packs(&mut self, id: NodeId, call: &Call, fitting: &[OpId], force: bool) -> bool {
        let places = fitting.iter().map(|op| (self.universe.ops.get(*op).name.clone(), self.op_spans[op.0 as usize]));
        let functions: IndexMap<String, Span> = places.rev().collect();
        let closed = call.args.iter().all(|a| self.solver.is_closed(&self.node(*a).ty));
        if functions.len() < 2 || !(closed || force) {
            return false;
        }
        if call.args.iter().any(|a| self.solver.shallow(&self.node(*a).ty) == IType::Error) {
            self.failed = true;
            return true;
        }
        let path = Spanned { node: call.name.clone(), span: call.name_span };
        let found = functions.into_iter().map(|(name, place)| (name, Some(place)));
        self.report(super::name_clashes::several("functions", &path, found));
        self.nodes[id.0 as usize].kind = NodeKind::Error;
        true
    }

    fn choose(&mut self, id: NodeId, op: OpId, targs: Vec<IType>) {
        let parts = self.universe.ops.get(op).parts;
        if let NodeKind::Call(call) = &mut self.nodes[id.0 as usize].kind {
            let op = parts.filter(|_| call.wants_state).map_or(op, |parts| parts.state);
            Rc::make_mut(call).chosen = Some((op, targs));
        }
    }

    /// Resolves all waiting calls: those that can be, then the first by force, and so on.
    pub(crate) fn resolve_waiting(&mut self) {
        while !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            let before = waiting.len();
            let mut still: Vec<NodeId> = waiting.into_iter().filter(|id| !self.try_choose(*id, false)).collect();
            if still.len() == before {
                let first = still.remove(0);
                self.try_choose(first, true);
            }
            self.waiting = still;
        }
    }

    fn report_none_fits(&mut self, id: NodeId, call: &Call) {
        let mut report = Diag::error(
            "RW0303",
            call.name_span,
            format!("no `{}` fits {}", call.name, self.arg_types(call)),
            "no overload takes these arguments",
        );
        for op in call.candidates.iter().take(6) {
            report = report.also(self.op_spans[op.0 as usize], signature(self.universe.ops.get(*op), self.universe));
        }
        if self.solver.shallow(&self.node(id).ty) != self.node(id).ty {
            report = report.help(format!("a result of type `{}` is wanted here", self.show(&self.node(id).ty)));
        }
        let silent = call.args.iter().any(|a| matches!(self.node(*a).kind, NodeKind::Error));
        if silent {
            self.failed = true;
        } else {
            self.report(report);
        }
        self.nodes[id.0 as usize].kind = NodeKind::Error;
    }

    fn report_ambiguous(&mut self, id: NodeId, call: &Call, fitting: &[OpId]) {
        let mut report = Diag::error(
            "RW0304",
            call.name_span,
            format!("`{}` of {} is ambiguous", call.name, self.arg_types(call)),
            "several overloads fit, none is more specific",
        )
        .help("state the types of the arguments, or the function's type arguments: `f{T}(..)`");
        for op in fitting.iter().take(6) {
            report = report.also(self.op_spans[op.0 as usize], signature(self.universe.ops.get(*op), self.universe));
        }
        let said = |pair: &(OpId, OpId)| fitting.contains(&pair.0) && fitting.contains(&pair.1);
        let silent = call.args.iter().any(|a| matches!(self.node(*a).kind, NodeKind::Error));
        if silent || self.ambiguous.iter().any(said) {
            self.failed = true;
        } else {
            self.report(report);
        }
        self.nodes[id.0 as usize].kind = NodeKind::Error;
    }
}

/// Does a candidate take all that the arguments may be? A variable of a rule stands for values of every type below
/// its own; an overload that takes only some of them would make the rule narrower than it is written.
fn takes_all(universe: &Universe, nodes: &[Node], solver: &mut Solver<'_>, call: &Call, op: OpId) -> bool {
    let decl = universe.ops.get(op);
    let targs = solver.instantiate(&decl.tparams);
    call.explicit.iter().zip(&targs).all(|(ty, hole)| solver.unify(hole, ty).is_ok())
        && call.args.iter().zip(&decl.params).all(|(arg, param)| {
            let (ty, want) = (&nodes[arg.0 as usize].ty, substitute(&param.ty, &targs));
            let bounds = solver.upper_bounds(ty);
            match bounds.is_empty() {
                true => solver.subtype(ty, &want).is_ok(),
                false => bounds.iter().any(|bound| solver.subtype(bound, &want).is_ok()),
            }
        })
}

/// The type of a call: its result, or a state if it writes.
pub(crate) fn result(op: &Op, targs: &[IType]) -> IType {
    if op.gives_state() {
        return IType::State;
    }
    match &op.results[..] {
        [one] => substitute(one, targs),
        _ => IType::App(rewright_typeprop::types::TypeDeclId(0), Vec::new()),
    }
}

/// Is `a` at least as specific as `b`: do all arguments that fit `a` fit `b`?
pub(crate) fn is_below(a: &Op, b: &Op, universe: &Universe, has_subtypes: &[bool]) -> bool {
    let mut solver = Solver::new(&universe.types, has_subtypes);
    for tparam in &a.tparams {
        solver.push_rigid(tparam.bound.as_ref().map(rigid));
    }
    let targs = solver.instantiate(&b.tparams);
    a.params.len() == b.params.len()
        && a.params
            .iter()
            .zip(&b.params)
            .all(|(p, q)| solver.subtype(&rigid(&p.ty), &substitute(&q.ty, &targs)).is_ok())
}

fn most_specific(fitting: &[OpId], universe: &Universe, has_subtypes: &[bool]) -> Option<OpId> {
    let below = |a: OpId, b: OpId| is_below(universe.ops.get(a), universe.ops.get(b), universe, has_subtypes);
    let mut best = fitting.iter().copied().filter(|a| fitting.iter().all(|b| a == b || below(*a, *b)));
    let first = best.next()?;
    best.next().is_none().then_some(first)
}
