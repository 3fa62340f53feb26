//! How the kernel finds the TSC's frequency: what it makes of several measurements and sources, compiled for the host; and
//! what it finds where the plan says nothing.

use crate::build::{OnHost, compile_once, root};
use crate::guest::{Emulator, Script, Session};
use crate::kernel::Kernel;
use crate::monitor::wrapped;
use places::lab::{Limits, Qemu};
use record::abi;

/// `agree LOW HIGH ...` or `choose SOURCE LOW HIGH ...`, and the words that come out.
fn estimate(words: &str) -> String {
    let lab = root().join("lab");
    let files = [lab.join("time/estimate.c"), root().join("tests/lab/estimate.c")];
    let include = format!("-I{}", lab.display());
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", &include];
    OnHost::of(&compile_once("estimate", &flags, &files).bytes).run(words, b"").trim().into()
}

#[test]
fn shots_narrow_each_other_and_one_that_is_wrong_is_outvoted() {
    // Bounds of 10 ms at 2 GHz: on time, and disturbed at the beginning or the end.
    let disturbed = "1999 2001 1700 2000 2000 2289 1999 2017 1998 2002";
    assert_eq!(estimate(&format!("agree {disturbed}")), "2000 2000");
    assert_eq!(estimate("agree 1999 2001 1998 2000 1900 1901 1999 2002 2289 2290"), "1999 2000");
    // As single readings, three boots said 2007, 2017 and 2289 MHz: no two agree.
    assert_eq!(estimate("agree 2007 2008 2017 2018 2289 2290"), "0 0");
    assert_eq!(estimate("agree 5 5"), "5 5");
}

#[test]
fn the_most_trusted_source_wins_and_the_first_that_contradicts_is_named() {
    assert_eq!(estimate("choose 2 0 0 3 0 0"), "0 0 0 0");
    assert_eq!(
        estimate("choose 1 0 0 2 2000000 2000000 4 1999000 2001000 6 2000000 2000000"),
        "2000000 2 0 0"
    );
    assert_eq!(
        estimate("choose 3 2000000 2000000 4 2007000 2008000 5 2289000 2290000"),
        "2000000 3 2289500 5"
    );
    assert_eq!(estimate("choose 3 2000000 2000000 4 1900000 2100000"), "2000000 3 0 0", "wide, but it holds");
    assert_eq!(estimate("choose 3 2000000 2000000 4 1000000 1979999"), "2000000 3 1489999 4");
    assert_eq!(estimate("choose 3 2000000 2000000 4 1000000 1980000"), "2000000 3 0 0", "one hundredth");
}

#[test]
fn a_measured_frequency_is_believed_rather_than_a_models_crystal() {
    let [model, pm_timer, pit, base] =
        [abi::TSC_FROM_MODEL, abi::TSC_FROM_PM_TIMER, abi::TSC_FROM_PIT, abi::TSC_FROM_BASE];
    let told = format!("{model} 3125000 3125000 {base} 3000000 3000000");
    for timer in [pm_timer, pit] {
        let measured = format!("choose {told} {timer} 2999000 3001000");
        assert_eq!(estimate(&measured), format!("3000000 {timer} 3125000 {model}"));
    }
    assert_eq!(estimate(&format!("choose {told}")), format!("3125000 {model} 3000000 {base}"), "no timer");
    let crystal = abi::TSC_FROM_CRYSTAL;
    let reported = format!("choose {pit} 2000000 2000000 {crystal} 3000000 3000000");
    assert_eq!(estimate(&reported), format!("3000000 {crystal} 2000000 {pit}"), "whatever the order");
}

/// Leaf 40000010h is no timing leaf of every hypervisor that has so many leaves, and Hyper-V may keep its register for itself.
#[test]
fn a_hypervisor_is_asked_where_its_signature_says_that_it_tells() {
    let (nowhere, leaf, register) = ("0", "1", "2");
    for (name, last, interface, privileges, told) in [
        ("VMwareVMware", "40000010", "0", "0", leaf),
        ("KVMKVMKVM", "40000010", "1007efb", "0", leaf),
        ("KVMKVMKVM", "40000001", "1007efb", "0", nowhere),
        ("ACRNACRNACRN", "40000010", "0", "0", leaf),
        ("TCGTCGTCGTCG", "40000001", "0", "0", nowhere),
        ("SomeoneElse!", "40000010", "0", "800", nowhere),
        ("MicrosoftHv", "40000082", "31237648", "800", register),
        ("MicrosoftHv", "40000082", "31237648", "7ff", nowhere),
        ("KVMKVMKVM", "40000010", "31237648", "fff", register),
    ] {
        let words = format!("told {name} {last} {interface} {privileges}");
        assert_eq!(estimate(&words), told, "{words}");
    }
}

#[test]
fn a_crystal_is_known_only_where_all_processors_of_a_model_have_it() {
    let crystals = [
        ("506e3", "24000000"),
        ("906ea", "24000000"),
        ("506c9", "19200000"),
        ("506f1", "25000000"),
        // Skylake-X and Cascade Lake have 25 or 24 MHz.
        ("50654", "0"),
        ("50657", "0"),
        ("806f8", "0"),
        // Of another family.
        ("8505e0", "0"),
    ];
    for (signature, hertz) in crystals {
        assert_eq!(estimate(&format!("crystal {signature}")), hertz, "{signature}");
    }
}

/// A boot whose plan does not say the frequency.
fn untold() -> Script {
    let mut script = Script::new();
    script.check("pti");
    script
}

/// The same on a machine of QEMU's, in which a second has 10^9 instructions.
fn on_qemu(words: &str) -> Option<Session> {
    let folder = tempfile::tempdir().unwrap();
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {words}"));
    let boot = |archive: &[u8], programs, limits: &Limits| qemu.boot(archive, programs, limits);
    untold().boot_in(&boot, 0)
}

fn is_near(found: u64, hertz: u64) -> bool {
    found.abs_diff(hertz) < hertz / 2000
}

#[test]
fn the_pcs_timer_and_the_acpi_timer_measure_the_counter() {
    for (words, source) in [
        ("-M pc,acpi=off", abi::TSC_FROM_PIT),
        ("-M pc,acpi=on", abi::TSC_FROM_PM_TIMER),
        ("-M q35,acpi=on", abi::TSC_FROM_PM_TIMER),
    ] {
        let Some(Session { boot, log, .. }) = on_qemu(words) else { return };
        assert!(is_near(boot.tsc_hz, Qemu::TCG_HERTZ), "{words}: {}", boot.tsc_hz);
        assert_eq!((boot.tsc_source, boot.tsc_other_hz), (source, 0), "{words}");
        // TCG does not have the bit that promises it.
        assert!(!boot.tsc_invariant);
        assert_eq!(log, ["the processor does not promise that the TSC's frequency is constant"], "{words}");
    }
}

#[test]
fn without_any_timer_the_frequency_is_unknown() {
    // Without the port of its output, the PC's timer cannot be seen to expire.
    check_unknown(on_qemu("-M microvm,acpi=on"));
}

fn check_unknown(session: Option<Session>) {
    let Some(Session { boot, log, .. }) = session else { return };
    assert_eq!((boot.tsc_hz, boot.tsc_source, boot.tsc_other_hz), (0, abi::TSC_FROM_NOTHING, 0));
    assert_eq!(log[0], "the TSC's frequency is unknown: CPUID does not tell it, and no timer answers");
}

/// A kernel that looks for the timer's output in no bit (`test $0x20, %al`), as if its gate stayed closed. Waiting for 2^36 ticks, as it once did, takes longer than a boot may.
#[test]
fn a_timer_that_stands_still_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("kernel");
    std::fs::write(&kernel, Kernel::read().changed("tsc_by_pit", &[0xa8, 0x20], &[0xa8, 0])).unwrap();
    check_unknown(on_qemu(&format!("-M pc,acpi=off -kernel {}", kernel.display())));
}

/// Bochs' Tiger Lake tells the frequency of the processor that it was copied from; its timers run by another.
#[test]
fn a_processor_whose_timers_contradict_it_is_noticed() {
    let Some(Session { boot, log, .. }) = untold().boot_untold(Emulator::Bochs) else { return };
    assert_eq!(boot.tsc_source, abi::TSC_FROM_CRYSTAL);
    assert!(boot.tsc_other == abi::TSC_FROM_PM_TIMER || boot.tsc_other == abi::TSC_FROM_PIT, "{boot:?}");
    assert!(is_near(boot.tsc_other_hz, places::lab::Bochs::HERTZ), "{boot:?}");
    assert!(boot.tsc_invariant);
    let told = format!("the TSC runs at {} kHz by CPUID 15h, but at ", boot.tsc_hz / 1000);
    assert!(log.len() == 1 && log[0].starts_with(&told), "{log:?}");
}
