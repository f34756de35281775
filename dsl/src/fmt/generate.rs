//! Random trees of the shape that the parser makes, for the property tests. Choices come from bytes, so that proptest
//! shrinks a failure by shortening them.

use crate::syntax::ast::*;
use crate::syntax::lexer;

/// Names that mean nothing, and such that are keywords elsewhere.
const PLAIN: &[&str] = &["a", "b", "xs", "Matrix", "T", "f1", "_t", "long_name_of_something", "i32"];
const KEYWORDS: &[&str] =
    &["cost", "at", "match", "rule", "when", "pure", "run", "becomes", "fires", "if", "do", "type", "before", "const"];

pub(super) struct Gen<'b> {
    bytes: &'b [u8],
    keywords: bool,
}

fn spanned<T>(node: T) -> Spanned<T> {
    Spanned { node, span: Span::default() }
}

impl<'b> Gen<'b> {
    pub(super) fn new(bytes: &'b [u8], keywords: bool) -> Self {
        Self { bytes, keywords }
    }

    fn pick(&mut self, choices: usize) -> usize {
        match self.bytes {
            [first, rest @ ..] => {
                self.bytes = rest;
                usize::from(*first) % choices
            }
            [] => 0,
        }
    }

    fn flip(&mut self) -> bool {
        self.pick(2) == 1
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.flip() { Some(make(self)) } else { None }
    }

    fn list<T>(&mut self, least: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + self.pick(4);
        (0..count).map(|_| make(self)).collect()
    }

    fn word(&mut self) -> String {
        let word = if self.keywords && self.pick(3) == 2 {
            KEYWORDS[self.pick(KEYWORDS.len())]
        } else {
            PLAIN[self.pick(PLAIN.len())]
        };
        word.to_owned()
    }

    fn name(&mut self) -> Name {
        spanned(self.word())
    }

    fn path(&mut self) -> Path {
        let mut path = self.word();
        while self.pick(4) == 3 {
            path.push('.');
            path.push_str(&self.word());
        }
        spanned(path)
    }

    fn ty(&mut self, depth: usize) -> Type {
        let args = if depth > 0 && self.pick(3) == 2 {
            self.list(1, |g| {
                if g.pick(4) == 3 {
                    Type { kind: TypeKind::Int(g.pick(200) as i64), span: Span::default() }
                } else {
                    g.ty(depth - 1)
                }
            })
        } else {
            Vec::new()
        };
        Type { kind: TypeKind::Named { path: self.path(), args }, span: Span::default() }
    }

    fn tparams(&mut self) -> Vec<TParam> {
        if self.pick(3) < 2 {
            return Vec::new();
        }
        self.list(1, |g| TParam { name: g.name(), bound: g.some(|g| g.ty(1)) })
    }

    fn params(&mut self) -> Vec<Param> {
        self.list(0, |g| Param {
            constant: g.flip(),
            name: g.name(),
            variadic: g.pick(4) == 3,
            ty: g.some(|g| g.ty(1)),
        })
    }

    fn effects(&mut self) -> Vec<Effect> {
        self.list(1, |g| Effect { name: g.path(), region: g.some(Self::path) })
    }

    fn string(&mut self) -> String {
        ["", "plain", "quote \" back \\ slash", "line\nbreak\ttab", "// no comment", "é ∀"][self.pick(6)].to_owned()
    }

    fn number(&mut self) -> ExprKind {
        let text = ["0", "7", "-1", "0xff", "-0x8000", "1_000", "0b11"][self.pick(7)].to_owned();
        match lexer::int(&text) {
            Some(value) if self.pick(4) < 3 => ExprKind::Int { value, text },
            _ => {
                let text = ["1.5", "-2.5e-3", "1e9"][self.pick(3)].to_owned();
                ExprKind::Float { value: lexer::float(&text).unwrap_or(0.0), text }
            }
        }
    }

    /// An expression that binds at least as tightly as `level`; looser ones get brackets.
    fn expr_at(&mut self, depth: usize, level: u8) -> Expr {
        let (expr, own) = self.any_expr(depth);
        if own >= level { expr } else { wrap(ExprKind::Paren(Box::new(expr))) }
    }

    pub(super) fn expr(&mut self, depth: usize) -> Expr {
        self.expr_at(depth, 0)
    }

    /// An expression and how tightly it binds: 12 for atoms, 10 for prefixes and negative literals.
    fn any_expr(&mut self, depth: usize) -> (Expr, u8) {
        if depth == 0 {
            return self.atom();
        }
        let inner = depth - 1;
        match self.pick(9) {
            0 => self.atom(),
            1 => {
                let (op, level) = [
                    ("or", 1),
                    ("and", 2),
                    ("==", 4),
                    ("!=", 4),
                    ("<", 4),
                    (">=", 4),
                    ("|", 5),
                    ("&", 6),
                    ("<<", 7),
                    (">>", 7),
                    ("+", 8),
                    (".-", 8),
                    ("-", 8),
                    ("*", 9),
                    ("./", 9),
                    ("^", 11),
                ][self.pick(16)];
                let (at_left, at_right) = match op {
                    "^" => (12, 11),
                    _ if level == 4 => (5, 5),
                    _ => (level, level + 1),
                };
                let left = Box::new(self.expr_at(inner, at_left));
                let right = Box::new(self.expr_at(inner, at_right));
                (wrap(ExprKind::Binary { op: spanned(op.to_owned()), left, right }), level)
            }
            2 => {
                let expr = self.expr_at(inner, 11);
                // The parser makes literals of these.
                let literal = matches!(expr.kind, ExprKind::Int { .. } | ExprKind::Float { .. });
                let expr = if literal { wrap(ExprKind::Paren(Box::new(expr))) } else { expr };
                (wrap(ExprKind::Unary { op: spanned("-".into()), expr: Box::new(expr) }), 10)
            }
            3 => {
                let expr = Box::new(self.expr_at(inner, 4));
                (wrap(ExprKind::Unary { op: spanned("not".into()), expr }), 3)
            }
            4 => {
                let expr = Box::new(self.expr_at(inner, 12));
                (wrap(ExprKind::Postfix { op: spanned("'".into()), expr }), 12)
            }
            5 => {
                let expr = Box::new(self.expr_at(inner, 5));
                (wrap(ExprKind::Is { expr, ty: self.ty(1) }), 4)
            }
            6 => (wrap(ExprKind::Paren(Box::new(self.expr(inner)))), 12),
            7 => (wrap(ExprKind::Eval(Box::new(self.expr(inner)))), 12),
            _ => {
                let callee = self.path();
                let targs = if self.pick(4) == 3 { self.list(1, |g| g.ty(1)) } else { Vec::new() };
                let args = self.list(0, |g| match g.pick(7) {
                    6 => {
                        let side = Side { expr: g.expr(inner), after: g.list(1, |g| g.expr(inner)) };
                        Arg::Expr(wrap(ExprKind::After(Box::new(side))))
                    }
                    4 => Arg::Splat(g.name()),
                    5 => Arg::For { expr: g.expr(inner), var: g.name(), list: g.name() },
                    _ => Arg::Expr(g.expr(inner)),
                });
                (wrap(ExprKind::Call { callee, targs, args }), 12)
            }
        }
    }

    fn atom(&mut self) -> (Expr, u8) {
        let kind = match self.pick(7) {
            0..=2 => ExprKind::Path(self.path().node),
            3 => self.number(),
            4 => ExprKind::Str(self.string()),
            5 => [ExprKind::Wildcard, ExprKind::Bool(true), ExprKind::Bool(false)][self.pick(3)].clone(),
            _ => ExprKind::Operator(["+", "-", "*", "/", "<<", "'", ".*"][self.pick(7)].into()),
        };
        let negative =
            matches!(&kind, ExprKind::Int { text, .. } | ExprKind::Float { text, .. } if text.starts_with('-'));
        (wrap(kind), if negative { 10 } else { 12 })
    }

    fn side(&mut self) -> Side {
        Side { expr: self.expr(3), after: if self.pick(3) == 2 { self.list(1, |g| g.expr(2)) } else { Vec::new() } }
    }

    fn clause(&mut self) -> Clause {
        let kind = match self.pick(3) {
            0 => ClauseKind::When(self.list(1, |g| g.expr(3))),
            1 => ClauseKind::Removes(self.effects()),
            _ => ClauseKind::Because(self.string()),
        };
        Clause { kind, span: Span::default() }
    }

    fn rewrite(&mut self) -> Rewrite {
        Rewrite { left: self.side(), both_ways: self.flip(), right: self.side() }
    }

    fn fn_clause(&mut self) -> Spanned<FnClause> {
        spanned(match self.pick(9) {
            0 => FnClause::As(self.string()),
            1 => FnClause::Pure,
            2 => FnClause::Effects(self.effects()),
            3 => FnClause::Cost(self.expr(3)),
            4 => FnClause::Requires(self.list(1, |g| g.expr(2))),
            5 => FnClause::Spec(self.expr(3)),
            6 => {
                let name = ["commutative", "associative", "idempotent", "identity"][self.pick(4)].to_owned();
                FnClause::Law { name, arg: self.some(|g| g.expr(2)) }
            }
            7 => FnClause::Recurrence(self.path()),
            _ => FnClause::Lazy,
        })
    }

    fn block(&mut self, depth: usize) -> Vec<BlockStatement> {
        self.list(0, |g| match g.pick(if depth > 0 { 4 } else { 3 }) {
            0 => BlockStatement::Let(g.name(), g.expr(3)),
            1 => BlockStatement::Do(g.expr(2)),
            2 => BlockStatement::Return(g.expr(3)),
            _ => BlockStatement::If { cond: g.expr(2), then: g.block(depth - 1), els: g.block(depth - 1) },
        })
    }

    fn step(&mut self, depth: usize) -> Step {
        let limits = |g: &mut Self| g.list(0, |g| Limit { count: g.pick(250) as u64, unit: g.name() });
        match self.pick(if depth > 0 { 3 } else { 2 }) {
            0 => Step::Run { ruleset: self.path(), limits: limits(self) },
            1 => Step::Saturate { ruleset: self.path(), limits: limits(self) },
            _ => Step::Repeat { count: self.some(|g| g.pick(9) as u64), steps: self.list(1, |g| g.step(depth - 1)) },
        }
    }

    fn item(&mut self, depth: usize) -> Item {
        let kind = match self.pick(if depth > 0 { 13 } else { 12 }) {
            0 => ItemKind::Import {
                path: self.path(),
                alias: self.some(Self::name),
                names: self.some(|g| g.list(1, Self::name)),
            },
            1 if self.flip() => ItemKind::Family { name: self.name(), members: self.list(1, |g| g.ty(2)) },
            1 => ItemKind::Type {
                name: self.name(),
                tparams: self.tparams(),
                supertype: self.some(|g| g.ty(2)),
                model: self.some(Self::name),
            },
            2 => ItemKind::Effect { name: self.name() },
            3 => ItemKind::Fact {
                name: self.name(),
                tparams: self.tparams(),
                params: self.params(),
                spec: self.some(|g| g.expr(2)),
            },
            4 | 5 => {
                let results = if self.pick(3) == 2 {
                    let mut several = self.list(0, |g| g.ty(1));
                    // One result is written without brackets; with them it is the same tree.
                    several.truncate(3);
                    several
                } else {
                    vec![self.ty(2)]
                };
                ItemKind::Fn(FnItem {
                    host: self.flip(),
                    name: self.name(),
                    tparams: self.tparams(),
                    params: self.params(),
                    results,
                    clauses: self.list(0, Self::fn_clause),
                })
            }
            6 => ItemKind::Infer {
                name: self.name(),
                tparams: self.tparams(),
                params: self.params(),
                fact: self.expr(2),
                clauses: self.list(0, Self::clause),
            },
            7 | 8 => {
                let body = if self.flip() {
                    RuleBody::Rewrite { rewrite: self.rewrite(), clauses: self.list(0, Self::clause) }
                } else {
                    let statements = self.list(1, |g| match g.pick(4) {
                        0 => RuleStatement::Match(g.name(), g.expr(3)),
                        1 => RuleStatement::Let(g.name(), g.expr(3)),
                        2 => RuleStatement::Rewrite(g.rewrite()),
                        _ => RuleStatement::Clause(g.clause()),
                    });
                    RuleBody::Block { statements, span: Span::default() }
                };
                ItemKind::Rule(RuleItem {
                    is_unsafe: self.some(|_| Span::default()),
                    dynamic: self.some(|_| Span::default()),
                    name: self.name(),
                    tparams: self.tparams(),
                    params: self.params(),
                    body,
                    lengths: Vec::new(),
                })
            }
            9 => {
                ItemKind::Schedule { name: self.name(), at: self.some(Self::name), steps: self.list(1, |g| g.step(2)) }
            }
            10 => {
                let body = if self.flip() {
                    let subject = self.side();
                    let verdict = match self.pick(4) {
                        0 => Verdict::Becomes(self.side()),
                        1 => Verdict::Equals(self.side()),
                        2 => Verdict::Differs(self.side()),
                        _ => Verdict::Stays,
                    };
                    ExampleBody::Verdict { subject, verdict }
                } else {
                    ExampleBody::Blocks { before: self.block(2), after: self.block(1) }
                };
                ItemKind::Example(ExampleItem {
                    todo: self.flip(),
                    title: spanned(self.string()),
                    params: self.params(),
                    fires: if self.flip() { self.list(1, Self::path) } else { Vec::new() },
                    using: self.some(Self::path),
                    body,
                })
            }
            11 => ItemKind::Override { name: self.path(), cost: self.expr(2) },
            _ => ItemKind::Ruleset { name: self.name(), items: self.list(0, |g| g.item(depth - 1)) },
        };
        let doc = if self.pick(3) == 2 { self.doc() } else { Vec::new() };
        let attributes = if self.pick(4) == 3 {
            self.list(1, |g| Attribute { name: g.name(), args: g.list(0, |g| g.expr(1)) })
        } else {
            Vec::new()
        };
        Item { doc, attributes, kind, span: Span::default() }
    }

    fn doc(&mut self) -> Vec<String> {
        self.list(1, |g| ["A line.", "", "  indented", "// slashes"][g.pick(4)].to_owned())
    }

    pub(super) fn file(&mut self) -> File {
        let doc = if self.flip() { self.doc() } else { Vec::new() };
        File { doc, pack: self.some(Self::path), items: self.list(0, |g| g.item(2)) }
    }
}

fn wrap(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}
