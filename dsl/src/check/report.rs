//! Building diagnostics, and the nearest name to a misspelt one.

use crate::diagnostic::{Applicability, Diagnostic, Fix, Label, Severity};
use crate::syntax::ast::{Name, Span};

/// A diagnostic under construction.
pub(crate) struct Report(Diagnostic);

impl Report {
    /// A mistake: its code, the place of its cause, what is wrong in one line, and what stands at the place.
    pub(crate) fn error(code: &'static str, at: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Report(Diagnostic {
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
    }

    /// Another place that takes part. Declarations without a place (`Any`) are left out.
    pub(crate) fn also(mut self, at: Span, text: impl Into<String>) -> Self {
        if at.end > at.start {
            self.0.secondary.push(Label { span: at, text: text.into() });
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

/// The nearest of several names, if it is near enough to be what was meant; the first of equally near ones.
pub fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (wrong.chars().count() / 3).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        if name == wrong || name.chars().count().abs_diff(wrong.chars().count()) > limit {
            continue;
        }
        let d = distance(wrong, name);
        if d <= limit && d < name.chars().count() && best.is_none_or(|(least, _)| d < least) {
            best = Some((d, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Edit distance with transposition of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// `1 argument`, `2 arguments`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_slips_of_the_hand() {
        assert_eq!(nearest("iad", ["isub", "iadd", "imul"]), Some("iadd"));
        assert_eq!(nearest("idad", ["isub", "iadd"]), Some("iadd"));
        assert_eq!(nearest("transpose", ["iadd"]), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn lists_read_like_sentences() {
        let items: Vec<String> = ["a", "b", "c"].map(String::from).into();
        assert_eq!(listed(&items), "a, b and c");
        assert_eq!(count(1, "argument"), "1 argument");
        assert_eq!(count(2, "argument"), "2 arguments");
    }
}
