//! Whether values that are computed in other ways are equal: questions that a [`ValueOracle`] answers.
//!
//! Nests know values as graphs of operations that have no meaning here. Where two statements compute different graphs,
//! the part in which they differ, cut where both read the same, becomes a [`Question`]; an oracle that knows what
//! operations mean answers it. Many questions are asked at once.
//!
//! * [`aligned`] compares the values of statements that correspond one to one;
//! * [`sweep`] walks both programs, and replaces each value that is equal to an earlier one;
//! * [`graph`] numbers the values of both, so that those that are made in the same way have one number, and tells values
//!   apart that differ on samples;
//! * [`window`] cuts out what is asked of the others.
//!
//! **Invariant**: a question is about all values of its leaves. So an answer holds wherever its leaves are equal, and
//! where what is below an equal pair was itself only taken to be equal, all those questions are asked, too.

pub(crate) mod aligned;
mod graph;
mod sweep;
mod window;

use super::value::Number;
pub(crate) use graph::Renaming;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A value of a question.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Term {
    /// The type, as in the source.
    pub ty: String,
    /// How it comes about.
    pub kind: TermKind,
}

/// How a value of a question comes about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TermKind {
    /// It may be anything of its type.
    Leaf {
        /// It is certainly no poison.
        defined: bool,
    },
    /// A constant.
    Constant(Number),
    /// A pure operation on earlier terms.
    Op {
        /// Its name with the dialect and the predicate: `arith.cmpi.slt`.
        name: String,
        /// Promises about operands or results, sorted.
        flags: Vec<String>,
        /// The type of the operands.
        from: String,
        /// Operands.
        operands: Vec<u32>,
    },
}

/// Whether one value may stand for another one: wherever `left` is not poison, `right` is not poison and has the same
/// value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Question {
    /// Values; each refers to earlier ones.
    pub terms: Vec<Term>,
    /// What the first version computes.
    pub left: u32,
    /// What the second version computes.
    pub right: u32,
    /// Whether the bits of all NaNs are to be equal; else a NaN that arithmetic gives on the left may be another one on the
    /// right ([`nan`](super::nan)).
    pub nans: bool,
}

/// What is known of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Yes, and how that is known.
    Equal(Means),
    /// Nothing, and why, if there is a reason to give.
    Unknown(String),
}

/// How it is known that values are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Means {
    /// By the rules of packs.
    Rules,
    /// By a solver.
    Solver,
}

/// Knows what operations mean.
pub trait ValueOracle {
    /// An answer for each question, in order.
    fn answer(&mut self, questions: &[Question]) -> Vec<Answer>;

    /// The same with little work for each question: there may be an answer that is not found.
    fn answer_quickly(&mut self, questions: &[Question]) -> Vec<Answer> {
        self.answer(questions)
    }

    /// Another function begins: what is asked next is about that.
    fn begin(&mut self) {}

    /// This many values are to be compared: the more there are, the more questions are to be answered.
    fn expect(&mut self, _values: usize) {}

    /// How many values of a function have been compared, and how many there are.
    fn compared(&mut self, _done: usize, _all: usize) {}
}

/// Knows nothing.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoOracle;

impl ValueOracle for NoOracle {
    fn answer(&mut self, questions: &[Question]) -> Vec<Answer> {
        questions.iter().map(|_| Answer::Unknown(String::new())).collect()
    }
}

/// An answer that was given.
struct Known {
    answer: Answer,
    /// Whether only a little work was done for it.
    quickly: bool,
}

/// An oracle that is asked each question once, and once more where more work may help.
pub(crate) struct Asked<'a> {
    /// All answers are yes: what is left differs on samples.
    trusting: bool,
    oracle: Option<&'a mut (dyn ValueOracle + Send)>,
    known: FxHashMap<Question, Known>,
    /// By what means answers that were used are known.
    pub(crate) means: BTreeSet<Means>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(oracle: &'a mut (dyn ValueOracle + Send)) -> Self {
        Asked { oracle: Some(oracle), ..Asked::none() }
    }

    /// Without an oracle: only what is the same is equal.
    pub(crate) fn none() -> Self {
        Asked { trusting: false, oracle: None, known: FxHashMap::default(), means: BTreeSet::new() }
    }

    /// Whatever may be equal is: what is found then differs. Nothing is a proof.
    pub(crate) fn trusting() -> Self {
        Asked { trusting: true, ..Asked::none() }
    }

    /// Whether there is no oracle.
    pub(crate) fn is_none(&self) -> bool {
        self.oracle.is_none() && !self.trusting
    }

    /// The positions of the questions to which the answer is not yes.
    pub(crate) fn open(&mut self, questions: &[Question]) -> Vec<usize> {
        self.asked(questions, false)
    }

    /// The same, where it is only worth a little work.
    pub(crate) fn open_quickly(&mut self, questions: &[Question]) -> Vec<usize> {
        self.asked(questions, true)
    }

    fn asked(&mut self, questions: &[Question], quickly: bool) -> Vec<usize> {
        if self.trusting {
            return vec![];
        }
        let is_known = |known: &FxHashMap<Question, Known>, question| match known.get(question) {
            Some(Known { answer: Answer::Equal(_), .. }) => true,
            Some(of) => quickly || !of.quickly,
            None => false,
        };
        let mut new: Vec<Question> = vec![];
        let mut seen = FxHashSet::default();
        for question in questions {
            if !is_known(&self.known, question) && seen.insert(question) {
                new.push(question.clone());
            }
        }
        if let (false, Some(oracle)) = (new.is_empty(), &mut self.oracle) {
            let answers = if quickly { oracle.answer_quickly(&new) } else { oracle.answer(&new) };
            let answers = answers.into_iter().map(|answer| Known { answer, quickly });
            self.known.extend(new.into_iter().zip(answers));
        }
        (0..questions.len()).filter(|position| self.means_of(&questions[*position]).is_none()).collect()
    }

    /// Says how many values are to be compared.
    pub(crate) fn expect(&mut self, values: usize) {
        if let Some(oracle) = &mut self.oracle {
            oracle.expect(values);
        }
    }

    /// Says how far a comparison has come.
    pub(crate) fn compared(&mut self, done: usize, all: usize) {
        if let Some(oracle) = &mut self.oracle {
            oracle.compared(done, all);
        }
    }

    /// By what means a question was answered with yes.
    fn means_of(&self, question: &Question) -> Option<Means> {
        match self.known.get(question)?.answer {
            Answer::Equal(means) => Some(means),
            Answer::Unknown(_) => None,
        }
    }

    /// Notes by what means the answers to these questions are known.
    pub(crate) fn used(&mut self, questions: &[Question]) {
        let means = questions.iter().filter_map(|question| self.means_of(question)).collect::<Vec<_>>();
        self.means.extend(means);
    }

    /// Why there is no answer to a question that was asked.
    pub(crate) fn reason(&self, question: &Question) -> String {
        match self.known.get(question) {
            Some(Known { answer: Answer::Unknown(reason), .. }) => reason.clone(),
            Some(_) | None => String::new(),
        }
    }
}
