//! Pairs that other loop transformations make, right ones and wrong ones, in forms that other tests do not have.
//!
//! A file has pairs, each `// === name: verdict`, the first version, `// ---`, and the second one. The verdict is of the
//! function `f`, and the truth: what is refuted differs, what is proved does not (where the condition holds, if there is
//! one); `unknown` is what is said where something is not understood. Each proof has a certificate.

use rewright_cfg_skeleton::nest::datapath::NoOracle;
use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{Options, certificates, validate};

fn all_are(file: &str, count: usize) {
    let pairs: Vec<&str> = file.split("// === ").skip(1).collect();
    assert_eq!(pairs.len(), count);
    for pair in pairs {
        let (head, texts) = pair.split_once('\n').expect("a line");
        let (name, wanted) = head.rsplit_once(": ").expect("a verdict");
        let (before, after) = texts.split_once("// ---\n").expect("two versions");
        let report = validate(before, after, &Options::default());
        let verdict = report.functions.iter().find(|verdict| verdict.function == "f").expect("the function");
        let found = match (verdict.verdict, &verdict.precondition) {
            (Kind::Proved, Some(_)) => "proved if",
            (Kind::Proved, None) => "proved",
            (Kind::Refuted, _) => "refuted",
            (Kind::Tested | Kind::Unknown, _) => "unknown",
        };
        assert_eq!(found, wanted, "{name}: {verdict}");
        if verdict.verdict == Kind::Proved {
            let found = certificates(before, after, &Options::default(), &mut NoOracle);
            let (_, certificate) = found.into_iter().find(|(function, _)| function == "f").expect("the function");
            assert_eq!(certificate.map(|c| c.precondition()), Ok(verdict.precondition.clone()), "{name}");
        }
    }
}

#[test]
fn loops_are_skewed_peeled_split_and_unswitched() {
    all_are(include_str!("transformed/loops1.mlir"), 24);
    all_are(include_str!("transformed/loops2.mlir"), 12);
}

#[test]
fn views_are_what_they_are_of() {
    all_are(include_str!("transformed/views.mlir"), 10);
}

#[test]
fn loops_become_parallel() {
    all_are(include_str!("transformed/parallel.mlir"), 8);
}

#[test]
fn stores_and_loads_are_moved_and_left_out() {
    all_are(include_str!("transformed/stores.mlir"), 17);
}
