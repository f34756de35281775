//! Running compiled code where it can do no harm: in a child process of our own binary.
//!
//! [`Worker::run`] sends a [`Job`] (a file's text, one of its targets, directives) as a line of JSON to a child that
//! runs [`serve`], and reads one line about compilation and one per directive. When the child dies, the directive that it was at has trapped;
//! a new child goes on after it. A directive that takes too long ends its child, too.
//!
//! **Invariant**: `run` gives exactly one outcome per directive, in order, whatever the compiled code does.

mod compare;

pub use compare::{Comparison, Version};

use crate::clif::read::read;
use crate::jit::Imports;
use crate::runtest::{Outcome, compile_file, host_targets, run_compiled, run_interpreted, run_on_memory, run_on_words};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The hidden command that runs [`serve`].
pub const COMMAND: &str = "run-isolated";
/// How a child says that a call took too long.
const TIMED_OUT: i32 = 124;

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
    /// Which of its targets; see [`host_targets`].
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

/// A child process, started when it is needed.
pub struct Worker {
    program: PathBuf,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// `program` is our own binary.
    pub fn new(program: PathBuf) -> Worker {
        Worker { program, running: None }
    }

    /// Runs all directives of a job.
    pub fn run(&mut self, job: &Job) -> std::io::Result<Vec<Outcome>> {
        let mut outcomes = Vec::with_capacity(job.calls.len());
        while outcomes.len() < job.calls.len() {
            let rest = Job { calls: job.calls[outcomes.len()..].to_vec(), ..job.clone() };
            match self.attempt(&rest, &mut outcomes)? {
                End::Done => {}
                End::NotCompiled(message) => outcomes.resize(job.calls.len(), Outcome::Failed(message)),
                End::Died(status) => outcomes.push(ending(status)),
            }
        }
        Ok(outcomes)
    }

    /// Sends the job and collects answers.
    fn attempt(&mut self, job: &Job, outcomes: &mut Vec<Outcome>) -> std::io::Result<End> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(start(&self.program)?),
        };
        let mut line = serde_json::to_string(job)?;
        line.push('\n');
        // A child that dies while it reads is noticed below.
        let _ = running.input.write_all(line.as_bytes()).and_then(|()| running.input.flush());
        let compiled: Result<(), String> = match running.output.next() {
            Some(Ok(answer)) => serde_json::from_str(&answer)?,
            Some(Err(_)) | None => Err(format!("compilation: {:?}", ending(self.stop()?))),
        };
        if let Err(message) = compiled {
            return Ok(End::NotCompiled(message));
        }
        for _ in &job.calls {
            match self.running.as_mut().and_then(|running| running.output.next()) {
                Some(Ok(answer)) => outcomes.push(serde_json::from_str(&answer)?),
                Some(Err(_)) | None => return Ok(End::Died(self.stop()?)),
            }
        }
        Ok(End::Done)
    }

    /// Waits for a child that has closed its output.
    fn stop(&mut self) -> std::io::Result<ExitStatus> {
        match self.running.take() {
            Some(mut running) => running.child.wait(),
            None => Err(std::io::Error::other("no child")),
        }
    }
}

/// How an attempt at a job ended.
enum End {
    /// With all answers.
    Done,
    /// Before the first directive.
    NotCompiled(String),
    /// In the middle of a directive.
    Died(ExitStatus),
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            drop(running.input);
            let _ = running.child.wait();
        }
    }
}

fn start(program: &PathBuf) -> std::io::Result<Running> {
    let mut child = Command::new(program)
        .arg(COMMAND)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let missing = || std::io::Error::other("the child has no pipes");
    let input = child.stdin.take().ok_or_else(missing)?;
    let output = BufReader::new(child.stdout.take().ok_or_else(missing)?).lines();
    Ok(Running { child, input, output })
}

/// What the end of a child says of the call that it was at.
fn ending(status: ExitStatus) -> Outcome {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            let name = match signal {
                4 => "SIGILL",
                5 => "SIGTRAP",
                // Rust's own handler turns an exhausted stack into this.
                6 => "SIGABRT",
                7 => "SIGBUS",
                8 => "SIGFPE",
                11 => "SIGSEGV",
                _ => return Outcome::Trapped(format!("signal {signal}")),
            };
            return Outcome::Trapped(name.to_string());
        }
    }
    match status.code() {
        Some(TIMED_OUT) => Outcome::TimedOut,
        code => Outcome::Failed(format!("the process ended with {code:?}")),
    }
}

/// The child's side: jobs from `input`, outcomes to `output`, until `input` ends.
pub fn serve(input: impl BufRead, mut output: impl Write) -> std::io::Result<()> {
    let deadline = watch();
    for line in input.lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let compiled = read(&job.text).map_err(|e| e.to_string()).and_then(|file| {
            let jit = match job.engine {
                Engine::Interpreter => None,
                Engine::Jit => {
                    let target = host_targets(&file).into_iter().nth(job.target);
                    let target = target.ok_or("the file has no such target")??;
                    Some(compile_file(&file, &target, &job.imports).map_err(|e| e.to_string())?)
                }
            };
            Ok((file, jit))
        });
        write_line(&mut output, &compiled.as_ref().map(|_| ()))?;
        let Ok((file, jit)) = compiled else { continue };
        for call in &job.calls {
            deadline.store(now() + job.seconds.max(1).saturating_mul(call.count()), Ordering::Relaxed);
            let outcome = match (&jit, file.functions.get(call.function()), call) {
                (_, None, _) => Outcome::Failed("no such function".to_string()),
                (Some(jit), Some(f), Call::Directive { text, .. }) => run_compiled(jit, &f.name(), text),
                (None, Some(_), Call::Directive { function, text }) => run_interpreted(&file, *function, text),
                (Some(jit), Some(f), Call::OnMemory { args, memory, .. }) => {
                    run_on_memory(jit, &f.name(), args, memory)
                }
                (Some(jit), Some(f), Call::OnWords { rows, .. }) => run_on_words(jit, &f.name(), rows),
                (Some(jit), Some(f), Call::Compare { text, pairs, with, tolerance, .. }) => {
                    compare::compare(jit, with, &f.name(), text, *pairs, *tolerance)
                }
                (None, Some(_), Call::OnMemory { .. } | Call::OnWords { .. } | Call::Compare { .. }) => {
                    Outcome::Failed("only compiled code has memory, words and a time".to_string())
                }
            };
            deadline.store(0, Ordering::Relaxed);
            write_line(&mut output, &outcome)?;
        }
    }
    Ok(())
}

fn write_line(output: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *output, value)?;
    output.write_all(b"\n")?;
    output.flush()
}

/// Seconds since some moment before the first call.
fn now() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs() + 1
}

/// Ends the process when the returned deadline passes; zero is none.
fn watch() -> Arc<AtomicU64> {
    let deadline = Arc::new(AtomicU64::new(0));
    let watched = Arc::clone(&deadline);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let until = watched.load(Ordering::Relaxed);
            if until != 0 && now() > until {
                std::process::exit(TIMED_OUT);
            }
        }
    });
    deadline
}
