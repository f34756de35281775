//! Runs two versions of a function, as texts of LLVM IR, on one input: may the second one do what the first one may
//! not?
//!
//! The interpreter follows the Language Reference, with poison, `undef`, `freeze`, immediate undefined behaviour, and
//! objects in memory with provenance. [`replay`] says [`Replay::Differs`] only where the first version is defined on
//! the input, and a behaviour of the second version is found that the first one has in no way and that is not better
//! defined; see [`choice`] for why that is certain. Anything that is not modelled is [`Replay::Unsupported`], with its
//! reason.
//!
//! What is compared: whether the behaviour is undefined, the result, what is left in memory that the caller sees, and
//! the observable calls, with their arguments and the memory that they may look at.
//!
//! * [`value`], [`memory`]: what a run computes with; [`layout`], [`program`], [`world`]: what it runs in;
//! * [`integer`], [`float`]: operations; [`machine`], [`instruction`], [`access`], [`mod@pointer`], [`call`],
//!   [`intrinsic`],
//!   [`constant`]: a run; [`annotations`]: promises; [`endless`]: runs that have no end;
//! * [`behaviour`]: what refines what; [`mod@candidates`]: inputs that are worth trying.

mod access;
mod annotations;
mod behaviour;
mod call;
mod candidates;
mod choice;
mod constant;
mod effects;
mod endless;
mod float;
mod input;
mod instruction;
mod integer;
mod intrinsic;
mod layout;
mod machine;
mod memory;
mod pointer;
mod program;
#[cfg(test)]
mod tests;
mod value;
mod world;

pub use candidates::candidates;
pub use input::{Answer, Block, Bytes, Cell, Datum, Input, InputAddress, InputError, Scalar, Write};
pub(crate) use intrinsic::stem;
pub(crate) use layout::Layout;
pub use layout::LayoutError;

use crate::not_modelled::NotModelled;
use behaviour::Behaviour;
use choice::{Chooser, RefinementSide};
use machine::Machine;
use program::Program;
pub(crate) use program::{ABSOLUTE, Global, global};
use rewright_llvm::module::{Definition, File};
use serde::Serialize;
use std::collections::BTreeMap;
use world::{Names, World};

/// What comes out of running both versions on one input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replay {
    /// The second version may do what the first one may not.
    Differs(Difference),
    /// No difference was found.
    Agrees,
    /// The first version is undefined, so that the second one may do anything.
    Undefined,
    /// Something is not modelled: this.
    Unsupported(String),
}

/// Why two versions cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// By the data layout of a module.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A function that is reached has an attribute that is not modelled.
    #[error("{function} is `{attribute}`")]
    Attribute {
        /// Its name.
        function: String,
        /// The attribute.
        attribute: String,
    },
    /// They take or give other types.
    #[error("the versions do not have the same type")]
    Types,
    /// LLVM knows a function of this name.
    #[error("{0}, of which LLVM knows what it does")]
    Library(String),
    /// They take any number of arguments.
    #[error("a function with a variable number of arguments")]
    Variadic,
}

/// What comes out of running both versions on many inputs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Search {
    /// An input on which they differ.
    pub differs: Option<(Input, Difference)>,
    /// On how many they agree.
    pub agrees: u64,
    /// On how many the first version is undefined.
    pub undefined: u64,
    /// On how many something is not modelled, by what that is.
    pub unsupported: BTreeMap<String, u64>,
}

/// How many instructions runs may take that show nothing, all inputs of a search together.
const FRUITLESS_STEPS: usize = 10_000_000;

/// How two versions differ on an input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    /// What the first version may do.
    pub before: String,
    /// What the second one may do.
    pub after: String,
}

/// How many behaviours of the first version are shown.
const SHOWN: usize = 3;

/// Two versions of a function, to be run on many inputs.
pub struct Replayer<'a> {
    definitions: [&'a Definition; 2],
    before: Program<'a>,
    after: Program<'a>,
    names: Names,
}

impl<'a> Replayer<'a> {
    /// Two versions of a function with what they reach in their modules; the reason where they cannot be run.
    ///
    /// # Errors
    /// When a module is not modelled, or the versions do not take the same arguments.
    pub fn new(
        before: (&'a File, &'a Definition),
        after: (&'a File, &'a Definition),
    ) -> Result<Replayer<'a>, ReplayError> {
        let definitions = [before.1, after.1];
        let reached = |(file, definition), also: &[String]| Program::new(file, definition, also);
        let globals = |program: &Program<'_>| program.globals.keys().map(ToString::to_string).collect::<Vec<_>>();
        // The other version may change a global that one leaves alone.
        let [also_before, also_after] = [globals(&reached(after, &[])?), globals(&reached(before, &[])?)];
        let [before, after] = [reached(before, &also_before)?, reached(after, &also_after)?];
        let types = definitions.map(|definition| {
            let parameters = definition.parameters.iter().map(|parameter| &parameter.ty);
            parameters.chain([&definition.result]).collect::<Vec<_>>()
        });
        let same = |(x, y)| before.layout.is_same(x, &after.layout, y);
        let fits = types[0].len() == types[1].len() && types[0].iter().copied().zip(types[1].iter().copied()).all(same);
        if !fits {
            return Err(ReplayError::Types);
        }
        if call::is_of_library(&definitions[1].name) {
            return Err(ReplayError::Library(definitions[1].name.clone()));
        }
        if definitions.iter().any(|definition| definition.variadic) {
            return Err(ReplayError::Variadic);
        }
        let names = Names::new(&before, &after);
        Ok(Replayer { definitions, before, after, names })
    }

    /// The functions of both modules, beside the two versions, whose bodies a run may enter.
    pub fn callees(&self) -> Vec<(&'a File, &'a Definition)> {
        let of = |(program, own): (&Program<'a>, &'a Definition)| {
            let (file, own) = (program.file, own.name.as_str());
            let others = program.functions.values().filter(move |(definition, _)| definition.name != own);
            others.map(move |(definition, _)| (file, *definition)).collect::<Vec<_>>()
        };
        [(&self.before, self.definitions[0]), (&self.after, self.definitions[1])].into_iter().flat_map(of).collect()
    }

    /// Runs both on an input.
    pub fn replay(&self, input: &Input) -> Replay {
        self.counted(input).0
    }

    /// Runs both on inputs until they differ, or so many steps have shown nothing that it is not worth going on.
    pub fn search(&self, inputs: impl IntoIterator<Item = Input>) -> Search {
        let mut found = Search::default();
        let mut fruitless = 0;
        for input in inputs {
            if fruitless > FRUITLESS_STEPS {
                let reason = format!("further inputs: {FRUITLESS_STEPS} steps of others have shown nothing");
                found.unsupported.insert(reason, 1);
                break;
            }
            match self.counted(&input) {
                (Replay::Differs(difference), _) => {
                    found.differs = Some((input, difference));
                    break;
                }
                (Replay::Agrees, _) => found.agrees += 1,
                (Replay::Undefined, _) => found.undefined += 1,
                (Replay::Unsupported(reason), steps) => {
                    fruitless += steps;
                    *found.unsupported.entry(reason).or_default() += 1;
                }
            }
        }
        found
    }

    /// What comes out on an input, and how many steps that takes.
    fn counted(&self, input: &Input) -> (Replay, usize) {
        let world = World::new(input, &self.names, self.definitions);
        let mut steps = 0;
        let replay = match self.compare(&world, &mut steps) {
            Ok(replay) => replay,
            Err(reason) => Replay::Unsupported(reason.to_string()),
        };
        (replay, steps)
    }

    fn compare(&self, world: &World<'_>, steps: &mut usize) -> Result<Replay, NotModelled> {
        let mut machine = Machine::new(&self.before, world, Chooser::new(RefinementSide::Before));
        let allowed = self.allowed(&mut machine);
        *steps += machine.chooser.steps();
        let allowed = allowed?;
        if allowed.iter().any(|behaviour| matches!(behaviour, Behaviour::Undefined(_))) {
            return Ok(Replay::Undefined);
        }
        let mut machine = Machine::new(&self.after, world, Chooser::new(RefinementSide::After));
        let found = self.other(&mut machine, &allowed);
        *steps += machine.chooser.steps();
        Ok(found?.map_or(Replay::Agrees, |behaviour| Replay::Differs(difference(&allowed, &behaviour, world))))
    }

    /// All that the first version may do; one behaviour that is undefined is enough.
    fn allowed<'m>(&'m self, machine: &mut Machine<'m>) -> Result<Vec<Behaviour>, NotModelled> {
        let mut allowed: Vec<Behaviour> = vec![];
        loop {
            let behaviour = Behaviour::of(machine.run(self.definitions[0]))?;
            let undefined = matches!(behaviour, Behaviour::Undefined(_));
            if !allowed.contains(&behaviour) {
                allowed.push(behaviour);
            }
            if undefined {
                return Ok(allowed);
            }
            if !machine.chooser.next()? {
                return Ok(allowed);
            }
        }
    }

    /// Something that the second version may do and the first one may not.
    fn other<'m>(&'m self, machine: &mut Machine<'m>, allowed: &[Behaviour]) -> Result<Option<Behaviour>, NotModelled> {
        let (mut compared, mut open) = (false, None);
        loop {
            match Behaviour::of(machine.run(self.definitions[1])) {
                Ok(behaviour) => {
                    compared = true;
                    if !allowed.iter().any(|before| behaviour.refines(before, &self.after.layout)) {
                        return Ok(Some(behaviour));
                    }
                }
                Err(reason) => open = Some(reason),
            }
            if machine.chooser.next() != Ok(true) {
                break;
            }
        }
        match open {
            Some(reason) if !compared => Err(reason),
            _ => Ok(None),
        }
    }
}

fn difference(allowed: &[Behaviour], behaviour: &Behaviour, world: &World<'_>) -> Difference {
    let mut shown: Vec<String> = allowed.iter().take(SHOWN).map(|before| before.show(behaviour, world)).collect();
    if allowed.len() > SHOWN {
        shown.push(format!("{} other behaviours", allowed.len() - SHOWN));
    }
    // The second version may do this, and not what it is shown beside.
    let after = allowed.first().map_or_else(String::new, |before| behaviour.show(before, world));
    Difference { before: shown.join("; or "), after }
}

/// Runs two versions of a function on an input.
pub fn replay(before: (&File, &Definition), after: (&File, &Definition), input: &Input) -> Replay {
    match Replayer::new(before, after) {
        Ok(replayer) => replayer.replay(input),
        Err(reason) => Replay::Unsupported(reason.to_string()),
    }
}
