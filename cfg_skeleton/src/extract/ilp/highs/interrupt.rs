//! Stops HiGHS when this thread has worked for so long.
//!
//! HiGHS's own `time_limit` is the clock on the wall, so a busy machine would leave it less work. It asks a callback
//! between its steps, which stops it when the processor time is used up. Within a step, and in the linear and the
//! smaller integer programs that it solves on the way, it looks at its own limit only: the callback moves that to where
//! the processor time will be used up if the machine stays as busy as it was so far.
//!
//! The crate `highs` gives the solver's address, not these functions; they are in the library that it links. Solving
//! runs on the calling thread (`threads` is 1), so the callback reads the clock of the thread that set it up.

#![allow(unsafe_code, reason = "calls the solver's C interface; see the safety notes at each use")]

use crate::extract::clock::{Deadline, now};
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

/// What is assumed until so many seconds of work say how busy it is.
const AT_FIRST: (f64, f64) = (0.05, 4.0);

/// What a callback may answer: the first field of `HighsCallbackDataIn`; the others are left alone.
#[repr(C)]
struct Reply {
    interrupt: c_int,
}

type Callback = extern "C" fn(c_int, *const c_char, *const c_void, *mut Reply, *mut c_void);

unsafe extern "C" {
    fn Highs_setCallback(highs: *mut c_void, callback: Callback, data: *mut c_void) -> c_int;
    fn Highs_startCallback(highs: *mut c_void, kind: c_int) -> c_int;
    fn Highs_getRunTime(highs: *const c_void) -> c_double;
    fn Highs_setDoubleOptionValue(highs: *mut c_void, option: *const c_char, value: c_double) -> c_int;
}

const TIME_LIMIT: &CStr = c"time_limit";

/// What the callback needs to know.
struct Watch {
    highs: *mut c_void,
    deadline: Deadline,
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
    /// Has the model's next run stopped after so much work; `None` if the solver does not take it. The value must
    /// outlive the run, and a run after that needs one of its own.
    pub(super) fn after(model: &mut highs::Model, work: Duration) -> Option<Self> {
        let highs = model.as_mut_ptr();
        let deadline = Deadline::after(work);
        // SAFETY: `highs` is the solver that `model` owns; the signature is that of `highs_c_api.h`.
        let earlier = unsafe { Highs_getRunTime(highs) };
        let watch = Box::new(Watch { highs, deadline, began: (Instant::now(), now()), earlier });
        let limit = watch.limit();
        let mut interrupt = Interrupt { watch };
        let data: *mut Watch = &mut *interrupt.watch;
        // SAFETY: as above, and `data` points into the box that the caller keeps until the run is over.
        let set = unsafe {
            Highs_setDoubleOptionValue(highs, TIME_LIMIT.as_ptr(), limit) == OK
                && Highs_setCallback(highs, callback, data.cast()) == OK
                && Highs_startCallback(highs, SIMPLEX_INTERRUPT) == OK
                && Highs_startCallback(highs, MIP_INTERRUPT) == OK
        };
        set.then_some(interrupt)
    }
}

impl Watch {
    /// What the solver's clock, on the wall, will say when the work is done, as busy as the machine was so far.
    fn limit(&self) -> f64 {
        let wall = self.began.0.elapsed().as_secs_f64();
        let work = now().saturating_sub(self.began.1).as_secs_f64();
        let busy = if work > AT_FIRST.0 { (wall / work).clamp(1.0, BUSIEST) } else { AT_FIRST.1 };
        self.earlier + wall + self.deadline.left().as_secs_f64() * busy
    }
}

extern "C" fn callback(_: c_int, _: *const c_char, _: *const c_void, reply: *mut Reply, data: *mut c_void) {
    // SAFETY: the solver hands back the `data` that it was given, a `Watch` that lives until the run is over, and
    // nobody else has it meanwhile.
    let Some(watch) = (unsafe { data.cast::<Watch>().as_ref() }) else { return };
    if watch.deadline.passed() {
        // SAFETY: `reply` is null or a `HighsCallbackDataIn`, which begins with this field.
        if let Some(reply) = unsafe { reply.as_mut() } {
            reply.interrupt = 1;
        }
        return;
    }
    // SAFETY: the solver is running on this thread, up in the stack, and reads the option where it is kept.
    unsafe { Highs_setDoubleOptionValue(watch.highs, TIME_LIMIT.as_ptr(), watch.limit()) };
}
