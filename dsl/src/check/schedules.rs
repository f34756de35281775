//! Stage 4: schedules. A step names a ruleset, or a schedule whose steps are put in its place. A pack without a
//! schedule `default` gets one that saturates all its rulesets but `assoc`, together.

use super::Checker;
use super::laws::ASSOC;
use super::report::Diag;
use super::resolved::Named;
use crate::program::{Program, Schedule, ScheduleStep, StepLimits};
use crate::syntax::ast::{ItemKind, Limit, Path, Span, Step};

impl Checker<'_> {
    pub(super) fn check_schedules(&mut self) {
        for file in 0..self.files.len() {
            let pack = self.scopes[file].pack.clone();
            for (_, item) in self.items(file) {
                let ItemKind::Schedule { name, at, steps } = &item.kind else { continue };
                let qualified = format!("{pack}.{}", name.node);
                if let Some(earlier) = self.program.schedules.get(&qualified).map(|s| s.span) {
                    self.report(Diag::twice("schedule", name, earlier));
                    continue;
                }
                let steps = self.steps(file, steps, 0);
                let at = at.as_ref().map(|a| a.node.clone());
                self.program.schedules.insert(qualified, Schedule { at, steps, span: item.span });
            }
            let default = format!("{pack}.default");
            // A pack that says where its schedules run has said all.
            let placed = |(name, s): (&String, &Schedule)| s.at.is_some() && name.starts_with(&format!("{pack}."));
            if !self.program.schedules.contains_key(&default) && !self.program.schedules.iter().any(placed) {
                let prefix = format!("{pack}.");
                let own = self.program.rulesets.iter().filter(|(name, rules)| {
                    let local = name.strip_prefix(&prefix);
                    !rules.is_empty() && local.is_some_and(|l| l != ASSOC && !l.contains('.'))
                });
                let saturate =
                    |name: &String| ScheduleStep::Saturate { ruleset: name.clone(), limits: StepLimits::default() };
                let saturate: Vec<ScheduleStep> = own.map(|(name, _)| saturate(name)).collect();
                let steps = match saturate.len() {
                    0 | 1 => saturate,
                    _ => vec![ScheduleStep::Repeat { count: None, steps: saturate }],
                };
                let span = self.files[file].file.pack.as_ref().map_or(Span::default(), |p| p.span);
                self.program.schedules.insert(default, Schedule { at: None, steps, span });
            }
        }
    }

    fn steps(&mut self, file: usize, steps: &[Step], depth: u32) -> Vec<ScheduleStep> {
        let mut out = Vec::new();
        for step in steps {
            match step {
                Step::Run { ruleset, limits } => self.step(file, ruleset, limits, false, &mut out),
                Step::Saturate { ruleset, limits } => self.step(file, ruleset, limits, true, &mut out),
                Step::Repeat { count, steps } if depth < 100 => {
                    let steps = self.steps(file, steps, depth + 1);
                    out.push(ScheduleStep::Repeat { count: *count, steps });
                }
                Step::Repeat { .. } => {}
            }
        }
        out
    }

    /// The limits of a step, by unit.
    fn limits(&mut self, written: &[Limit], saturate: bool) -> StepLimits {
        let mut limits = StepLimits::default();
        for Limit { count, unit } in written {
            let place = match unit.node.as_str() {
                "node" | "nodes" => &mut limits.nodes,
                "match" | "matches" if saturate => &mut limits.matches,
                "round" | "rounds" if saturate => &mut limits.rounds,
                "match" | "matches" | "round" | "rounds" => {
                    let message = format!("`run` is one round: it has no limit of {}", unit.node);
                    self.report(
                        Diag::error("RW0409", unit.span, message, "asked after each round")
                            .help(format!("`saturate` has it: `saturate ruleset limit {count} {}`", unit.node)),
                    );
                    continue;
                }
                _ => {
                    self.report(
                        Diag::error("RW0409", unit.span, format!("unknown unit `{}`", unit.node), "of what?")
                            .help("units are `nodes`, `matches` and `rounds`: `limit 5000 nodes, 20 rounds`"),
                    );
                    continue;
                }
            };
            if place.replace(*count).is_some() {
                self.report(
                    Diag::error("RW0409", unit.span, format!("`{}` is limited twice", unit.node), "said before")
                        .help("keep one of the two"),
                );
            }
        }
        limits
    }

    fn step(&mut self, file: usize, path: &Path, limits: &[Limit], saturate: bool, out: &mut Vec<ScheduleStep>) {
        let limits = self.limits(limits, saturate);
        let Program { rulesets, schedules, .. } = &self.program;
        let rejected = &self.rejected_sets;
        let exists = |name: &str| {
            rulesets.contains_key(name) || schedules.contains_key(name) || rejected.iter().any(|r| r == name)
        };
        let found = self.scopes[file].find_path(&path.node, exists);
        if let [one] = &found[..] {
            if rulesets.contains_key(one) {
                let ruleset = one.clone();
                self.note_path(path, Named::Ruleset(ruleset.clone()));
                out.push(match saturate {
                    true => ScheduleStep::Saturate { ruleset, limits },
                    false => ScheduleStep::Run { ruleset, limits },
                });
            } else if let Some(schedule) = schedules.get(one) {
                self.note_path(path, Named::Schedule(one.clone()));
                // Another schedule: its steps, once or until nothing changes by its own words.
                out.extend(schedule.steps.clone());
            }
            return;
        }
        if !found.is_empty() {
            let places = found.into_iter().map(|name| (name, None));
            return self.report(super::name_clashes::several("rulesets", path, places));
        }
        if self.scopes[file].incomplete {
            return;
        }
        let prefix = format!("{}.", self.scopes[file].pack);
        let sets = &self.program.rulesets;
        let known: Vec<String> = sets.keys().map(|k| k.strip_prefix(&prefix).unwrap_or(k).to_string()).collect();
        let names: Vec<String> = known.iter().take(8).map(|k| format!("`{k}`")).collect();
        let report =
            Diag::error("RW0204", path.span, format!("unknown ruleset `{}`", path.node), "not declared or imported")
                .nearest(&path.node, known.iter().map(String::as_str), || {
                    (!names.is_empty()).then(|| format!("rulesets are {}", super::report::listed(&names)))
                });
        self.report(report);
    }
}
