//! A question as a unit of an e-graph.

use super::operations::{Instance, Operations, TRUTH};
use rewright_cfg_skeleton::egraph::{EGraphInput, Head, InputId, LeafId, Node};
use rewright_cfg_skeleton::nest::datapath::{Question, Term, TermKind};
use rewright_cfg_skeleton::nest::nan::is_float;
use rewright_cfg_skeleton::nest::value::{Number, is_wrapping_flag};
use rewright_typeprop::{Model, Ty};
use smallvec::{SmallVec, smallvec};

/// A unit of two roots.
pub(super) struct Unit {
    pub(super) input: EGraphInput,
    pub(super) left: InputId,
    pub(super) right: InputId,
}

impl Unit {
    pub(super) fn new(question: &Question, operations: &mut Operations) -> Unit {
        let mut builder = Builder { operations, input: EGraphInput::default(), leaves: 0, nans: question.nans };
        let mut nodes: Vec<InputId> = vec![];
        for term in &question.terms {
            let operands: Vec<(InputId, &Term)> = match &term.kind {
                TermKind::Op { operands, .. } => {
                    operands.iter().map(|o| (nodes[*o as usize], &question.terms[*o as usize])).collect()
                }
                _ => vec![],
            };
            nodes.push(builder.term(term, &operands));
        }
        Unit { input: builder.input, left: nodes[question.left as usize], right: nodes[question.right as usize] }
    }
}

struct Builder<'a> {
    operations: &'a mut Operations,
    input: EGraphInput,
    leaves: u32,
    /// Whether the bits of NaNs matter: rules are right except for these.
    nans: bool,
}

impl Builder<'_> {
    fn term(&mut self, term: &Term, operands: &[(InputId, &Term)]) -> InputId {
        match &term.kind {
            TermKind::Leaf { .. } => self.leaf(&term.ty),
            TermKind::Constant(number) => self.constant(&term.ty, number),
            TermKind::Op { name, flags, from, .. } => {
                let means = !(self.nans && is_float(&term.ty)) && flags.iter().all(|flag| is_wrapping_flag(flag));
                let known = if means { self.operation(name, from, &term.ty, operands) } else { None };
                known.unwrap_or_else(|| self.opaque(name, flags, from, &term.ty, operands))
            }
        }
    }

    fn leaf(&mut self, ty: &str) -> InputId {
        let number = LeafId(self.leaves);
        self.leaves += 1;
        let own = self.operations.ty(ty);
        let leaf = self.input.add(Node { head: Head::Leaf(number), types: smallvec![own], children: smallvec![] });
        if ty != TRUTH {
            return leaf;
        }
        // That it is 0 or 1 shows in what it is: whether something is not 0.
        let zero = self.number(own, 0);
        let Some(test) = self.operations.meaning(Model::Ne, &[own, own], own) else { return leaf };
        self.apply(test, &[leaf, zero])
    }

    fn number(&mut self, ty: Ty, value: i64) -> InputId {
        self.input.add(Node { head: Head::Const(value), types: smallvec![ty], children: smallvec![] })
    }

    fn constant(&mut self, ty: &str, number: &Number) -> InputId {
        let own = self.operations.ty(ty);
        let scalar = self.operations.universe.types.scalar(own);
        match (number, scalar) {
            (Number::Bits(bits), Some(scalar)) => self.number(own, scalar.canonical(*bits as u64)),
            _ => {
                let text = match number {
                    Number::Bits(bits) => bits.to_string(),
                    Number::Text(text) => text.clone(),
                };
                self.opaque(&format!("constant {text}"), &[], ty, ty, &[])
            }
        }
    }

    fn apply(&mut self, Instance { op, types, .. }: Instance, operands: &[InputId]) -> InputId {
        self.input.add(Node { head: Head::Op(op), types, children: operands.iter().copied().collect() })
    }

    /// An operation that packs declare, also on truth values where they are right for 0 and 1.
    fn operation(&mut self, name: &str, from: &str, ty: &str, operands: &[(InputId, &Term)]) -> Option<InputId> {
        let result = self.operations.ty(ty);
        let types: Vec<Ty> = operands.iter().map(|(_, term)| self.operations.ty(&term.ty)).collect();
        let nodes: Vec<InputId> = operands.iter().map(|(node, _)| *node).collect();
        let takes_truth = operands.iter().any(|(_, term)| term.ty == TRUTH);
        match self.operations.model(name) {
            Some(Model::Zext) if from == TRUTH && types == [result] => return nodes.first().copied(),
            Some(Model::Sext) if from == TRUTH => {
                let mask = self.operations.meaning(Model::Bmask, &types, result)?;
                return Some(self.apply(mask, &nodes));
            }
            Some(Model::Trunc) if ty == TRUTH => {
                let narrow = match types == [result] {
                    true => nodes.first().copied()?,
                    false => {
                        let narrow = self.operations.named(name, &types, result)?;
                        self.apply(narrow, &nodes)
                    }
                };
                let (one, and) = (self.number(result, 1), self.operations.meaning(Model::And, &[result; 2], result)?);
                return Some(self.apply(and, &[narrow, one]));
            }
            _ => {}
        }
        let instance = self.operations.named(name, &types, result)?;
        let by_truth = from == TRUTH || (takes_truth && instance.model != Some(Model::Select));
        if by_truth && !keeps_truth(instance.model?) {
            return None;
        }
        // Comparisons give truth values; what else gives one of others is no operation of packs.
        if ty == TRUTH && !by_truth && !instance.model.is_some_and(is_comparison) {
            return None;
        }
        Some(self.apply(instance, &nodes))
    }

    fn opaque(&mut self, name: &str, flags: &[String], from: &str, ty: &str, operands: &[(InputId, &Term)]) -> InputId {
        let payload = self.operations.opaque(name, flags, from, ty);
        let own = self.operations.ty(ty);
        let children: SmallVec<[InputId; 3]> = operands.iter().map(|(node, _)| *node).collect();
        self.input.add(Node { head: Head::Opaque(payload), types: smallvec![own], children })
    }
}

/// Whether an operation on 8-bit integers that are 0 or 1 does what it does on truth values.
fn keeps_truth(model: Model) -> bool {
    use Model::{And, Eq, Ne, Or, Select, Uge, Ugt, Ule, Ult, Umax, Umin, Xor, Zext};
    matches!(model, And | Or | Xor | Select | Zext | Eq | Ne | Ult | Ule | Ugt | Uge | Umin | Umax)
}

/// Whether an operation gives 0 or 1.
fn is_comparison(model: Model) -> bool {
    use Model::{
        Eq, FcmpEq, FcmpGe, FcmpGt, FcmpLe, FcmpLt, FcmpNe, FcmpOne, FcmpOrd, FcmpUeq, FcmpUge, FcmpUgt, FcmpUle,
        FcmpUlt, FcmpUno, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult,
    };
    matches!(
        model,
        Eq | Ne
            | Slt
            | Sle
            | Sgt
            | Sge
            | Ult
            | Ule
            | Ugt
            | Uge
            | FcmpEq
            | FcmpNe
            | FcmpLt
            | FcmpLe
            | FcmpGt
            | FcmpGe
            | FcmpOrd
            | FcmpUno
            | FcmpUeq
            | FcmpOne
            | FcmpUlt
            | FcmpUle
            | FcmpUgt
            | FcmpUge
    )
}
