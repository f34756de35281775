//! What a worker's process prints, passed on to our standard error.
//!
//! The process writes to a pipe that a thread empties, so it never waits for the reader of our output, and a limit
//! holds for all processes together: what comes after it is read and dropped, and the user is told so.

use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{JoinHandle, spawn};

/// Bytes that are passed on, of all processes together.
const SHOWN: usize = 1 << 20;

/// Bytes that are still read of a process that has been ended, since another one may still hold its pipe.
const AFTER_THE_END: usize = SHOWN;

/// How much is left to be shown.
static LEFT: AtomicUsize = AtomicUsize::new(SHOWN);

/// Passes on what is printed, until it is dropped.
pub(super) struct Output {
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Output {
    /// With what the process is to have as its standard output and standard error.
    pub(super) fn new() -> io::Result<(Output, PipeWriter)> {
        let (printed, writer) = io::pipe()?;
        let (stopped, stop) = io::pipe()?;
        let thread = spawn(move || pass_on(printed, &stopped));
        Ok((Output { stop: Some(stop), thread: Some(thread) }, writer))
    }
}

impl Drop for Output {
    /// Passes on first what was printed until now.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Reads until no process can write any more, or until `stopped` says so and nothing is left in the pipe.
fn pass_on(mut printed: PipeReader, stopped: &PipeReader) {
    let mut buffer = [0; 8192];
    let mut after = 0;
    while after < AFTER_THE_END {
        let mut watched = [PollFd::new(&printed, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match poll(&mut watched, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        let [something, ended] = watched.map(|fd| !fd.revents().is_empty());
        if !something {
            return;
        }
        match printed.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                show(&buffer[..count]);
                after += if ended { count } else { 0 };
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Says something of our own.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Shows what the limit allows, and says so when it is reached.
fn show(bytes: &[u8]) {
    let Ok(before) = LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        (left > 0).then(|| left.saturating_sub(bytes.len()))
    }) else {
        return;
    };
    // When stderr is closed, the message cannot be shown anywhere.
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(&bytes[..bytes.len().min(before)]);
    if before <= bytes.len() {
        let _ = writeln!(stderr, "\nnote: called functions printed {SHOWN} bytes: what else they print is not shown");
    }
}
