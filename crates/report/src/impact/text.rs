//! An impact for a terminal.

use super::table::{calls, parts, processes, remedies};
use super::words;
use crate::Style;
use crate::bar;
use crate::grid::Grid;
use crate::line::{Line, look, wrapped, written};
use crate::text::{TEXT_COLUMN, after_blank, fact};
use attribution::impact::Impact;

pub(super) fn render(impact: &Impact, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines = fact("impact", &words::subject(impact), width);
    lines.extend(fact("share", &words::answer(impact), width));
    lines.extend(bar(impact, width));
    lines.extend(fact("CPU time", &words::cpu(impact), width));
    for (place, crossing) in words::crossings(impact).iter().enumerate() {
        lines.extend(fact(if place == 0 { "crossing" } else { "" }, crossing, width));
    }
    lines.extend(fact("counting", &words::observing(impact), width));
    lines.extend(impact.remarks.iter().flat_map(|remark| fact("note", remark, width)));
    let table = |(grid, hidden): (Grid, usize), what: &str| {
        let mut lines = if grid.is_empty() { Vec::new() } else { after_blank(grid.lines(width)) };
        if hidden > 0 {
            let more = format!("--verbose shows {hidden} more {what}.");
            lines.extend(wrapped(Line::default(), look::FAINT, &more, width, 0));
        }
        lines
    };
    lines.extend(table(calls(impact, style.verbose), "calls"));
    lines.extend(table(processes(impact, style.verbose), "processes"));
    lines.extend(table((parts(impact), 0), ""));
    lines.extend(table((remedies(impact), 0), ""));
    lines.extend(after_blank(wrapped(Line::default(), look::FAINT, words::LEGEND, width, 0)));
    written(&lines, style)
}

/// All of the CPU time: what goes into crossings, what may go, and the rest.
fn bar(impact: &Impact, width: usize) -> Option<Line> {
    let share = impact.share?;
    let columns = width.saturating_sub(TEXT_COLUMN).min(60);
    let at = |share: f64| (share.clamp(0.0, 1.0) * columns as f64).round() as usize;
    let (sure, possible) = (at(share.low), at(share.high));
    let mut line = Line::default();
    line.blank_to(TEXT_COLUMN);
    line.push(look::BAR, &bar::FULL.repeat(sure));
    line.push(look::BAR, &bar::PUBLISHED.repeat(possible.saturating_sub(sure)));
    line.push(look::FAINT, &"·".repeat(columns - possible.max(sure)));
    Some(line)
}
