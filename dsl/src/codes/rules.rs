//! Mistakes in what a rule says, each of which the reader has understood.

use super::Code;

/// `RW04xx`: rules, and what is not yet supported.
pub(super) const RULES: &[Code] = &[
    code!(
        "RW0401",
        "left side is no call",
        "the left side must be a call",
        "The left side of a rule is a variable or a literal, and would match every value of its type. Turn the \
         rule around, or match the operation that makes the value.",
    ),
    code!(
        "RW0402",
        "two-way rule with a bare side",
        "`<=>` with a bare variable or literal on one side",
        "`<=>` has a variable or a literal on its right side, so the way back would match every value of its \
         type. Write `=>`.",
    ),
    code!(
        "RW0403",
        "name not bound",
        "`..` is on the right but not on the left",
        "A variable on the right side, or in a condition, does not occur on the left side, so nothing gives it a \
         value. A condition that is a fact binds the variables that it mentions. Both sides of `<=>` must mention \
         the same variables.",
    ),
    code!(
        "RW0404",
        "`for` on a left side",
        "`for` on a left side",
        "`e for x in xs` builds a list from a list and belongs on a right side. A left side matches a list by \
         `xs...`.",
    ),
    code!(
        "RW0405",
        "misplaced `eval`",
        "`eval` outside a dynamic rule",
        "`eval(..)` is computed while matching. It stands on the right side of a rule that is declared `dynamic \
         rule`, so that a reader sees which rules compute.",
    ),
    code!(
        "RW0406",
        "`eval` of what is not constant",
        "`eval` of `..`, which is not a constant",
        "`eval` computes with `const` variables, literals, and functions that have a meaning: a \
         `@model`, a `spec`, `host fn`, a `@body` in the input, or a pure function of a shared library (`@link`) that \
         gives a number.",
    ),
    code!(
        "RW0407",
        "clause of unsafe rules",
        "`..` outside an unsafe rule",
        "`removes` and `because` belong to `unsafe` rules, which drop effects. A plain rule keeps all effects and \
         needs neither.",
    ),
    code!(
        "RW0408",
        "`infer` without a fact",
        "an `infer` concludes a fact",
        "An `infer` concludes that a fact holds: `infer name(params): fact(args) when conditions`. What two terms \
         have in common is stated by a `rule`.",
    ),
    code!(
        "RW0409",
        "limit of a step",
        "unknown unit `..`",
        "A limit in a schedule counts in a unit that does not exist, or that the step does not have, or is said twice. Units: `nodes` and, of `saturate`, `matches` and `rounds`.",
    ),
    code!(
        "RW0451",
        "an unsafe rule that does not say what it does",
        "an unsafe rule without `removes ..`",
        "An `unsafe` rule lets statements of its left side go. It says which effects (`removes`), neither more nor \
         fewer than go, and why (`because`). Its statements stand where the left side's stand. What does more than \
         allocate can go only with a statement at the root, and goes only where both are executed together.",
    ),
    code!(
        "RW0452",
        "a list where none can stand",
        "a function takes one list at most",
        "Lists (`xs...`) are parameters of functions and rules, and arguments (`xs...`, `e for x in xs`) of \
         functions that take a list. A function takes one list at most. They are written out per length before \
         anything else is checked, so a rule over several lists becomes many rules.",
    ),
    code!(
        "RW0453",
        "a match block that does not say what it rewrites",
        "`<=>` in a `match` block",
        "A block names expressions with `match p = ..`, parts with `let q = ..`, and says `rewrite p => ..` of one \
         or several of them. Its patterns must be connected by variables, and each is rewritten once, in one \
         direction.",
    ),
    code!(
        "RW0454",
        "a block that goes on after its end",
        "statements after `return`",
        "In the `before` and `after` blocks of an example `return` comes last.",
    ),
    code!(
        "RW0455",
        "not yet",
        "`lazy` is not yet supported",
        "The language has this, but this version does not act on it; what uses it is left out or, where that \
         changes no meaning, ignored.",
    ),
    code!(
        "RW0456",
        "nested too deeply",
        "this expression is nested too deeply",
        "An expression has more than 200 levels. Such terms come from generated text; no rule needs them, and the \
         checker bounds its stack.",
    ),
    code!(
        "RW0457",
        "a cost that is not to be overridden",
        "`..` is this pack's own function",
        "`override f cost ..` says what another pack's function costs. A pack's own functions have their cost at their \
         declaration, and no function's cost is overridden twice: otherwise the order of imports would decide.",
    ),
];
