//! From a [`Failure`] to words: what was found, what was expected, where it began, and a way on.

use super::ast::Span;
use super::failure::{Expected, Failure, Mistake};
use super::token::{
    FN_CLAUSE_WORDS, ITEM_WORDS, Kind, MODIFIERS, OPERATOR_WORDS, RULE_STATEMENT_WORDS, STEP_WORDS, Token,
};
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::nearest::nearest;

/// A diagnostic for a failure; `None` if the token found is one that another diagnostic speaks about.
pub(crate) fn diagnose(file: u32, tokens: &[Token<'_>], failure: &Failure) -> Option<Diagnostic> {
    let span = |from: usize, to: usize| match (tokens.get(from), tokens.get(to - 1)) {
        (Some(first), Some(last)) => Span { file, start: first.start, end: last.end },
        _ => {
            let end = tokens.last().map_or(0, |token| token.end);
            Span { file, start: end, end }
        }
    };
    let found = tokens.get(failure.at);
    if let Some(mistake) = failure.mistake {
        return Some(match mistake {
            Mistake::Chained { end } => error(
                "RW0106",
                "comparisons do not chain".into(),
                span(failure.at, end),
                "two comparisons side by side",
                Some("write `a == b and b == c`, or put one of them in brackets".into()),
            ),
            Mistake::SecondUsing => error(
                "RW0109",
                "`using` is given twice".into(),
                span(failure.at, failure.at + 1),
                "a second one",
                Some("an example runs one schedule; write another example for the other".into()),
            ),
            Mistake::TooLarge => error(
                "RW0103",
                "this number does not fit its place".into(),
                span(failure.at, failure.at + 1),
                "too large",
                Some("counts and type arguments are 64-bit integers".into()),
            ),
        });
    }
    if found.is_some_and(|token| token.kind == Kind::Bad) {
        return None;
    }
    // Bad text may have swallowed what is missing now; the item's first mistake is enough.
    if tokens[item_before(tokens, failure.at)..failure.at.min(tokens.len())].iter().any(|token| token.kind == Kind::Bad)
    {
        return None;
    }
    let here = span(failure.at, failure.at + 1);
    let found_text = match found {
        None => "the end of the file".to_owned(),
        Some(token) => match token.kind {
            Kind::Str => "a string".to_owned(),
            Kind::Doc | Kind::PackDoc => "a doc comment".to_owned(),
            _ => format!("`{}`", token.text),
        },
    };
    let closes = |token: &Token<'_>| token.kind == Kind::Symbol && matches!(token.text, ")" | "}" | "]");
    let open = innermost_open(tokens, failure.at);
    let expected_closer = open.is_some_and(|at| match tokens[at].text {
        "(" => failure.expects(Expected::CloseParen),
        _ => failure.expects(Expected::CloseBrace),
    });
    if let (Some(open), true) = (open, expected_closer) {
        let bracket = &tokens[open];
        let closer = if bracket.text == "(" { ")" } else { "}" };
        let ends = |token: &Token<'_>| {
            token.starts_item
                || token.starts_statement && (token.reserved || token.first_on_line)
                || closes(token)
                || token.is_symbol("=>")
                || token.is_symbol("<=>")
        };
        if found.is_none_or(ends) {
            let mut diagnostic = error(
                "RW0108",
                format!("this `{}` is never closed", bracket.text),
                span(open, open + 1),
                "opened here",
                Some(format!("add the missing `{closer}`")),
            );
            diagnostic.secondary.push(Label { span: here, text: format!("expected `{closer}` before {found_text}") });
            return Some(diagnostic);
        }
    }
    if open.is_none() && found.is_some_and(closes) {
        return Some(error(
            "RW0110",
            format!("{found_text} closes nothing"),
            here,
            "no bracket is open here",
            Some("remove it, or look for a bracket that closes too early".into()),
        ));
    }
    let expected = expectations(failure);
    let mut diagnostic = error(
        "RW0105",
        format!("expected {}, found {found_text}", list(&expected)),
        here,
        if found.is_none() { "the file ends here" } else { "not expected here" },
        help(tokens, failure),
    );
    if let (Some(open), true) = (open, expected_closer) {
        if tokens[open + 1..].iter().take(failure.at - open).any(|token| token.first_on_line) {
            let text = format!("`{}` opened here", tokens[open].text);
            diagnostic.secondary.push(Label { span: span(open, open + 1), text });
        }
    } else if failure.at > 0 && found.is_none_or(|token| token.first_on_line) {
        let before = span(failure.at - 1, failure.at);
        diagnostic.secondary.push(Label { span: before, text: "after this".into() });
    }
    Some(diagnostic)
}

fn error(code: &'static str, message: String, span: Span, label: &str, help: Option<String>) -> Diagnostic {
    Diagnostic {
        code,
        severity: Severity::Error,
        message,
        primary: Label { span, text: label.to_owned() },
        secondary: Vec::new(),
        help,
        fix: None,
    }
}

/// Where the item begins that a place belongs to, or that ends there.
fn item_before(tokens: &[Token<'_>], at: usize) -> usize {
    tokens[..at.min(tokens.len())].iter().rposition(|token| token.starts_item).unwrap_or(0)
}

/// The bracket that is open at a place. Looks back as far as the item that the place belongs to; at the end of the
/// file, through all of it.
fn innermost_open(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let begin =
        if at >= tokens.len() { 0 } else { tokens[..at].iter().rposition(|token| token.starts_item).unwrap_or(0) };
    let mut open = Vec::new();
    for (i, token) in tokens.iter().enumerate().take(at).skip(begin) {
        if token.kind != Kind::Symbol {
            continue;
        }
        match token.text {
            "(" | "{" => open.push(i),
            ")" | "}" => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

/// What to list: continuations that are always possible only where nothing better is.
fn expectations(failure: &Failure) -> Vec<Expected> {
    let without = |expected: Expected| match expected {
        Expected::Dot | Expected::Dots | Expected::For => failure.expected != expected.bit(),
        Expected::OpenParen | Expected::OpenBrace => {
            failure.expects(Expected::Operator) || failure.expects(Expected::Dot) && !failure.expects(Expected::Colon)
        }
        Expected::Integer => failure.expects(Expected::Type),
        Expected::CloseParen => failure.expects(Expected::Expression) || failure.expects(Expected::Parameter),
        _ => false,
    };
    let all: Vec<_> = Expected::ALL.iter().copied().filter(|&expected| failure.expects(expected)).collect();
    let some: Vec<_> = all.iter().copied().filter(|&expected| !without(expected)).collect();
    if some.is_empty() { all } else { some }
}

fn list(expected: &[Expected]) -> String {
    match expected {
        [] => "something else".to_owned(),
        [only] => only.text().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<_> = rest.iter().map(|expected| expected.text()).collect();
            format!("{} or {}", rest.join(", "), last.text())
        }
    }
}

/// A way on, where the mistake is one that people make.
fn help(tokens: &[Token<'_>], failure: &Failure) -> Option<String> {
    let expects = |expected| failure.expects(expected);
    let found = tokens.get(failure.at);
    let text = found.map_or("", |token| token.text);
    let previous = failure.at.checked_sub(1).and_then(|at| tokens.get(at)).map_or("", |token| token.text);
    let fixed = match text {
        "->" | "==>" if expects(Expected::Arrow) => "a rewrite is written `left => right`",
        "=>" if expects(Expected::ThinArrow) => "a function's result follows `->`",
        "=" if expects(Expected::Arrow) => "`==` compares, `=>` rewrites",
        "=" if expects(Expected::Operator) => "`==` compares",
        "&&" => "conditions are joined by `and`; the bits of values by what a pack declares, `&` in `std.core`",
        "||" => "conditions are joined by `or`; the bits of values by what a pack declares, `|` in `std.core`",
        "!" if expects(Expected::Expression) => {
            "conditions are negated by `not`; the bits of values by what a pack declares, `bnot` in `std.core`"
        }
        "!" => "write `not`",
        "~" => "there is no such operator; call the operation that a pack declares, `bnot` in `std.core`",
        ")" if expects(Expected::Expression) && previous == "(" && !follows_a_name(tokens, failure.at) => {
            "a call that gives nothing is a state: `put(b, 1) after s => s`, with a parameter `s: State`"
        }
        "=>" if item_is(tokens, failure.at, "infer") => {
            "an inference concludes a fact: `infer name(x: i32): fact(x) when ..`"
        }
        "'" => "a character is a number, `97`; a text stands in double quotes",
        _ if item_is(tokens, failure.at, "override") && expects(Expected::Clause) => {
            "an `override` states the cost: `override iadd cost 5`"
        }
        "const" if expects(Expected::Type) => "`const` stands before the name: `const k: i32`",
        "when" if expects(Expected::Arrow) || expects(Expected::OpenBrace) => {
            "conditions follow the right side: `left => right when ..`"
        }
        "(" if expects(Expected::Name) && previous == "rule" => "a rule has a name: `rule name(..): left => right`",
        "(" | ":" if expects(Expected::String) && previous == "example" => {
            "an example begins with what it shows: `example \"adding zero\" (x: i32): ..`"
        }
        "," if expects(Expected::Clause) => "clauses stand side by side, without `,`",
        "}" if expects(Expected::Name) && names_a_limit(tokens, failure.at) => {
            "a limit says what it counts: `nodes`, `matches` or `rounds`"
        }
        "=" if previous == "cost" => "a cost follows its word: `cost 9`",
        "=" if expects(Expected::CloseParen) && item_is(tokens, failure.at, "fn") => {
            "parameters have no default values: declare another function of that name without it"
        }
        "->" if expects(Expected::CloseParen) && expects(Expected::Operator) => {
            "types have no fields: what C reads there is a function of the pack, `next(v)`"
        }
        "before" if expects(Expected::After) => "states are written from the back: `read(c) after write(c, x)`",
        "*" | "&" if item_is(tokens, failure.at, "fn") && expects(Expected::Colon) => {
            "a parameter is written `name: Type`, and a pointer of C has a type below `ptr`: `type Text <: ptr`"
        }
        "=" if expects(Expected::Clause) && fn_clause(tokens, failure.at) => {
            "what a function gives is written `spec e`"
        }
        "becomes" | "equals" | "differs" | "stays" if expects(Expected::Clause) => {
            "verdicts belong to examples: a rule ends behind its right side and its clauses"
        }
        "requires" if expects(Expected::Clause) => {
            "the conditions of a rule follow `when`; `requires` is a clause of functions"
        }
        "const" if expects(Expected::Expression) => {
            "that a value is constant is said where it is declared: `(const x: i32)`"
        }
        "if" if expects(Expected::Expression) => {
            "expressions have no `if`: conditions of a rule follow `when`, and a choice between two values is a call, \
             `select` in `std.core`"
        }
        "let" if expects(Expected::Item) => {
            "`let` names a part inside of a rule's block; write the value where it is used"
        }
        "unless" if expects(Expected::Clause) => "conditions follow `when`; a negated one is `when not ..`",
        "if" | "where" | "given" | "provided" if expects(Expected::Clause) => "conditions follow `when`",
        "-" if names_a_pack(tokens, failure.at) => {
            "a pack's name consists of letters, digits and `_`, with `.` between"
        }
        "@" if expects(Expected::Expression) => "a name in another language is a text: `@llvm(\"@f\")`",
        "*" | "&" if expects(Expected::CloseParen) && expects(Expected::Colon) == expects(Expected::Parameter) => {
            "a pointer of C has a type below `ptr`: `type Text <: ptr`"
        }
        "<" if item_is(tokens, failure.at, "type") => {
            "type parameters are written `type List{T}`; a type below another one is declared with `<:`"
        }
        ":" if item_is(tokens, failure.at, "type") => "a type below another one is declared with `<:`",
        "reads" | "writes" | "allocates" | "io" | "traps" | "diverges" if expects(Expected::Clause) => {
            return Some(format!(
                "effects are listed behind that word: `effects {text}{}`",
                match text {
                    "reads" | "writes" => "(memory)",
                    "allocates" => "(heap)",
                    _ => "",
                }
            ));
        }
        "struct" | "class" | "typedef" | "enum" if expects(Expected::Item) => {
            "types have no fields here: `type T`, with functions over it"
        }
        "?" => "a choice between two values is a call, `select` in `std.core`",
        "..." if expects(Expected::CloseParen) => {
            "a list is written `xs...: i64`; calls of a variadic function of C, as `printf`, are left as they are"
        }
        "/" if item_is(tokens, failure.at, "import") => "packs have dots in their names: `import std.core`",
        "." if expects(Expected::CloseParen) || expects(Expected::Operator) => {
            "a float has digits on both sides of its point: `0.0`"
        }
        _ if expects(Expected::Name) && previous == "import" && text.starts_with('"') => {
            "the name of a pack has no quotes: `import std.core`"
        }
        _ if expects(Expected::String) && previous == "example" => {
            "an example begins with what it shows: `example \"adding zero\" (x: i32): ..`"
        }
        _ if expects(Expected::String) && previous == "because" => {
            "the reason is a text: `because \"no other code can see it\"`"
        }
        _ if item_is(tokens, failure.at, "schedule") && expects(Expected::OpenBrace) => {
            "the steps of a schedule stand in braces: `schedule default { saturate r }`"
        }
        "(" if expects(Expected::Equals) && open_after(tokens, failure.at, "example") => {
            "in a block a call is executed by `do f(x)`, and named by `y = f(x)`"
        }
        _ if expects(Expected::Item) && found.is_none() && ends_an_attribute(tokens) => {
            "attributes stand before what they are of"
        }
        ";" => "no `;` is needed: a statement ends where the next one begins",
        "::" => "paths are joined by `.`",
        "[" | "]" => "type arguments and blocks take `{ }`, calls and parameters `( )`",
        "/*" | "*/" => "comments are written `// ..`, to the end of the line",
        "%" => "there is no such operator; call the operation that a pack declares, `srem` or `urem` in `std.core`",
        "<" if expects(Expected::OpenParen) || expects(Expected::OpenBrace) => {
            "type parameters are written `{T <: Bound}`, type arguments `{i32}`"
        }
        ":" if expects(Expected::Subtype) => "a type parameter's bound is written `<:`",
        "pack" if expects(Expected::Item) => "`pack` stands once, before all items",
        _ if found.is_some_and(|token| token.is_word_of(OPERATOR_WORDS))
            && (expects(Expected::Name) || expects(Expected::Parameter) || expects(Expected::Expression)) =>
        {
            return Some(format!("`{text}` is an operator of expressions and cannot be a name"));
        }
        _ => "",
    };
    if !fixed.is_empty() {
        return Some(fixed.to_owned());
    }
    if expects(Expected::Colon) && expects(Expected::CloseParen) && found.is_some_and(|token| token.kind == Kind::Word)
    {
        return Some(match (is_type_of_number(previous), is_type_of_number(text)) {
            (true, false) => format!("the name of a parameter comes first: `{text}: {previous}`"),
            (true, true) => "a parameter is written `name: Type`".to_owned(),
            (false, _) => format!("a parameter is written `{previous}: {text}`"),
        });
    }
    let behind =
        |back: usize| failure.at.checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.text);
    let of_c = match () {
        () if expects(Expected::Item) && WORDS_OF_C.contains(&text) => {
            "a function of C is declared as `fn name(x: i32) -> i32`, with its effects and its cost"
        }
        () if expects(Expected::Clause) && behind(2) == "cost" => "a cost is a number without a unit: `iadd` costs 3",
        () if previous == ")" && behind(3) == "(" && is_type_of_number(behind(2)) => {
            "a number is converted by a function of `std.core`: `sextend`, `uextend`, `ireduce`"
        }
        () => "",
    };
    if !of_c.is_empty() {
        return Some(of_c.to_owned());
    }
    if let Some(token) = found.filter(|token| token.kind == Kind::Word) {
        let mut words: Vec<&str> = Vec::new();
        let places: [(Expected, &[&[&'static str]]); 5] = [
            (Expected::Item, &[ITEM_WORDS, MODIFIERS]),
            (
                Expected::Clause,
                if fn_clause(tokens, failure.at) { &[FN_CLAUSE_WORDS] } else { &[&RULE_STATEMENT_WORDS[3..]] },
            ),
            (Expected::Statement, &[RULE_STATEMENT_WORDS]),
            (Expected::Step, &[STEP_WORDS]),
            (Expected::Verdict, &[&["becomes", "equals", "differs", "stays"]]),
        ];
        for (expected, lists) in places {
            if expects(expected) {
                words.extend(lists.iter().flat_map(|list| list.iter()));
            }
        }
        if let Some(near) = nearest(token.text, words.iter().copied()) {
            return Some(format!("did you mean `{near}`?"));
        }
    }
    let names_a_rule =
        failure.at.checked_sub(2).and_then(|at| tokens.get(at)).is_some_and(|token| token.text == "rule");
    let general = if names_a_rule && expects(Expected::OpenParen) {
        "parameters stand in parentheses, or there are none: `rule name(x: i32): left => right`"
    } else if previous == "when" || previous == "requires" {
        "conditions are expressions with commas between"
    } else if previous == "return" {
        "a block that gives nothing ends without `return`: `after {}`"
    } else if expects(Expected::Verdict) {
        "an example ends in `becomes e`, `equals e`, `differs e` or `stays`"
    } else if expects(Expected::ThinArrow) {
        "a function states its result: `fn f(x: i32) -> i32`, or `-> ()` where it gives nothing"
    } else if expects(Expected::Colon) && expects(Expected::OpenBrace) && !expects(Expected::Parameter) {
        "after the parameters comes `: ...`, or a block `{ ... }`"
    } else if expects(Expected::Arrow)
        && tokens[item_before(tokens, failure.at)..failure.at].iter().any(|token| token.text == "==")
    {
        "`==` compares: a rewrite is written `left => right`"
    } else if expects(Expected::Arrow) {
        "a rewrite is written `left => right`"
    } else if expects(Expected::Statement) && open_after(tokens, failure.at, "rule") {
        "in a block a rewrite begins with `rewrite`; a rule with nothing else is written `rule name(..): left => right`"
    } else {
        return None;
    };
    Some(general.to_owned())
}

/// What declarations of C begin with.
const WORDS_OF_C: [&str; 12] =
    ["int", "double", "float", "char", "long", "short", "unsigned", "signed", "void", "size_t", "static", "extern"];

/// Is it the name of a type of numbers, here or in C?
fn is_type_of_number(name: &str) -> bool {
    WORDS_OF_C[..8].contains(&name) || matches!(name, "i8" | "i16" | "i32" | "i64" | "f32" | "f64")
}

/// Does a parenthesis that opens before a place follow a name, as that of a call does?
fn follows_a_name(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(2).and_then(|at| tokens.get(at)).is_some_and(|token| token.kind == Kind::Word)
}

/// Does a number stand before a place, and `limit` before it?
fn names_a_limit(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(2).and_then(|at| tokens.get(at)).is_some_and(|token| token.text == "limit")
}

/// Is the item that a place is in one of this word?
fn open_after(tokens: &[Token<'_>], at: usize, word: &str) -> bool {
    let at = at.min(tokens.len());
    tokens[item_before(tokens, at)..at]
        .iter()
        .find(|token| token.is_word_of(ITEM_WORDS))
        .is_some_and(|t| t.text == word)
}

/// Does what stands before a place name the pack?
fn names_a_pack(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(2).and_then(|at| tokens.get(at)).is_some_and(|token| token.text == "pack")
}

/// Does the item that a place is in begin with this word?
fn item_is(tokens: &[Token<'_>], at: usize, word: &str) -> bool {
    tokens.get(item_before(tokens, at)).is_some_and(|token| token.text == word)
}

/// Is an attribute the last thing in a file?
fn ends_an_attribute(tokens: &[Token<'_>]) -> bool {
    let attribute = tokens.iter().rposition(|token| token.text == "@");
    attribute.is_some_and(|at| tokens[at..].iter().all(|token| !token.is_word_of(ITEM_WORDS)))
}

/// Does a place belong to a function declaration?
fn fn_clause(tokens: &[Token<'_>], at: usize) -> bool {
    open_after(tokens, at, "fn")
}
