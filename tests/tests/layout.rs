//! Every file of integration tests is part of its crate's one test binary.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders `tests` that have a `main.rs`, in all crates.
fn test_folders(top: &Path) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![top.to_path_buf()], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.is_dir())
        {
            let name = entry.file_name().expect("a name").to_string_lossy();
            if name.starts_with('.') || name == "target" || name == "src" {
                continue;
            }
            if name == "tests" && entry.join("main.rs").exists() {
                found.push(entry);
            } else {
                folders.push(entry);
            }
        }
    }
    found
}

#[test]
fn no_test_file_is_left_out() {
    let folders = test_folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    assert!(folders.len() > 2, "{folders:?}");
    for folder in folders {
        let main = fs::read_to_string(folder.join("main.rs")).unwrap();
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let module = entry.file_stem().unwrap().to_string_lossy();
            let is_module = entry.extension().is_some_and(|e| e == "rs") && module != "main";
            let is_named = main.lines().any(|line| line.trim_start_matches("pub ") == format!("mod {module};"));
            assert!(!is_module || is_named, "{} is not named in main.rs, so its tests do not run", entry.display());
        }
    }
}
