//! What `!tbaa`, `!alias.scope` and `!noalias` say of two accesses.
//!
//! * A *tag* of `!tbaa` is `!{base, access, i64 offset}`, and a fourth number where the memory is constant, which says
//!   nothing here. A type is `!{!"name", parent, i64 offset, ..}`: of a scalar one parent, of a structure each member; a root
//!   has none. Two accesses may alias if one is to a member of what the other one's base is, or of an ancestor; so LLVM's
//!   `TypeBasedAliasAnalysis` says it, and so do two of different roots.
//! * A *scope* is `!{self, domain, ..}`, and `!alias.scope` and `!noalias` are lists of them. Two accesses do not alias if,
//!   in some domain, one of them is of scopes, all of which the other one names as `!noalias`.
//!
//! Nodes that say the same are one node, unless they are `distinct` or contain themselves. A node that is not understood
//! aliases everything.

use super::loop_metadata::{self, operands};
use rustc_hash::{FxHashMap, FxHashSet};

/// How deep nodes are looked into, and how far up types.
const MAX_DEPTH: usize = 64;

/// Kinds of metadata that are read.
pub(crate) const KINDS: [&str; 3] = ["!tbaa", "!alias.scope", "!noalias"];

/// Lists with a number, if a file says anything of aliases.
pub fn nodes(text: &str) -> FxHashMap<String, String> {
    if !KINDS.iter().any(|kind| text.contains(&format!(", {kind} "))) {
        return FxHashMap::default();
    }
    let is_list = |node: &str| node.strip_prefix("distinct ").unwrap_or(node).starts_with("!{");
    let lists = loop_metadata::nodes(text).filter(|(_, node)| is_list(node));
    lists.map(|(name, node)| (name.to_string(), node.to_string())).collect()
}

/// A node, by what it says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Part {
    Node(NodeId),
    Other(String),
}

/// What makes a node the same as another one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Identity {
    Own(String),
    Parts(Vec<Part>),
}

/// What an access says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    tag: Option<Tag>,
    scopes: Vec<Scope>,
    noalias: Vec<Scope>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tag {
    base: NodeId,
    access: NodeId,
    offset: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Scope {
    id: NodeId,
    domain: NodeId,
}

/// How two accesses are known not to alias.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoAlias {
    /// By their types.
    Types,
    /// By scopes of these domains.
    Scopes(Vec<NodeId>),
}

/// What is known of a node by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// Its parts are being looked at.
    Open,
    Node(NodeId),
    NotUnderstood,
}

/// The nodes of a file, as far as they have been looked at.
pub struct AliasMetadata<'a> {
    texts: &'a FxHashMap<String, String>,
    known: FxHashMap<String, Known>,
    ids: FxHashMap<Identity, NodeId>,
    /// By node: what it is made of.
    parts: Vec<Vec<Part>>,
    /// Nodes that contain themselves.
    cyclic: FxHashSet<String>,
}

impl<'a> AliasMetadata<'a> {
    /// Over [`nodes`].
    pub fn new(texts: &'a FxHashMap<String, String>) -> Self {
        let (known, ids) = (FxHashMap::default(), FxHashMap::default());
        AliasMetadata { texts, known, ids, parts: vec![], cyclic: FxHashSet::default() }
    }

    /// What the metadata of an instruction say.
    pub fn access(&mut self, metadata: &[(String, String)]) -> Access {
        let node = |kind: &str| {
            let mut all = metadata.iter().filter(|(other, _)| other == kind);
            // LLVM takes no two of a kind.
            all.next().filter(|_| all.next().is_none()).map(|(_, node)| node.as_str())
        };
        Access {
            tag: node("!tbaa").and_then(|node| self.tag(node)),
            scopes: node("!alias.scope").and_then(|node| self.scopes(node)).unwrap_or_default(),
            noalias: node("!noalias").and_then(|node| self.scopes(node)).unwrap_or_default(),
        }
    }

    /// The domain of the scopes of a list, if it is one.
    pub fn domain(&mut self, list: &str) -> Option<NodeId> {
        let scopes = self.scopes(list)?;
        let first = scopes.first()?.domain;
        scopes.iter().all(|scope| scope.domain == first).then_some(first)
    }

    /// Are two accesses known not to alias?
    pub fn no_alias(&self, a: &Access, b: &Access) -> Option<NoAlias> {
        if let (Some(a), Some(b)) = (a.tag, b.tag)
            && self.may_alias(a, b) == Some(false)
        {
            return Some(NoAlias::Types);
        }
        let mut domains = apart(&a.scopes, &b.noalias);
        domains.extend(apart(&b.scopes, &a.noalias));
        (!domains.is_empty()).then_some(NoAlias::Scopes(domains))
    }

    fn id(&mut self, name: &str, depth: usize) -> Option<NodeId> {
        match self.known.get(name) {
            Some(Known::Open) => {
                self.cyclic.insert(name.to_string());
                return Some(self.intern(Identity::Own(name.to_string())));
            }
            Some(Known::Node(found)) => return Some(*found),
            Some(Known::NotUnderstood) => return None,
            None if depth > MAX_DEPTH => return None,
            None => {}
        }
        self.known.insert(name.to_string(), Known::Open);
        let found = self.look_into(name, depth);
        self.known.insert(name.to_string(), found.map_or(Known::NotUnderstood, Known::Node));
        found
    }

    fn look_into(&mut self, name: &str, depth: usize) -> Option<NodeId> {
        let text = self.texts.get(name)?;
        let list = text.strip_prefix("distinct ");
        let mut parts = vec![];
        for operand in operands(list.unwrap_or(text))?.into_iter().filter(|operand| !operand.is_empty()) {
            let number = operand.strip_prefix('!').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            parts.push(match number {
                Some(_) => Part::Node(self.id(&operand, depth + 1)?),
                None => Part::Other(operand),
            });
        }
        let identity = match list.is_some() || self.cyclic.contains(name) {
            true => Identity::Own(name.to_string()),
            false => Identity::Parts(parts.clone()),
        };
        let id = self.intern(identity);
        self.parts[id.0 as usize] = parts;
        Some(id)
    }

    fn intern(&mut self, identity: Identity) -> NodeId {
        let next = NodeId(self.parts.len() as u32);
        let id = *self.ids.entry(identity).or_insert(next);
        if id == next {
            self.parts.push(vec![]);
        }
        id
    }

    fn parts(&self, id: NodeId) -> &[Part] {
        &self.parts[id.0 as usize]
    }

    fn tag(&mut self, name: &str) -> Option<Tag> {
        let id = self.id(name, 0)?;
        let (base, access, offset) = match self.parts(id) {
            [Part::Node(base), Part::Node(access), Part::Other(offset)] => (*base, *access, number(offset)?),
            [Part::Node(base), Part::Node(access), Part::Other(offset), Part::Other(constant)] => {
                (*base, *access, number(offset).filter(|_| number(constant).is_some_and(|n| n <= 1))?)
            }
            _ => return None,
        };
        // The accessed type is no structure.
        (self.members(access)?.len() <= 1).then_some(Tag { base, access, offset })
    }

    /// The members of a type with their offsets, in order: of a scalar type its parent, of a root none; `None` for what is
    /// no type.
    fn members(&self, id: NodeId) -> Option<Vec<(NodeId, u64)>> {
        let (name, rest) = match self.parts(id) {
            [] | [_] => return Some(vec![]),
            [Part::Other(name), rest @ ..] => (name, rest),
            [Part::Node(_), ..] => return None,
        };
        if !name.starts_with("!\"") {
            return None;
        }
        if let [Part::Node(parent)] = rest {
            return Some(vec![(*parent, 0)]);
        }
        let member = |part: &[Part]| match part {
            [Part::Node(ty), Part::Other(offset)] => Some((*ty, number(offset)?)),
            _ => None,
        };
        let members: Vec<(NodeId, u64)> = rest.chunks(2).map(member).collect::<Option<_>>()?;
        members.is_sorted_by_key(|(_, offset)| *offset).then_some(members)
    }

    /// Scalar types from one up to its root.
    fn path(&self, ty: NodeId) -> Option<Vec<NodeId>> {
        let mut path = vec![ty];
        while path.len() <= MAX_DEPTH {
            match self.members(*path.last()?)?[..] {
                [] => return Some(path),
                [(parent, _)] => path.push(parent),
                _ => return None,
            }
        }
        None
    }

    /// May two accesses alias by their tags? `None` where that is not understood.
    fn may_alias(&self, a: Tag, b: Tag) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        let paths = [self.path(a.access)?, self.path(b.access)?];
        let [one, other] = paths.each_ref().map(|path| path.iter().rev());
        let Some((common, _)) = one.zip(other).take_while(|(x, y)| x == y).last() else { return Some(true) };
        for (base, part) in [(a, b), (b, a)] {
            if let Some(found) = self.may_be_part(base, part, *common)? {
                return Some(found);
            }
        }
        Some(false)
    }

    /// May an access be to a part of another one's base? Inner `None` where it leads nowhere.
    fn may_be_part(&self, base: Tag, part: Tag, common: NodeId) -> Option<Option<bool>> {
        if base.access == base.base && base.access == common {
            return Some(Some(true));
        }
        let (mut ty, mut offset) = (base.base, base.offset);
        for _ in 0..MAX_DEPTH {
            if ty == part.base {
                return Some(Some(offset == part.offset || ty == base.access || part.base == part.access));
            }
            let members = self.members(ty)?;
            if members.is_empty() {
                return Some(None);
            }
            // A scalar type's parent is at its start.
            let (member, at) = members.iter().rev().find(|(_, at)| *at <= offset)?;
            (ty, offset) = (*member, offset - at);
        }
        None
    }

    fn scopes(&mut self, list: &str) -> Option<Vec<Scope>> {
        let id = self.id(list, 0)?;
        let nodes = self.parts(id).iter().map(|part| match part {
            Part::Node(scope) => Some(*scope),
            Part::Other(_) => None,
        });
        let scope = |id: NodeId| match self.parts(id) {
            [_, Part::Node(domain)] | [_, Part::Node(domain), Part::Other(_)] => Some(Scope { id, domain: *domain }),
            _ => None,
        };
        nodes.collect::<Option<Vec<NodeId>>>()?.into_iter().map(scope).collect()
    }
}

/// The domains in which one access is of scopes, all of which another one names.
fn apart(scopes: &[Scope], noalias: &[Scope]) -> Vec<NodeId> {
    let mut domains: Vec<NodeId> = scopes.iter().map(|scope| scope.domain).collect();
    domains.sort_unstable();
    domains.dedup();
    domains.retain(|domain| scopes.iter().filter(|scope| scope.domain == *domain).all(|scope| noalias.contains(scope)));
    domains
}

/// Of `i64 8`, without white space.
fn number(text: &str) -> Option<u64> {
    text.strip_prefix("i64")?.parse().ok()
}

#[cfg(test)]
mod tests;
