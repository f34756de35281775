//! Whether values that two versions compute in other ways are equal: packs are read when that is first asked.

use crate::out;
use crate::packs::Rules;
use rewright_cfg_skeleton::nest::datapath::{Answer, Question, ValueOracle};
use rewright_equiv::datapath::Datapaths;
use rewright_pipeline::optimiser::Optimiser;

/// Reads packs when it is first asked.
pub(crate) struct Values {
    rules: Rules,
    solver: Vec<String>,
    steps: u64,
    ready: Option<Result<Datapaths, String>>,
    by_solver_only: bool,
}

impl Values {
    /// With these packs, and this solver with this many steps for a question.
    pub(crate) fn new(rules: Rules, solver: Vec<String>, steps: u64) -> Values {
        Values { rules, solver, steps, ready: None, by_solver_only: false }
    }

    /// Without rules, which a certificate does not rest on.
    pub(crate) fn by_solver_only(self) -> Values {
        Values { by_solver_only: true, ..self }
    }

    fn load(&self) -> Result<Datapaths, String> {
        let program = self.rules.load().map_err(|error| format!("{error:#}"))?;
        let program = program.ok_or("the packs have mistakes")?;
        let bar = out::progress("values", 0);
        let shown = move |done: usize, all: usize| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
            if done == all {
                bar.reset();
            }
        };
        let optimiser = Optimiser::on_demand(program, |_| 0);
        let datapaths = Datapaths::new(optimiser, self.solver.clone(), self.steps).with_progress(shown);
        Ok(if self.by_solver_only { datapaths.by_solver_only() } else { datapaths })
    }
}

impl Values {
    /// What packs and the solver say, once packs are read; why they cannot be.
    fn ready(&mut self) -> Result<&mut Datapaths, String> {
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None => self.load(),
        };
        self.ready.insert(ready).as_mut().map_err(|reason| reason.clone())
    }
}

impl ValueOracle for Values {
    fn answer(&mut self, questions: &[Question]) -> Vec<Answer> {
        match self.ready() {
            Ok(datapaths) => datapaths.answer(questions),
            Err(reason) => questions.iter().map(|_| Answer::Unknown(reason.clone())).collect(),
        }
    }

    fn answer_quickly(&mut self, questions: &[Question]) -> Vec<Answer> {
        match self.ready() {
            Ok(datapaths) => datapaths.answer_quickly(questions),
            Err(reason) => questions.iter().map(|_| Answer::Unknown(reason.clone())).collect(),
        }
    }

    fn begin(&mut self) {
        // Without a question no packs are read.
        if let Some(Ok(datapaths)) = &mut self.ready {
            datapaths.begin();
        }
    }

    fn expect(&mut self, values: usize) {
        // The caller goes on to ask about them.
        if let Ok(datapaths) = self.ready() {
            datapaths.expect(values);
        }
    }

    fn compared(&mut self, done: usize, all: usize) {
        if let Some(Ok(datapaths)) = &mut self.ready {
            datapaths.compared(done, all);
        }
    }
}
