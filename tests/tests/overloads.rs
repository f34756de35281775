//! A call moves to a more specific overload where its operand is found to have the type, and what that overload
//! `requires` is known; and nowhere else.

use rewright_tests::domain::Optimised;

const PACK: &str = "
pack spectra
type Matrix
type Symmetric <: Matrix
type Spectrum
fact positive(a: Matrix)
fn square(a: Matrix) -> Matrix pure cost 400
fn gram(a: Matrix) -> Symmetric pure cost 150
fn mean(a: Matrix) -> Matrix pure cost 400
fn mirror(a: Matrix) -> Symmetric pure cost 150
fn eigen(a: Matrix) -> Spectrum pure cost 900
fn eigen(a: Symmetric) -> Spectrum pure cost 300 requires positive(a)
ruleset products {
  rule square_gram(a: Matrix): square(a) => gram(a)
  rule mean_mirror(a: Matrix): mean(a) => mirror(a)
}
ruleset facts {
  infer gram(a: Matrix): positive(gram(a))
}
schedule default { repeat 2 { saturate products  saturate facts } }
";

fn calls(of: &str) -> String {
    let module = format!("func %f(%a: Matrix) -> Spectrum {{\n  %b = {of} %a\n  %e = eigen %b\n  return %e\n}}\n");
    Optimised::new(PACK, &module).text("f")
}

#[test]
fn it_moves_where_the_condition_is_known() {
    // Of a type that is found, and of one that is there from the start.
    for of in ["square", "gram"] {
        let text = calls(of);
        assert!(text.contains("eigen.1 ") && text.contains("gram "), "{text}");
    }
}

#[test]
fn it_stays_where_the_condition_is_not_known() {
    for of in ["mean", "mirror"] {
        let text = calls(of);
        assert!(text.contains("eigen.0 ") && text.contains("mirror "), "{text}");
    }
}
