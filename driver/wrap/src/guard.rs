//! The process between `rewright wrap` and its build. It outlives a wrapper that is killed, and ends the build then.
//!
//! A process that is killed passes nothing on. So the wrapper starts its own program again, which starts the build: the
//! kernel tells it when the wrapper is gone, and hands it every process of the build whose parent has ended.
//!
//! **Invariant**: nothing is ended as long as the wrapper lives. Processes that a build leaves behind on purpose (a
//! cache's server) stay when the build ends by itself.

use super::signals::{run as wait_for, terminate};
use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process, set_child_subreaper, set_parent_process_death_signal,
};
use signal_hook::consts::{SIGTERM, SIGUSR1};
use std::process::{Command, ExitStatus};
use std::time::Duration;
use std::{fs, io, thread};

/// The hidden command that runs this.
pub const COMMAND: &str = "guard-build";

/// How long a build has to tidy up.
const GRACE: Duration = Duration::from_secs(3);

/// How long to wait between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(20);

/// Processes may start others while we look: the number of times that we look again.
const MAX_ROUNDS: u32 = 500;

/// Runs a build for the process `parent`, to the end of one of them.
///
/// # Errors
/// Where the build cannot be started, or its wrapper is gone already.
pub fn run(parent: u32, build: &mut Command) -> io::Result<ExitStatus> {
    set_parent_process_death_signal(Some(Signal::USR1))?;
    set_child_subreaper(Some(getpid()))?;
    if getppid().is_none_or(|pid| pid.as_raw_nonzero().get().unsigned_abs() != parent) {
        return Err(io::Error::other("`rewright wrap` has ended"));
    }
    wait_for(build, &[SIGTERM, SIGUSR1], |signal, build| match signal {
        SIGUSR1 => end(build),
        _ => terminate(build),
    })
}

/// Ends a build and all that it has started.
fn end(build: Pid) {
    terminate(build);
    for _ in 0..GRACE.as_millis() / PAUSE.as_millis() {
        if descendants().is_empty() {
            return;
        }
        thread::sleep(PAUSE);
    }
    for _ in 0..MAX_ROUNDS {
        let left = descendants();
        if left.is_empty() {
            return;
        }
        for process in left {
            let _ = kill_process(process, Signal::KILL);
        }
        thread::sleep(PAUSE);
    }
}

/// Processes that descend from this one and have not ended.
fn descendants() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let processes: Vec<(Pid, Pid)> = stats.filter_map(|stat| lineage(&stat)).collect();
    let (mut found, mut todo) = (vec![], vec![getpid()]);
    while let Some(process) = todo.pop() {
        let children = processes.iter().filter(|(_, parent)| *parent == process).map(|(child, _)| *child);
        found.extend(children.clone());
        todo.extend(children);
    }
    found
}

/// A process and its parent, from `/proc/PID/stat`; `None` of one that has ended and only waits to be looked at.
fn lineage(stat: &str) -> Option<(Pid, Pid)> {
    let pid = |text: &str| Pid::from_raw(text.parse().ok()?);
    // A program's name, in parentheses, may have any characters.
    let (process, rest) = (stat.split(' ').next()?, stat.rsplit_once(')')?.1);
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then_some((pid(process)?, pid(fields.next()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_do_not_mislead() {
        let pid = |n| Pid::from_raw(n).unwrap();
        assert_eq!(lineage("12 (a) Z 1 (b)) S 7 12 12 0"), Some((pid(12), pid(7))));
        assert_eq!(lineage("12 (sh) Z 7 12 12 0"), None);
        assert_eq!(lineage(""), None);
    }

    #[test]
    fn a_child_descends_from_us() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(descendants().contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants().contains(&pid));
    }
}
