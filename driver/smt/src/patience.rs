//! How long an answer of another process is waited for.
//!
//! The work of a process is limited in its own steps where it counts them, and else in its processor time, so that a
//! busy machine changes no verdict. A process that does nothing at all for [`IDLE`] will not answer.
//!
//! **Invariant**: waiting ends, whatever the process does.

use std::time::{Duration, Instant};

/// Time in which a process that is to answer must have done something.
pub(super) const IDLE: Duration = Duration::from_secs(10);

/// How long to wait before looking at the process again.
pub(super) const SLICE: Duration = Duration::from_millis(250);

/// Clock ticks per second in `/proc`: the same on all of Linux's platforms.
const TICKS: u64 = 100;

/// Where `user` and `system` stand in `/proc/PID/stat` behind the name, and the times of ended children.
const TIMES: std::ops::Range<usize> = 11..15;

/// Waiting for a process.
pub(super) struct Patience {
    process: u32,
    most: Duration,
    /// Processor time when waiting began; `None` where the system does not say.
    began: Option<Duration>,
    /// Processor time when it last changed, and when that was.
    last: (Option<Duration>, Instant),
    start: Instant,
}

impl Patience {
    /// Waits for a process for at most this much of its processor time.
    pub(super) fn new(process: u32, most: Duration) -> Self {
        let (now, start) = (processor_time(process), Instant::now());
        Patience { process, most, began: now, last: (now, start), start }
    }

    /// How long was waited in vain, if waiting is over.
    pub(super) fn ended(&mut self) -> Option<Duration> {
        let now = processor_time(self.process);
        if now != self.last.0 {
            self.last = (now, Instant::now());
        }
        let worked = match (now, self.began) {
            (Some(now), Some(began)) => now.saturating_sub(began),
            _ => self.start.elapsed(),
        };
        let idle = self.last.1.elapsed();
        if worked >= self.most {
            return Some(self.most);
        }
        let idle_most = IDLE.min(self.most);
        (now.is_some() && idle >= idle_most).then_some(idle_most)
    }
}

/// Processor time of a process and all that it has started.
pub(super) fn processor_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name stands in brackets and may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(TIMES)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    let own = Duration::from_millis(ticks * 1000 / TICKS);
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let below = children.split_whitespace().filter_map(|child| processor_time(child.parse().ok()?));
    Some(own + below.sum::<Duration>())
}
