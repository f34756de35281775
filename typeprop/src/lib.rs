//! What a type is, and what an operation on types is.
//!
//! The lowest layer: it knows no syntax, no IR and no e-graph. It holds
//!
//! * [`types`]: nominal, parametric types in a subtype lattice, interned as [`Ty`];
//! * [`term`]: typed terms, the one form in which packs state meanings, guards, costs and rule sides;
//! * [`universe`]: all that packs declare, types and operations;
//! * [`ops`]: the operation table. The IR knows no opcodes; every operation is declared by a pack;
//! * [`names`]: what declarations of several packs are called;
//! * [`model`]: the closed vocabulary of scalar meanings that a declaration may name;
//! * [`overload`]: which of several operations of one name a call means;
//! * [`data`]: constants that are arrays; [`host`]: Rust functions that an embedding program registers;
//! * [`eval`]: operations applied to constants;
//! * [`stored`]: how collections are kept between runs.
//!
//! **Invariant**: nothing here iterates in hash order, and nothing here fails on user input: mistakes in
//! packs are found and reported by `dsl`, which builds these tables.

pub mod data;
pub mod eval;
pub mod host;
pub mod ids;
pub mod model;
pub mod names;
pub mod ops;
pub mod overload;
pub mod stored;
pub mod term;
pub mod types;
pub mod universe;

pub use data::{Data, DataPool};
pub use host::{Constant, HostFn, HostFns};
pub use ids::{OpId, RuleId};
pub use model::{Evaluation, Known, Model, Repr, Scalar};
pub use ops::{Effects, Op, OpTable, Part};
pub use term::Term;
pub use types::{Ty, TypeExpr, TypeParam, TypeStore};
pub use universe::Universe;
