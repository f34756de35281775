//! Terms on concrete values, states among them: both sides of a rule as programs that run.
//!
//! Scalar operations mean what [`Model::eval`] says. Two things are added to it: memory, byte-addressed, with
//! pseudo-random bytes where nothing was stored; and the NaN that arithmetic makes. Its bits are open: it is [`Value::Nan`]
//! until something looks at its bits, and what does is [`Stop::Open`], a value that nobody can name.

use rewright_dsl::program::{Conclusion, Guard, Program, Rule};
use rewright_typeprop::eval::{literal, scalar_of};
use rewright_typeprop::{Model, OpId, Outcome, Scalar, Term, TypeExpr};
use std::collections::BTreeMap;

/// Byte-addressed memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Bytes(BTreeMap<u64, u8>);

impl Bytes {
    fn byte(&self, address: u64) -> u8 {
        self.0.get(&address).copied().unwrap_or_else(|| (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
    }

    fn load(&self, address: u64, bits: u32) -> u64 {
        (0..u64::from(bits / 8)).map(|i| u64::from(self.byte(address.wrapping_add(i))) << (8 * i)).sum()
    }

    /// Storing the byte that is there leaves the memory as it is, so that equal memories are equal values.
    fn store(&mut self, address: u64, bits: u32, value: u64) {
        for i in 0..u64::from(bits / 8) {
            let (at, byte) = (address.wrapping_add(i), (value >> (8 * i)) as u8);
            self.0.remove(&at);
            if self.byte(at) != byte {
                self.0.insert(at, byte);
            }
        }
    }
}

/// What a term is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A constant in canonical form.
    Bits(i64),
    /// Some NaN that arithmetic made.
    Nan,
    /// Memory.
    State(Bytes),
}

/// Why a term has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// Something looked at the bits of a NaN that arithmetic made.
    Open,
    /// The term has no meaning: a literal does not fit, or an operation has neither model nor spec.
    Meaningless,
}

type Evaluated = Result<Value, Stop>;

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
    pub targs: &'p [Option<Scalar>],
}

impl Concrete<'_> {
    /// Both sides at one assignment.
    pub(super) fn compare(&self, vars: &[Value]) -> Comparison {
        for guard in &self.rule.guards {
            match self.holds(guard, vars) {
                Ok(true) => {}
                Ok(false) | Err(Stop::Open) => return Comparison::Silent,
                Err(Stop::Meaningless) => return Comparison::Meaningless,
            }
        }
        match &self.rule.right {
            Conclusion::Equal(right) => {
                let right = self.term(right, self.targs, vars, false);
                let left = self.term(&self.rule.left[0], self.targs, vars, false);
                match (left, right) {
                    (Err(Stop::Meaningless), _) | (_, Err(Stop::Meaningless)) => Comparison::Meaningless,
                    // `eval` of what has no value does not match.
                    (_, Err(Stop::Open)) if self.computes() => Comparison::Silent,
                    (Err(Stop::Open), _) | (_, Err(Stop::Open)) => Comparison::Open,
                    (Ok(left), Ok(right)) if left == right => Comparison::Equal,
                    (Ok(left), Ok(right)) => {
                        let nan = |v: &Value| matches!(v, Value::Bits(b) if self.is_nan(*b));
                        match (&left, &right) {
                            (Value::Nan, other) | (other, Value::Nan) if nan(other) => Comparison::Open,
                            _ => Comparison::Different(left, right),
                        }
                    }
                }
            }
            Conclusion::Fact(fact, args) => match self.fact(*fact, args, vars) {
                Ok(true) => Comparison::Equal,
                Ok(false) => Comparison::Different(Value::Bits(0), Value::Bits(1)),
                Err(Stop::Open) => Comparison::Open,
                Err(Stop::Meaningless) => Comparison::Meaningless,
            },
        }
    }

    /// What is computed while matching.
    pub(super) fn computed(&self, term: &Term, vars: &[Value]) -> Option<Value> {
        self.term(term, self.targs, vars, true).ok()
    }

    fn computes(&self) -> bool {
        matches!(&self.rule.right, Conclusion::Equal(right) if has_eval(right))
    }

    /// Bits of the type of the left side.
    fn is_nan(&self, bits: i64) -> bool {
        match type_of(self.program, &self.rule.left[0], self.rule, self.targs) {
            Some(Scalar::F32) => f32::from_bits(bits as u32).is_nan(),
            Some(Scalar::F64) => f64::from_bits(bits as u64).is_nan(),
            _ => false,
        }
    }

    /// A term. `strict`: it is computed while matching, and a NaN that arithmetic makes ends that.
    fn term(&self, term: &Term, targs: &[Option<Scalar>], vars: &[Value], strict: bool) -> Evaluated {
        let universe = &self.program.universe;
        match term {
            Term::Var(n) => vars.get(*n as usize).cloned().ok_or(Stop::Meaningless),
            Term::Lit(lit, ty) => {
                let scalar = scalar_of(&universe.types, ty, targs).ok_or(Stop::Meaningless)?;
                literal(lit, scalar).map(Value::Bits).ok_or(Stop::Meaningless)
            }
            Term::Eval(inner) => self.term(inner, targs, vars, true),
            Term::Call { op, targs: own, args, state } => {
                let args = args.iter().map(|a| self.term(a, targs, vars, strict)).collect::<Result<Vec<_>, _>>()?;
                let own: Vec<_> = own.iter().map(|ty| scalar_of(&universe.types, ty, targs)).collect();
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

    fn apply(&self, op: OpId, own: &[Option<Scalar>], args: &[Value], strict: bool) -> Evaluated {
        let universe = &self.program.universe;
        let decl = universe.ops.get(op);
        let Some(model) = decl.model else {
            let spec = decl.spec.as_ref().ok_or(Stop::Meaningless)?;
            return self.term(spec, own, args, strict);
        };
        let scalar = |ty: &TypeExpr| scalar_of(&universe.types, ty, own).ok_or(Stop::Meaningless);
        let types = decl.params.iter().map(|p| scalar(&p.ty)).collect::<Result<Vec<_>, _>>()?;
        let result = scalar(decl.results.first().ok_or(Stop::Meaningless)?)?;
        if args.contains(&Value::Nan) {
            match model {
                Model::Select => {
                    let [Value::Bits(c), x, y] = args else { return Err(Stop::Meaningless) };
                    return Ok(if *c != 0 { x.clone() } else { y.clone() });
                }
                // Any NaN, negated, is any NaN.
                Model::Fneg => return Ok(Value::Nan),
                Model::Fabs | Model::Fcopysign | Model::Bitcast => return Err(Stop::Open),
                _ => {}
            }
        }
        let bits = args.iter().zip(&types).map(|(arg, ty)| match arg {
            Value::Bits(bits) => Ok(*bits),
            // Whichever NaN it is makes no difference to what is left.
            Value::Nan => Ok(rewright_cfg_skeleton::ir::interp::quiet_nan(*ty)),
            Value::State(_) => Err(Stop::Meaningless),
        });
        match model.eval(&types, result, &bits.collect::<Result<Vec<_>, _>>()?) {
            Outcome::Value(value) => Ok(Value::Bits(value)),
            Outcome::Nan => Ok(Value::Nan),
            Outcome::Undefined => Err(Stop::Meaningless),
        }
    }

    fn access(&self, op: OpId, own: &[Option<Scalar>], args: &[Value], state: Value) -> Evaluated {
        let universe = &self.program.universe;
        let decl = universe.ops.get(op);
        let Some(access) = decl.model.and_then(Model::memory) else { return Err(Stop::Meaningless) };
        let Value::State(mut memory) = state else { return Err(Stop::Meaningless) };
        let bits = |n: usize| match args.get(n) {
            Some(Value::Bits(bits)) => Ok(*bits),
            Some(Value::Nan) => Err(Stop::Open),
            _ => Err(Stop::Meaningless),
        };
        let address = (bits(0)? as u64).wrapping_add(bits(args.len() - 1)? as u64);
        let ty = if access.store { decl.params.get(1).map(|p| &p.ty) } else { decl.results.first() };
        let ty = ty.and_then(|ty| scalar_of(&universe.types, ty, own)).ok_or(Stop::Meaningless)?;
        let width = access.bits.unwrap_or(ty.bits());
        if access.store {
            memory.store(address, width, bits(1)? as u64);
            return Ok(Value::State(memory));
        }
        let raw = memory.load(address, width);
        let wide = if access.signed { (raw << (64 - width)) as i64 >> (64 - width) } else { raw as i64 };
        Ok(Value::Bits(ty.canonical(wide as u64)))
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
        let own = fact_types(self.program, fact, args, self.rule, self.targs);
        let args = args.iter().map(|a| self.term(a, self.targs, vars, false)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.term(spec, &own, &args, false)? != Value::Bits(0))
    }
}

/// What a fact's type parameters are where it is said of these terms.
pub(super) fn fact_types(
    program: &Program,
    fact: &rewright_dsl::program::Fact,
    args: &[Term],
    rule: &Rule,
    targs: &[Option<Scalar>],
) -> Vec<Option<Scalar>> {
    let mut own = vec![None; fact.tparams.len()];
    for (param, arg) in fact.params.iter().zip(args) {
        if let TypeExpr::Param(i) = param {
            own[*i as usize] = type_of(program, arg, rule, targs);
        }
    }
    own
}

/// The representation of a term's value; `None` for states and for types without one.
pub(super) fn type_of(program: &Program, term: &Term, rule: &Rule, targs: &[Option<Scalar>]) -> Option<Scalar> {
    use rewright_dsl::program::VarKind;
    let types = &program.universe.types;
    match term {
        Term::Var(n) => match &rule.vars.get(*n as usize)?.kind {
            VarKind::Value { ty, .. } => scalar_of(types, ty, targs),
            VarKind::State => None,
        },
        Term::Lit(_, ty) => scalar_of(types, ty, targs),
        Term::Eval(inner) => type_of(program, inner, rule, targs),
        Term::Call { op, targs: own, .. } => {
            let own: Vec<_> = own.iter().map(|ty| scalar_of(types, ty, targs)).collect();
            scalar_of(types, program.universe.ops.get(*op).results.first()?, &own)
        }
    }
}

pub(super) fn has_eval(term: &Term) -> bool {
    match term {
        Term::Eval(_) => true,
        Term::Call { args, .. } => args.iter().any(has_eval),
        Term::Var(_) | Term::Lit(..) => false,
    }
}
