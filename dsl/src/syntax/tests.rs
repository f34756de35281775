//! Unit tests of lexer and grammar. Error messages are tested as data, see `dsl/tests`.

use super::ast::{ExampleBody, Expr, ExprKind, File, ItemKind, RuleBody};
use super::parse;
use crate::diagnostic::Diagnostic;

fn good(text: &str) -> File {
    let (file, diagnostics) = parse(0, text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    file
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// An expression with all brackets shown.
fn show(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Path(path) => path.clone(),
        ExprKind::Int { text, .. } | ExprKind::Float { text, .. } => text.clone(),
        ExprKind::Binary { op, left, right } => format!("({} {} {})", show(left), op.node, show(right)),
        ExprKind::Unary { op, expr } => format!("({} {})", op.node, show(expr)),
        ExprKind::Postfix { op, expr } => format!("({}{})", show(expr), op.node),
        ExprKind::Is { expr, .. } => format!("({} is _)", show(expr)),
        ExprKind::Paren(expr) => format!("[{}]", show(expr)),
        other => format!("{other:?}"),
    }
}

fn shown(text: &str) -> String {
    let file = good(&format!("example \"e\": {text} stays"));
    let ItemKind::Example(example) = &file.items[0].kind else { panic!("{file:?}") };
    let ExampleBody::Verdict { subject, .. } = &example.body else { panic!("{file:?}") };
    show(&subject.expr)
}

#[test]
fn tour_of_the_language() {
    let file = good(include_str!("../../tests/packs/pass/tour.rw"));
    assert_eq!(file.doc, ["Dense linear algebra: symmetry, fusion, constant weights."]);
    assert_eq!(file.pack.as_ref().map(|pack| pack.node.as_str()), Some("linalg"));
    assert_eq!(file.items.len(), 22);
    assert!(file.items.iter().all(|item| item.kind != ItemKind::Error));
}

#[test]
fn precedence() {
    assert_eq!(shown("a or b and not c == d"), "(a or (b and (not (c == d))))");
    assert_eq!(shown("a - b - c * d / e"), "((a - b) - ((c * d) / e))");
    assert_eq!(shown("a ^ b ^ c"), "(a ^ (b ^ c))");
    assert_eq!(shown("-a ^ b'"), "(- (a ^ (b')))");
    assert_eq!(shown("-a * b"), "((- a) * b)");
    assert_eq!(shown("a << 2 & b | c + 1"), "(((a << 2) & b) | (c + 1))");
    assert_eq!(shown("a + b is Int and c"), "(((a + b) is _) and c)");
    assert_eq!(shown("a .+ b .* c ./ d .- e"), "((a .+ ((b .* c) ./ d)) .- e)");
    assert_eq!(shown("(a + b)''"), "(([(a + b)]')')");
}

#[test]
fn literals() {
    assert_eq!(shown("-5"), "-5");
    assert_eq!(shown("- 5"), "-5");
    assert_eq!(shown("-5 ^ 2"), "(- (5 ^ 2))");
    assert_eq!(shown("1 - -0x8000_0000"), "(1 - -0x8000_0000)");
    assert_eq!(shown("x + -1.5e-3"), "(x + -1.5e-3)");
    assert_eq!(shown("- -1"), "(- -1)");
    let file = good("example \"e\": f(0xff, -0xff, 0b101, 1_000, \"a\\\"\\u{e9}\") stays");
    let text = format!("{file:?}");
    for value in ["value: 255", "value: -255", "value: 5,", "value: 1000", "a\\\"é"] {
        assert!(text.contains(value), "{value} in {text}");
    }
}

#[test]
fn keywords_are_names_where_they_can_be() {
    let file = good(
        "fn cost(at: Int, const cost: Int, const: Int) -> model.type cost cost + at effects io\n\
         rule rule(match: Int, when: Int): f(match, cost, if) => match when when == at, pure\n\
         fact fact(fact: fact)\n\
         example \"x\" { before { do = example fn = do return fn } after { return (rule) } }",
    );
    assert_eq!(file.items.len(), 4);
}

#[test]
fn several_results_attributes_and_type_arguments() {
    let file = good(
        "/// Both.\n@clif(\"udivrem\", 3)\n@here\nfn divrem{T <: Int}(x: T, y: T) -> (T, T) pure lazy requires y != \
         0, x is Big{8}\n\
         rule r(x: i32): f{i32, 4}(x) after s after t <=> x after s",
    );
    let ItemKind::Fn(function) = &file.items[0].kind else { panic!() };
    assert_eq!((function.results.len(), function.clauses.len()), (2, 3));
    assert_eq!((file.items[0].attributes.len(), file.items[0].doc.len()), (2, 1));
    let ItemKind::Rule(rule) = &file.items[1].kind else { panic!() };
    let RuleBody::Rewrite { rewrite, .. } = &rule.body else { panic!() };
    assert_eq!((rewrite.left.after.len(), rewrite.right.after.len(), rewrite.both_ways), (2, 1, true));
}

#[test]
fn one_broken_item_costs_one_item() {
    let (file, diagnostics) = parse(
        0,
        "rule a(x: i32): x + => x\nrule b(x: i32): x + 0 => x\n\
         ruleset s {\n  rule c(x i32): x => x\n  rule d(x: i32): (x => x\n  \
         rule e(x: i32): f(x) => x\n}\nfact g(x: i32)\n",
    );
    assert_eq!(codes(&diagnostics), ["RW0105", "RW0105", "RW0108"], "{diagnostics:#?}");
    assert_eq!(file.items.len(), 4);
    let ItemKind::Ruleset { items, .. } = &file.items[2].kind else { panic!() };
    assert_eq!(items.iter().filter(|item| item.kind == ItemKind::Error).count(), 2);
    assert_eq!(items.len(), 3);
}

#[test]
fn one_broken_statement_hides_no_other() {
    let (file, diagnostics) = parse(
        0,
        "rule a(x: i32) {\n  match p = x +\n  match q = \n  rewrite p = q\n  let z = f(x\n  when z\n}\nfact g(x: i32)\n\
         schedule s {\n  run\n  saturate 3\n  repeat x { run a }\n  run b\n}\n\
         example \"e\" {\n  before {\n    x = \n    y = 3 +\n    return x\n  }\n  after { return }\n}\n",
    );
    assert_eq!(diagnostics.len(), 10, "{diagnostics:#?}");
    assert_eq!(file.items.len(), 4);
}

#[test]
fn hostile_input_ends_quickly_and_shallowly() {
    let size = 1 << 14;
    for piece in [
        "(",
        ")",
        "{",
        "f(",
        "-",
        "not ",
        "x ^ ",
        "x + ",
        "x'",
        "[",
        "rule r(x: i32): (",
        "ruleset r {",
        "if (x) {",
        "\"",
        "$ ",
        "/// d\n",
        "@a ",
        "rule ",
        "a.",
        "\\",
        "é",
        "1 ",
        "after ",
        "'",
        "{x} ",
        "example \"e\" { before { if (c) {",
        "import a ",
    ] {
        for prefix in ["", "rule r(x: i32): ", "pack p\nrule r(x: i32) {\n match p = "] {
            let mut text = prefix.to_owned();
            text.push_str(&piece.repeat(size / piece.len()));
            let (file, diagnostics) = parse(0, &text);
            assert!(!diagnostics.is_empty() || piece == "import a ", "{piece}");
            assert!(diagnostics.len() <= super::MAX_DIAGNOSTICS + 1);
            drop(file);
        }
    }
    let (_, diagnostics) = parse(0, &"(".repeat(5 << 20));
    assert_eq!(codes(&diagnostics), ["RW0104"]);
}

#[test]
fn deepest_allowed_tree() {
    let deep = format!("example \"e\": {}x{} stays", "f(-".repeat(120), ")".repeat(120));
    good(&deep);
    good(&format!("example \"e\": {} stays", "x ^ ".repeat(250) + "x"));
    good(&format!("example \"e\": {} stays", "- ".repeat(250) + "x"));
    good(&format!("example \"e\": {} stays", vec!["x"; 250].join(" + ")));
    good(&format!("example \"e\": f({}) stays", vec!["x + 1"; 5000].join(", ")));
}
