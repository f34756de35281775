//! Programs that embed Rewright.
//!
//! One binary: each further one would link everything again.

mod embedding;
