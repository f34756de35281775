//! Mistakes in text, names and types: what keeps a pack from being read.

use super::Code;

/// `RW01xx`: text that is not a pack.
pub(super) const SYNTAX: &[Code] = &[
    code!(
        "RW0100",
        "too much",
        "more than .. mistakes; the rest is not shown",
        "A file has more than 200 mistakes, or is larger than 2 GiB. Only the first mistakes are shown. Most often the \
         file is not a rule pack at all.",
    ),
    code!(
        "RW0101",
        "unexpected character",
        "unexpected character `..`",
        "The text holds a character that begins nothing in the language. Names consist of ASCII letters, digits and \
         `_`; \
         any other text belongs in a string or a comment.",
    ),
    code!(
        "RW0102",
        "string does not end",
        "this string does not end",
        "A string ends on the line on which it begins, with `\"`. A quote inside a string is written `\\\"`, a new \
         line \
         `\\n`.",
    ),
    code!(
        "RW0103",
        "malformed literal",
        "`..` is not a number",
        "A number or a string is not well-formed, or a number does not fit its place. Integers are written 255, -1, \
         0xff \
         or 0b1111, with `_` between digits where it helps; floats 1.5, 1e9 or 2.5e-3. Escapes in strings are \\\" \
         \\\\ \
         \\n \\t \\r and \\u{hex}. Literals fit 128 bits; counts and integers among type arguments fit 64. Whether a \
         literal fits the type of the place it stands in is checked later.",
    ),
    code!(
        "RW0104",
        "nested too deeply",
        "nested too deeply",
        "More than 256 brackets and operators are open at one place. The limit keeps every later stage from running \
         out \
         of stack. Name the parts of a large expression with `let`; a list with commas is not nested and may be long.",
    ),
    code!(
        "RW0105",
        "unexpected token",
        "expected .., found ..",
        "The text does not follow the grammar here. The message names what was found and all that could have stood in \
         its place. Only the item that the token belongs to is lost: everything else in the file is still read and \
         checked.",
    ),
    code!(
        "RW0106",
        "comparisons do not chain",
        "comparisons do not chain",
        "`a == b == c` could mean two things, so it means neither. Write `a == b and b == c`, or put one comparison in \
         brackets to compare its truth value. `is` counts as a comparison.",
    ),
    code!(
        "RW0107",
        "doc comment without an item",
        "this doc comment documents nothing",
        "`///` documents the item that follows it, `//!` at the top of a file documents the pack. Elsewhere they \
         document \
         nothing and are treated as plain comments. Write `//` there.",
    ),
    code!(
        "RW0108",
        "bracket is never closed",
        "this `..` is never closed",
        "A bracket is open where an item or statement begins, where another kind of bracket closes, or at the end of \
         the \
         file. The label shows the bracket; the closing one is missing somewhere behind it.",
    ),
    code!(
        "RW0109",
        "clause or attribute given twice",
        "`..` is given twice",
        "A clause or an attribute that can be given once is given again, and it is not clear which one is meant. Keep \
         one of them.",
    ),
    code!(
        "RW0110",
        "closing bracket without an opening one",
        "`..` closes nothing",
        "A `)`, `}` or `]` stands where no bracket is open. Remove it, or look before it for a bracket that closes too \
         early.",
    ),
];

/// `RW02xx`: names.
pub(super) const NAMES: &[Code] = &[
    code!(
        "RW0201",
        "unknown function",
        "unknown function `..`",
        "A call names a function that this file neither declares nor imports. A file sees its own declarations, \
         and through `import p` everything that pack `p` declares or imports plainly. `import p as q` brings in \
         no names: write `q.f(..)`.",
    ),
    code!(
        "RW0202",
        "unknown type",
        "unknown type `..`",
        "A type is named that this file neither declares nor imports. A file must import the pack that \
         declares it, directly or through another one.",
    ),
    code!(
        "RW0203",
        "unknown fact",
        "unknown fact or function `..`",
        "A condition calls something that is neither a declared fact nor a function. Facts are declared by `fact \
         name(params)`; `same(a, b)` and `distinct(a, b)` compare classes and need no declaration.",
    ),
    code!(
        "RW0204",
        "unknown ruleset",
        "unknown ruleset `..`",
        "A step of a schedule names no ruleset. Rulesets of the pack are named plainly, those of imported packs \
         by `pack.ruleset`; rules that stand in no ruleset are in `rules`, laws in `laws` and `assoc`. A step may \
         also name another schedule: its steps are put in its place.",
    ),
    code!(
        "RW0205",
        "unknown rule",
        "unknown rule `..`",
        "`fires` names no rule. A rule is named by `rule`, by `ruleset.rule` where several rulesets have it, or \
         by `pack.ruleset.rule`; the second direction of a two-way rule by `rule.back`.",
    ),
    code!(
        "RW0206",
        "unknown schedule",
        "unknown schedule `..`",
        "`using` names no schedule. Schedules of the pack are named plainly, those of imported packs by \
         `pack.schedule`; every pack has one called `default`.",
    ),
    code!(
        "RW0207",
        "missing import",
        "no pack `..`",
        "The file of an imported pack could not be read. `import std.arith` is a file of the standard library; \
         any other `import foo.bar` is `foo/bar.rw` beside the importing file. Names that only the missing pack \
         could declare are not reported.",
    ),
    code!(
        "RW0208",
        "cyclic import",
        "cyclic import of `..`",
        "An import leads back to a file that is being imported. Packs build on each other in one direction: move \
         what both need to a third pack that both import.",
    ),
    code!(
        "RW0209",
        "name not in that pack",
        "pack `..` has no `..`",
        "A list of names after an import holds one that the pack does not declare. What the pack itself imports \
         plainly may be listed, too.",
    ),
    code!(
        "RW0210",
        "declared twice",
        "type `..` is declared twice",
        "A name is declared a second time where it must be unique: types, facts, rulesets, schedules, examples in \
         a pack; rules in a ruleset; parameters in a list. Functions may share a name if their parameter types \
         differ. Packs do not share names: a pack may declare what another one declares, and hides it from itself.",
    ),
    code!(
        "RW0211",
        "unknown attribute",
        "unknown attribute `@..` on ..",
        "An attribute is not one that this item takes, or has other arguments than it takes. Functions take \
         `@model(\"name\")`, `@traps(\"code\", condition)` any number of times, `@link(\"library\", \"symbol\")` for a \
         function of a shared library (where `{}` in the symbol is the length of a list; a third argument, `\"signed\"` or \
         `\"unsigned\"`, says what integers below 32 bits are in C), `@frontend(\"name\")` \
         for the name that any front or back end gives them, and `@unchanging(\"why\")` where what their pointer leads \
         to never changes. Rules take `@approximate(\"what they give up\", 1e-9)`: \
         by how much their \
         sides may differ, relative to the greater one, can be left out. Types without machine representation take \
         `@sample(make(size, seed), change(it, seed), ..)`, an expression that makes a value for tests and calls that \
         change one, and `@observe(see(it), ..)`, what tells two values apart. Facts take `@model(\"enters\")` and others about loops. Other items take none.",
    ),
    code!(
        "RW0212",
        "unknown effect",
        "unknown effect `..`",
        "An effect is neither built in (`reads(region)`, `writes(region)`, `allocates(region)`, `io`, `traps`, \
         `diverges`) nor declared by `effect name`. A declared effect is ordered with itself and with nothing \
         else.",
    ),
    code!(
        "RW0213",
        "unknown operator",
        "no function is infix `..` here",
        "No visible function is declared `as` this symbol with as many operands. Operators are functions: `fn \
         add(..) -> .. as \"+\"`. They come with any import of the pack that declares them.",
    ),
    code!(
        "RW0214",
        "unknown variable",
        "unknown variable `..`",
        "A name in an expression is not a parameter. All variables of a rule or example are declared in its \
         parameter list, except states, which may be named first on the left side: `after s`.",
    ),
    code!(
        "RW0215",
        "ambiguous name",
        "several rules are called `..`",
        "Several packs or rulesets declare this name, and nothing says which one is meant. Qualify it: \
         `pack.name`, `ruleset.rule`; or `import pack as p` and write `p.name`. A pack's own declaration is meant \
         before what it imports. Functions of one name are told apart by the types of their arguments where these \
         tell. In a module, and in costs, what several packs declare is called `pack.name`.",
    ),
];

/// `RW03xx`: types and effects.
pub(super) const TYPES: &[Code] = &[
    code!(
        "RW0301",
        "type mismatch",
        "the left side is `..`, the right side `..`",
        "A term has another type than its place wants. An argument must be of a subtype of its parameter; \
         arguments of types (`Matrix{Real}`) must be equal; the right side of a rule must be of a subtype of the \
         left side's type, for `<=>` of the same type. Numbers never convert by themselves.",
    ),
    code!(
        "RW0302",
        "wrong number of arguments",
        "`..` takes .. arguments, here are ..",
        "A call has more or fewer arguments than the function or fact has parameters.",
    ),
    code!(
        "RW0303",
        "no overload fits",
        "no `..` fits ..",
        "Several functions have this name, and none takes arguments of these types. The labels show what each one \
         takes. Types never convert by themselves: call what converts one into the other (`uextend{i32, i64}(x)`, \
         `ireduce{i64, i32}(x)`), import the pack that declares the function at this type, or declare it.",
    ),
    code!(
        "RW0304",
        "ambiguous overload",
        "`..` of .. is ambiguous",
        "Several functions of this name take these arguments, and none of them is more specific than all others: \
         its parameter types would have to be subtypes of theirs. State the type of an argument, or type \
         arguments: `f{T}(..)`.",
    ),
    code!(
        "RW0305",
        "literal fits no instance",
        "literal .. fits no instance of its type",
        "An integer literal is outside the range of its type, or of every type that its type parameter may stand \
         for: N bits hold -2^(N-1) to 2^N - 1. A literal that fits some instances is no error; the others do not \
         exist.",
    ),
    code!(
        "RW0306",
        "type not known",
        "`..` of `..` is not known here",
        "A type cannot be inferred. In examples every type must be known. On a right side every type argument \
         must occur on the left side, since a rule creates terms from what it matched. State it: `uextend{i8, \
         i32}(x)`.",
    ),
    code!(
        "RW0307",
        "outside a bound",
        "`..` is not below `..` here",
        "A type stands for a type parameter whose bound it is not below: `T <: Int` excludes floats, and a rule's \
         own parameter must have a bound that is as narrow as that of the operations that it is used with.",
    ),
    code!(
        "RW0308",
        "malformed type",
        "`..` takes .. type argument, here are ..",
        "A type has the wrong number of type arguments, arguments where it takes none, or is not the name of a \
         type where one must stand.",
    ),
    code!(
        "RW0309",
        "effect not kept",
        "this rule drops `..` of `..`",
        "A plain rule must keep effects: a call with `io`, `allocates` or `diverges`, or one that writes and gives \
         a value, may be replaced only by one with the same effects, may not be dropped, and may not be made anew. \
         Such a call may not read more than \
         the one whose place it takes, either: it reads where it is executed, when something may have been written. \
         Traps are no matter here: the check beside a trapping operation stays by itself.",
    ),
    code!(
        "RW0310",
        "misplaced state",
        "`..` is a value, not a state",
        "A state stands where a value is wanted, a value where a state is wanted, or `after` where nothing reads \
         or writes. A state is a parameter of the rule (`s: State`, `after s`) or a call of a function that writes, and means \
         the state after it: `read(c) after (write(c, x) after s)`. A function that writes and gives a value, as functions \
         with error codes do, may stand there, too, if it has no other effect and accesses one region. As the root of a \
         rule, in a state that is written, such a call is the whole one: the right side is another whole call in a state, \
         `set(v, y) after (set(v, x) after s) => set(v, y) after s`, or a state alone, `set(v, get(v)) after s => s`, and the call goes \
         where its value is unused; or a value alone, `pop(v) after (push(v, x) after s) => x`, and the call stays. A state is \
         one of the region that a call accesses, and takes the place of a state of that region only. After \
         a function that also allocates, does io or may not return, the state has no name: a rule may put another one in \
         its place, not look past it.",
    ),
    code!(
        "RW0311",
        "state not known",
        "in which state does this stand? ..",
        "A call on the right side or in a condition reads or writes, but does not say in which state, and the \
         left side does not tell: it has no state, or several. Name the state on both sides: `load(p, o) after \
         s`. On the left side, a call over the value of one that changes what it reads must name its state, too: \
         an omitted one means any.",
    ),
    code!(
        "RW0312",
        "cyclic supertype",
        "type `..` is its own supertype",
        "A type is declared to be below itself, directly or through others. The supertypes of a type end at \
         `Any`.",
    ),
    code!(
        "RW0313",
        "unknown model",
        "unknown model `..`",
        "A type names a representation that does not exist (bv8, bv16, bv32, bv64, fp32, fp64), or a function a \
         meaning that does not exist or takes another number of operands. Meanings that are built from others are \
         stated by `spec`. `theta` is what a loop carries, of the form `theta{T}(l: Loop, first: T, next: T) -> T`, \
         `leave` what a value is when a loop is left, of the form `leave{T}(l: Loop, x: T) -> T`, `phi` what it is where the \
         arms of a branch meet, of the form `phi{C <: Int, T}(c: C, x: T, y: T) -> T`; `around` is the \
         memory in which an iteration begins, `left` what the loop leaves behind, `left_last` the same where its test comes \
         last, of the form `around(l: Loop) -> ()  effects writes(memory)`; facts that the \
         compiler itself knows have the models `enters`, `plain`, `stays`, `counts` and `trips`, and the \
         form `enters{T}(x: T, l: Loop)`.",
    ),
    code!(
        "RW0314",
        "clause does not fit",
        "`..` cannot be commutative",
        "A clause of a function contradicts its declaration: a law that its types cannot obey, effects stated \
         twice, `@traps` without the effect `traps`, a meaning that leads back to itself, a `recurrence` of a function that is \
         not pure or takes other types.",
    ),
    code!(
        "RW0315",
        "requirement not implied",
        "`..` requires `..`",
        "The right side of a rule calls a function that `requires` a fact, and neither a condition of the rule \
         nor a call on its left side implies that fact. Add it to the rule: `when fact(..)`.",
    ),
    code!(
        "RW0317",
        "not a condition",
        "`..` is not known while matching",
        "The expression after `when` is no condition, or cannot be decided while matching. Facts and classes \
         are looked up; everything else is computed from constants, literals and the widths of types. `not` and \
         `or` are over computed conditions only.",
    ),
    code!(
        "RW0318",
        "result of an overload",
        "this `..` gives `..`, the more general one `..`",
        "A function takes only arguments that another one of its name takes, too, but its result is not of a \
         subtype of that one's. A term would change its type when more becomes known of an argument.",
    ),
    code!(
        "RW0319",
        "not a constant",
        "`..` of `..` is a compile-time value",
        "The argument of a `const` parameter must be known at compile time: a literal, a `const` variable of the \
         rule, or on the right side of a dynamic rule `eval(..)`.",
    ),
    code!(
        "RW0320",
        "ambiguous declarations",
        "`..` of (..) is ambiguous",
        "Two functions of one name take the same arguments, and neither is more specific: each takes arguments that \
         the other does not. Which of them a call means would be left open. Declare the function for the arguments \
         that both take, or make the parameters of one of them narrower.",
    ),
    code!(
        "RW0321",
        "family of types",
        "`..` is a family: several types under one name",
        "`type Integer = Int | Wide` names several types at once. A type parameter of a rule may be bounded by it: \
         the rule then stands for one rule per member. Everything else is of one type: declare functions once per \
         member, as overloads.",
    ),
];
