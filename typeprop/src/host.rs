//! Rust functions that an embedding program registers as the meaning of operations that packs declare (`host fn`).
//!
//! They are called while matching (`eval` in a dynamic rule, guards, costs), by the interpreter and by compiled
//! code, and must be what their declaration says: pure ones depend on their arguments alone. `None` is "no value
//! here": no match while matching, a trap at run time.

use crate::data::Data;
use crate::model::Scalar;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// An argument or a result.
#[derive(Clone, Debug)]
pub enum Constant {
    /// Of a type with a machine representation, in canonical form.
    Scalar(Scalar, i64),
    /// An array.
    Data(Arc<Data>),
    /// A value of any other type: what the functions that make it say it is. Only at run time.
    Handle(i64),
}

impl Constant {
    /// An integer.
    pub fn int(&self) -> Option<i64> {
        match self {
            Constant::Scalar(scalar, n) if scalar.is_int() => Some(*n),
            _ => None,
        }
    }

    /// A float, as a double.
    pub fn float(&self) -> Option<f64> {
        match self {
            Constant::Scalar(Scalar::F64, n) => Some(f64::from_bits(*n as u64)),
            Constant::Scalar(Scalar::F32, n) => Some(f32::from_bits(*n as u32).into()),
            _ => None,
        }
    }

    /// An array.
    pub fn data(&self) -> Option<&Data> {
        match self {
            Constant::Data(data) => Some(data),
            _ => None,
        }
    }
}

impl From<f64> for Constant {
    fn from(x: f64) -> Self {
        Constant::Scalar(Scalar::F64, x.to_bits() as i64)
    }
}

impl From<i64> for Constant {
    fn from(n: i64) -> Self {
        Constant::Scalar(Scalar::I64, n)
    }
}

impl From<Data> for Constant {
    fn from(data: Data) -> Self {
        Constant::Data(Arc::new(data))
    }
}

/// A registered function: one result, or none for an operation without results.
pub type HostFn = Arc<dyn Fn(&[Constant]) -> Option<Constant> + Send + Sync>;

/// Registered functions, by the name that packs declare; overloads of a name share one.
#[derive(Clone, Default)]
pub struct HostFns(BTreeMap<String, HostFn>);

impl HostFns {
    /// Adds or replaces a function.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        function: impl Fn(&[Constant]) -> Option<Constant> + Send + Sync + 'static,
    ) {
        self.0.insert(name.into(), Arc::new(function));
    }

    /// The function of a name.
    pub fn get(&self, name: &str) -> Option<&HostFn> {
        self.0.get(name)
    }

    /// Adds all functions of another registry.
    pub fn extend(&mut self, other: &HostFns) {
        self.0.extend(other.0.iter().map(|(name, f)| (name.clone(), f.clone())));
    }
}

impl fmt::Debug for HostFns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
