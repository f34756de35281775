//! What is known of the rules of packs besides their texts: at which types they are, on what evidence, which examples
//! show them.

use rewright_dsl::instances::TypeInstances;
use rewright_dsl::program::{Example, Program, Rule, RuleId};
use rewright_packs::{Evidence, evidence_of};
use rewright_typeprop::TypeParam;
use std::collections::BTreeSet;

/// What the verdicts of evidence mean.
pub(super) const VERDICTS: &str = "\
Evidence is what `rewright verify` found at each type instance that a rule admits. *equal*: proved for all values. \
*equal at smaller widths*: proved at the widths that the solver decides, and tested at this one. *tested*: no value \
tried tells the sides apart; of an approximate rule, they stay close. *unknown*: neither proved nor tested, because what \
an operation means is not known here.";

/// Packs without mistakes, with what verification has found of their rules.
pub(super) struct Known<'p> {
    pub(super) program: &'p Program,
    instances: TypeInstances<'p>,
    evidence: Evidence,
}

impl<'p> Known<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let mut evidence = Evidence::new();
        for (name, _) in &program.sources.files {
            evidence.extend(evidence_of(name));
        }
        Known { program, instances: TypeInstances::new(program), evidence }
    }

    /// Verdicts on a rule, as they were recorded.
    pub(super) fn verdicts(&self, rule: &Rule) -> Option<String> {
        Some(self.evidence.get(&rule.name)?.join("; "))
    }

    /// What the rules that one name stands for give up, and why they may.
    pub(super) fn cautions(&self, rules: &[&Rule]) -> Vec<String> {
        let Some(first) = rules.first() else { return vec![] };
        let approximate = first.approximate.as_ref().map(|a| format!("Approximate: it gives up {}.", a.gives_up));
        let relaxed = first.relaxation.as_ref().map(|r| format!("Unsafe, because {}.", r.because));
        approximate.into_iter().chain(relaxed).collect()
    }

    /// What stands for their type parameters: `` `T` = i8, i16 ``.
    pub(super) fn types(&self, rules: &[&Rule]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        rules.iter().flat_map(|rule| self.types_of(rule)).filter(|types| seen.insert(types.clone())).collect()
    }

    fn types_of(&self, rule: &Rule) -> Vec<String> {
        let mut all = self.instances.combinations(rule).unwrap_or_default();
        all.retain(|types| self.instances.admits(rule, types));
        let types = &self.program.universe.types;
        let stands = |(i, param): (usize, &TypeParam)| {
            let mut seen = BTreeSet::new();
            let shown = all.iter().map(|types| types[i]).filter(|ty| seen.insert(*ty));
            let shown: Vec<String> = shown.map(|ty| types.display(ty)).collect();
            (!shown.is_empty()).then(|| format!("`{}` = {}", param.name, shown.join(", ")))
        };
        rule.tparams.iter().enumerate().filter_map(stands).collect()
    }

    /// One sentence on the evidence for them.
    pub(super) fn evidence(&self, family: RuleId, rules: &[&Rule]) -> String {
        let base = &self.program.rule(family).name;
        let found = rules.iter().filter_map(|rule| Some((rule, self.verdicts(rule)?)));
        // Of rules that share a name, what tells them apart: `.back[T=Wide]`.
        let found: Vec<String> = found
            .map(|(rule, verdicts)| match rule.name.strip_prefix(base).unwrap_or_default() {
                "" => verdicts,
                which => format!("{verdicts} ({})", which.trim_matches(['.', '[', ']']).replace('[', ", ")),
            })
            .collect();
        match found.is_empty() {
            true => "Evidence: none is recorded; rewright verify --update records it.".into(),
            false => format!("Evidence, in type instances: {}.", found.join("; ")),
        }
    }

    /// The examples that name one of them in `fires`.
    pub(super) fn examples(&self, rules: &[&Rule]) -> impl Iterator<Item = &'p Example> {
        let families: BTreeSet<RuleId> = rules.iter().map(|rule| rule.family).collect();
        let program = self.program;
        let shows = move |rule: &RuleId| families.contains(&program.rule(*rule).family);
        program.examples.iter().filter(move |example| example.fires.iter().any(&shows))
    }
}
