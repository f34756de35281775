//! A rule at one type instance as a question to a solver.
//!
//! Variables become unconstrained bit vectors, of a vector by lane (see [`lanes`]), states become arrays of bytes,
//! types without representation sorts of their own, and operations without a meaning uninterpreted functions.
//! Conditions become preconditions: a fact is what its `spec` says; `distinct` says nothing, since different classes
//! may have equal values.
//!
//! A NaN that arithmetic makes has open bits. Each value carries where it is such a NaN (`nan`), and where its bits
//! depend on those of one (`open`). Two such NaNs count as equal.
//!
//! A pointer is its address, and beside it its provenance, which results and memories are compared by as well; see
//! [`super::memory`] for that of the pointers in a memory.
//!
//! Trapping operations are total values; where they would trap is kept beside the sides.

mod conditions;
mod lanes;
mod question;

pub(super) use question::{Ask, Assigned, Question};

use super::code::missing;
use super::typing::{Origin, Types, origin, type_of};
use rewright_dsl::program::{Conclusion, Program, Rule, VarKind};
use rewright_smt::{self as smt, Expr, Script, Sort};
use rewright_typeprop::eval::{literal, repr_of};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Model, Op, OpId, Repr, Scalar, Term, TypeExpr};

/// A value with what is open about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbolic {
    bits: Expr,
    /// Some NaN that arithmetic made.
    nan: Expr,
    /// Depends on the bits of such a NaN.
    open: Expr,
    /// Of a pointer what it may be used for, of a memory that of the pointers in it.
    provenance: Option<Expr>,
}

impl Symbolic {
    fn known(bits: Expr) -> Self {
        Symbolic { bits, nan: Expr::FALSE, open: Expr::FALSE, provenance: None }
    }

    /// What tells it from other values.
    fn parts(&self) -> impl Iterator<Item = Expr> {
        [self.bits].into_iter().chain(self.provenance)
    }
}

/// Why a rule cannot be asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OutOfScope(pub(super) String);

type Encoded<T> = Result<T, OutOfScope>;

/// How to encode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Encoding {
    /// By what all widths are divided.
    pub(super) shrink: u32,
    /// Shifts left are products with powers of two: solvers order factors, but do not move shifts across products.
    pub(super) products: bool,
}

impl Encoding {
    /// As the machine has it.
    pub(super) const PLAIN: Encoding = Encoding { shrink: 1, products: false };
}

/// Encodes a rule at an instance.
pub(super) fn question(
    program: &Program,
    rule: &Rule,
    targs: Types<'_>,
    Encoding { shrink, products }: Encoding,
) -> Encoded<Question> {
    let mut s = Script::new();
    s.products = products;
    let tells_lanes = lanes::are_told_apart(program, rule, targs);
    let mut e = Encoder { program, rule, shrink, tells_lanes, s, traps: vec![], defined: vec![], uninterpreted: None };
    let mut vars: Vec<Vec<Symbolic>> = vec![];
    for (i, var) in rule.vars.iter().enumerate() {
        let (sort, repr) = match &var.kind {
            VarKind::State => (Sort::Memory, None),
            VarKind::Value { ty, .. } => (e.sort(ty, targs)?, repr_of(&program.universe.types, ty, targs)),
        };
        let provenance = match &var.kind {
            VarKind::State => Some(sort),
            VarKind::Value { ty, .. } => e.is_pointer(ty, targs).then_some(sort),
        };
        let name = format!("{}.{i}", var.name);
        let provenance = provenance.map(|sort| e.s.variable(&format!("{name} provenance"), sort));
        let first = Symbolic { provenance, ..Symbolic::known(e.s.variable(&name, sort)) };
        let others = 1..e.lanes(repr);
        let others = others.map(|lane| Symbolic::known(e.s.variable(&format!("{name} lane {lane}"), sort)));
        vars.push([first].into_iter().chain(others).collect());
    }
    let scope = Scope { targs, vars: &vars, lane: 0, strict: false, outer: true };
    let mut fires = vec![];
    for guard in &rule.guards {
        fires.push(e.guard(guard, scope)?);
    }
    let shape = type_of(program, &rule.left[0], rule, targs);
    let lanes = || 0..e.lanes(shape);
    let lanes: Vec<Scope<'_>> = lanes().map(|lane| Scope { lane, ..scope }).collect();
    let left = lanes.iter().map(|lane| e.term(&rule.left[0], *lane)).collect::<Encoded<Vec<_>>>()?;
    let left_traps = e.take_traps();
    let (wrong, differs, open);
    match &rule.right {
        Conclusion::Equal(right) => {
            let right = lanes.iter().map(|lane| e.term(right, *lane)).collect::<Encoded<Vec<_>>>()?;
            let pairs = left.iter().zip(&right);
            let (wrongs, differ): (Vec<Expr>, Vec<Expr>) = pairs.map(|(l, r)| e.difference(shape, *l, *r)).unzip();
            (wrong, differs) = (e.s.or(&wrongs), e.s.or(&differ));
            open = [left, right].map(|side| {
                let open: Vec<Expr> = side.iter().flat_map(|value| [value.nan, value.open]).collect();
                e.s.or(&open)
            });
        }
        Conclusion::Fact(fact, args) => {
            let (holds, is_open) = e.fact(*fact, args, scope)?;
            differs = e.s.not(holds);
            let closed = e.s.not(is_open);
            wrong = e.s.and(&[differs, closed]);
            open = [is_open, is_open];
        }
    }
    let right_traps = e.take_traps();
    // There is no match where `eval` cannot compute.
    fires.append(&mut e.defined);
    let fires = e.s.and(&fires);
    let vars = vars.into_iter().map(|lanes| (lanes[0].bits, lanes[0].provenance)).collect();
    let Encoder { s: script, uninterpreted, .. } = e;
    Ok(Question {
        script,
        vars,
        fires,
        wrong,
        differs,
        open,
        traps: [left_traps, right_traps],
        uninterpreted,
        tells_lanes,
    })
}

/// What the variables and type parameters of a term are.
#[derive(Clone, Copy)]
struct Scope<'a> {
    targs: Types<'a>,
    /// By lane, where lanes are told apart.
    vars: &'a [Vec<Symbolic>],
    /// The lane at which a vector is asked for.
    lane: u32,
    /// Computed while matching: a NaN that arithmetic makes ends that.
    strict: bool,
    /// On a side of the rule itself, so that its traps count.
    outer: bool,
}

struct Encoder<'p> {
    program: &'p Program,
    rule: &'p Rule,
    shrink: u32,
    /// A vector has a value for each lane.
    tells_lanes: bool,
    s: Script,
    /// Conditions under which the side that is being encoded traps.
    traps: Vec<Expr>,
    /// What must hold for strict terms to have a value.
    defined: Vec<Expr>,
    uninterpreted: Option<String>,
}

impl Encoder<'_> {
    /// The width of a value; of a vector that of a lane.
    fn width(&self, repr: Repr) -> Encoded<u32> {
        match repr.bits() / self.shrink {
            0 => Err(OutOfScope(format!("{} bits have no {}th part", repr.bits(), self.shrink))),
            width => Ok(width),
        }
    }

    fn is_pointer(&self, ty: &TypeExpr, targs: Types<'_>) -> bool {
        repr_of(&self.program.universe.types, ty, targs) == Some(Repr::Pointer)
    }

    /// The provenance of a pointer that is made of integers.
    fn nowhere(&mut self) -> Encoded<Expr> {
        let width = self.width(Repr::Pointer)?;
        Ok(self.s.bits(width, 0))
    }

    fn sort(&mut self, ty: &TypeExpr, targs: Types<'_>) -> Encoded<Sort> {
        let types = &self.program.universe.types;
        if let Some(repr) = repr_of(types, ty, targs) {
            return Ok(Sort::Bits(self.width(repr)?));
        }
        let name = match types.find_instance(ty, &[]) {
            Some(ty) => types.display(ty),
            // Types of a domain differ in their parameters at most: one sort for all is a weaker claim to prove.
            None => match ty {
                TypeExpr::App(decl, _) => types.decl(*decl).name.clone(),
                TypeExpr::Param(i) => {
                    self.rule.tparams.get(*i as usize).map_or_else(|| format!("?{i}"), |p| format!("type {}", p.name))
                }
                TypeExpr::Int(n) => n.to_string(),
            },
        };
        Ok(self.s.domain(&name))
    }

    fn take_traps(&mut self) -> Expr {
        let traps = std::mem::take(&mut self.traps);
        self.s.or(&traps)
    }

    /// `wrong` and `differs` of two sides.
    fn difference(&mut self, repr: Option<Repr>, left: Symbolic, right: Symbolic) -> (Expr, Expr) {
        let identical = self.identical(left, right);
        let s = &mut self.s;
        let both = s.and(&[left.nan, right.nan]);
        let same = s.or(&[identical, both]);
        let differs = s.not(same);
        let mut excused = vec![left.open, right.open];
        if let Some(format) = repr.filter(|t| !t.is_int()).and_then(|t| smt::Format::of_width(t.bits() / self.shrink)) {
            for (some_nan, other) in [(left.nan, right.bits), (right.nan, left.bits)] {
                if some_nan != Expr::FALSE {
                    let float = s.float(other, format);
                    let nan = s.apply("fp.isNaN", &[float], Sort::Bool);
                    excused.push(s.and(&[some_nan, nan]));
                }
            }
        }
        let excused = s.or(&excused);
        let definite = s.not(excused);
        (s.and(&[differs, definite]), differs)
    }

    /// Are two values the same, bit by bit?
    fn identical(&mut self, left: Symbolic, right: Symbolic) -> Expr {
        let s = &mut self.s;
        let mut same = vec![];
        for (left, right) in left.parts().zip(right.parts()) {
            same.push(if left.sort() == Sort::Memory { smt::same(s, left, right) } else { s.equal(left, right) });
        }
        s.and(&same)
    }

    fn term(&mut self, term: &Term, scope: Scope<'_>) -> Encoded<Symbolic> {
        match term {
            Term::Var(n) => {
                let lanes = scope.vars.get(*n as usize).map_or(&[][..], Vec::as_slice);
                let here = lanes.get(scope.lane as usize).or(lanes.first()).copied();
                here.ok_or_else(|| OutOfScope("an unbound variable".into()))
            }
            Term::Lit(lit, ty) => self.literal(lit, ty, scope),
            Term::Eval(inner) => self.term(inner, Scope { strict: true, outer: false, ..scope }),
            Term::Call { op, targs, args, state } => {
                let program = self.program;
                let own: Vec<_> = targs.iter().map(|ty| repr_of(&program.universe.types, ty, scope.targs)).collect();
                let decl = program.universe.ops.get(*op);
                let state = state.as_deref().map(|state| self.term(state, scope)).transpose()?;
                if let (Some(access), Some(state)) = (decl.model.and_then(Model::memory), state) {
                    return self.access(decl, &own, access, args, state, scope);
                }
                let args = self.operands(decl, &own, args, scope)?;
                let value = self.call(*op, targs, &own, &args, state, scope)?;
                if scope.strict {
                    let closed = self.s.not(value.nan);
                    self.defined.push(closed);
                }
                Ok(value)
            }
        }
    }

    fn literal(&mut self, lit: &Literal, ty: &TypeExpr, scope: Scope<'_>) -> Encoded<Symbolic> {
        let Some(repr) = repr_of(&self.program.universe.types, ty, scope.targs) else {
            // A literal of a domain type: a constant of its own.
            let sort = self.sort(ty, scope.targs)?;
            return Ok(Symbolic::known(self.s.unknown(&format!("literal {lit:?}"), &[], sort)));
        };
        let width = self.width(repr)?;
        let lane = repr.lane().ok_or_else(|| OutOfScope("128-bit integers have no literals".into()))?;
        let value = if self.shrink == 1 {
            literal(lit, lane).map(|n| u128::from(lane.zero_extended(n)))
        } else {
            small_literal(lit, lane, width)
        };
        let value = value.ok_or_else(|| OutOfScope(format!("{lit:?} does not fit {width} bits")))?;
        let provenance = if repr == Repr::Pointer { Some(self.nowhere()?) } else { None };
        Ok(Symbolic { provenance, ..Symbolic::known(self.s.bits(width, value)) })
    }

    fn call(
        &mut self,
        op: OpId,
        targs: &[TypeExpr],
        own: Types<'_>,
        args: &[Symbolic],
        state: Option<Symbolic>,
        scope: Scope<'_>,
    ) -> Encoded<Symbolic> {
        let decl = self.program.universe.ops.get(op);
        if scope.outer && !scope.strict {
            self.record_traps(decl, own, args)?;
        }
        if let Some(spec) = &decl.spec {
            let vars: Vec<Vec<Symbolic>> = args.iter().map(|arg| vec![*arg]).collect();
            return self.term(spec, Scope { targs: own, vars: &vars, outer: false, ..scope });
        }
        let bits: Vec<Expr> = args.iter().map(|a| a.bits).collect();
        let result = match decl.results.first() {
            Some(ty) => self.sort(ty, own)?,
            None => Sort::Memory,
        };
        let Some(model) = decl.model else {
            let shown: Vec<String> = targs.iter().map(|t| format!("{t:?}")).collect();
            self.uninterpreted.get_or_insert_with(|| missing(decl, "neither model nor `spec`"));
            if state.is_some() || result == Sort::Memory {
                return Err(OutOfScope(format!("`{}` takes a state and has no meaning", decl.name)));
            }
            let all: Vec<Expr> = args.iter().flat_map(Symbolic::parts).collect();
            let sorts: Vec<String> = all.iter().map(|e| self.s.sort_text(e.sort())).collect();
            let lane = if scope.lane == 0 { String::new() } else { format!(" in lane {}", scope.lane) };
            let name = format!("{}{{{}}}{lane} {}", decl.unique, shown.join(", "), sorts.join(" ")).replace('|', "/");
            let pointer = decl.results.first().is_some_and(|ty| self.is_pointer(ty, own));
            let provenance = pointer.then(|| self.s.unknown(&format!("{name} provenance"), &all, result));
            return Ok(Symbolic { provenance, ..Symbolic::known(self.s.unknown(&name, &all, result)) });
        };
        let Sort::Bits(width) = result else {
            return Err(OutOfScope(format!("`{}` gives no machine value at these types", decl.name)));
        };
        if !bits.iter().all(|e| matches!(e.sort(), Sort::Bits(_))) {
            return Err(OutOfScope(format!("`{}` takes no machine word at these types", decl.name)));
        }
        // Widths alone do not tell vectors from words.
        let types = &self.program.universe.types;
        let params: Option<Vec<Repr>> = decl.params.iter().map(|p| repr_of(types, &p.ty, own)).collect();
        let result = decl.results.first().and_then(|ty| repr_of(types, ty, own));
        let lanes = result.is_some_and(|r| r.lanes().is_some());
        if let Some((params, result)) = params.as_ref().zip(result)
            && let Some(value) = self.placed(model, params, result, args, scope.lane)?
        {
            return Ok(value);
        }
        let meaning = params
            .as_ref()
            .zip(result)
            .filter(|(params, result)| model.is_defined_at(params, *result))
            .and_then(|_| smt::meaning(&mut self.s, model, &bits, width, lanes))
            .ok_or_else(|| OutOfScope(format!("`{}` has no meaning for the solver at these types", decl.name)))?;
        let provenance = match params {
            Some(params) if result == Some(Repr::Pointer) => {
                Some(self.provenance(decl, origin(model, &params), args)?)
            }
            _ => None,
        };
        Ok(Symbolic { provenance, ..self.openness(model, meaning, args) })
    }

    /// The provenance of an operation's result.
    fn provenance(&mut self, decl: &Op, origin: Origin, args: &[Symbolic]) -> Encoded<Expr> {
        let nowhere = self.nowhere()?;
        let of = |n: usize| args[n].provenance.unwrap_or(nowhere);
        match origin {
            Origin::Nowhere => Ok(nowhere),
            Origin::Operand(at) => Ok(of(at)),
            Origin::Chosen => {
                let chosen = self.s.nonzero(args[0].bits);
                Ok(self.s.choose(chosen, of(1), of(2)))
            }
            Origin::Unclear => Err(OutOfScope(format!("`{}` makes one pointer of several", decl.name))),
        }
    }

    /// What is open about a result.
    fn openness(&mut self, model: Model, meaning: smt::Meaning, args: &[Symbolic]) -> Symbolic {
        let s = &mut self.s;
        let opens: Vec<Expr> = args.iter().map(|a| a.open).collect();
        let (nan, open) = match model {
            Model::Select => {
                let chosen = s.nonzero(args[0].bits);
                let nan = s.choose(chosen, args[1].nan, args[2].nan);
                let arm = s.choose(chosen, args[1].open, args[2].open);
                (nan, s.or(&[args[0].open, arm]))
            }
            // Any NaN, negated, is any NaN.
            Model::Fneg | Model::Splat => (args[0].nan, args[0].open),
            model if model.sees_nan_bits() => {
                let nans: Vec<Expr> = args.iter().map(|a| a.nan).chain(opens).collect();
                (Expr::FALSE, s.or(&nans))
            }
            _ => {
                let any = s.or(&opens);
                let not_nan = s.not(meaning.nan);
                (meaning.nan, s.and(&[any, not_nan]))
            }
        };
        Symbolic { bits: meaning.bits, nan, open, provenance: None }
    }

    /// Adds the conditions under which an operation of a side traps.
    fn record_traps(&mut self, decl: &Op, own: Types<'_>, args: &[Symbolic]) -> Encoded<()> {
        for check in &decl.checks {
            let trap = match &check.condition {
                Some(condition) => {
                    let vars: Vec<Vec<Symbolic>> = args.iter().map(|arg| vec![*arg]).collect();
                    let scope = Scope { targs: own, vars: &vars, lane: 0, strict: false, outer: false };
                    let value = self.term(condition, scope)?;
                    self.s.nonzero(value.bits)
                }
                // When it traps is unknown, but the same call traps alike.
                None => {
                    let bits: Vec<Expr> = args.iter().map(|a| a.bits).collect();
                    let name = format!("{} {own:?} traps with {}", decl.unique, check.code);
                    self.s.unknown(&name, &bits, Sort::Bool)
                }
            };
            self.traps.push(trap);
        }
        Ok(())
    }
}

/// A literal at a width that no machine has.
fn small_literal(lit: &Literal, scalar: Scalar, width: u32) -> Option<u128> {
    let float = match lit {
        Literal::Int(n) if scalar.is_int() => {
            let fits = -(1i128 << (width - 1)) <= *n && *n < 1i128 << width;
            return fits.then_some(*n as u128 & ((1 << width) - 1));
        }
        Literal::Int(n) => *n as f64,
        Literal::Float(x) => *x,
        Literal::Str(_) => return None,
    };
    // Zero and powers of two near one are all that rules mention; others are left to the machine's widths.
    let format = smt::Format::of_width(width)?;
    let sign = u128::from(float.is_sign_negative()) << (width - 1);
    if float == 0.0 {
        return Some(sign);
    }
    let exponent = float.abs().log2();
    let bias = (1i64 << (format.exponent - 1)) - 1;
    let exact = exponent.fract() == 0.0 && exponent.abs() < bias as f64;
    exact.then(|| sign | (((exponent as i64 + bias) as u128) << (format.significand - 1)))
}
