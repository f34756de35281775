//! A question to a solver, with poison: is there an input on which the second value may not stand for the first one?

use super::nans::{self, Freedom};
use super::operations::Operations;
use super::poison::constant;
use super::rounded::{Laws, Rounding};
use crate::budget::Budget;
use rewright_cfg_skeleton::nest::datapath::{Question, Term, TermKind};
use rewright_cfg_skeleton::nest::value::{Number, is_never_poison};
use rewright_smt::solver::{self, Answer, Limit, Solver};
use rewright_smt::{Expr, Format, Script, Sort, meaning};
use rewright_typeprop::Model;
use std::time::Duration;

/// The solver's processor time for what is no question.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Steps within which most questions are answered, by bit of the widest value: a tenth of a second where it has 64.
const QUICK: u64 = 2_500;

/// One question that is answered at length takes at most one of this many shares of the steps that are left.
const SHARES: u64 = 3;

/// What is known of rounded arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Floats {
    /// Its laws ([`super::rounded`]).
    Laws,
    /// That it gives the same for the same operands.
    Opaque,
    /// What it computes.
    Exact,
}

/// A solver, started when it is first asked.
pub(super) struct Solving {
    command: Vec<String>,
    solver: Option<Solver>,
    budget: Budget,
}

impl Solving {
    pub(super) fn new(command: Vec<String>, steps: u64) -> Solving {
        let mut solving = Solving { command, solver: None, budget: Budget::new(steps) };
        solving.begin();
        solving
    }

    /// Another function begins.
    pub(super) fn begin(&mut self) {
        self.budget.begin(1);
    }

    /// This many steps more for this function.
    pub(super) fn extend(&mut self, steps: u64) {
        self.budget.extend(steps);
    }

    /// The same within a few steps, which are not counted where they are enough. Of rounded arithmetic only laws are known.
    pub(super) fn ask_quickly(&mut self, question: &Question, operations: &Operations) -> Result<(), Unproved> {
        self.ask_within(question, operations, quick(question), without_rounding(question))
    }

    /// Whether the second value may stand for the first one; else why that is not known. No question takes all steps that
    /// are left: others may be answered with fewer.
    pub(super) fn ask(&mut self, question: &Question, operations: &Operations) -> Result<(), Unproved> {
        if has_floats(question) {
            let share = self.share(question)?;
            if self.ask_within(question, operations, share, without_rounding(question)).is_ok() {
                return Ok(());
            }
        }
        let share = self.share(question)?;
        self.ask_within(question, operations, share, Floats::Exact)
    }

    /// Steps for a question that is to be answered at length.
    fn share(&self, question: &Question) -> Result<u64, Unproved> {
        let limit = self.budget.limit().map_err(|spent| Unproved::Open(spent.to_string()))?;
        Ok((limit.steps / SHARES).max(quick(question)))
    }

    fn ask_within(
        &mut self,
        question: &Question,
        operations: &Operations,
        most: u64,
        floats: Floats,
    ) -> Result<(), Unproved> {
        let mut script = Script::new();
        let claim = differs(&mut script, question, operations, floats).map_err(Unproved::Open)?;
        if claim == Expr::FALSE {
            return Ok(());
        }
        let limit = self.budget.limit().map_err(|spent| Unproved::Open(spent.to_string()))?;
        let limit = Limit { steps: limit.steps.min(most), ..limit };
        let command = &self.command;
        let solver = match &mut self.solver {
            Some(solver) => solver,
            none => {
                let settings = solver::Config { command: command.clone(), steps: 0, timeout: TIMEOUT };
                let start = |error| Unproved::Open(format!("cannot start `{}`: {error}", command.join(" ")));
                none.insert(Solver::start(settings).map_err(start)?)
            }
        };
        let asserted = script.asserting(claim);
        let answer =
            solver.ask_within(&asserted.text, &[], limit).map_err(|error| Unproved::Open(error.to_string()))?;
        let spent = solver.spent();
        solver.forget();
        if answer != Answer::Unsat || spent.steps.is_none_or(|steps| steps > quick(question)) {
            self.budget.charge(spent);
        }
        match answer {
            Answer::Unsat => Ok(()),
            Answer::Sat(_) if is_exact(question, operations) => Err(Unproved::Differ),
            Answer::Sat(_) => Err(Unproved::Open("there may be inputs on which they differ".into())),
            Answer::Unknown(reason) => Err(Unproved::Open(reason.to_string())),
        }
    }
}

/// Why a question is not answered with yes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Unproved {
    /// The answer is no.
    #[error("there are inputs on which they differ")]
    Differ,
    /// It is not known.
    #[error("{0}")]
    Open(String),
}

/// How rounded arithmetic is modelled where little work is to be done. The laws do not say which NaNs it gives.
fn without_rounding(question: &Question) -> Floats {
    if question.nans { Floats::Opaque } else { Floats::Laws }
}

/// Steps for a question that is to be answered quickly.
fn quick(question: &Question) -> u64 {
    let widest = question.terms.iter().filter_map(|term| width(&term.ty)).max();
    QUICK * u64::from(widest.unwrap_or(1).max(16))
}

fn has_floats(question: &Question) -> bool {
    question.terms.iter().any(|term| term.ty.starts_with('f'))
}

/// Whether the solver knows all that an operation of the question gives. NaNs may be any.
fn is_exact(question: &Question, operations: &Operations) -> bool {
    question.terms.iter().all(|term| {
        let known = match &term.kind {
            TermKind::Op { name, .. } => operations.model(name).is_some(),
            _ => true,
        };
        known && term.ty.starts_with('i')
    })
}

/// A value: its bits, and whether it is poison.
#[derive(Clone, Copy)]
struct Symbolic {
    bits: Expr,
    poison: Expr,
    /// Which bits are free if it is a NaN.
    nan: Freedom,
}

/// The claim that the second value may not stand for the first one.
fn differs(s: &mut Script, question: &Question, operations: &Operations, floats: Floats) -> Result<Expr, String> {
    let mut values: Vec<Symbolic> = vec![];
    let mut laws = Laws::default();
    for (number, term) in question.terms.iter().enumerate() {
        let positions = match &term.kind {
            TermKind::Op { operands, .. } => operands.as_slice(),
            _ => &[],
        };
        let operands: Vec<Symbolic> = positions.iter().map(|o| values[*o as usize]).collect();
        let constants: Vec<Option<u128>> = positions.iter().map(|o| constant(question, *o)).collect();
        let known = match (floats, &term.kind) {
            (Floats::Laws, TermKind::Op { name, from, .. }) => {
                let format = format(from).or_else(|| format(&term.ty));
                operations.model(name).zip(format).zip(width(&term.ty)).and_then(|((model, format), width)| {
                    let operands: Vec<Expr> = operands.iter().map(|o| o.bits).collect();
                    let rounding = Rounding { model, operands: &operands, constants: &constants, format, width };
                    laws.meaning(s, rounding)
                })
            }
            (Floats::Opaque, TermKind::Op { name, from, .. }) if nans::is_rounded(name, from, &term.ty) => {
                let operands: Vec<Expr> = operands.iter().map(|o| o.bits).collect();
                width(&term.ty).map(|width| opaque(s, (name, from, &term.ty), &operands, width))
            }
            _ => None,
        };
        values.push(symbolic(s, number, term, &operands, operations, known)?);
    }
    let (left, right) = (values[question.left as usize], values[question.right as usize]);
    let same = match format(&question.terms[question.left as usize].ty) {
        Some(format) if !question.nans && question.left != question.right => {
            let (l, r) = ((left.bits, left.nan), (right.bits, right.nan));
            match floats {
                Floats::Laws => nans::stands_for(s, l, r, (|s: &mut Script, x| laws.is_nan(s, x, format), format)),
                _ => nans::stands_for(s, l, r, (|s: &mut Script, x| nans::is_nan(s, x, format), format)),
            }
        }
        _ => s.equal(left.bits, right.bits),
    };
    let defined = s.not(right.poison);
    let stands = s.and(&[same, defined]);
    let stands = s.or(&[left.poison, stands]);
    Ok(s.not(stands))
}

/// The result of an operation that is not interpreted: equal operands give equal results.
fn opaque(s: &mut Script, (name, from, ty): (&str, &str, &str), operands: &[Expr], width: u32) -> Expr {
    s.unknown(&format!("{name} from {from} to {ty}"), operands, Sort::Bits(width))
}

/// The value of a term; `known` are its bits, where they are.
fn symbolic(
    s: &mut Script,
    number: usize,
    term: &Term,
    operands: &[Symbolic],
    operations: &Operations,
    known: Option<Expr>,
) -> Result<Symbolic, String> {
    let width = width(&term.ty).ok_or_else(|| format!("values of the type {}", term.ty))?;
    match &term.kind {
        TermKind::Leaf { defined } => {
            let bits = s.variable(&format!("leaf {number}"), Sort::Bits(width));
            let poison = match defined {
                true => Expr::FALSE,
                false => s.variable(&format!("leaf {number} is poison"), Sort::Bool),
            };
            Ok(Symbolic { bits, poison, nan: Freedom::NONE })
        }
        TermKind::Constant(Number::Bits(bits)) => {
            Ok(Symbolic { bits: s.bits(width, *bits), poison: Expr::FALSE, nan: Freedom::NONE })
        }
        TermKind::Constant(Number::Text(text)) => Err(format!("the constant {text}")),
        TermKind::Op { name, flags, from, .. } => {
            let bits: Vec<Expr> = operands.iter().map(|o| o.bits).collect();
            let model = operations.model(name);
            let known = known.or_else(|| Some(meaning(s, model?, &bits, width, false)?.bits));
            let result = match known {
                Some(bits) => bits,
                None => opaque(s, (name, from, &term.ty), &bits, width),
            };
            let chosen = operands.first().filter(|_| model == Some(Model::Select)).map(|o| s.nonzero(o.bits));
            let freedoms: Vec<Freedom> = operands.iter().map(|o| o.nan).collect();
            let nan = Freedom::of(s, name, &freedoms, chosen);
            let mut poison = match (model, operands) {
                (_, [condition, then, otherwise]) if let Some(chosen) = chosen => {
                    vec![condition.poison, s.choose(chosen, then.poison, otherwise.poison)]
                }
                _ => operands.iter().map(|o| o.poison).collect(),
            };
            poison.extend(own_poison(s, model, &bits, (name, from, flags)));
            Ok(Symbolic { bits: result, poison: s.or(&poison), nan })
        }
    }
}

/// Where an operation makes poison from operands that are not poison.
fn own_poison(
    s: &mut Script,
    model: Option<Model>,
    bits: &[Expr],
    (name, from, flags): (&str, &str, &[String]),
) -> Vec<Expr> {
    let mut found = vec![];
    match (model, bits) {
        (Some(Model::Shl | Model::Lshr | Model::Ashr), [x, amount]) => {
            let all = s.bits(x.width(), x.width().into());
            // A width that is no number of its type is never reached.
            if x.width() > 1 {
                found.push(s.apply("bvuge", &[*amount, all], Sort::Bool));
            } else {
                found.push(s.nonzero(*amount));
            }
        }
        _ if is_never_poison(name, from, None) => {}
        _ => found.push(s.unknown(&format!("{name} from {from} is poison"), bits, Sort::Bool)),
    }
    for flag in flags {
        let overflow = match (model, bits, flag.as_str()) {
            (Some(Model::Add), [x, y], "nsw" | "nuw") => Some(overflows(s, "bvadd", *x, *y, 1, flag == "nsw")),
            (Some(Model::Sub), [x, y], "nsw" | "nuw") => Some(overflows(s, "bvsub", *x, *y, 1, flag == "nsw")),
            (Some(Model::Mul), [x, y], "nsw" | "nuw") => Some(overflows(s, "bvmul", *x, *y, x.width(), flag == "nsw")),
            _ => None,
        };
        found.push(
            overflow.unwrap_or_else(|| s.unknown(&format!("{name} from {from} breaks {flag}"), bits, Sort::Bool)),
        );
    }
    found
}

/// Whether the exact result, which has `more` more bits, is not a value of the type.
fn overflows(s: &mut Script, symbol: &str, x: Expr, y: Expr, more: u32, signed: bool) -> Expr {
    let width = x.width();
    let wide = |s: &mut Script, e| if signed { s.sign_extend(e, width + more) } else { s.resize(e, width + more) };
    let (a, b) = (wide(s, x), wide(s, y));
    let exact = s.apply(symbol, &[a, b], Sort::Bits(width + more));
    let low = s.extract(exact, width - 1, 0);
    let back = wide(s, low);
    let fits = s.equal(back, exact);
    s.not(fits)
}

/// How many bits values of a type have.
fn width(ty: &str) -> Option<u32> {
    match ty {
        "f32" => Some(32),
        "f64" => Some(64),
        _ => ty.strip_prefix('i')?.parse().ok().filter(|width| (1..=64).contains(width)),
    }
}

/// How a type of floats is laid out.
fn format(ty: &str) -> Option<Format> {
    if ty.starts_with('f') { Format::of_width(width(ty)?) } else { None }
}
