//! What names stand for: aliases of attributes and types, symbols, and what others see of a function.

use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{Options, validate};

/// The verdict on `@f`.
fn verdict(before: &str, after: &str) -> Kind {
    let report = validate(before, after, &Options::default());
    let found = report.functions.iter().find(|verdict| verdict.function == "f");
    found.expect("both define it").verdict
}

fn is_proved(before: &str, after: &str) -> bool {
    verdict(before, after) == Kind::Proved
}

/// A text with an alias is the same as one with what it stands for, and another one than that with something else.
#[test]
fn aliases_are_what_they_stand_for() {
    let function = |arguments: &str, body: &str| format!("func.func @f({arguments}) {{\n{body}\nreturn\n}}\n");
    let float = |flags: &str| {
        let op = format!("%v = \"arith.addf\"(%x, %x) <{{fastmath = {flags}}}> : (f32, f32) -> f32");
        function("%x: f32, %a: memref<f32>", &format!("{op}\nmemref.store %v, %a[] : memref<f32>"))
    };
    let stepping = |step: &str| {
        function(
            "%x: f32, %a: memref<8xf32>",
            &format!(
                "\"affine.for\"() <{{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, \
                 step = {step}, upperBoundMap = affine_map<() -> (8)>}}> ({{\n^bb0(%i: index):\n\
                 affine.store %x, %a[%i] : memref<8xf32>\naffine.yield\n}}) : () -> ()"
            ),
        )
    };
    let compared = |predicate: &str| {
        let op = format!("%v = \"arith.cmpi\"(%x, %y) <{{predicate = {predicate}}}> : (i32, i32) -> i1");
        function("%x: i32, %y: i32, %a: memref<i1>", &format!("{op}\nmemref.store %v, %a[] : memref<i1>"))
    };
    let opaque = |map: &str| function("%x: i32", &format!("\"test.op\"(%x) {{m = {map}}} : (i32) -> ()"));
    let copying = |ty: &str| {
        let of = |n: &str, value: &str| format!("{n} {value}%i] : memref<4x{ty}>");
        let body = [of("%x = affine.load", "%a["), of("affine.store", "%x, %b[")].join("\n");
        let arguments = format!("%a: memref<4x{ty}>, %b: memref<4x{ty}>");
        function(&arguments, &format!("affine.for %i = 0 to 4 {{\n{body}\n}}"))
    };
    let texts: [&dyn Fn(&str) -> String; 5] = [&float, &stepping, &compared, &opaque, &copying];
    let aliases = [
        ("#a", "#arith.fastmath<none>", "#arith.fastmath<nnan>"),
        ("#c1", "1 : index", "2 : index"),
        ("#p2", "2 : i64", "3 : i64"),
        ("#map-1", "affine_map<(d0) -> (d0)>", "affine_map<(d0) -> (d0 + 1)>"),
        ("!t", "i8", "i32"),
    ];
    for (text, (alias, value, other)) in texts.into_iter().zip(aliases) {
        let before = text(value);
        let [same, different] = [value, other].map(|value| format!("{alias} = {value}\n{}", text(alias)));
        assert!(is_proved(&before, &same), "{before}{same}");
        assert!(is_proved(&different, &different.replace("%x", "%y1")), "{different}");
        assert!(!is_proved(&before, &different), "{before}{different}");
        assert!(!is_proved(&same, &different), "{same}{different}");
    }
}

/// A function that is named may be called, however its name is written.
#[test]
fn what_names_a_function_depends_on_it() {
    let module = |call: &str, number: u32| {
        format!(
            "func.func private @g(%x: i32) -> i32 {{\n%c = arith.constant {number} : i32\n\
             %0 = arith.addi %x, %c : i32\nreturn %0 : i32\n}}\n\
             func.func @f(%x: i32) -> i32 {{\n{call}\nreturn %0 : i32\n}}\n"
        )
    };
    let indirect = "%g = \"func.constant\"() <{value = @g}> : () -> ((i32) -> i32)\n\
                    %0 = \"func.call_indirect\"(%g, %x) : ((i32) -> i32, i32) -> i32";
    for call in [
        "%0 = func.call @g(%x) : (i32) -> i32",
        "%0 = func.call @\"\\67\"(%x) : (i32) -> i32",
        "%0 = \"test.op\"(%x) {fn = [@g]} : (i32) -> i32",
        indirect,
    ] {
        assert!(is_proved(&module(call, 1), &module(call, 1).replace("%c", "%d")), "{call}");
        assert!(!is_proved(&module(call, 1), &module(call, 2)), "{call}");
    }
}

/// What only the second version promises may not hold.
#[test]
fn attributes_of_functions_are_promises() {
    let function = |argument: &str, result: &str, own: &str| {
        format!("func.func @f(%a: memref<4xi32> {argument}, %x: i32) -> (i32 {result}) {own} {{\nreturn %x : i32\n}}")
    };
    let plain = function("", "", "");
    for promising in
        [function("{llvm.noalias}", "", ""), function("{llvm.readonly}", "", ""), function("", "{llvm.noundef}", "")]
    {
        assert!(!is_proved(&plain, &promising), "{promising}");
        assert!(is_proved(&promising, &promising.replace("%x", "%y")), "{promising}");
        assert!(is_proved(&promising, &plain), "{promising}");
    }
    let ending = function("", "", "attributes {passthrough = [\"noreturn\"]}");
    assert!(!is_proved(&plain, &ending) && !is_proved(&ending, &plain));
    let noted = function("{hls.stream}", "", "attributes {top}");
    assert!(is_proved(&plain, &noted) && is_proved(&noted, &plain));
    let generic = |attributes: &str| {
        format!(
            "\"func.func\"() <{{arg_attrs = [{attributes}, {{}}], function_type = (memref<4xi32>, i32) -> i32, \
             sym_name = \"f\"}}> ({{\n^bb0(%a: memref<4xi32>, %x: i32):\n\"func.return\"(%x) : (i32) -> ()\n}}) : () -> ()"
        )
    };
    assert!(is_proved(&plain, &generic("{}")) && is_proved(&generic("{}"), &plain));
    assert!(is_proved(&generic("{llvm.noalias}"), &plain) && !is_proved(&plain, &generic("{llvm.noalias}")));
    let result = |ty: &str| {
        format!(
            "func.func @f(%a: memref<4xi32>) -> {ty} {{\n%b = memref.cast %a : memref<4xi32> to {ty}\nreturn %b : {ty}\n}}"
        )
    };
    assert!(!is_proved(&result("memref<4xi32>"), &result("memref<?xi32>")));
    let calling = |declared: &str| {
        format!("func.func private @g() {declared}\nfunc.func @f() {{\nfunc.call @g() : () -> ()\nreturn\n}}")
    };
    assert!(is_proved(&calling(""), &calling("attributes {a.note}")));
    assert!(!is_proved(&calling(""), &calling("attributes {passthrough = [\"noreturn\"]}")));
}

/// MLIR reads a decimal number as an `f64`, and makes a narrower float of that.
#[test]
fn floats_are_rounded_as_mlir_rounds_them() {
    let function = |number: &str, ty: &str| {
        format!("func.func @f() -> {ty} {{\n%0 = arith.constant {number} : {ty}\nreturn %0 : {ty}\n}}")
    };
    // 1 + 2^-24 + 2^-60: as `f64` 1 + 2^-24, halfway between two floats.
    let long = "1.000000059604644776257986737988403547205962240695953369140625";
    for (number, ty, bits, other) in [
        (long, "f32", "0x3F800000", "0x3F800001"),
        ("1.0", "f16", "0x3C00", "0x3C01"),
        ("-1.000000e+00", "bf16", "0xBF80", "0x3F80"),
        ("65520.0", "f16", "0x7C00", "0x7BFF"),
    ] {
        assert!(is_proved(&function(number, ty), &function(bits, ty)), "{number} : {ty}");
        assert!(!is_proved(&function(number, ty), &function(other, ty)), "{number} : {ty}");
    }
}

/// Rows that do not follow each other are not counted as if they did.
#[test]
fn layouts_of_arrays_that_are_made_here_are_heeded() {
    let function = |layout: &str, value: &str| {
        format!(
            "func.func @f(%x: f32, %y: f32) -> f32 {{\n%z = arith.constant 0 : index\n%o = arith.constant 1 : index\n\
             %e = arith.constant 8 : index\n%m = memref.alloc() : memref<4x4xf32{layout}>\n\
             affine.store %x, %m[1, 0] : memref<4x4xf32{layout}>\naffine.store %y, %m[2, 0] : memref<4x4xf32{layout}>\n\
             %r = memref.reinterpret_cast %m to offset: [0], sizes: [25], strides: [1] : \
             memref<4x4xf32{layout}> to memref<25xf32, strided<[1], offset: 0>>\n\
             %v = memref.load %r[%e] : memref<25xf32, strided<[1], offset: 0>>\nreturn {value} : f32\n}}"
        )
    };
    assert!(is_proved(&function("", "%v"), &function("", "%y")));
    for layout in [", strided<[8, 1]>", ", strided<[4, 1], offset: 4>", ", strided<[0, 1]>"] {
        assert_eq!(verdict(&function(layout, "%v"), &function(layout, "%y")), Kind::Unknown, "{layout}");
    }
}

/// A call means a function of its own module.
#[test]
fn functions_of_inner_modules_are_others() {
    let function = |name: &str| format!("func.func @{name}(%x: i32) -> i32 {{\nreturn %x : i32\n}}\n");
    let module = |name: &str, inside: &str| format!("module @{name} attributes {{a = {{b}}}} {{\n{inside}}}\n");
    let proved = |before: &str, after: &str| validate(before, after, &Options::default()).counts.proved;
    let (f, g) = (function("f"), function("g"));
    let other = f.replace("%x", "%y");
    assert_eq!(proved(&f, &module("m", &other)), 1);
    assert_eq!(proved(&module("m", &f), &module("n", &other)), 1);
    let generic = format!("\"builtin.module\"() <{{sym_name = \"m\"}}> ({{\n{other}}}) {{a = {{b}}}} : () -> ()\n");
    assert_eq!(proved(&f, &generic), 1);
    // Of a module within the file, which is another one, nothing is said.
    let two = |f: &str, g: &str| format!("{}{}", module("x", f), module("y", g));
    assert_eq!(proved(&two(&f, &g), &two(&g, &f)), 0);
    assert_eq!(proved(&format!("{f}{g}"), &format!("{g}{}", module("x", &f))), 1);
    let calling = "func.func @f(%x: i32) -> i32 {\n%0 = call @g(%x) : (i32) -> i32\nreturn %0 : i32\n}\n";
    let inner = two(&format!("{calling}{g}"), "");
    let outer = two(&format!("{calling}func.func private @g(i32) -> i32\n"), &g);
    assert_eq!(proved(&inner, &outer), 0);
}

/// What others see of a module is the same.
#[test]
fn globals_layouts_and_visibility_are_compared() {
    let f = "func.func @f(%x: i32) -> i32 {\nreturn %x : i32\n}\n";
    let global = |visibility: &str, number: u32| {
        format!("memref.global {visibility} @g : memref<2xi32> = dense<{number}> {{alignment = 8 : i64}}\n{f}")
    };
    let unknown = |before: &str, after: &str| validate(before, after, &Options::default()).counts.unknown;
    let private = "\"private\" constant";
    assert_eq!(unknown(&global("", 1), &global("", 1).replace("%x", "%y")), 0);
    assert_eq!(unknown(&global("", 1), &global("", 2)), 1);
    assert_eq!(unknown(&global(private, 1), &global("", 1)), 1);
    assert_eq!(unknown(&global(private, 1), &global(private, 2)), 0);
    assert_eq!(unknown(f, &global("", 1)), 1);
    let generic = "\"memref.global\"() <{initial_value = dense<1> : tensor<2xi32>, sym_name = \"g\", type = memref<2xi32>}> : () -> ()\n";
    assert_eq!(unknown(&global("", 1), &format!("{generic}{f}")), 0);
    let private = f.replace("@f", "private @f");
    assert!(!is_proved(f, &private) && is_proved(&private, f));
    let layout = |bits: u32| {
        format!("module attributes {{dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<index, {bits}>>}} {{\n{f}}}\n")
    };
    assert!(is_proved(&layout(32), &layout(32).replace("%x", "%y")) && !is_proved(&layout(64), &layout(32)));
}
