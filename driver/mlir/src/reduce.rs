//! Reductions of parallel loops: what iterations give, and how that is combined.
//!
//! A loop in one order carries what is combined so far. Names of values that no text has contain spaces.

use crate::syntax::{Op, Region, Unsupported};
use std::collections::BTreeMap;

/// How results are combined, the first values, and what each iteration gives.
pub(crate) struct Reduction {
    /// The first value.
    init: String,
    ty: String,
    /// What an iteration gives.
    given: String,
    /// Combines two values of these names to one.
    combine: Region,
    /// The operation, where it is one of two values and has no flags.
    pub(crate) by: Option<String>,
    pub(crate) line: u32,
}

/// Kinds of `affine.parallel` by number: the operation, and the neutral element.
const KINDS: [(&str, &str, &str); 15] = [
    ("addf", "arith.addf", "0.0"),
    ("addi", "arith.addi", "0"),
    ("assign", "", ""),
    ("maximumf", "arith.maximumf", "0xFF"),
    ("maxs", "arith.maxsi", "least"),
    ("maxu", "arith.maxui", "0"),
    ("minimumf", "arith.minimumf", "0x7F"),
    ("mins", "arith.minsi", "most"),
    ("minu", "arith.minui", "-1"),
    ("mulf", "arith.mulf", "1.0"),
    ("muli", "arith.muli", "1"),
    ("ori", "arith.ori", "0"),
    ("andi", "arith.andi", "-1"),
    ("maxnumf", "", ""),
    ("minnumf", "", ""),
];

/// The name of the value that is combined so far, within the loop at a depth.
fn so_far(n: usize, depth: usize) -> String {
    format!("%combined {n} at {depth}")
}

impl Reduction {
    /// Those of `affine.parallel`, with the constants that they begin with.
    pub(crate) fn of_affine(op: &Op, last: Option<&Op>) -> Result<(Vec<Reduction>, Vec<Op>), Unsupported> {
        let text = op.attribute("reductions").unwrap_or_default();
        let text = text.trim_matches(['[', ']']);
        let kinds: Vec<&str> = text.split(',').map(str::trim).filter(|kind| !kind.is_empty()).collect();
        let given = last.filter(|last| last.name == "affine.yield").map_or([].as_slice(), |last| &last.operands);
        if kinds.len() != op.results.len() || kinds.len() != op.result_types.len() || kinds.len() != given.len() {
            return Err(op.unsupported("as many reductions as results and yielded values are expected"));
        }
        let (mut reductions, mut constants) = (vec![], vec![]);
        for (n, ((kind, ty), given)) in kinds.into_iter().zip(&op.result_types).zip(given).enumerate() {
            let named = kind.trim_matches('"');
            let number = named.split(':').next().and_then(|number| number.trim().parse::<usize>().ok());
            let found = KINDS.iter().enumerate().find(|(m, (name, ..))| *name == named || Some(*m) == number);
            let (operation, neutral) = match found {
                Some((_, (_, operation, neutral))) if !operation.is_empty() => {
                    (*operation, neutral_element(neutral, ty))
                }
                _ => return Err(op.unsupported(format!("the reduction `{named}` is not known"))),
            };
            let value = neutral.ok_or_else(|| op.unsupported(format!("a reduction of type `{ty}`")))?;
            let init = format!("%neutral {n}");
            constants.push(Op {
                name: "arith.constant".into(),
                results: vec![init.clone()],
                attributes: vec![("value".into(), value)],
                result_types: vec![ty.clone()],
                line: op.line,
                ..Op::default()
            });
            let combine = Op {
                name: operation.into(),
                results: vec!["%both".into()],
                operands: vec!["%a".into(), "%b".into()],
                operand_types: vec![ty.clone()],
                result_types: vec![ty.clone()],
                line: op.line,
                ..Op::default()
            };
            let end = Op { name: "scf.reduce.return".into(), operands: vec!["%both".into()], ..Op::default() };
            let arguments = vec![("%a".to_string(), ty.clone()), ("%b".to_string(), ty.clone())];
            let combine = Region { arguments, ops: vec![combine, end], more: vec![] };
            let (ty, given, by) = (ty.clone(), given.clone(), Some(operation.to_string()));
            reductions.push(Reduction { init, ty, given, combine, by, line: op.line });
        }
        Ok((reductions, constants))
    }

    /// Those of `scf.parallel`: the operands and regions of what reduces them.
    pub(crate) fn of_scf(op: &Op, inits: &[String], reduce: &[&Op]) -> Result<Vec<Reduction>, Unsupported> {
        let mut reductions = vec![];
        for reduce in reduce {
            if reduce.operands.len() != reduce.regions.len() {
                return Err(reduce.unsupported("as many bodies as operands are expected"));
            }
            for (given, combine) in reduce.operands.iter().zip(&reduce.regions) {
                let n = reductions.len();
                let (Some(init), Some(ty)) = (inits.get(n), op.result_types.get(n)) else {
                    return Err(reduce.unsupported("as many reductions as results are expected"));
                };
                let end = combine.ops.last().filter(|end| end.name == "scf.reduce.return" && end.operands.len() == 1);
                if combine.arguments.len() != 2 || end.is_none() || !combine.more.is_empty() {
                    return Err(reduce.unsupported("the form of its body"));
                }
                let (init, ty, given) = (init.clone(), ty.clone(), given.clone());
                let by = plain(combine);
                reductions.push(Reduction { init, ty, given, combine: combine.clone(), by, line: reduce.line });
            }
        }
        if reductions.len() != inits.len() || reductions.len() != op.results.len() {
            return Err(op.unsupported("as many reductions as results and first values are expected"));
        }
        Ok(reductions)
    }

    /// The operations that combine what an iteration gives with what there is, and the name of what that makes.
    fn combined(&self, n: usize, depth: usize) -> Result<(Vec<Op>, String), Unsupported> {
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let [(a, _), (b, _)] = self.combine.arguments.as_slice() else { return Ok((vec![], self.given.clone())) };
        names.insert(a, so_far(n, depth));
        names.insert(b, self.given.clone());
        let mut ops = vec![];
        for op in &self.combine.ops {
            let operands = op.operands.iter().map(|o| names.get(o.as_str()).unwrap_or(o).clone()).collect();
            if op.name == "scf.reduce.return" {
                let operands: Vec<String> = operands;
                return Ok((ops, operands.into_iter().next().unwrap_or_default()));
            }
            if !op.regions.is_empty() {
                return Err(op.unsupported("regions in a reduction"));
            }
            let results: Vec<String> = op.results.iter().map(|result| format!("{result} of {n}")).collect();
            names.extend(op.results.iter().map(String::as_str).zip(results.clone()));
            ops.push(Op { operands, results, ..op.clone() });
        }
        Ok((ops, self.given.clone()))
    }
}

/// The one operation of a body that combines both its arguments.
fn plain(combine: &Region) -> Option<String> {
    let ([(a, _), (b, _)], [op, end]) = (combine.arguments.as_slice(), combine.ops.as_slice()) else { return None };
    let [x, y] = op.operands.as_slice() else { return None };
    let both = (x == a && y == b) || (x == b && y == a);
    (both && op.results == end.operands && op.attributes.is_empty()).then(|| op.name.clone())
}

/// The text of a constant.
fn neutral_element(name: &str, ty: &str) -> Option<String> {
    let width: u32 = match ty {
        "index" => 64,
        _ => ty.strip_prefix(['i', 'f'])?.parse().ok().filter(|width| (1..=64).contains(width))?,
    };
    if ty.starts_with('f') {
        let digits = width as usize / 4;
        return Some(match name.strip_prefix("0x") {
            // An infinity.
            Some(sign) if width == 32 => format!("0x{sign}800000"),
            Some(sign) if width == 64 => format!("0x{sign}F0{}", "0".repeat(digits - 4)),
            Some(_) => return None,
            None if name.contains('.') => name.to_string(),
            None => return None,
        });
    }
    let most = (1i128 << (width - 1)) - 1;
    Some(match name {
        "least" => (-most - 1).to_string(),
        "most" => most.to_string(),
        _ if name.contains(['.', 'x']) => return None,
        _ => name.to_string(),
    })
}

/// Heads of nested loops, outermost first, around a body, as one loop that carries what is combined.
pub(crate) fn nested(
    op: &Op,
    heads: Vec<Op>,
    mut body: Vec<Op>,
    reductions: &[Reduction],
    variables: &[(String, String)],
) -> Result<Op, Unsupported> {
    let depth = heads.len();
    let mut yielded = vec![];
    for (n, reduction) in reductions.iter().enumerate() {
        let (ops, name) = reduction.combined(n, depth - 1)?;
        body.extend(ops);
        yielded.push(name);
    }
    let types: Vec<String> = reductions.iter().map(|reduction| reduction.ty.clone()).collect();
    for (level, (head, variable)) in heads.into_iter().zip(variables).enumerate().rev() {
        if !reductions.is_empty() {
            body.push(Op { name: "scf.yield".into(), operands: yielded, line: op.line, ..Op::default() });
        }
        let all = 0..reductions.len();
        let carried = all.clone().map(|n| (so_far(n, level), types[n].clone()));
        let arguments = std::iter::once(variable.clone()).chain(carried).collect();
        let inits = all.clone().map(|n| match level {
            0 => reductions[n].init.clone(),
            _ => so_far(n, level - 1),
        });
        let results: Vec<String> = match level {
            0 => op.results.clone(),
            _ => all.map(|n| format!("%inner {n} at {level}")).collect(),
        };
        let operands = head.operands.iter().cloned().chain(inits).collect();
        let region = Region { arguments, ops: body, more: vec![] };
        yielded = results.clone();
        let result_types = types.clone();
        body = vec![Op { operands, results, result_types, regions: vec![region], line: op.line, ..head }];
    }
    body.pop().ok_or_else(|| op.unsupported("it has no loops"))
}
