//! HiGHS, the one module that names a solver. The model is stated through `good_lp`; the run goes through `highs`
//! itself, since `good_lp` drops the dual bound, and the bound where nothing was found in time.
//!
//! What was found of it, and is tested in `extract::tests::solver`: its presolve calls feasible models infeasible in
//! rare cases, or, given a start, calls the start optimal; without the *aggregator* (4096) it does not. Its default
//! relative gap is 1e-4. `objective_bound` as a cut-off gives wrong optima and is not used. It reads clocks only for
//! its time limit, which is on the wall ([`interrupt`] has it count work); with one thread and none set, it is
//! deterministic. The work that a [`Meter`] limits is counted in steps of the simplex method.

mod interrupt;
mod relaxation;

use super::model::Model;
use super::{Effort, Meter, Relaxation, Solved, Solver};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, variable};
use highs::{HighsModelStatus, HighsSolutionStatus, SolvedModel};
use interrupt::{Allowance, Interrupt};
use std::time::Duration;

/// The solver that is used where no other one is given.
#[derive(Clone, Copy, Debug)]
pub struct Highs;

/// The bit of `presolve_rule_off` that turns the aggregator off.
const AGGREGATOR: i32 = 4096;

/// The model as the solver has it; columns keep their order.
fn stated(model: &Model) -> Option<highs::Model> {
    let mut variables = ProblemVariables::new();
    let columns: Vec<Variable> = model
        .columns
        .iter()
        .map(|column| {
            let definition = variable().min(0.0).max(column.high);
            variables.add(if column.integer { definition.integer() } else { definition })
        })
        .collect();
    let sum = |terms: &mut dyn Iterator<Item = (usize, f64)>| {
        let mut sum = Expression::with_capacity(terms.size_hint().0);
        terms.for_each(|(n, factor)| sum.add_mul(factor, columns[n]));
        sum
    };
    let cost = sum(&mut model.columns.iter().map(|column| column.cost).enumerate());
    let mut problem = variables.minimise(cost).using(good_lp::highs);
    for row in &model.rows {
        let sum = || sum(&mut row.terms.iter().copied());
        if row.low == row.high {
            problem.add_constraint(sum().eq(row.low));
            continue;
        }
        if row.low.is_finite() {
            problem.add_constraint(sum().geq(row.low));
        }
        if row.high.is_finite() {
            problem.add_constraint(sum().leq(row.high));
        }
    }
    problem.try_into_inner().ok()
}

/// Options that hold for every run; false if one of them is not taken.
fn set_up(model: &mut highs::Model) -> bool {
    model.make_quiet();
    model.try_set_option("threads", 1).is_ok() && model.try_set_option("parallel", "off").is_ok()
}

/// What a run gave. The bound of a linear program is its optimum.
fn read(solved: &SolvedModel, integer: bool) -> Solved {
    let bound = match integer {
        true => solved.double_info_value(c"mip_dual_bound").unwrap_or(f64::NEG_INFINITY),
        false if solved.status() == HighsModelStatus::Optimal => solved.objective_value(),
        false => f64::NEG_INFINITY,
    };
    match solved.status() {
        HighsModelStatus::Optimal => {}
        HighsModelStatus::ReachedSolutionLimit
        | HighsModelStatus::ReachedIterationLimit
        | HighsModelStatus::ReachedInterrupt
        | HighsModelStatus::ReachedTimeLimit => {
            if solved.primal_solution_status() != HighsSolutionStatus::Feasible {
                return Solved::Bound(bound);
            }
        }
        _ => return Solved::Failed,
    }
    Solved::Answer { values: solved.get_solution().columns().to_vec(), bound }
}

/// Units of work that a step of the simplex method takes, beside those for the size of its program: prices, two
/// solutions with the factored basis, and the basis's update.
const STEP: u64 = 600;

/// Units for each row and column.
const PER_LINE: u64 = 2;

/// Units per entry of an integer program that stating it and its presolve take, and each round of cuts.
const PER_ENTRY: u64 = 300;

/// Units of work that one step of the simplex method takes.
fn step(model: &Model) -> u64 {
    STEP + PER_LINE * (model.rows.len() + model.columns.len()) as u64
}

/// Steps of the simplex method that a run made.
fn steps(solved: &SolvedModel) -> u64 {
    solved.int_info_value(c"simplex_iteration_count").map_or(0, |count| u64::try_from(count).unwrap_or(0))
}

impl Solver for Highs {
    fn solve(&self, model: &Model, start: Option<&[f64]>, effort: &Effort, meter: &Meter) -> Solved {
        let integer = model.columns.iter().any(|column| column.integer);
        let (limited, step) = (meter.left() < u64::MAX / 2, step(model));
        let entries: usize = model.rows.iter().map(|row| row.terms.len()).sum();
        let round = PER_ENTRY * entries as u64;
        meter.spend(round);
        if meter.used_up() {
            return Solved::Bound(f64::NEG_INFINITY);
        }
        let allowance = limited.then(|| Allowance { units: meter.left(), per_iteration: step, per_question: round });
        let Some(mut model) = stated(model) else { return Solved::Failed };
        let mut set = vec![
            set_up(&mut model),
            model.try_set_option("mip_rel_gap", 0.0).is_ok(),
            model.try_set_option("mip_abs_gap", 0.0).is_ok(),
            model.try_set_option("mip_max_nodes", i32::try_from(effort.nodes).unwrap_or(i32::MAX)).is_ok(),
            match effort.presolve {
                true => model.try_set_option("presolve_rule_off", AGGREGATOR).is_ok(),
                false => model.try_set_option("presolve", "off").is_ok(),
            },
        ];
        if let Some(start) = start {
            set.push(model.try_set_solution(Some(start), None, None, None).is_ok());
        }
        if limited {
            // What no limit reaches.
            set.push(model.try_set_option("mip_heuristic_effort", 0.0).is_ok());
            set.push(model.try_set_option("mip_heuristic_run_feasibility_jump", false).is_ok());
        }
        let seconds = effort.seconds.map(Duration::from_secs_f64);
        let interrupt = (limited || seconds.is_some()).then(|| Interrupt::after(&mut model, seconds, allowance));
        if set.contains(&false) || matches!(interrupt, Some(None)) {
            return Solved::Failed;
        }
        let solved = model.try_solve();
        let questions = interrupt.flatten().map_or(0, |interrupt| interrupt.questions());
        meter.spend(questions.saturating_mul(round));
        let Ok(solved) = solved else { return Solved::Failed };
        meter.spend(steps(&solved).saturating_mul(step));
        read(&solved, integer)
    }

    fn relax(&self, model: &Model) -> Option<Box<dyn Relaxation>> {
        Some(Box::new(relaxation::Warm::new(model)?))
    }
}
