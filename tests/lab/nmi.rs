//! NMIs, which nothing can hold off, while paths are built and pointed at anew: QEMU's monitor sends them.

use crate::guest::{Answer, Script, limits};
use crate::isolation::{Monitor, is_missing, wrapped};
use crate::kernel::Kernel;
use crate::steps::PATHS;
use lab::{Event, Events, Qemu};
use std::time::{Duration, Instant};
use table::Table;

/// As many as hit every part of a configuration's change.
const ENOUGH: u64 = 300;

/// Changes of all switches, which take a few seconds.
const CHANGES: usize = 1000;

/// How many NMIs the kernel has counted.
fn counted(monitor: &mut Monitor, kernel: &Kernel) -> u64 {
    let answer = monitor.ask(&format!("x /1dg {:#x}", kernel.symbol("nmi_count")));
    let value = answer.lines().find_map(|line| line.split_once(": ")?.1.trim().parse().ok());
    value.unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn an_nmi_may_come_while_paths_are_built() {
    if is_missing() {
        return;
    }
    let (kernel, getppid) = (Kernel::read(), Table::get().operation("getppid").unwrap());
    let mut script = Script::new();
    for change in 0..CHANGES {
        let (on, stack) = if change % 2 == 0 { ("on", "frame") } else { ("off", "minimum") };
        script.set(&format!("pti={on} smap={on} stack={stack}"));
        script.layout(change as u64);
    }
    let rows: Vec<usize> =
        PATHS.iter().map(|(name, _)| script.row(Table::get().entry(name).unwrap(), getppid)).collect();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("monitor");
    // With a local APIC, the monitor's NMIs would go through its LINT1, which the kernel leaves masked; without, an interrupt
    // controller of the first PC would have its say.
    let option = format!("-machine pic=off,pit=off -monitor unix:{},server=on,wait=off", socket.display());
    let mut qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {option}"));
    qemu.cpu_model.push_str(",-apic");
    let mut guest = qemu.boot(&script.archive(Qemu::TCG_HERTZ), script.numbered(), &limits()).unwrap();
    let boot = guest.next().unwrap();
    assert!(matches!(boot, Event::Boot(_)), "{boot:?}");
    let (mut monitor, begin) = (Monitor::open(&socket), Instant::now());
    while counted(&mut monitor, &kernel) < ENOUGH {
        (0..10).for_each(|_| drop(monitor.ask("nmi")));
        assert!(begin.elapsed() < Duration::from_secs(60), "the kernel does not count NMIs");
    }
    let session = script.follow(boot, &mut guest);
    let wrong = rows.iter().map(|row| &session.ran[*row]).filter(|ran| ran.answer() != Answer::Ok);
    let wrong: Vec<String> = wrong.map(|ran| format!("{}: {:x?}", ran.label, ran.answer())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
