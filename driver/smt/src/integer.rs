//! Integer operations that SMT-LIB has no symbol for.

use super::{Expr, Script, Sort};

/// The amount of a shift: modulo the width, as wide as what is shifted. `None`: the width is no power of two.
pub(super) fn amount(s: &mut Script, y: Expr, width: u32) -> Option<Expr> {
    // A type with fewer bits than the amounts need holds small amounts only.
    let low = s.low(y, width.trailing_zeros().max(1).min(y.width()));
    width.is_power_of_two().then(|| if width == 1 { s.bits(1, 0) } else { s.resize(low, width) })
}

/// Rotation by an amount below the width.
pub(super) fn rotate(s: &mut Script, x: Expr, amount: Expr, left: bool) -> Expr {
    let sort = x.sort();
    let width = x.width();
    let all = s.bits(width, u128::from(width));
    // Below the width: `bvshl` and `bvlshr` by the whole width give 0, as they should for an amount of 0.
    let rest = s.apply("bvsub", &[all, amount], sort);
    let (first, second) = if left { ("bvshl", "bvlshr") } else { ("bvlshr", "bvshl") };
    let high = s.apply(first, &[x, amount], sort);
    let low = s.apply(second, &[x, rest], sort);
    s.apply("bvor", &[high, low], sort)
}

/// A product by a constant of a few bits, as the sum of shifted operands that it is, added up in pairs: as [`ones`]
/// adds.
pub(super) fn multiple(s: &mut Script, x: Expr, factor: Expr) -> Option<Expr> {
    let width = x.width();
    let set = s.constant(factor).filter(|bits| (2..=8).contains(&bits.count_ones()))?;
    let places = (0..width).filter(|place| set >> place & 1 == 1);
    let mut terms: Vec<Expr> = places
        .map(|place| {
            let by = s.bits(width, place.into());
            s.apply("bvshl", &[x, by], x.sort())
        })
        .collect();
    while terms.len() > 1 {
        let pairs = terms.chunks(2);
        terms = pairs.map(|pair| if pair.len() == 1 { pair[0] } else { s.apply("bvadd", pair, x.sort()) }).collect();
    }
    terms.first().copied()
}

/// The high half of a product.
pub(super) fn high_product(s: &mut Script, x: Expr, y: Expr, signed: bool) -> Expr {
    let width = x.width();
    let wide = |s: &mut Script, e| if signed { s.sign_extend(e, 2 * width) } else { s.resize(e, 2 * width) };
    let (x, y) = (wide(s, x), wide(s, y));
    let product = s.apply("bvmul", &[x, y], Sort::Bits(2 * width));
    s.extract(product, 2 * width - 1, width)
}

/// A sum or difference in one more bit, cut to the range of the type.
pub(super) fn saturating(s: &mut Script, symbol: &str, x: Expr, y: Expr, signed: bool) -> Expr {
    let width = x.width();
    let sort = Sort::Bits(width + 1);
    let wide = |s: &mut Script, e| if signed { s.sign_extend(e, width + 1) } else { s.resize(e, width + 1) };
    let (x, y) = (wide(s, x), wide(s, y));
    let exact = s.apply(symbol, &[x, y], sort);
    let low = s.extract(exact, width - 1, 0);
    let top = s.extract(exact, width, width);
    let one = s.bits(1, 1);
    let beyond = s.equal(top, one);
    if signed {
        // The two top bits differ: out of range, on the side of the upper one.
        let sign = s.extract(exact, width - 1, width - 1);
        let fits = s.equal(top, sign);
        let least = s.bits(width, 1 << (width - 1));
        let greatest = s.bits(width, (1 << (width - 1)) - 1);
        let limit = s.choose(beyond, least, greatest);
        s.choose(fits, low, limit)
    } else {
        let limit = s.bits(width, if symbol == "bvadd" { u128::MAX } else { 0 });
        s.choose(beyond, limit, low)
    }
}

/// Zeros above the highest one bit.
pub(super) fn leading_zeros(s: &mut Script, x: Expr) -> Expr {
    let width = x.width();
    // The highest one bit decides: it is asked for first, so it is the outermost choice.
    let mut count = s.bits(width, u128::from(width));
    for bit in 0..width {
        let here = is_set(s, x, bit);
        let zeros = s.bits(width, u128::from(width - 1 - bit));
        count = s.choose(here, zeros, count);
    }
    count
}

/// Zeros below the lowest one bit.
pub(super) fn trailing_zeros(s: &mut Script, x: Expr) -> Expr {
    let width = x.width();
    let mut count = s.bits(width, u128::from(width));
    for bit in (0..width).rev() {
        let here = is_set(s, x, bit);
        let zeros = s.bits(width, u128::from(bit));
        count = s.choose(here, zeros, count);
    }
    count
}

fn is_set(s: &mut Script, x: Expr, bit: u32) -> Expr {
    let value = s.extract(x, bit, bit);
    let one = s.bits(1, 1);
    s.equal(value, one)
}

/// One bits, added up in pairs of growing fields.
pub(super) fn ones(s: &mut Script, x: Expr) -> Expr {
    let width = x.width();
    let mut fields: Vec<Expr> = (0..width).map(|bit| s.extract(x, bit, bit)).collect();
    while fields.len() > 1 {
        let size = fields[0].width() + 1;
        fields = fields
            .chunks(2)
            .map(|pair| {
                let wide: Vec<Expr> = pair.iter().map(|e| s.resize(*e, size)).collect();
                if wide.len() == 1 { wide[0] } else { s.apply("bvadd", &wide, Sort::Bits(size)) }
            })
            .collect();
    }
    s.resize(fields[0], width)
}

/// Groups of `size` bits in reverse order.
pub(super) fn reverse(s: &mut Script, x: Expr, size: u32) -> Expr {
    let parts: Vec<Expr> = (0..x.width() / size).map(|i| s.extract(x, size * i + size - 1, size * i)).collect();
    s.concat(&parts)
}
