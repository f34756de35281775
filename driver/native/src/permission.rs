//! Whose code may be called: SECURITY.md says what that promises.
//!
//! A pack names functions of libraries (`@link`), and the author of a pack is not the user who runs it. So a pack
//! cannot make a declared function callable by itself: the packs that ship may call what they name, and other libraries
//! are allowed by the user, on the command line or in a file outside of every project ([`grants`]), or by an embedding
//! program. The permission is a field of the declaration ([`allowed`]), is false unless it was given here, and goes
//! with the symbol to the one place that loads libraries ([`crate::jit::Externals::link`]), which refuses all others.
//!
//! [`allowed`]: rewright_typeprop::ops::Link::allowed
//!
//! **Invariant**: a library that is not allowed is not opened: that alone would run its initialisers. A path is allowed
//! by the file that it leads to, and that file is what is loaded.

pub mod grants;

use rewright_dsl::program::Program;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A library that cannot be allowed.
#[derive(Debug, thiserror::Error)]
#[error("cannot find the library {library} that is to be allowed: {error}")]
pub struct NoLibrary {
    /// As it was named.
    pub library: String,
    /// Why it is not there.
    pub error: std::io::Error,
}

/// Libraries that packs may call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allowed(BTreeSet<String>);

impl Allowed {
    /// Allows a library: a file by its path, or, by a name without `/`, what the system's loader finds under it.
    ///
    /// # Errors
    /// There is no such file.
    pub fn add(&mut self, library: &str) -> Result<(), NoLibrary> {
        let own = identity(library).map_err(|error| NoLibrary { library: library.into(), error })?;
        self.0.insert(own);
        Ok(())
    }

    /// Those of which no function of a program is.
    pub fn unused(&self, program: &Program) -> BTreeSet<String> {
        let links = program.universe.ops.iter().filter_map(|(_, op)| op.link.as_ref());
        let used: BTreeSet<String> = links.filter_map(|link| identity(&link.library).ok()).collect();
        self.0.difference(&used).cloned().collect()
    }

    /// Allows the functions of a program that are in these libraries to be called.
    pub fn grant(&self, program: &mut Program) {
        for link in program.universe.ops.iter_mut().filter_map(|op| op.link.as_mut()) {
            // A library that is not there has no permission.
            let Some(own) = identity(&link.library).ok().filter(|own| self.0.contains(own)) else { continue };
            (link.library, link.allowed) = (own, true);
        }
    }
}

/// The libraries that functions of a program are in and may not be called, as packs name them; sorted.
pub fn refused(program: &Program) -> BTreeSet<String> {
    let links = program.universe.ops.iter().filter_map(|(_, op)| op.link.as_ref());
    links.filter(|link| !link.allowed).map(|link| link.library.clone()).collect()
}

/// The advice where something is not run for want of permission: a library that is not there needs more than that.
pub fn needs(library: &str) -> String {
    match identity(library) {
        Ok(_) => format!("not run: needs --allow-link {library}"),
        Err(error) => format!("not run: the library {library} is not there ({error})"),
    }
}

/// What a library is allowed by: the file that a path leads to, or a name that the system's loader knows.
///
/// # Errors
/// The path leads to no file, or to one whose name is not UTF-8.
pub fn identity(library: &str) -> std::io::Result<String> {
    if !library.contains('/') {
        return Ok(library.to_string());
    }
    let file: PathBuf = std::fs::canonicalize(Path::new(library))?;
    file.into_os_string().into_string().map_err(|name| {
        std::io::Error::new(std::io::ErrorKind::InvalidInput, format!("{} is not UTF-8", name.display()))
    })
}
