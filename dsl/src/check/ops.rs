//! Stage 2: what the clauses of functions say.

use super::Checker;
use super::decls::BUILTIN_EFFECTS;
use super::elab::Elab;
use super::nodes::{Around, NodeId, VariableKind};
use super::report::{Diag, listed};
use super::scope::Scope;
use super::solve::{IType, rigid};
use crate::syntax::ast::{Expr, ExprKind, FnClause, FnItem, ItemKind, Span, Spanned};
use rewright_typeprop::ops::Cost;
use rewright_typeprop::{Effects, OpId, Term};

/// The region of an effect that names none.
pub(super) const DEFAULT_REGION: &str = "memory";

impl<'a> Checker<'a> {
    /// Effects belong to the signature: overloads of later files need them.
    pub(super) fn declare_effects(&mut self, op: OpId, f: &FnItem, scope: &Scope) {
        let mut effects = Effects::default();
        let mut stated: Option<(Span, bool)> = None;
        for clause in &f.clauses {
            let list = match &clause.node {
                FnClause::Pure => None,
                FnClause::Effects(list) => Some(list),
                _ => continue,
            };
            if let Some((first, pure)) = stated
                && (pure || list.is_none())
            {
                // The same word twice contradicts nothing.
                if pure && list.is_none() {
                    continue;
                }
                self.report(
                    Diag::error(
                        "RW0314",
                        clause.span,
                        format!("`{}` states its effects twice, and differently", f.name.node),
                        "contradicts the other",
                    )
                    .also(first, "stated here first"),
                );
                continue;
            }
            stated = Some((clause.span, list.is_none()));
            for effect in list.into_iter().flatten() {
                let region = effect.region.as_ref().map_or(DEFAULT_REGION, |r| r.node.as_str());
                let takes_region = matches!(effect.name.node.as_str(), "reads" | "writes" | "allocates");
                let name = effect.name.node.as_str();
                // One that is unknown may be misspelt.
                let has_none = BUILTIN_EFFECTS.contains(&name) || !scope.find_effects(name).is_empty();
                if let (Some(region), true) = (&effect.region, has_none && !takes_region) {
                    self.report(Diag::error(
                        "RW0212",
                        region.span,
                        format!("effect `{}` has no region", effect.name.node),
                        "not allowed here",
                    ));
                }
                let named = if takes_region { effect.region.as_ref() } else { Some(&effect.name) };
                let region = match (scope.region(if takes_region { region } else { &effect.name.node }), named) {
                    (Ok(region), _) => region,
                    (Err(several), named) => {
                        let path = named.unwrap_or(&effect.name);
                        let found = several.into_iter().map(|region| (region, None));
                        self.report(super::name_clashes::several("effects", path, found));
                        continue;
                    }
                };
                match effect.name.node.as_str() {
                    "reads" => push_new(&mut effects.reads, region),
                    "writes" => push_new(&mut effects.writes, region),
                    "allocates" => push_new(&mut effects.allocates, region),
                    "io" => effects.io = true,
                    "traps" => effects.traps = true,
                    "diverges" => effects.diverges = true,
                    // A declared effect is a region of its own: ordered with itself, and with nothing else.
                    own if !scope.find_effects(own).is_empty() => push_new(&mut effects.writes, region),
                    unknown if scope.is_excused(unknown) => {}
                    unknown => {
                        let known = BUILTIN_EFFECTS.into_iter().chain(scope.names.effects.keys().map(String::as_str));
                        let report = Diag::error(
                            "RW0212",
                            effect.name.span,
                            format!("unknown effect `{unknown}`"),
                            "not declared or imported",
                        )
                        .nearest(unknown, known, || Some(effect_help(unknown)));
                        self.report(report);
                    }
                }
            }
        }
        self.program.universe.ops.get_mut(op).effects = effects;
    }

    pub(super) fn declare_symbol(&mut self, op: OpId, f: &FnItem, scope: &mut Scope) {
        for clause in &f.clauses {
            if let FnClause::As(symbol) = &clause.node {
                if !(1..=2).contains(&f.params.len()) {
                    self.report(Diag::error(
                        "RW0314",
                        clause.span,
                        format!(
                            "operator `{symbol}` takes one or two operands, `{}` has {}",
                            f.name.node,
                            f.params.len()
                        ),
                        "cannot be an operator",
                    ));
                    continue;
                }
                self.program.universe.ops.get_mut(op).symbol = Some(symbol.clone());
                scope.symbols.entry(symbol.clone()).or_default().push(op);
            }
        }
    }

    pub(super) fn check_ops(&mut self) {
        for index in 0..self.fns.len() {
            let (op, file, item) = (self.fns[index].op, self.fns[index].file, self.fns[index].item);
            let ItemKind::Fn(f) = &item.kind else { continue };
            self.attributes(op, file, item, f);
            self.clauses(op, file, f);
            self.overload_result(op);
        }
        self.check_overrides();
        self.declare_parts();
        self.fact_specs();
        self.filled_facts();
        self.recurrences();
        self.samples();
        self.reject_cyclic_specs();
        self.computable = crate::computable::computable_ops(&self.program.universe);
    }

    /// What rules may say of functions that write and give a value: the state after them.
    fn declare_parts(&mut self) {
        for id in (0..self.program.universe.ops.len() as u32).map(OpId) {
            self.program.universe.ops.declare_parts(id);
            // A part stands where its function does.
            let declared = self.op_spans[id.0 as usize];
            self.op_spans.resize(self.program.universe.ops.len(), declared);
        }
    }

    /// What facts mean: a condition over their parameters.
    fn fact_specs(&mut self) {
        for file in 0..self.files.len() {
            for (_, item) in self.items(file) {
                let ItemKind::Fact { name, params, spec: Some(spec), .. } = &item.kind else { continue };
                let Some(id) = self.fact_spans.iter().position(|span| *span == name.span) else { continue };
                let fact = &self.program.facts[id];
                let mut elab = self.elab(file, fact.tparams.clone());
                for (param, ty) in params.iter().zip(&fact.params) {
                    elab.declare(&param.name.node, name.span, VariableKind::Value { ty: rigid(ty), constant: false });
                }
                let node = elab.expr(spec, Around::DECLARATION);
                elab.finish(None, false);
                let term = elab.term(node);
                let diagnostics = elab.diagnostics;
                self.diagnostics.extend(diagnostics);
                self.program.facts[id].spec = term;
            }
        }
    }

    /// An elaboration over the operation's own parameters.
    fn declaration(&self, op: OpId, file: usize) -> Elab<'_> {
        let decl = self.program.universe.ops.get(op);
        let mut elab = self.elab(file, decl.tparams.clone());
        for param in &decl.params {
            let kind = VariableKind::Value { ty: rigid(&param.ty), constant: param.constant };
            elab.declare(&param.name, self.op_spans[op.0 as usize], kind);
        }
        elab
    }

    /// Elaborates one expression over the operation's parameters, of the type that `want` says.
    pub(super) fn own_term(
        &mut self,
        op: OpId,
        file: usize,
        expr: &Expr,
        want: impl Fn(&mut Elab<'_>, NodeId),
    ) -> Option<Term> {
        let mut elab = self.declaration(op, file);
        let node = elab.expr(expr, Around::DECLARATION);
        want(&mut elab, node);
        elab.finish(None, false);
        let term = elab.term(node);
        let diagnostics = elab.diagnostics;
        self.diagnostics.extend(diagnostics);
        term
    }

    fn clauses(&mut self, op: OpId, file: usize, f: &FnItem) {
        for clause in &f.clauses {
            match &clause.node {
                // Recurrences come when all operations are known.
                FnClause::As(_) | FnClause::Pure | FnClause::Effects(_) | FnClause::Recurrence(_) => {}
                FnClause::Lazy => {
                    self.report(
                        Diag::error("RW0455", clause.span, "`lazy` is not yet supported", "charged per consumer")
                            .help("leave it out: the operation is charged once"),
                    );
                }
                FnClause::Cost(expr) => self.cost(op, file, expr),
                FnClause::Spec(expr) => {
                    if self.program.universe.ops.get(op).model.is_some() {
                        self.report(
                            Diag::error("RW0314", clause.span, "a model and a `spec`", "says again what it means")
                                .also(f.name.span, "has a `@model`")
                                .help("state one of them"),
                        );
                    }
                    let spec = self.own_term(op, file, expr, |elab, node| elab.wants_result_of(node, op));
                    self.program.universe.ops.get_mut(op).spec = spec;
                }
                FnClause::Requires(conditions) => self.requires(op, file, conditions),
                FnClause::Law { name, arg } => self.law(op, file, clause, name, arg.as_ref()),
            }
        }
    }

    /// Over the operation's parameters, read in a file that may be another pack's.
    pub(super) fn cost(&mut self, op: OpId, file: usize, expr: &Expr) {
        if let Some(value) = fold(expr) {
            match u32::try_from(value) {
                Ok(cost) => self.program.universe.ops.get_mut(op).cost = Cost::Fixed(cost),
                Err(_) => self.report(
                    Diag::error("RW0314", expr.span, format!("cost {value} is out of range"), "wants 0 to 4294967295")
                        .help("costs are compared with those of other functions: `iadd` of `std.core` costs 3"),
                ),
            }
            return;
        }
        if let ExprKind::Float { .. } = expr.kind {
            return self.report(
                Diag::error("RW0314", expr.span, "a cost is a whole number", "not one")
                    .help("costs are compared with those of other functions: `iadd` of `std.core` costs 3"),
            );
        }
        if let Some(term) = self.own_term(op, file, expr, |_, _| {}) {
            self.program.universe.ops.get_mut(op).cost = Cost::Expr(term);
        }
    }

    fn requires(&mut self, op: OpId, file: usize, conditions: &[Expr]) {
        let mut elab = self.declaration(op, file);
        let guards: Vec<_> = conditions.iter().filter_map(|c| elab.guard(c, Around::DECLARATION)).collect();
        elab.finish(None, false);
        let guards: Option<Vec<_>> = guards.iter().map(|g| elab.close_guard(g)).collect();
        let diagnostics = elab.diagnostics;
        self.diagnostics.extend(diagnostics);
        for guard in guards.into_iter().flatten() {
            self.program.universe.ops.get_mut(op).conditional = true;
            self.program.requires.entry(op).or_default().push(guard);
        }
    }

    fn law(&mut self, op: OpId, file: usize, clause: &Spanned<FnClause>, name: &str, arg: Option<&Expr>) {
        let decl = self.program.universe.ops.get(op);
        let unary = decl.params.len() == 1;
        let same = decl.params.len() == 2 && decl.params[0].ty == decl.params[1].ty;
        let closed = match decl.results.first() {
            Some(result) => decl.params.iter().all(|p| p.ty == *result),
            None => false,
        };
        let (fits, want) = match name {
            "commutative" => (same, "two parameters of one type"),
            "associative" => (same && closed, "two parameters of the type of the result"),
            "idempotent" => ((same || unary) && closed, "one or two parameters of the type of the result"),
            _ => (decl.params.len() == 2 && decl.results.first() == Some(&decl.params[0].ty), "two parameters"),
        };
        if !fits || !decl.effects.is_value() {
            let message = format!("`{}` cannot be {}", decl.name, law_word(name));
            let label = if fits { "an operation with effects obeys no laws".into() } else { format!("wants {want}") };
            let declared = self.op_spans[op.0 as usize];
            return self.report(Diag::error("RW0314", clause.span, message, label).also(declared, "declared here"));
        }
        if name != "identity"
            && let Some(arg) = arg
        {
            return self.report(Diag::error("RW0314", arg.span, format!("`{name}` takes no argument"), "not wanted"));
        }
        match name {
            "commutative" => self.program.universe.ops.get_mut(op).laws.commutative = true,
            "associative" => self.program.universe.ops.get_mut(op).laws.associative = true,
            "idempotent" => self.program.universe.ops.get_mut(op).laws.idempotent = true,
            _ => {
                let Some(arg) = arg else {
                    return self.report(
                        Diag::error("RW0314", clause.span, "`identity` of what?", "wants an element")
                            .help("as in `identity(0)`"),
                    );
                };
                let want = self.program.universe.ops.get(op).params[1].ty.clone();
                let term = self.own_term(op, file, arg, |elab, node| elab.wants(node, &rigid(&want)));
                self.program.universe.ops.get_mut(op).laws.identity = term;
            }
        }
    }

    /// A more specific overload must give a subtype of what the general one gives.
    fn overload_result(&mut self, op: OpId) {
        let universe = &self.program.universe;
        let decl = universe.ops.get(op);
        let mut found = None;
        for other in universe.ops.overloads(&decl.name) {
            let general = universe.ops.get(*other);
            if *other == op || !super::overload::is_below(decl, general, universe, &self.has_subtypes) {
                continue;
            }
            let mut solver = super::solve::Solver::new(&universe.types, &self.has_subtypes);
            for tparam in &decl.tparams {
                solver.push_rigid(tparam.bound.as_ref().map(rigid));
            }
            let targs: Vec<IType> = solver.instantiate(&general.tparams);
            for (mine, theirs) in decl.params.iter().zip(&general.params) {
                // Holds: `is_below` has just seen it.
                let _ = solver.subtype(&rigid(&mine.ty), &super::solve::substitute(&theirs.ty, &targs));
            }
            let mine =
                super::overload::result(decl, &(0..decl.tparams.len() as u32).map(IType::Rigid).collect::<Vec<_>>());
            let theirs = super::overload::result(general, &targs);
            if solver.subtype(&mine, &theirs).is_err() {
                found = Some((*other, solver.display(&mine, &decl.tparams), solver.display(&theirs, &decl.tparams)));
                break;
            }
        }
        if let Some((other, mine, theirs)) = found {
            let at = self.op_spans[op.0 as usize];
            let message = format!("this `{}` gives `{mine}`, the more general one `{theirs}`", decl.name);
            let general = self.op_spans[other.0 as usize];
            self.report(
                Diag::error("RW0318", at, message, format!("`{mine}` is not below `{theirs}`"))
                    .also(general, "takes all arguments that this one takes"),
            );
        }
    }
}

impl Elab<'_> {
    /// Makes a node be of a type.
    pub(super) fn wants(&mut self, node: NodeId, want: &IType) {
        let ty = self.node(node).ty.clone();
        if let Err(clash) = self.solver.subtype(&ty, want) {
            let (found, wanted, why) = (self.show(&ty), self.show(want), self.explain(&clash));
            let span = self.node(node).span;
            self.report(Diag::error("RW0301", span, format!("expected `{wanted}`, found `{found}`"), why));
        }
    }

    fn wants_result_of(&mut self, node: NodeId, op: OpId) {
        let decl = self.universe.ops.get(op);
        let rigid: Vec<IType> = (0..decl.tparams.len() as u32).map(IType::Rigid).collect();
        let want = super::overload::result(decl, &rigid);
        self.wants(node, &want);
    }
}

/// A number, computed from literals only.
fn fold(expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Int { value, .. } => Some(*value),
        ExprKind::Paren(inner) => fold(inner),
        ExprKind::Unary { op, expr } if op.node == "-" => fold(expr)?.checked_neg(),
        ExprKind::Binary { op, left, right } => {
            let (a, b) = (fold(left)?, fold(right)?);
            match op.node.as_str() {
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                "/" => a.checked_div(b),
                _ => None,
            }
        }
        _ => None,
    }
}

fn law_word(name: &str) -> &str {
    if name == "identity" { "given an identity" } else { name }
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// What to write in place of an effect that is not there and resembles none.
fn effect_help(unknown: &str) -> String {
    match unknown {
        "free" | "frees" | "deallocates" | "releases" => {
            "a function that frees memory writes it: `writes(memory)`".into()
        }
        _ => format!(
            "effects are {}; one of your own is declared before it is used: `effect {unknown}`",
            listed(&BUILTIN_EFFECTS.map(|effect| format!("`{effect}`")))
        ),
    }
}
