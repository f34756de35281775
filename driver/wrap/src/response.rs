//! Response files: `@file` in a command line stands for the words that the file has.

use std::ffi::OsString;
use std::fs;

/// How deep response files may name each other.
const MAX_DEPTH: usize = 16;

/// The command line with the words of its response files. One that cannot be read stays as it is.
pub(super) fn expanded(args: &[OsString]) -> Vec<OsString> {
    let mut words = vec![];
    args.iter().for_each(|arg| expand(arg.clone(), MAX_DEPTH, &mut words));
    words
}

fn expand(arg: OsString, depth: usize, words: &mut Vec<OsString>) {
    let file = arg.to_str().and_then(|text| text.strip_prefix('@'));
    match file.filter(|_| depth > 0).and_then(|file| fs::read_to_string(file).ok()) {
        Some(text) => split(&text).into_iter().for_each(|word| expand(word.into(), depth - 1, words)),
        None => words.push(arg),
    }
}

/// Words as GNU's tools and LLVM separate them: by white space, except for what is quoted or stands behind a backslash.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (vec![], None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.get_or_insert_default().extend(chars.next()),
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(c),
            '"' | '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            _ if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_separated_as_the_compiler_does() {
        assert_eq!(split("  a 'b c'\n\"d\\\"e\" f\\ g'' \"\" h\\\\"), ["a", "b c", "d\"e", "f g", "", "h\\"]);
    }

    #[test]
    fn files_may_name_files_but_not_themselves() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            OsString::from(format!("@{}", path.display()))
        };
        let inner = file("inner", "-c x.c");
        let outer = file("outer", &format!("-O2 {}", inner.to_str().unwrap()));
        let expected: Vec<OsString> = ["a", "-O2", "-c", "x.c", "@none"].map(OsString::from).to_vec();
        assert_eq!(expanded(&["a".into(), outer, "@none".into()]), expected);
        let itself = dir.path().join("itself");
        let itself = file("itself", &format!("@{}", itself.display()));
        assert_eq!(expanded(std::slice::from_ref(&itself)), [itself]);
    }
}
