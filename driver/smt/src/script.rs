//! Definitions in SMT-LIB, built bottom up. Equal terms are one definition; truth values are folded.

mod asserted;
mod makers;
mod nan;
mod parts;
mod ring;

use super::address::Address;
use super::expr::{Expr, Format, Sort};
pub use asserted::Asserted;
pub use makers::Maker;
use makers::Makers;
pub use nan::Freedom;
use parts::Low;
use ring::Ring;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// A term as it is used, and what it is made of.
struct Node {
    sort: Sort,
    /// How it is spelled where it is used.
    name: String,
    /// What the name stands for; `None` for what needs no definition.
    definition: Option<String>,
    /// Terms that it mentions.
    children: Vec<u32>,
    /// How a variable is declared.
    declaration: Option<String>,
    /// What is known of a variable: which float its bits are, or that equal addresses hold equal bytes.
    equation: Option<u32>,
    /// Longest way to a term without children.
    depth: usize,
}

/// What solvers find hard unless an operand is a constant.
const PRODUCTS: [&str; 5] = ["bvmul", "bvudiv", "bvurem", "bvsdiv", "bvsrem"];

/// Terms, each of them once.
pub struct Script {
    declarations: String,
    /// Sorts that functions take and give are of bit vectors and truth values.
    only_bits: bool,
    nodes: Vec<Node>,
    pub(super) known: FxHashMap<String, Expr>,
    domains: Vec<String>,
    /// By memory: the one before, and what was written where.
    pub(super) writes: FxHashMap<u32, (Expr, Address, Written)>,
    /// By memory: the one before, when it was given to others, and what tells this from other such times.
    pub(super) given: FxHashMap<u32, (Expr, Expr, Expr)>,
    /// Bytes that a memory held from the start.
    pub(super) reads: Vec<Read>,
    /// Variables that stand for the low bits of others.
    lows: Vec<Low>,
    /// The bit that says which of two amounts is chosen.
    chosen: Option<Expr>,
    /// The few bits that say which float a variable may be: its exponent.
    exponents: Vec<(Expr, Expr)>,
    /// Shifts left are to be written as products.
    pub products: bool,
    /// Of what solvers find hard (products, quotients, [`Script::hidden`]) nothing is to be known but that equal operands
    /// give equal ones. A claim that holds of such functions holds of these.
    pub opaque: bool,
    /// Variables that are the bits of a float that is computed.
    computed: FxHashSet<u32>,
    /// Floats that such bits read as, where it is known what gives them: however a NaN is chosen, that is one term.
    floats: FxHashMap<Expr, Expr>,
    makers: Makers,
    /// Sums and products that are equal by the laws of a ring are to be one term.
    pub laws: bool,
    /// Questions of bit vectors alone are to say so: solvers decide some of them sooner, others later.
    pub says_logic: bool,
    ring: Ring,
    /// There is something of which nothing else is known.
    hides: bool,
    /// Parts of bit vectors: of which, and the lowest bit.
    cuts: FxHashMap<u32, (Expr, u32)>,
    /// Addresses of memory that others do not change.
    pub(super) private: Vec<Expr>,
    /// Conditions that hold wherever something is used that is read from memory now.
    pub assumed: FxHashSet<Expr>,
}

/// A byte that a memory holds.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub(super) byte: Expr,
    /// Where it is written only then: when, and what.
    pub(super) when: Option<(Expr, Expr)>,
}

/// A byte of a memory that has not been written to.
#[derive(Clone, Debug)]
pub struct Read {
    /// The memory: a variable.
    pub memory: Expr,
    pub(super) address: Address,
    /// The address as a variable.
    pub at: Expr,
    /// The byte: a variable.
    pub byte: Expr,
}

impl Default for Script {
    fn default() -> Self {
        Script::new()
    }
}

/// A text as part of a name, in which `|` and `\` cannot be written. Different texts stay different.
pub fn name_part(text: &str) -> String {
    text.replace('/', "//").replace('|', "/-").replace('\\', "/+")
}

impl Script {
    /// Without definitions and assertions.
    pub fn new() -> Self {
        let mut script = Script {
            declarations: String::new(),
            only_bits: true,
            nodes: vec![],
            known: FxHashMap::default(),
            domains: vec![],
            writes: FxHashMap::default(),
            given: FxHashMap::default(),
            reads: vec![],
            lows: vec![],
            chosen: None,
            exponents: vec![],
            products: false,
            opaque: false,
            says_logic: false,
            computed: FxHashSet::default(),
            floats: FxHashMap::default(),
            makers: Makers::default(),
            laws: false,
            ring: Ring::default(),
            hides: false,
            cuts: FxHashMap::default(),
            private: vec![],
            assumed: FxHashSet::default(),
        };
        script.named("false".into(), Sort::Bool);
        script.named("true".into(), Sort::Bool);
        script
    }

    /// How many terms there are: they bound what a question takes to build, to print and to read.
    pub fn terms(&self) -> usize {
        self.nodes.len()
    }

    /// How a term is spelled.
    pub fn name(&self, expr: Expr) -> &str {
        &self.nodes[expr.id as usize].name
    }

    pub(super) fn named(&mut self, name: String, sort: Sort) -> Expr {
        let expr = Expr { id: self.nodes.len() as u32, sort };
        let node = Node { sort, name, definition: None, children: vec![], declaration: None, equation: None, depth: 0 };
        self.nodes.push(node);
        expr
    }

    /// A sort as SMT-LIB writes it.
    pub fn sort_text(&self, sort: Sort) -> String {
        match sort {
            Sort::Bool => "Bool".into(),
            Sort::Bits(width) => format!("(_ BitVec {width})"),
            Sort::Float(f) => format!("(_ FloatingPoint {} {})", f.exponent, f.significand),
            Sort::Memory => "Memory".into(),
            Sort::Domain(i) => self.domains[i as usize].clone(),
        }
    }

    /// The sort of a type without representation.
    pub fn domain(&mut self, ty: &str) -> Sort {
        // The solver has sorts of its own, `Set` and `Array` among them; none has a space in its name.
        let name = format!("|type {ty}|");
        let index = self.domains.iter().position(|d| *d == name).unwrap_or_else(|| {
            let _ = writeln!(self.declarations, "(declare-sort {name} 0)");
            self.only_bits = false;
            self.domains.push(name);
            self.domains.len() - 1
        });
        Sort::Domain(index as u32)
    }

    /// A variable. The name must be new.
    pub fn variable(&mut self, name: &str, sort: Sort) -> Expr {
        let name = format!("|{name}|");
        let declaration = format!("(declare-const {name} {})\n", self.sort_text(sort));
        let variable = self.named(name, sort);
        // Of a memory the solver sees the bytes that are read.
        if sort != Sort::Memory {
            self.nodes[variable.id as usize].declaration = Some(declaration);
        }
        variable
    }

    /// Makes a variable's equation: it holds wherever the variable is used.
    pub(super) fn assume(&mut self, variable: Expr, equation: Expr) {
        if equation != Expr::TRUE {
            self.nodes[variable.id as usize].equation = Some(equation.id);
        }
    }

    /// Bytes that memories held from the start.
    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// A bit vector's constant.
    pub fn bits(&mut self, width: u32, value: u128) -> Expr {
        let value = if width < 128 { value & ((1 << width) - 1) } else { value };
        self.literal(format!("(_ bv{value} {width})"), Sort::Bits(width))
    }

    /// The value of a bit vector's constant.
    pub(super) fn constant(&self, expr: Expr) -> Option<u128> {
        self.name(expr).strip_prefix("(_ bv")?.split(' ').next()?.parse().ok()
    }

    /// A constant that is spelled out wherever it is used.
    pub fn literal(&mut self, text: String, sort: Sort) -> Expr {
        if let Some(known) = self.known.get(&text) {
            return *known;
        }
        let expr = self.named(text.clone(), sort);
        self.known.insert(text, expr);
        expr
    }

    /// Is there something of which nothing is known since it is hard?
    pub fn hides(&self) -> bool {
        self.hides
    }

    /// Other code does not change what lies at an address that is a sum with this term: code that writes there must
    /// know it.
    pub fn keep_private(&mut self, address: Expr) {
        if !self.private.contains(&address) {
            self.private.push(address);
        }
    }

    /// What stands for something hard, where nothing is to be known of that.
    pub fn hidden(&mut self, name: &str, args: &[Expr], sort: Sort) -> Option<Expr> {
        self.hides |= self.opaque;
        self.opaque.then(|| self.unknown(name, args, sort))
    }

    /// An application of a symbol that SMT-LIB or this script knows.
    pub fn apply(&mut self, symbol: &str, args: &[Expr], sort: Sort) -> Expr {
        if let (true, [x, y]) = (PRODUCTS.contains(&symbol), args)
            && self.constant(*x).or(self.constant(*y)).is_none()
        {
            let turned = symbol == "bvmul" && self.name(*y) < self.name(*x);
            let args = if turned { [*y, *x] } else { [*x, *y] };
            if let Some(hidden) = self.hidden(&format!("{symbol} of {}", x.width()), &args, sort) {
                return hidden;
            }
        }
        let mut text = format!("({symbol}");
        for arg in args {
            let _ = write!(text, " {}", self.name(*arg));
        }
        text.push(')');
        if let Some(known) = self.known.get(&text) {
            return *known;
        }
        let sum = if self.laws { self.sum_of(symbol, args, sort) } else { None };
        let known = sum.as_ref().and_then(|sum| self.term_of(sum, sort));
        // Equal factors give equal products, too, which is all that is known of one whose factors are choices.
        let is_hidden = self.opaque && symbol.contains("bvmul of");
        if let Some(known) = known.filter(|_| !is_hidden) {
            self.known.insert(text, known);
            return known;
        }
        let multiplied = known.or_else(|| self.multiplied_out(sum.as_ref().filter(|_| is_hidden)?, sort));
        let expr = self.named(format!("t{}", self.nodes.len()), sort);
        if let Some(sum) = sum {
            self.note_sum(expr, sum);
        }
        let depth = args.iter().map(|a| self.nodes[a.id as usize].depth + 1).max().unwrap_or(1);
        let node = &mut self.nodes[expr.id as usize];
        node.depth = depth;
        node.children = args.iter().map(|a| a.id).collect();
        node.definition = Some(text.clone());
        self.known.insert(text, expr);
        if let Some(multiplied) = multiplied {
            let equation = self.equal(expr, multiplied);
            self.assume(expr, equation);
        }
        expr
    }

    /// An application of an uninterpreted function: equal arguments give equal results.
    pub fn unknown(&mut self, name: &str, args: &[Expr], sort: Sort) -> Expr {
        let name = format!("|{name}|");
        let declared = format!("declare {name}");
        if !self.known.contains_key(&declared) {
            self.only_bits &= args.iter().map(|a| a.sort).chain([sort]).all(Sort::is_of_bits);
            let sorts: Vec<_> = args.iter().map(|a| self.sort_text(a.sort)).collect();
            let _ = writeln!(self.declarations, "(declare-fun {name} ({}) {})", sorts.join(" "), self.sort_text(sort));
            self.known.insert(declared, Expr::TRUE);
        }
        if args.is_empty() { self.literal(name, sort) } else { self.apply(&name, args, sort) }
    }

    /// Bits that read as this float. A float has one such pattern, unless it is a NaN: then these are any, and the same
    /// for all callers.
    pub fn bits_of(&mut self, float: Expr, format: Format) -> Expr {
        let key = format!("bits of {}", self.name(float));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let bits = self.variable(&format!("b{}", self.nodes.len()), Sort::Bits(format.exponent + format.significand));
        let read = self.float(bits, format);
        let equation = self.apply("=", &[read, float], Sort::Bool);
        self.assume(bits, equation);
        self.known.insert(key, bits);
        self.computed.insert(bits.id);
        bits
    }

    /// Bits, read as a float.
    pub fn float(&mut self, bits: Expr, format: Format) -> Expr {
        self.note_exponent(bits, format);
        if let Some(float) = self.floats.get(&bits).filter(|float| float.sort == Sort::Float(format)) {
            return *float;
        }
        let symbol = format!("(_ to_fp {} {})", format.exponent, format.significand);
        self.apply(&symbol, &[bits], Sort::Float(format))
    }

    /// Negation.
    pub fn not(&mut self, a: Expr) -> Expr {
        match a {
            Expr::FALSE => Expr::TRUE,
            Expr::TRUE => Expr::FALSE,
            _ => self.apply("not", &[a], Sort::Bool),
        }
    }

    /// Conjunction; true if there is nothing to connect.
    pub fn and(&mut self, all: &[Expr]) -> Expr {
        self.connect("and", Expr::TRUE, Expr::FALSE, all)
    }

    /// Disjunction; false if there is nothing to connect.
    pub fn or(&mut self, all: &[Expr]) -> Expr {
        self.connect("or", Expr::FALSE, Expr::TRUE, all)
    }

    fn connect(&mut self, symbol: &str, neutral: Expr, absorbing: Expr, all: &[Expr]) -> Expr {
        let mut kept: Vec<Expr> = vec![];
        for e in all.iter().filter(|e| **e != neutral) {
            if !kept.contains(e) {
                kept.push(*e);
            }
        }
        match kept.as_slice() {
            [] => neutral,
            [one] => *one,
            several if several.contains(&absorbing) => absorbing,
            several => self.apply(symbol, several, Sort::Bool),
        }
    }

    /// Equality of two terms of one sort.
    pub fn equal(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.constant(a), self.constant(b)) {
            _ if a == b => Expr::TRUE,
            (Some(_), Some(_)) => Expr::FALSE,
            _ => self.apply("=", &[a, b], Sort::Bool),
        }
    }

    /// `x` where the condition holds, else `y`.
    pub fn choose(&mut self, condition: Expr, x: Expr, y: Expr) -> Expr {
        match condition {
            Expr::TRUE => x,
            Expr::FALSE => y,
            _ if x == y => x,
            _ => self.apply("ite", &[condition, x, y], x.sort),
        }
    }

    /// Zeros in front, or the low bits.
    pub fn resize(&mut self, x: Expr, width: u32) -> Expr {
        let own = x.width();
        match width.cmp(&own) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater => match self.constant(x) {
                Some(n) => self.bits(width, n),
                None => self.apply(&format!("(_ zero_extend {})", width - own), &[x], Sort::Bits(width)),
            },
            std::cmp::Ordering::Less => self.extract(x, width - 1, 0),
        }
    }

    /// The sign in front.
    pub fn sign_extend(&mut self, x: Expr, width: u32) -> Expr {
        if width <= x.width() {
            return self.resize(x, width);
        }
        self.apply(&format!("(_ sign_extend {})", width - x.width()), &[x], Sort::Bits(width))
    }

    /// Bits `high` to `low`, both of them included.
    pub fn extract(&mut self, x: Expr, high: u32, low: u32) -> Expr {
        if low == 0 && high + 1 == x.width() {
            return x;
        }
        if let Some(n) = self.constant(x) {
            return self.bits(high - low + 1, n >> low);
        }
        let name = format!("(_ extract {high} {low})");
        let part = self.apply(&name, &[x], Sort::Bits(high - low + 1));
        self.cuts.insert(part.id, (x, low));
        part
    }

    /// Bit vectors one after the other, the high one first. Neighbouring parts of one are one part.
    pub fn concat(&mut self, parts: &[Expr]) -> Expr {
        let mut joined: Vec<Expr> = vec![];
        for part in parts {
            match joined.last().and_then(|high| self.joined(*high, *part)) {
                Some(both) => joined.splice(joined.len() - 1.., [both]).for_each(drop),
                None => joined.push(*part),
            }
        }
        let width = joined.iter().map(|p| p.width()).sum();
        match joined.as_slice() {
            [one] => *one,
            several => self.apply("concat", several, Sort::Bits(width)),
        }
    }

    /// Two parts as one: of the same bit vector, where the one ends that the other begins at, or two constants.
    fn joined(&mut self, high: Expr, low: Expr) -> Option<Expr> {
        let width = high.width() + low.width();
        if let (Some(above), Some(below), true) = (self.constant(high), self.constant(low), width <= 128) {
            return Some(self.bits(width, above << low.width() | below));
        }
        let (of, from) = *self.cuts.get(&high.id)?;
        let (other, start) = *self.cuts.get(&low.id)?;
        let end = from + high.width() - 1;
        (of == other && start + low.width() == from).then(|| self.extract(of, end, start))
    }

    /// Not all bits are 0.
    pub fn nonzero(&mut self, x: Expr) -> Expr {
        let zero = self.bits(x.width(), 0);
        let is_zero = self.equal(x, zero);
        self.not(is_zero)
    }
}
