//! Colours that know what names mean.

use crate::snapshot::Snapshot;
use lsp_types::{SemanticToken, SemanticTokenType};
use rewright_dsl::index::Entity;
use rewright_dsl::syntax::{PieceKind, pieces};

/// The kinds of tokens, by the numbers that the protocol sends.
pub const LEGEND: [SemanticTokenType; 13] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::COMMENT,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::TYPE,
    SemanticTokenType::TYPE_PARAMETER,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::EVENT,
    SemanticTokenType::METHOD,
    SemanticTokenType::VARIABLE,
];

fn kind(entity: &Entity) -> SemanticTokenType {
    match entity {
        Entity::Pack | Entity::Alias { .. } | Entity::Ruleset(_) | Entity::Schedule(_) => SemanticTokenType::NAMESPACE,
        Entity::Type(_) | Entity::Family => SemanticTokenType::TYPE,
        Entity::TypeParameter => SemanticTokenType::TYPE_PARAMETER,
        Entity::Function { .. } => SemanticTokenType::FUNCTION,
        Entity::Fact(_) => SemanticTokenType::PROPERTY,
        Entity::Effect => SemanticTokenType::EVENT,
        Entity::Rule(_) => SemanticTokenType::METHOD,
        Entity::Example(_) => SemanticTokenType::STRING,
        Entity::Variable { .. } => SemanticTokenType::VARIABLE,
    }
}

/// The tokens of a file, each relative to the one before it.
pub fn tokens(snapshot: &Snapshot, file: u32) -> Vec<SemanticToken> {
    let text = snapshot.text(file);
    let (lines, index) = (snapshot.lines(file), snapshot.index());
    let mut found = vec![];
    let (mut line, mut column) = (0, 0);
    for piece in pieces(text) {
        let entity = index
            .at(file, piece.start)
            .filter(|occurrence| occurrence.span.start <= piece.start && piece.end <= occurrence.span.end)
            .and_then(|occurrence| index.meanings(occurrence).next())
            .map(|(_, definition)| kind(&definition.entity));
        let kind = match (piece.kind, entity) {
            (PieceKind::Name | PieceKind::Keyword, Some(kind)) => kind,
            (PieceKind::Keyword, None) => SemanticTokenType::KEYWORD,
            (PieceKind::Symbol, Some(_)) => SemanticTokenType::OPERATOR,
            (PieceKind::Comment, _) => SemanticTokenType::COMMENT,
            (PieceKind::Text, _) => SemanticTokenType::STRING,
            (PieceKind::Number, _) => SemanticTokenType::NUMBER,
            (PieceKind::Name | PieceKind::Symbol | PieceKind::Bad, _) => continue,
        };
        let Some(token_type) = LEGEND.iter().position(|known| *known == kind) else { continue };
        let at = lines.position(text, piece.start);
        let written = text.get(piece.start as usize..piece.end as usize).unwrap_or_default();
        let delta_start = if at.line == line { at.character - column } else { at.character };
        found.push(SemanticToken {
            delta_line: at.line - line,
            delta_start,
            length: lines.encoding().length(written),
            token_type: token_type as u32,
            token_modifiers_bitset: 0,
        });
        (line, column) = (at.line, at.character);
    }
    found
}
