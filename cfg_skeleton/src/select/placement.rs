//! The program that passes over a selection change: which definitions there are, where they stand, and what uses them.
//!
//! [`Placement::settle`] gives each use the nearest definition above it, as a [`Selection`](super::Selection) means it,
//! and leaves out what is not needed. Between two of these, a pass moves definitions and puts others in their place,
//! and only what that touches is updated: a use stays with its definition wherever the two go.
//!
//! **Invariant**: a definition takes its operands iff it is used itself. One that is not used any more stands where it
//! stood until the next `settle`, and may be used again.

mod settle;

use super::choices::{AltId, Choices, Demand};
use super::cost::CostAndSize;
use super::draft::{Chosen, Draft};
use super::selection::{Def, StatementChoice};
use super::standing::Standing;
use crate::egraph::ClassId;
use crate::skeleton::{SegmentId, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A definition in its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct PlacedId(u32);

impl PlacedId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What uses a definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// A statement or a terminator, in this segment.
    Root(SegmentId),
    /// A node, in its own segment.
    Operand(PlacedId),
    /// A parameter or a statement's result, in this segment.
    Argument(PlacedId, SegmentId),
}

impl Use {
    fn user(self) -> Option<PlacedId> {
        match self {
            Use::Root(_) => None,
            Use::Operand(user) | Use::Argument(user, _) => Some(user),
        }
    }
}

/// A definition in its place.
#[derive(Clone, Debug)]
struct Placed {
    alt: AltId,
    at: SegmentId,
    /// It is meant to stand below another definition of its class.
    again: bool,
    /// What it takes.
    needs: SmallVec<[PlacedId; 3]>,
    uses: SmallVec<[Use; 2]>,
}

/// Definitions in their places, and what becomes of statements.
#[derive(Clone)]
pub(crate) struct Placement<'c, 'a> {
    choices: &'c Choices<'a>,
    placed: Vec<Placed>,
    of_class: FxHashMap<ClassId, Standing<PlacedId>>,
    /// By site.
    statements: Vec<StatementChoice>,
    /// Of what was used when it was last settled.
    cost: CostAndSize,
}

impl<'c, 'a> Placement<'c, 'a> {
    /// Without definitions and statements.
    pub(crate) fn empty(choices: &'c Choices<'a>) -> Self {
        Placement {
            choices,
            placed: vec![],
            of_class: FxHashMap::default(),
            statements: vec![],
            cost: CostAndSize::default(),
        }
    }

    pub(crate) fn new(choices: &'c Choices<'a>, draft: Draft) -> Self {
        let Draft { chosen, statements } = draft;
        let mut placement = Placement { statements, ..Placement::empty(choices) };
        for ((at, _), alt) in chosen {
            placement.define(alt, at);
        }
        placement.settle();
        placement
    }

    /// Changes the program, and takes that back if it costs more then, or if a statement that moves would be executed more
    /// often than the original executes it.
    pub(crate) fn attempt(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.clone();
        change(self);
        self.settle();
        if self.cost() > before.cost() || self.repeats() {
            *self = before;
        }
    }

    /// Are there paths on which a statement that moves is executed more often than in the original?
    pub(crate) fn repeats(&self) -> bool {
        let mut places: BTreeMap<SiteId, Vec<SegmentId>> = BTreeMap::new();
        for id in self.used() {
            if let Some(site) = self.choices.moved(self.alt(id)) {
                places.entry(site).or_default().push(self.at(id));
            }
        }
        places.iter().any(|(site, places)| self.choices.moves.meet(self.choices.tree, *site, places))
    }

    /// What it costs, as it was last settled.
    pub(crate) fn cost(&self) -> u64 {
        self.cost.cost
    }

    /// The same, with the size.
    pub(crate) fn cost_and_size(&self) -> CostAndSize {
        self.cost
    }

    /// The program without what uses what.
    pub(crate) fn draft(&self) -> Draft {
        let chosen: Chosen = self.used().map(|id| ((self.at(id), self.class(id)), self.alt(id))).collect();
        Draft { chosen, statements: self.statements.clone() }
    }

    /// The definitions, as a selection has them.
    pub(crate) fn defs(&self) -> BTreeMap<(SegmentId, ClassId), Def> {
        self.used().map(|id| ((self.at(id), self.class(id)), self.def(id))).collect()
    }

    /// By site: what becomes of the statement.
    pub(crate) fn statements(&self) -> &[StatementChoice] {
        &self.statements
    }

    /// All definitions that are used.
    pub(crate) fn used(&self) -> impl Iterator<Item = PlacedId> + '_ {
        let ids = (0..self.placed.len() as u32).map(PlacedId);
        ids.filter(|id| !self.placed[id.index()].uses.is_empty())
    }

    pub(crate) fn alt(&self, id: PlacedId) -> AltId {
        self.placed[id.index()].alt
    }

    pub(crate) fn at(&self, id: PlacedId) -> SegmentId {
        self.placed[id.index()].at
    }

    pub(crate) fn class(&self, id: PlacedId) -> ClassId {
        self.choices.alt(self.alt(id)).class
    }

    pub(crate) fn def(&self, id: PlacedId) -> Def {
        self.choices.alt(self.alt(id)).def
    }

    /// What a definition that is used takes.
    pub(crate) fn needs(&self, id: PlacedId) -> &[PlacedId] {
        &self.placed[id.index()].needs
    }

    /// The segments in which a definition is used; one in which it is used twice comes twice.
    pub(crate) fn uses(&self, id: PlacedId) -> impl Iterator<Item = SegmentId> + '_ {
        self.placed[id.index()].uses.iter().map(|used| self.segment(*used))
    }

    /// The definition of a class that stands in exactly that segment.
    pub(crate) fn standing(&self, class: ClassId, at: SegmentId) -> Option<PlacedId> {
        self.of_class.get(&class)?.at(self.choices.tree, at)
    }

    /// The definition of a class that a use in a segment takes.
    pub(crate) fn nearest(&self, class: ClassId, at: SegmentId) -> Option<PlacedId> {
        Some(self.of_class.get(&class)?.nearest(self.choices.tree, at)?.1)
    }

    /// Puts a definition into a segment, where nothing defines its class. It takes no uses from others before the next
    /// `settle`.
    pub(crate) fn define(&mut self, alt: AltId, at: SegmentId) -> PlacedId {
        let id = PlacedId(self.placed.len() as u32);
        self.placed.push(Placed { alt, at, again: false, needs: SmallVec::new(), uses: SmallVec::new() });
        self.of_class.entry(self.class(id)).or_default().insert(self.choices.tree, at, id);
        id
    }

    /// Puts a definition into a segment that another one of its class dominates: what uses the class in what this one
    /// dominates is to take it from here.
    pub(crate) fn define_again(&mut self, alt: AltId, at: SegmentId) {
        let id = self.define(alt, at);
        self.placed[id.index()].again = true;
    }

    /// Moves a definition, with its uses. One of its class that stands there already gives its uses to it, and goes
    /// with the next `settle`.
    pub(crate) fn put(&mut self, id: PlacedId, at: SegmentId) {
        let (class, from, tree) = (self.class(id), self.at(id), self.choices.tree);
        let own = self.standing(class, from) == Some(id);
        if own && at == from {
            return;
        }
        let standing = self.of_class.entry(class).or_default();
        if own {
            standing.remove(tree, from);
        }
        let other = standing.insert(tree, at, id);
        self.placed[id.index()].at = at;
        if let Some(other) = other {
            let uses = std::mem::take(&mut self.placed[other.index()].uses);
            self.redirect(&uses, other, id);
            self.placed[id.index()].uses.extend(uses);
        }
    }

    /// Moves a definition to several segments, which dominate its uses: each of these goes to one that dominates it.
    /// Segments below another one of them, or without uses of the definition, are left out.
    pub(crate) fn spread(&mut self, id: PlacedId, mut places: Vec<SegmentId>) {
        let tree = self.choices.tree;
        tree.minimal(&mut places);
        let whole = self.placed[id.index()].clone();
        let mut rest = std::mem::take(&mut self.placed[id.index()].uses);
        let mut parts = 0;
        for at in places {
            let is_below = |used: &Use| tree.dominates(at, self.segment(*used));
            let (here, others): (Vec<Use>, Vec<Use>) = rest.into_iter().partition(is_below);
            rest = others.into();
            if here.is_empty() {
                continue;
            }
            let part = if parts == 0 { id } else { self.copy(&whole) };
            self.redirect(&here, id, part);
            self.placed[part.index()].uses = here.into();
            self.put(part, at);
            parts += 1;
        }
        self.placed[id.index()].uses.extend(rest);
    }

    /// A definition like another one, without uses, which stands nowhere yet.
    fn copy(&mut self, whole: &Placed) -> PlacedId {
        let part = PlacedId(self.placed.len() as u32);
        self.placed.push(Placed { uses: SmallVec::new(), ..whole.clone() });
        for need in &whole.needs {
            self.placed[need.index()].uses.push(Use::Operand(part));
        }
        part
    }

    /// Has users take another definition.
    fn redirect(&mut self, uses: &[Use], from: PlacedId, to: PlacedId) {
        for user in uses.iter().filter_map(|used| used.user()) {
            let needs = &mut self.placed[user.index()].needs;
            if let Some(need) = needs.iter_mut().find(|need| **need == from) {
                *need = to;
            }
        }
    }

    /// Puts an alternative in the place of a definition, or further down where all its uses have it. Definitions that
    /// the alternative takes are there.
    pub(crate) fn replace(&mut self, id: PlacedId, alt: AltId, at: SegmentId) {
        self.placed[id.index()].alt = alt;
        self.put(id, at);
        if self.placed[id.index()].uses.is_empty() {
            return;
        }
        let before = std::mem::take(&mut self.placed[id.index()].needs);
        self.link(self.demands(id).collect());
        self.unlink(id, before);
    }

    fn segment(&self, used: Use) -> SegmentId {
        match used {
            Use::Root(at) | Use::Argument(_, at) => at,
            Use::Operand(user) => self.at(user),
        }
    }

    /// What a definition takes, where.
    fn demands(&self, id: PlacedId) -> impl Iterator<Item = (Demand, Use)> + use<> {
        let segment = self.at(id);
        let operands = match self.def(id) {
            Def::Node(_) => self.choices.alt(self.alt(id)).children.clone(),
            // Statements need these.
            Def::Result { .. } | Def::Param { .. } | Def::Recurrence(_) => SmallVec::new(),
        };
        let arguments = self.choices.arguments(self.def(id)).into_iter();
        let arguments = arguments.map(move |demand| (demand, Use::Argument(id, demand.segment)));
        operands.into_iter().map(move |class| (Demand { segment, class }, Use::Operand(id))).chain(arguments)
    }

    /// Gives uses the nearest definitions; one that was not used before comes with what it takes.
    fn link(&mut self, mut work: Vec<(Demand, Use)>) {
        while let Some((demand, used)) = work.pop() {
            let Some(id) = self.nearest(demand.class, demand.segment) else { continue };
            if let Some(user) = used.user() {
                self.placed[user.index()].needs.push(id);
            }
            let uses = &mut self.placed[id.index()].uses;
            uses.push(used);
            if uses.len() == 1 {
                work.extend(self.demands(id));
            }
        }
    }

    /// Takes the uses back that a definition makes of others, and so on from those that are not used any more then.
    fn unlink(&mut self, id: PlacedId, needs: SmallVec<[PlacedId; 3]>) {
        let mut work: Vec<(PlacedId, PlacedId)> = needs.into_iter().map(|need| (id, need)).collect();
        let mut left = vec![];
        while let Some((user, need)) = work.pop() {
            let uses = &mut self.placed[need.index()].uses;
            if let Some(n) = uses.iter().position(|used| used.user() == Some(user)) {
                uses.remove(n);
            }
            if uses.is_empty() {
                let needs = std::mem::take(&mut self.placed[need.index()].needs);
                work.extend(needs.into_iter().map(|next| (need, next)));
            } else {
                left.push(need);
            }
        }
        if left.into_iter().any(|id| !self.is_rooted(id)) {
            self.relink();
        }
    }

    /// Does a statement or a terminator use it in the end? A value that a loop passes on may be used by itself alone.
    fn is_rooted(&self, id: PlacedId) -> bool {
        let mut seen: FxHashSet<PlacedId> = FxHashSet::default();
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            for used in &self.placed[id.index()].uses {
                match used.user() {
                    Some(user) => work.push(user),
                    None => return true,
                }
            }
        }
        self.placed[id.index()].uses.is_empty()
    }
}
