//! What is read, what is not, and what is said of that.

use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{Options, own_text, validate};

const PRETTY: &str = r#"
#map = affine_map<(d0)[s0] -> (d0 + 4, s0)>
module attributes {some.attribute = "}"} {
  func.func @f(%n: index, %a: memref<?xf32> {an.attribute}, %k: i64) -> f32 attributes {x} {
    %z = arith.constant -1.5e+00 : f32 // a comment {
    %s = affine.for %i = 0 to min #map(%n)[%n] step 2 iter_args(%c = %z) -> (f32) {
      %v = affine.load %a[%i mod 3 + symbol(%n) - 1] : memref<?xf32>
      %p = arith.cmpf olt, %v, %z : f32
      %w = arith.select %p, %v, %c : f32
      affine.yield %w : f32
    }
    return %s : f32
  }
}
"#;

const GENERIC: &str = r#"
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<?xf32>, i64) -> f32, sym_name = "f"}> ({
  ^bb0(%arg0: index, %arg1: memref<?xf32>, %arg2: i64):
    %0 = "arith.constant"() <{value = -1.500000e+00 : f32}> : () -> f32
    %1 = "affine.for"(%arg0, %arg0, %0) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 2, 1>, step = 2 : index, upperBoundMap = affine_map<(d0)[s0] -> (d0 + 4, s0)>}> ({
    ^bb0(%arg3: index, %arg4: f32):
      %2 = "affine.load"(%arg1, %arg3, %arg0) <{map = affine_map<(d0)[s0] -> (d0 mod 3 + s0 - 1)>}> : (memref<?xf32>, index, index) -> f32
      %3 = "arith.cmpf"(%2, %0) <{fastmath = #arith.fastmath<none>, predicate = 4 : i64}> : (f32, f32) -> i1
      %4 = "arith.select"(%3, %2, %arg4) : (i1, f32, f32) -> f32
      "affine.yield"(%4) : (f32) -> ()
    }) : (index, index, f32) -> f32
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
"#;

#[test]
fn both_forms_are_one() {
    for (before, after) in [(PRETTY, GENERIC), (GENERIC, PRETTY)] {
        let report = validate(before, after, &Options::default());
        assert_eq!(report.counts.proved, 1, "{report}");
    }
    let other = GENERIC.replace("predicate = 4", "predicate = 5");
    let report = validate(PRETTY, &other, &Options::default());
    assert_eq!(report.counts.proved, 0, "{report}");
}

#[test]
fn what_is_not_understood_is_named_and_the_rest_goes_on() {
    let cases = [
        ("%0 = vector.load %a[%c] : memref<4xf32>, vector<4xf32>", "vector.load"),
        ("linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)", "linalg.fill"),
        ("\"my.loop\"() ({ \"my.end\"() : () -> () }) : () -> ()", "my.loop"),
        ("cf.br ^bb1", "cf.br"),
        ("%0 = affine.load %a[%missing] : memref<4xf32>", "%missing"),
        ("affine.store %x, %a[1, 2] : memref<4xf32>", "subscripts"),
        ("memref.dealloc %a : memref<4xf32>", "deallocated"),
    ];
    for (line, name) in cases {
        let file = format!(
            "func.func @odd(%a: memref<4xf32>, %x: f32) {{\n{line}\nreturn\n}}\n\
             func.func @plain(%a: memref<4xf32>, %x: f32) {{\naffine.store %x, %a[2] : memref<4xf32>\nreturn\n}}\n"
        );
        let report = validate(&file, &file, &Options::default());
        let text = report.to_string();
        assert_eq!(report.functions.len(), 2, "{text}");
        assert_eq!(report.functions[0].verdict, Kind::Unknown, "{text}");
        assert!(text.contains(name) && text.contains("line 2"), "{text}");
        assert_eq!(report.functions[1].verdict, Kind::Proved, "{text}");
    }
}

#[test]
fn locations_may_stand_wherever_mlir_writes_them() {
    let plain = "func.func @f(%a: memref<?xi32>, %n: index, %x: i32) {
      affine.for %i = 0 to %n {
        affine.store %x, %a[%i] : memref<?xi32>
      }
      return
    }";
    let located = "#loc = loc(\"x.c\":1:2)
    module attributes {where = loc(unknown), k = [1, \"a } b\"]} {
      func.func @f(%a: memref<?xi32> loc(\"q)\":1:1), %n: index {k.v} loc(fused<\"p\">[\"a\", #loc]), %x: i32 loc(#loc)) {
        affine.for %i = 0 to %n {
          affine.store %x, %a[%i] {at = loc(\"here\")} : memref<?xi32> loc(callsite(\"f\" at \"g\"(#loc)))
        } {tag = 1} loc(#loc1)
        return loc(\"y.c\":2:3 to :4:5)
      } loc(#loc)
    } loc(unknown)
    #loc1 = loc(\"y\":3:4)
    ";
    let blocks = "func.func @f(%a: memref<?xi32>, %n: index, %x: i32) {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      cf.br ^head(%0 : index) loc(#loc)
    ^head(%i: index loc(\"i\"(\"x\":1:1))):
      %c = arith.cmpi slt, %i, %n : index loc(#loc)
      cf.cond_br %c, ^body, ^end loc(#loc)
    ^body:
      memref.store %x, %a[%i] : memref<?xi32> loc(#loc)
      %j = arith.addi %i, %1 : index
      cf.br ^head(%j : index)
    ^end:
      return
    } loc(#loc)
    #loc = loc(unknown)";
    for other in [located, blocks] {
        let report = validate(plain, other, &Options::default());
        assert_eq!(report.functions[0].verdict, Kind::Proved, "{report}");
    }
    // An attribute that is open to the end, and a location that is.
    for damaged in ["loc(", "return loc(\"a\"", "loc(((\n}"] {
        let report = validate(plain, &plain.replace("return\n    }", damaged), &Options::default());
        assert_ne!(report.functions.first().map(|f| f.verdict), Some(Kind::Proved), "{report}");
    }
}

#[test]
fn types_may_have_names() {
    let file = |ty: &str, before: &str, value: &str| {
        format!(
            "{before}func.func @f(%a: {ty}, %f: i32) -> {value} {{
              %0 = affine.load %a[0, 1] : {ty}
              affine.store %0, %a[1, 0] : {ty}
              return %0 : {value}
            }}"
        )
    };
    let plain = file("memref<?x4xi32>", "", "i32");
    let named = file("!a", "!word = i32\n!a = memref<?x4xi32>\n#m = affine_map<(d0) -> (d0)>\n", "!word");
    let other = file("!a", "!a = memref<?x2xi32>\n", "i32");
    let verdict = |after: &str| validate(&plain, after, &Options::default()).functions[0].verdict;
    assert_eq!(verdict(&named), Kind::Proved);
    assert_ne!(verdict(&other), Kind::Proved);
    // A name of a name that there is not, and one that is its own.
    for broken in ["!a = !b\n", "!a = !a\n", "!a =", "!a = memref<", ""] {
        assert_ne!(verdict(&file("!a", broken, "i32")), Kind::Proved, "{broken}");
    }
}

#[test]
fn an_array_is_gone_after_its_end() {
    let file = "func.func @f(%x: f32) {
      %m = memref.alloc() : memref<4xf32>
      memref.dealloc %m : memref<4xf32>
      affine.store %x, %m[0] : memref<4xf32>
      return
    }";
    let text = validate(file, file, &Options::default()).to_string();
    assert!(text.contains("deallocated at line 3"), "{text}");
}

#[test]
fn opaque_operations_compare_by_what_they_say() {
    let file = |attribute: &str| {
        format!("func.func @f(%x: f32) {{\n\"my.op\"(%x) {{k = {attribute}}} : (f32) -> ()\nreturn\n}}")
    };
    let report = validate(&file("1"), &file("1"), &Options::default());
    assert_eq!(report.counts.proved, 1, "{report}");
    let report = validate(&file("1"), &file("2"), &Options::default());
    assert_eq!(report.counts.unknown, 1, "{report}");
}

/// Whatever is cut off or changed, there is a report.
#[test]
fn damaged_files_are_reported() {
    let options = Options { budget: 2_000, fuel: 500, rounds: 2, ..Options::default() };
    for text in [PRETTY, GENERIC] {
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let _ = validate(&text[..at], PRETTY, &options);
            if at % 3 == 0 {
                for c in ["}", "<", "(", ":", "%", "999999999999999999999", "\"", "é"] {
                    let _ = validate(&format!("{}{c}{}", &text[..at], &text[at..]), text, &options);
                }
            }
        }
    }
}

#[test]
fn numbers_that_are_too_large_are_reported() {
    let file = "func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
      %c = arith.constant 1000000000000 : index
      %0 = arith.muli %c, %c : index
      %1 = arith.muli %0, %0 : index
      affine.for %i = 0 to %1 { affine.store %x, %a[%i] : memref<?xf32> }
      return
    }";
    let report = validate(file, file, &Options::default());
    assert_eq!(report.counts.unknown, 1, "{report}");
}

#[test]
fn missing_functions_and_other_types_are_said() {
    let one = "func.func @f(%x: f32) -> f32 {\nreturn %x : f32\n}";
    let two = "func.func @f(%x: f64) -> f64 {\nreturn %x : f64\n}\nfunc.func @g() {\nreturn\n}";
    let text = validate(one, two, &Options::default()).to_string();
    assert!(text.contains("f: unknown: the types of arguments"), "{text}");
    assert!(text.contains("g: unknown: only the second file defines it"), "{text}");
}

#[test]
fn long_chains_of_values_are_compared() {
    let chain = |last: &str| {
        let mut file = String::from("func.func @f(%v0: i32, %a: memref<1xi32>) {\n");
        for n in 0..20_000 {
            file += &format!("%v{} = arith.addi %v{n}, %v{n} : i32\n", n + 1);
        }
        file + &format!("affine.store %v{last}, %a[0] : memref<1xi32>\nreturn\n}}\n")
    };
    let report = validate(&chain("20000"), &chain("20000"), &Options::default());
    assert_eq!(report.counts.proved, 1, "{report}");
    let report = validate(&chain("20000"), &chain("3"), &Options::default());
    assert_eq!(report.counts.refuted, 1, "{report}");
}

#[test]
fn a_generic_module_follows_names_of_maps() {
    let text = "#map = affine_map<(d0) -> (d0)>
#set = affine_set<(d0)[s0] : (d0 - s0 >= 0)>
\"builtin.module\"() ({
  \"func.func\"() <{function_type = (memref<8xf32>, f32) -> (), sym_name = \"f\"}> ({
  ^bb0(%a: memref<8xf32>, %x: f32):
    %i = \"arith.constant\"() <{value = 3 : index}> : () -> index
    \"affine.store\"(%x, %a, %i) <{map = #map}> : (f32, memref<8xf32>, index) -> ()
    \"func.return\"() : () -> ()
  }) : () -> ()
}) : () -> ()
";
    let pretty = "func.func @f(%a: memref<8xf32>, %x: f32) {
  affine.store %x, %a[3] : memref<8xf32>
  return
}
";
    let report = rewright_mlir::validate(pretty, text, &rewright_mlir::Options::default());
    assert_eq!(report.counts.proved, 1, "{report}");
}

#[test]
fn shifts_by_known_numbers_are_certain() {
    let shift = |amount: &str| {
        let text = format!(
            "func.func @f(%x: i64, %y: i64) -> i64 {{\n%c = arith.constant 3 : i64
             %z = arith.shrui %x, {amount} : i64\nreturn %z : i64\n}}\n"
        );
        rewright_mlir::own_text(&text).doubts.len()
    };
    assert_eq!((shift("%c"), shift("%y")), (0, 1));
}

/// Copies, casts and local arrays are written in our own text, other views are named.
#[test]
fn casts_copies_and_local_arrays_are_written_in_our_own_text() {
    let function = |name: &str, body: &str| {
        format!("func.func @{name}(%a: memref<2x3xi32>, %b: memref<?x3xi32>) {{\n{body}\nreturn\n}}\n")
    };
    let copy = "%c = memref.cast %a : memref<2x3xi32> to memref<?x3xi32>
      memref.copy %c, %b : memref<?x3xi32> to memref<?x3xi32>";
    let more = "%c = memref.cast %b : memref<?x3xi32> to memref<2x3xi32>\nmemref.copy %a, %c : memref<2x3xi32> to memref<2x3xi32>";
    let part =
        "%c = memref.subview %a[0, 1] [2, 2] [1, 1] : memref<2x3xi32> to memref<2x2xi32, strided<[3, 1], offset: 1>>";
    let local = "%c = memref.alloc() : memref<2xi32>";
    let strided = "%c = memref.alloc() : memref<2xi32, strided<[3]>>";
    let file = [("copy", copy), ("more", more), ("part", part), ("local", local), ("strided", strided)];
    let text = own_text(&file.map(|(name, body)| function(name, body)).concat());
    let left_out: Vec<&str> = text.left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(left_out, ["more", "part", "strided"], "{:?}", text.left_out);
    assert_eq!(text.text.matches("icmp_slt{i64}").count(), 2, "{}", text.text);
    assert_eq!(text.text.matches("std.heap.calloc").count(), 1, "{}", text.text);
    // A cell that is read before it is written has a value in our own text.
    let doubts: Vec<&str> = text.doubts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(doubts, ["copy", "local"]);
    assert!(text.text.contains("load{i32}") && text.text.contains("store{i32}"), "{}", text.text);
}
