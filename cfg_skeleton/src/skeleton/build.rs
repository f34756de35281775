//! `Function -> Skeleton`: values become nodes, effects and control stay in order.
//!
//! Works on any verified function, normalised or not; blocks that the entry does not reach are left out. Blocks are
//! visited in reverse post-order, where definitions come before uses, so each instruction is looked at a constant
//! number of times (once more per region that the function accesses).

use super::arriving::arriving;
use super::branch_facts::conjunctions;
use super::lifetimes::lifetimes;
use super::loop_states;
use super::loops;
use super::merges;
use super::nodes::Nodes;
use super::roles::{Role, Roles};
use super::views::{Around, Views};
use super::{
    CheckKey, OwnState, Skeleton, SkeletonArg, SkeletonBlock, SkeletonEdge, StateAfter, Statement, StatementKind,
};
use crate::egraph::{Head, InputId, Node};
use crate::ir::frontier::Frontiers;
use crate::ir::{BlockId, Cfg, EdgeArg, Function, Inst, InstId, InstKind, Promise, RegionId, Terminator, Value};
use rewright_typeprop::{OpId, Ty, Universe};
use smallvec::{SmallVec, smallvec};
use std::cell::LazyCell;

/// Takes a function apart. `trap_code` gives the front end's number for a trap code that a pack names.
pub fn build(f: &Function, cfg: &Cfg, universe: &Universe, trap_code: &dyn Fn(&str) -> u32) -> Skeleton {
    build_with_truth(f, cfg, universe, trap_code, None)
}

/// The same; conditions of branches and traps are operands of `truth`, an operation that is a copy, so that rules can
/// say which values are merely as true.
pub fn build_with_truth(
    f: &Function,
    cfg: &Cfg,
    universe: &Universe,
    trap_code: &dyn Fn(&str) -> u32,
    truth: Option<OpId>,
) -> Skeleton {
    let roles = Roles::new(f, cfg, universe);
    let numbering = roles.number(f, cfg);
    let mut joins = vec![vec![]; roles.used.len()];
    let memory_rows: Vec<usize> = roles.memory_rows().collect();
    let frontiers = LazyCell::new(|| Frontiers::new(f, cfg));
    for row in &memory_rows {
        let blocks = cfg.reverse_post_order().iter().copied();
        joins[*row] = frontiers.joins(blocks.filter(|b| roles.changes(f, *b, *row)));
    }
    if loop_states::are_wanted(universe) {
        for (exit, header) in loop_states::exits(f, cfg) {
            joins
                .iter_mut()
                .filter(|joins| joins.get(header.index()) == Some(&true))
                .for_each(|joins| joins[exit.index()] = true);
        }
    }
    let segments = numbering.segment_block.len();
    let mut builder = Builder {
        f,
        universe,
        trap_code,
        nodes: Nodes::new(universe, truth),
        live: vec![vec![InputId(0); segments]; roles.used.len()],
        roles,
        memory_rows,
        joins,
        state: vec![],
        segment: 0,
        value_input: vec![None; f.values.len()],
        statements: vec![None; numbering.sites as usize],
        site: 0,
        movable: vec![],
        values: vec![],
        views: Views::new(&f.aliases),
    };
    // The states at the function's entry; rows that nothing changes keep them.
    let entry: Vec<InputId> = builder.live.iter().map(|_| builder.nodes.token()).collect();
    let mut blocks = numbering.blocks;
    for block in cfg.reverse_post_order() {
        builder.state = match cfg.idom(*block) {
            Some(parent) => blocks[parent.index()].end.to_vec(),
            None => entry.clone(),
        };
        builder.block(cfg, *block, &mut blocks);
    }
    builder.movable.sort_unstable();
    builder.movable.dedup();
    let statements = builder.statements.iter_mut().map(|s| s.take().expect("every site was counted for one statement"));
    let statements: Vec<Statement> = statements.collect();
    let conjunctions = conjunctions(f, cfg, &builder.value_input, &statements, &mut builder.nodes);
    let parts = loops::Parts { function: f, cfg, universe, blocks: &blocks, values: &builder.value_input };
    let (loops, mut equations) = loops::carried(&parts, &mut builder.nodes);
    let (left, states) = loop_states::of_loops(&parts, &builder.roles, &loops, &mut builder.nodes);
    equations.extend(states);
    let arriving = arriving(&parts, &builder.live, &builder.views, &mut builder.nodes);
    equations.extend(merges::met(&parts, &arriving, &mut builder.nodes));
    equations.append(&mut builder.values);
    equations.extend(promised(f, &builder.value_input, &mut builder.nodes));
    let mut skeleton = Skeleton {
        statements,
        conjunctions,
        input: builder.nodes.finish(),
        blocks,
        layout: numbering.layout,
        segment_block: numbering.segment_block,
        live: builder.live,
        lifetimes: vec![0; segments],
        movable: builder.movable,
        value_input: builder.value_input,
        loops,
        left,
        arriving,
    };
    if !skeleton.live.is_empty() {
        skeleton.lifetimes = lifetimes(&skeleton, cfg, universe, &frontiers);
    }
    skeleton.input.equations = equations;
    skeleton.input.loops = loops::inputs(cfg, &skeleton);
    skeleton
}

/// What is promised of values that are there, as equations between a constant and an operation.
fn promised(f: &Function, value_input: &[Option<InputId>], nodes: &mut Nodes<'_>) -> Vec<(InputId, Node<InputId>)> {
    let equation = |promise: &Promise| {
        let children = promise.args.iter().map(|value| value_input[value.index()]).collect::<Option<_>>()?;
        let constant = nodes.constant(promise.ty, promise.value);
        Some((constant, Node { head: Head::Op(promise.op), types: promise.targs.clone(), children }))
    };
    f.promises.iter().filter_map(equation).collect()
}

struct Builder<'a> {
    f: &'a Function,
    universe: &'a Universe,
    trap_code: &'a dyn Fn(&str) -> u32,
    nodes: Nodes<'a>,
    roles: Roles<'a>,
    /// Rows that statements change.
    memory_rows: Vec<usize>,
    /// By such a row, by block: does it need a parameter?
    joins: Vec<Vec<bool>>,
    /// By row: the state at the current place.
    state: Vec<InputId>,
    live: Vec<Vec<InputId>>,
    segment: usize,
    value_input: Vec<Option<InputId>>,
    statements: Vec<Option<Statement>>,
    site: usize,
    movable: Vec<InputId>,
    /// What calls give, as a function of the state before them, and loads, of the state that they see.
    values: Vec<(InputId, Node<InputId>)>,
    views: Views,
}

impl Builder<'_> {
    fn block(&mut self, cfg: &Cfg, block: BlockId, blocks: &mut [SkeletonBlock]) {
        let f = self.f;
        let mut data = std::mem::take(&mut blocks[block.index()]);
        self.segment = data.first_segment as usize;
        self.site = data.first_site as usize;
        for row in self.memory_rows.iter().copied() {
            if self.joins[row][block.index()] {
                // At the entry, the function's first state is one of those that arrive: its token will do.
                let token = if block == f.entry() { self.state[row] } else { self.nodes.token() };
                self.views.met(token, block);
                self.state[row] = token;
                data.tokens.push((RegionId(row as u32), token));
            }
        }
        for param in &f.block(block).params {
            let leaf = self.nodes.leaf(f.ty(*param));
            self.value_input[param.index()] = Some(leaf);
            data.params.push(leaf);
        }
        self.enter_segment();
        for inst in &f.block(block).insts {
            self.inst(cfg, blocks, block, *inst);
        }
        let term = &f.block(block).term;
        data.operands = term.operands().iter().map(|v| self.value(*v)).collect();
        if let Terminator::Branch { .. } = term {
            data.operands.iter_mut().for_each(|cond| *cond = self.nodes.truth(*cond));
        }
        data.observes = matches!(term, Terminator::Return(_) | Terminator::Trap { .. } | Terminator::Opaque { .. });
        for edge in term.edges() {
            let args = edge.args.iter().map(|arg| match arg {
                EdgeArg::Value(v) => SkeletonArg::Node(self.value(*v)),
                EdgeArg::Terminator(n) => SkeletonArg::Terminator(*n),
            });
            data.edges.push(SkeletonEdge { target: edge.target, args: args.collect() });
        }
        if matches!(term, Terminator::Opaque { .. }) && !data.edges.is_empty() {
            self.change_all();
        }
        data.end = self.state.iter().copied().collect();
        blocks[block.index()] = data;
    }

    fn value(&self, v: Value) -> InputId {
        self.value_input[v.index()].expect("in a verified function definitions dominate uses")
    }

    fn enter_segment(&mut self) {
        for (row, state) in self.live.iter_mut().zip(&self.state) {
            row[self.segment] = *state;
        }
    }

    /// A writer that is not modelled: new states everywhere.
    fn change_all(&mut self) {
        for row in &self.memory_rows {
            self.state[*row] = self.nodes.token();
        }
    }

    fn define(&mut self, inst: &Inst, nodes: &[InputId]) {
        for (value, node) in inst.results.iter().zip(nodes) {
            self.value_input[value.index()] = Some(*node);
        }
    }

    fn statement(&mut self, block: BlockId, id: InstId, kind: StatementKind) {
        let results = self.f.inst(id).results.iter();
        let results = results.map(|v| (*v, self.value(*v))).collect();
        self.statements[self.site] = Some(Statement { block, inst: id, kind, results });
        self.site += 1;
        self.segment += 1;
        self.enter_segment();
    }

    fn inst(&mut self, cfg: &Cfg, blocks: &[SkeletonBlock], block: BlockId, id: InstId) {
        let f = self.f;
        let inst = f.inst(id);
        let operands: SmallVec<[InputId; 3]> = inst.args.iter().map(|v| self.value(*v)).collect();
        let types: SmallVec<[Ty; 2]> = inst.results.iter().map(|v| f.ty(*v)).collect();
        let role = self.roles.of(inst);
        match (role, &inst.kind) {
            (Role::Constant(n), _) => {
                let node = self.nodes.constant(types[0], n);
                self.define(inst, &[node]);
            }
            (Role::Opaque(payload), _) => {
                let node = self.nodes.add(Head::Opaque(payload), types.clone(), operands);
                let results = self.nodes.results(node, &types);
                self.define(inst, &results);
            }
            (Role::Value, InstKind::Op { op, targs, .. }) => {
                let node = self.nodes.add(Head::Op(*op), targs.clone(), operands);
                let results = self.nodes.results(node, &types);
                self.define(inst, &results);
            }
            (Role::Trapping, InstKind::Op { op, targs, .. }) => {
                let node = self.nodes.add(Head::Op(*op), targs.clone(), operands.clone());
                let results = self.nodes.results(node, &types);
                self.define(inst, &results);
                self.checks(block, id, *op, targs, &operands, node);
            }
            (Role::Load { row, check }, InstKind::Op { op, targs, access }) => {
                let around = Around { function: f, cfg, roles: &self.roles, blocks };
                let seen = match check {
                    Some(false) => self.views.of(&around, &mut self.nodes, id, row, self.state[row]),
                    Some(true) | None => None,
                };
                let region = RegionId(row as u32);
                let own = seen.map(|seen| OwnState { state: self.nodes.token(), region, seen });
                let read = |state| operands.iter().copied().chain([state]).collect();
                let state = own.map_or(self.state[row], |own| own.state);
                let node = self.nodes.add(Head::Op(*op), targs.clone(), read(state));
                let results = self.nodes.results(node, &types);
                if let Some(seen) = seen {
                    self.values.push((node, Node { head: Head::Op(*op), types: targs.clone(), children: read(seen) }));
                    self.views.set_seen(node, seen);
                }
                self.define(inst, &results);
                match check {
                    None => self.movable.push(node),
                    Some(observes) => {
                        let key = CheckKey::Operation { code: access.and_then(|a| a.trap) };
                        self.statement(block, id, StatementKind::Check { key, value: Some(node), observes, own });
                    }
                }
            }
            (Role::Write { region, trap }, InstKind::Op { op, targs, .. }) => {
                let key = self.access_key(*op, &operands);
                let mut children = operands;
                children.push(self.state[region.index()]);
                let out = self.nodes.add(Head::Op(*op), targs.clone(), children);
                self.state[region.index()] = out;
                self.views.stored(out, id);
                self.statement(block, id, StatementKind::Write { out, region, trap, key });
            }
            (Role::Call { observes, writes, region }, InstKind::Op { op, targs, .. }) => {
                let site = self.nodes.token();
                let mut children = operands.clone();
                children.push(site);
                let node = self.nodes.add(Head::Op(*op), targs.clone(), children);
                self.define(inst, &[node]);
                let after = region.zip(self.universe.ops.get(*op).parts).map(|(region, parts)| {
                    let mut children = operands;
                    children.push(self.state[region.index()]);
                    let value = Node { head: Head::Op(parts.value), types: targs.clone(), children: children.clone() };
                    self.values.push((node, value));
                    let out = self.nodes.add(Head::Op(parts.state), targs.clone(), children);
                    self.state[region.index()] = out;
                    StateAfter { region, out }
                });
                if writes && after.is_none() {
                    self.change_all();
                }
                self.statement(block, id, StatementKind::Call { node, site, observes, writes, after });
            }
            (Role::Check { code, when }, _) => {
                let condition = match when {
                    true => Some(operands[0]),
                    false => self.nodes.is_zero(operands[0], f.ty(inst.args[0])),
                };
                let kind = match condition {
                    Some(condition) => {
                        let tested = self.nodes.truth(condition);
                        let key = CheckKey::Condition { condition, tested, code };
                        StatementKind::Check { key, value: None, observes: true, own: None }
                    }
                    None => StatementKind::Opaque { operands, observes: true, writes: false },
                };
                self.statement(block, id, kind);
            }
            (Role::Pinned { observes, writes }, _) => {
                let leaves: SmallVec<[InputId; 1]> = types.iter().map(|ty| self.nodes.leaf(*ty)).collect();
                self.define(inst, &leaves);
                if writes {
                    self.change_all();
                }
                self.statement(block, id, StatementKind::Opaque { operands, observes, writes });
            }
            (Role::Value | Role::Trapping | Role::Load { .. } | Role::Write { .. } | Role::Call { .. }, _) => {
                unreachable!("only declared operations have these roles")
            }
        }
    }

    fn checks(&mut self, block: BlockId, id: InstId, op: OpId, targs: &[Ty], operands: &[InputId], value: InputId) {
        for check in &self.universe.ops.get(op).checks {
            let code = (self.trap_code)(&check.code);
            let condition = check.condition.as_ref().and_then(|c| self.nodes.term(c, targs, operands));
            let key = match condition {
                Some(condition) => {
                    let tested = self.nodes.truth(condition);
                    CheckKey::Condition { condition, tested, code }
                }
                None => CheckKey::Operation { code: Some(code) },
            };
            self.statement(block, id, StatementKind::Check { key, value: Some(value), observes: true, own: None });
        }
    }

    /// The operands that decide whether a write traps: all but the value that is stored, where the operation's
    /// meaning tells which one that is.
    fn access_key(&self, op: OpId, operands: &[InputId]) -> SmallVec<[InputId; 3]> {
        let memory = self.universe.ops.get(op).model.and_then(|m| m.memory());
        match (memory, operands) {
            (Some(memory), [address, _, offset]) if memory.store => smallvec![*address, *offset],
            _ => SmallVec::from_slice(operands),
        }
    }
}

#[cfg(test)]
mod tests;
