//! Which rules can do anything in an e-graph: a rule needs a row in every table of its body. Rules over floats
//! or memory cost a tenth of a millisecond each to prepare, and a few microseconds a step, even where there are none,
//! and a pack has thousands. So a step prepares and runs those that can match.
//!
//! **Invariant**: what is left out could not have matched, so results do not depend on this.

use super::batch::Batch;
use super::pattern_pairs::Nested;
use egglog::EGraph;
use rewright_dsl::egglog::{Action, Atom, EgglogProgram, Expr, GENERATION};
use rustc_hash::FxHashMap;

/// Tables and relations that each rule reads and fills, by number: tables first, then relations.
pub(super) struct Possible {
    rules: Vec<(Vec<usize>, Vec<usize>)>,
    /// By symbol: the rules that read it.
    readers: Vec<Vec<usize>>,
    /// Which rows a rule needs under which.
    pub(super) nested: Nested,
    /// Rules of one ruleset that need the same rows are one group: all of them can match, or none.
    pub(super) groups: Vec<Vec<usize>>,
    /// By symbol.
    names: Vec<String>,
    /// The relation that says of which types a class is. Insertion fills it whatever the input, even if no rule reads
    /// it.
    isa: Option<usize>,
}

/// What can happen in an e-graph.
pub(super) struct Matching {
    /// By rule: can it match, now or later?
    pub(super) rules: Vec<bool>,
    /// Does one of them ask of which types a class is?
    pub(super) asks_types: bool,
    /// Symbols that have rows, or get some if rules match.
    pub(super) filled: Vec<usize>,
}

impl Possible {
    pub(super) fn new(program: &EgglogProgram) -> Self {
        let tables = program.tables.iter().map(|table| table.name.as_str());
        let relations = program.relations().map(|relation| relation.name.as_str());
        let marks = program.generations.map(|_| GENERATION);
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
        Possible { rules, readers, nested, groups, names, isa }
    }

    /// Symbols that these rules read.
    pub(super) fn symbols(&self, can_match: &[bool]) -> Vec<usize> {
        let mut read = vec![false; self.names.len()];
        for ((reads, _), _) in self.rules.iter().zip(can_match).filter(|(_, can_match)| **can_match) {
            reads.iter().for_each(|symbol| read[*symbol] = true);
        }
        (0..read.len()).filter(|symbol| read[*symbol]).collect()
    }

    /// By symbol: its rows, of those that are asked for.
    pub(super) fn sizes(&self, batch: &Batch<'_>, symbols: &[usize]) -> Vec<usize> {
        let mut sizes = vec![0; self.names.len()];
        symbols.iter().for_each(|symbol| sizes[*symbol] = batch.egraph.get_size(&self.names[*symbol]));
        sizes
    }

    /// Symbols without whose rows a rule does not match.
    pub(super) fn reads(&self, rule: usize) -> &[usize] {
        &self.rules[rule].0
    }

    /// The number of a table or relation.
    pub(super) fn symbol(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    /// What can happen if these tables and relations have rows now, or get some from elsewhere. Rules that say of which types classes are say it to those that
    /// ask: six rows for each node, in a pack that has rules about further members of a family, of which there is
    /// nothing in most functions. Where none of those can match, nothing is said.
    pub(super) fn matching(&self, symbols: impl Iterator<Item = usize>) -> Matching {
        let (mut rules, filled) = self.reached(symbols.chain(self.isa));
        let Some(isa) = self.isa else { return Matching { rules, asks_types: false, filled } };
        let says_types = |fills: &[usize]| fills == [isa];
        let asks = |((reads, fills), can_match): (&(Vec<usize>, Vec<usize>), &bool)| {
            *can_match && reads.contains(&isa) && !says_types(fills)
        };
        let asks_types = self.rules.iter().zip(&rules).any(asks);
        for (can_match, (_, fills)) in rules.iter_mut().zip(&self.rules) {
            *can_match &= asks_types || !says_types(fills);
        }
        Matching { rules, asks_types, filled }
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

/// By ruleset: can some rule of it match?
pub(super) fn rulesets(program: &EgglogProgram, rules: &[bool]) -> Vec<bool> {
    let mut rulesets = vec![false; program.rulesets.len()];
    for (rule, possible) in program.rules.iter().zip(rules) {
        rulesets[rule.ruleset] |= possible;
    }
    rulesets
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
