//! Which promise of a type (`!tbaa`) follows from another one.
//!
//! A tag names a type, a scalar in it and where that is. One that names a scalar alone promises the least of all tags of
//! that scalar, and of all scalars that descend from it: what may be the memory of one of those may be its own, too. LLVM
//! gives such a tag to an access that stands for several.

/// Does a promise say no more than another one does?
pub(super) fn follows(promise: &str, other: &str) -> bool {
    promise == other || is_of_scalar(promise, other).unwrap_or(false)
}

/// Is a promise that of a scalar alone, of which another one's descends?
fn is_of_scalar(promise: &str, other: &str) -> Option<bool> {
    let [tag, stronger] = [Nodes::read(promise)?, Nodes::read(other)?];
    let [Operand::Node(base), Operand::Node(scalar), Operand::Word(offset)] = tag.0.first()?.as_slice() else {
        return None;
    };
    if base != scalar || offset != "i64 0" {
        return Some(false);
    }
    let ancestor = tag.shown(*scalar, MOST_NESTED)?;
    let mut at = stronger.0.first()?.get(1);
    while let Some(Operand::Node(ty)) = at {
        if stronger.shown(*ty, MOST_NESTED)? == ancestor {
            return Some(true);
        }
        at = stronger.0.get(*ty)?.get(1);
    }
    Some(false)
}

/// How many nodes a type descends from.
const MOST_NESTED: u32 = 16;

/// What a node holds.
enum Operand {
    Node(usize),
    Word(String),
}

/// A node and all that it leads to, in the order in which they are mentioned first.
struct Nodes(Vec<Vec<Operand>>);

impl Nodes {
    /// Reads `!tbaa !{!{!"int", .., i64 0}, ^1, i64 0}`.
    fn read(promise: &str) -> Option<Nodes> {
        let mut rest = promise.strip_prefix("!tbaa")?.trim_start_matches(['(', ' ']).trim_end_matches(')');
        let mut nodes: Vec<Vec<Operand>> = vec![];
        let mut open: Vec<usize> = vec![];
        loop {
            rest = rest.trim_start_matches([' ', ',']);
            let into = |nodes: &mut Vec<Vec<Operand>>, open: &[usize], operand| {
                open.last().and_then(|at| nodes.get_mut(*at)).map(|node| node.push(operand))
            };
            if let Some(inside) = rest.strip_prefix("!{") {
                let number = nodes.len();
                if number > 0 {
                    into(&mut nodes, &open, Operand::Node(number))?;
                }
                nodes.push(vec![]);
                open.push(number);
                rest = inside;
            } else if let Some(behind) = rest.strip_prefix('}') {
                open.pop()?;
                if open.is_empty() {
                    return behind.is_empty().then_some(Nodes(nodes));
                }
                rest = behind;
            } else {
                let end = match rest.strip_prefix("!\"") {
                    Some(name) => name.find('"')? + 3,
                    None => rest.find([',', '}'])?,
                };
                let (word, behind) = rest.split_at(end);
                let operand = match word.strip_prefix('^') {
                    Some(number) => Operand::Node(number.parse().ok()?),
                    // A `distinct` node is not read.
                    None if word.starts_with("!\"") || word.starts_with("i64 ") => Operand::Word(word.to_string()),
                    None => return None,
                };
                into(&mut nodes, &open, operand)?;
                rest = behind;
            }
        }
    }

    /// The text of a node with all that it leads to; `None` where that has no end soon.
    fn shown(&self, node: usize, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let parts = self.0.get(node)?.iter().map(|operand| match operand {
            Operand::Word(word) => Some(word.clone()),
            Operand::Node(other) => self.shown(*other, depth),
        });
        Some(format!("{{{}}}", parts.collect::<Option<Vec<_>>>()?.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::follows;

    #[test]
    fn a_tag_of_a_scalar_promises_the_least() {
        let char = "!{!\"char\", !{!\"root\"}, i64 0}";
        let scalar = |name: &str| format!("!tbaa !{{!{{!\"{name}\", {char}, i64 0}}, ^1, i64 0}}");
        let [int, long, of_char] = [scalar("int"), scalar("long"), format!("!tbaa !{{{char}, ^1, i64 0}}")];
        // A structure with an int and a long behind it, and accesses to these.
        let ty = format!("!{{!\"s\", !{{!\"int\", {char}, i64 0}}, i64 0, !{{!\"long\", ^3, i64 0}}, i64 8}}");
        let [first, second] = [("^2", 0), ("^5", 8)].map(|(ty_of, at)| format!("!tbaa !{{{ty}, {ty_of}, i64 {at}}}"));
        for (weak, strong, holds) in [
            (&int, &int, true),
            (&int, &first, true),
            (&long, &second, true),
            (&of_char, &first, true),
            (&of_char, &int, true),
            (&int, &second, false),
            (&long, &first, false),
            (&first, &int, false),
            (&int, &of_char, false),
            (&first, &second, false),
        ] {
            assert_eq!(follows(weak, strong), holds, "{weak}\n{strong}");
        }
        assert!(!follows("!tbaa !{distinct !{}}", &int) && !follows("!tbaa", "!noalias"));
    }
}
