//! Inference finds the least types, reports what has none, and is monotone.

use super::*;
use crate::ir::parse::{parse, read};
use crate::ir::text::print;
use crate::testing::domain;
use proptest::prelude::*;

fn typed(text: &str) -> String {
    let mut u = domain();
    match read(text, &mut u) {
        Ok(module) => module.functions.iter().map(|f| print(f, &u)).collect::<Vec<_>>().join("\n"),
        Err(errors) => errors.iter().map(|e| format!("{e}\n")).collect(),
    }
}

#[test]
fn calls_get_the_most_specific_overload_and_merges_the_join() {
    let text = "\
func %main(%a: Matrix{f64}, %s: Symmetric{f64}, %c: i8) -> f64 {
  %t = adj %a
  %g = mul %t, %s
  br %c, left(%s), right
left(%m):
  %e = norm %m
  jump done(%m, %e)
right:
  %n = norm %t
  jump done(%g, %n)
done(%either, %x):
  %y = norm %either
  %z = larger %x, %y
  return %z
}
";
    let wanted = "\
func %main -> (f64) {
b0(v0: Matrix{f64}, v1: Symmetric{f64}, v2: i8):
  v3: Matrix{f64} = adj{f64} v0
  v4: Matrix{f64} = mul{f64} v3, v1
  br v2, b1(v1), b2
b1(v5: Symmetric{f64}):
  v6: f64 = norm.1{f64} v5
  jump b3(v5, v6)
b2:
  v7: f64 = norm.0{f64} v3
  jump b3(v4, v7)
b3(v8: Matrix{f64}, v9: f64):
  v10: f64 = norm.0{f64} v8
  v11: f64 = larger{f64} v9, v10
  return v11
}
";
    let mut u = domain();
    let module = read(text, &mut u).unwrap();
    let printed = print(&module.functions[0], &u);
    // Numbers follow first mention; compare up to them.
    assert_eq!(shape(&printed), shape(wanted), "{printed}");
    assert_eq!(typed(&printed), printed, "what is printed reads back");
}

/// Text with numbers of values and blocks in order of appearance.
fn shape(text: &str) -> String {
    let mut seen: Vec<String> = vec![];
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let (name, rest) = word.split_at(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
        let id = name.strip_prefix(['v', 'b']).is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
        if id {
            let at = seen.iter().position(|s| s == name).unwrap_or_else(|| {
                seen.push(name.to_string());
                seen.len() - 1
            });
            out += &format!("{}{at}{rest}", &name[..1]);
        } else {
            out += word;
        }
    }
    out
}

#[test]
fn types_go_round_a_loop_until_they_fit() {
    let text = "\
func %f(%s: Symmetric{f64}, %c: i8) -> f64 {
  jump head(%s)
head(%m):
  %next = adj %m
  br %c, head(%next), done
done:
  %n = norm %m
  return %n
}
";
    // `adj` of a symmetric matrix is a matrix, so the loop holds matrices, and the norm is the general one.
    let printed = typed(text);
    assert!(printed.contains("Matrix{f64} = adj{f64}") && printed.contains("norm.0{f64}"), "{printed}");
}

#[test]
fn faults_have_a_place_and_say_what_there_is() {
    let error = |text: &str| typed(text);
    assert_eq!(
        error("func %f(%x: f64) -> f64 {\n  %y = mul %x, %x\n  return %y\n}"),
        "2:3: no `mul` takes (f64, f64); there is mul{T <: Num}(Matrix{T}, Matrix{T})\n"
    );
    assert_eq!(
        error("func %f(%x: Symmetric{f64}) -> f64 {\n  %y = crossed %x, %x\n  return %y\n}"),
        "2:3: `crossed` of (Symmetric{f64}, Symmetric{f64}) is ambiguous: none is the most specific of \
         crossed(Symmetric{f64}, Matrix{f64}), crossed(Matrix{f64}, Symmetric{f64})\n"
    );
    assert_eq!(
        error("func %f(%x: Matrix{f64}) -> f64 {\n  %y: i64 = norm %x\n  return %y\n}"),
        "2:3: `norm` gives f64, not i64\n"
    );
    assert_eq!(
        error("func %f -> f64 {\nb0:\n  jump l\nl:\n  jump l\nm(%x):\n  %y = norm %x\n  return %y\n}"),
        "6:1: a parameter of this block: no type is stated for it, and no edge brings one\n\
         7:3: a value that this function does not define: its type cannot be found: nothing that has a type leads \
         here\n"
            .replace("7:3: a value that this function does not define", "6:1: a parameter of this block")
    );
    assert_eq!(error("func %f(%x: f64) -> f64 {\n  return %y\n}"), "2:10: no value is called `%y`\n");
}

/// A straight-line program over matrices, whose parameters may be known more or less precisely.
fn program(params: &[&str], steps: &[(u8, usize, usize)]) -> String {
    let mut text = String::from("func %f(");
    for (i, ty) in params.iter().enumerate() {
        text += &format!("{}%v{i}: {ty}", if i == 0 { "" } else { ", " });
    }
    text += ") {\n";
    for (count, (op, a, b)) in (params.len()..).zip(steps) {
        let (a, b) = (a % count, b % count);
        match op % 3 {
            0 => text += &format!("  %v{count} = adj %v{a}\n"),
            1 => text += &format!("  %v{count} = mul %v{a}, %v{b}\n"),
            _ => text += &format!("  %v{count} = gram %v{a}\n"),
        }
    }
    text + "  return\n}\n"
}

proptest! {
    #[test]
    fn inference_is_monotone(
        precise in prop::collection::vec(any::<bool>(), 3),
        widened in prop::collection::vec(any::<bool>(), 3),
        steps in prop::collection::vec((any::<u8>(), 0usize..9, 0usize..9), 1..8),
    ) {
        let mut u = domain();
        let name = |symmetric: bool| if symmetric { "Symmetric{f64}" } else { "Matrix{f64}" };
        let low: Vec<&str> = precise.iter().map(|p| name(*p)).collect();
        let high: Vec<&str> = precise.iter().zip(&widened).map(|(p, w)| name(*p && !*w)).collect();
        let low = parse(&program(&low, &steps), &mut u).unwrap();
        let high = parse(&program(&high, &steps), &mut u).unwrap();
        for (a, b) in low.functions[0].values.iter().zip(&high.functions[0].values) {
            prop_assert!(u.types.is_subtype(*a, *b), "{} {}", u.types.display(*a), u.types.display(*b));
        }
        // Inferring again moves nothing.
        let mut again = low.functions[0].clone();
        prop_assert!(!reinfer(&mut again, &mut u));
    }
}

#[test]
fn a_call_moves_to_a_better_overload_when_its_operand_becomes_known() {
    let mut u = domain();
    let module = parse("func %f(%m: Matrix{f64}) -> f64 {\n  %n = norm %m\n  return %n\n}", &mut u).unwrap();
    let mut f = module.functions[0].clone();
    let param = f.block(f.entry()).params[0];
    let symmetric = parse("func %g(%s: Symmetric{f64}) {\n  return\n}", &mut u).unwrap().functions[0].values[0];
    f.values[param.index()] = symmetric;
    assert!(reinfer(&mut f, &mut u));
    assert!(print(&f, &u).contains("norm.1{f64}"));
}
