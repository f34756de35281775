//! Trees that are kept for programs that load the same texts again and again, as an editor's server does after each
//! key.

use crate::diagnostic::Diagnostic;
use crate::syntax::ast::File;
use crate::syntax::parse;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// How many loads a tree outlives that want none of it.
const KEPT: u64 = 8;

/// Trees of texts that were parsed before. A tree knows the number of its file, so that one text may have several.
#[derive(Default)]
pub struct Trees {
    known: RefCell<FxHashMap<(u32, String), Tree>>,
    loads: Cell<u64>,
}

struct Tree {
    file: Arc<File>,
    mistakes: Vec<Diagnostic>,
    /// The last load that wanted it.
    wanted: u64,
}

impl Trees {
    /// A text as the file of a number, and its mistakes of syntax.
    pub(super) fn parse(&self, number: u32, text: &str) -> (Arc<File>, Vec<Diagnostic>) {
        let mut known = self.known.borrow_mut();
        let tree = known.entry((number, text.to_string())).or_insert_with(|| {
            let (file, mistakes) = parse(number, text);
            Tree { file: Arc::new(file), mistakes, wanted: 0 }
        });
        tree.wanted = self.loads.get();
        (tree.file.clone(), tree.mistakes.clone())
    }

    /// A load begins: trees that the last ones did not want are forgotten.
    pub(super) fn begin(&self) {
        let load = self.loads.get() + 1;
        self.loads.set(load);
        self.known.borrow_mut().retain(|_, tree| tree.wanted + KEPT >= load);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_kept_while_they_are_wanted() {
        let trees = Trees::default();
        trees.begin();
        let (first, mistakes) = trees.parse(0, "pack p\n");
        assert!(mistakes.is_empty());
        // Another number is another file: places differ.
        assert!(!Arc::ptr_eq(&first, &trees.parse(1, "pack p\n").0));
        for _ in 0..=KEPT {
            trees.begin();
            assert!(Arc::ptr_eq(&first, &trees.parse(0, "pack p\n").0));
        }
        assert_eq!(trees.known.borrow().len(), 1);
        let (_, mistakes) = trees.parse(0, "pack\n");
        assert_eq!(mistakes, trees.parse(0, "pack\n").1);
        assert!(!mistakes.is_empty());
    }
}
