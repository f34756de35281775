//! Random programs that access memory, and views in which loads are forwarded, for tests of what is done with stores.

use crate::egraph::{EGraphInput, EGraphView, Head, InputId, Node};
use crate::ir::Function;
use crate::ir::parse::read;
use crate::testing::random::Random;
use crate::testing::view;
use rewright_typeprop::{Model, Universe};
use std::fmt::Write;

/// The view in which loads are forwarded from stores, and pass those elsewhere from the same base.
pub(super) fn forwarded(input: &EGraphInput, u: &Universe) -> EGraphView {
    let model = |node: &Node<InputId>| match node.head {
        Head::Op(op) => u.ops.get(op).model,
        _ => None,
    };
    let mut equal: Vec<(InputId, InputId)> = vec![];
    loop {
        let seen = view(input, &equal);
        let class = |input: InputId| seen.class_of(input);
        let before = equal.len();
        let stores = |state: InputId| {
            let all = (0..input.nodes.len() as u32).map(InputId);
            all.filter(move |n| model(&input.nodes[n.index()]) == Some(Model::Store) && class(*n) == class(state))
        };
        for (n, load) in (0u32..).map(InputId).zip(&input.nodes) {
            if model(load) != Some(Model::Load) {
                continue;
            }
            let [p, o, state] = load.children[..] else { panic!("a load has two operands") };
            for store in stores(state) {
                let store = &input.nodes[store.index()];
                let [q, value, at, earlier] = store.children[..] else { panic!("a store has three") };
                let offsets = [o, at].map(|o| seen.class(class(o)).constant);
                let known = if class(p) != class(q) || load.types != store.types {
                    None
                } else if offsets[0] == offsets[1] {
                    Some(value)
                } else if let [Some(a), Some(b)] = offsets.map(|o| o.filter(|_| true))
                    && (a - b).abs() >= 4
                {
                    let same = |other: &Node<InputId>| {
                        other.head == load.head
                            && other.types == load.types
                            && other.children[..2].iter().map(|c| class(*c)).eq([class(p), class(o)])
                            && class(other.children[2]) == class(earlier)
                    };
                    input.nodes.iter().position(same).map(|at| InputId(at as u32))
                } else {
                    None
                };
                equal.extend(known.filter(|known| class(*known) != class(n)).map(|known| (n, known)));
            }
        }
        if equal.len() == before {
            return seen;
        }
    }
}

/// A function of accesses that trap only where they say so.
pub(super) fn function(text: &str, u: &mut Universe) -> Function {
    let line = |line: &str| match line.contains('@') || !(line.contains("load ") || line.contains("store ")) {
        true => line.to_string(),
        false => match line.split_once(" trap=") {
            Some((access, code)) => format!("{access} @region0 trap={code}"),
            None => format!("{line} @region0"),
        },
    };
    let text = text.lines().map(line).collect::<Vec<String>>().join("\n");
    read(&text, u).unwrap_or_else(|e| panic!("{e:?}\n{text}")).functions.remove(0)
}

/// A function of nested loops and arms that loads and stores, as text.
struct Writer {
    random: Random,
    text: String,
    names: usize,
    traps: bool,
}

impl Writer {
    fn name(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    fn offset(&mut self) -> &'static str {
        ["%o0", "%o0", "%o0", "%o4", "%o2"][self.random.below(5)]
    }

    fn access(&mut self) -> &'static str {
        if self.traps { ["", " trap=3", "", " trap=2"][self.random.below(4)] } else { "" }
    }

    /// Some statements; what they make of the value at hand.
    fn body(&mut self, mut at: String, depth: usize) -> String {
        for _ in 0..1 + self.random.below(4) {
            let n = self.name();
            let (offset, access) = (self.offset(), self.access());
            match self.random.below(12) {
                0..3 => {
                    let _ = write!(self.text, "  %l{n}: i32 = load %p, {offset}{access}\n  %v{n} = iadd %l{n}, {at}\n");
                    at = format!("%v{n}");
                }
                3..6 => {
                    let _ = writeln!(self.text, "  store %p, {at}, {offset}{access}");
                }
                6 if self.random.once_in(3) => self.text.push_str("  opaque 1 writes ()\n"),
                6 if self.random.once_in(3) => self.text.push_str("  tick\n"),
                7 if depth > 0 => {
                    let _ = write!(self.text, "  br {at}, t{n}, e{n}\nt{n}:\n");
                    let then = self.body(at.clone(), depth - 1);
                    let _ = write!(self.text, "  jump j{n}({then})\ne{n}:\n");
                    let els = if self.random.once_in(2) { self.body(at, depth - 1) } else { at };
                    let _ = write!(self.text, "  jump j{n}({els})\nj{n}(%v{n}: i32):\n");
                    at = format!("%v{n}");
                }
                8..12 if depth > 0 => at = self.looping(n, &at, depth - 1),
                _ => {
                    let _ = writeln!(self.text, "  %v{n} = iadd {at}, %x");
                    at = format!("%v{n}");
                }
            }
        }
        at
    }

    fn looping(&mut self, n: usize, at: &str, depth: usize) -> String {
        let trips = ["%three", "%y", "%one"][self.random.below(3)];
        let _ = write!(self.text, "  jump h{n}({trips}, {at})\nh{n}(%i{n}: i32, %a{n}: i32):\n");
        let first = self.random.once_in(3);
        if first {
            let _ = write!(self.text, "  br %i{n}, b{n}, o{n}(%a{n})\nb{n}:\n");
        }
        let end = self.body(format!("%a{n}"), depth);
        if self.random.once_in(4) {
            let _ = write!(self.text, "  %c{n} = band {end}, %three\n  br %c{n}, g{n}, o{n}({end})\ng{n}:\n");
        }
        let _ = writeln!(self.text, "  %j{n} = isub %i{n}, %one");
        let _ = match first {
            true => writeln!(self.text, "  jump h{n}(%j{n}, {end})"),
            false => writeln!(self.text, "  br %j{n}, h{n}(%j{n}, {end}), o{n}({end})"),
        };
        let _ = writeln!(self.text, "o{n}(%r{n}: i32):");
        format!("%r{n}")
    }
}

/// A random one.
pub(super) fn written(seed: u64) -> String {
    let mut writer = Writer { random: Random(seed), text: String::new(), names: 0, traps: seed.is_multiple_of(3) };
    writer.text.push_str(
        "func %f(%p: i64, %x: i32, %y: i32) -> i32 {\n  %o0: i64 = const 0\n  %o4: i64 = const 4\n  %o2: i64 = const 2\n  \
         %one: i32 = const 1\n  %three: i32 = const 3\n",
    );
    let at = writer.body("%x".into(), 3);
    let _ = write!(writer.text, "  return {at}\n}}\n");
    writer.text
}
