//! A function with constants for some of its parameters: a copy that takes the others.
//!
//! **Invariant**: the copy, given the other arguments, does what the general function does with all of them; it is
//! verified.

use super::cleanup::cleanup;
use super::frequencies::note_frequencies;
use super::parse::{self, ParseError};
use super::verify::{Defect, verify};
use super::{Function, Inst, InstId, InstKind};
use rewright_typeprop::{Constant, Ty, Universe};
use smallvec::{SmallVec, smallvec};

/// Why there is no such copy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecialiseError {
    /// The request, or a constant in it.
    #[error(transparent)]
    Text(#[from] ParseError),
    /// There is no function of that name.
    #[error("there is no function {0}")]
    NoFunction(String),
    /// The new name is another function's.
    #[error("there is a function {0} already: give the new one another name")]
    Taken(String),
    /// The general function would go, but it is called.
    #[error("{0} is called, or is what a pack means by a function: give the new one another name")]
    Called(String),
    /// As many arguments as parameters.
    #[error("{function} takes {expected} arguments, {found} given; `_` stands for one that stays open")]
    Count {
        /// The general function.
        function: String,
        /// Its parameters.
        expected: usize,
        /// The arguments.
        found: usize,
    },
    /// Nothing is specialised.
    #[error("no parameter of {0} is given a constant")]
    Nothing(String),
    /// The constant is not of the parameter's type.
    #[error("parameter {position} is a `{ty}`, which the constant given for it is not")]
    Type {
        /// Of the parameter, from 1.
        position: usize,
        /// Its type.
        ty: String,
    },
    /// The constant is not one that a function may have.
    #[error("a constant does not fit its parameter: {0}")]
    Unfit(Defect),
    /// Not in this language, or not this parameter.
    #[error("{0}")]
    Unsupported(String),
}

/// The number by which a function holds a constant of a type; `None` where it is not of that type.
pub fn number(constant: &Constant, ty: Ty, universe: &Universe) -> Option<i64> {
    match (constant, universe.types.scalar(ty)) {
        (Constant::Scalar(given, n), Some(scalar)) => (*given == scalar).then(|| scalar.canonical(*n as u64)),
        (Constant::Data(data), None) => {
            let fits = parse::element(&universe.types, ty).is_none_or(|element| element == data.element());
            fits.then(|| universe.data.intern_shared(data.clone()))
        }
        _ => None,
    }
}

/// Are these arguments of a function with this many parameters, one of them a constant at least?
///
/// # Errors
/// They are not.
pub fn check_arguments(function: &str, expected: usize, arguments: &[Option<i64>]) -> Result<(), SpecialiseError> {
    let (function, found) = (function.to_string(), arguments.len());
    if found != expected {
        return Err(SpecialiseError::Count { function, expected, found });
    }
    if arguments.iter().all(Option::is_none) { Err(SpecialiseError::Nothing(function)) } else { Ok(()) }
}

/// A copy of a function under a new name, with constants for those of its parameters that have one.
///
/// # Errors
/// The number of arguments is not that of the parameters, none is a constant, or one does not fit.
pub fn specialise(
    general: &Function,
    name: &str,
    arguments: &[Option<i64>],
    universe: &Universe,
) -> Result<Function, SpecialiseError> {
    let params = general.block(general.entry()).params.clone();
    check_arguments(&general.name, params.len(), arguments)?;
    let mut f = Function { name: name.into(), ..general.clone() };
    let entry = f.entry().index();
    f.blocks[entry].params.clear();
    let mut constants = vec![];
    for (param, argument) in params.into_iter().zip(arguments) {
        let Some(number) = argument else {
            f.blocks[entry].params.push(param);
            continue;
        };
        constants.push(InstId(f.insts.len() as u32));
        let kind = InstKind::Const(*number);
        f.insts.push(Inst { kind, args: SmallVec::new(), results: smallvec![param], origin: None });
    }
    f.blocks[entry].insts.splice(0..0, constants);
    if let Some(error) = verify(&f, universe).into_iter().next() {
        return Err(SpecialiseError::Unfit(error.defect));
    }
    cleanup(&mut f, universe);
    note_frequencies(&mut f, universe);
    Ok(f)
}

/// The name of a specialised function: the one that is asked for, with the sigil of the general one, or that one's
/// with the first number that is free. The general one's own name is free, too: then the new one takes its place.
///
/// # Errors
/// It is the name of another function.
pub fn name_for(general: &str, asked: Option<&str>, names: &[String]) -> Result<String, SpecialiseError> {
    let bare = |name: &str| name.trim_start_matches('%').to_string();
    let sigil = if general.starts_with('%') { "%" } else { "" };
    let is_taken = |name: &str| names.iter().any(|other| bare(other) == bare(name));
    let Some(asked) = asked else {
        let mut numbered = (1..).map(|n| format!("{general}_{n}"));
        return Ok(numbered.find(|name| !is_taken(name)).unwrap_or_default());
    };
    let name = match asked.starts_with("u") && asked.contains(':') {
        true => asked.to_string(),
        false => format!("{sigil}{}", bare(asked)),
    };
    if name != general && is_taken(&name) { Err(SpecialiseError::Taken(name)) } else { Ok(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::interp::Outcome;
    use crate::testing::{random, universe};

    #[test]
    fn random_functions_do_the_same_with_constants_bound() {
        let universe = universe();
        let mut ended = 0;
        for seed in 0..300 {
            let general = random::function(seed, 6, &universe);
            for bound in 1..8u32 {
                let is_bound = |n: usize| bound >> n & 1 == 1;
                let all = [random::ADDRESS, [0, 1, -1, 7, 1 << 20][seed as usize % 5], seed as i64 % 3];
                let arguments: Vec<Option<i64>> = (0..3).map(|n| is_bound(n).then_some(all[n])).collect();
                let f = specialise(&general, "%special", &arguments, &universe).expect("integers fit");
                assert!(verify(&f, &universe).is_empty());
                let open: Vec<i64> = (0..3).filter(|n| !is_bound(*n)).map(|n| all[n]).collect();
                let before = random::run_with(&general, &universe, &all, 300);
                if before.outcome != Outcome::OutOfFuel {
                    ended += 1;
                    assert_eq!(before, random::run_with(&f, &universe, &open, 3000), "seed {seed}, {arguments:?}");
                }
            }
        }
        assert!(ended > 1_000, "{ended}");
    }

    #[test]
    fn names_are_free_or_the_general_ones() {
        let names = ["%f", "%f_1", "%g"].map(String::from);
        assert_eq!(name_for("%f", None, &names).as_deref(), Ok("%f_2"));
        assert_eq!(name_for("%f", Some("h"), &names).as_deref(), Ok("%h"));
        assert_eq!(name_for("%f", Some("f"), &names).as_deref(), Ok("%f"));
        assert_eq!(name_for("%f", Some("%g"), &names), Err(SpecialiseError::Taken("%g".into())));
    }
}
