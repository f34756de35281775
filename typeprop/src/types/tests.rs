//! The join is a least upper bound, over every type that a small universe of parametric declarations can make.

use super::*;
use proptest::prelude::*;
use smallvec::smallvec;

/// Declarations that reorder, repeat, fix, wrap and forget the parameters of their descendants.
fn universe() -> TypeStore {
    let mut store = TypeStore::new();
    let param = |n: u32| TypeExpr::Param(n);
    let mut declare = |name: &str, arity: usize, supertype: Option<(&str, Vec<TypeExpr>)>| {
        let params = (0..arity).map(|i| TypeParam { name: format!("T{i}"), bound: None }).collect();
        let supertype = match supertype {
            Some((parent, exprs)) => TypeExpr::App(store.lookup(parent).unwrap(), exprs),
            None => TypeExpr::App(TypeDeclId(0), vec![]),
        };
        let decl = TypeDecl { name: name.into(), params, supertype: Some(supertype), model: None, opaque: false };
        store.declare(decl)
    };
    declare("Num", 0, None);
    let int = declare("Int", 0, Some(("Num", vec![])));
    declare("Real", 0, Some(("Num", vec![])));
    let lists = declare("List", 1, None);
    declare("Array", 2, None);
    declare("Vector", 1, Some(("Array", vec![param(0), TypeExpr::Int(1)])));
    declare("Matrix", 1, Some(("Array", vec![param(0), TypeExpr::Int(2)])));
    declare("Symmetric", 1, Some(("Matrix", vec![param(0)])));
    declare("Whole", 1, Some(("Matrix", vec![TypeExpr::App(int, vec![])])));
    declare("Swapped", 2, Some(("Array", vec![param(1), param(0)])));
    declare("Square", 1, Some(("Swapped", vec![param(0), param(0)])));
    let list = TypeExpr::App(lists, vec![param(0)]);
    declare("Nested", 2, Some(("Array", vec![list, param(1)])));
    declare("Loose", 1, Some(("Array", vec![])));
    store
}

/// Every type up to a depth of two, bare names among them.
fn every_type(store: &mut TypeStore) -> Vec<Ty> {
    let decls: Vec<(TypeDeclId, usize)> = store.decls().map(|(id, d)| (id, d.params.len())).collect();
    let mut simple: Vec<Ty> = decls.iter().map(|(id, _)| store.intern(TypeData::App(*id, SmallVec::new()))).collect();
    simple.push(store.intern(TypeData::Int(1)));
    simple.push(store.intern(TypeData::Int(2)));
    let mut all = simple.clone();
    let inner: Vec<Ty> = ["Num", "Int", "Real"].iter().map(|n| store.named(n).unwrap()).collect();
    let list = store.lookup("List").unwrap();
    let lists: Vec<Ty> = inner.iter().map(|t| store.intern(TypeData::App(list, smallvec![*t]))).collect();
    let args: Vec<Ty> = inner.iter().chain(&lists).chain(&simple[simple.len() - 2..]).copied().collect();
    for (id, arity) in decls {
        match arity {
            1 => all.extend(args.iter().map(|a| store.intern(TypeData::App(id, smallvec![*a])))),
            2 => {
                for a in &args {
                    all.extend(args.iter().map(|b| store.intern(TypeData::App(id, smallvec![*a, *b]))));
                }
            }
            _ => {}
        }
    }
    all
}

fn three() -> impl Strategy<Value = (usize, usize, usize)> {
    (any::<proptest::sample::Index>(), any::<proptest::sample::Index>(), any::<proptest::sample::Index>()).prop_map(
        |(a, b, c)| {
            let mut store = universe();
            let n = every_type(&mut store).len();
            (a.index(n), b.index(n), c.index(n))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn join_commutes_associates_and_is_idempotent((a, b, c) in three()) {
        let mut s = universe();
        let all = every_type(&mut s);
        let (a, b, c) = (all[a], all[b], all[c]);
        prop_assert_eq!(s.join(a, a), a);
        prop_assert_eq!(s.join(a, b), s.join(b, a));
        let (ab, bc) = (s.join(a, b), s.join(b, c));
        let (left, right) = (s.join(ab, c), s.join(a, bc));
        prop_assert_eq!(left, right, "{} {} {}", s.display(a), s.display(b), s.display(c));
    }

    #[test]
    fn join_is_the_least_upper_bound((a, b, c) in three()) {
        let mut s = universe();
        let all = every_type(&mut s);
        let (a, b, c) = (all[a], all[b], all[c]);
        let join = s.join(a, b);
        prop_assert!(s.is_subtype(a, join) && s.is_subtype(b, join));
        if s.is_subtype(a, c) && s.is_subtype(b, c) {
            prop_assert!(s.is_subtype(join, c), "{} is not below {}", s.display(join), s.display(c));
        }
        // Joining is monotone: a larger operand gives no smaller join.
        let ac = s.join(a, c);
        let up = s.join(ac, b);
        prop_assert!(s.is_subtype(join, up));
    }

    #[test]
    fn subtyping_is_a_partial_order((a, b, c) in three()) {
        let mut s = universe();
        let all = every_type(&mut s);
        let (a, b, c) = (all[a], all[b], all[c]);
        let ab = s.join(a, b);
        for (x, y) in [(a, b), (a, c), (b, c), (ab, c), (c, ab)] {
            prop_assert!(x == y || !(s.is_subtype(x, y) && s.is_subtype(y, x)));
        }
        if s.is_subtype(a, b) && s.is_subtype(b, c) {
            prop_assert!(s.is_subtype(a, c));
        }
        if let Some(parent) = s.supertype(ab) {
            prop_assert!(s.is_subtype(ab, parent));
        }
    }
}

#[test]
fn what_is_common_stays_known() {
    let mut s = universe();
    let show = |s: &mut TypeStore, a: &str, b: &str| {
        let (a, b) = (named(s, a), named(s, b));
        let join = s.join(a, b);
        s.display(join)
    };
    assert_eq!(show(&mut s, "Vector Int", "Matrix Int"), "Array{Int, _}");
    assert_eq!(show(&mut s, "Symmetric Int", "Matrix Int"), "Matrix{Int}");
    assert_eq!(show(&mut s, "Symmetric Int", "Symmetric Real"), "Symmetric");
    assert_eq!(show(&mut s, "Whole Int", "Whole Real"), "Whole");
    assert_eq!(show(&mut s, "Whole", "Matrix Int"), "Matrix{Int}");
    assert_eq!(show(&mut s, "Int", "Real"), "Num");
    assert_eq!(show(&mut s, "Int", "List Int"), "Any");
}

/// `Vector Int` is `Vector{Int}`.
fn named(s: &mut TypeStore, text: &str) -> Ty {
    let mut words = text.split(' ');
    let decl = s.lookup(words.next().unwrap()).unwrap();
    let args = words.map(|w| s.named(w).unwrap()).collect();
    s.intern(TypeData::App(decl, args))
}
