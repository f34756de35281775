//! The module in which both versions of functions are run.
//!
//! It has the globals of the first file, the versions under names of their own, a function that takes arguments from
//! memory for each, and a stand-in for each kind of call. All names get a prefix, so that no symbol of a program
//! clashes with one of the process; only functions that packs declare and the C library has are really called.

mod globals;
mod stand_ins;

use super::leaves::{Leaf, leaves};
use crate::Files;
use crate::not_modelled::NotModelled;
use rewright_llvm::body::{self, Body, Instruction, Operand, Shape, Template};
use rewright_llvm::lex::{Kind, tokens};
use rewright_llvm::module::{Definition, File, Parameter};
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_llvm::types::Type;
use stand_ins::{called, kind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Bytes for an argument or result.
pub(super) const SLOT: usize = 64;
/// For what is passed in memory.
const COPY: usize = 4096;

/// A module, and what can be run of it.
pub(super) struct Program {
    pub(super) text: String,
    /// By pair; the reason where one cannot be run.
    pub(super) functions: Vec<Result<Runnable, NotModelled>>,
}

/// A function that can be run.
pub(super) struct Runnable {
    /// Its position in the program's table.
    pub(super) number: usize,
    pub(super) parameters: Vec<Vec<Leaf>>,
    pub(super) result: Vec<Leaf>,
}

impl Program {
    pub(super) fn new(llvm: &LlvmOptimiser, files: &Files<'_>) -> Program {
        let real = |name: &&String| is_callable(llvm, name);
        let real: BTreeSet<String> = files.before.declarations.keys().filter(real).cloned().collect();
        let mut writer = Writer { file: files.before, real, stand_ins: BTreeMap::new(), text: String::new() };
        let mut number = 0;
        let mut functions = vec![];
        for (pair, (i, _)) in files.pairs.iter().enumerate() {
            let [old, new] = files.definitions(pair);
            let old_body = body::read(files.before, &files.before.functions[*i]);
            let bodies = old_body.and_then(|old| Ok([old, body::read(files.after, new)?]));
            let bodies = bodies.map_err(NotModelled::from);
            let function = bodies.and_then(|bodies| writer.pair(number, old, &bodies));
            number += usize::from(function.is_ok());
            functions.push(function);
        }
        writer.globals(files);
        writer.table(number);
        Program { text: writer.text, functions }
    }
}

/// Does a pack say which function of a library this is, and may that be called?
fn is_callable(llvm: &LlvmOptimiser, name: &str) -> bool {
    let ops = &llvm.optimiser.program().universe.ops;
    let links = llvm.names.functions(name).iter().filter_map(|op| ops.get(*op).link.as_ref());
    links.into_iter().any(|link| link.allowed && name.strip_prefix('@') == Some(link.symbol.as_str()))
}

struct Writer<'a> {
    file: &'a File,
    /// Functions that are really called.
    real: BTreeSet<String>,
    /// Signatures of calls, with their numbers.
    stand_ins: BTreeMap<String, usize>,
    text: String,
}

type Written<T> = Result<T, NotModelled>;

/// Promises that make poison or leave rounding open where they are broken.
const FLAGS: [&str; 15] = [
    "nsw", "nuw", "exact", "disjoint", "nneg", "inbounds", "nusw", "samesign", "fast", "nnan", "ninf", "nsz", "arcp",
    "contract", "reassoc",
];

impl Writer<'_> {
    /// Writes both versions of a function, and what calls them.
    fn pair(&mut self, number: usize, definition: &Definition, bodies: &[Body; 2]) -> Written<Runnable> {
        if definition.variadic {
            return Err("it takes further arguments".into());
        }
        let named = &self.file.named;
        let parameters = definition.parameters.iter().map(|p| leaves(&p.ty, named, SLOT));
        let parameters = parameters.collect::<Written<Vec<_>>>()?;
        let result = leaves(&definition.result, named, SLOT)?;
        let mut text = String::new();
        for (body, version) in bodies.iter().zip(["before", "after"]) {
            let name = format!("@{version}.{number}");
            let declared: Vec<String> = definition.parameters.iter().map(|p| passed(p, &p.name)).collect();
            let _ = writeln!(text, "define internal {} {name}({}) {{", definition.result, declared.join(", "));
            self.body(&mut text, body)?;
            text += "}\n";
            self.caller(&mut text, &name, definition, body);
        }
        self.text += &text;
        Ok(Runnable { number, parameters, result })
    }

    /// What `harness.c` calls: arguments come from memory, the result goes there.
    fn caller(&self, text: &mut String, name: &str, definition: &Definition, body: &Body) {
        let _ = writeln!(text, "define internal void {name}.run(ptr %in, ptr %out) {{");
        for (n, needed) in self.needed(body).iter().enumerate() {
            let _ = writeln!(
                text,
                "  %missing{n} = icmp eq ptr {needed}, null\n  br i1 %missing{n}, label %none{n}, label %there{n}\n\
                 none{n}:\n  call void @outside_missing()\n  br label %there{n}\nthere{n}:"
            );
        }
        let mut arguments = vec![];
        for (n, parameter) in definition.parameters.iter().enumerate() {
            let _ = writeln!(text, "  %at{n} = getelementptr i8, ptr %in, i64 {}", n * SLOT);
            let _ = writeln!(text, "  %value{n} = load {}, ptr %at{n}, align 16", parameter.ty);
            arguments.push(passed(parameter, &format!("%value{n}")));
        }
        let call = format!("call {} {name}({})", definition.result, arguments.join(", "));
        let _ = match definition.result {
            Type::Void => writeln!(text, "  {call}\n  ret void\n}}"),
            _ => writeln!(text, "  %r = {call}\n  store {} %r, ptr %out, align 16\n  ret void\n}}", definition.result),
        };
    }

    /// Functions that a body really calls.
    fn needed(&self, body: &Body) -> BTreeSet<&String> {
        let instructions = body.blocks.iter().flat_map(|b| &b.instructions);
        let callees = instructions.filter_map(|i| match &i.shape {
            Shape::Call { callee: Some(callee), .. } => self.real.get(callee),
            _ => None,
        });
        callees.collect()
    }

    fn body(&mut self, text: &mut String, body: &Body) -> Written<()> {
        let position = |label: &String| body.blocks.iter().position(|b| b.label == *label);
        // Every cycle goes through one of these.
        let mut entered_from_below = BTreeSet::new();
        for (at, block) in body.blocks.iter().enumerate() {
            let labels: Vec<&String> = match block.instructions.last().map(|i| &i.shape) {
                Some(Shape::Jump(label)) => vec![label],
                Some(Shape::Branch(_, labels)) => labels.iter().collect(),
                Some(Shape::Switch(_, default, cases)) => {
                    cases.iter().map(|(_, label)| label).chain([default]).collect()
                }
                _ => vec![],
            };
            entered_from_below.extend(labels.into_iter().filter_map(position).filter(|target| *target <= at));
        }
        for (at, block) in body.blocks.iter().enumerate() {
            let _ = writeln!(text, "{}:", &block.label[1..]);
            let mut counted = !entered_from_below.contains(&at);
            for (n, instruction) in block.instructions.iter().enumerate() {
                if !counted && !matches!(instruction.shape, Shape::Phi(_)) {
                    *text += "  call void @outside_step()\n";
                    counted = true;
                }
                self.instruction(text, instruction, &format!("%outside.{at}.{n}"))?;
            }
        }
        Ok(())
    }

    /// `own` begins the names of further values.
    fn instruction(&mut self, text: &mut String, instruction: &Instruction, own: &str) -> Written<()> {
        let Instruction { result, ty, opcode, shape, template, .. } = instruction;
        let result = result.as_ref().map(|name| format!("{name} = ")).unwrap_or_default();
        let as_it_is = |template: &Template| template.fill(&template.holes);
        let written = match (shape, opcode.as_str()) {
            (Shape::Unreachable, _) => "call void @llvm.trap()\n  unreachable".to_string(),
            (Shape::Call { callee, args, in_memory, .. }, _) => match callee {
                Some(callee) if self.real.contains(callee) => as_it_is(template),
                // An intrinsic that counts zeros may promise that there is a one.
                Some(callee) if callee.starts_with("@llvm.ctlz.") || callee.starts_with("@llvm.cttz.") => {
                    as_it_is(template).replace("i1 true", "i1 false")
                }
                Some(callee) if callee.starts_with("@llvm.") => as_it_is(template),
                _ => {
                    let address = called(callee.as_deref(), template)?;
                    self.call(&address, ty, args, in_memory, kind(self.file, instruction))?
                }
            },
            (Shape::Plain(operands), "shl" | "lshr" | "ashr") => match operands.as_slice() {
                [value, amount] => {
                    let (all, width) = amounts(&amount.ty)?;
                    let amount = self.renamed(&amount.text);
                    let _ = writeln!(text, "  {own} = urem {all} {amount}, {width}");
                    format!("{opcode} {all} {}, {own}", value.text)
                }
                _ => return Err(format!("`{opcode}`").into()),
            },
            (Shape::Plain(operands), "fptosi" | "fptoui") => match operands.as_slice() {
                [Operand { ty: from, text: value }] => {
                    let float = match from.to_string().as_str() {
                        "float" => "f32",
                        "double" => "f64",
                        other => return Err(format!("`{opcode}` of {other}").into()),
                    };
                    format!("call {ty} @llvm.{opcode}.sat.{ty}.{float}({from} {value})")
                }
                _ => return Err(format!("`{opcode}`").into()),
            },
            _ => as_it_is(template),
        };
        let _ = writeln!(text, "  {result}{}", self.renamed(&written));
        Ok(())
    }

    /// A text with the program's names, without flags, and with zeros for what is not defined.
    fn renamed(&self, text: &str) -> String {
        rewritten(text, |kind, word| match kind {
            Kind::Global if self.keeps(word) => None,
            Kind::Global => Some(format!("@\"v.{}\"", word[1..].trim_matches('"'))),
            Kind::Hash => Some(String::new()),
            Kind::Word if FLAGS.contains(&word) => Some(String::new()),
            Kind::Word if word == "undef" || word == "poison" => Some("zeroinitializer".into()),
            _ => None,
        })
    }

    fn keeps(&self, name: &str) -> bool {
        name.starts_with("@llvm.") || name.starts_with("@outside.") || self.real.contains(name)
    }

    fn table(&mut self, functions: usize) {
        let versions = (0..functions).flat_map(|n| [format!("ptr @before.{n}.run"), format!("ptr @after.{n}.run")]);
        let versions: Vec<String> = versions.collect();
        let n = versions.len();
        let _ = writeln!(self.text, "@outside_versions = constant [{n} x ptr] [{}]", versions.join(", "));
        self.text += "declare void @outside_step()\ndeclare void @outside_missing()\n\
            declare void @outside_begin(i64, i64)\ndeclare void @outside_argument(ptr, i64, i64)\n\
            declare void @outside_called()\ndeclare void @outside_result(ptr, i64, i64)\n";
    }
}

/// A parameter or argument: with what says how it is passed.
fn passed(parameter: &Parameter, name: &str) -> String {
    let says = |word: &str| parameter.attributes.iter().any(|a| a.starts_with(word));
    let of_calls = |a: &&String| {
        ["byval(", "sret(", "signext", "zeroext", "inreg"].iter().any(|word| a.starts_with(word))
            || (says("byval(") && a.starts_with("align "))
    };
    let attributes: String = parameter.attributes.iter().filter(of_calls).map(|a| format!("{a} ")).collect();
    format!("{} {attributes}{name}", parameter.ty)
}

/// A type of amounts, and its width as a constant.
fn amounts(ty: &Type) -> Written<(&Type, String)> {
    match ty {
        Type::Int(n) => Ok((ty, n.to_string())),
        Type::Vector(_, element) => match &**element {
            Type::Int(n) => Ok((ty, format!("splat (i{n} {n})"))),
            _ => Err(format!("shifts of {ty}").into()),
        },
        _ => Err(format!("shifts of {ty}").into()),
    }
}

/// A text with other tokens.
fn rewritten(text: &str, new: impl Fn(Kind, &str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for token in tokens(text) {
        out.push_str(&text[at..token.start]);
        let word = &text[token.start..token.end];
        match new(token.kind, word) {
            Some(other) => out.push_str(&other),
            None => out.push_str(word),
        }
        at = token.end;
    }
    out.push_str(&text[at..]);
    out
}
