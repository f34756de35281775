//! Functions of integers of up to 8 bits by LLVM's semantics: poison, what is undefined, and what `freeze` and each use
//! of `undef` may choose; choices are tried out. It shares nothing with import and export but the reader of text.

use rewright_llvm::body::{self, Body, Instruction, Operand, Shape};
use rewright_llvm::module::{Definition, File};
use rewright_llvm::types::Type;
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum V {
    Poison,
    /// Any value, at each use.
    Undef,
    /// Of an instruction with operands that are, computed anew at each use.
    Later(usize),
    /// Zero above its width.
    Int(u64),
    /// An offset into the memory.
    Ptr(usize),
}

type Memory = [V; 4];

/// How a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Undefined,
    Returned(V, Memory),
}

/// Why a run goes no further.
enum Stop {
    Undefined,
    /// `freeze`, or a use of `undef`, wants to choose among values of so many bits.
    Choice(u32),
}

struct Run<'a> {
    values: HashMap<&'a str, V>,
    memory: Memory,
    choices: &'a [u64],
    /// Instructions and the values that they see.
    later: Vec<(&'a Instruction, HashMap<&'a str, V>)>,
}

const DIVISIONS: [&str; 4] = ["udiv", "urem", "sdiv", "srem"];

fn width(ty: &Type) -> u32 {
    match ty {
        Type::Int(n) => *n,
        Type::Ptr => 64,
        other => panic!("the interpreter has no {other}"),
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn signed(x: u64, bits: u32) -> i64 {
    ((x << (64 - bits)) as i64) >> (64 - bits)
}

impl<'a> Run<'a> {
    fn operand(&self, operand: &Operand) -> V {
        match operand.text.as_str() {
            "poison" => V::Poison,
            "true" => V::Int(1),
            "false" => V::Int(0),
            name if name.starts_with('%') => self.values[name],
            number => V::Int(number.parse::<i64>().unwrap() as u64 & mask(width(&operand.ty))),
        }
    }

    fn choice(&mut self, bits: u32) -> Result<u64, Stop> {
        let (first, rest) = self.choices.split_first().ok_or(Stop::Choice(bits))?;
        self.choices = rest;
        Ok(first & mask(bits))
    }

    /// What an instruction that waited for this use gives: `undef` may be what it chooses.
    fn computed(&mut self, value: V) -> Result<V, Stop> {
        let V::Later(n) = value else { return Ok(value) };
        let (instruction, mut values) = self.later[n].clone();
        std::mem::swap(&mut self.values, &mut values);
        let value = self.compute(instruction).and_then(|value| self.computed(value));
        self.values = values;
        value
    }

    /// What this use sees.
    fn seen(&mut self, value: V, ty: &Type) -> Result<V, Stop> {
        match self.computed(value)? {
            V::Undef => Ok(V::Int(self.choice(width(ty))?)),
            value => Ok(value),
        }
    }

    /// `None` is poison.
    fn int(&mut self, operand: &Operand) -> Result<Option<u64>, Stop> {
        Ok(match self.seen(self.operand(operand), &operand.ty)? {
            V::Poison => None,
            V::Undef | V::Later(_) => unreachable!("it is seen"),
            V::Int(n) => Some(n),
            V::Ptr(at) => Some(1000 + at as u64),
        })
    }

    fn address(&self, operand: &Operand) -> Result<usize, Stop> {
        match self.operand(operand) {
            V::Ptr(at) if at < self.memory.len() => Ok(at),
            _ => Err(Stop::Undefined),
        }
    }

    fn instruction(&mut self, i: &'a Instruction) -> Result<V, Stop> {
        let operands = match &i.shape {
            Shape::Call { args, .. } => args,
            Shape::Plain(operands) if i.opcode != "freeze" && !DIVISIONS.contains(&i.opcode.as_str()) => operands,
            _ => return self.compute(i),
        };
        if operands.iter().all(|o| !matches!(self.operand(o), V::Undef | V::Later(_))) {
            return self.compute(i);
        }
        self.later.push((i, self.values.clone()));
        Ok(V::Later(self.later.len() - 1))
    }

    fn compute(&mut self, i: &Instruction) -> Result<V, Stop> {
        Ok(match &i.shape {
            Shape::Load(from, _) => {
                assert_eq!(i.ty, Type::Int(8));
                self.memory[self.address(from)?]
            }
            Shape::Store(value, to, _) => {
                assert_eq!(value.ty, Type::Int(8));
                let at = self.address(to)?;
                self.memory[at] = self.operand(value);
                V::Poison
            }
            Shape::Offset { base, source: Type::Int(8), indices } => {
                match (self.operand(base), self.int(&indices[0])?) {
                    (V::Ptr(at), Some(n)) => V::Ptr(at.wrapping_add(n as usize)),
                    _ => V::Poison,
                }
            }
            Shape::Call { callee: Some(callee), args, .. } => {
                let mut values = vec![];
                for arg in args {
                    match self.int(arg)? {
                        None => return Ok(V::Poison),
                        Some(n) => values.push(n),
                    }
                }
                intrinsic(callee, &values, width(&i.ty))
            }
            Shape::Plain(operands) => match (i.opcode.as_str(), &operands[..]) {
                ("freeze", [x]) => match self.seen(self.operand(x), &x.ty)? {
                    V::Poison => V::Int(self.choice(width(&x.ty))?),
                    value => value,
                },
                ("select", [c, x, y]) => match self.int(c)? {
                    None => V::Poison,
                    Some(1) => self.operand(x),
                    Some(_) => self.operand(y),
                },
                (opcode, [x]) => match self.int(x)? {
                    None => V::Poison,
                    Some(n) => cast(opcode, &i.flags, n, width(&x.ty), width(&i.ty)),
                },
                (opcode, [x, y]) => {
                    let divides = DIVISIONS.contains(&opcode);
                    match (self.int(x)?, self.int(y)?) {
                        (_, None) if divides => return Err(Stop::Undefined),
                        (Some(a), Some(b)) => binary(opcode, &i.flags, a, b, width(&x.ty))?,
                        (None, Some(0)) if divides => return Err(Stop::Undefined),
                        _ => V::Poison,
                    }
                }
                other => panic!("the interpreter does not know {other:?}"),
            },
            other => panic!("the interpreter does not know {other:?}"),
        })
    }
}

fn intrinsic(callee: &str, args: &[u64], bits: u32) -> V {
    let n = |i: usize| args[i];
    let s = |i: usize| signed(args[i], bits);
    let shifted = |left: u32| ((n(0) << bits | n(1)) << left) >> bits;
    let result = match callee.split('.').nth(1).unwrap() {
        "umin" => n(0).min(n(1)),
        "umax" => n(0).max(n(1)),
        "smin" => s(0).min(s(1)) as u64,
        "smax" => s(0).max(s(1)) as u64,
        "abs" if args[1] == 1 && s(0) == signed(1 << (bits - 1), bits) => return V::Poison,
        "abs" => s(0).unsigned_abs(),
        "fshl" => shifted(n(2) as u32 % bits),
        "fshr" => shifted(bits - n(2) as u32 % bits),
        "ctpop" => n(0).count_ones().into(),
        "ctlz" | "cttz" if args[1] == 1 && n(0) == 0 => return V::Poison,
        "ctlz" => (n(0).leading_zeros() - (64 - bits)).into(),
        "cttz" => n(0).trailing_zeros().min(bits).into(),
        "bitreverse" => n(0).reverse_bits() >> (64 - bits),
        "uadd" => (n(0) + n(1)).min(mask(bits)),
        "usub" => n(0).saturating_sub(n(1)),
        other => panic!("the interpreter does not know the intrinsic {other}"),
    };
    V::Int(result & mask(bits))
}

fn cast(opcode: &str, flags: &[String], n: u64, from: u32, to: u32) -> V {
    let says = |flag: &str| flags.iter().any(|f| f == flag);
    let result = match opcode {
        "zext" if says("nneg") && signed(n, from) < 0 => return V::Poison,
        "zext" | "ptrtoint" => n,
        "sext" => signed(n, from) as u64 & mask(to),
        "trunc" => {
            let cut = n & mask(to);
            if (says("nuw") && cut != n) || (says("nsw") && signed(cut, to) != signed(n, from)) {
                return V::Poison;
            }
            cut
        }
        other => panic!("the interpreter does not know {other}"),
    };
    V::Int(result)
}

fn binary(opcode: &str, flags: &[String], a: u64, b: u64, bits: u32) -> Result<V, Stop> {
    let says = |flag: &str| flags.iter().any(|f| f == flag);
    let (x, y) = (signed(a, bits), signed(b, bits));
    let least = signed(1 << (bits - 1), bits);
    // By unlimited integers, and whether flags allow it.
    let wide = |unsigned: i128, wide: i128| {
        let cut = unsigned as u64 & mask(bits);
        let bad =
            (says("nuw") && i128::from(cut) != unsigned) || (says("nsw") && i128::from(signed(cut, bits)) != wide);
        if bad { V::Poison } else { V::Int(cut) }
    };
    let (ua, ub, sa, sb) = (i128::from(a), i128::from(b), i128::from(x), i128::from(y));
    let exact = |result: u64, is: bool| if says("exact") && !is { V::Poison } else { V::Int(result & mask(bits)) };
    let truth = |is: bool| V::Int(u64::from(is));
    Ok(match opcode {
        "add" => wide(ua + ub, sa + sb),
        "sub" => wide(ua - ub, sa - sb),
        "mul" => wide(ua * ub, sa * sb),
        "shl" | "lshr" | "ashr" if b >= u64::from(bits) => V::Poison,
        "shl" => wide(ua << b, sa << b),
        "lshr" => exact(a >> b, (a >> b) << b == a),
        "ashr" => exact((x >> b) as u64, (x >> b) << b == x),
        "and" => V::Int(a & b),
        "or" if says("disjoint") && a & b != 0 => V::Poison,
        "or" => V::Int(a | b),
        "xor" => V::Int(a ^ b),
        "udiv" | "urem" | "sdiv" | "srem" if b == 0 => return Err(Stop::Undefined),
        "sdiv" | "srem" if y == -1 && x == least => return Err(Stop::Undefined),
        "udiv" => exact(a / b, a.is_multiple_of(b)),
        "urem" => V::Int(a % b),
        "sdiv" => exact((x / y) as u64, x % y == 0),
        "srem" => V::Int((x % y) as u64 & mask(bits)),
        "icmp eq" => truth(a == b),
        "icmp ne" => truth(a != b),
        "icmp ult" => truth(a < b),
        "icmp ule" => truth(a <= b),
        "icmp ugt" => truth(a > b),
        "icmp uge" => truth(a >= b),
        "icmp slt" => truth(x < y),
        "icmp sle" => truth(x <= y),
        "icmp sgt" => truth(x > y),
        "icmp sge" => truth(x >= y),
        other => panic!("the interpreter does not know {other}"),
    })
}

/// Runs a body; these choices are made by `freeze`, in order.
fn run(definition: &Definition, body: &Body, inputs: &[V], choices: &[u64]) -> Result<End, Stop> {
    let names = definition.parameters.iter().map(|p| p.name.as_str());
    let values = names.zip(inputs.iter().copied()).collect();
    let mut run = Run { values, memory: [V::Int(3), V::Int(5), V::Int(9), V::Int(17)], choices, later: vec![] };
    let (mut at, mut from) = (0, "");
    loop {
        let block = &body.blocks[at];
        // All at once.
        let mut arriving = vec![];
        for i in &block.instructions {
            if let Shape::Phi(values) = &i.shape {
                let (operand, _) = values.iter().find(|(_, label)| label == from).unwrap();
                arriving.push((i.result.as_deref().unwrap(), run.operand(operand)));
            }
        }
        run.values.extend(arriving);
        let mut next = None;
        for i in &block.instructions {
            match &i.shape {
                Shape::Phi(_) => {}
                Shape::Jump(label) => next = Some(label),
                Shape::Branch(condition, labels) => match run.computed(run.operand(condition)) {
                    Ok(V::Int(n)) => next = Some(&labels[usize::from(n == 0)]),
                    Ok(_) | Err(Stop::Undefined) => return Ok(End::Undefined),
                    Err(choice) => return Err(choice),
                },
                Shape::Return(Some(value)) => {
                    let value = run.seen(run.operand(value), &value.ty)?;
                    for at in 0..run.memory.len() {
                        run.memory[at] = run.seen(run.memory[at], &Type::Int(8))?;
                    }
                    return Ok(End::Returned(value, run.memory));
                }
                Shape::Unreachable => return Ok(End::Undefined),
                _ => match run.instruction(i) {
                    Ok(value) => {
                        run.values.extend(i.result.as_deref().map(|name| (name, value)));
                    }
                    Err(Stop::Undefined) => return Ok(End::Undefined),
                    Err(choice) => return Err(choice),
                },
            }
        }
        from = &block.label;
        at = body.blocks.iter().position(|b| Some(&b.label) == next).unwrap();
    }
}

/// How runs may end, over choices of `freeze` among `candidates`.
fn ends(definition: &Definition, body: &Body, inputs: &[V], candidates: &dyn Fn(u32) -> Vec<u64>) -> Vec<End> {
    let (mut found, mut work) = (vec![], vec![vec![]]);
    while let Some(choices) = work.pop() {
        match run(definition, body, inputs, &choices) {
            Ok(end) if found.contains(&end) => {}
            Ok(end) => found.push(end),
            Err(Stop::Choice(bits)) => {
                work.extend(candidates(bits).into_iter().map(|c| [&choices[..], &[c]].concat()));
            }
            Err(Stop::Undefined) => unreachable!("it is an end"),
        }
    }
    found
}

fn refines(new: End, old: End) -> bool {
    let value = |new: V, old: V| old == V::Poison || new == old;
    match (new, old) {
        (_, End::Undefined) => true,
        (End::Undefined, _) => false,
        (End::Returned(v, m), End::Returned(w, n)) => value(v, w) && m.iter().zip(n).all(|(a, b)| value(*a, b)),
    }
}

/// Which values parameters have.
#[derive(Clone, Copy)]
pub(crate) enum Inputs {
    /// Edges, and some in between.
    Some,
    /// All.
    All,
}

/// Values of a parameter, poison and `undef` among them.
fn inputs(ty: &Type, which: Inputs) -> Vec<V> {
    let edges = [0, 1, 2, 3, 7, 8, 27, 28, 29, 64, 126, 127, 128, 129, 155, 156, 157, 254, 255];
    let numbers: Vec<u64> = match (ty, which) {
        (Type::Ptr, _) => return vec![V::Ptr(1)],
        (ty, Inputs::Some) => edges.into_iter().filter(|n| *n <= mask(width(ty))).collect(),
        (ty, Inputs::All) => (0..=mask(width(ty))).collect(),
    };
    numbers.into_iter().map(V::Int).chain([V::Poison, V::Undef]).collect()
}

/// What is wrong with `new` in the place of `old`.
pub(crate) fn difference(old: (&File, &Definition), new: (&File, &Definition), which: Inputs) -> Option<String> {
    let (before, after) = (body::read(old.0, old.1).unwrap(), body::read(new.0, new.1).unwrap());
    let all = |bits: u32| (0..=mask(bits)).collect::<Vec<u64>>();
    let some = |bits: u32| [0, 1, 2, 100, 127, 128, 255].into_iter().filter(|n| *n <= mask(bits)).collect::<Vec<u64>>();
    let few = |bits: u32| if bits == 1 { vec![0, 1] } else { vec![1, 128] };
    let mut cases: Vec<Vec<V>> = vec![vec![]];
    for parameter in &old.1.parameters {
        let values = inputs(&parameter.ty, which);
        cases = cases.iter().flat_map(|case| values.iter().map(move |v| [&case[..], &[*v]].concat())).collect();
    }
    for case in cases {
        // What one side can choose the other can: some values show what all would.
        let undefined = case.contains(&V::Undef);
        let expected = ends(old.1, &before, &case, if undefined { &few } else { &all });
        for end in ends(new.1, &after, &case, if undefined { &few } else { &some }) {
            if !expected.iter().any(|old| refines(end, *old)) {
                return Some(format!("on {case:?}: {end:?}, but was {expected:?}"));
            }
        }
    }
    None
}
