//! Without a solver, and with one that always fails, everything is still optimised; with one, what is shared is seen
//! where greedy choices, tree costs and Cranelift miss it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_cfg_skeleton::extract::{Effort, Model, Solved, Solver};
use rewright_cfg_skeleton::select::{Budget, Method, Status};
use rewright_driver::clif::optimise::ClifOptimiser;
use rewright_driver::clif::read::read_bytes;
use rewright_driver::midend::Cranelift;
use rewright_driver::module::ModuleOptimiser;
use rewright_driver::packs;
use rewright_driver::pipeline::{Fate, Options, Outcome};
use rewright_driver::sharing::clif::ClifSubject;
use rewright_driver::sharing::{Subject, Version, Versions};
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Fails, and counts how often it was asked.
#[derive(Debug, Default)]
struct Broken(AtomicU32);

impl Solver for Broken {
    fn solve(&self, _: &Model, _: Option<&[f64]>, _: &Effort) -> Solved {
        self.0.fetch_add(1, Ordering::Relaxed);
        Solved::Failed
    }
}

fn optimiser(pack: &str) -> ClifOptimiser {
    ClifOptimiser::new(packs::load(vec![packs::root(Path::new(pack)).unwrap()]).program).unwrap()
}

/// Functions by what became of them, with the sum of their costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sum {
    functions: usize,
    optimised: usize,
    proved: usize,
    before: u64,
    after: u64,
}

impl Sum {
    fn add(&mut self, outcome: &Outcome) {
        assert!(!matches!(outcome.fate, Fate::Failed(_)), "{:?}", outcome.fate);
        self.functions += 1;
        self.optimised += usize::from(outcome.fate == Fate::Optimised);
        self.proved += usize::from(outcome.status == Status::Optimal);
        self.before += outcome.cost_before;
        self.after += outcome.cost_after;
    }
}

/// The same functions with the solver, without it, and with one that always fails.
fn compare(run: impl Fn(&Options) -> Vec<Outcome>) -> (Sum, Sum, u32) {
    let broken = Arc::new(Broken::default());
    // Parts that are small enough to try everything are left to the solver, too.
    let effort = Budget { search: 0, ..Budget::default() };
    let [solver, greedy, failing] = [
        Options { method: Method::Ilp, effort, ..Options::default() },
        Options { method: Method::Greedy, ..Options::default() },
        Options { method: Method::Ilp, effort, solver: Some(broken.clone()), ..Options::default() },
    ]
    .map(|options| run(&options));
    let [mut sum, mut without, mut broke] = [Sum::default(); 3];
    for ((best, greedy), failing) in solver.iter().zip(&greedy).zip(&failing) {
        sum.add(best);
        without.add(greedy);
        broke.add(failing);
        // A solver that fails costs what it would have gained, and nothing else.
        assert!(failing.cost_after <= greedy.cost_after);
        assert!(best.status != Status::Optimal || best.cost_after <= failing.cost_after);
        assert!(greedy.status == Status::Greedy);
    }
    writeln!(std::io::stderr(), "solver {sum:?}\nwithout {without:?}\nfailing {broke:?}").expect("stderr is there");
    assert!(broke.optimised >= without.optimised && without.optimised > 0);
    (sum, without, broken.0.load(Ordering::Relaxed))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = folder.read_dir().unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "clif") {
            found.push(path);
        }
    }
}

/// All functions of the files in a folder.
fn compare_folder(folder: &Path, pack: &str) -> (Sum, Sum, u32) {
    let mut paths = vec![];
    files(folder, &mut paths);
    let clif = optimiser(pack);
    let parsed: Vec<_> = paths.iter().filter_map(|path| read_bytes(&std::fs::read(path).unwrap()).ok()).collect();
    compare(|options| {
        let outcomes = parsed.iter().flat_map(|file| clif.optimise(file, options, |_| true).functions);
        outcomes.flatten().filter_map(|function| function.outcome).collect()
    })
}

const SHARING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sharing");

#[test]
fn files_are_optimised_without_a_solver_and_with_one_that_fails() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/clif");
    let (sum, without, _) = compare_folder(&folder, packs::DEFAULT);
    assert!(sum.optimised > 10 && without.optimised * 10 > sum.optimised * 9, "{sum:?} {without:?}");
    // Presolve leaves nothing of those. Of these it does.
    let (sum, _, asked) = compare_folder(Path::new(SHARING), &format!("{SHARING}/sharing.rw"));
    assert!(sum.optimised == 6 && asked >= 6, "{sum:?}, asked {asked} times");
}

/// `rewright bench --sharing tests/sharing --rules tests/sharing/sharing.rw` measures the times, too.
#[test]
fn what_is_shared_is_seen_where_others_miss_it() {
    let clif = optimiser(&format!("{SHARING}/sharing.rw"));
    let cranelift = Cranelift::host().unwrap();
    let mut paths = vec![];
    files(Path::new(SHARING), &mut paths);
    assert_eq!(paths.len(), 6);
    for path in paths {
        let file = read_bytes(&std::fs::read(&path).unwrap()).unwrap();
        let subject = ClifSubject { clif: &clif, file: &file };
        beats_all_others(&subject, &cranelift, path.display());
    }
}

/// Trace and determinant by eigenvalues, and eigenvectors in one decomposition; `examples/eigen/run.sh` measures it.
#[test]
fn a_decomposition_pays_only_for_several() {
    let story = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/eigen");
    let program = packs::load(vec![packs::root(&story.join("axes.rw")).unwrap()]).program;
    let text = std::fs::read_to_string(story.join("axes.ir")).unwrap();
    let module = ModuleOptimiser::new(program, &text).unwrap();
    beats_all_others(&module, &Cranelift::host().unwrap(), "axes.ir");
}

/// The one function is known to be the best, and costs less and has fewer instructions than others make it.
fn beats_all_others(subject: &dyn Subject, cranelift: &Cranelift, name: impl Display) {
    let Versions { ours, rivals } = subject.versions(cranelift, &Options::default()).unwrap();
    assert_eq!(ours.statuses, [Status::Optimal], "{name}");
    let of = |version: &Version| (version.made[0].cost, version.made[0].code.instructions);
    for (rival, theirs) in rivals {
        let (ours, theirs) = (of(&ours), of(&theirs));
        assert!(ours.0 < theirs.0 && ours.1 < theirs.1, "{name}, {}: {ours:?} and {theirs:?}", rival.name());
    }
}

#[test]
#[ignore = "needs the corpus: REWRIGHT_CORPUS, or ../shared/corpus"]
fn the_corpus_is_optimised_without_a_solver_and_with_one_that_fails() {
    let corpus = std::env::var("REWRIGHT_CORPUS").unwrap_or_else(|_| "../../shared/corpus".into());
    let (sum, without, asked) = compare_folder(&Path::new(&corpus).join("clif"), packs::DEFAULT);
    writeln!(std::io::stderr(), "the solver that fails was asked {asked} times").expect("stderr is there");
    assert!(sum.optimised > 500 && without.optimised * 10 > sum.optimised * 9, "{sum:?} {without:?}");
}
