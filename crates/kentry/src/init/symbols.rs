//! The functions of the running kernel.

use record::trace::Symbol;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// Kinds of symbols that are functions, in `/proc/kallsyms`.
const FUNCTIONS: [&str; 4] = ["t", "T", "w", "W"];

/// Those of the kernel itself and its modules, by address; none where the kernel does not show them (CONFIG_KALLSYMS).
pub fn functions() -> Vec<Symbol> {
    let Ok(file) = File::open("/proc/kallsyms") else { return Vec::new() };
    let mut symbols: Vec<Symbol> = BufReader::with_capacity(1 << 16, file)
        .split(b'\n')
        .map_while(Result::ok)
        .filter_map(|line| function(std::str::from_utf8(&line).ok()?))
        .collect();
    symbols.sort_by_key(|symbol| symbol.address);
    symbols
}

/// `ffffffff81000000 T _text`, and behind a tab the module's name.
fn function(line: &str) -> Option<Symbol> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let is_function = FUNCTIONS.contains(&words.next()?);
    (is_function && address != 0).then_some(Symbol { address, name: words.next()?.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_data() {
        let of = |line| function(line).map(|symbol| (symbol.address, symbol.name));
        assert_eq!(of("ffffffff81000000 T _text"), Some((0xffff_ffff_8100_0000, "_text".into())));
        assert_eq!(of("ffffffffc0000010 t work\t[module]"), Some((0xffff_ffff_c000_0010, "work".into())));
        for line in ["ffffffff82000000 D data", "0000000000000000 T hidden", "", "x T y", "1 T"] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
