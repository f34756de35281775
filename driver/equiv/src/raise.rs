//! Functions as nests, where loops count and addresses are affine.
//!
//! [`raise`] follows the blocks of a [`Function`] in the order in which they are executed. A loop becomes a `for` if one
//! branch leaves it, on a comparison of a counter with a value that the loop does not change; a branch on sizes and
//! counters becomes a loop that runs at most once. An address is a parameter of the function and a polynomial in bytes;
//! the array behind a parameter has one dimension, because how many it has in the source is not said anywhere.
//!
//! Nests count in the integers, functions modulo powers of two. So an integer is a polynomial only if it is *shown* to be
//! in the range of its type whenever it is computed ([`facts`]); others are data, or, in addresses, known modulo 2^64.
//! Where a fact that is needed is not shown, there is no nest, or it is left to the caller: [`Raised::accesses`] says of
//! each access whether its offset is known to be in range, and what promises its address rests on.
//!
//! Promises (flags that make poison) are not used as facts. A promise of the second one of two versions is shown, or
//! stays with the operation as a part of its name.

mod access;
mod blocks;
mod control;
mod counting;
mod data;
mod facts;
mod integer;
mod loops;
mod scalar;
mod trips;

use facts::Facts;
use rewright_cfg_skeleton::ir::{BlockId, Cfg, Definition, Function, InstId, Terminator, Value, definitions};
use rewright_cfg_skeleton::nest::value::Value as Node;
use rewright_cfg_skeleton::nest::{
    Affine, Array, ArrayId, Confirmation, Constraint, Item, Line, LoadId, Names, Nest, Origin, Pool, Size, ValueId, Var,
};
use rewright_typeprop::{Scalar, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use scalar::{Need, Val};

pub(crate) use access::{Accessed, unguarded, within};
pub(crate) use blocks::{Block, BlockOperand, Elements, elements};

/// Why a function is no nest.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoNest(pub(crate) String);

/// The flag of an instruction that is poison for some operands, and is raised as the total operation that agrees with it for all
/// others.
pub(crate) const PARTIAL: &str = "defined";

impl From<&str> for NoNest {
    fn from(reason: &str) -> Self {
        NoNest(reason.to_string())
    }
}

/// What a front end knows beside the function.
pub(crate) trait Source {
    /// The promises of an instruction, as LLVM spells them: `nsw`, `inbounds`; and [`PARTIAL`].
    fn promises(&self, inst: InstId) -> Vec<String>;

    /// The address of a load or store as the text has it; `None` where the instruction has it itself.
    fn address(&self, inst: InstId) -> Option<Value>;

    /// What an instruction that only the front end knows sets or copies; the reason where its text says more of that than
    /// nests do.
    fn block(&self, inst: InstId) -> Option<Result<Block, String>>;

    /// Whether a value is an address, by its type.
    fn is_address(&self, value: Value) -> bool;

    /// A parameter's name.
    fn name(&self, parameter: usize) -> String;

    /// A parameter that other values than numbers may come in: poison, what is undefined.
    fn may_be_poison(&self, parameter: usize) -> bool;

    /// Whether what may trap is undefined: a division by zero.
    fn traps_are_undefined(&self) -> bool;
}

/// A function as a nest, and what the nest rests on.
#[derive(Debug)]
pub(crate) struct Raised {
    /// The nest.
    pub(crate) nest: Nest,
    /// Loads, in the loops of the nest, of what promises of accesses say is within the object.
    pub(crate) promised: Vec<Item>,
    /// What is known of its loads and stores.
    pub(crate) accesses: Vec<Accessed>,
    /// Parameters that bounds and subscripts depend on, by position.
    pub(crate) counted: Vec<u32>,
    /// Operations whose result is not determined by their operands, by name.
    pub(crate) loose: Vec<String>,
    /// Parameters of the first version from which blocks of elements with several bytes are copied, byte by byte.
    pub(crate) copied: Vec<u32>,
}

/// Which version it is, and for what sizes.
pub(crate) struct Scope<'a> {
    /// Of the second one of two versions promises are to be shown.
    pub(crate) is_second: bool,
    /// Sizes are at most this.
    pub(crate) most: Option<i128>,
    /// What confirms the claims that are shown.
    pub(crate) confirmation: Confirmation,
    /// The elements that loads and stores of the versions access.
    pub(crate) elements: &'a Elements,
}

type Found<T> = Result<T, NoNest>;

/// A function as a nest.
///
/// # Errors
/// Why it is no nest.
pub(crate) fn raise(
    function: &Function,
    universe: &Universe,
    source: &dyn Source,
    scope: Scope<'_>,
    (pool, names): (&mut Pool, &mut Names),
) -> Found<Raised> {
    let function = loops::with_latches(function);
    let cfg = Cfg::new(&function);
    if function.layout.iter().any(|block| cfg.is_irreducible(*block)) {
        return Err("it has a loop that can be entered at several places".into());
    }
    let definition = definitions(&function);
    let counted = scalar::counted(&function, universe, source, &definition);
    let raiser = Raiser {
        env: vec![None; function.values.len()],
        function: &function,
        universe,
        cfg,
        definition,
        source,
        is_second: scope.is_second,
        copies: 0,
        pool,
        names,
        facts: Facts::new(scope.confirmation),
        counted,
        arrays: vec![],
        array_of: FxHashMap::default(),
        accesses: vec![],
        notes: FxHashSet::default(),
        loose: vec![],
        elements: scope.elements,
        copied: vec![],
    };
    raiser.nest(scope.most)
}

/// Builds a nest.
struct Raiser<'a> {
    function: &'a Function,
    universe: &'a Universe,
    cfg: Cfg,
    definition: Vec<Option<Definition>>,
    source: &'a dyn Source,
    is_second: bool,
    /// How often what follows a branch was copied into its arms.
    copies: usize,
    pool: &'a mut Pool,
    names: &'a mut Names,
    facts: Facts,
    /// What values are where the walk is.
    env: Vec<Option<Val>>,
    /// Values on which bounds and addresses depend.
    counted: Vec<bool>,
    arrays: Vec<Array>,
    /// Arrays by the parameter that points to them.
    array_of: FxHashMap<u32, ArrayId>,
    accesses: Vec<Accessed>,
    /// Loads that are none.
    notes: FxHashSet<LoadId>,
    loose: Vec<String>,
    elements: &'a Elements,
    copied: Vec<u32>,
}

/// Items of nests have no lines: what stands where in the text is not known.
const NO_LINE: Line = 0;

impl Raiser<'_> {
    fn nest(mut self, most: Option<i128>) -> Found<Raised> {
        let params = self.function.block(self.function.entry()).params.clone();
        let pointers = self.pointers(&params);
        let (mut sizes, mut arguments, mut positions) = (vec![], vec![], vec![]);
        for (position, param) in (0u32..).zip(&params) {
            if pointers[position as usize] {
                self.argument(position);
            }
            let scalar = self.universe.types.scalar(self.function.ty(*param));
            arguments.push(self.universe.types.display(self.function.ty(*param)));
            let val = match scalar {
                _ if pointers[position as usize] => Val::pointer(position),
                Some(scalar) if scalar.is_int() && self.counted[param.index()] => {
                    let var = Var(position);
                    let name = self.source.name(position as usize);
                    sizes.push(Size { var, name, origin: Origin::Argument(position, Some(scalar.bits())) });
                    positions.push(position);
                    self.facts.size(var, scalar.bits());
                    self.facts.assume(
                        &most
                            .map(|most| Constraint::at_least(&Affine::constant(most), &Affine::var(var)))
                            .into_iter()
                            .collect::<Vec<_>>(),
                    );
                    Val::Int(Affine::var(var), scalar.bits())
                }
                _ => Val::Data(self.pool.add(Node::Argument(position))),
            };
            self.env[param.index()] = Some(val);
        }
        let mut items = vec![];
        let results = self.body(&mut items)?;
        let Raiser { arrays, accesses, notes, mut loose, copied, function, .. } = self;
        let promised = access::noted(&items, &notes, true);
        let items = access::noted(&items, &notes, false);
        loose.sort();
        loose.dedup();
        let name = function.name.clone();
        let nest = Nest {
            name,
            arguments,
            sizes,
            arrays,
            items,
            results,
            lines: FxHashMap::default(),
            parallel: vec![],
            has_views: false,
            checked: None,
        };
        Ok(Raised { nest, promised, accesses, counted: positions, loose, copied })
    }

    /// From the entry to the one return.
    fn body(&mut self, items: &mut Vec<Item>) -> Found<Vec<ValueId>> {
        let last = self.blocks(self.function.entry(), control::End::Return, items)?;
        let Terminator::Return(values) = &self.function.block(last).term else {
            return Err("it does not return".into());
        };
        values.iter().map(|value| self.data(*value)).collect()
    }

    /// What a value is here.
    fn val(&mut self, value: Value) -> Found<Val> {
        match self.env[value.index()].clone() {
            None => Err("a value is used behind the loop or the branch that computes it".into()),
            Some(Val::Int(e, bits)) => Ok(Val::Int(self.facts.simplified(&e), bits)),
            // Where it is used it may be in range.
            Some(Val::Modular(e)) if self.facts.fits(&e, 64) => Ok(Val::Int(e, 64)),
            Some(Val::Provided(needs, e, bits)) => match self.is_met(&needs) {
                true => Ok(Val::Int(self.facts.simplified(&e), bits)),
                false => {
                    Err("a quotient of what may be negative, or a promise of the second version, that is not shown \
                              where it is used"
                        .into())
                }
            },
            Some(val) => Ok(val),
        }
    }

    fn is_met(&mut self, needs: &[Need]) -> bool {
        needs.iter().all(|need| match need {
            Need::Fact(fact) => self.facts.show(fact),
            Need::Fits(e, bits) => self.facts.fits(e, *bits),
        })
    }

    fn scalar(&self, value: Value) -> Found<Scalar> {
        let ty = self.function.ty(value);
        let shown = || NoNest(format!("a value of type {}", self.universe.types.display(ty)));
        self.universe.types.scalar(ty).ok_or_else(shown)
    }

    /// The block that defines a value.
    fn home(&self, value: Value) -> Option<BlockId> {
        self.definition[value.index()].map(Definition::block)
    }
}

/// The type's name in a nest.
fn type_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 => "i8",
        Scalar::I16 => "i16",
        Scalar::I32 => "i32",
        Scalar::I64 => "i64",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
    }
}
