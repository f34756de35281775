//! What instructions become, and what stays opaque.

use super::*;
use crate::{read, sample};

fn imported(body: &str) -> Imported {
    let mut universe = sample::universe();
    let names = Names::new(&mut universe);
    let text = format!("test run\ntarget x86_64\nfunction %f(i64, i32x4) -> i64 {{\n{body}\n    return v0\n}}\n");
    let file = read::read(&text).unwrap();
    import(&file.functions[0].func, &names, Endianness::Little).unwrap()
}

fn opaque(imported: &Imported) -> Vec<(PayloadId, OpaqueEffects)> {
    let kinds = imported.function.insts.iter().map(|i| &i.kind);
    kinds
        .filter_map(|kind| match kind {
            InstKind::Opaque { payload, effects } => Some((*payload, *effects)),
            _ => None,
        })
        .collect()
}

#[test]
fn opaque_effects_follow_from_the_opcode() {
    use OpaqueEffects::{Observes, Pinned, Pure, Writes};
    for (inst, effects) in [
        ("v2 = iadd v1, v1", Pure),
        ("v2 = stack_addr.i64 ss0", Pure),
        ("v2 = func_addr.i64 fn0", Pure),
        ("v2 = symbol_value.i64 gv0", Pure),
        ("v2 = load.i32x4 v0", Observes),
        ("v2 = load.i32x4 notrap v0", Observes),
        ("v2 = load.i32x4 notrap readonly can_move v0", Pure),
        ("v2 = load.i32 big v0", Observes),
        ("store v1, v0", Writes),
        ("store big v0, v0", Writes),
        ("call fn0()", Writes),
        ("fence", Writes),
        ("v2 = atomic_load.i32 v0", Writes),
        ("v2 = uadd_overflow_trap v0, v0, user1", Observes),
        ("v2, v3 = uadd_overflow v0, v0", Pinned),
        ("v2 = get_frame_pointer.i64", Pinned),
        ("nop", Pinned),
        ("v2 = get_pinned_reg.i64", Observes),
        ("set_pinned_reg v0", Writes),
    ] {
        let preamble = "    ss0 = explicit_slot 8\n    gv0 = symbol colocated %g\n    fn0 = %h()\n";
        let body = format!("{preamble}block0(v0: i64, v1: i32x4):\n    {inst}");
        let found: Vec<_> = opaque(&imported(&body)).into_iter().map(|(_, e)| e).collect();
        assert_eq!(found, [effects], "{inst}");
    }
}

#[test]
fn equal_pure_instructions_share_a_payload() {
    let body = "block0(v0: i64, v1: i32x4):\n    v2 = iadd v1, v1\n    v3 = iadd v2, v1\n    v4 = isub v1, v1\n    v5 \
        = extractlane v1, 0\n    v6 = extractlane v1, 1\n    v7 = extractlane v2, 0";
    let payloads: Vec<u32> = opaque(&imported(body)).into_iter().map(|(p, _)| p.0).collect();
    assert_eq!(payloads, [0, 0, 1, 2, 3, 2]);
}

#[test]
fn accesses_keep_their_flags() {
    let body = "    region0 = 7 \"r\"\nblock0(v0: i64, v1: i32x4):\n    v2 = load.i32 notrap aligned readonly \
        can_move region0 v0+8\n    store user3 v2, v0";
    let imported = imported(body);
    let accesses: Vec<Access> = imported
        .function
        .insts
        .iter()
        .filter_map(|i| match i.kind {
            InstKind::Op { access, .. } => access,
            _ => None,
        })
        .collect();
    let load = Access { region: RegionId(1), trap: None, movable: true, readonly: true, aligned: true };
    let store = Access { region: RegionId(0), trap: Some(3), movable: false, readonly: false, aligned: false };
    assert_eq!(accesses, [load, store]);
    assert_eq!(imported.function.regions, ["any", "region0"]);
}
