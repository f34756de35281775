//! The parent's side of a worker: a process, what is said to it, and its end.

use super::channel::Channel;
use super::error::Refusal;
use super::output::{Output, say};
use super::{Answer, COMMAND, Job, Printed, Request, SCRATCH, Step};
use crate::runtest::CallOutcome;
use rewright_files::scratch::Scratch;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, Error, ErrorKind};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, Once, mpsc};
use std::time::Duration;

/// How long a process may take to begin.
const START: Duration = Duration::from_secs(60);

/// How long libraries may take to be loaded, beside what a call may take: their initialisers run then.
const LOADING: Duration = Duration::from_secs(10);

/// How long a file may take to be compiled.
const COMPILATION: Duration = Duration::from_secs(300);

/// A process that runs [`serve`](super::serve()). It is ended, with all that it started, when it is dropped.
pub(super) struct Process {
    child: Child,
    channel: Channel,
    /// The number of the last job.
    job: u64,
    /// What it could not be kept from.
    open: Vec<String>,
    /// Its own folder, which goes with it.
    _scratch: Scratch,
    /// Passes on what is printed; dropped after the process has ended.
    _output: Option<Output>,
}

/// How a conversation about a job ended.
pub(super) enum Conversation {
    /// With an answer to each call.
    Done,
    /// Without any: libraries cannot be loaded, or the file not compiled.
    Refused(Refusal),
    /// With a process that must be ended.
    Broken {
        /// Had a call begun?
        calling: bool,
        /// What is wrong with it.
        error: Error,
    },
}

impl Process {
    /// Starts our own binary as a worker.
    pub(super) fn start(program: &Path, printed: Printed) -> io::Result<Process> {
        let scratch = Scratch::new()?;
        let (channel, theirs) = Channel::pair()?;
        let (output, [stdout, stderr]) = match printed {
            Printed::ToStreams => (None, [Stdio::inherit(), Stdio::inherit()]),
            Printed::ToStderr => {
                let (output, writer) = Output::new()?;
                (Some(output), [writer.try_clone()?.into(), writer.into()])
            }
        };
        // A group of its own: its descendants can be ended with it.
        let mut command = Command::new(program);
        command.arg(COMMAND).env("RUST_BACKTRACE", "0").env(SCRATCH, scratch.path()).process_group(0);
        command.stdin(theirs).stdout(stdout).stderr(stderr);
        let child = spawn(command)?;
        let mut process = Process { child, channel, job: 0, open: vec![], _scratch: scratch, _output: output };
        let ready = process.answer(START, |step| match step {
            Step::Ready(open) => Some(open),
            _ => None,
        });
        match ready {
            Ok(open) => {
                process.open = open;
                Ok(process)
            }
            Err(error) => {
                let how = process.end(&error);
                Err(Error::other(format!("{} does not work as a worker: {}", program.display(), said(&how))))
            }
        }
    }

    /// Says, once for all processes, what code of libraries could do here.
    pub(super) fn say_what_is_open(&self) {
        static SAID: Once = Once::new();
        if !self.open.is_empty() {
            let open = self.open.join("; ");
            SAID.call_once(|| say(&format!("note: functions of libraries are called without {open}; see SECURITY.md")));
        }
    }

    /// Has a job done; outcomes are added as they come.
    pub(super) fn converse(&mut self, job: &Job, outcomes: &mut Vec<CallOutcome>) -> Conversation {
        let seconds = job.seconds.max(1);
        match self.prepare(job, Duration::from_secs(seconds)) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => return Conversation::Refused(why),
            Err(error) => return Conversation::Broken { calling: false, error },
        }
        for (number, call) in job.calls.iter().enumerate() {
            let limit = Duration::from_secs(seconds.saturating_mul(call.count()));
            let outcome = self.answer(limit, |step| match step {
                Step::Called(called, outcome) if called == number => Some(outcome),
                _ => None,
            });
            match outcome {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => return Conversation::Broken { calling: true, error },
            }
        }
        Conversation::Done
    }

    /// Has libraries loaded and the file compiled.
    fn prepare(&mut self, job: &Job, seconds: Duration) -> io::Result<Result<(), Refusal>> {
        self.job += 1;
        self.channel.send(&Request { number: self.job, job }, Some(COMPILATION))?;
        let loaded = self.answer(LOADING + seconds, |step| match step {
            Step::Loaded(loaded) => Some(loaded),
            _ => None,
        })?;
        if loaded.is_err() {
            return Ok(loaded);
        }
        self.answer(COMPILATION, |step| match step {
            Step::Compiled(compiled) => Some(compiled),
            _ => None,
        })
    }

    /// The next answer, if it is to the job that it was last given and what is waited for.
    fn answer<T>(&mut self, limit: Duration, take: impl FnOnce(Step) -> Option<T>) -> io::Result<T> {
        let Answer { job, step } = self.channel.receive(Some(limit))?;
        let out_of_turn = || Error::new(ErrorKind::InvalidData, "an answer came out of turn");
        if job != self.job {
            return Err(out_of_turn());
        }
        take(step).ok_or_else(out_of_turn)
    }

    /// Ends it because of an error, and says what that means for the call that it was at.
    pub(super) fn end(mut self, error: &Error) -> CallOutcome {
        let status = self.kill();
        match error.kind() {
            ErrorKind::TimedOut => CallOutcome::TimedOut,
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => match status {
                Ok(status) => ending(status),
                Err(error) => CallOutcome::Failed(format!("the process is lost: {error}")),
            },
            _ => CallOutcome::Failed(format!("the process that makes calls is confused, and was ended: {error}")),
        }
    }

    /// Ends it and its descendants.
    fn kill(&mut self) -> io::Result<ExitStatus> {
        // A process that has begun to end keeps the status that it ends with.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.child.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The number of a process that was waited for may be another one's.
        if let Ok(None) = self.child.try_wait() {
            let _ = self.kill();
        }
    }
}

/// Starts a process. The system ends it with the *thread* that started it (see [`super::serve()`]), so this is one that
/// lives as long as we do. The command goes with our copies of the child's ends.
fn spawn(command: Command) -> io::Result<Child> {
    type Order = (Command, mpsc::Sender<io::Result<Child>>);
    static STARTER: LazyLock<mpsc::Sender<Order>> = LazyLock::new(|| {
        let (sender, orders) = mpsc::channel::<Order>();
        std::thread::spawn(move || {
            for (mut command, answer) in orders {
                let started = command.spawn();
                drop(command);
                let _ = answer.send(started);
            }
        });
        sender
    });
    let (answer, started) = mpsc::channel();
    STARTER.send((command, answer)).map_err(Error::other)?;
    started.recv().map_err(Error::other)?
}

/// What the end of a process says of the call that it was at.
fn ending(status: ExitStatus) -> CallOutcome {
    let name = match status.signal() {
        Some(4) => "SIGILL",
        Some(5) => "SIGTRAP",
        // Rust's own handler turns an exhausted stack into this.
        Some(6) => "SIGABRT",
        Some(7) => "SIGBUS",
        Some(8) => "SIGFPE",
        // Our own: it was alive, but had closed the connection.
        Some(9) => return CallOutcome::Failed("it was killed, or had closed its connection to us".into()),
        Some(11) => "SIGSEGV",
        // It used up its processor time.
        Some(24) => return CallOutcome::TimedOut,
        Some(25) => "SIGXFSZ",
        Some(other) => return CallOutcome::Trapped(format!("signal {other}")),
        None => {
            let code = status.code().map_or("no code".to_string(), |code| format!("code {code}"));
            return CallOutcome::Failed(format!("it ended the process, with exit {code}"));
        }
    };
    CallOutcome::Trapped(name.to_string())
}

/// An outcome other than a value, in words.
pub(super) fn said(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Returned { values, .. } => values.clone(),
        CallOutcome::Trapped(signal) => signal.clone(),
        CallOutcome::TimedOut => "it takes too long".into(),
        CallOutcome::Failed(why) => why.clone(),
    }
}
