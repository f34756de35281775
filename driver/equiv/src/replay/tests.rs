//! Pairs of functions, and what running them on one input says.

use super::{Input, Replay, Replayer, candidates};
use rewright_llvm::module::{File, read};

const TARGET: &str = "target datalayout = \"e-m:e-p270:32:32-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n";

/// What a module of these lines is, with one function that takes `parameters` and gives `result`.
fn file(result: &str, parameters: &str, body: &str) -> File {
    let outside = "@g = global i32 7\n@k = constant i32 9\n@t = internal constant [3 x i8] c\"a\\00\\ff\"\n\
        declare i32 @ext(i32)\ndeclare void @note(ptr)\ndeclare i32 @pure(i32) memory(none) willreturn nounwind\n\
        declare void @stop() noreturn\ndeclare i32 @strlen(ptr)\n\
        define internal i32 @twice(i32 %x) {\n  %r = add i32 %x, %x\n  ret i32 %r\n}\n";
    read(format!("{TARGET}{outside}define {result} @f({parameters}) {{\nentry:\n{body}\n}}\n")).unwrap()
}

/// Runs two bodies on an input.
fn on(signature: (&str, &str), before: &str, after: &str, input: &str) -> Replay {
    let [before, after] = [before, after].map(|body| file(signature.0, signature.1, body));
    let input: Input = serde_json::from_str(input).unwrap();
    let definition = |file: &File| file.functions.iter().position(|f| f.name == "@f").unwrap();
    let (old, new) = (definition(&before), definition(&after));
    super::replay((&before, &before.functions[old]), (&after, &after.functions[new]), &input)
}

/// On arguments that are all of the input.
fn arguments(signature: (&str, &str), before: &str, after: &str, arguments: &str) -> Replay {
    on(signature, before, after, &format!("{{\"arguments\": {arguments}}}"))
}

fn differs(replay: &Replay) -> bool {
    matches!(replay, Replay::Differs(_))
}

/// A pointer that is not aligned is poison, and then there is no memory at it, in whichever order that is said.
#[test]
fn memory_is_not_at_poison() {
    let before = "br i1 %c, label %a, label %b\na:\n%v = load i32, ptr %p, align 4\nret i32 %v\nb:\nret i32 0";
    let after = "%v = load i32, ptr %p, align 4\n%r = select i1 %c, i32 %v, i32 0\nret i32 %r";
    let input = r#"{"arguments": ["0", "&0+1"], "memory": [{"bytes": "0102030405060708"}]}"#;
    for said in ["dereferenceable(4) align 4", "align 4 dereferenceable(4)"] {
        assert_eq!(on(("i32", &format!("i1 %c, ptr {said} %p")), before, after, input), Replay::Undefined, "{said}");
    }
    assert!(differs(&on(("i32", "i1 %c, ptr %p"), before, after, input)));
}

/// Neither way of two bodies that mean the same may differ.
#[test]
fn what_means_the_same_agrees() {
    let scalar = ("i32", "i32 %x, i32 %y");
    for (before, after, given) in [
        ("%r = mul i32 %x, 8\nret i32 %r", "%r = shl i32 %x, 3\nret i32 %r", r#"["7", "0"]"#),
        ("%r = sub i32 %x, %y\nret i32 %r", "%n = sub i32 0, %y\n%r = add i32 %n, %x\nret i32 %r", r#"["7", "9"]"#),
        ("%r = call i32 @twice(i32 %x)\nret i32 %r", "%r = shl i32 %x, 1\nret i32 %r", r#"["-3", "0"]"#),
        (
            "%c = icmp slt i32 %x, %y\nbr i1 %c, label %a, label %b\na:\nbr label %b\nb:\n\
             %r = phi i32 [ %y, %entry ], [ %x, %a ]\nret i32 %r",
            "%r = call i32 @llvm.smin.i32(i32 %x, i32 %y)\nret i32 %r",
            r#"["-1", "1"]"#,
        ),
        (
            "%p = alloca [2 x i32]\n%q = getelementptr i32, ptr %p, i64 1\nstore i32 %x, ptr %q\n\
             %r = load i32, ptr %q\nret i32 %r",
            "ret i32 %x",
            r#"["11", "0"]"#,
        ),
        (
            "%v = insertelement <2 x i32> poison, i32 %x, i64 0\n%w = insertelement <2 x i32> %v, i32 %y, i64 1\n\
             %s = shufflevector <2 x i32> %w, <2 x i32> poison, <2 x i32> <i32 1, i32 0>\n\
             %r = extractelement <2 x i32> %s, i64 0\nret i32 %r",
            "ret i32 %y",
            r#"["1", "2"]"#,
        ),
        ("%p = load i32, ptr @k\nret i32 %p", "ret i32 9", r#"["1", "2"]"#),
        (
            "%e = getelementptr inbounds [3 x i8], ptr @t, i64 0, i64 2\n%b = load i8, ptr %e\n\
             %r = sext i8 %b to i32\nret i32 %r",
            "ret i32 -1",
            r#"["1", "2"]"#,
        ),
    ] {
        for (before, after) in [(before, after), (after, before)] {
            assert_eq!(arguments(scalar, before, after, given), Replay::Agrees, "{before}\n{after}");
        }
    }
}

#[test]
fn what_is_less_defined_differs_one_way() {
    let scalar = ("i8", "i8 %x, i8 %y");
    let less_defined = [
        ("ret i8 7", "ret i8 undef", r#"["0", "0"]"#),
        ("ret i8 undef", "ret i8 poison", r#"["0", "0"]"#),
        ("%f = freeze i8 %x\nret i8 %f", "ret i8 %x", r#"["poison", "0"]"#),
        ("%f = freeze i8 %x\nret i8 %f", "ret i8 %x", r#"["undef", "0"]"#),
        ("%f = freeze i8 %x\n%r = sub i8 %f, %f\nret i8 %r", "%r = sub i8 %x, %x\nret i8 %r", r#"["undef", "0"]"#),
        ("%r = mul i8 %x, 2\nret i8 %r", "%r = add i8 %x, %x\nret i8 %r", r#"["undef", "0"]"#),
        ("%r = add i8 %x, 1\nret i8 %r", "%r = add nsw i8 %x, 1\nret i8 %r", r#"["127", "0"]"#),
        ("%r = add i8 %x, 1\nret i8 %r", "%r = add nuw i8 %x, 1\nret i8 %r", r#"["255", "0"]"#),
        ("%r = lshr i8 %x, 1\nret i8 %r", "%r = lshr exact i8 %x, 1\nret i8 %r", r#"["3", "0"]"#),
        ("%r = or i8 %x, 1\nret i8 %r", "%r = or disjoint i8 %x, 1\nret i8 %r", r#"["3", "0"]"#),
    ];
    let undefined = [
        ("ret i8 0", "%r = udiv i8 %x, %y\nret i8 0", r#"["3", "0"]"#),
        ("ret i8 0", "%r = sdiv i8 %x, %y\nret i8 0", r#"["-128", "-1"]"#),
        ("ret i8 0", "unreachable", r#"["3", "0"]"#),
        ("ret i8 0", "%c = icmp eq i8 %x, 3\ncall void @llvm.assume(i1 %c)\nret i8 0", r#"["4", "0"]"#),
        (
            "%c = icmp eq i8 %x, 0\n%f = freeze i1 %c\nbr i1 %f, label %a, label %a\na:\nret i8 0",
            "%c = icmp eq i8 %x, 0\nbr i1 %c, label %a, label %a\na:\nret i8 0",
            r#"["poison", "0"]"#,
        ),
        ("ret i8 0", "%v = load i8, ptr null\nret i8 0", r#"["3", "0"]"#),
    ];
    for (cases, expected) in [(&less_defined[..], Replay::Agrees), (&undefined[..], Replay::Undefined)] {
        for (better, worse, given) in cases {
            assert!(differs(&arguments(scalar, better, worse, given)), "{worse} for {better}");
            let back = arguments(scalar, worse, better, given);
            assert_eq!(back, expected, "{better} for {worse}");
        }
    }
}

/// With arguments on which they do not.
#[test]
fn differences_are_seen_only_where_they_are() {
    let scalar = ("i32", "i32 %x, i32 noundef %y");
    let (before, after) = ("%r = add i32 %x, 1\nret i32 %r", "%r = add nsw i32 %x, 1\nret i32 %r");
    assert!(differs(&arguments(scalar, before, after, r#"["0x7fffffff", "0"]"#)));
    for given in [r#"["7", "0"]"#, r#"["poison", "0"]"#] {
        assert_eq!(arguments(scalar, before, after, given), Replay::Agrees, "{given}");
    }
    assert_eq!(arguments(scalar, before, after, r#"["0x7fffffff", "poison"]"#), Replay::Undefined);
    // A frozen value is one of too many: it may be any.
    let any = "%f = freeze i32 %x\nret i32 %f";
    assert_eq!(arguments(scalar, any, "ret i32 5", r#"["poison", "0"]"#), Replay::Agrees);
    assert!(differs(&arguments(scalar, any, "ret i32 undef", r#"["poison", "0"]"#)));
    assert!(differs(&arguments(scalar, any, "ret i32 undef", r#"["undef", "0"]"#)));
}

/// Numbers fit their types, with a sign or without one, and names are those of the versions.
#[test]
fn inputs_that_say_what_is_not_there_are_not_run() {
    let scalar = ("i8", "i8 %x");
    for (given, fits) in [("255", true), ("-128", true), ("256", false), ("-129", false), ("0x1ff", false)] {
        let replay = arguments(scalar, "ret i8 %x", "ret i8 %x", &format!("[\"{given}\"]"));
        assert_eq!(replay == Replay::Agrees, fits, "{given}: {replay:?}");
    }
    for said in [r#""globals": {"@none": "00"}"#, r#""answers": [{"callee": "@none", "result": "1"}]"#] {
        let replay = on(scalar, "ret i8 0", "ret i8 0", &format!("{{\"arguments\": [\"0\"], {said}}}"));
        assert!(matches!(&replay, Replay::Unsupported(reason) if reason.contains("@none")), "{said}: {replay:?}");
    }
}

#[test]
fn memory_is_compared_byte_by_byte() {
    let pointers = ("i32", "ptr %p, ptr %q");
    let input = |bytes: &str| format!(r#"{{"arguments": ["&0", "&0+4"], "memory": [{{"bytes": "{bytes}"}}]}}"#);
    let eight = input("01 02 03 04 05 06 07 08");
    for (before, after) in [
        ("store i32 1, ptr %p\nret i32 0", "store i32 2, ptr %p\nret i32 0"),
        ("store i32 1, ptr %p\nret i32 0", "store i16 1, ptr %p\nret i32 0"),
        ("store i32 1, ptr %p\nret i32 0", "store i32 1, ptr %q\nret i32 0"),
        ("ret i32 0", "%v = load i64, ptr %q, align 1\nret i32 0"),
        ("ret i32 0", "%v = load i32, ptr %q, align 8\nret i32 0"),
        ("ret i32 0", "store i32 0, ptr @k\nret i32 0"),
        ("store i32 1, ptr @g\nret i32 0", "ret i32 0"),
        ("%c = icmp eq ptr %p, %q\n%r = zext i1 %c to i32\nret i32 %r", "ret i32 1"),
        (
            "%a = getelementptr i8, ptr %p, i64 9\n%c = icmp eq ptr %a, %p\n%r = zext i1 %c to i32\nret i32 %r",
            "%a = getelementptr inbounds i8, ptr %p, i64 9\n%c = icmp eq ptr %a, %p\n%r = zext i1 %c to i32\n\
             ret i32 %r",
        ),
    ] {
        assert!(differs(&on(pointers, before, after, &eight)), "{before}\n{after}");
        assert_eq!(on(pointers, before, before, &eight), Replay::Agrees, "{before}");
    }
    // A value that was less defined may be anything, and so may one that was undefined.
    let loose = input("undef 02 03 04 poison 06 07 08");
    let swap = "%v = load i32, ptr %p\nstore i32 %v, ptr %p\nret i32 0";
    assert_eq!(on(pointers, "ret i32 0", swap, &loose), Replay::Agrees);
    assert_eq!(on(pointers, "ret i32 0", "store i8 7, ptr %p\nstore i8 7, ptr %q\nret i32 0", &loose), Replay::Agrees);
    let spread = "%v = load i32, ptr %q\nstore i32 %v, ptr %q\nret i32 0";
    assert!(differs(&on(pointers, "ret i32 0", spread, &loose)));
    let outside =
        "%v = load i32, ptr %q\n%a = getelementptr i8, ptr %q, i64 1\n%w = load i32, ptr %a, align 1\nret i32 0";
    assert_eq!(on(pointers, outside, "unreachable", &eight), Replay::Undefined);
}

#[test]
fn calls_are_compared() {
    let scalar = ("i32", "i32 %x, ptr %p");
    let input = r#"{"arguments": ["7", "&0"], "memory": [{"bytes": "01020304"}],
        "answers": [{"callee": "@ext", "call": 0, "result": "3", "writes": [{"to": "&0", "bytes": "ff"}]}]}"#;
    let call = "%r = call i32 @ext(i32 %x)\nret i32 %r";
    for (before, after) in [
        (call, "%r = call i32 @ext(i32 8)\nret i32 %r"),
        (call, "ret i32 3"),
        (call, "%r = call i32 @ext(i32 %x)\nret i32 4"),
        (call, "%r = call i32 @ext(i32 %x)\n%s = call i32 @ext(i32 %x)\nret i32 %r"),
        (
            "store i8 1, ptr %p\n%r = call i32 @ext(i32 %x)\nret i32 0",
            "store i8 2, ptr %p\n%r = call i32 @ext(i32 %x)\nret i32 0",
        ),
        (
            "%r = call i32 @ext(i32 %x)\n%b = load i8, ptr %p\n%s = zext i8 %b to i32\nret i32 %s",
            "%b = load i8, ptr %p\n%r = call i32 @ext(i32 %x)\n%s = zext i8 %b to i32\nret i32 %s",
        ),
        ("call void @stop()\nunreachable", "unreachable"),
        ("call void @stop()\nunreachable", "ret i32 0"),
        ("call void @llvm.trap()\nunreachable", "ret i32 0"),
    ] {
        assert!(differs(&on(scalar, before, after, input)), "{before}\n{after}");
        assert_eq!(on(scalar, before, before, input), Replay::Agrees, "{before}");
    }
    // A promise of one call holds for the function.
    let promised = "%r = call i32 @ext(i32 %x) memory(none)\nret i32 %r";
    assert!(matches!(on(scalar, promised, call, input), Replay::Unsupported(_)));
    // A call that is not observable may go, or be made again.
    let (twice, once) = (
        "%a = call i32 @pure(i32 %x)\n%b = call i32 @pure(i32 %x)\n%r = sub i32 %a, %b\nret i32 %r",
        "%a = call i32 @pure(i32 1)\nret i32 0",
    );
    assert_eq!(on(scalar, twice, once, input), Replay::Agrees);
    assert_eq!(on(scalar, once, twice, input), Replay::Agrees);
    assert_eq!(on(scalar, "call void @stop()\nret i32 1", "call void @stop()\nunreachable", input), Replay::Agrees);
}

#[test]
fn floats_follow_the_standard_and_nan_is_any() {
    let floats = ("double", "double %x, double %y");
    let (one, nan, zero) = ("0x3ff0000000000000", "0x7ff8000000000000", "0");
    let add = "%r = fadd double %x, %y\nret double %r";
    for (before, after, given) in [
        (add, "%r = fadd double %y, %x\nret double %r", [one, nan]),
        (add, "ret double 0x7FF8000000000001", [one, nan]),
        ("%r = fmul double %x, 2.0\nret double %r", "%r = fadd double %x, %x\nret double %r", [one, one]),
        ("%r = fadd nsz double %x, 0.0\nret double %r", "ret double %x", [zero, one]),
    ] {
        let given = format!("[\"{}\", \"{}\"]", given[0], given[1]);
        assert_eq!(arguments(floats, before, after, &given), Replay::Agrees, "{before}\n{after}");
    }
    for (before, after, given) in [
        (add, "%r = fsub double %x, %y\nret double %r", [one, one]),
        (add, "%r = fadd nnan double %x, %y\nret double %r", [one, nan]),
        ("%r = fsub double 0.0, %x\nret double %r", "%r = fneg double %x\nret double %r", [zero, zero]),
        (
            "%c = fcmp olt double %x, %y\n%r = select i1 %c, double 1.0, double 2.0\nret double %r",
            "%c = fcmp ult double %x, %y\n%r = select i1 %c, double 1.0, double 2.0\nret double %r",
            [one, nan],
        ),
    ] {
        let given = format!("[\"{}\", \"{}\"]", given[0], given[1]);
        assert!(differs(&arguments(floats, before, after, &given)), "{before}\n{after}");
    }
}

/// A loop that does not come back to a state for long.
const COUNTS: &str =
    "br label %e\ne:\nbr label %l\nl:\n%i = phi i64 [ 0, %e ], [ %j, %l ]\n%j = add i64 %i, 1\nbr label %l";

/// A loop that goes on for ever is a behaviour, unless something promises that there is none.
#[test]
fn loops_without_an_end() {
    let counter = |step: u32| {
        format!(
            "br label %e\ne:\nbr label %l\nl:\n%i = phi i8 [ 0, %e ], [ %j, %l ]\n%j = add i8 %i, {step}\n\
             %c = icmp eq i8 %j, 16\nbr i1 %c, label %o, label %l, !llvm.loop !0\no:\nret i8 1"
        )
    };
    let module = |head: &str, body: &str, node: &str| {
        let body = if node.is_empty() { body.replace(", !llvm.loop !0", "") } else { body.to_string() };
        let text = format!(
            "@g = global i8 0\ndefine i8 @f() {head}{{\n{body}\n}}\n!0 = distinct !{{!0, !1}}\n!1 = !{{!\"llvm.loop.{node}\"}}\n"
        );
        rewright_llvm::module::read(text).unwrap()
    };
    let free = "";
    let [ends, endless, returns] = [counter(16), counter(32), "ret i8 1".to_string()];
    let plays = |old: (&str, &str, &str), new: (&str, &str, &str)| {
        let [old, new] = [old, new].map(|(head, body, node)| module(head, body, node));
        super::replay(
            (&old, &old.functions[0]),
            (&new, &new.functions[0]),
            &serde_json::from_str("{\"arguments\": []}").unwrap(),
        )
    };
    for (old, new) in [(&endless, &returns), (&returns, &endless), (&endless, &ends)] {
        let found = plays(("", old, free), ("", new, free));
        assert!(differs(&found), "{old}\n{new}\n{found:?}");
    }
    for (old, new) in [(&ends, &returns), (&returns, &ends), (&endless, &endless)] {
        assert_eq!(plays(("", old, free), ("", new, free)), Replay::Agrees, "{old}\n{new}");
    }
    let slot = "%p = alloca i8\nstore i8 0, ptr %p\nbr label %l\nl:\n%x = load i8, ptr %p\n%y = xor i8 %x, 3\n\
                store i8 %y, ptr %p\n%c = icmp eq i8 %y, 1\nbr i1 %c, label %o, label %l\no:\nret i8 1";
    assert!(differs(&plays(("", slot, free), ("", &returns, free))));
    // What breaks a promise of memory is undefined, also where it does not return.
    let stores = "store i8 1, ptr @g\nbr label %l\nl:\nbr label %l";
    assert_eq!(plays(("memory(none) ", stores, free), ("", &returns, free)), Replay::Undefined);
    assert!(differs(&plays(("", stores, free), ("", &returns, free))));
    // What other metadata promises is not decided.
    assert!(matches!(plays(("", &endless, "unroll.disable"), ("", &returns, free)), Replay::Unsupported(_)));
    for (head, node) in [("mustprogress ", free), ("willreturn ", free), ("", "mustprogress")] {
        assert_eq!(plays((head, &endless, node), ("", &returns, free)), Replay::Undefined, "{head}{node}");
        assert!(matches!(plays(("", &returns, free), (head, &endless, node)), Replay::Unsupported(_)), "{head}{node}");
    }
}

#[test]
fn what_is_not_modelled_is_said() {
    let scalar = ("i32", "i32 %x, ptr %p");
    let input = r#"{"arguments": ["7", "&0"], "memory": [{"bytes": "0102030405060708"}]}"#;
    for (before, why) in [
        ("%r = load volatile i32, ptr %p\nret i32 %r", "volatile"),
        ("%r = load atomic i32, ptr %p seq_cst, align 4\nret i32 %r", "volatile or atomic"),
        ("%r = call i32 %p(i32 1)\nret i32 %r", "by a pointer"),
        ("%r = call i32 @strlen(ptr %p)\nret i32 %r", "LLVM knows"),
        ("%r = call i32 @llvm.made.up(i32 1)\nret i32 %r", "made.up"),
        ("%r = load i32, ptr %p, !invariant.load !{}\nret i32 %r", "!invariant.load"),
        (COUNTS, "too many steps"),
        ("%r = add i32 %z, 1\nret i32 %r", "%z is used before"),
        ("call void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 64) ]\nret i32 0", "bundles"),
    ] {
        match on(scalar, before, "ret i32 12345", input) {
            Replay::Unsupported(reason) => assert!(reason.contains(why), "{before}: {reason}"),
            other => panic!("{before}: {other:?}"),
        }
    }
    for bad in [r#"{"arguments": ["7"]}"#, r#"{"arguments": ["7", "&1"]}"#, r#"{"arguments": ["&0", "null"]}"#] {
        let replay = on(scalar, "ret i32 0", "ret i32 1", bad);
        assert!(matches!(replay, Replay::Unsupported(_)), "{bad}: {replay:?}");
    }
}

/// Candidates find simple mistakes, and none between a function and itself.
#[test]
fn candidates_find_mistakes() {
    for (signature, before, after) in [
        (("i32", "i32 %x, i32 %y"), "%r = add i32 %x, %y\nret i32 %r", "%r = add nsw i32 %x, %y\nret i32 %r"),
        (("i4", "i4 %x"), "%r = sdiv i4 %x, 3\nret i4 %r", "%r = udiv i4 %x, 3\nret i4 %r"),
        (("i64", "i64 %x"), "%c = icmp eq i64 %x, 12345678901\n%r = zext i1 %c to i64\nret i64 %r", "ret i64 0"),
        (
            ("i32", "ptr %p"),
            "%r = load i32, ptr %p\nret i32 %r",
            "%r = load i32, ptr %p\n%s = add nsw i32 %r, 1\nret i32 %s",
        ),
        (
            ("<2 x i8>", "<2 x i8> %x"),
            "ret <2 x i8> %x",
            "%r = freeze <2 x i8> %x\n%s = add <2 x i8> %r, <i8 0, i8 1>\nret <2 x i8> %s",
        ),
    ] {
        let [old, new] = [before, after].map(|body| file(signature.0, signature.1, body));
        let (f, g) = ((&old, &old.functions[1]), (&new, &new.functions[1]));
        let inputs = candidates(f, g, &[], 1);
        assert_eq!(inputs, candidates(f, g, &[], 1), "candidates are the same each time");
        let replayer = Replayer::new(f, g).unwrap();
        assert!(inputs.iter().any(|input| differs(&replayer.replay(input))), "{before}\n{after}");
        let replayer = Replayer::new(f, f).unwrap();
        assert!(!inputs.iter().any(|input| differs(&replayer.replay(input))), "{before}");
    }
}

/// Random functions of few integers, some of whose values may be poison or `undef`.
fn random(rng: &mut impl rand::Rng) -> String {
    let mut text = String::new();
    let mut words = ["%x", "%y", "3", "-1", "undef", "poison"].map(String::from).to_vec();
    for n in 0..rng.random_range(1..7) {
        let word = |rng: &mut _| words[rand::Rng::random_range(rng, 0..words.len())].clone();
        let (a, b) = (word(rng), word(rng));
        let opcode = ["add nsw", "sub", "mul nuw", "xor", "lshr exact", "or disjoint", "udiv"][rng.random_range(0..7)];
        let what = match rng.random_range(0..6) {
            0 => format!("freeze i4 {a}"),
            1 => format!("select i1 %c, i4 {a}, i4 {b}"),
            2 => format!("call i4 @llvm.umax.i4(i4 {a}, i4 {b})"),
            _ => format!("{opcode} i4 {a}, {b}"),
        };
        text += &format!("%v{n} = {what}\n");
        words.push(format!("%v{n}"));
    }
    text + &format!("ret i4 {}", words[words.len() - 1])
}

#[test]
fn no_function_differs_from_itself() {
    use rand::SeedableRng;
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let mut agrees = 0;
    for _ in 0..200 {
        let body = random(&mut rng);
        let file = file("i4", "i4 %x, i4 %y, i1 %c", &body);
        let f = (&file, &file.functions[1]);
        let found = Replayer::new(f, f).unwrap().search(candidates(f, f, &[], 1));
        assert_eq!(found.differs, None, "{body}");
        agrees += u32::from(found.agrees > 0);
    }
    assert!(agrees > 150, "only {agrees} of 200 are compared");
}

#[test]
fn a_search_ends_where_runs_do_not() {
    let file = file("i4", "i4 %x, i4 %y, i1 %c", COUNTS);
    let f = (&file, &file.functions[1]);
    let found = Replayer::new(f, f).unwrap().search(candidates(f, f, &[], 1));
    let said: Vec<&str> = found.unsupported.keys().map(String::as_str).collect();
    assert!(said.iter().any(|reason| reason.starts_with("further inputs: ")), "{said:?}");
    assert_eq!((found.differs, found.agrees), (None, 0));
}

/// A value read from a global variable that is not modelled is unknown; it is not known to be undefined, either.
#[test]
fn what_is_not_modelled_is_not_undefined() {
    let read = |text: String| rewright_llvm::module::read(text).unwrap();
    for global in ["@g = thread_local global i32 5", "@g = extern_weak global i32"] {
        let [before, after] = [1, 2]
            .map(|n| read(format!("{global}\ndefine i32 @f() {{\n%v = load i32, ptr @g, align 4\nret i32 {n}\n}}\n")));
        let [before, after] = [(&before, &before.functions[0]), (&after, &after.functions[0])];
        let found = Replayer::new(before, after).unwrap().search(candidates(before, after, &[], 1));
        assert_eq!((found.differs, found.agrees), (None, 0), "{global}");
    }
}
