//! Values of nodes on a few inputs: nodes that differ there are not equal, and the others may be.

use super::super::super::eval::{Scalar, Stop, operate};
use super::super::super::input::{initial, mix};
use super::super::super::value::{Constant, Number, Operation};
use super::{Graph, Node, NodeId};
use rustc_hash::FxHashMap;

/// How many inputs.
const SAMPLES: usize = 16;

/// A value on each input; `None` is poison.
pub(crate) type Samples = [Option<u128>; SAMPLES];

/// The samples of a graph's nodes.
#[derive(Default)]
pub(crate) struct Sampled {
    samples: Vec<Samples>,
    /// Nodes by type and samples, for those that nothing else stands for.
    alike: FxHashMap<u64, Vec<NodeId>>,
    keys: Vec<Option<u64>>,
}

impl Sampled {
    pub(crate) fn truncate(&mut self, length: usize) {
        for key in self.keys.drain(length.min(self.keys.len())..).rev().flatten() {
            self.alike.get_mut(&key).map(Vec::pop);
        }
        self.samples.truncate(length);
    }
}

impl Graph<'_> {
    /// Computes all nodes that have no samples yet.
    pub(crate) fn sample(&mut self) {
        for id in self.sampled.samples.len()..self.len() {
            let samples = self.of_node(id as NodeId);
            self.sampled.samples.push(samples);
            self.sampled.keys.push(None);
        }
    }

    /// Nodes that may be equal to this one, and the node itself, smallest first.
    pub(crate) fn alike(&self, id: NodeId) -> &[NodeId] {
        self.key(id).and_then(|key| self.sampled.alike.get(&key)).map_or(&[], Vec::as_slice)
    }

    /// Lets the node, the last one, be found by its samples.
    pub(crate) fn publish(&mut self, id: NodeId) {
        if let Some(key) = self.key(id) {
            self.sampled.alike.entry(key).or_default().push(id);
            self.sampled.keys[id as usize] = Some(key);
        }
    }

    fn of_node(&self, id: NodeId) -> Samples {
        match self.get(id) {
            Node::Constant(Constant { number: Number::Bits(bits), .. }) => same(*bits),
            Node::Op(head, operands) => {
                let operands: Vec<&Samples> = operands.iter().map(|o| &self.sampled.samples[*o as usize]).collect();
                compute(self.head(*head), &operands)
            }
            _ => any(self.type_of(id).unwrap_or_default(), u64::from(id) << 20),
        }
    }

    /// What nodes of one type that are equal have in common; nodes that differ mostly do not.
    fn key(&self, id: NodeId) -> Option<u64> {
        let ty = self.type_of(id)?;
        let scalar = Scalar::named(ty);
        let start = ty.bytes().fold(7, |hash, byte| mix(hash ^ u64::from(byte)));
        let samples = self.sampled.samples[id as usize].iter();
        Some(samples.fold(start, |hash, value| {
            let bits = value.map_or(3, |bits| scalar.map_or(bits, |scalar| scalar.canonical(bits)));
            mix(hash ^ bits as u64 ^ (bits >> 64) as u64 ^ u64::from(value.is_none()) << 63)
        }))
    }

    /// Whether the samples allow that the second node stands for the first one.
    pub(crate) fn may_stand_for(&self, left: NodeId, right: NodeId) -> bool {
        let [l, r] = [left, right].map(|id| &self.sampled.samples[id as usize]);
        self.type_of(left) == self.type_of(right) && stands_for(self.type_of(left).unwrap_or_default(), l, r)
    }
}

/// One value on all inputs.
pub(crate) fn same(bits: u128) -> Samples {
    [Some(bits); SAMPLES]
}

/// Anything of a type.
pub(crate) fn any(ty: &str, salt: u64) -> Samples {
    std::array::from_fn(|n| Some(unknown(ty, salt, n)))
}

fn unknown(ty: &str, salt: u64, n: usize) -> u128 {
    let hash = mix(mix(salt) ^ n as u64);
    Scalar::named(ty).map_or(u128::from(hash), |scalar| initial(n as u64, 0, &[hash as i64], scalar))
}

/// What an operation gives; one that cannot be executed is some function of its operands.
pub(crate) fn compute(op: &Operation, operands: &[&Samples]) -> Samples {
    std::array::from_fn(|n| {
        let values: Vec<Option<u128>> = operands.iter().map(|samples| samples[n]).collect();
        match operate(op, &values) {
            Ok(value) => value,
            Err(Stop::Undefined(_)) => None,
            Err(Stop::Unknown(_)) => {
                let names = [&op.name, &op.from, &op.ty].into_iter().chain(&op.flags);
                let name = names.flat_map(|part| part.bytes()).fold(1, |hash, byte| mix(hash ^ u64::from(byte)));
                let add = |hash, value: &Option<u128>| match value {
                    Some(bits) => mix(hash ^ *bits as u64 ^ (bits >> 64) as u64),
                    None => mix(hash ^ 1),
                };
                Some(unknown(&op.ty, values.iter().fold(name, add), n))
            }
        }
    })
}

/// Whether the second value may stand for the first one on all inputs.
pub(crate) fn stands_for(ty: &str, left: &Samples, right: &Samples) -> bool {
    let scalar = Scalar::named(ty);
    left.iter().zip(right).all(|pair| match pair {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(l), Some(r)) => scalar.map_or(l == r, |scalar| scalar.same(*l, *r)),
    })
}
