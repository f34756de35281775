//! The second version is in bounds.

use super::super::accesses::Access;
use super::super::claims::Formula;
use super::super::flow::point;
use super::super::{Checked, Rejected};
use super::Walk;
use rewright_cfg_skeleton::nest::certificate;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, Nest};
use std::collections::BTreeSet;

impl Walk<'_, '_> {
    /// As the types of arrays say, or because the first one is.
    pub(super) fn in_bounds(&mut self) -> Checked<()> {
        let places: BTreeSet<(u32, u32)> = self.said.touched.iter().map(|t| (t.access, t.dimension)).collect();
        if places.len() < self.said.touched.len() {
            return Err(Rejected::Step("two reasons are given why a subscript is in bounds".into()));
        }
        for (number, access) in self.cells.after.all.iter().enumerate() {
            let at = access.own_point();
            let given = [self.cells.context.clone(), access.reached(&at)].concat();
            for (dimension, subscript) in access.cell.iter().flatten().enumerate() {
                let here = (number, dimension);
                let mut said = self.said.touched.iter();
                let claim = match said.find(|t| (t.access as usize, t.dimension as usize) == here) {
                    Some(touched) => self.touched(access, (dimension, subscript), touched)?,
                    None => within(self.cells.after.nest, access.array, (dimension, subscript)),
                };
                self.cells.prover.show(&format!("that line {} is in bounds", access.line), &given, &claim)?;
            }
        }
        Ok(())
    }

    /// That one of some accesses of the first version has the same subscript in the same array.
    fn touched(
        &self,
        access: &Access,
        (dimension, subscript): (usize, &Affine),
        said: &certificate::Touched,
    ) -> Checked<Formula> {
        let kind = self.cells.after.nest.array(access.array).kind;
        let vars = self.vars(access);
        let mut cases = vec![];
        for instance in &said.by {
            let (number, at) = point(instance, self.cells.before, &vars)?;
            let other = &self.cells.before.all[number];
            let same = matches!(kind, ArrayKind::Argument(_)) && self.cells.before.nest.array(other.array).kind == kind;
            let found = other.cell_at(&at).and_then(|cell| cell.get(dimension).cloned());
            let (true, false, Some(found)) = (same, other.guarded, found) else {
                return Err(Rejected::Step(format!("access {number} says nothing of that array")));
            };
            let mut facts = other.reached(&at);
            facts.push(Formula::equal(&found, subscript));
            cases.push(Formula::All(facts));
        }
        Ok(Formula::Any(cases))
    }
}

/// That a subscript is in the bounds that the array's type gives.
fn within(nest: &Nest, array: ArrayId, (dimension, subscript): (usize, &Affine)) -> Formula {
    match nest.array(array).shape.get(dimension) {
        Some(Some(extent)) => {
            Formula::All(vec![Formula::at_least(subscript, &Affine::default()), Formula::less(subscript, extent)])
        }
        _ => Formula::FALSE,
    }
}
