//! Instances of patterns: they pass the verifier, and one variable is one value.

use super::super::read;
use super::*;
use rand::SeedableRng;

fn instances(rule: &str, count: usize) -> Vec<String> {
    let rules = read(rule).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let pattern = rules[0].pattern.as_ref().unwrap();
    (0..count).filter_map(|_| ClifInstance::new(pattern, "f", &mut rng).ok()).map(|i| i.0).collect()
}

#[test]
fn many_instances_pass_the_verifier() {
    let rules = [
        "(rule (simplify (ult (fits_in_64 (ty_int bty)) x umax @ (iconst_u cty y))) x)",
        "(rule (simplify (select ty c (uextend ty (ireduce _ x)) y)) x)",
        "(rule (simplify (ishl ty (ushr ty x (iconst ty k)) (iconst ty k))) x)",
        "(rule (simplify (icmp ty cc (band ty2 x y) (band ty2 x z))) x)",
        "(rule (simplify_skeleton (udiv x (iconst_u $I32 (u64_extract_power_of_two d)))) x)",
        "(rule (simplify_skeleton (brif (bmask _ c) _ _)) x)",
    ];
    for rule in rules {
        let mut good = 0;
        for text in instances(rule, 60) {
            // Types that no choice has ruled out may still not fit.
            let Ok(parsed) = cranelift_reader::parse_functions(&text) else { continue };
            let flags = cranelift_codegen::settings::Flags::new(cranelift_codegen::settings::builder());
            good += usize::from(cranelift_codegen::verify_function(&parsed[0], &flags).is_ok());
        }
        assert!(good > 5, "{good} {rule}");
    }
}

#[test]
fn a_variable_stands_for_one_value() {
    for text in instances("(rule (simplify (bxor ty x (bnot ty x))) x)", 20) {
        assert!(text.contains("= bnot v0\n") && text.contains("= bxor v0, v1\n"), "{text}");
    }
}

#[test]
fn what_is_no_instruction_is_named() {
    let rules = read("(rule (simplify (iadd ty (truthy x) y)) x)").unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let made = ClifInstance::new(rules[0].pattern.as_ref().unwrap(), "f", &mut rng);
    assert_eq!(made.unwrap_err(), Unable::Term("truthy".into()));
}
