//! `rewright why-not`: what keeps a rule from matching in a function, or from being chosen.

use super::input;
use super::language::Input;
use super::{Finding, Format, opt, out, packs};
use anyhow::Result;
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::select::cost::reported;
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::{RuleId, base_name};
use rewright_pipeline::front::{Imported, RefusedCall};
use rewright_pipeline::optimiser::{
    Fate, FunctionOutcome, Graph, Needed, OptimisedFunction, Optimiser, Options, Price, Unwritten,
};
use rewright_pipeline::source::SourcePlace;
use rewright_pipeline::why_not::{MatchContext, NearMiss};
use rewright_typeprop::{OpId, Term, Universe};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments of `why-not`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A rule: its name, or as much of the end of its qualified name as makes it one (`identities.iadd_zero`)
    rule: String,
    #[command(flatten)]
    input: Input,
    /// Only this function (with or without its `%` or `@`)
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: opt::How,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load_for(&args.input)? else { return Ok(Finding::Found) };
    let rules = packs::rules_named(&program, &args.rule)?;
    let mut options = args.how.options_for(args.input.language(), &program)?;
    options.log = true;
    let Some(input) = input::open(&args.input.file, args.input.language(), program)? else { return Ok(Finding::Found) };
    let wanted = input::wanted(&args.input.file, &*input, args.function.as_deref())?;
    let Imported { functions, universe, refused, places } = input.import(&wanted);
    let optimised = input.optimise(&options, &wanted);
    let outcomes = optimised.statistics().wanted().filter(|outcome| outcome.outcome.is_some());
    let optimiser = input.optimiser();
    let options = input.options(&options);
    let (mut text, mut listed) = (String::new(), vec![]);
    for ((function, places), outcome) in functions.iter().zip(&places).zip(outcomes) {
        let asked = Asked { optimiser, universe: &universe, options: &options, function, places, outcome };
        for answer in asked.answers(&rules, &refused)? {
            text += &answer.text(function);
            listed.push(answer.json(function));
        }
        let is_about_loops = |id: &RuleId| optimiser.program().rule(*id).is_about_loops(&optimiser.program().universe);
        let is_told = |outcome: &&OptimisedFunction| {
            !(outcome.restructured.is_empty() && outcome.moved_statements.is_empty())
                || rules.iter().any(is_about_loops)
        };
        if let Some(outcome) = outcome.outcome.as_ref().filter(is_told) {
            text.extend(opt::loops::lines(outcome).iter().map(|line| format!("  {line}\n")));
            let (loops, variants) = (&outcome.loops, opt::loops::variants_json(&outcome.variants));
            let restructured = opt::loops::restructured_json(&outcome.restructured);
            let statements = opt::loops::moved_statements_json(&outcome.moved_statements);
            let loops = opt::loops::json(loops);
            let name = &function.name;
            listed.push(json!({ "function": name, "restructured": restructured, "moved_statements": statements, "loops": loops, "variants": variants }));
        }
    }
    out::result(&match args.format {
        Format::Json => format!("{:#}\n", json!(listed)),
        Format::Text => text,
    });
    Ok(Finding::Clean)
}

/// A function that is asked about.
struct Asked<'a> {
    optimiser: &'a Optimiser,
    universe: &'a Universe,
    options: &'a Options,
    function: &'a Function,
    /// By number of an instruction.
    places: &'a BTreeMap<u32, SourcePlace>,
    outcome: &'a FunctionOutcome,
}

/// What there is to say of a rule and a function.
struct Answer<'a> {
    rule: &'a str,
    file: String,
    line: usize,
    /// Is it behind something that goes out?
    is_chosen: bool,
    /// In the source: where it changed something, or was nearest.
    places: Vec<&'a SourcePlace>,
    said: String,
    price: Option<Price>,
    /// Calls of functions that the rule speaks of, and that are not taken for those.
    refused: Vec<&'a RefusedCall>,
}

impl<'a> Asked<'a> {
    /// One answer for each rule as it is written, and each of its directions: instances over lists and families of types
    /// are one.
    fn answers(&self, rules: &[RuleId], refused: &'a [RefusedCall]) -> Result<Vec<Answer<'a>>> {
        let (context, _) = MatchContext::new(self.optimiser, self.universe, self.function, self.options, &[])?;
        let mut instances: BTreeMap<&str, Vec<RuleId>> = BTreeMap::new();
        for id in rules {
            instances.entry(base_name(&self.optimiser.program().rule(*id).name)).or_default().push(*id);
        }
        let mut instances: Vec<Vec<RuleId>> = instances.into_values().collect();
        instances.sort();
        // Made for rules that took part, and are not chosen.
        let mut graph = None;
        let answers = instances.iter().map(|rules| self.answer_of(rules, &context, &mut graph, refused));
        answers.collect()
    }

    fn answer_of(
        &self,
        rules: &[RuleId],
        context: &MatchContext,
        graph: &mut Option<Graph>,
        refused: &'a [RefusedCall],
    ) -> Result<Answer<'a>> {
        let program = self.optimiser.program();
        let nearest = |id: &RuleId| (*id, context.nearest(program, self.universe, *id));
        let Some((id, nearest)) = rules.iter().map(nearest).rev().max_by_key(|(_, nearest)| nearest.rank()) else {
            anyhow::bail!("no rule is asked about");
        };
        let chosen = self.chosen(rules);
        let mut origins: Vec<u32> = nearest.at().and_then(|at| at.origin).into_iter().collect();
        let (mut price, mut needed) = (None, None);
        if let Some((_, changed)) = &chosen {
            origins.clone_from(changed);
        } else if nearest == NearMiss::Fired {
            let mut matched: Vec<u32> = rules.iter().flat_map(|id| context.matched_at(*id)).collect();
            matched.sort_unstable();
            matched.dedup();
            origins = matched;
            let graph = match graph {
                Some(graph) => &*graph,
                None => graph.insert(self.optimiser.graph(self.function, self.universe, self.options)?),
            };
            let names = self.names(rules);
            price = self.optimiser.price(graph, self.universe, self.options, &names);
            let function = (self.function, self.universe);
            needed = self.optimiser.dearer_without(graph, function, self.options, &names)?;
        }
        let unwritten = rules.iter().find_map(|id| self.unwritten(*id));
        let is_out = self.outcome.fate == Fate::Optimised;
        let mut said = match (&chosen, price, &self.outcome.fate) {
            (Some((changes, _)), ..) => {
                format!("took part and was chosen: it is behind {}", count(*changes, "change"))
            }
            (None, _, Fate::Failed(reason)) => format!("the function stays as it is: {reason}"),
            (None, ..) if let Some(Unwritten { operation, why }) = unwritten => {
                format!("what it makes was chosen, and is left out: `{operation}` cannot be used here: {why}")
            }
            (None, ..) if let Some(needed) = needed.filter(|_| is_out) => built_upon(needed),
            (None, Some(price), _) => compared(price),
            (None, None, _) if nearest == NearMiss::Fired => self.not_priced(rules, graph.as_ref()).into(),
            (None, None, _) => nearest.to_string(),
        };
        let is_chosen = chosen.is_some() || needed.is_some() && is_out;
        if nearest != NearMiss::Fired && program.cut_short.contains(&program.rule(id).family) {
            said += "; the rule is not applied to lists of all lengths (RW0513)";
        }
        Ok(self.answer(id, is_chosen, &origins, said, price, refused))
    }

    fn names(&self, rules: &[RuleId]) -> BTreeSet<&str> {
        rules.iter().map(|id| self.optimiser.program().rule(*id).name.as_str()).collect()
    }

    /// Why rules took part, and there is no program with what they make.
    fn not_priced(&self, rules: &[RuleId], graph: Option<&Graph>) -> &'static str {
        let names = self.names(rules);
        let is = |asked: fn(&Optimiser, &Graph, &BTreeSet<&str>) -> bool| {
            graph.is_some_and(|graph| asked(self.optimiser, graph, &names))
        };
        let is_unsafe = |id: &RuleId| self.optimiser.program().rule(*id).relaxation.is_some();
        if rules.iter().any(is_unsafe) {
            "matched, and the statement that it lets go stays: something else takes what it gives, or sees it"
        } else if is(Optimiser::is_kept_for_its_value) {
            "matched, and the call that it is about stays: its value is used"
        } else if is(Optimiser::makes) {
            "matched, and no program with what it makes was found: nothing needs it, an operand or a state of it is not there \
             where it would be, or no statement is there whose place it could take"
        } else {
            "took part: what it makes equal was there, and no program with it costs less"
        }
    }

    /// What a rule makes and could not be written.
    fn unwritten(&self, id: RuleId) -> Option<&Unwritten> {
        let program = self.optimiser.program();
        let makes = |unwritten: &&Unwritten| {
            let mut made = program.rule(id).right.terms().iter().flat_map(Term::subterms);
            made.any(|term| matches!(term, Term::Call { op, .. } if program.universe.ops.get(*op).name == unwritten.operation))
        };
        self.outcome.unwritten.iter().find(makes)
    }

    /// How many changes rules are behind, and the numbers of the instructions that these are about.
    fn chosen(&self, rules: &[RuleId]) -> Option<(usize, Vec<u32>)> {
        let (program, names) = (self.optimiser.program(), self.names(rules));
        let is_it = |rule: &RuleId| names.contains(program.rule(*rule).name.as_str());
        let outcome = self.outcome.outcome.as_ref().filter(|_| self.outcome.fate == Fate::Optimised)?;
        let changed = outcome.changed.iter().filter(|changed| changed.rules.iter().any(is_it));
        let changed: Vec<&[u32]> = changed.map(|changed| changed.was.as_slice()).collect();
        let left_out: Vec<Option<u32>> =
            outcome.relaxed.iter().filter(|relaxed| is_it(&relaxed.rule)).map(|relaxed| relaxed.origin).collect();
        let changes = changed.len() + left_out.len();
        let origins = changed.into_iter().flatten().copied().chain(left_out.into_iter().flatten());
        (changes > 0).then(|| (changes, origins.collect()))
    }

    fn answer(
        &self,
        id: RuleId,
        is_chosen: bool,
        origins: &[u32],
        said: String,
        price: Option<Price>,
        refused: &'a [RefusedCall],
    ) -> Answer<'a> {
        let program = self.optimiser.program();
        let rule = program.rule(id);
        let place = program.sources.place(rule.span);
        let spoken_of =
            |op: &OpId| rule.terms().flat_map(Term::subterms).any(|term| calls(&program.universe, term, *op));
        let near = refused.iter().filter(|call| !is_chosen && call.function == self.function.name);
        let places: BTreeSet<&SourcePlace> = origins.iter().filter_map(|origin| self.places.get(origin)).collect();
        Answer {
            rule: &rule.name,
            file: place.file,
            line: place.line,
            is_chosen,
            places: places.into_iter().collect(),
            said,
            price,
            refused: near.filter(|call| call.declared.iter().any(spoken_of)).collect(),
        }
    }
}

/// Why a rule that took part is not chosen.
fn compared(Price { cheapest, with }: Price) -> String {
    let figures = format!("the cheapest program found costs {}", reported(cheapest));
    match with.checked_sub(cheapest) {
        None => format!("took part, and the search missed it: {figures}, and {} with what it makes", reported(with)),
        Some(0) => {
            format!("took part, and what it makes is not chosen: it costs no less ({figures} either way)")
        }
        Some(more) => format!(
            "took part, and what it makes is dearer by {}: {figures}, and {} with it",
            reported(more),
            reported(with)
        ),
    }
}

/// That others build on what a rule makes.
fn built_upon(Needed { with, without }: Needed) -> String {
    format!(
        "took part, and what was chosen is built upon it: the program found costs {}, and {} without it",
        reported(with),
        reported(without)
    )
}

impl Answer<'_> {
    fn text(&self, function: &Function) -> String {
        let places: Vec<String> = self.places.iter().map(ToString::to_string).collect();
        let places = if places.is_empty() { String::new() } else { format!(", {}", places.join(", ")) };
        let Answer { rule, file, line, said, .. } = self;
        let mut text = format!("{rule} ({file}:{line}) in {}{places}: {said}\n", function.name);
        for RefusedCall { callee, because, place, .. } in &self.refused {
            let place = place.as_ref().map_or(String::new(), |place| format!("{place}: "));
            text += &format!("  {place}a call of {callee} is there, and is not the declared one: {because}\n");
        }
        text
    }

    fn json(&self, function: &Function) -> Value {
        let Answer { rule, file, line, is_chosen, places, said, price, refused } = self;
        let calls = refused
            .iter()
            .map(|call| json!({ "callee": call.callee, "because": call.because, "place": call.place }))
            .collect::<Vec<_>>();
        let price =
            price.map(|Price { cheapest, with }| json!({ "cheapest": reported(cheapest), "with_it": reported(with) }));
        json!({
            "rule": rule, "file": file, "line": line, "function": function.name, "nearest": said,
            "chosen": is_chosen, "places": places, "cost": price, "calls_not_taken": calls,
        })
    }
}

fn calls(universe: &Universe, term: &Term, function: OpId) -> bool {
    matches!(term, Term::Call { op, .. } if universe.ops.whole(*op) == function)
}
