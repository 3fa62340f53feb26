//! One processor's part of `/proc/cpuinfo`.

use crate::text;

/// What the kernel knows about one processor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CpuInfo<'a> {
    /// The microcode's revision, as written: `0x1`.
    pub microcode: Option<&'a str>,
    /// All flags, in the kernel's order.
    pub flags: Option<Vec<&'a str>>,
    /// The kernel's names for the faults it works around.
    pub bugs: Option<Vec<&'a str>>,
}

/// The block of `cpu` in the text of `/proc/cpuinfo`; `None` if there is no such block.
pub(crate) fn parse(text: &str, cpu: usize) -> Option<CpuInfo<'_>> {
    let block = text.split("\n\n").find(|block| text::number_field(block, "processor") == Some(cpu))?;
    let words = |key| text::field(block, key).map(|value| value.split_whitespace().collect());
    Some(CpuInfo {
        microcode: text::field(block, "microcode").filter(|value| !value.is_empty()),
        flags: words("flags"),
        bugs: words("bugs"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GARBAGE;

    const TWO: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmicrocode\t: 0x1\nflags\t\t: fpu syscall\n\
        bugs\t\t: spectre_v1 its\npower management:\n\nprocessor\t: 1\nflags\t\t: fpu\nbugs\t\t:\n\n";

    #[test]
    fn each_processor_has_its_block() {
        let zero = parse(TWO, 0).unwrap();
        assert_eq!(zero.microcode, Some("0x1"));
        assert_eq!(zero.flags, Some(vec!["fpu", "syscall"]));
        assert_eq!(zero.bugs, Some(vec!["spectre_v1", "its"]));
        let one = parse(TWO, 1).unwrap();
        assert_eq!((one.microcode, one.bugs), (None, Some(vec![])));
        assert_eq!(parse(TWO, 2), None);
    }

    #[test]
    fn garbage_gives_nothing() {
        for text in GARBAGE {
            assert_eq!(parse(text, 0), None);
        }
    }
}
