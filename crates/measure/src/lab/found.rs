//! What a kernel's boot record says, in words.

use environment::RingTest;
use record::{Boot, abi};

/// What the kernel found of its ring 0.
pub fn ring_test(boot: &Boot) -> RingTest {
    let each = |ticks: u64| ticks as f64 / abi::RING_TIMES as f64;
    let where_it_works = |ticks: u64| (ticks != 0).then(|| each(ticks));
    let has = |sign: u64| boot.signs >> sign & 1 == 1;
    RingTest {
        loop_ticks: boot.ring0_ticks,
        loop_ticks_outside: boot.ring3_ticks,
        loop_cycles: (abi::RING_TURNS * abi::RING_TURN_CYCLES) as f64,
        syscall_works: boot.syscall_works,
        cr3_write: each(boot.cr3_ticks),
        cpuid: each(boot.cpuid_ticks),
        interrupt: where_it_works(boot.interrupt_ticks),
        invalid_instruction: where_it_works(boot.invalid_ticks),
        deprivileged: has(abi::SIGN_DEPRIVILEGED),
        nesting: has(abi::SIGN_NESTING),
        hypervisor: has(abi::SIGN_HYPERVISOR).then(|| signature(&boot.signature)),
        cr4_write: where_it_works(boot.cr4_ticks),
        spec_ctrl_write: where_it_works(boot.spec_ctrl_ticks),
        pred_cmd_write: where_it_works(boot.pred_cmd_ticks),
        flush_cmd_write: where_it_works(boot.flush_cmd_ticks),
        invpcid: where_it_works(boot.invpcid_ticks),
        invlpg: where_it_works(boot.invlpg_ticks),
    }
}

/// As far as its first zero, and without what cannot be shown: a hypervisor may write anything there.
fn signature(bytes: &[u8]) -> String {
    let text = bytes.iter().take_while(|byte| **byte != 0);
    text.map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '?' }).collect()
}

/// As CPUID spells it.
pub fn vendor(vendor: u64) -> Option<&'static str> {
    match vendor {
        abi::VENDOR_INTEL => Some("GenuineIntel"),
        abi::VENDOR_AMD => Some("AuthenticAMD"),
        abi::VENDOR_OTHER => Some("other"),
        _ => None,
    }
}

/// Those that the kernel found, by name.
pub fn features(bits: u64) -> Vec<String> {
    let there = abi::FEATURES.iter().filter(|(bit, _)| bits >> bit & 1 == 1);
    there.map(|(_, name)| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Table;

    #[test]
    fn a_feature_that_a_switch_requires_is_one_that_the_kernel_tells() {
        let all = features(u64::MAX);
        let needed = Table::get().switches.iter().flat_map(|switch| &switch.requires);
        let needed: Vec<&String> = needed.filter_map(|requirement| requirement.feature.as_ref()).collect();
        assert!(needed.len() >= 2, "{needed:?}");
        needed.iter().for_each(|name| assert!(all.contains(name), "{name} is none of {all:?}"));
        assert_eq!(features(1 << abi::FEATURE_SMAP | 1 << abi::FEATURE_NX), ["smap", "nx"]);
        assert_eq!(features(0), [""; 0]);
    }
}
