//! Inputs that are worth trying: edges, numbers that the texts speak of, random ones, poison, `undef`, small blocks of
//! memory.

use super::input::{Block, Bytes, Cell, Datum, Input, InputAddress, Scalar};
use super::layout::Layout;
use super::value::ones;
use crate::inputs::{hash, numbers};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_llvm::module::{Definition, File};
use rewright_llvm::types::Type;

/// If there are at most this many combinations of arguments, all of them are tried.
const ALL: usize = 512;
/// How many random inputs there are.
const RANDOM: usize = 64;
/// Bytes of a block.
const BLOCK: u64 = 64;

const FLOATS: [f64; 10] = [0.0, -0.0, 1.0, -1.5, 0.1, 1e30, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// Of how many functions that are called the numbers are edges, too.
const CALLEES: usize = 16;

/// Inputs for two versions of a function and functions that they call, the same for the same texts and seed.
pub fn candidates(
    before: (&File, &Definition),
    after: (&File, &Definition),
    callees: &[(&File, &Definition)],
    seed: u64,
) -> Vec<Input> {
    let Ok(layout) = Layout::new(&before.0.data_layout, &before.0.named) else { return vec![] };
    let mut edges = vec![0, 1, 2, 7];
    for (file, definition) in [before, after].iter().chain(callees.iter().take(CALLEES)) {
        edges.extend(numbers(&file.text[definition.body.clone()]).map(|n| n as i64 as i128 as u128));
    }
    edges.sort_unstable();
    edges.dedup();
    let rng = ChaCha8Rng::seed_from_u64(seed ^ hash(&before.1.name));
    let mut maker = Maker { rng, edges, layout, memory: vec![] };
    let parameters = &before.1.parameters;
    let calls = before.0.text[before.1.body.clone()].contains("call ptr");
    let mut inputs = maker.exhaustive(before.1);
    for n in 0..RANDOM {
        let arguments =
            parameters.iter().map(|parameter| maker.argument(&parameter.ty, &parameter.attributes)).collect();
        if calls {
            // What functions outside may give pointers to.
            maker.block(BLOCK, 16, false);
        }
        inputs.push(maker.input(arguments, seed.wrapping_add(n as u64)));
        // The same with something that is less defined, mostly.
        let undefined: Vec<usize> = (0..parameters.len())
            .filter(|i| !parameters[*i].attributes.iter().any(|attribute| attribute == "noundef"))
            .collect();
        if !undefined.is_empty() {
            let which = undefined[n % undefined.len()];
            let mut input = inputs[inputs.len() - 1].clone();
            let less = [Scalar::Poison, Scalar::Undef][n / undefined.len() % 2].clone();
            input.arguments[which] = maker.less_defined(&parameters[which].ty, &input.arguments[which], less);
            inputs.push(input);
        }
    }
    inputs.dedup();
    inputs
}

struct Maker<'a> {
    rng: ChaCha8Rng,
    edges: Vec<u128>,
    layout: Layout<'a>,
    /// Blocks of the input that is being made.
    memory: Vec<Block>,
}

impl Maker<'_> {
    fn input(&mut self, arguments: Vec<Datum>, seed: u64) -> Input {
        Input { arguments, memory: std::mem::take(&mut self.memory), seed, ..Input::default() }
    }

    /// All arguments, if they are few and no pointers.
    fn exhaustive(&mut self, definition: &Definition) -> Vec<Input> {
        let mut all: Vec<Vec<Datum>> = vec![vec![]];
        for parameter in &definition.parameters {
            let Type::Int(width @ 1..=8) = parameter.ty else { return vec![] };
            let mut values: Vec<Scalar> = (0..1u128 << width).map(Scalar::Bits).collect();
            if !parameter.attributes.iter().any(|attribute| attribute == "noundef") {
                values.extend([Scalar::Poison, Scalar::Undef]);
            }
            if all.len() * values.len() > ALL {
                return vec![];
            }
            let extended = |arguments: &Vec<Datum>, value: &Scalar| {
                arguments.iter().cloned().chain([Datum::Scalar(value.clone())]).collect()
            };
            all = all.iter().flat_map(|list| values.iter().map(move |value| extended(list, value))).collect();
        }
        all.into_iter().map(|arguments| self.input(arguments, 0)).collect()
    }

    fn argument(&mut self, ty: &Type, attributes: &[String]) -> Datum {
        if let Ok(Some(types)) = self.layout.parts(ty) {
            return Datum::Parts(types.iter().map(|ty| self.argument(ty, &[])).collect());
        }
        let scalar = match ty {
            Type::Ptr => return self.pointer(attributes),
            Type::Word(word) => self.float(word),
            _ => {
                let width = self.layout.width(ty).unwrap_or(64);
                self.integer(width)
            }
        };
        Datum::Scalar(Scalar::Bits(scalar))
    }

    fn integer(&mut self, width: u32) -> u128 {
        let sign = 1u128 << (width - 1);
        let rng = &mut self.rng;
        let bits = match rng.random_range(0..8) {
            0..3 => self.edges[rng.random_range(0..self.edges.len())],
            3 => [sign, sign - 1, sign + 1, u128::MAX][rng.random_range(0..4)],
            4 => rng.random_range(0..2 * u128::from(width)),
            5 => 1 << rng.random_range(0..width),
            6 => u128::MAX - rng.random_range(0..4),
            _ => rng.random(),
        };
        bits & ones(width)
    }

    fn float(&mut self, word: &str) -> u128 {
        let rng = &mut self.rng;
        let number = match rng.random_range(0..3) {
            0 => rng.random_range(-100.0..100.0),
            1 => f64::from(rng.random_range(-4..5)),
            _ => FLOATS[rng.random_range(0..FLOATS.len())],
        };
        match word {
            "float" => (number as f32).to_bits().into(),
            "double" => number.to_bits().into(),
            _ => rng.random_range(0..1 << 16),
        }
    }

    /// Mostly into a block of its own, with bytes on both sides.
    fn pointer(&mut self, attributes: &[String]) -> Datum {
        let says = |word: &str| attributes.iter().find(|a| a.starts_with(word)).map(|a| super::annotations::number(a));
        let shared = says("noalias").is_none() && !self.memory.is_empty();
        let scalar = match self.rng.random_range(0..16) {
            0 if says("nonnull").is_none() && says("dereferenceable(").is_none() => Scalar::Null,
            1..4 if shared => {
                let block = self.rng.random_range(0..self.memory.len()) as u32;
                Scalar::Pointer(InputAddress::Block(block, 4 * self.rng.random_range(0..4)))
            }
            _ => {
                let stated = says("align").unwrap_or(1).next_power_of_two().min(1 << 20);
                let (align, size) = match self.rng.random_range(0..8) {
                    0 => (self.one_of(&[1, 2, 4, 8]), BLOCK),
                    1 => (16, self.one_of(&[1, 2, 4, 8, 12, 16])),
                    _ => (16, BLOCK),
                };
                let size = says("dereferenceable").unwrap_or(0).max(size).min(4096);
                let leads = self.rng.random_range(0..6) == 0;
                let block = self.block(size, align.max(stated), leads);
                let offset = if self.rng.random_range(0..12) == 0 { self.one_of(&[1, 2, 4, 8]) as i64 } else { 0 };
                Scalar::Pointer(InputAddress::Block(block, offset))
            }
        };
        Datum::Scalar(scalar)
    }

    fn block(&mut self, size: u64, align: u64, leads: bool) -> u32 {
        let number = self.memory.len() as u32;
        self.memory.push(Block { align, bytes: Bytes(vec![]) });
        let cells = if leads {
            let target = self.block(BLOCK, 16, false);
            (0..size / 8).map(|_| Cell::Pointer(InputAddress::Block(target, 0))).collect()
        } else {
            self.cells(size)
        };
        self.memory[number as usize].bytes = Bytes(cells);
        number
    }

    fn one_of(&mut self, values: &[u64]) -> u64 {
        values[self.rng.random_range(0..values.len())]
    }

    /// Numbers of four or eight bytes, and single bytes.
    fn cells(&mut self, size: u64) -> Vec<Cell> {
        let mut cells = vec![];
        while (cells.len() as u64) < size {
            let width = [8, 32, 32, 64][self.rng.random_range(0..4)];
            if width == 8 {
                cells.extend((0..4).map(|_| self.cell()));
            } else {
                let number = self.integer(width);
                cells.extend((0..width / 8).map(|n| Cell::Byte((number >> (8 * n)) as u8)));
            }
        }
        cells.truncate(size as usize);
        cells
    }

    fn cell(&mut self) -> Cell {
        match self.rng.random_range(0..64) {
            0 => Cell::Poison,
            1 => Cell::Undef,
            2..16 => Cell::Byte(0),
            16..24 => Cell::Byte(self.rng.random_range(0..8)),
            24..30 => Cell::Byte(0xff),
            _ => Cell::Byte(self.rng.random()),
        }
    }

    /// A value with all of it, or one part, poison or `undef`.
    fn less_defined(&mut self, ty: &Type, value: &Datum, less: Scalar) -> Datum {
        match (self.layout.parts(ty), value) {
            (Ok(Some(types)), Datum::Parts(parts)) if !parts.is_empty() => {
                let which = self.rng.random_range(0..parts.len());
                let mut parts = parts.clone();
                parts[which] = self.less_defined(&types[which], &parts[which].clone(), less);
                Datum::Parts(parts)
            }
            _ => Datum::Scalar(less),
        }
    }
}
