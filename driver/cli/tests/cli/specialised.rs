//! `--specialise`: functions with constants for some parameters, in own text and in CLIF.

use crate::ran::rewright;
use std::fs;

const OWN: &str = "func %f(%x: i64, %n: i64) -> i64 {
  br %n, times, plain
times:
  %a = imul %x, %n
  return %a
plain:
  return %x
}
";

const CLIF: &str = "test run
set opt_level=speed
target x86_64
function %f(i64, i64) -> i64 {
block0(v0: i64, v1: i64):
    brif v1, block1, block2
block1:
    v2 = imul v0, v1
    return v2
block2:
    return v0
}
; run: %f(3, 4) == 12
function %g(i64, f64, i8) -> i64 {
block0(v0: i64, v1: f64, v2: i8):
    v3 = fcvt_to_sint_sat.i64 v1
    v4 = iadd v0, v3
    return v4
}";

#[test]
fn specialised_functions_go_out_beside_general_ones_and_are_validated() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.ir"), OWN).unwrap();
    fs::write(dir.path().join("f.clif"), CLIF).unwrap();
    let ran = rewright(dir.path(), "opt f.ir --validate --remarks --specialise f(_,0) --specialise eight=f(_,8)");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: %f_1 is f(_,0)") && ran.stderr.contains("note: %eight is eight=f(_,8)"));
    assert!(ran.stderr.contains("3 proved, 0 refuted"), "{}", ran.stderr);
    assert!(ran.stdout.contains("imul") && ran.stdout.contains("ishl"), "{}", ran.stdout);
    // The general one is there as it would be without.
    let alone = rewright(dir.path(), "opt f.ir");
    assert!(ran.stdout.starts_with(alone.stdout.trim_end()), "{}\n{}", ran.stdout, alone.stdout);

    let ran = rewright(dir.path(), "opt f.clif --validate --specialise eight=f(_,8) --specialise g(_,-2.5,-1)");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("function %eight(i64) -> i64") && ran.stdout.contains("function %g_1(i64) -> i64"));
    assert!(ran.stdout.contains("; run: %f(3, 4) == 12"), "{}", ran.stdout);
    fs::write(dir.path().join("out.clif"), &ran.stdout).unwrap();
    let again = rewright(dir.path(), "opt out.clif");
    assert_eq!(again.code, Some(0), "{}", again.stderr);

    for (file, asked, called, says) in [
        ("f.ir", "eight=f(_,8)", "eight 5", "40"),
        ("f.ir", "f=f(_,8)", "f 5", "40"),
        ("f.clif", "eight=f(_,8)", "eight 5", "40"),
        ("f.clif", "g(_,-2.5,-1)", "g_1 5", "3"),
        ("f.clif", "f=f(6,_)", "f 5", "30"),
    ] {
        let ran = rewright(dir.path(), &format!("run {file} --specialise {asked} --fn {called}"));
        assert_eq!((ran.code, ran.stdout.trim()), (Some(0), says), "{file} {asked}: {}", ran.stderr);
    }
}

#[test]
fn requests_that_cannot_be_met_say_why() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.ir"), OWN).unwrap();
    fs::write(dir.path().join("f.clif"), CLIF).unwrap();
    fs::write(dir.path().join("f.ll"), "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n").unwrap();
    for (file, asked, says) in [
        ("f.ir", "h(1)", "there is no function h"),
        ("f.ir", "f(1)", "takes 2 arguments, 1 given"),
        ("f.ir", "f(_,_)", "no parameter of %f is given a constant"),
        ("f.ir", "f(1.5,_)", "1:3"),
        ("f.ir", "f", "expected a function and its arguments"),
        ("f.clif", "f(1)", "takes 2 arguments, 1 given"),
        ("f.clif", "g=f(_,1)", "there is a function %g already"),
        ("f.clif", "g(_,2,_)", "with a point"),
        ("f.clif", "g(_,_,300)", "parameter 3 is a `i8`"),
        ("f.ll", "f(1)", "for CLIF and Rewright's own text"),
    ] {
        let ran = rewright(dir.path(), &format!("opt {file} --specialise {asked}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{file} {asked}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{file} {asked}: {}", ran.stderr);
    }
}
