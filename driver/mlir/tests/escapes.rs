//! What is seen of arrays of the function's own, and of what calls give.

use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{Options, validate};

/// Is the first function of the second file known to be as good as that of the first one?
fn is_proved(before: &str, after: &str) -> bool {
    validate(before, after, &Options::default())
        .functions
        .iter()
        .any(|f| f.function == "f" && f.verdict == Kind::Proved)
}

#[test]
fn an_array_that_is_given_back_is_seen() {
    let filled = |size: &str, first: u32, value: &str, alloc: &str| {
        format!(
            "func.func @f(%n: index, %x: i32, %y: i32) -> memref<?xi32> {{
               %three = arith.constant 3 : index
               %t = memref.{alloc}({size}) : memref<?xi32>
               affine.for %i = {first} to %n {{ affine.store {value}, %t[%i] : memref<?xi32> }}
               return %t : memref<?xi32>
             }}"
        )
    };
    let right = filled("%n", 0, "%x", "alloc");
    assert!(is_proved(&right, &right.replace("%i", "%j")));
    assert!(is_proved(&right, &right.replace("to %n {", "to affine_map<()[s] -> (s * 2 - s)>()[%n] {")));
    assert!(is_proved(&filled("%n", 0, "%x", "alloca"), &right));
    for wrong in [
        filled("%n", 0, "%y", "alloc"),
        filled("%n", 1, "%x", "alloc"),
        filled("%three", 0, "%x", "alloc"),
        filled("%n", 0, "%x", "alloca"),
    ] {
        assert!(!is_proved(&right, &wrong), "{wrong}");
    }
    let verdict = |after: &str| validate(&right, after, &Options::default()).functions[0].verdict;
    assert_eq!(verdict(&filled("%n", 0, "%y", "alloc")), Kind::Refuted);
    assert_eq!(verdict(&filled("%n", 1, "%x", "alloc")), Kind::Refuted);
}

#[test]
fn of_several_arrays_each_is_given_back_in_its_place() {
    let pair = |results: &str, order: [&str; 2]| {
        let stores = order.map(|array| format!("affine.store %{array}, %t{array}[%i] : memref<?xi32>")).join("\n");
        format!(
            "func.func @f(%n: index, %x: i32, %y: i32) -> (memref<?xi32>, memref<?xi32>) {{
               %tx = memref.alloc(%n) : memref<?xi32>
               %ty = memref.alloc(%n) : memref<?xi32>
               affine.for %i = 0 to %n {{ {stores} }}
               return {results} : memref<?xi32>, memref<?xi32>
             }}"
        )
    };
    let right = pair("%tx, %ty", ["x", "y"]);
    let verdict = |after: &str| validate(&right, after, &Options::default()).functions[0].verdict;
    assert_eq!(verdict(&right), Kind::Proved);
    assert_eq!(verdict(&pair("%tx, %ty", ["y", "x"])), Kind::Proved);
    assert_eq!(verdict(&pair("%ty, %tx", ["x", "y"])), Kind::Refuted);
    assert_eq!(verdict(&pair("%tx, %tx", ["x", "y"])), Kind::Refuted);
}

#[test]
fn what_a_call_may_keep_does_not_end_with_the_function() {
    let given = |alloc: &str| {
        format!(
            "func.func private @keep(memref<4xi32>)
             func.func @f(%n: index) {{
               %t = memref.{alloc}() : memref<4xi32>
               func.call @keep(%t) : (memref<4xi32>) -> ()
               return
             }}"
        )
    };
    assert!(is_proved(&given("alloc"), &given("alloc").replace("%t", "%u")));
    assert!(is_proved(&given("alloca"), &given("alloc")));
    assert!(!is_proved(&given("alloc"), &given("alloca")));
}

#[test]
fn what_calls_give_and_write_may_be_undefined() {
    let external = "func.func private @g(i32) -> i1\nfunc.func private @h(memref<?xi1>)\n";
    let function = |condition: &str, branches_first: bool| {
        let [outer, inner] = ["affine.for %i = 0 to %n {", "scf.if %c {"];
        let [outer, inner] = if branches_first { [inner, outer] } else { [outer, inner] };
        format!(
            "{external}func.func @f(%n: index, %b: memref<?xi32>, %t: memref<?xi1>, %s: i32) {{
               %z = arith.constant 0 : index
               {condition}
               {outer}
                 {inner} affine.store %s, %b[%i] : memref<?xi32> }}
               }}
               return
             }}"
        )
    };
    for condition in [
        "%c = func.call @g(%s) : (i32) -> i1",
        "func.call @h(%t) : (memref<?xi1>) -> ()\n%c = memref.load %t[%z] : memref<?xi1>",
    ] {
        assert!(!is_proved(&function(condition, false), &function(condition, true)), "{condition}");
    }
}

#[test]
fn an_array_ends_with_all_its_views_and_where_nobody_else_has_it() {
    let function = |body: &str| {
        format!(
            "func.func private @g(memref<4xi32>)\nfunc.func private @h()\n\
             func.func @f(%b: memref<4xi32>, %x: i32) {{\n%z = arith.constant 0 : index\n{body}\nreturn\n}}"
        )
    };
    let alloc = "%t = memref.alloc() : memref<4xi32>";
    let view = "%s = memref.subview %t[0] [2] [1] : memref<4xi32> to memref<2xi32>";
    let cast = "%s = memref.cast %t : memref<4xi32> to memref<?xi32>";
    let [put, get] = [
        "memref.store %x, %s[%z] : memref<2xi32>",
        "%v = memref.load %s[%z] : memref<2xi32>\nmemref.store %v, %b[%z] : memref<4xi32>",
    ];
    let free = "memref.dealloc %t : memref<4xi32>";
    let [passed, other] = ["func.call @g(%t) : (memref<4xi32>) -> ()", "func.call @h() : () -> ()"];
    for (before, after) in [
        (&[alloc, view, put, get, free][..], &[alloc, view, put, free, get][..]),
        (&[alloc, cast, free], &[alloc, cast, free, "memref.store %x, %s[%z] : memref<?xi32>"]),
        (&[alloc, passed, other, free], &[alloc, passed, free, other]),
        (&[alloc, passed], &[alloc, passed, free]),
        (&[], &["%t = memref.alloca() : memref<4xi32>", free]),
    ] {
        let [before, after] = [before, after].map(|lines| function(&lines.join("\n")));
        assert!(!is_proved(&before, &after), "{before}{after}");
    }
}

/// Others may rely on how an array is aligned that they are given.
#[test]
fn arrays_that_others_get_keep_their_alignment() {
    let passed = |alignment: &str| {
        format!(
            "func.func private @g(memref<4xi32>)\nfunc.func @f() {{\n\
             %t = memref.alloc() {alignment} : memref<4xi32>\nfunc.call @g(%t) : (memref<4xi32>) -> ()\nreturn\n}}"
        )
    };
    let returned = |alignment: &str| {
        format!(
            "func.func @f() -> memref<4xi32> {{\n%t = memref.alloc() {alignment} : memref<4xi32>\n\
             return %t : memref<4xi32>\n}}"
        )
    };
    let [none, less, more] = ["", "{alignment = 16 : i64}", "{alignment = 64 : i64}"];
    for function in [&passed as &dyn Fn(&str) -> String, &returned] {
        for (before, after, holds) in
            [(more, more, true), (less, more, true), (none, less, true), (more, none, false), (more, less, false)]
        {
            assert_eq!(is_proved(&function(before), &function(after)), holds, "{before} {after}");
        }
        assert!(!is_proved(&function("{alignment = 3 : i64}"), &function(more)));
    }
}

#[test]
fn attributes_of_accesses_and_loops_are_understood_or_refused() {
    let function = |body: &str| format!("func.func @f(%b: memref<4xi32>, %x: i32, %n: index) {{\n{body}\nreturn\n}}");
    let constants = "%z = arith.constant 0 : index\n%o = arith.constant 1 : index";
    let looping = |attributes: &str| {
        let body = "memref.store %x, %b[%z] : memref<4xi32>\n\"scf.yield\"() : () -> ()";
        let ty = "(index, index, index) -> ()";
        function(&format!(
            "{constants}\n\"scf.for\"(%n, %o, %o) {attributes} ({{\n^bb0(%i: index):\n{body}\n}}) : {ty}"
        ))
    };
    assert!(is_proved(&looping(""), &looping("")));
    assert!(!is_proved(&looping(""), &looping("<{unsignedCmp}>")));
    let storing =
        |attributes: &str| function(&format!("{constants}\nmemref.store %x, %b[%z] {attributes} : memref<4xi32>"));
    assert!(is_proved(&storing(""), &storing("{user.note = 1}")));
    assert!(!is_proved(&storing(""), &storing("{alignment = 64 : i64}")));
}

/// The conditions that an access through a view and an allocation need are assumed, and reported; without assumptions
/// nothing is proved.
#[test]
fn views_and_extents_are_assumed_to_be_in_bounds() {
    let before = "func.func @f(%n: index, %a: memref<16xi32>, %x: i32) {\n  %z = arith.constant 0 : index\n  \
                  memref.store %x, %a[%z] : memref<16xi32>\n  return\n}\n";
    let with = |more: &str| before.replace("  memref.store", &format!("{more}  memref.store"));
    let view = "  %s = memref.subview %a[0] [4] [1] : memref<16xi32> to memref<4xi32>\n  %v = memref.load %s[%z] : memref<4xi32>\n";
    let array = "  %t = memref.alloc(%n) : memref<?xi32>\n  memref.dealloc %t : memref<?xi32>\n";
    for (more, said) in [(view, "within their views"), (array, "no negative extents")] {
        let found = validate(before, &with(more), &Options::default());
        assert_eq!(found.functions[0].verdict, Kind::Proved, "{found}");
        assert!(found.functions[0].assumptions.iter().any(|one| one.contains(said)), "{found}");
        let strict = Options { in_bounds: false, ..Options::default() };
        assert_eq!(validate(before, &with(more), &strict).functions[0].verdict, Kind::Unknown);
        // An operation of both versions needs no assumption.
        let both = validate(&with(array), &with(&array.replace("%t", "%u")), &Options::default());
        assert!(both.functions.iter().all(|f| f.assumptions.iter().all(|one| !one.contains("extents"))), "{both}");
    }
}
