//! Writing down what is promoted.

use super::super::copies::{self, Operand};
use super::{NewParam, Promotion, Replacement, Source, Sunk};
use crate::ir::normalise::close;
use crate::ir::uses::replace_uses;
use crate::ir::{EdgeArg, Function, Inst, InstId, Value};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// The function with its promotion.
pub fn apply_promotion(f: &Function, promotion: &Promotion) -> Function {
    let mut out = f.clone();
    let params: Vec<Value> = promotion.params.iter().map(|param| out.add_value(param.ty)).collect();
    for (NewParam { block, args, .. }, value) in promotion.params.iter().zip(&params) {
        out.blocks[block.index()].params.push(*value);
        for (edge, source) in args {
            let carried = match source {
                Source::Value(value) => *value,
                Source::Param(number) => params[*number],
                Source::Computed(copies) => {
                    let (insts, made) = copies::add(&mut out, copies);
                    out.blocks[edge.from.index()].insts.extend(insts);
                    made.last().copied().flatten().expect("a load has a result")
                }
            };
            let mut edges = out.blocks[edge.from.index()].term.edges_mut();
            edges[edge.slot as usize].args.push(EdgeArg::Value(carried));
        }
    }
    for (inst, block) in &promotion.removed {
        out.blocks[block.index()].insts.retain(|other| other != inst);
    }
    for Sunk { block, copies, kind, operands, param } in &promotion.stores {
        let (mut insts, made) = copies::add(&mut out, copies);
        let [address, offset] = operands.map(|operand| match operand {
            Operand::Value(value) => value,
            Operand::Copied(number) => made[number].expect("an operand has a result"),
        });
        insts.push(InstId(out.insts.len() as u32));
        let args = smallvec![address, params[*param], offset];
        out.insts.push(Inst { kind: kind.clone(), args, results: smallvec![], origin: None });
        out.blocks[block.index()].insts.splice(0..0, insts);
    }
    let instead = promotion.instead.iter().map(|(value, by)| match by {
        Replacement::Value(other) => (*value, *other),
        Replacement::Param(number) => (*value, params[*number]),
    });
    let instead: FxHashMap<Value, Value> = instead.collect();
    replace_uses(&mut out, &instead);
    close(&mut out);
    out
}
