//! Which rules can do anything in an e-graph: a rule needs a row in every table of its body. Rules over floats
//! or memory cost a tenth of a millisecond each to prepare, and a few microseconds a step, even where there are none,
//! and a pack has thousands. So a step prepares and runs those that can match.
//!
//! **Invariant**: what is left out could not have matched, so results do not depend on this.

use super::EngineError;
use super::batch::Batch;
use super::pattern_pairs::Nested;
use egglog::{EGraph, Read, Value};
use rewright_dsl::egglog::{Action, Atom, EgglogProgram, Expr, GENERATION};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Tables and relations that each rule reads and fills, by number: tables first, then relations.
pub(super) struct Possible {
    rules: Vec<(Vec<usize>, Vec<usize>)>,
    /// By rule: may it do more than to add rows, so that any table changes?
    unites: Vec<bool>,
    /// By rule.
    ruleset_of: Vec<usize>,
    /// By symbol: the rules that read it.
    readers: Vec<Vec<usize>>,
    /// Which rows a rule needs under which.
    pub(super) nested: Nested,
    /// Rules of one ruleset that need the same rows are one group: all of them can match, or none.
    pub(super) groups: Vec<Vec<usize>>,
    /// By symbol.
    names: Vec<String>,
    /// Symbols before this one are constructors and relations for egglog, the others functions.
    constructors: usize,
    /// The relation that says of which types a class is. Insertion fills it whatever the input, even if no rule reads
    /// it.
    isa: Option<usize>,
}

/// What a table holds.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Contents {
    pub(super) rows: usize,
    /// Of numbers that are mixed from each row: whatever order rows are in, another one where rows are others.
    sum: u64,
}

/// A number from the columns of a row, in which each bit depends on all of them.
fn mixed<'v>(columns: impl Iterator<Item = &'v Value>) -> u64 {
    let mut hasher = FxHasher::default();
    columns.for_each(|value| value.hash(&mut hasher));
    let mut mixed = hasher.finish();
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ (mixed >> 31)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 31)
}

/// The groups of rules that a step of a ruleset runs, laws included.
pub(super) struct Asked {
    /// Groups of rules, in order.
    pub(super) groups: Vec<usize>,
    /// Does some rule match only what its block has not made?
    pub(super) generations: bool,
}

/// By ruleset.
pub(super) fn asked(program: &EgglogProgram, possible: &Possible) -> Vec<Asked> {
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); program.rulesets.len()];
    for (group, rules) in possible.groups.iter().enumerate() {
        own[program.rules[rules[0]].ruleset].push(group);
    }
    let laws: Vec<usize> = program.laws().into_iter().flat_map(|ruleset| own[ruleset].clone()).collect();
    let with_laws = own.into_iter().zip(&program.rulesets).map(|(mut groups, ruleset)| {
        if ruleset.combined.is_some() {
            groups.extend(&laws);
            groups.sort_unstable();
        }
        let mut rules = groups.iter().flat_map(|group| &possible.groups[*group]);
        let generations = rules.any(|rule| program.rules[*rule].asks_generation());
        Asked { groups, generations }
    });
    with_laws.collect()
}

/// What can happen in an e-graph.
pub(super) struct Matching {
    /// Does one of them ask of which types a class is?
    pub(super) asks_types: bool,
    /// Symbols that have rows, or get some if rules match.
    pub(super) filled: Vec<usize>,
    /// Symbols that those rules read.
    pub(super) read: Vec<usize>,
    /// By ruleset: what a step of it may run.
    pub(super) rulesets: Vec<Steps>,
}

/// What a step of a ruleset may run.
#[derive(Default)]
pub(super) struct Steps {
    /// Can some rule of its own match?
    pub(super) can_match: bool,
    /// Groups of rules that can, in order, laws among them.
    pub(super) groups: Vec<usize>,
    /// Symbols that those read.
    pub(super) reads: Vec<usize>,
}

impl Possible {
    pub(super) fn new(program: &EgglogProgram) -> Self {
        let tables = program.tables.iter().map(|table| table.name.as_str());
        let relations = program.relations().map(|relation| relation.name.as_str());
        let marks = program.generations.map(|_| GENERATION);
        let constructors = program.tables.len() + program.relations().count();
        let names: Vec<String> = tables.chain(relations).chain(marks).map(str::to_string).collect();
        let numbers: FxHashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let rules: Vec<(Vec<usize>, Vec<usize>)> = program
            .rules
            .iter()
            .map(|rule| {
                let (mut reads, mut fills) = (Vec::new(), Vec::new());
                for atom in &rule.body {
                    match atom {
                        Atom::Equal(a, b) => {
                            collect(a, &numbers, &mut reads);
                            collect(b, &numbers, &mut reads);
                        }
                        Atom::Holds(a) => collect(a, &numbers, &mut reads),
                    }
                }
                for action in &rule.actions {
                    match action {
                        Action::Union(a, b) => {
                            collect(a, &numbers, &mut fills);
                            collect(b, &numbers, &mut fills);
                        }
                        Action::Insert(a) | Action::Set(a, _) => collect(a, &numbers, &mut fills),
                        Action::Subsume(_) => {}
                    }
                }
                (reads, fills)
            })
            .collect();
        let adds = |action: &Action| matches!(action, Action::Insert(_) | Action::Set(..));
        let unites = program.rules.iter().map(|rule| !rule.actions.iter().all(adds)).collect();
        let nested = Nested::new(program);
        let mut known: FxHashMap<(usize, Vec<usize>, &[usize]), usize> = FxHashMap::default();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (index, (rule, (reads, _))) in program.rules.iter().zip(&rules).enumerate() {
            let mut reads = reads.clone();
            reads.sort_unstable();
            let group = *known.entry((rule.ruleset, reads, nested.pairs(index))).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        let mut readers = vec![Vec::new(); names.len()];
        for (rule, (reads, _)) in rules.iter().enumerate() {
            reads.iter().for_each(|symbol| readers[*symbol].push(rule));
        }
        let isa = program.isa.as_ref().and_then(|isa| numbers.get(isa.name.as_str()).copied());
        let ruleset_of = program.rules.iter().map(|rule| rule.ruleset).collect();
        Possible { rules, unites, ruleset_of, readers, nested, groups, names, constructors, isa }
    }

    /// Symbols that these rules read.
    fn read_by(&self, can_match: &[bool]) -> Vec<usize> {
        let mut read = vec![false; self.names.len()];
        for ((reads, _), _) in self.rules.iter().zip(can_match).filter(|(_, can_match)| **can_match) {
            reads.iter().for_each(|symbol| read[*symbol] = true);
        }
        (0..read.len()).filter(|symbol| read[*symbol]).collect()
    }

    /// How many symbols there are.
    pub(super) fn symbols(&self) -> usize {
        self.names.len()
    }

    /// What the tables of these symbols hold.
    pub(super) fn contents(&self, batch: &Batch<'_>, symbols: &[usize]) -> Result<Vec<Contents>, EngineError> {
        let mut contents = Vec::with_capacity(symbols.len());
        let read = batch.egraph.read(|state| {
            for symbol in symbols {
                let name = &self.names[*symbol];
                let rows = batch.egraph.get_size(name);
                let mut sum = 0u64;
                if rows > 0 && *symbol < self.constructors {
                    state.constructor_enodes(name, |enode| {
                        sum = sum.wrapping_add(mixed(enode.children.iter().chain([&enode.eclass])));
                    })?;
                } else if rows > 0 {
                    state.function_entries(name, |entry| {
                        sum = sum.wrapping_add(mixed(entry.inputs.iter().chain([&entry.output])));
                    })?;
                }
                contents.push(Contents { rows, sum });
            }
            Ok(())
        });
        read.map_err(|error: egglog::Error| EngineError::Run(error.to_string()))?;
        Ok(contents)
    }

    /// Symbols without whose rows a rule does not match.
    pub(super) fn reads(&self, rule: usize) -> &[usize] {
        &self.rules[rule].0
    }

    /// The only symbols whose tables a match of a rule changes; `None` where it may be any.
    pub(super) fn changes(&self, rule: usize) -> Option<&[usize]> {
        (!self.unites[rule]).then_some(&self.rules[rule].1)
    }

    /// The number of a table or relation.
    pub(super) fn symbol(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    /// What can happen if these tables and relations have rows now, or get some from elsewhere. Rules that say of which types classes are say it to those that
    /// ask: six rows for each node, in a pack that has rules about further members of a family, of which there is
    /// nothing in most functions. Where none of those can match, nothing is said.
    pub(super) fn matching(&self, symbols: impl Iterator<Item = usize>, asked: &[Asked]) -> Matching {
        let (mut rules, filled) = self.reached(symbols.chain(self.isa));
        let Some(isa) = self.isa else { return self.with_rules(rules, false, filled, asked) };
        let says_types = |fills: &[usize]| fills == [isa];
        let asks = |((reads, fills), can_match): (&(Vec<usize>, Vec<usize>), &bool)| {
            *can_match && reads.contains(&isa) && !says_types(fills)
        };
        let asks_types = self.rules.iter().zip(&rules).any(asks);
        for (can_match, (_, fills)) in rules.iter_mut().zip(&self.rules) {
            *can_match &= asks_types || !says_types(fills);
        }
        self.with_rules(rules, asks_types, filled, asked)
    }

    fn with_rules(&self, can_match: Vec<bool>, asks_types: bool, filled: Vec<usize>, asked: &[Asked]) -> Matching {
        let steps = |asked: &Asked| {
            let rule = |group: &usize| self.groups[*group][0];
            let groups: Vec<usize> = asked.groups.iter().copied().filter(|group| can_match[rule(group)]).collect();
            let mut reads: Vec<usize> = groups.iter().flat_map(|group| self.reads(rule(group))).copied().collect();
            reads.sort_unstable();
            reads.dedup();
            Steps { can_match: false, groups, reads }
        };
        let mut rulesets: Vec<Steps> = asked.iter().map(steps).collect();
        for (ruleset, can_match) in self.ruleset_of.iter().zip(&can_match) {
            rulesets[*ruleset].can_match |= can_match;
        }
        Matching { read: self.read_by(&can_match), rulesets, asks_types, filled }
    }

    /// By rule: can it match if these symbols have rows, or once others that can have matched? And the symbols that
    /// have rows then, in order.
    fn reached(&self, symbols: impl Iterator<Item = usize>) -> (Vec<bool>, Vec<usize>) {
        let mut missing: Vec<usize> = self.rules.iter().map(|(reads, _)| reads.len()).collect();
        let mut rules: Vec<bool> = missing.iter().map(|missing| *missing == 0).collect();
        let mut filled = vec![false; self.names.len()];
        let unconditional = self.rules.iter().filter(|(reads, _)| reads.is_empty());
        let mut next: Vec<usize> = symbols.chain(unconditional.flat_map(|(_, fills)| fills.iter().copied())).collect();
        while let Some(symbol) = next.pop() {
            if std::mem::replace(&mut filled[symbol], true) {
                continue;
            }
            for rule in &self.readers[symbol] {
                missing[*rule] -= 1;
                if missing[*rule] == 0 {
                    rules[*rule] = true;
                    next.extend(&self.rules[*rule].1);
                }
            }
        }
        (rules, (0..filled.len()).filter(|symbol| filled[*symbol]).collect())
    }

    /// Has nothing a row?
    pub(super) fn is_empty(&self, egraph: &EGraph) -> bool {
        self.names.iter().all(|name| egraph.get_size(name) == 0)
    }

    /// The name of a symbol.
    pub(super) fn name(&self, symbol: usize) -> &str {
        &self.names[symbol]
    }
}

fn collect(expr: &Expr, numbers: &FxHashMap<&str, usize>, into: &mut Vec<usize>) {
    if let Expr::Call(name, args) = expr {
        if let Some(number) = numbers.get(name.as_str())
            && !into.contains(number)
        {
            into.push(*number);
        }
        args.iter().for_each(|arg| collect(arg, numbers, into));
    }
}
