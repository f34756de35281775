//! The normal form is what its module says, and running shows no difference.

use super::*;
use crate::ir::InstKind;
use crate::testing::{random, universe};
use proptest::prelude::*;

fn has_opaque_edges(f: &Function) -> bool {
    f.layout.iter().any(|b| matches!(f.block(*b).term, Terminator::Opaque { .. }))
}

fn check_form(f: &Function) {
    let cfg = Cfg::new(f);
    for b in &f.layout {
        assert!(cfg.is_reachable(*b));
        let edges = f.block(*b).term.edges();
        for e in &edges {
            let from_others = cfg.predecessors(e.target).iter().any(|p| p.from != *b);
            assert!(edges.len() < 2 || !from_others, "critical edge from b{}", b.0);
        }
    }
    let mut home = vec![None; f.values.len()];
    for b in &f.layout {
        let insts = f.block(*b).insts.iter().map(|i| f.inst(*i)).filter(|i| !matches!(i.kind, InstKind::Const(_)));
        for v in f.block(*b).params.iter().chain(insts.flat_map(|i| &i.results)) {
            home[v.index()] = cfg.loop_of(*b);
        }
    }
    for (id, l) in cfg.loops() {
        assert_eq!(l.latches.len(), 1);
        let outside = cfg.predecessors(l.header).iter().filter(|e| !cfg.loop_contains(id, e.from));
        let outside: Vec<_> = outside.collect();
        assert_eq!(outside.len(), 1, "one preheader");
        assert_eq!(f.block(outside[0].from).term.edges().len(), 1);
        for e in cfg.loop_exits(f, id) {
            let target = f.block(e.from).term.edges()[e.slot as usize].target;
            assert!(cfg.predecessors(target).iter().all(|p| cfg.loop_contains(id, p.from)), "dedicated exit");
        }
    }
    let closed = |v: &Value, b: &BlockId| home[v.index()].is_none_or(|l| cfg.loop_contains(l, *b));
    for b in &f.layout {
        let block = f.block(*b);
        let edges = block.term.edges();
        let carried = edges.iter().flat_map(|e| &e.args).filter_map(|a| match a {
            EdgeArg::Value(v) => Some(v),
            EdgeArg::Terminator(_) => None,
        });
        let operands = block.insts.iter().flat_map(|i| &f.inst(*i).args).chain(block.term.operands()).chain(carried);
        for v in operands {
            assert!(closed(v, b), "v{} in b{}", v.0, b.0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn normal_form_and_same_behaviour(seed in any::<u64>(), blocks in 1usize..16) {
        let u = universe();
        let original = random::function(seed, blocks, &u);
        prop_assert_eq!(crate::ir::verify::verify(&original, &u), vec![], "{}", crate::ir::text::print(&original, &u));
        let mut normal = original.clone();
        normalise(&mut normal);
        random::assert_same(&original, &normal, &u, seed);
        if !has_opaque_edges(&normal) {
            check_form(&normal);
        }
    }
}
