//! Which lanes of vectors a rule is encoded at, and what tells them apart.
//!
//! Most operations work on each lane by itself, so one lane stands for all, and a vector's variable is one value.
//! Where an operation of the rule mixes lanes or accesses vectors in memory, a vector's variable has a value for each
//! lane, and the sides are compared lane by lane: a term is encoded at the lane of it that is asked for.

use super::{Encoded, Encoder, OutOfScope, Scope, Symbolic};
use crate::typing::Types;
use rewright_dsl::program::{Program, Rule};
use rewright_smt::{self as smt, Address, Expr};
use rewright_typeprop::eval::repr_of;
use rewright_typeprop::model::MemoryAccess;
use rewright_typeprop::{Model, Op, Repr, Scalar, Term, TypeExpr};

/// Does an operation of the rule tell lanes apart?
pub(super) fn are_told_apart(program: &Program, rule: &Rule, targs: Types<'_>) -> bool {
    let types = &program.universe.types;
    rule.terms().flat_map(Term::subterms).any(|term| {
        let Term::Call { op, targs: own, .. } = term else { return false };
        let decl = program.universe.ops.get(*op);
        let own: Vec<_> = own.iter().map(|ty| repr_of(types, ty, targs)).collect();
        let vector = |ty: &TypeExpr| repr_of(types, ty, &own).is_some_and(|repr| repr.lanes().is_some());
        let vectors = decl.params.iter().map(|p| &p.ty).chain(&decl.results).any(vector);
        vectors && decl.model.is_some_and(|model| model.mixes_lanes() || model.memory().is_some())
    })
}

/// The lane of an operand that a lane of the result is made of.
fn of_operand(model: Option<Model>, result: Option<Repr>, lane: u32) -> u32 {
    match (model, result.and_then(Repr::lanes)) {
        (Some(Model::SwidenHigh | Model::UwidenHigh), Some(lanes)) => lane + lanes,
        _ => lane,
    }
}

impl Encoder<'_> {
    /// How many lanes of a representation are encoded.
    pub(super) fn lanes(&self, repr: Option<Repr>) -> u32 {
        repr.and_then(Repr::lanes).filter(|_| self.tells_lanes).unwrap_or(1)
    }

    /// The operands of an operation, by the lane of its result.
    pub(super) fn operands(
        &mut self,
        decl: &Op,
        own: Types<'_>,
        args: &[Term],
        scope: Scope<'_>,
    ) -> Encoded<Vec<Symbolic>> {
        let result = decl.results.first().and_then(|ty| repr_of(&self.program.universe.types, ty, own));
        let lane = of_operand(decl.model, result, scope.lane);
        args.iter().map(|arg| self.term(arg, Scope { lane, ..scope })).collect()
    }

    /// What an operation gives whose result depends on the lane's place; `None`: it does not.
    pub(super) fn placed(
        &mut self,
        model: Model,
        params: &[Repr],
        result: Repr,
        args: &[Symbolic],
        lane: u32,
    ) -> Encoded<Option<Symbolic>> {
        let width = self.width(result)?;
        let word = Repr::Scalar(Scalar::I64);
        match (model, result, params) {
            (Model::ScalarToVector, Repr::Lanes(own, _), [Repr::Scalar(given)]) if own == *given => {
                let zero = Symbolic::known(self.s.bits(width, 0));
                Ok(Some(if lane == 0 { args[0] } else { zero }))
            }
            (Model::FromWords, Repr::Lanes(..), [low, high]) if [*low, *high] == [word, word] => {
                let both = self.s.concat(&[args[1].bits, args[0].bits]);
                if (lane + 1) * width > both.width() {
                    return Err(OutOfScope("a vector of more than two words".into()));
                }
                Ok(Some(Symbolic::known(self.s.extract(both, (lane + 1) * width - 1, lane * width))))
            }
            _ => Ok(None),
        }
    }

    /// A load, or a store; of a vector lane by lane.
    pub(super) fn access(
        &mut self,
        decl: &Op,
        own: Types<'_>,
        access: MemoryAccess,
        args: &[Term],
        state: Symbolic,
        scope: Scope<'_>,
    ) -> Encoded<Symbolic> {
        if self.shrink != 1 {
            return Err(OutOfScope("memory has bytes of 8 bits".into()));
        }
        let place = [&args[0], &args[args.len() - 1]];
        let [base, offset] = place.map(|arg| self.term(arg, scope));
        let (base, offset) = (base?, offset?);
        let address = Address::sum(&mut self.s, &[base.bits, offset.bits]);
        let ty = if access.store { decl.params.get(1).map(|p| &p.ty) } else { decl.results.first() };
        let ty = ty.ok_or_else(|| OutOfScope("a load without result".into()))?;
        let repr = repr_of(&self.program.universe.types, ty, own)
            .ok_or_else(|| OutOfScope("an access of no machine value".into()))?;
        self.record_access(decl, repr, access, &address, scope);
        let lane_bytes = u64::from(repr.bits() / 8);
        let mut opens = vec![base.open, offset.open, state.open];
        if !access.store {
            let here = address.plus(u64::from(scope.lane) * lane_bytes);
            let width = self.width(repr)?;
            let memory = state.provenance.filter(|_| repr == Repr::Pointer);
            let provenance = memory.map(|memory| smt::load(&mut self.s, memory, &here, access, width));
            let bits = smt::load(&mut self.s, state.bits, &here, access, width);
            return Ok(Symbolic { bits, nan: Expr::FALSE, open: self.s.or(&opens), provenance });
        }
        let (mut bits, mut provenance) = (state.bits, state.provenance);
        for lane in 0..self.lanes(Some(repr)) {
            let value = self.term(&args[1], Scope { lane, ..scope })?;
            opens.extend([value.open, value.nan]);
            let here = address.plus(u64::from(lane) * lane_bytes);
            // A value that is no pointer leaves that of the pointers in memory alone.
            if let Some((memory, own)) = provenance.zip(value.provenance) {
                provenance = Some(smt::store(&mut self.s, memory, &here, access, own));
            }
            bits = smt::store(&mut self.s, bits, &here, access, value.bits);
        }
        Ok(Symbolic { bits, nan: Expr::FALSE, open: self.s.or(&opens), provenance })
    }

    /// Adds the condition under which an access of a side traps: where one of its bytes cannot be accessed. Which bytes
    /// these are is unknown, but they are the same for all accesses.
    fn record_access(&mut self, decl: &Op, repr: Repr, access: MemoryAccess, address: &Address, scope: Scope<'_>) {
        if !scope.outer || scope.strict {
            return;
        }
        for _ in &decl.checks {
            let bytes = access.bits.unwrap_or(repr.total_bits()) / 8;
            for byte in 0..bytes {
                let address = address.plus(byte.into()).term(&mut self.s);
                let trap = self.s.unknown("no byte at", &[address], smt::Sort::Bool);
                self.traps.push(trap);
            }
        }
    }
}
