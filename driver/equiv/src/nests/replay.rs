//! Does the steps of a certificate on a nest, and shows that each may be done.
//!
//! Each step gives a nest that executes the same sequence, where what the solver is asked holds.

use super::claims::{Formula, Prover};
use super::mapped::{Map, defines, mentions};
use super::same::same_items;
use super::{Checked, Rejected, wrong};
use rewright_cfg_skeleton::nest::certificate::{Polynomial, Step};
use rewright_cfg_skeleton::nest::value::{Operation, POSITIVE, Value};
use rewright_cfg_skeleton::nest::{Affine, For, If, Item, Nest, Pool, ValueId, Var};

/// Loops within loops, and loops that are split, are not deeper.
const MAX_DEPTH: usize = 100;

pub(super) struct Replay<'a> {
    nest: &'a Nest,
    pool: &'a mut Pool,
    prover: &'a mut Prover,
    steps: std::slice::Iter<'a, Step>,
    /// What holds of sizes and of variables of the loops around.
    given: Vec<Formula>,
    depth: usize,
}

/// What holds of the variable in the body.
pub(super) fn range(x: &For) -> Vec<Formula> {
    let var = Affine::var(x.var);
    let lower = x.lower.iter().map(|l| Formula::at_least(&var, l));
    lower.chain(x.upper.iter().map(|u| Formula::less(&var, u))).collect()
}

fn counts_from_zero(x: &For) -> bool {
    x.step == 1 && matches!(x.lower.as_slice(), [lower] if lower.as_constant() == Some(0))
}

impl<'a> Replay<'a> {
    pub(super) fn new(
        nest: &'a Nest,
        pool: &'a mut Pool,
        prover: &'a mut Prover,
        steps: &'a [Step],
        given: Vec<Formula>,
    ) -> Self {
        Replay { nest, pool, prover, steps: steps.iter(), given, depth: 0 }
    }

    /// There must be no further step.
    pub(super) fn end(mut self) -> Checked<()> {
        match self.steps.next() {
            None => Ok(()),
            Some(step) => Err(Rejected::Step(format!("a step is about no loop: {step:?}"))),
        }
    }

    fn peek(&self) -> Option<&'a Step> {
        self.steps.as_slice().first()
    }

    pub(super) fn items(&mut self, items: &[Item]) -> Checked<Vec<Item>> {
        let mut result: Vec<Item> = vec![];
        for item in items {
            for piece in self.item(item)? {
                result.push(piece);
                while self.peek() == Some(&Step::Merge) {
                    self.steps.next();
                    let [.., Item::For(a), Item::For(b)] = result.as_slice() else {
                        return Err(Rejected::Step("there are no two loops to be merged".into()));
                    };
                    let merged = self.merged(&a.clone(), &b.clone())?;
                    result.truncate(result.len() - 2);
                    result.push(Item::For(merged));
                }
            }
        }
        Ok(result)
    }

    fn item(&mut self, item: &Item) -> Checked<Vec<Item>> {
        Ok(match item {
            Item::For(x) => self.looped(x)?,
            Item::If(x) => {
                let (then, otherwise) = (self.items(&x.then)?, self.items(&x.otherwise)?);
                vec![Item::If(If { then, otherwise, ..x.clone() })]
            }
            other => vec![other.clone()],
        })
    }

    fn looped(&mut self, x: &For) -> Checked<Vec<Item>> {
        self.depth += 1;
        let result = if self.depth > MAX_DEPTH { Err(wrong("it is too deep", x)) } else { self.shallow(x) };
        self.depth -= 1;
        result
    }

    fn shallow(&mut self, x: &For) -> Checked<Vec<Item>> {
        let x = self.counted_from_zero(x)?;
        let mut x = self.bounds(x)?;
        match self.steps.next() {
            Some(Step::Never) => {
                let given = [self.given.clone(), range(&x)].concat();
                self.prover.show("that the loop never runs", &given, &Formula::Any(vec![]))?;
                Ok(vec![])
            }
            Some(Step::Once(value)) => {
                let value = self.read(value, &x)?;
                self.runs_once(&x, &value)?;
                let body = self.replaced(&x.body, x.var, &value, &x)?;
                self.items(&body)
            }
            Some(Step::Enter) => {
                let length = self.given.len();
                self.given.extend(range(&x));
                let body = self.items(&x.body)?;
                self.given.truncate(length);
                if body.is_empty() {
                    return Ok(vec![]);
                }
                x.body = body;
                self.changed(x)
            }
            _ => Err(wrong("the next step is not about a whole loop", &x)),
        }
    }

    /// What is done to a loop whose body is done.
    fn changed(&mut self, mut x: For) -> Checked<Vec<Item>> {
        loop {
            x = match self.steps.next() {
                Some(Step::Keep) => return Ok(vec![Item::For(x)]),
                Some(Step::Reroll(copies)) => self.rerolled(&x, *copies)?,
                Some(Step::RerollCarried(copies)) => {
                    let body = super::carried::one_by_one(self.nest, self.pool, &x, *copies)?;
                    self.rerolled(&For { body, ..x }, *copies)?
                }
                Some(Step::Untile { size, var, upper }) => self.untiled(&x, (*size).into(), Var(*var), upper)?,
                Some(Step::Split { size, var, floors }) => {
                    let split = self.split(&x, (*size).into(), Var(*var), floors)?;
                    return self.looped(&split);
                }
                Some(Step::SplitBySize { size, var }) => {
                    let split = self.split_by_size(&x, Var(*size), Var(*var))?;
                    return self.looped(&split);
                }
                _ => return Err(wrong("the next step is not about a loop whose body is done", &x)),
            };
            x = self.bounds(x)?;
        }
    }

    fn read(&self, polynomial: &Polynomial, x: &For) -> Checked<Affine> {
        polynomial.read().ok_or_else(|| wrong("a polynomial is none", x))
    }

    fn read_all(&self, polynomials: &[Polynomial], x: &For) -> Checked<Vec<Affine>> {
        if polynomials.is_empty() {
            return Err(wrong("it has no bounds", x));
        }
        polynomials.iter().map(|p| self.read(p, x)).collect()
    }

    fn replaced(&mut self, items: &[Item], var: Var, by: &Affine, x: &For) -> Checked<Vec<Item>> {
        let of = |affine: &Affine| Some(affine.replace(&|v| (v == var).then(|| by.clone())));
        Map::new(self.pool, &of).items(items).ok_or_else(|| wrong("its body cannot be changed", x))
    }

    /// Whether nothing is known of the variable, and the loop neither mentions nor makes it.
    fn is_fresh(&mut self, var: Var, x: &For) -> bool {
        let is_known = self.given.iter().any(|fact| fact.mentions(var)) || self.nest.sizes.iter().any(|s| s.var == var);
        let loops = [Item::For(x.clone())];
        !is_known && !defines(&loops, var) && !mentions(self.pool, &loops, var)
    }

    /// With `l + s * i` in place of `i`, the loop counts from 0.
    fn counted_from_zero(&mut self, x: &For) -> Checked<For> {
        let [lower] = x.lower.as_slice() else { return Ok(x.clone()) };
        if counts_from_zero(x) {
            return Ok(x.clone());
        }
        let value = lower.plus(x.step, &Affine::var(x.var));
        let upper = x.upper.iter().map(|u| u.plus(-1, lower).ceil_div(x.step)).collect();
        let body = self.replaced(&x.body, x.var, &value, x)?;
        Ok(For { lower: vec![Affine::default()], upper, step: 1, body, ..*x })
    }

    /// Takes other bounds, if a step says so and they are the same.
    fn bounds(&mut self, x: For) -> Checked<For> {
        let Some(Step::Bounds { lower, upper }) = self.peek() else { return Ok(x) };
        self.steps.next();
        let (lower, upper) = (self.read_all(lower, &x)?, self.read_all(upper, &x)?);
        let at_least = |a: &Affine, b: &Affine| Formula::at_least(a, b);
        let at_most = |a: &Affine, b: &Affine| Formula::at_least(b, a);
        // Each number of one list lies beyond some number of the other one.
        fn beyond(all: &[Affine], some: &[Affine], is: impl Fn(&Affine, &Affine) -> Formula) -> Formula {
            Formula::All(all.iter().map(|a| Formula::Any(some.iter().map(|b| is(a, b)).collect())).collect())
        }
        let same = Formula::All(vec![
            beyond(&upper, &x.upper, at_least),
            beyond(&x.upper, &upper, at_least),
            beyond(&lower, &x.lower, at_most),
            beyond(&x.lower, &lower, at_most),
        ]);
        self.prover.show("that bounds are the same", &self.given, &same)?;
        Ok(For { lower, upper, ..x })
    }

    fn runs_once(&mut self, x: &For, value: &Affine) -> Checked<()> {
        let next = value.offset(x.step);
        let mut claims: Vec<Formula> = x.lower.iter().map(|l| Formula::at_least(value, l)).collect();
        claims.push(Formula::Any(x.lower.iter().map(|l| Formula::at_least(l, value)).collect()));
        claims.extend(x.upper.iter().map(|u| Formula::less(value, u)));
        claims.push(Formula::Any(x.upper.iter().map(|u| Formula::at_least(&next, u)).collect()));
        if value.mentions(x.var) {
            return Err(wrong("its only value depends on itself", x));
        }
        self.prover.show("that the loop runs once", &self.given, &Formula::All(claims))
    }

    /// `for i = 0 to n { B(c * i), .., B(c * i + c - 1) }` is `for i = 0 to c * n { B(i) }`.
    fn rerolled(&mut self, x: &For, copies: u32) -> Checked<For> {
        let copies = copies as usize;
        if copies < 2 || !counts_from_zero(x) || !x.body.len().is_multiple_of(copies) {
            return Err(wrong("it does not consist of so many copies", x));
        }
        let factor = copies as i128;
        let first = &x.body[..x.body.len() / copies];
        let divided = |affine: &Affine| affine.with_var_divided(x.var, factor);
        let template = Map::new(self.pool, &divided).items(first);
        let template = template.ok_or_else(|| wrong("its first copy is not of that kind", x))?;
        for (n, copy) in x.body.chunks(first.len()).enumerate() {
            let at = Affine::var(x.var).times(factor).offset(n as i128);
            let expected = self.replaced(&template, x.var, &at, x)?;
            if !same_items(self.pool, self.nest, &expected, copy) {
                return Err(wrong("its copies differ", x));
            }
        }
        let upper = x.upper.iter().map(|u| u.times(factor)).collect();
        Ok(For { upper, lower: x.lower.clone(), body: template, ..*x })
    }

    /// `for x { for y { B(t * x + y) } }` is `for z { B(z) }`, where the points are the same and no tile reaches into the
    /// next one.
    fn untiled(&mut self, x: &For, size: i128, var: Var, upper: &[Polynomial]) -> Checked<For> {
        let upper = self.read_all(upper, x)?;
        let [Item::For(y)] = x.body.as_slice() else { return Err(wrong("it does not consist of one loop", x)) };
        let is_fresh = self.is_fresh(var, x);
        let is_outside = upper.iter().all(|u| !u.mentions(var) && !u.mentions(x.var) && !u.mentions(y.var));
        if size < 2 || !counts_from_zero(x) || !counts_from_zero(y) || !is_fresh || !is_outside {
            return Err(wrong("it consists of no such tiles", x));
        }
        let (tile, inner, whole) = (Affine::var(x.var), Affine::var(y.var), Affine::var(var));
        let body = self.replaced(&y.body, y.var, &whole.plus(-size, &tile), x)?;
        if mentions(self.pool, &body, x.var) {
            return Err(wrong("its body depends on the tile", x));
        }
        let joined = For { var, lower: vec![Affine::default()], upper, step: 1, body, line: x.line };
        let point = tile.times(size).plus(1, &inner);
        let given = [self.given.clone(), range(x), range(y)].concat();
        let mut inside = vec![Formula::less(&inner, &Affine::constant(size))];
        inside.extend(joined.upper.iter().map(|end| Formula::less(&point, end)));
        self.prover.show("that tiles lie in the loop and do not overlap", &given, &Formula::All(inside))?;
        let given = [self.given.clone(), range(&joined)].concat();
        let quotient = whole.floor_div(size);
        let of = |v: Var| {
            let rest = || whole.plus(-size, &quotient);
            if v == x.var { Some(quotient.clone()) } else { (v == y.var).then(rest) }
        };
        let cover = [range(x), range(y)].concat().iter().map(|f| f.replace(&of)).collect();
        self.prover.show("that tiles cover the loop", &given, &Formula::All(cover))?;
        Ok(joined)
    }

    /// `for z = 0 to n * m { B(z) }` is `for i = 0 to n { for j = 0 to m { B(m * i + j) } }`.
    fn split(&mut self, x: &For, size: i128, var: Var, floors: &[(Polynomial, i64, i64)]) -> Checked<For> {
        if size < 2 || !counts_from_zero(x) || !self.is_fresh(var, x) {
            return Err(wrong("it cannot be divided so", x));
        }
        let quotient = |u: &Affine| Some(u.floor_div(size)).filter(|q| q.times(size).same(u));
        let upper = x.upper.iter().map(quotient).collect::<Option<_>>();
        let upper = upper.ok_or_else(|| wrong("its bound is no multiple", x))?;
        let (outer, rest) = (Affine::var(x.var), Affine::var(var));
        let body = self.replaced(&x.body, x.var, &outer.times(size).plus(1, &rest), x)?;
        let lower = vec![Affine::default()];
        let mut inner =
            For { var, lower: lower.clone(), upper: vec![Affine::constant(size)], step: 1, body, line: x.line };
        let given = [self.given.clone(), range(&inner)].concat();
        let mut known = vec![];
        for (polynomial, divisor, value) in floors {
            let (affine, divisor, value) = (self.read(polynomial, x)?, i128::from(*divisor), i128::from(*value));
            if divisor < 1 {
                return Err(wrong("a divisor is not positive", x));
            }
            let low = Affine::constant(value * divisor);
            let claim = vec![Formula::at_least(&affine, &low), Formula::less(&affine, &low.offset(divisor))];
            self.prover.show("what a quotient is", &given, &Formula::All(claim))?;
            known.push((affine, divisor, value));
        }
        let floor = |e: Affine, divisor: i128| {
            let found = known.iter().find(|(affine, d, _)| *d == divisor && affine.same(&e));
            found.map_or_else(|| e.floor_div(divisor), |(.., value)| Affine::constant(*value))
        };
        let of = |affine: &Affine| Some(affine.rebuild(&Affine::var, &floor));
        let body = Map::new(self.pool, &of).items(&inner.body);
        inner.body = body.ok_or_else(|| wrong("its body cannot be changed", x))?;
        Ok(For { lower, upper, body: vec![Item::For(inner)], ..*x })
    }

    /// `for z = 0 to n * m { q = floor(z / m); B(z, q) }` is `for i = 0 to n { for j = 0 to m { B(m * i + j, i) } }` for a
    /// size `m`, but where all numbers are negative.
    fn split_by_size(&mut self, x: &For, size: Var, var: Var) -> Checked<For> {
        let is_size = self.nest.sizes.iter().any(|s| s.var == size);
        if !is_size || !counts_from_zero(x) || !self.is_fresh(var, x) {
            return Err(wrong("it cannot be divided by that", x));
        }
        let (width, zero) = (Affine::var(size), Affine::default());
        let outer: Option<Vec<Affine>> = x.upper.iter().map(|u| u.without_factor(size)).collect();
        let outer = outer.filter(|all| all.iter().zip(&x.upper).all(|(o, u)| o.product(&width).same(u)));
        let outer = outer.ok_or_else(|| wrong("its bound is no multiple", x))?;
        let mut claim: Vec<Formula> = outer.iter().map(|o| Formula::at_least(o, &zero)).collect();
        claim.push(Formula::at_least(&width, &zero));
        self.prover.show("that a size and a bound are not both negative", &self.given, &Formula::Any(claim))?;
        let pool = &*self.pool;
        let quotient = |value: ValueId| match pool.get(value) {
            Value::Op(Operation { name, operands, .. }) if name == "arith.floordivsi" => {
                let operands: Vec<&Value> = operands.iter().map(|o| pool.get(*o)).collect();
                matches!(operands.as_slice(), [Value::Index(z), Value::Index(m)]
                    if z.same(&Affine::var(x.var)) && m.same(&width))
            }
            // Where the loop runs, the size is positive.
            Value::Op(Operation { name, operands, .. }) if name == POSITIVE => {
                matches!(operands.as_slice(), [m] if matches!(pool.get(*m), Value::Index(m) if m.same(&width)))
            }
            _ => false,
        };
        let (mut body, mut quotients) = (x.body.clone(), vec![]);
        without_values(&mut body, &quotient, &mut quotients);
        let (outer_var, lower) = (Affine::var(x.var), vec![Affine::default()]);
        let whole = width.product(&outer_var).plus(1, &Affine::var(var));
        let replaced = |v: Var| {
            if v == x.var { Some(whole.clone()) } else { quotients.contains(&v).then(|| outer_var.clone()) }
        };
        let of = |affine: &Affine| Some(affine.replace(&replaced));
        let body = Map::new(self.pool, &of).items(&body).ok_or_else(|| wrong("its body cannot be changed", x))?;
        let inner = For { var, lower: lower.clone(), upper: vec![width], step: 1, body, line: x.line };
        Ok(For { lower, upper: outer, body: vec![Item::For(inner)], ..*x })
    }

    /// `for i = 0 to a { B(i) } for j = 0 to b { B(a + j) }` is `for i = 0 to a + b { B(i) }`, where neither number is
    /// negative, or neither positive.
    fn merged(&mut self, a: &For, b: &For) -> Checked<For> {
        let [first] = a.upper.as_slice() else { return Err(wrong("it has several ends", a)) };
        if !counts_from_zero(a) || !counts_from_zero(b) {
            return Err(wrong("it does not count from 0", b));
        }
        let expected = self.replaced(&a.body, a.var, &first.plus(1, &Affine::var(b.var)), b)?;
        if !same_items(self.pool, self.nest, &expected, &b.body) {
            return Err(wrong("it does not continue the one before", b));
        }
        let zero = Affine::default();
        let mut some = vec![Formula::at_least(first, &zero)];
        some.extend(b.upper.iter().map(|rest| Formula::at_least(rest, &zero)));
        let none = vec![
            Formula::at_least(&zero, first),
            Formula::Any(b.upper.iter().map(|rest| Formula::at_least(&zero, rest)).collect()),
        ];
        let claim = Formula::Any(vec![Formula::All(some), Formula::All(none)]);
        self.prover.show("that one loop continues the other one", &self.given, &claim)?;
        let upper = b.upper.iter().map(|u| first.plus(1, u)).collect();
        Ok(For { upper, lower: a.lower.clone(), body: a.body.clone(), ..*a })
    }
}

/// Drops bindings to such values, whose variables are noted, and what only says that they are computed.
fn without_values(items: &mut Vec<Item>, is: &dyn Fn(ValueId) -> bool, vars: &mut Vec<Var>) {
    items.retain_mut(|item| match item {
        Item::Bind(bind) if is(bind.value) => {
            vars.push(bind.var);
            false
        }
        Item::Trap(value, _) => !is(*value),
        Item::For(x) => {
            without_values(&mut x.body, is, vars);
            true
        }
        Item::If(x) => {
            without_values(&mut x.then, is, vars);
            without_values(&mut x.otherwise, is, vars);
            true
        }
        _ => true,
    });
}
