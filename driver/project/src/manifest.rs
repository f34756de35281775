//! The format of `rewright.toml`. Each part is a struct; words that no part has are mistakes.

use super::costs::Costs;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a project's file says.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Manifest {
    /// The project itself.
    pub project: About,
    /// Where packs of others come from, by the first part of the names that imports use.
    pub dependencies: BTreeMap<String, Source>,
    /// How much `rewright verify` does.
    pub verify: Verify,
    /// What executing something costs.
    pub costs: Costs,
    /// Where results are kept.
    pub cache: Kept,
}

/// Where results are kept beside the user's own cache.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Kept {
    /// A store that machines share: a folder by its whole path, `redis://..` or `s3://..`.
    pub store: Option<String>,
}

/// The project itself. Paths are relative to its folder.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct About {
    /// What it is called; for people.
    pub name: String,
    /// Its packs, and directories of packs; without them, all below its folder.
    pub packs: Option<Vec<PathBuf>>,
    /// The packs that it applies: paths, packs that ship (opt-in ones, too), packs of the search path and of
    /// dependencies; without them, `std`.
    pub rules: Option<Vec<String>>,
    /// Folders in which imports are looked for, after that of the importing pack.
    pub path: Vec<PathBuf>,
    /// Libraries that its packs may ask for. The user allows them: see SECURITY.md.
    pub links: Vec<String>,
}

/// Where a dependency comes from.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "SourceFields")]
pub enum Source {
    /// A folder.
    Path {
        /// Relative to the project.
        path: PathBuf,
    },
    /// A revision of a git repository.
    Git {
        /// Its address.
        git: String,
        /// A tag, a branch or a whole commit.
        rev: String,
    },
}

/// A dependency as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceFields {
    path: Option<PathBuf>,
    git: Option<String>,
    rev: Option<String>,
}

impl TryFrom<SourceFields> for Source {
    type Error = &'static str;

    fn try_from(fields: SourceFields) -> Result<Source, Self::Error> {
        match fields {
            SourceFields { path: Some(path), git: None, rev: None } => Ok(Source::Path { path }),
            SourceFields { path: None, git: Some(git), rev: Some(rev) } => Ok(Source::Git { git, rev }),
            _ => Err("a dependency is `{ path = \"..\" }` or `{ git = \"..\", rev = \"..\" }`"),
        }
    }
}

/// How much `rewright verify` does; what the command line says comes first. The solver is not part of it: a project
/// does not choose which programs run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Verify {
    /// Seconds of the solver's processor time per question.
    pub timeout: Option<u64>,
    /// Solver steps per question.
    pub steps: Option<u64>,
    /// Values to try per type instance.
    pub samples: Option<usize>,
    /// Rules that could not be decided are findings.
    pub strict: bool,
}

impl Manifest {
    /// Reads the text of a `rewright.toml`.
    ///
    /// # Errors
    /// It has mistakes; they say where.
    pub fn parse(text: &str) -> Result<Manifest, toml::de::Error> {
        toml::from_str(text)
    }
}
