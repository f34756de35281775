//! Statements at sites as something to choose: which node is executed there, and whether any is.
//!
//! Each site of a [`StatementKind::Call`] has a class of its own beside those of the view: *what is executed there*.
//! Its alternatives are the nodes of the statement's class that stand at this site; they can be computed in the
//! segment before the statement and nowhere else, since only there the site's state is live. A statement that must
//! stay demands that class; the result of one that may go demands it wherever it is wanted.

use crate::egraph::{ClassId, EGraphView};
use crate::ir::{BlockId, Cfg};
use crate::skeleton::{SiteId, Skeleton, StatementKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The class of what is executed at a site.
pub(crate) fn executed(view: &EGraphView, site: SiteId) -> ClassId {
    ClassId((view.classes.len() + site.index()) as u32)
}

/// Which statements may go, and which only together.
pub(crate) struct Licences {
    /// By site: nothing where it must stay; else those that are executed if it is.
    companions: Vec<Option<Vec<SiteId>>>,
}

impl Licences {
    /// A statement that only allocates goes by itself. All others that one match of a rule lets go, go together:
    /// `unlock(lock(m)) => m` must not leave a lock. For that, they must be executed together in the first place.
    pub(crate) fn new(skeleton: &Skeleton, view: &EGraphView, cfg: &Cfg) -> Self {
        let mut companions: Vec<Option<Vec<SiteId>>> = vec![None; skeleton.statements.len()];
        let mut sites: FxHashMap<ClassId, (SiteId, bool)> = FxHashMap::default();
        for (i, statement) in skeleton.statements.iter().enumerate() {
            if let StatementKind::Call { site, observes, writes, .. } = &statement.kind {
                sites.insert(view.class_of(*site), (SiteId(i as u32), !observes && !writes));
            }
        }
        let mut matches: BTreeMap<(ClassId, u32), Vec<SiteId>> = BTreeMap::new();
        for licence in &view.licences {
            match sites.get(&licence.site) {
                Some((site, true)) => drop(companions[site.index()].get_or_insert_default()),
                Some((site, false)) => matches.entry((licence.root, licence.rule)).or_default().push(*site),
                None => {}
            }
        }
        for ((root, _), members) in &matches {
            let Some((root, _)) = sites.get(root) else { continue };
            if members.iter().all(|site| together(skeleton, cfg, *site, *root)) {
                for site in members {
                    let others = companions[site.index()].get_or_insert_default();
                    others.extend(members.iter().filter(|other| *other != site));
                }
            }
        }
        // Whoever is executed with one that is executed with it is, too.
        let mut licences = Licences { companions };
        for site in 0..licences.companions.len() {
            let mut all = licences.of(SiteId(site as u32)).to_vec();
            let mut next = 0;
            while let Some(other) = all.get(next).copied() {
                next += 1;
                let more = licences.of(other).iter().filter(|s| s.index() != site && !all.contains(s));
                let more: Vec<SiteId> = more.copied().collect();
                all.extend(more);
            }
            all.sort();
            all.dedup();
            if let Some(own) = &mut licences.companions[site] {
                *own = all;
            }
        }
        licences
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

/// Is the second statement executed exactly when the first one is?
fn together(skeleton: &Skeleton, cfg: &Cfg, site: SiteId, root: SiteId) -> bool {
    let (a, b) = (skeleton.statement(site).block, skeleton.statement(root).block);
    site == root || if a == b { site < root } else { leads_to(skeleton, cfg, a, b) }
}

/// Is `to` executed once whenever `from` is, and never otherwise? Asked of straight lines only; what lies around a
/// branch is refused.
fn leads_to(skeleton: &Skeleton, cfg: &Cfg, from: BlockId, to: BlockId) -> bool {
    let mut at = from;
    for _ in 0..skeleton.blocks.len() {
        let [edge] = &skeleton.blocks[at.index()].edges[..] else { return false };
        if cfg.predecessors(edge.target).len() != 1 {
            return false;
        }
        at = edge.target;
        if at == to {
            return true;
        }
    }
    false
}
