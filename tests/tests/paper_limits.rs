//! Limits that "Equality Saturation for Optimizing High-Level Julia IR" (Merckx, Besard, De Sutter) states of itself,
//! each with a test that shows it gone.

use rewright_extract::{Class, Graph, Limits, Method, Node, Status, extract};
use rewright_tests::domain::Optimised;

/// "A rule rewrites one expression."
#[test]
fn a_rule_rewrites_several_expressions() {
    let pack = "
pack products
type Matrix
fn mul(a: Matrix, b: Matrix) -> Matrix pure cost 100
fn hcat(a: Matrix, b: Matrix) -> Matrix pure cost 10
fn left(a: Matrix) -> Matrix pure cost 1
fn right(a: Matrix) -> Matrix pure cost 1
fn other(a: Matrix) -> Matrix pure cost 5
rule share_left(x: Matrix, v: Matrix, w: Matrix) {
  match p = mul(x, v)
  match q = mul(x, w)
  when distinct(v, w)
  let both = mul(x, hcat(v, w))
  rewrite p => left(both)
  rewrite q => right(both)
}
schedule default { run rules }
";
    let module = "
func %f(%x: Matrix, %v: Matrix, %w: Matrix) -> (Matrix, Matrix) {
  %p = mul %x, %v
  %a = other %p
  %q = mul %x, %w
  %b = other %q
  return %a, %b
}
";
    let done = Optimised::new(pack, module);
    let operations = done.operations("f");
    let count = |name: &str| operations.iter().filter(|o| *o == name).count();
    assert_eq!((count("mul"), count("hcat"), count("other")), (1, 1, 2), "{}", done.text("f"));
}

/// "A pattern has a fixed number of operands."
#[test]
fn one_rule_is_for_every_number_of_operands() {
    let pack = "
pack broadcast
type Operand
type Fn
fn bcast(f: Fn, xs...: Operand) -> Operand pure cost 5
fn materialize(x: Operand) -> Operand effects allocates(heap) cost 50
unsafe rule fuse(f: Fn, xs...: Operand, t: Operand, ys...: Operand):
  bcast(f, xs..., materialize(t), ys...) => bcast(f, xs..., t, ys...)
  removes allocates(heap)
  because \"what is fresh is seen by nobody else\"
";
    for operands in [1, 2, 3, 4, 7, 12] {
        for place in 0..operands {
            let args: Vec<String> =
                (0..operands).map(|i| if i == place { "%t".into() } else { format!("%x{i}") }).collect();
            let params: Vec<String> = (0..operands).map(|i| format!("%x{i}: Operand")).collect();
            let (args, params) = (args.join(", "), params.join(", "));
            let module = format!(
                "func %f(%f: Fn, {params}) -> Operand {{\n  %t = materialize %x{place}\n  %y = bcast %f, {args}\n  \
                 return %y\n}}\n"
            );
            let done = Optimised::new(pack, &module);
            assert_eq!(done.operations("f"), ["bcast"], "{}", done.text("f"));
            assert_eq!(done.relaxed("f"), ["materialize"]);
        }
    }
}

/// "Extraction lists the cycles of classes." Here every two of forty classes are in a cycle, which are more cycles
/// than atoms in a gram of anything.
#[test]
fn cycles_of_classes_are_not_listed() {
    const CLASSES: u32 = 40;
    let cost = |class: u32| f64::from(500 + class * 37 % CLASSES);
    let step = |a: u32, b: u32| if b < a { 1.0 } else { 2.0 };
    let others = |class: u32| (0..CLASSES).filter(move |other| *other != class);
    let classes = (0..CLASSES).map(|class| {
        let leaf = Node::new(cost(class), [], []);
        let rest = others(class).map(move |other| Node::new(step(class, other), [Class(other)], []));
        [leaf].into_iter().chain(rest).collect()
    });
    let graph = Graph { classes: classes.collect(), roots: (0..CLASSES).map(Class).collect() };
    let limits = Limits::default();
    let found = extract(&graph, Method::Ilp, &limits, None).expect("every class has a leaf");
    assert_eq!(found.status, Status::Optimal);
    assert!(found.runs <= limits.runs * (1 + limits.cut_rounds), "{} runs", found.runs);
    // The first class has the cheapest leaf, and every other one is cheapest from a class before it: there is no
    // cheaper way to have any of them.
    assert!((1..CLASSES).all(|class| cost(class) > cost(0)));
    assert_eq!(found.cost, cost(0) + f64::from(CLASSES - 1));
}

/// "The type of a class does not depend on the node that is chosen." Here a product is a symmetric matrix where, and
/// only where, the dearer node is chosen that says so: for the sake of a user that has a cheaper method then.
#[test]
fn types_follow_the_node_that_is_chosen() {
    let pack = "
pack nodes
type Matrix
type Symmetric <: Matrix
type Spectrum
fn adj(a: Matrix) -> Matrix pure cost 10
fn mul(a: Matrix, b: Matrix) -> Matrix pure cost 100
fn gram(a: Matrix) -> Symmetric pure cost 150
fn eigen(a: Matrix) -> Spectrum pure cost 900
fn eigen(a: Symmetric) -> Spectrum pure cost 300
rule product(a: Matrix): mul(a, adj(a)) => gram(a)
";
    let module = "
func %wanted(%a: Matrix) -> Spectrum {
  %t = adj %a
  %p = mul %a, %t
  %e = eigen %p
  return %e
}
func %plain(%a: Matrix) -> Matrix {
  %t = adj %a
  %p = mul %a, %t
  return %p
}
";
    let done = Optimised::new(pack, module);
    assert_eq!(done.operations("wanted"), ["gram", "eigen"], "{}", done.text("wanted"));
    assert!(done.text("wanted").contains("eigen.1 "), "the method for symmetric matrices: {}", done.text("wanted"));
    assert_eq!(done.operations("plain"), ["adj", "mul"], "{}", done.text("plain"));
}

/// "A statement that was relaxed has lost its position": if it is chosen after all, it may stand anywhere. Here it
/// stands where it stood, between the statements that it stood between.
#[test]
fn a_relaxed_statement_that_is_chosen_stays_at_its_position() {
    let pack = "
pack positions
type Item
fn say(x: Item) -> Item effects io cost 10
fn copy(x: Item) -> Item effects allocates(heap) cost 50
fn look(x: Item) -> Item pure cost 5
unsafe rule look_copy(a: Item): look(copy(a)) => look(a)
  removes allocates(heap)
  because \"a copy looks the same\"
";
    const STATEMENTS: usize = 4;
    for place in 0..=STATEMENTS {
        // Other code uses the copy; or none does.
        for wanted in [true, false] {
            let mut module = String::from("func %f(%x: Item) -> (Item, Item) {\n");
            for i in 0..=STATEMENTS {
                if i == place {
                    module.push_str("  %c = copy %x\n");
                }
                if i < STATEMENTS {
                    module.push_str(&format!("  %s{i} = say %x\n"));
                }
            }
            let second = if wanted { "%c" } else { "%x" };
            module.push_str(&format!("  %r = look %c\n  return %r, {second}\n}}\n"));
            let done = Optimised::new(pack, &module);
            assert_eq!(done.rules("f"), ["positions.rules.look_copy"], "the rule licenses the copy to go");
            let mut expected = vec!["say"; STATEMENTS];
            if wanted {
                expected.insert(place, "copy");
            }
            let found: Vec<String> = done.operations("f").into_iter().filter(|o| o != "look").collect();
            assert_eq!(found, expected, "{}", done.text("f"));
            assert_eq!(done.relaxed("f").len(), usize::from(!wanted));
        }
    }
}
