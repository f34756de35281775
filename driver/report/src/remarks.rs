//! What became of the functions of a file, as data.

use rewright_cfg_skeleton::ir::{Function, Inst, InstKind, Value};
use rewright_cfg_skeleton::select::cost::reported;
use rewright_cfg_skeleton::select::{Ended, Status};
use rewright_dsl::program::{Program, RuleId};
use rewright_pipeline::optimiser::{Changed, Fate, FunctionOutcome, MovedStatement, Now, Relaxed};
use rewright_pipeline::source::{Sides, SourcePlace};
use rewright_typeprop::Universe;
use serde::{Deserialize, Serialize};

/// How many operations within operations are written out.
const DEPTH: usize = 3;

/// Which names values have in a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Names {
    /// Those of the text that goes out, which its reader has.
    OfResult,
    /// Those of the source: the user sees no other text.
    OfSource,
}

/// What became of a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FileReport {
    /// As the user names it.
    pub name: String,
    /// Its functions, in order.
    pub functions: Vec<FunctionReport>,
}

/// What became of a function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FunctionReport {
    /// As its front end writes it.
    pub name: String,
    /// What its source calls it, where that is another name.
    pub in_source: Option<String>,
    /// Where it is in the source.
    pub place: Option<SourcePlace>,
    /// What became of it.
    pub fate: Fate,
    /// For functions that went through the pipeline.
    pub figures: Option<Figures>,
    /// Changed values.
    pub changes: Vec<Change>,
    /// Statements that are left out.
    pub left_out: Vec<LeftOut>,
    /// Statements that are executed elsewhere, or nowhere, though no rule lets them go.
    pub moved: Vec<Moved>,
    /// What rules made and cannot be written in its file: it was made without.
    pub unwritten: Vec<String>,
    /// Rules that matched in it and are behind nothing of that: some may have led there.
    pub matched: Vec<RuleRef>,
    /// Its text before and after, where it changed.
    pub sides: Option<Sides>,
}

/// What a function costs, and how well that is known.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figures {
    /// In the unit in which packs declare costs.
    pub cost_before: f64,
    /// See `cost_before`.
    pub cost_after: f64,
    /// `optimal`, `gap 3.0 %`, `greedy`.
    pub status: String,
    /// What ended the search for something better.
    pub ended: Option<String>,
    /// The saturation budget ended before the rules did.
    pub exhausted: bool,
}

/// A changed value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// Where what it is in place of is in the source.
    pub place: Option<SourcePlace>,
    /// Its name in what goes out; a constant has none.
    pub value: Option<String>,
    /// How it is computed: `v3 = ishl(v0, 3)`.
    pub now: String,
    /// What it is in place of.
    pub was: Vec<String>,
    /// What is behind it.
    pub rules: Vec<RuleRef>,
}

/// A statement that is left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// Where it is in the source.
    pub place: Option<SourcePlace>,
    /// The operation.
    pub operation: String,
    /// Which of the function's calls of it, from 1, ..
    pub nth: usize,
    /// .. and of how many.
    pub calls: usize,
    /// The line of a text of our own.
    pub line: Option<u32>,
    /// The rule that permits it.
    pub rule: RuleRef,
    /// Why it may.
    pub because: String,
}

/// A statement that is executed elsewhere, or nowhere, though no rule lets it go.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Moved {
    /// Where it is in the source.
    pub place: Option<SourcePlace>,
    /// The operation.
    pub operation: String,
    /// Which of the function's calls of it, from 1, ..
    pub nth: usize,
    /// .. and of how many.
    pub calls: usize,
    /// The line of a text of our own.
    pub line: Option<u32>,
    /// In how many places it is executed.
    pub places: usize,
}

/// A rule that is spoken of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RuleRef {
    /// Qualified.
    pub name: String,
    /// Its pack.
    pub file: String,
    /// From 1.
    pub line: usize,
}

impl RuleRef {
    /// A rule of a program.
    pub fn of(program: &Program, id: RuleId) -> Self {
        let rule = program.rule(id);
        let place = program.sources.place(rule.span);
        RuleRef { name: rule.name.clone(), file: place.file, line: place.line }
    }
}

impl FunctionReport {
    /// What became of a function of a file, from what the pipeline says of it.
    pub fn of(program: &Program, f: &FunctionOutcome, sides: Option<Sides>, names: Names) -> Self {
        let outcome = f.outcome.as_ref();
        let figures = outcome.map(|o| Figures {
            cost_before: reported(o.cost_before),
            cost_after: reported(o.cost_after),
            status: status(o.status),
            ended: o.ended.map(|ended: Ended| ended.name().to_string()),
            exhausted: o.exhausted(),
        });
        let left_out = outcome.iter().flat_map(|o| &o.relaxed).map(|relaxed| left_out(program, f, relaxed)).collect();
        let mut report = FunctionReport {
            name: f.name.clone(),
            in_source: f.names.function.clone(),
            place: f.names.place.clone(),
            fate: f.fate.clone(),
            figures,
            changes: changes(program, f, names),
            left_out,
            moved: outcome.iter().flat_map(|o| &o.moved_statements).map(|moved| Moved::of(moved, Some(f))).collect(),
            unwritten: f.unwritten.iter().map(|u| format!("`{}` cannot be used: {}", u.operation, u.why)).collect(),
            matched: vec![],
            sides,
        };
        // Where nothing changed, it is of no interest.
        if f.fate == Fate::Optimised {
            let matched = outcome.iter().flat_map(|o| &o.rules).map(|rule| RuleRef::of(program, *rule));
            report.matched = matched.filter(|rule| !report.behind().any(|other| other == rule)).collect();
        }
        report
    }

    /// Its name for people: in the source, or as its front end writes it.
    pub fn title(&self) -> &str {
        self.in_source.as_ref().unwrap_or(&self.name)
    }

    /// The rules that changed it, one for each value or statement that they changed.
    pub fn behind(&self) -> impl Iterator<Item = &RuleRef> {
        self.changes.iter().flat_map(|change| &change.rules).chain(self.left_out.iter().map(|left| &left.rule))
    }
}

/// How good a selection is known to be.
pub fn status(status: Status) -> String {
    match status {
        Status::Optimal => "optimal".into(),
        Status::Gap(gap) => format!("gap {:.1} %", gap * 100.0),
        Status::Greedy => "greedy".into(),
    }
}

impl Moved {
    /// What is said of a statement, of this function if its source is to be named.
    pub fn of(moved: &MovedStatement, f: Option<&FunctionOutcome>) -> Self {
        let MovedStatement { operation, nth, calls, origin, line, places } = moved;
        let place = f.zip(*origin).and_then(|(f, number)| f.names.places.get(&number).cloned());
        Moved { place, operation: operation.clone(), nth: *nth, calls: *calls, line: *line, places: *places }
    }
}

fn left_out(program: &Program, f: &FunctionOutcome, relaxed: &Relaxed) -> LeftOut {
    let because = program.rule(relaxed.rule).relaxation.as_ref().map(|relaxation| relaxation.because.clone());
    LeftOut {
        place: relaxed.origin.and_then(|number| f.names.places.get(&number).cloned()),
        operation: relaxed.operation.clone(),
        nth: relaxed.nth,
        calls: relaxed.calls,
        line: relaxed.line,
        rule: RuleRef::of(program, relaxed.rule),
        because: because.unwrap_or_default(),
    }
}

fn changes(program: &Program, f: &FunctionOutcome, names: Names) -> Vec<Change> {
    let Some(outcome) = &f.outcome else { return vec![] };
    let written = Written {
        universe: &program.universe,
        f,
        makers: makers(&outcome.function),
        operations: names == Names::OfSource || !f.names.in_source.is_empty(),
    };
    let one = |changed: &Changed| {
        let (value, now) = match changed.now {
            Now::Constant(n) => (None, n.to_string()),
            Now::Value(value) => (Some(name(f, value)), written.value(value)),
            Now::Statement(inst, _) => {
                (None, written.operation(outcome.function.inst(inst), DEPTH).unwrap_or_default())
            }
            Now::Nothing(op) => (None, format!("`{}` is not executed", program.universe.ops.get(op).name)),
        };
        let names = changed.was.iter().filter_map(|number| f.names.originals.get(number));
        let names = names.map(|name| f.names.in_source.get(name).unwrap_or(name).clone());
        let former = match changed.now {
            Now::Statement(_, op) => Some(program.universe.ops.get(op).name.clone()),
            Now::Value(_) | Now::Constant(_) | Now::Nothing(_) => None,
        };
        let was = names.chain(former).chain(changed.lines.iter().map(|line| format!("line {line}"))).collect();
        let maker = match changed.now {
            Now::Value(value) => written.makers[value.index()].and_then(|inst| inst.origin),
            Now::Statement(inst, _) => outcome.function.inst(inst).origin,
            Now::Constant(_) | Now::Nothing(_) => None,
        };
        let place = changed.was.iter().copied().chain(maker).find_map(|number| f.names.places.get(&number));
        let rules = changed.rules.iter().map(|rule| RuleRef::of(program, *rule)).collect();
        Change { place: place.cloned(), value, now, was, rules }
    };
    outcome.changed.iter().map(one).collect()
}

fn name(f: &FunctionOutcome, value: Value) -> String {
    f.names.results.get(value.index()).cloned().flatten().unwrap_or_else(|| format!("v{}", value.0))
}

/// By value: the instruction that computes it.
fn makers(function: &Function) -> Vec<Option<&Inst>> {
    let mut makers = vec![None; function.values.len()];
    for inst in function.layout.iter().flat_map(|block| &function.block(*block).insts).map(|id| function.inst(*id)) {
        inst.results.iter().for_each(|result| makers[result.index()] = Some(inst));
    }
    makers
}

/// Values and operations as text.
struct Written<'a> {
    universe: &'a Universe,
    f: &'a FunctionOutcome,
    makers: Vec<Option<&'a Inst>>,
    /// A value that the source has no name for is written as the operation that computes it.
    operations: bool,
}

impl Written<'_> {
    /// The name of a value in the source, as far as that is known.
    fn in_source(&self, value: Value) -> Option<&String> {
        let names = &self.f.names;
        names.in_source.get(names.results.get(value.index())?.as_ref()?)
    }

    /// A value with the operation that computes it, `v3 = ishl(v0, 3)`, or that operation alone; a parameter by its name.
    fn value(&self, value: Value) -> String {
        let made = self.makers[value.index()].and_then(|inst| self.operation(inst, DEPTH));
        match made {
            Some(made) if self.operations => made,
            Some(made) => format!("{} = {made}", name(self.f, value)),
            None => self.in_source(value).cloned().unwrap_or_else(|| name(self.f, value)),
        }
    }

    /// An operation with its operands, `ishl(v0, 3)`.
    fn operation(&self, inst: &Inst, depth: usize) -> Option<String> {
        let InstKind::Op { op, .. } = &inst.kind else { return None };
        let args = inst.args.iter().map(|arg| match (self.makers[arg.index()], self.in_source(*arg)) {
            (Some(Inst { kind: InstKind::Const(n), .. }), _) => n.to_string(),
            (_, Some(known)) => known.clone(),
            (Some(maker), None) if depth > 0 && self.operations => {
                self.operation(maker, depth - 1).unwrap_or_else(|| name(self.f, *arg))
            }
            _ => name(self.f, *arg),
        });
        Some(format!("{}({})", self.universe.ops.get(*op).name, args.collect::<Vec<_>>().join(", ")))
    }
}
