//! From functions as written to a module: functions become operations where they are called, calls find their
//! overloads, accesses their regions.

use super::names::bare;
use super::{Draft, ParseError, Places, drafts, error_at};
use crate::ir::calls::{CallGraph, summarise};
use crate::ir::frequencies::note_frequencies;
use crate::ir::infer::{OpenCall, TypeFault, infer};
use crate::ir::verify::{Defect, Location, verify};
use crate::ir::versions::expression;
use crate::ir::{Access, Function, InstKind, Module, RegionId};
use rewright_typeprop::ops::OpParam;
use rewright_typeprop::{Effects, Op, OpId, Ty, TypeExpr, Universe};
use std::collections::BTreeMap;

/// The region of operations that name none.
const ANONYMOUS: &str = "memory";

/// Reads a module and verifies it.
///
/// # Errors
/// All mistakes, with their places.
pub fn read(text: &str, universe: &mut Universe) -> Result<Module, Vec<ParseError>> {
    let drafts = drafts(text, universe).map_err(|e| vec![e])?;
    let (module, places) = complete(text, drafts, universe)?;
    let mut errors = vec![];
    for (f, places) in module.functions.iter().zip(&places) {
        let name = &f.name;
        errors.extend(verify(f, universe).into_iter().map(|e| {
            let at = match e.place {
                Location::Function => places.function,
                Location::Block(b) => places.blocks[b.index()].0,
                Location::Inst(_, inst) => places.insts[inst.index()],
                Location::Terminator(b) => places.blocks[b.index()].1,
            };
            error_at(text, at, format!("in {name}: {}", e.defect))
        }));
    }
    if errors.is_empty() { Ok(module) } else { Err(errors) }
}

/// Makes functions operations, and finds what is not written.
pub(super) fn complete(
    text: &str,
    drafts: Vec<Draft>,
    universe: &mut Universe,
) -> Result<(Module, Vec<Places>), Vec<ParseError>> {
    let (bodies, own) = declare(text, &drafts, universe)?;
    let mut errors = vec![];
    let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut module = Module { bodies, ..Module::default() };
    let mut places = vec![];
    for draft in drafts {
        let Draft { mut function, stated, calls, places: at } = draft;
        let calls = calls
            .into_iter()
            .map(|(id, call)| {
                let candidates = universe.ops.alike(&call.name);
                (id, OpenCall { name: call.name, candidates, explicit: call.explicit })
            })
            .collect::<BTreeMap<_, _>>();
        let open = !calls.is_empty() || stated_is_partial(&function, &stated);
        if open && let Err(faults) = infer(&mut function, universe, &stated, &calls) {
            errors.extend(faults.into_iter().map(|fault| {
                let (offset, message) = match fault {
                    TypeFault::Call { inst, message } => (at.insts[inst.index()], message),
                    TypeFault::Value { value, message } => {
                        let (offset, what) = definition(&function, &at, value);
                        (offset, format!("{what}: {message}"))
                    }
                };
                error_at(text, offset, message)
            }));
        }
        module.functions.push(function);
        let line = |offset: &usize| starts.partition_point(|end| end < offset) as u32 + 1;
        module.lines.push(at.insts.iter().map(line).collect());
        places.push(at);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    // Whether accesses are there depends on the effects that are found now.
    let sound = |f: &Function| verify(f, universe).iter().all(|e| matches!(e.defect, Defect::Access(_)));
    let denied = match module.functions.iter().all(sound) {
        true => {
            module.functions.iter_mut().for_each(|f| note_frequencies(f, universe));
            summarise(&module, &CallGraph::new(&module), &own, universe)
        }
        false => {
            // A body that is not valid may do anything.
            for op in &own {
                let effects = &mut universe.ops.get_mut(*op).effects;
                *effects = Effects { io: true, diverges: true, ..Effects::default() };
            }
            vec![]
        }
    };
    for f in &mut module.functions {
        access_regions(f, universe);
    }
    let errors = denied.into_iter().map(|d| {
        let name = &universe.ops.get(d.op).name;
        error_at(
            text,
            places[d.function].function,
            format!("the body of `{name}` {}, which its declaration does not say", d.does),
        )
    });
    let errors: Vec<_> = errors.collect();
    if errors.is_empty() { Ok((module, places)) } else { Err(errors) }
}

/// Does some value other than a call's result lack a type?
fn stated_is_partial(f: &Function, stated: &[Option<Ty>]) -> bool {
    f.layout.iter().flat_map(|b| &f.block(*b).params).any(|p| stated[p.index()].is_none())
}

/// Where a value is defined, and what to call it.
fn definition(f: &Function, places: &Places, value: crate::ir::Value) -> (usize, &'static str) {
    for b in &f.layout {
        if f.block(*b).params.contains(&value) {
            return (places.blocks[b.index()].0, "a parameter of this block");
        }
        if let Some(id) = f.block(*b).insts.iter().find(|i| f.inst(**i).results.contains(&value)) {
            return (places.insts[id.index()], "the result of this");
        }
    }
    (places.function, "a value that this function does not define")
}

/// Operations with their bodies, and those among them that no pack declares.
type Declared = (BTreeMap<OpId, usize>, Vec<OpId>);

fn declare(text: &str, drafts: &[Draft], universe: &mut Universe) -> Result<Declared, Vec<ParseError>> {
    let (mut bodies, mut own, mut errors) = (BTreeMap::new(), vec![], vec![]);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        let f = &draft.function;
        let name = bare(&f.name);
        if let Some(earlier) = names.insert(name, index) {
            let error = error_at(text, draft.places.function, format!("{} is defined twice", f.name));
            if drafts.iter().any(|d| d.calls.values().any(|c| c.name == name)) {
                errors.push(error);
            }
            names.insert(name, earlier);
            continue;
        }
        let Some(entry) = f.layout.first() else { continue };
        let params: Option<Vec<Ty>> = f.block(*entry).params.iter().map(|p| draft.stated[p.index()]).collect();
        let called = drafts.iter().any(|d| d.calls.values().any(|c| c.name == name));
        let Some(params) = params else {
            errors.push(error_at(
                text,
                draft.places.function,
                format!("parameters of {} have no types: write `%x: f64`", f.name),
            ));
            continue;
        };
        let mut declared = universe.ops.alike(name);
        declared.retain(|op| {
            let decl = universe.ops.get(*op);
            let same = |exprs: &mut dyn Iterator<Item = &TypeExpr>, types: &[Ty]| {
                let found: Option<Vec<Ty>> = exprs.map(|e| universe.types.find_instance(e, &[])).collect();
                found.as_deref() == Some(types)
            };
            decl.tparams.is_empty()
                && same(&mut decl.params.iter().map(|p| &p.ty), &params)
                && same(&mut decl.results.iter(), &f.results)
        });
        match declared[..] {
            [op] => {
                bodies.insert(op, index);
                if universe.ops.get(op).pack.is_empty() {
                    own.push(op);
                }
            }
            [a, b, ..] => {
                let [a, b] = [a, b].map(|op| universe.ops.get(op).name.clone());
                let message = format!("is this the body of `{a}` or of `{b}`? Call it by one of these names");
                errors.push(error_at(text, draft.places.function, message));
            }
            [] if called => {
                let op = universe.ops.declare(operation(name, &params, &f.results, universe));
                bodies.insert(op, index);
                own.push(op);
            }
            [] => {}
        }
    }
    if errors.is_empty() { Ok((bodies, own)) } else { Err(errors) }
}

/// A function of the text as an operation. Its effects and its cost come later.
fn operation(name: &str, params: &[Ty], results: &[Ty], universe: &Universe) -> Op {
    let param = |(i, ty): (usize, &Ty)| OpParam {
        name: format!("x{i}"),
        ty: expression(&universe.types, *ty),
        constant: false,
    };
    Op::new(
        name,
        params.iter().enumerate().map(param).collect(),
        results.iter().map(|ty| expression(&universe.types, *ty)).collect(),
    )
}

/// Gives operations that read or write a region the access that is not written: of the region that they name, by
/// name. They trap only if they say so, and move if they do not.
fn access_regions(f: &mut Function, universe: &Universe) {
    let Function { insts, layout, blocks, regions, .. } = f;
    for id in layout.iter().flat_map(|b| &blocks[b.index()].insts) {
        let InstKind::Op { op, access: access @ None, .. } = &mut insts[id.index()].kind else { continue };
        let Some(decl) = ((op.0 as usize) < universe.ops.len()).then(|| universe.ops.get(*op)) else { continue };
        if !decl.effects.accesses_memory() {
            continue;
        }
        let mut named: Vec<&String> = decl.effects.reads.iter().chain(&decl.effects.writes).collect();
        named.dedup();
        let region = match named[..] {
            [one] if one != ANONYMOUS => regions.iter().position(|r| r == one).unwrap_or_else(|| {
                regions.push(one.clone());
                regions.len() - 1
            }),
            _ => 0,
        };
        let trap = decl.effects.traps.then_some(0);
        *access = Some(Access {
            region: RegionId(region as u32),
            trap,
            movable: trap.is_none(),
            readonly: false,
            aligned: false,
        });
    }
}
