//! A page per pack in Markdown: what it declares, with what each rule means, at which types, on what evidence, and
//! examples.

use super::entry::Entries;
use super::known::VERDICTS;
use super::texts::{Declaration, Kind, heading};
use super::{MADE, Page, page_of};
use rewright_dsl::index::Index;
use rewright_dsl::program::{Program, Rule};
use std::collections::BTreeMap;

/// The page that leads to all others.
const INDEX: &str = "README.md";

/// Pages of these packs, the one that leads to them first. A pack that declares nothing has none.
pub fn pages(program: &Program, index: &Index, packs: &[String]) -> Vec<Page> {
    let entries = Entries::new(program, index);
    let mut start = format!("# Packs\n\n{MADE}.\n\n| pack | types | functions | rules | |\n|---|---|---|---|---|\n");
    let mut pages = vec![];
    for pack in packs {
        let Some(text) = page(&entries, pack) else { continue };
        let about = about(&entries, pack);
        let paragraph: Vec<&str> = about.lines().take_while(|line| !line.is_empty()).collect();
        let paragraph = paragraph.join(" ");
        let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default().trim();
        let of = |kind: Kind| entries.texts.of_pack(pack).filter(|declaration| declaration.kind == kind).count();
        let [types, functions, rules] = [Kind::Type, Kind::Function, Kind::Rule].map(of);
        let page = page_of(pack, "md");
        start += &format!("| [{pack}]({page}) | {types} | {functions} | {rules} | {sentence} |\n");
        pages.push((page, text));
    }
    start += &format!("\n{VERDICTS}\n");
    pages.insert(0, (INDEX.to_string(), start));
    pages
}

/// What a pack's text says of it.
fn about(entries: &Entries<'_>, pack: &str) -> String {
    let texts = entries.texts.packs.iter().filter(|text| text.name == pack);
    texts.flat_map(|text| &text.about).map(|line| format!("{}\n", line.trim())).collect()
}

/// The page of a pack; `None` where it declares nothing.
fn page(entries: &Entries<'_>, pack: &str) -> Option<String> {
    let sections = entries.sections(pack);
    sections.first()?;
    let (mut contents, mut body) = (vec![], String::new());
    let mut anchors = Anchors::default();
    anchors.heading(pack);
    for (section, declarations) in &sections {
        let heading = section.1.map_or_else(|| heading(*section), str::to_string);
        contents.push(format!("[{heading}](#{})", anchors.heading(&heading)));
        body += &format!("\n## {heading}\n");
        for declaration in declarations {
            anchors.heading(&declaration.name);
            body += &format!("\n### {}\n\n{}", declaration.name, entry(entries, declaration));
        }
    }
    let (about, contents) = (about(entries, pack), contents.join(" · "));
    Some(format!(
        "# {pack}\n\n{MADE} from the pack. [All packs, and what evidence means](README.md)\n\n{about}\n\
         Contents: {contents}\n{body}"
    ))
}

fn entry(entries: &Entries<'_>, declaration: &Declaration) -> String {
    let mut text: String = declaration.doc.iter().map(|line| format!("{}\n", line.trim())).collect();
    if !text.is_empty() {
        text += "\n";
    }
    text += &fenced(&entries.texts.plain(declaration));
    let found = entries.rules(declaration);
    let Some((family, _)) = found.first() else { return text };
    let rules: Vec<&Rule> = found.iter().map(|(_, rule)| *rule).collect();
    let known = &entries.known;
    known.cautions(&rules).iter().for_each(|caution| text += &format!("\n{caution}\n"));
    let types = known.types(&rules);
    if !types.is_empty() {
        text += &format!("\nTypes: {}.\n", types.join("; "));
    }
    text += &format!("\n{}\n", known.evidence(*family, &rules));
    let item = |span| known.program.sources.item(span);
    known.examples(&rules).for_each(|example| text += &format!("\n{}", fenced(&item(example.span))));
    text
}

fn fenced(text: &str) -> String {
    format!("```\n{}\n```\n", text.trim_end())
}

/// The anchors of a page's headings, as readers of Markdown make them: the second heading of a name is its `name-1`.
#[derive(Default)]
struct Anchors(BTreeMap<String, usize>);

impl Anchors {
    fn heading(&mut self, text: &str) -> String {
        let kept = text
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '))
            .collect::<String>();
        let name = kept.replace(' ', "-");
        let seen = self.0.entry(name.clone()).or_default();
        *seen += 1;
        if *seen == 1 { name } else { format!("{name}-{}", *seen - 1) }
    }
}
