//! How parts are filled. There are more of them than colors that people tell apart, so that a filling is a color and a pattern; a part has
//! the same one in every picture.

use super::super::names::names;
use super::super::words;
use super::{CHARACTER, LEFT, LINE, WIDTH, px};
use crate::plain::xml;
use attribution::anatomy::{Document, Part, PartCount};

/// Colors that differ for those too who see no red, no green or no blue (seven of Paul Tol's scheme "light", which is made for dark text).
const COLORS: [&str; 7] = ["#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33"];

/// What is drawn on a color, in a square of 8; nothing on the first.
const PATTERNS: [&str; 6] = ["", "M0 8L8 0", "M4 3V5", "M0 0L8 8", "M0 4H8", "M0 0L8 8M0 8L8 0"];

/// A part's color and pattern.
pub(super) struct Filling {
    pub part: &'static str,
    pub color: &'static str,
    /// Empty for none.
    pub pattern: &'static str,
}

impl Filling {
    pub fn of(part: Part) -> Filling {
        let place = Part::ALL.iter().position(|one| *one == part).unwrap_or(0);
        let pattern = PATTERNS[place / COLORS.len() % PATTERNS.len()];
        Filling { part: part.name(), color: COLORS[place % COLORS.len()], pattern }
    }
}

/// A part of the legend.
pub(super) struct Swatch {
    pub part: Part,
    pub x: String,
    pub y: String,
    pub text_x: String,
    pub text_y: String,
    /// What the part is, and how many instructions of each path belong to it.
    pub title: String,
}

/// The parts that are drawn, in lines from the height `at` on.
pub(super) fn legend(document: &Document, is_drawn: impl Fn(Part) -> bool, at: &mut f64) -> Vec<Swatch> {
    let parts = document.paths.iter().map(|path| path.anatomy.parts());
    let paths: Vec<(String, Vec<PartCount>)> = names(document).into_iter().zip(parts).collect();
    let mut x = LEFT;
    let mut swatches = Vec::new();
    for part in Part::ALL.iter().copied().filter(|part| is_drawn(*part)) {
        let width = 38.0 + CHARACTER * part.name().len() as f64;
        if x + width > LEFT + WIDTH + 18.0 {
            (x, *at) = (LEFT, *at + LINE);
        }
        let (y, text_x, text_y) = (px(*at), px(x + 19.0), px(*at + 11.0));
        swatches.push(Swatch { part, x: px(x), y, text_x, text_y, title: title(&paths, part) });
        x += width;
    }
    *at += LINE + 4.0;
    swatches
}

/// `paths`: what each is called where there are several, and its parts.
fn title(paths: &[(String, Vec<PartCount>)], part: Part) -> String {
    let of_path = |(name, parts): &(String, Vec<PartCount>)| {
        let name = if paths.len() > 1 { format!("{name}: ") } else { String::new() };
        let count = parts.iter().find(|one| one.part == part).map_or(0, |one| one.count);
        format!("{name}{}", words::instructions(count))
    };
    let counts: Vec<String> = paths.iter().map(of_path).collect();
    xml(&format!("{}, {}. {}", part.name(), part.what(), counts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_parts_look_alike() {
        let looks: BTreeSet<(&str, &str)> =
            Part::ALL.iter().map(|part| Filling::of(*part)).map(|one| (one.color, one.pattern)).collect();
        assert_eq!(looks.len(), Part::ALL.len());
    }

    /// Red, green and blue of a color, linear.
    fn linear(color: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let part = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap_or_default()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [[f64; 3]; 3], color: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(color).map(|(factor, part)| factor * part).sum())
    }

    /// In CIELAB, in which distances are about as people see them.
    fn lab(color: [f64; 3]) -> [f64; 3] {
        let xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
        let [x, y, z] = times(xyz, color.map(|part| part.clamp(0.0, 1.0)));
        let root = |part: f64| if part > 0.008_856 { part.cbrt() } else { 7.787 * part + 16.0 / 116.0 };
        let [x, y, z] = [root(x / 0.9505), root(y), root(z / 1.089)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// What people see who lack one of the three kinds of cones (Machado, Oliveira and Fernandes 2009), and those who lack none.
    const SEEN: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    #[test]
    fn nobody_takes_one_color_for_another() {
        for (matrix, (place, one)) in
            SEEN.iter().flat_map(|seen| COLORS.iter().enumerate().map(move |one| (seen, one)))
        {
            for other in &COLORS[..place] {
                let [one, other] = [one, other].map(|color| lab(times(*matrix, linear(color))));
                let distance = one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                assert!(distance > 12.0, "{distance} between {one:?} and {other:?}");
            }
        }
    }
}
