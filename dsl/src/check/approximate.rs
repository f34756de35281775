//! `@approximate("the sign of zero")`: a rule whose sides are close and not equal says what it gives up.
//!
//! Such rules belong into packs that nobody gets without asking for them; verification compares their sides for
//! closeness only. Inferences state facts, of which there is no half.

use super::Checker;
use super::report::Report;
use crate::syntax::ast::{Expr, ExprKind, Item, ItemKind};

impl Checker<'_> {
    /// Reports what no rule or inference can be.
    pub(super) fn rule_attributes(&mut self, item: &Item) {
        for attribute in &item.attributes {
            let is_approximate = attribute.name.node == "approximate" && matches!(item.kind, ItemKind::Rule(_));
            if is_approximate && given_up(item).is_none() {
                let message = "`@approximate` takes what the rule gives up";
                let report = Report::error("RW0211", attribute.name.span, message, "gives up what?");
                self.report(report.help("as in `@approximate(\"the sign of zero\")`"));
            } else if !is_approximate {
                self.unknown_attribute(attribute, "a rule");
            }
        }
    }
}

/// What a rule gives up, in its own words.
pub(super) fn given_up(item: &Item) -> Option<String> {
    let attribute = item.attributes.iter().find(|attribute| attribute.name.node == "approximate")?;
    match &attribute.args[..] {
        [Expr { kind: ExprKind::Str(what), .. }] => Some(what.clone()),
        _ => None,
    }
}
