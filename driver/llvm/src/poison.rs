//! Which instructions of an optimised function may have the flags of their originals, and which values must not
//! be poison.
//!
//! Our functions know no poison: import drops the flags that make it, and every rule holds for all values. A value that
//! goes out must not be poison where the original was not. So every value of the optimised function is one of
//!
//! * **original**: the same operation as its original, on operands that are original or non-poison; it has its
//!   original's flags, and is poison at most when its original is;
//! * **non-poison**: without flags, of operands that are non-poison; what may be poison and has no operands of ours (a
//!   parameter, what a load or a call gives) is frozen first. It is never poison.
//!
//! * **may be poison**: without flags, of operands as they are; it is poison if one of its *causes* is (`causes`),
//!   which are original values. A value that could be original only may be poison where its flags are all that is wrong
//!   with it.
//!
//! A use of an original value is fine where the original of its user used this value's original; that of an original or
//! possibly poisonous one where it used something that is poison if any cause is. All other uses want a non-poison one.
//! Instructions name their originals ([`Inst::origin`]); parameters of blocks are matched with those of the original
//! block by what arrives on their edges, coinductively (`control`).
//!
//! Why that refines: let whatever may be poison by itself have its frozen value. Then every value is that of its class
//! or poison, and poison only where all its users find the original's operand poison as well.
//!
//! Instructions of the original that compute the same from the same operands are one original here, with the flags
//! that all of them have.
//!
//! **Invariant**: [`PoisonAnalysis::is_non_poison`] is closed: operands of non-poison operations and arguments of
//! non-poison parameters are non-poison. It does not look at what flags mean.

mod causes;
mod control;

use super::names::Names;
use rewright_cfg_skeleton::ir::{
    BlockId, Cfg, Definition, EdgeArg, Function, Inst, InstId, InstKind, OpaqueEffects, Value, definitions,
};
use rewright_typeprop::{OpId, Ty, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// An original function, with values that are the same made one.
pub struct Original<'a> {
    /// The function.
    pub function: &'a Function,
    /// By value: the first one that is the same.
    same: Vec<Value>,
    constants: FxHashMap<(Ty, i64), Value>,
    /// By value that is the first of its kind: instructions that compute it.
    members: FxHashMap<Value, Vec<InstId>>,
    /// By value: its definition.
    pub definitions: Vec<Option<Definition>>,
    accesses: FxHashMap<AccessKey, Vec<InstId>>,
    /// By instruction: it may be poison although no operand is.
    makes_poison: Vec<bool>,
}

/// The operation of an access, and its operands.
type AccessKey = (OpId, SmallVec<[Ty; 2]>, SmallVec<[Value; 3]>);

impl<'a> Original<'a> {
    /// Numbers values. `makes_poison`: by instruction, whether it may be although no operand is.
    pub fn new(function: &'a Function, universe: &Universe, makes_poison: Vec<bool>) -> Self {
        let cfg = Cfg::new(function);
        let mut original = Original {
            function,
            same: (0..function.values.len() as u32).map(Value).collect(),
            constants: FxHashMap::default(),
            members: FxHashMap::default(),
            definitions: definitions(function),
            accesses: FxHashMap::default(),
            makes_poison,
        };
        let mut known: FxHashMap<(InstKind, SmallVec<[Value; 3]>, Ty), Value> = FxHashMap::default();
        for b in cfg.reverse_post_order() {
            for id in &function.block(*b).insts {
                let inst = function.inst(*id);
                let &[result] = inst.results.as_slice() else { continue };
                if let InstKind::Const(n) = inst.kind {
                    let first = *original.constants.entry((function.ty(result), n)).or_insert(result);
                    original.same[result.index()] = first;
                    continue;
                }
                if is_function_of_operands(&inst.kind, universe) {
                    let args = inst.args.iter().map(|v| original.same[v.index()]).collect();
                    let first = *known.entry((inst.kind.clone(), args, function.ty(result))).or_insert(result);
                    original.same[result.index()] = first;
                }
                original.members.entry(original.same[result.index()]).or_default().push(*id);
            }
        }
        for id in (0..function.insts.len() as u32).map(InstId) {
            if let Some(key) = original.access(function.inst(id)) {
                original.accesses.entry(key).or_default().push(id);
            }
        }
        original
    }

    /// Instructions that compute the same as this one, itself among them.
    pub fn members(&self, inst: &Inst) -> &[InstId] {
        let first = inst.results.first().map(|v| self.same[v.index()]);
        first.and_then(|first| self.members.get(&first)).map_or(&[], Vec::as_slice)
    }

    /// Accesses of the same operation through the same address, wherever they are.
    pub fn accesses_like(&self, inst: &Inst) -> &[InstId] {
        self.access(inst).and_then(|key| self.accesses.get(&key)).map_or(&[], Vec::as_slice)
    }

    /// What an access has in common with those like it.
    fn access(&self, inst: &Inst) -> Option<AccessKey> {
        match &inst.kind {
            InstKind::Op { op, targs, access: Some(_) } => {
                Some((*op, targs.clone(), inst.args.iter().map(|v| self.same[v.index()]).collect()))
            }
            _ => None,
        }
    }
}

/// Does an instruction compute a function of its operands, and nothing else?
fn is_function_of_operands(kind: &InstKind, universe: &Universe) -> bool {
    match kind {
        InstKind::Op { op, access, .. } => access.is_none() && universe.ops.get(*op).effects.is_value(),
        InstKind::Opaque { effects, .. } => *effects == OpaqueEffects::Pure,
        InstKind::Const(_) | InstKind::Check { .. } => false,
    }
}

/// What may be original and what must be non-poison.
pub struct PoisonAnalysis<'a> {
    original: &'a Original<'a>,
    function: &'a Function,
    universe: &'a Universe,
    names: &'a Names,
    /// Definitions in the optimised function.
    pub definitions: Vec<Option<Definition>>,
    /// By block that the original does not have: edges that lead there, by where they leave.
    inserted: FxHashMap<BlockId, Vec<(BlockId, usize)>>,
    /// Blocks of the original that are part of another one, or gone.
    absorbed: FxHashSet<BlockId>,
    /// By parameter of a block: originals that it may be.
    params: FxHashMap<Value, Vec<Value>>,
    /// By value: it may be poison, although it could be original.
    bare: Vec<bool>,
    non_poison: Vec<bool>,
}

impl<'a> PoisonAnalysis<'a> {
    /// Compares an optimised function with its original. `needed` says which instructions go out.
    pub fn new(
        original: &'a Original<'a>,
        function: &'a Function,
        universe: &'a Universe,
        names: &'a Names,
        needed: &dyn Fn(InstId) -> bool,
    ) -> Self {
        let mut poison = PoisonAnalysis {
            original,
            function,
            universe,
            names,
            definitions: definitions(function),
            inserted: FxHashMap::default(),
            absorbed: FxHashSet::default(),
            params: FxHashMap::default(),
            bare: vec![false; function.values.len()],
            non_poison: vec![false; function.values.len()],
        };
        poison.compare_blocks();
        poison.match_params();
        poison.give_up_flags(needed);
        poison.propagate(needed);
        poison
    }

    /// Must the value never be poison?
    pub fn is_non_poison(&self, value: Value) -> bool {
        self.non_poison[value.index()]
    }

    /// The instruction of the original that this one is, if it may have its flags.
    pub fn with_flags(&self, inst: &Inst) -> Option<&'a Inst> {
        if inst.results.iter().any(|v| self.is_non_poison(*v) || self.bare[v.index()]) {
            return None;
        }
        self.origin(inst)
    }

    /// The instruction of the original that this one is.
    pub fn origin(&self, inst: &Inst) -> Option<&'a Inst> {
        let origin = self.original.function.insts.get(inst.origin? as usize)?;
        (same_kind(&origin.kind, &inst.kind) && origin.args.len() == inst.args.len()).then_some(origin)
    }

    /// The store of the original in whose place this one is executed, if it stores something else: other bytes, another
    /// value.
    pub fn store_replaced(&self, inst: &Inst) -> Option<&'a Inst> {
        let original = self.original.function.insts.get(inst.origin? as usize)?;
        let is_store = |inst: &Inst| match inst.kind {
            InstKind::Op { op, .. } => self.names.is_store(op) && inst.args.len() == 3,
            _ => false,
        };
        (self.origin(inst).is_none() && is_store(inst) && is_store(original)).then_some(original)
    }

    /// Is it the same value as one of the original?
    pub fn is_same(&self, value: Value, wanted: Value) -> bool {
        let wanted = self.original.same[wanted.index()];
        match self.definitions[value.index()] {
            Some(Definition::Param(b, i)) if b == self.function.entry() => {
                let entry = self.original.function.entry();
                self.original.function.block(entry).params.get(i) == Some(&wanted)
            }
            // On the way to a block its parameter has its next value already.
            Some(Definition::Param(b, _)) if self.inserted.contains_key(&b) => false,
            Some(Definition::Param(..)) => self.params.get(&value).is_some_and(|all| all.contains(&wanted)),
            Some(Definition::Result(_, id, i)) => {
                let inst = self.function.inst(id);
                if let InstKind::Const(n) = inst.kind {
                    return self.original.constants.get(&(self.function.ty(value), n)) == Some(&wanted);
                }
                let origin = self.origin(inst).and_then(|o| o.results.get(i));
                origin.is_some_and(|o| self.original.same[o.index()] == wanted)
            }
            None => false,
        }
    }

    /// By use: is it fine as it is?
    pub fn is_clean(&self, user: &Inst, index: usize) -> bool {
        match self.origin(user) {
            Some(origin) => self.covers(origin.args[index], user.args[index]),
            // A store to a pointer that is poison is undefined wherever it stores. The value that it stores in place of
            // another one is never poison: some of those bytes may not have been.
            None => match self.store_replaced(user) {
                Some(replaced) => index != 1 && self.covers(replaced.args[index], user.args[index]),
                // Its own users ask.
                None => self.is_plain(user),
            },
        }
    }

    /// The same of the operands of a block's end.
    pub fn is_clean_end(&self, block: BlockId, index: usize) -> bool {
        let value = self.function.block(block).term.operands().get(index).copied();
        let uses = self.wanted_at_end(block, index).zip(value);
        uses.is_some_and(|(wanted, value)| self.covers(wanted, value))
    }

    /// Values in uses that are not fine, with what the original used there.
    fn unclean(&self, needed: &dyn Fn(InstId) -> bool) -> Vec<(Option<Value>, Value)> {
        let mut found = vec![];
        for b in &self.function.layout {
            for id in self.function.block(*b).insts.iter().filter(|id| needed(**id)) {
                let inst = self.function.inst(*id);
                let uses = (0..inst.args.len()).filter(|i| !self.is_clean(inst, *i));
                found.extend(uses.map(|i| (self.origin(inst).map(|o| o.args[i]), inst.args[i])));
            }
            let term = &self.function.block(*b).term;
            let uses = (0..term.operands().len()).filter(|i| !self.is_clean_end(*b, *i));
            found.extend(uses.map(|i| (self.wanted_at_end(*b, i), term.operands()[i])));
            for edge in term.edges() {
                for (arg, param) in edge.args.iter().zip(&self.function.block(edge.target).params) {
                    // A parameter that the original does not have has only arguments that are never poison.
                    if self.params.get(param).is_none_or(Vec::is_empty) {
                        found.push((None, *param));
                        found.extend(value_of(arg).map(|value| (None, value)));
                    }
                }
            }
        }
        found
    }

    /// Gives up flags of original values where that may make a use fine.
    fn give_up_flags(&mut self, needed: &dyn Fn(InstId) -> bool) {
        loop {
            let uses = self.unclean(needed);
            let flagged = uses.iter().filter_map(|(wanted, value)| Some((wanted.as_ref()?, value)));
            let flagged: Vec<Value> = flagged.flat_map(|(wanted, value)| self.spoiling(*wanted, *value)).collect();
            if flagged.is_empty() {
                return;
            }
            for value in flagged {
                self.bare[value.index()] = true;
            }
        }
    }

    /// Marks what must be non-poison, starting from uses that are not those of the original.
    fn propagate(&mut self, needed: &dyn Fn(InstId) -> bool) {
        let mut work: Vec<Value> = self.unclean(needed).into_iter().map(|(_, value)| value).collect();
        let mut arriving: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        for b in &self.function.layout {
            for edge in self.function.block(*b).term.edges() {
                for (arg, param) in edge.args.iter().zip(&self.function.block(edge.target).params) {
                    arriving.entry(*param).or_default().extend(value_of(arg));
                }
            }
        }
        while let Some(v) = work.pop() {
            if std::mem::replace(&mut self.non_poison[v.index()], true) {
                continue;
            }
            match self.definitions[v.index()] {
                Some(Definition::Param(..)) => work.extend(arriving.get(&v).into_iter().flatten()),
                Some(Definition::Result(_, id, _)) => {
                    let inst = self.function.inst(id);
                    if is_function_of_operands(&inst.kind, self.universe) {
                        work.extend(&inst.args);
                    }
                }
                None => {}
            }
        }
    }

    /// Whether a value that may be poison by itself is frozen, and computed once more where it has been computed
    /// already: the two might be frozen to different values.
    pub fn frozen_twice(&self, needed: &dyn Fn(InstId) -> bool) -> bool {
        let cfg = Cfg::new(self.function);
        let mut seen: BTreeMap<u32, Vec<BlockId>> = BTreeMap::new();
        for b in &self.function.layout {
            for id in self.function.block(*b).insts.iter().filter(|id| needed(**id)) {
                let inst = self.function.inst(*id);
                let by_itself = match &inst.kind {
                    InstKind::Op { access, .. } => access.is_some(),
                    InstKind::Opaque { effects, .. } => *effects == OpaqueEffects::Pure,
                    _ => false,
                };
                if let (true, Some(origin)) =
                    (by_itself && inst.results.iter().any(|v| self.is_non_poison(*v)), inst.origin)
                {
                    seen.entry(origin).or_default().push(*b);
                }
            }
        }
        seen.values().any(|blocks| {
            blocks
                .iter()
                .enumerate()
                .any(|(i, a)| blocks[i + 1..].iter().any(|b| cfg.dominates(*a, *b) || cfg.dominates(*b, *a)))
        })
    }
}

/// The value that an edge takes along, where it is not one of the terminator's own.
pub(super) fn value_of(arg: &EdgeArg) -> Option<Value> {
    match arg {
        EdgeArg::Value(v) => Some(*v),
        EdgeArg::Terminator(_) => None,
    }
}

/// Do two instructions do the same, on whatever operands?
fn same_kind(a: &InstKind, b: &InstKind) -> bool {
    match (a, b) {
        (InstKind::Op { op: a, targs: x, .. }, InstKind::Op { op: b, targs: y, .. }) => a == b && x == y,
        (InstKind::Opaque { payload: a, .. }, InstKind::Opaque { payload: b, .. }) => a == b,
        _ => false,
    }
}
