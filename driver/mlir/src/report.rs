//! What is said of two files.

use rewright_cfg_skeleton::nest::compare::{Difference, Method, Verdict, What};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::fmt;

/// What is known of a function, in one word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// Both versions do the same.
    Proved,
    /// They do the same for some sizes.
    ProvedIf,
    /// They do not: runs differ.
    Refuted,
    /// Nothing was shown.
    Unknown,
    /// A proof and a run contradict each other: a mistake in this program.
    Contradiction,
}

/// A function in two versions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionReport {
    /// Its name.
    pub name: String,
    /// What is known.
    pub verdict: Verdict,
    /// Functions that it calls; calls of one function are taken to be equal.
    pub calls: Vec<String>,
}

/// All functions of two files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The functions of the first file in its order, then those that only the second one has.
    pub functions: Vec<FunctionReport>,
    /// Whether accesses of the first version were taken to be in bounds.
    pub in_bounds: bool,
}

impl FunctionReport {
    pub(crate) fn unknown(name: &str, reason: &str, lines: (u32, u32)) -> Self {
        let verdict = Verdict::Unknown { reason: reason.to_string(), lines };
        FunctionReport { name: name.to_string(), verdict, calls: vec![] }
    }

    /// The verdict in one word.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.verdict {
            Verdict::Proved(_) => Outcome::Proved,
            Verdict::ProvedIf { .. } => Outcome::ProvedIf,
            Verdict::Refuted(_) => Outcome::Refuted,
            Verdict::Unknown { .. } => Outcome::Unknown,
            Verdict::Contradiction(..) => Outcome::Contradiction,
        }
    }
}

impl Report {
    /// How many functions have an outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.functions.iter().filter(|f| f.outcome() == outcome).count()
    }

    /// What proofs rest on.
    #[must_use]
    pub fn assumptions(&self) -> Vec<&'static str> {
        let mut assumptions = vec!["arrays that are different arguments do not overlap"];
        if self.in_bounds {
            assumptions.push("accesses of the first version are in bounds");
        }
        assumptions.push("arithmetic on `index` does not overflow");
        assumptions.push("sums and products of floats commute, but for the payload of a NaN");
        assumptions
    }
}

impl Outcome {
    /// The word for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Proved => "proved",
            Outcome::ProvedIf => "proved_if",
            Outcome::Refuted => "refuted",
            Outcome::Unknown => "unknown",
            Outcome::Contradiction => "contradiction",
        }
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("Report", 2)?;
        report.serialize_field("functions", &self.functions)?;
        report.serialize_field("assumptions", &self.assumptions())?;
        report.end()
    }
}

impl Serialize for FunctionReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (condition, lines) = match &self.verdict {
            Verdict::ProvedIf { condition, .. } => (condition.as_slice(), (0, 0)),
            Verdict::Unknown { lines, .. } => ([].as_slice(), *lines),
            _ => ([].as_slice(), (0, 0)),
        };
        let mut function = serializer.serialize_struct("FunctionReport", 5)?;
        function.serialize_field("function", &self.name)?;
        function.serialize_field("outcome", self.outcome().name())?;
        function.serialize_field("condition", condition)?;
        function.serialize_field("lines", &lines)?;
        function.serialize_field("text", &self.to_string())?;
        function.end()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for function in &self.functions {
            writeln!(f, "{function}")?;
        }
        let counts = [Outcome::Proved, Outcome::ProvedIf, Outcome::Refuted, Outcome::Unknown].map(|o| self.count(o));
        let [proved, conditional, refuted, unknown] = counts;
        let total = self.functions.len();
        writeln!(
            f,
            "{total} function{}: {proved} proved, {conditional} proved if a condition holds, {refuted} refuted, \
             {unknown} unknown",
            if total == 1 { "" } else { "s" }
        )?;
        if proved + conditional > 0 {
            writeln!(f, "proofs assume that {}", self.assumptions().join("; "))?;
        }
        Ok(())
    }
}

impl fmt::Display for FunctionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match &self.verdict {
            Verdict::Proved(method) => write!(f, "proved ({})", how(*method)),
            Verdict::ProvedIf { method, condition, outside } => {
                write!(f, "proved if {} ({})", condition.join(" and "), how(*method))?;
                match outside {
                    Some(difference) => write!(f, "; otherwise they differ: {}", shown(difference)),
                    None => Ok(()),
                }
            }
            Verdict::Refuted(difference) => write!(f, "refuted: {}", shown(difference)),
            Verdict::Unknown { reason, lines } => {
                write!(f, "unknown: {reason}")?;
                match lines {
                    (0, 0) => Ok(()),
                    (a, 0) => write!(f, " (first file, line {a})"),
                    (0, b) => write!(f, " (second file, line {b})"),
                    (a, b) => write!(f, " (line {a} of the first file, line {b} of the second)"),
                }
            }
            Verdict::Contradiction(method, difference) => write!(
                f,
                "a proof ({}) and a run contradict each other, which is a mistake in this program: {}",
                how(*method),
                shown(difference)
            ),
        }
    }
}

fn how(method: Method) -> &'static str {
    match method {
        Method::Sequence => "the same accesses in the same order",
        Method::Values => "the same value in each cell",
    }
}

/// A difference as a sentence.
fn shown(difference: &Difference) -> String {
    let sizes = difference.sizes.iter().map(|(name, value)| format!("{name} = {value}"));
    let scalars = difference.scalars.iter().map(|(n, value)| format!("argument {n} = {value}"));
    let inputs: Vec<String> = sizes.chain(scalars).collect();
    let with = if inputs.is_empty() { String::new() } else { format!("with {}, ", inputs.join(", ")) };
    let by = |line: u32| if line == 0 { "as it was".to_string() } else { format!("from line {line}") };
    let what = match &difference.what {
        What::Cell { array, cell, before, after } => {
            let cell: Vec<String> = cell.iter().map(ToString::to_string).collect();
            let (a, b) = (by(before.1), by(after.1));
            format!("{array}[{}] is {} ({a}) before and {} ({b}) after", cell.join(", "), before.0, after.0)
        }
        What::Result { number, before, after } => format!("result {number} is {before} before and {after} after"),
        What::Undefined { line, why } => format!("line {line} of the second file is undefined behaviour: {why}"),
    };
    format!("{with}{what}; contents of arrays from seed {}", difference.seed)
}
