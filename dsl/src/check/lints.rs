//! Stage 5: what is allowed but probably not meant. Only root files are spoken of, and only where all is well:
//! a mistake makes its neighbours look unused.

use super::overload::is_below;
use super::report::Diag;
use super::wording::short;
use super::{Checker, FnPlace, WrittenRule};
use crate::program::{Conclusion, Guard, Rule, RuleId, VarKind};
use crate::syntax::ast::{FnClause, ItemKind, Span};
use indexmap::IndexSet;
use rewright_typeprop::{Op, OpId, Repr, Term, TypeExpr};
use rustc_hash::FxHashMap;

impl Checker<'_> {
    pub(super) fn lint(&mut self) {
        let written = std::mem::take(&mut self.written);
        // A part that could not be read or imported may be what is missing here.
        let is_whole = !self.files.iter().any(|file| file.broken) && !self.scopes.iter().any(|scope| scope.incomplete);
        let faultless = self.errors() == 0 && is_whole;
        if written.iter().any(|w| self.files[w.file].root) {
            self.lint_duplicates(&written);
        }
        for rule in written.iter().filter(|w| self.files[w.file].root) {
            if faultless {
                self.lint_example(rule);
            }
            let told = self.diagnostics.len();
            for id in &rule.rules {
                let checked = self.program.rule(*id).clone();
                self.lint_growth(&checked, rule);
                self.lint_idle(&checked, rule);
                self.lint_earlier_reads(&checked, rule);
                self.lint_monotone(&checked, rule);
                self.lint_instances(&checked, rule.name);
                if self.diagnostics.len() > told {
                    break;
                }
            }
            if faultless && self.diagnostics.len() == told {
                self.lint_dearer(rule);
            }
            let first = self.program.rule(rule.rules[0]).clone();
            self.lint_parameters(&first, rule);
            let evals =
                matches!(&first.right, Conclusion::Equal(t) if t.subterms().any(|part| matches!(part, Term::Eval(_))));
            if first.dynamic && !evals {
                let report =
                    Diag::lint("RW0508", rule.name, "a dynamic rule that computes nothing", "has no `eval(..)`");
                if let Some(call) = self.computable(&first) {
                    self.report(report.help(format!(
                        "`{call}` has only constants as operands: write `eval({call}(..))` where it is to be computed while \
                         matching; if nothing is, write `rule`"
                    )));
                    continue;
                }
                let report = report.help("write `rule`");
                self.report(match self.rule_item(rule).and_then(|item| item.dynamic.map(|at| (at, item.is_unsafe))) {
                    Some((at, before)) => {
                        let modifier =
                            if before.is_some_and(|before| before.start > at.start) { "unsafe " } else { "" };
                        report.repair(Span { end: rule.name.start, ..at }, format!("{modifier}rule "))
                    }
                    None => report,
                });
            }
        }
        self.lint_repeated();
        self.lint_empty_files();
        if faultless {
            self.lint_overloads();
            self.lint_c_functions();
            self.lint_allocations();
            self.lint_pure_functions();
            self.lint_unsaid_effects();
        }
        if faultless && self.files.iter().any(|f| f.root && !f.library) {
            self.lint_declarations();
        }
    }

    /// A call on the right that constants of the rule alone decide.
    fn computable(&self, rule: &Rule) -> Option<String> {
        let Conclusion::Equal(right) = &rule.right else { return None };
        let is_constant = |v: u32| matches!(rule.vars[v as usize].kind, VarKind::Value { constant: true, .. });
        let mut calls = right.subterms().filter_map(|term| match term {
            Term::Call { op, state: None, .. } => Some((self.program.universe.ops.get(*op), term)),
            _ => None,
        });
        let decided = |term: &Term| term.variables().next().is_some() && term.variables().all(is_constant);
        calls.find(|(op, term)| op.effects.is_value() && decided(term)).map(|(op, _)| op.name.clone())
    }

    /// A file without an item.
    fn lint_empty_files(&mut self) {
        let empty =
            self.files.iter().zip(0..).filter(|(file, _)| file.root && !file.broken && file.file.items.is_empty());
        let empty: Vec<Span> = empty.map(|(_, file)| Span { file, start: 0, end: 0 }).collect();
        for at in empty {
            self.report(
                Diag::lint("RW0516", at, "this file declares nothing", "no rule, function or import follows")
                    .help("a pack begins with `pack name` and `import std.core`; its rules follow"),
            );
        }
    }

    /// A more specific overload that no call of the general one can be found to be.
    fn lint_overloads(&mut self) {
        let universe = &self.program.universe;
        let mut found = vec![];
        for place in self.fns.iter().filter(|place| self.files[place.file].root) {
            let op = universe.ops.get(place.op);
            let above = universe
                .ops
                .overloads(&op.name)
                .iter()
                .copied()
                .find(|id| *id != place.op && is_below(op, universe.ops.get(*id), universe, &self.has_subtypes));
            let Some(above) = above else { continue };
            let looked_up = |guard: &Guard| matches!(guard, Guard::Fact(..) | Guard::Class { .. } | Guard::Is(..));
            let constant = op.params.iter().all(|param| param.constant);
            let requires = self.program.requires.get(&place.op).map_or(&[][..], Vec::as_slice);
            let why = match op.effects != universe.ops.get(above).effects {
                true => "has other effects",
                false if !constant && !requires.iter().all(looked_up) => "requires what is no fact",
                false => continue,
            };
            found.push((place.op, above, op.name.clone(), why));
        }
        for (op, above, name, why) in found {
            self.report(
                Diag::lint("RW0510", self.op_spans[op.0 as usize], format!("no call of `{name}` moves here"), why)
                    .also(self.op_spans[above.0 as usize], "the more general one")
                    .help("overloads of one name are one function: give them the same effects, and require facts"),
            );
        }
    }

    /// A function of C with a type parameter that no call in C says: LLVM has one type for all pointers.
    fn lint_c_functions(&mut self) {
        let universe = &self.program.universe;
        let mut found = vec![];
        for place in self.fns.iter().filter(|place| self.files[place.file].root) {
            let op = universe.ops.get(place.op);
            let is_of_c = op.names.get("llvm").is_some_and(|name| name.starts_with('@'));
            let types: Vec<&TypeExpr> = op.params.iter().map(|param| &param.ty).chain(&op.results).collect();
            let is_said = |param: u32| types.iter().any(|ty| **ty == TypeExpr::Param(param));
            let unsaid = (0..op.tparams.len()).find(|param| !is_said(*param as u32)).filter(|_| is_of_c);
            found.extend(unsaid.map(|param| (place.op, op.name.clone(), op.tparams[param].name.clone())));
        }
        for (op, name, param) in found {
            let message = format!("no call in C says what `{param}` of `{name}` is");
            self.report(
                Diag::lint("RW0512", self.op_spans[op.0 as usize], message, "matches pointers of known types only").help(
                    "LLVM has one type for all pointers; a pointer has a type of yours where another declared function \
                     gives it. Declare the function at one type (`Table{i64}`), or the type without parameters",
                ),
            );
        }
    }

    /// A function of C of which nothing is said but its types: it is taken to be pure, and few functions of C are.
    fn lint_unsaid_effects(&mut self) {
        let universe = &self.program.universe;
        let mut found = vec![];
        for place in self.fns.iter().filter(|place| self.files[place.file].root) {
            let ItemKind::Fn(item) = &place.item.kind else { continue };
            let says = item.clauses.iter().any(|clause| matches!(clause.node, FnClause::Pure | FnClause::Effects(_)));
            let op = universe.ops.get(place.op);
            if !says && op.names.get("llvm").is_some_and(|name| name.starts_with('@')) {
                found.push((place.op, op.name.clone()));
            }
        }
        for (op, name) in found {
            let message = format!("`{name}` states no effects, and is taken to be pure");
            self.report(Diag::lint("RW0515", self.op_spans[op.0 as usize], message, "a function of C").help(
                "write `pure` if it depends on its operands only; else `effects reads(memory)`, `writes(memory)`, \
                     `allocates(heap)` or `io`, with `,` between them",
            ));
        }
    }

    /// The first pointer that a function takes to what another one accesses in a way, and that one.
    fn accessed(&self, op: &Op, accesses: impl Fn(&Op) -> bool) -> Option<(String, OpId)> {
        let universe = &self.program.universe;
        let is_pointer = |ty: &TypeExpr| match ty {
            TypeExpr::App(decl, _) => universe.types.repr_of(*decl) == Some(Repr::Pointer),
            TypeExpr::Param(_) | TypeExpr::Int(_) => false,
        };
        op.params.iter().filter(|param| is_pointer(&param.ty)).find_map(|param| {
            let takes = |other: &Op| other.params.iter().any(|own| own.ty == param.ty);
            let mut others = universe.ops.iter().filter(|(_, other)| other.part_of.is_none() && accesses(other));
            Some((param.name.clone(), others.find(|(_, other)| takes(other))?.0))
        })
    }

    /// Functions of C in files that were asked for, of which no attribute says that nothing changes what they read.
    fn changing_c_functions(&self) -> impl Iterator<Item = (OpId, &Op)> {
        let places = self.fns.iter().filter(|place| self.files[place.file].root);
        let is_meant = |place: &&FnPlace<'_>| place.item.attributes.iter().any(|a| a.name.node == "unchanging");
        let ops = places
            .filter(move |place| !is_meant(place))
            .map(|place| (place.op, self.program.universe.ops.get(place.op)));
        ops.filter(|(_, op)| op.names.get("llvm").is_some_and(|name| name.starts_with('@')))
    }

    /// A pure function of C that is given a pointer to what another one writes: it may be computed before that write as well
    /// as after it.
    fn lint_pure_functions(&mut self) {
        let is_pure = |op: &Op| !op.effects.accesses_memory() && op.effects.allocates.is_empty() && !op.effects.io;
        let pure = self.changing_c_functions().filter(|(_, op)| is_pure(op));
        let found: Vec<_> = pure
            .filter_map(|(id, op)| {
                let (param, writer) = self.accessed(op, |other| !other.effects.writes.is_empty())?;
                let writes = self.program.universe.ops.get(writer).name.clone();
                Some((id, op.name.clone(), param, writer, writes))
            })
            .collect();
        for (op, name, param, writer, writes) in found {
            let message =
                format!("`{name}` is pure: does it not read what `{param}` points to, which `{writes}` writes?");
            self.report(
                Diag::lint(
                    "RW0517",
                    self.op_spans[op.0 as usize],
                    message,
                    "two calls of it are one, whatever is written between",
                )
                .also(self.op_spans[writer.0 as usize], "writes what such a pointer leads to")
                .help(
                    "write `effects reads(memory)`; or, where nothing changes what it reads, say so above it: \
                         `@unchanging(\"why\")`",
                ),
            );
        }
    }

    /// A function of C that only allocates, though it is given a pointer to what another one reads: a copy is one of what is
    /// there now. An author who has considered that says why it does not matter.
    fn lint_allocations(&mut self) {
        let only_allocates =
            |op: &Op| !op.effects.allocates.is_empty() && !op.effects.accesses_memory() && !op.effects.io;
        let allocating = self.changing_c_functions().filter(|(_, op)| only_allocates(op));
        let found: Vec<_> = allocating
            .filter_map(|(id, op)| {
                let (param, reader) = self.accessed(op, |other| !other.effects.reads.is_empty())?;
                Some((id, op.name.clone(), param, reader))
            })
            .collect();
        for (op, name, param, reader) in found {
            let message = format!("`{name}` only allocates: does it not read what `{param}` points to?");
            self.report(
                Diag::lint("RW0514", self.op_spans[op.0 as usize], message, "may move over writes, and rules look past them")
                    .also(self.op_spans[reader.0 as usize], "reads what such a pointer leads to")
                    .help(
                        "write `effects reads(memory), allocates(heap)`; or, where nothing changes what it reads, say so above it: \
                         `@unchanging(\"why\")`",
                    ),
            );
        }
    }

    fn lint_example(&mut self, rule: &WrittenRule) {
        let own: Vec<RuleId> = rule.rules.iter().map(|id| self.program.rule(*id).family).collect();
        let shown = |id: &RuleId| own.contains(&self.program.rule(*id).family);
        let about_control = |id: &RuleId| self.program.rule(*id).is_about_control(&self.program.universe);
        if self.program.examples.iter().any(|e| e.fires.iter().any(shown)) || rule.rules.iter().any(about_control) {
            return;
        }
        let name = self.program.rule(rule.rules[0]).name.clone();
        let short = name.rsplit('.').next().unwrap_or(&name).to_string();
        self.report(
            Diag::lint("RW0501", rule.name, format!("rule `{short}` has no example"), "in no example's `fires`")
                .help(format!("add `example \"..\" (..) fires {short}: .. becomes ..`")),
        );
    }

    /// A right side that is larger and matches the left side again, with other arguments, never comes to an end. Arguments
    /// that have become literals stay what they are.
    fn lint_growth(&mut self, rule: &Rule, written: &WrittenRule) {
        let (Some(left), Conclusion::Equal(right)) = (rule.left.first(), &rule.right) else { return };
        if rule.dynamic || rule.is_block || size(right) <= size(left) {
            return;
        }
        let again = right.subterms().any(|part| {
            let mut binding = FxHashMap::default();
            let stays = |(v, t): (&u32, &&Term)| **t == Term::Var(*v) || matches!(t, Term::Lit(..));
            matches(left, part, &mut binding) && !binding.iter().all(stays)
        });
        if again {
            self.report(
                Diag::lint("RW0503", written.name, "this rule may grow without bound", "its result matches again")
                    .help("give its ruleset a limit: `run ruleset limit 5000 nodes`"),
            );
        }
    }

    /// A right side that is the left side. Without a state of its own it stands in that of the left side's root.
    fn lint_idle(&mut self, rule: &Rule, written: &WrittenRule) {
        let Conclusion::Equal(right) = &rule.right else { return };
        if rule.is_block || rule.left.first() != Some(right) {
            return;
        }
        let message = format!("both sides of `{}` are the same", short(&rule.name));
        let report = Diag::lint("RW0519", written.name, message, "changes nothing");
        let in_state = matches!(right, Term::Call { state: Some(state), .. } if matches!(**state, Term::Call { .. }));
        self.report(match in_state {
            true => report.help(
                "the right side stands in the state of the left side's root; name the one that is meant on both sides: \
                 `get(b) after (put(b, v) after s) => get(b) after s`",
            ),
            false => report,
        });
    }

    /// What an allocation reads, it reads where it is executed, which need not be the state in which others of the rule read.
    fn lint_earlier_reads(&mut self, rule: &Rule, written: &WrittenRule) {
        let Conclusion::Equal(right) = &rule.right else { return };
        if rule.is_block {
            return;
        }
        let called = |term: &Term| match term {
            Term::Call { op, .. } => Some(*op),
            _ => None,
        };
        let ops = &self.program.universe.ops;
        let left: Vec<OpId> = rule.left.iter().flat_map(Term::subterms).filter_map(called).collect();
        let found = left.iter().enumerate().find_map(|(at, early)| {
            let effects = &ops.get(*early).effects;
            let others = left.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, op)| *op);
            // The right side is executed where the root of the left side is.
            let late: Vec<OpId> = others.chain(right.subterms().filter_map(called).filter(|_| at > 0)).collect();
            let reads = |region: &String| late.iter().find(|op| ops.get(**op).effects.reads.contains(region));
            let mut read = effects.reads.iter().filter(|_| !effects.allocates.is_empty());
            read.find_map(|region| Some((*early, *reads(region)?, region.clone())))
        });
        let Some((early, late, region)) = found else { return };
        let [name, reader] = [early, late].map(|op| ops.get(op).name.clone());
        let message = format!("`{name}` may have read `{region}` earlier than `{reader}` does");
        self.report(
            Diag::lint("RW0520", written.name, message, "also matches where something is written in between")
                .also(self.op_spans[early.0 as usize], "reads where it is executed")
                .help(format!(
                    "a rule cannot name the state in which `{name}` reads. Where nothing changes what it reads, declare that: \
                     `@unchanging(\"why\")` above it, and no `reads({region})`. Otherwise the rule is wrong"
                )),
        );
    }

    fn lint_monotone(&mut self, rule: &Rule, written: &WrittenRule) {
        if rule.guards.iter().any(|g| matches!(g, Guard::Class { same: false, .. })) && !rule.name.ends_with(".back") {
            self.report(
                Diag::lint(
                    "RW0504",
                    written.name,
                    "this rule asks whether two classes are distinct",
                    "may be true now and false later",
                )
                .help("the answer depends on when it is asked: prefer a fact that says what you need"),
            );
        }
    }

    /// Two rules with the same left side and conditions.
    fn lint_duplicates(&mut self, written: &[WrittenRule]) {
        let mut seen: FxHashMap<String, usize> = FxHashMap::default();
        for (index, rule) in self.program.rules.iter().enumerate() {
            if rule.law {
                seen.entry(canonical(rule)).or_insert(index);
            }
        }
        for rule in written {
            for id in &rule.rules {
                let checked = self.program.rule(*id);
                let earlier = *seen.entry(canonical(checked)).or_insert(id.0 as usize);
                if earlier == id.0 as usize || rule.rules.iter().any(|r| r.0 as usize == earlier) {
                    continue;
                }
                if !self.files[rule.file].root {
                    continue;
                }
                let other = self.program.rules[earlier].clone();
                let what = if other.law { "the law" } else { "rule" };
                self.report(
                    Diag::lint("RW0506", rule.name, format!("{what} `{}` says the same", other.name), "says it again")
                        .also(other.span, "said here"),
                );
            }
        }
    }
}

fn size(term: &Term) -> usize {
    match term {
        Term::Var(_) | Term::Lit(..) => 1,
        Term::Eval(_) => 1,
        Term::Call { args, state, .. } => 1 + args.iter().map(size).sum::<usize>() + state.as_deref().map_or(0, size),
    }
}

/// Does a pattern match a term? Variables of the term are constants here.
fn matches<'t>(pattern: &Term, term: &'t Term, binding: &mut FxHashMap<u32, &'t Term>) -> bool {
    match (pattern, term) {
        (Term::Var(v), _) => *binding.entry(*v).or_insert(term) == term,
        (Term::Call { op: p, args: ps, state: s, .. }, Term::Call { op: q, args: qs, state: t, .. }) => {
            p == q
                && ps.iter().zip(qs).all(|(p, q)| matches(p, q, binding))
                && match (s, t) {
                    (Some(s), Some(t)) => matches(s, t, binding),
                    _ => true,
                }
        }
        _ => pattern == term,
    }
}

/// A rule's left side, conditions and conclusion with variables and type parameters in order of occurrence.
fn canonical(rule: &Rule) -> String {
    let mut names = Renaming::default();
    let left: Vec<Term> = rule.left.iter().map(|t| names.term(t)).collect();
    let right = match &rule.right {
        Conclusion::Equal(t) => format!("{:?}", names.term(t)),
        Conclusion::Fact(id, ts) => format!("{id:?}{:?}", ts.iter().map(|t| names.term(t)).collect::<Vec<_>>()),
    };
    let mut guards: Vec<String> = rule.guards.iter().map(|g| names.guard(g)).collect();
    guards.sort();
    let kinds: Vec<bool> = names
        .vars
        .iter()
        .map(|v| matches!(rule.vars.get(*v as usize).map(|v| &v.kind), Some(VarKind::Value { constant: true, .. })))
        .collect();
    let bounds: Vec<_> = names.tparams.iter().map(|p| rule.tparams.get(*p as usize).map(|p| &p.bound)).collect();
    format!("{left:?} {right} {guards:?} {kinds:?} {bounds:?}")
}

#[derive(Default)]
struct Renaming {
    vars: IndexSet<u32>,
    tparams: IndexSet<u32>,
}

impl Renaming {
    fn ty(&mut self, ty: &TypeExpr) -> TypeExpr {
        ty.substitute(&mut |i| TypeExpr::Param(self.tparams.insert_full(i).0 as u32))
    }

    fn term(&mut self, term: &Term) -> Term {
        let Renaming { vars, tparams } = self;
        term.substitute(&mut |v| Term::Var(vars.insert_full(v).0 as u32), &mut |i| {
            TypeExpr::Param(tparams.insert_full(i).0 as u32)
        })
    }

    fn guard(&mut self, guard: &Guard) -> String {
        match guard {
            Guard::Fact(id, ts) => format!("{id:?}{:?}", ts.iter().map(|t| self.term(t)).collect::<Vec<_>>()),
            Guard::Holds(t) => format!("{:?}", self.term(t)),
            Guard::Is(t, ty) => format!("{:?} is {:?}", self.term(t), self.ty(ty)),
            Guard::Compare { equal, left, right } => format!("{equal} {:?} {:?}", self.term(left), self.term(right)),
            Guard::Class { same, left, right } => format!("class {same} {:?} {:?}", self.term(left), self.term(right)),
            Guard::Not(inner) => format!("not {}", self.guard(inner)),
            Guard::Or(a, b) => format!("or {} {}", self.guard(a), self.guard(b)),
        }
    }
}
