//! How far saturation may go and how much work selection may be, as commands take it, and what they say where that cut
//! it short.

use super::out;
use anyhow::{Error, Result};
use rewright_cfg_skeleton::egraph::BudgetKind;
use rewright_cfg_skeleton::select::{Budget, Ended, Status};
use rewright_dsl::diagnostic;
use rewright_engine as engine;
use rewright_pipeline::optimiser::OptimisedFunction;
use std::fmt;
use std::time::Duration;

/// Limits of saturation and selection.
#[derive(clap::Args, Clone, Copy, Default)]
pub(super) struct Limits {
    /// Allow selection so many times the work per function. Work is counted, so the result does not depend on the
    /// machine [default: 1]
    #[arg(long, value_name = "N", value_parser = effort)]
    effort: Option<u32>,
    /// Seconds of processor time that selection may take per function. Results depend on the machine then; without
    /// `--effort`, nothing else limits it
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,
    #[command(flatten)]
    saturation: Saturation,
}

/// Limits of saturation alone.
#[derive(clap::Args, Clone, Copy, Default)]
pub(super) struct Saturation {
    /// How far rules may go in a function: `nodes=N,matches=N,rounds=N,steps=N`, any of them. Rounds are those of one
    /// `saturate`, steps those of a whole schedule. By default nodes and matches grow with the function. Where a budget
    /// ended, `--stats` and examples that fail say so
    #[arg(long, value_name = "KIND=N,..", value_parser = counts)]
    budget: Option<Counts>,
}

impl Saturation {
    /// As saturation takes them.
    pub(super) fn budget(&self) -> engine::Budget {
        let counts = self.budget.unwrap_or_default().0;
        let said = BudgetKind::ALL.into_iter().zip(counts).filter_map(|(kind, count)| Some((kind, count?)));
        said.fold(engine::Budget::default(), |budget, (kind, count)| budget.with(kind, count))
    }
}

/// What `--budget` says, by position in [`BudgetKind::ALL`].
#[derive(Clone, Copy, Default)]
struct Counts([Option<u64>; BudgetKind::ALL.len()]);

impl Limits {
    /// As selection takes them.
    pub(super) fn budget(&self) -> Budget {
        match (self.effort, self.time_limit) {
            (None, Some(_)) => {
                let only = Budget::default().times(u32::MAX);
                Budget { work: u64::MAX, auto_work: u64::MAX, time: self.time_limit, ..only }
            }
            (effort, time) => Budget { time, ..Budget::default().times(effort.unwrap_or(1)) },
        }
    }

    /// As saturation takes them.
    pub(super) fn saturation(&self) -> engine::Budget {
        self.saturation.budget()
    }

    /// The same limits as options of a command line.
    pub(super) fn options(&self) -> Vec<String> {
        let effort = self.effort.iter().flat_map(|effort| ["--effort".into(), effort.to_string()]);
        let time = self.time_limit.iter().flat_map(|time| ["--time-limit".into(), time.as_secs_f64().to_string()]);
        let budget = self.saturation.budget.iter().flat_map(|counts| ["--budget".into(), counts.to_string()]);
        effort.chain(time).chain(budget).collect()
    }

    /// Sets `--budget` on a command line that clap does not read.
    ///
    /// # Errors
    /// Where it is not what the option takes.
    pub(super) fn set_budget(&mut self, text: &str) -> Result<()> {
        self.saturation.budget = Some(counts(text).map_err(Error::msg)?);
        Ok(())
    }

    /// Sets `--effort` on a command line that clap does not read.
    ///
    /// # Errors
    /// Where it is not what the option takes.
    pub(super) fn set_effort(&mut self, text: &str) -> Result<()> {
        self.effort = Some(effort(text).map_err(Error::msg)?);
        Ok(())
    }

    /// The same for `--time-limit`.
    ///
    /// # Errors
    /// Where it is not what the option takes.
    pub(super) fn set_time_limit(&mut self, text: &str) -> Result<()> {
        self.time_limit = Some(seconds(text).map_err(Error::msg)?);
        Ok(())
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = BudgetKind::ALL.into_iter().zip(self.0);
        let said = said.filter_map(|(kind, count)| Some(format!("{}={}", kind.name(), count?)));
        f.write_str(&said.collect::<Vec<_>>().join(","))
    }
}

/// Budgets of saturation by name.
fn counts(text: &str) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for part in text.split(',') {
        let (name, count) = part.split_once('=').ok_or_else(|| format!("`{part}` is not of the form `nodes=5000`"))?;
        let kinds = BudgetKind::ALL.into_iter().zip(&mut counts.0);
        let (_, place) = kinds.into_iter().find(|(kind, _)| kind.name() == name).ok_or_else(|| {
            let names = BudgetKind::ALL.map(BudgetKind::name).join("`, `");
            format!("there is no budget `{name}`: budgets are `{names}`")
        })?;
        let count = match count.parse() {
            Ok(count @ 1..) => count,
            _ => return Err(format!("`{count}` is no number from 1 to {}", u64::MAX)),
        };
        if place.replace(count).is_some() {
            return Err(format!("`{name}` is said twice"));
        }
    }
    Ok(counts)
}

/// How often the usual work is allowed.
fn effort(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(effort @ 1..=1_000_000) => Ok(effort),
        _ => Err(format!("`{text}` is no number from 1 to 1000000")),
    }
}

/// A number of seconds on a command line.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is no number of seconds"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("a time limit is more than no seconds".into()),
    }
}

/// Says on stderr how many functions might be better if selection had had no limits, and how much.
pub(super) fn report<'o>(outcomes: impl Iterator<Item = &'o OptimisedFunction>) {
    let (mut count, mut gap, mut without, mut reasons) = (0, 0.0f64, 0, vec![]);
    for outcome in outcomes {
        let Some(ended) = outcome.ended else { continue };
        count += 1;
        match outcome.status {
            Status::Gap(found) => gap = gap.max(found),
            Status::Greedy | Status::Optimal => without += 1,
        }
        reasons.push(ended);
    }
    if count == 0 {
        return;
    }
    reasons.sort();
    reasons.dedup();
    let more = match reasons[..] {
        [Ended::Time] => "a longer `--time-limit`",
        _ => "`--effort N`",
    };
    let reasons: Vec<&str> = reasons.into_iter().map(Ended::name).collect();
    let mut known = vec![];
    if count > without {
        known.push(format!("by {:.1} % at most", 100.0 * gap));
    }
    if without > 0 {
        known.push(format!("for {without} no bound is known"));
    }
    out::note(&format!(
        "{} might be cheaper ({}): selection ended at its limits ({}); {more} allows it more, `--stats` names \
         the functions",
        diagnostic::count(count, "function"),
        known.join(", "),
        reasons.join(", "),
    ));
}
