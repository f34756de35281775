//! What the cache holds of a file that was compiled: its object, what became of its functions, and, where it was asked
//! for, the LLVM IR that rules saw.

use super::statistics::Facts;
use anyhow::{Context, Result};
use rewright_files as files;
use rewright_files::cache::Key;
use rewright_report::remarks::FunctionReport;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// What the names of kept files are made of.
const VERSION: u32 = 1;

/// One file's.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    /// What became of it.
    pub(super) facts: Facts,
    /// There where it was asked for.
    pub(super) ir: Option<Ir>,
    /// What became of its functions, there where that was told.
    pub(super) functions: Option<Vec<FunctionReport>>,
    /// The object's content.
    pub(super) object: Vec<u8>,
}

/// LLVM IR around the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ir {
    /// As rules see it.
    pub(super) before: Vec<u8>,
    /// What they make of it, where they change it.
    pub(super) after: Option<String>,
}

/// The first line of an entry; texts follow, then the object.
#[derive(Serialize, Deserialize)]
struct Head {
    facts: Facts,
    functions: Option<Vec<FunctionReport>>,
    /// Bytes of the texts.
    before: Option<usize>,
    after: Option<usize>,
}

impl Entry {
    /// As the cache keeps it.
    pub(super) fn write(&self) -> Vec<u8> {
        let before = self.ir.as_ref().map(|ir| ir.before.len());
        let after = self.ir.as_ref().and_then(|ir| ir.after.as_ref()).map(String::len);
        let head = Head { facts: self.facts.clone(), functions: self.functions.clone(), before, after };
        let mut content = serde_json::to_vec(&head).unwrap_or_default();
        content.push(b'\n');
        if let Some(ir) = &self.ir {
            content.extend_from_slice(&ir.before);
            content.extend_from_slice(ir.after.as_deref().unwrap_or_default().as_bytes());
        }
        content.extend_from_slice(&self.object);
        content
    }

    /// The same back; `None` where the content is no entry.
    pub(super) fn read(content: &[u8]) -> Option<Self> {
        let end = content.iter().position(|b| *b == b'\n')?;
        let head: Head = serde_json::from_slice(&content[..end]).ok()?;
        let (before, rest) = content[end + 1..].split_at_checked(head.before.unwrap_or(0))?;
        let (after, object) = rest.split_at_checked(head.after.unwrap_or(0))?;
        let after = head.after.map(|_| String::from_utf8(after.to_vec())).transpose().ok()?;
        let ir = head.before.map(|_| Ir { before: before.to_vec(), after });
        Some(Entry { facts: head.facts, ir, functions: head.functions, object: object.to_vec() })
    }
}

impl Ir {
    /// Keeps it in a folder, under a name that says which file it comes from and differs where the text does.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(super) fn keep(&self, folder: &Path, source: &Path) -> Result<()> {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        let path = folder.join(format!("{stem}-{:.8}.ll", Key::of(VERSION, [&self.before[..]]).to_string()));
        fs::create_dir_all(folder).with_context(|| format!("cannot keep LLVM IR in {}", folder.display()))?;
        files::write(&path, &self.before)?;
        self.after.as_ref().map_or(Ok(()), |after| files::write(&path.with_extension("changed"), after))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let facts = Facts { files: 1, ..Facts::default() };
        let ir = |after: Option<&str>| Some(Ir { before: b"a\nb".to_vec(), after: after.map(str::to_string) });
        for ir in [None, ir(None), ir(Some("")), ir(Some("c\n"))] {
            let entry = Entry { facts: facts.clone(), ir, functions: Some(vec![]), object: b"\0\n\x7f".to_vec() };
            assert_eq!(Entry::read(&entry.write()), Some(entry));
        }
        assert_eq!(Entry::read(b"{}"), None);
        let cut = br#"{"facts":{},"before":9,"after":null}"#;
        assert_eq!(Entry::read(&[&cut[..], b"\nabc"].concat()), None);
    }
}
