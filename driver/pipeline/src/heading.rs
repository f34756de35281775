//! What is said of a function before it is read: how its file names it and its blocks.

/// A function as its file names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heading {
    /// With its sigil.
    pub name: String,
    /// Names of its blocks, entry first, where the language has a profile of blocks.
    pub blocks: Vec<String>,
}
