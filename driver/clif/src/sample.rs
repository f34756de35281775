//! A small universe for tests: the scalar operations of CLIF, without rules.

use rewright_typeprop::ops::{Cost, Op, OpParam, TrapCheck};
use rewright_typeprop::types::{TypeDecl, TypeParam};
use rewright_typeprop::{Effects, Repr, Scalar, TypeExpr, Universe};
use std::collections::BTreeMap;

/// `name`, parameters, results: `i64`, `T`, and `=i64` for a `const` parameter. `T <: Int`, `F <: Float`, `S` any
/// scalar; other letters are further integers.
const OPS: &[(&str, &str, &str)] = &[
    ("iadd isub imul band bor bxor udiv! sdiv! urem! srem! umin umax smin smax", "T T", "T"),
    ("umulhi smulhi", "T T", "T"),
    ("ishl ushr sshr rotl rotr", "T U", "T"),
    ("ineg iabs bnot clz ctz popcnt bitrev bswap", "T", "T"),
    ("uextend sextend ireduce bmask", "T", "U"),
    ("select", "T S S", "S"),
    ("fadd fsub fmul fdiv fmin fmax fcopysign", "F F", "F"),
    ("fneg fabs sqrt ceil floor trunc nearest", "F", "F"),
    ("fma", "F F F", "F"),
    ("fcvt_to_sint! fcvt_to_uint! fcvt_to_sint_sat fcvt_to_uint_sat", "F", "T"),
    ("fcvt_from_sint fcvt_from_uint", "T", "F"),
    ("bitcast", "S R", ""),
    ("fpromote", "f32", "f64"),
    ("fdemote", "f64", "f32"),
    ("load uload8 sload8 uload16 sload16 uload32 sload32", "i64 =i64", "S"),
    ("store istore8 istore16 istore32", "i64 S =i64", ""),
];

/// The universe.
pub(crate) fn universe() -> Universe {
    let mut universe = Universe::default();
    let any = universe.types.lookup("Any").map(|any| TypeExpr::App(any, vec![]));
    let mut declare = |name: &str, parent: Option<TypeExpr>, model: Option<Scalar>| {
        let model = model.map(Repr::Scalar);
        let decl = TypeDecl { name: name.into(), params: vec![], supertype: parent, model, opaque: false };
        TypeExpr::App(universe.types.declare(decl), vec![])
    };
    let int = declare("Int", any.clone(), None);
    let float = declare("Float", any, None);
    for (name, scalar) in [("i8", Scalar::I8), ("i16", Scalar::I16), ("i32", Scalar::I32), ("i64", Scalar::I64)] {
        declare(name, Some(int.clone()), Some(scalar));
    }
    for (name, scalar) in [("f32", Scalar::F32), ("f64", Scalar::F64)] {
        declare(name, Some(float.clone()), Some(scalar));
    }
    let comparisons = [("icmp", "eq ne slt sge sgt sle ult uge ugt ule", "T T")];
    let floats = [("fcmp", "eq ne lt ge gt le uno ord one ueq ult uge ugt ule", "F F")];
    for (opcode, conditions, params) in comparisons.into_iter().chain(floats) {
        for condition in conditions.split(' ') {
            op(&mut universe, &format!("{opcode} {condition}"), params, "i8", &int, &float);
        }
    }
    for (names, params, results) in OPS {
        for name in names.split(' ') {
            match name {
                "bitcast" => op(&mut universe, name, "S", "R", &int, &float),
                _ => op(&mut universe, name, params, results, &int, &float),
            }
        }
    }
    universe
}

fn op(universe: &mut Universe, name: &str, params: &str, results: &str, int: &TypeExpr, float: &TypeExpr) {
    let traps = name.ends_with('!');
    let name = name.trim_end_matches('!');
    let mut tparams: Vec<TypeParam> = vec![];
    let mut ty = |word: &str| {
        if let Some(decl) = universe.types.lookup(word) {
            return TypeExpr::App(decl, vec![]);
        }
        let index = tparams.iter().position(|p| p.name == word).unwrap_or_else(|| {
            let bound = match word {
                "F" => Some(float.clone()),
                "S" | "R" => None,
                _ => Some(int.clone()),
            };
            tparams.push(TypeParam { name: word.into(), bound });
            tparams.len() - 1
        });
        TypeExpr::Param(index as u32)
    };
    let params: Vec<OpParam> = params
        .split_whitespace()
        .map(|word| OpParam {
            name: word.to_lowercase(),
            ty: ty(word.trim_start_matches('=')),
            constant: word.starts_with('='),
        })
        .collect();
    let results: Vec<TypeExpr> = results.split_whitespace().map(&mut ty).collect();
    let memory = vec!["memory".to_string()];
    let (load, store) = (name.contains("load"), name.contains("store"));
    let effects = Effects {
        reads: if load { memory.clone() } else { vec![] },
        writes: if store { memory } else { vec![] },
        traps: traps || load || store,
        ..Effects::default()
    };
    let checks = if effects.traps { vec![TrapCheck { code: "heap_oob".into(), condition: None }] } else { vec![] };
    universe.ops.declare(Op {
        pack: "sample".into(),
        tparams,
        effects,
        checks,
        cost: Cost::Fixed(3),
        names: BTreeMap::from([("clif".to_string(), name.to_string())]),
        ..Op::new(name.replace(' ', "_"), params, results)
    });
}
