//! Functions of LLVM IR as nests: what the text promises beside the imported function.

use super::{Licence, Shown, Subject, decide};
use crate::annotations::table::{AnnotationTarget, Runs, runs};
use crate::annotations::{essence, has, number, parts};
use crate::memory_blocks::{BlockOperation, MemoryBlock};
use crate::metadata::Nodes;
use crate::modules::Version;
use crate::promises::Promises;
use crate::raise::{Accessed, Block as RaisedBlock, BlockOperand, PARTIAL, Source};
use crate::replay::{Block, Bytes, Cell, Datum, Input, InputAddress, Scalar};
use crate::replayed::replayed;
use crate::{Config, Files, Seen, headers};
use rewright_cfg_skeleton::ir::{InstId, Value};
use rewright_cfg_skeleton::nest::arguments::Argument;
use rewright_cfg_skeleton::verdict::Evidence;
use rewright_llvm::body::{Instruction, MemoryAccess, Operand, Shape};
use rewright_llvm::import::{Imported, Source as Origin};
use rewright_llvm::layout::alignment_of;
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_llvm::types::Type;
use rewright_llvm::{constants, effects};
use rewright_typeprop::Universe;

/// Words before a call that say nothing of its result.
const OF_CALLS: [&str; 3] = ["tail", "notail", "musttail"];

/// How promises of types begin.
const OF_TYPES: &str = "!tbaa(";

/// Blocks are aligned as types need it.
const ALIGNED: u64 = 16;

/// How those of alignments do.
const ALIGN: &str = "align ";

/// Compares pairs of two files of which nothing is decided yet, where loops are in both.
pub(crate) fn compare(
    llvm: &LlvmOptimiser,
    files: &Files<'_>,
    config: &Config,
    evidence: &mut [Evidence],
) -> Vec<Seen> {
    let is_open = |pair: &usize| evidence[*pair].proved.is_none() && evidence[*pair].refuted.is_none();
    let open: Vec<usize> = (0..files.pairs.len()).filter(is_open).collect();
    let mut all: Vec<Seen> = files.pairs.iter().map(|_| Seen::default()).collect();
    for (pair, found) in each(llvm, files, &open, &mut |_, versions, licence| Ok(decide(versions, licence))) {
        match found {
            Err(reason) | Ok(Shown::Nothing(reason)) => {
                all[pair].not_compared(&reason);
                Shown::Nothing(reason).note(&mut evidence[pair], &mut |_| None);
            }
            Ok(shown) => {
                all[pair].runs += 1;
                let versions = files.versions(pair);
                let replay =
                    &mut |arguments: &[Argument]| replayed(versions, &input(versions[0], arguments), config).ok();
                shown.note(&mut evidence[pair], replay);
            }
        }
    }
    all
}

/// Arguments as an input: each array is a block, which ends where the array does.
fn input(version: Version<'_>, arguments: &[Argument]) -> Input {
    let mut memory = vec![];
    // Globals are what the module says.
    let own = version.definition.parameters.iter().zip(arguments);
    let datum = own.map(|(parameter, argument)| match argument {
        Argument::Elements { first, bytes, elements } => {
            let cells = elements.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(*bytes).map(Cell::Byte));
            memory.push(Block { align: ALIGNED, bytes: Bytes(cells.collect()) });
            let address = InputAddress::Block(memory.len() as u32 - 1, -first * *bytes as i64);
            Datum::Scalar(Scalar::Pointer(address))
        }
        Argument::Bits(bits) => {
            let mask = match parameter.ty {
                Type::Int(width @ 1..=128) => u128::MAX >> (128 - width),
                _ => u128::MAX,
            };
            Datum::Scalar(Scalar::Bits(bits & mask))
        }
    });
    let arguments = datum.collect();
    Input { arguments, memory, ..Input::default() }
}

/// A question about a pair and its versions.
type Asked<'a, T> = dyn FnMut(usize, [Subject<'_>; 2], &dyn Licence) -> Result<T, String> + 'a;

/// Asks something of some pairs of two files; else why they cannot be compared.
pub(crate) fn each<T>(
    llvm: &LlvmOptimiser,
    files: &Files<'_>,
    pairs: &[usize],
    ask: &mut Asked<'_, T>,
) -> Vec<(usize, Result<T, String>)> {
    let (old, universe) = llvm.import(files.before, |i| pairs.iter().any(|pair| files.pairs[*pair].0 == i));
    let (new, universe_after) = llvm.import(files.after, |j| pairs.iter().any(|pair| files.pairs[*pair].1 == j));
    let mut one = |pair: usize| {
        let (i, j) = files.pairs[pair];
        let (before, after) = match (&old[i], &new[j]) {
            (Some(Ok(before)), Some(Ok(after))) => (before, after),
            (Some(Err(reason)), _) | (_, Some(Err(reason))) => return Err(reason.to_string()),
            _ => return Err("it is not read".into()),
        };
        let versions = files.versions(pair);
        let [first, second] = [Text::new(versions[0], before), Text::new(versions[1], after)];
        first.with(&second, [&universe, &universe_after], |versions, licence| ask(pair, versions, licence))
    };
    pairs.iter().map(|pair| (*pair, one(*pair))).collect()
}

/// A version and its text.
struct Text<'a> {
    version: Version<'a>,
    imported: &'a Imported,
    nodes: Nodes<'a>,
}

impl<'a> Text<'a> {
    fn new(version: Version<'a>, imported: &'a Imported) -> Self {
        Text { version, imported, nodes: Nodes::new(version.file()) }
    }

    fn with<T>(
        &self,
        after: &Text<'_>,
        universes: [&Universe; 2],
        ask: impl FnOnce([Subject<'_>; 2], &dyn Licence) -> Result<T, String>,
    ) -> Result<T, String> {
        headers::compare(self.version, after.version, Some(&after.imported.body))
            .and_then(|()| headers::of_values(self.version, after.version))
            .map_err(|reason| reason.to_string())?;
        if !Promises::new(after.version, &after.imported.body).accesses_are_allowed() {
            return Err("the second version may access memory that it says it does not access".into());
        }
        if self.imported.payloads.leaves != after.imported.payloads.leaves {
            return Err("versions mention other globals or constants".into());
        }
        if let Some(reason) = [self, after].into_iter().find_map(Text::out_of_scope) {
            return Err(reason.into());
        }
        let [before, universe_after] = universes;
        let subjects = [
            Subject { function: &self.imported.function, universe: before, source: self },
            Subject { function: &after.imported.function, universe: universe_after, source: after },
        ];
        ask(subjects, &Promised { first: self, second: after })
    }

    /// What the imported function does not tell.
    fn out_of_scope(&self) -> Option<&'static str> {
        let payloads = &self.imported.payloads;
        if payloads.leaves.iter().any(|leaf| leaf.ty != Type::Ptr || !leaf.text.starts_with('@')) {
            return Some("a constant that is no number");
        }
        if payloads.leaves.iter().any(|leaf| self.version.module.is_alias(&leaf.text)) {
            return Some("an alias, which lies where another global does");
        }
        if !payloads.narrowed.is_empty() || !payloads.structures.is_empty() {
            return Some("a call");
        }
        let mut all = self.imported.body.blocks.iter().flat_map(|block| &block.instructions);
        all.find_map(|i| match &i.shape {
            Shape::Phi(_) if !i.flags.is_empty() => Some("a phi with flags"),
            // It chooses a value for what has none.
            _ if i.opcode == "freeze" => Some("a freeze"),
            shape if shape.is_terminator() && !self.promises_of(i).is_empty() => {
                Some("metadata of a branch that promises something")
            }
            _ => None,
        })
    }

    /// What metadata of an instruction promise, types of accesses (`!tbaa`) among them.
    fn promises_of(&self, i: &Instruction) -> Vec<String> {
        let mut written: Vec<String> = vec![];
        for (kind, node) in &i.metadata {
            if kind == "!llvm.loop" {
                let promises = self.nodes.loop_promises(node);
                written.extend(promises.into_iter().filter(|p| !p.contains(crate::metadata::MUST_PROGRESS)));
            } else {
                written.push(format!("{kind} {}", self.nodes.whole(node)));
            }
        }
        essence(AnnotationTarget::Metadata, &written)
    }

    fn instruction(&self, inst: InstId) -> Option<(&Instruction, bool)> {
        let source = self.imported.payloads.sources.get(inst.index())?;
        let (block, at) = source.position()?;
        let is_whole = matches!(source, Origin::Instruction(_));
        Some((&self.imported.body.blocks[block].instructions[at], is_whole))
    }

    /// What an access says of its address; of an element of a block, what the block says of its first one.
    fn alignment(&self, access: &Accessed) -> Option<u64> {
        let (i, _) = self.instruction(access.inst)?;
        if let Some(block) = MemoryBlock::of(i) {
            return Some(number(&block.promises[usize::from(!access.is_store)], "align").unwrap_or(1));
        }
        let (access, ty): (MemoryAccess, &Type) = match &i.shape {
            Shape::Load(_, access) => (*access, &i.ty),
            Shape::Store(value, _, access) => (*access, &value.ty),
            _ => return None,
        };
        alignment_of(access, ty, self.version.file())
    }
}

impl Text<'_> {
    /// What a block is of, and what its operands promise.
    fn operands(&self, block: &MemoryBlock<'_>, i: &Instruction) -> Result<RaisedBlock, String> {
        let Shape::Call { attributes: own, .. } = &i.shape else { return Err("a call".into()) };
        let [own, _] = effects::attributes(self.version.file(), None, own);
        if let Some(attribute) = own.iter().find(|a| runs(AnnotationTarget::Function, a) != Runs::Ignore) {
            return Err(format!("a call that promises `{attribute}`"));
        }
        let value = |o: &Operand| self.imported.payloads.locals.get(&o.text).copied().or_else(|| self.leaf(o));
        let operand = |o: &Operand| match value(o) {
            Some(value) => Ok(BlockOperand::Value(value)),
            None => match constants::read(&o.ty, &o.text) {
                Some(bits) if o.ty == Type::Int(32) => Ok(BlockOperand::Number((bits as u32).into())),
                Some(bits) => Ok(BlockOperand::Number(bits as i64)),
                None => Err(format!("a block of memory with the operand `{}`", o.text)),
            },
        };
        let to = value(block.to).ok_or_else(|| format!("a block of memory at `{}`", block.to.text))?;
        let (from, length) = (operand(block.from)?, operand(block.length)?);
        let mut least = 0;
        for (n, promise) in block.promises.iter().enumerate().flat_map(|(n, all)| all.iter().map(move |a| (n, a))) {
            let is_address = n == 0 || (n == 1 && block.operation != BlockOperation::Set);
            let is_constant = n > 0 && !is_address && matches!([from, length][n.min(2) - 1], BlockOperand::Number(_));
            // An address at which something is accessed is neither poison nor null, and an object is there.
            least = least.max(match parts(promise) {
                ("immarg" | "align" | "nocapture" | "captures" | "writeonly" | "readonly", _) => 0,
                // That a length is poison is undefined.
                ("noundef", _) if is_constant || n == 2 => 0,
                ("noundef", _) if is_address => 1,
                ("nonnull", _) if is_address && !self.null_is_valid() => 1,
                ("dereferenceable" | "dereferenceable_or_null", bytes) if is_address => {
                    bytes.parse().map_err(|_| format!("a block of memory that promises `{promise}`"))?
                }
                _ => return Err(format!("a block of memory that promises `{promise}`")),
            });
        }
        Ok(RaisedBlock { operation: block.operation, to, from, length, least })
    }

    /// A global or another operand that the imported function has as a parameter.
    fn leaf(&self, operand: &Operand) -> Option<Value> {
        let at = self.imported.payloads.leaves.iter().position(|leaf| leaf == operand)?;
        let function = &self.imported.function;
        function.block(function.entry()).params.get(self.version.definition.parameters.len() + at).copied()
    }

    fn null_is_valid(&self) -> bool {
        has(&self.version.definition.attributes, "null_pointer_is_valid")
    }
}

/// Whether an instruction is poison for some operands that are not, without a flag: it is imported as the total operation
/// that agrees with it for all others.
fn is_partial(i: &Instruction) -> bool {
    const TOTAL_IF_FALSE: [&str; 3] = ["@llvm.abs.", "@llvm.ctlz.", "@llvm.cttz."];
    match &i.shape {
        Shape::Call { callee: Some(callee), args, .. } => {
            let is_total = args.last().is_some_and(|flag| flag.text == "false");
            TOTAL_IF_FALSE.iter().any(|name| callee.starts_with(name)) && !is_total
        }
        _ => ["fptosi", "fptoui"].contains(&i.opcode.as_str()),
    }
}

impl Source for Text<'_> {
    fn promises(&self, inst: InstId) -> Vec<String> {
        let Some((i, is_whole)) = self.instruction(inst) else { return vec![] };
        let function = &self.imported.function;
        let is_partial = is_partial(i).then(|| PARTIAL.to_string());
        // Parts of an address that are numbers are promised nothing.
        if !is_whole && !function.inst(inst).results.iter().any(|value| self.is_address(*value)) {
            return is_partial.into_iter().collect();
        }
        let mut promises: Vec<String> =
            i.flags.iter().filter(|flag| !OF_CALLS.contains(&flag.as_str())).cloned().collect();
        if let Shape::Call { promises: arguments, .. } = &i.shape {
            promises.extend(arguments.iter().flatten().filter(|a| *a != "immarg").cloned());
        }
        if !matches!(i.shape, Shape::Load(..) | Shape::Store(..)) {
            promises.extend(self.promises_of(i));
        }
        promises.extend(is_partial);
        promises
    }

    fn address(&self, inst: InstId) -> Option<Value> {
        let (i, _) = self.instruction(inst)?;
        let (Shape::Load(address, _) | Shape::Store(_, address, _)) = &i.shape else { return None };
        self.imported.payloads.locals.get(&address.text).copied()
    }

    fn block(&self, inst: InstId) -> Option<Result<RaisedBlock, String>> {
        let (i, _) = self.instruction(inst)?;
        MemoryBlock::of(i).map(|block| self.operands(&block, i))
    }

    fn is_address(&self, value: Value) -> bool {
        self.imported.payloads.types.get(value.index()) == Some(&Type::Ptr)
    }

    fn name(&self, parameter: usize) -> String {
        let parameters = &self.version.definition.parameters;
        match parameters.get(parameter) {
            Some(parameter) => parameter.name.clone(),
            None => self.imported.payloads.leaves[parameter - parameters.len()].text.clone(),
        }
    }

    fn may_be_poison(&self, parameter: usize) -> bool {
        let found = self.version.definition.parameters.get(parameter);
        found.is_some_and(|parameter| !parameter.attributes.iter().any(|a| a == "noundef"))
    }

    fn traps_are_undefined(&self) -> bool {
        true
    }
}

/// What the first version says, and the second one promises.
struct Promised<'a> {
    first: &'a Text<'a>,
    second: &'a Text<'a>,
}

impl Licence for Promised<'_> {
    fn is_apart(&self, parameter: u32) -> bool {
        let found = self.first.version.definition.parameters.get(parameter as usize);
        found.is_some_and(|parameter| parameter.attributes.iter().any(|a| a == "noalias"))
    }

    fn has_poison(&self) -> bool {
        true
    }

    fn promises(&self, access: &Accessed) -> Result<Vec<String>, String> {
        let (i, _) = self.second.instruction(access.inst).ok_or("an access without text")?;
        let mut promises = self.second.promises_of(i);
        // Of a value that is read, the first version may say it at another time only.
        if let Some(other) = promises.iter().find(|promise| !promise.starts_with(OF_TYPES)) {
            return Err(format!("the second version promises `{other}` of an access"));
        }
        let align = self.second.alignment(access).ok_or("an alignment that is not known")?;
        promises.push(format!("{ALIGN}{align}"));
        Ok(promises)
    }

    fn keeps(&self, access: &Accessed, promise: &str) -> bool {
        if let Some(align) = promise.strip_prefix(ALIGN) {
            let least = align.parse().unwrap_or(u64::MAX);
            // An element of a block need not be aligned as its first one is.
            let of_element = access.element_of_block.unwrap_or(u64::MAX);
            return least == 1 || self.first.alignment(access).is_some_and(|align| align.min(of_element) >= least);
        }
        self.first.instruction(access.inst).is_some_and(|(i, _)| self.first.promises_of(i).iter().any(|p| p == promise))
    }
}
