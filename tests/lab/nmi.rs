//! NMIs, which nothing can hold off, while paths are built and pointed at anew: QEMU's monitor sends them.

use crate::guest::{Answer, Script, limits};
use crate::monitor::{Monitor, is_missing, wrapped};
use crate::steps::PATHS;
use lab::{Event, Events, Qemu, Strays};
use table::Table;

/// As many as hit every part of a configuration's change; some come while another is still handled, and are lost.
const SENT: u64 = 400;

/// The interrupt vector of NMIs.
const NMI: u64 = 2;

/// Changes of all switches, which take a few seconds.
const CHANGES: usize = 1000;

#[test]
fn an_nmi_may_come_while_paths_are_built() {
    if is_missing() {
        return;
    }
    let getppid = Table::get().operation("getppid").unwrap();
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
    let mut monitor = Monitor::open(&socket);
    (0..SENT).for_each(|_| drop(monitor.ask("nmi")));
    let session = script.follow(boot, &mut guest);
    let counted = |strays: &Strays| strays.get(&NMI).copied().unwrap_or(0);
    let all = counted(&session.strays) + session.ran.iter().map(|ran| counted(&ran.strays)).sum::<u64>();
    assert!((SENT / 4..=SENT).contains(&all), "{all} NMIs were counted");
    let wrong = rows.iter().map(|row| &session.ran[*row]).filter(|ran| ran.answer() != Answer::Ok);
    let wrong: Vec<String> = wrong.map(|ran| format!("{}: {:x?}", ran.label, ran.answer())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
