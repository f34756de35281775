//! Evaluation of all nodes of a view, given its leaves and tokens.

use super::{DenotationReport, Disagreement, Witness};
use rewright_cfg_skeleton::egraph::{ClassId, EGraphView, Head, InputId, Node, NodeId};
use rewright_cfg_skeleton::ir::interp::{Memory, equal_up_to_nan, quiet_nan};
use rewright_cfg_skeleton::ir::{BlockId, Cfg, Function, PayloadId, Value};
use rewright_cfg_skeleton::skeleton::{SegmentId, SimpleLoop, Skeleton};
use rewright_typeprop::model::{Evaluation, MemoryAccess};
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::{Model, Op, OpId, Scalar, Universe, eval};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a class is at one moment.
#[derive(Clone, Debug)]
pub(super) enum Denotation {
    Word(i64),
    State(Rc<Memory>),
    /// The results of an unknown operation: projection `i` is a hash of this and `i`.
    Tuple(u64),
}

/// What is defined at one moment.
#[derive(Debug, Default)]
pub(super) struct Environment {
    /// By `LeafId`.
    pub(super) leaves: Vec<Option<i64>>,
    /// By `TokenId`.
    pub(super) tokens: Vec<Option<Rc<Memory>>>,
    /// What the run itself says of some classes.
    pub(super) known: Vec<(ClassId, Witness, Denotation)>,
    /// By node that says what a loop carries, as [`Graph::carried`] numbers them: what the loop carries now.
    pub(super) registers: Vec<Option<i64>>,
    /// Addresses that accesses to each region have touched, by region; only where there are several.
    pub(super) touched: Vec<Vec<u64>>,
}

/// A view, prepared for evaluation.
pub(super) struct Graph<'a> {
    universe: &'a Universe,
    pub(super) skeleton: &'a Skeleton,
    view: &'a EGraphView,
    /// Nodes that say what loops carry.
    pub(super) carried: Vec<Carried>,
    /// By node: its number among those.
    register: FxHashMap<NodeId, usize>,
    /// Nodes such that children come before, as far as classes have a node that needs no later one.
    order: Vec<NodeId>,
    /// By node: the representation of its value.
    scalar: Vec<Option<Scalar>>,
    /// By class: the row of live states that it belongs to, where it is a state.
    row: Vec<Option<usize>>,
    /// IR values that are leaves: `(leaf, value, block)`.
    pub(super) leaves: Vec<(usize, Value, BlockId)>,
    /// All IR values with their class and the block of their definition.
    pub(super) values: Vec<(ClassId, Value, BlockId)>,
    /// Tokens with the block from which on they are defined.
    pub(super) token_home: Vec<Option<BlockId>>,
    pub(super) leaf_count: usize,
}

/// A node that says what a loop carries or is left with. No children tell its value: the run does, in a register of its
/// own.
pub(super) struct Carried {
    /// The loop.
    pub(super) of: SimpleLoop,
    node: NodeId,
    role: LoopRole,
}

/// By class: what it is, and the witness of that.
pub(super) type Found = Vec<Option<(Witness, Denotation)>>;

/// The pseudo-random function behind everything that has no meaning.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    // The finaliser of SplitMix64.
    let z = a.rotate_left(23) ^ b.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What an unknown function is a function of.
#[derive(Clone, Copy)]
pub(super) enum Unknown {
    Opaque(PayloadId),
    Op(OpId),
}

/// The hash of an application; `args` with their representations.
pub(super) fn unknown(f: Unknown, args: impl Iterator<Item = (Option<Scalar>, i64)>) -> u64 {
    let seed = match f {
        Unknown::Opaque(p) => u64::from(p.0),
        Unknown::Op(op) => u64::from(op.0) | 1 << 32,
    };
    args.fold(mix(seed, 0), |hash, (scalar, n)| {
        let nan = scalar.is_some_and(|s| !s.is_int() && equal_up_to_nan(Some(s), n, quiet_nan(s)));
        mix(hash, nan.then_some(scalar).flatten().map_or(n, quiet_nan) as u64)
    })
}

/// One result of an unknown function.
pub(super) fn unknown_result(hash: u64, index: u64, scalar: Option<Scalar>) -> i64 {
    let raw = mix(hash, index + 1);
    scalar.map_or(raw as i64, |s| s.canonical(raw))
}

impl<'a> Graph<'a> {
    pub(super) fn new(
        function: &Function,
        cfg: &Cfg,
        universe: &'a Universe,
        skeleton: &'a Skeleton,
        view: &'a EGraphView,
    ) -> Self {
        let carried = carried(universe, skeleton, view);
        let mut graph = Graph {
            universe,
            skeleton,
            view,
            register: carried.iter().enumerate().map(|(n, carried)| (carried.node, n)).collect(),
            order: order(view, &carried),
            carried,
            scalar: view.nodes.iter().map(|n| scalar(universe, n)).collect(),
            row: vec![None; view.classes.len()],
            leaves: vec![],
            values: vec![],
            token_home: vec![],
            leaf_count: 0,
        };
        graph.collect_values(function, cfg);
        graph.collect_states(cfg);
        graph
    }

    fn collect_values(&mut self, function: &Function, cfg: &Cfg) {
        for node in &self.skeleton.input.nodes {
            match node.head {
                Head::Leaf(leaf) => self.leaf_count = self.leaf_count.max(leaf.index() + 1),
                Head::Token(token) if token.index() >= self.token_home.len() => {
                    self.token_home.resize(token.index() + 1, None);
                }
                _ => {}
            }
        }
        for b in cfg.reverse_post_order() {
            let block = function.block(*b);
            let results = block.insts.iter().flat_map(|i| &function.inst(*i).results);
            for v in block.params.iter().chain(results) {
                let Some(input) = self.skeleton.value_input[v.index()] else { continue };
                self.values.push((self.view.class_of(input), *v, *b));
                if let Head::Leaf(leaf) = self.skeleton.input.nodes[input.index()].head {
                    self.leaves.push((leaf.index(), *v, *b));
                }
            }
        }
    }

    fn collect_states(&mut self, cfg: &Cfg) {
        for (row, segments) in self.skeleton.live.iter().enumerate() {
            // Dominators come first, so the first block is the one that defines.
            for b in cfg.reverse_post_order() {
                for segment in self.skeleton.segments(*b) {
                    let input = segments[segment.index()];
                    self.row[self.view.class_of(input).index()].get_or_insert(row);
                    if let Some(token) = self.token(input) {
                        self.token_home[token].get_or_insert(*b);
                    }
                }
            }
        }
        // Nodes that rules have added: the state after a write belongs to the row of the state before it.
        for n in &self.order {
            let node = self.view.node(*n);
            if let Head::Op(op) = node.head
                && self.universe.ops.get(op).gives_state()
                && let Some(state) = node.children.last()
                && let Some(row) = self.row[state.index()]
            {
                self.row[self.view.node_class[n.index()].index()].get_or_insert(row);
            }
        }
    }

    /// The token that an input node is.
    pub(super) fn token(&self, input: InputId) -> Option<usize> {
        match self.skeleton.input.nodes[input.index()].head {
            Head::Token(token) => Some(token.index()),
            _ => None,
        }
    }

    /// By row: the state that is live in a segment.
    pub(super) fn live(&self, segment: SegmentId) -> impl Iterator<Item = (usize, InputId)> + use<'_, 'a> {
        self.skeleton.live.iter().enumerate().map(move |(row, segments)| (row, segments[segment.index()]))
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> usize {
        self.view.classes.len()
    }

    /// The class of an input node.
    pub(super) fn class_of(&self, input: InputId) -> ClassId {
        self.view.class_of(input)
    }

    /// What a loop carries or is left with when control has gone from one block to another, given what classes were
    /// before; `None` where that edge changes nothing.
    pub(super) fn step(
        &self,
        carried: &Carried,
        (from, to): (BlockId, BlockId),
        cfg: &Cfg,
        now: Option<i64>,
        found: &Found,
    ) -> Option<Option<i64>> {
        let header = carried.of.header;
        if carried.role != LoopRole::Leave {
            return (to == header).then(|| self.carry(carried, from, now, found));
        }
        let inside = |block| cfg.loop_with_header(header).is_some_and(|l| cfg.loop_contains(l, block));
        match (inside(from), inside(to)) {
            (true, false) => Some(self.word(self.view.node(carried.node).children[1], found)),
            // The value that it was left with the last time is no longer valid.
            (false, true) => Some(None),
            (true, true) | (false, false) => None,
        }
    }

    fn word(&self, class: ClassId, found: &Found) -> Option<i64> {
        match found[class.index()] {
            Some((_, Denotation::Word(n))) => Some(n),
            _ => None,
        }
    }

    /// What a loop carries when one of the edges into its header has been taken, given what classes were before.
    fn carry(&self, carried: &Carried, from: BlockId, now: Option<i64>, found: &Found) -> Option<i64> {
        let node = self.view.node(carried.node);
        let word = |class: ClassId| self.word(class, found);
        if from == carried.of.before {
            return word(node.children[1]);
        }
        let LoopRole::Recurrence(step) = carried.role else { return word(node.children[2]) };
        let (now, by) = (now?, word(node.children[2])?);
        let op = self.universe.ops.get(step);
        let scalar = self.scalar[carried.node.index()];
        if op.model.is_none() && op.spec.is_none() {
            let operands = [now, by].map(|n| (scalar, n));
            return Some(unknown_result(unknown(Unknown::Op(step), operands.into_iter()), 0, scalar));
        }
        match eval::evaluate(self.universe, step, &node.types, &[now, by]) {
            Evaluation::Value(n) => Some(n),
            Evaluation::Nan => scalar.map(quiet_nan),
            Evaluation::Undefined => None,
        }
    }

    /// Evaluates all nodes that can be, and compares them. Gives what it has found.
    pub(super) fn evaluate(&self, env: &Environment, block: BlockId, report: &mut DenotationReport) -> Found {
        let mut found: Found = vec![None; self.view.classes.len()];
        let mut disagree = |class: ClassId, a: &(Witness, Denotation), b: &(Witness, Denotation)| {
            if report.disagreements.iter().all(|d| d.class != class) {
                let rules = self.view.applications.iter().filter(|a| a.class == class).map(|a| a.rule);
                let values = [show(&a.1), show(&b.1)];
                let rules = rules.collect();
                report.disagreements.push(Disagreement { class, first: a.0, second: b.0, values, block, rules });
            }
        };
        for (class, witness, denotation) in &env.known {
            let new = (*witness, denotation.clone());
            match &found[class.index()] {
                Some(first) if !self.agree(*class, &first.1, denotation, env) => disagree(*class, first, &new),
                Some(_) => {}
                None => found[class.index()] = Some(new),
            }
        }
        // A class whose first node has no value here may get one from a later node, and then its users do.
        let mut compared = vec![false; self.view.nodes.len()];
        loop {
            let mut late = false;
            for n in &self.order {
                let class = self.view.node_class[n.index()];
                if compared[n.index()] {
                    continue;
                }
                let Some(denotation) = self.node(*n, &found, env) else { continue };
                compared[n.index()] = true;
                report.comparisons += 1;
                let new = (Witness::Node(*n), denotation);
                match &found[class.index()] {
                    Some(first) if !self.agree(class, &first.1, &new.1, env) => disagree(class, first, &new),
                    Some(_) => {}
                    None => {
                        found[class.index()] = Some(new);
                        late = true;
                    }
                }
            }
            if !late {
                break;
            }
        }
        report.visits += 1;
        found
    }

    /// The representation of a class's values.
    pub(super) fn scalar_of(&self, class: ClassId) -> Option<Scalar> {
        self.view.class(class).nodes.first().and_then(|n| self.scalar[n.index()])
    }

    fn agree(&self, class: ClassId, a: &Denotation, b: &Denotation, env: &Environment) -> bool {
        match (a, b) {
            (Denotation::Word(a), Denotation::Word(b)) => equal_up_to_nan(self.scalar_of(class), *a, *b),
            (Denotation::Tuple(a), Denotation::Tuple(b)) => a == b,
            (Denotation::State(a), Denotation::State(b)) => self.same_memory(self.row[class.index()], a, b, env),
            _ => false,
        }
    }

    fn same_memory(&self, row: Option<usize>, a: &Memory, b: &Memory, env: &Environment) -> bool {
        if a == b {
            return true;
        }
        let of_another = |address: u64| {
            let mut regions = env.touched.iter().enumerate();
            regions.any(|(region, touched)| Some(region) != row && touched.contains(&address))
        };
        a.areas().len() == b.areas().len()
            && a.areas().iter().zip(b.areas()).all(|(a, b)| {
                let mut differ = a.bytes.iter().zip(&b.bytes).enumerate().filter(|(_, (a, b))| a != b);
                differ.all(|(i, _)| of_another(a.base + i as u64))
            })
    }

    fn node(&self, id: NodeId, found: &[Option<(Witness, Denotation)>], env: &Environment) -> Option<Denotation> {
        if let Some(register) = self.register.get(&id) {
            return env.registers.get(*register).copied().flatten().map(Denotation::Word);
        }
        let node = self.view.node(id);
        let scalar = self.scalar[id.index()];
        let child = |i: usize| found[node.children[i].index()].as_ref().map(|(_, d)| d);
        let word = |i: usize| match child(i)? {
            Denotation::Word(n) => Some(*n),
            _ => None,
        };
        match node.head {
            Head::Const(n) => Some(Denotation::Word(n)),
            Head::Leaf(leaf) => env.leaves.get(leaf.index()).copied().flatten().map(Denotation::Word),
            Head::Token(token) => env.tokens.get(token.index()).cloned().flatten().map(Denotation::State),
            Head::Proj(i) => match child(0)? {
                Denotation::Tuple(hash) => Some(Denotation::Word(unknown_result(*hash, u64::from(i), scalar))),
                _ => None,
            },
            Head::Copy => child(0).cloned(),
            Head::Opaque(payload) => {
                let hash = self.unknown(Unknown::Opaque(payload), node, found, node.children.len())?;
                Some(self.results(hash, node.types.len(), scalar))
            }
            Head::Op(id) => {
                let op = self.universe.ops.get(id);
                if let Some(access) = op.model.and_then(Model::memory) {
                    let Denotation::State(memory) = child(node.children.len().checked_sub(1)?)? else { return None };
                    return self.access(node, op, access, word, memory, scalar);
                }
                // A term that no loop of the function carries has no value.
                if op.takes_state() || op.in_loop.is_some() {
                    return None;
                }
                if op.model.is_none() && op.spec.is_none() || op.results.len() != 1 {
                    let hash = self.unknown(Unknown::Op(id), node, found, node.children.len())?;
                    return Some(self.results(hash, op.results.len(), scalar));
                }
                let args: Vec<i64> = (0..node.children.len()).map(word).collect::<Option<_>>()?;
                match eval::evaluate(self.universe, id, &node.types, &args) {
                    Evaluation::Value(n) => Some(Denotation::Word(n)),
                    Evaluation::Nan => scalar.map(quiet_nan).map(Denotation::Word),
                    Evaluation::Undefined => None,
                }
            }
        }
    }

    fn unknown(
        &self,
        f: Unknown,
        node: &Node<ClassId>,
        found: &[Option<(Witness, Denotation)>],
        operands: usize,
    ) -> Option<u64> {
        let mut args = Vec::with_capacity(operands);
        for class in &node.children[..operands] {
            let Some((_, Denotation::Word(n))) = found[class.index()] else { return None };
            let first = self.view.class(*class).nodes.first();
            args.push((first.and_then(|n| self.scalar[n.index()]), n));
        }
        Some(unknown(f, args.into_iter()))
    }

    fn results(&self, hash: u64, count: usize, scalar: Option<Scalar>) -> Denotation {
        match count {
            1 => Denotation::Word(unknown_result(hash, 0, scalar)),
            _ => Denotation::Tuple(hash),
        }
    }

    fn access(
        &self,
        node: &Node<ClassId>,
        op: &Op,
        access: MemoryAccess,
        word: impl Fn(usize) -> Option<i64>,
        memory: &Rc<Memory>,
        scalar: Option<Scalar>,
    ) -> Option<Denotation> {
        // Of a vector there is one lane here, and all of them are in memory.
        if node.types.iter().any(|ty| self.universe.types.scalar(*ty).is_none()) {
            return None;
        }
        let offset = node.children.len().checked_sub(2)?;
        let address = (word(0)? as u64).wrapping_add(word(offset)? as u64);
        if access.store {
            let ty = eval::scalar_of(&self.universe.types, &op.params.get(1)?.ty, &self.scalars(node));
            let bits = access.bits.or(ty.map(Scalar::bits))?;
            let mut after = Memory::clone(memory);
            after.store(address, bits / 8, word(1)? as u64)?;
            return Some(Denotation::State(Rc::new(after)));
        }
        let scalar = scalar?;
        let bits = access.bits.unwrap_or(scalar.bits());
        let raw = memory.load(address, bits / 8)?;
        let unused = 64 - bits;
        let wide = if access.signed { ((raw << unused) as i64 >> unused) as u64 } else { raw };
        Some(Denotation::Word(scalar.canonical(wide)))
    }

    fn scalars(&self, node: &Node<ClassId>) -> Vec<Option<Scalar>> {
        node.types.iter().map(|t| self.universe.types.lane(*t)).collect()
    }
}

fn scalar(universe: &Universe, node: &Node<ClassId>) -> Option<Scalar> {
    let scalars: Vec<_> = node.types.iter().map(|t| universe.types.lane(*t)).collect();
    match node.head {
        Head::Op(op) => eval::scalar_of(&universe.types, universe.ops.get(op).results.first()?, &scalars),
        Head::Token(_) | Head::Copy => None,
        Head::Opaque(_) if scalars.len() != 1 => None,
        Head::Const(_) | Head::Leaf(_) | Head::Proj(_) | Head::Opaque(_) => scalars.first().copied().flatten(),
    }
}

/// Nodes that say what loops of the function carry or are left with.
fn carried(universe: &Universe, skeleton: &Skeleton, view: &EGraphView) -> Vec<Carried> {
    let nodes = (0u32..).map(NodeId).zip(&view.nodes);
    let carried = nodes.filter_map(|(node, data)| {
        let Head::Op(op) = data.head else { return None };
        // What a state of a loop is the run says itself: it is the one that is live there.
        let role = universe.ops.get(op).in_loop.filter(|role| !role.is_state())?;
        let l = data.children.first()?;
        let of = skeleton.loops.iter().copied().find(|of| view.class_of(of.constant) == *l)?;
        Some(Carried { of, node, role })
    });
    carried.collect()
}

/// Nodes in an order of which each class's first node comes as early as its children allow.
fn order(view: &EGraphView, carried: &[Carried]) -> Vec<NodeId> {
    let mut missing: Vec<usize> = view.nodes.iter().map(|n| n.children.len()).collect();
    carried.iter().for_each(|carried| missing[carried.node.index()] = 0);
    let mut users: Vec<Vec<NodeId>> = vec![vec![]; view.classes.len()];
    let mut ready: std::collections::VecDeque<NodeId> = std::collections::VecDeque::new();
    for (i, node) in view.nodes.iter().enumerate() {
        if missing[i] > 0 {
            for child in &node.children {
                users[child.index()].push(NodeId(i as u32));
            }
        } else {
            ready.push_back(NodeId(i as u32));
        }
    }
    let mut seen = vec![false; view.classes.len()];
    let mut order = Vec::with_capacity(view.nodes.len());
    while let Some(n) = ready.pop_front() {
        order.push(n);
        let class = view.node_class[n.index()];
        if !std::mem::replace(&mut seen[class.index()], true) {
            for user in &users[class.index()] {
                missing[user.index()] -= 1;
                if missing[user.index()] == 0 {
                    ready.push_back(*user);
                }
            }
        }
    }
    order
}

fn show(denotation: &Denotation) -> String {
    match denotation {
        Denotation::Word(n) => n.to_string(),
        Denotation::Tuple(hash) => format!("unknown results {hash:x}"),
        Denotation::State(memory) => {
            let bytes = |a: &rewright_cfg_skeleton::ir::interp::Area| -> String {
                a.bytes.iter().map(|b| format!("{b:02x}")).collect()
            };
            memory.areas().iter().map(bytes).collect::<Vec<_>>().join(" ")
        }
    }
}
