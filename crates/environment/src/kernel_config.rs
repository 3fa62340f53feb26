//! The options that the kernel was built with.

use std::collections::BTreeMap;

use crate::reader::Reader;
use crate::text;

/// The most bytes of a configuration, packed and unpacked. Debian's is 12 thousand lines, 300 KB.
const PACKED_LIMIT: u64 = 1 << 20;
const LIMIT: usize = 4 << 20;

/// Options that decide which entries exist and what they cost, without `CONFIG_`. A trailing `*` matches any ending.
/// Older names of the same option are in the list, too.
const OPTIONS: &[&str] = &[
    // Which entries there are.
    "COMPAT_VDSO",
    "DEVMEM",
    "IA32_EMULATION",
    "IA32_EMULATION_DEFAULT_DISABLED",
    "IO_STRICT_DEVMEM",
    "IO_URING",
    "LEGACY_VSYSCALL_*",
    "MODIFY_LDT_SYSCALL",
    "RSEQ",
    "STRICT_DEVMEM",
    "TIME_NS",
    "X86_16BIT",
    "X86_ESPFIX64",
    "X86_FRED",
    "X86_IOPL_IOPERM",
    "X86_VSYSCALL_EMULATION",
    "X86_X32",
    "X86_X32_ABI",
    // What the kernel does around them.
    "ADDRESS_MASKING",
    "AUDITSYSCALL",
    "CALL_DEPTH_TRACKING",
    "CFI",
    "CFI_CLANG",
    "CPU_IBPB_ENTRY",
    "CPU_IBRS_ENTRY",
    "CPU_MITIGATIONS",
    "CPU_SRSO",
    "CPU_UNRET_ENTRY",
    "FINEIBT",
    "GCC_PLUGIN_STACKLEAK",
    "INIT_STACK_ALL_ZERO",
    "KSTACK_ERASE",
    "MITIGATION_*",
    "PAGE_TABLE_ISOLATION",
    "RANDOMIZE_KSTACK_OFFSET",
    "RANDOMIZE_KSTACK_OFFSET_DEFAULT",
    "RETHUNK",
    "RETPOLINE",
    "SCHED_CORE",
    "SECCOMP_FILTER",
    "SLS",
    "SPECULATION_MITIGATIONS",
    "X86_KERNEL_IBT",
    "X86_USER_SHADOW_STACK",
    // How the kernel runs and counts.
    "CC_OPTIMIZE_FOR_SIZE",
    "CONTEXT_TRACKING_USER",
    "CONTEXT_TRACKING_USER_FORCE",
    "FTRACE_SYSCALLS",
    "HYPERV",
    "HZ",
    "KVM_GUEST",
    "NO_HZ_FULL",
    "PARAVIRT",
    "PARAVIRT_XXL",
    "PREEMPT",
    "PREEMPT_DYNAMIC",
    "PREEMPT_LAZY",
    "PREEMPT_NONE",
    "PREEMPT_RT",
    "PREEMPT_VOLUNTARY",
    "VIRT_CPU_ACCOUNTING_GEN",
    "XEN_PV",
    // What makes every entry slow.
    "DEBUG_ENTRY",
    "KASAN",
    "KCOV",
    "KCSAN",
    "KMSAN",
    "PROVE_LOCKING",
    "UBSAN",
];

/// The options, and the file they were read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KernelConfig {
    pub source: String,
    /// Name without `CONFIG_` → `y`, `m`, `n` (is not set), or a value as written.
    pub options: BTreeMap<String, String>,
}

impl KernelConfig {
    /// Whether an option is built in or a module; `None` if this kernel does not know it.
    pub fn is_set(&self, name: &str) -> Option<bool> {
        self.options.get(name).map(|value| value == "y" || value == "m")
    }
}

/// The configuration of the running kernel, whose release is `release`.
pub(crate) fn capture(reader: &mut Reader, release: &str) -> Option<KernelConfig> {
    const PACKED: &str = "/proc/config.gz";
    if let Some(packed) = reader.candidate(PACKED, PACKED_LIMIT) {
        match unpack(&packed) {
            Some(text) => {
                return Some(KernelConfig { source: PACKED.to_owned(), options: parse(&text) });
            }
            None => reader.miss(PACKED, "not a whole gzip file"),
        }
    }
    let places = places(release);
    for place in &places {
        if let Some(content) = reader.candidate(place, LIMIT as u64) {
            return Some(KernelConfig { source: place.clone(), options: parse(&text::clean(&content)) });
        }
    }
    let tried = places.join(", ");
    reader.miss_expected("the kernel's configuration", format!("neither {PACKED} nor {tried} can be read"));
    None
}

/// Where distributions put it. A release with a slash is not a file name.
fn places(release: &str) -> Vec<String> {
    if release.contains('/') {
        return Vec::new();
    }
    vec![
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
        format!("/lib/modules/{release}/build/.config"),
    ]
}

/// The listed options in the text of a configuration.
pub(crate) fn parse(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(option)
        .filter(|(name, _)| listed(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn option(line: &str) -> Option<(&str, &str)> {
    if let Some(unset) = line.strip_prefix("# CONFIG_") {
        return Some((unset.strip_suffix(" is not set")?, "n"));
    }
    let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
    Some((name, value.trim_matches('"')))
}

fn listed(name: &str) -> bool {
    OPTIONS.iter().any(|entry| match entry.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => *entry == name,
    })
}

/// The text in a gzip file (RFC 1952) of one member.
fn unpack(packed: &[u8]) -> Option<String> {
    let deflated = packed.get(header_length(packed)?..)?;
    let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(deflated, LIMIT).ok()?;
    Some(text::clean(&bytes))
}

/// The header has ten bytes, then what its flags (byte 3) announce, in this order.
fn header_length(packed: &[u8]) -> Option<usize> {
    const CHECKSUM: u8 = 1 << 1;
    const EXTRA: u8 = 1 << 2;
    const NAME: u8 = 1 << 3;
    const COMMENT: u8 = 1 << 4;
    if !packed.starts_with(&[0x1f, 0x8b, 8]) {
        return None;
    }
    let flags = *packed.get(3)?;
    let mut length = 10;
    if flags & EXTRA != 0 {
        let extra = [*packed.get(length)?, *packed.get(length + 1)?];
        length += 2 + usize::from(u16::from_le_bytes(extra));
    }
    for string in [NAME, COMMENT] {
        if flags & string != 0 {
            length += packed.get(length..)?.iter().position(|byte| *byte == 0)? + 1;
        }
    }
    Some(if flags & CHECKSUM != 0 { length + 2 } else { length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{GARBAGE, Scratch, fixture};

    const TEXT: &str = "#\n# Automatically generated\n#\nCONFIG_IA32_EMULATION=y\n# CONFIG_X86_X32_ABI is not set\n\
        CONFIG_HZ=250\nCONFIG_LEGACY_VSYSCALL_XONLY=y\nCONFIG_LOCALVERSION=\"-fc\"\nCONFIG_RSEQ=y\n";

    #[test]
    fn listed_options_with_their_values() {
        let options = parse(TEXT);
        assert_eq!(options["IA32_EMULATION"], "y");
        assert_eq!(options["X86_X32_ABI"], "n");
        assert_eq!(options["HZ"], "250");
        assert_eq!(options["LEGACY_VSYSCALL_XONLY"], "y");
        assert!(!options.contains_key("LOCALVERSION"));
        let config = KernelConfig { source: String::new(), options };
        assert_eq!(config.is_set("RSEQ"), Some(true));
        assert_eq!(config.is_set("X86_X32_ABI"), Some(false));
        assert_eq!(config.is_set("X86_FRED"), None);
    }

    #[test]
    fn garbage_has_no_options() {
        for text in GARBAGE {
            assert!(parse(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_recorded_gzip_file() {
        let roots = fixture("firecracker");
        let mut reader = Reader::new(&roots);
        let config = capture(&mut reader, "x").unwrap();
        assert_eq!(config.source, "/proc/config.gz");
        assert_eq!(config.is_set("RANDOMIZE_KSTACK_OFFSET_DEFAULT"), Some(true));
        assert_eq!(config.is_set("DEVMEM"), Some(false));
        assert!(reader.into_unseen().is_empty());
    }

    #[test]
    fn a_damaged_gzip_file_is_noted_and_the_next_place_is_tried() {
        let scratch = Scratch::new("config-damaged");
        scratch.write("/proc/config.gz", &[0x1f, 0x8b, 8, 0xff, 0, 0, 0, 0, 0, 0, 0xff]);
        scratch.write("/boot/config-6.1", TEXT.as_bytes());
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        let config = capture(&mut reader, "6.1").unwrap();
        assert_eq!(config.source, "/boot/config-6.1");
        assert_eq!(reader.into_unseen()[0].why, "not a whole gzip file");
    }

    #[test]
    fn gzip_headers() {
        let header = |flags: u8, rest: &[u8]| [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3], rest].concat();
        assert_eq!(header_length(&header(0, &[])), Some(10));
        assert_eq!(header_length(&header(1 << 3, b"config\0")), Some(17));
        assert_eq!(header_length(&header(1 << 2 | 1 << 1, &[3, 0, 1, 2, 3])), Some(17));
        assert_eq!(header_length(&header(1 << 3, b"config")), None);
        assert_eq!(header_length(&header(1 << 2, &[3])), None);
        assert_eq!(header_length(b"BZh9"), None);
        assert_eq!(unpack(&header(1 << 2, &[255, 255])), None);
    }

    #[test]
    fn a_bomb_is_refused() {
        let packed = miniz_bomb();
        assert_eq!(unpack(&packed), None);
    }

    /// Blocks of stored zeros that amount to more than the limit.
    fn miniz_bomb() -> Vec<u8> {
        let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        for block in 0..=LIMIT / 0xffff + 1 {
            let last = u8::from(block == LIMIT / 0xffff + 1);
            bomb.extend([last, 0xff, 0xff, 0, 0]);
            bomb.extend(std::iter::repeat_n(0, 0xffff));
        }
        bomb
    }

    #[test]
    fn a_release_is_no_path() {
        assert!(places("../../etc").is_empty());
        assert_eq!(places("6.1")[0], "/boot/config-6.1");
    }
}
