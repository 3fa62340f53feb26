//! The cells of a reproduction's tables, for text and Markdown alike.

use crate::figure::{ABSENT, multiple, number};
use compare::published::{Compared, Figure, GuestKind, GuestUnit, InGuests, Measured, Reproduction, Unit};

/// A part of the table that is left out where there is no room for it, or nothing in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Names of the rows.
    Row,
    /// The entry that a row is measured by here.
    Entry,
    /// Costs: published, then in each way.
    Cost,
    /// How far the interval of kentry's cost reaches.
    Interval,
    /// Costs here as a multiple of the published.
    ToPublished,
    /// Costs as a multiple of the base row's.
    ToBase,
}

/// The columns of a part: a heading over all of them, and one for each.
pub(crate) struct Heading {
    pub part: Part,
    pub over: String,
    pub names: Vec<&'static str>,
}

/// What stands above a reproduction's figures.
pub(crate) fn headings(reproduction: &Reproduction, parts: &[Part]) -> Vec<Heading> {
    let all: Vec<&'static str> = reproduction.ways.iter().map(|way| way.name).collect();
    let compared = || compared(reproduction).into_iter().map(|place| all[place]);
    let with_published = |ways: &mut dyn Iterator<Item = &'static str>| {
        std::iter::once("publ.").chain(ways).collect::<Vec<_>>()
    };
    let heading = |part: &Part| match part {
        Part::Row => Heading { part: *part, over: String::new(), names: vec![""] },
        Part::Entry => Heading { part: *part, over: String::new(), names: vec!["here"] },
        Part::Cost => {
            let names = with_published(&mut all.iter().copied());
            Heading { part: *part, over: unit(reproduction).into(), names }
        }
        Part::Interval => Heading { part: *part, over: String::new(), names: vec!["95 %"] },
        Part::ToPublished => {
            Heading { part: *part, over: "× published".into(), names: compared().collect() }
        }
        Part::ToBase => {
            let over = format!("× {}", reproduction.base.as_deref().unwrap_or(ABSENT));
            Heading { part: *part, over, names: with_published(&mut compared()) }
        }
    };
    parts.iter().map(heading).collect()
}

/// The parts that have something in them; how sure kentry's costs are, if that was asked for.
pub(crate) fn parts(reproduction: &Reproduction, verbose: bool) -> Vec<Part> {
    let measured = |figure: &Figure, known: fn(&Measured) -> Option<f64>| {
        figure.measured.iter().any(|measured| known(measured).is_some())
    };
    let any = |is: &dyn Fn(&Figure) -> bool| reproduction.figures.iter().any(is);
    let mut parts = vec![Part::Row];
    parts.extend(any(&|figure| figure.entry.is_some()).then_some(Part::Entry));
    parts.push(Part::Cost);
    let has_interval = any(&|figure| measured(figure, |one| one.ci_high));
    parts.extend((verbose && has_interval).then_some(Part::Interval));
    parts.extend(any(&|figure| measured(figure, |one| one.to_published)).then_some(Part::ToPublished));
    parts.extend(any(&|figure| figure.published_to_base.is_some()).then_some(Part::ToBase));
    parts
}

/// The unit of all costs, where they have the same; the head tells that of each way.
fn unit(reproduction: &Reproduction) -> &'static str {
    let same = reproduction.ways.iter().all(|way| way.unit == reproduction.unit);
    if same { reproduction.unit.name() } else { "cost, units above" }
}

/// The ways whose ratios are shown: the loop, and kentry's own. (Of single calls, a ratio tells of the clock.)
fn compared(reproduction: &Reproduction) -> Vec<usize> {
    let ways = reproduction.ways.iter().enumerate();
    ways.filter(|(_, way)| way.name != "single").map(|(place, _)| place).collect()
}

/// A figure's cells in the order of [`headings`].
pub(crate) fn cells(reproduction: &Reproduction, figure: &Figure, parts: &[Part]) -> Vec<String> {
    let compared = compared(reproduction);
    let absent = || ABSENT.to_owned();
    let ratios = |known: fn(&Measured) -> Option<f64>| {
        let of = |place: &usize| figure.measured.get(*place).and_then(known).map_or_else(absent, multiple);
        compared.iter().map(of).collect::<Vec<_>>()
    };
    let mut out = Vec::new();
    for part in parts {
        match part {
            Part::Row => out.push(figure.row.clone()),
            Part::Entry => out.push(figure.entry.clone().unwrap_or_else(absent)),
            Part::Cost => {
                out.push(figure.published.map_or_else(absent, |published| published.to_string()));
                out.extend(figure.measured.iter().map(|one| one.value.map_or_else(absent, number)));
            }
            Part::Interval => out.push(figure.measured.last().and_then(half_width).unwrap_or_else(absent)),
            Part::ToPublished => out.extend(ratios(|one| one.to_published)),
            Part::ToBase => {
                out.push(figure.published_to_base.map_or_else(absent, multiple));
                out.extend(ratios(|one| one.to_base));
            }
        }
    }
    out
}

/// `±0.4`: the distance to the farther end of the interval.
fn half_width(measured: &Measured) -> Option<String> {
    let (value, low, high) = (measured.value?, measured.ci_low?, measured.ci_high?);
    Some(format!("±{}", number(f64::max(value - low, high - value))))
}

/// What came out in guests of either place, where there were any: what is said above its table, and the table, first the headings.
pub(crate) fn elsewhere(reproduction: &Reproduction) -> Vec<(GuestKind, String, Vec<Vec<String>>)> {
    let all = [(GuestKind::Lab, &reproduction.lab), (GuestKind::Linux, &reproduction.guests)];
    let found = all.into_iter().filter_map(|(place, found)| Some((place, found.as_ref()?)));
    found.map(|(place, found)| (place, words(place, found), of_guests(reproduction, place, found))).collect()
}

/// Where a table of guests was measured.
pub(crate) fn heading_of(place: GuestKind) -> &'static str {
    match place {
        GuestKind::Lab => "in the lab",
        GuestKind::Linux => "in a guest",
    }
}

fn of_guests(reproduction: &Reproduction, place: GuestKind, lab: &InGuests) -> Vec<Vec<String>> {
    let mut columns: Vec<&str> = lab.figures.iter().map(|figure| figure.column.as_str()).collect();
    columns.dedup();
    let mut rows: Vec<&str> = Vec::new();
    for figure in &lab.figures {
        if !rows.contains(&figure.row.as_str()) {
            rows.push(&figure.row);
        }
    }
    let base = reproduction.base.as_ref().filter(|_| reproduction.unit != Unit::Index);
    let base = base.map(|base| format!("× {base}"));
    let mut heading = vec![String::new(), heading_of(place).to_owned()];
    for column in &columns {
        heading.push(if column.is_empty() { lab.unit.name().to_owned() } else { column.to_string() });
        heading.extend(base.clone());
    }
    let line = |row: &&str| {
        let of = |column: &str| lab.figures.iter().find(|one| one.row == *row && one.column == column);
        let first = lab.figures.iter().find(|one| one.row == *row);
        let mut cells = vec![row.to_string(), first.map_or_else(String::new, |one| one.entry.clone())];
        for column in &columns {
            let found = of(column);
            let value = |value: f64| {
                if lab.unit == GuestUnit::Instructions { format!("{value:.0}") } else { number(value) }
            };
            cells.push(found.and_then(|one| one.value).map_or_else(|| ABSENT.to_owned(), value));
            let ratio = found.and_then(|one| one.to_base).map_or_else(|| ABSENT.to_owned(), multiple);
            cells.extend(base.is_some().then_some(ratio));
        }
        cells
    };
    std::iter::once(heading).chain(rows.iter().map(line)).collect()
}

/// What stands above the changes.
pub(crate) const CHANGES: [&str; 4] = ["change by", "published", "in the lab", "95 %"];

/// The changes that the author found, and the lab's: the name, then numbers.
pub(crate) fn changes(reproduction: &Reproduction) -> Vec<Vec<String>> {
    let cells = |one: &Compared| {
        let interval =
            one.low.zip(one.high).map(|(low, high)| format!("{} to {}", percent(low), percent(high)));
        let or_absent = |text: Option<String>| text.unwrap_or_else(|| ABSENT.to_owned());
        vec![one.name.clone(), percent(one.published), or_absent(one.here.map(percent)), or_absent(interval)]
    };
    reproduction.ratios.iter().map(cells).collect()
}

/// `−17 %`; a change that rounds to nothing has no sign.
pub(super) fn percent(part: f64) -> String {
    let text = format!("{:+.0} %", 100.0 * part).replace('-', "−");
    if text.trim_start_matches(['+', '−']) == "0 %" { "0 %".to_owned() } else { text }
}

/// What is said above the changes.
pub(crate) fn change_words(reproduction: &Reproduction) -> String {
    let unit = match reproduction.unit {
        Unit::Index => "of what is done in a time",
        _ => "of the cost",
    };
    format!("What its author concluded, as changes {unit}, beside the changes in the lab.")
}

/// What is said above the table.
fn words(place: GuestKind, found: &InGuests) -> String {
    let run = found.run.as_deref().map_or(String::new(), |id| format!(" (run {})", crate::short(id)));
    let whose = match place {
        GuestKind::Lab => "In the lab, kentry's own kernel",
        GuestKind::Linux => "In guests with a Linux",
    };
    match (found.unit, place) {
        (GuestUnit::Instructions, GuestKind::Lab) => format!(
            "{whose}{run}: instructions executed in an emulator, not times. A count ranks no cost: iretq and cpuid count one each, \
             as mov does."
        ),
        (GuestUnit::Instructions, GuestKind::Linux) => format!(
            "{whose}{run}: instructions of a turn, executed in an emulator; no times, and so no index. They show which configuration \
             executes more instructions, not what these cost: a write of CR3 counts one, as mov does."
        ),
        (unit, _) => format!("{whose}, in a virtual machine{run}: {}.", unit.name()),
    }
}
