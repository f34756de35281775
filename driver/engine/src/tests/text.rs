//! The printed program, run by an egglog that knows none of our primitives.

use super::fixture::*;
use crate::{NODE, STATE, SaturateOptions, print_runnable};
use egglog::EGraph;
use egglog::prelude::exprs;
use rewright_cfg_skeleton::egraph::{EGraphInput, Head, InputId};

#[test]
fn the_printed_program_gives_the_same_classes() {
    let mut f = Fixture::with_arithmetic();
    let mut engine = f.engine();
    let (i8, i32) = (f.type_of("i8"), f.type_of("i32"));
    let mut units = Vec::new();
    for ty in [i8, i32] {
        let mut unit = Unit::new(&f);
        let (a, p) = (unit.leaf(0, ty), unit.token(0));
        let numbers = [0, 2, 50, 100].map(|n| unit.constant(n, ty));
        let zero = unit.op("isub", ty, &[a, a]);
        let same = unit.op("iadd", ty, &[zero, a]);
        let folded = unit.op("imul", ty, &[numbers[1], numbers[2]]);
        unit.op("imul", ty, &[folded, numbers[1]]);
        unit.op("imul", ty, &[numbers[1], same]);
        let shift = unit.op("isub", ty, &[numbers[2], numbers[3]]);
        unit.op("ishl", ty, &[a, shift]);
        let address = unit.op("load", ty, &[same, zero, p]);
        let load = unit.op("load", ty, &[a, numbers[0], p]);
        unit.add(Head::Opaque(rewright_cfg_skeleton::ir::PayloadId(3)), &[ty], &[address, load, a, a, folded]);
        unit.op("store", ty, &[a, address, zero, p]);
        unit.op("store", ty, &[a, load, numbers[0], p]);
        units.push(unit.input);
    }
    let all: Vec<&EGraphInput> = units.iter().collect();
    let types = &f.program.universe.types;
    let (views, trace) = engine.trace(&all, types, &SaturateOptions::default()).unwrap();
    let text = print_runnable(engine.program(), &f.program, types, &all, &trace).unwrap();
    let mut plain = EGraph::default();
    plain.parse_and_run_program(None, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for (unit, (input, view)) in units.iter().zip(&views).enumerate() {
        let mut names = Vec::new();
        for (i, node) in input.nodes.iter().enumerate() {
            let writes = matches!(node.head, Head::Op(op) if f.program.universe.ops.get(op).gives_state());
            let function = if writes || matches!(node.head, Head::Token(_)) { STATE } else { NODE };
            let call = exprs::call(function, vec![exprs::int(unit as i64), exprs::int(i as i64)]);
            names.push(plain.eval_expr(&call).unwrap().1);
        }
        for i in 0..names.len() {
            for j in 0..i {
                let ours = view.class_of(InputId(i as u32)) == view.class_of(InputId(j as u32));
                assert_eq!(names[i] == names[j], ours, "{i} {j}\n{text}");
            }
        }
        let classes = view.input_class.iter().collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!(classes, input.nodes.len() - 5, "what rules and congruence unite");
    }
}
