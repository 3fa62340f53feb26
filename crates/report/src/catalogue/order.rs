//! The order of names that have numbers in them: 6.1 before 6.12, and 5.10 before both.

use std::cmp::Ordering;

/// Compares texts part by part, numbers by their value.
pub(super) fn natural(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        let (ours, theirs) = (part(&mut left), part(&mut right));
        if ours.is_empty() && theirs.is_empty() {
            return Ordering::Equal;
        }
        match compare(ours, theirs) {
            Ordering::Equal => {}
            other => return other,
        }
    }
}

/// Takes the digits, or what is none, that a text begins with.
fn part<'a>(text: &mut &'a str) -> &'a str {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(text.len());
    let (part, rest) = text.split_at(end);
    *text = rest;
    part
}

/// However long numbers are: without their leading zeros, the longer one is greater.
fn compare(left: &str, right: &str) -> Ordering {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if is_number(left) && is_number(right) {
        let (ours, theirs) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
        return ours.len().cmp(&theirs.len()).then_with(|| ours.cmp(theirs)).then_with(|| left.cmp(right));
    }
    left.cmp(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_in_the_order_of_their_numbers() {
        let ordered = [
            "",
            "5.10.0-30",
            "6.1.0-9",
            "6.1.0-56-amd64",
            "6.1.0-56-cloud-amd64",
            "6.12.9",
            "6.12.100+deb12",
        ];
        for (place, left) in ordered.iter().enumerate() {
            for (other, right) in ordered.iter().enumerate() {
                assert_eq!(natural(left, right), place.cmp(&other), "{left} {right}");
            }
        }
        let long = "9".repeat(50);
        assert_eq!(natural(&long, "8"), Ordering::Greater);
    }
}
