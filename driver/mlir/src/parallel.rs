//! Parallel loops as loops in one order: `affine.parallel`, `scf.parallel` and `scf.forall`.

use crate::reduce::{Reduction, nested};
use crate::syntax::{Op, Unsupported};

/// What ends the body of a parallel loop.
const ENDS: [&str; 4] = ["affine.yield", "scf.yield", "scf.reduce", "scf.forall.in_parallel"];

/// One of several loops: its operation without a body.
type Head = Op;

/// A parallel loop in one order.
pub(crate) struct InOrder {
    /// What comes first: neutral elements.
    pub(crate) before: Vec<Op>,
    /// Nested loops that execute the iterations in the order of their numbers.
    pub(crate) loops: Op,
    /// What they combine.
    pub(crate) reductions: Vec<Reduction>,
}

/// A parallel loop as nested loops.
pub(crate) fn in_order(op: &Op) -> Result<InOrder, Unsupported> {
    let region = match op.regions.as_slice() {
        [region] if region.more.is_empty() => region,
        _ => return Err(op.unsupported("a body of one block is expected")),
    };
    let (heads, inits) = match op.name.as_str() {
        "affine.parallel" => (of_affine(op)?, [].as_slice()),
        "scf.parallel" => of_scf(op)?,
        _ => (of_forall(op)?, [].as_slice()),
    };
    if heads.len() != region.arguments.len() || heads.is_empty() {
        return Err(op.unsupported("as many bounds and steps as variables are expected"));
    }
    let last = region.ops.last().filter(|last| ENDS.contains(&last.name.as_str()));
    let (reductions, before) = match op.name.as_str() {
        "affine.parallel" => Reduction::of_affine(op, last)?,
        "scf.parallel" => {
            // Older versions have one for each result, before the end.
            let reduces: Vec<&Op> = region.ops.iter().filter(|inner| inner.name == "scf.reduce").collect();
            (Reduction::of_scf(op, inits, &reduces)?, vec![])
        }
        _ if op.result_types.is_empty() && last.is_none_or(|last| last.regions.iter().all(|r| r.ops.is_empty())) => {
            (vec![], vec![])
        }
        _ => return Err(op.unsupported("tensors are not understood")),
    };
    let own = region.ops.len() - usize::from(last.is_some());
    let body = region.ops[..own].iter().filter(|inner| inner.name != "scf.reduce").cloned().collect();
    let loops = nested(op, heads, body, &reductions, &region.arguments)?;
    Ok(InOrder { before, loops, reductions })
}

/// Each loop has some of the results of the maps of bounds.
fn of_affine(op: &Op) -> Result<Vec<Head>, Unsupported> {
    let [lower, upper] = ["lowerBounds", "upperBounds"].map(|name| Bounds::read(op, name));
    let (lower, upper) = (lower?, upper?);
    let steps = op.integers("steps")?;
    if steps.len() != lower.maps.len()
        || steps.len() != upper.maps.len()
        || lower.operands + upper.operands != op.operands.len()
    {
        return Err(op.unsupported("as many bounds and steps as variables are expected"));
    }
    let sizes = format!("{}, {}, 0", lower.operands, upper.operands);
    let head = |((lower, upper), step): ((String, String), &i128)| {
        affine_for(op.operands.clone(), [lower, upper], *step, &sizes)
    };
    Ok(lower.maps.into_iter().zip(upper.maps).zip(&steps).map(head).collect())
}

fn affine_for(operands: Vec<String>, [lower, upper]: [String; 2], step: i128, sizes: &str) -> Head {
    let attributes = vec![
        ("lowerBoundMap".to_string(), lower),
        ("upperBoundMap".to_string(), upper),
        ("step".to_string(), step.to_string()),
        ("operandSegmentSizes".to_string(), sizes.to_string()),
    ];
    Op { name: "affine.for".into(), operands, attributes, ..Op::default() }
}

/// Bounds of all loops.
struct Bounds {
    /// A map for each loop.
    maps: Vec<String>,
    /// How many operands they have.
    operands: usize,
}

impl Bounds {
    fn read(op: &Op, name: &str) -> Result<Bounds, Unsupported> {
        let error = || op.unsupported(format!("the form of `{name}` is not understood"));
        let text = op.attribute(&format!("{name}Map")).ok_or_else(error)?;
        let (head, results) = text.split_once("->").ok_or_else(error)?;
        let results = results.trim().strip_suffix('>').map(str::trim).ok_or_else(error)?;
        let results = results.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).ok_or_else(error)?;
        let results = split(results);
        let groups = op.integers(&format!("{name}Groups"))?.into_iter().map(|n| usize::try_from(n).ok());
        let groups: Vec<usize> = groups.collect::<Option<_>>().ok_or_else(error)?;
        if groups.iter().sum::<usize>() != results.len() {
            return Err(error());
        }
        let mut rest = results.as_slice();
        let mut maps = vec![];
        for size in groups {
            let (own, others) = rest.split_at(size);
            maps.push(format!("{head}-> ({})>", own.join(",")));
            rest = others;
        }
        let operands = head.chars().filter(|c| *c == '(' || *c == '[').count();
        let named = head.split(['(', '[']).skip(1).take(operands);
        let count = |list: &str| {
            let list = list.split([')', ']']).next().unwrap_or_default().trim();
            if list.is_empty() { 0 } else { list.split(',').count() }
        };
        Ok(Bounds { maps, operands: named.map(count).sum() })
    }
}

/// The parts between commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (vec![], 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// The loops, and first values of reductions.
fn of_scf(op: &Op) -> Result<(Vec<Head>, &[String]), Unsupported> {
    let sizes = op.integers("operandSegmentSizes")?;
    let loops = sizes.first().and_then(|n| usize::try_from(*n).ok()).unwrap_or(0);
    if sizes.len() != 4 || sizes[..3].iter().any(|n| *n != sizes[0]) || 3 * loops > op.operands.len() {
        return Err(op.unsupported("as many bounds and steps as variables are expected"));
    }
    let head = |n: usize| {
        let operands = [n, n + loops, n + 2 * loops].map(|n| op.operands[n].clone()).to_vec();
        Op { name: "scf.for".into(), operands, ..Op::default() }
    };
    Ok(((0..loops).map(head).collect(), &op.operands[3 * loops..]))
}

/// A bound is a number or an operand.
fn of_forall(op: &Op) -> Result<Vec<Head>, Unsupported> {
    let error = || op.unsupported("as many bounds and steps as variables are expected");
    let mut operands = op.operands.iter();
    let mut all = vec![];
    for name in ["staticLowerBound", "staticUpperBound", "staticStep"] {
        let mut bounds = vec![];
        for number in op.integers(name)? {
            let is_operand = number == i128::from(i64::MIN);
            bounds.push(if is_operand { Err(operands.next().ok_or_else(error)?) } else { Ok(number) });
        }
        all.push(bounds);
    }
    if operands.next().is_some() {
        return Err(op.unsupported("tensors are not understood"));
    }
    let [lower, upper, steps] = all.as_slice() else { return Err(error()) };
    if lower.len() != upper.len() || lower.len() != steps.len() {
        return Err(error());
    }
    let map = |bound: &Result<i128, &String>| match bound {
        Ok(number) => (format!("affine_map<() -> ({number})>"), vec![]),
        Err(name) => ("affine_map<(d0) -> (d0)>".to_string(), vec![(*name).clone()]),
    };
    let mut heads = vec![];
    for ((lower, upper), step) in lower.iter().zip(upper).zip(steps) {
        let Ok(step) = step else { return Err(op.unsupported("the step is no constant")) };
        let ((low, mut operands), (high, more)) = (map(lower), map(upper));
        let sizes = format!("{}, {}, 0", operands.len(), more.len());
        operands.extend(more);
        heads.push(affine_for(operands, [low, high], *step, &sizes));
    }
    Ok(heads)
}
