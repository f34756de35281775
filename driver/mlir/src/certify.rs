//! Certificates of the functions of two files.

use crate::syntax::Module;
use crate::{Known, Options, ValueOracle, both, dependent, parse};
use rewright_cfg_skeleton::nest::certificate::Certificate;
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
    /// Arguments of which no type says that each cell has a place of its own.
    pub layouts: Vec<String>,
}

impl Pair {
    /// Whether what is known of the functions that are called is known of these calls.
    ///
    /// # Errors
    /// Arrays of the caller may overlap, and functions are compared for arrays that do not.
    pub fn check_calls(&self, may_alias: &[(String, String)]) -> Result<(), String> {
        match self.calls.first() {
            Some(callee) if !may_alias.is_empty() => {
                Err(format!("it calls `{callee}`, which is compared for arrays that do not overlap"))
            }
            _ => Ok(()),
        }
    }

    /// A condition on sizes, and that cells have places of their own.
    #[must_use]
    pub fn precondition(&self, of_sizes: Option<String>) -> Option<String> {
        let apart = self.layouts.iter().map(|name| format!("no two cells of {name} are in one place"));
        let is_union = !self.layouts.is_empty() && of_sizes.as_ref().is_some_and(|text| text.contains(" or "));
        let of_sizes = of_sizes.map(|text| if is_union { format!("({text})") } else { text });
        let all: Vec<String> = of_sizes.into_iter().chain(apart).collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }
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

/// Certificates of functions by name; else why there is none.
pub type Certified = Vec<(String, Result<Certificate, String>)>;

/// Certificates of all functions that are proved to do the same.
pub fn certificates(before: &str, after: &str, options: &Options, oracle: &mut (dyn ValueOracle + Send)) -> Certified {
    let certified = |(name, pair): (String, Result<Pair, String>)| {
        let found = pair.and_then(|pair| {
            pair.check_calls(&options.may_alias)?;
            let Pair { mut pool, mut names, before, after, calls, layouts, .. } = pair;
            let found = certificate(&mut pool, &mut names, &before, &after, options, oracle)?;
            Ok((found, layouts.is_empty(), calls))
        });
        (name, found)
    };
    let mut found: Vec<_> = pairs(before, after).into_iter().map(certified).collect();
    let is_certain = |certificate: &Certificate| certificate.precondition().is_none();
    without_dependent(&mut found, |(certificate, is_apart, calls)| (*is_apart && is_certain(certificate), calls));
    found.into_iter().map(|(name, found)| (name, found.map(|(certificate, ..)| certificate))).collect()
}

/// Takes back what was found of functions that call others of which nothing was found, or not for all sizes. `of` says
/// whether something holds for all sizes, and which functions it takes to do the same.
pub fn without_dependent<T>(found: &mut [(String, Result<T, String>)], of: impl Fn(&T) -> (bool, &[String])) {
    loop {
        let known = found.iter().map(|(name, found)| {
            let (is_certain, calls) = found.as_ref().map_or((false, [].as_slice()), &of);
            Known { name, is_proved: found.is_ok(), is_certain, calls }
        });
        let Some((n, callee)) = dependent(&known.collect::<Vec<_>>()) else { return };
        found[n].1 = Err(format!("it calls `{callee}`, of which that is not known for all sizes"));
    }
}
