//! What is said of a fleet: which hosts are odd and why, and what a roll-out changed. What is said is decided once, in sections of
//! sentences and tables; text, Markdown and the page write them.

mod csv;
mod html;
mod judged;
mod markdown;
mod rolled;
mod section;
mod text;
mod words;

use crate::{Error, Format, Kind, Style, json};
use ::fleet::{Judgement, Rollout};

/// Which hosts of a fleet are odd, in `format`.
///
/// # Errors
/// [`Error`] when a serializer or a template refuses; no judgement makes it do so.
pub fn fleet(judgement: &Judgement, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    let sections = || judged::sections(judgement, style.verbose);
    match format {
        Format::Text => Ok(text::render(&sections(), style)),
        Format::Json => json::render(judgement),
        Format::Csv => csv::of_judgement(judgement),
        Format::Markdown => Ok(markdown::render(&sections())),
        Format::Html => html::of_judgement(judgement),
        _ => Err(Error::unfit(Kind::FLEET, format)),
    }
}

/// What a roll-out changed, in `format`.
///
/// # Errors
/// As [`fleet()`].
pub fn roll_out(rollout: &Rollout, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    let sections = || rolled::sections(rollout, style.verbose);
    match format {
        Format::Text => Ok(text::render(&sections(), style)),
        Format::Json => json::render(rollout),
        Format::Csv => csv::of_rollout(rollout),
        Format::Markdown => Ok(markdown::render(&sections())),
        Format::Html => html::of_rollout(rollout),
        _ => Err(Error::unfit(Kind::FLEET, format)),
    }
}
