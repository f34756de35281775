//! The report on two files.

use rewright_cfg_skeleton::verdict::{Counts, Verdict, assumptions};
use serde::Serialize;
use std::fmt;

/// All functions of two files.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NestReport {
    /// Of this form.
    pub schema: u32,
    /// How many functions have which verdict.
    pub counts: Counts,
    /// The functions of the first file in its order, then those that only the second one has.
    pub functions: Vec<Verdict>,
}

impl NestReport {
    pub(crate) fn new(functions: Vec<Verdict>) -> NestReport {
        NestReport { schema: 1, counts: Counts::of(&functions), functions }
    }
}

impl fmt::Display for NestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for function in &self.functions {
            writeln!(f, "{function}")?;
        }
        let Counts { pairs, .. } = self.counts;
        writeln!(f, "{pairs} function{}: {}", if pairs == 1 { "" } else { "s" }, self.counts)?;
        match assumptions(&self.functions) {
            Some(assumptions) => writeln!(f, "{assumptions}"),
            None => Ok(()),
        }
    }
}
