//! Lines of a terminal: spans of text, each with its look, whose width is known.

use crate::Style;
use crate::plain::plain;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthStr;

/// A blank that does not break a line; it is written as an ordinary one.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// The looks that a report uses.
pub(crate) mod look {
    use anstyle::{AnsiColor, Style};

    pub const PLAIN: Style = Style::new();
    pub const HEADING: Style = Style::new().bold().underline();
    pub const NAME: Style = Style::new().bold();
    pub const FAINT: Style = Style::new().dimmed();
    pub const BAR: Style = AnsiColor::Cyan.on_default();
    pub const CLOSED: Style = AnsiColor::Magenta.on_default();
    pub const WRONG: Style = AnsiColor::Red.on_default().bold();
    pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
    pub const GOOD: Style = AnsiColor::Green.on_default();
}

/// One line, without its end.
#[derive(Debug, Default)]
pub(crate) struct Line {
    spans: Vec<(anstyle::Style, String)>,
    width: usize,
}

impl Line {
    pub fn new(look: anstyle::Style, text: &str) -> Self {
        let mut line = Self::default();
        line.push(look, text);
        line
    }

    /// Appends text, made harmless.
    pub fn push(&mut self, look: anstyle::Style, text: &str) {
        let text = plain(text).replace(NO_BREAK, " ");
        self.width += text.width();
        self.spans.push((look, text));
    }

    /// Appends text at the right end of a cell of `columns`.
    pub fn push_right(&mut self, look: anstyle::Style, text: &str, columns: usize) {
        self.blank(columns.saturating_sub(text.width()));
        self.push(look, text);
    }

    pub fn blank(&mut self, columns: usize) {
        self.push(look::PLAIN, &" ".repeat(columns));
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether `text` fits behind it.
    pub fn has_room(&self, text: &str, width: usize) -> bool {
        self.width + text.width() <= width
    }

    /// Blanks up to a column; nothing when the line is that long already.
    pub fn blank_to(&mut self, column: usize) {
        self.blank(column.saturating_sub(self.width));
    }

    /// The line's bytes, without blanks at its end.
    pub fn write(&self, color: bool, out: &mut String) {
        let last = self.spans.iter().rposition(|(_, text)| !text.trim_end().is_empty());
        for (index, (look, text)) in self.spans.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
            let text = if Some(index) == last { text.trim_end() } else { text };
            if color && !text.is_empty() {
                out.push_str(&format!("{look}{text}{look:#}"));
            } else {
                out.push_str(text);
            }
        }
        out.push('\n');
    }
}

/// Lines as bytes, with colors where the style has them.
pub(crate) fn written(lines: &[Line], style: &Style) -> Vec<u8> {
    let mut out = String::new();
    lines.iter().for_each(|line| line.write(style.color, &mut out));
    out.into_bytes()
}

/// A text beside a label: as [`wrapped`], and every line of it begins at `column`.
pub(crate) fn labelled(
    mut label: Line,
    look: anstyle::Style,
    text: &str,
    width: usize,
    column: usize,
) -> Vec<Line> {
    label.blank_to(column);
    wrapped(label, look, text, width, column)
}

/// A text in lines of at most `width` columns, of which the first begins with `start` and the others with `indent`
/// blanks. Words longer than a line are broken, nothing is left out.
pub(crate) fn wrapped(
    start: Line,
    look: anstyle::Style,
    text: &str,
    width: usize,
    indent: usize,
) -> Vec<Line> {
    let (before, behind) = (" ".repeat(start.width), " ".repeat(indent));
    let options = Options::new(width)
        .initial_indent(&before)
        .subsequent_indent(&behind)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = plain(text);
    let pieces = textwrap::wrap(&text, options);
    let mut lines = vec![start];
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            lines.push(Line::default());
            lines[index].blank(indent);
        }
        let skip = if index == 0 { before.len() } else { behind.len() };
        lines[index].push(look, piece.get(skip..).unwrap_or_default());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[Line], color: bool) -> String {
        let mut out = String::new();
        lines.iter().for_each(|line| line.write(color, &mut out));
        out
    }

    #[test]
    fn long_words_are_broken_and_whole() {
        let lines =
            wrapped(Line::new(look::NAME, "name: "), look::PLAIN, "one two-three abcdefghijklmn", 12, 2);
        assert_eq!(text(&lines, false), "name: one\n  two-three\n  abcdefghij\n  klmn\n");
    }

    #[test]
    fn a_start_that_fills_the_line_stands_alone() {
        let lines = wrapped(Line::new(look::PLAIN, "exactly ten "), look::PLAIN, "and more", 11, 2);
        assert_eq!(text(&lines, false), "exactly ten\n  and more\n");
    }

    #[test]
    fn color_ends_with_its_span() {
        let mut line = Line::new(look::NAME, "a");
        line.blank_to(4);
        assert_eq!(text(&[line], true), "\u{1b}[1ma\u{1b}[0m\n");
    }
}
