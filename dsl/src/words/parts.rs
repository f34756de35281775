//! Clauses, statements, steps, attributes, and words in expressions.

use super::{Word, word};

const RULE: &str = "clause of a rule";
const STATEMENT: &str = "statement in the block of a rule";
const FUNCTION: &str = "clause of a function";
const SCHEDULE: &str = "step of a schedule";
const EXAMPLE: &str = "part of an example";
const EXPRESSION: &str = "in an expression";

const FIRST_COPY: &str =
    "unsafe rule drop(x: Array): copy(x) => x\n  removes allocates(heap)\n  because \"no other code sees the copy\"";
const SHARED: &str = "rule share(X: Matrix, V: Matrix, W: Matrix) {\n  match p = mul(X, V)\n  match q = mul(X, W)\n  when distinct(V, W)\n  let both = mul(X, hcat(V, W))\n  rewrite p => left(both)\n  rewrite q => right(both)\n}";
const ADD: &str =
    "fn add{T <: Int}(x: T, y: T) -> T as \"+\"  pure  commutative  associative  idempotent  identity(0)  cost 3";
const DECIDED: &str = "example \"by blocks\" (c: i8, x: i32) {\n  before { do log(x)\n    if (c) { return x } else { return iadd(x, 0) } }\n  after { do log(x)\n    return x }\n}";
const STEPS: &str = "schedule default at before_inlining { run facts limit 500 nodes\n  repeat 3 { saturate identities limit 2000 matches, 50 rounds } }";

pub(super) const CLAUSES: &[Word] = &[
    word(
        "when",
        RULE,
        "Conditions under which a rule holds: comparisons of constants and shapes, whether two values are one (`same(x, y)`, `distinct(x, y)`), facts, types (`x is T`), separated by commas. All must hold.",
        "rule norm(A: Matrix): trace(A) => total(A) when symmetric(A), rows(A) <= 64",
    ),
    word(
        "removes",
        RULE,
        "Says which effects an unsafe rule may remove. The compiler removes the statements only where nothing between them can see the difference; a rule that removes more than it says is an error.",
        FIRST_COPY,
    ),
    word("because", RULE, "Says in a sentence why an unsafe rule is right. Reports and remarks print it.", FIRST_COPY),
    word(
        "match",
        STATEMENT,
        "Names an expression that must be in the function. Several `match` statements look for several expressions that share operands.",
        SHARED,
    ),
    word("let", STATEMENT, "Names an expression that the right sides use.", SHARED),
    word("rewrite", STATEMENT, "Says what one of the matched expressions equals.", SHARED),
    word("as", FUNCTION, "Gives a function an operator symbol, or an imported pack a shorter name.", ADD),
    word(
        "pure",
        FUNCTION,
        "The function depends on its operands only and does nothing else: equal calls are one value.",
        ADD,
    ),
    word(
        "effects",
        FUNCTION,
        "Lists what a function does besides computing its result: `reads(memory)`, `writes(memory)`, `allocates(heap)`, `io`, `traps`, `diverges`. The compiler takes it that nothing else happens.",
        "fn length(l: List) -> i64  effects reads(memory)  cost 40",
    ),
    word(
        "cost",
        FUNCTION,
        "States the cost of a call, in the unit of `std.core` (an addition costs 3, that is one simple instruction). It may depend on constants and shapes.",
        ADD,
    ),
    word(
        "requires",
        FUNCTION,
        "Conditions that every call meets. A rule may introduce a call only where they hold.",
        "fn syev(A: Matrix) -> Spectrum  pure  requires symmetric(A)  cost 300",
    ),
    word(
        "spec",
        FUNCTION,
        "The meaning of a function or fact in terms of others; `verify` uses it.",
        "fn band_not{T <: Int}(x: T, y: T) -> T  pure  cost 3  spec band(x, bnot(y))",
    ),
    word("commutative", FUNCTION, "A law: operands may be exchanged.", ADD),
    word("associative", FUNCTION, "A law: `f(f(x, y), z)` equals `f(x, f(y, z))`.", ADD),
    word("idempotent", FUNCTION, "A law: `f(x, x)` equals `x`.", ADD),
    word("identity", FUNCTION, "A law: the given value is neutral, `f(x, e)` equals `x`.", ADD),
    word(
        "recurrence",
        FUNCTION,
        "A value that a loop carries: the second operand at first, then the named function of the value itself and of the third operand. A new parameter of the loop computes it.",
        "fn msum(l: Loop, first: Matrix, step: Matrix) -> Matrix  recurrence madd",
    ),
    word(
        "lazy",
        FUNCTION,
        "Reserved: a result that each of its uses pays for. `check` reports that it is not supported yet.",
        "fn view(x: Array) -> Array  pure  lazy",
    ),
    word(
        "model",
        "clause of a type",
        "Says how a machine represents the values of a type: `bv32` is 32 bits, `fp64` a float of 64. A pointer is a subtype of `ptr` instead.",
        "type Index model bv64",
    ),
    word("run", SCHEDULE, "Runs a ruleset once.", STEPS),
    word(
        "saturate",
        SCHEDULE,
        "Runs a ruleset until nothing changes or a budget ends it; `--stats` names the budget.",
        STEPS,
    ),
    word(
        "repeat",
        SCHEDULE,
        "Runs steps so many times, or until nothing changes. Without a number, only that or a budget ends it.",
        STEPS,
    ),
    word(
        "limit",
        SCHEDULE,
        "Ends a step at so many e-nodes of the function; a `saturate`, also after so many matches or rounds of its own.",
        STEPS,
    ),
    word("at", SCHEDULE, "The point of the pipeline at which a schedule runs; without it, at every point.", STEPS),
    word(
        "fires",
        EXAMPLE,
        "Names rules that must take part in what the example shows.",
        "example \"zero goes\" (x: i32) fires identities.add_zero: iadd(x, 0) becomes x",
    ),
    word(
        "using",
        EXAMPLE,
        "Names the schedule that the example runs instead of all.",
        "example \"one step\" (x: i32) using once: iadd(x, 0) becomes x",
    ),
    word(
        "becomes",
        EXAMPLE,
        "The cheapest form is this expression.",
        "example \"zero goes\" (x: i32): iadd(x, 0) becomes x",
    ),
    word(
        "equals",
        EXAMPLE,
        "Both expressions are in one class, whichever is cheaper.",
        "example \"order\" (x: i32, y: i32): iadd(x, y) equals iadd(y, x)",
    ),
    word(
        "differs",
        EXAMPLE,
        "The expressions are not in one class.",
        "example \"no order\" (x: i32, y: i32): isub(x, y) differs isub(y, x)",
    ),
    word("stays", EXAMPLE, "Nothing cheaper is found.", "example \"as it is\" (x: i32, y: i32): iadd(x, y) stays"),
    word("before", EXAMPLE, "The statements that the example starts from.", DECIDED),
    word("do", EXAMPLE, "Executes a call for its effects.", DECIDED),
    word("return", EXAMPLE, "Ends a block of an example with a value.", DECIDED),
    word("if", EXAMPLE, "Branches in the block of an example.", DECIDED),
    word("else", EXAMPLE, "The other arm of `if`.", DECIDED),
];

pub(super) const ATTRIBUTES: &[Word] = &[
    word(
        "@clif",
        "attribute of a function",
        "The name of the operation in Cranelift IR.",
        "@clif(\"band_not\")\nfn band_not{T <: Int}(x: T, y: T) -> T  pure  cost 3",
    ),
    word(
        "@llvm",
        "attribute of a function",
        "The name of the operation in LLVM IR: an instruction, or with `@` a C function.",
        "@llvm(\"@list_contains\")\nfn contains(l: List, e: i64) -> i32  effects reads(memory)  cost 1000",
    ),
    word(
        "@intrinsic",
        "attribute of a function",
        "The intrinsic of LLVM that is the same function.",
        "@intrinsic(\"llvm.sin\")\nfn sin(x: f64) -> f64  pure  cost 90",
    ),
    word(
        "@model",
        "attribute of a function",
        "The meaning of the operation, as a word that the verifier knows; `theta` is what a loop carries, `phi` what arms leave.",
        "@model(\"add\")\nfn iadd{T <: Int}(x: T, y: T) -> T  pure  cost 3",
    ),
    word(
        "@model",
        "attribute of a fact",
        "A fact about a value and a loop that the compiler itself knows: `enters` (known before the loop is entered) or `plain` (enters, or is a polynomial in the number of iterations).",
        "@model(\"enters\")\nfact enters{T}(x: T, l: Loop)",
    ),
    word(
        "@traps",
        "attribute of a function",
        "The trap code of an operation that `effects traps`, and when it traps.",
        "@traps(\"int_divz\", icmp_eq(y, 0))\nfn udiv{T <: Int}(x: T, y: T) -> T  effects traps  cost 60",
    ),
    word(
        "@link",
        "attribute of a function",
        "The library and the symbol that a call of the function calls; `\"signed\"` or `\"unsigned\"` behind them says what integers below 32 bits are in C. The library is opened only if the user allows it: see SECURITY.md.",
        "@link(\"libm.so.6\", \"hypot\")\nfn hypot(x: f64, y: f64) -> f64  pure  cost 90",
    ),
    word(
        "@unchanging",
        "attribute of a function",
        "Why a function of C that allocates reads nothing that changes, though it is given a pointer. `check` asks where nothing is said: what only allocates may move over writes, and rules look past them.",
        "@unchanging(\"no function changes a text\")\n@llvm(\"@text_copy\")\nfn copy(t: Text) -> Text  effects allocates(heap)  cost 200",
    ),
    word(
        "@body",
        "attribute of a function",
        "The function of the input that is the meaning of the operation.",
        "@body(\"square\")\nfn square(x: f64) -> f64  pure  cost 10",
    ),
    word(
        "@sample",
        "attribute of a type or rule",
        "How `verify` makes values of a type: an expression over `size` and `seed`, and calls that change such a value (`it`), which it makes sometimes; on a rule, values of its parameters to try as well.",
        "@sample(numbers(size, size, seed), set(it, seed))\ntype Matrix",
    ),
    word(
        "@observe",
        "attribute of a type",
        "Lists what can be seen of a value (`it`): `verify` compares these expressions.",
        "@observe(trace(it))\ntype Matrix",
    ),
    word(
        "@approximate",
        "attribute of a rule",
        "Marks a rule that is close and not exact: what it gives up, and by how much its sides may differ, relative to the larger one.",
        "@approximate(\"rounding\", 1e-9)\nrule reassociate(x: f64, y: f64, z: f64): fadd(fadd(x, y), z) => fadd(x, fadd(y, z))",
    ),
];

pub(super) const EXPRESSIONS: &[Word] = &[
    word(
        "const",
        "before a parameter",
        "The rule matches constants only there, and may compute with them.",
        "dynamic rule fold(const x: i32): bnot(x) => eval(bnot(x))",
    ),
    word(
        "eval",
        EXPRESSION,
        "Computes a function on constants while matching. If it yields no value, the rule does not match.",
        "dynamic rule fold(const x: i32): bnot(x) => eval(bnot(x))",
    ),
    word(
        "after",
        EXPRESSION,
        "Says on which state a load or a store works: `load(p) after store(x, p)` is a load from the memory that the store leaves. On the left of a rule it matches two accesses in this order.",
        "rule forward(p: i64, x: i32): load(p) after store(x, p) => x",
    ),
    word(
        "is",
        EXPRESSION,
        "Asks in a condition whether a value has a type.",
        "rule own(A: Matrix): trace(A) => total(A) when A is Symmetric",
    ),
    word(
        "for",
        EXPRESSION,
        "Builds a list from a list: one element per element.",
        "rule scale(s: f64, parts...: Matrix): mul(s, hcat(parts...)) => hcat(mul(s, p) for p in parts)",
    ),
    word(
        "in",
        EXPRESSION,
        "Names the list of `for`.",
        "rule scale(s: f64, parts...: Matrix): mul(s, hcat(parts...)) => hcat(mul(s, p) for p in parts)",
    ),
    word(
        "and",
        EXPRESSION,
        "Both conditions hold.",
        "rule small(const n: i64, A: Matrix): f(A, n) => g(A) when n > 0 and n < 8",
    ),
    word(
        "or",
        EXPRESSION,
        "At least one of the conditions holds.",
        "rule small(const n: i64, A: Matrix): f(A, n) => g(A) when n == 0 or n == 8",
    ),
    word(
        "not",
        EXPRESSION,
        "The condition does not hold.",
        "rule other(const n: i64, A: Matrix): f(A, n) => g(A) when not n == 0",
    ),
    word(
        "true",
        EXPRESSION,
        "The condition that always holds, for the side of a comparison.",
        "rule always(x: i32): f(x) => x when true",
    ),
    word(
        "false",
        EXPRESSION,
        "The condition that never holds, for the side of a comparison.",
        "rule never(x: i32): f(x) => x when false",
    ),
    word("_", EXPRESSION, "Any value, which the rule does not use again.", "rule first(x: i32): pair(x, _) => x"),
];
