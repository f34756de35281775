//! Does a function in which two loops, one in the other, are the other way round do what it did? Asked of the two
//! functions, without knowing how the second one was made.
//!
//! The function is the original, but each of the two headers has the counters of the other loop, and each test is the
//! other one's. That does the same if
//!
//! 1. counters, what they begin with, what each iteration makes of them and the tests depend on the iteration of their
//!    own loop alone. Then one loop makes the same iterations in each of the other one, and both functions make the
//!    same pairs of iterations, in another order. Both loops end, whatever the function is given.
//! 2. What an iteration computes depends on the two counters and on memory alone. Of what is carried from iteration to
//!    iteration beside counters, only sums, products and the like of integers are left, in whatever order they are
//!    made ([`Reduction`]).
//! 3. Nothing traps or does anything but compute and access memory. Of two accesses, one of which writes, the bytes
//!    are in different regions or objects, or whenever they meet, one pair of iterations is not before the other one
//!    in one loop and behind it in the other: then they keep their order.
//!    Where they meet, [`super::places`] knows.

use super::accesses::accesses;
use super::checked::{Checked, require, surroundings};
use super::fusion::Tested;
use super::interchange::{Nest, Reduction};
use super::places::Places;
use crate::ir::objects::PrivateObjects;
use crate::ir::operations::Operations;
use crate::ir::trip_count::CountedLoops;
use crate::ir::{Block, BlockId, Cfg, EdgeArg, Function, InstId, Terminator, Value, normalise};
use rewright_typeprop::Universe;

/// Why two loops are not interchanged: a bug in how that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("two loops are not interchanged: {0}")]
pub struct NotInterchanged(pub(super) &'static str);

/// Checks that the variant does what the original does; both are verified.
pub(super) fn check(original: &Function, variant: &Function, universe: &Universe) -> Result<(), NotInterchanged> {
    let cfg = Cfg::new(original);
    let mut why = "no loop is the only one in another one";
    for nest in cfg.loops().filter_map(|(id, _)| Nest::new(original, &cfg, universe, id)) {
        match (Check { original, variant, universe, cfg: &cfg, nest: &nest }).all() {
            Ok(()) => return Ok(()),
            Err(other) => why = other,
        }
    }
    Err(NotInterchanged(why))
}

struct Check<'a> {
    original: &'a Function,
    variant: &'a Function,
    universe: &'a Universe,
    cfg: &'a Cfg,
    nest: &'a Nest<'a>,
}

impl Check<'_> {
    fn all(&self) -> Checked {
        self.whole()?;
        for block in &self.original.layout {
            self.block(*block)?;
        }
        self.counters()?;
        self.results()?;
        self.ends()?;
        self.memory()
    }

    /// Which blocks, values and instructions there are.
    fn whole(&self) -> Checked {
        let (o, v) = (self.original, self.variant);
        surroundings(o, v)?;
        require(v.layout == o.layout && v.values == o.values, "there are other blocks, or values")?;
        let is_as_it_was = |n: usize| {
            let [theirs, ours] = [o, v].map(|f| &f.insts[n]);
            (&ours.kind, &ours.args, &ours.results) == (&theirs.kind, &theirs.args, &theirs.results)
        };
        require(
            v.insts.len() == o.insts.len() && (0..o.insts.len()).all(is_as_it_was),
            "an instruction is another, or has other operands",
        )
    }

    fn block(&self, id: BlockId) -> Checked {
        let (theirs, ours) = (self.original.block(id), self.variant.block(id));
        let nest = self.nest;
        let [outer, inner] = [&nest.outer.of, &nest.inner.of];
        let params: Vec<Value> = if id == outer.header {
            let counters = nest.counters(inner.header).into_iter().map(|(_, param)| param);
            counters.chain(nest.reductions.iter().map(|r| r.outer.0)).collect()
        } else if id == inner.header {
            let counters = nest.counters(outer.header).into_iter().map(|(_, param)| param);
            counters.chain(nest.reductions.iter().map(|r| r.inner.0)).collect()
        } else {
            theirs.params.clone()
        };
        require(ours.params == params, "a block has other parameters")?;
        require(self.executes(id, theirs, ours), "a block executes something else")?;
        require(ours.term == self.end(id), "a block ends otherwise")?;
        let both = [outer, inner].iter().all(|l| self.original.block(l.header).must_progress);
        let may_say_so = if id == outer.header || id == inner.header { both } else { theirs.must_progress };
        require(may_say_so || !ours.must_progress, "the original does not say that a loop must make progress")
    }

    /// Are a block's effects and reads those that it had, and is all else there, or somewhere where it is known?
    fn executes(&self, id: BlockId, theirs: &Block, ours: &Block) -> bool {
        let is_silent = |id: &&InstId| self.original.inst(**id).is_silent(self.universe);
        let visible = |block: &Block| block.insts.iter().filter(|id| !is_silent(id)).copied().collect::<Vec<_>>();
        if id == self.nest.outer.of.before {
            return ours.insts.starts_with(&theirs.insts)
                && ours.insts[theirs.insts.len()..].iter().all(|id| is_silent(&id));
        }
        match self.cfg.loop_contains(self.nest.outer.of.id, id) {
            true => visible(theirs) == visible(ours),
            false => theirs.insts == ours.insts,
        }
    }

    fn end(&self, id: BlockId) -> Terminator {
        let nest = self.nest;
        if id == nest.outer.test {
            return nest.test(&nest.outer, &nest.inner);
        }
        if id == nest.inner.test {
            return nest.test(&nest.inner, &nest.outer);
        }
        let term = self.original.block(id).term.clone();
        match (nest.jumps().into_iter().find(|[from, ..]| *from == id), term) {
            (Some([from, like, _]), Terminator::Jump(mut edge)) => {
                edge.args = nest.arguments(from, like);
                Terminator::Jump(edge)
            }
            (_, term) => term,
        }
    }

    /// Condition 1.
    fn counters(&self) -> Checked {
        let nest = self.nest;
        for l in [&nest.outer, &nest.inner] {
            let is_own = |value| match l.of.id == nest.outer.of.id {
                true => nest.of(value).is_of_outer(),
                false => nest.of(value).is_of_inner(),
            };
            let Terminator::Branch { cond, .. } = self.original.block(l.test).term else {
                return Err("a loop does not test");
            };
            require(is_own(cond), "how often a loop iterates depends on more than its iterations")?;
            let [first, next] = [l.of.before, l.of.latch].map(|from| match &self.original.block(from).term {
                Terminator::Jump(edge) => &edge.args[..],
                _ => &[],
            });
            let is = |args: &[EdgeArg], n: usize, of: &dyn Fn(Value) -> bool| matches!(args.get(n), Some(EdgeArg::Value(value)) if of(*value));
            let counts =
                |(n, _): &(usize, Value)| is(first, *n, &|value| nest.of(value).is_steady()) && is(next, *n, &is_own);
            require(
                nest.counters(l.of.header).iter().all(counts),
                "what a loop carries depends on more than its iterations",
            )?;
        }
        Ok(())
    }

    /// Condition 2, as far as it is not that of a [`Nest`].
    fn results(&self) -> Checked {
        let nest = self.nest;
        let left = |r: &Reduction| match nest.tested {
            Tested::First => r.outer.0,
            Tested::Last => r.left,
        };
        let is_left = |arg: &EdgeArg| match arg {
            EdgeArg::Value(value) => nest.of(*value).is_steady() || nest.reductions.iter().any(|r| left(r) == *value),
            EdgeArg::Terminator(_) => false,
        };
        require(
            nest.outer.leaves.args.iter().all(is_left),
            "what the last iteration computes is used behind the loops",
        )?;
        require(normalise::is_loop_closed(self.original, self.cfg), "a loop's value is used behind it")
    }

    fn ends(&self) -> Checked {
        let counted = CountedLoops::new(self.original, self.cfg, self.universe);
        let inside = |header| self.cfg.loop_contains(self.nest.outer.of.id, header);
        let ends = self.cfg.loops().filter(|(_, l)| inside(l.header)).all(|(id, l)| counted.ends(id, l));
        require(ends, "a loop is not known to end")
    }

    /// Condition 3.
    fn memory(&self) -> Checked {
        let operations = Operations::new(self.original, self.universe);
        let objects = PrivateObjects::new(self.original, self.cfg, self.universe);
        let places = Places::new(self.nest, self.universe, self.cfg, &operations);
        let accesses = accesses(&places.iterations, &objects)?;
        let pairs =
            accesses.iter().enumerate().flat_map(|(n, one)| accesses[n..].iter().map(move |other| (one, other)));
        require(
            pairs.into_iter().all(|(one, other)| one.is_apart_from(other) || places.keep_order(one, other)),
            "an access may meet one of another iteration, which would come first",
        )
    }
}

#[cfg(test)]
mod tests;
