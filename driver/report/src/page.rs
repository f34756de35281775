//! A report as one page of HTML: no script, no font, no file beside it.
//!
//! All that comes from files (names, texts, reasons) goes through `maud`, which escapes it; the page ([`shell`]) forbids
//! scripts and connections on top of that.

use crate::remarks::{Change, Figures, FileReport, FunctionReport, LeftOut, RuleRef};
use crate::rules::RuleNote;
use crate::shell;
use crate::side_by_side::{Part, Row, parts};
use crate::text;
use maud::{Markup, html};
use rewright_dsl::diagnostic::count;
use rewright_pipeline::optimiser::Fate;
use rewright_pipeline::source::{Sides, SourcePlace, TextLine};
use std::collections::BTreeMap;

const STYLE: &str = concat!(include_str!("base.css"), include_str!("page.css"));

/// What a page is about.
pub struct Page<'p> {
    /// The command or file.
    pub title: &'p str,
    /// What became of files.
    pub files: &'p [FileReport],
    /// The rules that are spoken of, by name.
    pub rules: &'p BTreeMap<String, RuleNote>,
    /// Why code went without rules, and how often.
    pub missed: &'p BTreeMap<String, u64>,
}

impl Page<'_> {
    /// The page.
    pub fn html(&self) -> String {
        let contents = html! {
            h1 { "What rules did: " code { (self.title) } }
            (self.numbers())
            (self.overview())
            @for (i, file) in self.files.iter().enumerate() { (self.file(i, file)) }
            (self.missed())
            (self.rules())
        };
        shell::alone(self.title, STYLE, &contents)
    }

    fn functions(&self) -> impl Iterator<Item = &FunctionReport> {
        self.files.iter().flat_map(|file| &file.functions)
    }

    fn numbers(&self) -> Markup {
        let of = |wanted: fn(&Fate) -> bool| self.functions().filter(|f| wanted(&f.fate)).count();
        let fates = [
            (of(|fate| *fate == Fate::Optimised), "optimised"),
            (of(|fate| *fate == Fate::Unchanged), "unchanged"),
            (of(|fate| matches!(fate, Fate::PassedThrough(_))), "not understood"),
            (of(|fate| matches!(fate, Fate::Failed(_))), "failed"),
        ];
        html! {
            ul.numbers {
                li { b { (count(self.files.len(), "file")) } }
                li { b { (count(self.functions().count(), "function")) } }
                @for (n, fate) in fates { li { b { (n) } " " (fate) } }
            }
            p.soft {
                "Costs are static: what packs or a profile say that an operation costs, times how often its block is \
                 assumed to be executed. Sizes are lines of the text that is shown."
            }
        }
    }

    fn overview(&self) -> Markup {
        html! {
            div.wide { table {
                tr { th { "File" } th.n { "Functions" } th.n { "Optimised" } th.n { "Cost" } th.n { "Size" } }
                @for (i, file) in self.files.iter().enumerate() {
                    @let optimised: Vec<&FunctionReport> = optimised(file).map(|(_, f)| f).collect();
                    tr {
                        td { a href=(format!("#file-{i}")) { (file.name) } }
                        td.n { (file.functions.len()) }
                        td.n { (optimised.len()) }
                        td.n { (costs(&optimised)) }
                        td.n { (sizes(&optimised)) }
                    }
                }
            } }
            p.soft { "Costs and sizes are those of the functions that are optimised." }
        }
    }

    fn file(&self, number: usize, file: &FileReport) -> Markup {
        let unchanged: Vec<&FunctionReport> = file.functions.iter().filter(|f| f.fate == Fate::Unchanged).collect();
        html! {
            section {
                h2 id=(format!("file-{number}")) { (file.name) }
                @for (i, f) in optimised(file) { (self.function(&format!("function-{number}-{i}"), f)) }
                (not_optimised(file))
                @if !unchanged.is_empty() {
                    details {
                        summary { (count(unchanged.len(), "function")) ", for which nothing cheaper was found" }
                        ul { @for f in unchanged { li { code title=(f.name) { (f.title()) } (place(f.place.as_ref())) (limits(f)) } } }
                    }
                }
            }
        }
    }

    fn function(&self, id: &str, f: &FunctionReport) -> Markup {
        let one = std::slice::from_ref(&f);
        let none = BTreeMap::new();
        let renamed = f.sides.as_ref().map_or(&none, |sides| &sides.renamed);
        html! {
            article.function id=(id) {
                header {
                    h3 { code title=(f.name) { (f.title()) } (place(f.place.as_ref())) }
                    span.soft {
                        "cost " (costs(one))
                        @if f.sides.is_some() { ", size " (sizes(one)) }
                        @if let Some(figures) = &f.figures { ", " (figures.status) }
                        (limits(f))
                    }
                }
                ul {
                    @for change in &f.changes { li { (self.change(change, renamed)) } }
                    @for left in &f.left_out { li { (self.left_out(left)) } }
                    @for moved in &f.moved { li { (in_words(&text::moved(moved))) } }
                    @for unwritten in &f.unwritten { li { (in_words(unwritten)) } }
                    @if !f.matched.is_empty() { li { "Also matched in it: " (self.links(&f.matched)) } }
                    @if f.changes.is_empty() && f.left_out.is_empty() && f.moved.is_empty() {
                        li.soft { "No value has a rule behind it: branches were decided, or values moved and shared." }
                    }
                }
                @match &f.sides {
                    Some(sides) => (side_by_side(sides, f.place.as_ref())),
                    None => p.soft { "Its text is not shown: the front end does not tell which values stay." },
                }
            }
        }
    }

    fn change(&self, change: &Change, renamed: &BTreeMap<String, String>) -> Markup {
        html! {
            @if let Some(place) = &change.place { (place.to_string()) ": " }
            @match change.now.contains('`') {
                true => (in_words(&change.now)),
                false => code { (in_other_names(&change.now, renamed)) },
            }
            @if !change.was.is_empty() { ", was " code { (change.was.join(", ")) } }
            ": "
            (self.links(&change.rules))
        }
    }

    fn left_out(&self, left: &LeftOut) -> Markup {
        html! {
            @if let Some(place) = &left.place { (place.to_string()) ": " }
            code { (left.operation) }
            @if left.calls > 1 { " (" (left.nth) " of " (left.calls) ")" }
            @if let Some(line) = left.line { " in line " (line) }
            " is left out by " (self.links(std::slice::from_ref(&left.rule))) ": " (left.because)
        }
    }

    fn links(&self, rules: &[RuleRef]) -> Markup {
        html! {
            @for (i, rule) in rules.iter().enumerate() {
                @if i > 0 { ", " }
                @match self.rules.keys().position(|name| *name == rule.name) {
                    Some(at) => a href=(format!("#rule-{at}")) { (rule.name) },
                    None => (rule.name),
                }
            }
        }
    }

    fn missed(&self) -> Markup {
        html! {
            @if !self.missed.is_empty() {
                h2 { "Without rules" }
                div.wide { table {
                    tr { th.n { "Times" } th { "Reason" } }
                    @for (reason, n) in self.missed { tr { td.n { (n) } td { (reason) } } }
                } }
            }
        }
    }

    fn rules(&self) -> Markup {
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        self.functions().flat_map(|f| f.behind()).for_each(|rule| *uses.entry(&rule.name).or_default() += 1);
        html! {
            @if !self.rules.is_empty() { h2 { "Rules" } }
            @for (i, (name, rule)) in self.rules.iter().enumerate() {
                section id=(format!("rule-{i}")) {
                    h3 { code { (name) } }
                    span.soft {
                        (rule.place) ", behind " (count(uses.get(name.as_str()).copied().unwrap_or(0), "change"))
                    }
                    pre { code { (rule.text) } }
                    p {
                        @if rule.evidence.is_empty() {
                            "Evidence: none is recorded; " code { "rewright verify --update" } " records it."
                        } @else {
                            "Evidence, in type instances: " (rule.evidence.join("; ")) "."
                        }
                    }
                }
            }
        }
    }
}

/// A sentence with code between backquotes.
fn in_words(text: &str) -> Markup {
    html! {
        @for (i, part) in text.split('`').enumerate() {
            @match i % 2 {
                0 => (part),
                _ => code { (part) },
            }
        }
    }
}

/// With their number in the file.
fn optimised(file: &FileReport) -> impl Iterator<Item = (usize, &FunctionReport)> {
    file.functions.iter().enumerate().filter(|(_, f)| f.fate == Fate::Optimised)
}

/// Functions that are out of scope or failed, by reason.
fn not_optimised(file: &FileReport) -> Markup {
    let mut by_reason: BTreeMap<&str, Vec<&FunctionReport>> = BTreeMap::new();
    for f in &file.functions {
        if let Fate::PassedThrough(reason) | Fate::Failed(reason) = &f.fate {
            by_reason.entry(reason).or_default().push(f);
        }
    }
    html! {
        @if !by_reason.is_empty() {
            p { "Not optimised:" }
            ul { @for (reason, functions) in by_reason {
                li {
                    (reason) ": "
                    @for (i, f) in functions.iter().enumerate() {
                        @if i > 0 { ", " }
                        code title=(f.name) { (f.title()) }
                        (place(f.place.as_ref()))
                    }
                }
            } }
        }
    }
}

fn place(place: Option<&SourcePlace>) -> Markup {
    html! { @if let Some(place) = place { " " span.soft { (place.to_string()) } } }
}

/// What kept a function from being better.
fn limits(f: &FunctionReport) -> Markup {
    let ended = f.figures.as_ref().and_then(|figures| figures.ended.as_ref());
    html! {
        @if let Some(ended) = ended { ", selection ended at its limits (" (ended) ")" }
        @if f.figures.as_ref().is_some_and(|figures| figures.exhausted) { ", saturation ended at its budget" }
    }
}

fn costs(functions: &[&FunctionReport]) -> String {
    let figures = || functions.iter().filter_map(|f| f.figures.as_ref());
    let sum = |cost: fn(&Figures) -> f64| figures().map(cost).sum::<f64>() + 0.0;
    from_to(sum(|f| f.cost_before), sum(|f| f.cost_after))
}

fn sizes(functions: &[&FunctionReport]) -> String {
    let sides = || functions.iter().filter_map(|f| f.sides.as_ref());
    from_to(
        sides().map(|s| instructions(&s.before)).sum::<usize>(),
        sides().map(|s| instructions(&s.after)).sum::<usize>(),
    )
}

fn from_to<N: std::fmt::Display + Default + PartialEq>(before: N, after: N) -> String {
    if before == N::default() && after == before { String::new() } else { format!("{before} → {after}") }
}

/// Lines that are no labels.
fn instructions(lines: &[TextLine]) -> usize {
    lines.iter().filter(|line| line.text.starts_with(char::is_whitespace)).count()
}

fn side_by_side(sides: &Sides, function: Option<&SourcePlace>) -> Markup {
    html! {
        div.sides { @for part in parts(sides) { @match part {
            Part::Rows(rows) => @for row in &rows { (line(row, function)) },
            Part::Folded(rows) => details {
                summary { (count(rows.len(), "equal line")) }
                @for row in &rows { (line(row, function)) }
            },
        } } }
    }
}

fn line(row: &Row<'_>, function: Option<&SourcePlace>) -> Markup {
    let text = |line: Option<&TextLine>| line.map_or("", |line| line.text.as_str()).to_string();
    html! {
        div.row.differs[!row.is_equal()] {
            (margin(row.before, function))
            code.before { (text(row.before)) }
            code.after { (text(row.after)) }
            (margin(row.after, function))
        }
    }
}

/// The line and column; the file where it is another one than the function's.
fn margin(line: Option<&TextLine>, function: Option<&SourcePlace>) -> Markup {
    let Some(place) = line.and_then(|line| line.place.as_ref()) else { return html! { span.at {} } };
    let whole = place.to_string();
    let same = function.is_some_and(|function| function.file == place.file);
    let column = place.column.map_or(String::new(), |column| format!(":{column}"));
    let short = if same { format!("{}{column}", place.line) } else { whole.clone() };
    html! { span.at title=(whole) { (short) } }
}

/// A text with other names for values.
fn in_other_names(text: &str, renamed: &BTreeMap<String, String>) -> String {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '%' | '_' | '.' | '$' | '-');
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(in_name) {
        let end = rest[start..].find(|c| !in_name(c)).map_or(rest.len(), |length| start + length);
        out.push_str(&rest[..start]);
        let name = &rest[start..end];
        out.push_str(renamed.get(name).map_or(name, String::as_str));
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remarks::{Figures, Moved};

    fn hostile(fate: Fate) -> FunctionReport {
        let name = "@\"</code><script>alert(1)</script>&\u{202e}\"".to_string();
        let place =
            SourcePlace { file: "<img src=x onerror=alert(1)>.c".into(), line: 3, column: None, inlined_at: None };
        let line = |text: &str| TextLine { text: text.into(), place: Some(place.clone()) };
        let rule = RuleRef { name: "<b>r</b>".into(), file: "\"'><.rw".into(), line: 1 };
        FunctionReport {
            name,
            in_source: Some("f<T>".into()),
            place: Some(place.clone()),
            fate,
            figures: Some(Figures {
                cost_before: 7.0,
                cost_after: 3.0,
                status: "optimal".into(),
                ended: None,
                exhausted: false,
            }),
            changes: vec![Change {
                place: Some(place.clone()),
                value: None,
                now: "%rw.1 = <i>".into(),
                was: vec!["%\"</ul>\"".into()],
                rules: vec![rule],
            }],
            left_out: vec![],
            moved: vec![Moved {
                place: Some(place.clone()),
                operation: "<script>".into(),
                nth: 1,
                calls: 1,
                line: None,
                places: 0,
            }],
            unwritten: vec![],
            matched: vec![],
            sides: Some(Sides {
                before: vec![line("  </div><script>")],
                after: vec![line("  %x = \"<script>\"")],
                renamed: BTreeMap::from([("%rw.1".into(), "%x".into())]),
            }),
        }
    }

    #[test]
    fn names_cannot_leave_their_places() {
        let files = [FileReport {
            name: "</title><script>".into(),
            functions: vec![
                hostile(Fate::Optimised),
                hostile(Fate::Unchanged),
                hostile(Fate::PassedThrough("<script>".into())),
            ],
        }];
        let note = RuleNote { place: "<".into(), text: "</pre><script>".into(), evidence: vec!["<script>".into()] };
        let rules = BTreeMap::from([("<b>r</b>".to_string(), note)]);
        let missed = BTreeMap::from([("<script>".to_string(), 2)]);
        let page = Page { title: "</title><script>", files: &files, rules: &rules, missed: &missed }.html();
        for tag in ["<script", "<img", "<b>r", "<i>", "Rewright: </title>"] {
            assert!(!page.contains(tag), "{tag} in\n{page}");
        }
        for part in ["7 → 3", "href=\"#rule-0\"", "%x = &lt;i&gt;", "3</span>", "id=\"function-0-0\"", "Without rules"]
        {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
    }

    #[test]
    fn names_are_whole_words() {
        let renamed = BTreeMap::from([("%rw.1".to_string(), "%x".to_string())]);
        assert_eq!(in_other_names("%rw.12 = f(%rw.1, %rw.1)", &renamed), "%rw.12 = f(%x, %x)");
        assert_eq!(in_other_names("", &renamed), "");
    }

    #[test]
    fn an_empty_page_is_a_page() {
        let none = BTreeMap::new();
        let page = Page { title: "true", files: &[], rules: &BTreeMap::new(), missed: &none }.html();
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
    }
}
