//! Rule packs in an editor: a server of the Language Server Protocol.
//!
//! [`server`] reads messages and writes answers; [`workspace`] knows the texts; a [`snapshot`] is one document with all
//! that it imports, checked, and every answer is made from one: [`hover`], [`completion`], [`navigation`], [`rename`],
//! [`symbols`], [`tokens`], [`hints`], [`findings`], [`mod@format`]. The contents of a pack are found out by
//! `rewright_dsl` alone, as for `rewright check`; what is run ([`commands`]) is run by `rewright` in a process of its
//! own.
//!
//! **Invariants**: a message never ends the server, whatever it says; opening a document runs nothing and opens no
//! library; positions are in the units that client and server agreed on.

pub mod commands;
pub mod completion;
pub mod document;
pub mod findings;
pub mod format;
pub mod hints;
pub mod hover;
pub mod navigation;
pub mod position;
pub mod rename;
pub mod server;
pub mod snapshot;
pub mod symbols;
pub mod tokens;
pub mod workspace;

pub use server::{Ended, ServeError, serve};
