//! Terms as instructions of one block, operands first: sides of a rule as code that runs as it is written.
//!
//! An operation is what a front end has for it: an instruction of CLIF, or a call of what implements it. One that is
//! neither is what its `spec` says. Values that are computed while matching may be given instead ([`Code::give`]): much
//! of that has no instruction.
//!
//! A term has no order but that of operands. Operations that change memory are emitted only by [`Code::execute`], a
//! call at a time in the order that its caller says, and [`Code::made`], operands first. It does not emit what reads a
//! memory that has not been filled, or communicates with the outside, and says so.

use rewright_cfg_skeleton::ir::{Function, InstKind, Terminator, Value};
use rewright_clif::names::FRONT_END;
use rewright_typeprop::eval::{constant, literal};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Data, Model, Op, OpId, Term, Ty, TypeExpr, Universe};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Specs of specs are a few levels deep: more means one that mentions itself.
const DEPTH: u32 = 64;

/// Real specs take tens of operations; a chain in which each uses the one before it twice would take 2^n.
const OPERATIONS: usize = 10_000;

/// Why there is no code for a rule, in words about the rule. No caller tells cases apart: the verdict shows them.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoCode(String);

impl From<String> for NoCode {
    fn from(reason: String) -> Self {
        NoCode(reason)
    }
}

impl From<&str> for NoCode {
    fn from(reason: &str) -> Self {
        NoCode(reason.to_string())
    }
}

/// What is made of a term, or why nothing is.
pub(super) type Built<T> = Result<T, NoCode>;

/// A value with its type.
pub(super) type Operand = (Value, Ty);

/// A function of one block, while it is written.
pub(super) struct Code<'u> {
    /// With the types of this function.
    pub(super) universe: &'u mut Universe,
    f: Function,
    /// What is computed elsewhere, and what stands for it.
    given: Vec<(Term, Operand)>,
    /// Calls that have been executed, and what they gave.
    executed: Vec<(Term, Option<Operand>)>,
    /// Calls that change memory are executed where they stand.
    changes: bool,
    /// How many specs deep the term is that is written now.
    depth: u32,
    is_called_here: bool,
}

impl<'u> Code<'u> {
    pub(super) fn new(universe: &'u mut Universe, name: &str) -> Self {
        let mut f = Function::new(name);
        f.add_block();
        Code { universe, f, given: vec![], executed: vec![], changes: false, depth: 0, is_called_here: false }
    }

    pub(super) fn parameter(&mut self, ty: Ty) -> Value {
        let value = self.f.add_value(ty);
        self.f.blocks[0].params.push(value);
        value
    }

    pub(super) fn ty(&mut self, expr: &TypeExpr, targs: &[Ty]) -> Built<Ty> {
        self.universe.types.instantiate(expr, targs).ok_or_else(|| "a type of it is not known".into())
    }

    /// A further parameter stands for this term wherever it is computed while matching.
    pub(super) fn give(&mut self, term: &Term, targs: &[Ty]) -> Built<Ty> {
        let Term::Call { op, targs: own, .. } = term else { return Err("a constant is computed".into()) };
        let own = own.iter().map(|ty| self.ty(ty, targs)).collect::<Built<Vec<Ty>>>()?;
        let result = self.universe.ops.get(*op).results.first().cloned().ok_or("what is computed is no value")?;
        let ty = self.ty(&result, &own)?;
        let value = self.parameter(ty);
        self.given.push((term.clone(), (value, ty)));
        Ok(ty)
    }

    pub(super) fn term(&mut self, term: &Term, targs: &[Ty], vars: &[Option<Operand>]) -> Built<Operand> {
        match term {
            Term::Var(n) => {
                vars.get(*n as usize).copied().flatten().ok_or_else(|| "it speaks of a state itself".into())
            }
            Term::Eval(inner) => match self.given.iter().find(|(given, _)| *given == **inner) {
                Some((_, operand)) => Ok(*operand),
                None => self.term(inner, targs, vars),
            },
            Term::Lit(lit, ty) => {
                let ty = self.ty(ty, targs)?;
                let word = match (self.universe.types.repr(ty), lit) {
                    (Some(repr), lit) => repr.lane().and_then(|lane| literal(lit, lane)),
                    (None, Literal::Str(text)) => Some(self.universe.data.intern(Data::of_text(text))),
                    (None, lit) => constant(lit, None),
                };
                let word = word.ok_or_else(|| format!("{lit:?} does not fit its type"))?;
                Ok((self.push(InstKind::Const(word), &[], ty), ty))
            }
            Term::Call { op, targs: own, args, state } => {
                if let Some((_, operand)) = self.executed.iter().find(|(done, _)| done == term) {
                    return operand.ok_or_else(|| self.gives_nothing(*op));
                }
                let effects = &self.universe.ops.get(*op).effects;
                let changes = effects.io || effects.diverges || !effects.writes.is_empty();
                let follows_another = state.as_deref().is_some_and(|state| !matches!(state, Term::Var(_)));
                if changes && !self.changes || follows_another {
                    return Err(format!("`{}` does more than give a value", self.universe.ops.get(*op).name).into());
                }
                self.call(*op, own, args, targs, vars)?.ok_or_else(|| self.gives_nothing(*op))
            }
        }
    }

    /// Executes a call now: whatever mentions it from now on means what it gave.
    pub(super) fn execute(&mut self, call: &Term, targs: &[Ty], vars: &[Option<Operand>]) -> Built<()> {
        let Term::Call { op, targs: own, args, state } = call else { return Ok(()) };
        let given = self.call(*op, own, args, targs, vars)?;
        self.executed.push((call.clone(), given));
        // Its state and its result are those of this one execution.
        let ops = &self.universe.ops;
        let parts = ops.get(*op).part_of.and_then(|part| ops.get(part.whole()).parts);
        for op in parts.into_iter().flat_map(|parts| [parts.state, parts.value]) {
            let part = Term::Call { op, targs: own.clone(), args: args.clone(), state: state.clone() };
            self.executed.push((part, given));
        }
        Ok(())
    }

    /// What a term gives, if it is a value; a call may have been executed.
    pub(super) fn value(&mut self, term: &Term, targs: &[Ty], vars: &[Option<Operand>]) -> Built<Option<Operand>> {
        match self.executed.iter().find(|(done, _)| done == term) {
            Some((_, given)) => Ok(*given),
            None => self.term(term, targs, vars).map(Some),
        }
    }

    /// A term whose calls may change memory, operands first; `None`: it gives no value.
    pub(super) fn made(&mut self, term: &Term, targs: &[Ty], vars: &[Option<Operand>]) -> Built<Option<Operand>> {
        self.changes = true;
        let given = match term {
            Term::Call { op, targs: own, args, .. } => self.call(*op, own, args, targs, vars),
            other => self.term(other, targs, vars).map(Some),
        };
        self.changes = false;
        given
    }

    /// A call, or what the operation's `spec` says; `None`: it gives no value.
    fn call(
        &mut self,
        op: OpId,
        own: &[TypeExpr],
        args: &[Term],
        targs: &[Ty],
        vars: &[Option<Operand>],
    ) -> Built<Option<Operand>> {
        let op = self.universe.ops.whole(op);
        let decl = self.universe.ops.get(op).clone();
        if decl.effects.io || decl.effects.diverges {
            return Err(format!("`{}` does more than give a value and change memory", decl.name).into());
        }
        if decl.model.and_then(Model::memory).is_some() {
            return Err(format!("`{}` reads uninitialised memory", decl.name).into());
        }
        let own = own.iter().map(|ty| self.ty(ty, targs)).collect::<Built<SmallVec<[Ty; 2]>>>()?;
        let args = args.iter().map(|arg| self.term(arg, targs, vars)).collect::<Built<Vec<Operand>>>()?;
        match &decl.spec {
            Some(spec) if !self.has_code(&decl) => {
                if self.depth == DEPTH || self.f.insts.len() > OPERATIONS {
                    return Err(format!("`{}` is too large, written out", decl.name).into());
                }
                let args: Vec<Option<Operand>> = args.into_iter().map(Some).collect();
                self.depth += 1;
                let written = self.term(spec, &own, &args);
                self.depth -= 1;
                written.map(Some)
            }
            None if !self.has_code(&decl) => Err(missing(&decl, "no instruction and nothing to call").into()),
            _ => {
                self.is_called_here |= !decl.names.contains_key(FRONT_END) && decl.link.is_none();
                let args: Vec<Value> = args.into_iter().map(|(value, _)| value).collect();
                let results = decl.results.iter().map(|ty| self.ty(ty, &own)).collect::<Built<Vec<Ty>>>()?;
                let kind = InstKind::Op { op, targs: own, access: None };
                let entry = self.f.entry();
                let id = self.f.append(entry, kind, &args, &results);
                match (&results[..], &self.f.inst(id).results[..]) {
                    ([], []) => Ok(None),
                    ([ty], [value]) => Ok(Some((*value, *ty))),
                    _ => Err(format!("`{}` gives several values", decl.name).into()),
                }
            }
        }
    }

    fn gives_nothing(&self, op: OpId) -> NoCode {
        format!("`{}` gives no value", self.universe.ops.get(op).name).into()
    }

    /// Does it call Rust functions of this program? No other process has them.
    pub(super) fn is_called_here(&self) -> bool {
        self.is_called_here
    }

    /// Is there an instruction for it, or something to call?
    fn has_code(&self, op: &Op) -> bool {
        op.names.contains_key(FRONT_END) || op.link.is_some() || self.universe.hosts.get(&op.name).is_some()
    }

    /// Has everything in a term code, or a `spec` that has?
    pub(super) fn is_expressible(&self, term: &Term) -> bool {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![term]);
        while let Some(term) = todo.pop() {
            todo.extend(term.parts());
            let Term::Call { op, .. } = term else { continue };
            let decl = self.universe.ops.get(*op);
            if seen.insert(*op) && !self.has_code(decl) {
                match &decl.spec {
                    Some(spec) => todo.push(spec),
                    None => return false,
                }
            }
        }
        true
    }

    pub(super) fn push(&mut self, kind: InstKind, args: &[Value], ty: Ty) -> Value {
        let entry = self.f.entry();
        let id = self.f.append(entry, kind, args, &[ty]);
        self.f.inst(id).results[0]
    }

    /// The function that returns these.
    pub(super) fn returning(mut self, results: Vec<Value>) -> Function {
        self.f.results = results.iter().map(|value| self.f.values[value.index()]).collect();
        self.f.blocks[0].term = Terminator::Return(results.into_iter().collect());
        self.f
    }
}

/// Why it is unknown what an operation gives, which has none of `what`.
pub(super) fn missing(op: &Op, what: &str) -> String {
    match op.host {
        true => format!("`{}` is a Rust function of a program: verify from there (`Embedding::verify`)", op.name),
        false => format!("`{}` has {what}", op.name),
    }
}
