//! Statements that only allocate: where they go, how often they are executed, and what the validator says of wrong places.

use super::oracle::Random;
use super::*;
use crate::ir::interp::{self, Host, Memory, Outcome};
use crate::ir::shares::note_shares;
use crate::ir::{BlockId, Inst, OpaqueEffects, Value};
use rewright_typeprop::ops::{Cost, OpParam};
use rewright_typeprop::types::TypeDecl;
use rewright_typeprop::{Effects, Op, TypeExpr, TypeParam};
use smallvec::SmallVec;

/// The test universe with `make{T}(x: T) -> T`, `cheap{T}(x: T) -> T` and `join{T}(x: T, y: T) -> T`, which give new
/// objects, and the pure `look{T}(x: T) -> T` and `free_of_charge{T}(x: T) -> T`, which allocates for nothing.
fn with_make() -> Universe {
    let mut u = universe();
    let any = TypeExpr::App(u.types.lookup("Any").expect("every store has it"), vec![]);
    let thing = TypeDecl { name: "Thing".into(), params: vec![], supertype: Some(any), model: None, opaque: false };
    let thing = TypeExpr::App(u.types.declare(thing), vec![]);
    u.types.instantiate(&thing, &[]);
    let param = |name: &str| OpParam { name: name.into(), ty: TypeExpr::Param(0), constant: false };
    let mut declare = |name: &str, operands: &[&str], allocates: bool, cost| {
        let allocates = if allocates { vec!["heap".to_string()] } else { vec![] };
        u.ops.declare(Op {
            tparams: vec![TypeParam { name: "T".into(), bound: None }],
            effects: Effects { allocates, ..Effects::default() },
            cost: Cost::Fixed(cost),
            ..Op::new(name, operands.iter().map(|name| param(name)).collect(), vec![TypeExpr::Param(0)])
        });
    };
    declare("make", &["x"], true, 60);
    declare("cheap", &["x"], true, 40);
    declare("join", &["x", "y"], true, 90);
    declare("free_of_charge", &["x"], true, 0);
    declare("look", &["x"], false, 5);
    u
}

/// The same with the shares of arms.
fn case<'u>(b: &Builder<'u>, u: &'u Universe) -> Case<'u> {
    let mut b = b.clone();
    note_shares(&mut b.function, u);
    Case::new(&b, u)
}

/// The blocks in which a value's class is computed, by both methods.
fn places(case: &Case, value: Value) -> Vec<BlockId> {
    let class = case.view.class_of(case.input(value));
    let [greedy, ilp] = [Method::Greedy, Method::Ilp].map(|method| {
        let selection = case.select(method);
        let defs = selection.defs.keys().filter(|(_, c)| *c == class);
        defs.map(|(s, _)| case.skeleton.segment_block[s.index()]).collect::<Vec<_>>()
    });
    assert_eq!(greedy, ilp);
    ilp
}

fn say(b: &mut Builder, value: Value) {
    b.opaque(1, OpaqueEffects::Observes, &[value], &[]);
}

fn touch(b: &mut Builder, value: Value) {
    b.opaque(2, OpaqueEffects::Writes, &[value], &[]);
}

/// A branch whose arms are filled and meet again; gives the arms.
fn diamond(b: &mut Builder, c: Value, fill: [&dyn Fn(&mut Builder); 2]) -> [BlockId; 2] {
    let [left, right, join] = std::array::from_fn(|_| b.block(&[]));
    b.branch(c, (left, &[]), (right, &[]));
    for (arm, fill) in [left, right].into_iter().zip(fill) {
        b.switch_to(arm);
        fill(b);
        b.jump(join, &[]);
    }
    b.switch_to(join);
    [left, right]
}

const NOTHING: &dyn Fn(&mut Builder) = &|_| {};

#[test]
fn what_one_arm_needs_is_made_there_and_what_nobody_needs_nowhere() {
    let u = with_make();
    let mut b = Builder::new(&u, &["i64", "i64"]);
    let [x, c] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let dead = b.op("make", "i64", &[x]);
    let object = b.op("make", "i64", &[x]);
    let [left, _] = diamond(&mut b, c, [&|b| say(b, object), NOTHING]);
    b.ret(&[x]);
    let case = case(&b, &u);
    assert_eq!(places(&case, dead), []);
    assert_eq!(places(&case, object), [left]);
    assert_eq!(case.select(Method::Ilp).status, Status::Optimal);
}

#[test]
fn what_all_need_stays_where_it_is() {
    let u = with_make();
    let mut b = Builder::new(&u, &["i64", "i64"]);
    let [x, c] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let object = b.op("make", "i64", &[x]);
    let before = b.op("make", "i64", &[c]);
    say(&mut b, x);
    diamond(&mut b, c, [&|b| say(b, object), &|b| say(b, object)]);
    say(&mut b, before);
    b.ret(&[x]);
    let case = case(&b, &u);
    assert_eq!(places(&case, object), [BlockId(0)], "two copies are worth no more than one");
    assert_eq!(places(&case, before), [BlockId(0)]);
    assert_eq!(listing(&case.optimised(), &u)[..3], ["make", "make", "opaque"], "nor does it move within a block");
}

/// One object is changed in one arm, and again in the next branch's: made in both it would be two.
#[test]
fn two_branches_in_a_row_see_one_object() {
    let u = with_make();
    let mut b = Builder::new(&u, &["i64", "i64", "i64"]);
    let [x, c, d] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let object = b.op("make", "i64", &[x]);
    diamond(&mut b, c, [&|b| touch(b, object), NOTHING]);
    diamond(&mut b, d, [&|b| touch(b, object), NOTHING]);
    b.ret(&[x]);
    let mut case = case(&b, &u);
    assert_eq!(places(&case, object), [BlockId(0)]);
    // Where both are rare, two would be cheaper.
    for arm in [1, 4] {
        case.function.blocks[arm].counts.executions = Some(1);
    }
    case.cfg = Cfg::new(&case.function);
    assert_eq!(places(&case, object), [BlockId(0)]);
    assert_ne!(case.select(Method::Ilp).status, Status::Optimal, "two in the arms bound it from below");
}

#[test]
fn exclusive_arms_have_an_object_each() {
    let u = with_make();
    let mut b = Builder::new(&u, &["i64", "i64", "i64"]);
    let [x, c, d] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let object = b.op("make", "i64", &[x]);
    let [_, right] = diamond(&mut b, c, [&|b| touch(b, object), NOTHING]);
    b.switch_to(right);
    let [inner, _] = diamond(&mut b, d, [&|b| touch(b, object), NOTHING]);
    b.ret(&[x]);
    assert_eq!(places(&case(&b, &u), object), [BlockId(1), inner]);
}

#[test]
fn an_object_from_before_a_loop_is_not_made_in_it() {
    let u = with_make();
    let mut b = Builder::new(&u, &["i64", "i64"]);
    let [x, c] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let object = b.op("make", "i64", &[x]);
    let (head, exit) = (b.block(&["i64"]), b.block(&[]));
    b.jump(head, &[c]);
    b.switch_to(head);
    let n = b.param(head, 0);
    touch(&mut b, object);
    let inner = b.op("make", "i64", &[n]);
    let last = b.op("make", "i64", &[n]);
    say(&mut b, inner);
    let one = b.constant("i64", 1);
    let next = b.op("isub", "i64", &[n, one]);
    b.branch(next, (head, &[next]), (exit, &[]));
    b.switch_to(exit);
    say(&mut b, last);
    b.ret(&[x]);
    let mut case = case(&b, &u);
    case.function.blocks[head.index()].counts.executions = Some(1);
    case.cfg = Cfg::new(&case.function);
    assert_eq!(places(&case, object), [BlockId(0)], "one for all iterations");
    assert_eq!(places(&case, inner), [head], "one for each");
    assert_eq!(places(&case, last), [head], "what a loop makes is not made behind it");
}

/// A function that is given a thing may find another one, or none, behind a write. Numbers stay what they are.
#[test]
fn what_takes_a_thing_does_not_move_past_a_write() {
    for (operand, moves) in [("i64", true), ("Thing", false)] {
        let u = with_make();
        let mut b = Builder::new(&u, &[operand, "i64"]);
        let [x, c] = std::array::from_fn(|n| b.param(BlockId(0), n));
        let object = b.op("make", operand, &[x]);
        touch(&mut b, c);
        let before = b.op("make", operand, &[x]);
        say(&mut b, c);
        let [left, _] = diamond(
            &mut b,
            c,
            [
                &|b| {
                    say(b, object);
                    say(b, before);
                    touch(b, c);
                    let late = b.op("make", operand, &[x]);
                    say(b, late);
                },
                NOTHING,
            ],
        );
        b.ret(&[c]);
        let case = case(&b, &u);
        assert_eq!(places(&case, object), [if moves { left } else { BlockId(0) }], "{operand}");
        assert_eq!(places(&case, before), [left], "{operand}");
        let mut wrong = case.select(Method::Greedy);
        let class = case.view.class_of(case.input(object));
        let (key, def) = wrong.defs.iter().find(|((_, c), _)| *c == class).map(|(key, def)| (*key, *def)).unwrap();
        wrong.defs.remove(&key);
        wrong.defs.insert((SegmentId(case.skeleton.blocks[left.index()].first_segment), class), def);
        let past = case.validate(&wrong).iter().any(|v| matches!(v, Violation::MovedOverWrite(..)));
        assert_eq!(past, !moves, "{operand}");
    }
}

/// Wrong selections of the first program, and what is wrong with them.
#[test]
fn the_validator_counts_objects() {
    let u = with_make();
    let mut b = Builder::new(&u, &["i64", "i64"]);
    let [x, c] = std::array::from_fn(|n| b.param(BlockId(0), n));
    let (head, exit) = (b.block(&[]), b.block(&[]));
    b.jump(head, &[]);
    b.switch_to(head);
    let object = b.op("make", "i64", &[x]);
    let [left, right] = diamond(&mut b, c, [&|b| say(b, object), NOTHING]);
    let again = b.block(&[]);
    b.branch(c, (again, &[]), (exit, &[]));
    b.switch_to(again);
    say(&mut b, object);
    b.jump(again, &[]);
    b.switch_to(exit);
    b.ret(&[object]);
    let case = case(&b, &u);
    let selection = case.select(Method::Greedy);
    assert_eq!(case.validate(&selection), []);
    let class = case.view.class_of(case.input(object));
    let first = |block: BlockId| SegmentId(case.skeleton.blocks[block.index()].first_segment);
    let (place, def) = selection.defs.iter().find(|((_, c), _)| *c == class).map(|(key, def)| (key.0, *def)).unwrap();
    let wrong = |places: &[BlockId]| {
        let mut wrong = selection.clone();
        wrong.defs.remove(&(place, class));
        wrong.defs.extend(places.iter().map(|block| ((first(*block), class), def)));
        case.validate(&wrong)
    };
    let has = |found: &[Violation], wanted: fn(&Violation) -> bool| found.iter().any(wanted);
    let twice: fn(&Violation) -> bool = |v| matches!(v, Violation::ExecutedTwice(..));
    let far: fn(&Violation) -> bool = |v| matches!(v, Violation::MovedTooFar(..));
    assert!(!has(&wrong(&[left, right]), twice), "the arms exclude each other");
    assert!(has(&wrong(&[left, exit]), twice), "an arm, and what follows");
    assert!(has(&wrong(&[head, left]), twice), "above an arm, and in it");
    assert!(has(&wrong(&[again]), twice), "in a loop below");
    assert!(has(&wrong(&[BlockId(0)]), far), "above the statement");
    assert!(wrong(&[]).iter().any(|v| matches!(v, Violation::Unavailable(..))), "nowhere");
}

/// Objects by number, and what they were made of; some change.
struct World<'u> {
    universe: &'u Universe,
    /// Are operands what they refer to now, as those are that are no numbers?
    by_content: bool,
    /// By object: what it was made of, and how often it has been changed.
    objects: Vec<(Vec<i64>, u64)>,
    /// What was observed: the call, the objects by the order in which they came up first, what they are.
    trace: Vec<Vec<i64>>,
    /// Objects in the order in which they came up.
    met: Vec<i64>,
}

/// What objects are numbered from.
const OBJECT: i64 = 1 << 40;

impl World<'_> {
    /// A value without the number that an object happens to have.
    fn name(&mut self, value: i64, trace: &mut Vec<i64>) {
        if value < OBJECT {
            trace.push(value);
            return;
        }
        let n = self.met.iter().position(|met| *met == value).unwrap_or_else(|| {
            self.met.push(value);
            self.met.len() - 1
        });
        let (operands, changes) = self.objects[(value - OBJECT) as usize].clone();
        trace.extend([-1 - n as i64, changes as i64]);
        for operand in operands {
            self.name(operand, trace);
        }
    }

    fn note(&mut self, call: i64, values: &[i64]) {
        let mut trace = vec![call];
        values.iter().for_each(|value| self.name(*value, &mut trace));
        self.trace.push(trace);
    }
}

impl Host for World<'_> {
    fn trap_code(&self, name: &str) -> u32 {
        trap_code(name)
    }

    fn execute(&mut self, inst: &Inst, args: &[i64], _: &mut Memory) -> Result<SmallVec<[i64; 2]>, Outcome> {
        match inst.kind {
            InstKind::Opaque { effects, .. } => {
                if effects == OpaqueEffects::Writes && args[0] >= OBJECT {
                    self.objects[(args[0] - OBJECT) as usize].1 += 1;
                }
                self.note(effects as i64, args);
                Ok(SmallVec::new())
            }
            InstKind::Op { op, .. } if op == op_id(self.universe, "look") => {
                let object = args[0].checked_sub(OBJECT).and_then(|n| self.objects.get(usize::try_from(n).ok()?));
                Ok([object.map_or(args[0], |object| object.0[0])][..].into())
            }
            _ => {
                let changes = |arg: &i64| {
                    let object = usize::try_from(*arg - OBJECT).ok().and_then(|n| self.objects.get(n));
                    object.map_or(0, |object| object.1 as i64)
                };
                let found: Vec<i64> = args.iter().filter(|_| self.by_content).map(changes).collect();
                self.objects.push(([args, &found].concat(), 0));
                Ok([OBJECT + self.objects.len() as i64 - 1][..].into())
            }
        }
    }
}

/// Statements at the end of the current block: objects are made, looked into, said and changed.
fn fill(b: &mut Builder, objects: &mut Vec<Value>, random: &mut Random, most: usize, ty: &str) {
    for _ in 0..random.below(most + 1) {
        let pick = |random: &mut Random| random.below(objects.len());
        let (x, y) = (objects[pick(random)], objects[pick(random)]);
        match random.below(9) {
            0..=2 => objects.push(b.op("make", ty, &[x])),
            3 => objects.push(b.op("join", ty, &[x, y])),
            4 => objects.push(b.op("free_of_charge", ty, &[x])),
            5 => objects.push(b.op("look", ty, &[x])),
            6 | 7 => say(b, x),
            _ => touch(b, x),
        }
    }
}

fn region(b: &mut Builder, objects: &mut Vec<Value>, random: &mut Random, depth: usize, ty: &str) {
    fill(b, objects, random, 3, ty);
    match if depth == 0 { 0 } else { random.below(4) } {
        0 => {}
        1 | 2 => {
            let carries = random.below(2) == 0;
            let (left, right) = (b.block(&[]), b.block(&[]));
            let join = b.block(if carries { std::slice::from_ref(&ty) } else { &[] });
            let c = b.param(BlockId(0), 1 + random.below(3));
            b.branch(c, (left, &[]), (right, &[]));
            for arm in [left, right] {
                b.switch_to(arm);
                let mut own = objects.clone();
                region(b, &mut own, random, depth - 1, ty);
                let arg = own[own.len() - 1 - random.below(2).min(own.len() - 1)];
                b.jump(join, if carries { std::slice::from_ref(&arg) } else { &[] });
            }
            b.switch_to(join);
            if carries {
                objects.push(b.param(join, 0));
            }
        }
        _ => {
            let (head, body, exit) = (b.block(&["i64", ty]), b.block(&[]), b.block(&[]));
            let init = objects[random.below(objects.len())];
            let two = b.constant("i64", 2);
            b.jump(head, &[two, init]);
            b.switch_to(head);
            let (count, carried) = (b.param(head, 0), b.param(head, 1));
            objects.push(carried);
            fill(b, objects, random, 2, ty);
            b.branch(count, (body, &[]), (exit, &[]));
            b.switch_to(body);
            let mut own = objects.clone();
            region(b, &mut own, random, depth - 1, ty);
            let one = b.constant("i64", 1);
            let rest = b.op("isub", "i64", &[count, one]);
            let next = own[random.below(own.len())];
            b.jump(head, &[rest, next]);
            b.switch_to(exit);
        }
    }
    fill(b, objects, random, 3, ty);
}

fn run(f: &Function, u: &Universe, args: &[i64], by_content: bool) -> (bool, Vec<Vec<i64>>, usize) {
    let mut world = World { universe: u, by_content, objects: vec![], trace: vec![], met: vec![] };
    let outcome = interp::run(f, u, args, &mut Memory::default(), &mut world, 10_000);
    if let Outcome::Return(values) = &outcome {
        world.note(-7, values);
    }
    (matches!(outcome, Outcome::Return(_)), world.trace, world.objects.len())
}

/// What rules would say: a cheaper node in place of some statements, what is in an object, and that some pairs are made
/// of their parts only.
fn equalities(case: &mut Case, random: &mut Random, ty: &str) {
    for i in 0..case.skeleton.input.nodes.len() {
        let Node { head, children, .. } = case.skeleton.input.nodes[i].clone();
        let of = |name: &str| head == Head::Op(op_id(case.universe, name));
        let this = InputId(i as u32);
        if of("make") && random.below(2) == 0 {
            let cheap = case.op("cheap", ty, &children);
            case.unite(this, cheap);
        }
        if of("look") {
            let object = case.skeleton.input.nodes[children[0].index()].clone();
            let makes = ["make", "join", "free_of_charge"].map(|name| Head::Op(op_id(case.universe, name)));
            if makes.contains(&object.head) {
                case.unite(this, object.children[0]);
            }
        }
    }
}

fn compare(seed: u64, programs: usize, ty: &str) {
    let u = with_make();
    let mut random = Random(seed);
    let (mut fewer, mut optimal, mut arms) = (0, 0, 0);
    for n in 0..programs {
        let mut b = Builder::new(&u, &[ty, "i64", "i64", "i64"]);
        let mut objects = vec![b.param(BlockId(0), 0)];
        region(&mut b, &mut objects, &mut random, 2, ty);
        let results = [objects[random.below(objects.len())], objects[objects.len() - 1]];
        b.ret(&results);
        for block in &mut b.function.blocks {
            // A random profile.
            block.counts.executions = (random.below(4) == 0).then(|| 1 + random.below(40) as u64);
        }
        let mut case = case(&b, &u);
        equalities(&mut case, &mut random, ty);
        for (method, stay) in
            [(Method::Greedy, false), (Method::Greedy, true), (Method::Tree, false), (Method::Ilp, false)]
        {
            let selection = case.select_with(&Options {
                registers: (!stay).then_some(Registers { integers: 2, floats: 2, ..Registers::X86_64 }),
                prefer_original: stay,
                keep_placement: stay,
                ..case.options(method)
            });
            optimal += usize::from(selection.status == Status::Optimal);
            let out = case.elaborate(&selection);
            for args in 0..8 {
                let args = [77, args & 1, args >> 1 & 1, args >> 2];
                let (before, after) =
                    (run(&case.function, &u, &args, ty == "Thing"), run(&out, &u, &args, ty == "Thing"));
                let same = before.0 && (after.0, &after.1) == (before.0, &before.1) && after.2 <= before.2;
                fewer += usize::from(after.2 < before.2);
                arms += usize::from(after.2 == before.2);
                assert!(
                    same,
                    "program {n} of {seed:#x}, {method:?}, {args:?}: {before:?}\n{after:?}\n{}\n{}",
                    crate::ir::text::Printer(&case.function, &u),
                    crate::ir::text::Printer(&out, &u)
                );
            }
        }
    }
    assert!(fewer > programs && optimal > programs / 2 && arms > 0, "{fewer} {optimal} {arms}");
}

#[test]
fn programs_observe_the_same_objects_and_make_no_more() {
    compare(0x5eed_5eed_1234_5671, 300, "i64");
    compare(0x5eed_5eed_1234_5673, 300, "Thing");
}

#[test]
#[ignore = "long"]
fn many_programs_observe_the_same_objects() {
    for seed in 1..21 {
        compare(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed), 1000, if seed % 2 == 0 { "i64" } else { "Thing" });
    }
}
