//! What a pack would have to say so that an undecided rule is tested: attributes to fill in.

use rewright_dsl::check::signature;
use rewright_dsl::program::{Program, Rule, VarKind};
use rewright_typeprop::names::plain;
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{Op, OpId, Term, TypeExpr, Universe};
use std::collections::BTreeSet;

/// `@sample`, `@observe` and `@link` for the types and functions of a rule of which nothing is known that runs; `None`
/// where nothing of the kind is missing.
pub(super) fn stub(program: &Program, rule: &Rule) -> Option<String> {
    let universe = &program.universe;
    let calls = rule.terms().flat_map(Term::subterms).filter_map(|term| match term {
        Term::Call { op, .. } => Some(universe.ops.whole(*op)),
        _ => None,
    });
    let ops: BTreeSet<OpId> = calls.collect();
    let mut types: BTreeSet<TypeDeclId> = BTreeSet::new();
    let mut add = |ty: &TypeExpr| {
        if let TypeExpr::App(decl, _) = ty {
            types.insert(*decl);
        }
    };
    for var in &rule.vars {
        match &var.kind {
            // One that stands for the members of a family is this rule's own.
            VarKind::Value { ty: TypeExpr::Param(param), .. } => {
                rule.tparams[*param as usize].bound.iter().for_each(&mut add);
            }
            VarKind::Value { ty, .. } => add(ty),
            VarKind::State => {}
        }
    }
    ops.iter().flat_map(|op| &universe.ops.get(*op).results).for_each(&mut add);
    let is_unknown = |decl: &TypeDeclId| universe.types.decl(*decl).model.is_none();
    let made = |decl: &TypeDeclId| program.samples.get(decl).is_some_and(|sample| sample.make.is_some());
    let seen = |decl: &TypeDeclId| program.samples.get(decl).is_some_and(|sample| !sample.observe.is_empty());
    // Functions that change values are to meet changed ones.
    let changes = ops.iter().any(|op| !universe.ops.get(*op).effects.writes.is_empty());
    let mut lines = vec![];
    for decl in types.iter().filter(|decl| is_unknown(decl) && !(made(decl) && seen(decl))) {
        let name = plain(&universe.types.decl(*decl).name).to_string();
        let small = name.to_lowercase();
        let change = if changes { format!(", change_{small}(it, seed)") } else { String::new() };
        lines.extend((!made(decl)).then(|| format!("@sample(make_{small}(size, seed){change})")));
        lines.extend((!seen(decl)).then(|| format!("@observe(see_{small}(it))")));
        lines.push(format!("type {name} .."));
    }
    for op in ops.iter().map(|op| universe.ops.get(*op)).filter(|op| !op.has_meaning() && op.link.is_none()) {
        lines.push(format!("@link(\"./lib{}.so\", \"{}\")", plain(&op.pack), symbol(op)));
        lines.push(declaration(op, universe));
    }
    (!lines.is_empty()).then(|| {
        format!(
            "to have it tested, write this where they are declared, with your own functions and library in it \
             (`rewright explain @sample`):\n{}",
            lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
        )
    })
}

/// What a library is most likely to call it: as programs in C do, or as the pack does.
fn symbol(op: &Op) -> String {
    let in_c = op.names.get("llvm").and_then(|name| name.strip_prefix('@'));
    in_c.unwrap_or(plain(&op.name)).to_string()
}

fn declaration(op: &Op, universe: &Universe) -> String {
    format!("fn {} ..", signature(op, universe))
}
