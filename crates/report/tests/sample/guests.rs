//! A document of Linux kernels in guests.

use super::{cost, found, measurement, ordinary};
use document::{Document, KERNEL, Machine, Outcome, Place, Rings, Row, Timing};
use environment::{Environment, Guest, GuestBoot, GuestKernel};
use stats::{Cost, Counts, Instructions};
use std::collections::BTreeMap;

/// The kernels, in the order of their versions.
pub const KERNELS: [&str; 4] =
    ["6.1.0-56-cloud-amd64", "6.12.117+deb12-cloud-amd64", "6.13-made-up", "6.14-made-up"];

/// Why the third has no figures.
pub const PANICKED: &str = "the guest panicked: VFS: Unable to mount root fs";

/// The instructions of each kernel: least, most frequent, greatest; none of the one that panicked.
type Counted = [Option<[f64; 3]>; 4];

const fn same(count: f64) -> Option<[f64; 3]> {
    Some([count; 3])
}

/// Entries and operations, whether their rings were told apart, and what they count. The second kernel's samples of `getrandom` overlap the
/// first's.
const ROWS: [(&str, &str, bool, Counted); 4] = [
    ("syscall-x86_64", "none", true, [same(213.0), same(221.0), None, same(221.0)]),
    ("syscall-x86_64", "getppid", true, [same(341.0), same(335.0), None, same(361.0)]),
    (
        "syscall-x86_64",
        "getrandom",
        false,
        [Some([1506.0, 1506.0, 1513.0]), same(1513.0), None, same(1600.0)],
    ),
    ("lcall7-i386", "none", false, [None; 4]),
];

/// Of what a row executes, the program's.
const PROGRAMS: f64 = 4.0;

/// Four kernels, of which one did not boot, and a row that no kernel has.
pub fn kernels() -> Document {
    let rows = ROWS.chunk_by(|a, b| a.0 == b.0).flat_map(|rows| {
        let of_kernel = |place: usize| rows.iter().map(move |row| counted(row, place));
        (0..KERNELS.len()).flat_map(of_kernel).collect::<Vec<_>>()
    });
    let results = rows.collect();
    let mut measurement = measurement();
    (measurement.tsc_hz, measurement.cycles_per_tick, measurement.cycles_per_tick_range) = (None, None, None);
    measurement.chain_ratio = BTreeMap::new();
    (measurement.cpus, measurement.quiet_share) = (Vec::new(), None);
    measurement.place = Place::new(Machine::QemuTcg, table::Kernel::Linux);
    measurement.partial = true;
    measurement.ended = Some(format!("1 of 4 configurations failed; kernel=6.13-made-up: {PANICKED}"));
    let guest = Guest {
        emulator: "QEMU 7.2.22".into(),
        accelerator: "tcg".into(),
        cpu_model: MODEL.into(),
        icount: true,
        boots: vec![BOOT; 3],
        boot_to_first_record_ms: 1031.4,
        kernels: KERNELS.into_iter().map(booted).collect(),
    };
    let environment = Environment { host: "linux".into(), guest: Some(guest), ..Environment::default() };
    found(Document { environment, measurement, results, ..ordinary() })
}

const MODEL: &str = "max,vendor=GenuineIntel";

const BOOT: GuestBoot = GuestBoot { at_ms: 1031.4, seed: 0, cpu: None };

fn settings(kernel: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(KERNEL.to_owned(), kernel.to_owned())])
}

fn booted(kernel: &str) -> GuestKernel {
    let has_panicked = kernel == KERNELS[2];
    GuestKernel {
        settings: settings(kernel),
        file: format!("/boot/vmlinuz-{kernel}"),
        release: kernel.into(),
        command_line: "console=ttyS0 quiet panic=-1 reboot=t".into(),
        cpu_model: MODEL.into(),
        boots: if has_panicked { Vec::new() } else { vec![BOOT] },
        outcome: if has_panicked { "error" } else { "ok" }.into(),
        reason: has_panicked.then(|| PANICKED.to_owned()),
        ..GuestKernel::default()
    }
}

fn counted((entry, operation, are_rings_told, counts): &(&str, &str, bool, Counted), place: usize) -> Row {
    let configuration = settings(KERNELS[place]);
    let row = Row { configuration, timing: Timing::Emulated, ..Row::unmeasured(entry, operation, 64) };
    let closed = |outcome, reason: &str| Row { outcome, reason: Some(reason.into()), ..row.clone() };
    match counts[place] {
        _ if place == 2 => closed(Outcome::Error, PANICKED),
        None => closed(Outcome::Fault, "SIGSEGV: selector 7 holds no gate"),
        Some([least, count, greatest]) => Row {
            instructions: Some(Cost {
                min: Instructions(least),
                max: Instructions(greatest),
                p99: None,
                p999: None,
                ..cost(count, None)
            }),
            rings: are_rings_told
                .then_some(Rings { ring0: Instructions(count - PROGRAMS), ring3: Instructions(PROGRAMS) }),
            boots: vec![Instructions(count)],
            counts: Counts { rounds: 1, kept_rounds: 1, samples: 8, kept_samples: 8, ..Counts::default() },
            ..row
        },
    }
}

/// The same with every free text of the guests replaced.
pub fn kernels_called(text: &str) -> Document {
    let mut document = kernels();
    // Names that are told apart.
    let called = |kernel: &str| format!("{kernel}{text}");
    let guest = document.environment.guest.as_mut().unwrap();
    (guest.emulator, guest.accelerator) = (text.to_owned(), text.to_owned());
    for kernel in &mut guest.kernels {
        let name = called(&kernel.settings[KERNEL]);
        kernel.settings = [(KERNEL, name.as_str()), ("append", text)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        for field in [&mut kernel.file, &mut kernel.release, &mut kernel.command_line, &mut kernel.cpu_model]
        {
            *field = text.to_owned();
        }
        (kernel.reason, kernel.unverified) =
            (kernel.reason.as_ref().map(|_| text.to_owned()), vec![text.to_owned()]);
    }
    for row in &mut document.results {
        row.configuration.insert("append".to_owned(), text.to_owned());
        let name = called(&row.configuration[KERNEL]);
        row.configuration.insert(KERNEL.to_owned(), name);
        row.reason = row.reason.as_ref().map(|_| text.to_owned());
        row.operation = called(&row.operation);
    }
    document.measurement.kentry = text.to_owned();
    document.measurement.started = text.to_owned();
    document
}
