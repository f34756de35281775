//! What compiled code said of rules: a disagreement is an error of ours, and what was not run is counted with the
//! reason.

use rewright_dsl::diagnostic::{Diagnostic, Label, Severity};
use rewright_dsl::program::Program;
use rewright_verify::{Compiled, InstanceReport, RuleReport};
use std::collections::BTreeMap;

/// How many reasons are listed.
const REASONS: usize = 6;

/// Where compiled code gives something else than the evaluator, and what.
fn first(report: &RuleReport) -> Option<(&InstanceReport, &str)> {
    report.instances.iter().find_map(|i| match &i.compiled {
        Compiled::Other(what) => Some((i, what.as_str())),
        Compiled::Same { .. } | Compiled::NotRun(_) => None,
    })
}

/// Does compiled code of a rule give something else than the evaluator?
pub(super) fn disagrees(report: &RuleReport) -> bool {
    first(report).is_some()
}

/// `RW0705`
pub(super) fn disagreement(program: &Program, report: &RuleReport) -> Option<Diagnostic> {
    let (instance, what) = first(report)?;
    let rule = program.rule(report.rule);
    let at = instance.types.join(", ");
    let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
    Some(Diagnostic {
        code: "RW0705",
        severity: Severity::Error,
        message: format!("compiled code of rule {} is not what its operations mean{at}", rule.name),
        primary: Label { span: rule.span, text: what.to_string() },
        secondary: vec![],
        help: Some(
            "no fault of the rule: the meaning of an operation, its instruction or the compiler is wrong; report this"
                .into(),
        ),
        fix: None,
    })
}

/// How much ran, and why the rest did not.
pub(super) fn summary(reports: &[RuleReport]) -> String {
    let (mut same, mut values, mut other) = (0, 0, 0);
    let mut not_run: BTreeMap<&str, usize> = BTreeMap::new();
    for instance in reports.iter().flat_map(|r| &r.instances) {
        match &instance.compiled {
            Compiled::Same { values: tried, .. } => {
                same += 1;
                values += tried;
            }
            Compiled::Other(_) => other += 1,
            // The text after the colon is about one instance.
            Compiled::NotRun(why) => *not_run.entry(why.split(": ").next().unwrap_or(why)).or_default() += 1,
        }
    }
    let mut text =
        format!("compiled code: {same} type instances agree with the evaluator, at {values} values; {other} do not\n");
    let mut reasons: Vec<(&str, usize)> = not_run.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let not_listed: usize = reasons.iter().skip(REASONS).map(|(_, count)| count).sum();
    for (why, count) in reasons.iter().take(REASONS) {
        text += &format!("  {count} not run: {why}\n");
    }
    if not_listed > 0 {
        text += &format!("  {not_listed} not run for other reasons: `--format json` has them\n");
    }
    text
}
