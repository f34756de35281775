//! What verdicts about functions of libraries depend on: what packs say of all of them, and what is in the libraries.

use super::case::{Case, mentioned};
use rewright_dsl::program::{Program, Rule};
use rewright_files::store::digest;
use rewright_native::exports::file;
use std::collections::BTreeSet;

/// The libraries of a program.
pub(super) struct Libraries {
    /// There are functions that may be called.
    may_run: bool,
    /// Everything that decides what their functions give, except for what they load themselves; `None` where a library
    /// is not there.
    pub(super) known: Option<Vec<String>>,
}

impl Libraries {
    pub(super) fn of(program: &Program) -> Self {
        let ops = || program.universe.ops.iter().map(|(_, op)| op);
        let links = ops().filter_map(|op| op.link.as_ref()).filter(|link| link.allowed);
        let named: BTreeSet<&str> = links.map(|link| link.library.as_str()).collect();
        let may_run = !named.is_empty();
        let content = |library: &str| Some(format!("{library} {}", digest(&std::fs::read(file(library)?).ok()?)));
        let contents: Option<Vec<String>> = named.into_iter().map(content).collect();
        let known = contents.map(|mut parts| {
            // Packs that ship are part of the program.
            parts.extend(ops().filter(|op| !op.pack.starts_with("std.")).map(|op| format!("{op:?}")));
            parts.push(format!("{:?}", program.samples));
            parts
        });
        Libraries { may_run, known }
    }

    /// May a rule's verdict depend on what their functions give?
    pub(super) fn decide(&self, program: &Program, rule: &Rule, cases: &[Case<'_>]) -> bool {
        let is_linked = |op| program.universe.ops.get(op).link.is_some();
        let runs = || rule.relaxation.is_some() || cases.iter().any(Case::needs_library);
        self.may_run && (mentioned(program, rule).into_iter().any(is_linked) || runs())
    }
}
