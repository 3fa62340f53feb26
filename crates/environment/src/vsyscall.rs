//! What the memory map shows of the vsyscall page.

use crate::reader::Reader;

/// Its permissions in `/proc/self/maps`: `r-xp` (emulated or native), `--xp` (execute only), or `absent`.
pub(crate) fn capture(reader: &mut Reader) -> Option<String> {
    reader.text("/proc/self/maps").map(|maps| page(&maps).to_owned())
}

fn page(maps: &str) -> &str {
    let line = maps.lines().find(|line| line.trim_end().ends_with("[vsyscall]"));
    line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or("absent")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GARBAGE;

    #[test]
    fn the_three_cases() {
        let stack = "7ffd76925000-7ffd76946000 rw-p 00000000 00:00 0                          [stack]\n";
        let page_of = |permissions: &str| {
            format!(
                "{stack}ffffffffff600000-ffffffffff601000 {permissions} 00000000 00:00 0      [vsyscall]\n"
            )
        };
        assert_eq!(page(&page_of("--xp")), "--xp");
        assert_eq!(page(&page_of("r-xp")), "r-xp");
        assert_eq!(page(stack), "absent");
    }

    #[test]
    fn garbage_shows_no_page() {
        for text in GARBAGE.iter().chain(&["[vsyscall]", " [vsyscall] "]) {
            assert_eq!(page(text), "absent");
        }
    }
}
