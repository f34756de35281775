//! Made-up functions as the text of a file of CLIF.

use crate::LabError;
use cranelift_codegen::ir::{self as clif, Endianness};
use cranelift_codegen::isa::CallConv;
use rewright_cfg_skeleton::ir::Function;
use rewright_clif::export::{Surroundings, export, head};
use rewright_clif::import::Payloads;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::print::print;
use rewright_clif::read::read;

/// Many results go through memory.
const HEADER: &str = "test run\nset enable_multi_ret_implicit_sret=true\n\n";

/// What the opaque instructions of functions come from, and what they need beside them.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// The function that holds them.
    pub(crate) original: &'a clif::Function,
    /// Which of its instructions they are.
    pub(crate) payloads: &'a Payloads,
    /// The text of functions that they call.
    pub(crate) text: &'a str,
}

/// A file of these functions, called `%f0`, `%f1` and so on, and what they call.
///
/// # Errors
/// Where there is no compiler for this host, or a function is not written.
pub(crate) fn file(
    clif: &ClifOptimiser,
    around: Option<Around<'_>>,
    functions: &[&Function],
) -> Result<String, LabError> {
    let empty = read(HEADER)?;
    let isa = empty.isa.as_ref().ok_or(LabError::NoCompiler)?;
    let mut out = HEADER.to_string();
    let none = Payloads::default();
    for (n, function) in functions.iter().enumerate() {
        let name = format!("f{n}");
        let convention = CallConv::triple_default(isa.triple());
        let head = head(function, &name, &clif.names, None, convention, around.map(|around| around.original))?;
        let surroundings = Surroundings {
            original: &head,
            payloads: around.map_or(&none, |around| around.payloads),
            linkage: None,
            native: Endianness::Little,
            fisa: isa.as_ref().into(),
        };
        let exported = export(function, &clif.names, &surroundings)?;
        out.push_str(&print(&exported.function));
        out.push('\n');
    }
    out.push_str(around.map_or("", |around| around.text));
    Ok(out)
}
