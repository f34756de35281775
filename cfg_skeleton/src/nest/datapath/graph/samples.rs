//! Values of nodes on a few inputs: nodes that differ there are not equal, and the others may be.

use super::super::super::eval::{ANY_PAYLOAD, ANY_SIGN, Scalar, Stop, operate_on, types};
use super::super::super::input::{initial, mix};
use super::super::super::value::{Constant, Number, Operation};
use super::{Graph, Node, NodeId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How many inputs. Comparisons are mostly true, or mostly false, and few inputs do not tell them apart.
const SAMPLES: usize = 64;

/// This many inputs tell most values apart.
const FEW: usize = 8;

/// A value on each input, and which of them are poison. Of wider types than 64 bits it is the low part.
#[derive(Clone)]
pub(crate) struct Samples {
    bits: [u64; SAMPLES],
    poison: u64,
    /// On which of them it is a NaN whose payload may be any.
    any_payload: u64,
    /// The same of its sign.
    any_sign: u64,
}

impl Samples {
    fn new(of: impl Fn(usize) -> Option<u128>, count: usize) -> Samples {
        let mut samples = same(0);
        for n in 0..count {
            match of(n) {
                Some(bits) => {
                    samples.bits[n] = bits as u64;
                    samples.any_payload |= u64::from(bits & ANY_PAYLOAD != 0) << n;
                    samples.any_sign |= u64::from(bits & ANY_SIGN != 0) << n;
                }
                None => samples.poison |= 1 << n,
            }
        }
        samples
    }

    fn get(&self, n: usize) -> Option<u128> {
        let marked = |of: u64, mark| if of >> n & 1 == 1 { mark } else { 0 };
        let marks = marked(self.any_payload, ANY_PAYLOAD) | marked(self.any_sign, ANY_SIGN);
        (self.poison >> n & 1 == 0).then(|| u128::from(self.bits[n]) | marks)
    }

    /// The value is poison on an input.
    pub(crate) fn spoil(&mut self, n: u64) {
        self.poison |= 1 << (n % SAMPLES as u64);
    }
}

/// How many of the inputs are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tried {
    Few,
    All,
}

impl Tried {
    fn count(self) -> usize {
        match self {
            Tried::Few => FEW,
            Tried::All => SAMPLES,
        }
    }
}

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

    /// The constant that an operation on integers gives on all inputs.
    pub(crate) fn as_constant(&self, id: NodeId) -> Option<Constant> {
        let ty = self.type_of(id).filter(|ty| *ty != "index" && matches!(Scalar::named(ty), Some(Scalar::Int(_))))?;
        let samples = &self.sampled.samples[id as usize];
        let is_one = samples.poison == 0 && samples.bits.iter().all(|bits| *bits == samples.bits[0]);
        let is_op = matches!(self.get(id), Node::Op(..));
        (is_one && is_op).then(|| Constant { ty: ty.to_string(), number: Number::Bits(samples.bits[0].into()) })
    }

    /// The constant that a node may be equal to, where it is one of the graph's.
    pub(crate) fn constant_like(&self, id: NodeId) -> Option<NodeId> {
        self.as_constant(id).and_then(|constant| self.find(&Node::Constant(constant)))
    }

    fn of_node(&self, id: NodeId) -> Samples {
        match self.get(id) {
            Node::Constant(Constant { number: Number::Bits(bits), .. }) => same(*bits),
            Node::Op(head, operands) => {
                let operands: Vec<&Samples> = operands.iter().map(|o| &self.sampled.samples[*o as usize]).collect();
                compute(self.head(*head), &operands, Tried::All)
            }
            _ => any(self.type_of(id).unwrap_or_default(), u64::from(id) << 20, Tried::All),
        }
    }

    /// What nodes of one type that are equal have in common; nodes that differ mostly do not.
    fn key(&self, id: NodeId) -> Option<u64> {
        let ty = self.type_of(id)?;
        let scalar = Scalar::named(ty);
        let start = ty.bytes().fold(7, |hash, byte| mix(hash ^ u64::from(byte)));
        let samples = &self.sampled.samples[id as usize];
        Some((0..SAMPLES).fold(start ^ samples.poison, |hash, n| {
            let bits = samples.get(n).map_or(3, |bits| scalar.map_or(bits, |scalar| scalar.canonical(bits)));
            mix(hash ^ bits as u64)
        }))
    }

    /// Whether the samples allow that the second node stands for the first one.
    pub(crate) fn may_stand_for(&self, left: NodeId, right: NodeId) -> bool {
        let [l, r] = [left, right].map(|id| &self.sampled.samples[id as usize]);
        let ty = self.type_of(left);
        ty == self.type_of(right) && stands_for(ty.unwrap_or_default(), l, r, (Tried::All, self.sees_nans()))
    }
}

/// One value on all inputs.
pub(crate) fn same(bits: u128) -> Samples {
    Samples { bits: [bits as u64; SAMPLES], poison: 0, any_payload: 0, any_sign: 0 }
}

/// Anything of a type.
pub(crate) fn any(ty: &str, salt: u64, tried: Tried) -> Samples {
    let scalar = Scalar::named(ty);
    Samples::new(|n| Some(unknown(scalar, salt, n)), tried.count())
}

fn unknown(scalar: Option<Scalar>, salt: u64, n: usize) -> u128 {
    let hash = mix(mix(salt) ^ n as u64);
    // On some inputs there are two values only: what is compared is equal at times, whatever it is.
    let hash = if n % 8 == 4 { mix(n as u64) ^ (hash % 2) } else { hash };
    scalar.map_or(u128::from(hash), |scalar| initial(n as u64, 0, &[hash as i64], scalar))
}

/// What an operation gives; one that cannot be executed is some function of its operands.
pub(crate) fn compute(op: &Operation, operands: &[&Samples], tried: Tried) -> Samples {
    let types = types(op);
    let of = |n| {
        let values: SmallVec<[Option<u128>; 4]> = operands.iter().map(|samples| samples.get(n)).collect();
        match types.clone().and_then(|types| operate_on(op, types, &values)) {
            Ok(value) => value,
            Err(Stop::Undefined(_)) => None,
            Err(Stop::Unknown(_)) => {
                let names = [&op.name, &op.from, &op.ty].into_iter().chain(&op.flags);
                let name = names.flat_map(|part| part.bytes()).fold(1, |hash, byte| mix(hash ^ u64::from(byte)));
                let add = |hash, value: &Option<u128>| match value {
                    Some(bits) => mix(hash ^ *bits as u64),
                    None => mix(hash ^ 1),
                };
                Some(unknown(Scalar::named(&op.ty), values.iter().fold(name, add), n))
            }
        }
    };
    Samples::new(of, tried.count())
}

/// Whether the second value may stand for the first one on these inputs, where the bits of NaNs are compared or not.
pub(crate) fn stands_for(ty: &str, left: &Samples, right: &Samples, (tried, nans): (Tried, bool)) -> bool {
    let scalar = Scalar::named(ty).filter(|_| !nans);
    (0..tried.count()).all(|n| match (left.get(n), right.get(n)) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(l), Some(r)) => l as u64 == r as u64 || scalar.is_some_and(|scalar| scalar.allows(l, r)),
    })
}
