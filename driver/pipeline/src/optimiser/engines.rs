//! The engines of an optimiser. Preparing one costs milliseconds, so those that are not in use are kept.
//!
//! **Invariant**: an engine is in use by one thread at a time. Its results do not depend on what it was used for
//! before, so it does not matter which thread gets which one.

use rewright_engine::Engine;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Engines that are not in use, the one used last at the end; as many as threads have worked at once.
#[derive(Default)]
pub(super) struct Engines(Mutex<Vec<Engine>>);

impl Engines {
    /// Does some work with an engine that is free, or with a new one. One that panics is not used again.
    pub(super) fn with<T>(&self, new: impl FnOnce() -> Engine, work: impl FnOnce(&mut Engine) -> T) -> T {
        let free = self.free().pop();
        let mut engine = free.unwrap_or_else(new);
        let done = work(&mut engine);
        self.free().push(engine);
        done
    }

    fn free(&self) -> MutexGuard<'_, Vec<Engine>> {
        // Nothing panics while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
