//! What others have published of instructions and sequences that a bill in ring 3 names: of those that it leaves out, and of those that it
//! times. Such a figure stands beside what was measured here, and is added to nothing. Every row was read in the source that it names; what is
//! only remembered stands nowhere here.

use serde::{Deserialize, Serialize};

/// A cost that somebody has published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// How much, and of which form of the instruction, in words.
    pub cost: String,
    /// The processor that it was measured on, as the source names it; null where the source, as it was read, does not.
    pub processor: Option<String>,
    /// Who published it, where and when.
    pub source: String,
}

/// A row of the table.
struct Row {
    /// Names of instructions that are left out, or settings of steps.
    of: &'static [&'static str],
    cost: &'static str,
    processor: Option<&'static str>,
    source: &'static str,
}

/// The paper itself was not at hand, but a summary that quotes its figures and its table.
const SKYBRIDGE: &str = "Z. Mi et al., \"SkyBridge: Fast and Secure Inter-Process Communication for Microkernels\", EuroSys 2019, as a \
                         summary quotes it";

const AMD_GUIDE: &str =
    "AMD, \"Software Optimization Guide for AMD64 Processors\", 25112 rev. 3.06, September 2005, table 13";

const INGO: &str =
    "I. Molnar, linux-mm, 8 June 2015, \"Re: [PATCH 0/3] TLB flush multiple pages per IPI v5\"";

const K8: Option<&str> = Some("AMD Athlon 64 and Opteron");

const TABLE: [Row; 14] = [
    Row { of: &["swapgs"], cost: "26 cycles", processor: None, source: SKYBRIDGE },
    Row { of: &["sysret"], cost: "75 cycles", processor: None, source: SKYBRIDGE },
    Row { of: &["sysret"], cost: "35 cycles", processor: K8, source: AMD_GUIDE },
    Row { of: &["mov to CR3"], cost: "186 ±10 cycles", processor: None, source: SKYBRIDGE },
    Row { of: &["mov to CR3"], cost: "96 cycles, a flush by it", processor: None, source: INGO },
    Row {
        of: &["mov to CR3"],
        cost: "on the order of a hundred cycles",
        processor: None,
        source: "Linux, Documentation/arch/x86/pti.rst, \"Runtime Cost\"",
    },
    Row {
        of: &["wrmsr"],
        cost: "185 cycles, of IA32_PKRS",
        processor: Some("Intel Core i7-12700H"),
        source: "Y. Guo et al., \"BULKHEAD: Secure, Scalable, and Efficient Kernel Compartmentalization with PKS\", NDSS 2025, table III",
    },
    Row {
        of: &["invpcid"],
        cost: "376 ns, of everything",
        processor: Some("a laptop's Skylake"),
        source: "Linux, commit d8bced79af1d (A. Lutomirski, 2016), \"x86/mm: If INVPCID is available, use it to flush global mappings\"",
    },
    Row { of: &["invlpg"], cost: "260 cycles", processor: None, source: INGO },
    Row {
        of: &["invlpg"],
        cost: "about 100 ns",
        processor: None,
        source: "Linux, commit a5102476a24b (D. Hansen, 2014), \"x86/mm: Set TLB flush tunable to sane value (33)\"",
    },
    Row {
        of: &["iretq"],
        cost: "about 110 ns, to itself",
        processor: Some("its author's laptop"),
        source: "Linux, commit c198b121b1a1 (A. Lutomirski, 2016), \"x86/asm: Rewrite sync_core() to use IRET-to-self\"",
    },
    Row {
        of: &["clac", "stac"],
        cost: "no figure; \"effectively serializing\", \"enormously faster and pipelined in later Zen\"",
        processor: Some("Zen 2"),
        source: "L. Torvalds, linux-kernel, 28 October 2025, \"Re: [PATCH v1 2/2] epoll: Use __user_write_access_begin()\", who knows of no timings",
    },
    Row {
        of: &["verw=on"],
        cost: "11 cycles, of a register, which clears no buffers",
        processor: K8,
        source: AMD_GUIDE,
    },
    Row {
        of: &["swapgs=fence"],
        cost: "4.88 cycles, lfence after lfence",
        processor: Some("Intel Skylake"),
        source: "T. Downs, uarch-bench, issue 34, 16 August 2018",
    },
];

/// What is published of an instruction that is left out, by its name; or of a step that is timed, by its setting.
pub fn published(name: &str) -> Vec<Published> {
    let rows = TABLE.iter().filter(|row| row.of.contains(&name));
    let told = rows.map(|row| Published {
        cost: row.cost.to_owned(),
        processor: row.processor.map(str::to_owned),
        source: row.source.to_owned(),
    });
    told.collect()
}

/// All that something is published of.
pub fn all_published() -> impl Iterator<Item = &'static str> {
    TABLE.iter().flat_map(|row| row.of).copied()
}
