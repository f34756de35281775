//! Import followed by export of an unchanged function gives an equivalent function: over our own files, and over
//! any folder that `REWRIGHT_CORPUS` names (ignored unless asked for).

use crate::export::{Surroundings, export};
use crate::import::{ImportError, Imported, import};
use crate::names::Names;
use crate::{read, sample};
use cranelift_codegen::ir::{Endianness, Function};
use rewright_cfg_skeleton::ir::InstKind;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ignore::WalkBuilder::new(folder)
        .standard_filters(false)
        .build()
        .filter_map(|entry| entry.ok().map(ignore::DirEntry::into_path))
        .filter(|path| path.extension().is_some_and(|e| e == "clif"))
        .collect();
    found.sort();
    found
}

fn there_and_back(names: &Names, file: &read::File, func: &Function) -> (Imported, Function) {
    let fisa = file.accepts(func).unwrap_or_else(|e| panic!("{}: {e}", func.name));
    let imported = import(func, names, file.endianness()).unwrap_or_else(|e| panic!("{}: {e}", func.name));
    let payloads = &imported.payloads;
    let around = Surroundings { original: func, payloads, linkage: None, native: file.endianness(), fisa };
    let exported = export(&imported.function, names, &around).unwrap_or_else(|e| panic!("{e}\n{func}"));
    (imported, exported.function)
}

/// Opcodes in order of the layout without constants, which may be immediates on our side.
fn opcodes(func: &Function) -> Vec<String> {
    let blocks = func.layout.blocks();
    blocks.flat_map(|b| func.layout.block_insts(b)).map(|i| func.dfg.insts[i].opcode().to_string()).collect()
}

/// What a printed function could lose: flags, locations, tags, stack maps, by instruction.
fn beside(func: &Function) -> Vec<String> {
    let blocks = func.layout.blocks();
    blocks
        .flat_map(|b| func.layout.block_insts(b))
        .map(|i| {
            let data = &func.dfg.insts[i];
            let flags = data.memflags().map(|f| func.dfg.mem_flags[f]);
            let maps = func.dfg.user_stack_map_entries(i).map(|e| e.len());
            format!("{} {flags:?} {} {:?} {maps:?}", data.opcode(), func.srcloc(i), func.debug_tags.get(i))
        })
        .collect()
}

fn check(folder: &Path) -> (usize, usize, usize, usize) {
    let mut universe = sample::universe();
    let names = Names::new(&mut universe);
    assert!(names.unknown.is_empty(), "{:?}", names.unknown);
    let (mut functions, mut ops, mut opaque) = (0, 0, 0);
    let paths = files(folder);
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let file = read::read(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(read::write(&file, &vec![None; file.functions.len()]), text, "{}", path.display());
        let mut replaced: Vec<Option<Function>> = vec![];
        for function in &file.functions {
            functions += 1;
            if let Err(ImportError::DynamicTypes) = import(&function.func, &names, Endianness::Little) {
                replaced.push(None);
                continue;
            }
            let (imported, once) = there_and_back(&names, &file, &function.func);
            for inst in &imported.function.insts {
                match inst.kind {
                    InstKind::Opaque { .. } => opaque += 1,
                    _ => ops += 1,
                }
            }
            if once.layout.blocks().count() == function.func.layout.blocks().count() {
                let keep = |list: Vec<String>| list.into_iter().filter(|o| !o.ends_with("const")).collect::<Vec<_>>();
                assert_eq!(keep(opcodes(&once)), keep(opcodes(&function.func)), "{}", path.display());
            }
            // Text that went out once is a fixed point, up to nothing: same text.
            let (_, twice) = there_and_back(&names, &file, &once);
            assert_eq!(once.to_string(), twice.to_string(), "{}", path.display());
            replaced.push(Some(once));
        }
        // The printed file reads again.
        let text = read::write(&file, &replaced.iter().map(Option::as_ref).collect::<Vec<_>>());
        let again = read::read(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", path.display()));
        for (a, b) in again.functions.iter().zip(&file.functions) {
            assert_eq!(a.comments, b.comments, "{}", path.display());
        }
        for (a, b) in again.functions.iter().zip(&replaced) {
            if let Some(b) = b {
                assert_eq!(beside(&a.func), beside(b), "{}", path.display());
            }
        }
    }
    (paths.len(), functions, ops, opaque)
}

#[test]
fn our_own_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clif");
    let (files, functions, ops, opaque) = check(&folder);
    assert!(files >= 15 && functions >= 30, "{files} files, {functions} functions");
    assert!(ops > opaque, "{ops} operations, {opaque} opaque");
}

#[test]
#[ignore = "needs a corpus: REWRIGHT_CORPUS=folder cargo nextest run --run-ignored all corpus"]
fn corpus() {
    let Ok(folder) = std::env::var("REWRIGHT_CORPUS") else { return };
    let counts = check(Path::new(&folder));
    panic!("(files, functions, operations and constants, opaque) = {counts:?}");
}
