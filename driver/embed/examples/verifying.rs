//! An embedding program verifies its rules: the functions that they speak of are its own, so no other program can.
//!
//! The pack says how vectors are made and what there is to see of them, with functions of the program. Each rule is
//! tried on such values, within the tolerance that it states; one that is wrong is shown with the values at which it
//! is.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use rewright_embed::Embedding;
use rewright_typeprop::Data;
use rewright_verify::{Options, Verdict};
use std::error::Error;

const PACK: &str = r#"
//! Vectors of a program.
pack vectors
import std.core

@sample(wave(size, seed))
@observe(at(it, 0), dot(it, it))
type Vector

/// So many elements.
host fn wave(size: i64, seed: i64) -> Vector  pure  cost 100
host fn at(x: Vector, i: i64) -> f64  pure  cost 10
/// Every element times k.
host fn scale(x: Vector, k: f64) -> Vector  pure  cost 300
/// The sum of products.
host fn dot(x: Vector, y: Vector) -> f64  pure  cost 400
/// Half of an even number; odd ones have none.
host fn half(n: i64) -> i64  pure  cost 20

ruleset algebra {
  @approximate("rounding", 1e-9)
  rule scale_late(x: Vector, y: Vector, k: f64): dot(scale(x, k), y) => fmul(k, dot(x, y))
  rule scale_double(x: Vector): scale(scale(x, 2.0), 0.5) => x
  rule halves_add(const n: i64): half(iadd(n, n)) => n
    when icmp_slt(n, 1000), icmp_sgt(n, -1000)
  rule by_index(x: Vector, k: f64, const i: i64): at(scale(x, k), i) => fmul(at(x, i), k)
    when icmp_eq(i, 0)
}

ruleset mistakes {
  rule forgets_one(x: Vector, y: Vector, k: f64): dot(scale(x, k), scale(y, k)) => fmul(k, dot(x, y))
  rule halves_any(n: i64): iadd(half(n), half(n)) => iadd(n, 1)
}
"#;

/// Verifies the rules of a pack whose functions are this program's.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut embedding = Embedding::new();
    embedding
        .pack("vectors.rw", PACK)
        .host("wave", |args| {
            let (size, seed) = (args[0].int()?, args[1].int()?);
            let element = |i: i64| ((i * 7 + seed) % 11) as f64 - 4.5;
            Some(Data::of_f64(&(0..size).map(element).collect::<Vec<_>>()).into())
        })
        .host("at", |args| Some((*args[0].data()?.doubles()?.get(usize::try_from(args[1].int()?).ok()?)?).into()))
        .host("scale", |args| {
            let (x, k) = (args[0].data()?.doubles()?, args[1].float()?);
            Some(Data::of_f64(&x.iter().map(|x| x * k).collect::<Vec<_>>()).into())
        })
        .host("dot", |args| {
            let (x, y) = (args[0].data()?.doubles()?, args[1].data()?.doubles()?);
            Some(x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>().into())
        })
        .host("half", |args| {
            let n = args[0].int()?;
            (n % 2 == 0).then(|| (n / 2).into())
        });
    let reports = embedding.verify(&Options::default(), |rule| rule.starts_with("vectors."))?;
    for (name, report) in &reports {
        let instance = report.worst().ok_or("a rule has type instances")?;
        println!("{name}: {}: {}", report.verdict.words(), instance.method);
        if let Some(refuted) = &instance.counterexample {
            println!("  {} against {} where {:?}", refuted.left, refuted.right, refuted.values);
        }
        let is_wrong = name.contains(".mistakes.");
        assert_eq!(report.verdict, if is_wrong { Verdict::Counterexample } else { Verdict::Tested }, "{name}");
    }
    assert_eq!(reports.len(), 6);
    Ok(())
}
