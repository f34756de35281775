//! Conditions of a rule, and facts, for the solver.
//!
//! The terms of a condition are computed while matching: where one has no value, the condition does not hold. A fact
//! means its `spec`; of one without, nothing is known but that it holds or not of the same operands alike.

use super::{Encoded, Encoder, OutOfScope, Scope, Symbolic};
use crate::typing::{fact_types, type_of};
use rewright_dsl::program::{FactId, Guard};
use rewright_smt::{Expr, Sort};
use rewright_typeprop::Term;

impl Encoder<'_> {
    /// Does a condition hold, with all that is computed for it having a value?
    pub(super) fn guard(&mut self, guard: &Guard, scope: Scope<'_>) -> Encoded<Expr> {
        let outside = std::mem::take(&mut self.defined);
        let inner = Scope { strict: true, outer: false, ..scope };
        let holds = match guard {
            Guard::Holds(term) => {
                let value = self.term(term, inner)?;
                self.s.nonzero(value.bits)
            }
            Guard::Compare { equal, left, right } => {
                let (left, right) = (self.term(left, inner)?, self.term(right, inner)?);
                let same = self.identical(left, right);
                if *equal { same } else { self.s.not(same) }
            }
            Guard::Class { same: true, left, right } => {
                let scope = Scope { outer: false, ..scope };
                let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
                if left.bits.sort() == Sort::Memory {
                    return Err(OutOfScope("a condition that two states are the same".into()));
                }
                self.identical(left, right)
            }
            Guard::Class { same: false, .. } => Expr::TRUE,
            Guard::Not(inner) => {
                let holds = self.guard(inner, scope)?;
                self.s.not(holds)
            }
            Guard::Or(a, b) => {
                let (a, b) = (self.guard(a, scope)?, self.guard(b, scope)?);
                self.s.or(&[a, b])
            }
            Guard::Fact(fact, args) => self.fact(*fact, args, Scope { outer: false, ..scope })?.0,
            Guard::Is(..) => return Err(OutOfScope("a condition `is` on the type of a class".into())),
        };
        let mut all = std::mem::replace(&mut self.defined, outside);
        all.push(holds);
        Ok(self.s.and(&all))
    }

    /// Does a fact hold, and is that open?
    pub(super) fn fact(&mut self, id: FactId, args: &[Term], scope: Scope<'_>) -> Encoded<(Expr, Expr)> {
        let program = self.program;
        let fact = &program.facts[id.0 as usize];
        let values = args.iter().map(|a| self.term(a, scope)).collect::<Encoded<Vec<_>>>()?;
        let Some(spec) = &fact.spec else {
            self.uninterpreted.get_or_insert_with(|| format!("fact `{}` has no `spec`", fact.name));
            let bits: Vec<Expr> = values.iter().flat_map(Symbolic::parts).collect();
            let sorts: Vec<String> = bits.iter().map(|e| self.s.sort_text(e.sort())).collect();
            let name = format!("fact {} {}", fact.name, sorts.join(" ")).replace('|', "/");
            return Ok((self.s.unknown(&name, &bits, Sort::Bool), Expr::FALSE));
        };
        let own = fact_types(fact, args.iter().map(|arg| type_of(program, arg, self.rule, scope.targs)));
        let vars: Vec<Vec<Symbolic>> = values.into_iter().map(|value| vec![value]).collect();
        let value = self.term(spec, Scope { targs: &own, vars: &vars, lane: 0, strict: false, outer: false })?;
        Ok((self.s.nonzero(value.bits), value.open))
    }
}
