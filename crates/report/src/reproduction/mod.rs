//! What others have published, beside what came out here.

mod csv;
mod list;
mod markdown;
mod table;
mod text;

pub use list::publications;

use crate::figure::ABSENT;
use crate::{Error, Format, Style, json};
use ::published::{Here, Reproduction};

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
    }
}

/// What stands above the figures: label and text.
fn head(reproduction: &Reproduction) -> Vec<(&'static str, String)> {
    let way = reproduction.way.as_deref().unwrap_or("not said");
    let mut facts = vec![
        ("published", format!("{}. On {}; {}", reproduction.source, reproduction.cpu, reproduction.kernel)),
        ("measured by", format!("{way}; in {}", reproduction.unit.name())),
        ("here", here(&reproduction.here)),
    ];
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
    let run = here.run.as_deref().map(|id| format!("; run {}", crate::short(id)));
    format!(
        "{}, {}; PTI {pti}; vsyscall page {}{}",
        text(&here.cpu),
        text(&here.kernel),
        text(&here.vsyscall),
        run.unwrap_or_default()
    )
}

/// Why figures are missing, each reason once: what it is about, and why.
fn missing(reproduction: &Reproduction) -> Vec<(String, String)> {
    let columns = reproduction.columns();
    let mut out: Vec<(String, String)> = Vec::new();
    for column in &columns {
        let figures: Vec<_> = reproduction.figures.iter().filter(|figure| figure.column == *column).collect();
        let first = figures.first().and_then(|figure| figure.reason.as_deref());
        let is_common = figures.len() > 1 && figures.iter().all(|figure| figure.reason.as_deref() == first);
        match first.filter(|_| is_common && columns.len() > 1) {
            Some(why) => out.push((column.to_string(), why.to_owned())),
            None => out.extend(figures.iter().filter_map(|one| Some((one.row.clone(), one.reason.clone()?)))),
        }
    }
    let of_lab = reproduction.lab.iter().flat_map(|lab| &lab.figures);
    out.extend(of_lab.filter_map(|one| Some((format!("{}, in the lab", one.row), one.reason.clone()?))));
    once(out)
}

/// What there is to know of rows.
fn remarks(reproduction: &Reproduction) -> Vec<(String, String)> {
    let remark = |figure: &::published::Figure| Some((figure.row.clone(), figure.remark.clone()?));
    once(reproduction.figures.iter().filter_map(remark).collect())
}

fn once(all: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    for one in all {
        if !out.contains(&one) {
            out.push(one);
        }
    }
    out
}
