//! A checked program as an egglog program: plain data, and text that egglog reads.
//!
//! [`fn@compile`] gives declarations, rules by ruleset, and schedules; [`mod@print`] gives their text. The engine feeds
//! the text to egglog once and implements the [`Primitive`]s; everything else is ordinary egglog.
//!
//! **Encoding.** One constructor per operation that some rule mentions: its *type columns* (one per type
//! parameter, at least one), its operands, and the state in which it stands. A type column is
//! `unit << TYPE_BITS | type`; rules relate types by sharing a column's variable, so no rule ever joins two
//! units. Operations that write are of sort `State`, all others of sort `V`. Operations that no rule mentions
//! share tables by arity. Facts are relations over classes.
//!
//! | form in a rule                     | form here                                                      |
//! |------------------------------------|----------------------------------------------------------------|
//! | `x + 0`                            | `(Iadd ?T ?x (Const ?T 0))`                                    |
//! | `const c`                          | `(= ?c (Const ?T ?c.n))`                                       |
//! | a closed type in a pattern         | `(= (& ?i32 1048575) k)`                                       |
//! | a closed type on the right         | `(\| (& ?T -1048576) k)`                                       |
//! | a bound narrower than the op's own | `(subtype-Int ?T)`, a primitive that fails                     |
//! | a type narrower than columns tell  | `(Isa ?x ?T)`, a relation, declared only where needed          |
//! | a condition over constants         | `(!= (eval-Icmp_eq ?T ?c.n 0) 0)`                              |
//! | `eval(..)`                         | `(Const ?T (eval-Iadd ?T ?a.n ?b.n))`, computed in the body    |
//!
//! **Commutativity** is compiled away: patterns are expanded into their variants ([`variants`]), and one rule
//! per commutative operation unites `f(a, b)` with `f(b, a)` where both exist.
//!
//! **Overloads** of one name are one function: where a node of an operand's class has the type that a more specific one
//! takes, both calls are united ([`overloads`]).
//!
//! **Generations** keep `match` blocks from matching what they have made ([`block_guard`]).
//!
//! **Literals** are expanded per type instance only where their canonical value depends on it ([`instances`]).
//!
//! A rule that cannot be put into this form is left out and listed in [`EgglogProgram::skipped`].

mod block_guard;
mod compile;
mod context;
mod divided;
mod instances;
mod lower;
mod names;
mod overloads;
pub mod print;
#[cfg(test)]
mod tests;
mod variant_keys;
mod variants;

use crate::program::{FactId, RuleId, ScheduleStep};
use indexmap::IndexMap;
use rewright_typeprop::{OpId, Ty, stored};
use serde::{Deserialize, Serialize};

pub use block_guard::GENERATION;
pub use compile::{compile, intern_types};

/// Bits of a type column that hold the type; the unit's number is above them.
pub const TYPE_BITS: u32 = 20;

/// Takes the type out of a type column.
pub const TYPE_MASK: i64 = (1 << TYPE_BITS) - 1;

/// Operands of an operation that no rule mentions: up to this many are columns, more are a list.
pub const REST_COLUMNS: usize = 3;

/// The relation of removable statements: `(Optional site root rule)`.
pub const REMOVABLE: &str = "Optional";

/// What egglog runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EgglogProgram {
    /// Constructors in order of declaration.
    pub tables: Vec<Table>,
    /// By `OpId`: its own constructor, an index into `tables`; `None` where it shares one by arity.
    pub op_tables: Vec<Option<usize>>,
    /// By `FactId`: the relation's name.
    pub facts: Vec<Relation>,
    /// `Isa`, where some rule needs it.
    pub isa: Option<Relation>,
    /// `Optional`, where some rule licenses statements to go: the state of the statement's site, that of the rule's
    /// root, and the rule of the program.
    pub removable: Option<Relation>,
    /// The ruleset that must run before rules that ask for generations ([`EgglogRule::asks_generation`]), where there
    /// are such rules.
    pub generations: Option<usize>,
    /// Primitives that the engine implements.
    pub primitives: Vec<Primitive>,
    /// Rulesets.
    pub rulesets: Vec<Ruleset>,
    /// Rules in order: the engine reports by position.
    pub rules: Vec<EgglogRule>,
    /// Schedules by qualified name; their rulesets are names of `ruleset_index`.
    #[serde(with = "stored::map")]
    pub schedules: IndexMap<String, Vec<ScheduleStep>>,
    /// A program's qualified ruleset name -> its parts, indices into `rulesets`: one for the first members of
    /// families of types, one for each other combination of members.
    #[serde(with = "stored::map")]
    pub ruleset_index: IndexMap<String, Vec<usize>>,
    /// Rules, or instances of rules, that cannot be expressed or can never fire.
    pub skipped: Vec<Skipped>,
}

impl EgglogProgram {
    /// Rulesets that run beside every other: those of the laws.
    pub fn laws(&self) -> Vec<usize> {
        let asked_for = |i: &usize| self.ruleset_index.values().flatten().chain(&self.generations).any(|own| own == i);
        (0..self.rulesets.len()).filter(|i| !asked_for(i)).collect()
    }
}

/// Sort of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Sort {
    /// A type column, a constant's value, a number.
    I64,
    /// A class of values.
    Value,
    /// A class of states.
    State,
    /// A list of values.
    List,
}

/// A constructor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// What its rows are.
    pub kind: TableKind,
    /// Columns.
    pub columns: Vec<Sort>,
    /// Sort of its class.
    pub output: Sort,
}

/// What the rows of a constructor are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TableKind {
    /// `(Op types.. operands.. state?)`
    Op(OpId),
    /// `(Const type value)`
    Const,
    /// `(Leaf type number)`
    Leaf,
    /// `(Token unit number)`
    Token,
    /// `(Proj type position tuple)`
    Proj,
    /// `(Rest2 unit head a b)`: an operation that no rule mentions, or that no pack declares. The head's number
    /// stands for the operation and its types.
    Rest,
    /// `(Cons a rest)`
    Cons,
    /// `(Nil)`
    Nil,
}

/// A relation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Relation {
    /// Its name.
    pub name: String,
    /// Columns.
    pub columns: Vec<Sort>,
}

/// A function over numbers that the engine implements. It may fail; then there is no match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Primitive {
    /// Its name.
    pub name: String,
    /// What it computes.
    pub kind: PrimitiveKind,
    /// How many arguments.
    pub arity: usize,
}

/// What a primitive computes. Types are type columns, and keep their unit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum PrimitiveKind {
    /// An operation on constants: its type columns, then its arguments. Fails where it has no defined value.
    Eval(OpId),
    /// 1 if the type is below this one; fails if not.
    Subtype(Ty),
    /// The n-th argument of a type that is an instance of this declared name itself.
    TypeArg(rewright_typeprop::types::TypeDeclId, u32),
    /// The n-th argument of the ancestor that is an instance of this declared name.
    SuperArg(rewright_typeprop::types::TypeDeclId, u32),
    /// The instance of this declared name with these arguments; fails where nothing has interned it.
    TypeApp(rewright_typeprop::types::TypeDeclId),
    /// The parent of a type; fails for `Any` and for numbers.
    Supertype,
    /// The name of a type without its arguments; fails where it has none.
    Bare,
}

/// A ruleset.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ruleset {
    /// Its name.
    pub name: String,
    /// Others that run whenever it runs: the one that unites commuted forms, the one that infers types.
    /// A step runs `combined` where it is not empty.
    pub combined: Option<String>,
}

/// A rule.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EgglogRule {
    /// Unique name: the rule's, with a suffix for the second and later variants and instances.
    pub name: String,
    /// The rule of the program that it comes from.
    pub source: Option<RuleId>,
    /// Index into `rulesets`.
    pub ruleset: usize,
    /// Body.
    pub body: Vec<Atom>,
    /// A type column, by which a match is charged to its unit.
    pub unit: Option<String>,
    /// The matched class, where it is a value's or a state's.
    pub root: Option<(String, Sort)>,
    /// Actions.
    pub actions: Vec<Action>,
}

impl EgglogRule {
    /// Does it match only what its block has not made?
    pub fn asks_generation(&self) -> bool {
        let asks = |atom: &Atom| matches!(atom, Atom::Equal(Expr::Int(_), Expr::Call(name, _)) if name == GENERATION);
        self.body.iter().any(asks)
    }
}

/// A body atom.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Atom {
    /// `(= a b)`
    Equal(Expr, Expr),
    /// `(f ..)`
    Holds(Expr),
}

/// An action.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Action {
    /// `(union a b)`
    Union(Expr, Expr),
    /// `(f ..)`
    Insert(Expr),
    /// `(set (f ..) n)`
    Set(Expr, i64),
    /// `(subsume (f ..))`: rules see the node no more; it stays in its class.
    Subsume(Expr),
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Expr {
    /// A variable, with its leading `?`.
    Var(String),
    /// A number.
    Int(i64),
    /// `true`
    True,
    /// `(f ..)`
    Call(String, Vec<Expr>),
}

/// A rule or an instance of a rule that is not there, and why.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Skipped {
    /// The rule.
    pub rule: RuleId,
    /// Why, in one line.
    pub reason: String,
}

impl EgglogProgram {
    /// All relations.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.facts.iter().chain(&self.isa).chain(&self.removable)
    }

    /// The relation of a fact.
    pub fn fact(&self, id: FactId) -> &Relation {
        &self.facts[id.0 as usize]
    }

    /// The constructor of a kind that exists once.
    pub fn table(&self, kind: TableKind) -> Option<usize> {
        self.tables.iter().position(|t| t.kind == kind)
    }

    /// The constructor for `operands` values (and a state) with this output, shared by arity.
    pub fn rest_table(&self, operands: usize, state: bool, output: Sort) -> Option<usize> {
        let list = operands > REST_COLUMNS;
        self.tables.iter().position(|t| {
            t.kind == TableKind::Rest
                && t.output == output
                && t.columns.contains(&Sort::State) == state
                && t.columns.contains(&Sort::List) == list
                && (list || t.columns.iter().filter(|c| **c == Sort::Value).count() == operands)
        })
    }
}
