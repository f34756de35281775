//! What can be run from an editor: an example, and the verification of a rule. Each is this program in a process of its
//! own, so that it can be stopped, and an endless one costs the editor nothing. It reads files from the disk, and calls
//! only what the user has allowed (SECURITY.md).

use crate::findings::message;
use serde::Deserialize;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Runs an example; its arguments are a document and a title.
pub const RUN_EXAMPLE: &str = "rewright.runExample";
/// Verifies a rule; its arguments are a document and a qualified name.
pub const VERIFY: &str = "rewright.verify";

/// How often a running command looks whether it is to stop.
const POLL: Duration = Duration::from_millis(15);

/// What to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// The example of this title.
    Example(String),
    /// The rule of this qualified name, at all types.
    Rule(String),
}

/// What came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// For people, in one line.
    pub summary: String,
    /// Is all as it should be?
    pub good: bool,
    /// What is wrong, with its place where the command says one.
    pub findings: Vec<Finding>,
}

/// Something that is wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Its code, `RW0601`.
    pub code: String,
    /// Is it a warning only?
    pub warning: bool,
    /// For people.
    pub message: String,
    /// The bytes of the pack that it is about.
    pub place: Option<(u32, u32)>,
}

/// Why a command came to no end.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It was asked to stop.
    #[error("stopped")]
    Stopped,
    /// The process.
    #[error("cannot run {program}: {error}")]
    Start {
        /// This program.
        program: String,
        /// Why.
        error: std::io::Error,
    },
    /// It says why on its standard error.
    #[error("{0}")]
    Failed(String),
}

/// Runs a task on a pack, by the pack's file or its name. `stop` ends it.
///
/// # Errors
/// When it cannot be run, or was stopped.
pub fn run(program: &Path, pack: &str, task: &Task, stop: &Arc<AtomicBool>) -> Result<Outcome, CommandError> {
    let (command, filter) = match task {
        Task::Example(title) => ("check", title),
        Task::Rule(name) => ("verify", name),
    };
    let mut process = Command::new(program);
    process.args([command, "--color", "never", "--format", "json"]).arg(format!("--filter={filter}"));
    process.arg("--").arg(pack).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error| CommandError::Start { program: program.display().to_string(), error };
    let (status, output, errors) = finish(process.spawn().map_err(failed)?, stop)?;
    let said = || CommandError::Failed(format!("`rewright {command}`: {}", errors.trim()));
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(said());
    }
    let document: Value = serde_json::from_str(&output).map_err(|_| said())?;
    let read = |error: serde_json::Error| CommandError::Failed(format!("`rewright {command}` said: {error}"));
    match task {
        Task::Example(title) => Ok(example(serde_json::from_value(document).map_err(read)?, title)),
        Task::Rule(name) => Ok(rule(serde_json::from_value(document).map_err(read)?, name)),
    }
}

/// Waits for a process, or stops it; gives what it printed.
fn finish(mut child: Child, stop: &Arc<AtomicBool>) -> Result<(ExitStatus, String, String), CommandError> {
    let output = reader(child.stdout.take());
    let errors = reader(child.stderr.take());
    let failed = |error: std::io::Error| CommandError::Failed(format!("the command is gone: {error}"));
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if stop.load(Ordering::Relaxed) {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Err(CommandError::Stopped);
        }
        thread::sleep(POLL);
    };
    // Processes that it has started may still hold its output open.
    while !(output.is_finished() && errors.is_finished()) {
        if stop.load(Ordering::Relaxed) {
            return Err(CommandError::Stopped);
        }
        thread::sleep(POLL);
    }
    let text =
        |reader: thread::JoinHandle<Vec<u8>>| String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned();
    Ok((status, text(output), text(errors)))
}

/// Reads to the end, so that the process never waits for us.
fn reader(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = vec![];
        if let Some(mut stream) = stream {
            // There are only the bytes that were read before it broke.
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

#[derive(Deserialize)]
struct Checked {
    examples: Examples,
    diagnostics: Vec<Said>,
}

#[derive(Deserialize)]
struct Examples {
    total: usize,
    run: usize,
}

#[derive(Deserialize)]
struct Said {
    code: String,
    severity: String,
    message: String,
    primary: At,
    help: Option<String>,
}

#[derive(Deserialize)]
struct At {
    start: u32,
    end: u32,
    text: String,
}

fn example(checked: Checked, title: &str) -> Outcome {
    // A title may contain that of another example.
    let own = format!("example {title:?} of ");
    let about = |said: &&Said| said.severity == "error" && said.message.starts_with(&own);
    let broken = checked.diagnostics.iter().find(|said| said.severity == "error" && !said.code.starts_with("RW06"));
    let findings: Vec<Finding> = checked
        .diagnostics
        .iter()
        .filter(about)
        .map(|said| Finding {
            code: said.code.clone(),
            warning: false,
            message: message(&said.message, &said.primary.text, said.help.as_deref()),
            place: Some((said.primary.start, said.primary.end)),
        })
        .collect();
    let (summary, good) = match (broken, &findings[..]) {
        (Some(mistake), _) => (format!("Example {title:?} was not run: {}", mistake.message), false),
        (None, [first, ..]) => (first.message.replace('\n', "; "), false),
        (None, []) if checked.examples.total == 0 || checked.examples.run == 0 => {
            (format!("Example {title:?} was not run: the pack on disk has none of this title"), false)
        }
        (None, []) => (format!("Example {title:?} holds."), true),
    };
    Outcome { summary, good, findings }
}

#[derive(Deserialize)]
struct Verified {
    rules: Vec<VerifiedRule>,
}

#[derive(Deserialize)]
struct VerifiedRule {
    name: String,
    verdict: String,
    instances: Vec<Instance>,
    counterexample: Option<Counterexample>,
}

#[derive(Deserialize)]
struct Instance {
    types: Vec<String>,
    verdict: String,
    method: String,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Counterexample {
    values: Vec<(String, String)>,
    left: String,
    right: String,
    example: Option<String>,
}

/// Verdicts that are no cause for complaint.
const GOOD: [&str; 3] = ["equal", "narrower", "tested"];

fn rule(verified: Verified, name: &str) -> Outcome {
    let is_of = |rule: &&VerifiedRule| {
        rule.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let rules: Vec<&VerifiedRule> = verified.rules.iter().filter(is_of).collect();
    let short = name.rsplit('.').next().unwrap_or(name);
    let findings: Vec<Finding> = rules
        .iter()
        .filter(|rule| !GOOD.contains(&rule.verdict.as_str()))
        .map(|rule| {
            let worst = rule.instances.iter().find(|instance| instance.verdict == rule.verdict);
            let at = worst.map_or(String::new(), |instance| match instance.types.join(", ") {
                types if types.is_empty() => String::new(),
                types => format!(" at {types}"),
            });
            let (code, what) = match rule.verdict.as_str() {
                "counterexample" => ("RW0701", "is wrong"),
                "one_way" => ("RW0702", "holds one way only"),
                "cannot_fire" => ("RW0703", "can never fire"),
                "not_run" => ("RW0706", "was not verified"),
                _ => ("RW0704", "is not decided"),
            };
            let cause = match &rule.counterexample {
                Some(counterexample) => {
                    let values = counterexample.values.iter().map(|(name, value)| format!("{name} = {value}"));
                    let values: Vec<String> = values.collect();
                    let (left, right) = (&counterexample.left, &counterexample.right);
                    format!("left is {left}, right is {right} where {}", values.join(", "))
                }
                None => worst.and_then(|instance| instance.reason.clone()).unwrap_or_default(),
            };
            let example = rule.counterexample.as_ref().and_then(|counterexample| counterexample.example.as_ref());
            let help = example.map(|example| format!("this fails as long as the rule is there:\n{example}"));
            Finding {
                code: code.into(),
                warning: code == "RW0704",
                message: message(&format!("rule {} {what}{at}", rule.name), &cause, help.as_deref()),
                place: None,
            }
        })
        .collect();
    let instances: Vec<&Instance> = rules.iter().flat_map(|rule| &rule.instances).collect();
    let summary = match (&findings[..], &instances[..]) {
        ([first, ..], _) => first.message.lines().take(2).collect::<Vec<_>>().join(": "),
        ([], []) => format!("The pack on disk has no rule {name}."),
        ([], _) => {
            let mut methods: Vec<&str> = instances.iter().map(|instance| instance.method.as_str()).collect();
            methods.sort_unstable();
            methods.dedup();
            let mut verdicts: Vec<&str> = instances.iter().map(|instance| instance.verdict.as_str()).collect();
            verdicts.sort_unstable();
            verdicts.dedup();
            let count = rewright_dsl::diagnostic::count(instances.len(), "type instance");
            format!("Rule {short}: {} at {count} ({}).", verdicts.join(", "), methods.join("; "))
        }
    };
    Outcome { good: findings.is_empty() && !instances.is_empty(), summary, findings }
}

/// What a pack is called on the command line: its file, or its name if it ships.
pub fn argument(name: &str) -> String {
    match rewright_packs::embedded(name) {
        Some(_) => name.trim_end_matches(".rw").replace('/', "."),
        None => PathBuf::from(name).display().to_string(),
    }
}
