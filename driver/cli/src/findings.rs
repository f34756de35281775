//! Findings in the formats that people, code hosts and test runners read.

use super::{out, packs};
use clap::ValueEnum;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use rewright_dsl::diagnostic::{Diagnostic, JsonDiagnostic, JsonFix, Severity, SourceLocation, Sources, to_json};
use serde_json::json;
use serde_sarif::sarif;
use std::collections::BTreeSet;

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

/// Prints findings: to stderr for people, to stdout for programs. A command prints its own JSON itself.
pub(super) fn print(format: Format, files: &Sources, found: &[Diagnostic]) {
    let listed = to_json(found, files);
    match format {
        Format::Full => packs::print(files, found),
        Format::Concise => listed.iter().for_each(|d| out::report(&line(d))),
        Format::Json => out::result(&format!("{:#}\n", json!(listed))),
        Format::Sarif => out::result(&format!("{:#}\n", json!(sarif(&listed)))),
        Format::Github => listed.iter().for_each(|d| out::result(&github(d))),
        // It is written to memory: only names that are no XML would fail, and none is made here.
        Format::Junit => out::result(&junit(&listed).to_string().unwrap_or_default()),
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

fn sarif(found: &[JsonDiagnostic]) -> sarif::Sarif {
    let artifact = |place: &SourceLocation| sarif::ArtifactLocation::builder().uri(&place.file).build();
    let region = |place: &SourceLocation| {
        sarif::Region::builder()
            .start_line(place.line as i64)
            .start_column(place.column as i64)
            .end_line(place.end_line as i64)
            .end_column(place.end_column as i64)
            .build()
    };
    let location = |place: &SourceLocation| {
        let physical = sarif::PhysicalLocation::builder();
        let physical = physical.artifact_location(artifact(place)).region(region(place)).build();
        sarif::Location::builder().physical_location(physical).build()
    };
    let fix = |fix: &JsonFix| {
        let content = sarif::ArtifactContent::builder().text(&fix.replacement).build();
        let change = sarif::Replacement::builder().deleted_region(region(&fix.place)).inserted_content(content).build();
        let file = sarif::ArtifactChange::builder();
        let file = file.artifact_location(artifact(&fix.place)).replacements(vec![change]).build();
        sarif::Fix::builder().artifact_changes(vec![file]).build()
    };
    let result = |d: &JsonDiagnostic| {
        let level = match d.severity {
            Severity::Error => sarif::ResultLevel::Error,
            Severity::Warning => sarif::ResultLevel::Warning,
        };
        let mut result = sarif::Result::builder()
            .rule_id(d.code)
            .level(level)
            .message(sarif::Message::builder().text(whole(d)).build())
            .locations(vec![location(&d.primary.place)])
            .build();
        result.fixes = d.fix.as_ref().map(|found| vec![fix(found)]);
        result
    };
    let codes: BTreeSet<&str> = found.iter().map(|d| d.code).collect();
    let rule = |code: &str| {
        let title = rewright_dsl::codes::find(code).map_or("", |known| known.title);
        let text = sarif::MultiformatMessageString::builder().text(title).build();
        sarif::ReportingDescriptor::builder().id(code).short_description(text).build()
    };
    let tool = sarif::ToolComponent::builder()
        .name("rewright")
        .version(env!("CARGO_PKG_VERSION"))
        .rules(codes.into_iter().map(rule).collect::<Vec<_>>())
        .build();
    let run = sarif::Run::builder().tool(tool).results(found.iter().map(result).collect::<Vec<_>>()).build();
    sarif::Sarif::builder()
        .version(sarif::Version::V2_1_0.to_string())
        .schema(sarif::SCHEMA_URL)
        .runs(vec![run])
        .build()
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
fn junit(found: &[JsonDiagnostic]) -> quick_junit::Report {
    let mut suite = TestSuite::new("rewright");
    for d in found {
        let status = match d.severity {
            Severity::Error => TestCaseStatus::non_success(NonSuccessKind::Failure),
            Severity::Warning => TestCaseStatus::success(),
        };
        let mut case = TestCase::new(d.message.as_str(), status);
        case.set_classname(d.code);
        case.add_property(("file", d.primary.place.file.as_str()));
        case.add_property(("line", d.primary.place.line.to_string().as_str()));
        match d.severity {
            Severity::Error => drop(case.status.set_message(whole(d))),
            Severity::Warning => drop(case.set_system_out(whole(d))),
        }
        suite.add_test_case(case);
    }
    if found.is_empty() {
        suite.add_test_case(TestCase::new("no findings", TestCaseStatus::success()));
    }
    let mut report = quick_junit::Report::new("rewright");
    report.add_test_suite(suite);
    report
}
