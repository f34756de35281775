//! Packs, and packs that are broken, for property tests.

/// Replaces pieces of a text: where, how long, by what. Some are written again elsewhere.
pub(crate) fn cut(text: &mut String, cuts: &[(u16, u16, u8)]) {
    const PIECES: [&str; 14] =
        ["", "(", "}", "\"", "é", "\n", " rule ", "=>", "'", "/// x\n", "\\", ",", "{", "// x\r\n"];
    for (at, length, kind) in cuts {
        let at = text.floor_char_boundary(usize::from(*at) % (text.len() + 1));
        let end = text.floor_char_boundary((at + usize::from(*length) % 40).min(text.len())).max(at);
        match PIECES.get(usize::from(*kind) % (PIECES.len() + 2)) {
            Some(piece) => text.replace_range(at..end, piece),
            None => {
                let piece = text[at..end].to_owned();
                let to = text.floor_char_boundary(usize::from(*length) % (text.len() + 1));
                text.insert_str(to, &piece);
            }
        }
    }
}

/// The packs that ship.
pub(crate) fn packs() -> &'static [String] {
    static PACKS: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    PACKS.get_or_init(|| {
        let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../stdlib_rules"))];
        let mut files = vec![];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the packs stand beside this crate") {
                let path = entry.expect("the folder can be read").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "rw") {
                    files.push(path);
                }
            }
        }
        files.sort();
        files.into_iter().map(|path| std::fs::read_to_string(path).expect("packs are text")).collect()
    })
}
