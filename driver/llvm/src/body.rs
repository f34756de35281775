//! The body of a function as data: blocks of instructions, each with its operands as far as any code uses them, and
//! with its text as a template for the way back.
//!
//! A form that is not understood is reported as a reason, and the function stays as it is.

use super::error::NotUnderstood;
use super::lex::{Kind, Token, tokens};
use super::module::{Definition, File};
use super::parse;

pub use super::instruction::{InMemory, Instruction, MemoryAccess, Operand, Role, Shape, Slot, Template};

/// A block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// With its sigil.
    pub label: String,
    /// The last one ends it.
    pub instructions: Vec<Instruction>,
}

impl Block {
    /// The `phi` instructions that it begins with.
    pub fn phis(&self) -> impl Iterator<Item = &Instruction> + Clone {
        self.instructions.iter().take_while(|i| matches!(i.shape, Shape::Phi(_)))
    }

    /// Labels of the blocks that may come next.
    pub fn targets(&self) -> Vec<&String> {
        match self.instructions.last().map(|i| &i.shape) {
            Some(Shape::Jump(label)) => vec![label],
            Some(Shape::Branch(_, labels)) => labels.iter().collect(),
            Some(Shape::Switch(_, default, cases)) => cases.iter().map(|(_, label)| label).chain([default]).collect(),
            _ => vec![],
        }
    }
}

/// A body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Body {
    /// The first one is the entry.
    pub blocks: Vec<Block>,
    /// Where variables live: the value that is the address, and the text around it.
    pub variables: Vec<(String, [String; 2])>,
}

/// Reads the body of a function; the reason where it is not understood.
pub fn read(file: &File, definition: &Definition) -> Result<Body, NotUnderstood> {
    let text = &file.text[definition.body.clone()];
    let tokens = tokens(text);
    if let Some(bad) = tokens.iter().find(|t| t.kind == Kind::Unknown) {
        return Err(format!("a character that LLVM does not use: `{}`", &text[bad.start..bad.end]).into());
    }
    // An entry without a label takes the number after those of the parameters.
    let numbered = definition.parameters.iter().filter(|p| p.name[1..].bytes().all(|b| b.is_ascii_digit())).count();
    let mut body = Body { blocks: vec![], variables: vec![] };
    for line in lines(text, &tokens) {
        let word = |i: usize| line.get(i).map_or("", |t: &Token| &text[t.start..t.end]);
        if word(0).starts_with("#dbg_") {
            variable(text, line, &mut body);
        } else if word(1) == ":" && line.len() == 2 {
            let label = format!("%{}", word(0));
            body.blocks.push(Block { label, instructions: vec![] });
        } else {
            if body.blocks.is_empty() {
                body.blocks.push(Block { label: format!("%{numbered}"), instructions: vec![] });
            }
            let block = body.blocks.last_mut().ok_or("no block")?;
            let instruction = parse::instruction(text, line, &file.named)?;
            if parse::is_debug_intrinsic(&instruction) {
                continue;
            }
            if block.instructions.last().is_some_and(|i| i.shape.is_terminator()) {
                return Err(format!("an instruction after the end of {}", block.label).into());
            }
            block.instructions.push(instruction);
        }
    }
    if body.blocks.is_empty() {
        return Err("no block".into());
    }
    if let Some(open) = body.blocks.iter().find(|b| b.instructions.last().is_none_or(|i| !i.shape.is_terminator())) {
        return Err(format!("{} has no end", open.label).into());
    }
    Ok(body)
}

/// Cuts tokens into lines: LLVM prints an instruction on one, and breaks it only within brackets.
pub fn lines<'t>(text: &str, tokens: &'t [Token]) -> Vec<&'t [Token]> {
    let mut found = vec![];
    let (mut start, mut depth) = (0, 0i32);
    for (i, token) in tokens.iter().enumerate() {
        if i > start && depth <= 0 && text[tokens[i - 1].end..token.start].contains('\n') {
            found.push(&tokens[start..i]);
            start = i;
            depth = 0;
        }
        match &text[token.start..token.end] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    if start < tokens.len() {
        found.push(&tokens[start..]);
    }
    found
}

/// `#dbg_declare(ptr %x, ...)`: where a variable lives. Records of values that variables have at some place are not
/// kept: after optimisation they would lie.
fn variable(text: &str, line: &[Token], body: &mut Body) {
    let word = |i: usize| line.get(i).map_or("", |t: &Token| &text[t.start..t.end]);
    if word(0) == "#dbg_declare"
        && let (Some(first), Some(value), Some(last)) = (line.first(), line.get(3), line.last())
        && value.kind == Kind::Local
    {
        let around = [text[first.start..value.start].to_string(), text[value.end..last.end].to_string()];
        body.variables.push((word(3).to_string(), around));
    }
}
