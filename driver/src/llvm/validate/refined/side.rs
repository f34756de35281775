//! One version of a function as terms: what it returns and leaves in memory, and when it is undefined, by its parameters.
//!
//! Blocks are taken in an order in which all that leads to one comes first; each has the condition under which it is
//! reached. Memory is one chain of bytes through all of them: what a block writes it writes where it is reached. A second
//! chain says of each byte whether it is poison.
//!
//! What `undef` or `freeze` choose are variables of their own, one for each use: a value that depends on `undef` is
//! computed anew wherever it is used.

mod calls;
mod memory;
mod order;

use super::meaning::{Meaning, Operation, Value, width};
use crate::llvm::body::{Body, Instruction, Operand, Role, Shape};
use crate::llvm::constants;
use crate::llvm::module::{Definition, File};
use crate::llvm::types::Type;
use crate::verify::smt::{self, Expr, Script, Sort};
use calls::is_arithmetic;
use order::order;
use rewright_typeprop::model::MemoryAccess;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// How often values may be computed: more than any that a solver could decide.
const MOST: usize = 20_000;

/// What both versions are given.
pub(super) struct Given {
    /// By parameter: its value, and whether it is `undef`.
    pub(super) parameters: Vec<(Value, Expr)>,
    memory: Expr,
    doubt: Expr,
}

impl Given {
    /// Variables for the parameters of a function, which may be `undef` where that is asked for and not ruled out.
    pub(super) fn new(s: &mut Script, definition: &Definition, undefined: bool) -> Result<Given, String> {
        let mut parameters = vec![];
        for (n, parameter) in definition.parameters.iter().enumerate() {
            let bits = s.variable(&format!("parameter {n}"), Sort::Bits(width(&parameter.ty)?));
            let defined = parameter.attributes.iter().any(|a| a == "noundef");
            let mut unless = |what: &str, is: bool| match is {
                true => s.variable(&format!("parameter {n} is {what}"), Sort::Bool),
                false => Expr::FALSE,
            };
            let poison = unless("poison", !defined);
            // Whoever accesses what an `undef` pointer says is undefined: little is left to compare.
            let may = undefined && !defined && parameter.ty != Type::Ptr;
            parameters.push((Value { bits, poison }, unless("undef", may)));
        }
        let memory = s.variable("memory", Sort::Memory);
        Ok(Given { parameters, memory, doubt: s.variable("poison in memory", Sort::Memory) })
    }
}

/// An access to memory.
pub(super) struct Access {
    pub(super) reached: Expr,
    pub(super) address: Expr,
    pub(super) bytes: u64,
    pub(super) writes: bool,
}

/// What a version does.
pub(super) struct Behaviour {
    pub(super) undefined: Expr,
    pub(super) returned: Option<Value>,
    pub(super) memory: Expr,
    /// Bytes that are not 0 are poison.
    pub(super) doubt: Expr,
    pub(super) accesses: Vec<Access>,
    /// When it returns.
    pub(super) returns: Expr,
    /// Calls that somebody may notice: a number that is another one for other calls.
    pub(super) trace: Expr,
    pub(super) events: Vec<Event>,
    /// Variables that stand for what it may choose.
    pub(super) choices: Vec<Expr>,
    /// What stands for something that is not modelled in all its parts: a counterexample may rest on that.
    pub(super) assumed: BTreeSet<&'static str>,
    /// `undef` may have come to memory, where it is one value from then on here.
    pub(super) stores_undef: bool,
}

impl Behaviour {
    /// Something may see `undef` in memory.
    pub(super) fn reads_undef(&self) -> bool {
        self.stores_undef && self.accesses.iter().any(|access| !access.writes)
    }
}

/// A call that somebody may notice.
pub(super) struct Event {
    pub(super) reached: Expr,
    /// Behind it.
    pub(super) trace: Expr,
    /// What the callee sees.
    pub(super) memory: Expr,
    pub(super) doubt: Expr,
}

enum Local {
    Fixed(Value),
    /// Computed anew at each use.
    Loose,
}

pub(super) struct Side<'a> {
    s: &'a mut Script,
    name: &'static str,
    file: &'a File,
    definition: &'a Definition,
    given: &'a Given,
    body: &'a Body,
    made: FxHashMap<&'a str, (&'a Instruction, usize)>,
    locals: FxHashMap<&'a str, Local>,
    /// What pointers are sums of.
    sums: FxHashMap<Expr, Vec<Expr>>,
    reached: Vec<Expr>,
    /// From, to, when.
    edges: Vec<(usize, usize, Expr)>,
    undefined: Vec<Expr>,
    returned: Option<Value>,
    returns: Vec<Expr>,
    memory: Expr,
    doubt: Expr,
    accesses: Vec<Access>,
    trace: Expr,
    events: Vec<Event>,
    slots: usize,
    choices: Vec<Expr>,
    assumed: BTreeSet<&'static str>,
    stores_undef: bool,
    left: usize,
}

type Terms<T> = Result<T, String>;

/// The terms of a version; the reason where it has none.
pub(super) fn behaviour(
    s: &mut Script,
    name: &'static str,
    file: &File,
    definition: &Definition,
    body: &Body,
    given: &Given,
) -> Terms<Behaviour> {
    let order = order(&body.blocks)?;
    let instructions = body.blocks.iter().enumerate().flat_map(|(n, b)| b.instructions.iter().map(move |i| (i, n)));
    let made = instructions.filter_map(|(i, n)| Some((i.result.as_deref()?, (i, n)))).collect();
    let trace = s.bits(64, 0);
    let mut side = Side {
        s,
        name,
        file,
        definition,
        given,
        body,
        made,
        locals: FxHashMap::default(),
        sums: FxHashMap::default(),
        reached: vec![Expr::FALSE; body.blocks.len()],
        edges: vec![],
        undefined: vec![],
        returned: None,
        returns: vec![],
        memory: given.memory,
        doubt: given.doubt,
        accesses: vec![],
        trace,
        events: vec![],
        slots: 0,
        choices: vec![],
        assumed: BTreeSet::new(),
        stores_undef: false,
        left: MOST,
    };
    for (parameter, (value, undef)) in definition.parameters.iter().zip(&given.parameters) {
        let local = if *undef == Expr::FALSE { Local::Fixed(*value) } else { Local::Loose };
        side.locals.insert(&parameter.name, local);
    }
    for block in order {
        side.block(block)?;
    }
    let undefined = side.s.or(&side.undefined);
    let returns = side.s.or(&side.returns);
    let Side { returned, memory, doubt, accesses, trace, events, choices, assumed, stores_undef, .. } = side;
    Ok(Behaviour {
        undefined,
        returned,
        memory,
        doubt,
        accesses,
        returns,
        trace,
        events,
        choices,
        assumed,
        stores_undef,
    })
}

impl<'a> Side<'a> {
    fn block(&mut self, at: usize) -> Terms<()> {
        let into: Vec<Expr> = self.edges.iter().filter(|(_, to, _)| *to == at).map(|(_, _, when)| *when).collect();
        let reached = if at == 0 { Expr::TRUE } else { self.s.or(&into) };
        self.reached[at] = reached;
        let body: &'a Body = self.body;
        for instruction in &body.blocks[at].instructions {
            self.instruction(instruction, at)?;
        }
        Ok(())
    }

    /// It is undefined where this holds in a block.
    fn undefined(&mut self, at: usize, when: Expr) {
        let here = self.s.and(&[self.reached[at], when]);
        self.undefined.push(here);
    }

    fn instruction(&mut self, i: &'a Instruction, at: usize) -> Terms<()> {
        match &i.shape {
            Shape::Jump(label) => self.edge(at, label, Expr::TRUE),
            Shape::Branch(condition, [yes, no]) => {
                let when = self.decides(condition, at)?;
                let one = self.s.bits(1, 1);
                let yes_when = self.s.equal(when, one);
                let no_when = self.s.not(yes_when);
                self.edge(at, yes, yes_when);
                self.edge(at, no, no_when);
            }
            Shape::Switch(value, default, cases) => {
                let decided = self.decides(value, at)?;
                let mut others = vec![];
                for (text, label) in cases {
                    let case = self.constant(&Operand { ty: value.ty.clone(), text: text.clone() })?;
                    let when = self.s.equal(decided, case.bits);
                    self.edge(at, label, when);
                    others.push(self.s.not(when));
                }
                let when = self.s.and(&others);
                self.edge(at, default, when);
            }
            Shape::Return(value) => {
                self.returns.push(self.reached[at]);
                let Some(value) = value else { return Ok(()) };
                let value = self.operand(value)?;
                if self.definition.before.iter().any(|word| word == "noundef") {
                    self.undefined(at, value.poison);
                }
                let here = self.reached[at];
                self.returned = Some(match self.returned {
                    None => value,
                    Some(other) => self.choose(here, value, other),
                });
            }
            Shape::Unreachable => self.undefined(at, Expr::TRUE),
            Shape::Store(value, to, access) => {
                if !access.plain {
                    return Err("a store that is more than one".into());
                }
                self.stores_undef |= self.is_loose(value);
                let value = self.operand(value)?;
                let (address, bits) = self.access(to, value.bits.width(), at, true)?;
                let here = self.reached[at];
                self.memory = self.write(self.memory, &address, bits, here, value.bits);
                let (all, none) = (self.s.bits(bits, u128::MAX), self.s.bits(bits, 0));
                let doubt = self.s.choose(value.poison, all, none);
                self.doubt = self.write(self.doubt, &address, bits, here, doubt);
            }
            Shape::Load(from, access) => {
                if !access.plain {
                    return Err("a load that is more than one".into());
                }
                let (address, bits) = self.access(from, width(&i.ty)?, at, false)?;
                let how = MemoryAccess { bits: Some(bits), signed: false, store: false };
                let value = smt::load(self.s, self.memory, &address, how, bits);
                let doubt = smt::load(self.s, self.doubt, &address, how, bits);
                let poison = self.s.nonzero(doubt);
                if i.metadata.iter().any(|(kind, _)| kind == "!noundef") {
                    self.undefined(at, poison);
                }
                self.define(i, Local::Fixed(Value { bits: value, poison }));
            }
            Shape::Plain(operands) if i.opcode == "freeze" => {
                let [value] = operands.as_slice() else { return Err("`freeze`".into()) };
                let value = self.operand(value)?;
                let bits = match value.poison {
                    Expr::FALSE => value.bits,
                    poison => {
                        let chosen = self.choice(value.bits.width());
                        self.s.choose(poison, chosen, value.bits)
                    }
                };
                self.define(i, Local::Fixed(Value { bits, poison: Expr::FALSE }));
            }
            Shape::Call { callee: Some(callee), args, bundles: false, .. } if callee == "@llvm.assume" => {
                let [condition] = args.as_slice() else { return Err("`llvm.assume`".into()) };
                let holds = self.decides(condition, at)?;
                let some = self.s.nonzero(holds);
                let fails = self.s.not(some);
                self.undefined(at, fails);
            }
            Shape::Call { callee, args, in_memory, .. } if !is_arithmetic(callee.as_deref()) => {
                if in_memory.iter().any(|m| m.role == Role::Copy) {
                    return Err("it copies a structure for a call".into());
                }
                self.call(i, callee.as_deref(), args, at)?;
            }
            Shape::Alloca(_) => {
                // They keep their order, and what they hold is nobody's concern.
                self.assumed.insert("what is on the stack");
                self.slots += 1;
                let bits = self.s.unknown(&format!("slot {}", self.slots), &[], Sort::Bits(64));
                self.define(i, Local::Fixed(Value { bits, poison: Expr::FALSE }));
            }
            _ => {
                let meaning = self.meaning(i, at)?;
                self.undefined(at, meaning.undefined);
                if meaning.open {
                    self.assumed.insert("the bits of a NaN");
                }
                let loose = self.operands(i).iter().any(|operand| self.is_loose(operand));
                self.define(i, if loose { Local::Loose } else { Local::Fixed(meaning.value) });
            }
        }
        Ok(())
    }

    fn define(&mut self, i: &'a Instruction, local: Local) {
        if let Some(name) = &i.result {
            self.locals.insert(name, local);
        }
    }

    fn edge(&mut self, from: usize, to: &String, when: Expr) {
        let when = self.s.and(&[self.reached[from], when]);
        let target = self.body.blocks.iter().position(|b| b.label == *to);
        self.edges.extend(target.map(|to| (from, to, when)));
    }

    /// What a branch looks at: it is undefined where that is poison, and where it is `undef`.
    fn decides(&mut self, operand: &Operand, at: usize) -> Terms<Expr> {
        let value = self.operand(operand)?;
        self.undefined(at, value.poison);
        if self.is_loose(operand) {
            // Two uses that may differ.
            let other = self.operand(operand)?;
            let same = self.s.equal(value.bits, other.bits);
            let differ = self.s.not(same);
            self.undefined(at, differ);
        }
        Ok(value.bits)
    }

    fn operands(&self, i: &'a Instruction) -> Vec<&'a Operand> {
        match &i.shape {
            Shape::Plain(operands) => operands.iter().collect(),
            Shape::Call { args, .. } => args.iter().collect(),
            Shape::Phi(values) => values.iter().map(|(operand, _)| operand).collect(),
            Shape::Offset { base, indices, .. } => [base].into_iter().chain(indices).collect(),
            _ => vec![],
        }
    }

    fn is_loose(&self, operand: &Operand) -> bool {
        operand.text == "undef" || matches!(self.locals.get(operand.text.as_str()), Some(Local::Loose))
    }

    /// What an instruction without effects gives now.
    fn meaning(&mut self, i: &'a Instruction, at: usize) -> Terms<Meaning> {
        self.left = self.left.checked_sub(1).ok_or("too many values that depend on `undef`")?;
        let plain = |value| Meaning { value, undefined: Expr::FALSE, open: false };
        match &i.shape {
            Shape::Phi(values) => {
                let mut result: Option<Value> = None;
                for (from, when) in self.arrivals(at) {
                    let from = &self.body.blocks[from].label;
                    let Some((operand, _)) = values.iter().find(|(_, label)| label == from) else { continue };
                    let value = self.operand(operand)?;
                    result = Some(match result {
                        None => value,
                        Some(other) => self.choose(when, value, other),
                    });
                }
                Ok(plain(result.ok_or("a value that comes from nowhere")?))
            }
            Shape::Offset { base, source, indices } => self.offset(i, base, source, indices).map(plain),
            Shape::Plain(operands) => {
                let args = operands.iter().map(|o| self.operand(o)).collect::<Terms<Vec<Value>>>()?;
                let from = operands.first().map_or(&i.ty, |o| &o.ty);
                Operation { s: self.s, flags: &i.flags, args: &args, ty: &i.ty }.instruction(&i.opcode, from)
            }
            Shape::Call { callee: Some(callee), args, bundles: false, .. } if callee.starts_with("@llvm.") => {
                let args = args.iter().map(|o| self.operand(o)).collect::<Terms<Vec<Value>>>()?;
                let name = callee.trim_start_matches("@llvm.");
                Operation { s: self.s, flags: &i.flags, args: &args, ty: &i.ty }.intrinsic(name)
            }
            Shape::Call { callee, .. } => {
                Err(format!("it calls {}", callee.as_deref().unwrap_or("what a pointer says")))
            }
            Shape::Alloca(_) => Err("it has a stack slot".into()),
            _ => Err(format!("`{}`", i.opcode)),
        }
    }

    /// Where control may come from, and when.
    fn arrivals(&mut self, at: usize) -> Vec<(usize, Expr)> {
        let mut arrivals: Vec<(usize, Expr)> = vec![];
        for (from, to, when) in self.edges.clone() {
            if to != at {
                continue;
            }
            match arrivals.iter_mut().find(|(other, _)| *other == from) {
                Some((_, known)) => *known = self.s.or(&[*known, when]),
                None => arrivals.push((from, when)),
            }
        }
        arrivals
    }

    fn choose(&mut self, condition: Expr, x: Value, y: Value) -> Value {
        let bits = self.s.choose(condition, x.bits, y.bits);
        let poison = self.s.choose(condition, x.poison, y.poison);
        for value in [x.bits, y.bits] {
            // A pointer that is chosen is no sum any more.
            self.sums.entry(value).or_insert_with(|| vec![value]);
        }
        Value { bits, poison }
    }

    fn operand(&mut self, operand: &Operand) -> Terms<Value> {
        let name = operand.text.as_str();
        match self.locals.get(name) {
            Some(Local::Fixed(value)) => Ok(*value),
            Some(Local::Loose) => match self.made.get(name) {
                Some((i, at)) => Ok(self.meaning(i, *at)?.value),
                None => {
                    let parameter = self.definition.parameters.iter().position(|p| p.name == name);
                    let (value, undef) = self.given.parameters[parameter.ok_or("a value without a definition")?];
                    let any = self.choice(value.bits.width());
                    Ok(Value { bits: self.s.choose(undef, any, value.bits), poison: value.poison })
                }
            },
            None if operand.is_local() => Err(format!("{name} is used before it is there")),
            None => self.constant(operand),
        }
    }

    fn constant(&mut self, operand: &Operand) -> Terms<Value> {
        let Operand { ty, text } = operand;
        let width = width(ty)?;
        if text == "undef" {
            return Ok(Value { bits: self.choice(width), poison: Expr::FALSE });
        }
        if let (true, Type::Ptr) = (text.starts_with('@'), ty) {
            self.assumed.insert("where globals lie");
            return Ok(Value { bits: self.s.unknown(text, &[], Sort::Bits(64)), poison: Expr::FALSE });
        }
        let number = match text.as_str() {
            "poison" | "zeroinitializer" => Some(0),
            _ => text.parse::<i128>().map(|n| n as u128).ok().or_else(|| constants::read(ty, text).map(u128::from)),
        };
        let number = number.ok_or_else(|| format!("the constant {text}"))?;
        let poison = if text == "poison" { Expr::TRUE } else { Expr::FALSE };
        Ok(Value { bits: self.s.bits(width, number), poison })
    }

    fn choice(&mut self, width: u32) -> Expr {
        let name = format!("choice {} of what is {}", self.choices.len(), self.name);
        let choice = self.s.variable(&name, Sort::Bits(width));
        self.choices.push(choice);
        choice
    }
}
