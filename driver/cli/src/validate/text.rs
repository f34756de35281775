//! The text of a version of a file, and its mistakes.

use anyhow::anyhow;
use rewright_llvm::module;
use rewright_pipeline::front::ReadError;

/// A version of a file: what messages call it, and what it says.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The mistakes of a file, with its name.
pub(super) fn mistakes(name: &str, error: ReadError) -> anyhow::Error {
    match error {
        ReadError::Mistakes { mistakes, .. } => {
            let lines: Vec<String> = mistakes.iter().map(|mistake| format!("{name}{mistake}")).collect();
            anyhow!(lines.join("\n"))
        }
        error => anyhow!("{name}: {error}"),
    }
}

/// Why bytes are no text.
pub(super) fn not_text(text: &Text, error: &std::string::FromUtf8Error) -> anyhow::Error {
    if text.bytes.starts_with(b"BC\xc0\xde") {
        return mistakes(&text.name, module::ReadError::Bitcode.into());
    }
    anyhow!("{} is not text: byte {} is not UTF-8", text.name, error.utf8_error().valid_up_to())
}
