//! The child's side of a worker: jobs come in, and an answer goes out at each step.

use super::channel::Channel;
use super::confine::{allow_processor_time, confine};
use super::error::{JobError, Refusal};
use super::{Answer, Call, Engine, Job, Request, SCRATCH, Step, compare};
use crate::jit::{Externals, Jit, flush_streams};
use crate::runtest::{
    CallOutcome, compile_file, host_targets, run_compiled, run_interpreted, run_on_memory, run_on_words,
};
use rewright_clif::read::{File, read};
use std::io::{self, ErrorKind};
use std::time::Duration;

/// Processor time to load libraries and to compile a file.
const PREPARATION: Duration = Duration::from_secs(600);

/// Does jobs until the parent has no more.
///
/// # Errors
/// There is no process at the other end, or what comes from there is no job.
pub fn serve() -> io::Result<()> {
    end_with_the_parent()?;
    let mut channel = Channel::adopt()?;
    let scratch = std::env::var_os(SCRATCH).ok_or_else(|| io::Error::other("no folder to write to is named"))?;
    let open = confine(scratch.as_ref(), channel.descriptor());
    answer(&mut channel, 0, Step::Ready(open))?;
    loop {
        match channel.receive(None) {
            Ok(Request { number, job }) => do_job(&mut channel, number, &job)?,
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(e),
        }
    }
}

/// Has the system end this process when its parent ends, whatever it is doing then.
fn end_with_the_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

fn answer(channel: &mut Channel, job: u64, step: Step) -> io::Result<()> {
    channel.send(&Answer { job, step }, None)
}

fn do_job(channel: &mut Channel, number: u64, job: &Job) -> io::Result<()> {
    allow_processor_time(PREPARATION);
    let (loaded, externals) = told(match job.engine {
        Engine::Interpreter => Ok(Externals::default()),
        Engine::Jit => Externals::load(&job.imports).map_err(JobError::from),
    });
    answer(channel, number, Step::Loaded(loaded))?;
    let Some(externals) = externals else { return Ok(()) };
    let (compiled, code) = told(compile(job, externals));
    answer(channel, number, Step::Compiled(compiled))?;
    let Some((file, jit)) = code else { return Ok(()) };
    for (n, call) in job.calls.iter().enumerate() {
        allow_processor_time(Duration::from_secs(job.seconds.max(1).saturating_mul(call.count())));
        let outcome = run(&file, jit.as_ref(), call);
        flush_streams();
        answer(channel, number, Step::Called(n, outcome))?;
    }
    Ok(())
}

/// A result for the parent, and what is in it for us.
fn told<T>(result: Result<T, JobError>) -> (Result<(), Refusal>, Option<T>) {
    match result {
        Ok(value) => (Ok(()), Some(value)),
        Err(why) => (Err(why.into()), None),
    }
}

fn compile(job: &Job, externals: Externals) -> Result<(File, Option<Jit>), JobError> {
    let file = read(&job.text)?;
    let jit = match job.engine {
        Engine::Interpreter => None,
        Engine::Jit => {
            let target = host_targets(&file).into_iter().nth(job.target);
            let target = target.ok_or(JobError::NoTarget)??;
            Some(compile_file(&file, &target, externals)?)
        }
    };
    Ok((file, jit))
}

fn run(file: &File, jit: Option<&Jit>, call: &Call) -> CallOutcome {
    let Some(name) = file.functions.get(call.function()).map(|f| f.name()) else {
        return CallOutcome::Failed("no such function".to_string());
    };
    match (jit, call) {
        (Some(jit), Call::Directive { text, .. }) => run_compiled(jit, &name, text),
        (None, Call::Directive { function, text }) => run_interpreted(file, *function, text),
        (Some(jit), Call::OnMemory { args, memory, pointers, .. }) => run_on_memory(jit, &name, args, memory, pointers),
        (Some(jit), Call::OnWords { rows, .. }) => run_on_words(jit, &name, rows),
        (Some(jit), Call::Compare { text, pairs, with, tolerance, .. }) => {
            compare::compare(jit, with, &name, text, *pairs, *tolerance)
        }
        (None, Call::OnMemory { .. } | Call::OnWords { .. } | Call::Compare { .. }) => {
            CallOutcome::Failed("only compiled code has memory, words and a time".to_string())
        }
    }
}
