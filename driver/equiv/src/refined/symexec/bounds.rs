//! When `getelementptr` with flags gives poison: each index is a step, and no step may leave what its flag names.
//!
//! Where objects begin, and how large they are, is known only for those of the function and its module: for all others
//! the solver may choose, below half of the address space. Constant steps in one direction are one step: what lies
//! between two places in an object is in it.

use super::object::within;
use super::{SymbolicExecutor, Terms, Value};
use rewright_smt::{Address, Expr, Sort};

/// An index, and the size of what it counts.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// This many bytes.
    Constant(i64),
    /// An index of 64 bits, and a size.
    Index(Expr, u64),
}

impl SymbolicExecutor<'_> {
    /// When the way from a pointer by these steps breaks a flag.
    pub(super) fn leaves(&mut self, flag: &str, base: Value, steps: &[Step]) -> Terms<Expr> {
        let origin = base.origin.ok_or("an address without an object")?;
        let steps = merged(steps);
        let is_constant = steps.iter().all(|step| matches!(step, Step::Constant(_)));
        let mut broken = vec![];
        let mut moved = vec![];
        let mut parts = self.parts(base.bits);
        let mut here = base.bits;
        if flag == "inbounds" {
            broken.push(self.outside(origin, here));
        }
        for step in steps {
            let (part, some) = match step {
                Step::Constant(bytes) => {
                    if flag == "nuw" && bytes < 0 {
                        return Err("`getelementptr nuw` backward".into());
                    }
                    (self.s.bits(64, u128::from(bytes as u64)), Expr::TRUE)
                }
                Step::Index(index, size) => {
                    let some = self.s.nonzero(index);
                    broken.push(self.wraps(index, size, flag == "nuw"));
                    let size = self.s.bits(64, size.into());
                    (self.s.apply("bvmul", &[index, size], Sort::Bits(64)), some)
                }
            };
            moved.push(some);
            parts.push(part);
            let next = Address::sum(self.s, &parts).term(self.s);
            if flag == "inbounds" {
                broken.push(self.outside(origin, next));
            }
            // `inbounds` says `nusw`, too: no object lies around the end of the address space. That is left out for indices
            // where there are loops, whose questions it makes too hard.
            if flag != "inbounds" || self.acyclic || is_constant {
                broken.push(self.turns(here, next, part, flag == "nuw"));
            }
            here = next;
        }
        let (moved, broken) = (self.s.or(&moved), self.s.or(&broken));
        // Without a step nothing is left.
        Ok(self.s.and(&[moved, broken]))
    }

    /// When an address is not within an object, nor its end.
    fn outside(&mut self, origin: Expr, address: Expr) -> Expr {
        if let Some(object) = self.objects.iter().find(|object| object.exact && object.origin == origin).cloned() {
            let inside = within(self.s, &object, address, 0);
            return self.s.not(inside);
        }
        if let Some(outside) = self.s.hidden("is outside of", &[origin, address], Sort::Bool) {
            return outside;
        }
        let first = self.s.unknown("where an object begins", &[origin], Sort::Bits(64));
        let size = self.s.unknown("size of an object", &[origin], Sort::Bits(63));
        let size = self.s.resize(size, 64);
        let distance = self.s.apply("bvsub", &[address, first], Sort::Bits(64));
        self.s.apply("bvugt", &[distance, size], Sort::Bool)
    }

    /// When an index times a size does not fit 64 bits.
    fn wraps(&mut self, index: Expr, size: u64, unsigned: bool) -> Expr {
        if size <= 1 {
            return Expr::FALSE;
        }
        if unsigned {
            let most = self.s.bits(64, u128::from(u64::MAX / size));
            return self.s.apply("bvugt", &[index, most], Sort::Bool);
        }
        let size = i128::from(size);
        let [least, most] = [i64::MIN, i64::MAX].map(|end| (i128::from(end) / size) as u64);
        let [least, most] = [least, most].map(|end| self.s.bits(64, end.into()));
        let below = self.s.apply("bvslt", &[index, least], Sort::Bool);
        let above = self.s.apply("bvsgt", &[index, most], Sort::Bool);
        self.s.or(&[below, above])
    }

    /// When a step goes around the end of the address space.
    fn turns(&mut self, here: Expr, next: Expr, step: Expr, unsigned: bool) -> Expr {
        let falls = self.s.apply("bvult", &[next, here], Sort::Bool);
        if unsigned {
            return falls;
        }
        let zero = self.s.bits(64, 0);
        let back = self.s.apply("bvslt", &[step, zero], Sort::Bool);
        let rises = self.s.apply("bvugt", &[next, here], Sort::Bool);
        self.s.choose(back, rises, falls)
    }
}

/// Without steps of nothing, constant ones in one direction together.
fn merged(steps: &[Step]) -> Vec<Step> {
    let mut merged: Vec<Step> = vec![];
    for step in steps {
        match (merged.last_mut(), *step) {
            (_, Step::Constant(0)) => {}
            (Some(Step::Constant(last)), Step::Constant(next)) if (*last < 0) == (next < 0) => {
                match last.checked_add(next) {
                    Some(sum) => *last = sum,
                    None => merged.push(*step),
                }
            }
            _ => merged.push(*step),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::of_definitions;

    #[test]
    fn each_step_stays_where_its_flag_says() {
        let function = |body: &str| format!("define ptr @f(ptr %p, i64 %i) {{\n{body}\nret ptr %q\n}}\n");
        for (old, new, holds) in [
            // Steps of nothing leave nothing.
            ("%q = getelementptr inbounds i8, ptr %p, i64 0", "%q = getelementptr i8, ptr %p, i64 0", true),
            // Forward and back again is two steps; forward twice is one.
            (
                "%q = getelementptr inbounds i8, ptr %p, i64 0",
                "%q = getelementptr inbounds [4 x i32], ptr %p, i64 5, i64 -20",
                false,
            ),
            (
                "%q = getelementptr inbounds i32, ptr %p, i64 1",
                "%r = getelementptr inbounds i32, ptr %p, i64 2\n%q = getelementptr inbounds i32, ptr %r, i64 -1",
                false,
            ),
            (
                "%q = getelementptr inbounds i32, ptr %p, i64 3",
                "%r = getelementptr inbounds i32, ptr %p, i64 2\n%q = getelementptr inbounds i32, ptr %r, i64 1",
                true,
            ),
            (
                "%r = getelementptr inbounds i32, ptr %p, i64 %i\n%q = getelementptr inbounds i32, ptr %r, i64 1",
                "%r = getelementptr i32, ptr %p, i64 %i\n%q = getelementptr inbounds i32, ptr %r, i64 1",
                true,
            ),
            (
                "%r = getelementptr i32, ptr %p, i64 %i\n%q = getelementptr inbounds i32, ptr %r, i64 1",
                "%r = getelementptr inbounds i32, ptr %p, i64 %i\n%q = getelementptr inbounds i32, ptr %r, i64 1",
                false,
            ),
            // A step within an object does not go around the end of the address space.
            (
                "%q = getelementptr inbounds i32, ptr %p, i64 %i",
                "%q = getelementptr inbounds nusw i32, ptr %p, i64 %i",
                true,
            ),
            // An index that is multiplied by a size must not overflow.
            (
                "%r = shl i64 %i, 2\n%q = getelementptr inbounds i8, ptr %p, i64 %r",
                "%q = getelementptr inbounds i32, ptr %p, i64 %i",
                false,
            ),
            (
                "%r = shl nsw i64 %i, 2\n%q = getelementptr inbounds i8, ptr %p, i64 %r",
                "%q = getelementptr inbounds i32, ptr %p, i64 %i",
                true,
            ),
            (
                "%q = getelementptr inbounds i32, ptr %p, i64 %i",
                "%r = mul nuw i64 %i, 4\n%q = getelementptr inbounds i8, ptr %p, i64 %r",
                false,
            ),
            ("%q = getelementptr nuw i32, ptr %p, i64 %i", "%q = getelementptr i32, ptr %p, i64 %i", true),
            ("%q = getelementptr inbounds i32, ptr %p, i64 %i", "%q = getelementptr nuw i32, ptr %p, i64 %i", false),
            ("%q = getelementptr nusw i32, ptr %p, i64 %i", "%q = getelementptr inbounds i32, ptr %p, i64 %i", false),
        ] {
            let found = of_definitions(&function(old), &function(new));
            assert_eq!(found.proved, holds, "{old}\n{new}\n{found:?}");
        }
    }
}
