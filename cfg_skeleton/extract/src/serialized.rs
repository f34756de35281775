//! E-graphs in the JSON of the crate `egraph-serialize`, with an optional tree of blocks.
//!
//! ```json
//! { "nodes": { "n0": { "op": "+", "cost": 1.0, "eclass": "a", "children": ["n1", "n1"] }, "n1": … },
//!   "root_eclasses": ["a"],
//!   "block_tree": {
//!     "blocks": [{ "id": "entry" }, { "id": "loop", "parent": "entry", "frequency": 10 }],
//!     "roots": [{ "eclass": "a", "block": "loop" }],
//!     "pinned": { "n1": "entry" } } }
//! ```
//!
//! `cost` is 1 and `frequency` 1 where they are not stated; a `subsumed` node is not extracted. A child is a node; it
//! stands for its class. With a block tree a class is computed in a block, at its frequency, from children available
//! there, or it is available because a parent has it; a *pinned* node can be computed in its block only. Each root is
//! then a class in a block; those of `root_eclasses` count if the tree states no roots, in the first block.
//!
//! The tree's product with the e-graph is made from the roots upwards over all blocks. (What is made of functions,
//! with fewer candidates, is in `cfg_skeleton::select`.)

use super::graph::{Class, Graph, Node};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;
use thiserror::Error;

/// Why a text is no e-graph to extract from.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ReadError {
    #[error("not an e-graph in the JSON of egraph-serialize: {0}")]
    Json(#[from] serde_json::Error),
    #[error("node `{node}` has the child `{child}`, which is no node of the file")]
    NoChild { node: String, child: String },
    #[error("node `{node}` costs {cost}; costs must be finite and not negative")]
    Cost { node: String, cost: f64 },
    #[error("the costs of all nodes together are too large for a number of 64 bits: divide them all by one number")]
    Infinite,
    #[error("no roots: the file has no `root_eclasses`; name some with --roots")]
    NoRoots,
    #[error("root `{0}` is neither a class nor a node of the file")]
    NoRoot(String),
    #[error("{0} names the block `{1}`, which `block_tree.blocks` does not list")]
    NoBlock(String, String),
    #[error("block `{0}` is listed twice")]
    TwoBlocks(String),
    #[error("block `{0}` must be listed after its parent `{1}`")]
    Order(String, String),
    #[error("block `{0}` is executed {1} times; frequencies must be finite and not negative")]
    Frequency(String, f64),
    #[error("`block_tree.pinned` names the node `{0}`, which is no node of the file")]
    NoPinned(String),
    #[error("root `{0}` names a block, and the file has no `block_tree`")]
    NoTree(String),
    #[error("more than {0} classes in blocks: too large a block tree for so many classes")]
    TooLarge(usize),
}

/// A file. Fields that extraction does not need are left out; nodes are sorted by name, so that neither their order in
/// the file nor hashing decides between equal choices.
#[derive(Deserialize)]
struct EGraph {
    #[serde(deserialize_with = "distinct")]
    nodes: BTreeMap<String, FileNode>,
    #[serde(default)]
    root_eclasses: Vec<String>,
    block_tree: Option<BlockTree>,
}

#[derive(Deserialize)]
struct FileNode {
    eclass: String,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default = "one")]
    cost: f64,
    #[serde(default)]
    subsumed: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockTree {
    blocks: Vec<Block>,
    #[serde(default)]
    roots: Vec<Root>,
    #[serde(default, deserialize_with = "distinct")]
    pinned: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    id: String,
    #[serde(default)]
    parent: Option<String>,
    #[serde(default = "one")]
    frequency: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Root {
    eclass: String,
    block: String,
}

/// A map in which no name stands twice. JSON allows that, and of two costs of one node neither is the right one.
fn distinct<'de, D: Deserializer<'de>, V: Deserialize<'de>>(reader: D) -> Result<BTreeMap<String, V>, D::Error> {
    struct Distinct<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Distinct<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(name) = entries.next_key::<String>()? {
                match map.entry(name) {
                    Entry::Vacant(entry) => entry.insert(entries.next_value()?),
                    Entry::Occupied(entry) => {
                        return Err(A::Error::custom(format!("`{}` is there twice", entry.key())));
                    }
                };
            }
            Ok(map)
        }
    }

    reader.deserialize_map(Distinct(PhantomData))
}

fn one() -> f64 {
    1.0
}

/// Classes in blocks that a product may have.
const MOST: usize = 5_000_000;

/// A graph, and what its classes and nodes are called.
#[derive(Debug)]
pub struct Serialized {
    /// What to extract from.
    pub graph: Graph,
    /// Nodes of the file.
    pub nodes: usize,
    /// By class of the graph.
    names: Vec<Name>,
}

/// What a class of the graph is called.
#[derive(Debug)]
struct Name {
    class: String,
    block: Option<String>,
    /// By node; `None` is had from the parent block.
    nodes: Vec<Option<String>>,
}

/// A pick, by names.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Pick<'s> {
    /// The class.
    pub eclass: &'s str,
    /// Where it is computed, with a block tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<&'s str>,
    /// The node.
    pub node: &'s str,
}

impl Serialized {
    /// The nodes that are computed; those that come from a parent block are left out.
    pub fn picks(&self, picks: &[Option<u32>]) -> Vec<Pick<'_>> {
        let named = self.names.iter().zip(picks).filter_map(|(name, pick)| {
            let node = name.nodes.get((*pick)? as usize)?.as_deref()?;
            Some(Pick { eclass: &name.class, block: name.block.as_deref(), node })
        });
        named.collect()
    }
}

/// Reads a file. `roots` replaces those of the file: classes or nodes, with a block tree `CLASS@BLOCK`.
pub fn read(text: &str, roots: Option<&[String]>) -> Result<Serialized, ReadError> {
    let file: EGraph = serde_json::from_str(text)?;
    let plain = plain(&file)?;
    let wanted = wanted(&file, &plain, file.block_tree.as_ref(), roots)?;
    let read = match &file.block_tree {
        Some(tree) => product(&file, plain, tree, &wanted)?,
        None => {
            let graph = Graph { classes: plain.classes, roots: wanted.into_iter().map(|(class, _)| class).collect() };
            let names = plain.index.into_iter().zip(plain.nodes).map(|((class, _), nodes)| Name {
                class,
                block: None,
                nodes: nodes.into_iter().map(Some).collect(),
            });
            Serialized { graph, nodes: file.nodes.len(), names: names.collect() }
        }
    };
    let total: f64 = read.graph.classes.iter().flatten().map(|node| node.cost).sum();
    if total.is_finite() { Ok(read) } else { Err(ReadError::Infinite) }
}

/// The e-graph without roots and blocks.
struct Plain {
    classes: Vec<Vec<Node>>,
    index: IndexMap<String, Class>,
    /// By class and node, its name.
    nodes: Vec<Vec<String>>,
}

fn plain(file: &EGraph) -> Result<Plain, ReadError> {
    let mut index: IndexMap<String, Class> = IndexMap::new();
    for node in file.nodes.values() {
        let next = Class(index.len() as u32);
        index.entry(node.eclass.clone()).or_insert(next);
    }
    let class_of = |id: &String| file.nodes.get(id).and_then(|node| index.get(&node.eclass)).copied();
    let mut classes = vec![vec![]; index.len()];
    let mut nodes = vec![vec![]; index.len()];
    for (id, node) in &file.nodes {
        let cost = node.cost;
        if !(cost.is_finite() && cost >= 0.0) {
            return Err(ReadError::Cost { node: id.clone(), cost });
        }
        let children: Result<Vec<Class>, ReadError> = node
            .children
            .iter()
            .map(|child| {
                let missing = || ReadError::NoChild { node: id.clone(), child: child.clone() };
                class_of(child).ok_or_else(missing)
            })
            .collect();
        let children = children?;
        if node.subsumed {
            continue;
        }
        if let Some(class) = index.get(&node.eclass) {
            classes[class.index()].push(Node::new(cost, children, []));
            nodes[class.index()].push(id.clone());
        }
    }
    Ok(Plain { classes, index, nodes })
}

/// The roots, each with its block.
fn wanted(
    file: &EGraph,
    plain: &Plain,
    tree: Option<&BlockTree>,
    roots: Option<&[String]>,
) -> Result<Vec<(Class, usize)>, ReadError> {
    let class = |name: &str| {
        let by_node = || plain.index.get(&file.nodes.get(name)?.eclass);
        plain.index.get(name).or_else(by_node).copied()
    };
    let block = |what: String, name: &str| {
        let found = tree.and_then(|tree| tree.blocks.iter().position(|block| block.id == name));
        found.ok_or_else(|| ReadError::NoBlock(what, name.into()))
    };
    let stated: Vec<Result<(Class, usize), ReadError>> = match (roots, tree) {
        (Some(roots), _) => roots
            .iter()
            .map(|root| match class(root) {
                Some(class) => Ok((class, 0)),
                // Names may contain an `@` themselves.
                None => {
                    let (name, at) = root.rsplit_once('@').ok_or_else(|| ReadError::NoRoot(root.clone()))?;
                    let class = class(name).ok_or_else(|| ReadError::NoRoot(root.clone()))?;
                    tree.ok_or_else(|| ReadError::NoTree(root.clone()))?;
                    Ok((class, block(format!("root `{root}`"), at)?))
                }
            })
            .collect(),
        (None, Some(tree)) if !tree.roots.is_empty() => tree
            .roots
            .iter()
            .map(|root| {
                let class = class(&root.eclass).ok_or_else(|| ReadError::NoRoot(root.eclass.clone()))?;
                Ok((class, block(format!("root `{}`", root.eclass), &root.block)?))
            })
            .collect(),
        _ => {
            let root = |root: &String| {
                let class = class(root).ok_or_else(|| ReadError::NoRoot(root.clone()))?;
                Ok((class, 0))
            };
            file.root_eclasses.iter().map(root).collect()
        }
    };
    let mut wanted = stated.into_iter().collect::<Result<Vec<_>, _>>()?;
    if wanted.is_empty() {
        return Err(ReadError::NoRoots);
    }
    wanted.sort();
    wanted.dedup();
    Ok(wanted)
}

/// Each class in each block from a root's block up.
fn product(file: &EGraph, plain: Plain, tree: &BlockTree, wanted: &[(Class, usize)]) -> Result<Serialized, ReadError> {
    let mut number: FxHashMap<&str, usize> = FxHashMap::default();
    let mut parents: Vec<Option<usize>> = vec![];
    for block in &tree.blocks {
        let parent = |name: &String| {
            let known = number.get(name.as_str()).copied();
            known.ok_or_else(|| ReadError::Order(block.id.clone(), name.clone()))
        };
        parents.push(block.parent.as_ref().map(parent).transpose()?);
        if !(block.frequency.is_finite() && block.frequency >= 0.0) {
            return Err(ReadError::Frequency(block.id.clone(), block.frequency));
        }
        if number.insert(&block.id, parents.len() - 1).is_some() {
            return Err(ReadError::TwoBlocks(block.id.clone()));
        }
    }
    let mut pinned: FxHashMap<&str, usize> = FxHashMap::default();
    for (node, block) in &tree.pinned {
        if !file.nodes.contains_key(node) {
            return Err(ReadError::NoPinned(node.clone()));
        }
        let at = number.get(block.as_str()).copied();
        let missing = || ReadError::NoBlock(format!("pinned node `{node}`"), block.clone());
        pinned.insert(node, at.ok_or_else(missing)?);
    }
    let mut places: IndexMap<(Class, usize), ()> = wanted.iter().map(|key| (*key, ())).collect();
    let (mut classes, mut names) = (vec![], vec![]);
    let class_names: Vec<&String> = plain.index.keys().collect();
    while classes.len() < places.len() {
        if places.len() > MOST {
            return Err(ReadError::TooLarge(MOST));
        }
        let Some(((class, block), ())) = places.get_index(classes.len()) else { break };
        let (class, block) = (*class, *block);
        let mut place = |class: Class, block: usize| Class(places.insert_full((class, block), ()).0 as u32);
        let (mut nodes, mut called) = (vec![], vec![]);
        if let Some(parent) = parents[block] {
            nodes.push(Node::new(0.0, [place(class, parent)], []));
            called.push(None);
        }
        for (node, name) in plain.classes[class.index()].iter().zip(&plain.nodes[class.index()]) {
            if pinned.get(name.as_str()).is_none_or(|at| *at == block) {
                let children: Vec<Class> = node.children.iter().map(|child| place(*child, block)).collect();
                nodes.push(Node::new(node.cost * tree.blocks[block].frequency, children, []));
                called.push(Some(name.clone()));
            }
        }
        classes.push(nodes);
        names.push(Name {
            class: class_names[class.index()].clone(),
            block: Some(tree.blocks[block].id.clone()),
            nodes: called,
        });
    }
    let graph = Graph { classes, roots: (0..wanted.len() as u32).map(Class).collect() };
    Ok(Serialized { graph, nodes: file.nodes.len(), names })
}
