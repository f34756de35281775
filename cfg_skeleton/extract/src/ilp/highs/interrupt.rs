//! Stops HiGHS when this thread has worked for a given time, or has done a given amount of counted work.
//!
//! No option limits that in branch and bound. HiGHS asks a callback between its steps (a round of cuts, a node, a
//! heuristic), and tells it how many steps the simplex method has made in all; both are counted, and are the same on
//! every machine. Integer programs within the integer program, which ask for nothing, are turned off where work is
//! limited (see [`super`]).
//!
//! HiGHS's own `time_limit` is the clock on the wall, so a busy machine would leave it less work. It asks a callback
//! between its steps, which stops it when the processor time is used up. Within a step, and in the linear and the
//! smaller integer programs that it solves on the way, it looks at its own limit only: the callback moves that to where
//! the processor time will be used up if the machine stays as busy as it was so far.
//!
//! The crate `highs` gives the solver's address, not these functions; they are in the library that it links. Solving
//! runs on the calling thread (`threads` is 1), so the callback reads the clock of the thread that set it up.

#![allow(unsafe_code, reason = "calls the solver's C interface; see the safety notes at each use")]

use crate::clock::{Deadline, now};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_double, c_int, c_void};
use std::time::{Duration, Instant};

/// Asked in each iteration of the simplex method.
const SIMPLEX_INTERRUPT: c_int = 1;

/// Asked between the steps of branch and bound.
const MIP_INTERRUPT: c_int = 6;

/// What counts as an option that was set, or a callback.
pub(super) const OK: c_int = 0;

/// A machine is at most so busy: waiting has an end.
const BUSIEST: f64 = 64.0;

/// What is assumed until this many seconds of work show how busy it is.
const AT_FIRST: (f64, f64) = (0.05, 4.0);

/// What a callback is told: the first fields of `HighsCallbackDataOut`.
#[repr(C)]
struct Told {
    _data: *const c_void,
    _log: c_int,
    _seconds: c_double,
    _simplex_iterations: c_int,
    _interior_iterations: c_int,
    _first_order_iterations: c_int,
    _objective: c_double,
    _nodes: i64,
    /// Of all linear programs of branch and bound.
    iterations: i64,
}

/// What a callback may answer: the first field of `HighsCallbackDataIn`; the others are left alone.
#[repr(C)]
struct Reply {
    interrupt: c_int,
}

type Callback = extern "C" fn(c_int, *const c_char, *const Told, *mut Reply, *mut c_void);

unsafe extern "C" {
    fn Highs_setCallback(highs: *mut c_void, callback: Callback, data: *mut c_void) -> c_int;
    fn Highs_startCallback(highs: *mut c_void, kind: c_int) -> c_int;
    fn Highs_getRunTime(highs: *const c_void) -> c_double;
    fn Highs_setDoubleOptionValue(highs: *mut c_void, option: *const c_char, value: c_double) -> c_int;
}

const TIME_LIMIT: &CStr = c"time_limit";

/// Counted work that a run may take.
#[derive(Clone, Copy)]
pub(super) struct Allowance {
    /// Units, in all.
    pub(super) units: u64,
    /// How many of these each step of the simplex method takes ..
    pub(super) per_iteration: u64,
    /// .. and each time that the callback is asked in branch and bound.
    pub(super) per_question: u64,
}

/// What the callback needs to know.
struct Watch {
    highs: *mut c_void,
    deadline: Option<Deadline>,
    allowance: Option<Allowance>,
    /// How often it was asked in branch and bound.
    questions: Cell<u64>,
    /// When solving began, by both clocks.
    began: (Instant, Duration),
    /// What the solver's clock said then: it goes on from run to run.
    earlier: f64,
}

/// Keeps what the callback needs while the solver runs.
pub(super) struct Interrupt {
    watch: Box<Watch>,
}

impl Interrupt {
    /// Makes the model's next run stop after this much work; `None` if the solver does not take it. The value must
    /// outlive the run, and a run after that needs one of its own.
    pub(super) fn after(
        model: &mut highs::Model,
        work: Option<Duration>,
        allowance: Option<Allowance>,
    ) -> Option<Self> {
        let highs = model.as_mut_ptr();
        let deadline = work.map(Deadline::after);
        // SAFETY: `highs` is the solver that `model` owns; the signature is that of `highs_c_api.h`.
        let earlier = unsafe { Highs_getRunTime(highs) };
        let watch = Box::new(Watch {
            highs,
            deadline,
            allowance,
            questions: Cell::new(0),
            began: (Instant::now(), now()),
            earlier,
        });
        let limit = watch.limit();
        let mut interrupt = Interrupt { watch };
        let data: *mut Watch = &mut *interrupt.watch;
        // SAFETY: as above, and `data` points into the box that the caller keeps until the run is over.
        let set = unsafe {
            limit.is_none_or(|limit| Highs_setDoubleOptionValue(highs, TIME_LIMIT.as_ptr(), limit) == OK)
                && Highs_setCallback(highs, callback, data.cast()) == OK
                && Highs_startCallback(highs, SIMPLEX_INTERRUPT) == OK
                && Highs_startCallback(highs, MIP_INTERRUPT) == OK
        };
        set.then_some(interrupt)
    }

    /// How often the callback was asked in branch and bound.
    pub(super) fn questions(&self) -> u64 {
        self.watch.questions.get()
    }
}

impl Watch {
    /// Counts a question of branch and bound: is the work done that was allowed?
    fn has_no_more(&self, told: &Told) -> bool {
        self.questions.set(self.questions.get() + 1);
        self.allowance.is_some_and(|allowed| {
            let iterations = u64::try_from(told.iterations).unwrap_or(0).saturating_mul(allowed.per_iteration);
            let questions = self.questions.get().saturating_mul(allowed.per_question);
            iterations.saturating_add(questions) >= allowed.units
        })
    }

    /// What the solver's clock, on the wall, will say when the work is done, as busy as the machine was so far.
    fn limit(&self) -> Option<f64> {
        let deadline = self.deadline?;
        let wall = self.began.0.elapsed().as_secs_f64();
        let work = now().saturating_sub(self.began.1).as_secs_f64();
        let busy = if work > AT_FIRST.0 { (wall / work).clamp(1.0, BUSIEST) } else { AT_FIRST.1 };
        Some(self.earlier + wall + deadline.left().as_secs_f64() * busy)
    }
}

extern "C" fn callback(kind: c_int, _: *const c_char, told: *const Told, reply: *mut Reply, data: *mut c_void) {
    // SAFETY: the solver hands back the `data` that it was given, a `Watch` that lives until the run is over, and
    // no other code has it meanwhile.
    let Some(watch) = (unsafe { data.cast::<Watch>().as_ref() }) else { return };
    // SAFETY: `told` is null or a `HighsCallbackDataOut`, which begins with these fields.
    let told = unsafe { told.as_ref() }.filter(|_| kind == MIP_INTERRUPT);
    if told.is_some_and(|told| watch.has_no_more(told)) || watch.deadline.is_some_and(Deadline::passed) {
        // SAFETY: `reply` is null or a `HighsCallbackDataIn`, which begins with this field.
        if let Some(reply) = unsafe { reply.as_mut() } {
            reply.interrupt = 1;
        }
        return;
    }
    if let Some(limit) = watch.limit() {
        // SAFETY: the solver is running on this thread, up in the stack, and reads the option where it is kept.
        unsafe { Highs_setDoubleOptionValue(watch.highs, TIME_LIMIT.as_ptr(), limit) };
    }
}
