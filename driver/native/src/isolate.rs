//! Running compiled code in a process of its own, a child of ours that runs our own binary.
//!
//! [`Worker::run`] sends a [`Job`] (a file's text, one of its targets, directives) to a child that runs [`serve()`].
//! The child answers when libraries are loaded, when the file is compiled, and after each call; answers are numbered,
//! and travel on a socket that called code does not know. A child that dies, takes too long, or whose next answer is
//! not the one that is waited for is ended with all that it started; the call that it was at has trapped or failed
//! then, and a new child goes on after it.
//!
//! Output of called code reaches the user; see [`Printed`]. Its standard input is empty. Libraries are loaded only
//! where they are allowed ([`crate::permission`]), and before anything is, the child gives up what calls do not need
//! ([`mod@confine`]): SECURITY.md says what is kept from harm by that, and what is not.
//!
//! **Invariant**: `run` gives exactly one outcome per directive, in order, whatever the compiled code does, and each
//! within its time limit. An outcome that says `Returned` is of that very call.

mod channel;
mod compare;
mod confine;
mod error;
mod output;
mod process;
pub mod serve;

pub use compare::{Comparison, Version};
pub use serve::serve;

use crate::jit::Imports;
use crate::permission::needs;
use crate::runtest::CallOutcome;
use error::Refusal;
use process::{Conversation, Process, said};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The hidden command that runs [`serve()`].
pub const COMMAND: &str = "run-isolated";
/// Names the folder that a child may write to, as programs know it.
const SCRATCH: &str = "TMPDIR";

/// What runs the directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// Cranelift's compiler, for the host.
    Jit,
    /// Cranelift's interpreter.
    Interpreter,
}

/// Directives of one file on one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The whole file.
    pub text: String,
    /// On what.
    pub engine: Engine,
    /// Which of its targets; see [`host_targets`](crate::runtest::host_targets).
    pub target: usize,
    /// What to run.
    pub calls: Vec<Call>,
    /// How long one call may take.
    pub seconds: u64,
    /// What the file uses that is not in it.
    #[serde(default)]
    pub imports: Imports,
}

/// One thing to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Call {
    /// A directive of a function.
    Directive {
        /// Index of the function in the file.
        function: usize,
        /// Its text.
        text: String,
    },
    /// A compiled function whose first parameter is the address of some memory. The values of the outcome are
    /// [`Returned`](crate::runtest::Returned), as JSON.
    OnMemory {
        /// Index of the function in the file.
        function: usize,
        /// All arguments but the first, as canonical constants.
        args: Vec<i64>,
        /// The memory.
        memory: Vec<u8>,
        /// Where in it words stand that are places in it: the function finds their addresses there.
        #[serde(default)]
        pointers: Vec<usize>,
    },
    /// A compiled function on rows of arguments, each in the low bits of its word. The values of the outcome are the
    /// results of each row, in the same form, as JSON.
    OnWords {
        /// Index of the function in the file.
        function: usize,
        /// Its arguments.
        rows: Vec<Vec<u128>>,
    },
    /// A directive of a function in the compiled file and in another version of it, in turn. The values of the
    /// outcome are a [`Comparison`], as JSON; it holds iff results are the same.
    Compare {
        /// Index of the function in the file.
        function: usize,
        /// The directive's text.
        text: String,
        /// How often.
        pairs: u32,
        /// The other version.
        with: Version,
        /// By how much of the larger one floats may differ.
        #[serde(default)]
        tolerance: f64,
    },
}

impl Call {
    /// The function that it calls: an index into the file.
    pub fn function(&self) -> usize {
        let (Call::Directive { function, .. }
        | Call::OnMemory { function, .. }
        | Call::OnWords { function, .. }
        | Call::Compare { function, .. }) = self;
        *function
    }

    /// How many calls of compiled code it is: each may take its time.
    fn count(&self) -> u64 {
        match self {
            Call::Directive { .. } | Call::OnMemory { .. } | Call::OnWords { .. } => 1,
            Call::Compare { pairs, .. } => 2 * (u64::from(*pairs) + 1),
        }
    }
}

/// Where what called code prints goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// To our standard error, up to a limit: what it prints is no result.
    ToStderr,
    /// Where our own output goes: it is the program that the user runs.
    ToStreams,
}

/// What a child is sent.
#[derive(Serialize, Deserialize)]
struct Request<J = Job> {
    number: u64,
    job: J,
}

/// What a child says of the job of a number; the 0th is to begin.
#[derive(Serialize, Deserialize)]
struct Answer {
    job: u64,
    step: Step,
}

/// How far a child has come.
#[derive(Serialize, Deserialize)]
enum Step {
    /// It waits for jobs. What it could not be kept from.
    Ready(Vec<String>),
    /// Libraries are loaded, or why not.
    Loaded(Result<(), Refusal>),
    /// The file is compiled, or why not.
    Compiled(Result<(), Refusal>),
    /// What the call of a number gave.
    Called(usize, CallOutcome),
}

/// A child process, started when it is needed.
pub struct Worker {
    program: PathBuf,
    printed: Printed,
    running: Option<Process>,
}

impl Worker {
    /// `program` is our own binary. Output of called code goes to our standard error.
    pub fn new(program: PathBuf) -> Worker {
        Worker { program, printed: Printed::ToStderr, running: None }
    }

    /// The same with another place for what called code prints.
    pub fn printing(self, printed: Printed) -> Worker {
        Worker { printed, ..self }
    }

    /// Runs all directives of a job.
    ///
    /// # Errors
    /// When no process can be started.
    pub fn run(&mut self, job: &Job) -> std::io::Result<Vec<CallOutcome>> {
        if let Some(library) = job.imports.refused() {
            return Ok(vec![CallOutcome::Failed(needs(library)); job.calls.len()]);
        }
        let mut outcomes = Vec::with_capacity(job.calls.len());
        while outcomes.len() < job.calls.len() {
            let rest = Job { calls: job.calls[outcomes.len()..].to_vec(), ..job.clone() };
            let (mut process, is_fresh) = match self.running.take() {
                Some(process) => (process, false),
                None => (Process::start(&self.program, self.printed)?, true),
            };
            if !job.imports.links.is_empty() {
                process.say_what_is_open();
            }
            match process.converse(&rest, &mut outcomes) {
                Conversation::Done => self.running = Some(process),
                Conversation::Refused(why) => {
                    self.running = Some(process);
                    outcomes.resize(job.calls.len(), CallOutcome::Failed(why.to_string()));
                }
                Conversation::Broken { calling: true, error } => outcomes.push(process.end(&error)),
                Conversation::Broken { error, .. } if is_fresh => {
                    let why = format!("before the call: {}", said(&process.end(&error)));
                    outcomes.resize(job.calls.len(), CallOutcome::Failed(why));
                }
                // An earlier job has spoilt it: this one begins anew.
                Conversation::Broken { .. } => drop(process),
            }
        }
        Ok(outcomes)
    }
}
