//! Whether values that statements of MLIR compute are equal: by the rules of packs in an e-graph, and by a solver.
//!
//! A [`Question`] becomes a unit of two roots. All units of a call are saturated together; two roots in one class are
//! equal on all values of their leaves. A question that a solver decides at once, as bit vectors, needs no rules; what
//! rules leave open is asked of it at length, where it is worth that. Packs say what MLIR calls an operation
//! (`@mlir("arith.addi")`); an operation that no pack declares is an uninterpreted function.
//!
//! In e-graphs nothing is poison, so a proof there is one only where the second version is certainly no poison when the
//! first one is not ([`poison`]). The solver is asked with poison. In e-graphs all NaNs are one, so a proof there is one
//! only where a NaN of the first version may be any ([`nans`]); where an operation sees the bits of NaNs, nothing that gives a
//! float means anything there.

mod nans;
mod operations;
mod poison;
mod rounded;
mod solve;
mod unit;

use operations::Operations;
use rayon::prelude::*;
use rewright_cfg_skeleton::egraph::EGraphInput;
use rewright_cfg_skeleton::nest::datapath::{Answer, Means, Question, ValueOracle};
use rewright_pipeline::optimiser::{Optimiser, Options};
use solve::{Solving, Unproved};
use unit::Unit;

/// Units that are saturated in one go; more would only take more memory.
const UNITS: usize = 1_000;

/// Questions that one solver answers; others answer the next ones, at the same time.
const TOGETHER: usize = 50;

/// Larger questions that are to be answered quickly are not for rules: they make e-graphs grow, and seldom show anything.
const MAX_TERMS: usize = 40;

/// Solvers that answer at the same time.
const SOLVERS: usize = 4;

/// Further steps that there are for each value that is compared.
const STEPS_PER_VALUE: u64 = 40_000;

/// Answers questions about values.
pub struct Datapaths {
    optimiser: Optimiser,
    operations: Operations,
    solving: Solving,
    /// Those that answer quickly, at the same time.
    quick: Vec<Solving>,
    progress: Box<dyn Fn(usize, usize) + Send>,
    has_rules: bool,
}

impl Datapaths {
    /// With the rules of packs and a solver. For one function it may take this many steps for questions that it answers
    /// at length, and four times as many for those that it is to answer quickly and does not, and more in proportion to
    /// the values that are compared; for all functions twenty times as many.
    pub fn new(optimiser: Optimiser, solver: Vec<String>, steps: u64) -> Datapaths {
        let operations = Operations::new(&optimiser.program().universe);
        Datapaths {
            optimiser,
            operations,
            quick: (0..SOLVERS).map(|_| Solving::new(solver.clone(), steps)).collect(),
            solving: Solving::new(solver, steps),
            progress: Box::new(|_, _| ()),
            has_rules: true,
        }
    }

    /// Calls this with how many values are compared, of how many.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(usize, usize) + Send + 'static) -> Datapaths {
        self.progress = Box::new(progress);
        self
    }

    /// Without rules.
    #[must_use]
    pub fn by_solver_only(self) -> Datapaths {
        Datapaths { has_rules: false, ..self }
    }

    /// What solvers say within a few steps.
    fn at_once(&mut self, questions: &[Question]) -> Vec<Option<Answer>> {
        let chunks: Vec<&[Question]> = questions.chunks(TOGETHER).collect();
        let operations = &self.operations;
        let of = |solving: &mut Solving, question: &Question| match solving.ask_quickly(question, operations) {
            Ok(()) => Some(Answer::Equal(Means::Solver)),
            Err(no @ Unproved::Differ) => Some(Answer::Unknown(format!("solver: {no}"))),
            Err(Unproved::Open(_)) => None,
        };
        // Which solver answers what does not depend on how many there is time for.
        let found = self.quick.par_iter_mut().enumerate().flat_map_iter(|(first, solving)| {
            let own = (first..chunks.len()).step_by(SOLVERS);
            own.map(|n| (n, chunks[n].iter().map(|question| of(solving, question)).collect())).collect::<Vec<_>>()
        });
        let mut found: Vec<(usize, Vec<Option<Answer>>)> = found.collect();
        found.sort_by_key(|(n, _)| *n);
        found.into_iter().flat_map(|(_, answers)| answers).collect()
    }

    /// What is known of questions without much work, by rules of those with no more terms; whether rules could be tried.
    fn soon(&mut self, questions: &[Question], most: usize) -> (Vec<Option<Answer>>, Result<(), String>) {
        let mut answers = self.at_once(questions);
        if !self.has_rules {
            return (answers, Ok(()));
        }
        let is_for_rules = |n: &usize| {
            let question = &questions[*n];
            question.terms.len() <= most && (question.nans || nans::do_not_matter(question))
        };
        let open: Vec<usize> = (0..questions.len()).filter(|n| answers[*n].is_none()).filter(is_for_rules).collect();
        let asked: Vec<Question> = open.iter().map(|n| questions[*n].clone()).collect();
        let found = match self.by_rules(&asked) {
            Ok(found) => found,
            Err(error) => return (answers, Err(error)),
        };
        for (n, _) in open.iter().zip(found).filter(|(_, holds)| *holds) {
            answers[*n] = Some(Answer::Equal(Means::Rules));
        }
        (answers, Ok(()))
    }

    /// What the solver says of a question that rules leave open.
    fn at_length(&mut self, question: &Question, rules: &Result<(), String>) -> Answer {
        match self.solving.ask(question, &self.operations) {
            Ok(()) => Answer::Equal(Means::Solver),
            Err(reason) => Answer::Unknown(match rules {
                Ok(()) if !self.has_rules => format!("solver: {reason}"),
                Ok(()) => format!("no rules show that the values are equal; solver: {reason}"),
                Err(error) => format!("{error}; solver: {reason}"),
            }),
        }
    }

    /// Which of the questions rules answer with yes.
    fn by_rules(&mut self, questions: &[Question]) -> Result<Vec<bool>, String> {
        let mut found = vec![];
        for chunk in questions.chunks(UNITS) {
            let units: Vec<Unit> = chunk.iter().map(|question| Unit::new(question, &mut self.operations)).collect();
            let inputs: Vec<&EGraphInput> = units.iter().map(|unit| &unit.input).collect();
            let types = &self.operations.universe.types;
            let views = self.optimiser.saturate(&inputs, types, &Options::default()).map_err(|e| e.to_string())?;
            for ((unit, question), view) in units.iter().zip(chunk).zip(views) {
                let same = view.class_of(unit.left) == view.class_of(unit.right);
                found.push(same && view.contradictions.is_empty() && poison::is_kept(question));
            }
        }
        Ok(found)
    }
}

impl ValueOracle for Datapaths {
    fn answer(&mut self, questions: &[Question]) -> Vec<Answer> {
        let (answers, rules) = self.soon(questions, usize::MAX);
        let answers = answers.into_iter().zip(questions);
        answers.map(|(answer, question)| answer.unwrap_or_else(|| self.at_length(question, &rules))).collect()
    }

    fn answer_quickly(&mut self, questions: &[Question]) -> Vec<Answer> {
        let (answers, rules) = self.soon(questions, MAX_TERMS);
        let reason =
            rules.err().unwrap_or("neither rules nor a few steps of the solver show that they are equal".into());
        answers.into_iter().map(|answer| answer.unwrap_or_else(|| Answer::Unknown(reason.clone()))).collect()
    }

    fn begin(&mut self) {
        self.quick.iter_mut().for_each(Solving::begin);
        self.solving.begin();
    }

    fn expect(&mut self, values: usize) {
        let steps = STEPS_PER_VALUE.saturating_mul(values as u64);
        self.quick.iter_mut().for_each(|solving| solving.extend(steps / SOLVERS as u64));
        self.solving.extend(steps / SOLVERS as u64);
    }

    fn compared(&mut self, done: usize, all: usize) {
        (self.progress)(done, all);
    }
}
