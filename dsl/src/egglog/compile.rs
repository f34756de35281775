//! `Program` to `EgglogProgram`: declarations, then rules one by one.

use super::block_guard::Generations;
use super::context::{NotLowered, Shared, is_closed, output};
use super::divided;
use super::instances::instances;
use super::lower::lower;
use super::names::{Names, path};
use super::overloads::overload_rules;
use super::variants::variants;
use super::{
    Action, Atom, EgglogProgram, EgglogRule, Expr, PrimitiveKind, REST_COLUMNS, Relation, Ruleset, Skipped, Sort,
    Table, TableKind,
};
use crate::program::{Guard, Program, Rule, RuleId, VarKind};
use indexmap::IndexMap;
use rewright_typeprop::types::TypeData;
use rewright_typeprop::{OpId, Term, TypeExpr};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Terms that nest deeper are not compiled: egglog's parser and this module recurse over them. Rules of people
/// are a few levels deep.
const MAX_DEPTH: usize = 100;

/// Interns every closed type that a program names, so that front ends, which extend a copy of its store, number
/// them as the rules do. To be called once, right after checking.
pub fn intern_types(program: &mut Program) {
    let mut exprs = Vec::new();
    for rule in &program.rules {
        for_each_type(rule, &mut |ty| exprs.push(ty.clone()));
    }
    for fact in &program.facts {
        exprs.extend(fact.params.iter().cloned());
    }
    for (_, op) in program.universe.ops.iter() {
        exprs.extend(op.params.iter().map(|p| p.ty.clone()).chain(op.results.iter().cloned()));
        exprs.extend(op.tparams.iter().filter_map(|p| p.bound.clone()));
    }
    let types = &mut program.universe.types;
    let decls: Vec<_> = types.decls().map(|(id, _)| id).collect();
    for decl in decls {
        types.intern(TypeData::App(decl, SmallVec::new()));
    }
    for expr in &exprs {
        if is_closed(expr) {
            let ty = types.instantiate(expr, &[]);
            let mut at = ty;
            while let Some(ty) = at {
                at = types.supertype(ty);
            }
        }
    }
    program.universe.intern_signatures();
}

/// Compiles a program. Rules that cannot be expressed are listed, not an error.
pub fn compile(program: &Program) -> EgglogProgram {
    let mut names = Names::new();
    let mut result = EgglogProgram::default();
    let overloads = overload_rules(program);
    let mut mentioned = mentioned_ops(program);
    mentioned.extend(overloads.iter().flat_map(|(specific, general, _)| [*specific, *general]));
    declare_tables(program, &mentioned, &mut names, &mut result);
    for fact in &program.facts {
        let last = fact.name.rsplit('.').next().unwrap_or(&fact.name);
        let columns = vec![Sort::Value; fact.params.len()];
        result.facts.push(Relation { name: names.capitalised(last), columns });
    }
    let generations = Generations::new(program);
    let mut shared = Shared::new(program, names, &result);
    for (name, rules) in &program.rulesets {
        // A part by itself can be passed over where nothing is of its members' types.
        let mut parts: IndexMap<&[String], usize> = IndexMap::new();
        for members in std::iter::once(&[][..]).chain(rules.iter().map(|rule| &program.rule(*rule).members[..])) {
            parts.entry(members).or_insert_with(|| {
                let suffix = members.iter().map(|member| format!("-{member}")).collect::<String>();
                let name = shared.names.unique(&path(&format!("{name}{suffix}")));
                result.rulesets.push(Ruleset { name, combined: None });
                result.rulesets.len() - 1
            });
        }
        for rule in rules {
            let part = parts[&program.rule(*rule).members[..]];
            compile_rule(&mut shared, &generations, &mut result, *rule, part);
        }
        result.ruleset_index.insert(name.clone(), parts.into_values().collect());
    }
    if program.rules.iter().any(|rule| rule.relaxation.is_some()) {
        result.removable =
            Some(Relation { name: super::REMOVABLE.into(), columns: vec![Sort::State, Sort::State, Sort::I64] });
    }
    let mut everywhere = Vec::new();
    everywhere.extend(commutative(&mut shared, &mut result));
    everywhere.extend(unite_overloads(
        &mut shared,
        &generations,
        &mut result,
        overloads.into_iter().map(|(_, _, rule)| rule),
    ));
    everywhere.extend(infer_types(&mut shared, &mut result));
    generations.declare(&mut shared, &mut result);
    if !everywhere.is_empty() {
        for index in result.ruleset_index.values().flatten() {
            let ruleset = &mut result.rulesets[*index];
            ruleset.combined = Some(shared.names.unique(&format!("{}-and-laws", ruleset.name)));
        }
    }
    for (name, schedule) in &program.schedules {
        result.schedules.insert(name.clone(), schedule.steps.clone());
    }
    result.primitives = shared.primitives.into_values().collect();
    result
}

fn declare_tables(program: &Program, mentioned: &FxHashSet<OpId>, names: &mut Names, result: &mut EgglogProgram) {
    use Sort::{I64, List, State, Value};
    let mut add = |name: &str, kind, columns: &[Sort], output| {
        result.tables.push(Table { name: name.into(), kind, columns: columns.to_vec(), output });
        result.tables.len() - 1
    };
    add("Const", TableKind::Const, &[I64, I64], Value);
    add("Leaf", TableKind::Leaf, &[I64, I64], Value);
    add("Token", TableKind::Token, &[I64, I64], State);
    add("Proj", TableKind::Proj, &[I64, I64, Value], Value);
    add("Nil", TableKind::Nil, &[], List);
    add("Cons", TableKind::Cons, &[Value, List], List);
    let mut rest: Vec<(usize, bool, Sort)> = (0..=REST_COLUMNS + 1).map(|n| (n, false, Value)).collect();
    for (id, op) in program.universe.ops.iter() {
        if mentioned.contains(&id) {
            let mut columns = vec![I64; op.tparams.len().max(1)];
            columns.extend(op.params.iter().map(|_| Value));
            columns.extend(op.takes_state().then_some(State));
            let table = add(&names.capitalised(&op.unique), TableKind::Op(id), &columns, output(op));
            result.op_tables.push(Some(table));
        } else {
            result.op_tables.push(None);
            let shape = (op.params.len().min(REST_COLUMNS + 1), op.takes_state(), output(op));
            if !rest.contains(&shape) {
                rest.push(shape);
            }
        }
    }
    for (operands, state, output) in rest {
        let mut columns = vec![I64, I64];
        let mut name = if operands > REST_COLUMNS {
            columns.push(List);
            "RestN".to_owned()
        } else {
            columns.extend(vec![Value; operands]);
            format!("Rest{operands}")
        };
        if state {
            columns.push(State);
            name += "S";
        }
        if output == State {
            name += "W";
        }
        add(&names.unique(&name), TableKind::Rest, &columns, output);
    }
}

fn compile_rule<'p>(
    shared: &mut Shared<'p>,
    generations: &Generations<'p>,
    result: &mut EgglogProgram,
    id: RuleId,
    ruleset: usize,
) {
    let rule = shared.program.rule(id);
    let mut skip = |reason: String| result.skipped.push(Skipped { rule: id, reason });
    if !rule.terms().all(|term| within(term, MAX_DEPTH)) {
        return skip(format!("its terms nest deeper than {MAX_DEPTH}"));
    }
    let (instances, missing) = instances(&mut shared.types, rule);
    missing.into_iter().for_each(&mut skip);
    let mut made = 0;
    let whole = divided::whole(&shared.program.universe.ops, rule).filter(|whole| shared.has_tables(whole));
    for variant in std::iter::once(rule).chain(&whole).flat_map(|rule| variants(&shared.program.universe.ops, rule)) {
        for instance in &instances {
            match lower(shared, generations, id, &variant, instance) {
                Ok(lowered) => {
                    made += 1;
                    let suffix = if made == 1 { String::new() } else { format!("#{made}") };
                    let name = shared.names.unique(&format!("{}{suffix}", path(&rule.name)));
                    result.rules.push(EgglogRule { name, source: Some(id), ruleset, ..lowered });
                }
                Err(reason) => {
                    let skipped = Skipped { rule: id, reason: reason.to_string() };
                    if !result.skipped.contains(&skipped) {
                        result.skipped.push(skipped);
                    }
                }
            }
        }
    }
}

/// One rule per commutative operation, in a ruleset that runs beside every other one.
fn commutative(shared: &mut Shared<'_>, result: &mut EgglogProgram) -> Option<usize> {
    let index = result.rulesets.len();
    let mut rules = Vec::new();
    for (id, op) in shared.program.universe.ops.iter() {
        let Some(Some(name)) = shared.op_names.get(id.0 as usize) else { continue };
        if !op.laws.commutative || op.params.len() < 2 {
            continue;
        }
        let var = |n: String| Expr::Var(format!("?{n}"));
        let mut columns: Vec<Expr> = (0..op.tparams.len().max(1)).map(|i| var(format!("t{i}"))).collect();
        let first = columns.len();
        columns.extend((0..op.params.len()).map(|i| var(format!("x{i}"))));
        columns.extend(op.takes_state().then(|| var("s".into())));
        let mut turned = columns.clone();
        turned.swap(first, first + 1);
        let atom = |class: &str, columns| Atom::Equal(var(class.into()), Expr::Call(name.clone(), columns));
        rules.push(EgglogRule {
            name: shared.names.unique(&format!("commutative.{name}")),
            source: None,
            ruleset: index,
            body: vec![atom("a", columns), atom("b", turned)],
            unit: None,
            root: None,
            actions: vec![Action::Union(var("a".into()), var("b".into()))],
        });
    }
    if rules.is_empty() {
        return None;
    }
    result.rulesets.push(Ruleset { name: shared.names.unique("commutative"), combined: None });
    result.rules.extend(rules);
    Some(index)
}

/// The rules between overloads, in a ruleset that runs beside every other one.
fn unite_overloads<'p>(
    shared: &mut Shared<'p>,
    generations: &Generations<'p>,
    result: &mut EgglogProgram,
    rules: impl Iterator<Item = Rule>,
) -> Option<usize> {
    let index = result.rulesets.len();
    let mut made = vec![];
    for rule in rules {
        let (instances, _) = instances(&mut shared.types, &rule);
        for variant in variants(&shared.program.universe.ops, &rule) {
            for instance in &instances {
                // A condition that cannot be told in rows of types is left to the types of the function itself.
                if let Ok(lowered) = lower(shared, generations, rule.family, &variant, instance) {
                    let name = shared.names.unique(&path(&rule.name));
                    made.push(EgglogRule { name, source: None, ruleset: index, ..lowered });
                }
            }
        }
    }
    if made.is_empty() {
        return None;
    }
    result.rulesets.push(Ruleset { name: shared.names.unique("overloads"), combined: None });
    result.rules.extend(made);
    Some(index)
}

/// `Isa` rows of nodes that rules make; the engine inserts those of a unit's own nodes. Closed upwards.
fn infer_types(shared: &mut Shared<'_>, result: &mut EgglogProgram) -> Option<usize> {
    if !shared.needs_isa {
        return None;
    }
    result.isa = Some(Relation { name: "Isa".into(), columns: vec![Sort::Value, Sort::I64] });
    let index = result.rulesets.len();
    result.rulesets.push(Ruleset { name: shared.names.unique("types"), combined: None });
    let var = |n: &str| Expr::Var(format!("?{n}"));
    let isa = |class: Expr, column: Expr| Expr::Call("Isa".into(), vec![class, column]);
    let mut add = |name: String, body, action| {
        let actions = vec![Action::Insert(action)];
        result.rules.push(EgglogRule { name, source: None, ruleset: index, body, unit: None, root: None, actions });
    };
    let node = |name: &str, columns| Atom::Equal(var("e"), Expr::Call(name.into(), columns));
    add(shared.names.unique("types.Const"), vec![node("Const", vec![var("t"), var("n")])], isa(var("e"), var("t")));
    for (id, op) in shared.program.universe.ops.iter() {
        let Some(Some(name)) = shared.op_names.get(id.0 as usize).cloned() else { continue };
        let (Some(ty), Sort::Value) = (op.results.first(), output(op)) else { continue };
        let columns: Vec<Expr> = (0..op.tparams.len().max(1)).map(|i| var(&format!("t{i}"))).collect();
        let mut row = columns.clone();
        row.extend((0..op.params.len()).map(|i| var(&format!("x{i}"))));
        row.extend(op.takes_state().then(|| var("s")));
        let mut body = vec![node(&name, row)];
        let Ok(column) = result_column(shared, ty, &columns, &mut body) else { continue };
        add(shared.names.unique(&format!("types.{name}")), body, isa(var("e"), column));
    }
    for (name, kind) in [("supertype", PrimitiveKind::Supertype), ("bare", PrimitiveKind::Bare)] {
        let get = shared.primitive(kind, 1);
        let body = vec![Atom::Holds(isa(var("e"), var("t"))), Atom::Equal(var("s"), Expr::Call(get, vec![var("t")]))];
        add(shared.names.unique(&format!("types.{name}")), body, isa(var("e"), var("s")));
    }
    Some(index)
}

fn result_column(
    shared: &mut Shared<'_>,
    ty: &TypeExpr,
    columns: &[Expr],
    body: &mut Vec<Atom>,
) -> Result<Expr, NotLowered> {
    match ty {
        TypeExpr::Param(i) => columns.get(*i as usize).cloned().ok_or_else(|| "out of range".into()),
        TypeExpr::App(decl, args) if !is_closed(ty) => {
            let parts =
                args.iter().map(|arg| result_column(shared, arg, columns, body)).collect::<Result<Vec<_>, _>>()?;
            let make = shared.primitive(PrimitiveKind::TypeApp(*decl), parts.len());
            let name = Expr::Var(format!("?r{}", body.len()));
            body.push(Atom::Equal(name.clone(), Expr::Call(make, parts)));
            Ok(name)
        }
        _ => {
            let ty = shared.closed_type(ty)?;
            let call = |name: &str, a, b| Expr::Call(name.into(), vec![a, b]);
            let unit = call("&", columns[0].clone(), Expr::Int(!super::TYPE_MASK));
            Ok(call("|", unit, Expr::Int(ty.0.into())))
        }
    }
}

/// Operations in terms that are matched or made.
fn mentioned_ops(program: &Program) -> FxHashSet<OpId> {
    let mut ops = FxHashSet::default();
    for rule in &program.rules {
        let mut collect = |term: &Term| {
            // Deep terms are not compiled, so their operations need no table of their own.
            if within(term, MAX_DEPTH) {
                collect_ops(term, &mut ops);
            }
        };
        rule.left.iter().chain(rule.right.terms()).for_each(&mut collect);
        let looked_up =
            rule.guards.iter().filter(|g| matches!(g, Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..)));
        looked_up.flat_map(Guard::terms).for_each(&mut collect);
    }
    // Parts of calls are there only where rules speak of some.
    let table = &program.universe.ops;
    if ops.iter().any(|op| table.get(*op).part_of.is_some()) {
        let parts = ops.iter().filter_map(|op| table.get(table.whole(*op)).parts);
        let parts: Vec<OpId> = parts.flat_map(|parts| [parts.state, parts.value]).collect();
        ops.extend(parts);
    }
    ops
}

/// A term that is computed while matching is in no table.
fn collect_ops(term: &Term, ops: &mut FxHashSet<OpId>) {
    if let Term::Call { op, .. } = term {
        ops.insert(*op);
        term.parts().for_each(|part| collect_ops(part, ops));
    }
}

fn within(term: &Term, depth: usize) -> bool {
    depth > 0 && term.parts().all(|part| within(part, depth - 1))
}

fn for_each_type(rule: &Rule, f: &mut impl FnMut(&TypeExpr)) {
    rule.tparams.iter().filter_map(|p| p.bound.as_ref()).for_each(&mut *f);
    for var in &rule.vars {
        if let VarKind::Value { ty, .. } = &var.kind {
            f(ty);
        }
    }
    rule.terms().for_each(|term| types_in_term(term, f));
    for guard in &rule.guards {
        if let Guard::Is(_, ty) = guard {
            f(ty);
        }
    }
}

fn types_in_term(term: &Term, f: &mut impl FnMut(&TypeExpr)) {
    term.subterms().for_each(|part| match part {
        Term::Lit(_, ty) => f(ty),
        Term::Call { targs, .. } => targs.iter().for_each(&mut *f),
        Term::Var(_) | Term::Eval(_) => {}
    });
}
