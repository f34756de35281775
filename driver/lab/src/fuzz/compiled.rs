//! Random functions as compiled code, in a child process.

use super::disagreement::Misfit;
use super::outside::Outside;
use super::{Call, Difference, End, Expected, Tester};
use crate::written;
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::interp::Outcome;
use rewright_clif::optimise::ClifOptimiser;
use rewright_native::isolate::{self, Engine, Job, Worker};
use rewright_native::jit::Imports;
use rewright_native::runtest::{self, Returned};

/// Can the host's compiler compile it? It may fail in a panic, so this asks a child process, too.
pub(super) fn compiles(clif: &ClifOptimiser, outside: &Outside<'_>, function: &Function, worker: &mut Worker) -> bool {
    let Ok(text) = written::file(clif, outside.used_by(&[function]), &[function]) else { return false };
    let args = function.block(function.entry()).params.iter().skip(1).map(|_| 1).collect();
    let call = isolate::Call::OnMemory { function: 0, args, memory: vec![], pointers: vec![] };
    let job = Job { text, engine: Engine::Jit, target: 0, calls: vec![call], seconds: 5, imports: Imports::default() };
    worker.run(&job).is_ok_and(|outcomes| !outcomes.iter().any(|o| matches!(o, runtest::CallOutcome::Failed(_))))
}

impl Tester<'_> {
    /// Runs calls on compiled code, before and after, and compares all with what is expected.
    pub(super) fn compare_compiled(
        &mut self,
        original: &Function,
        optimised: &Function,
        calls: &[(&Call, Expected)],
        count: bool,
    ) -> Option<Difference> {
        let (Some(worker), Some((first, _))) = (&mut self.worker, calls.first()) else { return None };
        let difference = |call: &Call, text| Some(Difference { engine: "compiled", call: call.clone(), text });
        let both = [original, optimised];
        let text = match written::file(self.config.clif, self.outside.used_by(&both), &both) {
            Ok(text) => text,
            Err(reason) => return difference(first, format!("export: {reason}")),
        };
        let call = |function| {
            move |(call, _): &(&Call, Expected)| isolate::Call::OnMemory {
                function,
                args: call.args.clone(),
                memory: call.memory.clone(),
                pointers: vec![],
            }
        };
        let both = calls.iter().map(call(0)).chain(calls.iter().map(call(1))).collect();
        let outcomes = match worker.run(&Job {
            text,
            engine: Engine::Jit,
            target: 0,
            calls: both,
            seconds: 5,
            imports: Imports::default(),
        }) {
            Ok(outcomes) => outcomes,
            Err(error) => return difference(first, format!("the child process: {error}")),
        };
        if let Some(runtest::CallOutcome::Failed(reason)) = outcomes.first() {
            // A line is enough to tell reasons apart.
            let reason = reason.lines().next().unwrap_or_default().to_string();
            *self.report.not_compiled.entry(reason).or_default() += u64::from(count);
            return None;
        }
        if count {
            self.report.compiled += calls.len() as u64;
        }
        for (n, (call, expected)) in calls.iter().enumerate() {
            for (which, outcome) in [("before", &outcomes[n]), ("after", &outcomes[n + calls.len()])] {
                if let Err(why) = self.fits(original, expected, outcome) {
                    return difference(call, format!("compiled code {which} optimisation: {why}"));
                }
            }
        }
        None
    }

    fn fits(&self, original: &Function, expected: &Expected, outcome: &runtest::CallOutcome) -> Result<(), Misfit> {
        match (outcome, &expected.end.outcome) {
            (runtest::CallOutcome::Trapped(_), Outcome::Trap(_)) => Ok(()),
            (runtest::CallOutcome::Returned { values, .. }, _) => {
                let Returned { results, memory } = serde_json::from_str(values)?;
                self.agrees(original, expected, &End { outcome: Outcome::Return(results), memory })
                    .map_err(Misfit::Differs)
            }
            (other, expected) => Err(Misfit::Ends { compiled: format!("{other:?}"), interpreted: expected.clone() }),
        }
    }
}
