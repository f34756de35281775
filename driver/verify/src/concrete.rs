//! Terms on concrete values, states among them: both sides of a rule as programs that run.
//!
//! Operations mean what [`Model::eval_at`] says: of a vector that is what one lane is, see [`super`]. Three things are
//! added to it: memory ([`Memory`]); the provenance of pointers; and the NaN that arithmetic makes. Its bits are open:
//! it is [`Value::Nan`] until an operation looks at its bits, and the result of that operation is [`Stop::Open`], an
//! unspecified value. Functions of an embedding program are called.

use super::memory::Memory;
use super::typing::{Origin, Types, fact_types, origin, type_of};
use rewright_dsl::program::{Conclusion, Guard, Program, Rule};
use rewright_typeprop::eval::{evaluate_at, literal, repr_of};
use rewright_typeprop::{Evaluation, Model, OpId, Repr, Term, TypeExpr, Universe};

/// What a term is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A value in canonical form, sign-extended; of a vector what a lane holds.
    Bits(i128),
    /// Some NaN that arithmetic made.
    Nan,
    /// A pointer: equal addresses do not make equal pointers.
    Pointer {
        /// In canonical form.
        address: i128,
        /// What it may be used for; 0: nothing.
        provenance: u64,
    },
    /// Memory.
    State(Memory),
}

impl Value {
    /// What arithmetic and comparisons see: a value's bits, a pointer's address.
    fn bits(&self) -> Result<i128, Stop> {
        match self {
            Value::Bits(bits) | Value::Pointer { address: bits, .. } => Ok(*bits),
            Value::Nan => Err(Stop::Open),
            Value::State(_) => Err(Stop::Meaningless),
        }
    }

    fn provenance(&self) -> u64 {
        if let Value::Pointer { provenance, .. } = self { *provenance } else { 0 }
    }

    fn of(repr: Repr, bits: i128, provenance: u64) -> Value {
        if repr == Repr::Pointer { Value::Pointer { address: bits, provenance } } else { Value::Bits(bits) }
    }
}

/// Why a term has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// Something looked at the bits of a NaN that arithmetic made.
    Open,
    /// A function has no value here.
    NoValue,
    /// The term has no meaning: a literal does not fit, or an operation has neither model nor spec.
    Meaningless,
}

/// What a term gives.
pub(super) type Evaluated = Result<Value, Stop>;

/// How two sides compare at one assignment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    /// The rule does not match there.
    Silent,
    /// Equal, or the fact holds.
    Equal,
    /// One side is an open NaN where the other has a value that may be it, or looks at the bits of one.
    Open,
    /// They differ: the two values.
    Different(Value, Value),
    /// Something has no meaning.
    Meaningless,
}

/// One instance of a rule.
#[derive(Clone, Copy)]
pub(super) struct Concrete<'p> {
    /// The program that it belongs to.
    pub program: &'p Program,
    /// The rule.
    pub rule: &'p Rule,
    /// What stands for its type parameters.
    pub targs: Types<'p>,
}

impl Concrete<'_> {
    /// Both sides at one assignment.
    pub(super) fn compare(&self, vars: &[Value]) -> Comparison {
        match self.matches(vars) {
            Ok(true) => {}
            Ok(false) | Err(Stop::Open | Stop::NoValue) => return Comparison::Silent,
            Err(Stop::Meaningless) => return Comparison::Meaningless,
        }
        match &self.rule.right {
            Conclusion::Equal(right) => {
                let [left, right] = [&self.rule.left[0], right].map(|side| self.term(side, self.targs, vars, false));
                self.judge(&left, &right)
            }
            Conclusion::Fact(fact, args) => match self.fact(*fact, args, vars) {
                Ok(true) => Comparison::Equal,
                Ok(false) => Comparison::Different(Value::Bits(0), Value::Bits(1)),
                Err(Stop::NoValue) => Comparison::Silent,
                Err(Stop::Open) => Comparison::Open,
                Err(Stop::Meaningless) => Comparison::Meaningless,
            },
        }
    }

    /// What the sides of an equality are where the rule matches.
    pub(super) fn sides(&self, vars: &[Value]) -> Option<[Evaluated; 2]> {
        let sides = self.equality()?;
        (self.matches(vars) == Ok(true)).then(|| sides.map(|side| self.term(side, self.targs, vars, false)))
    }

    /// Does an operation of the sides trap, or may it?
    pub(super) fn sides_trap(&self, vars: &[Value]) -> bool {
        self.equality().is_some_and(|sides| sides.iter().any(|side| self.traps(side, self.targs, vars)))
    }

    fn equality(&self) -> Option<[&Term; 2]> {
        match &self.rule.right {
            Conclusion::Equal(right) => Some([&self.rule.left[0], right]),
            Conclusion::Fact(..) => None,
        }
    }

    /// Do these sides agree?
    pub(super) fn judge(&self, left: &Evaluated, right: &Evaluated) -> Comparison {
        match (left, right) {
            (Err(Stop::Meaningless), _) | (_, Err(Stop::Meaningless)) => Comparison::Meaningless,
            (Err(Stop::NoValue), _) | (_, Err(Stop::NoValue)) => Comparison::Silent,
            // `eval` of what has no value does not match.
            (_, Err(Stop::Open)) if self.computes() => Comparison::Silent,
            (Err(Stop::Open), _) | (_, Err(Stop::Open)) => Comparison::Open,
            (Ok(left), Ok(right)) if left == right => Comparison::Equal,
            (Ok(left), Ok(right)) => {
                let nan = |v: &Value| matches!(v, Value::Bits(b) if self.is_nan(*b));
                match (left, right) {
                    (Value::Nan, other) | (other, Value::Nan) if nan(other) => Comparison::Open,
                    _ => Comparison::Different(left.clone(), right.clone()),
                }
            }
        }
    }

    fn matches(&self, vars: &[Value]) -> Result<bool, Stop> {
        for guard in &self.rule.guards {
            if !self.holds(guard, vars)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Does an operation of a term trap, or may it?
    fn traps(&self, term: &Term, targs: Types<'_>, vars: &[Value]) -> bool {
        if term.parts().any(|part| self.traps(part, targs, vars)) {
            return true;
        }
        let Term::Call { op, targs: own, args, .. } = term else { return false };
        let Universe { types, ops, .. } = &self.program.universe;
        let decl = ops.get(*op);
        let own: Vec<_> = own.iter().map(|ty| repr_of(types, ty, targs)).collect();
        let args = args.iter().map(|arg| self.term(arg, targs, vars, false)).collect::<Result<Vec<_>, _>>();
        let Ok(args) = args else { return !decl.checks.is_empty() };
        let is_met = |condition: &Term| self.term(condition, &own, &args, true) != Ok(Value::Bits(0));
        decl.checks.iter().any(|check| check.condition.as_ref().is_none_or(is_met))
            || decl.spec.as_ref().is_some_and(|spec| self.traps(spec, &own, &args))
    }

    /// What is computed while matching.
    pub(super) fn computed(&self, term: &Term, vars: &[Value]) -> Option<Value> {
        self.term(term, self.targs, vars, true).ok()
    }

    fn computes(&self) -> bool {
        let evaluates = |right: &Term| right.subterms().any(|part| matches!(part, Term::Eval(_)));
        matches!(&self.rule.right, Conclusion::Equal(right) if evaluates(right))
    }

    /// Are these the bits of a NaN, of the type of the left side?
    fn is_nan(&self, bits: i128) -> bool {
        type_of(self.program, &self.rule.left[0], self.rule, self.targs).is_some_and(|repr| repr.is_nan(bits))
    }

    /// A term. `strict`: it is computed while matching, and a NaN that arithmetic makes ends that.
    fn term(&self, term: &Term, targs: Types<'_>, vars: &[Value], strict: bool) -> Evaluated {
        let universe = &self.program.universe;
        match term {
            Term::Var(n) => vars.get(*n as usize).cloned().ok_or(Stop::Meaningless),
            Term::Lit(lit, ty) => {
                let repr = repr_of(&universe.types, ty, targs).ok_or(Stop::Meaningless)?;
                let n = literal(lit, repr.lane().ok_or(Stop::Meaningless)?).ok_or(Stop::Meaningless)?;
                Ok(Value::of(repr, n.into(), 0))
            }
            Term::Eval(inner) => self.term(inner, targs, vars, true),
            Term::Call { op, targs: own, args, state } => {
                let args = args.iter().map(|a| self.term(a, targs, vars, strict)).collect::<Result<Vec<_>, _>>()?;
                let own: Vec<_> = own.iter().map(|ty| repr_of(&universe.types, ty, targs)).collect();
                let value = match universe.ops.get(*op).model.and_then(Model::memory) {
                    Some(_) => {
                        let state = self.term(state.as_deref().ok_or(Stop::Meaningless)?, targs, vars, strict)?;
                        self.access(*op, &own, &args, state)?
                    }
                    None => self.apply(*op, &own, &args, strict)?,
                };
                if strict && value == Value::Nan { Err(Stop::Open) } else { Ok(value) }
            }
        }
    }

    fn apply(&self, op: OpId, own: Types<'_>, args: &[Value], strict: bool) -> Evaluated {
        let universe = &self.program.universe;
        let decl = universe.ops.get(op);
        let repr = |ty: &TypeExpr| repr_of(&universe.types, ty, own).ok_or(Stop::Meaningless);
        let Some(model) = decl.model else {
            return match &decl.spec {
                Some(spec) => self.term(spec, own, args, strict),
                None => self.host(op, own, args),
            };
        };
        let types = decl.params.iter().map(|p| repr(&p.ty)).collect::<Result<Vec<_>, _>>()?;
        let result = repr(decl.results.first().ok_or(Stop::Meaningless)?)?;
        if args.contains(&Value::Nan) {
            match model {
                Model::Select => return chosen(args),
                // Any NaN, negated, is any NaN.
                Model::Fneg | Model::Splat => return Ok(Value::Nan),
                model if model.sees_nan_bits() => return Err(Stop::Open),
                _ => {}
            }
        }
        let bits = args.iter().zip(&types).map(|(arg, ty)| match arg {
            // Whichever NaN it is makes no difference to what is left.
            Value::Nan => Ok(quiet_nan(*ty)),
            other => other.bits(),
        });
        let outcome = model.eval_at(&types, result, &bits.collect::<Result<Vec<_>, _>>()?);
        if outcome == Evaluation::Undefined && model.mixes_lanes() && model.is_defined_at(&types, result) {
            // Its lanes differ.
            return Err(Stop::NoValue);
        }
        let value = named(outcome)?;
        let Value::Bits(address) = value else { return Ok(value) };
        let provenance = match origin(model, &types) {
            Origin::Chosen => chosen(args)?.provenance(),
            Origin::Operand(at) => args[at].provenance(),
            Origin::Unclear if result == Repr::Pointer => return Err(Stop::Meaningless),
            Origin::Nowhere | Origin::Unclear => 0,
        };
        Ok(Value::of(result, address, provenance))
    }

    /// What a function of a library or of an embedding program gives.
    fn host(&self, op: OpId, own: Types<'_>, args: &[Value]) -> Evaluated {
        let bits = args.iter().map(|arg| match arg {
            // No made-up address may be given to real code.
            Value::Pointer { .. } => Err(Stop::Meaningless),
            other => other.bits(),
        });
        let Universe { ops, hosts, .. } = &self.program.universe;
        let decl = ops.get(op);
        let is_there = [&decl.unique, &decl.name].into_iter().any(|name| hosts.get(name).is_some());
        match evaluate_at(&self.program.universe, op, own, &bits.collect::<Result<Vec<_>, _>>()?) {
            Evaluation::Undefined if is_there => Err(Stop::NoValue),
            outcome => named(outcome),
        }
    }

    fn access(&self, op: OpId, own: Types<'_>, args: &[Value], state: Value) -> Evaluated {
        let universe = &self.program.universe;
        let decl = universe.ops.get(op);
        let Some(access) = decl.model.and_then(Model::memory) else { return Err(Stop::Meaningless) };
        let Value::State(mut memory) = state else { return Err(Stop::Meaningless) };
        let bits = |n: usize| args.get(n).ok_or(Stop::Meaningless)?.bits();
        let address = (bits(0)? as u64).wrapping_add(bits(args.len() - 1)? as u64);
        let ty = if access.store { decl.params.get(1).map(|p| &p.ty) } else { decl.results.first() };
        let repr = ty.and_then(|ty| repr_of(&universe.types, ty, own)).ok_or(Stop::Meaningless)?;
        let width = access.bits.unwrap_or(repr.bits());
        let lanes = (0..repr.lanes().unwrap_or(1)).map(|lane| address.wrapping_add(u64::from(lane * width / 8)));
        if access.store {
            let stored = bits(1)? as u128;
            lanes.for_each(|lane| memory.bytes.store(lane, width, stored));
            if repr == Repr::Pointer {
                memory.provenance.store(address, width, args[1].provenance().into());
            }
            return Ok(Value::State(memory));
        }
        let raw = memory.bytes.load(address, width);
        // A vector with several values has no value here.
        if lanes.into_iter().any(|lane| memory.bytes.load(lane, width) != raw) {
            return Err(Stop::NoValue);
        }
        let unused = 128 - width;
        let wide = if access.signed { (raw << unused) as i128 >> unused } else { raw as i128 };
        Ok(Value::of(repr, repr.canonical(wide as u128), memory.provenance.load(address, width) as u64))
    }

    fn holds(&self, guard: &Guard, vars: &[Value]) -> Result<bool, Stop> {
        let strict = |term: &Term| self.term(term, self.targs, vars, true);
        Ok(match guard {
            Guard::Holds(term) => strict(term)? != Value::Bits(0),
            Guard::Compare { equal, left, right } => (strict(left)? == strict(right)?) == *equal,
            Guard::Class { same: true, left, right } => {
                self.term(left, self.targs, vars, false)? == self.term(right, self.targs, vars, false)?
            }
            // Different classes may well have equal values.
            Guard::Class { same: false, .. } => true,
            Guard::Not(inner) => !self.holds(inner, vars)?,
            Guard::Or(a, b) => self.holds(a, vars) == Ok(true) || self.holds(b, vars)?,
            Guard::Fact(fact, args) => self.fact(*fact, args, vars)?,
            Guard::Is(..) => return Err(Stop::Meaningless),
        })
    }

    fn fact(&self, fact: rewright_dsl::program::FactId, args: &[Term], vars: &[Value]) -> Result<bool, Stop> {
        let fact = &self.program.facts[fact.0 as usize];
        let spec = fact.spec.as_ref().ok_or(Stop::Meaningless)?;
        let own = fact_types(fact, args.iter().map(|arg| type_of(self.program, arg, self.rule, self.targs)));
        let args = args.iter().map(|a| self.term(a, self.targs, vars, false)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.term(spec, &own, &args, false)? != Value::Bits(0))
    }
}

/// What a choice gives, whatever is to be chosen from.
fn chosen(args: &[Value]) -> Evaluated {
    let [condition, x, y] = args else { return Err(Stop::Meaningless) };
    Ok(if condition.bits()? != 0 { x.clone() } else { y.clone() })
}

/// The NaN with the sign clear and the first bit of the payload set.
fn quiet_nan(repr: Repr) -> i128 {
    let significand = match repr.bits() {
        16 => 10,
        32 => 23,
        64 => 52,
        _ => 112,
    };
    let magnitude = (1u128 << (repr.bits() - 1)) - 1;
    repr.canonical(magnitude & !((1 << (significand - 1)) - 1))
}

fn named(outcome: Evaluation<i128>) -> Evaluated {
    match outcome {
        Evaluation::Value(value) => Ok(Value::Bits(value)),
        Evaluation::Nan => Ok(Value::Nan),
        Evaluation::Undefined => Err(Stop::Meaningless),
    }
}
