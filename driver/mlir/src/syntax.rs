//! Operations as trees: what pretty and generic forms have in common.

use thiserror::Error;

/// Why a function cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {what}")]
pub struct Unsupported {
    /// Where.
    pub line: u32,
    /// What is not understood.
    pub what: String,
}

/// An operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Op {
    pub(crate) name: String,
    /// Names of the results.
    pub(crate) results: Vec<String>,
    /// Names of the operands.
    pub(crate) operands: Vec<String>,
    /// Attributes and properties: names and texts.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) regions: Vec<Region>,
    /// Blocks that may come next, and what they are given.
    pub(crate) successors: Vec<(String, Vec<String>)>,
    pub(crate) operand_types: Vec<String>,
    pub(crate) result_types: Vec<String>,
    pub(crate) line: u32,
}

/// A region: its first block, and others where there are some.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    /// Arguments of the first block: names and types.
    pub(crate) arguments: Vec<(String, String)>,
    pub(crate) ops: Vec<Op>,
    /// The other blocks.
    pub(crate) more: Vec<Block>,
}

impl Region {
    /// Whether some operation is like that, in inner regions, too.
    pub(crate) fn has(&self, is_like: &dyn Fn(&Op) -> bool) -> bool {
        let mut ops = self.ops.iter().chain(self.more.iter().flat_map(|block| &block.ops));
        ops.any(|op| is_like(op) || op.regions.iter().any(|inner| inner.has(is_like)))
    }
}

/// A block that has a label.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) label: String,
    pub(crate) arguments: Vec<(String, String)>,
    pub(crate) ops: Vec<Op>,
    pub(crate) line: u32,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: u32,
    pub(crate) body: Result<Region, Unsupported>,
}

/// A file: its functions and the names of its maps and sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Module {
    pub(crate) functions: Vec<Function>,
    /// Texts by name, say `affine_map<(d0) -> (d0)>` by `#map`.
    pub(crate) aliases: Vec<(String, String)>,
    /// The file's lines.
    pub(crate) lines: Vec<String>,
}

impl Module {
    /// Whether a function calls one of the module, as far as functions are understood.
    pub(crate) fn calls_own(&self) -> bool {
        let is_own = |op: &Op| {
            let callee = op.attribute("callee").map(|name| name.trim_start_matches('@').trim_matches('"'));
            callee.is_some_and(|callee| self.functions.iter().any(|f| f.name == callee))
        };
        self.functions.iter().any(|f| f.body.as_ref().map_or(true, |body| body.has(&is_own)))
    }

    /// The text of a line, from 1.
    pub(crate) fn line(&self, line: u32) -> Option<&str> {
        self.lines.get((line as usize).checked_sub(1)?).map(|text| text.trim())
    }

    /// The text of a map or set that may be a name.
    pub(crate) fn text_of<'t>(&'t self, text: &'t str) -> &'t str {
        let alias = self.aliases.iter().find(|(name, _)| name == text);
        alias.map_or(text, |(_, text)| text.as_str())
    }
}

impl Op {
    /// The text of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str())
    }

    /// An error that is about this operation.
    pub(crate) fn unsupported(&self, what: impl std::fmt::Display) -> Unsupported {
        Unsupported { line: self.line, what: format!("`{}`: {what}", self.name) }
    }

    /// An error where an attribute changes what the operation means in a way that is not modelled.
    pub(crate) fn check_attributes(&self) -> Result<(), Unsupported> {
        let attribute = match self.name.as_str() {
            "scf.for" => "unsignedCmp",
            "affine.load" | "affine.store" | "memref.load" | "memref.store" => "alignment",
            _ => return Ok(()),
        };
        match self.attribute(attribute) {
            Some(_) => Err(self.unsupported(format!("attribute `{attribute}`"))),
            None => Ok(()),
        }
    }

    /// The integers in an attribute's text.
    pub(crate) fn integers(&self, name: &str) -> Vec<i128> {
        let text = self.attribute(name).unwrap_or_default();
        // `array<i32: 1, 2>` names a type first.
        let text = text.split_once(':').filter(|(start, _)| start.starts_with("array")).map_or(text, |(_, rest)| rest);
        let text = text.split(" : ").next().unwrap_or_default();
        text.split(|c: char| !(c.is_ascii_digit() || c == '-')).filter_map(|n| n.parse().ok()).collect()
    }
}
