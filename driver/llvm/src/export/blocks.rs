//! Blocks, their parameters and their ends on the way out.

use super::{ExportError, Exporter, metadata_text};
use crate::body::Shape;
use crate::import::{Imported, Source};
use crate::types::Type;
use rewright_cfg_skeleton::ir::{BlockId, Cfg, Edge, EdgeArg, InstKind, Terminator, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The kind of metadata that is about a loop, at the ends of the blocks that close it.
const LOOP: &str = "!llvm.loop";

impl<'a> Exporter<'a> {
    fn label(&self, block: BlockId) -> String {
        format!("{}.b{}", self.prefix, block.0)
    }

    /// The whole body.
    pub(super) fn print(&mut self, cfg: &Cfg) -> Result<String, ExportError> {
        let function = self.function;
        let loops = self.loop_metadata();
        let mut bodies: Vec<(BlockId, Vec<String>)> = vec![];
        for b in function.layout.iter().copied().filter(|b| cfg.is_reachable(*b)) {
            if b == function.entry() {
                self.variables_of_parameters();
                for p in &function.block(b).params {
                    self.freeze(*p)?;
                }
            }
            for id in &function.block(b).insts {
                if self.written[id.index()] {
                    self.instruction(*id)?;
                    self.variables_of(*id)?;
                }
            }
            let closes = |target: &BlockId| cfg.is_back_edge(b, *target);
            let closed = function.block(b).term.edges().iter().map(|edge| edge.target).find(closes);
            self.end(b, closed.and_then(|header| loops.get(&header).copied()))?;
            bodies.push((b, std::mem::take(&mut self.lines)));
        }
        let mut out = String::new();
        for (n, (b, lines)) in bodies.iter().enumerate() {
            let separator = if n == 0 { "" } else { "\n" };
            let _ = writeln!(out, "{separator}{}:", self.label(*b));
            if *b != function.entry() {
                for (i, param) in function.block(*b).params.iter().enumerate() {
                    let arriving = self.incoming.get(&(*b, i)).map_or(&[][..], Vec::as_slice);
                    let arriving: Vec<_> = arriving.iter().map(|(v, from)| format!("[ {v}, %{from} ]")).collect();
                    let (name, ty) = (self.raw(*param)?, self.native(*param));
                    let _ = writeln!(out, "  {name} = phi {ty} {}", arriving.join(", "));
                }
            }
            if *b == function.entry() {
                self.slots.iter().for_each(|slot| out.push_str(slot));
            }
            lines.iter().for_each(|line| out.push_str(line));
        }
        Ok(out)
    }

    /// Where variables live that are parameters.
    fn variables_of_parameters(&mut self) {
        for (local, [before, after]) in &self.imported.body.variables {
            if self.definition.parameters.iter().any(|p| p.name == *local) {
                self.lines.push(format!("    {before}{local}{after}\n"));
            }
        }
    }

    /// Where variables live whose address this instruction gives.
    fn variables_of(&mut self, id: rewright_cfg_skeleton::ir::InstId) -> Result<(), ExportError> {
        let inst = self.function.inst(id);
        let Some(whole) = self.whole(inst).filter(|i| matches!(i.shape, Shape::Alloca(_))) else { return Ok(()) };
        let Some(result) = inst.results.first() else { return Ok(()) };
        let name = self.raw(*result)?;
        for (local, [before, after]) in &self.imported.body.variables {
            if whole.result.as_ref() == Some(local) {
                self.lines.push(format!("    {before}{name}{after}\n"));
            }
        }
        Ok(())
    }

    /// What an edge carries, under the types of the parameters, computed in the block that it leaves.
    fn arguments(&mut self, from: BlockId, slot: usize, edge: &Edge) -> Result<Vec<String>, ExportError> {
        let _ = (from, slot);
        let params: Vec<Value> = self.function.block(edge.target).params.clone();
        let mut texts = vec![];
        for (arg, param) in edge.args.iter().zip(params) {
            let EdgeArg::Value(value) = arg else { return Err(ExportError::Undefined(param)) };
            let ty = self.native(param).clone();
            // A parameter that must be total has arguments that are; another one takes what the original took.
            let clean = !self.poison.is_non_poison(param);
            texts.push(self.used(*value, &ty, clean)?);
        }
        Ok(texts)
    }

    /// Labels for the edges of a block: their targets, or blocks in between where two edges to one target carry
    /// different values, which LLVM cannot say.
    fn edges(&mut self, block: BlockId) -> Result<(Vec<String>, String), ExportError> {
        let term = self.function.block(block).term.clone();
        let mut between = String::new();
        let mut labels = vec![];
        let mut known: Vec<(BlockId, Vec<String>)> = vec![];
        for (slot, edge) in term.edges().into_iter().enumerate() {
            let texts = self.arguments(block, slot, edge)?;
            let target = self.label(edge.target);
            let differs = known.iter().any(|(b, other)| *b == edge.target && *other != texts);
            let (label, from) = if differs {
                let label = format!("{}.e{}.{slot}", self.prefix, block.0);
                let _ = write!(between, "\n{label}:\n  br label %{target}\n");
                (label.clone(), label)
            } else {
                (target, self.label(block))
            };
            for (i, text) in texts.iter().enumerate() {
                self.incoming.entry((edge.target, i)).or_default().push((text.clone(), from.clone()));
            }
            if !differs {
                known.push((edge.target, texts));
            }
            labels.push(label);
        }
        Ok((labels, between))
    }

    /// By header: what the original says of its loop, if all of its latches say the same. It is about the loop, whichever
    /// block closes that now.
    fn loop_metadata(&self) -> BTreeMap<BlockId, &'a (String, String)> {
        let Imported { function, payloads, body, .. } = self.imported;
        let said = |block: BlockId| {
            let end = body.blocks[*payloads.blocks.get(block.index())?].instructions.last()?;
            end.metadata.iter().find(|(kind, _)| kind == LOOP)
        };
        if function.layout.iter().all(|block| said(*block).is_none()) {
            return BTreeMap::new();
        }
        let cfg = Cfg::new(function);
        let mut found: BTreeMap<BlockId, Option<&(String, String)>> = BTreeMap::new();
        for block in cfg.reverse_post_order().iter().copied() {
            let said = said(block);
            for edge in function.block(block).term.edges() {
                if cfg.is_back_edge(block, edge.target) {
                    let known = found.entry(edge.target).or_insert(said);
                    *known = known.filter(|known| said == Some(known));
                }
            }
        }
        found.into_iter().filter_map(|(header, said)| Some((header, said?))).collect()
    }

    /// `closed` is what is said of the loop that the block closes.
    fn end(&mut self, block: BlockId, closed: Option<&(String, String)>) -> Result<(), ExportError> {
        let term = self.function.block(block).term.clone();
        let (labels, between) = self.edges(block)?;
        let before = self.poison.original_end(block);
        let original = self
            .imported
            .payloads
            .blocks
            .get(block.index())
            .and_then(|b| self.imported.body.blocks[*b].instructions.last());
        let stays = |kind: &str| kind != LOOP && (before.is_some() || kind == "!dbg");
        let own = original.into_iter().flat_map(|original| &original.metadata).filter(|(kind, _)| stays(kind));
        let metadata = metadata_text(own.chain(closed));
        let clean = self.poison.is_clean_end(block, 0);
        let text = match &term {
            Terminator::Jump(_) => format!("br label %{}", labels[0]),
            Terminator::Branch { cond, .. } => {
                let cond = self.condition(*cond, clean)?;
                format!("br i1 {cond}, label %{}, label %{}", labels[0], labels[1])
            }
            Terminator::Switch { index, targets, .. } => self.switch(*index, targets.len(), &labels)?,
            Terminator::Return(values) => match (values.as_slice(), &self.definition.result) {
                ([], Type::Void) => "ret void".into(),
                ([value], ty) => {
                    let ty = ty.clone();
                    format!("ret {ty} {}", self.used(*value, &ty, clean)?)
                }
                _ => return Err(ExportError::Operands("ret".into())),
            },
            Terminator::Trap { .. } => "unreachable".into(),
            Terminator::Opaque { payload, .. } => return Err(ExportError::Payload(*payload)),
        };
        self.line(&text, &metadata);
        self.lines.push(between);
        Ok(())
    }

    /// Back to a `switch` on the value whose case the index is the position of.
    fn switch(&mut self, index: Value, targets: usize, labels: &[String]) -> Result<String, ExportError> {
        let inst = self.defining(index).ok_or(ExportError::Switch)?.clone();
        let source = inst.origin.and_then(|o| self.imported.payloads.sources.get(o as usize));
        let (InstKind::Opaque { .. }, Some(Source::Cases(place))) = (&inst.kind, source) else {
            return Err(ExportError::Switch);
        };
        let Shape::Switch(operand, _, cases) = &self.at(*place).shape else { return Err(ExportError::Switch) };
        if cases.len() != targets || inst.args.len() != 1 {
            return Err(ExportError::Switch);
        }
        let ty = operand.ty.clone();
        let value = self.operand(&inst, 0, &ty)?;
        let mut text = format!("switch {ty} {value}, label %{} [\n", labels[targets]);
        for ((case, _), label) in cases.iter().zip(labels) {
            let _ = writeln!(text, "    {ty} {case}, label %{label}");
        }
        text.push_str("  ]");
        Ok(text)
    }
}
