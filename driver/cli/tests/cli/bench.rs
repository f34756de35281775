//! `bench`: its curves as a page, and what it says of files with nothing in them.

use crate::ran::rewright;
use std::fs;

const FUNCTION: &str = "function %f(i32, i32) -> i32 {\nblock0(v0: i32, v1: i32):\n    v2 = iadd v0, v1\n    v3 = isub v2, v1\n    \
                        return v3\n}\n; run: %f(1, 2) == 1\n";

#[test]
fn curves_are_drawn_beside_cranelift() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), FUNCTION).unwrap();
    for (what, title, series) in [
        ("--curve 30 --repeat 1", "Time from text to text", 2),
        ("--long 10,20 --seeds 2", "Cost per function", 3),
        ("f.clif --repeat 1", "Cost by function", 3),
    ] {
        let ran = rewright(dir.path(), &format!("bench {what} --report page.html --threads 1"));
        assert!(ran.code == Some(0) && !ran.stdout.is_empty(), "{ran:?}");
        let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
        let figure = page.split("<figure>").find(|figure| figure.contains(title)).unwrap();
        assert!(
            figure.contains("<svg") && figure.contains("Cranelift's mid-end") && figure.contains("Rewright"),
            "{page}"
        );
        assert_eq!(figure.matches("swatch").count(), series, "{figure}");
        assert!(figure.contains("<circle") && !page.contains("NaN") && !page.contains("<script"), "{figure}");
        let json = rewright(dir.path(), &format!("bench {what} --format json --threads 1")).stdout;
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    }
    let ran = rewright(dir.path(), "bench --loops f.clif --report page.html");
    assert!(ran.code == Some(2) && ran.stderr.contains("--report"), "{ran:?}");
    let ran = rewright(dir.path(), "bench f.clif --report no/such/folder.html");
    assert!(ran.code == Some(2) && ran.stderr.contains("no/such"), "{ran:?}");
}

#[test]
fn files_without_functions_are_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.clif"), FUNCTION).unwrap();
    fs::write(dir.path().join("empty.clif"), "; nothing\n").unwrap();
    let ran = rewright(dir.path(), "bench --loops empty.clif f.clif");
    assert!(ran.code == Some(0) && ran.stderr.contains("warning: empty.clif has no functions"), "{ran:?}");
}
