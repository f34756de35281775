//! Constants as the text of a pack.

use rewright_typeprop::eval::repr_of;
use rewright_typeprop::{Model, Repr, Scalar, TypeExpr, Universe};

/// A constant in canonical form as an operand: a literal where its type has one, else a call that makes it.
pub fn constant(universe: &Universe, bits: i128, repr: Option<Repr>) -> String {
    let plain =
        |x: f64| x.is_finite() && (x == 0.0 || (1e-4..1e15).contains(&x.abs())) && !(x == 0.0 && x.is_sign_negative());
    match repr {
        Some(Repr::Scalar(Scalar::F32) | Repr::Lanes(Scalar::F32, _)) => {
            let x = f32::from_bits(bits as u32);
            if plain(x.into()) { format!("{x:?}") } else { format!("bitcast{{i32, f32}}({:#x})", bits as u32) }
        }
        Some(Repr::Scalar(Scalar::F64) | Repr::Lanes(Scalar::F64, _)) => {
            let x = f64::from_bits(bits as u64);
            if plain(x) { format!("{x:?}") } else { format!("bitcast{{i64, f64}}({:#x})", bits as u64) }
        }
        // No literal has that type: it is made of its halves.
        Some(Repr::Int128) => match joining(universe) {
            Some(op) => format!("{op}({}, {})", bits as i64, (bits >> 64) as i64),
            None => bits.to_string(),
        },
        _ => bits.to_string(),
    }
}

/// The operation that makes a 128-bit integer of its halves.
fn joining(universe: &Universe) -> Option<&str> {
    let of = |ty: &TypeExpr| repr_of(&universe.types, ty, &[]);
    let (_, op) = universe.ops.iter().find(|(_, op)| {
        op.model == Some(Model::Concat)
            && op.tparams.is_empty()
            && op.results.iter().all(|r| of(r) == Some(Repr::Int128))
    })?;
    Some(&op.name)
}
