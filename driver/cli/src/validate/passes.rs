//! Commands that make the second version: one, or one per pass.

use super::text::Text;
use crate::cc;
use crate::language::Language;
use anyhow::{Context, Result, bail};
use rewright_equiv::command::{Made, Transformation, passes};
use std::time::Duration;

/// The command that is run for each pass of `--each` if `--after` names none.
fn usual(language: Language) -> Option<String> {
    match language {
        // By the name that builds have for it.
        Language::Llvm => Some(format!("'{}' -S -passes={{pass}}", cc::opt().display())),
        Language::Mlir => Some("mlir-opt --{pass}".into()),
        Language::Clif | Language::Own => None,
    }
}

/// What makes second versions.
pub(super) struct Passes {
    command: Option<Transformation>,
    each: Option<Vec<String>>,
    timeout: Duration,
}

/// One command, and the pass that it is for.
pub(super) struct Step {
    pub(super) pass: Option<String>,
    command: Transformation,
    timeout: Duration,
}

impl Passes {
    /// As they are on a command line; `None` where they are not.
    ///
    /// # Errors
    /// A command that cannot be split into words, or one that has no place for a pass; no pass.
    pub(super) fn new(after: Option<&str>, each: Option<&str>, timeout: u64) -> Result<Option<Self>> {
        let command = after.map(Transformation::parse).transpose().context("--after")?;
        let each = each.map(passes);
        match each.as_deref() {
            Some(all) if all.iter().all(String::is_empty) => bail!("--each names no pass"),
            Some(all) if all.iter().any(String::is_empty) => {
                bail!("--each has a comma without a pass before or behind it")
            }
            _ => {}
        }
        match (&command, &each) {
            (None, None) => return Ok(None),
            (Some(command), Some(_)) if !command.takes_pass() => {
                bail!("`{command}` has no place for the passes of --each: write `{{pass}}` where they go")
            }
            (Some(command), None) if command.takes_pass() => {
                bail!("`{command}` has a place for a pass: --each says which")
            }
            _ => {}
        }
        Ok(Some(Passes { command, each, timeout: Duration::from_secs(timeout) }))
    }

    /// Is each pass compared on its own?
    pub(super) fn by_pass(&self) -> bool {
        self.each.is_some()
    }

    /// The commands for a file of a language, in order.
    ///
    /// # Errors
    /// Where no command is named, and none is usual.
    pub(super) fn steps(&self, language: Language) -> Result<Vec<Step>> {
        let command = match &self.command {
            Some(command) => command.clone(),
            None => {
                let usual = usual(language).with_context(|| {
                    format!("there is no usual command for passes of {}: name one with --after", language.name())
                })?;
                Transformation::parse(&usual)?
            }
        };
        let step = |pass: Option<&String>| Step {
            pass: pass.cloned(),
            command: pass.map_or_else(|| command.clone(), |pass| command.with_pass(pass)),
            timeout: self.timeout,
        };
        Ok(self.each.as_ref().map_or_else(|| vec![step(None)], |each| each.iter().map(|p| step(Some(p))).collect()))
    }
}

impl Step {
    /// The second version, and what the command said.
    ///
    /// # Errors
    /// Where it gives none.
    pub(super) fn run(&self, before: &Text, language: Language) -> Result<(Text, Vec<u8>)> {
        let Made { text: bytes, said } = self.command.run(&before.bytes, language.extension(), self.timeout)?;
        Ok((Text { name: format!("the output of `{}`", self.command), bytes }, said))
    }

    /// Says that there is no function in what the command gave.
    pub(super) fn no_function(&self, text: &Text) -> anyhow::Error {
        let text = String::from_utf8_lossy(&text.bytes);
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let first: String = first.chars().take(100).collect();
        anyhow::anyhow!("`{}` gave no function; its output begins with `{first}`", self.command)
    }
}
