//! The end of an elaboration: calls that wait are resolved, reading calls get their state, open types are closed
//! or become inferred type parameters, literals are checked against the instances; then nodes become terms.

use super::elab::Elab;
use super::nodes::{Call, ExprContext, NodeId, NodeKind, VariableKind};
use super::report::{Diag, listed};
use super::resolved::Resolved;
use super::solve::IType;
use super::wording::short;
use crate::syntax::ast::Span;
use rewright_typeprop::eval::literal as fits;
use rewright_typeprop::term::Literal;
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{Op, Scalar, Term, TypeParam};
use std::rc::Rc;

/// What an omitted state is called where it has no name.
pub(super) const ANY_STATE: &str = "?state";

impl Elab<'_> {
    /// Closes everything. `left` is the root that gives an omitted state on the right its meaning; `generalise`
    /// makes what is open a type parameter, otherwise it is a mistake.
    pub(crate) fn finish(&mut self, left: Option<NodeId>, generalise: bool) {
        self.resolve_waiting();
        self.give_states(left);
        self.check_constants();
        self.close_types(generalise);
        self.check_literals();
        if let Some(resolved) = self.resolved {
            self.note_names(&mut resolved.borrow_mut());
        }
    }

    /// Notes what names turned out to mean.
    fn note_names(&self, resolved: &mut Resolved) {
        for node in &self.nodes {
            if let NodeKind::Call(call) = &node.kind
                && let Some((op, _)) = &call.chosen
            {
                resolved.note_call(call.name_span, self.universe.ops.whole(*op));
            }
        }
        let variables = self.variables.iter().map(|variable| match &variable.kind {
            VariableKind::Value { ty, .. } => (variable.span, ty),
            VariableKind::State => (variable.span, &IType::State),
        });
        let parts = self.aliases.iter().map(|(name, node)| (name.span, &self.node(*node).ty));
        for (declared, ty) in variables.chain(parts).filter(|(_, ty)| self.solver.is_closed(ty)) {
            resolved.note_type(declared, || self.show_bounded(ty));
        }
    }

    /// A type; an inferred type parameter, which has no name, is shown as what it is below.
    fn show_bounded(&self, ty: &IType) -> String {
        let IType::Rigid(index) = self.solver.shallow(ty) else { return self.show(ty) };
        match self.tparams.get(index as usize) {
            Some(tparam) if tparam.name.starts_with('?') => match self.solver.rigid_bound(index) {
                Some(bound) => format!("some {}", self.show(bound)),
                None => "any type".into(),
            },
            _ => self.show(ty),
        }
    }

    /// Ids of all calls that were resolved, in order of construction: arguments before calls.
    pub(super) fn calls(&self) -> Vec<NodeId> {
        let ids = (0..self.nodes.len() as u32).map(NodeId);
        ids.filter(|id| matches!(&self.node(*id).kind, NodeKind::Call(c) if c.chosen.is_some())).collect()
    }

    fn give_states(&mut self, left: Option<NodeId>) {
        let (mut used, mut given): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
        for id in self.calls() {
            let NodeKind::Call(call) = self.node(id).kind.clone() else { continue };
            let Some((op, _)) = call.chosen else { continue };
            given.extend(call.around.state);
            let decl = self.universe.ops.get(op);
            if decl.is_sited() && decl.results.len() > 1 {
                let message =
                    format!("`{}` is a statement with several results: not yet supported in rules", decl.name);
                self.report(Diag::error("RW0455", call.name_span, message, "used here"));
            }
            if !decl.takes_state() {
                continue;
            }
            let sited = decl.is_sited();
            let mut regions: Vec<&String> = decl.effects.reads.iter().chain(&decl.effects.writes).collect();
            regions.sort();
            regions.dedup();
            if regions.len() > 1 && !sited {
                let regions: Vec<String> = regions.iter().map(|r| format!("`{r}`")).collect();
                let message =
                    format!("`{}` uses {}: several regions are not yet supported", decl.name, listed(&regions));
                self.report(Diag::error("RW0455", call.name_span, message, "which state does it stand in?"));
                continue;
            }
            let left_site = sited && call.around.place == ExprContext::Left;
            let named = call.around.state.filter(|state| !left_site || !self.is_inherited(id, *state));
            if let (true, Some(state)) = (left_site, named) {
                self.own_place(id, &call, decl, state);
            }
            let state = match (named, call.around.place) {
                (Some(state), _) => {
                    used.push(state);
                    Some(state)
                }
                (None, ExprContext::Left) => {
                    self.says_state(&call, decl);
                    // All calls without a place of their own read a region in one state.
                    let name = match regions.first().filter(|_| !sited) {
                        Some(region) => format!("{ANY_STATE}_{region}"),
                        None => format!("{ANY_STATE}{}", self.variables.len()),
                    };
                    Some(self.state_variable(name, call.name_span))
                }
                (None, ExprContext::Example | ExprContext::Declaration) => {
                    Some(self.state_variable(ANY_STATE.into(), call.name_span))
                }
                (None, ExprContext::Right | ExprContext::Guard) => {
                    match sited.then(|| self.same_statement(id)).flatten() {
                        Some(state) => Some(state),
                        None => self.state_of_match(left, call.name_span),
                    }
                }
            };
            if let NodeKind::Call(call) = &mut self.nodes[id.0 as usize].kind {
                Rc::make_mut(call).state = state;
            }
        }
        given.sort();
        given.dedup();
        for state in given {
            let chained = |s: NodeId| used.contains(&s);
            if !chained(state) && !self.failed {
                let span = self.node(state).span;
                let report = Diag::error("RW0310", span, "nothing here stands in a state", "`after` says nothing")
                    .help("only calls that read or write a region take `after`: a declaration lists that in `effects`");
                let around = |id: &NodeId| matches!(&self.node(*id).kind, NodeKind::Call(call) if call.around.state == Some(state));
                let outermost = self.calls().into_iter().filter(around).max().and_then(|id| self.called(id));
                self.report(match outermost {
                    Some(op) => report.also(self.op_spans[op.0 as usize], "declared without such an effect here"),
                    None => report,
                });
            }
        }
    }

    /// Is a state that of a call around this one? A call at a place of its own has no part in it.
    pub(super) fn is_inherited(&self, id: NodeId, state: NodeId) -> bool {
        self.calls().into_iter().filter(|other| *other > id).any(|other| self.stands_in(other, |s| s == state))
    }

    /// Is a call executed, or does it read, in a state that is written around it, and that is such a one?
    pub(super) fn stands_in(&self, id: NodeId, is: impl Fn(NodeId) -> bool) -> bool {
        let NodeKind::Call(call) = &self.node(id).kind else { return false };
        let takes = call.chosen.as_ref().is_some_and(|(op, _)| self.universe.ops.get(*op).takes_state());
        takes && call.around.place == ExprContext::Left && call.around.state.is_some_and(is)
    }

    /// What stands at a place of its own is in the state of no other call.
    fn own_place(&mut self, id: NodeId, call: &Call, decl: &Op, state: NodeId) {
        let calls = self.calls().into_iter();
        let mut others = calls.filter(|other| *other != id && !self.same(id, *other));
        if !others.any(|other| self.stands_in(other, |s| self.same(s, state))) {
            return;
        }
        let message = format!("`{}` stands at a place of its own, and in the state of no other call", decl.name);
        let Some(declared) = self.called(id).map(|op| self.op_spans[op.0 as usize]) else { return };
        self.report(
            Diag::error("RW0310", call.name_span, message, "shares its state with another call")
                .also(declared, "its effects are declared here")
                .help(format!(
                    "a rule cannot say that nothing is written between another call and one that allocates, does io or may \
                     not return: where the rule holds whatever happens in between, leave out this `after`, or give it a \
                     state of its own, `{}(..) after t` with a parameter `t: State`",
                    call.name
                )),
        );
    }

    /// A state is omitted on the left: not over a call that changes it and gives a value. "In any state" is then
    /// seldom what its author means.
    fn says_state(&mut self, call: &Call, decl: &Op) {
        let accessed = |region: &&String| decl.effects.reads.contains(*region) || decl.effects.writes.contains(*region);
        let others = if decl.is_sited() { call.args.clone() } else { self.calls() };
        let writer = others.into_iter().find_map(|other| match &self.node(other).kind {
            NodeKind::Call(other) if other.around.place == ExprContext::Left => {
                let (op, _) = other.chosen.as_ref()?;
                let op = self.universe.ops.get(*op);
                let region = op.effects.writes.iter().find(accessed).filter(|_| op.is_sited())?;
                Some((other.name_span, op, region))
            }
            _ => None,
        });
        let Some((at, op, region)) = writer else { return };
        let writer = &op.name;
        let right_after = match op.parts {
            Some(_) => format!(
                "right after it: `{}({writer}(..) after s) after ({writer}(..) after s)`, with a parameter `s: State`; ",
                call.name
            ),
            None => String::new(),
        };
        let message = format!("in which state does `{}` stand? `{writer}` changes `{region}`", decl.name);
        self.report(
            Diag::error("RW0311", call.name_span, message, "right after that call, or in any state?")
                .also(at, "changes it, and gives a value")
                .help(format!(
                    "{right_after}if the rule holds whatever happens between the two calls, say so: `{}(..) after t`, with a \
                     parameter `t: State`",
                    call.name
                )),
        );
    }

    fn state_variable(&mut self, name: String, span: Span) -> NodeId {
        let index = match self.variable(&name) {
            Some(index) => index,
            None => self.declare(&name, span, VariableKind::State),
        };
        self.nodes.push(super::nodes::Node { kind: NodeKind::Var(index), ty: IType::State, span });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// The state of a statement on the left that is written again: it is that statement, at its site.
    fn same_statement(&self, id: NodeId) -> Option<NodeId> {
        self.calls().into_iter().find_map(|other| match &self.node(other).kind {
            NodeKind::Call(call) if call.around.place == ExprContext::Left && self.same(id, other) => call.state,
            _ => None,
        })
    }

    pub(super) fn same(&self, a: NodeId, b: NodeId) -> bool {
        a == b
            || match (&self.node(a).kind, &self.node(b).kind) {
                (NodeKind::Var(a), NodeKind::Var(b)) => a == b,
                (NodeKind::Lit(a), NodeKind::Lit(b)) => a == b,
                (NodeKind::Call(a), NodeKind::Call(b)) => {
                    a.chosen.as_ref().map(|c| c.0) == b.chosen.as_ref().map(|c| c.0)
                        && a.args.len() == b.args.len()
                        && a.args.iter().zip(&b.args).all(|(a, b)| self.same(*a, *b))
                }
                _ => false,
            }
    }

    /// What an omitted state means on a right side: the root's, or the only one on the left.
    fn state_of_match(&mut self, left: Option<NodeId>, at: Span) -> Option<NodeId> {
        if let Some(root) = left
            && let NodeKind::Call(call) = &self.node(root).kind
            && let Some(state) = call.state
        {
            return Some(state);
        }
        let states: Vec<u32> = (0..self.variables.len() as u32)
            .filter(|i| self.variables[*i as usize].kind == VariableKind::State)
            .collect();
        if let [only] = states[..] {
            let span = self.variables[only as usize].span;
            self.nodes.push(super::nodes::Node { kind: NodeKind::Var(only), ty: IType::State, span });
            return Some(NodeId(self.nodes.len() as u32 - 1));
        }
        let why = if states.is_empty() { "the left side has no state" } else { "the left side has several states" };
        self.report(
            Diag::error("RW0311", at, format!("in which state does this stand? {why}"), "state unknown")
                .help("name it: `... after s` on both sides"),
        );
        None
    }

    /// Arguments of compile-time parameters must be compile-time values.
    fn check_constants(&mut self) {
        for id in self.calls() {
            let NodeKind::Call(call) = self.node(id).kind.clone() else { continue };
            let Some((op, _)) = call.chosen else { continue };
            for (param, arg) in self.universe.ops.get(op).params.iter().zip(&call.args) {
                if !param.constant {
                    continue;
                }
                let kind = self.node(*arg).kind.clone();
                let constant = match &kind {
                    NodeKind::Var(v) => {
                        let variable = &mut self.variables[*v as usize];
                        match &mut variable.kind {
                            VariableKind::Value { constant, .. } => {
                                *constant |= variable.name == "_";
                                *constant || call.around.place == ExprContext::Declaration
                            }
                            VariableKind::State => false,
                        }
                    }
                    NodeKind::Lit(_) | NodeKind::Eval(_) | NodeKind::Error => true,
                    NodeKind::Call(_) => false,
                };
                if !constant {
                    let (span, declared) = (self.node(*arg).span, self.op_spans[op.0 as usize]);
                    let message = format!("`{}` of `{}` is a compile-time value", param.name, call.name);
                    let help = match &kind {
                        NodeKind::Var(v) => format!("declare `const {}`", self.variables[*v as usize].name),
                        _ if call.around.place == ExprContext::Right => {
                            "compute it in a dynamic rule: `eval(..)`".into()
                        }
                        _ => "match it with a `const` parameter, and constrain that with `when`".into(),
                    };
                    self.report(
                        Diag::error("RW0319", span, message, "known only at run time")
                            .also(declared, "declared `const` here")
                            .help(help),
                    );
                }
            }
        }
    }

    fn close_types(&mut self, generalise: bool) {
        for id in self.calls() {
            let NodeKind::Call(call) = self.node(id).kind.clone() else { continue };
            let Some((op, targs)) = &call.chosen else { continue };
            for (index, targ) in targs.iter().enumerate() {
                let mut holes = Vec::new();
                self.solver.holes_in(targ, &mut holes);
                for hole in holes {
                    if generalise {
                        self.generalise(hole);
                    } else if self.solver.is_annotated(hole) {
                        let ty = self.solver.upper(hole).unwrap_or_else(any);
                        self.solver.close(hole, ty);
                    } else {
                        let decl = self.universe.ops.get(*op);
                        let params: Vec<String> = decl.tparams.iter().map(|p| p.name.clone()).collect();
                        let written: Vec<String> = targs
                            .iter()
                            .map(|t| if self.solver.is_closed(t) { self.show(t) } else { "..".into() })
                            .collect();
                        let message = format!("`{}` of `{}` is not known here", params[index], call.name);
                        let report = Diag::error("RW0306", call.name_span, message, "of which type?")
                            .also(self.op_spans[op.0 as usize], "declared here")
                            .help(format!("write `{}{{{}}}(..)`", short(&call.name), written.join(", ")));
                        if self.failed {
                            self.solver.close(hole, IType::Error);
                        } else {
                            self.report(report);
                            self.solver.close(hole, IType::Error);
                        }
                    }
                }
            }
        }
        // A type that no operation asks for is only bounded: the bound will do.
        let mut rest = Vec::new();
        for variable in &self.variables {
            if let VariableKind::Value { ty, .. } = &variable.kind {
                self.solver.holes_in(ty, &mut rest);
            }
        }
        for hole in rest {
            if self.solver.literal(hole).is_none() {
                let ty = self.solver.upper(hole).unwrap_or_else(any);
                self.solver.close(hole, ty);
            }
        }
        for index in 0..self.nodes.len() {
            let Node { ty, span, .. } = &self.nodes[index];
            let (span, mut holes) = (*span, Vec::new());
            self.solver.holes_in(ty, &mut holes);
            for hole in holes {
                let default = self.scope.find_types("i64").first().copied().filter(|id| {
                    self.solver.literal(hole) == Some(super::solve::LiteralKind::Int)
                        && self.universe.types.decl(*id).scalar() == Some(Scalar::I64)
                });
                match (self.solver.upper(hole), default) {
                    (Some(bound), _) => self.solver.close(hole, bound),
                    (None, Some(id)) => self.solver.close(hole, IType::App(id, Vec::new())),
                    (None, None) => {
                        if !self.failed && self.solver.literal(hole).is_some() {
                            self.report(
                                Diag::error("RW0306", span, "this literal may have any type", "of which type?")
                                    .help("use it where an operation wants a certain type"),
                            );
                        }
                        self.solver.close(hole, any());
                    }
                }
            }
        }
    }

    fn generalise(&mut self, hole: u32) {
        let index = self.tparams.len() as u32;
        let name = format!("?{}", self.tparams.iter().filter(|p| p.name.starts_with('?')).count());
        let bound = self.solver.upper(hole);
        // A bound may have holes of its own.
        let mut inner = Vec::new();
        if let Some(bound) = &bound {
            self.solver.holes_in(bound, &mut inner);
        }
        self.tparams.push(TypeParam { name, bound: None });
        self.solver.push_rigid(bound.clone());
        self.solver.close(hole, IType::Rigid(index));
        for hole in inner {
            self.generalise(hole);
        }
        let bound = bound.and_then(|b| self.solver.to_expr(&b));
        self.tparams[index as usize].bound = bound;
    }

    /// An integer literal must fit its type; below a type parameter, one of its instances.
    fn check_literals(&mut self) {
        for index in 0..self.nodes.len() {
            let NodeKind::Lit(literal) = self.nodes[index].kind.clone() else { continue };
            let (ty, span) = (self.nodes[index].ty.clone(), self.nodes[index].span);
            let shown = match &literal {
                Literal::Int(n) => n.to_string(),
                Literal::Float(x) => x.to_string(),
                Literal::Str(_) => continue,
            };
            let ty = self.solver.deep(&ty);
            let instances = self.instances(&ty);
            // Of what does not fit its place the type is not known.
            let is_open = self.failed && instances.len() > 1;
            if is_open || instances.is_empty() || instances.iter().any(|(_, scalar)| fits(&literal, *scalar).is_some())
            {
                continue;
            }
            let names: Vec<String> = instances.iter().map(|(name, _)| format!("`{name}`")).collect();
            let tried = if names.len() == 1 {
                format!("does not fit {}", names[0])
            } else {
                format!("fits none of {}", listed(&names))
            };
            self.report(
                Diag::error("RW0305", span, format!("literal {shown} fits no instance of its type"), tried)
                    .help("an integer of N bits holds -2^(N-1) to 2^N - 1"),
            );
        }
    }

    /// The machine types that a type stands for: itself, or those below a parameter's bound.
    pub(crate) fn instances(&self, ty: &IType) -> Vec<(String, Scalar)> {
        match ty {
            IType::App(decl, _) => {
                let d = self.universe.types.decl(*decl);
                match d.lane() {
                    Some(scalar) => vec![(d.name.clone(), scalar)],
                    None => Vec::new(),
                }
            }
            IType::Rigid(i) => match self.solver.rigid_bound(*i) {
                Some(bound) => self.machine_types_below(&bound.clone()),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn machine_types_below(&self, bound: &IType) -> Vec<(String, Scalar)> {
        let (mut out, mut solver) = (Vec::new(), self.solver.clone());
        for (id, decl) in self.universe.types.decls() {
            if let Some(scalar) = decl.lane()
                && decl.params.is_empty()
                && solver.trial(|solver| solver.subtype(&IType::App(id, Vec::new()), bound)).is_ok()
            {
                out.push((decl.name.clone(), scalar));
            }
        }
        out
    }

    /// The finished term; `None` if something in it was wrong.
    pub(crate) fn term(&self, id: NodeId) -> Option<Term> {
        if self.failed {
            return None;
        }
        let node = self.node(id);
        Some(match &node.kind {
            NodeKind::Error => return None,
            NodeKind::Var(index) => Term::Var(*index),
            NodeKind::Eval(inner) => Term::Eval(Box::new(self.term(*inner)?)),
            NodeKind::Lit(literal) => Term::Lit(literal.clone(), self.solver.to_expr(&node.ty)?),
            NodeKind::Call(call) => {
                let (op, targs) = call.chosen.as_ref()?;
                let state = match call.state {
                    Some(state) => Some(Box::new(self.term(state)?)),
                    None => None,
                };
                Term::Call {
                    op: *op,
                    targs: targs.iter().map(|t| self.solver.to_expr(t)).collect::<Option<_>>()?,
                    args: call.args.iter().map(|a| self.term(*a)).collect::<Option<_>>()?,
                    state,
                }
            }
        })
    }
}

use super::nodes::Node;

fn any() -> IType {
    IType::App(TypeDeclId(0), Vec::new())
}
