//! Functions of MLIR that are no nests, because they branch between blocks or loop as data says: they are compared as
//! functions of Rewright's own text.
//!
//! The text gives values to what has none in MLIR ([`rewright_mlir::OwnText`]). So a proof needs a second version in
//! which there is no such thing, and a difference a first version in which there is none.

use super::files::Pair;
use super::ir;
use super::text::Text;
use crate::language::Language;
use anyhow::Result;
use rewright_cfg_skeleton::verdict::{Evidence, Kind, Verdict};
use rewright_dsl::program::Program;
use rewright_equiv::Config;
use rewright_mlir::{OwnText, own_text, with_other_interfaces, without_nests};

/// Does a version of a file have such functions?
pub(super) fn has(pair: &Pair) -> bool {
    let versions = [Some(&pair.before), pair.after.as_ref()];
    pair.language == Language::Mlir
        && versions.into_iter().flatten().any(|path| {
            // A file that cannot be read is an error later.
            std::fs::read_to_string(path).is_ok_and(|text| !without_nests(&text).is_empty())
        })
}

/// Compares the functions that are no nests in one version.
///
/// # Errors
/// Text of ours that is not understood.
pub(super) fn decide(program: &Program, versions: [&str; 2], config: &Config, functions: &mut [Verdict]) -> Result<()> {
    let mut names: Vec<String> = versions.iter().flat_map(|text| without_nests(text)).collect();
    let others = with_other_interfaces(versions[0], versions[1]);
    names.retain(|name| !others.contains(name));
    let open = |verdict: &&mut Verdict| {
        verdict.verdict == Kind::Unknown && verdict.only.is_none() && names.contains(&verdict.function)
    };
    if !functions.iter_mut().any(|verdict| open(&verdict)) {
        return Ok(());
    }
    let own = versions.map(own_text);
    for verdict in functions.iter_mut().filter(open) {
        if let Some(found) = compare(program, &own, config, &verdict.function)? {
            *verdict = found;
        }
    }
    Ok(())
}

fn compare(program: &Program, own: &[OwnText; 2], config: &Config, name: &str) -> Result<Option<Verdict>> {
    let is_written = |text: &OwnText| !text.left_out.iter().any(|(left, _)| left == name);
    if !own.iter().all(is_written) {
        return Ok(None);
    }
    let [before, after] = own
        .each_ref()
        .map(|version| Text { name: "what was made of MLIR".into(), bytes: version.text.clone().into_bytes() });
    let config = Config { function: Some(name.to_string()), part: None, ..config.clone() };
    let report = ir::compare(Language::Own, program.clone(), [&before, &after], &config)?;
    let Some(found) = report.functions.into_iter().next() else { return Ok(None) };
    let doubt = |version: &OwnText| version.doubts.iter().find(|(f, _)| f == name).map(|(_, why)| why.to_string());
    let reason = match found.verdict {
        Kind::Proved => doubt(&own[1]).map(|why| ("second", "a proof", why)),
        Kind::Refuted => {
            let undefined = || own[0].undefined.iter().find(|(f, _)| f == name).map(|(_, why)| why.to_string());
            doubt(&own[0]).or_else(undefined).map(|why| ("first", "a difference", why))
        }
        Kind::Tested | Kind::Unknown => None,
    };
    Ok(Some(match reason {
        None => {
            let mut verdict = found;
            verdict.function = name.to_string();
            verdict
        }
        Some((which, what, why)) => {
            let reason = format!("{what} was found that may rest on what has no value in MLIR ({which} file, {why})");
            Verdict::new(name, Evidence::nothing(reason))
        }
    }))
}
