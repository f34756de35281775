//! Functions that take lists take those of the program's calls, and so do rules about them.

use crate::ran::rewright;
use std::fmt::Write;
use std::fs;

const PACK: &str = "\
pack l
import std.core
type M
fn cat(parts...: M) -> M  pure  cost 10
fn first(x: M) -> M  pure  cost 1

ruleset rules {
  rule flat(xs...: M, ys...: M, zs...: M): cat(xs..., cat(ys...), zs...) => cat(xs..., ys..., zs...)
  rule head(x: M, xs...: M): first(cat(x, xs...)) => x
}
";

/// `func %f` of this many parameters.
fn function(name: &str, parameters: usize, body: &str) -> String {
    let parameters: Vec<String> = (0..parameters).map(|i| format!("%a{i}: M")).collect();
    format!("func {name}({}) -> M {{\n{body}}}\n", parameters.join(", "))
}

fn operands(range: std::ops::Range<usize>) -> String {
    range.map(|i| format!("%a{i}")).collect::<Vec<_>>().join(", ")
}

/// What `opt` makes of a module, and what it says.
fn optimised(pack: &str, module: &str) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("l.rw"), pack).unwrap();
    fs::write(dir.path().join("m.ir"), module).unwrap();
    let ran = rewright(dir.path(), "opt m.ir --rules l.rw");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    (ran.stdout, ran.stderr)
}

#[test]
fn calls_of_any_length_are_optimised() {
    // Rules about one list, each call by itself.
    let pack: String = PACK.lines().filter(|line| !line.contains("rule flat")).flat_map(|line| [line, "\n"]).collect();
    let lengths = [1, 5, 12, 40, 200];
    let call = |n| format!("  %x = cat {}\n  %r = first %x\n  return %r\n", operands(0..n));
    let module: String = lengths.iter().map(|n| function(&format!("%f{n}"), *n, &call(*n))).collect();
    let (out, _) = optimised(&pack, &module);
    assert_eq!(out.matches("return v0\n").count(), lengths.len(), "{out}");
    assert!(!out.contains("cat"), "{out}");
}

#[test]
fn rules_make_the_lengths_that_a_program_needs() {
    // One list of 40, as 17 and 24, of which one is the other.
    let [before, behind] = [operands(17..30), operands(30..40)];
    let body = format!("  %x = cat {}\n  %y = cat {before}, %x, {behind}\n  return %y\n", operands(0..17));
    let (out, said) = optimised(PACK, &function("%f", 40, &body));
    assert_eq!(out.matches(" = cat").count(), 1, "{out}");
    assert!(!said.contains("RW0513"), "{said}");
}

#[test]
fn rules_that_are_cut_short_are_named() {
    let mut body = String::from("  %x0 = cat %a0, %a1\n");
    for i in 0..40 {
        writeln!(body, "  %x{} = cat %x{i}, %a{}", i + 1, i + 2).unwrap();
    }
    body += "  return %x40\n";
    let (_, said) = optimised(PACK, &function("%f", 42, &body));
    assert!(said.contains("RW0513") && said.contains("rule `flat` is not applied to lists of all lengths"), "{said}");
}

/// What is as long as the program's lists are together is made, however long that is; what is longer is said.
#[test]
fn lists_are_as_long_as_the_program_needs() {
    let call = |n: usize| format!("  %x = cat {}\n  %y = cat %a0, %x\n  return %y\n", operands(0..n));
    for n in [65, 100, 250] {
        let (out, said) = optimised(PACK, &function("%f", n, &call(n)));
        assert_eq!(out.matches(" = cat").count(), 1, "{n}: {out}");
        assert!(!said.contains("RW0513"), "{n}: {said}");
    }
    let (out, said) = optimised(PACK, &function("%f", 255, &call(255)));
    assert_eq!(out.matches(" = cat").count(), 2, "{out}");
    assert!(said.contains("RW0513") && said.contains("makes lists of at most 255 elements"), "{said}");
    // A list that is used several times is written out as often.
    let body = format!("  %x = cat {}\n  %y = cat %x, %x, %x\n  return %y\n", operands(0..30));
    let (out, said) = optimised(PACK, &function("%f", 30, &body));
    assert_eq!(out.matches(" = cat").count(), 1, "{out}");
    assert!(!said.contains("RW0513"), "{said}");
}

/// Of the program's own lists, rules make longer ones; where that could go on for ever, it is said that it does not.
#[test]
fn rules_that_make_longer_lists_are_applied_to_those_that_are_there() {
    let pack = "pack l\nimport std.core\ntype M\nfn cat(parts...: M) -> M  pure  cost 10\n\
                fn twice(parts...: M) -> M  pure  cost 100\n\
                rule double(xs...: M): twice(xs...) => cat(xs..., xs...)\n";
    let module = function("%f", 40, &format!("  %x = twice {}\n  return %x\n", operands(0..40)));
    let (out, said) = optimised(pack, &module);
    assert!(out.contains(" = cat") && !said.contains("RW0513"), "{out}{said}");
    let grows = format!("{pack}rule more(xs...: M): cat(xs...) => twice(xs..., xs...)\n");
    let (_, said) = optimised(&grows, &module);
    assert!(said.contains("RW0513") && said.contains("of what rules have made, it makes lists of at most "), "{said}");
}

#[test]
fn lists_that_are_too_long_are_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("l.rw"), PACK).unwrap();
    fs::write(dir.path().join("m.ir"), function("%f", 300, &format!("  %x = cat {}\n  return %x\n", operands(0..300))))
        .unwrap();
    let ran = rewright(dir.path(), "opt m.ir --rules l.rw");
    assert!(ran.stderr.contains("calls of `cat` with long lists are not known"), "{}", ran.stderr);
}
