//! Printing and parsing are inverse, and no text makes the parser panic.

use super::super::text::Printer;
use super::*;
use crate::testing::universe;
use proptest::prelude::*;

const EVERYTHING: &str = "\
func %f -> (i32, i8) {
  regions heap, \"the \\\"stack\\\"\"
b0(v0: i64, v1: i32):
  v2: i64 = const -8
  v3: f32 = const 0x3f800000
  v4: i32 = load{i32} v0, v2 @region1 trap=3 movable readonly aligned
  v5: i32 = iadd{i32} v1, v4 !17
  store{i32} v0, v5, v2 @region2
  tick
  v6: i32, v7: i8 = opaque 7 writes (v1, v0) !12
  opaque 9 pinned ()
  check.trapnz v1, 3
  check.trapz v7, 4
  br v1, b1(v5), b2
b1(v8: i32) cold:
  switch v8, [b1(v4), b2], b4(v5, v7)
b2:
  opaque.end 3 (v1), [b1(#0), b4(#1, v7), b5]
b4(v9: i32, v10: i8):
  return v9, v10
b5:
  trap 2
}

func \"u0:1\" {
b0:
  return
}
";

fn show(module: &Module, universe: &Universe) -> String {
    Printer(module, universe).to_string()
}

#[test]
fn printing_is_the_inverse_of_parsing() {
    let mut u = universe();
    let module = parse(EVERYTHING, &mut u).unwrap();
    assert_eq!(show(&module, &u), EVERYTHING);
}

#[test]
fn spacing_and_comments_do_not_matter() {
    let mut u = universe();
    let loose = EVERYTHING.replace(", ", " ,\n ; \"comment\n").replace("  ", "\t ");
    assert_eq!(show(&parse(&loose, &mut u).unwrap(), &u), EVERYTHING);
}

#[test]
fn operations_with_the_name_of_a_keyword_are_quoted() {
    let mut u = universe();
    for name in ["trap", "movable", "v1", "+"] {
        let op = u.ops.get(crate::testing::op_id(&u, "tick")).clone();
        u.ops.declare(rewright_typeprop::Op { name: name.into(), ..op });
    }
    let text = "func f {\nb0:\n  tick\n  \"movable\"\n  \"trap\"\n  \"v1\"\n  \"+\"\n  return\n}\n";
    assert_eq!(show(&parse(text, &mut u).unwrap(), &u), text);
}

#[test]
fn errors_have_a_place() {
    let mut u = universe();
    let mut error = |text: &str| parse(text, &mut u).unwrap_err().to_string();
    assert_eq!(error("func %f {\nb0:\n  frob v1\n}"), "3:3: no operation is called `frob`");
    assert_eq!(error("func %f -> (i33) {}"), "1:13: no type is called `i33`");
    assert_eq!(error("func %f {\nb0:\n  return"), "3:9: expected a block");
    assert_eq!(error("func %f {\nb0:\n  v0: i8 = const 1 v0: i8 = const 2"), "3:20: v0 is already defined");
    assert_eq!(error("func f {b0: return b0: return}"), "1:20: b0 is already defined");
    assert_eq!(error("func f {b0(v4000000000: i8): return}"), "1:12: this number is too large for a text of this size");
    assert_eq!(error("é \"abc"), "1:1: unexpected character 'é'");
    assert_eq!(error("\"abc"), "1:1: this string has no end");
    assert_eq!(
        error("func f {b0: v0: i64 = const 99999999999999999999"),
        "1:29: `99999999999999999999` is not a 64-bit number"
    );
    assert_eq!(error(&"(".repeat(5_000_000)), "1:1: expected `func`");
    assert_eq!(error(&format!("func f -> ({}", "i8{".repeat(100_000))), "1:111: types are nested too deep here");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn damaged_text_never_panics(cut in 0..EVERYTHING.len(), skip in 0usize..12, with in "[a-z0-9(){}\\[\\]:=@#!%,\" ]{0,6}") {
        let end = (cut + skip).min(EVERYTHING.len());
        let text = format!("{}{with}{}", &EVERYTHING[..cut], &EVERYTHING[end..]);
        let mut u = universe();
        if let Ok(module) = parse(&text, &mut u) {
            let printed = show(&module, &u);
            prop_assert_eq!(show(&parse(&printed, &mut u).unwrap(), &u), printed);
            for f in &module.functions {
                super::super::verify::verify(f, &u);
            }
        }
    }
}
