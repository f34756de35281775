//! How a file names a function and its blocks, before the function is read.

/// A function as its file names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heading {
    /// With its sigil.
    pub name: String,
    /// Names of its blocks, entry first, where the language has a profile of blocks.
    pub blocks: Vec<String>,
}
