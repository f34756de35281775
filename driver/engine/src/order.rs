//! Views in an order that depends on the e-graph alone, not on how egglog numbers classes, nor on which other
//! units it holds: classes of input nodes by first appearance, then, in waves, every class that has a node over
//! numbered classes, by its least such node. Nodes of a class: those of the input in input order, then by head,
//! types and children.
//!
//! **Invariant**: every class gets a number, since every class has a node that was made from classes made
//! before it.

use egglog::Value;
use rewright_cfg_skeleton::egraph::{Application, Class, ClassId, EGraphView, Head, Node, NodeId, Removable};
use rewright_typeprop::{RuleId, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A row as read.
#[derive(Clone, Debug)]
pub(super) struct RawNode {
    pub(super) head: Head,
    pub(super) types: SmallVec<[Ty; 2]>,
    pub(super) children: SmallVec<[Value; 3]>,
    pub(super) class: Value,
}

/// A removable as read: the states of the statement's and of the root's site, and the rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawRemovable {
    pub(super) site: Value,
    pub(super) root: Value,
    pub(super) rule: RuleId,
}

const UNNUMBERED: u32 = u32::MAX;

/// Numbers classes and sorts nodes. `inputs` are the rows of the input nodes.
pub(super) fn order(
    rows: Vec<RawNode>,
    inputs: &[usize],
    applications: Vec<(RuleId, Value)>,
    removable: &[RawRemovable],
) -> EGraphView {
    // Dense numbers in row order, which are not the final ones.
    let mut dense: FxHashMap<Value, u32> = FxHashMap::default();
    dense.reserve(rows.len());
    for row in &rows {
        let next = dense.len() as u32;
        dense.entry(row.class).or_insert(next);
    }
    let class: Vec<u32> = rows.iter().map(|row| dense[&row.class]).collect();
    let children: Vec<SmallVec<[u32; 3]>> =
        rows.iter().map(|row| row.children.iter().map(|child| dense[child]).collect()).collect();

    let mut number = vec![UNNUMBERED; dense.len()];
    let mut next = 0;
    for input in inputs {
        let slot = &mut number[class[*input] as usize];
        if *slot == UNNUMBERED {
            *slot = next;
            next += 1;
        }
    }
    number_waves(&rows, &class, &children, &mut number, &mut next);

    let mut first_input = vec![u32::MAX; rows.len()];
    for (i, row) in inputs.iter().enumerate().rev() {
        first_input[*row] = i as u32;
    }
    let mut by_key: Vec<(u32, u32, Node<ClassId>)> = rows
        .into_iter()
        .zip(&class)
        .zip(children)
        .enumerate()
        .map(|(i, ((row, class), children))| {
            let children = children.iter().map(|child| ClassId(number[*child as usize])).collect();
            let node = Node { head: row.head, types: row.types, children };
            (number[*class as usize], first_input[i], node)
        })
        .collect();
    by_key.sort_unstable_by(|a, b| {
        let key = |(class, input, node): &(u32, u32, Node<ClassId>)| (*class, *input, node.head);
        key(a).cmp(&key(b)).then_with(|| a.2.types.cmp(&b.2.types)).then_with(|| a.2.children.cmp(&b.2.children))
    });

    let mut view = EGraphView { classes: vec![Class::default(); next as usize], ..EGraphView::default() };
    for (class, _, node) in by_key {
        let id = NodeId(view.nodes.len() as u32);
        let entry = &mut view.classes[class as usize];
        entry.nodes.push(id);
        if let Head::Const(value) = node.head {
            if entry.constant.is_some_and(|other| other != value) {
                view.contradictions.push(ClassId(class));
            }
            entry.constant.get_or_insert(value);
        }
        view.node_class.push(ClassId(class));
        view.nodes.push(node);
    }
    view.contradictions.dedup();
    view.input_class = inputs.iter().map(|row| ClassId(number[class[*row] as usize])).collect();
    view.applications = applications
        .into_iter()
        .filter_map(|(rule, class)| {
            dense.get(&class).map(|class| Application { rule, class: ClassId(number[*class as usize]) })
        })
        .collect();
    let class = |value: &Value| dense.get(value).map(|class| ClassId(number[*class as usize]));
    let read =
        |raw: &RawRemovable| Some(Removable { site: class(&raw.site)?, root: class(&raw.root)?, rule: raw.rule });
    view.removable = removable.iter().filter_map(read).collect();
    view.removable.sort_unstable();
    view.removable.dedup();
    view.applications.sort_unstable();
    view.applications.dedup();
    view
}

/// Numbers the classes that no input node is in.
fn number_waves(rows: &[RawNode], class: &[u32], children: &[SmallVec<[u32; 3]>], number: &mut [u32], next: &mut u32) {
    let mut users: Vec<SmallVec<[u32; 4]>> = vec![SmallVec::new(); number.len()];
    let mut missing = vec![0u32; rows.len()];
    let mut ready: Vec<u32> = Vec::new();
    for row in 0..rows.len() {
        for child in &children[row] {
            if number[*child as usize] == UNNUMBERED {
                missing[row] += 1;
                users[*child as usize].push(row as u32);
            }
        }
        if missing[row] == 0 && number[class[row] as usize] == UNNUMBERED {
            ready.push(row as u32);
        }
    }
    while !ready.is_empty() {
        let key = |row: &u32| {
            let at = *row as usize;
            let children: SmallVec<[u32; 3]> = children[at].iter().map(|child| number[*child as usize]).collect();
            (rows[at].head, rows[at].types.clone(), children)
        };
        ready.sort_by_cached_key(key);
        let mut wave = Vec::new();
        for row in ready.drain(..) {
            let slot = &mut number[class[row as usize] as usize];
            if *slot == UNNUMBERED {
                *slot = *next;
                *next += 1;
                wave.push(class[row as usize]);
            }
        }
        for numbered in wave {
            for row in &users[numbered as usize] {
                missing[*row as usize] -= 1;
                if missing[*row as usize] == 0 && number[class[*row as usize] as usize] == UNNUMBERED {
                    ready.push(*row);
                }
            }
        }
    }
    assert!(number.iter().all(|n| *n != UNNUMBERED), "every class has a node over earlier classes");
}
