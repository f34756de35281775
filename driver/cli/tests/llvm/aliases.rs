//! Accesses that metadata say do not alias: loads are forwarded across stores that they do not see, and nothing else is.

use super::{opcodes, prints, rewright, run, verify};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Tags 20 to 23 are of `int`, `float`, `char` and `long`; 24 and 25 of the members of a structure of an `int` and a `float`,
/// 26 and 27 of those of a larger one that begins with it and has an `int` after it. Scopes 42 and 43 are of one domain.
const TYPES: &str = r#"
!0 = !{!"root"}
!1 = !{!"omnipotent char", !0, i64 0}
!2 = !{!"int", !1, i64 0}
!3 = !{!"float", !1, i64 0}
!4 = !{!"long", !1, i64 0}
!5 = !{!"S", !2, i64 0, !3, i64 4}
!6 = !{!"T", !5, i64 0, !2, i64 8}
!20 = !{!2, !2, i64 0}
!21 = !{!3, !3, i64 0}
!22 = !{!1, !1, i64 0}
!23 = !{!4, !4, i64 0}
!24 = !{!5, !2, i64 0}
!25 = !{!5, !3, i64 4}
!26 = !{!6, !2, i64 0}
!27 = !{!6, !2, i64 8}
!30 = distinct !{!30, !"f"}
!32 = distinct !{!32, !30, !"f: a"}
!33 = distinct !{!33, !30, !"f: b"}
!42 = !{!32}
!43 = !{!33}
"#;

/// A file with a function `@f`.
fn file(dir: &TempDir, function: &str) -> std::path::PathBuf {
    let text = format!(
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
         target triple = \"x86_64-pc-linux-gnu\"\n\
         declare void @llvm.experimental.noalias.scope.decl(metadata) #0\n\
         declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1) #1\n{function}\n\
         attributes #0 = {{ nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }}\n\
         attributes #1 = {{ nocallback nofree nounwind willreturn memory(argmem: readwrite) }}\n{TYPES}"
    );
    let path = dir.path().join("f.ll");
    fs::write(&path, text).unwrap();
    verify(&path);
    path
}

/// The opcodes of a function by block when rules have seen it.
fn written(function: &str) -> Vec<Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let (before, after) = (file(&dir, function), dir.path().join("out.ll"));
    rewright(&["opt", "-o"], &before, &after);
    verify(&after);
    opcodes(&after, "f")
}

/// How many loads and stores it has then.
fn left(function: &str) -> [usize; 2] {
    let blocks = written(function);
    ["load", "store"].map(|code| blocks.iter().flatten().filter(|other| *other == code).count())
}

/// A store of an `int`, a store through another pointer, and a load where the first one was.
fn across(first: &str, between: &str, load: &str) -> String {
    format!(
        "define i32 @f(ptr %p, ptr %q, i32 noundef %v) {{\n  store i32 %v, ptr %p, align 4{first}\n{between}  \
         %x = load i32, ptr %p, align 4{load}\n  ret i32 %x\n}}"
    )
}

fn store(metadata: &str) -> String {
    format!("  store i32 1, ptr %q, align 4{metadata}\n")
}

#[test]
fn loads_are_forwarded_across_other_types() {
    for (first, between, load, loads) in [
        (20, 21, 20, 0),
        (20, 20, 20, 1),
        (20, 22, 20, 1),
        (22, 21, 20, 0),
        (20, 21, 22, 1),
        (24, 25, 24, 0),
        (24, 27, 24, 0),
        (24, 26, 24, 1),
        (20, 26, 24, 1),
        (26, 25, 24, 0),
        (27, 24, 27, 0),
        (20, 27, 20, 1),
    ] {
        let function =
            across(&format!(", !tbaa !{first}"), &store(&format!(", !tbaa !{between}")), &format!(", !tbaa !{load}"));
        assert_eq!(left(&function), [loads, 2], "{first} {between} {load}");
    }
    let untold = store("");
    assert_eq!(left(&across(", !tbaa !20", &untold, ", !tbaa !20")), [1, 2]);
    let copied = "  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 4, i1 false), !tbaa !21\n";
    assert_eq!(left(&across(", !tbaa !20", copied, ", !tbaa !20")), [1, 1]);
}

#[test]
fn loads_are_forwarded_across_other_scopes() {
    let [of, not] = [", !alias.scope !42", ", !noalias !42"];
    assert_eq!(left(&across("", &store(not), of)), [0, 2]);
    assert_eq!(left(&across("", &store(of), not)), [0, 2]);
    assert_eq!(left(&across("", &store(of), of)), [1, 2]);
    assert_eq!(left(&across("", &store(", !alias.scope !43"), not)), [1, 2]);
    let declared = "  call void @llvm.experimental.noalias.scope.decl(metadata !42)\n";
    assert_eq!(left(&across("", &format!("{declared}{}", store(not)), of)), [0, 2]);
    assert_eq!(left(&across("", &format!("{}{declared}", store(not)), of)), [1, 2]);
}

/// The load is of the iteration's own scope: the store of the iteration before may have been there.
#[test]
fn scopes_end_with_their_iteration() {
    let around = |declared: &str, inner: &str| {
        format!(
            "define i32 @f(ptr %p, ptr %q, i32 noundef %v) {{\n  store i32 %v, ptr %p, align 4\n  br label %l\nl:\n  \
             %i = phi i32 [ 0, %0 ], [ %j, %l ]\n{declared}{inner}  %j = add i32 %i, 1\n  %c = icmp slt i32 %j, %v\n  \
             br i1 %c, label %l, label %e\ne:\n  ret i32 %x\n}}"
        )
    };
    let declared = "  call void @llvm.experimental.noalias.scope.decl(metadata !42)\n";
    let load = "  %x = load i32, ptr %p, align 4, !alias.scope !42\n";
    let stored = store(", !noalias !42");
    for declared in [declared, ""] {
        assert_eq!(left(&around(declared, &format!("{load}{stored}"))), [1, 2]);
        assert_eq!(left(&around(declared, &format!("{stored}{load}"))), [1, 2]);
    }
    let [typed, other] = ["  %x = load i32, ptr %p, align 4, !tbaa !20\n".to_string(), store(", !tbaa !21")];
    assert_eq!(left(&around("", &format!("{typed}{other}"))), [0, 2], "what is of another type never was there");
}

/// Memory may change its type by a store.
#[test]
fn what_was_loaded_is_not_loaded_again_and_stores_stay() {
    let thrice = "define void @f(ptr %p, float %v) {\n  store float %v, ptr %p, align 4, !tbaa !21\n  \
                  %x = load float, ptr %p, align 4, !tbaa !21\n  store i32 1, ptr %p, align 4, !tbaa !20\n  \
                  store float %x, ptr %p, align 4, !tbaa !21\n  ret void\n}";
    assert_eq!(left(thrice), [0, 1], "the last one");
    let back = "define void @f(ptr %p, ptr %q) {\n  %x = load float, ptr %p, align 4, !tbaa !21\n  \
                store i32 1, ptr %q, align 4, !tbaa !20\n  store float %x, ptr %p, align 4, !tbaa !21\n  ret void\n}";
    assert_eq!(left(back), [1, 2]);
    // The first store is dead, and the load stays what it was.
    let over = "define i32 @f(ptr %p, ptr %q) {\n  store float 1.0, ptr %q, align 4, !tbaa !21\n  \
                %x = load i32, ptr %p, align 4, !tbaa !20\n  store float 2.0, ptr %q, align 4, !tbaa !21\n  ret i32 %x\n}";
    assert_eq!(written(over), [["load", "store", "ret"]]);
    // The load is executed in front of the store, in every way to write the sum.
    let sum = "define i64 @f(ptr %p, ptr %q, i1 %c) {\n  %x = load i64, ptr %p, align 8, !tbaa !23\n  \
               store i32 7, ptr %q, align 4, !tbaa !20\n  br i1 %c, label %a, label %b\na:\n  %y = mul i64 %x, 3\n  \
               %z = add i64 %y, %x\n  ret i64 %z\nb:\n  ret i64 0\n}";
    assert_eq!(written(sum), [vec!["load", "store", "br"], vec!["shl", "ret"], vec!["ret"]]);
}

/// One arm reads what the other one does not see.
#[test]
fn loads_of_two_types_are_not_one() {
    let arms = "define i64 @f(ptr %p, ptr %q, i64 noundef %v, i1 %c) {\n  store i64 %v, ptr %p, align 8, !tbaa !23\n  \
                store i64 7, ptr %q, align 8, !tbaa !20\n  br i1 %c, label %a, label %b\na:\n  \
                %x = load i64, ptr %p, align 8, !tbaa !23\n  ret i64 %x\nb:\n  \
                %y = load i64, ptr %p, align 8, !tbaa !20\n  ret i64 %y\n}";
    assert_eq!(left(arms), [1, 2]);
    let dir = tempfile::tempdir().unwrap();
    let (before, after) = (file(&dir, arms), dir.path().join("out.ll"));
    rewright(&["opt", "-o"], &before, &after);
    let text = fs::read_to_string(&after).unwrap();
    let main = "define i32 @main() {\n  %s = alloca i64\n  %r = call i64 @f(ptr %s, ptr %s, i64 5, i1 false)\n  \
                %n = call i32 (ptr, ...) @printf(ptr @format, i64 %r)\n  ret i32 0\n}\ndeclare i32 @printf(ptr, ...)\n\
                @format = constant [4 x i8] c\"%ld\\00\"\n";
    fs::write(&after, format!("{text}{main}")).unwrap();
    assert_eq!(prints(&dir, &after, "-O0"), "7");
}

/// A program in C, as clang gives it.
#[test]
fn functions_of_c_are_forwarded() {
    let dir = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/aliases.c");
    let (raw, before, after) = (dir.path().join("raw.ll"), dir.path().join("in.ll"), dir.path().join("out.ll"));
    let mut clang = Command::new("clang-19");
    run(clang.args(["-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o"]).arg(&raw).arg(&program));
    run(Command::new("opt-19").args(["-S", "-passes=inline,function(sroa)"]).arg(&raw).arg("-o").arg(&before));
    rewright(&["opt", "-o"], &before, &after);
    let loads = |file: &Path, function: &str| {
        let blocks = opcodes(file, function);
        blocks.iter().flatten().filter(|code| *code == "load").count()
    };
    for (function, old, new) in [
        ("forwarded", 2, 1),
        ("stored", 1, 0),
        ("members", 1, 0),
        ("unrelated", 1, 0),
        ("inner", 1, 1),
        ("scalar", 1, 1),
        ("bytes", 1, 1),
        ("late", 1, 1),
        ("swapped", 2, 1),
    ] {
        assert_eq!([&before, &after].map(|file| loads(file, function)), [old, new], "{function}");
    }
}
