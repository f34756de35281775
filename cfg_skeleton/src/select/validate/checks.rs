//! Are dropped checks covered, and are nodes that may trap computed only where they cannot?
//!
//! Everything is asked of statements: *does this one, having been passed, prove that the other does not trap?*

use super::{Validator, Violation};
use crate::egraph::{ClassId, EGraphView, Head, Node};
use crate::select::Def;
use crate::skeleton::{CheckKey, SegmentId, SiteId, StatementKind};
use rewright_typeprop::eval::{evaluate, literal};
use rewright_typeprop::{Evaluation, Model, Repr, Term, Ty, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// What passing a statement proves.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    /// The class is zero, or what it is the truth of.
    Zero(ClassId),
    /// This many bits can be accessed at an address and an offset, until a statement may free memory.
    Bits(ClassId, i64, u32),
    /// An operation without its state does not trap: the head, the type arguments, the operands.
    Runs(Head, Vec<Ty>, Vec<ClassId>),
}

/// Where a fact holds, and whether for writing.
pub(super) type Places = FxHashMap<Fact, Vec<(SegmentId, bool)>>;

/// By class of integers: the class of its truth, where some node says it.
pub(super) fn truths(view: &EGraphView, universe: &Universe) -> FxHashMap<ClassId, ClassId> {
    let mut truths = FxHashMap::default();
    for (node, class) in view.nodes.iter().zip(&view.node_class) {
        if let (Head::Op(op), [x]) = (node.head, &node.children[..])
            && universe.ops.get(op).model == Some(Model::Truth)
        {
            truths.insert(*x, *class);
        }
    }
    truths
}

impl Validator<'_> {
    /// That a class is zero. Two that have one truth are zero together.
    fn zero(&self, class: ClassId) -> Fact {
        Fact::Zero(self.truths.get(&class).copied().unwrap_or(class))
    }

    /// The fact that executing a node proves.
    pub(super) fn runs(&self, node: &Node<ClassId>) -> Option<Fact> {
        let Head::Op(op) = node.head else { return None };
        let (operands, _) = self.split(node);
        let access = self.universe.ops.get(op).model.and_then(|model| model.memory());
        if let Some(access) = access {
            let width = node.types.first().and_then(|ty| self.universe.types.repr(*ty)).map(Repr::total_bits);
            if let Some(bits) = access.bits.or(width) {
                match (access.store, operands) {
                    (true, [p, _, o]) | (false, [p, o]) => {
                        let (base, offset) = self.address(*p, self.view.class(*o).constant?);
                        return Some(Fact::Bits(base, offset, bits));
                    }
                    _ => {}
                }
            }
        }
        Some(Fact::Runs(node.head, node.types.to_vec(), operands.to_vec()))
    }

    /// What a statement checks, and under which trap code.
    fn checks(&self, site: SiteId) -> Option<(Fact, Option<u32>)> {
        match &self.skeleton.statement(site).kind {
            StatementKind::Opaque { .. } | StatementKind::Call { .. } => None,
            StatementKind::Check { key: CheckKey::Condition { condition, code, .. }, .. } => {
                Some((self.zero(self.class_of(*condition)), Some(*code)))
            }
            StatementKind::Check { key: CheckKey::Operation { code }, value, .. } => {
                Some((self.runs(&self.original((*value)?))?, *code))
            }
            StatementKind::Write { out, trap, .. } => Some((self.runs(&self.original(*out))?, *trap)),
        }
    }

    /// The front end says that it never traps.
    pub(super) fn said(&self, site: SiteId) -> bool {
        match &self.skeleton.statement(site).kind {
            StatementKind::Write { trap, .. } => trap.is_none(),
            StatementKind::Check { observes, .. } => !observes,
            StatementKind::Opaque { .. } | StatementKind::Call { .. } => false,
        }
    }

    /// Collects what the statements that are executed prove, and what the front end says.
    pub(super) fn facts(&mut self) {
        for site in self.flow.sites(self.skeleton) {
            let write = matches!(self.skeleton.statement(site).kind, StatementKind::Write { .. });
            if (self.executed(site) || self.said(site) || self.performed(site))
                && let Some((fact, _)) = self.checks(site)
            {
                self.places.entry(fact).or_default().push((self.skeleton.segment_after(site), write));
            }
        }
    }

    pub(super) fn may_trap(&self, site: SiteId) -> bool {
        let Some((fact, Some(_))) = self.checks(site) else { return false };
        !self.proved(&fact, self.skeleton.segment_before(site), true)
    }

    pub(super) fn same_check(&self, a: SiteId, b: SiteId) -> bool {
        let (a, b) = (self.checks(a), self.checks(b));
        a.is_some() && a == b
    }

    pub(super) fn traps(&mut self) {
        for site in self.flow.sites(self.skeleton) {
            if !self.executed(site) && !self.covered(site) {
                self.found.push(Violation::Uncovered(site));
            }
        }
        let mut free: FxHashSet<Fact> = FxHashSet::default();
        for input in &self.skeleton.movable {
            free.extend(self.runs(&self.original(*input)));
        }
        let needs_nodes = self.view.nodes.iter().any(|n| self.has_conditions(n));
        let mut classes: FxHashMap<&Node<ClassId>, ClassId> = FxHashMap::default();
        if needs_nodes {
            classes.extend(self.view.nodes.iter().zip(self.view.node_class.iter().copied()));
        }
        let mut unlicensed = vec![];
        for ((at, class), def) in &self.selection.defs {
            if let Def::Node(id) = def
                && let Some(node) = self.view.nodes.get(id.index())
                && !self.is_written_at(*class)
                && !self.allowed(node, *at, &free, &classes)
            {
                unlicensed.push(Violation::Unlicensed(*at, *class));
            }
        }
        self.found.extend(unlicensed);
    }

    fn has_conditions(&self, node: &Node<ClassId>) -> bool {
        matches!(node.head, Head::Op(op) if self.universe.ops.get(op).checks.iter().any(|c| c.condition.is_some()))
    }

    fn proved(&self, fact: &Fact, at: SegmentId, write: bool) -> bool {
        let places = self.places.get(fact).into_iter().flatten();
        let access = match fact {
            Fact::Bits(..) => true,
            Fact::Runs(Head::Op(op), ..) => self.universe.ops.get(*op).is_access(),
            Fact::Zero(_) | Fact::Runs(..) => false,
        };
        let holds =
            |from: SegmentId| self.flow.dominates(from, at) && (!access || self.skeleton.stays_accessible(from, at));
        places.into_iter().any(|(from, w)| (*w || !write) && holds(*from))
    }

    /// May the check of a statement that is not executed be missing?
    fn covered(&self, site: SiteId) -> bool {
        let before = self.skeleton.segment_before(site);
        if self.said(site) {
            return true;
        }
        let next_is_equal = || self.next_executed(site, |next| self.same_check(site, next));
        match &self.skeleton.statement(site).kind {
            // Reported as a pinned statement, or as one that nothing licenses to go.
            StatementKind::Opaque { .. } | StatementKind::Call { .. } => true,
            StatementKind::Write { out, region, .. } => {
                let Some((fact, _)) = self.checks(site) else { return false };
                let now = self.planned.get(region.index()).map(|row| row[before.index()]);
                let changes = now != Some(self.class_of(*out));
                self.proved(&fact, before, changes) || next_is_equal()
            }
            StatementKind::Check { key, .. } => {
                let never = matches!(key, CheckKey::Condition { condition, .. }
                    if self.view.class(self.class_of(*condition)).constant == Some(0));
                let proved = |(fact, _): (Fact, Option<u32>)| self.proved(&fact, before, false);
                never || self.checks(site).is_some_and(proved) || self.performed(site) || next_is_equal()
            }
        }
    }

    /// An earlier check of the same instruction is executed as the instruction itself, and that checks all.
    fn performed(&self, site: SiteId) -> bool {
        let statement = self.skeleton.statement(site);
        let first = self.skeleton.blocks[statement.block.index()].first_site;
        let same = |s: &u32| self.skeleton.statements[*s as usize].inst == statement.inst;
        (first..site.0).rev().take_while(same).any(|s| self.fused(SiteId(s)))
    }

    fn allowed(
        &self,
        node: &Node<ClassId>,
        at: SegmentId,
        free: &FxHashSet<Fact>,
        classes: &FxHashMap<&Node<ClassId>, ClassId>,
    ) -> bool {
        let Head::Op(op) = node.head else { return true };
        let op = self.universe.ops.get(op);
        if !op.effects.traps {
            return true;
        }
        let Some(own) = self.runs(node) else { return false };
        if free.contains(&own) {
            return true;
        }
        if op.checks.is_empty() {
            return self.proved(&own, at, false);
        }
        op.checks.iter().all(|check| {
            let condition = check.condition.as_ref().and_then(|c| self.value(c, node, classes, 0));
            match condition {
                None => self.proved(&own, at, false),
                Some(Ok(constant)) => constant == 0,
                Some(Err(class)) => self.proved(&self.zero(class), at, false),
            }
        })
    }

    /// A condition's constant value, or its class.
    fn value(
        &self,
        term: &Term,
        node: &Node<ClassId>,
        classes: &FxHashMap<&Node<ClassId>, ClassId>,
        depth: u32,
    ) -> Option<Result<i64, ClassId>> {
        let types = &self.universe.types;
        let of_class = |class: ClassId| self.view.class(class).constant.ok_or(class);
        match term {
            _ if depth > 64 => None,
            Term::Var(n) => self.split(node).0.get(*n as usize).map(|class| of_class(*class)),
            Term::Lit(lit, ty) => literal(lit, types.scalar(types.find_instance(ty, &node.types)?)?).map(Ok),
            Term::Eval(term) => self.value(term, node, classes, depth + 1),
            Term::Call { state: Some(_), .. } => None,
            Term::Call { op, targs, args, state: None } => {
                let targs: Vec<Ty> =
                    targs.iter().map(|t| types.find_instance(t, &node.types)).collect::<Option<_>>()?;
                let mut values = vec![];
                for arg in args {
                    values.push(self.value(arg, node, classes, depth + 1)?);
                }
                if let Ok(constants) = values.iter().copied().collect::<Result<Vec<i64>, ClassId>>()
                    && let Evaluation::Value(n) = evaluate(self.universe, *op, &targs, &constants)
                {
                    return Some(Ok(n));
                }
                let mut call = Node { head: Head::Op(*op), types: targs.as_slice().into(), children: SmallVec::new() };
                for (value, param) in values.iter().zip(&self.universe.ops.get(*op).params) {
                    let class = match value {
                        Err(class) => *class,
                        Ok(n) => {
                            let ty = types.find_instance(&param.ty, &targs)?;
                            let constant =
                                Node { head: Head::Const(*n), types: [ty][..].into(), children: SmallVec::new() };
                            *classes.get(&constant)?
                        }
                    };
                    call.children.push(class);
                }
                classes.get(&call).map(|class| of_class(*class))
            }
        }
    }
}
