//! Items of a pack, and the words before them.

use super::{Word, word};

const ITEM: &str = "item";
const MODIFIER: &str = "before an item";

pub(super) const ITEMS: &[Word] = &[
    word(
        "pack",
        "first line of a file",
        "Names the pack. Other packs import it by this name; a file that ships has its path as its name.",
        "pack acme.linear",
    ),
    word(
        "import",
        ITEM,
        "Makes the declarations of another pack visible: all of them, or those in parentheses; `as` gives the pack a shorter name here. Operators and literals need `import std.core` too.",
        "import std.core\nimport std.memory as memory\nimport std.arith (identities)",
    ),
    word(
        "type",
        ITEM,
        "Declares a type, its parameters and its supertype, or a family of types (`type Integer = Int | Wide`) over which rules are written once.",
        "type Matrix{T}\ntype Symmetric{T} <: Matrix{T}",
    ),
    word(
        "effect",
        ITEM,
        "Declares an effect of its own, for functions that the effects of `std.core` do not describe.",
        "effect logs",
    ),
    word(
        "fact",
        ITEM,
        "Declares a property that a value may have. Inferences publish it, rules ask for it after `when`; `spec` says what it means.",
        "fact not_zero(x: i32)  spec icmp_ne(x, 0)",
    ),
    word(
        "fn",
        ITEM,
        "Declares an operation: parameters, result (`()` where it gives nothing), effects, laws, cost, and what other languages call it. Operations are not built in: those of Cranelift are declared in `std.core`.",
        "fn norm(x: Vector) -> f64  pure  cost 40",
    ),
    word(
        "override",
        ITEM,
        "Gives a function of another pack another cost, in programs that use this pack.",
        "override imul cost 5",
    ),
    word(
        "rule",
        ITEM,
        "States that two expressions are equal, and in which direction the compiler may go: `=>` or `<=>`. The right side joins the class of the left side; extraction chooses later.",
        "rule add_zero{T <: Int}(x: T): iadd(x, 0) => x",
    ),
    word(
        "infer",
        ITEM,
        "States that an expression has a property (a fact), or a more specific type.",
        "infer gram(A: Matrix): symmetric(mul(A, adj(A)))",
    ),
    word(
        "ruleset",
        ITEM,
        "Groups rules, so that a schedule can run them together. A ruleset that no schedule names does nothing.",
        "ruleset identities {\n  rule add_zero(x: i32): iadd(x, 0) => x\n}",
    ),
    word(
        "schedule",
        ITEM,
        "Says in which order rulesets run, how often, and at which point of the pipeline (`at before_inlining`, `at after_inlining`).",
        "schedule default { repeat 3 { saturate identities } }",
    ),
    word(
        "example",
        ITEM,
        "An expression and what becomes of it: documentation that `rewright check` runs. `fires` names the rules that must take part.",
        "example \"zero goes\" (x: i32) fires identities.add_zero: iadd(x, 0) becomes x",
    ),
    word(
        "unsafe",
        MODIFIER,
        "Marks a rule that may remove effects. It says which (`removes`), and why the difference cannot be observed (`because`).",
        "unsafe rule drop(x: Array): copy(x) => x\n  removes allocates(heap)\n  because \"no other code sees the copy\"",
    ),
    word(
        "dynamic",
        MODIFIER,
        "Marks a rule whose right side is computed while matching, by `eval`. If evaluation yields no value, the rule does not match.",
        "dynamic rule fold(const x: i32, const y: i32): iadd(x, y) => eval(iadd(x, y))",
    ),
    word(
        "host",
        MODIFIER,
        "Marks a function that the embedding program registers in Rust.",
        "host fn half(x: f64) -> f64  pure  cost 90",
    ),
    word(
        "todo",
        MODIFIER,
        "Marks an example that does not hold yet. `check` counts it, and reports it once it holds.",
        "todo example \"later\" (x: i32): isub(x, x) becomes 0",
    ),
];
