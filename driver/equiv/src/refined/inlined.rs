//! Calls of the first version whose callee's body stands in their place: those of functions that the second version does
//! not call any more.
//!
//! A call does what the body of its callee does, if no other module can put another one in its place. The promises of a
//! call and of the callee's definition are left out, which makes the first version do more. So does a stack slot of the
//! callee that is there all the time. Of the second version that would be wrong, and its calls stay.

use super::super::annotations::has;
use super::super::annotations::table::{AnnotationTarget, Says, says};
use super::super::modules::Version;
use super::super::recursion::is_replaceable;
use super::flow::Flow;
use super::instructions::{calls, jump, phi};
use super::tail_calls::unmark;
use rewright_llvm::body::{self, Block, Body, Instruction, Operand, Role, Shape, Slot};
use rewright_llvm::module::Definition;
use rustc_hash::FxHashMap;

/// Metadata by which accesses of one execution of a body are apart, not those of two.
const OF_EXECUTIONS: [&str; 2] = ["!alias.scope", "!noalias"];

/// Instructions of a body with what is put into it.
const MOST: usize = 4_000;

/// The first version's body without calls of functions that only it calls, as far as their bodies can stand there; and the
/// texts of these.
pub(super) fn inlined<'v>(versions: [Version<'v>; 2], bodies: &[Body; 2]) -> Option<(Body, Vec<&'v str>)> {
    let kept = calls(&bodies[1]);
    let mut body: Option<Body> = None;
    let mut texts = vec![];
    for number in 0.. {
        let now = body.as_ref().unwrap_or(&bodies[0]);
        let Some((next, callee)) = once(versions[0], now, number, &|callee| !kept.contains_key(callee)) else { break };
        // Functions that call each other never come to an end.
        if next.blocks.iter().map(|block| block.instructions.len()).sum::<usize>() > MOST {
            return None;
        }
        texts.push(&versions[0].file().text[callee.body.clone()]);
        body = Some(next);
    }
    Some((body?, texts))
}

/// The body with that of a callee in place of the first call for which that can be.
fn once<'v>(
    version: Version<'v>,
    body: &Body,
    number: usize,
    goes: &dyn Fn(&str) -> bool,
) -> Option<(Body, &'v Definition)> {
    let flow = Flow::new(body);
    for (at, block) in body.blocks.iter().enumerate() {
        for (n, i) in block.instructions.iter().enumerate() {
            let Some(callee) = callee(version, i).filter(|callee| goes(&callee.name)) else { continue };
            let Ok(own) = body::read(version.file(), callee) else { continue };
            let is_again = || flow.loops().iter().any(|one| one.blocks.contains(&at));
            if fits(version, callee, &own) && !(has_slots(&own) && is_again()) {
                return Some((put(body, (at, n), callee, own, number), callee));
            }
        }
    }
    None
}

/// The function that is called, where its body is what is executed.
fn callee<'v>(version: Version<'v>, i: &Instruction) -> Option<&'v Definition> {
    let Shape::Call { callee: Some(name), args, in_memory, bundles: false, .. } = &i.shape else { return None };
    let callee = version.module.function(name)?;
    let types = callee.parameters.iter().map(|parameter| &parameter.ty);
    let is_taken = i.opcode == "call"
        && i.ty == callee.result
        && types.eq(args.iter().map(|argument| &argument.ty))
        && in_memory.iter().all(|passed| passed.role == Role::Result);
    let may_be_another = is_replaceable(callee) || version.module.is_ambiguous(name);
    (is_taken && !may_be_another && callee.name != version.definition.name).then_some(callee)
}

/// Does a callee's body mean the same in the caller?
fn fits(version: Version<'_>, callee: &Definition, body: &Body) -> bool {
    let means_nothing = |place| move |a: &String| matches!(says(place, a), Says::Nothing | Says::Promise);
    let of_parameters = callee.parameters.iter().flat_map(|parameter| &parameter.attributes);
    let said = callee.attributes.iter().all(means_nothing(AnnotationTarget::Function))
        && of_parameters.filter(|a| !has(std::slice::from_ref(*a), "sret")).all(|a| {
            means_nothing(AnnotationTarget::Parameter)(a) || ["zeroext", "signext", "inreg"].contains(&a.as_str())
        });
    // A function that promises to progress may call one that does not.
    let caller = &version.definition.attributes;
    let runs_on = has(caller, "mustprogress") && !has(&callee.attributes, "mustprogress");
    let returns = body.blocks.iter().any(|block| returned(block).is_some());
    !callee.variadic && said && returns && (!runs_on || Flow::new(body).loops().is_empty())
}

/// The operand of a block's `ret`; `None` if the block does not return.
fn returned(block: &Block) -> Option<Option<&Operand>> {
    match block.instructions.last().map(|i| &i.shape) {
        Some(Shape::Return(value)) => Some(value.as_ref()),
        _ => None,
    }
}

fn has_slots(body: &Body) -> bool {
    body.blocks.iter().flat_map(|block| &block.instructions).any(|i| matches!(i.shape, Shape::Alloca(_)))
}

/// The body with that of a callee in place of a call: the n-th instruction of a block.
fn put(body: &Body, (at, n): (usize, usize), callee: &Definition, own: Body, number: usize) -> Body {
    let call = &body.blocks[at].instructions[n];
    let mut own = named_apart(own, callee, call, number);
    let is_slot = |i: &mut Instruction| matches!(i.shape, Shape::Alloca(Slot { count: None, .. }));
    let slots: Vec<_> = own.blocks.iter_mut().flat_map(|block| block.instructions.extract_if(.., is_slot)).collect();
    let label = &body.blocks[at].label;
    let behind = format!("{label}##{number}");
    let mut before = Block { label: label.clone(), instructions: body.blocks[at].instructions[..n].to_vec() };
    before.instructions.push(jump(&own.blocks[0].label));
    let mut rest = Block { label: behind.clone(), instructions: body.blocks[at].instructions[n + 1..].to_vec() };
    if let Some(result) = &call.result {
        let values = own.blocks.iter().filter_map(|block| Some((returned(block)??.clone(), block.label.clone())));
        rest.instructions.insert(0, phi(result.clone(), call.ty.clone(), values.collect()));
    }
    let mut blocks = body.blocks.clone();
    let own = own.blocks.into_iter().map(|mut block| {
        if let Some(last) = block.instructions.last_mut().filter(|last| matches!(last.shape, Shape::Return(_))) {
            *last = jump(&behind);
        }
        block
    });
    blocks.splice(at..=at, [before].into_iter().chain(own).chain([rest]));
    blocks[0].instructions.splice(0..0, slots);
    // Values that came from the block come from its end now.
    for i in blocks.iter_mut().flat_map(|block| &mut block.instructions) {
        if let Shape::Phi(values) = &mut i.shape {
            values.iter_mut().filter(|(_, from)| from == label).for_each(|(_, from)| from.clone_from(&behind));
        }
    }
    Body { blocks, variables: body.variables.clone() }
}

/// A callee's body with arguments for its parameters, and with names of its own.
fn named_apart(mut own: Body, callee: &Definition, call: &Instruction, number: usize) -> Body {
    let Shape::Call { args, .. } = &call.shape else { return own };
    let apart = |name: &String| format!("{name}#{number}");
    let mut names: FxHashMap<String, String> = FxHashMap::default();
    for (parameter, argument) in callee.parameters.iter().zip(args) {
        names.insert(parameter.name.clone(), argument.text.clone());
    }
    for result in own.blocks.iter().flat_map(|block| &block.instructions).filter_map(|i| i.result.as_ref()) {
        names.insert(result.clone(), apart(result));
    }
    for block in &mut own.blocks {
        block.label = apart(&block.label);
        for i in &mut block.instructions {
            // It was said of slots of the callee alone.
            unmark(i);
            i.metadata.retain(|(kind, _)| !OF_EXECUTIONS.contains(&kind.as_str()));
            i.result = i.result.as_ref().map(apart);
            i.replace(|name| names.get(name).cloned());
            match &mut i.shape {
                Shape::Jump(label) => *label = apart(label),
                Shape::Branch(_, labels) => labels.iter_mut().for_each(|label| *label = apart(label)),
                Shape::Switch(_, default, cases) => {
                    let labels = cases.iter_mut().map(|(_, label)| label).chain([default]);
                    labels.for_each(|label| *label = apart(label));
                }
                Shape::Phi(values) => values.iter_mut().for_each(|(_, label)| *label = apart(label)),
                _ => {}
            }
        }
    }
    own
}
