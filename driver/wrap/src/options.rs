//! What is known of a C compiler's options: which have an argument, which ask for something else than an object.

/// Options with an argument of their own, as the next word.
pub(super) const WITH_ARGUMENT: [&str; 48] = [
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-T",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-U",
    "-Xanalyzer",
    "-Xassembler",
    "-Xlinker",
    "-Xpreprocessor",
    "-arch",
    "-cxx-isystem",
    "-dumpdir",
    "-e",
    "-framework",
    "-idirafter",
    "-iframework",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-init",
    "-install_name",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-mllvm",
    "-mthread-model",
    "-rpath",
    "-target",
    "-u",
    "-undefined",
    "-weak_framework",
    "-z",
    "--param",
];

/// Options (or starts of options) that ask for an answer, for text, or for nothing: there is no object.
pub(super) const QUESTIONS: [&str; 13] = [
    "-E",
    "-M",
    "-MM",
    "-###",
    "-fsyntax-only",
    "-print-",
    "-dumpmachine",
    "-dumpspecs",
    "-dumpversion",
    "--print-",
    "--version",
    "--help",
    "--analyze",
];

/// Options (or starts of options) that ask for something else than an optimised object.
pub(super) const NOT_OURS: [&str; 37] = [
    "-S",
    "-v",
    "-x",
    "-flto",
    "-fprofile",
    "-coverage",
    "-fcoverage",
    "-fsanitize",
    "-pg",
    "-ftest-coverage",
    "-emit-llvm",
    "-emit-ast",
    "-save-temps",
    "-m32",
    "-fembed",
    "-fcs-profile",
    // Options that go past the compiler's driver may ask for anything.
    "-Xclang",
    "-Xarch",
    // Options that write further files beside the object, or let the back end print.
    "-save-stats",
    "-gsplit-dwarf",
    "-fstack-usage",
    "-fsave-optimization-record",
    "-foptimization-record",
    "-ftime-trace",
    "-ftime-report",
    "-fproc-stat-report",
    "-MJ",
    "-Rpass",
    "-Wframe-larger-than",
    "-fplugin",
    "-fpass-plugin",
    "-fno-integrated-as",
    "-serialize-diagnostics",
    // What changes where files are.
    "-working-directory",
    // What writes the command line into the object.
    "-frecord-command-line",
    "-frecord-gcc-switches",
    "-grecord",
];

/// Starts of options with two hyphens that say nothing about what comes out. Most of the others are long names of
/// options with one (`--output=x`, `--assemble`).
pub(super) const LONG: [&str; 7] = [
    "--target=",
    "--sysroot=",
    "--std=",
    "--param",
    "--gcc-toolchain=",
    "--gcc-install-dir=",
    // Whether the compiler's name is that of C++'s, which links with its library.
    "--driver-mode=",
];

/// Variables that make a compiler write more than its command line says, or read another one.
const VARIABLES: [&str; 7] = [
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
    "CCC_OVERRIDE_OPTIONS",
    "CC_PRINT_OPTIONS",
    "CC_PRINT_HEADERS",
    "CC_LOG_DIAGNOSTICS",
    "CC_PRINT_PROC_STAT",
];

/// Is `text` the option, alone or with its value behind it?
pub(super) fn is_option(text: &str, option: &str) -> bool {
    match option {
        // One letter, with its argument or something else behind it.
        "-E" | "-S" | "-M" | "-MM" | "-pg" | "-v" | "-###" => text == option,
        _ => text.starts_with(option),
    }
}

/// The variable by which the environment asks for more than the command line does.
pub(super) fn asked_by_environment() -> Option<&'static str> {
    VARIABLES.into_iter().find(|variable| std::env::var_os(variable).is_some())
}
