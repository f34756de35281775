//! Inputs on which both texts are run, by an interpreter that knows poison and undefined behaviour ([`super::replay`]).
//!
//! Only this refutes. Functions of a module that are called run in both versions as the module has them, so that a
//! difference may be one of theirs. A pair is not refuted where what a function is given may be less than anything: a
//! local function is called by others of its module only. Nor is it where a run enters a function that the linker may
//! replace by another one.

use super::modules::Version;
use super::recursion::is_replaceable;
use super::replay::{Difference, Input, Replay, ReplayError, Replayer, Search, candidates};
use super::verdict::DOUBT;
use super::{Config, Files, Seen};
use rewright_cfg_skeleton::verdict::Counterexample;
use rewright_llvm::lex::global_names;

/// What running both texts has shown of a pair.
#[derive(Default)]
pub(super) struct Replayed {
    pub(super) seen: Seen,
    pub(super) refuted: Option<Counterexample>,
}

/// Why an input shows nothing.
const UNDEFINED: &str = "the first version is undefined, so the second one may do anything";

/// Runs all pairs on inputs that are worth trying.
pub(super) fn compare(files: &Files<'_>, config: &Config) -> Vec<Replayed> {
    (0..files.pairs.len()).map(|pair| tried(files.versions(pair), config)).collect()
}

/// Runs a pair on inputs that are worth trying.
pub(super) fn tried([old, new]: [Version<'_>; 2], config: &Config) -> Replayed {
    let mut found = Replayed::default();
    let [before, after] = [old, new].map(|v| (v.file(), v.definition));
    let replayer = match Replayer::new(before, after) {
        Ok(replayer) => replayer,
        Err(reason) => return Replayed { seen: Seen::nothing(reason), refuted: None },
    };
    let inputs = match &config.input {
        Some(input) => vec![input.clone()],
        None => candidates(before, after, &replayer.callees(), config.seed),
    };
    let Search { differs, agrees, undefined, mut unsupported } = replayer.search(inputs);
    if undefined > 0 {
        unsupported.insert(UNDEFINED.to_string(), undefined);
    }
    found.seen = Seen { runs: agrees, open: unsupported, ..Seen::default() };
    if let Some((input, difference)) = differs {
        match narrower([old, new], &replayer, config) {
            Some(reason) => {
                found.seen = Seen::nothing(format!("{DOUBT}: on {input}, but {reason}"));
                found.seen.doubts = true;
            }
            None => found.refuted = Some(counterexample(&input, difference)),
        }
    }
    found
}

/// Why an input is no counterexample.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unconfirmed {
    #[error(transparent)]
    NotRun(#[from] ReplayError),
    #[error("{0}")]
    Unsupported(String),
    #[error("the replay shows no difference")]
    Agrees,
    #[error("in the replay, {UNDEFINED}")]
    Undefined,
    #[error("it differs on {input}, but {reason}")]
    Narrower { input: String, reason: String },
}

/// What replaying one input shows.
pub(super) fn replayed(
    versions: [Version<'_>; 2],
    input: &Input,
    config: &Config,
) -> Result<Counterexample, Unconfirmed> {
    let [before, after] = versions.map(|v| (v.file(), v.definition));
    let replayer = Replayer::new(before, after)?;
    match replayer.replay(input) {
        Replay::Agrees => Err(Unconfirmed::Agrees),
        Replay::Undefined => Err(Unconfirmed::Undefined),
        Replay::Unsupported(reason) => Err(Unconfirmed::Unsupported(reason)),
        Replay::Differs(difference) => match narrower(versions, &replayer, config) {
            Some(reason) => Err(Unconfirmed::Narrower { input: input.to_string(), reason }),
            None => Ok(counterexample(input, difference)),
        },
    }
}

fn counterexample(input: &Input, difference: Difference) -> Counterexample {
    Counterexample {
        input: serde_json::to_value(input).unwrap_or_default(),
        shown: input.to_string(),
        before: difference.before,
        after: difference.after,
        statements: vec![],
        pattern: None,
    }
}

/// Why a difference on an input may not be one in the programs that these modules are.
fn narrower([old, new]: [Version<'_>; 2], replayer: &Replayer<'_>, config: &Config) -> Option<String> {
    if !config.whole_modules {
        return None;
    }
    let is_local = |v: Version<'_>| v.definition.before.iter().any(|word| word == "internal" || word == "private");
    if is_local(old) || is_local(new) {
        return Some("it is local to its module, whose functions may call it in other ways only".into());
    }
    let callees = replayer.callees();
    if let Some((_, function)) = callees.iter().find(|(_, function)| is_replaceable(function)) {
        return Some(format!("it leads to {}, which another module may define", function.name));
    }
    let called = callees.iter().flat_map(|(file, function)| global_names(&file.text[function.body.clone()]));
    let vouched = called.into_iter().find(|name| config.vouched.contains(*name))?;
    Some(format!("it leads to a call of {vouched}, of which packs say what it does"))
}
