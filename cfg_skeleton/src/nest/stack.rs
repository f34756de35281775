//! A stack for what recurses as deep as values of a program depend on each other.

use std::thread::{Builder, scope};

/// For values that depend on each other in a chain as long as a file.
const STACK: usize = 1 << 30;

/// Does something on a stack of its own.
pub fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let mut work = Some(work);
    let mut run = || work.take().map(|work| work());
    let found = scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, &mut run).ok()?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    // Where there is not that much memory, on the current stack.
    found.or_else(run).unwrap_or_else(|| unreachable!("it is done once"))
}
