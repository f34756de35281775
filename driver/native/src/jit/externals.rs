//! What compiled code uses that is not in its file: functions of shared libraries, array constants, Rust functions.

use super::JitError;
use libloading::Library;
use rewright_clif::linkage::{HOST_CALL, HOST_TABLE};
use rewright_typeprop::eval::call_host;
use rewright_typeprop::{Data, Evaluation, Scalar, Universe};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A function of a shared library.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// As the system's loader finds it, or a path.
    pub library: String,
    /// The function's name in it and in CLIF.
    pub symbol: String,
    /// May it be called? See [`crate::permission`].
    pub allowed: bool,
}

/// An array constant as it goes to another process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Blob {
    /// Its name in CLIF.
    pub name: String,
    /// The words in front of its elements.
    pub header: Vec<u64>,
    /// Its elements.
    pub bytes: Vec<u8>,
}

/// What another process needs to run compiled code. Rust functions cannot go there.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Imports {
    /// Functions of shared libraries.
    pub links: Vec<Link>,
    /// Array constants.
    pub data: Vec<Blob>,
}

impl Imports {
    /// A library that would have to be loaded and may not be.
    pub fn refused(&self) -> Option<&str> {
        self.links.iter().find(|link| !link.allowed).map(|link| link.library.as_str())
    }
}

/// A Rust function that compiled code calls.
pub struct HostEntry {
    /// The name that it is registered under.
    pub name: String,
    /// Representations of its parameters.
    pub params: Vec<Option<Scalar>>,
    /// Representation of its result; `None` outside: there is no result.
    pub result: Option<Option<Scalar>>,
}

/// Everything external, with its addresses. Lives as long as the code that uses it.
#[derive(Default)]
pub struct Externals {
    symbols: Vec<(String, *const u8)>,
    libraries: Vec<Library>,
    images: Vec<Vec<u64>>,
    shared: Vec<Arc<Data>>,
    hosts: Option<Box<Hosts>>,
}

/// What [`HOST_TABLE`] is the address of.
struct Hosts {
    universe: Universe,
    entries: Vec<HostEntry>,
}

impl Externals {
    /// Loads libraries and lays out constants.
    ///
    /// # Errors
    /// A library or a symbol that is not there, or is not allowed.
    pub fn load(imports: &Imports) -> Result<Externals, JitError> {
        let mut all = Externals::default();
        for link in &imports.links {
            all.link(link)?;
        }
        for blob in &imports.data {
            let mut image = blob.header.clone();
            for chunk in blob.bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                image.push(u64::from_ne_bytes(word));
            }
            image.push(0);
            all.symbols.push((blob.name.clone(), image[blob.header.len()..].as_ptr().cast()));
            all.images.push(image);
        }
        Ok(all)
    }

    /// Adds a function of a shared library.
    ///
    /// # Errors
    /// A library or a symbol that is not there, or is not allowed.
    pub fn link(&mut self, Link { library, symbol, allowed }: &Link) -> Result<(), JitError> {
        if !allowed {
            return Err(JitError::NotAllowed(library.clone()));
        }
        let failed = |error: libloading::Error| JitError::Link {
            symbol: symbol.clone(),
            library: library.clone(),
            reason: error.to_string(),
        };
        // SAFETY: loading runs the library's own initialisers: a user who allows a library wants them run. The
        // symbol is only taken as an address here; that it is a function of its declared signature is what the
        // pack states. The library is not unloaded while `self` is there.
        unsafe {
            let library = Library::new(library).map_err(failed)?;
            let address = *library.get::<*const u8>(symbol.as_bytes()).map_err(failed)?;
            self.symbols.push((symbol.to_string(), address));
            self.libraries.push(library);
        }
        Ok(())
    }

    /// Adds an array constant that this process has.
    pub fn share(&mut self, name: String, data: Arc<Data>) {
        self.symbols.push((name, data.address()));
        self.shared.push(data);
    }

    /// Adds the Rust functions of a universe.
    pub fn hosts(&mut self, universe: Universe, entries: Vec<HostEntry>) {
        let hosts = Box::new(Hosts { universe, entries });
        self.symbols.push((HOST_TABLE.into(), std::ptr::from_ref(&*hosts).cast()));
        self.symbols.push((HOST_CALL.into(), host_call as *const u8));
        self.hosts = Some(hosts);
    }

    pub(super) fn symbols(&self) -> impl Iterator<Item = (&str, *const u8)> {
        self.symbols.iter().map(|(name, address)| (name.as_str(), *address))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.symbols.iter().any(|(known, _)| known == name)
    }
}

/// Calls a Rust function with what the slots hold, and puts its result there. 0: it has no value here.
extern "C" fn host_call(hosts: *const Hosts, index: i64, slots: *mut i64) -> u8 {
    // SAFETY: only code compiled with these externals calls this, with the table's own address, which `Externals`
    // keeps, an index into it, and as many slots as the entry has parameters, and at least one.
    let (entry, universe, slots) = unsafe {
        let hosts = &*hosts;
        let entry = &hosts.entries[index as usize];
        (entry, &hosts.universe, std::slice::from_raw_parts_mut(slots, entry.params.len().max(1)))
    };
    let args: Vec<i64> = entry
        .params
        .iter()
        .zip(slots.iter())
        .map(|(scalar, word)| match scalar {
            Some(scalar) => scalar.canonical(*word as u64),
            // An array that the pool holds goes by its key.
            None => universe.data.key_at(*word as usize).unwrap_or(*word),
        })
        .collect();
    let result = entry.result.flatten();
    // A panic must not unwind through compiled code.
    let called = catch_unwind(AssertUnwindSafe(|| call_host(universe, &entry.name, &entry.params, result, &args)));
    match (called, entry.result) {
        (Ok(Some(_)), None) => 1,
        (Ok(Some(Evaluation::Value(n))), Some(scalar)) => {
            slots[0] = match scalar {
                Some(_) => n,
                None => universe.data.address_of(n).map_or(n, |address| address as i64),
            };
            1
        }
        (Ok(Some(Evaluation::Nan)), Some(scalar)) => {
            slots[0] = scalar.map_or(0, rewright_cfg_skeleton::ir::interp::quiet_nan);
            1
        }
        _ => 0,
    }
}
