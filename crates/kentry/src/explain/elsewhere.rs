//! Faults of the processor that Linux names in /sys/devices/system/cpu/vulnerabilities, and whose remedies no entry of a program executes: the
//! lab has no switch for them.

use super::fault;
use crate::prices::LabRuns;
use table::{Table, is_same_name};

/// A fault, and where its remedy is.
#[derive(Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// As Linux calls its file, and other names.
    pub names: &'static [&'static str],
    /// What it is, where its remedy is, and who pays for that.
    pub text: &'static str,
}

/// Documentation/admin-guide/hw-vuln.
pub const ALL: &[Elsewhere] = &[
    Elsewhere {
        names: &["gather_data_sampling", "GDS", "Downfall", "CVE-2022-40982"],
        text: "Gather instructions (`vpgatherdd` and its like) of Intel's processors before Sapphire Rapids can leak what other code left \
               in vector registers. Microcode closes it, and gathers take longer then. Entries into the kernel cost the same.",
    },
    Elsewhere {
        names: &["srbds", "Special register buffer data sampling", "CrossTalk", "CVE-2020-0543"],
        text: "What one core reads by `rdrand`, `rdseed` or `egetkey` could be read on another core of some of Intel's processors. \
               Microcode closes it, and these instructions take longer then. Entries into the kernel cost the same.",
    },
    Elsewhere {
        names: &["vmscape", "CVE-2025-40300"],
        text: "A guest can train branch predictions of the program that runs it, such as QEMU. Linux writes an indirect branch predictor \
               barrier (IBPB) before it returns to that program, if a guest ran since. Only such programs pay; `kentry explain ibpb` \
               explains the barrier.",
    },
    Elsewhere {
        names: &["itlb_multihit", "iTLB multihit", "CVE-2018-12207"],
        text: "A guest can halt its host where the same code is mapped by a small and by a large page. KVM splits large pages that a guest \
               executes. Only hosts of virtual machines pay, when guests fault pages in.",
    },
    Elsewhere {
        names: &["old_microcode"],
        text: "This is no fault: Linux says that the processor's microcode is older than the newest that it knew when it was built. Faults \
               that newer microcode closes may be open.",
    },
    Elsewhere {
        names: &["ghostwrite"],
        text: "A fault of RISC-V processors (T-Head's C910 and C920). No x86 processor has it.",
    },
];

/// The fault of this name.
pub fn of(word: &str) -> Option<&'static Elsewhere> {
    ALL.iter().find(|fault| fault.names.iter().any(|name| is_same_name(name, word)))
}

/// Its names, what it opens with if the kernel does something about it, and its text, in Markdown.
pub fn explain(table: &Table, elsewhere: &Elsewhere, runs: &LabRuns) -> String {
    let Elsewhere { names, text } = elsewhere;
    let first = names.first().copied().unwrap_or_default();
    let others = names.get(1..).filter(|others| !others.is_empty());
    let also = others.map(|others| format!("Also called: {}.\n\n", others.join(", "))).unwrap_or_default();
    let opening = fault::of(first).map(|known| fault::opening(table, known, runs) + "\n").unwrap_or_default();
    format!(
        "# {first}, a fault of the processor\n\n{opening}{also}{text}\n\nNo switch of the lab is about it. Linux says in \
         `/sys/devices/system/cpu/vulnerabilities/{first}` what it does here.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::super::subject::meaning;
    use super::*;
    use table::Table;

    #[test]
    fn what_people_call_them_was_unknown() {
        for word in ["Downfall", "GDS", "Retpolines", "Register file data sampling"] {
            assert!(meaning(Table::get(), word).is_ok(), "{word}");
        }
    }

    #[test]
    fn a_fault_is_here_or_in_the_table() {
        for name in ALL.iter().flat_map(|fault| fault.names) {
            assert!(Table::get().known_as(name).is_none(), "{name}");
        }
        let none = LabRuns::of(Vec::new());
        let text = explain(Table::get(), of("gather-data-sampling").unwrap(), &none);
        assert!(text.contains("Downfall") && text.contains("vulnerabilities/gather_data_sampling"), "{text}");
    }
}
