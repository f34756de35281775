//! Names of values and blocks. `v12` and `b3` are their own numbers; any other name gets the next number above all
//! that the function writes.

use super::Token;
use crate::ir::text::is_numbered;
use crate::ir::{BlockId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers by name, and where each name stands first.
type Known = BTreeMap<String, (u32, usize)>;

/// Names of one function.
pub(super) struct Names {
    values: Known,
    blocks: Known,
    next_value: u32,
    next_block: u32,
}

/// Names of all functions, without their `%`.
pub(super) fn functions(tokens: &[(usize, Token)]) -> BTreeSet<String> {
    let pairs = tokens.windows(2).filter_map(|pair| match (&pair[0].1, &pair[1].1) {
        (Token::Word(func), Token::Word(name) | Token::Quoted(name)) if func == "func" => Some(name),
        _ => None,
    });
    pairs.map(|name| bare(name).to_string()).collect()
}

/// A function's name as calls write it.
pub(super) fn bare(name: &str) -> &str {
    name.strip_prefix('%').unwrap_or(name)
}

impl Names {
    /// For the function whose name these tokens begin with.
    pub(super) fn of(tokens: &[(usize, Token)]) -> Names {
        let own = tokens.iter().take_while(|(_, t)| !matches!(t, Token::Word(w) if w == "func"));
        let (mut next_value, mut next_block) = (0, 0);
        for (_, token) in own {
            let Token::Word(word) = token else { continue };
            for (prefix, next) in [('v', &mut next_value), ('b', &mut next_block)] {
                if is_numbered(word, prefix) {
                    // Numbers that are too large are reported where they stand.
                    *next = word[1..].parse::<u32>().map_or(*next, |n| n.saturating_add(1).max(*next));
                }
            }
        }
        Names { values: Known::new(), blocks: Known::new(), next_value, next_block }
    }

    /// The number of a value; `None` where it is too large.
    pub(super) fn value(&mut self, name: &str, at: usize) -> Option<u32> {
        number(name, at, 'v', &mut self.values, &mut self.next_value)
    }

    /// The number of a block; `None` where it is too large.
    pub(super) fn block(&mut self, name: &str, at: usize) -> Option<u32> {
        number(name, at, 'b', &mut self.blocks, &mut self.next_block)
    }

    /// A block that has no name.
    pub(super) fn fresh_block(&mut self) -> u32 {
        self.next_block += 1;
        self.next_block - 1
    }

    /// Names that nothing defines: what they are, and where they stand first.
    pub(super) fn undefined(
        &self,
        value: impl Fn(usize) -> bool,
        block: impl Fn(usize) -> bool,
    ) -> Option<(usize, String)> {
        let values = self.values.iter().filter(|(_, (n, _))| !value(*n as usize));
        let blocks = self.blocks.iter().filter(|(_, (n, _))| !block(*n as usize));
        let values = values.map(|(name, (_, at))| (*at, format!("no value is called `{name}`")));
        values.chain(blocks.map(|(name, (_, at))| (*at, format!("no block is called `{name}`")))).min()
    }

    /// A value as written.
    pub(super) fn value_name(&self, value: Value) -> String {
        let name = self.values.iter().find(|(_, (n, _))| *n == value.0);
        name.map_or_else(|| format!("v{}", value.0), |(name, _)| name.clone())
    }

    /// A block as written.
    pub(super) fn block_name(&self, block: BlockId) -> String {
        let name = self.blocks.iter().find(|(_, (n, _))| *n == block.0);
        name.map_or_else(|| format!("b{}", block.0), |(name, _)| name.clone())
    }
}

fn number(name: &str, at: usize, prefix: char, known: &mut Known, next: &mut u32) -> Option<u32> {
    if is_numbered(name, prefix) {
        return name[1..].parse().ok();
    }
    if let Some((n, _)) = known.get(name) {
        return Some(*n);
    }
    let n = *next;
    *next = n.checked_add(1)?;
    known.insert(name.to_string(), (n, at));
    Some(n)
}
