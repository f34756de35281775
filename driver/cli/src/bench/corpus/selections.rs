//! How long selections took, and how good they are.

use super::Selected;
use rewright_cfg_skeleton::select::Status;
use serde_json::json;
use std::time::Duration;

/// All of a run.
pub(super) struct Selections {
    /// Sorted.
    times: Vec<Duration>,
    optimal: usize,
    greedy: usize,
    /// Of the rest, sorted.
    gaps: Vec<f64>,
}

impl Selections {
    pub(super) fn new(list: &[Selected]) -> Self {
        let mut found = Selections { times: vec![], optimal: 0, greedy: 0, gaps: vec![] };
        for Selected { time, status, .. } in list {
            found.times.push(*time);
            match *status {
                Status::Optimal => found.optimal += 1,
                Status::Gap(gap) => found.gaps.push(gap),
                Status::Greedy => found.greedy += 1,
            }
        }
        found.times.sort();
        found.gaps.sort_by(f64::total_cmp);
        found
    }

    /// The time of selection, in milliseconds, that this many per cent do not exceed.
    fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.times.len() * percent).div_ceil(100).max(1);
        self.times.get(rank - 1).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }

    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "optimal": self.optimal,
            "gap": self.gaps.len(),
            "largest_gap": self.gaps.last(),
            "greedy": self.greedy,
            "milliseconds": {
                "p50": self.percentile(50),
                "p90": self.percentile(90),
                "p99": self.percentile(99),
                "max": self.percentile(100),
            },
        })
    }

    pub(super) fn text(&self) -> String {
        let [p50, p90, p99, max] = [50, 90, 99, 100].map(|p| self.percentile(p));
        let largest = self.gaps.last().map_or(String::new(), |gap| format!(" of at most {:.1} %", gap * 100.0));
        format!(
            "selection: {} optimal, {} with a gap{largest}, {} greedy; ms per function p50 {p50:.3}, p90 {p90:.3}, \
             p99 {p99:.3}, max {max:.3}\n",
            self.optimal,
            self.gaps.len(),
            self.greedy
        )
    }
}
