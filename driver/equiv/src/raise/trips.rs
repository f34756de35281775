//! For how many iterations loops run, as their tests say in the integers.
//!
//! The counter that is tested is shown to be in range at each test: until then the integers and the function agree.

use super::counting::{Carried, Counting};
use super::scalar::Val;
use super::{Found, NoNest, Raiser};
use rewright_cfg_skeleton::ir::{BlockId, Definition, EdgeArg, InstKind, LoopId, Value};
use rewright_cfg_skeleton::nest::{Affine, Constraint};
use rewright_typeprop::{Model, OpId, Term};

/// What a test compares.
struct Counter {
    /// A parameter of the header in the first iteration.
    start: Affine,
    /// What is tested in the first iteration.
    first: Affine,
    /// What each iteration adds.
    step: i128,
    /// Of the shortest type on the way to the test.
    bits: u32,
}

/// For how many iterations a loop runs: the least of these; never fewer than none where `is_exact`.
pub(super) struct Trips {
    pub(super) most: Vec<Affine>,
    pub(super) is_exact: bool,
}

impl Raiser<'_> {
    /// What each iteration adds to a parameter of the header, the same on all ways.
    pub(super) fn step(&self, latch: BlockId, n: usize, param: Value) -> Option<i128> {
        let mut found = None;
        for block in &self.function.layout {
            for edge in self.function.block(*block).term.edges() {
                if edge.target != latch {
                    continue;
                }
                let EdgeArg::Value(next) = edge.args[n] else { return None };
                let step = self.distance(next, param)?;
                if found.is_some_and(|other| other != step) {
                    return None;
                }
                found = Some(step);
            }
        }
        found
    }

    /// The constant that is added to `from`, step by step, to give `value`.
    fn distance(&self, value: Value, from: Value) -> Option<i128> {
        let (mut at, mut sum) = (value, 0i128);
        for _ in 0..self.function.values.len() {
            if at == from {
                return Some(sum);
            }
            let inst = self.function.inst(self.definition[at.index()]?.inst()?);
            let InstKind::Op { op, access: None, .. } = &inst.kind else { return None };
            let constant = |v: Value| self.constant_of(v);
            let (next, step) = match (self.universe.ops.get(*op).model, &inst.args[..]) {
                (Some(Model::Add), [x, y]) => match (constant(*x), constant(*y)) {
                    (_, Some(n)) => (*x, n),
                    (Some(n), _) => (*y, n),
                    _ => return None,
                },
                (Some(Model::Sub), [x, y]) => (*x, -constant(*y)?),
                // An element further.
                (None, [x, n, size]) if self.is_element(*op) => (*x, constant(*n)? * constant(*size)?),
                _ => return None,
            };
            (at, sum) = (next, sum + step);
        }
        None
    }

    /// Whether an operation adds the product of two numbers to an address.
    fn is_element(&self, op: OpId) -> bool {
        let is = |op: &OpId, model| self.universe.ops.get(*op).model == Some(model);
        let Some(Term::Call { op: sum, args, .. }) = &self.universe.ops.get(op).spec else { return false };
        let [Term::Var(0), Term::Call { op: product, args: factors, .. }] = &args[..] else { return false };
        let of_both = matches!(factors[..], [Term::Var(1), Term::Var(2)]);
        of_both && is(sum, Model::Add) && is(product, Model::Mul)
    }

    fn constant_of(&self, value: Value) -> Option<i128> {
        match self.function.inst(self.definition[value.index()]?.inst()?).kind {
            InstKind::Const(n) => Some(n.into()),
            _ => None,
        }
    }

    /// For how many iterations the loop runs.
    pub(super) fn trips(&mut self, id: LoopId, counting: &Counting) -> Found<Trips> {
        let none = || NoNest::from("a loop that does not go on while a counter is less than a bound");
        let inst = self.definition[counting.cond.index()].and_then(Definition::inst).ok_or_else(none)?;
        let InstKind::Op { op, access: None, .. } = &self.function.inst(inst).kind else { return Err(none()) };
        let model = self.universe.ops.get(*op).model.ok_or_else(none)?;
        let [x, y] = self.function.inst(inst).args[..] else { return Err(none()) };
        let (counter, bound, model) = match (self.counter(counting, x), self.counter(counting, y)) {
            (Some(counter), None) => (counter, y, model),
            (None, Some(counter)) => (counter, x, swapped(model).ok_or_else(none)?),
            _ => return Err(none()),
        };
        let model = if counting.goes_on_if { model } else { negated(model).ok_or_else(none)? };
        let bounds = match self.bound(id, bound)? {
            Val::Int(e, _) => vec![e],
            Val::Least(list, _) => list,
            _ => return Err("a loop whose bound is data".into()),
        };
        self.passing(counting, &counter, model, bounds)
    }

    /// A value that is a counter plus a constant: in the first iteration, and what each iteration adds.
    fn counter(&self, counting: &Counting, value: Value) -> Option<Counter> {
        let params = &self.function.block(counting.header).params;
        params.iter().zip(&counting.carried).find_map(|(param, carried)| {
            let Carried::Counter(Val::Int(e, bits)) = carried else { return None };
            let (distance, narrowest) = self.converted(value, *param)?;
            let at_first = e.replace(&|var| (var == counting.var).then(Affine::default));
            let (first, step) = (at_first.offset(distance), e.coefficient(counting.var));
            Some(Counter { start: at_first, first, step, bits: narrowest.min(*bits) })
        })
    }

    /// The distance where integers are made longer with their sign, or shorter, on the way: it is that in the integers if
    /// they are in the range of the shortest type. Says how many bits that has.
    fn converted(&self, value: Value, from: Value) -> Option<(i128, u32)> {
        let (mut at, mut sum, mut bits) = (value, 0, u32::MAX);
        loop {
            bits = bits.min(self.universe.types.scalar(self.function.ty(at))?.bits());
            if let Some(distance) = self.distance(at, from) {
                return Some((sum + distance, bits));
            }
            let inst = self.function.inst(self.definition[at.index()]?.inst()?);
            let InstKind::Op { op, access: None, .. } = &inst.kind else { return None };
            let (next, step) = match (self.universe.ops.get(*op).model?, &inst.args[..]) {
                (Model::Sext | Model::Trunc, [x]) => (*x, 0),
                (Model::Add, [x, y]) => (*x, self.constant_of(*y)?),
                (Model::Sub, [x, y]) => (*x, -self.constant_of(*y)?),
                _ => return None,
            };
            (at, sum) = (next, sum + step);
        }
    }

    /// What the loop compares with.
    fn bound(&mut self, id: LoopId, value: Value) -> Found<Val> {
        if let Some(n) = self.constant_of(value) {
            return Ok(Val::Int(Affine::constant(n), self.scalar(value)?.bits()));
        }
        let is_inside = self.home(value).is_none_or(|block| self.cfg.loop_contains(id, block));
        if is_inside { Err("a loop whose bound changes".into()) } else { self.val(value) }
    }

    /// How often the test holds one after the other, where the counter stays in range meanwhile.
    fn passing(&mut self, counting: &Counting, counter: &Counter, model: Model, bounds: Vec<Affine>) -> Found<Trips> {
        let (first, step) = (&counter.first, counter.step);
        let form = || NoNest::from("a loop whose counter does not go towards its bound");
        let is_unsigned = matches!(model, Model::Ult | Model::Ule | Model::Ugt | Model::Uge);
        let size = step.abs();
        // How far the counter may go, from its first value.
        let mut ways = vec![];
        for bound in &bounds {
            let way = if step > 0 { bound.plus(-1, first) } else { first.plus(-1, bound) };
            ways.push(match (model, step > 0) {
                (Model::Slt | Model::Ult, true) | (Model::Sgt | Model::Ugt, false) => way,
                (Model::Sle | Model::Ule, true) | (Model::Sge | Model::Uge, false) => way.offset(1),
                (Model::Ne, _) => {
                    let is_met = self.facts.not_negative(&way)
                        && self.facts.show(&Constraint::equal(&way.modulo(size), &Affine::default()));
                    if !is_met || bounds.len() > 1 {
                        return Err("a loop that may miss where it ends".into());
                    }
                    way
                }
                _ => return Err(form()),
            });
        }
        if is_unsigned && !(self.facts.not_negative(first) && bounds.iter().all(|bound| self.facts.not_negative(bound)))
        {
            return Err("a loop whose counter or bound may be negative or very large".into());
        }
        let passing: Vec<Affine> = ways.iter().map(|way| way.ceil_div(size)).collect();
        let most: Vec<Affine> = passing.iter().map(|n| n.offset(i128::from(!counting.at_top))).collect();
        let least = Affine::constant(i128::from(!counting.at_top));
        let is_exact = most.iter().all(|most| self.facts.show(&Constraint::at_least(most, &least)));
        if !is_exact && !counting.at_top {
            return Err("a loop that tests last, and may have passed its bound before".into());
        }
        self.in_range_while(counter, (&most, counting), (is_unsigned, bounds))?;
        Ok(Trips { most, is_exact })
    }

    /// The counter is in range at each test, those that fail included.
    fn in_range_while(
        &mut self,
        counter: &Counter,
        (most, counting): (&[Affine], &Counting),
        (is_unsigned, bounds): (bool, Vec<Affine>),
    ) -> Found<()> {
        let mark = self.facts.mark();
        let k = Affine::var(counting.var);
        let tested = counter.first.plus(counter.step, &k);
        let last = i128::from(counting.at_top);
        self.facts.assume(&[Constraint::at_least(&k, &Affine::default())]);
        let within: Vec<Constraint> = most.iter().map(|most| Constraint::less(&k, &most.offset(last))).collect();
        self.facts.assume(&within);
        for value in bounds.iter().chain([&counter.start]) {
            self.facts.is_in_range(value);
        }
        let fits = self.facts.fits(&tested, counter.bits) && (!is_unsigned || self.facts.not_negative(&tested));
        self.facts.back_to(mark);
        if fits { Ok(()) } else { Err("a counter that may leave the range of its type".into()) }
    }
}

fn swapped(model: Model) -> Option<Model> {
    Some(match model {
        Model::Slt => Model::Sgt,
        Model::Sle => Model::Sge,
        Model::Sgt => Model::Slt,
        Model::Sge => Model::Sle,
        Model::Ult => Model::Ugt,
        Model::Ule => Model::Uge,
        Model::Ugt => Model::Ult,
        Model::Uge => Model::Ule,
        Model::Eq | Model::Ne => model,
        _ => return None,
    })
}

fn negated(model: Model) -> Option<Model> {
    Some(match model {
        Model::Slt => Model::Sge,
        Model::Sle => Model::Sgt,
        Model::Sgt => Model::Sle,
        Model::Sge => Model::Slt,
        Model::Ult => Model::Uge,
        Model::Ule => Model::Ugt,
        Model::Ugt => Model::Ule,
        Model::Uge => Model::Ult,
        Model::Eq => Model::Ne,
        Model::Ne => Model::Eq,
        _ => return None,
    })
}
