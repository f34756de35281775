//! What `opt --emit` prints besides the file.

use super::out;
use anyhow::{Context, Result, bail};
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::skeleton::dot;
use rewright_pipeline::front::Imported;
use rewright_pipeline::optimiser::{Optimiser, Options};

/// A picture of the middle of the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Saturated {
    /// The program that egglog runs.
    Egglog,
    /// Graphviz.
    Dot,
    /// egraph-serialize.
    Json,
}

/// Saturates functions of a file once and prints their e-graphs.
pub(super) fn functions(
    optimiser: &Optimiser,
    Imported { functions, universe }: Imported,
    options: &Options,
    what: Saturated,
) -> Result<String> {
    let skeletons: Vec<_> = functions
        .into_iter()
        .map(|mut f| {
            normalise(&mut f);
            (f.name.clone(), optimiser.build(&f, &universe).1)
        })
        .collect();
    if what == Saturated::Egglog {
        let inputs: Vec<_> = skeletons.iter().map(|(_, s)| &s.input).collect();
        let printed = optimiser.print_runnable(&inputs, &universe.types, options);
        let (text, exhausted) = printed.context("cannot print the egglog program")?;
        if exhausted {
            out::note(
                "warning: a budget ended in this run; egglog's own binary knows none, so there the program may go \
                 further, or not end: bound its memory, or print fewer functions with --fn",
            );
        }
        return Ok(text);
    }
    if what == Saturated::Json && skeletons.len() > 1 {
        bail!(
            "egraph-serialize's format holds one e-graph, and the file has {} functions: choose one with --fn",
            skeletons.len()
        );
    }
    let mut printed = String::new();
    for (name, skeleton) in &skeletons {
        let view = optimiser.saturate_one(&skeleton.input, &universe.types, options)?;
        printed += &match what {
            Saturated::Dot => format!("// {name}\n{}", dot::dot(&universe, skeleton, &view)),
            Saturated::Json | Saturated::Egglog => {
                serde_json::to_string_pretty(&dot::json(&universe, skeleton, &view))? + "\n"
            }
        };
    }
    Ok(printed)
}
