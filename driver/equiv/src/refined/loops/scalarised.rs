//! Vectors that go around a loop as the scalars that they are made of: induction is over scalars.
//!
//! A phi of a vector becomes one for each lane. Where it is used, the vector is put together from these; where a
//! predecessor ends, its value is taken apart.

use super::super::instructions::plain;
use rewright_llvm::body::{Body, Instruction, Operand, Shape};
use rewright_llvm::types::Type;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Lanes of a vector, at most.
const MOST_LANES: u64 = 64;

/// The lane of a vector that a scalar is: its name is no text that LLVM would take for one without quotes.
fn lane(vector: &str, lane: u64) -> String {
    format!("{vector}#{lane}")
}

/// The vector of which a value is a lane.
pub(super) fn vector(name: &str) -> Option<&str> {
    let (vector, lane) = name.rsplit_once('#')?;
    lane.bytes().all(|b| b.is_ascii_digit()).then_some(vector)
}

/// A body that does the same without phis of vectors.
pub(super) fn scalarised(body: &Body) -> Body {
    let mut body = body.clone();
    let block: FxHashMap<String, usize> = body.blocks.iter().map(|block| block.label.clone()).zip(0..).collect();
    let mut taken_apart: BTreeSet<String> = BTreeSet::new();
    let mut at_ends: Vec<(usize, Instruction)> = vec![];
    for at in 0..body.blocks.len() {
        let (mut phis, mut others) = (vec![], vec![]);
        for i in std::mem::take(&mut body.blocks[at].instructions) {
            let (Shape::Phi(values), Type::Vector(lanes @ 1..=MOST_LANES, element), Some(result)) =
                (&i.shape, &i.ty, &i.result)
            else {
                let is_phi = matches!(i.shape, Shape::Phi(_));
                if is_phi {
                    phis.push(i)
                } else {
                    others.push(i)
                }
                continue;
            };
            let mut whole = Operand { ty: i.ty.clone(), text: "poison".into() };
            let mut put_together = vec![];
            for n in 0..*lanes {
                let part = |(value, from): &(Operand, String)| {
                    let name = format!("{}@{from}", lane(result, n));
                    (Operand { ty: (**element).clone(), text: name }, value.clone(), from.clone())
                };
                let parts: Vec<(Operand, Operand, String)> = values.iter().map(part).collect();
                for (part, value, from) in &parts {
                    // A switch may lead here in several ways.
                    if let (Some(from), true) = (block.get(from), taken_apart.insert(part.text.clone())) {
                        let operands = vec![value.clone(), number(n)];
                        at_ends.push((*from, plain(&part.text, &part.ty, "extractelement", operands)));
                    }
                }
                let parts = parts.into_iter().map(|(part, _, from)| (part, from)).collect();
                let name = lane(result, n);
                phis.push(Instruction {
                    result: Some(name.clone()),
                    ty: (**element).clone(),
                    shape: Shape::Phi(parts),
                    ..i.clone()
                });
                let part = Operand { ty: (**element).clone(), text: name };
                let text = if n + 1 == *lanes { result.clone() } else { format!("{result}#to{n}") };
                put_together.push(plain(&text, &i.ty, "insertelement", vec![whole, part, number(n)]));
                whole = Operand { ty: i.ty.clone(), text };
            }
            others.splice(0..0, put_together);
        }
        phis.append(&mut others);
        body.blocks[at].instructions = phis;
    }
    for (at, i) in at_ends {
        let instructions = &mut body.blocks[at].instructions;
        instructions.insert(instructions.len().saturating_sub(1), i);
    }
    body
}

fn number(n: u64) -> Operand {
    Operand { ty: Type::Int(64), text: n.to_string() }
}
