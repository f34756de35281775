//! Layout of files and items.

use super::Printer;
use super::layout::Op;
use crate::syntax::ast::{
    BlockStatement, Clause, ClauseKind, ExampleBody, ExampleItem, Expr, File, FnClause, FnItem, Item, ItemKind, Limit,
    Rewrite, RuleBody, RuleItem, RuleStatement, Side, Spanned, Step, Verdict,
};
use crate::syntax::token::Kind;

impl Printer<'_> {
    pub(super) fn file(&mut self, file: &File) {
        for line in &file.doc {
            self.doc("//!", line);
        }
        if let Some(pack) = &file.pack {
            self.new_line();
            self.word("pack");
            self.path(pack);
        }
        for item in &file.items {
            self.new_line();
            self.item(item);
        }
        if let Some(source) = &mut self.source {
            self.ops.push(Op::HardLine);
            source.rest(&mut self.ops);
        }
    }

    fn doc(&mut self, marker: &str, line: &str) {
        self.token(format!("{marker} {line}").trim_end());
        self.ops.push(Op::HardLine);
    }

    fn item(&mut self, item: &Item) {
        for line in &item.doc {
            self.doc("///", line);
        }
        for attribute in &item.attributes {
            self.token("@");
            self.name(&attribute.name);
            if !attribute.args.is_empty() {
                self.list(("(", ")"), true, &attribute.args, Self::expr);
            }
            self.ops.push(Op::HardLine);
        }
        self.seek(item.span);
        match &item.kind {
            ItemKind::Import { path, alias, names } => {
                self.word("import");
                self.path(path);
                if let Some(alias) = alias {
                    self.space();
                    self.word("as");
                    self.name(alias);
                }
                if let Some(names) = names {
                    self.space();
                    self.list(("(", ")"), true, names, Self::name);
                }
            }
            ItemKind::Type { name, tparams, supertype, model } => {
                self.word("type");
                self.name(name);
                self.tparams(tparams);
                if let Some(supertype) = supertype {
                    self.space();
                    self.word("<:");
                    self.ty(supertype);
                }
                if let Some(model) = model {
                    self.space();
                    self.word("model");
                    self.name(model);
                }
            }
            ItemKind::Family { name, members } => {
                self.word("type");
                self.name(name);
                for (i, member) in members.iter().enumerate() {
                    self.space();
                    self.word(if i == 0 { "=" } else { "|" });
                    self.ty(member);
                }
            }
            ItemKind::Effect { name } => {
                self.word("effect");
                self.name(name);
            }
            ItemKind::Fact { name, tparams, params, spec } => self.group(|p| {
                p.word("fact");
                p.name(name);
                p.tparams(tparams);
                p.params(params);
                if let Some(spec) = spec {
                    p.indented(|p| {
                        p.ops.push(Op::Line(2));
                        p.word("spec");
                        p.expr(spec);
                    });
                }
            }),
            ItemKind::Override { name, cost } => self.group(|p| {
                p.word("override");
                p.path(name);
                p.indented(|p| {
                    p.ops.push(Op::Line(1));
                    p.word("cost");
                    p.expr(cost);
                });
            }),
            ItemKind::Fn(function) => self.function(function),
            ItemKind::Rule(rule) => self.rule(rule),
            ItemKind::Infer { name, tparams, params, fact, clauses } => self.claused(clauses, |p| {
                p.word("infer");
                p.name(name);
                p.tparams(tparams);
                p.params(params);
                p.token(":");
                p.indented(|p| {
                    p.ops.push(Op::Line(1));
                    p.expr(fact);
                });
            }),
            ItemKind::Ruleset { name, items } => {
                self.word("ruleset");
                self.name(name);
                self.space();
                self.block(items, Self::item);
            }
            ItemKind::Schedule { name, at, steps } => {
                self.word("schedule");
                self.name(name);
                self.space();
                if let Some(at) = at {
                    self.word("at");
                    self.name(at);
                    self.space();
                }
                // A loop beside other steps is worth a line of its own.
                match steps.len() > 1 && steps.iter().any(|step| matches!(step, Step::Repeat { .. })) {
                    true => self.block(steps, Self::step),
                    false => self.small_block(2, steps, Self::step),
                }
            }
            ItemKind::Example(example) => self.example(example),
            ItemKind::Error => self.token("// broken item"),
        }
    }

    /// `{`, each entry on its line, `}`
    fn block<T>(&mut self, entries: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.token("{");
        self.indented(|p| {
            for entry in entries {
                p.new_line();
                each(p, entry);
            }
            p.before_close();
        });
        if !matches!(self.ops[..], [.., Op::Text(ref open), Op::Indent, Op::Dedent] if open == "{") {
            self.ops.push(Op::HardLine);
        }
        self.token("}");
    }

    /// A group whose clauses go to lines of their own before the rest of it breaks.
    fn claused(&mut self, clauses: &[Clause], head: impl FnOnce(&mut Self)) {
        self.group(|p| {
            p.group(head);
            p.indented(|p| {
                for clause in clauses {
                    p.ops.push(Op::Line(1));
                    p.clause(clause);
                }
            });
        });
    }

    fn clause(&mut self, clause: &Clause) {
        self.seek(clause.span);
        match &clause.kind {
            ClauseKind::When(conditions) => {
                self.word("when");
                self.commas(conditions, Self::expr);
            }
            ClauseKind::Removes(effects) => {
                self.word("removes");
                self.effects(effects);
            }
            ClauseKind::Because(text) => {
                self.word("because");
                self.string(text);
            }
        }
    }

    fn function(&mut self, function: &FnItem) {
        let is_name = |clause: &Spanned<FnClause>| matches!(clause.node, FnClause::As(_));
        let first_name = function.clauses.first().filter(|clause| is_name(clause));
        self.group(|p| {
            p.group(|p| {
                if function.host {
                    p.word("host");
                }
                p.word("fn");
                p.name(&function.name);
                p.tparams(&function.tparams);
                p.params(&function.params);
                p.space();
                p.word("->");
                match &function.results[..] {
                    [only] => p.ty(only),
                    several => p.list(("(", ")"), true, several, Self::ty),
                }
                if let Some(name) = first_name {
                    p.space();
                    p.fn_clause(name);
                }
            });
            p.indented(|p| {
                for clause in &function.clauses[usize::from(first_name.is_some())..] {
                    p.ops.push(Op::Line(if is_name(clause) { 1 } else { 2 }));
                    p.fn_clause(clause);
                }
            });
        });
    }

    fn fn_clause(&mut self, clause: &Spanned<FnClause>) {
        self.seek(clause.span);
        match &clause.node {
            FnClause::As(text) => {
                self.word("as");
                self.string(text);
            }
            FnClause::Pure => self.token("pure"),
            FnClause::Effects(effects) => {
                self.word("effects");
                self.effects(effects);
            }
            FnClause::Cost(expr) => {
                self.word("cost");
                self.expr(expr);
            }
            FnClause::Requires(conditions) => {
                self.word("requires");
                self.commas(conditions, Self::expr);
            }
            FnClause::Spec(expr) => {
                self.word("spec");
                self.expr(expr);
            }
            FnClause::Law { name, arg } => {
                self.token(name);
                if let Some(arg) = arg {
                    self.list(("(", ")"), false, std::slice::from_ref(arg), Self::expr);
                }
            }
            FnClause::Recurrence(step) => {
                self.word("recurrence");
                self.path(step);
            }
            FnClause::Lazy => self.token("lazy"),
        }
    }

    fn rule(&mut self, rule: &RuleItem) {
        let head = |p: &mut Self| {
            if rule.is_unsafe.is_some() {
                p.word("unsafe");
            }
            if rule.dynamic.is_some() {
                p.word("dynamic");
            }
            p.word("rule");
            p.name(&rule.name);
            p.tparams(&rule.tparams);
            p.params(&rule.params);
        };
        match &rule.body {
            RuleBody::Rewrite { rewrite, clauses } => self.claused(clauses, |p| {
                head(p);
                p.token(":");
                p.indented(|p| {
                    p.ops.push(Op::Line(1));
                    p.rewrite(rewrite);
                });
            }),
            RuleBody::Block { statements, .. } => {
                head(self);
                self.space();
                self.block(statements, |p, statement| match statement {
                    RuleStatement::Match(name, expr) => p.binding("match", name, expr),
                    RuleStatement::Let(name, expr) => p.binding("let", name, expr),
                    RuleStatement::Rewrite(rewrite) => {
                        p.word("rewrite");
                        p.rewrite(rewrite);
                    }
                    RuleStatement::Clause(clause) => p.clause(clause),
                });
            }
        }
    }

    fn binding(&mut self, keyword: &str, name: &Spanned<String>, expr: &Expr) {
        self.word(keyword);
        self.name(name);
        self.space();
        self.word("=");
        self.expr(expr);
    }

    fn rewrite(&mut self, rewrite: &Rewrite) {
        self.group(|p| {
            p.side(&rewrite.left);
            p.indented(|p| {
                p.ops.push(Op::Line(1));
                p.word(if rewrite.both_ways { "<=>" } else { "=>" });
                p.side(&rewrite.right);
            });
        });
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Run { ruleset, limits } | Step::Saturate { ruleset, limits } => {
                self.word(if matches!(step, Step::Run { .. }) { "run" } else { "saturate" });
                self.path(ruleset);
                for (i, Limit { count, unit }) in limits.iter().enumerate() {
                    if i == 0 {
                        self.space();
                        self.word("limit");
                    } else {
                        self.token(",");
                        self.space();
                    }
                    self.literal(Kind::Int, count.to_string());
                    self.space();
                    self.name(unit);
                }
            }
            Step::Repeat { count, steps } => {
                self.word("repeat");
                if let Some(count) = count {
                    self.literal(Kind::Int, count.to_string());
                    self.space();
                }
                self.small_block(2, steps, Self::step);
            }
        }
    }

    /// A block that stands on one line if it fits.
    fn small_block<T>(&mut self, between: usize, entries: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.group(|p| {
            p.token("{");
            p.indented(|p| {
                for (i, entry) in entries.iter().enumerate() {
                    if let (Some(source), true) = (&mut p.source, i > 0) {
                        source.keep_blank(&mut p.ops);
                    }
                    p.ops.push(Op::Line(if i == 0 { 1 } else { between }));
                    each(p, entry);
                }
                p.before_close();
            });
            p.ops.push(Op::Line(usize::from(!entries.is_empty())));
            p.token("}");
        });
    }

    fn example(&mut self, example: &ExampleItem) {
        let head = |p: &mut Self| {
            if example.todo {
                p.word("todo");
            }
            p.word("example");
            p.string(&example.title.node);
            if !example.params.is_empty() {
                p.space();
                p.params(&example.params);
            }
            p.indented(|p| p.headers(example));
        };
        match &example.body {
            ExampleBody::Verdict { subject, verdict } => self.group(|p| {
                p.group(|p| {
                    head(p);
                    p.token(":");
                });
                p.indented(|p| {
                    p.ops.push(Op::Line(1));
                    p.group(|p| p.claim(subject, verdict));
                });
            }),
            ExampleBody::Blocks { before, after } => {
                self.group(head);
                self.space();
                self.block(&[("before", before), ("after", after)], |p, (word, statements)| {
                    p.word(word);
                    p.statements(statements);
                });
            }
        }
    }

    fn claim(&mut self, subject: &Side, verdict: &Verdict) {
        self.side(subject);
        self.ops.push(Op::Line(1));
        let (word, side) = match verdict {
            Verdict::Becomes(side) => ("becomes", side),
            Verdict::Equals(side) => ("equals", side),
            Verdict::Differs(side) => ("differs", side),
            Verdict::Stays => return self.token("stays"),
        };
        self.word(word);
        self.side(side);
    }

    /// `fires a, b` and `using s`, in the order of the source.
    fn headers(&mut self, example: &ExampleItem) {
        let using_first = example
            .using
            .as_ref()
            .is_some_and(|using| example.fires.first().is_some_and(|fires| using.span.start < fires.span.start));
        for fires in [!using_first, using_first] {
            if fires && !example.fires.is_empty() {
                self.ops.push(Op::Line(1));
                self.word("fires");
                self.commas(&example.fires, Self::path);
            }
            if let (false, Some(using)) = (fires, &example.using) {
                self.ops.push(Op::Line(1));
                self.word("using");
                self.path(using);
            }
        }
    }

    fn statements(&mut self, statements: &[BlockStatement]) {
        match is_small(statements) {
            true => self.small_block(1, statements, Self::statement),
            false => self.block(statements, Self::statement),
        }
    }

    fn statement(&mut self, statement: &BlockStatement) {
        match statement {
            BlockStatement::Let(name, expr) => {
                self.name(name);
                self.space();
                self.word("=");
                self.expr(expr);
            }
            BlockStatement::Do(expr) => {
                self.word("do");
                self.expr(expr);
            }
            BlockStatement::Return(expr) => {
                self.word("return");
                self.expr(expr);
            }
            BlockStatement::If { cond, then, els } => {
                self.word("if");
                self.list(("(", ")"), false, std::slice::from_ref(cond), Self::expr);
                self.space();
                // Either both fit on a line, or neither is to.
                let arm = match is_small(then) && is_small(els) {
                    true => Self::statements,
                    false => |p: &mut Self, arm: &[BlockStatement]| p.block(arm, Self::statement),
                };
                arm(self, then);
                if !els.is_empty() {
                    self.space();
                    self.word("else");
                    arm(self, els);
                } else if let Some(source) = &mut self.source {
                    source.skip(&["else", "{", "}"], &mut self.ops);
                }
            }
        }
    }
}

/// Is a block of an example one statement at most, and no branch?
fn is_small(statements: &[BlockStatement]) -> bool {
    matches!(statements, [] | [BlockStatement::Let(..) | BlockStatement::Do(_) | BlockStatement::Return(_)])
}
