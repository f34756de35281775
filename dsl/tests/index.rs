//! What names mean, by their places.

use rewright_dsl::check::check_indexed;
use rewright_dsl::index::{Entity, Index};
use rewright_dsl::load::{Origin, Root, load};
use rewright_dsl::syntax::ast::Span;
use std::collections::HashSet;
use std::path::Path;

struct Indexed {
    texts: Vec<String>,
    index: Index,
}

/// Checks the first of these packs, whose imports are the others or in the standard library.
fn indexed(packs: &[(&str, &str)]) -> Indexed {
    let std = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdlib_rules");
    let root = Root { origin: Origin::Disk(packs[0].0.into()), text: packs[0].1.into(), library: false };
    let loaded = load(vec![root], &mut |origin: &Origin| match origin {
        Origin::Std(path) => std::fs::read_to_string(std.join(path)).map_err(Into::into),
        Origin::Disk(path) => {
            let found = packs.iter().find(|(name, _)| name == path);
            found.map(|(_, text)| (*text).to_string()).ok_or_else(|| "no such file".into())
        }
    });
    let (_, _, index) = check_indexed(&loaded.files);
    Indexed { texts: loaded.sources.files.into_iter().map(|(_, text)| text).collect(), index }
}

impl Indexed {
    fn text(&self, span: Span) -> &str {
        &self.texts[span.file as usize][span.start as usize..span.end as usize]
    }

    /// The meanings of what stands at the `^` of a line below a line of the first text, as `file:line:name`.
    fn at(&self, needle: &str, nth: usize) -> Vec<String> {
        let offset = self.texts[0].match_indices(needle).nth(nth).expect("the text has it").0;
        let Some(occurrence) = self.index.at(0, offset as u32) else { return vec![] };
        let shown = |span: &Span| {
            let line = self.texts[span.file as usize][..span.start as usize].matches('\n').count() + 1;
            format!("{}:{line}:{}", span.file, self.text(*span))
        };
        occurrence.targets.iter().map(shown).collect()
    }
}

const PACK: &str = "\
pack a
import std.core
import b as q
type Matrix
effect clock
fact small{T <: Int}(x: T)
fn twice{T <: Int}(x: T) -> T  pure  cost 3  spec iadd(x, x)
fn tick() -> ()  effects clock
fn pile(parts: i64...) -> i64  pure  cost 2
ruleset mine {
  rule two{T <: Int}(x: T): twice(x) <=> iadd(x, x) when small(x)
  rule over(p: ptr, v: i32): load(p) after store(v, p) after s => load(p) after store(v, p) after s
  rule lists(xs: i64...): pile(xs...) => pile(ineg(x) for x in xs...)
  rule block(a: i32, b: i32) {
    match part = iadd(a, b)
    let sum = q.other(part)
    rewrite part => sum
  }
  rule bare(x): twice(x) => iadd(x, x)
}
infer one: small(one())
schedule default { saturate mine  run mine }
example \"shown\" (n: i32) fires mine.two, mine.two.back using default: twice(n) becomes iadd(n, n)
example \"program\" (n: i32) { before { m = twice(n) return m } after { return iadd(n, n) } }
";

const OTHER: &str = "pack b\nimport std.core\n/// Another.\nfn other(x: i32) -> i32  pure\n";

#[test]
fn names_lead_to_their_declarations() {
    let found = indexed(&[("a.rw", PACK), ("b.rw", OTHER)]);
    let at = |needle, nth| found.at(needle, nth);
    assert_eq!(at("twice(x) <=>", 0), ["0:7:twice"]);
    assert_eq!(at("small(x)\n", 0), ["0:6:small"]);
    assert_eq!(at("other(part)", 0), ["2:4:other"]);
    assert_eq!(at("q.other", 0), ["0:3:q"]);
    assert_eq!(at("b as q", 0), ["2:1:b"]);
    assert_eq!(at("part => sum", 0), ["0:15:part"]);
    assert_eq!(at("sum\n", 0), ["0:16:sum"]);
    assert_eq!(at("clock\nfn", 0), ["0:5:clock"]);
    assert_eq!(at("mine  run", 0), ["0:10:mine"]);
    assert_eq!(at("mine.two", 0), ["0:10:mine"]);
    assert_eq!(at("two, mine", 0), ["0:11:two"]);
    assert_eq!(at("two.back", 0), ["0:11:two"]);
    assert_eq!(at("default:", 0), ["0:22:default"]);
    assert_eq!(at("s\n", 0), ["0:12:s"]);
    assert_eq!(at("=> load", 0), Vec::<String>::new());
    assert_eq!(at("T): twice(x) <=>", 0), ["0:11:T"]);
    assert_eq!(at("m } after", 0), ["0:24:m"]);
    let [core] = &at("iadd(x, x) when", 0)[..] else { panic!("one overload") };
    assert!(core.ends_with(":iadd") && !core.starts_with("0:"), "{core}");
}

#[test]
fn variables_have_the_types_that_were_found() {
    let found = indexed(&[("a.rw", PACK), ("b.rw", OTHER)]);
    let types: Vec<(&str, &str, bool)> = found
        .index
        .definitions()
        .filter(|(span, _)| span.file == 0)
        .filter_map(|(_, definition)| match &definition.entity {
            Entity::Variable { ty: Some(ty), annotated } => Some((definition.name.as_str(), ty.as_str(), *annotated)),
            _ => None,
        })
        .collect();
    for expected in [("part", "i32", false), ("sum", "i32", false), ("s", "State", true), ("m", "i32", false)] {
        assert!(types.contains(&expected), "{expected:?} in {types:?}");
    }
    assert!(types.contains(&("x", "some Int", false)), "{types:?}");
}

#[test]
fn overloads_are_renamed_together_and_namesakes_are_not() {
    let text = "pack a\nimport std.core\nfn f(x: i32) -> i32  pure\nfn f(x: i64) -> i64  pure\nfact g(x: i32)\n\
                rule r(x: i32): f(x) => x when g(x)\nrule t(x: i64): f(x) => x\n";
    let found = indexed(&[("a.rw", text)]);
    let occurrence = found.index.at(0, text.find("f(x) => x\n").expect("there") as u32).expect("a name");
    assert_eq!(occurrence.targets.len(), 1);
    let together = found.index.renamed_together(&occurrence.targets);
    let places: Vec<u32> = found.index.mentions(&together).map(|mention| mention.span.start).collect();
    let wanted: Vec<u32> = text.match_indices("f(").map(|(at, _)| at as u32).collect();
    assert_eq!(places, wanted);
}

#[test]
fn mistakes_take_nothing_else_away() {
    let text = "pack a\nimport std.core\nfn f(x: i32) -> i32  pure\nrule broken(x: i32): f(x) => \nrule worse(y: i32): \
                nowhere(f(y)) => y\nrule fine(x: i32): f(x) => x\n";
    let found = indexed(&[("a.rw", text)]);
    for at in ["f(y)", "f(x) => x"] {
        assert_eq!(found.at(at, 0), ["0:3:f"], "{at}");
    }
    assert_eq!(found.at("y\nrule", 0), ["0:5:y"]);
}

/// In the packs that ship, every call, type and path is known, and each name stands at its place.
#[test]
fn the_packs_that_ship_are_indexed_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdlib_rules/std");
    let (mut packs, mut seen) = (0, HashSet::new());
    for entry in std::fs::read_dir(folder).expect("packs") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "rw") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let name = format!("{}", path.file_name().expect("a name").display());
        let found = indexed(&[(&name, &text)]);
        packs += 1;
        let mut end = Span::default();
        for occurrence in found.index.occurrences() {
            let span = occurrence.span;
            assert!(span.file > end.file || span.start >= end.end, "{path:?}: {span:?} overlaps {end:?}");
            end = span;
            for (_, definition) in found.index.meanings(occurrence) {
                let written = found.text(span);
                let same = written == definition.name || written.rsplit('.').next() == Some(&definition.name);
                let operator = !written.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '"');
                let other = matches!(definition.entity, Entity::Pack | Entity::Example(_));
                assert!(same || operator || other, "{path:?}: {written} is not {}", definition.name);
                seen.insert(std::mem::discriminant(&definition.entity));
            }
        }
        for (_, item) in found.index.definitions().filter(|(span, _)| span.file == 0) {
            match &item.entity {
                Entity::Rule(rules) => assert!(!rules.is_empty(), "{path:?}: {} is no rule", item.name),
                Entity::Function { ops, .. } => assert!(!ops.is_empty(), "{path:?}: {} is no function", item.name),
                Entity::Variable { ty, .. } => {
                    assert!(ty.is_some(), "{path:?}: {} in {} has no type", item.name, found.text(item.item))
                }
                _ => {}
            }
        }
    }
    assert!(packs > 10 && seen.len() > 7, "{packs} {}", seen.len());
}
