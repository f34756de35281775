//! Without a solver, and with one that always fails, everything is still optimised; with one, what is shared is seen
//! where greedy choices, tree costs and Cranelift miss it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_cfg_skeleton::select::{self, Budget, Method, Status};
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::read_bytes;
use rewright_extract::{Effort, Ended, Meter, Model, Solved, Solver};
use rewright_lab::midend::Cranelift;
use rewright_lab::sharing::clif::ClifSubject;
use rewright_lab::sharing::{Subject, Version, Versions};
use rewright_native::module::ModuleOptimiser;
use rewright_packs as packs;
use rewright_pipeline::optimiser::{Fate, OptimisedFunction, Options};
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Fails, and counts how often it was asked.
#[derive(Debug, Default)]
struct Broken(AtomicU32);

impl Solver for Broken {
    fn solve(&self, _: &Model, _: Option<&[f64]>, _: &Effort, _: &Meter) -> Solved {
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
    fn add(&mut self, outcome: &OptimisedFunction) {
        assert!(!matches!(outcome.fate, Fate::Failed(_)), "{:?}", outcome.fate);
        self.functions += 1;
        self.optimised += usize::from(outcome.fate == Fate::Optimised);
        self.proved += usize::from(outcome.status == Status::Optimal);
        self.before += outcome.cost_before;
        self.after += outcome.cost_after;
    }
}

/// Options that differ from the usual ones in how programs are selected.
fn selecting(set: impl FnOnce(&mut select::Options)) -> Options {
    let mut options = Options::default();
    set(&mut options.select);
    options
}

/// The same functions with the solver, without it, and with one that always fails.
fn compare(run: impl Fn(&Options) -> Vec<OptimisedFunction>) -> (Sum, Sum, u32) {
    let broken = Arc::new(Broken::default());
    let fails: Arc<dyn select::Solver> = broken.clone();
    // Parts that are small enough to try everything are left to the solver, too.
    let budget = Budget { search: 0, ..Budget::default() };
    let [solver, greedy, failing] = [
        selecting(|how| (how.method, how.budget) = (Method::Ilp, budget)),
        selecting(|how| how.method = Method::Greedy),
        selecting(|how| (how.method, how.budget, how.solver) = (Method::Ilp, budget, Some(fails.clone()))),
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
        let outcomes = parsed.iter().flat_map(|file| clif.optimise(file, options, |_| true).statistics.functions);
        outcomes.flatten().filter_map(|function| function.outcome).collect()
    })
}

const SHARING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/sharing");

#[test]
fn files_are_optimised_without_a_solver_and_with_one_that_fails() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clif");
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
    let story = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/eigen");
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

/// A function that joins this many parameters by one operation, in the order that it has them in.
fn chain(operation: &str, ty: &str, terms: usize) -> String {
    let params: Vec<String> = (0..terms).map(|n| format!("v{n}: {ty}")).collect();
    let name = format!("{operation}{terms}");
    let mut text =
        format!("function %{name}({}) -> {ty} {{\nblock0({}):\n", vec![ty; terms].join(", "), params.join(", "));
    let mut last = 0;
    for n in 1..terms {
        text += &format!("  v{} = {operation} v{last}, v{n}\n", 100 + n);
        last = 100 + n;
    }
    text + &format!("  return v{last}\n}}\n")
}

/// Products, shifts and sums of three parameters, all of them joined in the end: sums share what they join.
fn mixture() -> String {
    let operations = ["imul", "band", "iadd", "bor", "ushr", "isub", "ishl", "bxor"];
    let mut text = String::from("function %mixture(i64, i64, i64) -> i64 {\nblock0(v0: i64, v1: i64, v2: i64):\n");
    for n in 3..27usize {
        let operands = [n - 1 - n % 3, (n * 7) % n.min(9)];
        text += &format!("  v{n} = {} v{}, v{}\n", operations[n % 8], operands[0], operands[1]);
    }
    for n in 27..40usize {
        text += &format!("  v{n} = bxor v{}, v{}\n", n - 1, n - 13);
    }
    text + "  return v39\n}\n"
}

/// Under associative and commutative laws, an e-graph has a class for each subset of the terms of a sum. Work is
/// counted, so this does not depend on the machine.
#[test]
fn functions_with_large_e_graphs_stay_within_counted_work() {
    let chains = [("iadd", "i64", 5), ("iadd", "i32", 8), ("bor", "i32", 7), ("bxor", "i64", 6), ("iadd", "i32", 24)];
    let chains: String = chains.into_iter().map(|(operation, ty, terms)| chain(operation, ty, terms)).collect();
    let options = Options::default();
    let clif = optimiser(packs::DEFAULT);
    let optimise = |text: &str, options: &Options| {
        let file = read_bytes(text.as_bytes()).unwrap();
        let done = clif.optimise(&file, options, |_| true).statistics;
        let outcomes: Vec<_> = done.functions.into_iter().map(|f| f.unwrap().outcome.unwrap()).collect();
        let efforts: Vec<_> = done.phases.selections.iter().filter_map(|selected| selected.effort).collect();
        (outcomes, efforts)
    };
    // No chain can be shorter, and that is seen without a solver.
    let (outcomes, efforts) = optimise(&chains, &options);
    assert_eq!((outcomes.len(), efforts.len()), (5, 5));
    for (outcome, effort) in outcomes.iter().zip(&efforts) {
        assert_eq!((outcome.status, outcome.ended), (Status::Optimal, None), "{effort:?}");
        assert_eq!((outcome.cost_after, effort.runs), (outcome.cost_before, 0), "{effort:?}");
        assert!(effort.work < options.select.budget.auto_work, "{effort:?}");
    }
    // A mixture is not proved to be the best, says so, and is no worse than a greedy choice.
    let tight = selecting(|how| how.budget.auto_work = 1_500_000);
    let greedy = selecting(|how| how.method = Method::Greedy);
    let (greedy, _) = optimise(&mixture(), &greedy);
    let (found, efforts) = optimise(&mixture(), &tight);
    assert!(found[0].cost_after <= greedy[0].cost_after, "{found:?}");
    assert!(matches!(found[0].status, Status::Gap(_)) && found[0].ended == Some(Ended::Work), "{:?}", found[0].status);
    assert!(efforts[0].work < 3 * tight.select.budget.auto_work, "{efforts:?}");
    let (again, repeated) = optimise(&mixture(), &tight);
    assert_eq!((again[0].cost_after, repeated[0].work), (found[0].cost_after, efforts[0].work));
}

#[test]
#[ignore = "needs the corpus: REWRIGHT_CORPUS, or ../shared/corpus"]
fn the_corpus_is_optimised_without_a_solver_and_with_one_that_fails() {
    let corpus = std::env::var("REWRIGHT_CORPUS").unwrap_or_else(|_| "../../shared/corpus".into());
    let (sum, without, asked) = compare_folder(&Path::new(&corpus).join("clif"), packs::DEFAULT);
    writeln!(std::io::stderr(), "the solver that fails was asked {asked} times").expect("stderr is there");
    assert!(sum.optimised > 500 && without.optimised * 10 > sum.optimised * 9, "{sum:?} {without:?}");
}
