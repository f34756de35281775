//! A page per pack in Markdown: what each rule says and means, at which types, on what evidence, and an example.

use super::known::{Known, VERDICTS};
use super::{MADE, Page, page_of};
use rewright_dsl::program::{Program, Rule, RuleId, own_name};
use std::collections::BTreeMap;

/// The page that leads to all others.
const INDEX: &str = "README.md";

/// Pages of these packs, the one that leads to them first. A pack without rules of its own has none.
pub fn pages(program: &Program, packs: &[String]) -> Vec<Page> {
    let known = Known::new(program);
    let mut index = format!("# Packs\n\n{MADE}.\n\n| pack | rules | |\n|---|---|---|\n");
    let mut pages = vec![];
    for pack in packs {
        let families = families(program, pack);
        let Some(text) = page(&known, pack, &families) else { continue };
        let about = about(program, &families);
        let paragraph: Vec<&str> = about.lines().take_while(|line| !line.is_empty()).collect();
        let paragraph = paragraph.join(" ");
        let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default().trim();
        let page = page_of(pack, "md");
        index += &format!("| [{pack}]({page}) | {} | {sentence} |\n", families.len());
        pages.push((page, text));
    }
    index += &format!("\n{VERDICTS}\n");
    pages.insert(0, (INDEX.to_string(), index));
    pages
}

/// The rules of a pack by what one name in it stands for, in order; the ways back of two-way rules with the ways there.
type Families<'p> = BTreeMap<RuleId, Vec<&'p Rule>>;

fn families<'p>(program: &'p Program, pack: &str) -> Families<'p> {
    let mut families = Families::new();
    let mut named: BTreeMap<&str, RuleId> = BTreeMap::new();
    for rule in program.rules.iter().filter(|rule| !rule.law) {
        let name = program.rule(rule.family).name.as_str();
        let there = name.strip_suffix(".back").unwrap_or(name);
        if own_name(pack, there).is_some() {
            families.entry(*named.entry(there).or_insert(rule.family)).or_default().push(rule);
        }
    }
    families
}

/// What a pack's text says of it.
fn about(program: &Program, families: &Families<'_>) -> String {
    let span = families.values().flatten().next().map(|rule| rule.span);
    let file = span.and_then(|span| program.sources.files.get(span.file as usize));
    let lines = file.map_or("", |(_, text)| text).lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.trim())).collect()
}

/// The page of a pack; `None` where it has no rules of its own.
fn page(known: &Known<'_>, pack: &str, families: &Families<'_>) -> Option<String> {
    families.first_key_value()?;
    let (mut contents, mut body) = (vec![], String::new());
    let mut anchors = Anchors::default();
    anchors.heading(pack);
    let mut ruleset = "";
    for (id, rules) in families {
        let name = known.program.rule(*id).name.strip_prefix(pack).unwrap_or_default().trim_start_matches('.');
        let (set, short) = name.split_once('.').unwrap_or(("", name));
        if set != ruleset {
            contents.push(format!("[{set}](#{})", anchors.heading(set)));
            body += &format!("\n## {set}\n");
            ruleset = set;
        }
        anchors.heading(short);
        body += &format!("\n### {short}\n\n{}", rule(known, *id, rules));
    }
    let (about, contents) = (about(known.program, families), contents.join(" · "));
    Some(format!(
        "# {pack}\n\n{MADE} from the pack. [All packs, and what evidence means](README.md)\n\n{about}\n\
         Rulesets: {contents}\n{body}"
    ))
}

fn rule(known: &Known<'_>, family: RuleId, rules: &[&Rule]) -> String {
    let mut text = String::new();
    let Some(first) = rules.first() else { return text };
    for line in &first.doc {
        text += &format!("{}\n", line.trim());
    }
    if !first.doc.is_empty() {
        text += "\n";
    }
    let item = |span| known.program.sources.item(span);
    text += &format!("```\n{}\n```\n", item(first.span));
    known.cautions(rules).iter().for_each(|caution| text += &format!("\n{caution}\n"));
    let types = known.types(rules);
    if !types.is_empty() {
        text += &format!("\nTypes: {}.\n", types.join("; "));
    }
    text += &format!("\n{}\n", known.evidence(family, rules));
    known.examples(rules).for_each(|example| text += &format!("\n```\n{}\n```\n", item(example.span)));
    text
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
