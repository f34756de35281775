//! Rules over values that only the code of a library or of an embedding program can make: both sides run.
//!
//! The pack says how values of a type are made and changed (`@sample`) and what there is to see of them (`@observe`). For
//! an instance of a rule functions are written ([`experiment`]): they make the rule's variables, look at its
//! [`conditions`], compute sides and give back what is seen. They run as often as values are wanted: compiled, in a
//! process of their own, as all code of libraries does ([`rewright_native::isolate`]), or, where they call Rust functions
//! of this program, here in the interpreter.
//!
//! Where a rule changes memory, or speaks of several states of it, either side runs in a world of its own, with variables
//! of its own that are made in the same way, its calls in the order of their states ([`timeline`]); and what is seen of
//! the variables afterwards is compared as well. The changes of variables before, those between two states,
//! and which variables are one value vary from [`plan`] to plan.
//!
//! A call that traps is no evidence, and counted, unless it is the right side alone that does: such a rule makes programs
//! trap. A difference counts if the left side gives the same when it is run again.
//!
//! It does not look at what functions say to the outside: rules with that are out of scope, and it says so.

mod conditions;
mod engine;
mod experiment;
mod inputs;
mod plan;
mod timeline;
mod variables;

use super::approximate::are_close;
use super::case::Case;
use super::code::Built;
use engine::{End, Prepared};
use experiment::{Sides, needs_worlds};
use inputs::Values;
use plan::{PLANS, Plan};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rewright_typeprop::Scalar;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Fewer values may be alike by chance.
const FEW: usize = 20;

/// What running a rule gave.
pub(super) enum Executed {
    /// The values agree.
    Agree(Agreement),
    /// They do not.
    Differ(Difference),
    /// It would call a library that is not allowed.
    NotAllowed(String),
    /// It cannot be run, and why.
    CannotRun(String),
}

/// Where sides differ.
pub(super) struct Difference {
    /// Values with their names.
    pub(super) values: Vec<(String, String)>,
    /// What is seen of the sides.
    pub(super) sides: [String; 2],
    /// Something happened between the states that the rule speaks of.
    pub(super) between_states: bool,
}

/// On what sides agree.
pub(super) struct Agreement {
    /// How many..
    pub(super) agreed: usize,
    /// ..of those at which both sides came back.
    pub(super) tried: usize,
    /// How many others have nothing to compare, by reason.
    pub(super) not_compared: BTreeMap<String, usize>,
    /// All that `@observe` showed, where it was the same each time.
    pub(super) always: Vec<String>,
    /// What values were made and changed by.
    pub(super) by: BTreeSet<String>,
    /// The rule speaks of several states, and nothing was done that could tell them apart.
    pub(super) states_alike: bool,
}

/// How a rule is run.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// Our own binary.
    pub(super) program: Option<&'a Path>,
    /// How many values are tried.
    pub(super) samples: usize,
    /// Where random values begin.
    pub(super) seed: u64,
    /// By how much sides may differ where the rule is no equality.
    pub(super) tolerance: Option<f64>,
}

/// Runs a rule on values.
///
/// # Errors
/// When no process can be started.
pub(super) fn run(case: &Case<'_>, how: How<'_>) -> io::Result<Executed> {
    let mut rng = ChaCha8Rng::seed_from_u64(how.seed);
    let mut tally = Tally { states_alike: true, ..Tally::default() };
    let mut plans = 1;
    let mut index = 0;
    while index < plans {
        let trial = match Trial::new(case, how, index) {
            Ok(trial) => trial,
            Err(why) => return Ok(Executed::CannotRun(why.to_string())),
        };
        if let Some(library) = trial.refused() {
            return Ok(Executed::NotAllowed(library.to_string()));
        }
        let interface = &trial.first.interface;
        if index == 0 && interface.had_choices {
            plans = PLANS;
        }
        tally.by.extend(interface.tried.iter().cloned());
        tally.states_alike &= interface.states_alike;
        // The first plan has what is left over.
        let share = how.samples / plans as usize;
        let count = if index == 0 { how.samples - share * (plans as usize - 1) } else { share };
        let calls: Vec<Values> = (0..count).map(|_| Values::random(&interface.inputs, &mut rng)).collect();
        if let Some(why) = trial.judge(&calls, &mut tally)? {
            return Ok(Executed::CannotRun(why));
        }
        index += 1;
    }
    Ok(tally.says(how.tolerance.is_some()))
}

/// What is known after some calls.
#[derive(Default)]
struct Tally {
    agreed: usize,
    tried: usize,
    silent: usize,
    not_compared: BTreeMap<String, usize>,
    /// What each observation showed; `None`: not always the same.
    shown: BTreeMap<String, Option<i64>>,
    differing: Option<Difference>,
    by: BTreeSet<String>,
    states_alike: bool,
}

impl Tally {
    fn says(self, is_approximate: bool) -> Executed {
        let Tally { agreed, tried, silent, not_compared, shown, differing, by, states_alike } = self;
        // Cancellation may cost an approximation any number of digits: see `approximate`.
        let excused = if is_approximate { 10 * agreed >= 9 * tried } else { agreed == tried };
        match differing {
            Some(difference) if !excused => Executed::Differ(difference),
            _ if silent > 0 && tried == 0 => Executed::CannotRun("its conditions hold at none of the values".into()),
            _ if tried == 0 => Executed::CannotRun(format!("no call of it came back: {}", counted(&not_compared))),
            _ => {
                let same = |(what, number): (String, Option<i64>)| Some(format!("{what}{}", number?));
                // A few values may be alike by chance.
                let always = if tried < FEW { None } else { shown.into_iter().map(same).collect() };
                let always = always.unwrap_or_default();
                Executed::Agree(Agreement { agreed, tried, not_compared, always, by, states_alike })
            }
        }
    }
}

/// Reasons with their numbers.
pub(super) fn counted(reasons: &BTreeMap<String, usize>) -> String {
    let mut all: Vec<_> = reasons.iter().collect();
    all.sort_by_key(|(why, count)| (Reverse(**count), *why));
    let all: Vec<String> = match all[..] {
        [(why, _)] => vec![why.clone()],
        _ => all.iter().map(|(why, count)| format!("{count} {why}")).collect(),
    };
    all.join(", ")
}

/// What a call says.
enum Judged {
    /// The rule does not match.
    Silent,
    /// The sides agree. What is seen of the left one.
    Agree(Vec<i64>),
    /// They do not, and what they are.
    Differ([String; 2]),
    /// Nothing, and why.
    Nothing(String),
    /// It cannot be run at all, and why.
    Failed(String),
}

/// A plan of a rule, ready to be tried.
struct Trial<'c> {
    case: &'c Case<'c>,
    how: How<'c>,
    plan: u64,
    /// Both sides, or the left one if either needs a world of its own.
    first: Prepared,
    /// The right one then.
    second: Option<Prepared>,
}

impl<'c> Trial<'c> {
    fn new(case: &'c Case<'c>, how: How<'c>, plan: u64) -> Built<Self> {
        let prepared = |sides| Prepared::new(case, how.program, sides, Plan::new(how.seed, plan));
        let (first, second) = match needs_worlds(case) {
            true => (prepared(Sides::Left)?, Some(prepared(Sides::Right)?)),
            false => (prepared(Sides::Both)?, None),
        };
        if let Some(second) = &second
            && first.interface.seen != second.interface.seen
        {
            return Err("its sides are not looked at in the same way".into());
        }
        Ok(Trial { case, how, plan, first, second })
    }

    fn refused(&self) -> Option<&str> {
        self.first.refused().or_else(|| self.second.as_ref()?.refused())
    }

    /// Tries calls; why nothing can be said of the rule at all.
    fn judge(&self, calls: &[Values], tally: &mut Tally) -> io::Result<Option<String>> {
        let calls: Vec<&Values> = calls.iter().collect();
        let judged = match &self.second {
            Some(second) => self.apart(second, &calls)?,
            None => self.together(&calls)?,
        };
        let left_out = calls.len() - judged.len();
        if left_out > 0 {
            let why = match judged.last() {
                Some(Judged::Nothing(why)) => why.as_str(),
                _ => "none of the first calls came back",
            };
            *tally.not_compared.entry(why.into()).or_default() += left_out;
        }
        for (call, judged) in calls.into_iter().zip(judged) {
            match judged {
                Judged::Silent => tally.silent += 1,
                Judged::Nothing(why) => *tally.not_compared.entry(why).or_default() += 1,
                Judged::Failed(why) => return Ok(Some(why)),
                Judged::Agree(seen) => {
                    tally.tried += 1;
                    tally.agreed += 1;
                    self.note(&seen, &mut tally.shown);
                }
                Judged::Differ(sides) => {
                    tally.tried += 1;
                    if tally.differing.is_none() {
                        if !self.is_steady(call)? {
                            let why = "its left side gives something else when it is run again on the same values";
                            return Ok(Some(why.into()));
                        }
                        tally.differing = Some(self.difference(call, sides));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Notes what observations show, and whether that has been the same so far.
    fn note(&self, seen: &[i64], shown: &mut BTreeMap<String, Option<i64>>) {
        for ((_, what), number) in self.first.interface.seen.iter().zip(seen).filter(|((_, what), _)| !what.is_empty())
        {
            let before = shown.entry(what.clone()).or_insert(Some(*number));
            *before = before.filter(|before| before == number);
        }
    }

    fn difference(&self, call: &Values, sides: [String; 2]) -> Difference {
        let Prepared { interface, universe, .. } = &self.first;
        let between = &interface.between;
        let values = call.named(universe, &interface.given, between);
        Difference { values, sides, between_states: !between.is_empty() }
    }

    /// Both sides in one function.
    fn together(&self, calls: &[&Values]) -> io::Result<Vec<Judged>> {
        let count = self.first.interface.seen.len();
        let mut trapped = vec![];
        let mut judged: Vec<Judged> = vec![];
        for (n, end) in self.first.ends(calls)?.into_iter().enumerate() {
            judged.push(match end {
                End::Failed(why) => Judged::Failed(why),
                End::Nothing(why) => Judged::Nothing(why),
                End::Trapped(why) => {
                    trapped.push(n);
                    Judged::Nothing(format!("{why} in either side"))
                }
                End::Results(results, _) if !self.first.matches(&results) => Judged::Silent,
                End::Results(results, _) => match results.len().checked_sub(2 * count) {
                    Some(seen) => {
                        let (left, right) = results[seen..].split_at(count);
                        self.compare(left, right)
                    }
                    None => Judged::Nothing("it gives too little".into()),
                },
            });
        }
        let calls: Vec<&Values> = trapped.iter().map(|n| calls[*n]).collect();
        let prepared = |sides| Prepared::new(self.case, self.how.program, sides, Plan::new(self.how.seed, self.plan));
        if let (false, Ok(left), Ok(right)) = (calls.is_empty(), prepared(Sides::Left), prepared(Sides::Right)) {
            let ends = left.ends(&calls)?.into_iter().zip(right.ends(&calls)?);
            for (n, (left_end, right_end)) in trapped.into_iter().zip(ends) {
                judged[n] = match (left_end, right_end) {
                    (End::Results(results, _), End::Trapped(why)) => only_right_traps(&left, &results, &why),
                    ends => Judged::Nothing(why_nothing(&ends)),
                };
            }
        }
        Ok(judged)
    }

    /// Either side in a world of its own.
    fn apart(&self, second: &Prepared, calls: &[&Values]) -> io::Result<Vec<Judged>> {
        let left = self.first.ends(calls)?;
        let right = second.ends(&calls[..left.len()])?;
        Ok(left.into_iter().zip(right).map(|ends| self.one_apart(second, ends)).collect())
    }

    fn one_apart(&self, second: &Prepared, ends: (End, End)) -> Judged {
        let ((left, left_memory), right) = match ends {
            (End::Failed(why), _) | (_, End::Failed(why)) => return Judged::Failed(why),
            (End::Results(left, memory), right @ (End::Results(..) | End::Trapped(_))) => ((left, memory), right),
            ends => return Judged::Nothing(why_nothing(&ends)),
        };
        if !self.first.matches(&left) {
            return Judged::Silent;
        }
        let (right, right_memory) = match right {
            End::Results(results, memory) => (results, memory),
            // A change between states may have moved a value.
            End::Trapped(why) if second.interface.kept > 0 => {
                return Judged::Nothing(format!("{why} in the right side, whose values a change may have moved"));
            }
            End::Trapped(why) => return only_right_traps(&self.first, &left, &why),
            End::Nothing(why) | End::Failed(why) => return Judged::Nothing(why),
        };
        let (Some(left), Some(right)) = (self.first.parts(&left), second.parts(&right)) else {
            return Judged::Nothing("it gives too little".into());
        };
        if left.is_moved || right.is_moved {
            return Judged::Nothing("what changes a value between its states moves it elsewhere".into());
        }
        match self.compare(left.seen, right.seen) {
            Judged::Agree(_) if left.identity != right.identity => Judged::Differ([left.identity, right.identity]),
            Judged::Agree(_) if self.first.interface.is_bare && left.identity == ANOTHER => {
                Judged::Failed("nothing says what is seen of the pointer that it gives".into())
            }
            Judged::Agree(_) if self.first.interface.leaves_memory && left_memory != right_memory => {
                Judged::Differ([left_memory, right_memory].map(|memory| format!("then the memory is {memory:?}")))
            }
            judged => judged,
        }
    }

    fn compare(&self, left: &[i64], right: &[i64]) -> Judged {
        let seen = self.first.interface.seen.iter().zip(left.iter().zip(right));
        match seen.into_iter().find(|((scalar, _), (l, r))| !same(*scalar, **l, **r, self.how.tolerance)) {
            None => Judged::Agree(left.to_vec()),
            Some(((scalar, what), (l, r))) => Judged::Differ([l, r].map(|n| format!("{what}{}", shown(*scalar, *n)))),
        }
    }

    /// Is the left side the same when it is run again?
    fn is_steady(&self, call: &Values) -> io::Result<bool> {
        if self.second.is_some() {
            let again = || -> io::Result<Option<(Vec<i64>, String)>> {
                let end = self.first.ends(&[call])?.pop();
                let Some(End::Results(results, _)) = end else { return Ok(None) };
                Ok(self.first.parts(&results).map(|parts| (parts.seen.to_vec(), parts.identity)))
            };
            let (one, other) = (again()?, again()?);
            return Ok(one.zip(other).is_none_or(|((one, is), (other, was))| {
                is == was && matches!(self.compare(&one, &other), Judged::Agree(_))
            }));
        }
        let twice = Prepared::new(self.case, self.how.program, Sides::LeftTwice, Plan::new(self.how.seed, self.plan));
        let Ok(twice) = twice else { return Ok(true) };
        let Some(End::Results(results, _)) = twice.ends(&[call])?.pop() else { return Ok(true) };
        let count = twice.interface.seen.len();
        let Some(seen) = results.len().checked_sub(2 * count) else { return Ok(true) };
        let (one, other) = results[seen..].split_at(count);
        Ok(matches!(self.compare(one, other), Judged::Agree(_)))
    }
}

/// Why two sides that did not both come back are no evidence. Where the left one traps, a program that does so is not one
/// that a rule has to keep.
fn why_nothing(ends: &(End, End)) -> String {
    match ends {
        (End::Trapped(left), End::Trapped(right)) if left == right => format!("{left} in both sides"),
        (End::Trapped(left), End::Trapped(right)) => format!("{left} in the left side, {right} in the right one"),
        (End::Trapped(why), _) => format!("{why} in the left side"),
        (End::Nothing(why) | End::Failed(why), _) => format!("the left side: {why}"),
        (_, End::Trapped(why)) => format!("{why} in the right side"),
        (_, End::Nothing(why) | End::Failed(why)) => format!("the right side: {why}"),
        (End::Results(..), End::Results(..)) => "it gives too little".into(),
    }
}

/// The left side comes back and the right one traps.
fn only_right_traps(left: &Prepared, results: &[i64], why: &str) -> Judged {
    let trap = format!("a trap ({why})");
    if !left.matches(results) {
        return Judged::Silent;
    }
    let shown = left.parts(results).and_then(|parts| {
        let (scalar, what) = left.interface.seen.first()?;
        Some(format!("{what}{}", shown(*scalar, *parts.seen.first()?)))
    });
    Judged::Differ([shown.unwrap_or("without a trap".into()), trap])
}

/// A value that is not one of the variables.
const ANOTHER: &str = "another value";

/// What the results of one side say.
struct Parts<'r> {
    seen: &'r [i64],
    /// Which of the variables it is.
    identity: String,
    /// A variable is elsewhere now.
    is_moved: bool,
}

impl Prepared {
    /// The results of a function of one side.
    fn parts<'r>(&self, results: &'r [i64]) -> Option<Parts<'r>> {
        let kept = results.len().checked_sub(2 * self.interface.kept)?;
        let is_moved = results[kept..].chunks(2).any(|pair| pair[0] != pair[1]);
        let names = self.interface.named.as_deref();
        let words = kept.checked_sub(names.map_or(0, |names| names.len() + 2))?;
        let seen = &results[words.checked_sub(self.interface.seen.len())?..words];
        let identity = names.map_or(String::new(), |names| identity(&results[words..kept], names));
        Some(Parts { seen, identity, is_moved })
    }
}

/// Which of the variables a word is. `words`: its own, the memory's, and theirs.
fn identity(words: &[i64], names: &[String]) -> String {
    let (word, memory) = (words[0], words[1]);
    let into_memory = word.wrapping_sub(memory);
    if let Some((_, name)) = words[2..].iter().zip(names).find(|(other, _)| **other == word) {
        format!("`{name}` itself")
    } else if word == 0 {
        "null".into()
    } else if (0..=inputs::MEMORY as i64).contains(&into_memory) {
        format!("{into_memory} bytes into the memory")
    } else {
        ANOTHER.into()
    }
}

fn same(scalar: Scalar, left: i64, right: i64, tolerance: Option<f64>) -> bool {
    let both_nan = scalar.is_nan(left) && scalar.is_nan(right);
    left == right || both_nan || tolerance.is_some_and(|t| are_close(scalar, left, right, t))
}

fn shown(scalar: Scalar, n: i64) -> String {
    match scalar {
        Scalar::F32 => format!("{:?}", f32::from_bits(n as u32)),
        Scalar::F64 => format!("{:?}", f64::from_bits(n as u64)),
        _ => n.to_string(),
    }
}
