//! What the server's answers are made of, without a server.
//!
//! One binary: each further one would link everything again.

mod broken;
mod features;
mod keystroke;
mod support;
