//! Executes the statements that are kept, and compares states with the original program's wherever they are observed.

use super::{Validator, Violation};
use crate::egraph::{ClassId, Head, InputId};
use crate::ir::{BlockId, RegionId};
use crate::select::Def;
use crate::skeleton::{SegmentId, SiteId, StatementKind};
use rewright_typeprop::OpId;

impl Validator<'_> {
    fn was(&self, row: usize, at: SegmentId) -> ClassId {
        self.class_of(self.skeleton.live[row][at.index()])
    }

    fn token(&self, block: BlockId, row: usize) -> Option<ClassId> {
        let tokens = &self.skeleton.blocks[block.index()].tokens;
        tokens.iter().find(|(region, _)| region.index() == row).map(|(_, input)| self.class_of(*input))
    }

    pub(super) fn states(&mut self) {
        let rows = self.skeleton.live.len();
        self.planned =
            (0..rows).map(|row| self.skeleton.live[row].iter().map(|i| self.class_of(*i)).collect()).collect();
        let blocks = self.flow.reachable();
        let mut end: Vec<Option<Vec<ClassId>>> = vec![None; self.skeleton.blocks.len()];
        for block in &blocks {
            let first = SegmentId(self.skeleton.blocks[block.index()].first_segment);
            let known: Vec<BlockId> =
                self.flow.predecessors(*block).into_iter().filter(|p| end[p.index()].is_some()).collect();
            let mut now: Vec<ClassId> = (0..rows)
                .map(|row| {
                    let arrives = known.first().and_then(|p| end[p.index()].as_ref()).map(|e| e[row]);
                    self.token(*block, row).or(arrives).unwrap_or(self.was(row, first))
                })
                .collect();
            for (row, state) in now.iter().enumerate() {
                self.planned[row][first.index()] = *state;
            }
            for site in self.skeleton.sites(*block) {
                self.execute(site, &mut now);
                let after = self.skeleton.segment_after(site);
                for (row, state) in now.iter().enumerate() {
                    self.planned[row][after.index()] = *state;
                }
            }
            let last = self.skeleton.last_segment(*block);
            let data = &self.skeleton.blocks[block.index()];
            if data.observes {
                self.observe(last, &now);
                // An opaque terminator may change what it has observed.
                for (row, state) in now.iter_mut().enumerate() {
                    if let Some(input) = data.end.get(row) {
                        *state = self.view.class_of(*input);
                    }
                }
            }
            end[block.index()] = Some(now);
        }
        for block in &blocks {
            let first = SegmentId(self.skeleton.blocks[block.index()].first_segment);
            for from in self.flow.predecessors(*block) {
                let Some(arrives) = &end[from.index()] else { continue };
                for (row, arrives) in arrives.iter().enumerate() {
                    let expected = match self.token(*block, row) {
                        // The edge carries the original state to the state parameter.
                        Some(_) => self.skeleton.blocks[from.index()].end.get(row).map(|i| self.class_of(*i)),
                        None => Some(self.planned[row][first.index()]),
                    };
                    if expected != Some(*arrives) {
                        self.found.push(Violation::StatesMeet(*block, RegionId(row as u32)));
                    }
                }
            }
        }
    }

    /// Is a state that which a load reads at the end of a segment, where memory is as the original has it, or as the load
    /// sees it?
    pub(super) fn is_own_state(&self, at: SegmentId, state: ClassId, now: impl Fn(usize) -> ClassId) -> bool {
        let block = self.skeleton.segment_block[at.index()];
        if at == self.skeleton.last_segment(block) {
            return false;
        }
        match self.skeleton.statement(self.skeleton.site_after(at)).kind {
            StatementKind::Check { own: Some(own), .. } => {
                let now = now(own.region.index());
                let is_right = now == self.was(own.region.index(), at) || now == self.class_of(own.seen);
                self.class_of(own.state) == state && is_right
            }
            _ => false,
        }
    }

    /// Every region must be in its original state.
    fn observe(&mut self, at: SegmentId, now: &[ClassId]) {
        for (row, state) in now.iter().enumerate() {
            if *state != self.was(row, at) {
                self.found.push(Violation::Observed(at, RegionId(row as u32)));
            }
        }
    }

    fn execute(&mut self, site: SiteId, now: &mut [ClassId]) {
        if !self.executed(site) {
            // The readers of what a dropped statement would have left behind read what is there without it.
            let after = self.skeleton.segment_after(site);
            match &self.skeleton.statement(site).kind {
                StatementKind::Call { writes: true, after: None, .. } => {
                    for (row, state) in now.iter_mut().enumerate() {
                        *state = self.was(row, after);
                    }
                }
                // Without a rule that lets it go it has only not been executed, as a write that has not.
                StatementKind::Call { after: Some(named), .. } if self.may_go(site) => {
                    now[named.region.index()] = self.was(named.region.index(), after);
                }
                _ => {}
            }
            return;
        }
        let (before, after) = (self.skeleton.segment_before(site), self.skeleton.segment_after(site));
        match &self.skeleton.statement(site).kind {
            StatementKind::Call { node, after: Some(named), .. } => {
                let row = named.region.index();
                let others = (0..now.len()).filter(|other| *other != row);
                let seen = others.filter(|other| now[*other] != self.was(*other, before)).collect::<Vec<_>>();
                self.found.extend(seen.into_iter().map(|row| Violation::Observed(before, RegionId(row as u32))));
                let chosen = self.selection.defs.get(&(before, self.executed_class(site)));
                let is_other = chosen.is_some_and(|def| self.part_at(site, *def).is_some());
                let moved = is_other || now[row] != self.was(row, before);
                if moved && !self.is_said_in(site, *node, named.out, now[row]) {
                    self.found.push(Violation::WriteInOtherState(site));
                }
                now[row] = self.class_of(named.out);
            }
            StatementKind::Opaque { observes, writes, .. } | StatementKind::Call { observes, writes, .. } => {
                if *observes {
                    self.observe(before, now);
                }
                if *writes {
                    for (row, state) in now.iter_mut().enumerate() {
                        *state = self.was(row, after);
                    }
                }
            }
            StatementKind::Check { value, observes, .. } => {
                if *observes {
                    self.observe(before, now);
                }
                if self.fused(site)
                    && let Some(value) = value
                    && let (_, Some(state)) = self.split(&self.original(*value))
                    && !now.contains(&state)
                    && !self.is_own_state(before, state, |row| now[row])
                {
                    self.found.push(Violation::NotLive(before, self.class_of(*value)));
                }
            }
            StatementKind::Write { out, region, .. } => {
                if self.may_trap(site) && !self.stands_for_earlier(site, now) {
                    self.observe(before, now);
                }
                let class = self.class_of(*out);
                let Some(state) = now.get_mut(region.index()) else { return };
                let chosen = self.selection.defs.get(&(before, self.executed_class(site)));
                let node = chosen.and_then(|def| self.written(site, *def));
                if node.and_then(|node| self.split(node).1) != Some(*state) {
                    self.found.push(Violation::WriteInOtherState(site));
                }
                *state = class;
            }
        }
    }

    /// What is executed at the site of a call, in a state in which the original is not: do nodes say that it leaves and
    /// gives the same there?
    fn is_said_in(&self, site: SiteId, result: InputId, out: InputId, state: ClassId) -> bool {
        let at = (self.skeleton.segment_before(site), self.executed_class(site));
        let Some(Def::Node(id)) = self.selection.defs.get(&at) else { return false };
        let Some(node) = self.view.nodes.get(id.index()) else { return false };
        let Head::Op(op) = node.head else { return false };
        let Some(parts) = self.universe.ops.get(self.universe.ops.whole(op)).parts else { return false };
        let operands = self.split(node).0;
        let is_there = |part: OpId, class: ClassId| {
            self.view.class(class).nodes.iter().map(|id| self.view.node(*id)).any(|other| {
                let (ours, theirs) = self.split(other);
                other.head == Head::Op(part) && other.types == node.types && ours == operands && theirs == Some(state)
            })
        };
        is_there(parts.state, self.class_of(out)) && is_there(parts.value, self.class_of(result))
    }

    /// It is executed in place of an equal write that every way here has come by, whose states are those of now: if it
    /// traps, that one would have, and nothing has happened since.
    fn stands_for_earlier(&self, site: SiteId, now: &[ClassId]) -> bool {
        let is_such = |earlier: SiteId| {
            let before = self.skeleton.segment_before(earlier);
            matches!(self.skeleton.statement(earlier).kind, StatementKind::Write { .. })
                && self.same_check(earlier, site)
                && now.iter().enumerate().all(|(row, state)| *state == self.was(row, before))
        };
        let mut ways = vec![(self.skeleton.statement(site).block, site.0)];
        let mut steps = 4 * self.skeleton.blocks.len() + 4;
        let mut found = None;
        while let Some((block, to)) = ways.pop() {
            let data = &self.skeleton.blocks[block.index()];
            let mut rest = (data.first_site..to).rev().map(SiteId);
            match rest.find(|at| self.executed(*at) || self.said(*at) || is_such(*at)) {
                Some(at) if !self.executed(at) && is_such(at) && found.is_none_or(|other| other == at) => {
                    found = Some(at);
                    continue;
                }
                Some(_) => return false,
                None => {}
            }
            let above = self.flow.predecessors(block);
            let blocks = above.iter().map(|from| &self.skeleton.blocks[from.index()]);
            if above.is_empty() || steps < above.len() || blocks.clone().any(|from| from.observes) {
                return false;
            }
            steps -= above.len();
            ways.extend(above.iter().zip(blocks).map(|(from, data)| (*from, data.first_site + data.sites)));
        }
        found.is_some()
    }

    /// Is the next statement that is executed, whichever way control goes, such a one? Not if control may end or
    /// loop before it comes to one.
    pub(super) fn next_executed(&self, site: SiteId, is_such: impl Fn(SiteId) -> bool) -> bool {
        let mut paths = vec![(self.skeleton.statement(site).block, site.0 + 1)];
        // Paths without a cycle have this many edges at most.
        let mut steps = 4 * self.skeleton.blocks.len() + 4;
        while let Some((block, from)) = paths.pop() {
            let data = &self.skeleton.blocks[block.index()];
            let mut rest = (from..data.first_site + data.sites).map(SiteId);
            // A statement is said not to trap only where the check has been passed.
            match rest.find(|next| self.executed(*next) || self.said(*next)) {
                Some(next) if self.executed(next) && is_such(next) => continue,
                Some(_) => return false,
                None => {}
            }
            if data.observes || data.edges.is_empty() || steps < data.edges.len() {
                return false;
            }
            steps -= data.edges.len();
            paths.extend(data.edges.iter().map(|e| (e.target, self.skeleton.blocks[e.target.index()].first_site)));
        }
        true
    }
}
