//! Whether values that statements of MLIR compute are equal: by the rules of packs in an e-graph, and by a solver.
//!
//! A [`Question`] becomes a unit of two roots. All units of a call are saturated together; two roots in one class are
//! equal on all values of their leaves. What a solver decides at once, as bit vectors, needs no rules; what rules leave
//! open is asked of it at length. Packs say what MLIR calls an operation
//! (`@mlir("arith.addi")`); one that no pack declares is a function that nobody knows.
//!
//! In e-graphs nothing is poison, so a proof there is one only where the second version is certainly no poison when the
//! first one is not ([`poison`]). The solver is asked with poison.

mod operations;
mod poison;
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

/// Answers questions about values.
pub struct Datapaths {
    optimiser: Optimiser,
    operations: Operations,
    solving: Solving,
    progress: Box<dyn Fn(usize, usize) + Send>,
    has_rules: bool,
}

impl Datapaths {
    /// With the rules of packs and a solver, which may take so many steps for a question, and twenty times as many for
    /// all.
    pub fn new(optimiser: Optimiser, solver: Vec<String>, steps: u64) -> Datapaths {
        let operations = Operations::new(&optimiser.program().universe);
        Datapaths {
            optimiser,
            operations,
            solving: Solving::new(solver, steps),
            progress: Box::new(|_, _| ()),
            has_rules: true,
        }
    }

    /// Calls this with how many questions are answered, of how many.
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

    /// What solvers say within a few steps. Floats take them more than rules do.
    fn at_once(&mut self, questions: &[Question]) -> Vec<Option<Answer>> {
        let has_rules = self.has_rules;
        let of = |solving: &mut Solving, question: &Question, operations: &Operations| {
            if has_rules && question.terms.iter().any(|term| term.ty.starts_with('f')) {
                return None;
            }
            match solving.ask_quickly(question, operations) {
                Ok(()) => Some(Answer::Equal(Means::Solver)),
                Err(no @ Unproved::Differ) => Some(Answer::Unknown(format!("solver: {no}"))),
                Err(Unproved::Open(_)) => None,
            }
        };
        if questions.len() <= TOGETHER {
            return questions.iter().map(|question| of(&mut self.solving, question, &self.operations)).collect();
        }
        let operations = &self.operations;
        let chunks: Vec<_> = questions.chunks(TOGETHER).map(|chunk| (self.solving.another(), chunk)).collect();
        let answers = chunks.into_par_iter().map(|(mut solving, chunk)| {
            chunk.iter().map(|question| of(&mut solving, question, operations)).collect::<Vec<_>>()
        });
        answers.collect::<Vec<_>>().concat()
    }

    /// What the solver says of a question that rules leave open.
    fn at_length(&mut self, question: &Question, rules: &Result<Vec<bool>, String>) -> Answer {
        match self.solving.ask(question, &self.operations) {
            Ok(()) => Answer::Equal(Means::Solver),
            Err(reason) => Answer::Unknown(match rules {
                Ok(_) if !self.has_rules => format!("solver: {reason}"),
                Ok(_) => format!("no rules show that the values are equal; solver: {reason}"),
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
        let mut answers = self.at_once(questions);
        (self.progress)(answers.iter().flatten().count(), questions.len());
        let open: Vec<usize> = (0..questions.len()).filter(|n| answers[*n].is_none()).collect();
        let asked: Vec<Question> = open.iter().map(|n| questions[*n].clone()).collect();
        let rules = if self.has_rules { self.by_rules(&asked) } else { Ok(vec![false; asked.len()]) };
        for (position, (n, question)) in open.into_iter().zip(&asked).enumerate() {
            let by_rules = rules.as_ref().is_ok_and(|found| found[position]);
            answers[n] = Some(if by_rules { Answer::Equal(Means::Rules) } else { self.at_length(question, &rules) });
        }
        (self.progress)(questions.len(), questions.len());
        answers.into_iter().map(|answer| answer.unwrap_or(Answer::Unknown(String::new()))).collect()
    }
}
