//! Asks the solver about two versions of a function.

use super::cuts::Cuts;
use super::region::Region;
use super::session::{Session, Undecided};
use super::terms::{Given, alike, behaviour};
use super::{FunctionVersion, induction, runs};
use crate::Config;
use crate::budget::Budget;
use rewright_cfg_skeleton::verdict::{Evidence, Tier};
use rewright_smt::solver::{self, Answer, Solver};
use rewright_smt::{Expr, Script};
use std::time::Duration;

/// The solver's processor time for what is no question.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A solver for the functions of a file, with what it may do for them.
pub struct Prover {
    /// Started when it is first asked.
    solver: Option<Solver>,
    budget: Budget,
}

/// What the solver says.
enum Decided {
    /// The second version does nothing that the first one does not.
    Proved { has_nan: bool },
    /// With these arguments it might.
    Differs(Vec<u128>),
}

impl Prover {
    /// One that has all that there is for a file.
    pub fn new(config: &Config) -> Prover {
        Prover { solver: None, budget: Budget::new(config.solver_steps) }
    }

    /// Adds to what runs have shown of two versions.
    pub(super) fn decide(
        &mut self,
        versions: [FunctionVersion<'_>; 2],
        config: &Config,
        mut evidence: Evidence,
    ) -> Evidence {
        match self.ask(versions, config) {
            Ok(Decided::Proved { has_nan }) => {
                evidence.proved = Some(Tier::Solver);
                if has_nan {
                    evidence.assumptions.push("arithmetic on the same floats gives the same NaN".into());
                }
            }
            Ok(Decided::Differs(arguments)) => match runs::shown_by(versions, &arguments, config.seed) {
                Some(found) => evidence.refuted = Some(found),
                None => {
                    let shown: Vec<String> = arguments.iter().map(|n| format!("{n:#x}")).collect();
                    let on = format!("({})", shown.join(", "));
                    evidence.doubted = true;
                    evidence.reasons.insert(
                        0,
                        format!("the solver has an input on which it differs, {on}, and no run confirms it"),
                    );
                }
            },
            Err(reason) => evidence.reasons.insert(0, reason.to_string()),
        }
        evidence
    }

    fn ask(&mut self, versions: [FunctionVersion<'_>; 2], config: &Config) -> Result<Decided, Undecided> {
        let mut session = self.session(config)?;
        let decided = match versions.into_iter().any(induction::has_loops) {
            true => induction::decide(versions, &mut session)
                .map(|induction::Proved { has_nan }| Decided::Proved { has_nan }),
            false => without_loops(versions, &mut session),
        };
        session.end();
        decided
    }

    /// Another function begins.
    fn session(&mut self, config: &Config) -> Result<Session<'_>, Undecided> {
        let solver = match &mut self.solver {
            Some(solver) => solver,
            none => {
                let settings = solver::Config { command: config.solver.clone(), steps: 0, timeout: TIMEOUT };
                let start = |error| Undecided::Start(config.solver.join(" "), error);
                none.insert(Solver::start(settings).map_err(start)?)
            }
        };
        Ok(Session::new(solver, &mut self.budget))
    }
}

/// Both versions as one question.
fn without_loops(versions: [FunctionVersion<'_>; 2], session: &mut Session<'_>) -> Result<Decided, Undecided> {
    let mut script = Script::new();
    script.laws = true;
    let s = &mut script;
    let given = Given::new(s, versions[0])?;
    let mut done = vec![];
    for version in versions {
        let cuts = Cuts::none(version);
        done.push(behaviour(s, &cuts, &Region::new(&cuts, None)?, None, &given)?);
    }
    let [before, after] = [&done[0], &done[1]];
    let same: Vec<Expr> = alike(s, before, after).into_iter().map(|(same, _)| same).collect();
    let same = s.and(&same);
    let claim = s.not(same);
    let proved = Decided::Proved { has_nan: before.has_nan || after.has_nan };
    if claim == Expr::FALSE {
        return Ok(proved);
    }
    let asserted = script.asserting(claim);
    let wanted: Vec<&str> = asserted.declared.iter().map(String::as_str).collect();
    match session.ask(&asserted.text, &wanted, u64::MAX)? {
        Answer::Unsat => Ok(proved),
        Answer::Sat(values) => {
            let value = |argument: &Expr| {
                let at = wanted.iter().position(|name| *name == script.name(*argument))?;
                values.get(at).copied().flatten()
            };
            Ok(Decided::Differs(given.arguments.iter().map(|argument| value(argument).unwrap_or(0)).collect()))
        }
        Answer::Unknown(reason) => Err(session.unanswered(reason)),
    }
}
