//! The one binary. Everything it does is in `rewright_driver::commands`; it only exits.

use std::process::ExitCode;

fn main() -> ExitCode {
    rewright_driver::commands::main()
}
