//! A checked program: everything that one or more packs say, resolved and typed. No names, no ambiguity.

use crate::diagnostic::Sources;
use crate::syntax::ast::Span;
use indexmap::IndexMap;
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{Op, OpId, Term, Ty, TypeExpr, TypeParam, Universe, stored};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use rewright_typeprop::RuleId;

/// A fact: an index into [`Program::facts`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct FactId(pub u32);

/// All packs of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Program {
    /// Their texts, for code that says where a rule stands; empty where they have not been put there.
    #[serde(with = "shared")]
    pub sources: Arc<Sources>,
    /// Types and operations.
    pub universe: Universe,
    /// Facts.
    pub facts: Vec<Fact>,
    /// Conditions that any use of an operation must imply (`requires`), over its parameters.
    #[serde(with = "stored::map")]
    pub requires: IndexMap<OpId, Vec<Guard>>,
    /// Rules, those that laws imply among them.
    pub rules: Vec<Rule>,
    /// Rulesets by qualified name (`std.arith.identities`), with their rules in order.
    #[serde(with = "stored::map")]
    pub rulesets: IndexMap<String, Vec<RuleId>>,
    /// Schedules by qualified name (`std.default`).
    #[serde(with = "stored::map")]
    pub schedules: IndexMap<String, Schedule>,
    /// Examples in order.
    pub examples: Vec<Example>,
    /// How values of types without machine representation are made and told apart, where packs say it.
    #[serde(with = "stored::map")]
    pub samples: IndexMap<TypeDeclId, Sample>,
    /// The place of each operation's name in its declaration, by its id.
    pub declared: Vec<Span>,
    /// The place of each declared type's name, by its id.
    pub declared_types: Vec<Span>,
    /// The place of each `@link`.
    #[serde(with = "stored::map")]
    pub links: IndexMap<OpId, Span>,
    /// Rules about lists that are not written out for all lengths, by the first rule of each.
    pub cut_short: Vec<RuleId>,
}

/// How what clones share is kept between runs.
mod shared {
    use super::*;
    use serde::de::DeserializeOwned;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(shared: &Arc<T>, to: S) -> Result<S::Ok, S::Error> {
        T::serialize(shared, to)
    }

    pub(super) fn deserialize<'d, T: DeserializeOwned, D: Deserializer<'d>>(from: D) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}

/// How a rule over a type is tested.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// `@sample`: a value of it, over a size (variable 0) and a seed (variable 1).
    pub make: Option<Term>,
    /// The further expressions of `@sample`: calls that change such a value (variable 2), over size and seed.
    pub changes: Vec<Term>,
    /// `@observe`: what there is to see of a value (variable 0).
    pub observe: Vec<Term>,
}

impl Sample {
    /// All of its expressions.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.make.iter().chain(&self.changes).chain(&self.observe)
    }
}

/// What a rule gives up that is no equality.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Approximation {
    /// In its author's words.
    pub gives_up: String,
    /// By how much floats may differ, relative to the greater one; `None`: by as much as is usual.
    pub tolerance: Option<f64>,
    /// `@sample(fabs(x))`: what a variable is where the rule is tried, over any values of the variables.
    pub samples: Vec<(u32, Term)>,
}

/// A declared fact.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fact {
    /// Qualified name.
    pub name: String,
    /// Type parameters.
    pub tparams: Vec<TypeParam>,
    /// Parameter types, over the type parameters.
    pub params: Vec<TypeExpr>,
    /// What it means, over the parameters: it holds iff this is not zero. Without it, it is unknown whether the fact
    /// holds.
    pub spec: Option<Term>,
    /// `@model("enters")`: the code that runs the rules knows where it holds. No rule concludes it.
    pub filled: Option<LoopFact>,
    /// Its place.
    pub span: Span,
}

/// A fact about a value and a loop, which only code that knows the loop can tell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum LoopFact {
    /// The value is known before the loop is entered, and stays what it is while the loop runs.
    Enters,
    /// The value enters the loop, or is a recurrence of it that begins with one that enters and has a plain step.
    Plain,
    /// The loop goes on exactly while the value is not zero, and ends, whatever its inputs are.
    Stays,
    /// The value is the number of iterations that are over, and does not wrap while the loop runs.
    Counts,
    /// The value is how often the loop goes on before it is left.
    Trips,
}

impl LoopFact {
    /// All of them.
    pub const ALL: [LoopFact; 5] =
        [LoopFact::Enters, LoopFact::Plain, LoopFact::Stays, LoopFact::Counts, LoopFact::Trips];

    /// As packs write it.
    pub fn name(self) -> &'static str {
        match self {
            LoopFact::Enters => "enters",
            LoopFact::Plain => "plain",
            LoopFact::Stays => "stays",
            LoopFact::Counts => "counts",
            LoopFact::Trips => "trips",
        }
    }
}

/// A variable of a rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Var {
    /// Name as written.
    pub name: String,
    /// What stands for it.
    pub kind: VarKind,
}

/// What a variable stands for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum VarKind {
    /// A value of a type; `constant` ones match compile-time constants only.
    Value { ty: TypeExpr, constant: bool },
    /// A state.
    State,
}

/// A rule or an inference.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// Qualified name: `pack.ruleset.rule`; the second direction of `<=>` ends in `.back`, the second rewriting of
    /// a `match` block in `.2`, an instance over lists in their lengths, one over further members of a family in those
    /// (`[xs=1, T=Wide]`).
    pub name: String,
    /// The first of the rules that one name in a pack stands for: its instances over lists and families of types, the
    /// rewritings of its block. `fires` and coverage speak of families.
    pub family: RuleId,
    /// Its place.
    pub span: Span,
    /// Doc lines.
    pub doc: Vec<String>,
    /// Members of families of types that its type parameters are bounded by, first members left out. Rules with
    /// different ones look at different operations.
    pub members: Vec<String>,
    /// Type parameters, as declared and then inferred.
    pub tparams: Vec<TypeParam>,
    /// Variables: `Term::Var` indices.
    pub vars: Vec<Var>,
    /// What it matches: several terms for a `match` block (first is the root).
    pub left: Vec<Term>,
    /// Conditions.
    pub guards: Vec<Guard>,
    /// What it concludes.
    pub right: Conclusion,
    /// `dynamic`: its right side computes from constants ([`Term::Eval`]).
    pub dynamic: bool,
    /// Made from a law, not written as a rule.
    pub law: bool,
    /// Written in a `match` block, which does not match what it has made itself. Rules of one block have one span.
    pub is_block: bool,
    /// `unsafe`: what it lets go.
    pub relaxation: Option<Relaxation>,
    /// `@approximate("what", 1e-9)`: its sides are close, not equal.
    pub approximate: Option<Approximation>,
}

impl Rule {
    /// A plain rule without conditions over no type parameters, of no family yet.
    pub fn new(name: String, vars: Vec<Var>, left: Vec<Term>, right: Conclusion) -> Rule {
        Rule {
            name,
            family: RuleId(0),
            span: Span::default(),
            doc: vec![],
            members: vec![],
            tparams: vec![],
            vars,
            left,
            guards: vec![],
            right,
            dynamic: false,
            law: false,
            is_block: false,
            relaxation: None,
            approximate: None,
        }
    }

    /// Does it speak of what loops carry?
    pub fn is_about_loops(&self, universe: &Universe) -> bool {
        self.mentions(universe, |op| op.in_loop.is_some())
    }

    /// Does it speak of what loops carry, or of what arrives where arms meet? No term is an example of that: it would have
    /// to be a loop, or a branch.
    pub fn is_about_control(&self, universe: &Universe) -> bool {
        self.mentions(universe, Op::is_of_control)
    }

    fn mentions(&self, universe: &Universe, is_meant: impl Fn(&Op) -> bool) -> bool {
        let is_such = |term: &Term| matches!(term, Term::Call { op, .. } if is_meant(universe.ops.get(*op)));
        self.terms().flat_map(Term::subterms).any(is_such)
    }

    /// The terms of both sides, then those of its conditions.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.left.iter().chain(self.right.terms()).chain(self.guards.iter().flat_map(Guard::terms))
    }
}

/// The name of a rule without what tells it from other instances of its item: `std.arith.identities.add_zero`.
pub fn base_name(name: &str) -> &str {
    name.split('[').next().unwrap_or_default()
}

/// What a rule is called in a pack, `ruleset.rule`; `None` where it is not the pack's own. Names of packs may begin
/// with those of others.
pub fn own_name<'r>(pack: &str, rule: &'r str) -> Option<&'r str> {
    let own = rule.strip_prefix(pack)?.strip_prefix('.')?;
    // Behind the name there may be a member of a family, and a two-way rule's way back.
    let name = base_name(own);
    (name.strip_suffix(".back").unwrap_or(name).matches('.').count() == 1).then_some(own)
}

impl Conclusion {
    /// What the rule's root equals, or what a fact is said of.
    pub fn terms(&self) -> &[Term] {
        match self {
            Conclusion::Equal(term) => std::slice::from_ref(term),
            Conclusion::Fact(_, terms) => terms,
        }
    }
}

impl Guard {
    /// The terms that it speaks of.
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Guard::Fact(_, terms) => terms.iter().collect(),
            Guard::Class { left, right, .. } | Guard::Compare { left, right, .. } => vec![left, right],
            Guard::Holds(term) | Guard::Is(term, _) => vec![term],
            Guard::Not(inner) => inner.terms(),
            Guard::Or(a, b) => [a.terms(), b.terms()].concat(),
        }
    }
}

/// What an `unsafe` rule lets go, and why it may.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Relaxation {
    /// State variables of the left side's statements that the right side does without.
    pub dropped: Vec<u32>,
    /// The state variable of the left side's root, if it is a statement.
    pub root: Option<u32>,
    /// `because`
    pub because: String,
}

/// What a rule concludes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Conclusion {
    /// The root's class equals this term.
    Equal(Term),
    /// A fact holds.
    Fact(FactId, Vec<Term>),
}

/// A condition.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Guard {
    /// A fact holds of these terms; looked up, never created.
    Fact(FactId, Vec<Term>),
    /// A computation over constants is not zero; the term's type is an integer or a truth value.
    Holds(Term),
    /// Two compile-time values compare equal (or not).
    Compare { equal: bool, left: Term, right: Term },
    /// Two terms are in the same class (`same`), or not (`distinct`; not monotone).
    Class { same: bool, left: Term, right: Term },
    /// A term has a type.
    Is(Term, TypeExpr),
    /// It does not hold; `not` and `or` are over constant conditions only.
    Not(Box<Guard>),
    /// One of them holds.
    Or(Box<Guard>, Box<Guard>),
}

/// A schedule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// `at point`
    pub at: Option<String>,
    /// Steps.
    pub steps: Vec<ScheduleStep>,
    /// Its place.
    pub span: Span,
}

/// A step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ScheduleStep {
    /// One round of a ruleset.
    Run { ruleset: String, limits: StepLimits },
    /// Rounds until nothing changes or a budget ends.
    Saturate { ruleset: String, limits: StepLimits },
    /// This many times, or until nothing changes or a budget ends.
    Repeat { count: Option<u64>, steps: Vec<ScheduleStep> },
}

/// How far a step may go in a function, where the schedule says so.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct StepLimits {
    /// E-nodes of the function, those that there were before the step among them.
    pub nodes: Option<u64>,
    /// Matches of the step, after which no further round begins. Of [`ScheduleStep::Saturate`] only.
    pub matches: Option<u64>,
    /// Rounds of the step. Of [`ScheduleStep::Saturate`] only.
    pub rounds: Option<u64>,
}

/// An example.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Example {
    /// Qualified: pack, then title.
    pub pack: String,
    /// Title.
    pub title: String,
    /// Its place.
    pub span: Span,
    /// The place of what it expects; all of it where nothing more is written.
    pub expected: Span,
    /// Must fail.
    pub todo: bool,
    /// Types of its variables, in order: `Term::Var` indices. State variables have no type. Those that no
    /// [`Statement::Let`] gives a value are its parameters.
    pub params: Vec<Option<Ty>>,
    /// Which of its parameters are named what.
    pub names: Vec<String>,
    /// Rules that must take part.
    pub fires: Vec<RuleId>,
    /// Schedule by qualified name; otherwise the default of the pack.
    pub using: Option<String>,
    /// What it claims. All type arguments are closed.
    pub claim: Claim,
}

/// What an example claims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Claim {
    /// Something of one term.
    Term {
        /// The term under test.
        subject: Term,
        /// What is claimed of it.
        verdict: Verdict,
    },
    /// One program becomes the other.
    Program {
        /// The program under test.
        before: Block,
        /// What it becomes.
        after: Block,
    },
}

/// The verdict of an example about a term.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// Extraction chooses this.
    Becomes(Term),
    /// Same class.
    Equals(Term),
    /// Different classes.
    Differs(Term),
    /// Extraction keeps it.
    Stays,
}

/// A small program: statements in order. In their terms, what takes a state stands in the state of its place.
pub type Block = Vec<Statement>;

/// A statement of a small program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Statement {
    /// A variable, as in [`Term::Var`], gets a value.
    Let(u32, Term),
    /// For its effects.
    Do(Term),
    /// The program's result; nothing follows in its block.
    Return(Term),
    /// One of two blocks, by whether an integer is not zero.
    If {
        /// The integer.
        cond: Term,
        /// Where it is not zero.
        then: Block,
        /// Where it is.
        els: Block,
    },
}

impl Claim {
    /// Every term of the claim.
    pub fn terms(&self) -> Vec<&Term> {
        fn block<'b>(statements: &'b Block, out: &mut Vec<&'b Term>) {
            for statement in statements {
                match statement {
                    Statement::Let(_, term) | Statement::Do(term) | Statement::Return(term) => out.push(term),
                    Statement::If { cond, then, els } => {
                        out.push(cond);
                        block(then, out);
                        block(els, out);
                    }
                }
            }
        }
        let mut out = Vec::new();
        match self {
            Claim::Term { subject, verdict } => {
                out.push(subject);
                match verdict {
                    Verdict::Becomes(term) | Verdict::Equals(term) | Verdict::Differs(term) => out.push(term),
                    Verdict::Stays => {}
                }
            }
            Claim::Program { before, after } => {
                block(before, &mut out);
                block(after, &mut out);
            }
        }
        out
    }
}

impl Program {
    /// A rule.
    ///
    /// # Panics
    /// If the id is another program's.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.0 as usize]
    }

    /// `mine.rw:4`: where an operation is declared; `None` for one that no pack declares.
    pub fn declaration(&self, op: OpId) -> Option<String> {
        let place = self.sources.place(*self.declared.get(op.0 as usize)?);
        Some(format!("{}:{}", place.file, place.line))
    }

    /// The name that a front end spells an operation with, looked up: `names("clif")["iadd"]`.
    pub fn names(&self, front_end: &str) -> IndexMap<&str, OpId> {
        self.universe
            .ops
            .iter()
            .filter_map(|(id, op)| op.names.get(front_end).map(|name| (name.as_str(), id)))
            .collect()
    }
}
