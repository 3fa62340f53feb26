//! Parsers of options' values.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use measure::CpuChoice;
use std::path::Path;
use std::time::Duration;

/// The most that a duration argument may be: a week.
const LONGEST: f64 = 7.0 * 24.0 * 3600.0;

/// A number of seconds.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn budget(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.parse().map_err(|_| "this is not a number of seconds, such as 4 or 0.5".to_string())?;
    if !(seconds > 0.0 && seconds <= LONGEST) {
        return Err(format!("it must be more than 0 and at most {LONGEST} seconds (a week)"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The number of a CPU, or all kinds.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn cpus(text: &str) -> Result<CpuChoice, String> {
    if text == "all" {
        return Ok(CpuChoice::EveryKind);
    }
    text.parse().map(CpuChoice::Only).map_err(|_| {
        "this is neither the number of a CPU nor \"all\"; CPUs count from 0, and `lscpu -e` lists them".into()
    })
}

/// The greatest seed: JSON readers keep every whole number up to this one.
const GREATEST_SEED: u64 = 1 << 53;

/// A seed that survives JSON.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= GREATEST_SEED);
    seed.ok_or_else(|| format!("a seed is a whole number from 0 to {GREATEST_SEED}"))
}

/// Words that make QEMU print a list are not names.
pub fn cpu_model(text: &str) -> Result<String, String> {
    if text.is_empty() || text == "help" || text == "?" || text.contains(char::is_control) {
        return Err("this is not the name of a processor; `qemu-system-x86_64 -cpu help` lists them".into());
    }
    Ok(text.to_string())
}

/// One of some, by its name; the others are offered.
pub fn one_of<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().map(|one| name(*one))).try_map(move |word: String| {
        let found = all.iter().copied().find(|one| name(*one) == word);
        found.ok_or_else(|| format!("there is no {word:?}"))
    })
}

/// Whether a file is there that is named like one with a kernel.
pub fn is_kernel(name: &str) -> bool {
    let path = Path::new(name);
    let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let is_called_so =
        file.starts_with("vmlinu") || file.starts_with("bzImage") || file.contains("linux-image");
    is_called_so && path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_positive_number_of_seconds() {
        assert_eq!(budget("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["0", "-1", "nan", "inf", "1e300", "", "4s"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }
}
