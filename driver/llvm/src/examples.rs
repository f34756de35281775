//! Examples of packs as LLVM IR: what becomes of the same calls when a C program makes them.
//!
//! An example over C functions is written as a function of LLVM IR ([`mod@write`]), with its calls as clang would write
//! them, and read like any other file. Rules about a function are used only if its calls are understood, so an
//! example may hold among operations and mean nothing for programs in C.

mod write;

use super::front::LlvmInput;
use super::names::{FRONT_END, InstructionForm, Names};
use super::optimise::LlvmOptimiser;
use rewright_cfg_skeleton::ir::{Function, Inst, InstKind, Terminator, Value};
use rewright_dsl::program::{Claim, Example, Program, RuleId, Verdict};
use rewright_engine::Budget;
use rewright_pipeline::examples::{ExampleError, canonical, expected, function, schedule, subject};
use rewright_pipeline::front::FrontEnd;
use rewright_pipeline::optimiser::{Accept, Options, Rules};
use rewright_pipeline::why_not::MatchContext;
use rewright_typeprop::{Op, OpId, Term, Ty, TypeExpr, Universe};
use smallvec::smallvec;
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
pub fn run(program: &Program, wanted: &[usize], budget: &Budget) -> Tried {
    let speaks_of_c = |example: &Example| {
        let universe = &program.universe;
        let is_of_c = |term: &Term| match term {
            Term::Call { op, .. } => {
                universe.ops.get(universe.ops.whole(*op)).names.get(FRONT_END).is_some_and(|name| name.starts_with('@'))
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
        match one(&rules, index, budget) {
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
fn one(rules: &LlvmOptimiser, index: usize, budget: &Budget) -> Result<Option<Difference>, String> {
    let program = rules.optimiser.program();
    let example = &program.examples[index];
    if example.todo {
        return Err("it is a `todo`".into());
    }
    let mut universe = program.universe.clone();
    let (before, after, claim) = sides(&mut universe, example).map_err(|error| error.to_string())?;
    let input = input(rules, &[(BEFORE, &before), (AFTER, &after)], &universe)?;
    let options = Options {
        rules: Rules::Schedule(schedule(program, example)),
        budget: budget.clone(),
        log: true,
        accept: Accept::Any,
        ..Options::default()
    };
    let options = rules.options(&input.file, &options);
    let imported = input.import(&|_| true);
    let [before, after] = &imported.functions[..] else { return Err("LLVM's import does not take it".into()) };
    let c = InC { rules, options: &options, universe: &imported.universe, before, after };
    let (found, fired) = match claim {
        Kind::Becomes => c.becomes()?,
        Kind::Equal(expected) => c.equal(expected)?,
    };
    let silent = silent(program, example, &fired);
    // An example that is not understood is not compared.
    let is_known = imported.refused.is_empty();
    if is_known && found.is_none() && silent.is_empty() {
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
    let found = match found {
        _ if !is_known => "as calls in C, these are not the functions of the pack",
        Some(found) => found,
        None => "as calls in C, it holds for another reason",
    };
    Ok(Some(Difference { example: index, found: found.to_string(), why }))
}

/// What an example claims of two functions.
enum Kind {
    /// One becomes the other.
    Becomes,
    /// They give the same, or are not known to.
    Equal(bool),
}

/// The two functions of an example, and what it claims of them.
fn sides(universe: &mut Universe, example: &Example) -> Result<(Function, Function, Kind), ExampleError> {
    let before = subject(universe, example)?;
    let (other, kind) = match &example.claim {
        Claim::Term { verdict: Verdict::Equals(other), .. } => (function(universe, example, other)?, Kind::Equal(true)),
        Claim::Term { verdict: Verdict::Differs(other), .. } => {
            (function(universe, example, other)?, Kind::Equal(false))
        }
        Claim::Term { .. } | Claim::Program { .. } => {
            (expected(universe, example)?.unwrap_or_else(|| before.clone()), Kind::Becomes)
        }
    };
    Ok((before, other, kind))
}

/// Functions as a file of LLVM IR, read.
fn input(rules: &LlvmOptimiser, functions: &[(&str, &Function)], universe: &Universe) -> Result<LlvmInput, String> {
    Ok(LlvmInput { rules: rules.clone(), file: write::file(functions, &rules.names, universe)? })
}

/// Functions of an example as LLVM's import gives them.
struct InC<'a> {
    rules: &'a LlvmOptimiser,
    options: &'a Options,
    universe: &'a Universe,
    before: &'a Function,
    after: &'a Function,
}

impl InC<'_> {
    /// What the first becomes where that is not the second; the rules that took part.
    fn becomes(&self) -> Trial {
        let batch = self.rules.optimiser.optimise(std::slice::from_ref(self.before), self.universe, self.options);
        let outcome = batch.outcomes.into_iter().next().ok_or("nothing came of it")?;
        let shown = self.shown(&outcome.function);
        let found = match shown {
            _ if shown == self.shown(self.after) => None,
            _ if shown == self.shown(self.before) => Some("as calls in C, it stays as it is"),
            _ => Some("as calls in C, it becomes something else"),
        };
        Ok((found, outcome.rules))
    }

    /// What is there where it is not as expected that both give the same; the rules that took part.
    fn equal(&self, expected: bool) -> Trial {
        let (both, results) = both(self.before, self.after).ok_or("it is about equality of what has effects")?;
        let context = MatchContext::new(&self.rules.optimiser, self.universe, &both, self.options, &[]);
        let (MatchContext { view, .. }, skeleton) = context.map_err(|error| error.to_string())?;
        let class = |value: Value| Some(view.class_of(skeleton.value_input.get(value.index()).copied()??));
        let [a, b] = results.map(class);
        let found = match (a.is_some() && a == b, expected) {
            (true, true) | (false, false) => None,
            (false, true) => Some("as calls in C, they are not known to be equal"),
            (true, false) => Some("as calls in C, they are equal"),
        };
        let mut fired: Vec<RuleId> = view.applications.iter().map(|application| application.rule).collect();
        fired.sort_unstable();
        fired.dedup();
        Ok((found, fired))
    }

    /// A function as text. It is written and read once more: LLVM asks of conditions what our operations do not.
    fn shown(&self, function: &Function) -> String {
        let bare = |function: &Function| without_casts(function, self.rules.names.pointer());
        let function = bare(function);
        let again = input(self.rules, &[(BEFORE, &function)], self.universe).ok().map(|input| input.import(&|_| true));
        let again = again.and_then(|mut imported| Some((imported.functions.pop()?, imported.universe)));
        again.map_or_else(
            || canonical(self.universe, &function),
            |(function, universe)| canonical(&universe, &bare(&function)),
        )
    }
}

/// What does not hold, and the rules that took part.
type Trial = Result<(Option<&'static str>, Vec<RuleId>), String>;

/// Both functions as one, which gives what each gives; `None` where they do more than compute values.
fn both(first: &Function, second: &Function) -> Option<(Function, [Value; 2])> {
    let only = |f: &Function| match (&f.layout[..], &f.block(f.entry()).term) {
        ([_], Terminator::Return(values)) if values.len() == 1 => Some(values[0]),
        _ => None,
    };
    let is_value = |inst: &Inst| matches!(inst.kind, InstKind::Const(_) | InstKind::Op { access: None, .. });
    if !first.insts.iter().chain(&second.insts).all(is_value) {
        return None;
    }
    let (a, b) = (only(first)?, only(second)?);
    let mut both = first.clone();
    let entry = both.entry();
    let mut values: BTreeMap<Value, Value> = BTreeMap::new();
    let params = first.block(entry).params.clone();
    values.extend(second.block(second.entry()).params.iter().copied().zip(params));
    for inst in second.block(second.entry()).insts.iter().map(|id| second.inst(*id)) {
        let args: Vec<Value> = inst.args.iter().map(|arg| values.get(arg).copied()).collect::<Option<_>>()?;
        let types: Vec<Ty> = inst.results.iter().map(|result| second.ty(*result)).collect();
        let made = both.append(entry, inst.kind.clone(), &args, &types);
        values.extend(inst.results.iter().copied().zip(both.inst(made).results.clone()));
    }
    let b = *values.get(&b)?;
    both.results = [a, b].iter().map(|value| both.ty(*value)).collect();
    both.blocks[entry.index()].term = Terminator::Return(smallvec![a, b]);
    Some((both, [a, b]))
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
