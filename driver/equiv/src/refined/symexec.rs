//! One version of a function as terms: what it returns and leaves in memory, and when it is undefined, by its
//! parameters.
//!
//! Blocks are taken in an order in which all that leads to one comes first; each has the condition under which it is
//! reached. Memory is one chain of bytes through all of them: what a block writes it writes where it is reached. Beside
//! it run chains that say which bits are poison, which are `undef`, and to which objects pointers belong.
//!
//! A value that depends on `undef` is *loose*: it is computed anew wherever it is used, with choices of its own. A
//! value that leaves a version (is returned, stored, passed) is computed twice ([`Samples`]): two samples tell `undef`
//! from a value that was chosen once.

mod accesses;
mod annotated;
mod assumed;
mod behaviour;
mod blocks;
mod bounds;
mod calls;
mod composite;
mod computed;
mod loose;
mod object;
mod objects;
mod order;
mod ordered;
mod past;
mod read;
mod returned;
mod start;
mod values;
mod widened;
mod x86;

use super::super::annotations::{has, implied};
use super::super::modules::Version;
use super::facts::{self, Interval};
use super::fits;
use super::inputs::{Inputs, Leaf};
use super::meaning::Value;
use crate::not_modelled::NotModelled;
use crate::replay::Layout;
use accesses::Stored;
use annotated::is_defined;
pub(super) use annotated::{Keys, MODELLED, allocated, promises};
pub(super) use behaviour::{
    Access, AccessKind, Arrived, Begun, Behaviour, Chosen, Context, Event, Memory, Samples, Whole,
};
pub(super) use blocks::of_known_length as block;
pub(super) use calls::is_arithmetic;
use loose::UndefBits;
pub(super) use object::{Kind, Object, apart, within};
pub(super) use objects::{captured_by, last as slots_last};
use order::{order, together};
use past::Past;
use rewright_llvm::body::{Body, Instruction, Operand, Role, Shape};
use rewright_llvm::module::File;
use rewright_smt::{Address, Expr, Script};
use rustc_hash::{FxHashMap, FxHashSet};
pub(super) use start::{NOWHERE, Request, Start};
use std::collections::{BTreeMap, BTreeSet};

/// How often values may be computed: more than any that a solver could decide.
const MOST: usize = 20_000;

/// Which of the two versions it is, and how it chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choosing {
    /// The second version: anything.
    Anything,
    /// The first version, as the second one does.
    Like(Likeness),
    /// The first version: whatever serves.
    Freely,
}

/// Which choice of the second version one of the first one's is: that at a use of the same thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Likeness {
    /// At as late a use; else at the first one.
    nth: bool,
    /// Within the same sample; else outside of all samples, where things are frozen.
    sampled: bool,
}

impl Likeness {
    /// All there are, the likeliest first.
    pub(super) const ALL: [Likeness; 4] = [
        Likeness { nth: true, sampled: true },
        Likeness { nth: false, sampled: true },
        Likeness { nth: true, sampled: false },
        Likeness { nth: false, sampled: false },
    ];
}

impl Choosing {
    fn is_first(self) -> bool {
        self != Choosing::Anything
    }

    /// Has each sample of what is stored choices that nothing else has?
    fn names_samples(self) -> bool {
        matches!(self, Choosing::Anything | Choosing::Like(Likeness { nth: true, sampled: true }))
    }
}

enum Local {
    /// By lane.
    Fixed(Vec<Value>),
    /// Inputs from outside, by lane.
    Leaf(Vec<Leaf>),
    /// Computed anew at each use.
    PerUse,
}

pub(super) struct SymbolicExecutor<'a> {
    s: &'a mut Script,
    version: Version<'a>,
    layout: Layout<'a>,
    given: &'a Inputs,
    body: &'a Body,
    keys: &'a Keys,
    choosing: Choosing,
    made: FxHashMap<&'a str, (&'a Instruction, usize)>,
    locals: FxHashMap<&'a str, Local>,
    /// What pointers are sums of.
    sums: FxHashMap<Expr, Vec<Expr>>,
    reached: Vec<Expr>,
    /// From, to, when.
    edges: Vec<(usize, usize, Expr)>,
    undefined: Vec<Expr>,
    returned: Option<Whole>,
    returns: Vec<Expr>,
    memory: [Memory; 2],
    mask: Expr,
    accesses: Vec<Access>,
    trace: Expr,
    epoch: Expr,
    events: Vec<Event>,
    /// By block: what has happened where it is reached.
    past: Vec<Past>,
    slots: Vec<Expr>,
    /// It begins at the entry, and slots end with the function.
    lasting_slots: bool,
    /// How many slots there are of each size and alignment.
    alike: BTreeMap<String, usize>,
    /// Values by which others come to know addresses.
    escaping: BTreeSet<&'a str>,
    objects: Vec<Object>,
    /// What is known of objects.
    facts: Vec<Expr>,
    /// What has been stored that may be another value for each use.
    stored: Vec<Stored<'a>>,
    /// How often each thing that may be `undef` has been used.
    uses: BTreeMap<String, usize>,
    /// What is being computed: a sample of what leaves.
    within: String,
    /// How often something loose has left in each way.
    ways: FxHashMap<&'static str, usize>,
    choices: Vec<Expr>,
    assumed: BTreeSet<&'static str>,
    undefined_matters: bool,
    /// It has chosen something.
    chooses: bool,
    arrived: Vec<Arrived>,
    /// It does not begin at the entry.
    inside: bool,
    /// It is all of a function.
    acyclic: bool,
    /// Choices of what has been read, of the other version and of this one.
    like: &'a [Chosen],
    chosen: Vec<Chosen>,
    /// What is computed with choices, of the other version and of this one.
    contexts: &'a [Context],
    /// By access: an address that is known to be its own wherever it is made.
    places: &'a BTreeMap<usize, Address>,
    /// Bounds of each use, by what uses are known by.
    limits: &'a [(Expr, Interval)],
    computing: Vec<String>,
    /// Uses of each thing that are passed over where nothing has been counted.
    skipped: usize,
    /// Where this version has read, by what the choices of uses are told apart by.
    met: FxHashMap<(String, Expr), Vec<Expr>>,
    /// Which bits are taken of what is `undef`.
    undef_bits: UndefBits,
    /// Bits that may be `undef` of what the version is undefined by, if they are.
    settled: FxHashSet<Expr>,
    left: usize,
}

type Terms<T> = Result<T, NotModelled>;

impl Local {
    /// Inputs from outside, by lane.
    fn of(lanes: Vec<Leaf>) -> Local {
        match lanes.iter().any(|leaf| leaf.mask.is_some()) {
            true => Local::Leaf(lanes),
            false => Local::Fixed(lanes.into_iter().map(|leaf| leaf.value).collect()),
        }
    }
}

/// Both samples of each lane.
fn pairs(samples: &Whole) -> Vec<Samples> {
    samples[0].iter().zip(&samples[1]).map(|(one, other)| [*one, *other]).collect()
}

/// The terms of a version; the reason where it has none.
pub(super) fn behaviour<'a>(
    s: &'a mut Script,
    version: Version<'a>,
    start: &Start<'a>,
    given: &'a Inputs,
    keys: &'a Keys,
    choosing: Choosing,
) -> Terms<Behaviour> {
    let body = start.body;
    let order = order(&body.blocks)?;
    s.begin_version(choosing.is_first(), together(&body.blocks, &order));
    let instructions = body.blocks.iter().enumerate().flat_map(|(n, b)| b.instructions.iter().map(move |i| (i, n)));
    let made = instructions.filter_map(|(i, n)| Some((i.result.as_deref()?, (i, n)))).collect();
    let never = s.bits(64, 0);
    let no_call = s.bits(8, 0);
    let memory = Memory { bits: given.memory, poison_memory: given.poison_memory, origins: given.origins };
    let mut side = SymbolicExecutor {
        s,
        version,
        layout: version.module.sizes.clone()?,
        given,
        body,
        keys,
        choosing,
        made,
        locals: FxHashMap::default(),
        sums: FxHashMap::default(),
        reached: vec![Expr::FALSE; body.blocks.len()],
        edges: vec![],
        undefined: vec![],
        returned: None,
        returns: vec![],
        memory: [memory; 2],
        mask: given.mask,
        accesses: vec![],
        trace: never,
        epoch: never,
        events: vec![],
        past: vec![Past { calls: no_call, trace: never, reached: FxHashSet::default() }; body.blocks.len()],
        slots: vec![],
        lasting_slots: start.is_entry() && !keys.has_lifetimes() && objects::last(&body.blocks),
        alike: BTreeMap::new(),
        escaping: objects::escaping(&body.blocks),
        objects: vec![],
        facts: vec![],
        stored: vec![],
        uses: BTreeMap::new(),
        within: String::new(),
        ways: FxHashMap::default(),
        choices: vec![],
        assumed: BTreeSet::new(),
        undefined_matters: false,
        chooses: false,
        arrived: vec![],
        inside: !start.is_entry(),
        acyclic: start.is_entry() && start.arrivals.is_empty(),
        like: start.like,
        chosen: vec![],
        contexts: start.contexts,
        places: start.places,
        limits: start.limits,
        computing: vec![],
        skipped: 0,
        met: FxHashMap::default(),
        undef_bits: UndefBits::Chosen,
        settled: FxHashSet::default(),
        left: MOST,
    };
    side.parameters(start.is_entry());
    let begun = side.begin(start)?;
    for block in order {
        side.block(block)?;
        side.arrive(start, block)?;
    }
    side.s.assumed.clear();
    let undefined_when = std::mem::take(&mut side.undefined);
    let undefined = side.s.or(&undefined_when);
    let returns = side.s.or(&side.returns);
    let facts = side.s.and(&side.facts);
    let result = side.scalars(&version.definition.result)?;
    let contexts = side.contexts();
    let SymbolicExecutor {
        returned,
        memory,
        accesses,
        trace,
        events,
        slots,
        objects,
        choices,
        assumed,
        undefined_matters,
        chooses,
        arrived,
        chosen,
        ..
    } = side;
    Ok(Behaviour {
        undefined,
        undefined_when,
        returned,
        result,
        memory,
        accesses,
        returns,
        trace,
        events,
        slots,
        objects,
        facts,
        choices,
        assumed,
        undefined_matters,
        chooses,
        begun,
        arrived,
        chosen,
        contexts,
    })
}

impl<'a> SymbolicExecutor<'a> {
    fn file(&self) -> &'a File {
        self.version.file()
    }

    /// At the entry objects that the first version says are there have not been freed.
    fn parameters(&mut self, at_entry: bool) {
        let definition = self.version.definition;
        for (n, (parameter, lanes)) in definition.parameters.iter().zip(&self.given.parameters).enumerate() {
            let promised = |leaf: &Leaf| self.promised_of(&parameter.attributes, &self.given.said[n], *leaf);
            let lanes: Vec<Leaf> = lanes.iter().map(promised).collect();
            self.undefined_matters |= lanes.iter().any(|leaf| leaf.value.poison != Expr::FALSE);
            self.locals.insert(&parameter.name, Local::of(lanes));
        }
        if at_entry && self.choosing.is_first() {
            for (n, bytes) in &self.given.readable {
                let [Leaf { value: Value { bits: address, poison, origin }, .. }] = self.given.parameters[*n][..]
                else {
                    continue;
                };
                self.undefined.push(poison);
                if !self.null_is_valid() {
                    let some = self.s.nonzero(address);
                    let null = self.s.not(some);
                    self.undefined.push(null);
                }
                let origin = origin.unwrap_or(address);
                self.accesses.push(Access {
                    reached: Expr::TRUE,
                    address,
                    place: Address::sum(self.s, &[address]),
                    origin,
                    bytes: *bytes,
                    kind: AccessKind::Promised,
                    allowed: true,
                    epoch: self.epoch,
                    promises: vec![],
                });
            }
        }
    }

    /// A parameter as the second version has it: poison, or undefined, where it breaks what only that version says.
    fn promised_of(&mut self, said: &[String], before: &[String], mut leaf: Leaf) -> Leaf {
        if self.choosing.is_first() {
            return leaf;
        }
        let more: Vec<String> = said.iter().filter(|a| !implied(a, before)).cloned().collect();
        let broken = facts::broken(self.s, &more, leaf.value.bits);
        let undef = leaf.mask.map_or(Expr::FALSE, |mask| self.s.nonzero(mask));
        let may_break = if broken == Expr::FALSE { Expr::FALSE } else { undef };
        leaf.value.poison = self.s.or(&[leaf.value.poison, broken, may_break]);
        if has(&more, "noundef") {
            self.undefined.extend([leaf.value.poison, undef]);
        }
        leaf
    }

    fn null_is_valid(&self) -> bool {
        has(&self.version.definition.attributes, "null_pointer_is_valid")
    }

    fn block(&mut self, at: usize) -> Terms<()> {
        self.enter(at);
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
        fits(self.s)?;
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
            Shape::Return(value) => self.returns(value.as_ref(), at)?,
            Shape::Unreachable => self.undefined(at, Expr::TRUE),
            Shape::Load(_, said) | Shape::Store(.., said) | Shape::Atomic(_, said) if !said.plain => {
                self.ordered(i, said, at)?;
            }
            Shape::Store(..) => self.store(i, at)?,
            Shape::Load(..) => self.load(i, at)?,
            Shape::Plain(operands) if i.opcode == "freeze" => {
                let [value] = operands.as_slice() else { return Err("`freeze`".into()) };
                let lanes = self.lanes(value)?;
                let frozen = lanes.into_iter().map(|lane| self.frozen(lane)).collect();
                self.define(i, Local::Fixed(frozen));
            }
            Shape::Call { callee: Some(callee), args, bundles, .. } if callee == "@llvm.assume" => {
                self.assume(i, args, *bundles, at)?;
            }
            Shape::Call { callee, args, in_memory, bundles, .. } if !is_arithmetic(callee.as_deref()) => {
                if in_memory.iter().any(|m| m.role == Role::Copy) {
                    return Err("it copies a structure for a call".into());
                }
                if *bundles {
                    return Err("a call with operand bundles".into());
                }
                self.call(i, callee.as_deref(), args, at)?;
            }
            Shape::Alloca(slot) => self.slot(i, slot)?,
            _ => {
                self.arguments(i, at)?;
                let computed = self.computed(i, at)?;
                self.undefined(at, computed.undefined);
                if computed.open {
                    self.assumed.insert("the bits of a NaN");
                }
                let loose = self.operands(i).iter().any(|operand| self.is_loose(operand));
                self.define(i, if loose { Local::PerUse } else { Local::Fixed(computed.lanes) });
                let gives = matches!(i.shape, Shape::Call { .. }) && i.flags.iter().any(|flag| flag == "noundef");
                if gives || is_defined(i) {
                    self.gives_no_undef(i, at)?;
                }
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
}
