//! What `opt --remarks` says of changed values: each one with its instruction in what goes out, what it is in place of,
//! and the rules behind it.

use rewright_cfg_skeleton::ir::{Function, Inst, InstKind, Value};
use rewright_dsl::program::{Program, RuleId};
use rewright_pipeline::optimiser::{Changed, FunctionOutcome, Now};
use rewright_typeprop::Universe;
use serde_json::json;

/// The changes of one function, for people: a line each.
pub(super) fn lines(program: &Program, f: &FunctionOutcome) -> Vec<String> {
    let rule = |rule: &RuleId| {
        let rule = program.rule(*rule);
        let place = program.sources.place(rule.span);
        format!("{} ({}:{})", rule.name, place.file, place.line)
    };
    let line = |told: Told<'_>| {
        let was = if told.was.is_empty() { String::new() } else { format!(", was {}", told.was.join(", ")) };
        let rules: Vec<String> = told.rules.iter().map(rule).collect();
        format!("{}{was}: {}", told.now, rules.join(", "))
    };
    told(program, f).into_iter().map(line).collect()
}

/// The same for programs.
pub(super) fn json(program: &Program, f: &FunctionOutcome) -> serde_json::Value {
    let rule = |rule: &RuleId| program.rule(*rule).name.clone();
    let one = |told: Told<'_>| {
        let rules: Vec<String> = told.rules.iter().map(rule).collect();
        json!({ "value": told.value, "now": told.now, "was": told.was, "rules": rules })
    };
    told(program, f).into_iter().map(one).collect()
}

struct Told<'o> {
    /// Its name in what goes out; a constant has none.
    value: Option<String>,
    now: String,
    was: Vec<String>,
    rules: &'o [RuleId],
}

fn told<'o>(program: &Program, f: &'o FunctionOutcome) -> Vec<Told<'o>> {
    let Some(outcome) = &f.outcome else { return vec![] };
    let makers = makers(&outcome.function);
    let one = |changed: &'o Changed| {
        let (value, now) = match changed.now {
            Now::Constant(n) => (None, n.to_string()),
            Now::Value(value) => (Some(name(f, value)), written(&program.universe, f, &makers, value)),
        };
        let names = changed.was.iter().filter_map(|number| f.names.originals.get(number).cloned());
        let was = names.chain(changed.lines.iter().map(|line| format!("line {line}"))).collect();
        Told { value, now, was, rules: &changed.rules }
    };
    outcome.changed.iter().map(one).collect()
}

fn name(f: &FunctionOutcome, value: Value) -> String {
    f.names.results.get(value.index()).cloned().flatten().unwrap_or_else(|| format!("v{}", value.0))
}

/// By value: the instruction that computes it.
fn makers(function: &Function) -> Vec<Option<&Inst>> {
    let mut makers = vec![None; function.values.len()];
    for inst in function.layout.iter().flat_map(|block| &function.block(*block).insts).map(|id| function.inst(*id)) {
        inst.results.iter().for_each(|result| makers[result.index()] = Some(inst));
    }
    makers
}

/// A value with the operation that computes it, `v3 = ishl(v0, 3)`; a parameter by its name.
fn written(universe: &Universe, f: &FunctionOutcome, makers: &[Option<&Inst>], value: Value) -> String {
    let maker = |value: Value| makers[value.index()].map(|inst| (&inst.kind, &inst.args));
    let Some((InstKind::Op { op, .. }, args)) = maker(value) else { return name(f, value) };
    let args = args.iter().map(|arg| match maker(*arg) {
        Some((InstKind::Const(n), _)) => n.to_string(),
        _ => name(f, *arg),
    });
    format!("{} = {}({})", name(f, value), universe.ops.get(*op).name, args.collect::<Vec<_>>().join(", "))
}
