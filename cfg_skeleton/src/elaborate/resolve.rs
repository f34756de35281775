//! The definition behind every use: the nearest one that dominates it, found by scope on a walk over the
//! dominator tree; and from there what is needed at all.

use super::ElaborateError;
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, Head, InputId, Node, NodeId};
use crate::ir::{BlockId, Cfg, Function, InstKind};
use crate::select::{Def, Recurrence, Selection, StatementChoice, executed, executed_at};
use crate::skeleton::{CheckKey, SegmentId, SiteId, Skeleton, SkeletonArg, StatementKind};
use rewright_typeprop::{Model, Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Where a use takes its value from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// A definition, by number.
    Def(u32),
    /// A constant that is written in place.
    Literal(Ty, i64),
    /// Nothing; an error if it turns out to be needed.
    Missing(ClassId, SegmentId),
}

/// What is emitted for a statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Emission {
    /// Nothing.
    None,
    /// The original instruction.
    Original,
    /// What is executed at the site, which is a definition right before it.
    Chosen,
    /// A bare check.
    Check {
        /// The trap code.
        code: u32,
        /// Which truth value traps.
        when: bool,
    },
}

type Uses = SmallVec<[Use; 3]>;

/// All definitions and uses.
pub(super) struct Resolution<'a> {
    universe: &'a Universe,
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    f: &'a Function,
    /// Statements at sites, by the states that stand for these.
    sites: FxHashMap<ClassId, SiteId>,
    /// Sorted by segment, then class.
    pub(super) defs: Vec<(SegmentId, ClassId, Def)>,
    /// By segment: the first of its definitions; one more at the end.
    first: Vec<u32>,
    /// By block, by parameter: the definition that chooses it.
    pub(super) params: Vec<Vec<Option<u32>>>,
    /// By definition: operands of its node.
    pub(super) uses: Vec<Uses>,
    emissions: Vec<Emission>,
    /// By site.
    pub(super) statements: Vec<Uses>,
    /// By block.
    pub(super) terminators: Vec<Uses>,
    /// By block, edge and parameter, where the parameter may be kept.
    pub(super) edges: Vec<Vec<SmallVec<[Option<Use>; 2]>>>,
    /// New parameters of headers, in the order of their definitions.
    pub(super) carried: Vec<Carried>,
}

/// A recurrence that is a new parameter of its loop's header.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    /// Its definition.
    pub(super) def: u32,
    /// What it is.
    pub(super) recurrence: Recurrence,
    /// What the edge that enters the loop brings, and what is taken at the end of an iteration; once found.
    pub(super) first: Option<Use>,
    pub(super) by: Option<Use>,
}

impl<'a> Resolution<'a> {
    pub(super) fn new(given: Saturated<'a>, selection: &Selection) -> Result<Self, ElaborateError> {
        let Saturated { function: f, cfg, universe, skeleton, view } = given;
        let defs: Vec<_> = selection.defs.iter().map(|((g, c), d)| (*g, *c, *d)).collect();
        let segments = skeleton.segment_block.len();
        let mut first = vec![0; segments + 1];
        for (segment, class, _) in &defs {
            if segment.index() >= segments || class.index() >= view.classes.len() + skeleton.statements.len() {
                return Err(ElaborateError::Malformed { class: *class, segment: *segment });
            }
            first[segment.index() + 1] += 1;
        }
        for i in 0..segments {
            first[i + 1] += first[i];
        }
        let sites = skeleton.statements.iter().enumerate().filter_map(|(n, statement)| match statement.kind {
            StatementKind::Call { site, .. } => Some((view.class_of(site), SiteId(n as u32))),
            _ => None,
        });
        let mut resolution = Resolution {
            universe,
            skeleton,
            view,
            f,
            sites: sites.collect(),
            first,
            params: skeleton.blocks.iter().map(|b| vec![None; b.params.len()]).collect(),
            uses: vec![Uses::new(); defs.len()],
            emissions: Vec::with_capacity(skeleton.statements.len()),
            statements: vec![Uses::new(); skeleton.statements.len()],
            terminators: vec![Uses::new(); skeleton.blocks.len()],
            edges: vec![vec![]; skeleton.blocks.len()],
            carried: vec![],
            defs,
        };
        for (def, (segment, class, choice)) in (0u32..).zip(&resolution.defs) {
            if let Def::Recurrence(node) = choice {
                let malformed = ElaborateError::Malformed { class: *class, segment: *segment };
                let recurrence = Recurrence::new(given, *node).ok_or(malformed)?;
                resolution.carried.push(Carried { def, recurrence, first: None, by: None });
            }
        }
        for site in (0..skeleton.statements.len() as u32).map(SiteId) {
            let choice = selection.statements.get(site.index()).copied().ok_or(ElaborateError::Choice(site))?;
            let emission = resolution.emission_of(site, choice)?;
            resolution.emissions.push(emission);
        }
        resolution.check_definitions()?;
        resolution.walk(cfg);
        Ok(resolution)
    }

    /// What is emitted for a statement.
    pub(super) fn emission(&self, site: SiteId) -> Emission {
        self.emissions[site.index()]
    }

    /// The site of a class of what is executed there.
    pub(super) fn site_of(&self, class: ClassId) -> Option<SiteId> {
        executed_at(self.view, class)
    }

    /// The statement in whose place a node is executed, if it is: at its site, or elsewhere where it only allocates.
    pub(super) fn stands_for(&self, class: ClassId, node: &Node<ClassId>) -> Option<SiteId> {
        let only_allocates = matches!(node.head, Head::Op(op) if self.universe.ops.get(op).effects.only_allocates());
        let moved = || node.children.last().filter(|_| only_allocates).and_then(|state| self.sites.get(state).copied());
        self.site_of(class).or_else(moved)
    }

    /// Numbers of the definitions in a segment.
    pub(super) fn in_segment(&self, segment: SegmentId) -> std::ops::Range<u32> {
        self.first[segment.index()]..self.first[segment.index() + 1]
    }

    fn emission_of(&self, site: SiteId, choice: StatementChoice) -> Result<Emission, ElaborateError> {
        Ok(match (&self.skeleton.statement(site).kind, choice) {
            (StatementKind::Opaque { .. }, StatementChoice::Drop) => return Err(ElaborateError::Choice(site)),
            (_, StatementChoice::Drop) => Emission::None,
            (StatementKind::Check { value: Some(_), .. }, StatementChoice::Keep { fused: true }) => Emission::Original,
            (StatementKind::Check { key: CheckKey::Condition { code, .. }, .. }, _) => {
                Emission::Check { code: *code, when: true }
            }
            (StatementKind::Check { observes: true, .. }, _) => return Err(ElaborateError::NoCondition(site)),
            // Only a licence: nothing to execute.
            (StatementKind::Check { observes: false, .. }, _) => Emission::None,
            (StatementKind::Opaque { .. }, _) => Emission::Original,
            (StatementKind::Call { .. } | StatementKind::Write { .. }, _) => Emission::Chosen,
        })
    }

    fn check_definitions(&mut self) -> Result<(), ElaborateError> {
        for (i, (segment, class, def)) in self.defs.iter().enumerate() {
            let malformed = ElaborateError::Malformed { class: *class, segment: *segment };
            match def {
                Def::Node(node) => match self.view.nodes.get(node.index()) {
                    Some(Node { head: Head::Op(op), .. }) => {
                        let op = self.universe.ops.get(*op);
                        let at_site = self.site_of(*class).is_some();
                        let has_place = op.is_sited() || op.gives_state();
                        let moves = op.effects.only_allocates();
                        // The state after a call stands for the call, at a site.
                        let is_state = op.gives_state() && op.part_of.is_some() && at_site;
                        if op.is_for_matching() && !is_state || has_place != at_site && !moves {
                            return Err(ElaborateError::NotComputed(*node));
                        }
                    }
                    Some(_) => {}
                    None => return Err(malformed),
                },
                Def::Recurrence(_) => {
                    let block = self.skeleton.segment_block[segment.index()];
                    let of = self.carried.iter().find(|carried| carried.def as usize == i);
                    if of.is_none_or(|carried| carried.recurrence.of.header != block)
                        || self.skeleton.blocks[block.index()].first_segment != segment.0
                    {
                        return Err(malformed);
                    }
                }
                Def::Result { site, .. } => {
                    if site.index() >= self.skeleton.statements.len() || self.skeleton.segment_after(*site) != *segment
                    {
                        return Err(malformed);
                    }
                    if !matches!(self.emission(*site), Emission::Original | Emission::Chosen) {
                        return Err(ElaborateError::NoResult(*site));
                    }
                }
                Def::Param { block, index } => {
                    let data = self.skeleton.blocks.get(block.index());
                    if data.is_none_or(|b| b.first_segment != segment.0)
                        || self.skeleton.segment_block[segment.index()] != *block
                    {
                        return Err(malformed);
                    }
                    let Some(slot) = self.params[block.index()].get_mut(*index as usize) else {
                        return Err(malformed);
                    };
                    if slot.replace(i as u32).is_some() {
                        return Err(malformed);
                    }
                }
            }
        }
        Ok(())
    }

    /// Resolves all uses, with one scope per block of the dominator tree.
    fn walk(&mut self, cfg: &Cfg) {
        let mut scope: Vec<Option<u32>> = vec![None; self.view.classes.len() + self.skeleton.statements.len()];
        let mut undo: Vec<(ClassId, Option<u32>)> = vec![];
        enum Step {
            Enter(BlockId),
            Leave(usize),
        }
        let mut work = vec![Step::Enter(self.f.entry())];
        while let Some(step) = work.pop() {
            match step {
                Step::Enter(block) => {
                    work.push(Step::Leave(undo.len()));
                    work.extend(cfg.dominator_children(block).iter().rev().map(|b| Step::Enter(*b)));
                    for segment in self.skeleton.segments(block) {
                        for def in self.in_segment(segment) {
                            let class = self.defs[def as usize].1;
                            undo.push((class, scope[class.index()].replace(def)));
                        }
                        self.segment(block, segment, &scope);
                    }
                }
                Step::Leave(mark) => {
                    for (class, previous) in undo.drain(mark..).rev() {
                        scope[class.index()] = previous;
                    }
                }
            }
        }
    }

    fn segment(&mut self, block: BlockId, segment: SegmentId, scope: &[Option<u32>]) {
        for def in self.in_segment(segment) {
            if let Def::Node(node) = self.defs[def as usize].2 {
                self.uses[def as usize] = self.operands(node, segment, scope);
            }
        }
        let data = &self.skeleton.blocks[block.index()];
        let lookup = |input: InputId| self.class(self.view.class_of(input), segment, scope);
        if segment != self.skeleton.last_segment(block) {
            let site = SiteId(data.first_site + (segment.0 - data.first_segment));
            let uses = self.statement(site, segment, scope);
            self.statements[site.index()] = uses;
            return;
        }
        let operands = data.operands.iter().map(|o| lookup(*o)).collect();
        let edges = data.edges.iter().map(|edge| {
            let params = &self.params[edge.target.index()];
            let args = edge.args.iter().zip(params).map(|(arg, param)| match arg {
                SkeletonArg::Node(node) if param.is_some() || edge.target == self.f.entry() => Some(lookup(*node)),
                _ => None,
            });
            args.collect()
        });
        let edges = edges.collect();
        let mut carried = std::mem::take(&mut self.carried);
        for Carried { recurrence: r, first, by, .. } in &mut carried {
            if r.of.before == block {
                *first = Some(self.class(r.first, segment, scope));
            }
            if r.of.latch == block {
                *by = Some(self.class(r.by, segment, scope));
            }
        }
        self.carried = carried;
        self.terminators[block.index()] = operands;
        self.edges[block.index()] = edges;
    }

    fn class(&self, class: ClassId, segment: SegmentId, scope: &[Option<u32>]) -> Use {
        scope[class.index()].map_or(Use::Missing(class, segment), Use::Def)
    }

    /// Operands of a node that are values, in order; `const` ones as literals.
    fn operands(&self, node: NodeId, segment: SegmentId, scope: &[Option<u32>]) -> Uses {
        let node = self.view.node(node);
        let values = match node.head {
            Head::Op(op) => node.children.len() - usize::from(self.universe.ops.get(op).takes_state()),
            _ => node.children.len(),
        };
        let children = node.children[..values].iter().enumerate();
        children.map(|(i, c)| self.operand(node.head, &node.types, i, *c, segment, scope)).collect()
    }

    fn operand(
        &self,
        head: Head,
        types: &[Ty],
        index: usize,
        class: ClassId,
        segment: SegmentId,
        scope: &[Option<u32>],
    ) -> Use {
        if let Head::Op(op) = head
            && let Some(param) = self.universe.ops.get(op).params.get(index)
            && param.constant
            && let Some(n) = self.view.class(class).constant
            && let Some(ty) = self.universe.types.find_instance(&param.ty, types)
        {
            return Use::Literal(ty, n);
        }
        self.class(class, segment, scope)
    }

    /// Operands of what is emitted for a statement.
    fn statement(&mut self, site: SiteId, segment: SegmentId, scope: &[Option<u32>]) -> Uses {
        let statement = self.skeleton.statement(site);
        match self.emissions[site.index()] {
            Emission::None => Uses::new(),
            Emission::Chosen => smallvec![self.class(executed(self.view, site), segment, scope)],
            Emission::Original => {
                let inst = self.f.inst(statement.inst);
                let (head, types) = match &inst.kind {
                    InstKind::Op { op, targs, .. } => (Head::Op(*op), &targs[..]),
                    _ => (Head::Proj(0), &[][..]),
                };
                let classes = inst.args.iter().map(|v| {
                    let input = self.skeleton.value_input[v.index()];
                    self.view.class_of(input.expect("operands of a statement are in the e-graph"))
                });
                classes.enumerate().map(|(i, c)| self.operand(head, types, i, c, segment, scope)).collect()
            }
            Emission::Check { code, .. } => {
                let StatementKind::Check { key: CheckKey::Condition { tested, .. }, .. } = statement.kind else {
                    return Uses::new();
                };
                let mut condition = self.class(self.view.class_of(tested), segment, scope);
                // `trapnz (x == 0)` is `trapz x`, and what is in scope for the comparison is in scope here.
                if let Some((x, when)) = self.comparison_with_zero(condition) {
                    condition = x;
                    self.emissions[site.index()] = Emission::Check { code, when };
                }
                let mut uses = Uses::new();
                uses.push(condition);
                uses
            }
        }
    }

    /// The operand of a comparison with zero, and its truth value where the comparison holds.
    fn comparison_with_zero(&self, used: Use) -> Option<(Use, bool)> {
        let mut used = used;
        let (def, node, op) = loop {
            let Use::Def(def) = used else { return None };
            let Def::Node(node) = self.defs[def as usize].2 else { return None };
            let node = self.view.node(node);
            let Head::Op(op) = node.head else { return None };
            if !self.universe.ops.get(op).is_copy() {
                break (def, node, op);
            }
            used = *self.uses[def as usize].first()?;
        };
        let when = match self.universe.ops.get(op).model? {
            Model::Eq => false,
            Model::Ne => true,
            _ => return None,
        };
        let [x, y] = node.children[..] else { return None };
        let uses = &self.uses[def as usize];
        match (self.view.class(x).constant, self.view.class(y).constant) {
            (_, Some(0)) => Some((*uses.first()?, when)),
            (Some(0), _) => Some((*uses.get(1)?, when)),
            _ => None,
        }
    }

    /// By definition: is it needed by something that is executed?
    pub(super) fn liveness(&self) -> Result<Vec<bool>, ElaborateError> {
        let mut incoming: Vec<Vec<(BlockId, usize)>> = vec![vec![]; self.skeleton.blocks.len()];
        for block in &self.skeleton.layout {
            for (slot, edge) in self.skeleton.blocks[block.index()].edges.iter().enumerate() {
                incoming[edge.target.index()].push((*block, slot));
            }
        }
        let mut live = vec![false; self.defs.len()];
        let mut work: Vec<Use> = self.statements.iter().chain(&self.terminators).flatten().copied().collect();
        let arguments = |block: BlockId, param: usize| {
            let edges = incoming[block.index()].iter();
            edges.filter_map(move |(from, slot)| self.edges[from.index()][*slot][param])
        };
        let entry = self.f.entry();
        work.extend((0..self.params[entry.index()].len()).flat_map(|i| arguments(entry, i)));
        while let Some(used) = work.pop() {
            let def = match used {
                Use::Def(def) => def as usize,
                Use::Literal(..) => continue,
                Use::Missing(class, segment) => return Err(ElaborateError::Unavailable { class, segment }),
            };
            if std::mem::replace(&mut live[def], true) {
                continue;
            }
            match self.defs[def].2 {
                Def::Node(_) => work.extend(self.uses[def].iter().copied()),
                Def::Result { .. } => {}
                Def::Recurrence(_) => {
                    let own = self.carried.iter().filter(|carried| carried.def as usize == def);
                    work.extend(own.flat_map(|carried| carried.first.into_iter().chain(carried.by)));
                }
                Def::Param { block, index } => work.extend(arguments(block, index as usize)),
            }
        }
        Ok(live)
    }
}
