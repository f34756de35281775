//! `override f cost ..`: what another pack's function costs where this one is used.
//!
//! The pack that declares a function does not know every machine and every size of data. A pack that brings rules for
//! one of them says what the functions cost there, whatever profile there is; a user's configuration comes after all.
//!
//! **Invariant**: the result does not depend on the order of imports: no function's cost is overridden twice.

use super::Checker;
use super::report::Diag;
use super::wording::short;
use crate::syntax::ast::{Expr, ItemKind, Path, Span};
use rewright_typeprop::OpId;
use std::collections::BTreeMap;

impl Checker<'_> {
    pub(super) fn check_overrides(&mut self) {
        let mut overridden: BTreeMap<OpId, Span> = BTreeMap::new();
        for file in 0..self.files.len() {
            for (_, item) in self.items(file) {
                let ItemKind::Override { name, cost } = &item.kind else { continue };
                self.override_cost(file, name, cost, &mut overridden);
            }
        }
    }

    /// All overloads, which are one function to a pack that names it.
    fn override_cost(&mut self, file: usize, name: &Path, cost: &Expr, overridden: &mut BTreeMap<OpId, Span>) {
        let ops = self.scopes[file].find_ops(&name.node);
        if ops.is_empty() && !self.scopes[file].is_excused(&name.node) {
            let report = Diag::error(
                "RW0201",
                name.span,
                format!("unknown function `{}`", name.node),
                "not declared or imported",
            );
            let known: Vec<&str> = self.program.universe.ops.iter().map(|(_, op)| short(&op.name)).collect();
            let import = || Some("import the pack that declares it".into());
            return self.report(report.nearest(&name.node, known, import));
        }
        for op in ops {
            let decl = self.program.universe.ops.get(op);
            if decl.pack == self.files[file].pack {
                let report = Diag::error(
                    "RW0457",
                    name.span,
                    format!("`{}` is this pack's own function", name.node),
                    "overridden",
                );
                let declared = self.op_spans[op.0 as usize];
                return self.report(report.also(declared, "declared here").help("write the cost where it is declared"));
            }
            if let Some(earlier) = overridden.get(&op) {
                let report = Diag::error(
                    "RW0457",
                    name.span,
                    format!("the cost of `{}` is overridden twice", name.node),
                    "again here",
                );
                return self.report(
                    report
                        .also(*earlier, "first here")
                        .help("say it in one pack, or in the project (`[costs]` of `rewright.toml`)"),
                );
            }
            let errors = self.errors();
            self.cost(op, file, cost);
            if self.errors() > errors {
                return;
            }
            self.program.universe.ops.get_mut(op).overridden = true;
            overridden.insert(op, name.span);
        }
    }
}
