//! Operations as trees: what pretty and generic forms have in common.

use crate::lex::symbols;
use thiserror::Error;

/// No list of a splat is longer.
const MAX_LIST: usize = 1 << 16;

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
    pub(crate) interface: Interface,
    pub(crate) body: Result<Region, Unsupported>,
}

/// What others see of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interface {
    /// Types of arguments.
    pub(crate) arguments: Vec<String>,
    /// Types of results.
    pub(crate) results: Vec<String>,
    /// Whether it is not visible outside of the module.
    pub(crate) is_private: bool,
    /// Of what, names and texts.
    attributes: Vec<(String, String, String)>,
}

/// Attributes that only promise something: a version that does not promise it does no less.
const PROMISES: [&str; 12] = [
    "llvm.align",
    "llvm.dereferenceable",
    "llvm.dereferenceable_or_null",
    "llvm.noalias",
    "llvm.nocapture",
    "llvm.nofree",
    "llvm.nonnull",
    "llvm.noundef",
    "llvm.readnone",
    "llvm.readonly",
    "llvm.returned",
    "llvm.writeonly",
];

impl Interface {
    /// Of a function without arguments, results and attributes.
    pub(crate) fn new(is_private: bool) -> Interface {
        Interface { is_private, ..Interface::default() }
    }

    /// Adds attributes of an argument, a result or the function.
    pub(crate) fn add(&mut self, place: &str, attributes: impl IntoIterator<Item = (String, String)>) {
        self.attributes.extend(attributes.into_iter().map(|(name, text)| (place.to_string(), name, text)));
    }

    /// In which way a second version is not what the first one is to others, or may promise more. Attributes
    /// other than LLVM's are notes to tools.
    pub(crate) fn differs_in(&self, second: &Interface) -> Option<String> {
        if self.arguments != second.arguments || self.results != second.results {
            return Some("the types of arguments or results differ".into());
        }
        if second.is_private && !self.is_private {
            return Some("only the second version is private: other modules cannot call it".into());
        }
        let missing = |has: &Interface, lacks: &Interface, may_lack: &[&str]| {
            let is_compared = |name: &str| name.starts_with("llvm.") || name == "passthrough";
            let mut own =
                has.attributes.iter().filter(|(_, name, _)| is_compared(name) && !may_lack.contains(&name.as_str()));
            own.find(|own| !lacks.attributes.contains(own)).map(|(place, name, _)| format!("`{name}` of {place}"))
        };
        if let Some(what) = missing(second, self, &[]) {
            return Some(format!("{what}, which the second version alone has"));
        }
        missing(self, second, &PROMISES).map(|what| format!("{what}, which the first version alone has"))
    }
}

/// A function without a body: its name, and what others see of it.
pub(crate) type Declared = (String, Interface);

/// An array of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Global {
    /// Whether it is not visible outside of the module.
    pub(crate) is_private: bool,
    /// Its type, its contents and its attributes, as texts.
    pub(crate) definition: String,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Module {
    pub(crate) functions: Vec<Function>,
    pub(crate) declared: Vec<Declared>,
    /// Arrays of the module: names, and all else that is said of them.
    pub(crate) globals: Vec<(String, Global)>,
    /// What is said of the sizes of types.
    pub(crate) data_layout: String,
    /// The file's lines.
    pub(crate) lines: Vec<String>,
}

impl Module {
    /// Whether a function names one of the module, to call it or to have it called, as far as functions are understood.
    pub(crate) fn calls_own(&self) -> bool {
        let is_own = |op: &Op| op.symbols().iter().any(|name| self.functions.iter().any(|f| f.name == *name));
        self.functions.iter().any(|f| f.body.as_ref().map_or(true, |body| body.has(&is_own)))
    }

    /// The text of a line, from 1.
    pub(crate) fn line(&self, line: u32) -> Option<&str> {
        self.lines.get((line as usize).checked_sub(1)?).map(|text| text.trim())
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

    /// The functions that its attributes name.
    pub(crate) fn symbols(&self) -> Vec<String> {
        self.attributes.iter().filter(|(name, _)| name != "sym_name").flat_map(|(_, text)| symbols(text)).collect()
    }

    /// The integers of an attribute: none where it is missing.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i128>, Unsupported> {
        let text = self.attribute(name).unwrap_or_default();
        integers(text).ok_or_else(|| self.unsupported(format!("`{name}` is no list of integers: `{text}`")))
    }
}

/// `4 : i64`, `1, 2`, `[1, 2]`, `array<i32: 1, 2>`, `dense<[1, 2]> : tensor<2xi32>`, `dense<1> : vector<3xi32>`.
fn integers(text: &str) -> Option<Vec<i128>> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix("array<") {
        return listed(inner.strip_suffix('>')?.split_once(':').map_or("", |(_, numbers)| numbers));
    }
    if let Some(inner) = text.strip_prefix("dense<") {
        let (numbers, ty) = inner.split_once('>')?;
        let numbers = numbers.trim();
        if numbers.is_empty() || numbers.starts_with('[') {
            return integers(numbers);
        }
        let shape = ty.split_once('<')?.1;
        let count: usize = shape.split('x').next()?.trim().parse().ok()?;
        return Some(vec![integer(numbers)?; count.min(MAX_LIST)]);
    }
    listed(text.strip_prefix('[').map_or(Some(text), |inner| inner.strip_suffix(']'))?)
}

/// Numbers between commas; a type may follow each.
fn listed(text: &str) -> Option<Vec<i128>> {
    if text.trim().is_empty() {
        return Some(vec![]);
    }
    text.split(',').map(|one| integer(one.split(':').next().unwrap_or_default())).collect()
}

/// `-12`, or `0x1F`.
fn integer(text: &str) -> Option<i128> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_numbers_and_nothing_else() {
        for (text, expected) in [
            ("4 : i64", Some(vec![4])),
            ("-1", Some(vec![-1])),
            ("1, 2", Some(vec![1, 2])),
            ("[4 : i64, 0x10]", Some(vec![4, 16])),
            ("array<i32: 1, 2>", Some(vec![1, 2])),
            ("array<i64>", Some(vec![])),
            ("dense<[1, -2]> : tensor<2xi32>", Some(vec![1, -2])),
            ("dense<3> : vector<2xi32>", Some(vec![3, 3])),
            ("dense<> : tensor<0xi32>", Some(vec![])),
            ("", Some(vec![])),
            ("#c1", None),
            ("dense<\"0x01000000\"> : tensor<1xi32>", None),
            ("slt", None),
        ] {
            assert_eq!(integers(text), expected, "{text}");
        }
    }

    #[test]
    fn promises_may_go_and_other_attributes_stay() {
        let interface = |attributes: &[(&str, &str)]| {
            let mut interface = Interface::default();
            interface.add("argument 0", attributes.iter().map(|(name, text)| (name.to_string(), text.to_string())));
            interface
        };
        let none = interface(&[]);
        let promise = interface(&[("llvm.noalias", "")]);
        let call = interface(&[("llvm.byval", "i8")]);
        let note = interface(&[("hls.stream", ""), ("kind", "1")]);
        assert_eq!(
            none.differs_in(&promise),
            Some("`llvm.noalias` of argument 0, which the second version alone has".into())
        );
        assert_eq!(promise.differs_in(&none), None);
        assert_eq!(
            call.differs_in(&none),
            Some("`llvm.byval` of argument 0, which the first version alone has".into())
        );
        assert_eq!(none.differs_in(&note), None);
    }
}
