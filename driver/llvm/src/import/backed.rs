//! Which instructions are poison only where the function has no meaning.
//!
//! A flag such as `nsw` makes the result poison where what it promises does not hold. Where undefined behaviour follows
//! from that poison in every execution of the function, the promise holds in all executions that have a meaning, and is a
//! fact about the operands as values. Everywhere else the flag is a fact of that one instruction, and says nothing of values
//! that are equal to its result.
//!
//! What every execution passes is the function's beginning: its first block, and blocks behind it that only one edge enters,
//! up to what may not return or throw.
//!
//! **Invariant**: each place that is given is executed, and poison there reaches a use that has no meaning then, in every
//! execution that returns from, traps in or leaves the beginning.

use super::InstPosition;
use crate::body::{Body, Instruction, Shape};
use crate::effects;
use crate::grammar::{self, Form};
use crate::module::File;
use rustc_hash::FxHashSet;

/// How many instructions behind one are looked at.
const WINDOW: usize = 64;

/// The places of instructions with flags whose promises hold whenever the function is executed.
pub(super) fn backed(file: &File, body: &Body) -> FxHashSet<InstPosition> {
    let beginning = beginning(file, body);
    let is_backed = |at: &usize| {
        let Some(name) = beginning[*at].1.result.as_deref() else { return false };
        let mut poison: FxHashSet<&str> = FxHashSet::from_iter([name]);
        beginning[*at + 1..].iter().take(WINDOW).any(|(_, instruction)| {
            if passes(instruction, &poison) {
                poison.extend(instruction.result.as_deref());
            }
            is_undefined(instruction, &poison)
        })
    };
    let flagged = (0..beginning.len()).filter(|at| !beginning[*at].1.flags.is_empty());
    flagged.filter(is_backed).map(|at| beginning[at].0).collect()
}

/// The instructions that every execution comes to, in order.
fn beginning<'b>(file: &File, body: &'b Body) -> Vec<(InstPosition, &'b Instruction)> {
    let mut found = vec![];
    let mut at = 0;
    while let Some(block) = body.blocks.get(at) {
        for (place, instruction) in block.instructions.iter().enumerate() {
            found.push(((at, place), instruction));
            if !goes_on(file, instruction) {
                return found;
            }
        }
        let Some(Shape::Jump(label)) = block.instructions.last().map(|last| &last.shape) else { break };
        let edges = body.blocks.iter().flat_map(|block| block.targets()).filter(|target| *target == label);
        let Some(next) = body.blocks.iter().position(|block| block.label == *label) else { break };
        // The entry has no edges, so what follows is new.
        if edges.count() != 1 || next == 0 {
            break;
        }
        at = next;
    }
    found
}

/// Does what follows an instruction run, whatever it does?
fn goes_on(file: &File, instruction: &Instruction) -> bool {
    match &instruction.shape {
        Shape::Plain(_) | Shape::Offset { .. } | Shape::Phi(_) | Shape::Alloca(_) | Shape::Jump(_) => true,
        // A volatile access may not return.
        Shape::Load(_, access) | Shape::Store(_, _, access) => access.plain,
        Shape::Call { callee, attributes, bundles, .. } => {
            let attributes = effects::attributes(file, callee.as_deref(), attributes);
            let says = |word: &str| attributes.iter().flatten().any(|attribute| attribute == word);
            !bundles && says("willreturn") && says("nounwind")
        }
        Shape::Branch(..)
        | Shape::Switch(..)
        | Shape::Return(_)
        | Shape::Unreachable
        | Shape::Atomic(..)
        | Shape::Other => false,
    }
}

/// Is the result poison if one of these values is?
fn passes(instruction: &Instruction, poison: &FxHashSet<&str>) -> bool {
    let is_poison = |operand: &crate::body::Operand| poison.contains(operand.text.as_str());
    match &instruction.shape {
        Shape::Offset { base, indices, .. } => is_poison(base) || indices.iter().any(is_poison),
        Shape::Plain(operands) => match form(instruction) {
            Some(Form::Binary(_) | Form::Unary | Form::Compare | Form::Cast) => operands.iter().any(is_poison),
            Some(Form::Select) => operands.first().is_some_and(is_poison),
            _ => false,
        },
        _ => false,
    }
}

/// Has the instruction no meaning if one of these values is poison?
fn is_undefined(instruction: &Instruction, poison: &FxHashSet<&str>) -> bool {
    let is_poison = |operand: &crate::body::Operand| poison.contains(operand.text.as_str());
    match &instruction.shape {
        Shape::Load(address, _) | Shape::Store(_, address, _) => is_poison(address),
        Shape::Plain(operands) => {
            form(instruction) == Some(Form::Binary(true)) && operands.get(1).is_some_and(is_poison)
        }
        Shape::Branch(condition, _) | Shape::Switch(condition, ..) => is_poison(condition),
        Shape::Call { callee, args, promises, .. } => {
            let assumes = callee.as_deref() == Some("@llvm.assume");
            let wants = |promises: &Vec<String>| promises.iter().any(|promise| promise == "noundef");
            args.iter().enumerate().any(|(i, arg)| is_poison(arg) && (assumes || promises.get(i).is_some_and(wants)))
        }
        _ => false,
    }
}

fn form(instruction: &Instruction) -> Option<Form> {
    grammar::form(instruction.opcode.split(' ').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::read;
    use crate::module;

    /// The results of instructions of `%f` whose promises hold.
    fn names(body: &str) -> Vec<String> {
        let text = format!(
            "declare void @may_not_return()\ndeclare void @returns(i32 noundef) #0\ndeclare void @llvm.assume(i1) #0\n\
             define i32 @f(i32 %x, i32 %y, ptr %p, i1 %b) {{\n{body}}}\nattributes #0 = {{ nounwind willreturn }}\n"
        );
        let file = module::read(text).unwrap();
        let body = read(&file, &file.functions[0]).unwrap();
        let mut places: Vec<InstPosition> = backed(&file, &body).into_iter().collect();
        places.sort_unstable();
        places.iter().map(|(b, i)| body.blocks[*b].instructions[*i].result.clone().unwrap()).collect()
    }

    const SUM: &str = "  %s = add nsw i32 %x, %y\n";

    #[test]
    fn poison_without_a_meaning_backs_a_flag() {
        for rest in [
            "  %w = sext i32 %s to i64\n  %q = getelementptr i8, ptr %p, i64 %w\n  %v = load i8, ptr %q\n  ret i32 0\n",
            "  %d = udiv i32 %x, %s\n  ret i32 0\n",
            "  %c = icmp slt i32 %s, 9\n  br i1 %c, label %a, label %a\na:\n  ret i32 0\n",
            "  switch i32 %s, label %a [ ]\na:\n  ret i32 0\n",
            "  call void @returns(i32 noundef %s)\n  ret i32 0\n",
            "  %c = icmp slt i32 %s, 9\n  call void @llvm.assume(i1 %c)\n  ret i32 0\n",
            "  call void @returns(i32 %x)\n  br label %a\na:\n  %d = srem i32 1, %s\n  ret i32 0\n",
            "  %c = icmp slt i32 %s, 9\n  %e = select i1 %c, i32 1, i32 2\n  %d = udiv i32 %x, %e\n  ret i32 0\n",
        ] {
            assert_eq!(names(&format!("{SUM}{rest}")), ["%s"], "{rest}");
        }
    }

    #[test]
    fn poison_that_may_have_a_meaning_does_not() {
        for rest in [
            // It is returned, stored, or frozen.
            "  ret i32 %s\n",
            "  store i32 %s, ptr %p\n  ret i32 0\n",
            "  %g = freeze i32 %s\n  %d = udiv i32 %x, %g\n  ret i32 0\n",
            // It is divided, and not what divides.
            "  %d = udiv i32 %s, %x\n  ret i32 0\n",
            // Other code may not return.
            "  call void @may_not_return()\n  %d = udiv i32 %x, %s\n  ret i32 0\n",
            "  store volatile i32 %x, ptr %p\n  %d = udiv i32 %x, %s\n  ret i32 0\n",
            // Not in every execution.
            "  br i1 %b, label %a, label %c\na:\n  %d = udiv i32 %x, %s\n  ret i32 0\nc:\n  ret i32 0\n",
            "  %e = select i1 %b, i32 %s, i32 2\n  %d = udiv i32 %x, %e\n  ret i32 0\n",
            "  call void @returns(i32 %s)\n  ret i32 0\n",
        ] {
            assert_eq!(names(&format!("{SUM}{rest}")), Vec::<String>::new(), "{rest}");
        }
        // A loop's first iteration is not all of them.
        let body = "  br label %l\nl:\n  %i = phi i32 [ 0, %0 ], [ %s, %l ]\n  %s = add nsw i32 %i, %x\n  \
                    %d = udiv i32 1, %s\n  br i1 %b, label %l, label %e\ne:\n  ret i32 0\n";
        assert_eq!(names(body), Vec::<String>::new());
    }
}
