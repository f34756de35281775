//! A `match` block does not match its own results: it ends by itself, however many expressions it is about.

use rewright_pipeline::optimiser::Options;
use rewright_tests::domain::Optimised;

const PACK: &str = include_str!("../packs/blocks.rw");

/// How often each rule of the schedule matched, and whether a budget ended.
fn matches(pack: &str, module: &str) -> (Vec<(String, u64)>, bool) {
    let done = Optimised::new(pack, module);
    let after = done.before.optimise(&Options::default(), |_| true);
    let program = done.before.optimiser.program();
    let counted = after.statistics.rules.iter().filter(|(_, report)| report.matches > 0);
    let counted = counted.map(|(rule, report)| (program.rule(*rule).name.clone(), report.matches)).collect();
    (counted, done.outcome("f").exhausted())
}

/// A sum of this many products that share a left factor.
fn products(n: usize) -> String {
    let params: String = (0..n).map(|i| format!(", %w{i}: Matrix")).collect();
    let mut text = format!("func %f(%x: Matrix{params}) -> Matrix {{\n  %s0 = mul %x, %w0\n");
    for i in 1..n {
        text += &format!("  %p{i} = mul %x, %w{i}\n  %s{i} = sum %s{}, %p{i}\n", i - 1);
    }
    text + &format!("  return %s{}\n}}\n", n - 1)
}

#[test]
fn products_by_one_factor_are_paired_once() {
    for n in 2..6u64 {
        let (counted, exhausted) = matches(PACK, &products(n as usize));
        // Each ordered pair, for each of the two rewritings; a second round finds them again, and nothing new.
        let most = 2 * n * (n - 1);
        assert!(!exhausted && counted.len() == 2, "{n} products: {counted:?}");
        assert!(counted.iter().all(|(_, count)| (n * (n - 1)..=most).contains(count)), "{n} products: {counted:?}");
    }
}

#[test]
fn a_result_that_is_matched_by_another_rule_may_grow() {
    // The same without the block: what it makes are products by the same factor, and so on.
    let block = &PACK[PACK.find("  rule share_left").expect("it is there")..PACK.find("ruleset growing").expect("too")];
    let rule = "  rule pair(X: Matrix, V: Matrix, W: Matrix):
    sum(X * V, X * W) => sum(left(X * hcat(V, W), V), right(X * hcat(V, W), W))
  rule more(X: Matrix, V: Matrix, W: Matrix): left(X * V, W) => left(X * hcat(V, W), W)
}\n";
    let plain = PACK.replace(block, rule);
    let plain = &plain[..plain.find("example").expect("it has some")];
    let (_, exhausted) = matches(plain, &products(2));
    let (grown, _) = matches(plain, &products(2));
    assert!(exhausted || grown.iter().any(|(_, count)| *count > 5), "{grown:?}");
}

#[test]
fn a_block_that_makes_what_it_matches_ends() {
    let pack = PACK.replace("schedule default { saturate fusion }", "schedule default { saturate growing }");
    let pack = pack.replace("schedule grow { saturate growing }", "schedule grow { saturate fusion }");
    let pack = &pack[..pack.find("example").expect("it has some")];
    let module = "func %f(%x: Matrix, %y: Matrix) -> Matrix {\n  %g = grow %x\n  %s = sum %x, %y\n  %t = sum %g, %s\n  return %t\n}\n";
    let (counted, exhausted) = matches(pack, module);
    assert_eq!((counted, exhausted), (vec![("blocks.growing.again".to_string(), 1)], false));
}
