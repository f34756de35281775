//! Calls of functions of the same file, and their bodies in the place of the calls.
//!
//! The body of a call is that of the function of the file that it names, if CLIF says that the two are linked
//! together (`colocated`): what is not may be another function of that name. How a body takes a call's place is
//! Cranelift's own affair; which calls are worth it is decided here by size, and then by cost
//! ([`super::optimise`]). Functions that lead back to themselves stay calls, behind their heads
//! ([`rewright_cfg_skeleton::ir::heads`]).

use crate::panics::quietly;
use crate::read::File;
use cranelift_codegen::Context;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::inline::{Inline, InlineCommand};
use cranelift_codegen::ir::{
    self as clif, ArgumentPurpose, BlockCall, ExtFuncData, ExternalName, FuncRef, InstBuilder, Opcode, UserFuncName,
};
use rewright_cfg_skeleton::ir::inline::InlineLimits;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The function that an external one is called as.
pub(crate) fn callee_name(caller: &clif::Function, callee: FuncRef) -> Option<String> {
    Some(match &caller.dfg.ext_funcs[callee].name {
        ExternalName::TestCase(name) => UserFuncName::Testcase(name.clone()).to_string(),
        ExternalName::User(name) => UserFuncName::User(caller.params.user_named_funcs()[*name].clone()).to_string(),
        ExternalName::LibCall(_) | ExternalName::KnownSymbol(_) => return None,
    })
}

/// Which functions of a file call which.
pub(crate) struct Calls {
    /// Functions by name, except for those that share one.
    by_name: FxHashMap<String, Option<usize>>,
    /// By function: what it calls, once for each call.
    callees: Vec<Vec<usize>>,
    /// Callees before callers.
    pub(crate) order: Vec<usize>,
}

impl Calls {
    /// Direct calls of functions of the file that are linked with their callers.
    pub(crate) fn new(file: &File) -> Self {
        let mut by_name: FxHashMap<String, Option<usize>> = FxHashMap::default();
        for (n, f) in file.functions.iter().enumerate() {
            by_name.entry(f.name()).and_modify(|known| *known = None).or_insert(Some(n));
        }
        let calls = |f: &clif::Function| -> Vec<usize> {
            let insts = f.layout.blocks().flat_map(|block| f.layout.block_insts(block));
            let linked = insts.filter_map(|inst| called(f, inst)).filter(|callee| f.dfg.ext_funcs[*callee].colocated);
            linked.filter_map(|callee| by_name.get(&callee_name(f, callee)?).copied()?).collect()
        };
        let callees: Vec<Vec<usize>> = file.functions.iter().map(|f| calls(&f.func)).collect();
        let order = callees_first(&callees);
        Calls { by_name, callees, order }
    }

    /// Does a function call others of the file?
    pub(crate) fn any(&self, caller: usize) -> bool {
        !self.callees[caller].is_empty()
    }

    /// What a function calls, once for each call.
    pub(crate) fn callees(&self, caller: usize) -> &[usize] {
        &self.callees[caller]
    }

    /// The function of a name.
    pub(crate) fn function(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()?
    }

    /// Has no other function of the file a function's name?
    pub(crate) fn is_only(&self, file: &File, function: usize) -> bool {
        self.function(&file.functions[function].name()) == Some(function)
    }

    /// Does a function lead back to itself?
    pub(crate) fn is_recursive(&self, function: usize) -> bool {
        let mut seen = vec![false; self.callees.len()];
        let mut work = vec![function];
        while let Some(at) = work.pop() {
            for callee in &self.callees[at] {
                if *callee == function {
                    return true;
                }
                if !std::mem::replace(&mut seen[*callee], true) {
                    work.push(*callee);
                }
            }
        }
        false
    }
}

/// What an instruction calls that goes on behind it.
pub(crate) fn called(f: &clif::Function, inst: clif::Inst) -> Option<FuncRef> {
    match f.dfg.insts[inst] {
        clif::InstructionData::Call { opcode: Opcode::Call, func_ref, .. } => Some(func_ref),
        _ => None,
    }
}

/// Functions such that those that one calls come before it, unless they lead back to it.
fn callees_first(callees: &[Vec<usize>]) -> Vec<usize> {
    let mut order = vec![];
    let mut seen = vec![false; callees.len()];
    for root in 0..callees.len() {
        // Each with how many of its callees have been visited.
        let mut path = vec![];
        if !std::mem::replace(&mut seen[root], true) {
            path.push((root, 0));
        }
        while let Some((at, visited)) = path.last_mut() {
            match callees[*at].get(*visited) {
                Some(callee) => {
                    *visited += 1;
                    if !std::mem::replace(&mut seen[*callee], true) {
                        path.push((*callee, 0));
                    }
                }
                None => {
                    order.push(*at);
                    path.pop();
                }
            }
        }
    }
    order
}

/// A function with bodies in the place of calls.
pub(crate) struct Inlined {
    pub(crate) function: clif::Function,
    /// The calls, by instruction of the caller, and what they call.
    pub(crate) calls: Vec<(clif::Inst, String)>,
}

/// A function with the bodies of small functions in the place of its calls. `body` gives the body of a function of the
/// file by its name. None where no call has one, or Cranelift cannot do it.
pub(crate) fn inlined<'a>(
    caller: &clif::Function,
    body: &dyn Fn(&str) -> Option<&'a clif::Function>,
) -> Option<Inlined> {
    let mut context = Context::for_function(caller.clone());
    let mut small = Small { body, size: instructions(caller), calls: vec![] };
    let changed = quietly(|| context.inline(&mut small)).ok()?.ok()?;
    changed.then_some(Inlined { function: context.func, calls: small.calls })
}

/// A function of which only its head is left, these blocks, which goes on with a call of the function. None where
/// its parameters are more than values.
pub(crate) fn headed(function: &clif::Function, head: &[clif::Block]) -> Option<clif::Function> {
    let is_value =
        |param: &clif::AbiParam| matches!(param.purpose, ArgumentPurpose::Normal | ArgumentPurpose::VMContext);
    if !function.signature.params.iter().all(is_value) {
        return None;
    }
    let mut f = function.clone();
    let rest = f.dfg.make_block();
    f.layout.append_block(rest);
    let others: Vec<clif::Block> = f.layout.blocks().filter(|block| *block != rest && !head.contains(block)).collect();
    for block in head {
        let last = f.layout.last_inst(*block)?;
        let dfg = &mut f.dfg;
        for target in dfg.insts[last].branch_destination_mut(&mut dfg.jump_tables, &mut dfg.exception_tables) {
            if !head.contains(&target.block(&dfg.value_lists)) {
                *target = BlockCall::new(rest, [], &mut dfg.value_lists);
            }
        }
    }
    others.into_iter().for_each(|block| f.layout.remove_block_and_insts(block));
    // The head only computes: its frame has nothing in it.
    f.sized_stack_slots.clear();
    f.dynamic_stack_slots.clear();
    let name = match f.name.clone() {
        UserFuncName::Testcase(name) => ExternalName::TestCase(name),
        UserFuncName::User(name) => ExternalName::User(f.declare_imported_user_function(name)),
    };
    let signature = f.signature.clone();
    let signature = f.import_signature(signature);
    let callee = f.import_function(ExtFuncData { name, signature, colocated: true, patchable: false });
    let args = f.dfg.block_params(f.layout.entry_block()?).to_vec();
    let mut at = FuncCursor::new(&mut f).at_bottom(rest);
    let call = at.ins().call(callee, &args);
    let results = at.func.dfg.inst_results(call).to_vec();
    at.ins().return_(&results);
    Some(f)
}

fn instructions(f: &clif::Function) -> usize {
    f.layout.blocks().map(|block| f.layout.block_insts(block).count()).sum()
}

/// Inlines calls of functions that are small, as long as the caller is.
struct Small<'f, 'a> {
    body: &'f dyn Fn(&str) -> Option<&'a clif::Function>,
    /// Of the caller.
    size: usize,
    /// Those that have been inlined.
    calls: Vec<(clif::Inst, String)>,
}

impl Inline for Small<'_, '_> {
    fn inline(
        &mut self,
        caller: &clif::Function,
        call: clif::Inst,
        opcode: Opcode,
        callee: FuncRef,
        _: &[clif::Value],
    ) -> InlineCommand<'_> {
        let data = &caller.dfg.ext_funcs[callee];
        let limits = InlineLimits::default();
        let fits = |body: &&clif::Function| {
            let size = instructions(body);
            let is_small = size <= limits.body && self.size + size <= limits.function;
            is_small && body.signature == caller.dfg.signatures[data.signature]
        };
        let name = callee_name(caller, callee).filter(|_| opcode == Opcode::Call && data.colocated);
        let found = name.and_then(|name| Some(((self.body)(&name).filter(fits)?, name)));
        let Some((body, name)) = found else { return InlineCommand::KeepCall };
        self.size += instructions(body);
        self.calls.push((call, name));
        InlineCommand::Inline { callee: Cow::Borrowed(body), visit_callee: false }
    }
}
