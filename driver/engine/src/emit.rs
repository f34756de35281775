//! A run as a program for egglog's own binary: the same rules, the same steps, without the engine's primitives.
//! Every call of a primitive that succeeded in the run is a row of a function, so the same matches are found.
//! Budgets and logs are left out.
//!
//! Input nodes have names there: `(node unit position)` for values, `(state unit position)` for states.

use super::EngineError;
use super::batch::{Column, Heads, isa_types, row};
use super::primitives::Calls;
use rewright_cfg_skeleton::egraph::{EGraphInput, InputId};
use rewright_dsl::egglog::print::{PrintOptions, print};
use rewright_dsl::egglog::{EgglogProgram, Sort, TYPE_BITS, TableKind};
use rewright_dsl::program::Program;
use rewright_typeprop::TypeStore;
use std::fmt::Write;

/// What a run did, for printing.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Rulesets in the order in which they ran.
    pub(super) steps: Vec<String>,
    /// Primitive calls that succeeded.
    pub(super) calls: Calls,
    /// A budget ended. Nothing bounds the printed program, so its classes may be more, and it may not end.
    pub exhausted: bool,
}

/// The name of the function that gives the class of an input value by unit and position.
pub const NODE: &str = "node";

/// The same for input states.
pub const STATE: &str = "state";

/// Lists of operands.
const LIST: &str = "operands";

/// Prints a run of [`super::Engine::trace`] on these units.
///
/// # Errors
/// Where an input is malformed.
pub fn print_runnable(
    program: &EgglogProgram,
    source: &Program,
    types: &TypeStore,
    units: &[&EGraphInput],
    trace: &Trace,
) -> Result<String, EngineError> {
    let mut out = print(program, PrintOptions { tabulate: true, ..PrintOptions::default() });
    write_run(program, source, types, units, trace, &mut out)?;
    Ok(out)
}

fn write_run(
    program: &EgglogProgram,
    source: &Program,
    types: &TypeStore,
    units: &[&EGraphInput],
    trace: &Trace,
    out: &mut String,
) -> Result<(), EngineError> {
    writeln!(out, "\n; what primitives gave")?;
    for ((primitive, args), result) in &trace.calls {
        write!(out, "(set ({}", program.primitives[*primitive].name)?;
        args.iter().try_for_each(|arg| write!(out, " {arg}"))?;
        writeln!(out, ") {result})")?;
    }
    writeln!(out, "\n; units: a type column is unit * 2^{TYPE_BITS} + type")?;
    writeln!(out, "(function {NODE} (i64 i64) V :no-merge)\n(function {STATE} (i64 i64) State :no-merge)")?;
    writeln!(out, "(function {LIST} (i64 i64 i64) List :no-merge)")?;
    let nil = program.table(TableKind::Nil).map_or("Nil", |t| &program.tables[t].name);
    let cons = program.table(TableKind::Cons).map_or("Cons", |t| &program.tables[t].name);
    let mut types = types.clone();
    let mut heads = Heads::new();
    for (unit, input) in units.iter().enumerate() {
        let mut sorts: Vec<Sort> = Vec::with_capacity(input.nodes.len());
        let named = |sorts: &[Sort], id: InputId| {
            let function = if sorts.get(id.index()) == Some(&Sort::State) { STATE } else { NODE };
            format!("({function} {unit} {})", id.0)
        };
        for (position, node) in input.nodes.iter().enumerate() {
            let (table, columns) = row(program, source, &mut heads, unit, node)?;
            let table = &program.tables[table];
            sorts.push(table.output);
            let name = named(&sorts, InputId(position as u32));
            for column in &columns {
                if let Column::List(children) = column {
                    // Cell by cell: egglog's parser recurses over what nests.
                    writeln!(out, "(set ({LIST} {unit} {position} {}) ({nil}))", children.len())?;
                    for (i, child) in children.iter().enumerate().rev() {
                        let (child, rest) = (named(&sorts, *child), i + 1);
                        writeln!(
                            out,
                            "(set ({LIST} {unit} {position} {i}) ({cons} {child} ({LIST} {unit} {position} {rest})))"
                        )?;
                    }
                }
            }
            write!(out, "(set {name} ({}", table.name)?;
            for column in &columns {
                match column {
                    Column::Int(n) => write!(out, " {n}")?,
                    Column::Node(child) => write!(out, " {}", named(&sorts, *child))?,
                    Column::List(_) => write!(out, " ({LIST} {unit} {position} 0)")?,
                }
            }
            writeln!(out, "))")?;
            if let Some(isa) = &program.isa {
                for ty in isa_types(source, &mut types, node, input.typed.get(&InputId(position as u32)).copied()) {
                    writeln!(out, "({} {name} {})", isa.name, (unit as i64) << TYPE_BITS | i64::from(ty.0))?;
                }
            }
        }
        for (of, node) in &input.equations {
            let (table, columns) = row(program, source, &mut heads, unit, node)?;
            write!(out, "(union {} ({}", named(&sorts, *of), program.tables[table].name)?;
            for column in &columns {
                match column {
                    Column::Int(n) => write!(out, " {n}")?,
                    Column::Node(child) => write!(out, " {}", named(&sorts, *child))?,
                    Column::List(_) => return Err(EngineError::Run("an equation with a list".into())),
                }
            }
            writeln!(out, "))")?;
        }
    }
    writeln!(out, "\n; the steps that were taken")?;
    if units.iter().any(|unit| !unit.loops.is_empty()) {
        writeln!(out, "; WARNING: facts about loops are left out, which the engine finds between steps. Rules that")?;
        writeln!(out, "; ask for them find nothing here.")?;
    }
    if source.facts.iter().any(|fact| fact.params.len() == 1 && fact.spec.is_some() && fact.filled.is_none()) {
        writeln!(out, "; Facts that bits and bounds of integers tell are left out, as they were in this run.")?;
    }
    if trace.exhausted {
        writeln!(out, "; WARNING: a budget ended in this run. Here none does: bound memory before running this.")?;
    }
    for step in &trace.steps {
        writeln!(out, "(run-schedule (run {step}))")?;
    }
    Ok(())
}
