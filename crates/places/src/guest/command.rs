//! QEMU's command line for a boot.

use crate::emulator::{Accelerator, Command, qemu};
use crate::guest::machine::BOARD;
use crate::guest::{Boot, EXIT_PORT, FRAME_PORT, Machine};
use process::inherited;
use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};

/// What every kernel is told: where its console is, to be quiet on it, and to give up at once when it panics. It then resets the machine
/// by a triple fault, which QEMU ends at: the board has no keyboard controller, and a kernel that asks one for the reset waits for minutes.
/// It need not test its ciphers, which takes a tenth of a boot. A kernel that does not know this word ignores it, as its name has a dot.
const PARAMETERS: &str = "console=ttyS0 quiet panic=-1 reboot=t cryptomgr.notests";

/// What a kernel whose instructions are counted is told of the counter, which advances once with each instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rate {
    /// Nothing: nothing is counted, or a foreign program is executed, whose kernel measures the rate by itself.
    Untold,
    /// 250 million a second, so that an instruction takes 4 ns by the guest's clock. Linux calibrates the APIC's timer by reading the
    /// counter in a loop for 100 ms of that clock; at one instruction in a nanosecond, the loop was about half of the boot. All clocks of
    /// the guest then agree if that timer ticks; at 250 Hz it interrupts once in a million instructions.
    Quarter,
    /// 1000 million a second, as QEMU's clock has it: where something else ticks (the PIT), or the board has clocks that Linux compares the
    /// counter with (HPET, ACPI's timer), since these go by QEMU's clock.
    Own,
}

impl Rate {
    /// What a boot begins with. Whether the APIC's timer ticks is only known once the kernel has come up.
    pub fn first(boot: &Boot) -> Rate {
        match (boot.work.counts, boot.machine.board == BOARD) {
            (false, _) => Rate::Untold,
            (true, true) => Rate::Quarter,
            (true, false) => Rate::Own,
        }
    }

    /// The word of the kernel's command line. A kernel that does not know it measures the rate.
    fn word(self) -> &'static str {
        match self {
            Rate::Untold => "",
            Rate::Quarter => "tsc_early_khz=250000",
            Rate::Own => "tsc_early_khz=1000000",
        }
    }
}

/// What makes the kernel write to its console from its first line on, which it otherwise has no driver for when it dies early.
const EARLY_CONSOLE: &str = "earlyprintk=ttyS0";

/// How a kernel is told to start, beside what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    pub rate: Rate,
    /// Whether its console is there from the beginning.
    pub early_console: bool,
}

impl Start {
    pub fn at(rate: Rate) -> Start {
        Start { rate, early_console: false }
    }
}

/// What QEMU inherits.
#[derive(Debug)]
pub(crate) struct Files {
    pub kernel: OwnedFd,
    pub archive: OwnedFd,
    /// The other end of the console.
    pub console: OwnedFd,
    /// The other end of the debugger's connection; none where nothing is followed.
    pub debugger: Option<OwnedFd>,
    /// The pipe of the frames.
    pub frames: process::Pipe,
}

/// The whole command line of a boot's kernel: later words win.
pub(crate) fn parameters(boot: &Boot, start: Start) -> String {
    let early = if start.early_console { EARLY_CONSOLE } else { "" };
    let words = [PARAMETERS, early, start.rate.word(), boot.parameters];
    words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" ")
}

/// How QEMU is started for a boot.
pub(crate) fn command(boot: &Boot, start: Start, files: Files) -> Command {
    let Machine { program, accelerator, board, memory_mib, .. } = boot.machine;
    let mut words: Vec<String> = Vec::new();
    let mut add = |option: &str, value: String| words.extend([option.to_string(), value]);
    add("-M", board.clone());
    add("-m", memory_mib.to_string());
    add("-cpu", boot.machine.processor());
    add("-kernel", inherited(&files.kernel));
    add("-initrd", inherited(&files.archive));
    add("-append", parameters(boot, start));
    add("-display", "none".into());
    add("-chardev", socket("console", &files.console));
    add("-serial", "chardev:console".into());
    add("-chardev", format!("file,id=frames,path={}", inherited(&files.frames.theirs)));
    add("-device", format!("isa-debugcon,iobase={FRAME_PORT:#x},chardev=frames"));
    add("-device", format!("isa-debug-exit,iobase={EXIT_PORT:#x},iosize=0x04"));
    add("-seed", boot.seed.to_string());
    add("-accel", if *accelerator == Accelerator::Tcg { "tcg" } else { "kvm" }.into());
    if *accelerator == Accelerator::Tcg {
        // An instruction is a nanosecond. While the guest waits, the next timer is there at once; but not where a user types.
        let is_typed = boot.work.exec.as_ref().is_some_and(|exec| exec.interactive);
        add("-icount", format!("shift=0,sleep={}", if is_typed { "on" } else { "off" }));
    }
    if boot.work.counts {
        // The guest's clock begins at the same time in every boot, and goes on with its instructions.
        add("-rtc", "base=2026-01-01T00:00:00,clock=vm".into());
    }
    if let Some(debugger) = &files.debugger {
        add("-chardev", socket("debugger", debugger));
        add("-gdb", "chardev:debugger".into());
        // Stopped, until the debugger has said where.
        words.push("-S".into());
    }
    words.extend(["-nodefaults", "-no-user-config", "-no-reboot"].map(str::to_string));
    let Files { kernel, archive, console, debugger, frames } = files;
    let arguments = words.into_iter().map(OsString::from).collect();
    let files = [kernel, archive, console].into_iter().chain(debugger).collect();
    Command { files, records: Some(frames), ..qemu::command(program, arguments) }
}

fn socket(id: &str, end: &OwnedFd) -> String {
    format!("socket,id={id},fd={}", end.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::Work;
    use linux::Kernel;
    use process::{Pipe, file_in_memory};

    /// The command line of a boot that counts or does not.
    fn line(accelerator: Accelerator, counts: bool, follows: bool) -> String {
        line_on(Machine::new(accelerator, Some("model")), counts, follows)
    }

    fn line_on(machine: Machine, counts: bool, follows: bool) -> String {
        let work = Work { counts, follows, ..Work::default() };
        let boot = Boot {
            machine: &machine,
            kernel: &Kernel::default(),
            parameters: "pti=on",
            program: &[],
            archive: &[],
            work: &work,
            seed: 7,
        };
        let file = || file_in_memory("file", b"").unwrap();
        let (kernel, archive, console) = (file(), file(), file());
        let files =
            Files { kernel, archive, console, debugger: follows.then(file), frames: Pipe::new().unwrap() };
        let words = command(&boot, Start::at(Rate::first(&boot)), files).arguments;
        words.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_differs_from_boot_to_boot_is_fixed_where_instructions_are_counted() {
        let counted = line(Accelerator::Tcg, true, false);
        for wanted in [
            "-cpu model,-rdrand,-rdseed ",
            "-icount shift=0,sleep=off -rtc base=2026-01-01T00:00:00,clock=vm",
            "-seed 7",
            "-M microvm,rtc=on,pic=off -m 512 ",
            "-append console=ttyS0 quiet panic=-1 reboot=t cryptomgr.notests tsc_early_khz=250000 pti=on ",
        ] {
            assert!(counted.contains(wanted), "{wanted}: {counted}");
        }
        let timed = line(Accelerator::Kvm, false, false);
        assert!(
            !timed.contains("-icount") && !timed.contains("-rtc") && !timed.contains("tsc_early"),
            "{timed}"
        );
        assert!(line(Accelerator::Kvm, false, false).contains("-cpu model -kernel"));
    }

    #[test]
    fn a_board_with_clocks_beside_the_counter_has_the_counters_own_rate() {
        let machine = Machine { board: "pc".into(), ..Machine::new(Accelerator::Tcg, Some("model")) };
        let line = line_on(machine, true, false);
        assert!(line.contains(" cryptomgr.notests tsc_early_khz=1000000 pti=on "), "{line}");
    }

    #[test]
    fn a_guest_that_is_followed_waits_for_the_debugger() {
        assert!(line(Accelerator::Tcg, true, true).contains("-gdb chardev:debugger -S"));
        assert!(!line(Accelerator::Tcg, true, false).contains("-gdb"));
    }
}
