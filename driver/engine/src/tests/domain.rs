//! Types without representation: `Matrix{Real}`, `Symmetric{Real} <: Matrix{Real}`.

use super::fixture::*;
use crate::SaturateOptions;
use rewright_dsl::program::{Conclusion, VarKind};
use rewright_typeprop::TypeExpr;
use rewright_typeprop::types::{TypeData, TypeParam};
use smallvec::smallvec;

#[test]
fn rules_ask_for_types_that_columns_do_not_tell() {
    let mut f = Fixture::new();
    f.ty("Real", "Any", None, 0);
    let matrix = f.ty("Matrix", "Any", None, 1);
    let symmetric = f.ty("Symmetric", "Matrix", None, 1);
    let of = |decl, arg: TypeExpr| TypeExpr::App(decl, vec![arg]);
    f.op("adj", None, vec![of(matrix, T)], of(matrix, T));
    f.op("eig", None, vec![of(matrix, T)], of(matrix, T));
    f.op("syev", None, vec![of(symmetric, T)], of(matrix, T));
    f.op("make_symmetric", None, vec![of(matrix, T)], of(symmetric, T));
    f.op("sort", None, vec![of(matrix, T)], of(matrix, T));
    // eig(A: Symmetric{T}) => syev(A); eig(sort(A)) => eig(make_symmetric(A))
    let tparams = vec![TypeParam { name: "T".into(), bound: None }];
    let left = vec![f.call("eig", vec![x(0)])];
    let right = Conclusion::Equal(f.call("syev", vec![x(0)]));
    let vars = vec![VarKind::Value { ty: of(symmetric, T), constant: false }];
    f.rule("algebra", "eig_sym", RuleText { tparams: tparams.clone(), vars, left, guards: vec![], right });
    let left = vec![f.call("eig", vec![f.call("sort", vec![x(0)])])];
    let right = Conclusion::Equal(f.call("eig", vec![f.call("make_symmetric", vec![x(0)])]));
    let vars = vec![VarKind::Value { ty: of(matrix, T), constant: false }];
    f.rule("algebra", "sort", RuleText { tparams, vars, left, guards: vec![], right });
    let real = f.type_of("Real");
    for decl in [matrix, symmetric] {
        f.program.universe.types.intern(TypeData::App(decl, smallvec![real]));
    }
    let mut engine = f.engine();
    let matrix = f.program.universe.types.intern(TypeData::App(matrix, smallvec![real]));
    let symmetric = f.program.universe.types.intern(TypeData::App(symmetric, smallvec![real]));
    let mut unit = Unit::new(&f);
    let (a, s) = (unit.leaf(0, matrix), unit.leaf(1, symmetric));
    let eig_a = unit.op("eig", real, &[a]);
    let eig_s = unit.op("eig", real, &[s]);
    let syev_a = unit.op("syev", real, &[a]);
    let syev_s = unit.op("syev", real, &[s]);
    let sorted = unit.op("sort", real, &[a]);
    let eig_sorted = unit.op("eig", real, &[sorted]);
    let made = unit.op("make_symmetric", real, &[a]);
    let syev_made = unit.op("syev", real, &[made]);
    let view = saturate(&mut engine, &f, &unit.input);
    assert_eq!(view.class_of(eig_s), view.class_of(syev_s), "{}", show(&view));
    assert_ne!(view.class_of(eig_a), view.class_of(syev_a));
    assert_eq!(view.class_of(eig_sorted), view.class_of(syev_made));
}

#[test]
fn nothing_is_said_of_types_where_no_rule_can_ask() {
    // eig(A: Symmetric) => syev(A)
    let mut f = Fixture::new();
    f.ty("Matrix", "Any", None, 0);
    f.ty("Symmetric", "Matrix", None, 0);
    let (matrix, symmetric) = (f.named("Matrix"), f.named("Symmetric"));
    f.op("adj", None, vec![matrix.clone()], matrix.clone());
    f.op("eig", None, vec![matrix.clone()], matrix.clone());
    f.op("syev", None, vec![symmetric.clone()], matrix);
    let left = vec![f.call_at("eig", vec![], vec![x(0)], None)];
    let right = Conclusion::Equal(f.call_at("syev", vec![], vec![x(0)], None));
    let vars = vec![VarKind::Value { ty: symmetric, constant: false }];
    f.rule("algebra", "eig_sym", RuleText { tparams: vec![], vars, left, guards: vec![], right });
    let ty = f.type_of("Symmetric");
    let mut engine = f.engine();
    for (op, asked) in [("adj", false), ("eig", true), ("adj", false)] {
        let mut unit = Unit::new(&f);
        let a = unit.leaf(0, ty);
        unit.op(op, ty, &[a]);
        let types = &f.program.universe.types;
        let (_, report) = engine.saturate(&[&unit.input], types, &SaturateOptions::default()).unwrap();
        assert_eq!(report.steps > 0, asked, "{op}");
    }
}
