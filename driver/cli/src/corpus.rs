//! `rewright corpus`: how much of a collection of LLVM IR is understood.

use super::shard::{Run, Sharding};
use super::{Finding, Format, input, out, packs, sources};
use anyhow::Result;
use rewright_dsl::diagnostic::count;
use rewright_files as files;
use rewright_llvm::optimise::LlvmOptimiser;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `corpus`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Files of textual LLVM IR (`.ll`), or directories of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    /// Write each file with every function that is understood taken in and written again, not optimised, into this
    /// directory
    #[arg(long, value_name = "DIR")]
    rewrite: Option<PathBuf>,
    #[command(flatten)]
    sharding: Sharding,
    /// Form of the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

struct Passed {
    file: String,
    function: String,
    reason: String,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let llvm = LlvmOptimiser::new(program);
    let files = sources::llvm_files(&args.paths)?;
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let files = args.sharding.of(files, "file");
    let bar = out::progress("files", files.len() as u64);
    let (mut seen, mut instructions, mut finding) = (0usize, 0usize, Finding::Clean);
    let mut passed: Vec<Passed> = vec![];
    for path in &files {
        bar.inc(1);
        let Some(file) = input::llvm(path)? else {
            finding = Finding::Found;
            continue;
        };
        seen += file.functions.len();
        let mut note = |function: &str, reason: String| {
            passed.push(Passed { file: path.display().to_string(), function: function.into(), reason });
        };
        if let Some(dir) = &args.rewrite {
            let (text, functions) = llvm.rewrite(&file);
            let to = dir.join(path.file_name().unwrap_or_default());
            files::write(&to, text)?;
            for (name, reason) in functions {
                if let Some(reason) = reason {
                    note(&name, reason);
                }
            }
        } else {
            let (imported, _) = llvm.import(&file, |_| true);
            for (definition, imported) in file.functions.iter().zip(imported.into_iter().flatten()) {
                match imported {
                    Ok(imported) => instructions += imported.function.insts.len(),
                    Err(reason) => note(&definition.name, reason.to_string()),
                }
            }
        }
    }
    bar.finish_and_clear();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for p in &passed {
        *reasons.entry(&p.reason).or_default() += 1;
    }
    let understood = seen - passed.len();
    if args.format == Format::Json {
        let others: Vec<_> =
            passed.iter().map(|p| json!({ "file": p.file, "function": p.function, "reason": p.reason })).collect();
        let report = json!({
            "files": files.len(), "functions": seen, "understood": understood, "instructions": instructions,
            "reasons": reasons, "passed_through": others,
        });
        let run = Run {
            command: "corpus",
            program: llvm.optimiser.program(),
            inputs: names.clone(),
            settings: &[],
            item: &|_, _, entry| names.iter().position(|name| entry["file"] == name.as_str()),
            error: None,
        };
        let report = args.sharding.document(report, &run, finding == Finding::Found);
        out::result(&format!("{report:#}\n"));
        return Ok(finding);
    }
    for p in &passed {
        out::report(&format!("{}: {}: {}", p.file, p.function, p.reason));
    }
    let share = 100.0 * understood as f64 / seen.max(1) as f64;
    let mut text = format!(
        "{}, {}, {understood} understood ({share:.1} %)\n",
        count(files.len(), "file"),
        count(seen, "function")
    );
    let mut by_count: Vec<_> = reasons.into_iter().collect();
    by_count.sort_by_key(|(reason, n)| (std::cmp::Reverse(*n), *reason));
    for (reason, n) in by_count {
        text += &format!("{n:>6}  {reason}\n");
    }
    out::result(&text);
    Ok(finding)
}
