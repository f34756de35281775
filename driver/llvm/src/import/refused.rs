//! Calls of C functions that packs declare, and that their declarations do not take: why, where that is asked for.

use super::{Importer, InstPosition, Refused};
use crate::body::{Instruction, Operand};
use crate::types::Type;
use rewright_dsl::diagnostic::count;
use rewright_typeprop::{Op, Ty, TypeExpr};

impl<'a> Importer<'a, '_> {
    /// Notes a call that no operation is, if packs speak of its function.
    pub(super) fn refuse(
        &mut self,
        position: InstPosition,
        instruction: &'a Instruction,
        callee: &str,
        args: &[Operand],
    ) {
        if let Some(because) = self.misfit(instruction, callee, args) {
            self.payloads.refused.push(Refused { callee: callee.to_string(), because, position });
        }
    }

    fn misfit(&self, instruction: &'a Instruction, callee: &str, args: &[Operand]) -> Option<String> {
        let first = self.names.functions(callee).first()?;
        let op = self.types.universe.ops.get(*first);
        let Some(declared) = self.file.declarations.get(callee) else {
            return Some(match self.file.functions.iter().find(|function| function.name == callee) {
                Some(own) if own.is_inline() => {
                    "it is `inline` or `static` in C, so each file has its own: rules are about functions that are called \
                     from outside"
                        .into()
                }
                Some(_) => "it is defined in this file, in which rules do not speak of it".into(),
                None => "this file does not declare it as a function".into(),
            });
        };
        if declared.variadic {
            return Some("it takes any number of arguments here, which no declaration in a pack does".into());
        }
        if !self.candidates(instruction, callee, args).contains(first) {
            let unknown = |ty: &Type| self.names.ty(ty).is_none() && *ty != Type::Void;
            let argument = args.iter().position(|arg| unknown(&arg.ty));
            return Some(match argument {
                Some(i) => {
                    format!("argument {} has the type `{}` here, which packs do not speak of", i + 1, args[i].ty)
                }
                None if unknown(&instruction.ty) => {
                    format!("it gives `{}` here, a type that packs do not speak of", instruction.ty)
                }
                None => "its calling convention or attributes (`nobuiltin`) make it another function".into(),
            });
        }
        if op.params.len() != args.len() {
            let here = count(args.len(), "argument");
            return Some(format!("it has {here} here, and {} in the pack", op.params.len()));
        }
        let types = args.iter().zip(&op.params).enumerate();
        let differing = types.filter_map(|(i, (arg, param))| {
            let wanted = self.expected(op, &param.ty, &arg.ty)?;
            Some(format!("argument {} (`{}`) is `{}` here, and `{wanted}` in the pack", i + 1, param.name, arg.ty))
        });
        let result = || match op.results.first() {
            None if instruction.ty != Type::Void => {
                Some(format!("it gives `{}` here, and nothing in the pack", instruction.ty))
            }
            Some(ty) => self
                .expected(op, ty, &instruction.ty)
                .map(|wanted| format!("it gives `{}` here, and `{wanted}` in the pack", instruction.ty)),
            None => None,
        };
        let types = &self.types.universe.types;
        let others = args.iter().zip(&op.params).enumerate().filter_map(|(i, (arg, param))| {
            let given = *self.pointers.get(arg.text.as_str())?;
            let wanted = types.find_instance(&param.ty, &[])?;
            let fits = types.is_subtype(given, wanted) || types.is_subtype(wanted, given);
            let [given, wanted] = [given, wanted].map(|ty| types.display(ty));
            (!fits).then(|| {
                format!(
                    "argument {} (`{}`) comes from a function that a pack declares to give `{given}`, and is `{wanted}` in \
                     the pack",
                    i + 1,
                    param.name
                )
            })
        });
        let found = differing.chain(result()).chain(others).next();
        Some(found.unwrap_or_else(|| match op.tparams.first() {
            Some(param) => format!(
                "nothing here says what `{}` of its declaration is: LLVM has one type for all pointers, and these come \
                 from no function that a pack gives a narrower type",
                param.name
            ),
            None => "a structure is passed in another way than the pack's types can be".into(),
        }))
    }

    /// The type in LLVM that a declared one is, if another one is there.
    fn expected(&self, op: &Op, declared: &TypeExpr, found: &Type) -> Option<String> {
        let types = &self.types.universe.types;
        let closed: Option<Ty> = match declared {
            TypeExpr::Param(i) => match &op.tparams.get(*i as usize)?.bound {
                Some(bound) => types.find_instance(bound, &[]),
                None => None,
            },
            other => types.find_instance(other, &[]),
        };
        let wanted = self.names.llvm_type(closed?, types)?;
        // C's `bool` is an 8-bit integer in packs.
        let found = if *found == Type::Int(1) { &Type::Int(8) } else { found };
        (wanted != found && !matches!(declared, TypeExpr::Param(_))).then(|| wanted.to_string())
    }
}
