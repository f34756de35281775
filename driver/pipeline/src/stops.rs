//! Reports on budgets that ended saturation.

use rewright_cfg_skeleton::egraph::{Extent, Growth, Stop};
use rewright_dsl::program::Program;

/// Which budget ended where, and which rules had grown most by then.
pub fn describe(program: &Program, stop: &Stop) -> String {
    let rule = |Growth { rule, matches, nodes }: &Growth| {
        format!("{} ({matches} matches, {nodes} nodes at most)", program.rule(*rule).name)
    };
    let grew: Vec<String> = stop.grew.iter().map(rule).collect();
    match (grew.is_empty(), stop.extent) {
        (true, _) => stop.to_string(),
        (false, Extent::Rules) => format!("{stop}: {}", grew.join(", ")),
        (false, _) => format!("{stop}; most of them are of {}", grew.join(", ")),
    }
}
