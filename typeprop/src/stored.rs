//! How collections are kept between runs: as their elements in order.

use indexmap::{IndexMap, IndexSet};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hash;
use std::sync::Arc;

/// A map that keeps its order.
pub mod map {
    use super::*;

    /// Writes the pairs.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &IndexMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    /// Reads them.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'d, K, V, D>(from: D) -> Result<IndexMap<K, V>, D::Error>
    where
        K: DeserializeOwned + Hash + Eq,
        V: DeserializeOwned,
        D: Deserializer<'d>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}

/// A small list.
pub(crate) mod list {
    use super::*;
    use smallvec::{Array, SmallVec};

    pub(crate) fn serialize<A: Array<Item: Serialize>, S: Serializer>(
        list: &SmallVec<A>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(list)
    }

    pub(crate) fn deserialize<'d, A: Array<Item: DeserializeOwned>, D: Deserializer<'d>>(
        from: D,
    ) -> Result<SmallVec<A>, D::Error> {
        Ok(Vec::<A::Item>::deserialize(from)?.into())
    }
}

/// A map that clones share.
pub(crate) mod shared_map {
    use super::*;

    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &Arc<IndexMap<K, V>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        map::serialize(map, to)
    }

    pub(crate) fn deserialize<'d, K, V, D>(from: D) -> Result<Arc<IndexMap<K, V>>, D::Error>
    where
        K: DeserializeOwned + Hash + Eq,
        V: DeserializeOwned,
        D: Deserializer<'d>,
    {
        map::deserialize(from).map(Arc::new)
    }
}

/// A set that clones share.
pub(crate) mod shared_set {
    use super::*;

    pub(crate) fn serialize<T: Serialize, S: Serializer>(set: &Arc<IndexSet<T>>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(set.iter())
    }

    pub(crate) fn deserialize<'d, T, D>(from: D) -> Result<Arc<IndexSet<T>>, D::Error>
    where
        T: DeserializeOwned + Hash + Eq,
        D: Deserializer<'d>,
    {
        Ok(Arc::new(Vec::<T>::deserialize(from)?.into_iter().collect()))
    }
}
