//! The table: what each attribute and each kind of metadata says, by where it stands.

use super::parts;

/// Where an annotation stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Place {
    /// On a function, or on a call as a whole.
    Function,
    /// On a parameter or an argument.
    Parameter,
    /// On what a function or a call gives, with linkage and calling convention.
    Result,
    /// Attached to an instruction.
    Metadata,
}

/// What an annotation says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Says {
    /// Nothing of what a function may do: hints, debug information, how code is laid out.
    Nothing,
    /// What breaks it is undefined or poison, and it means nothing else.
    Promise,
    /// What is computed, or how it is called: the same in both versions, or nothing is known.
    Meaning,
    /// Nothing is known of a function that has it.
    Unmodelled,
}

/// What an annotation says at a place.
pub(in super::super) fn says(place: Place, annotation: &str) -> Says {
    let name = parts(annotation).0;
    let listed = |list: &[&str]| list.contains(&name);
    match place {
        Place::Metadata if listed(&HINTS) => Says::Nothing,
        Place::Metadata if listed(&METADATA) => Says::Promise,
        Place::Parameter if listed(&VALUES) || listed(&POINTERS) => Says::Promise,
        Place::Parameter if listed(&PASSED) => Says::Meaning,
        Place::Result if listed(&VALUES) || listed(&["noalias"]) || listed(&FAST) => Says::Promise,
        Place::Result if listed(&["zeroext", "signext", "inreg"]) || is_convention(name) => Says::Meaning,
        Place::Result if listed(&LINKAGE) => Says::Nothing,
        Place::Function if listed(&EFFECTS) => Says::Promise,
        Place::Function if listed(&MODES) => Says::Meaning,
        Place::Function if listed(&UNMODELLED) => Says::Unmodelled,
        Place::Function if name.starts_with("\"denormal-fp-math") => match annotation.contains("ieee,ieee") {
            true => Says::Nothing,
            false => Says::Unmodelled,
        },
        Place::Function if name.ends_with("-fp-math\"") => Says::Promise,
        // A text in quotes is for code generation: that is what LLVM has them for.
        Place::Function if name.starts_with('"') || listed(&CODE) => Says::Nothing,
        _ => Says::Unmodelled,
    }
}

fn is_convention(name: &str) -> bool {
    name.ends_with("cc") || name == "cc"
}

/// Metadata that says nothing of what happens.
const HINTS: [&str; 18] = [
    "!dbg",
    "!prof",
    "!unpredictable",
    "!annotation",
    "!nontemporal",
    "!srcloc",
    "!heapallocsite",
    "!nosanitize",
    "!pcsections",
    "!DIAssignID",
    "!memprof",
    "!callsite",
    "!section_prefix",
    "!implicit.ref",
    "!kcfi_type",
    "!func_sanitize",
    "!make.implicit",
    // Of a loop, and nothing is proved of loops but where both versions are the same.
    "!llvm.loop",
];

/// Metadata that promises something.
const METADATA: [&str; 16] = [
    "!range",
    "!nonnull",
    "!noundef",
    "!align",
    "!dereferenceable",
    "!dereferenceable_or_null",
    "!invariant.load",
    "!invariant.group",
    "!noalias",
    "!alias.scope",
    "!tbaa",
    "!tbaa.struct",
    "!callees",
    "!fpmath",
    "!noalias.addrspace",
    "!llvm.access.group",
];

/// What holds of a value.
const VALUES: [&str; 8] =
    ["noundef", "nonnull", "align", "range", "dereferenceable", "dereferenceable_or_null", "nofpclass", "noext"];

/// What is done with a pointer.
const POINTERS: [&str; 15] = [
    "noalias",
    "nocapture",
    "captures",
    "readnone",
    "readonly",
    "writeonly",
    "nofree",
    "returned",
    "writable",
    "initializes",
    "immarg",
    "alignstack",
    "allocptr",
    "allocalign",
    "dead_on_unwind",
];

/// How an argument is passed.
const PASSED: [&str; 6] = ["zeroext", "signext", "inreg", "byval", "sret", "byref"];

/// Flags of calls that give floats: where a value is another one, it may be that.
const FAST: [&str; 8] = ["nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"];

/// What stands before a function's result and is no attribute of it.
const LINKAGE: [&str; 23] = [
    "private",
    "internal",
    "available_externally",
    "linkonce",
    "weak",
    "common",
    "appending",
    "extern_weak",
    "linkonce_odr",
    "weak_odr",
    "external",
    "default",
    "hidden",
    "protected",
    "dllimport",
    "dllexport",
    "dso_local",
    "dso_preemptable",
    "unnamed_addr",
    "local_unnamed_addr",
    "tail",
    "notail",
    "ccc",
];

/// What a function does, or does not do.
const EFFECTS: [&str; 23] = [
    "memory",
    "readnone",
    "readonly",
    "writeonly",
    "argmemonly",
    "inaccessiblememonly",
    "inaccessiblemem_or_argmemonly",
    "nofree",
    "nosync",
    "nounwind",
    "norecurse",
    "noreturn",
    "willreturn",
    "mustprogress",
    "speculatable",
    "nocallback",
    "noduplicate",
    "nomerge",
    "nocreateundeforpoison",
    "nooutline",
    "allockind",
    "allocsize",
    "vscale_range",
];

/// What is computed, and in which way calls are understood.
const MODES: [&str; 4] = ["null_pointer_is_valid", "builtin", "nobuiltin", "\"no-builtins\""];

/// What no proof can be based on.
const UNMODELLED: [&str; 10] = [
    "strictfp",
    "convergent",
    "naked",
    "returns_twice",
    "presplitcoroutine",
    "jumptable",
    "denormal_fpenv",
    "sanitize_memtag",
    "\"thunk\"",
    "gc",
];

/// How code is made, placed and called from outside.
const CODE: [&str; 43] = [
    "alignstack",
    "align",
    "alwaysinline",
    "cold",
    "hot",
    "inlinehint",
    "minsize",
    "noinline",
    "optnone",
    "optsize",
    "optdebug",
    "optforfuzzing",
    "nonlazybind",
    "noredzone",
    "noimplicitfloat",
    "nocf_check",
    "noprofile",
    "skipprofile",
    "nosanitize_bounds",
    "nosanitize_coverage",
    "sanitize_address",
    "sanitize_hwaddress",
    "sanitize_memory",
    "sanitize_thread",
    "sanitize_type",
    "sanitize_realtime",
    "safestack",
    "shadowcallstack",
    "speculative_load_hardening",
    "ssp",
    "sspreq",
    "sspstrong",
    "uwtable",
    "fn_ret_thunk_extern",
    "hybrid_patchable",
    "section",
    "partition",
    "comdat",
    "personality",
    "prefix",
    "prologue",
    "unnamed_addr",
    "local_unnamed_addr",
];
