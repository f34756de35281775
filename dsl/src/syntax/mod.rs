//! Text to syntax tree. Never fails: what cannot be parsed becomes an `Error` item and a diagnostic.

pub mod ast;
