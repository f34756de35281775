//! The operation table: every operation that packs declare, read once, used by every stage.

use crate::ids::OpId;
use crate::model::{Known, Model};
use crate::stored;
use crate::term::Term;
use crate::types::{TypeExpr, TypeParam};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A formal parameter of an operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpParam {
    /// Name as declared.
    pub name: String,
    /// Type, over the operation's type parameters.
    pub ty: TypeExpr,
    /// `const`: the argument is a compile-time constant and is an immediate of the instruction, so it is never
    /// charged as a value nor kept in a register.
    pub constant: bool,
}

/// What an operation may do besides computing its results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// Names of the regions that it reads.
    pub reads: Vec<String>,
    /// Names of the regions that it writes.
    pub writes: Vec<String>,
    /// Names of the regions that it allocates in: carries a site.
    pub allocates: Vec<String>,
    /// Talks to the outside world: carries a site, and is ordered with every other such operation.
    pub io: bool,
    /// May trap: its meaning is total, and a check beside it decides (see [`Op::checks`]).
    pub traps: bool,
    /// May not return.
    pub diverges: bool,
}

impl Effects {
    /// No effect at all, not even a trap.
    pub fn is_pure(&self) -> bool {
        *self == Effects::default()
    }

    /// May it be computed where the program did not? Pure, or only reading (the state decides where).
    pub fn is_value(&self) -> bool {
        self.writes.is_empty() && self.allocates.is_empty() && !self.io && !self.diverges
    }

    /// Allocates, and does nothing else: what it gives is a new object, which its operands determine as a value. So it may
    /// be executed elsewhere, once at most for each time, or not at all where the object is unused.
    pub fn only_allocates(&self) -> bool {
        !self.allocates.is_empty() && Effects { allocates: vec![], ..self.clone() }.is_pure()
    }

    /// Reads or writes memory.
    pub fn accesses_memory(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }
}

/// One condition under which an operation traps: it traps with `code` iff `condition` is not zero.
/// Declared as `@traps(code, condition)`, in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrapCheck {
    /// Trap code by name (`int_divz`).
    pub code: String,
    /// Over the operation's parameters; `None` where only executing the operation tells.
    pub condition: Option<Term>,
}

/// Algebraic laws stated beside a declaration.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Laws {
    /// `f(x, y) == f(y, x)`: patterns are expanded, and both forms united where both exist.
    pub commutative: bool,
    /// `f(f(x, y), z) == f(x, f(y, z))`: a ruleset of its own with a budget.
    pub associative: bool,
    /// `f(x, x) == x`.
    pub idempotent: bool,
    /// `f(x, e) == x`.
    pub identity: Option<Term>,
}

/// What an operation says of a loop, which its first operand stands for. It is no instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LoopRole {
    /// `@model("theta")`: what a loop carries. The second operand before the first iteration; in each further one what
    /// the third was at the end of the one before. For matching: nothing computes it.
    Theta,
    /// `recurrence f`: the second operand before the first iteration; in each further one `f` of what it was and of what
    /// the third operand was in the one before. A new parameter of the loop's header computes it.
    Recurrence(OpId),
    /// `@model("leave")`: what the second operand is in the iteration in which the loop is left. For matching: parameters
    /// of blocks that loops exit to are that.
    Leave,
    /// `@model("around")`: the state in which an iteration begins, of a loop that is entered in the state before this one. For
    /// matching, as are the next two: nothing executes it.
    Around,
    /// `@model("left")`: the state that a loop leaves behind whose iterations end in the state before this one, where it is
    /// asked first whether there is an iteration: none may have been executed.
    Left,
    /// `@model("left_last")`: the same, where that is asked last: the first one is executed in any case.
    LeftLast,
}

impl LoopRole {
    /// Is it a state?
    pub fn is_state(self) -> bool {
        matches!(self, LoopRole::Around | LoopRole::Left | LoopRole::LeftLast)
    }
}

/// What an operation that writes and gives a value is to rules that say its state: the state after it, and the value
/// that it gives, each as a function of the operands and of the state before it. They are for matching: what is executed
/// is the operation itself, at its site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Parts {
    /// Gives the state after it.
    pub state: OpId,
    /// Gives its value.
    pub value: OpId,
}

/// Which part of an operation another one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Part {
    /// The state after it.
    State(OpId),
    /// The value that it gives.
    Value(OpId),
}

impl Part {
    /// The operation that it is a part of.
    pub fn whole(self) -> OpId {
        match self {
            Part::State(whole) | Part::Value(whole) => whole,
        }
    }
}

/// What one execution costs, in units of a simple integer instruction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Cost {
    /// A number.
    Fixed(u32),
    /// Over the operation's parameters (shapes, constants).
    Expr(Term),
}

/// A function of a shared library.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The library's name as the system's loader finds it, or its path.
    pub library: String,
    /// The function's name in it.
    pub symbol: String,
    /// How integers below 32 bits are passed, where it takes any.
    pub narrow: Option<Extension>,
    /// May it be called? Neither a pack nor anything that is kept of an earlier run decides that.
    #[serde(skip)]
    pub allowed: bool,
}

/// How C passes an integer below 32 bits: as one of 32 bits, which depends on its sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Extension {
    /// `char` here, `short`.
    Signed,
    /// `unsigned char`, `bool`.
    Unsigned,
}

impl Extension {
    /// By its name in packs.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "signed" => Some(Extension::Signed),
            "unsigned" => Some(Extension::Unsigned),
            _ => None,
        }
    }
}

/// A declared operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Op {
    /// Name, shared by overloads: as declared, or `pack.name` where several packs declare a function of that name.
    pub name: String,
    /// Unique name: `name`, or `name` and a suffix for later overloads. Used in e-graphs and in the IR's text.
    pub unique: String,
    /// Pack that declares it.
    pub pack: String,
    /// Type parameters.
    pub tparams: Vec<TypeParam>,
    /// Value parameters.
    pub params: Vec<OpParam>,
    /// Result types: none, one, or several.
    pub results: Vec<TypeExpr>,
    /// Effects.
    pub effects: Effects,
    /// When it traps; empty iff `!effects.traps`.
    pub checks: Vec<TrapCheck>,
    /// Cost.
    pub cost: Cost,
    /// Another pack says the cost (`override`), which knows more of the machine and the data than the one that declares
    /// it.
    pub overridden: bool,
    /// Laws.
    pub laws: Laws,
    /// What it says of a loop.
    pub in_loop: Option<LoopRole>,
    /// `@model("phi")`: what a parameter of a block is where the arms of a branch meet. The second operand, unless the
    /// first is 0; then the third. For matching: nothing computes it.
    pub at_merges: bool,
    /// The state after it and its value, where it writes and gives one and has no other effect.
    pub parts: Option<Parts>,
    /// The operation that it is a part of. It has its name.
    pub part_of: Option<Part>,
    /// Primitive meaning (`@model(name)`).
    pub model: Option<Model>,
    /// Derived meaning (`spec expr`), over the parameters.
    pub spec: Option<Term>,
    /// Operator symbol (`as "+"`).
    pub symbol: Option<String>,
    /// `@clif("iadd")`: front or back end -> its spelling.
    pub names: BTreeMap<String, String>,
    /// A Rust function that the embedding program registers.
    pub host: bool,
    /// `@link("libm.so.6", "hypot")`: the symbol that is called to execute it.
    pub link: Option<Link>,
    /// Any use must imply conditions (`requires`), which the pack states.
    pub conditional: bool,
    /// What its result is known to be, an integer, of which it is not told how it is computed: the function of the
    /// input that is its body tells.
    #[serde(skip)]
    pub result: Option<Known>,
}

/// `@body("f")`: the function `%f` of the input is what an operation means. A key of [`Op::names`].
pub const BODY: &str = "body";

/// Front ends that call operations by names of their own, as attributes say it (`@llvm("@f")`). The keys of
/// [`Op::names`].
pub const FRONT_ENDS: [&str; 5] = [BODY, "clif", "intrinsic", "llvm", "mlir"];

impl Op {
    /// A statement at a site: what it does, or what it gives, depends on where it stands, so two executions are
    /// never one. A writer with results is one too: which of its executions gives a value is then as clear as what
    /// it leaves in memory.
    pub fn is_sited(&self) -> bool {
        let effects = &self.effects;
        let writes_with_results = !effects.writes.is_empty() && !self.results.is_empty();
        effects.io || effects.diverges || !effects.allocates.is_empty() || writes_with_results
    }

    /// Loads or stores.
    pub fn is_access(&self) -> bool {
        self.model.is_some_and(|model| model.memory().is_some())
    }

    /// Takes a state: that of its site, or else of the one region that it names.
    pub fn takes_state(&self) -> bool {
        self.is_sited() || self.effects.accesses_memory()
    }

    /// *Is* the state after it, as a node. The state that a statement at a site leaves is another operation's node, if
    /// any ([`Op::parts`]).
    pub fn gives_state(&self) -> bool {
        !self.effects.writes.is_empty() && !self.is_sited()
    }

    /// A pure operation over closed types, without a meaning, that costs 1. The table gives it its unique name.
    pub fn new(name: impl Into<String>, params: Vec<OpParam>, results: Vec<TypeExpr>) -> Op {
        Op {
            name: name.into(),
            unique: String::new(),
            pack: String::new(),
            tparams: vec![],
            params,
            results,
            effects: Effects::default(),
            checks: vec![],
            cost: Cost::Fixed(1),
            overridden: false,
            laws: Laws::default(),
            in_loop: None,
            at_merges: false,
            parts: None,
            part_of: None,
            model: None,
            spec: None,
            symbol: None,
            names: BTreeMap::new(),
            host: false,
            link: None,
            conditional: false,
            result: None,
        }
    }

    /// Does it only say what is looked at of its operand? Then it is no instruction: users of its result take the
    /// operand.
    pub fn is_copy(&self) -> bool {
        self.model == Some(Model::Truth)
    }

    /// Does it say what control makes of values? Then no instruction is that operation.
    pub fn is_of_control(&self) -> bool {
        self.in_loop.is_some() || self.at_merges
    }

    /// Is it for matching only, so that no instruction is that operation?
    pub fn is_for_matching(&self) -> bool {
        self.is_of_control() || self.part_of.is_some()
    }

    /// Is it the state after a call that gives a value, too? It stands for that call where a write may be executed.
    pub fn is_state_after(&self) -> bool {
        matches!(self.part_of, Some(Part::State(_)))
    }

    /// Are the state after it and its value functions of its operands and the state of one region? Then they have names
    /// in rules ([`Parts`]). An object that it allocates is fresh each time, and io depends on when it happens.
    pub fn is_divisible(&self) -> bool {
        let Effects { reads, writes, allocates, io, traps, diverges } = &self.effects;
        self.results.len() == 1
            && matches!(&writes[..], [region] if reads.iter().all(|read| read == region))
            && allocates.is_empty()
            && !(*io || *traps || *diverges)
            && self.part_of.is_none()
    }

    /// The operation that takes a recurrence from one iteration to the next, if it is one.
    pub fn recurrence(&self) -> Option<OpId> {
        match self.in_loop {
            Some(LoopRole::Recurrence(step)) => Some(step),
            Some(LoopRole::Theta | LoopRole::Leave | LoopRole::Around | LoopRole::Left | LoopRole::LeftLast) | None => {
                None
            }
        }
    }

    /// May it be computed on constants: by its model or its spec, by a Rust function, by a body in the input, or by
    /// a function of a shared library?
    pub fn has_meaning(&self) -> bool {
        self.model.is_some()
            || self.spec.is_some()
            || self.host
            || self.names.contains_key(BODY)
            || self.is_linked_value()
    }

    /// Is it a function of a shared library that only computes a result, from types that it names?
    pub fn is_linked_value(&self) -> bool {
        self.link.is_some() && self.effects.is_pure() && self.results.len() == 1 && self.tparams.is_empty()
    }

    /// Is it a function of a shared library that reads or changes memory, and of which nothing else is known?
    pub fn is_linked_effect(&self) -> bool {
        self.link.is_some() && self.spec.is_none() && self.effects.accesses_memory()
    }
}

/// All operations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OpTable {
    #[serde(with = "stored::map")]
    ops: IndexMap<String, Op>,
    #[serde(with = "stored::map")]
    overloads: IndexMap<String, Vec<OpId>>,
    /// What functions are called, by the names that they had before they were renamed.
    #[serde(with = "stored::map")]
    full: IndexMap<String, String>,
    /// Functions that are called `pack.name`, by their plain names.
    #[serde(with = "stored::map")]
    shared: IndexMap<String, Vec<String>>,
}

impl OpTable {
    /// Adds an operation and gives it its unique name.
    pub fn declare(&mut self, mut op: Op) -> OpId {
        let next = OpId(self.ops.len() as u32);
        op.unique = match op.part_of {
            Some(Part::State(whole)) => format!("{}:state", self.get(whole).unique),
            Some(Part::Value(whole)) => format!("{}:value", self.get(whole).unique),
            None => {
                let overloads = self.overloads.entry(op.name.clone()).or_default();
                overloads.push(next);
                match overloads.len() {
                    1 => op.name.clone(),
                    n => format!("{}.{}", op.name, n - 1),
                }
            }
        };
        let (index, previous) = self.ops.insert_full(op.unique.clone(), op);
        debug_assert!(previous.is_none() && index as u32 == next.0);
        next
    }

    /// Adds the two parts of an operation that is divisible. They cannot be found by name.
    pub fn declare_parts(&mut self, whole: OpId) {
        let op = self.get(whole);
        if !op.is_divisible() || op.parts.is_some() {
            return;
        }
        let part = |part: Part, results: Vec<TypeExpr>, effects: Effects| Op {
            pack: op.pack.clone(),
            tparams: op.tparams.clone(),
            effects,
            cost: op.cost.clone(),
            conditional: op.conditional,
            part_of: Some(part),
            ..Op::new(op.name.clone(), op.params.clone(), results)
        };
        let reads = Effects { reads: op.effects.writes.clone(), ..Effects::default() };
        let parts =
            [part(Part::State(whole), vec![], op.effects.clone()), part(Part::Value(whole), op.results.clone(), reads)];
        let [state, value] = parts.map(|part| self.declare(part));
        self.get_mut(whole).parts = Some(Parts { state, value });
    }

    /// The operation that rules mean by one: the whole, where it is a part.
    pub fn whole(&self, id: OpId) -> OpId {
        self.get(id).part_of.map_or(id, Part::whole)
    }

    /// The operation behind an id.
    pub fn get(&self, id: OpId) -> &Op {
        &self.ops[id.0 as usize]
    }

    /// For filling in terms that mention the operation itself or later ones.
    pub fn get_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.ops[id.0 as usize]
    }

    /// All operations, to be changed, in order of declaration.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Op> {
        self.ops.values_mut()
    }

    /// All overloads of a name, in order of declaration.
    pub fn overloads(&self, name: &str) -> &[OpId] {
        self.overloads.get(name).map_or(&[], Vec::as_slice)
    }

    /// All operations that a name may mean: the overloads of the function called so, now or in full (`pack.name`), and
    /// of those of packs that share it.
    pub fn alike(&self, name: &str) -> Vec<OpId> {
        let name = self.full.get(name).map_or(name, String::as_str);
        let shared = self.shared.get(name).into_iter().flatten().map(String::as_str);
        std::iter::once(name).chain(shared).flat_map(|name| self.overloads(name)).copied().collect()
    }

    /// Gives functions other names; ids and the order of overloads stay.
    pub fn rename(&mut self, name_of: impl Fn(&Op) -> String) {
        let ops = std::mem::take(&mut self.ops);
        self.overloads.clear();
        for mut op in ops.into_values() {
            let name = name_of(&op);
            let (plain, called) = (crate::names::plain(&name).to_string(), name.clone());
            if plain != called && !self.overloads.contains_key(&called) {
                self.shared.entry(plain).or_default().push(called);
            }
            self.full.insert(std::mem::replace(&mut op.name, name.clone()), name);
            self.declare(op);
        }
    }

    /// Makes overloads functions of their own, with other names; ids stay.
    pub fn set_apart(&mut self, names: &BTreeMap<OpId, String>) {
        let ops = std::mem::take(&mut self.ops);
        self.overloads.clear();
        for (index, mut op) in ops.into_values().enumerate() {
            if let Some(name) = names.get(&OpId(index as u32)) {
                op.name.clone_from(name);
            }
            self.declare(op);
        }
    }

    /// By unique name.
    pub fn by_unique(&self, unique: &str) -> Option<OpId> {
        self.ops.get_index_of(unique).map(|i| OpId(i as u32))
    }

    /// All operations in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (OpId, &Op)> {
        self.ops.values().enumerate().map(|(i, op)| (OpId(i as u32), op))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// True when nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}
