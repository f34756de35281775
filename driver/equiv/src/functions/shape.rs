//! A function as a text in which values and blocks have the numbers in which they come: functions with one such text
//! are one function.

use super::FunctionVersion;
use rewright_cfg_skeleton::ir::{Access, BlockId, EdgeArg, InstKind, Terminator, Value};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// Are both one text, up to names, numbers, and the order of blocks?
pub(super) fn same(before: FunctionVersion<'_>, after: FunctionVersion<'_>) -> bool {
    shape(before) == shape(after)
}

struct Writer<'a> {
    version: FunctionVersion<'a>,
    values: FxHashMap<Value, usize>,
    /// Blocks in the order in which they are met, the entry first.
    blocks: Vec<BlockId>,
    out: String,
}

fn shape(version: FunctionVersion<'_>) -> String {
    let mut writer =
        Writer { version, values: FxHashMap::default(), blocks: vec![version.function.entry()], out: String::new() };
    let mut at = 0;
    while let Some(block) = writer.blocks.get(at).copied() {
        writer.block(block);
        at += 1;
    }
    writer.out
}

impl Writer<'_> {
    fn value(&mut self, value: Value) {
        let next = self.values.len();
        let number = *self.values.entry(value).or_insert(next);
        let _ = write!(self.out, " v{number}");
    }

    fn all(&mut self, values: &[Value]) {
        values.iter().for_each(|value| self.value(*value));
    }

    /// Values with their types.
    fn defined(&mut self, values: &[Value]) {
        for value in values {
            self.value(*value);
            let FunctionVersion { function, universe, .. } = self.version;
            let _ = write!(self.out, ": {}", universe.types.display(function.ty(*value)));
        }
    }

    fn block(&mut self, block: BlockId) {
        let function = self.version.function;
        let block = function.block(block);
        self.out.push_str("block");
        self.defined(&block.params);
        self.out.push('\n');
        for inst in block.insts.iter().map(|id| function.inst(*id)) {
            self.kind(&inst.kind);
            self.all(&inst.args);
            self.out.push_str(" =>");
            self.defined(&inst.results);
            self.out.push('\n');
        }
        self.terminator(&block.term);
    }

    fn kind(&mut self, kind: &InstKind) {
        let FunctionVersion { function, universe, opaque, .. } = self.version;
        let _ = match kind {
            InstKind::Const(n) => write!(self.out, "const {n}"),
            InstKind::Check { code, when } => write!(self.out, "check {code} {when}"),
            InstKind::Opaque { payload, effects } => write!(self.out, "opaque {effects:?} {}", opaque(*payload)),
            InstKind::Op { op, targs, access } => {
                let types: Vec<String> = targs.iter().map(|ty| universe.types.display(*ty)).collect();
                let access = access.map(|Access { region, trap, movable, readonly, aligned }| {
                    let region = function.regions.get(region.index());
                    format!(" in {region:?} {trap:?} {movable} {readonly} {aligned}")
                });
                let name = &universe.ops.get(*op).unique;
                write!(self.out, "{name}{{{}}}{}", types.join(", "), access.unwrap_or_default())
            }
        };
    }

    fn terminator(&mut self, term: &Terminator) {
        let _ = match term {
            Terminator::Jump(_) => write!(self.out, "jump"),
            Terminator::Branch { .. } => write!(self.out, "branch"),
            Terminator::Switch { targets, .. } => write!(self.out, "switch {}", targets.len()),
            Terminator::Return(_) => write!(self.out, "return"),
            Terminator::Trap { code } => write!(self.out, "trap {code}"),
            Terminator::Opaque { payload, .. } => write!(self.out, "opaque {}", (self.version.opaque)(*payload)),
        };
        self.all(term.operands());
        for edge in term.edges() {
            let number = self.blocks.iter().position(|block| *block == edge.target).unwrap_or_else(|| {
                self.blocks.push(edge.target);
                self.blocks.len() - 1
            });
            let _ = write!(self.out, " to b{number} (");
            for arg in &edge.args {
                match arg {
                    EdgeArg::Value(value) => self.value(*value),
                    EdgeArg::Terminator(n) => {
                        let _ = write!(self.out, " own {n}");
                    }
                }
            }
            self.out.push(')');
        }
        self.out.push('\n');
    }
}
