//! The LLVM front and back end: files of textual IR in, files of textual IR out.
//!
//! ```text
//! text --read--> File --import--> ir::Function + Payloads --(optimiser)--> ir::Function --export--> body of a function
//! ```
//!
//! * [`lex`], [`cursor`], [`types`], [`grammar`]: tokens, types, and which opcode is written how;
//! * [`module`]: a file, kept as it is except for the bodies of its functions; [`loop_metadata`]: what it says of
//!   loops;
//! * [`body`], [`parse`], [`constants`]: a body as data; what is not understood is a reason;
//! * [`names`]: which spelling is which declared operation, in both directions;
//! * [`error`]: why a text is not understood;
//! * [`effects`]: what a call may do, from LLVM's attributes; [`captures`]: which pointers others come to know;
//! * [`import`]: a body to our function, without poison;
//! * [`poison`]: which flags may come back, and what has to be frozen;
//! * [`export`]: our function to a body;
//! * [`locations`]: where in the source things are; `told`: what reports say of a function;
//! * [`optimise`]: a file through the pipeline; [`function_cache`]: functions that need not go through it again;
//!   [`front`]: the same as every front end does it; [`examples`]: examples of packs as programs in C have them.
//!
//! **Invariant**: a function that is not changed, or not understood, goes out byte for byte as it came in. Opcodes are
//! named in [`grammar`] and [`names`] only, and in `rewright-equiv`, which checks what these say. LLVM itself is not
//! linked: the compiler that reads the result runs its verifier.
//!
//! What is not done here: vectors, `i128`, other floats and aggregates are opaque (kept, shared, moved, but no rule
//! speaks of them), and so are calls of what no pack declares; functions with exceptions,
//! coroutines, `setjmp` or addresses of blocks stay as they are, and everything for 32-bit or big-endian targets.

pub mod alias_metadata;
pub mod body;
pub mod captures;
pub mod constants;
pub mod cursor;
pub mod declared_calls;
pub mod effects;
pub mod error;
pub mod examples;
pub mod export;
pub mod front;
pub mod function_cache;
pub mod grammar;
pub mod import;
pub mod instruction;
pub mod layout;
pub mod lex;
pub mod locations;
pub mod loop_metadata;
pub mod module;
pub mod names;
pub mod optimise;
pub mod parse;
pub mod poison;
#[cfg(test)]
pub(crate) mod sample;
mod told;
mod top_level;
pub mod types;
