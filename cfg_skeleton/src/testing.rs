//! A small universe, a builder of functions, and e-graph views made by hand, for tests of this crate and of others.
//!
//! Nothing here is part of the product; no pack is read.

pub mod domain;
pub mod random;

pub use domain::domain;

use crate::egraph::{Class, ClassId, EGraphInput, EGraphView, Head, InputId, Node, NodeId};
use crate::ir::{
    Access, Block, BlockId, Edge, EdgeArg, Function, InstId, InstKind, OpaqueEffects, PayloadId, RegionId, Terminator,
    Value,
};
use crate::select::{Def, Selection, StatementChoice, Status};
use crate::skeleton::{CheckKey, SegmentId, Skeleton, StatementKind};
use indexmap::IndexMap;
use rewright_typeprop::ops::{Cost, OpParam, TrapCheck};
use rewright_typeprop::term::Literal;
use rewright_typeprop::types::TypeDecl;
use rewright_typeprop::{Effects, Model, Op, OpId, Repr, Scalar, Term, Ty, TypeExpr, TypeParam, Universe};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The front end's numbers of trap codes in tests.
pub fn trap_code(name: &str) -> u32 {
    match name {
        "int_divz" => 1,
        "int_ovf" => 2,
        "heap_oob" => 3,
        _ => 99,
    }
}

/// `i8 i16 i32 i64` below `Int`, `f32 f64` below `Float`; and over `T <: Int` the pure
/// `iadd isub imul band bor bxor smin smax umin umax : (T, T) -> T`, all ten `icmp_* : (T, T) -> i8`, `select : (i8, T, T) -> T`,
/// `divmod : (T, T) -> (T, T)`; trapping `udiv` (`int_divz`) and `sdiv` (`int_divz`, and `int_ovf` iff `y == -1`);
/// `load : (p: i64, const offset: i64) -> T` and `store : (p: i64, v: T, const offset: i64)`; `tick : ()` with `io`.
pub fn universe() -> Universe {
    let mut u = Universe::default();
    let any = TypeExpr::App(u.types.lookup("Any").expect("every store has it"), vec![]);
    let mut declare = |name: &str, sup: &TypeExpr, model: Option<Scalar>| {
        let model = model.map(Repr::Scalar);
        let decl = TypeDecl { name: name.into(), params: vec![], supertype: Some(sup.clone()), model, opaque: false };
        let expr = TypeExpr::App(u.types.declare(decl), vec![]);
        u.types.instantiate(&expr, &[]);
        expr
    };
    let int = declare("Int", &any, None);
    let i8 = declare("i8", &int, Some(Scalar::I8));
    declare("i16", &int, Some(Scalar::I16));
    declare("i32", &int, Some(Scalar::I32));
    let i64 = declare("i64", &int, Some(Scalar::I64));
    let float = declare("Float", &any, None);
    declare("f32", &float, Some(Scalar::F32));
    declare("f64", &float, Some(Scalar::F64));

    let t = TypeExpr::Param(0);
    let params = |list: &[(&str, &TypeExpr)]| -> Vec<OpParam> {
        let param = |(name, ty): &(&str, &TypeExpr)| OpParam {
            name: name.trim_start_matches("const ").into(),
            ty: (*ty).clone(),
            constant: name.starts_with("const "),
        };
        list.iter().map(param).collect()
    };
    let op = |name: &str, params: Vec<OpParam>, results: Vec<TypeExpr>, cost: u32| Op {
        pack: "test".into(),
        tparams: vec![TypeParam { name: "T".into(), bound: Some(int.clone()) }],
        cost: Cost::Fixed(cost),
        ..Op::new(name, params, results)
    };
    let binary = [
        ("iadd", Model::Add, 1),
        ("isub", Model::Sub, 1),
        ("imul", Model::Mul, 3),
        ("band", Model::And, 1),
        ("bor", Model::Or, 1),
        ("bxor", Model::Xor, 1),
        ("ishl", Model::Shl, 1),
    ];
    for (name, model, cost) in binary {
        u.ops.declare(with(op(name, params(&[("x", &t), ("y", &t)]), vec![t.clone()], cost), model));
    }
    let comparison = |name: &str| op(name, params(&[("x", &t), ("y", &t)]), vec![i8.clone()], 1);
    let eq = u.ops.declare(with(comparison("icmp_eq"), Model::Eq));
    u.ops.declare(with(comparison("icmp_ult"), Model::Ult));
    let select = op("select", params(&[("c", &i8), ("x", &t), ("y", &t)]), vec![t.clone()], 1);
    u.ops.declare(with(select, Model::Select));
    u.ops.declare(op("divmod", params(&[("x", &t), ("y", &t)]), vec![t.clone(), t.clone()], 20));
    let divisor_is = |n: i128| Term::Call {
        op: eq,
        targs: vec![TypeExpr::Param(0)],
        args: vec![Term::Var(1), Term::Lit(Literal::Int(n), TypeExpr::Param(0))],
        state: None,
    };
    let mut udiv = with(op("udiv", params(&[("x", &t), ("y", &t)]), vec![t.clone()], 20), Model::Udiv);
    udiv.effects.traps = true;
    udiv.checks = vec![TrapCheck { code: "int_divz".into(), condition: Some(divisor_is(0)) }];
    u.ops.declare(udiv.clone());
    let mut sdiv = with(Op { name: "sdiv".into(), ..udiv }, Model::Sdiv);
    sdiv.checks.push(TrapCheck { code: "int_ovf".into(), condition: Some(divisor_is(-1)) });
    u.ops.declare(sdiv);
    let load = op("load", params(&[("p", &i64), ("const offset", &i64)]), vec![t.clone()], 4);
    let mut load = with(load, Model::Load);
    load.effects = Effects { reads: vec!["memory".into()], traps: true, ..Effects::default() };
    load.checks = vec![TrapCheck { code: "heap_oob".into(), condition: None }];
    u.ops.declare(load.clone());
    let store = op("store", params(&[("p", &i64), ("v", &t), ("const offset", &i64)]), vec![], 4);
    let mut store = with(store, Model::Store);
    store.effects = Effects { writes: vec!["memory".into()], traps: true, ..Effects::default() };
    store.checks = load.checks;
    u.ops.declare(store);
    let mut tick = op("tick", vec![], vec![], 10);
    tick.tparams.clear();
    tick.effects.io = true;
    u.ops.declare(tick);
    u.ops.declare(with(comparison("icmp_slt"), Model::Slt));
    u.ops.declare(with(comparison("icmp_sle"), Model::Sle));
    let more = [
        ("icmp_ne", Model::Ne),
        ("icmp_sgt", Model::Sgt),
        ("icmp_sge", Model::Sge),
        ("icmp_ule", Model::Ule),
        ("icmp_ugt", Model::Ugt),
        ("icmp_uge", Model::Uge),
    ];
    more.into_iter().for_each(|(name, model)| _ = u.ops.declare(with(comparison(name), model)));
    for (name, model) in [("smin", Model::Smin), ("smax", Model::Smax), ("umin", Model::Umin), ("umax", Model::Umax)] {
        u.ops.declare(with(op(name, params(&[("x", &t), ("y", &t)]), vec![t.clone()], 1), model));
    }
    u
}

fn with(op: Op, model: Model) -> Op {
    Op { model: Some(model), ..op }
}

/// An access to region 0 that may trap and may not move.
pub const PLAIN: Access =
    Access { region: RegionId(0), trap: Some(3), movable: false, readonly: false, aligned: false };

/// An access to region 0 that never traps, may move, and whose memory may change.
pub const MOVABLE: Access = Access { region: RegionId(0), trap: None, movable: true, readonly: false, aligned: true };

/// Makes a function. Everything panics on misuse: it is for tests.
#[derive(Clone, Debug)]
pub struct Builder<'u> {
    /// The function so far.
    pub function: Function,
    universe: &'u Universe,
    at: BlockId,
}

impl<'u> Builder<'u> {
    /// A function with an entry block of these parameters; that block is current.
    pub fn new(universe: &'u Universe, params: &[&str]) -> Self {
        let function = Function::new("test");
        let mut builder = Builder { function, universe, at: BlockId(0) };
        builder.block(params);
        builder
    }

    /// A type by name.
    pub fn ty(&self, name: &str) -> Ty {
        self.universe.types.find(name).expect("a type of the test universe")
    }

    /// A new block at the end of the layout; does not make it current.
    pub fn block(&mut self, params: &[&str]) -> BlockId {
        let id = self.function.add_block();
        for name in params {
            let value = self.function.add_value(self.ty(name));
            self.function.blocks[id.index()].params.push(value);
        }
        id
    }

    /// Goes on in this block.
    pub fn switch_to(&mut self, block: BlockId) {
        self.at = block;
    }

    /// A parameter of a block.
    pub fn param(&self, block: BlockId, index: usize) -> Value {
        self.function.block(block).params[index]
    }

    /// A constant.
    pub fn constant(&mut self, ty: &str, n: i64) -> Value {
        let ty = self.ty(ty);
        let inst = self.function.append(self.at, InstKind::Const(n), &[], &[ty]);
        self.function.inst(inst).results[0]
    }

    /// A declared operation at one type argument.
    pub fn inst(&mut self, name: &str, targ: &str, args: &[Value], access: Option<Access>) -> InstId {
        let id = self.universe.ops.by_unique(name).expect("an operation of the test universe");
        let op = self.universe.ops.get(id);
        let targs: SmallVec<[Ty; 2]> = op.tparams.iter().map(|_| self.ty(targ)).collect();
        let results: Vec<Ty> = op
            .results
            .iter()
            .map(|r| self.universe.types.find_instance(r, &targs).expect("types of the test universe are interned"))
            .collect();
        let inst = self.function.append(self.at, InstKind::Op { op: id, targs, access }, args, &results);
        self.function.insts[inst.index()].origin = Some(inst.0);
        inst
    }

    /// The first result of a declared operation without memory access.
    pub fn op(&mut self, name: &str, targ: &str, args: &[Value]) -> Value {
        let inst = self.inst(name, targ, args, None);
        self.function.inst(inst).results[0]
    }

    /// A load from `p + 0`.
    pub fn load(&mut self, ty: &str, p: Value, access: Access) -> Value {
        let zero = self.constant("i64", 0);
        let inst = self.inst("load", ty, &[p, zero], Some(access));
        self.function.inst(inst).results[0]
    }

    /// A store to `p + 0`.
    pub fn store(&mut self, ty: &str, p: Value, v: Value, access: Access) {
        let zero = self.constant("i64", 0);
        self.inst("store", ty, &[p, v, zero], Some(access));
    }

    /// Something that is not modelled.
    pub fn opaque(&mut self, payload: u32, effects: OpaqueEffects, args: &[Value], results: &[&str]) -> Vec<Value> {
        let results: Vec<Ty> = results.iter().map(|r| self.ty(r)).collect();
        let kind = InstKind::Opaque { payload: PayloadId(payload), effects };
        let inst = self.function.append(self.at, kind, args, &results);
        self.function.insts[inst.index()].origin = Some(inst.0);
        self.function.inst(inst).results.to_vec()
    }

    /// `trapnz` (`when`) or `trapz`.
    pub fn check(&mut self, condition: Value, code: u32, when: bool) {
        self.function.append(self.at, InstKind::Check { code, when }, &[condition], &[]);
    }

    /// Ends the current block.
    pub fn end(&mut self, term: Terminator) {
        self.function.blocks[self.at.index()].term = term;
    }

    /// Ends the current block with a jump.
    pub fn jump(&mut self, target: BlockId, args: &[Value]) {
        self.end(Terminator::Jump(edge(target, args)));
    }

    /// Ends the current block with a branch.
    pub fn branch(&mut self, cond: Value, then: (BlockId, &[Value]), els: (BlockId, &[Value])) {
        self.end(Terminator::Branch { cond, then: edge(then.0, then.1), els: edge(els.0, els.1) });
    }

    /// Ends the current block, and gives the function its result types.
    pub fn ret(&mut self, values: &[Value]) {
        self.function.results = values.iter().map(|v| self.function.ty(*v)).collect();
        self.end(Terminator::Return(SmallVec::from_slice(values)));
    }
}

/// An edge that carries values.
pub fn edge(target: BlockId, args: &[Value]) -> Edge {
    Edge { target, args: args.iter().map(|v| EdgeArg::Value(*v)).collect() }
}

/// The view in which these input nodes have been united, and congruence closed.
pub fn view(input: &EGraphInput, unions: &[(InputId, InputId)]) -> EGraphView {
    let n = input.nodes.len();
    let mut up: Vec<usize> = (0..n).collect();
    for (a, b) in unions {
        unite(&mut up, a.index(), b.index());
    }
    loop {
        let mut known: IndexMap<Node<InputId>, usize> = IndexMap::new();
        let mut changed = false;
        for i in 0..n {
            let node = canonical(&input.nodes[i], &mut up);
            let first = *known.entry(node).or_insert(i);
            changed |= unite(&mut up, first, i);
        }
        if !changed {
            break;
        }
    }
    let mut class_of_root: IndexMap<usize, ClassId> = IndexMap::new();
    let mut view = EGraphView::default();
    for i in 0..n {
        let root = find(&mut up, i);
        let next = ClassId(class_of_root.len() as u32);
        let class = *class_of_root.entry(root).or_insert(next);
        view.classes.resize_with(class_of_root.len(), Class::default);
        view.input_class.push(class);
    }
    let mut seen: IndexMap<Node<ClassId>, NodeId> = IndexMap::new();
    for (i, node) in input.nodes.iter().enumerate() {
        let class = view.input_class[i];
        let children = node.children.iter().map(|c| view.input_class[c.index()]).collect();
        let node = Node { head: node.head, types: node.types.clone(), children };
        if seen.contains_key(&node) {
            continue;
        }
        let id = NodeId(view.nodes.len() as u32);
        seen.insert(node.clone(), id);
        if let Head::Const(n) = node.head {
            if view.classes[class.index()].constant.is_some() {
                view.contradictions.push(class);
            }
            view.classes[class.index()].constant = Some(n);
        }
        view.classes[class.index()].nodes.push(id);
        view.nodes.push(node);
        view.node_class.push(class);
    }
    view
}

fn canonical(node: &Node<InputId>, up: &mut [usize]) -> Node<InputId> {
    let children = node.children.iter().map(|c| InputId(find(up, c.index()) as u32)).collect();
    Node { head: node.head, types: node.types.clone(), children }
}

fn find(up: &mut [usize], mut at: usize) -> usize {
    while up[at] != at {
        up[at] = up[up[at]];
        at = up[at];
    }
    at
}

/// The smaller number stays the root, so that the result depends on the input only.
fn unite(up: &mut [usize], a: usize, b: usize) -> bool {
    let (a, b) = (find(up, a), find(up, b));
    up[a.max(b)] = a.min(b);
    a != b
}

/// The id of an operation of the test universe.
pub fn op_id(universe: &Universe, name: &str) -> OpId {
    universe.ops.by_unique(name).expect("an operation of the test universe")
}

/// The instructions of a block.
pub fn block_insts(function: &Function, block: BlockId) -> &[InstId] {
    let Block { insts, .. } = function.block(block);
    insts
}

/// The selection that chooses the program as it is: every value by its own node at its own place, every statement
/// kept, checks performed by their instruction.
pub fn identity_selection(function: &Function, skeleton: &Skeleton, view: &EGraphView) -> Selection {
    let mut defs: BTreeMap<(SegmentId, ClassId), Def> = BTreeMap::new();
    let mut statements = vec![StatementChoice::Keep { fused: true }; skeleton.statements.len()];
    let node = |input: InputId| {
        let node = &skeleton.input.nodes[input.index()];
        let class = view.class_of(input);
        let same = |id: &&NodeId| {
            let other = view.node(**id);
            let children = node.children.iter().map(|c| view.class_of(*c));
            other.head == node.head && other.types == node.types && children.eq(other.children.iter().copied())
        };
        *view.class(class).nodes.iter().find(same).expect("a view holds the nodes of its input")
    };
    for block in &skeleton.layout {
        let data = &skeleton.blocks[block.index()];
        let mut segment = SegmentId(data.first_segment);
        for (i, param) in data.params.iter().enumerate() {
            let def = Def::Param { block: *block, index: i as u32 };
            defs.entry((segment, view.class_of(*param))).or_insert(def);
        }
        let mut sites = skeleton.sites(*block).peekable();
        for inst in &function.block(*block).insts {
            let results = &function.inst(*inst).results;
            let inputs = results.iter().map(|v| skeleton.value_input[v.index()].expect("built from this function"));
            let mut first = true;
            while let Some(site) = sites.next_if(|s| skeleton.statement(*s).inst == *inst) {
                let kind = &skeleton.statement(site).kind;
                if let (
                    InstKind::Check { when: false, .. },
                    StatementKind::Check { key: CheckKey::Condition { condition, .. }, .. },
                ) = (&function.inst(*inst).kind, kind)
                {
                    // The program has no value for "it is zero".
                    for input in [*condition, skeleton.input.nodes[condition.index()].children[1]] {
                        defs.entry((segment, view.class_of(input))).or_insert(Def::Node(node(input)));
                    }
                }
                if let StatementKind::Check { key: CheckKey::Condition { condition, tested, .. }, .. } = kind
                    && tested != condition
                {
                    defs.entry((segment, view.class_of(*tested))).or_insert(Def::Node(node(*tested)));
                }
                if let StatementKind::Call { node: own, .. } | StatementKind::Write { out: own, .. } = kind {
                    defs.insert((segment, crate::select::executed(view, site)), Def::Node(node(*own)));
                }
                segment = skeleton.segment_after(site);
                if !first {
                    statements[site.index()] = StatementChoice::Drop;
                    continue;
                }
                first = false;
                for (index, input) in inputs.clone().enumerate() {
                    let def = Def::Result { site, index: index as u32 };
                    defs.insert((segment, view.class_of(input)), def);
                }
            }
            if !first {
                continue;
            }
            for input in inputs {
                defs.entry((segment, view.class_of(input))).or_insert(Def::Node(node(input)));
                if let Head::Proj(_) = skeleton.input.nodes[input.index()].head {
                    let tuple = skeleton.input.nodes[input.index()].children[0];
                    defs.entry((segment, view.class_of(tuple))).or_insert(Def::Node(node(tuple)));
                }
            }
        }
        // The condition of a branch is no value of the program either.
        let last = skeleton.last_segment(*block);
        let of_values = |input: &InputId| skeleton.value_input.contains(&Some(*input));
        for input in data.operands.iter().filter(|input| !of_values(input)) {
            defs.entry((last, view.class_of(*input))).or_insert(Def::Node(node(*input)));
        }
    }
    Selection { defs, statements, cost: 0, rematerialised: 0, placement_cost: 0, status: Status::Greedy }
}
