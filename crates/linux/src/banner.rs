//! What a kernel calls itself.

/// What `linux_banner` begins with (`init/version-timestamp.c`).
pub(crate) const START: &str = "Linux version ";

/// The longest banner, and the longest release (`__NEW_UTS_LEN`), in bytes.
const LONGEST: usize = 512;
const LONGEST_RELEASE: usize = 64;

/// The line `Linux version 6.1.0-56-cloud-amd64 (…` in a section, without the line's end.
pub(crate) fn find(section: &[u8]) -> Option<String> {
    let starts = memchr::memmem::find_iter(section, START);
    starts.map(|start| &section[start..]).find_map(|rest| {
        let line = rest.get(..rest.len().min(LONGEST))?.split(|byte| matches!(byte, b'\n' | 0)).next()?;
        let is_text = line.iter().all(|byte| (b' '..=b'~').contains(byte));
        // Messages begin alike: "Linux version %s".
        let has_number = line.get(START.len()).is_some_and(u8::is_ascii_digit);
        (is_text && has_number).then(|| String::from_utf8_lossy(line).into_owned())
    })
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
