//! What random functions find outside themselves: functions to call, and instructions that no pack declares.
//!
//! `outside.clif` is read and imported like any file. Its first function holds each opaque instruction once: their
//! payloads are those of the random functions, and they are exported by them.

use crate::written::Around;
use cranelift_codegen::ir as clif;
use rewright_cfg_skeleton::ir::interp::{Memory, Outcome};
use rewright_cfg_skeleton::ir::{Function, InstKind};
use rewright_clif::import::Payloads;
use rewright_clif::interpret::{Functions, Subject};
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::{File, read};
use rewright_typeprop::Scalar;

const TEXT: &str = include_str!("outside.clif");

/// The file.
pub(super) fn file() -> File {
    read(TEXT).expect("the file is a constant")
}

/// The file, imported.
pub(super) struct Outside<'a> {
    /// The function that holds every opaque instruction.
    pub(super) prototypes: Function,
    payloads: Payloads,
    original: &'a clif::Function,
    functions: Functions<'a>,
    /// The text of all but the prototypes.
    text: String,
}

impl<'a> Outside<'a> {
    pub(super) fn new(clif: &'a ClifOptimiser, file: &'a File) -> Self {
        let mut imported = (0..file.functions.len()).map(|i| clif.import(file, i).expect("the file is a constant"));
        let prototypes = imported.next().expect("the file has functions");
        let mut functions = Functions::new(&clif.optimiser.program().universe);
        let mut text = String::new();
        for (f, imported) in file.functions.iter().skip(1).zip(imported) {
            functions.add(imported, &f.func);
            text += &f.text;
        }
        let original = &file.functions[0].func;
        Outside { prototypes: prototypes.function, payloads: prototypes.payloads, original, functions, text }
    }

    /// Runs a random function on our interpreter, and what it calls.
    pub(super) fn run(
        &self,
        function: &Function,
        args: &[i64],
        memory: &mut Memory,
        nan: fn(Scalar) -> i64,
        fuel: u64,
    ) -> Outcome {
        let subject = Subject { function, payloads: &self.payloads, original: self.original };
        self.functions.run(subject, args, memory, nan, fuel)
    }

    /// What the export of these functions takes over, and what their file needs besides; nothing where none of them
    /// holds anything opaque.
    pub(super) fn used_by(&self, functions: &[&Function]) -> Option<Around<'_>> {
        let opaque = |f: &&&Function| {
            let mut insts = f.layout.iter().flat_map(|b| &f.block(*b).insts);
            insts.any(|i| matches!(f.inst(*i).kind, InstKind::Opaque { .. }))
        };
        functions.iter().any(|f| opaque(&f)).then(|| Around {
            original: self.original,
            payloads: &self.payloads,
            text: &self.text,
        })
    }
}
