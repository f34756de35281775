//! Facts about one integer that say what they mean (`fact small{T <: Int}(x: T)  spec icmp_ult(x, 256)`) hold of each class
//! all of whose values they hold of, as far as bits and bounds tell ([`rewright_cfg_skeleton::egraph::known`]). Rules may
//! conclude more of them.
//!
//! **Invariant**: what is found for a unit depends on its classes alone, not on their numbers nor on other units.

use super::EngineError;
use super::batch::Batch;
use super::order::RawNode;
use super::read_back::rows;
use super::said::{Found, Said};
use egglog::Value;
use rewright_cfg_skeleton::egraph::known::{IntTerm, solve};
use rewright_dsl::egglog::EgglogProgram;
use rewright_dsl::program::{FactId, Program};
use rewright_typeprop::eval::constant;
use rewright_typeprop::types::TypeStore;
use rewright_typeprop::{Known, OpTable, Repr, Term, Ty, TypeExpr};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The facts of a program that are found here.
pub(super) struct KnownFacts {
    facts: Vec<FactId>,
}

impl KnownFacts {
    pub(super) fn new(source: &Program) -> Self {
        let facts = (0u32..).map(FactId).zip(&source.facts);
        let of_one = facts.filter(|(_, fact)| fact.params.len() == 1 && fact.spec.is_some() && fact.filled.is_none());
        KnownFacts { facts: of_one.map(|(id, _)| id).collect() }
    }

    /// The names of the relations.
    pub(super) fn relations<'p>(&self, program: &'p EgglogProgram) -> Vec<&'p str> {
        self.facts.iter().map(|id| program.fact(*id).name.as_str()).collect()
    }

    /// Says where the facts hold now; was something not said before?
    pub(super) fn fill(&self, batch: &mut Batch<'_>, said: &mut Said) -> Result<bool, EngineError> {
        let rows = rows(batch)?;
        let source = batch.shared.source();
        let found = batch.shared.types(|types| {
            let mut asked = Asked { source, types, facts: &self.facts, known: FxHashMap::default() };
            rows.iter().flat_map(|rows| asked.unit(rows)).collect::<Vec<Found>>()
        });
        said.say(batch, found)
    }
}

/// Which facts hold of integers of a type, as far as was asked.
struct Asked<'a> {
    source: &'a Program,
    types: &'a TypeStore,
    facts: &'a [FactId],
    known: FxHashMap<(Ty, Known), Vec<FactId>>,
}

impl Asked<'_> {
    /// The facts that hold of the classes of one unit.
    fn unit(&mut self, rows: &[RawNode]) -> Vec<Found> {
        let ops = &self.source.universe.ops;
        let mut classes: Vec<(Value, Option<Ty>)> = vec![];
        let mut number: FxHashMap<Value, usize> = FxHashMap::default();
        for row in rows {
            let next = classes.len();
            if *number.entry(row.class).or_insert(next) == next {
                classes.push((row.class, self.result(row)));
            }
        }
        let term = |row: &RawNode| {
            let is_known = |child: &Value| number.contains_key(child);
            let parts = (row.head, &row.types[..], &row.children[..]);
            let all_known = row.children.iter().all(is_known);
            all_known.then(|| IntTerm::of_node((ops, self.types), parts, number[&row.class], |child| number[child]))?
        };
        let terms: Vec<IntTerm> = rows.iter().filter_map(term).collect();
        let known = solve(classes.len(), &terms);
        let integers = classes.iter().zip(known);
        let integers =
            integers.filter_map(|((class, ty), known)| Some((*class, (*ty)?, known.filter(|k| !k.is_top())?)));
        let mut found = vec![];
        for (class, ty, known) in integers {
            found.extend(self.hold(ty, known).iter().map(|fact| (*fact, class, None)));
        }
        found
    }

    /// The type of an integer.
    fn result(&self, row: &RawNode) -> Option<Ty> {
        use rewright_cfg_skeleton::egraph::Head;
        let ty = match row.head {
            Head::Op(op) => match &self.source.universe.ops.get(op).results[..] {
                [result] => self.types.find_instance(result, &row.types)?,
                _ => return None,
            },
            Head::Const(_) | Head::Leaf(_) | Head::Proj(_) => *row.types.first()?,
            _ => return None,
        };
        matches!(self.types.repr(ty), Some(Repr::Scalar(scalar)) if scalar.is_int()).then_some(ty)
    }

    fn hold(&mut self, ty: Ty, known: Known) -> &[FactId] {
        let Asked { source, types, facts, .. } = *self;
        self.known.entry((ty, known)).or_insert_with(|| {
            let holds = |id: &&FactId| {
                let fact = &source.facts[id.0 as usize];
                let targs: SmallVec<[Ty; 2]> = match &fact.params[0] {
                    TypeExpr::Param(0) if fact.tparams.len() == 1 => SmallVec::from_elem(ty, 1),
                    closed if types.find_instance(closed, &[]) == Some(ty) => SmallVec::new(),
                    _ => return false,
                };
                let bound = fact.tparams.first().and_then(|param| param.bound.as_ref());
                let bound = bound.and_then(|bound| types.find_instance(bound, &targs));
                let spec =
                    fact.spec.as_ref().and_then(|spec| value((&source.universe.ops, types), spec, &targs, known));
                bound.is_none_or(|bound| types.is_subtype(ty, bound)) && spec.is_some_and(|spec| !spec.allows(0))
            };
            facts.iter().filter(holds).copied().collect()
        })
    }
}

/// What is known of a term over one integer of which something is known.
fn value(tables: (&OpTable, &TypeStore), term: &Term, targs: &[Ty], x: Known) -> Option<Known> {
    let (ops, types) = tables;
    let bits = |ty: &TypeExpr, targs: &[Ty]| {
        types.find_instance(ty, targs).and_then(|ty| types.scalar(ty)).filter(|scalar| scalar.is_int())
    };
    match term {
        Term::Var(_) => Some(x),
        Term::Lit(lit, ty) => {
            let scalar = bits(ty, targs)?;
            Some(Known::constant(scalar.bits(), constant(lit, Some(scalar))?))
        }
        Term::Eval(inner) => value(tables, inner, targs, x),
        Term::Call { op, targs: own, args, .. } => {
            let op = ops.get(*op);
            let own: Option<SmallVec<[Ty; 2]>> = own.iter().map(|ty| types.find_instance(ty, targs)).collect();
            let own = own?;
            let [result] = &op.results[..] else { return None };
            let args: Option<SmallVec<[Known; 3]>> = args.iter().map(|arg| value(tables, arg, targs, x)).collect();
            let args = args?;
            match (op.model, &op.spec) {
                (Some(model), _) if model.memory().is_none() => Some(model.transfer(bits(result, &own)?.bits(), &args)),
                (None, Some(spec)) if args.len() == 1 => value(tables, spec, &own, args[0]),
                _ => None,
            }
        }
    }
}
