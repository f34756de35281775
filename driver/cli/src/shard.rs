//! `--shard K/N`: the work of a command divided among processes or machines, and the header by which `rewright merge`
//! makes one report of the parts.
//!
//! The items of a run (rules, files, functions) are numbered; a part has every N-th. Its report says at which item each
//! entry of its lists was found, so that merging restores the order of a run that was not divided.

use super::out;
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::Program;
use rewright_files::cache::Key;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The option, wherever work can be divided.
#[derive(clap::Args, Clone, Copy)]
pub(super) struct Sharding {
    /// Every N-th part of the work only, beginning with the K-th; `rewright merge` makes one report of the parts that
    /// `--format json` prints
    #[arg(long, alias = "slice", value_name = "K/N")]
    pub(super) shard: Option<Shard>,
}

/// The k-th of n parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Shard {
    /// How many parts there are.
    pub(super) n: usize,
    /// From 1.
    pub(super) k: usize,
}

impl Shard {
    pub(super) fn has(self, item: usize) -> bool {
        item % self.n == self.k - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(k, n)| Some(Shard { k: k.parse().ok()?, n: n.parse().ok()? }));
        parsed.filter(|s| (1..=s.n).contains(&s.k)).ok_or_else(|| format!("`{text}` is not K/N with 1 <= K <= N"))
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.k, self.n)
    }
}

impl Sharding {
    /// The items of this part; what they are is for the note that says how many they are.
    pub(super) fn of<T>(self, all: Vec<T>, item: &str) -> Vec<T> {
        let Some(shard) = self.shard else { return all };
        let total = all.len();
        let own: Vec<T> =
            all.into_iter().enumerate().filter(|(item, _)| shard.has(*item)).map(|(_, one)| one).collect();
        self.say(own.len(), total, item);
        own
    }

    /// Says that this is a part only, and how large.
    pub(super) fn say(self, own: usize, total: usize, item: &str) {
        if let Some(shard) = self.shard {
            out::note(&format!("note: part {shard}: {own} of {}", count(total, item)));
        }
    }

    /// The report of this part, with its header; of a run that is not divided, the report itself.
    pub(super) fn document(self, mut report: Value, run: &Run<'_>, found: bool) -> Value {
        let Some(shard) = self.shard else { return report };
        let mut items = BTreeMap::new();
        lists(&report, String::new(), &mut |name, list| {
            let at = |(index, entry)| (run.item)(name, index, entry).unwrap_or_default();
            items.insert(name.to_string(), list.iter().enumerate().map(at).collect());
        });
        let settings = run.settings.iter().map(ToString::to_string).collect();
        let (command, key, error) = (run.command.into(), run.key().to_string(), run.error.clone());
        let header = Header { command, run: key, shard, found, error, settings, items };
        report[HEADER] = json!(header);
        report
    }
}

/// What a run is that was divided: parts of equal runs belong together.
pub(super) struct Run<'a> {
    /// The command's name.
    pub(super) command: &'a str,
    /// Its rules.
    pub(super) program: &'a Program,
    /// Whatever else decides the results: names of all items, options.
    pub(super) inputs: Vec<String>,
    /// Fields of the report that say what was asked for; all other numbers are counts.
    pub(super) settings: &'a [&'a str],
    /// The number of the item of which an entry tells: by the list's name, the entry's index there, and the entry.
    pub(super) item: &'a dyn Fn(&str, usize, &Value) -> Option<usize>,
    /// Why the command ends with exit code 2, where it does so with a report.
    pub(super) error: Option<String>,
}

impl Run<'_> {
    fn key(&self) -> Key {
        let rules = self.program.rules.iter().map(|rule| format!("{rule:?}"));
        let own = [env!("CARGO_PKG_VERSION").to_string(), self.command.to_string()];
        let parts: Vec<String> = own.into_iter().chain(rules).chain(self.inputs.iter().cloned()).collect();
        Key::of(1, parts.iter().map(|part| part.as_bytes()))
    }
}

/// The lists of a report, with their names: those of fields of fields are joined by dots.
fn lists(report: &Value, name: String, found: &mut dyn FnMut(&str, &[Value])) {
    match report {
        Value::Array(list) => found(&name, list),
        Value::Object(fields) => fields.iter().for_each(|(field, value)| lists(value, inner(&name, field), found)),
        _ => {}
    }
}

/// The name of a field of a field.
pub(super) fn inner(name: &str, field: &str) -> String {
    if name.is_empty() { field.into() } else { format!("{name}.{field}") }
}

/// The field of a report that holds the header.
pub(super) const HEADER: &str = "shard";

/// What `rewright merge` wants to know of a part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) command: String,
    /// Equal for all parts of a run.
    pub(super) run: String,
    #[serde(rename = "part")]
    pub(super) shard: Shard,
    /// The command ended with exit code 1.
    pub(super) found: bool,
    /// Why it ended with exit code 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// Fields that are equal in all parts.
    pub(super) settings: Vec<String>,
    /// By list: the item of each entry.
    pub(super) items: BTreeMap<String, Vec<usize>>,
}
