//! Selections of small functions under unions made by hand, and their validation.

mod corrupted;
mod cost_model;
mod curve;
mod error_codes;
mod freed;
mod frequencies;
mod keep_placement;
mod memory;
mod moved_traps;
mod moves;
mod oracle;
mod placement;
mod prefer_original;
mod pressure;
mod recurrences;
mod runs;
mod scale;
mod sizes;
mod truth;
mod typed;
mod unseen;
mod values;
mod wide_stores;

use super::*;
use crate::egraph::EGraphView;
use crate::egraph::{ClassId, Head, InputId, Node, NodeId};
use crate::elaborate::elaborate;
use crate::ir::verify::verify;
use crate::ir::{Cfg, Function, InstKind};
use crate::skeleton::build;
use crate::skeleton::{SegmentId, SiteId, Skeleton};
use crate::testing::{Builder, op_id, trap_code, view};
use rewright_typeprop::Model;
use rewright_typeprop::Universe;
use std::collections::BTreeMap;

/// The test universe with meanings, so that conditions evaluate and accesses have widths.
fn universe() -> Universe {
    let mut u = crate::testing::universe();
    let models = [
        ("iadd", Model::Add),
        ("isub", Model::Sub),
        ("imul", Model::Mul),
        ("icmp_eq", Model::Eq),
        ("udiv", Model::Udiv),
        ("sdiv", Model::Sdiv),
        ("load", Model::Load),
        ("store", Model::Store),
    ];
    for (name, model) in models {
        let id = op_id(&u, name);
        u.ops.get_mut(id).model = Some(model);
    }
    u
}

/// A function taken apart, with equalities.
struct Case<'u> {
    universe: &'u Universe,
    function: Function,
    cfg: Cfg,
    skeleton: Skeleton,
    view: EGraphView,
    unions: Vec<(InputId, InputId)>,
}

impl<'u> Case<'u> {
    fn new(b: &Builder<'u>, universe: &'u Universe) -> Self {
        let mut function = b.function.clone();
        function.regions.resize(10, String::new());
        let cfg = Cfg::new(&function);
        let skeleton = build(&function, &cfg, universe, &trap_code);
        let view = view(&skeleton.input, &[]);
        Case { universe, function, cfg, skeleton, view, unions: vec![] }
    }

    fn saturated(&self) -> Saturated<'_> {
        let Case { universe, function, cfg, skeleton, view, .. } = self;
        Saturated { function, cfg, universe, skeleton, view }
    }

    fn input(&self, value: crate::ir::Value) -> InputId {
        self.skeleton.value_input[value.index()].expect("a value of the function")
    }

    /// A node beside those of the function.
    fn add(&mut self, head: Head, ty: &str, children: &[InputId]) -> InputId {
        let types = match head {
            Head::Token(_) => vec![],
            _ => vec![self.universe.types.find(ty).expect("a type of the test universe")],
        };
        self.skeleton.input.add(Node { head, types: types.into(), children: children.into() })
    }

    fn op(&mut self, name: &str, ty: &str, children: &[InputId]) -> InputId {
        let head = Head::Op(op_id(self.universe, name));
        self.add(head, ty, children)
    }

    fn unite(&mut self, a: InputId, b: InputId) {
        self.unions.push((a, b));
        self.view = view(&self.skeleton.input, &self.unions);
    }

    fn options(&self, method: Method) -> Options {
        Options { method, ..Options::default() }
    }

    /// Selects, which validates, and elaborates; all methods must manage.
    /// What there is to choose from where any write may go, and none takes the place of others.
    fn choices<'a>(
        &'a self,
        options: &'a Options,
        tree: &'a SegmentTree<'a>,
        keys: &mut CheckIdentities<'a>,
    ) -> Choices<'a> {
        let mut kept = vec![false; self.skeleton.statements.len()];
        let usable = Usable::new(&self.view, self.universe, &options.unavailable);
        choices(self.saturated(), options, tree, keys, &usable, &mut kept, &BTreeSet::new())
    }

    fn select(&self, method: Method) -> Selection {
        self.select_with(&self.options(method))
    }

    fn select_with(&self, options: &Options) -> Selection {
        let report = select(self.saturated(), options);
        let SelectionReport { selection, .. } = report.unwrap_or_else(|e| {
            panic!("{e}\n{}", crate::ir::text::Printer(&self.function, self.universe));
        });
        let out = self.elaborate(&selection);
        let errors: Vec<_> = verify(&out, self.universe).iter().map(ToString::to_string).collect();
        assert!(errors.is_empty(), "{errors:?}");
        selection
    }

    fn elaborate(&self, selection: &Selection) -> Function {
        elaborate(self.saturated(), selection).expect("a program")
    }

    fn optimised(&self) -> Function {
        let [greedy, ilp] = [Method::Greedy, Method::Ilp].map(|method| self.select(method));
        assert!(ilp.cost <= greedy.cost);
        self.elaborate(&greedy)
    }

    fn validate(&self, selection: &Selection) -> Vec<Violation> {
        validate(self.saturated(), selection)
    }
}

/// The operations of a function in layout order, by name; checks as `trap`, opaque ones as `opaque`.
fn listing(f: &Function, u: &Universe) -> Vec<String> {
    let insts = f.layout.iter().flat_map(|b| &f.block(*b).insts).map(|i| f.inst(*i));
    let name = |kind: &InstKind| match kind {
        InstKind::Op { op, .. } => Some(u.ops.get(*op).unique.clone()),
        InstKind::Const(_) => None,
        InstKind::Check { .. } => Some("trap".into()),
        InstKind::Opaque { .. } => Some("opaque".into()),
    };
    insts.filter_map(|i| name(&i.kind)).collect()
}
