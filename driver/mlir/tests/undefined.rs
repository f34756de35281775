//! What is undefined in the second version, and defined in the first one.

use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{Assumption, Options, own_text, validate};

/// The verdict on `@f`.
fn verdict(before: &str, after: &str, options: &Options) -> Kind {
    let report = validate(before, after, options);
    let found = report.functions.iter().find(|verdict| verdict.function == "f");
    found.expect("both define it").verdict
}

fn is_proved(before: &str, after: &str) -> bool {
    verdict(before, after, &Options::default()) == Kind::Proved
}

/// -1 + 1 overflows unsigned numbers, which no assumption excludes.
#[test]
fn promises_about_unsigned_indices_are_kept() {
    let sum = |flags: &str| {
        format!(
            "func.func @f(%n: index) -> index {{\n%c = arith.constant -1 : index\n%s = arith.addi %n, %c {flags} : index\nreturn %s : index\n}}"
        )
    };
    assert!(!is_proved(&sum(""), &sum("overflow<nuw>")));
    assert!(is_proved(&sum("overflow<nuw>"), &sum("overflow<nuw>").replace("%s", "%t")));
    assert!(is_proved(&sum(""), &sum("overflow<nsw>")));
    let counting = "func.func @f(%a: memref<10xf32>, %x: f32) {\n%l = arith.constant -5 : index\n%u = arith.constant 5 : index\n\
                    %o = arith.constant 1 : index\nscf.for %i = %l to %u step %o {\n%k = arith.addi %i, %u : index\n\
                    memref.store %x, %a[%k] : memref<10xf32>\n}\nreturn\n}";
    let whiling = |flags: &str| {
        counting.replace(
            "scf.for %i = %l to %u step %o {",
            "%z = scf.while (%i = %l) : (index) -> index {\n%c = arith.cmpi slt, %i, %u : index\nscf.condition(%c) %i : index\n\
             } do {\n^bb0(%i: index):",
        )
        .replace("<10xf32>\n}", &format!("<10xf32>\n%j = arith.addi %i, %o {flags} : index\nscf.yield %j : index\n}}"))
    };
    assert!(is_proved(counting, &whiling("")));
    assert!(is_proved(counting, &whiling("overflow<nsw>")));
    assert!(!is_proved(counting, &whiling("overflow<nuw>")));
}

/// A branch on an index that may be poison is a branch on poison, also where it guards nothing.
#[test]
fn branches_and_loops_by_what_may_be_poison_are_not_added() {
    let function = |body: &str| {
        format!(
            "func.func @f(%v: i64, %w: i64, %m: memref<4xf32>, %x: f32, %n: index) {{\n%z = arith.constant 0 : index\n\
             %o = arith.constant 1 : index\n%q = arith.addi %v, %w overflow<nsw> : i64\n\
             %i = arith.index_cast %q : i64 to index\n%d = arith.cmpi sgt, %n, %z : index\n\
             %e = arith.cmpi slt, %i, %z : index\n{body}\nreturn\n}}"
        )
    };
    let store = "memref.store %x, %m[%z] : memref<4xf32>\n";
    let nested = function(&format!("scf.if %d {{\nscf.if %e {{\n{store}}}\n}}"));
    let joined = function(&format!("%r = arith.andi %d, %e : i1\nscf.if %r {{\n{store}}}"));
    assert!(!is_proved(&nested, &joined));
    assert!(is_proved(&nested, &nested.replace("%r", "%s")));
    assert!(is_proved(&joined, &joined.replace("%r", "%s")));
    let plain = function(store);
    for more in ["scf.if %e {\n}\n", "scf.for %k = %z to %i step %o {\n}\n"] {
        assert!(!is_proved(&plain, &function(&format!("{more}{store}"))), "{more}");
    }
    let negated = "%y = arith.negf %x : f32\n";
    let kept = "memref.store %r, %m[%z] : memref<4xf32>\n";
    let selected = function(&format!("{negated}%r = arith.select %e, %x, %y : f32\n{kept}"));
    let branched = function(&format!(
        "{negated}%r = scf.if %e -> f32 {{\nscf.yield %x : f32\n}} else {{\nscf.yield %y : f32\n}}\n{kept}"
    ));
    assert!(!is_proved(&selected, &branched));
    let looping = |bound: &str| function(&format!("scf.for %k = %z to {bound} step %o {{\n{store}}}"));
    assert!(is_proved(&looping("%i"), &looping("%i").replace("%k", "%l")));
}

/// Operands of divisions and comparisons must fit the bits that are asked for, even where the result does not show it.
#[test]
fn what_cancels_may_have_overflowed() {
    let options = Options { index_bits: Some(32), ..Options::default() };
    let function = |body: &str| {
        format!(
            "func.func @f(%n: index, %a: memref<4xf32>, %x: f32) -> index {{\n%c = arith.constant 65536 : index\n\
             %z = arith.constant 0 : index\n{body}\nreturn %u : index\n}}"
        )
    };
    let plain = function("%u = arith.addi %n, %z : index");
    assert_eq!(verdict(&plain, &function("%u = arith.addi %z, %n : index"), &options), Kind::Proved);
    let product = "%t = arith.muli %n, %c : index\n";
    for body in [
        format!("{product}%u = arith.floordivsi %t, %c : index"),
        "%u = affine.apply affine_map<(d0) -> ((d0 * 65536) floordiv 65536)>(%n)".to_string(),
        format!("{product}%u = arith.divsi %t, %c : index"),
        "%u = arith.addi %n, %z : index\n%t = arith.addi %n, %n : index\n%s = arith.cmpi sgt, %t, %n : index\n\
         scf.if %s {\nmemref.store %x, %a[%z] : memref<4xf32>\n}"
            .to_string(),
    ] {
        let other = function(&body);
        assert_ne!(verdict(&other, &other.replace("%x", "%y"), &options), Kind::Proved, "{body}");
        assert_eq!(verdict(&other, &other.replace("%x", "%y"), &Options::default()), Kind::Proved, "{body}");
    }
}

/// A function is compared for arrays that do not overlap, and for the sizes that are assumed.
#[test]
fn callers_keep_what_is_assumed_of_functions_that_they_call() {
    let module = |g: &str, f: &str| {
        format!(
            "func.func @g(%a: memref<4xf32>, %b: memref<4xf32>, %n: index, %x: f32) {{\n{g}\nreturn\n}}\n\
             func.func @f(%p: memref<4xf32>, %q: memref<4xf32>, %y: f32) {{\n%k = arith.constant 0 : index\n{f}\nreturn\n}}"
        )
    };
    let call = |arrays: &str| format!("call @g({arrays}, %k, %y) : (memref<4xf32>, memref<4xf32>, index, f32) -> ()");
    let [load, store] = ["affine.load %a[0] : memref<4xf32>", "%b[1] : memref<4xf32>"];
    let first = format!("%s = {load}\naffine.store %s, {store}\n%t = {load}\naffine.store %t, %b[0] : memref<4xf32>");
    let second = first.replace(&format!("%t = {load}\n"), "").replace("store %t", "store %s");
    let (same, other) = (call("%p, %p"), call("%p, %q"));
    let overlapping = first.replace("%b[1]", "%b[0]");
    assert!(is_proved(&module(&first, &other), &module(&second, &other)));
    assert!(!is_proved(&module(&first, &same), &module(&second, &same)));
    assert!(!is_proved(&module(&overlapping, &same), &module(&second, &same)));
    let reading = format!("%s = {load}\n%t = affine.load {store}");
    assert!(is_proved(&module(&reading, &same), &module("", &same)));
    let looping = "affine.for %i = 0 to %n {\naffine.store %x, %a[%i] : memref<4xf32>\n}";
    let once =
        "affine.store %x, %a[0] : memref<4xf32>\naffine.for %i = 1 to %n {\naffine.store %x, %a[%i] : memref<4xf32>\n}";
    let assumed: Assumption = "n >= 1".parse().expect("a condition");
    let options = Options { sizes: vec![assumed], ..Options::default() };
    let [before, after] = [looping, once].map(|g| module(g, &other));
    assert_eq!(validate(&before, &after, &options).counts.proved, 1);
    assert_ne!(verdict(&before, &after, &options), Kind::Proved);
}

/// A divisor in a map is positive.
#[test]
fn divisors_in_maps_are_not_negative() {
    let function = |quotient: &str| {
        format!("func.func @f(%n: index, %k: index) -> index {{\n%u = {quotient}\nreturn %u : index\n}}")
    };
    let divided = function("arith.floordivsi %n, %k : index");
    let mapped = |operator: &str| function(&format!("affine.apply affine_map<(d0)[s0] -> (d0 {operator} s0)>(%n)[%k]"));
    assert!(!is_proved(&divided, &mapped("floordiv")));
    assert!(is_proved(&mapped("floordiv"), &mapped("floordiv").replace("%u", "%v")));
    assert!(is_proved(&mapped("mod"), &mapped("mod").replace("%u", "%v")));
}

/// An unknown value of the interpreter is no difference.
#[test]
fn runs_refute_nothing_that_may_be_right() {
    let function = |ty: &str, body: &str| format!("func.func @f(%x: {ty}) -> {ty} {{\n{body}\nreturn %r : {ty}\n}}");
    let product = |flags: &str, number: &str| {
        function("i64", &format!("%c = arith.constant -1 : i64\n%r = arith.muli {number}, %c {flags} : i64"))
    };
    assert_ne!(verdict(&product("", "%c"), &product("overflow<nsw>", "%c"), &Options::default()), Kind::Refuted);
    assert_eq!(verdict(&product("", "%c"), &product("overflow<nuw>", "%c"), &Options::default()), Kind::Refuted);
    let zeros = "%p = arith.constant 0.0 : f32\n%n = arith.constant -0.0 : f32\n";
    let least = function("f32", &format!("{zeros}%r = arith.minnumf %p, %n : f32"));
    for zero in ["%p", "%n"] {
        let one =
            function("f32", &format!("{zeros}%z = arith.constant 0.0 : f32\n%r = arith.addf {zero}, {zero} : f32"));
        assert_ne!(verdict(&least, &one, &Options::default()), Kind::Refuted);
    }
}

/// Own text traps where MLIR is undefined, which it says, and takes one bit of an `i1`.
#[test]
fn divisions_in_own_text_are_undefined_in_mlir() {
    let function =
        |body: &str| format!("func.func @f(%a: i32, %b: i32, %p: i1) -> i32 {{\n{body}\nreturn %r : i32\n}}");
    for (body, is_undefined, is_doubtful) in [
        ("%r = arith.divsi %a, %b : i32", true, false),
        ("%r = arith.remsi %a, %b : i32", true, true),
        ("%c = arith.constant 3 : i32\n%r = arith.remsi %a, %c : i32", false, false),
        ("%c = arith.constant -1 : i32\n%r = arith.divsi %a, %c : i32", true, false),
        ("%c = arith.constant -1 : i32\n%r = arith.divui %a, %c : i32", false, false),
        ("%r = arith.extui %p : i1 to i32", false, false),
    ] {
        let text = own_text(&function(body));
        assert_eq!((!text.undefined.is_empty(), !text.doubts.is_empty()), (is_undefined, is_doubtful), "{body}");
        assert!(text.text.contains("band{i8}"), "{}", text.text);
    }
}

/// What cancels is still poison.
#[test]
fn indices_that_may_be_poison_do_not_cancel() {
    let function = |body: &str| {
        format!(
            "func.func @f(%s: i32, %t: i32, %n: index, %m: memref<8xf32>, %x: f32) -> index {{\n%z = arith.constant 0 : index\n\
             %o = arith.constant 1 : index\n%v = arith.addi %s, %t overflow<nsw> : i32\n%i = arith.index_cast %v : i32 to index\n\
             {body}\nreturn %r : index\n}}"
        )
    };
    let plain = function("%r = arith.addi %z, %z : index");
    for poison in [
        "%r = arith.subi %i, %i : index",
        "%r = arith.muli %i, %z : index",
        "%r = affine.apply affine_map<(d0) -> (d0 mod 1)>(%i)",
        "%r = affine.apply affine_map<(d0) -> ((d0 * 2) mod 2)>(%i)",
        "%r = arith.remsi %i, %o : index",
        "%c = arith.cmpi slt, %i, %z : index\n%r = arith.select %c, %z, %z : index",
        "%r = arith.addi %z, %z : index\n%c = arith.cmpi slt, %i, %i : index\nscf.if %c {\n\
         memref.store %x, %m[%z] : memref<8xf32>\n}",
        "%r = arith.addi %z, %z : index\n%a = memref.alloc(%i) : memref<?xf32>",
    ] {
        assert!(!is_proved(&plain, &function(poison)), "{poison}");
    }
    let same = function("%r = arith.addi %i, %n : index");
    assert!(is_proved(&same, &same.replace("arith.addi %i, %n", "arith.addi %n, %i")));
    let defined = function("%r = arith.subi %n, %n : index");
    assert!(is_proved(&plain, &defined) && is_proved(&defined, &plain));
}
