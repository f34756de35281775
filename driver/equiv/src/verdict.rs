//! What is said of a pair of functions, and of all of them together.
//!
//! * `proved`: whatever the second version may do, the first one may do as well, or is undefined (if a precondition
//!   holds, where one is named; under the assumptions that are named);
//! * `refuted`: on the input that is given, the second version does what the first one, which is defined on it, never
//!   does. The input has been replayed on both texts;
//! * `tested`: runs agreed where the first version was defined. This claims nothing;
//! * `unknown`: why.
//!
//! **Invariant**: a verdict is made by [`Verdict::new`] from evidence and in no other way.

use super::Method;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is known of a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The second version refines the first one.
    Proved,
    /// It does not, on an input that is given.
    Refuted,
    /// Runs agreed.
    Tested,
    /// None of these.
    Unknown,
}

/// How a verdict was reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Both are one text, up to names and what says nothing.
    Same,
    /// An SMT solver has decided it.
    Solver,
    /// Both texts have been run.
    Runs,
}

/// An input on which the second version does something else.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Counterexample {
    /// The input, as `validate --input` reads it.
    pub input: serde_json::Value,
    /// The input for people.
    pub shown: String,
    /// What the first version may do on it.
    pub before: String,
    /// What the second version did.
    pub after: String,
}

/// What is known of one pair, before it is a verdict.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Evidence {
    /// Who proved it.
    pub(super) proved: Option<Tier>,
    /// What a proof needs to hold of arguments.
    pub(super) precondition: Option<String>,
    /// What a proof rests on that is not checked.
    pub(super) assumptions: Vec<String>,
    /// An input that has been replayed.
    pub(super) refuted: Option<Counterexample>,
    /// Something speaks against the second version that no replay has confirmed.
    pub(super) doubted: bool,
    /// Runs that agreed.
    pub(super) runs: u64,
    /// Why nothing more is known: what the solver's side says, and each method that compares runs.
    pub(super) reasons: Vec<String>,
}

/// What is said of one pair.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// Its name.
    pub function: String,
    /// What is known.
    pub verdict: Kind,
    /// How it was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// `proved` holds for arguments of which this holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precondition: Option<String>,
    /// What it rests on that is not checked.
    pub assumptions: Vec<String>,
    /// Why no more is known.
    pub reasons: Vec<String>,
    /// Runs that agreed.
    pub runs: u64,
    /// On which input it is refuted, and how.
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    pub counterexample: Option<Counterexample>,
}

impl Verdict {
    /// The verdict that evidence allows. A pair that is both proved and refuted shows a mistake of ours: it is unknown.
    pub(super) fn new(function: &str, evidence: Evidence) -> Verdict {
        let Evidence { proved, precondition, assumptions, refuted, doubted, runs, mut reasons } = evidence;
        let (verdict, tier) = match (&refuted, proved) {
            (Some(_), Some(_)) => {
                reasons.insert(0, "it is both proved and refuted: please report this".to_string());
                (Kind::Unknown, None)
            }
            (Some(_), None) => (Kind::Refuted, Some(Tier::Runs)),
            (None, Some(tier)) => (Kind::Proved, Some(tier)),
            (None, None) if runs > 0 && !doubted => (Kind::Tested, Some(Tier::Runs)),
            (None, None) => (Kind::Unknown, None),
        };
        let claims = verdict == Kind::Proved;
        Verdict {
            function: function.to_string(),
            verdict,
            tier,
            precondition: precondition.filter(|_| claims),
            assumptions: if claims { assumptions } else { vec![] },
            reasons: if matches!(verdict, Kind::Proved | Kind::Refuted) { vec![] } else { reasons },
            runs,
            counterexample: refuted,
        }
    }

    /// In one word, with its precondition.
    pub fn word(&self) -> String {
        match (self.verdict, &self.precondition) {
            (Kind::Proved, Some(precondition)) => format!("proved if {precondition}"),
            (Kind::Proved, None) => "proved".into(),
            (Kind::Refuted, _) => "refuted".into(),
            (Kind::Tested, _) => "tested".into(),
            (Kind::Unknown, _) => "unknown".into(),
        }
    }
}

/// What begins a reason that says that something differed in a run, and that it is open whether that counts.
pub(super) const DOUBT: &str = "it may differ";

/// How many pairs have which verdict: `pairs` is the sum of the four.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Functions that at least one module defines, but for those that are in both byte for byte.
    pub pairs: u64,
    /// Proved; those that are the same text among them.
    pub proved: u64,
    /// Refuted.
    pub refuted: u64,
    /// Tested.
    pub tested: u64,
    /// Unknown.
    pub unknown: u64,
}

impl Counts {
    /// Of these verdicts.
    pub fn of(verdicts: &[Verdict]) -> Counts {
        let mut counts = Counts { pairs: verdicts.len() as u64, ..Counts::default() };
        for verdict in verdicts {
            *match verdict.verdict {
                Kind::Proved => &mut counts.proved,
                Kind::Refuted => &mut counts.refuted,
                Kind::Tested => &mut counts.tested,
                Kind::Unknown => &mut counts.unknown,
            } += 1;
        }
        counts
    }
}

/// What one method has seen.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Tally {
    /// Functions of which at least one run was compared, or question decided.
    pub compared: u64,
    /// Runs that were compared; questions that were decided.
    pub runs: u64,
    /// Runs that were not, by reason.
    pub open: BTreeMap<String, u64>,
    /// Functions of which no run was compared, by the reason that most of their runs had.
    pub not_compared: BTreeMap<String, u64>,
}

/// What was found in one or more pairs of modules.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Of this form.
    pub schema: u32,
    /// How many pairs have which verdict.
    pub counts: Counts,
    /// Functions that are byte for byte the same in both modules, with all that they mention: not among the pairs.
    pub unchanged: u64,
    /// By method.
    pub methods: BTreeMap<Method, Tally>,
    /// A verdict for each pair, in the order of the files.
    pub functions: Vec<Verdict>,
}

impl Default for Report {
    fn default() -> Self {
        Report { schema: 1, counts: Counts::default(), unchanged: 0, methods: BTreeMap::new(), functions: vec![] }
    }
}

impl Report {
    /// Adds that of another pair of modules.
    pub fn add(&mut self, other: Report) {
        self.unchanged += other.unchanged;
        for (method, tally) in other.methods {
            let own = self.methods.entry(method).or_default();
            own.compared += tally.compared;
            own.runs += tally.runs;
            rewright_pipeline::sums::add_up(&mut own.open, tally.open);
            rewright_pipeline::sums::add_up(&mut own.not_compared, tally.not_compared);
        }
        self.functions.extend(other.functions);
        self.counts = Counts::of(&self.functions);
    }

    /// Those that are refuted.
    pub fn refuted(&self) -> impl Iterator<Item = &Verdict> {
        self.functions.iter().filter(|f| f.verdict == Kind::Refuted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counterexample() -> Option<Counterexample> {
        let [shown, before, after] = [(); 3].map(|()| String::new());
        Some(Counterexample { input: serde_json::Value::Null, shown, before, after })
    }

    #[test]
    fn evidence_decides() {
        let reasons = || vec!["a loop".to_string()];
        for (evidence, kind) in [
            (Evidence::default(), Kind::Unknown),
            (Evidence { runs: 3, reasons: reasons(), ..Evidence::default() }, Kind::Tested),
            (Evidence { runs: 3, doubted: true, ..Evidence::default() }, Kind::Unknown),
            (Evidence { proved: Some(Tier::Solver), runs: 3, ..Evidence::default() }, Kind::Proved),
            (Evidence { refuted: counterexample(), runs: 3, ..Evidence::default() }, Kind::Refuted),
            (Evidence { refuted: counterexample(), proved: Some(Tier::Same), ..Evidence::default() }, Kind::Unknown),
        ] {
            assert_eq!(Verdict::new("@f", evidence.clone()).verdict, kind, "{evidence:?}");
        }
        let conditional =
            Evidence { proved: Some(Tier::Solver), precondition: Some("%n > 0".into()), ..Evidence::default() };
        assert_eq!(Verdict::new("@f", conditional).word(), "proved if %n > 0");
    }

    #[test]
    fn counts_add_up() {
        let evidence = [
            Evidence::default(),
            Evidence { proved: Some(Tier::Same), ..Evidence::default() },
            Evidence { runs: 1, ..Evidence::default() },
            Evidence { refuted: counterexample(), ..Evidence::default() },
        ];
        let functions = evidence.map(|e| Verdict::new("@f", e)).to_vec();
        let mut report = Report::default();
        report.add(Report { functions: functions.clone(), ..Report::default() });
        report.add(Report { functions, ..Report::default() });
        let Counts { pairs, proved, refuted, tested, unknown } = report.counts;
        assert_eq!((pairs, proved, refuted, tested, unknown), (8, 2, 2, 2, 2));
        assert_eq!(report.refuted().count(), 2);
    }
}
