//! What a kernel calls itself.

/// What `linux_banner` begins with (`init/version-timestamp.c`).
pub(crate) const START: &str = "Linux version ";

/// The longest banner, and the longest release (`__NEW_UTS_LEN`), in bytes.
const LONGEST: usize = 512;
const LONGEST_RELEASE: usize = 64;
/// How many lines like it are looked at.
const MOST: usize = 16;

/// The line `Linux version 6.1.0-56-cloud-amd64 (…` in a section, without the line's end. Since 6.1 there are two: one that all
/// but the linker's last step uses, without the build's number and date (`init/version.c`), and the one that is shown.
pub(crate) fn find(section: &[u8]) -> Option<String> {
    let starts = memchr::memmem::find_iter(section, START);
    let mut lines: Vec<&str> = starts.filter_map(|start| line(&section[start..])).take(MOST).collect();
    let has_number =
        |line: &&str| line.split(" #").skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    lines.sort_by_key(|line| !has_number(line));
    lines.first().map(|line| line.to_string())
}

/// The line that text begins with, if it is a banner.
fn line(text: &[u8]) -> Option<&str> {
    let line = text[..text.len().min(LONGEST)].split(|byte| matches!(byte, b'\n' | 0)).next()?;
    let is_text = line.iter().all(|byte| (b' '..=b'~').contains(byte));
    // Messages begin alike: "Linux version %s".
    let has_number = line.get(START.len()).is_some_and(u8::is_ascii_digit);
    std::str::from_utf8(line).ok().filter(|_| is_text && has_number).map(str::trim_end)
}

/// The release that a version begins with: its first word, if that can be a part of a file's name.
pub(crate) fn release(version: &str) -> Option<&str> {
    let word = version.split(' ').next()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+~-".contains(c);
    let is_release = word.starts_with(|c: char| c.is_ascii_digit())
        && word.len() <= LONGEST_RELEASE
        && word.chars().all(is_plain);
    is_release.then_some(word)
}
