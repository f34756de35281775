use super::super::{Types, import};
use super::*;
use crate::module::read;
use crate::names::Names;
use crate::sample;

/// By load and store of `@f`, in order: what is not seen. Tags 20, 21 and 22 are of `int`, `float` and `char`; scopes 32 and 33
/// of one domain, 34 of another.
fn unseen(body: &str) -> Vec<Vec<Option<Unseen>>> {
    let mut universe = sample::universe();
    let names = Names::new(&mut universe);
    let file = read(format!(
        "target datalayout = \"e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
         declare void @llvm.experimental.noalias.scope.decl(metadata) #0\n\
         define void @f(ptr %p, ptr %q, i1 %c) {{\n{body}}}\n\
         attributes #0 = {{ nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }}\n\
         !0 = !{{!\"root\"}}\n!1 = !{{!\"omnipotent char\", !0, i64 0}}\n!2 = !{{!\"int\", !1, i64 0}}\n\
         !3 = !{{!\"float\", !1, i64 0}}\n!20 = !{{!2, !2, i64 0}}\n!21 = !{{!3, !3, i64 0}}\n!22 = !{{!1, !1, i64 0}}\n\
         !30 = distinct !{{!30, !\"one\"}}\n!31 = distinct !{{!31, !\"two\"}}\n\
         !32 = distinct !{{!32, !30, !\"a\"}}\n!33 = distinct !{{!33, !30, !\"b\"}}\n!34 = distinct !{{!34, !31, !\"a\"}}\n\
         !42 = !{{!32}}\n!43 = !{{!33}}\n!44 = !{{!34}}\n!45 = !{{!32, !34}}\n"
    ))
    .unwrap();
    let imported = import(&file, &file.functions[0], &names, &mut Types::new(&names, &universe)).unwrap();
    let f = &imported.function;
    let accesses = |loads: bool| {
        let insts = f.layout.iter().flat_map(|block| &f.block(*block).insts).copied();
        let is_wanted = move |inst: &InstId| {
            let inst = f.inst(*inst);
            matches!(inst.kind, InstKind::Op { access: Some(_), .. }) && inst.results.is_empty() != loads
        };
        insts.filter(is_wanted).collect::<Vec<_>>()
    };
    let of = |load: InstId| accesses(false).iter().map(|store| f.aliases.unseen(load, *store)).collect();
    accesses(true).into_iter().map(of).collect()
}

fn load(metadata: &str) -> String {
    format!("  %{} = load i32, ptr %p, align 4{metadata}\n", metadata.len())
}

fn store(metadata: &str) -> String {
    format!("  store i32 0, ptr %q, align 4{metadata}\n")
}

fn declare(list: u32) -> String {
    format!("  call void @llvm.experimental.noalias.scope.decl(metadata !{list})\n")
}

const SCOPED: [&str; 2] = [", !alias.scope !42", ", !noalias !42"];

#[test]
fn accesses_of_other_types_are_not_seen() {
    let all = ["", ", !tbaa !20", ", !tbaa !21", ", !tbaa !22", ", !tbaa !99"];
    let stores: String = all.map(store).concat();
    let found = unseen(&format!("{stores}{}{}  ret void\n", load(", !tbaa !20"), load("")));
    assert_eq!(found, [vec![None, None, Some(Unseen::All), None, None], vec![None; 5]]);
}

#[test]
fn volatile_and_atomic_accesses_are_no_accesses() {
    let body = "  %v = load volatile i32, ptr %p, align 4, !tbaa !20\n  store i32 0, ptr %q, align 4, !tbaa !21\n\
                \x20 %a = load atomic i32, ptr %p monotonic, align 4, !tbaa !20\n  ret void\n";
    assert!(unseen(body).is_empty());
}

#[test]
fn scopes_hold_of_the_last_store() {
    let [of, not] = SCOPED;
    for (one, other) in [(of, not), (not, of)] {
        let found = unseen(&format!("{}{}{}  ret void\n", declare(42), store(one), load(other)));
        assert_eq!(found, [[Some(Unseen::Last)]]);
    }
    let found = unseen(&format!("{}{}  ret void\n", store(of), load(", !noalias !43")));
    assert_eq!(found, [[None]]);
}

#[test]
fn a_scope_that_is_declared_in_between_is_another_one() {
    let [of, not] = SCOPED;
    for (list, is_other) in [(42, true), (43, true), (44, false), (45, true), (99, true)] {
        let found = unseen(&format!("{}{}{}  ret void\n", store(not), declare(list), load(of)));
        let expected = if is_other { None } else { Some(Unseen::Last) };
        assert_eq!(found, [[expected]], "{list}");
    }
    // One domain is enough.
    let both = [", !alias.scope !45", ", !noalias !45"];
    let found = unseen(&format!("{}{}{}  ret void\n", store(both[1]), declare(42), load(both[0])));
    assert_eq!(found, [[Some(Unseen::Last)]]);
    let found = unseen(&format!("{}{}{}{}  ret void\n", store(both[1]), declare(42), declare(44), load(both[0])));
    assert_eq!(found, [[None]]);
}

/// A loop over some instructions.
fn around(body: &str) -> String {
    format!("  br label %l\nl:\n{body}  br i1 %c, label %l, label %e\ne:\n  ret void\n")
}

#[test]
fn each_iteration_declares_its_own_scopes() {
    let [of, not] = SCOPED;
    let [declared, stored, loaded] = [declare(42), store(not), load(of)];
    // The last store before the load is of the same iteration.
    assert_eq!(unseen(&around(&format!("{declared}{stored}{loaded}"))), [[Some(Unseen::Last)]]);
    // It is of the iteration before.
    assert_eq!(unseen(&around(&format!("{declared}{loaded}{stored}"))), [[None]]);
    // It may be.
    let arm = format!("{declared}  br i1 %c, label %s, label %m\ns:\n{stored}  br label %m\nm:\n{loaded}");
    assert_eq!(unseen(&around(&arm)), [[None]]);
    // Declared outside, all are of one.
    assert_eq!(unseen(&format!("{declared}{}", around(&format!("{loaded}{stored}")))), [[Some(Unseen::Last)]]);
}
