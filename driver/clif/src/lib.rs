//! The CLIF front and back end: whole files in, whole files out.
//!
//! ```text
//! text --read--> File --import--> ir::Function + Payloads --(optimiser)--> ir::Function --export--> CLIF function
//! ```
//!
//! * [`scan`]: words of a text, without comments and strings; [`panics`]: panics of Cranelift as messages;
//! * [`read`]: files, with everything that is needed to write them back;
//! * [`names`]: which CLIF spelling is which declared operation, in both directions;
//! * [`mod@print`]: a function as text, without the losses of Cranelift's own writer;
//! * [`import`]: Cranelift's functions to ours; what no pack declares becomes opaque;
//! * [`interpret`]: imported functions on our own interpreter; [`executed`]: how much that executes;
//! * [`export`]: ours back to Cranelift's, checked by Cranelift's own verifier;
//! * [`optimise`]: a file through the pipeline; [`front`]: the same as every front end does it;
//! * [`mod@inline`]: calls within a file, and bodies in their place;
//! * [`mod@specialise`]: functions with constants for some of their parameters;
//! * `told`: what reports show of a function.
//!
//! **Invariant**: with what compiles, runs or measures its result (`rewright-native`, `rewright-lab`), this is the only
//! crate that names Cranelift. No opcode is named here except where an instruction *format* is control flow or a
//! constant.

pub mod describe;
mod entities;
pub mod executed;
pub mod export;
pub mod front;
pub mod import;
mod inline;
pub mod interpret;
pub mod linkage;
pub mod names;
pub mod optimise;
pub mod panics;
pub mod print;
pub mod read;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
pub(crate) mod sample;
pub mod scan;
pub mod specialise;
mod tail_calls;
pub mod told;
