//! Former names of standard packs become their present names before the grammar reads them.

use super::ast::Span;
use super::token::{Kind, Token};
use crate::diagnostic::{Applicability, Diagnostic, Fix, Label, Severity};
use crate::renamed::{CODE, PACKS, warning};

/// Replaces the text of tokens that name a renamed pack, and warns at each of them.
pub(super) fn update(file: u32, tokens: &mut [Token<'_>], diagnostics: &mut Vec<Diagnostic>) {
    for start in 0..tokens.len() {
        let [folder, dot, pack] = &tokens[start..tokens.len().min(start + 3)] else { return };
        let inside = start > 0 && tokens[start - 1].text == ".";
        if inside || folder.kind != Kind::Word || dot.text != "." || pack.kind != Kind::Word {
            continue;
        }
        let named = |former: &str| former.split_once('.') == Some((folder.text, pack.text));
        let Some((former, present)) = PACKS.into_iter().find(|(former, _)| named(former)) else { continue };
        let span = Span { file, start: folder.start, end: pack.end };
        diagnostics.push(Diagnostic {
            code: CODE,
            severity: Severity::Warning,
            message: warning(&format!("`{former}`"), &format!("`{present}`")),
            primary: Label { span, text: "a former name".into() },
            secondary: Vec::new(),
            help: None,
            fix: Some(Fix { span, replacement: present.into(), applicability: Applicability::Safe }),
        });
        if let Some((_, present)) = present.split_once('.') {
            tokens[start + 2].text = present;
        }
    }
}
