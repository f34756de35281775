//! Functions of libraries that were allowed and are not there.

use rewright_dsl::diagnostic::Label;
use rewright_dsl::program::Program;
use rewright_native::exports::{file, meant};
use rewright_native::jit::CANNOT_LINK;

/// Where a function is linked that a reason speaks of, and what to do about it.
pub(super) fn place(program: &Program, reason: &str) -> Option<(Label, String)> {
    let (op, link) = program.universe.ops.iter().find_map(|(id, op)| {
        let link = op.link.as_ref()?;
        reason.starts_with(&format!("{CANNOT_LINK} {} from {}:", link.symbol, link.library)).then_some((id, link))
    })?;
    let name = &program.universe.ops.get(op).name;
    let label = Label { span: *program.links.get(&op)?, text: format!("`{name}` is not there") };
    let help = match meant(&link.library, &link.symbol) {
        Some(symbol) => format!("did you mean `{symbol}`, which the library has?"),
        None if file(&link.library).is_none_or(|file| !file.exists()) => "there is no such library here".into(),
        None => "`nm -D --defined-only` lists what a library has; a macro of its header may have renamed the function"
            .into(),
    };
    Some((label, help))
}
