//! The integer program of a graph, as columns and rows that name no solver.
//!
//! A column `x` per node, a column `a` per class that is no root. Each class that is had has one node; a node has what
//! it needs; and for each set of classes on a cycle, some class must be had by a node that leads out of it:
//!
//! ```text
//! min sum cost * x     (1) sum x(C) = a(C)     (2) for C, D: sum { x in C : D needed } <= a(D)
//!                      (3) for S, J in S: sum { x in S : no ordered child in S } >= a(J)
//! ```
//!
//! (2) is summed over the nodes of a class, which is tighter than a row per node. The sum in (3) gets a column of its
//! own where many classes share it. It holds for sets that are no cycles as well ([`super::acyclicity_cuts`]). `a` and
//! that follow from `x` and need not be declared integer.

use crate::graph::{Class, Graph};
use std::collections::BTreeSet;

/// `low <= sum of terms <= high`.
#[derive(Clone, Debug)]
pub struct Row {
    /// May be minus infinity.
    pub low: f64,
    /// May be infinity.
    pub high: f64,
    /// Columns and their factors; a column occurs once.
    pub terms: Vec<(usize, f64)>,
}

/// A column between 0 and `high`.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Of one unit.
    pub cost: f64,
    /// Must it be a whole number?
    pub integer: bool,
    /// May be infinity.
    pub high: f64,
}

/// Minimise the cost of columns subject to rows.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// What has a value.
    pub columns: Vec<Column>,
    /// What must hold of the values.
    pub rows: Vec<Row>,
}

/// The model of a graph, and which columns stand for what.
pub(crate) struct Program {
    pub(crate) model: Model,
    /// By class, the column of its first node.
    x: Vec<usize>,
    /// By class; `None` for roots.
    a: Vec<Option<usize>>,
    /// Columns for sums of other ones in cuts, with those.
    sets: Vec<(usize, Vec<usize>)>,
}

/// Cuts of at most this many classes state their sum for each.
const FEW: usize = 4;

impl Program {
    /// Rows (1) and (2).
    pub(crate) fn new(graph: &Graph) -> Self {
        let mut model = Model::default();
        let mut column = |cost, integer| {
            model.columns.push(Column { cost, integer, high: 1.0 });
            model.columns.len() - 1
        };
        let mut root = vec![false; graph.classes.len()];
        graph.roots.iter().for_each(|class| root[class.index()] = true);
        let (mut x, mut a) = (vec![], vec![]);
        for (class, nodes) in graph.classes.iter().enumerate() {
            let first: Vec<usize> = nodes.iter().map(|node| column(node.cost, true)).collect();
            a.push((!root[class]).then(|| column(0.0, false)));
            x.push(first.first().copied().unwrap_or(0));
        }
        let mut program = Program { model, x, a, sets: vec![] };
        for (class, nodes) in graph.classes.iter().enumerate() {
            let own = (0..nodes.len()).map(|n| (program.x[class] + n, 1.0));
            let (row, sum) = match program.a[class] {
                Some(a) => (own.chain([(a, -1.0)]).collect(), 0.0),
                None => (own.collect(), 1.0),
            };
            program.model.rows.push(Row { low: sum, high: sum, terms: row });
            let needs: BTreeSet<Class> = nodes.iter().flat_map(|node| node.needs()).collect();
            for need in needs {
                let Some(a) = program.a[need.index()] else { continue };
                let using = nodes.iter().enumerate().filter(|(_, node)| node.needs().any(|c| c == need));
                let mut terms: Vec<(usize, f64)> = using.map(|(n, _)| (program.x[class] + n, 1.0)).collect();
                terms.push((a, -1.0));
                program.model.rows.push(Row { low: f64::NEG_INFINITY, high: 0.0, terms });
            }
        }
        program
    }

    /// Rows (3) for one set of classes, sorted.
    pub(crate) fn cut(&mut self, graph: &Graph, set: &[Class]) {
        let mut sum = self.leaving(graph, set);
        if set.len() > FEW {
            let column = self.model.columns.len();
            self.model.columns.push(Column { cost: 0.0, integer: false, high: 1.0 });
            self.sets.push((column, sum.iter().map(|(x, _)| *x).collect()));
            sum.push((column, -1.0));
            self.model.rows.push(Row { low: 0.0, high: f64::INFINITY, terms: std::mem::take(&mut sum) });
            sum.push((column, 1.0));
        }
        for class in set {
            let row = self.holding(sum.clone(), *class);
            self.model.rows.push(row);
        }
    }

    /// The row (3) for one set of classes, sorted, and one class of it.
    pub(crate) fn founded(&self, graph: &Graph, set: &[Class], class: Class) -> Row {
        self.holding(self.leaving(graph, set), class)
    }

    /// The row that a sum is at least what is had of a class.
    fn holding(&self, mut terms: Vec<(usize, f64)>, class: Class) -> Row {
        let low = match self.a[class.index()] {
            Some(a) => {
                terms.push((a, -1.0));
                0.0
            }
            None => 1.0,
        };
        Row { low, high: f64::INFINITY, terms }
    }

    fn leaving(&self, graph: &Graph, set: &[Class]) -> Vec<(usize, f64)> {
        super::acyclicity_cuts::leaving(graph, set).map(|(class, n)| (self.x[class.index()] + n, 1.0)).collect()
    }

    /// A choice as values of the columns.
    pub(crate) fn values(&self, picks: &[Option<u32>]) -> Vec<f64> {
        let mut values = vec![0.0; self.model.columns.len()];
        for (class, pick) in picks.iter().enumerate() {
            if let Some(pick) = pick {
                values[self.x[class] + *pick as usize] = 1.0;
                if let Some(a) = self.a[class] {
                    values[a] = 1.0;
                }
            }
        }
        for (column, of) in &self.sets {
            values[*column] = of.iter().map(|x| values[*x]).sum::<f64>().min(1.0);
        }
        values
    }

    /// The value of a node's column.
    pub(crate) fn value(&self, values: &[f64], class: Class, node: usize) -> f64 {
        values[self.x[class.index()] + node]
    }
}
