//! What an example became, as its pack would write it.
//!
//! A value is written out as a term wherever it is used; in a block, what has an effect or may trap is a statement.
//! Type arguments are left out where the operands say them.
//!
//! Not here: joins of branches, tuples, and what no pack can write (checks, opaque instructions). Such functions have
//! no text. Whether a text reads back as the function must be checked by code that writes it into a pack: names that
//! several packs declare may need more than is known here.

use rewright_cfg_skeleton::ir::{BlockId, Cfg, Edge, Function, Inst, InstKind, Terminator, Value};
use rewright_dsl::constant::constant;
use rewright_dsl::program::Example;
use rewright_dsl::syntax::precedence;
use rewright_typeprop::{OpId, Ty, TypeExpr, Universe};

/// Terms that share much make a text that is too long to read.
const MAX_CALLS: u32 = 200;

/// How tightly what needs no brackets binds.
const ATOM: u16 = u16::MAX;

/// How loosely what has a state binds.
const SIDE: u16 = 0;

/// What a function of one block returns, or the state that it ends in.
pub(super) fn term(universe: &Universe, example: &Example, f: &Function) -> Option<String> {
    let [block] = f.layout[..] else { return None };
    let Terminator::Return(results) = &f.block(block).term else { return None };
    let mut writer = Writer::new(universe, example, f);
    let mut states = example.params.iter().zip(&example.names).filter(|(ty, _)| ty.is_none()).map(|(_, name)| name);
    let mut state = states.next().cloned();
    if states.next().is_some() {
        return None;
    }
    for id in &f.block(block).insts {
        let inst = f.inst(*id);
        let InstKind::Op { op, .. } = &inst.kind else { continue };
        let op = universe.ops.get(*op);
        if op.takes_state() {
            let here = inst.results.first().map(|result| result.index());
            here.into_iter().for_each(|result| writer.states[result] = state.clone());
        }
        if op.is_sited() {
            return None;
        }
        if op.gives_state() {
            let call = writer.call(inst)?.text;
            state = Some(state.map_or(call.clone(), |state| format!("{call} after {state}")));
        }
    }
    match results[..] {
        [] => state,
        // A write after the last look at memory would be lost.
        [result] => writer
            .value(result)
            .map(|written| written.text)
            .filter(|text| super::writes(universe, f) == 0 || state.is_some_and(|state| text.contains(&state))),
        _ => None,
    }
}

/// One of a function's values.
pub(super) fn value(universe: &Universe, example: &Example, f: &Function, value: Value) -> Option<String> {
    Writer::new(universe, example, f).value(value).map(|written| written.text)
}

/// The statements of a function whose branches do not join.
pub(super) fn statements(universe: &Universe, example: &Example, f: &Function) -> Option<String> {
    let cfg = Cfg::new(f);
    let mut writer = Writer::new(universe, example, f);
    let mut text = String::new();
    writer.block(&cfg, f.entry(), &mut text)?;
    Some(text)
}

struct ExprText {
    text: String,
    /// How tightly its outermost operator binds.
    binds: u16,
}

struct Writer<'a> {
    universe: &'a Universe,
    f: &'a Function,
    /// By value: its instruction.
    makers: Vec<Option<&'a Inst>>,
    /// By value: its name.
    names: Vec<Option<String>>,
    /// By value: the state in which it is looked up, where that is to be written.
    states: Vec<Option<String>>,
    /// Names that are taken.
    taken: Vec<String>,
    calls: u32,
}

impl<'a> Writer<'a> {
    fn new(universe: &'a Universe, example: &Example, f: &'a Function) -> Self {
        let mut makers = vec![None; f.values.len()];
        for id in f.layout.iter().flat_map(|block| &f.block(*block).insts) {
            f.inst(*id).results.iter().for_each(|result| makers[result.index()] = Some(f.inst(*id)));
        }
        let mut names = vec![None; f.values.len()];
        for (param, name) in f.block(f.entry()).params.iter().zip(super::parameters(example)) {
            names[param.index()] = Some(name.to_string());
        }
        let (states, taken) = (vec![None; f.values.len()], example.names.clone());
        Writer { universe, f, makers, names, states, taken, calls: 0 }
    }

    fn value(&mut self, value: Value) -> Option<ExprText> {
        if let Some(name) = &self.names[value.index()] {
            return Some(ExprText { text: name.clone(), binds: ATOM });
        }
        let inst = self.makers[value.index()]?;
        match inst.kind {
            InstKind::Const(n) => {
                let repr = self.universe.types.repr(self.f.ty(value))?;
                let text = constant(self.universe, n.into(), Some(repr));
                let binds = if text.starts_with('-') { precedence("-")? } else { ATOM };
                Some(ExprText { text, binds })
            }
            InstKind::Op { .. } => {
                let call = self.call(inst)?;
                Some(match &self.states[value.index()] {
                    Some(state) => ExprText { text: format!("{} after {state}", call.text), binds: SIDE },
                    None => call,
                })
            }
            InstKind::Check { .. } | InstKind::Opaque { .. } => None,
        }
    }

    fn call(&mut self, inst: &Inst) -> Option<ExprText> {
        let InstKind::Op { op, targs, .. } = &inst.kind else { return None };
        self.calls += 1;
        if self.calls > MAX_CALLS || inst.results.len() > 1 {
            return None;
        }
        let declared = self.universe.ops.get(*op);
        let is_said = self.are_types_said(*op, inst);
        let args: Vec<ExprText> = inst.args.iter().map(|arg| self.value(*arg)).collect::<Option<_>>()?;
        let symbol = declared.symbol.as_deref().filter(|_| is_said);
        if let (Some((symbol, binds)), [left, right]) = (symbol.and_then(|s| Some((s, precedence(s)?))), &args[..]) {
            let side = |side: &ExprText, at_least: u16| match side.binds >= at_least {
                true => side.text.clone(),
                false => format!("({})", side.text),
            };
            // `^` binds to the right, comparisons to neither side: brackets do no harm there.
            let text = format!("{} {symbol} {}", side(left, binds), side(right, binds + 1));
            return Some(ExprText { text, binds });
        }
        let types = match is_said {
            true => String::new(),
            false => format!("{{{}}}", targs.iter().map(|ty| self.ty(*ty)).collect::<Vec<_>>().join(", ")),
        };
        let args: Vec<String> =
            args.into_iter().map(|arg| if arg.binds == SIDE { format!("({})", arg.text) } else { arg.text }).collect();
        Some(ExprText { text: format!("{}{types}({})", declared.name, args.join(", ")), binds: ATOM })
    }

    fn ty(&self, ty: Ty) -> String {
        self.universe.types.display(ty)
    }

    /// Do operands whose own types are plain say all type arguments?
    fn are_types_said(&self, op: OpId, inst: &Inst) -> bool {
        let declared = self.universe.ops.get(op);
        let operands = || declared.params.iter().zip(&inst.args);
        (0..declared.tparams.len() as u32)
            .all(|param| operands().any(|(declared, arg)| mentions(&declared.ty, param) && self.is_evident(*arg)))
    }

    /// Is the type of a value plain from how it is written, wherever it stands? All but literals say it, in their
    /// operands or in type arguments.
    fn is_evident(&self, value: Value) -> bool {
        let is_literal = |inst: &Inst| matches!(inst.kind, InstKind::Const(_));
        self.names[value.index()].is_some() || !self.makers[value.index()].is_some_and(is_literal)
    }

    fn block(&mut self, cfg: &Cfg, block: BlockId, out: &mut String) -> Option<()> {
        for id in &self.f.block(block).insts {
            let inst = self.f.inst(*id);
            let InstKind::Op { op, .. } = &inst.kind else {
                if let InstKind::Const(_) = inst.kind {
                    continue;
                }
                return None;
            };
            if self.universe.ops.get(*op).effects.is_pure() {
                continue;
            }
            let call = self.call(inst)?.text;
            match inst.results[..] {
                [result] => {
                    let name = self.fresh();
                    *out += &format!("{name} = {call}\n");
                    self.names[result.index()] = Some(name);
                }
                _ => *out += &format!("do {call}\n"),
            }
        }
        let plain = |edge: &Edge| edge.args.is_empty() && cfg.predecessors(edge.target).len() == 1;
        match &self.f.block(block).term {
            Terminator::Return(results) => match results[..] {
                [] => {}
                [result] => *out += &format!("return {}\n", self.value(result)?.text),
                _ => return None,
            },
            Terminator::Jump(edge) if plain(edge) => self.block(cfg, edge.target, out)?,
            Terminator::Branch { cond, then, els } if plain(then) && plain(els) => {
                *out += &format!("if ({}) {{\n", self.value(*cond)?.text);
                self.block(cfg, then.target, out)?;
                *out += "} else {\n";
                self.block(cfg, els.target, out)?;
                *out += "}\n";
            }
            _ => return None,
        }
        Some(())
    }

    /// A name that the example does not have.
    fn fresh(&mut self) -> String {
        let name = (1..).map(|n| format!("r{n}")).find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.push(name.clone());
        name
    }
}

fn mentions(ty: &TypeExpr, param: u32) -> bool {
    match ty {
        TypeExpr::Param(n) => *n == param,
        TypeExpr::App(_, args) => args.iter().any(|arg| mentions(arg, param)),
        TypeExpr::Int(_) => false,
    }
}
