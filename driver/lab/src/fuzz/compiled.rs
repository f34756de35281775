//! Random functions as compiled code, in a child process.

use super::outside::Outside;
use super::{Call, Difference, End, Expected, Tester};
use crate::LabError;
use cranelift_codegen::ir::Endianness;
use cranelift_codegen::isa::CallConv;
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::interp::Outcome;
use rewright_clif::export::{Surroundings, export, head};
use rewright_clif::import::Payloads;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::print::print;
use rewright_clif::read::read;
use rewright_native::isolate::{self, Engine, Job, Worker};
use rewright_native::jit::Imports;
use rewright_native::runtest::{self, Returned};

/// Many results go through memory.
const HEADER: &str = "test run\nset enable_multi_ret_implicit_sret=true\n\n";

/// A file of these functions, called `%f0`, `%f1` and so on, and what they call.
fn file(clif: &ClifOptimiser, outside: &Outside<'_>, functions: &[&Function]) -> Result<String, LabError> {
    let empty = read(HEADER)?;
    let isa = empty.isa.as_ref().ok_or(LabError::NoCompiler)?;
    let mut out = HEADER.to_string();
    let used = outside.used_by(functions);
    let none = Payloads::default();
    for (n, function) in functions.iter().enumerate() {
        let name = format!("f{n}");
        let convention = CallConv::triple_default(isa.triple());
        let outside = used.map(|(original, ..)| original);
        let head = head(function, &name, &clif.names, None, convention, outside)?;
        let around = Surroundings {
            original: &head,
            payloads: used.map_or(&none, |(_, payloads, _)| payloads),
            linkage: None,
            native: Endianness::Little,
            fisa: isa.as_ref().into(),
        };
        let exported = export(function, &clif.names, &around)?;
        out.push_str(&print(&exported.function));
        out.push('\n');
    }
    out.push_str(used.map_or("", |(_, _, text)| text));
    Ok(out)
}

/// Can the host's compiler compile it? It may fail in a panic, so this asks a child process, too.
pub(super) fn compiles(clif: &ClifOptimiser, outside: &Outside<'_>, function: &Function, worker: &mut Worker) -> bool {
    let Ok(text) = file(clif, outside, &[function]) else { return false };
    let args = function.block(function.entry()).params.iter().skip(1).map(|_| 1).collect();
    let call = isolate::Call::OnMemory { function: 0, args, memory: vec![] };
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
        let text = match file(self.config.clif, self.outside, &[original, optimised]) {
            Ok(text) => text,
            Err(reason) => return difference(first, format!("export: {reason}")),
        };
        let call = |function| {
            move |(call, _): &(&Call, Expected)| isolate::Call::OnMemory {
                function,
                args: call.args.clone(),
                memory: call.memory.clone(),
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
                if let Err(text) = self.fits(original, expected, outcome) {
                    return difference(call, format!("compiled code {which} optimisation: {text}"));
                }
            }
        }
        None
    }

    fn fits(&self, original: &Function, expected: &Expected, outcome: &runtest::CallOutcome) -> Result<(), String> {
        match (outcome, &expected.end.outcome) {
            (runtest::CallOutcome::Trapped(_), Outcome::Trap(_)) => Ok(()),
            (runtest::CallOutcome::Returned { values, .. }, _) => {
                let Returned { results, memory } = serde_json::from_str(values).map_err(|e| e.to_string())?;
                self.agrees(original, expected, &End { outcome: Outcome::Return(results), memory })
                    .map_err(|text| text.replace("before", "interpreted").replace("after", "compiled"))
            }
            (other, expected) => Err(format!("{other:?}, interpreted {expected:?}")),
        }
    }
}
