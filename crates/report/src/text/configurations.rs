//! The columns of configurations side by side: what they are called, and why one has no figures.

use crate::figure::ABSENT;
use document::{Outcome, Row};

/// One column.
pub(super) struct Configuration {
    /// `pcid=off pti=on`
    pub label: String,
    /// What stands above its figures: the label, or a letter where labels are too long.
    pub heading: String,
    /// Why none of its rows has a figure, where all have the same reason.
    pub closed: Option<String>,
}

/// `A` to `Z`, then `A1`, `B1`, …
pub(super) fn letter(index: usize) -> String {
    let letter = char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[index % 26]);
    match index / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// `unsupported: this CPU has no PCID`, if no row has a figure and all that have no other reason have this one.
pub(super) fn closed_for_one_reason<'a>(rows: impl Iterator<Item = &'a &'a Row>) -> Option<String> {
    let mut reason: Option<(&Row, usize)> = None;
    for row in rows {
        if row.outcome == Outcome::Ok {
            return None;
        }
        match &mut reason {
            None => reason = Some((row, 1)),
            Some((first, count)) => *count += usize::from(first.reason == row.reason),
        }
    }
    let (row, count) = reason?;
    let words = row.reason.as_deref().unwrap_or(ABSENT);
    (count > 1).then(|| format!("{}: {words}", row.outcome.name()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn letters_do_not_run_out() {
        let letters: Vec<String> = [0, 25, 26, 53].into_iter().map(super::letter).collect();
        assert_eq!(letters, ["A", "Z", "A1", "B2"]);
    }
}
