//! Values of several types in one class: an operand has the type that is declared, a more specific overload runs
//! exactly when a more specific operand is chosen, and what is chosen is the cheapest.

use super::oracle::{Random, cheaper};
use super::*;
use crate::egraph::{ClassId, demand};
use crate::ir::parse::read;
use crate::testing::domain;
use rewright_typeprop::ops::Cost;
use std::fmt::Write as _;

/// The text's first function, with equalities of values, split by type. Each overloaded call is united with the more
/// specific one, as the rules between overloads do where they may.
fn case<'u>(text: &str, u: &'u mut Universe, unite: &[(u32, u32)], grams: &[(u32, u32)]) -> Option<Case<'u>> {
    let module = read(text, u).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    u.intern_signatures();
    let function = module.functions[0].clone();
    let u = &*u;
    let cfg = Cfg::new(&function);
    let skeleton = build(&function, &cfg, u, &trap_code);
    let originals = skeleton.input.nodes.len();
    let plain = view(&skeleton.input, &[]);
    let mut case = Case { universe: u, function, cfg, skeleton, view: plain, unions: vec![] };
    let value = |case: &Case, n: u32| case.input(crate::ir::Value(n));
    for (a, b) in unite {
        let (a, b) = (value(&case, *a), value(&case, *b));
        case.unions.push((a, b));
    }
    for (of, equal) in grams {
        let (of, equal) = (value(&case, *of), value(&case, *equal));
        let gram = case.op("gram", "f64", &[of]);
        case.unions.push((gram, equal));
    }
    let united = view(&case.skeleton.input, &case.unions);
    let norm = Head::Op(op_id(u, "norm"));
    for i in (0..originals).filter(|i| case.skeleton.input.nodes[*i].head == norm).collect::<Vec<_>>() {
        let operand = case.skeleton.input.nodes[i].children[0];
        let types = united.class(united.class_of(operand)).nodes.iter().filter_map(|n| united.node(*n).ty(u));
        if types.map(|ty| u.types.display(ty)).any(|ty| ty == "Symmetric{f64}") {
            let narrow = case.op("norm.1", "f64", &[operand]);
            case.unions.push((narrow, InputId(i as u32)));
        }
    }
    // Nodes of rules are no values of the original: nothing is demanded at their types.
    let mut saturated = view(&case.skeleton.input, &case.unions);
    case.skeleton.input.nodes.truncate(originals);
    saturated.input_class.truncate(originals);
    let split = demand::split(&saturated, &case.skeleton.input, u);
    let mixed = split.is_some();
    case.view = split.unwrap_or(saturated);
    mixed.then_some(case)
}

fn priced_domain(prices: &[(&str, u32)]) -> Universe {
    let mut u = domain();
    for (name, cost) in prices {
        let id = op_id(&u, name);
        u.ops.get_mut(id).cost = Cost::Fixed(*cost);
    }
    u
}

const PRODUCT: &str = "\
func %main(%a: Matrix{f64}) -> f64 {
  %t = adj %a
  %p = mul %a, %t
  %n = norm %p
  return %n
}
";

#[test]
fn the_special_method_runs_where_its_operand_is_worth_it() {
    let names = |u: &mut Universe| {
        let case = case(PRODUCT, u, &[], &[(0, 2)]).expect("norm.1 demands a Symmetric");
        listing(&case.optimised(), case.universe)
    };
    let mut cheap = priced_domain(&[("gram", 30), ("norm", 90), ("norm.1", 30)]);
    assert_eq!(names(&mut cheap), ["gram", "norm.1"]);
    // The operand costs more than the method saves.
    let mut dear = priced_domain(&[("gram", 500), ("norm", 90), ("norm.1", 30)]);
    assert_eq!(names(&mut dear), ["adj", "mul", "norm"]);
}

#[test]
fn a_plain_user_takes_the_special_operand_for_free() {
    let text = PRODUCT.replace("-> f64", "-> (f64, Matrix{f64})").replace("return %n", "return %n, %p");
    let mut u = priced_domain(&[("gram", 30), ("norm", 90), ("norm.1", 30)]);
    let case = case(&text, &mut u, &[], &[(0, 2)]).expect("norm.1 demands a Symmetric");
    let best = case.select(Method::Ilp);
    assert_eq!(listing(&case.elaborate(&best), case.universe), ["gram", "norm.1"]);
}

#[test]
fn the_validator_refuses_operands_of_another_type() {
    let mut u = priced_domain(&[("gram", 500), ("norm", 90), ("norm.1", 30)]);
    let case = case(PRODUCT, &mut u, &[], &[(0, 2)]).expect("norm.1 demands a Symmetric");
    // The same e-graph without the split: the cheapest choice is ill-typed there.
    let mut whole = Case { unions: vec![], view: view(&case.skeleton.input, &[]), ..case };
    let (a, p) = (whole.input(crate::ir::Value(0)), whole.input(crate::ir::Value(2)));
    let originals = whole.skeleton.input.nodes.len();
    let gram = whole.op("gram", "f64", &[a]);
    let narrow = whole.op("norm.1", "f64", &[p]);
    let n = whole.input(crate::ir::Value(3));
    whole.unite(gram, p);
    whole.unite(narrow, n);
    whole.skeleton.input.nodes.truncate(originals);
    whole.view.input_class.truncate(originals);
    let chosen = select(whole.saturated(), &whole.options(Method::Greedy));
    let class: ClassId = whole.view.class_of(n);
    let Err(SelectError::Invalid(violations)) = chosen else { panic!("{chosen:?}") };
    assert!(violations.iter().all(|v| matches!(v, Violation::OperandType(_, c) if *c == class)), "{violations:?}");
}

/// A line or a diamond over matrices. Values are numbered as they are defined.
fn program(random: &mut Random) -> (String, Vec<u32>, Vec<u32>) {
    let mut text = String::from("func %main(%v0: Matrix{f64}, %v1: Symmetric{f64}, %v2: i8) -> f64 {\n");
    // Of matrices: their numbers, and which are symmetric for certain.
    let (mut matrices, mut symmetric, mut numbers) = (vec![0u32, 1], vec![1u32], vec![]);
    let mut next = 3;
    let mut fill = |text: &mut String, matrices: &mut Vec<u32>, symmetric: &mut Vec<u32>, numbers: &mut Vec<u32>| {
        for _ in 0..2 + random.below(3) {
            let (x, y) = (matrices[random.below(matrices.len())], matrices[random.below(matrices.len())]);
            match random.below(5) {
                0 => drop(writeln!(text, "  %v{next} = adj %v{x}")),
                1 => drop(writeln!(text, "  %v{next} = mul %v{x}, %v{y}")),
                2 => {
                    let _ = writeln!(text, "  %v{next} = gram %v{x}");
                    symmetric.push(next);
                }
                _ => {
                    let _ = writeln!(text, "  %v{next} = norm %v{x}");
                    numbers.push(next);
                    next += 1;
                    continue;
                }
            }
            matrices.push(next);
            next += 1;
        }
        let last = matrices[matrices.len() - 1];
        let _ = writeln!(text, "  %v{next} = norm %v{last}");
        numbers.push(next);
        next += 1;
    };
    fill(&mut text, &mut matrices, &mut symmetric, &mut numbers);
    let first = numbers[numbers.len() - 1];
    let _ = writeln!(text, "  br %v2, left, right\nleft:");
    let outer = matrices.clone();
    fill(&mut text, &mut matrices, &mut symmetric, &mut numbers);
    let last = numbers[numbers.len() - 1];
    let _ = writeln!(
        text,
        "  %v{} = larger %v{first}, %v{last}\n  return %v{}\nright:\n  return %v{first}\n}}",
        last + 1,
        last + 1
    );
    (text, outer, symmetric)
}

#[test]
fn nothing_well_typed_is_cheaper() {
    let mut random = Random(0x5eed_7e57);
    let (mut split, mut finished, mut special) = (0, 0, 0);
    for n in 0..400 {
        let price = |random: &mut Random| 1 + random.below(60) as u32;
        let prices = ["adj", "mul", "gram", "norm", "norm.1"].map(|name| (name, price(&mut random)));
        let mut u = priced_domain(&prices);
        let (text, matrices, _) = program(&mut random);
        let mut pick = || matrices[random.below(matrices.len())];
        let unite: Vec<(u32, u32)> = (0..2).map(|_| (pick(), pick())).collect();
        let grams: Vec<(u32, u32)> = (0..2).map(|_| (pick(), pick())).collect();
        let Some(case) = case(&text, &mut u, &unite, &grams) else { continue };
        split += 1;
        // Both are validated; what is elaborated passes the verifier, which knows types by itself.
        let greedy = case.select(Method::Greedy);
        let ilp = case.select(Method::Ilp);
        assert_eq!(ilp.status, Status::Optimal, "instance {n}\n{text}");
        assert!(ilp.cost <= greedy.cost, "instance {n}\n{text}");
        special += usize::from(listing(&case.elaborate(&ilp), case.universe).contains(&"norm.1".to_string()));
        match cheaper(&case, &greedy, ilp.cost) {
            None => {}
            Some(None) => finished += 1,
            Some(Some(found)) => panic!("instance {n}: {} instead of {}: {found:?}\n{text}", found.cost, ilp.cost),
        }
    }
    assert!(split > 150 && finished > 100 && special > 50, "{split} split, {finished} finished, {special} special");
}
