//! The processes in which a command runs compiled code, killed from outside while they work.

use super::{inputs, ran, rewright};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Command lines that call a function that never ends, in a process of its own, and their exit codes without it:
/// `difftest` skips a directive that the original program cannot run, and says so.
const RUNNERS: [(&str, i32); 2] =
    [("run endless.clif --fn endless --timeout 10 1", 2), ("difftest endless.clif --timeout 10", 0)];

/// The processes that a process has started.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<u32>>()).collect()
}

/// Waits until a process has started another one that is executing `rewright`, and gives its number.
fn worker_of(process: u32) -> u32 {
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < Duration::from_secs(60), "no worker was started");
        std::thread::sleep(Duration::from_millis(50));
        if let Some(child) = children(process).into_iter().find(|child| is_busy(*child)) {
            return child;
        }
    }
}

/// Has it used processor time? Then it is in the call that does not end, or close to it.
fn is_busy(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in parentheses may hold spaces; user time is the twelfth field after it, in hundredths of a second.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().nth(11).and_then(|ticks| ticks.parse::<u64>().ok()).is_some_and(|ticks| ticks >= 20)
}

#[test]
fn a_killed_worker_is_said() {
    let (dir, own) = (inputs(), tempfile::tempdir().unwrap());
    for (arguments, code) in RUNNERS {
        let mut command = rewright(dir.path(), &own, arguments);
        let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let worker = worker_of(process.id());
        assert!(Command::new("kill").args(["-9", &worker.to_string()]).status().unwrap().success());
        let ran = ran(process.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(code), "{arguments}: {ran:?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("it was killed"), "{arguments}: {said}");
    }
}
