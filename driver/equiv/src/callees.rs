//! What calls may count on, of functions that have bodies in both modules.
//!
//! A call is taken to do the same in both versions, since the function that it calls is a pair of its own. A promise
//! that only the first version of that function makes is not used. Calls in both versions may rely on a promise that
//! only its second version makes, if its body is seen to keep it ([`Promises`]); otherwise calls do not know of it: a
//! function that breaks a promise of its own definition is undefined itself, and its own pair says so. A promise about
//! its result, which its body does not show, counts once its pair is proved.

use super::annotations::table::AnnotationTarget;
use super::annotations::{implied, parts};
use super::modules::{Module, Version};
use super::promises::Promises;
use super::recursion::is_replaceable;
use rewright_llvm::body::{self, Body};
use rewright_llvm::effects::MemoryEffects;
use rewright_llvm::lex::global_names;
use rewright_llvm::module::{Definition, File};
use std::collections::{BTreeMap, BTreeSet};

/// Promises of functions that are undefined in their own body where they are broken, after finitely many steps. Other
/// promises, such as that a call may go, concern the callers.
const OF_FUNCTIONS: [&str; 6] = ["nofree", "nosync", "nounwind", "norecurse", "nocallback", "noreturn"];

/// The same, but it takes for ever to break them.
const OF_ENDING: [&str; 2] = ["willreturn", "mustprogress"];

/// Promises of what is done with an argument.
const OF_ARGUMENTS: [&str; 7] = ["nocapture", "captures", "readnone", "readonly", "writeonly", "nofree", "returned"];

/// Promises of a value that is passed or given: another one is poison there.
const OF_VALUES: [&str; 7] =
    ["noundef", "nonnull", "align", "range", "dereferenceable", "dereferenceable_or_null", "nofpclass"];

/// Both modules' files as calls in them see them. Functions that are `proved` keep what their second versions promise of
/// what they give.
pub(super) fn as_called(before: &File, after: &File, proved: &BTreeSet<&str>) -> [File; 2] {
    let first = exact(before);
    let mut callees = vec![];
    for (name, (second, is)) in exact(after) {
        if let Some((first, was)) = first.get(name)
            && was.parameters.len() == is.parameters.len()
        {
            callees.push(Callee::new([*first, second], was, is, after));
        }
    }
    callees.sort_by_key(|callee| callee.positions);
    keep(after, &mut callees);
    for callee in callees.iter_mut().filter(|callee| proved.contains(callee.versions[1].name.as_str())) {
        let [was, is] = callee.versions;
        callee.kept.result.extend(of_result(was, is).cloned());
    }
    [0, 1].map(|version| seen([before, after][version], version, &callees))
}

/// A function that has a body in both modules, which runs where it is called.
struct Callee<'f> {
    positions: [usize; 2],
    versions: [&'f Definition; 2],
    /// The second one's, if that version alone promises something.
    body: Option<Body>,
    /// What that names.
    names: BTreeSet<&'f str>,
    /// Promises of the second version alone that its body may keep.
    claimed: Promised,
    /// Those that take for ever to break.
    claimed_to_end: Vec<String>,
    kept: Promised,
}

/// What a function promises.
#[derive(Clone, Default, PartialEq, Eq)]
struct Promised {
    function: Vec<String>,
    result: Vec<String>,
    parameters: Vec<Vec<String>>,
}

impl<'f> Callee<'f> {
    fn new(positions: [usize; 2], was: &'f Definition, is: &'f Definition, after: &'f File) -> Self {
        let only = |was: &[String], is: &[String], claimed: &dyn Fn(&str) -> bool| -> Vec<String> {
            is.iter().filter(|a| claimed(a) && !implied(a, was)).cloned().collect()
        };
        let claimed = |place| move |a: &str| is_of_body(place, a);
        let parameters = was.parameters.iter().zip(&is.parameters);
        let claimed = Promised {
            function: only(&was.attributes, &is.attributes, &claimed(AnnotationTarget::Function)),
            result: only(&was.before, &is.before, &claimed(AnnotationTarget::Result)),
            parameters: parameters
                .map(|(was, is)| only(&was.attributes, &is.attributes, &claimed(AnnotationTarget::Parameter)))
                .collect(),
        };
        let claimed_to_end = only(&was.attributes, &is.attributes, &|a| OF_ENDING.contains(&a));
        let none = Promised { parameters: vec![vec![]; claimed.parameters.len()], ..Promised::default() };
        let body = (claimed != none || !claimed_to_end.is_empty()).then(|| body::read(after, is).ok()).flatten();
        let names = if body.is_some() { global_names(&after.text[is.body.clone()]) } else { BTreeSet::new() };
        Callee { positions, versions: [was, is], body, names, claimed, claimed_to_end, kept: none }
    }
}

/// Finds which promises are kept.
///
/// The first one that is broken is broken by a function whose calls have kept theirs so far: all are taken to be kept
/// until a body is not seen to. Of those that take for ever to break there is no first one: one is kept if the calls in
/// a body are known to keep theirs already.
fn keep(after: &File, callees: &mut [Callee<'_>]) {
    for callee in callees.iter_mut().filter(|callee| callee.body.is_some()) {
        callee.kept = callee.claimed.clone();
    }
    let mut ending = BTreeSet::new();
    rounds(after, callees, &mut ending, |promises, callee| {
        let Promised { function, result, parameters } = &callee.kept;
        let keeps = |list: &[String], holds: &dyn Fn(&str) -> bool| list.iter().filter(|a| holds(a)).cloned().collect();
        let of_parameters = callee.versions[1].parameters.iter().zip(parameters);
        Promised {
            function: keeps(function, &|a| promises.hold(a)),
            result: keeps(result, &|a| promises.hold_of_result(a)),
            parameters: of_parameters
                .map(|(parameter, list)| keeps(list, &|a| promises.hold_of_parameter(&parameter.name, a)))
                .collect(),
        }
    });
    rounds(after, callees, &mut ending, |promises, callee| {
        let mut kept = callee.kept.clone();
        let more = callee.claimed_to_end.iter().filter(|a| !kept.function.contains(a) && promises.hold(a));
        let more: Vec<String> = more.cloned().collect();
        kept.function.extend(more);
        kept
    });
}

/// Looks at all bodies, and again at those that name a function of which something else is known by then, until nothing
/// changes. That has an end where promises are only given up, or only found to be kept.
fn rounds(
    after: &File,
    callees: &mut [Callee<'_>],
    ending: &mut BTreeSet<String>,
    mut kept: impl FnMut(&Promises<'_>, &Callee<'_>) -> Promised,
) {
    let mut all: Vec<usize> = (0..callees.len()).collect();
    while !all.is_empty() {
        let changed = each(after, callees, &all, ending, &mut kept);
        all = (0..callees.len()).filter(|n| !callees[*n].names.is_disjoint(&changed)).collect();
    }
}

/// Looks at some bodies, with what calls see by now, and with functions that are known to return: of which functions is
/// something else known?
fn each<'f>(
    after: &File,
    callees: &mut [Callee<'f>],
    some: &[usize],
    ending: &mut BTreeSet<String>,
    kept: &mut impl FnMut(&Promises<'_>, &Callee<'_>) -> Promised,
) -> BTreeSet<&'f str> {
    let file = seen(after, 1, callees);
    let module = Module::new(&file, after);
    let mut changed = BTreeSet::new();
    for n in some {
        let callee = &mut callees[*n];
        let Some(body) = &callee.body else { continue };
        let name = callee.versions[1].name.as_str();
        let version = Version { module: &module, definition: callee.versions[1] };
        let found = kept(&Promises::new(version, body).knowing(ending), callee);
        let ends = found.function.iter().any(|a| a == "willreturn") && ending.insert(name.to_string());
        if ends || found != callee.kept {
            changed.insert(name);
        }
        callee.kept = found;
    }
    changed
}

/// What the second version alone promises of a value that it gives.
fn of_result<'f>(was: &'f Definition, is: &'f Definition) -> impl Iterator<Item = &'f String> {
    is.before.iter().filter(|a| OF_VALUES.contains(&parts(a).0) && !implied(a, &was.before))
}

/// Does the second version alone promise something of the value that it gives?
pub(super) fn promises_its_result(was: &Definition, is: &Definition) -> bool {
    of_result(was, is).next().is_some()
}

/// A version's file as calls see it.
fn seen(file: &File, version: usize, callees: &[Callee<'_>]) -> File {
    let mut file = file.clone();
    for Callee { positions, versions: [was, is], kept, .. } in callees {
        let function = &mut file.functions[positions[version]];
        let list = |place, was: &[String], is: &[String], kept: &[String]| match version {
            0 => [was, kept].concat(),
            _ => without_others(place, was, is, kept),
        };
        function.attributes = list(AnnotationTarget::Function, &was.attributes, &is.attributes, &kept.function);
        function.before = list(AnnotationTarget::Result, &was.before, &is.before, &kept.result);
        for (n, parameter) in function.parameters.iter_mut().enumerate() {
            let [was, is] = [was, is].map(|definition| definition.parameters[n].attributes.as_slice());
            parameter.attributes = list(AnnotationTarget::Parameter, was, is, &kept.parameters[n]);
        }
        file.attributes.insert(function.name.clone(), function.attributes.clone());
    }
    file
}

/// What the second version says, without promises of its own that it is not known to keep.
fn without_others(place: AnnotationTarget, was: &[String], is: &[String], kept: &[String]) -> Vec<String> {
    let is_known = |a: &String| implied(a, was) || kept.contains(a);
    let mut left: Vec<String> = is.iter().filter(|a| !is_own(place, a) || is_known(a)).cloned().collect();
    // What is left of a stronger one.
    for annotation in was.iter().filter(|a| is_own(place, a) && implied(a, is)) {
        if !implied(annotation, &left) {
            left.push(annotation.clone());
        }
    }
    left
}

/// Functions of a file with one definition, which nothing replaces, and their positions.
fn exact(file: &File) -> BTreeMap<&str, (usize, &Definition)> {
    let mut found = BTreeMap::new();
    let mut twice = vec![];
    for (at, function) in file.functions.iter().enumerate() {
        if found.insert(function.name.as_str(), (at, function)).is_some() {
            twice.push(function.name.as_str());
        }
    }
    found.retain(|name, (_, function)| !twice.contains(name) && !is_replaceable(function));
    found
}

/// Is it a promise that a body is seen to keep, or not?
fn is_of_body(place: AnnotationTarget, annotation: &str) -> bool {
    let name = parts(annotation).0;
    match place {
        AnnotationTarget::Function => OF_FUNCTIONS.contains(&name) || MemoryEffects::of([annotation]).is_some(),
        AnnotationTarget::Parameter => OF_ARGUMENTS.contains(&name),
        AnnotationTarget::Result => name == "noalias",
        AnnotationTarget::Metadata => false,
    }
}

/// Is it one that the function itself breaks, whichever function calls it?
fn is_own(place: AnnotationTarget, annotation: &str) -> bool {
    let name = parts(annotation).0;
    is_of_body(place, annotation)
        || match place {
            AnnotationTarget::Function => OF_ENDING.contains(&name),
            AnnotationTarget::Parameter => OF_VALUES.contains(&name) || name == "noalias",
            AnnotationTarget::Result => OF_VALUES.contains(&name),
            AnnotationTarget::Metadata => false,
        }
}
