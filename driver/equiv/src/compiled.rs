//! Functions that differ, before and after, as clang compiles them, in processes of their own.
//!
//! Both versions of all pairs go into one module ([`text`]) that clang compiles without optimisation, so that LLVM
//! itself changes nothing, with a program (`harness.c`) that runs them: it makes up the memory that they reach, and
//! it answers their calls. It compares the result, the memory except the stack, and the arguments of callees that may
//! write; where one of the two crashes, traps or does not end, the other one must. A crash of the first
//! is something that is undefined there, and says nothing.
//!
//! **Invariant**: a function that runs can do nothing but compute: all system calls but those for memory are refused.
//!
//! What LLVM leaves open in a version is decided as our rules understand it, in both versions alike: amounts of shifts
//! are taken modulo the width, conversions out of range saturate, `undef` and `poison` are zero, and flags are not
//! there.
//!
//! Not here: what poison does to flags and `freeze`.

mod leaves;
mod text;

use super::inputs::{BASE, Inputs, PAGE, PAGES};
use super::not_modelled::NotModelled;
use super::{Config, Files, Seen, headers};
use leaves::{Class, Leaf};
use rand::Rng;
use rewright_files::scratch_folder;
use rewright_llvm::optimise::LlvmOptimiser;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use text::{Program, Runnable, SLOT};

const HARNESS: &str = include_str!("compiled/harness.c");

/// Runs the pairs of two files.
///
/// # Errors
/// When clang cannot be started, or does not compile the program that runs functions.
pub(super) fn compare(llvm: &LlvmOptimiser, files: &Files<'_>, config: &Config) -> io::Result<Vec<Seen>> {
    let program = Program::new(llvm, files);
    if program.functions.iter().all(Result::is_err) {
        return Ok(program.functions.into_iter().map(|f| f.map_or_else(Seen::nothing, |_| Seen::default())).collect());
    }
    let place = std::env::temp_dir();
    let folder = scratch_folder("validate-", &place).map_err(|e| named(&e, "cannot make a folder in", &place))?;
    let executable = match compiled(&config.clang, &program.text, folder.path())? {
        Ok(executable) => executable,
        Err(error) => {
            let seen = |f: Result<Runnable, NotModelled>| f.map_or_else(Seen::nothing, |_| Seen::nothing(&error));
            return Ok(program.functions.into_iter().map(seen).collect());
        }
    };
    let mut all = vec![];
    for (pair, function) in program.functions.into_iter().enumerate() {
        let [before, after] = files.versions(pair);
        all.push(match (function, headers::another_global(before, after)) {
            (Err(reason), _) => Seen::nothing(reason),
            (_, Some(reason)) => Seen::nothing(reason),
            (Ok(function), None) => runs(&function, Inputs::new(files, pair, config.seed), config.runs, &executable)?,
        });
    }
    Ok(all)
}

/// Clang does not compile the program: its first message.
#[derive(Debug, thiserror::Error)]
#[error("clang: {0}")]
struct NotCompiled(String);

/// The program, or what clang says.
fn compiled(clang: &Path, text: &str, folder: &Path) -> io::Result<Result<PathBuf, NotCompiled>> {
    let [module, harness, executable] = ["module.ll", "harness.c", "run"].map(|name| folder.join(name));
    write(&module, text.as_bytes())?;
    write(&harness, HARNESS.as_bytes())?;
    let Output { status, stderr, .. } = Command::new(clang)
        // Functions that may be missing are looked for in libraries that nothing else asks for.
        .args(["-O0", "-w", "-no-pie", "-Wl,--no-as-needed", "-Wl,-z,now"])
        .args([("BASE", BASE), ("PAGES", PAGES), ("PAGE", PAGE)].map(|(name, n)| format!("-D{name}={n}ull")))
        .args(["-x", "ir"])
        .arg(&module)
        .args(["-x", "c"])
        .arg(&harness)
        .args(["-lm", "-o"])
        .arg(&executable)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| named(&e, "cannot start", clang))?;
    if status.success() {
        let missing = || NotCompiled("it has written no program".into());
        return Ok(if executable.exists() { Ok(executable) } else { Err(missing()) });
    }
    let said = String::from_utf8_lossy(&stderr);
    let first = said.lines().find(|line| line.contains("error") || line.contains("undefined"));
    let silent = format!("it says nothing, and ended with {status}");
    let reason = first.or(said.lines().next()).unwrap_or(&silent);
    // The folder's name is another one every time.
    let reason = reason.rsplit_once(&*folder.to_string_lossy()).map_or(reason, |(_, rest)| rest);
    Ok(Err(NotCompiled(reason.trim_start_matches('/').to_string())))
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::write(path, content).map_err(|e| named(&e, "cannot write", path))
}

/// An error with what was done to which file.
fn named(error: &io::Error, what: &str, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {}: {error}", path.display()))
}

/// How a version's run ended, as `harness.c` counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Returned,
    /// With a call that does not return.
    Left,
    Steps,
    Memory,
    Missing,
    Crashed(u32),
    TimedOut,
    Unconfined,
}

/// What a version's run did.
struct VersionRun {
    status: Status,
    memory: u64,
    told: u64,
    result: [u8; SLOT],
}

impl VersionRun {
    const SIZE: usize = 24 + SLOT;

    fn read(bytes: &[u8]) -> Option<VersionRun> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let status = word(0)?;
        let status = match status as u32 {
            0 => Status::Returned,
            1 => Status::Left,
            2 => Status::Steps,
            3 => Status::Memory,
            4 => Status::Missing,
            5 => Status::Crashed((status >> 32) as u32),
            6 => Status::TimedOut,
            7 => Status::Unconfined,
            _ => return None,
        };
        let result = bytes.get(24..Self::SIZE)?.try_into().ok()?;
        Some(VersionRun { status, memory: word(8)?, told: word(16)?, result })
    }

    /// Why nothing can be compared with it.
    fn open(&self) -> Option<&'static str> {
        match self.status {
            Status::Returned | Status::Left => None,
            Status::Steps => Some("too many steps"),
            Status::Memory => Some("it reaches too much memory"),
            Status::Missing => Some("it calls what only its own library has"),
            Status::Crashed(_) => Some("undefined"),
            Status::TimedOut => Some("too slow"),
            Status::Unconfined => Some("this system cannot keep a process from system calls (seccomp)"),
        }
    }

    fn difference(&self, after: &VersionRun, result: &[Leaf]) -> Option<String> {
        if self.status != after.status {
            return Some(format!("it ends as {:?}, and ended as {:?}", after.status, self.status));
        }
        let values = |outcome: &VersionRun| result.iter().map(|leaf| leaf.read(&outcome.result)).collect::<Vec<_>>();
        let (was, is) = (values(self), values(after));
        if self.status == Status::Returned && was != is {
            return Some(format!("it gives {is:x?}, and gave {was:x?}"));
        }
        match () {
            () if self.memory != after.memory => Some("it leaves another memory".into()),
            () if self.told != after.told => Some("it calls others, or in another order".into()),
            () => None,
        }
    }
}

/// The code with which the program that runs functions ends before all inputs (`harness.c`).
const TIME_IS_OVER: i32 = 2;

/// Runs one function.
fn runs(function: &Runnable, mut inputs: Inputs, runs: u32, executable: &Path) -> io::Result<Seen> {
    let mut input = vec![];
    let mut arguments = vec![];
    for _ in 0..runs {
        let slots = function.parameters.iter().map(|leaves| slot(leaves, &mut inputs)).collect::<Vec<_>>().concat();
        input.extend((function.number as u32).to_le_bytes());
        input.extend((slots.len() as u32).to_le_bytes());
        input.extend(inputs.rng.random::<u64>().to_le_bytes());
        input.extend(&slots);
        arguments.push(slots);
    }
    let path = executable.with_extension("input");
    write(&path, &input)?;
    let command = || Command::new(executable).stdin(File::open(&path)?).stderr(Stdio::null()).output();
    let output = command().map_err(|e| named(&e, "cannot run", executable))?;
    let mut seen = Seen::default();
    let outcomes = output.stdout.chunks_exact(VersionRun::SIZE).map(VersionRun::read).collect::<Vec<_>>();
    for (run, slots) in arguments.iter().enumerate() {
        let outcome = |version| outcomes.get(2 * run + version).and_then(Option::as_ref);
        let (Some(before), Some(after)) = (outcome(0), outcome(1)) else {
            seen.not_compared(match output.status.code() {
                Some(TIME_IS_OVER) => "its runs take longer together than they may",
                _ => "the process that runs it has ended",
            });
            continue;
        };
        if let Some(reason) = before.open() {
            seen.not_compared(reason);
            continue;
        }
        if let (Status::Memory | Status::Missing | Status::Unconfined, Some(reason)) = (after.status, after.open()) {
            seen.not_compared(reason);
            continue;
        }
        seen.runs += 1;
        if let Some(difference) = before.difference(after, &function.result) {
            let shown = |(leaves, slot): (&Vec<Leaf>, &[u8])| {
                let parts: Vec<String> = leaves.iter().map(|leaf| format!("{:#x}", leaf.read(slot))).collect();
                parts.join(" ")
            };
            let arguments = function.parameters.iter().zip(slots.chunks(SLOT)).map(shown).collect();
            seen.differs = Some((arguments, difference));
            break;
        }
    }
    Ok(seen)
}

/// An argument, in the bytes that it has in memory.
fn slot(leaves: &[Leaf], inputs: &mut Inputs) -> Vec<u8> {
    let mut bytes = vec![0; SLOT];
    for leaf in leaves {
        let value = inputs.argument(&leaf.ty);
        let high: u64 = if leaf.size > 8 { inputs.rng.random() } else { 0 };
        let whole = [value.to_le_bytes(), high.to_le_bytes()].concat();
        bytes[leaf.offset..leaf.offset + leaf.size].copy_from_slice(&whole[..leaf.size]);
    }
    bytes
}

impl Leaf {
    /// Its bits, where all NaNs are one.
    fn read(&self, bytes: &[u8]) -> u128 {
        let mut whole = [0; 16];
        whole[..self.size].copy_from_slice(&bytes[self.offset..self.offset + self.size]);
        let bits = u128::from_le_bytes(whole);
        match self.class {
            Class::Float if f32::from_bits(bits as u32).is_nan() => f32::NAN.to_bits().into(),
            Class::Double if f64::from_bits(bits as u64).is_nan() => f64::NAN.to_bits().into(),
            _ => bits,
        }
    }
}
