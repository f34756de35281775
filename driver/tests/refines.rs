//! What `rewright opt` makes of functions whose values may be poison, by LLVM's semantics: on every input, poison among
//! them, each behaviour of what goes out is one of what came in, or better defined.
//!
//! A small interpreter of integers of up to 8 bits knows poison, what is undefined, and that `freeze` and each use of
//! `undef` may choose; choices are tried out. It shares nothing with import and export but the reader of text.
//! Functions are some that are written for this, and random ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand::{Rng, SeedableRng};
use rewright_driver::llvm::body::{self, Body, Instruction, Operand, Shape};
use rewright_driver::llvm::module::{self, Definition, File};
use rewright_driver::llvm::types::Type;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

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

    /// What this use sees.
    fn seen(&mut self, value: V, ty: &Type) -> Result<V, Stop> {
        match value {
            V::Undef => Ok(V::Int(self.choice(width(ty))?)),
            V::Later(n) => {
                let (instruction, mut values) = self.later[n].clone();
                std::mem::swap(&mut self.values, &mut values);
                let value = self.compute(instruction);
                self.values = values;
                self.seen(value?, ty)
            }
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
                Shape::Branch(condition, _) if run.operand(condition) == V::Undef => return Ok(End::Undefined),
                Shape::Branch(condition, labels) => match run.int(condition)? {
                    None => return Ok(End::Undefined),
                    Some(n) => next = Some(&labels[usize::from(n == 0)]),
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

/// Values of a parameter: poison, edges, and some in between.
fn inputs(ty: &Type) -> Vec<V> {
    match ty {
        Type::Ptr => vec![V::Ptr(1)],
        ty => {
            let edges = [0, 1, 2, 3, 7, 8, 27, 28, 29, 64, 126, 127, 128, 129, 155, 156, 157, 254, 255];
            let mut found: Vec<V> = edges.iter().filter(|n| **n <= mask(width(ty))).map(|n| V::Int(*n)).collect();
            found.extend([V::Poison, V::Undef]);
            found
        }
    }
}

/// What is wrong with `new` in the place of `old`.
fn difference(old: (&File, &Definition), new: (&File, &Definition)) -> Option<String> {
    let (before, after) = (body::read(old.0, old.1).unwrap(), body::read(new.0, new.1).unwrap());
    let all = |bits: u32| (0..=mask(bits)).collect::<Vec<u64>>();
    let some = |bits: u32| [0, 1, 2, 100, 127, 128, 255].into_iter().filter(|n| *n <= mask(bits)).collect::<Vec<u64>>();
    let few = |bits: u32| if bits == 1 { vec![0, 1] } else { vec![1, 128] };
    let mut cases: Vec<Vec<V>> = vec![vec![]];
    for parameter in &old.1.parameters {
        let values = inputs(&parameter.ty);
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

/// A random function of integers, with flags, in a diamond or in one block.
fn random(rng: &mut impl Rng, name: &str) -> String {
    let mut text = format!("define i8 @{name}(i8 %x, i8 %y, i1 %c, ptr %p) {{\nentry:\n");
    let (mut words, mut truths) = (vec!["%x".to_string(), "%y".to_string()], vec!["%c".to_string()]);
    let diamond = rng.random_bool(0.3);
    let count = rng.random_range(3..8);
    let mut outside = (words.clone(), truths.clone());
    for n in 0..count {
        if diamond && n == 1 {
            outside = (words.clone(), truths.clone());
            let condition = truths.last().unwrap();
            text += &format!("  br i1 {condition}, label %then, label %done\nthen:\n");
        }
        let word = |rng: &mut _| word(rng, &words);
        let truth = |rng: &mut _| truths[Rng::random_range(rng, 0..truths.len())].clone();
        let (is_truth, what) = match rng.random_range(0..14) {
            0..6 => {
                let (opcode, flags) = BINARY[rng.random_range(0..BINARY.len())];
                let flags = if rng.random_bool(0.5) { flags } else { "" };
                (false, format!("{opcode} {flags} i8 {}, {}", word(rng), word(rng)))
            }
            6..8 => (
                false,
                format!("{} i8 {}, {}", SHIFTS[rng.random_range(0..SHIFTS.len())], word(rng), rng.random_range(0..8)),
            ),
            8..10 => {
                let order =
                    ["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"][rng.random_range(0..10)];
                (true, format!("icmp {order} i8 {}, {}", word(rng), word(rng)))
            }
            10..12 => (false, format!("select i1 {}, i8 {}, i8 {}", truth(rng), word(rng), word(rng))),
            12 => (
                true,
                format!(
                    "select i1 {}, i1 {}, i1 {}",
                    truth(rng),
                    truth(rng),
                    ["true", "false"][rng.random_range(0..2)]
                ),
            ),
            _ => (false, format!("{} i1 {} to i8", ["zext", "sext"][rng.random_range(0..2)], truth(rng))),
        };
        let name = format!("%v{n}");
        text += &format!("  {name} = {what}\n");
        if rng.random_bool(0.1) && !is_truth {
            text += &format!("  store i8 {name}, ptr %p, align 1\n");
        }
        if is_truth { truths.push(name) } else { words.push(name) }
    }
    let last = words.last().unwrap();
    if diamond {
        let other = &outside.0[rng.random_range(0..outside.0.len())];
        text += &format!(
            "  br label %done\ndone:\n  %r = phi i8 [ {last}, %then ], [ {other}, %entry ]\n  ret i8 %r\n}}\n\n"
        );
    } else {
        text += &format!("  ret i8 {last}\n}}\n\n");
    }
    text
}

/// A value that there is, late ones more often, or a constant.
fn word(rng: &mut impl Rng, words: &[String]) -> String {
    match rng.random_range(0..4) {
        0 => [0, 1, 2, -1, 8, 127, -128][rng.random_range(0..7)].to_string(),
        1 => words[rng.random_range(0..words.len())].clone(),
        _ => words[rng.random_range(words.len() / 2..words.len())].clone(),
    }
}

const BINARY: [(&str, &str); 7] =
    [("add", "nsw"), ("add", "nuw"), ("sub", "nsw"), ("mul", "nsw"), ("and", ""), ("or", "disjoint"), ("xor", "")];
const SHIFTS: [&str; 6] = ["shl", "shl nuw", "shl nsw", "lshr", "lshr exact", "ashr"];

#[test]
fn random_functions_refine_what_they_were() {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let count = std::env::var("REFINES").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let header = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
        target triple = \"x86_64-pc-linux-gnu\"\n\n";
    let functions: String = (0..count).map(|n| random(&mut rng, &format!("f{n}"))).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("random.ll");
    std::fs::write(&path, format!("{header}{functions}")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rewright")).arg("opt").arg(&path).arg("--stats").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !said.contains("failed"), "{said}");
    let (old, new) = (
        module::read(std::fs::read_to_string(&path).unwrap()).unwrap(),
        module::read(String::from_utf8(output.stdout).unwrap()).unwrap(),
    );
    let mut changed = 0;
    for definition in &old.functions {
        let name = &definition.name;
        if !said.contains(&format!("{name}: optimised")) {
            continue;
        }
        changed += 1;
        let (before, after) = (by_name(&old, name), by_name(&new, name));
        let found = difference(before, after);
        assert_eq!(found, None, "seed {seed}, {name}:\n{}\n{}", body_text(&old.text, name), body_text(&new.text, name));
    }
    assert!(changed * 3 > count, "only {changed} of {count} have changed");
}

fn body_text<'t>(text: &'t str, name: &str) -> &'t str {
    let start = text.find(&format!("{name}(")).unwrap();
    &text[start..start + text[start..].find("\n}").unwrap()]
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
        // Each use of what is undefined may see another value: the sum of two is no double.
        ("%r = mul i8 %x, 2", "%r = add i8 %x, %x"),
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
