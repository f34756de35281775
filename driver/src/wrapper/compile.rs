//! Compiling one file: clang's front end, LLVM's own passes that run before inlining, our rules, clang again.

use super::arguments::{Plan, Unit, plan};
use crate::llvm::module;
use crate::llvm::optimise::LlvmOptimiser;
use crate::pipeline::{Fate, Options};
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// LLVM's passes that bring functions into the form in which rules see them, before inlining.
pub const PASSES: &str = "annotation2metadata,forceattrs,inferattrs,function(lower-expect,simplifycfg,sroa,\
early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg),cgscc(function-attrs)";

/// Whom to ask.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The C compiler, a clang.
    pub compiler: PathBuf,
    /// LLVM's `opt` of the same version.
    pub opt: PathBuf,
    /// Where a line about each command goes, as JSON.
    pub log: Option<PathBuf>,
    /// Fail where the compiler would be handed the command line after a failure of ours.
    pub strict: bool,
}

/// Runs a command line; the compiler's exit code. `rules` makes the optimiser when it is needed.
pub fn run(tools: &Tools, args: &[OsString], rules: impl FnOnce() -> Result<LlvmOptimiser>) -> Result<i32> {
    let unit = match plan(args) {
        Plan::HandOver(reason) => {
            log(tools, json!({ "handed_over": reason }));
            return hand_over(tools, args);
        }
        Plan::Compile(unit) => unit,
    };
    let start = Instant::now();
    match compile(tools, &unit, rules) {
        Ok(mut facts) => {
            facts["source"] = json!(unit.source.display().to_string());
            facts["seconds"] = json!(start.elapsed().as_secs_f64());
            log(tools, facts);
            Ok(0)
        }
        Err(error) if tools.strict => Err(error),
        Err(error) => {
            let source = unit.source.display().to_string();
            log(tools, json!({ "source": source, "fell_back": format!("{error:#}") }));
            hand_over(tools, args)
        }
    }
}

fn hand_over(tools: &Tools, args: &[OsString]) -> Result<i32> {
    let status = Command::new(&tools.compiler)
        .args(args)
        .status()
        .with_context(|| format!("cannot run {}", tools.compiler.display()))?;
    Ok(status.code().unwrap_or(1))
}

/// A line for whoever wants to sum up. That there is nobody is no reason to fail.
fn log(tools: &Tools, facts: serde_json::Value) {
    if let Some(path) = &tools.log
        && let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path)
    {
        let _ = file.write_all(format!("{facts}\n").as_bytes());
    }
}

fn compile(tools: &Tools, unit: &Unit, rules: impl FnOnce() -> Result<LlvmOptimiser>) -> Result<serde_json::Value> {
    let folder = match unit.object.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    let (raw, ready, done) =
        (scratch.path().join("raw.ll"), scratch.path().join("in.ll"), scratch.path().join("out.ll"));
    let mut front = Command::new(&tools.compiler);
    front.args(&unit.options).args(&unit.dependencies);
    front.args(["-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o"]).arg(&raw).arg(&unit.source);
    let warnings = quiet(&mut front)?;
    let mut prepare = Command::new(&tools.opt);
    prepare.arg("-S").arg(format!("-passes={PASSES}")).arg(&raw).arg("-o").arg(&ready);
    quiet(&mut prepare)?;
    let file = module::read_bytes(fs::read(&ready)?)?;
    let outcome = rules()?.optimise(&file, &Options::default(), |_| true);
    fs::write(&done, &outcome.text)?;
    // In the same directory, so that the last step is one that happens or does not.
    let object = tempfile::Builder::new().prefix(".rewright").suffix(".o").tempfile_in(&folder)?;
    let mut back = Command::new(&tools.compiler);
    back.args(&unit.options).args(["-w", "-Qunused-arguments", "-x", "ir", "-c"]).arg(&done);
    back.arg("-o").arg(object.path());
    quiet(&mut back)?;
    let mut mode = fs::metadata(object.path())?.permissions();
    #[cfg(unix)]
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o644);
    fs::set_permissions(object.path(), mode)?;
    object.persist(&unit.object).context("cannot write the object")?;
    std::io::stderr().lock().write_all(&warnings)?;
    let count = |wanted: &dyn Fn(&Fate) -> bool| outcome.functions.iter().filter(|f| wanted(&f.fate)).count();
    let reasons: Vec<&String> = outcome
        .functions
        .iter()
        .filter_map(|f| match &f.fate {
            Fate::PassedThrough(reason) | Fate::Failed(reason) => Some(reason),
            _ => None,
        })
        .collect();
    Ok(json!({
        "functions": outcome.functions.len(),
        "optimised": count(&|f| *f == Fate::Optimised),
        "unchanged": count(&|f| *f == Fate::Unchanged),
        "failed": count(&|f| matches!(f, Fate::Failed(_))),
        "reasons": reasons,
    }))
}

/// Runs a step; what it said on stderr.
fn quiet(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_os_string();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {}", name.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed: {}", name.display(), said.lines().next().unwrap_or(""));
    }
    Ok(output.stderr)
}
