//! Small random programs with random equalities, against brute force: greedy is right, the integer program is best.

use super::*;
use crate::egraph::ClassId;
use crate::ir::{BlockId, OpaqueEffects, Value};
use crate::select::segments::SegmentTree;
use crate::skeleton::{CheckKey, SkeletonArg, StatementKind};
use std::io::Write;

/// Numbers that look random: xorshift64*.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

/// Operations at the end of the current block.
fn fill(b: &mut Builder, values: &mut Vec<Value>, random: &mut Random) {
    for _ in 0..random.below(3) {
        let (x, y) = (values[random.below(values.len())], values[random.below(values.len())]);
        let v = match random.below(9) {
            0 => b.op("imul", "i32", &[x, y]),
            1 => b.op("isub", "i32", &[x, y]),
            2 => b.op("band", "i32", &[x, y]),
            3 => b.op("udiv", "i32", &[x, y]),
            4 => b.opaque(random.below(3) as u32, OpaqueEffects::Writes, &[x], &["i32"])[0],
            5 => b.opaque(random.below(3) as u32, OpaqueEffects::Pure, &[x, y], &["i32"])[0],
            6 => b.constant("i32", random.below(3) as i64),
            _ => b.op("iadd", "i32", &[x, y]),
        };
        values.push(v);
    }
}

/// A line, a diamond or a loop, and now and then another one in an arm, in the loop or after it; goes on after all.
fn region(b: &mut Builder, values: &mut Vec<Value>, random: &mut Random, depth: usize) {
    fill(b, values, random);
    let inner = |b: &mut Builder, values: &mut Vec<Value>, random: &mut Random| match random.below(6) {
        0 if depth > 0 => region(b, values, random, depth - 1),
        _ => fill(b, values, random),
    };
    match random.below(3) {
        0 => {}
        1 => {
            let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
            let c = values[random.below(values.len())];
            b.branch(c, (left, &[]), (right, &[]));
            for arm in [left, right] {
                let mut own = values.clone();
                b.switch_to(arm);
                inner(b, &mut own, random);
                let arg = own[own.len() - 1];
                b.jump(join, &[arg]);
            }
            b.switch_to(join);
            values.push(b.param(join, 0));
            inner(b, values, random);
        }
        _ => {
            let (head, exit) = (b.block(&["i32"]), b.block(&[]));
            let init = values[random.below(values.len())];
            b.jump(head, &[init]);
            b.switch_to(head);
            values.push(b.param(head, 0));
            inner(b, values, random);
            let (c, next) = (values[random.below(values.len())], values[values.len() - 1]);
            b.branch(c, (head, &[next]), (exit, &[]));
            b.switch_to(exit);
            inner(b, values, random);
        }
    }
}

pub(super) fn program<'u>(u: &'u Universe, random: &mut Random) -> (Builder<'u>, Vec<Value>) {
    let mut b = Builder::new(u, &["i32", "i32"]);
    let mut values = vec![b.param(BlockId(0), 0), b.param(BlockId(0), 1)];
    region(&mut b, &mut values, random, 1);
    let results: Vec<Value> = (0..1 + random.below(2)).map(|_| values[values.len() - 1 - random.below(2)]).collect();
    b.ret(&results);
    (b, values)
}

/// A function, and random nodes that equal some of its values.
fn instance<'u>(u: &'u Universe, random: &mut Random) -> Case<'u> {
    let (b, _) = program(u, random);
    let mut case = Case::new(&b, u);
    let i32 = u.types.find("i32").expect("a type of the test universe");
    for _ in 0..1 + random.below(4) {
        let compare = Head::Op(op_id(u, "icmp_eq"));
        let of_type = |n: &Node<InputId>| n.types.first() == Some(&i32) && n.head != compare;
        let inputs: Vec<InputId> = case
            .skeleton
            .input
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, n)| of_type(n))
            .map(|(i, _)| InputId(i as u32))
            .collect();
        let mut pick = || inputs[random.below(inputs.len())];
        let (x, y, z) = (pick(), pick(), pick());
        let name = ["iadd", "isub", "bor", "imul"][random.below(4)];
        let node = case.op(name, "i32", &[x, y]);
        let other = if random.below(5) == 0 { x } else { z };
        case.unite(node, other);
    }
    case
}

/// Is there anything cheaper than `bound`? `None` where the search is not finished within its steps.
pub(super) fn cheaper(case: &Case, start: &Selection, bound: u64) -> Option<Option<Selection>> {
    let tree = SegmentTree::new(&case.skeleton, &case.cfg);
    let checks: Vec<usize> = (0..case.skeleton.statements.len())
        .filter(|s| {
            let check = matches!(case.skeleton.statements[*s].kind, StatementKind::Check { value: Some(_), .. });
            check && start.statements[*s] != StatementChoice::Drop
        })
        .collect();
    let mut steps = 60_000u32;
    for fused in 0..1u32 << checks.len() {
        let mut selection = Selection { defs: BTreeMap::new(), ..start.clone() };
        for (bit, site) in checks.iter().enumerate() {
            selection.statements[*site] = StatementChoice::Keep { fused: fused >> bit & 1 == 1 };
        }
        let mut demands = vec![];
        for (n, statement) in case.skeleton.statements.iter().enumerate() {
            let segment = case.skeleton.segment_before(SiteId(n as u32));
            let StatementChoice::Keep { fused } = selection.statements[n] else { continue };
            let inputs: Vec<InputId> = match &statement.kind {
                StatementKind::Opaque { operands, .. } => operands.to_vec(),
                StatementKind::Check { value: Some(value), .. } if fused => {
                    case.skeleton.input.nodes[value.index()].children.to_vec()
                }
                StatementKind::Check { key: CheckKey::Condition { tested, .. }, .. } => vec![*tested],
                _ => vec![],
            };
            demands.extend(inputs.into_iter().map(|i| (segment, case.view.class_of(i))));
        }
        for block in &case.skeleton.layout {
            let operands = &case.skeleton.blocks[block.index()].operands;
            demands.extend(operands.iter().map(|i| (case.skeleton.last_segment(*block), case.view.class_of(*i))));
        }
        if let Some(found) = descend(case, &tree, &mut selection, demands, bound, &mut steps) {
            return Some(Some(found));
        }
        if steps == 0 {
            return None;
        }
    }
    Some(None)
}

fn priced(case: &Case, selection: &Selection) -> u64 {
    cost::total(&CostModel::default(), case.saturated(), selection)
}

fn descend(
    case: &Case,
    tree: &SegmentTree,
    selection: &mut Selection,
    mut demands: Vec<(SegmentId, ClassId)>,
    bound: u64,
    steps: &mut u32,
) -> Option<Selection> {
    if *steps == 0 || priced(case, selection) >= bound {
        return None;
    }
    *steps -= 1;
    let met = |selection: &Selection, (at, class): (SegmentId, ClassId)| {
        selection.defs.keys().any(|(s, c)| *c == class && tree.dominates(*s, at))
    };
    let (at, class) = loop {
        match demands.pop() {
            None => {
                let found = Selection { cost: priced(case, selection), ..selection.clone() };
                return case.validate(&found).is_empty().then_some(found);
            }
            Some(demand) if met(selection, demand) => {}
            Some(demand) => break demand,
        }
    };
    let mut place = Some(at);
    while let Some(segment) = place {
        place = tree.parent(segment);
        let mut options: Vec<(Def, Vec<(SegmentId, ClassId)>)> = vec![];
        for id in &case.view.class(class).nodes {
            let node = case.view.node(*id);
            let value = match node.head {
                Head::Op(op) => !case.universe.ops.get(op).results.is_empty(),
                Head::Const(_) | Head::Opaque(_) | Head::Proj(_) | Head::Copy => true,
                Head::Leaf(_) | Head::Token(_) => false,
            };
            if value && !node.children.contains(&class) {
                options.push((Def::Node(*id), node.children.iter().map(|c| (segment, *c)).collect()));
            }
        }
        let block = tree.block(segment);
        let data = &case.skeleton.blocks[block.index()];
        for (index, input) in data.params.iter().enumerate() {
            if data.first_segment == segment.0 && case.view.class_of(*input) == class {
                let mut needs = vec![];
                for from in &case.skeleton.layout {
                    for edge in case.skeleton.blocks[from.index()].edges.iter().filter(|e| e.target == block) {
                        let SkeletonArg::Node(arg) = edge.args[index] else { continue };
                        needs.push((case.skeleton.last_segment(*from), case.view.class_of(arg)));
                    }
                }
                options.push((Def::Param { block, index: index as u32 }, needs));
            }
        }
        for (n, statement) in case.skeleton.statements.iter().enumerate() {
            let site = SiteId(n as u32);
            for (index, (_, input)) in statement.results.iter().enumerate() {
                if case.skeleton.segment_after(site) == segment && case.view.class_of(*input) == class {
                    options.push((Def::Result { site, index: index as u32 }, vec![]));
                }
            }
        }
        for (def, needs) in options {
            selection.defs.insert((segment, class), def);
            let more = demands.iter().copied().chain(needs).collect();
            let found = descend(case, tree, selection, more, bound, steps);
            selection.defs.remove(&(segment, class));
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// Selections of random pairs of an e-graph and a dominator tree. Each is accepted by the validator (or there is none),
/// the integer program's is optimal whether parts are searched or solved, and where trying everything comes to an end,
/// nothing is cheaper.
fn compare(seed: u64, pairs: usize) {
    let u = universe();
    let mut random = Random(seed);
    let (mut made, mut finished, mut improved, mut blocks) = (0, 0, 0, [0; 12]);
    while made < pairs {
        let n = made;
        let case = instance(&u, &mut random);
        if !case.view.contradictions.is_empty() {
            continue;
        }
        made += 1;
        blocks[case.skeleton.layout.len().min(11)] += 1;
        let greedy = case.select(Method::Greedy);
        let ilp = case.select(Method::Ilp);
        assert_eq!(ilp.status, Status::Optimal, "pair {n}");
        assert!(ilp.cost <= greedy.cost, "pair {n}");
        let budget = Budget { search: 0, ..Budget::default() };
        let solved = case.select_with(&Options { budget, ..case.options(Method::Ilp) });
        assert_eq!((solved.cost, solved.status), (ilp.cost, Status::Optimal), "pair {n}");
        improved += usize::from(ilp.cost < greedy.cost);
        match cheaper(&case, &greedy, ilp.cost) {
            None => {}
            Some(None) => finished += 1,
            Some(Some(found)) => panic!("pair {n}: {} instead of {}: {found:?}", found.cost, ilp.cost),
        }
    }
    writeln!(
        std::io::stderr(),
        "{pairs} pairs, by number of blocks {blocks:?}; everything tried on {finished}; better than greedy on \
         {improved}"
    )
    .expect("stderr is there");
    assert!(finished * 3 > pairs && improved > 0, "{finished} finished, {improved} improved");
}

#[test]
fn nothing_is_cheaper_than_the_integer_program() {
    compare(0x9e37_79b9_7f4a_7c15, 250);
}

#[test]
#[ignore = "minutes"]
fn nothing_is_cheaper_than_the_integer_program_on_10_000_pairs() {
    compare(0x1234_5678_9abc_def1, 10_000);
}
