//! Verdicts on two versions of a function, whatever language they are written in, and on many together.
//!
//! * `proved`: whatever the second version may do, the first one may do as well, or is undefined (if a precondition
//!   holds, where one is named; under the assumptions that are named);
//! * `refuted`: on the input that is given, the second version does what the first one, which is defined on it, never
//!   does. Both versions have been run on the input;
//! * `tested`: runs agreed where the first version was defined. This claims nothing;
//! * `unknown`: why.
//!
//! **Invariant**: a verdict is made by [`Verdict::new`] from evidence and in no other way.

mod brief;

use brief::{brief, brief_beside};
use serde::Serialize;
use std::fmt;

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
    /// Both execute the same sequence of accesses.
    Sequence,
    /// Both execute the same accesses, and those of one cell in the same order.
    Order,
    /// Both compute the same value for each cell.
    Cells,
    /// An SMT solver has decided it.
    Solver,
    /// Rules rewrite the first version, and a solver has decided that the result does the same as the second version.
    Rules,
    /// Both have been run.
    Runs,
}

/// One of two versions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The earlier one.
    First,
    /// The later one.
    Second,
}

/// An input on which the second version does something else.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Counterexample {
    /// The input for programs.
    pub input: serde_json::Value,
    /// The input for people.
    pub shown: String,
    /// What the first version may do on it.
    pub before: String,
    /// What the second version did.
    pub after: String,
    /// The statements that did it, where they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
    /// On which inputs near this one there is a difference, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// A statement of one version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Statement {
    /// The version.
    pub side: Side,
    /// Its line there.
    pub line: u32,
    /// The values of the variables of the loops around, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iteration: Vec<i64>,
    /// The line's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What is known of one pair, before it is a verdict.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// How it was proved.
    pub proved: Option<Tier>,
    /// What a proof needs to hold of arguments.
    pub precondition: Option<String>,
    /// Whether they differ wherever the precondition does not hold and something happens, as far as runs have seen.
    pub exact: Option<bool>,
    /// An input on which the precondition does not hold, and they differ.
    pub outside: Option<Counterexample>,
    /// What a proof rests on that is not checked.
    pub assumptions: Vec<String>,
    /// Other functions, with verdicts of their own, that a proof takes to be refined, or of which one is why a pair is
    /// refuted that is proved otherwise.
    pub rests_on: Vec<String>,
    /// An input on which both have been run.
    pub refuted: Option<Counterexample>,
    /// Arguments for which they are proved to do the same although they are refuted.
    pub holds_if: Option<String>,
    /// Something speaks against the second version that no run has confirmed.
    pub doubted: bool,
    /// Runs that agreed.
    pub runs: u64,
    /// Why nothing more is known.
    pub reasons: Vec<String>,
    /// The other version has no such function.
    pub only: Option<Side>,
}

impl Evidence {
    /// There is no pair: only one version has the function.
    pub fn only(side: Side) -> Evidence {
        Evidence { only: Some(side), ..Evidence::nothing(format!("only the {side} file defines it")) }
    }

    /// Nothing is known, for a reason.
    pub fn nothing(reason: impl Into<String>) -> Evidence {
        Evidence { reasons: vec![reason.into()], ..Evidence::default() }
    }
}

/// The verdict on one pair.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
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
    /// Whether they differ wherever the precondition does not hold and something happens, as far as runs have seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    /// An input of which the precondition does not hold, and on which they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Counterexample>,
    /// What it rests on that is not checked.
    pub assumptions: Vec<String>,
    /// Other functions, with verdicts of their own: `proved` holds if each of them is refined; `refuted` holds because one
    /// of them is not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<String>,
    /// Why no more is known.
    pub reasons: Vec<String>,
    /// Runs that agreed.
    pub runs: u64,
    /// The one version that has it, where the other one has no such function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Side>,
    /// Arguments for which they are proved to do the same, where they are refuted for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds_if: Option<String>,
    /// On which input it is refuted, and how.
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    pub counterexample: Option<Counterexample>,
}

impl Verdict {
    /// The verdict that evidence allows. A pair that is both proved and refuted shows a mistake of ours: it is unknown.
    pub fn new(function: &str, evidence: Evidence) -> Verdict {
        let Evidence { proved, precondition, exact, outside, assumptions, refuted, holds_if, doubted, runs, .. } =
            evidence;
        let Evidence { mut reasons, rests_on, only, .. } = evidence;
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
            exact: exact.filter(|_| claims && precondition.is_some()),
            precondition: precondition.filter(|_| claims),
            outside: outside.filter(|_| claims),
            assumptions: if claims { assumptions } else { vec![] },
            rests_on: if matches!(verdict, Kind::Proved | Kind::Refuted) { rests_on } else { vec![] },
            reasons: if matches!(verdict, Kind::Proved | Kind::Refuted) { vec![] } else { reasons },
            runs,
            only,
            holds_if: holds_if.filter(|_| verdict == Kind::Refuted),
            counterexample: refuted,
        }
    }

    /// Is it proved for all arguments, if the functions are refined that it rests on?
    pub fn is_proved(&self) -> bool {
        self.verdict == Kind::Proved && self.precondition.is_none()
    }

    /// Is it both proved and refuted?
    pub fn is_contradiction(&self) -> bool {
        self.verdict == Kind::Unknown && self.counterexample.is_some()
    }

    /// In one word, with its precondition.
    pub fn word(&self) -> String {
        self.word_if(&[])
    }

    /// In one word, with its precondition and functions that it rests on.
    fn word_if(&self, refined: &[&str]) -> String {
        match self.verdict {
            Kind::Proved => {
                let conditions: Vec<String> = self.precondition.iter().cloned().chain(are_refined(refined)).collect();
                let conditions = conditions.join(" and ");
                if conditions.is_empty() { "proved".into() } else { format!("proved if {conditions}") }
            }
            Kind::Refuted if self.rests_on.is_empty() => "refuted".into(),
            Kind::Refuted => format!("refuted through {}", named(&self.rests_on)),
            Kind::Tested => "tested".into(),
            Kind::Unknown => "unknown".into(),
        }
    }

    /// One line, without assumptions, that names these functions among the conditions of a proof.
    pub fn line(&self, refined: &[&str]) -> String {
        let mut line = format!("{}: {}{}", self.function, self.word_if(refined), self.how());
        if let Some(outside) = &self.outside {
            let otherwise = if self.exact == Some(false) { "for some other sizes" } else { "otherwise" };
            line.push_str(&format!("; {otherwise} they differ {outside}"));
        }
        let mut details = self.reasons.clone();
        details.extend(self.counterexample.iter().map(ToString::to_string));
        if self.verdict == Kind::Tested {
            let agree = if self.runs == 1 { "run agrees" } else { "runs agree" };
            details.insert(0, format!("{} {agree}", self.runs));
        }
        details.extend(self.holds_if.iter().map(|condition| format!("proved to do the same if {condition}")));
        if !details.is_empty() {
            line.push_str(&format!(": {}", details.join("; ")));
        }
        line
    }

    /// How it is proved, for people.
    fn how(&self) -> &'static str {
        match self.tier.filter(|_| self.verdict == Kind::Proved) {
            Some(Tier::Same) => " (one text)",
            Some(Tier::Sequence) => " (the same accesses in the same order)",
            Some(Tier::Order) => " (the same accesses, and those of one cell in the same order)",
            Some(Tier::Cells) => " (the same value in each cell)",
            Some(Tier::Solver) => " (by a solver)",
            Some(Tier::Rules) => " (by rules and a solver)",
            Some(Tier::Runs) | None => "",
        }
    }
}

/// Functions that are named where a proof rests on them; of more, only the number is told.
const NAMED: usize = 3;

/// Names in a row.
fn named(functions: &[impl AsRef<str>]) -> String {
    let (first, others) = functions.split_at(functions.len().min(NAMED));
    let mut all: Vec<String> = first.iter().map(|name| name.as_ref().to_string()).collect();
    all.extend((!others.is_empty()).then(|| format!("{} more", others.len())));
    match all.as_slice() {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        all => all.concat(),
    }
}

/// That functions are refined; `None` if there are none.
pub fn are_refined(functions: &[&str]) -> Option<String> {
    let verb = if functions.len() == 1 { "is" } else { "are" };
    (!functions.is_empty()).then(|| format!("{} {verb} refined", named(functions)))
}

/// One line, without assumptions.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line(&[]))
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::First => "first",
            Side::Second => "second",
        })
    }
}

/// Long lists are cut short.
impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counterexample { shown, before, after, .. } = self;
        let (was, is) = (brief_beside(before, after), brief_beside(after, before));
        write!(f, "on {}: before, {was}; after, {is}", brief(shown))?;
        self.statements.iter().try_for_each(|statement| write!(f, "; {statement}"))?;
        self.pattern.as_ref().map_or(Ok(()), |pattern| write!(f, "; {pattern}"))
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the {} file", self.line, self.side)?;
        if let Some(text) = &self.text {
            write!(f, ", `{text}`")?;
        }
        if self.iteration.is_empty() {
            return Ok(());
        }
        let iteration: Vec<String> = self.iteration.iter().map(ToString::to_string).collect();
        write!(f, ", in iteration ({})", iteration.join(", "))
    }
}

/// How many pairs have which verdict: `pairs` is the sum of the next four.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Functions that at least one version of a file defines.
    pub pairs: u64,
    /// Proved; those that are the same text among them.
    pub proved: u64,
    /// Refuted.
    pub refuted: u64,
    /// Tested.
    pub tested: u64,
    /// Unknown.
    pub unknown: u64,
    /// Of the proved ones, those that hold under a precondition.
    pub conditional: u64,
    /// Of the unknown ones, those that only the first version has.
    pub only_first: u64,
    /// Of the unknown ones, those that only the second version has.
    pub only_second: u64,
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
            counts.conditional += u64::from(verdict.precondition.is_some());
            counts.only_first += u64::from(verdict.only == Some(Side::First));
            counts.only_second += u64::from(verdict.only == Some(Side::Second));
        }
        counts
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { proved, refuted, tested, unknown, .. } = self;
        let some = |n: u64, what: &str| if n > 0 { format!(" ({n} of them {what})") } else { String::new() };
        let conditional = some(self.conditional, "under a precondition");
        let only = some(self.only_first + self.only_second, "in one version only");
        write!(f, "{proved} proved{conditional}, {refuted} refuted, {tested} tested, {unknown} unknown{only}")
    }
}

/// What proofs rest on that is not checked, in one line for all; `None` where they rest on nothing.
pub fn assumptions(verdicts: &[Verdict]) -> Option<String> {
    let mut all: Vec<&str> = vec![];
    for assumption in verdicts.iter().flat_map(|verdict| &verdict.assumptions) {
        if !all.contains(&assumption.as_str()) {
            all.push(assumption);
        }
    }
    (!all.is_empty()).then(|| format!("proofs assume that {}", all.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counterexample() -> Option<Counterexample> {
        let [shown, before, after] = ["(3)", "returns 1", "returns 2"].map(String::from);
        Some(Counterexample { input: serde_json::Value::Null, shown, before, after, statements: vec![], pattern: None })
    }

    fn proved(tier: Tier) -> Evidence {
        Evidence { proved: Some(tier), runs: 3, ..Evidence::default() }
    }

    #[test]
    fn evidence_decides() {
        let reasons = || vec!["a loop".to_string()];
        let refuted = || Evidence { refuted: counterexample(), runs: 3, ..Evidence::default() };
        for (evidence, kind, shown) in [
            (Evidence::nothing("a loop"), Kind::Unknown, "f: unknown: a loop"),
            (
                Evidence { runs: 3, reasons: reasons(), ..Evidence::default() },
                Kind::Tested,
                "f: tested: 3 runs agree; a loop",
            ),
            (Evidence { runs: 3, doubted: true, ..Evidence::default() }, Kind::Unknown, "f: unknown"),
            (proved(Tier::Solver), Kind::Proved, "f: proved (by a solver)"),
            (refuted(), Kind::Refuted, "f: refuted: on (3): before, returns 1; after, returns 2"),
            (
                Evidence { proved: Some(Tier::Same), ..refuted() },
                Kind::Unknown,
                "f: unknown: it is both proved and refuted: please report this; on (3): before, returns 1; after, \
                 returns 2",
            ),
            (
                Evidence { precondition: Some("%n > 0".into()), outside: counterexample(), ..proved(Tier::Cells) },
                Kind::Proved,
                "f: proved if %n > 0 (the same value in each cell); otherwise they differ on (3): before, returns 1; \
                 after, \
                 returns 2",
            ),
        ] {
            let verdict = Verdict::new("f", evidence);
            assert_eq!((verdict.verdict, verdict.to_string().as_str()), (kind, shown));
            assert_eq!(verdict.is_contradiction(), shown.contains("both"));
        }
    }

    #[test]
    fn what_a_proof_rests_on_is_said() {
        let on = |n: usize| (0..n).map(|i| format!("@f{i}")).collect::<Vec<_>>();
        let proof = Verdict::new("@g", Evidence { rests_on: on(1), ..proved(Tier::Same) });
        assert_eq!(
            (proof.line(&[]), proof.line(&["@f0"])),
            ("@g: proved (one text)".into(), "@g: proved if @f0 is refined (one text)".into())
        );
        let conditional = Evidence { precondition: Some("%n > 0".into()), ..proved(Tier::Cells) };
        let line = Verdict::new("@g", conditional).line(&["@a", "@b", "@c", "@d", "@e"]);
        assert!(line.starts_with("@g: proved if %n > 0 and @a, @b, @c and 2 more are refined ("), "{line}");
        let refuted =
            |n| Verdict::new("@g", Evidence { refuted: counterexample(), rests_on: on(n), ..Evidence::default() });
        let lines = [0, 1, 2].map(|n| refuted(n).to_string());
        let starts = ["@g: refuted: on", "@g: refuted through @f0: on", "@g: refuted through @f0 and @f1: on"];
        assert!(lines.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{lines:?}");
        let unknown = Verdict::new("@g", Evidence { rests_on: on(1), ..Evidence::nothing("a loop") });
        assert_eq!((unknown.rests_on.len(), unknown.to_string()), (0, "@g: unknown: a loop".into()));
    }

    #[test]
    fn counts_add_up() {
        let refuted = Evidence { refuted: counterexample(), ..Evidence::default() };
        let conditional = Evidence { precondition: Some("%n > 0".into()), ..proved(Tier::Sequence) };
        let tested = Evidence { runs: 1, ..Evidence::default() };
        let only = [Side::First, Side::Second].map(Evidence::only);
        let evidence = [Evidence::default(), proved(Tier::Same), tested, refuted, conditional].into_iter().chain(only);
        let verdicts: Vec<Verdict> = evidence.map(|e| Verdict::new("@f", e)).collect();
        let counts = Counts::of(&verdicts);
        let expected = Counts {
            pairs: 7,
            proved: 2,
            refuted: 1,
            tested: 1,
            unknown: 3,
            conditional: 1,
            only_first: 1,
            only_second: 1,
        };
        assert_eq!(counts, expected);
        assert_eq!(
            counts.to_string(),
            "2 proved (1 of them under a precondition), 1 refuted, 1 tested, 3 unknown (2 of them in one version only)"
        );
        assert_eq!(verdicts[6].to_string(), "@f: unknown: only the second file defines it");
    }
}
