//! `rewright doc`: a page per pack, in Markdown: what each rule says and means, at which types, on what evidence, and
//! an example.
//!
//! Everything is read from the packs and from `verify.expected` beside them, so a page says nothing that no command
//! checks; the same packs give the same pages.

use super::{Finding, Format, examples, out, packs, project, sources};
use anyhow::{Context, Result, bail};
use rewright_dsl::diagnostic::count;
use rewright_dsl::instances::TypeInstances;
use rewright_dsl::program::{Program, Rule, RuleId};
use rewright_files as files;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Arguments of `doc`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs; `-` is standard input [default: those of `rewright.toml`]
    paths: Vec<PathBuf>,
    /// Where the pages go: `PACK.md` each, and `README.md` that leads to them
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let args = Args { paths: project::packs(args.paths)?, ..args };
    let Some(loaded) = packs::sound(&sources::packs(&args.paths)?)? else { return Ok(Finding::Found) };
    let evidence = super::verify::evidence(&args.paths)?;
    let book = Book { program: &loaded.program, instances: TypeInstances::new(&loaded.program), evidence };
    let mut index = format!("# Packs\n\n{MADE}.\n\n| pack | rules | |\n|---|---|---|\n");
    let mut pages = vec![];
    let progress = out::progress("packs", loaded.roots.len() as u64);
    for pack in &loaded.roots {
        progress.inc(1);
        let families = book.families(pack);
        let Some(text) = book.page(pack, &families) else { continue };
        let about = book.about(&families);
        let paragraph: Vec<&str> = about.lines().take_while(|line| !line.is_empty()).collect();
        let paragraph = paragraph.join(" ");
        let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default().trim();
        let page = page(pack);
        index += &format!("| [{pack}]({page}) | {} | {sentence} |\n", families.len());
        pages.push((page, text));
    }
    progress.finish_and_clear();
    index += &format!("\n{EVIDENCE}");
    pages.push((INDEX.to_string(), index));
    write(&args.output, &pages)?;
    let written: Vec<&str> = pages.iter().map(|(page, _)| page.as_str()).collect();
    out::result(&match args.format {
        Format::Json => format!("{:#}\n", json!({ "directory": args.output, "pages": written })),
        Format::Text => format!("{} in {}\n", count(pages.len() - 1, "page"), args.output.display()),
    });
    Ok(Finding::Clean)
}

/// The page that leads to all others.
const INDEX: &str = "README.md";

/// The file of a pack's page. A file system may take names for the same that differ in case, so a pack of the index's
/// name has a page of another; no pack has a name with a hyphen.
fn page(pack: &str) -> String {
    let page = format!("{pack}.md");
    if page.eq_ignore_ascii_case(INDEX) { format!("{pack}-pack.md") } else { page }
}

/// Writes pages into a folder, and over no file that is none: a project has a `README.md` of its own.
fn write(folder: &Path, pages: &[(String, String)]) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, _) in pages {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| !String::from_utf8_lossy(&there).contains(MADE)) {
            bail!("{} is there already, and not made by `rewright doc`: name another folder", path.display());
        }
    }
    for (name, text) in pages {
        files::write(&folder.join(name), text)?;
    }
    Ok(())
}

/// What every page says of where it comes from.
const MADE: &str = "Made by `rewright doc`";

/// What pages are made from.
struct Book<'p> {
    program: &'p Program,
    instances: TypeInstances<'p>,
    /// By rule: verdicts of its type instances.
    evidence: BTreeMap<String, String>,
}

/// What verdicts mean.
const EVIDENCE: &str = "\
Evidence is what `rewright verify` found at each type instance that a rule admits. *equal*: proved for all values. \
*equal at smaller widths*: proved at the widths that the solver decides, and tested at this one. *tested*: no value \
tried \
tells the sides apart; of an approximate rule, they stay close. *unknown*: neither proved nor tested, because what an \
operation means is not known here.\n";

/// The rules of a pack by what one name in it stands for, in order; the ways back of two-way rules with the ways there.
type Families<'p> = BTreeMap<RuleId, Vec<&'p Rule>>;

impl<'p> Book<'p> {
    fn families(&self, pack: &str) -> Families<'p> {
        let mut families = Families::new();
        let mut named: BTreeMap<&str, RuleId> = BTreeMap::new();
        for rule in self.program.rules.iter().filter(|rule| !rule.law) {
            let name = self.program.rule(rule.family).name.as_str();
            let there = name.strip_suffix(".back").unwrap_or(name);
            if examples::own_name(pack, there).is_some() {
                families.entry(*named.entry(there).or_insert(rule.family)).or_default().push(rule);
            }
        }
        families
    }

    /// What a pack's text says of it.
    fn about(&self, families: &Families<'p>) -> String {
        let span = families.values().flatten().next().map(|rule| rule.span);
        let file = span.and_then(|span| self.program.sources.files.get(span.file as usize));
        let lines = file.map_or("", |(_, text)| text).lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| format!("{}\n", line.trim())).collect()
    }

    /// The page of a pack; `None` where it has no rules of its own.
    fn page(&self, pack: &str, families: &Families<'p>) -> Option<String> {
        families.first_key_value()?;
        let (mut contents, mut body) = (vec![], String::new());
        let mut anchors = Anchors::default();
        anchors.heading(pack);
        let mut ruleset = "";
        for (id, rules) in families {
            let name = self.program.rule(*id).name.strip_prefix(pack).unwrap_or_default().trim_start_matches('.');
            let (set, short) = name.split_once('.').unwrap_or(("", name));
            if set != ruleset {
                contents.push(format!("[{set}](#{})", anchors.heading(set)));
                body += &format!("\n## {set}\n");
                ruleset = set;
            }
            anchors.heading(short);
            body += &format!("\n### {short}\n\n{}", self.rule(*id, rules));
        }
        let (about, contents) = (self.about(families), contents.join(" · "));
        Some(format!(
            "# {pack}\n\n{MADE} from the pack. [All packs, and what evidence means](README.md)\n\n{about}\n\
             Rulesets: {contents}\n{body}"
        ))
    }

    fn rule(&self, family: RuleId, rules: &[&Rule]) -> String {
        let mut text = String::new();
        let Some(first) = rules.first() else { return text };
        for line in &first.doc {
            text += &format!("{}\n", line.trim());
        }
        if !first.doc.is_empty() {
            text += "\n";
        }
        text += &format!("```\n{}\n```\n", self.program.sources.item(first.span));
        if let Some(approximate) = &first.approximate {
            text += &format!("\nApproximate: it gives up {}.\n", approximate.gives_up);
        }
        if let Some(relaxation) = &first.relaxation {
            text += &format!("\nUnsafe, because {}.\n", relaxation.because);
        }
        let mut seen = BTreeSet::new();
        let types: Vec<String> =
            rules.iter().flat_map(|rule| self.types(rule)).filter(|t| seen.insert(t.clone())).collect();
        if !types.is_empty() {
            text += &format!("\nTypes: {}.\n", types.join("; "));
        }
        let base = &self.program.rule(family).name;
        let evidence = rules.iter().filter_map(|rule| Some((rule, self.evidence.get(&rule.name)?)));
        // Of rules that share a name, what tells them apart: `.back[T=Wide]`.
        let evidence: Vec<String> = evidence
            .map(|(rule, verdicts)| match rule.name.strip_prefix(base).unwrap_or_default() {
                "" => verdicts.clone(),
                which => format!("{verdicts} ({})", which.trim_matches(['.', '[', ']']).replace('[', ", ")),
            })
            .collect();
        text += &match evidence.is_empty() {
            true => "\nEvidence: none is recorded.\n".to_string(),
            false => format!("\nEvidence, in type instances: {}.\n", evidence.join("; ")),
        };
        let families: BTreeSet<RuleId> = rules.iter().map(|rule| rule.family).collect();
        let shows = |rule: &RuleId| families.contains(&self.program.rule(*rule).family);
        for example in self.program.examples.iter().filter(|e| e.fires.iter().any(shows)) {
            text += &format!("\n```\n{}\n```\n", self.program.sources.item(example.span));
        }
        text
    }

    /// What stands for each type parameter, in instances that the rule admits.
    fn types(&self, rule: &Rule) -> Vec<String> {
        let mut all = self.instances.combinations(rule).unwrap_or_default();
        all.retain(|types| self.instances.admits(rule, types));
        let types = &self.program.universe.types;
        let stands = |(i, param): (usize, &rewright_typeprop::TypeParam)| {
            let mut seen = BTreeSet::new();
            let shown = all.iter().map(|types| types[i]).filter(|ty| seen.insert(*ty));
            let shown: Vec<String> = shown.map(|ty| types.display(ty)).collect();
            (!shown.is_empty()).then(|| format!("`{}` = {}", param.name, shown.join(", ")))
        };
        rule.tparams.iter().enumerate().filter_map(stands).collect()
    }
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
