//! Types by their structure: whatever they are named, and however deep they nest.

use rewright_llvm::types::{Named, Type};
use rustc_hash::FxHashMap;

/// Characters of a named type beyond which it is written apart.
const SHORT: usize = 256;

/// A type with named ones written out: two types have the same structure exactly if their texts are equal. A named type
/// that is long stands apart, once, so that a text is never much longer than the definitions that it is made of. A type
/// that is not defined, or that holds itself, keeps its name.
pub(super) fn structure(ty: &Type, named: &Named) -> String {
    let mut written = Written { named, known: FxHashMap::default(), apart: vec![] };
    written.resolve(ty);
    let mut text = written.replaced(ty).to_string();
    for (n, of_type) in written.apart.iter().enumerate() {
        text.push_str(if n == 0 { " where " } else { ", " });
        text.push_str(&format!("#{n} = {of_type}"));
    }
    text
}

struct Written<'a> {
    named: &'a Named,
    /// By name, the type that replaces it.
    known: FxHashMap<&'a str, Type>,
    /// Long types, in the order in which they are complete, each structure once.
    apart: Vec<String>,
}

impl<'a> Written<'a> {
    /// Finds out what is written for each name that a type mentions, for those inside of others first.
    fn resolve(&mut self, ty: &'a Type) {
        let mut open: Vec<(&'a str, &'a Type)> = vec![];
        loop {
            let inner = open.last().map_or(ty, |(_, definition)| definition);
            if let Some(name) = self.unknown_in(inner, &open) {
                open.push((name, &self.named[name]));
                continue;
            }
            let Some((name, definition)) = open.pop() else { return };
            let of_name = self.replaced(definition);
            let of_name = self.shortened(of_name);
            self.known.insert(name, of_name);
        }
    }

    /// The first name in a type that is defined, and of which it is not known what is written for it.
    fn unknown_in(&self, ty: &'a Type, open: &[(&str, &Type)]) -> Option<&'a str> {
        match ty {
            Type::Named(name) => {
                let is_open = open.iter().any(|(other, _)| other == name);
                let is_unknown = self.named.contains_key(name) && !self.known.contains_key(name.as_str()) && !is_open;
                is_unknown.then_some(name)
            }
            Type::Struct(_, fields) => fields.iter().find_map(|field| self.unknown_in(field, open)),
            Type::Array(_, element) | Type::Vector(_, element) => self.unknown_in(element, open),
            _ => None,
        }
    }

    /// A type with what is known of its names in their place.
    fn replaced(&self, ty: &Type) -> Type {
        match ty {
            Type::Named(name) => self.known.get(name.as_str()).unwrap_or(ty).clone(),
            Type::Struct(packed, fields) => {
                Type::Struct(*packed, fields.iter().map(|field| self.replaced(field)).collect())
            }
            Type::Array(n, element) => Type::Array(*n, Box::new(self.replaced(element))),
            Type::Vector(n, element) => Type::Vector(*n, Box::new(self.replaced(element))),
            other => other.clone(),
        }
    }

    /// The number of a type that is long.
    fn shortened(&mut self, ty: Type) -> Type {
        let text = ty.to_string();
        if text.len() <= SHORT {
            return ty;
        }
        let known = self.apart.iter().position(|other| *other == text);
        let n = known.unwrap_or(self.apart.len());
        if known.is_none() {
            self.apart.push(text);
        }
        Type::Other(format!("#{n}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(all: impl IntoIterator<Item = (String, Type)>) -> Named {
        all.into_iter().collect()
    }

    fn name(prefix: &str, n: usize) -> Type {
        Type::Named(format!("%{prefix}{n}"))
    }

    /// Types in each other, this many deep, each with several of the next one.
    fn nested(prefix: &str, depth: usize, times: usize, innermost: Type) -> Named {
        let of = |n: usize| if n + 1 < depth { name(prefix, n + 1) } else { innermost.clone() };
        named((0..depth).map(|n| (format!("%{prefix}{n}"), Type::Struct(false, vec![of(n); times]))))
    }

    #[test]
    fn a_difference_counts_at_any_depth() {
        for (depth, times) in [(2, 1), (18, 1), (100, 2), (3000, 1)] {
            let [same, other] = [Type::Int(32), Type::Int(64)].map(|inner| nested("T", depth, times, inner));
            let renamed = nested("U", depth, times, Type::Int(32));
            let text = structure(&name("T", 0), &same);
            assert!(text == structure(&name("U", 0), &renamed), "{depth}, {times}");
            assert!(text != structure(&name("T", 0), &other), "{depth}, {times}");
        }
    }

    #[test]
    fn names_are_written_out_where_they_are_defined() {
        let pair = Type::Struct(false, vec![Type::Int(8), Type::Ptr]);
        let all = named([
            ("%pair".to_string(), pair.clone()),
            ("%two".to_string(), Type::Array(2, Box::new(Type::Named("%pair".into())))),
            ("%itself".to_string(), Type::Struct(false, vec![Type::Named("%itself".into())])),
        ]);
        for (ty, expected) in [
            (Type::Named("%two".into()), "[2 x { i8, ptr }]"),
            (Type::Named("%undefined".into()), "%undefined"),
            (Type::Named("%itself".into()), "{ %itself }"),
            (pair, "{ i8, ptr }"),
        ] {
            assert_eq!(structure(&ty, &all), expected);
        }
    }

    #[test]
    fn what_is_long_stands_apart_once() {
        let long = Type::Struct(false, vec![Type::Ptr; 100]);
        let all = named([("%a".to_string(), long.clone()), ("%b".to_string(), long)]);
        let [same, both] = [["%a", "%a"], ["%a", "%b"]]
            .map(|names| structure(&Type::Struct(false, names.map(|name| Type::Named(name.into())).to_vec()), &all));
        assert!(same == both && same.starts_with("{ #0, #0 } where #0 = { ptr, ptr,"), "{both}");
    }
}
