//! What rules did to functions, and what packs say, for people.
//!
//! * [`remarks`]: as data: fates, costs, changed values with the rules behind them, places in the source;
//! * [`text`]: the same as lines;
//! * [`rules`]: the rules that are spoken of, with their texts and evidence;
//! * [`page`]: all of it as one page of HTML that needs nothing else;
//! * [`mod@bench`]: measurements as such a page, with [`chart`]s;
//! * [`mod@reference`]: packs as pages.
//!
//! Data goes from processes that compile to the one that writes the page, so it is plain and can be stored.
//!
//! **Invariant**: nothing here decides what is compiled, and the same data gives the same bytes.

pub mod bench;
pub mod chart;
pub mod page;
pub mod reference;
pub mod remarks;
pub mod rules;
mod shell;
mod side_by_side;
pub mod text;
