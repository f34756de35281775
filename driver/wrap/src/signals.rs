//! A build that ends with its wrapper.
//!
//! A terminal interrupts all that runs in it, but `timeout` or a service ends one process, and the build would go on
//! without a server, and without a process that waits for it. So that signal is passed on, and we wait until the build
//! has handled it: `make` removes what it has half made. Interrupts and hang-ups are left as they are found, since
//! shells and `nohup` have commands ignore them.

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::iterator::Signals;
use std::io;
use std::process::{Command, ExitStatus};
use std::thread;

/// Runs a command to its end. Of each of these signals, `asked` is told, with the command's process.
///
/// # Errors
/// Where it cannot be started.
pub fn run(command: &mut Command, signals: &[i32], asked: impl Fn(i32, Pid) + Send) -> io::Result<ExitStatus> {
    let mut signals = Signals::new(signals)?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    thread::scope(|scope| {
        scope.spawn(move || signals.forever().for_each(|signal| asked(signal, pid)));
        let status = child.wait();
        handle.close();
        status
    })
}

/// Asks a process to end.
pub fn terminate(process: Pid) {
    // Where it has ended by itself there is nothing to do.
    let _ = kill_process(process, Signal::TERM);
}
