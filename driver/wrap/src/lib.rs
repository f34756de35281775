//! A C compiler around a C compiler: the front end of clang, our rules, the back end of clang.
//!
//! * [`arguments`]: what a command line asks for, and whether it is one to take apart;
//! * [`options`], [`inputs`], [`response`]: what is known of such command lines;
//! * [`compile`]: taking it apart, or handing it over as it is;
//! * [`declared`]: declarations that no call is of;
//! * [`dependency_file`]: what an object depends on, for the build;
//! * [`entry`]: what the cache holds of a file;
//! * [`rules`]: the packs, and what they are known by;
//! * [`script`]: the compiler that a build finds in `CC`;
//! * [`rewrite_file`]: rules on a file; [`server`]: the same for all files of a build;
//! * [`fork_server`]: the compiler and `opt`, started once for a build;
//! * [`former`]: the rules of the last build in a folder;
//! * [`guard`]: a build that ends with its wrapper, and [`signals`]: what is passed on to it;
//! * [`rewright_files::scratch`]: folders for what a command needs while it runs;
//! * [`statistics`]: what became of a file, for sums over a build; of its functions, `rewright_report` tells.
//!
//! **Invariant**: whatever goes wrong here, the command line is handed to the compiler as it came, so a build
//! succeeds or fails as it would without us; only packs that are missing or have mistakes are errors. A file that is
//! compiled without rules is reported. Object files and dependency files appear complete or not at all.

pub mod arguments;
pub mod compile;
pub mod declared;
mod dependency_file;
mod entry;
pub mod fork_server;
pub mod former;
pub mod guard;
mod inputs;
mod options;
mod response;
pub mod rewrite_file;
pub mod rules;
pub mod script;
pub mod server;
pub mod signals;
pub mod statistics;
