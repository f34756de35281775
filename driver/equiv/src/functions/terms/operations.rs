//! What instructions do, as terms.

use super::executor::Executor;
use super::{Promise, Symbolic, Terms};
use crate::not_modelled::NotModelled;
use rewright_cfg_skeleton::ir::{Access, Inst, InstKind, OpaqueEffects};
use rewright_smt::{self as smt, Address, Expr, Script, Sort};
use rewright_typeprop::eval::{literal, repr_of};
use rewright_typeprop::model::{MemoryAccess, Repr};
use rewright_typeprop::term::{Literal, Term};
use rewright_typeprop::{Model, Op, OpId, Ty};

impl Executor<'_, '_> {
    /// Executes an instruction.
    pub(super) fn inst(&mut self, inst: &Inst) -> Terms<()> {
        let args = inst.args.iter().map(|arg| self.value(*arg)).collect::<Terms<Vec<_>>>()?;
        match &inst.kind {
            InstKind::Const(n) => {
                let [result] = inst.results.as_slice() else { return Err("a constant without a value".into()) };
                let repr = self.repr(*result)?;
                let bits = self.s.bits(repr.bits(), repr.zero_extended((*n).into()));
                self.values.insert(*result, Symbolic { bits, nan: Expr::FALSE });
                Ok(())
            }
            InstKind::Check { code, when } => {
                let set = self.s.nonzero(args[0].bits);
                let traps = if *when { set } else { self.s.not(set) };
                let code = self.s.bits(32, (*code).into());
                self.trap(traps, code);
                Ok(())
            }
            InstKind::Opaque { payload, effects } => {
                let text = (self.version.opaque)(*payload);
                match effects {
                    OpaqueEffects::Pure => self.unknown(inst, &text, &args),
                    effects => self.event(inst, &text, *effects, &args),
                }
            }
            InstKind::Op { op, targs, access } => self.op(inst, *op, targs, *access, &args),
        }
    }

    fn op(&mut self, inst: &Inst, id: OpId, targs: &[Ty], access: Option<Access>, args: &[Symbolic]) -> Terms<()> {
        let op = self.version.universe.ops.get(id);
        let types = &self.version.universe.types;
        let own: Vec<Option<Repr>> = targs.iter().map(|ty| types.repr(*ty)).collect();
        let shown: Vec<String> = targs.iter().map(|ty| types.display(*ty)).collect();
        let text = format!("{}{{{}}}", op.unique, shown.join(", "));
        let vectors = own.iter().flatten().any(|repr| repr.lanes().is_some());
        if let (Some(memory), Some(access)) = (op.model.and_then(Model::memory), access) {
            // Of a vector there is one lane here, and all of them are in memory.
            if vectors {
                let effects = if memory.store { OpaqueEffects::Writes } else { OpaqueEffects::Observes };
                return self.event(inst, &format!("{text} {access:?}"), effects, args);
            }
            return self.access(inst, memory, access, args);
        }
        let has_meaning = op.model.is_some_and(|model| !(vectors && model.mixes_lanes())) || op.spec.is_some();
        if !has_meaning || !op.effects.is_value() || op.takes_state() {
            return match op.effects.is_pure() && op.checks.is_empty() {
                true => self.unknown(inst, &text, args),
                false => self.event(inst, &text, OpaqueEffects::Writes, args),
            };
        }
        for check in &op.checks {
            let traps = match &check.condition {
                Some(condition) => {
                    let value = self.term(condition, &own, args)?;
                    self.s.nonzero(value.bits)
                }
                // When it traps is unknown, but the same operation on the same operands traps alike.
                None => {
                    let bits: Vec<Expr> = args.iter().map(|a| a.bits).collect();
                    let name = format!("{} {own:?} traps with {}", op.unique, check.code);
                    self.s.unknown(&name, &bits, Sort::Bool)
                }
            };
            let code = self.s.bits(32, (self.version.trap_code)(&check.code).into());
            self.trap(traps, code);
        }
        let [result] = inst.results.as_slice() else { return Err(format!("`{}`", op.name).into()) };
        let value = self.meaning(op, &own, args)?;
        self.values.insert(*result, value);
        Ok(())
    }

    /// What an operation gives.
    fn meaning(&mut self, op: &Op, own: &[Option<Repr>], args: &[Symbolic]) -> Terms<Symbolic> {
        if let Some(spec) = &op.spec {
            return self.term(spec, own, args);
        }
        let none = || NotModelled::from(format!("`{}` at these types", op.name));
        let types = &self.version.universe.types;
        let model = op.model.ok_or_else(none)?;
        let params: Vec<Repr> =
            op.params.iter().map(|p| repr_of(types, &p.ty, own)).collect::<Option<_>>().ok_or_else(none)?;
        let result = op.results.first().and_then(|ty| repr_of(types, ty, own)).ok_or_else(none)?;
        let mixes = result.lanes().is_none() && params.iter().any(|repr| repr.lanes().is_some());
        if mixes || model.mixes_lanes() && result.lanes().is_some() || !model.is_defined_at(&params, result) {
            return Err(none());
        }
        let bits: Vec<Expr> = args.iter().map(|a| a.bits).collect();
        let meaning = smt::meaning(self.s, model, &bits, result.bits(), result.lanes().is_some()).ok_or_else(none)?;
        self.done.has_nan |= meaning.nan != Expr::FALSE;
        let nan = match model {
            Model::Select => {
                let chosen = self.s.nonzero(args[0].bits);
                self.s.choose(chosen, args[1].nan, args[2].nan)
            }
            // Any NaN, negated, is any NaN.
            Model::Fneg | Model::Splat => args[0].nan,
            _ => meaning.nan,
        };
        Ok(Symbolic { bits: meaning.bits, nan })
    }

    /// A term of a declaration.
    fn term(&mut self, term: &Term, own: &[Option<Repr>], vars: &[Symbolic]) -> Terms<Symbolic> {
        let types = &self.version.universe.types;
        match term {
            Term::Var(n) => vars.get(*n as usize).copied().ok_or_else(|| "an unbound variable".into()),
            Term::Eval(inner) => self.term(inner, own, vars),
            Term::Lit(lit, ty) => {
                let none = || NotModelled::from("a literal that is no machine value");
                let repr = repr_of(types, ty, own).ok_or_else(none)?;
                let value = match (repr.lane(), lit) {
                    (Some(lane), lit) => literal(lit, lane).map(|n| u128::from(lane.zero_extended(n))),
                    (None, Literal::Int(n)) => Some(*n as u128),
                    (None, _) => None,
                };
                let bits = self.s.bits(repr.bits(), value.ok_or_else(none)?);
                Ok(Symbolic { bits, nan: Expr::FALSE })
            }
            Term::Call { op, targs, args, state: None } => {
                let args = args.iter().map(|arg| self.term(arg, own, vars)).collect::<Terms<Vec<_>>>()?;
                let inner: Vec<Option<Repr>> = targs.iter().map(|ty| repr_of(types, ty, own)).collect();
                self.meaning(self.version.universe.ops.get(*op), &inner, &args)
            }
            Term::Call { state: Some(_), .. } => Err("a meaning that reads memory".into()),
        }
    }

    fn access(&mut self, inst: &Inst, memory: MemoryAccess, access: Access, args: &[Symbolic]) -> Terms<()> {
        let function = self.version.function;
        let (moved, offset) = match (memory.store, inst.args.as_slice(), inst.results.as_slice()) {
            (true, [_, value, _], []) => (*value, args[2]),
            (false, [_, _], [result]) => (*result, args[1]),
            _ => return Err("an access that is not declared as its model needs".into()),
        };
        let repr = self.repr(moved)?;
        let bytes = memory.bits.unwrap_or(repr.bits()) / 8;
        let address = Address::sum(self.s, &[args[0].bits, offset.bits]);
        let at = address.term(self.s);
        if let Some(code) = access.trap {
            let place = [at, self.done.trace];
            let mut traps = self.s.unknown(&format!("no {bytes} bytes at"), &place, Sort::Bool);
            if memory.store {
                // Memory that can be written can be read, and not the other way round.
                let constant = self.s.unknown(&format!("{bytes} constant bytes at"), &place, Sort::Bool);
                traps = self.s.or(&[traps, constant]);
            }
            let code = self.s.bits(32, code.into());
            self.trap(traps, code);
        }
        let Access { region, trap, movable, readonly, aligned } = access;
        if trap.is_none() || movable || readonly || aligned || region.index() != 0 {
            let name = function.regions.get(region.index()).cloned().unwrap_or_default();
            let flags = (name, trap.is_none(), movable, readonly, aligned);
            self.done.promises.push((Promise { store: memory.store, bytes, address: at, flags }, self.here));
        }
        if memory.store {
            let plain = MemoryAccess { store: false, bits: Some(bytes * 8), signed: false };
            let old = smt::load(self.s, self.done.memory, &address, plain, args[1].bits.width());
            let value = self.s.choose(self.here, args[1].bits, old);
            self.done.memory = smt::store(self.s, self.done.memory, &address, memory, value);
            self.written += &format!("{} to {bytes} bytes at {}; ", self.s.name(value), self.s.name(at));
        } else {
            let bits = smt::load(self.s, self.done.memory, &address, memory, repr.bits());
            self.values.insert(moved, Symbolic { bits, nan: Expr::FALSE });
        }
        Ok(())
    }

    /// An uninterpreted function of its operands. Of a vector only one lane is here, and the function may look at all
    /// of them: operands are then equal only if they are the same term.
    fn applied(&mut self, what: &str, inst: &Inst, more: &[Expr], args: &[Symbolic], sort: Sort) -> Terms<Expr> {
        let mut shapes = vec![];
        for value in inst.args.iter().chain(&inst.results) {
            shapes.push(self.repr(*value)?.lanes());
        }
        let lanes = shapes.iter().any(Option::is_some);
        let name = |s: &Script, e: &Expr| format!("{} {}", s.name(*e), s.sort_text(e.sort()));
        let all: Vec<Expr> = args.iter().map(|arg| arg.bits).chain(more.iter().copied()).collect();
        let shown: Vec<String> =
            all.iter().map(|e| if lanes { name(self.s, e) } else { self.s.sort_text(e.sort()) }).collect();
        let mut name = format!("{what} of {} as {}", shown.join(", "), self.s.sort_text(sort));
        if lanes {
            name += &format!(" in lanes {shapes:?}");
        }
        let name = name.replace(['|', '\\'], "/");
        Ok(self.s.unknown(&name, if lanes { &[] } else { &all }, sort))
    }

    /// An unknown pure instruction.
    fn unknown(&mut self, inst: &Inst, text: &str, args: &[Symbolic]) -> Terms<()> {
        for (n, result) in inst.results.iter().enumerate() {
            let sort = Sort::Bits(self.repr(*result)?.bits());
            let bits = self.applied(&format!("result {n} of {text}"), inst, &[], args, sort)?;
            self.values.insert(*result, Symbolic { bits, nan: Expr::FALSE });
        }
        Ok(())
    }

    /// An unknown instruction that stays in its place: it is identified by all that came before it.
    fn event(&mut self, inst: &Inst, text: &str, effects: OpaqueEffects, args: &[Symbolic]) -> Terms<()> {
        let text = format!("{text} on memory with {}", self.written);
        let (before, happens) = (self.done.trace, self.here);
        let after = self.applied(&format!("trace after {text}"), inst, &[before], args, Sort::Bits(64))?;
        self.done.trace = self.s.choose(happens, after, before);
        for (n, result) in inst.results.iter().enumerate() {
            let sort = Sort::Bits(self.repr(*result)?.bits());
            let bits = self.applied(&format!("result {n} of {text}"), inst, &[before], args, sort)?;
            self.values.insert(*result, Symbolic { bits, nan: Expr::FALSE });
        }
        if effects != OpaqueEffects::Pinned {
            let ends = self.s.unknown("the event does not return", &[after], Sort::Bool);
            let code = self.s.unknown("how the event ends", &[after], Sort::Bits(32));
            self.trap(ends, code);
        }
        if effects == OpaqueEffects::Writes {
            self.done.memory = smt::given(self.s, self.done.memory, happens, after);
            match self.is_first {
                true => self.written.clear(),
                false => self.written += &format!("given at {} when {}; ", self.s.name(after), self.s.name(happens)),
            }
        }
        Ok(())
    }
}
