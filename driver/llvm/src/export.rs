//! Our function back to the body of an LLVM function.
//!
//! The head of the function stays; blocks and values get new names. Opaque instructions are the original text with
//! new operands; operations are written as [`Names`] says, with the flags that [`PoisonAnalysis`] allows. Checks
//! vanish: they state what is undefined in LLVM. So does what is unused.
//!
//! | metadata of | kept |
//! |---|---|
//! | statements (calls, stores, ...) | all |
//! | the end of a block that ends as it did | all; else `!dbg` |
//! | loads | `!dbg`; else what all reads of that place have; what speaks of the value read, if it may be poison |
//! | pure opaque instructions | all, where they are exact; else `!dbg` |
//! | operations | `!dbg` |
//!
//! **Invariant**: what goes out was not checked by LLVM here; it refines the original as far as the function that
//! came in equals it on all values.

mod blocks;
mod calls;
mod memory;
mod operations;
mod values;

use super::import::{Imported, InstPosition, Source};
use super::module::{Definition, File};
use super::names::{InstructionForm, Names};
use super::poison::{Original, PoisonAnalysis, value_of};
use super::types::Type;
use rewright_cfg_skeleton::ir::{
    BlockId, Cfg, Definition as Defined, Function, Inst, InstId, InstKind, OpaqueEffects, PayloadId, Value, definitions,
};
use rewright_typeprop::{OpId, Ty, Universe};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Why a function cannot go out. The original goes out instead.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// An operation that LLVM has no instruction for.
    #[error("operation {0:?} cannot be written in LLVM IR")]
    Unwritable(OpId),
    /// Operands that do not fit.
    #[error("operands of `{0}` do not fit")]
    Operands(String),
    /// A type that LLVM does not have.
    #[error("value {0:?} has a type that LLVM cannot write")]
    Type(Value),
    /// A constant that LLVM does not have.
    #[error("the constant {0} of type {1} cannot be written")]
    Constant(i64, Type),
    /// A use without a definition.
    #[error("value {0:?} is not defined")]
    Undefined(Value),
    /// An address that is not that of a pointer.
    #[error("an access goes to an address that no pointer gave")]
    Address,
    /// A file that defines a C function is not rewritten by what packs say of that function.
    #[error("a call of {0}, which this file defines")]
    Defined(String),
    /// How they are passed, only a declaration tells.
    #[error("{0} takes or gives integers below 32 bits, and the file does not declare it")]
    Undeclared(String),
    /// The declaration in the file wins.
    #[error("the file declares {0} with other types than the pack")]
    Otherwise(String),
    /// How large it is, and whether it goes by registers, only a call of the file tells.
    #[error("{0} takes or gives a structure, and nothing in the file says how that is passed")]
    Structure(String),
    /// A call that cannot be written.
    #[error("{why}")]
    Call {
        /// What is called.
        op: OpId,
        /// Why.
        why: Box<ExportError>,
    },
    /// A payload that import did not make.
    #[error("payload {0:?} is unknown")]
    Payload(PayloadId),
    /// See [`PoisonAnalysis::frozen_twice`].
    #[error("a value that may be poison would be frozen twice")]
    FrozenTwice,
    /// See [`rounded_twice`].
    #[error("a product and sum that may be rounded once or twice would be computed twice")]
    RoundedTwice,
    /// A `switch` that is not on a case of the original.
    #[error("a switch is on a value that is no position of a case")]
    Switch,
}

/// What takes a function's place.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The new body.
    pub body: String,
    /// Declarations that it needs, of intrinsics that the file does not declare.
    pub declarations: Vec<String>,
    /// What its values are called is made from this and their numbers.
    pub prefix: String,
    /// Where a value is frozen that may be poison, once for each.
    pub frozen: Vec<BlockId>,
}

/// Exports `function`, which came from `imported`.
pub fn export(
    function: &Function,
    imported: &Imported,
    file: &File,
    definition: &Definition,
    names: &Names,
    universe: &Universe,
) -> Result<Exported, ExportError> {
    let original = Original::new(&imported.function, universe, makes_poison(imported, names));
    let cfg = Cfg::new(function);
    let needed = needed(function, universe, &cfg);
    let poison = PoisonAnalysis::new(&original, function, universe, names, &|id| needed[id.index()]);
    if poison.frozen_twice(&|id| needed[id.index()]) {
        return Err(ExportError::FrozenTwice);
    }
    if rounded_twice(function, names, &cfg, &needed) {
        return Err(ExportError::RoundedTwice);
    }
    let mut exporter = Exporter {
        function,
        imported,
        file,
        definition,
        names,
        universe,
        original: &original,
        poison: &poison,
        written: written(function, names, &cfg, &needed),
        natives: vec![],
        prefix: prefix(imported),
        opaque_types: FxHashMap::default(),
        temporaries: 0,
        lines: vec![],
        pointers: FxHashMap::default(),
        slots: vec![],
        incoming: BTreeMap::new(),
        declarations: BTreeSet::new(),
    };
    for (value, ty) in imported.payloads.types.iter().enumerate() {
        if names.ty(ty).is_none() {
            exporter.opaque_types.insert(imported.function.values[value], ty.clone());
        }
    }
    exporter.find_natives(&cfg)?;
    let body = exporter.print(&cfg)?;
    let frozen = exporter.frozen(&cfg);
    Ok(Exported { body, declarations: exporter.declarations.into_iter().collect(), prefix: exporter.prefix, frozen })
}

/// Which instructions of the original may be poison although no operand is.
fn makes_poison(imported: &Imported, names: &Names) -> Vec<bool> {
    let Imported { function, body, payloads } = imported;
    let definitions = definitions(function);
    let is_constant = |value: &Value| match definitions[value.index()] {
        Some(Defined::Result(_, id, _)) => matches!(function.inst(id).kind, InstKind::Const(_)),
        _ => false,
    };
    let flagged = |source: Option<&Source>| match source {
        Some(Source::Instruction(place)) => !body.blocks[place.0].instructions[place.1].flags.is_empty(),
        Some(Source::Part(_) | Source::Cases(_) | Source::Constant) => false,
        Some(Source::Fetched(_) | Source::Put(_)) | None => true,
    };
    let flagged_as_a_whole = |source: Option<&Source>| {
        let place = source.and_then(Source::position);
        place.is_none_or(|place| !body.blocks[place.0].instructions[place.1].flags.is_empty())
    };
    let instructions = function.insts.iter().enumerate();
    instructions
        .map(|(id, inst)| {
            let InstKind::Op { op, .. } = &inst.kind else { return true };
            let narrow = match names.written(*op) {
                Some((_, InstructionForm::Shift)) => !inst.args.last().is_some_and(is_constant),
                // The offset of a pointer has the flags of several instructions.
                Some((_, InstructionForm::Conversion | InstructionForm::Offset)) | None => true,
                // Each step has the flags of the instruction that it is a part of.
                Some((_, InstructionForm::Element)) => return flagged_as_a_whole(payloads.sources.get(id)),
                Some(_) => false,
            };
            narrow || flagged(payloads.sources.get(id))
        })
        .collect()
}

/// Instructions that have an effect, and those that they and control need.
fn needed(function: &Function, universe: &Universe, cfg: &Cfg) -> Vec<bool> {
    let mut needed = vec![false; function.insts.len()];
    let mut work: Vec<Value> = vec![];
    let mut defined: Vec<Option<InstId>> = vec![None; function.values.len()];
    for b in cfg.reverse_post_order() {
        let block = function.block(*b);
        for id in &block.insts {
            let inst = function.inst(*id);
            for r in &inst.results {
                defined[r.index()] = Some(*id);
            }
            let effect = match &inst.kind {
                InstKind::Opaque { effects, .. } => *effects != OpaqueEffects::Pure,
                InstKind::Op { op, .. } => !universe.ops.get(*op).effects.is_value(),
                InstKind::Const(_) | InstKind::Check { .. } => false,
            };
            if effect {
                needed[id.index()] = true;
                work.extend(&inst.args);
            }
        }
        work.extend(block.term.operands());
        for edge in block.term.edges() {
            work.extend(edge.args.iter().filter_map(value_of));
        }
    }
    while let Some(v) = work.pop() {
        if let Some(id) = defined[v.index()]
            && !std::mem::replace(&mut needed[id.index()], true)
        {
            work.extend(&function.inst(id).args);
        }
    }
    needed
}

/// Instructions that are needed, except for addresses that only accesses use: those take the pointer itself.
fn written(function: &Function, names: &Names, cfg: &Cfg, needed: &[bool]) -> Vec<bool> {
    let mut is_used = vec![false; function.values.len()];
    for b in cfg.reverse_post_order() {
        let block = function.block(*b);
        for inst in block.insts.iter().filter(|id| needed[id.index()]).map(|id| function.inst(*id)) {
            let is_access = matches!(inst.kind, InstKind::Op { access: Some(_), .. });
            inst.args.iter().skip(usize::from(is_access)).for_each(|v| is_used[v.index()] = true);
        }
        let arguments = block.term.edges().into_iter().flat_map(|edge| &edge.args).filter_map(value_of);
        block.term.operands().iter().copied().chain(arguments).for_each(|v| is_used[v.index()] = true);
    }
    let is_address = |inst: &Inst| match &inst.kind {
        InstKind::Op { op, .. } => matches!(names.written(*op), Some((_, InstructionForm::Address))),
        _ => false,
    };
    let instructions = function.insts.iter().zip(needed);
    instructions
        .map(|(inst, needed)| *needed && !(is_address(inst) && inst.results.iter().all(|v| !is_used[v.index()])))
        .collect()
}

/// Is there an instruction that may round its result in two ways, and that stands twice where one execution comes to both?
/// They might be rounded differently.
fn rounded_twice(function: &Function, names: &Names, cfg: &Cfg, needed: &[bool]) -> bool {
    let mut seen: BTreeMap<Option<u32>, Vec<BlockId>> = BTreeMap::new();
    for b in cfg.reverse_post_order() {
        for id in function.block(*b).insts.iter().filter(|id| needed[id.index()]) {
            let inst = function.inst(*id);
            if let InstKind::Op { op, .. } = &inst.kind
                && names.written(*op).is_some_and(|(opcode, _)| opcode == ROUNDS_EITHER_WAY)
            {
                seen.entry(inst.origin).or_default().push(*b);
            }
        }
    }
    let reaches = |from: BlockId, to: BlockId| {
        let mut reached = BTreeSet::from([from]);
        let mut work = vec![from];
        while let Some(b) = work.pop() {
            work.extend(function.block(b).term.edges().iter().map(|e| e.target).filter(|b| reached.insert(*b)));
        }
        reached.contains(&to)
    };
    seen.values().any(|blocks| {
        let pairs = blocks.iter().enumerate().flat_map(|(i, a)| blocks[i + 1..].iter().map(move |b| (*a, *b)));
        pairs.into_iter().any(|(a, b)| reaches(a, b) || reaches(b, a))
    })
}

/// The intrinsic that rounds a product and a sum once or twice.
const ROUNDS_EITHER_WAY: &str = "llvm.fmuladd";

/// What no local name of the original starts with.
fn prefix(imported: &Imported) -> String {
    let mut prefix = "rw".to_string();
    let labels = imported.body.blocks.iter().map(|b| &b.label);
    let results = imported.body.blocks.iter().flat_map(|b| &b.instructions).filter_map(|i| i.result.as_ref());
    let locals: Vec<&String> = imported.payloads.locals.keys().chain(labels).chain(results).collect();
    while locals.iter().any(|name| name[1..].starts_with(&prefix)) {
        prefix.push('x');
    }
    prefix
}

pub(super) struct Exporter<'a> {
    function: &'a Function,
    imported: &'a Imported,
    file: &'a File,
    definition: &'a Definition,
    names: &'a Names,
    universe: &'a Universe,
    original: &'a Original<'a>,
    poison: &'a PoisonAnalysis<'a>,
    written: Vec<bool>,
    /// By value: the type under which its name goes.
    natives: Vec<Type>,
    prefix: String,
    /// LLVM's type behind each of ours that no pack declares.
    opaque_types: FxHashMap<Ty, Type>,
    temporaries: u32,
    /// Of the current block.
    lines: Vec<String>,
    /// What pointers that go under a type of their own are called: LLVM has one type for all.
    pointers: FxHashMap<Value, String>,
    /// Stack slots for structures.
    slots: Vec<String>,
    /// By target and parameter: what arrives, and from which label.
    incoming: BTreeMap<(BlockId, usize), Vec<(String, String)>>,
    declarations: BTreeSet<String>,
}

impl<'a> Exporter<'a> {
    /// The original instruction that an instruction of the original function came from, if it is one as a whole.
    fn whole(&self, inst: &Inst) -> Option<&'a super::body::Instruction> {
        match self.imported.payloads.sources.get(inst.origin? as usize)? {
            Source::Instruction(place) => Some(self.at(*place)),
            _ => None,
        }
    }

    fn at(&self, place: InstPosition) -> &'a super::body::Instruction {
        &self.imported.body.blocks[place.0].instructions[place.1]
    }

    fn line(&mut self, text: &str, metadata: &str) {
        self.lines.push(format!("  {text}{metadata}\n"));
    }

    /// What an instruction is written as, under the name of its result if it has one.
    fn statement(&mut self, inst: &Inst, text: &str, metadata: &str) -> Result<(), ExportError> {
        match inst.results.first() {
            Some(result) => {
                let name = self.raw(*result)?;
                self.line(&format!("{name} = {text}"), metadata);
            }
            None => self.line(text, metadata),
        }
        Ok(())
    }

    fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("%{}.t{}", self.prefix, self.temporaries)
    }

    /// `, !dbg !5`, where the instruction came from one that has it.
    fn location(&self, inst: &Inst) -> String {
        let place = inst.origin.and_then(|o| self.imported.payloads.sources.get(o as usize));
        let Some(place) = place.and_then(Source::position) else { return String::new() };
        metadata_text(self.at(place).metadata.iter().filter(|(kind, _)| kind == "!dbg"))
    }
}

fn metadata_text<'m>(list: impl Iterator<Item = &'m (String, String)>) -> String {
    list.map(|(kind, node)| format!(", {kind} {node}")).collect()
}
