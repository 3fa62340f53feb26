//! Returns of the kernel, which are rewritten while it runs: all that an entry may come to, and nothing else.

use crate::build::freestanding;
use crate::guest::{Script, limits};
use crate::kernel::Kernel;
use crate::monitor::{Monitor, is_missing, wrapped};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction};
use places::lab::{Event, Events, Qemu};
use std::collections::BTreeSet;

/// The kernel's addresses are so far above the physical ones (kernel.lds).
const KERNEL_BASE: u64 = 0xffff_ffff_8000_0000;

/// A return that is not rewritten, with the room for a jump.
const PLAIN: [u8; 5] = [0xc3, 0xcc, 0xcc, 0xcc, 0xcc];

fn sites(kernel: &Kernel) -> BTreeSet<u64> {
    kernel.quads("return_sites").into_iter().collect()
}

/// Functions that no entry comes to: those that time ring 0 at boot.
const AT_BOOT: [&str; 3] = ["ring_loop_here", "ring_cr3_here", "ring_cpuid_here"];

#[test]
fn every_return_of_the_kernel_can_be_rewritten() {
    let (kernel, sites) = (Kernel::read(), sites(&Kernel::read()));
    assert!(sites.len() > 300, "{}", sites.len());
    let returns: Vec<u64> = kernel
        .instructions()
        .filter(|code| code.flow_control() == FlowControl::Return && code.code() != Code::Iretq)
        .map(|code| code.ip())
        .collect();
    assert!(returns.len() > 300, "{}", returns.len());
    let missing: Vec<String> =
        returns.iter().filter(|at| !sites.contains(at)).map(|at| format!("{at:x}")).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for site in &sites {
        assert_eq!(kernel.code(*site, 5), PLAIN, "{site:x}");
    }
    // What has no size, and is therefore no function to the file: the code of assembly.
    let of_assembly = ["rdmsr_safe", "wrmsr_safe", "retpoline_r11", "thread_switch"];
    for name in of_assembly {
        let code = kernel.until_return(name);
        assert!(sites.contains(&code), "{name} at {code:x}");
    }
    AT_BOOT.iter().for_each(|name| assert!(!sites.contains(&kernel.until_return(name)), "{name}"));
}

/// All of the kernel's code but that of paths, as it is in a guest's memory while a program runs in each of these configurations.
fn code_in(configurations: &[&str], model: &str) -> Vec<Vec<u8>> {
    let (kernel, folder) = (Kernel::read(), tempfile::tempdir().unwrap());
    let (socket, dump) = (folder.path().join("monitor"), folder.path().join("dump"));
    let (start, end) = (kernel.symbol("kernel_start"), kernel.symbol("paths_start"));
    let program = freestanding(64, &["waits.S"]);
    configurations
        .iter()
        .map(|switches| {
            let mut script = Script::new();
            script.limit(0);
            switches.split(';').for_each(|switches| script.set(switches));
            script.exec::<&str>(&program, &[]);
            let option = format!("-cpu {model} -monitor unix:{},server=on,wait=off", socket.display());
            let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {option}"));
            let mut guest =
                qemu.boot(&script.archive(Qemu::TCG_HERTZ), script.numbered(), &limits()).unwrap();
            // The program has said that it runs, and runs for ever.
            while !matches!(guest.next().unwrap(), Event::Output { .. }) {}
            let mut monitor = Monitor::open(&socket);
            let (at, bytes) = (start - KERNEL_BASE, end - start);
            let said = monitor.ask(&format!("pmemsave {at:#x} {bytes:#x} \"{}\"", dump.display()));
            monitor.tell("quit");
            std::fs::read(&dump).unwrap_or_else(|error| panic!("{error}: {said}"))
        })
        .collect()
}

/// Where the jump at an address goes.
fn target(code: &[u8], at: u64) -> u64 {
    let jump = Decoder::with_ip(64, code, at, DecoderOptions::NONE).decode();
    assert_eq!(jump.code(), Code::Jmp_rel32_64, "{at:x}");
    jump.near_branch_target()
}

/// What differs from the kernel's file: each site is a jump to that address, and nothing else has changed but these.
fn check(memory: &[u8], to: Option<u64>, changed: &[u64]) {
    let kernel = Kernel::read();
    let (start, end) = (kernel.symbol("kernel_start"), kernel.symbol("paths_start"));
    let sites = sites(&kernel);
    let mut whole = memory.to_vec();
    for site in &sites {
        let at = (site - start) as usize;
        let code = &memory[at..at + PLAIN.len()];
        match to {
            Some(to) => assert_eq!(target(code, *site), to, "{site:x}"),
            None => assert_eq!(code, PLAIN, "{site:x}"),
        }
        whole[at..at + PLAIN.len()].copy_from_slice(&PLAIN);
    }
    for address in changed {
        let at = (address - start) as usize;
        whole[at..at + PLAIN.len()].copy_from_slice(kernel.code(*address, PLAIN.len()));
    }
    // Two sections, with a gap where the second one's alignment needs one.
    for (address, wanted) in kernel.sections(start, end) {
        let found = &whole[(address - start) as usize..];
        let other = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
        assert_eq!(other.map(|at| format!("{:x}", address + at as u64)), None);
    }
}

#[test]
fn every_return_is_rewritten_and_back() {
    if is_missing() {
        return;
    }
    let kernel = Kernel::read();
    let at = |name: &str| kernel.symbol(name);
    let configurations = [
        "returns=plain",
        "returns=thunk",
        "returns=untrain",
        "returns=untrain;returns=plain",
        "returns=untrain;returns=thunk",
    ];
    let memory = code_in(&configurations, "max,vendor=GenuineIntel");
    let untrain = at("untrain_returns");
    check(&memory[0], None, &[]);
    check(&memory[1], Some(at("return_thunk")), &[]);
    check(&memory[2], Some(at("return_thunk_zen2")), &[untrain]);
    check(&memory[3], None, &[untrain]);
    check(&memory[4], Some(at("return_thunk")), &[untrain]);
    let jump = |memory: &[u8]| target(&memory[(untrain - at("kernel_start")) as usize..], untrain);
    assert_eq!(jump(&memory[2]), at("untrain_zen2"));
    // Zen 3 and 4, where the addresses matter: a program that waits has made calls by then.
    let memory = code_in(&["returns=untrain"], "EPYC-Milan");
    check(&memory[0], Some(at("return_thunk_zen4")), &[untrain]);
    assert_eq!(jump(&memory[0]), at("untrain_zen4"));
}

/// What the untraining relies on (arch/x86/lib/retpoline.S of Linux).
#[test]
fn thunks_lie_where_the_predictors_entries_collide() {
    let kernel = Kernel::read();
    let at = |name: &str| kernel.symbol(name);
    // Zen 1 and 2: the ret begins a line of 64 bytes, and is inside of the test that is executed from one byte before.
    assert_eq!((at("return_thunk_zen2") % 64, at("untrain_zen2")), (0, at("return_thunk_zen2") - 1));
    let code = kernel.code(at("untrain_zen2"), 16);
    let decode = |code: &[u8], ip| {
        Decoder::with_ip(64, code, ip, DecoderOptions::NONE).into_iter().collect::<Vec<Instruction>>()
    };
    let outer = decode(code, at("untrain_zen2"));
    assert_eq!((outer[0].code(), outer[0].len()), (Code::Test_rm8_imm8, 3));
    assert_eq!((outer[1].code(), outer[2].near_branch_target()), (Code::Lfence, at("return_thunk_zen2")));
    assert_eq!(decode(&code[1..], at("return_thunk_zen2"))[0].code(), Code::Retnq);
    // Zen 3 and 4: 2, 8, 14 and 20 are the bits in which they differ, and the first has none of the lower ones.
    let (page, untrain) = (at("returns_page"), at("untrain_zen4"));
    let safe = at("return_thunk_zen4") - at("return_thunk_zen4_here") + at("safe_return_here");
    assert_eq!((untrain % (2 << 20), safe ^ untrain), (0, 1 << 2 | 1 << 8 | 1 << 14 | 1 << 20));
    assert_eq!((page % 4096, at("untrain_zen4_here")), (0, page));
    let code = decode(kernel.code(page, 16), untrain);
    assert_eq!((code[0].len(), code[1].code()), (2, Code::Lfence));
    assert_eq!(code[2].near_branch_target(), at("return_thunk_zen4"));
    let thunk = decode(kernel.code(at("return_thunk_zen4_here"), 7), at("return_thunk_zen4"));
    assert_eq!((thunk[0].near_branch_target(), thunk[1].code()), (safe, Code::Ud2));
    let safe_return = decode(kernel.code(at("safe_return_here"), 7), safe);
    assert_eq!((safe_return[0].code(), safe_return[1].code()), (Code::Lea_r64_m, Code::Retnq));
}
