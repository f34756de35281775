//! An embedding program: a linear model whose weights are constants, over vectors that are Rust's own.
//!
//! The pack declares the types, the functions and two rules; the functions are Rust closures. A value that depends on
//! the weights alone is computed while the rules run, and ends as data in the emitted code.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use rewright_embed::Embedding;
use rewright_pipeline::optimiser::Options;
use rewright_typeprop::{Constant, Data};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PACK: &str = r#"
//! Vectors, and a layer whose weights are scaled.
pack layer
import std.core

type Vector{T}

/// Every element times k.
host fn scale(x: Vector{f64}, k: f64) -> Vector{f64}  pure  cost 300
/// The sum of products.
host fn dot(x: Vector{f64}, y: Vector{f64}) -> f64  pure  cost 400

ruleset algebra {
  /// The factor goes to the side that may be constant.
  rule scale_weights(w: Vector{f64}, x: Vector{f64}, k: f64): dot(w, scale(x, k)) => dot(scale(w, k), x)
}
ruleset constants {
  /// Weights times a known factor are weights.
  dynamic rule scaled(const w: Vector{f64}, const k: f64): scale(w, k) => eval(scale(w, k))
}
schedule default { repeat 2 { saturate algebra  saturate constants } }

example "the factor goes to the weights" (x: Vector{f64}, w: Vector{f64}) fires algebra.scale_weights:
  dot(w, scale(x, 3.0)) equals dot(scale(w, 3.0), x)
"#;

const MODEL: &str = "\
func %score(%x: Vector{f64}) -> f64 {
  %w: Vector{f64} = const [0.5, -1.0, 2.0]
  %k: f64 = const 10.0
  %scaled = scale %x, %k
  %y = dot %w, %scaled
  return %y
}
";

/// Optimises the model, and runs it before and after.
pub fn main() -> Result<(), Box<dyn Error>> {
    let scalings = Arc::new(AtomicUsize::new(0));
    let counted = scalings.clone();
    let mut embedding = Embedding::new();
    embedding
        .pack("layer.rw", PACK)
        .host("scale", move |args| {
            counted.fetch_add(1, Ordering::Relaxed);
            let (x, k) = (args[0].data()?.doubles()?, args[1].float()?);
            Some(Data::of_f64(&x.iter().map(|x| x * k).collect::<Vec<_>>()).into())
        })
        .host("dot", |args| {
            let (x, y) = (args[0].data()?.doubles()?, args[1].data()?.doubles()?);
            Some(x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>().into())
        });
    let module = embedding.module(MODEL)?;
    let before = module.optimise(&Options::default(), |_| false);
    let after = module.optimise(&Options::default(), |_| true);
    println!("before:\n{}\nafter:\n{}", before.print(), after.print());

    let input = [Constant::from(Data::of_f64(&[1.0, 2.0, 3.0]))];
    let run = |name: &str, outcome| -> Result<(f64, usize), Box<dyn Error>> {
        let code = embedding.code(&module, outcome)?;
        scalings.store(0, Ordering::Relaxed);
        let result = code.call("score", &input)?.first().and_then(Constant::float).ok_or("no result")?;
        let count = scalings.load(Ordering::Relaxed);
        println!("{name}: score = {result}, vectors scaled at run time: {count}");
        Ok((result, count))
    };
    let (plain, folded) = (run("before", &before)?, run("after", &after)?);
    assert_eq!(plain, (45.0, 1));
    assert_eq!(folded, (45.0, 0));
    assert!(after.print().contains("const [5.0, -10.0, 20.0]"));
    Ok(())
}
