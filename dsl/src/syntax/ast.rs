//! The syntax tree, as written. Every node that a diagnostic may point at has a span.

use serde::{Deserialize, Serialize};

/// A half-open byte range of one source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// Which file (index in [`crate::diagnostic::Sources`]).
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Something with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Spanned<T> {
    /// The thing.
    pub node: T,
    /// Its place.
    pub span: Span,
}

/// A name with its place.
pub type Name = Spanned<String>;

/// `a.b.c`, joined by dots.
pub type Path = Spanned<String>;

/// A whole file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct File {
    /// `//!` lines without their marker.
    pub doc: Vec<String>,
    /// `pack path`.
    pub pack: Option<Path>,
    /// Items in order.
    pub items: Vec<Item>,
}

/// An item with what stands before it.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// `///` lines without their marker.
    pub doc: Vec<String>,
    /// `@name(args)`.
    pub attributes: Vec<Attribute>,
    /// The item.
    pub kind: ItemKind,
    /// From its first keyword to its end.
    pub span: Span,
}

/// `@name(args)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    /// Name.
    pub name: Name,
    /// Arguments.
    pub args: Vec<Expr>,
}

/// What an item is.
#[derive(Clone, PartialEq, Debug)]
pub enum ItemKind {
    /// `import path as id (a, b)`
    Import { path: Path, alias: Option<Name>, names: Option<Vec<Name>> },
    /// `type Name{T <: B} <: ty model id`
    Type { name: Name, tparams: Vec<TParam>, supertype: Option<Type>, model: Option<Name> },
    /// `type Name = A | B`: several types under one name
    Family { name: Name, members: Vec<Type> },
    /// `effect name`
    Effect { name: Name },
    /// `fact name{T}(params) spec expr`
    Fact { name: Name, tparams: Vec<TParam>, params: Vec<Param>, spec: Option<Expr> },
    /// `fn ...`
    Fn(FnItem),
    /// `override path cost expr`
    Override { name: Path, cost: Expr },
    /// `rule ...`
    Rule(RuleItem),
    /// `infer ...`
    Infer { name: Name, tparams: Vec<TParam>, params: Vec<Param>, fact: Expr, clauses: Vec<Clause> },
    /// `ruleset name { ... }`
    Ruleset { name: Name, items: Vec<Item> },
    /// `schedule name at point { ... }`
    Schedule { name: Name, at: Option<Name>, steps: Vec<Step> },
    /// `example "..." ...`
    Example(ExampleItem),
    /// What could not be parsed; a diagnostic says why.
    Error,
}

/// `T <: bound`
#[derive(Clone, PartialEq, Debug)]
pub struct TParam {
    /// Name.
    pub name: Name,
    /// Bound.
    pub bound: Option<Type>,
}

/// `path{args}`, or an integer in an argument.
#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// A name, applied.
    Named { path: Path, args: Vec<Type> },
    /// An integer.
    Int(i64),
}

/// `const name...: ty`
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// `const`
    pub constant: bool,
    /// Name.
    pub name: Name,
    /// `...`
    pub variadic: bool,
    /// Type.
    pub ty: Option<Type>,
}

/// A function declaration.
#[derive(Clone, PartialEq, Debug)]
pub struct FnItem {
    /// `host`
    pub host: bool,
    /// Name.
    pub name: Name,
    /// Type parameters.
    pub tparams: Vec<TParam>,
    /// Parameters.
    pub params: Vec<Param>,
    /// Result type; several results are written `-> (A, B)`.
    pub results: Vec<Type>,
    /// Clauses in order.
    pub clauses: Vec<Spanned<FnClause>>,
}

/// A clause of a function declaration.
#[derive(Clone, PartialEq, Debug)]
pub enum FnClause {
    /// `as "+"`
    As(String),
    /// `pure`
    Pure,
    /// `effects io, reads(heap)`
    Effects(Vec<Effect>),
    /// `cost expr`
    Cost(Expr),
    /// `requires conds`
    Requires(Vec<Expr>),
    /// `spec expr`
    Spec(Expr),
    /// `commutative`, `associative`, `idempotent`, `identity(expr)`
    Law { name: String, arg: Option<Expr> },
    /// `recurrence f`
    Recurrence(Path),
    /// `lazy`
    Lazy,
}

/// `name(region)`
#[derive(Clone, PartialEq, Debug)]
pub struct Effect {
    /// `reads`, `writes`, `io`, `allocates`, `traps`, `diverges`, or a declared effect.
    pub name: Path,
    /// Region.
    pub region: Option<Path>,
}

/// A rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleItem {
    /// Place of `unsafe`.
    pub is_unsafe: Option<Span>,
    /// Place of `dynamic`.
    pub dynamic: Option<Span>,
    /// Name.
    pub name: Name,
    /// Type parameters.
    pub tparams: Vec<TParam>,
    /// Parameters.
    pub params: Vec<Param>,
    /// One rewrite, or a block.
    pub body: RuleBody,
    /// How long its lists are, once they are written out; empty as parsed.
    pub lengths: Vec<(String, usize)>,
}

/// The body of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum RuleBody {
    /// `: lhs => rhs clauses`
    Rewrite { rewrite: Rewrite, clauses: Vec<Clause> },
    /// `{ match .. rewrite .. }`
    Block { statements: Vec<RuleStatement>, span: Span },
}

/// `lhs => rhs`
#[derive(Clone, PartialEq, Debug)]
pub struct Rewrite {
    /// Left side.
    pub left: Side,
    /// `<=>`
    pub both_ways: bool,
    /// Right side.
    pub right: Side,
}

/// `expr after state after state`
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// The expression.
    pub expr: Expr,
    /// States, innermost last.
    pub after: Vec<Expr>,
}

/// A statement of a rule's block.
#[derive(Clone, PartialEq, Debug)]
pub enum RuleStatement {
    /// `match p = expr`
    Match(Name, Expr),
    /// `let p = expr`
    Let(Name, Expr),
    /// `rewrite lhs => rhs`
    Rewrite(Rewrite),
    /// A clause.
    Clause(Clause),
}

/// A clause of a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Clause {
    /// What it is.
    pub kind: ClauseKind,
    /// Its place.
    pub span: Span,
}

/// What a clause is.
#[derive(Clone, PartialEq, Debug)]
pub enum ClauseKind {
    /// `when conds`
    When(Vec<Expr>),
    /// `removes effs`
    Removes(Vec<Effect>),
    /// `because "..."`
    Because(String),
}

/// A step of a schedule.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// `run ruleset limit N unit, ..`
    Run { ruleset: Path, limits: Vec<Limit> },
    /// `saturate ruleset limit N unit, ..`
    Saturate { ruleset: Path, limits: Vec<Limit> },
    /// `repeat N { ... }`, or without a number: until nothing changes
    Repeat { count: Option<u64>, steps: Vec<Step> },
}

/// `N unit` of a step's limits.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    /// How many.
    pub count: u64,
    /// Of what.
    pub unit: Name,
}

/// An example.
#[derive(Clone, PartialEq, Debug)]
pub struct ExampleItem {
    /// `todo`
    pub todo: bool,
    /// Title.
    pub title: Spanned<String>,
    /// Parameters.
    pub params: Vec<Param>,
    /// `fires a, b`
    pub fires: Vec<Path>,
    /// `using schedule`
    pub using: Option<Path>,
    /// What it claims.
    pub body: ExampleBody,
}

/// What an example claims.
#[derive(Clone, PartialEq, Debug)]
pub enum ExampleBody {
    /// `: side verdict`. A side may have states (`load(p) after store(p, v) after s becomes v`).
    Verdict { subject: Side, verdict: Verdict },
    /// `{ before {..} after {..} }`
    Blocks { before: Vec<BlockStatement>, after: Vec<BlockStatement> },
}

/// The verdict of an example.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Extraction chooses this.
    Becomes(Side),
    /// Same class.
    Equals(Side),
    /// Different classes.
    Differs(Side),
    /// Extraction keeps it.
    Stays,
}

/// A statement of an example's block.
#[derive(Clone, PartialEq, Debug)]
pub enum BlockStatement {
    /// `x = expr`
    Let(Name, Expr),
    /// `do expr`
    Do(Expr),
    /// `return expr`
    Return(Expr),
    /// `if (c) {..} else {..}`
    If { cond: Expr, then: Vec<BlockStatement>, els: Vec<BlockStatement> },
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

impl Expr {
    /// Calls `f` with this expression and all below it, in order of reading.
    pub fn walk<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        f(self);
        match &self.kind {
            ExprKind::Paren(e) | ExprKind::Eval(e) => e.walk(f),
            ExprKind::Unary { expr, .. } | ExprKind::Postfix { expr, .. } | ExprKind::Is { expr, .. } => expr.walk(f),
            ExprKind::After(side) => side.walk(f),
            ExprKind::Binary { left, right, .. } => {
                left.walk(f);
                right.walk(f);
            }
            ExprKind::Call { args, .. } => args.iter().for_each(|arg| match arg {
                Arg::Expr(e) | Arg::For { expr: e, .. } => e.walk(f),
                Arg::Splat(_) => {}
            }),
            _ => {}
        }
    }
}

impl Side {
    /// Where it ends.
    pub fn end(&self) -> u32 {
        self.after.last().map_or(self.expr.span.end, |state| state.span.end)
    }

    /// Calls `f` with all expressions of this side.
    pub fn walk<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        self.expr.walk(f);
        self.after.iter().for_each(|state| state.walk(f));
    }
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A name.
    Path(String),
    /// An integer, as written in `text` (so that formatting keeps hexadecimal).
    Int { value: i128, text: String },
    /// A float, as written.
    Float { value: f64, text: String },
    /// A string.
    Str(String),
    /// `_`
    Wildcard,
    /// `true`, `false`
    Bool(bool),
    /// `(+)`
    Operator(String),
    /// `(expr)`, kept for the formatter.
    Paren(Box<Expr>),
    /// `eval(expr)`
    Eval(Box<Expr>),
    /// `expr after state`, in brackets or as an argument.
    After(Box<Side>),
    /// `f(args)`; type arguments may be given where they cannot be inferred: `f{i32}(args)`.
    Call { callee: Path, targs: Vec<Type>, args: Vec<Arg> },
    /// Infix, by symbol: `or and not == != <= >= < > + - * / ^ & | << >> .+ ...`
    Binary { op: Spanned<String>, left: Box<Expr>, right: Box<Expr> },
    /// Prefix `-` or `not`.
    Unary { op: Spanned<String>, expr: Box<Expr> },
    /// Postfix `'`.
    Postfix { op: Spanned<String>, expr: Box<Expr> },
    /// `expr is ty`
    Is { expr: Box<Expr>, ty: Type },
    /// What could not be parsed.
    Error,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// An expression.
    Expr(Expr),
    /// `xs...`
    Splat(Name),
    /// `expr for x in xs`
    For { expr: Expr, var: Name, list: Name },
}
