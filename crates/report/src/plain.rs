//! Text from outside, made harmless.

use std::ffi::OsStr;

/// `text` on one line, in which nothing steers a terminal or hides: control characters, and those that reorder or
/// vary what stands around them, become their escape (`\u{1b}`); line breaks and tabs become blanks.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if steers(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// The same for a file name or an argument, in which bytes that are no UTF-8 become their escape too (`\xff`).
pub fn plain_os(text: &OsStr) -> String {
    let mut out = String::with_capacity(text.len());
    for chunk in text.as_encoded_bytes().utf8_chunks() {
        out.push_str(&plain(chunk.valid()));
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    }
    out
}

/// The same without the characters that XML 1.0 forbids, however they are escaped: two that are no control characters.
pub(crate) fn xml(text: &str) -> String {
    plain(text).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

/// Control characters (Unicode category Cc, with the C1 set that begins sequences in one byte), format characters
/// (Cf: directions, joiners, invisible ones, tags), line separators and variation selectors.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(plain("\u{1b}[2J\u{9b}31m\u{7f}\u{202e}abc"), r"\u{1b}[2J\u{9b}31m\u{7f}\u{202e}abc");
        assert_eq!(plain("two\nlines\tand\0"), r"two lines and\u{0}");
        assert_eq!(plain("±, ×, 核"), "±, ×, 核");
    }

    #[test]
    fn a_file_name_that_is_no_text_is_readable() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(plain_os(OsStr::from_bytes(b"run\xff\x1b[m.json")), r"run\xff\u{1b}[m.json");
    }
}
