//! A function that was taken apart, with what the rules made of it: what selection, its validator and elaboration read.
//!
//! The parts belong together: the skeleton was built from the function over `cfg`, and the view is that of the
//! skeleton's e-graph after saturation, possibly with its classes split by type ([`crate::egraph::demand`]).

use crate::egraph::EGraphView;
use crate::ir::Function;
use crate::ir::cfg::Cfg;
use crate::skeleton::Skeleton;
use rewright_typeprop::Universe;

/// A function, taken apart and saturated.
#[derive(Clone, Copy)]
pub struct Saturated<'a> {
    /// The function itself.
    pub function: &'a Function,
    /// Its control flow, with how often blocks run.
    pub cfg: &'a Cfg,
    /// The types and operations that it is written in.
    pub universe: &'a Universe,
    /// Its control flow and effects.
    pub skeleton: &'a Skeleton,
    /// Its values, and what rules say is equal to them.
    pub view: &'a EGraphView,
}
