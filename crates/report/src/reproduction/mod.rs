//! What others have published, beside what came out here.

mod bars;
mod csv;
mod list;
mod markdown;
mod svg;
mod table;
mod text;

pub use list::publications;

use crate::figure::ABSENT;
use crate::{Error, Format, Kind, Style, json};
use compare::published::{Here, Reproduction};
use table::heading_of;

/// A reproduction, in `format`.
///
/// # Errors
/// [`Error`] when a serializer refuses; no reproduction makes it do so.
pub fn reproduction(reproduction: &Reproduction, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text::render(reproduction, style)),
        Format::Json => json::render(reproduction),
        Format::Csv => csv::render(reproduction),
        Format::Markdown => Ok(markdown::render(reproduction)),
        Format::Svg => svg::svg(reproduction),
        _ => Err(Error::unfit(Kind::REPRODUCTION, format)),
    }
}

/// Said of a row whose loops were interrupted.
const DISTURBED: &str =
    "other processes interrupted every run of the loop; its figure contains their time and has no ratio";

/// What stands above the figures: label and text.
fn head(reproduction: &Reproduction) -> Vec<(&'static str, String)> {
    let said = |text: &Option<String>| text.clone().unwrap_or_else(|| "not said".to_owned());
    let differs = reproduction.differs.join("; ");
    let mut facts = vec![("published", reproduction.source.clone())];
    facts.extend(reproduction.citation.in_words().map(|words| ("cited", words)));
    facts.extend([
        ("there", format!("processor: {}; kernel: {}", said(&reproduction.cpu), said(&reproduction.kernel))),
        ("here", here(&reproduction.here)),
        ("differs", if differs.is_empty() { "nothing that is known".to_owned() } else { differs }),
        ("author's way", format!("{}: {}", reproduction.unit.name(), said(&reproduction.way))),
    ]);
    let plainest =
        if reproduction.way.is_none() { ". A plain way, since the author's is not known" } else { "" };
    let words = reproduction.ways.iter().map(|way| {
        let more = if way.name == "kentry" { "" } else { plainest };
        (way.name, format!("{}: {}{more}", way.unit.name(), way.words))
    });
    facts.extend(words);
    facts
}

fn here(here: &Here) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| ABSENT.to_owned());
    let pti = match here.pti {
        Some(true) => "on",
        Some(false) => "off",
        None => ABSENT,
    };
    let clock = here.tsc_hz.map(|tsc| {
        let core = here.core_hz.map_or(ABSENT.to_owned(), |core| format!("{:.3}", core / 1e9));
        format!("TSC {:.3} GHz, core {core} GHz", tsc / 1e9)
    });
    let quiet = here.quiet_share.map(|share| format!("alone on the core {:.0} % of the time", 100.0 * share));
    let run = here.run.as_deref().map(|id| format!("run {}", crate::short(id)));
    let first = format!("processor: {}; kernel: {}; PTI {pti}", text(&here.cpu), text(&here.kernel));
    let vsyscall = here.vsyscall.as_ref().map(|mode| format!("vsyscall page {mode}"));
    let all = [Some(first), vsyscall, clock, quiet, run];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Why figures are missing, each reason once: what it is about, and why. What closes a whole column is about that, but rows that
/// cannot be measured at all have a reason of their own.
fn missing(reproduction: &Reproduction) -> Vec<(String, String)> {
    let columns = reproduction.columns();
    let mut out: Vec<(String, String)> = Vec::new();
    for column in &columns {
        let of_column = || reproduction.figures.iter().filter(|figure| figure.column == *column);
        let mut open =
            of_column().filter(|figure| figure.entry.is_some()).map(|figure| figure.reason.as_deref());
        let first = open.next().flatten();
        let whole = first.filter(|first| columns.len() > 1 && open.all(|reason| reason == Some(*first)));
        out.extend(whole.map(|why| (column.to_string(), why.to_owned())));
        let rest = of_column().filter(|figure| whole.is_none() || figure.entry.is_none());
        out.extend(rest.filter_map(|one| Some((one.row.clone(), one.reason.clone()?))));
    }
    for found in [&reproduction.lab, &reproduction.guests].into_iter().flatten() {
        let place = heading_of(found.kernel);
        out.extend(
            found
                .figures
                .iter()
                .filter_map(|one| Some((format!("{}, {place}", one.row), one.reason.clone()?))),
        );
    }
    let ratios = reproduction.ratios.iter();
    out.extend(ratios.filter_map(|one| {
        let what = if one.share { one.name.clone() } else { format!("change by {}", one.name) };
        Some((what, one.reason.clone()?))
    }));
    grouped(out)
}

/// What there is to know of rows.
fn remarks(reproduction: &Reproduction) -> Vec<(String, String)> {
    let remark = |figure: &compare::published::Figure| {
        let disturbed = figure.disturbed.then(|| DISTURBED.to_owned());
        [figure.remark.clone(), disturbed]
            .into_iter()
            .flatten()
            .map(|text| (figure.row.clone(), text))
            .collect::<Vec<_>>()
    };
    grouped(reproduction.figures.iter().flat_map(remark).collect())
}

/// Each text once, behind all that it is about.
pub(crate) fn grouped(all: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut groups: Vec<(Vec<String>, String)> = Vec::new();
    for (what, text) in all {
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((about, _)) if about.contains(&what) => {}
            Some((about, _)) => about.push(what),
            None => groups.push((vec![what], text)),
        }
    }
    groups.into_iter().map(|(about, text)| (about.join("; "), text)).collect()
}
