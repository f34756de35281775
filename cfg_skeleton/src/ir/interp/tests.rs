//! Small programs with known outcomes.

use super::*;
use crate::ir::parse::parse;
use crate::testing::{op_id, trap_code, universe};
use rewright_typeprop::{Effects, TypeExpr, TypeParam};

/// Runs a function with this body on these arguments, with 16 zero bytes of memory at 4096.
fn run_text(body: &str, args: &[i64]) -> Outcome {
    let mut u = universe();
    // f32 or f64 to any integer, trapping.
    let load = u.ops.get(op_id(&u, "load")).clone();
    let mut fcvt = Op { name: "fcvt".into(), model: Some(Model::FcvtToSint), ..load };
    fcvt.effects = Effects { traps: true, ..Effects::default() };
    fcvt.tparams = ["A", "B"].iter().map(|n| TypeParam { name: (*n).into(), bound: None }).collect();
    fcvt.params.truncate(1);
    fcvt.params[0].ty = TypeExpr::Param(0);
    fcvt.results = vec![TypeExpr::Param(1)];
    fcvt.checks[0].code = "int_ovf".into();
    u.ops.declare(fcvt);

    let text = format!("func f -> (i32) {{\n{body}\n}}");
    let f = parse(&text, &mut u).unwrap().functions.remove(0);
    assert_eq!(crate::ir::verify::verify(&f, &u), []);
    let mut memory = Memory::default();
    memory.add(4096, vec![0; 16]);
    run(&f, &u, args, &mut memory, &mut NoHost(trap_code), 1000)
}

fn returns(n: i64) -> Outcome {
    Outcome::Return(vec![n])
}

#[test]
fn loops_compute() {
    // The sum of 1 to n.
    let body = "b0(v0: i32): v1: i32 = const 0 v2: i32 = const 1 jump b1(v0, v1)
         b1(v3: i32, v4: i32): br v3, b2, b3
         b2: v5: i32 = iadd{i32} v4, v3 v6: i32 = isub{i32} v3, v2 jump b1(v6, v5)
         b3: return v4";
    assert_eq!(run_text(body, &[10]), returns(55));
    assert_eq!(run_text(body, &[-1]), Outcome::OutOfFuel);
}

#[test]
fn edges_pass_arguments_at_once() {
    let body = "b0(v0: i32, v1: i32): v2: i32 = const 3 jump b1(v0, v1, v2)
         b1(v3: i32, v4: i32, v5: i32): v6: i32 = const 1 v7: i32 = isub{i32} v5, v6 br v7, b1(v4, v3, v7), b2
         b2: return v3";
    assert_eq!(run_text(body, &[7, 8]), returns(7));
}

#[test]
fn checks_trap_in_order() {
    let body = "b0(v0: i32, v1: i32): v2: i32 = sdiv{i32} v0, v1 check.trapnz v2, 9 check.trapz v1, 8 return v2";
    assert_eq!(run_text(body, &[1, 0]), Outcome::Trap(trap_code("int_divz")));
    assert_eq!(run_text(body, &[1, -1]), Outcome::Trap(trap_code("int_ovf")));
    assert_eq!(run_text(body, &[5, 2]), Outcome::Trap(9));
    assert_eq!(run_text(body, &[1, 2]), returns(0));
}

#[test]
fn memory_is_little_endian_and_bounded() {
    let body = |access: &str| {
        format!(
            "b0(v0: i64, v1: i32): v2: i64 = const 1 v3: i64 = const 2 store{{i32}} v0, v1, v2 @region0 trap=3
             v4: i16 = load{{i16}} v0, v3 @region0 {access} v5: i32 = opaque 0 pure (v4) return v5"
        )
    };
    let body = body("trap=3");
    assert_eq!(run_text(&body, &[4096 + 12, 0]), Outcome::Trap(3));
    assert_eq!(run_text(&body, &[4094, 0]), Outcome::Trap(3));
    assert!(matches!(run_text(&body, &[4096, 0]), Outcome::Unsupported(_)));
    let body = "b0(v0: i64, v1: i32): v2: i64 = const 1 v3: i64 = const 2 store{i32} v0, v1, v2 @region0
         v4: i8 = load{i8} v0, v3 @region0 switch v4, [b1, b2], b3
         b1: v5: i32 = const 10 return v5
         b2: v6: i32 = const 11 return v6
         b3: v7: i32 = load{i32} v0, v3 @region0 return v7";
    assert_eq!(run_text(body, &[4100, 0x0100]), returns(11));
    assert_eq!(run_text(body, &[4100, 0x6f00]), returns(0x6f));
    assert_eq!(run_text(body, &[4100, -2]), returns(0x00ff_ffff));
    assert!(matches!(run_text(body, &[5000, 1]), Outcome::Unsupported(_)));
}

#[test]
fn conversions_trap_out_of_range() {
    let at = |x: f64| run_text("b0(v0: f64): v1: i32 = fcvt{f64, i32} v0 return v1", &[x.to_bits() as i64]);
    assert_eq!(at(-2_147_483_648.9), returns(i64::from(i32::MIN)));
    assert_eq!(at(-2_147_483_649.0), Outcome::Trap(2));
    assert_eq!(at(2_147_483_647.5), returns(i64::from(i32::MAX)));
    assert_eq!(at(2_147_483_648.0), Outcome::Trap(2));
    assert_eq!(at(f64::INFINITY), Outcome::Trap(2));
}

#[test]
fn hosts_execute_what_is_opaque() {
    struct Tracing(Vec<(u32, usize, u64)>);
    impl Host for Tracing {
        fn execute(&mut self, _: &Inst, args: &[i64], memory: &mut Memory) -> Result<SmallVec<[i64; 2]>, Outcome> {
            memory.store(0, 1, args[0] as u64).unwrap();
            Ok(SmallVec::from_slice(&[args[0] + 1]))
        }
        fn leave(&mut self, _: &Terminator, args: &[i64], _: &mut Memory) -> Result<(usize, Vec<i64>), Outcome> {
            Ok((args[0] as usize & 1, vec![500, 600]))
        }
        fn observe(&mut self, at: Point, state: InterpreterState<'_>) {
            self.0.push((at.block.0, at.executed, state.memory.load(0, 1).unwrap()));
        }
    }
    let mut u = universe();
    let text = "func f -> (i32) { b0(v0: i32): v1: i32 = opaque 5 writes (v0) opaque.end 6 (v1), [b1(#0), b1(#1)]
                b1(v2: i32): return v2 }";
    let f = parse(text, &mut u).unwrap().functions.remove(0);
    let (mut memory, mut host) = (Memory::default(), Tracing(vec![]));
    memory.add(0, vec![0]);
    assert_eq!(run(&f, &u, &[4], &mut memory, &mut host, 10), returns(600));
    assert_eq!(host.0, [(0, 0, 0), (0, 1, 4), (1, 0, 4)]);
}
