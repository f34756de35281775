//! The library functions that Cranelift calls by name and that the C library of the host may not export to us.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m128i;

/// Names and addresses.
pub(super) fn symbols() -> Vec<(&'static str, *const u8)> {
    let mut symbols: Vec<(&'static str, *const u8)> = vec![
        ("ceilf", ceilf as *const u8),
        ("ceil", ceil as *const u8),
        ("floorf", floorf as *const u8),
        ("floor", floor as *const u8),
        ("truncf", truncf as *const u8),
        ("trunc", trunc as *const u8),
        ("nearbyintf", nearbyintf as *const u8),
        ("nearbyint", nearbyint as *const u8),
        ("fmaf", fmaf as *const u8),
        ("fma", fma as *const u8),
    ];
    #[cfg(target_arch = "x86_64")]
    symbols.push(("__cranelift_x86_pshufb", pshufb as *const u8));
    symbols
}

extern "C" fn ceilf(x: f32) -> f32 {
    x.ceil()
}
extern "C" fn ceil(x: f64) -> f64 {
    x.ceil()
}
extern "C" fn floorf(x: f32) -> f32 {
    x.floor()
}
extern "C" fn floor(x: f64) -> f64 {
    x.floor()
}
extern "C" fn truncf(x: f32) -> f32 {
    x.trunc()
}
extern "C" fn trunc(x: f64) -> f64 {
    x.trunc()
}
extern "C" fn nearbyintf(x: f32) -> f32 {
    x.round_ties_even()
}
extern "C" fn nearbyint(x: f64) -> f64 {
    x.round_ties_even()
}
extern "C" fn fmaf(x: f32, y: f32, z: f32) -> f32 {
    x.mul_add(y, z)
}
extern "C" fn fma(x: f64, y: f64, z: f64) -> f64 {
    x.mul_add(y, z)
}

/// `pshufb` for hosts that are asked to do without it.
#[cfg(target_arch = "x86_64")]
#[expect(improper_ctypes_definitions, reason = "vectors travel in registers, as Cranelift expects")]
extern "C" fn pshufb(a: __m128i, b: __m128i) -> __m128i {
    use std::mem::transmute;
    // SAFETY: all three types are 16 plain bytes.
    let (a, b) = unsafe { (transmute::<__m128i, [u8; 16]>(a), transmute::<__m128i, [u8; 16]>(b)) };
    let pick = |i: usize| if b[i] & 0x80 == 0 { a[usize::from(b[i] & 0xf)] } else { 0 };
    let out: [u8; 16] = std::array::from_fn(pick);
    // SAFETY: as above.
    unsafe { transmute::<[u8; 16], __m128i>(out) }
}
