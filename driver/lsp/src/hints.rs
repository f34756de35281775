//! Types of variables whose types are not written.

use crate::snapshot::Snapshot;
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel};
use rewright_dsl::index::Entity;

/// The hints between two bytes of a file.
pub fn hints(snapshot: &Snapshot, file: u32, part: (u32, u32)) -> Vec<InlayHint> {
    let here = snapshot
        .index()
        .definitions()
        .filter(|(name, _)| name.file == file && part.0 <= name.end && name.start <= part.1);
    here.filter_map(|(name, definition)| {
        let Entity::Variable { ty: Some(ty), annotated: false } = &definition.entity else { return None };
        Some(InlayHint {
            position: snapshot.range(name).end,
            label: InlayHintLabel::String(format!(": {ty}")),
            kind: Some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: None,
            padding_left: None,
            padding_right: None,
            data: None,
        })
    })
    .collect()
}
