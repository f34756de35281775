//! Panics of Cranelift as messages.
//!
//! Its reader, verifier and passes panic on some inputs. No input may end the process, so every call of them goes
//! through [`quietly`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// A panic of this thread is about to become a message: the hook prints nothing.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// A panic of such code: its message.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Panic(pub String);

/// Runs code of Cranelift. If it panics, the result is the panic, and nothing is printed.
///
/// # Errors
/// The panic.
pub fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(before);
    result.map_err(|payload| match payload.downcast::<String>() {
        Ok(message) => Panic(*message),
        Err(payload) => Panic(payload.downcast_ref::<&str>().map_or("unknown panic", |m| m).to_string()),
    })
}
