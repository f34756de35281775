//! Every rule of the standard packs, both sides evaluated at every type instance: on edges and random values, and
//! exhaustively at 8 bits where there are at most two variables. Guards are respected; a rule must fire somewhere.
//!
//! Beside SMT this is the evidence that a rule is right. States are evaluated as byte-addressed memories.

use rewright_dsl::check::check;
use rewright_dsl::diagnostic::{Severity, render};
use rewright_dsl::load::{Origin, Root, load};
use rewright_dsl::program::{Conclusion, Guard, Program, Rule, VarKind};
use rewright_typeprop::eval::{evaluate_at, literal, repr_of};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Model, Outcome, Repr, Scalar, Term, Ty, TypeExpr, TypeParam, TypeStore};
use std::collections::BTreeMap;
use std::path::Path;

/// The checked program of `stdlib_rules/std.rw`.
fn standard() -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdlib_rules");
    let read = |origin: &Origin| std::fs::read_to_string(folder.join(origin.path())).map_err(|e| e.to_string());
    let origin = Origin::Std("std.rw".into());
    let text = read(&origin).expect("the standard packs are there");
    let loaded = load(vec![Root { origin, text, library: true }], &mut |origin| read(origin));
    let (program, mut diagnostics) = check(&loaded.files);
    diagnostics.splice(0..0, loaded.diagnostics);
    let errors: Vec<_> = diagnostics.into_iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{}", render(&errors, &loaded.sources, false));
    program
}

/// Byte-addressed, with pseudo-random bytes where nothing was stored.
#[derive(Clone, PartialEq, Debug, Default)]
struct Memory(BTreeMap<u64, u8>);

impl Memory {
    fn byte(&self, address: u64) -> u8 {
        self.0.get(&address).copied().unwrap_or_else(|| (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
    }

    fn load(&self, address: u64, bits: u32) -> u64 {
        (0..u64::from(bits / 8)).map(|i| u64::from(self.byte(address.wrapping_add(i))) << (8 * i)).sum()
    }

    /// Storing the byte that is there leaves the memory as it is, so that equal memories are equal values.
    fn store(&mut self, address: u64, bits: u32, value: u64) {
        for i in 0..u64::from(bits / 8) {
            let (at, byte) = (address.wrapping_add(i), (value >> (8 * i)) as u8);
            self.0.remove(&at);
            if self.byte(at) != byte {
                self.0.insert(at, byte);
            }
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Value {
    /// Sign-extended; of a vector what a lane holds.
    Bits(i128),
    /// Some NaN that arithmetic made.
    Nan,
    State(Memory),
}

/// No value: the instance is malformed, or a NaN without bits went into something that looks at bits.
#[derive(PartialEq, Debug)]
struct Undefined;

type Evaluated = Result<Value, Undefined>;

/// A program with what is asked of it often.
struct Rules {
    program: Program,
    /// Every type with a representation.
    reprs: Vec<(Repr, Ty)>,
}

impl Rules {
    fn new() -> Self {
        let mut program = standard();
        let types = &mut program.universe.types;
        // A declared type that nothing mentions is not interned yet.
        let names: Vec<String> =
            types.decls().filter(|(_, d)| d.model.is_some()).map(|(_, d)| d.name.clone()).collect();
        let named: Vec<Ty> = names.iter().filter_map(|name| types.named(name)).collect();
        let all = named.into_iter().filter_map(|ty| Some((types.repr(ty)?, ty)));
        // One lane stands for all, so of vectors that differ in their number of lanes one is enough.
        let mut reprs: Vec<(Repr, Ty)> = vec![];
        for (repr, ty) in all {
            let vector = |r: Repr| r.scalar().is_none() && r.lane().is_some();
            if !vector(repr) || !reprs.iter().any(|(r, _)| vector(*r) && r.lane() == repr.lane()) {
                reprs.push((repr, ty));
            }
        }
        Rules { program, reprs }
    }

    /// May this representation stand for a type parameter?
    fn within(&self, repr: Repr, param: &TypeParam) -> bool {
        let Some(bound) = &param.bound else { return true };
        let mut types = self.program.universe.types.clone();
        let bound = types.instantiate(bound, &[]).expect("bounds are closed");
        self.reprs.iter().any(|(r, ty)| *r == repr && types.is_subtype(*ty, bound))
    }

    /// All type instances of a rule.
    fn instances(&self, rule: &Rule) -> Vec<Vec<Option<Repr>>> {
        let mut all = vec![vec![]];
        for param in &rule.tparams {
            let fits: Vec<Repr> = self.reprs.iter().map(|(r, _)| *r).filter(|r| self.within(*r, param)).collect();
            all = all.iter().flat_map(|one| fits.iter().map(|r| [one.as_slice(), &[Some(*r)]].concat())).collect();
        }
        all
    }

    /// Do literals fit, and do all calls keep the bounds of what they call?
    fn well_formed(&self, term: &Term, targs: &[Option<Repr>]) -> bool {
        let types = &self.program.universe.types;
        match term {
            Term::Var(_) => true,
            Term::Lit(lit, ty) => constant(types, lit, ty, targs).is_some(),
            Term::Eval(inner) => self.well_formed(inner, targs),
            Term::Call { op, targs: own, args, state } => {
                let op = self.program.universe.ops.get(*op);
                let fits = op
                    .tparams
                    .iter()
                    .zip(own)
                    .all(|(param, ty)| repr_of(types, ty, targs).is_some_and(|repr| self.within(repr, param)));
                fits && args.iter().chain(state.as_deref()).all(|a| self.well_formed(a, targs))
            }
        }
    }

    fn eval(&self, term: &Term, targs: &[Option<Repr>], vars: &[Value]) -> Evaluated {
        let universe = &self.program.universe;
        match term {
            Term::Var(n) => Ok(vars[*n as usize].clone()),
            Term::Lit(lit, ty) => {
                constant(&universe.types, lit, ty, targs).map(|n| Value::Bits(n.into())).ok_or(Undefined)
            }
            Term::Eval(inner) => self.eval(inner, targs, vars),
            Term::Call { op, targs: own, args, state } => {
                let decl = universe.ops.get(*op);
                let args = args.iter().map(|a| self.eval(a, targs, vars)).collect::<Result<Vec<_>, _>>()?;
                if args.contains(&Value::Nan) {
                    // Whatever NaN it was, arithmetic on it gives some NaN; what looks at bits is undefined.
                    let arithmetic = decl.model.is_some_and(|m| (Model::Fadd..=Model::Fmax).contains(&m))
                        || decl.model.is_some_and(|m| (Model::Fceil..=Model::Fnearest).contains(&m));
                    return if arithmetic { Ok(Value::Nan) } else { Err(Undefined) };
                }
                let bits: Vec<i128> = args
                    .iter()
                    .map(|a| if let Value::Bits(b) = a { Ok(*b) } else { Err(Undefined) })
                    .collect::<Result<_, _>>()?;
                let own = own.iter().map(|ty| repr_of(&universe.types, ty, targs)).collect::<Vec<_>>();
                if let Some(access) = decl.model.and_then(Model::memory) {
                    let Value::State(mut memory) = self.eval(state.as_deref().ok_or(Undefined)?, targs, vars)? else {
                        return Err(Undefined);
                    };
                    let address = (bits[0] as u64).wrapping_add(*bits.last().expect("an offset") as u64);
                    let value_type = if access.store { &decl.params[1].ty } else { &decl.results[0] };
                    let ty = repr_of(&universe.types, value_type, &own).and_then(Repr::scalar).ok_or(Undefined)?;
                    let width = access.bits.unwrap_or(ty.bits());
                    if access.store {
                        memory.store(address, width, bits[1] as u64);
                        return Ok(Value::State(memory));
                    }
                    let raw = memory.load(address, width);
                    let sign = if access.signed { (raw << (64 - width)) as i64 >> (64 - width) } else { raw as i64 };
                    return Ok(Value::Bits(ty.canonical(sign as u64).into()));
                }
                match evaluate_at(universe, *op, &own, &bits) {
                    Outcome::Value(value) => Ok(Value::Bits(value)),
                    Outcome::Nan => Ok(Value::Nan),
                    Outcome::Undefined => Err(Undefined),
                }
            }
        }
    }

    fn holds(&self, guard: &Guard, targs: &[Option<Repr>], vars: &[Value]) -> Result<bool, Undefined> {
        Ok(match guard {
            Guard::Holds(term) => self.eval(term, targs, vars)? != Value::Bits(0),
            Guard::Compare { equal, left, right } | Guard::Class { same: equal, left, right } => {
                (self.eval(left, targs, vars)? == self.eval(right, targs, vars)?) == *equal
            }
            Guard::Not(inner) => !self.holds(inner, targs, vars)?,
            Guard::Or(a, b) => self.holds(a, targs, vars)? || self.holds(b, targs, vars)?,
            Guard::Fact(fact, args) => {
                let args = args.iter().map(|a| self.eval(a, targs, vars)).collect::<Result<Vec<_>, _>>()?;
                self.fact_holds(&self.program.facts[fact.0 as usize].name, &args)
            }
            Guard::Is(..) => return Err(Undefined),
        })
    }

    /// What the facts of the standard packs mean. A NaN's bits need no type here: both formats are tried.
    fn fact_holds(&self, name: &str, args: &[Value]) -> bool {
        match (name, args) {
            ("std.core.zero_or_one", [Value::Bits(b)]) => *b == 0 || *b == 1,
            ("std.core.not_nan", [Value::Bits(b)]) => {
                !f64::from_bits(*b as u64).is_nan() && !(u32::try_from(*b).is_ok_and(|b| f32::from_bits(b).is_nan()))
            }
            ("std.core.not_nan", [Value::Nan]) => false,
            (other, _) => panic!("say here what `{other}` means"),
        }
    }

    /// Both sides at one assignment; `Ok(true)` if they were compared.
    fn compare(&self, rule: &Rule, targs: &[Option<Repr>], vars: &[Value]) -> Result<bool, String> {
        for guard in &rule.guards {
            if self.holds(guard, targs, vars) != Ok(true) {
                return Ok(false);
            }
        }
        let Ok(left) = self.eval(&rule.left[0], targs, vars) else { return Ok(false) };
        let fault = |what: String| Err(format!("{} at {targs:?}, {vars:?}: {what}", rule.name));
        match &rule.right {
            Conclusion::Equal(right) => match self.eval(right, targs, vars) {
                Ok(right) if right == left => Ok(true),
                Ok(right) => fault(format!("{left:?} is not {right:?}")),
                // `eval` of what has no value does not match; anything else would make a malformed node.
                Err(Undefined) if has_eval(right) => Ok(false),
                Err(Undefined) => fault("the right side has no value".into()),
            },
            Conclusion::Fact(fact, args) => {
                let args = args.iter().map(|a| self.eval(a, targs, vars)).collect::<Result<Vec<_>, _>>();
                match args {
                    Ok(args) if self.fact_holds(&self.program.facts[fact.0 as usize].name, &args) => Ok(true),
                    other => fault(format!("the fact does not hold: {other:?}")),
                }
            }
        }
    }

    /// Everything about one rule; gives how many assignments were compared.
    fn verify(&self, rule: &Rule) -> Result<usize, String> {
        assert_eq!(rule.left.len(), 1, "{}: match blocks are not evaluated yet", rule.name);
        let types = &self.program.universe.types;
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let instances = self.instances(rule);
        let mut compared = 0;
        for targs in &instances {
            let right_ok = match &rule.right {
                Conclusion::Equal(right) => self.well_formed(right, targs),
                Conclusion::Fact(_, args) => args.iter().all(|a| self.well_formed(a, targs)),
            };
            if !right_ok || !self.well_formed(&rule.left[0], targs) {
                continue;
            }
            let kinds: Vec<Option<Repr>> = rule
                .vars
                .iter()
                .map(|v| match &v.kind {
                    VarKind::Value { ty, .. } => Some(repr_of(types, ty, targs).expect("a representation")),
                    VarKind::State => None,
                })
                .collect();
            let memory = kinds.contains(&None);
            let tiny = kinds.len() <= 2 && kinds.iter().all(|k| k.and_then(Repr::lane) == Some(Scalar::I8));
            let choices: Vec<Vec<Value>> = rule
                .vars
                .iter()
                .zip(&kinds)
                .map(|(var, kind)| match kind {
                    None => vec![Value::State(Memory::default())],
                    Some(_) if memory && var.name == "p" => {
                        [1000, i128::from(i64::MAX) - 3, -4].map(Value::Bits).to_vec()
                    }
                    Some(_) if memory && matches!(var.kind, VarKind::Value { constant: true, .. }) => {
                        [0, 1, 2, 3, 4, 6, 7, 8, -1, -4, -8, 16].map(Value::Bits).to_vec()
                    }
                    Some(_) if tiny => (-128..128).map(Value::Bits).collect(),
                    Some(repr) => values(*repr, &mut random),
                })
                .collect();
            let all: usize = choices.iter().map(Vec::len).product();
            let limit = if tiny { usize::MAX } else { (20_000 / instances.len()).max(200) };
            for n in 0..all.min(limit) {
                let mut rest = if all <= limit { n } else { (random.next() % all as u64) as usize };
                let vars: Vec<Value> = choices
                    .iter()
                    .map(|c| {
                        let value = c[rest % c.len()].clone();
                        rest /= c.len();
                        value
                    })
                    .collect();
                compared += usize::from(self.compare(rule, targs, &vars)?);
            }
        }
        Ok(compared)
    }
}

/// A literal at a representation that has constants.
fn constant(types: &TypeStore, lit: &Literal, ty: &TypeExpr, targs: &[Option<Repr>]) -> Option<i64> {
    literal(lit, repr_of(types, ty, targs)?.lane()?)
}

fn has_eval(term: &Term) -> bool {
    match term {
        Term::Eval(_) => true,
        Term::Call { args, .. } => args.iter().any(has_eval),
        Term::Var(_) | Term::Lit(..) => false,
    }
}

/// Xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Edges of a representation, then random values of all sizes.
fn values(repr: Repr, random: &mut Random) -> Vec<Value> {
    let Some(scalar) = repr.lane() else { return wide_values(random) };
    let mut raw: Vec<u64> = Vec::new();
    if scalar.is_int() {
        let top = 1u64 << (scalar.bits() - 1);
        raw.extend([0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 24, 31, 32, 48, 56, 63, 64, 127, 128, 255, 256]);
        raw.extend([0xff00, 0xffff, 0xffff_ffff, top, top - 1, top + 1, top >> 1, !0, !1, !2, !4, !6, !7, !15]);
        raw.extend((0..12).map(|_| random.next() >> (random.next() % 64)));
    } else {
        for value in [0.0, 0.5, 1.0, 2.5, 3.0, 127.0, 65535.0, 1e9, 1e300, f64::INFINITY, f64::MIN_POSITIVE] {
            for signed in [value, -value] {
                raw.push(match scalar {
                    Scalar::F32 => (signed as f32).to_bits().into(),
                    _ => signed.to_bits(),
                });
            }
        }
        // Signalling and quiet NaNs, subnormals.
        raw.extend([0x7f80_0001, 0x7fc0_0000, 0xffc0_1234, 1, 0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000]);
        raw.extend((0..16).map(|_| random.next()));
    }
    distinct(raw.into_iter().map(|r| scalar.canonical(r).into()))
}

/// The same of 128-bit integers: edges of both halves.
fn wide_values(random: &mut Random) -> Vec<Value> {
    let edges: [u64; 11] = [0, 1, 2, 63, 64, 127, 255, 1 << 63, (1 << 63) - 1, !0, !1];
    let joined = |low: u64, high: u64| (u128::from(low) | u128::from(high) << 64) as i128;
    let mut values: Vec<i128> = edges.iter().flat_map(|l| edges.iter().map(|h| joined(*l, *h))).collect();
    values
        .extend((0..24).map(|_| joined(random.next() >> (random.next() % 64), random.next() >> (random.next() % 64))));
    distinct(values.into_iter())
}

fn distinct(values: impl Iterator<Item = i128>) -> Vec<Value> {
    let values: std::collections::BTreeSet<i128> = values.collect();
    values.into_iter().map(Value::Bits).collect()
}

fn verify_pack(pack: &str) {
    let rules = Rules::new();
    let own: Vec<&Rule> = rules.program.rules.iter().filter(|r| r.name.starts_with(&format!("{pack}."))).collect();
    assert!(!own.is_empty(), "no rules in {pack}");
    let mut faults = Vec::new();
    for rule in &own {
        match rules.verify(rule) {
            Ok(0) => faults.push(format!("{}: no assignment was compared", rule.name)),
            Ok(_) => {}
            Err(fault) => faults.push(fault),
        }
    }
    assert!(faults.is_empty(), "{} of {} rules:\n{}", faults.len(), own.len(), faults.join("\n"));
}

macro_rules! packs {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            verify_pack(concat!("std.", stringify!($name)));
        }
    )*};
}
packs!(core larger fold arith bits shifts compare select extend float memory int128 lanes);

/// A wrong rule is found: the neighbour of each right one that is tempting.
#[test]
fn finds_wrong_rules() {
    let rules = Rules::new();
    let mut found = 0;
    let wrong = ["std.arith.division.udiv_pow2", "std.compare.direction.sgt", "std.shifts.chains.rotl_back"];
    for name in wrong {
        let mut rule = rules.program.rules.iter().find(|r| r.name == name).expect(name).clone();
        if let Conclusion::Equal(right) = &mut rule.right
            && let Term::Call { args, .. } = right
        {
            args.reverse();
            found += usize::from(rules.verify(&rule).is_err());
        } else if let Conclusion::Equal(right) = &mut rule.right {
            *right = Term::Var(1);
            found += usize::from(rules.verify(&rule).is_err());
        }
    }
    assert_eq!(found, wrong.len());
}
