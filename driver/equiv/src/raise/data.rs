//! What the prover does not look into: operations on what is in memory.

use super::scalar::Val;
use super::{Found, NO_LINE, NoNest, PARTIAL, Raiser, type_name};
use rewright_cfg_skeleton::ir::{Definition, InstId, InstKind, Value};
use rewright_cfg_skeleton::nest::value::{Constant, Number, Operation, Value as Node, may_trap, may_trap_on};
use rewright_cfg_skeleton::nest::{Affine, Item, ValueId};
use rewright_typeprop::{Model, Scalar};

/// Promises that make poison and change nothing else. Others say that a value is one of several.
const POISONING: [&str; 6] = ["nsw", "nuw", "exact", "disjoint", "nneg", PARTIAL];

/// Operations whose result their operands do not determine, as declarations are called that say so.
const LOOSE: [&str; 1] = ["fmuladd"];

impl Raiser<'_> {
    /// A value as one of the pool.
    pub(super) fn data(&mut self, value: Value) -> Found<ValueId> {
        let scalar = self.scalar(value);
        if let Some(Val::Provided(needs, ..)) = self.env[value.index()].clone()
            && !self.is_met(&needs)
        {
            return self.computed(value);
        }
        match self.val(value)? {
            Val::Data(data) => Ok(data),
            Val::Int(e, _) => Ok(self.index(&e, scalar?)),
            Val::Pointer(_) => Err("an address is more than what memory is accessed at".into()),
            Val::Test(_) | Val::Modular(_) | Val::Least(..) | Val::Provided(..) => self.computed(value),
        }
    }

    /// A value that is no number, as what its instruction computes.
    fn computed(&mut self, value: Value) -> Found<ValueId> {
        match self.definition[value.index()] {
            Some(Definition::Result(_, inst, _)) if matches!(self.function.inst(inst).kind, InstKind::Op { .. }) => {
                self.data_operation(inst)
            }
            _ => Err("a loop carries a comparison, or an integer that may wrap".into()),
        }
    }

    /// Notes that an operation is executed here, if it is undefined of some operands.
    pub(super) fn may_be_undefined(&mut self, value: ValueId, items: &mut Vec<Item>) -> Found<()> {
        let Node::Op(op) = self.pool.get(value) else { return Ok(()) };
        if !may_trap_on(self.pool, &op.name, &op.operands) {
            return Ok(());
        }
        if !self.source.traps_are_undefined() {
            return Err("a division that may trap".into());
        }
        items.push(Item::Trap(value, NO_LINE));
        Ok(())
    }

    /// The integer as data.
    fn index(&mut self, e: &Affine, scalar: Scalar) -> ValueId {
        if let Some(n) = e.as_constant() {
            return self.constant(scalar, n as i64);
        }
        let index = self.pool.add(Node::Index(e.clone()));
        let (name, from) = ("arith.index_cast".to_string(), "index".to_string());
        let ty = type_name(scalar).to_string();
        self.pool.add(Node::Op(Operation { name, flags: vec![], from, ty, operands: vec![index] }))
    }

    /// A constant in canonical form.
    pub(super) fn constant(&mut self, scalar: Scalar, n: i64) -> ValueId {
        let bits = u128::from(scalar.zero_extended(n));
        self.pool.add(Node::Constant(Constant { ty: type_name(scalar).to_string(), number: Number::Bits(bits) }))
    }

    /// An operation on data.
    pub(super) fn data_operation(&mut self, id: InstId) -> Found<ValueId> {
        let inst = self.function.inst(id);
        let InstKind::Op { op, targs, .. } = &inst.kind else {
            return Err("an instruction that is no operation".into());
        };
        let info = self.universe.ops.get(*op);
        // Where a division is executed is said of it ([`Self::may_be_undefined`]).
        let divides = info.model.and_then(name_of).is_some_and(may_trap);
        if !(info.effects.is_pure() || divides) || info.is_sited() {
            return Err(NoNest(format!("`{}` may trap, or has effects", info.name)));
        }
        if LOOSE.iter().any(|name| info.name == *name || info.name.ends_with(&format!(".{name}"))) {
            self.loose.push(info.name.clone());
        }
        let [result] = inst.results[..] else { return Err("an operation with several results".into()) };
        let mut flags = self.source.promises(id);
        if let Some(flag) = flags.iter().find(|flag| !POISONING.contains(&flag.as_str())) {
            return Err(NoNest(format!("`{flag}` allows several results")));
        }
        flags.sort();
        let args: Vec<Value> = inst.args.to_vec();
        let operands = args.iter().map(|arg| self.data(*arg)).collect::<Found<Vec<ValueId>>>()?;
        let ty = type_name(self.scalar(result)?).to_string();
        let from = match args.last() {
            Some(arg) => type_name(self.scalar(*arg)?).to_string(),
            None => ty.clone(),
        };
        // Of conditions that are 0 or 1.
        let is_choice = |condition: &ValueId| match self.pool.get(*condition) {
            Node::Op(op) => op.name.starts_with("arith.cmp"),
            _ => false,
        };
        let choice = (info.model == Some(Model::Select)).then(|| operands.first().filter(|c| is_choice(c))).flatten();
        let name = match info.model.and_then(name_of).or(choice.map(|_| "arith.select")) {
            Some(name) => name.to_string(),
            None => {
                let types: Vec<String> = targs.iter().map(|ty| self.universe.types.display(*ty)).collect();
                format!("{}<{}>", info.unique, types.join(","))
            }
        };
        Ok(self.pool.add(Node::Op(Operation { name, flags, from, ty, operands })))
    }
}

/// What runs of nests call an operation that means the same there for all operands.
fn name_of(model: Model) -> Option<&'static str> {
    Some(match model {
        Model::Add => "arith.addi",
        Model::Sub => "arith.subi",
        Model::Mul => "arith.muli",
        Model::Udiv => "arith.divui",
        Model::Sdiv => "arith.divsi",
        Model::Urem => "arith.remui",
        Model::Srem => "arith.remsi",
        Model::And => "arith.andi",
        Model::Or => "arith.ori",
        Model::Xor => "arith.xori",
        Model::Smin => "arith.minsi",
        Model::Smax => "arith.maxsi",
        Model::Umin => "arith.minui",
        Model::Umax => "arith.maxui",
        Model::Sext => "arith.extsi",
        Model::Zext => "arith.extui",
        Model::Trunc => "arith.trunci",
        Model::Eq => "arith.cmpi.eq",
        Model::Ne => "arith.cmpi.ne",
        Model::Slt => "arith.cmpi.slt",
        Model::Sle => "arith.cmpi.sle",
        Model::Sgt => "arith.cmpi.sgt",
        Model::Sge => "arith.cmpi.sge",
        Model::Ult => "arith.cmpi.ult",
        Model::Ule => "arith.cmpi.ule",
        Model::Ugt => "arith.cmpi.ugt",
        Model::Uge => "arith.cmpi.uge",
        Model::Fadd => "arith.addf",
        Model::Fsub => "arith.subf",
        Model::Fmul => "arith.mulf",
        Model::Fdiv => "arith.divf",
        Model::Fneg => "arith.negf",
        Model::Fabs => "math.absf",
        Model::Sqrt => "math.sqrt",
        Model::Fpromote => "arith.extf",
        Model::Fdemote => "arith.truncf",
        Model::FcvtFromSint => "arith.sitofp",
        Model::FcvtFromUint => "arith.uitofp",
        Model::Fmin => "arith.minimumf",
        Model::Fmax => "arith.maximumf",
        Model::Fcopysign => "math.copysign",
        Model::Fma => "math.fma",
        Model::Fceil => "math.ceil",
        Model::Ffloor => "math.floor",
        Model::Ftrunc => "math.trunc",
        Model::Fnearest => "math.roundeven",
        Model::Bitcast => "arith.bitcast",
        Model::FcmpEq => "arith.cmpf.oeq",
        Model::FcmpNe => "arith.cmpf.une",
        Model::FcmpLt => "arith.cmpf.olt",
        Model::FcmpLe => "arith.cmpf.ole",
        Model::FcmpGt => "arith.cmpf.ogt",
        Model::FcmpGe => "arith.cmpf.oge",
        Model::FcmpOrd => "arith.cmpf.ord",
        Model::FcmpUno => "arith.cmpf.uno",
        Model::FcmpUeq => "arith.cmpf.ueq",
        Model::FcmpOne => "arith.cmpf.one",
        Model::FcmpUlt => "arith.cmpf.ult",
        Model::FcmpUle => "arith.cmpf.ule",
        Model::FcmpUgt => "arith.cmpf.ugt",
        Model::FcmpUge => "arith.cmpf.uge",
        _ => return None,
    })
}
