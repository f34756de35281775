//! What both versions of a function are run in: the input, and names of what lies outside.

use super::choice::Stop;
use super::input::{Bytes, Cell, Datum, Input, InputAddress, Scalar};
use super::layout::{Layout, LayoutError};
use super::memory::Byte;
use super::program::Program;
use super::value::{Lane, Object, Pointer, Value, ones};
use rewright_llvm::body::Shape;
use rewright_llvm::effects::{self, MemoryEffects};
use rewright_llvm::module::Definition;
use rewright_llvm::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// Why an input does not fit the functions.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum WorldError {
    #[error("the input has no block {0}")]
    Block(u32),
    #[error("the functions do not reach {0}, which the input names")]
    Global(String),
    #[error("the input gives {datum} for a value of type {ty}")]
    Value { datum: Datum, ty: Type },
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// Does a number fit this many bits, or, below zero, this many with a sign?
fn fits(bits: u128, width: u32) -> bool {
    bits & !ones(width) == 0 || bits | ones(width) >> 1 == u128::MAX
}

impl From<WorldError> for Stop {
    fn from(error: WorldError) -> Stop {
        Stop::Unsupported(error.to_string())
    }
}

/// The world around both versions.
pub(super) struct World<'a> {
    pub(super) input: &'a Input,
    names: &'a Names,
    /// Objects that only a `noalias` parameter leads to.
    private: BTreeSet<Object>,
}

/// Names of globals and functions, one number for both modules.
pub(super) struct Names {
    names: Vec<String>,
    numbers: BTreeMap<String, u32>,
    /// Those that the modules define in different ways, or promise different things of.
    different: BTreeSet<String>,
    /// Those that do not return, as both modules say.
    endless: BTreeSet<String>,
}

impl Names {
    pub(super) fn new(before: &Program<'_>, after: &Program<'_>) -> Names {
        let mentioned = |program: &Program<'_>| {
            let declared = program.file.declarations.keys().cloned();
            let defined = program.functions.keys().chain(program.globals.keys()).map(|name| (*name).to_string());
            declared.chain(defined).collect::<BTreeSet<String>>()
        };
        let mut all = mentioned(before);
        all.extend(mentioned(after));
        let defined = |program: &Program<'_>| -> BTreeSet<String> {
            program.file.functions.iter().map(|function| function.name.clone()).collect()
        };
        let (defined_before, defined_after) = (defined(before), defined(after));
        let differs = |name: &&String| {
            let (old, new) = (before.globals.get(name.as_str()), after.globals.get(name.as_str()));
            let variables = old.is_some() && new.is_some() && old != new;
            variables || defined_before.contains(*name) != defined_after.contains(*name)
        };
        let mut different: BTreeSet<String> = all.iter().filter(differs).cloned().collect();
        different.extend(called_differently([before, after]));
        let never_returns = |program: &Program<'_>, name: &str| {
            program.file.attributes.get(name).is_some_and(|list| list.iter().any(|attribute| attribute == "noreturn"))
        };
        let endless = |name: &&String| never_returns(before, name) && never_returns(after, name);
        let endless = all.iter().filter(endless).cloned().collect();
        let numbers = all.iter().cloned().zip(0..).collect();
        Names { names: all.into_iter().collect(), numbers, different, endless }
    }
}

/// Functions of which some calls are allowed to do more than others: what one call promises holds for its callee.
fn called_differently(programs: [&Program<'_>; 2]) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, (Option<MemoryEffects>, bool)> = BTreeMap::new();
    let mut different = BTreeSet::new();
    for program in programs {
        let bodies = program.functions.values().filter_map(|(_, body)| body.as_ref().ok());
        let instructions = bodies.flat_map(|body| &body.blocks).flat_map(|block| &block.instructions);
        for instruction in instructions {
            let Shape::Call { callee: Some(callee), attributes, .. } = &instruction.shape else { continue };
            let own = attributes.get(instruction.flags.len()..).unwrap_or_default();
            let lists = effects::attributes(program.file, Some(callee), own);
            let said = || lists.iter().flatten().map(String::as_str);
            let allowed = (MemoryEffects::of(said()), said().any(|attribute| attribute == "noreturn"));
            if *seen.entry(callee.clone()).or_insert(allowed) != allowed && !callee.starts_with("@llvm.") {
                different.insert(callee.clone());
            }
        }
    }
    different
}

impl<'a> World<'a> {
    pub(super) fn new(input: &'a Input, names: &'a Names, definitions: [&Definition; 2]) -> World<'a> {
        let mut world = World { input, names, private: BTreeSet::new() };
        for definition in definitions {
            for (parameter, datum) in definition.parameters.iter().zip(&input.arguments) {
                if let (Datum::Scalar(Scalar::Pointer(place)), true) =
                    (datum, parameter.attributes.iter().any(|attribute| attribute == "noalias"))
                    && let Ok(pointer) = world.pointer(place)
                {
                    world.private.insert(pointer.object);
                }
            }
        }
        world
    }

    /// Does only a parameter lead to an object, which functions outside do not have?
    pub(super) fn is_private(&self, object: Object) -> bool {
        self.private.contains(&object)
    }

    /// Names of the input that neither version has.
    pub(super) fn unknown(&self) -> Option<WorldError> {
        let callees = self.input.answers.iter().map(|answer| &answer.callee);
        let mut names = self.input.globals.keys().chain(callees);
        names.find(|name| self.object(name).is_none()).map(|name| WorldError::Global(name.clone()))
    }

    /// What a name of a global stands for.
    pub(super) fn object(&self, name: &str) -> Option<Object> {
        self.names.numbers.get(name).map(|n| Object::Global(*n))
    }

    /// The name of a global.
    pub(super) fn name(&self, number: u32) -> &str {
        self.names.names.get(number as usize).map_or("@", String::as_str)
    }

    /// Do the two modules define a name, or calls of it, in different ways?
    pub(super) fn differs(&self, name: &str) -> bool {
        self.names.different.contains(name)
    }

    /// Do both modules say that a function does not return?
    pub(super) fn never_returns(&self, name: &str) -> bool {
        self.names.endless.contains(name)
    }

    /// Where a place of the input is.
    pub(super) fn pointer(&self, place: &InputAddress) -> Result<Pointer, WorldError> {
        match place {
            InputAddress::Block(n, offset) if (*n as usize) < self.input.memory.len() => {
                Ok(Pointer { object: Object::Block(*n), offset: *offset as u64 })
            }
            InputAddress::Block(n, _) => Err(WorldError::Block(*n)),
            InputAddress::Global(name, offset) => match self.object(name) {
                Some(object) => Ok(Pointer { object, offset: *offset as u64 }),
                None => Err(WorldError::Global(name.clone())),
            },
        }
    }

    /// Bytes of the input.
    pub(super) fn bytes(&self, bytes: &Bytes) -> Result<Vec<Byte>, WorldError> {
        let mut out = vec![];
        for cell in &bytes.0 {
            match cell {
                Cell::Byte(value) => out.push(Byte::Bits { value: *value, undef: 0 }),
                Cell::Undef => out.push(Byte::Bits { value: 0, undef: 0xff }),
                Cell::Poison => out.push(Byte::Poison),
                Cell::Pointer(place) => {
                    let pointer = self.pointer(place)?;
                    out.extend((0..8).map(|i| Byte::Pointer(pointer, i)));
                }
            }
        }
        Ok(out)
    }

    /// A value of the input as one of a type. A value that is given for a scalar holds for all parts of an aggregate.
    pub(super) fn value(&self, layout: &Layout<'_>, ty: &Type, datum: &Datum) -> Result<Value, WorldError> {
        let bad = || WorldError::Value { datum: datum.clone(), ty: ty.clone() };
        if let Some(types) = layout.parts(ty)? {
            let parts: Vec<&Datum> = match datum {
                Datum::Parts(parts) => parts.iter().collect(),
                Datum::Scalar(_) => vec![datum; types.len()],
            };
            if parts.len() != types.len() {
                return Err(bad());
            }
            let parts = types.iter().zip(parts).map(|(ty, datum)| self.value(layout, ty, datum));
            return Ok(Value::Parts(parts.collect::<Result<_, _>>()?));
        }
        let Datum::Scalar(scalar) = datum else { return Err(bad()) };
        let width = layout.width(ty)?;
        Ok(Value::Scalar(match scalar {
            Scalar::Poison => Lane::POISON,
            Scalar::Undef => Lane::undef(width),
            Scalar::Null if *ty == Type::Ptr => Lane::pointer(Pointer::NULL),
            Scalar::Pointer(place) if *ty == Type::Ptr => Lane::pointer(self.pointer(place)?),
            Scalar::Bits(0) if *ty == Type::Ptr => Lane::pointer(Pointer::NULL),
            Scalar::Bits(bits) if *ty != Type::Ptr && fits(*bits, width) => Lane::int(bits & ones(width)),
            _ => return Err(bad()),
        }))
    }

    /// Does memory of the input lead to an object?
    pub(super) fn points_to(&self, object: Object) -> bool {
        let blocks = self.input.memory.iter().map(|block| &block.bytes);
        let cells = blocks.chain(self.input.globals.values()).flat_map(|bytes| &bytes.0);
        let mut places = cells.filter_map(|cell| if let Cell::Pointer(place) = cell { Some(place) } else { None });
        places.any(|place| self.pointer(place).is_ok_and(|pointer| pointer.object == object))
    }
}
