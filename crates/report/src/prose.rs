//! Explanations, which are written in Markdown, for a terminal: wrapped, indented, highlighted.

use crate::line::{Line, look};
use crate::{MIN_WIDTH, Style};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

/// What stands below a heading is indented by so many columns.
const INDENT: usize = 2;
/// Lines longer than this are tiring to read, however wide the terminal is.
const MAX_WIDTH: usize = 100;

/// Markdown as text: headings, paragraphs, lists, code. Without color, the marks of code and emphasis are kept.
pub fn prose(markdown: &str, style: &Style) -> String {
    let mut page = Page {
        width: style.width.clamp(MIN_WIDTH, MAX_WIDTH),
        color: style.color,
        lines: Vec::new(),
        indent: INDENT,
        lists: Vec::new(),
        bullet: None,
        words: Vec::new(),
        look: look::PLAIN,
        open: false,
    };
    let mut code = None;
    for event in Parser::new(markdown) {
        match (event, &mut code) {
            (Event::Start(Tag::CodeBlock(_)), _) => code = Some(String::new()),
            (Event::End(TagEnd::CodeBlock), Some(text)) => {
                page.code(text);
                code = None;
            }
            (Event::Text(text), Some(code)) => code.push_str(&text),
            (event, _) => page.take(event),
        }
    }
    page.flush();
    let mut out = String::new();
    page.lines.iter().for_each(|line| line.write(style.color, &mut out));
    out
}

/// A piece of text that no line break may split, in which looks may change.
type Word = Vec<(anstyle::Style, String)>;

struct Page {
    width: usize,
    color: bool,
    lines: Vec<Line>,
    indent: usize,
    /// The next number of each list that is open; none in a list of bullets.
    lists: Vec<Option<u64>>,
    /// What the next paragraph begins with, in the columns before its indentation.
    bullet: Option<String>,
    /// The paragraph so far.
    words: Vec<Word>,
    look: anstyle::Style,
    /// Whether what comes next belongs to the last word.
    open: bool,
}

impl Page {
    fn take(&mut self, event: Event) {
        match event {
            Event::Start(Tag::Heading { .. }) => self.begin_heading(),
            Event::End(TagEnd::Heading(_)) => self.end_heading(),
            Event::Start(Tag::Paragraph) if self.bullet.is_none() => self.blank(),
            Event::End(TagEnd::Paragraph) => self.flush(),
            Event::Start(Tag::List(first)) => self.begin_list(first),
            Event::End(TagEnd::List(_)) => drop(self.lists.pop()),
            Event::Start(Tag::Item) => self.begin_item(),
            Event::End(TagEnd::Item) => self.end_item(),
            Event::Start(Tag::Emphasis | Tag::Strong) => self.emphasis(look::NAME),
            Event::End(TagEnd::Emphasis | TagEnd::Strong) => self.emphasis(look::PLAIN),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text, self.look),
            Event::Code(text) if self.color => self.text(&text, look::BAR),
            Event::Code(text) => self.text(&format!("`{text}`"), look::PLAIN),
            Event::SoftBreak => self.open = false,
            Event::HardBreak => self.flush(),
            _ => (),
        }
    }

    fn begin_heading(&mut self) {
        self.blank();
        (self.indent, self.look) = (0, look::HEADING);
    }

    fn end_heading(&mut self) {
        self.flush();
        (self.indent, self.look) = (INDENT, look::PLAIN);
    }

    fn begin_list(&mut self, first: Option<u64>) {
        if self.lists.is_empty() {
            self.flush();
            self.blank();
        }
        self.lists.push(first);
    }

    fn begin_item(&mut self) {
        self.flush();
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "- ".to_owned(),
        };
        self.indent += bullet.len();
        self.bullet = Some(bullet);
    }

    fn end_item(&mut self) {
        self.flush();
        let width = match self.lists.last() {
            Some(Some(next)) => format!("{}. ", next - 1).len(),
            _ => "- ".len(),
        };
        self.indent -= width;
        self.bullet = None;
    }

    fn emphasis(&mut self, look: anstyle::Style) {
        if self.color {
            self.look = look;
        } else {
            self.text("*", look::PLAIN);
        }
    }

    /// Adds to the paragraph; blanks separate words.
    fn text(&mut self, text: &str, look: anstyle::Style) {
        for (index, piece) in text.split([' ', '\n']).enumerate() {
            if index > 0 {
                self.open = false;
            }
            if piece.is_empty() {
                continue;
            }
            match self.words.last_mut().filter(|_| self.open) {
                Some(word) => word.push((look, piece.to_owned())),
                None => self.words.push(vec![(look, piece.to_owned())]),
            }
            self.open = true;
        }
    }

    /// The paragraph in lines.
    fn flush(&mut self) {
        self.open = false;
        if self.words.is_empty() {
            return;
        }
        let mut line = self.start();
        let mut is_first = true;
        for word in std::mem::take(&mut self.words) {
            let width: usize = word.iter().map(|(_, text)| text.width()).sum();
            if !is_first && line.width() + 1 + width > self.width {
                self.lines.push(std::mem::take(&mut line));
                line.blank(self.indent);
            } else if !is_first {
                // A heading is underlined as one.
                line.push(if self.look == look::HEADING { self.look } else { look::PLAIN }, " ");
            }
            word.iter().for_each(|(look, text)| line.push(*look, text));
            is_first = false;
        }
        self.lines.push(line);
    }

    /// The begin of a paragraph: indentation, and bullet where there is one.
    fn start(&mut self) -> Line {
        let mut line = Line::default();
        let bullet = self.bullet.take().unwrap_or_default();
        line.blank(self.indent - bullet.len());
        line.push(look::FAINT, &bullet);
        line
    }

    fn code(&mut self, text: &str) {
        self.flush();
        self.blank();
        for code in text.lines() {
            let mut line = Line::default();
            line.blank(self.indent + INDENT);
            line.push(look::BAR, code);
            self.lines.push(line);
        }
    }

    /// An empty line, unless there is one, or nothing before it.
    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(Line::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# name\n\nOne *very* long paragraph with `some code` in it (`x`), which does not fit on one line.\n\
                        \n## Heading\n\n1. First\n   goes on.\n2. Second\n\n- [0] a <b>\n\n      mov\n        add\n";

    fn rendered(color: bool, width: usize) -> String {
        prose(TEXT, &Style { color, width, verbose: false, selection: crate::Selection::All })
    }

    #[test]
    fn without_color_marks_stay() {
        assert_eq!(
            rendered(false, 60),
            "name\n\n  One *very* long paragraph with `some code` in it (`x`),\n  which does not fit on one line.\n\n\
             Heading\n\n  1. First goes on.\n  2. Second\n\n  - [0] a <b>\n\n      mov\n        add\n"
        );
    }

    #[test]
    fn color_takes_the_place_of_marks() {
        let text = rendered(true, 60);
        assert!(text.starts_with("\u{1b}[1m\u{1b}[4mname\u{1b}[0m\n"), "{text:?}");
        assert!(
            text.contains("\u{1b}[36msome\u{1b}[0m") && !text.contains('`') && !text.contains('*'),
            "{text}"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_or_than_is_good_to_read() {
        let long = TEXT.repeat(5);
        for (width, most) in [(60, 60), (80, 80), (300, MAX_WIDTH)] {
            let text = prose(
                &long,
                &Style { color: false, width, verbose: false, selection: crate::Selection::All },
            );
            let widest = text.lines().map(UnicodeWidthStr::width).max();
            assert!(widest.is_some_and(|widest| widest <= most), "{width}: {widest:?}");
        }
    }
}
