//! Lists of CPUs as the kernel writes them: `0-3,8`.

use std::collections::BTreeSet;

/// The ascending numbers `cpus` as such a list.
pub(crate) fn format(cpus: impl Iterator<Item = usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let range = |&(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

/// Lists that name this CPU or a higher one are not believed: no kernel has so many.
const TOO_MANY: usize = 1 << 20;

/// The CPUs of a list. None when the text is not a list.
pub(crate) fn parse(list: &str) -> Option<BTreeSet<usize>> {
    let mut cpus = BTreeSet::new();
    for range in list.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= TOO_MANY {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::{TOO_MANY, format, parse};
    use crate::testing::GARBAGE;

    #[test]
    fn lists_are_written_as_the_kernel_does() {
        assert_eq!(format([].into_iter()), "");
        assert_eq!(format([3].into_iter()), "3");
        assert_eq!(format([0, 1].into_iter()), "0-1");
        assert_eq!(format([0, 1, 2, 5, 7, 8].into_iter()), "0-2,5,7-8");
    }

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        for list in ["", "3", "0-1", "0-2,5,7-8", "1020-1030,8191"] {
            assert_eq!(parse(list).map(|cpus| format(cpus.into_iter())).as_deref(), Some(list));
        }
        assert_eq!(parse("0-3\n"), parse("0-3"));
    }

    #[test]
    fn what_is_no_list_is_not_read() {
        for list in ["x", "1-", "-1", "2-1", "0-18446744073709551615", "0,y", &TOO_MANY.to_string()] {
            assert_eq!(parse(list), None, "{list}");
        }
        for text in GARBAGE.iter().filter(|text| !text.trim().is_empty()) {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
