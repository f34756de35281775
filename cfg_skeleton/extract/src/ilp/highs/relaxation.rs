//! A linear program to which rows are added, and from which they are removed: each run goes on from the basis of the
//! one before. Removing a row keeps the basis if the row was basic, as slack ones are.
//!
//! The crate `highs` removes no rows; the function is in the library that it links.

#![allow(unsafe_code, reason = "calls the solver's C interface; see the safety note at the use")]

use super::interrupt::{Interrupt, OK};
use super::{PER_LINE, STEP, read, set_up, stated, steps};
use crate::ilp::model::{Model, Row};
use crate::ilp::{Meter, Relaxation, Solved};
use highs::{Col, RowProblem};
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// A linear program and its last basis.
pub(super) struct Warm {
    /// `None` once it failed.
    model: Option<highs::Model>,
    columns: Vec<Col>,
    /// Rows that it began with.
    first: usize,
}

unsafe extern "C" {
    fn Highs_deleteRowsBySet(highs: *mut c_void, count: c_int, rows: *const c_int) -> c_int;
}

impl Warm {
    /// A model without its integers.
    pub(super) fn new(model: &Model) -> Option<Warm> {
        let mut relaxed = model.clone();
        relaxed.columns.iter_mut().for_each(|column| column.integer = false);
        let mut stated = stated(&relaxed)?;
        // The crate names columns when they are added, and these were added by `good_lp`: the n-th is called the same.
        let mut names = RowProblem::default();
        let columns = model.columns.iter().map(|_| names.add_column(0.0, 0.0..)).collect();
        let set = set_up(&mut stated) && stated.try_set_option("solver", "simplex").is_ok();
        let first = stated.num_rows();
        set.then_some(Warm { model: Some(stated), columns, first })
    }
}

impl Relaxation for Warm {
    fn add(&mut self, row: &Row) {
        let terms = row.terms.iter().map(|(n, factor)| (self.columns[*n], *factor));
        let added = self.model.as_mut().map(|model| model.try_add_row(row.low..=row.high, terms).is_ok());
        if added == Some(false) {
            self.model = None;
        }
    }

    fn remove(&mut self, rows: &[usize]) {
        let Some(model) = &mut self.model else { return };
        if rows.is_empty() {
            return;
        }
        let rows: Vec<c_int> = rows.iter().map(|n| (self.first + n) as c_int).collect();
        // SAFETY: `model` owns the solver; the signature is that of `highs_c_api.h`; `rows` has that many entries.
        let removed = unsafe { Highs_deleteRowsBySet(model.as_mut_ptr(), rows.len() as c_int, rows.as_ptr()) };
        if removed != OK {
            self.model = None;
        }
    }

    fn solve(&mut self, seconds: Option<f64>, meter: &Meter) -> Solved {
        let Some(mut model) = self.model.take() else { return Solved::Failed };
        let step = STEP + PER_LINE * (model.num_rows() + self.columns.len()) as u64;
        let most = i32::try_from(meter.left() / step).unwrap_or(i32::MAX);
        let limited = model.try_set_option("simplex_iteration_limit", most).is_ok();
        let seconds = seconds.map(Duration::from_secs_f64);
        let interrupt = seconds.map(|seconds| Interrupt::after(&mut model, Some(seconds), None));
        if !limited || matches!(interrupt, Some(None)) {
            return Solved::Failed;
        }
        let Ok(solved) = model.try_solve() else { return Solved::Failed };
        drop(interrupt);
        meter.spend(steps(&solved).saturating_mul(step));
        let answer = read(&solved, false);
        self.model = Some(solved.into());
        answer
    }
}
