use crate::{Error, plain};
use serde::Serialize;
use std::fmt::Write;

/// The value itself, pretty, with a newline at the end. JSON's own escapes keep characters that steer a terminal
/// out of the bytes without changing the value; serde_json escapes only those below U+0020.
pub(crate) fn render(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let text = serde_json::to_string_pretty(value)?;
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c == '\n' || !plain::steers(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.push('\n');
    Ok(out.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_change_bytes_but_not_the_value() {
        let value = "\u{1b}[2J \u{9b}31m \u{202e} \u{e0001} é";
        let bytes = render(&value).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, "\"\\u001b[2J \\u009b31m \\u202e \\udb40\\udc01 é\"\n");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
    }
}
