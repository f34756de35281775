//! Branches of the first version that other branches have decided before: behind the true arm of `x == 0`, `x != 0` is
//! false. Bodies that stand in the place of calls ([`inlined`](mod@super::inlined)) ask much of what their caller knows.
//!
//! A value that is computed twice from `undef` may differ each time; that it is the same is one of the behaviours of the
//! first version. Of the second version that would be wrong.

use super::flow::Flow;
use super::instructions::{is_of_operands, jump, taking};
use rewright_llvm::body::{Block, Body, Instruction, Operand, Shape};
use rewright_llvm::types::Type;
use rustc_hash::FxHashMap;

/// Predicates of `icmp`, and what is true where they are not.
const INVERSES: [[&str; 2]; 5] = [
    ["icmp eq", "icmp ne"],
    ["icmp ult", "icmp uge"],
    ["icmp ugt", "icmp ule"],
    ["icmp slt", "icmp sge"],
    ["icmp sgt", "icmp sle"],
];

/// The first version's body, in which the same is computed once on each path, without branches that are decided; `None`
/// where there is none.
pub(super) fn decided(body: &Body) -> Option<Body> {
    let body = computed_once(body);
    let flow = Flow::new(&body);
    let known = Known::new(&flow);
    let mut blocks = body.blocks.clone();
    let mut found = false;
    for at in flow.order() {
        let Some(last) = blocks[*at].instructions.last_mut() else { continue };
        let Shape::Branch(condition, [yes, no]) = &last.shape else { continue };
        if let Some(holds) = known.value(&flow, condition, *at) {
            *last = jump(if holds { yes } else { no });
            found = true;
        }
    }
    found.then(|| without_unreached(&Body { blocks, variables: body.variables.clone() }))
}

/// The body, in which what was computed on all paths to an instruction is not computed again there.
fn computed_once(body: &Body) -> Body {
    let flow = Flow::new(body);
    let mut blocks = body.blocks.clone();
    // By what is computed: where, and the result.
    let mut before: FxHashMap<Computed, Vec<(usize, String)>> = FxHashMap::default();
    let mut others: FxHashMap<String, String> = FxHashMap::default();
    for at in flow.order() {
        for i in &mut blocks[*at].instructions {
            i.replace(|name| others.get(name).cloned());
            let (Some(result), Some(computed)) = (&i.result, Computed::of(i)) else { continue };
            let all = before.entry(computed).or_default();
            match all.iter().find(|(above, _)| flow.dominates(*above, *at)) {
                Some((_, other)) => _ = others.insert(result.clone(), other.clone()),
                None => all.push((*at, result.clone())),
            }
        }
    }
    // A value that comes from behind into a phi has been replaced since.
    for block in &mut blocks {
        for i in &mut block.instructions {
            i.replace(|name| others.get(name).cloned());
        }
        block.instructions.retain(|i| i.result.as_ref().is_none_or(|result| !others.contains_key(result)));
    }
    Body { blocks, variables: body.variables.clone() }
}

/// An operation on operands, the same wherever it is computed.
#[derive(PartialEq, Eq, Hash)]
struct Computed {
    opcode: String,
    flags: Vec<String>,
    indices: Vec<u64>,
    /// The type of the result; of an address, the type that its first index counts.
    ty: Type,
    operands: Vec<Operand>,
    /// Attached metadata (`!fpmath`), without debug locations.
    metadata: Vec<(String, String)>,
}

impl Computed {
    /// `None` where it does not depend on operands alone.
    fn of(i: &Instruction) -> Option<Computed> {
        if !is_of_operands(i) {
            return None;
        }
        let (ty, operands) = match &i.shape {
            Shape::Plain(operands) => (&i.ty, operands.clone()),
            Shape::Offset { base, source, indices } => (source, [base].into_iter().chain(indices).cloned().collect()),
            _ => return None,
        };
        Some(Computed {
            opcode: i.opcode.clone(),
            flags: i.flags.clone(),
            indices: i.indices.clone(),
            ty: ty.clone(),
            operands,
            metadata: i.metadata.iter().filter(|(kind, _)| kind != "!dbg").cloned().collect(),
        })
    }
}

/// Conditions that branches decide.
struct Known {
    /// By a condition's predicate and operands: where control comes only if it is so, or is not.
    decided: FxHashMap<Condition, Vec<(usize, bool)>>,
}

/// A predicate, the first one of its pair of [`INVERSES`], and its operands; or a value.
#[derive(PartialEq, Eq, Hash)]
enum Condition {
    Compared(&'static str, Vec<Operand>),
    Value(String),
}

impl Known {
    fn new(flow: &Flow<'_>) -> Known {
        let mut decided: FxHashMap<Condition, Vec<(usize, bool)>> = FxHashMap::default();
        for (condition, arms) in flow.order().iter().filter_map(|at| flow.decides(*at)) {
            let (condition, as_is) = Condition::of(flow, condition);
            decided.entry(condition).or_default().extend(arms.into_iter().map(|(to, holds)| (to, holds == as_is)));
        }
        Known { decided }
    }

    /// Whether a condition holds at the end of a block, where that is known.
    fn value(&self, flow: &Flow<'_>, condition: &Operand, at: usize) -> Option<bool> {
        let (condition, as_is) = Condition::of(flow, condition);
        if let Condition::Compared("icmp eq", operands) = &condition
            && let [Some(one), Some(other)] = [0, 1].map(|n| operands.get(n).and_then(number))
        {
            return Some((one == other) == as_is);
        }
        let all = self.decided.get(&condition)?;
        all.iter().find(|(arm, _)| flow.dominates(*arm, at)).map(|(_, holds)| *holds == as_is)
    }
}

impl Condition {
    /// A condition, and whether it is so or its inverse.
    fn of(flow: &Flow<'_>, condition: &Operand) -> (Condition, bool) {
        let made = flow.definition(&condition.text).map(|(_, i)| i).filter(|i| i.flags.is_empty());
        if let Some(Instruction { opcode, shape: Shape::Plain(operands), .. }) = made {
            for [one, other] in INVERSES {
                if opcode == one || opcode == other {
                    return (Condition::Compared(one, operands.clone()), opcode == one);
                }
            }
        }
        (Condition::Value(condition.text.clone()), true)
    }
}

/// The bits of an integer that is written down.
fn number(operand: &Operand) -> Option<u128> {
    let Type::Int(width @ 1..=127) = operand.ty else { return None };
    let value: i128 = operand.text.parse().ok()?;
    Some(value as u128 & ((1 << width) - 1))
}

/// The body without blocks that nothing leads to.
fn without_unreached(body: &Body) -> Body {
    let flow = Flow::new(body);
    let comes = |from: &String, to: usize| flow.predecessors(to).any(|at| body.blocks[at].label == *from);
    let blocks = body.blocks.iter().enumerate().filter(|(at, _)| flow.order().contains(at)).map(|(at, block)| {
        let mut block: Block = block.clone();
        for i in &mut block.instructions {
            if let Shape::Phi(values) = &mut i.shape {
                values.retain(|(_, from)| comes(from, at));
                (i.template, i.bare) = (taking(values.iter().map(|(value, _)| value)), None);
            }
        }
        block
    });
    Body { blocks: blocks.collect(), variables: body.variables.clone() }
}
