//! The product in which sizes decide between choices that cost the same.

use super::super::choices::Choices;
use super::{Meaning, Origin, Product};
use rewright_extract::Graph;

impl Product {
    /// The same graph, in which each node costs a little more, by its size: all of that together is less than any
    /// difference in cost, and is a multiple of a power of two, so that sums are exact.
    ///
    /// A solver computes with tolerances that are larger than that. Methods that need no solver do not.
    pub(crate) fn with_sizes(&self, choices: &Choices) -> Graph {
        let size = |meaning: Meaning, origin: Origin| match (meaning, origin) {
            (Meaning::Class(_, at), Origin::Compute(alt)) if choices.alt(alt).group.is_none() => {
                choices.cost(alt, at).size
            }
            (Meaning::Fused(group), _) => choices.groups[group.index()].fused,
            (Meaning::Checked(group), Origin::Statement) => choices.groups[group.index()].bare,
            _ => 0,
        };
        let of_class = |(meaning, origins): (&Meaning, &Vec<Origin>)| -> Vec<u64> {
            origins.iter().map(|origin| size(*meaning, *origin)).collect()
        };
        let sizes: Vec<Vec<u64>> = self.meanings.iter().zip(&self.origins).map(of_class).collect();
        let largest = sizes.iter().map(|list| list.iter().copied().max().unwrap_or(0));
        let all = largest.fold(0, u64::saturating_add);
        let unit = 0.25 / 2f64.powi((u64::BITS - all.leading_zeros()) as i32);
        let mut graph = self.graph.clone();
        for (nodes, sizes) in graph.classes.iter_mut().zip(&sizes) {
            for (node, size) in nodes.iter_mut().zip(sizes) {
                node.cost += *size as f64 * unit;
            }
        }
        graph
    }
}
