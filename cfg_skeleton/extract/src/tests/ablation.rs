//! What each reduction is good for: what presolve leaves of the public e-graphs, with one reduction missing.
//!
//! `REWRIGHT_CORPUS=... cargo test --release -p rewright-cfg-skeleton ablation -- --ignored --nocapture` prints the
//! table of `extract::presolve`. How long it takes depends on the machine; what is left does not.

use super::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(dir).expect("the corpus").flatten().map(|e| e.path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "needs the corpus: REWRIGHT_CORPUS, or ../shared/corpus"]
fn ablation() {
    let corpus = std::env::var("REWRIGHT_CORPUS").unwrap_or_else(|_| "../../shared/corpus".into());
    let mut paths = vec![];
    files(&Path::new(&corpus).join("egraphs"), &mut paths);
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a file");
        serialized::read(&text, None).expect("an e-graph").graph
    };
    let graphs: Vec<Graph> = paths.iter().map(read).collect();
    let all = Rules::default();
    let cases = [
        ("all", all),
        ("without P2", Rules { cycles: false, ..all }),
        ("without P3", Rules { dominate: false, ..all }),
        ("without P4", Rules { upper_bound: false, ..all }),
        ("without P5", Rules { free: false, ..all }),
        ("without P6", Rules { pull_up: false, ..all }),
        ("without P7", Rules { contract: false, ..all }),
        ("without P8", Rules { force: false, ..all }),
        ("without P11", Rules { join: false, ..all }),
        ("P1 and P10 only", Rules::NONE),
    ];
    let before: usize = graphs.iter().map(Graph::node_count).sum();
    let mut out = std::io::stderr();
    writeln!(out, "{} e-graphs, {before} nodes", graphs.len()).expect("stderr is there");
    for (name, rules) in cases {
        let start = Instant::now();
        let left: Vec<usize> = graphs
            .iter()
            .map(|g| presolve(g, rules, &Meter::unlimited()).expect("a graph that can be had").node_count())
            .collect();
        let (sum, empty) = (left.iter().sum::<usize>(), left.iter().filter(|n| **n == 0).count());
        let mut shares: Vec<f64> =
            left.iter().zip(&graphs).map(|(n, g)| 100.0 * *n as f64 / g.node_count() as f64).collect();
        shares.sort_by(f64::total_cmp);
        let median = shares[shares.len() / 2];
        writeln!(out, "//! | {name} | {sum} | {empty} | {median:.1} % | {:.1?} |", start.elapsed()).expect("stderr");
        if rules == all {
            assert!(sum * 4 < before, "{sum} of {before}");
        }
    }
}
