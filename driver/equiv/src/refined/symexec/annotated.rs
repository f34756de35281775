//! What attributes and metadata say at calls and accesses, and which of the second version's are in the first one.

use super::super::super::annotations::table::{AnnotationTarget, Says, says};
use super::super::super::annotations::{essence, has, implied, numbers, parts};
use super::super::super::modules::Version;
use super::super::super::promises::Promises;
use super::super::facts;
use super::super::tail_calls::is_tail;
use super::{SymbolicExecutor, Terms};
use rewright_llvm::body::{Body, Instruction, Shape};
use rewright_llvm::effects;
use rewright_smt::{Expr, name_part};
use std::collections::{BTreeMap, BTreeSet};

/// Metadata of which it is modelled what they say of a value.
pub(in super::super) const MODELLED: [&str; 4] = ["!range", "!nonnull", "!noundef", "!align"];

/// What an access's metadata promise, beside what is modelled of the value that is read.
pub(in super::super) fn promises(version: Version<'_>, i: &Instruction) -> Vec<String> {
    let all = attached(version, i);
    all.into_iter().filter(|a| !MODELLED.contains(&parts(a).0)).collect()
}

/// A value that is read is no `undef`, and no poison.
pub(super) fn is_defined(i: &Instruction) -> bool {
    i.metadata.iter().any(|(kind, _)| kind == "!noundef")
}

/// Metadata that say something, with their nodes written out.
fn attached(version: Version<'_>, i: &Instruction) -> Vec<String> {
    let nodes = &version.module.nodes;
    let written = i.metadata.iter().map(|(kind, node)| format!("{kind} {}", nodes.whole(node)));
    essence(AnnotationTarget::Metadata, &written.collect::<Vec<_>>())
}

/// How calls of a function are told apart by what is said of them.
///
/// A call of the second version may say what each call of that function in the first one says: whichever it is, that
/// promises nothing new. Of all else only calls are the same that say the same.
pub(in super::super) struct Keys {
    /// By function: what some call in the second version says, and not each one in the first.
    new: BTreeMap<String, BTreeSet<String>>,
    /// How it is said that a call does not unwind, if the first version does not: what leaves it by that is undefined.
    nounwind: Option<String>,
    /// The second version says where the memory of stack slots begins and ends.
    lifetimes: bool,
    /// Either version calls what a pointer says.
    indirect: bool,
    /// All accesses of the second version are seen to be ones that it allows itself.
    allowed: bool,
}

/// Attributes of values where they are passed or given: a value that breaks one is poison, or undefined.
const OF_VALUES: [&str; 4] = ["noundef", "nonnull", "align", "range"];

fn is_of_value(place: AnnotationTarget, annotation: &str) -> bool {
    let name = parts(annotation).0;
    match place {
        AnnotationTarget::Parameter => OF_VALUES.contains(&name) || name == "dereferenceable",
        AnnotationTarget::Result => OF_VALUES.contains(&name),
        _ => false,
    }
}

impl Keys {
    /// For two versions.
    pub(in super::super) fn new(versions: [Version<'_>; 2], bodies: &[Body; 2]) -> Keys {
        let mut said: [BTreeMap<String, Vec<Vec<String>>>; 2] = Default::default();
        for ((version, body), said) in versions.iter().zip(bodies).zip(&mut said) {
            for i in body.blocks.iter().flat_map(|b| &b.instructions) {
                if let Shape::Call { callee: Some(callee), .. } = &i.shape {
                    let spelled = Said::new(*version, i).spelled(|_, _| true);
                    said.entry(callee.clone()).or_default().push(spelled);
                }
            }
        }
        let [first, second] = said;
        let nounwind = has(&versions[0].definition.attributes, "nounwind")
            .then(|| spelled(AnnotationTarget::Function, "nounwind"));
        let lifetimes = second.keys().any(|callee| callee.starts_with("@llvm.lifetime."));
        let new = |(callee, calls): (String, Vec<Vec<String>>)| {
            let others = first.get(&callee).map_or(&[][..], Vec::as_slice);
            let known = |a: &String| others.iter().all(|other| other.contains(a));
            let said = calls.into_iter().flatten().filter(|a| !known(a)).collect();
            (callee, said)
        };
        let calls = bodies.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.instructions);
        let indirect = calls.into_iter().any(|i| matches!(i.shape, Shape::Call { callee: None, .. }));
        Keys {
            nounwind,
            new: second.into_iter().map(new).collect(),
            lifetimes,
            indirect,
            allowed: Promises::new(versions[1], &bodies[1]).accesses_are_allowed(),
        }
    }

    /// Are calls told apart by the address that is called?
    pub(super) fn by_address(&self) -> bool {
        self.indirect
    }

    /// Does what is said of values at calls of a function count in both versions?
    pub(super) fn count_values(&self, callee: &str) -> bool {
        // A call by a pointer may be one of a function that other calls say something of.
        self.indirect || self.new.get(callee).is_some_and(|said| !said.is_empty())
    }

    /// Are all accesses of the second version seen to be ones that the function and its parameters allow there?
    pub(super) fn accesses_are_allowed(&self) -> bool {
        self.allowed
    }

    pub(super) fn has_lifetimes(&self) -> bool {
        self.lifetimes
    }

    /// What tells this call from others with the same arguments.
    pub(super) fn of(&self, version: Version<'_>, i: &Instruction) -> Terms<String> {
        let Shape::Call { callee, .. } = &i.shape else { return Ok(String::new()) };
        let said = Said::new(version, i);
        for (place, annotations) in said.places() {
            if let Some(unknown) = annotations.iter().find(|a| says(place, a) == Says::Unmodelled) {
                return Err(format!("what `{unknown}` means at a call is not modelled").into());
            }
        }
        let mut all = said.spelled(|place, a| says(place, a) == Says::Meaning);
        let counts = |place, a: &str| callee.is_some() && is_of_value(place, a);
        let others = said.spelled(|place, a| says(place, a) != Says::Meaning && !counts(place, a));
        // Annotations of calls by a pointer, and of calls that may be the same as these, have not been compared.
        let new = callee.as_ref().filter(|_| !self.indirect).map(|callee| self.new.get(callee));
        let is_new = |a: &String| {
            self.nounwind.as_ref() != Some(a) && new.is_none_or(|new| new.is_some_and(|new| new.contains(a)))
        };
        all.extend(others.into_iter().filter(is_new));
        Ok(all.iter().map(|a| format!(" {}", name_part(a))).collect())
    }
}

fn spelled(place: AnnotationTarget, annotation: &str) -> String {
    format!("{place:?}-{}", annotation.replace(' ', ""))
}

/// What the others of a list do not say already.
fn without_implied(mut said: Vec<String>) -> Vec<String> {
    let mut n = 0;
    while n < said.len() {
        let one = said.remove(n);
        if !implied(&one, &said) {
            said.insert(n, one);
            n += 1;
        }
    }
    said
}

/// How many bytes a call allocates, if its function says which arguments tell and these are constants.
pub(in super::super) fn allocated(i: &Instruction, function: &[String]) -> Option<u64> {
    let Shape::Call { args, .. } = &i.shape else { return None };
    let (_, which) = function.iter().map(|a| parts(a)).find(|(name, _)| *name == "allocsize")?;
    let mut sizes = which.split(',').map(|n| args.get(n.trim().parse::<usize>().ok()?)?.text.parse::<u64>().ok());
    let bytes = sizes.try_fold(1, |product: u64, size| product.checked_mul(size?))?;
    (bytes > 0).then_some(bytes)
}

/// All that is said of a call: of itself, and of the function that it names.
#[derive(Default)]
pub(super) struct Said {
    function: Vec<String>,
    /// Of what it gives.
    pub(super) result: Vec<String>,
    /// By argument.
    pub(super) arguments: Vec<Vec<String>>,
    metadata: Vec<String>,
    tail: bool,
}

impl Said {
    pub(super) fn new(version: Version<'_>, i: &Instruction) -> Said {
        let empty = (None, &vec![], &vec![]);
        let (callee, attributes, own_arguments) = match &i.shape {
            Shape::Call { callee, attributes, promises, .. } => (callee.as_deref(), attributes, promises),
            _ => empty,
        };
        let own: Vec<String> = attributes.iter().filter(|a| !i.flags.contains(a)).cloned().collect();
        let declared = callee.and_then(|name| version.module.function(name));
        let function = effects::attributes(version.file(), callee, &own).concat();
        let mut result = version.module.said_of_result(declared, &i.flags);
        result.extend(allocated(i, &function).map(|bytes| format!("dereferenceable_or_null({bytes})")));
        let argument = |(n, own): (usize, &Vec<String>)| {
            let mut all = own.clone();
            all.extend(declared.and_then(|d| d.parameters.get(n)).iter().flat_map(|p| &p.attributes).cloned());
            essence(AnnotationTarget::Parameter, &all)
        };
        Said {
            function: without_implied(essence(AnnotationTarget::Function, &function)),
            result: essence(AnnotationTarget::Result, &result),
            arguments: own_arguments.iter().enumerate().map(argument).collect(),
            metadata: attached(version, i),
            tail: is_tail(i),
        }
    }

    fn places(&self) -> impl Iterator<Item = (AnnotationTarget, &Vec<String>)> {
        let arguments = self.arguments.iter().map(|a| (AnnotationTarget::Parameter, a));
        let others = [
            (AnnotationTarget::Function, &self.function),
            (AnnotationTarget::Result, &self.result),
            (AnnotationTarget::Metadata, &self.metadata),
        ];
        arguments.chain(others)
    }

    /// Those that are kept, each with where it stands in its name.
    fn spelled(&self, kept: impl Fn(AnnotationTarget, &str) -> bool) -> Vec<String> {
        let mut out: Vec<String> = vec![];
        for (n, (place, annotations)) in self.places().enumerate() {
            let here = annotations.iter().filter(|a| kept(place, a)).map(|a| spelled(place, a));
            out.extend(here.map(|a| if place == AnnotationTarget::Parameter { format!("{n}-{a}") } else { a }));
        }
        out.extend((self.tail && kept(AnnotationTarget::Function, "tail")).then(|| "tail".to_string()));
        out
    }
}

impl SymbolicExecutor<'_> {
    /// When bits break what metadata promise of a value that is read: it is poison.
    pub(super) fn breaks_metadata(&mut self, i: &Instruction, bits: Expr) -> Terms<Expr> {
        let mut broken = vec![];
        for (kind, node) in &i.metadata {
            broken.push(match kind.as_str() {
                "!nonnull" => facts::broken(self.s, &["nonnull".to_string()], bits),
                "!range" | "!align" => {
                    let node =
                        self.version.module.nodes.text(node).ok_or_else(|| format!("{kind} without its node"))?;
                    let numbers = numbers(node).ok_or_else(|| format!("`{kind}` of {node}"))?;
                    match kind.as_str() {
                        "!align" => facts::misaligned(self.s, bits, numbers.first().map_or(1, |n| *n as u64)),
                        _ => facts::outside(self.s, bits, &numbers).ok_or_else(|| format!("`!range` of {node}"))?,
                    }
                }
                _ => Expr::FALSE,
            });
        }
        Ok(self.s.or(&broken))
    }

    /// What is said of the arguments of an intrinsic that only computes.
    pub(super) fn arguments(&mut self, i: &Instruction, at: usize) -> Terms<()> {
        let Shape::Call { args, promises, .. } = &i.shape else { return Ok(()) };
        for (arg, said) in args.iter().zip(promises) {
            if has(said, "noundef") {
                let value = self.settled(arg, at)?;
                self.undefined(at, value.poison);
            }
            if let Some(other) =
                essence(AnnotationTarget::Parameter, said).iter().find(|a| !["noundef", "immarg"].contains(&a.as_str()))
            {
                return Err(format!("an intrinsic with `{other}`").into());
            }
        }
        Ok(())
    }
}
