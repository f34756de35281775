//! Calls of a function by itself that it returns at once, as jumps to its beginning.
//!
//! A call is such a *tail call* if only its results are returned, and nothing behind it has an effect. So is one whose
//! only result is combined with one more value by an operation on integers that is associative and commutative, the same in
//! all of them: the values are then combined on the way, beginning with the operation's neutral element, and what is
//! returned in the end is combined with them. `n * f(n - 1)` multiplies from `n` downwards. What is subtracted from the result counts as
//! a sum. Nothing is combined in a function that also calls itself elsewhere.
//!
//! **Invariant**: a verified function stays verified. A run of it ends as before, or goes on where the original would have run
//! out of stack.

use super::frequencies::note_frequencies;
use super::objects::Objects;
use super::verify::verify;
use super::{Block, BlockId, Cfg, Edge, EdgeArg, Function, Inst, InstId, InstKind, Terminator, Value};
use rewright_typeprop::{Model, Ty, Universe};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// A call whose results are returned.
struct TailCall {
    block: BlockId,
    call: InstId,
    /// How the call's result is combined with another value before it is returned.
    combined: Option<Combined>,
}

#[derive(Clone)]
struct Combined {
    by: InstId,
    with: Value,
    /// The operation that combines several such values: that of `by`, or a sum.
    kind: InstKind,
    /// Its neutral element.
    neutral: i64,
}

/// Makes jumps of the tail calls among those of which `is_own` says that they call the function itself; gives how many.
///
/// Functions with promises, or of which a front end knows what memory they access, stay as they are: what is known holds of
/// one call.
pub fn jump_for_tail_calls(function: &mut Function, universe: &Universe, is_own: impl Fn(&Inst) -> bool) -> usize {
    let cfg = Cfg::new(function);
    let is_plain =
        function.promises.is_empty() && function.aliases.is_empty() && function.objects == Objects::default();
    if !is_plain || !cfg.predecessors(function.entry()).is_empty() {
        return 0;
    }
    let blocks = cfg.reverse_post_order().iter();
    let mut calls: Vec<TailCall> =
        blocks.filter_map(|block| TailCall::of(function, universe, *block, &is_own)).collect();
    // Values that are combined on the way make each call that stays dearer.
    let insts = cfg.reverse_post_order().iter().flat_map(|block| &function.block(*block).insts);
    if insts.filter(|id| is_own(function.inst(**id))).count() > calls.len() {
        calls.retain(|call| call.combined.is_none());
    }
    let combination = calls.iter().find_map(|call| call.combined.clone());
    let is_same = |own: &Combined| combination.as_ref().is_some_and(|first| first.kind == own.kind);
    calls.retain(|call| call.combined.as_ref().is_none_or(is_same));
    if calls.is_empty() {
        return 0;
    }
    let mut jumping = function.clone();
    jump(&mut jumping, &cfg, &calls, combination.as_ref());
    if !verify(&jumping, universe).is_empty() {
        return 0;
    }
    note_frequencies(&mut jumping, universe);
    *function = jumping;
    calls.len()
}

impl TailCall {
    /// The tail call at the end of a block.
    fn of(
        function: &Function,
        universe: &Universe,
        block: BlockId,
        is_own: &impl Fn(&Inst) -> bool,
    ) -> Option<TailCall> {
        let insts = &function.block(block).insts;
        let at = insts.iter().rposition(|id| is_own(function.inst(*id)))?;
        let (call, behind) = (insts[at], &insts[at + 1..]);
        if !behind.iter().all(|id| function.inst(*id).is_silent(universe)) {
            return None;
        }
        let returned = returned(function, block)?;
        let uses_any = |id: &InstId, values: &[Value]| function.inst(*id).args.iter().any(|arg| values.contains(arg));
        let results = &function.inst(call).results[..];
        let users: Vec<InstId> = behind.iter().copied().filter(|id| uses_any(id, results)).collect();
        match (&users[..], results, &returned[..]) {
            ([], _, _) if returned[..] == *results => Some(TailCall { block, call, combined: None }),
            ([by], [result], [value]) if function.inst(*by).results[..] == [*value] => {
                let user = function.inst(*by);
                let (with, is_first) = match user.args[..] {
                    [x, y] if x == *result && y != *result => (y, true),
                    [x, y] if y == *result && x != *result => (x, false),
                    _ => return None,
                };
                let (kind, neutral) = combination(&user.kind, function.ty(*value), is_first, universe)?;
                let is_last = !behind.iter().any(|id| uses_any(id, &[*value]));
                let combined = Some(Combined { by: *by, with, kind, neutral });
                is_last.then_some(TailCall { block, call, combined })
            }
            _ => None,
        }
    }
}

/// The values that a block returns, through jumps to blocks that only return or jump.
fn returned(function: &Function, block: BlockId) -> Option<SmallVec<[Value; 2]>> {
    let mut known: BTreeMap<Value, Value> = BTreeMap::new();
    let mut at = block;
    for _ in 0..function.layout.len() {
        let own = |value: &Value| known.get(value).copied().unwrap_or(*value);
        match &function.block(at).term {
            Terminator::Return(values) => return Some(values.iter().map(own).collect()),
            Terminator::Jump(edge) => {
                let target = function.block(edge.target);
                let args =
                    edge.args.iter().map(|arg| if let EdgeArg::Value(value) = arg { Some(own(value)) } else { None });
                let args = args.collect::<Option<Vec<Value>>>()?;
                if !target.insts.is_empty() {
                    return None;
                }
                known.extend(target.params.iter().copied().zip(args));
                at = edge.target;
            }
            _ => return None,
        }
    }
    None
}

/// An operation that combines results with one value after another: the operation that combines these values in any order,
/// and its neutral element. `is_first`: the result is the first operand.
fn combination(kind: &InstKind, ty: Ty, is_first: bool, universe: &Universe) -> Option<(InstKind, i64)> {
    let InstKind::Op { op, access: None, .. } = kind else { return None };
    let scalar = universe.types.scalar(ty).filter(|scalar| scalar.is_int())?;
    let signed = 1u64 << (scalar.bits() - 1);
    let neutral = match universe.ops.get(*op).model? {
        Model::Sub if is_first => {
            let op = universe.binary(Model::Add, ty)?;
            return Some((InstKind::Op { op, targs: smallvec![ty], access: None }, 0));
        }
        Model::Add | Model::Or | Model::Xor | Model::Umax => 0,
        Model::Mul => 1,
        Model::And | Model::Umin => u64::MAX,
        Model::Smax => signed,
        Model::Smin => signed - 1,
        _ => return None,
    };
    Some((kind.clone(), scalar.canonical(neutral)))
}

/// Puts a block behind the entry to which calls jump. Where results are combined, it has a parameter more.
fn jump(function: &mut Function, cfg: &Cfg, calls: &[TailCall], combination: Option<&Combined>) {
    let entry = function.entry();
    let header = function.add_block();
    function.layout.pop();
    function.layout.insert(1, header);
    let at = |block: BlockId| if block == entry { header } else { block };
    let params = function.block(entry).params.clone();
    let own: Vec<Value> = params.iter().map(|param| function.add_value(function.ty(*param))).collect();
    let Block { insts, term, cold, .. } = function.block(entry).clone();
    let data = &mut function.blocks[header.index()];
    (data.params, data.insts, data.term, data.cold) = (params, insts, term, cold);
    function.blocks[entry.index()].insts.clear();
    function.blocks[entry.index()].params.clone_from(&own);
    let mut first: SmallVec<[EdgeArg; 2]> = own.into_iter().map(EdgeArg::Value).collect();
    let so_far = combination.map(|Combined { neutral, kind, .. }| {
        let ty = function.results[0];
        let constant = function.append(entry, InstKind::Const(*neutral), &[], &[ty]);
        first.push(EdgeArg::Value(function.inst(constant).results[0]));
        let so_far = function.add_value(ty);
        function.blocks[header.index()].params.push(so_far);
        (so_far, kind.clone(), ty)
    });
    function.blocks[entry.index()].term = Terminator::Jump(Edge { target: header, args: first });
    let returns = cfg.reverse_post_order().iter().filter(|block| calls.iter().all(|call| call.block != **block));
    for block in returns.map(|block| at(*block)) {
        if let (Terminator::Return(values), Some((so_far, kind, ty))) = (&function.block(block).term, &so_far) {
            let combined = function.append(block, kind.clone(), &[*so_far, values[0]], &[*ty]);
            let value = function.inst(combined).results[0];
            function.blocks[block.index()].term = Terminator::Return(smallvec![value]);
        }
    }
    for TailCall { block, call, combined } in calls {
        let block = at(*block);
        let mut args: SmallVec<[EdgeArg; 2]> =
            function.inst(*call).args.iter().map(|arg| EdgeArg::Value(*arg)).collect();
        let gone = [Some(*call), combined.as_ref().map(|combined| combined.by)];
        function.blocks[block.index()].insts.retain(|id| !gone.contains(&Some(*id)));
        if let Some((so_far, _, ty)) = &so_far {
            let next = combined.as_ref().map(|Combined { by, with, .. }| {
                let kind = function.inst(*by).kind.clone();
                let inst = function.append(block, kind, &[*so_far, *with], &[*ty]);
                function.inst(inst).results[0]
            });
            args.push(EdgeArg::Value(next.unwrap_or(*so_far)));
        }
        function.blocks[block.index()].term = Terminator::Jump(Edge { target: header, args });
    }
}

#[cfg(test)]
mod tests;
