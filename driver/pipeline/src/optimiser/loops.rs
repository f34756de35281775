//! A report on a function's loops: what was recognised, what was made of them, and why not more.

use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::egraph::{ClassId, Head};
use rewright_cfg_skeleton::elaborate::Made;
use rewright_cfg_skeleton::ir::{BlockId, Cfg, Function};
use rewright_cfg_skeleton::skeleton::{Obstacle, SimpleLoop};
use rewright_typeprop::OpId;
use rewright_typeprop::ops::LoopRole;
use std::collections::BTreeMap;

/// By header of the original: what became of a loop that rules may speak of.
pub(super) type LoopFates = BTreeMap<BlockId, LoopFate>;

/// What became of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LoopFate {
    /// The program goes past it, or past a loop around it.
    Gone,
    /// It must stay.
    Kept(Obstacle),
    /// It could go, but what it leaves behind has no other form.
    Needed,
    /// It could go, but what it leaves behind costs more in other forms.
    Cheaper,
}

/// The report on a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopRemark {
    /// How many loops are around it, and itself.
    pub depth: u32,
    /// What it carries, by name and how often: operations that are recurrences; `other` for the rest.
    pub carries: Vec<(String, usize)>,
    /// What decides whether it goes on, where it is sure to end.
    pub test: Option<LoopTest>,
    /// New parameters, by operation and how many.
    pub new: Vec<(String, usize)>,
    /// Is it gone?
    pub gone: bool,
    /// Why it is not gone, or why nothing was recognised; none where it is.
    pub because: Option<&'static str>,
}

/// What decides whether a loop goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoopTest {
    /// It goes on this many times each time that it is entered.
    Times(i64),
    /// While an operation, by name, is not zero.
    While(String),
    /// While its counter is not zero.
    Counter,
    /// It is unknown, but the original is undefined if it goes on for ever.
    MustEnd,
}

/// How many loops a function has.
pub(super) fn count(function: &Function) -> usize {
    Cfg::new(function).loop_count()
}

impl LoopRemark {
    /// The original goes out after all.
    pub(super) fn take_back(&mut self) {
        self.new.clear();
        if std::mem::take(&mut self.gone) {
            self.because = Some("nothing cheaper was found");
        }
    }
}

/// New parameters of loops in a program that was chosen: the header in the original, and the operation.
pub(super) fn carried(given: Saturated, made: &[Option<Made>], function: &Function) -> Vec<(BlockId, OpId)> {
    let params = function.layout.iter().flat_map(|block| &function.block(*block).params);
    let new = params.filter_map(|param| {
        let made = made.get(param.index()).copied().flatten()?;
        let node = given.view.node(made.node?);
        let Head::Op(op) = node.head else { return None };
        given.universe.ops.get(op).recurrence()?;
        let of =
            given.skeleton.loops.iter().find(|l| node.children.first() == Some(&given.view.class_of(l.constant)))?;
        // One that takes the place of a parameter of the original is not new.
        let mut old = given.skeleton.blocks[of.header.index()].params.iter();
        let is_new = old.all(|param| given.view.class_of(*param) != made.class);
        is_new.then_some((of.header, op))
    });
    new.collect()
}

/// A remark for each loop, outer before inner ones; none where no pack speaks of loops.
pub(super) fn remarks(given: Saturated, fates: &LoopFates, new: &[(BlockId, OpId)]) -> Vec<LoopRemark> {
    let Saturated { cfg, universe, skeleton, .. } = given;
    if universe.ops.iter().all(|(_, op)| op.in_loop != Some(LoopRole::Theta)) {
        return vec![];
    }
    let remark = |header: BlockId, depth: u32| {
        let Some(l) = skeleton.loops.iter().find(|l| l.header == header) else {
            let because = Some("several edges enter or close it, or an opaque instruction does");
            return LoopRemark { depth, carries: vec![], test: None, new: vec![], gone: false, because };
        };
        let fate = fates.get(&header).copied();
        let named = |(_, op): &(BlockId, OpId)| universe.ops.get(*op).name.clone();
        LoopRemark {
            depth,
            carries: counted(carries(given, l)),
            test: test(given, l),
            new: counted(new.iter().filter(|(of, _)| *of == header).map(named)),
            gone: fate == Some(LoopFate::Gone),
            because: fate.and_then(because),
        }
    };
    cfg.loops().map(|(_, l)| remark(l.header, l.depth)).collect()
}

fn because(fate: LoopFate) -> Option<&'static str> {
    Some(match fate {
        LoopFate::Gone => return None,
        LoopFate::Kept(Obstacle::Effect) => "it has effects, or may trap",
        LoopFate::Kept(Obstacle::MayNotEnd) => "it, or a loop in it, is not known to end",
        LoopFate::Kept(Obstacle::Exits(0)) => "it has no exit",
        LoopFate::Kept(Obstacle::Exits(_)) => "it has several exits",
        LoopFate::Kept(Obstacle::Writes) => "it writes memory, and no rule can say what it leaves behind there",
        LoopFate::Kept(Obstacle::Shape) => "another way leads to where it exits",
        LoopFate::Needed => "what it leaves behind has no other form",
        LoopFate::Cheaper => "what it leaves behind costs more in other forms",
    })
}

/// What each parameter of a loop's header was recognised as.
fn carries<'a>(given: Saturated<'a>, l: &SimpleLoop) -> impl Iterator<Item = String> + use<'a> {
    let of = given.view.class_of(l.constant);
    let params = given.skeleton.blocks[l.header.index()].params.iter().map(move |param| given.view.class_of(*param));
    params.map(move |class| {
        let op = operations(given, class)
            .find(|(op, children)| children.first() == Some(&of) && given.universe.ops.get(*op).recurrence().is_some());
        op.map_or_else(|| "other".to_string(), |(op, _)| given.universe.ops.get(op).name.clone())
    })
}

fn operations<'a>(given: Saturated<'a>, class: ClassId) -> impl Iterator<Item = (OpId, &'a [ClassId])> {
    given.view.class(class).nodes.iter().filter_map(move |id| {
        let node = given.view.node(*id);
        if let Head::Op(op) = node.head { Some((op, &node.children[..])) } else { None }
    })
}

fn test(given: Saturated, l: &SimpleLoop) -> Option<LoopTest> {
    let Some(stays) = l.stays else {
        return given.function.block(l.header).must_progress.then_some(LoopTest::MustEnd);
    };
    let nodes = &given.skeleton.input.nodes;
    if let Some(Head::Const(n)) = stays.trips.map(|trips| nodes[trips.index()].head) {
        return Some(LoopTest::Times(n));
    }
    Some(match nodes[stays.test.index()].head {
        Head::Op(op) if given.universe.ops.get(op).model.is_some_and(|model| model.is_comparison()) => {
            LoopTest::While(given.universe.ops.get(op).name.clone())
        }
        _ => LoopTest::Counter,
    })
}

/// Names with how often they occur.
fn counted(names: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts.into_iter().collect()
}
