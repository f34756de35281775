//! Overloads that leave open which of them a call means, found where they are declared.
//!
//! Two overloads clash where both take the same operands, each takes some that the other does not, and no third one is
//! more specific than both. The operands that are tried are the narrower of the two types at each place. A clash that
//! is reported is certain; a clash that only shows at particular type arguments is found where a call has them.

use super::Checker;
use super::report::Diag;
use super::wording::signature;
use rewright_typeprop::overload::{CallTypes, Unresolved, is_below, resolve};
use rewright_typeprop::types::{TypeData, TypeDecl, TypeDeclId};
use rewright_typeprop::{Op, OpId, Ty, TypeExpr, TypeStore, Universe};
use smallvec::SmallVec;

/// The declaration of `Any`, first in every store.
const ANY: TypeDeclId = TypeDeclId(0);

impl Checker<'_> {
    /// Overloads of one name must not leave open which of them a call means: where two take the same operands, one of
    /// them is more specific, or a third one is more specific than both.
    pub(super) fn ambiguous_overloads(&mut self) {
        let ops = &self.program.universe.ops;
        let mut found = vec![];
        for (later, op) in ops.iter().filter(|(_, op)| op.part_of.is_none()) {
            for earlier in ops.overloads(&op.name).iter().copied().filter(|id| *id < later) {
                found.extend(ambiguous(&self.program.universe, earlier, later).map(|shown| (earlier, later, shown)));
            }
        }
        for (earlier, later, shown) in found {
            self.ambiguous.push((earlier, later));
            let (at, first) = (self.op_spans[later.0 as usize], self.op_spans[earlier.0 as usize]);
            let op = self.program.universe.ops.get(later);
            let (name, other) = (&op.name, signature(self.program.universe.ops.get(earlier), &self.program.universe));
            self.report(
                Diag::error("RW0320", at, format!("`{name}` of {shown} is ambiguous"), "takes these arguments")
                    .also(first, format!("and so does this: {other}; neither is more specific"))
                    .help(format!(
                        "declare `{name}` for {shown} as well, or make the parameters of one of them narrower"
                    )),
            );
        }
    }
}

/// Operands, as text, that both take and for which none of the overloads is the most specific.
fn ambiguous(universe: &Universe, a: OpId, b: OpId) -> Option<String> {
    let (first, second) = (universe.ops.get(a), universe.ops.get(b));
    let types = &universe.types;
    let pairs = || first.params.iter().map(|p| &p.ty).zip(second.params.iter().map(|p| &p.ty));
    if first.params.len() != second.params.len()
        || !pairs().all(|(p, q)| comparable(types, head(first, p), head(second, q)))
        || is_below(types, first, second)
        || is_below(types, second, first)
    {
        return None;
    }
    // One type stands for all type parameters: any that is below all their bounds.
    let mut universe = universe.clone();
    let mut bound = Ty::ANY;
    for param in first.tparams.iter().chain(&second.tparams) {
        let Some(own) = &param.bound else { continue };
        let own = universe.types.instantiate(own, &[])?;
        bound = if universe.types.is_subtype(own, bound) { own } else { bound };
        if !universe.types.is_subtype(bound, own) {
            return None;
        }
    }
    let TypeData::App(above, args) = universe.types.data(bound).clone() else { return None };
    if !args.is_empty() || universe.types.lookup("T").is_some() {
        return None;
    }
    let any = universe.types.declare(TypeDecl {
        name: "T".into(),
        params: vec![],
        supertype: Some(TypeExpr::App(above, vec![])),
        model: None,
        opaque: true,
    });
    let any = universe.types.intern(TypeData::App(any, SmallVec::new()));
    let mut operands = vec![];
    for (p, q) in pairs() {
        let mut instance = |expr: &TypeExpr, count: usize| universe.types.instantiate(expr, &vec![any; count]);
        let (x, y) = (instance(p, first.tparams.len())?, instance(q, second.tparams.len())?);
        operands.push(match (p, q) {
            (TypeExpr::Param(_), _) => y,
            (_, TypeExpr::Param(_)) => x,
            _ if universe.types.is_subtype(x, y) => x,
            _ if universe.types.is_subtype(y, x) => y,
            _ => return None,
        });
    }
    let candidates = universe.ops.overloads(&first.name).to_vec();
    let call = CallTypes { args: &operands, explicit: &[], results: &[] };
    let Err(Unresolved::Ambiguous(fitting)) = resolve(&mut universe, &candidates, call) else { return None };
    let shown: Vec<String> = operands.iter().map(|ty| universe.types.display(*ty)).collect();
    (fitting.contains(&a) && fitting.contains(&b)).then(|| format!("({})", shown.join(", ")))
}

/// The declared name at the head of a parameter's type, or of its bound.
fn head(op: &Op, expr: &TypeExpr) -> TypeDeclId {
    match expr {
        TypeExpr::App(decl, _) => *decl,
        TypeExpr::Param(i) => match op.tparams.get(*i as usize).and_then(|p| p.bound.as_ref()) {
            Some(TypeExpr::App(decl, _)) => *decl,
            _ => ANY,
        },
        TypeExpr::Int(_) => ANY,
    }
}

/// Is one of two declared names above the other?
fn comparable(types: &TypeStore, a: TypeDeclId, b: TypeDeclId) -> bool {
    let below = |mut lower: TypeDeclId, upper: TypeDeclId| {
        // The lattice is a tree; one that is cyclic is reported elsewhere.
        for _ in 0..=types.decls().count() {
            match &types.decl(lower).supertype {
                _ if lower == upper => return true,
                Some(TypeExpr::App(parent, _)) => lower = *parent,
                _ => return false,
            }
        }
        false
    };
    below(a, b) || below(b, a)
}
