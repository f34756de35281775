//! Certificates of the functions of two files.

use crate::syntax::Module;
use crate::{Options, ValueOracle, both, parse};
use rewright_cfg_skeleton::nest::certificate::{Certificates, FORMAT};
use rewright_cfg_skeleton::nest::compare::certificate;
use rewright_cfg_skeleton::nest::{Names, Nest, Pool};

/// Two versions of a function.
pub struct Pair {
    /// Its name.
    pub name: String,
    /// Values of both.
    pub pool: Pool,
    /// Names of both.
    pub names: Names,
    /// The first version.
    pub before: Nest,
    /// The second version.
    pub after: Nest,
    /// Functions that they call.
    pub calls: Vec<String>,
}

/// Certificates, and of which functions there are none.
pub struct Certified {
    /// The certificates.
    pub certificates: Certificates,
    /// Functions without, and why.
    pub without: Vec<(String, String)>,
}

/// The functions of two files, by name: as two nests, or why they are not comparable.
#[must_use]
pub fn pairs(before: &str, after: &str) -> Vec<(String, Result<Pair, String>)> {
    let (before, after) = (parse::parse(before), parse::parse(after));
    let positions = |module: &Module, name: &str| -> Vec<usize> {
        (0..module.functions.len()).filter(|n| module.functions[*n].name == name).collect()
    };
    let mut names: Vec<&String> = before.functions.iter().chain(&after.functions).map(|f| &f.name).collect();
    names.sort();
    names.dedup();
    let pair = |name: &String| match (positions(&before, name).as_slice(), positions(&after, name).as_slice()) {
        ([m], [n]) => both((&before, *m), (&after, *n)),
        ([], _) | (_, []) => Err("only one file defines it".to_string()),
        _ => Err("a file defines several functions of this name".to_string()),
    };
    names.into_iter().map(|name| (name.clone(), pair(name))).collect()
}

/// Certificates of all functions that are proved to do the same.
pub fn certificates(before: &str, after: &str, options: &Options, oracle: &mut (dyn ValueOracle + Send)) -> Certified {
    let mut certified = Certified { certificates: Certificates { format: FORMAT, functions: vec![] }, without: vec![] };
    for (name, pair) in pairs(before, after) {
        let found = pair.and_then(|Pair { mut pool, mut names, before, after, calls, .. }| {
            if let Some(callee) = calls.first() {
                return Err(format!("it calls `{callee}`"));
            }
            certificate(&mut pool, &mut names, &before, &after, options, oracle)
        });
        match found {
            Ok(certificate) => certified.certificates.functions.push(certificate),
            Err(reason) => certified.without.push((name, reason)),
        }
    }
    certified
}
