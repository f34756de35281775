//! What instructions without effects give.

use super::super::facts;
use super::super::meaning::Operation;
use super::{SymbolicExecutor, Terms, Value};
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Maker};

/// What an instruction gives.
pub(super) struct Computed {
    pub(super) lanes: Vec<Value>,
    /// When it is undefined.
    pub(super) undefined: Expr,
    /// Whether a NaN may be among its results, whose bits are open.
    pub(super) open: bool,
}

impl Computed {
    /// Something that is always defined.
    pub(super) fn plain(lanes: Vec<Value>) -> Computed {
        Computed { lanes, undefined: Expr::FALSE, open: false }
    }
}

impl<'a> SymbolicExecutor<'a> {
    pub(super) fn operands(&self, i: &'a Instruction) -> Vec<&'a Operand> {
        match &i.shape {
            Shape::Plain(operands) => operands.iter().collect(),
            Shape::Call { args, .. } => args.iter().collect(),
            Shape::Phi(values) => values.iter().map(|(operand, _)| operand).collect(),
            Shape::Offset { base, indices, .. } => [base].into_iter().chain(indices).collect(),
            _ => vec![],
        }
    }

    /// What an instruction without effects gives now.
    pub(super) fn computed(&mut self, i: &'a Instruction, at: usize) -> Terms<Computed> {
        self.left = self.left.checked_sub(1).ok_or("too many values that depend on `undef`")?;
        match &i.shape {
            Shape::Phi(_) if !i.flags.is_empty() && !self.choosing.is_first() => {
                Err(format!("`phi {}`", i.flags.join(" ")).into())
            }
            Shape::Phi(values) => self.phi(values, at).map(Computed::plain),
            Shape::Offset { base, source, indices } => {
                self.offset(i, base, source, indices).map(|value| Computed::plain(vec![value]))
            }
            Shape::Plain(operands) => {
                if i.metadata.iter().any(|(kind, _)| kind == "!fpmath") {
                    return Err("`!fpmath`".into());
                }
                if let Some(lane) = self.extracted_lane(i, operands)? {
                    return Ok(Computed::plain(vec![lane]));
                }
                let args = self.values(&i.opcode, operands)?;
                let mut computed = self.of_parts(i, operands, args)?;
                if let ("sext" | "zext", [narrow], [lane]) =
                    (i.opcode.as_str(), operands.as_slice(), computed.lanes.as_mut_slice())
                    && !self.is_loose(narrow)
                {
                    lane.bits = self.widened(narrow, i.opcode == "sext", lane.bits.width())?;
                }
                for lane in &mut computed.lanes {
                    let broken = self.breaks_metadata(i, lane.bits)?;
                    lane.poison = self.s.or(&[lane.poison, broken]);
                }
                Ok(computed)
            }
            Shape::Call { callee: Some(callee), args, bundles: false, .. } if callee.starts_with("@llvm.") => {
                let values = args.iter().map(|o| self.lanes(o)).collect::<Terms<Vec<Vec<Value>>>>()?;
                let mut computed = self.intrinsic(i, callee.trim_start_matches("@llvm."), args, &values)?;
                for lane in &mut computed.lanes {
                    let broken = facts::broken(self.s, &i.flags, lane.bits);
                    lane.poison = self.s.or(&[lane.poison, broken]);
                }
                Ok(computed)
            }
            Shape::Call { callee, .. } => {
                Err(format!("it calls {}", callee.as_deref().unwrap_or("what a pointer says")).into())
            }
            Shape::Alloca(_) => Err("it has a stack slot".into()),
            _ => Err(format!("`{}`", i.opcode).into()),
        }
    }

    fn phi(&mut self, values: &'a [(Operand, String)], at: usize) -> Terms<Vec<Value>> {
        let mut result: Option<Vec<Value>> = None;
        let before = self.uses.clone();
        for (from, when) in self.arrivals(at) {
            let from = &self.body.blocks[from].label;
            let Some((operand, _)) = values.iter().find(|(_, label)| label == from) else { continue };
            let value = self.alternative(&before, operand)?;
            result = Some(match result {
                None => value,
                Some(other) => self.choose_lanes(when, &value, &other),
            });
        }
        result.ok_or_else(|| "a value that comes from nowhere".into())
    }

    /// The same in each lane of a type; operands of one lane are the same for all.
    pub(super) fn by_lane(
        &mut self,
        i: &Instruction,
        args: &[Vec<Value>],
        one: impl Fn(Operation<'_>, &Type) -> Terms<super::super::meaning::Meaning>,
        from: &Type,
    ) -> Terms<Computed> {
        let types = self.scalars(&i.ty)?;
        let sources = self.scalars(from)?;
        let (mut lanes, mut undefined, mut open) = (vec![], vec![], false);
        for (n, ty) in types.iter().enumerate() {
            let own = |arg: &Vec<Value>| match arg.as_slice() {
                [all] => Some(*all),
                each => each.get(n).copied(),
            };
            let args: Vec<Value> = args.iter().map(own).collect::<Option<_>>().ok_or("lanes that are not there")?;
            let from = sources.get(n).or(sources.first()).unwrap_or(ty);
            let is_first = self.choosing.is_first();
            self.s.made_by(self.maker(i, n));
            let operation = Operation { s: self.s, flags: &i.flags, args: &args, ty, is_first };
            let meaning = one(operation, from);
            self.s.made_by(None);
            let mut meaning = meaning?;
            if *ty == Type::Ptr {
                meaning.value.origin = Some(self.origin(i, &args)?);
            }
            lanes.push(meaning.value);
            undefined.push(meaning.undefined);
            open |= meaning.open;
        }
        Ok(Computed { lanes, undefined: self.s.or(&undefined), open })
    }

    /// The maker of a lane of what an instruction computes.
    fn maker(&self, i: &Instruction, lane: usize) -> Option<Maker> {
        let name = i.result.as_deref()?;
        let (_, block) = self.made.get(name)?;
        Some(Maker { name: format!("{name}, lane {lane}"), block: *block })
    }

    /// Where control may come from, and when.
    pub(super) fn arrivals(&mut self, at: usize) -> Vec<(usize, Expr)> {
        let mut arrivals: Vec<(usize, Expr)> = vec![];
        for (from, _, when) in self.edges_into(at) {
            match arrivals.iter_mut().find(|(other, _)| *other == from) {
                Some((_, known)) => *known = self.s.or(&[*known, when]),
                None => arrivals.push((from, when)),
            }
        }
        arrivals
    }
}
