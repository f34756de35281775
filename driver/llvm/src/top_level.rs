//! Lines outside of functions: each is one whole entity. Readers of globals, types, attributes and metadata read one line
//! each, so an entity of which a part is on another line would be read as something else.

/// The words that such lines start with, beside `define` and `declare`.
const WORDS: [&str; 6] = ["source_filename", "target", "module", "attributes", "uselistorder", "uselistorder_bb"];

/// What is wrong with a line outside of functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    /// No entity starts so.
    Foreign,
    /// It is not one whole entity.
    NotWhole,
}

/// Checks a line without the white space around it.
pub(super) fn check(line: &str) -> Result<(), Mistake> {
    let Some(first) = line.chars().next().filter(|first| *first != ';') else { return Ok(()) };
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
    let word = &line[..end];
    let named = matches!(first, '@' | '%' | '!' | '$' | '^');
    if !named && word != "declare" && !WORDS.contains(&word) {
        return Err(Mistake::Foreign);
    }
    let Some(assignments) = assignments(line) else { return Err(Mistake::NotWhole) };
    match (named, assignments) {
        (true, 0) => Err(Mistake::Foreign),
        // Attributes of a declaration may be pairs of texts.
        (_, 0 | 1) => Ok(()),
        _ if word == "declare" => Ok(()),
        _ => Err(Mistake::NotWhole),
    }
}

/// How many `=` there are outside of brackets and texts; `None` where one of these is not closed.
fn assignments(line: &str) -> Option<usize> {
    let (mut depth, mut found, mut in_text) = (0u32, 0, false);
    for byte in line.bytes() {
        match byte {
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b';' => break,
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.checked_sub(1)?,
            b'=' if depth == 0 => found += 1,
            _ => {}
        }
    }
    (depth == 0 && !in_text).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_entity() {
        for line in [
            "",
            "; \"a comment",
            "@x = global { i32, [2 x i8] } { i32 1, [2 x i8] c\"=\\22\" }, align 4 ; (",
            "%t = type <{ i32, ptr }>",
            "!0 = distinct !{!0, !1}",
            "$c = comdat any",
            "^0 = module: (path: \"a\", hash: (1, 2))",
            "attributes #0 = { nounwind \"a\"=\"b\" }",
            "declare void @f() \"a\"=\"b\" \"c\"=\"d\"",
            "module asm \".globl x = 1\"",
            "target triple = \"x86_64-pc-linux-gnu\"",
            "uselistorder ptr @x, { 1, 0 }",
        ] {
            assert_eq!(check(line), Ok(()), "{line}");
        }
        for (line, mistake) in [
            ("hello world", Mistake::Foreign),
            ("#1", Mistake::Foreign),
            ("{ i32 }", Mistake::Foreign),
            ("@x", Mistake::Foreign),
            (")))", Mistake::Foreign),
            ("%t = type { i32,", Mistake::NotWhole),
            ("@s = constant i32 1 @t = constant i32 1", Mistake::NotWhole),
            ("!0 = !{} !1 = !{}", Mistake::NotWhole),
            ("attributes #0 = { nounwind", Mistake::NotWhole),
            ("attributes #0 = { } attributes #1 = { mustprogress }", Mistake::NotWhole),
            ("module asm \"", Mistake::NotWhole),
            ("@x = global i32 0 }", Mistake::NotWhole),
        ] {
            assert_eq!(check(line), Err(mistake), "{line}");
        }
    }
}
