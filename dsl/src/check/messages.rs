//! Reports of calls that do not fit, and types as messages show them.

use super::elab::Elab;
use super::nodes::{Call, Misfit, NodeId, NodeKind};
use super::report::{Report, count, listed};
use super::solve::{Clash, LiteralKind};
use super::wording::{quoted, signature};
use rewright_typeprop::OpId;

impl Elab<'_> {
    /// Says why the only candidate does not fit.
    pub(crate) fn report_misfit(&mut self, id: NodeId, op: OpId, misfit: Misfit) {
        let NodeKind::Call(call) = self.node(id).kind.clone() else { return };
        let decl = self.universe.ops.get(op);
        let declared = self.op_spans[op.0 as usize];
        let signature = signature(decl, self.universe);
        let report = match misfit {
            Misfit::Arity => Report::error(
                "RW0302",
                call.name_span,
                format!("`{}` takes {}, here are {}", call.name, count(decl.params.len(), "argument"), call.args.len()),
                "wrong number of arguments",
            ),
            Misfit::TypeArity => Report::error(
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
                let found = self.show(&call.explicit[index]);
                let param = &decl.tparams[index].name;
                Report::error(
                    "RW0307",
                    call.name_span,
                    format!("`{found}` cannot be `{param}` of `{}`", call.name),
                    self.explain(&clash),
                )
            }
            Misfit::Arg(index, want, clash) => {
                let arg = self.node(call.args[index]);
                let (want, found) = (self.show(&want), self.show(&arg.ty));
                match &clash {
                    Clash::Bound(..) => Report::error(
                        "RW0307",
                        arg.span,
                        format!("{} here", self.explain(&clash)),
                        format!("of type `{found}`"),
                    ),
                    Clash::Different => Report::error(
                        "RW0301",
                        arg.span,
                        format!("expected `{want}`, found `{found}`"),
                        format!("of type `{found}`"),
                    ),
                    _ => {
                        let message = format!("expected `{want}`, found {}", quoted(&found));
                        Report::error("RW0301", arg.span, message, self.explain(&clash))
                    }
                }
            }
            Misfit::Result(gives, clash) => {
                let (gives, want) = (self.show(&gives), self.show(&self.node(id).ty));
                let code = if matches!(clash, Clash::Bound(..)) { "RW0307" } else { "RW0301" };
                let message = format!("`{}` gives `{gives}`, but `{want}` is wanted here", call.name);
                Report::error(code, self.node(id).span, message, self.explain(&clash))
            }
        };
        self.report(report.also(declared, signature));
        self.nodes[id.0 as usize].kind = NodeKind::Error;
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
