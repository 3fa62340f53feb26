//! NMIs, which nothing can hold off, while paths are built and pointed at anew, and while threads are switched: QEMU's monitor
//! sends them.

use crate::build::freestanding;
use crate::guest::{Answer, Script, Session, limits};
use crate::kernel::Kernel;
use crate::monitor::{Monitor, is_missing, wrapped};
use crate::steps::paths_in;
use places::lab::{End, Event, Events, Mode, Qemu, Strays};
use table::Table;

/// As many as hit every part of a configuration's change.
const SENT: u64 = 200;

/// The interrupt vector of NMIs.
const NMI: u64 = 2;

/// The kernel's addresses are so far above the physical ones (kernel.lds).
pub fn kernel_base(mode: Mode) -> u64 {
    match mode {
        Mode::Long => 0xffff_ffff_8000_0000,
        Mode::Protected => 0xc000_0000,
    }
}

/// How often the monitor is asked whether an NMI has come: one that has not by then may be lost.
const LOOKS: usize = 100;

/// Changes of all switches, which take several times as long as it takes to send the NMIs.
const CHANGES: usize = 1200;

/// Programs that run together, for as long.
const SWITCHES: usize = 1000;

/// Boots a script and sends NMIs meanwhile. How many were counted, too.
fn boot_with_nmis(script: &Script) -> (Session, u64) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("monitor");
    // With a local APIC, the monitor's NMIs would go through its LINT1, which the kernel leaves masked; without, an interrupt
    // controller of the first PC would have its say.
    let option = format!("-machine pic=off,pit=off -monitor unix:{},server=on,wait=off", socket.display());
    let mut qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {option}"));
    qemu.cpu_model.push_str(",-apic");
    qemu = qemu.in_mode(script.mode);
    let mut guest = qemu.boot(&script.archive(Qemu::TCG_HERTZ), script.numbered(), &limits()).unwrap();
    let boot = guest.next().unwrap();
    assert!(matches!(boot, Event::Boot(_)), "{boot:?}");
    let mut monitor = Monitor::open(&socket);
    // The kernel's own count, a 32-bit number for each vector. An NMI that is sent while the last one is pending is lost, and it
    // is pending for as long as the guest waits for a processor of a machine that does other things, too.
    let count = Kernel::in_mode(script.mode).symbol("came") - kernel_base(script.mode) + 4 * NMI;
    let look = format!("xp /1wx {count:#x}");
    for _ in 0..SENT {
        let before = monitor.ask(&look);
        monitor.ask("nmi");
        let _ = (0..LOOKS).find(|_| monitor.ask(&look) != before);
    }
    let session = script.follow(boot, &mut guest);
    let counted = |strays: &Strays| strays.get(&NMI).copied().unwrap_or(0);
    let all = counted(&session.strays) + session.ran.iter().map(|ran| counted(&ran.strays)).sum::<u64>();
    (session, all)
}

#[test]
fn an_nmi_may_come_while_paths_are_built() {
    check_while_paths_are_built(Mode::Long, ["swapgs=off", "swapgs=on", "swapgs=fence"]);
}

/// With these switches among others, in turns.
pub fn check_while_paths_are_built(mode: Mode, turns: [&str; 3]) {
    if is_missing() {
        return;
    }
    let getppid = Table::get().operation("getppid").unwrap();
    let mut script = Script::in_mode(mode);
    for change in 0..CHANGES {
        let (on, stack) = if change % 2 == 0 { ("on", "frame") } else { ("off", "minimum") };
        script.set(&format!("pti={on} smap={on} stack={stack} {}", turns[change % 3]));
        script.layout(change as u64);
    }
    let rows: Vec<usize> = paths_in(mode)
        .iter()
        .map(|(name, _)| script.row(Table::get().entry(name).unwrap(), getppid))
        .collect();
    let (session, all) = boot_with_nmis(&script);
    assert!((SENT / 2..=SENT).contains(&all), "{all} NMIs were counted");
    let wrong = rows.iter().map(|row| &session.ran[*row]).filter(|ran| ran.answer() != Answer::Ok);
    let wrong: Vec<String> = wrong.map(|ran| format!("{}: {:x?}", ran.label, ran.answer())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_nmi_may_come_while_threads_are_switched() {
    if is_missing() {
        return;
    }
    let (program64, program32) = (freestanding(64, &["together64.S"]), freestanding(32, &["together32.S"]));
    let mut script = Script::new();
    for change in 0..SWITCHES {
        script.set(
            ["pti=on swapgs=off", "pti=off swapgs=off", "pti=on swapgs=on", "pti=off swapgs=on"][change % 4],
        );
        script.beside(&program32, &["gateway", "1"]);
        script.beside(&program64, &["int80", "2"]);
        script.run(&program64, &["syscall", "3"]);
    }
    check_switches(&script);
}

#[test]
fn an_nmi_may_come_while_threads_are_switched_in_protected_mode() {
    if is_missing() {
        return;
    }
    let (program, mut script) = (freestanding(32, &["together32.S"]), Script::protected());
    for change in 0..SWITCHES {
        script.set(
            [
                "pti=on events-by=task",
                "pti=off",
                "pti=on copy-frame=on events-by=gate",
                "pti=trampoline copy-frame=off",
            ][change % 4],
        );
        script.beside(&program, &["gateway", "1"]);
        script.beside(&program, &["int80", "2"]);
        script.run(&program, &["call_gate", "3"]);
    }
    check_switches(&script);
}

fn check_switches(script: &Script) {
    let (session, all) = boot_with_nmis(script);
    assert!((SENT / 2..=SENT).contains(&all), "{all} NMIs were counted");
    let wrong = session.ran.iter().filter(|ran| ran.end != End::Exited(0));
    let wrong: Vec<String> = wrong.map(|ran| format!("{}: {:x?}", ran.label, ran.end)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
