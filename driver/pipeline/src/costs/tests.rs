//! Profiles and a user's costs, and what follows from them.

use super::*;
use rewright_dsl::program::Program;
use std::path::Path;

fn program() -> Program {
    packs::load(vec![packs::root(Path::new("std")).unwrap()]).program
}

fn costs(text: &str) -> Costs {
    serde_json::from_str::<CostFile>(&format!("{{\"costs\": {text}}}")).unwrap().costs
}

fn price(model: &CostModel, universe: &Universe, name: &str, types: &[&str]) -> Option<u64> {
    let op = universe.ops.by_unique(name).unwrap();
    let types: Vec<_> = types.iter().map(|ty| universe.types.find(ty).unwrap()).collect();
    let execution = Execution { universe, op, types: &types, operands: &[] };
    model.prices.iter().find_map(|prices| prices.price(&execution))
}

#[test]
fn every_key_of_a_profile_names_an_operation_of_the_standard_packs() {
    let universe = program().universe;
    assert_eq!(profiles(), ["latency", "llvm", "size"]);
    for name in profiles() {
        let config: CostFile =
            serde_json::from_str(packs::embedded(&format!("profiles/{name}.json")).unwrap()).unwrap();
        assert!(config.costs.profile.is_none() && !config.about.is_empty());
        for key in config.costs.operations.keys() {
            let plain = key.split('{').next().unwrap().strip_prefix("std.core.").unwrap();
            assert!(universe.ops.iter().any(|(_, op)| op.name == plain && op.pack == "std.core"), "{name}: {key}");
        }
        // LLVM's says only what differs from what packs declare; in those of machines all operations that these have
        // are priced.
        if name == "llvm" {
            continue;
        }
        let model = model(&Costs::default(), Some(&name), &universe).unwrap();
        for (_, op) in universe.ops.iter().filter(|(_, op)| op.pack == "std.core" && op.names.contains_key("clif")) {
            let types = vec!["i64"; op.tparams.len()];
            assert!(price(&model, &universe, &op.unique, &types).is_some(), "{name}: {}", op.unique);
        }
    }
}

#[test]
fn an_instance_comes_before_an_operation_and_a_user_before_a_profile() {
    let universe = program().universe;
    let at = |costs: &Costs, ty| price(&model(costs, Some("latency"), &universe).unwrap(), &universe, "udiv", &[ty]);
    let plain = Costs::default();
    assert_eq!((at(&plain, "i32"), at(&plain, "i64")), (Some(36 * COST_SCALE), Some(42 * COST_SCALE)));
    let general = costs(r#"{ "operations": { "udiv": 1.25 } }"#);
    assert_eq!((at(&general, "i32"), at(&general, "i64")), (Some(5), Some(5)));
    let instance = costs(r#"{ "operations": { "std.core.udiv{i64}": 2 } }"#);
    assert_eq!((at(&instance, "i32"), at(&instance, "i64")), (Some(36 * COST_SCALE), Some(2 * COST_SCALE)));
}

#[test]
fn what_a_pack_overrides_comes_before_a_profile_and_after_a_user() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.rw");
    std::fs::write(&path, "pack mine\nimport std.core\noverride udiv cost 7\n").unwrap();
    let universe = packs::load(vec![packs::root(&path).unwrap()]).program.universe;
    let at = |costs: &Costs, profile, name| {
        price(&model(costs, Some(profile), &universe).unwrap(), &universe, name, &["i64"])
    };
    for profile in ["latency", "llvm"] {
        assert_eq!(at(&Costs::default(), profile, "udiv"), None, "{profile}");
        assert!(at(&Costs::default(), profile, "urem").is_some(), "{profile}");
        assert_eq!(
            at(&costs(r#"{ "operations": { "udiv": 2 } }"#), profile, "udiv"),
            Some(2 * COST_SCALE),
            "{profile}"
        );
    }
}

#[test]
fn a_key_may_leave_types_open() {
    let universe = program().universe;
    let costs =
        costs(r#"{ "operations": { "select": 1, "select{_, i8}": 2, "select{i8, i8}": 3, "select{_, _}": 4 } }"#);
    let model = model(&costs, None, &universe).unwrap();
    let at = |types| price(&model, &universe, "select", types);
    assert_eq!(at(&["i8", "i8"]), Some(3 * COST_SCALE));
    assert_eq!(at(&["i32", "i8"]), Some(2 * COST_SCALE));
    assert_eq!(at(&["i8", "f64"]), Some(4 * COST_SCALE));
}

#[test]
fn mistakes_are_said() {
    let universe = program().universe;
    let said = |text: &str| model(&costs(text), None, &universe).unwrap_err().to_string();
    let cases = [
        (r#"{ "operations": { "imull": 1 } }"#, "did you mean `imul`?"),
        (r#"{ "operations": { "std.core.imull": 1 } }"#, "declares the operation `std.core.imull`"),
        (r#"{ "operations": { "imul{i65}": 1 } }"#, "the type `i65`"),
        (r#"{ "operations": { "imul{i64, i64}": 1 } }"#, "names 2 types; `imul` has 1"),
        (r#"{ "operations": { "imul": -1 } }"#, "`imul` costs -1"),
        (r#"{ "constant": 0.3 }"#, "steps of 0.25"),
        (r#"{ "per_loop": 0 }"#, "at least 1"),
        (r#"{ "profile": "speed" }"#, "those that do: latency, llvm, size"),
    ];
    for (text, message) in cases {
        assert!(said(text).contains(message), "{:?} for {message:?}", said(text));
    }
    // Of a pack that takes no part: nothing to say, and nothing to complain about.
    assert!(model(&costs(r#"{ "operations": { "linalg.mul": 500 } }"#), None, &universe).is_ok());
    assert!(serde_json::from_str::<CostFile>(r#"{ "costs": { "operation": {} } }"#).is_err());
}
