//! Sums by key, as reports have them: why something was left out, and how often.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Adds what others have counted to what is counted here.
pub fn add_up<K: Ord, N: AddAssign + Default>(sums: &mut BTreeMap<K, N>, more: impl IntoIterator<Item = (K, N)>) {
    for (key, n) in more {
        *sums.entry(key).or_default() += n;
    }
}
