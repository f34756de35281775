//! The shape of what comes out: types, states, overloads, laws.

use super::{Calls, ParsedFile, check, check_applied, check_rules};
use crate::program::{Conclusion, Guard, Program, Rule, ScheduleStep, VarKind};
use crate::syntax::parse;
use rewright_typeprop::{Term, TypeExpr};

const CORE: &str = "
type Int
type i8 <: Int model bv8
type i32 <: Int model bv32
type i64 <: Int model bv64
fn add{T <: Int}(x: T, y: T) -> T as \"+\"  pure commutative associative identity(0) cost 3
fn both{T <: Int}(x: T, y: T) -> T  pure idempotent
fn wide{A <: Int, B <: Int}(x: A) -> B  pure
@model(\"width\")
fn bits{T <: Int}(x: T) -> i64  pure
fn load{T <: Int}(p: i64, const o: i64) -> T  effects reads(memory), traps
fn store{T <: Int}(p: i64, v: T, const o: i64) -> ()  effects writes(memory), traps
";

/// Checks text below [`CORE`]; it must have no mistakes.
fn program(text: &str) -> Program {
    let (file, syntax) = parse(0, &format!("pack t\n{CORE}{text}"));
    assert!(syntax.is_empty(), "{syntax:?}");
    let (program, found) = check(&[ParsedFile { pack: "t".into(), file: file.into(), ..ParsedFile::default() }]);
    assert!(found.is_empty(), "{found:?}");
    program
}

fn rule<'p>(program: &'p Program, name: &str) -> &'p Rule {
    program.rules.iter().find(|r| r.name == name).expect("the test declares it")
}

fn targs(term: &Term) -> &[TypeExpr] {
    match term {
        Term::Call { targs, .. } => targs,
        _ => &[],
    }
}

fn state(term: &Term) -> Option<&Term> {
    match term {
        Term::Call { state, .. } => state.as_deref(),
        _ => None,
    }
}

#[test]
fn open_types_become_parameters() {
    let p = program("rule r(x: Int): wide(wide(x)) => wide(x)");
    let r = rule(&p, "t.rules.r");
    let names: Vec<&str> = r.tparams.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["?0", "?1", "?2"]);
    let outer = r.left.first().expect("one pattern");
    let Term::Call { args, .. } = outer else { panic!("a call") };
    // From ?0 to ?1, from ?1 to ?2; the right side goes from ?0 to ?2.
    assert_eq!(targs(&args[0]), [TypeExpr::Param(0), TypeExpr::Param(1)]);
    assert_eq!(targs(outer), [TypeExpr::Param(1), TypeExpr::Param(2)]);
    let Conclusion::Equal(right) = &r.right else { panic!("an equality") };
    assert_eq!(targs(right), [TypeExpr::Param(0), TypeExpr::Param(2)]);
    assert!(r.tparams.iter().all(|p| p.bound.is_some()));
}

#[test]
fn literals_take_the_type_of_their_place() {
    let p = program("rule r{T <: Int}(x: T): x + 0 => x\nexample \"e\" (x: i8): x + 1 stays");
    let Some(Term::Call { args, .. }) = rule(&p, "t.rules.r").left.first() else { panic!("a call") };
    assert!(matches!(&args[1], Term::Lit(_, TypeExpr::Param(0))));
    let i8 = p.universe.types.lookup("i8").expect("declared");
    let Term::Call { args, .. } = p.examples[0].claim.terms()[0] else { panic!("a call") };
    assert!(matches!(&args[1], Term::Lit(_, TypeExpr::App(id, _)) if *id == i8));
}

#[test]
fn omitted_states() {
    let p = program(
        "rule same(p: i64): store(p, load{i32}(p, 0), 0) => store{i32}(p, 1, 0)
         rule chain(p: i64, v: i32): load(p, 0) after store(p, v, 0) after s => load(p, 8) after s
         rule nested(p: i64, v: i32): load{i8}(p, 0) after (store(p, v, 0) after s) => load(p, 0)",
    );
    // The omitted states of a region are one on the left; the right side stands in the root's.
    let same = rule(&p, "t.rules.same");
    let states = same.vars.iter().filter(|v| v.kind == VarKind::State).count();
    assert_eq!(states, 1);
    let Conclusion::Equal(right) = &same.right else { panic!("an equality") };
    assert_eq!(state(right), state(&same.left[0]));
    let chain = rule(&p, "t.rules.chain");
    let after = state(&chain.left[0]).expect("a load has a state");
    assert!(matches!(state(after), Some(Term::Var(2))));
    let Conclusion::Equal(right) = &chain.right else { panic!("an equality") };
    assert_eq!(state(right), Some(&Term::Var(2)));
    let nested = rule(&p, "t.rules.nested");
    let Conclusion::Equal(right) = &nested.right else { panic!("an equality") };
    assert_eq!(state(right), state(&nested.left[0]));
}

#[test]
fn laws_become_rules_and_assoc_is_not_scheduled() {
    let p = program("rule r(x: Int): x + 1 => x + 1");
    let names: Vec<&str> = p.rules.iter().filter(|r| r.law).map(|r| r.name.as_str()).collect();
    let add = ["t.laws.add.identity", "t.assoc.add.associative", "t.assoc.add.associative.back"];
    assert_eq!(names, [&add[..], &["t.laws.both.idempotent"]].concat());
    let [ScheduleStep::Repeat { steps, .. }] = &p.schedules["t.default"].steps[..] else { panic!("rounds") };
    let sets: Vec<&str> = steps
        .iter()
        .map(|s| match s {
            ScheduleStep::Saturate { ruleset, .. } => ruleset.as_str(),
            _ => "?",
        })
        .collect();
    assert_eq!(sets, ["t.rules", "t.laws"]);
}

#[test]
fn the_most_specific_overload_is_chosen() {
    let p = program(
        "fn f(x: Int) -> Int pure
         fn f(x: i32) -> i32 pure
         rule r(x: i32): f(x) => x
         rule q(x: i64): f(x) => f(x)
         rule late(x: i32): f(wide(f(x))) => f(x)",
    );
    let unique = |name: &str| match &rule(&p, name).left[0] {
        Term::Call { op, .. } => p.universe.ops.get(*op).unique.clone(),
        _ => String::new(),
    };
    assert_eq!(unique("t.rules.r"), "f.1");
    assert_eq!(unique("t.rules.q"), "f");
}

#[test]
fn conditions() {
    let p = program(
        "fact even(x: Int)
         rule r(x: Int, const k: Int): x + k => k when even(x) and k == 2, not (k == 3 or bits(x) == 8), x is i32",
    );
    let guards = &rule(&p, "t.rules.r").guards;
    assert!(matches!(&guards[..], [Guard::Fact(..), Guard::Compare { equal: true, .. }, Guard::Not(_), Guard::Is(..)]));
}

#[test]
fn two_way_rules_are_two() {
    let p = program("rule r(x: Int, y: Int): x + y <=> both(x, y)");
    let (there, back) = (rule(&p, "t.rules.r"), rule(&p, "t.rules.r.back"));
    let Conclusion::Equal(right) = &there.right else { panic!("an equality") };
    assert_eq!(&back.left[0], right);
    assert_eq!(p.rulesets["t.rules"].len(), 2);
}

#[test]
fn a_variable_keeps_its_type_where_an_overload_wants_a_narrower_one() {
    let p = program(
        "type Matrix{T}
         type Symmetric{T} <: Matrix{T}
         fn norm{T}(a: Matrix{T}) -> i32 pure
         fn norm{T}(a: Symmetric{T}) -> i32 pure
         fn size{T}(a: Matrix{T}) -> i32 pure
         rule all{T}(a: Matrix{T}): size(a) => norm(a)
         rule some{T}(a: Symmetric{T}): size(a) => norm(a) + 0",
    );
    let called = |name: &str| {
        let Conclusion::Equal(right) = &rule(&p, name).right else { panic!("an equality") };
        let Term::Call { op, args, .. } = right else { panic!("a call") };
        let op = match args[0] {
            Term::Call { op, .. } => op,
            _ => *op,
        };
        p.universe.ops.get(op).unique.clone()
    };
    assert_eq!(called("t.rules.all"), "norm");
    assert_eq!(called("t.rules.some"), "norm.1");
}

#[test]
fn rules_alone_are_those_of_the_whole_whatever_examples_say() {
    let text = format!(
        "pack t\n{CORE}rule r(x: Int): both(x, x) => x\nexample \"e\" (x: i32) fires r: nothing(x) becomes x\n"
    );
    let (file, syntax) = parse(0, &text);
    assert!(syntax.is_empty(), "{syntax:?}");
    let files = [ParsedFile { pack: "t".into(), file: file.into(), ..ParsedFile::default() }];
    let (whole, mistakes) = check(&files);
    let (alone, none) = check_rules(&files);
    assert_eq!((mistakes.len(), none.len()), (1, 0), "{mistakes:?}, {none:?}");
    assert_eq!(format!("{:?}", alone.rules), format!("{:?}", whole.rules));
}

#[test]
fn packs_that_are_applied_are_the_whole_but_for_examples_of_libraries() {
    let text = format!(
        "pack t\n{CORE}rule r(x: Int): both(x, x) => x\nexample \"e\" (x: i32) fires r: nothing(x) becomes x\n"
    );
    for library in [false, true] {
        let (file, syntax) = parse(0, &text);
        assert!(syntax.is_empty(), "{syntax:?}");
        let files = [ParsedFile { pack: "t".into(), file: file.into(), library, ..ParsedFile::default() }];
        let ((whole, mistakes), (applied, found)) = (check(&files), check_applied(&files, Calls::default()));
        assert_eq!((mistakes.len(), found.len()), (1, usize::from(!library)), "{mistakes:?}, {found:?}");
        assert_eq!(format!("{:?}", applied.rules), format!("{:?}", whole.rules));
    }
}

#[test]
fn what_could_not_be_read_is_not_unknown_as_well() {
    let text = |rule: &str| {
        format!("pack t\n{CORE}rule r(x: Int): {rule}\nexample \"e\" (x: i32) fires r: both(x, x) becomes x\n")
    };
    for (rule, unread, unknown) in [("both(x, x) => x", 0, 0), ("both(x, x => x", 1, 0), ("half(x) => x", 0, 1)] {
        let (file, syntax) = parse(0, &text(rule));
        let (_, mistakes) = check(&[ParsedFile { pack: "t".into(), file: file.into(), ..ParsedFile::default() }]);
        assert_eq!((syntax.len(), mistakes.len()), (unread, unknown), "{syntax:?}, {mistakes:?}");
    }
}
