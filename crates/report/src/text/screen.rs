//! The first screen: what kind of machine this is, what is to be said of it, what the usual entries cost, and how to see
//! the rest.

use super::verdicts::Depth;
use super::{Report, after_blank};
use crate::first_screen::{FirstScreen, closed_in_words, is_all_of};
use crate::line::{Line, look, wrapped};

/// Findings get so many lines, however long the rest is.
const LEAST: usize = 6;

impl Report<'_> {
    pub(super) fn first_screen(&self, screen: &FirstScreen) -> Vec<Line> {
        let head = self.head();
        let mut rest = self.rows(screen);
        rest.extend(after_blank(self.history()));
        rest.extend(after_blank(self.legend()));
        rest.extend(after_blank(self.rest(screen)));
        rest.extend(self.partial());
        let room = self.style.screen().saturating_sub(head.len() + rest.len() + 1).max(LEAST);
        let mut lines = head;
        lines.extend(after_blank(self.verdicts_within(room)));
        lines.extend(rest);
        lines
    }

    /// As many findings as fit, the most important first; the warnings with their remedies where there is room for these.
    fn verdicts_within(&self, room: usize) -> Vec<Line> {
        let full = self.each_verdict(Depth::Remedies);
        if full.iter().map(Vec::len).sum::<usize>() <= room {
            return full.into_iter().flatten().collect();
        }
        let each = self.each_verdict(Depth::Verdicts);
        if each.iter().map(Vec::len).sum::<usize>() <= room {
            return each.into_iter().flatten().collect();
        }
        let mut lines = Vec::new();
        let mut left = each.len();
        for verdict in each {
            if lines.len() + verdict.len() >= room {
                break;
            }
            lines.extend(verdict);
            left -= 1;
        }
        let text = match left {
            1 => "--all shows 1 more finding.".to_owned(),
            left => format!("--all shows {left} more findings."),
        };
        lines.extend(self.labelled("", &text));
        lines
    }

    /// The rows, and in one sentence the entries that do not work here.
    fn rows(&self, screen: &FirstScreen) -> Vec<Line> {
        let mut lines = self.figures_table();
        let closed = closed_in_words(&screen.closed);
        if !closed.is_empty() {
            lines.extend(self.labelled("closed here", &closed));
        }
        lines
    }

    /// How to see everything that was measured, or to measure everything.
    fn rest(&self, screen: &FirstScreen) -> Vec<Line> {
        let all = self.document.results.len();
        let text = match is_all_of(self.document) {
            true => {
                "kentry --all measures every row; --entry and --operation measure the rows that they name."
                    .into()
            }
            false => format!(
                "{} of {all} rows. --all shows every row; --entry and --operation show the rows that they name.",
                screen.rows.len(),
            ),
        };
        wrapped(Line::default(), look::NAME, &text, self.width, 0)
    }
}
