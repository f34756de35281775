//! Loops of C through `std.loops`: programs print the same, loops go that are proved or promised to end, and the remarks
//! say what became of each. Wants clang 19 and opt 19 (`scripts/setup.sh`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::llvm::{lowered, prints, rewright, run_with, verify};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const OPTIMISE: [&str; 7] = ["opt", "--rules", "std", "--rules", "std.loops", "--remarks", "-o"];

/// By function: what the remarks say of its loops.
fn of_loops(said: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut function = String::new();
    for line in said.lines() {
        if let Some(name) = line.strip_prefix('@') {
            function = name.split(':').next().unwrap().to_string();
            found.insert(function.clone(), vec![]);
        } else if let Some(remark) = line.strip_prefix("  loop ") {
            let remark = remark.split_once(": ").unwrap().1;
            found.get_mut(&function).unwrap().push(remark.to_string());
        }
    }
    found
}

/// A latch of its own, which becomes one block with the loop's body, and a condition that becomes another one.
const TOLD: &str =
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-pc-linux-gnu\"
define void @own_latch(ptr %p, i32 %n, i32 %k) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %exit
body:
  %m = mul i32 %i, %k
  %z = sext i32 %i to i64
  %a = getelementptr inbounds i32, ptr %p, i64 %z
  store i32 %m, ptr %a, align 4
  br label %latch
latch:
  %j = add nsw i32 %i, 1
  br label %head, !llvm.loop !1
exit:
  ret void
}
define void @other_condition(ptr %p, i32 %n) {
entry:
  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %j, %body ]
  store volatile i32 %i, ptr %p, align 4
  %j = add i32 %i, 1
  %x = xor i32 %j, -1
  %y = xor i32 %n, -1
  %c = icmp eq i32 %x, %y
  br i1 %c, label %exit, label %body, !llvm.loop !4
exit:
  ret void
}
!1 = distinct !{!1, !2, !3}
!2 = !{!\"llvm.loop.mustprogress\"}
!3 = !{!\"llvm.loop.vectorize.enable\", i1 false}
!4 = distinct !{!4, !3}
";

#[test]
fn what_is_said_of_a_loop_stays_with_the_block_that_closes_it() {
    let dir = tempfile::tempdir().unwrap();
    let (before, after) = (dir.path().join("told.ll"), dir.path().join("out.ll"));
    fs::write(&before, TOLD).unwrap();
    rewright(&OPTIMISE, &before, &after);
    verify(&after);
    let text = fs::read_to_string(&after).unwrap();
    assert_ne!(text.matches("label %").count(), TOLD.matches("label %").count(), "a block has gone");
    let told: Vec<&str> = text.lines().filter(|line| line.contains("!llvm.loop !")).collect();
    assert!(
        matches!(told[..], [own, other] if own.ends_with("!llvm.loop !1") && other.ends_with("!llvm.loop !4")),
        "{text}"
    );
}

#[test]
fn loops_of_c_print_the_same() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/loops/program.c");
    for early in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let before = lowered(&dir, &program, early, false);
        let after = dir.path().join("out.ll");
        let said = rewright(&OPTIMISE, &before, &after);
        verify(&after);
        let expected = prints(&dir, &before, "-O0");
        for level in ["-O0", "-O2"] {
            assert_eq!(prints(&dir, &after, level), expected, "{level}, early: {early}");
        }
        if early {
            continue;
        }
        let loops = of_loops(&said);
        let gone = |remarks: &Vec<String>| remarks.iter().all(|remark| remark.ends_with("; is gone"));
        let without: Vec<&str> = loops
            .iter()
            .filter(|(_, remarks)| !remarks.is_empty() && gone(remarks))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(
            without,
            [
                "assigned",
                "but_last",
                "closed",
                "constant_trips",
                "do_loop",
                "exact",
                "nested",
                "pyramid",
                "set",
                "set_down",
                "signed_down",
                "to_zero",
                "triangle",
                "unsigned_down"
            ]
        );
        let because = |function: &str| loops[function][0].split("stays: ").last().unwrap().to_string();
        assert_eq!(loops["closed"], ["carries 2 sum; goes on while icmp_slt holds, and ends; is gone"]);
        assert_eq!(loops["exact"], ["carries 3 sum; must end, or have an effect; is gone"]);
        assert_eq!(loops["constant_trips"], ["carries 2 sum; goes on 22 times; is gone"]);
        assert_eq!(because("two_exits"), "it has several exits");
        assert_eq!(because("stays"), "it has effects, or may trap");
        assert_eq!(because("backwards"), "what it leaves behind has no other form");
        assert!(loops["powers"][0].contains("gets 1 product"), "{:?}", loops["powers"]);
        assert!(loops["addresses"][0].contains("gets 1 sum"), "{:?}", loops["addresses"]);
    }
}

const HEAD: &str =
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-pc-linux-gnu\"
";

/// Its result is not needed, but its step is even and its bound is met exactly, so nothing proves that it ends.
const MAY_NOT_END: &str = "
define i32 @f(i32 %n, i32 %x, ptr %p) #0 {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %body ]
  %s = phi i32 [ %x, %entry ], [ %t, %body ]
  %c = icmp ne i32 %i, %n
  br i1 %c, label %body, label %exit
body:
  %v = load i32, ptr %p, align 4
  %t = add i32 %s, %v
  %j = add i32 %i, 2
  br label %head, !llvm.loop !1
exit:
  %z = sub i32 %s, %s
  %r = add i32 %z, %x
  ret i32 %r
}
";

/// Attributes of the function and of its loop.
const LICENCES: [(&str, &str); 3] = [
    ("nounwind mustprogress", "!1 = distinct !{!1}"),
    ("nounwind willreturn", "!1 = distinct !{!1}"),
    ("nounwind", "!1 = distinct !{!1, !2}\n!2 = !{!\"llvm.loop.mustprogress\"}"),
];

/// What the remarks say of the only loop, and whether it is there afterwards.
fn licensed(function: &str, (attributes, metadata): (&str, &str)) -> (String, bool) {
    let dir = tempfile::tempdir().unwrap();
    let (before, after) = (dir.path().join("in.ll"), dir.path().join("out.ll"));
    fs::write(&before, format!("{HEAD}{function}\nattributes #0 = {{ {attributes} }}\n{metadata}\n")).unwrap();
    verify(&before);
    let said = rewright(&OPTIMISE, &before, &after);
    verify(&after);
    let remarks = of_loops(&said)["f"].clone();
    (remarks[0].clone(), fs::read_to_string(&after).unwrap().contains(" = phi "))
}

#[test]
fn a_licence_lets_a_loop_go_that_nothing_proves_to_end() {
    for licence in LICENCES {
        let (said, there) = licensed(MAY_NOT_END, licence);
        assert_eq!(said, "carries 2 sum; must end, or have an effect; is gone", "{licence:?}");
        assert!(!there, "{licence:?}");
    }
}

#[test]
fn without_a_licence_it_stays() {
    let kept = "carries 2 sum; stays: it, or a loop in it, is not known to end";
    for licence in [
        ("nounwind", "!1 = distinct !{!1}"),
        ("nounwind", "!1 = distinct !{!1, !2}\n!2 = !{!\"llvm.loop.unroll.disable\"}"),
        ("nounwind", "!1 = distinct !{!1, !2}\n!2 = !{!\"llvm.loop.mustprogress\", i1 false}"),
        ("nounwind nosync memory(argmem: read)", "!1 = distinct !{!1}"),
    ] {
        assert_eq!(licensed(MAY_NOT_END, licence), (kept.to_string(), true), "{licence:?}");
    }
    // The licence is another loop's.
    let other = MAY_NOT_END.replace(", !llvm.loop !1", "");
    assert_eq!(licensed(&other, LICENCES[2]), (kept.to_string(), true));
}

/// An access that other code may see, or a call that may not return, is an effect.
#[test]
fn an_effect_keeps_a_licensed_loop() {
    let load = "%v = load i32, ptr %p, align 4";
    let declared = "declare i32 @g(i32) nounwind memory(none)\n";
    let stored = "%v = load i32, ptr %p, align 4\n  store i32 %s, ptr %p, align 4";
    for effect in [
        "%v = load volatile i32, ptr %p, align 4",
        "%v = load atomic i32, ptr %p monotonic, align 4",
        stored,
        "%v = load i32, ptr %p, align 4\n  fence seq_cst",
        "%v = call i32 @g(i32 %s)",
    ] {
        let function = format!("{declared}{}", MAY_NOT_END.replace(load, effect));
        for licence in LICENCES {
            let (said, there) = licensed(&function, licence);
            let because = match effect == stored {
                true => "it writes memory, and no rule can say what it leaves behind there",
                false => "it has effects, or may trap",
            };
            assert!(there && said.ends_with(&format!("stays: {because}")), "{effect}, {licence:?}: {said}");
        }
    }
}

/// A licence says that reaching an endless loop is undefined. It does not say what the counter is before it or behind it.
#[test]
fn nothing_else_follows_from_a_licence() {
    let used = MAY_NOT_END.replace("%r = add i32 %z, %x", "%r = add i32 %z, %i");
    for licence in LICENCES {
        let (said, there) = licensed(&used, licence);
        assert!(there && said.ends_with("stays: what it leaves behind has no other form"), "{said}");
    }
}

#[test]
fn loops_become_calls_where_rules_say_what_they_leave_in_memory() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/loops");
    let dir = tempfile::tempdir().unwrap();
    let before = lowered(&dir, &tests.join("outlined.c"), false, false);
    let (after, pack) = (dir.path().join("out.ll"), tests.join("outlined.rw"));
    let pack = pack.to_str().unwrap();
    let said = rewright(
        &["opt", "--rules", "std", "--rules", "std.loops", "--rules", pack, "--remarks", "-o"],
        &before,
        &after,
    );
    verify(&after);
    let of = |ir: &Path, level: &str| run_with(&tests.join("library.c"), ir, level).stdout;
    let expected = of(&before, "-O0");
    for level in ["-O0", "-O2"] {
        assert_eq!(String::from_utf8(of(&after, level)), String::from_utf8(expected.clone()), "{level}");
    }
    let text = fs::read_to_string(&after).unwrap();
    let body = |name: &str| text.split("define ").find(|part| part.contains(&format!("@{name}("))).unwrap();
    let loops = of_loops(&said);
    for (name, call) in [
        ("fill", "@fill64"),
        ("fill_from", "@fill64"),
        ("fill_last", "@fill64"),
        ("copy", "@copy64"),
        ("matrix", "@fill64"),
    ] {
        let body = body(name);
        assert!(
            body.matches("call void").count() == 1 && body.contains(call) && !body.contains("br "),
            "{body}\n{said}"
        );
        assert!(loops[name][0].ends_with("is gone"), "{:?}", loops[name]);
    }
    // The value that the loop leaves behind, and one that is read there.
    assert!(body("counted").contains("@fill64") && !body("counted").contains("br "), "{}", body("counted"));
    assert!(!body("unchanged").contains("store") && !body("unchanged").contains("br "), "{}", body("unchanged"));
    for name in ["varies", "two", "apart", "gaps", "conditional", "finds", "of_itself"] {
        assert!(body(name).contains("br i1") && !loops[name][0].ends_with("is gone"), "{name}: {:?}", loops[name]);
    }
    // Inner loops are calls, too.
    assert!(body("gaps").contains("@fill64"), "{}", body("gaps"));
}

#[test]
fn bench_counts_what_is_executed() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/loops/endings.clif");
    let bench = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
        let output = command.args(["bench", "--loops"]).arg(&file).args(more).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let json: serde_json::Value = serde_json::from_str(&bench(&["--format", "json"])).unwrap();
    let functions = json["files"][0]["functions"].as_array().unwrap();
    let of = |name: &str| functions.iter().find(|function| function["name"] == name).unwrap();
    let executed = |name: &str| ["before", "without", "with_loops"].map(|v| of(name)["executed"][v].as_u64().unwrap());
    let [before, without, with] = executed("%entire");
    assert!(before >= without && without > with && with < 10, "{before} {without} {with}");
    assert_eq!(of("%entire")["loops"], serde_json::json!({ "before": 1, "without": 1, "with_loops": 0 }));
    // It stays, behind a loop of several iterations in one.
    assert_eq!(of("%two_exits")["loops"]["with_loops"], 2);
    assert!(functions.iter().all(|function| function["same"] == true && function["problem"].is_null()));
    let text = bench(&[]);
    assert!(text.contains("%entire") && text.contains(" executed ") && text.contains(" of processor time"), "{text}");
}
