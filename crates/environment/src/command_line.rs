//! The kernel's command line.

/// The value of the last `name=value` on the line: the kernel lets the last one win and reads `-` as `_`. Words after
/// `--` are for the first process.
pub(crate) fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let plain = |text: &str| text.replace('-', "_");
    words(line)
        .into_iter()
        .take_while(|word| *word != "--")
        .filter_map(|word| word.trim_matches('"').split_once('='))
        .filter(|(key, _)| plain(key) == plain(name))
        .last()
        .map(|(_, value)| value.trim_matches('"'))
}

/// A boolean value as the kernel reads it (`kstrtobool`); `None` for any other text.
pub(crate) fn boolean(value: &str) -> Option<bool> {
    let mut letters = value.chars().map(|c| c.to_ascii_lowercase());
    match letters.next()? {
        'y' | 't' | '1' => Some(true),
        'n' | 'f' | '0' => Some(false),
        'o' => match letters.next()? {
            'n' => Some(true),
            'f' => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The line's words, as the kernel splits it: at blanks, except between quotation marks.
pub fn words(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let blank = |c: char| {
        quoted ^= c == '"';
        !quoted && c.is_whitespace()
    };
    line.split(blank).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GARBAGE;

    #[test]
    fn the_last_one_wins_and_nothing_behind_two_dashes_counts() {
        let line = "quiet preempt=full preempt=none reboot=k -- preempt=voluntary";
        assert_eq!(value(line, "preempt"), Some("none"));
        assert_eq!(value(line, "quiet"), None);
        assert_eq!(value(line, "missing"), None);
    }

    #[test]
    fn dashes_and_quotes() {
        assert_eq!(value("randomize-kstack-offset=off", "randomize_kstack_offset"), Some("off"));
        assert_eq!(value("dyndbg=\"file a preempt=x\" preempt=\"lazy\"", "preempt"), Some("lazy"));
        assert_eq!(value("\"preempt=full\"", "preempt"), Some("full"));
    }

    #[test]
    fn booleans_as_the_kernel_reads_them() {
        for yes in ["y", "Y", "1", "on", "ON", "true", "yes"] {
            assert_eq!(boolean(yes), Some(true), "{yes}");
        }
        for no in ["n", "0", "off", "Off", "false"] {
            assert_eq!(boolean(no), Some(false), "{no}");
        }
        for neither in ["", "o", "ox", "2", "\u{fffd}"] {
            assert_eq!(boolean(neither), None, "{neither}");
        }
    }

    #[test]
    fn garbage_gives_nothing_useful_but_no_panic() {
        for line in GARBAGE {
            assert_eq!(value(line, "vsyscall"), None);
        }
    }
}
