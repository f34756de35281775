//! What `rewright opt` makes of functions whose values may be poison, by LLVM's semantics: on every input, poison among
//! them, each behaviour of what goes out is one of what came in, or better defined.
//!
//! A small interpreter of integers of up to 8 bits knows poison, what is undefined, and that `freeze` may choose; choices
//! are tried out. It shares nothing with import and export but the reader of text.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_driver::llvm::body::{self, Body, Instruction, Operand, Shape};
use rewright_driver::llvm::module::{self, Definition, File};
use rewright_driver::llvm::types::Type;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum V {
    Poison,
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
    /// `freeze` wants to choose among values of so many bits.
    Choice(u32),
}

struct Run<'a> {
    values: HashMap<&'a str, V>,
    memory: Memory,
    choices: &'a [u64],
}

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

    fn int(&self, operand: &Operand) -> Option<u64> {
        match self.operand(operand) {
            V::Poison => None,
            V::Int(n) => Some(n),
            V::Ptr(at) => Some(1000 + at as u64),
        }
    }

    fn address(&self, operand: &Operand) -> Result<usize, Stop> {
        match self.operand(operand) {
            V::Ptr(at) if at < self.memory.len() => Ok(at),
            _ => Err(Stop::Undefined),
        }
    }

    fn instruction(&mut self, i: &Instruction) -> Result<V, Stop> {
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
                match (self.operand(base), self.int(&indices[0])) {
                    (V::Ptr(at), Some(n)) => V::Ptr(at.wrapping_add(n as usize)),
                    _ => V::Poison,
                }
            }
            Shape::Plain(operands) => match (i.opcode.as_str(), &operands[..]) {
                ("freeze", [x]) => match self.operand(x) {
                    V::Poison => {
                        let Some((first, rest)) = self.choices.split_first() else {
                            return Err(Stop::Choice(width(&x.ty)));
                        };
                        self.choices = rest;
                        V::Int(first & mask(width(&x.ty)))
                    }
                    value => value,
                },
                ("select", [c, x, y]) => match self.int(c) {
                    None => V::Poison,
                    Some(1) => self.operand(x),
                    Some(_) => self.operand(y),
                },
                (opcode, [x]) => match self.int(x) {
                    None => V::Poison,
                    Some(n) => cast(opcode, &i.flags, n, width(&x.ty), width(&i.ty)),
                },
                (opcode, [x, y]) => {
                    let divides = ["udiv", "urem", "sdiv", "srem"].contains(&opcode);
                    match (self.int(x), self.int(y)) {
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
    let mut run = Run { values, memory: [V::Int(3), V::Int(5), V::Int(9), V::Int(17)], choices };
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
                Shape::Branch(condition, labels) => match run.int(condition) {
                    None => return Ok(End::Undefined),
                    Some(n) => next = Some(&labels[usize::from(n == 0)]),
                },
                Shape::Return(Some(value)) => return Ok(End::Returned(run.operand(value), run.memory)),
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

/// Values of a parameter: poison, edges, and some in between.
fn inputs(ty: &Type) -> Vec<V> {
    match ty {
        Type::Ptr => vec![V::Ptr(1)],
        ty => {
            let edges = [0, 1, 2, 3, 7, 8, 27, 28, 29, 64, 126, 127, 128, 129, 155, 156, 157, 254, 255];
            let mut found: Vec<V> = edges.iter().filter(|n| **n <= mask(width(ty))).map(|n| V::Int(*n)).collect();
            found.push(V::Poison);
            found
        }
    }
}

/// What is wrong with `new` in the place of `old`.
fn difference(old: (&File, &Definition), new: (&File, &Definition)) -> Option<String> {
    let (before, after) = (body::read(old.0, old.1).unwrap(), body::read(new.0, new.1).unwrap());
    let all = |bits: u32| (0..=mask(bits)).collect::<Vec<u64>>();
    let some = |bits: u32| [0, 1, 2, 100, 127, 128, 255].into_iter().filter(|n| *n <= mask(bits)).collect::<Vec<u64>>();
    let mut cases: Vec<Vec<V>> = vec![vec![]];
    for parameter in &old.1.parameters {
        let values = inputs(&parameter.ty);
        cases = cases.iter().flat_map(|case| values.iter().map(move |v| [&case[..], &[*v]].concat())).collect();
    }
    for case in cases {
        let expected = ends(old.1, &before, &case, &all);
        for end in ends(new.1, &after, &case, &some) {
            if !expected.iter().any(|old| refines(end, *old)) {
                return Some(format!("on {case:?}: {end:?}, but was {expected:?}"));
            }
        }
    }
    None
}

fn by_name<'a>(file: &'a File, name: &str) -> (&'a File, &'a Definition) {
    (file, file.functions.iter().find(|f| f.name == name).unwrap())
}

#[test]
fn what_goes_out_refines_what_came_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/llvm/refines");
    let before = std::fs::read_to_string(folder.join("poison.ll")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rewright"))
        .arg("opt")
        .arg(folder.join("poison.ll"))
        .arg("--rules")
        .arg(folder.join("equal.rw"))
        .arg("--stats")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !said.contains("failed"), "{said}");
    let (old, new) = (module::read(before).unwrap(), module::read(String::from_utf8(output.stdout).unwrap()).unwrap());
    for definition in &old.functions {
        let name = &definition.name;
        assert!(said.contains(&format!("{name}: optimised")), "{name} shows nothing: {said}");
        let found = difference(by_name(&old, name), by_name(&new, name));
        assert_eq!(found, None, "{name}:\n{}", new.text);
    }
}

#[test]
fn what_does_not_refine_is_found() {
    let wrong = [
        // The flags are those of the other sum.
        ("%r = add i8 %x, 1", "%r = add nsw i8 %x, 1"),
        (
            "%a = add nsw i8 %x, 100\n  %r = select i1 %c, i8 %a, i8 0",
            "%a = add nsw i8 %x, 100\n  %m = sext i1 %c to i8\n  %r = and i8 %m, %a",
        ),
        (
            "%b = icmp slt i8 %x, 7\n  %s = select i1 %c, i1 %b, i1 false\n  %r = zext i1 %s to i8",
            "%b = icmp slt i8 %x, 7\n  %s = and i1 %c, %b\n  %r = zext i1 %s to i8",
        ),
        ("%m = and i8 %y, 7\n  %r = shl i8 %x, %m", "%r = shl i8 %x, %y"),
        // Frozen twice, to different values.
        ("%f = freeze i8 %x\n  %r = sub i8 %f, %f", "%f = freeze i8 %x\n  %g = freeze i8 %x\n  %r = sub i8 %f, %g"),
        ("%r = select i1 %c, i8 %x, i8 %y", "br i1 %c, label %t, label %e\nt:\n  ret i8 %x\ne:\n  %r = add i8 %y, 0"),
        ("%r = add i8 %x, 0", "store i8 %x, ptr %p, align 1\n  %r = add i8 %x, 0"),
    ];
    let file = |text: &str| {
        module::read(format!("define i8 @f(i1 %c, i8 %x, i8 %y, ptr %p) {{\ns:\n  {text}\n  ret i8 %r\n}}\n")).unwrap()
    };
    for (old, new) in wrong {
        let (old, new) = (file(old), file(new));
        assert!(difference(by_name(&old, "@f"), by_name(&new, "@f")).is_some(), "{}", new.text);
        assert_eq!(difference(by_name(&old, "@f"), by_name(&old, "@f")), None, "{}", old.text);
    }
}
