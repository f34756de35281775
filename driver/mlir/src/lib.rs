//! Two versions of an MLIR file: do their functions do the same?
//!
//! [`validate`] reads both texts (`affine`, `scf`, `arith`, `math`, `memref`, `func`, in pretty and generic forms),
//! makes a nest of each function and compares the nests ([`rewright_cfg_skeleton::nest`]). Nothing of LLVM or MLIR is
//! linked. Text that is not understood is named with its line, and the other functions go on.
//!
//! ```
//! let before = "func.func @f(%n: index, %a: memref<?xf64>, %x: f64) {
//!   affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf64> }
//!   return
//! }";
//! let after = before.replace("= 0 to %n", "= 1 to %n");
//! let report = rewright_mlir::validate(before, &after, &rewright_mlir::Options::default());
//! assert_eq!(report.counts.refuted, 1);
//! ```

mod certify;
mod import;
mod lex;
mod lower;
mod map;
mod parallel;
mod parse;
mod reduce;
mod report;
mod structure;
mod syntax;

use import::{Lowered, import};
use rewright_cfg_skeleton::nest::compare::compare;
use rewright_cfg_skeleton::nest::{ArrayKind, Names, Origin, Pool};
use rewright_cfg_skeleton::verdict::{Evidence, Kind, Side, Verdict};
use syntax::{Function, Module};

pub use certify::{Certified, Pair, certificates, pairs, without_dependent};
pub use lower::{HEAP, Text as OwnText};
pub use report::NestReport;
pub use rewright_cfg_skeleton::nest::compare::Options;
pub use rewright_cfg_skeleton::nest::datapath::{NoOracle, ValueOracle};
pub use rewright_cfg_skeleton::nest::overflow::MAX_BITS as MAX_INDEX_BITS;
pub use rewright_cfg_skeleton::nest::{Assumption, AssumptionError, with_stack};
pub use syntax::Unsupported;

/// Compares the functions of two files, by name. Operations mean nothing but themselves.
#[must_use]
pub fn validate(before: &str, after: &str, options: &Options) -> NestReport {
    validate_with(before, after, options, &mut NoOracle)
}

/// The same; the oracle is asked whether values that are computed in other ways are equal.
pub fn validate_with(
    before: &str,
    after: &str,
    options: &Options,
    oracle: &mut (dyn ValueOracle + Send),
) -> NestReport {
    with_stack(|| files(before, after, options, oracle))
}

/// What a function is about, by names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Arguments and extents on which loops and subscripts depend.
    pub sizes: Vec<String>,
    /// Arguments that are arrays.
    pub arrays: Vec<String>,
}

/// The signature of each function that is understood.
#[must_use]
pub fn signatures(text: &str) -> Vec<Signature> {
    with_stack(|| {
        let module = parse::parse(text);
        let signature = |function| {
            let lowered = import(function, &[], (&mut Pool::default(), &mut Names::default())).ok()?;
            let arrays = lowered.nest.arrays.into_iter().filter(|a| matches!(a.kind, ArrayKind::Argument(_)));
            let sizes = lowered.nest.sizes.into_iter().map(|size| size.name).collect();
            Some(Signature { sizes, arrays: arrays.map(|array| array.name).collect() })
        };
        module.functions.iter().filter_map(signature).collect()
    })
}

/// The functions of a file in Rewright's own text.
#[must_use]
pub fn own_text(text: &str) -> OwnText {
    with_stack(|| lower::lower(&parse::parse(text)))
}

/// The functions of a file that branch between blocks, loop as data says, or are no nests.
#[must_use]
pub fn without_nests(text: &str) -> Vec<String> {
    with_stack(|| {
        let module = parse::parse(text);
        let fails = |function: &&Function| {
            function.body.as_ref().is_ok_and(structure::needs)
                || import(function, &[], (&mut Pool::default(), &mut Names::default())).is_err()
        };
        module.functions.iter().filter(fails).map(|function| function.name.clone()).collect()
    })
}

/// The functions of two files that others see in another way, or that may promise more in the second one.
#[must_use]
pub fn with_other_interfaces(before: &str, after: &str) -> Vec<String> {
    with_stack(|| {
        let (before, after) = (parse::parse(before), parse::parse(after));
        let differs = |function: &&Function| {
            let mut others = after.functions.iter().filter(|other| other.name == function.name);
            others.any(|other| function.interface.differs_in(&other.interface).is_some())
        };
        before.functions.iter().filter(differs).map(|function| function.name.clone()).collect()
    })
}

fn files(before: &str, after: &str, options: &Options, oracle: &mut (dyn ValueOracle + Send)) -> NestReport {
    let (before, after) = (parse::parse(before), parse::parse(after));
    // A NaN that one function makes, another one may see.
    let compare_nans = options.compare_nans || [&before, &after].into_iter().any(has_functions_that_see_nans);
    let options = &Options { compare_nans, ..options.clone() };
    let mut functions: Vec<Compared> =
        before.functions.iter().map(|f| one(&before, &after, &f.name, options, oracle)).collect();
    let new = |f: &&Function| before.functions.iter().all(|other| other.name != f.name);
    functions.extend(after.functions.iter().filter(new).map(|f| Compared::from(&f.name, Evidence::only(Side::Second))));
    depend_on_callees(&mut functions);
    functions.extend(other_globals(&before, &after));
    NestReport::new(functions.into_iter().map(|f| f.verdict).collect())
}

/// Arrays of a module that others see, and that are not the same in both.
fn other_globals(before: &Module, after: &Module) -> Vec<Compared> {
    let find = |module: &Module, name: &String| module.globals.iter().find(|(n, _)| n == name).map(|(_, g)| g.clone());
    let mut names: Vec<&String> = before.globals.iter().chain(&after.globals).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let differs = |name: &&String| {
        let [was, is] = [before, after].map(|module| find(module, name));
        was != is && [was, is].iter().flatten().any(|global| !global.is_private)
    };
    names.into_iter().filter(differs).map(|name| Compared::unknown(name, "its definition is another one")).collect()
}

/// Whether the module has several functions, one of which may see the bits of a NaN.
fn has_functions_that_see_nans(module: &Module) -> bool {
    let sees = |function: &Function| {
        let mut pool = Pool::default();
        let is_nest = import(function, &[], (&mut pool, &mut Names::default())).is_ok();
        pool.sees_nans() || !is_nest
    };
    // A function that is no nest may see anything.
    module.functions.len() > 1 && module.calls_own() && module.functions.iter().any(sees)
}

/// A function in two versions.
struct Compared {
    verdict: Verdict,
    /// Functions that it calls; calls of one function are taken to be equal.
    calls: Vec<String>,
    /// Whether something is assumed of its sizes, which its callers need not keep.
    is_assumed: bool,
}

impl Compared {
    fn from(name: &str, evidence: Evidence) -> Compared {
        Compared { verdict: Verdict::new(name, evidence), calls: vec![], is_assumed: false }
    }

    fn unknown(name: &str, reason: impl Into<String>) -> Compared {
        Compared::from(name, Evidence::nothing(reason))
    }
}

fn one(
    before: &Module,
    after: &Module,
    name: &str,
    options: &Options,
    oracle: &mut (dyn ValueOracle + Send),
) -> Compared {
    for (which, module) in [("first", before), ("second", after)] {
        if module.functions.iter().filter(|f| f.name == name).count() > 1 {
            return Compared::unknown(name, format!("the {which} file defines several functions of this name"));
        }
    }
    let find = |module: &'_ Module| module.functions.iter().position(|f| f.name == name);
    let (Some(m), Some(n)) = (find(before), find(after)) else {
        return Compared::from(name, Evidence::only(Side::First));
    };
    let mut pair = match both((before, m), (after, n)) {
        Ok(pair) => pair,
        Err(reason) => return Compared::unknown(name, reason),
    };
    let mut evidence = compare(&mut pair.pool, &mut pair.names, &pair.before, &pair.after, options, oracle);
    if let (Some(_), Err(reason)) = (evidence.proved, pair.check_calls(&options.may_alias)) {
        evidence = Evidence::nothing(reason);
    }
    let is_assumed = options.sizes.iter().any(|assumption| assumption.condition(&pair.before.sizes).is_some());
    if evidence.proved.is_some() {
        evidence.precondition = pair.precondition(evidence.precondition);
        if !pair.layouts.is_empty() {
            // Runs have cells in places of their own only.
            evidence.exact = evidence.exact.map(|_| false);
        }
    }
    let mut verdict = Verdict::new(name, evidence);
    for found in [&mut verdict.counterexample, &mut verdict.outside].into_iter().flatten() {
        for statement in &mut found.statements {
            let module = if statement.side == Side::First { before } else { after };
            statement.text = module.line(statement.line).map(String::from);
        }
    }
    Compared { verdict, calls: pair.calls, is_assumed }
}

/// Two versions of a function as nests; else why they are not comparable.
fn both((before, m): (&Module, usize), (after, n): (&Module, usize)) -> Result<Pair, String> {
    let (mut pool, mut names) = (Pool::default(), Names::default());
    let defined: Vec<&str> = before.functions.iter().chain(&after.functions).map(|f| f.name.as_str()).collect();
    let left = import(&before.functions[m], &defined, (&mut pool, &mut names));
    let right = import(&after.functions[n], &defined, (&mut pool, &mut names));
    if before.data_layout != after.data_layout {
        return Err("the data layouts of the modules differ".into());
    }
    if let Some(difference) = before.functions[m].interface.differs_in(&after.functions[n].interface) {
        return Err(difference);
    }
    let not_read =
        |which, why: Unsupported| format!("the {which} file: {} ({which} file, line {})", why.what, why.line);
    let (mut left, mut right) = match (left, right) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(why), _) => return Err(not_read("first", why)),
        (_, Err(why)) => return Err(not_read("second", why)),
    };
    if left.nest.arguments != right.nest.arguments || left.nest.results.len() != right.nest.results.len() {
        return Err("the types of arguments or results differ".into());
    }
    share_sizes(&mut left, &mut right);
    let mut calls = left.calls;
    calls.extend(right.calls);
    if let Some((callee, _)) = left.twice.iter().chain(&right.twice).find(|given| may_write(before, after, given)) {
        return Err(format!(
            "it gives `{callee}` one array twice, and `{callee}` is compared for arrays that do not overlap"
        ));
    }
    if let Some(reason) = calls.iter().find_map(|name| declared_otherwise(before, after, name)) {
        return Err(reason);
    }
    // Of others, no version says what they do.
    calls.retain(|callee| defined.contains(&callee.as_str()));
    calls.sort();
    calls.dedup();
    let name = before.functions[m].name.clone();
    Ok(Pair { name, pool, names, before: left.nest, after: right.nest, calls, layouts: left.layouts })
}

/// Whether a version of a function that is given one array twice may write it: nothing is known then of what it does.
fn may_write(before: &Module, after: &Module, (callee, positions): &(String, Option<[u32; 2]>)) -> bool {
    let versions = [before, after].into_iter().flat_map(|module| &module.functions).filter(|f| f.name == *callee);
    let writes = |function: &Function| {
        let Some(positions) = positions else { return true };
        let lowered = import(function, &[], (&mut Pool::default(), &mut Names::default()));
        lowered.map_or(true, |lowered| positions.iter().any(|position| lowered.nest.may_write(*position)))
    };
    versions.into_iter().any(writes)
}

/// In which way a function that both files only declare is declared in another way by the second one.
fn declared_otherwise(before: &Module, after: &Module, name: &str) -> Option<String> {
    let [first, second] = [before, after].map(|module| module.declared.iter().find(|(other, _)| other == name));
    let difference = first?.1.differs_in(&second?.1)?;
    Some(format!("it calls `{name}`, whose declarations differ: {difference}"))
}

/// A size that one version looks at is one of the other, too.
fn share_sizes(left: &mut Lowered, right: &mut Lowered) {
    let mut sizes = left.nest.sizes.clone();
    sizes.extend(right.nest.sizes.iter().filter(|s| !left.nest.sizes.iter().any(|l| l.var == s.var)).cloned());
    for nest in [&mut left.nest, &mut right.nest] {
        for size in &sizes {
            if let Origin::Extent(position, dimension) = size.origin {
                let kind = ArrayKind::Argument(position);
                let array = nest.arrays.iter_mut().find(|a| a.kind == kind);
                if let Some(extent) = array.and_then(|a| a.shape.get_mut(dimension as usize)) {
                    *extent = Some(rewright_cfg_skeleton::nest::Affine::var(size.var));
                }
            }
        }
        nest.sizes.clone_from(&sizes);
    }
}

/// A proof that takes calls of a function for equal needs a proof of that function, without a precondition.
fn depend_on_callees(functions: &mut [Compared]) {
    loop {
        let known: Vec<Known<'_>> = functions.iter().map(Known::from).collect();
        let Some((n, callee)) = dependent(&known) else { return };
        let reason = format!("it calls `{callee}`, which is not proved to do the same");
        let function = &mut functions[n];
        function.verdict = Verdict::new(&function.verdict.function, Evidence::nothing(reason));
    }
}

/// What is known of a function when others that call it are looked at.
struct Known<'a> {
    name: &'a str,
    is_proved: bool,
    /// For all sizes.
    is_certain: bool,
    calls: &'a [String],
}

impl<'a> From<&'a Compared> for Known<'a> {
    fn from(of: &'a Compared) -> Known<'a> {
        let is_proved = of.verdict.verdict == Kind::Proved;
        let is_certain = is_proved && of.verdict.precondition.is_none() && !of.is_assumed;
        Known { name: &of.verdict.function, is_proved, is_certain, calls: &of.calls }
    }
}

/// The first function that is proved and calls one that is not certain, and that one.
fn dependent(functions: &[Known<'_>]) -> Option<(usize, String)> {
    let is_open = |name: &String| functions.iter().any(|f| f.name == name && !f.is_certain);
    let mut proved = functions.iter().enumerate().filter(|(_, f)| f.is_proved);
    proved.find_map(|(n, f)| Some((n, f.calls.iter().find(|callee| is_open(callee))?.clone())))
}
