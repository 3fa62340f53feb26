//! The memory that a program is said to use between two entries.

use crate::abi;
use std::fmt;
use std::str::FromStr;

/// So many pages, of which one line each is touched, and so many lines side by side. Nothing is the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Footprint {
    /// At most [`abi::MAX_PAGES`].
    pub pages: u64,
    /// At most [`abi::MAX_LINES`].
    pub lines: u64,
}

impl Footprint {
    /// Nothing is touched.
    pub const NONE: Footprint = Footprint { pages: 0, lines: 0 };

    /// So many pages, and no lines.
    pub fn pages(pages: u64) -> Footprint {
        Footprint { pages, lines: 0 }
    }

    /// Nothing, and powers of two up to all pages.
    pub fn curve() -> Vec<Footprint> {
        let powers = std::iter::successors(Some(1), |pages| Some(2 * pages));
        let powers = powers.take_while(|pages| *pages <= abi::MAX_PAGES);
        std::iter::once(0).chain(powers).map(Footprint::pages).collect()
    }
}

/// `64`, or with lines `64,512`.
impl fmt::Display for Footprint {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.lines {
            0 => write!(out, "{}", self.pages),
            lines => write!(out, "{},{lines}", self.pages),
        }
    }
}

/// As it is displayed; the error says in words what is wrong.
impl FromStr for Footprint {
    type Err = String;

    fn from_str(text: &str) -> Result<Footprint, String> {
        let number = |text: &str, most: u64, what: &str| {
            let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|number| is_plain && *number <= most);
            number.ok_or_else(|| format!("{text:?} is no number of {what} from 0 to {most}"))
        };
        let (pages, lines) = text.split_once(',').unwrap_or((text, "0"));
        Ok(Footprint {
            pages: number(pages, abi::MAX_PAGES, "pages")?,
            lines: number(lines, abi::MAX_LINES, "lines")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for footprint in [Footprint::NONE, Footprint::pages(64), Footprint { pages: 0, lines: 16384 }] {
            assert_eq!(footprint.to_string().parse(), Ok(footprint));
        }
        assert_eq!("8,512".parse(), Ok(Footprint { pages: 8, lines: 512 }));
        for wrong in
            ["", ",", "1,", ",1", "-1", "+1", "1025", "0,16385", "1,2,3", "curve", "99999999999999999999"]
        {
            let error = wrong.parse::<Footprint>().unwrap_err();
            assert!(error.contains(" is no number of "), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_curve_is_nothing_and_the_powers_of_two() {
        let curve: Vec<String> = Footprint::curve().iter().map(Footprint::to_string).collect();
        assert_eq!(curve.join(" "), "0 1 2 4 8 16 32 64 128 256 512 1024");
    }
}
