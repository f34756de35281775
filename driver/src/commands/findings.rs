//! Findings in the formats that people, code hosts and test runners read.

use super::{out, packs};
use clap::ValueEnum;
use rewright_dsl::diagnostic::{Diagnostic, JsonDiagnostic, Severity, Sources, to_json};
use serde_json::json;

/// How to report findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(super) enum Format {
    /// For people, with the lines that they are about
    #[default]
    #[value(alias = "text")]
    Full,
    /// For people, a line each
    Concise,
    /// For programs; one document on stdout
    Json,
    /// Static Analysis Results Interchange Format 2.1.0
    Sarif,
    /// Annotations of GitHub workflows
    Github,
    /// JUnit's XML
    Junit,
}

impl Format {
    /// Does a summary fit in?
    pub(super) fn is_for_people(self) -> bool {
        matches!(self, Format::Full | Format::Concise)
    }
}

/// Prints findings: to stderr for people, to stdout for programs. A command's own JSON is its own affair.
pub(super) fn print(format: Format, files: &Sources, found: &[Diagnostic]) {
    let listed = to_json(found, files);
    match format {
        Format::Full => packs::print(files, found),
        Format::Concise => listed.iter().for_each(|d| out::note(&line(d))),
        Format::Json => out::result(&format!("{:#}\n", json!(listed))),
        Format::Sarif => out::result(&format!("{:#}\n", sarif(&listed))),
        Format::Github => listed.iter().for_each(|d| out::result(&github(d))),
        Format::Junit => out::result(&junit(&listed)),
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// `file:line:column: error[RW0701]: message: cause`
fn line(d: &JsonDiagnostic) -> String {
    let place = &d.primary.place;
    let cause = if d.primary.text.is_empty() { String::new() } else { format!(": {}", d.primary.text) };
    format!("{}:{}:{}: {}[{}]: {}{cause}", place.file, place.line, place.column, word(d.severity), d.code, d.message)
}

/// The message with what else there is to say.
fn whole(d: &JsonDiagnostic) -> String {
    let more = std::iter::once(&d.primary.text).chain(d.help.as_ref()).filter(|text| !text.is_empty());
    more.fold(d.message.clone(), |text, part| format!("{text}\n{part}"))
}

fn sarif(found: &[JsonDiagnostic]) -> serde_json::Value {
    let results: Vec<_> = found
        .iter()
        .map(|d| {
            let p = &d.primary.place;
            json!({
                "ruleId": d.code,
                "level": word(d.severity),
                "message": { "text": whole(d) },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": p.file },
                    "region": {
                        "startLine": p.line, "startColumn": p.column,
                        "endLine": p.end_line, "endColumn": p.end_column,
                    },
                } }],
            })
        })
        .collect();
    let mut codes: Vec<&str> = found.iter().map(|d| d.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let rules: Vec<_> = codes
        .into_iter()
        .map(|code| {
            let title = rewright_dsl::codes::find(code).map_or("", |known| known.title);
            json!({ "id": code, "shortDescription": { "text": title } })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "rewright", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}

/// A workflow command; its values are escaped as GitHub wants them.
fn github(d: &JsonDiagnostic) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let p = &d.primary.place;
    format!(
        "::{} file={},line={},col={},endLine={},endColumn={},title={}::{}\n",
        word(d.severity),
        property(&p.file),
        p.line,
        p.column,
        p.end_line,
        p.end_column,
        property(d.code),
        data(&whole(d))
    )
}

/// One test case per finding; without findings one that passes, since an empty suite is an error to some.
fn junit(found: &[JsonDiagnostic]) -> String {
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\n', "&#10;")
    };
    let failures = found.iter().filter(|d| d.severity == Severity::Error).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"rewright\" tests=\"{}\" failures=\"{failures}\">\n",
        found.len().max(1)
    );
    for d in found {
        let p = &d.primary.place;
        text += &format!(
            "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{}\">\n",
            escape(&d.message),
            d.code,
            escape(&p.file),
            p.line
        );
        text += &match d.severity {
            Severity::Error => format!("      <failure message=\"{}\"/>\n", escape(&whole(d))),
            Severity::Warning => format!("      <system-out>{}</system-out>\n", escape(&whole(d))),
        };
        text += "    </testcase>\n";
    }
    if found.is_empty() {
        text += "    <testcase name=\"no findings\" classname=\"rewright\"/>\n";
    }
    text + "  </testsuite>\n</testsuites>\n"
}
