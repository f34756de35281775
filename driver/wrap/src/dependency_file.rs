//! Dependency files (`-MD`), which tell a build of which files an object is made: packs are among them.

use std::fmt::Write as _;
use std::path::PathBuf;

/// A dependency file as the front end writes it, with these files in its first rule; with a rule of their own as well, as
/// `-MP` wants it, so that a build does not fail where one of them is gone.
pub(super) fn with_files(text: &str, files: &[PathBuf], own_rules: bool) -> String {
    // The first line that does not go on.
    let end = text.match_indices('\n').map(|(at, _)| at).find(|at| !text[..*at].ends_with('\\'));
    let (rule, rest) = text.split_at(end.unwrap_or(text.len()));
    let names: Vec<String> = files.iter().filter_map(|file| file.to_str()).map(quoted).collect();
    let mut all = rule.to_string();
    names.iter().for_each(|name| all.push_str(&format!(" \\\n  {name}")));
    all.push_str(if rest.is_empty() { "\n" } else { rest });
    for name in names.iter().filter(|_| own_rules) {
        let _ = writeln!(all, "{name}:");
    }
    all
}

/// As clang writes names for make: a backslash before what ends a word, and before those that stand before a space.
fn quoted(name: &str) -> String {
    let mut quoted = String::new();
    for c in name.chars() {
        match c {
            ' ' => {
                let before = quoted.chars().rev().take_while(|c| *c == '\\').count();
                quoted.push_str(&"\\".repeat(before + 1));
                quoted.push(' ');
            }
            '#' => quoted.push_str("\\#"),
            '$' => quoted.push_str("$$"),
            c => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_in_the_first_rule() {
        let files: Vec<PathBuf> = ["/p/a b.rw", "c#$.rw"].map(Into::into).to_vec();
        let text = "m.o: m.c \\\n  own.h\nown.h:\n";
        assert_eq!(
            with_files(text, &files, true),
            "m.o: m.c \\\n  own.h \\\n  /p/a\\ b.rw \\\n  c\\#$$.rw\nown.h:\n/p/a\\ b.rw:\nc\\#$$.rw:\n"
        );
        assert_eq!(with_files("m.o: m.c\n", &files[1..], false), "m.o: m.c \\\n  c\\#$$.rw\n");
        assert_eq!(with_files(text, &[], true), text);
    }
}
