//! Claims about integers without quantifiers, for a solver.
//!
//! A polynomial divided by a constant and rounded down is an integer `q` with `k*q <= e < k*q + k`. A product of
//! variables is an integer of which nothing is known: what is shown then holds whatever it is.

use super::{Checked, Rejected};
use crate::budget::Budget;
use rewright_cfg_skeleton::nest::affine::Atom;
use rewright_cfg_skeleton::nest::{Affine, Confirm, Constraint, Var};
use rewright_smt::solver::{self, Answer, Solver, Unanswered};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::Duration;

/// The solver's processor time for what is no claim.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A statement about integers.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Formula {
    /// The polynomial is not negative.
    NotNegative(Affine),
    /// All hold.
    All(Vec<Formula>),
    /// One holds.
    Any(Vec<Formula>),
}

impl Formula {
    /// `a >= b`.
    pub(super) fn at_least(a: &Affine, b: &Affine) -> Formula {
        Formula::NotNegative(a.plus(-1, b))
    }

    /// `a < b`.
    pub(super) fn less(a: &Affine, b: &Affine) -> Formula {
        Formula::at_least(b, &a.offset(1))
    }

    /// `a = b`.
    pub(super) fn equal(a: &Affine, b: &Affine) -> Formula {
        Formula::All(vec![Formula::at_least(a, b), Formula::at_least(b, a)])
    }

    /// That lists are equal, as a fact: where one is longer, nothing is known of the rest.
    pub(super) fn known_equal(a: &[Affine], b: &[Affine]) -> Formula {
        Formula::All(a.iter().zip(b).map(|(a, b)| Formula::equal(a, b)).collect())
    }

    /// That lists are equal, as a claim.
    pub(super) fn all_equal(a: &[Affine], b: &[Affine]) -> Formula {
        if a.len() != b.len() {
            return Formula::FALSE;
        }
        Formula::All(a.iter().zip(b).map(|(a, b)| Formula::equal(a, b)).collect())
    }

    /// What never holds.
    pub(super) const FALSE: Formula = Formula::Any(vec![]);

    /// Whether its text alone says that it holds.
    fn is_trivial(&self) -> bool {
        match self {
            Formula::NotNegative(affine) => affine.as_constant().is_some_and(|value| value >= 0),
            Formula::All(all) => all.iter().all(Formula::is_trivial),
            Formula::Any(some) => some.iter().any(Formula::is_trivial),
        }
    }

    /// Whether it speaks of the variable.
    pub(super) fn mentions(&self, var: Var) -> bool {
        match self {
            Formula::NotNegative(affine) => affine.mentions(var),
            Formula::All(all) | Formula::Any(all) => all.iter().any(|f| f.mentions(var)),
        }
    }

    /// With variables replaced.
    pub(super) fn replace(&self, of: &dyn Fn(Var) -> Option<Affine>) -> Formula {
        match self {
            Formula::NotNegative(affine) => Formula::NotNegative(affine.replace(of)),
            Formula::All(all) => Formula::All(all.iter().map(|f| f.replace(of)).collect()),
            Formula::Any(all) => Formula::Any(all.iter().map(|f| f.replace(of)).collect()),
        }
    }
}

/// A solver, started when it is first asked.
pub(super) struct Prover {
    command: Vec<String>,
    solver: Option<Solver>,
    budget: Budget,
    known: HashMap<String, Answer>,
    pub(super) asked: u64,
}

impl Prover {
    pub(super) fn new(command: Vec<String>, steps: u64) -> Prover {
        Prover { command, solver: None, budget: Budget::new(steps), known: HashMap::new(), asked: 0 }
    }

    /// Shows that a claim follows.
    pub(super) fn show(&mut self, what: &str, given: &[Formula], claim: &Formula) -> Checked<()> {
        let open = |reason: &str| Err(Rejected::Claim(what.to_string(), reason.to_string()));
        match self.ask(given, claim).map_err(|reason| Rejected::Claim(what.to_string(), reason))? {
            Answer::Unsat => Ok(()),
            Answer::Sat(_) => open("there are numbers of which it does not hold"),
            Answer::Unknown(reason) => open(&reason.to_string()),
        }
    }

    /// Whether a claim is shown to follow.
    pub(super) fn holds(&mut self, given: &[Formula], claim: &Formula) -> Checked<bool> {
        if claim.is_trivial() {
            return Ok(true);
        }
        let asked = self.ask(given, claim).map_err(|reason| Rejected::Claim("what follows".into(), reason))?;
        Ok(asked == Answer::Unsat)
    }

    /// Whether facts are shown to contradict each other.
    pub(super) fn contradict(&mut self, facts: &[Formula]) -> Checked<bool> {
        self.holds(facts, &Formula::FALSE)
    }

    fn ask(&mut self, given: &[Formula], claim: &Formula) -> Result<Answer, String> {
        let mut text = Text::default();
        let facts: Vec<String> = given.iter().filter(|f| !f.is_trivial()).map(|fact| text.formula(fact)).collect();
        let claim = text.formula(claim);
        if text.is_broken {
            return Ok(Answer::Unknown(Unanswered::Because("numbers are too large".into())));
        }
        let mut script = text.declarations;
        for fact in facts.iter().chain(&text.facts) {
            let _ = writeln!(script, "(assert {fact})");
        }
        let _ = writeln!(script, "(assert (not {claim}))");
        if let Some(answer) = self.known.get(&script) {
            return Ok(answer.clone());
        }
        self.asked += 1;
        self.budget.begin(1);
        let limit = self.budget.limit().map_err(|spent| spent.to_string())?;
        let command = &self.command;
        let solver = match &mut self.solver {
            Some(solver) => solver,
            none => {
                let settings = solver::Config { command: command.clone(), steps: 0, timeout: TIMEOUT };
                let failed = |error| format!("cannot start `{}`: {error}", command.join(" "));
                none.insert(Solver::start(settings).map_err(failed)?)
            }
        };
        let answer = solver.ask_within(&script, &[], limit).map_err(|error| error.to_string())?;
        self.budget.charge(solver.spent());
        solver.forget();
        self.known.insert(script, answer.clone());
        Ok(answer)
    }
}

impl Confirm for Prover {
    fn impossible(&mut self, constraints: &[Constraint]) -> bool {
        let formula = |Constraint { expr, equality }: &Constraint| match equality {
            true => Formula::equal(expr, &Affine::default()),
            false => Formula::NotNegative(expr.clone()),
        };
        let facts: Vec<Formula> = constraints.iter().map(formula).collect();
        // Where the solver fails, nothing is shown.
        self.contradict(&facts).unwrap_or(false)
    }
}

/// A claim as it is written.
#[derive(Default)]
struct Text {
    declarations: String,
    /// What numbers that stand for something are.
    facts: Vec<String>,
    variables: BTreeMap<Var, String>,
    monomials: BTreeMap<Vec<Atom>, String>,
    is_broken: bool,
}

impl Text {
    fn formula(&mut self, formula: &Formula) -> String {
        match formula {
            Formula::NotNegative(affine) => format!("(>= {} 0)", self.affine(affine)),
            Formula::All(all) => self.connected("and", "true", all),
            Formula::Any(all) => self.connected("or", "false", all),
        }
    }

    fn connected(&mut self, symbol: &str, none: &str, all: &[Formula]) -> String {
        if all.is_empty() {
            return none.into();
        }
        let parts: Vec<String> = all.iter().map(|f| self.formula(f)).collect();
        format!("({symbol} {})", parts.join(" "))
    }

    fn affine(&mut self, affine: &Affine) -> String {
        self.is_broken |= affine.is_broken();
        let mut sum = vec!["0".to_string()];
        for (atoms, coefficient) in affine.terms() {
            let number = number(coefficient);
            sum.push(match atoms {
                [] => number,
                [atom] => format!("(* {number} {})", self.atom(atom)),
                several => format!("(* {number} {})", self.monomial(several)),
            });
        }
        format!("(+ {})", sum.join(" "))
    }

    fn declared(&mut self, prefix: &str) -> String {
        let name = format!("{prefix}{}", self.variables.len() + self.monomials.len());
        let _ = writeln!(self.declarations, "(declare-const {name} Int)");
        name
    }

    fn atom(&mut self, atom: &Atom) -> String {
        match atom {
            Atom::Var(var) => match self.variables.get(var) {
                Some(name) => name.clone(),
                None => {
                    let name = self.declared("v");
                    self.variables.insert(*var, name.clone());
                    name
                }
            },
            Atom::Floor(..) => self.monomial(std::slice::from_ref(atom)),
        }
    }

    /// An integer for a product, or for a floor.
    fn monomial(&mut self, atoms: &[Atom]) -> String {
        if let Some(name) = self.monomials.get(atoms) {
            return name.clone();
        }
        let inner = match atoms {
            [Atom::Floor(inner, divisor)] => Some((self.affine(inner), number(*divisor))),
            _ => None,
        };
        let name = self.declared("p");
        self.monomials.insert(atoms.to_vec(), name.clone());
        if let Some((inner, divisor)) = inner {
            self.facts.push(format!("(<= (* {divisor} {name}) {inner})"));
            self.facts.push(format!("(< {inner} (+ (* {divisor} {name}) {divisor}))"));
        }
        name
    }
}

fn number(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}
