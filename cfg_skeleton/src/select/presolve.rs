//! What can be decided in the product without a solver, and what is left, in components. See [`super::product`].

use super::product::{Choice, Item, Product};
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

/// How often the reductions are repeated. Each round is linear; they are nearly done after three.
const ROUNDS: usize = 6;

/// Needs that may replace one need when a class is substituted.
const MAX_SUBSTITUTE: usize = 4;

/// What is left.
pub(crate) struct Reduced {
    /// By product class: the choice that is decided.
    pub(crate) picked: Vec<Option<usize>>,
    /// Parts that do not meet.
    pub(crate) components: Vec<Component>,
    /// A choice that is not considered any more, and the one that is as good.
    pub(crate) replaced: FxHashMap<(Item, usize), usize>,
}

/// Classes that depend on each other, numbered anew.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub(crate) items: Vec<Item>,
    /// Must be had in any case.
    pub(crate) forced: Vec<bool>,
    /// By class: number of the choice in the product, cost, needs, and needs that may close cycles (they include
    /// forced classes).
    pub(crate) choices: Vec<Vec<Option_>>,
}

/// A choice in a component.
#[derive(Clone, Debug)]
pub(crate) struct Option_ {
    pub(crate) number: usize,
    pub(crate) cost: u64,
    /// Classes of the component that must be had, too; forced ones are left out.
    pub(crate) needs: Vec<usize>,
    /// Classes that must come before.
    pub(crate) before: Vec<usize>,
}

struct Presolve<'p> {
    product: &'p Product,
    /// By product class: choices that are left, by number, with what they still need.
    left: Vec<Vec<(usize, Choice)>>,
    picked: Vec<Option<usize>>,
    /// Had for nothing: never a need.
    free: Vec<bool>,
    forced: Vec<bool>,
    replaced: FxHashMap<(Item, usize), usize>,
}

/// Decides what can be decided; `None` if a root cannot be had.
pub(crate) fn presolve(product: &Product) -> Option<Reduced> {
    let n = product.meanings.len();
    let left = product.choices.iter().map(|list| list.iter().cloned().enumerate().collect()).collect();
    let mut this = Presolve {
        product,
        left,
        picked: vec![None; n],
        free: vec![false; n],
        forced: vec![false; n],
        replaced: FxHashMap::default(),
    };
    this.makeable();
    for root in &product.roots {
        this.forced[root.index()] = true;
        if this.left[root.index()].is_empty() {
            return None;
        }
    }
    for _ in 0..ROUNDS {
        let mut changed = this.find_free();
        changed |= this.dominate();
        changed |= this.force();
        changed |= this.cut_forced();
        changed |= this.substitute();
        if !changed {
            break;
        }
    }
    let components = this.components();
    Some(Reduced { picked: this.picked, components, replaced: this.replaced })
}

impl Presolve<'_> {
    fn items(&self) -> impl Iterator<Item = Item> + use<> {
        (0..self.product.meanings.len() as u32).map(Item)
    }

    /// Drops choices that need what cannot be had: the least fixed point over needs, the greatest over deferred ones.
    fn makeable(&mut self) {
        let n = self.left.len();
        loop {
            let mut users: Vec<Vec<(Item, usize)>> = vec![vec![]; n];
            let mut waiting: Vec<Vec<usize>> = vec![vec![]; n];
            let mut work = vec![];
            let mut made = vec![false; n];
            for item in self.items() {
                for (k, (_, choice)) in self.left[item.index()].iter().enumerate() {
                    waiting[item.index()].push(choice.needs.len());
                    for need in &choice.needs {
                        users[need.index()].push((item, k));
                    }
                    if choice.needs.is_empty() {
                        work.push(item);
                    }
                }
            }
            while let Some(item) = work.pop() {
                if std::mem::replace(&mut made[item.index()], true) {
                    continue;
                }
                for (user, k) in &users[item.index()] {
                    waiting[user.index()][*k] -= 1;
                    if waiting[user.index()][*k] == 0 {
                        work.push(*user);
                    }
                }
            }
            let mut changed = false;
            for item in self.items() {
                let list = &mut self.left[item.index()];
                let before = list.len();
                list.retain(|(_, c)| {
                    !c.needs.contains(&item) && c.needs.iter().chain(&c.deferred).all(|need| made[need.index()])
                });
                changed |= list.len() != before;
            }
            if !changed {
                return;
            }
        }
    }

    /// Classes with a choice that costs nothing and needs only such classes.
    fn find_free(&mut self) -> bool {
        let mut users: Vec<Vec<Item>> = vec![vec![]; self.left.len()];
        let mut work = vec![];
        for item in self.items().filter(|i| !self.free[i.index()] && self.picked[i.index()].is_none()) {
            for (_, choice) in self.left[item.index()].iter().filter(|(_, c)| c.cost == 0) {
                if choice.needs.is_empty() && choice.deferred.is_empty() {
                    work.push(item);
                }
                choice.needs.iter().chain(&choice.deferred).for_each(|need| users[need.index()].push(item));
            }
        }
        let mut changed = false;
        while let Some(item) = work.pop() {
            if self.free[item.index()] || self.picked[item.index()].is_some() {
                continue;
            }
            let free = |need: &Item| self.free[need.index()];
            let costless = |(_, c): &&(usize, Choice)| c.cost == 0 && c.needs.iter().chain(&c.deferred).all(free);
            if let Some((number, _)) = self.left[item.index()].iter().find(costless) {
                self.picked[item.index()] = Some(*number);
                self.free[item.index()] = true;
                changed = true;
                work.extend(users[item.index()].iter().copied());
            }
        }
        if changed {
            for list in &mut self.left {
                for (_, choice) in list {
                    choice.needs.retain(|need| !self.free[need.index()]);
                    choice.deferred.retain(|need| !self.free[need.index()]);
                }
            }
        }
        changed
    }

    /// Drops choices that another one of the class beats: no dearer, and no need of its own.
    fn dominate(&mut self) -> bool {
        let mut changed = false;
        for item in self.items() {
            let list = &mut self.left[item.index()];
            if list.len() < 2 || self.picked[item.index()].is_some() {
                continue;
            }
            list.sort_by_key(|(number, c)| (c.cost, c.needs.len() + c.deferred.len(), *number));
            let mut kept: Vec<(usize, Choice)> = vec![];
            for (number, choice) in list.drain(..) {
                let beats = |(_, k): &&(usize, Choice)| {
                    k.needs.iter().all(|need| choice.needs.binary_search(need).is_ok())
                        && k.deferred
                            .iter()
                            .all(|need| choice.deferred.contains(need) || choice.needs.binary_search(need).is_ok())
                };
                match kept.iter().take(64).find(beats) {
                    Some((better, _)) => {
                        self.replaced.insert((item, number), *better);
                        changed = true;
                    }
                    None => kept.push((number, choice)),
                }
            }
            *list = kept;
        }
        changed
    }

    /// What the only choice of a forced class needs is forced.
    fn force(&mut self) -> bool {
        let mut work: Vec<Item> = self.items().filter(|i| self.forced[i.index()]).collect();
        let mut changed = false;
        while let Some(item) = work.pop() {
            let [(number, choice)] = &self.left[item.index()][..] else { continue };
            if self.free[item.index()] || self.picked[item.index()].is_some() {
                continue;
            }
            self.picked[item.index()] = Some(*number);
            changed = true;
            for need in choice.needs.iter().chain(&choice.deferred) {
                if !std::mem::replace(&mut self.forced[need.index()], true) {
                    work.push(*need);
                }
            }
        }
        changed
    }

    /// Forgets needs that are had in any case and can close no cycle.
    fn cut_forced(&mut self) -> bool {
        let scc = self.cycles();
        let mut changed = false;
        for item in self.items() {
            for (_, choice) in &mut self.left[item.index()] {
                let before = choice.needs.len() + choice.deferred.len();
                let other = |need: &Item| scc[need.index()] != scc[item.index()] || scc[item.index()] == 0;
                choice.needs.retain(|need| !(self.forced[need.index()] && other(need)));
                choice.deferred.retain(|need| !self.forced[need.index()]);
                changed |= before != choice.needs.len() + choice.deferred.len();
            }
        }
        changed
    }

    /// By product class: the number of its strongly connected component, 0 if it is alone.
    fn cycles(&self) -> Vec<u32> {
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(self.left.len(), 0);
        for _ in &self.left {
            graph.add_node(());
        }
        for item in self.items().filter(|i| !self.free[i.index()]) {
            for need in self.left[item.index()].iter().flat_map(|(_, c)| &c.needs) {
                graph.add_edge(item.0.into(), need.0.into(), ());
            }
        }
        let mut scc = vec![0; self.left.len()];
        let found = petgraph::algo::kosaraju_scc(&graph);
        for (n, members) in found.into_iter().filter(|m| m.len() > 1).enumerate() {
            for member in members {
                scc[member.index()] = n as u32 + 1;
            }
        }
        scc
    }

    /// Replaces classes whose only choice costs nothing by what that needs.
    fn substitute(&mut self) -> bool {
        let scc = self.cycles();
        let mut by: FxHashMap<Item, Vec<Item>> = FxHashMap::default();
        for item in self.items() {
            if let [(number, choice)] = &self.left[item.index()][..]
                && choice.cost == 0
                && choice.deferred.is_empty()
                && choice.needs.len() <= MAX_SUBSTITUTE
                && !self.free[item.index()]
                && !self.forced[item.index()]
                && scc[item.index()] == 0
                && self.picked[item.index()].is_none_or(|p| p == *number)
            {
                by.insert(item, choice.needs.clone());
            }
        }
        let mut changed = false;
        for item in self.items() {
            for (_, choice) in &mut self.left[item.index()] {
                for list in [&mut choice.needs, &mut choice.deferred] {
                    let mut rounds = 0;
                    while list.iter().any(|need| by.contains_key(need)) && rounds < 1000 {
                        let needs =
                            list.drain(..).flat_map(|need| by.get(&need).cloned().unwrap_or_else(|| vec![need]));
                        let mut needs: Vec<Item> = needs.collect();
                        needs.sort();
                        needs.dedup();
                        *list = needs;
                        rounds += 1;
                        changed = true;
                    }
                }
            }
        }
        for item in self.items().filter(|i| by.contains_key(i)) {
            self.picked[item.index()] = self.left[item.index()].first().map(|(number, _)| *number);
        }
        changed
    }

    fn components(&self) -> Vec<Component> {
        // A decided class that a cycle may go through stays, so that the cycle is seen.
        let scc = self.cycles();
        let decided = |i: usize| self.picked[i].is_some() && self.forced[i] && scc[i] == 0;
        let open = |item: &Item| !self.free[item.index()] && !decided(item.index());
        let mut number: Vec<Option<usize>> = vec![None; self.left.len()];
        let mut members: Vec<Item> = vec![];
        let mut work: Vec<Item> = self.items().filter(|i| self.forced[i.index()] && open(i)).collect();
        while let Some(item) = work.pop() {
            if number[item.index()].is_some() {
                continue;
            }
            number[item.index()] = Some(members.len());
            members.push(item);
            for (_, choice) in &self.left[item.index()] {
                work.extend(choice.needs.iter().chain(&choice.deferred).filter(|i| open(i)).copied());
            }
        }
        let mut up: Vec<usize> = (0..members.len()).collect();
        fn find(up: &mut [usize], mut at: usize) -> usize {
            while up[at] != at {
                up[at] = up[up[at]];
                at = up[at];
            }
            at
        }
        for (n, item) in members.iter().enumerate() {
            for (_, choice) in &self.left[item.index()] {
                for other in choice.needs.iter().chain(&choice.deferred).filter_map(|i| number[i.index()]) {
                    let (a, b) = (find(&mut up, n), find(&mut up, other));
                    up[a.max(b)] = a.min(b);
                }
            }
        }
        let mut parts: std::collections::BTreeMap<usize, Vec<Item>> = std::collections::BTreeMap::new();
        for (n, item) in members.iter().enumerate() {
            parts.entry(find(&mut up, n)).or_default().push(*item);
        }
        let undecided = |items: &Vec<Item>| items.iter().any(|i| self.left[i.index()].len() > 1);
        parts.into_values().filter(undecided).map(|items| self.component(items)).collect()
    }

    fn component(&self, items: Vec<Item>) -> Component {
        let number: FxHashMap<Item, usize> = items.iter().enumerate().map(|(n, i)| (*i, n)).collect();
        let local = |list: &[Item], forced: bool| -> Vec<usize> {
            let kept = list.iter().filter(|i| forced || !self.forced[i.index()]);
            kept.filter_map(|i| number.get(i).copied()).collect()
        };
        let choices = items.iter().map(|item| {
            let options = self.left[item.index()].iter().map(|(n, choice)| {
                let mut needs = local(&choice.needs, false);
                needs.extend(local(&choice.deferred, false));
                needs.sort();
                needs.dedup();
                Option_ { number: *n, cost: choice.cost, needs, before: local(&choice.needs, true) }
            });
            options.collect()
        });
        let choices = choices.collect();
        let forced = items.iter().map(|i| self.forced[i.index()]).collect();
        Component { items, forced, choices }
    }
}
