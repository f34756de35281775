//! Families: several types under one name, `type Integer = Int | Wide`.
//!
//! Functions of one name are overloads where no type is above exactly the operands that they take, and each overload
//! may have its own cost and its own table in the engine. A rule whose type parameter is bounded by a family is
//! written out once per member, before its expressions are looked at, so each of its calls means one overload. A
//! member at which the rule has no meaning (a literal that has no form there, say) is left out.
//!
//! **Invariant**: no later stage knows families. The rule at the first members has the name as written; the others
//! say which members they are for.
//!
//! Only type parameters of rules and inferences range over families; [`super::decls`] rejects them elsewhere.

use super::Checker;
use super::report::{Diag, listed};
use super::scope::{Family, Scope};
use crate::instances::{Sense, TypeInstances};
use crate::program::{Conclusion, Rule};
use crate::syntax::ast::{Item, ItemKind, TParam, Type, TypeKind};
use rewright_typeprop::names::qualified;
use rewright_typeprop::{TypeExpr, TypeParam};
use std::rc::Rc;

/// A rule has at most this many instances over families.
const MAX_CHOICES: usize = 64;

/// A rule's type parameters, each bounded by one member of its family.
#[derive(Clone, Default, Debug)]
pub(super) struct Choice {
    pub(super) tparams: Vec<TypeParam>,
    /// What is not the first member of its family: the type parameter, and the member's name.
    pub(super) members: Vec<(String, String)>,
}

impl Choice {
    /// The members alone, for [`Rule::members`].
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.members.iter().map(|(_, member)| member.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Checker<'_> {
    /// Declares the families of a file, whose types are declared.
    pub(super) fn declare_families(&mut self, items: &[(Option<&crate::syntax::ast::Name>, &Item)], scope: &mut Scope) {
        for (_, item) in items {
            let ItemKind::Family { name, members } = &item.kind else { continue };
            for attribute in &item.attributes {
                self.unknown_attribute(attribute, "a family of types");
            }
            let full = qualified(&scope.pack, &name.node);
            if let Some(earlier) = self.program.universe.types.lookup(&full) {
                let place = self.type_spans[earlier.0 as usize];
                self.report(Diag::twice("type", name, place));
                continue;
            }
            if scope.own.families.contains_key(&name.node) {
                let message = format!("family `{}` is declared twice", name.node);
                self.report(Diag::error("RW0210", name.span, message, "again here").help("give it another name"));
                continue;
            }
            let before = self.errors();
            let mut own: Vec<(String, TypeExpr)> = Vec::new();
            for member in members {
                let found = match family(member, scope) {
                    Some(inner) => inner.members.clone(),
                    None => self.type_expr(member, &[], scope).map(|ty| (shown(member), ty)).into_iter().collect(),
                };
                for (label, ty) in found {
                    if own.iter().any(|(_, other)| *other == ty) {
                        let message = format!("`{label}` is a member of `{}` twice", name.node);
                        self.report(Diag::error("RW0210", member.span, message, "again here").help("leave it out"));
                    }
                    own.push((label, ty));
                }
            }
            if self.errors() > before {
                scope.declare(|n| {
                    n.rejected.insert(name.node.clone());
                });
            } else {
                let family = Rc::new(Family { pack: scope.pack.clone(), members: own });
                scope.declare(|n| {
                    n.families.insert(name.node.clone(), vec![family.clone()]);
                    n.types.shift_remove(&name.node);
                });
            }
        }
    }

    /// The type parameters of a rule, at each combination of members; first members first.
    pub(super) fn choices(&mut self, tparams: &[TParam], scope: &Scope) -> Vec<Choice> {
        let plain: Vec<TParam> = tparams
            .iter()
            .map(|p| TParam { bound: p.bound.clone().filter(|b| family(b, scope).is_none()), ..p.clone() })
            .collect();
        let mut all = vec![Choice { tparams: self.tparams(&plain, scope), members: Vec::new() }];
        for (index, tparam) in tparams.iter().enumerate() {
            let Some(members) = tparam.bound.as_ref().and_then(|bound| family(bound, scope)) else { continue };
            let name = &tparam.name.node;
            let members = &members.members;
            all = members
                .iter()
                .enumerate()
                .flat_map(|(position, (label, ty))| {
                    all.iter().map(move |choice| {
                        let mut choice = choice.clone();
                        choice.tparams[index].bound = Some(ty.clone());
                        if position > 0 {
                            choice.members.push((name.clone(), label.clone()));
                        }
                        choice
                    })
                })
                .collect();
            if all.len() > MAX_CHOICES {
                let message = format!("a rule over {} combinations of types", all.len());
                self.report(
                    Diag::error("RW0321", tparam.name.span, message, "too many families")
                        .help(format!("at most {MAX_CHOICES}: split it into rules over fewer families")),
                );
                all.truncate(1);
                return all;
            }
        }
        all
    }

    /// Says of diagnostics from here on which members they are about.
    pub(super) fn name_members(&mut self, from: usize, choice: &Choice) {
        let members: Vec<String> =
            choice.members.iter().map(|(param, member)| format!("`{param} <: {member}`")).collect();
        for diagnostic in self.diagnostics[from..].iter_mut().filter(|_| !members.is_empty()) {
            diagnostic.message += &format!(", at {}", listed(&members));
        }
    }

    /// Leaves rules out that say nothing at their members, as long as one says something.
    pub(super) fn drop_senseless(&self, choices: &[Choice], made: &mut Vec<(String, Rule)>) {
        if choices.len() > 1 {
            let mut sensible = made.iter().map(|(_, rule)| self.has_instance(rule)).collect::<Vec<_>>().into_iter();
            if sensible.as_slice().contains(&true) {
                made.retain(|_| sensible.next().unwrap_or(true));
            }
        }
    }

    /// Has the rule a meaning at some types of its members?
    fn has_instance(&self, rule: &Rule) -> bool {
        let instances = TypeInstances::with(&self.program.universe, &self.computable);
        let good = |targs: &Vec<_>| {
            instances.admits(rule, targs)
                && match &rule.right {
                    Conclusion::Equal(right) => instances.sense(right, targs) == Sense::Good,
                    Conclusion::Fact(..) => true,
                }
        };
        instances.combinations(rule).is_none_or(|all| all.iter().any(good))
    }
}

/// The members of a family, if the type as written names one.
pub(super) fn family(ty: &Type, scope: &Scope) -> Option<Rc<Family>> {
    let TypeKind::Named { path, args } = &ty.kind else { return None };
    match &scope.find_families(&path.node)[..] {
        [one] if args.is_empty() && scope.find_types(&path.node).is_empty() => Some(one.clone()),
        _ => None,
    }
}

/// A type as it is written.
pub(super) fn shown(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Int(n) => n.to_string(),
        TypeKind::Named { path, args } if args.is_empty() => path.node.clone(),
        TypeKind::Named { path, args } => {
            format!("{}{{{}}}", path.node, args.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
    }
}
