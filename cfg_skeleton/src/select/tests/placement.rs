//! A placement that was changed step by step has the uses that it has when they are found anew.

use super::oracle::{Random, program};
use super::*;
use crate::select::choices::{AltId, Choices};
use crate::select::placement::{PlacedId, Placement};
use crate::select::standing::Standing;

/// By definition that is used: where it stands, and where it is used.
fn uses(placement: &Placement) -> Vec<(PlacedId, SegmentId, Vec<SegmentId>)> {
    let sorted = |id| {
        let mut uses: Vec<SegmentId> = placement.uses(id).collect();
        uses.sort();
        (id, placement.at(id), uses)
    };
    placement.used().map(sorted).collect()
}

/// Does a definition in a segment take a class that is defined there, directly or not?
fn takes(choices: &Choices, placement: &Placement, alt: AltId, at: SegmentId, class: ClassId) -> bool {
    choices.alt(alt).children.iter().any(|child| {
        let here = placement.standing(*child, at);
        *child == class || here.is_some_and(|id| takes(choices, placement, placement.alt(id), at, class))
    })
}

/// Alternatives that can take a definition's place with what is there.
fn others(choices: &Choices, placement: &Placement, id: PlacedId) -> Vec<AltId> {
    let (class, at) = (placement.class(id), placement.at(id));
    let fits = |alt: &AltId| {
        let other = choices.alt(*alt);
        other.at.is_none()
            && *alt != placement.alt(id)
            && choices.computable(*alt, at)
            && other.children.iter().all(|child| placement.nearest(*child, at).is_some())
            && !takes(choices, placement, *alt, at, class)
    };
    choices.of_class[class.index()].iter().copied().filter(fits).collect()
}

#[test]
fn changes_leave_the_uses_that_are_found_anew() {
    let u = universe();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut replaced = 0;
    for _ in 0..1200 {
        let (b, values) = program(&u, &mut random);
        let mut case = Case::new(&b, &u);
        for _ in 0..4 {
            let [x, y] = [0, 1].map(|_| case.input(values[random.below(values.len())]));
            let sum = case.op("bxor", "i32", &[x, y]);
            case.unite(x, sum);
        }
        let options = case.options(Method::Greedy);
        let tree = SegmentTree::new(&case.skeleton, &case.cfg);
        let mut keys = CheckIdentities::new(&case.skeleton, &case.view, &u);
        let choices = case.choices(&options, &tree, &mut keys);
        let mut state = PassState::new(&choices, &options);
        if greedy::Greedy.run(&mut state).is_err() {
            continue;
        }
        let placement = &mut state.placement;
        let ids: Vec<PlacedId> = placement.used().collect();
        for id in ids {
            let others = others(&choices, placement, id);
            if others.is_empty() {
                continue;
            }
            placement.replace(id, others[random.below(others.len())], placement.at(id));
            replaced += 1;
            let changed = uses(placement);
            placement.relink();
            assert_eq!(changed, uses(placement));
        }
    }
    assert!(replaced > 100, "{replaced}");
}

#[test]
fn the_nearest_is_the_last_one_that_dominates() {
    let u = universe();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..100 {
        let (b, _) = program(&u, &mut random);
        let case = Case::new(&b, &u);
        let tree = SegmentTree::new(&case.skeleton, &case.cfg);
        let blocks = case.cfg.reverse_post_order().iter();
        let all: Vec<SegmentId> = blocks.flat_map(|block| case.skeleton.segments(*block)).collect();
        let (mut standing, mut list) = (Standing::default(), vec![]);
        for n in 0..all.len() {
            let at = all[random.below(all.len())];
            standing.insert(&tree, at, n);
            list.retain(|(other, _)| *other != at);
            list.push((at, n));
            if n % 3 == 2 {
                let (gone, _) = list.swap_remove(random.below(list.len()));
                standing.remove(&tree, gone);
            }
            for use_of in &all {
                let above = list.iter().copied().filter(|(at, _)| tree.dominates(*at, *use_of));
                assert_eq!(standing.nearest(&tree, *use_of), above.max_by_key(|(at, _)| tree.order(*at)));
            }
        }
    }
}
