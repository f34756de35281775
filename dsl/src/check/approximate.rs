//! `@approximate("the last bits", 1e-12)`: a rule whose sides are close and not equal says what it gives up, and by how
//! much its sides may differ.
//!
//! Such rules belong in packs that are used only where they are asked for; verification compares their sides for
//! closeness only. Inferences state facts, which cannot be approximate.

use super::Checker;
use super::report::Diag;
use super::samples::is_sample;
use crate::program::Approximation;
use crate::syntax::ast::{ExprKind, Item, ItemKind};

impl Checker<'_> {
    /// Reports what no rule or inference can be.
    pub(super) fn rule_attributes(&mut self, item: &Item) {
        for attribute in &item.attributes {
            let is_rule = matches!(item.kind, ItemKind::Rule(_));
            let known = match attribute.name.node.as_str() {
                "approximate" if is_rule && given_up(item).is_none() => {
                    let message = "`@approximate` takes what the rule gives up, and a tolerance between 0 and 1";
                    let report = Diag::error("RW0211", attribute.name.span, message, "gives up what?");
                    self.report(report.help("as in `@approximate(\"the sign of zero\")`"));
                    true
                }
                "approximate" => is_rule,
                _ => is_sample(attribute) && given_up(item).is_some(),
            };
            if !known {
                self.unknown_attribute(attribute, "a rule");
            }
        }
    }
}

/// What a rule gives up, in its own words, and by how much.
pub(super) fn given_up(item: &Item) -> Option<Approximation> {
    let attribute = item.attributes.iter().find(|attribute| attribute.name.node == "approximate")?;
    let (what, tolerance) = match &attribute.args[..] {
        [what] => (what, None),
        [what, tolerance] => match &tolerance.kind {
            ExprKind::Float { value, .. } if (0.0..1.0).contains(value) => (what, Some(*value)),
            _ => return None,
        },
        _ => return None,
    };
    match &what.kind {
        ExprKind::Str(what) => Some(Approximation { gives_up: what.clone(), tolerance, samples: vec![] }),
        _ => None,
    }
}
