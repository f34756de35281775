//! Loops that count, as nests: what other methods do not see is compared in another order.
//!
//! Both versions are raised ([`raise`](super::raise)), and their nests compared as those of MLIR are. The facts that
//! MLIR's types give about arrays are stated nowhere here, so each proof is checked against what the functions may do
//! beside:
//!
//! * arguments may overlap, where the first version does not say `noalias`: a precondition names them;
//! * an access may trap (CLIF): a precondition;
//! * the second version writes only where the first one writes, and its promises of addresses, alignment and types
//!   are kept: else nothing is proved;
//! * an offset may wrap around, where neither sizes nor `inbounds` say that it does not: a precondition.
//!
//! [`llvm`] and [`words`] know what texts say.
//!
//! Runs of nests refute nothing by themselves: the functions are called with what the nests differ on, and refute
//! each other or not. Where they do not, it is a doubt.

mod certified;
pub(crate) mod llvm;
mod rows;
mod touched;
pub(crate) mod words;

pub use certified::Accepted;
pub(crate) use certified::{certificate, check};

use crate::raise::{Accessed, NoNest, Raised, Scope, Source, elements, raise, unguarded, within};
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::nest::arguments::{self, Argument};
use rewright_cfg_skeleton::nest::compare::{Options, assumption_of_nans, compare};
use rewright_cfg_skeleton::nest::datapath::NoOracle;
use rewright_cfg_skeleton::nest::{
    Affine, Assumption, Confirmation, Constraint, Decider, Item, Names, Nest, Origin, Pool, touches_no_more, with_stack,
};
use rewright_cfg_skeleton::verdict::{Counterexample, Evidence, Tier};
use rewright_typeprop::Universe;

/// Steps of the decision procedure for a pair of nests.
const BUDGET: u64 = 4_000_000;

/// Steps for rows, and for a question about what is touched.
const TOUCHED: u64 = 2_000_000;

/// No array has so many elements, nor a loop so many iterations, that counters of 32 bits come near their ends.
const LARGE: i128 = 1 << 24;

/// A version.
pub(crate) struct Subject<'a> {
    pub(crate) function: &'a Function,
    pub(crate) universe: &'a Universe,
    pub(crate) source: &'a dyn Source,
}

/// What languages say of accesses and arguments.
pub(crate) trait Licence {
    /// The first version says that nothing else is accessed where this parameter points to.
    fn is_apart(&self, parameter: u32) -> bool;

    /// Whether memory may hold what no branch may depend on.
    fn has_poison(&self) -> bool;

    /// What an access of the second version promises beside `inbounds`.
    ///
    /// # Errors
    /// A promise of which it is not known when it holds.
    fn promises(&self, access: &Accessed) -> Result<Vec<String>, String>;

    /// Whether an access of the first version to the same cell promises as much.
    fn keeps(&self, access: &Accessed, promise: &str) -> bool;
}

/// What comparing nests has shown.
pub(crate) enum Shown {
    /// The second version does what the first one does, if the precondition holds.
    Proved { tier: Tier, precondition: Option<String>, assumptions: Vec<String> },
    /// Runs of the nests differ, and how; calls of the functions that may show it.
    Differs(String, Vec<Vec<Argument>>),
    /// Nothing, and why.
    Nothing(String),
}

impl Shown {
    /// Adds it to what else is known of the pair; `replay` calls both functions, and says how they differ then.
    pub(crate) fn note(self, evidence: &mut Evidence, replay: &mut dyn FnMut(&[Argument]) -> Option<Counterexample>) {
        match self {
            Shown::Proved { tier, precondition, assumptions } => {
                evidence.proved = Some(tier);
                evidence.precondition = precondition;
                evidence.assumptions = assumptions;
            }
            Shown::Differs(how, calls) => {
                evidence.refuted = calls.iter().find_map(|arguments| replay(arguments));
                if evidence.refuted.is_some() {
                    return;
                }
                evidence.doubted = true;
                evidence.reasons.push(format!("as nests of loops they differ {how}, which no run confirms"));
            }
            Shown::Nothing(reason) => evidence.reasons.push(format!("nests: {reason}")),
        }
    }
}

/// Compares two versions as nests: for all sizes, for those that are not extremely large, and for those that do not
/// exceed the length of a row of an array.
pub(crate) fn decide(versions: [Subject<'_>; 2], licence: &dyn Licence) -> Shown {
    let mut reasons: Vec<String> = vec![];
    let mut row = None;
    let compared = |most: Option<i128>, row: &mut Option<i128>| {
        let pair = Pair::new(&versions, licence, most, None);
        *row = pair.as_ref().ok().and_then(|pair| pair.row);
        pair.map_or_else(Shown::Nothing, |mut pair| pair.compare())
    };
    for most in [None, Some(LARGE)] {
        match compared(most, &mut row) {
            Shown::Nothing(reason) if reasons.contains(&reason) => {}
            Shown::Nothing(reason) => reasons.push(reason),
            shown => return shown,
        }
    }
    if let Some(row) = row.filter(|row| *row < LARGE) {
        match compared(Some(row), &mut None) {
            Shown::Nothing(reason) if reasons.contains(&reason) => {}
            Shown::Nothing(reason) => reasons.push(format!("for sizes up to {row}, {reason}")),
            Shown::Differs(..) => {}
            shown => return shown,
        }
    }
    Shown::Nothing(reasons.join("; "))
}

/// The least distance, above 1, between cells that neighbouring iterations access.
fn shortest_row(items: &[Item]) -> Option<i128> {
    let of = |subscripts: &[Affine]| {
        let terms = subscripts.iter().flat_map(Affine::terms);
        let factors = terms.filter(|(monomial, _)| !monomial.is_empty()).map(|(_, factor)| factor.abs());
        factors.filter(|factor| *factor > 1).min()
    };
    let each = items.iter().filter_map(|item| match item {
        Item::Load(x) => of(&x.subscripts),
        Item::Store(x) => of(&x.subscripts),
        Item::For(x) => shortest_row(&x.body),
        Item::If(x) => shortest_row(&x.then).into_iter().chain(shortest_row(&x.otherwise)).min(),
        _ => None,
    });
    each.min()
}

/// Loads of what a parameter points to, except for those of blocks that are copied.
fn loads(raised: &Raised, parameter: u32) -> impl Iterator<Item = &Accessed> {
    let is_one = move |access: &&Accessed| access.parameter == parameter && !access.is_store;
    raised.accesses.iter().filter(is_one).filter(|access| access.element_of_block.is_none())
}

fn branches_on_data(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::If(_) => true,
        Item::For(x) => branches_on_data(&x.body),
        _ => false,
    })
}

/// Two versions as nests.
struct Pair<'a> {
    first: Raised,
    second: Raised,
    /// Both nests with arrays that have rows.
    nests: [Nest; 2],
    pool: Pool,
    names: Names,
    most: Option<i128>,
    /// The length of the shortest row.
    row: Option<i128>,
    /// What is assumed of sizes, and what holds of them.
    sizes: Vec<Assumption>,
    facts: Vec<Constraint>,
    source: &'a dyn Source,
    licence: &'a dyn Licence,
    confirmation: Confirmation,
}

impl<'a> Pair<'a> {
    /// Two versions as nests, for sizes up to a number.
    fn new(
        versions: &[Subject<'a>; 2],
        licence: &'a dyn Licence,
        most: Option<i128>,
        confirmation: Confirmation,
    ) -> Result<Pair<'a>, String> {
        let (mut pool, mut names) = (Pool::default(), Names::default());
        let [first, second] = [0, 1].map(|n| elements(versions[n].function, versions[n].universe, versions[n].source));
        let elements = second.into_iter().chain(first).collect();
        let mut one = |version: &Subject<'_>, is_second: bool| {
            let scope = Scope { is_second, most, confirmation: confirmation.clone(), elements: &elements };
            raise(version.function, version.universe, version.source, scope, (&mut pool, &mut names))
        };
        let (first, second) = match (one(&versions[0], false), one(&versions[1], true)) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(NoNest(why)), _) => return Err(format!("the first version: {why}")),
            (_, Err(NoNest(why))) => return Err(format!("the second version: {why}")),
        };
        let (row, source) = (shortest_row(&first.nest.items), versions[0].source);
        let nests = [first.nest.clone(), second.nest.clone()];
        let (sizes, facts) = (vec![], vec![]);
        let mut pair =
            Pair { first, second, nests, pool, names, most, row, sizes, facts, source, licence, confirmation };
        pair.share()?;
        if most.is_some() && pair.first.nest.sizes.is_empty() {
            return Err("there are no sizes".into());
        }
        if licence.has_poison() && branches_on_data(&pair.second.nest.items) {
            return Err("the second version branches on data, which may be poison".into());
        }
        let bounds = pair.bounds();
        pair.sizes = bounds.iter().filter_map(|bound| bound.parse().ok()).collect();
        if pair.sizes.len() != bounds.len() {
            return Err("a name of an argument that no condition can have".into());
        }
        pair.facts = pair.facts();
        pair.nests = [pair.first.nest.clone(), pair.second.nest.clone()];
        let mut decider = pair.decider();
        let [before, after] = &mut pair.nests;
        rows::split([before, after], &pair.facts, &mut decider);
        Ok(pair)
    }

    fn decider(&self) -> Decider {
        Decider::confirmed(TOUCHED, self.confirmation.clone())
    }

    fn options(&self) -> Options {
        Options { in_bounds: false, budget: BUDGET, sizes: self.sizes.clone(), ..Options::default() }
    }

    /// Both have the same arguments: sizes, and arrays with the same elements.
    fn share(&mut self) -> Result<(), String> {
        let [left, right] = [&mut self.first.nest, &mut self.second.nest];
        if left.arguments.len() != right.arguments.len() || left.results.len() != right.results.len() {
            return Err("versions take other values from outside".into());
        }
        let mut sizes = left.sizes.clone();
        sizes.extend(right.sizes.iter().filter(|size| left.sizes.iter().all(|other| other.var != size.var)).cloned());
        sizes.sort_by_key(|size| size.var);
        left.sizes.clone_from(&sizes);
        right.sizes = sizes;
        for (a, b) in left.arrays.iter_mut().zip(&mut right.arrays) {
            // Cells come after what arguments point to.
            if a.kind != b.kind {
                break;
            }
            match (a.element.is_empty(), b.element.is_empty()) {
                (true, _) => a.element.clone_from(&b.element),
                (_, true) => b.element.clone_from(&a.element),
                _ if a.element != b.element => return Err("versions access memory as values of other types".into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn compare(&mut self) -> Shown {
        let options = self.options();
        let [before, after] = &self.nests;
        let (pool, names) = (&mut self.pool, &mut self.names);
        let evidence = with_stack(|| compare(pool, names, before, after, &options, &mut NoOracle));
        if let Some(found) = &evidence.refuted {
            let calls = arguments::calls(&self.pool, [&self.first.nest, &self.second.nest], found);
            return Shown::Differs(format!("on {}", found.shown), calls);
        }
        let Some(tier) = evidence.proved else {
            return Shown::Nothing(evidence.reasons.into_iter().next().unwrap_or_default());
        };
        if let Some(reason) = self.touched_anew() {
            return Shown::Nothing(reason);
        }
        Shown::Proved { tier, precondition: self.precondition(evidence.precondition), assumptions: self.assumptions() }
    }

    /// The assumptions of proofs.
    fn assumptions(&self) -> Vec<String> {
        vec![assumption_of_nans(self.pool.sees_nans())]
    }

    /// A condition on sizes with all else that a proof needs.
    fn precondition(&self, of_sizes: Option<String>) -> Option<String> {
        let mut conditions = [self.bounds(), self.conditions()].concat();
        if let Some(of_sizes) = of_sizes {
            let is_union = of_sizes.contains(" or ") && !conditions.is_empty();
            conditions.insert(0, if is_union { format!("({of_sizes})") } else { of_sizes });
        }
        (!conditions.is_empty()).then(|| conditions.join(" and "))
    }

    /// What holds of sizes.
    fn facts(&self) -> Vec<Constraint> {
        let sizes = &self.first.nest.sizes;
        let mut facts = vec![];
        for size in sizes {
            if let Origin::Argument(_, Some(bits @ 1..=60)) = size.origin {
                let (var, half) = (Affine::var(size.var), 1i128 << (bits - 1));
                facts.push(Constraint::at_least(&var, &Affine::constant(-half)));
                facts.push(Constraint::less(&var, &Affine::constant(half)));
            }
        }
        let conditions = self.sizes.iter().filter_map(|assumption| assumption.condition(sizes));
        facts.extend(conditions.map(|(expr, equality)| Constraint { expr, equality }));
        facts
    }

    /// Of sizes, as conditions.
    fn bounds(&self) -> Vec<String> {
        let bound = |most: i128| self.first.nest.sizes.iter().map(move |size| format!("{} <= {most}", size.name));
        self.most.into_iter().flat_map(bound).collect()
    }

    /// What the second version does with memory that the first one does not do.
    fn touched_anew(&mut self) -> Option<String> {
        let decider = || Decider::confirmed(TOUCHED, self.confirmation.clone());
        let (first, second, sizes, facts) = (&self.first, &self.second, &self.sizes, &self.facts);
        let (pool, names) = (&mut self.pool, &mut self.names);
        let mut only = |of_first: &dyn Fn(&Accessed) -> bool, of_second: &dyn Fn(&Accessed) -> bool| {
            let before = within(&first.nest, &first.accesses, false, of_first);
            let after = within(&second.nest, &second.accesses, true, of_second);
            touched::by_rows(&before, &after, facts, &mut decider())
                || touches_no_more(pool, names, [&before, &after], sizes, &mut decider())
        };
        // Rows and columns that are accessed say nothing of where they meet.
        if !only(&|_| true, &|_| true) {
            return Some("the second version may access memory that the first one does not access".into());
        }
        if !only(&|access| access.is_store, &|access| access.is_store) {
            return Some("the second version may write where the first one does not".into());
        }
        let mut promises = vec![];
        for access in &second.accesses {
            match self.licence.promises(access) {
                Ok(of_access) => promises.extend(of_access),
                Err(reason) => return Some(reason),
            }
        }
        promises.sort();
        promises.dedup();
        let broken = promises.into_iter().find(|promise| {
            let keeps = |access: &Accessed| self.licence.keeps(access, promise);
            let makes = |access: &Accessed| self.licence.promises(access).is_ok_and(|all| all.contains(promise));
            !only(&keeps, &makes)
        });
        if let Some(promise) = broken {
            return Some(format!("the second version promises `{promise}` of an access where the first one may not"));
        }
        let promised =
            [unguarded(&first.nest, &first.promised, false), unguarded(&second.nest, &second.promised, true)];
        if !touched::by_rows(&promised[0], &promised[1], facts, &mut decider()) {
            return Some("the second version promises `inbounds` of addresses of which the first one may not".into());
        }
        // An object that holds the address of a cell and that which it is counted from holds all between.
        let before = within(&first.nest, &first.accesses, false, &|access| access.is_promised);
        let after = within(&second.nest, &second.accesses, true, &|access| access.is_promising);
        let is_inside = touched::whenever(&before, &after, facts, &mut decider());
        (!is_inside).then(|| "the second version promises `inbounds` where the first one may not".to_string())
    }

    /// What a proof needs beside.
    fn conditions(&self) -> Vec<String> {
        let mut conditions = vec![];
        let name = |parameter: u32| self.source.name(parameter as usize);
        let all = || self.first.accesses.iter().chain(&self.second.accesses);
        let mut accessed: Vec<(u32, bool)> = vec![];
        for access in all() {
            match accessed.iter_mut().find(|(parameter, _)| *parameter == access.parameter) {
                Some((_, is_written)) => *is_written |= access.is_store,
                None => accessed.push((access.parameter, access.is_store)),
            }
        }
        accessed.sort_unstable();
        for (n, (a, a_is_written)) in accessed.iter().enumerate() {
            for (b, b_is_written) in &accessed[n + 1..] {
                let is_apart = self.licence.is_apart(*a) || self.licence.is_apart(*b);
                if !is_apart && (*a_is_written || *b_is_written) {
                    conditions.push(format!("{} and {} do not overlap", name(*a), name(*b)));
                }
            }
        }
        if all().any(|access| access.trap.is_some()) {
            conditions.push("no access traps".into());
        }
        if self.first.accesses.iter().any(|access| !access.in_range && !access.is_promised) {
            conditions.push("no address wraps around".into());
        }
        let mut counted: Vec<u32> = self.first.counted.iter().chain(&self.second.counted).copied().collect();
        counted.sort_unstable();
        counted.dedup();
        let doubtful = counted.into_iter().filter(|parameter| self.source.may_be_poison(*parameter as usize));
        conditions.extend(doubtful.map(|parameter| format!("{} is neither poison nor undef", name(parameter))));
        let mut loose: Vec<&String> = self.first.loose.iter().chain(&self.second.loose).collect();
        loose.sort();
        loose.dedup();
        let mut copied = self.first.copied.clone();
        copied.sort_unstable();
        copied.dedup();
        // A load of an element makes all of it poison if a part is, or an address a number; a copy keeps what there is.
        copied.retain(|parameter| loads(&self.second, *parameter).next().is_some());
        let of_copied = |parameter| format!("{} holds whole values of the type that it is read as", name(parameter));
        conditions.extend(copied.into_iter().map(of_copied));
        // A value that is read as a number and written is no address any more; nor is one that is read as an address, but
        // was a number.
        let kinds = |raised: &Raised, parameter| {
            let mut kinds: Vec<bool> = loads(raised, parameter).map(|access| access.is_address).collect();
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        };
        let is_mixed = |parameter: &u32| {
            let [first, second] = [&self.first, &self.second].map(|raised| kinds(raised, *parameter));
            !first.is_empty() && !second.is_empty() && (first.len() > 1 || first != second)
        };
        let read: Vec<u32> = accessed.iter().map(|(parameter, _)| *parameter).collect();
        let mixed: Vec<u32> = read.iter().copied().filter(is_mixed).collect();
        // Where such an array is written, what it holds may come from any other one.
        let writes = |parameter: &u32| all().any(|access| access.is_store && access.parameter == *parameter);
        let held = if mixed.iter().any(writes) { &read } else { &mixed };
        conditions.extend(held.iter().map(|parameter| format!("{} holds no addresses", name(*parameter))));
        let stores = |parameter: &u32| {
            all().any(|access| access.is_store && access.is_address && access.parameter == *parameter)
        };
        let stored = mixed.iter().filter(|parameter| stores(parameter));
        conditions.extend(stored.map(|parameter| format!("no address is written to {}", name(*parameter))));
        conditions.extend(loose.into_iter().map(|name| format!("`{name}` of equal operands gives equal results")));
        conditions
    }
}
