use document::{Document, Outcome, Row};

/// Reasons that several measured rows share: each row gets a mark, and the legend says once what it means.
pub(super) struct Notes<'a> {
    reasons: Vec<&'a str>,
}

impl<'a> Notes<'a> {
    pub fn of(document: &'a Document) -> Self {
        let all: Vec<&str> = document.results.iter().filter_map(reason).collect();
        let mut reasons = Vec::new();
        for (index, reason) in all.iter().enumerate() {
            if !reasons.contains(reason) && all[index + 1..].contains(reason) {
                reasons.push(*reason);
            }
        }
        Self { reasons }
    }

    /// Marks and reasons, in the order of the marks.
    pub fn all(&self) -> impl Iterator<Item = (String, &'a str)> {
        self.reasons.iter().enumerate().map(|(index, reason)| (mark(index), *reason))
    }

    /// The mark of a row whose reason is shared.
    pub fn mark(&self, row: &Row) -> Option<String> {
        let reason = reason(row)?;
        self.reasons.iter().position(|shared| *shared == reason).map(mark)
    }

    /// The reason of a measured row that no other has.
    pub fn own<'b>(&self, row: &'b Row) -> Option<&'b str> {
        reason(row).filter(|_| self.mark(row).is_none())
    }
}

fn reason(row: &Row) -> Option<&str> {
    row.reason.as_deref().filter(|_| row.outcome == Outcome::Ok)
}

/// `a` to `z`, then `a1`, `b1`, …
pub(super) fn mark(index: usize) -> String {
    let letter = char::from(b"abcdefghijklmnopqrstuvwxyz"[index % 26]);
    match index / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn marks_do_not_run_out() {
        let marks: Vec<String> = [0, 25, 26, 53].into_iter().map(super::mark).collect();
        assert_eq!(marks, ["a", "z", "a1", "b2"]);
    }
}
