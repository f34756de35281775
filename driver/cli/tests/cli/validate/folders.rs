//! `validate` of two folders: files are paired by their names, and those without a partner are said.

use super::report;
use crate::ran::rewright;
use std::fs;
use std::os::unix::fs::symlink;

const F: &str = "define i32 @f(i32 %x) {\n  %y = mul i32 %x, 2\n  ret i32 %y\n}\n";
const CLIF: &str = "function %c(i32) -> i32 {\nblock0(v0: i32):\n    return v0\n}\n";
const MLIR: &str = "func.func @m(%x: f32) -> f32 {\n  return %x : f32\n}\n";

fn folders() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let shifted = F.replace("mul i32 %x, 2", "shl i32 %x, 1");
    for (name, text) in [
        ("old/a.ll", F),
        ("new/a.ll", &shifted),
        ("old/deep/b c.ll", F),
        ("new/deep/b c.ll", F),
        ("old/c.clif", CLIF),
        ("new/c.clif", CLIF),
        ("old/m.mlir", MLIR),
        ("new/m.mlir", MLIR),
        ("old/gone.ll", F),
        ("new/come.mlir", MLIR),
        ("old/README", "text"),
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    symlink("deep", dir.path().join("old/link")).unwrap();
    symlink("deep", dir.path().join("new/link")).unwrap();
    dir
}

#[test]
fn files_are_paired_by_their_names() {
    let dir = folders();
    let ran = rewright(dir.path(), "validate old new --method refined --format json");
    let found = report(&ran);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let all = found["functions"].as_array().unwrap();
    let said: Vec<[&str; 3]> =
        all.iter().map(|f| ["file", "function", "verdict"].map(|key| f[key].as_str().unwrap())).collect();
    let expected = [
        ["a.ll", "@f", "proved"],
        ["c.clif", "%c", "proved"],
        ["m.mlir", "m", "proved"],
        ["gone.ll", "@f", "unknown"],
        ["come.mlir", "m", "unknown"],
    ];
    assert_eq!((said, found["unchanged"].as_u64()), (expected.to_vec(), Some(2)), "{found}");
    let files = &found["files"];
    assert_eq!(files["only_first"], serde_json::json!(["gone.ll"]));
    assert_eq!(files["only_second"], serde_json::json!(["come.mlir"]));
    let counts = &found["counts"];
    assert_eq!((counts["only_first"].as_u64(), counts["only_second"].as_u64()), (Some(1), Some(1)));
    assert!(ran.stderr.contains("note: 1 other file is in no language that is compared here"), "{ran:?}");
    let text = rewright(dir.path(), "validate old new --method refined --require proved");
    assert_eq!(text.code, Some(1));
    for line in
        ["a.ll:\n@f: proved (by a solver)\n", "gone.ll: only the first folder has it\n", "come.mlir: only the second"]
    {
        assert!(text.stdout.contains(line), "{line}: {}", text.stdout);
    }
}

#[test]
fn a_file_that_cannot_be_read_does_not_stop_the_others() {
    let dir = folders();
    fs::write(dir.path().join("new/deep/b c.ll"), &F[..40]).unwrap();
    let ran = rewright(dir.path(), "validate old new --method refined --format json");
    let found = report(&ran);
    assert!(ran.code == Some(2) && ran.stderr.contains("deep/b c.ll: 1:1: the body of @f"), "{ran:?}");
    assert_eq!(found["files"]["failed"].as_array().unwrap().len(), 2, "the link leads there, too: {found}");
    assert_eq!(found["counts"]["proved"], 3);
    let text = rewright(dir.path(), "validate old new --method refined").stdout;
    assert!(text.contains("deep/b c.ll: not compared: ") && text.contains("the body of @f"), "{text}");
    assert!(text.contains("5 files (2 more files not compared), 0 functions unchanged, 5 others: 3 proved"), "{text}");
    // A refutation elsewhere matters more.
    fs::write(dir.path().join("new/a.ll"), F.replace("mul i32 %x, 2", "shl i32 %x, 2")).unwrap();
    assert_eq!(rewright(dir.path(), "validate old new --method replayed").code, Some(1));
}

#[test]
fn what_is_no_pair_is_refused() {
    let dir = folders();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::create_dir(dir.path().join("other")).unwrap();
    fs::write(dir.path().join("other/z.ll"), F).unwrap();
    fs::write(dir.path().join("none.ll"), "declare void @f()\n").unwrap();
    for (line, says) in [
        ("validate old new/a.ll", "old is a folder and new/a.ll is none"),
        ("validate old/a.ll new", "new is a folder and old/a.ll is none"),
        ("validate old none", "old is a folder and none is none"),
        ("validate old empty", "have no file in common"),
        ("validate old other", "have no file in common"),
        ("validate empty", "holds no file that ends in `.ll`, `.mlir`, `.clif` or `.ir`"),
        (
            "validate old/a.ll new/c.clif",
            "old/a.ll is LLVM IR and new/c.clif is CLIF: two versions are in one language",
        ),
        ("validate - -", "`-` is standard input, which is one version only"),
        ("validate none.ll none.ll", "neither version has a function with a body"),
        ("validate old new --fn nowhere", "neither file defines @nowhere"),
        ("validate old/m.mlir new/m.mlir --method refined", "--method is for LLVM IR"),
        ("validate old/a.ll new/a.ll --assume n>=0", "--assume is about MLIR"),
        ("validate old/m.mlir", "no rules are about MLIR"),
    ] {
        let ran = rewright(dir.path(), line);
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{line}: {ran:?}");
    }
    // A function that some files have.
    let ran = rewright(dir.path(), "validate old new --fn m");
    assert!(ran.code == Some(0) && ran.stdout.contains("m: proved"), "{ran:?}");
}

#[test]
fn loops_of_links_are_said() {
    let dir = folders();
    symlink("..", dir.path().join("old/deep/up")).unwrap();
    let ran = rewright(dir.path(), "validate old new");
    assert!(ran.code == Some(2) && ran.stderr.contains("cannot list old"), "{ran:?}");
}
