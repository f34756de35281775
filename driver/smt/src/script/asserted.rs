//! A claim as the text of a question: what it depends on, and nothing else.

use super::{Node, Script};
use crate::expr::{Expr, Sort};
use std::fmt::Write;

/// The theory of bit vectors, with functions of which nothing is known.
const BITS: &str = "(set-logic QF_UFBV)\n";

/// A question in the solver's language.
pub struct Asserted {
    /// The logic if it is that of bit vectors, declarations and one assertion.
    pub text: String,
    /// The variables that it declares, by name: those that the claim depends on.
    pub declared: Vec<String>,
}

impl Script {
    /// The script that is satisfiable iff `claim` can hold: declarations and one assertion, in which every term that
    /// the claim needs is named once, by depth. Terms that the claim does not depend on do not occur in it.
    pub fn asserting(&self, claim: Expr) -> Asserted {
        self.asserted(&[], claim).0
    }

    /// The same for a claim that is to hold whatever some variables are. `None` where what is known of another variable
    /// depends on these: that one would have to be chosen after them.
    pub fn asserting_for_all(&self, bound: &[Expr], claim: Expr) -> Option<Asserted> {
        let (asserted, known) = self.asserted(bound, claim);
        let mut depends = vec![false; self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            depends[id] =
                bound.iter().any(|b| b.id as usize == id) || node.children.iter().any(|c| depends[*c as usize]);
        }
        known.iter().all(|id| !depends[*id as usize]).then_some(asserted)
    }

    /// The script, and what it says is known of variables.
    fn asserted(&self, bound: &[Expr], claim: Expr) -> (Asserted, Vec<u32>) {
        let mut needed = vec![false; self.nodes.len()];
        let mut conjuncts = vec![claim.id];
        let mut todo = vec![claim.id];
        let mut linked = vec![false; self.lows.len()];
        loop {
            while let Some(id) = todo.pop() {
                if std::mem::replace(&mut needed[id as usize], true) {
                    continue;
                }
                let node = &self.nodes[id as usize];
                todo.extend(&node.children);
                if let Some(equation) = node.equation {
                    conjuncts.push(equation);
                    todo.push(equation);
                }
            }
            // Low bits are bits of something as soon as something else depends on that.
            for (i, low) in self.lows.iter().enumerate() {
                let used = |e: Expr| needed[e.id as usize];
                let others = self.lows.iter().any(|l| l.of == low.of && l.bits != low.bits && used(l.bits));
                if !linked[i] && used(low.bits) && (used(low.of) || others) {
                    linked[i] = true;
                    conjuncts.push(low.equation);
                    todo.push(low.equation);
                }
            }
            if todo.is_empty() {
                break;
            }
        }
        let mut levels: Vec<Vec<String>> = vec![];
        for (node, needed) in self.nodes.iter().zip(&needed) {
            if let (true, Some(definition)) = (needed, &node.definition) {
                if levels.len() < node.depth {
                    levels.resize_with(node.depth, Vec::new);
                }
                levels[node.depth - 1].push(format!("({} {definition})", node.name));
            }
        }
        levels.retain(|level| !level.is_empty());
        let is_of_bits = |node: &Node| node.sort.is_of_bits() || node.sort == Sort::Memory;
        let of_bits =
            self.only_bits && self.nodes.iter().zip(&needed).all(|(node, needed)| !needed || is_of_bits(node));
        let logic = if self.says_logic && of_bits && bound.is_empty() { BITS } else { "" };
        let mut text = format!("{logic}{}", self.declarations);
        let mut declared = vec![];
        for (node, _) in self.nodes.iter().zip(&needed).filter(|(_, needed)| **needed) {
            let is_bound = bound.iter().any(|b| self.name(*b) == node.name);
            if let Some(declaration) = node.declaration.as_ref().filter(|_| !is_bound) {
                text += declaration;
                declared.push(node.name.clone());
            }
        }
        text += "(assert";
        let bound: Vec<Expr> = bound.iter().copied().filter(|b| needed[b.id as usize]).collect();
        if !bound.is_empty() {
            let sorts = bound.iter().map(|b| format!("({} {})", self.name(*b), self.sort_text(b.sort)));
            let _ = write!(text, " (forall ({})", sorts.collect::<Vec<_>>().join(" "));
        }
        for level in &levels {
            let _ = write!(text, " (let ({})", level.join(" "));
        }
        let names: Vec<&str> = conjuncts.iter().map(|id| self.nodes[*id as usize].name.as_str()).collect();
        let _ = write!(text, " (and true {})", names.join(" "));
        text.push_str(&")".repeat(levels.len() + usize::from(!bound.is_empty())));
        text.push_str(")\n");
        (Asserted { text, declared }, conjuncts.split_off(1))
    }
}
