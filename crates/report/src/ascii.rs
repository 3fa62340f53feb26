//! Text for terminals and locales that have ASCII only.

/// `text` in ASCII. Typographic characters become what one would type instead (`+-`, `x`, `...`), bars become `#`,
/// and every other character becomes its escape.
///
/// Columns stay aligned: where a character becomes several, blanks of the gap before or behind it make room, as long as
/// one blank is left.
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.is_ascii() { out.push_str(line) } else { write(line, &mut out) }
    }
    out
}

fn write(line: &str, out: &mut String) {
    let begin = out.len();
    let mut missing = 0;
    for c in line.chars() {
        if c == ' ' && missing > 0 && out.ends_with(' ') {
            missing -= 1;
            continue;
        }
        let mut before = out.len();
        replace(c, out);
        for _ in 0..(out.len() - before).saturating_sub(1) {
            if out[begin..before].ends_with("  ") {
                before -= 1;
                out.remove(before);
            } else {
                missing += 1;
            }
        }
    }
}

fn replace(c: char, out: &mut String) {
    match c {
        c if c.is_ascii() => out.push(c),
        '±' => out.push_str("+-"),
        '×' => out.push('x'),
        '…' => out.push_str("..."),
        '–' | '—' | '‐' | '‑' | '−' => out.push('-'),
        '‘' | '’' => out.push('\''),
        '“' | '”' | '„' => out.push('"'),
        '\u{a0}' => out.push(' '),
        '·' | '•' => out.push('*'),
        'µ' | 'μ' => out.push('u'),
        '≈' => out.push('~'),
        '≤' => out.push_str("<="),
        '≥' => out.push_str(">="),
        '→' => out.push_str("->"),
        '←' => out.push_str("<-"),
        '▲' | '△' => out.push('^'),
        '▼' | '▽' => out.push('v'),
        '○' => out.push('o'),
        '≠' => out.push('!'),
        '█' | '▉' | '▊' | '▋' | '▌' => out.push('#'),
        '░' => out.push(':'),
        // Less than half a column.
        '▍' | '▎' | '▏' => out.push(' '),
        c => out.extend(c.escape_unicode()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_would_type_instead() {
        assert_eq!(
            ascii("±0.1 62× a…b 1–2 – “so” it’s 3 µs ≥ 2 →"),
            "+-0.1 62x a...b 1-2 - \"so\" it's 3 us >= 2 ->"
        );
        assert_eq!(ascii("核\u{9b}"), r"\u{6838}\u{9b}");
    }

    #[test]
    fn columns_stay_aligned() {
        assert_eq!(ascii("a  ±0.1  62×\na  -0.1  62x\n"), "a +-0.1  62x\na  -0.1  62x\n");
        assert_eq!(ascii("12 ±39.4    6\n"), "12 +-39.4   6\n");
        assert_eq!(ascii("██▌▍ |"), "###  |");
    }

    #[test]
    fn everything_becomes_ascii() {
        let all: String = (0..=0x2fff_u32).filter_map(char::from_u32).collect();
        assert!(ascii(&all).is_ascii());
    }
}
