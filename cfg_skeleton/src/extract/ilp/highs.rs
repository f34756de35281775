//! HiGHS, the one module that names a solver.
//!
//! What was found of it, and is tested in `extract::tests::solver`: its presolve calls feasible models infeasible in
//! rare cases, or, given a start, calls the start optimal; without the *aggregator* (4096) it does not. Its default
//! relative gap is 1e-4. `objective_bound` as a cut-off gives wrong optima and is not used. It reads clocks only for
//! its time limit; with one thread and none set, it is deterministic.

use super::model::Model;
use super::{Effort, Solved, Solver};
use highs::{HighsModelStatus, HighsSolutionStatus, RowProblem, Sense};

/// The solver.
pub(crate) struct Highs;

/// The bit of `presolve_rule_off` that turns the aggregator off.
const AGGREGATOR: i32 = 4096;

impl Solver for Highs {
    fn solve(&self, model: &Model, start: Option<&[f64]>, effort: &Effort) -> Solved {
        let mut problem = RowProblem::default();
        let columns: Vec<_> = model
            .columns
            .iter()
            .map(|column| problem.add_column_with_integrality(column.cost, 0.0..=column.high, column.integer))
            .collect();
        for row in &model.rows {
            let terms: Vec<_> = row.terms.iter().map(|(n, factor)| (columns[*n], *factor)).collect();
            problem.add_row(row.low..=row.high, &terms);
        }
        let Ok(mut model) = problem.try_optimise(Sense::Minimise) else { return Solved::Failed };
        model.make_quiet();
        let mut set = vec![
            model.try_set_option("threads", 1).is_ok(),
            model.try_set_option("parallel", "off").is_ok(),
            model.try_set_option("mip_rel_gap", 0.0).is_ok(),
            model.try_set_option("mip_abs_gap", 0.0).is_ok(),
            model.try_set_option("mip_max_nodes", i32::try_from(effort.nodes).unwrap_or(i32::MAX)).is_ok(),
            match effort.presolve {
                true => model.try_set_option("presolve_rule_off", AGGREGATOR).is_ok(),
                false => model.try_set_option("presolve", "off").is_ok(),
            },
        ];
        if let Some(seconds) = effort.seconds {
            set.push(model.try_set_option("time_limit", seconds).is_ok());
        }
        if let Some(start) = start {
            set.push(model.try_set_solution(Some(start), None, None, None).is_ok());
        }
        if set.contains(&false) {
            return Solved::Failed;
        }
        let Ok(solved) = model.try_solve() else { return Solved::Failed };
        let bound = solved.double_info_value(c"mip_dual_bound").unwrap_or(f64::NEG_INFINITY);
        match solved.status() {
            HighsModelStatus::Optimal => {}
            HighsModelStatus::ReachedSolutionLimit
            | HighsModelStatus::ReachedIterationLimit
            | HighsModelStatus::ReachedTimeLimit => {
                if solved.primal_solution_status() != HighsSolutionStatus::Feasible {
                    return Solved::Bound(bound);
                }
            }
            _ => return Solved::Failed,
        }
        Solved::Answer { values: solved.get_solution().columns().to_vec(), bound }
    }
}
