//! Links the C++ standard library statically where the compiler has it as an archive, so that the binary needs nothing
//! but the C library: HiGHS is written in C++, and its bindings ask for `libstdc++` in whatever form is found first.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CXX");
    let Some(archive) = archive() else { return Ok(()) };
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    // A folder with nothing else in it: the compiler's own folder also has the shared form, which would come first.
    let folder = out.join("static");
    fs::create_dir_all(&folder)?;
    fs::copy(archive, folder.join("libstdc++.a"))?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}

/// The static form of the C++ library that the compiler would link; none where it uses another library, or has only the
/// shared form.
fn archive() -> Option<PathBuf> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let output = Command::new(compiler).arg("-print-file-name=libstdc++.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // A compiler that knows none prints the bare name.
    (path.is_absolute() && Path::is_file(&path)).then_some(path)
}
