//! Small pieces that several parsers need.

/// Text from bytes of unknown origin: valid UTF-8, without the control characters that could steer a terminal.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let keep = |c: char| {
        if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
    };
    String::from_utf8_lossy(bytes).chars().map(keep).collect()
}

/// The value of the first line `key: value`, as in `/proc/self/status` and `/proc/cpuinfo`.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// The same as a number.
pub(crate) fn number_field<T: std::str::FromStr>(text: &str, key: &str) -> Option<T> {
    field(text, key)?.parse().ok()
}

/// Where `needle` first stands in `bytes`.
pub(crate) fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut start = 0;
    while let Some(step) = bytes[start..].iter().position(|&byte| byte == first) {
        start += step;
        if bytes[start..].starts_with(needle) {
            return Some(start);
        }
        start += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_become_text() {
        assert_eq!(clean(b"a\xffb\x1b[2J\tc\n\0"), "a\u{fffd}b\u{fffd}[2J\tc\n\u{fffd}");
    }

    #[test]
    fn fields() {
        let text = "Name:\tcat\nSeccomp:\t2\nSeccomp_filters:\t3\nEmpty:\n";
        assert_eq!(field(text, "Seccomp"), Some("2"));
        assert_eq!(number_field(text, "Seccomp_filters"), Some(3_u32));
        assert_eq!(number_field::<u32>(text, "Name"), None);
        assert_eq!(field(text, "Empty"), Some(""));
        assert_eq!(field(text, "Absent"), None);
    }

    #[test]
    fn find_in_bytes() {
        assert_eq!(find(b"aab", b"ab"), Some(1));
        assert_eq!(find(b"aab", b"b"), Some(2));
        assert_eq!(find(b"aab", b"ba"), None);
        assert_eq!(find(b"", b"a"), None);
        assert_eq!(find(b"a", b""), None);
    }
}
