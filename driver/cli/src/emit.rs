//! What `opt --emit` prints besides the file.

use super::out;
use anyhow::{Context, Result, bail};
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::skeleton::dot;
use rewright_dsl::diagnostic::count;
use rewright_pipeline::front::Imported;
use rewright_pipeline::optimiser::{Graph, Optimiser, Options};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A picture of the middle of the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Saturated {
    /// The program that egglog runs.
    Egglog,
    /// Graphviz.
    Dot,
    /// Graphviz's picture of that.
    Svg,
    /// egraph-serialize.
    Json,
}

/// Saturates functions of a file once and prints their e-graphs.
pub(super) fn functions(
    optimiser: &Optimiser,
    Imported { functions, universe, .. }: Imported,
    options: &Options,
    what: Saturated,
) -> Result<String> {
    if what == Saturated::Egglog {
        let skeletons: Vec<_> = functions
            .into_iter()
            .map(|mut f| {
                normalise(&mut f);
                optimiser.build(&f, &universe).1
            })
            .collect();
        let inputs: Vec<_> = skeletons.iter().map(|s| &s.input).collect();
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
    let holder = match what {
        Saturated::Json => "egraph-serialize's format holds one e-graph",
        Saturated::Svg => "an SVG holds one picture",
        Saturated::Dot | Saturated::Egglog => "",
    };
    if !holder.is_empty() && functions.len() > 1 {
        bail!("{holder}, and the file has {}: choose one with --fn", count(functions.len(), "function"));
    }
    let mut printed = String::new();
    for function in &functions {
        let Graph { skeleton, view, marks, .. } = optimiser.graph(function, &universe, options)?;
        let picture = || format!("// {}\n{}", one_line(&function.name), dot::dot(&universe, &skeleton, &view, &marks));
        printed += &match what {
            Saturated::Dot | Saturated::Egglog => picture(),
            Saturated::Svg => svg(&picture())?,
            Saturated::Json => serde_json::to_string_pretty(&dot::json(&universe, &skeleton, &view))? + "\n",
        };
    }
    Ok(printed)
}

/// A name for a comment that ends with its line.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A picture as Graphviz draws it.
fn svg(picture: &str) -> Result<String> {
    let mut command = Command::new("dot");
    command.arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot run Graphviz's `dot`, which draws SVG: install graphviz")?;
    let mut stdin = child.stdin.take().context("no pipe to `dot`")?;
    // It reads everything before it writes. That it has gone says its exit code.
    let _ = stdin.write_all(picture.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().context("cannot run Graphviz's `dot`")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("Graphviz's `dot` failed: {}", said.lines().next().unwrap_or("it says nothing"));
    }
    String::from_utf8(output.stdout).context("Graphviz's `dot` wrote no text")
}
