//! Which nodes stand under which: where a pattern has several levels, a rule needs rows of which one stands under the
//! other as the pattern says. Most rules of a pack fail at that. One pass over the rows says so for all of them, where
//! egglog has to prepare each and to ask it at each step.
//!
//! **Invariant**: a rule of which a pair is missing cannot match in the step to come: pairs are read off the classes as
//! that step sees them, and a row that is not there for matching may count, but none is left out.

use super::EngineError;
use super::batch::Batch;
use egglog::Value;
use rewright_dsl::egglog::{Atom, EgglogProgram, EgglogRule, Expr, TableKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What a pattern wants to see in a class: a table by number, or, numbered after these, a constant.
type Kind = usize;

/// A table's column, and what is in the class that stands there.
type Pair = (usize, usize, Kind);

/// The pairs that rules need, by number.
pub(super) struct Nested {
    pairs: FxHashMap<Pair, usize>,
    /// By rule, in order.
    rules: Vec<Vec<usize>>,
    /// Constants that patterns name.
    constants: FxHashMap<i64, Kind>,
    /// By table: columns of pairs, in order.
    columns: Vec<Vec<usize>>,
    /// By table: does it stand under another one in a pair?
    below: Vec<bool>,
}

impl Nested {
    pub(super) fn new(program: &EgglogProgram) -> Self {
        let tables: FxHashMap<&str, usize> =
            program.tables.iter().enumerate().map(|(i, table)| (table.name.as_str(), i)).collect();
        let mut nested = Nested {
            pairs: FxHashMap::default(),
            rules: Vec::with_capacity(program.rules.len()),
            constants: FxHashMap::default(),
            columns: vec![Vec::new(); tables.len()],
            below: vec![false; tables.len()],
        };
        for rule in &program.rules {
            let mut pattern =
                Pattern { program, tables: &tables, nested: &mut nested, pairs: vec![], tops: vec![], leaves: vec![] };
            let mut own: Vec<usize> = pattern.of(rule).into_iter().map(|pair| nested.number(pair)).collect();
            own.sort_unstable();
            own.dedup();
            nested.rules.push(own);
        }
        for columns in &mut nested.columns {
            columns.sort_unstable();
            columns.dedup();
        }
        nested
    }

    fn number(&mut self, pair: Pair) -> usize {
        let (table, column, kind) = pair;
        self.columns[table].push(column);
        // A constant is a row of the constants' table, which the pattern marks by itself.
        if let Some(below) = self.below.get_mut(kind) {
            *below = true;
        }
        let next = self.pairs.len();
        *self.pairs.entry(pair).or_insert(next)
    }

    /// Pairs without which a rule does not match, by number.
    pub(super) fn pairs(&self, rule: usize) -> &[usize] {
        &self.rules[rule]
    }

    /// By pair: is it there? `sizes` are the tables' rows.
    pub(super) fn present(&self, batch: &Batch<'_>, sizes: &[usize]) -> Result<Vec<bool>, EngineError> {
        let tables = || batch.program.tables.iter().enumerate().filter(|(number, _)| sizes[*number] > 0);
        let mut kinds: FxHashMap<Value, SmallVec<[Kind; 3]>> = FxHashMap::default();
        for (number, table) in tables() {
            let names_constants = table.kind == TableKind::Const && !self.constants.is_empty();
            if !self.below[number] && !names_constants {
                continue;
            }
            let read = batch.egraph.constructor_enodes(&table.name, |enode| {
                let own = kinds.entry(enode.eclass).or_default();
                if own.last() != Some(&number) {
                    own.push(number);
                }
                if names_constants
                    && let Some(kind) = self.constants.get(&batch.egraph.value_to_base(enode.children[1]))
                {
                    own.push(*kind);
                }
            });
            read.map_err(|error| EngineError::Run(error.to_string()))?;
        }
        let mut present = vec![false; self.pairs.len()];
        for (number, table) in tables().filter(|(number, _)| !self.columns[*number].is_empty()) {
            let read = batch.egraph.constructor_enodes(&table.name, |enode| {
                for column in &self.columns[number] {
                    for kind in kinds.get(&enode.children[*column]).into_iter().flatten() {
                        if let Some(pair) = self.pairs.get(&(number, *column, *kind)) {
                            present[*pair] = true;
                        }
                    }
                }
            });
            read.map_err(|error| EngineError::Run(error.to_string()))?;
        }
        Ok(present)
    }
}

/// A rule's body, as it is read.
struct Pattern<'p> {
    program: &'p EgglogProgram,
    tables: &'p FxHashMap<&'p str, usize>,
    nested: &'p mut Nested,
    pairs: Vec<Pair>,
    /// What stands in a variable's class.
    tops: Vec<(&'p str, Kind)>,
    /// Where a variable stands.
    leaves: Vec<(&'p str, usize, usize)>,
}

impl<'p> Pattern<'p> {
    fn of(&mut self, rule: &'p EgglogRule) -> Vec<Pair> {
        for atom in &rule.body {
            match atom {
                Atom::Equal(Expr::Var(class), call) | Atom::Equal(call, Expr::Var(class)) => {
                    if let Some(kind) = self.read(call) {
                        self.tops.push((class, kind));
                    }
                }
                Atom::Equal(a, b) => {
                    self.read(a);
                    self.read(b);
                }
                Atom::Holds(a) => {
                    self.read(a);
                }
            }
        }
        let joined = self.leaves.iter().flat_map(|(leaf, table, column)| {
            let tops = self.tops.iter().filter(move |(top, _)| top == leaf);
            tops.map(|(_, kind)| (*table, *column, *kind))
        });
        self.pairs.iter().copied().chain(joined).collect()
    }

    /// Notes what stands under what in an expression; gives what it is itself.
    fn read(&mut self, expr: &'p Expr) -> Option<Kind> {
        let Expr::Call(name, args) = expr else { return None };
        let table = self.tables.get(name.as_str()).copied();
        for (column, arg) in args.iter().enumerate() {
            let kind = self.read(arg);
            match (table, kind, arg) {
                (Some(table), Some(kind), _) => self.pairs.push((table, column, kind)),
                (Some(table), None, Expr::Var(name)) => self.leaves.push((name, table, column)),
                _ => {}
            }
        }
        let table = table?;
        let (next, constants) = (self.tables.len() + self.nested.constants.len(), &mut self.nested.constants);
        match (self.program.tables[table].kind, args.get(1)) {
            (TableKind::Const, Some(Expr::Int(n))) => Some(*constants.entry(*n).or_insert(next)),
            _ => Some(table),
        }
    }
}
