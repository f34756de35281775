//! Text with possible line breaks, and how it is fitted into the width: Wadler's groups ("A prettier printer", 2003),
//! with line comments as a further kind of text that ends its line.
//!
//! A group is printed on one line if it fits there together with what follows it up to the next possible break;
//! otherwise all its own breaks are taken. A comment is never followed by text on its line, whatever the breaks say.

/// Columns to stay within.
pub(super) const WIDTH: usize = 120;
/// Columns per level.
const INDENT: usize = 2;

/// A piece of a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Op {
    /// Text without line breaks.
    Text(String),
    /// This many spaces.
    Space(usize),
    /// This many spaces, or a line break if the group is broken.
    Line(usize),
    /// A line break.
    HardLine,
    /// The next line break leaves a line empty.
    Blank,
    /// Text only if the group is broken.
    IfBroken(&'static str),
    /// A group begins.
    Open,
    /// The innermost group ends.
    Close,
    /// One level more from the next line on.
    Indent,
    /// One level less from the next line on.
    Dedent,
    /// A comment that ends the line.
    Trailing(String),
    /// A comment on a line of its own.
    OwnLine(String),
}

/// The text of a layout. Ends in a line break unless it is empty.
pub(super) fn render(ops: &[Op]) -> String {
    let mut out = Output::default();
    let mut broken = vec![true];
    for (at, op) in ops.iter().enumerate() {
        let in_broken = broken.last().copied().unwrap_or(true);
        match op {
            Op::Text(text) => out.text(text),
            Op::IfBroken(text) if in_broken => out.text(text),
            Op::IfBroken(_) => {}
            Op::Line(_) if in_broken || out.must_break() => out.line(),
            Op::Line(spaces) | Op::Space(spaces) => out.spaces += spaces,
            Op::HardLine => out.line(),
            Op::Blank => out.blank = true,
            Op::Open => broken.push(in_broken && !fits(&ops[at + 1..], out.column(), &broken)),
            Op::Close => {
                broken.pop();
            }
            Op::Indent => out.indent += 1,
            Op::Dedent => out.indent -= 1,
            Op::Trailing(text) => out.trailing(text),
            Op::OwnLine(text) => out.own_line(text),
        }
    }
    out.finish()
}

/// Does a group, whose inside begins here, fit on the rest of the line? `broken` are the groups around it.
fn fits(ops: &[Op], column: usize, broken: &[bool]) -> bool {
    let mut column = column;
    let mut inside = 1;
    let mut outside = broken.len();
    let mut comment = false;
    for op in ops {
        match op {
            Op::Text(text) => {
                if comment && text != "," {
                    return false;
                }
                column += text.chars().count();
            }
            Op::Line(spaces) => {
                if inside == 0 && broken.get(outside.wrapping_sub(1)).copied().unwrap_or(true) {
                    return true;
                }
                if comment {
                    return false;
                }
                column += spaces;
            }
            Op::Space(spaces) => column += spaces,
            Op::HardLine => return inside == 0,
            Op::OwnLine(_) => return inside == 0,
            Op::Trailing(_) => comment = true,
            Op::Open if inside > 0 => inside += 1,
            // A group that follows may break on its own.
            Op::Open => outside += 1,
            Op::Close if inside > 0 => inside -= 1,
            Op::Close => outside = outside.saturating_sub(1),
            Op::IfBroken(text) if inside == 0 => column += text.len(),
            Op::IfBroken(_) | Op::Blank | Op::Indent | Op::Dedent => {}
        }
        if column > WIDTH {
            return false;
        }
    }
    true
}

#[derive(Default)]
struct Output {
    done: String,
    line: String,
    indent: usize,
    /// Spaces to write before the next text of the line.
    spaces: usize,
    /// Comment that ends the line.
    comment: Option<String>,
    /// The line is a comment: no text may follow.
    closed: bool,
    blank: bool,
}

impl Output {
    /// Where the next text will stand: after a comment, on a new line.
    fn column(&self) -> usize {
        if self.line.is_empty() || self.must_break() {
            self.indent * INDENT
        } else {
            self.line.chars().count() + self.spaces
        }
    }

    fn must_break(&self) -> bool {
        self.closed || self.comment.is_some()
    }

    fn text(&mut self, text: &str) {
        if self.closed || self.comment.is_some() && text != "," {
            self.line();
        }
        self.begin_line();
        self.blank = false;
        self.line.extend(std::iter::repeat_n(' ', std::mem::take(&mut self.spaces)));
        self.line.push_str(text);
    }

    fn begin_line(&mut self) {
        if self.line.is_empty() {
            if std::mem::take(&mut self.blank) && !self.done.is_empty() && !self.done.ends_with("\n\n") {
                self.done.push('\n');
            }
            self.spaces = 0;
            self.line.extend(std::iter::repeat_n(' ', self.indent * INDENT));
        }
    }

    fn trailing(&mut self, text: &str) {
        match &mut self.comment {
            // A second comment cannot end the same line.
            Some(_) => self.own_line(text),
            none if !self.line.is_empty() && !self.closed => *none = Some(text.to_owned()),
            _ => self.own_line(text),
        }
    }

    fn own_line(&mut self, text: &str) {
        self.line();
        self.begin_line();
        self.line.push_str(text);
        self.closed = true;
    }

    /// Ends the line at hand, if anything stands on it.
    fn line(&mut self) {
        self.spaces = 0;
        if self.line.is_empty() {
            return;
        }
        if let Some(comment) = self.comment.take() {
            self.line.push(' ');
            self.line.push_str(&comment);
        }
        self.done.push_str(self.line.trim_end());
        self.done.push('\n');
        self.line.clear();
        self.closed = false;
    }

    fn finish(mut self) -> String {
        self.line();
        self.done
    }
}
