//! Blocks with branches as `scf.if` and `scf.for`: what `--convert-scf-to-cf` and `--scf-for-to-while` have made is undone.
//!
//! A loop has one block that all its iterations begin with, is left from there only, and counts ([`counted`]). Paths that
//! part meet again where all of them lead: what comes before is in the arms of a branch. Code that several paths share, and
//! that is not where all meet, is in several arms.
//!
//! Names that no text has contain spaces.

mod counted;
mod graph;
mod unused;

use crate::syntax::{Block, Op, Region, Unsupported};
use counted::{Constants, Loop, number};
use graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};

type Structured<T> = Result<T, Unsupported>;

/// Operations that are written, by those that are read, until it is given up.
const MAX_GROWTH: usize = 8;

/// Functions of more blocks are not looked at.
const MAX_BLOCKS: usize = 4_000;

/// A body in which no operation branches to a block, and loops count. Others are as they were.
pub(crate) fn structured(body: &Region) -> Structured<Region> {
    if !needs(body) {
        return Ok(body.clone());
    }
    let blocks = blocks(body);
    if blocks.len() > MAX_BLOCKS {
        return Err(Unsupported { line: blocks[0].line, what: format!("more than {MAX_BLOCKS} blocks") });
    }
    let graph = Graph::new(&blocks)?;
    let most = MAX_GROWTH * blocks.iter().map(|block| count(&block.ops)).sum::<usize>();
    let (names, taken, constants) = (FxHashMap::default(), FxHashSet::default(), Constants::default());
    let mut writer = Writer { blocks: &blocks, graph, constants, names, taken, joins: 0, left: most };
    let arguments = writer.define(&body.arguments);
    let (ops, _) = writer.path(0, None)?;
    let mut region = Region { arguments, ops, more: vec![] };
    unused::drop_unused(&mut region);
    Ok(region)
}

/// Whether a region has several blocks, or a loop that decides itself when it ends.
pub(crate) fn needs(region: &Region) -> bool {
    let in_op = |op: &Op| op.name == "scf.while" || op.regions.iter().any(needs);
    !region.more.is_empty() || region.ops.iter().any(in_op)
}

/// Operations, those in others too.
fn count(ops: &[Op]) -> usize {
    ops.iter().map(|op| 1 + op.regions.iter().map(|region| count(&region.ops)).sum::<usize>()).sum()
}

/// All blocks of a region; the first one has its arguments.
fn blocks(body: &Region) -> Vec<Block> {
    let line = body.ops.first().map_or(0, |op| op.line);
    let first = Block { label: String::new(), arguments: body.arguments.clone(), ops: body.ops.clone(), line };
    std::iter::once(first).chain(body.more.iter().cloned()).collect()
}

struct Writer<'a> {
    blocks: &'a [Block],
    graph: Graph,
    constants: Constants,
    /// What names stand for here: each value that is written has a name of its own.
    names: FxHashMap<String, String>,
    taken: FxHashSet<String>,
    joins: usize,
    /// Operations that may still be written.
    left: usize,
}

/// Operations, and what they pass to where they lead.
type Path = (Vec<Op>, Vec<String>);

impl Writer<'_> {
    /// What is executed from a block on, until control gets to the block `end`.
    fn path(&mut self, start: usize, end: Option<usize>) -> Structured<Path> {
        let (mut ops, mut at) = (vec![], start);
        loop {
            let block = &self.blocks[at];
            let (last, rest) = block.ops.split_last().ok_or_else(|| missing(block))?;
            for op in rest {
                self.copy(op, &mut ops)?;
            }
            let next = match (last.name.as_str(), self.graph.targets[at].as_slice()) {
                ("func.return", []) => {
                    self.copy(last, &mut ops)?;
                    return Ok((ops, vec![]));
                }
                ("cf.br", &[to]) => (to, self.renamed(&last.successors[0].1)),
                ("cf.cond_br", &[then, otherwise]) => {
                    let join = self.graph.join(at).ok_or_else(|| last.unsupported("paths do not meet again"))?;
                    let passed = self.branch(last, [then, otherwise], join, &mut ops)?;
                    (join, passed)
                }
                _ => return Err(last.unsupported("only branches by one truth value are understood")),
            };
            match self.enter(next, end, &mut ops)? {
                Entered::End(passed) => return Ok((ops, passed)),
                Entered::Block(block) => at = block,
            }
        }
    }

    /// Follows an edge: its end, or the block that comes next, behind a loop where there is one.
    fn enter(&mut self, edge: (usize, Vec<String>), end: Option<usize>, ops: &mut Vec<Op>) -> Structured<Entered> {
        let (mut to, mut passed) = edge;
        loop {
            if Some(to) == end {
                return Ok(Entered::End(passed));
            }
            if !self.graph.is_head(to) {
                self.bind(to, passed);
                return Ok(Entered::Block(to));
            }
            (to, passed) = self.loop_(to, passed, ops)?;
        }
    }

    /// The block's arguments stand for what is passed.
    fn bind(&mut self, to: usize, passed: Vec<String>) {
        self.names.extend(names(&self.blocks[to].arguments).zip(passed));
    }

    /// The operations from a block, which is given what is passed, to another one; what they pass to that.
    fn path_to(&mut self, from: (usize, Vec<String>), end: usize) -> Structured<(Vec<Op>, Vec<String>)> {
        let mut ops = vec![];
        match self.enter(from, Some(end), &mut ops)? {
            Entered::End(passed) => Ok((ops, passed)),
            Entered::Block(block) => {
                let (rest, passed) = self.path(block, Some(end))?;
                ops.extend(rest);
                Ok((ops, passed))
            }
        }
    }

    /// Writes a loop that counts, and its test once more, as it is behind the last iteration.
    fn write(&mut self, found: Loop, arguments: &[(String, String)], test: &[Op], ops: &mut Vec<Op>) -> Structured<()> {
        let (written, results) = found.counted(&self.constants)?;
        self.names.extend(names(arguments).zip(results));
        ops.extend(written.before);
        ops.push(written.op);
        for op in test {
            self.copy(op, ops)?;
        }
        Ok(())
    }

    /// Two arms that meet at `join`; what they pass to it.
    fn branch(&mut self, last: &Op, arms: [usize; 2], join: usize, ops: &mut Vec<Op>) -> Structured<Vec<String>> {
        let mut regions = vec![];
        for (to, (_, passed)) in arms.into_iter().zip(&last.successors) {
            let passed = self.renamed(passed);
            let (mut inner, passed) = self.path_to((to, passed), join)?;
            inner.push(yields(passed, last.line));
            regions.push(Region { arguments: vec![], ops: inner, more: vec![] });
        }
        self.joins += 1;
        let arguments = &self.blocks[join].arguments;
        let results: Vec<String> = (0..arguments.len()).map(|n| format!("%joined {} {n}", self.joins)).collect();
        ops.push(Op {
            name: "scf.if".into(),
            operands: self.renamed(&last.operands[..1.min(last.operands.len())]),
            results: results.clone(),
            result_types: arguments.iter().map(|(_, ty)| ty.clone()).collect(),
            regions,
            line: last.line,
            ..Op::default()
        });
        Ok(results)
    }

    /// A loop; where it leads, and what it passes there.
    fn loop_(&mut self, head: usize, first: Vec<String>, ops: &mut Vec<Op>) -> Structured<(usize, Vec<String>)> {
        let block = &self.blocks[head];
        let (last, rest) = block.ops.split_last().ok_or_else(|| missing(block))?;
        let (body, exit) =
            self.graph.loop_at(head).map_err(|what| Unsupported { line: last.line, what: what.into() })?;
        let (mut test, arguments) = (vec![], self.define(&block.arguments));
        for op in rest {
            self.copy(op, &mut test)?;
        }
        let condition = self.renamed(&last.operands[..1.min(last.operands.len())]).concat();
        let (to, passed) = (self.graph.targets[head][body], self.renamed(&last.successors[body].1));
        let (inner, next) = self.path_to((to, passed), head)?;
        let found = Loop {
            arguments,
            first,
            test,
            condition,
            goes_on_where_it_holds: body == 0,
            body: inner,
            next,
            line: last.line,
        };
        self.write(found, &block.arguments, rest, ops)?;
        Ok((self.graph.targets[head][exit], self.renamed(&last.successors[exit].1)))
    }

    fn renamed(&self, names: &[String]) -> Vec<String> {
        names.iter().map(|name| self.names.get(name).unwrap_or(name).clone()).collect()
    }

    /// New names for arguments, which the old ones stand for from now on.
    fn define(&mut self, arguments: &[(String, String)]) -> Vec<(String, String)> {
        arguments.iter().map(|(name, ty)| (self.named(name), ty.clone())).collect()
    }

    fn named(&mut self, name: &str) -> String {
        let mut new = name.to_string();
        while !self.taken.insert(new.clone()) {
            new = format!("{name} {}", self.taken.len());
        }
        self.names.insert(name.to_string(), new.clone());
        new
    }

    /// Writes an operation, with what is in it.
    fn copy(&mut self, op: &Op, ops: &mut Vec<Op>) -> Structured<()> {
        self.left = self.left.checked_sub(1).ok_or_else(|| op.unsupported("too many paths share code"))?;
        if op.name == "scf.while" {
            return self.while_(op, ops);
        }
        let mut result = Op { operands: self.renamed(&op.operands), ..op.clone() };
        result.results = op.results.iter().map(|name| self.named(name)).collect();
        if let ([name], Some(number)) = (result.results.as_slice(), number(op)) {
            self.constants.insert(name.clone(), number);
        }
        for region in &mut result.regions {
            region.arguments = self.define(&region.arguments);
            if !region.more.is_empty() {
                return Err(op.unsupported("several blocks in an operation"));
            }
            let inner = std::mem::take(&mut region.ops);
            for op in &inner {
                self.copy(op, &mut region.ops)?;
            }
        }
        ops.push(result);
        Ok(())
    }

    /// `scf.while`: its first region decides, and gives what the second one, or what follows, gets.
    fn while_(&mut self, op: &Op, ops: &mut Vec<Op>) -> Structured<()> {
        let [before, after] = op.regions.as_slice() else { return Err(op.unsupported("two regions are expected")) };
        let (Some((decision, test_ops)), Some((last, body_ops))) = (before.ops.split_last(), after.ops.split_last())
        else {
            return Err(op.unsupported("it has no condition, or yields nothing"));
        };
        let Some((condition, given)) = decision.operands.split_first() else {
            return Err(op.unsupported("it has no condition"));
        };
        let is_plain = before.more.is_empty() && after.more.is_empty() && decision.name == "scf.condition";
        let is_whole = given.len() == after.arguments.len()
            && given.len() == op.results.len()
            && last.operands.len() == before.arguments.len()
            && op.operands.len() == before.arguments.len();
        if !is_plain || !is_whole {
            return Err(op.unsupported("its form is not understood"));
        }
        let first = self.renamed(&op.operands);
        let arguments = self.define(&before.arguments);
        let (mut test, mut body) = (vec![], vec![]);
        for op in test_ops {
            self.copy(op, &mut test)?;
        }
        let (condition, passed) = (self.renamed(std::slice::from_ref(condition)).concat(), self.renamed(given));
        self.names.extend(names(&after.arguments).zip(passed));
        for op in body_ops {
            self.copy(op, &mut body)?;
        }
        let found = Loop {
            arguments,
            first,
            test,
            condition,
            goes_on_where_it_holds: true,
            body,
            next: self.renamed(&last.operands),
            line: op.line,
        };
        self.write(found, &before.arguments, test_ops, ops)?;
        let results = self.renamed(given);
        self.names.extend(op.results.iter().cloned().zip(results));
        Ok(())
    }
}

/// Names of arguments.
fn names(arguments: &[(String, String)]) -> impl Iterator<Item = String> + '_ {
    arguments.iter().map(|(name, _)| name.clone())
}

enum Entered {
    End(Vec<String>),
    Block(usize),
}

fn missing(block: &Block) -> Unsupported {
    Unsupported { line: block.line, what: "the block has no terminator".into() }
}

fn yields(operands: Vec<String>, line: u32) -> Op {
    Op { name: "scf.yield".into(), operands, line, ..Op::default() }
}
