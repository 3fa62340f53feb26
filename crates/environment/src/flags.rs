//! The processor features that decide what an entry does or costs.

use crate::cpuid::{Leaves, Register};

use Register::{Eax, Ebx, Ecx, Edx};

/// Name (the kernel's where it has one), leaf, subleaf, register, bit. AMD reports branch control in another leaf than
/// Intel, so a name may have two rows. Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E.
const FLAGS: &[(&str, u32, u32, Register, u32)] = &[
    ("tsc", 1, 0, Edx, 4),
    ("sep", 1, 0, Edx, 11),
    ("pge", 1, 0, Edx, 13),
    ("ht", 1, 0, Edx, 28),
    ("vmx", 1, 0, Ecx, 5),
    ("pcid", 1, 0, Ecx, 17),
    ("x2apic", 1, 0, Ecx, 21),
    ("tsc_deadline_timer", 1, 0, Ecx, 24),
    ("hypervisor", 1, 0, Ecx, 31),
    ("fsgsbase", 7, 0, Ebx, 0),
    ("tsc_adjust", 7, 0, Ebx, 1),
    ("smep", 7, 0, Ebx, 7),
    ("erms", 7, 0, Ebx, 9),
    ("invpcid", 7, 0, Ebx, 10),
    ("rtm", 7, 0, Ebx, 11),
    ("adx", 7, 0, Ebx, 19),
    ("smap", 7, 0, Ebx, 20),
    ("umip", 7, 0, Ecx, 2),
    ("pku", 7, 0, Ecx, 3),
    ("ospke", 7, 0, Ecx, 4),
    ("waitpkg", 7, 0, Ecx, 5),
    ("cet_ss", 7, 0, Ecx, 7),
    ("la57", 7, 0, Ecx, 16),
    ("rdpid", 7, 0, Ecx, 22),
    ("bus_lock_detect", 7, 0, Ecx, 24),
    ("pks", 7, 0, Ecx, 31),
    ("fsrm", 7, 0, Edx, 4),
    ("uintr", 7, 0, Edx, 5),
    ("md_clear", 7, 0, Edx, 10),
    ("serialize", 7, 0, Edx, 14),
    ("hybrid_cpu", 7, 0, Edx, 15),
    ("cet_ibt", 7, 0, Edx, 20),
    ("ibrs", 7, 0, Edx, 26),
    ("ibpb", 7, 0, Edx, 26),
    ("stibp", 7, 0, Edx, 27),
    ("flush_l1d", 7, 0, Edx, 28),
    ("arch_capabilities", 7, 0, Edx, 29),
    ("ssbd", 7, 0, Edx, 31),
    ("fzrm", 7, 1, Eax, 10),
    ("fred", 7, 1, Eax, 17),
    ("lkgs", 7, 1, Eax, 18),
    ("wrmsrns", 7, 1, Eax, 19),
    ("lam", 7, 1, Eax, 26),
    ("rrsba_ctrl", 7, 2, Edx, 2),
    ("bhi_ctrl", 7, 2, Edx, 4),
    ("svm", 0x8000_0001, 0, Ecx, 2),
    ("topoext", 0x8000_0001, 0, Ecx, 22),
    ("syscall", 0x8000_0001, 0, Edx, 11),
    ("nx", 0x8000_0001, 0, Edx, 20),
    ("rdtscp", 0x8000_0001, 0, Edx, 27),
    ("lm", 0x8000_0001, 0, Edx, 29),
    ("ibpb", 0x8000_0008, 0, Ebx, 12),
    ("ibrs", 0x8000_0008, 0, Ebx, 14),
    ("stibp", 0x8000_0008, 0, Ebx, 15),
    ("ssbd", 0x8000_0008, 0, Ebx, 24),
    ("lfence_rdtsc", 0x8000_0021, 0, Eax, 2),
    ("autoibrs", 0x8000_0021, 0, Eax, 8),
];

/// Flags that the kernel adds: its own decisions about the processor's features. `arch/x86/include/asm/cpufeatures.h`.
const KERNEL_ONLY: &[&str] = &[
    "constant_tsc",
    "cpuid_fault",
    "ibrs_enhanced",
    "ibt",
    "nonstop_tsc",
    "pti",
    "syscall32",
    "sysenter32",
    "tsc_known_freq",
    "tsc_reliable",
    "user_shstk",
    "xenpv",
];

/// The names of the features that CPUID reports, sorted.
pub(crate) fn of_processor(leaves: &Leaves) -> Vec<String> {
    let present = FLAGS.iter().filter(|(_, leaf, subleaf, register, bit)| {
        let exists = *subleaf == 0 || leaves.get(*leaf, 0).eax >= *subleaf;
        exists && leaves.bit(*leaf, *subleaf, *register, *bit)
    });
    sorted(present.map(|(name, ..)| *name))
}

/// Those flags of `/proc/cpuinfo` that matter for entries, sorted.
pub(crate) fn of_kernel(flags: &[&str]) -> Vec<String> {
    let matters = |flag: &&str| KERNEL_ONLY.contains(flag) || FLAGS.iter().any(|(name, ..)| name == flag);
    sorted(flags.iter().copied().filter(matters))
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_two_rows_appears_once() {
        let leaves = Leaves::of(&[
            (7, 0, [0, 0, 0, 1 << 26 | 1 << 27]),
            (0x8000_0008, 0, [0, 1 << 12 | 1 << 14 | 1 << 15, 0, 0]),
        ]);
        assert_eq!(of_processor(&leaves), ["ibpb", "ibrs", "stibp"]);
    }

    #[test]
    fn a_subleaf_that_does_not_exist_has_no_flags() {
        let subleaf = (7, 1, [1 << 17 | 1 << 18, 0, 0, 0]);
        assert!(of_processor(&Leaves::of(&[(7, 0, [0; 4]), subleaf])).is_empty());
        assert_eq!(of_processor(&Leaves::of(&[(7, 0, [1, 0, 0, 0]), subleaf])), ["fred", "lkgs"]);
    }

    #[test]
    fn kernel_flags_are_filtered_and_sorted() {
        assert_eq!(of_kernel(&["syscall", "fpu", "pti", "syscall"]), ["pti", "syscall"]);
    }
}
