//! One run of a function: its frames, memory, and what others notice of it.

use super::behaviour::{Ending, Event};
use super::choice::{Chooser, Stop, undefined, unsupported};
use super::endless::{self, Now, Watch};
use super::memory::{Byte, Cells, MOST, Memory};
use super::program::Program;
use super::value::{Atom, Lane, Object, Pointer, Value};
use super::world::World;
use rewright_llvm::body::{Body, Instruction, Operand, Shape};
use rewright_llvm::module::Definition;
use rewright_llvm::types::Type;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// How deep functions of the module may call each other.
const MAX_DEPTH: u32 = 32;

/// The values of one call.
#[derive(Default)]
pub(super) struct Frame<'a> {
    pub(super) values: FxHashMap<&'a str, Value>,
}

/// A run.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program<'a>,
    pub(super) world: &'a World<'a>,
    pub(super) chooser: Chooser,
    pub(super) memory: Memory,
    pub(super) events: Vec<Event>,
    /// How often each function was called that may do different things at each call.
    pub(super) calls: BTreeMap<String, u32>,
    /// Objects that the caller can see, as they are read (`false`) and written.
    pub(super) accesses: Vec<(Object, bool)>,
    pub(super) depth: u32,
    /// Functions that have not returned.
    pub(super) stack: Vec<&'a str>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(program: &'a Program<'a>, world: &'a World<'a>, chooser: Chooser) -> Machine<'a> {
        Machine {
            program,
            world,
            chooser,
            memory: Memory::default(),
            events: vec![],
            calls: BTreeMap::new(),
            accesses: vec![],
            depth: 0,
            stack: vec![],
        }
    }

    /// Runs a function on the input, along the choices that come next.
    pub(super) fn run(&mut self, definition: &'a Definition) -> Result<Ending, Stop> {
        self.memory = Memory::default();
        self.events.clear();
        self.calls.clear();
        self.accesses.clear();
        self.depth = 0;
        self.stack.clear();
        self.set_up()?;
        if let Some(error) = self.world.unknown() {
            return Err(error.into());
        }
        let input = self.world.input;
        if definition.parameters.len() != input.arguments.len() {
            return unsupported(format!(
                "the input has {} arguments, {} takes {}",
                input.arguments.len(),
                definition.name,
                definition.parameters.len()
            ));
        }
        let mut arguments = vec![];
        for (parameter, datum) in definition.parameters.iter().zip(&input.arguments) {
            arguments.push(self.world.value(&self.program.layout, &parameter.ty, datum)?);
        }
        let result = match self.function(definition, arguments) {
            Err(Stop::Ends) => {
                let events = self.events.clone();
                return Ok(Ending { result: None, memory: BTreeMap::new(), events, stays: true });
            }
            result => result?,
        };
        let visible = |(object, cells): (&Object, &Cells)| {
            let shown = cells.visible && !cells.constant;
            shown.then(|| (*object, cells.bytes.clone()))
        };
        let memory = self.memory.objects.iter().filter_map(visible).collect();
        let result = result.map(|value| (definition.result.clone(), value));
        Ok(Ending { result, memory, events: self.events.clone(), stays: false })
    }

    /// Puts the blocks of the input and the globals of the module where they belong.
    fn set_up(&mut self) -> Result<(), Stop> {
        for (n, block) in (0u32..).zip(&self.world.input.memory) {
            if !block.align.is_power_of_two() || block.align > 1 << 20 {
                return unsupported(format!("the alignment {} of block {n} of the input", block.align));
            }
            let bytes = self.world.bytes(&block.bytes)?;
            if bytes.len() as u64 > MOST {
                return unsupported(format!("block {n} of the input has more than {MOST} bytes"));
            }
            let mut cells = Cells::new(bytes, block.align);
            cells.address = Some(((u64::from(n) + 1) << 32) + block.align);
            self.memory.objects.insert(Object::Block(n), cells);
        }
        for (name, global) in &self.program.globals {
            // One that is not modelled has no object: an access to it is reported.
            let Some(object) = self.world.object(name) else { continue };
            if global.open.is_some() || self.world.differs(name) {
                continue;
            }
            let layout = &self.program.layout;
            let (Ok(size), Ok(natural)) = (layout.size(&global.ty), layout.alignment(&global.ty)) else { continue };
            if size > MOST {
                continue;
            }
            let align = if global.align == 0 { natural } else { global.align };
            let mut cells = Cells::new(vec![Byte::ZERO; size as usize], align);
            let Object::Global(n) = object else { continue };
            cells.address = Some((0x7000 << 32) + (u64::from(n) << 24) + align);
            cells.visible = global.visible;
            self.memory.objects.insert(object, cells);
        }
        for (name, global) in &self.program.globals {
            self.fill(name, global.initial.as_deref(), &global.ty)?;
        }
        for (name, global) in &self.program.globals {
            if let Some(cells) = self.world.object(name).and_then(|object| self.memory.objects.get_mut(&object)) {
                cells.constant = global.constant;
                cells.used = [false, false];
            }
        }
        self.memory.escaped.clear();
        self.accesses.clear();
        Ok(())
    }

    /// Gives a global its contents: those of the input, or those that the module gives it.
    fn fill(&mut self, name: &str, initial: Option<&str>, ty: &Type) -> Result<(), Stop> {
        let Some(object) = self.world.object(name) else { return Ok(()) };
        if !self.memory.objects.contains_key(&object) {
            return Ok(());
        }
        let given = self.world.input.globals.get(name).filter(|_| !self.program.globals[name].constant);
        if let Some(bytes) = given {
            let bytes = self.world.bytes(bytes)?;
            if let Some(cells) = self.memory.objects.get_mut(&object) {
                if bytes.len() > cells.bytes.len() {
                    return unsupported(format!("the input has more bytes for {name} than there are"));
                }
                cells.bytes[..bytes.len()].copy_from_slice(&bytes);
            }
            return Ok(());
        }
        let Some(text) = initial else { return Ok(()) };
        let filled = self.constant(ty, text).and_then(|value| {
            let pointer = Pointer { object, offset: 0 };
            self.store_value(ty, &value, pointer, 1, None)
        });
        if filled.is_err() {
            // An access to it is reported as not modelled.
            self.memory.objects.remove(&object);
        }
        Ok(())
    }

    /// Calls a function of the module.
    pub(super) fn function(
        &mut self,
        definition: &'a Definition,
        arguments: Vec<Value>,
    ) -> Result<Option<Value>, Stop> {
        let Some((_, body)) = self.program.functions.get(definition.name.as_str()) else {
            return unsupported(format!("{} has no body", definition.name));
        };
        let body = body.as_ref().map_err(Clone::clone)?;
        if self.depth >= MAX_DEPTH {
            return unsupported("functions call each other too deeply");
        }
        self.depth += 1;
        let entered = self.enter(definition, arguments)?;
        self.stack.push(&definition.name);
        let mut frame = Frame::default();
        let names = definition.parameters.iter().map(|parameter| parameter.name.as_str());
        frame.values = names.zip(entered.arguments.iter().cloned()).collect();
        let result = match self.blocks(definition, body, &mut frame) {
            Err(Stop::Ends) => return Err(self.stays(definition, &entered)),
            result => result?,
        };
        let result = self.leave(definition, &entered, result)?;
        self.stack.pop();
        self.depth -= 1;
        Ok(result)
    }

    fn blocks(
        &mut self,
        definition: &Definition,
        body: &'a Body,
        frame: &mut Frame<'a>,
    ) -> Result<Option<Value>, Stop> {
        let index: FxHashMap<&str, usize> = body.blocks.iter().map(|b| b.label.as_str()).zip(0..).collect();
        let (mut at, mut from) = (0, "");
        let mut watch = Watch::default();
        loop {
            let block = &body.blocks[at];
            self.phis(&block.instructions, frame, from)?;
            // Of callees, what the calls that lead to them promise is not looked at.
            if self.depth == 1 && watch.comes_back(&self.now(frame, at)) {
                return Err(endless::ends(self.chooser.side, self.program.file, definition, body));
            }
            let mut next = None;
            for instruction in &block.instructions {
                self.chooser.step()?;
                match &instruction.shape {
                    Shape::Phi(_) => {}
                    Shape::Jump(label) => next = Some(label.as_str()),
                    Shape::Branch(condition, labels) => {
                        let cases = [(1, labels[0].as_str()), (0, labels[1].as_str())];
                        next = Some(self.branch(frame, instruction, condition, &cases, None)?);
                    }
                    Shape::Switch(value, default, cases) => {
                        let width = self.width(&value.ty)?;
                        let mut read = vec![];
                        for (text, label) in cases {
                            match self.constant(&value.ty, text)? {
                                Value::Scalar(Lane::One(Atom::Int(bits))) => read.push((bits, label.as_str())),
                                _ => return unsupported(format!("a switch over {text} of {width} bits")),
                            }
                        }
                        next = Some(self.branch(frame, instruction, value, &read, Some(default))?);
                    }
                    Shape::Return(None) => return Ok(None),
                    Shape::Return(Some(value)) => return self.operand(frame, value).map(Some),
                    Shape::Unreachable => return undefined("it reaches `unreachable`"),
                    _ => {
                        let value = self.instruction(frame, instruction)?;
                        if let (Some(name), Some(value)) = (&instruction.result, value) {
                            frame.values.insert(name, value);
                        }
                    }
                }
            }
            let Some(label) = next else { return unsupported(format!("{} has no end", block.label)) };
            from = &block.label;
            let Some(block) = index.get(label) else { return unsupported(format!("there is no block {label}")) };
            at = *block;
        }
    }

    fn now<'r>(&'r self, frame: &'r Frame<'a>, block: usize) -> Now<'r, 'a> {
        Now {
            block,
            values: &frame.values,
            memory: &self.memory,
            calls: &self.calls,
            events: self.events.len(),
            choices: self.chooser.choices(),
        }
    }

    /// All of them see what was there before any of them.
    fn phis(&mut self, instructions: &'a [Instruction], frame: &mut Frame<'a>, from: &str) -> Result<(), Stop> {
        let mut arriving = vec![];
        for instruction in instructions {
            let Shape::Phi(incoming) = &instruction.shape else { continue };
            let Some((operand, _)) = incoming.iter().find(|(_, label)| label == from) else {
                return unsupported(format!("a `phi` without a value from {from}"));
            };
            let value = self.operand(frame, operand)?;
            let value = self.passed_on(instruction, &operand.ty, value)?;
            if let Some(name) = &instruction.result {
                arriving.push((name.as_str(), value));
            }
        }
        frame.values.extend(arriving);
        Ok(())
    }

    /// Where a branch goes: to the case of its value, or to the default.
    fn branch<'t>(
        &mut self,
        frame: &Frame<'a>,
        instruction: &Instruction,
        operand: &Operand,
        cases: &[(u128, &'t str)],
        default: Option<&'t str>,
    ) -> Result<&'t str, Stop> {
        self.metadata_is_harmless(instruction)?;
        let value = self.operand(frame, operand)?;
        let Some(lane) = value.scalar() else { return unsupported("a branch on a vector") };
        let to = |bits: u128| cases.iter().find(|(case, _)| *case == bits).map(|(_, label)| *label).or(default);
        let bits = match lane {
            Lane::One(Atom::Int(bits)) => *bits,
            Lane::One(Atom::Poison) => return undefined("it branches on poison"),
            Lane::Undef { .. } => return undefined("it branches on `undef`"),
            Lane::Few(atoms) => {
                if atoms.contains(&Atom::Poison) {
                    return undefined("it branches on poison");
                }
                self.chooser.perhaps_undefined("it branches on what may be `undef`")?;
                match atoms[self.chooser.choose(atoms.len())] {
                    Atom::Int(bits) => bits,
                    _ => return unsupported("a branch on a pointer"),
                }
            }
            lane if lane.is_loose() => return undefined("it may branch on `undef`"),
            _ => {
                let labels: Vec<&str> = cases.iter().map(|(_, label)| *label).chain(default).collect();
                return Ok(labels[self.chooser.choose(labels.len())]);
            }
        };
        to(bits).ok_or_else(|| Stop::Unsupported("a branch that leads nowhere".into()))
    }

    /// What a use of an operand sees.
    pub(super) fn operand(&mut self, frame: &Frame<'a>, operand: &Operand) -> Result<Value, Stop> {
        if operand.is_local() {
            return match frame.values.get(operand.text.as_str()) {
                Some(value) => Ok(value.clone()),
                None => unsupported(format!("{} is used before it is there", operand.text)),
            };
        }
        self.constant(&operand.ty, &operand.text)
    }

    /// Bits of a scalar type.
    pub(super) fn width(&self, ty: &Type) -> Result<u32, Stop> {
        self.program.layout.width(ty).map_err(Stop::from)
    }
}
