//! Adding terms to a solution gives the same as solving all terms at once.

use super::*;

fn term(class: usize, computes: Computes, children: &[usize]) -> IntTerm {
    IntTerm { class, bits: 32, computes, children: children.iter().copied().collect() }
}

#[test]
fn further_terms_narrow_what_is_known_without_them() {
    // x0 is 4, x1 anything, x2 is x1 & x0, x3 is x2 + x0.
    let nodes = vec![
        term(0, Computes::Constant(4), &[]),
        term(1, Computes::Anything, &[]),
        term(2, Computes::Model(Model::And), &[1, 0]),
        term(3, Computes::Model(Model::Add), &[2, 0]),
    ];
    // x1 is x0, or something in a class that only further terms have.
    let further = [term(4, Computes::Within(Known::within(32, 0, 3)), &[]), term(1, Computes::OneOf, &[0, 4])];
    let all: Vec<IntTerm> = nodes.iter().chain(&further).cloned().collect();
    let together = solve(5, &all);
    let solved = Solved::new(4, nodes);
    assert_eq!(solved.known[1], Some(Known::top(32)));
    assert_eq!(solved.with(5, &further), together);
    assert_eq!(together[1].map(Known::unsigned), Some((0, 4)));
    assert_eq!(together[3].map(Known::unsigned), Some((4, 8)));
}
