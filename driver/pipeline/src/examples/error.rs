//! Why an example cannot be run.

use rewright_engine::EngineError;

/// Why nothing follows from an example.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExampleError {
    /// A literal that its type does not hold.
    #[error("the literal does not fit {0}")]
    Literal(String),
    /// A type parameter without a type.
    #[error("the example's types are not closed")]
    OpenType,
    /// The same, of a result.
    #[error("a result type is not closed")]
    OpenResult,
    /// `eval` over something that is no constant.
    #[error("`eval` in an example must be over literals")]
    NotConstant,
    /// Some paths return a value, others none, or one of another type.
    #[error("it returns a value on some paths only")]
    SomePaths,
    /// States that no program goes through one after the other.
    #[error("its states are not one sequence, so it is no program; use `equals`")]
    States,
    /// A variable is set to a state.
    #[error("a variable is set to a state")]
    StateInVariable,
    /// A condition is a state.
    #[error("a condition is a state")]
    StateAsCondition,
    /// An operand is a state.
    #[error("a state stands where a value is wanted")]
    StateAsValue,
    /// The optimiser let the original out.
    #[error("it did not go through the optimiser: {0}")]
    NotOptimised(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}
