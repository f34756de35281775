//! Which stores a load does not see, beside those of other regions: what types of accesses, or scopes, promise.
//!
//! The promise is about executions of a load, not about places in memory: where such a load is executed, none of the bytes
//! that it reads were written last by such a store. It says nothing of stores behind the load, because memory may change its
//! type by a store.
//!
//! Instructions that nothing is said of alias all others. Code that makes new instructions, or another function, says
//! nothing of them, so an instruction that is executed elsewhere, or for several others, promises nothing.

use super::InstId;
use std::collections::BTreeMap;

/// Accesses with the same aliases, of one function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AliasClass(pub u32);

/// Of which executions of a store it holds that a load does not see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Unseen {
    /// Of the last one before the load.
    Last,
    /// Of all.
    All,
}

/// What is known of the accesses of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Aliases {
    /// Of most functions nothing is.
    known: Option<Box<Known>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Known {
    classes: BTreeMap<InstId, AliasClass>,
    /// By classes of a load and of a store.
    unseen: BTreeMap<(AliasClass, AliasClass), Unseen>,
}

impl Aliases {
    /// Notes the class of an access.
    pub fn set_class(&mut self, access: InstId, class: AliasClass) {
        self.known.get_or_insert_default().classes.insert(access, class);
    }

    /// Notes that loads of a class do not see stores of another one.
    pub fn set_unseen(&mut self, load: AliasClass, store: AliasClass, of: Unseen) {
        self.known.get_or_insert_default().unseen.insert((load, store), of);
    }

    /// Does each load see each store?
    pub fn is_empty(&self) -> bool {
        self.known.as_ref().is_none_or(|known| known.unseen.is_empty())
    }

    /// Does a load not see a store?
    pub fn unseen(&self, load: InstId, store: InstId) -> Option<Unseen> {
        let known = self.known.as_ref()?;
        let (load, store) = (known.classes.get(&load)?, known.classes.get(&store)?);
        known.unseen.get(&(*load, *store)).copied()
    }

    /// Is there a store that a load does not see?
    pub fn has_unseen(&self, load: InstId) -> bool {
        let class_of = |known: &Known| known.classes.get(&load).copied();
        self.known.as_ref().is_some_and(|known| {
            class_of(known).is_some_and(|class| {
                known.unseen.range((class, AliasClass(0))..=(class, AliasClass(u32::MAX))).next().is_some()
            })
        })
    }
}
