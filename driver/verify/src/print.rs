//! Terms and values as a pack writes them, for counterexamples that can be pasted.

use super::case::Case;
use super::concrete::Value;
use super::report::Counterexample;
use super::typing::type_of;
use rewright_dsl::constant::constant;
use rewright_dsl::program::{Conclusion, Guard, VarKind};
use rewright_typeprop::eval::repr_of;
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Repr, Term, TypeExpr, Universe};

/// Values at which the sides of a rule differ, and an example that says so.
pub(super) fn counterexample(case: &Case<'_>, values: &[Value], sides: [Value; 2]) -> Counterexample {
    let universe = &case.program.universe;
    let values_by_name = assignment(case, values);
    let shown: Vec<String> = values_by_name.iter().map(|(_, shown)| shown.clone()).collect();
    let left_type = type_of(case.program, &case.rule.left[0], case.rule, &case.targs);
    let side = |value: &Value| match value {
        Value::State(_) => "another state".to_string(),
        Value::Nan => "NaN".to_string(),
        bits => operand(universe, bits, left_type, "?"),
    };
    // A pointer is what the caller has: an example has it as a parameter.
    let operands: Vec<String> = case
        .rule
        .vars
        .iter()
        .zip(values.iter().zip(&shown))
        .map(
            |(var, (value, shown))| {
                if matches!(value, Value::Pointer { .. }) { var.name.clone() } else { shown.clone() }
            },
        )
        .collect();
    let [left, right] = [side(&sides[0]), side(&sides[1])];
    let fact = matches!(case.rule.right, Conclusion::Fact(..));
    let [left, right] = if fact { ["false".to_string(), "true".to_string()] } else { [left, right] };
    let example = example(case, values, &operands);
    Counterexample { values: values_by_name, left, right, example, between_states: false }
}

/// The rule's variables with their values.
pub(super) fn assignment(case: &Case<'_>, values: &[Value]) -> Vec<(String, String)> {
    let universe = &case.program.universe;
    let repr = |kind: &VarKind| match kind {
        VarKind::Value { ty, .. } => repr_of(&universe.types, ty, &case.targs),
        VarKind::State => None,
    };
    let vars = case.rule.vars.iter().zip(values);
    vars.map(|(var, value)| (var.name.clone(), operand(universe, value, repr(&var.kind), &var.name))).collect()
}

/// An example that holds of what the operations mean, and fails where the rule makes the sides one class.
fn example(case: &Case<'_>, values: &[Value], shown: &[String]) -> Option<String> {
    let Conclusion::Equal(right) = &case.rule.right else { return None };
    // Nothing is known of constants that a fact would have to be concluded of.
    if case.rule.guards.iter().any(|g| matches!(g, Guard::Fact(..))) {
        return None;
    }
    let printer = Printer { case, values, shown };
    let left = printer.term(&case.rule.left[0])?;
    let right = printer.term(right)?;
    let mut given = vec![];
    for (var, value) in case.rule.vars.iter().zip(values) {
        match (&var.kind, value) {
            (VarKind::State, _) => given.push(format!("{}: State", var.name)),
            (VarKind::Value { ty, .. }, Value::Pointer { .. }) => {
                given.push(format!("{}: {}", var.name, printer.ty(ty)?));
            }
            _ => {}
        }
    }
    let params = if given.is_empty() { String::new() } else { format!(" ({})", given.join(", ")) };
    let name = case.rule.name.rsplit('.').find(|part| *part != "back").unwrap_or(&case.rule.name);
    let types = case.shown().join(", ");
    let at = if types.is_empty() { String::new() } else { format!(" at {types}") };
    Some(format!("example \"{name} does not hold{at}\"{params}:\n  {left} differs {right}"))
}

/// A value where an operand may stand.
fn operand(universe: &Universe, value: &Value, repr: Option<Repr>, name: &str) -> String {
    match value {
        Value::Bits(bits) => constant(universe, *bits, repr),
        Value::Pointer { address, provenance } => format!("{address} with provenance {provenance}"),
        Value::Nan | Value::State(_) => name.to_string(),
    }
}

struct Printer<'a, 'p> {
    case: &'a Case<'p>,
    values: &'a [Value],
    shown: &'a [String],
}

impl Printer<'_, '_> {
    fn term(&self, term: &Term) -> Option<String> {
        let types = &self.case.program.universe.types;
        Some(match term {
            Term::Var(n) => self.shown.get(*n as usize)?.clone(),
            Term::Lit(Literal::Int(n), ty) => match repr_of(types, ty, &self.case.targs) {
                Some(repr) if !repr.is_int() => format!("{n}.0"),
                _ => n.to_string(),
            },
            Term::Lit(Literal::Float(x), _) => format!("{x:?}"),
            Term::Lit(Literal::Str(text), _) => format!("{text:?}"),
            Term::Eval(inner) => {
                let repr = type_of(self.case.program, inner, self.case.rule, &self.case.targs);
                let concrete = super::concrete::Concrete {
                    program: self.case.program,
                    rule: self.case.rule,
                    targs: &self.case.targs,
                };
                operand(&self.case.program.universe, &concrete.computed(inner, self.values)?, repr, "?")
            }
            Term::Call { op, targs, args, state } => {
                let decl = self.case.program.universe.ops.get(*op);
                let mut text = decl.name.clone();
                if !targs.is_empty() {
                    let types: Option<Vec<String>> = targs.iter().map(|ty| self.ty(ty)).collect();
                    text += &format!("{{{}}}", types?.join(", "));
                }
                let args: Option<Vec<String>> = args.iter().map(|a| self.argument(a)).collect();
                text += &format!("({})", args?.join(", "));
                if let Some(state) = state {
                    text += &format!(" after {}", self.term(state)?);
                }
                text
            }
        })
    }

    /// What has a state stands in brackets.
    fn argument(&self, term: &Term) -> Option<String> {
        let text = self.term(term)?;
        Some(if matches!(term, Term::Call { state: Some(_), .. }) { format!("({text})") } else { text })
    }

    fn ty(&self, ty: &TypeExpr) -> Option<String> {
        let types = &self.case.program.universe.types;
        Some(types.display(types.find_instance(ty, &self.case.types)?))
    }
}
