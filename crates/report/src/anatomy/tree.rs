//! Functions below those that called them.

use super::names::names;
use super::text::{columns, head};
use super::words::share;
use crate::Style;
use crate::line::{Line, look, wrapped, written};
use attribution::anatomy::{Document, Function};

/// Columns of a number.
const NUMBER: usize = 8;

/// A function stands so much to the right of its caller; callers of callers are no further than this many.
const INDENT: usize = 2;
const DEEPEST: usize = 20;

/// With fewer columns than this there is no share, and a function is closer to its caller.
const NARROW: usize = 80;

/// Where the columns are.
struct Layout {
    width: usize,
    has_share: bool,
    indent: usize,
}

impl Layout {
    fn of(width: usize) -> Layout {
        let is_narrow = width < NARROW;
        Layout { width, has_share: !is_narrow, indent: if is_narrow { 1 } else { INDENT } }
    }

    fn numbers(&self, cells: [&str; 3], looks: [anstyle::Style; 3]) -> Line {
        let mut line = Line::default();
        let shown = if self.has_share { 3 } else { 2 };
        cells.iter().zip(looks).take(shown).for_each(|(cell, look)| line.push_right(look, cell, NUMBER));
        line.blank(2);
        line
    }

    fn lines(&self, function: &Function, depth: usize, all: usize) -> Vec<Line> {
        let cells = [function.total.to_string(), function.own.to_string(), share(function.total, all)];
        let mut line =
            self.numbers(cells.each_ref().map(String::as_str), [look::NAME, look::PLAIN, look::FAINT]);
        line.blank(self.indent * depth.min(DEEPEST));
        let indent = line.width();
        let times = if function.calls > 1 { format!(" × {}", function.calls) } else { String::new() };
        wrapped(line, look::PLAIN, &format!("{}{times}", function.name), self.width, indent)
    }
}

pub(super) fn render(document: &Document, style: &Style) -> Vec<u8> {
    let layout = Layout::of(columns(style));
    let mut lines = head(document, layout.width);
    let has_names = document.paths.len() > 1;
    for (path, name) in document.paths.iter().zip(names(document)) {
        lines.push(Line::default());
        lines.extend(has_names.then(|| Line::new(look::NAME, &name)));
        let mut heading = layout.numbers(["all", "own", "share"], [look::FAINT; 3]);
        heading.push(look::FAINT, "function");
        lines.push(heading);
        let tree = path.anatomy.functions();
        let mut open: Vec<(&Function, usize)> =
            tree.called.iter().rev().map(|function| (function, 0)).collect();
        while let Some((function, depth)) = open.pop() {
            lines.extend(layout.lines(function, depth, tree.total));
            open.extend(function.called.iter().rev().map(|called| (called, depth + 1)));
        }
    }
    written(&lines, style)
}
