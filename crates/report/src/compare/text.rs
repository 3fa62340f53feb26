//! The comparison for a terminal: what is compared, what else differs, the answer, and the rows that matter.

use super::gate;
use super::groups::{Group, Kind, Names, groups};
use super::more::{self, more};
use super::table::{self, BARS, ERRORS, short};
use super::words;
use crate::bar::CHANGES;
use crate::grid::{self, Fitted};
use crate::line::{Line, labelled, look, wrapped, written};
use crate::text::{TEXT_COLUMN, after_blank, units_stay};
use crate::{Selection, Style};
use compare::{Comparison, Confounder, GateAnswer, Severity, Unit, Verdict};

/// What else differs gets so many lines of it at most.
const MOST_CONFOUNDERS: usize = 7;

/// So many inconclusive rows are shown beside others: those that may have changed most.
const MOST_INCONCLUSIVE: usize = 10;

/// So many rows that opened or closed: where 32-bit programs are switched off, all of their entries do.
const MOST_CLOSED: usize = 4;

/// Rows get so many lines, however long the rest is.
const LEAST_ROWS: usize = 12;

pub(super) fn render(compared: &Comparison, style: &Style) -> Vec<u8> {
    written(&Screen::of(compared, style).lines(), style)
}

/// The rows that have room.
struct Shown<'a> {
    lines: Vec<Line>,
    rows: Vec<&'a compare::Row>,
    /// How many of each kind have none.
    not_shown: Vec<(Kind, usize)>,
}

/// All rows as a table, in the order of the groups.
struct Table<'a> {
    fitted: Fitted<'a>,
    rows: &'a [grid::Row],
}

/// Everything that the lines are made from.
struct Screen<'a> {
    compared: &'a Comparison,
    groups: Vec<Group<'a>>,
    names: Names<'a>,
    style: Style,
    width: usize,
}

impl<'a> Screen<'a> {
    fn of(compared: &'a Comparison, style: &Style) -> Screen<'a> {
        let (groups, names) = (groups(compared), Names::of(compared));
        Screen { compared, groups, names, style: *style, width: style.columns() }
    }

    fn is_whole(&self) -> bool {
        self.style.selection == Selection::All
    }

    fn lines(&self) -> Vec<Line> {
        let labels: Vec<String> = self.groups.iter().map(|group| self.label(group)).collect();
        let grid = table::grid(&self.groups, &labels, &self.names, self.width);
        let table = Table { fitted: grid.fitted(self.width), rows: grid.rows() };
        let mut lines = self.head();
        lines.extend(self.partial());
        lines.extend(after_blank(self.confounders()));
        lines.extend(after_blank(self.answer()));
        let legend = after_blank(self.legend(&table));
        let more = after_blank(self.more());
        // Three lines say what is not shown, and two what figures of turns are.
        let of_turns = if words::two_costs(self.compared.rows.iter()).is_some() { 2 } else { 0 };
        let others = lines.len() + legend.len() + more.len() + 3 + of_turns;
        let room = self.style.screen().saturating_sub(others).max(LEAST_ROWS);
        let Shown { lines: shown, rows, not_shown } =
            self.rows(&table, if self.is_whole() { usize::MAX } else { room });
        lines.extend(shown);
        if self.groups.iter().any(|group| group.kind.has_change()) {
            lines.extend(legend);
        }
        if let Some(text) = words::two_costs(rows.into_iter()) {
            lines.extend(wrapped(Line::default(), look::FAINT, text, self.width, 0));
        }
        lines.extend(after_blank(self.not_shown(&not_shown)));
        lines.extend(more);
        lines
    }

    fn labelled(
        &self,
        label: &str,
        label_look: anstyle::Style,
        text: &str,
        text_look: anstyle::Style,
    ) -> Vec<Line> {
        labelled(Line::new(label_look, label), text_look, &units_stay(text), self.width, TEXT_COLUMN)
    }

    /// What is compared.
    fn head(&self) -> Vec<Line> {
        let side = |side| Some(words::side(side));
        let facts = [
            ("base", side(&self.compared.base)),
            ("new", side(&self.compared.new)),
            ("both", words::common(self.compared)),
            ("history", words::history(self.compared)),
        ];
        let line = |(label, text): (&str, Option<String>)| {
            text.map(|text| self.labelled(label, look::FAINT, &text, look::PLAIN)).unwrap_or_default()
        };
        facts.into_iter().flat_map(line).collect()
    }

    /// Whether a measurement was cut short.
    fn partial(&self) -> Vec<Line> {
        let text = words::partial(self.compared);
        text.map(|text| wrapped(Line::default(), look::WARNING, &text, self.width, 0)).unwrap_or_default()
    }

    /// What else differs, the most serious first.
    fn confounders(&self) -> Vec<Line> {
        if self.compared.confounders.is_empty() {
            return self.labelled("differs", look::FAINT, words::ALIKE, look::PLAIN);
        }
        let each: Vec<Vec<Line>> =
            self.compared.confounders.iter().map(|confounder| self.confounder(confounder)).collect();
        let all: usize = each.iter().map(Vec::len).sum();
        let mut lines = Vec::new();
        let mut left = each.len();
        for confounder in each {
            let is_too_long = lines.len() + confounder.len() >= MOST_CONFOUNDERS && all > MOST_CONFOUNDERS;
            if is_too_long && !self.is_whole() && !lines.is_empty() {
                break;
            }
            lines.extend(confounder);
            left -= 1;
        }
        if left > 0 {
            let text = format!("{left} more of what differs: --all");
            lines.extend(self.labelled("", look::FAINT, &text, look::NAME));
        }
        lines
    }

    fn confounder(&self, confounder: &Confounder) -> Vec<Line> {
        let look = match confounder.severity {
            Severity::Refuses => look::WRONG,
            Severity::Caution => look::WARNING,
            Severity::Note => look::NAME,
        };
        let text = format!("{}. {}", words::values(confounder, self.style.verbose), confounder.meaning);
        self.labelled(words::severity(confounder.severity), look, &text, look::PLAIN)
    }

    /// Did it get slower?
    fn answer(&self) -> Vec<Line> {
        let question = words::of(self.compared).question;
        let mut lines = self.labelled(question, look::HEADING, &words::answer(self.compared), look::NAME);
        if let Some(gate) = &self.compared.gate {
            let look = match gate.answer {
                GateAnswer::Pass => look::GOOD,
                GateAnswer::Inconclusive => look::WARNING,
                GateAnswer::Regression => look::WRONG,
            };
            lines.extend(self.labelled("gate", look, &gate::result(self.compared, gate), look::PLAIN));
        }
        lines
    }

    /// The groups that have room, the most important first, and how many rows of each kind are left out. What is the same and
    /// what is closed on both sides is shown only if everything fits. Rows that leave a gate open are shown in any case.
    fn rows(&self, table: &Table, room: usize) -> Shown<'a> {
        let whole: Vec<Vec<Vec<Line>>> =
            (0..self.groups.len()).map(|place| self.group(table, place, true)).collect();
        // Each group with its heading, and a blank line before the first.
        let lines_of = |rows: &Vec<Vec<Line>>| 1 + rows.iter().map(Vec::len).sum::<usize>();
        let fits = whole.iter().map(lines_of).sum::<usize>() < room;
        let must: Vec<&compare::Row> = more::open(self.compared);
        let mut shown = Shown { lines: Vec::new(), rows: Vec::new(), not_shown: Vec::new() };
        for (number, (group, rows)) in self.groups.iter().zip(whole).enumerate() {
            let Shown { lines, rows: with_room, not_shown } = &mut shown;
            let rows = if fits { rows } else { self.group(table, number, false) };
            let most = match group.kind.verdict {
                _ if fits => usize::MAX,
                Verdict::Slower | Verdict::Faster => usize::MAX,
                Verdict::Closed | Verdict::Opened | Verdict::CauseChanged => MOST_CLOSED,
                Verdict::Inconclusive => MOST_INCONCLUSIVE,
                _ => 0,
            };
            let mut left = rows.len();
            let mut own = Vec::new();
            let mut is_full = false;
            for (place, (row, of_row)) in group.rows.iter().zip(rows).enumerate() {
                // A blank line and the group's heading take two.
                is_full |= place >= most || lines.len() + own.len() + of_row.len() + 2 > room;
                if is_full && !must.iter().any(|must| std::ptr::eq(*must, *row)) {
                    continue;
                }
                own.extend(of_row);
                with_room.push(*row);
                left -= 1;
            }
            if !own.is_empty() {
                lines.extend(lines.is_empty().then(Line::default));
                lines.push(table.fitted.headed(&self.label(group), group.kind.has_change()));
                lines.extend(own);
            }
            if left > 0 {
                not_shown.push((group.kind, left));
            }
        }
        shown
    }

    fn label(&self, group: &Group) -> String {
        format!("{}: {}", words::kind(group.kind, self.compared), group.rows.len())
    }

    /// The lines of each row of a group: whole, or with what became of it on one line.
    fn group(&self, table: &Table, place: usize, is_whole: bool) -> Vec<Vec<Line>> {
        let before = self.groups[..place].iter().map(|group| group.rows.len()).sum();
        let lines = |(row, cells): (&&compare::Row, &grid::Row)| {
            let mut lines = table::lines(&table.fitted, cells, row, is_whole);
            let said = self.style.verbose.then(|| words::evidence(row)).flatten();
            let said = said.into_iter().chain(row.remarks.iter().filter(|_| self.is_whole()).cloned());
            for remark in said {
                let mut start = Line::default();
                start.blank(6);
                lines.extend(wrapped(start, look::FAINT, &remark, self.width, 6));
            }
            lines
        };
        self.groups[place].rows.iter().zip(&table.rows[before..]).map(lines).collect()
    }

    /// What the marks of the columns mean; only of those that there are.
    fn legend(&self, table: &Table) -> Vec<Line> {
        let mut items = Vec::new();
        let unit = table::unit(&self.groups);
        items.push(match unit {
            Some(Unit::Cycles) => "figures: core cycles.".to_owned(),
            Some(unit) => format!("figures: {}.", unit.name()),
            None => format!(
                "figures: {} core cycles, {} nanoseconds, {} instructions.",
                short(Unit::Cycles),
                short(Unit::Ns),
                short(Unit::Instructions)
            ),
        });
        if table.fitted.has(ERRORS) && unit != Some(Unit::Instructions) {
            items.push(format!("±: {}.", words::confidence(self.compared)));
        }
        let mut changes = self.compared.rows.iter().filter_map(|row| row.change.as_ref());
        if changes.any(|change| change.percent.is_none()) {
            items.push("-: no percent, because the base may cost nothing.".to_owned());
        }
        if table.fitted.has(BARS) {
            items.push(format!("bars: {CHANGES}."));
        }
        wrapped(Line::default(), look::FAINT, &units_stay(&items.join(" ")), self.width, 0)
    }

    fn not_shown(&self, left: &[(Kind, usize)]) -> Vec<Line> {
        if left.is_empty() {
            return Vec::new();
        }
        let each = left.iter().map(|(kind, rows)| format!("{rows} {}", words::kind(*kind, self.compared)));
        let each: Vec<String> = each.collect();
        let text = format!("Not shown: {}. --all shows every row.", each.join(", "));
        wrapped(Line::default(), look::NAME, &units_stay(&text), self.width, 0)
    }

    /// How to settle what is inconclusive.
    fn more(&self) -> Vec<Line> {
        let Some(more) = more(self.compared) else { return Vec::new() };
        let mut lines = wrapped(Line::default(), look::PLAIN, &more.text, self.width, 0);
        for command in more.commands {
            // Not wrapped: it is to be copied.
            let mut line = Line::default();
            line.blank(2);
            line.push(look::NAME, &command);
            lines.push(line);
        }
        lines
    }
}
