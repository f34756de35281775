//! What lints, examples and verification find in packs that are understood.

use super::Code;

/// `RW05xx`: lints.
pub(super) const LINTS: &[Code] = &[
    code!(
        "RW0501",
        "rule without an example",
        "rule `..` has no example",
        "No example names this rule in `fires`. An example shows a reader what the rule is for, and proves at \
         every check that it still fires. A two-way rule needs one for either way.",
    ),
    code!(
        "RW0502",
        "unused",
        "type `..` is never used",
        "A declaration, or a parameter of a rule, is mentioned nowhere. Packs that are meant to be imported are \
         not spoken of.",
    ),
    code!(
        "RW0503",
        "unbounded growth",
        "this rule may grow without bound",
        "The right side is larger than the left side and matches it again with other arguments, so each result is \
         a new match. Equality saturation ends such a rule only by its budget: run it in a ruleset with a limit.",
    ),
    code!(
        "RW0504",
        "not monotone",
        "this rule asks whether two classes are distinct",
        "A condition asks whether two classes are distinct. Two classes may be found equal later, so the answer \
         depends on when it is asked; it is asked once per round. Prefer a fact that says what the rule needs.",
    ),
    code!(
        "RW0505",
        "can never fire",
        "this rule can never fire",
        "At every declared type that the rule's type parameters may stand for, a literal does not fit, the left \
         side has no meaning (an extension to a narrower type), or a condition that depends on types alone fails. \
         Or its conditions exclude each other: no constants meet all of its comparisons, or a value would have to be another \
         one than itself.",
    ),
    code!(
        "RW0506",
        "said twice",
        "rule `..` says the same",
        "Another rule, or a law of a declaration, has the same left side, conditions and right side up to the \
         names of variables; or an import, or a rule in `fires`, stands there again. Remove one of them.",
    ),
    code!(
        "RW0507",
        "requirement not seen",
        "`..` has a requirement that is not seen to hold here",
        "The right side calls a function whose `requires` is a comparison that neither a condition of the rule \
         nor a call on its left side states. It may follow for other reasons; nothing here checks that it does.",
    ),
    code!(
        "RW0508",
        "dynamic rule that computes nothing",
        "a dynamic rule that computes nothing",
        "A rule is declared `dynamic` but has no `eval(..)`. A plain rule says the same and is cheaper to match. Where the \
         right side is to hold a number that is computed while matching, that is written `eval(ctz(k))`.",
    ),
    code!(
        "RW0509",
        "right side without a meaning",
        "the right side has no meaning at ..",
        "At some types at which the left side can match, the right side has a call without a meaning, such as an \
         extension to a narrower type. Exclude those types by a condition, or by a narrower bound.",
    ),
    code!(
        "RW0510",
        "overload that calls do not move to",
        "no call of `..` moves here",
        "Where the type of an operand turns out to be narrower, a call of a function moves to its more specific \
         overload. It does not move to one with other effects, nor to one that `requires` what cannot be looked up: \
         facts, `same`, `distinct` and `is` can, comparisons only of constants. Such an overload is called only where \
         it is named by types from the start, or by a rule.",
    ),
    code!(
        "RW0511",
        "former name",
        "`..` is a former name; it is called `..` now",
        "A standard pack was renamed. Its former name still works, and will not for ever: write the present one, or \
         let \
         `rewright check --fix` write it.",
    ),
    code!(
        "RW0512",
        "type that C does not say",
        "no call in C says what `..` of `..` is",
        "A function of C is declared with a type parameter that only stands inside a type of pointers, such as the \
         `V` of `Table{V}`. LLVM has one type for all pointers, so a call says nothing of it: the function is \
         recognised only where a pointer comes from another declared function whose result says what it is. Declare \
         the function at one type, or declare the type without parameters.",
    ),
    code!(
        "RW0513",
        "rule about lists that is cut short",
        "rule `..` is not applied to lists of all lengths",
        "A rule about lists is written out for each combination of their lengths that the packs and the program need. \
         One about several lists can have very many, of which there are 1,024. A list has at most 255 elements, and a rule \
         that makes longer lists than it matches does so of the program's own lists, and not of its results for ever. What \
         is left out does not match.",
    ),
    code!(
        "RW0514",
        "allocation that may read",
        "`..` only allocates: does it not read what `..` points to?",
        "A function of C is declared to allocate and nothing else, though it is given a pointer to what another function \
         reads. If it copies what is there, what it gives depends on memory: it must not be moved over a write, and a rule about it is wrong where \
         something is written between. `effects reads(memory), allocates(heap)` says that, and `verify` then changes values \
         between the calls of a rule. Where nothing ever changes what the function reads, or it does not read, say so: \
         `@unchanging(\"no function changes a text\")`.",
    ),
    code!(
        "RW0515",
        "function of C without effects",
        "`..` states no effects, and is taken to be pure",
        "A declaration lists all that a function does, so one without `pure` or `effects` depends on its operands \
         only: two calls of it are one, and it may be computed anywhere. Few functions of C are like that. Those that read \
         through a pointer have `effects reads(memory)`, those that change something `writes(memory)`, those that make \
         something `allocates(heap)`, and what the outside world sees is `io`. If it is pure, write `pure`.",
    ),
    code!(
        "RW0516",
        "empty file",
        "this file declares nothing",
        "A file of rules has no rule, function, type or import: there is nothing to check or to apply. Perhaps its text \
         was not saved, or stands in another file.",
    ),
    code!(
        "RW0517",
        "pure function of what is written",
        "`..` is pure: does it not read what `..` points to, which `..` writes?",
        "A function of C is declared `pure`, though it is given a pointer to what another declared function writes. If it reads \
         there, two calls of it are not one: with a write between them they give different values, and as `pure` the second one \
         may be replaced by the first. Write `effects reads(memory)`. Where it does not read there, or nothing changes what it \
         reads, say so: `@unchanging(\"the length of a text never changes\")`.",
    ),
    code!(
        "RW0518",
        "unknown instruction",
        "`..` is the name of no instruction of ..",
        "An attribute gives an operation the name of an instruction that the other language does not have, or that has other \
         effects there than those declared. No function holds this operation, so no rule about it matches in a program. A \
         function of C has an `@` before its name: `@llvm(\"@strlen\")`.",
    ),
    code!(
        "RW0519",
        "rule that changes nothing",
        "both sides of `..` are the same",
        "The right side of a rule is its left side, so it says nothing. Most often a state is missing: a right side without \
         `after` stands in the state of the left side's root, in which the left side stands already. Name the state that is \
         meant on both sides.",
    ),
    code!(
        "RW0520",
        "allocation that reads earlier",
        "`..` may have read `..` earlier than `..` does",
        "A function that allocates and reads, such as a copy, reads where it is executed. The rest of a rule about it may \
         read later, and a rule cannot say that nothing is written in between: it would give the length of a text that \
         was appended to for the length of its older copy. If nothing ever changes what the function reads, `@unchanging(\"why\")` above \
         it says so, and `reads` goes from its effects.",
    ),
    code!(
        "RW0521",
        "rule that is never chosen",
        "rule `..` is never chosen: `..` is dearer than its left side",
        "A rule makes a call that costs more than all calls of its left side together, no other rule takes that call any \
         further, and no example shows that it is chosen. So the left side is always cheaper, unless the program has the \
         same call anyway. Perhaps the rule is the wrong way around, or a cost is wrong.",
    ),
];

/// `RW06xx`: examples that do not hold.
pub(super) const EXAMPLES: &[Code] = &[
    code!(
        "RW0601",
        "example fails",
        "example .. of .. fails",
        "The rules do something else than the example claims: the term became another one, two terms are in one class or in \
         different ones, or a rule that `fires` names took no part. Correct the rule, or the example if it claims too \
         much: `rewright test --update` writes what holds instead, for you to read.",
    ),
    code!(
        "RW0602",
        "example was not run",
        "example .. of .. was not run",
        "A rule that matches in the example computes with a function of a shared library (`eval`), and that call was not \
         made: the library has not been allowed to be called, or it could not be called. A pack does not allow its own \
         calls. If you trust the library, allow it with `--allow-link`, or for good with `rewright allow`.",
    ),
    code!(
        "RW0603",
        "example does not hold in C",
        "example .. of .. does not hold for calls in C",
        "The example holds among operations, but not where a program in C makes the same calls: a call is not taken for \
         the function that the pack declares, so the rules never see it. The help says which, and what does not fit. Most \
         often a type parameter stands only inside a type of pointers, or a type is not the one that C passes. Correct the \
         declaration; `rewright why-not` says the same of calls in a file of LLVM IR.",
    ),
    code!(
        "RW0604",
        "example that was cut short",
        "example .. of .. was cut short",
        "The example says that terms are different, or that one stays as it is, and so it is as far as the rules have run. \
         But a budget ended before they did, so they might still change it. The help says which budget. Make the example \
         smaller, or give its rules an end.",
    ),
];

/// `RW07xx`: rules that are wrong, or not proved.
pub(super) const EVIDENCE: &[Code] = &[
    code!(
        "RW0701",
        "rule is wrong",
        "rule .. is wrong..",
        "There are values at which the two sides of the rule differ. They are shown with the value of each side, and as \
         an example that can be put into the pack: it says that the sides are different, so it fails as long as the rule \
         makes them one. Correct the right side, or add a condition that excludes the values. Operations are total: a \
         quotient by zero has a value, too, whether or not the operation traps there.",
    ),
    code!(
        "RW0702",
        "rule holds one way only",
        "rule .. holds one way only..",
        "Wherever both sides have definite values they are equal, but one side is defined where the other is not: the \
         other traps there, or is a NaN whose bits are unspecified. A rule states an equality, which the optimiser \
         uses in both directions, so one direction is not enough. Add a condition under which both sides are defined.",
    ),
    code!(
        "RW0703",
        "rule can never fire",
        "rule .. can never fire",
        "At no type instance can all conditions hold at once, or the left side has a meaning at none. Most often a \
         comparison's operands were given the type of its result, or two conditions contradict each other.",
    ),
    code!(
        "RW0704",
        "rule is not decided",
        "rule .. is not decided..",
        "The solver ran out of steps, or the rule mentions something that has no meaning: an operation with neither a \
         `@model` nor a `spec`, or a fact without a `spec`. No counterexample was found among the values that were \
         tried, which proves nothing. State the missing meaning, or allow more steps with `--steps`.",
    ),
    code!(
        "RW0705",
        "compiled code disagrees",
        "compiled code of rule .. is not what its operations mean..",
        "A side of the rule is one value by the meaning of its operations and another one where it is compiled and run. \
         That is no fault of the rule: the meaning that is declared for an operation, or the instruction whose name it \
         bears, is wrong, or Cranelift compiles it wrongly. Where the operation is your own, compare its `@model` or \
         `spec` with its `@clif` or `@link`; otherwise report it, with the values that are shown.",
    ),
    code!(
        "RW0706",
        "rule was not verified",
        "rule .. was not verified",
        "Only a shared library says what a function of the rule computes, and the library has not been allowed to be \
         called. A pack does not allow its own calls. If you trust the library, allow it with `--allow-link`, or for good \
         with `rewright allow`. Or the library is allowed, and it is not there, or has no such function: then the mistake is \
         in the `@link`. Macros of a header often give a function another name: `nm -D --defined-only` lists those of a \
         library.",
    ),
];
