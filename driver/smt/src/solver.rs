//! One solver process: scripts go in, verdicts and values come out.
//!
//! **Invariant**: answers do not depend on what was asked before: every script begins from nothing. The budget is
//! counted in the solver's own steps; its processor time, or that it does nothing, ends what does not count them
//! ([`super::patience`]), and then the process is replaced. One that never answers is an error.

use super::patience::{Patience, SLICE, processor_time};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// What a solver says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is an assignment: the values of the terms that were asked for, as bits.
    Sat(Vec<Option<u128>>),
    /// There is none.
    Unsat,
    /// It does not know, and why.
    Unknown(Unanswered),
}

/// Why a solver does not know an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unanswered {
    /// It has used up its steps or its time.
    Exhausted,
    /// A clock ended it after this processor time.
    Silent(Duration),
    /// It needed more memory than [`MEMORY`].
    Memory,
    /// Its process ended.
    Gone,
    /// It ended the question for a reason of its own.
    Because(String),
}

impl Unanswered {
    /// Is the question too hard, for these steps, this time or this memory?
    pub fn is_too_hard(&self) -> bool {
        matches!(self, Unanswered::Exhausted | Unanswered::Silent(_) | Unanswered::Memory)
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::Exhausted => f.write_str("out of steps or time"),
            Unanswered::Silent(time) => write!(f, "solver, {} s", time.as_secs_f64()),
            Unanswered::Memory => write!(f, "the solver needs more than {MEMORY} MiB"),
            Unanswered::Gone => f.write_str("the solver ended"),
            Unanswered::Because(reason) => f.write_str(reason),
        }
    }
}

/// How much memory one solver process may use, in MiB; understood by z3.
pub const MEMORY: u32 = 2048;

/// How to run a solver.
#[derive(Clone, Debug)]
pub struct Config {
    /// Program and arguments; it reads SMT-LIB from its standard input.
    pub command: Vec<String>,
    /// Steps per question; 0: no limit. Understood by z3.
    pub steps: u64,
    /// Its processor time per question.
    pub timeout: Duration,
}

/// What one question may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The solver's steps; 0: no limit. Understood by z3.
    pub steps: u64,
    /// Its processor time.
    pub time: Duration,
}

impl Limit {
    /// Does `other` allow whatever this one allows?
    fn is_within(self, other: Limit) -> bool {
        (other.steps == 0 || (self.steps != 0 && self.steps <= other.steps)) && self.time <= other.time
    }
}

/// What a question has taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    /// The solver's steps, where it counts them.
    pub steps: Option<u64>,
    /// Its processor time.
    pub time: Duration,
}

/// A running solver.
pub struct Solver {
    config: Config,
    process: Process,
    /// What has been asked since [`Solver::forget`]: the answer, and within which limit.
    answers: HashMap<String, (Answer, Limit)>,
    /// What the last question has taken.
    spent: Spent,
    /// Questions in a row that a clock ended.
    unanswered: u32,
    /// Has a clock ended a question since [`Solver::forget`]?
    timed: bool,
}

struct Process {
    child: Child,
    /// What it is to read: writing waits for a process that does not read, so another thread does it.
    text: Sender<String>,
    lines: Receiver<String>,
}

/// A solver is given up after this many questions in a row that it does not answer.
const UNANSWERED: u32 = 3;

/// Printed after each answer, to know where it ends.
const END: &str = "end of answer";

impl Solver {
    /// Starts the process.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(config: Config) -> io::Result<Self> {
        let process = Process::start(&config)?;
        Ok(Solver { config, process, answers: HashMap::new(), spent: Spent::default(), unanswered: 0, timed: false })
    }

    /// Is there an assignment under which `script`'s assertions hold? `wanted` are the terms whose values to give,
    /// the same for the same script; `patience` is by what the steps are multiplied.
    ///
    /// # Errors
    /// When the process cannot be replaced, or does not answer again and again.
    pub fn ask(&mut self, script: &str, wanted: &[&str], patience: u64) -> io::Result<Answer> {
        let time = self.config.timeout.saturating_mul(u32::try_from(patience).unwrap_or(u32::MAX));
        self.ask_within(script, wanted, Limit { steps: self.config.steps.saturating_mul(patience), time })
    }

    /// The same within a limit of its own.
    ///
    /// # Errors
    /// As [`Solver::ask`].
    pub fn ask_within(&mut self, script: &str, wanted: &[&str], limit: Limit) -> io::Result<Answer> {
        if let Some((answer, within)) = self.answers.get(script)
            && (!matches!(answer, Answer::Unknown(_)) || limit.is_within(*within))
        {
            self.spent = Spent { steps: Some(0), time: Duration::ZERO };
            return Ok(answer.clone());
        }
        let began = self.process.processor_time();
        self.spent = Spent::default();
        let answer = self.ask_anew(script, wanted, limit)?;
        self.spent.time = self.spent.time.max(self.process.processor_time().saturating_sub(began));
        self.answers.insert(script.to_string(), (answer.clone(), limit));
        Ok(answer)
    }

    /// What the last question has taken.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Forgets what has been asked.
    pub fn forget(&mut self) {
        self.answers.clear();
        self.timed = false;
    }

    /// Has a clock ended a question since then? Such an answer is not to be kept: another machine may give a better
    /// one.
    pub fn timed(&self) -> bool {
        self.timed
    }

    /// Replaces the process; what to answer, or an error where that has not helped several times in a row.
    fn replace(&mut self, failure: Failure) -> io::Result<Answer> {
        self.process = Process::start(&self.config)?;
        let time = match failure {
            Failure::Silent(time) => time,
            Failure::Memory => return Ok(Answer::Unknown(Unanswered::Memory)),
            Failure::Gone => return Ok(Answer::Unknown(Unanswered::Gone)),
        };
        self.spent.time = time;
        self.timed = true;
        self.unanswered += 1;
        if self.unanswered < UNANSWERED {
            return Ok(Answer::Unknown(Unanswered::Silent(time)));
        }
        let (command, seconds) = (self.config.command.join(" "), time.as_secs_f64());
        let reason = format!(
            "the solver `{command}` did not answer {UNANSWERED} questions in a row, the last one within {seconds} s"
        );
        Err(io::Error::new(io::ErrorKind::TimedOut, reason))
    }

    fn ask_anew(&mut self, script: &str, wanted: &[&str], limit: Limit) -> io::Result<Answer> {
        let milliseconds = limit.time.as_millis().min(u128::from(u32::MAX));
        let mut text = String::from("(reset)\n(set-option :print-success false)\n");
        let mut count = "";
        if limit.steps > 0 {
            text += &format!("(set-option :rlimit {})\n(set-option :memory_max_size {MEMORY})\n", limit.steps);
            count = "(get-info :rlimit)\n";
        }
        text += &format!("(set-option :timeout {milliseconds})\n{script}(check-sat)\n{count}(echo \"{END}\")\n");
        let answer = match self.exchange(&text, limit.time) {
            Ok(lines) => lines,
            Err(failure) => return self.replace(failure),
        };
        self.unanswered = 0;
        self.spent.steps = answer.iter().find_map(|line| steps(line));
        match answer.first().map(String::as_str) {
            Some("unsat") => Ok(Answer::Unsat),
            Some("sat") if wanted.is_empty() => Ok(Answer::Sat(vec![])),
            Some("sat") => {
                let lines = self
                    .exchange(&format!("(get-value ({}))\n(echo \"{END}\")\n", wanted.join(" ")), self.config.timeout);
                let text = lines.unwrap_or_default().join(" ");
                Ok(Answer::Sat(values(&text, wanted)))
            }
            Some("unknown") => {
                let lines =
                    self.exchange(&format!("(get-info :reason-unknown)\n(echo \"{END}\")\n"), self.config.timeout);
                let reason = lines.unwrap_or_default().join(" ");
                let reason = reason.split('"').nth(1).unwrap_or("no reason given").trim().to_string();
                if reason.contains("timeout") {
                    // Its steps say little of what it has taken.
                    self.spent.steps = None;
                    self.timed = true;
                }
                let limit = ["canceled", "timeout", "max. resource limit exceeded"].iter().any(|r| reason.contains(r));
                Ok(Answer::Unknown(if limit { Unanswered::Exhausted } else { Unanswered::Because(reason) }))
            }
            Some(other) => Ok(Answer::Unknown(Unanswered::Because(format!("the solver said: {other}")))),
            None => Ok(Answer::Unknown(Unanswered::Because("the solver said nothing".into()))),
        }
    }

    /// What the solver calls itself, with its version.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn version(&mut self) -> io::Result<String> {
        let text = format!("(get-info :name)\n(get-info :version)\n(echo \"{END}\")\n");
        self.exchange(&text, self.config.timeout).map(|lines| lines.join(" ")).map_err(|failure| {
            let command = self.config.command.join(" ");
            io::Error::other(match failure {
                Failure::Gone | Failure::Memory => {
                    format!("the solver `{command}` ended before it said its name")
                }
                Failure::Silent(time) => {
                    format!("the solver `{command}` did not say its name within {} s", time.as_secs_f64())
                }
            })
        })
    }

    /// Writes, and reads all lines up to the end mark.
    fn exchange(&mut self, text: &str, most: Duration) -> Result<Vec<String>, Failure> {
        self.process.text.send(text.to_string()).map_err(|_| Failure::Gone)?;
        // Its own limits come first; this is for a solver that does not look at them.
        let mut patience = Patience::new(self.process.child.id(), most.saturating_add(most.min(BEHIND)));
        let mut lines = vec![];
        loop {
            match self.process.lines.recv_timeout(SLICE) {
                Ok(line) if line.contains(END) => return Ok(lines),
                Ok(line) if line == OUT_OF_MEMORY => return Err(Failure::Memory),
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(time) = patience.ended() {
                        return Err(Failure::Silent(time));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Gone),
            }
            if lines.len() > MOST_LINES {
                return Err(Failure::Gone);
            }
        }
    }
}

/// A solver is ended at most this much later than it should have ended by itself.
const BEHIND: Duration = Duration::from_secs(10);

/// An answer of more lines counts as no answer.
const MOST_LINES: usize = 1 << 20;

/// The last line of a solver that has used up [`MEMORY`].
const OUT_OF_MEMORY: &str = "(error \"out of memory\")";

/// Why there is no answer.
enum Failure {
    /// The process needed more than [`MEMORY`], and ended.
    Memory,
    /// The process ended, or does not speak the language.
    Gone,
    /// It took so long.
    Silent(Duration),
}

impl Process {
    fn start(config: &Config) -> io::Result<Self> {
        let (program, args) =
            config.command.split_first().ok_or_else(|| io::Error::other("the solver's command is empty"))?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (sender, lines) = channel();
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        // Ends with the process's output, or when the receiver is gone.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line.trim().to_string()).is_err() {
                    break;
                }
            }
        });
        let (text, texts) = channel::<String>();
        let mut stdin = child.stdin.take().ok_or_else(|| io::Error::other("no input"))?;
        // Ends when the sender is gone, or with the process.
        std::thread::spawn(move || {
            for text in texts {
                if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        Ok(Process { child, text, lines })
    }

    /// What it has used so far, where the system says so.
    fn processor_time(&self) -> Duration {
        processor_time(self.child.id()).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number in `(:rlimit 1234)`.
fn steps(line: &str) -> Option<u64> {
    line.trim().strip_prefix("(:rlimit")?.strip_suffix(')')?.trim().parse().ok()
}

/// `((x #x0f) (y #b01))`: the constants in order; `None` for what is no bit vector or truth value.
fn values(text: &str, wanted: &[&str]) -> Vec<Option<u128>> {
    let mut rest = text;
    wanted
        .iter()
        .map(|name| {
            let at = rest.find(&format!("({name} "))?;
            rest = &rest[at + name.len() + 2..];
            let word = rest.split([')', ' ']).next()?;
            match word.get(..2) {
                Some("#x") => u128::from_str_radix(&word[2..], 16).ok(),
                Some("#b") => u128::from_str_radix(&word[2..], 2).ok(),
                _ => match word {
                    "true" => Some(1),
                    "false" => Some(0),
                    _ => None,
                },
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let text = "((|x| #x0f) (|y| #b101) (|z| (as const)) (|t| true))";
        assert_eq!(values(text, &["|x|", "|y|", "|z|", "|t|"]), [Some(15), Some(5), None, Some(1)]);
    }

    #[test]
    fn what_is_known_is_not_asked_again() {
        let script = r#"while read line; do case "$line" in
            *check-sat*) n=$((n + 1)); [ $n = 2 ] && echo unsat || echo unknown;;
            *echo*) echo 'end of answer';;
        esac; done"#;
        let command = ["sh", "-c", script].map(String::from).to_vec();
        let time = Duration::from_secs(60);
        let mut solver = Solver::start(Config { command, steps: 1, timeout: time }).expect("a shell");
        let mut proved =
            |steps| solver.ask_within("(assert hard)\n", &[], Limit { steps, time }).unwrap() == Answer::Unsat;
        assert_eq!([10, 5, 10, 11, 1, 0].map(&mut proved), [false, false, false, true, true, true]);
    }

    #[test]
    fn a_solver_without_memory_is_replaced() {
        let script = r#"while read line; do case "$line" in
            *echo*) echo unsat; echo 'end of answer';;
            *hard*) echo '(error "out of memory")'; exit 101;;
        esac; done"#;
        let command = ["sh", "-c", script].map(String::from).to_vec();
        let config = Config { command, steps: 1, timeout: Duration::from_secs(60) };
        let mut solver = Solver::start(config).expect("a shell");
        assert_eq!(solver.ask("(assert hard)\n", &[], 1).unwrap(), Answer::Unknown(Unanswered::Memory));
        assert_eq!(solver.ask("(assert easy)\n", &[], 1).unwrap(), Answer::Unsat);
    }
}
