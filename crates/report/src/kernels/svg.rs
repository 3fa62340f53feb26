//! Kernels beside each other, drawn. Every bar is named where it stands, so that nothing hangs on telling colors apart.
//!
//! Texts go through [`xml`](crate::plain::xml) and are escaped by the template; there is no script, and nothing is loaded.

use super::charts::{Bar, Chart, Charts, charts};
use crate::cells::COUNTED;
use crate::figure::Unit;
use crate::picture::{self, Axis, EMULATED, LINE, Px, Swatch, TOP, Text, Tick, ending, shortened};
use crate::plain::xml;
use crate::{Error, Selection, guest, head, history};
use askama::Template;
use document::{Document, KERNEL};
use std::collections::BTreeSet;
use table::Table;

/// How much lower the next bar stands, in the picture's units.
const BAR: f64 = 17.0;

/// The most characters that there is room for, capitals too: the title, a line of text, a row, a kernel, and what stands in place of a bar.
const TITLE: usize = 70;
const TEXT: usize = 108;
const ROW: usize = 96;
const NAME: usize = 30;
const SAID: usize = 66;

/// What the template is filled with.
#[derive(Template)]
#[template(path = "kernels.svg")]
struct Picture {
    height: Px,
    title: String,
    /// For who does not see it.
    description: String,
    lines: Vec<Text>,
    legend: Vec<Swatch>,
    /// Whether rings were told apart in some row.
    has_rings: bool,
    panels: Vec<Panel>,
}

/// A row with an axis of its own: a short path and a long one both show what changes.
struct Panel {
    title: Text,
    unit: &'static str,
    /// What stands above the figures.
    figures: &'static str,
    /// None where there is no figure.
    ticks: Vec<Tick>,
    /// Where the lines of the axis begin and end.
    axis: (Px, Px),
    bars: Vec<Drawn>,
}

/// A row in a kernel.
struct Drawn {
    name: String,
    /// The whole name, and all that is known of it.
    title: String,
    y: Px,
    text_y: Px,
    /// Classes, where each begins, and how long it is; none where there is no figure.
    pieces: Vec<(&'static str, Px, Px)>,
    /// All samples or the interval: where it begins and ends, and at which height.
    interval: Option<(Px, Px, Px)>,
    /// In place of a bar.
    said: String,
    figure: String,
    change: String,
    ring0: String,
}

pub(super) fn render(document: &Document, table: &Table, selection: Selection) -> Result<Vec<u8>, Error> {
    let charts = charts(document, table, selection);
    let lines = picture::lines(facts(document, &charts).into_iter(), TEXT);
    let mut at = TOP + LINE * lines.len() as f64;
    let has_rings = bars(&charts).any(|bar| bar.ring0.is_some());
    let legend = legend(&charts, &mut at);
    let panels = charts.shown.iter().map(|chart| panel(chart, &mut at)).collect();
    let picture = Picture {
        height: Px(at + LINE),
        title: shortened(&xml(&title(document, &charts)), TITLE),
        description: xml(&description(document, &charts)),
        lines,
        legend,
        has_rings,
        panels,
    };
    let mut text = picture.render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

fn bars<'c>(charts: &'c Charts) -> impl Iterator<Item = &'c Bar<'c>> {
    charts.shown.iter().flat_map(|chart| &chart.bars)
}

/// `kentry linux: syscall-x86_64 getppid in 3 kernels`
fn title(document: &Document, charts: &Charts) -> String {
    let what = match charts.shown.as_slice() {
        [only] => only.title.clone(),
        several => format!("{} rows", several.len()),
    };
    let kernels = history::kernels(document);
    let place = match kernels.as_slice() {
        [only] => (*only).to_owned(),
        several => format!("{} kernels", several.len()),
    };
    format!("kentry linux: {what} in {place}")
}

/// What is to be known of all rows, in lines: whoever sees the picture alone must know what counted them.
fn facts(document: &Document, charts: &Charts) -> Vec<String> {
    // The bars name the kernels.
    let of_guest = guest::of(document).into_iter().flat_map(|guest| guest::facts(document, guest));
    let of_guest = of_guest.filter(|fact| fact.label != "kernel");
    let mut facts: Vec<String> = of_guest.map(|fact| format!("{}: {}", fact.label, fact.text)).collect();
    facts.push(format!("{}: {}", head::MEASURED, head::measured(document)));
    facts.extend(without_rows(document).map(|kernels| format!("not measured: {kernels}")));
    if charts.shown.len() < charts.all {
        facts.push(format!("rows: {} of {}; --all shows every one", charts.shown.len(), charts.all));
    }
    facts.push(CHANGE.to_owned());
    facts.extend(thin_line(charts));
    facts.extend(bars(charts).any(is_counted).then(|| COUNTED.to_owned()));
    facts.extend(document.measurement.partial.then(|| head::PARTIAL.to_owned()));
    facts
}

/// What the numbers under *change* are.
const CHANGE: &str = "change: more, or less, than in the kernel above; - of the first, where one of both has no figure, and where samples or intervals \
                      overlap";

/// What the lines on bars are, if there are any.
fn thin_line(charts: &Charts) -> Option<String> {
    let has = |wanted: fn(&Bar) -> bool| bars(charts).any(|bar| wanted(bar) && bar.range().is_some());
    let counts = has(is_counted)
        .then_some("from the least sample of a count to the greatest, as far as the axis reaches");
    let times = has(|bar| !is_counted(bar)).then_some("the 95 % interval of a time");
    let both: Vec<&str> = counts.into_iter().chain(times).collect();
    (!both.is_empty()).then(|| format!("thin line: {}", both.join("; ")))
}

fn is_counted(bar: &Bar) -> bool {
    bar.figure.is_some_and(|shown| shown.unit == Unit::Instructions)
}

/// The kernels that have no row, because the user ended the measurement before them.
fn without_rows(document: &Document) -> Option<String> {
    let measured = document.results.iter().filter_map(|row| row.configuration.get(KERNEL));
    let measured: BTreeSet<&str> = measured.map(String::as_str).collect();
    let lacks = |name: &&str| !measured.contains(name);
    let names: Vec<&str> = history::kernels(document).into_iter().filter(lacks).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The figures in sentences.
fn description(document: &Document, charts: &Charts) -> String {
    let mut sentences = vec!["What each row is from kernel to kernel.".to_owned()];
    let of_guest = guest::of(document).into_iter().flat_map(|guest| guest::facts(document, guest));
    sentences.extend(of_guest.map(|fact| format!("{}: {}.", fact.label, fact.text)));
    for chart in &charts.shown {
        let each = chart.bars.iter().map(|bar| format!("{}: {}", bar.kernel, bar.in_words()));
        sentences.push(format!("{}: {}.", chart.title, each.collect::<Vec<_>>().join(". ")));
    }
    sentences.join(" ")
}

/// Fillings, and what they mean.
const FILLINGS: [(&str, &str); 4] = [
    ("ring-0", "executed by the kernel (ring 0)"),
    ("ring-3", "executed by the program (ring 3)"),
    ("counted", "instructions of both rings, not told apart"),
    ("timed", "time"),
];

/// The fillings that there are.
fn legend(charts: &Charts, at: &mut f64) -> Vec<Swatch> {
    let pieces =
        |chart: &Chart| chart.bars.iter().flat_map(|bar| lengths(bar, chart.unit)).collect::<Vec<_>>();
    let drawn: BTreeSet<&str> = charts.shown.iter().flat_map(pieces).map(|(class, ..)| class).collect();
    let legend =
        picture::swatches(FILLINGS.into_iter().filter(|(class, _)| drawn.contains(class)), *at, 44.0);
    *at += if legend.is_empty() { 0.0 } else { 2.0 * LINE };
    legend
}

/// The pieces of a bar, from where to where: what the kernel executed first, if that is known.
fn lengths(bar: &Bar, unit: Option<Unit>) -> Vec<(&'static str, f64, f64)> {
    let Some(figure) = bar.on_axis(unit) else { return Vec::new() };
    let all = figure.cost.estimate;
    let pieces = match bar.ring0.filter(|own| (0.0..=all).contains(own)) {
        Some(own) => vec![("ring-0", 0.0, own), ("ring-3", own, all)],
        None if figure.unit == Unit::Instructions => vec![("counted", 0.0, all)],
        None => vec![("timed", 0.0, all)],
    };
    pieces.into_iter().filter(|(_, from, to)| from != to).collect()
}

fn panel(chart: &Chart, at: &mut f64) -> Panel {
    let figures = || chart.bars.iter().filter(|bar| bar.on_axis(chart.unit).is_some());
    // One sample in which a timer ticked would leave no room for what changes.
    let ends = figures().filter(|bar| !is_counted(bar)).filter_map(Bar::range);
    let ends = ends.flat_map(|(low, high)| [low, high]);
    let estimates = figures().filter_map(|bar| bar.figure).map(|shown| shown.cost.estimate);
    let axis = Axis::of(&estimates.chain(ends).collect::<Vec<_>>());
    let title = Text { y: Px(*at + 11.0), text: shortened(&xml(&chart.title), ROW) };
    *at += 2.0 * LINE;
    let begin = *at;
    *at += 4.0;
    let bars = chart.bars.iter().map(|bar| {
        let drawn = drawn(bar, chart.unit, &axis, *at);
        *at += BAR;
        drawn
    });
    let bars = bars.collect();
    let axis_y = (Px(begin), Px(*at));
    *at += LINE;
    Panel {
        title,
        unit: match chart.unit {
            Some(Unit::Instructions) => EMULATED,
            Some(timed) => timed.name(),
            None => "no figure",
        },
        figures: chart.unit.map_or("", Unit::short),
        ticks: if chart.unit.is_some() { axis.ticks() } else { Vec::new() },
        axis: axis_y,
        bars,
    }
}

fn drawn(bar: &Bar, unit: Option<Unit>, axis: &Axis, y: f64) -> Drawn {
    let piece = |(class, from, to): (&'static str, f64, f64)| {
        let (x, width) = axis.between(from, to);
        (class, Px(x), Px(width))
    };
    let interval = bar.range().filter(|_| bar.on_axis(unit).is_some()).map(|(low, high)| {
        let (x, width) = axis.between(low, high);
        (Px(x), Px(x + width), Px(y + 6.5))
    });
    let said = match bar.figure {
        Some(shown) if Some(shown.unit) != unit => {
            format!("{}: on no scale with the others", shown.unit.name())
        }
        _ => bar.instead.clone(),
    };
    Drawn {
        name: called(bar.kernel),
        title: xml(&format!("{}: {}", bar.kernel, bar.in_words())),
        y: Px(y),
        text_y: Px(y + 10.5),
        pieces: lengths(bar, unit).into_iter().map(piece).collect(),
        interval,
        said: shortened(&xml(&said), SAID),
        figure: bar.text(unit),
        change: bar.change(),
        ring0: bar.ring0(),
    }
}

/// As much of a kernel's name as there is room for: of a release what it begins with, of a file what its path ends in.
fn called(kernel: &str) -> String {
    let name = xml(kernel);
    if name.contains('/') { ending(&name, NAME) } else { shortened(&name, NAME) }
}
