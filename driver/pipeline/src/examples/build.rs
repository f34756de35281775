//! The terms and small programs of examples, as functions and as nodes.

use super::ExampleError;
use rewright_cfg_skeleton::egraph::{EGraphInput, Head, InputId, Node};
use rewright_cfg_skeleton::ir::{Access, BlockId, Edge, Function, InstKind, RegionId, Terminator, Value};
use rewright_dsl::program::{Block, Claim, Example, Statement};
use rewright_typeprop::{Evaluation, Term, Ty, TypeExpr, Universe, term::Literal};
use smallvec::{SmallVec, smallvec};

/// The canonical constant of a literal at a type.
fn literal(universe: &Universe, literal: &Literal, ty: Ty) -> Result<i64, ExampleError> {
    rewright_typeprop::eval::constant(literal, universe.types.lane(ty))
        .ok_or_else(|| ExampleError::Literal(universe.types.display(ty)))
}

/// Does every path through statements return?
fn ends(statements: &[Statement]) -> bool {
    match statements.last() {
        Some(Statement::Return(_)) => true,
        Some(Statement::If { then, els, .. }) => ends(then) && ends(els),
        _ => false,
    }
}

fn close(universe: &mut Universe, expr: &TypeExpr) -> Result<Ty, ExampleError> {
    universe.types.instantiate(expr, &[]).ok_or(ExampleError::OpenType)
}

/// Evaluates what `eval` and computed right sides leave: a call whose operands are all constants stays a call
/// here; only `Term::Eval` is computed.
fn evaluated(universe: &mut Universe, term: &Term) -> Result<Option<(i64, Ty)>, ExampleError> {
    Ok(match term {
        Term::Lit(lit, ty) => {
            let ty = close(universe, ty)?;
            Some((literal(universe, lit, ty)?, ty))
        }
        Term::Eval(inner) => evaluated(universe, inner)?,
        Term::Call { op, targs, args, .. } => {
            let targs = targs.iter().map(|t| close(universe, t)).collect::<Result<Vec<_>, _>>()?;
            let mut constants = vec![];
            for arg in args {
                match evaluated(universe, arg)? {
                    Some((constant, _)) => constants.push(constant),
                    None => return Ok(None),
                }
            }
            let result = universe.ops.get(*op).results[0].clone();
            let ty = universe.types.instantiate(&result, &targs).ok_or(ExampleError::OpenResult)?;
            match rewright_typeprop::eval::evaluate(universe, *op, &targs, &constants) {
                Evaluation::Value(value) => Some((value, ty)),
                Evaluation::Nan | Evaluation::Undefined => None,
            }
        }
        Term::Var(_) => None,
    })
}

/// A term as a node of an e-graph input.
pub(super) fn node(
    universe: &mut Universe,
    input: &mut EGraphInput,
    variables: &[InputId],
    term: &Term,
) -> Result<InputId, ExampleError> {
    match term {
        Term::Var(i) => Ok(variables[*i as usize]),
        Term::Lit(..) | Term::Eval(_) => {
            let (constant, ty) = evaluated(universe, term)?.ok_or(ExampleError::NotConstant)?;
            Ok(input.add(Node { head: Head::Const(constant), types: smallvec![ty], children: SmallVec::new() }))
        }
        Term::Call { op, targs, args, state } => {
            let types = targs.iter().map(|t| close(universe, t)).collect::<Result<_, _>>()?;
            let mut children = SmallVec::new();
            for term in args.iter().chain(state.as_deref()) {
                children.push(node(universe, input, variables, term)?);
            }
            Ok(input.add(Node { head: Head::Op(*op), types, children }))
        }
    }
}

/// The program that an example is about, as a function.
///
/// # Errors
/// Why no function is what the example says.
pub fn subject(universe: &mut Universe, example: &Example) -> Result<Function, ExampleError> {
    match &example.claim {
        Claim::Term { subject, .. } => function(universe, example, subject),
        Claim::Program { before, .. } => program(universe, example, before),
    }
}

/// A function with the example's parameters and an empty entry block; by variable, the value of each parameter.
fn begin(example: &Example, set: &[u32]) -> (Function, Vec<Option<Value>>) {
    let mut f = Function { regions: vec!["memory".into()], ..Function::new(example.title.clone()) };
    let entry = f.add_block();
    let mut variables = vec![];
    for (i, ty) in example.params.iter().enumerate() {
        variables.push(ty.filter(|_| !set.contains(&(i as u32))).map(|ty| {
            let value = f.add_value(ty);
            f.blocks[entry.index()].params.push(value);
            value
        }));
    }
    (f, variables)
}

/// A term as a function of one block that returns it (or, for a state, ends in it).
///
/// # Errors
/// Why no function is that.
pub fn function(universe: &mut Universe, example: &Example, term: &Term) -> Result<Function, ExampleError> {
    let (mut f, variables) = begin(example, &[]);
    let entry = f.entry();
    let mut chain = vec![];
    collect_states(term, &mut chain)?;
    let mut emitter = Emitter { universe, f: &mut f, variables, block: entry, done: vec![] };
    for depth in 0..chain.len() {
        emitter.loads_in(term, chain[depth])?;
        if let Some(next) = chain.get(depth + 1) {
            emitter.emit(next)?;
        }
    }
    let value = emitter.emit(term)?;
    Ok(finish(f, entry, value))
}

fn finish(mut f: Function, block: BlockId, value: Option<Value>) -> Function {
    let results: SmallVec<[Value; 2]> = value.into_iter().collect();
    f.results = results.iter().map(|v| f.ty(*v)).collect();
    f.blocks[block.index()].term = Terminator::Return(results);
    f
}

/// A small program as a function.
pub(super) fn program(
    universe: &mut Universe,
    example: &Example,
    statements: &Block,
) -> Result<Function, ExampleError> {
    let mut set = vec![];
    for block in match &example.claim {
        Claim::Program { before, after } => vec![before, after],
        Claim::Term { .. } => vec![],
    } {
        collect_set(block, &mut set);
    }
    let (mut f, variables) = begin(example, &set);
    let entry = f.entry();
    let mut emitter = Emitter { universe, f: &mut f, variables, block: entry, done: vec![] };
    emitter.statements(statements)?;
    let types = |block: &rewright_cfg_skeleton::ir::Block| match &block.term {
        Terminator::Return(values) => Some(values.iter().map(|v| f.values[v.index()]).collect::<Vec<_>>()),
        _ => None,
    };
    let mut results = f.blocks.iter().filter_map(types);
    let first = results.next().unwrap_or_default();
    if results.any(|other| other != first) {
        return Err(ExampleError::SomePaths);
    }
    f.results = first;
    Ok(f)
}

/// Variables that statements set.
pub(super) fn collect_set(statements: &Block, out: &mut Vec<u32>) {
    for statement in statements {
        match statement {
            Statement::Let(variable, _) => out.push(*variable),
            Statement::If { then, els, .. } => {
                collect_set(then, out);
                collect_set(els, out);
            }
            Statement::Do(_) | Statement::Return(_) => {}
        }
    }
}

/// The states that a term mentions, outermost last; they must form one chain, since a program has one order.
fn collect_states<'t>(term: &'t Term, chain: &mut Vec<&'t Term>) -> Result<(), ExampleError> {
    let Term::Call { args, state, .. } = term else { return Ok(()) };
    if let Some(state) = state {
        collect_states(state, chain)?;
        if !chain.contains(&&**state) {
            let follows = match (&**state, chain.last()) {
                (Term::Call { state: Some(before), .. }, Some(last)) => **before == **last,
                (Term::Var(_), None) => true,
                _ => false,
            };
            if !follows {
                return Err(ExampleError::States);
            }
            chain.push(state);
        }
    }
    args.iter().try_for_each(|arg| collect_states(arg, chain))
}

struct Emitter<'a, 't> {
    universe: &'a mut Universe,
    f: &'a mut Function,
    variables: Vec<Option<Value>>,
    /// Where what is emitted goes.
    block: BlockId,
    /// What has been emitted and is available here.
    done: Vec<(&'t Term, Option<Value>)>,
}

impl<'t> Emitter<'_, 't> {
    /// Emits statements in order. Every path ends in a return, of nothing where none is written.
    fn statements(&mut self, statements: &'t [Statement]) -> Result<(), ExampleError> {
        for (i, statement) in statements.iter().enumerate() {
            // What was computed before a statement with effects is not computed again after it.
            self.done.clear();
            match statement {
                Statement::Let(variable, term) => {
                    let value = self.emit(term)?.ok_or(ExampleError::StateInVariable)?;
                    self.variables[*variable as usize] = Some(value);
                }
                Statement::Do(term) => drop(self.emit(term)?),
                Statement::Return(term) => {
                    let results = self.emit(term)?.into_iter().collect();
                    self.f.blocks[self.block.index()].term = Terminator::Return(results);
                    return Ok(());
                }
                Statement::If { cond, then, els } => {
                    let cond = self.emit(cond)?.ok_or(ExampleError::StateAsCondition)?;
                    let rest = &statements[i + 1..];
                    let (from, blocks) = (self.block, [self.f.add_block(), self.f.add_block()]);
                    let edge = |target| Edge { target, args: SmallVec::new() };
                    self.f.blocks[from.index()].term =
                        Terminator::Branch { cond, then: edge(blocks[0]), els: edge(blocks[1]) };
                    let mut join = None;
                    for (block, arm) in blocks.into_iter().zip([then, els]) {
                        self.block = block;
                        self.statements(arm)?;
                        if !ends(arm) {
                            let target = *join.get_or_insert_with(|| self.f.add_block());
                            self.f.blocks[self.block.index()].term = Terminator::Jump(edge(target));
                        }
                    }
                    let Some(join) = join else { return Ok(()) };
                    self.block = join;
                    return self.statements(rest);
                }
            }
        }
        self.f.blocks[self.block.index()].term = Terminator::Return(SmallVec::new());
        Ok(())
    }

    /// Emits every load of `term` that stands in `state`, before the next state begins.
    fn loads_in(&mut self, term: &'t Term, state: &Term) -> Result<(), ExampleError> {
        let Term::Call { op, args, state: own, .. } = term else { return Ok(()) };
        for arg in args.iter().chain(own.as_deref()) {
            self.loads_in(arg, state)?;
        }
        if own.as_deref() == Some(state) && !self.universe.ops.get(*op).gives_state() {
            self.emit(term)?;
        }
        Ok(())
    }

    /// Emits a term once; `None` for states and operations without results.
    fn emit(&mut self, term: &'t Term) -> Result<Option<Value>, ExampleError> {
        if let Some((_, value)) = self.done.iter().find(|(t, _)| *t == term) {
            return Ok(*value);
        }
        let entry = self.block;
        let value = match term {
            Term::Var(i) => return Ok(self.variables[*i as usize]),
            Term::Lit(..) | Term::Eval(_) => {
                let (constant, ty) = evaluated(self.universe, term)?.ok_or(ExampleError::NotConstant)?;
                let inst = self.f.append(entry, InstKind::Const(constant), &[], &[ty]);
                Some(self.f.inst(inst).results[0])
            }
            Term::Call { op, targs, args, .. } => {
                let targs: SmallVec<[Ty; 2]> =
                    targs.iter().map(|t| close(self.universe, t)).collect::<Result<_, _>>()?;
                let mut operands = vec![];
                for arg in args {
                    operands.push(self.emit(arg)?.ok_or(ExampleError::StateAsValue)?);
                }
                let is_state = self.universe.ops.get(*op).gives_state();
                // Of a call that writes and gives a value, a state is the whole one.
                let op = &self.universe.ops.whole(*op);
                let declared = self.universe.ops.get(*op).clone();
                let mut results = vec![];
                for result in &declared.results {
                    results.push(self.universe.types.instantiate(result, &targs).ok_or(ExampleError::OpenResult)?);
                }
                let access = declared.effects.accesses_memory().then_some(Access {
                    region: RegionId(0),
                    trap: None,
                    movable: true,
                    readonly: false,
                    aligned: false,
                });
                let inst = self.f.append(entry, InstKind::Op { op: *op, targs, access }, &operands, &results);
                match is_state {
                    true => None,
                    false => self.f.inst(inst).results.first().copied(),
                }
            }
        };
        self.done.push((term, value));
        Ok(value)
    }
}
