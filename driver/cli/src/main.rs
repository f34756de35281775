//! The one binary. Everything it does is in `rewright_cli`; it only exits.

use std::process::ExitCode;

/// An e-graph is many small tables that come and go; the system's allocator takes a quarter of the time of saturation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    rewright_cli::main()
}
