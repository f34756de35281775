//! `--specialise`: functions with constants for some of their parameters, beside those of a file.

use super::out;
use anyhow::{Result, anyhow};
use rewright_cfg_skeleton::ir::parse::Request;
use rewright_cfg_skeleton::ir::specialise::SpecialiseError;

/// What is to be specialised.
#[derive(clap::Args, Clone)]
pub(super) struct Specialise {
    /// Add a function that is another one with constants for some of its parameters; `_` leaves one open:
    /// `--specialise "blur3 = blur(_, [0.25, 0.5, 0.25])"`. Without `NAME =` it is called `blur_1`, or by the next number
    /// that is free. The general function stays, unless NAME is its own. For CLIF and Rewright's own text; may be repeated
    #[arg(long, value_name = "[NAME =] FUNCTION(ARGUMENTS)")]
    specialise: Vec<String>,
}

impl Specialise {
    /// Is anything?
    pub(super) fn is_asked(&self) -> bool {
        !self.specialise.is_empty()
    }

    /// Adds the functions, in order, and says their names on stderr.
    pub(super) fn add(&self, mut to: impl FnMut(&Request) -> Result<String, SpecialiseError>) -> Result<()> {
        for text in &self.specialise {
            let name = Request::read(text).map_err(SpecialiseError::from).and_then(|request| to(&request));
            let name = name.map_err(|error| anyhow!("--specialise '{text}': {error}"))?;
            out::note(&format!("note: {name} is {text}"));
        }
        Ok(())
    }
}
