//! Why a function costs more than what Cranelift's mid-end makes of it, from facts about this run: what became of
//! the function, whether its budgets held, and which instructions the two results do not have in common.
//!
//! **Invariant**: a [`Reason`] follows from one outcome and two functions; nothing here knows a function by name.

use cranelift_codegen::ir as clif;
use rewright_cfg_skeleton::ir::InstKind;
use rewright_cfg_skeleton::select::Status;
use rewright_clif::import::Imported;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::File;
use rewright_pipeline::optimiser::{Fate, FunctionOutcome, OptimisedFunction, Options};
use std::collections::BTreeMap;
use std::fmt;

/// Why we lose, the most decisive cause first.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// The original went out, and why.
    NotOptimised(String),
    /// The rules were stopped by their budget.
    BudgetExhausted,
    /// We keep instructions of these opcodes and types that no pack declares, so no rule can speak of them.
    Opaque(Vec<String>),
    /// A cheaper selection may be in the e-graph: at most this much above the bound (relative), if one was computed.
    NotProvedCheapest(Option<f64>),
    /// The rules found nothing equal and cheaper: one that Cranelift has is missing here.
    NoRule,
    /// Both have the same instructions, in blocks of other frequency or with other moves between them.
    Placement,
}

/// A loss, explained.
#[derive(Clone, PartialEq, Debug)]
pub struct Loss {
    /// Why.
    pub reason: Reason,
    /// Instructions that only our result has, by opcode and type.
    pub ours: Vec<String>,
    /// Instructions that only Cranelift's result has.
    pub theirs: Vec<String>,
}

/// A result as a front end reads it.
#[derive(Clone, Copy)]
pub struct ImportedResult<'a> {
    /// Cranelift's form.
    pub clif: &'a clif::Function,
    /// Ours.
    pub imported: &'a Imported,
}

/// The costs of one function.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// As it came.
    pub before: u64,
    /// As we make it.
    pub ours: u64,
    /// As Cranelift's mid-end makes it.
    pub theirs: u64,
    /// Where ours costs more.
    pub loss: Option<Loss>,
}

/// Prices what takes the place of a function of a file, ours first and Cranelift's second, as the front end reads
/// them; `None` where it does not read one of them.
pub fn compare(
    clif: &ClifOptimiser,
    options: &Options,
    file: &File,
    made: &FunctionOutcome,
    [ours, theirs]: [&clif::Function; 2],
) -> Option<Compared> {
    let outcome = made.outcome.as_ref()?;
    let (a, b) =
        (clif.import_function(ours, file.endianness()).ok()?, clif.import_function(theirs, file.endianness()).ok()?);
    let cost =
        |imported: &Imported| clif.optimiser.cost_of(&imported.function, &clif.optimiser.program().universe, options);
    let (cost_of_ours, cost_of_theirs) = (cost(&a), cost(&b));
    let loss = (cost_of_ours > cost_of_theirs).then(|| {
        let (ours, theirs) =
            (ImportedResult { clif: ours, imported: &a }, ImportedResult { clif: theirs, imported: &b });
        explain(&made.fate, outcome, ours, theirs)
    });
    Some(Compared { before: outcome.cost_before, ours: cost_of_ours, theirs: cost_of_theirs, loss })
}

/// Explains why `ours`, which came of `outcome` with `fate`, costs more than `theirs`.
pub fn explain(fate: &Fate, outcome: &OptimisedFunction, ours: ImportedResult<'_>, theirs: ImportedResult<'_>) -> Loss {
    let (a, b) = (instructions(ours), instructions(theirs));
    let only = |x: &BTreeMap<Mnemonic, usize>, y: &BTreeMap<Mnemonic, usize>| -> Vec<(Mnemonic, usize)> {
        let more = x.iter().map(|(m, n)| (m.clone(), n.saturating_sub(y.get(m).copied().unwrap_or(0))));
        more.filter(|(_, n)| *n > 0).collect()
    };
    let (only_ours, only_theirs) = (only(&a, &b), only(&b, &a));
    let opaque: Vec<String> = only_ours.iter().filter(|(m, _)| m.opaque).map(|(m, _)| m.text.clone()).collect();
    let reason = match fate {
        Fate::PassedThrough(why) | Fate::Failed(why) => Reason::NotOptimised(why.clone()),
        Fate::Optimised | Fate::Unchanged => match () {
            () if outcome.exhausted() => Reason::BudgetExhausted,
            () if !opaque.is_empty() => Reason::Opaque(opaque),
            () if only_ours.is_empty() && only_theirs.is_empty() => Reason::Placement,
            () => match outcome.status {
                Status::Optimal => Reason::NoRule,
                Status::Gap(gap) => Reason::NotProvedCheapest(Some(gap)),
                Status::Greedy => Reason::NotProvedCheapest(None),
            },
        },
    };
    let list = |all: Vec<(Mnemonic, usize)>| -> Vec<String> {
        all.into_iter().map(|(m, n)| if n == 1 { m.text } else { format!("{n} {}", m.text) }).collect()
    };
    Loss { reason, ours: list(only_ours), theirs: list(only_theirs) }
}

/// An opcode at a type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Mnemonic {
    text: String,
    opaque: bool,
}

/// How often each occurs; terminators and constants that are only immediates are not counted.
fn instructions(side: ImportedResult<'_>) -> BTreeMap<Mnemonic, usize> {
    let mut count = BTreeMap::new();
    let function = &side.imported.function;
    for block in &function.layout {
        for inst in function.block(*block).insts.iter().map(|i| function.inst(*i)) {
            let Some(origin) = inst.origin.map(clif::Inst::from_u32) else { continue };
            let opaque = matches!(inst.kind, InstKind::Opaque { .. });
            *count.entry(Mnemonic { text: mnemonic(side.clif, origin), opaque }).or_default() += 1;
        }
    }
    count
}

/// `icmp eq.i32x4`: of a comparison and of what has no result the type is that of the first operand.
fn mnemonic(function: &clif::Function, inst: clif::Inst) -> String {
    let data = &function.dfg.insts[inst];
    let ty = |value: clif::Value| function.dfg.value_type(value);
    let operand = function.dfg.inst_args(inst).first().copied().map(ty);
    let result = function.dfg.inst_results(inst).first().copied().map(ty);
    let (cond, ty) = match data {
        clif::InstructionData::IntCompare { cond, .. } => (format!(" {cond}"), operand),
        clif::InstructionData::FloatCompare { cond, .. } => (format!(" {cond}"), operand),
        _ => (String::new(), result.or(operand)),
    };
    format!("{}{cond}{}", data.opcode(), ty.map_or_else(String::new, |ty| format!(".{ty}")))
}

impl Reason {
    /// A word for programs to read.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::NotOptimised(_) => "not_optimised",
            Reason::BudgetExhausted => "budget_exhausted",
            Reason::Opaque(_) => "opaque",
            Reason::NotProvedCheapest(_) => "not_proved_cheapest",
            Reason::NoRule => "no_rule",
            Reason::Placement => "placement",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NotOptimised(why) => write!(f, "the original went out: {why}"),
            Reason::BudgetExhausted => write!(f, "the rules were stopped by their budget"),
            Reason::Opaque(all) => write!(f, "no pack declares {}", all.join(", ")),
            Reason::NotProvedCheapest(gap) => {
                write!(f, "no rule leads there, or the selection missed it: ")?;
                match gap {
                    Some(gap) => write!(f, "it is at most {:.1} % above the bound", gap * 100.0),
                    None => write!(f, "no bound was computed"),
                }
            }
            Reason::NoRule => write!(f, "no rule leads there"),
            Reason::Placement => write!(f, "the same instructions in other blocks, or more moves"),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        match (self.ours.is_empty(), self.theirs.is_empty()) {
            (true, true) => Ok(()),
            (false, true) => write!(f, "; it drops {}", self.ours.join(", ")),
            (true, false) => write!(f, "; it has {}", self.theirs.join(", ")),
            (false, false) => write!(f, "; {} instead of {}", self.theirs.join(", "), self.ours.join(", ")),
        }
    }
}
