//! What pictures share: an axis, from costs to places; and texts for which there must be room.

use crate::plain::xml;
use std::fmt;
use unicode_width::UnicodeWidthChar;

/// Where the axis begins and ends.
pub(crate) const LEFT: f64 = 250.0;
const RIGHT: f64 = 790.0;

/// Where the first line of text stands in a chart, and how much lower the next.
pub(crate) const TOP: f64 = 58.0;
pub(crate) const LINE: f64 = 16.0;

/// Where names and texts begin.
const LEFTMOST: f64 = 20.0;

/// The most ticks of an axis.
const TICKS: f64 = 9.0;

/// A place or a length in the picture's units, with two digits behind the point, so that every machine writes the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Px(pub f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

/// A linear axis that has zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    first: f64,
    last: f64,
    step: f64,
}

/// A mark on the axis.
pub(crate) struct Tick {
    pub x: Px,
    pub label: String,
    pub is_zero: bool,
}

impl Axis {
    /// The shortest with round ends that has all of these.
    pub fn of(costs: &[f64]) -> Axis {
        let finite = || costs.iter().copied().filter(|cost| cost.is_finite());
        let (least, most) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
        let step = step((most - least).max(1.0));
        Axis { first: (least / step).floor() * step, last: (most / step).ceil().max(1.0) * step, step }
    }

    pub fn at(&self, cost: f64) -> f64 {
        let part = (cost - self.first) / (self.last - self.first);
        LEFT + (RIGHT - LEFT) * part.clamp(0.0, 1.0)
    }

    /// Where it begins, and how long it is.
    pub fn between(&self, from: f64, to: f64) -> (f64, f64) {
        let (from, to) = (self.at(from), self.at(to));
        (from.min(to), (to - from).abs())
    }

    pub fn ticks(&self) -> Vec<Tick> {
        let count = ((self.last - self.first) / self.step).round() as usize;
        let digits = (-self.step.log10()).ceil().clamp(0.0, 3.0) as usize;
        let tick = |number: usize| {
            let cost = self.first + self.step * number as f64;
            let is_zero = cost.abs() < self.step / 2.0;
            let label = if is_zero { "0".to_owned() } else { format!("{cost:.digits$}") };
            Tick { x: Px(self.at(cost)), label, is_zero }
        };
        (0..=count).map(tick).collect()
    }
}

/// 1, 2 or 5 of a decade: the least by which no more ticks than wanted are apart.
fn step(length: f64) -> f64 {
    let decade = 10_f64.powf((length / TICKS).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|part| part * decade);
    steps.into_iter().find(|step| length / step <= TICKS).unwrap_or(10.0 * decade)
}

/// What instructions that an emulator executed are called beside an axis.
pub(crate) const EMULATED: &str = "instructions, emulated";

/// A part of a legend: a filling, and what it means.
pub(crate) struct Swatch {
    pub class: &'static str,
    pub x: Px,
    pub y: Px,
    pub text_x: Px,
    pub text_y: Px,
    pub text: &'static str,
}

/// Classes and what they mean, beside each other at a height; `apart` is what each takes besides its text.
pub(crate) fn swatches(
    all: impl Iterator<Item = (&'static str, &'static str)>,
    y: f64,
    apart: f64,
) -> Vec<Swatch> {
    let mut x = LEFTMOST;
    let swatch = |(class, text): (&'static str, &'static str)| {
        let from = x;
        x += apart + 6.3 * text.len() as f64;
        Swatch { class, x: Px(from), y: Px(y), text_x: Px(from + 20.0), text_y: Px(y + 11.0), text }
    };
    all.map(swatch).collect()
}

/// The beginning of a text that is too long: what is as wide as so many characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match end(text.chars(), most) {
        Some(fit) => format!("{}…", text.chars().take(fit).collect::<String>().trim_end()),
        None => text.to_owned(),
    }
}

/// The end of a text that is too long, as of a file's path.
pub(crate) fn ending(text: &str, most: usize) -> String {
    match end(text.chars().rev(), most) {
        Some(fit) => format!("…{}", text.chars().skip(text.chars().count() - fit).collect::<String>()),
        None => text.to_owned(),
    }
}

/// How many of these characters have room for so many narrow ones; none if all have.
fn end(mut characters: impl Iterator<Item = char>, most: usize) -> Option<usize> {
    let mut used = 0;
    characters.position(|c| {
        // A name of nothing but marks above other letters ends, too.
        used += c.width().unwrap_or(0).max(1);
        used > most
    })
}

/// A line of text, and the height at which it stands.
pub(crate) struct Text {
    pub y: Px,
    pub text: String,
}

/// Texts in lines of so many characters, one below the other from [`TOP`] on.
pub(crate) fn lines(texts: impl Iterator<Item = String>, characters: usize) -> Vec<Text> {
    let wrapped = texts.flat_map(|text| {
        let text = xml(&text);
        textwrap::wrap(&text, characters).into_iter().map(|line| line.into_owned()).collect::<Vec<_>>()
    });
    wrapped.enumerate().map(|(place, text)| Text { y: Px(TOP + LINE * place as f64), text }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(costs: &[f64]) -> Vec<String> {
        Axis::of(costs).ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_reach_everything() {
        assert_eq!(labels(&[52.0, 313.0]), ["0", "50", "100", "150", "200", "250", "300", "350"]);
        assert_eq!(
            labels(&[1.0, 0.3]),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(|label| label.replace("0.0", "0"))
        );
        assert_eq!(labels(&[-3.0, 20.0]), ["-5", "0", "5", "10", "15", "20"]);
        for costs in [vec![], vec![0.0], vec![f64::NAN, f64::INFINITY]] {
            assert_eq!(labels(&costs), ["0", "0.2"], "{costs:?}");
        }
    }

    #[test]
    fn a_place_is_written_in_one_way() {
        assert_eq!(
            [Px(1.0), Px(-0.001), Px(2.345), Px(10.10)].map(|px| px.to_string()),
            ["1", "0", "2.35", "10.1"]
        );
    }

    #[test]
    fn a_text_has_no_more_room_than_there_is() {
        let of = |text: &str| [shortened(text, 6), ending(text, 6)];
        assert_eq!(of("abcdef"), ["abcdef"; 2]);
        assert_eq!(of("abc defg"), ["abc de…", "…c defg"]);
        assert_eq!(of("核核核"), ["核核核"; 2], "each is as wide as two");
        assert_eq!(of("核核核核"), ["核核核…", "…核核核"]);
        assert_eq!(shortened(&"\u{301}".repeat(9), 6).chars().count(), 7);
        assert_eq!(shortened("abcde fgh", 6), "abcde…", "no blank at the end");
    }

    #[test]
    fn nothing_is_drawn_beside_the_axis() {
        let axis = Axis::of(&[100.0]);
        assert_eq!(
            (axis.at(0.0), axis.at(100.0), axis.at(1e300), axis.at(-1e300)),
            (LEFT, RIGHT, RIGHT, LEFT)
        );
        assert_eq!(axis.between(100.0, 0.0), (LEFT, RIGHT - LEFT));
    }
}
