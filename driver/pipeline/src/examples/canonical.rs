//! Functions as text, to compare what an example became with what it should have become.

use rewright_cfg_skeleton::ir::{Cfg, EdgeArg, Function, InstKind, Terminator};
use rewright_typeprop::{Ty, Universe};
use std::collections::BTreeMap;

/// A function as text, equal for functions that differ only in numbering, in the place or order of pure values, or
/// in the operands of commutative operations. Values are written out as trees; what has an effect is numbered.
pub fn canonical(universe: &Universe, f: &Function) -> String {
    let cfg = Cfg::new(f);
    let order = cfg.reverse_post_order();
    let number: BTreeMap<_, _> = order.iter().enumerate().map(|(i, b)| (*b, i)).collect();
    let mut text: Vec<String> = vec![String::new(); f.values.len()];
    let mut parameters = 0;
    let mut effects = 0;
    let mut blocks = vec![];
    for block in order {
        for param in &f.block(*block).params {
            text[param.index()] = format!("${parameters}");
            parameters += 1;
        }
    }
    for block in order {
        let mut lines = vec![];
        for id in &f.block(*block).insts {
            let inst = f.inst(*id);
            let mut operands: Vec<_> = inst.args.iter().map(|a| text[a.index()].clone()).collect();
            let types = |tys: &[Ty]| tys.iter().map(|t| universe.types.display(*t)).collect::<Vec<_>>().join(", ");
            let (shown, is_effect) = match &inst.kind {
                InstKind::Const(n) => (n.to_string(), false),
                InstKind::Check { code, when } => (format!("check.{code}.{when}({})", operands.join(", ")), true),
                InstKind::Opaque { payload, .. } => (format!("opaque.{}({})", payload.0, operands.join(", ")), false),
                InstKind::Op { op, targs, .. } => {
                    let op = universe.ops.get(*op);
                    if op.laws.commutative {
                        operands.sort();
                    }
                    if op.takes_state() {
                        operands.push(format!("state {effects}"));
                    }
                    (format!("{}{{{}}}({})", op.unique, types(targs), operands.join(", ")), !op.effects.is_value())
                }
            };
            let shown = shown.replace("{}", "");
            if is_effect {
                effects += 1;
                inst.results.iter().for_each(|result| text[result.index()] = format!("#{effects}"));
                lines.push(shown);
            } else if let Some(result) = inst.results.first() {
                text[result.index()] = shown;
            }
        }
        let edge = |edge: &rewright_cfg_skeleton::ir::Edge| {
            let args = edge.args.iter().map(|arg| match arg {
                EdgeArg::Value(v) => text[v.index()].clone(),
                EdgeArg::Terminator(n) => format!("result {n}"),
            });
            format!("b{}({})", number[&edge.target], args.collect::<Vec<_>>().join(", "))
        };
        match &f.block(*block).term {
            Terminator::Return(values) => lines.extend(values.iter().map(|v| text[v.index()].clone())),
            Terminator::Jump(target) => lines.push(format!("jump {}", edge(target))),
            Terminator::Branch { cond, then, els } => {
                lines.push(format!("if {}: {} else {}", text[cond.index()], edge(then), edge(els)));
            }
            other => {
                let operands: Vec<_> = other.operands().iter().map(|v| text[v.index()].clone()).collect();
                let edges: Vec<_> = other.edges().into_iter().map(edge).collect();
                lines.push(format!("end({}) [{}]", operands.join(", "), edges.join(", ")));
            }
        }
        blocks.push(lines.join("; "));
    }
    match &blocks[..] {
        [only] => only.clone(),
        _ => blocks.iter().enumerate().map(|(i, b)| format!("b{i}: {b}")).collect::<Vec<_>>().join(" | "),
    }
}
