//! A version without loops as terms: what it gives, what it leaves in memory, how it traps, and what it does that is
//! not modelled, by its arguments.
//!
//! Blocks are taken in an order in which all that leads to one comes first. A vector is one lane of it, any: what mixes
//! lanes is not modelled, and depends on what it is given as a text, not as a value. What is not modelled and may write
//! is an event; events are a chain, which tells their order. A trapping access traps where nobody can say, but alike in
//! both versions.

use super::FunctionVersion;
use crate::not_modelled::NotModelled;
use rewright_cfg_skeleton::ir::{
    Access, BlockId, Cfg, Edge, EdgeArg, Inst, InstKind, OpaqueEffects, Terminator, Value,
};
use rewright_smt::{self as smt, Address, Expr, Script, Sort};
use rewright_typeprop::eval::{literal, repr_of};
use rewright_typeprop::model::{MemoryAccess, Repr};
use rewright_typeprop::term::{Literal, Term};
use rewright_typeprop::{Model, Op, OpId, Ty};
use rustc_hash::FxHashMap;

type Terms<T> = Result<T, NotModelled>;

/// More instructions than a solver could decide.
const MOST: usize = 4_000;

/// A value: its bits, and whether they are those of a NaN that arithmetic gave, which may be any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbolic {
    pub(super) bits: Expr,
    pub(super) nan: Expr,
}

/// What both versions are given.
pub(super) struct Given {
    pub(super) arguments: Vec<Expr>,
    memory: Expr,
    trace: Expr,
}

/// An access, and what it promises.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Promise {
    store: bool,
    bytes: u32,
    address: Expr,
    flags: (String, bool, bool, bool, bool),
}

/// What a version does.
pub(super) struct Behaviour {
    /// It traps, and with which code.
    trapped: Expr,
    code: Expr,
    returned: Expr,
    results: Vec<Symbolic>,
    memory: Expr,
    trace: Expr,
    /// Accesses that promise something, and when they are executed.
    promises: Vec<(Promise, Expr)>,
    /// Arithmetic may have given a NaN.
    pub(super) has_nan: bool,
}

impl Given {
    /// Arguments by the types of the first version's parameters.
    pub(super) fn new(s: &mut Script, version: FunctionVersion<'_>) -> Terms<Given> {
        let function = version.function;
        let mut arguments = vec![];
        for (n, value) in function.block(function.entry()).params.iter().enumerate() {
            let repr = representation(version, function.ty(*value))?;
            arguments.push(s.variable(&format!("argument {n}"), Sort::Bits(repr.bits())));
        }
        let memory = s.variable("memory", Sort::Memory);
        let trace = s.variable("trace", Sort::Bits(64));
        Ok(Given { arguments, memory, trace })
    }
}

/// How many bits a value has; of a vector a lane.
fn representation(version: FunctionVersion<'_>, ty: Ty) -> Terms<Repr> {
    let types = &version.universe.types;
    types.repr(ty).ok_or_else(|| format!("values of the type {}", types.display(ty)).into())
}

/// The claim that the second version does something that the first one does not. Results of the first version that are
/// some NaN may be any.
pub(super) fn differ(s: &mut Script, before: &Behaviour, after: &Behaviour) -> Expr {
    let mut same = vec![s.equal(before.trapped, after.trapped), s.equal(before.returned, after.returned)];
    let code = s.equal(before.code, after.code);
    let untrapped = s.not(before.trapped);
    same.push(s.or(&[untrapped, code]));
    let unreturned = s.not(before.returned);
    for (was, is) in before.results.iter().zip(&after.results) {
        let mut allowed = vec![unreturned, s.equal(was.bits, is.bits)];
        if let Some(format) = smt::Format::of_width(is.bits.width()).filter(|_| was.nan != Expr::FALSE) {
            let float = s.float(is.bits, format);
            let nan = s.apply("fp.isNaN", &[float], Sort::Bool);
            allowed.push(s.and(&[was.nan, nan]));
        }
        same.push(s.or(&allowed));
    }
    same.push(smt::same(s, before.memory, after.memory));
    same.push(s.equal(before.trace, after.trace));
    // What the second version promises, the first one promises as well, wherever that matters.
    for (promise, when) in &after.promises {
        let covering = before.promises.iter().filter(|(other, _)| other == promise).map(|(_, when)| *when);
        let covered = s.or(&covering.collect::<Vec<_>>());
        let not_executed = s.not(*when);
        same.push(s.or(&[not_executed, covered]));
    }
    let same = s.and(&same);
    s.not(same)
}

/// A version as terms.
///
/// # Errors
/// What is not modelled.
pub(super) fn behaviour(s: &mut Script, version: FunctionVersion<'_>, given: &Given) -> Terms<Behaviour> {
    let function = version.function;
    let instructions: usize = function.layout.iter().map(|block| function.block(*block).insts.len()).sum();
    if instructions > MOST {
        return Err(format!("more than {MOST} instructions").into());
    }
    let cfg = Cfg::new(function);
    let (zero, untrapped) = (s.bits(32, 0), Expr::FALSE);
    let mut results = vec![];
    for ty in &function.results {
        let width = representation(version, *ty)?.bits();
        results.push(Symbolic { bits: s.bits(width, 0), nan: Expr::FALSE });
    }
    let mut executor = Executor {
        s,
        version,
        values: FxHashMap::default(),
        reached: FxHashMap::default(),
        here: Expr::TRUE,
        written: String::new(),
        is_first: true,
        done: Behaviour {
            trapped: untrapped,
            code: zero,
            returned: Expr::FALSE,
            results,
            memory: given.memory,
            trace: given.trace,
            promises: vec![],
            has_nan: false,
        },
    };
    for (value, argument) in function.block(function.entry()).params.iter().zip(&given.arguments) {
        executor.values.insert(*value, Symbolic { bits: *argument, nan: Expr::FALSE });
    }
    executor.reached.insert(function.entry(), Expr::TRUE);
    for block in cfg.reverse_post_order() {
        executor.block(*block, &cfg)?;
    }
    Ok(executor.done)
}

struct Executor<'s, 'a> {
    s: &'s mut Script,
    version: FunctionVersion<'a>,
    values: FxHashMap<Value, Symbolic>,
    /// When a block is entered.
    reached: FxHashMap<BlockId, Expr>,
    /// When what comes next is executed.
    here: Expr,
    /// All that has been written to memory since the last event that happens whatever comes next, as text: with that
    /// event, it tells what memory is.
    written: String,
    /// The first block: what stands in it has happened when something later happens.
    is_first: bool,
    done: Behaviour,
}

impl Executor<'_, '_> {
    fn block(&mut self, id: BlockId, cfg: &Cfg) -> Terms<()> {
        let function = self.version.function;
        let block = function.block(id);
        self.is_first = id == function.entry();
        self.here = self.reached.get(&id).copied().unwrap_or(Expr::FALSE);
        for inst in block.insts.iter().map(|id| function.inst(*id)) {
            self.inst(inst)?;
        }
        match &block.term {
            Terminator::Return(values) => {
                let here = self.here;
                self.done.returned = self.s.or(&[self.done.returned, here]);
                for (n, value) in values.iter().enumerate() {
                    let (value, other) = (self.value(*value)?, self.done.results[n]);
                    self.done.results[n] = self.choose(here, value, other);
                }
                Ok(())
            }
            Terminator::Trap { code } => {
                let code = self.s.bits(32, (*code).into());
                self.trap(Expr::TRUE, code);
                Ok(())
            }
            Terminator::Jump(edge) => self.edge(id, edge, Expr::TRUE, cfg),
            Terminator::Branch { cond, then, els } => {
                let cond = self.value(*cond)?.bits;
                let taken = self.s.nonzero(cond);
                self.edge(id, then, taken, cfg)?;
                let not = self.s.not(taken);
                self.edge(id, els, not, cfg)
            }
            Terminator::Switch { index, targets, default } => {
                let index = self.value(*index)?.bits;
                let mut others = vec![];
                for (n, edge) in targets.iter().enumerate() {
                    let case = self.s.bits(index.width(), n as u128);
                    let taken = self.s.equal(index, case);
                    self.edge(id, edge, taken, cfg)?;
                    others.push(self.s.not(taken));
                }
                let other = self.s.and(&others);
                self.edge(id, default, other, cfg)
            }
            Terminator::Opaque { .. } => Err("a terminator that is not modelled".into()),
        }
    }

    fn edge(&mut self, from: BlockId, edge: &Edge, when: Expr, cfg: &Cfg) -> Terms<()> {
        if cfg.position(edge.target) <= cfg.position(from) {
            return Err("it has a loop".into());
        }
        let when = self.s.and(&[self.here, when]);
        let params = &self.version.function.block(edge.target).params;
        for (param, arg) in params.iter().zip(&edge.args) {
            let EdgeArg::Value(arg) = arg else { return Err("a result of a terminator".into()) };
            let value = self.value(*arg)?;
            let merged = match self.values.get(param).copied() {
                Some(other) => self.choose(when, value, other),
                None => value,
            };
            self.values.insert(*param, merged);
        }
        let reached = self.reached.get(&edge.target).copied().unwrap_or(Expr::FALSE);
        let reached = self.s.or(&[reached, when]);
        self.reached.insert(edge.target, reached);
        Ok(())
    }

    fn choose(&mut self, when: Expr, x: Symbolic, y: Symbolic) -> Symbolic {
        Symbolic { bits: self.s.choose(when, x.bits, y.bits), nan: self.s.choose(when, x.nan, y.nan) }
    }

    fn value(&self, value: Value) -> Terms<Symbolic> {
        self.values.get(&value).copied().ok_or_else(|| format!("v{} has no value here", value.0).into())
    }

    /// It ends here if a condition holds.
    fn trap(&mut self, when: Expr, code: Expr) {
        let ends = self.s.and(&[self.here, when]);
        self.done.code = self.s.choose(ends, code, self.done.code);
        self.done.trapped = self.s.or(&[self.done.trapped, ends]);
        let goes_on = self.s.not(when);
        self.here = self.s.and(&[self.here, goes_on]);
    }

    fn repr(&self, value: Value) -> Terms<Repr> {
        representation(self.version, self.version.function.ty(value))
    }

    fn inst(&mut self, inst: &Inst) -> Terms<()> {
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
        if let (Some(memory), Some(access)) = (op.model.and_then(Model::memory), access) {
            return self.access(inst, memory, access, args);
        }
        let types = &self.version.universe.types;
        let own: Vec<Option<Repr>> = targs.iter().map(|ty| types.repr(*ty)).collect();
        let has_meaning = op.model.is_some() || op.spec.is_some();
        if !has_meaning || !op.effects.is_value() || op.takes_state() {
            let shown: Vec<String> = targs.iter().map(|ty| types.display(*ty)).collect();
            let text = format!("{}{{{}}}", op.unique, shown.join(", "));
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
                // Nobody says when, but the same operation on the same operands does so alike.
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
        if mixes || !model.is_defined_at(&params, result) {
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
        if repr.lanes().is_some() {
            return Err("vectors in memory".into());
        }
        let bytes = memory.bits.unwrap_or(repr.bits()) / 8;
        let address = Address::sum(self.s, &[args[0].bits, offset.bits]);
        let at = address.term(self.s);
        if let Some(code) = access.trap {
            let place = [at, self.done.trace];
            let mut traps = self.s.unknown(&format!("no {bytes} bytes at"), &place, Sort::Bool);
            if memory.store {
                // What can be written can be read, and not the other way round.
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

    /// A function that nobody knows of what it is given. Of vectors one lane is here, and it may look at all of them:
    /// only operands that are one term are one operand then.
    fn applied(&mut self, what: &str, inst: &Inst, more: &[Expr], args: &[Symbolic], sort: Sort) -> Terms<Expr> {
        let mut lanes = false;
        for value in inst.args.iter().chain(&inst.results) {
            lanes |= self.repr(*value)?.lanes().is_some();
        }
        let name = |s: &Script, e: &Expr| format!("{} {}", s.name(*e), s.sort_text(e.sort()));
        let all: Vec<Expr> = args.iter().map(|arg| arg.bits).chain(more.iter().copied()).collect();
        let shown: Vec<String> =
            all.iter().map(|e| if lanes { name(self.s, e) } else { self.s.sort_text(e.sort()) }).collect();
        let name = format!("{what} of {} as {}", shown.join(", "), self.s.sort_text(sort)).replace(['|', '\\'], "/");
        Ok(self.s.unknown(&name, if lanes { &[] } else { &all }, sort))
    }

    /// A pure instruction that nobody knows.
    fn unknown(&mut self, inst: &Inst, text: &str, args: &[Symbolic]) -> Terms<()> {
        for (n, result) in inst.results.iter().enumerate() {
            let sort = Sort::Bits(self.repr(*result)?.bits());
            let bits = self.applied(&format!("result {n} of {text}"), inst, &[], args, sort)?;
            self.values.insert(*result, Symbolic { bits, nan: Expr::FALSE });
        }
        Ok(())
    }

    /// An instruction that nobody knows, and that stays in its place: it is known by all that came before it.
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
