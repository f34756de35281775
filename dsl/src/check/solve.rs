//! Types with holes, and the constraints between them.
//!
//! Inside a rule every call brings fresh variables for its operation's type parameters. An argument must be a
//! subtype of its parameter; a variable meets what it is compared with at once, unless that type has declared
//! subtypes: then it is only bounded from above, and whatever it meets later is checked against the bound.
//!
//! Solving is eager and first-come: a variable that two arguments share takes the first one's type. Arguments of
//! parametric types are invariant; a bare parametric name stands for every instance, as in [`TypeStore`].

use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{TypeExpr, TypeParam, TypeStore};

/// A type with holes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum IType {
    /// A hole: an index into the solver's variables.
    Var(u32),
    /// The n-th type parameter of the rule or declaration at hand: stands for itself.
    Rigid(u32),
    /// A declared type, applied.
    App(TypeDeclId, Vec<IType>),
    /// An integer argument.
    Int(i64),
    /// What a writing call gives: not a value.
    State,
    /// Already reported; fits everywhere.
    Error,
}

/// What a literal may stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LiteralKind {
    Int,
    Float,
    Str,
}

/// Why two types do not meet.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Clash {
    /// They are different.
    Different,
    /// One is not below a bound: type, bound.
    Bound(IType, IType),
    /// A literal cannot be of that type.
    Literal(LiteralKind, IType),
    /// A type would contain itself.
    Infinite,
}

/// What is known of a hole.
#[derive(Clone, Debug, Default)]
struct Hole {
    is: Option<IType>,
    upper: Vec<IType>,
    literal: Option<LiteralKind>,
    /// From an annotation that names a bare parametric type: may stand for its bound in the end.
    annotated: bool,
}

/// Holes and the rigid parameters around them.
#[derive(Clone)]
pub(crate) struct Solver<'a> {
    types: &'a TypeStore,
    /// By declaration: does any other declaration state it as its supertype?
    has_subtypes: &'a [bool],
    /// Bounds of the rigid parameters.
    rigid: Vec<Option<IType>>,
    holes: Vec<Hole>,
    /// Trials under way, one inside the other.
    trials: usize,
    /// What trials have changed, and what it was: the last change comes last.
    trail: Vec<(u32, Hole)>,
}

type Met = Result<(), Clash>;

impl<'a> Solver<'a> {
    pub(crate) fn new(types: &'a TypeStore, has_subtypes: &'a [bool]) -> Self {
        Solver { types, has_subtypes, rigid: Vec::new(), holes: Vec::new(), trials: 0, trail: Vec::new() }
    }

    /// Does something hold? The facts that this finds out stay if `keep` says so, and are forgotten otherwise.
    fn attempt<T>(&mut self, goal: impl FnOnce(&mut Self) -> T, keep: impl FnOnce(&T) -> bool) -> T {
        let (holes, changes) = (self.holes.len(), self.trail.len());
        self.trials += 1;
        let found = goal(self);
        self.trials -= 1;
        if !keep(&found) {
            for (hole, before) in self.trail.drain(changes..).rev() {
                self.holes[hole as usize] = before;
            }
            self.holes.truncate(holes);
        } else if self.trials == 0 {
            self.trail.clear();
        }
        found
    }

    /// Tries something without finding out anything.
    pub(crate) fn trial<T>(&mut self, goal: impl FnOnce(&mut Self) -> T) -> T {
        self.attempt(goal, |_| false)
    }

    /// A hole that changes.
    fn hole_mut(&mut self, hole: u32) -> &mut Hole {
        let at = &mut self.holes[hole as usize];
        if self.trials > 0 {
            self.trail.push((hole, at.clone()));
        }
        at
    }

    pub(crate) fn subtypes(&self) -> &'a [bool] {
        self.has_subtypes
    }

    /// Declares the next rigid parameter.
    pub(crate) fn push_rigid(&mut self, bound: Option<IType>) {
        self.rigid.push(bound);
    }

    pub(crate) fn rigid_bound(&self, index: u32) -> Option<&IType> {
        self.rigid.get(index as usize)?.as_ref()
    }

    pub(crate) fn fresh(&mut self) -> IType {
        self.holes.push(Hole::default());
        IType::Var(self.holes.len() as u32 - 1)
    }

    pub(crate) fn fresh_below(&mut self, bound: Option<IType>) -> IType {
        self.holes.push(Hole { upper: bound.into_iter().collect(), ..Hole::default() });
        IType::Var(self.holes.len() as u32 - 1)
    }

    pub(crate) fn fresh_literal(&mut self, kind: LiteralKind) -> IType {
        self.holes.push(Hole { literal: Some(kind), ..Hole::default() });
        IType::Var(self.holes.len() as u32 - 1)
    }

    /// One fresh hole per type parameter, below its bound.
    pub(crate) fn instantiate(&mut self, tparams: &[TypeParam]) -> Vec<IType> {
        let fresh: Vec<IType> = tparams.iter().map(|_| self.fresh()).collect();
        for (tparam, hole) in tparams.iter().zip(&fresh) {
            if let (Some(bound), IType::Var(v)) = (&tparam.bound, hole) {
                let bound = substitute(bound, &fresh);
                if is_any(&bound) {
                    continue;
                }
                // A bound without subtypes leaves no choice.
                match &bound {
                    IType::App(decl, args) if !self.has_subtypes(*decl) && self.is_saturated(*decl, args) => {
                        self.hole_mut(*v).is = Some(bound);
                    }
                    _ => self.hole_mut(*v).upper.push(bound),
                }
            }
        }
        fresh
    }

    /// What a bare annotation means: `Matrix` is `Matrix{?}`, and, in a rule (`below`), a type with subtypes is
    /// some subtype of it.
    pub(crate) fn open_below(&mut self, ty: IType, below: bool) -> IType {
        let IType::App(decl, args) = &ty else { return ty };
        if decl.0 == 0 && below {
            return self.fresh();
        }
        let params = &self.types.decl(*decl).params;
        let ty = if args.is_empty() && !params.is_empty() {
            let args = self.instantiate(params);
            for arg in &args {
                if let IType::Var(v) = arg {
                    self.hole_mut(*v).annotated = true;
                }
            }
            IType::App(*decl, args)
        } else {
            ty.clone()
        };
        if below && self.has_subtypes(*decl) { self.fresh_below(Some(ty)) } else { ty }
    }

    fn is_saturated(&self, decl: TypeDeclId, args: &[IType]) -> bool {
        !args.is_empty() || self.types.decl(decl).params.is_empty()
    }

    fn has_subtypes(&self, decl: TypeDeclId) -> bool {
        self.has_subtypes.get(decl.0 as usize).copied().unwrap_or(false)
    }

    /// The type as far as it is known at its head.
    pub(crate) fn shallow(&self, ty: &IType) -> IType {
        let mut at = ty;
        while let IType::Var(v) = at {
            match &self.holes[*v as usize].is {
                Some(next) => at = next,
                None => break,
            }
        }
        at.clone()
    }

    /// The type as far as it is known.
    pub(crate) fn deep(&self, ty: &IType) -> IType {
        match self.shallow(ty) {
            IType::App(decl, args) => IType::App(decl, args.iter().map(|a| self.deep(a)).collect()),
            other => other,
        }
    }

    /// Holes that remain in a type, in order of occurrence.
    pub(crate) fn holes_in(&self, ty: &IType, out: &mut Vec<u32>) {
        match self.shallow(ty) {
            IType::Var(v) if !out.contains(&v) => out.push(v),
            IType::App(_, args) => args.iter().for_each(|a| self.holes_in(a, out)),
            _ => {}
        }
    }

    /// Is nothing left open in it?
    pub(crate) fn is_closed(&self, ty: &IType) -> bool {
        let mut holes = Vec::new();
        self.holes_in(ty, &mut holes);
        holes.is_empty()
    }

    /// The most specific bound of an open hole.
    pub(crate) fn upper(&self, hole: u32) -> Option<IType> {
        let upper = &self.holes[hole as usize].upper;
        let mut best: Option<&IType> = None;
        for bound in upper {
            if best.is_none_or(|b| self.clone().subtype(bound, b).is_ok()) {
                best = Some(bound);
            }
        }
        best.cloned()
    }

    pub(crate) fn is_annotated(&self, hole: u32) -> bool {
        self.holes[hole as usize].annotated
    }

    pub(crate) fn literal(&self, hole: u32) -> Option<LiteralKind> {
        self.holes[hole as usize].literal
    }

    /// Closes a hole without checking: for what is left in the end.
    pub(crate) fn close(&mut self, hole: u32, ty: IType) {
        self.hole_mut(hole).is = Some(ty);
    }

    /// The supertype of an applied type.
    fn parent(&self, decl: TypeDeclId, args: &[IType]) -> Option<IType> {
        let d = self.types.decl(decl);
        let sup = d.supertype.as_ref()?;
        if args.is_empty() && !d.params.is_empty() {
            let TypeExpr::App(parent, _) = sup else { return None };
            return Some(IType::App(*parent, Vec::new()));
        }
        Some(substitute(sup, args))
    }

    /// Makes `sub <: sup` hold.
    pub(crate) fn subtype(&mut self, sub: &IType, sup: &IType) -> Met {
        let (sub, sup) = (self.shallow(sub), self.shallow(sup));
        match (&sub, &sup) {
            (IType::Error, _) | (_, IType::Error) => Ok(()),
            (IType::State, IType::State) => Ok(()),
            (IType::State, _) | (_, IType::State) => Err(Clash::Different),
            (_, top) if is_any(top) => Ok(()),
            (IType::Var(v), IType::App(decl, args)) => {
                if self.has_subtypes(*decl) || !self.is_saturated(*decl, args) {
                    self.bound(*v, sup.clone())
                } else {
                    self.unify(&sub, &sup)
                }
            }
            (IType::Rigid(i), IType::App(..)) => match self.rigid_bound(*i).cloned() {
                Some(bound) => self.subtype(&bound, &sup).map_err(|_| Clash::Bound(sub.clone(), sup.clone())),
                None => Err(Clash::Bound(sub.clone(), sup.clone())),
            },
            (IType::App(..), IType::App(goal, goal_args)) => {
                let mut at = Some(sub.clone());
                while let Some(IType::App(decl, args)) = at {
                    if decl == *goal {
                        return self.unify_args(&args, goal_args);
                    }
                    at = self.parent(decl, &args).map(|p| self.shallow(&p));
                }
                Err(Clash::Different)
            }
            _ => self.unify(&sub, &sup),
        }
    }

    fn unify_args(&mut self, a: &[IType], b: &[IType]) -> Met {
        if a.is_empty() || b.is_empty() {
            // A bare name says nothing of its arguments: what stays open may be anything.
            for ty in a.iter().chain(b) {
                if let IType::Var(v) = self.shallow(ty) {
                    self.hole_mut(v).annotated = true;
                }
            }
            return Ok(());
        }
        if a.len() != b.len() {
            return Err(Clash::Different);
        }
        a.iter().zip(b).try_for_each(|(x, y)| self.unify(x, y))
    }

    /// Makes two types equal.
    pub(crate) fn unify(&mut self, a: &IType, b: &IType) -> Met {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (IType::Error, _) | (_, IType::Error) => Ok(()),
            (IType::Var(x), IType::Var(y)) if x == y => Ok(()),
            (IType::Var(v), other) | (other, IType::Var(v)) => self.bind(*v, other),
            (IType::App(c, xs), IType::App(d, ys)) if c == d => self.unify_args(xs, ys),
            _ if a == b => Ok(()),
            _ => Err(Clash::Different),
        }
    }

    /// What a type is known to be below, where it is an open hole.
    pub(crate) fn upper_bounds(&self, ty: &IType) -> Vec<IType> {
        match self.shallow(ty) {
            IType::Var(hole) => self.holes[hole as usize].upper.clone(),
            _ => vec![],
        }
    }

    /// Adds an upper bound to an open hole.
    fn bound(&mut self, hole: u32, bound: IType) -> Met {
        if let Some(kind) = self.holes[hole as usize].literal {
            self.literal_fits(kind, &bound)?;
        }
        let others = self.holes[hole as usize].upper.clone();
        for other in &others {
            self.meet(other, &bound)?;
        }
        if !others.contains(&bound) {
            self.hole_mut(hole).upper.push(bound);
        }
        Ok(())
    }

    /// Two bounds of one hole: one must be below the other.
    fn meet(&mut self, a: &IType, b: &IType) -> Met {
        for (low, high) in [(a, b), (b, a)] {
            if self.attempt(|solver| solver.subtype(low, high), Result::is_ok).is_ok() {
                return Ok(());
            }
        }
        Err(Clash::Bound(a.clone(), b.clone()))
    }

    fn bind(&mut self, hole: u32, ty: &IType) -> Met {
        let mut inside = Vec::new();
        self.holes_in(ty, &mut inside);
        if inside.contains(&hole) {
            return Err(Clash::Infinite);
        }
        let Hole { upper, literal, annotated, .. } = self.holes[hole as usize].clone();
        if *ty == IType::State && (literal.is_some() || !upper.is_empty()) {
            return Err(Clash::Different);
        }
        if let Some(kind) = literal {
            match ty {
                IType::Var(other) => {
                    let theirs = self.holes[*other as usize].literal;
                    self.hole_mut(*other).literal = Some(join_literals(kind, theirs)?);
                    for bound in self.holes[*other as usize].upper.clone() {
                        self.literal_fits(kind, &bound)?;
                    }
                }
                IType::Rigid(i) => {
                    if let Some(bound) = self.rigid_bound(*i).cloned() {
                        self.literal_fits(kind, &bound)?;
                    }
                }
                other => self.literal_fits(kind, other)?,
            }
        }
        self.hole_mut(hole).is = Some(ty.clone());
        if let IType::Var(other) = ty {
            self.hole_mut(*other).annotated |= annotated;
        }
        for bound in &upper {
            let met = match ty {
                IType::Var(other) => self.bound(*other, bound.clone()),
                _ => self.subtype(ty, bound),
            };
            met.map_err(|_| Clash::Bound(ty.clone(), bound.clone()))?;
        }
        Ok(())
    }

    /// May a literal of this kind be of this type? Containers and the other kind of number are excluded; what a
    /// pack says nothing about may be anything.
    fn literal_fits(&self, kind: LiteralKind, ty: &IType) -> Met {
        let IType::App(decl, _) = ty else { return Ok(()) };
        let d = self.types.decl(*decl);
        // A type below a word, as pointers to something are, has the word's constants.
        let is_container = !d.params.is_empty() && self.types.lane_of(*decl).is_none();
        let fits = match (kind, d.lane()) {
            _ if is_container || d.model.is_some() && d.lane().is_none() => false,
            (LiteralKind::Int, _) => true,
            (LiteralKind::Float, Some(s)) => !s.is_int(),
            (LiteralKind::Str, Some(_)) => false,
            (_, None) => true,
        };
        if fits { Ok(()) } else { Err(Clash::Literal(kind, ty.clone())) }
    }

    /// Back to the form that the program stores; holes must be closed.
    pub(crate) fn to_expr(&self, ty: &IType) -> Option<TypeExpr> {
        Some(match self.shallow(ty) {
            IType::Var(_) | IType::State | IType::Error => return None,
            IType::Rigid(i) => TypeExpr::Param(i),
            IType::Int(n) => TypeExpr::Int(n),
            IType::App(decl, args) => TypeExpr::App(decl, args.iter().map(|a| self.to_expr(a)).collect::<Option<_>>()?),
        })
    }

    /// As a pack would write it; a hole shows its bound.
    pub(crate) fn display(&self, ty: &IType, rigid_names: &[TypeParam]) -> String {
        match self.shallow(ty) {
            IType::Var(v) => match (self.upper(v), self.literal(v)) {
                (Some(bound), _) => format!("some {}", self.display(&bound, rigid_names)),
                (None, Some(LiteralKind::Int)) => "an integer literal".into(),
                (None, Some(LiteralKind::Float)) => "a float literal".into(),
                (None, Some(LiteralKind::Str)) => "a string".into(),
                (None, None) => "_".into(),
            },
            IType::Rigid(i) => rigid_names.get(i as usize).map_or_else(|| format!("#{i}"), |p| p.name.clone()),
            IType::Int(n) => n.to_string(),
            IType::State => "State".into(),
            IType::Error => "?".into(),
            IType::App(decl, args) => {
                let name = &self.types.decl(decl).name;
                if args.is_empty() {
                    return name.clone();
                }
                let args: Vec<_> = args.iter().map(|a| self.display(a, rigid_names)).collect();
                format!("{name}{{{}}}", args.join(", "))
            }
        }
    }
}

fn join_literals(a: LiteralKind, b: Option<LiteralKind>) -> Result<LiteralKind, Clash> {
    match (a, b) {
        (a, None) => Ok(a),
        (a, Some(b)) if a == b => Ok(a),
        (LiteralKind::Int, Some(LiteralKind::Float)) | (LiteralKind::Float, Some(LiteralKind::Int)) => {
            Ok(LiteralKind::Float)
        }
        _ => Err(Clash::Different),
    }
}

/// Is it the top of the lattice?
pub(crate) fn is_any(ty: &IType) -> bool {
    matches!(ty, IType::App(TypeDeclId(0), _))
}

/// Puts `args` in for the parameters of a declaration's type.
pub(crate) fn substitute(ty: &TypeExpr, args: &[IType]) -> IType {
    match ty {
        TypeExpr::Param(i) => args.get(*i as usize).cloned().unwrap_or(IType::Error),
        TypeExpr::Int(n) => IType::Int(*n),
        TypeExpr::App(decl, inner) => IType::App(*decl, inner.iter().map(|t| substitute(t, args)).collect()),
    }
}

/// The type of a declaration seen from inside it: its parameters stand for themselves.
pub(crate) fn rigid(ty: &TypeExpr) -> IType {
    match ty {
        TypeExpr::Param(i) => IType::Rigid(*i),
        TypeExpr::Int(n) => IType::Int(*n),
        TypeExpr::App(decl, inner) => IType::App(*decl, inner.iter().map(rigid).collect()),
    }
}
