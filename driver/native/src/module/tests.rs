//! Modules through the house: rules at both points, inlining, host functions, bodies while matching, compiled code.

use super::*;
use crate::jit::Jit;
use crate::permission::Allowed;
use cranelift_codegen::data_value::DataValue;
use rewright_cfg_skeleton::ir::parse::Request;
use rewright_dsl::diagnostic::Severity;
use rewright_dsl::load::{Origin, Root};
use rewright_packs as packs;
use rewright_pipeline::front::FrontEnd;
use rewright_typeprop::{Constant, Data, HostFns};

const PACK: &str = r#"
pack shapes
import std.core

type Vector{T}

@link("libm.so.6", "hypot")
fn hypot(x: f64, y: f64) -> f64
  pure  commutative  cost 200
host fn dot(x: Vector{f64}, y: Vector{f64}) -> f64
  pure  cost 400
host fn scale(x: Vector{f64}, const k: f64) -> Vector{f64}
  pure  cost 300
@body("square_sum")
fn square_sum(x: i64, y: i64) -> i64
  pure  cost 50
fn twice(x: i64) -> i64
  pure  cost 900

ruleset high {
  rule hypot_zero(x: f64): hypot(x, 0.0) => fabs(x)
  rule halve(x: i64): ushr{i64, i64}(twice(x), 1) => band(x, 0x7fffffffffffffff)
  dynamic rule squares(const x: i64, const y: i64): square_sum(x, y) => eval(square_sum(x, y))
}
ruleset low {
  dynamic rule scaled(const x: Vector{f64}, const k: f64): scale(x, k) => eval(scale(x, k))
  dynamic rule dots(const x: Vector{f64}, const y: Vector{f64}): dot(x, y) => eval(dot(x, y))
}
schedule early at before_inlining { saturate high }
schedule late at after_inlining { saturate low }
"#;

fn hosts() -> HostFns {
    let mut hosts = HostFns::default();
    hosts.register("dot", |args: &[Constant]| {
        let (x, y) = (args[0].data()?.doubles()?, args[1].data()?.doubles()?);
        (x.len() == y.len()).then(|| x.iter().zip(&y).map(|(a, b)| a * b).sum::<f64>().into())
    });
    hosts.register("scale", |args: &[Constant]| {
        let (x, k) = (args[0].data()?.doubles()?, args[1].float()?);
        Some(Data::of_f64(&x.iter().map(|a| a * k).collect::<Vec<_>>()).into())
    });
    hosts
}

fn module(text: &str) -> ModuleOptimiser {
    let root = Root { origin: Origin::Disk("shapes.rw".into()), text: PACK.into(), library: false };
    let packs = packs::load(vec![root]);
    let errors: Vec<_> = packs.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let mut program = packs.program;
    let mut allowed = Allowed::default();
    allowed.add("libm.so.6").unwrap();
    allowed.grant(&mut program);
    program.universe.hosts = hosts();
    ModuleOptimiser::new(program, text).unwrap_or_else(|error| panic!("{error}"))
}

fn optimised(module: &ModuleOptimiser) -> ModuleOutcome {
    let outcome = module.optimise(&Options::default(), |_| true);
    for f in outcome.statistics.wanted() {
        assert!(!matches!(f.fate, rewright_pipeline::optimiser::Fate::Failed(_)), "{:?}", f.fate);
    }
    outcome
}

fn jit(module: &ModuleOptimiser, outcome: &ModuleOutcome) -> Jit {
    module.compile(outcome).and_then(Clif::jit).unwrap_or_else(|error| panic!("{error}"))
}

fn unoptimised(module: &ModuleOptimiser) -> ModuleOutcome {
    module.optimise(&Options::default(), |_| false)
}

const VECTORS: &str = "\
func %main(%x: f64) -> f64 {
  %v: Vector{f64} = const [1.0, 2.0, 3.0]
  %k: f64 = const 2.0
  %w = scale %v, %k
  %d = dot %v, %w
  %z: f64 = const 0.0
  %a = length %x, %z
  %s = fadd %a, %d
  return %s
}

func %length(%x: f64, %y: f64) -> f64 {
  %h = hypot %x, %y
  return %h
}

func %rescaled(%k: f64) -> f64 {
  %v: Vector{f64} = const [1.0, 2.0, 3.0]
  %two: f64 = const 2.0
  %w = scale %v, %two
  %d = dot %w, %w
  %e = fmul %d, %k
  return %e
}
";

#[test]
fn what_depends_on_constants_alone_is_computed() {
    let module = module(VECTORS);
    let outcome = optimised(&module);
    let text = outcome.print();
    assert!(!text.contains("= scale") && !text.contains("= dot"), "{text}");
    // Inlining brings `hypot` and its zero together, after the rule's point has passed.
    assert!(text.contains("hypot"), "{text}");
    assert_eq!(outcome.inlined, 1);
    let (before, after) = (jit(&module, &unoptimised(&module)), jit(&module, &outcome));
    for x in [-2.5f64, 0.0, 1e300] {
        let args = [DataValue::F64(x.into())];
        for name in ["%main", "%rescaled"] {
            assert_eq!(before.call(name, &args).unwrap(), after.call(name, &args).unwrap(), "{name}({x})");
        }
        assert_eq!(after.call("%main", &args).unwrap(), [DataValue::F64((x.abs() + 28.0).into())]);
    }
}

#[test]
fn a_constant_array_is_emitted_as_data() {
    let text = "\
func %f(%u: Vector{f64}) -> f64 {
  %v: Vector{f64} = const [3.0, 4.0]
  %k: f64 = const 2.0
  %w = scale %v, %k
  %d = dot %w, %u
  return %d
}
";
    let module = module(text);
    let outcome = optimised(&module);
    let printed = outcome.print();
    assert!(printed.contains("const [6.0, 8.0]") && !printed.contains("scale"), "{printed}");
    let clif = module.compile(&outcome).unwrap();
    assert!(clif.text.contains("symbol %data_"), "{}", clif.text);
    let data = &outcome.universe.data;
    let address = data.address_of(data.intern(Data::of_f64(&[1.0, 10.0]))).unwrap();
    let results = clif.jit().unwrap().call("%f", &[DataValue::I64(address as i64)]).unwrap();
    assert_eq!(results, [DataValue::F64(86.0.into())]);
}

#[test]
fn bodies_are_run_while_matching_with_fuel() {
    let text = "\
func %square_sum(%x: i64, %y: i64) -> i64 {
  %a = imul %x, %x
  br %y, loop, done(%a)
loop:
  %b = imul %y, %y
  %c = iadd %a, %b
  %seven: i64 = const 7
  %forever = icmp_eq %y, %seven
  br %forever, loop2, done(%c)
loop2:
  jump loop2
done(%r):
  return %r
}

func %known -> i64 {
entry:
  %x: i64 = const 3
  %y: i64 = const 4
  %r = square_sum %x, %y
  return %r
}

func %endless -> i64 {
entry:
  %x: i64 = const 3
  %y: i64 = const 7
  %r = square_sum %x, %y
  return %r
}
";
    let module = module(text);
    let chosen = |name: &str| {
        let index = module.function(name).unwrap();
        let outcome = module.optimise(&Options::default(), |i| i == index);
        Printer(&outcome.module.functions[index], &outcome.universe).to_string()
    };
    let known = chosen("known");
    assert!(known.contains("const 25") && !known.contains("square_sum"), "{known}");
    let endless = chosen("endless");
    assert!(!endless.contains("const 58"), "{endless}");
}

#[test]
fn rules_before_inlining_see_calls_that_are_inlined_after() {
    let text = "\
func %f(%x: i64) -> i64 {
  %one: i64 = const 1
  %t = twice %x
  %h = ushr %t, %one
  return %h
}

func %twice(%x: i64) -> i64 {
  %y = iadd %x, %x
  return %y
}

func %g(%x: i64) -> i64 {
  %t = twice %x
  return %t
}
";
    let module = module(text);
    let outcome = optimised(&module);
    let text = outcome.print();
    let f = &text[..text.find("func %twice").unwrap()];
    assert!(f.contains("band") && !f.contains("twice"), "{text}");
    let g = &text[text.find("func %g").unwrap()..];
    assert!(g.contains("iadd") && !g.contains("twice"), "{text}");
    let jit = jit(&module, &outcome);
    assert_eq!(jit.call("%f", &[DataValue::I64(-4)]).unwrap(), [DataValue::I64(i64::MAX - 3)]);
    assert_eq!(jit.call("%g", &[DataValue::I64(21)]).unwrap(), [DataValue::I64(42)]);
}

#[test]
fn what_nothing_implements_is_named() {
    let module = module("func %f(%x: i64) -> i64 {\n  %y = twice %x\n  return %y\n}\n");
    let error = module.compile(&unoptimised(&module)).err().unwrap();
    assert!(error.to_string().starts_with("%f calls `twice`, which cannot be executed"), "{error}");
}

#[test]
fn parameters_are_bound_to_constants_and_constant_arrays() {
    let text = "func %d(%x: Vector{f64}, %y: Vector{f64}) -> f64 {\n  %r = dot %x, %y\n  return %r\n}\n\
                func %calls(%x: Vector{f64}) -> f64 {\n  %r = d %x, %x\n  return %r\n}\n";
    let mut module = module(text);
    let array = |values: &[f64]| Some(Constant::from(Data::of_f64(values)));
    let both = module.specialise("d", &[array(&[1.0, 2.0]), array(&[3.0, 4.0])], Some("both")).unwrap();
    let request = Request::read("d([0.5, 0.25], _)").unwrap();
    assert_eq!(FrontEnd::specialise(&mut module, &request).as_deref(), Ok("%d_1"));
    let outcome = module.optimise(&Options::default(), |_| true);
    let printed = outcome.print();
    assert_eq!(outcome.module.functions[both].name, "%both");
    let cost = |index: usize| outcome.statistics.outcome(index).unwrap().cost_after;
    assert!(cost(both) < cost(0) / 100, "{printed}");
    // 11.0
    assert!(printed.contains("const 0x4026000000000000"), "{printed}");
    let open = &outcome.module.functions[both + 1];
    assert_eq!(open.block(open.entry()).params.len(), 1, "{printed}");
    // The output is a module like any other.
    ModuleOptimiser::new(module.optimiser.program().clone(), &printed).map(|_| ()).unwrap();
}

#[test]
fn what_cannot_be_specialised_is_said() {
    let text = "func %f(%x: i32, %y: f64, %v: Vector{f64}) -> i32 {\n  return %x\n}\n\
                func %g(%x: i32) -> i32 {\n  %y: f64 = const 1.5\n  %v: Vector{f64} = const [1.0]\n  \
                %r = f %x, %y, %v\n  return %r\n}\n";
    for (request, said) in [
        ("h(1)", "there is no function h"),
        ("f(1)", "%f takes 3 arguments, 1 given"),
        ("f(_, _, _)", "no parameter of %f is given a constant"),
        ("g = f(1, _, _)", "there is a function %g already"),
        ("f = f(1, _, _)", "%f is called"),
        ("f(3000000000, _, _)", "does not fit"),
        ("f(_, 2, _)", "write its constant with a point"),
        ("f(_, _, 7)", "a number is no constant"),
        ("f(_, _, [[1.0], 2.0])", "holds elements or rows"),
    ] {
        let mut module = module(text);
        let error = FrontEnd::specialise(&mut module, &Request::read(request).unwrap()).unwrap_err().to_string();
        assert!(error.contains(said), "{request}: {error}");
        assert_eq!(module.module.functions.len(), 2, "{request}");
    }
    // A function that nothing calls may give way.
    let mut module = module(text);
    assert_eq!(FrontEnd::specialise(&mut module, &Request::read("g = g(4)").unwrap()).as_deref(), Ok("%g"));
    assert_eq!(module.module.functions.len(), 2);
    let error = module.specialise("f", &[None, None, Some(Constant::Handle(3))], None).unwrap_err();
    assert!(error.to_string().contains("parameter 3 is a `Vector{f64}`"), "{error}");
}
