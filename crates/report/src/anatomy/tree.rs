//! Functions below those that called them.

use super::text::{head, written};
use super::words::share;
use crate::Style;
use crate::line::{Line, look};
use anatomy::{Document, Function};

/// Columns of a number.
const NUMBER: usize = 7;

/// A function stands so much to the right of its caller; callers of callers are no further than this many.
const INDENT: usize = 2;
const DEEPEST: usize = 20;

pub(super) fn render(document: &Document, style: &Style) -> Vec<u8> {
    let mut lines = head(document, style.columns());
    let names = document.paths.len() > 1;
    for path in &document.paths {
        lines.push(Line::default());
        if names {
            lines.push(Line::new(look::NAME, &path.configuration.name()));
        }
        let mut heading = Line::default();
        ["all", "own", "share"].iter().for_each(|name| heading.push_right(look::FAINT, name, NUMBER + 1));
        heading.push(look::FAINT, "  function");
        lines.push(heading);
        let tree = path.anatomy.functions();
        let mut open: Vec<(&Function, usize)> =
            tree.called.iter().rev().map(|function| (function, 0)).collect();
        while let Some((function, depth)) = open.pop() {
            lines.push(line(function, depth, tree.total));
            open.extend(function.called.iter().rev().map(|called| (called, depth + 1)));
        }
    }
    written(&lines, style)
}

fn line(function: &Function, depth: usize, all: usize) -> Line {
    let mut line = Line::default();
    line.push_right(look::NAME, &function.total.to_string(), NUMBER + 1);
    line.push_right(look::PLAIN, &function.own.to_string(), NUMBER + 1);
    line.push_right(look::FAINT, &share(function.total, all), NUMBER + 1);
    line.blank(2 + INDENT * depth.min(DEEPEST));
    line.push(look::PLAIN, &function.name);
    if function.calls > 1 {
        line.push(look::FAINT, &format!(" × {}", function.calls));
    }
    line
}
