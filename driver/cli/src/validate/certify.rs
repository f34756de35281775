//! Certificates of what is proved of MLIR: written, and checked.

use super::text::{Text, not_text};
use super::values::Values;
use crate::{Finding, out, sources};
use anyhow::{Context, Result, bail};
use rewright_cfg_skeleton::nest::certificate::{Certificates, FORMAT};
use rewright_cfg_skeleton::nest::datapath::ValueOracle;
use rewright_dsl::diagnostic::count;
use rewright_equiv::nests::Checker;
use rewright_mlir::{Certified, Options, Pair};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Writes certificates of the functions of two files. What only rules show of values is in none.
///
/// # Errors
/// Where the file cannot be written.
pub(super) fn write(path: &Path, versions: [&Text; 2], options: &Options, values: Values) -> Result<()> {
    let [before, after] = texts(versions)?;
    let values = Mutex::new(values.by_solver_only());
    let Certified { certificates, without } = rewright_mlir::with_stack(&|| {
        let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
        rewright_mlir::certificates(&before, &after, options, &mut *values)
    });
    for (function, reason) in &without {
        out::note(&format!("note: no certificate of {function}: {reason}"));
    }
    let text = serde_json::to_string_pretty(&certificates)? + "\n";
    rewright_files::write(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    out::note(&format!("{} in {}", count(certificates.functions.len(), "certificate"), path.display()));
    Ok(())
}

/// Checks certificates of the functions of two files; anything but a certificate of each function that is accepted is a
/// finding.
///
/// # Errors
/// Where the file holds no certificates.
pub(super) fn check(path: &Path, versions: [&Text; 2], mut checker: Checker, values: Values) -> Result<Finding> {
    let [before, after] = texts(versions)?;
    let text = sources::read(path)?;
    let found: Certificates =
        serde_json::from_str(&text).with_context(|| format!("{} holds no certificates", path.display()))?;
    if found.format != FORMAT {
        bail!("{} has certificates of format {}; this program reads format {FORMAT}", path.display(), found.format);
    }
    let work = Mutex::new((&mut checker, values.by_solver_only()));
    let lines = rewright_mlir::with_stack(&|| {
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        let (checker, oracle) = &mut *work;
        let pairs = rewright_mlir::pairs(&before, &after);
        pairs.into_iter().map(|(name, pair)| one(&name, pair, &found, checker, oracle)).collect::<Vec<_>>()
    });
    let mut accepted = 0;
    for line in &lines {
        accepted += usize::from(line.is_ok());
        match line {
            Ok(line) | Err(line) => out::result(&format!("{line}\n")),
        }
    }
    let unused = found.functions.iter().filter(|c| lines.iter().all(|l| named(l) != Some(&c.function)));
    for certificate in unused {
        out::result(&format!("{}: neither version has such a function\n", certificate.function));
    }
    out::result(&format!(
        "{}: {accepted} accepted, {} not; {}\n",
        count(lines.len(), "function"),
        lines.len() - accepted,
        count(usize::try_from(checker.claims())?, "claim")
    ));
    Ok(if accepted == lines.len() && accepted > 0 { Finding::Clean } else { Finding::Found })
}

fn named(line: &std::result::Result<String, String>) -> Option<&str> {
    let (Ok(line) | Err(line)) = line;
    line.split_once(": ").map(|(name, _)| name)
}

/// What is said of a function: accepted, or not.
fn one(
    name: &str,
    pair: std::result::Result<Pair, String>,
    found: &Certificates,
    checker: &mut Checker,
    oracle: &mut dyn ValueOracle,
) -> std::result::Result<String, String> {
    let rejected = |reason: String| format!("{name}: not accepted: {reason}");
    let own: Vec<_> = found.functions.iter().filter(|certificate| certificate.function == name).collect();
    let [certificate] = own.as_slice() else {
        return Err(rejected(format!(
            "there {} certificates of it",
            if own.is_empty() { "are no" } else { "are several" }
        )));
    };
    let Pair { mut pool, before, after, calls, .. } = pair.map_err(rejected)?;
    if let Some(callee) = calls.first() {
        return Err(rejected(format!("it calls `{callee}`")));
    }
    checker.check(certificate, (&before, &after), &mut pool, oracle).map_err(|reason| rejected(reason.to_string()))?;
    Ok(match certificate.precondition.is_empty() {
        true => format!("{name}: accepted"),
        false => format!("{name}: accepted if {}", certificate.precondition.join(" and ")),
    })
}

fn texts(versions: [&Text; 2]) -> Result<[String; 2]> {
    let text = |of: &Text| String::from_utf8(of.bytes.clone()).map_err(|error| not_text(of, &error));
    Ok([text(versions[0])?, text(versions[1])?])
}
