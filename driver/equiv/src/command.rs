//! What another program makes of a file: a pass of `opt` or `mlir-opt`, or any other command that reads a program and
//! writes one.
//!
//! A command is split into words as a POSIX shell splits them, and run without a shell: `$`, `*`, `|` and `>` mean
//! nothing. In its words, `{}` stands for a file with the program, `{out}` for the file to write, `{pass}` for a pass.
//! Without `{}` the program is its standard input, without `{out}` its standard output is the result. The file is a
//! copy: a command that changes it in place changes nothing else.

use rewright_files::scratch::Scratch;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Stands for a file with the program.
const INPUT: &str = "{}";
/// Stands for the file that the command writes.
const OUTPUT: &str = "{out}";
/// Stands for a pass.
const PASS: &str = "{pass}";

/// More output is of no use.
const MOST: u64 = 1 << 30;

/// As much of what a command says is kept.
const SAID: u64 = 1 << 16;

/// A command that makes a program of another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transformation {
    words: Vec<String>,
}

/// What a command has made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// The program.
    pub text: Vec<u8>,
    /// What it said on stderr.
    pub said: Vec<u8>,
}

/// Why a command has made nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no program to run.
    #[error("the command is empty")]
    Empty,
    /// It cannot be split into words.
    #[error("a quote in the command is not closed: {0}")]
    Quote(String),
    /// The program is not there, or the file is no program.
    #[error("cannot run `{0}`: {1}")]
    Start(String, io::Error),
    /// It said that it failed, or crashed.
    #[error("`{command}` failed ({status}){said}")]
    Failed {
        /// With all its words.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it said first, behind a colon.
        said: String,
    },
    /// It was ended.
    #[error("`{0}` did not end within {1} s (`--timeout` allows more)")]
    TimedOut(String, f64),
    /// It was ended.
    #[error("`{0}` printed more than 1 GiB, and was ended")]
    TooLong(String),
    /// It succeeded without a result.
    #[error("`{0}` gave nothing: {1}")]
    Nothing(String, &'static str),
    /// Files of ours.
    #[error("no temporary file: {0}")]
    Scratch(#[from] io::Error),
}

impl Transformation {
    /// A command from its text. LLVM's `opt` prints bitcode unless it is told `-S`, so it is told.
    ///
    /// # Errors
    /// Where it has no words, or a quote is open.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let mut words = shlex::split(text).ok_or_else(|| CommandError::Quote(text.to_string()))?;
        let program = words.first().ok_or(CommandError::Empty)?;
        if is_opt(program) && !words.iter().any(|word| word == "-S" || word == "--S") {
            words.insert(1, "-S".into());
        }
        Ok(Transformation { words })
    }

    /// Does it stand for one command per pass?
    pub fn takes_pass(&self) -> bool {
        self.words.iter().any(|word| word.contains(PASS))
    }

    /// The command with a pass in its place.
    #[must_use]
    pub fn with_pass(&self, pass: &str) -> Self {
        Transformation { words: self.words.iter().map(|word| word.replace(PASS, pass)).collect() }
    }

    /// What it makes of a text, in a file whose name ends in `.extension` if it asks for one.
    ///
    /// # Errors
    /// Where it cannot be run, fails, takes longer than `timeout`, or makes nothing. Processes that it has started are
    /// ended.
    pub fn run(&self, text: &[u8], extension: &str, timeout: Duration) -> Result<Made, CommandError> {
        let scratch = Scratch::new()?;
        let place = |name: &str| scratch.path().join(name).with_extension(extension);
        let (input, output) = (place("in"), place("out"));
        fs::write(&input, text)?;
        let shown = self.to_string();
        let words: Vec<String> = self.words.iter().map(|word| named(word, &input, &output)).collect();
        let (program, arguments) = words.split_first().ok_or(CommandError::Empty)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::from(File::open(&input)?));
        let (status, made) = run(command.stdout(Stdio::piped()).stderr(Stdio::piped()), &shown, timeout)?;
        if !status.success() {
            let said = String::from_utf8_lossy(&made.said).lines().find(|line| !line.trim().is_empty()).map(|line| {
                // The folder's name is another one every time.
                format!(": {}", line.replace(&*scratch.path().to_string_lossy(), "").trim())
            });
            return Err(CommandError::Failed { command: shown, status, said: said.unwrap_or_default() });
        }
        let (text, where_to) = match self.words.iter().any(|word| word.contains(OUTPUT)) {
            true => (fs::read(&output).unwrap_or_default(), "it has not written `{out}`"),
            false => (made.text, "its standard output is empty (`{out}` is for a command that writes a file)"),
        };
        match text.trim_ascii().is_empty() {
            true => Err(CommandError::Nothing(shown, where_to)),
            false => Ok(Made { text, said: made.said }),
        }
    }
}

/// As it can be given to a shell.
impl std::fmt::Display for Transformation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quoted = |word: &String| match word.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c)) {
            true => format!("'{}'", word.replace('\'', "'\\''")),
            false => word.clone(),
        };
        f.write_str(&self.words.iter().map(quoted).collect::<Vec<_>>().join(" "))
    }
}

/// Passes of a list with commas: those inside of brackets belong to one pass. One that is empty is a mistake of the list.
pub fn passes(list: &str) -> Vec<String> {
    let (mut passes, mut depth) = (vec![String::new()], 0usize);
    for c in list.chars() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                passes.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(pass) = passes.last_mut() {
            pass.push(c);
        }
    }
    passes.into_iter().map(|pass| pass.trim().to_string()).collect()
}

/// Is a program LLVM's `opt`, by its name (`opt`, `opt-19`)?
fn is_opt(program: &str) -> bool {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix("opt").is_some_and(|version| {
        version.is_empty() || version.strip_prefix('-').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    })
}

fn named(word: &str, input: &Path, output: &Path) -> String {
    word.replace(OUTPUT, &output.to_string_lossy()).replace(INPUT, &input.to_string_lossy())
}

/// Runs a command to its end, or ends it with all that it has started.
fn run(command: &mut Command, shown: &str, timeout: Duration) -> Result<(ExitStatus, Made), CommandError> {
    let until = Instant::now() + timeout;
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.process_group(0).spawn().map_err(|error| CommandError::Start(program, error))?;
    let process = Pid::from_child(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let text = reading(move || stdout.map_or(Ok(vec![]), printed));
    let said = reading(move || {
        let Some(mut stderr) = stderr else { return Ok(vec![]) };
        let mut said = vec![];
        stderr.by_ref().take(SAID).read_to_end(&mut said)?;
        // It would wait if its output were not read.
        io::copy(&mut stderr, &mut io::sink())?;
        Ok(said)
    });
    let ended = reading(move || child.wait());
    let result = (|| {
        let text = await_until(&text, until, shown, timeout)?;
        if text.len() as u64 > MOST {
            return Err(CommandError::TooLong(shown.to_string()));
        }
        let said = await_until(&said, until, shown, timeout)?;
        let status = await_until(&ended, until, shown, timeout)?;
        Ok((status, Made { text, said }))
    })();
    if result.is_err() {
        // It may have ended by itself.
        let _ = kill_process_group(process, Signal::KILL);
    }
    result
}

/// All that it prints, or a byte more than the limit.
fn printed(stdout: ChildStdout) -> io::Result<Vec<u8>> {
    let mut text = vec![];
    stdout.take(MOST + 1).read_to_end(&mut text)?;
    Ok(text)
}

/// Waits in a thread of its own.
fn reading<T: Send + 'static>(wait: impl FnOnce() -> io::Result<T> + Send + 'static) -> Receiver<io::Result<T>> {
    let (sender, receiver) = channel();
    // The receiver may be gone; then the result is unused.
    thread::spawn(move || drop(sender.send(wait())));
    receiver
}

fn await_until<T>(
    from: &Receiver<io::Result<T>>,
    until: Instant,
    shown: &str,
    timeout: Duration,
) -> Result<T, CommandError> {
    let left = until.saturating_duration_since(Instant::now());
    let late = |_| CommandError::TimedOut(shown.to_string(), timeout.as_secs_f64());
    Ok(from.recv_timeout(left).map_err(late)??)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn run(command: &str, text: &str) -> Result<String, CommandError> {
        let made = Transformation::parse(command)?.run(text.as_bytes(), "ll", SOON)?;
        Ok(String::from_utf8(made.text).unwrap())
    }

    #[test]
    fn a_program_comes_and_goes_by_file_or_stream() {
        for command in ["cat", "cat {}", "cp {} {out}", "sh -c 'cat \"$0\"' {}", "tee {out}", "cat --squeeze-blank"] {
            assert_eq!(run(command, "a\n\nb\n").unwrap(), "a\n\nb\n", "{command}");
        }
        // There is no shell.
        assert_eq!(run("echo $HOME '*' \"a  b\" | >x", "").unwrap(), "$HOME * a  b | >x\n");
    }

    #[test]
    fn the_users_file_is_a_copy() {
        assert_eq!(run("sh -c 'echo changed > \"$0\"; cat \"$0\"' {}", "text").unwrap(), "changed\n");
    }

    #[test]
    fn what_goes_wrong_is_said() {
        for (command, says) in [
            ("", "the command is empty"),
            ("opt 'x", "a quote in the command is not closed"),
            ("no-such-program -x", "cannot run `no-such-program`"),
            ("sh -c 'echo; echo broken >&2; exit 3'", "failed (exit status: 3): broken"),
            ("sh -c 'kill -SEGV $$'", "signal: 11"),
            ("true", "its standard output is empty"),
            ("true {out}", "it has not written `{out}`"),
            ("printf ' \\n'", "gave nothing"),
        ] {
            let error = run(command, "text").unwrap_err().to_string();
            assert!(error.contains(says), "{command}: {error}");
        }
    }

    #[test]
    fn what_does_not_end_is_ended_with_all_that_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("alive");
        let command = format!("sh -c '(sleep 2; touch {}) & sleep 60'", file.display());
        let begun = Instant::now();
        let error = Transformation::parse(&command).unwrap().run(b"text", "ll", Duration::from_millis(300));
        assert!(error.unwrap_err().to_string().contains("did not end within 0.3 s"));
        assert!(begun.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(2500));
        assert!(!file.exists());
    }

    #[test]
    fn opt_prints_text() {
        let shown = |text: &str| Transformation::parse(text).unwrap().to_string();
        assert_eq!(shown("/usr/bin/opt-19 -passes='a, b'"), "/usr/bin/opt-19 -S '-passes=a, b'");
        for text in ["opt -S -passes=licm", "mlir-opt --cse", "optimise x", "opt-x y"] {
            assert_eq!(shown(text), text);
        }
        let each = Transformation::parse("mlir-opt --{pass}").unwrap();
        assert!(each.takes_pass() && !Transformation::parse("opt").unwrap().takes_pass());
        assert_eq!(each.with_pass("cse").to_string(), "mlir-opt --cse");
    }

    #[test]
    fn lists_of_passes_are_cut_outside_of_brackets() {
        assert_eq!(
            passes("sroa, function(loop(licm,indvars),early-cse<memssa>),affine-loop-tile{a=1,b=2},"),
            ["sroa", "function(loop(licm,indvars),early-cse<memssa>)", "affine-loop-tile{a=1,b=2}", ""]
        );
        assert_eq!(passes(" , "), ["", ""]);
    }
}
