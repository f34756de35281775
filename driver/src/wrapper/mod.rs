//! A C compiler around a C compiler: the front end of clang, our rules, the back end of clang.
//!
//! * [`arguments`]: what a command line asks for, and whether it is one to take apart;
//! * [`compile`]: taking it apart, or handing it over as it is;
//! * [`rules`]: the packs, and what they are known by;
//! * [`script`]: the compiler that a build finds in `CC`;
//! * [`apply`]: rules on a file; [`server`]: the same for all files of a build;
//! * [`fork_server`]: the compiler and `opt`, started once for a build;
//! * [`scratch`]: folders for what a command needs while it runs;
//! * [`facts`]: what became of a file, for whoever sums up.
//!
//! **Invariant**: whatever goes wrong here, the command line is handed to the compiler as it came, so a build
//! succeeds or fails as it would without us. Object files appear complete or not at all.

pub mod apply;
pub mod arguments;
pub mod compile;
pub mod ended;
pub mod facts;
pub mod fork_server;
pub mod rules;
pub mod scratch;
pub mod script;
pub mod server;
