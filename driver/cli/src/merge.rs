//! `rewright merge`: one report of the parts that `--shard` made.

use super::shard::{HEADER, Header, Shard, inner};
use super::{Finding, Format, out, sources};
use anyhow::{Context, Result, anyhow, bail};
use rewright_dsl::diagnostic::count;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Arguments of `merge`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Reports of all parts of a run, made with `--shard K/N --format json`
    #[arg(required = true)]
    reports: Vec<PathBuf>,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A report of a part.
struct Part {
    file: PathBuf,
    header: Header,
    report: Map<String, Value>,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let mut parts = args.reports.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    parts.sort_by_key(|part| part.header.shard);
    are_one_run(&parts)?;
    let found = parts.iter().any(|part| part.header.found);
    let failed =
        parts.iter().find_map(|part| Some(anyhow!("part {}: {}", part.header.shard, part.header.error.as_ref()?)));
    let (command, number) = (parts[0].header.command.clone(), parts.len());
    let merged = merge(parts).with_context(|| format!("these are no reports of `{command}`"))?;
    match args.format {
        Format::Json => out::result(&format!("{:#}\n", Value::Object(merged))),
        Format::Text => {
            let outcome = if found { "something was found" } else { "nothing was found" };
            out::result(&format!("`{command}` in {}: {outcome}\n{}", count(number, "part"), text(&merged)));
        }
    }
    match failed {
        _ if found => Ok(Finding::Found),
        Some(error) => Err(error),
        None => Ok(Finding::Clean),
    }
}

fn read(path: &Path) -> Result<Part> {
    let text = sources::read(path)?;
    let no_part = || {
        let shown = path.display();
        format!("{shown} is no report of a part of a run; `--shard K/N --format json` of a command prints one")
    };
    let mut report: Map<String, Value> = serde_json::from_str(&text).with_context(no_part)?;
    let header = report.remove(HEADER).ok_or_else(|| anyhow!(no_part()))?;
    let header: Header = serde_json::from_value(header).with_context(no_part)?;
    Ok(Part { file: path.into(), header, report })
}

/// All parts of one run are there, each once.
fn are_one_run(parts: &[Part]) -> Result<()> {
    let first = &parts[0];
    let run = |part: &Part| (part.header.command.clone(), part.header.run.clone(), part.header.shard.n);
    if let Some(other) = parts.iter().find(|part| run(part) != run(first)) {
        let (a, b) = (first.file.display(), other.file.display());
        bail!(
            "{a} and {b} are of different runs: other rules, other inputs, other options, or another number of parts"
        );
    }
    if let Some(pair) = parts.windows(2).find(|pair| pair[0].header.shard == pair[1].header.shard) {
        let (a, b) = (pair[0].file.display(), pair[1].file.display());
        bail!("{a} and {b} are the same part: {}", pair[0].header.shard);
    }
    let n = first.header.shard.n;
    let there: BTreeSet<usize> = parts.iter().map(|part| part.header.shard.k).collect();
    let missing = (1..=n).filter(|k| !there.contains(k)).map(|k| Shard { k, n }.to_string());
    let missing: Vec<String> = missing.collect();
    if missing.is_empty() { Ok(()) } else { bail!("parts are missing: {}", missing.join(", ")) }
}

/// Entries of a list: the item that each tells of, the number of the part, and what it says.
type Entries = Vec<(usize, usize, Value)>;

/// The report of the whole run.
fn merge(parts: Vec<Part>) -> Result<Map<String, Value>> {
    let mut whole = Value::Object(Map::new());
    let mut lists: BTreeMap<String, Entries> = BTreeMap::new();
    for (number, Part { header, report, file }) in parts.into_iter().enumerate() {
        let in_file = || file.display().to_string();
        add(&mut whole, Value::Object(report), "", (number, &header), &mut lists).with_context(in_file)?;
    }
    for (name, mut entries) in lists {
        // Entries of one item come from one part, in the order in which it found them.
        entries.sort_by_key(|(item, part, _)| (*item, *part));
        // Equal entries of several parts are listed once.
        let mut said: BTreeMap<String, usize> = BTreeMap::new();
        entries.retain(|(_, part, entry)| *said.entry(entry.to_string()).or_insert(*part) == *part);
        let list = name.split('.').fold(&mut whole, |fields, field| &mut fields[field]);
        *list = entries.into_iter().map(|(_, _, entry)| entry).collect();
    }
    match whole {
        Value::Object(whole) => Ok(whole),
        _ => bail!("a report is an object"),
    }
}

/// Adds what a part says under a name: counts to counts, entries to lists.
fn add(
    sum: &mut Value,
    value: Value,
    name: &str,
    (part, header): (usize, &Header),
    lists: &mut BTreeMap<String, Entries>,
) -> Result<()> {
    match (&mut *sum, value) {
        (_, Value::Array(entries)) => {
            let items = header.items.get(name).map_or(&[][..], Vec::as_slice);
            if items.len() != entries.len() {
                bail!("`{name}` has been changed");
            }
            let entries = items.iter().zip(entries).map(|(item, entry)| (*item, part, entry));
            lists.entry(name.to_string()).or_default().extend(entries);
        }
        (sum, value) if header.settings.iter().any(|setting| setting == name) => *sum = value,
        (Value::Object(sum), Value::Object(value)) => {
            for (field, value) in value {
                let empty = if value.is_object() { Value::Object(Map::new()) } else { Value::Null };
                let name = inner(name, &field);
                add(sum.entry(field).or_insert(empty), value, &name, (part, header), lists)?;
            }
        }
        (Value::Null, value) => *sum = value,
        (Value::Number(a), Value::Number(b)) => {
            let total = a.as_u64().zip(b.as_u64()).and_then(|(a, b)| a.checked_add(b));
            *sum = total.context("a count is no natural number, or too large")?.into();
        }
        (a, b) => bail!("{a} and {b} are no counts"),
    }
    Ok(())
}

/// Counts, and the lengths of lists.
fn text(report: &Map<String, Value>) -> String {
    let line = |(name, value): (&String, &Value)| match value {
        Value::Array(entries) => Some(format!("{name}: {}\n", entries.len())),
        Value::Object(counts) if counts.values().all(|n| n.is_number() || n.is_array()) => {
            let counts = counts.iter().map(|(of, n)| match n {
                Value::Array(entries) => format!("{} {of}", entries.len()),
                n => format!("{n} {of}"),
            });
            let counts: Vec<String> = counts.collect();
            Some(format!("{name}: {}\n", if counts.is_empty() { "none".into() } else { counts.join(", ") }))
        }
        value if value.is_number() => Some(format!("{name}: {value}\n")),
        _ => None,
    };
    report.iter().filter_map(line).map(|line| line.replace('_', " ")).collect()
}
