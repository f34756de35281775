//! Loops that make progress: they end, or do something that others see. One that goes on for ever without an effect makes
//! the program undefined.
//!
//! LLVM says so of all loops of a function that is `mustprogress`, or `willreturn`, which implies it; and of a loop all of
//! whose latches carry one `!llvm.loop` with `llvm.loop.mustprogress`, as clang writes of loops in C whose condition is no
//! constant. A promise about an outer loop is not taken to be one about inner loops.

use super::Imported;
use crate::body::Instruction;
use crate::module::{Definition, File};
use rewright_cfg_skeleton::ir::{BlockId, Cfg};

/// Notes at the headers of loops that they must make progress.
pub(super) fn note(file: &File, definition: &Definition, imported: &mut Imported) {
    let cfg = Cfg::new(&imported.function);
    let all = definition.attributes.iter().any(|a| a == "mustprogress" || a == "willreturn");
    if cfg.loop_count() == 0 || !all && file.progressing_loops.is_empty() {
        return;
    }
    let metadata = |latch: &BlockId| {
        let original = *imported.payloads.blocks.get(latch.index())?;
        let end: &Instruction = imported.body.blocks[original].instructions.last()?;
        end.metadata.iter().find(|(kind, _)| kind == "!llvm.loop").map(|(_, node)| node.as_str())
    };
    let is_said = |latches: &[BlockId]| {
        let first = latches.first().and_then(metadata);
        first.is_some_and(|node| {
            file.progressing_loops.contains(node) && latches.iter().all(|latch| metadata(latch) == first)
        })
    };
    // In an irreducible region, a header may become one of a larger loop, of which nothing has been said.
    let headers: Vec<BlockId> = cfg
        .loops()
        .filter(|(_, l)| !cfg.is_irreducible(l.header) && (all || is_said(&l.latches)))
        .map(|(_, l)| l.header)
        .collect();
    for header in headers {
        imported.function.blocks[header.index()].must_progress = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Types, import};
    use crate::module::read;
    use crate::names::Names;
    use crate::sample;

    /// Labels of headers of loops that must make progress in `@f`.
    fn headers(attributes: &str, body: &str) -> Vec<String> {
        let mut universe = sample::universe();
        let names = Names::new(&mut universe);
        let file = read(format!(
            "target datalayout = \"e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
             define void @f(i1 %a, i1 %b) {attributes} {{\n{body}}}\n\
             attributes #0 = {{ nounwind willreturn }}\n\
             !1 = distinct !{{!1, !9}}\n!2 = distinct !{{!2, !9}}\n!3 = distinct !{{!3}}\n\
             !9 = !{{!\"llvm.loop.mustprogress\"}}\n"
        ))
        .unwrap();
        let imported = import(&file, &file.functions[0], &names, &mut Types::new(&names, &universe)).unwrap();
        let blocks = imported.function.layout.iter().filter(|b| imported.function.block(**b).must_progress);
        blocks.map(|b| imported.body.blocks[imported.payloads.blocks[b.index()]].label.clone()).collect()
    }

    /// Two nested loops; the inner one has two latches.
    fn nested([outer, first, second]: [&str; 3]) -> String {
        format!(
            "  br label %o\no:\n  br label %i\ni:\n  br i1 %a, label %j, label %l\n\
             j:\n  br i1 %b, label %i, label %k{first}\nk:\n  br i1 %a, label %i, label %o2{second}\n\
             o2:\n  br label %l\nl:\n  br i1 %b, label %o, label %e{outer}\ne:\n  ret void\n"
        )
    }

    #[test]
    fn attributes_speak_of_all_loops() {
        let body = nested(["", "", ""]);
        for attributes in ["mustprogress", "#0", "nounwind willreturn"] {
            assert_eq!(headers(attributes, &body), ["%o", "%i"], "{attributes}");
        }
        assert!(headers("nounwind", &body).is_empty());
    }

    #[test]
    fn metadata_speaks_of_one_loop() {
        let of = |nodes: [&str; 3]| {
            headers(
                "nounwind",
                &nested(
                    nodes
                        .map(|n| if n.is_empty() { n.into() } else { format!(", !llvm.loop {n}") })
                        .each_ref()
                        .map(String::as_str),
                ),
            )
        };
        assert_eq!(of(["!1", "", ""]), ["%o"]);
        assert_eq!(of(["!3", "!1", "!1"]), ["%i"]);
        assert_eq!(of(["!2", "!1", "!1"]), ["%o", "%i"]);
        // One latch only, two loops, and a node that does not say it.
        for nodes in [["", "!1", ""], ["", "!1", "!2"], ["", "!3", "!3"], ["!3", "", ""]] {
            assert!(of(nodes).is_empty(), "{nodes:?}");
        }
    }

    #[test]
    fn cycles_with_two_entries_are_left_alone() {
        let body = "  br i1 %a, label %x, label %y\nx:\n  br label %y\ny:\n  br label %z\nz:\n  \
                    br i1 %b, label %y, label %w, !llvm.loop !1\nw:\n  br i1 %a, label %x, label %e\ne:\n  ret void\n";
        assert!(headers("mustprogress", body).is_empty());
    }
}
