//! One function through the house, and what decides how: packs' rules, costs, profiles, budgets.
//!
//! * [`optimiser`]: saturation, selection, elaboration, round by round; what a function became, and why;
//! * [`front`]: what every front end gives, so that commands are written once for all languages;
//! * [`costs`], [`profile`]: what a user says: prices, executions;
//! * [`examples`]: the examples of packs, which go the same way; [`why_not`]: why a rule did not match; `bisect`: which
//!   match decided;
//! * [`source`]: places in sources, and functions as text, for reports;
//! * [`signatures`]: which declared operation an instruction of a front end is.
//!
//! Not here: any input language (`rewright_clif`, `rewright_llvm`, `rewright_native::module`), and egglog
//! ([`rewright_engine`]).

pub mod bisect;
pub mod costs;
pub mod examples;
pub mod front;
mod heading;
pub mod optimiser;
pub mod profile;
pub mod signatures;
pub mod source;
pub mod stops;
pub mod sums;
pub mod why_not;
