//! What a reproduction is drawn as: bars of published figures against those of here, in text and as a picture.
//!
//! One chart has one unit: instructions that an emulator executed are never beside times.

use super::table::{are_shares, heading_of, part};
use crate::figure::{ABSENT, multiple, number};
use crate::picture::EMULATED;
use ::table::Kernel;
use compare::published::{Figure, GuestUnit, InGuests, Measured, Reproduction};

/// Bars on one scale.
pub(super) struct Chart {
    /// What stands above them.
    pub title: String,
    pub rows: Vec<Row>,
}

impl Chart {
    fn has_bars(&self) -> bool {
        self.bars().any(|bar| bar.length.is_some())
    }

    /// Without the bars of here, where nothing in it was measured here: a `-` in each row would tell nothing. Where something was, it tells
    /// which figure is missing.
    fn without_unmeasured(mut self) -> Chart {
        let is_here = |bar: &Bar| bar.whose != Whose::Published;
        if !self.bars().any(|bar| is_here(bar) && bar.is_known()) {
            self.rows.iter_mut().for_each(|row| row.bars.retain(|bar| !is_here(bar)));
        }
        self
    }

    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.rows.iter().flat_map(|row| &row.bars)
    }

    /// With the unit of its bars, where it is not called by that.
    pub fn heading(&self, unit: &str) -> String {
        if self.title == unit { unit.to_owned() } else { format!("{}, {unit}", self.title) }
    }
}

/// The bars of a row.
pub(super) struct Row {
    pub name: String,
    pub bars: Vec<Bar>,
}

/// Where a figure is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Published,
    /// Of a loop as the author's.
    Loop,
    Kentry,
    /// Instructions that an emulator executed.
    Counted,
}

impl Whose {
    pub const ALL: [Whose; 4] = [Whose::Published, Whose::Loop, Whose::Kentry, Whose::Counted];

    /// In a legend.
    pub fn what(self) -> &'static str {
        match self {
            Whose::Published => "published",
            Whose::Loop => "measured here, in a loop",
            Whose::Kentry => "measured here, as kentry does",
            Whose::Counted => "instructions counted in an emulator, no times",
        }
    }
}

/// A figure.
pub(super) struct Bar {
    pub whose: Whose,
    /// Before it.
    pub label: &'static str,
    pub text: String,
    /// How long it is; none of what is unknown, and of a figure that does not compare with the published one.
    pub length: Option<f64>,
    /// The ends of its interval.
    pub ends: Option<[f64; 2]>,
    /// As a multiple of the published figure.
    pub times: Option<String>,
}

impl Bar {
    fn of(whose: Whose, label: &'static str, length: Option<f64>, text: impl Fn(f64) -> String) -> Bar {
        let text = length.map_or_else(|| ABSENT.to_owned(), text);
        Bar { whose, label, text, length, ends: None, times: None }
    }

    pub fn is_known(&self) -> bool {
        self.text != ABSENT
    }
}

/// Charts that share a scale.
pub(super) struct Scale {
    /// What the figures count.
    pub unit: String,
    pub charts: Vec<Chart>,
}

impl Scale {
    pub fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.charts.iter().flat_map(Chart::bars)
    }
}

/// The published columns, what came out in the lab and in guests, and what the author concluded; each with a scale of its own.
pub(super) fn scales(reproduction: &Reproduction) -> Vec<Scale> {
    let guests = [&reproduction.lab, &reproduction.guests].into_iter().flatten();
    let guests = guests.map(|found| in_guests(found.kernel, found));
    let all = std::iter::once(published(reproduction)).chain(guests).chain(concluded(reproduction));
    let drawn = all.map(|mut scale| {
        scale.charts.retain(Chart::has_bars);
        scale.charts = scale.charts.into_iter().map(Chart::without_unmeasured).collect();
        scale
    });
    drawn.filter(|scale| !scale.charts.is_empty()).collect()
}

fn published(reproduction: &Reproduction) -> Scale {
    let chart = |column: &str| {
        let figures = reproduction.figures.iter().filter(|figure| figure.column == column);
        Chart { title: column.to_owned(), rows: figures.map(row).collect() }
    };
    let charts = reproduction.columns().into_iter().map(chart).collect();
    Scale { unit: reproduction.unit.name().to_owned(), charts }
}

/// A published figure, and those of here that compare with it. Of single calls, most is the clock's own cost.
fn row(figure: &Figure) -> Row {
    let published = Bar::of(Whose::Published, "publ.", figure.published, |value| value.to_string());
    let known = figure.measured.iter().filter(|one| one.way != "single" && one.value.is_some());
    let mut here: Vec<Bar> = known.map(measured).collect();
    if here.is_empty() {
        here.push(Bar::of(Whose::Kentry, "here", None, number));
    }
    Row { name: figure.row.clone(), bars: std::iter::once(published).chain(here).collect() }
}

fn measured(one: &Measured) -> Bar {
    let whose = if one.way == "loop" { Whose::Loop } else { Whose::Kentry };
    // What has no ratio, because the unit is another or others' time is in it, has no bar.
    let compares = one.to_published.is_some();
    let bar = Bar::of(whose, one.way, one.value, number);
    Bar {
        length: one.value.filter(|_| compares),
        ends: one.ci_low.zip(one.ci_high).filter(|_| compares).map(|(low, high)| [low, high]),
        times: one.to_published.map(|times| format!("× {}", multiple(times))),
        ..bar
    }
}

fn in_guests(kernel: Kernel, found: &InGuests) -> Scale {
    let is_counted = found.unit == GuestUnit::Instructions;
    let whose = if is_counted { Whose::Counted } else { Whose::Kentry };
    let mut columns: Vec<&str> = found.figures.iter().map(|figure| figure.column.as_str()).collect();
    columns.dedup();
    let text = |value: f64| if is_counted { format!("{value:.0}") } else { number(value) };
    let chart = |column: &&str| {
        let figures = found.figures.iter().filter(|figure| figure.column == *column);
        let row = |figure: &compare::published::GuestFigure| {
            let ends = figure.ci_low.zip(figure.ci_high).map(|(low, high)| [low, high]);
            let bar = Bar { ends, ..Bar::of(whose, "here", figure.value, text) };
            Row { name: figure.row.clone(), bars: vec![bar] }
        };
        let title = [heading_of(kernel), column].join(" ");
        Chart { title: title.trim_end().to_owned(), rows: figures.map(row).collect() }
    };
    let unit = if is_counted { EMULATED } else { found.unit.name() };
    Scale { unit: unit.to_owned(), charts: columns.iter().map(chart).collect() }
}

fn concluded(reproduction: &Reproduction) -> Option<Scale> {
    let row = |one: &compare::published::Compared| {
        let text = |value: f64| part(one, value / 100.0);
        let in_percent = |part: Option<f64>| part.map(|part| 100.0 * part);
        let ends = in_percent(one.low).zip(in_percent(one.high)).map(|(low, high)| [low, high]);
        let published = Bar::of(Whose::Published, "publ.", in_percent(Some(one.published)), text);
        let here = Bar { ends, ..Bar::of(Whose::Kentry, "lab", in_percent(one.here), text) };
        Row { name: one.name.clone(), bars: vec![published, here] }
    };
    let rows: Vec<Row> = reproduction.ratios.iter().map(row).collect();
    let chart = Chart { title: if are_shares(reproduction) { "parts" } else { "changes" }.to_owned(), rows };
    (!chart.rows.is_empty()).then(|| Scale { unit: "percent".to_owned(), charts: vec![chart] })
}

/// What is drawn, in the order of a legend.
pub(super) fn legend(scales: &[Scale]) -> Vec<Whose> {
    let drawn = |whose: &Whose| {
        scales.iter().flat_map(Scale::bars).any(|bar| bar.whose == *whose && bar.length.is_some())
    };
    Whose::ALL.into_iter().filter(drawn).collect()
}
