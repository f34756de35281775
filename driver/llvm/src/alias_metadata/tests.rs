use super::*;

/// Types as clang writes them for C: `struct S { int a; float b; }; struct T { S s; int c; }`, `union`s as `char`, and C++'s.
const TYPES: &str = r#"
  store i32 1, ptr %p, !tbaa !20
!0 = !{!"Simple C/C++ TBAA"}
!1 = !{!"omnipotent char", !0, i64 0}
!2 = !{!"int", !1, i64 0}
!3 = !{!"float", !1, i64 0}
!4 = !{!"S", !2, i64 0, !3, i64 4}
!5 = !{!"T", !4, i64 0, !2, i64 8}
!6 = !{!"any pointer", !1, i64 0}
!7 = !{!"p1 int", !6, i64 0}
!8 = !{!"p1 float", !6, i64 0}
!9 = !{!"vtable pointer", !0, i64 0}
!10 = !{!"Other", !2, i64 0, !3, i64 4}
!11 = !{!"Rust"}
!12 = !{!"int", !11, i64 0}
!13 = !{!"int", !1, i64 0}
!14 = distinct !{!"int", !1, i64 0}
!15 = !{!"loop", !16, i64 0}
!16 = !{!"loop", !15, i64 0}
!17 = !{!2, i64 4, !"int", !2, i64 0, i64 4}
!18 = !{!"B", !3, i64 4, !2, i64 0}
!20 = !{!2, !2, i64 0}
!21 = !{!3, !3, i64 0}
!22 = !{!1, !1, i64 0}
!23 = !{!4, !2, i64 0}
!24 = !{!4, !3, i64 4}
!25 = !{!5, !2, i64 0}
!26 = !{!5, !3, i64 4}
!27 = !{!5, !2, i64 8}
!28 = !{!6, !6, i64 0}
!29 = !{!7, !7, i64 0}
!30 = !{!8, !8, i64 0}
!31 = !{!9, !9, i64 0}
!32 = !{!10, !2, i64 0}
!33 = !{!12, !12, i64 0}
!34 = !{!13, !13, i64 0, i64 1}
!35 = !{!14, !14, i64 0}
!36 = !{!15, !15, i64 0}
!37 = !{!17, !17, i64 0}
!38 = !{!18, !3, i64 4}
!39 = !{!2, !2}
!40 = !{!2, !2, i64 0, i64 7}
!41 = !{!4, !4, i64 0}
!42 = !{!"int", !1}
!43 = !{!42, !42, i64 0}
!44 = !{!2, !{!"int"}, i64 0}
!45 = !{!46, !2, i64 0}
!46 = !{!"Late", !2, i64 4}
"#;

/// Are accesses of two tags known not to alias, in either order?
fn differ(a: u32, b: u32) -> bool {
    let texts = nodes(TYPES);
    let mut metadata = AliasMetadata::new(&texts);
    let [a, b] = [a, b].map(|tag| metadata.access(&[("!tbaa".into(), format!("!{tag}"))]));
    let found = [metadata.no_alias(&a, &b), metadata.no_alias(&b, &a)];
    assert_eq!(found[0], found[1]);
    found[0] == Some(NoAlias::Types)
}

#[test]
fn types_that_do_not_alias() {
    // Scalars; members of one structure, and of others; a member and a scalar of another type.
    for (a, b) in [(20, 21), (23, 24), (25, 27), (25, 26), (23, 32), (23, 27), (24, 25), (23, 21), (26, 20)] {
        assert!(differ(a, b), "{a} {b}");
    }
    // Pointers, those to different types, and those that only the language knows.
    for (a, b) in [(28, 20), (29, 30), (31, 22), (31, 20), (31, 28), (35, 20), (43, 20)] {
        assert!(differ(a, b), "{a} {b}");
    }
}

#[test]
fn types_that_alias() {
    for (a, b) in [
        (20, 20),
        // Anything and `char`, and pointers and `any pointer`.
        (22, 20),
        (22, 24),
        (22, 29),
        (28, 29),
        // A member, and a scalar of its type.
        (23, 20),
        (25, 20),
        (27, 20),
        // A member of a structure, as one of a larger one.
        (23, 25),
        (24, 26),
        // Other roots, and nodes that say the same.
        (33, 20),
        (33, 21),
        (34, 20),
    ] {
        assert!(!differ(a, b), "{a} {b}");
    }
    // What is not understood: cycles, the new format, members out of order or before the first, no tag.
    for odd in [36, 37, 38, 39, 40, 41, 44, 45, 99] {
        for other in [20, 21, 24, 33] {
            assert!(!differ(odd, other), "{odd} {other}");
        }
    }
}

const SCOPES: &str = r#"
  store i32 1, ptr %p, !noalias !20
!0 = distinct !{!0, !"one"}
!1 = distinct !{!1, !"two"}
!2 = distinct !{!2, !0, !"one: a"}
!3 = distinct !{!3, !0, !"one: b"}
!4 = distinct !{!4, !1, !"two: a"}
!5 = distinct !{!5, !"no domain"}
!20 = !{!2}
!21 = !{!3}
!22 = !{!2, !3}
!23 = !{!2, !4}
!24 = !{!4}
!25 = !{!2, !5}
!26 = !{}
!27 = !{!2, i64 1}
!28 = !{!2, !3, !4}
"#;

fn apart_by_scopes(scopes: u32, noalias: u32) -> usize {
    let texts = nodes(SCOPES);
    let mut metadata = AliasMetadata::new(&texts);
    let of = metadata.access(&[("!alias.scope".into(), format!("!{scopes}"))]);
    let not = metadata.access(&[("!noalias".into(), format!("!{noalias}"))]);
    let found = [metadata.no_alias(&of, &not), metadata.no_alias(&not, &of)];
    assert_eq!(found[0], found[1]);
    match &found[0] {
        None => 0,
        Some(NoAlias::Scopes(domains)) => domains.len(),
        Some(NoAlias::Types) => panic!("no types"),
    }
}

#[test]
fn scopes_that_do_not_alias() {
    for (scopes, noalias, domains) in [
        (20, 20, 1),
        (20, 22, 1),
        (22, 20, 0),
        (22, 22, 1),
        (20, 21, 0),
        // One domain is enough.
        (23, 20, 1),
        (23, 24, 1),
        (23, 21, 0),
        (23, 28, 2),
        (22, 23, 0),
        (28, 23, 1),
        // Nothing is said.
        (20, 26, 0),
        (26, 20, 0),
        (26, 26, 0),
        // What is not understood.
        (25, 20, 0),
        (20, 25, 0),
        (27, 27, 0),
        (20, 99, 0),
    ] {
        assert_eq!(apart_by_scopes(scopes, noalias), domains, "{scopes} {noalias}");
    }
}

#[test]
fn files_that_say_nothing_have_no_nodes() {
    assert!(nodes("!0 = !{!\"a\"}\n").is_empty());
    let text: String = (0..100_000).map(|n| format!("!{n} = !{{!\"t\", !{}}}\n", n + 1)).collect();
    let texts = nodes(&format!("  load i32, ptr %p, !tbaa !0\n{text}"));
    let mut metadata = AliasMetadata::new(&texts);
    assert_eq!(metadata.access(&[("!tbaa".into(), "!0".into())]), Access::default());
    for end in (0..TYPES.len()).chain(0..SCOPES.len()) {
        for text in [TYPES, SCOPES] {
            let texts = nodes(text.get(..end).unwrap_or(text));
            let mut metadata = AliasMetadata::new(&texts);
            metadata.access(&[("!tbaa".into(), "!24".into()), ("!noalias".into(), "!23".into())]);
        }
    }
}
