//! Builds the library that makes a program wait before its `main` (`src/fork_server.c`), which the wrapper carries
//! in itself. Where it cannot be built, an empty file takes its place, and each program is started when it is asked
//! for.

use std::path::Path;
use std::process::Command;

const SOURCE: &str = "src/fork_server.c";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-env-changed=CC");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let library = Path::new(&variable("OUT_DIR")).join("fork_server.so");
    let here = variable("HOST") == variable("TARGET");
    let built = here && variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu" && {
        let compiler = Some(variable("CC")).filter(|c| !c.is_empty()).unwrap_or_else(|| "cc".into());
        let mut command = Command::new(compiler);
        command.args(["-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o"]).arg(&library).arg(SOURCE);
        command.status().is_ok_and(|status| status.success())
    };
    if !built {
        println!("cargo::warning={SOURCE} is not built: compilers are not started ahead");
        if let Err(error) = std::fs::write(&library, "") {
            println!("cargo::error=cannot write {}: {error}", library.display());
        }
    }
}
