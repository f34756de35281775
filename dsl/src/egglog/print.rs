//! The text of an egglog program: declarations and rules, with or without the engine's primitives.

use super::{Action, Atom, EgglogProgram, EgglogRule, Expr, GENERATION, Relation, Sort};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// Charges a match to its unit, and fails when the unit's budget is spent: `(spend type-column rule)`.
pub const SPEND: &str = "spend";

/// The relation that logs applications: `(Applied rule class)` and `(AppliedS rule state)`.
pub const APPLIED: [&str; 2] = ["Applied", "AppliedS"];

/// What the text is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// Rules call [`SPEND`] last in their bodies.
    pub budget: bool,
    /// Rules write into [`APPLIED`].
    pub log: bool,
    /// Primitives are declared as functions, whose rows the caller prints: for egglog's own binary.
    pub tabulate: bool,
}

/// The whole program without data or schedule.
pub fn print(program: &EgglogProgram, options: PrintOptions) -> String {
    let mut out = String::new();
    write_all(program, options, &mut out).expect("writing into a string does not fail");
    out
}

/// The declarations of sorts, tables and relations.
pub fn print_declarations(program: &EgglogProgram, options: PrintOptions) -> String {
    let mut out = String::new();
    write_declarations(program, options, &mut out).expect("writing into a string does not fail");
    out
}

/// Rules by position, each with the ruleset where it goes; those rulesets, no others, are declared.
pub fn print_rules(program: &EgglogProgram, options: PrintOptions, placed: &[(usize, String)]) -> String {
    let mut out = String::new();
    write_placed(program, options, placed, &mut out).expect("writing into a string does not fail");
    out
}

fn write_all(program: &EgglogProgram, options: PrintOptions, out: &mut String) -> std::fmt::Result {
    write_declarations(program, options, out)?;
    for ruleset in &program.rulesets {
        writeln!(out, "(ruleset {})", ruleset.name)?;
    }
    let laws: Vec<&str> = program.laws().into_iter().map(|i| program.rulesets[i].name.as_str()).collect();
    for ruleset in &program.rulesets {
        if let Some(combined) = &ruleset.combined {
            writeln!(out, "(unstable-combined-ruleset {combined} {} {})", ruleset.name, laws.join(" "))?;
        }
    }
    for (index, rule) in program.rules.iter().enumerate() {
        print_rule(rule, &program.rulesets[rule.ruleset].name, index, options, out)?;
    }
    Ok(())
}

fn write_placed(
    program: &EgglogProgram,
    options: PrintOptions,
    placed: &[(usize, String)],
    out: &mut String,
) -> std::fmt::Result {
    let mut declared = FxHashSet::default();
    for (index, ruleset) in placed {
        if declared.insert(ruleset) {
            writeln!(out, "(ruleset {ruleset})")?;
        }
        print_rule(&program.rules[*index], ruleset, *index, options, out)?;
    }
    Ok(())
}

fn write_declarations(program: &EgglogProgram, options: PrintOptions, out: &mut String) -> std::fmt::Result {
    for sort in [Sort::Value, Sort::State, Sort::List] {
        writeln!(out, "(sort {})", sort_name(sort))?;
    }
    for table in &program.tables {
        writeln!(out, "(constructor {} {} {})", table.name, sorts(&table.columns), sort_name(table.output))?;
    }
    for Relation { name, columns } in program.relations() {
        writeln!(out, "(relation {name} {})", sorts(columns))?;
    }
    if program.generations.is_some() {
        writeln!(out, "(function {GENERATION} (V i64) i64 :merge (max old new))")?;
    }
    if options.log {
        writeln!(out, "(relation {} (i64 V))\n(relation {} (i64 State))", APPLIED[0], APPLIED[1])?;
    }
    if options.tabulate {
        for primitive in &program.primitives {
            let columns = vec![Sort::I64; primitive.arity];
            writeln!(out, "(function {} {} i64 :no-merge)", primitive.name, sorts(&columns))?;
        }
    }
    Ok(())
}

fn print_rule(
    rule: &EgglogRule,
    ruleset: &str,
    index: usize,
    options: PrintOptions,
    out: &mut String,
) -> std::fmt::Result {
    write!(out, "(rule (")?;
    for (i, atom) in rule.body.iter().enumerate() {
        write!(out, "{}", if i == 0 { "" } else { "\n       " })?;
        match atom {
            Atom::Equal(a, b) => write!(out, "(= {a} {b})")?,
            Atom::Holds(a) => write!(out, "{a}")?,
        }
    }
    if options.budget
        && let Some(unit) = &rule.unit
    {
        write!(out, "\n       ({SPEND} {unit} {index})")?;
    }
    write!(out, ")\n      (")?;
    for (i, action) in rule.actions.iter().enumerate() {
        write!(out, "{}", if i == 0 { "" } else { "\n       " })?;
        match action {
            Action::Union(a, b) => write!(out, "(union {a} {b})")?,
            Action::Insert(a) => write!(out, "{a}")?,
            Action::Set(a, n) => write!(out, "(set {a} {n})")?,
            Action::Subsume(a) => write!(out, "(subsume {a})")?,
        }
    }
    if options.log
        && let Some((root, sort)) = &rule.root
    {
        write!(out, "\n       ({} {index} {root})", APPLIED[usize::from(*sort == Sort::State)])?;
    }
    writeln!(out, ")\n      :ruleset {ruleset} :name \"{}\")", rule.name)
}

fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::I64 => "i64",
        Sort::Value => "V",
        Sort::State => "State",
        Sort::List => "List",
    }
}

fn sorts(columns: &[Sort]) -> String {
    let names: Vec<&str> = columns.iter().map(|sort| sort_name(*sort)).collect();
    format!("({})", names.join(" "))
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expr::Var(name) => f.write_str(name),
            Expr::Int(n) => write!(f, "{n}"),
            Expr::True => f.write_str("true"),
            Expr::Call(name, args) => {
                write!(f, "({name}")?;
                args.iter().try_for_each(|arg| write!(f, " {arg}"))?;
                f.write_str(")")
            }
        }
    }
}
