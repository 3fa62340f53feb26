//! Lists of CPUs as the kernel writes them: `0-3,8`.

/// The list that stands for the ascending numbers `cpus`.
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

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn lists_are_written_as_the_kernel_does() {
        assert_eq!(format([].into_iter()), "");
        assert_eq!(format([3].into_iter()), "3");
        assert_eq!(format([0, 1].into_iter()), "0-1");
        assert_eq!(format([0, 1, 2, 5, 7, 8].into_iter()), "0-2,5,7-8");
    }
}
