//! What the comparisons of the page's first run with each other one say: at the head, and of rows.

use super::PageRun;
use super::lines::Line;
use super::marks::Difference;
use crate::compare::groups::Kind;
use crate::compare::interval;
use crate::compare::words;
use crate::figure::ABSENT;
use crate::plain::plain;
use crate::{answer, refusal};
use compare::{Change, Comparison, Confounder, Row, Severity, Unit, Verdict};
use document::Row as Measured;
use std::collections::{BTreeMap, HashMap};

/// The head of the comparison.
pub(super) struct Head {
    pub answers: Vec<Answer>,
    /// What differs between the first run and others, the most serious first.
    pub differing: Vec<Differing>,
    /// What counts as the same.
    pub margin: Option<String>,
}

/// Of one of the other runs: did it get slower?
pub(super) struct Answer {
    /// Its number.
    pub run: usize,
    /// In a sentence; why there is none, where the runs are not comparable.
    pub answer: Result<String, String>,
    /// How sure intervals are; none where no row has one.
    pub confidence: Option<String>,
}

/// A fact that is not the same in the first run and another.
pub(super) struct Differing {
    severity: Severity,
    pub what: String,
    /// Of each other run, against the first.
    pub values: Vec<String>,
    pub meaning: String,
}

impl Differing {
    /// How serious it is, in a word.
    pub fn severity(&self) -> &'static str {
        words::severity(self.severity)
    }
}

impl Head {
    pub fn of(runs: &[PageRun]) -> Head {
        let compared =
            || runs.iter().enumerate().filter_map(|(run, page)| Some((run, page.compared.as_ref()?)));
        Head {
            answers: compared().map(|(run, compared)| Answer::of(run, compared)).collect(),
            differing: differing(compared(), runs.len()),
            margin: compared().next().map(|(_, compared)| words::margin(compared)),
        }
    }

    /// Whether rows have verdicts.
    pub fn is_judged(&self) -> bool {
        self.answers.iter().any(|answer| answer.answer.is_ok())
    }
}

impl Answer {
    fn of(run: usize, compared: &Comparison) -> Answer {
        let has_interval = |row: &Row| row.change.is_some() && row.unit != Some(Unit::Instructions);
        Answer {
            run,
            answer: refusal(compared).map_or_else(|| Ok(plain(&answer(compared))), |why| Err(plain(&why))),
            confidence: compared.rows.iter().any(has_interval).then(|| plain(&words::confidence(compared))),
        }
    }
}

/// What stands for runs that a fact does not tell apart.
const ALIKE: &str = "no difference known";

/// Facts that differ in several comparisons stand there once. What a refusal names has been said.
fn differing<'a>(compared: impl Iterator<Item = (usize, &'a Comparison)>, runs: usize) -> Vec<Differing> {
    let mut all: Vec<(&Confounder, Differing)> = Vec::new();
    for (run, compared) in compared {
        let is_said = |fact: &Confounder| compared.refused && fact.severity == Severity::Refuses;
        for fact in compared.confounders.iter().filter(|fact| !is_said(fact)) {
            let is_same = |known: &Confounder| {
                (&known.id, &known.what, &known.meaning) == (&fact.id, &fact.what, &fact.meaning)
            };
            let place = all.iter().position(|(known, _)| is_same(known)).unwrap_or_else(|| {
                all.push((fact, Differing::of(fact, runs)));
                all.len() - 1
            });
            if let Some(value) = all[place].1.values.get_mut(run.saturating_sub(1)) {
                *value = plain(&words::contrasted(fact, false));
            }
        }
    }
    let mut all: Vec<Differing> = all.into_iter().map(|(_, differing)| differing).collect();
    all.sort_by_key(|fact| fact.severity);
    all
}

impl Differing {
    fn of(fact: &Confounder, runs: usize) -> Differing {
        Differing {
            severity: fact.severity,
            what: plain(&fact.what),
            values: vec![ALIKE.to_owned(); runs.saturating_sub(1)],
            meaning: plain(&fact.meaning),
        }
    }
}

/// How a run differs from the first, in words.
pub(super) struct WrittenChange {
    pub difference: String,
    /// From where to where; empty where nothing is uncertain or known.
    pub interval: String,
    /// What a comparison says of it.
    pub verdict: Option<Said>,
}

/// A verdict.
pub(super) struct Said {
    pub words: String,
    /// By which such rows are chosen and colored.
    pub tag: &'static str,
}

/// The rows of the comparisons, by the lines of the page.
pub(super) struct Verdicts<'a> {
    /// Of each run.
    of_runs: Vec<Option<OfRun<'a>>>,
}

struct OfRun<'a> {
    compared: &'a Comparison,
    /// By the number of the line.
    rows: HashMap<usize, &'a Row>,
}

impl<'a> Verdicts<'a> {
    pub fn of(runs: &'a [PageRun], lines: &[Line<'a>]) -> Verdicts<'a> {
        let of_run = |(run, page): (usize, &'a PageRun)| {
            let compared = page.compared.as_ref()?;
            Some(OfRun { compared, rows: by_line(compared, run, lines) })
        };
        Verdicts { of_runs: runs.iter().enumerate().map(of_run).collect() }
    }

    fn row(&self, line: &Line, run: usize) -> Option<&'a Row> {
        self.of_runs.get(run)?.as_ref()?.rows.get(&line.number).copied()
    }

    /// Whether the line opened or closed, or got slower or faster.
    pub fn differs(&self, line: &Line) -> bool {
        self.kinds(line).any(Kind::is_difference)
    }

    fn kinds(&self, line: &Line) -> impl Iterator<Item = Kind> {
        (0..self.of_runs.len()).filter_map(|run| self.row(line, run)).map(Kind::of_row)
    }

    /// By which a line is chosen.
    pub fn tags(&self, line: &Line) -> Vec<&'static str> {
        self.kinds(line).map(tag).collect()
    }

    /// By which lines are ordered: the place of the verdict that matters most, or nothing.
    pub fn place(&self, line: &Line) -> Option<usize> {
        self.kinds(line).map(Kind::place).min()
    }

    /// What is drawn of a run: the change, where the runs were compared; else how far its estimate is from that of the first.
    pub fn difference(&self, line: &Line, run: usize) -> Option<Difference> {
        match self.of_runs.get(run)? {
            Some(_) => Difference::of_row(self.row(line, run)?),
            None => Difference::of((*line.rows.first()?)?, (*line.rows.get(run)?)?),
        }
    }

    /// The same in words, with the verdict.
    pub fn told(&self, line: &Line, run: usize) -> WrittenChange {
        let of_run = self.of_runs.get(run).and_then(Option::as_ref);
        let Some(OfRun { compared, .. }) = of_run else {
            let difference = self.difference(line, run).map(|known| known.in_words());
            let difference = difference.unwrap_or_else(|| ABSENT.to_owned());
            return WrittenChange { difference, interval: String::new(), verdict: None };
        };
        let row = self.row(line, run);
        let change = row.and_then(|row| Some((row, row.change.as_ref()?)));
        let (difference, interval) =
            change.map_or_else(|| (ABSENT.to_owned(), String::new()), |(row, change)| in_words(row, change));
        let verdict =
            row.map(|row| Said { words: plain(&words::verdict(row, compared)), tag: tag(Kind::of_row(row)) });
        WrittenChange { difference, interval, verdict }
    }

    /// All that a comparison says of a row, for those who open it.
    pub fn remarks(&self, line: &Line, run: usize) -> Vec<String> {
        let of_run = self.of_runs.get(run).and_then(Option::as_ref);
        let Some((compared, row)) = of_run.and_then(|of| Some((of.compared, self.row(line, run)?))) else {
            return Vec::new();
        };
        let verdict = words::verdict(row, compared);
        let what = words::figures(row).unwrap_or_else(|| words::outcomes(row));
        let sure = words::sureness(row).map(|sure| format!("; {sure}")).unwrap_or_default();
        let said = format!("Against A: {verdict}: {what}{sure}.");
        std::iter::once(&said).chain(&row.remarks).map(|remark| plain(remark)).collect()
    }
}

/// Each row of the comparison with the line that it is about. A document may have a row twice; a comparison takes the first.
fn by_line<'a>(compared: &'a Comparison, run: usize, lines: &[Line<'a>]) -> HashMap<usize, &'a Row> {
    type Key<'k> = (&'k str, &'k str, &'k BTreeMap<String, String>);
    let mut rows: HashMap<Key, &Row> = HashMap::new();
    for row in &compared.rows {
        rows.entry((&row.entry, &row.operation, &row.configuration)).or_insert(row);
    }
    // A comparison names a row as its base does, if that has it.
    let named = |line: &Line<'a>| line.rows[0].or_else(|| *line.rows.get(run)?);
    let mut by_line = HashMap::new();
    for line in lines {
        let row = named(line).and_then(|row: &Measured| {
            rows.remove(&(row.entry.as_str(), row.operation.as_str(), &row.configuration))
        });
        by_line.extend(row.map(|row| (line.number, row)));
    }
    by_line
}

/// A change and its interval, in percent where these are known. What is counted has no interval.
fn in_words(row: &Row, change: &Change) -> (String, String) {
    let in_percent = interval::in_percent(change).map(|told| (told, "%"));
    let (told, unit) =
        in_percent.unwrap_or_else(|| (interval::in_unit(change), row.unit.map_or("", Unit::name)));
    let (difference, interval) =
        (format!("{} {unit}", told.change), format!("{} to {}", told.low, told.high));
    let is_counted = row.unit == Some(Unit::Instructions);
    if interval::is_uncertain(row, change) {
        return (interval::UNCERTAIN.to_owned(), format!("{} {unit}", minus(&interval)));
    }
    (minus(&difference), if is_counted { String::new() } else { minus(&interval) })
}

/// With the sign that the axes have.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// Tags of verdicts, and what a reader chooses by them.
pub(super) const CHOICES: [(&str, &str); 7] = [
    ("slower", "verdict: slower"),
    ("faster", "verdict: faster"),
    ("within", "verdict: slower or faster within the margin"),
    ("same", "verdict: same"),
    ("inconclusive", "verdict: inconclusive"),
    ("switched", "verdict: opened, or closed"),
    ("unjudged", "verdict: none"),
];

fn tag(kind: Kind) -> &'static str {
    match kind.verdict {
        Verdict::Slower | Verdict::Faster if kind.is_within => "within",
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Closed | Verdict::Opened | Verdict::CauseChanged => "switched",
        Verdict::NoFigure | Verdict::StillClosed | Verdict::Absent => "unjudged",
    }
}
