//! Which nodes stand under which: where a pattern has several levels, a rule needs rows of which one stands under the
//! other as the pattern says. Most rules of a pack fail at that. One pass over the rows says so for all of them, where
//! egglog has to prepare each and to ask it at each step.
//!
//! In a batch rows only become more, and classes larger: a pair that is there stays. So only pairs are looked for that
//! are still missing, when a step is about to need them.
//!
//! **Invariant**: a rule of which a pair is missing cannot match in the step to come: pairs are read off the classes as
//! that step sees them, and a row that is not there for matching may count, but none is left out.

use super::EngineError;
use super::batch::Batch;
use egglog::{Core, Read, Value};
use indexmap::IndexSet;
use rewright_dsl::egglog::{Atom, EgglogProgram, EgglogRule, Expr, TableKind};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

/// What a pattern wants to see in a class: a table by number, or, numbered after these, a constant.
type Kind = usize;

/// A table's column, and what is in the class that stands there.
type Pair = (usize, usize, Kind);

/// The pairs that rules need, by number.
pub(super) struct Nested {
    pairs: IndexSet<Pair, FxBuildHasher>,
    /// By rule, in order.
    rules: Vec<Vec<usize>>,
    /// Constants that patterns name.
    constants: FxHashMap<i64, Kind>,
    tables: usize,
}

impl Nested {
    pub(super) fn new(program: &EgglogProgram) -> Self {
        let tables: FxHashMap<&str, usize> =
            program.tables.iter().enumerate().map(|(i, table)| (table.name.as_str(), i)).collect();
        let mut nested = Nested {
            pairs: IndexSet::default(),
            rules: Vec::with_capacity(program.rules.len()),
            constants: FxHashMap::default(),
            tables: tables.len(),
        };
        for rule in &program.rules {
            let mut pattern =
                Pattern { program, tables: &tables, nested: &mut nested, pairs: vec![], tops: vec![], leaves: vec![] };
            let mut own: Vec<usize> =
                pattern.of(rule).into_iter().map(|pair| nested.pairs.insert_full(pair).0).collect();
            own.sort_unstable();
            own.dedup();
            nested.rules.push(own);
        }
        nested
    }

    /// Pairs without which a rule does not match, by number.
    pub(super) fn pairs(&self, rule: usize) -> &[usize] {
        &self.rules[rule]
    }
}

/// The pairs of a batch.
pub(super) struct Present<'n> {
    nested: &'n Nested,
    /// By pair: is it there?
    there: Vec<bool>,
    /// By pair: when it was looked for last.
    looked_at: Vec<Option<usize>>,
    /// What is in the classes: empty between two looks, and kept for its memory.
    kinds: FxHashMap<Value, SmallVec<[Kind; 3]>>,
}

impl<'n> Present<'n> {
    /// None yet.
    pub(super) fn new(nested: &'n Nested) -> Self {
        let (there, looked_at) = (vec![false; nested.pairs.len()], vec![None; nested.pairs.len()]);
        Present { nested, there, looked_at, kinds: FxHashMap::default() }
    }

    /// Is a pair there, by number?
    pub(super) fn has(&self, pair: usize) -> bool {
        self.there[pair]
    }

    /// Looks for pairs of patterns of which all tables have rows. Nothing has changed since `now` if that was looked at
    /// before.
    pub(super) fn look(
        &mut self,
        batch: &Batch<'_>,
        pairs: impl Iterator<Item = usize>,
        now: usize,
    ) -> Result<(), EngineError> {
        let Present { nested, there, looked_at, kinds } = self;
        // Kinds that are asked for, and columns under which they are.
        let mut asked = vec![false; nested.tables + nested.constants.len()];
        let mut columns: Vec<(usize, usize)> = Vec::new();
        for pair in pairs {
            if !there[pair] && looked_at[pair].replace(now) != Some(now) {
                let (table, column, kind) = nested.pairs[pair];
                asked[kind] = true;
                columns.push((table, column));
            }
        }
        if columns.is_empty() {
            return Ok(());
        }
        columns.sort_unstable();
        columns.dedup();
        let constants = asked[nested.tables..].contains(&true);
        let tables = &batch.program.tables;
        let read = batch.egraph.read(|rows| {
            for (number, table) in tables.iter().enumerate() {
                let constants = constants && table.kind == TableKind::Const;
                if !asked[number] && !constants {
                    continue;
                }
                rows.constructor_enodes(&table.name, |enode| {
                    let constant = constants
                        .then(|| nested.constants.get(&rows.value_to_base(enode.children[1])))
                        .flatten()
                        .filter(|kind| asked[**kind]);
                    for kind in asked[number].then_some(&number).into_iter().chain(constant) {
                        let own = kinds.entry(enode.eclass).or_default();
                        if own.last() != Some(kind) {
                            own.push(*kind);
                        }
                    }
                })?;
            }
            for columns in columns.chunk_by(|(a, _), (b, _)| a == b) {
                let table = columns[0].0;
                rows.constructor_enodes(&tables[table].name, |enode| {
                    for (_, column) in columns {
                        for kind in kinds.get(&enode.children[*column]).into_iter().flatten() {
                            if let Some(pair) = nested.pairs.get_index_of(&(table, *column, *kind)) {
                                there[pair] = true;
                            }
                        }
                    }
                })?;
            }
            Ok(())
        });
        read.map_err(|error: egglog::Error| EngineError::Run(error.to_string()))?;
        kinds.clear();
        Ok(())
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
