//! Facts, rows and figures of a fleet in words.

use crate::compare::interval::{digits_of_percent, told};
use crate::compare::words::percent;
use crate::figure::{ABSENT, number};
use ::fleet::{Difference, Differs, FactValue, Named, RowName, Unit};

/// So many hosts are named in a cell.
pub(super) const NAMED: usize = 3;

/// `1 host`, `2,000 hosts`.
pub(super) fn count(count: usize, one: &str) -> String {
    let digits = count.to_string();
    let (first, rest) = digits.split_at(digits.len() % 3);
    let groups = rest.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let groups: Vec<String> =
        std::iter::once(first.to_owned()).filter(|first| !first.is_empty()).chain(groups).collect();
    format!("{} {one}{}", groups.join(","), if count == 1 { "" } else { "s" })
}

/// `syscall-x86_64 getppid`, with what else tells the row apart. Processes of 32 bits are the rarer ones, and use entries of the same names.
pub(super) fn row(name: &RowName) -> String {
    let bits = if name.bits == 64 { String::new() } else { format!(" {}-bit", name.bits) };
    let configuration = name.configuration.as_deref().map(|text| format!(" {}", text.replace(';', " ")));
    format!("{} {}{bits}{}", name.entry, name.operation, configuration.unwrap_or_default())
}

/// The values alone, as what names a cohort; one that nobody knows says of what.
pub(super) fn values(facts: &[FactValue]) -> String {
    let value = |fact: &FactValue| fact.value.clone().unwrap_or_else(|| format!("{} unknown", fact.what));
    let values: Vec<String> = facts.iter().map(value).collect();
    if values.is_empty() { "all hosts".to_owned() } else { values.join(", ") }
}

/// `microcode 0x1000065`.
pub(super) fn fact(fact: &FactValue) -> String {
    format!("{} {}", fact.what, fact.value.as_deref().unwrap_or("unknown"))
}

/// What differs on an odd host, and how the others are.
pub(super) fn differs(differs: &Differs) -> String {
    let usual = differs.usual.as_deref().unwrap_or("unknown");
    format!("{}; {} of {} have {usual}", fact(&differs.fact), differs.with_usual, differs.of)
}

/// `+12.3 ±1.1 %`; in the unit where there is no percentage.
pub(super) fn difference(difference: &Difference) -> String {
    if let Some(middle) = difference.percent {
        return change(Some(middle), difference.percent_low, difference.percent_high);
    }
    let ends = [difference.difference_low, difference.difference_high].map(number);
    format!("{} {} ({} to {})", number(difference.difference), unit(difference.unit), ends[0], ends[1])
}

/// In percent, with the interval where it is known.
pub(super) fn change(middle: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let Some(middle) = middle else { return ABSENT.to_owned() };
    let Some((low, high)) = low.zip(high) else { return format!("{} %", percent(middle)) };
    let told = told(middle, [low, high], digits_of_percent);
    match told.beside.starts_with('±') {
        true => format!("{} {} %", told.change, told.beside),
        false => format!("{} % ({})", told.change, told.beside),
    }
}

pub(super) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::CoreCycles => "core cycles",
        Unit::Nanoseconds => "ns",
    }
}

/// The first hosts, and how many more there are.
pub(super) fn hosts(named: &Named, most: usize) -> String {
    let first: Vec<&str> = named.first.iter().take(most).map(String::as_str).collect();
    match named.count.saturating_sub(first.len()) {
        0 => first.join(", "),
        all if first.is_empty() => count(all, "host"),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

pub(super) fn or_absent(text: Option<&str>) -> String {
    text.unwrap_or(ABSENT).to_owned()
}

/// How likely, from certain to hardly.
pub(super) fn chance(value: f64) -> String {
    if value >= 0.001 { format!("{value:.3}") } else { format!("{value:.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_bits_have_other_names() {
        let name = |bits| RowName {
            entry: "int80-i386".into(),
            operation: "getppid".into(),
            bits,
            configuration: Some("pti=on;pcid=off".into()),
        };
        assert_eq!(row(&name(64)), "int80-i386 getppid pti=on pcid=off");
        assert_eq!(row(&name(32)), "int80-i386 getppid 32-bit pti=on pcid=off");
    }

    #[test]
    fn thousands_are_told_apart() {
        let written = [0, 1, 12, 999, 1000, 20_000, 1_234_567].map(|one| count(one, "host"));
        assert_eq!(
            written,
            ["0 hosts", "1 host", "12 hosts", "999 hosts", "1,000 hosts", "20,000 hosts", "1,234,567 hosts"]
        );
    }

    #[test]
    fn hosts_that_are_not_named_are_counted() {
        let named = Named { count: 5, first: vec!["a".into(), "b".into(), "c".into()] };
        assert_eq!(
            (hosts(&named, 2), hosts(&named, 9)),
            ("a, b and 3 more".into(), "a, b, c and 2 more".into())
        );
        assert_eq!(hosts(&Named { count: 1, first: vec!["a".into()] }, 9), "a");
    }
}
