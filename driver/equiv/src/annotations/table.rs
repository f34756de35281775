//! The table: what each attribute and each kind of metadata says, by where it stands, for a proof and for a run.

use super::parts;

/// Where an annotation stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum AnnotationTarget {
    /// On a function, or on a call as a whole.
    Function,
    /// On a parameter or an argument.
    Parameter,
    /// On what a function or a call gives, with linkage and calling convention.
    Result,
    /// Attached to an instruction.
    Metadata,
}

/// What an annotation says, for a proof.
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

/// What a run of both texts makes of an annotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Runs {
    /// Nothing: no run that returns breaks it.
    Ignore,
    /// The value or the access that it is said of is checked.
    Check,
    /// It is checked when the function whose parameter has it returns; a caller has no part in it.
    CheckAtReturn,
    /// It is not modelled. The first version may be undefined, and is not judged; in the second one it means nothing,
    /// as what is less defined differs all the more.
    Doubt,
    /// It changes what is passed, in either version.
    Refuse,
}

/// Annotations of which the same is so.
struct Row {
    place: AnnotationTarget,
    says: Says,
    runs: Runs,
    names: &'static [&'static str],
}

/// What an annotation says at a place.
pub(in super::super) fn says(place: AnnotationTarget, annotation: &str) -> Says {
    found(place, annotation).0
}

/// What a run makes of an annotation at a place.
pub(in super::super) fn runs(place: AnnotationTarget, annotation: &str) -> Runs {
    found(place, annotation).1
}

/// What the table has for an annotation; what it lacks counts as the strongest.
fn found(place: AnnotationTarget, annotation: &str) -> (Says, Runs) {
    let name = parts(annotation).0;
    if let Some(row) = TABLE.iter().find(|row| row.place == place && row.names.contains(&name)) {
        return (row.says, row.runs);
    }
    match place {
        AnnotationTarget::Function if name.starts_with("\"denormal-fp-math") => {
            match annotation.contains("ieee,ieee") {
                true => (Says::Nothing, Runs::Ignore),
                false => (Says::Unmodelled, Runs::Doubt),
            }
        }
        AnnotationTarget::Function if name.ends_with("-fp-math\"") => match annotation.contains("false") {
            true => (Says::Promise, Runs::Ignore),
            false => (Says::Promise, Runs::Doubt),
        },
        // A text in quotes is for code generation: that is what LLVM has them for.
        AnnotationTarget::Function if name.starts_with('"') => (Says::Nothing, Runs::Ignore),
        AnnotationTarget::Result if name.ends_with("cc") || name == "cc" => (Says::Meaning, Runs::Doubt),
        _ => (Says::Unmodelled, Runs::Doubt),
    }
}

const TABLE: &[Row] = &[
    // Metadata that says nothing of what happens. The comparison of loops looks at what that of loops promises.
    Row {
        place: AnnotationTarget::Metadata,
        says: Says::Nothing,
        runs: Runs::Ignore,
        names: &[
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
            "!llvm.loop",
        ],
    },
    // A run compares the tags of accesses to the same bytes, whatever instructions they are of.
    Row { place: AnnotationTarget::Metadata, says: Says::Promise, runs: Runs::Ignore, names: &["!tbaa"] },
    // Metadata that promises something of a value that is read or given.
    Row {
        place: AnnotationTarget::Metadata,
        says: Says::Promise,
        runs: Runs::Check,
        names: &["!range", "!nonnull", "!noundef"],
    },
    Row {
        place: AnnotationTarget::Metadata,
        says: Says::Promise,
        runs: Runs::Doubt,
        names: &[
            "!align",
            "!dereferenceable",
            "!dereferenceable_or_null",
            "!invariant.load",
            "!invariant.group",
            "!noalias",
            "!alias.scope",
            "!tbaa.struct",
            "!callees",
            "!fpmath",
            "!noalias.addrspace",
            "!llvm.access.group",
        ],
    },
    // What holds of a value.
    Row {
        place: AnnotationTarget::Parameter,
        says: Says::Promise,
        runs: Runs::Check,
        names: &["noundef", "nonnull", "align", "range", "dereferenceable", "dereferenceable_or_null"],
    },
    Row {
        place: AnnotationTarget::Result,
        says: Says::Promise,
        runs: Runs::Check,
        names: &["noundef", "nonnull", "align", "range", "dereferenceable", "dereferenceable_or_null"],
    },
    Row { place: AnnotationTarget::Parameter, says: Says::Promise, runs: Runs::Doubt, names: &["nofpclass"] },
    Row {
        place: AnnotationTarget::Result,
        says: Says::Promise,
        runs: Runs::Doubt,
        names: &["nofpclass", "noext", "noalias"],
    },
    // What a function does with a pointer.
    Row {
        place: AnnotationTarget::Parameter,
        says: Says::Promise,
        runs: Runs::CheckAtReturn,
        names: &["noalias", "nocapture", "captures", "readnone", "readonly", "writeonly", "returned"],
    },
    Row {
        place: AnnotationTarget::Parameter,
        says: Says::Promise,
        runs: Runs::Ignore,
        names: &["nofree", "writable", "immarg", "allocptr", "dead_on_unwind", "noext"],
    },
    Row {
        place: AnnotationTarget::Parameter,
        says: Says::Promise,
        runs: Runs::Doubt,
        names: &["initializes", "alignstack", "allocalign"],
    },
    // How an argument is passed.
    Row {
        place: AnnotationTarget::Parameter,
        says: Says::Meaning,
        runs: Runs::Ignore,
        names: &["zeroext", "signext", "inreg"],
    },
    Row { place: AnnotationTarget::Parameter, says: Says::Meaning, runs: Runs::Check, names: &["sret"] },
    Row { place: AnnotationTarget::Parameter, says: Says::Meaning, runs: Runs::Refuse, names: &["byval", "byref"] },
    Row {
        place: AnnotationTarget::Parameter,
        says: Says::Unmodelled,
        runs: Runs::Refuse,
        names: &["inalloca", "preallocated", "swifterror", "swiftself", "swiftasync", "nest"],
    },
    // What stands before a result: how it is passed, and by which convention.
    Row {
        place: AnnotationTarget::Result,
        says: Says::Meaning,
        runs: Runs::Ignore,
        names: &["zeroext", "signext", "inreg", "fastcc", "coldcc", "tailcc"],
    },
    // Linkage, and what else is no attribute of the result.
    Row {
        place: AnnotationTarget::Result,
        says: Says::Nothing,
        runs: Runs::Ignore,
        names: &[
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
            "notail",
            "ccc",
        ],
    },
    // A proof looks at it where there are stack slots.
    Row { place: AnnotationTarget::Result, says: Says::Nothing, runs: Runs::Doubt, names: &["tail"] },
    // Flags of calls that give floats: where a value is another one, it may be that.
    Row {
        place: AnnotationTarget::Result,
        says: Says::Promise,
        runs: Runs::Check,
        names: &["nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"],
    },
    // Which memory a function accesses, and whether it returns.
    Row {
        place: AnnotationTarget::Function,
        says: Says::Promise,
        runs: Runs::Check,
        names: &[
            "memory",
            "readnone",
            "readonly",
            "writeonly",
            "argmemonly",
            "inaccessiblememonly",
            "inaccessiblemem_or_argmemonly",
            "noreturn",
        ],
    },
    // What else it does or does not do, which no run that returns shows.
    Row {
        place: AnnotationTarget::Function,
        says: Says::Promise,
        runs: Runs::Ignore,
        names: &[
            "nofree",
            "nosync",
            "nounwind",
            "norecurse",
            "willreturn",
            "mustprogress",
            "speculatable",
            "nocallback",
            "noduplicate",
            "nomerge",
            "vscale_range",
        ],
    },
    Row {
        place: AnnotationTarget::Function,
        says: Says::Promise,
        runs: Runs::Doubt,
        names: &["nocreateundeforpoison", "nooutline", "allockind", "allocsize"],
    },
    // What is computed, and in which way calls are understood.
    Row {
        place: AnnotationTarget::Function,
        says: Says::Meaning,
        runs: Runs::Doubt,
        names: &["null_pointer_is_valid"],
    },
    Row {
        place: AnnotationTarget::Function,
        says: Says::Meaning,
        runs: Runs::Ignore,
        names: &["builtin", "nobuiltin", "\"no-builtins\""],
    },
    // What no proof can be based on.
    Row {
        place: AnnotationTarget::Function,
        says: Says::Unmodelled,
        runs: Runs::Doubt,
        names: &["strictfp", "naked", "returns_twice", "presplitcoroutine", "jumptable", "denormal_fpenv", "\"thunk\""],
    },
    Row {
        place: AnnotationTarget::Function,
        says: Says::Unmodelled,
        runs: Runs::Ignore,
        names: &["convergent", "sanitize_memtag", "gc", "nodivergencesource"],
    },
    // How code is made, placed and called from outside.
    Row {
        place: AnnotationTarget::Function,
        says: Says::Nothing,
        runs: Runs::Ignore,
        names: &[
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
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_row_at_each_place() {
        for (n, row) in TABLE.iter().enumerate() {
            for name in row.names {
                let others = TABLE.iter().enumerate().filter(|(_, r)| r.place == row.place && r.names.contains(name));
                assert_eq!(others.map(|(other, _)| other).collect::<Vec<_>>(), [n], "{name}");
            }
        }
    }

    #[test]
    fn proofs_and_runs_agree() {
        for row in TABLE {
            // What a proof takes for nothing no run may doubt, but what it looks at elsewhere.
            let nothing = row.says == Says::Nothing && row.names != ["tail"];
            assert!(!nothing || row.runs == Runs::Ignore, "{:?}", row.names);
        }
    }

    #[test]
    fn texts_in_quotes_are_for_code_generation_but_for_floats() {
        for (annotation, expected) in [
            ("\"frame-pointer\"=\"all\"", (Says::Nothing, Runs::Ignore)),
            ("\"denormal-fp-math\"=\"ieee,ieee\"", (Says::Nothing, Runs::Ignore)),
            ("\"denormal-fp-math\"=\"preserve-sign,preserve-sign\"", (Says::Unmodelled, Runs::Doubt)),
            ("\"no-nans-fp-math\"=\"true\"", (Says::Promise, Runs::Doubt)),
            ("\"no-nans-fp-math\"=\"false\"", (Says::Promise, Runs::Ignore)),
            ("nobody_knows", (Says::Unmodelled, Runs::Doubt)),
        ] {
            assert_eq!(found(AnnotationTarget::Function, annotation), expected, "{annotation}");
        }
    }
}
