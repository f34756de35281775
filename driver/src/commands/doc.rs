//! `rewright doc`: a page per pack, in Markdown: what each rule says and means, at which types, on what evidence, and an
//! example.
//!
//! Everything is read from the packs and from `verify.expected` beside them, so a page says nothing that no command
//! checks; the same packs give the same pages.

use super::{Finding, out, packs, sources};
use anyhow::{Context, Result};
use rewright_dsl::instances::TypeInstances;
use rewright_dsl::program::{Program, Rule, RuleId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Arguments of `doc`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Where the pages go: `PACK.md` each
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(loaded) = packs::sound(&sources::packs(&args.paths)?)? else { return Ok(Finding::Found) };
    let evidence = super::verify::evidence(&args.paths)?;
    std::fs::create_dir_all(&args.output).with_context(|| format!("cannot make {}", args.output.display()))?;
    let book = Book { program: &loaded.program, instances: TypeInstances::new(&loaded.program), evidence };
    let mut pages = 0;
    for pack in &loaded.roots {
        let Some(text) = book.page(pack) else { continue };
        let path = args.output.join(format!("{pack}.md"));
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        pages += 1;
    }
    out::result(&format!("{pages} pages in {}\n", args.output.display()));
    Ok(Finding::Clean)
}

/// What pages are made from.
struct Book<'p> {
    program: &'p Program,
    instances: TypeInstances<'p>,
    /// By rule: verdicts of its type instances.
    evidence: BTreeMap<String, String>,
}

impl Book<'_> {
    /// The page of a pack; `None` where it has no rules of its own.
    fn page(&self, pack: &str) -> Option<String> {
        let own = format!("{pack}.");
        let mut families: BTreeMap<RuleId, Vec<&Rule>> = BTreeMap::new();
        for rule in self.program.rules.iter().filter(|rule| !rule.law) {
            // Names of packs may begin with those of others: a rule is named `pack.ruleset.rule`.
            if self.program.rule(rule.family).name.strip_prefix(&own).is_some_and(|rest| rest.matches('.').count() == 1)
            {
                families.entry(rule.family).or_default().push(rule);
            }
        }
        let first = families.values().next()?.first()?;
        let mut text = format!("# {pack}\n\nMade by `rewright doc` from the pack.\n");
        let about = self.program.sources.files.get(first.span.file as usize).map_or("", |(_, text)| text);
        for line in about.lines().map_while(|line| line.strip_prefix("//!")) {
            text += &format!("\n{}", line.trim());
        }
        text += "\n";
        let mut ruleset = "";
        for (id, rules) in &families {
            let name = self.program.rule(*id).name.strip_prefix(&own).unwrap_or_default();
            let (set, short) = name.split_once('.').unwrap_or(("", name));
            if set != ruleset {
                text += &format!("\n## {set}\n");
                ruleset = set;
            }
            text += &format!("\n### {short}\n\n{}", self.rule(*id, rules));
        }
        Some(text)
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
        if let Some(relaxation) = &first.relaxation {
            text += &format!("\nUnsafe, because {}.\n", relaxation.because);
        }
        let types: Vec<String> = rules.iter().flat_map(|rule| self.types(rule)).collect();
        if !types.is_empty() {
            text += &format!("\nTypes: {}.\n", types.join("; "));
        }
        let evidence = rules.iter().filter_map(|rule| Some((rule, self.evidence.get(&rule.name)?)));
        let evidence: Vec<String> = evidence
            .map(|(rule, verdicts)| match rule.name.find('[') {
                Some(at) => format!("{verdicts} ({})", rule.name[at..].trim_matches(['[', ']'])),
                None => verdicts.clone(),
            })
            .collect();
        if !evidence.is_empty() {
            text += &format!("\nEvidence, in type instances: {}.\n", evidence.join("; "));
        }
        let shows = |rule: &RuleId| self.program.rule(*rule).family == family;
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
