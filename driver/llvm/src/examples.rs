//! Examples of packs as LLVM IR: what becomes of the same calls when a C program makes them.
//!
//! An example over C functions is written as a function of LLVM IR ([`write`]), with its calls as clang would write
//! them, and read like any other file. What packs say of a function is used only if its calls are understood, so an
//! example may hold among operations and mean nothing for programs in C.

mod write;

use super::front::LlvmInput;
use super::names::{FRONT_END, InstructionForm, Names};
use super::optimise::LlvmOptimiser;
use rewright_cfg_skeleton::ir::{Function, InstKind, Value};
use rewright_dsl::program::{Example, Program, RuleId};
use rewright_pipeline::examples::{canonical, expected, schedule, subject};
use rewright_pipeline::front::FrontEnd;
use rewright_pipeline::optimiser::{Accept, Options, Rules};
use rewright_typeprop::{Op, OpId, Term, Ty, TypeExpr, Universe};
use std::collections::{BTreeMap, BTreeSet};

/// What is different in C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Index in [`Program::examples`].
    pub example: usize,
    /// What is there.
    pub found: String,
    /// Why, and what to do: a line each.
    pub why: Vec<String>,
}

/// What trying examples gave.
#[derive(Clone, Default, Debug)]
pub struct Tried {
    /// How many were.
    pub tried: usize,
    /// Those that do not hold.
    pub differences: Vec<Difference>,
    /// How many speak of C functions but were not tried, by reason.
    pub left_out: BTreeMap<String, usize>,
}

const BEFORE: &str = "@rewright.before";
const AFTER: &str = "@rewright.after";

/// Tries those of these examples that are about C functions.
pub fn run(program: &Program, wanted: &[usize]) -> Tried {
    let speaks_of_c = |example: &Example| {
        let universe = &program.universe;
        let is_of_c = |term: &Term| match term {
            Term::Call { op, .. } => {
                universe.ops.get(*op).names.get(FRONT_END).is_some_and(|name| name.starts_with('@'))
            }
            _ => false,
        };
        example.claim.terms().into_iter().flat_map(Term::subterms).any(is_of_c)
    };
    let wanted: Vec<usize> = wanted.iter().copied().filter(|i| speaks_of_c(&program.examples[*i])).collect();
    let mut tried = Tried::default();
    if wanted.is_empty() {
        return tried;
    }
    let rules = LlvmOptimiser::new(program.clone());
    for index in wanted {
        match one(&rules, index) {
            Ok(difference) => {
                tried.tried += 1;
                tried.differences.extend(difference);
            }
            Err(reason) => *tried.left_out.entry(reason).or_default() += 1,
        }
    }
    tried
}

/// Tries an example; the reason where it cannot be written.
fn one(rules: &LlvmOptimiser, index: usize) -> Result<Option<Difference>, String> {
    let program = rules.optimiser.program();
    let example = &program.examples[index];
    if example.todo {
        return Err("it is a `todo`".into());
    }
    let mut universe = program.universe.clone();
    let before = subject(&mut universe, example).map_err(|error| error.to_string())?;
    let after = expected(&mut universe, example).map_err(|error| error.to_string())?;
    let after = after.ok_or("it is about equality, not about a program")?;
    let file = write::file(&[(BEFORE, &before), (AFTER, &after)], &rules.names, &universe)?;
    let input = LlvmInput { rules: rules.clone(), file };
    let options = Options {
        rules: Rules::Schedule(schedule(program, example)),
        log: true,
        accept: Accept::Any,
        ..Options::default()
    };
    let options = rules.options(&input.file, &options);
    let imported = input.import(&|_| true);
    let [before, after] = &imported.functions[..] else { return Err("LLVM's import does not take it".into()) };
    let batch = rules.optimiser.optimise(std::slice::from_ref(before), &imported.universe, &options);
    let Some(outcome) = batch.outcomes.first() else { return Err("nothing came of it".into()) };
    let shown = |function: &Function| canonical(&imported.universe, &without_casts(function, rules.names.pointer()));
    // What is not understood is not compared.
    let is_known = imported.refused.is_empty();
    let is_same = is_known && shown(&outcome.function) == shown(after);
    let silent = silent(program, example, &outcome.rules);
    if is_same && silent.is_empty() {
        return Ok(None);
    }
    if example.params.iter().flatten().any(|ty| is_given(&universe, &rules.names, *ty)) {
        return Err("a parameter's type is known in C where a function gives it, and this is a parameter of C".into());
    }
    let mut why: Vec<String> = vec![];
    let refused: BTreeSet<String> = imported
        .refused
        .iter()
        .map(|call| format!("a call of `{}` in C is not what the pack declares: {}", call.callee, call.because))
        .collect();
    why.extend(refused);
    why.extend((!silent.is_empty()).then(|| format!("in C, {} took no part", silent.join(", "))));
    why.push("`rewright why-not RULE FILE.ll` says more of a file of yours".into());
    let found = match shown(&outcome.function) == shown(before) {
        _ if !is_known => "as calls in C, these are not the functions of the pack",
        true => "as calls in C, it stays as it is",
        false if is_same => "as calls in C, it holds for another reason",
        false => "as calls in C, it becomes something else",
    };
    Ok(Some(Difference { example: index, found: found.to_string(), why }))
}

/// The same function of one block, where a pointer that is taken for one to something is that pointer: a program in C
/// does not tell them apart.
fn without_casts(function: &Function, cast: Option<OpId>) -> Function {
    let mut function = function.clone();
    let mut same: BTreeMap<Value, Value> = BTreeMap::new();
    let of = |same: &BTreeMap<Value, Value>, value: &mut Value| {
        if let Some(is) = same.get(value) {
            *value = *is;
        }
    };
    let entry = function.entry();
    let insts = std::mem::take(&mut function.blocks[entry.index()].insts);
    for id in insts {
        let inst = &mut function.insts[id.index()];
        inst.args.iter_mut().for_each(|value| of(&same, value));
        match (&inst.kind, &inst.results[..], &inst.args[..]) {
            (InstKind::Op { op, .. }, [result], [arg]) if Some(*op) == cast => drop(same.insert(*result, *arg)),
            _ => function.blocks[entry.index()].insts.push(id),
        }
    }
    function.blocks[entry.index()].term.operands_mut().iter_mut().for_each(|value| of(&same, value));
    function
}

/// Is it a type of pointers that some C function gives? A pointer in C has it only where it comes from such a function.
fn is_given(universe: &Universe, names: &Names, ty: Ty) -> bool {
    let types = &universe.types;
    let Some(pointer) = types.find("ptr").filter(|pointer| *pointer != ty && types.is_subtype(ty, *pointer)) else {
        return false;
    };
    let gives = |op: &Op| match op.results.first() {
        Some(TypeExpr::App(decl, _)) => types.ancestor(ty, *decl).is_some() && types.ancestor(pointer, *decl).is_none(),
        _ => false,
    };
    universe.ops.iter().any(|(id, op)| matches!(names.written(id), Some((_, InstructionForm::Call))) && gives(op))
}

/// Rules of `fires` that took no part.
fn silent(program: &Program, example: &Example, fired: &[RuleId]) -> Vec<String> {
    let families: Vec<RuleId> = fired.iter().map(|rule| program.rule(*rule).family).collect();
    let silent = example.fires.iter().filter(|rule| !families.contains(&program.rule(**rule).family));
    silent.map(|rule| program.rule(*rule).name.clone()).collect()
}
