//! Against what Cranelift's own tests of its mid-end expect.
//!
//! Its `test optimize precise-output` files state the exact result of its pass, and are kept in step with it: what the
//! pass makes of each function is what they expect.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::read_bytes;
use rewright_lab::midend::Cranelift;
use rewright_packs as packs;
use rewright_pipeline::optimiser::Options;
use std::path::Path;

/// Functions that Cranelift leaves as they are, since a rule of its takes the type of a comparison for that of its
/// operands.
const LEFT_ALONE: [&str; 7] = [
    "%test_eq_ineg_ineg",
    "%test_sge_smax_x",
    "%test_ule_x_umax",
    "%test_sge_x_smin",
    "%test_ule_umin_x",
    "%test_sgt_x_smax",
    "%test_ugt_x_umax",
];

/// Functions whose result may cost more than the expected one, and why.
const DEARER: [(&str, &str); 0] = [];

#[test]
#[ignore = "needs the corpus: REWRIGHT_CORPUS, or ../shared/corpus"]
fn no_result_costs_more_than_the_expected_one() {
    let corpus = std::env::var("REWRIGHT_CORPUS").unwrap_or_else(|_| "../../shared/corpus".into());
    let loaded = packs::load(vec![packs::root(Path::new(packs::DEFAULT)).unwrap()]);
    let clif = ClifOptimiser::new(loaded.program).unwrap();
    let cranelift = Cranelift::host().unwrap();
    let options = Options::default();
    let folder = Path::new(&corpus).join("clif/egraph").read_dir().unwrap();
    let (mut compared, mut fired) = (0, vec![]);
    for path in folder.map(|entry| entry.unwrap().path()) {
        let file = read_bytes(&std::fs::read(&path).unwrap()).unwrap();
        let outcomes = clif.optimise(&file, &options, |_| true).statistics.functions;
        for (function, outcome) in file.functions.iter().zip(outcomes) {
            // Out of scope for either: vectors of another target, exceptions.
            let Some(ours) = outcome.and_then(|o| o.outcome) else { continue };
            let Ok((expected, _)) = cranelift.optimise(&function.func) else { continue };
            let Ok(imported) = clif.import_function(&expected, file.endianness()) else { continue };
            let theirs = clif.optimiser.cost_of(&imported.function, &clif.optimiser.program().universe, &options);
            let name = function.name();
            let listed = DEARER.iter().any(|(dearer, _)| *dearer == name);
            assert!(listed || ours.cost_after <= theirs, "{name}: {} instead of {theirs}", ours.cost_after);
            compared += 1;
            if LEFT_ALONE.contains(&name.as_str()) {
                assert_eq!(
                    function.func.dfg.num_insts(),
                    expected.dfg.num_insts(),
                    "{name}: Cranelift changes it, too"
                );
                assert!(ours.cost_after < theirs, "{name}: {} instead of {theirs}", ours.cost_after);
                fired.push(name);
            }
        }
    }
    assert!(compared > 300, "{compared}");
    assert_eq!(fired.len(), LEFT_ALONE.len(), "{fired:?}");
}
