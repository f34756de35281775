//! What "Equality Saturation for Optimizing High-Level Julia IR" (Merckx, Besard, De Sutter) shows, by figure.

use rewright_cfg_skeleton::select::Status;
use rewright_tests::domain::Optimised;

/// Figure 6: movements of a plane cancel, by rules about movements, trigonometry and floating-point numbers, however many
/// rounds that takes.
#[test]
fn figure_6_movements_cancel() {
    let pack = "
pack plane
import std.core
type Plane
fn turn(p: Plane, angle: f64) -> Plane  effects allocates(heap)  cost 100
fn shift(p: Plane, x: f64, y: f64) -> Plane  effects allocates(heap)  cost 100
fn sine(x: f64) -> f64  pure  cost 40
fn cosine(x: f64) -> f64  pure  cost 40
unsafe rule turns(p: Plane, a: f64, b: f64): turn(turn(p, a), b) => turn(p, fadd(a, b))
  removes allocates(heap)
  because \"nobody else sees the plane in between\"
unsafe rule shifts(p: Plane, a: f64, b: f64, c: f64, d: f64):
  shift(shift(p, a, b), c, d) => shift(p, fadd(a, c), fadd(b, d))
  removes allocates(heap)
  because \"nobody else sees the plane in between\"
unsafe rule full_turn(p: Plane): turn(p, 6.283185307179586) => p
  removes allocates(heap)
  because \"it is where it was\"
unsafe rule no_shift(p: Plane): shift(p, 0.0, 0.0) => p
  removes allocates(heap)
  because \"it is where it was\"
dynamic rule sum(const a: f64, const b: f64): fadd(a, b) => eval(fadd(a, b))
dynamic rule difference(const a: f64, const b: f64): fsub(a, b) => eval(fsub(a, b))
rule pythagoras(a: f64): fadd(fmul(cosine(a), cosine(a)), fmul(sine(a), sine(a))) => 1.0
rule inverse(x: f64): fadd(x, fneg(x)) => 0.0
rule commute(x: f64, y: f64): fadd(x, y) => fadd(y, x)
schedule default { saturate rules }
";
    let module = "
func %move(%p: Plane, %dx: f64, %th: f64) -> Plane {
  %z: f64 = const 0.0
  %one: f64 = const 1.0
  %pi: f64 = const 3.141592653589793
  %a = shift %p, %dx, %z
  %b = turn %a, %pi
  %c = cosine %th
  %s = sine %th
  %cc = fmul %c, %c
  %ss = fmul %s, %s
  %u = fadd %cc, %ss
  %v = fsub %u, %one
  %d = shift %b, %v, %v
  %e = turn %d, %pi
  %n = fneg %dx
  %f = shift %e, %n, %z
  return %f
}
";
    let done = Optimised::new(pack, module);
    assert_eq!(done.operations("move"), [] as [&str; 0], "{}", done.text("move"));
    assert_eq!(done.outcome("move").cost_after, 0);
    let mut gone = done.relaxed("move");
    gone.sort();
    assert_eq!(gone, ["shift", "shift", "shift", "turn", "turn"]);
}

/// Figure 9, where nothing has effects: a product of matrices, its bias and its activation become one fused call, although
/// what is in between was materialised.
#[test]
fn figure_9_layers_are_fused() {
    let pack = "
pack layers
import std.core
type Matrix
type Lazy
type Activation
fn mul(a: Matrix, b: Matrix) -> Matrix  pure  cost 6000
fn lift(x: Matrix) -> Lazy  pure  cost 1
fn badd(x: Lazy, b: Lazy) -> Lazy  pure  cost 5
fn bcast(f: Activation, x: Lazy) -> Lazy  pure  cost 5
fn materialize(x: Lazy) -> Matrix  pure  cost 900
fn fused(f: Activation, w: Matrix, x: Matrix, b: Matrix) -> Matrix  pure  cost 6100
rule lazily(x: Lazy): lift(materialize(x)) => x
rule dense(f: Activation, w: Matrix, x: Matrix, b: Matrix):
  materialize(bcast(f, badd(lift(mul(w, x)), lift(b)))) => fused(f, w, x, b)
schedule default { saturate rules }
";
    let module = "
func %forward(%w: Matrix, %x: Matrix, %b: Matrix, %f: Activation) -> Matrix {
  %wx = mul %w, %x
  %l = lift %wx
  %lb = lift %b
  %s = badd %l, %lb
  %logits = materialize %s
  %again = lift %logits
  %z = bcast %f, %again
  %y = materialize %z
  return %y
}
";
    let done = Optimised::new(pack, module);
    assert_eq!(done.operations("forward"), ["fused"], "{}", done.text("forward"));
}

/// Figure 10, where each product is a new matrix: the layer's product goes to the arms, and what stands behind the merge is
/// copied into them, so that the arm without the dropout gets the fused call.
#[test]
fn figure_10_a_layer_is_fused_in_the_arm_that_allows_it() {
    let pack = "
pack layers
import std.core
type Matrix
type Lazy
type Activation
fn mul(a: Matrix, b: Matrix) -> Matrix  effects allocates(heap)  cost 6000
fn lift(x: Matrix) -> Lazy  pure  cost 1
fn badd(x: Lazy, b: Lazy) -> Lazy  pure  cost 5
fn bcast(f: Activation, x: Lazy) -> Lazy  pure  cost 5
fn materialize(x: Lazy) -> Matrix  effects allocates(heap)  cost 900
fn dropout(x: Matrix) -> Matrix  effects allocates(heap), io  cost 900
fn fused(f: Activation, w: Matrix, x: Matrix, b: Matrix) -> Matrix  effects allocates(heap)  cost 6100
unsafe rule lazily(x: Lazy): lift(materialize(x)) => x
  removes allocates(heap) because \"a new matrix that nothing refers to\"
unsafe rule dense(f: Activation, w: Matrix, x: Matrix, b: Matrix):
  materialize(bcast(f, badd(lift(mul(w, x)), lift(b)))) => fused(f, w, x, b)
  removes allocates(heap) because \"a new matrix that nothing refers to\"
schedule default { saturate rules }
";
    let module = "
func %forward(%w: Matrix, %x: Matrix, %b: Matrix, %f: Activation, %training: i8) -> Matrix {
  %wx = mul %w, %x
  %l = lift %wx
  %lb = lift %b
  %s = badd %l, %lb
  %logits = materialize %s
  br %training, train, join(%logits)
train:
  %dropped = dropout %logits
  jump join(%dropped)
join(%z: Matrix):
  %again = lift %z
  %a = bcast %f, %again
  %y = materialize %a
  return %y
}
";
    let done = Optimised::new(pack, module);
    let training = ["mul", "lift", "lift", "badd", "materialize", "dropout", "lift", "bcast", "materialize"];
    assert_eq!(done.operations("forward"), [&training[..], &["fused"]].concat(), "{}", done.text("forward"));
}

/// The operation that is executed where a write stays is chosen together with values: a copy of a product is the product in
/// place, unless the product is wanted anyway.
#[test]
fn writes_are_chosen_with_values() {
    let pack = "
pack matrices
import std.core
type Matrix
fn mul(a: Matrix, b: Matrix) -> Matrix  pure  cost 500
fn copy_to(d: Matrix, a: Matrix) -> ()  effects writes(heap)  cost 100
fn mul_into(d: Matrix, a: Matrix, b: Matrix) -> ()  effects writes(heap)  cost 400
fn at(a: Matrix, i: i64) -> f64  effects reads(heap)  cost 10
rule in_place(d: Matrix, a: Matrix, b: Matrix, s: State):
  copy_to(d, mul(a, b)) after s => mul_into(d, a, b) after s
schedule default { saturate rules }
";
    let module = "
func %first(%d: Matrix, %a: Matrix, %b: Matrix) -> f64 {
  %z: i64 = const 0
  %p = mul %a, %b
  copy_to %d, %p
  %r = at %d, %z
  return %r
}

func %wanted(%d: Matrix, %a: Matrix, %b: Matrix) -> Matrix {
  %p = mul %a, %b
  copy_to %d, %p
  return %p
}
";
    let done = Optimised::new(pack, module);
    assert_eq!(done.operations("first"), ["mul_into", "at"], "{}", done.text("first"));
    assert_eq!(done.operations("wanted"), ["mul", "copy_to"], "{}", done.text("wanted"));
}

/// A write of two words takes the place of two of one where nothing looks in between, on every way on, and where it is
/// cheaper; only of two programs, with it and without, is said that one is optimal.
#[test]
fn writes_are_merged() {
    let pack = "
pack words
import std.core
type Words
fn put(d: Words, const i: i64, x: i64) -> ()  effects writes(heap)  cost 40
fn put_two(d: Words, const i: i64, x: i64, y: i64) -> ()  effects writes(heap)  cost 50
fn put_dear(d: Words, const i: i64, x: i64, y: i64) -> ()  effects writes(heap)  cost 90
fn at(d: Words, const i: i64) -> i64  effects reads(heap)  cost 10
rule two(d: Words, const i: i64, const j: i64, x: i64, y: i64, s: State):
  put(d, j, y) after (put(d, i, x) after s) => put_two(d, i, x, y) after s when icmp_eq(j, iadd(i, 1))
rule dear(d: Words, const i: i64, const j: i64, x: i64, y: i64, s: State):
  put(d, j, y) after (put(d, i, x) after s) => put_dear(d, i, x, y) after s when icmp_eq(j, iadd(i, 2))
schedule default { saturate rules }
";
    let function = |name: &str, body: &str| {
        let constants = "  %0: i64 = const 0\n  %1: i64 = const 1\n  %2: i64 = const 2\n";
        format!("func %{name}(%d: Words, %x: i64, %y: i64) -> i64 {{\n{constants}{body}}}\n")
    };
    let module = [
        function("merged", "  put %d, %0, %x\n  put %d, %1, %y\n  return %x\n"),
        function("dear", "  put %d, %0, %x\n  put %d, %2, %y\n  return %x\n"),
        function("looked_at", "  put %d, %0, %x\n  %r = at %d, %2\n  put %d, %1, %y\n  return %r\n"),
        function(
            "in_both_arms",
            "  put %d, %0, %x\n  br %x, b1, b2\nb1:\n  put %d, %1, %y\n  return %x\nb2:\n  put %d, %1, %x\n  return %y\n",
        ),
        function(
            "in_one_arm",
            "  put %d, %0, %x\n  br %x, b1, b2\nb1:\n  put %d, %1, %y\n  return %x\nb2:\n  return %y\n",
        ),
    ];
    let done = Optimised::new(pack, &module.concat());
    for (name, wanted) in [
        ("merged", &["put_two"][..]),
        ("dear", &["put", "put"]),
        ("looked_at", &["put", "at", "put"]),
        ("in_both_arms", &["put_two", "put_two"]),
        ("in_one_arm", &["put", "put"]),
    ] {
        assert_eq!(done.operations(name), wanted, "{}", done.text(name));
    }
    assert_eq!([done.outcome("merged").status, done.outcome("in_both_arms").status], [Status::Optimal, Status::Greedy]);
}

/// Constants that are known from outside make a function of its own, of which rules see them; the general one stays.
#[test]
fn constants_from_outside_specialise() {
    let pack = "
pack images
import std.core
type Image
fn blended(a: Image, b: Image, weight: i64) -> Image  pure  cost 900
fn copied(a: Image) -> Image  pure  cost 90
rule all_of_it(a: Image, b: Image): blended(a, b, 0) => copied(a)
schedule default { saturate rules }
";
    let module = "
func %blend(%a: Image, %b: Image, %weight: i64, %wanted: i64) -> Image {
  br %wanted, mix, keep
mix:
  %m = blended %a, %b, %weight
  return %m
keep:
  return %a
}
";
    let done = Optimised::with(pack, module, &["first = blend(_, _, 0, 1)", "blend(_, _, _, 0)"]);
    assert_eq!(done.operations("first"), ["copied"], "{}", done.text("first"));
    assert_eq!(done.operations("blend_1"), [] as [&str; 0], "{}", done.text("blend_1"));
    assert_eq!(done.operations("blend"), ["blended"], "{}", done.text("blend"));
    assert!(done.text("first").starts_with("func \"%first\"") || done.text("first").starts_with("func %first"));
}

/// A function that is too large to be inlined is known by its effects and by what it gives.
#[test]
fn large_functions_are_known_by_summaries() {
    let pack = "
pack summaries
import std.core
fact byte(x: i64)  spec icmp_ult(x, 256)
fn widened(x: i64) -> i64  pure  cost 30
rule bytes_are_wide(x: i64): widened(x) => x when byte(x)
rule nothing(x: i64): isub(x, x) => 0
schedule default { saturate rules }
";
    let steps: String = (0..70).map(|n| format!("  %s{} = imul %s{n}, %x\n", n + 1)).collect();
    let module = format!(
        "
func %twice(%x: i64) -> i64 {{
  %a = hash %x
  %b = hash %x
  %d = isub %a, %b
  return %d
}}
func %narrow(%x: i64) -> i64 {{
  %a = hash %x
  %w = widened %a
  %limit: i64 = const 256
  %c = icmp_ult %w, %limit
  br %c, small, large
small:
  return %w
large:
  %n = widened %limit
  return %n
}}
func %hash(%x: i64) -> i64 {{
  %zero: i64 = const 0
  %one: i64 = const 1
  %many: i64 = const 20
  jump again(%zero, %x)
again(%i: i64, %s0: i64):
{steps}  %j = iadd %i, %one
  %more = icmp_ult %j, %many
  br %more, again(%j, %s70), done
done:
  %mask: i64 = const 255
  %h = band %s70, %mask
  return %h
}}
"
    );
    let done = Optimised::new(pack, &module);
    // It is pure although it loops: the loop ends. So it is not called for nothing.
    assert_eq!(done.operations("twice"), [] as [&str; 0], "{}", done.text("twice"));
    assert_eq!(done.operations("narrow"), ["hash"], "{}", done.text("narrow"));
}

/// A check that both arms execute is executed once, and one that a loop does not change is executed before it.
#[test]
fn checks_move() {
    let pack = "
pack divisions
import std.core
rule nothing(x: i64): isub(x, x) => 0
schedule default { saturate rules }
";
    let module = "
func %arms(%x: i64, %y: i64, %c: i64) -> i64 {
  br %c, then, els
then:
  %a = udiv %x, %y
  %b = imul %a, %c
  return %b
els:
  %d = udiv %x, %y
  return %d
}
func %looping(%x: i64, %y: i64, %n: i64) -> i64 {
  %zero: i64 = const 0
  %one: i64 = const 1
  jump head(%n, %zero)
head(%i: i64, %s: i64):
  %q = udiv %x, %y
  %t = iadd %s, %q
  %j = isub %i, %one
  br %j, head(%j, %t), out
out:
  return %t
}
";
    let done = Optimised::new(pack, module);
    assert_eq!(done.operations("arms").iter().filter(|op| *op == "udiv").count(), 1, "{}", done.text("arms"));
    let looping = done.text("looping");
    let division = looping.find("udiv").expect("it divides");
    assert!(division < looping.find("isub").expect("it counts"), "{looping}");
    for name in ["arms", "looping"] {
        let outcome = done.outcome(name);
        assert!(
            outcome.cost_after < outcome.cost_before && outcome.restructured.moved.len() == 1,
            "{name}: {outcome:?}"
        );
    }
}

/// The types of parameters of blocks are those of what arrives there, also after rules, and round loops.
#[test]
fn types_go_through_parameters_of_blocks() {
    let pack = "
pack matrices
import std.core
type Matrix
type Symmetric <: Matrix
type Values
fn plus_transpose(a: Matrix) -> Matrix  pure  cost 10
fn symmetrised(a: Matrix) -> Symmetric  pure  cost 11
fn inverse(a: Matrix) -> Matrix  pure  cost 50
fn inverse(a: Symmetric) -> Symmetric  pure  cost 40
fn eigenvalues(a: Matrix) -> Values  pure  cost 900
fn eigenvalues(a: Symmetric) -> Values  pure  cost 100
fn shown(v: Values) -> i64  effects io  cost 1
rule symmetric(a: Matrix): plus_transpose(a) => symmetrised(a)
schedule default { saturate rules }
";
    let module = "
func %annotated(%a: Symmetric, %b: Symmetric, %c: i64) -> Values {
  br %c, l, r
l:
  jump m(%a)
r:
  jump m(%b)
m(%x: Matrix):
  %v = eigenvalues %x
  return %v
}
func %by_rule(%a: Matrix, %b: Matrix, %c: i64) -> Values {
  br %c, l, r
l:
  %p = plus_transpose %a
  jump m(%p)
r:
  %q = plus_transpose %b
  jump m(%q)
m(%x: Matrix):
  %v = eigenvalues %x
  return %v
}
func %one_arm(%a: Matrix, %b: Matrix, %c: i64) -> Values {
  br %c, l, r
l:
  %p = plus_transpose %a
  jump m(%p)
r:
  jump m(%b)
m(%x: Matrix):
  %v = eigenvalues %x
  return %v
}
func %round_a_loop(%a: Symmetric, %n: i64) -> i64 {
  %one: i64 = const 1
  jump head(%a, %n)
head(%m: Matrix, %i: i64):
  %v = eigenvalues %m
  %s = shown %v
  %next = inverse %m
  %j = isub %i, %one
  br %j, head(%next, %j), out
out:
  return %s
}
func %spoilt_in_a_loop(%a: Symmetric, %b: Matrix, %n: i64) -> i64 {
  %one: i64 = const 1
  jump head(%a, %b, %n)
head(%m: Matrix, %o: Matrix, %i: i64):
  %v = eigenvalues %m
  %s = shown %v
  %j = isub %i, %one
  br %j, head(%o, %m, %j), out
out:
  return %s
}
";
    let done = Optimised::new(pack, module);
    for (name, types) in [
        ("annotated", 1),
        ("by_rule", 1),
        ("one_arm", 0),
        ("round_a_loop", 1),
        // They change places in each iteration, so neither is.
        ("spoilt_in_a_loop", 0),
    ] {
        let outcome = done.outcome(name);
        assert_eq!(outcome.narrowed.len(), types, "{name}: {}", done.text(name));
        assert_eq!(done.text(name).contains("eigenvalues.1"), types > 0, "{name}: {}", done.text(name));
    }
    assert_eq!(done.operations("by_rule").iter().filter(|op| *op == "symmetrised").count(), 2);
    assert!(done.text("round_a_loop").contains("inverse.1"), "{}", done.text("round_a_loop"));
}
