//! Rows coming back, by unit.

use super::EngineError;
use super::batch::Batch;
use super::order::{RawNode, RawRemovable, order};
use egglog::Value;
use rewright_cfg_skeleton::egraph::{EGraphInput, EGraphView, Head, LeafId, TokenId};
use rewright_dsl::egglog::print::APPLIED;
use rewright_dsl::egglog::{Sort, TYPE_BITS, TYPE_MASK, TableKind};
use rewright_typeprop::{RuleId, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

fn failed(error: egglog::Error) -> EngineError {
    EngineError::Run(error.to_string())
}

/// The rows of an e-graph, by unit, copied out so that the e-graph can be dropped.
pub(super) struct ReadBack {
    rows: Vec<Vec<RawNode>>,
    removable: Vec<Vec<RawRemovable>>,
    applications: Vec<Vec<(RuleId, Value)>>,
}

impl ReadBack {
    pub(super) fn new(batch: &Batch<'_>, log: bool) -> Result<Self, EngineError> {
        let rows = rows(batch)?;
        let removable = removable(batch, &rows)?;
        let applications = if log { applications(batch, &rows)? } else { vec![Vec::new(); rows.len()] };
        Ok(ReadBack { rows, removable, applications })
    }

    /// One view per unit.
    pub(super) fn views(self, units: &[&EGraphInput]) -> Result<Vec<EGraphView>, EngineError> {
        let read = self.rows.into_iter().zip(self.removable).zip(self.applications);
        let views = units.iter().zip(read).map(|(unit, ((rows, removable), applications))| {
            let inputs = input_rows(unit, &rows)?;
            Ok(order(rows, &inputs, applications, &removable))
        });
        views.collect()
    }
}

/// All nodes by unit; classes are egglog's numbers.
pub(super) fn rows(batch: &Batch<'_>) -> Result<Vec<Vec<RawNode>>, EngineError> {
    let egraph = &*batch.egraph;
    let int = |value: Value| egraph.value_to_base::<i64>(value);
    let mut lists: FxHashMap<Value, (Value, Value)> = FxHashMap::default();
    if let Some(cons) = batch.program.table(TableKind::Cons) {
        let read = egraph.constructor_enodes(&batch.program.tables[cons].name, |enode| {
            lists.insert(enode.eclass, (enode.children[0], enode.children[1]));
        });
        read.map_err(failed)?;
    }
    let mut units: Vec<Vec<RawNode>> =
        batch.units.iter().map(|unit| Vec::with_capacity(2 * unit.nodes.len())).collect();
    for table in batch.tables.iter().map(|table| &batch.program.tables[*table]) {
        if matches!(table.kind, TableKind::Cons | TableKind::Nil) {
            continue;
        }
        let tparams = match table.kind {
            TableKind::Op(op) => batch.shared.source().universe.ops.get(op).tparams.len(),
            _ => 0,
        };
        let read = egraph.constructor_enodes(&table.name, |enode| {
            let column = int(enode.children[0]);
            let Some(unit) = units.get_mut((column >> TYPE_BITS) as usize) else { return };
            let ty = |value: Value| Ty((int(value) & TYPE_MASK) as u32);
            let mut types = SmallVec::new();
            let mut children: SmallVec<[Value; 3]> = SmallVec::new();
            let second = || int(enode.children[1]);
            let head = match table.kind {
                TableKind::Op(op) => {
                    types.extend(enode.children[..tparams].iter().map(|value| ty(*value)));
                    children.extend_from_slice(&enode.children[tparams.max(1)..]);
                    Head::Op(op)
                }
                TableKind::Const => {
                    types.push(ty(enode.children[0]));
                    Head::Const(second())
                }
                TableKind::Leaf => {
                    types.push(ty(enode.children[0]));
                    Head::Leaf(LeafId(second() as u32))
                }
                TableKind::Token => Head::Token(TokenId(second() as u32)),
                TableKind::Proj => {
                    types.push(ty(enode.children[0]));
                    children.push(enode.children[2]);
                    Head::Proj(second() as u32)
                }
                TableKind::Rest => {
                    let Some((head, own)) = batch.heads.get_index(second() as usize) else { return };
                    types.extend_from_slice(own);
                    for (value, sort) in enode.children.iter().zip(&table.columns).skip(2) {
                        if *sort == Sort::List {
                            let mut list = *value;
                            while let Some((first, rest)) = lists.get(&list) {
                                children.push(*first);
                                list = *rest;
                            }
                        } else {
                            children.push(*value);
                        }
                    }
                    *head
                }
                TableKind::Cons | TableKind::Nil => return,
            };
            unit.push(RawNode { head, types, children, class: enode.eclass });
        });
        read.map_err(failed)?;
    }
    Ok(units)
}

/// The row of each input node: the values that insertion gave may have been united since, so nodes are looked
/// up again from the leaves upwards.
pub(super) fn input_rows(unit: &EGraphInput, rows: &[RawNode]) -> Result<Vec<usize>, EngineError> {
    let mut by_key: FxHashMap<(Head, &[Ty], &[Value]), usize> = FxHashMap::default();
    by_key.reserve(rows.len());
    for (i, node) in rows.iter().enumerate() {
        by_key.insert((node.head, &node.types, &node.children), i);
    }
    let mut result: Vec<usize> = Vec::with_capacity(unit.nodes.len());
    for node in &unit.nodes {
        let children: SmallVec<[Value; 3]> =
            node.children.iter().map(|child| rows[result[child.index()]].class).collect();
        let types = if matches!(node.head, Head::Token(_)) { &[][..] } else { &node.types[..] };
        let row = by_key.get(&(node.head, types, &children[..]));
        result.push(*row.ok_or_else(|| EngineError::Run(format!("an inserted node is gone: {node:?}")))?);
    }
    Ok(result)
}

/// Logged applications by unit: the rule of the program, and the class that it matched.
fn applications(batch: &Batch<'_>, rows: &[Vec<RawNode>]) -> Result<Vec<Vec<(RuleId, Value)>>, EngineError> {
    let unit_of = units_of(rows);
    let mut result = vec![Vec::new(); rows.len()];
    for relation in APPLIED {
        let read = batch.egraph.constructor_enodes(relation, |enode| {
            let rule = batch.egraph.value_to_base::<i64>(enode.children[0]) as usize;
            let source = batch.program.rules.get(rule).and_then(|rule| rule.source);
            if let (Some(source), Some(unit)) = (source, unit_of.get(&enode.children[1])) {
                result[*unit].push((source, enode.children[1]));
            }
        });
        read.map_err(failed)?;
    }
    Ok(result)
}

/// Licences by unit.
fn removable(batch: &Batch<'_>, rows: &[Vec<RawNode>]) -> Result<Vec<Vec<RawRemovable>>, EngineError> {
    let mut result = vec![Vec::new(); rows.len()];
    if let Some(relation) = &batch.program.removable {
        let unit_of = units_of(rows);
        let read = batch.egraph.constructor_enodes(&relation.name, |enode| {
            if let (Some(unit), [site, root, rule]) = (unit_of.get(&enode.children[0]), enode.children) {
                let rule = RuleId(batch.egraph.value_to_base::<i64>(*rule) as u32);
                result[*unit].push(RawRemovable { site: *site, root: *root, rule });
            }
        });
        read.map_err(failed)?;
    }
    Ok(result)
}

fn units_of(rows: &[Vec<RawNode>]) -> FxHashMap<Value, usize> {
    let units = rows.iter().enumerate();
    units.flat_map(|(unit, rows)| rows.iter().map(move |node| (node.class, unit))).collect()
}
