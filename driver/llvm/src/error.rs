//! Why a type, an instruction or a body is not understood.

/// Why a text is not understood. Readers fail in this one way, and callers only show it: the words differ by what
/// stands in the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotUnderstood(pub String);

impl From<String> for NotUnderstood {
    fn from(reason: String) -> Self {
        NotUnderstood(reason)
    }
}

impl From<&str> for NotUnderstood {
    fn from(reason: &str) -> Self {
        NotUnderstood(reason.to_string())
    }
}
