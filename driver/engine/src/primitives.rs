//! The primitives that rules call, and what they share with the engine.

use super::meter::{Charge, Meter};
use egglog::constraint::{SimpleTypeConstraint, TypeConstraint};
use egglog::prelude::{BaseSort, I64Sort, Span, UnitSort};
use egglog::{Core, EGraph, Primitive, PurePrim, PureState, Value};
use rewright_dsl::egglog::print::SPEND;
use rewright_dsl::egglog::{EgglogProgram, PrimitiveKind, TYPE_MASK};
use rewright_dsl::program::Program;
use rewright_typeprop::eval::evaluate_words;
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{Evaluation, Repr, Ty, TypeStore};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// What primitives and the engine share. One thread uses them at a time, so the lock is never waited for.
pub(super) struct Shared {
    source: Arc<Program>,
    program: Arc<EgglogProgram>,
    state: Mutex<State>,
}

/// A primitive's position and arguments -> its result.
pub(super) type Calls = BTreeMap<(usize, SmallVec<[i64; 4]>), i64>;

#[derive(Default)]
struct State {
    types: TypeStore,
    below: FxHashMap<(Ty, Ty), bool>,
    meter: Meter,
    /// Calls that succeeded, where they are recorded.
    calls: Option<Calls>,
}

impl Shared {
    pub(super) fn new(program: &Arc<EgglogProgram>, source: &Arc<Program>) -> Self {
        let state = State { types: source.universe.types.clone(), meter: Meter::new(program), ..State::default() };
        Shared { source: source.clone(), program: program.clone(), state: Mutex::new(state) }
    }

    /// Before a run: the input's types.
    pub(super) fn begin(&self, types: &TypeStore, record: bool) {
        let mut state = self.lock();
        state.types = types.clone();
        state.below.clear();
        state.calls = record.then(Calls::new);
    }

    /// Is this a run that records?
    pub(super) fn records(&self) -> bool {
        self.lock().calls.is_some()
    }

    /// After a run that recorded.
    pub(super) fn end(&self) -> Calls {
        self.lock().calls.take().unwrap_or_default()
    }

    pub(super) fn meter<R>(&self, f: impl FnOnce(&mut Meter) -> R) -> R {
        f(&mut self.lock().meter)
    }

    pub(super) fn source(&self) -> &Program {
        &self.source
    }

    /// Asks the input's types; asking may intern, which changes nothing that anyone sees.
    pub(super) fn types<R>(&self, f: impl FnOnce(&mut TypeStore) -> R) -> R {
        f(&mut self.lock().types)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while it was held would be a bug; the data is counters and copies, valid at any time.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn call(&self, index: usize, args: &[i64]) -> Option<i64> {
        let mut state = self.lock();
        let result = self.compute(&mut state, &self.program.primitives[index].kind, args)?;
        if let Some(calls) = &mut state.calls {
            calls.insert((index, args.into()), result);
        }
        Some(result)
    }

    fn compute(&self, state: &mut State, kind: &PrimitiveKind, args: &[i64]) -> Option<i64> {
        let types = &mut state.types;
        let column = |args: &[i64]| args.first().map(|t| (Ty((t & TYPE_MASK) as u32), t & !TYPE_MASK));
        match kind {
            PrimitiveKind::Eval(op) => {
                let universe = &self.source.universe;
                let (targs, values) = args.split_at_checked(universe.ops.get(*op).tparams.len())?;
                let reprs: SmallVec<[Option<Repr>; 4]> =
                    targs.iter().map(|t| types.repr(Ty((t & TYPE_MASK) as u32))).collect();
                match evaluate_words(universe, *op, &reprs, values) {
                    Evaluation::Value(value) => Some(value),
                    Evaluation::Nan | Evaluation::Undefined => None,
                }
            }
            PrimitiveKind::Subtype(bound) => {
                let (ty, _) = column(args)?;
                let below = *state.below.entry((ty, *bound)).or_insert_with(|| types.is_subtype(ty, *bound));
                below.then_some(1)
            }
            PrimitiveKind::TypeArg(decl, i) => {
                let (ty, unit) = column(args)?;
                argument(types, ty, *decl, *i).map(|arg| unit | i64::from(arg.0))
            }
            PrimitiveKind::SuperArg(decl, i) => {
                let (ty, unit) = column(args)?;
                let mut at = Some(ty);
                while let Some(ty) = at {
                    if let Some(arg) = argument(types, ty, *decl, *i) {
                        return Some(unit | i64::from(arg.0));
                    }
                    at = types.supertype(ty);
                }
                None
            }
            PrimitiveKind::TypeApp(decl) => {
                let (_, unit) = column(args)?;
                let args = args.iter().map(|t| Ty((t & TYPE_MASK) as u32)).collect();
                types.find_data(&TypeData::App(*decl, args)).map(|ty| unit | i64::from(ty.0))
            }
            PrimitiveKind::Supertype => {
                let (ty, unit) = column(args)?;
                types.supertype(ty).map(|sup| unit | i64::from(sup.0))
            }
            PrimitiveKind::Bare => {
                let (ty, unit) = column(args)?;
                let TypeData::App(decl, args) = types.data(ty) else { return None };
                let bare = TypeData::App(*decl, SmallVec::new());
                if args.is_empty() { None } else { types.find_data(&bare).map(|ty| unit | i64::from(ty.0)) }
            }
        }
    }
}

fn argument(types: &TypeStore, ty: Ty, decl: rewright_typeprop::types::TypeDeclId, i: u32) -> Option<Ty> {
    match types.data(ty) {
        TypeData::App(d, args) if *d == decl => {
            args.get(i as usize).copied().filter(|arg| *types.data(*arg) != TypeData::Open)
        }
        _ => None,
    }
}

/// Registers all primitives of a program.
pub(super) fn register(egraph: &mut EGraph, program: &EgglogProgram, shared: &Arc<Shared>) {
    for (index, primitive) in program.primitives.iter().enumerate() {
        let function =
            Function { name: primitive.name.clone().into(), arity: primitive.arity, index, shared: shared.clone() };
        egraph.add_pure_primitive(function, None);
    }
    egraph.add_pure_primitive(Spend { shared: shared.clone() }, None);
}

/// A [`PrimitiveKind`]: numbers to a number.
#[derive(Clone)]
struct Function {
    name: Arc<str>,
    arity: usize,
    index: usize,
    shared: Arc<Shared>,
}

impl Primitive for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn get_type_constraints(&self, span: &Span) -> Box<dyn TypeConstraint> {
        let sorts = vec![I64Sort.to_arcsort(); self.arity + 1];
        SimpleTypeConstraint::new(self.name(), sorts, span.clone()).into_box()
    }
}

impl PurePrim for Function {
    fn apply<'a, 'db>(&self, state: PureState<'a, 'db>, args: &[Value]) -> Option<Value> {
        let args: SmallVec<[i64; 4]> = args.iter().map(|value| state.value_to_base(*value)).collect();
        let result = self.shared.call(self.index, &args)?;
        Some(state.base_to_value(result))
    }
}

/// `(spend column rule)`: charges a match, fails when nothing is left.
#[derive(Clone)]
struct Spend {
    shared: Arc<Shared>,
}

impl Primitive for Spend {
    fn name(&self) -> &str {
        SPEND
    }

    fn get_type_constraints(&self, span: &Span) -> Box<dyn TypeConstraint> {
        let sorts = vec![I64Sort.to_arcsort(), I64Sort.to_arcsort(), UnitSort.to_arcsort()];
        SimpleTypeConstraint::new(self.name(), sorts, span.clone()).into_box()
    }
}

impl PurePrim for Spend {
    fn apply<'a, 'db>(&self, state: PureState<'a, 'db>, args: &[Value]) -> Option<Value> {
        let [column, rule] = args else { return None };
        let unit = state.value_to_base::<i64>(*column) >> rewright_dsl::egglog::TYPE_BITS;
        let rule = state.value_to_base::<i64>(*rule);
        match self.shared.meter(|meter| meter.charge(unit as usize, rule as usize)) {
            Charge::Granted => Some(state.base_to_value(())),
            Charge::Refused => None,
            Charge::Stop => {
                state.trigger_early_stop();
                None
            }
        }
    }
}
