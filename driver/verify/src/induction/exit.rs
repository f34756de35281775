//! How often a loop goes on: two rules about plain values, which need no induction.
//!
//! `stays(c, l)` says that `l` goes on exactly while `c` is not zero, and is left at last, whatever its inputs are. So it
//! goes on K times if `c` is zero in iteration K, and is not in any iteration k < K. Where the sums in `c` begin with what
//! enters the loop and take steps that do, `c` in iteration k is a term over k:
//!
//! * **then**: `c` is zero after K iterations;
//! * **not before**: for k < K, as unsigned numbers, `c` is not zero after k iterations.
//!
//! Where a rule asks for `trips(k, l)`, the compiler has counted: K is to be `k`.

use super::{COPIES, Carried, Follows, NoInduction, Rewriter, is_count};
use rewright_dsl::program::{Conclusion, Guard, Rule};
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Model, Term, TypeExpr};

impl Rewriter<'_> {
    /// What is to be shown of a rule that says how often a loop goes on: `leave(l, sum(l, 0, 1))`.
    pub(super) fn exit(mut self) -> Result<[Rule; 2], NoInduction> {
        let ([left], Conclusion::Equal(count)) = (&self.rule.left[..], &self.rule.right) else {
            return Err(NoInduction::Form);
        };
        let (Some(LoopRole::Leave), Term::Call { args: left, .. }) = (self.role(left), left) else {
            return Err(NoInduction::Exit);
        };
        let (Some(LoopRole::Recurrence(function)), Term::Call { op, targs, args, .. }) =
            (self.role(&left[1]), &left[1])
        else {
            return Err(NoInduction::Exit);
        };
        let [_, first, by] = &args[..] else { return Err(NoInduction::Form) };
        let is_sum = self.program.universe.ops.get(function).model == Some(Model::Add);
        if !is_sum || !is_count(first, by) || !self.is_entering(count) && self.trips.is_none() {
            return Err(NoInduction::Exit);
        }
        if let Some(trips) = self.trips {
            let same = self.rule_of("counted", (count.clone(), Term::Var(trips)), vec![]);
            return Ok([same.clone(), same]);
        }
        let [Follows::NotZero(test)] = &self.follows[..] else { return Err(NoInduction::Exit) };
        self.carried.push(Carried { op: *op, targs: targs.clone(), first: first.clone(), by: by.clone() });
        let k = Term::Var(COPIES * self.rule.vars.len() as u32);
        let [is_left, goes_on] = [count.clone(), k.clone()].map(|k| self.after_so_many(test, targs, &k));
        let (is_left, goes_on) = (is_left?, goes_on?);
        let ty = self.type_of(test)?;
        let zero = |ty: &TypeExpr| Term::Lit(Literal::Int(0), ty.clone());
        let equal = self.operation(Model::Eq)?;
        let truth = self.program.universe.ops.get(equal).results[0].clone();
        let is_zero = Term::Call { op: equal, targs: vec![ty.clone()], args: vec![goes_on, zero(&ty)], state: None };
        let less = self.operation(Model::Ult)?;
        let before = Term::Call { op: less, targs: targs.clone(), args: vec![k, count.clone()], state: None };
        Ok([
            self.rule_of("then", (is_left, zero(&ty)), vec![]),
            self.rule_of("not before", (is_zero, zero(&truth)), vec![Guard::Holds(before)]),
        ])
    }

    /// A term in iteration `k`, counted from 0.
    fn after_so_many(&self, term: &Term, counted: &[TypeExpr], k: &Term) -> Result<Term, NoInduction> {
        match term {
            _ if self.is_entering(term) => Ok(term.clone()),
            Term::Call { op, targs, args, state: None } => match (self.role(term), &args[..]) {
                (None, _) => {
                    let args = args.iter().map(|arg| self.after_so_many(arg, counted, k)).collect::<Result<_, _>>()?;
                    Ok(Term::Call { op: *op, targs: targs.clone(), args, state: None })
                }
                (Some(LoopRole::Recurrence(function)), [_, first, by]) => {
                    let is_sum = self.program.universe.ops.get(function).model == Some(Model::Add);
                    if !is_sum || targs != counted || !self.is_entering(first) || !self.is_entering(by) {
                        return Err(NoInduction::Exit);
                    }
                    self.linear(targs, first, by, k.clone())
                }
                (Some(_), _) => Err(NoInduction::Exit),
            },
            Term::Var(_) | Term::Lit(..) | Term::Call { .. } | Term::Eval(_) => Err(NoInduction::Exit),
        }
    }

    fn type_of(&self, term: &Term) -> Result<TypeExpr, NoInduction> {
        let Term::Call { op, targs, .. } = term else { return Err(NoInduction::Exit) };
        let [result] = &self.program.universe.ops.get(*op).results[..] else { return Err(NoInduction::Form) };
        Ok(result.substitute(&mut |i| targs[i as usize].clone()))
    }
}
