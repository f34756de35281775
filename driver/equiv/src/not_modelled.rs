//! The reason why a function, or a run of it, is not compared.

use super::replay::LayoutError;
use rewright_llvm::error::NotUnderstood;
use rewright_llvm::layout::UnknownLayout;

/// Something in a function, or in a run of it, that the method does not model. No code tells one from another, so it is
/// only a text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotModelled(String);

impl From<LayoutError> for NotModelled {
    fn from(layout: LayoutError) -> NotModelled {
        NotModelled(layout.to_string())
    }
}

impl From<UnknownLayout> for NotModelled {
    fn from(layout: UnknownLayout) -> NotModelled {
        NotModelled(layout.to_string())
    }
}

impl From<NotUnderstood> for NotModelled {
    fn from(text: NotUnderstood) -> NotModelled {
        NotModelled(text.0)
    }
}

impl From<String> for NotModelled {
    fn from(what: String) -> NotModelled {
        NotModelled(what)
    }
}

impl From<&str> for NotModelled {
    fn from(what: &str) -> NotModelled {
        NotModelled(what.to_string())
    }
}
