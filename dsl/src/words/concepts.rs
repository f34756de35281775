//! Words of the field that the documentation and the messages use.

use super::{Word, word};

const CONCEPT: &str = "concept";

pub(super) const CONCEPTS: &[Word] = &[
    word(
        "e-graph",
        CONCEPT,
        "A set of classes of equal expressions. Rules only add equalities to it; extraction chooses the cheapest program afterwards, so the order of rules does not decide what is found.",
        "",
    ),
    word(
        "e-class",
        CONCEPT,
        "All expressions of an e-graph that are known to be equal. A node of a class is one way to compute its value.",
        "",
    ),
    word(
        "extraction",
        CONCEPT,
        "The choice of one way to compute each value that a program needs, so that the sum of costs is smallest; shared values count once. An integer program does it where simpler means do not decide (`--extract`, `--effort`).",
        "",
    ),
    word(
        "saturation",
        CONCEPT,
        "Applying rules until nothing changes or a budget ends it. `opt --stats` says which.",
        "",
    ),
    word(
        "skeleton",
        CONCEPT,
        "Blocks, statements and edges of a function, without its values. Values are in the e-graph; what has effects keeps its place in the skeleton.",
        "",
    ),
    word(
        "statement",
        CONCEPT,
        "What is executed at a place of the skeleton: a write, a check, a call, an instruction that no pack declares.",
        "",
    ),
    word(
        "state",
        CONCEPT,
        "The contents of memory at a point, as a value. A load is a function of its address and a state; a store is a function that returns a state. Rules speak of it with `after`.",
        "rule forward(p: i64, x: i32): load(p) after store(x, p) => x",
    ),
    word(
        "check",
        CONCEPT,
        "A statement that traps unless its condition holds. A trapping operation is a value and a check.",
        "",
    ),
    word(
        "law",
        CONCEPT,
        "An equality that the declaration of a function states: `commutative`, `associative`, `idempotent`, `identity`.",
        "",
    ),
    word(
        "family",
        CONCEPT,
        "A set of types over which a rule is written once: `type Integer = Int | Wide`, then `{T <: Integer}`.",
        "type Integer = Int | Wide",
    ),
    word(
        "opaque",
        CONCEPT,
        "Of an instruction that no pack declares: it is kept as it came, and no rule speaks of it.",
        "",
    ),
    word(
        "verdict",
        CONCEPT,
        "What is known of a rule or of two programs: `proved` by a solver, `refuted` by an input, `tested` (runs agree, which claims nothing), or `unknown`, with the reason.",
        "",
    ),
    word(
        "profile",
        CONCEPT,
        "A table of costs for a purpose (`--profile size`); a pack's `override` and a configuration take precedence.",
        "",
    ),
    word(
        "poison",
        CONCEPT,
        "LLVM's result of an operation whose flags do not hold. Rewright's functions have none: flags are dropped on import, and export puts back those that still hold.",
        "",
    ),
];
