//! What stands in a block: instructions and terminators.

use super::lex::Token;
use super::{NamedCall, Open, Parse, Parser};
use crate::ir::text::effects_name;
use crate::ir::{Access, Edge, EdgeArg, InstId, InstKind, OpaqueEffects, PayloadId, RegionId, Terminator, Value};
use rewright_typeprop::{OpId, Ty};
use smallvec::SmallVec;

impl Parser<'_> {
    pub(super) fn kind(
        &mut self,
        o: &mut Open,
        id: InstId,
        results: &[Value],
    ) -> Parse<(InstKind, SmallVec<[Value; 3]>)> {
        if self.eat_word("const") {
            let ty = results.first().and_then(|r| o.stated[r.index()]);
            return Ok((InstKind::Const(self.constant(ty)?), SmallVec::new()));
        }
        for (word, when) in [("check.trapnz", true), ("check.trapz", false)] {
            if self.eat_word(word) {
                let value = self.value(o)?;
                self.expect(',')?;
                let code = self.unsigned("a trap code")?;
                return Ok((InstKind::Check { code, when }, SmallVec::from_slice(&[value])));
            }
        }
        if self.eat_word("opaque") {
            let payload = PayloadId(self.unsigned("a payload")?);
            let effects = self.effects()?;
            self.expect('(')?;
            let args = self.values(o)?;
            self.expect(')')?;
            return Ok((InstKind::Opaque { payload, effects }, args));
        }
        let name = self.name("an instruction or a terminator")?;
        let exact = self.exact(&name);
        if exact.is_none() && self.universe.ops.alike(&name).is_empty() && !self.functions.contains(&name) {
            return self.fail_before(match self.peek() {
                Some(Token::Punct(':')) => format!("the block before `{name}` has no terminator"),
                _ => format!("no operation is called `{name}`"),
            });
        }
        let targs: SmallVec<[Ty; 2]> = if self.eat('{') { self.types('}')?.into() } else { SmallVec::new() };
        let args = self.values(o)?;
        let access = self.access()?;
        let whole = |op: OpId| {
            (!targs.is_empty() || self.universe.ops.get(op).tparams.is_empty())
                && results.iter().all(|r| o.stated[r.index()].is_some())
        };
        // Printed text says everything; what a text leaves out is found when all functions are known.
        let op = exact.filter(|op| whole(*op));
        if op.is_none() {
            o.calls.insert(id, NamedCall { name, explicit: targs.clone() });
        }
        Ok((InstKind::Op { op: op.unwrap_or(OpId(u32::MAX)), targs, access }, args))
    }

    /// The operation that a name means whatever its operands: its unique name, or `f.0` for the first overload.
    fn exact(&self, name: &str) -> Option<OpId> {
        let ops = &self.universe.ops;
        if let Some(first) = name.strip_suffix(".0")
            && let several @ [first, _, ..] = ops.overloads(first)
        {
            debug_assert!(several.len() > 1);
            return Some(*first);
        }
        let op = ops.by_unique(name)?;
        let declared = &ops.get(op).name;
        (declared != name || (ops.overloads(declared).len() == 1 && !self.functions.contains(name))).then_some(op)
    }

    fn effects(&mut self) -> Parse<OpaqueEffects> {
        use OpaqueEffects::{Observes, Pinned, Pure, Writes};
        for effects in [Pure, Pinned, Observes, Writes] {
            if self.eat_word(effects_name(effects)) {
                return Ok(effects);
            }
        }
        self.fail("expected `pure`, `pinned`, `observes` or `writes`")
    }

    fn access(&mut self) -> Parse<Option<Access>> {
        if !self.eat('@') {
            return Ok(None);
        }
        let region = match self.peek() {
            Some(Token::Word(w)) => w.strip_prefix("region").and_then(|n| n.parse().ok()),
            _ => None,
        };
        let Some(region) = region else { return self.fail("expected `region` and a number") };
        self.at += 1;
        let mut access =
            Access { region: RegionId(region), trap: None, movable: false, readonly: false, aligned: false };
        loop {
            if self.eat_word("trap") {
                // `trap=1`; the terminator is `trap 1`.
                if !self.eat('=') {
                    self.at -= 1;
                    return Ok(Some(access));
                }
                access.trap = Some(self.unsigned("a trap code")?);
            } else if self.eat_word("movable") {
                access.movable = true;
            } else if self.eat_word("readonly") {
                access.readonly = true;
            } else if self.eat_word("aligned") {
                access.aligned = true;
            } else {
                return Ok(Some(access));
            }
        }
    }

    fn edge(&mut self, o: &mut Open) -> Parse<Edge> {
        let target = self.label(o)?;
        let mut args = SmallVec::new();
        if self.eat('(') {
            loop {
                args.push(if self.eat('#') {
                    EdgeArg::Terminator(self.unsigned("a number")?)
                } else {
                    EdgeArg::Value(self.value(o)?)
                });
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        Ok(Edge { target, args })
    }

    fn edges(&mut self, o: &mut Open) -> Parse<Vec<Edge>> {
        let mut edges = vec![];
        self.expect('[')?;
        while !self.eat(']') {
            edges.push(self.edge(o)?);
            if !self.eat(',') {
                self.expect(']')?;
                break;
            }
        }
        Ok(edges)
    }

    pub(super) fn terminator(&mut self, o: &mut Open) -> Parse<Option<Terminator>> {
        if self.eat_word("jump") {
            return Ok(Some(Terminator::Jump(self.edge(o)?)));
        }
        if self.eat_word("br") {
            let cond = self.value(o)?;
            self.expect(',')?;
            let then = self.edge(o)?;
            self.expect(',')?;
            return Ok(Some(Terminator::Branch { cond, then, els: self.edge(o)? }));
        }
        if self.eat_word("switch") {
            let index = self.value(o)?;
            self.expect(',')?;
            let targets = self.edges(o)?;
            self.expect(',')?;
            return Ok(Some(Terminator::Switch { index, targets, default: self.edge(o)? }));
        }
        if self.eat_word("return") {
            return Ok(Some(Terminator::Return(self.values(o)?.into_iter().collect())));
        }
        if self.eat_word("trap") {
            return Ok(Some(Terminator::Trap { code: self.unsigned("a trap code")? }));
        }
        if self.eat_word("opaque.end") {
            let payload = PayloadId(self.unsigned("a payload")?);
            self.expect('(')?;
            let args = self.values(o)?.into_iter().collect();
            self.expect(')')?;
            self.expect(',')?;
            return Ok(Some(Terminator::Opaque { payload, args, targets: self.edges(o)? }));
        }
        Ok(None)
    }
}
