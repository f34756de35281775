//! Time that work takes, as this thread's time on a processor: what else the machine does is not counted.
//!
//! **Invariant**: a [`Deadline`] is asked on the thread that made it; other threads have clocks of their own.

use cpu_time::ThreadTime;
use std::time::Duration;

/// A point in this thread's processor time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Deadline(Duration);

impl Deadline {
    /// After this much more work.
    pub(crate) fn after(work: Duration) -> Deadline {
        Deadline(now() + work)
    }

    /// Work that is left until then.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_sub(now())
    }

    /// When this share of what is left is used up.
    pub(crate) fn share(self, share: f64) -> Deadline {
        Deadline::after(self.left().mul_f64(share.clamp(0.0, 1.0)))
    }

    /// Is nothing left?
    pub(crate) fn passed(self) -> bool {
        self.left().is_zero()
    }
}

/// This thread's processor time until now. Where the system has no such clock, none passes; counted limits remain.
pub fn now() -> Duration {
    ThreadTime::try_now().map_or(Duration::ZERO, |time| time.as_duration())
}

/// This thread's processor time since a point that [`now`] gave on it.
pub fn since(start: Duration) -> Duration {
    now().saturating_sub(start)
}
