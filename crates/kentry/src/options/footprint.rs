//! `--footprint`, of the commands that measure.

use crate::error::Error;
use clap::{Args, ValueHint};
use record::Footprint;
use std::collections::BTreeSet;
use std::str::FromStr;

/// What is touched behind every use of an entry.
#[derive(Debug, Clone, Default, Args)]
pub struct FootprintArgs {
    /// Touch so many pages, one line of each, and lines side by side, behind every use: the cost is then with what the entry has
    /// evicted of them; curve: nothing, and 1 to 1024 pages, for named rows. May be given several times
    #[arg(long, value_name = "PAGES[,LINES]|curve", value_hint = ValueHint::Other, hide_short_help = true)]
    pub footprint: Vec<Touched>,
}

/// What `--footprint` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touched {
    /// One.
    Only(Footprint),
    /// All that make a curve.
    Curve,
}

impl FromStr for Touched {
    type Err = String;

    fn from_str(text: &str) -> Result<Touched, String> {
        match text {
            "curve" => Ok(Touched::Curve),
            _ => text.parse().map(Touched::Only).map_err(|why| format!("{why}; or the word curve")),
        }
    }
}

impl FootprintArgs {
    /// The footprints that were asked for, each once, in ascending order; `names_rows` is whether the command line does.
    ///
    /// # Errors
    /// [`Error::Usage`] when a curve is asked for, of rows that are not named: it takes twelve measurements of each.
    pub fn all(&self, names_rows: bool) -> Result<Vec<Footprint>, Error> {
        if self.footprint.contains(&Touched::Curve) && !names_rows {
            let why =
                "--footprint curve measures each row twelve times: name rows with --entry or --operation";
            return Err(Error::Usage(why.into()));
        }
        let each = self.footprint.iter().flat_map(|touched| match touched {
            Touched::Only(footprint) => vec![*footprint],
            Touched::Curve => Footprint::curve(),
        });
        Ok(each.collect::<BTreeSet<Footprint>>().into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(words: &[&str], names_rows: bool) -> Result<Vec<String>, String> {
        let footprint = words.iter().map(|word| word.parse()).collect::<Result<Vec<Touched>, String>>()?;
        let all = FootprintArgs { footprint }.all(names_rows).map_err(|error| error.to_string())?;
        Ok(all.iter().map(Footprint::to_string).collect())
    }

    #[test]
    fn each_footprint_is_measured_once_in_ascending_order() {
        assert_eq!(all(&[], false).unwrap(), [""; 0]);
        assert_eq!(all(&["64", "0", "8,512", "64,0"], false).unwrap(), ["0", "8,512", "64"]);
        assert_eq!(
            all(&["curve", "3", "64"], true).unwrap().join(" "),
            "0 1 2 3 4 8 16 32 64 128 256 512 1024"
        );
    }

    #[test]
    fn a_curve_of_all_rows_took_minutes() {
        assert!(all(&["curve"], false).unwrap_err().contains("--entry or --operation"));
        let wrong = all(&["page"], true).unwrap_err();
        assert_eq!(wrong, "\"page\" is no number of pages from 0 to 1024; or the word curve");
    }
}
