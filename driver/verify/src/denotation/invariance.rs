//! Do values that vary in no iteration of a loop ([`Variance`]) stay what they are while it runs?

use super::evaluate::Graph;
use super::{DenotationReport, Disagreement, Witness};
use rewright_cfg_skeleton::egraph::{ClassId, EGraphView};
use rewright_cfg_skeleton::ir::interp::equal_up_to_nan;
use rewright_cfg_skeleton::ir::{BlockId, Cfg, LoopId, Value};
use rewright_cfg_skeleton::skeleton::Skeleton;
use rewright_cfg_skeleton::skeleton::variance::Variance;
use rewright_typeprop::Scalar;
use rustc_hash::FxHashMap;

/// A value that is defined in a loop and must not vary in it.
struct Claim {
    value: Value,
    class: ClassId,
    scalar: Option<Scalar>,
    inside: LoopId,
}

/// All such values of a function.
pub(super) struct Claims {
    /// By block that defines.
    of_block: FxHashMap<BlockId, Vec<Claim>>,
}

/// What they were when the loops that run now had come to them first.
#[derive(Default)]
pub(super) struct Steady(FxHashMap<(Value, LoopId), i64>);

impl Claims {
    pub(super) fn new(cfg: &Cfg, skeleton: &Skeleton, view: &EGraphView, graph: &Graph) -> Self {
        let mut of_block: FxHashMap<BlockId, Vec<Claim>> = FxHashMap::default();
        if cfg.loop_count() > 0 {
            let variance = Variance::new(cfg, skeleton, view);
            for (class, value, home) in &graph.values {
                for inside in cfg.loops_around(*home).filter(|l| !variance.varies_in(*class, *l)) {
                    let claim = Claim { value: *value, class: *class, scalar: graph.scalar_of(*class), inside };
                    of_block.entry(*home).or_default().push(claim);
                }
            }
        }
        Claims { of_block }
    }

    /// Forgets what belongs to loops that are not running any more.
    pub(super) fn enter(&self, steady: &mut Steady, cfg: &Cfg, block: BlockId) {
        if !self.of_block.is_empty() {
            steady.0.retain(|(_, l), _| cfg.loop_contains(*l, block));
        }
    }

    /// Compares what a block has defined with what it defined in earlier iterations.
    pub(super) fn compare(
        &self,
        steady: &mut Steady,
        block: BlockId,
        values: &[Option<i64>],
        report: &mut DenotationReport,
    ) {
        for claim in self.of_block.get(&block).into_iter().flatten() {
            let Some(now) = values[claim.value.index()] else { continue };
            let first = *steady.0.entry((claim.value, claim.inside)).or_insert(now);
            report.comparisons += 1;
            let known = report.disagreements.iter().any(|d| d.class == claim.class);
            if !known && !equal_up_to_nan(claim.scalar, first, now) {
                report.disagreements.push(Disagreement {
                    class: claim.class,
                    first: Witness::Earlier(claim.value),
                    second: Witness::Value(claim.value),
                    values: [first.to_string(), now.to_string()],
                    block,
                    rules: vec![],
                });
            }
        }
    }
}
