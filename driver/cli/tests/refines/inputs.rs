//! Inputs of functions of small integers, and what is wrong with another version on one of them: `validate`'s own
//! replay says so.

use rewright_equiv::replay::{Block, Bytes, Cell, Datum, Input, InputAddress, Replay, Replayer, Scalar};
use rewright_llvm::module::{Definition, File};
use rewright_llvm::types::Type;

/// Which values parameters have.
#[derive(Clone, Copy)]
pub(crate) enum Inputs {
    /// Edges.
    Edges,
    /// These, and some in between.
    Some,
    /// All.
    All,
}

/// What pointers point into, one byte behind its start.
const MEMORY: [u8; 4] = [3, 5, 9, 17];

/// Values of a parameter, poison and `undef` among them.
fn values(ty: &Type, which: Inputs) -> Vec<Scalar> {
    let edges = [0, 1, 2, 127, 128, 255];
    let more = [7, 8, 27, 28, 155, 156];
    let fits = |n: &u128| matches!(ty, Type::Int(bits) if n >> bits == 0);
    let numbers: Vec<u128> = match (ty, which) {
        (Type::Ptr, _) => return vec![Scalar::Pointer(InputAddress::Block(0, 1))],
        (Type::Int(_), Inputs::Edges) => edges.into_iter().filter(fits).collect(),
        (Type::Int(_), Inputs::Some) => edges.into_iter().chain(more).filter(fits).collect(),
        (Type::Int(bits), Inputs::All) => (0..1 << bits).collect(),
        (other, _) => panic!("there are no inputs of type {other}"),
    };
    numbers.into_iter().map(Scalar::Bits).chain([Scalar::Poison, Scalar::Undef]).collect()
}

/// All inputs with these values.
fn inputs(definition: &Definition, which: Inputs) -> Vec<Input> {
    let mut cases: Vec<Vec<Datum>> = vec![vec![]];
    for parameter in &definition.parameters {
        let values = values(&parameter.ty, which);
        let with = |case: &Vec<Datum>, value: &Scalar| [&case[..], &[Datum::Scalar(value.clone())]].concat();
        cases = cases.iter().flat_map(|case| values.iter().map(move |value| with(case, value))).collect();
    }
    let block = Block { align: 1, bytes: Bytes(MEMORY.map(Cell::Byte).to_vec()) };
    cases.into_iter().map(|arguments| Input { arguments, memory: vec![block.clone()], ..Input::default() }).collect()
}

/// What is wrong with `new` in the place of `old`.
pub(crate) fn difference(old: (&File, &Definition), new: (&File, &Definition), which: Inputs) -> Option<String> {
    let replayer = Replayer::new(old, new).expect("both can be run");
    let (mut open, mut compared) = (vec![], 0);
    for input in inputs(old.1, which) {
        match replayer.replay(&input) {
            Replay::Differs(found) => return Some(format!("on {input}: {}, but was {}", found.after, found.before)),
            Replay::Agrees | Replay::Undefined => compared += 1,
            Replay::Unsupported(reason) => open.push((input, reason)),
        }
    }
    let few = open.len() * 20 < compared;
    assert!(few, "{} of {compared} inputs say nothing, {:?} for one of {}", open.len(), open[0], new.1.name);
    None
}
