//! Random functions of integers, with flags, and random costs.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_packs as packs;
use std::collections::BTreeMap;
use std::path::Path;

/// A configuration with random costs of all operations of the standard packs.
pub(crate) fn costs(rng: &mut impl Rng) -> String {
    let standard = packs::load(vec![packs::root(Path::new(packs::DEFAULT)).unwrap()]).program;
    let names = standard.universe.ops.iter().map(|(_, op)| format!("{}.{}", op.pack, op.name));
    // What is drawn next is the same whatever operations there are.
    let mut own = ChaCha8Rng::seed_from_u64(rng.random());
    let mut cost = || [0, 1, 3, 10, 40, 200][own.random_range(0..6)];
    let operations: BTreeMap<String, u32> = names.map(|name| (name, cost())).collect();
    serde_json::json!({ "costs": { "operations": operations } }).to_string()
}

/// A random function of integers, with flags, in a diamond or in one block.
pub(crate) fn random(rng: &mut impl Rng, name: &str) -> String {
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
