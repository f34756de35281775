//! Pictures for people and other tools: Graphviz of a skeleton beside its e-graph, and the e-graph as JSON in the
//! format of the `egraph-serialize` crate.

use super::{CheckKey, Skeleton, SkeletonArg, SkeletonEdge, Statement, StatementKind};
use crate::egraph::{ClassId, EGraphView, Head, InputId, Node, NodeId};
use crate::select::COST_SCALE;
use rewright_typeprop::Universe;
use rewright_typeprop::ops::Cost;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What a picture says of the nodes of an e-graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    /// Nodes that are computed in what goes out.
    pub chosen: BTreeSet<NodeId>,
    /// By node, what one execution costs, in the cost model's units; where it is empty, costs are not shown.
    pub costs: Vec<u64>,
    /// The rules that made nodes which the original has not.
    pub rules: BTreeMap<NodeId, Vec<String>>,
    /// Why nothing is chosen.
    pub failure: Option<String>,
}

impl Marks {
    /// The chosen nodes that a rule made.
    pub fn chosen_by<'m>(&'m self, rule: &'m str) -> impl Iterator<Item = NodeId> + 'm {
        let by = move |id: &&NodeId| self.rules.get(id).is_some_and(|rules| rules.iter().any(|name| name == rule));
        self.chosen.iter().filter(by).copied()
    }
}

/// A Graphviz digraph: one cluster per block with its statements in order, one dotted box per class with its nodes.
/// Only classes that something in the skeleton uses, directly or not, are drawn. Chosen nodes are filled, and say which
/// rules made them; others say so where the pointer is over them.
pub fn dot(universe: &Universe, s: &Skeleton, view: &EGraphView, marks: &Marks) -> String {
    let mut out =
        String::from("digraph {\n  compound = true; rankdir = TB; node [shape = box, fontname = monospace];\n");
    if let Some(failure) = &marks.failure {
        let _ = writeln!(out, "  label = \"nothing is chosen: {}\"; labelloc = t;", escape(failure));
    }
    for block in &s.layout {
        let data = &s.blocks[block.index()];
        let _ = writeln!(out, "  subgraph cluster_b{} {{ label = \"b{}\"; style = filled;", block.0, block.0);
        for site in s.sites(*block) {
            let label = escape(&statement(&s.statement(site).kind));
            let _ = writeln!(out, "    s{} [label = \"{}: {label}\"];", site.0, site.0);
        }
        let _ = writeln!(out, "    e{} [label = \"end\", shape = ellipse];", block.0);
        let order: Vec<String> = s.sites(*block).map(|site| format!("s{}", site.0)).collect();
        for pair in order.windows(2) {
            let _ = writeln!(out, "    {} -> {};", pair[0], pair[1]);
        }
        if let Some(last) = order.last() {
            let _ = writeln!(out, "    {last} -> e{};", block.0);
        }
        out.push_str("  }\n");
        for (slot, edge) in data.edges.iter().enumerate() {
            let target = &s.blocks[edge.target.index()];
            let head = if target.sites > 0 { format!("s{}", target.first_site) } else { format!("e{}", edge.target.0) };
            let (from, to) = (block.0, edge.target.0);
            let _ = writeln!(out, "  e{from} -> {head} [lhead = cluster_b{to}, label = \"{slot}\", penwidth = 2];");
        }
    }
    let roots = roots(s, view);
    let shown = reachable(view, roots.iter().flat_map(|(_, classes)| classes.iter().copied()));
    for class in &shown {
        let data = view.class(*class);
        let constant = data.constant.map_or(String::new(), |n| format!(" = {n}"));
        let _ = writeln!(out, "  subgraph cluster_c{} {{ label = \"c{}{constant}\"; style = dotted;", class.0, class.0);
        for node in &data.nodes {
            let _ = writeln!(out, "    n{} [{}];", node.0, node_attributes(universe, view, *node, marks));
        }
        out.push_str("  }\n");
    }
    let into =
        |class: ClassId| view.class(class).nodes.first().map(|n| format!("n{} [lhead = cluster_c{}, ", n.0, class.0));
    // Graphviz clips no arrow at a cluster that it starts in.
    let within = |class: ClassId| view.class(class).nodes.first().map(|n| format!("n{} [", n.0));
    for (class, id) in shown.iter().flat_map(|class| view.class(*class).nodes.iter().map(move |id| (*class, id))) {
        for (i, child) in view.node(*id).children.iter().enumerate() {
            if let Some(target) = if *child == class { within(class) } else { into(*child) } {
                let _ = writeln!(out, "  n{} -> {target}label = \"{i}\"];", id.0);
            }
        }
    }
    for (name, classes) in &roots {
        for target in classes.iter().filter_map(|class| into(*class)) {
            let _ = writeln!(out, "  {name} -> {target}style = dashed];");
        }
    }
    out.push_str("}\n");
    out
}

/// How a node is drawn.
fn node_attributes(universe: &Universe, view: &EGraphView, id: NodeId, marks: &Marks) -> String {
    let mut label = escape(&operation(universe, view.node(id)));
    let rules = marks.rules.get(&id).map_or(&[][..], Vec::as_slice);
    let is_chosen = marks.chosen.contains(&id);
    if let Some(cost) = marks.costs.get(id.index()).filter(|cost| **cost > 0) {
        let _ = write!(label, "\\ncost {}", units(*cost));
    }
    if is_chosen {
        rules.iter().for_each(|rule| label += &format!("\\nby {}", escape(rule)));
    }
    let style = if is_chosen { "\"rounded,filled,bold\", fillcolor = \"#dafbe1\"" } else { "rounded" };
    let tooltip = match rules {
        [] => String::new(),
        rules => format!(", tooltip = \"by {}\"", escape(&rules.join(", "))),
    };
    format!("label = \"{label}\", style = {style}{tooltip}")
}

/// A cost in the unit of packs.
fn units(cost: u64) -> String {
    (cost as f64 / COST_SCALE as f64).to_string()
}

/// An e-graph as `egraph-serialize` writes it.
#[derive(Clone, Debug, Serialize)]
pub struct SerializedEGraph {
    nodes: BTreeMap<String, SerializedNode>,
    root_eclasses: Vec<String>,
    class_data: BTreeMap<String, SerializedClass>,
}

#[derive(Clone, Debug, Serialize)]
struct SerializedNode {
    op: String,
    /// Nodes; each stands for its class.
    children: Vec<String>,
    eclass: String,
    cost: f64,
    subsumed: bool,
}

#[derive(Clone, Debug, Serialize)]
struct SerializedClass {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    ty: Option<String>,
}

/// The view with the skeleton's roots. Ids are padded, so that their order is the view's.
pub fn json(universe: &Universe, s: &Skeleton, view: &EGraphView) -> SerializedEGraph {
    let (nodes, classes) = (width(view.nodes.len()), width(view.classes.len()));
    let node_name = |id: NodeId| format!("n{:0nodes$}", id.0);
    let class_name = |id: ClassId| format!("c{:0classes$}", id.0);
    let mut out = SerializedEGraph { nodes: BTreeMap::new(), root_eclasses: vec![], class_data: BTreeMap::new() };
    for (i, node) in view.nodes.iter().enumerate() {
        let children = node.children.iter().filter_map(|c| view.class(*c).nodes.first().copied());
        let serialized = SerializedNode {
            op: operation(universe, node),
            children: children.map(node_name).collect(),
            eclass: class_name(view.node_class[i]),
            cost: cost(universe, node),
            subsumed: false,
        };
        out.nodes.insert(node_name(NodeId(i as u32)), serialized);
    }
    for (i, class) in view.classes.iter().enumerate() {
        let ty = class.nodes.first().and_then(|n| view.node(*n).ty(universe));
        let ty = ty.map(|ty| universe.types.display(ty));
        out.class_data.insert(class_name(ClassId(i as u32)), SerializedClass { ty });
    }
    let roots: BTreeSet<ClassId> = roots(s, view).into_iter().flat_map(|(_, classes)| classes).collect();
    out.root_eclasses = roots.into_iter().map(class_name).collect();
    out
}

fn width(n: usize) -> usize {
    n.max(1).ilog10() as usize + 1
}

/// What the skeleton uses, by the Graphviz name of the user.
fn roots(s: &Skeleton, view: &EGraphView) -> Vec<(String, Vec<ClassId>)> {
    let classes = |inputs: &[InputId]| inputs.iter().map(|i| view.class_of(*i)).collect::<Vec<_>>();
    let mut roots = vec![];
    for (i, Statement { kind, .. }) in s.statements.iter().enumerate() {
        let inputs = match kind {
            StatementKind::Opaque { operands, .. } => operands.to_vec(),
            StatementKind::Write { out: node, .. } | StatementKind::Call { node, .. } => vec![*node],
            StatementKind::Check { key: CheckKey::Condition { tested, .. }, value, .. } => {
                [*tested].into_iter().chain(*value).collect()
            }
            StatementKind::Check { value, .. } => value.iter().copied().collect(),
        };
        roots.push((format!("s{i}"), classes(&inputs)));
    }
    for block in &s.layout {
        let data = &s.blocks[block.index()];
        let mut inputs = data.operands.to_vec();
        for SkeletonEdge { args, .. } in &data.edges {
            inputs.extend(args.iter().filter_map(|arg| match arg {
                SkeletonArg::Node(input) => Some(*input),
                SkeletonArg::Terminator(_) => None,
            }));
        }
        roots.push((format!("e{}", block.0), classes(&inputs)));
    }
    roots
}

fn reachable(view: &EGraphView, roots: impl Iterator<Item = ClassId>) -> BTreeSet<ClassId> {
    let mut seen = BTreeSet::new();
    let mut work: Vec<ClassId> = roots.collect();
    while let Some(class) = work.pop() {
        if seen.insert(class) {
            work.extend(view.class(class).nodes.iter().flat_map(|n| &view.node(*n).children));
        }
    }
    seen
}

fn statement(kind: &StatementKind) -> String {
    match kind {
        StatementKind::Opaque { observes, writes, .. } => {
            format!("opaque{}{}", if *observes { " observes" } else { "" }, if *writes { " writes" } else { "" })
        }
        StatementKind::Write { region, trap, .. } => {
            let trap = trap.map_or(String::new(), |code| format!(" trap {code}"));
            format!("write region {}{trap}", region.0)
        }
        StatementKind::Call { observes, writes, .. } => {
            format!("call{}{}", if *observes { " observes" } else { "" }, if *writes { " writes" } else { "" })
        }
        StatementKind::Check { key: CheckKey::Condition { code, .. }, .. } => format!("check trap {code}"),
        StatementKind::Check { key: CheckKey::Operation { code: Some(code) }, .. } => {
            format!("check by execution trap {code}")
        }
        StatementKind::Check { key: CheckKey::Operation { code: None }, .. } => "licence".into(),
    }
}

fn operation(universe: &Universe, node: &Node<ClassId>) -> String {
    let types = || {
        let types: Vec<_> = node.types.iter().map(|ty| universe.types.display(*ty)).collect();
        if types.is_empty() { String::new() } else { format!("{{{}}}", types.join(", ")) }
    };
    match node.head {
        Head::Op(op) => format!("{}{}", universe.ops.get(op).unique, types()),
        Head::Const(n) => format!("{n}{}", types()),
        Head::Leaf(leaf) => format!("leaf {}{}", leaf.0, types()),
        Head::Token(token) => format!("state {}", token.0),
        Head::Opaque(payload) => format!("opaque {}{}", payload.0, types()),
        Head::Proj(i) => format!("result {i}"),
        Head::Copy => "copy".into(),
    }
}

/// A rough price for tools that know nothing of immediates and frequencies.
fn cost(universe: &Universe, node: &Node<ClassId>) -> f64 {
    match node.head {
        Head::Op(op) => match universe.ops.get(op).cost {
            Cost::Fixed(n) => f64::from(n),
            Cost::Expr(_) => 1.0,
        },
        Head::Opaque(_) => 10.0,
        Head::Const(_) => 1.0,
        Head::Leaf(_) | Head::Token(_) | Head::Proj(_) | Head::Copy => 0.0,
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Cfg;
    use crate::skeleton::build;
    use crate::testing::{Builder, PLAIN, trap_code, universe};

    #[test]
    fn a_picture_and_a_file() {
        let u = universe();
        let mut b = Builder::new(&u, &["i64", "i32"]);
        let entry = b.function.entry();
        let (p, x) = (b.param(entry, 0), b.param(entry, 1));
        let next = b.block(&["i32"]);
        let quotient = b.op("udiv", "i32", &[x, x]);
        b.store("i32", p, quotient, PLAIN);
        b.jump(next, &[quotient]);
        b.switch_to(next);
        let y = b.param(next, 0);
        b.ret(&[y]);
        let s = build(&b.function, &Cfg::new(&b.function), &u, &trap_code);
        let view = s.input.unsaturated();
        let division = (0..).map(NodeId).find(|id| operation(&u, view.node(*id)) == "udiv{i32}").expect("the division");
        let marks = Marks {
            chosen: BTreeSet::from([division]),
            costs: vec![5; view.nodes.len()],
            rules: BTreeMap::from([(division, vec!["a \"rule\"".into()])]),
            failure: None,
        };
        let picture = dot(&u, &s, &view, &marks);
        let marked = "udiv{i32}\\ncost 1.25\\nby a \\\"rule\\\"\", style = \"rounded,filled,bold\"";
        assert!(picture.contains(marked), "{marked} in\n{picture}");
        assert_eq!(picture.matches("filled,bold").count(), 1);
        let picture = dot(&u, &s, &view, &Marks { failure: Some("why".into()), ..Marks::default() });
        assert!(picture.contains("nothing is chosen: why") && !picture.contains("bold"));
        for part in ["cluster_b0", "cluster_b1", "s1 [label = \"1: write region 0 trap 3\"]", "udiv{i32}", "lhead"] {
            assert!(picture.contains(part), "{part} in\n{picture}");
        }
        assert_eq!(picture.matches('{').count(), picture.matches('}').count());
        let file = serde_json::to_value(json(&u, &s, &view)).expect("plain data");
        let nodes = file["nodes"].as_object().expect("nodes by name");
        assert_eq!(nodes.len(), view.nodes.len());
        let division = nodes.values().find(|n| n["op"] == "udiv{i32}").expect("the division");
        let child = division["children"][0].as_str().expect("a name");
        assert_eq!(nodes[child]["op"], "leaf 1{i32}");
        assert_eq!(division["cost"], 20.0);
        let class = division["eclass"].as_str().expect("a name");
        assert_eq!(file["class_data"][class]["type"], "i32");
        assert!(file["root_eclasses"].as_array().is_some_and(|roots| roots.iter().any(|r| r == class)));
    }
}
