//! What follows of a rule about loops from what was found of its parts.

use super::Induction;
use crate::report::{Counterexample, InstanceReport, Verdict};

impl Induction {
    /// What follows at each instance from what was found of base and step.
    pub(crate) fn verdicts(&self, base: Vec<InstanceReport>, step: Vec<InstanceReport>) -> Vec<InstanceReport> {
        base.into_iter().zip(step).map(|(base, step)| self.verdict(base, step)).collect()
    }

    /// Are the first iterations to be looked at? Not where base and step decide.
    pub(crate) fn is_open(&self, base: &[InstanceReport], step: &[InstanceReport]) -> bool {
        let fails = |(base, step): (&InstanceReport, &InstanceReport)| {
            base.verdict != Verdict::Counterexample && step.verdict == Verdict::Counterexample
        };
        !self.reached && base.iter().zip(step).any(fails)
    }

    /// The verdicts, except for instances at which the sides differ in a later iteration.
    pub(crate) fn refuted(verdicts: Vec<InstanceReport>, later: Vec<InstanceReport>) -> Vec<InstanceReport> {
        let verdicts = verdicts.into_iter().zip(later);
        let verdict = |(known, later): (InstanceReport, InstanceReport)| match later.verdict {
            Verdict::Counterexample if known.verdict < Verdict::Counterexample => {
                let seconds = known.seconds + later.seconds;
                InstanceReport { seconds, ..inductive(later, "a later iteration") }
            }
            _ => known,
        };
        verdicts.map(verdict).collect()
    }

    fn verdict(&self, base: InstanceReport, step: InstanceReport) -> InstanceReport {
        let seconds = base.seconds + step.seconds;
        let refutes = self.reached && base.verdict == Verdict::Equal;
        let (part, worse) = match (base.verdict, step.verdict) {
            (_, Verdict::Counterexample) if !refutes && base.verdict != Verdict::Counterexample => {
                let reason = "the step of the induction fails at values that no run may reach".to_string();
                let verdict = base.verdict.max(Verdict::Unknown);
                let reason = Some(reason);
                return InstanceReport { verdict, reason, seconds, counterexample: None, ..step };
            }
            (first, second) if first >= second => ("base", base),
            _ => ("step", step),
        };
        InstanceReport { seconds, ..inductive(worse, part) }
    }
}

/// What was found of a part of an induction, said of the rule.
fn inductive(found: InstanceReport, part: &str) -> InstanceReport {
    let reason = match found.verdict {
        Verdict::Equal => found.reason,
        _ => Some(found.reason.map_or_else(|| part.to_string(), |reason| format!("{part}: {reason}"))),
    };
    let counterexample = found.counterexample.map(without_example);
    InstanceReport { method: format!("induction, {}", found.method), reason, counterexample, ..found }
}

/// An example for a pack would have to be a loop.
fn without_example(found: Counterexample) -> Counterexample {
    Counterexample { example: None, ..found }
}

/// What follows at each instance from what was found at the end of the loop and before.
pub(crate) fn exit_verdicts(then: Vec<InstanceReport>, before: Vec<InstanceReport>) -> Vec<InstanceReport> {
    then.into_iter().zip(before).map(|(then, before)| exit_verdict(then, before)).collect()
}

/// What follows at each instance from what was found of both parts.
fn exit_verdict(then: InstanceReport, before: InstanceReport) -> InstanceReport {
    let seconds = then.seconds + before.seconds;
    let (part, worse): (&str, InstanceReport) =
        if then.verdict >= before.verdict { ("at the end", then) } else { ("before the end", before) };
    let reason = match worse.verdict {
        Verdict::Equal => worse.reason,
        _ => Some(worse.reason.map_or_else(|| part.to_string(), |reason| format!("{part}: {reason}"))),
    };
    let counterexample = worse.counterexample.map(without_example);
    InstanceReport { method: format!("first exit, {}", worse.method), seconds, reason, counterexample, ..worse }
}
