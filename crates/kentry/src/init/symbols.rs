//! The functions of the running kernel, and its data.

use record::trace::Symbol;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// Kinds of symbols that are functions, in `/proc/kallsyms`.
const FUNCTIONS: [&str; 4] = ["t", "T", "w", "W"];

/// Kinds of symbols that are data that changes; `A` are the offsets of what each CPU has of its own. Kernels without CONFIG_KALLSYMS_ALL
/// have none of these.
const DATA: [&str; 6] = ["A", "b", "B", "d", "D", "V"];

/// Those of the kernel itself and its modules, by address; none where the kernel does not show them (CONFIG_KALLSYMS).
pub fn all() -> Vec<Symbol> {
    let Ok(file) = File::open("/proc/kallsyms") else { return Vec::new() };
    let mut symbols: Vec<Symbol> = BufReader::with_capacity(1 << 16, file)
        .split(b'\n')
        .map_while(Result::ok)
        .filter_map(|line| symbol(std::str::from_utf8(&line).ok()?))
        .collect();
    symbols.sort_by_key(|symbol| symbol.address);
    symbols
}

/// `ffffffff81000000 T _text`, and behind a tab the module's name.
fn symbol(line: &str) -> Option<Symbol> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let (kind, name) = (words.next()?, words.next()?);
    let is_wanted = FUNCTIONS.contains(&kind) || DATA.contains(&kind);
    (is_wanted && address != 0).then(|| Symbol { address, name: name.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_data() {
        let of = |line| symbol(line).map(|symbol| (symbol.address, symbol.name));
        assert_eq!(of("ffffffff81000000 T _text"), Some((0xffff_ffff_8100_0000, "_text".into())));
        assert_eq!(of("ffffffffc0000010 t work\t[module]"), Some((0xffff_ffff_c000_0010, "work".into())));
        assert_eq!(of("ffffffff82000000 D data"), Some((0xffff_ffff_8200_0000, "data".into())));
        assert_eq!(of("0000000000006000 A cpu_tss_rw"), Some((0x6000, "cpu_tss_rw".into())));
        for line in [
            "ffffffff82000000 r __ksymtab_x",
            "0000000000000020 a i",
            "0000000000000000 T hidden",
            "",
            "x T y",
            "1 T",
            "1 ? x",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
