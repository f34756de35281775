//! Statements at sites as something to choose: which node is executed there, and whether any is.
//!
//! Each site of a [`StatementKind::Call`] has a class of its own beside those of the view: *what is executed there*.
//! Its alternatives are the nodes of the statement's class that stand at this site; they can be computed in the
//! segment before the statement and nowhere else, since only there the site's state is live. A statement that must
//! stay demands that class; the result of one that may go demands it wherever it is wanted. Statements that move
//! ([`super::moves`]) have no place of their own, and so no such class.

use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, Head, Node};
use crate::ir::BlockId;
use crate::skeleton::{CheckKey, SiteId, Skeleton, StatementKind};
use rewright_typeprop::{OpId, RuleId, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The class of what is executed at a site.
pub(crate) fn executed(view: &EGraphView, site: SiteId) -> ClassId {
    ClassId((view.classes.len() + site.index()) as u32)
}

/// The site at which a class is executed, if it is such a class.
pub(crate) fn executed_at(view: &EGraphView, class: ClassId) -> Option<SiteId> {
    class.index().checked_sub(view.classes.len()).map(|site| SiteId(site as u32))
}

/// Which statements may go, and which only together.
pub(crate) struct RemovalGroups {
    /// By site: nothing where it must stay; else those that are executed if it is.
    companions: Vec<Option<Vec<SiteId>>>,
}

impl RemovalGroups {
    /// A statement that only allocates goes wherever its result is unused. All others that one match of a rule lets go,
    /// go together: `unlock(lock(m)) => m` must not leave a lock. For that, they must be executed together in the first
    /// place.
    pub(crate) fn new(given: Saturated) -> Self {
        let Saturated { skeleton, view, .. } = given;
        let mut companions: Vec<Option<Vec<SiteId>>> = vec![None; skeleton.statements.len()];
        let mut sites: FxHashMap<ClassId, (SiteId, bool)> = FxHashMap::default();
        for (i, statement) in skeleton.statements.iter().enumerate() {
            if let StatementKind::Call { site, observes, writes, .. } = &statement.kind {
                let only_allocates = !observes && !writes;
                companions[i] = only_allocates.then(Vec::new);
                sites.insert(view.class_of(*site), (SiteId(i as u32), only_allocates));
            }
        }
        let mut matches: BTreeMap<(ClassId, RuleId), Vec<SiteId>> = BTreeMap::new();
        for row in &view.removable {
            if let Some((site, false)) = sites.get(&row.site) {
                matches.entry((row.root, row.rule)).or_default().push(*site);
            }
        }
        for ((root, _), members) in &matches {
            let Some((root, _)) = sites.get(root) else { continue };
            if members.iter().all(|site| together(given, (*site, *root), members)) {
                for site in members {
                    let others = companions[site.index()].get_or_insert_default();
                    others.extend(members.iter().filter(|other| *other != site));
                }
            }
        }
        // A companion of a companion is a companion, too.
        let mut groups = RemovalGroups { companions };
        for site in 0..groups.companions.len() {
            let mut all = groups.of(SiteId(site as u32)).to_vec();
            let mut next = 0;
            while let Some(other) = all.get(next).copied() {
                next += 1;
                let more = groups.of(other).iter().filter(|s| s.index() != site && !all.contains(s));
                let more: Vec<SiteId> = more.copied().collect();
                all.extend(more);
            }
            all.sort();
            all.dedup();
            if let Some(own) = &mut groups.companions[site] {
                *own = all;
            }
        }
        groups
    }

    /// May the statement at a site go?
    pub(crate) fn may_go(&self, site: SiteId) -> bool {
        self.companions[site.index()].is_some()
    }

    /// What else is executed if the statement at this site is.
    pub(crate) fn of(&self, site: SiteId) -> &[SiteId] {
        self.companions[site.index()].as_deref().unwrap_or_default()
    }
}

/// Is a statement executed exactly when the root of a match is, once before each time? The two must be
/// *control-equivalent*: the first one dominates the second, is post-dominated by it, and lies in the same innermost
/// loop (Ferrante, Ottenstein, Warren, "The Program Dependence Graph and Its Use in Optimization", 1987: they have
/// the same control dependences). Dominance knows neither of paths that go through a loop before they get there
/// (`continue` between a lock and its unlock) nor of what ends or never ends in between, so nothing on the way may do
/// that: no back edge, and no statement that may trap or not return. Other members of the match go with the two.
fn together(given: Saturated, (site, root): (SiteId, SiteId), members: &[SiteId]) -> bool {
    let Saturated { cfg, universe, skeleton, view, .. } = given;
    let (a, b) = (skeleton.statement(site).block, skeleton.statement(root).block);
    let goes_on = |mut sites: std::ops::Range<u32>| {
        sites.all(|s| members.contains(&SiteId(s)) || goes_on(skeleton, view, universe, SiteId(s)))
    };
    if a == b {
        return site <= root && (site == root || goes_on(site.0 + 1..root.0));
    }
    let equivalent = cfg.dominates(a, b) && cfg.post_dominates(b, a) && cfg.loop_of(a) == cfg.loop_of(b);
    let sites = |block: BlockId| {
        let data = &skeleton.blocks[block.index()];
        data.first_site..data.first_site + data.sites
    };
    if !equivalent || !goes_on(site.0 + 1..sites(a).end) || !goes_on(sites(b).start..root.0) {
        return false;
    }
    let (mut work, mut seen) = (vec![a], FxHashSet::default());
    while let Some(from) = work.pop() {
        let data = &skeleton.blocks[from.index()];
        // An opaque terminator may end the function.
        if data.observes || cfg.is_irreducible(from) {
            return false;
        }
        for to in data.edges.iter().map(|edge| edge.target) {
            if cfg.is_back_edge(from, to) {
                return false;
            }
            if to != b && seen.insert(to) {
                if !goes_on(sites(to)) {
                    return false;
                }
                work.push(to);
            }
        }
    }
    true
}

/// May a node of a call's class be executed at its site, where these states are live? In the state of the original it
/// gives and leaves what the original does. In another one that has to be said of it: the state after the call, and
/// its value, are those of the node in that state.
pub(crate) fn is_right_in(given: Saturated, site: SiteId, node: &Node<ClassId>, live: &[Vec<ClassId>]) -> bool {
    let Saturated { universe, skeleton, view, .. } = given;
    let StatementKind::Call { node: original, after: Some(after), .. } = &skeleton.statement(site).kind else {
        return true;
    };
    let (row, before) = (after.region.index(), skeleton.segment_before(site));
    let Some(state) = live.get(row).map(|row| row[before.index()]) else { return false };
    let Head::Op(op) = node.head else { return false };
    state == view.class_of(skeleton.live[row][before.index()])
        || universe.ops.get(op).parts.is_some_and(|parts| {
            let mut part = node.clone();
            part.children.last_mut().into_iter().for_each(|last| *last = state);
            let mut has = |op: OpId, class: ClassId| {
                part.head = Head::Op(op);
                view.class(class).nodes.iter().any(|id| *view.node(*id) == part)
            };
            has(parts.state, view.class_of(after.out)) && has(parts.value, view.class_of(*original))
        })
}

/// Does control always come out of this statement?
fn goes_on(skeleton: &Skeleton, view: &EGraphView, universe: &Universe, site: SiteId) -> bool {
    match &skeleton.statement(site).kind {
        StatementKind::Opaque { observes, writes, .. } => !observes && !writes,
        StatementKind::Write { trap, .. } => trap.is_none(),
        StatementKind::Call { node, .. } => match skeleton.input.nodes[node.index()].head {
            Head::Op(op) => {
                let effects = &universe.ops.get(op).effects;
                !effects.traps && !effects.diverges
            }
            _ => false,
        },
        StatementKind::Check { observes: false, .. } => true,
        StatementKind::Check { key: CheckKey::Condition { condition, .. }, .. } => {
            view.class(view.class_of(*condition)).constant == Some(0)
        }
        StatementKind::Check { key: CheckKey::Operation { .. }, .. } => false,
    }
}
