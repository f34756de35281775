//! A C compiler around a C compiler: the front end of clang, our rules, the back end of clang.
//!
//! * [`arguments`]: what a command line asks for, and whether it is one to take apart;
//! * [`compile`]: taking it apart, or handing it over as it is.
//!
//! **Invariant**: whatever goes wrong here, the command line is handed to the compiler as it came, so a build
//! succeeds or fails as it would without us. Object files appear complete or not at all.

pub mod arguments;
pub mod compile;
