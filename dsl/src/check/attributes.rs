//! Attributes of functions: what they are called elsewhere, what they mean, when they trap.

use super::Checker;
use super::merges::PHI;
use super::recurrences::{LEAVE, LOOP_STATES, THETA};
use super::report::Diag;
use crate::nearest::nearest;
use crate::syntax::ast::{Attribute, Expr, ExprKind, FnItem, Item};
use rewright_typeprop::ops::{FRONT_ENDS, TrapCheck};
use rewright_typeprop::{Model, OpId};

/// Where an attribute stands that another one was perhaps meant for.
const ON_FUNCTION: &str = "a function";

/// What there is.
const ATTRIBUTES: &str = "functions take `@model(name)`, `@traps(\"code\", condition)`, `@link(\"library\", \"symbol\")`, \
                          `@unchanging(\"why\")`, and what another world calls them: `@llvm(\"@name\")`, \
                          `@clif(\"name\")`, `@mlir(\"name\")`, `@intrinsic(\"name\")`, `@body(\"name\")`; facts take \
                          `@model(\"enters\")` and others about loops, rules \
                          `@approximate(\"what they give up\", 1e-9)`, types `@sample(made(size, seed))` and \
                          `@observe(seen(it))`";

impl Checker<'_> {
    pub(super) fn attributes(&mut self, op: OpId, file: usize, item: &Item, f: &FnItem) {
        for attribute in &item.attributes {
            match attribute.name.node.as_str() {
                "model" => self.model(op, attribute),
                "traps" => self.traps(op, file, attribute),
                "link" => self.link(op, attribute),
                "unchanging" => self.unchanging(attribute),
                other if FRONT_ENDS.contains(&other) => {
                    let at = if other == "llvm" { "@" } else { "" };
                    let (message, label, help) = match &attribute.args[..] {
                        [Expr { kind: ExprKind::Str(name), .. }] => {
                            let names = &mut self.program.universe.ops.get_mut(op).names;
                            names.insert(other.to_string(), name.clone());
                            continue;
                        }
                        [Expr { kind: ExprKind::Path(name), .. }] => (
                            format!("`@{other}` takes a text: the name in another language"),
                            "without quotes",
                            format!("`@{other}(\"{at}{name}\")`"),
                        ),
                        _ => (
                            format!("`@{other}` takes one text: the name in another language"),
                            "not one text",
                            format!("`@{other}(\"{at}f\")`; each function of C has its own `fn`"),
                        ),
                    };
                    self.report(Diag::error("RW0211", attribute.name.span, message, label).help(help));
                }
                _ => self.unknown_attribute(attribute, ON_FUNCTION),
            }
        }
        let decl = self.program.universe.ops.get(op);
        if decl.effects.traps && decl.checks.is_empty() {
            let check = TrapCheck { code: "unknown".into(), condition: None };
            self.program.universe.ops.get_mut(op).checks.push(check);
        } else if !decl.effects.traps && !decl.checks.is_empty() {
            let at = item.attributes.iter().find(|a| a.name.node == "traps").map_or(item.span, |a| a.name.span);
            self.program.universe.ops.get_mut(op).checks.clear();
            self.report(
                Diag::error("RW0314", at, format!("`{}` traps, but does not say so", f.name.node), "says when")
                    .also(f.name.span, "declared without the effect `traps`")
                    .help("write `effects traps`"),
            );
        }
    }

    pub(super) fn unknown_attribute(&mut self, attribute: &Attribute, on: &str) {
        let name = &attribute.name;
        let message = format!("unknown attribute `@{}` on {on}", name.node);
        let of_functions = ["model", "traps", "link", "unchanging"].into_iter().chain(FRONT_ENDS);
        let meant = nearest(&name.node, of_functions).filter(|_| on == ON_FUNCTION);
        let report = Diag::error("RW0211", name.span, message, "says nothing here");
        self.report(
            report.help(meant.map(|meant| format!("did you mean `@{meant}`?")).unwrap_or_else(|| ATTRIBUTES.into())),
        );
    }

    /// Why it reads nothing that changes: for people, and for the lint that asks.
    fn unchanging(&mut self, attribute: &Attribute) {
        if !matches!(&attribute.args[..], [Expr { kind: ExprKind::Str(_), .. }]) {
            let message = "`@unchanging` takes a text: why nothing changes what the function reads";
            self.report(
                Diag::error("RW0211", attribute.name.span, message, "says no reason")
                    .help("as in `@unchanging(\"no function changes a text\")`"),
            );
        }
    }

    fn model(&mut self, op: OpId, attribute: &Attribute) {
        let (ExprKind::Path(name) | ExprKind::Str(name)) = (match &attribute.args[..] {
            [one] => one.kind.clone(),
            _ => ExprKind::Error,
        }) else {
            return self.report(Diag::error(
                "RW0211",
                attribute.name.span,
                "`@model` takes one name",
                "as in `@model(\"add\")`",
            ));
        };
        let at = attribute.args[0].span;
        if name == THETA {
            return self.theta(op, at);
        }
        if name == LEAVE {
            return self.leave(op, at);
        }
        if name == PHI {
            return self.phi(op, at);
        }
        if let Some((model, role)) = LOOP_STATES.into_iter().find(|(model, _)| name == *model) {
            return self.loop_state(op, at, model, role);
        }
        let Some(model) = Model::from_name(&name) else {
            let known = Model::ALL
                .iter()
                .map(|m| m.name())
                .chain([THETA, LEAVE, PHI])
                .chain(LOOP_STATES.map(|(model, _)| model));
            return self.report(
                Diag::error("RW0313", at, format!("unknown model `{name}`"), "no such meaning").nearest(
                    &name,
                    known,
                    || Some("leave it out and state a `spec`".into()),
                ),
            );
        };
        let decl = self.program.universe.ops.get_mut(op);
        decl.model = Some(model);
        if decl.params.len() != model.arity() {
            let message = format!(
                "model `{name}` takes {}, `{}` has {}",
                super::report::count(model.arity(), "operand"),
                decl.name,
                decl.params.len()
            );
            let declared = self.op_spans[op.0 as usize];
            self.report(Diag::error("RW0313", at, message, "does not fit").also(declared, "declared here"));
        }
    }

    fn traps(&mut self, op: OpId, file: usize, attribute: &Attribute) {
        let (code, condition) = match &attribute.args[..] {
            [Expr { kind: ExprKind::Str(code), .. }] => (code, None),
            [Expr { kind: ExprKind::Str(code), .. }, condition] => (code, Some(condition)),
            _ => {
                return self.report(
                    Diag::error("RW0211", attribute.name.span, "`@traps` takes a code and a condition", "not so")
                        .help("as in `@traps(\"int_divz\", icmp_eq(y, 0))`; the condition may be left out"),
                );
            }
        };
        let condition = match condition {
            None => None,
            Some(expr) => match self.own_term(op, file, expr, |_, _| {}) {
                Some(term) => Some(term),
                None => return,
            },
        };
        self.program.universe.ops.get_mut(op).checks.push(TrapCheck { code: code.clone(), condition });
    }
}
