//! Packs as a static site: a page per pack with everything that it declares, and a page that leads to all of them.
//!
//! A folder of files that link to each other; nothing is fetched, so it works from a disk as from a server.

use super::entry::Entries;
use super::known::VERDICTS;
use super::prose::{prose, sentence};
use super::texts::{Kind, PackText, Section, heading};
use super::{MADE, Page, page_of};
use super::{diagnostics, language, search};
use crate::shell;
use maud::{Markup, html};
use rewright_dsl::index::Index;
use rewright_dsl::program::Program;

/// The page that leads to all others.
const INDEX: &str = "index.html";
const DIAGNOSTICS: &str = "diagnostics.html";
const LANGUAGE: &str = "language.html";

const STYLE: (&str, &str) = ("style.css", concat!(include_str!("../base.css"), include_str!("site.css")));

/// Files of the same folder alone. A browser takes a folder on disk for no place of its own, hence `file:`.
const POLICY: &str =
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; base-uri 'none'; form-action 'none'";

/// The site of these packs and of all that they import, with what their names mean. The first page leads to all
/// others.
pub fn pages(program: &Program, index: &Index, roots: &[String]) -> Vec<Page> {
    let entries = Entries::new(program, index);
    let mut names: Vec<&str> = roots.iter().map(String::as_str).collect();
    let imported: Vec<&str> =
        entries.texts.packs.iter().map(|pack| pack.name.as_str()).filter(|name| !names.contains(name)).collect();
    let asked = names.len();
    names.extend(imported);
    let mut seen = std::collections::BTreeSet::new();
    let packs: Vec<(&str, Vec<&PackText>)> = names
        .iter()
        .filter(|name| seen.insert(**name))
        .map(|name| (*name, entries.texts.packs.iter().filter(|pack| pack.name == *name).collect()))
        .collect();
    let mut pages = vec![(INDEX.to_string(), start(&entries, &packs, asked))];
    pages.extend(packs.iter().map(|(name, texts)| (page_of(name, "html"), pack(&entries, name, texts))));
    pages.push((DIAGNOSTICS.into(), page("Diagnostics", &diagnostics::page())));
    pages.push((LANGUAGE.into(), page("The rule language", &language::page())));
    pages.push((STYLE.0.into(), format!("/* {MADE}. */\n{}", STYLE.1)));
    pages.push((search::SCRIPT.0.into(), format!("// {MADE}.\n{}", search::SCRIPT.1)));
    pages.push((
        search::INDEX.into(),
        format!("// {MADE}.\n{}", search::index(&packs, &entries.texts, (LANGUAGE, DIAGNOSTICS))),
    ));
    pages
}

/// A page around its contents.
fn page(title: &str, contents: &Markup) -> String {
    let head = html! {
        meta name="generator" content=(MADE);
        link rel="stylesheet" href=(STYLE.0);
        script defer src=(search::INDEX) {}
        script defer src=(search::SCRIPT.0) {}
    };
    let body = html! {
        header.top {
            nav {
                a href=(INDEX) { "Packs" } " " a href=(LANGUAGE) { "Language" } " " a href=(DIAGNOSTICS) { "Diagnostics" }
            }
            (search::field())
        }
        main { (contents) }
        footer.soft { p { (MADE) "." } }
    };
    shell::page(title, POLICY, &head, &body)
}

fn start(entries: &Entries<'_>, packs: &[(&str, Vec<&PackText>)], asked: usize) -> String {
    let (own, imported) = packs.split_at(asked.min(packs.len()));
    let list = |packs: &[(&str, Vec<&PackText>)]| {
        html! {
            div.wide { table {
                tr { th { "Pack" } th.n { "Types" } th.n { "Functions" } th.n { "Rules" } }
                @for (name, texts) in packs {
                    @let of = |kind: Kind| entries.texts.of_pack(name).filter(|d| d.kind == kind).count();
                    tr {
                        td {
                            a href=(page_of(name, "html")) { (name) }
                            div.soft { (texts.iter().map(|text| sentence(&text.about)).collect::<Vec<_>>().join(" ")) }
                        }
                        @for kind in [Kind::Type, Kind::Function, Kind::Rule] { td.n { (of(kind)) } }
                    }
                }
            } }
        }
    };
    let contents = html! {
        h1 { "Packs" }
        (list(own))
        @if !imported.is_empty() { h2 { "Imported by them" } (list(imported)) }
        h2 id="evidence" { "Evidence" }
        div.doc { (prose(VERDICTS)) }
    };
    page("Packs", &contents)
}

fn pack(entries: &Entries<'_>, name: &str, texts: &[&PackText]) -> String {
    let sections = entries.sections(name);
    let pages: Vec<&str> = entries.texts.packs.iter().map(|pack| pack.name.as_str()).collect();
    let imports = || texts.iter().flat_map(|text| &text.imports);
    let contents = html! {
        h1 { (name) }
        @for text in texts { div.doc { (prose(&text.about.join("\n"))) } }
        @if imports().next().is_some() {
            p {
                span.soft { "Imports " }
                @for import in imports() {
                    @if pages.contains(&import.as_str()) { a href=(page_of(import, "html")) { (import) } } @else { (import) }
                    " "
                }
            }
        }
        nav.contents {
            @for (section, all) in &sections {
                details open[sections.len() <= 3 || all.len() <= 12] {
                    summary { a href=(format!("#{}", anchor(*section))) { (heading(*section)) } " " span.soft { (all.len()) } }
                    p { @for declaration in all { a href=(format!("#{}", declaration.anchor)) { (declaration.name) } " " } }
                }
            }
        }
        @for (section, all) in &sections {
            section {
                h2 id=(anchor(*section)) { (heading(*section)) }
                @for declaration in all { (entries.entry(declaration)) }
            }
        }
        @if sections.is_empty() { p.soft { "It declares nothing of its own." } }
    };
    page(name, &contents)
}

fn anchor((kind, ruleset): Section<'_>) -> String {
    ruleset.map_or(format!("{}s", kind.word()), |set| format!("ruleset.{set}"))
}
