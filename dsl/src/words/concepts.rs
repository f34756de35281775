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
        "An instruction that is executed at a place of the skeleton: a write, a check, a call, or one that no pack declares.",
        "",
    ),
    word(
        "state",
        CONCEPT,
        "The contents of memory at a point, as a value. A load is a function of its address and a state; a store is a function that returns a state. Rules speak of it with `after`.",
        "rule forward(p: i64, x: i32): load(p) after store(x, p) => x",
    ),
    word(
        "region",
        CONCEPT,
        "A part of memory that functions read, write or allocate in: `memory` and `heap` without a declaration, one of your own by `effect cache`. Calls that touch different regions keep no order among them.",
        "effect cache\nfn lookup(k: i64) -> i64  effects reads(cache)  cost 30",
    ),
    word(
        "reads",
        CONCEPT,
        "An effect: what the function gives depends on a region, `effects reads(memory)`. Two calls are one value where nothing is written between.",
        "fn length(l: List) -> i64  effects reads(memory)  cost 40",
    ),
    word(
        "writes",
        CONCEPT,
        "An effect: the function changes a region, `effects writes(memory)`. A function that frees memory writes it, too.",
        "fn set(l: List, x: i64) -> ()  effects writes(memory)  cost 40",
    ),
    word(
        "allocates",
        CONCEPT,
        "An effect: the function makes something new in a region, `effects allocates(heap)`. Two calls are two values; a call whose value is unused may go only by an unsafe rule.",
        "fn create() -> List  effects allocates(heap)  cost 90",
    ),
    word(
        "io",
        CONCEPT,
        "An effect: the world outside sees the call, `effects io`. Its calls stay, in their order.",
        "fn log(x: i64) -> ()  effects io  cost 90",
    ),
    word(
        "traps",
        CONCEPT,
        "An effect: the function may stop the program, `effects traps`, or `traps when y == 0 as int_divz` where it is known when.",
        "fn half(x: i64) -> i64  effects traps  cost 9",
    ),
    word(
        "diverges",
        CONCEPT,
        "An effect: the function may not return, because it loops, ends the program or jumps elsewhere: `effects diverges`. No call after it moves before it.",
        "fn wait(x: i64) -> ()  effects diverges  cost 90",
    ),
    word(
        "same",
        CONCEPT,
        "A condition: two values are known to be equal, `when same(x, y)`.",
        "rule alike(x: i64, y: i64): max(x, y) => x when same(x, y)",
    ),
    word(
        "distinct",
        CONCEPT,
        "A condition: two values are not known to be equal, `when distinct(x, y)`. They may be found equal later, and may still be equal.",
        "rule apart(x: i64, y: i64): pair(x, y) => pair(y, x) when distinct(x, y)",
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
        "The answer to whether a rule is right, or two programs do the same: `proved` by a solver, `refuted` by an input, `tested` (runs agree, which claims nothing), or `unknown`, with the reason.",
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
