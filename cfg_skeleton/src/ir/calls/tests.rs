//! Call graphs, effects and costs of functions.

use super::*;
use crate::ir::parse::{parse, read};
use crate::ir::text::Printer;
use crate::testing::{domain, universe};

const SEVERAL: &str = "\
func %main(%x: i64) -> i64 {
  %y = twice %x
  %z = odd %y
  return %z
}

func %twice(%x: i64) -> i64 {
  %y = iadd %x, %x
  return %y
}

func %even(%x: i64) -> i64 {
  br %x, more, done
more:
  %one: i64 = const 1
  %y = isub %x, %one
  %z = odd %y
  return %z
done:
  %yes: i64 = const 1
  return %yes
}

func %odd(%x: i64) -> i64 {
  %one: i64 = const 1
  br %x, more, done
more:
  %y = isub %x, %one
  %z = even %y
  return %z
done:
  %no: i64 = const 0
  tick
  return %no
}
";

#[test]
fn callees_come_first_and_recursion_comes_together() {
    let mut u = universe();
    let module = read(SEVERAL, &mut u).unwrap();
    let graph = CallGraph::new(&module);
    assert_eq!(graph.components(), [vec![2, 3], vec![1], vec![0]]);
    assert_eq!(graph.levels(), [vec![1, 2, 3], vec![0]]);
    assert_eq!(graph.callees(0), [1, 3]);
    assert_eq!((0..4).map(|f| graph.is_recursive(f)).collect::<Vec<_>>(), [false, false, true, true]);
}

#[test]
fn effects_are_those_of_what_is_executed() {
    let mut u = universe();
    let module = parse(SEVERAL, &mut u).unwrap();
    let effects = |name: &str| u.ops.get(u.ops.by_unique(name).unwrap()).effects.clone();
    assert!(effects("twice").is_pure());
    for name in ["even", "odd"] {
        assert!(effects(name).io && effects(name).diverges, "{name}: its own tick, or the other's");
    }
    // The printed text reads back to the same module over a universe that does not know its functions.
    let printed = Printer(&module, &u).to_string();
    let mut fresh = universe();
    let again = read(&printed, &mut fresh).unwrap();
    assert_eq!(Printer(&again, &fresh).to_string(), printed);
}

#[test]
fn a_body_may_not_do_what_its_declaration_denies() {
    let mut u = domain();
    let mut op = u.ops.get(u.ops.by_unique("gram").unwrap()).clone();
    let matrix = u.ops.get(u.ops.by_unique("crossed").unwrap()).params[1].ty.clone();
    op.name = "shown".into();
    op.tparams.clear();
    op.params[0].ty = matrix;
    op.results.clear();
    u.ops.declare(op);
    let text = "func %other(%m: Matrix{f64}) {\n  return\n}\nfunc %shown(%m: Matrix{f64}) {\n  show %m\n  return\n}\n";
    let errors = read(text, &mut u).unwrap_err();
    assert_eq!(errors[0].to_string(), "4:1: the body of `shown` does io, which its declaration does not say");
}
