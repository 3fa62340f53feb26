//! Machines that are not QEMU's smallest: chipsets, boot loaders, amounts of memory, and processors that lack something. On
//! each of them programs run, and the kernel's page tables map nothing but memory as memory.

use crate::build::{Made, freestanding};
use crate::guest::{Answer, LIMIT, Script, Session, limits};
use crate::monitor::{Monitor, is_missing, wrapped};
use crate::skipped::skipped;
use crate::trial::working;
use places::lab::{End, Guest, Limits, Qemu, Trouble};
use record::abi;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A machine of QEMU's. The kernel is loaded by QEMU itself, where no GRUB is named.
struct Machine {
    name: &'static str,
    /// QEMU's words, behind those that the command gives it.
    words: &'static [&'static str],
    /// GRUB's commands before those that load the kernel.
    grub: Option<&'static str>,
    /// Whether there is an interrupt that ends programs which run for too long.
    ticks: bool,
    /// The feature that the processor lacks (`FEATURE_*`), where the kernel uses it.
    lacks: Option<u64>,
    /// Why the kernel does not work there. It must not, or the reason has gone, and has to be taken out here.
    known: Option<&'static str>,
}

const PLAIN: Machine =
    Machine { name: "microvm", words: &[], grub: None, ticks: true, lacks: None, known: None };

/// A row of the table whose processor is Intel's with all that TCG has but for this.
const fn without(name: &'static str, words: &'static [&'static str]) -> Machine {
    Machine { name, words, ..PLAIN }
}

const MACHINES: &[Machine] = &[
    PLAIN,
    Machine { name: "microvm, 127 MiB", words: &["-m", "127M"], ..PLAIN },
    Machine { name: "microvm, 5 GiB", words: &["-m", "5G"], ..PLAIN },
    Machine { name: "microvm, four processors", words: &["-M", "microvm,acpi=on", "-smp", "4"], ..PLAIN },
    Machine { name: "pc, an odd size", words: &["-M", "pc,acpi=on", "-m", "130056K"], ..PLAIN },
    Machine { name: "pc, 5 GiB", words: &["-M", "pc,acpi=on", "-m", "5G"], ..PLAIN },
    Machine { name: "q35, 5 GiB", words: &["-M", "q35,acpi=on", "-m", "5G"], ..PLAIN },
    Machine { name: "q35, four processors", words: &["-M", "q35,acpi=on", "-smp", "4"], ..PLAIN },
    Machine {
        name: "q35 with GRUB, 5 GiB",
        words: &["-M", "q35,acpi=on", "-m", "5G"],
        grub: Some(""),
        ..PLAIN
    },
    Machine {
        name: "q35 with GRUB, 300 MiB with holes",
        words: &["-M", "q35,acpi=on", "-m", "300M"],
        grub: Some("cutmem 20M 21M\ncutmem 0x5001800 0x5002000\ncutmem 100M 0x6500800\ncutmem 200M 250M\n"),
        ..PLAIN
    },
    Machine {
        name: "pc with GRUB, 64 MiB",
        words: &["-M", "pc,acpi=on", "-m", "64M"],
        grub: Some(""),
        ..PLAIN
    },
    Machine { ticks: false, ..without("no APIC", &["-cpu", "max,vendor=GenuineIntel,-apic"]) },
    Machine { lacks: Some(abi::FEATURE_NX), ..without("no NX", &["-cpu", "max,vendor=GenuineIntel,-nx"]) },
    Machine {
        lacks: Some(abi::FEATURE_SMEP),
        ..without("no SMEP", &["-cpu", "max,vendor=GenuineIntel,-smep"])
    },
    Machine {
        lacks: Some(abi::FEATURE_SMAP),
        ..without("no SMAP", &["-cpu", "max,vendor=GenuineIntel,-smap"])
    },
    Machine {
        lacks: Some(abi::FEATURE_UMIP),
        ..without("no UMIP", &["-cpu", "max,vendor=GenuineIntel,-umip"])
    },
    Machine {
        lacks: Some(abi::FEATURE_XSAVE),
        ..without("no XSAVE", &["-cpu", "max,vendor=GenuineIntel,-xsave"])
    },
    Machine {
        lacks: Some(abi::FEATURE_XSAVE),
        ..without(
            "XSAVE without leaf 0Dh.1, which TCG hangs at",
            &["-cpu", "max,vendor=GenuineIntel,-xsaveopt,-xsavec,-xgetbv1,-xsaves"],
        )
    },
    without("no PAT", &["-cpu", "max,vendor=GenuineIntel,-pat"]),
    without("no PGE", &["-cpu", "max,vendor=GenuineIntel,-pge"]),
];

/// Where Debian keeps GRUB for a BIOS.
const GRUB: &str = "/usr/lib/grub/i386-pc";

/// The machines that can be had here.
fn machines() -> impl Iterator<Item = &'static Machine> {
    let has_grub =
        Path::new(GRUB).is_dir() && Command::new("grub-mkrescue").arg("--version").output().is_ok();
    if !has_grub {
        skipped("machines with GRUB: there is no grub-mkrescue for BIOS (Debian: apt install grub-pc-bin)");
    }
    MACHINES.iter().filter(move |machine| has_grub || machine.grub.is_none())
}

/// GRUB's modules that an image needs besides those of the command's own.
const MODULES: &str = "--install-modules=multiboot2 iso9660 biosdisk normal boot mmap";

/// A disk with GRUB, the kernel and the archive, in the folder; why there is none.
fn image(folder: &Path, commands: &str, archive: &[u8]) -> Result<(), String> {
    let boot = folder.join("root/boot");
    let write = |name: &str, bytes: &[u8]| std::fs::write(boot.join(name), bytes).unwrap();
    std::fs::create_dir_all(boot.join("grub")).unwrap();
    let text = format!("{commands}multiboot2 /boot/kernel emulator\nmodule2 /boot/archive\nboot\n");
    write("grub/grub.cfg", text.as_bytes());
    write("kernel", places::lab::kernel(places::lab::Mode::Long));
    write("archive", archive);
    let mut make = Command::new("grub-mkrescue");
    make.args(["-d", GRUB, MODULES, "--fonts=", "--locales=", "--themes=", "-o"]);
    let output = make.arg(folder.join("disk")).arg(folder.join("root")).output();
    match output.map_err(|error| format!("grub-mkrescue: {error}"))? {
        output if output.status.success() => Ok(()),
        output => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// With GRUB, QEMU loads no kernel; everything else is as the command has it.
const NO_KERNEL: &str = "words=(); while [ $# -gt 0 ]; do case $1 in -kernel|-initrd) shift 2;; \
                         *) words+=(\"$1\"); shift;; esac; done; set -- \"${words[@]}\"";

/// GRUB and the BIOS wait for times to pass. No test here asks how long an instruction takes: with eight nanoseconds each, they execute an eighth
/// while they wait.
const FEWER: &str = "-icount shift=3,sleep=off";

impl Machine {
    fn boot(
        &self,
        folder: &Path,
        more: &str,
        archive: &[u8],
        programs: usize,
        limits: &Limits,
    ) -> Result<Guest, Trouble> {
        let words = self.words.join(" ");
        let mut script = format!("exec qemu-system-x86_64 \"$@\" {words} {more}");
        if let Some(commands) = self.grub {
            image(folder, commands, archive).map_err(places::emulator::Trouble::Files)?;
            script =
                format!("{NO_KERNEL}\n{script} {FEWER} -boot d -cdrom {}", folder.join("disk").display());
        }
        wrapped(folder, &script).boot(archive, programs, limits)
    }
}

/// A machine that has run each entry once and a program that does not end, and that runs another such program.
#[derive(Debug)]
struct Seen {
    session: Session,
    /// What the kernel's tables map.
    pages: Vec<Page>,
    /// As QEMU has it.
    memory: Vec<Range>,
    io_apics: Vec<u64>,
}

/// One boot of each machine is enough for all tests; why the kernel did not boot there.
fn seen(machine: &Machine) -> Arc<Result<Seen, String>> {
    static SEEN: Made<&str, Arc<Result<Seen, String>>> = Made::new();
    SEEN.get(machine.name, || Arc::new(look(machine)))
}

/// Boots a machine, and looks at it by QEMU's monitor when the last program runs.
fn look(machine: &Machine) -> Result<Seen, String> {
    let (folder, spinner) = (tempfile::tempdir().unwrap(), freestanding(64, &["faults64.S"]));
    let socket = folder.path().join("monitor");
    let mut script = Script::new();
    for (entry, operation) in working() {
        script.row(entry, operation);
    }
    if machine.ticks {
        script.limit(LIMIT / 100);
        script.exec(&spinner, &["spin"]);
    }
    script.limit(0);
    script.set("pti=off");
    script.exec(&spinner, &["spin"]);
    let more = format!("-monitor unix:{},server=on,wait=off", socket.display());
    let archive = script.archive(Qemu::TCG_HERTZ);
    let guest = machine.boot(folder.path(), &more, &archive, script.numbered(), &limits());
    let mut guest = guest.map_err(|trouble| trouble.to_string())?;
    let session = script.until_the_last(&mut guest)?;
    let mut monitor = Monitor::open(&socket);
    let pages = monitor.ask("info tlb").lines().filter_map(page).collect();
    let tree = monitor.ask("info mtree -f");
    // Each of QEMU's views of the addresses has the same I/O APICs.
    let io_apics: BTreeSet<u64> = tree.lines().filter_map(io_apic).collect();
    let memory = tree.lines().filter_map(memory).collect();
    Ok(Seen { session, pages, memory, io_apics: io_apics.into_iter().collect() })
}

/// Whether QEMU hands out ACPI's tables; as kentry boots it, it does not.
fn has_acpi(machine: &Machine) -> bool {
    machine.words.iter().any(|word| word.ends_with("acpi=on"))
}

/// Whether all that has ended did so as it should.
fn check(machine: &Machine) -> Result<(), String> {
    let seen = seen(machine);
    let session = &seen.as_ref().as_ref().map_err(String::clone)?.session;
    let loader = if machine.grub.is_some() { abi::LOADER_MULTIBOOT2 } else { abi::LOADER_PVH };
    assert_eq!(session.boot.loader, loader, "{}", machine.name);
    for feature in [abi::FEATURE_SMEP, abi::FEATURE_SMAP, abi::FEATURE_UMIP, abi::FEATURE_XSAVE] {
        let has = session.boot.features >> feature & 1 == 1;
        assert_eq!(has, machine.lacks != Some(feature), "{}: feature {feature}", machine.name);
    }
    let processors = if machine.words.contains(&"-smp") { 4 } else { u64::from(has_acpi(machine)) };
    assert_eq!(session.boot.processors, processors, "{}", machine.name);
    let (_, ended) = session.ran.split_last().unwrap();
    assert_eq!(ended.len(), working().len() + usize::from(machine.ticks), "{}", machine.name);
    for ran in ended {
        let is_right = if ran.label.contains("spin") {
            matches!(ran.end, End::Runaway(_))
        } else {
            ran.answer() == Answer::Ok
        };
        if !is_right {
            return Err(format!("{}: {:?}", ran.label, ran.end));
        }
    }
    Ok(())
}

#[test]
fn every_entry_works_on_odd_machines() {
    if is_missing() {
        return;
    }
    let mut wrong = Vec::new();
    for machine in machines() {
        match (check(machine), machine.known) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Ok(()), Some(why)) => wrong.push(format!("{} works, so this has gone: {why}", machine.name)),
            (Err(why), None) => wrong.push(format!("{}: {why}", machine.name)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A page that the page tables map: its address, where that leads, and how many bytes there are.
#[derive(Debug)]
struct Page {
    address: u64,
    physical: u64,
    bytes: u64,
    is_uncached: bool,
}

/// `ffff888000200000: 0000000000200000 X-PDA---W`: no execution, global, large, dirty, accessed, PCD, PWT, user, writable.
fn page(line: &str) -> Option<Page> {
    let (address, rest) = line.trim().split_once(": ")?;
    let (physical, bits) = rest.trim().split_once(' ')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let bytes = if bits.contains('P') { 2 << 20 } else { 4096 };
    let is_uncached = bits.contains("CT");
    Some(Page { address: number(address)?, physical: number(physical)?, bytes, is_uncached })
}

/// First address, and the first behind the last.
type Range = (u64, u64);

/// `0000000000100000-000000007fffffff (prio 0, ram): pc.ram @0000000000100000`
fn memory(line: &str) -> Option<Range> {
    let (range, what) = line.trim().split_once(" (prio 0, ram): ")?;
    let (first, last) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let is_memory = what.contains(".ram") && !what.contains("vga");
    is_memory.then_some((number(first)?, number(last)? + 1))
}

/// `00000000fec00000-00000000fec00fff (prio 0, i/o): ioapic`
fn io_apic(line: &str) -> Option<u64> {
    let (range, what) = line.trim().split_once(" (prio 0, i/o): ")?;
    let (first, _) = range.split_once('-')?;
    (what == "ioapic").then_some(u64::from_str_radix(first, 16).ok()?)
}

/// The kernel's addresses for memory, for devices, and for itself: lab/mm/mm.h.
const DIRECT_MAP: u64 = 0xffff_8880_0000_0000;
const DEVICE_MAP: u64 = 0xffff_c000_0000_0000;
/// Where the local APIC's registers are after a reset.
const APIC: u64 = 0xfee0_0000;
const KERNEL_BASE: u64 = 0xffff_ffff_8000_0000;

/// What holes of a map the page tables must leave out, besides what is no memory at all.
const HOLES: &[(&str, &[Range])] = &[(
    "q35 with GRUB, 300 MiB with holes",
    &[(20 << 20, 21 << 20), (0x500_1800, 0x500_2000), (100 << 20, 0x650_0800), (200 << 20, 250 << 20)],
)];

/// Pages that are mapped as they must not be, in words.
fn misplaced(machine: &Machine, pages: &[Page], memory: &[Range]) -> Vec<String> {
    let holes = HOLES.iter().filter(|(name, _)| *name == machine.name).flat_map(|(_, holes)| *holes);
    let holes: Vec<Range> = holes.copied().collect();
    let inside = |page: &Page, ranges: &[Range]| {
        ranges.iter().any(|(start, end)| *start <= page.physical && page.physical + page.bytes <= *end)
    };
    let touches = |page: &Page, ranges: &[Range]| {
        ranges.iter().any(|(start, end)| page.physical < *end && *start < page.physical + page.bytes)
    };
    let is_right = |page: &&Page| match page.address {
        DEVICE_MAP..KERNEL_BASE => page.is_uncached && !touches(page, memory),
        DIRECT_MAP.. => inside(page, memory) && !touches(page, &holes) && !page.is_uncached,
        _ => inside(page, memory),
    };
    let wrong = pages.iter().filter(|page| !is_right(page));
    wrong.map(|page| format!("{}: {page:x?}", machine.name)).collect()
}

#[test]
fn memory_is_mapped_as_memory_and_devices_are_not() {
    if is_missing() {
        return;
    }
    let mut wrong = Vec::new();
    for machine in machines().filter(|machine| machine.known.is_none()) {
        let seen = seen(machine);
        let Seen { pages, memory, io_apics, .. } = seen.as_ref().as_ref().unwrap();
        let mapped = |from: u64| pages.iter().filter(move |page| page.address >= from);
        let most: u64 = memory.iter().map(|(start, end)| end - start).max().unwrap();
        let direct: u64 =
            mapped(DIRECT_MAP).filter(|page| page.address < DEVICE_MAP).map(|page| page.bytes).sum();
        assert!(direct > 16 << 20 && direct <= most, "{}: {direct:#x} of {most:#x}", machine.name);
        let devices: Vec<u64> =
            mapped(DEVICE_MAP).filter(|page| page.address < KERNEL_BASE).map(|page| page.physical).collect();
        // Where nothing lists the I/O APICs, the kernel leaves them alone.
        let listed = io_apics.iter().copied().filter(|_| has_acpi(machine));
        let expected: Vec<u64> = listed.chain(machine.ticks.then_some(APIC)).collect();
        assert_eq!(devices, expected, "{}: the registers of the APICs alone", machine.name);
        wrong.extend(misplaced(machine, pages, memory));
    }
    assert!(wrong.is_empty(), "{:#?}", &wrong[..wrong.len().min(20)]);
}
