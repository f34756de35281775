//! Integers and addresses as polynomials. A result that is not shown to be in the range of its type is not one.

use super::scalar::{Need, Pointer, Test, Val};
use super::{Found, Raiser};
use rewright_cfg_skeleton::ir::{InstId, InstKind, Value};
use rewright_cfg_skeleton::nest::{Affine, Constraint};
use rewright_typeprop::{Model, OpId, Term};

/// Operands that are no numbers of 64 bits.
const LONG: u32 = 64;

impl Raiser<'_> {
    /// The result of a pure operation.
    pub(super) fn operation(&mut self, id: InstId, op: OpId) -> Found<Val> {
        let inst = self.function.inst(id);
        let args: Vec<Value> = inst.args.to_vec();
        let [result] = inst.results[..] else { return Err("an operation with several results".into()) };
        let is_address = self.source.is_address(result);
        if self.counted[result.index()] || is_address {
            let bits = self.universe.types.scalar(self.function.ty(result)).map_or(LONG, |scalar| scalar.bits());
            let (mut vals, mut needs) = (vec![], vec![]);
            for arg in &args {
                vals.push(match self.env[arg.index()].clone() {
                    // A value that is computed from it has its needs.
                    Some(Val::Provided(more, e, bits)) if !self.is_met(&more) => {
                        needs.extend(more);
                        Val::Int(e, bits)
                    }
                    _ => self.val(*arg)?,
                });
            }
            let found = self.applied(op, &vals, bits).and_then(|val| self.promised(id, &vals, val));
            match found {
                Some(val) if needs.is_empty() => return Ok(val),
                Some(Val::Int(e, bits)) => return Ok(Val::Provided(needs, e, bits)),
                Some(Val::Provided(more, e, bits)) => return Ok(Val::Provided([needs, more].concat(), e, bits)),
                _ => {}
            }
        }
        self.data_operation(id).map(Val::Data)
    }

    /// The value with what the instruction promises of it; `None` where the second version's promise is not shown.
    fn promised(&mut self, id: InstId, operands: &[Val], val: Val) -> Option<Val> {
        let promises = self.source.promises(id);
        let has = |name: &str| promises.iter().any(|promise| promise == name);
        match val {
            Val::Pointer(mut pointer) => {
                let before = operands.iter().find_map(|operand| match operand {
                    Val::Pointer(before) => Some(before),
                    _ => None,
                });
                // A promise is about the number that an operand is, which may have wrapped around.
                let may_wrap = operands.iter().any(|operand| matches!(operand, Val::Modular(_)));
                if let Some(before) = before {
                    if has("inbounds") {
                        pointer.promised.extend([before.offset.clone(), pointer.offset.clone()]);
                    }
                    if may_wrap || (!has("inbounds") && before.offset != pointer.offset) {
                        pointer.is_promised = false;
                    }
                }
                (!self.is_second || promises.iter().all(|promise| promise == "inbounds"))
                    .then_some(Val::Pointer(pointer))
            }
            val if promises.is_empty() || !self.is_second => Some(val),
            Val::Int(..) | Val::Modular(_) => self.provided(id, operands, &promises),
            _ => None,
        }
    }

    /// The result of an operation in the integers, with what its promises need.
    fn provided(&mut self, id: InstId, operands: &[Val], promises: &[String]) -> Option<Val> {
        let inst = self.function.inst(id);
        let InstKind::Op { op, .. } = &inst.kind else { return None };
        let model = self.universe.ops.get(*op).model?;
        let bits = self.universe.types.scalar(self.function.ty(inst.results[0]))?.bits();
        let not_negative = |x: &Affine| Need::Fact(Constraint::at_least(x, &Affine::default()));
        let (exact, unsigned) = match (model, operands) {
            (Model::Add, [Val::Int(x, _), Val::Int(y, _)]) => (x.plus(1, y), vec![not_negative(x), not_negative(y)]),
            (Model::Mul, [Val::Int(x, _), Val::Int(y, _)]) => (x.product(y), vec![not_negative(x), not_negative(y)]),
            (Model::Sub, [Val::Int(x, _), Val::Int(y, _)]) => {
                (x.plus(-1, y), vec![not_negative(y), Need::Fact(Constraint::at_least(x, y))])
            }
            (Model::Shl, [Val::Int(x, _), Val::Int(y, _)]) => {
                let amount = y.as_constant().filter(|n| (0..62).contains(n) && *n < i128::from(bits))?;
                (x.times(1 << amount), vec![not_negative(x)])
            }
            (Model::Zext | Model::Trunc, [Val::Int(x, _)]) => (x.clone(), vec![not_negative(x)]),
            // Shown where its result was found.
            (Model::Or, [Val::Int(x, _), Val::Int(y, _)]) => (x.plus(1, y), vec![]),
            _ => return None,
        };
        let mut needs = vec![Need::Fits(exact.clone(), bits)];
        for promise in promises {
            match (promise.as_str(), model) {
                ("nsw", _) | ("disjoint", Model::Or) => {}
                ("nuw", _) | ("nneg", Model::Zext) => needs.extend(unsigned.iter().cloned()),
                _ => return None,
            }
        }
        Some(if self.is_met(&needs) { Val::Int(exact, bits) } else { Val::Provided(needs, exact, bits) })
    }

    /// An operation by its model, or by what it is short for.
    fn applied(&mut self, op: OpId, operands: &[Val], bits: u32) -> Option<Val> {
        let info = self.universe.ops.get(op);
        match (info.model, info.spec.clone()) {
            (Some(model), _) => self.modelled(model, operands, bits),
            (None, Some(spec)) => self.term(&spec, operands),
            (None, None) => None,
        }
    }

    /// A term over operands of 64 bits.
    fn term(&mut self, term: &Term, operands: &[Val]) -> Option<Val> {
        match term {
            Term::Var(n) => operands.get(*n as usize).cloned(),
            Term::Call { op, args, state: None, .. } => {
                let args = args.iter().map(|arg| self.term(arg, operands)).collect::<Option<Vec<Val>>>()?;
                let is_long = args.iter().all(|arg| !matches!(arg, Val::Int(_, bits) if *bits != LONG));
                if is_long { self.applied(*op, &args, LONG) } else { None }
            }
            _ => None,
        }
    }

    fn modelled(&mut self, model: Model, operands: &[Val], bits: u32) -> Option<Val> {
        match operands {
            [Val::Int(x, from)] => self.unary(model, x, (*from, bits)),
            [Val::Least(list, from)] => {
                let (list, from) = (list.clone(), *from);
                self.each(&list, bits, &mut |this, x| this.unary(model, x, (from, bits)))
            }
            [Val::Pointer(pointer)] if model == Model::Bitcast => Some(Val::Pointer(pointer.clone())),
            [Val::Pointer(pointer), offset] => moved(model, pointer, offset),
            [offset, Val::Pointer(pointer)] if model == Model::Add => moved(model, pointer, offset),
            [Val::Int(x, from), Val::Int(y, _)] => self.binary(model, (x, y), (*from, bits)),
            [Val::Least(list, from), Val::Int(y, _)] => {
                let (list, from) = (list.clone(), *from);
                match model {
                    Model::Add | Model::Sub => {
                        self.each(&list, bits, &mut |this, x| this.binary(model, (x, y), (from, bits)))
                    }
                    Model::Smin => Some(Val::Least([list, vec![y.clone()]].concat(), bits)),
                    Model::Sgt | Model::Sge => self.compared(model, (list.as_slice(), std::slice::from_ref(y))),
                    _ => None,
                }
            }
            [Val::Int(x, _), Val::Least(list, _)] => match model {
                Model::Smin => Some(Val::Least([list.clone(), vec![x.clone()]].concat(), bits)),
                Model::Slt | Model::Sle => self.compared(model, (std::slice::from_ref(x), list)),
                _ => None,
            },
            [Val::Modular(_), _] | [_, Val::Modular(_)] => modular(model, operands),
            [Val::Test(x), Val::Test(y)] => joined(model, x, y),
            [Val::Test(x), Val::Int(one, _)] if model == Model::Xor && one.as_constant() == Some(1) => {
                Some(Val::Test(Test { holds: x.fails.clone(), fails: x.holds.clone() }))
            }
            [Val::Test(test), Val::Int(x, _), Val::Int(y, _)] if model == Model::Select => {
                self.selected(&test.clone(), x, y, bits)
            }
            _ => None,
        }
    }

    /// The same of each of several integers, of which the least is meant.
    fn each(
        &mut self,
        list: &[Affine],
        bits: u32,
        of: &mut dyn FnMut(&mut Self, &Affine) -> Option<Val>,
    ) -> Option<Val> {
        let one = |x: &Affine| match of(self, x)? {
            Val::Int(e, _) => Some(e),
            _ => None,
        };
        list.iter().map(one).collect::<Option<Vec<Affine>>>().map(|list| Val::Least(list, bits))
    }

    /// The number as an integer of this many bits: itself, if it is in range; of 64 bits what it is congruent to.
    fn ranged(&mut self, e: Affine, bits: u32) -> Option<Val> {
        if e.is_broken() {
            return None;
        }
        if self.facts.fits(&e, bits) {
            return Some(Val::Int(e, bits));
        }
        if bits == LONG {
            return Some(Val::Modular(e));
        }
        let (half, size) = (1i128 << (bits - 1), 1i128 << bits);
        let wrapped = e.offset(half).modulo(size).offset(-half);
        (!wrapped.is_broken()).then_some(Val::Int(wrapped, bits))
    }

    fn unary(&mut self, model: Model, x: &Affine, (from, bits): (u32, u32)) -> Option<Val> {
        match model {
            Model::Neg => self.ranged(x.times(-1), bits),
            Model::Not => Some(Val::Int(x.times(-1).offset(-1), bits)),
            Model::Sext => Some(Val::Int(x.clone(), bits)),
            Model::Zext => Some(Val::Int(self.facts.simplified(&x.modulo(1 << from)), bits)),
            Model::Trunc => self.ranged(x.clone(), bits),
            Model::Bitcast if from == bits => Some(Val::Int(x.clone(), bits)),
            Model::Truth => self.is_not_zero(x),
            _ => None,
        }
    }

    fn is_not_zero(&mut self, x: &Affine) -> Option<Val> {
        self.compared(Model::Ne, (std::slice::from_ref(x), &[Affine::default()]))
    }

    fn binary(&mut self, model: Model, (x, y): (&Affine, &Affine), (from, bits): (u32, u32)) -> Option<Val> {
        let amount = y.as_constant();
        match model {
            Model::Add => self.ranged(x.plus(1, y), bits),
            Model::Sub => self.ranged(x.plus(-1, y), bits),
            Model::Mul => self.ranged(x.product(y), bits),
            Model::Shl => {
                let amount = amount.filter(|n| (0..62).contains(n) && *n < i128::from(bits))?;
                self.ranged(x.times(1 << amount), bits)
            }
            Model::Ashr | Model::Lshr => {
                let amount = amount.filter(|n| (0..62).contains(n) && *n < i128::from(bits))?;
                let is_exact = model == Model::Ashr || amount == 0 || self.facts.not_negative(x);
                is_exact.then(|| Val::Int(x.floor_div(1 << amount), bits))
            }
            Model::Udiv | Model::Sdiv | Model::Urem | Model::Srem => {
                let divisor = amount.filter(|n| *n > 0)?;
                let is_quotient = matches!(model, Model::Udiv | Model::Sdiv);
                let e = if is_quotient { x.floor_div(divisor) } else { x.modulo(divisor) };
                // Of what is negative it is another number.
                Some(match self.facts.not_negative(x) {
                    true => Val::Int(e, bits),
                    false => Val::Provided(vec![Need::Fact(Constraint::at_least(x, &Affine::default()))], e, bits),
                })
            }
            Model::And => self.masked(x, amount?, bits).or_else(|| self.masked(y, x.as_constant()?, bits)),
            Model::Or => self.disjoint(x, amount?, bits),
            Model::Xor if amount == Some(-1) => Some(Val::Int(x.times(-1).offset(-1), bits)),
            Model::Smin => Some(self.least(x, y, bits)),
            Model::Umin if self.facts.not_negative(x) && self.facts.not_negative(y) => Some(self.least(x, y, bits)),
            Model::Smax => self.greatest(x, y, bits),
            Model::Umax if self.facts.not_negative(x) && self.facts.not_negative(y) => self.greatest(x, y, bits),
            Model::Ult | Model::Ule | Model::Ugt | Model::Uge => self.unsigned(model, x, y),
            _ if from > 0 => self.compared(model, (std::slice::from_ref(x), std::slice::from_ref(y))),
            _ => None,
        }
    }

    fn least(&mut self, x: &Affine, y: &Affine, bits: u32) -> Val {
        if self.facts.show(&Constraint::at_least(y, x)) {
            return Val::Int(x.clone(), bits);
        }
        if self.facts.show(&Constraint::at_least(x, y)) {
            return Val::Int(y.clone(), bits);
        }
        Val::Least(vec![x.clone(), y.clone()], bits)
    }

    fn greatest(&mut self, x: &Affine, y: &Affine, bits: u32) -> Option<Val> {
        if self.facts.show(&Constraint::at_least(x, y)) {
            return Some(Val::Int(x.clone(), bits));
        }
        self.facts.show(&Constraint::at_least(y, x)).then(|| Val::Int(y.clone(), bits))
    }

    /// One of two integers: one that the facts choose, or the least.
    fn selected(&mut self, test: &Test, x: &Affine, y: &Affine, bits: u32) -> Option<Val> {
        let below = |a: &Affine, b: &Affine| Constraint::at_least(b, a);
        let mark = self.facts.mark();
        let mut under = |facts: &Option<Vec<Constraint>>, shown: Constraint| {
            let Some(facts) = facts else { return false };
            self.facts.assume(facts);
            let holds = self.facts.show(&shown);
            self.facts.back_to(mark);
            holds
        };
        let is_least = under(&test.holds, below(x, y)) && under(&test.fails, below(y, x));
        is_least.then(|| self.least(x, y, bits))
    }

    /// `x` and a constant: low bits, or all but some.
    fn masked(&mut self, x: &Affine, mask: i128, bits: u32) -> Option<Val> {
        let low = |mask: i128| (mask >= 0 && (mask + 1).count_ones() == 1).then(|| mask + 1);
        if let Some(size) = low(mask) {
            return Some(Val::Int(x.modulo(size), bits));
        }
        let without = |size: i128| x.plus(-1, &x.modulo(size));
        if let Some(size) = low(-mask - 1) {
            return Some(Val::Int(without(size), bits));
        }
        // All but the sign and some low bits.
        let most = (1i128 << (bits - 1)) - 1;
        let size = low(most - mask).filter(|size| mask > 0 && *size < (1 << 62))?;
        self.facts.not_negative(x).then(|| Val::Int(without(size), bits))
    }

    /// `x` or a constant, which has no bit in common with it.
    fn disjoint(&mut self, x: &Affine, bits_set: i128, bits: u32) -> Option<Val> {
        let size =
            u64::try_from(bits_set).ok()?.checked_add(1)?.checked_next_power_of_two().filter(|n| *n < 1 << 30)?;
        let is_free = self.facts.show(&Constraint::equal(&x.modulo(i128::from(size)), &Affine::default()));
        is_free.then(|| Val::Int(x.offset(bits_set), bits))
    }

    /// A comparison without signs, of what is not negative.
    fn unsigned(&mut self, model: Model, x: &Affine, y: &Affine) -> Option<Val> {
        let (signed, swapped) = match model {
            Model::Ult => (Model::Slt, false),
            Model::Ule => (Model::Sle, false),
            Model::Ugt => (Model::Slt, true),
            _ => (Model::Sle, true),
        };
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        if !self.facts.not_negative(y) {
            return None;
        }
        let Some(Val::Test(mut test)) = self.compared(signed, (std::slice::from_ref(x), std::slice::from_ref(y)))
        else {
            return None;
        };
        if !self.facts.not_negative(x) {
            // A negative number is large.
            test.holds.iter_mut().for_each(|holds| holds.push(Constraint::at_least(x, &Affine::default())));
            test.fails = None;
        }
        Some(Val::Test(test))
    }

    /// A signed comparison, of the least of each.
    fn compared(&mut self, model: Model, (left, right): (&[Affine], &[Affine])) -> Option<Val> {
        let (model, left, right) = match model {
            Model::Sgt => (Model::Slt, right, left),
            Model::Sge => (Model::Sle, right, left),
            model => (model, left, right),
        };
        let test = match (model, left, right) {
            (Model::Slt | Model::Sle, [x], right) => {
                let strict = i128::from(model == Model::Slt);
                let holds = right.iter().map(|y| Constraint::at_least(y, &x.offset(strict))).collect();
                let fails = match right {
                    [y] => Some(vec![Constraint::at_least(x, &y.offset(1 - strict))]),
                    _ => None,
                };
                Test { holds: Some(holds), fails }
            }
            (Model::Eq | Model::Ne, [x], [y]) => {
                let equal = vec![Constraint::equal(x, y)];
                let differs = self.differs(x, y).map(|fact| vec![fact]);
                match model {
                    Model::Eq => Test { holds: Some(equal), fails: differs },
                    _ => Test { holds: differs, fails: Some(equal) },
                }
            }
            _ => return None,
        };
        Some(Val::Test(test))
    }

    /// That two integers differ, as one constraint, where it is known which one is not larger.
    fn differs(&mut self, x: &Affine, y: &Affine) -> Option<Constraint> {
        if self.facts.show(&Constraint::at_least(x, y)) {
            return Some(Constraint::less(y, x));
        }
        self.facts.show(&Constraint::at_least(y, x)).then(|| Constraint::less(x, y))
    }

    /// What a branch on a value tests.
    pub(super) fn test(&mut self, value: Value) -> Found<Option<Test>> {
        Ok(match self.val(value)? {
            Val::Test(test) => Some(test),
            Val::Int(e, _) => match self.is_not_zero(&e) {
                Some(Val::Test(test)) => Some(test),
                _ => None,
            },
            _ => None,
        })
    }
}

/// An address further on.
fn moved(model: Model, pointer: &Pointer, offset: &Val) -> Option<Val> {
    let factor = match model {
        Model::Add => 1,
        Model::Sub => -1,
        _ => return None,
    };
    let (Val::Int(e, _) | Val::Modular(e)) = offset else { return None };
    Some(Val::Pointer(Pointer { offset: pointer.offset.plus(factor, e), ..pointer.clone() }))
}

/// Sums and products modulo 2^64.
fn modular(model: Model, operands: &[Val]) -> Option<Val> {
    let number = |val: &Val| match val {
        Val::Int(e, _) | Val::Modular(e) => Some(e.clone()),
        _ => None,
    };
    let [x, y] = operands else { return None };
    let (x, y) = (number(x)?, number(y)?);
    let result = match model {
        Model::Add => x.plus(1, &y),
        Model::Sub => x.plus(-1, &y),
        Model::Mul => x.product(&y),
        Model::Shl => x.times(1 << y.as_constant().filter(|n| (0..62).contains(n))?),
        _ => return None,
    };
    (!result.is_broken()).then_some(Val::Modular(result))
}

/// Both tests, or either.
fn joined(model: Model, x: &Test, y: &Test) -> Option<Val> {
    let both = |a: &Option<Vec<Constraint>>, b: &Option<Vec<Constraint>>| Some([a.clone()?, b.clone()?].concat());
    let test = match model {
        Model::And => Test { holds: both(&x.holds, &y.holds), fails: None },
        Model::Or => Test { holds: None, fails: both(&x.fails, &y.fails) },
        _ => return None,
    };
    Some(Val::Test(test))
}
