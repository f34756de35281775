//! Where nothing else decides: the first version, rewritten by rules into a form like the second one.
//!
//! The e-graph of a function of the first file holds all forms of it that rules find. One is chosen that is written with
//! the operations of the second version ([`Likeness`]), and compared with that as any first version is. A proof rests on
//! the rules, which is said. Rules that let effects go, or whose sides are only close, take no part, and of functions of CLIF
//! and of our own text that access memory rules say nothing.

use super::text::Text;
use crate::language::Language;
use rewright_cfg_skeleton::ir::{Function, InstKind, Value, definitions};
use rewright_cfg_skeleton::select::{self, COST_SCALE, CostModel, Execution, Prices};
use rewright_cfg_skeleton::verdict::{Counts, Evidence, Kind, Tier, Verdict};
use rewright_clif::front::ClifInput;
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::Program;
use rewright_equiv::verdict::ValidationReport;
use rewright_equiv::{Config, Method};
use rewright_llvm::front::LlvmInput;
use rewright_native::module::ModuleOptimiser;
use rewright_pipeline::front::FrontEnd;
use rewright_pipeline::optimiser::{Fate, Options};
use rewright_typeprop::{OpId, RuleId, Universe};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Rules that are named in an assumption; of more, only the number is told.
const NAMED: usize = 8;

/// Compares two versions without rules, as a configuration says.
pub(super) type Compare<'a> = dyn Fn([&Text; 2], &Config) -> anyhow::Result<ValidationReport> + 'a;

/// Rules whose two sides are equal.
pub(super) struct ByRules {
    program: Program,
}

impl ByRules {
    /// The rules of packs, without those of which the right side may do less, or is only close to the left one.
    pub(super) fn new(mut program: Program) -> Self {
        let Program { rules, rulesets, .. } = &mut program;
        for ruleset in rulesets.values_mut() {
            ruleset.retain(|rule| {
                let rule = &rules[rule.0 as usize];
                rule.relaxation.is_none() && rule.approximate.is_none()
            });
        }
        ByRules { program }
    }

    /// Proves what it can of the functions that are neither proved nor refuted.
    pub(super) fn decide(
        &self,
        (compare, config): (&Compare<'_>, &Config),
        language: Language,
        versions: [&Text; 2],
        report: &mut ValidationReport,
    ) {
        let is_open =
            |verdict: &Verdict| matches!(verdict.verdict, Kind::Unknown | Kind::Tested) && verdict.only.is_none();
        let open: Vec<usize> = (0..report.functions.len()).filter(|n| is_open(&report.functions[*n])).collect();
        if open.is_empty() {
            return;
        }
        let found = match language {
            Language::Llvm => self.shown::<LlvmInput>((compare, config), language, versions, &open, report),
            Language::Own => self.shown::<ModuleOptimiser>((compare, config), language, versions, &open, report),
            Language::Clif => self.shown::<ClifInput>((compare, config), language, versions, &open, report),
            Language::Mlir => Err("no rules are about MLIR".into()),
        };
        for (place, n) in open.iter().enumerate() {
            let found = found.as_ref().map_or_else(|reason| Err(reason.clone()), |found| found[place].clone());
            match found {
                Ok(proved) => report.functions[*n] = proved,
                Err(reason) => report.functions[*n].reasons.push(format!("rules: {reason}")),
            }
        }
        report.counts = Counts::of(&report.functions);
    }

    /// Verdicts on these functions, or why rules do not help.
    fn shown<F: FrontEnd>(
        &self,
        (compare, config): (&Compare<'_>, &Config),
        language: Language,
        versions: [&Text; 2],
        open: &[usize],
        report: &ValidationReport,
    ) -> Result<Vec<Result<Verdict, String>>, String> {
        let read = |text: &Text| {
            F::read(self.program.clone(), text.bytes.clone())
                .map_err(|_| format!("packs cannot be applied to {}", text.name))
        };
        let [first, second] = [read(versions[0])?, read(versions[1])?];
        if let Some(reason) = first.out_of_scope().or(second.out_of_scope()) {
            return Err(reason.into());
        }
        let one = |n: &usize| {
            let verdict = &report.functions[*n];
            let may_access = language == Language::Llvm;
            let Rewritten { text, rules } = rewritten(&first, &second, &verdict.function, may_access)?;
            let text = Text { name: format!("what rules make of {}", versions[0].name), bytes: text.into_bytes() };
            let config = Config {
                methods: vec![Method::Refined],
                function: Some(verdict.function.clone()),
                part: None,
                ..config.clone()
            };
            let found = compare([&text, versions[1]], &config);
            let found = found.map_err(|error| format!("{error:#}"))?;
            match found.functions.into_iter().find(|other| other.function == verdict.function) {
                Some(proof) if !proof.is_proved() => {
                    Err("what they make of the first version is not proved either".into())
                }
                // It is not among the pairs where both are one text.
                proof => {
                    let mut assumptions = proof.map_or_else(Vec::new, |proof| proof.assumptions);
                    assumptions.push(self.holds(&rules));
                    let proved = Some(Tier::Rules);
                    let evidence = Evidence { proved, assumptions, runs: verdict.runs, ..Evidence::default() };
                    Ok(Verdict::new(&verdict.function, evidence))
                }
            }
        };
        Ok(open.iter().map(one).collect())
    }

    /// The assumption of a proof by these rules.
    fn holds(&self, rules: &[RuleId]) -> String {
        let families: BTreeSet<&str> = rules.iter().map(|rule| self.program.rule(*rule).name.as_str()).collect();
        let named = if families.len() <= NAMED {
            families.into_iter().collect::<Vec<_>>().join(", ")
        } else {
            count(families.len(), "rule")
        };
        format!("what packs say holds ({named}), which `rewright verify` checks")
    }
}

/// A file in which rules have rewritten one function.
struct Rewritten {
    text: String,
    rules: Vec<RuleId>,
}

/// The first file with a form of a function that is like the second one's, or why there is none. Where a write that traps is
/// not undefined, a program without it is another one, but not for rules about memory: functions that access it stay as they
/// are there.
fn rewritten<F: FrontEnd>(first: &F, second: &F, name: &str, may_access: bool) -> Result<Rewritten, String> {
    let place = |file: &F| file.functions().iter().position(|f| f.name == name);
    let (Some(i), Some(j)) = (place(first), place(second)) else { return Err("no such function".into()) };
    let like = second.import(&|index| index == j);
    let Some(function) = like.functions.first() else { return Err("the second version is not understood".into()) };
    let accesses = |function: &Function| {
        let insts = function.layout.iter().flat_map(|block| &function.block(*block).insts);
        insts.map(|inst| &function.inst(*inst).kind).any(|kind| matches!(kind, InstKind::Op { access: Some(_), .. }))
    };
    if !may_access && first.import(&|index| index == i).functions.iter().any(accesses) {
        return Err("it accesses memory, where they do not say what traps".into());
    }
    let likeness = Likeness::to(function, &like.universe);
    let usual = Options::default();
    let select = select::Options { method: select::Method::Greedy, cost: likeness.model(), ..usual.select };
    let optimised = first.optimise(&Options { select, log: true, ..usual }, &|index| index == i);
    let outcome = optimised.statistics().functions.get(i).and_then(Option::as_ref);
    match outcome.map(|outcome| (&outcome.fate, &outcome.outcome)) {
        Some((Fate::Optimised, Some(outcome))) if outcome.relaxed.is_empty() => {
            Ok(Rewritten { text: optimised.write(), rules: outcome.rules.clone() })
        }
        Some((Fate::PassedThrough(reason) | Fate::Failed(reason), _)) => Err(format!("the first version: {reason}")),
        _ => Err("they find no form of the first version that is more like the second one".into()),
    }
}

/// An operation and its types.
type Instance = (OpId, Vec<String>);

/// By operand: its value, if it is a constant.
type Constants = Vec<Option<i64>>;

/// Prices at which a program is chosen that is like another one: what that has is cheap, also on other constants.
#[derive(Debug)]
struct Likeness {
    operations: BTreeMap<Instance, BTreeSet<Constants>>,
}

impl Likeness {
    /// To a function.
    fn to(function: &Function, universe: &Universe) -> Self {
        let defined = definitions(function);
        let constant = |value: &Value| match function.inst(defined[value.index()]?.inst()?).kind {
            InstKind::Const(n) => Some(n),
            _ => None,
        };
        let mut operations: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for inst in function.layout.iter().flat_map(|block| &function.block(*block).insts) {
            let inst = function.inst(*inst);
            if let InstKind::Op { op, targs, .. } = &inst.kind {
                let types = targs.iter().map(|ty| universe.types.display(*ty)).collect();
                operations.entry((*op, types)).or_default().insert(inst.args.iter().map(constant).collect());
            }
        }
        Likeness { operations }
    }

    /// Constants cost nothing: which ones are there follows from the operations.
    fn model(self) -> CostModel {
        CostModel { constant: 0, prices: vec![Arc::new(self)], ..CostModel::default() }
    }
}

impl Prices for Likeness {
    fn price(&self, execution: &Execution<'_>) -> Option<u64> {
        let types = execution.types.iter().map(|ty| execution.universe.types.display(*ty)).collect();
        Some(match self.operations.get(&(execution.op, types)) {
            // A state is no operand of an instruction.
            Some(known) if known.iter().any(|constants| execution.operands.starts_with(constants)) => COST_SCALE,
            Some(_) => 4 * COST_SCALE,
            None => 64 * COST_SCALE,
        })
    }
}
