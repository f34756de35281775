//! Stage 0: lists. A declaration or rule with a list (`parts...`) is written out once per length, so that no later
//! stage, and no engine, knows lists: `hcat(parts...)` becomes overloads of no, one, two parts, and a rule over lists
//! becomes one rule per combination of lengths.
//!
//! Lengths are those of calls in the packs and in the program to which their rules are applied, and those that rules
//! make of them ([`lengths`]). The elements of `xs` are called `xs.1`, `xs.2`, which no source can write.
//!
//! Left to [`super::elab`] to reject: a list where nothing takes one.

mod calls;
mod lengths;

pub use calls::Calls;

use super::ParsedFile;
use super::report::Diag;
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{
    Arg, Attribute, BlockStatement, Clause, ClauseKind, ExampleBody, Expr, ExprKind, File, FnClause, FnItem, Item,
    ItemKind, Name, Param, Rewrite, RuleBody, RuleItem, RuleStatement, Side, Span, Spanned, Verdict,
};
use indexmap::IndexMap;
use lengths::{Combinations, Cut, Lengths, MAX_LENGTH};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// In the symbol of a function that takes a list (`@link("libx.so", "sum_{}")`): the length. In C, a function of two
/// operands and one of three are two functions.
const LENGTH_IN_SYMBOL: &str = "{}";

/// The code of a report that a rule is not written out for all lengths; shown wherever rules are applied.
pub const CUT_SHORT: &str = "RW0513";

/// Writes lists out, at the lengths that the packs and `calls` need. The result has list parameters and list
/// arguments only where they are mistakes.
pub(super) fn expand<'f>(files: &'f [ParsedFile], calls: Calls<'_>) -> (Cow<'f, [ParsedFile]>, Vec<Diagnostic>) {
    let mut lists = Lists {
        fixed: IndexMap::new(),
        symbols: Vec::new(),
        lengths: Lengths::default(),
        rules: FxHashMap::default(),
        diagnostics: Vec::new(),
    };
    for file in files {
        for_each_item(&file.file.items, &mut |item| lists.declaration(item));
    }
    if lists.fixed.is_empty() {
        return (Cow::Borrowed(files), lists.diagnostics);
    }
    let mut written: Vec<(String, usize)> = vec![];
    let mut rules: Vec<&RuleItem> = vec![];
    for file in files {
        for_each_item(&file.file.items, &mut |item| {
            for_each_expr(item, &mut |expr| written.extend(lists.length(expr)));
            if let ItemKind::Rule(rule) = &item.kind
                && rule.params.iter().any(|p| p.variadic)
            {
                rules.push(rule);
            }
        });
    }
    let mut lengths = Lengths::of_calls(&lists, &written, calls);
    for file in files {
        for_each_item(&file.file.items, &mut |item| lists.diagnostics.extend(too_long(&lengths, item)));
    }
    let instances = lengths.close(&lists, &rules);
    lists.rules = rules.iter().map(|rule| rule.name.span).zip(instances).collect();
    lists.lengths = lengths;
    let expanded = files
        .iter()
        .map(|file| {
            let File { doc, pack, items } = &*file.file;
            let written = File { doc: doc.clone(), pack: pack.clone(), items: lists.items(items) };
            ParsedFile {
                path: file.path.clone(),
                pack: file.pack.clone(),
                file: Arc::new(written),
                imports: file.imports.clone(),
                ..*file
            }
        })
        .collect();
    (Cow::Owned(expanded), lists.diagnostics)
}

struct Lists {
    /// Functions that take a list, by name: how many parameters they have beside it.
    fixed: IndexMap<String, usize>,
    /// What stands before and after the length in the symbol of a function that takes a list, and its name.
    symbols: Vec<(String, String, String)>,
    lengths: Lengths,
    /// By the place of a rule's name: at which lengths of its lists it is written out.
    rules: FxHashMap<Span, Combinations>,
    diagnostics: Vec<Diagnostic>,
}

impl Lists {
    fn declaration(&mut self, item: &Item) {
        let ItemKind::Fn(f) = &item.kind else { return };
        let lists: Vec<&Param> = f.params.iter().filter(|p| p.variadic).collect();
        if let [_, second, ..] = lists[..] {
            self.diagnostics.push(
                Diag::error("RW0452", second.name.span, "a function takes one list at most", "the second one")
                    .help("where would the first one end?")
                    .done(),
            );
        }
        if !lists.is_empty() {
            // Functions of several packs: the longest list that some call passes to one of them counts.
            let fixed = self.fixed.entry(f.name.node.clone()).or_insert(usize::MAX);
            *fixed = (*fixed).min(f.params.len() - 1);
            self.symbol(item, &f.name.node);
        }
    }

    /// The symbol of a list's function must say which length it is for.
    fn symbol(&mut self, item: &Item, name: &str) {
        for attribute in item.attributes.iter().filter(|a| a.name.node == "link") {
            let Some(Expr { kind: ExprKind::Str(symbol), span }) = attribute.args.get(1) else { continue };
            if let Some((before, after)) = symbol.split_once(LENGTH_IN_SYMBOL) {
                self.symbols.push((before.to_string(), after.to_string(), name.to_string()));
            } else {
                let message = format!("`{name}` takes a list, and this is the symbol of one length only");
                let report = Diag::error("RW0211", *span, message, "for how many elements?").help(format!(
                    "say where the length stands: `{symbol}_{LENGTH_IN_SYMBOL}` is `{symbol}_2` for two"
                ));
                self.diagnostics.push(report.done());
            }
        }
    }

    /// How many parameters beside its list the callee of a call has; by its last name, whatever it is imported as.
    fn fixed(&self, callee: &str) -> Option<usize> {
        self.fixed.get(callee.rsplit('.').next().unwrap_or(callee)).copied()
    }

    /// The function and the length of the list that a call without list arguments passes.
    fn length(&self, expr: &Expr) -> Option<(String, usize)> {
        let ExprKind::Call { callee, args, .. } = &expr.kind else { return None };
        let fixed = self.fixed(&callee.node)?;
        let name = callee.node.rsplit('.').next().unwrap_or(&callee.node).to_string();
        args.iter().all(|arg| matches!(arg, Arg::Expr(_))).then(|| (name, args.len().saturating_sub(fixed)))
    }

    /// The function that a program calls by a name, or by the symbol of one length, and the length of its list.
    fn called<'n>(&'n self, name: &'n str, operands: usize) -> Option<(&'n str, usize)> {
        let last = name.rsplit('.').next().unwrap_or(name);
        if let Some(fixed) = self.fixed.get(last) {
            return Some((last, operands.saturating_sub(*fixed)));
        }
        self.symbols.iter().find_map(|(before, after, function)| {
            let length = name.strip_prefix(before.as_str())?.strip_suffix(after.as_str())?;
            Some((function.as_str(), length.parse().ok()?))
        })
    }

    fn items(&mut self, items: &[Item]) -> Vec<Item> {
        let mut out = Vec::new();
        for item in items {
            match &item.kind {
                ItemKind::Fn(f) if f.params.iter().filter(|p| p.variadic).count() == 1 => {
                    let list = f.params.iter().find(|p| p.variadic).map(|p| p.name.node.clone()).unwrap_or_default();
                    for length in self.lengths.of(&f.name.node) {
                        let instance = Instance {
                            lists: self,
                            lengths: vec![(list.clone(), length)],
                            element: None,
                            pattern: false,
                        };
                        let attributes = item.attributes.iter().map(|a| linked(a, length)).collect();
                        out.push(Item { kind: ItemKind::Fn(instance.function(f)), attributes, ..item.clone() });
                    }
                }
                ItemKind::Rule(rule) if rule.params.iter().any(|p| p.variadic) => {
                    let instances = self.instances(rule);
                    out.extend(instances.into_iter().map(|rule| Item { kind: ItemKind::Rule(rule), ..item.clone() }));
                }
                ItemKind::Ruleset { name, items } => {
                    let items = self.items(items);
                    out.push(Item { kind: ItemKind::Ruleset { name: name.clone(), items }, ..item.clone() });
                }
                _ => out.push(item.clone()),
            }
        }
        out
    }

    /// All instances of a rule, those without an empty list first: they say best what is wrong with a rule.
    fn instances(&mut self, rule: &RuleItem) -> Vec<RuleItem> {
        let names: Vec<&Name> = rule.params.iter().filter(|p| p.variadic).map(|p| &p.name).collect();
        let Combinations { mut lengths, cut } = self.rules.get(&rule.name.span).cloned().unwrap_or_default();
        if let Some(cut) = cut {
            let message = format!("rule `{}` is not applied to lists of all lengths", rule.name.node);
            let (label, help) = match cut {
                Cut::Instances => (
                    format!("written out for {} combinations of lengths, and there are more", lengths.len()),
                    "a rule about fewer lists at once has fewer combinations",
                ),
                Cut::Length(MAX_LENGTH) => (
                    format!("makes lists of at most {MAX_LENGTH} elements"),
                    "a function has no more parameters than that",
                ),
                Cut::Length(made) => (
                    format!("of what rules have made, it makes lists of at most {made} elements"),
                    "it makes longer lists than it matches, without end if its result matches again",
                ),
            };
            self.diagnostics.push(Diag::lint(CUT_SHORT, rule.name.span, message, label).help(help).done());
        }
        lengths.sort_by_key(|lengths| lengths.contains(&0));
        let instance = |lengths: Vec<usize>| {
            let lengths = names.iter().map(|n| n.node.clone()).zip(lengths).collect();
            Instance { lists: self, lengths, element: None, pattern: false }.rule(rule)
        };
        lengths.into_iter().map(instance).collect()
    }
}

/// Lists at certain lengths.
struct Instance<'l> {
    lists: &'l Lists,
    lengths: Vec<(String, usize)>,
    /// Inside `expr for x in xs`: `x`, and the element that it stands for.
    element: Option<(String, String)>,
    /// On a left side, where a list cannot be built: `for` stays, to be rejected.
    pattern: bool,
}

impl Instance<'_> {
    fn length(&self, list: &str) -> Option<usize> {
        self.lengths.iter().find(|(name, _)| name == list).map(|(_, length)| *length)
    }

    fn params(&self, params: &[Param]) -> Vec<Param> {
        let mut out = Vec::new();
        for param in params {
            match self.length(&param.name.node).filter(|_| param.variadic) {
                None => out.push(param.clone()),
                Some(length) => out.extend((1..=length).map(|i| Param {
                    name: Spanned { node: element(&param.name.node, i), span: param.name.span },
                    variadic: false,
                    ..param.clone()
                })),
            }
        }
        out
    }

    fn function(&self, f: &FnItem) -> FnItem {
        let clause = |clause: &FnClause| match clause {
            FnClause::Cost(e) => FnClause::Cost(self.expr(e)),
            FnClause::Spec(e) => FnClause::Spec(self.expr(e)),
            FnClause::Requires(es) => FnClause::Requires(self.exprs(es)),
            other => other.clone(),
        };
        let clauses = f.clauses.iter().map(|c| Spanned { node: clause(&c.node), span: c.span }).collect();
        FnItem { params: self.params(&f.params), clauses, ..f.clone() }
    }

    fn rule(&self, rule: &RuleItem) -> RuleItem {
        let body = match &rule.body {
            RuleBody::Rewrite { rewrite, clauses } => RuleBody::Rewrite {
                rewrite: self.rewrite(rewrite),
                clauses: clauses.iter().map(|c| self.clause(c)).collect(),
            },
            RuleBody::Block { statements, span } => {
                let statement = |statement: &RuleStatement| match statement {
                    RuleStatement::Match(name, e) => RuleStatement::Match(name.clone(), self.pattern().expr(e)),
                    RuleStatement::Let(name, e) => RuleStatement::Let(name.clone(), self.expr(e)),
                    RuleStatement::Rewrite(rewrite) => RuleStatement::Rewrite(self.rewrite(rewrite)),
                    RuleStatement::Clause(clause) => RuleStatement::Clause(self.clause(clause)),
                };
                RuleBody::Block { statements: statements.iter().map(statement).collect(), span: *span }
            }
        };
        RuleItem { params: self.params(&rule.params), lengths: self.lengths.clone(), body, ..rule.clone() }
    }

    fn rewrite(&self, rewrite: &Rewrite) -> Rewrite {
        Rewrite {
            left: self.pattern().side(&rewrite.left),
            both_ways: rewrite.both_ways,
            right: self.side(&rewrite.right),
        }
    }

    fn pattern(&self) -> Self {
        Instance { lists: self.lists, lengths: self.lengths.clone(), element: None, pattern: true }
    }

    fn side(&self, side: &Side) -> Side {
        Side { expr: self.expr(&side.expr), after: self.exprs(&side.after) }
    }

    fn clause(&self, clause: &Clause) -> Clause {
        let kind = match &clause.kind {
            ClauseKind::When(conditions) => ClauseKind::When(self.exprs(conditions)),
            other => other.clone(),
        };
        Clause { kind, ..clause.clone() }
    }

    fn exprs(&self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|e| self.expr(e)).collect()
    }

    fn expr(&self, expr: &Expr) -> Expr {
        let boxed = |e: &Expr| Box::new(self.expr(e));
        let kind = match &expr.kind {
            ExprKind::Path(name) => match &self.element {
                Some((variable, element)) if variable == name => ExprKind::Path(element.clone()),
                _ => ExprKind::Path(name.clone()),
            },
            ExprKind::Paren(e) => ExprKind::Paren(boxed(e)),
            ExprKind::Eval(e) => ExprKind::Eval(boxed(e)),
            ExprKind::After(side) => ExprKind::After(Box::new(self.side(side))),
            ExprKind::Binary { op, left, right } => {
                ExprKind::Binary { op: op.clone(), left: boxed(left), right: boxed(right) }
            }
            ExprKind::Unary { op, expr } => ExprKind::Unary { op: op.clone(), expr: boxed(expr) },
            ExprKind::Postfix { op, expr } => ExprKind::Postfix { op: op.clone(), expr: boxed(expr) },
            ExprKind::Is { expr, ty } => ExprKind::Is { expr: boxed(expr), ty: ty.clone() },
            ExprKind::Call { callee, targs, args } => {
                let takes_list = self.lists.fixed(&callee.node).is_some();
                let args = args.iter().flat_map(|arg| self.arg(arg, takes_list)).collect();
                ExprKind::Call { callee: callee.clone(), targs: targs.clone(), args }
            }
            other => other.clone(),
        };
        Expr { kind, span: expr.span }
    }

    fn arg(&self, arg: &Arg, takes_list: bool) -> Vec<Arg> {
        match arg {
            Arg::Expr(e) => vec![Arg::Expr(self.expr(e))],
            Arg::Splat(name) => match self.length(&name.node).filter(|_| takes_list) {
                None => vec![arg.clone()],
                Some(length) => (1..=length)
                    .map(|i| Arg::Expr(Expr { kind: ExprKind::Path(element(&name.node, i)), span: name.span }))
                    .collect(),
            },
            Arg::For { expr, var, list } => match self.length(&list.node).filter(|_| takes_list && !self.pattern) {
                None => vec![arg.clone()],
                Some(length) => (1..=length)
                    .map(|i| {
                        let element = Some((var.node.clone(), element(&list.node, i)));
                        let lengths = self.lengths.clone();
                        let inner = Instance { lists: self.lists, lengths, element, pattern: false };
                        Arg::Expr(inner.expr(expr))
                    })
                    .collect(),
            },
        }
    }
}

/// Says that calls of a function have lists that are too long.
fn too_long(lengths: &Lengths, item: &Item) -> Option<Diagnostic> {
    let ItemKind::Fn(f) = &item.kind else { return None };
    let message = format!("calls of `{}` with long lists are not known", f.name.node);
    let label = format!("a list has at most {MAX_LENGTH} elements, and one of a call here has more");
    let is_meant = lengths.is_exceeded(&f.name.node) && f.params.iter().any(|param| param.variadic);
    is_meant.then(|| Diag::lint(CUT_SHORT, f.name.span, message, label).help("call it of parts of that list").done())
}

/// An attribute of the function for one length.
fn linked(attribute: &Attribute, length: usize) -> Attribute {
    let mut attribute = attribute.clone();
    if attribute.name.node == "link"
        && let Some(Expr { kind: ExprKind::Str(symbol), .. }) = attribute.args.get_mut(1)
    {
        *symbol = symbol.replace(LENGTH_IN_SYMBOL, &length.to_string());
    }
    attribute
}

fn element(list: &str, i: usize) -> String {
    format!("{list}.{i}")
}

fn for_each_item<'i>(items: &'i [Item], f: &mut impl FnMut(&'i Item)) {
    for item in items {
        f(item);
        if let ItemKind::Ruleset { items, .. } = &item.kind {
            for_each_item(items, f);
        }
    }
}

/// Calls `f` with every expression of a rule or an example.
fn for_each_expr<'e>(item: &'e Item, f: &mut dyn FnMut(&'e Expr)) {
    match &item.kind {
        ItemKind::Rule(rule) => in_rule(rule, f),
        ItemKind::Example(example) => match &example.body {
            ExampleBody::Verdict { subject, verdict } => {
                subject.walk(f);
                match verdict {
                    Verdict::Becomes(side) | Verdict::Equals(side) | Verdict::Differs(side) => side.walk(f),
                    Verdict::Stays => {}
                }
            }
            ExampleBody::Blocks { before, after } => {
                in_block(before, f);
                in_block(after, f);
            }
        },
        _ => {}
    }
}

fn in_rule<'e>(rule: &'e RuleItem, f: &mut dyn FnMut(&'e Expr)) {
    in_rule_left(rule, f);
    in_rule_right(rule, f);
}

/// Calls `f` with every expression that a rule matches.
fn in_rule_left<'e>(rule: &'e RuleItem, f: &mut dyn FnMut(&'e Expr)) {
    rewrites(rule).for_each(|rewrite| rewrite.left.walk(f));
    for statement in statements(rule) {
        if let RuleStatement::Match(_, e) = statement {
            e.walk(f);
        }
    }
}

/// Calls `f` with every expression that a rule makes.
fn in_rule_right<'e>(rule: &'e RuleItem, f: &mut dyn FnMut(&'e Expr)) {
    for statement in statements(rule) {
        if let RuleStatement::Let(_, e) = statement {
            e.walk(f);
        }
    }
    rewrites(rule).for_each(|rewrite| rewrite.right.walk(f));
}

fn statements(rule: &RuleItem) -> &[RuleStatement] {
    match &rule.body {
        RuleBody::Rewrite { .. } => &[],
        RuleBody::Block { statements, .. } => statements,
    }
}

fn rewrites(rule: &RuleItem) -> impl Iterator<Item = &Rewrite> {
    let only = match &rule.body {
        RuleBody::Rewrite { rewrite, .. } => Some(rewrite),
        RuleBody::Block { .. } => None,
    };
    only.into_iter().chain(statements(rule).iter().filter_map(|statement| match statement {
        RuleStatement::Rewrite(rewrite) => Some(rewrite),
        _ => None,
    }))
}

fn in_block<'e>(block: &'e [BlockStatement], f: &mut dyn FnMut(&'e Expr)) {
    for statement in block {
        match statement {
            BlockStatement::Let(_, e) | BlockStatement::Do(e) | BlockStatement::Return(e) => e.walk(f),
            BlockStatement::If { cond, then, els } => {
                cond.walk(f);
                in_block(then, f);
                in_block(els, f);
            }
        }
    }
}
