//! Operations of packs by the names that MLIR has for them.

use indexmap::IndexSet;
use rewright_cfg_skeleton::ir::PayloadId;
use rewright_pipeline::signatures::Signatures;
use rewright_typeprop::{Model, OpId, Scalar, Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The name under which packs say what MLIR calls an operation.
const FRONT_END: &str = "mlir";

/// The type of truth values, which are 8-bit integers that are 0 or 1 in packs.
pub(super) const TRUTH: &str = "i1";

/// Types that have one name in MLIR and in packs.
const TYPES: [(&str, Scalar); 6] = [
    ("i8", Scalar::I8),
    ("i16", Scalar::I16),
    ("i32", Scalar::I32),
    ("i64", Scalar::I64),
    ("f32", Scalar::F32),
    ("f64", Scalar::F64),
];

/// An operation of packs at certain types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Instance {
    pub(super) op: OpId,
    pub(super) types: SmallVec<[Ty; 2]>,
    pub(super) model: Option<Model>,
}

/// What packs declare.
pub(super) struct Operations {
    pub(super) universe: Universe,
    types: FxHashMap<&'static str, Ty>,
    signatures: Signatures<String>,
    /// Meanings by MLIR's names.
    models: FxHashMap<String, Model>,
    /// Those that no pack declares, by name and types.
    opaque: IndexSet<(String, Vec<String>, String, String)>,
}

impl Operations {
    pub(super) fn new(universe: &Universe) -> Operations {
        let mut universe = universe.clone();
        let (mut types, mut reprs) = (FxHashMap::default(), vec![]);
        for (name, scalar) in TYPES {
            let Some(ty) = universe.types.named(name) else { continue };
            // Another representation would be another type of this name.
            if let Some(repr) = universe.types.repr(ty).filter(|repr| repr.scalar() == Some(scalar)) {
                types.insert(name, ty);
                reprs.push((ty, repr));
            }
        }
        let mut signatures = Signatures::new(reprs);
        let mut models = FxHashMap::default();
        let Universe { types: store, ops, .. } = &mut universe;
        for (id, op) in ops.iter() {
            if let Some(model) = op.model {
                // By its meaning, for what has no name in MLIR.
                signatures.declare(by_meaning(model), id, op, store);
            }
            let Some(name) = op.names.get(FRONT_END).filter(|_| op.effects.is_value() && !op.takes_state()) else {
                continue;
            };
            signatures.declare(name.clone(), id, op, store);
            if let Some(model) = op.model {
                models.insert(name.clone(), model);
            }
        }
        Operations { universe, types, signatures, models, opaque: IndexSet::new() }
    }

    /// The type in packs.
    pub(super) fn ty(&mut self, name: &str) -> Ty {
        let known = self.types.get(if name == TRUTH { "i8" } else { name });
        known.copied().unwrap_or_else(|| self.universe.types.named_or_opaque(name))
    }

    /// What an operation means, whatever its types.
    pub(super) fn model(&self, name: &str) -> Option<Model> {
        self.models.get(name).copied()
    }

    /// The declared operation of this name.
    pub(super) fn named(&self, name: &str, operands: &[Ty], result: Ty) -> Option<Instance> {
        self.instance(&name.to_string(), operands, result)
    }

    /// A declared operation with this meaning.
    pub(super) fn meaning(&self, model: Model, operands: &[Ty], result: Ty) -> Option<Instance> {
        self.instance(&by_meaning(model), operands, result)
    }

    fn instance(&self, spelling: &String, operands: &[Ty], result: Ty) -> Option<Instance> {
        let constant = vec![false; operands.len()];
        let (op, types) = self.signatures.instance(spelling, operands, &constant, &[result], false)?;
        Some(Instance { op, types, model: self.universe.ops.get(op).model })
    }

    /// The number of an operation that no pack declares.
    pub(super) fn opaque(&mut self, name: &str, flags: &[String], from: &str, ty: &str) -> PayloadId {
        let key = (name.to_string(), flags.to_vec(), from.to_string(), ty.to_string());
        PayloadId(self.opaque.insert_full(key).0 as u32)
    }
}

fn by_meaning(model: Model) -> String {
    format!("{model:?}")
}
