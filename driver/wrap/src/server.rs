//! One prepared engine for all files of a build: `rewright wrap` serves, `rewright cc` asks.
//!
//! Loading packs and preparing rules takes longer than compiling a file of ordinary size, and the next process would do
//! it again. A request is the server's identity (program and packs, so that no process gets the rules of another one),
//! the name of a file, and whether to tell what became of its functions; the answer is [`Applied`].
//!
//! **Invariant**: an answer is what the asking process would have computed. Where there is none, for whatever reason,
//! it computes.

use super::rewrite_file::{Applied, apply};
use super::rules::Ready;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Asks to be told what became of functions.
const TOLD: &str = "told";

/// Functions may be deep; the main thread of a process has as much.
const STACK: usize = 8 << 20;

/// The workers. As many as are asked at once, each with an engine that no other one uses then: a build of one command
/// at a time prepares one engine.
#[derive(Default)]
struct Workers {
    idle: Vec<Sender<UnixStream>>,
    waiting: VecDeque<UnixStream>,
    started: usize,
}

/// Serves on a socket, until the process ends.
///
/// # Errors
/// Where there can be no such socket.
pub fn serve(socket: &Path, identity: &str, rules: Ready) -> io::Result<()> {
    let listener = UnixListener::bind(socket)?;
    let limit = thread::available_parallelism().map_or(1, usize::from);
    let (rules, identity) = (Arc::new(rules), Arc::<str>::from(identity));
    let workers = Arc::new(Mutex::new(Workers::default()));
    thread::Builder::new().name("listener".into()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut all = lock(&workers);
            if let Some(worker) = all.idle.pop() {
                // If the worker is gone, the client gets no answer, and computes.
                let _ = worker.send(stream);
            } else if all.started < limit {
                all.started += 1;
                let (workers, rules, identity) = (workers.clone(), rules.clone(), identity.clone());
                let started = thread::Builder::new().name("rules".into()).stack_size(STACK);
                let _ = started.spawn(move || work(stream, &workers, &identity, &rules));
            } else {
                all.waiting.push_back(stream);
            }
        }
    })?;
    Ok(())
}

fn work(first: UnixStream, workers: &Mutex<Workers>, identity: &str, rules: &Ready) {
    let (sender, receiver) = channel();
    let mut next = Some(first);
    while let Some(stream) = next {
        // The client may have gone, or asked for something else: neither is an error of the server.
        let _ = answer(&stream, identity, rules);
        drop(stream);
        let waiting = {
            let mut all = lock(workers);
            let waiting = all.waiting.pop_front();
            if waiting.is_none() {
                all.idle.push(sender.clone());
            }
            waiting
        };
        next = waiting.or_else(|| receiver.recv().ok());
    }
}

fn lock(workers: &Mutex<Workers>) -> MutexGuard<'_, Workers> {
    // Nothing panics while it is held.
    workers.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(stream: &UnixStream, identity: &str, rules: &Ready) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let mut line = || lines.next().transpose();
    let (Some(wanted), Some(file), Some(told)) = (line()?, line()?, line()?) else { return Ok(()) };
    if wanted == identity
        && let Ok(applied) = apply(rules, std::fs::read(file)?, told == TOLD)
    {
        let mut answer = BufWriter::new(stream);
        serde_json::to_writer(&mut answer, &applied)?;
        answer.flush()?;
    }
    Ok(())
}

/// Asks for a file; `None` where there is no answer.
pub fn ask(socket: &Path, identity: &str, file: &Path, told: bool) -> Option<Applied> {
    let mut stream = UnixStream::connect(socket).ok()?;
    let told = if told { TOLD } else { "" };
    stream.write_all(format!("{identity}\n{}\n{told}\n", file.to_str()?).as_bytes()).ok()?;
    serde_json::from_reader(BufReader::new(stream)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewright_llvm::optimise::LlvmOptimiser;
    use rewright_packs as packs;
    use rewright_pipeline::optimiser::Options;
    use std::collections::BTreeMap;

    #[test]
    fn an_answer_is_what_would_be_computed_and_only_for_the_same_rules() {
        let dir = tempfile::tempdir().unwrap();
        let (socket, file) = (dir.path().join("socket"), dir.path().join("in.ll"));
        let text = "target datalayout = \"e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
                    define i32 @f(i32 %x) {\n  %y = udiv i32 %x, 8\n  %z = mul i32 %y, 0\n  %a = add i32 %z, %x\n  ret i32 %a\n}\n";
        std::fs::write(&file, text).unwrap();
        let rules = || packs::load(vec![packs::root(Path::new(packs::DEFAULT)).unwrap()]).program;
        let ready = || Ready::new(LlvmOptimiser::new(rules()), Options::default());
        serve(&socket, "mine", ready()).unwrap();
        let own = apply(&ready(), text.into(), false).unwrap();
        assert_eq!(own.facts.optimised, 1);
        // The result of a function is known then; rules match where it goes through the pipeline.
        for (met_before, rules) in [(0, &own.facts.rules), (1, &BTreeMap::new())] {
            let answered = ask(&socket, "mine", &file, false).unwrap();
            assert_eq!(answered.text, own.text);
            assert_eq!((answered.facts.optimised, answered.facts.known), (1, met_before));
            assert_eq!(&answered.facts.rules, rules);
        }
        // A client that is told of functions is told of all, and gets the same.
        let told = ask(&socket, "mine", &file, true).unwrap();
        assert_eq!((&told.text, told.facts.known), (&own.text, 0));
        let functions = told.functions.unwrap();
        assert!(functions.iter().all(|f| !f.changes.is_empty() && f.sides.is_some()), "{functions:?}");
        assert_eq!(own.functions, None);
        assert_eq!(ask(&socket, "other", &file, false), None);
        assert_eq!(ask(&socket, "mine", &dir.path().join("none.ll"), false), None);
        assert_eq!(ask(&dir.path().join("nobody"), "mine", &file, false), None);
    }
}
