//! The first screen: what kind of machine this is, what is to be said of it, what the usual entries cost, and how to see
//! the rest.

use super::verdicts::Depth;
use super::{Report, after_blank};
use crate::first_screen::{FirstScreen, closed_in_words, is_all_of};
use crate::line::{Line, look, wrapped};
use document::Level;

/// Findings get so many lines, however long the rest is.
const LEAST: usize = 6;

/// At least so many, where what a user asks next has room behind them.
const FEWEST: usize = 4;

/// What a user asks next; and why figures are not those of the tools that everybody knows.
const QUESTIONS: &str = "kentry doctor: what is wrong here, and what to do. kentry impact -- COMMAND: what entries cost it. perf bench syscall \
                         and lmbench time loops, with company: kentry reproduce pti-unixbench shows both.";

impl Report<'_> {
    pub(super) fn first_screen(&self, screen: &FirstScreen) -> Vec<Line> {
        let head = self.head();
        let mut rest = self.rows(screen);
        rest.extend(after_blank(self.history()));
        rest.extend(after_blank(self.legend()));
        rest.extend(after_blank(self.rest(screen)));
        rest.extend(self.partial());
        let room = self.style.screen().saturating_sub(head.len() + rest.len() + 1);
        let questions = self.questions(room.saturating_sub(FEWEST));
        let least = if questions.is_empty() { LEAST } else { FEWEST };
        let room = room.saturating_sub(questions.len()).max(least);
        let mut lines = head;
        lines.extend(after_blank(self.verdicts_within(room)));
        lines.extend(rest);
        lines.extend(questions);
        lines
    }

    /// As many findings as fit, the most important first. Rather than the remedy of a warning, notes are left out.
    fn verdicts_within(&self, room: usize) -> Vec<Line> {
        let with_remedies = self.each_verdict(Depth::Remedies);
        let warnings = self.findings().filter(|finding| finding.level == Level::Warning).count();
        self.fitting(with_remedies, warnings, room)
            .or_else(|| self.fitting(self.each_verdict(Depth::Verdicts), 0, room))
            .unwrap_or_default()
    }

    /// The first of these findings that fit, and how many more there are; `None` if that would be fewer than `least`.
    fn fitting(&self, mut each: Vec<Vec<Line>>, least: usize, room: usize) -> Option<Vec<Line>> {
        let more = |left: usize| match left {
            0 => Vec::new(),
            1 => self.labelled("", "--all shows 1 more finding."),
            left => self.labelled("", &format!("--all shows {left} more findings.")),
        };
        let length =
            |shown: usize| each[..shown].iter().map(Vec::len).sum::<usize>() + more(each.len() - shown).len();
        let shown = (least.min(each.len())..=each.len()).rev().find(|shown| length(*shown) <= room)?;
        let left = each.len() - shown;
        each.truncate(shown);
        let mut lines: Vec<Line> = each.into_iter().flatten().collect();
        lines.extend(more(left));
        Some(lines)
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

    /// What a user asks next, where this machine was measured and there is room for it.
    fn questions(&self, room: usize) -> Vec<Line> {
        if !(self.document.is_of_linux() && self.document.is_of_host()) {
            return Vec::new();
        }
        let lines = wrapped(Line::default(), look::PLAIN, QUESTIONS, self.width, 0);
        if lines.len() <= room { lines } else { Vec::new() }
    }
}
