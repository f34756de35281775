//! Reports of calls that do not fit, and types as messages show them.

use super::elab::Elab;
use super::nodes::{Call, Misfit, NodeId, NodeKind};
use super::report::{Diag, count, listed};
use super::solve::{Clash, IType, LiteralKind, substitute};
use super::wording::{quoted, short, signature};
use rewright_typeprop::{Op, OpId, TypeParam};
use strsim::osa_distance;

impl Elab<'_> {
    /// Says why the only candidate does not fit.
    pub(crate) fn report_misfit(&mut self, id: NodeId, op: OpId, misfit: Misfit) {
        let NodeKind::Call(call) = self.node(id).kind.clone() else { return };
        let decl = self.universe.ops.get(op);
        let declared = self.op_spans[op.0 as usize];
        let signature = signature(decl, self.universe);
        let report = match &misfit {
            Misfit::Arity => Diag::error(
                "RW0302",
                call.name_span,
                format!("`{}` takes {}, here are {}", call.name, count(decl.params.len(), "argument"), call.args.len()),
                "wrong number of arguments",
            )
            .help(format!(
                "it is called as `{}({})`",
                call.name,
                decl.params.iter().map(|param| param.name.as_str()).collect::<Vec<_>>().join(", ")
            )),
            Misfit::TypeArity => Diag::error(
                "RW0308",
                call.name_span,
                format!(
                    "`{}` takes {}, here are {}",
                    call.name,
                    count(decl.tparams.len(), "type argument"),
                    call.explicit.len()
                ),
                "wrong number of type arguments",
            ),
            Misfit::TypeArg(index, clash) => {
                let found = self.show(&call.explicit[*index]);
                let param = &decl.tparams[*index].name;
                Diag::error(
                    "RW0307",
                    call.name_span,
                    format!("`{found}` cannot be `{param}` of `{}`", call.name),
                    self.explain(clash),
                )
            }
            Misfit::Arg(index, want, clash) => {
                let arg = self.node(call.args[*index]);
                let (want, found) = (self.show(want), self.show(&arg.ty));
                match clash {
                    Clash::Bound(..) => Diag::error(
                        "RW0307",
                        arg.span,
                        format!("{} here", self.explain(clash)),
                        format!("of type `{found}`"),
                    ),
                    Clash::Different => Diag::error(
                        "RW0301",
                        arg.span,
                        format!("expected `{want}`, found `{found}`"),
                        format!("of type `{found}`"),
                    )
                    .help(match (found.as_str(), &arg.kind) {
                        ("State", NodeKind::Call(inner)) => format!(
                            "`{}` gives no value: two calls are written one after the other, `{}(..) after {}(..) after s`",
                            inner.name, call.name, inner.name
                        ),
                        ("State", _) => {
                            "`after` takes all that follows it: put the call and its state in parentheses, `(f(x) after s) + y`"
                                .into()
                        }
                        _ => "types never convert by themselves: change a declaration, or call what converts one into the other"
                            .into(),
                    }),
                    _ => {
                        let message = format!("expected `{want}`, found {}", quoted(&found));
                        let report = Diag::error("RW0301", arg.span, message, self.explain(clash));
                        match clash {
                            Clash::Literal(LiteralKind::Float, _) => {
                                report.help("floats and integers have operations of their own: `fadd`, `iadd`")
                            }
                            _ => report,
                        }
                    }
                }
            }
            Misfit::Result(gives, clash) => {
                let (gives, want) = (self.show(gives), self.show(&self.node(id).ty));
                let code = if matches!(clash, Clash::Bound(..)) { "RW0307" } else { "RW0301" };
                let message = format!("`{}` gives `{gives}`, but `{want}` is wanted here", call.name);
                Diag::error(code, self.node(id).span, message, self.explain(clash))
            }
        };
        let report = match &misfit {
            Misfit::Arg(index, _, Clash::Bound(ty, bound)) => self.advise(report, &call, (op, *index), ty, bound),
            _ => report,
        };
        self.report(report.also(declared, signature));
        self.nodes[id.0 as usize].kind = NodeKind::Error;
    }

    /// What takes an argument whose type is not below a bound: a bound of the rule's own parameter, or a function with
    /// nearly the same name.
    fn advise(&mut self, report: Diag, call: &Call, (op, index): (OpId, usize), ty: &IType, bound: &IType) -> Diag {
        if let IType::Rigid(own) = self.solver.shallow(ty)
            && let Some(Some(span)) = self.unbounded.get(own as usize)
            && let Some(TypeParam { name, .. }) = self.tparams.get(own as usize)
        {
            let (span, bounded) = (*span, format!("{name} <: {}", self.show(bound)));
            let report = report.help(format!("bound the type parameter: `{{{bounded}}}`"));
            // Of several bounds none is the repair.
            let fixes = self.diagnostics.iter_mut().map(|found| &mut found.fix);
            let others = fixes.filter(|fix| fix.as_ref().is_some_and(|f| f.span == span && f.replacement != bounded));
            let mut conflicts = false;
            for other in others {
                (*other, conflicts) = (None, true);
            }
            if conflicts {
                self.unbounded[own as usize] = None;
                return report;
            }
            return report.repair(span, bounded);
        }
        match self.kin(call, op, index) {
            Some(kin) => report.help(format!("`{}` takes `{}`", short(&kin), self.show(ty))),
            None if self.is_below(ty, "ptr") => report.help(
                "a pointer is no number: `ptr_offset(p, 8)` is one 8 bytes further, and `address(p)` is its address as an \
                 `i64`",
            ),
            None if self.is_below(bound, "ptr") && self.is_below(ty, "Scalar") => {
                report.help("a number is no pointer: only `0` is one, the null pointer; others come from calls")
            }
            None => report,
        }
    }

    /// Is a type that is known the declared type of this name, or below it?
    fn is_below(&mut self, ty: &IType, name: &str) -> bool {
        let Some(decl) = self.universe.types.lookup(name) else { return false };
        let known = !matches!(self.solver.shallow(ty), IType::Var(_) | IType::Error);
        known && self.solver.trial(|solver| solver.subtype(ty, &IType::App(decl, vec![])).is_ok())
    }

    /// The function of the same pack with nearly the same name and as many parameters that takes an argument.
    fn kin(&mut self, call: &Call, op: OpId, index: usize) -> Option<String> {
        let Elab { universe, nodes, solver, .. } = self;
        let (wrong, arg) = (universe.ops.get(op), &nodes[call.args[index].0 as usize].ty);
        let mut takes = |decl: &Op| {
            solver.trial(|solver| {
                let targs = solver.instantiate(&decl.tparams);
                solver.subtype(arg, &substitute(&decl.params[index].ty, &targs)).is_ok()
            })
        };
        let mut near = universe.ops.iter().map(|(_, decl)| decl).filter(|decl| {
            decl.pack == wrong.pack
                && decl.params.len() == wrong.params.len()
                && osa_distance(short(&decl.name), short(&wrong.name)) == 1
                && takes(decl)
        });
        let first = near.next()?;
        near.all(|other| other.name == first.name).then(|| first.name.clone())
    }

    /// The label of a clash.
    pub(crate) fn explain(&self, clash: &Clash) -> String {
        match clash {
            Clash::Different => "of another type".into(),
            Clash::Bound(ty, bound) => format!("`{}` is not below `{}`", self.show(ty), self.show(bound)),
            Clash::Literal(kind, ty) => {
                let kind = match kind {
                    LiteralKind::Int => "an integer",
                    LiteralKind::Float => "a float",
                    LiteralKind::Str => "a string",
                };
                format!("{kind} literal cannot be `{}`", self.show(ty))
            }
            Clash::Infinite => "this type would contain itself".into(),
        }
    }

    /// Types of arguments, for messages.
    pub(crate) fn arg_types(&self, call: &Call) -> String {
        let shown: Vec<String> = call.args.iter().map(|a| quoted(&self.show(&self.node(*a).ty))).collect();
        if shown.is_empty() { "no arguments".into() } else { listed(&shown) }
    }
}
