//! What functions a shared library has, read from its file: nothing of it is loaded, and nothing of it runs.

use rewright_dsl::nearest::nearest;
use std::path::{Path, PathBuf};

/// Where the system's loader looks for a library that is named without a path, beside `LD_LIBRARY_PATH`.
const FOLDERS: [&str; 8] = [
    "/usr/local/lib",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Bytes of a header of a section, and of a symbol.
const SECTION: usize = 64;
const SYMBOL: usize = 24;

/// The type of the section with the symbols that a loader sees.
const DYNAMIC_SYMBOLS: u32 = 11;

/// The symbol of a library that was perhaps meant by one that it does not have: one with something in front of it, as macros
/// rename functions, or one that is spelled nearly so.
pub fn meant(library: &str, symbol: &str) -> Option<String> {
    let names = symbols(&std::fs::read(file(library)?).ok()?)?;
    let longer = names.iter().filter(|name| name.len() > symbol.len() && name.ends_with(symbol));
    let longer = longer.min_by_key(|name| (name.len(), name.as_str()));
    longer.map(String::as_str).or_else(|| nearest(symbol, names.iter().map(String::as_str))).map(str::to_string)
}

/// The file of a library that is named as a pack names it.
pub fn file(library: &str) -> Option<PathBuf> {
    if library.contains('/') {
        return Some(library.into());
    }
    let own = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&own).chain(FOLDERS.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(library)).find(|file| Path::is_file(file))
}

/// Functions that an ELF file of 64 bits in little-endian order defines, sorted; `None` where it is another file.
fn symbols(elf: &[u8]) -> Option<Vec<String>> {
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let word = |at: usize| Some(u32::from_le_bytes(elf.get(at..at.checked_add(4)?)?.try_into().ok()?));
    let long = |at: usize| {
        let bytes = elf.get(at..at.checked_add(8)?)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    };
    let half = |at: usize| Some(u16::from_le_bytes(elf.get(at..at.checked_add(2)?)?.try_into().ok()?));
    let (start, count) = (long(0x28)?, usize::from(half(0x3c)?));
    let header = |n: usize| start.checked_add(n.checked_mul(SECTION)?);
    let content = |at: usize| {
        let begin = long(at.checked_add(0x18)?)?;
        elf.get(begin..begin.checked_add(long(at.checked_add(0x20)?)?)?)
    };
    let dynamic = (0..count).filter_map(header).find(|at| word(at.saturating_add(4)) == Some(DYNAMIC_SYMBOLS))?;
    let names = content(header(word(dynamic.checked_add(0x28)?)? as usize)?)?;
    let name = |symbol: &[u8]| {
        let at = u32::from_le_bytes(symbol[..4].try_into().ok()?) as usize;
        // A function, or one that is chosen when it is loaded, with a section of its own.
        let is_defined = matches!(symbol[4] & 15, 2 | 10) && symbol[6..8] != [0, 0];
        let text = names.get(at..)?.split(|byte| *byte == 0).next().filter(|_| is_defined)?;
        Some(std::str::from_utf8(text).ok()?.to_string())
    };
    let mut all: Vec<String> = content(dynamic)?.chunks_exact(SYMBOL).filter_map(name).collect();
    all.sort();
    all.dedup();
    Some(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn symbols_are_read_and_the_meant_one_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("a.c"), folder.path().join("liba.so"));
        let text = "int puts(const char *);\nint __gmpz_cmp(int x) { return puts(\"a\") + x; }\n\
                    int __gmpz_cmp_si(int x) { return x; }\nint a_variable = 3;\nstatic int hidden(void) { return 1; }\n\
                    int __gmpz_set(void) { return hidden(); }\n";
        std::fs::write(&source, text).unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        assert!(built.unwrap().success());
        let bytes = std::fs::read(&library).unwrap();
        let names = symbols(&bytes).unwrap();
        let own: Vec<&String> = names.iter().filter(|name| name.contains("gmp") || name.contains("puts")).collect();
        assert_eq!(own, ["__gmpz_cmp", "__gmpz_cmp_si", "__gmpz_set"]);
        assert!(!names.iter().any(|name| name.contains("variable") || name == "hidden"), "{names:?}");
        let library = library.to_str().unwrap();
        for (symbol, expected) in [
            ("mpz_cmp", Some("__gmpz_cmp")),
            ("__gmpz_sett", Some("__gmpz_set")),
            ("mpz_cmp_si", Some("__gmpz_cmp_si")),
            ("nothing_alike", None),
        ] {
            assert_eq!(meant(library, symbol).as_deref(), expected, "{symbol}");
        }
        assert_eq!(meant("./nowhere.so", "f"), None);
        // Files that are cut, or something else.
        for end in (0..bytes.len()).step_by(97) {
            symbols(&bytes[..end]);
        }
        assert_eq!(symbols(text.as_bytes()), None);
        let mut wild = bytes.clone();
        for at in (0x28..0x30).chain(0x3c..0x3e) {
            wild[at] = 0xff;
        }
        symbols(&wild);
    }
}
