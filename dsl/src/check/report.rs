//! Building diagnostics, and the nearest name to a misspelt one.

pub(crate) use crate::diagnostic::count;
use crate::diagnostic::{Applicability, Diagnostic, Fix, Label, Severity};
use crate::nearest::nearest;
use crate::syntax::ast::{Name, Span};

/// A diagnostic under construction.
pub(crate) struct Diag(Diagnostic);

impl Diag {
    /// A mistake: its code, the place of its cause, what is wrong in one line, and what stands at the place.
    pub(crate) fn error(code: &'static str, at: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Diag(Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { span: at, text: label.into() },
            secondary: Vec::new(),
            help: None,
            fix: None,
        })
    }

    /// A lint.
    pub(crate) fn lint(code: &'static str, at: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        let mut report = Self::error(code, at, message, label);
        report.0.severity = Severity::Warning;
        report
    }

    /// A second declaration of a name.
    pub(crate) fn twice(kind: &str, name: &Name, first: Span) -> Self {
        Self::error("RW0210", name.span, format!("{kind} `{}` is declared twice", name.node), "again here")
            .also(first, "first declared here")
            .help("give one of them another name, or remove it")
    }

    /// Another place that takes part. Declarations without a place (`Any`) are left out.
    pub(crate) fn also(mut self, at: Span, text: impl Into<String>) -> Self {
        // Overloads that a list has by its lengths are one declaration.
        let text = text.into();
        let is_said = self.0.secondary.iter().any(|label| label.span == at && label.text == text);
        if at.end > at.start && !is_said {
            self.0.secondary.push(Label { span: at, text });
        }
        self
    }

    /// A way on.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.0.help = Some(text.into());
        self
    }

    /// `did you mean ...`, if some name is near; else the other advice.
    pub(crate) fn nearest<'n>(
        self,
        wrong: &str,
        names: impl IntoIterator<Item = &'n str>,
        otherwise: impl FnOnce() -> Option<String>,
    ) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        match nearest(wrong, names.iter().copied()) {
            Some(name) => {
                let others = names.iter().copied().filter(|other| *other != name);
                let unique = nearest(wrong, others).is_none();
                self.help(format!("did you mean `{name}`?")).instead(wrong, name, unique)
            }
            None => match otherwise() {
                Some(text) => self.help(text),
                None => self,
            },
        }
    }

    /// Another name at the place of the cause, if that is all that stands there.
    fn instead(mut self, wrong: &str, name: &str, unique: bool) -> Self {
        let span = self.0.primary.span;
        if (span.end - span.start) as usize == wrong.len() {
            let applicability = if unique { Applicability::Safe } else { Applicability::Maybe };
            self.0.fix = Some(Fix { span, replacement: name.into(), applicability });
        }
        self
    }

    /// The one change that takes the mistake away.
    pub(crate) fn repair(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.0.fix = Some(Fix { span, replacement: replacement.into(), applicability: Applicability::Safe });
        self
    }

    /// `=>` in place of `<=>`, where nothing else stands between the sides.
    pub(crate) fn repair_arrow(self, left: Span, right: Span) -> Self {
        match right.start.checked_sub(left.end) {
            Some(between) if between as usize == " <=> ".len() => {
                self.repair(Span { start: left.end, end: right.start, ..right }, " => ")
            }
            _ => self,
        }
    }

    /// The finished value.
    pub(crate) fn done(self) -> Diagnostic {
        self.0
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_like_sentences() {
        let items: Vec<String> = ["a", "b", "c"].map(String::from).into();
        assert_eq!(listed(&items), "a, b and c");
        assert_eq!(count(1, "argument"), "1 argument");
        assert_eq!(count(2, "argument"), "2 arguments");
    }
}
